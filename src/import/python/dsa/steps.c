#include "import/python/dsa/read.h"

#include <string.h>

/* The statements of a kernel: copies, arithmetic, products, loops. */

GPtrArray *py_dsa_list(PyDsa *d)
{
    GPtrArray *list = g_ptr_array_new();
    g_ptr_array_add(d->owned, list);
    return list;
}

PyDsaStep *py_dsa_new_step(PyDsa *d, PyDsaStepKind kind, const WsPyNode *node)
{
    PyDsaStep *s = g_new0(PyDsaStep, 1);
    s->kind = kind;
    s->node = node;
    s->tensor = s->a = s->b = s->into = s->flag = -1;
    g_ptr_array_add(d->r->pool, s);
    return s;
}

PyDsaStep *py_dsa_step(PyDsa *d, PyDsaStepKind kind, const WsPyNode *node)
{
    PyDsaStep *s = py_dsa_new_step(d, kind, node);
    g_ptr_array_add(d->to, s);
    return s;
}

/* The queue between two spaces. FALSE: refused. */
static gboolean queue_of(PyDsa *d, PyDsaStep *s, gint from, gint to, const WsPyNode *at)
{
    const WsTargetMove *move = ws_core_move(d->core, from, to);
    if (!move)
        return py_dsa_refuse(d, at, "`warpstave explain ascend` lists the moves.",
                             "a copy from %s to %s, which the core has not",
                             ws_core_space_name(d->core, from), ws_core_space_name(d->core, to));
    s->queue = move->unit;
    return TRUE;
}

/* --- copies ----------------------------------------------------------------------------------- */

static gboolean whole(PyDsa *d, const PyDsaBuffer *b, const WsPyNode *shape)
{
    const gint64 want[] = { b->rows, b->cols };
    gboolean fits =
        (shape->kind == WS_PY_LIST || shape->kind == WS_PY_TUPLE) && shape->n == b->rank;
    for (guint i = 0; fits && i < shape->n; i++) {
        gint64 n;
        const WsExpr *e = py_dsa_int(d, shape->kid[i]);
        fits = e && ws_expr_is_int(e, &n) && n == want[i + 2 - b->rank];
    }
    return fits || py_dsa_refuse(d, shape, "Copy all of it.", "a copy of a part of `%s`", b->name);
}

/* Between two buffers. */
static gboolean move(PyDsa *d, const PyDsaVal *from, const PyDsaVal *into, const WsPyNode *shape,
                     const WsPyNode *at)
{
    PyDsaBuffer *a = py_dsa_buffer(d, from->object), *b = py_dsa_buffer(d, into->object);
    if (!whole(d, a, shape) || !whole(d, b, shape))
        return FALSE;
    if (strcmp(a->dtype, b->dtype))
        return py_dsa_refuse(d, at, "Use buffers of one type.",
                             "a copy between buffers of two types");
    PyDsaStep *s = py_dsa_step(d, DSA_MOVE, at);
    s->a = from->object;
    s->into = into->object;
    b->stores++;
    return queue_of(d, s, a->space, b->space, at);
}

/* The type of a tensor's elements is that of what is copied. */
static gboolean take_type(PyDsa *d, PyDsaTensor *t, const char *dtype, const WsPyNode *at)
{
    if (t->dtype && strcmp(t->dtype, dtype))
        return py_dsa_refuse(d, at, "Use one type for a tensor.",
                             "copies of `%s` as elements of two types", t->name);
    t->dtype = dtype;
    return TRUE;
}

