/* L-OWED: a counter that goes on by the rounds of other tiles (ping-pong: ring += (replicas -
 * 1)*kt) does so before anybody knows how many they are. It owes them, tile by tile, and is told
 * when that tile's answer is exact; only a use before that asks for the remainder. So a size of the
 * launch may have another value in every tile, which is more than any launch does. */
#include "check/proof/bits/bits.h"
#include "program/parts/variable.h"
#include "program/program.h"

enum { MOST_FACTOR = 8 };

/* --- what may be owed ------------------------------------------------------------------------- */
static const WsExpr *rewritten(const WsBits *b, const WsExpr *e)
{
    const WsExpr *w = e ? g_hash_table_lookup(b->c->rewritten, e) : NULL;
    return w ? w : e;
}

/* factor*symbol + plain, with a factor from 1. */
static gboolean owes(const WsBits *b, gint symbol, const WsExpr *e, WsBitDebt *debt)
{
    WsAffine a = { 0 };
    gboolean ok = e && ws_expr_affine(rewritten(b, e), &a) && a.n == 1 &&
                  a.term[0]->op == WS_EXPR_VAR && a.term[0]->var == (gint)b->c->n_vars + symbol &&
                  a.factor[0] >= 1 && a.factor[0] <= MOST_FACTOR && ABS(a.constant) < (1 << 20);
    if (ok)
        *debt = (WsBitDebt){ (guint)a.factor[0], a.constant };
    ws_affine_clear(&a);
    return ok;
}

/* All that the counter decides is a slot, a stage and a lap (L-TURN). */
static gboolean only_turns(const WsBits *b, guint agent, gint local, gint64 modulus)
{
    for (guint g = 0; g < b->n_groups; g++)
        for (guint k = 0; k < b->group[g].n_vars; k++)
            if (b->group[g].var[k].inst == agent && (gint)b->group[g].var[k].local == local)
                return modulus % b->c->modulus[b->agent[agent].var[local]] == 0;
    return FALSE;
}

static gboolean cond_needs(const WsBits *b, const WsBitCond *c, gint symbol)
{
    return c && (ws_bit_uses_symbol(b, &c->rest, symbol) || cond_needs(b, c->arg[0], symbol) ||
                 cond_needs(b, c->arg[1], symbol));
}

typedef gboolean (*Test)(const WsBits *b, const WsBitExpr *e, gint what);

/* Any number of an operation but what it adds to its own counter. */
static gboolean any_number(const WsBits *b, const WsBitOp *o, Test test, gint what)
{
    const WsBitExpr *const own[] = {
        &o->element, &o->use, &o->slot, &o->parity, &o->turn, &o->cta
    };
    gboolean found = o->kind != WS_OP_ADVANCE && test(b, &o->set, what);
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        found |= test(b, own[i], what);
    for (guint i = 0; i < o->n_access; i++) {
        const WsBitAccess *a = &o->access[i];
        found |= test(b, &a->element, what) || test(b, &a->use, what) || test(b, &a->stage, what) ||
                 test(b, &a->row0, what) || test(b, &a->col0, what);
    }
    for (guint i = 0; i < o->n_value; i++)
        found |= test(b, &o->value[i].row0, what) || test(b, &o->value[i].col0, what);
    return found;
}

static gboolean uses_local(const WsBits *b, const WsBitExpr *e, gint local)
{
    return ws_bit_uses(e, (guint)local);
}

