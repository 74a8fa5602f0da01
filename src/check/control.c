/* The walker of the proof: like program/walk.c, but a loop asks whether it goes on, and everybody
 * who asks the same question hears the same answer. */
#include "check/prove.h"

#include <string.h>

typedef enum { FALSE_, TRUE_, ASKS } Truth;

gint64 ws_control_mod(gint64 x, gint64 m)
{
    gint64 r = x % m;
    return r < 0 ? r + m : r;
}

/* --- instances of symbols --------------------------------------------------------------------- */
WsInstance *ws_control_find(const WsControl *c, gint symbol, gint64 position, gint rank,
                            gint64 time)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    if (symbol == WS_SYMBOL_TILES)
        position = -1;
    if (!s->per_cta)
        rank = -1;
    if (!s->split || position == -2)
        time = 0;
    for (guint i = 0; i < c->instance->len; i++) {
        WsInstance *x = &g_array_index(c->instance, WsInstance, i);
        if (x->symbol == symbol && x->position == position && x->rank == rank && x->time == time)
            return x;
    }
    WsInstance x = { symbol, position, rank, time, MAX(s->least, 0), FALSE, -1 };
    g_array_append_val(c->instance, x);
    return &g_array_index(c->instance, WsInstance, c->instance->len - 1);
}

/* The instance that holds the remainder: one for all tiles if the symbol has one value a launch. */
static WsInstance *remainder_of(const WsControl *c, gint symbol, gint64 position, gint rank)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    return ws_control_find(c, symbol, s->run ? -2 : position, rank, 0);
}

static guint index_of(const WsControl *c, const WsInstance *x)
{
    return (guint)(x - (const WsInstance *)(gconstpointer)c->instance->data);
}

static WsControlInst *control_of(const WsPlay *play, const WsInst *inst)
{
    return &play->control->inst[inst->index];
}

static gint64 time_of(const WsControlInst *ci, gint symbol)
{
    return symbol < WS_MAX_SPLIT ? ci->begun[symbol] : 0;
}

/* Some value the symbol can have: right up to multiples of the modulus. */
static gboolean value_of(const WsControl *c, const WsControlInst *ci, gint symbol, gint rank,
                         gint64 *value)
{
    gint64 position = ci->position;
    WsInstance *x = ws_control_find(c, symbol, position, rank, time_of(ci, symbol));
    if (x->exact) {
        *value = x->lo;
        return TRUE;
    }
    gint64 lo = x->lo;
    WsInstance *r = remainder_of(c, symbol, position, rank);
    if (r->remainder < 0)
        return FALSE;
    *value = lo + ws_control_mod(r->remainder - lo,
                                 ((const WsSymbol *)c->symbols->pdata[symbol])->modulus);
    return TRUE;
}

/* symbol > n? */
static Truth greater(WsPlay *play, const WsInst *inst, gint symbol, gint64 n)
{
    WsControl *c = play->control;
    WsControlInst *ci = control_of(play, inst);
    const WsSymbol *s = c->symbols->pdata[symbol];
    gint64 position = symbol == WS_SYMBOL_TILES ? -1 : ci->position;
    WsInstance *x = ws_control_find(c, symbol, position, (gint)inst->rank, time_of(ci, symbol));
    if (x->exact || x->lo > n)
        return x->lo > n ? TRUE_ : FALSE_;
    if (s->letter && x->lo >= 1)
        return FALSE_;
    ci->ask_instance = index_of(c, x);
    ci->ask = WS_ASK_MORE;
    return ASKS;
}

/* --- values ----------------------------------------------------------------------------------- */
typedef struct {
    WsPlay *play;
    const WsInst *inst;
} Env;

static WsLookup look(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    Env *env = data;
    WsControl *c = env->play->control;
    const WsControlInst *ci = control_of(env->play, env->inst);
    (void)error;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0)
        return WS_LOOKUP_UNKNOWN;
    if ((guint)leaf->var >= c->n_vars)
        return value_of(c, ci, leaf->var - (gint)c->n_vars, (gint)env->inst->rank, value)
                   ? WS_LOOKUP_KNOWN
                   : WS_LOOKUP_UNKNOWN;
    if (c->p->var[leaf->var].kind == WS_VAR_CTA)
        *value = env->inst->rank;
    else
        *value = ci->value[leaf->var];
    return WS_LOOKUP_KNOWN;
}

gboolean ws_control_value(WsPlay *play, const WsInst *inst, const WsExpr *e, gint64 *value)
{
    if (e->op == WS_EXPR_INT) {
        *value = e->i;
        return TRUE;
    }
    Env env = { play, inst };
    WsExprEnv x = { .integer = look, .data = &env };
    g_autoptr(GError) error = NULL;
    if (ws_expr_eval(e, &x, value, &error))
        return TRUE;
    if (!play->control->outside)
        play->control->outside = g_strdup(error->message);
    play->outside = TRUE;
    *value = 0;
    return FALSE;
}

