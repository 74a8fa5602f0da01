/* Turning rings: where all that a counter decides is a slot, a stage and a lap, a state and the
 * same state one use further on do the same. Before a state is looked up its rings are turned until
 * the first counter stands at 0; so one position stands for all.
 *
 * A group is counters, barriers and buffers that are tied together by uses `counter + constants`.
 * Anything else that depends on one of its counters (a condition, a range, an override) breaks it.
 */
#include "check/proof/bits/bits.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/product.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

enum { MAX_TURNS = 64 };

/* Numbers of nodes: locals of agents, then barriers, then buffers; 0 is what stands still. */
typedef struct {
    WsBits *b;
    guint n;
    guint *up; /* union-find */
    guint *first_local;
    guint first_barrier, first_buffer;
} Ties;

static guint root(Ties *t, guint x)
{
    while (t->up[x] != x)
        x = t->up[x] = t->up[t->up[x]];
    return x;
}

static void tie(Ties *t, guint a, guint b)
{
    a = root(t, a), b = root(t, b);
    t->up[MAX(a, b)] = MIN(a, b);
}

static guint node_of(const Ties *t, guint agent, gint var)
{
    const WsBitAgent *a = &t->b->agent[agent];
    for (guint i = 0; i < a->n_locals; i++)
        if (a->var[i] == var)
            return t->first_local[agent] + i;
    return 0;
}

typedef struct {
    Ties *t;
    guint agent;
} Still;

static void stand_still(const WsExpr *e, gpointer data)
{
    Still *s = data;
    if (e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < s->t->b->c->n_vars)
        tie(s->t, 0, node_of(s->t, s->agent, e->var));
}

static void fix(Ties *t, guint agent, const WsExpr *e)
{
    Still s = { t, agent };
    if (e)
        ws_expr_visit(ws_bit_rewritten(t->b, e), stand_still, &s);
}

/* The one counter in a use, with factor 1; 0: none, or it is not so (then all of it stands still).
 */
static guint counter_of(Ties *t, guint agent, const WsExpr *use)
{
    WsAffine a = { 0 };
    guint found = 0;
    gboolean ok = ws_expr_affine(ws_bit_rewritten(t->b, use), &a);
    for (guint i = 0; ok && i < a.n; i++) {
        const WsExpr *x = a.term[i];
        guint node = x->op == WS_EXPR_VAR && x->var >= 0 && (guint)x->var < t->b->c->n_vars
                         ? node_of(t, agent, x->var)
                         : 0;
        if (node == 0 || root(t, node) == root(t, 0)) {
            ok &= x->op == WS_EXPR_VAR; /* a symbol, the rank, an index: any number */
            continue;
        }
        ok &= found == 0 && a.factor[i] == 1;
        found = node;
    }
    ws_affine_clear(&a);
    if (ok && found)
        return found;
    fix(t, agent, use);
    return 0;
}

/* The slot is the use modulo the slots, not what somebody has put in its place. */
static gboolean is_remainder(const Ties *t, const WsOp *op)
{
    gint64 slots = MAX(t->b->p->barrier[op->barrier].slots, 1), x;
    if (slots == 1)
        return ws_expr_is_int(op->slot, &x) && x == 0;
    g_autoptr(WsExpr) slot = ws_expr_op(WS_EXPR_MOD, ws_expr_ref(op->use), ws_expr_int(slots));
    return op->slot && ws_expr_equal(slot, op->slot);
}

static void tie_op(Ties *t, guint agent, const WsBitOp *o)
{
    const WsOp *op = o->op;
    fix(t, agent, op->element);
    if (op->ctas.kind == WS_CTAS_EXPR)
        fix(t, agent, op->ctas.expr);
    if (op->mma && op->mma->first)
        fix(t, agent, op->mma->first);
    if (o->local >= 0)
        fix(t, agent, op->set);
    if (op->barrier >= 0 && t->b->p->barrier[op->barrier].kind == WS_BARRIER_MBARRIER) {
        gboolean derived = op->use && op->turn && is_remainder(t, op);
        guint counter = derived ? counter_of(t, agent, op->use) : 0;
        tie(t, t->first_barrier + (guint)op->barrier, counter);
        if (!counter)
            fix(t, agent, op->slot), fix(t, agent, op->parity), fix(t, agent, op->turn);
    }
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        fix(t, agent, a->element), fix(t, agent, a->row0), fix(t, agent, a->col0);
        if (t->b->p->buffer[a->buffer].stages <= 1)
            continue;
        guint counter = a->use ? counter_of(t, agent, a->use) : 0;
        tie(t, t->first_buffer + a->buffer, counter);
        if (!counter)
            fix(t, agent, a->stage);
    }
    for (guint i = 0; i < op->n_value; i++)
        fix(t, agent, op->value[i].row0), fix(t, agent, op->value[i].col0);
}

