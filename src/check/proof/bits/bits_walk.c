/* The walker of the proof: a loop asks whether it goes on, and everybody who asks the same question
 * hears the same answer. */
#include "check/proof/bits/bits.h"
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include <string.h>

/* --- symbols ---------------------------------------------------------------------------------- */
static gint64 time_of(const WsBits *b, guint i, gint symbol)
{
    guint split = ((const WsSymbol *)b->c->symbols->pdata[symbol])->split;
    return split ? ws_bit_begun(b, i)[split - 1] : 0;
}

static guint index_of(const WsControl *c, const WsInstance *x)
{
    return (guint)(x - (const WsInstance *)(gconstpointer)c->instance->data);
}

static const WsSymbol *symbol_of(const WsControl *c, gint symbol)
{
    return c->symbols->pdata[symbol];
}

/* The instance that holds the remainder: one for all tiles if the symbol has one value a launch. */
static WsInstance *remainder_of(const WsControl *c, gint symbol, gint64 position, gint rank)
{
    return ws_control_find(c, symbol, ws_remainder_at(symbol_of(c, symbol), position), rank, 0);
}

/* Some value the symbol can have: right up to multiples of the modulus. */
gboolean ws_bit_value_of(WsBits *b, guint i, gint asked, gint64 *value)
{
    const WsControl *c = b->c;
    gint symbol = ws_base_of(c, asked);
    gint64 position = ws_bit_inst(b, i)->position;
    gint rank = (gint)ws_bit_rank(b, i);
    WsInstance *x = ws_control_find(c, symbol, position, rank, time_of(b, i, symbol));
    gint64 lo = x->lo;
    if (x->exact) {
        b->vague |= !symbol_of(c, symbol)->bounded && lo == symbol_of(c, symbol)->floor;
        *value = ws_value_from_base(c, asked, lo);
        return TRUE;
    }
    WsInstance *r = remainder_of(c, symbol, position, rank);
    if (r->remainder < 0)
        return FALSE;
    b->vague = TRUE;
    *value = ws_value_from_base(
        c, asked, lo + ws_control_mod(r->remainder - lo, symbol_of(c, symbol)->modulus));
    return TRUE;
}

/* A variable was set to what was evaluated just now; `more`: that was added. */
static void set_vague(WsBits *b, guint i, gint local, gboolean more)
{
    guint64 *vague = &ws_bit_inst(b, i)->vague;
    const guint64 bit = 1ull << MIN(local, 63);
    if (b->vague)
        *vague |= bit;
    else if (!more && local < 63)
        *vague &= ~bit;
}

/* symbol > n? */
WsTruth ws_bit_greater(WsBits *b, guint i, gint symbol, gint64 n)
{
    WsBitInst *in = ws_bit_inst(b, i);
    n = ws_base_question(b->c, symbol, n);
    symbol = ws_base_of(b->c, symbol);
    if (n == WS_ALWAYS || n == WS_NEVER)
        return n == WS_ALWAYS ? WS_TRUTH_YES : WS_TRUTH_NO;
    WsInstance *x =
        ws_control_find(b->c, symbol, in->position, (gint)ws_bit_rank(b, i), time_of(b, i, symbol));
    if (x->exact || x->lo > n)
        return x->lo > n ? WS_TRUTH_YES : WS_TRUTH_NO;
    const WsSymbol *s = symbol_of(b->c, symbol);
    if (s->letter ? x->lo >= 1 : s->most <= WS_FEW && n >= s->most) /* L-MOST */
        return WS_TRUTH_NO;
    in->ask_instance = (guint16)index_of(b->c, x);
    in->ask = WS_ASK_MORE;
    return WS_TRUTH_ASKS;
}

/* --- conditions ------------------------------------------------------------------------------- */
static WsTruth opposite(WsTruth t)
{
    return t == WS_TRUTH_ASKS ? t : t == WS_TRUTH_YES ? WS_TRUTH_NO : WS_TRUTH_YES;
}

