/* What an operation touches: cells of shared memory and of values, classes of readers, items. */
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "verify/assume.h"
#include "verify/state.h"

#include <stdlib.h>
#include <string.h>

gboolean plan_whole_rows(const Plan *plan, const WsOp *op, guint access)
{
    const WsAccess *a = &op->access[access];
    gint64 from, step;
    if (a->mode != WS_MODE_READ || a->col0->op != WS_EXPR_VAR || a->cols != 1 || a->transposed)
        return FALSE;
    for (const WsTree *t = op->tree; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->index_var == a->col0->var && t->over == WS_OVER_COUNT &&
            !plan_start(plan, t) && plan_fixed(plan, t, &from, &step) && from == 0 && step == 1)
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

/* --- values ----------------------------------------------------------------------------------- */
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

void plan_values(Plan *plan, guint a)
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
            if (y[0] < row0 || y[1] - rows > row0 || x[0] < col0 || x[1] - cols > col0)
                continue;
            set |= (guint64)1 << ((a->first_cell[value] + i * (c->len - 1) + k) & 63);
            area += (y[1] - y[0]) * (x[1] - x[0]);
        }
    if (area != (gint64)rows * cols)
        plan_fail(plan, WS_VERIFY_REFUSED, "a view of a value that is no union of its blocks");
    return set;
}

/* --- items ------------------------------------------------------------------------------------ */
static Reader reader_of(const Plan *plan, const WsOp *op, guint to)
{
    Reader r = { .agent = (guint)op->agent,
                 .engine = ws_op_row(op->kind)->engine,
                 .leader = op_by_leader(op) };
    if (op->kind == WS_OP_BULK_COPY)
        r.copy = op, r.to = to;
    if (ws_op_peeks(op->kind))
        r.remote = TRUE, r.to = to;
    if (ws_op_is_atomic(op->kind)) {
        r.combines = op->reduce;
        r.elements = (gint)plan->p->buffer[op->access[0].buffer].dtype;
    }
    return r;
}

gint plan_reader(const Plan *plan, const WsOp *op, guint to)
{
    const Reader x = reader_of(plan, op, to);
    for (guint i = 0; i < plan->reader->len; i++) {
        const Reader *r = &g_array_index(plan->reader, Reader, i);
        if (r->agent == x.agent && r->engine == x.engine && r->leader == x.leader &&
            r->copy == x.copy && r->remote == x.remote && r->to == x.to &&
            r->combines == x.combines && r->elements == x.elements)
            return (gint)i;
    }
    return -1;
}

void plan_readers(Plan *plan)
{
    for (guint a = 0; a < plan->p->n_agents; a++)
        for (gint i = 1; i <= plan->agent[a].n_places; i++) {
            const WsOp *op = plan->agent[a].place[i].tree->op;
            for (guint k = 0; op && k < op->n_access; k++)
                for (guint to = 0; to < plan->p->cluster; to++) {
                    const Reader r = reader_of(plan, op, to);
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
        v->col0 < 0 || v->row0 > (gint64)b->rows - v->rows || v->col0 > (gint64)b->cols - v->cols) {
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
    const guint agents = plan->p->n_agents, s = plan->n_slots, cells = plan->n_cells;
    const guint width[] = { 1, plan->reader->len, 1, 1, 1, 2 * agents, agents, 1, 1 };
    const guint many[] = { cells, cells, s, s, s, s, s, plan->n_names + 1 };
    guint first = cta * plan->per_cta;
    for (guint k = ITEM_WRITE; k < kind; k++)
        first += width[k] * many[k];
    return first + i * width[kind] + x;
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