static void tie_condition(Ties *t, guint agent, const WsBitCond *c)
{
    const WsBitAgent *a = &t->b->agent[agent];
    for (guint i = 0; i < a->n_locals; i++)
        if (ws_bit_uses(&c->rest, i))
            tie(t, 0, t->first_local[agent] + i);
    for (guint i = 0; i < 2; i++)
        if (c->arg[i])
            tie_condition(t, agent, c->arg[i]);
}

static void tie_agent(Ties *t, guint agent)
{
    const WsBitAgent *a = &t->b->agent[agent];
    for (guint i = 0; i < a->n_locals; i++) {
        WsVarKind kind = t->b->p->var[a->var[i]].kind;
        if (kind != WS_VAR_TOTAL && kind != WS_VAR_COUNTER)
            tie(t, 0, t->first_local[agent] + i);
    }
    for (guint n = 0; n < a->n_loops; n++)
        for (guint i = 0; i < a->n_locals; i++)
            if (ws_bit_uses(&a->loop[n].rest, i) || ws_bit_uses(&a->loop[n].from, i) ||
                ws_bit_uses(&a->loop[n].by, i))
                tie(t, 0, t->first_local[agent] + i);
    for (guint n = 0; n < a->n_code; n++) {
        if (a->code[n].cond)
            tie_condition(t, agent, a->code[n].cond);
        if (a->code[n].op && a->code[n].op->first)
            tie_condition(t, agent, a->code[n].op->first);
    }
    /* again and again: what stands still makes more stand still, until nothing changes below */
    for (guint n = 0; n < a->n_code; n++)
        if (a->code[n].op)
            tie_op(t, agent, a->code[n].op);
}

/* --- one step of a ring ----------------------------------------------------------------------- */
/* Cells one stage on; FALSE: stages are not alike (they lie over something else). */
static gboolean step_cells(WsBits *b, const guint8 *buffer, guint16 *next)
{
    g_autofree guint8 *hit = g_new0(guint8, b->n_cells + 1);
    for (guint c = 0; c < b->n_cells; c++)
        next[c] = G_MAXUINT16;
    for (guint i = 0; i < b->accesses->len; i++) {
        const WsBitAccess *x = b->accesses->pdata[i];
        guint ns = x->n_stages, n = x->n_cut * x->n_elements * ns;
        for (guint k = 0; k < n; k++) {
            const WsBitPlace *p = &x->place[k];
            const WsBitPlace *q = buffer[x->a->buffer] ? &x->place[k / ns * ns + (k + 1) % ns] : p;
            if (p->n != q->n)
                return FALSE;
            for (guint c = 0; c < p->n; c++) {
                if (next[p->cell[c]] != G_MAXUINT16 && next[p->cell[c]] != q->cell[c])
                    return FALSE;
                next[p->cell[c]] = q->cell[c];
            }
        }
    }
    for (guint c = 0; c < b->n_cells; c++) {
        if (next[c] == G_MAXUINT16)
            next[c] = (guint16)c;
        const WsBitCell *x = &b->cell[c], *y = &b->cell[next[c]];
        if (hit[next[c]]++ || x->n != y->n || x->readers != y->readers ||
            b->fenced[c] != b->fenced[next[c]])
            return FALSE;
        for (guint k = 0; k < x->n; k++)
            if (b->fenced[x->first + k] != b->fenced[y->first + k])
                return FALSE;
    }
    return TRUE;
}

static gboolean step_items(WsBits *b, const WsBitGroup *g, guint16 *next)
{
    g_autofree guint16 *cell = g_new(guint16, b->n_cells + 1);
    if (!step_cells(b, g->buffer, cell))
        return FALSE;
    for (guint i = 0; i < b->items_of_rank; i++)
        next[i] = (guint16)i;
    for (guint c = 0; c < b->n_cells; c++) {
        next[c] = cell[c];
        for (guint k = 0; k < b->cell[c].n; k++)
            next[b->cell[c].first + k] = (guint16)(b->cell[cell[c]].first + k);
    }
    for (guint s = 0; s < b->n_slots; s++) {
        guint bar = b->barrier_of[s], first = b->first_slot[bar];
        guint slots = MAX(b->p->barrier[bar].slots, 1), size;
        if (!g->barrier[bar])
            continue;
        guint to = first + (s - first) / slots * slots + (s - first + 1) % slots;
        size = (s + 1 < b->n_slots ? b->slot_item[s + 1] : b->item_named) - b->slot_item[s];
        for (guint k = 0; k < size; k++)
            next[b->slot_item[s] + k] = (guint16)(b->slot_item[to] + k);
    }
    return TRUE;
}

