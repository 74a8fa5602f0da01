/* Products and their waits. Each call of warpgroup_mma is a group of its own; what is in flight at
 * a wait is handed through it, so that the compiler keeps accumulators and register operands where
 * they are. Between its call and the next wait an accumulator is a token, not a tensor: at the end
 * of a body it passes through a wait that never waits, since what a loop carries is a tensor. */
#include "codegen/python/gluon.h"

/* --- groups
 * -------------------------------------------------------------------------------------*/

typedef struct {
    WsPy *y;
    WsOpKind kind, commit;
    gint64 calls, each; /* since the last commit; of every commit: 0 none yet, -1 they differ */
} Groups;

static void count_calls(Groups *s, const WsTree *t)
{
    for (guint i = 0; i < t->n_kids; i++) {
        if (t->kid[i])
            count_calls(s, t->kid[i]);
    }
    if (t->kind != WS_TREE_OP)
        return;
    if (t->op->kind == s->kind)
        s->calls += s->kind == WS_OP_MMA || ws_py_first_box(s->y, t->op);
    if (t->op->kind != s->commit)
        return;
    s->each = s->each == 0 || s->each == s->calls ? s->calls : -1;
    s->calls = 0;
}

gint64 ws_gluon_groups(WsPy *y, const WsOp *wait, WsOpKind kind, WsOpKind commit)
{
    if (wait->n == 0)
        return 0;
    Groups s = { y, kind, commit, 0, 0 };
    count_calls(&s, y->agent->body);
    if (s.each < 0) {
        ws_py_refuse(y, wait, "a wait for some of several groups of different size",
                     "wait for all of them (0), or make the groups alike");
        return -1;
    }
    return wait->n * MAX(s.each, 1);
}

/* --- in flight
 * ----------------------------------------------------------------------------------*/

static void issue(WsGluon *g, guint value, const char *operand)
{
    WsGluonProduct p = { value, operand };
    g_array_append_val(g->in_flight, p);
    g->token[value] = TRUE;
}

static void retire(WsGluon *g, gint64 stay)
{
    guint n = g->in_flight->len;
    if (n > stay)
        g_array_remove_range(g->in_flight, 0, (guint)(n - stay));
}

static gboolean holds(const GArray *list, guint value)
{
    for (guint i = 0; i < list->len; i++) {
        if (g_array_index(list, WsGluonProduct, i).value == value)
            return TRUE;
    }
    return FALSE;
}

/* "s, o, p_operand": everything in flight, accumulators first, each once. */
static const char *everything(WsPy *y, guint *n)
{
    WsGluon *g = ws_gluon(y);
    const char *s = "";
    *n = 0;
    for (guint v = 0; v < y->agent->n_values; v++) {
        if (holds(g->in_flight, v))
            s = ws_py_format(y, "%s%s%s", s, (*n)++ ? ", " : "", y->value[v]);
    }
    for (guint i = 0; i < g->in_flight->len; i++) {
        const char *operand = g_array_index(g->in_flight, WsGluonProduct, i).operand;
        gboolean again = FALSE;
        for (guint k = 0; k < i; k++)
            again = again || g_array_index(g->in_flight, WsGluonProduct, k).operand == operand;
        if (operand && !again)
            s = ws_py_format(y, "%s%s%s", s, (*n)++ ? ", " : "", operand);
    }
    return s;
}

static void pass_through(WsPy *y, gint64 stay)
{
    guint n;
    const char *all = everything(y, &n);
    if (n)
        ws_py_line(y, "%s = warpgroup_mma_wait(%" G_GINT64_FORMAT ", deps=[%s])", all, stay, all);
    for (guint v = 0; v < y->agent->n_values; v++)
        ws_gluon(y)->token[v] = FALSE;
}

void ws_gluon_mma_wait(WsPy *y, const WsOp *op)
{
    gint64 n = ws_gluon_groups(y, op, WS_OP_MMA, WS_OP_MMA_COMMIT);
    if (n < 0)
        return;
    pass_through(y, n);
    retire(ws_gluon(y), n);
}