gboolean ws_control_eval(WsPlay *play, WsInst *inst, const WsExpr *e, gint64 *value)
{
    const WsOp *op = inst->have ? inst->step.op : NULL;
    if (op && op->mma && e == op->mma->first) {
        *value = control_of(play, inst)->first;
        return TRUE;
    }
    if (e->op == WS_EXPR_INT) {
        *value = e->i;
        return TRUE;
    }
    const WsExpr *w = g_hash_table_lookup(play->control->rewritten, e);
    return ws_control_value(play, inst, w ? w : e, value);
}

gint64 ws_control_turn(const WsPlay *play, const WsSlot *slot, gint64 turn, gboolean wait)
{
    (void)play;
    gint64 d = ws_control_mod(turn - slot->phase, WS_LAPS);
    if (wait ? 2 * d >= WS_LAPS : 2 * d > WS_LAPS)
        d -= WS_LAPS;
    return slot->phase + d;
}

/* --- conditions ------------------------------------------------------------------------------- */
static Truth opposite(Truth t)
{
    return t == ASKS ? ASKS : t == TRUE_ ? FALSE_ : TRUE_;
}

/* symbol (op) n */
static Truth compare(WsPlay *play, const WsInst *inst, gint symbol, WsExprOp op, gint64 n)
{
    Truth t;
    switch (op) {
    case WS_EXPR_GT:
        return greater(play, inst, symbol, n);
    case WS_EXPR_GE:
        return greater(play, inst, symbol, n - 1);
    case WS_EXPR_LT:
        return opposite(greater(play, inst, symbol, n - 1));
    case WS_EXPR_LE:
        return opposite(greater(play, inst, symbol, n));
    default:
        t = greater(play, inst, symbol, n - 1);
        if (t == TRUE_)
            t = opposite(greater(play, inst, symbol, n));
        return op == WS_EXPR_EQ ? t : opposite(t);
    }
}

static WsExprOp mirrored(WsExprOp op)
{
    switch (op) {
    case WS_EXPR_LT:
        return WS_EXPR_GT;
    case WS_EXPR_LE:
        return WS_EXPR_GE;
    case WS_EXPR_GT:
        return WS_EXPR_LT;
    case WS_EXPR_GE:
        return WS_EXPR_LE;
    default:
        return op;
    }
}

static Truth condition(WsPlay *play, const WsInst *inst, const WsExpr *e)
{
    gint64 x;
    const WsForm *f = g_hash_table_lookup(play->control->forms, e);
    if (f && f->factor == 0)
        return greater(play, inst, f->symbol, 0);
    if (f) {
        if (!ws_control_value(play, inst, f->rest, &x))
            return FALSE_;
        if (f->symbol < 0)
            return x != 0 ? TRUE_ : FALSE_;
        return f->factor > 0 ? compare(play, inst, f->symbol, e->op, -x)
                             : compare(play, inst, f->symbol, mirrored(e->op), x);
    }
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR) {
        Truth a = condition(play, inst, e->arg[0]);
        if (a == ASKS || a == (e->op == WS_EXPR_AND ? FALSE_ : TRUE_))
            return a;
        return condition(play, inst, e->arg[1]);
    }
    if (e->op == WS_EXPR_NOT)
        return opposite(condition(play, inst, e->arg[0]));
    if (!ws_control_value(play, inst, e, &x))
        return FALSE_;
    return x != 0 ? TRUE_ : FALSE_;
}

/* --- frames ----------------------------------------------------------------------------------- */
static void push(WsPlay *play, WsControlInst *ci, const WsTree *t)
{
    if (ci->n_frames == WS_MAX_FRAMES) {
        if (!play->control->outside)
            play->control->outside = g_strdup("steps are nested too deeply");
        play->outside = TRUE;
        return;
    }
    ci->entered = GPOINTER_TO_UINT(g_hash_table_lookup(play->control->number, t));
    WsControlFrame *f = &ci->frame[ci->n_frames++];
    memset(f, 0, sizeof *f);
    f->tree = t;
}

static const WsExpr *rewritten(const WsPlay *play, const WsExpr *e)
{
    const WsExpr *w = g_hash_table_lookup(play->control->rewritten, e);
    return w ? w : e;
}

