/* ws_program_validate: a program as it is elaborated has no fault, and each damage is found at the
 * operation that has it. */
#include "model/design.h"
#include "model/finding.h"
#include "program/array.h"
#include "program/elaborate.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/transfer.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/validate.h"

#include <string.h>

#define ATTENTION "tests/designs/attention-straight.wstave"

static WsProgram *load(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(WS_SOURCE_ROOT "/" ATTENTION, findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    return p;
}

static WsOp *first(WsProgram *p, WsOpKind kind)
{
    for (guint i = 0; i < p->n_ops; i++) {
        if (p->op[i]->kind == kind)
            return p->op[i];
    }
    g_assert_not_reached();
}

static WsOp *last(WsProgram *p, WsOpKind kind)
{
    for (guint i = p->n_ops; i-- > 0;) {
        if (p->op[i]->kind == kind)
            return p->op[i];
    }
    g_assert_not_reached();
}

/* --- damages: each leaves a program that must be refused ---------------------------------------
 */

static void other_index(WsProgram *p)
{
    first(p, WS_OP_MMA)->index++;
}

static void other_parent(WsProgram *p)
{
    WsTree *leaf = first(p, WS_OP_MMA)->tree;
    leaf->parent = leaf->parent->parent;
}

static void lost_leaf(WsProgram *p)
{
    WsOp *op = first(p, WS_OP_MMA);
    op->tree = first(p, WS_OP_MMA_WAIT)->tree;
}

static void other_agent(WsProgram *p)
{
    first(p, WS_OP_MATH)->agent = 0;
}

static void leaders_all(WsProgram *p)
{
    first(p, WS_OP_TMA_LOAD)->breadth = WS_BREADTH_GROUP;
}

static void no_slot(WsProgram *p)
{
    first(p, WS_OP_MBAR_WAIT)->slot = NULL;
}

static void no_parity(WsProgram *p)
{
    first(p, WS_OP_MBAR_WAIT)->parity = NULL;
}

static void barrier_out_of_range(WsProgram *p)
{
    first(p, WS_OP_MBAR_ARRIVE)->barrier = (gint)p->n_barriers;
}

static void named_for_mbarrier(WsProgram *p)
{
    for (guint i = 0; i < p->n_barriers; i++) {
        if (p->barrier[i].kind == WS_BARRIER_NAMED)
            first(p, WS_OP_MBAR_ARRIVE)->barrier = (gint)i;
    }
}

static void no_arrivals(WsProgram *p)
{
    first(p, WS_OP_MBAR_ARRIVE)->count = 0;
}

static void other_bytes(WsProgram *p)
{
    first(p, WS_OP_TMA_LOAD)->bytes -= 2;
}

static void map_of_another(WsProgram *p)
{
    WsOp *op = first(p, WS_OP_TMA_LOAD);
    op->tensor = op->tensor ? 0 : 1;
}

static void view_out_of_range(WsProgram *p)
{
    first(p, WS_OP_MMA)->access[1].rows += 64;
}

static void other_offset(WsProgram *p)
{
    first(p, WS_OP_MMA)->access[0].stage_offset += 16;
}

static void value_out_of_range(WsProgram *p)
{
    first(p, WS_OP_MMA)->value[0].cols += 8;
}

static void accumulator_unread(WsProgram *p)
{
    first(p, WS_OP_MMA)->value[0].mode = WS_MODE_WRITE;
}

static void operand_missing(WsProgram *p)
{
    first(p, WS_OP_MMA)->n_access = 1;
}

static void steps_of_another(WsProgram *p)
{
    first(p, WS_OP_MMA)->mma->b.n_k--;
}

static void wait_without(WsProgram *p)
{
    first(p, WS_OP_MMA_WAIT)->wait = NULL;
}

static void retires_a_store(WsProgram *p)
{
    first(p, WS_OP_MMA_WAIT)->wait->retired[0].op = first(p, WS_OP_TMA_STORE);
}

static void retires_what_does_not_fly(WsProgram *p)
{
    first(p, WS_OP_MMA_WAIT)->n_flying = 0;
}

static void all_stays(WsProgram *p)
{
    first(p, WS_OP_MMA_WAIT)->wait->stay = 1;
}

static void frees_another(WsProgram *p)
{
    WsWait *w = first(p, WS_OP_MMA_WAIT)->wait;
    w->freed[0].value = 2; /* acc, as large as s */
}

static void commit_gone(WsProgram *p)
{
    first(p, WS_OP_MMA_COMMIT)->kind = WS_OP_WARP_SYNC;
}

/* The last commit stands before its product. */
static void product_behind_commit(WsProgram *p)
{
    WsTree *product = last(p, WS_OP_MMA)->tree, *commit = last(p, WS_OP_MMA_COMMIT)->tree;
    WsOp *issue = product->op, *close = commit->op;
    product->op = close;
    close->tree = product;
    commit->op = issue;
    issue->tree = commit;
}

static void nothing_computed(WsProgram *p)
{
    first(p, WS_OP_MATH)->n_math = 0;
}

/* A node of `first`'s statements of that form. */
static WsArray *node_of(const WsArray *a, WsArrayForm form)
{
    WsArray *found = a->form == form ? (WsArray *)a : NULL;
    for (guint i = 0; i < a->n_arg && !found; i++)
        found = node_of(a->arg[i], form);
    return found;
}

static WsArray *some(WsProgram *p, WsArrayForm form)
{
    WsArray *found = NULL;
    for (guint k = 0; k < p->n_ops && !found; k++) {
        for (guint i = 0; i < p->op[k]->n_math && !found; i++)
            found = node_of(p->op[k]->assign[i].array, form);
    }
    g_assert_nonnull(found);
    return found;
}

static void value_of_none(WsProgram *p)
{
    some(p, WS_ARRAY_VALUE)->index = 1000;
}

static void larger_operand(WsProgram *p)
{
    some(p, WS_ARRAY_REDUCTION)->rows = 1; /* of all the rows that it runs over */
}

static void extent_open(WsProgram *p)
{
    some(p, WS_ARRAY_UNIFORM)->cols = 0;
}

static void other_kind(WsProgram *p)
{
    some(p, WS_ARRAY_VALUE)->kind = WS_MATH_BOOL;
}

static void left_by_none(WsProgram *p)
{
    some(p, WS_ARRAY_TEMPORARY)->index++; /* the statement that it stands in */
}

static void leaf_with_operands(WsProgram *p)
{
    some(p, WS_ARRAY_REDUCTION)->form = WS_ARRAY_NUMBER;
}

static void box_of_another(WsProgram *p)
{
    WsOp *store = first(p, WS_OP_TMA_STORE);
    store->transfer = first(p, WS_OP_TMA_LOAD)->transfer;
}

static void smaller_view(WsProgram *p)
{
    ((WsTensorTransfer *)first(p, WS_OP_TMA_LOAD)->transfer)->rows /= 2;
}

static void no_transfer(WsProgram *p)
{
    first(p, WS_OP_TMA_LOAD)->transfer = NULL;
}

static void credited_elsewhere(WsProgram *p)
{
    p->transaction[0]->barrier++;
}

static void expected_by_none(WsProgram *p)
{
    p->transaction[0]->expect = p->transaction[0]->op[0];
}

static void odd_registers(WsProgram *p)
{
    first(p, WS_OP_SETMAXNREG)->n = 100;
}

static void stages_of_none(WsProgram *p)
{
    p->buffer[0].stages = 0;
}

static void beyond_shared_memory(WsProgram *p)
{
    p->buffer[0].offset += (guint64)1 << 20;
}

static void box_of_none(WsProgram *p)
{
    p->map[0].box[0] = 0;
}

static WsVar *first_var(WsProgram *p, WsVarKind kind)
{
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == kind)
            return &p->var[i];
    }
    g_assert_not_reached();
}

