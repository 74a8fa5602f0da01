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

/* Behind an open bracket, or behind "@", stands an expression, whatever the field is for. */
static gboolean in_expression(const char *text, int at)
{
    int depth = 0;
    for (int i = 0; i < at; i++)
        depth += text[i] == '(' || text[i] == '[' || text[i] == '@' ? 1
                 : text[i] == ')' || text[i] == ']'                 ? -1
                                                                    : 0;
    return depth > 0;
}

/* Fields that name objects of one kind: nothing else is proposed there. */
static const struct {
    WsFieldId field;
    WsNodeKind kind;   /* of the node, where the field is its keyword */
    WsFieldId list[2]; /* of the design or of the group */
} typed[] = {
    { WS_F_into, 0, { WS_F_buffers, WS_F_COUNT } },
    { WS_F_to, 0, { WS_F_buffers, WS_F_COUNT } },
    { WS_F_from, 0, { WS_F_buffers, WS_F_COUNT } },
    { WS_F_signal, 0, { WS_F_barriers, WS_F_COUNT } },
    { WS_F_a, 0, { WS_F_buffers, WS_F_values } },
    { WS_F_b, 0, { WS_F_buffers, WS_F_values } },
    { WS_F_keyword, WS_STEP_LOAD, { WS_F_tensors, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_GATHER, { WS_F_tensors, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_PREFETCH, { WS_F_tensors, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_STORE, { WS_F_tensors, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_WAIT, { WS_F_barriers, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_ARRIVE, { WS_F_barriers, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_EXPECT, { WS_F_barriers, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_MMA, { WS_F_values, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_WRITE, { WS_F_values, WS_F_COUNT } },
    { WS_F_keyword, WS_STEP_READ, { WS_F_values, WS_F_COUNT } },
};

static gboolean named_in(const WsNode *owner, WsFieldId list, const char *name)
{
    for (guint i = 0; owner && i < ws_node_n_children(owner, list); i++)
        if (!g_strcmp0(ws_node_name(ws_node_child(owner, list, i)), name))
            return TRUE;
    return FALSE;
}

/* Whether the field may be that name itself. */
static gboolean belongs(const WsDesign *design, const WsNode *at, const WsFieldRow *row,
                        const char *name)
{
    const WsNode *root = ws_design_root(design), *group = at ? ws_edit_group(design, at) : NULL;
    for (guint i = 0; at && i < G_N_ELEMENTS(typed); i++) {
        if (typed[i].field != row->field ||
            (row->field == WS_F_keyword ? typed[i].kind != at->kind : row->kind != WS_FIELD_REF))
            continue;
        for (guint l = 0; l < 2 && typed[i].list[l] != WS_F_COUNT; l++)
            if (named_in(root, typed[i].list[l], name) || named_in(group, typed[i].list[l], name))
                return TRUE;
        return FALSE;
    }
    return TRUE;
}

static gboolean matches(GtkEntryCompletion *completion, const char *key, GtkTreeIter *iter,
                        gpointer data)
{
    GtkEditable *entry = GTK_EDITABLE(gtk_entry_completion_get_entry(completion));
    const char *text;
    const int end = gtk_editable_get_position(entry), from = word_start(entry, &text);
    g_autofree char *name = NULL;
    gboolean whole = TRUE;
    gtk_tree_model_get(gtk_entry_completion_get_model(completion), iter, 0, &name, 1, &whole, -1);
    return name && (whole || in_expression(text, from)) && end > from &&
           !strncmp(name, text + from, (gsize)(end - from)) && strlen(name) > (gsize)(end - from);
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

static void propose(GtkListStore *store, const char *name, gboolean whole)
{
    gtk_list_store_insert_with_values(store, NULL, -1, 0, name, 1, whole, -1);
}

static void fill(GtkListStore *store, WsDocument *document, guint64 node, const WsFieldRow *row)
{
    WsDesign *latest = ws_document_latest(document);
    const WsNode *at = latest ? ws_design_by_identity(latest, node) : NULL;
    g_auto(GStrv) word = g_strsplit(row->words ? row->words : "", " ", -1);
    for (guint i = 0; word[i]; i++)
        if (*word[i])
            propose(store, word[i], TRUE);
    if (!latest)
        return;
    const WsNode *loop = at && row->field == WS_F_first ? ws_edit_loop(latest, at) : NULL;
    if (loop && ws_node_text(loop, WS_F_keyword)) { /* a product begins anew in the first round */
        g_autofree char *first = g_strdup_printf("%s == 0", ws_node_text(loop, WS_F_keyword));
        propose(store, first, TRUE);
    }
    g_autoptr(GPtrArray) names = ws_edit_names(latest, at);
    for (guint i = 0; i < names->len; i++)
        propose(store, names->pdata[i], belongs(latest, at, row, names->pdata[i]));
}

void ws_name_completion_attach(GtkEntry *entry, WsDocument *document, guint64 node,
                               const WsFieldRow *row)
{
    g_autoptr(GtkEntryCompletion) completion = gtk_entry_completion_new();
    g_autoptr(GtkListStore) store = gtk_list_store_new(2, G_TYPE_STRING, G_TYPE_BOOLEAN);
    fill(store, document, node, row);
    gtk_entry_completion_set_model(completion, GTK_TREE_MODEL(store));
    gtk_entry_completion_set_text_column(completion, 0);
    gtk_entry_completion_set_minimum_key_length(completion, 1);
    gtk_entry_completion_set_match_func(completion, matches, NULL, NULL);
    g_signal_connect(completion, "match-selected", G_CALLBACK(selected), NULL);
    gtk_entry_set_completion(entry, completion);
}
