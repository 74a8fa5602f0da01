/* Walks the agents with symbols and notes every box of a tensor that a step writes, with the
 * conditions it hangs on. Loops with a constant number of rounds are unrolled, others become an
 * axis of their own. */
#include "base/phrase.h"
#include "check/global/global.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/raw.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

enum { MOST_ROUNDS = 64, MOST_PIECES = 512, MOST_CONDS = 12, MOST_NESTED = 8 };

typedef struct {
    WsGlobal *g;
    const WsAgent *agent;
    gboolean dry; /* only what counters become */
    guint n_conds;
    WsPoly cond[MOST_CONDS];
    guint n_rounds;
    guint16 round[MOST_NESTED];
    gboolean in_tiles, only_loop; /* the agent has one loop over tiles */
    gint64 from, by;
    /* Counters that hold a value of the tile before: at the begin of its round, or behind the loop.
     */
    WsPoly *carried; /* [vars], where is_carried */
    gboolean *is_carried;
    WsPoly *start;  /* [vars] what they hold where nothing is said of the tile before */
    gint late_cond; /* condition that says there is one; -1 */
    WsLate late;
} Walk;

void ws_global_problem(WsGlobal *g, const char *format, ...)
{
    if (g->problem)
        return;
    va_list args;
    va_start(args, format);
    g->problem = ws_phrase_v(format, args);
    va_end(args);
}

void ws_global_cure(WsGlobal *g, int times, const char *format, ...)
{
    if (g->problem || g->cure)
        return;
    va_list args;
    va_start(args, format);
    g->cure = ws_phrase_v(format, args);
    g->cure_times = times;
    va_end(args);
}

/* --- what operations do ------------------------------------------------------------------------
 */
gboolean ws_global_box(const WsProgram *p, const WsOp *op, gint64 *size)
{
    if (op->tensor < 0)
        return FALSE;
    const WsTensor *t = &p->tensor[op->tensor];
    for (guint d = 0; d < t->rank; d++)
        size[d] = 1;
    if (ws_op_row(op->kind)->from == WS_DATA_AT_SHARED &&
        ws_op_row(op->kind)->to == WS_DATA_AT_TENSOR) {
        if (op->map < 0)
            return FALSE;
        for (guint d = 0; d < t->rank; d++)
            size[t->rank - 1 - d] = p->map[op->map].box[d];
        return op->n_coord == t->rank;
    }
    if (op->kind != WS_OP_ST_GLOBAL && op->kind != WS_OP_RED_GLOBAL)
        return FALSE;
    /* the tile lies over the last dimensions: extents of 1 take none */
    guint at = t->rank;
    const WsValueUse *v = &op->value[0];
    if (v->cols > 1 && at > 0)
        size[--at] = v->cols;
    if (v->rows > 1 && at > 0)
        size[--at] = v->rows;
    return op->n_coord == t->rank;
}

static gboolean writes(const WsGlobal *g, const WsOp *op)
{
    if (op->kind == WS_OP_RAW)
        for (guint i = 0; i < op->n_raw; i++)
            if (op->raw[i].kind == WS_RAW_TENSOR && (gint)op->raw[i].index == g->tensor)
                return TRUE;
    return op->tensor == g->tensor && (op->reduce != WS_REDUCE_NONE) == g->reduces &&
           ws_op_row(op->kind)->to == WS_DATA_AT_TENSOR;
}

static gboolean holds(const WsGlobal *g, const WsTree *t)
{
    if (t->kind == WS_TREE_OP)
        return writes(g, t->op);
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i] && holds(g, t->kid[i]))
            return TRUE;
    return FALSE;
}

static guint tile_loops(const WsTree *t)
{
    guint n = t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES;
    for (guint i = 0; i < t->n_kids; i++)
        n += t->kid[i] ? tile_loops(t->kid[i]) : 0;
    return n;
}

/* Forgets all counters and names that the subtree changes; those that are carried keep `start`. */
static void forget(Walk *w, const WsTree *t)
{
    if (t->kind == WS_TREE_OP && t->op->var >= 0)
        ws_terms_set(&w->g->terms, t->op->var,
                     ws_terms_unknown(&w->g->terms, w->g->p->var[t->op->var].name));
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i])
            forget(w, t->kid[i]);
}

