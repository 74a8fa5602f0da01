/* The self test of an export: inputs as the design says, and its `reference` at random places of
 * the outputs, in float64. Index notation becomes functions of index tensors: a sum appends a
 * dimension. */
#include "codegen/python/py.h"
#include "codegen/sizes.h"
#include "program/formula.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    WsPy *y;
    char **bound; /* names of the indices in scope; borrowed */
    guint n_bound;
} Scope;

static const char *print(const Scope *s, const WsFormula *f);

/* A definition of the reference, or an input tensor. */
static const char *called(WsPy *y, const char *name)
{
    return ws_py_format(y, "at_%s", ws_py_ident(y, name));
}

static const char *listed(const Scope *s, const WsFormula *f)
{
    const char *text = "";
    for (guint i = 0; i < f->n_arg; i++)
        text = ws_py_format(s->y, "%s%s%s", text, i ? ", " : "",
                            ws_py_bare(s->y, print(s, f->arg[i])));
    return text;
}

static const char *indices(const Scope *s)
{
    const char *text = "";
    for (guint i = 0; i < s->n_bound; i++)
        text = ws_py_format(s->y, "%s%s%s", text, i ? ", " : "", ws_py_ident(s->y, s->bound[i]));
    return text;
}

/* sum(k < K, …) with several indices nests. */
static const char *reduction(const Scope *s, const WsFormula *f, guint at)
{
    static const char *const name[] = { "total", "most", "least" };
    const WsFunc func = f->x->func;
    const char *helper = name[func == WS_FUNC_SUM ? 0 : func == WS_FUNC_MAX ? 1 : 2];
    if (at + 1 == f->n_arg)
        return print(s, f->arg[at]);
    const char *bound = ws_py_bare(s->y, print(s, f->arg[at])), *outer = indices(s);
    g_autofree char **names = g_new0(char *, s->n_bound + 1);
    const Scope inner = { s->y, names, s->n_bound + 1 };
    names[0] = f->x->arg[at]->arg[0]->name;
    for (guint i = 0; i < s->n_bound; i++)
        names[i + 1] = s->bound[i];
    const char *body = ws_py_bare(s->y, reduction(&inner, f, at + 1));
    return ws_py_format(s->y, "%s(%s, lambda %s: %s, %s)", helper, bound, indices(&inner), body,
                        outer);
}

/* Both sides of f_select, & and | are worked out: what divides there may be 0. */
static const char *divided(const Scope *s, const WsFormula *f, const char *helper)
{
    return ws_py_format(s->y, "%s(%s, %s)", helper, ws_py_bare(s->y, print(s, f->arg[0])),
                        ws_py_bare(s->y, print(s, f->arg[1])));
}

static const char *call(const Scope *s, const WsFormula *f)
{
    static const struct {
        WsFunc func;
        const char *text;
    } known[] = {
        { WS_FUNC_EXP, "exp" },     { WS_FUNC_EXP2, "exp2" },
        { WS_FUNC_LN, "log" },      { WS_FUNC_LOG2, "log2" },
        { WS_FUNC_SQRT, "sqrt" },   { WS_FUNC_TANH, "tanh" },
        { WS_FUNC_ERF, "erf" },     { WS_FUNC_RSQRT, "rsqrt" },
        { WS_FUNC_SIN, "sin" },     { WS_FUNC_COS, "cos" },
        { WS_FUNC_FLOOR, "floor" }, { WS_FUNC_CEIL, "ceil" },
        { WS_FUNC_ABS, "abs" },     { WS_FUNC_MAX, "larger" },
        { WS_FUNC_MIN, "smaller" }, { WS_FUNC_SELECT, "select" },
        { WS_FUNC_CDIV, "cdiv" },   { WS_FUNC_SHL, "shl" },
        { WS_FUNC_SHR, "shr" },     { WS_FUNC_SAR, "sar" },
        { WS_FUNC_BITAND, "and" },  { WS_FUNC_BITOR, "or" },
        { WS_FUNC_BITXOR, "xor" },  { WS_FUNC_UMULHI, "umulhi" },
        { WS_FUNC_BITS, "bits" },   { WS_FUNC_FROM_BITS, "from_bits" },
    };
    const gboolean branches = f->x->func == WS_FUNC_SELECT;
    for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
        if (known[i].func != f->x->func)
            continue;
        s->y->terms.branches += branches;
        const char *text = ws_py_format(s->y, "f_%s(%s)", known[i].text, listed(s, f));
        s->y->terms.branches -= branches;
        return text;
    }
    ws_py_refuse(s->y, NULL, ws_py_phrase(s->y, "%s() in the reference", ws_func_text(f->x->func)),
                 NULL);
    return "0";
}

