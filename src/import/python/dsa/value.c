#include "import/python/dsa/read.h"

#include <string.h>

/* What an expression of the kernel is: an integer of the launch and its loops, a tile of places, a
 * pointer, a buffer. Only what has a meaning here is read. */

#define ONE_MEANING "Write it with integers, tl.arange and tle.dsa alone."

gboolean py_dsa_failed(const PyDsa *d)
{
    return *d->r->error != NULL;
}

gboolean py_dsa_refuse(PyDsa *d, const WsPyNode *at, const char *remedy, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    return ws_source_fail(d->r, MAX(at->line, 1), MAX(at->column, 1), remedy, "not read: %s", what);
}

PyDsaVal *py_dsa_val(PyDsa *d, PyDsaKind kind)
{
    PyDsaVal *v = g_new0(PyDsaVal, 1);
    v->kind = kind;
    v->object = v->other = -1;
    g_ptr_array_add(d->r->pool, v);
    return v;
}

const PyDsaVal *py_dsa_integer(PyDsa *d, const WsExpr *e, const WsPyNode *at)
{
    if (!e) {
        py_dsa_refuse(d, at, ONE_MEANING, "an integer that is too large, or divided by 0");
        return NULL;
    }
    PyDsaVal *v = py_dsa_val(d, DSA_INT);
    v->e = e;
    return v;
}

PyDsaBuffer *py_dsa_buffer(PyDsa *d, gint buffer)
{
    return &g_array_index(d->buffers, PyDsaBuffer, buffer);
}

PyDsaTensor *py_dsa_tensor(PyDsa *d, gint tensor)
{
    return &g_array_index(d->tensors, PyDsaTensor, tensor);
}

/* --- names ------------------------------------------------------------------------------------ */

const PyDsaVar *py_dsa_find(const PyDsa *d, const char *name)
{
    for (guint i = d->vars->len; i-- > 0;)
        if (!strcmp(g_array_index(d->vars, PyDsaVar, i).name, name))
            return &g_array_index(d->vars, PyDsaVar, i);
    return NULL;
}

void py_dsa_set(PyDsa *d, const char *name, const PyDsaVal *value)
{
    PyDsaVar *old = (PyDsaVar *)py_dsa_find(d, name);
    const PyDsaVar v = { name, value, (gint)d->loops->len };
    if (old && old->depth == v.depth)
        *old = v;
    else
        g_array_append_val(d->vars, v);
}

const char *py_dsa_word(PyDsa *d, const WsPyNode *node)
{
    g_autofree char *text = ws_python_dotted(node);
    if (!text)
        return NULL;
    const gsize n = strcspn(text, ".");
    g_autofree char *head = g_strndup(text, n);
    const char *module = py_dsa_find(d, head) ? NULL : g_hash_table_lookup(d->imports, head);
    if (!module)
        return NULL;
    GString *whole = g_string_new(module);
    g_string_append(whole, text + n);
    g_string_replace(whole, "experimental.tle.language.dsa", "experimental.tle.dsa", 1);
    const char *word = ws_source_format(d->r, "%s", whole->str);
    g_string_free(whole, TRUE);
    return word;
}

/* "dsa.copy", "cdiv": the word without its module; NULL: of another one. */
const char *py_dsa_known(const char *word)
{
    static const char *const module[] = { "triton.experimental.tle.", "triton.language.",
                                          "triton." };
    for (guint i = 0; word && i < G_N_ELEMENTS(module); i++)
        if (g_str_has_prefix(word, module[i]))
            return word + strlen(module[i]);
    return NULL;
}

const char *py_dsa_dtype(PyDsa *d, const WsPyNode *node)
{
    static const char *const type[][2] = { { "float32", "f32" },
                                           { "float16", "f16" },
                                           { "bfloat16", "bf16" } };
    const char *word = node ? py_dsa_known(py_dsa_word(d, node)) : NULL;
    for (guint i = 0; word && i < G_N_ELEMENTS(type); i++)
        if (!strcmp(word, type[i][0]))
            return type[i][1];
    py_dsa_refuse(d, node ? node : d->function, "Say tl.float32, tl.float16 or tl.bfloat16.",
                  "a type of elements that is none of tl.float32, tl.float16, tl.bfloat16");
    return NULL;
}

