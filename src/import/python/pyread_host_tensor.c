#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Tensors of the host: what makes one, of which type and shape, and what changes one. */

/* The element type that torch.empty(…, dtype=…) says; float32 where it says none. */
static const char *type_of(PyRead *p, const WsPyNode *call, const char *otherwise)
{
    for (guint i = 1; i < call->n; i++) {
        if (call->kid[i]->kind != WS_PY_KEYWORD || strcmp(call->kid[i]->text, "dtype"))
            continue;
        const Val *v = py_eval(p, call->kid[i]->kid[0]);
        return v->kind == VAL_NAME ? py_dtype(v->text) : NULL;
    }
    return otherwise;
}

static const Val *made_of(PyRead *p, const char *dtype, const Val **item, guint n, gboolean like)
{
    Val *v = py_open(p, p->hint); /* another tensor than one of this name before */
    v->dtype = dtype;
    v->dense = !like; /* else its strides are those of the other one */
    if (!n || n > 5)
        return v;
    v->item = g_new0(const Val *, n + 1);
    g_ptr_array_add(p->r->pool, v->item);
    for (guint i = 0; i < n; i++)
        v->item[v->n++] = item[i];
    return v;
}

/* x.stride(0): a number of the launch. */
static const Val *stride_of(PyRead *p, const WsPyNode *of, const WsPyNode *dim)
{
    const Val *x = py_eval(p, of);
    const gint tensor =
        x->kind == VAL_TENSOR || x->kind == VAL_PARAM ? py_tensor(p, x, 0, of->line) : -1;
    if (tensor < 0 || dim->kind != WS_PY_INT || dim->i < 0 || dim->i > 4)
        return NULL;
    const WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    const WsExpr *own = t->contiguous && dim->i < t->rank ? ws_x_int(p->r, 1) : NULL;
    for (guint d = (guint)dim->i + 1; own && d < t->rank; d++)
        own = t->shape[d] ? ws_x_op(p->r, WS_EXPR_MUL, own, t->shape[d]) : NULL;
    if (own)
        return py_int(p, own);
    const gint64 preset = t->rank && (guint)dim->i == t->rank - 1 ? 1 : 1024;
    g_autofree char *name = g_strdup_printf("%s_stride_%" G_GINT64_FORMAT, t->name, dim->i);
    return py_int(p, ws_x_name(p->r, ws_source_size_of(p->r, name, name, preset)));
}

/* x.numel(): the extent of what is one line so far. */
static const Val *elements_of(PyRead *p, const WsPyNode *of)
{
    const Val *x = py_eval(p, of);
    const gint tensor =
        x->kind == VAL_TENSOR || x->kind == VAL_PARAM ? py_tensor(p, x, 0, of->line) : -1;
    if (tensor < 0)
        return NULL;
    g_autofree char *name =
        g_strconcat(g_array_index(p->r->tensors, WsReadTensor, tensor).name, "_numel", NULL);
    return py_int(p, ws_x_name(p->r, ws_source_size_of(p->r, name, name, 1024)));
}

/* x.stride(), x.size(), x.shape of a tensor whose rank is known: as many numbers, not known. */
static const Val *strides(PyRead *p, const WsPyNode *call)
{
    const WsPyNode *f = call->kid[0];
    if (f->kind == WS_PY_ATTR && !strcmp(f->text, "numel") && call->n == 1)
        return elements_of(p, f->kid[0]);
    if (f->kind != WS_PY_ATTR || strcmp(f->text, "stride") || call->n > 2)
        return NULL;
    if (call->n == 2)
        return p->from == WS_IMPORT_TLE ? stride_of(p, f->kid[0], call->kid[1]) : NULL;
    const Val *x = py_eval(p, f->kid[0]);
    const gint tensor =
        x->kind == VAL_TENSOR || x->kind == VAL_PARAM ? py_tensor(p, x, 0, call->line) : -1;
    const guint rank = tensor >= 0 ? g_array_index(p->r->tensors, WsReadTensor, tensor).rank : 0;
    if (!rank)
        return NULL;
    Val *v = py_val(p, VAL_TUPLE);
    v->item = g_new0(const Val *, rank + 1);
    g_ptr_array_add(p->r->pool, v->item);
    while (v->n < rank)
        v->item[v->n++] = py_opaque(p);
    return v;
}

