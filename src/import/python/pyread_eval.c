#include "import/python/amd/amd.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_mesh.h"
#include "import/python/names/names.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* Expressions. */

void py_assign(PyRead *p, const char *name, const Val *v)
{
    g_hash_table_insert(p->frame ? p->frame->vars : p->globals, (gpointer)name, (gpointer)v);
}

const WsExpr *py_eval_int(PyRead *p, const WsPyNode *node)
{
    return py_as_int(p, py_eval(p, node));
}

static const Val *tuple(PyRead *p, const WsPyNode *node)
{
    Val *v = py_val(p, VAL_TUPLE);
    v->item = g_new0(const Val *, node->n + 1);
    g_ptr_array_add(p->r->pool, v->item);
    v->n = node->n;
    for (guint i = 0; i < node->n; i++)
        v->item[i] = py_eval(p, node->kid[i]);
    for (guint i = 0; i < node->n; i++) /* what a later one sets an earlier one may name */
        v->item[i] = py_current(p, v->item[i], node->kid[i]);
    v->made = p->clock;
    v->fixed = node->kind == WS_PY_TUPLE;
    return v;
}

static gboolean is_number(const Val *v)
{
    return v->kind == VAL_INT || v->kind == VAL_PARAM;
}

/* & | ^ << >> on integers, as far as they mean arithmetic. */
static const WsExpr *bits(PyRead *p, const char *op, const WsExpr *a, const WsExpr *b)
{
    WsRead *r = p->r;
    gint64 n, m;
    if (ws_x_is(a, &m) && ws_x_is(b, &n)) {
        const gint64 value = !strcmp(op, "&") ? (m & n) : !strcmp(op, "|") ? (m | n) : (m ^ n);
        if (*op == '&' || *op == '|' || *op == '^')
            return ws_x_int(r, value);
    }
    if (*op == '^' && ws_x_is(a, &n))
        return bits(p, op, b, a);
    if (*op == '&' && ws_x_is(b, &n) && n > 0 && ((n + 1) & n) == 0)
        return ws_x_mod(r, a, n + 1);
    if (*op == '^' && ws_x_is(b, &n) && n == 1 && py_is_bit(a))
        return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, a, b), 2);
    if (*op == '^' && ws_x_is(b, &n) && n == 0)
        return a;
    if (*op == '^' && py_is_bit(a) && py_is_bit(b))
        return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, a, b), 2);
    if (!strcmp(op, ">>") && ws_x_is(b, &n) && n >= 0 && n < 62)
        return ws_x_op(r, WS_EXPR_DIV, a, ws_x_int(r, (gint64)1 << n));
    if (!strcmp(op, "<<") && ws_x_is(b, &n) && n >= 0 && n < 62)
        return ws_x_op(r, WS_EXPR_MUL, a, ws_x_int(r, (gint64)1 << n));
    if (*op == '&' && py_is_bit(a) && py_is_bit(b))
        return ws_x_op(r, WS_EXPR_AND, a, b);
    if (*op == '|' && py_is_bit(a) && py_is_bit(b))
        return ws_x_op(r, WS_EXPR_OR, a, b);
    return NULL;
}

/* (x + n - 1) // n, as hosts write it, is cdiv(x, n). NULL: it is not. */
static const WsExpr *rounded_up(PyRead *p, const WsExpr *a, const WsExpr *b)
{
    gint64 n;
    WsAffine f;
    if (p->group || !a || !ws_x_is(b, &n) || n < 2 || !ws_expr_affine(a, &f))
        return NULL;
    const gboolean fits = f.n > 0 && f.constant == n - 1;
    ws_affine_clear(&f);
    return fits ? ws_x_call(p->r, WS_FUNC_CDIV,
                            ws_x_op(p->r, WS_EXPR_SUB, a, ws_x_int(p->r, n - 1)), b, NULL)
                : NULL;
}

/* Kernels cut quotients towards 0, and what is left has the sign of the left side; constants of the
 * compiler are rounded down. Numbers below 0 are either, by where they come from. */
