#include "ui/inspector/matches.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "ui/inspector/facts.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
    GPtrArray *list;
    GHashTable *seen; /* places of steps already listed */
    char *needle;     /* casefolded */
} Hunt;

static void free_match(gpointer data)
{
    WsMatch *m = data;
    g_free(m->title);
    g_free(m->place);
    g_free(m);
}

/* 0 the whole text, 1 its start, 2 start of a word, 3 anywhere; -1 not at all. */
static gint rank_in(const Hunt *h, const char *text)
{
    g_autofree char *folded = text ? g_utf8_casefold(text, -1) : NULL;
    const char *at = folded ? strstr(folded, h->needle) : NULL;
    if (!at)
        return -1;
    if (at == folded)
        return strlen(folded) == strlen(h->needle) ? 0 : 1;
    return g_ascii_isalnum(at[-1]) ? 3 : 2;
}

static void try(Hunt *h, const char *kind, const char *title, const char *place,
                const char *const *text, guint n)
{
    gint best = -1;
    for (guint i = 0; i < n; i++) {
        gint rank = rank_in(h, text[i]);
        rank = rank < 0 ? -1 : rank + (i > 0 ? 4 : 0); /* the first text is the name */
        if (rank >= 0 && (best < 0 || rank < best))
            best = rank;
    }
    if (best < 0)
        return;
    WsMatch *m = g_new0(WsMatch, 1);
    m->kind = kind;
    m->title = g_strdup(title);
    m->place = g_strdup(place);
    m->rank = (guint)best;
    g_ptr_array_add(h->list, m);
}

static void objects(Hunt *h, const WsDesign *design)
{
    static const struct {
        WsFieldId field;
        const char *kind;
    } list[] = {
        { WS_F_groups, N_("group") },     { WS_F_buffers, N_("buffer") },
        { WS_F_barriers, N_("barrier") }, { WS_F_pipes, N_("pipe") },
        { WS_F_tensors, N_("tensor") },
    };
    const WsNode *root = ws_design_root(design);
    for (guint l = 0; l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(root, list[l].field); i++) {
            const WsNode *node = ws_node_child(root, list[l].field, i);
            g_autofree char *path = ws_design_path(design, node);
            const char *name = ws_node_name(node), *note = ws_node_text(node, WS_F_note);
            const char *text[] = { name, path, note };
            try(h, _(list[l].kind), name ? name : path, path, text, G_N_ELEMENTS(text));
        }
}

static void operations(Hunt *h, const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent < 0 || op->derived || !op->step || !g_hash_table_add(h->seen, op->step))
            continue;
        const char *text[] = { op->label, ws_node_kind_keyword(op->step_kind),
                               ws_op_kind_text(op->kind), op->step };
        try(h, _("step"), op->label ? op->label : op->step, op->step, text, G_N_ELEMENTS(text));
    }
}

/* Steps that make no operation of their own (loops, branches), and all of them without a program.
 * `path` is the node's place in the document, put together on the way down: asking the design for
 * the path of each node would search the whole tree for every one of them. */
static void nodes(Hunt *h, const WsNode *node, const char *path)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0;
             rows[i].kind == WS_FIELD_STEPS && c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            g_autofree char *below =
                g_strdup_printf("%s/%s/%u", path, ws_node_key(node->kind, rows[i].field), c);
            const char *id = ws_node_text(child, WS_F_id), *place = id ? id : below;
            const char *name = ws_node_text(child, WS_F_keyword);
            const char *word = ws_node_kind_keyword(child->kind);
            g_autofree char *title = name ? g_strdup_printf("%s %s", word, name) : g_strdup(word);
            const char *text[] = { title, name, place, ws_node_text(child, WS_F_note) };
            if (!g_hash_table_contains(h->seen, place))
                try(h, _("step"), title, place, text, G_N_ELEMENTS(text));
            nodes(h, child, below);
        }
}

static void findings(Hunt *h, const WsFindings *f, const WsDesign *design)
{
    for (guint i = 0; f && i < f->list->len; i++) {
        const WsFinding *finding = g_ptr_array_index(f->list, i);
        const char *rule = ws_rule(finding->rule)->text;
        g_autofree char *message = ws_words_message(finding);
        g_autofree char *title = g_strdup_printf("%s %s", rule, message);
        g_autofree char *place = ws_place_resolve(design, finding->at);
        const char *text[] = { rule, message, finding->at };
        try(h, _("finding"), title, place, text, G_N_ELEMENTS(text));
    }
}

static gint compare(gconstpointer pa, gconstpointer pb)
{
    const WsMatch *a = *(WsMatch *const *)pa, *b = *(WsMatch *const *)pb;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    gint order = g_strcmp0(a->title, b->title);
    return order ? order : g_strcmp0(a->place, b->place);
}

GPtrArray *ws_matches_new(WsDocument *document, const char *text)
{
    Hunt h = { .list = g_ptr_array_new_with_free_func(free_match) };
    WsDesign *design = ws_document_design(document);
    g_autofree char *bare = g_strstrip(g_strdup(text ? text : ""));
    if (!design || !*bare)
        return h.list;
    g_autofree char *needle = h.needle = g_utf8_casefold(bare, -1);
    g_autoptr(GHashTable) seen = h.seen = g_hash_table_new(g_str_hash, g_str_equal);
    const WsNode *root = ws_design_root(design);
    objects(&h, design);
    if (ws_document_program(document))
        operations(&h, ws_document_program(document));
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, i);
        const char *name = ws_node_name(group);
        g_autofree char *path =
            name ? g_strdup_printf("groups/%s", name) : g_strdup_printf("groups/%u", i);
        nodes(&h, group, path);
    }
    findings(&h, ws_document_findings(document), design);
    g_ptr_array_sort(h.list, compare);
    if (h.list->len > WS_MATCHES_MAX)
        g_ptr_array_set_size(h.list, WS_MATCHES_MAX);
    return h.list;
}