static gboolean before_of(gpointer data, guint atom, WsPoly *out)
{
    WsGlobal *g = data;
    const WsAtom *x = ws_atom(g->ps, atom);
    if (x->kind != WS_ATOM_AXIS)
        return FALSE;
    *out = ws_poly_leaf(g->ps, WS_ATOM_BEFORE, x->id, WS_ON_BEFORE, &x->extent, x->name);
    return TRUE;
}

static gboolean axis_of(gpointer data, guint atom, WsPoly *out)
{
    WsGlobal *g = data;
    const WsAtom *x = ws_atom(g->ps, atom);
    if (x->kind != WS_ATOM_BEFORE)
        return FALSE;
    *out = ws_poly_leaf(g->ps, WS_ATOM_AXIS, x->id, WS_ON_TILE, &x->extent, x->name);
    return TRUE;
}

/* --- pieces ------------------------------------------------------------------------------------
 */
static const char *step_of(const WsOp *op)
{
    return op->step ? op->step : op->id;
}

/* Turns a piece that names the tile before into one of that tile. */
static gboolean bring_back(Walk *w, WsPiece *piece)
{
    WsGlobal *g = w->g;
    guint on = 0, n = 0;
    for (guint d = 0; d < piece->n_dims; d++)
        on |= ws_poly_on(g->ps, piece->at[d]);
    for (guint i = 0; i < piece->n_conds; i++)
        if ((gint)i != w->late_cond)
            on |= ws_poly_on(g->ps, piece->cond[i]);
    if (!(on & WS_ON_BEFORE))
        return FALSE;
    if (on & WS_ON_TILE || w->late_cond < 0) {
        ws_global_problem(g, "%s writes with numbers of two tiles", step_of(piece->op));
        return FALSE;
    }
    for (guint d = 0; d < piece->n_dims; d++)
        piece->at[d] = ws_poly_map(g->ps, piece->at[d], axis_of, g);
    for (guint i = 0; i < piece->n_conds; i++)
        if ((gint)i != w->late_cond)
            piece->cond[n++] = ws_poly_map(g->ps, piece->cond[i], axis_of, g);
    piece->n_conds = n;
    piece->late = w->late;
    return TRUE;
}

static void note(Walk *w, const WsOp *op)
{
    WsGlobal *g = w->g;
    const gboolean single = g->p->tiles->launch == WS_LAUNCH_SINGLE;
    WsPiece *piece = ws_polys_alloc(g->ps, sizeof *piece);
    piece->op = op;
    piece->n_dims = g->p->tensor[g->tensor].rank;
    piece->from = w->from;
    piece->by = w->by;
    piece->n_rounds = w->n_rounds;
    for (guint i = 0; i < w->n_rounds; i++)
        piece->round[i] = w->round[i];
    piece->n_conds = w->n_conds;
    piece->cond = ws_polys_alloc(g->ps, (w->n_conds + 1) * sizeof(WsPoly));
    for (guint i = 0; i < w->n_conds; i++)
        piece->cond[i] = w->cond[i];
    if (op->kind == WS_OP_RAW) {
        ws_global_problem(g, "the raw step %s may write it anywhere", step_of(op));
        return;
    }
    if (op->limit) {
        ws_global_problem(g, "%s leaves out the rows of its tile from a number on", step_of(op));
        return;
    }
    if (!ws_global_box(g->p, op, piece->size)) {
        ws_global_problem(g, "what %s writes is not understood", step_of(op));
        return;
    }
    if (g->piece->len >= MOST_PIECES) {
        ws_global_problem(g, "it is written in more than %d pieces", MOST_PIECES);
        return;
    }
    for (guint d = 0; d < piece->n_dims; d++)
        piece->at[d] = ws_terms_of(&g->terms, op->coord[d]);
    gboolean late = bring_back(w, piece);
    if (!single && !w->in_tiles && !late)
        ws_global_problem(g, "%s is outside the loop over tiles: every CTA runs it once",
                          step_of(op));
    g_ptr_array_add(g->piece, piece);
}

/* --- control -----------------------------------------------------------------------------------
 */
static void walk(Walk *w, const WsTree *t);