static const WsExpr *towards_zero(PyRead *p, gboolean rest, const WsExpr *a, const WsExpr *b)
{
    WsRead *r = p->r;
    const WsExprOp op = rest ? WS_EXPR_MOD : WS_EXPR_DIV;
    gint64 x, n;
    if (ws_x_is(a, &x) && ws_x_is(b, &n))
        return x % n ? NULL : ws_x_op(r, op, a, b);
    const WsExpr *minus =
        ws_x_op(r, WS_EXPR_NEG, ws_x_op(r, op, ws_x_op(r, WS_EXPR_NEG, a, NULL), b), NULL);
    return ws_x_call(r, WS_FUNC_SELECT, ws_x_op(r, WS_EXPR_GE, a, ws_x_int(r, 0)),
                     ws_x_op(r, op, a, b), minus);
}

/* The number of a round: what had been counted when the loop began is a sum less that. */
static gboolean is_round(const PyRead *p, const WsExpr *e)
{
    for (guint i = 0; e->op == WS_EXPR_NAME && i < p->loops->len; i++)
        if (!strcmp(g_array_index(p->loops, OpenLoop, i).name, e->name))
            return TRUE;
    return FALSE;
}

/* A whole turn or more is taken away, or what another name says: the first uses of the ring are
 * below 0, where rounding down would hide it. */
static gboolean takes_a_turn(const PyRead *p, const WsExpr *e, gint64 n)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return TRUE;
    gboolean any = f.constant <= -n;
    for (guint i = 0; i < f.n; i++)
        any |= f.factor[i] < 0 && !(f.factor[i] == -1 && is_round(p, f.term[i]));
    ws_affine_clear(&f);
    return any;
}

static const WsExpr *arithmetic(PyRead *p, const char *op, const WsExpr *a, const WsExpr *b)
{
    static const struct {
        const char *text;
        WsExprOp op;
    } table[] = {
        { "+", WS_EXPR_ADD }, { "-", WS_EXPR_SUB }, { "*", WS_EXPR_MUL }, { "//", WS_EXPR_DIV },
        { "<", WS_EXPR_LT },  { "<=", WS_EXPR_LE }, { ">", WS_EXPR_GT },  { ">=", WS_EXPR_GE },
        { "==", WS_EXPR_EQ }, { "!=", WS_EXPR_NE },
    };
    gint64 n;
    if (!strcmp(op, "and") || !strcmp(op, "or"))
        return py_joined(p, *op == 'a', a, b);
    if (a && b && !strcmp(op, "*") && ((ws_x_is(a, &n) && !n) || (ws_x_is(b, &n) && !n)))
        return ws_x_int(p->r, 0);
    const WsExpr *up = !strcmp(op, "//") ? rounded_up(p, a, b) : NULL;
    if (up)
        return up;
    const gboolean sum = !op[1] && strchr("+-*", *op);
    if (p->in_kernel && p->group && !sum && (py_may_leave_32_bits(a) || py_may_leave_32_bits(b)))
        return NULL;
    const WsExpr *part = (!strcmp(op, "//") || !strcmp(op, "%")) && ws_x_is(b, &n)
                             ? py_mesh_part(p, *op == '%', a, n)
                             : NULL;
    if (part)
        return part;
    if ((!strcmp(op, "//") || !strcmp(op, "%")) && p->in_kernel && p->group && !p->computing && a &&
        ws_x_is(b, &n) && n > 0 &&
        (py_may_be_negative(p, a, *op == '%') ||
         (*op == '%' && n == 2 && py_is_odd_below_zero(p, a))))
        return towards_zero(p, *op == '%', a, b);
    if (a && p->floor_index == a && *op == '%' && ws_x_is(b, &n) && takes_a_turn(p, a, n))
        return towards_zero(p, TRUE, a, b);
    if (a && p->floor_phase == a)
        ws_x_is(b, &p->floor_by);
    if (!strcmp(op, "%") && ws_x_is(b, &n) && n > 0)
        return ws_x_mod(p->r, a, n);
    if (!strcmp(op, "%"))
        return ws_x_op(p->r, WS_EXPR_MOD, a, b);
    for (guint i = 0; i < G_N_ELEMENTS(table); i++)
        if (!strcmp(table[i].text, op))
            return ws_x_op(p->r, table[i].op, a, b);
    return bits(p, op, a, b);
}

