/* What is fixed before a run: places, relevant names, symbols, named barriers. */
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/product.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "verify/assume.h"
#include "verify/state.h"
#include "verify/text.h"

#include <string.h>

void plan_fail(Plan *plan, WsVerifyAnswer answer, const char *format, ...)
{
    va_list args;
    if (plan->reason)
        return;
    va_start(args, format);
    plan->reason = g_strdup_vprintf(format, args);
    plan->answer = answer;
    va_end(args);
}

/* --- what is evaluated ------------------------------------------------------------------------ */
static void ask(const Plan *plan, const WsTree *t, const WsExpr *e, Ask how, PlanVisit visit,
                gpointer data)
{
    if (e)
        visit(data, t, plan_form(plan, e, how == ASK_TRUTH), how);
}

static void ask_of_op(const Plan *plan, const WsOp *op, const WsTree *t, PlanVisit visit,
                      gpointer data)
{
    const WsExpr *of_slot[] = { op->element, op->slot, op->parity };
    for (guint i = 0; i < G_N_ELEMENTS(of_slot) && op->barrier >= 0; i++)
        ask(plan, t, of_slot[i], ASK_NUMBER, visit, data);
    ask(plan, t, op->ctas.expr, ASK_NUMBER, visit, data);
    ask(plan, t, op->turn, ASK_TURN, visit, data);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        const WsExpr *of_view[] = { a->element, a->stage, a->row0, a->col0 };
        for (guint k = 0; k < (plan_whole_rows(plan, op, i) ? 3 : G_N_ELEMENTS(of_view)); k++)
            ask(plan, t, of_view[k], ASK_NUMBER, visit, data);
        if (plan->p->buffer[a->buffer].stages > 1)
            ask(plan, t, a->use, ASK_USE, visit, data);
    }
    for (guint i = 0; i < op->n_value; i++) {
        ask(plan, t, op->value[i].row0, ASK_NUMBER, visit, data);
        ask(plan, t, op->value[i].col0, ASK_NUMBER, visit, data);
    }
    if (op->mma)
        ask(plan, t, op->mma->first, ASK_TRUTH, visit, data);
    if (op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE)
        ask(plan, t, op->set, op->kind == WS_OP_LET ? ASK_LET : ASK_ADVANCE, visit, data);
}

void plan_visit(const Plan *plan, const WsTree *t, PlanVisit visit, gpointer data)
{
    if (t->kind == WS_TREE_OP)
        ask_of_op(plan, t->op, t, visit, data);
    if (t->kind == WS_TREE_BRANCH && !plan_private(plan, t))
        ask(plan, t, t->cond, ASK_TRUTH, visit, data);
    if (t->kind != WS_TREE_LOOP)
        return;
    if (t->over == WS_OVER_COUNT)
        ask(plan, t, t->count, ASK_COUNT, visit, data);
    if (!(plan_start(plan, t) & START_0))
        ask(plan, t, t->from, ASK_NUMBER, visit, data);
    if (!(plan_start(plan, t) & STEP_1))
        ask(plan, t, t->step_by, ASK_NUMBER, visit, data);
}

static gboolean is_decided(const Plan *plan, const WsExpr *e)
{
    if (e->op == WS_EXPR_VAR)
        return plan_is_var(plan, e) && plan->p->var[e->var].kind == WS_VAR_CTA;
    for (guint i = 0; i < e->n_args; i++)
        if (!is_decided(plan, e->arg[i]))
            return FALSE;
    return e->op == WS_EXPR_INT || e->n_args > 0;
}

/* What each CTA decides by its rank alone is gone through as it is. */
static gboolean is_private(const Plan *plan, const WsTree *t)
{
    if (t->kind == WS_TREE_BRANCH && t->cond && is_decided(plan, t->cond))
        return FALSE;
    if (t->kind == WS_TREE_OP) {
        static const WsOpKind may[] = { WS_OP_MATH, WS_OP_MARK, WS_OP_LD_GLOBAL, WS_OP_ST_GLOBAL,
                                        WS_OP_RED_GLOBAL };
        for (guint i = 0; i < G_N_ELEMENTS(may); i++)
            if (t->op->kind == may[i])
                return TRUE;
        return t->op->kind == WS_OP_LET && plan->relevant && !plan->relevant[t->op->var];
    }
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i] && !is_private(plan, t->kid[i]))
            return FALSE;
    return t->kind == WS_TREE_SEQ || t->kind == WS_TREE_BRANCH;
}