/* symbol (op) n */
static WsTruth compare(WsBits *b, guint i, gint symbol, WsExprOp op, gint64 n)
{
    WsTruth t;
    if (op == WS_EXPR_GT)
        return ws_bit_greater(b, i, symbol, n);
    if (op == WS_EXPR_GE)
        return ws_bit_greater(b, i, symbol, n - 1);
    if (op == WS_EXPR_LT)
        return opposite(ws_bit_greater(b, i, symbol, n - 1));
    if (op == WS_EXPR_LE)
        return opposite(ws_bit_greater(b, i, symbol, n));
    t = ws_bit_greater(b, i, symbol, n - 1);
    if (t == WS_TRUTH_YES)
        t = opposite(ws_bit_greater(b, i, symbol, n));
    return op == WS_EXPR_EQ ? t : opposite(t);
}

static gboolean holds(WsExprOp op, gint64 x)
{
    if (op == WS_EXPR_LT)
        return x < 0;
    if (op == WS_EXPR_LE)
        return x <= 0;
    if (op == WS_EXPR_GT)
        return x > 0;
    if (op == WS_EXPR_GE)
        return x >= 0;
    return (x == 0) == (op == WS_EXPR_EQ);
}

static WsExprOp mirrored(WsExprOp op)
{
    static const WsExprOp other[] = { [WS_EXPR_LT] = WS_EXPR_GT,
                                      [WS_EXPR_LE] = WS_EXPR_GE,
                                      [WS_EXPR_GT] = WS_EXPR_LT,
                                      [WS_EXPR_GE] = WS_EXPR_LE };
    return op >= WS_EXPR_LT && op <= WS_EXPR_GE ? other[op] : op;
}

/* FALSE: the remainder of a symbol is to be asked first. */
static gboolean has_values(WsBits *b, guint i, const gint *need, guint n)
{
    WsBitInst *in = ws_bit_inst(b, i);
    gint64 value;
    for (guint k = 0; k < n; k++) {
        if (ws_bit_value_of(b, i, need[k], &value))
            continue;
        in->ask = WS_ASK_REMAINDER;
        in->ask_instance =
            (guint16)index_of(b->c, remainder_of(b->c, ws_base_of(b->c, need[k]), in->position,
                                                 (gint)ws_bit_rank(b, i)));
        return FALSE;
    }
    return TRUE;
}

WsTruth ws_bit_truth(WsBits *b, guint i, const WsBitCond *c)
{
    gint64 x;
    WsTruth first;
    switch (c->kind) {
    case WS_COND_LETTER:
        return ws_bit_greater(b, i, c->symbol, 0);
    case WS_COND_COMPARE: /* factor * symbol + rest (op) 0 */
        if (!ws_bit_eval(b, i, &c->rest, &x))
            return WS_TRUTH_NO;
        if (c->factor == 0 || c->symbol < 0)
            return holds(c->op, x) ? WS_TRUTH_YES : WS_TRUTH_NO;
        return c->factor > 0 ? compare(b, i, c->symbol, c->op, -x)
                             : compare(b, i, c->symbol, mirrored(c->op), x);
    case WS_COND_AND:
    case WS_COND_OR:
        first = ws_bit_truth(b, i, c->arg[0]);
        if (first == WS_TRUTH_ASKS ||
            first == (c->kind == WS_COND_AND ? WS_TRUTH_NO : WS_TRUTH_YES))
            return first;
        return ws_bit_truth(b, i, c->arg[1]);
    case WS_COND_NOT:
        return opposite(ws_bit_truth(b, i, c->arg[0]));
    case WS_COND_VALUE:
    default:
        if (!has_values(b, i, c->need, c->n_need))
            return WS_TRUTH_ASKS;
        return ws_bit_eval(b, i, &c->rest, &x) && x != 0 ? WS_TRUTH_YES : WS_TRUTH_NO;
    }
}

