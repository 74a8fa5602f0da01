/* Expressions and conditions of the proof as postfix code. */
#include "check/proof/bits/bits.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

enum { CODE_INT, CODE_LOCAL, CODE_RANK, CODE_SYMBOL, CODE_OP, CODE_CALL };
#define DEPTH   48
#define LARGEST ((gint64)1 << 44)

gpointer ws_bit_alloc(WsBits *b, gsize bytes)
{
    bytes = (bytes + 15) & ~(gsize)15;
    if (b->memory->len == 0 || b->used + bytes > b->room) {
        b->room = MAX(bytes, (gsize)1 << 15);
        b->used = 0;
        g_ptr_array_add(b->memory, g_malloc0(b->room));
    }
    gpointer p = (guint8 *)b->memory->pdata[b->memory->len - 1] + b->used;
    b->used += bytes;
    return p;
}

void ws_bit_outside(WsBits *b, const char *why)
{
    if (!b->c->outside)
        b->c->outside = g_strdup(why);
}

gint ws_bit_local_of(WsBits *b, guint agent, gint var)
{
    WsBitAgent *a = &b->agent[agent];
    if (var < 0)
        return -1;
    for (guint i = 0; i < a->n_locals; i++)
        if (a->var[i] == var)
            return (gint)i;
    a->var[a->n_locals] = var;
    return (gint)a->n_locals++;
}

typedef struct {
    WsBits *b;
    guint agent, n, height, most;
    WsBitCode code[256];
} Writer;

static void put(Writer *w, guint8 op, gint32 var, gint64 i, guint pops)
{
    if (w->n == G_N_ELEMENTS(w->code)) {
        ws_bit_outside(w->b, "an expression is too long");
        return;
    }
    w->code[w->n++] = (WsBitCode){ op, var, i };
    w->height = w->height + 1 - MIN(pops, w->height);
    w->most = MAX(w->most, w->height);
}

static void write_var(Writer *w, const WsExpr *e)
{
    const WsControl *c = w->b->c;
    if (e->var >= (gint)c->n_vars) {
        put(w, CODE_SYMBOL, e->var - (gint)c->n_vars, 0, 0);
        return;
    }
    const WsVar *v = e->var >= 0 ? &c->p->var[e->var] : NULL;
    if (v && c->let[e->var])
        ws_bit_outside(w->b, "control depends on a let that was not taken apart"); /* L-LET */
    if (v && v->kind == WS_VAR_CTA)
        put(w, CODE_RANK, 0, 0, 0);
    else if (v && (v->agent == (gint)w->agent))
        put(w, CODE_LOCAL, ws_bit_local_of(w->b, w->agent, e->var), 0, 0);
    else
        ws_bit_outside(w->b, "control depends on a name that is no counter of its agent");
}

static void write_expr(Writer *w, const WsExpr *e)
{
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL) {
        put(w, CODE_INT, 0, e->i, 0);
        return;
    }
    if (e->op == WS_EXPR_VAR) {
        write_var(w, e);
        return;
    }
    gboolean call = e->op == WS_EXPR_CALL;
    gboolean known = !call ? e->op >= WS_EXPR_NEG && e->op <= WS_EXPR_OR
                           : (e->n_args == 2 && (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX ||
                                                 e->func == WS_FUNC_CDIV)) ||
                                 (e->n_args == 1 && e->func == WS_FUNC_ABS) ||
                                 (e->n_args == 3 && e->func == WS_FUNC_SELECT);
    if (!known) {
        ws_bit_outside(w->b, "control depends on a function that the proof does not know");
        put(w, CODE_INT, 0, 0, 0);
        return;
    }
    for (guint i = 0; i < e->n_args; i++)
        write_expr(w, e->arg[i]);
    put(w, call ? CODE_CALL : CODE_OP, call ? (gint32)e->func : (gint32)e->op, 0, e->n_args);
}

