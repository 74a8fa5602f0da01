/* Registers of an agent: undefined until they are assigned, in flight while a product may use them.
 */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

void lanes_values_new(const WsProgram *p, Lanes *a)
{
    const WsAgent *agent = &p->agent[a->agent];
    a->flight = g_array_new(FALSE, FALSE, sizeof(Product));
    a->value = g_new0(Register, agent->n_values + 1);
    for (guint i = 0; i < agent->n_values; i++) {
        a->value[i].defined = g_malloc0((gsize)agent->value[i].rows * agent->value[i].cols);
        a->value[i].touched = TRUE; /* the first product needs a fence, too */
    }
}

static void product_free(Product *x)
{
    g_free(x->acc);
    g_free(x->a);
}

void lanes_values_free(const WsProgram *p, Lanes *a)
{
    for (guint i = 0; i < a->flight->len; i++)
        product_free(&g_array_index(a->flight, Product, i));
    g_array_free(a->flight, TRUE);
    for (guint i = 0; i < p->agent[a->agent].n_values; i++)
        g_free(a->value[i].defined);
    g_free(a->value);
}

/* Products of all groups but the `newest` committed ones are over. */
void lanes_retire(Lanes *a, gint64 newest)
{
    while (a->flight->len) {
        Product *x = &g_array_index(a->flight, Product, 0);
        if ((gint64)x->group >= (gint64)a->product_group - newest)
            return;
        product_free(x);
        g_array_remove_index(a->flight, 0);
    }
}

/* The elements of a view; NULL: it does not lie in the value. Caller frees. */
static guint8 *elements(Lab *L, const Lanes *a, const WsValueUse *u)
{
    const WsRegValue *v = &L->p->agent[a->agent].value[u->value];
    gint64 row = lanes_value(L, a, u->row0), col = lanes_value(L, a, u->col0);
    guint8 *set = g_malloc0((gsize)v->rows * v->cols);
    if (row < 0 || col < 0 || row + u->rows > v->rows || col + u->cols > v->cols) {
        L->result->reason = "a view of a value out of range";
        L->result->verdict |= ORACLE_OUTSIDE;
        return set;
    }
    for (guint r = 0; r < u->rows; r++)
        memset(set + (row + r) * v->cols + col, 1, u->cols);
    return set;
}

static gboolean meet(const guint8 *x, const guint8 *y, gsize n)
{
    for (gsize i = 0; i < n; i++)
        if (x[i] && y[i])
            return TRUE;
    return FALSE;
}

static gsize size_of(const Lab *L, const Lanes *a, guint value)
{
    const WsRegValue *v = &L->p->agent[a->agent].value[value];
    return (gsize)v->rows * v->cols;
}

typedef enum { BY_THREADS, ACCUMULATOR, OPERAND } As;

static void flight(Lab *L, const Lanes *a, const WsOp *op, guint value, const guint8 *set, As as)
{
    gsize n = size_of(L, a, value);
    for (guint i = 0; i < a->flight->len; i++) {
        const Product *x = &g_array_index(a->flight, Product, i);
        /* an accumulator may be accumulator of further products, operand a may be their a */
        if (as != ACCUMULATOR && x->acc && x->value_acc == value && meet(x->acc, set, n))
            lanes_problem(L, ORACLE_REGISTER, a, op, x->op);
        if (as != OPERAND && x->a && x->value_a == value && meet(x->a, set, n))
            lanes_problem(L, ORACLE_REGISTER, a, op, x->op);
    }
}

static void read_value(Lab *L, Lanes *a, const WsOp *op, guint value, const guint8 *set)
{
    gsize n = size_of(L, a, value);
    for (gsize i = 0; i < n; i++)
        if (set[i] && !a->value[value].defined[i]) {
            lanes_problem(L, ORACLE_UNDEFINED, a, op, NULL);
            break;
        }
}

static void assign(Lab *L, Lanes *a, const WsOp *op, guint value, const guint8 *set)
{
    flight(L, a, op, value, set, BY_THREADS);
    for (gsize i = 0; i < size_of(L, a, value) && !op->skip; i++) /* a warp may skip it */
        a->value[value].defined[i] |= set[i];
    a->value[value].touched = TRUE;
}

/* --- statements */
typedef struct {
    Lab *L;
    Lanes *a;
    const WsOp *op;
} Visit;

