#include "import/python/pyread_branch.h"
#include "import/python/amd/amd.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_object.h"
#include "import/python/pyread_types.h"

#include <string.h>

/* Branches: of the host, of which the way to the launch is taken, and of the kernel, where both are
 * walked and what they leave is chosen between. */

GHashTable *py_copy_vars(GHashTable *from)
{
    GHashTable *to = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_iter_init(&it, from);
    while (g_hash_table_iter_next(&it, &key, &value))
        g_hash_table_insert(to, key, value);
    return to;
}

/* Where two ways come together again. */
typedef struct {
    const WsExpr *c;
    const WsPyNode *at;
} Meeting;

static const Val *merge_fields(PyRead *p, gpointer data, const Val *a, const Val *b)
{
    const Meeting *m = data;
    return py_either(p, m->c, a, b, m->at);
}

/* The same zeros on both ways: where they have to be stored, that is behind the branch. */
static const Val *either_zeros(PyRead *p, const Val *a, const Val *b, const WsPyNode *at)
{
    const Val *held = a->index >= 0 ? a : b;
    if (held->index < 0 || !held->step)
        return held;
    Val *zero = py_val(p, VAL_ZERO);
    *zero = *held;
    py_off_zeros(p, zero, at);
    py_set(p, zero->step, zero->index);
    zero->made = p->clock;
    zero->step->text = held->step->text;
    return zero;
}

/* Either of two tiles: what reads it reads both, as either may be. */
static const Val *either_tile(PyRead *p, const WsExpr *c, const Val *a, const Val *b,
                              const WsPyNode *at)
{
    const Val *which = c ? py_int(p, c) : py_literal(p, 1);
    if (a->kind == VAL_TILE && b->kind == VAL_TILE && a->index == b->index &&
        !g_strcmp0(a->text, b->text))
        return a->made < b->made ? a : b; /* a former one stays one */
    const Val *zero = a->kind == VAL_ZERO ? a : b->kind == VAL_ZERO ? b : NULL;
    const Val *other = zero == a ? b : a;
    if (zero && zero->step && other->kind == VAL_TILE && other->index == zero->index) {
        zero->step->off = FALSE; /* the way that does not set it leaves the zeros */
        return other;
    }
    if (zero && zero->rows * zero->cols > 1 && other->kind == VAL_ZERO &&
        !g_strcmp0(a->text, b->text) && !g_strcmp0(a->dtype, b->dtype))
        return either_zeros(p, a, b, at);
    const Val *x = py_formula(p, a), *y = py_formula(p, b);
    if (x && y && (py_is_sixteen(x) || py_is_sixteen(y)) && g_strcmp0(x->dtype, y->dtype))
        return py_opaque(p); /* what is computed of it is rounded as the way that was taken says */
    const Val *m = py_function_tile(p, "select", (const Val *[]){ which, a, b }, 3, FALSE);
    if (m->kind == VAL_MATH && !g_strcmp0(py_formula(p, a)->dtype, "b"))
        ((Val *)m)->dtype = "b";
    return m;
}

const Val *py_either(PyRead *p, const WsExpr *c, const Val *a, const Val *b, const WsPyNode *at)
{
    if (!a || !b)
        return a ? a : b;
    if (a == b)
        return a;
    const WsExpr *x = py_as_int(p, a), *y = py_as_int(p, b);
    if (x && y)
        return ws_expr_equal(x, y) ? a : py_int(p, ws_x_call(p->r, WS_FUNC_SELECT, c, x, y));
    Meeting meeting = { c, at };
    if (a->kind == VAL_OBJECT && b->kind == VAL_OBJECT && a->node == b->node)
        return py_object_merge(p, a, b, merge_fields, &meeting);
    if (py_is_index(a) || py_is_index(b))
        return a->kind == b->kind && !strcmp(a->text, b->text) && a->rows == b->rows &&
                       a->cols == b->cols
                   ? a
                   : py_opaque(p);
    if (a->kind == VAL_TUPLE && b->kind == VAL_TUPLE && a->n == b->n) {
        Val *v = py_val(p, VAL_TUPLE);
        v->item = g_new0(const Val *, a->n + 1);
        g_ptr_array_add(p->r->pool, v->item);
        for (guint i = 0; i < a->n; i++)
            v->item[v->n++] = py_either(p, c, a->item[i], b->item[i], at);
        return v;
    }
    const gboolean words = a->kind == b->kind && (a->kind == VAL_STRING || a->kind == VAL_NAME) &&
                           !g_strcmp0(a->text, b->text);
    const gboolean alike = a->kind == b->kind && (a->kind == VAL_NONE || a->kind == VAL_LAYOUT ||
                                                  (a->kind == VAL_FUNC && a->node == b->node));
    const Val *v = py_is_tile(a) && py_is_tile(b) ? either_tile(p, c, a, b, at)
                   : words || alike               ? a
                                                  : py_opaque(p);
    if (v->kind == VAL_OPAQUE && (py_holds_tile(a) || py_holds_tile(b)))
        py_unread(p, at, "which tile a variable is after a branch");
    return v;
}