WsBitExpr ws_bit_expr_plain(WsBits *b, guint agent, const WsExpr *e)
{
    WsBitExpr x = { .given = e != NULL };
    if (!e) {
        x.constant = TRUE;
        return x;
    }
    if (e->op == WS_EXPR_INT) {
        x.constant = TRUE;
        x.value = CLAMP(e->i, -LARGEST, LARGEST);
        if (x.value != e->i)
            ws_bit_outside(b, "a number is too large");
        return x;
    }
    Writer w;
    w.b = b, w.agent = agent, w.n = w.height = w.most = 0;
    write_expr(&w, e);
    if (w.most > DEPTH)
        ws_bit_outside(b, "an expression is nested too deeply");
    x.n = w.n;
    x.code = ws_bit_alloc(b, w.n * sizeof(WsBitCode));
    memcpy(x.code, w.code, w.n * sizeof(WsBitCode));
    return x;
}

const WsExpr *ws_bit_rewritten(const WsBits *b, const WsExpr *e)
{
    const WsExpr *w = e && e->op != WS_EXPR_INT ? g_hash_table_lookup(b->c->rewritten, e) : NULL;
    return w ? w : e;
}

WsBitExpr ws_bit_expr(WsBits *b, guint agent, const WsExpr *e)
{
    return ws_bit_expr_plain(b, agent, ws_bit_rewritten(b, e));
}

gboolean ws_bit_uses(const WsBitExpr *e, guint local)
{
    for (guint i = 0; i < e->n; i++)
        if (e->code[i].op == CODE_LOCAL && e->code[i].var == (gint32)local)
            return TRUE;
    return FALSE;
}

gboolean ws_bit_uses_symbol(const WsBits *b, const WsBitExpr *e, gint symbol)
{
    for (guint i = 0; i < e->n; i++)
        if (e->code[i].op == CODE_SYMBOL && ws_base_of(b->c, e->code[i].var) == symbol)
            return TRUE;
    return FALSE;
}

/* It depends on a symbol whose value is only known up to a multiple. */
gboolean ws_bit_tainted(const WsBits *b, guint agent, const WsBitExpr *e)
{
    const WsBitAgent *a = &b->agent[agent];
    for (guint i = 0; i < e->n; i++)
        if (e->code[i].op == CODE_SYMBOL ||
            (e->code[i].op == CODE_LOCAL && b->c->tainted[a->var[e->code[i].var]]))
            return TRUE;
    return FALSE;
}

/* --- running ---------------------------------------------------------------------------------- */
/* FALSE: it has no value. */
static gboolean apply(guint op, gboolean call, gint64 x, gint64 y, gint64 *r)
{
    if (call) {
        if (op == WS_FUNC_CDIV) {
            if (y == 0 || x == G_MININT64)
                return FALSE;
            *r = -ws_floor_div(-x, y);
        } else {
            *r = op == WS_FUNC_MIN ? MIN(x, y) : MAX(x, y);
        }
        return TRUE;
    }
    switch (op) {
    case WS_EXPR_ADD:
        return !__builtin_add_overflow(x, y, r);
    case WS_EXPR_SUB:
        return !__builtin_sub_overflow(x, y, r);
    case WS_EXPR_MUL:
        return !__builtin_mul_overflow(x, y, r);
    case WS_EXPR_DIV:
    case WS_EXPR_MOD:
        if (y == 0 || x == G_MININT64)
            return FALSE;
        *r = op == WS_EXPR_DIV ? ws_floor_div(x, y) : x - ws_floor_div(x, y) * y;
        return TRUE;
    case WS_EXPR_LT:
        return *r = x < y, TRUE;
    case WS_EXPR_LE:
        return *r = x <= y, TRUE;
    case WS_EXPR_GT:
        return *r = x > y, TRUE;
    case WS_EXPR_GE:
        return *r = x >= y, TRUE;
    case WS_EXPR_EQ:
        return *r = x == y, TRUE;
    case WS_EXPR_NE:
        return *r = x != y, TRUE;
    case WS_EXPR_AND:
        return *r = x && y, TRUE;
    case WS_EXPR_OR:
        return *r = x || y, TRUE;
    default:
        return FALSE;
    }
}

