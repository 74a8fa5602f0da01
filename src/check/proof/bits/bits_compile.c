/* A program compiled for the proof: one array of instructions per agent. */
#include "check/proof/bits/bits.h"
#include "check/touch.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/tiles.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

#define MAX_CODE 8000

/* --- operations ------------------------------------------------------------------------------- */
guint64 ws_bit_blocks(WsBits *b, guint i, const WsBitValue *v)
{
    gint64 r0 = 0, c0 = 0;
    if (v->constant)
        return v->mask;
    ws_bit_eval(b, i, &v->row0, &r0);
    ws_bit_eval(b, i, &v->col0, &c0);
    gboolean exact;
    guint64 mask =
        ws_value_blocks(&b->agent[ws_bit_agent(b, i)].grid[v->value], v->use, r0, c0, &exact);
    if (!exact)
        ws_bit_outside(b, WS_NO_BLOCKS);
    return mask;
}

static WsBitValue whole(const WsBitAgent *agent, guint value)
{
    const WsAgent *a = agent->a;
    const WsValueUse u = { .rows = a->value[value].rows, .cols = a->value[value].cols };
    gboolean exact;
    return (WsBitValue){ .value = value,
                         .constant = TRUE,
                         .mask = ws_value_blocks(&agent->grid[value], &u, 0, 0, &exact) };
}

static void compile_values(WsBits *b, guint agent, WsBitOp *o)
{
    const WsAgent *a = b->agent[agent].a;
    for (guint i = 0; i < o->op->n_value; i++) {
        const WsValueUse *u = &o->op->value[i];
        if (u->value >= a->n_values) {
            ws_bit_outside(b, "an operation on a value that is not declared");
            continue;
        }
        gboolean exact;
        WsBitValue *v = &o->value[o->n_value++];
        v->value = u->value, v->use = u;
        v->row0 = ws_bit_expr(b, agent, u->row0);
        v->col0 = ws_bit_expr(b, agent, u->col0);
        v->constant = v->row0.constant && v->col0.constant;
        v->mask = ws_value_blocks(&b->agent[agent].grid[u->value], u, v->row0.value, v->col0.value,
                                  &exact);
        if (v->constant && !exact)
            ws_bit_outside(b, WS_NO_BLOCKS);
    }
}

static WsBitValue *wholes(WsBits *b, const WsBitAgent *a, const GArray *list)
{
    WsBitValue *v = ws_bit_alloc(b, (list->len + 1) * sizeof *v);
    for (guint i = 0; i < list->len; i++)
        v[i] = whole(a, g_array_index(list, guint, i));
    return v;
}

/* Values a compute step reads before it assigns them, and values it assigns. */
static void compile_math(WsBits *b, guint agent, WsBitOp *o)
{
    const WsOp *op = o->op;
    g_autoptr(GArray) read = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) write = g_array_new(FALSE, FALSE, sizeof(guint));
    ws_math_values(op, TRUE, read, write);
    o->n_reads = read->len, o->n_writes = write->len;
    o->reads = wholes(b, &b->agent[agent], read);
    o->writes = wholes(b, &b->agent[agent], write);
}

static gint named_id(const WsBits *b, guint agent, const WsOp *op)
{
    if (op->barrier < 0)
        return op->count > b->p->agent[agent].threads ? 0 : (gint)(ws_named_ids(b->p) + agent);
    return -1;
}

static void use_named(WsBits *b, guint agent, const WsOp *op)
{
    gint id = named_id(b, agent, op);
    if (id >= 0) {
        if (id < (gint)ws_named_ids(b->p)) /* the others are private: no state is kept */
            b->named_of[id] = 0;
        return;
    }
    const WsBarrier *bar = &b->p->barrier[op->barrier];
    for (guint e = 0; e < MAX(bar->array, 1); e++)
        b->named_of[ws_named_id(b->p, bar, e)] = 0;
}

/* Whether the proof has something to do for an operation; one that it does not understand ends it.
 */