/* --- loops ------------------------------------------------------------------------------------ */
/* Where an instance stands for questions about what lies ahead: a loop not yet entered is ahead. */
guint16 ws_bit_place(const WsBits *b, guint i)
{
    const WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsBitInstr *x = &a->code[in->at];
    if (x->kind == WS_BIT_HEAD && ws_bit_loop(b, i, x->loop)[0] == 0)
        return a->loop[x->loop].enter;
    return in->at;
}

/* Its first round is to be decided, or has begun, and the loop has not been left. */
gboolean ws_bit_entered(const WsBits *b, guint i, guint loop)
{
    const WsBitLoop *l = &b->agent[ws_bit_agent(b, i)].loop[loop];
    guint16 at = ws_bit_inst(b, i)->at;
    return at > l->enter && at <= l->head;
}

/* A round of the loop has begun and the loop has not been left. */
gboolean ws_bit_active(const WsBits *b, guint i, guint loop)
{
    const WsBitLoop *l = &b->agent[ws_bit_agent(b, i)].loop[loop];
    guint16 at = ws_bit_place(b, i);
    return at > l->enter && at <= l->head;
}

static void enter_tile(WsBits *b, guint i, gint64 position)
{
    ws_bit_inst(b, i)->position = position;
    if (b->split)
        memset(ws_bit_begun(b, i), 0, WS_MAX_SPLIT * sizeof(gint64));
}

/* The next loop over tiles: nothing in it comes before its first tile. */
static void enter_pass(WsBits *b, guint i, gint64 from, gint64 by)
{
    gint64 pass = ws_pass_of(ws_bit_inst(b, i)->position) + 1;
    if (from < 0 || by <= 0 || from > 1000 || by > 1000 || pass > 1000000)
        ws_bit_outside(b, "a loop over tiles that does not continue from tile to tile");
    enter_tile(b, i, pass * WS_PASS + CLAMP(from, 0, 1000));
}

/* FALSE: a question is open. */
static gboolean enter_loop(WsBits *b, guint i, WsBitInst *in, const WsBitInstr *x)
{
    const WsBitLoop *l = &b->agent[ws_bit_agent(b, i)].loop[x->loop];
    gint64 *r = ws_bit_loop(b, i, x->loop);
    if (!has_values(b, i, l->need, l->n_need))
        return FALSE;
    r[0] = 0;
    b->vague = FALSE;
    ws_bit_eval(b, i, &l->from, &r[1]);
    ws_bit_eval(b, i, &l->by, &r[2]);
    if (l->index >= 0)
        set_vague(b, i, l->index, FALSE);
    ws_bit_eval(b, i, &l->rest, &r[3]); /* a count is worked out once, before the first round */
    if (l->split && l->begin == l->enter)
        ws_bit_begun(b, i)[l->split - 1]++;
    for (guint64 told = l->rounds; told; told &= told - 1) { /* L-ROUND */
        gint64 *time = &ws_bit_begun(b, i)[__builtin_ctzll(told)];
        *time = (*time / WS_ENTRY + 1) * WS_ENTRY;
    }
    if (l->tree->over == WS_OVER_TILES && b->p->tiles->launch != WS_LAUNCH_SINGLE)
        enter_pass(b, i, r[1], r[2]);
    in->at = l->head;
    return TRUE;
}

static WsTruth more_rounds(WsBits *b, guint i, const WsBitLoop *l, const gint64 *r)
{
    if (l->tree->over == WS_OVER_TILES) {
        gint64 index = r[1] + r[0] * r[2];
        if (b->p->tiles->launch == WS_LAUNCH_SINGLE)
            return index < 1 ? WS_TRUTH_YES : WS_TRUTH_NO;
        return ws_bit_greater(b, i, WS_SYMBOL_TILES, index);
    }
    if (l->symbol < 0)
        return r[0] < r[3] ? WS_TRUTH_YES : WS_TRUTH_NO;
    return ws_bit_greater(b, i, l->symbol, r[0] - r[3]);
}