#define WS_GLUON_MOST 7 /* groups that the instruction can leave in flight: it never waits */

static void settle(WsPy *y)
{
    WsGluon *g = ws_gluon(y);
    gboolean any = FALSE;
    for (guint v = 0; v < y->agent->n_values; v++)
        any = any || g->token[v];
    if (!any)
        return;
    ws_py_line(y, "# waits for nothing: what goes round is a tensor");
    pass_through(y, WS_GLUON_MOST);
}

/* Products are issued or waited for inside. */
static gboolean has_products(const WsTree *t)
{
    if (t->kind == WS_TREE_OP)
        return t->op->kind == WS_OP_MMA || t->op->kind == WS_OP_MMA_WAIT;
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

/* What is in flight at the end of a body is so at the beginning of the next round. */
static void simulate(WsPy *y, const WsTree *t)
{
    WsGluon *g = ws_gluon(y);
    for (guint i = 0; i < t->n_kids; i++) {
        if (t->kid[i])
            simulate(y, t->kid[i]);
    }
    if (t->kind != WS_TREE_OP)
        return;
    if (t->op->kind == WS_OP_MMA)
        issue(g, t->op->value[0].value, NULL);
    else if (t->op->kind == WS_OP_MMA_WAIT)
        retire(g, MAX(ws_gluon_groups(y, t->op, WS_OP_MMA, WS_OP_MMA_COMMIT), 0));
}

/* What a loop carries, or a branch changes, is a tensor. */
void ws_gluon_block_around(WsPy *y, const WsTree *t, gboolean begin)
{
    WsGluon *g = ws_gluon(y);
    if (!begin || !has_products(t))
        return;
    settle(y);
    if (t->kind != WS_TREE_LOOP)
        return;
    GArray *before = g->in_flight;
    g->in_flight = g_array_new(FALSE, FALSE, sizeof(WsGluonProduct));
    simulate(y, t->kid[0]);
    for (guint i = 0; i < before->len; i++) {
        WsGluonProduct p = g_array_index(before, WsGluonProduct, i);
        if (!holds(g->in_flight, p.value))
            g_array_prepend_val(g->in_flight, p);
    }
    g_array_unref(before);
    for (guint v = 0; v < y->agent->n_values; v++)
        g->token[v] = FALSE;
}

/* --- a product
 * ----------------------------------------------------------------------------------*/

static gboolean whole(WsPy *y, const WsValueUse *u)
{
    const WsRegValue *v = &y->agent->value[u->value];
    return u->rows == v->rows && u->cols == v->cols;
}

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
    if (!whole(y, u)) {
        ws_py_refuse(y, op, "part of a value as operand a", "make the part a value of its own");
        return "None";
    }
    const char *name = ws_py_local(y, ws_py_format(y, "%s_operand", v->name));
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
    if (!whole(y, u)) {
        ws_py_refuse(y, op, "a product that accumulates into part of a value",
                     "make the part a value of its own");
        return;
    }
    gboolean zero;
    const char *acc = y->value[u->value], *layout = ws_gluon_tile_layout(y, u->cols);
    const char *a, *kept = NULL;
    if (m->a.in_registers)
        a = kept = operand_in_registers(y, op, layout);
    else
        a = operand(y, &op->access[0], op->access[0].transposed);
    const WsAccess *b = &op->access[m->a.in_registers ? 0 : 1];
    const char *flag = use_acc(y, m->first, &zero);
    ws_py_line(y, "%s = warpgroup_mma(%s, %s, %s, %s%sis_async=True)", acc, a,
               operand(y, b, !b->transposed), zero ? ws_gluon_full(y, u->value, "0.0") : acc,
               flag ? flag : "", flag ? ", " : "");
    issue(ws_gluon(y), u->value, kept);
}