static gboolean acts(WsBits *b, const WsOp *op)
{
    gboolean touches = op->n_access || op->n_value || op->n_math;
    switch (ws_op_row(op->kind)->check) {
    case WS_CHECK_RULE:
        return TRUE;
    case WS_CHECK_TOUCH:
    case WS_CHECK_SILENT:
        return touches;
    case WS_CHECK_ASSIGN:
        return touches || (op->var >= 0 && b->c->relevant[op->var]);
    case WS_CHECK_OUTSIDE:
        break;
    }
    g_autofree char *why =
        g_strdup_printf("operation %s is not in the proof", ws_op_kind_text(op->kind));
    ws_bit_outside(b, why);
    return FALSE;
}

static void compile_barrier(WsBits *b, guint agent, WsBitOp *o)
{
    const WsOp *op = o->op;
    WsBitAgent *a = &b->agent[agent];
    o->barrier = op->barrier;
    o->element = ws_bit_expr(b, agent, op->element);
    o->use = ws_bit_expr(b, agent, op->use);
    o->slot = ws_bit_expr(b, agent, op->slot);
    o->parity = ws_bit_expr(b, agent, op->parity);
    o->turn = ws_bit_expr(b, agent, op->turn);
    o->exact = !ws_bit_tainted(b, agent, &o->turn);
    if (op->ctas.kind == WS_CTAS_EXPR)
        o->cta = ws_bit_expr(b, agent, op->ctas.expr);
    if (ws_op_joins(op->kind)) {
        o->named = named_id(b, agent, op);
        use_named(b, agent, op);
    }
    if (op->kind == WS_OP_MBAR_WAIT && op->barrier >= 0)
        a->ret[op->barrier] = 0;
    gboolean rows =
        ws_op_issues(op->kind, WS_QUEUE_ROWS) || (ws_op_loads(op->kind) && op->barrier < 0);
    a->issues[WS_QUEUE_MMA] |= ws_op_issues(op->kind, WS_QUEUE_MMA);
    a->issues[WS_QUEUE_STORES] |= ws_op_issues(op->kind, WS_QUEUE_STORES);
    a->issues[WS_QUEUE_ROWS] |= rows;
    gint q = ws_op_queue(op->kind);
    if (q >= 0 && ws_op_retires(op->kind)) {
        a->ages[q] = MAX(a->ages[q], (guint)CLAMP(op->n, 0, 100) + 2);
        if (a->ages[q] > WS_BIT_AGES)
            ws_bit_outside(b, "more groups in flight than the proof counts");
    }
}

static WsBitOp *compile_op(WsBits *b, guint agent, const WsOp *op)
{
    WsBitOp *o = ws_bit_alloc(b, sizeof *o);
    b->agent[agent].lanes |= op->breadth != WS_BREADTH_LEADER && !op->tree->leader;
    o->op = op;
    o->kind = (guint8)op->kind;
    o->leader = op->breadth == WS_BREADTH_LEADER || op->tree->leader;
    o->barrier = o->named = o->local = -1;
    compile_barrier(b, agent, o);
    ws_bit_check_form(b, o);
    const GArray *need = b->c->need[op->index];
    o->n_need = need ? need->len : 0;
    o->need = need ? (gint *)(gpointer)need->data : NULL;
    if (op->mma && op->mma->first) {
        const WsExpr *w = g_hash_table_lookup(b->c->rewritten, op->mma->first);
        o->first = ws_bit_cond(b, agent, w ? w : op->mma->first);
    }
    if (op->var >= 0 && ws_op_assigns(op->kind) && b->c->relevant[op->var]) {
        o->local = ws_bit_local_of(b, agent, op->var);
        o->set = ws_bit_expr(b, agent, op->set);
        if (!op->set)
            o->set.value = op->kind == WS_OP_ADVANCE ? 1 : 0;
    }
    compile_values(b, agent, o);
    if (op->kind == WS_OP_MATH)
        compile_math(b, agent, o);
    ws_bit_access(b, agent, o, op->n_access);
    if (op->kind == WS_OP_BULK_COPY && op->ctas.kind != WS_CTAS_OWN &&
        op->ctas.kind != WS_CTAS_EXPR)
        ws_bit_outside(b, "a copy to several CTAs at once");
    if (ws_op_peeks(op->kind) && op->ctas.kind != WS_CTAS_EXPR)
        ws_bit_outside(b, "a read or write of no one CTA");
    return o;
}

