/* README of a package. */
#include "package/launch_text.h"
#include "package/name.h"
#include "package/tables.h"
#include "package/template.h"
#include "program/formula.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include "readme.inc"

static char *join(char **list, const char *empty)
{
    return *list ? g_strjoinv(", ", list) : g_strdup(empty);
}

/* Names of the sizes or the scalars, in code quotes. */
static char *names(const WsProgram *p, WsVarKind kind, const char *empty)
{
    g_autoptr(GStrvBuilder) b = g_strv_builder_new();
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == kind) {
            g_autofree char *text = g_strdup_printf("`%s`", p->var[i].name);
            g_strv_builder_add(b, text);
        }
    g_auto(GStrv) list = g_strv_builder_end(b);
    return join(list, empty);
}

static void put_extents(GString *out, WsExpr *const *e, guint n)
{
    for (guint d = 0; d < n; d++) {
        g_autofree char *text = ws_expr_print(e[d]);
        g_string_append(out, d ? ", " : "");
        ws_package_cell(out, text);
    }
}

static char *tensor_rows(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        const WsTensor *x = &p->tensor[t];
        g_string_append_printf(out, "| `%s` | %s | `[", x->name, ws_package_dtype(x->dtype)->c);
        put_extents(out, x->shape, x->rank);
        g_string_append(out, "]` | ");
        if (x->strides_given) {
            g_string_append(out, "`");
            put_extents(out, x->stride, x->rank);
            g_string_append(out, "`");
        } else {
            g_string_append(out, "contiguous");
        }
        g_string_append_printf(out, " | %s |\n", ws_package_access(x->access));
    }
    return g_string_free(out, FALSE);
}

/* Assumptions that the launcher checks, or those of tiles and of data, which it cannot see. */
static char *assumed_of(const WsProgram *p, gboolean launch)
{
    g_autoptr(GStrvBuilder) b = g_strv_builder_new();
    for (guint i = 0; i < p->n_assume; i++) {
        g_autoptr(GString) condition = g_string_new(NULL);
        g_autofree char *text = g_strdup_printf("`%s`", p->assume_text[i]);
        if (ws_launch_text(condition, p, p->assume[i], WS_TEXT_C, NULL) == launch)
            g_strv_builder_add(b, text);
    }
    g_auto(GStrv) list = g_strv_builder_end(b);
    return join(list, "");
}

static char *assumed(const WsProgram *p)
{
    g_autofree char *checked = assumed_of(p, TRUE), *trusted = assumed_of(p, FALSE);
    GString *out = g_string_new(NULL);
    if (*checked)
        g_string_append_printf(out, "The launcher refuses sizes unless %s. ", checked);
    if (*trusted)
        g_string_append_printf(out,
                               "NOT CHECKED, yet the proof builds on it: %s. What is given must "
                               "hold to it. ",
                               trusted);
    return g_string_free(out, FALSE);
}

static char *example_c(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        g_string_append_printf(out, "%s.%s = d_%s", t ? ", " : "", name, name);
    }
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *v = &p->var[i];
        g_autofree char *name = ws_launch_ident(v->name);
        if (v->kind == WS_VAR_SIZE)
            g_string_append_printf(out, ", .%s = %" G_GINT64_FORMAT, name, v->preset);
        else if (v->kind == WS_VAR_SCALAR) { /* every digit of a float, in C whatever the locale */
            char text[G_ASCII_DTOSTR_BUF_SIZE];
            g_string_append_printf(out, ", .%s = (float)%s", name,
                                   g_ascii_formatd(text, sizeof text, "%.9g", v->preset_real));
        }
    }
    return g_string_free(out, FALSE);
}

static char *example_python(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    g_autoptr(GString) in = g_string_new(NULL);
    g_autoptr(GString) made = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        GString *to = p->tensor[t].access == WS_ACCESS_READ ? in : made;
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        g_string_append_printf(to, "%s%s", to->len ? ", " : "", name);
    }
    return g_strdup_printf("%s = %s(%s)", made->str, spec->name, in->str);
}

char *ws_package_readme(const WsPackageSpec *spec, GError **error)
{
    const WsProgram *p = spec->program;
    g_autoptr(GHashTable) words = ws_package_words(spec);
    g_autoptr(GString) reference = g_string_new(NULL);
    g_autofree char *scalars = names(p, WS_VAR_SCALAR, "");
    for (guint i = 0; i < p->n_reference; i++) {
        g_autofree char *line = ws_statement_print(p->reference[i].statement);
        g_string_append_printf(reference, "%s\n", line);
    }
    ws_package_word(words, "REFERENCE",
                    g_strdup(reference->len ? reference->str : "(the design has no reference)\n"));
    ws_package_word(words, "TENSOR_ROWS", tensor_rows(p));
    ws_package_word(words, "SIZE_NAMES", names(p, WS_VAR_SIZE, "none"));
    ws_package_word(words, "SCALAR_NAMES",
                    *scalars ? g_strdup_printf("Scalars: %s.", scalars) : g_strdup(""));
    ws_package_word(words, "ASSUMED", assumed(p));
    ws_package_word(words, "EXAMPLE_C", example_c(p));
    ws_package_word(words, "EXAMPLE_PYTHON", example_python(spec));
    ws_package_word(words, "VERDICT", g_strdup(spec->verdict));
    ws_package_word(
        words, "FIGURES",
        g_strdup(spec->figures ? spec->figures : "Nothing was measured with this package."));
    return ws_template_fill(readme_md, words);
}