gint py_dsa_space(PyDsa *d, const WsPyNode *node)
{
    const char *word = node ? py_dsa_known(py_dsa_word(d, node)) : NULL;
    const gint space = word && g_str_has_prefix(word, "dsa.ascend.")
                           ? ws_core_space(d->core, word + strlen("dsa.ascend."))
                           : -1;
    if (space < 0)
        py_dsa_refuse(d, node ? node : d->function, "Say tle.dsa.ascend.UB, L1, L0A, L0B or L0C.",
                      "a memory space that is none of tle.dsa.ascend");
    return space;
}

/* --- arguments -------------------------------------------------------------------------------- */

gboolean py_dsa_arguments(PyDsa *d, const WsPyNode *call, const char *parameters,
                          const WsPyNode **arg)
{
    g_auto(GStrv) name = g_strsplit(parameters, " ", -1);
    const guint n = *parameters ? g_strv_length(name) : 0;
    for (guint i = 0; i < n; i++)
        arg[i] = NULL;
    for (guint i = 1; i < call->n; i++) {
        const WsPyNode *a = call->kid[i];
        guint at = i - 1;
        if (a->kind == WS_PY_STAR)
            return py_dsa_refuse(d, a, "Write the arguments out.", "arguments by a star");
        if (a->kind == WS_PY_KEYWORD) {
            for (at = 0; at < n && strcmp(name[at], a->text); at++)
                ;
            if (at == n)
                return py_dsa_refuse(d, a, "Leave it out, if it changes nothing.",
                                     "the argument `%s`", a->text);
        }
        if (at >= n || arg[at])
            return py_dsa_refuse(d, a, "Give each parameter once.", "an argument too many");
        arg[at] = a->kind == WS_PY_KEYWORD ? a->kid[0] : a;
    }
    return TRUE;
}

/* --- integers --------------------------------------------------------------------------------- */

typedef struct {
    const PyDsa *d;
    gboolean all;
} Look;

static gboolean is_size(const PyDsa *d, const char *name)
{
    return g_ptr_array_find_with_equal_func(d->r->sizes, name, g_str_equal, NULL);
}

static void look(const WsExpr *e, gpointer data)
{
    Look *l = data;
    l->all &= e->op != WS_EXPR_TOTAL && e->op != WS_EXPR_INDEX &&
              (e->op != WS_EXPR_NAME || is_size(l->d, e->name));
}

gboolean py_dsa_is_of_launch(const PyDsa *d, const WsExpr *e)
{
    Look l = { d, TRUE };
    ws_expr_visit(e, look, &l);
    return l.all;
}

/* Sizes, numbers of programs, and indices of loops that begin at 0 or later are; and what is made
 * of them without taking anything away. */
gboolean py_dsa_is_from_zero(const PyDsa *d, const WsExpr *e)
{
    gint64 n;
    gboolean all = TRUE;
    if (ws_expr_is_int(e, &n))
        return n >= 0;
    if (e->op == WS_EXPR_NAME) {
        for (guint i = 0; i < d->loops->len; i++) {
            const PyDsaLoop *l = &g_array_index(d->loops, PyDsaLoop, i);
            if (!strcmp(l->name, e->name))
                return !l->from || py_dsa_is_from_zero(d, l->from);
        }
        return is_size(d, e->name) || g_str_has_prefix(e->name, "pid");
    }
    for (guint i = 0; i < e->n_args; i++)
        all = all && py_dsa_is_from_zero(d, e->arg[i]);
    return all && (e->op == WS_EXPR_ADD || e->op == WS_EXPR_MUL || e->op == WS_EXPR_DIV ||
                   e->op == WS_EXPR_MOD ||
                   (e->op == WS_EXPR_CALL &&
                    (e->func == WS_FUNC_CDIV || e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX)));
}

