/* What is fixed before a run: places, relevant names, symbols, cells, items. */
#include "verify/assume.h"
#include "verify/state.h"
#include "verify/text.h"

#include <stdlib.h>
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

gboolean plan_whole_rows(const Plan *plan, const WsOp *op, guint access)
{
    const WsAccess *a = &op->access[access];
    gint64 from = 0, step = 1;
    if (a->mode != WS_MODE_READ || a->col0->op != WS_EXPR_VAR || a->cols != 1 || a->transposed)
        return FALSE;
    for (const WsTree *t = op->tree; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->index_var == a->col0->var && t->over == WS_OVER_COUNT &&
            (!t->from || (ws_expr_is_int(t->from, &from) && from == 0)) &&
            (!t->step_by || (ws_expr_is_int(t->step_by, &step) && step == 1)))
            return assumptions_range(plan->p, t->count).high <= plan->p->buffer[a->buffer].cols;
    return FALSE;
}

WsLanesMeet plan_lanes(Plan *plan, const Author *first, const Author *second)
{
    g_autofree char *key = g_strdup_printf(
        "%u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
        first->op, first->row0, first->col0, second->op, second->row0, second->col0);
    gpointer known = g_hash_table_lookup(plan->lanes, key);
    if (!known) {
        const WsLanesAt a = { plan->p->op[first->op - 1], first->row0, first->col0 };
        const WsLanesAt b = { plan->p->op[second->op - 1], second->row0, second->col0 };
        known = GINT_TO_POINTER(1 + (gint)ws_lanes_meet(plan->p, &a, &b));
        g_hash_table_insert(plan->lanes, g_strdup(key), known);
    }
    return (WsLanesMeet)(GPOINTER_TO_INT(known) - 1);
}

/* --- what is evaluated ------------------------------------------------------------------------ */
static void ask_of_op(const Plan *plan, const WsOp *op, const WsTree *t, PlanVisit visit,
                      gpointer data)
{
    const WsExpr *number[] = { op->element, op->slot, op->parity, op->ctas.expr };
    for (guint i = 0; i < G_N_ELEMENTS(number); i++)
        if (number[i] && (i == 3 || op->barrier >= 0))
            visit(data, t, number[i], ASK_NUMBER);
    if (op->turn)
        visit(data, t, op->turn, ASK_TURN);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        const WsExpr *of_view[] = { a->element, a->stage, a->row0, a->col0 };
        for (guint k = 0; k < G_N_ELEMENTS(of_view); k++)
            if (k != 3 || !plan_whole_rows(plan, op, i))
                visit(data, t, of_view[k], ASK_NUMBER);
    }
    for (guint i = 0; i < op->n_value; i++) {
        visit(data, t, op->value[i].row0, ASK_NUMBER);
        visit(data, t, op->value[i].col0, ASK_NUMBER);
    }
    if (op->mma && op->mma->first)
        visit(data, t, op->mma->first, ASK_TRUTH);
    if (op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE)
        if (op->set)
            visit(data, t, op->set, op->kind == WS_OP_LET ? ASK_LET : ASK_ADVANCE);
}

void plan_visit(const Plan *plan, const WsTree *t, PlanVisit visit, gpointer data)
{
    if (t->kind == WS_TREE_OP)
        ask_of_op(plan, t->op, t, visit, data);
    if (t->kind == WS_TREE_BRANCH && !plan_private(plan, t))
        visit(data, t, t->cond, ASK_TRUTH);
    if (t->kind == WS_TREE_LOOP) {
        if (t->over == WS_OVER_COUNT)
            visit(data, t, t->count, ASK_COUNT);
        if (t->from)
            visit(data, t, t->from, ASK_NUMBER);
        if (t->step_by)
            visit(data, t, t->step_by, ASK_NUMBER);
    }
}