/* Nobody wants a number of the symbol but counters that may owe it; `n` of them. */
static gboolean only_owed(const WsBits *b, guint agent, gint symbol, guint *n)
{
    const WsBitAgent *a = &b->agent[agent];
    const gint64 modulus = ((const WsSymbol *)b->c->symbols->pdata[symbol])->modulus;
    WsBitDebt debt;
    for (guint k = 0; k < a->n_starts; k++) {
        const WsBitStart *s = &a->start[k];
        if (!ws_bit_uses_symbol(b, &s->value, symbol))
            continue;
        if (!owes(b, symbol, b->p->var[a->var[s->local]].value, &debt) ||
            !only_turns(b, agent, s->local, modulus))
            return FALSE;
        ++*n;
    }
    for (guint k = 0; k < a->n_loops; k++)
        if (ws_bit_uses_symbol(b, &a->loop[k].rest, symbol) ||
            ws_bit_uses_symbol(b, &a->loop[k].from, symbol) ||
            ws_bit_uses_symbol(b, &a->loop[k].by, symbol))
            return FALSE;
    for (guint k = 0; k < a->n_code; k++) {
        const WsBitOp *o = a->code[k].op;
        if (cond_needs(b, a->code[k].cond, symbol) || (o && cond_needs(b, o->first, symbol)) ||
            (o && any_number(b, o, ws_bit_uses_symbol, symbol)))
            return FALSE;
        if (!o || o->kind != WS_OP_ADVANCE || !ws_bit_uses_symbol(b, &o->set, symbol))
            continue;
        if (!owes(b, symbol, o->op->set, &debt) || !only_turns(b, agent, o->local, modulus))
            return FALSE;
        ++*n;
    }
    return TRUE;
}

static void let_owe(WsBits *b, guint agent, gint symbol)
{
    WsBitAgent *a = &b->agent[agent];
    for (guint k = 0; k < a->n_starts; k++)
        if (owes(b, symbol, b->p->var[a->var[a->start[k].local]].value, &a->start[k].debt)) {
            a->start[k].n_need = 0;
            a->owing |= 1ull << a->start[k].local;
        }
    for (guint k = 0; k < a->n_code; k++) {
        WsBitOp *o = a->code[k].op;
        if (o && o->kind == WS_OP_ADVANCE && owes(b, symbol, o->op->set, &o->debt)) {
            o->n_need = 0;
            a->owing |= 1ull << o->local;
        }
    }
    for (guint k = 0; k < a->n_code; k++)
        for (guint v = 0; a->code[k].op && v < a->n_locals; v++)
            if (a->owing >> v & 1 && any_number(b, a->code[k].op, uses_local, (gint)v))
                a->code[k].op->counters |= 1ull << v;
}

void ws_bit_find_owed(WsBits *b)
{
    const gint before = b->owed;
    b->owed = -1;
    for (guint s = 1; b->may_owe && b->owed < 0 && s < b->c->symbols->len; s++) {
        WsSymbol *x = b->c->symbols->pdata[s];
        guint n = 0;
        gboolean ok = x->run && x->ring && !x->letter && !x->split && !x->per_cta && x->base < 0 &&
                      x->bounded && x->floor >= 0;
        for (guint i = 0; ok && i < b->n_agents; i++)
            ok = b->agent[i].n_locals <= 64 && only_owed(b, i, (gint)s, &n);
        for (guint k = 1; ok && k < b->c->symbols->len; k++) /* nobody stands for it */
            ok = ((const WsSymbol *)b->c->symbols->pdata[k])->base != (gint)s;
        if (!ok || n == 0)
            continue;
        b->owed = (gint)s;
        x->owed = TRUE;
        for (guint i = 0; i < b->n_agents; i++)
            let_owe(b, i, (gint)s);
    }
    if (before >= 0 && b->owed != before) { /* rings that no longer turn, as cells were cut anew */
        b->owed = before;
        ws_bit_outside(b, "a counter owes rounds of a ring that does not turn");
    }
}

/* --- owing and paying ------------------------------------------------------------------------- */
static WsInstance *met(const WsBits *b, gint64 position)
{
    const GArray *list = b->c->instance;
    for (guint k = 0; k < list->len; k++) {
        WsInstance *x = &g_array_index(list, WsInstance, k);
        if (x->symbol == b->owed && x->position == position)
            return x;
    }
    return NULL;
}

