/* The cursor that follows one agent of one CTA through its tree. */
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk_state.h"

#include <string.h>

/* --- beginning -----------------------------------------------------------------------------------
 */
gint64 ws_tiles_strided(gpointer data, gint64 position)
{
    const WsTilesStrided *t = data;
    gint64 id;
    if (position < 0 || __builtin_mul_overflow(position, t->stride, &id) ||
        __builtin_add_overflow(id, t->first, &id))
        return -1;
    return id >= 0 && id < t->count ? id : -1;
}

static void push(WsWalker *w, const WsTree *tree)
{
    if (w->n_frames == w->max_frames) {
        w->max_frames = MAX(32, 2 * w->max_frames);
        w->frame = g_renew(WsWalkFrame, w->frame, w->max_frames);
    }
    w->frame[w->n_frames++] = (WsWalkFrame){ .tree = tree };
}

/* Values that hold from the beginning: launch, rank, totals 0, counters at their start. */
static void begin_values(WsWalker *w)
{
    const WsProgram *p = w->p;
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *var = &p->var[i];
        if (var->kind == WS_VAR_SIZE || (var->kind == WS_VAR_RUN && !var->real))
            ws_walk_set(w, (gint)i, ws_launch_var(w->v, (gint)i));
        else if (var->kind == WS_VAR_CTA)
            ws_walk_set(w, (gint)i, w->cta);
        else if (var->kind == WS_VAR_TOTAL && var->agent == w->agent)
            ws_walk_set(w, (gint)i, 0);
        else if (var->kind == WS_VAR_TILE)
            w->tile_var[w->n_tile_vars++] = (gint)i;
    }
}

static gboolean begin_counters(WsWalker *w, GError **error)
{
    for (guint i = 0; i < w->p->n_vars; i++) {
        const WsVar *var = &w->p->var[i];
        gint64 start = 0;
        if (var->kind != WS_VAR_COUNTER || var->agent != w->agent)
            continue;
        if (!ws_walk_evaluate_or(w, var->value, 0, &start, error)) {
            g_prefix_error(error, "start of counter %s: ", var->name);
            return FALSE;
        }
        ws_walk_set(w, (gint)i, start);
    }
    return TRUE;
}

WsWalker *ws_walker_new(const WsProgram *p, const WsLaunchValues *v, guint agent, guint cta,
                        WsTileSource tiles, gpointer data)
{
    WsWalker *w = g_new0(WsWalker, 1);
    w->p = p;
    w->v = v;
    w->agent = (gint)agent;
    w->cta = cta;
    w->tiles = tiles;
    w->tiles_data = data;
    w->value = g_new0(gint64, p->n_vars + 1);
    w->state = g_new0(guint8, p->n_vars + 1);
    w->tile_var = g_new0(gint, p->n_vars + 1);
    w->position = -1;
    w->budget = w->most = WS_WALK_MAX_OPS;
    begin_values(w);
    if (p->tiles->launch == WS_LAUNCH_SINGLE && tiles) {
        gint64 id = tiles(data, 0);
        if (id >= 0)
            ws_walk_open_tile(w, 0, id);
    }
    begin_counters(w, &w->broken);
    if (agent < p->n_agents && p->agent[agent].body)
        push(w, p->agent[agent].body);
    return w;
}

void ws_walker_free(WsWalker *w)
{
    if (!w)
        return;
    g_clear_error(&w->broken);
    g_free(w->value);
    g_free(w->state);
    g_free(w->tile_var);
    g_free(w->frame);
    g_free(w);
}

void ws_walker_set_element(WsWalker *w, WsWalkElement element, gpointer data)
{
    w->element = element;
    w->element_data = data;
}

static gboolean guess(gpointer data, gint tensor, const gint64 *at, gint64 *value)
{
    const WsWalker *w = data;
    return ws_launch_guess_element(w->v, tensor, at, value);
}

void ws_walker_guess_elements(WsWalker *w)
{
    ws_walker_set_element(w, guess, w);
}