static const Val *real(PyRead *p, const char *op, const Val *a, const Val *b)
{
    g_autofree char *x = a->kind == VAL_INT ? ws_x_text(a->e) : g_strdup(a->text);
    g_autofree char *y = b->kind == VAL_INT ? ws_x_text(b->e) : g_strdup(b->text);
    const gboolean pointer = (a->kind == VAL_PARAM && !py_formula(p, a)) ||
                             (b->kind == VAL_PARAM && !py_formula(p, b)); /* else a scalar */
    if (!x || !y || pointer || strlen(x) + strlen(y) > 500)
        return py_opaque(p);
    Val *v = py_val(p, VAL_REAL);
    v->text = ws_source_format(p->r, "(%s %s %s)", x, op, y);
    return v;
}

/* (tile - pid) // grid: the position in this CTA's sequence of tiles. */
static const WsExpr *position(PyRead *p, const char *op, const WsExpr *a, const WsExpr *b)
{
    gint64 one, minus, rest;
    if (strcmp(op, "//") || !a || !b || !p->tile || !p->tile_loop || !p->loops->len ||
        b->op != WS_EXPR_NAME || strcmp(b->name, PY_GRID))
        return NULL;
    const WsExpr *behind = ws_x_without(p->r, a, p->tile, FALSE, &one);
    behind = behind ? ws_x_without(p->r, behind, PY_PID, FALSE, &minus) : NULL;
    return ws_x_is(behind, &rest) && rest == 0 && one == 1 && minus == -1
               ? ws_x_name(p->r, p->tile_loop)
               : NULL;
}

static gboolean is_name(const WsExpr *e, const char *name)
{
    return e->op == WS_EXPR_NAME && !strcmp(e->name, name);
}

/* pid + position * grid, where a loop counts positions: the tile. */
static const WsExpr *tile_at(PyRead *p, const WsExpr *e)
{
    WsAffine f;
    if (!p->tile || !p->tile_loop || !p->loops->len || !e || e->op != WS_EXPR_ADD ||
        !ws_expr_mentions(e, PY_PID) || !ws_expr_mentions(e, PY_GRID) || !ws_expr_affine(e, &f))
        return e;
    gint pid = -1, stride = -1;
    WsExpr *sum = ws_expr_op(WS_EXPR_ADD, ws_expr_name(p->tile), ws_expr_int(f.constant));
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = f.term[i];
        const gboolean product =
            t->op == WS_EXPR_MUL && f.factor[i] == 1 &&
            ((is_name(t->arg[0], p->tile_loop) && is_name(t->arg[1], PY_GRID)) ||
             (is_name(t->arg[1], p->tile_loop) && is_name(t->arg[0], PY_GRID)));
        if (product)
            stride = (gint)i;
        else if (is_name(t, PY_PID) && f.factor[i] == 1)
            pid = (gint)i;
        else
            sum = ws_expr_op(
                WS_EXPR_ADD, sum,
                ws_expr_op(WS_EXPR_MUL, ws_expr_ref(f.term[i]), ws_expr_int(f.factor[i])));
    }
    ws_affine_clear(&f);
    const WsExpr *own = ws_x_own(p->r, sum);
    return pid >= 0 && stride >= 0 ? ws_x_op(p->r, WS_EXPR_ADD, own, ws_x_int(p->r, 0)) : e;
}

/* Both sides are walked, where Python may leave one out: neither may do anything then. */
static void need_quiet(PyRead *p, const WsPyNode *node, guint steps)
{
    if (p->in_kernel && p->to && p->to->len > steps)
        py_law_unread(p, node, "what happens only if a condition holds", NULL, 0);
}

