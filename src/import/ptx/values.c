#include "import/ptx/region.h"
#include "target/target.h"

#include <string.h>

/* A compiler gives sums of different branches registers of their own and lets them share the
 * machine's; a design gives every value its own. Where they do not fit, a sum that begins with a
 * product lies in the columns of a larger one. */

typedef struct {
    WsRead *r;
    WsReadGroup *group;
    gint from, to; /* values */
    gboolean begins;
    const char *view;
} Share;

static WsReadValue *value_at(const WsReadGroup *g, gint i)
{
    return &g_array_index(g->values, WsReadValue, i);
}

static gint64 needs(const WsReadGroup *g)
{
    gint64 n = 0;
    for (gint i = 0; i < (gint)g->values->len; i++) {
        const WsReadValue *v = value_at(g, i);
        const gint64 bits = !strcmp(v->dtype, "f32") ? 32 : !strcmp(v->dtype, "e4m3") ? 8 : 16;
        n += v->gone ? 0 : MAX(1, v->rows * v->cols * bits / 32 / 128);
    }
    return n;
}

static void look(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Share *q = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    gint64 first;
    q->begins |= g == q->group && s->kind == WS_READ_MMA && s->value == q->from &&
                 ws_x_is(s->e, &first) && first;
}

static void move(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Share *q = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    if (g != q->group || (s->kind != WS_READ_MMA && s->kind != WS_READ_COMPUTE))
        return;
    if (s->kind == WS_READ_MMA && s->value == q->from) {
        s->value = q->to;
        s->text = q->view;
        return;
    }
    g_autofree char *zero = g_strdup_printf("%s = 0.0", value_at(g, q->from)->name);
    g_autofree char *call = g_strdup_printf("rowmax(%s)", value_at(g, q->from)->name);
    const char *seen = s->kind == WS_READ_COMPUTE && s->text ? strstr(s->text, call) : NULL;
    if (seen)
        s->text = ws_source_format(q->r, "%.*srowmax(%s)", (int)(seen - s->text), s->text,
                                   value_at(g, q->to)->name);
    else if (s->kind == WS_READ_COMPUTE && !g_strcmp0(s->text, zero))
        s->off = TRUE;
}

/* One sum of the group moves into another. FALSE: none can. */
static gboolean share(WsRead *r, WsReadGroup *g)
{
    for (gint from = 0; from < (gint)g->values->len; from++)
        for (gint to = 0; to < (gint)g->values->len; to++) {
            WsReadValue *a = value_at(g, from), *b = value_at(g, to);
            Share q = { .r = r, .group = g, .from = from, .to = to };
            if (from == to || !a->accumulator || !b->accumulator || a->gone || b->gone ||
                a->cols > b->cols || a->rows != b->rows)
                continue;
            ptx_visit(r, look, &q);
            if (!q.begins)
                continue;
            if (a->cols < b->cols)
                q.view = ws_source_format(r, ".cols(0, %" G_GINT64_FORMAT ")", a->cols);
            ptx_visit(r, move, &q);
            a->gone = TRUE;
            return TRUE;
        }
    return FALSE;
}

gboolean ptx_values(WsRead *r, gint64 threads)
{
    gboolean all_say = TRUE, fits = TRUE;
    const gint64 all =
        threads > 0 ? MIN(ws_target_sm_90a.registers.file / threads / 8 * 8, 255) : 255;
    for (guint i = 0; i < r->groups->len; i++)
        all_say &= ((WsReadGroup *)g_ptr_array_index(r->groups, i))->registers > 0;
    for (guint i = 0; i < r->groups->len; i++) {
        WsReadGroup *g = g_ptr_array_index(r->groups, i);
        g->registers = all_say ? g->registers : 0;
        const gint64 have = g->registers ? g->registers : all;
        while (needs(g) > have && share(r, g))
            ;
        if (needs(g) > have) {
            ws_source_unread(r, g->line, 1, g->line,
                             "which of the values of a group share registers", "");
            fits = FALSE;
        }
    }
    return fits;
}
