/* Compute steps: a statement becomes loops over the row and column slots that a thread holds (ri,
 * ci; li for linear values) around its expression. What is costly and the same for a whole row is
 * named once per row. */
#include "codegen/cuda/math.h"
#include "base/phrase.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"

#include <string.h>

static const char *cpp_type(WsMathKind kind)
{
    return kind == WS_MATH_REAL ? "float" : kind == WS_MATH_BOOL ? "bool" : "int";
}

/* Has something that is no plain arithmetic: worth a name where it is the same for many slots. */
static gboolean costly(const WsCudaNode *n)
{
    if (n->name)
        return FALSE;
    if (n->is->form == WS_ARRAY_REDUCTION ||
        (n->is->form == WS_ARRAY_OPERATION &&
         ((n->is->x->op == WS_EXPR_CALL && n->is->x->func != WS_FUNC_SELECT &&
           n->is->x->func != WS_FUNC_MIN && n->is->x->func != WS_FUNC_MAX &&
           n->is->x->func != WS_FUNC_ABS) ||
          (n->is->x->op == WS_EXPR_DIV && n->is->kind == WS_MATH_REAL))))
        return TRUE;
    for (guint i = 0; i < n->is->n_arg; i++) {
        if (costly(n->arg[i]))
            return TRUE;
    }
    return FALSE;
}

static void name_parts(WsCudaMath *m, WsCudaNode *n, gboolean rows);

/* All elements of a running sum, before the loops over slots. */
static void name_scan(WsCudaMath *m, WsCudaNode *n)
{
    WsCuda *c = m->c;
    gboolean exclusive, reverse;
    const gboolean real = ws_cuda_node_own(n) == WS_MATH_REAL;
    ws_array_scan(n->is, &exclusive, &reverse);
    name_parts(m, n->arg[0], FALSE);
    if (m->linear) {
        ws_cuda_scan_line(m, n);
        return;
    }
    const char *name = ws_cuda_format(c, "part_%u", c->temporaries++),
               *type = cpp_type(ws_cuda_node_own(n));
    ws_cuda_line(c, "%s %s[%u];", type, name, n->n_row * n->n_col);
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int ri = 0; ri < %u; ++ri)", n->n_row);
    ws_cuda_line(c, "quad_scan<%u, %s, %s>(%s + ri * %u, lane,", n->n_col,
                 exclusive ? "true" : "false", reverse ? "true" : "false", name, n->n_col);
    ws_cuda_line(c, "        [&](int ci) { return %s(%s); },", type,
                 ws_cuda_node_as(m, n->arg[0], ws_cuda_node_own(n)).s);
    ws_cuda_line(c, "        [](%s a, %s b) { return %s; });", type, type,
                 real ? "a + b" : "int(uint32_t(a) + uint32_t(b))");
    ws_cuda_close(c);
    n->name = n->n_row > 1 ? ws_cuda_format(c, "%s[ri * %u + ci]", name, n->n_col)
                           : ws_cuda_format(c, "%s[ci]", name);
}

/* Names the largest costly parts that do not change with the column (`rows`: they change with the
 * row; else they are the same for all slots). */
static void name_parts(WsCudaMath *m, WsCudaNode *n, gboolean rows)
{
    if (n->name || n->is->form == WS_ARRAY_TEMPORARY)
        return;
    if (n->is->form == WS_ARRAY_SCAN) {
        name_scan(m, n);
        return;
    }
    if (!n->fixed && !rows && ws_cuda_node_is_mask(m, n))
        ws_cuda_node_name_mask(m, n);
    gboolean here = n->n_col == 1 && (n->n_row > 1) == rows &&
                    (n->is->form == WS_ARRAY_OPERATION || n->is->form == WS_ARRAY_REDUCTION);
    if ((n->is->form == WS_ARRAY_REDUCTION && n->n_row > 1 && !rows) ||
        (m->linear && (n->is->rows > 1 || n->is->cols > 1)))
        here = FALSE;
    if (here && costly(n)) {
        for (guint i = 0; n->is->form == WS_ARRAY_REDUCTION && i < n->is->n_arg; i++)
            name_parts(m, n->arg[i], rows); /* inside its loop over the columns */
        const char *name = ws_cuda_format(m->c, "part_%u", m->c->temporaries++);
        if (rows) {
            ws_cuda_line(m->c, "%s %s[%u];", cpp_type(n->is->kind), name, n->n_row);
            ws_cuda_line(m->c, "#pragma unroll");
            ws_cuda_line(m->c, "for (int ri = 0; ri < %u; ++ri)", n->n_row);
            ws_cuda_line(m->c, "    %s[ri] = %s;", name,
                         ws_cuda_node_as(m, n, ws_cuda_node_own(n)).s);
            name = ws_cuda_format(m->c, "%s[ri]", name);
        } else {
            ws_cuda_line(m->c, "const %s %s = %s;", cpp_type(n->is->kind), name,
                         ws_cuda_node_as(m, n, ws_cuda_node_own(n)).s);
        }
        n->name = name;
        return;
    }
    for (guint i = 0; i < n->is->n_arg; i++)
        name_parts(m, n->arg[i], rows);
}

