/* Prints a libFuzzer dictionary of the language: keywords, keys and words of the tables. */
#include "model/design.h"

#include <stdio.h>

static void print_word(const char *word)
{
    static GHashTable *printed;
    if (printed == NULL)
        printed = g_hash_table_new(g_str_hash, g_str_equal);
    if (g_hash_table_add(printed, (gpointer)g_intern_string(word)))
        printf("\"\\\"%s\\\"\"\n", word);
}

int main(void)
{
    for (WsNodeKind k = 0; k < WS_NODE_KIND_COUNT; k++) {
        guint n;
        const WsFieldRow *rows = ws_node_rows(k, &n);
        for (guint i = 0; i < n; i++) {
            print_word(ws_node_key(k, rows[i].field));
            g_auto(GStrv) words = g_strsplit(rows[i].words != NULL ? rows[i].words : "", " ", -1);
            for (guint w = 0; words[w] != NULL && *words[w] != '\0'; w++)
                print_word(words[w]);
        }
    }
    static const char *const texts[] = { "k.total",
                                         "a[0].rows(0, 64)",
                                         ".cols(0, 8).t @ k",
                                         "x = select(a < b, 1, 0)",
                                         "X[i,j] = sum(k < K, 1)",
                                         "grouped(tm, 8)",
                                         "indices(n, 0.5)",
                                         "cdiv(M, BM)" };
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        print_word(texts[i]);
    return 0;
}
