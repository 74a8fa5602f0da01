/* Words of python.c.in. */
#include "package/launch_text.h"
#include "package/tables.h"
#include "program/parts/variable.h"
#include "program/program.h"

enum { EXTENTS_MOST = 8 }; /* as the array in python.c.in */

static char *tensors(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    static const char *const access[] = { "INPUT", "OUTPUT", "SUM" };
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        const WsPackageDtype *d = ws_package_dtype(p->tensor[t].dtype);
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        g_string_append_printf(out, "    { %u, %d, %d, %s, offsetof(%s_arguments, %s), \"%s\" },\n",
                               p->tensor[t].rank, d->code, d->bits, access[p->tensor[t].access],
                               spec->name, name, d->torch);
    }
    g_string_append(out, "    { 0, 0, 0, 0, 0, \"\" },\n");
    return g_string_free(out, FALSE);
}

static void put_pair(GString *out, guint tensor, guint d)
{
    g_string_append_printf(out, "%s{ %u, %u }", out->len ? ", " : "", tensor, d);
}

static char *sizes(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind != WS_VAR_SIZE)
            continue;
        g_autofree char *name = ws_launch_ident(p->var[i].name);
        g_autoptr(GString) all = g_string_new(NULL);
        ws_package_extents(all, p, i, put_pair);
        g_auto(GStrv) pair = g_strsplit(all->str, " }, ", EXTENTS_MOST + 1);
        guint n = g_strv_length(pair);
        if (n > EXTENTS_MOST) { /* the first ones are enough: shapes are compared afterwards */
            g_free(pair[--n]);
            pair[n] = NULL;
        }
        g_autofree char *list = g_strjoinv(" }, ", pair);
        g_string_append_printf(out, "    { \"%s\", offsetof(%s_arguments, %s), %u, { %s%s } },\n",
                               name, spec->name, name, n, n ? list : "{ 0, 0 }",
                               g_str_has_suffix(list, "}") || !n ? "" : " }");
    }
    g_string_append(out, "    { \"\", 0, 0, { { 0, 0 } } },\n");
    return g_string_free(out, FALSE);
}

static char *scalars(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SCALAR) {
            g_autofree char *name = ws_launch_ident(p->var[i].name);
            g_string_append_printf(out, "offsetof(%s_arguments, %s), ", spec->name, name);
        }
    g_string_append(out, "0");
    return g_string_free(out, FALSE);
}

static char *count(const WsProgram *p, WsVarKind kind)
{
    guint n = 0;
    for (guint i = 0; i < p->n_vars; i++)
        n += p->var[i].kind == kind;
    return g_strdup_printf("%u", n);
}

GHashTable *ws_package_words_extension(const WsPackageSpec *spec)
{
    GHashTable *words = ws_package_words(spec);
    ws_package_word(words, "TENSOR_TABLE", tensors(spec));
    ws_package_word(words, "SIZE_TABLE", sizes(spec));
    ws_package_word(words, "SCALAR_TABLE", scalars(spec));
    ws_package_word(words, "N_SIZES", count(spec->program, WS_VAR_SIZE));
    ws_package_word(words, "N_SCALARS", count(spec->program, WS_VAR_SCALAR));
    ws_package_word(words, "CHOICE_C", g_strdup(""));
    ws_package_word(words, "CHOICE_METHOD", g_strdup(""));
    ws_package_word(
        words, "SOURCES",
        g_strdup_printf("%s.c %s_kernel.c %s_python.c", spec->name, spec->name, spec->name));
    return words;
}

GHashTable *ws_package_words_wheel(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    GHashTable *words = ws_package_words(spec);
    g_autoptr(GString) set = g_string_new(NULL);
    g_autoptr(GString) bytes = g_string_new(NULL);
    g_autoptr(GString) rooms = g_string_new(NULL);
    g_autoptr(GString) presets = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *v = &p->var[i];
        g_autofree char *name = ws_launch_ident(v->name);
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        if (v->kind == WS_VAR_SIZE) {
            g_string_append_printf(set, "    a.%s = %" G_GINT64_FORMAT ";\n", name, v->preset);
            g_string_append_printf(presets, "%s\"%s\": %" G_GINT64_FORMAT, presets->len ? ", " : "",
                                   name, v->preset);
        } else if (v->kind == WS_VAR_SCALAR) {
            g_string_append_printf(set, "    a.%s = (float)%s;\n", name,
                                   g_ascii_formatd(text, sizeof text, "%.9g", v->preset_real));
        }
    }
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        g_string_append_printf(bytes, "%s%u", t ? ", " : "", ws_dtype_bytes(p->tensor[t].dtype));
        g_string_append_printf(rooms, "    a.%s = room[%u];\n", name, t);
    }
    ws_package_word(words, "EXAMPLE_SIZES", g_strdup(set->str));
    ws_package_word(words, "EXAMPLE_BYTES", g_strdup(bytes->str));
    ws_package_word(words, "EXAMPLE_ROOMS", g_strdup(rooms->str));
    ws_package_word(words, "PRESETS", g_strdup(presets->str));
    ws_package_word(words, "TENSORS_MOST", g_strdup_printf("%u", MAX(p->n_tensors, 1)));
    return words;
}