gboolean plan_private(const Plan *plan, const WsTree *t)
{
    return t->kind == WS_TREE_BRANCH && is_private(plan, t);
}

/* --- relevant names --------------------------------------------------------------------------- */
typedef struct {
    Plan *plan;
    gboolean sets, more;
} Mark;

static void mark_names(Mark *m, const WsExpr *e)
{
    if (plan_is_var(m->plan, e) && !m->plan->relevant[e->var]) {
        m->plan->relevant[e->var] = 1;
        m->more = TRUE;
        const WsVar *v = &m->plan->p->var[e->var];
        if (v->kind == WS_VAR_COUNTER && v->value)
            mark_names(m, plan_form(m->plan, v->value, FALSE));
    }
    for (guint i = 0; i < e->n_args; i++)
        mark_names(m, e->arg[i]);
}

static void mark(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Mark *m = data;
    const gboolean set = ask == ASK_LET || ask == ASK_ADVANCE;
    if (!set || m->plan->relevant[t->op->var])
        mark_names(m, e);
}

static void all_nodes(Plan *plan, PlanVisit visit, gpointer data)
{
    for (guint a = 0; a < plan->p->n_agents; a++)
        for (gint i = 1; i <= plan->agent[a].n_places; i++)
            plan_visit(plan, plan->agent[a].place[i].tree, visit, data);
}

gboolean plan_names_symbol(Plan *plan, const WsExpr *e)
{
    gboolean names = e->op != WS_EXPR_INT && plan_symbol(plan, e);
    names |= plan_is_var(plan, e) && plan->of_symbol[e->var];
    for (guint i = 0; i < e->n_args; i++)
        names |= plan_names_symbol(plan, e->arg[i]);
    return names;
}

void plan_count_symbols(Plan *plan, const WsExpr *e, gboolean asks, gint64 *times)
{
    guint symbol = e->op == WS_EXPR_INT ? 0 : plan_symbol(plan, e);
    if (symbol && (asks || !g_array_index(plan->c->symbol, Symbol, symbol).round))
        times[symbol]++;
    for (guint i = 0; !symbol && i < e->n_args && (asks || e->op != WS_EXPR_MOD); i++)
        plan_count_symbols(plan, e->arg[i], asks, times);
}

static void mark_made(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Mark *m = data;
    if ((ask != ASK_LET && ask != ASK_ADVANCE) || m->plan->of_symbol[t->op->var] ||
        !plan_names_symbol(m->plan, e))
        return;
    m->plan->of_symbol[t->op->var] = 1;
    m->more = TRUE;
}

/* A name of the launch or of the tile stands in it as the program has it, or in what is made of. */
static gboolean says_name(const Plan *plan, const WsExpr *e)
{
    gboolean says = (text_leaves(plan->p, e, FALSE) & (LEAF_LAUNCH | LEAF_TILE)) != 0 ||
                    (plan_is_var(plan, e) && plan->of_name[e->var]);
    for (guint i = 0; i < e->n_args && !says; i++)
        says = says_name(plan, e->arg[i]);
    return says;
}

static gboolean has_name(const Plan *plan, const WsExpr *e)
{
    g_autoptr(WsExpr) all = e ? plan_whole(plan, e) : NULL;
    return e && says_name(plan, all ? all : e);
}

gboolean plan_turn_by_names(Plan *plan, const WsOp *op)
{
    return plan_names_symbol(plan, plan_form(plan, op->turn, FALSE)) && has_name(plan, op->turn);
}