/* FALSE: a question is open. */
static gboolean at_head(WsBits *b, guint i, WsBitInst *in, const WsBitInstr *x)
{
    const WsBitLoop *l = &b->agent[ws_bit_agent(b, i)].loop[x->loop];
    gint64 *r = ws_bit_loop(b, i, x->loop);
    WsTruth more = more_rounds(b, i, l, r);
    if (more == WS_TRUTH_ASKS)
        return FALSE;
    gboolean tiles = l->tree->over == WS_OVER_TILES;
    if (more == WS_TRUTH_NO) {
        if (tiles && b->p->tiles->launch != WS_LAUNCH_SINGLE)
            enter_tile(b, i, ws_behind(ws_pass_of(in->position)));
        in->at = (guint16)(l->head + 1);
        return TRUE;
    }
    gint64 index = r[1] + r[0] * r[2];
    if (tiles && b->p->tiles->launch != WS_LAUNCH_SINGLE) {
        if (index >= WS_PASS - 1)
            ws_bit_outside(b, "a number is too large");
        enter_tile(b, i, ws_pass_of(in->position) * WS_PASS + index);
    }
    if (l->index >= 0)
        ws_bit_local(b, i)[l->index] = index;
    for (guint64 told = l->rounds; told; told &= told - 1) { /* L-ROUND: it only goes on */
        gint64 *time = &ws_bit_begun(b, i)[__builtin_ctzll(told)];
        gint64 next = *time / WS_ENTRY * WS_ENTRY + index + 1;
        if (index < 0 || index >= WS_ENTRY - 1 || next <= *time)
            ws_bit_outside(b, "rounds that do not continue");
        *time = next;
    }
    r[0]++; /* rounds begun */
    in->at = (guint16)(l->enter + 1);
    return TRUE;
}

/* --- operations ------------------------------------------------------------------------------- */
/* Values that the operation needs and nobody has decided; FALSE: a question is open. */
static gboolean ready(WsBits *b, guint i, WsBitInst *in, WsBitOp *o)
{
    if (b->owed >= 0 && !ws_bit_pay(b, i, o))
        return FALSE;
    if (!has_values(b, i, o->need, o->n_need))
        return FALSE;
    if (o->first) {
        WsTruth t = ws_bit_truth(b, i, o->first);
        if (t == WS_TRUTH_ASKS)
            return FALSE;
        in->parity = t == WS_TRUTH_YES;
    }
    if (o->debt.factor) {
        ws_bit_owe(b, i, o->local, &o->debt);
    } else if (o->local >= 0) {
        gint64 x = 0, *v = &ws_bit_local(b, i)[o->local];
        b->vague = FALSE;
        ws_bit_eval(b, i, &o->set, &x);
        const gboolean more = o->kind == WS_OP_ADVANCE;
        set_vague(b, i, o->local, more);
        *v = more ? *v + x : x;
    }
    return TRUE;
}

/* Counters may start at a symbol: a question before the first step. */
static gboolean start(WsBits *b, guint i, WsBitInst *in)
{
    WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    for (guint k = 0; k < a->n_starts; k++) {
        const WsBitStart *s = &a->start[k];
        if (!has_values(b, i, s->need, s->n_need))
            return FALSE;
        if (s->debt.factor) {
            ws_bit_owe(b, i, s->local, &s->debt);
        } else {
            b->vague = FALSE;
            ws_bit_eval(b, i, &s->value, &ws_bit_local(b, i)[s->local]);
            set_vague(b, i, s->local, FALSE);
        }
    }
    in->at = 1;
    return TRUE;
}

/* L-PRIVATE-IF: both sides of a private branch are gone through, each from what was defined before
 * it, and what both define counts as defined. What either touches counts as touched. */
static void hide(WsBits *b, guint i, const WsBitInstr *x)
{
    guint n = b->agent[ws_bit_agent(b, i)].a->n_values;
    guint64 *defined = ws_bit_raw(b) + b->defined0[i];
    guint64 *saved = defined + (2 + x->to) * (gsize)n;
    for (guint k = 0; k < n; k++) {
        guint64 now = defined[k];
        if (x->kind == WS_BIT_HIDE)
            saved[k] = now;
        else if (x->kind == WS_BIT_OTHER)
            defined[k] = saved[k], saved[k] = now;
        else
            defined[k] = now & saved[k], saved[k] = 0;
    }
}