/* Bits of holders that turn with a ring: two for every slot. */
static gboolean find_fields(WsBits *b, WsBitGroup *g)
{
    g->field = ws_bit_alloc(b, (b->ranks * b->n_slots + 1) * sizeof(WsBitField));
    for (guint r = 0; r < b->ranks; r++)
        for (guint s = 0; s < b->n_slots; s++) {
            guint bar = b->barrier_of[s], slots = MAX(b->p->barrier[bar].slots, 1);
            if (!g->barrier[bar] || slots == 1 || (s - b->first_slot[bar]) % slots)
                continue;
            const WsMask *m = &b->acc[r * b->n_slots + s];
            guint w = 0;
            while (w < WS_BIT_WORDS && !m->w[w])
                w++;
            guint shift = w < WS_BIT_WORDS ? (guint)__builtin_ctzll(m->w[w]) : 64;
            if (shift + 2 * slots > 64)
                return FALSE;
            g->field[g->n_fields++] = (WsBitField){ w, shift, 2 * slots };
        }
    return TRUE;
}

static gint64 least_multiple(gint64 a, gint64 m)
{
    gint64 x = a, y = m;
    while (y) {
        gint64 t = x % y;
        x = y, y = t;
    }
    return a / x * m;
}

static void make_group(WsBits *b, Ties *t, guint of)
{
    WsBitGroup *g = &b->group[b->n_groups];
    memset(g, 0, sizeof *g);
    g->barrier = ws_bit_alloc(b, b->p->n_barriers + 1);
    g->buffer = ws_bit_alloc(b, b->p->n_buffers + 1);
    g->var = ws_bit_alloc(b, (b->n_locals + 1) * sizeof *g->var);
    gint64 modulus = 1, turns = 1;
    guint tied = 0;
    for (guint k = 0; k < b->p->n_barriers; k++)
        if (root(t, t->first_barrier + k) == of) {
            g->barrier[k] = 1, tied++;
            turns = least_multiple(turns, MAX(b->p->barrier[k].slots, 1));
        }
    for (guint k = 0; k < b->p->n_buffers; k++)
        if (root(t, t->first_buffer + k) == of) {
            g->buffer[k] = 1, tied++;
            turns = least_multiple(turns, MAX(b->p->buffer[k].stages, 1));
        }
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
        for (guint k = 0; k < a->n_locals; k++)
            if (root(t, t->first_local[ws_bit_agent(b, i)] + k) == of && a->counts[k]) {
                WsSpan exact = ws_exact_window(b->c, a->var[k]); /* L-TURN */
                g->var[g->n_vars++] =
                    (WsBitVar){ i, k, exact.lo <= exact.hi ? exact.hi : G_MININT64 };
                modulus = least_multiple(modulus, b->c->modulus[a->var[k]]);
                if (modulus > 4096)
                    return;
            }
    }
    if (tied == 0 || g->n_vars == 0 || turns > MAX_TURNS || modulus % turns || !find_fields(b, g))
        return;
    g->modulus = modulus, g->turns = (guint)turns;
    g->next = ws_bit_alloc(b, g->turns * b->items_of_rank * sizeof(guint16) + 16);
    guint16 *one = g->next + (g->turns > 1 ? b->items_of_rank : 0);
    if (!step_items(b, g, one))
        return;
    for (guint i = 0; i < b->items_of_rank; i++)
        if (g->turns > 1)
            g->next[i] = (guint16)i;
        else if (one[i] != i)
            return;
    for (guint r = 2; r < g->turns; r++)
        for (guint i = 0; i < b->items_of_rank; i++)
            g->next[r * b->items_of_rank + i] = one[g->next[(r - 1) * b->items_of_rank + i]];
    b->n_groups++;
}

