#include "import/ptx/finish.h"

/* Which copies bring the bytes that a step expects: those to the same barrier behind it, up to the
 * next one that expects there. */

static gboolean same_barrier(const WsReadStep *a, const WsReadStep *b)
{
    gint64 d;
    return a->barrier.index && b->barrier.index &&
           ws_x_difference(a->barrier.index, b->barrier.index, &d) && d == 0;
}

static gboolean loads_inside(const GPtrArray *list, const WsReadStep *e)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (!s->off && ((s->kind == WS_READ_LOAD && same_barrier(s, e)) ||
                        loads_inside(s->body, e) || loads_inside(s->other, e)))
            return TRUE;
    }
    return FALSE;
}

/* How many CTAs load to the place of a copy in this one; 0: that is not known. */
static gint64 times_of(const PtxFinish *f, const WsReadStep *s)
{
    return !s->ctas ? 1 : s->ctas == G_MAXUINT ? f->r->cluster : 0;
}

static void expects(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind != WS_READ_EXPECT)
        return;
    PtxExpect e = { s->n, s->line, g_ptr_array_new() };
    gboolean all = TRUE;
    for (guint i = at + 1; i < list->len; i++) {
        WsReadStep *o = g_ptr_array_index(list, i);
        if (o->off)
            continue;
        all &= !loads_inside(o->body, s) && !loads_inside(o->other, s);
        if (!same_barrier(o, s))
            continue;
        if (o->kind == WS_READ_EXPECT)
            break;
        if (o->kind != WS_READ_LOAD)
            continue;
        PtxOperand *box = ptx_operand_of(f->w, &o->buffer);
        box->times = times_of(f, o);
        box->tensor = o->tensor;
        all &= box->times > 0 &&
               (o->when == s->when || (o->when && s->when && ws_expr_equal(o->when, s->when)));
        g_ptr_array_add(e.box, box);
    }
    for (guint i = 0; i < e.box->len; i++)
        ((PtxOperand *)g_ptr_array_index(e.box, i))->expected = s->n / e.box->len;
    if (all && e.box->len)
        g_array_append_val(f->regions.expects, e);
    else
        g_ptr_array_unref(e.box);
}

void ptx_expected(PtxFinish *f)
{
    ptx_visit(f->r, expects, f);
}