/* What is assigned there may have been, or not: it is open. */
void py_leave_open(PyRead *p, const WsPyNode *block)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    py_assigned_names(block, names);
    for (guint i = 0; i < names->len; i++) {
        py_assign(p, names->pdata[i], py_open(p, names->pdata[i]));
    }
}

/* What comes behind the block does not come behind this one. */
static gboolean gives_up(const WsPyNode *block)
{
    const WsPyNode *last = block->n ? block->kid[block->n - 1] : NULL;
    return last && (last->kind == WS_PY_RETURN ||
                    (last->kind == WS_PY_OTHER && !g_strcmp0(last->text, "raise")));
}

/* Behind `if c: raise` the opposite of c holds. FALSE: it was not assumed. */
static gboolean assume_not(PyRead *p, const WsExpr *c)
{
    static const WsExprOp opposite[][2] = {
        { WS_EXPR_LT, WS_EXPR_GE }, { WS_EXPR_LE, WS_EXPR_GT }, { WS_EXPR_EQ, WS_EXPR_NE },
        { WS_EXPR_GE, WS_EXPR_LT }, { WS_EXPR_GT, WS_EXPR_LE }, { WS_EXPR_NE, WS_EXPR_EQ },
    };
    for (guint i = 0; c && i < G_N_ELEMENTS(opposite); i++)
        if (c->op == opposite[i][0])
            return py_assume(p,
                             ws_x_op(p->r, opposite[i][1], ws_x_own(p->r, ws_expr_ref(c->arg[0])),
                                     ws_x_own(p->r, ws_expr_ref(c->arg[1]))));
    if (c && c->op == WS_EXPR_NOT)
        return py_assume(p, ws_x_own(p->r, ws_expr_ref(c->arg[0])));
    if (c && c->op == WS_EXPR_AND)
        return py_assume(p, ws_x_op(p->r, WS_EXPR_NOT, c, NULL));
    gboolean both = c && c->op == WS_EXPR_OR;
    for (guint i = 0; c && c->op == WS_EXPR_OR && i < 2; i++)
        both &= assume_not(p, ws_x_own(p->r, ws_expr_ref(c->arg[i])));
    if (c && c->op != WS_EXPR_OR)
        return py_assume(p, ws_x_op(p->r, WS_EXPR_EQ, c, ws_x_int(p->r, 0)));
    return both;
}

static void open_size(const WsExpr *e, gpointer data)
{
    PyRead *p = data;
    if (e->op == WS_EXPR_NAME && ws_source_has_size(p->r, e->name))
        ws_source_open(p->r, e->name);
}

static void leave_limited(PyRead *p, const WsPyNode *condition)
{
    if (p->unsure || p->entered || p->in_kernel)
        return;
    const gboolean leaf = condition->kind == WS_PY_NAME || condition->kind == WS_PY_ATTR ||
                          condition->kind == WS_PY_INDEX;
    const Val *v = leaf ? py_eval(p, condition) : NULL;
    if (v && v->kind == VAL_INT)
        ws_expr_visit(v->e, open_size, p);
    if (v && v->kind == VAL_PARAM && condition->kind == WS_PY_NAME)
        ((Val *)v)->given = FALSE; /* of a tensor it says nothing */
    const gboolean call = condition->kind == WS_PY_CALL;
    for (guint i = call; !leaf && i < condition->n; i++)
        leave_limited(p, condition->kid[i]);
}