static void find_names_in(Plan *plan)
{
    const WsProgram *p = plan->p;
    plan->of_name = g_new0(guint8, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        plan->of_name[v] = p->var[v].kind == WS_VAR_COUNTER && has_name(plan, p->var[v].value);
    for (gboolean more = TRUE; more;) {
        more = FALSE;
        for (guint a = 0; a < p->n_agents; a++)
            for (gint i = 1; i <= plan->agent[a].n_places; i++) {
                const WsOp *op = plan->agent[a].place[i].tree->op;
                if (!op || op->var < 0 || plan->of_name[op->var] || !has_name(plan, op->set))
                    continue;
                plan->of_name[op->var] = 1;
                more = TRUE;
            }
    }
}

static void find_made(Plan *plan)
{
    const WsProgram *p = plan->p;
    Mark m = { .plan = plan, .more = TRUE };
    plan->of_symbol = g_new0(guint8, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        plan->of_symbol[v] = p->var[v].kind == WS_VAR_COUNTER && p->var[v].value &&
                             plan_names_symbol(plan, plan_form(plan, p->var[v].value, FALSE));
    while (m.more) {
        m.more = FALSE;
        all_nodes(plan, mark_made, &m);
    }
}

/* --- places ----------------------------------------------------------------------------------- */
static void number_tree(Plan *plan, AgentPlan *a, const WsTree *t, GArray *place)
{
    Place new = { .tree = t, .loop = t->kind == WS_TREE_LOOP ? a->n_loops++ : -1 };
    g_hash_table_insert(a->number, (gpointer)t, GUINT_TO_POINTER(place->len));
    g_array_append_val(place, new);
    if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES) {
        for (const WsTree *up = t->parent; up; up = up->parent)
            if (up->kind == WS_TREE_LOOP && up->over == WS_OVER_TILES)
                plan_fail(plan, WS_VERIFY_REFUSED, "a loop over tiles inside another");
    }
    const WsOp *op = t->kind == WS_TREE_OP ? t->op : NULL;
    if (op && ws_op_retires(op->kind)) {
        gint64 *longest = &a->longest[ws_op_queue(op->kind)];
        *longest = MAX(*longest, op->n);
        if (op->n < 0 || op->n + 6 > MAX_GROUPS)
            plan_fail(plan, WS_VERIFY_REFUSED, "a wait that leaves so many groups");
    }
    if (a->n_loops > 4000)
        plan_fail(plan, WS_VERIFY_REFUSED, "more than 4000 loops");
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i])
            number_tree(plan, a, t->kid[i], place);
}

/* `place` is in a sequence in which, or within whose later members, the loop stands, and no other
 * loop lies between. */
static gboolean comes_before(const WsTree *place, const WsTree *loop)
{
    const WsTree *list = place->parent;
    for (const WsTree *t = loop->parent; t && list && list->kind == WS_TREE_SEQ; t = t->parent) {
        if (t == list)
            return TRUE;
        if (t->kind == WS_TREE_LOOP)
            return FALSE;
    }
    return FALSE;
}

/* Whether the count of a loop has a symbol past those that anew_times() can tell apart. */
static gboolean names_far(Plan *plan, const WsTree *loop)
{
    g_autofree gint64 *named = g_new0(gint64, plan->c->symbol->len);
    gboolean far = FALSE;
    plan_count_symbols(plan, plan_form(plan, loop->count, FALSE), FALSE, named);
    for (guint k = 64; k < plan->c->symbol->len; k++)
        far |= named[k] != 0;
    return far;
}

/* A place stands in front of its loop, and in the same loops: it is come by once before each time
 * that the loop is entered, and never while it runs. */
static void mark_anew(Plan *plan)
{
    for (guint i = 0; i < plan->c->anew->len; i++) {
        const Anew *x = &g_array_index(plan->c->anew, Anew, i);
        AgentPlan *a = x->agent < plan->p->n_agents ? &plan->agent[x->agent] : NULL;
        if (!a || x->place < 2 || x->place >= x->loop || x->loop > a->n_places ||
            a->place[x->loop].tree->kind != WS_TREE_LOOP ||
            a->place[x->loop].tree->over != WS_OVER_COUNT || a->place[x->loop].begun ||
            !comes_before(a->place[x->place].tree, a->place[x->loop].tree) ||
            names_far(plan, a->place[x->loop].tree)) {
            plan_fail(plan, WS_VERIFY_REFUSED, "a place where the count of no loop is asked again");
            return;
        }
        a->place[x->place].asks_anew = TRUE;
        a->place[x->loop].begun = x->place;
    }
}

static gboolean hands_over(const WsTree *t)
{
    return t->op && (t->op->kind == WS_OP_CLAIM || t->op->kind == WS_OP_TAKE);
}

/* With a dynamic launch every agent that makes tiles claims or takes the next one once per round,
 * and one of them claims: all see one sequence. */