static gboolean is_private(const Plan *plan, const WsTree *t)
{
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
    if (e->op == WS_EXPR_VAR && e->var >= 0 && !m->plan->relevant[e->var]) {
        m->plan->relevant[e->var] = 1;
        m->more = TRUE;
        const WsVar *v = &m->plan->p->var[e->var];
        if (v->kind == WS_VAR_COUNTER && v->value)
            mark_names(m, v->value);
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

guint plan_symbol(Plan *plan, const WsExpr *e, gboolean truth)
{
    gpointer found;
    if (!g_hash_table_lookup_extended(plan->symbol, e, NULL, &found)) {
        g_autofree char *text = text_of(e);
        guint both = 0;
        for (guint i = 1; i < plan->c->symbol->len; i++) {
            const Symbol *s = &g_array_index(plan->c->symbol, Symbol, i);
            /* what has a relation is worked out from its base */
            if (!s->relation && !strcmp(s->same, text))
                both |= s->letter ? i << 16 : i;
        }
        found = GUINT_TO_POINTER(both);
        g_hash_table_insert(plan->symbol, (gpointer)e, found);
    }
    const guint both = GPOINTER_TO_UINT(found);
    return truth && both >> 16 ? both >> 16 : both & 0xffff;
}

gboolean plan_names_symbol(Plan *plan, const WsExpr *e)
{
    gboolean names = e->op != WS_EXPR_INT && plan_symbol(plan, e, FALSE);
    names |= e->op == WS_EXPR_VAR && e->var >= 0 && plan->of_symbol[e->var];
    for (guint i = 0; i < e->n_args; i++)
        names |= plan_names_symbol(plan, e->arg[i]);
    return names;
}

void plan_count_symbols(Plan *plan, const WsExpr *e, gint64 *times)
{
    guint symbol = e->op == WS_EXPR_INT ? 0 : plan_symbol(plan, e, FALSE);
    if (symbol)
        times[symbol]++;
    for (guint i = 0; !symbol && i < e->n_args; i++)
        plan_count_symbols(plan, e->arg[i], times);
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

static void find_made(Plan *plan)
{
    const WsProgram *p = plan->p;
    Mark m = { .plan = plan, .more = TRUE };
    plan->of_symbol = g_new0(guint8, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        plan->of_symbol[v] = p->var[v].kind == WS_VAR_COUNTER && p->var[v].value &&
                             plan_names_symbol(plan, p->var[v].value);
    while (m.more) {
        m.more = FALSE;
        all_nodes(plan, mark_made, &m);
    }
}

/* --- places ----------------------------------------------------------------------------------- */
static void number_tree(Plan *plan, AgentPlan *a, const WsTree *t, GArray *place, guint tiles_above)
{
    Place new = { .tree = t, .loop = t->kind == WS_TREE_LOOP ? a->n_loops++ : -1 };
    g_hash_table_insert(a->number, (gpointer)t, GUINT_TO_POINTER(place->len));
    g_array_append_val(place, new);
    if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_PIPE)
        plan_fail(plan, WS_VERIFY_REFUSED, "a loop over a pipe");
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
            number_tree(plan, a, t->kid[i], place, tiles_above);
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
            gint64 from = 0, step = 1;
            all += hands_over(t);
            claims += t->op && t->op->kind == WS_OP_CLAIM;
            if (t->kind != WS_TREE_LOOP || t->over != WS_OVER_TILES)
                continue;
            tiles++;
            for (guint k = 0; k < t->kid[0]->n_kids; k++)
                direct += hands_over(t->kid[0]->kid[k]);
            fine &= (!t->from || (ws_expr_is_int(t->from, &from) && from == 0)) &&
                    (!t->step_by || (ws_expr_is_int(t->step_by, &step) && step == 1));
        }
        fine &= all == direct && all == tiles;
        loops += tiles;
    }
    if (p->tiles.launch == WS_LAUNCH_DYNAMIC ? !fine || claims != (loops > 0) || p->cluster > 1
                                             : claims > 0)
        plan_fail(plan, WS_VERIFY_REFUSED, "a claim of tiles of this form");
}

static int by_number(gconstpointer a, gconstpointer b)
{
    const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return (x > y) - (x < y);
}

static void cut(GArray *at, const WsExpr *start, guint length, guint whole)
{
    gint64 x = 0;
    const gboolean fixed = start && ws_expr_is_int(start, &x);
    for (gint64 i = fixed ? x : 0; i <= whole; i += length ? length : 1) {
        g_array_append_val(at, i);
        if (fixed && i > x)
            break;
    }
}

static void cut_values(Plan *plan, guint a)
{
    const WsAgent *agent = &plan->p->agent[a];
    AgentPlan *ap = &plan->agent[a];
    ap->first_cell = g_new0(guint32, agent->n_values + 1);
    ap->row_cut = g_new0(GArray *, agent->n_values + 1);
    ap->col_cut = g_new0(GArray *, agent->n_values + 1);
    for (guint v = 0; v < agent->n_values; v++) {
        ap->row_cut[v] = g_array_new(FALSE, FALSE, sizeof(gint64));
        ap->col_cut[v] = g_array_new(FALSE, FALSE, sizeof(gint64));
        cut(ap->row_cut[v], NULL, agent->value[v].rows, agent->value[v].rows);
        cut(ap->col_cut[v], NULL, agent->value[v].cols, agent->value[v].cols);
    }
    for (gint i = 1; i <= ap->n_places; i++) {
        const WsOp *op = ap->place[i].tree->op;
        for (guint k = 0; op && k < op->n_value; k++) {
            const WsValueUse *u = &op->value[k];
            cut(ap->row_cut[u->value], u->row0, u->rows, agent->value[u->value].rows);
            cut(ap->col_cut[u->value], u->col0, u->cols, agent->value[u->value].cols);
        }
    }
    guint cells = 0;
    for (guint v = 0; v < agent->n_values; v++) {
        GArray *both[] = { ap->row_cut[v], ap->col_cut[v] };
        for (guint k = 0; k < 2; k++) {
            g_array_sort(both[k], by_number);
            for (guint i = 1; i < both[k]->len;)
                if (g_array_index(both[k], gint64, i) == g_array_index(both[k], gint64, i - 1))
                    g_array_remove_index(both[k], i);
                else
                    i++;
        }
        ap->first_cell[v] = cells;
        cells += (both[0]->len - 1) * (both[1]->len - 1);
    }
    if (cells > 64)
        plan_fail(plan, WS_VERIFY_REFUSED, "agent %s: views cut its values in %u blocks",
                  agent->name, cells);
}

guint64 value_cells(Plan *plan, guint agent, guint value, gint64 row0, gint64 col0, guint rows,
                    guint cols)
{
    const AgentPlan *a = &plan->agent[agent];
    const GArray *r = a->row_cut[value], *c = a->col_cut[value];
    guint64 set = 0;
    gint64 area = 0;
    for (guint i = 0; i + 1 < r->len; i++)
        for (guint k = 0; k + 1 < c->len; k++) {
            const gint64 *y = &g_array_index(r, gint64, i), *x = &g_array_index(c, gint64, k);
            if (y[0] < row0 || y[1] > row0 + rows || x[0] < col0 || x[1] > col0 + cols)
                continue;
            set |= (guint64)1 << ((a->first_cell[value] + i * (c->len - 1) + k) & 63);
            area += (y[1] - y[0]) * (x[1] - x[0]);
        }
    if (area != (gint64)rows * cols)
        plan_fail(plan, WS_VERIFY_REFUSED, "a view of a value that is no union of its blocks");
    return set;
}

/* --- named barriers --------------------------------------------------------------------------- */
static gint find_id(const Plan *plan, gint id)
{
    for (guint i = 0; i < plan->n_names; i++)
        if (plan->name_id[i] == id)
            return (gint)i;
    return -1;
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

static int by_id(gconstpointer a, gconstpointer b)
{
    return *(const gint *)a - *(const gint *)b;
}

static void find_names(Plan *plan)
{
    const WsProgram *p = plan->p;
    plan->name_id = g_new0(gint, p->n_ops * 16 + 1);
    for (guint a = 0; a < p->n_agents; a++)
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsOp *op = plan->agent[a].place[i].tree->op;
            if (!op || !ws_op_joins(op->kind))
                continue;
            const guint n = op->barrier >= 0 ? p->barrier[op->barrier].array : 1;
            gint64 only = -1, count;
            if (op->barrier >= 0)
                ws_expr_is_int(op->element, &only);
            for (guint e = 0; e < n && e < 16; e++) {
                gint id = only < 0 || only == e ? name_of(plan, op, e, &count) : -1;
                if (id >= 0 && find_id(plan, id) < 0)
                    plan->name_id[plan->n_names++] = id;
            }
        }
    qsort(plan->name_id, plan->n_names, sizeof(gint), by_id);
}

/* --- items ------------------------------------------------------------------------------------ */
static Reader reader_of(const WsOp *op, guint to)
{
    const gboolean copy = op->kind == WS_OP_BULK_COPY;
    return (Reader){ (guint)op->agent, ws_op_row(op->kind)->engine, op_by_leader(op),
                     copy ? op : NULL, copy ? to : 0 };
}

gint plan_reader(const Plan *plan, const WsOp *op, guint to)
{
    const Reader x = reader_of(op, to);
    for (guint i = 0; i < plan->reader->len; i++) {
        const Reader *r = &g_array_index(plan->reader, Reader, i);
        if (r->agent == x.agent && r->engine == x.engine && r->leader == x.leader &&
            r->copy == x.copy && r->to == x.to)
            return (gint)i;
    }
    return -1;
}

static void find_readers(Plan *plan)
{
    for (guint a = 0; a < plan->p->n_agents; a++)
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsOp *op = plan->agent[a].place[i].tree->op;
            for (guint k = 0; op && k < op->n_access; k++)
                for (guint to = 0; to < plan->p->cluster; to++) {
                    const Reader r = reader_of(op, to);
                    if ((op->access[k].mode & WS_MODE_READ) && plan_reader(plan, op, to) < 0)
                        g_array_append_val(plan->reader, r);
                }
        }
}