/* x.shape and tuple(x.shape); NULL: something else. */
static const Val *shape_of(PyRead *p, const WsPyNode *e)
{
    const gboolean call = e->kind == WS_PY_CALL && e->n == 2 && e->kid[0]->kind == WS_PY_NAME &&
                          !strcmp(e->kid[0]->text, "tuple") && p->names &&
                          py_computes(p->names, e->kid[0]);
    const WsPyNode *x = call ? e->kid[1] : e;
    const Val *v = x->kind == WS_PY_ATTR && !strcmp(x->text, "shape") ? py_eval(p, x) : NULL;
    return v && v->kind == VAL_SHAPE ? v : NULL;
}

/* Dimension d of a shape is e: a condition of the host says so. */
static void shape_is(PyRead *p, const Val *shape, guint d, const WsExpr *e)
{
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, shape->index);
    if (!e || d >= G_N_ELEMENTS(t->shape) || !py_is_extent(p, e))
        return;
    t->rank = MAX(t->rank, d + 1);
    if (!t->shape[d])
        t->shape[d] = e;
    else if (!ws_expr_equal(t->shape[d], e))
        py_assume(p, ws_x_op(p->r, WS_EXPR_EQ, t->shape[d], e));
}

/* What a shape is compared with: the analysis of what may be changed is by names, and a tuple of
 * numbers is not. */
static const Val *tuple_of(PyRead *p, const WsPyNode *e)
{
    const Val *v =
        e->kind == WS_PY_NAME && p->names && !p->names->all ? py_lookup(p, e->text) : NULL;
    gboolean fixed = v && v->kind == VAL_TUPLE && v->fixed;
    for (guint i = 0; fixed && i < v->n; i++)
        fixed = v->item[i]->kind == VAL_INT;
    return fixed ? v : py_eval(p, e);
}

/* x.is_contiguous() */
static void note_contiguous(PyRead *p, const WsPyNode *call)
{
    const WsPyNode *f = call->kid[0];
    if (call->n != 1 || f->kind != WS_PY_ATTR || strcmp(f->text, "is_contiguous"))
        return;
    const Val *x = py_eval(p, f->kid[0]);
    const gint tensor =
        x->kind == VAL_PARAM || x->kind == VAL_TENSOR ? py_tensor(p, x, 0, call->line) : -1;
    if (tensor >= 0)
        g_array_index(p->r->tensors, WsReadTensor, tensor).contiguous = TRUE;
}

void py_note_shapes(PyRead *p, const WsPyNode *condition, gboolean holds)
{
    if (p->in_kernel || p->unsure || p->entered)
        return;
    if (holds && condition->kind == WS_PY_CALL)
        note_contiguous(p, condition);
    if (condition->kind == WS_PY_UNARY && !strcmp(condition->text, "not"))
        py_note_shapes(p, condition->kid[0], !holds);
    if (condition->kind != WS_PY_BINARY)
        return;
    for (guint i = 0; i < 2; i++) {
        if (!strcmp(condition->text, holds ? "and" : "or")) {
            py_note_shapes(p, condition->kid[i], holds);
            continue;
        }
        const Val *shape =
            strcmp(condition->text, holds ? "==" : "!=") ? NULL : shape_of(p, condition->kid[i]);
        const Val *is = shape ? tuple_of(p, condition->kid[1 - i]) : NULL;
        for (guint d = 0; is && is->kind == VAL_TUPLE && is->n <= 5 && d < is->n; d++)
            shape_is(p, shape, d, py_as_int(p, is->item[d]));
    }
}

gboolean py_returns(const WsPyNode *node)
{
    if (node->kind == WS_PY_RETURN)
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (py_returns(node->kid[i]))
            return TRUE;
    return FALSE;
}

/* x.dtype, of a parameter whose type is not known yet. */
static Val *typed(PyRead *p, const WsPyNode *e)
{
    const Val *v =
        e->kind == WS_PY_ATTR && !strcmp(e->text, "dtype") ? py_eval(p, e->kid[0]) : NULL;
    return v && v->kind == VAL_PARAM && !v->dtype ? (Val *)v : NULL;
}