static gboolean is_truth(const WsFormula *f)
{
    const WsExprOp op = f->x->op;
    return f->form == WS_FORMULA_OPERATION &&
           (op == WS_EXPR_NOT || op == WS_EXPR_AND || op == WS_EXPR_OR ||
            (op >= WS_EXPR_LT && op <= WS_EXPR_NE));
}

/* Of & and |, which go by bits. */
static const char *truth(const Scope *s, const WsFormula *f)
{
    return is_truth(f) ? print(s, f) : ws_py_format(s->y, "(%s != 0)", print(s, f));
}

static const char *operation(const Scope *s, const WsFormula *f)
{
    static const char *const sign[] = { "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=" };
    const WsExprOp op = f->x->op;
    if (op == WS_EXPR_CALL)
        return call(s, f);
    if (op == WS_EXPR_NEG)
        return ws_py_format(s->y, "-(%s)", print(s, f->arg[0]));
    if (op == WS_EXPR_NOT) /* ~ of Python's True is -2 */
        return ws_py_format(s->y, "(%s == 0)", print(s, f->arg[0]));
    const gboolean whole = f->kind == WS_FORMULA_INT, logic = op == WS_EXPR_AND || op == WS_EXPR_OR;
    gint64 by = 0;
    if (s->y->terms.branches && whole && (op == WS_EXPR_DIV || op == WS_EXPR_MOD) &&
        !(ws_expr_is_int(f->arg[1]->x, &by) && by))
        return divided(s, f, op == WS_EXPR_DIV ? "f_over" : "f_rest");
    const char *left = logic ? truth(s, f->arg[0]) : print(s, f->arg[0]);
    s->y->terms.branches += logic;
    const char *right = logic ? truth(s, f->arg[1]) : print(s, f->arg[1]);
    s->y->terms.branches -= logic;
    return ws_py_format(s->y, "(%s %s %s)", left,
                        op == WS_EXPR_AND            ? "&"
                        : op == WS_EXPR_OR           ? "|"
                        : op == WS_EXPR_DIV && whole ? "//"
                                                     : sign[op - WS_EXPR_ADD],
                        right);
}

static const char *print(const Scope *s, const WsFormula *f)
{
    WsPy *y = s->y;
    switch (f->form) {
    case WS_FORMULA_NUMBER:
        return f->kind == WS_FORMULA_REAL ? ws_py_host_real(y, f->x)
                                          : ws_py_format(y, "%" G_GINT64_FORMAT, f->x->i);
    case WS_FORMULA_INDEX:
        return ws_py_ident(y, f->x->name);
    case WS_FORMULA_VARIABLE:
        return y->var[f->index].s ? y->var[f->index].s : ws_py_ident(y, y->p->var[f->index].name);
    case WS_FORMULA_ELEMENT:
    case WS_FORMULA_HELPER:
        return ws_py_format(y, "%s(%s)", called(y, f->x->name), listed(s, f));
    case WS_FORMULA_REDUCTION:
        return reduction(s, f, 0);
    case WS_FORMULA_OPERATION:
        break;
    }
    return operation(s, f);
}