static void walk_op(Walk *w, const WsOp *op)
{
    WsTerms *terms = &w->g->terms;
    if (op->kind == WS_OP_LET && op->var >= 0)
        ws_terms_set(terms, op->var, ws_terms_of(terms, op->set));
    else if (op->kind == WS_OP_ADVANCE && op->var >= 0) {
        WsPoly by = op->set ? ws_terms_of(terms, op->set) : ws_poly_int(w->g->ps, 1);
        WsPoly old =
            terms->known[op->var] ? terms->value[op->var] : ws_terms_unknown(terms, "counter");
        ws_terms_set(terms, op->var, ws_poly_add(w->g->ps, old, 1, by));
    } else if (op->var >= 0) {
        ws_terms_set(terms, op->var, ws_terms_unknown(terms, w->g->p->var[op->var].name));
    }
    if (!w->dry && writes(w->g, op))
        note(w, op);
}

typedef struct {
    WsPoly *value;
    gboolean *known;
} Env;

static Env save(Walk *w)
{
    const guint n = w->g->p->n_vars;
    Env e = { ws_polys_alloc(w->g->ps, (n + 1) * sizeof(WsPoly)),
              ws_polys_alloc(w->g->ps, (n + 1) * sizeof(gboolean)) };
    memcpy(e.value, w->g->terms.value, n * sizeof *e.value);
    memcpy(e.known, w->g->terms.known, n * sizeof *e.known);
    return e;
}

static void restore(Walk *w, Env e)
{
    const guint n = w->g->p->n_vars;
    memcpy(w->g->terms.value, e.value, n * sizeof *e.value);
    memcpy(w->g->terms.known, e.known, n * sizeof *e.known);
}

/* "there is a tile before": position > 0 inside the loop, tiles > 0 behind it. */
static gboolean says_before(Walk *w, WsPoly cond)
{
    WsGlobal *g = w->g;
    WsAtomKind kind = w->in_tiles ? WS_ATOM_POSITION : WS_ATOM_TILES;
    guint on = w->in_tiles ? WS_ON_TILE : WS_ON_SEQUENCE;
    WsPoly at = ws_poly_leaf(g->ps, kind, 0, on, NULL, "position"), one = ws_poly_int(g->ps, 1);
    WsPoly first = ws_poly_negative(g->ps, ws_poly_add(g->ps, at, -1, one));
    return ws_poly_equal(cond, ws_poly_add(g->ps, one, -1, first));
}

static void side(Walk *w, const WsTree *t, WsPoly cond)
{
    WsTerms *terms = &w->g->terms;
    if (w->n_conds == MOST_CONDS) {
        ws_global_problem(w->g, "conditions are nested too deeply");
        return;
    }
    gint late_cond = w->late_cond;
    if (w->is_carried && late_cond < 0 && says_before(w, cond)) {
        w->late_cond = (gint)w->n_conds;
        for (guint v = 0; v < w->g->p->n_vars; v++)
            if (w->is_carried[v] && ws_poly_equal(terms->value[v], w->start[v]))
                ws_terms_set(terms, (gint)v, w->carried[v]);
    }
    w->cond[w->n_conds++] = cond;
    walk(w, t);
    w->n_conds--;
    w->late_cond = late_cond;
}

static void walk_branch(Walk *w, const WsTree *t)
{
    WsTerms *terms = &w->g->terms;
    WsPoly cond = ws_terms_truth(terms, t->cond), one = ws_poly_int(w->g->ps, 1);
    const WsTree *yes = t->n_kids > 0 ? t->kid[0] : NULL, *no = t->n_kids > 1 ? t->kid[1] : NULL;
    gint64 known;
    if (ws_poly_is_int(cond, &known)) {
        if (known ? yes : no)
            walk(w, known ? yes : no);
        return;
    }
    Env before = save(w);
    if (yes)
        side(w, yes, cond);
    restore(w, before);
    if (no)
        side(w, no, ws_poly_add(w->g->ps, one, -1, cond));
    restore(w, before);
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i])
            forget(w, t->kid[i]);
}