static char *cell_key(const View *v, gint64 element, gint64 stage)
{
    return g_strdup_printf("%u %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                           " %" G_GINT64_FORMAT,
                           v->buffer, v->rows, v->cols, v->row0, v->col0, element, stage);
}

typedef struct {
    guint64 at;
    guint view; /* of all elements and stages */
    gboolean begins;
} Edge;

static int by_offset(gconstpointer a, gconstpointer b)
{
    const Edge *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Byte ranges before the swizzle stand for those behind it only if all that lies there is swizzled
 * alike, or whole rows of a span are taken. */
static gboolean ranges_stand(const WsProgram *p, const View *v)
{
    const WsBuffer *x = &p->buffer[v->buffer];
    if (x->chunk_cols && v->col0 % x->chunk_cols == 0 && v->cols % x->chunk_cols == 0)
        return TRUE;
    for (guint i = 0; i < p->n_buffers; i++) {
        const WsBuffer *y = &p->buffer[i];
        if (x->swizzle != y->swizzle && x->offset < y->offset + y->bytes &&
            y->offset < x->offset + x->bytes)
            return FALSE;
    }
    return TRUE;
}

static void add_edges(Plan *plan, const View *v, GArray *edge, GPtrArray *made)
{
    const WsBuffer *b = &plan->p->buffer[v->buffer];
    static WsRange range[4096];
    const guint n = ws_buffer_ranges(b, (guint)v->row0, v->rows, (guint)v->col0, v->cols, range,
                                     G_N_ELEMENTS(range));
    if (!ranges_stand(plan->p, v))
        plan_fail(plan, WS_VERIFY_REFUSED, "a part of a row where buffers of several swizzles lie");
    if (n > G_N_ELEMENTS(range))
        plan_fail(plan, WS_VERIFY_REFUSED, "a view of more than 4096 pieces");
    for (guint e = 0; e < b->array; e++)
        for (guint s = 0; s < b->stages; s++) {
            GArray *cells = g_array_new(FALSE, FALSE, sizeof(guint));
            g_hash_table_insert(plan->cells, cell_key(v, e, s), cells);
            const guint64 base = b->offset + e * b->array_pitch + s * b->stage_pitch;
            for (guint i = 0; i < MIN(n, G_N_ELEMENTS(range)); i++) {
                Edge first = { base + range[i].offset, made->len, TRUE };
                Edge last = { first.at + range[i].bytes, made->len, FALSE };
                g_array_append_val(edge, first);
                g_array_append_val(edge, last);
            }
            g_ptr_array_add(made, cells);
        }
}

/* A cell: all bytes that the same views contain. */
static void find_cells(Plan *plan)
{
    g_autoptr(GArray) edge = g_array_new(FALSE, FALSE, sizeof(Edge));
    g_autoptr(GPtrArray) made = g_ptr_array_new();
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_remove_all(plan->cells);
    for (guint i = 0; i < plan->view->len; i++)
        add_edges(plan, &g_array_index(plan->view, View, i), edge, made);
    g_array_sort(edge, by_offset);
    g_autofree char *inside = g_strnfill(made->len, '0');
    plan->n_cells = 0;
    for (guint i = 0; i < edge->len; i++) {
        const Edge *e = &g_array_index(edge, Edge, i);
        inside[e->view] = e->begins ? '1' : '0';
        if ((i + 1 < edge->len && e[1].at == e->at) || !strchr(inside, '1') ||
            g_hash_table_contains(known, inside))
            continue;
        g_hash_table_add(known, g_strdup(inside));
        for (guint k = 0; k < made->len; k++)
            if (inside[k] == '1')
                g_array_append_val((GArray *)made->pdata[k], plan->n_cells);
        plan->n_cells++;
    }
}

const GArray *plan_cells(Plan *plan, const View *v, gint64 element, gint64 stage)
{
    const WsBuffer *b = &plan->p->buffer[v->buffer];
    if (element < 0 || element >= b->array || stage < 0 || stage >= b->stages || v->row0 < 0 ||
        v->col0 < 0 || v->row0 + v->rows > b->rows || v->col0 + v->cols > b->cols) {
        plan_fail(plan, WS_VERIFY_REJECTED, "a view outside of buffer %s", b->name);
        return NULL;
    }
    g_autofree char *key = cell_key(v, element, stage);
    const GArray *cells = g_hash_table_lookup(plan->cells, key);
    if (!cells && !plan->reason) {
        g_array_append_val(plan->view, *v);
        plan->view_added = TRUE;
        plan_fail(plan, WS_VERIFY_REFUSED, "a view that was not foreseen");
    }
    return cells;
}

guint plan_item(const Plan *plan, ItemKind kind, guint cta, guint i, guint x)
{
    const guint agents = plan->p->n_agents, s = plan->n_slots;
    const guint read = plan->n_cells, last = read + plan->n_cells * plan->reader->len;
    guint first = cta * plan->per_cta;
    switch (kind) {
    case ITEM_WRITE:
        return first + i;
    case ITEM_READ:
        return first + read + i * plan->reader->len + x;
    case ITEM_LAST:
        return first + last + i;
    case ITEM_BEFORE:
        return first + last + s + i;
    case ITEM_TRANSFER:
        return first + last + 2 * s + i;
    case ITEM_GIVE:
        return first + last + 3 * s + i * 2 * agents + x;
    case ITEM_RETURN:
        return first + last + (3 + 2 * agents) * s + i * agents + x;
    case ITEM_NAME:
        return first + last + (3 + 3 * agents) * s + i;
    case ITEM_REMOTE:
        return first + last + (3 + 3 * agents) * s + plan->n_names + 1 + i;
    }
    return 0;
}

void plan_items(Plan *plan)
{
    find_cells(plan);
    plan->per_cta = plan_item(plan, ITEM_REMOTE, 0, 2 * plan->n_inst, 0);
    plan->n_items = plan->per_cta * plan->p->cluster;
    const guint holders = holder_name(plan, plan->p->cluster * plan->n_names + 1, 0);
    plan->words = (holders + 63) / 64;
    if (plan->words > MAX_WORDS)
        plan_fail(plan, WS_VERIFY_REFUSED, "%u holders of knowledge", holders);
}

Plan *plan_new(const WsProgram *p, Certificate *c)
{
    Plan *plan = g_new0(Plan, 1);
    plan->p = p;
    plan->c = c;
    plan->n_inst = p->cluster * p->n_agents;
    plan->agent = g_new0(AgentPlan, p->n_agents + 1);
    plan->symbol = g_hash_table_new(NULL, NULL);
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
        number_tree(plan, ap, p->agent[a].body, place, 0);
        ap->n_places = (gint)place->len - 1;
        ap->place = (Place *)(gpointer)g_array_free(place, FALSE);
        cut_values(plan, a);
    }
    check_claims(plan);
    Mark m = { .plan = plan, .more = TRUE };
    plan->relevant = g_new0(guint8, p->n_vars + 1);
    while (m.more) {
        m.more = FALSE;
        all_nodes(plan, mark, &m);
    }
    for (guint a = 0; a < p->n_agents; a++) {
        plan->agent[a].asks = g_new0(gint64, c->symbol->len);
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsTree *t = plan->agent[a].place[i].tree;
            if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT)
                plan_count_symbols(plan, t->count, plan->agent[a].asks);
        }
    }
    find_made(plan);
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
    find_readers(plan);
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
    g_hash_table_unref(plan->symbol);
    g_hash_table_unref(plan->cells);
    g_hash_table_unref(plan->lanes);
    g_array_unref(plan->view);
    g_array_unref(plan->reader);
    g_free(plan->agent);
    g_free(plan->relevant);
    g_free(plan->of_symbol);
    g_free(plan->slot0);
    g_free(plan->unseen);
    g_free(plan->arrivals);
    g_free(plan->name_id);
    g_free(plan->reason);
    g_free(plan);
}