/* "a" == "b" of what is known while it is compiled. NULL: it is no such comparison. */
static const Val *compare_words(PyRead *p, const char *op, const Val *a, const Val *b)
{
    const gboolean equal = !strcmp(op, "==") || !strcmp(op, "is");
    if (!equal && strcmp(op, "!=") && strcmp(op, "is not"))
        return NULL;
    const gboolean none = a->kind == VAL_NONE || b->kind == VAL_NONE;
    if (none && a->kind != VAL_OPAQUE && b->kind != VAL_OPAQUE && a->kind != VAL_PARAM &&
        b->kind != VAL_PARAM)
        return py_literal(p, (a->kind == b->kind) == equal);
    if (a->kind == VAL_STRING && b->kind == VAL_STRING) {
        const gboolean same = !strcmp(a->text, b->text);
        if (!same && (*a->text != *b->text || strchr(a->text, '\\') || strchr(b->text, '\\')))
            return NULL; /* "\x61" is "a" */
        return py_literal(p, same == equal);
    }
    if (a->kind == VAL_NAME && b->kind == VAL_NAME) {
        const char *x = py_dtype(a->text), *y = py_dtype(b->text);
        return x && y ? py_literal(p, (strcmp(x, y) == 0) == equal) : NULL;
    }
    return NULL;
}

static gboolean is_condition(const char *op)
{
    return strchr("<>!", *op) || g_str_has_prefix(op, "==") || !strcmp(op, "and") ||
           !strcmp(op, "or");
}

static const Val *binary(PyRead *p, const WsPyNode *node)
{
    const gboolean converting = p->converting;
    p->converting = FALSE;
    gint64 left;
    const Val *a = py_eval(p, node->kid[0]);
    const gboolean both = !strcmp(node->text, "and"), either = !strcmp(node->text, "or");
    if ((both || either) && py_known(a, &left) && (left != 0) == either)
        return a;
    const guint steps = p->to ? p->to->len : 0;
    const Val *b = py_eval(p, node->kid[1]);
    if ((both || either) && !py_known(a, &left))
        need_quiet(p, node, steps);
    a = py_current(p, a, node->kid[0]);
    p->converting = converting;
    const Val *word = compare_words(p, node->text, a, b);
    if (word)
        return word;
    if ((both || either) && py_known(a, &left))
        return b;
    const Val *claim = py_claim_sum(p, node->text, a, b);
    claim = claim ? claim : py_point(p, node, a, b);
    claim = claim || !p->amd ? claim : py_amd_moved(p, a, b);
    if (claim)
        return claim;
    if (py_is_tile(a) || py_is_tile(b))
        return py_binary_tile(p, node->text, a, b);
    const WsExpr *place = is_number(a) && is_number(b)
                              ? position(p, node->text, py_as_int(p, a), py_as_int(p, b))
                              : NULL;
    if (!place && is_number(a) && is_number(b))
        place = py_of_few_programs(p, node->text, py_as_int(p, a), py_as_int(p, b));
    if (place)
        return py_int(p, place);
    if (is_number(a) && is_number(b) && p->in_kernel && p->group && !p->computing &&
        is_condition(node->text) &&
        (py_hides_negative(p, py_as_int(p, a)) || py_hides_negative(p, py_as_int(p, b))))
        py_unread(p, node, "a condition on a quotient or a rest that may be below 0");
    if (is_number(a) && is_number(b))
        return py_int(p, tile_at(p, arithmetic(p, node->text, py_as_int(p, a), py_as_int(p, b))));
    if ((a->kind == VAL_REAL || is_number(a)) && (b->kind == VAL_REAL || is_number(b)) &&
        strchr("+-*/", node->text[0]) && !node->text[1])
        return real(p, node->text, a, b);
    if (a->kind == VAL_TUPLE && b->kind == VAL_TUPLE && !strcmp(node->text, "+")) {
        Val *v = py_val(p, VAL_TUPLE);
        v->item = g_new0(const Val *, a->n + b->n + 1);
        g_ptr_array_add(p->r->pool, v->item);
        for (guint i = 0; i < a->n + b->n; i++)
            v->item[v->n++] = i < a->n ? a->item[i] : b->item[i - a->n];
        return v;
    }
    return py_opaque(p);
}

