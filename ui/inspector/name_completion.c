#include "ui/inspector/name_completion.h"

#include <string.h>

/* Where the word begins that the cursor stands behind. */
static int word_start(GtkEditable *entry, const char **text)
{
    int at = gtk_editable_get_position(entry);
    *text = gtk_editable_get_text(entry);
    while (at > 0) {
        const char c = (*text)[at - 1];
        if (!g_ascii_isalnum(c) && c != '_' && c != '.')
            break;
        at--;
    }
    return at;
}

static gboolean matches(GtkEntryCompletion *completion, const char *key, GtkTreeIter *iter,
                        gpointer data)
{
    GtkEditable *entry = GTK_EDITABLE(gtk_entry_completion_get_entry(completion));
    const char *text;
    const int end = gtk_editable_get_position(entry), from = word_start(entry, &text);
    g_autofree char *name = NULL;
    gtk_tree_model_get(gtk_entry_completion_get_model(completion), iter, 0, &name, -1);
    return name && end > from && !strncmp(name, text + from, (gsize)(end - from)) &&
           strlen(name) > (gsize)(end - from);
}

static gboolean selected(GtkEntryCompletion *completion, GtkTreeModel *model, GtkTreeIter *iter,
                         gpointer data)
{
    GtkEditable *entry = GTK_EDITABLE(gtk_entry_completion_get_entry(completion));
    const char *text;
    int at = word_start(entry, &text);
    g_autofree char *name = NULL;
    gtk_tree_model_get(model, iter, 0, &name, -1);
    gtk_editable_delete_text(entry, at, gtk_editable_get_position(entry));
    gtk_editable_insert_text(entry, name, -1, &at);
    gtk_editable_set_position(entry, at);
    return TRUE;
}

static void fill(GtkListStore *store, WsDocument *document, guint64 node, const char *words)
{
    WsDesign *latest = ws_document_latest(document);
    const WsNode *at = latest ? ws_design_by_identity(latest, node) : NULL;
    g_auto(GStrv) word = g_strsplit(words ? words : "", " ", -1);
    for (guint i = 0; word[i]; i++)
        if (*word[i])
            gtk_list_store_insert_with_values(store, NULL, -1, 0, word[i], -1);
    if (!latest)
        return;
    g_autoptr(GPtrArray) names = ws_edit_names(latest, at);
    for (guint i = 0; i < names->len; i++)
        gtk_list_store_insert_with_values(store, NULL, -1, 0, names->pdata[i], -1);
}

void ws_name_completion_attach(GtkEntry *entry, WsDocument *document, guint64 node,
                               const char *words)
{
    g_autoptr(GtkEntryCompletion) completion = gtk_entry_completion_new();
    g_autoptr(GtkListStore) store = gtk_list_store_new(1, G_TYPE_STRING);
    fill(store, document, node, words);
    gtk_entry_completion_set_model(completion, GTK_TREE_MODEL(store));
    gtk_entry_completion_set_text_column(completion, 0);
    gtk_entry_completion_set_minimum_key_length(completion, 1);
    gtk_entry_completion_set_match_func(completion, matches, NULL, NULL);
    g_signal_connect(completion, "match-selected", G_CALLBACK(selected), NULL);
    gtk_entry_set_completion(entry, completion);
}
