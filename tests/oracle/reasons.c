#include "reasons.h"
#include "base/phrase.h"

#include <string.h>

enum { SEEDS = 4 };

typedef struct {
    char *text;
    guint n, seed[SEEDS];
} Reason;

static GHashTable *reasons; /* kind -> Reason */

static void reason_free(gpointer data)
{
    Reason *r = data;
    g_free(r->text);
    g_free(r);
}

/* The template of the phrase, and what it begins with (a rule, another sentence) up
 * to the first name. */
static char *kind_of(const char *reason)
{
    GString *out = g_string_new(NULL);
    g_autoptr(WsPhrasePart) all = ws_phrase_parse(reason);
    for (const WsPhrasePart *p = all; p && p->text; p = p->args->pdata[0]) {
        gsize n = strcspn(p->text, p->kind == WS_PHRASE_FORMAT ? "" : ":");
        g_string_append_printf(out, "%s%.*s", out->len ? " | " : "", (int)n, p->text);
        if (p->kind != WS_PHRASE_FORMAT || !g_str_has_prefix(p->text, "%s") || p->args->len == 0)
            break;
    }
    return g_string_free(out, FALSE);
}

gboolean reasons_same(const char *a, const char *b)
{
    g_autofree char *x = kind_of(a ? a : ""), *y = kind_of(b ? b : "");
    return strcmp(x, y) == 0;
}

void reasons_count(const char *reason, guint seed)
{
    if (!reasons)
        reasons = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, reason_free);
    g_autofree char *kind = kind_of(reason ? reason : "no reason");
    Reason *r = g_hash_table_lookup(reasons, kind);
    if (!r) {
        r = g_new0(Reason, 1);
        r->text = g_strdup(kind);
        g_hash_table_insert(reasons, g_steal_pointer(&kind), r);
    }
    if (r->n < SEEDS)
        r->seed[r->n] = seed;
    r->n++;
}

static gint by_number(gconstpointer a, gconstpointer b)
{
    const Reason *x = *(Reason *const *)a, *y = *(Reason *const *)b;
    return x->n < y->n ? 1 : x->n > y->n ? -1 : g_strcmp0(x->text, y->text);
}

char *reasons_text(guint most)
{
    if (!reasons)
        return NULL;
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    GHashTableIter each;
    gpointer value;
    g_hash_table_iter_init(&each, reasons);
    while (g_hash_table_iter_next(&each, NULL, &value))
        g_ptr_array_add(list, value);
    GString *out = g_string_new("outside though right:");
    g_ptr_array_sort(list, by_number);
    for (guint i = 0; i < MIN(list->len, most); i++) {
        const Reason *r = g_ptr_array_index(list, i);
        g_string_append_printf(out, "\n  %5u %s (seeds", r->n, r->text);
        for (guint k = 0; k < MIN(r->n, SEEDS); k++)
            g_string_append_printf(out, " %u", r->seed[k]);
        g_string_append_c(out, ')');
    }
    return g_string_free(out, FALSE);
}