/* x.dtype in (torch.float16, torch.bfloat16): the first of them, as the others have its size. */
static void one_of(PyRead *p, const WsPyNode *condition)
{
    Val *x = strcmp(condition->text, "in") ? NULL : typed(p, condition->kid[0]);
    const Val *of = x ? py_eval(p, condition->kid[1]) : NULL;
    const char *first = NULL;
    if (!of || of->kind != VAL_TUPLE)
        return;
    for (guint i = 0; i < of->n; i++) {
        const char *is = of->item[i]->kind == VAL_NAME ? py_dtype(of->item[i]->text) : NULL;
        if (!is || (first && py_dtype_bytes(is) != py_dtype_bytes(first)))
            return;
        first = first ? first : is;
    }
    x->dtype = first;
    if (first && of->n > 1)
        ws_source_granted(p->r, ws_source_format(p->r,
                                                 "`%s` holds %s, the first of the types that "
                                                 "its host lets through",
                                                 x->text, first));
}

void py_note_types(PyRead *p, const WsPyNode *condition, gboolean holds)
{
    const char *joined = holds ? "and" : "or", *same = holds ? "==" : "!=";
    if (p->in_kernel || p->unsure || p->entered || condition->kind != WS_PY_BINARY)
        return;
    for (guint i = 0; i < 2; i++) {
        if (!strcmp(condition->text, joined)) {
            py_note_types(p, condition->kid[i], holds);
            continue;
        }
        if (holds && i == 0)
            one_of(p, condition);
        Val *x = strcmp(condition->text, same) ? NULL : typed(p, condition->kid[i]);
        const Val *type = x ? py_eval(p, condition->kid[1 - i]) : NULL;
        if (type && type->kind == VAL_NAME)
            x->dtype = py_dtype(type->text);
    }
}

gboolean py_is_bit(const WsExpr *e)
{
    gint64 n;
    return (e->op == WS_EXPR_MOD && ws_x_is(e->arg[1], &n) && n == 2) ||
           (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) || e->op == WS_EXPR_NOT ||
           (ws_x_is(e, &n) && (n == 0 || n == 1)) ||
           (e->op == WS_EXPR_NAME && g_str_has_prefix(e->name, "__v_"));
}

gboolean py_joins(const WsPyNode *node)
{
    static const char *const words[] = { "and", "or", "not" };
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (node->text && !strcmp(node->text, words[i]))
            return node->kind == WS_PY_BINARY || node->kind == WS_PY_UNARY;
    return FALSE;
}

const WsExpr *py_joined(PyRead *p, gboolean both, const WsExpr *a, const WsExpr *b)
{
    const gboolean truth = a && b && py_is_bit(b) && (both || py_is_bit(a));
    if (truth || (p->deciding && p->deciding < PY_WITHIN))
        return ws_x_op(p->r, both ? WS_EXPR_AND : WS_EXPR_OR, a, b);
    if (p->in_kernel) /* of numbers of the launch a truth, of constants one of the two */
        return NULL;
    return ws_x_call(p->r, WS_FUNC_SELECT, a, both ? b : a, both ? a : b);
}

static void note_return(PyRead *p, const WsExpr *c, const Val *v)
{
    PyReturn *one = g_new0(PyReturn, 1);
    g_ptr_array_add(p->r->pool, one);
    *one = (PyReturn){ c, v, p->frame->early };
    p->frame->early = one;
}

/* What a block gives that is a `return` of a number alone. */
static const Val *given_by(PyRead *p, const WsPyNode *block)
{
    const WsPyNode *one = block->n == 1 ? block->kid[0] : NULL;
    const Val *v =
        one && one->kind == WS_PY_RETURN && one->n ? py_eval(p, one->kid[0]) : py_opaque(p);
    return v->kind == VAL_INT ? v : py_opaque(p);
}

/* A condition of the host as an expression; NULL: it is none. */
static const WsExpr *condition_of(PyRead *p, const WsPyNode *node)
{
    p->deciding++;
    const Val *v = py_eval(p, node->kid[0]);
    p->deciding--;
    return v->kind == VAL_INT ? v->e : NULL;
}

/* A helper of the host gives what the taken way gives, or what follows; `reached`: where this is
 * come to. TRUE: nothing follows, and the result of the frame is that of the last way. */
