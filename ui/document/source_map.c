#include "ui/document/source_map.h"

#include "import/import.h"

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

/* --- what a note says ----------------------------------------------------------------------------
 */

/* What the note quotes of the line, without the mark that more follows. Caller frees. */
static char *quoted(const char *note, guint line, guint column)
{
    g_autofree char *place = g_strdup_printf(":%u:%u: ", line, column);
    const char *at = strstr(note, place);
    char *text = g_strdup(at ? at + strlen(place) : "");
    if (g_str_has_suffix(text, " …"))
        text[strlen(text) - strlen(" …")] = '\0';
    return text;
}

/* The text may have changed since it was read: what is quoted must still stand there. */
static gboolean still_there(const WsSourceMap *m, const char *note, guint line, guint column)
{
    if (line < 1 || line > m->n_lines)
        return FALSE;
    g_autofree char *text = quoted(note, line, column);
    g_autofree char *now = g_strstrip(g_strdup(m->line[line - 1]));
    return g_str_has_prefix(now, text);
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

/* An opaque step holds the lines it stands for, "// kernel.ptx:158: …" each. */
static guint opaque_end(const WsNode *node, const char *name, guint first)
{
    const WsValue *text = ws_node_get(node, WS_F_text);
    g_autofree char *prefix = g_strdup_printf("// %s:", name);
    guint last = first;
    for (guint i = 0; text->kind == WS_VALUE_LIST && i < text->n; i++) {
        const WsValue *item = &text->item[i];
        if (item->kind == WS_VALUE_TEXT && g_str_has_prefix(item->text, prefix))
            last = MAX(last, (guint)g_ascii_strtoull(item->text + strlen(prefix), NULL, 10) - 1);
    }
    return last;
}

/* --- from the design -----------------------------------------------------------------------------
 */

static void add(WsSourceMap *m, const WsDesign *design, const WsNode *node, const char *name)
{
    const char *note = ws_node_text(node, WS_F_note);
    guint line, column;
    g_autofree char *file = g_strconcat(name, ":", NULL);
    if (!note || !g_str_has_prefix(note, file) || !ws_import_place(node, &line, &column) ||
        !still_there(m, note, line, column))
        return;
    WsSourceSpan *s = g_new0(WsSourceSpan, 1);
    s->id = ws_design_path(design, node);
    s->step = ws_node_kind_is_step(node->kind);
    s->opaque = node->kind == WS_STEP_RAW;
    s->first = line - 1;
    s->last = s->opaque ? MIN(opaque_end(node, name, s->first), m->n_lines - 1)
                        : statement_end(m, s->first);
    g_ptr_array_add(m->span, s);
    g_hash_table_insert(m->by_id, s->id, s);
}

static void add_all(WsSourceMap *m, const WsDesign *design, const WsNode *node, const char *name)
{
    guint n;
    const WsFieldRow *row = ws_node_rows(node->kind, &n);
    add(m, design, node, name);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < ws_node_n_children(node, row[i].field); k++)
            add_all(m, design, ws_node_child(node, row[i].field, k), name);
}

WsSourceMap *ws_source_map_new(const WsDesign *design, const char *text, const char *name)
{
    WsSourceMap *m = g_new0(WsSourceMap, 1);
    m->span = g_ptr_array_new_with_free_func(span_free);
    m->by_id = g_hash_table_new(g_str_hash, g_str_equal);
    m->line = g_strsplit(text, "\n", -1);
    m->n_lines = g_strv_length(m->line);
    add_all(m, design, ws_design_root(design), name);
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

char *ws_source_name_of(const WsDesign *design)
{
    static const char before[] = "imported from ", behind[] = "; notes give the lines";
    const char *note = ws_node_text(ws_design_root(design), WS_F_note);
    const char *end = note && g_str_has_prefix(note, before) ? strstr(note, behind) : NULL;
    const char *name = end ? note + strlen(before) : NULL;
    /* A name, never a place elsewhere. */
    return name && end > name && !memchr(name, '/', (gsize)(end - name))
               ? g_strndup(name, (gsize)(end - name))
               : NULL;
}