/* The counters that the body leaves at a value of its own tile. */
static void find_carried(Walk *w, const WsTree *t)
{
    WsGlobal *g = w->g;
    const guint n = g->p->n_vars;
    gboolean dry = w->dry;
    Env before = save(w);
    w->dry = TRUE;
    walk(w, t->kid[0]);
    w->dry = dry;
    w->carried = ws_polys_alloc(g->ps, (n + 1) * sizeof(WsPoly));
    w->start = ws_polys_alloc(g->ps, (n + 1) * sizeof(WsPoly));
    w->is_carried = ws_polys_alloc(g->ps, (n + 1) * sizeof(gboolean));
    for (guint v = 0; v < n; v++) {
        if (g->p->var[v].kind != WS_VAR_COUNTER || !g->terms.known[v] || !before.known[v])
            continue;
        WsPoly end = ws_poly_map(g->ps, g->terms.value[v], before_of, g);
        w->start[v] = before.value[v];
        w->is_carried[v] = !(ws_poly_on(g->ps, end) & ~(guint)(WS_ON_BEFORE | WS_ON_DATA)) &&
                           !ws_poly_equal(end, before.value[v]);
        w->carried[v] = end;
    }
    restore(w, before);
}

static void walk_tiles(Walk *w, const WsTree *t)
{
    WsGlobal *g = w->g;
    WsTerms *terms = &g->terms;
    WsPoly from = t->from ? ws_terms_of(terms, t->from) : (WsPoly){ 0 };
    WsPoly by = t->step_by ? ws_terms_of(terms, t->step_by) : ws_poly_int(g->ps, 1);
    WsPoly position = ws_poly_leaf(g->ps, WS_ATOM_POSITION, 0, WS_ON_TILE, NULL, "position");
    if (!ws_poly_is_int(from, &w->from) || !ws_poly_is_int(by, &w->by) || w->from < 0 ||
        w->by < 1 || w->from > MOST_ROUNDS || w->by > MOST_ROUNDS || w->in_tiles ||
        (g->p->tiles->launch == WS_LAUNCH_DYNAMIC && !w->only_loop))
        ws_global_problem(
            g, "the loop %s over tiles leaves out tiles in a way that is not followed", t->name);
    const gboolean single = g->p->tiles->launch == WS_LAUNCH_SINGLE;
    if (single && w->from > 0)
        return;
    forget(w, t->kid[0]);
    const gboolean all = !single && w->only_loop && w->from == 0 && w->by == 1;
    ws_terms_set(terms, t->index_var, single ? (WsPoly){ 0 } : position);
    ws_terms_set(terms, t->total_var,
                 single ? (WsPoly){ 0 }
                 : all  ? position
                        : ws_terms_unknown(terms, "total"));
    w->in_tiles = TRUE;
    if (all && g->counters)
        find_carried(w, t);
    w->late = WS_LATE_NEXT;
    walk(w, t->kid[0]);
    w->in_tiles = FALSE;
    w->late = WS_LATE_END;
    forget(w, t->kid[0]);
    for (guint v = 0; w->is_carried && v < g->p->n_vars; v++)
        if (w->is_carried[v])
            w->start[v] = terms->value[v];
    ws_terms_set(terms, t->total_var,
                 all ? ws_poly_leaf(g->ps, WS_ATOM_TILES, 0, WS_ON_SEQUENCE, NULL, "tiles")
                     : ws_terms_unknown(terms, "total"));
    w->from = 0, w->by = 1;
}

/* Loops of other agents with as many rounds at the same depth are one axis: what each of them
 * writes is written once for every round of it. */
static gint round_id(Walk *w, WsPoly count)
{
    enum { PER_DEPTH = 1 << 20 };
    GArray *extents = w->g->extents;
    guint i = 0;
    while (i < extents->len && !ws_poly_equal(g_array_index(extents, WsPoly, i), count))
        i++;
    if (i == extents->len)
        g_array_append_val(extents, count);
    return -(gint)(1 + w->n_rounds * PER_DEPTH + i);
}