static const Val *unary(PyRead *p, const WsPyNode *node)
{
    const Val *a = py_eval(p, node->kid[0]);
    if (py_is_tile(a))
        return *node->text == '-'   ? py_binary_tile(p, "-", py_literal(p, 0), a)
               : *node->text == '+' ? a
                                    : py_opaque(p);
    if (a->kind == VAL_REAL && *node->text == '-') {
        Val *v = py_val(p, VAL_REAL);
        v->text = ws_source_format(p->r, "(-%s)", a->text);
        return v;
    }
    const WsExpr *e = py_as_int(p, a);
    if (!e)
        return py_opaque(p);
    return !strcmp(node->text, "not") ? py_int(p, ws_x_op(p->r, WS_EXPR_NOT, e, NULL))
           : *node->text == '-'       ? py_int(p, ws_x_op(p->r, WS_EXPR_NEG, e, NULL))
           : *node->text == '+'       ? a
                                      : py_opaque(p);
}

static const Val *attribute(PyRead *p, const WsPyNode *node)
{
    const Val *a = py_eval(p, node->kid[0]);
    const char *dtype = a->kind == VAL_NAME ? py_dtype(a->text) : NULL;
    if (dtype && !strcmp(node->text, "primitive_bitwidth"))
        return py_literal(p, 8 * py_dtype_bytes(dtype));
    if (dtype && !strcmp(node->text, "itemsize"))
        return py_literal(p, py_dtype_bytes(dtype));
    if (dtype && !strcmp(node->text, "element_ty")) /* of a pointer's type */
        return a;
    const gboolean stored = p->names && g_hash_table_contains(p->names->stored, node->text);
    if (a->kind == VAL_NAME) {
        Val *v = py_val(p, VAL_NAME);
        v->text = ws_source_format(p->r, stored ? "%s.%s/" : "%s.%s", a->text, node->text);
        return v;
    }
    if (stored && a->kind != VAL_OBJECT)
        return py_opaque(p);
    if (!strcmp(node->text, "shape") && (a->kind == VAL_PARAM || a->kind == VAL_TENSOR)) {
        Val *v = py_val(p, VAL_SHAPE);
        v->index = py_tensor(p, a, 0, node->line);
        return v;
    }
    if (a->kind == VAL_BUFFER && !strcmp(node->text, "T")) {
        Val *v = py_val(p, VAL_BUFFER);
        *v = *a;
        v->place.transposed = !a->place.transposed;
        return v;
    }
    if (a->kind == VAL_SLOT) {
        const Val *field = py_tle_field(p, a, node);
        return field ? field : py_opaque(p);
    }
    if (!strcmp(node->text, "handle") && (a->kind == VAL_DESC || a->kind == VAL_BUFFER ||
                                          a->kind == VAL_PARAM || a->kind == VAL_SHARDED))
        return a->kind == VAL_SHARDED ? a->item[0] : a;
    if (!strcmp(node->text, "value") && a->kind == VAL_INT)
        return a;
    const Val *own = py_attribute(p, a, node->text);
    return own ? own : py_opaque(p);
}

static const Val *shape_item(PyRead *p, const Val *shape, gint64 i)
{
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, shape->index);
    if (i < 0 && t->whole)
        i += t->rank;
    if (i < 0 || i >= 5)
        return py_opaque(p);
    t->rank = MAX(t->rank, (guint)i + 1);
    return py_int(p, py_extent(p, shape->index, (guint)i, p->hint));
}