static void pay_known(WsBits *b, guint i, guint local)
{
    WsBitOwed *o = ws_bit_owed(b, i) + local;
    for (guint64 left = o->tiles; left; left &= left - 1) {
        const WsInstance *x = met(b, o->first + __builtin_ctzll(left));
        if (!x || !x->exact)
            continue;
        ws_bit_local(b, i)[local] += x->lo;
        o->tiles &= ~(left & -left);
    }
}

void ws_bit_owe(WsBits *b, guint i, gint local, const WsBitDebt *debt)
{
    const gint64 position = ws_bit_inst(b, i)->position;
    WsBitOwed *o = ws_bit_owed(b, i) + local;
    ws_bit_local(b, i)[local] += debt->plain;
    o->first = MAX(position + b->owe_from, 0);
    o->tiles = (1ull << debt->factor) - 1;
    pay_known(b, i, (guint)local);
}

gboolean ws_bit_pay(WsBits *b, guint i, const WsBitOp *o)
{
    WsBitInst *in = ws_bit_inst(b, i);
    guint64 want = o->counters | (o->debt.factor ? 1ull << o->local : 0);
    for (; want; want &= want - 1) {
        const guint local = (guint)__builtin_ctzll(want);
        WsBitOwed *owed = ws_bit_owed(b, i) + local;
        for (; owed->tiles; owed->tiles &= owed->tiles - 1) {
            const gint64 position = owed->first + __builtin_ctzll(owed->tiles);
            const WsInstance *x = ws_control_find(b->c, b->owed, position, -1, 0);
            const gint64 modulus = ((const WsSymbol *)b->c->symbols->pdata[b->owed])->modulus;
            if (!x->exact && x->remainder < 0) {
                in->ask = WS_ASK_REMAINDER;
                in->ask_instance =
                    (guint16)(x - (const WsInstance *)(gconstpointer)b->c->instance->data);
                return FALSE;
            }
            if (!x->exact)
                in->vague |= 1ull << MIN(local, 63);
            ws_bit_local(b, i)[local] +=
                x->lo + (x->exact ? 0 : ws_control_mod(x->remainder - x->lo, modulus));
        }
    }
    return TRUE;
}

void ws_bit_pay_all(WsBits *b)
{
    for (guint i = 0; b->owed >= 0 && i < b->n_inst; i++)
        for (guint64 left = b->agent[ws_bit_agent(b, i)].owing; left; left &= left - 1) {
            const guint local = (guint)__builtin_ctzll(left);
            if (ws_bit_inst(b, i)->state == WS_INST_DONE)
                ws_bit_owed(b, i)[local].tiles = 0; /* nobody will read it */
            else
                pay_known(b, i, local);
        }
}

/* --- for the key ------------------------------------------------------------------------------ */
gint64 ws_bit_at_least(const WsBits *b, guint i, guint local)
{
    gint64 x = ws_bit_local(b, i)[local];
    if (b->owed < 0 || !(b->agent[ws_bit_agent(b, i)].owing >> local & 1))
        return x;
    const WsBitOwed *o = ws_bit_owed(b, i) + local;
    const WsSymbol *s = b->c->symbols->pdata[b->owed];
    for (guint64 left = o->tiles; left; left &= left - 1) {
        const WsInstance *y = met(b, o->first + __builtin_ctzll(left));
        x += y ? y->lo : s->floor;
    }
    return x;
}

gboolean ws_bit_is_owed(const WsBits *b, gint64 position)
{
    for (guint i = 0; i < b->n_inst; i++)
        for (guint64 left = b->agent[ws_bit_agent(b, i)].owing; left; left &= left - 1) {
            const WsBitOwed *o = ws_bit_owed(b, i) + __builtin_ctzll(left);
            if (o->tiles && position >= o->first && position < o->first + 64 &&
                o->tiles >> (position - o->first) & 1)
                return TRUE;
        }
    return FALSE;
}

gboolean ws_bit_will_owe(const WsBits *b, gint64 position)
{
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        if (b->agent[ws_bit_agent(b, i)].owing && in->state != WS_INST_DONE &&
            in->position + b->owe_from <= position)
            return TRUE;
    }
    return FALSE;
}