/* --- code ------------------------------------------------------------------------------------- */
typedef struct {
    WsBits *b;
    guint agent;
    GArray *code;   /* WsBitInstr */
    GArray *loop;   /* WsBitLoop */
    GHashTable *at; /* loop or branch -> 1 + its place */
    guint hidden;
    guint16 begun[WS_MAX_SPLIT]; /* where a split was last asked anew */
} Compiler;

static void compile_tree(Compiler *k, const WsTree *t);

static WsBitInstr *emit(Compiler *k, WsBitKind kind)
{
    WsBitInstr x = { .kind = kind };
    if (k->code->len >= MAX_CODE)
        ws_bit_outside(k->b, "an agent with too many steps");
    g_array_append_val(k->code, x);
    return &g_array_index(k->code, WsBitInstr, k->code->len - 1);
}

static const WsExpr *rewritten(const Compiler *k, const WsExpr *e)
{
    const WsExpr *w = g_hash_table_lookup(k->b->c->rewritten, e);
    return w ? w : e;
}

static void see_symbol(const WsExpr *e, gpointer data)
{
    WsBits *b = ((gpointer *)data)[0];
    GArray *need = ((gpointer *)data)[1];
    gint s = e->op == WS_EXPR_VAR ? e->var - (gint)b->c->n_vars : -1;
    if (s > 0)
        g_array_append_val(need, s);
}

/* Symbols in an expression (rewritten), as often as they stand there. */
static gint *symbols_in(WsBits *b, const WsExpr *e, guint *n)
{
    g_autoptr(GArray) need = g_array_new(FALSE, FALSE, sizeof(gint));
    gpointer data[2] = { b, need };
    ws_expr_visit(e, see_symbol, data);
    gint *list = ws_bit_alloc(b, (need->len + 1) * sizeof(gint));
    if (need->len)
        memcpy(list, need->data, need->len * sizeof(gint));
    *n = need->len;
    return list;
}

static void tell_rounds(Compiler *k, const WsTree *t, guint split)
{
    for (t = t->parent; t && t->kind != WS_TREE_LOOP;)
        t = t->parent;
    for (guint i = 0; i < k->loop->len; i++)
        if (g_array_index(k->loop, WsBitLoop, i).tree == t)
            g_array_index(k->loop, WsBitLoop, i).rounds |= 1ull << (split - 1);
}

static gboolean has_tiles(const WsTree *t)
{
    gboolean has = t && t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES;
    for (guint i = 0; t && i < t->n_kids && !has; i++)
        has = has_tiles(t->kid[i]);
    return has;
}

static void compile_loop(Compiler *k, const WsTree *t)
{
    WsBits *b = k->b;
    WsBitLoop l = { .tree = t, .symbol = -1, .index = -1, .total = -1 };
    l.enter = l.begin = (guint16)k->code->len;
    l.passes = t->n_kids && has_tiles(t->kid[0]) && b->p->tiles->launch != WS_LAUNCH_SINGLE;
    const WsExpr *step = ws_step(b->c, t);
    l.from = ws_bit_expr(b, k->agent, ws_from(b->c, t));
    l.by = ws_bit_expr(b, k->agent, step);
    if (!step)
        l.by.value = 1;
    if (t->over == WS_OVER_COUNT && t->count) {
        const WsForm *f = g_hash_table_lookup(b->c->forms, rewritten(k, t->count));
        if (f) {
            l.symbol = f->symbol;
            l.rest = ws_bit_expr_plain(b, k->agent, f->rest);
            l.need = symbols_in(b, f->rest, &l.n_need);
            const WsSymbol *s = f->symbol >= 0 ? b->c->symbols->pdata[f->symbol] : NULL;
            if (s && s->by_round) /* the loop around it tells the time */
                tell_rounds(k, t, s->split);
            else if (s)
                l.split = s->split;
            if (l.split && g_hash_table_contains(b->c->begun, t))
                l.begin = k->begun[l.split - 1];
            if (s && l.passes && !b->c->endless &&
                ((WsSymbol *)b->c->symbols->pdata[ws_base_of(b->c, l.symbol)])->most > WS_FEW)
                b->c->endless = g_strdup_printf("a loop over tiles inside a counted loop: every "
                                                "round matters, and there is no end to them: %s",
                                                t->name);
        } else {
            l.rest = ws_bit_expr_plain(b, k->agent, NULL);
        }
    } else {
        l.rest = ws_bit_expr_plain(b, k->agent, NULL);
    }
    l.index = ws_bit_local_of(b, k->agent, t->index_var);
    l.total = ws_bit_local_of(b, k->agent, t->total_var);
    if (t->over == WS_OVER_TILES && b->p->tiles->launch == WS_LAUNCH_DYNAMIC &&
        !(l.from.constant && l.from.value == 0 && l.by.constant && l.by.value == 1))
        ws_bit_outside(b, "a loop over claimed tiles that does not make every round"); /* L-TILE */
    l.by_index = t->index_var >= 0 && b->c->relevant[t->index_var];
    guint number = k->loop->len;
    g_array_append_val(k->loop, l);
    g_hash_table_insert(k->at, (gpointer)t, GUINT_TO_POINTER(l.enter + 1u));
    emit(k, WS_BIT_ENTER)->loop = (guint16)number;
    if (t->n_kids)
        compile_tree(k, t->kid[0]);
    emit(k, WS_BIT_BACK)->loop = (guint16)number;
    g_array_index(k->loop, WsBitLoop, number).head = (guint16)k->code->len;
    emit(k, WS_BIT_HEAD)->loop = (guint16)number;
}