static const Val *index_(PyRead *p, const WsPyNode *node)
{
    const Val *a = py_eval(p, node->kid[0]);
    if (a->kind == VAL_PARAM || a->kind == VAL_TENSOR)
        return py_tensor_element(p, a, node->kid[1]);
    if (py_is_tile(a))
        return py_tile_item(p, a, node->kid[1]);
    const gboolean slot = a->kind == VAL_BARRIER || a->kind == VAL_BUFFER;
    p->indexing += slot;
    const Val *i = py_eval(p, node->kid[1]);
    p->indexing -= slot;
    a = py_current(p, a, node->kid[0]);
    gint64 n;
    if (a->kind == VAL_TUPLE && py_known(i, &n)) {
        if (n < 0)
            n += a->n;
        return n >= 0 && n < a->n ? a->item[n] : py_opaque(p);
    }
    if (a->kind == VAL_SHAPE && py_known(i, &n))
        return shape_item(p, a, n);
    if (a->kind == VAL_MESH)
        return py_mesh_one(p, a, i);
    if (a->kind == VAL_BUFFER && p->from == WS_IMPORT_TLX)
        return py_mean_INDEX(p, (const Val *[]){ a, i }, node);
    if (a->kind == VAL_BARRIER && i->kind == VAL_INT && (!a->place.index || a->cols)) {
        Val *v = py_val(p, VAL_BARRIER);
        *v = *a;
        v->place.index = /* an element of an array begins behind the others */
            a->cols ? ws_x_op(p->r, WS_EXPR_ADD, i->e, ws_x_int(p->r, a->cols)) : i->e;
        py_need_within(p, i->e,
                       a->depth
                           ? a->depth
                           : g_array_index(p->r->barriers, WsReadBarrier, v->place.object).copies,
                       node);
        v->cols = v->depth = 0;
        return v;
    }
    return py_opaque(p);
}

static const Val *ternary(PyRead *p, const WsPyNode *node)
{
    const Val *condition = py_eval(p, node->kid[0]);
    gint64 known;
    if (py_known(condition, &known))
        return py_eval(p, node->kid[known ? 1 : 2]);
    const guint steps = p->to ? p->to->len : 0;
    const Val *a = py_eval(p, node->kid[1]), *b = py_eval(p, node->kid[2]);
    a = py_current(p, a, node->kid[1]);
    need_quiet(p, node, steps);
    const WsExpr *c = py_as_int(p, condition);
    if (!c)
        return py_opaque(p);
    return py_either(p, c, a, b, node);
}

void py_arguments(PyRead *p, const WsPyNode *function, const WsPyNode *call, guint at,
                  const Val **args)
{
    const WsPyNode *params = function->kid[0];
    for (guint i = 1; i < call->n; i++) {
        const WsPyNode *arg = call->kid[i];
        gboolean taken = FALSE, twice = FALSE;
        const Val *v =
            py_eval(p, arg->kind == WS_PY_KEYWORD || arg->kind == WS_PY_STAR ? arg->kid[0] : arg);
        if (arg->kind == WS_PY_KEYWORD) {
            for (guint k = 0; k < params->n; k++)
                if (!strcmp(params->kid[k]->text, arg->text)) {
                    twice = args[k] != NULL;
                    args[k] = twice ? py_opaque(p) : v;
                    taken = TRUE;
                }
        } else if (arg->kind == WS_PY_STAR) {
            taken = v->kind == VAL_TUPLE && !strcmp(arg->text, "*") && v->n <= params->n &&
                    at <= params->n - v->n;
            for (guint k = 0; taken && k < v->n; k++) {
                twice |= args[at] != NULL;
                args[at] = args[at] ? py_opaque(p) : v->item[k];
                at++;
            }
        } else if (at < params->n && *params->kid[at]->text != '*') {
            args[at++] = v;
            taken = TRUE;
        }
        if (!taken && p->in_kernel)
            py_law_unread(p, arg, "an argument that the function has no parameter for", &v, 1);
        if (twice && p->in_kernel)
            py_law_unread(p, arg, "a parameter that is given twice", &v, 1);
        for (guint k = 0; !taken && arg->kind == WS_PY_STAR && k < params->n; k++)
            args[k] = args[k] ? args[k] : py_opaque(p); /* any of them may be in it */
    }
    for (guint k = 0; k < params->n; k++) /* what a later one sets an earlier one may name */
        args[k] = args[k] ? py_current(p, args[k], call) : NULL;
}

static const Val *call(PyRead *p, const WsPyNode *node)
{
    gboolean known = FALSE;
    const Val *v = py_launch(p, node);
    if (v)
        return v;
    v = py_term(p, node, &known);
    if (known)
        return v;
    const WsPyNode *callee = node->kid[0];
    if (callee->kind == WS_PY_ATTR && callee->kid[0]->kind == WS_PY_CALL)
        return py_law_call(p, node); /* what it is called on was walked */
    const Val *f = py_eval(p, callee);
    if (f->kind == VAL_CLASS)
        return py_construct(p, f, node);
    if (f->kind != VAL_FUNC)
        return py_law_call(p, node);
    g_autofree const Val **args = g_new0(const Val *, f->node->kid[0]->n + 1);
    py_arguments(p, f->node, node, 0, args);
    p->closure = f->closure;
    return py_call(p, f->node, args, node);
}