static void index_of_none(WsProgram *p)
{
    first_var(p, WS_VAR_INDEX)->agent = -1;
}

static void size_of_an_agent(WsProgram *p)
{
    first_var(p, WS_VAR_SIZE)->agent = 0;
}

static void other_axis(WsProgram *p)
{
    first_var(p, WS_VAR_AXIS)->axis++;
}

static WsExpr *made; /* that a program does not own */

static void extent_by_tile(WsProgram *p)
{
    p->tiles->axis[0].extent = made = ws_expr_var(p->tiles->axis[0].var, "t");
}

static void order_by_none(WsProgram *p)
{
    p->tiles->order = WS_ORDER_GROUPED;
    p->tiles->order_axis = 7;
}

static void shape_by_index(WsProgram *p)
{
    WsVar *index = first_var(p, WS_VAR_INDEX);
    p->tensor[0].shape[0] = made = ws_expr_var((gint)(index - p->var), "k");
}

static const struct {
    const char *name;
    void (*damage)(WsProgram *p);
    const char *says;
} damages[] = {
    { "index", other_index, "op->index == i" },
    { "parent", other_parent, "whose parent is another" },
    { "leaf", lost_leaf, "t->op->tree == t" },
    { "agent", other_agent, "" },
    { "leader", leaders_all, "by the leader alone" },
    { "slot", no_slot, "op->slot" },
    { "parity", no_parity, "op->parity" },
    { "barrier", barrier_out_of_range, "n_barriers" },
    { "kind of barrier", named_for_mbarrier, "of the other kind" },
    { "arrivals", no_arrivals, "op->count >= 1" },
    { "bytes", other_bytes, "op->bytes ==" },
    { "map", map_of_another, "map[op->map].tensor" },
    { "view", view_out_of_range, "inside(a->row0" },
    { "offset", other_offset, "a->stage_offset ==" },
    { "value", value_out_of_range, "inside(u->row0" },
    { "accumulator", accumulator_unread, "op->value[0].mode" },
    { "operand", operand_missing, "op->n_access ==" },
    { "k steps", steps_of_another, "m->b.n_k" },
    { "wait", wait_without, "op->wait != NULL" },
    { "queue", retires_a_store, "not of its queue" },
    { "flying", retires_what_does_not_fly, "retires nothing that flies" },
    { "stay", all_stays, "w->stay == 0" },
    { "freed", frees_another, "frees registers of nothing" },
    { "commit", commit_gone, "op->engine == row->engine" },
    { "group", product_behind_commit, "a group that nothing closes" },
    { "statements", nothing_computed, "op->n_math >= 1" },
    { "array value", value_of_none, "a->index < v->agent->n_values" },
    { "array shape", larger_operand, "fits(" },
    { "array extent", extent_open, "a->cols >= 1" },
    { "array kind", other_kind, "a->kind ==" },
    { "array temporary", left_by_none, "a->index < n_before" },
    { "array form", leaf_with_operands, "is_leaf(a->form)" },
    { "boxes", box_of_another, "op->tensor == (gint)t->tensor" },
    { "boxes of a view", smaller_view, "elements ==" },
    { "transfer", no_transfer, "op->transfer != NULL" },
    { "transaction", credited_elsewhere, "v->op->barrier == t->barrier" },
    { "expect", expected_by_none, "t->expect->derived" },
    { "registers", odd_registers, "op->n % r->step == 0" },
    { "stages", stages_of_none, "b->stages >= 1" },
    { "shared memory", beyond_shared_memory, "shared_bytes" },
    { "box", box_of_none, "m->box[d] >= 1" },
    { "index of none", index_of_none, "a variable of no agent" },
    { "size of an agent", size_of_an_agent, "a variable of another agent" },
    { "axis", other_axis, "axis" },
    { "extent", extent_by_tile, "narrower scope" },
    { "order", order_by_none, "t->order_axis < t->n_axes" },
    { "shape", shape_by_index, "a variable of another agent" },
};

static void test_whole(void)
{
    g_autoptr(WsProgram) p = load();
    g_autofree char *wrong = ws_program_validate(p);
    g_assert_cmpstr(wrong, ==, NULL);
}

static void test_damage(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(WsProgram) p = load();
    damages[i].damage(p);
    g_autofree char *wrong = ws_program_validate(p);
    g_test_message("%s", wrong ? wrong : "nothing");
    g_assert_nonnull(wrong);
    g_assert_nonnull(strstr(wrong, damages[i].says));
    g_clear_pointer(&made, ws_expr_unref);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/validate/whole", test_whole);
    for (guint i = 0; i < G_N_ELEMENTS(damages); i++) {
        g_autofree char *path = g_strdup_printf("/validate/damage/%s", damages[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_damage);
    }
    return g_test_run();
}