static const char frame[] =
    "\n\n"
    "# --- a check against float64 at random places ---------------------------------------------\n"
    "\n\n"
    "def tensor_of(x):\n"
    "    return x if isinstance(x, torch.Tensor) else torch.tensor(x, device=\"cuda\")\n"
    "\n\n"
    "def reduced(upto, f, index, start, combine):\n"
    "    n = tensor_of(upto)\n"
    "    k = torch.arange(max(int(n.max()), 1), device=\"cuda\")\n"
    "    there = k < n[..., None]\n"
    "    x = f(k, *[tensor_of(i)[..., None] for i in index])\n"
    "    return combine(torch.where(there, x, start))\n"
    "\n\n"
    "def total(upto, f, *index):\n"
    "    return reduced(upto, f, index, 0.0, lambda x: x.sum(-1))\n"
    "\n\n"
    "def most(upto, f, *index):\n"
    "    return reduced(upto, f, index, -math.inf, lambda x: x.amax(-1))\n"
    "\n\n"
    "def least(upto, f, *index):\n"
    "    return reduced(upto, f, index, math.inf, lambda x: x.amin(-1))\n"
    "\n\n"
    "def element(tensor, *index):\n"
    "    # 0 outside of the tensor\n"
    "    index = torch.broadcast_tensors(*[tensor_of(i) for i in index])\n"
    "    inside = torch.ones_like(index[0], dtype=torch.bool)\n"
    "    for i, n in zip(index, tensor.shape):\n"
    "        inside &= (i >= 0) & (i < n)\n"
    "    at = tuple(i.clamp(0, n - 1).long() for i, n in zip(index, tensor.shape))\n"
    "    if tensor.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):  # cannot be indexed\n"
    "        tensor = tensor.float()\n"
    "    return torch.where(inside, tensor[at].double(), 0.0)\n"
    "\n\n"
    "def strided(shape, strides, dtype):\n"
    "    n = 1 + sum((s - 1) * t for s, t in zip(shape, strides))\n"
    "    return torch.empty(n, dtype=dtype, device=\"cuda\").as_strided(shape, strides)\n";

/* 32 bits in int64: without sign, and with it. */
#define U(x) "(tensor_of(" x ").long() & 0xFFFFFFFF)"
#define S(x) "(((" x ") & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000"

static const struct {
    const char *name, *text;
} small[] = {
    { "f_exp(", "def f_exp(x):\n    return torch.exp(tensor_of(x).double())\n" },
    { "f_exp2(", "def f_exp2(x):\n    return torch.exp2(tensor_of(x).double())\n" },
    { "f_log(", "def f_log(x):\n    return torch.log(tensor_of(x).double())\n" },
    { "f_log2(", "def f_log2(x):\n    return torch.log2(tensor_of(x).double())\n" },
    { "f_sqrt(", "def f_sqrt(x):\n    return torch.sqrt(tensor_of(x).double())\n" },
    { "f_tanh(", "def f_tanh(x):\n    return torch.tanh(tensor_of(x).double())\n" },
    { "f_erf(", "def f_erf(x):\n    return torch.erf(tensor_of(x).double())\n" },
    { "f_rsqrt(", "def f_rsqrt(x):\n    return torch.rsqrt(tensor_of(x).double())\n" },
    { "f_sin(", "def f_sin(x):\n    return torch.sin(tensor_of(x).double())\n" },
    { "f_cos(", "def f_cos(x):\n    return torch.cos(tensor_of(x).double())\n" },
    { "f_floor(", "def f_floor(x):\n    return torch.floor(tensor_of(x).double())\n" },
    { "f_ceil(", "def f_ceil(x):\n    return torch.ceil(tensor_of(x).double())\n" },
    { "f_shl(", "def f_shl(x, n):\n    return " S(U("x") " << (" U("n") " & 31)") "\n" },
    { "f_shr(", "def f_shr(x, n):\n    return " S(U("x") " >> (" U("n") " & 31)") "\n" },
    { "f_sar(", "def f_sar(x, n):\n    return "
                "(" S(U("x")) ") >> (" U("n") " & 31)"
                                              "\n" },
    { "f_and(", "def f_and(x, y):\n    return " S(U("x") " & " U("y")) "\n" },
    { "f_or(", "def f_or(x, y):\n    return " S(U("x") " | " U("y")) "\n" },
    { "f_xor(", "def f_xor(x, y):\n    return " S(U("x") " ^ " U("y")) "\n" },
    { "f_umulhi(",
      "def f_umulhi(x, y):\n"
      "    x, y = " U("x") ", " U(
          "y") "\n"
               "    return " S("(x * (y >> 16) + (x * (y & 0xFFFF) >> 16)) >> 16") "\n" },
    { "f_bits(", "def f_bits(x):\n    return tensor_of(x).float().view(torch.int32).long()\n" },
    { "f_from_bits(", "def f_from_bits(x):\n"
                      "    return (" S(U("x")) ").int().view(torch.float32).double()\n" },
    { "f_abs(", "def f_abs(x):\n    return torch.abs(tensor_of(x))\n" },
    { "f_larger(", "def f_larger(x, y):\n    return torch.maximum(tensor_of(x), tensor_of(y))\n" },
    { "f_smaller(",
      "def f_smaller(x, y):\n    return torch.minimum(tensor_of(x), tensor_of(y))\n" },
    { "f_cdiv(", "def f_cdiv(x, y):\n    y = f_select(y, y, 1)\n    return (x + y - 1) // y\n" },
    { "f_over(", "def f_over(x, y):\n    return x // f_select(y, y, 1)\n" },
    { "f_rest(", "def f_rest(x, y):\n    return x % f_select(y, y, 1)\n" },
    { "f_select(", "def f_select(c, x, y):\n"
                   "    if not isinstance(c, torch.Tensor):\n"
                   "        return x if c else y\n"
                   "    return torch.where(c != 0, x, y)\n" },
};