void ws_bit_find_groups(WsBits *b)
{
    Ties t = { .b = b };
    t.first_local = g_new0(guint, b->n_agents + 1);
    t.n = 1;
    for (guint a = 0; a < b->n_agents; a++) {
        t.first_local[a] = t.n;
        t.n += b->agent[a].n_locals;
    }
    t.first_barrier = t.n;
    t.first_buffer = t.first_barrier + b->p->n_barriers;
    t.n = t.first_buffer + b->p->n_buffers;
    t.up = g_new(guint, t.n);
    for (guint i = 0; i < t.n; i++)
        t.up[i] = i;
    /* what stands still is found by and by; ties only grow, so this ends */
    for (guint before = G_MAXUINT, still = 0; still != before;) {
        before = still, still = 0;
        for (guint a = 0; a < b->n_agents; a++)
            tie_agent(&t, a);
        for (guint i = 0; i < t.n; i++)
            still += root(&t, i) == 0;
    }
    b->n_groups = 0;
    for (guint a = 0; a < b->n_agents; a++)
        for (guint k = 0; k < b->agent[a].n_locals && b->n_groups < WS_BIT_GROUPS; k++)
            if (root(&t, t.first_local[a] + k) == t.first_local[a] + k)
                make_group(b, &t, t.first_local[a] + k);
    b->scratch = ws_bit_alloc(b, b->bytes);
    g_free(t.up);
    g_free(t.first_local);
}

/* --- turning ---------------------------------------------------------------------------------- */
/* One word of holders turned: fields of one width together. */
typedef struct {
    guint word;
    guint left, right; /* shifts of the two parts of each field */
    guint64 low, high; /* the bits that go left, right */
} Turn;

/* What turns in every row; at most one entry for a word and a width. */
static guint turns_of(const WsBitGroup *g, guint by, Turn *turn, guint max)
{
    guint n = 0;
    for (guint i = 0; i < g->n_fields; i++) {
        const WsBitField *f = &g->field[i];
        guint r = 2 * by % f->width, k = 0;
        if (r == 0)
            continue;
        while (k < n &&
               !(turn[k].word == f->word && turn[k].left == r && turn[k].right == f->width - r))
            k++;
        if (k == n && n == max)
            return G_MAXUINT;
        if (k == n)
            turn[n++] = (Turn){ f->word, r, f->width - r, 0, 0 };
        guint64 low = (1ull << (f->width - r)) - 1, high = (1ull << r) - 1;
        turn[k].low |= low << f->shift;
        turn[k].high |= high << (f->shift + f->width - r);
    }
    return n;
}

static inline void turn_row(guint64 *to, const guint64 *from, guint nw, const Turn *turn, guint n)
{
    for (guint w = 0; w < nw; w++)
        to[w] = from[w];
    for (guint i = 0; i < n; i++) {
        const Turn *t = &turn[i];
        guint64 x = to[t->word], stays = x & ~(t->low | t->high);
        to[t->word] = stays | (x & t->low) << t->left | (x & t->high) >> t->right;
    }
}

/* Rows of one word: the inner loop of most designs. */
static void turn_words(WsBits *b, const guint16 *next, const Turn *turn, guint n)
{
    const guint64 *old = (const guint64 *)(gpointer)(b->scratch + b->o_k);
    const guint64 *old_q = (const guint64 *)(gpointer)(b->scratch + b->o_q);
    guint64 *k = ws_bit_k(b, 0), *q = ws_bit_q(b, 0);
    const Turn t = n ? turn[0] : (Turn){ 0 };
    const guint64 stays = ~(t.low | t.high);
    for (guint from = 0; from < b->items_of_rank; from++) {
        guint64 x = old[from];
        k[next[from]] = (x & stays) | (x & t.low) << t.left | (x & t.high) >> t.right;
    }
    for (guint i = 0; i < b->n_q; i++) {
        guint64 x = old_q[i];
        q[b->q_row[next[b->q_item[i]]]] =
            (x & stays) | (x & t.low) << t.left | (x & t.high) >> t.right;
    }
}

static void turn_rows(WsBits *b, const guint16 *next, const Turn *turn, guint n)
{
    if (b->nw == 1 && b->ranks == 1 && n <= 1) {
        turn_words(b, next, turn, n);
        return;
    }
    const guint64 *old = (const guint64 *)(gpointer)(b->scratch + b->o_k);
    const guint64 *old_q = (const guint64 *)(gpointer)(b->scratch + b->o_q);
    for (guint r = 0; r < b->ranks; r++)
        for (guint i = 0; i < b->items_of_rank; i++) {
            guint from = r * b->items_of_rank + i, to = r * b->items_of_rank + next[i];
            turn_row(ws_bit_k(b, to), old + (gsize)from * b->nw, b->nw, turn, n);
            if (b->q_row[from] >= 0)
                turn_row(ws_bit_q(b, (guint)b->q_row[to]), old_q + (gsize)b->q_row[from] * b->nw,
                         b->nw, turn, n);
        }
}