WsBitOp *ws_bit_next(WsBits *b, guint i)
{
    WsBitInst *in = ws_bit_inst(b, i);
    WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    in->ask = WS_ASK_NONE;
    if (in->at == 0 && !start(b, i, in))
        return NULL;
    while (!b->c->outside) {
        const WsBitInstr *x = &a->code[in->at];
        WsTruth t;
        if (++b->steps > 1000000) { /* loops of nothing */
            ws_bit_outside(b, "too many operations between two questions");
            return NULL;
        }
        switch (x->kind) {
        case WS_BIT_OP:
            return ready(b, i, in, x->op) ? x->op : NULL;
        case WS_BIT_BEGIN:
            ws_bit_begun(b, i)[x->to]++;
            in->at++;
            break;
        case WS_BIT_ENTER:
            if (!enter_loop(b, i, in, x))
                return NULL;
            break;
        case WS_BIT_BACK:
            if (a->loop[x->loop].total >= 0)
                ws_bit_local(b, i)[a->loop[x->loop].total]++;
            in->at++;
            break;
        case WS_BIT_HEAD:
            if (!at_head(b, i, in, x))
                return NULL;
            break;
        case WS_BIT_IF:
            t = ws_bit_truth(b, i, x->cond);
            if (t == WS_TRUTH_ASKS)
                return NULL;
            in->at = t == WS_TRUTH_YES ? (guint16)(in->at + 1) : x->to;
            break;
        case WS_BIT_JUMP:
            in->at = x->to;
            break;
        case WS_BIT_HIDE:
        case WS_BIT_OTHER:
        case WS_BIT_SHOW:
            hide(b, i, x);
            in->at++;
            break;
        case WS_BIT_END:
            in->state = WS_INST_DONE;
            return NULL;
        }
    }
    return NULL;
}

/* --- forgetting ------------------------------------------------------------------------------- */
gboolean ws_bit_asks(const WsBitAgent *a, gint symbol)
{
    for (guint k = 0; k < a->n_sites; k++)
        if (a->site[k].symbol == symbol)
            return TRUE;
    return FALSE;
}

/* Least time at which somebody can still ask about a symbol in a tile. */
gint64 ws_bit_time(const WsBits *b, gint symbol, gint64 position)
{
    gint64 least = G_MAXINT64;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
        if (in->state != WS_INST_DONE && in->position <= position && ws_bit_asks(a, symbol))
            least = MIN(least, in->position == position ? time_of(b, i, symbol) : 0);
    }
    return least;
}

void ws_bit_forget(WsBits *b)
{
    const WsControl *c = b->c;
    gint64 first = G_MAXINT64;
    ws_bit_pay_all(b);
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        if (in->state != WS_INST_DONE)
            first = MIN(first, MAX(in->position, 0));
    }
    guint n = 0;
    for (guint k = 0; k < c->instance->len; k++) {
        WsInstance x = g_array_index(c->instance, WsInstance, k);
        if (x.position >= 0 && x.position < first &&
            !(x.symbol == b->owed && ws_bit_is_owed(b, x.position)))
            continue;
        const WsSymbol *s = symbol_of(c, x.symbol);
        if (s->split && x.position != -2 && !(s->ring && x.time == 0) &&
            x.time < ws_bit_time(b, x.symbol, x.position))
            continue;
        if (n != k) {
            for (guint i = 0; i < b->n_inst; i++) { /* questions name instances by number */
                WsBitInst *in = ws_bit_inst(b, i);
                if (in->ask != WS_ASK_NONE && in->ask_instance == k)
                    in->ask_instance = (guint16)n;
            }
            g_array_index(c->instance, WsInstance, n) = x;
        }
        n++;
    }
    g_array_set_size(c->instance, n);
}
