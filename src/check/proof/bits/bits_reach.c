/* What a question of the proof can be about: no number beyond one, and which way it moves. */
#include "check/proof/bits/bits.h"
#include "program/parts/variable.h"
#include "program/program.h"

/* One more than the greatest number that a comparison asks the symbol, or its base, about. */
static gint64 beyond(const WsControl *c, const WsForm *f)
{
    WsSpan rest = ws_span_of(c, f->rest);
    gint64 most = G_MININT64, asked = f->factor > 0 ? -rest.lo : rest.hi;
    if (asked >= WS_ENDLESS || f->factor == 0)
        return G_MAXINT64;
    for (gint64 n = asked - 1; n <= asked; n++) {
        gint64 q = ws_base_question(c, f->symbol, n);
        if (q == WS_NEVER) /* the numbers below may still be asked about */
            q = ws_base_question(c, f->symbol,
                                 ((const WsSymbol *)c->symbols->pdata[f->symbol])->number - 1);
        if (q != WS_ALWAYS)
            most = MAX(most, q);
    }
    return most == G_MININT64 ? most : most + 1;
}

/* L-PASSED: which way the number moves, and how far all else in the comparison can carry it. */
static void find_way(const WsControl *c, WsBitSite *s)
{
    const WsSite *site = s->site;
    const WsSymbol *own = site->form->symbol >= 0 ? c->symbols->pdata[site->form->symbol] : NULL;
    if (site->count || site->number < 0 || !own || c->page)
        return;
    g_autoptr(WsExpr) moves = ws_expr_op(WS_EXPR_MUL, ws_expr_int(site->by),
                                         ws_expr_var(site->number, c->p->var[site->number].name));
    g_autoptr(WsExpr) still =
        ws_expr_op(WS_EXPR_SUB, ws_expr_ref(site->form->rest), g_steal_pointer(&moves));
    WsAffine a = { 0 };
    gint64 step = 1, far = 4;
    gboolean ok = ws_expr_affine(still, &a);
    if (site->moving && site->moving->step_by)
        ok &= ws_expr_is_int(site->moving->step_by, &step);
    for (guint i = 0; ok && i < a.n; i++) {
        WsSpan x = ws_span_times(ws_span_of(c, a.term[i]), a.factor[i]);
        ok = x.lo > -(1 << 20) && x.hi < (1 << 20);
        far += MAX(ABS(x.lo), ABS(x.hi));
    }
    far += ABS(CLAMP(a.constant, -WS_ENDLESS, WS_ENDLESS));
    ws_affine_clear(&a);
    if (!ok || step == 0 || s->by == 0 || far > (1 << 24))
        return;
    gint64 number = own->base >= 0 ? MAX(own->number, 1) : 1;
    s->way = (s->by > 0) == (step > 0) ? 1 : -1;
    s->slack = number * (far + 4) + ABS(own->base >= 0 ? own->offset : 0);
}

void ws_bit_find_reach(const WsControl *c, WsBitSite *s)
{
    s->beyond = s->symbol >= 0 ? beyond(c, s->site->form) : G_MAXINT64;
    find_way(c, s);
}