static gboolean note_returns(PyRead *p, const WsPyNode *node, const WsExpr *c,
                             const WsExpr *reached)
{
    const WsPyNode *other = node->n > 2 ? node->kid[2] : NULL;
    const WsExpr *no = ws_x_op(p->r, WS_EXPR_NOT, c, NULL);
    const WsExpr *there = ws_x_op(p->r, WS_EXPR_AND, reached, no);
    if (py_returns(node->kid[1]))
        note_return(p, ws_x_op(p->r, WS_EXPR_AND, reached, c), given_by(p, node->kid[1]));
    if (!other || !py_returns(other))
        return FALSE;
    if (other->n == 1 && other->kid[0]->kind == WS_PY_IF)
        return note_returns(p, other->kid[0], condition_of(p, other->kid[0]), there) &&
               gives_up(node->kid[1]);
    const Val *v = given_by(p, other);
    note_return(p, there, v);
    p->frame->result = v;
    return gives_up(node->kid[1]) && gives_up(other);
}

/* Parts of which each holds, or none does. */
static void sure_parts(PyRead *p, const WsPyNode *condition, gboolean holds)
{
    if (condition->kind == WS_PY_BINARY && !strcmp(condition->text, holds ? "and" : "or")) {
        sure_parts(p, condition->kid[0], holds);
        sure_parts(p, condition->kid[1], holds);
        return;
    }
    p->deciding++;
    const WsExpr *e = py_eval_int(p, condition);
    p->deciding--;
    gint64 known;
    const gboolean is_known = e && ws_x_is(e, &known);
    if (is_known && (known != 0) != holds)
        py_never_behind(p, condition);
    const gboolean assumed = holds ? py_assume(p, e) : assume_not(p, e);
    if (!e)
        leave_limited(p, condition);
    if (!assumed && !is_known && !py_is_guard(p, condition))
        py_passed(p, condition);
}

void py_sure(PyRead *p, const WsPyNode *condition, gboolean holds)
{
    sure_parts(p, condition, holds);
    py_note_types(p, condition, holds);
    py_note_shapes(p, condition, holds);
}

/* On the host a condition guards errors and choices of launch: the way to the launch is taken. */
static void host_branch(PyRead *p, const WsPyNode *node, const WsExpr *c)
{
    if (py_leads_to_launch(p, node->kid[1])) { /* which is where the condition holds */
        py_sure(p, node->kid[0], TRUE);
        py_run(p, node->kid[1]);
        return;
    }
    if (node->n > 2 && py_leads_to_launch(p, node->kid[2])) {
        py_sure(p, node->kid[0], FALSE);
        py_run(p, node->kid[2]);
        return;
    }
    const gboolean may_return = p->frame && p->frame->helper && py_returns(node->kid[1]);
    if (p->frame && p->frame->helper && py_returns(node)) {
        p->frame->returned = note_returns(p, node, c, ws_x_int(p->r, 1));
        p->frame->result = p->frame->returned ? p->frame->result : NULL;
    }
    if (gives_up(node->kid[1]) && !may_return)
        py_sure(p, node->kid[0], FALSE);
    else
        py_passed_if_it_ends(p, node->kid[1]);
    if (node->n > 2)
        py_passed_if_it_ends(p, node->kid[2]);
    for (guint i = 1; i < node->n; i++)
        if (!gives_up(node->kid[i]))
            py_leave_open(p, node->kid[i]);
}

/* A branch that ends the function: what stands behind it is the other one. */
static void go_on_in(PyRead *p, const WsPyNode *node, WsReadStep *s, gboolean then)
{
    if (p->frame->blocks > 1) {
        py_opaque_step(p, node, "a return inside of blocks");
        return;
    }
    p->to = then ? s->other : s->body; /* until the call ends */
}

