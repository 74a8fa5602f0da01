/* Products and their waits. Each call of warpgroup_mma is a group of its own; what is in flight at
 * a wait (WsOp.flying) is handed through it, so that the compiler keeps accumulators and register
 * operands where they are. Between its call and the next wait an accumulator is a token, not a
 * tensor: at the end of a body it passes through a wait that never waits, since what a loop carries
 * is a tensor. */
#include "codegen/python/gluon/gluon.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

/* --- waits ------------------------------------------------------------------------------------ */

static const char *operand_name(WsPy *y, const WsOp *product)
{
    return ws_py_local(
        y, ws_py_format(y, "%s_operand", y->agent->value[product->value[1].value].name));
}

/* Whoever comes to `op` came by `before` in this round: its names mean something there. */
static gboolean dominates(const WsOp *before, const WsOp *op)
{
    const WsTree *list = before->tree->parent;
    for (const WsTree *t = op->tree; t; t = t->parent) {
        if (t->parent == list)
            return before->index < op->index;
    }
    return FALSE;
}

static const char *also(WsPy *y, const char *list, const char *name)
{
    return *list ? ws_py_format(y, "%s, %s", list, name) : name;
}

/* "s, o, p_operand": everything in flight before `op`, accumulators first, each once. */
static const char *in_flight(WsPy *y, const WsOp *op)
{
    const char *s = "";
    for (guint v = 0; v < y->agent->n_values; v++) {
        if (ws_py_accumulates(op, v))
            s = also(y, s, y->value[v]);
    }
    for (guint i = 0; i < op->n_flying; i++) {
        const WsOp *product = op->flying[i];
        if (!product->mma->a.in_registers)
            continue;
        if (!dominates(product, op)) {
            ws_py_refuse(y, product,
                         "an operand in registers that is read beyond its round or branch",
                         "wait for the product where it is issued");
            return s;
        }
        const char *name = operand_name(y, product);
        gboolean again = FALSE;
        for (guint k = 0; k < i; k++)
            again = again || (op->flying[k]->mma->a.in_registers &&
                              op->flying[k]->value[1].value == product->value[1].value);
        if (!again)
            s = also(y, s, name);
    }
    return s;
}

static void pass_through(WsPy *y, const char *all, gint64 stay)
{
    ws_py_line(y, "%s = warpgroup_mma_wait(%" G_GINT64_FORMAT ", deps=[%s])", all, stay, all);
    for (guint v = 0; v < y->agent->n_values; v++)
        ws_gluon(y)->token[v] = FALSE;
}

void ws_gluon_mma_wait(WsPy *y, const WsOp *op)
{
    gint64 stay = ws_py_stay(y, op);
    const char *all = in_flight(y, op);
    if (*all)
        pass_through(y, all, stay);
    else
        ws_py_remark(y, op, "mma_wait %" G_GINT64_FORMAT ": nothing is in flight here", op->n);
}

/* --- bodies ----------------------------------------------------------------------------------- */

static void settle(WsPy *y)
{
    const char *all = "";
    for (guint v = 0; v < y->agent->n_values; v++) {
        if (ws_gluon(y)->token[v])
            all = also(y, all, y->value[v]);
    }
    if (!*all)
        return;
    ws_py_line(y, "# waits for nothing: what goes round is a tensor");
    /* what the instruction can leave in flight: it never waits */
    pass_through(y, all, ws_target_waited(y->p->hardware, "mma_wait")->most);
}

/* Products are issued or waited for inside. */
static gboolean has_products(const WsTree *t)
{
    if (t->kind == WS_TREE_OP)
        return ws_op_is_product(t->op->kind) || t->op->kind == WS_OP_MMA_WAIT;
    for (guint i = 0; i < t->n_kids; i++) {
        if (t->kid[i] && has_products(t->kid[i]))
            return TRUE;
    }
    return FALSE;
}

void ws_gluon_body_end(WsPy *y, const WsTree *t)
{
    if (has_products(t))
        settle(y);
}

/* What a loop carries, or a branch changes, is a tensor. */
void ws_gluon_block_around(WsPy *y, const WsTree *t, gboolean begin)
{
    if (begin && has_products(t))
        settle(y);
}

/* --- a product -------------------------------------------------------------------------------- */

/* "use_acc=…" for an accumulator that starts at 0 when `first` holds; NULL: it always adds. */
static const char *use_acc(WsPy *y, const WsExpr *first, gboolean *zero)
{
    WsTerm t = ws_py_truth(y, ws_py_uniform(y, first));
    gint64 known;
    *zero = FALSE;
    if (ws_term_known(t, &known)) {
        *zero = known != 0;
        return known ? "use_acc=False" : NULL;
    }
    WsTerm not = first->op == WS_EXPR_EQ ? ws_py_op(y, WS_EXPR_NE, ws_py_uniform(y, first->arg[0]),
                                                    ws_py_uniform(y, first->arg[1]))
                                         : ws_py_op(y, WS_EXPR_EQ, t, ws_py_int(y, 0));
    return ws_py_format(y, "use_acc=%s", not .s);
}

static const char *operand_in_registers(WsPy *y, const WsOp *op, const char *layout)
{
    const WsValueUse *u = &op->value[1];
    const WsRegValue *v = &y->agent->value[u->value];
    if (!ws_py_whole(y, u)) {
        ws_py_refuse(y, op, "part of a value as operand a", "make the part a value of its own");
        return "None";
    }
    const char *name = operand_name(y, op);
    ws_py_line(y, "%s = gl.convert_layout(%s, gl.DotOperandLayout(0, %s, %u))", name,
               y->value[u->value], layout, 4 / ws_dtype_bytes(v->dtype));
    return name;
}

static const char *operand(WsPy *y, const WsAccess *a, gboolean turned)
{
    const char *view = ws_gluon_view(y, a);
    return turned ? ws_py_format(y, "%s.permute((1, 0))", view) : view;
}

void ws_gluon_mma(WsPy *y, const WsOp *op)
{
    const WsMma *m = op->mma;
    const WsValueUse *u = &op->value[0];
    if (!ws_py_whole(y, u)) {
        ws_py_refuse(y, op, "a product that accumulates into part of a value",
                     "make the part a value of its own");
        return;
    }
    gboolean zero;
    const char *acc = y->value[u->value], *layout = ws_gluon_tile_layout(y, u->cols);
    const char *a = m->a.in_registers ? operand_in_registers(y, op, layout)
                                      : operand(y, &op->access[0], op->access[0].transposed);
    const WsAccess *b = &op->access[m->a.in_registers ? 0 : 1];
    const char *flag = use_acc(y, m->first, &zero);
    ws_py_line(y, "%s = warpgroup_mma(%s, %s, %s, %s%sis_async=True)", acc, a,
               operand(y, b, !b->transposed), zero ? ws_gluon_full(y, u->value, "0.0") : acc,
               flag ? flag : "", flag ? ", " : "");
    ws_gluon(y)->token[u->value] = TRUE;
}