gboolean ws_bit_run(WsBits *b, guint i, const WsBitExpr *e, gint64 *value)
{
    gint64 stack[DEPTH + 2], *top = stack;
    const gint64 *local = ws_bit_local(b, i);
    for (guint k = 0; k < e->n; k++) {
        const WsBitCode *c = &e->code[k];
        gboolean ok = TRUE;
        switch (c->op) {
        case CODE_INT:
            *top++ = c->i;
            break;
        case CODE_LOCAL:
            *top++ = local[c->var];
            b->vague |= ws_bit_inst(b, i)->vague >> MIN(c->var, 63) & 1;
            break;
        case CODE_RANK:
            *top++ = ws_bit_rank(b, i);
            break;
        case CODE_SYMBOL:
            ok = ws_bit_value_of(b, i, c->var, top++);
            break;
        default:
            if (c->op == CODE_OP && c->var == WS_EXPR_NEG) {
                ok = !__builtin_sub_overflow(0, top[-1], &top[-1]);
            } else if (c->op == CODE_OP && c->var == WS_EXPR_NOT) {
                top[-1] = !top[-1];
            } else if (c->op == CODE_CALL && c->var == WS_FUNC_ABS) {
                ok = top[-1] != G_MININT64;
                top[-1] = ok ? ABS(top[-1]) : 0;
            } else if (c->op == CODE_CALL &&
                       c->var == WS_FUNC_SELECT) { /* both sides have values */
                top -= 2;
                top[-1] = top[-1] ? top[0] : top[1];
            } else {
                top--;
                ok = apply((guint)c->var, c->op == CODE_CALL, top[-1], top[0], &top[-1]);
            }
        }
        if (!ok) {
            ws_bit_outside(b, "an expression has no value");
            *value = 0;
            return FALSE;
        }
    }
    *value = stack[0];
    if (*value > LARGEST || *value < -LARGEST) { /* sums of such still fit */
        ws_bit_outside(b, "a number is too large");
        *value = 0;
        return FALSE;
    }
    return TRUE;
}

static void count_symbols(const WsExpr *e, gpointer data)
{
    gpointer *d = data;
    const WsControl *c = d[0];
    WsBitCond *to = d[1];
    if (e->op != WS_EXPR_VAR || e->var < (gint)c->n_vars)
        return;
    if (to->need)
        to->need[to->n_need] = e->var - (gint)c->n_vars;
    to->n_need++;
}

/* --- conditions ------------------------------------------------------------------------------- */
WsBitCond *ws_bit_cond(WsBits *b, guint agent, const WsExpr *e)
{
    WsBitCond *c = ws_bit_alloc(b, sizeof *c);
    const WsForm *f = g_hash_table_lookup(b->c->forms, e);
    if (f && f->factor == 0 && f->symbol >= 0) {
        c->kind = WS_COND_LETTER;
        c->symbol = f->symbol;
    } else if (f) { /* factor 0: the symbol has cancelled */
        c->kind = WS_COND_COMPARE;
        c->op = e->op;
        c->symbol = f->symbol, c->factor = f->factor;
        c->rest = ws_bit_expr_plain(b, agent, f->rest);
    } else if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT) {
        c->kind = e->op == WS_EXPR_AND  ? WS_COND_AND
                  : e->op == WS_EXPR_OR ? WS_COND_OR
                                        : WS_COND_NOT;
        for (guint i = 0; i < e->n_args; i++)
            c->arg[i] = ws_bit_cond(b, agent, e->arg[i]);
    } else {
        gpointer data[2] = { b->c, c };
        c->kind = WS_COND_VALUE;
        ws_expr_visit(e, count_symbols, data);
        c->need = ws_bit_alloc(b, (c->n_need + 1) * sizeof(gint));
        c->n_need = 0;
        ws_expr_visit(e, count_symbols, data);
        c->rest = ws_bit_expr_plain(b, agent, e);
    }
    return c;
}