/* L-PRIVATE-IF: both sides are gone through, the second with what was defined before the first. */
static void compile_private(Compiler *k, const WsTree *t)
{
    WsBitAgent *a = &k->b->agent[k->agent];
    guint16 depth = (guint16)k->hidden++;
    a->private_depth = MAX(a->private_depth, k->hidden);
    emit(k, WS_BIT_HIDE)->to = depth;
    compile_tree(k, t->kid[0]);
    emit(k, WS_BIT_OTHER)->to = depth;
    compile_tree(k, t->n_kids > 1 ? t->kid[1] : NULL);
    emit(k, WS_BIT_SHOW)->to = depth;
    k->hidden--;
}

static void compile_branch(Compiler *k, const WsTree *t)
{
    if (t->cond && g_hash_table_contains(k->b->c->private_if, t)) {
        compile_private(k, t);
        return;
    }
    g_hash_table_insert(k->at, (gpointer)t, GUINT_TO_POINTER(k->code->len + 1));
    guint test = k->code->len;
    if (t->cond) {
        emit(k, WS_BIT_IF)->cond = ws_bit_cond(k->b, k->agent, rewritten(k, t->cond));
        g_array_index(k->code, WsBitInstr, test).branch = t;
        const WsBitCond *cond = g_array_index(k->code, WsBitInstr, test).cond;
        const WsSymbol *s =
            cond->kind == WS_COND_LETTER ? k->b->c->symbols->pdata[cond->symbol] : NULL;
        if (s && s->by_round)
            tell_rounds(k, t, s->split);
    }
    if (t->n_kids)
        compile_tree(k, t->kid[0]);
    if (!t->cond)
        return;
    gboolean other = t->n_kids > 1 && t->kid[1];
    guint jump = k->code->len;
    if (other)
        emit(k, WS_BIT_JUMP);
    g_array_index(k->code, WsBitInstr, test).to = (guint16)k->code->len;
    if (!other)
        return;
    compile_tree(k, t->kid[1]);
    g_array_index(k->code, WsBitInstr, jump).to = (guint16)k->code->len;
}

static void compile_begins(Compiler *k, guint64 splits)
{
    for (; splits; splits &= splits - 1) {
        const guint split = (guint)__builtin_ctzll(splits);
        k->begun[split] = (guint16)k->code->len;
        emit(k, WS_BIT_BEGIN)->to = (guint16)split;
    }
}

static void compile_tree(Compiler *k, const WsTree *t)
{
    if (!t)
        return;
    const guint64 *splits = g_hash_table_lookup(k->b->c->begins, t);
    if (splits)
        compile_begins(k, *splits);
    switch (t->kind) {
    case WS_TREE_SEQ:
        for (guint i = 0; i < t->n_kids; i++)
            compile_tree(k, t->kid[i]);
        break;
    case WS_TREE_LOOP:
        compile_loop(k, t);
        break;
    case WS_TREE_BRANCH:
        compile_branch(k, t);
        break;
    case WS_TREE_OP:
        if (acts(k->b, t->op)) {
            WsBitOp *o = compile_op(k->b, k->agent, t->op);
            emit(k, WS_BIT_OP)->op = o;
        }
        break;
    }
}