static Truth more_rounds(WsPlay *play, WsInst *inst, WsControlFrame *f)
{
    const WsTree *t = f->tree;
    if (t->over == WS_OVER_TILES) {
        if (play->p->tiles.launch == WS_LAUNCH_SINGLE)
            return f->from + f->round * f->by < 1 ? TRUE_ : FALSE_;
        return greater(play, inst, WS_SYMBOL_TILES, f->from + f->round * f->by);
    }
    const WsForm *form = g_hash_table_lookup(play->control->forms, rewritten(play, t->count));
    gint64 rest;
    if (!form || !ws_control_value(play, inst, form->rest, &rest))
        return FALSE_;
    if (form->symbol < 0)
        return f->round < rest ? TRUE_ : FALSE_;
    return greater(play, inst, form->symbol, f->round - rest);
}

static void enter_tile(WsControlInst *ci, gint64 position)
{
    ci->position = position;
    memset(ci->begun, 0, sizeof ci->begun);
}

/* FALSE: a question is open. */
static gboolean move_loop(WsPlay *play, WsInst *inst, WsControlInst *ci, WsControlFrame *f)
{
    const WsTree *t = f->tree;
    if (!f->inside) {
        f->from = 0, f->by = 1;
        if (t->from)
            ws_control_value(play, inst, rewritten(play, t->from), &f->from);
        if (t->step_by)
            ws_control_value(play, inst, rewritten(play, t->step_by), &f->by);
        f->inside = TRUE;
        f->round = 0;
        f->kid = 0;
        const WsForm *form =
            t->over == WS_OVER_COUNT
                ? g_hash_table_lookup(play->control->forms, rewritten(play, t->count))
                : NULL;
        if (form && form->symbol >= 0 && form->symbol < WS_MAX_SPLIT &&
            ((const WsSymbol *)play->control->symbols->pdata[form->symbol])->split)
            ci->begun[form->symbol]++;
    } else if (f->kid) { /* a round has ended */
        f->kid = 0;
        ci->n_rounds--;
        f->round++;
        if (t->total_var >= 0)
            ci->value[t->total_var]++;
    }
    Truth more = more_rounds(play, inst, f);
    if (more == ASKS)
        return FALSE;
    if (more == FALSE_) {
        if (t->over == WS_OVER_TILES && play->p->tiles.launch != WS_LAUNCH_SINGLE)
            enter_tile(ci, WS_FAR);
        ci->n_frames--;
        return TRUE;
    }
    gint64 index = f->from + f->round * f->by;
    if (t->over == WS_OVER_TILES)
        enter_tile(ci, index);
    if (t->index_var >= 0)
        ci->value[t->index_var] = index;
    if (ci->n_rounds < G_N_ELEMENTS(inst->step.round)) {
        inst->step.loop[ci->n_rounds] = t;
        inst->step.round[ci->n_rounds] = t->total_var >= 0 ? ci->value[t->total_var] : f->round;
    }
    ci->n_rounds++;
    f->kid = 1;
    if (t->n_kids)
        push(play, ci, t->kid[0]);
    return TRUE;
}

/* Both sides of a private branch are gone through, and what they define does not count. */
static gboolean move_private(WsPlay *play, WsInst *inst, WsControlInst *ci, WsControlFrame *f)
{
    const WsTree *t = f->tree;
    guint words = MIN(inst->a->n_values, (guint)G_N_ELEMENTS(ci->saved));
    if (!f->inside) {
        f->inside = TRUE;
        if (ci->private_frame == 0) {
            ci->private_frame = ci->n_frames;
            memcpy(ci->saved, inst->defined, words * sizeof(guint64));
        }
    }
    while (f->kid < t->n_kids) {
        const WsTree *kid = t->kid[f->kid++];
        if (kid) {
            push(play, ci, kid);
            return TRUE;
        }
    }
    if (ci->private_frame == ci->n_frames) {
        ci->private_frame = 0;
        for (guint i = 0; i < words; i++)
            inst->defined[i] &= ci->saved[i];
    }
    ci->n_frames--;
    return TRUE;
}

static gboolean move_branch(WsPlay *play, WsInst *inst, WsControlInst *ci, WsControlFrame *f)
{
    const WsTree *t = f->tree;
    if (t->cond && g_hash_table_contains(play->control->private_if, t))
        return move_private(play, inst, ci, f);
    if (f->inside) {
        ci->n_frames--;
        return TRUE;
    }
    Truth yes = t->cond ? condition(play, inst, rewritten(play, t->cond)) : TRUE_;
    if (yes == ASKS)
        return FALSE;
    f->inside = TRUE;
    guint side = yes == TRUE_ ? 0 : 1;
    if (side < t->n_kids && t->kid[side])
        push(play, ci, t->kid[side]);
    return TRUE;
}