const char *ws_py_torch_type(WsDtype t)
{
    static const char *const name[WS_DTYPE_COUNT] = {
        [WS_DTYPE_F32] = "float32",      [WS_DTYPE_F16] = "float16",
        [WS_DTYPE_BF16] = "bfloat16",    [WS_DTYPE_TF32] = "float32",
        [WS_DTYPE_I8] = "int8",          [WS_DTYPE_E4M3] = "float8_e4m3fn",
        [WS_DTYPE_E5M2] = "float8_e5m2", [WS_DTYPE_U8] = "uint8",
        [WS_DTYPE_I32] = "int32",
    };
    return name[t] ? name[t] : "float32";
}

static const char *dims(WsPy *y, WsExpr *const *x, guint n)
{
    const char *s = "";
    for (guint i = 0; i < n; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", ws_py_uniform(y, x[i]).s);
    return s;
}

/* tensor.copy_() of random numbers as `data` wants them. */
static const char *filling(WsPy *y, const WsTensor *t, const char *name)
{
    switch (t->data) {
    case WS_DATA_ZEROS:
        return ws_py_format(y, "%s.zero_()", name);
    case WS_DATA_UNIFORM:
        return ws_py_format(y, "%s.copy_(torch.rand(%s.shape, device=\"cuda\") * %.9g + %.9g)",
                            name, name, t->data_y - t->data_x, t->data_x);
    case WS_DATA_INDICES:
        ws_py_line(y, "%s.copy_(torch.randint(0, %s, %s.shape, device=\"cuda\"))", name,
                   ws_py_uniform(y, t->data_a).s, name);
        return ws_py_format(y, "%s.masked_fill_(torch.rand(%s.shape, device=\"cuda\") < %.9g, -1)",
                            name, name, t->data_y);
    case WS_DATA_OFFSETS:
        ws_py_line(y,
                   "%s.copy_(torch.randint(0, %s + 1, %s.shape, device=\"cuda\").sort(-1).values)",
                   name, ws_py_in(y, ws_py_uniform(y, t->data_a), WS_PREC_SUM), name);
        ws_py_line(y, "%s[..., -1] = %s", name, ws_py_uniform(y, t->data_a).s);
        return ws_py_format(y, "%s[..., 0] = 0", name);
    case WS_DATA_INTEGERS:
        return ws_py_format(y, "%s.copy_(torch.randint(%s, %s, %s.shape, device=\"cuda\"))", name,
                            t->data_a ? ws_py_uniform(y, t->data_a).s : "0",
                            t->data_b ? ws_py_uniform(y, t->data_b).s : "2", name);
    case WS_DATA_NORMAL:
    default:
        if (t->dtype != WS_DTYPE_TF32)
            return ws_py_format(y, "%s.copy_(torch.randn(%s.shape, device=\"cuda\"))", name, name);
        ws_py_line(y, "%s.copy_(torch.randn(%s.shape, device=\"cuda\"))", name, name);
        /* the operand as the hardware takes it: 10 bits behind the point */
        return ws_py_format(y, "%s.view(torch.int32).bitwise_and_(-8192)", name);
    }
}

static void empty(WsPy *y, guint output)
{
    const WsTensor *t = &y->p->tensor[output];
    const gboolean integer =
        t->dtype == WS_DTYPE_I8 || t->dtype == WS_DTYPE_U8 || t->dtype == WS_DTYPE_I32;
    ws_py_line(y,
               t->access == WS_ACCESS_REDUCE || integer ? "%s.zero_()" : "%s.fill_(float(\"nan\"))",
               y->tensor[output]);
}

static void tensors(WsPy *y)
{
    for (guint i = 0; i < y->p->n_tensors; i++) {
        const WsTensor *t = &y->p->tensor[i];
        ws_py_line(y, "%s = strided([%s], [%s], torch.%s)", y->tensor[i],
                   dims(y, t->shape, t->rank), dims(y, t->stride, t->rank),
                   ws_py_torch_type(t->dtype));
        if (t->access != WS_ACCESS_READ)
            empty(y, i);
        else
            ws_py_line(y, "%s", filling(y, t, y->tensor[i]));
    }
}

/* The reference says what is in it. */
static gboolean is_defined(const WsPy *y, guint output)
{
    return ws_formula_find(y->p, y->p->tensor[output].name) >= 0;
}

/* What there is to say of an output that the reference leaves out: a second launch writes the same.
 * Not of sums: in which order they are added is not known. */
static gboolean is_repeated(const WsPy *y, guint output)
{
    return y->p->tensor[output].access == WS_ACCESS_WRITE && !is_defined(y, output);
}

static void launch_again(WsPy *y, const char *arguments)
{
    gboolean any = FALSE;
    for (guint i = 0; i < y->p->n_tensors; i++) {
        if (!is_repeated(y, i))
            continue;
        ws_py_line(y, "%s_first = %s.clone()", y->tensor[i], y->tensor[i]);
        any = TRUE;
    }
    for (guint i = 0; any && i < y->p->n_tensors; i++) {
        if (y->p->tensor[i].access != WS_ACCESS_READ)
            empty(y, i);
    }
    if (any) {
        ws_py_line(y, "launch(%s)", arguments);
        ws_py_line(y, "torch.cuda.synchronize()");
    }
}

/* at_X(…) of inputs and of definitions, in the order of the reference. */
static void functions(WsPy *y)
{
    for (guint i = 0; i < y->p->n_tensors; i++) {
        if (y->p->tensor[i].access != WS_ACCESS_READ)
            continue;
        ws_py_open(y, "def %s(*index)", called(y, y->p->tensor[i].name));
        ws_py_line(y, "return element(%s, *index)", y->tensor[i]);
        ws_py_close(y);
        ws_py_line(y, "%s", "");
    }
    for (guint i = 0; i < y->p->n_reference && !y->error; i++) {
        const WsDefinition *d = &y->p->reference[i];
        if (d->problem && d->tensor >= 0)
            ws_py_refuse(y, NULL, d->problem, NULL);
        if (d->problem) /* of a helper: nothing that is right names it */
            continue;
        if (d->any)
            ws_py_refuse(y, NULL, "elements that may hold anything (`any`)", NULL);
        const Scope in = { y, d->statement->index, d->statement->n_index };
        ws_py_open(y, "def %s(%s)", called(y, d->statement->name), indices(&in));
        ws_py_line(y, "return %s", ws_py_bare(y, print(&in, d->value)));
        ws_py_close(y);
        ws_py_line(y, "%s", "");
    }
}

static const char *launch_arguments(WsPy *y)
{
    const char *s = ws_py_host_parameters(y);
    g_auto(GStrv) part = g_strsplit(s, ", ", -1);
    const char *all = "";
    for (guint i = 0; part[i]; i++) {
        char *end = strchr(part[i], '=');
        if (end)
            *end = '\0';
        all = ws_py_format(y, "%s%s%s", all, i ? ", " : "", part[i]);
    }
    return all;
}

static void compare(WsPy *y)
{
    for (guint i = 0; i < y->p->n_tensors; i++) {
        const WsTensor *t = &y->p->tensor[i];
        const char *name = y->tensor[i];
        if (t->access == WS_ACCESS_READ)
            continue;
        if (is_repeated(y, i)) {
            ws_py_line(y,
                       "good = torch.equal(%s_first.contiguous().view(torch.uint8), "
                       "%s.contiguous().view(torch.uint8))",
                       name, name);
            ws_py_line(y, "right = right and good");
            ws_py_line(y,
                       "print(\"%s: nothing to compare with; two launches\", \"agree\" if good "
                       "else \"DIFFER\")",
                       name);
            continue;
        }
        if (!is_defined(y, i)) {
            ws_py_line(y, "print(\"%s: nothing to compare with\")", name);
            continue;
        }
        ws_py_line(y, "index = [torch.randint(0, n, (points,), device=\"cuda\") for n in %s.shape]",
                   y->tensor[i]);
        ws_py_line(y, "want = tensor_of(%s(*index))", called(y, t->name));
        ws_py_line(y, "have = %s[tuple(index)].double()", y->tensor[i]);
        ws_py_line(y, "error = torch.where(have == want, 0.0, (have - want).abs())");
        ws_py_line(y, "limit = %.9g + %.9g * want.abs()", t->tolerance_abs, t->tolerance_rel);
        ws_py_line(y, "good = bool(((error <= limit) | (have == want)).all())");
        ws_py_line(y, "right = right and good");
        ws_py_line(
            y, "print(\"%s: worst error\", float(error.max()), \"right\" if good else \"WRONG\")",
            y->tensor[i]);
    }
}

void ws_py_host_check(WsPy *y)
{
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    y->host = TRUE;
    ws_py_line(y, "\n");
    const char *sizes = "";
    for (guint i = 0; i < y->p->n_vars; i++) {
        const WsVar *v = &y->p->var[i];
        if (v->kind == WS_VAR_SIZE)
            sizes = ws_py_format(y, "%s%s=%" G_GINT64_FORMAT ", ", sizes, y->var[i].s,
                                 ws_fact_preset(y->p, (gint)i));
        if (v->kind == WS_VAR_SCALAR)
            sizes = ws_py_format(y, "%s%s=%.9g, ", sizes, y->var[i].s, v->preset_real);
    }
    ws_py_open(y, "def check(%spoints=64)", sizes);
    ws_py_line(y, "torch.manual_seed(0)");
    for (guint i = 0; i < y->p->n_vars && !y->error; i++) {
        const WsVar *v = &y->p->var[i];
        if (v->kind == WS_VAR_RUN && v->value)
            ws_py_line(y, "%s = %s", y->var[i].s, ws_py_host_value(y, v));
    }
    tensors(y);
    const char *arguments = launch_arguments(y);
    ws_py_line(y, "launch(%s)", arguments);
    ws_py_line(y, "torch.cuda.synchronize()");
    launch_again(y, arguments);
    ws_py_line(y, "%s", "");
    functions(y);
    ws_py_line(y, "right = True");
    compare(y);
    ws_py_line(y, "return right");
    ws_py_close(y);
    ws_py_line(y, "\n");
    ws_py_open(y, "if __name__ == \"__main__\"");
    ws_py_line(y, "raise SystemExit(0 if check() else 1)");
    ws_py_close(y);
    y->host = FALSE;
    g_string_append(outer, frame);
    for (guint i = 0; i < G_N_ELEMENTS(small); i++) {
        if (strstr(y->out->str, small[i].name))
            g_string_append_printf(outer, "\n\n%s", small[i].text);
    }
    g_autofree char *used = ws_py_host_used(y, y->out->str);
    g_string_append(outer, used);
    g_string_free(y->out, TRUE);
    y->out = outer;
}