static void walk_count(Walk *w, const WsTree *t)
{
    WsGlobal *g = w->g;
    WsTerms *terms = &g->terms;
    WsPoly count = t->count ? ws_terms_of(terms, t->count) : (WsPoly){ 0 };
    WsPoly from = t->from ? ws_terms_of(terms, t->from) : (WsPoly){ 0 };
    WsPoly by = t->step_by ? ws_terms_of(terms, t->step_by) : ws_poly_int(g->ps, 1);
    gint64 n;
    if (ws_poly_is_int(count, &n) && n <= MOST_ROUNDS) {
        for (gint64 i = 0; i < n && !g->problem; i++) {
            ws_terms_set(terms, t->index_var, ws_poly_add(g->ps, from, i, by));
            ws_terms_set(terms, t->total_var, ws_terms_unknown(terms, "total"));
            walk(w, t->kid[0]);
        }
        ws_terms_set(terms, t->total_var, ws_terms_unknown(terms, "total"));
        return;
    }
    if (w->n_rounds == MOST_NESTED) {
        ws_global_problem(g, "loops are nested too deeply");
        return;
    }
    WsPoly round =
        ws_poly_leaf(g->ps, WS_ATOM_ROUND, round_id(w, count), WS_ON_ROUND, &count, t->name);
    guint atom = 0;
    ws_poly_is_atom(round, &atom);
    forget(w, t->kid[0]);
    ws_terms_set(terms, t->index_var, ws_poly_add(g->ps, from, 1, ws_poly_mul(g->ps, by, round)));
    ws_terms_set(terms, t->total_var, ws_terms_unknown(terms, "total"));
    w->round[w->n_rounds++] = (guint16)atom;
    walk(w, t->kid[0]);
    w->n_rounds--;
    forget(w, t->kid[0]);
    ws_terms_set(terms, t->total_var, ws_terms_unknown(terms, "total"));
}

static void walk(Walk *w, const WsTree *t)
{
    WsGlobal *g = w->g;
    if (g->problem)
        return;
    if (ws_polys_broken(g->ps)) {
        ws_global_problem(g, "its expressions are too large");
        return;
    }
    if (t->kind == WS_TREE_OP) {
        walk_op(w, t->op);
        return;
    }
    if (t->kind != WS_TREE_SEQ && (w->dry || !holds(g, t)) && t->kind == WS_TREE_LOOP) {
        forget(w, t); /* nothing is written in it */
        ws_terms_set(&g->terms, t->total_var, ws_terms_unknown(&g->terms, "total"));
        return;
    }
    if (t->kind == WS_TREE_SEQ)
        for (guint i = 0; i < t->n_kids; i++)
            walk(w, t->kid[i]);
    else if (t->kind == WS_TREE_BRANCH)
        walk_branch(w, t);
    else if (t->over == WS_OVER_TILES)
        walk_tiles(w, t);
    else if (t->over == WS_OVER_COUNT)
        walk_count(w, t);
    else
        ws_global_problem(g, "it is written in a loop over a pipe");
}

/* --- all ---------------------------------------------------------------------------------------
 */
static void look_for_counter(const WsExpr *node, gpointer data)
{
    WsGlobal *g = data;
    if (node->op == WS_EXPR_VAR && node->var >= 0 && (guint)node->var < g->p->n_vars &&
        g->p->var[node->var].kind == WS_VAR_COUNTER)
        g->counters = TRUE;
}

static gboolean works(const WsGlobal *g, const WsAgent *a)
{
    return a->body && holds(g, a->body);
}

void ws_global_pieces(WsGlobal *g)
{
    const WsProgram *p = g->p;
    g->counters = FALSE;
    for (guint i = 0; i < p->n_ops; i++)
        for (guint d = 0; writes(g, p->op[i]) && d < p->op[i]->n_coord; d++)
            ws_expr_visit(p->op[i]->coord[d], look_for_counter, g);
    for (guint rank = 0; rank < MAX(p->cluster, 1) && !g->problem; rank++) {
        ws_terms_rank(&g->terms, rank);
        for (guint a = 0; a < p->n_agents && !g->problem; a++) {
            if (!works(g, &p->agent[a]))
                continue;
            Walk w = { .g = g,
                       .agent = &p->agent[a],
                       .by = 1,
                       .late_cond = -1,
                       .only_loop = tile_loops(p->agent[a].body) == 1 };
            for (guint v = 0; v < p->n_vars; v++)
                if (p->var[v].agent == (gint)a && p->var[v].kind == WS_VAR_COUNTER)
                    ws_terms_set(&g->terms, (gint)v,
                                 p->var[v].value ? ws_terms_of(&g->terms, p->var[v].value)
                                                 : (WsPoly){ 0 });
                else if (p->var[v].agent == (gint)a)
                    g->terms.known[v] = FALSE;
            walk(&w, p->agent[a].body);
        }
    }
    if (ws_polys_broken(g->ps))
        ws_global_problem(g, "its expressions are too large");
}