/* Rows inside of columns: what only depends on the column lives shortly. */
static guint nest(WsCudaMath *m, guint n_row, guint n_col, guint step)
{
    WsCuda *c = m->c;
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(
        c, step == 1 ? "for (int ci = 0; ci < %u; ++ci)" : "for (int ci = 0; ci < %u; ci += %u)",
        n_col, step);
    ws_cuda_line(c, "#pragma unroll");
    ws_cuda_open(c, "for (int ri = 0; ri < %u; ++ri)", n_row);
    return 2;
}

/* Tiles of narrow types: a register takes 2 or 4 neighbouring column slots. */
static void assign_packed(WsCudaMath *m, WsCudaNode *n, const WsCudaView *v, guint value)
{
    WsCuda *c = m->c;
    WsDtype t = v->v->dtype;
    WsMathKind kind = ws_dtype_real(t) ? WS_MATH_REAL : WS_MATH_INT;
    gboolean here =
        (t == WS_DTYPE_BF16 || t == WS_DTYPE_F16) && ws_fact_feeds_mma(c->p, c->agent, value);
    guint per = 4 / ws_dtype_bytes(t);
    name_parts(m, n, TRUE);
    guint opened = nest(m, v->n_row, v->n_col, per);
    ws_cuda_line(c, "const auto x = [&](int ci) { return %s; };", ws_cuda_node_as(m, n, kind).s);
    const char *low = ws_cuda_pair(c, t, "x(ci)", "x(ci + 1)", here);
    if (per == 2)
        ws_cuda_line(c, "%s = %s;", ws_cuda_register(c, v, 0), low);
    else
        ws_cuda_line(c, "%s = %s | uint32_t(%s) << 16;", ws_cuda_register(c, v, 0), low,
                     ws_cuda_pair(c, t, "x(ci + 2)", "x(ci + 3)", FALSE));
    ws_cuda_end_slots(c, opened);
}

static void assign(WsCudaMath *m, const WsArray *a, guint value)
{
    WsCuda *c = m->c;
    const WsRegValue *rv = &c->agent->value[value];
    WsValueUse use = { .value = value, .rows = rv->rows, .cols = rv->cols };
    WsCudaView v;
    /* rounding comes with the store */
    if (ws_fact_rounds(a, rv->dtype))
        a = a->arg[0];
    if (!ws_cuda_view(c, &use, &v)) {
        ws_cuda_math_fail(m, WS_WORD("a value of this shape"));
        return;
    }
    m->linear = v.shape == WS_PLACE_LINEAR;
    m->lin_rows = m->linear ? rv->rows : 0;
    m->lin_cols = m->linear ? rv->cols : 0;
    WsCudaNode *n = ws_cuda_node_of(m, a);
    if (!n)
        return;
    name_parts(m, n, FALSE);
    if (v.shape == WS_PLACE_TILE && ws_dtype_bytes(rv->dtype) < 4) {
        assign_packed(m, n, &v, value);
        return;
    }
    WsMathKind kind = ws_dtype_real(rv->dtype) ? WS_MATH_REAL : WS_MATH_INT;
    guint opened = 0;
    if (v.shape == WS_PLACE_TILE) {
        name_parts(m, n, TRUE);
        opened = nest(m, v.n_row, v.n_col, 1);
    } else if (m->linear) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int li = 0; li < %u; ++li)", v.n_row);
        opened = 1;
    } else {
        opened = ws_cuda_slots(c, &v, 1);
    }
    ws_cuda_set(c, &v, 0, ws_cuda_node_as(m, n, kind).s);
    ws_cuda_end_slots(c, opened);
}

/* A later statement may leave another number under the same name. */
static gboolean named_before(const WsCudaMath *m, guint statement)
{
    const WsOp *op = m->op;
    gboolean any = FALSE;
    for (guint i = 0; i < statement; i++)
        any = any || (m->temporary[i] && strcmp(op->math[i]->name, op->math[statement]->name) == 0);
    return any;
}

