#include "package/launch_text.h"
#include "model/reserved.h"
#include "package/package.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    int key; /* WsExprOp or WsFunc */
    const char *form[2];
} Form;

static const Form operators[] = {
#define WS_LAUNCH_OPERATOR(op, c, python) { WS_EXPR_##op, { c, python } },
#define WS_LAUNCH_FUNCTION(func, c, python)
#include "package/launch_text.def"
#undef WS_LAUNCH_OPERATOR
#undef WS_LAUNCH_FUNCTION
};
static const Form functions[] = {
#define WS_LAUNCH_OPERATOR(op, c, python)
#define WS_LAUNCH_FUNCTION(func, c, python) { WS_FUNC_##func, { c, python } },
#include "package/launch_text.def"
#undef WS_LAUNCH_OPERATOR
#undef WS_LAUNCH_FUNCTION
};

char *ws_launch_ident(const char *name)
{
    static const char own[] = " torch stream ";
    g_autofree char *word = g_strconcat(" ", name, " ", NULL);
    const gboolean clash =
        strstr(own, word) ||
        ws_reserved(WS_RESERVED_C | WS_RESERVED_CXX | WS_RESERVED_CUDA | WS_RESERVED_PYTHON, name);
    return g_strconcat(name, clash ? "_" : "", NULL);
}

static const char *find(const Form *table, guint n, int key, WsTextLanguage language)
{
    for (guint i = 0; i < n; i++)
        if (table[i].key == key)
            return table[i].form[language];
    return NULL;
}

static gboolean refuse(const WsExpr *e, GError **error)
{
    g_autofree char *text = ws_expr_print(e);
    g_set_error(
        error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
        "%s: not supported by the package: shapes, strides and the grid come from sizes alone",
        text);
    return FALSE;
}

static gboolean leaf(GString *out, const WsProgram *p, const WsExpr *e, WsTextLanguage language,
                     GError **error)
{
    const WsVar *v = &p->var[e->var];
    if (v->kind == WS_VAR_RUN && !v->real && v->value)
        return ws_launch_text(out, p, v->value, language, error);
    if (v->kind != WS_VAR_SIZE)
        return refuse(e, error);
    g_autofree char *name = ws_launch_ident(v->name);
    g_string_append_printf(out, language == WS_TEXT_C ? "a->%s" : "n.%s", name);
    return TRUE;
}

/* Puts the operands' texts into a form. */
static void fill(GString *out, const char *form, const char *const *operand)
{
    for (const char *p = form; *p; p++) {
        if (*p != '$')
            g_string_append_c(out, *p);
        else
            g_string_append(out, operand[*++p - '1']);
    }
}

static gboolean operation(GString *out, const WsProgram *p, const WsExpr *e, const char *form,
                          WsTextLanguage language, GError **error)
{
    gboolean ok = TRUE;
    g_autoptr(GPtrArray) text = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; ok && i < e->n_args; i++) {
        GString *s = g_string_new(NULL);
        ok = ws_launch_text(s, p, e->arg[i], language, error);
        g_ptr_array_add(text, g_string_free(s, FALSE));
    }
    /* least(a, b, c) is least(least(a, b), c) */
    while (ok && text->len > 2 && !strstr(form, "$3")) {
        g_autoptr(GString) s = g_string_new(NULL);
        fill(s, form, (const char *const *)text->pdata);
        g_ptr_array_remove_index(text, 1);
        g_free(text->pdata[0]);
        text->pdata[0] = g_strdup(s->str);
    }
    if (ok)
        fill(out, form, (const char *const *)text->pdata);
    return ok;
}

gboolean ws_launch_text(GString *out, const WsProgram *p, const WsExpr *e, WsTextLanguage language,
                        GError **error)
{
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL) {
        g_string_append_printf(out, "%" G_GINT64_FORMAT, e->i);
        return TRUE;
    }
    if (e->op == WS_EXPR_NAME && !p) {
        g_string_append_printf(out, "v_%s", e->name);
        return TRUE;
    }
    if (e->op == WS_EXPR_VAR && p)
        return leaf(out, p, e, language, error);
    const char *form = e->op == WS_EXPR_CALL
                           ? find(functions, G_N_ELEMENTS(functions), (int)e->func, language)
                           : find(operators, G_N_ELEMENTS(operators), (int)e->op, language);
    return form ? operation(out, p, e, form, language, error) : refuse(e, error);
}