static guint slot_turned(const WsBits *b, const WsBitGroup *g, guint s, gint64 by, gint64 *laps)
{
    guint rank = s / b->n_slots, here = s % b->n_slots, bar = b->barrier_of[here];
    guint first = b->first_slot[bar], slots = MAX(b->p->barrier[bar].slots, 1);
    *laps = 0;
    if (!g->barrier[bar])
        return s;
    gint64 use = (here - first) % slots + by;
    *laps = use / slots;
    return rank * b->n_slots + first + (here - first) / slots * slots + (guint)(use % slots);
}

static void turn_slots(WsBits *b, const WsBitGroup *g, gint64 by)
{
    const WsBitSlot *old = (const WsBitSlot *)(gpointer)(b->scratch + b->o_slot);
    gint64 laps;
    for (guint s = 0; s < b->ranks * b->n_slots; s++) {
        guint to = slot_turned(b, g, s, by, &laps);
        *ws_bit_slot(b, to) = old[s];
        ws_bit_slot(b, to)->phase += laps;
    }
    for (guint i = 0; i < b->n_inst; i++) {
        WsBitInst *in = ws_bit_inst(b, i);
        const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
        if (!in->have || a->code[in->at].op->kind != WS_OP_MBAR_WAIT)
            continue;
        in->slot = (gint16)slot_turned(b, g, (guint)in->slot, by, &laps);
        in->parity ^= laps & 1;
        if (in->turn != G_MININT64)
            in->turn += laps;
    }
}

/* Sets of items, pieces that have been written, authors. */
static void turn_claims(WsBits *b, const guint16 *next)
{
    const gint64 *old = (const gint64 *)(gpointer)(b->scratch + b->o_claim);
    for (guint r = 0; b->claims && r < b->ranks; r++)
        for (guint c = 0; c < b->n_cells; c++)
            *ws_bit_claimed(b, r, next[c]) = old[r * b->n_cells + c];
}

static void turn_sets(WsBits *b, const guint16 *next)
{
    const guint64 *old = (const guint64 *)(gpointer)(b->scratch + b->o_raw);
    guint64 *now = ws_bit_raw(b);
    for (guint i = 0; i < b->n_inst; i++)
        for (guint q = 0; q < 3; q++) {
            guint n = b->agent[ws_bit_agent(b, i)].ages[q] * b->n_set, at = b->set0[q][i];
            memset(now + at, 0, n * sizeof(guint64));
            for (guint w = 0; w < n; w++)
                for (guint64 x = old[at + w]; x; x &= x - 1) {
                    guint item = next[w % b->n_set * 64 + (guint)__builtin_ctzll(x)];
                    now[at + w / b->n_set * b->n_set + item / 64] |= 1ull << (item % 64);
                }
        }
    memset(now + b->o_written, 0, (b->o_author - b->o_written) * sizeof(guint64));
    for (guint bit = 0; bit < b->ranks * b->n_cells; bit++)
        if (old[b->o_written + bit / 64] >> (bit % 64) & 1) {
            guint to = bit / b->n_cells * b->n_cells + next[bit % b->n_cells];
            now[b->o_written + to / 64] |= 1ull << (to % 64);
        }
    const guint16 *author = (const guint16 *)(gconstpointer)(old + b->o_author);
    for (guint r = 0; r < b->ranks; r++)
        for (guint i = 0; i < b->n_touched; i++)
            *ws_bit_author(b, r, next[i]) = author[r * b->n_touched + i];
}

static void turn_group(WsBits *b, const WsBitGroup *g)
{
    for (guint k = 0; k < g->n_vars; k++) /* near its start a counter is known exactly */
        if (ws_bit_at_least(b, g->var[k].inst, g->var[k].local) <= g->var[k].exact)
            return;
    const WsBitVar *first = &g->var[0];
    gint64 by = ws_control_mod(-ws_bit_at_least(b, first->inst, first->local), g->modulus);
    Turn turn[32];
    guint n = turns_of(g, (guint)(by % g->turns), turn, G_N_ELEMENTS(turn));
    if (by == 0 || n == G_MAXUINT)
        return;
    const guint16 *next = g->next + (gsize)(by % g->turns) * b->items_of_rank;
    memcpy(b->scratch, b->now, b->bytes);
    for (guint k = 0; k < g->n_vars; k++)
        ws_bit_local(b, g->var[k].inst)[g->var[k].local] += by;
    turn_slots(b, g, by);
    turn_rows(b, next, turn, n);
    turn_sets(b, next);
    turn_claims(b, next);
}

void ws_bit_turn(WsBits *b)
{
    for (guint i = 0; i < b->n_groups; i++)
        turn_group(b, &b->group[i]);
}