static void check_claims(Plan *plan)
{
    const WsProgram *p = plan->p;
    guint claims = 0, loops = 0;
    gboolean fine = TRUE;
    for (guint a = 0; a < p->n_agents; a++) {
        guint all = 0, direct = 0, tiles = 0;
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsTree *t = plan->agent[a].place[i].tree;
            gint64 from, step;
            all += hands_over(t);
            claims += t->op && t->op->kind == WS_OP_CLAIM;
            if (t->kind != WS_TREE_LOOP || t->over != WS_OVER_TILES)
                continue;
            fine &= tiles++ == 0;
            for (guint k = 0; k < t->kid[0]->n_kids; k++)
                direct += hands_over(t->kid[0]->kid[k]);
            fine &= plan_fixed(plan, t, &from, &step) && from == 0 && step == 1;
        }
        fine &= all == direct && all == tiles;
        loops += tiles;
    }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC ? !fine || claims != (loops > 0) || p->cluster > 1
                                              : claims > 0)
        plan_fail(plan, WS_VERIFY_REFUSED, "a claim of tiles of this form");
}

/* --- named barriers --------------------------------------------------------------------------- */
static gint find_id(const Plan *plan, gint id)
{
    guint n = 0;
    while (n < plan->n_names && plan->name_id[n] != id)
        n++;
    return n < plan->n_names ? (gint)n : -1;
}

static gint name_of(const Plan *plan, const WsOp *op, guint element, gint64 *count)
{
    if (op->barrier >= 0) {
        const WsBarrier *b = &plan->p->barrier[op->barrier];
        *count = b->threads[element];
        return b->hw_id[element];
    }
    *count = op->count;
    return op->count > plan->p->agent[op->agent].threads ? 0 : -1;
}

gint plan_name(const Plan *plan, const WsOp *op, gint64 *count)
{
    gint64 element = 0;
    if (op->barrier >= 0 && !ws_expr_is_int(op->element, &element))
        return -2;
    gint id = name_of(plan, op, (guint)element, count);
    return id < 0 ? -1 : find_id(plan, id);
}

static void find_names(Plan *plan)
{
    const WsProgram *p = plan->p;
    guint32 used = 0;
    for (guint a = 0; a < p->n_agents; a++)
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsOp *op = plan->agent[a].place[i].tree->op;
            gint64 only = -1, count;
            if (!op || !ws_op_joins(op->kind))
                continue;
            if (op->barrier >= 0)
                ws_expr_is_int(op->element, &only);
            for (guint e = 0; e < (op->barrier >= 0 ? p->barrier[op->barrier].array : 1); e++) {
                const gint id = only < 0 || only == e ? name_of(plan, op, e, &count) : -1;
                if (id >= 32)
                    plan_fail(plan, WS_VERIFY_REFUSED, "named barrier %d", id);
                used |= id < 0 ? 0 : (guint32)1 << (id & 31);
            }
        }
    plan->name_id = g_new0(gint, 33);
    for (gint id = 0; id < 32; id++)
        if (used >> id & 1)
            plan->name_id[plan->n_names++] = id;
}

typedef struct {
    Plan *plan;
    gint64 *asks;
} AsksOf;

/* What decides nothing is not worked out; it has a value all the same: what a counter goes on by in
 * any case, what a let or a condition is unless it is given that (lemma GIVEN). */
static void check_value(Plan *plan, const WsExpr *e, gboolean given)
{
    g_autofree char *text = e ? ws_expr_print(e) : NULL;
    if (e && text_divides(e) && assumptions_divide(plan->p, e, given))
        plan_fail(plan, WS_VERIFY_REFUSED, "\"%s\" may have no value", text);
}

static void check_unasked(Plan *plan)
{
    const WsProgram *p = plan->p;
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_COUNTER && !plan->relevant[v])
            check_value(plan, p->var[v].value, TRUE);
    for (guint a = 0; a < p->n_agents; a++)
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsTree *t = plan->agent[a].place[i].tree;
            if (t->op && t->op->var >= 0 && !plan->relevant[t->op->var])
                check_value(plan, t->op->set, t->op->kind == WS_OP_LET);
            if (plan_private(plan, t))
                check_value(plan, t->cond, TRUE);
        }
}

static void note_asks(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    AsksOf *all = data;
    plan_count_symbols(all->plan, e, TRUE, all->asks);
}

