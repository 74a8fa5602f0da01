/* Kernels count in 32 bits: the host refuses sizes that leave them (program/walk/reach.h). What it
 * is asked about is computed in 64 bits, exactly or not at all. */
#include "base/phrase.h"
#include "codegen/cuda/cuda.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_asked.h"
#include "program/walk/reach.h"

static const char arithmetic[] =
    "// Numbers of 64 bits; `left`: 1 one was too large for them, 2 one was divided by 0.\n"
    "struct Exact {\n"
    "    int left = 0;\n"
    "    struct Kept {\n"
    "        int64_t value;\n"
    "        int left;\n"
    "    };\n"
    "    Kept keep(int64_t x) // which matters where it is used\n"
    "    {\n"
    "        const Kept k{x, left};\n"
    "        left = 0;\n"
    "        return k;\n"
    "    }\n"
    "    int64_t use(const Kept &k)\n"
    "    {\n"
    "        left |= k.left;\n"
    "        return k.value;\n"
    "    }\n"
    "    int64_t add(int64_t x, int64_t y)\n"
    "    {\n"
    "        int64_t z = 0;\n"
    "        left |= __builtin_add_overflow(x, y, &z);\n"
    "        return z;\n"
    "    }\n"
    "    int64_t sub(int64_t x, int64_t y)\n"
    "    {\n"
    "        int64_t z = 0;\n"
    "        left |= __builtin_sub_overflow(x, y, &z);\n"
    "        return z;\n"
    "    }\n"
    "    int64_t mul(int64_t x, int64_t y)\n"
    "    {\n"
    "        int64_t z = 0;\n"
    "        left |= __builtin_mul_overflow(x, y, &z);\n"
    "        return z;\n"
    "    }\n"
    "    int64_t div(int64_t x, int64_t y)\n"
    "    {\n"
    "        left |= y == 0 ? 2 : y == -1 && x == INT64_MIN;\n"
    "        return left ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0));\n"
    "    }\n"
    "    int64_t mod(int64_t x, int64_t y) { return sub(x, mul(div(x, y), y)); }\n"
    "    int64_t cdiv(int64_t x, int64_t y) { return sub(0, div(sub(0, x), y)); }\n"
    "    int64_t min(int64_t x, int64_t y) { return x < y ? x : y; }\n"
    "    int64_t max(int64_t x, int64_t y) { return x > y ? x : y; }\n"
    "    int64_t abs(int64_t x) { return x < 0 ? sub(0, x) : x; }\n"
    "    int64_t pow2floor(int64_t x)\n"
    "    {\n"
    "        int64_t p = 1;\n"
    "        while (p <= x / 2)\n"
    "            p *= 2;\n"
    "        return x < 1 ? 0 : p;\n"
    "    }\n"
    "    bool fits(int64_t x) // what is divided by 0 is computed for no tile\n"
    "    {\n"
    "        const bool none = left == 2;\n"
    "        left = none ? 0 : left;\n"
    "        return none || (!left && x == int32_t(x));\n"
    "    }\n"
    "    bool has_value(int64_t) { return !left; }\n"
    "    bool holds(int64_t x) { return !left && x; }\n"
    "};\n\n";

/* Form of an operation: $1, $2 and $3 are its operands. */
typedef struct {
    int key;
    const char *form;
} Form;

static const Form operators[] = {
    { WS_EXPR_NEG, "n.sub(0, $1)" },  { WS_EXPR_NOT, "!$1" },
    { WS_EXPR_ADD, "n.add($1, $2)" }, { WS_EXPR_SUB, "n.sub($1, $2)" },
    { WS_EXPR_MUL, "n.mul($1, $2)" }, { WS_EXPR_DIV, "n.div($1, $2)" },
    { WS_EXPR_MOD, "n.mod($1, $2)" }, { WS_EXPR_LT, "($1 < $2)" },
    { WS_EXPR_LE, "($1 <= $2)" },     { WS_EXPR_GT, "($1 > $2)" },
    { WS_EXPR_GE, "($1 >= $2)" },     { WS_EXPR_EQ, "($1 == $2)" },
    { WS_EXPR_NE, "($1 != $2)" },     { WS_EXPR_AND, "($1 && $2)" },
    { WS_EXPR_OR, "($1 || $2)" },
};
static const Form functions[] = {
    { WS_FUNC_CDIV, "n.cdiv($1, $2)" },       { WS_FUNC_MIN, "n.min($1, $2)" },
    { WS_FUNC_MAX, "n.max($1, $2)" },         { WS_FUNC_ABS, "n.abs($1)" },
    { WS_FUNC_POW2FLOOR, "n.pow2floor($1)" }, { WS_FUNC_SELECT, "($1 ? $2 : $3)" },
};

static const char *form_of(const WsExpr *e)
{
    const gboolean call = e->op == WS_EXPR_CALL;
    const Form *table = call ? functions : operators;
    const guint n = call ? G_N_ELEMENTS(functions) : G_N_ELEMENTS(operators);
    for (guint i = 0; i < n; i++)
        if (table[i].key == (call ? (int)e->func : (int)e->op))
            return table[i].form;
    return NULL;
}

static char *exact(WsCuda *c, const WsExpr *e);

static gboolean is_kept(const WsProgram *p, gint var)
{
    return p->var[var].kind == WS_VAR_RUN && p->var[var].value;
}