static void symbolic_branch(PyRead *p, const WsPyNode *node, const WsExpr *c)
{
    if (p->amd)
        py_amd_meet(p);
    WsReadStep *s = py_step(p, WS_READ_IF, node);
    s->e = c;
    GPtrArray *to = p->to;
    GHashTable *before = py_copy_vars(p->frame->vars);
    p->to = s->body;
    const guint values = p->group ? p->group->values->len : 0;
    const guint copies = p->open_gathers->len;
    g_autoptr(GArray) times = py_times(p);
    g_auto(PyShared) shared = py_shared_now(p);
    p->unsure++;
    py_run(p, node->kid[1]);
    if (p->amd)
        py_amd_meet(p);
    py_copies_left(p, copies, node);
    const gboolean left = p->frame->returned;
    const Val *gave = p->frame->result;
    p->frame->returned = FALSE;
    GHashTable *then = py_copy_vars(p->frame->vars); /* branches inside have made it anew */
    g_hash_table_unref(p->frame->vars);
    p->frame->vars = before;
    p->to = s->other;
    g_autoptr(GArray) then_times = py_times(p);
    g_auto(PyShared) behind = py_shared_now(p);
    py_shared_set(p, &shared);
    if (!left) /* else all of it comes behind: what was set there is not read */
        py_times_back(p, times);
    if (node->n > 2)
        py_run(p, node->kid[2]);
    if (p->amd)
        py_amd_meet(p);
    py_copies_left(p, copies, node);
    p->unsure -= !left && !p->frame->returned; /* else until the call ends */
    const gboolean right = p->frame->returned;
    if (right && !left) /* goes on behind the first way alone */
        py_shared_set(p, &behind);
    else if (!left)
        py_shared_join(p, &behind);
    p->frame->returned = left && right;
    p->to = to;
    g_autoptr(GArray) else_times = py_times(p);
    py_times_met(p, then_times, else_times, left == right);
    if (left && right)
        p->frame->result = py_either(p, c, py_still(p, gave, then_times),
                                     py_still(p, p->frame->result, else_times), node);
    if (left != right) {
        note_return(p, left ? c : ws_x_op(p->r, WS_EXPR_NOT, c, NULL),
                    left ? gave : p->frame->result);
        p->frame->result = NULL; /* what stands behind gives its own */
        if (right) {             /* goes on behind `then` */
            g_hash_table_unref(p->frame->vars);
            p->frame->vars = then;
        } else {
            g_hash_table_unref(then);
        }
        go_on_in(p, node, s, left);
        return;
    }
    GHashTableIter it;
    gpointer key, value;
    const PyWays ways = { s, values, times, then_times, else_times, then, p->frame->vars };
    g_hash_table_iter_init(&it, then);
    while (g_hash_table_iter_next(&it, &key, &value)) {
        const Val *other = g_hash_table_lookup(p->frame->vars, key);
        const Val *a = py_still(p, value, then_times), *b = py_still(p, other, else_times);
        const Val *met = py_met(p, &ways, key, a, b, node);
        met = met ? met : py_either(p, c, a, b, node);
        g_hash_table_insert(p->frame->vars, key, (gpointer)(a && b ? met : py_perhaps(p, met)));
    }
    g_hash_table_iter_init(&it, p->frame->vars);
    while (g_hash_table_iter_next(&it, &key, &value))
        if (!g_hash_table_contains(then, key))
            g_hash_table_iter_replace(&it, (gpointer)py_perhaps(p, value));
    g_hash_table_unref(then);
    s->off = !s->body->len && !s->other->len;
}

void py_branch(PyRead *p, const WsPyNode *node)
{
    p->deciding++;
    const Val *condition = py_eval(p, node->kid[0]);
    p->deciding--;
    gint64 known = condition->kind != VAL_NONE;
    if (py_known(condition, &known) || condition->kind == VAL_NONE) {
        if (known)
            py_run(p, node->kid[1]);
        else if (node->n > 2)
            py_run(p, node->kid[2]);
        return;
    }
    if (!p->in_kernel) {
        host_branch(p, node, condition->kind == VAL_INT ? condition->e : NULL);
        return;
    }
    const WsExpr *c = py_as_int(p, condition);
    if (p->computing) { /* a function of constants: what it gives is not known */
        p->frame->result = py_plain(p);
        p->frame->returned = TRUE;
        return;
    }
    if (!c || !p->group) {
        py_opaque_step(p, node, "a condition that is no expression over integers");
        return;
    }
    if (py_hides_negative(p, c))
        py_unread(p, node, "a condition on a quotient or a rest that may be below 0");
    symbolic_branch(p, node, c);
}

/* On the host errors may be caught around the block: if it does not lead to the launch, what it
 * asks for is not assumed. */
void py_run_maybe(PyRead *p, const WsPyNode *block)
{
    const gboolean caught = !p->in_kernel && !py_leads_to_launch(p, block);
    p->unsure += caught;
    py_run(p, block);
    p->unsure -= caught;
}