static gboolean holds_call(const WsPyNode *node)
{
    gboolean found = node->kind == WS_PY_CALL;
    for (guint i = 0; i < node->n && !found; i++)
        found = holds_call(node->kid[i]);
    return found;
}

const Val *py_real(PyRead *p, const char *text)
{
    const char *digits = text + (*text == '+' || *text == '-');
    char *end;
    const gdouble x = g_ascii_strtod(digits, &end);
    if (*end || end == digits || strpbrk(digits, "xXjJnN") || !strpbrk(digits, ".eE"))
        return py_opaque(p); /* complex, or an integer of more than 64 bits */
    g_autoptr(GString) s = g_string_new(NULL);
    for (const char *at = digits; *at; at++) { /* .3 is 0.3, and 1.e5 is 1.0e5 */
        if (*at == '.' && (at == digits || !g_ascii_isdigit(at[-1])))
            g_string_append_c(s, '0');
        g_string_append_c(s, *at);
        if (*at == '.' && !g_ascii_isdigit(at[1]))
            g_string_append_c(s, '0');
    }
    const char *known = x > G_MAXDOUBLE ? "inf" : s->str;
    Val *v = py_val(p, VAL_REAL);
    v->text = ws_source_format(p->r, *text == '-' ? "(-%s)" : "%s", known);
    return v;
}

const Val *py_evaluate(PyRead *p, const WsPyNode *node)
{
    if (++p->budget > PY_READ_BUDGET) {
        ws_source_fail(p->r, node->line, node->column, "Import the kernel from a file of its own.",
                       "this kernel takes too long to follow");
        return py_opaque(p);
    }
    if (node->kind == WS_PY_NAME) {
        const Val *v = py_lookup(p, node->text);
        if (py_is_unbound(p, node->text)) {
            py_law_unread(p, node, ws_source_format(p->r, "`%s` before it has a value", node->text),
                          NULL, 0);
            return py_opaque(p);
        }
        py_look_at_product(p, v, node);
        return !py_is_changed(p, node->text, v) ? v : p->computing ? py_plain(p) : py_opaque(p);
    }
    if (node->kind == WS_PY_INT)
        return py_literal(p, node->i);
    if (node->kind == WS_PY_FLOAT)
        return py_real(p, node->text);
    if (node->kind == WS_PY_STRING) {
        if (*node->text == 'f')
            return py_opaque(p); /* what stands in the braces is not followed */
        Val *v = py_val(p, VAL_STRING);
        v->text = node->text;
        return v;
    }
    if (node->kind == WS_PY_CONST) {
        return !strcmp(node->text, "True")    ? py_literal(p, 1)
               : !strcmp(node->text, "False") ? py_literal(p, 0)
               : !strcmp(node->text, "None")  ? py_val(p, VAL_NONE)
                                              : py_opaque(p); /* `...` is none of them */
    }
    if (node->kind == WS_PY_TUPLE || node->kind == WS_PY_LIST)
        return tuple(p, node);
    if (node->kind == WS_PY_CALL)
        return call(p, node);
    if (node->kind == WS_PY_ATTR)
        return attribute(p, node);
    if (node->kind == WS_PY_INDEX)
        return index_(p, node);
    if (node->kind == WS_PY_UNARY)
        return unary(p, node);
    if (node->kind == WS_PY_BINARY)
        return binary(p, node);
    if (node->kind == WS_PY_TERNARY)
        return ternary(p, node);
    if (p->in_kernel &&
        (holds_call(node) || node->kind == WS_PY_OTHER || node->kind == WS_PY_NAMED))
        py_law_unread(p, node, "an expression", NULL, 0);
    return py_opaque(p);
}