/* Kernels round towards 0, designs down. */
gboolean py_dsa_rounds_alike(PyDsa *d, const WsExpr *a, const WsExpr *b, const WsPyNode *at)
{
    if (py_dsa_is_from_zero(d, a) && py_dsa_is_from_zero(d, b))
        return TRUE;
    return py_dsa_refuse(d, at, "Add a multiple of the divisor first.",
                         "a division of what may be below 0, which a kernel rounds towards 0");
}

/* 0 or 1: `and` and `or` of anything else give one of their sides. */
static gboolean is_truth(const WsExpr *e)
{
    static const WsExprOp of[] = { WS_EXPR_LT, WS_EXPR_LE,  WS_EXPR_GT, WS_EXPR_GE, WS_EXPR_EQ,
                                   WS_EXPR_NE, WS_EXPR_AND, WS_EXPR_OR, WS_EXPR_NOT };
    gint64 n;
    gboolean truth = ws_expr_is_int(e, &n) && (n == 0 || n == 1);
    for (guint i = 0; i < G_N_ELEMENTS(of); i++)
        truth = truth || e->op == of[i];
    return truth;
}

static const PyDsaVal *of_integers(PyDsa *d, const char *op, const WsExpr *a, const WsExpr *b,
                                   const WsPyNode *at)
{
    static const struct {
        const char *text;
        WsExprOp op;
    } known_op[] = { { "+", WS_EXPR_ADD },  { "-", WS_EXPR_SUB }, { "*", WS_EXPR_MUL },
                     { "//", WS_EXPR_DIV }, { "%", WS_EXPR_MOD }, { "<", WS_EXPR_LT },
                     { "<=", WS_EXPR_LE },  { ">", WS_EXPR_GT },  { ">=", WS_EXPR_GE },
                     { "==", WS_EXPR_EQ },  { "!=", WS_EXPR_NE }, { "and", WS_EXPR_AND },
                     { "or", WS_EXPR_OR } };
    for (guint i = 0; i < G_N_ELEMENTS(known_op); i++) {
        if (strcmp(op, known_op[i].text))
            continue;
        const gboolean divides = known_op[i].op == WS_EXPR_DIV || known_op[i].op == WS_EXPR_MOD;
        if (divides && !py_dsa_rounds_alike(d, a, b, at))
            return NULL;
        const gboolean joins = known_op[i].op == WS_EXPR_AND || known_op[i].op == WS_EXPR_OR;
        if (joins && !(is_truth(a) && is_truth(b))) {
            py_dsa_refuse(d, at, "Compare both sides.", "`%s` of what is no condition", op);
            return NULL;
        }
        return py_dsa_integer(d, ws_x_op(d->r, known_op[i].op, a, b), at);
    }
    py_dsa_refuse(d, at, ONE_MEANING, "the operator %s", op);
    return NULL;
}

const WsExpr *py_dsa_int(PyDsa *d, const WsPyNode *node)
{
    const PyDsaVal *v = py_dsa_eval(d, node);
    if (v && v->kind == DSA_INT)
        return v->e;
    if (v)
        py_dsa_refuse(d, node, ONE_MEANING, "something else than an integer");
    return NULL;
}

/* --- places ----------------------------------------------------------------------------------- */

static const WsExpr *plus(PyDsa *d, const WsExpr *a, const WsExpr *b)
{
    return !a ? b : !b ? a : ws_x_op(d->r, WS_EXPR_ADD, a, b);
}

static gboolean is_one(const WsExpr *e)
{
    gint64 n;
    return ws_expr_is_int(e, &n) && n == 1;
}

static guint axes_of(const PyDsaVal *v)
{
    return (v->axis[0].n > 0) + (v->axis[1].n > 0);
}