static gboolean copy(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[4];
    if (!py_dsa_arguments(d, call, "src dst shape inter_no_alias", arg))
        return FALSE;
    if (!arg[0] || !arg[1] || !arg[2])
        return py_dsa_refuse(d, call, "Write copy(src, dst, shape).", "a copy without its shape");
    if (arg[3] && !(arg[3]->kind == WS_PY_CONST && !strcmp(arg[3]->text, "False")))
        return py_dsa_refuse(d, arg[3], "Leave it out.", "inter_no_alias, a promise to a compiler");
    const PyDsaVal *from = py_dsa_eval(d, arg[0]), *into = from ? py_dsa_eval(d, arg[1]) : NULL;
    if (!from || !into)
        return FALSE;
    const gboolean out =
        from->kind == DSA_BUFFER || from->kind == DSA_CAST || from->kind == DSA_SUMS;
    if (from->kind == DSA_BUFFER && into->kind == DSA_BUFFER)
        return move(d, from, into, arg[2], call);
    if (!(from->kind == DSA_POINTER && into->kind == DSA_BUFFER) &&
        !(out && into->kind == DSA_POINTER))
        return py_dsa_refuse(d, call, "Copy between places of a tensor and a buffer.",
                             "a copy of such values");
    const PyDsaVal *pointer = out ? into : from;
    const gint object = out ? from->object : into->object;
    if (out && py_dsa_is_former(d, from, call))
        return FALSE;
    PyDsaBuffer *b = py_dsa_buffer(d, object);
    PyDsaTensor *t = py_dsa_tensor(d, pointer->object);
    if (out && ((b->zero_depth >= 0 && !b->zero_used) || b->zero_if))
        return py_dsa_refuse(d, call, "Add a product first.",
                             "zeros in `%s` that no product was added to", b->name);
    PyDsaStep *s = py_dsa_step(d, out ? DSA_OUT : DSA_IN, call);
    s->tensor = pointer->object;
    *(out ? &s->a : &s->into) = object;
    if (!take_type(d, t, from->kind == DSA_CAST ? from->dtype : b->dtype, call) ||
        !queue_of(d, s, out ? b->space : WS_CORE_TENSOR, out ? WS_CORE_TENSOR : b->space, call) ||
        !py_dsa_place(d, s, pointer, b, arg[2]))
        return FALSE;
    t = py_dsa_tensor(d, pointer->object);
    *(out ? &t->written : &t->read) = TRUE;
    b->stores += !out;
    return !(t->read && t->written) ||
           py_dsa_refuse(d, call, "Write to another tensor.",
                         "`%s`, which is copied in and out: a design reads a tensor or writes it",
                         t->name);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static gboolean of_one_shape(PyDsa *d, const PyDsaBuffer *a, const PyDsaBuffer *b,
                             const WsPyNode *at)
{
    return (a->rank == b->rank && a->rows == b->rows && a->cols == b->cols &&
            !strcmp(a->dtype, b->dtype)) ||
           py_dsa_refuse(d, at, "Use buffers of one shape and type.",
                         "arithmetic of buffers of two shapes or types");
}

static gboolean arithmetic(PyDsa *d, const char *word, gint a, gint b, gint into,
                           const WsPyNode *at)
{
    if (!of_one_shape(d, py_dsa_buffer(d, a), py_dsa_buffer(d, b), at) ||
        !of_one_shape(d, py_dsa_buffer(d, a), py_dsa_buffer(d, into), at))
        return FALSE;
    PyDsaStep *s = py_dsa_step(d, DSA_VECTOR, at);
    s->queue = d->core->vector;
    s->word = word;
    s->a = a;
    s->b = b;
    s->into = into;
    py_dsa_buffer(d, into)->stores++;
    return TRUE;
}

const PyDsaVal *py_dsa_store_pair(PyDsa *d, const PyDsaVal *pair, gint into, const WsPyNode *at)
{
    if (!arithmetic(d, pair->text, pair->object, pair->other, into, at))
        return NULL;
    PyDsaVal *v = py_dsa_val(d, DSA_BUFFER);
    v->object = into;
    return v;
}

gboolean py_dsa_call(PyDsa *d, const WsPyNode *call)
{
    static const char *const words[] = { "add", "sub", "mul", "div", "max", "min" };
    const char *word = py_dsa_known(py_dsa_word(d, call->kid[0]));
    if (word && !strcmp(word, "dsa.copy"))
        return copy(d, call);
    for (guint i = 0; word && g_str_has_prefix(word, "dsa.") && i < G_N_ELEMENTS(words); i++) {
        const WsPyNode *arg[3];
        const PyDsaVal *v[3];
        if (strcmp(word + 4, words[i]))
            continue;
        if (!py_dsa_arguments(d, call, "input other result", arg))
            return FALSE;
        for (guint k = 0; k < 3; k++) {
            v[k] = arg[k] ? py_dsa_eval(d, arg[k]) : NULL;
            if (!v[k] || v[k]->kind != DSA_BUFFER)
                return py_dsa_refuse(d, call, "Give three buffers.",
                                     "arithmetic of something else than buffers");
        }
        return arithmetic(d, words[i], v[0]->object, v[1]->object, v[2]->object, call);
    }
    py_dsa_called(d, call); /* says what it is, or refuses it */
    return py_dsa_refuse(d, call, "Leave it out.", "a call whose value is not used");
}

/* --- statements ------------------------------------------------------------------------------- */

static gboolean is_call(PyDsa *d, const WsPyNode *node, const char *word)
{
    const char *own = node->kind == WS_PY_CALL ? py_dsa_known(py_dsa_word(d, node->kid[0])) : NULL;
    return own && !strcmp(own, word);
}

static void assign(PyDsa *d, const char *name, const WsPyNode *value, const WsPyNode *at)
{
    const char *hint = d->hint;
    d->hint = name;
    const PyDsaVal *v =
        is_call(d, value, "dot") ? py_dsa_dot(d, value, name) : py_dsa_eval(d, value);
    d->hint = hint;
    if (!v)
        return;
    const PyDsaVar *old = py_dsa_find(d, name);
    const gboolean sums = v->kind == DSA_SUMS;
    if (sums && value->kind == WS_PY_NAME) {
        py_dsa_refuse(d, at, "Use one name for sums.", "a second name for sums");
        return;
    }
    if (sums && old && old->value->kind == DSA_SUMS && old->value->object == v->object) {
        ((PyDsaVar *)old)->value = v;
    } else if (old && old->depth != (gint)d->loops->len) {
        py_dsa_refuse(d, at, "Use the index of the loop.", "`%s`, which rounds of a loop change",
                      name);
        return;
    } else if (old && (sums || old->value->kind == DSA_SUMS)) {
        py_dsa_refuse(d, at, "Use another name.", "`%s`, which becomes something else", name);
        return;
    } else {
        py_dsa_set(d, name, v);
    }
    if (sums && is_call(d, value, "zeros")) {
        PyDsaBuffer *b = py_dsa_buffer(d, v->object);
        b->zero_depth = (gint)d->loops->len;
        b->zero_used = FALSE;
        b->zero_if = NULL;
        b->stores++;
    }
}

/* if CONDITION: c = tl.zeros(…) */
static void zeros_if(PyDsa *d, const WsPyNode *node)
{
    const WsPyNode *then = node->kid[1], *set = then->n == 1 ? then->kid[0] : NULL;
    const WsExpr *c = py_dsa_int(d, node->kid[0]);
    gint64 known;
    if (!c)
        return;
    if (ws_expr_is_int(c, &known)) { /* of constants */
        if (known)
            py_dsa_statements(d, then);
        else if (node->n > 2)
            py_dsa_statements(d, node->kid[2]);
        return;
    }
    const PyDsaVar *v = set && set->kind == WS_PY_ASSIGN && set->n == 2 &&
                                set->kid[0]->kind == WS_PY_NAME && is_call(d, set->kid[1], "zeros")
                            ? py_dsa_find(d, set->kid[0]->text)
                            : NULL;
    if (!v || v->value->kind != DSA_SUMS || node->n > 2) {
        py_dsa_refuse(d, node,
                      "Only zeros of sums stand under a condition: if k == 0: c = tl.zeros(…).",
                      "a condition");
        return;
    }
    PyDsaBuffer *b = py_dsa_buffer(d, v->value->object);
    if (b->zero_if) {
        py_dsa_refuse(d, node, "Write one condition.", "zeros of the same sums twice");
        return;
    }
    const char *hint = d->hint;
    d->hint = v->name;
    const PyDsaVal *same = py_dsa_eval(d, set->kid[1]); /* their shape */
    d->hint = hint;
    if (!same)
        return;
    b->zero_if = c;
    b->zero_if_depth = (gint)d->loops->len;
    b->stores++;
}

static const WsExpr *rounds(PyDsa *d, const WsExpr *from, const WsExpr *to, gint64 by)
{
    WsAffine f;
    const WsExpr *n = ws_x_op(d->r, WS_EXPR_SUB, to, from);
    if (!n || by == 1)
        return n;
    gboolean whole = ws_expr_affine(n, &f);
    if (whole) {
        whole = f.constant % by == 0;
        for (guint i = 0; i < f.n; i++)
            whole &= f.factor[i] % by == 0;
        const WsExpr *sum = ws_x_int(d->r, f.constant / by);
        for (guint i = 0; whole && i < f.n; i++)
            sum = ws_x_op(d->r, WS_EXPR_ADD, sum,
                          ws_x_op(d->r, WS_EXPR_MUL, ws_x_own(d->r, ws_expr_ref(f.term[i])),
                                  ws_x_int(d->r, f.factor[i] / by)));
        ws_affine_clear(&f);
        if (whole)
            return sum;
    }
    return ws_x_call(d->r, WS_FUNC_CDIV, n, ws_x_int(d->r, by), NULL);
}

/* range(tl.program_id(0), n, tl.num_programs(0)) */
static gboolean is_tiles(PyDsa *d, const WsPyNode *const *arg)
{
    gboolean first = FALSE, step = FALSE;
    if (!arg[0] || !arg[1] || !arg[2])
        return FALSE;
    for (guint i = 0; i < 2; i++) {
        const WsPyNode *call = arg[i ? 2 : 0], *axis[1];
        if (!is_call(d, call, i ? "num_programs" : "program_id") ||
            !py_dsa_arguments(d, call, "axis", axis) || !axis[0] || axis[0]->kind != WS_PY_INT ||
            axis[0]->i)
            return FALSE;
        *(i ? &step : &first) = TRUE;
    }
    return first && step;
}

static gboolean over_tiles(PyDsa *d, PyDsaLoop *l, const char *name, const WsExpr *n,
                           const WsPyNode *at)
{
    gint64 one;
    gboolean more = FALSE; /* programs that would do the same */
    for (guint i = 1; i < 3; i++)
        more |= d->grid[i] && !(ws_expr_is_int(d->grid[i], &one) && one == 1);
    if (d->tile || d->pid[0] || d->pid[1] || d->pid[2] || more || d->loops->len ||
        !py_dsa_is_of_launch(d, n))
        return py_dsa_refuse(d, at, "Write one loop over tiles, and take the tile from it alone.",
                             "a loop over tiles");
    d->tile = ws_source_name(d->r, name);
    d->tiles = n;
    l->step->tiles = TRUE;
    return TRUE;
}

static void loop(PyDsa *d, const WsPyNode *node)
{
    const WsPyNode *range = node->kid[1], *arg[3];
    const gboolean plain = d->plain && range->kind == WS_PY_CALL &&
                           range->kid[0]->kind == WS_PY_NAME &&
                           !strcmp(range->kid[0]->text, "range") && !py_dsa_find(d, "range");
    if (node->kid[0]->kind != WS_PY_NAME || node->n > 3 ||
        (!plain && !is_call(d, range, "range"))) {
        py_dsa_refuse(d, node, "Write for k in range(…).",
                      "a loop over something else than range()");
        return;
    }
    const char *name = node->kid[0]->text;
    if (!py_dsa_arguments(d, range, "start stop step", arg) || !arg[0])
        return;
    if (py_dsa_find(d, name)) {
        py_dsa_refuse(d, node, "Use another name.", "an index `%s` that is a variable, too", name);
        return;
    }
    PyDsaLoop l = { .step = py_dsa_new_step(d, DSA_LOOP, node) };
    const WsExpr *value = NULL;
    gint64 by = 1;
    if (is_tiles(d, arg)) {
        const WsExpr *n = py_dsa_int(d, arg[1]);
        if (!n || !over_tiles(d, &l, name, n, node))
            return;
        l.count = n;
        l.step->word = ws_source_name(d->r, ws_source_format(d->r, "%s_k", name));
        l.name = d->tile;
        value = ws_x_name(d->r, d->tile);
    } else {
        const WsExpr *a = py_dsa_int(d, arg[0]), *b = a && arg[1] ? py_dsa_int(d, arg[1]) : a,
                     *step = b && arg[2] ? py_dsa_int(d, arg[2]) : ws_x_int(d->r, 1);
        const WsExpr *from = arg[1] ? a : ws_x_int(d->r, 0);
        if (!a || !b || !step)
            return;
        if (!ws_expr_is_int(step, &by) || by < 1) {
            py_dsa_refuse(d, node, "Use a constant step of 1 or more.", "the step of a loop");
            return;
        }
        l.name = l.step->word = ws_source_name(d->r, name);
        l.from = from;
        l.count = rounds(d, from, b, by);
        l.step->from = from;
        l.step->by = ws_x_int(d->r, by);
        value = ws_x_name(d->r, l.name);
    }
    if (!l.count || !value) {
        py_dsa_refuse(d, node, "Use smaller numbers.", "the rounds of a loop");
        return;
    }
    l.step->count = l.count;
    l.step->body = py_dsa_list(d);
    g_ptr_array_add(d->to, l.step);
    GPtrArray *outer = d->to;
    const guint vars = d->vars->len;
    g_array_append_val(d->loops, l);
    d->to = l.step->body;
    PyDsaVal *index = py_dsa_val(d, DSA_INT);
    index->e = value;
    py_dsa_set(d, name, index);
    py_dsa_statements(d, node->kid[2]);
    d->to = outer;
    g_array_set_size(d->loops, d->loops->len - 1);
    g_array_set_size(d->vars, vars);
    for (guint i = 0; i < d->buffers->len; i++) {
        PyDsaBuffer *b = py_dsa_buffer(d, (gint)i);
        if (b->zero_if && b->zero_if_depth > (gint)d->loops->len)
            py_dsa_refuse(d, node, "Add a product after them.",
                          "zeros of `%s` under a condition, and no product follows", b->name);
        if (b->zero_depth > (gint)d->loops->len) {
            py_dsa_refuse(d, node, "Add a product after them.",
                          "zeros of `%s` that no product follows in the loop", b->name);
        } else if (b->zero_used && b->zero_depth == (gint)d->loops->len) {
            b->zero_depth = -1;
            b->zero_used = FALSE;
        }
    }
}

static void statement(PyDsa *d, const WsPyNode *node)
{
    ws_source_reads(d->r, node->line);
    switch ((int)node->kind) {
    case WS_PY_PASS:
        return;
    case WS_PY_EXPR:
        if (node->kid[0]->kind == WS_PY_CALL)
            py_dsa_call(d, node->kid[0]);
        else if (node->kid[0]->kind != WS_PY_STRING)
            py_dsa_refuse(d, node, "Leave it out.", "a value that is not used");
        return;
    case WS_PY_ASSIGN:
        if (node->n == 2 && node->kid[0]->kind == WS_PY_NAME) {
            assign(d, node->kid[0]->text, node->kid[1], node);
            return;
        }
        break;
    case WS_PY_AUGMENT: {
        const PyDsaVar *v =
            node->kid[0]->kind == WS_PY_NAME ? py_dsa_find(d, node->kid[0]->text) : NULL;
        if (v && v->value->kind == DSA_SUMS && !strcmp(node->text, "+") &&
            is_call(d, node->kid[1], "dot") && node->kid[1]->n == 3) {
            WsPyNode call = *node->kid[1];
            WsPyNode *kid[4] = { call.kid[0], call.kid[1], call.kid[2], node->kid[0] };
            call.kid = kid;
            call.n = 4;
            WsPyNode *stays = g_memdup2(&call, sizeof call);
            stays->kid = g_memdup2(kid, sizeof kid);
            g_ptr_array_add(d->r->pool, stays);
            g_ptr_array_add(d->r->pool, stays->kid);
            assign(d, v->name, stays, node);
            return;
        }
        break;
    }
    case WS_PY_FOR:
        loop(d, node);
        return;
    case WS_PY_IF:
        zeros_if(d, node);
        return;
    default:
        break;
    }
    py_dsa_refuse(d, node, "Read are copies, arithmetic and products of tle.dsa, and for loops.",
                  "%s", ws_python_kind_text(node->kind));
}

void py_dsa_statements(PyDsa *d, const WsPyNode *block)
{
    for (guint i = 0; i < block->n && !py_dsa_failed(d); i++)
        statement(d, block->kid[i]);
}
