#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* tle.range(…, num_stages, pipe_stages, pipe_orders, executors) over `with tle.pipeline_group(i):`.
 * Known by its form alone: numbers, and nothing beside the groups. Otherwise nothing is read of it.
 */

static const WsPyNode *keyword(const WsPyNode *call, const char *name)
{
    for (guint i = 1; i < call->n; i++)
        if (call->kid[i]->kind == WS_PY_KEYWORD && !strcmp(call->kid[i]->text, name))
            return call->kid[i]->kid[0];
    return NULL;
}

static gboolean number_in(PyRead *p, const WsPyNode *list, gint64 index, gint64 *out)
{
    const Val *v = list ? py_eval(p, list) : NULL;
    return v && v->kind == VAL_TUPLE && index >= 0 && index < (gint64)v->n &&
           py_known(v->item[index], out);
}

/* A list that is there has as many entries as the loop has groups. */
static gboolean fits(PyRead *p, const WsPyNode *range, const char *name, guint n)
{
    const WsPyNode *list = keyword(range, name);
    const Val *v = list ? py_eval(p, list) : NULL;
    return !list || (v->kind == VAL_TUPLE && v->n == n);
}

static gboolean is_group(PyRead *p, const WsPyNode *with, gint64 *number)
{
    if (with->kind != WS_PY_WITH || with->n != 2 || with->text)
        return FALSE;
    const WsPyNode *call = with->kid[0];
    g_autofree char *dotted = call->kind == WS_PY_CALL ? ws_python_dotted(call->kid[0]) : NULL;
    const char *dot = dotted ? strchr(dotted, '.') : NULL;
    if (!dot || call->n != 2 || call->kid[1]->kind == WS_PY_KEYWORD)
        return FALSE;
    g_autofree char *first = g_strndup(dotted, (gsize)(dot - dotted));
    const Val *from = py_lookup(p, first);
    return from->kind == VAL_NAME && !strchr(from->text, '/') && !strcmp(dot, ".pipeline_group") &&
           g_str_has_suffix(from->text, "tle.language") &&
           py_known(py_eval(p, call->kid[1]), number);
}

/* The group as the keywords have it. */
static gboolean group_of(PyRead *p, const WsPyNode *range, const WsPyNode *with, guint index,
                         WsReadHintGroup *g)
{
    const WsPyNode *orders = keyword(range, "pipe_orders"),
                   *executors = keyword(range, "executors");
    const WsPyNode *block = with->kid[1];
    *g = (WsReadHintGroup){ .order = index, .executor = 0 };
    if (!is_group(p, with, &g->number) || !block->n ||
        !number_in(p, keyword(range, "pipe_stages"), g->number, &g->stage) ||
        (orders && !number_in(p, orders, g->number, &g->order)) ||
        (executors && !number_in(p, executors, g->number, &g->executor)))
        return FALSE;
    g->from = with->line + 1;
    g->to = block->kid[block->n - 1]->end_line;
    return g->to >= g->from && g->stage >= 0 && g->order >= 0 && g->executor >= 0;
}

gboolean py_hint_loop(PyRead *p, const WsPyNode *loop)
{
    const WsPyNode *range = loop->kid[1], *body = loop->kid[2],
                   *stages = keyword(range, "num_stages");
    WsReadHint h = { .line = loop->line };
    if (p->from != WS_IMPORT_TLE || !p->group || !keyword(range, "pipe_stages"))
        return FALSE;
    for (guint i = 0; i < p->r->hints->len; i++)
        if (g_array_index(p->r->hints, WsReadHint, i).line == loop->line)
            return TRUE; /* walked before */
    if (!stages || !py_known(py_eval(p, stages), &h.stages) || h.stages < 1 || h.stages > 64 ||
        !body->n || body->n > WS_READ_HINT_MOST || !fits(p, range, "pipe_stages", body->n) ||
        !fits(p, range, "pipe_orders", body->n) || !fits(p, range, "executors", body->n))
        return FALSE;
    for (guint i = 0; i < body->n; i++) {
        WsReadHintGroup *g = &h.group[h.n++];
        if (!group_of(p, range, body->kid[i], i, g))
            return FALSE;
        for (guint k = 0; k + 1 < h.n; k++)
            if (h.group[k].number == g->number)
                return FALSE;
    }
    h.text = ws_source_format(p->r, "%s", "pipe_stages");
    g_array_append_val(p->r->hints, h);
    return TRUE;
}

gboolean py_hint_group(PyRead *p, const WsPyNode *with)
{
    for (guint i = 0; i < p->r->hints->len; i++) {
        const WsReadHint *h = &g_array_index(p->r->hints, WsReadHint, i);
        for (guint k = 0; k < h->n; k++)
            if (h->group[k].from == with->line + 1) {
                py_run(p, with->kid[1]);
                return TRUE;
            }
    }
    return FALSE;
}
