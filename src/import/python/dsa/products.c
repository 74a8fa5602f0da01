#include "import/python/dsa/read.h"

#include <string.h>

/* Products, and where their sums begin from zero. */

static const WsExpr *first_round(PyDsa *d, const PyDsaLoop *l)
{
    return ws_x_op(d->r, WS_EXPR_EQ, ws_x_name(d->r, l->name),
                   l->from ? l->from : ws_x_int(d->r, 0));
}

/* What the text stores where the loop makes no round is not what the design would. */
static void has_rounds(PyDsa *d, const PyDsaLoop *l)
{
    g_autofree char *count = ws_x_text(l->count);
    const char *some = ws_source_format(d->r, "%s >= 1", count);
    if (!g_ptr_array_find_with_equal_func(d->r->assume, some, g_str_equal, NULL))
        g_ptr_array_add(d->r->assume, (gpointer)some);
    ws_source_granted(d->r, ws_source_format(d->r,
                                             "loop `%s` has a round at least: without one the text "
                                             "stores zeros",
                                             l->name));
}

/* By zeros in front of loops around the product: in the first round of all of them. */
static const WsExpr *by_loops(PyDsa *d, const PyDsaBuffer *sums, const WsPyNode *at)
{
    const WsExpr *first = NULL;
    for (gint i = sums->zero_depth; i < (gint)d->loops->len; i++) {
        const PyDsaLoop *l = &g_array_index(d->loops, PyDsaLoop, i);
        if (l->step->tiles || !py_dsa_is_of_launch(d, l->count)) {
            py_dsa_refuse(d, at, "Set them to zeros in the loop that adds to them.",
                          "zeros in front of a loop whose rounds are not known of a launch");
            return NULL;
        }
        has_rounds(d, l);
        const WsExpr *is = first_round(d, l);
        first = first ? ws_x_op(d->r, WS_EXPR_AND, first, is) : is;
    }
    return first;
}

/* Where it holds, the product begins from zero. NULL: never, or refused. */
static const WsExpr *begins(PyDsa *d, PyDsaBuffer *sums, const WsPyNode *at)
{
    const gint depth = (gint)d->loops->len;
    const PyDsaLoop *inner = depth ? &g_array_index(d->loops, PyDsaLoop, depth - 1) : NULL;
    const WsExpr *is = sums->zero_if, *first = NULL;
    if (is && sums->zero_if_depth != depth) {
        py_dsa_refuse(d, at, "Set them to zeros in front of the product.",
                      "zeros under a condition, in another loop than the product");
        return NULL;
    }
    if (sums->zero_depth == depth) {
        first = ws_x_int(d->r, 1);
    } else if (is && inner && !inner->step->tiles && ws_expr_equal(is, first_round(d, inner))) {
        first = is; /* whatever was set in front of the loop */
        if (sums->zero_depth >= 0 && py_dsa_is_of_launch(d, inner->count))
            has_rounds(d, inner);
    } else {
        first = sums->zero_depth >= 0 && !sums->zero_used ? by_loops(d, sums, at) : NULL;
        first = first && is ? ws_x_op(d->r, WS_EXPR_OR, first, is) : first ? first : is;
    }
    sums->zero_if = NULL;
    if (sums->zero_depth == depth)
        sums->zero_depth = -1;
    else
        sums->zero_used = sums->zero_depth >= 0;
    return first;
}

const PyDsaVal *py_dsa_dot(PyDsa *d, const WsPyNode *call, const char *target)
{
    const WsPyNode *arg[4];
    const PyDsaVar *old = py_dsa_find(d, target);
    if (!py_dsa_arguments(d, call, "input other acc out_dtype", arg))
        return NULL;
    const PyDsaVal *a = arg[0] ? py_dsa_eval(d, arg[0]) : NULL,
                   *b = a && arg[1] ? py_dsa_eval(d, arg[1]) : NULL;
    if (!a || !b || a->kind != DSA_TENSOR || b->kind != DSA_TENSOR || a->turned) {
        py_dsa_refuse(d, call, "Write tl.dot(to_tensor(a), to_tensor(b), sums).",
                      "a product of such values");
        return NULL;
    }
    if (py_dsa_is_former(d, a, call) || py_dsa_is_former(d, b, call))
        return NULL;
    if (arg[3]) {
        const char *out = py_dsa_dtype(d, arg[3]);
        if (!out || strcmp(out, "f32")) {
            py_dsa_refuse(d, arg[3], "Sums are tl.float32.", "sums of another type");
            return NULL;
        }
    }
    const PyDsaVal *acc = arg[2] ? py_dsa_eval(d, arg[2]) : NULL;
    const gboolean adds = acc && acc->kind == DSA_SUMS && old && old->value->object == acc->object;
    if (arg[2] && !adds) {
        py_dsa_refuse(d, call, "Write c = tl.dot(a, b, c).",
                      "a product that adds to something else than the variable it is assigned to");
        return NULL;
    }
    const PyDsaBuffer *left = py_dsa_buffer(d, a->object), *right = py_dsa_buffer(d, b->object);
    const gint64 m = left->rows, k = left->cols, k2 = b->turned ? right->cols : right->rows,
                 n = b->turned ? right->rows : right->cols;
    gint object = old && old->value->kind == DSA_SUMS ? old->value->object : -1;
    if (object < 0)
        object = py_dsa_new_buffer(d, (PyDsaBuffer){ .dtype = "f32",
                                                     .space = (gint)d->core->sums,
                                                     .rank = 2,
                                                     .rows = m,
                                                     .cols = n,
                                                     .zero_depth = -1,
                                                     .line = call->line });
    PyDsaBuffer *sums = py_dsa_buffer(d, object);
    left = py_dsa_buffer(d, a->object), right = py_dsa_buffer(d, b->object);
    if (left->rank != 2 || right->rank != 2 || k != k2 || sums->rows != m || sums->cols != n) {
        py_dsa_refuse(d, call, "Use [M, K], [K, N] and [M, N].",
                      "a product whose shapes do not fit");
        return NULL;
    }
    const WsExpr *first = adds ? begins(d, sums, call) : ws_x_int(d->r, 1);
    if (py_dsa_failed(d))
        return NULL;
    if (!adds)
        sums->zero_depth = -1, sums->zero_if = NULL;
    PyDsaStep *s = py_dsa_step(d, DSA_CUBE, call);
    s->queue = d->core->cube;
    s->into = object;
    s->a = a->object;
    s->b = b->object;
    s->turned = !b->turned; /* the design writes it with the contraction last */
    s->first = first;
    sums->stores++;
    PyDsaVal *v = py_dsa_val(d, DSA_SUMS);
    v->object = object;
    return v;
}