static guint loop_of(const Compiler *k, const WsTree *t)
{
    for (guint i = 0; i < k->loop->len; i++)
        if (g_array_index(k->loop, WsBitLoop, i).tree == t)
            return i;
    return 0;
}

static void compile_sites(Compiler *k, WsBitAgent *a)
{
    const GArray *sites = k->b->c->site[k->agent];
    a->site = ws_bit_alloc(k->b, (sites->len + 1) * sizeof *a->site);
    for (guint i = 0; i < sites->len; i++) {
        WsBitSite *s = &a->site[a->n_sites++];
        s->site = &g_array_index(sites, WsSite, i);
        const WsTree *node = s->site->node;
        s->symbol = s->site->form->symbol >= 0 ? ws_base_of(k->b->c, s->site->form->symbol) : -1;
        s->at = (guint16)(GPOINTER_TO_UINT(g_hash_table_lookup(k->at, node)) - 1);
        if (node->kind == WS_TREE_OP) { /* `first` of an mma */
            for (guint n = 0; n < k->code->len; n++) {
                const WsBitInstr *x = &g_array_index(k->code, WsBitInstr, n);
                if (x->op && x->op->op == node->op)
                    s->at = (guint16)n;
            }
        }
        s->loop = node->kind == WS_TREE_LOOP ? (gint)loop_of(k, node) : -1;
        s->moving = s->site->moving ? (gint)loop_of(k, s->site->moving) : -1;
        s->number = s->site->number >= 0 ? ws_bit_local_of(k->b, k->agent, s->site->number) : -1;
        s->by = s->site->form->factor > 0 ? -s->site->by : s->site->by;
        ws_bit_find_reach(k->b->c, s);
        for (const WsTree *t = node->parent; t; t = t->parent)
            s->n_around += t->kind == WS_TREE_LOOP;
        s->around = ws_bit_alloc(k->b, (s->n_around + 1) * sizeof(guint16));
        guint n = 0;
        for (const WsTree *t = node->parent; t; t = t->parent)
            if (t->kind == WS_TREE_LOOP)
                s->around[n++] = (guint16)loop_of(k, t);
    }
}

static void compile_starts(WsBits *b, guint agent, WsBitAgent *a)
{
    const WsProgram *p = b->p;
    a->start = ws_bit_alloc(b, (p->n_vars + 1) * sizeof *a->start);
    for (guint v = 0; v < p->n_vars; v++) {
        const WsVar *var = &p->var[v];
        if (var->kind != WS_VAR_COUNTER || var->agent != (gint)agent || !var->value ||
            !b->c->relevant[v])
            continue;
        WsBitStart *s = &a->start[a->n_starts++];
        s->local = ws_bit_local_of(b, agent, (gint)v);
        s->value = ws_bit_expr(b, agent, var->value);
        const WsExpr *w = g_hash_table_lookup(b->c->rewritten, var->value);
        s->need = symbols_in(b, w ? w : var->value, &s->n_need);
    }
}