/* --- of another type --------------------------------------------------------------------------*/

/* The tensor as one of the type `dotted` ("torch.float16"), "" its own, NULL not known. */
static const Val *of_type(PyRead *p, const Val *tensor, const char *dotted)
{
    const char *own = dotted && !*dotted ? tensor->dtype : py_dtype(dotted);
    const char *dot = dotted ? strrchr(dotted, '.') : NULL;
    if (own && !g_strcmp0(own, tensor->dtype))
        return tensor;
    Val *v = py_open(p, tensor->text);
    v->dtype = own ? own : dot ? dot + 1 : NULL;
    v->item = tensor->item;
    v->n = tensor->n;
    return v;
}

/* The type that x.half() and the like give; NULL: another method. */
static const char *type_of_method(const char *name)
{
    static const char *const known[][2] = {
        { "half", "torch.float16" }, { "float", "torch.float32" }, { "bfloat16", "torch.bfloat16" },
        { "int", "torch.int32" },    { "char", "torch.int8" },     { "byte", "torch.uint8" },
        { "long", "torch.int64" },   { "short", "torch.int16" },   { "double", "torch.float64" },
        { "bool", "torch.bool" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
        if (!strcmp(known[i][0], name))
            return known[i][1];
    return NULL;
}

const Val *py_host_converted(PyRead *p, const Val *tensor, const WsPyNode *call)
{
    const char *dotted = "";
    for (guint i = 1; i < call->n; i++) {
        const WsPyNode *arg = call->kid[i];
        const gboolean named = arg->kind == WS_PY_KEYWORD;
        const Val *v =
            named && strcmp(arg->text, "dtype") != 0 ? NULL : py_eval(p, named ? arg->kid[0] : arg);
        if (v && v->kind == VAL_NAME && g_str_has_prefix(v->text, "torch."))
            return of_type(p, tensor, v->text);
        if (v && v->kind != VAL_STRING) /* a device has no type */
            dotted = NULL;
    }
    return of_type(p, tensor, dotted);
}

/* x.half(), x.type(dtype), x.reshape(…): another tensor whose type is known. NULL: it is none. */
static const Val *converted(PyRead *p, const WsPyNode *call)
{
    static const char *const shaped[] = { "reshape", "view",    "flatten",   "transpose", "t",
                                          "permute", "squeeze", "unsqueeze", NULL };
    static const char *const same[] = { "contiguous", "clone",          "detach", "cuda",
                                        "cpu",        "requires_grad_", NULL };
    const WsPyNode *f = call->kid[0];
    if (f->kind != WS_PY_ATTR || (f->kid[0]->kind != WS_PY_NAME && f->kid[0]->kind != WS_PY_CALL))
        return NULL;
    const char *dotted = call->n == 1 ? type_of_method(f->text) : NULL;
    const gboolean keeps = g_strv_contains(same, f->text), other = g_strv_contains(shaped, f->text);
    if (!dotted && !keeps && !other && strcmp(f->text, "type") != 0)
        return NULL;
    const Val *x = py_eval(p, f->kid[0]);
    if (x->kind != VAL_PARAM)
        return NULL;
    if (dotted)
        return of_type(p, x, dotted);
    const Val *to = call->n == 2 && !keeps ? py_eval(p, call->kid[1]) : NULL;
    if (to && to->kind == VAL_NAME && g_str_has_prefix(to->text, "torch."))
        return py_host_converted(p, x, call);
    if (!x->dtype || (!keeps && !other))
        return NULL;
    Val *v = py_open(p, x->text);
    v->dtype = x->dtype;
    v->item = keeps ? x->item : NULL;
    v->n = keeps ? x->n : 0;
    v->dense = (keeps && x->dense) || !strcmp(f->text, "contiguous");
    return v;
}

/* torch.empty((a, b)), torch.empty(a, b), torch.empty_like(x) */
const Val *py_host_tensor(PyRead *p, const WsPyNode *call)
{
    static const char *const makers[] = { "empty", "zeros", "ones",   "randn",
                                          "rand",  "full",  "randint" };
    const Val *known = strides(p, call);
    known = known ? known : converted(p, call);
    if (known)
        return known;
    g_autofree char *name = ws_python_dotted(call->kid[0]);
    const char *last = name && g_str_has_prefix(name, "torch.") ? strrchr(name, '.') + 1 : NULL;
    gboolean makes = FALSE, like = FALSE;
    for (guint i = 0; last && i < G_N_ELEMENTS(makers); i++) {
        makes |= !strcmp(makers[i], last);
        like |= g_str_has_prefix(last, makers[i]) && !strcmp(last + strlen(makers[i]), "_like");
    }
    if ((!makes && !like) || !p->hint)
        return NULL;
    const char *hint = p->hint;
    const guint first = last && !strcmp(last, "randint") ? 3 : 1;
    const Val *item[5];
    guint n = 0;
    const Val *shape = call->n > first && call->kid[first]->kind != WS_PY_KEYWORD &&
                               call->kid[first]->kind != WS_PY_STAR
                           ? py_eval(p, call->kid[first])
                           : NULL;
    const gboolean copied = like && shape && shape->kind == VAL_PARAM;
    const char *dtype = type_of(p, call, copied ? shape->dtype : like ? NULL : "f32");
    p->hint = hint;
    if (like)
        return made_of(p, dtype, copied ? shape->item : NULL, copied ? shape->n : 0, TRUE);
    if (shape && shape->kind == VAL_TUPLE)
        return made_of(p, dtype, shape->item, shape->n, FALSE);
    for (guint i = first; i < call->n && n < 5 && call->kid[i]->kind != WS_PY_KEYWORD; i++) {
        item[n++] = py_eval(p, call->kid[i]);
        if (!py_as_int(p, item[n - 1]))
            return made_of(p, dtype, NULL, 0, FALSE);
    }
    p->hint = hint;
    return made_of(p, dtype, item, n, FALSE);
}

/* Methods whose names end so change a tensor in place: these what it holds alone. */
static const char *const fillers[] = {
    "zero_",  "fill_",      "copy_", "normal_", "uniform_",     "random_",        "add_",
    "sub_",   "mul_",       "div_",  "clamp_",  "exponential_", "requires_grad_", "neg_",
    "round_", "bernoulli_", "log_",  "exp_",    "masked_fill_", "trunc_normal_",  NULL
};

static gboolean is_tensor(PyRead *p, const WsPyNode *node)
{
    const Val *v = node->kind == WS_PY_NAME ? py_lookup(p, node->text) : NULL;
    return v && (v->kind == VAL_PARAM || v->kind == VAL_TENSOR);
}

void py_host_in_place(PyRead *p, const WsPyNode *node, gboolean whole)
{
    const WsPyNode *f = node->kind == WS_PY_CALL ? node->kid[0] : NULL;
    if (f && f->kind == WS_PY_ATTR && g_str_has_suffix(f->text, "_") &&
        !g_str_has_suffix(f->text, "__") && !g_strv_contains(fillers, f->text) &&
        is_tensor(p, f->kid[0]))
        py_unread(p, node, ws_source_format(p->r, "what `%s` changes of a tensor", f->text));
    const gboolean assigns = node->kind == WS_PY_ASSIGN || node->kind == WS_PY_AUGMENT;
    for (guint i = 0; i < node->n; i++) {
        const WsPyNode *to = node->kid[i];
        if (assigns && i + 1 < node->n && to->kind == WS_PY_ATTR && is_tensor(p, to->kid[0]))
            py_unread(p, node, ws_source_format(p->r, "what `%s` of a tensor is now", to->text));
        if (whole || to->kind != WS_PY_BLOCK)
            py_host_in_place(p, to, whole);
    }
}
