#include "ui/document/source_map.h"

#include "import/import.h"
#include "model/design.h"

#include <string.h>

#define MAX_STATEMENT 40 /* lines of one statement that are marked */

struct WsSourceMap {
    GPtrArray *span; /* WsSourceSpan* */
    GHashTable *by_id;
    char **line;
    guint n_lines;
};

static void span_free(gpointer data)
{
    WsSourceSpan *s = data;
    g_free(s->id);
    g_free(s);
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* The text may have changed since it was read: what the note quotes must still stand there. */
static gboolean still_there(const WsSourceMap *m, const char *note, guint line)
{
    if (line > m->n_lines)
        return FALSE;
    g_autofree char *now = g_strstrip(g_strdup(m->line[line - 1]));
    g_autofree char *quoted = g_strdup(note);
    if (g_str_has_suffix(quoted, " …")) /* more lines follow */
        quoted[strlen(quoted) - strlen(" …")] = '\0';
    return g_str_has_prefix(now, quoted);
}

/* A statement goes on while its brackets are open. */
static guint statement_end(const WsSourceMap *m, guint first)
{
    gint depth = 0;
    for (guint i = first; i < m->n_lines && i < first + MAX_STATEMENT; i++) {
        for (const char *c = m->line[i]; *c && *c != '#'; c++) {
            depth += *c == '(' || *c == '[' || *c == '{';
            depth -= *c == ')' || *c == ']' || *c == '}';
        }
        if (depth <= 0)
            return i;
    }
    return first;
}

/* --- from the design -----------------------------------------------------------------------------
 */

static void add(WsSourceMap *m, const WsDesign *design, const WsNode *node)
{
    const char *note = ws_node_text(node, WS_F_note);
    guint line, column, last;
    if (!note || !ws_import_place(node, &line, &column, &last) || !still_there(m, note, line))
        return;
    WsSourceSpan *s = g_new0(WsSourceSpan, 1);
    s->id = ws_design_path(design, node);
    s->step = ws_node_kind_is_step(node->kind);
    s->opaque = node->kind == WS_STEP_RAW;
    s->first = line - 1;
    s->last = s->opaque ? MIN(last, m->n_lines) - 1 : statement_end(m, s->first);
    g_ptr_array_add(m->span, s);
    g_hash_table_insert(m->by_id, s->id, s);
}

static void add_all(WsSourceMap *m, const WsDesign *design, const WsNode *node)
{
    guint n;
    const WsFieldRow *row = ws_node_rows(node->kind, &n);
    add(m, design, node);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < ws_node_n_children(node, row[i].field); k++)
            add_all(m, design, ws_node_child(node, row[i].field, k));
}

WsSourceMap *ws_source_map_new(const WsDesign *design, const char *text, const char *name)
{
    WsSourceMap *m = g_new0(WsSourceMap, 1);
    m->span = g_ptr_array_new_with_free_func(span_free);
    m->by_id = g_hash_table_new(g_str_hash, g_str_equal);
    m->line = g_strsplit(text, "\n", -1);
    m->n_lines = g_strv_length(m->line);
    if (!g_strcmp0(ws_node_text(ws_design_root(design), WS_F_source), name))
        add_all(m, design, ws_design_root(design));
    return m;
}

void ws_source_map_free(WsSourceMap *m)
{
    if (!m)
        return;
    g_hash_table_unref(m->by_id);
    g_ptr_array_unref(m->span);
    g_strfreev(m->line);
    g_free(m);
}

/* --- asking --------------------------------------------------------------------------------------
 */

guint ws_source_map_n(const WsSourceMap *m)
{
    return m->span->len;
}

const WsSourceSpan *ws_source_map_span(const WsSourceMap *m, guint i)
{
    return m->span->pdata[i];
}

const WsSourceSpan *ws_source_map_of(const WsSourceMap *m, const char *id)
{
    return id ? g_hash_table_lookup(m->by_id, id) : NULL;
}

static gboolean is_blank(const char *line)
{
    return !line[strspn(line, " \t\r")];
}

GPtrArray *ws_source_map_at(const WsSourceMap *m, guint line)
{
    GPtrArray *found = g_ptr_array_new();
    gint64 first = -1;
    if (line >= m->n_lines)
        return found;
    for (guint i = 0; i < m->span->len; i++) {
        const WsSourceSpan *s = m->span->pdata[i];
        if (s->first <= line && s->last >= line)
            first = MAX(first, (gint64)s->first);
    }
    /* Between two steps, what computes for the next or goes with the last: the one above it, in the
     * same paragraph. */
    for (gint64 above = line; first < 0 && above >= 0 && !is_blank(m->line[above]); above--)
        for (guint i = 0; i < m->span->len; i++)
            if (((const WsSourceSpan *)m->span->pdata[i])->first == above)
                first = above;
    for (guint i = 0; i < m->span->len; i++)
        if (((const WsSourceSpan *)m->span->pdata[i])->first == first)
            g_ptr_array_add(found, m->span->pdata[i]);
    return found;
}

const char *ws_source_name_of(const WsDesign *design)
{
    const char *name = ws_node_text(ws_design_root(design), WS_F_source);
    return name && *name && !strchr(name, '/') ? name : NULL; /* never a place elsewhere */
}