static gint value_of(const Visit *V, const char *name)
{
    const WsAgent *agent = &V->L->p->agent[V->a->agent];
    for (guint i = 0; i < agent->n_values; i++)
        if (strcmp(agent->value[i].name, name) == 0)
            return (gint)i;
    return -1;
}

static void leaf(const WsExpr *e, gpointer data)
{
    Visit *V = data;
    gint value = e->op == WS_EXPR_NAME && e->name ? value_of(V, e->name) : -1;
    if (value < 0)
        return;
    gsize n = size_of(V->L, V->a, (guint)value);
    g_autofree guint8 *all = g_malloc(n);
    memset(all, 1, n);
    read_value(V->L, V->a, V->op, (guint)value, all);
    flight(V->L, V->a, V->op, (guint)value, all, BY_THREADS);
}

static void statements(Lab *L, Lanes *a, const WsOp *op)
{
    Visit V = { L, a, op };
    if (op->skip)
        ws_expr_visit(op->skip, leaf, &V);
    for (guint i = 0; i < op->n_math; i++) {
        ws_expr_visit(op->math[i]->value, leaf, &V);
        gint value = value_of(&V, op->math[i]->name);
        if (value < 0)
            continue;
        gsize n = size_of(L, a, (guint)value);
        g_autofree guint8 *all = g_malloc(n);
        memset(all, 1, n);
        assign(L, a, op, (guint)value, all);
    }
}

/* --- products */
static gboolean same_shape(const WsMma *x, const WsMma *y)
{
    return x->n == y->n && x->inst_k == y->inst_k && x->a_type == y->a_type &&
           x->b_type == y->b_type && x->acc_type == y->acc_type;
}

static void product(Lab *L, Lanes *a, const WsOp *op)
{
    Product x = { .op = op, .group = a->product_group, .value_acc = op->value[0].value };
    x.acc = elements(L, a, &op->value[0]);
    Register *acc = &a->value[x.value_acc];
    gsize n = size_of(L, a, x.value_acc);
    if (lanes_value(L, a, op->mma->first) == 0)
        read_value(L, a, op, x.value_acc, x.acc);
    for (gsize i = 0; i < n; i++)
        acc->defined[i] |= x.acc[i];
    flight(L, a, op, x.value_acc, x.acc, ACCUMULATOR);
    for (guint i = 0; i < a->flight->len;
         i++) { /* only products of one shape may follow each other */
        const Product *y = &g_array_index(a->flight, Product, i);
        if (y->value_acc == x.value_acc && !same_shape(y->op->mma, op->mma) &&
            meet(y->acc, x.acc, n))
            lanes_problem(L, ORACLE_REGISTER, a, op, y->op);
    }
    gboolean unfenced = acc->touched || (acc->last && !same_shape(acc->last->mma, op->mma));
    if (op->mma->a.in_registers) {
        x.value_a = op->value[1].value;
        x.a = elements(L, a, &op->value[1]);
        read_value(L, a, op, x.value_a, x.a);
        flight(L, a, op, x.value_a, x.a, OPERAND);
        unfenced = unfenced || a->value[x.value_a].touched;
    }
    if (unfenced)
        lanes_problem(L, ORACLE_PROXY, a, op, NULL);
    acc->last = op;
    g_array_append_val(a->flight, x);
}

void lanes_values(Lab *L, Lanes *a, const WsOp *op)
{
    if (op->kind == WS_OP_MATH) {
        statements(L, a, op);
        return;
    }
    if (op->kind == WS_OP_MMA) {
        product(L, a, op);
        return;
    }
    if (op->kind == WS_OP_MMA_FENCE) {
        for (guint i = 0; i < L->p->agent[a->agent].n_values; i++) {
            a->value[i].touched = FALSE;
            a->value[i].last = NULL;
        }
        return;
    }
    if (op->kind == WS_OP_MMA_COMMIT) {
        a->product_group++;
        return;
    }
    if (op->kind == WS_OP_MMA_WAIT) {
        lanes_retire(a, op->n);
        return;
    }
    for (guint i = 0; i < op->n_value; i++) {
        const WsValueUse *u = &op->value[i];
        g_autofree guint8 *set = elements(L, a, u);
        if (u->mode & WS_MODE_READ) {
            read_value(L, a, op, u->value, set);
            flight(L, a, op, u->value, set, BY_THREADS);
        }
        if (u->mode & WS_MODE_WRITE)
            assign(L, a, op, u->value, set);
    }
}