/* Places, all of them `by` further. */
static const PyDsaVal *moved(PyDsa *d, const PyDsaVal *v, const WsExpr *by)
{
    PyDsaVal *m = py_dsa_val(d, v->kind);
    *m = *v;
    PyDsaAxis *only = axes_of(v) == 1 ? &m->axis[v->axis[0].n > 0 ? 0 : 1] : NULL;
    if (only && is_one(only->stride) && v->kind == DSA_INDEX)
        only->at = plus(d, only->at, by);
    else
        m->e = plus(d, m->e, by);
    return m;
}

static const PyDsaVal *times(PyDsa *d, const PyDsaVal *v, const WsExpr *by)
{
    PyDsaVal *m = py_dsa_val(d, DSA_INDEX);
    *m = *v;
    for (guint i = 0; i < 2; i++)
        if (m->axis[i].n)
            m->axis[i].stride = ws_x_op(d->r, WS_EXPR_MUL, m->axis[i].stride, by);
    m->e = m->e ? ws_x_op(d->r, WS_EXPR_MUL, m->e, by) : NULL;
    return m;
}

static const PyDsaVal *together(PyDsa *d, const PyDsaVal *a, const PyDsaVal *b, const WsPyNode *at)
{
    PyDsaVal *m = py_dsa_val(d, a->kind);
    *m = *a;
    if (axes_of(a) && axes_of(b) && a->rank != b->rank) {
        py_dsa_refuse(d, at, "Write [:, None] and [None, :].",
                      "a sum of places of one dimension and of two");
        return NULL;
    }
    m->rank = MAX(a->rank, b->rank);
    m->e = plus(d, a->e, b->e);
    for (guint i = 0; i < 2; i++) {
        if (a->axis[i].n && b->axis[i].n) {
            py_dsa_refuse(d, at, ONE_MEANING, "a sum of two tiles along one dimension");
            return NULL;
        }
        if (b->axis[i].n)
            m->axis[i] = b->axis[i];
    }
    return m;
}

const PyDsaVal *py_dsa_pair(PyDsa *d, const char *word, const PyDsaVal *a, const PyDsaVal *b)
{
    PyDsaVal *v = py_dsa_val(d, DSA_PAIR);
    v->text = word;
    v->object = a->object;
    v->other = b->object;
    v->at = a->at;
    v->other_at = b->at;
    return v;
}

static const char *word_of_operator(const char *op)
{
    return !strcmp(op, "+")   ? "add"
           : !strcmp(op, "-") ? "sub"
           : !strcmp(op, "*") ? "mul"
           : !strcmp(op, "/") ? "div"
                              : NULL;
}

gboolean py_dsa_is_plain(const PyDsaVal *v)
{
    return v->kind == DSA_TENSOR && !v->turned;
}

static const PyDsaVal *binary(PyDsa *d, const WsPyNode *node)
{
    const char *op = node->text;
    const PyDsaVal *a = py_dsa_eval(d, node->kid[0]), *b = a ? py_dsa_eval(d, node->kid[1]) : NULL;
    if (!a || !b)
        return NULL;
    if (a->kind == DSA_INT && b->kind == DSA_INT)
        return of_integers(d, op, a->e, b->e, node);
    const gboolean sum = !strcmp(op, "+");
    if (sum && a->kind == DSA_INT && (b->kind == DSA_INDEX || b->kind == DSA_POINTER))
        return moved(d, b, a->e);
    if (sum && b->kind == DSA_INT && (a->kind == DSA_INDEX || a->kind == DSA_POINTER))
        return moved(d, a, b->e);
    if (!strcmp(op, "-") && b->kind == DSA_INT && a->kind == DSA_INDEX)
        return moved(d, a, ws_x_op(d->r, WS_EXPR_NEG, b->e, NULL));
    if (!strcmp(op, "*") && a->kind == DSA_INT && b->kind == DSA_INDEX)
        return times(d, b, a->e);
    if (!strcmp(op, "*") && b->kind == DSA_INT && a->kind == DSA_INDEX)
        return times(d, a, b->e);
    if (sum && b->kind == DSA_INDEX && (a->kind == DSA_INDEX || a->kind == DSA_POINTER))
        return together(d, a, b, node);
    if (sum && a->kind == DSA_INDEX && b->kind == DSA_POINTER)
        return together(d, b, a, node);
    if (py_dsa_is_plain(a) && py_dsa_is_plain(b) && word_of_operator(op))
        return py_dsa_pair(d, word_of_operator(op), a, b);
    py_dsa_refuse(d, node, "Compute by tle.dsa.add, sub, mul, div, max and min.",
                  "`%s` of such values", op);
    return NULL;
}

