#include "ui/inspector/facts.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "ui/parts/format.h"

#include <glib/gi18n.h>
#include <string.h>

/* Facts of a place: its fields, what links to it, and who may derive more. */

static void free_fact(gpointer data)
{
    WsFact *f = data;
    g_free(f->section);
    g_free(f->name);
    g_free(f->value);
    g_free(f->help);
    g_free(f->target);
    g_free(f);
}

void ws_facts_free(WsInspectorFacts *facts)
{
    if (!facts)
        return;
    g_free(facts->title);
    g_free(facts->subtitle);
    g_free(facts->note);
    g_ptr_array_unref(facts->list);
    g_free(facts);
}

WsFact *ws_facts_add(WsInspectorFacts *facts, WsFactKind kind, const char *section,
                     const char *name, char *value)
{
    WsFact *f = g_new0(WsFact, 1);
    f->kind = kind;
    f->section = g_strdup(section);
    f->name = g_strdup(name);
    f->value = value ? value : g_strdup(WS_NO_FIGURE);
    g_ptr_array_add(facts->list, f);
    return f;
}

void ws_facts_link(WsInspectorFacts *facts, const char *section, const char *name,
                   const char *value, const char *target)
{
    WsFact *f = ws_facts_add(facts, WS_FACT_LINK, section, name, g_strdup(value));
    f->target = g_strdup(target);
}

/* --- fields -------------------------------------------------------------------------------------
 */

static gboolean is_list_of_nodes(const WsFieldRow *row)
{
    return row->kind == WS_FIELD_NODES || row->kind == WS_FIELD_STEPS || row->kind == WS_FIELD_NODE;
}

static char *children_text(const WsFieldRow *row, guint n)
{
    if (row->kind == WS_FIELD_STEPS)
        return ws_format_count(n, ngettext("%s step", "%s steps", n));
    return ws_format_count(n, ngettext("%s object", "%s objects", n));
}

/* A JSON string without its quotes, where nothing in it is escaped. */
static char *unquoted(char *json)
{
    gsize n = strlen(json);
    if (n < 2 || json[0] != '"' || strchr(json, '\\') || strchr(json + 1, '"') != json + n - 1)
        return json;
    memmove(json, json + 1, n - 2);
    json[n - 2] = '\0';
    return json;
}

/* What absence of the field means: its default, or that it follows from the rest. */
static char *absent_text(const WsFieldRow *row)
{
    if (row->required)
        return g_strdup(_("missing"));
    return row->fallback ? unquoted(g_strdup(row->fallback)) : g_strdup(_("not set"));
}

void ws_facts_fields(WsInspectorFacts *facts, const WsNode *node, const char *section)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsFieldRow *row = &rows[i];
        const WsValue *value = ws_node_get(node, row->field);
        gboolean given = value->kind != WS_VALUE_NONE;
        if (row->field == WS_F_note || (row->field == WS_F_source && !given))
            continue;
        char *text = !given                  ? absent_text(row)
                     : is_list_of_nodes(row) ? children_text(row, value->n)
                                             : unquoted(ws_value_print(row, value));
        WsFact *f = ws_facts_add(facts, given ? WS_FACT_GIVEN : WS_FACT_DEFAULT, section,
                                 ws_node_key(node->kind, row->field), text);
        f->help = g_strdup_printf("%s (%s)", _(row->help), _(ws_field_kind_help(row->kind)));
        f->field = !is_list_of_nodes(row);
    }
}

/* --- places -------------------------------------------------------------------------------------
 */