Plan *plan_new(const WsProgram *p, Certificate *c)
{
    Plan *plan = g_new0(Plan, 1);
    plan->p = p;
    plan->c = c;
    plan->n_inst = p->cluster * p->n_agents;
    plan->agent = g_new0(AgentPlan, p->n_agents + 1);
    plan->lanes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    plan->view = g_array_new(FALSE, FALSE, sizeof(View));
    plan->reader = g_array_new(FALSE, FALSE, sizeof(Reader));
    plan->cells =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    for (guint a = 0; a < p->n_agents; a++) {
        AgentPlan *ap = &plan->agent[a];
        GArray *place = g_array_sized_new(FALSE, TRUE, sizeof(Place), 64);
        g_array_set_size(place, 1);
        ap->number = g_hash_table_new(NULL, NULL);
        number_tree(plan, ap, p->agent[a].body, place);
        ap->n_places = (gint)place->len - 1;
        ap->place = (Place *)(gpointer)g_array_free(place, FALSE);
        plan_values(plan, a);
    }
    mark_anew(plan);
    check_claims(plan);
    plan_forms(plan);
    Mark m = { .plan = plan, .more = TRUE };
    plan->relevant = g_new0(guint8, p->n_vars + 1);
    while (m.more) {
        m.more = FALSE;
        all_nodes(plan, mark, &m);
    }
    plan_growth(plan);
    check_unasked(plan);
    for (guint a = 0; a < p->n_agents; a++) {
        AsksOf all = { plan, g_new0(gint64, c->symbol->len) };
        plan->agent[a].asks = all.asks;
        for (gint i = 1; i <= plan->agent[a].n_places; i++)
            plan_visit(plan, plan->agent[a].place[i].tree, note_asks, &all);
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].agent == (gint)a && p->var[v].value)
                plan_count_symbols(plan, plan_form(plan, p->var[v].value, FALSE), TRUE, all.asks);
    }
    if (p->n_agents > 30)
        plan_fail(plan, WS_VERIFY_REFUSED, "more than 30 agents");
    find_made(plan);
    find_names_in(plan);
    plan->slot0 = g_new0(guint, p->n_barriers + 1);
    for (guint b = 0; b < p->n_barriers; b++) {
        plan->slot0[b] = plan->n_slots;
        if (p->barrier[b].kind == WS_BARRIER_MBARRIER)
            plan->n_slots += p->barrier[b].array * p->barrier[b].slots;
    }
    plan->arrivals = g_new0(guint, plan->n_slots + 1);
    for (guint b = 0; b < p->n_barriers; b++)
        for (guint s = 0; p->barrier[b].kind == WS_BARRIER_MBARRIER &&
                          s < p->barrier[b].array * p->barrier[b].slots;
             s++)
            plan->arrivals[plan->slot0[b] + s] = p->barrier[b].arrivals[s / p->barrier[b].slots];
    plan->unseen = g_malloc(p->n_barriers + 1);
    memset(plan->unseen, 1, p->n_barriers + 1);
    for (guint a = 0; a < p->n_agents; a++)
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsOp *op = plan->agent[a].place[i].tree->op;
            if (op && op->barrier >= 0 &&
                (op->kind != WS_OP_MBAR_ARRIVE ||
                 op->count != (op->per ? p->agent[a].threads / op->per : 1)))
                plan->unseen[op->barrier] = 0;
        }
    find_names(plan);
    plan_readers(plan);
    return plan;
}

void plan_free(Plan *plan)
{
    for (guint a = 0; a < plan->p->n_agents; a++) {
        AgentPlan *ap = &plan->agent[a];
        for (guint v = 0; v < plan->p->agent[a].n_values; v++) {
            g_array_unref(ap->row_cut[v]);
            g_array_unref(ap->col_cut[v]);
        }
        g_free(ap->row_cut);
        g_free(ap->col_cut);
        g_free(ap->first_cell);
        g_free(ap->place);
        g_free(ap->asks);
        g_hash_table_unref(ap->number);
    }
    plan_forms_free(plan);
    g_hash_table_unref(plan->cells);
    g_hash_table_unref(plan->lanes);
    g_array_unref(plan->view);
    g_array_unref(plan->reader);
    g_free(plan->agent);
    g_free(plan->relevant);
    g_free(plan->of_symbol);
    g_free(plan->of_name);
    g_free(plan->slot0);
    g_free(plan->unseen);
    g_free(plan->arrivals);
    g_free(plan->name_id);
    g_free(plan->reason);
    g_free(plan);
}