void ws_walker_set_tile(WsWalker *w, gint64 id)
{
    ws_walk_open_tile(w, MAX(w->position, 0), id);
}

gint64 ws_walker_position(const WsWalker *w)
{
    return w->position;
}

/* --- loops ---------------------------------------------------------------------------------------
 */
static gboolean begin_loop(WsWalker *w, WsWalkFrame *f, GError **error)
{
    const WsTree *t = f->tree;
    if (!ws_walk_evaluate_or(w, t->from, 0, &f->from, error) ||
        !ws_walk_evaluate_or(w, t->step_by, 1, &f->by, error))
        return FALSE;
    f->count = G_MAXINT64;
    if (t->over == WS_OVER_COUNT && !ws_walk_evaluate_or(w, t->count, 0, &f->count, error))
        return FALSE;
    f->round = 0;
    return TRUE;
}

/* Enters round f->round; *more FALSE if there is none. */
static gboolean begin_round(WsWalker *w, WsWalkFrame *f, gboolean *more, GError **error)
{
    const WsTree *t = f->tree;
    gint64 index;
    *more = FALSE;
    if (f->round >= f->count)
        return TRUE;
    if (__builtin_mul_overflow(f->round, f->by, &index) ||
        __builtin_add_overflow(index, f->from, &index)) {
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_OVERFLOW,
                    "the index of loop %s does not fit in 64 bits", t->name ? t->name : "?");
        return FALSE;
    }
    if (t->over == WS_OVER_TILES) {
        gint64 id = w->tiles ? w->tiles(w->tiles_data, index) : -1;
        if (id < 0)
            return TRUE;
        ws_walk_open_tile(w, index, id);
    }
    ws_walk_set(w, t->index_var, index);
    if (w->step.n_rounds < WS_WALK_MAX_ROUNDS) {
        w->step.loop[w->step.n_rounds] = t;
        w->step.round[w->step.n_rounds] = t->total_var >= 0 ? w->value[t->total_var] : f->round;
    }
    w->step.n_rounds++;
    *more = TRUE;
    return TRUE;
}

static void end_round(WsWalker *w, WsWalkFrame *f)
{
    w->step.n_rounds--;
    f->round++;
    if (f->tree->total_var >= 0)
        w->value[f->tree->total_var]++;
}

gint64 ws_walker_spent(const WsWalker *w)
{
    return w->most - MAX(w->budget, 0);
}

void ws_walker_limit(WsWalker *w, gint64 most)
{
    w->budget = w->most = MIN(most, WS_WALK_MAX_OPS);
}

static gboolean spend(WsWalker *w, GError **error)
{
    if (w->budget-- > 0)
        return TRUE;
    g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_OVERFLOW,
                "more than %" G_GINT64_FORMAT " operations and rounds were walked", w->most);
    return FALSE;
}

/* One move of the loop on top of the stack. */
static gboolean move_loop(WsWalker *w, GError **error)
{
    WsWalkFrame *f = &w->frame[w->n_frames - 1];
    gboolean more = FALSE;
    if (!spend(w, error))
        return FALSE;
    if (f->inside)
        end_round(w, f);
    else if (!begin_loop(w, f, error))
        return FALSE;
    f->inside = TRUE;
    if (!begin_round(w, f, &more, error))
        return FALSE;
    if (more) {
        if (f->tree->n_kids)
            push(w, f->tree->kid[0]);
        return TRUE;
    }
    if (f->tree->over == WS_OVER_TILES && w->p->tiles->launch != WS_LAUNCH_SINGLE)
        ws_walk_close_tile(w);
    w->n_frames--;
    return TRUE;
}

static gboolean move_branch(WsWalker *w, GError **error)
{
    WsWalkFrame *f = &w->frame[w->n_frames - 1];
    const WsTree *t = f->tree;
    gint64 cond = 0;
    if (f->inside) {
        w->n_frames--;
        return TRUE;
    }
    if (!ws_walk_evaluate_or(w, t->cond, 1, &cond, error))
        return FALSE;
    f->inside = TRUE;
    guint side = cond ? 0 : 1;
    if (side < t->n_kids && t->kid[side])
        push(w, t->kid[side]);
    return TRUE;
}