char *ws_place_resolve(const WsDesign *design, const char *place)
{
    g_autofree char *path = g_strdup(place);
    if (!design || !path)
        return NULL;
    path[strcspn(path, "#")] = '\0';
    while (*path) {
        const WsNode *node = ws_design_find(design, path);
        if (node && node != ws_design_root(design))
            return ws_design_path(design, node);
        char *slash = strrchr(path, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    return NULL;
}

/* "load A", or the text the program has for it. */
static char *step_title(const WsDesign *design, const WsProgram *p, const WsNode *node)
{
    g_autofree char *path = ws_design_path(design, node);
    for (guint i = 0; p && i < p->n_ops; i++)
        if (!p->op[i]->derived && !g_strcmp0(p->op[i]->step, path) && p->op[i]->label)
            return g_strdup(p->op[i]->label);
    const WsFieldRow *row = ws_node_row(node->kind, WS_F_keyword);
    g_autofree char *text =
        row && ws_node_has(node, WS_F_keyword) && row->kind != WS_FIELD_STATEMENTS
            ? unquoted(ws_value_print(row, ws_node_get(node, WS_F_keyword)))
            : NULL;
    return text ? g_strdup_printf("%s %s", ws_node_kind_keyword(node->kind), text)
                : g_strdup(ws_node_kind_keyword(node->kind));
}

static char *object_title(const WsNode *node)
{
    const char *name = ws_node_name(node), *word = ws_node_kind_keyword(node->kind);
    return name ? g_strdup_printf("%s %s", word, name) : g_strdup(word);
}

/* Nodes from `at` down to `wanted`, the nearest first, without `wanted` itself. */
static gboolean gather_parents(const WsNode *at, const WsNode *wanted, GPtrArray *up)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(at->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; is_list_of_nodes(&rows[i]) && c < ws_node_n_children(at, rows[i].field);
             c++) {
            const WsNode *child = ws_node_child(at, rows[i].field, c);
            if (child != wanted && !gather_parents(child, wanted, up))
                continue;
            g_ptr_array_add(up, (gpointer)at);
            return TRUE;
        }
    return FALSE;
}

static void link_parents(WsInspectorFacts *facts, const WsDesign *design, const WsNode *node)
{
    const WsNode *root = ws_design_root(design);
    g_autoptr(GPtrArray) up = g_ptr_array_new();
    gather_parents(root, node, up);
    for (guint i = 0; i < up->len; i++) {
        const WsNode *at = g_ptr_array_index(up, i);
        if (at == root)
            continue;
        g_autofree char *path = ws_design_path(design, at);
        g_autofree char *title =
            ws_node_kind_is_step(at->kind) ? step_title(design, NULL, at) : object_title(at);
        ws_facts_link(facts, _("Inside"), ws_node_kind_keyword(at->kind), title, path);
    }
}

static void describe(WsInspectorFacts *facts, WsDocument *document, const WsNode *node,
                     const char *path)
{
    const WsProgram *p = ws_document_program(document);
    const char *name = ws_node_name(node);
    ws_facts_fields(facts, node, _("In the file"));
    if (p && node->kind == WS_NODE_BUFFER)
        ws_facts_of_buffer(facts, p, name);
    else if (p && node->kind == WS_NODE_BARRIER)
        ws_facts_of_barrier(facts, p, name);
    else if (p && node->kind == WS_NODE_GROUP)
        ws_facts_of_group(facts, p, path);
    else if (p && ws_node_kind_is_step(node->kind))
        ws_facts_of_step(facts, p, path);
    if (ws_node_kind_is_step(node->kind))
        ws_facts_figures(facts, document, path);
    link_parents(facts, ws_document_design(document), node);
}

/* A draft is drawn with objects that the design does not hold: to those nothing leads. */
static void drop_dead_links(WsInspectorFacts *facts, const WsDesign *design)
{
    for (guint i = 0; i < facts->list->len; i++) {
        WsFact *f = g_ptr_array_index(facts->list, i);
        if (f->target && !ws_design_find(design, f->target)) {
            f->kind = WS_FACT_DERIVED;
            g_clear_pointer(&f->target, g_free);
        }
    }
}

WsInspectorFacts *ws_facts_new(WsDocument *document, const char *place)
{
    WsDesign *design = ws_document_design(document);
    if (!design)
        return NULL;
    WsInspectorFacts *facts = g_new0(WsInspectorFacts, 1);
    facts->list = g_ptr_array_new_with_free_func(free_fact);
    g_autofree char *path = ws_place_resolve(design, place);
    const WsNode *node = path ? ws_design_find(design, path) : ws_design_root(design);
    facts->note = g_strdup(ws_node_text(node, WS_F_note));
    if (!path) {
        facts->title = ws_document_title(document);
        ws_facts_of_design(facts, document);
        drop_dead_links(facts, design);
        return facts;
    }
    gboolean step = ws_node_kind_is_step(node->kind);
    facts->title =
        step ? step_title(design, ws_document_program(document), node) : object_title(node);
    facts->subtitle = g_strdup(path);
    describe(facts, document, node, path);
    drop_dead_links(facts, design);
    return facts;
}