/* Values that the operation needs and nobody has decided; FALSE: a question is open. */
static gboolean ready(WsPlay *play, WsInst *inst, WsControlInst *ci, const WsOp *op)
{
    WsControl *c = play->control;
    const GArray *need = c->need[op->index];
    for (guint i = 0; need && i < need->len; i++) {
        gint s = g_array_index(need, gint, i);
        gint64 value;
        if (value_of(c, ci, s, (gint)inst->rank, &value))
            continue;
        ci->ask = WS_ASK_REMAINDER;
        ci->ask_instance = index_of(c, remainder_of(c, s, ci->position, (gint)inst->rank));
        return FALSE;
    }
    if (op->mma && op->mma->first) {
        Truth t = condition(play, inst, rewritten(play, op->mma->first));
        if (t == ASKS)
            return FALSE;
        ci->first = t == TRUE_;
    }
    return TRUE;
}

static void perform(WsPlay *play, WsInst *inst, WsControlInst *ci, const WsOp *op)
{
    gint64 x = op->kind == WS_OP_ADVANCE ? 1 : 0;
    if (op->var < 0 || (op->kind != WS_OP_LET && op->kind != WS_OP_ADVANCE) ||
        !play->control->relevant[op->var])
        return;
    if (op->set)
        ws_control_value(play, inst, rewritten(play, op->set), &x);
    ci->value[op->var] = op->kind == WS_OP_ADVANCE ? ci->value[op->var] + x : x;
}

/* Counters may start at a symbol: a question before the first step. */
static gboolean start_counters(WsPlay *play, WsInst *inst, WsControlInst *ci)
{
    WsControl *c = play->control;
    for (guint v = 0; v < c->n_vars; v++) {
        const WsVar *var = &c->p->var[v];
        if (var->kind != WS_VAR_COUNTER || var->agent != (gint)inst->agent || !var->value ||
            !c->relevant[v])
            continue;
        const WsExpr *w = rewritten(play, var->value);
        for (guint s = 1; s < c->symbols->len; s++) {
            gint64 value;
            if (!((WsSymbol *)c->symbols->pdata[s])->ring ||
                value_of(c, ci, (gint)s, (gint)inst->rank, &value))
                continue;
            g_autofree char *text = ws_expr_print(w);
            if (!strstr(text, ((WsSymbol *)c->symbols->pdata[s])->text))
                continue;
            ci->ask = WS_ASK_REMAINDER;
            ci->ask_instance =
                index_of(c, remainder_of(c, (gint)s, ci->position, (gint)inst->rank));
            return FALSE;
        }
        ws_control_value(play, inst, w, &ci->value[v]);
    }
    return TRUE;
}

void ws_control_reset(WsPlay *play)
{
    WsControl *c = play->control;
    g_array_set_size(c->instance, 0);
    for (guint i = 0; i < play->n_inst; i++) {
        WsControlInst *ci = &c->inst[i];
        gint64 *value = ci->value;
        memset(ci, 0, sizeof *ci);
        memset(value, 0, (c->n_vars + 1) * sizeof(gint64));
        ci->value = value;
        ci->position = c->p->tiles.launch == WS_LAUNCH_SINGLE ? 0 : -1;
        ci->entered = G_MAXUINT; /* not begun */
    }
}

WsNext ws_control_next(WsPlay *play, WsInst *inst)
{
    WsControlInst *ci = control_of(play, inst);
    ci->ask = WS_ASK_NONE;
    if (ci->entered == G_MAXUINT) {
        if (!start_counters(play, inst, ci))
            return WS_NEXT_ASK;
        ci->entered = 0;
        if (inst->a->body)
            push(play, ci, inst->a->body);
    }
    while (ci->n_frames && !play->outside) {
        WsControlFrame *f = &ci->frame[ci->n_frames - 1];
        const WsTree *t = f->tree;
        switch (t->kind) {
        case WS_TREE_SEQ:
            if (f->kid < t->n_kids)
                push(play, ci, t->kid[f->kid++]);
            else
                ci->n_frames--;
            break;
        case WS_TREE_LOOP:
            if (!move_loop(play, inst, ci, f))
                return WS_NEXT_ASK;
            break;
        case WS_TREE_BRANCH:
            if (!move_branch(play, inst, ci, f))
                return WS_NEXT_ASK;
            break;
        case WS_TREE_OP:
            if (!ready(play, inst, ci, t->op))
                return WS_NEXT_ASK;
            ci->n_frames--;
            perform(play, inst, ci, t->op);
            inst->step.op = t->op;
            inst->step.n_rounds = MIN(ci->n_rounds, (guint)G_N_ELEMENTS(inst->step.round));
            return WS_NEXT_STEP;
        }
    }
    return WS_NEXT_END;
}
