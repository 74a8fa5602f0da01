/* Canonical text of expressions, references and statements (LANGUAGE section 23). */
#include "expr/internal.h"

#include <math.h>
#include <string.h>

static int precedence(const WsExpr *e)
{
    const WsOperator *o = ws_operator_of(e->op);
    if (o)
        return o->prec;
    if (e->op == WS_EXPR_NOT)
        return WS_PREC_NOT;
    if (e->op == WS_EXPR_NEG || (e->op == WS_EXPR_INT && e->i < 0) ||
        (e->op == WS_EXPR_REAL && !e->name && signbit(e->r)))
        return WS_PREC_UNARY;
    return WS_PREC_PRIMARY;
}

/* Where the text goes, and at which character a certain part of the tree begins. */
typedef struct {
    GString *text;
    const WsExpr *sought; /* or NULL */
    glong at;             /* 1-based; 0: not met */
} Out;

static void print(Out *out, const WsExpr *e, int at_least);

static void print_args(Out *out, const WsExpr *e, char open, char close)
{
    g_string_append_c(out->text, open);
    for (guint i = 0; i < e->n_args; i++) {
        if (i)
            g_string_append(out->text, ", ");
        print(out, e->arg[i], 0);
    }
    g_string_append_c(out->text, close);
}

/* Shortest decimal text that reads back as the same double, recognisable as a real. */
static void print_real(GString *out, double r)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_ascii_formatd(text, sizeof text, formats[i], r);
        if (g_ascii_strtod(text, NULL) == r)
            break;
    }
    g_string_append(out, text);
    if (isfinite(r) && !strpbrk(text, ".e"))
        g_string_append(out, ".0");
}

static void print_bare(Out *out, const WsExpr *e)
{
    const WsOperator *o = ws_operator_of(e->op);
    if (o) {
        /* Left-associative; comparisons do not chain, so neither side may be one. */
        print(out, e->arg[0], o->prec == WS_PREC_CMP ? o->prec + 1 : o->prec);
        g_string_append(out->text, o->print);
        print(out, e->arg[1], o->prec + 1);
        return;
    }
    if (e->op == WS_EXPR_INT) {
        g_string_append_printf(out->text, "%" G_GINT64_FORMAT, e->i);
    } else if (e->op == WS_EXPR_REAL) {
        if (e->name)
            g_string_append(out->text, e->name);
        else
            print_real(out->text, e->r);
    } else if (e->op == WS_EXPR_TEXT_BOOL) {
        g_string_append(out->text, e->i ? "true" : "false");
    } else if (e->op == WS_EXPR_TOTAL) {
        g_string_append_printf(out->text, "%s.total", e->name);
    } else if (e->op == WS_EXPR_NEG) {
        g_string_append_c(out->text, '-');
        print(out, e->arg[0], WS_PREC_UNARY);
    } else if (e->op == WS_EXPR_NOT) {
        g_string_append_c(out->text, '!');
        print(out, e->arg[0], WS_PREC_NOT);
    } else if (e->op == WS_EXPR_CALL) {
        g_string_append(out->text, ws_func_text(e->func));
        print_args(out, e, '(', ')');
    } else if (e->op == WS_EXPR_INDEX) {
        g_string_append(out->text, e->name);
        print_args(out, e, '[', ']');
    } else {
        g_string_append(out->text, e->name ? e->name : "?");
    }
}

static void print(Out *out, const WsExpr *e, int at_least)
{
    gboolean parentheses = precedence(e) < at_least;
    if (e == out->sought && !out->at)
        out->at = g_utf8_strlen(out->text->str, -1) + 1;
    if (parentheses)
        g_string_append_c(out->text, '(');
    print_bare(out, e);
    if (parentheses)
        g_string_append_c(out->text, ')');
}

char *ws_expr_print(const WsExpr *e)
{
    Out out = { .text = g_string_new(NULL) };
    if (e)
        print(&out, e, 0);
    return g_string_free(out.text, FALSE);
}

char *ws_ref_print(const WsRef *ref)
{
    Out out = { .text = g_string_new(ref->name) };
    if (ref->element) {
        g_string_append_c(out.text, '[');
        print(&out, ref->element, 0);
        g_string_append_c(out.text, ']');
    }
    for (guint i = 0; i < ref->n_views; i++) {
        const WsView *v = &ref->view[i];
        if (v->kind == WS_VIEW_T) {
            g_string_append(out.text, ".t");
            continue;
        }
        g_string_append(out.text, v->kind == WS_VIEW_ROWS ? ".rows(" : ".cols(");
        print(&out, v->start, 0);
        g_string_append(out.text, ", ");
        print(&out, v->count, 0);
        g_string_append_c(out.text, ')');
    }
    if (ref->use) {
        g_string_append(out.text, " @ ");
        print(&out, ref->use, 0);
    }
    return g_string_free(out.text, FALSE);
}

char *ws_statement_print_at(const WsStatement *s, const WsExpr *part, glong *character)
{
    Out out = { .text = g_string_new(s->name), .sought = part };
    for (guint i = 0; i < s->n_index; i++)
        g_string_append_printf(out.text, "%s%s", i ? ", " : "[", s->index[i]);
    g_string_append(out.text, s->n_index ? "] = " : " = ");
    print(&out, s->value, 0);
    *character = out.at;
    return g_string_free(out.text, FALSE);
}

char *ws_statement_print(const WsStatement *s)
{
    glong character;
    return ws_statement_print_at(s, NULL, &character);
}
