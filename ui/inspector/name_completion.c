#include "ui/inspector/name_completion.h"
#include "target/target.h"

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

static gboolean named_in(const WsNode *owner, WsFieldId list, const char *name)
{
    for (guint i = 0; owner && i < ws_node_n_children(owner, list); i++)
        if (!g_strcmp0(ws_node_name(ws_node_child(owner, list, i)), name))
            return TRUE;
    return FALSE;
}

/* Kinds of objects that the field may name on the design's target. */
static gint kinds_of(const WsDesign *design, const WsNode *at, const WsFieldRow *row)
{
    const WsTarget *target = ws_target_find(ws_node_text(ws_design_root(design), WS_F_target));
    const gboolean accumulator = at->kind == WS_STEP_MMA && row->field == WS_F_keyword;
    return accumulator && target && !target->core ? row->of & ~(1 << WS_NODE_BUFFER) : row->of;
}

/* Whether the field may be that name itself: where it names objects of some kinds, it is of them.
 */
static gboolean belongs(const WsDesign *design, const WsNode *at, const WsFieldRow *row,
                        const char *name)
{
    static const struct {
        WsNodeKind kind;
        WsFieldId list; /* of the design or of the group */
    } lists[] = {
        { WS_NODE_TENSOR, WS_F_tensors },   { WS_NODE_BUFFER, WS_F_buffers },
        { WS_NODE_BARRIER, WS_F_barriers }, { WS_NODE_PIPE, WS_F_pipes },
        { WS_NODE_VALUE, WS_F_values },     { WS_NODE_COUNTER, WS_F_counters },
    };
    const WsNode *root = ws_design_root(design), *group = at ? ws_edit_group(design, at) : NULL;
    const gboolean names = row->kind == WS_FIELD_REF || row->kind == WS_FIELD_NAME;
    if (!at || !names || !row->of)
        return TRUE;
    const gint kinds = kinds_of(design, at, row);
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        if ((kinds >> lists[i].kind & 1) &&
            (named_in(root, lists[i].list, name) || named_in(group, lists[i].list, name)))
            return TRUE;
    return FALSE;
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