static void compile_agent(WsBits *b, guint agent)
{
    const WsProgram *p = b->p;
    WsBitAgent *a = &b->agent[agent];
    a->a = &p->agent[agent];
    a->grid = ws_value_grids(p, agent);
    a->var = ws_bit_alloc(b, (p->n_vars + 1) * sizeof(gint));
    a->ret = ws_bit_alloc(b, (p->n_barriers + 1) * sizeof(gint16));
    a->feed = ws_bit_alloc(b, (p->n_barriers + 1) * sizeof(gint16));
    memset(a->ret, 0xff, (p->n_barriers + 1) * sizeof(gint16));
    a->busy = g_array_new(FALSE, FALSE, sizeof(WsBusyKey));
    Compiler k = { .b = b, .agent = agent };
    k.code = g_array_new(FALSE, FALSE, sizeof(WsBitInstr));
    k.loop = g_array_new(FALSE, FALSE, sizeof(WsBitLoop));
    k.at = g_hash_table_new(NULL, NULL);
    compile_starts(b, agent, a);
    emit(&k, WS_BIT_JUMP)->to = 1; /* place 0: not begun */
    compile_tree(&k, a->a->body);
    emit(&k, WS_BIT_END);
    compile_sites(&k, a);
    for (guint q = 0; q < 3; q++)
        a->ages[q] = a->issues[q] ? MAX(a->ages[q], 2) : 0;
    a->n_code = k.code->len, a->n_loops = k.loop->len;
    a->code = ws_bit_alloc(b, k.code->len * sizeof(WsBitInstr));
    memcpy(a->code, k.code->data, k.code->len * sizeof(WsBitInstr));
    a->loop = ws_bit_alloc(b, (k.loop->len + 1) * sizeof(WsBitLoop));
    if (k.loop->len)
        memcpy(a->loop, k.loop->data, k.loop->len * sizeof(WsBitLoop));
    g_array_unref(k.code);
    g_array_unref(k.loop);
    g_hash_table_unref(k.at);
    a->counts = ws_bit_alloc(b, (a->n_locals + 1) * sizeof(gboolean));
    for (guint i = 0; i < a->n_locals; i++) {
        const WsVar *v = &p->var[a->var[i]];
        a->counts[i] =
            b->c->relevant[a->var[i]] &&
            (v->kind == WS_VAR_TOTAL || v->kind == WS_VAR_COUNTER || v->kind == WS_VAR_LET);
    }
}

static gboolean hands_on(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && ws_op_hands_on(p->op[i]->kind))
            return TRUE;
    return FALSE;
}

WsBits *ws_bits_new(const WsProgram *p, guint policy, WsHow how)
{
    WsBits *b = g_new0(WsBits, 1);
    b->p = p, b->policy = policy;
    b->may_owe = (how & WS_HOW_OWE) && p->tiles->launch != WS_LAUNCH_SINGLE;
    b->owe_from = how & WS_HOW_OWN ? 0 : 1;
    b->owed = -1;
    b->wide = ws_bit_has_wide();
    b->unwatched = ws_unwatched(p);
    b->claims = p->tiles->launch == WS_LAUNCH_DYNAMIC || hands_on(p);
    b->memory = g_ptr_array_new_with_free_func(g_free);
    b->author = g_array_new(FALSE, FALSE, sizeof(WsLanesAt));
    b->meets = g_hash_table_new(NULL, NULL);
    b->accesses = g_ptr_array_new();
    b->ranks = MAX(p->cluster, 1);
    b->n_agents = p->n_agents;
    b->n_inst = b->ranks * p->n_agents;
    b->c = ws_control_new(p, how);
    if (b->n_inst > 32 || b->n_agents > 32)
        ws_bit_outside(b, "more than 32 agents");
    if (b->c->outside)
        return b;
    for (guint s = 0; s < b->c->symbols->len; s++)
        b->split |= ((const WsSymbol *)b->c->symbols->pdata[s])->split;
    b->named_of = ws_bit_alloc(b, (ws_named_ids(p) + p->n_agents) * sizeof(gint));
    for (guint i = 0; i < ws_named_ids(p) + p->n_agents; i++)
        b->named_of[i] = -1;
    ws_bit_check_prologue(b);
    b->agent = ws_bit_alloc(b, p->n_agents * sizeof(WsBitAgent));
    for (guint a = 0; a < p->n_agents; a++)
        compile_agent(b, a);
    for (guint i = 0; i < ws_named_ids(p) + p->n_agents; i++)
        if (b->named_of[i] >= 0)
            b->named_of[i] = (gint)b->n_named++;
    return b;
}

gsize ws_bits_size(const WsBits *b)
{
    return b->bytes + b->memory->len * ((gsize)1 << 15);
}

void ws_bits_free(WsBits *b)
{
    if (!b)
        return;
    for (guint a = 0; b->agent && a < b->n_agents; a++) {
        if (b->agent[a].busy)
            g_array_unref(b->agent[a].busy);
        g_free(b->agent[a].grid);
    }
    for (guint i = 0; i < b->accesses->len; i++)
        g_array_unref(((WsBitAccess *)b->accesses->pdata[i])->corner);
    g_ptr_array_unref(b->accesses);
    ws_control_free(b->c);
    g_array_unref(b->author);
    g_hash_table_unref(b->meets);
    g_ptr_array_unref(b->memory);
    g_free(b->unwatched);
    g_free(b->now);
    g_free(b);
}