static void temporary(WsCudaMath *m, guint statement)
{
    WsCuda *c = m->c;
    m->linear = FALSE;
    m->lin_rows = m->lin_cols = 0;
    WsCudaNode *n = ws_cuda_node_of(m, m->op->assign[statement].array), *t;
    if (!n)
        return;
    const char *base = ws_cuda_ident(c, m->op->math[statement]->name);
    t = ws_cuda_node_new(m, n->is);
    t->n_row = n->n_row;
    t->n_col = n->n_col;
    t->linear = m->linear;
    t->name =
        named_before(m, statement) ? ws_cuda_format(c, "%s_%u", base, c->temporaries++) : base;
    name_parts(m, n, FALSE);
    if (n->n_row * n->n_col == 1) {
        ws_cuda_line(c, "const %s %s = %s;", cpp_type(ws_cuda_node_own(t)), t->name,
                     ws_cuda_node_as(m, n, ws_cuda_node_own(n)).s);
        m->temporary[statement] = t;
        return;
    }
    ws_cuda_line(c, "%s %s[%u];", cpp_type(ws_cuda_node_own(t)), t->name, n->n_row * n->n_col);
    guint opened = 1;
    if (n->n_row > 1 && n->n_col > 1) {
        name_parts(m, n, TRUE);
        opened = nest(m, n->n_row, n->n_col, 1);
    } else {
        const char *i = n->n_col > 1 ? "ci" : m->linear ? "li" : "ri";
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int %s = 0; %s < %u; ++%s)", i, i, MAX(n->n_row, n->n_col), i);
    }
    ws_cuda_line(c, "%s = %s;", ws_cuda_node_slot(m, t).s,
                 ws_cuda_node_as(m, n, ws_cuda_node_own(n)).s);
    ws_cuda_end_slots(c, opened);
    m->temporary[statement] = t;
}

static void statement(WsCudaMath *m, guint i)
{
    const WsAssign *s = &m->op->assign[i];
    if (s->value >= 0)
        assign(m, s->array, (guint)s->value);
    else if (s->array)
        temporary(m, i);
}

static void statements(WsCudaMath *m)
{
    for (guint i = 0; i < m->op->n_math && !m->c->error; i++)
        statement(m, i);
}

/* The warp's vote: TRUE where some element does not satisfy `unless`. */
static void vote(WsCudaMath *m)
{
    WsCuda *c = m->c;
    WsCudaNode *n = ws_cuda_node_of(m, m->op->unless);
    if (!n)
        return;
    name_parts(m, n, FALSE);
    ws_cuda_line(c, "bool skip = true;");
    guint opened = 0;
    if (n->n_row > 1) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(
            c, m->linear ? "for (int li = 0; li < %u; ++li)" : "for (int ri = 0; ri < %u; ++ri)",
            n->n_row);
        opened++;
    }
    if (n->n_col > 1) {
        ws_cuda_line(c, "#pragma unroll");
        ws_cuda_open(c, "for (int ci = 0; ci < %u; ++ci)", n->n_col);
        opened++;
    }
    ws_cuda_line(c, "skip = skip && %s;",
                 ws_term_in(&c->terms, ws_cuda_node_as(m, n, WS_MATH_BOOL), WS_PREC_EQ));
    ws_cuda_end_slots(c, opened);
}

/* As in math_step.c: what is drawn beside products in flight, or before a named barrier, is done
 * there. */
static void hold(WsCuda *c, const WsOp *op)
{
    GString *s = g_string_new(NULL);
    gboolean on = op->n_flying || ws_fact_before_named_barrier(c->p, op);
    for (guint i = 0; on && i < op->n_math; i++) {
        if (!ws_fact_sums(c->agent, &op->assign[i]))
            continue;
        guint v = (guint)op->assign[i].value;
        gboolean one = ws_cuda_shape(&c->agent->value[v]) == WS_PLACE_SCALAR;
        for (guint r = 0; r < c->agent->value[v].registers && r < 8; r++)
            g_string_append_printf(s, one ? "%s%s" : "%s%s[%u]", s->len ? " + " : "", c->value[v],
                                   r);
    }
    if (s->len)
        ws_cuda_line(c, "%s(%s);", ws_cuda_prim_name(WS_PRIM_HOLD), s->str);
    g_string_free(s, TRUE);
}

void ws_cuda_math(WsCuda *c, const WsOp *op)
{
    WsCudaMath m;
    ws_cuda_math_init(&m, c, op);
    ws_cuda_block(c, "");
    if (op->skip) {
        vote(&m);
        ws_cuda_open(c, "if (!%s(skip))", ws_cuda_prim_name(WS_PRIM_VOTE_ALL));
        statements(&m);
        ws_cuda_close(c);
    } else {
        statements(&m);
        hold(c, op);
    }
    ws_cuda_close(c);
    ws_cuda_math_clear(&m);
}

const char *ws_cuda_run_name(WsCuda *c, const WsArray *value)
{
    WsCudaMath m;
    ws_cuda_math_init(&m, c, NULL);
    WsCudaNode *n = ws_cuda_node_of(&m, value);
    const char *s = n ? ws_cuda_node_as(&m, n, WS_MATH_REAL).s : "0";
    ws_cuda_math_clear(&m);
    return s;
}