/* x[:, None], x[None, :] */
static const PyDsaVal *indexed(PyDsa *d, const WsPyNode *node)
{
    const PyDsaVal *v = py_dsa_eval(d, node->kid[0]);
    const WsPyNode *i = node->kid[1];
    if (!v)
        return NULL;
    gint none = -1;
    gboolean fits = v->kind == DSA_INDEX && v->rank == 1 && i->kind == WS_PY_TUPLE && i->n == 2;
    for (guint k = 0; fits && k < 2; k++) {
        const WsPyNode *at = i->kid[k];
        if (at->kind == WS_PY_CONST && !strcmp(at->text, "None") && none < 0)
            none = (gint)k;
        else
            for (guint m = 0; m < at->n; m++)
                fits &= at->kid[m]->kind == WS_PY_CONST && !strcmp(at->kid[m]->text, "None");
        fits &= at->kind == WS_PY_CONST || at->kind == WS_PY_SLICE;
    }
    if (!fits || none < 0) {
        py_dsa_refuse(d, node, "Only [:, None] and [None, :] of a tile of places are read.",
                      "an index of such a value");
        return NULL;
    }
    PyDsaVal *m = py_dsa_val(d, DSA_INDEX);
    *m = *v;
    m->rank = 2;
    if (none == 1) { /* one per row */
        m->axis[0] = v->axis[1];
        m->axis[1] = (PyDsaAxis){ 0 };
    }
    return m;
}

/* --- expressions ------------------------------------------------------------------------------ */

static const PyDsaVal *named(PyDsa *d, const WsPyNode *node)
{
    const PyDsaVar *v = py_dsa_find(d, node->text);
    const gboolean held = v && (v->value->kind == DSA_TENSOR || v->value->kind == DSA_PAIR ||
                                v->value->kind == DSA_CAST);
    if (held && v->depth != (gint)d->loops->len) {
        py_dsa_refuse(d, node, "Call to_tensor() in the loop.",
                      "`%s`, which holds what a buffer had in front of a loop", node->text);
        return NULL;
    }
    if (v)
        return v->value;
    py_dsa_refuse(d, node, "Assign it before, or give it by --define NAME=VALUE.",
                  "the name `%s`, which has no value here", node->text);
    return NULL;
}

const PyDsaVal *py_dsa_eval(PyDsa *d, const WsPyNode *node)
{
    if (py_dsa_failed(d) || !ws_source_works(d->r, 20))
        return NULL;
    switch ((int)node->kind) {
    case WS_PY_INT:
        return py_dsa_integer(d, ws_x_int(d->r, node->i), node);
    case WS_PY_NAME:
        return named(d, node);
    case WS_PY_BINARY:
        return binary(d, node);
    case WS_PY_INDEX:
        return indexed(d, node);
    case WS_PY_CALL:
        return py_dsa_called(d, node);
    case WS_PY_UNARY: {
        const WsExpr *e = !strcmp(node->text, "-") ? py_dsa_int(d, node->kid[0]) : NULL;
        if (e)
            return py_dsa_integer(d, ws_x_op(d->r, WS_EXPR_NEG, e, NULL), node);
        break;
    }
    default:
        break;
    }
    py_dsa_refuse(d, node, ONE_MEANING, "%s", ws_python_kind_text(node->kind));
    return NULL;
}
