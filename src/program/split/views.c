/* References as parts of what they name. */
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "program/split/split.h"

#include <string.h>

static WsLookup constant(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const WsProgram *p = data;
    (void)error;
    for (guint i = 0; leaf->op == WS_EXPR_NAME && i < p->n_constants; i++) {
        if (!strcmp(p->constant_name[i], leaf->name)) {
            *value = p->constant[i];
            return WS_LOOKUP_KNOWN;
        }
    }
    return WS_LOOKUP_UNKNOWN;
}

gboolean ws_split_constant(const WsProgram *p, const WsExpr *e, gint64 *value)
{
    const WsExprEnv env = { .integer = constant, .data = (gpointer)p };
    return ws_expr_eval(e, &env, value, NULL);
}

char *ws_split_plus(const char *text, gint64 by)
{
    if (!text || !strcmp(text, "0"))
        return g_strdup_printf("%" G_GINT64_FORMAT, by);
    return by ? g_strdup_printf("%s + %" G_GINT64_FORMAT, text, by) : g_strdup(text);
}

void ws_split_view_clear(WsSplitView *v)
{
    g_clear_pointer(&v->row, g_free);
    g_clear_pointer(&v->col, g_free);
}

static gboolean narrow(WsSplit *s, const WsView *by, char **text, gint64 *from, guint *n)
{
    gint64 start, count;
    if (!ws_split_constant(s->p, by->count, &count) || count < 1 || count > *n)
        return ws_split_give_up(s, "a view whose extent is not constant");
    const gboolean known = *from >= 0 && ws_split_constant(s->p, by->start, &start) && start >= 0;
    g_autofree char *more = ws_expr_print(by->start), *before = g_steal_pointer(text);
    *text = before ? g_strdup_printf("%s + %s", before, more) : g_steal_pointer(&more);
    *from = known ? *from + start : -1;
    *n = (guint)count;
    return TRUE;
}

static gboolean whole_of(WsSplit *s, WsSplitView *v)
{
    const WsAgent *a = &s->p->agent[s->agent];
    for (guint i = 0; i < s->p->n_buffers; i++) {
        const WsBuffer *b = &s->p->buffer[i];
        if (strcmp(b->name, v->ref->name) != 0 || b->rank == 1)
            continue;
        v->buffer = (gint)i;
        v->lines = s->lines[i];
        v->row_cuts = s->rows[i].n > 1 || v->lines ? &s->rows[i] : NULL;
        v->col_cuts = s->cols[i].n > 1 ? &s->cols[i] : NULL;
        v->rows = b->rows;
        v->cols = b->cols;
        return TRUE;
    }
    for (guint i = 0; i < a->n_values; i++) {
        if (strcmp(a->value[i].name, v->ref->name) != 0)
            continue;
        v->col_cuts = ws_split_of_name(s, v->ref->name);
        v->rows = a->value[i].rows;
        v->cols = a->value[i].cols;
        return TRUE;
    }
    return FALSE;
}

gboolean ws_split_view(WsSplit *s, const WsRef *ref, WsSplitView *out)
{
    *out = (WsSplitView){ .ref = ref, .buffer = -1 };
    if (!ref || !whole_of(s, out))
        return FALSE;
    out->all_rows = out->rows;
    out->all_cols = out->cols;
    for (guint i = 0; i < ref->n_views; i++) {
        const WsView *by = &ref->view[i];
        const gboolean rows = (by->kind == WS_VIEW_ROWS) != out->turned;
        if (by->kind == WS_VIEW_T)
            out->turned = !out->turned;
        else if (rows ? !narrow(s, by, &out->row, &out->row0, &out->rows)
                      : !narrow(s, by, &out->col, &out->col0, &out->cols))
            return FALSE;
    }
    return TRUE;
}

void ws_split_marks(const WsCuts *cuts, gint64 from, guint extent, gboolean *mark)
{
    for (guint i = 1; cuts && i < cuts->n; i++) {
        const gint64 c = (gint64)cuts->at[i] - from;
        if (c > 0 && c < extent)
            mark[c] = TRUE;
    }
}

/* One dimension: appends "_1" to the name and the rest of the view to `more`. */
static gboolean along(WsSplit *s, const WsCuts *cuts, const char *word, const char *text,
                      gint64 from, guint all, guint at, guint n, GString *name, GString *more)
{
    if (!cuts) {
        g_autofree char *start = ws_split_plus(text, at);
        if (n != all)
            g_string_append_printf(more, ".%s(%s, %u)", word, start, n);
        return TRUE;
    }
    for (guint i = 0; from >= 0 && i < cuts->n; i++) {
        const gint64 lo = cuts->at[i], hi = cuts->at[i + 1], first = from + at;
        if (first < lo || first + n > hi)
            continue;
        g_string_append_printf(name, "_%u", i);
        if (n != hi - lo)
            g_string_append_printf(more, ".%s(%" G_GINT64_FORMAT ", %u)", word, first - lo, n);
        return TRUE;
    }
    return ws_split_give_up(s, "a view that lies in several parts of its buffer");
}

char *ws_split_sub(WsSplit *s, const WsSplitView *v, guint row, guint n, guint col, guint m)
{
    GString *name = g_string_new(v->ref->name), *more = g_string_new(NULL);
    if (v->row_cuts && v->row0 < 0 && v->buffer >= 0)
        s->uncut[v->buffer] = TRUE;
    const gboolean good =
        along(s, v->row_cuts, "rows", v->row, v->row0, v->all_rows, row, n, name, more) &&
        along(s, v->col_cuts, v->lines ? "rows" : "cols", v->col, v->col0, v->all_cols, col, m,
              name, more);
    if (v->ref->element) {
        g_autofree char *element = ws_expr_print(v->ref->element);
        g_string_append_printf(name, "[%s]", element);
    }
    g_string_append(name, more->str);
    if (v->turned)
        g_string_append(name, ".t");
    if (v->ref->use) {
        g_autofree char *use = ws_expr_print(v->ref->use);
        g_string_append_printf(name, " @ %s", use);
    }
    g_string_free(more, TRUE);
    return g_string_free(name, !good);
}