static char *filled(const char *form, char *const *operand)
{
    GString *s = g_string_new(NULL);
    for (const char *at = form; *at; at++)
        if (*at == '$')
            g_string_append(s, operand[*++at - '1']);
        else
            g_string_append_c(s, *at);
    return g_string_free(s, FALSE);
}

static char *operation(WsCuda *c, const WsExpr *e)
{
    const char *form = form_of(e);
    if (!form || !e->n_args) {
        ws_cuda_step_error(c, NULL, WS_WORD("an unbound name in a uniform expression"));
        return g_strdup("0");
    }
    g_autofree char *first = exact(c, e->arg[0]);
    if (e->op != WS_EXPR_CALL || e->func == WS_FUNC_SELECT || e->n_args < 3) {
        g_autofree char *second = e->n_args > 1 ? exact(c, e->arg[1]) : NULL,
                        *third = e->n_args > 2 ? exact(c, e->arg[2]) : NULL;
        return filled(form, (char *[]){ first, second, third });
    }
    for (guint i = 1; i < e->n_args; i++) { /* the least of many */
        g_autofree char *next = exact(c, e->arg[i]);
        char *both = filled(form, (char *[]){ first, next });
        g_free(first);
        first = both;
    }
    return g_steal_pointer(&first);
}

static char *exact(WsCuda *c, const WsExpr *e)
{
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL)
        return g_strdup_printf("%" G_GINT64_FORMAT, e->i);
    if (e->op != WS_EXPR_VAR)
        return operation(c, e);
    return is_kept(c->p, e->var) ? g_strdup_printf("n.use(k%d)", e->var)
                                 : g_strdup_printf("a.%s", c->var[e->var].s);
}

typedef struct {
    WsCuda *c;
    gboolean *kept; /* by variable */
} Keep;

/* The run names of an expression as values of their own, each after those that it is made of. */
static void keep_names(const WsExpr *e, gpointer data)
{
    Keep *k = data;
    if (e->op != WS_EXPR_VAR || !is_kept(k->c->p, e->var) || k->kept[e->var])
        return;
    k->kept[e->var] = TRUE;
    const WsExpr *value = k->c->p->var[e->var].value;
    ws_expr_visit(value, keep_names, k);
    g_autofree char *text = exact(k->c, value);
    ws_cuda_line(k->c, "const Exact::Kept k%d = n.keep(%s);", e->var, text);
}

typedef struct {
    WsCuda *c;
    gboolean *kept; /* by variable: its value stands in the text */
} Asked;

/* Refuses sizes for which `question` is no. */
static void ask(const Asked *a, const char *question, const WsExpr *e)
{
    ws_expr_visit(e, keep_names, &(Keep){ a->c, a->kept });
    g_autofree char *text = exact(a->c, e);
    ws_cuda_line(a->c, "if (!n.%s(%s))", question, text);
    ws_cuda_line(a->c, "    return false;");
}

static void note_real(const WsExpr *e, gpointer data)
{
    const WsProgram *p = ((Asked *)data)->c->p;
    if (e->op == WS_EXPR_REAL ||
        (e->op == WS_EXPR_VAR && (p->var[e->var].real || p->var[e->var].kind == WS_VAR_SCALAR)))
        ws_cuda_step_error(((Asked *)data)->c, NULL, WS_WORD("an assumption about a scalar"));
}

/* Assumptions that a launch knows; those of tiles and data are nobody's to ask. */
static GPtrArray *assumed(const WsProgram *p)
{
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < p->n_assume; i++)
        if (ws_launch_knows(p, p->assume[i]))
            g_ptr_array_add(list, p->assume[i]);
    return list;
}

void ws_cuda_counted(WsCuda *c)
{
    gint64 most;
    g_autoptr(GPtrArray) wide = ws_reach_launch(c->p, &most);
    g_autoptr(GPtrArray) valued = ws_launch_valued(c->p), conditions = assumed(c->p),
                         bounds = ws_launch_bounds(c->p);
    const gboolean any = wide->len || valued->len || conditions->len || bounds->len;
    if (any)
        g_string_append(c->out, arithmetic);
    ws_cuda_line(c, "// Kernels count in 32 bits, and are right for what the design assumes: other "
                    "sizes are refused.");
    ws_cuda_line(c, "inline bool counted(const Arguments &a)");
    ws_cuda_block(c, "");
    for (guint i = 0; i < c->p->n_vars; i++)
        if (c->p->var[i].kind == WS_VAR_SIZE) {
            ws_cuda_line(c, "if (a.%s < 0 || a.%s > %" G_GINT64_FORMAT ")", c->var[i].s,
                         c->var[i].s, most);
            ws_cuda_line(c, "    return false;");
        }
    if (any)
        ws_cuda_line(c, "Exact n;");
    g_autofree gboolean *kept = g_new0(gboolean, c->p->n_vars + 1);
    const Asked a = { c, kept };
    for (guint i = 0; i < wide->len && !c->error; i++)
        ask(&a, "fits", wide->pdata[i]);
    for (guint i = 0; i < valued->len && !c->error; i++)
        ask(&a, "has_value", valued->pdata[i]);
    for (guint i = 0; i < bounds->len && !c->error; i++)
        ask(&a, "holds", bounds->pdata[i]);
    for (guint i = 0; i < conditions->len && !c->error; i++) {
        ws_expr_visit(conditions->pdata[i], note_real, (gpointer)&a);
        if (!c->error)
            ask(&a, "holds", conditions->pdata[i]);
    }
    ws_cuda_line(c, "return true;");
    ws_cuda_close(c);
    ws_cuda_line(c, "%s", "");
}