/* --- operations ------------------------------------------------------------------------------- */
static gboolean perform(WsWalker *w, const WsOp *op, GError **error)
{
    gint64 value = 0;
    if (op->var < 0 || !ws_op_assigns(op->kind))
        return TRUE;
    if (!ws_walk_evaluate_or(w, op->set, op->kind == WS_OP_ADVANCE ? 1 : 0, &value, error))
        return FALSE;
    if (op->kind == WS_OP_ADVANCE && __builtin_add_overflow(value, w->value[op->var], &value)) {
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_OVERFLOW,
                    "counter %s does not fit in 64 bits", w->p->var[op->var].name);
        return FALSE;
    }
    ws_walk_set(w, op->var, value);
    return TRUE;
}

static void explain(WsWalker *w, const WsTree *tree, GError **error)
{
    const char *at = tree->kind == WS_TREE_OP && tree->op ? tree->op->id : tree->step;
    g_autofree char *rounds = ws_step_rounds_text(&w->step);
    g_prefix_error(error, "%s%s%s: ", at ? at : "body", *rounds ? " at " : "", rounds);
}

void ws_step_copy(WsStep *to, const WsStep *from)
{
    to->op = from->op;
    to->n_rounds = MIN(from->n_rounds, (guint)WS_WALK_MAX_ROUNDS);
    for (guint i = 0; i < to->n_rounds; i++) {
        to->round[i] = from->round[i];
        to->loop[i] = from->loop[i];
        __asm__ volatile(""); /* or a compiler makes block copies of it, which take longer */
    }
}

static gboolean take(WsWalker *w, const WsOp *op, WsStep *step, GError **error)
{
    if (!spend(w, error) || !perform(w, op, error))
        return FALSE;
    w->op = w->step.op = op;
    ws_step_copy(step, &w->step);
    return TRUE;
}

gboolean ws_walker_next(WsWalker *w, WsStep *step, GError **error)
{
    if (w->broken) {
        g_propagate_error(error, g_steal_pointer(&w->broken));
        w->n_frames = 0;
    }
    while (w->n_frames) {
        WsWalkFrame *f = &w->frame[w->n_frames - 1];
        const WsTree *tree = f->tree;
        gboolean ok = TRUE;
        switch (tree->kind) {
        case WS_TREE_SEQ:
            if (f->kid == tree->n_kids) {
                w->n_frames--;
                continue;
            }
            tree = tree->kid[f->kid++];
            if (tree->kind != WS_TREE_OP) {
                push(w, tree);
                continue;
            }
            ok = take(w, tree->op, step, error);
            if (ok)
                return TRUE;
            break;
        case WS_TREE_LOOP:
            ok = move_loop(w, error);
            break;
        case WS_TREE_BRANCH:
            ok = move_branch(w, error);
            break;
        case WS_TREE_OP:
            w->n_frames--;
            ok = take(w, tree->op, step, error);
            if (ok)
                return TRUE;
            break;
        }
        if (!ok) {
            explain(w, tree, error);
            w->n_frames = 0;
        }
    }
    return FALSE;
}

gboolean ws_walker_eval(WsWalker *w, const WsExpr *e, gint64 *value, GError **error)
{
    return ws_walk_evaluate(w, e, value, error);
}

char *ws_step_rounds_text(const WsStep *step)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < MIN(step->n_rounds, (guint)WS_WALK_MAX_ROUNDS); i++) {
        const WsTree *t = step->loop[i];
        const char *name = t->over == WS_OVER_TILES ? "tile" : t->name;
        g_string_append_printf(s, "%s%s %" G_GINT64_FORMAT, i ? ", " : "", name ? name : "round",
                               step->round[i]);
    }
    return g_string_free(s, FALSE);
}
