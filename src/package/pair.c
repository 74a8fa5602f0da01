/* Writes a pair: a module for each launch, and the one that puts them together. */
#include "package/pair.h"
#include "base/folder.h"
#include "package/launch_text.h"
#include "package/name.h"
#include "package/tables.h"
#include "package/template.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

#include "licence.inc"
#include "pair.inc"
#include "pair_readme.inc"

char *ws_pair_launch_name(const WsPair *pair, guint launch)
{
    return launch ? g_strdup_printf("%s_backward%u", pair->name, launch)
                  : g_strconcat(pair->name, "_forward", NULL);
}

static void put_name(GString *out, const char *name)
{
    g_autofree char *ident = ws_launch_ident(name);
    g_string_append_printf(out, "%s\"%s\"", out->len ? ", " : "", ident);
}

/* Tensors of one access or of the others, in quotes. */
static char *tensors(const WsProgram *p, gboolean read)
{
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++)
        if ((p->tensor[t].access == WS_ACCESS_READ) == read)
            put_name(out, p->tensor[t].name);
    return g_string_free(out, FALSE);
}

static char *scalars(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SCALAR)
            put_name(out, p->var[i].name);
    return g_string_free(out, FALSE);
}

/* The launch before this one, but not forward, that writes a tensor; 0: none. */
static guint writer(const WsPair *pair, guint before, const char *name)
{
    for (guint i = before; i-- > 1;) {
        const WsProgram *p = pair->launch[i].program;
        for (guint t = 0; t < p->n_tensors; t++)
            if (p->tensor[t].access != WS_ACCESS_READ && strcmp(p->tensor[t].name, name) == 0)
                return i;
    }
    return 0;
}

/* What a launch is given: what it reads, and what it adds to that is there. */
static char *given(const WsPair *pair, guint launch)
{
    const WsProgram *p = pair->launch[launch].program;
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++)
        if (p->tensor[t].access == WS_ACCESS_READ || writer(pair, launch, p->tensor[t].name))
            put_name(out, p->tensor[t].name);
    return g_string_free(out, FALSE);
}

static char *launches(const WsPair *pair)
{
    GString *out = g_string_new(NULL);
    for (guint i = 1; i < pair->n; i++) {
        const WsProgram *p = pair->launch[i].program;
        g_autofree char *name = ws_pair_launch_name(pair, i), *in = given(pair, i),
                        *made = tensors(p, FALSE), *scalar = scalars(p);
        g_string_append_printf(out, "    (%s.%s, [%s], [%s], [%s]),\n", name, name, in, made,
                               scalar);
    }
    return g_string_free(out, FALSE);
}

static gboolean reads(const WsPair *pair, const char *name)
{
    for (guint i = 1; i < pair->n; i++) {
        const WsProgram *p = pair->launch[i].program;
        for (guint t = 0; t < p->n_tensors; t++)
            if (p->tensor[t].access == WS_ACCESS_READ && strcmp(p->tensor[t].name, name) == 0)
                return TRUE;
    }
    return FALSE;
}

/* Outputs whose gradient a launch reads: for the module, or as a list of names. */
static char *taken(const WsPair *pair, gboolean list)
{
    const WsProgram *p = pair->launch[0].program;
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = g_strconcat("D", p->tensor[t].name, NULL);
        if (p->tensor[t].access == WS_ACCESS_READ || !reads(pair, name))
            continue;
        g_autofree char *output = ws_launch_ident(p->tensor[t].name),
                        *gradient = ws_launch_ident(name);
        if (list)
            g_string_append_printf(out, "%s`%s`", out->len ? ", " : "", output);
        else
            g_string_append_printf(out, "%s\"%s\": \"%s\"", out->len ? ", " : "", output, gradient);
    }
    return g_string_free(out, FALSE);
}

static char *gradients(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = g_strconcat("D", p->tensor[t].name, NULL);
        if (p->tensor[t].access == WS_ACCESS_READ)
            put_name(out, name);
    }
    return g_string_free(out, FALSE);
}

/* Tensors of one access or of the others, as code. */
static void put_code(GString *out, const WsProgram *p, gboolean read)
{
    g_autofree char *names = tensors(p, read);
    for (const char *c = names; *c; c++)
        g_string_append_c(out, *c == '"' ? '`' : *c);
    g_string_append(out, " | ");
}

static char *rows(const WsPair *pair)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < pair->n; i++) {
        const WsProgram *p = pair->launch[i].program;
        g_autofree char *name = ws_pair_launch_name(pair, i);
        g_string_append_printf(out, "| `%s` | ", name);
        ws_package_cell(out, p->name ? p->name : "");
        g_string_append(out, " | ");
        put_code(out, p, TRUE);
        put_code(out, p, FALSE);
        ws_package_cell(out, pair->launch[i].outcome ? pair->launch[i].outcome : "unknown");
        g_string_append(out, " |\n");
    }
    return g_string_free(out, FALSE);
}

static char *modules(const WsPair *pair)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < pair->n; i++) {
        g_autofree char *name = ws_pair_launch_name(pair, i);
        g_string_append_printf(out, "%s%s", i ? ", " : "", name);
    }
    return g_string_free(out, FALSE);
}

static char *call(const WsPair *pair)
{
    const WsProgram *p = pair->launch[0].program;
    g_autoptr(GString) in = g_string_new(NULL);
    g_autoptr(GString) made = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        GString *to = p->tensor[t].access == WS_ACCESS_READ ? in : made;
        g_string_append_printf(to, "%s%s", to->len ? ", " : "", name);
    }
    return g_strdup_printf("%s = %s(%s)", made->str, pair->name, in->str);
}

static char *fill(const WsPair *pair, const char *folder, const char *form, GError **error)
{
    if (!ws_pair_check(pair, error))
        return NULL;
    WsPackageSpec named = pair->launch[0];
    named.name = pair->name;
    g_autoptr(GHashTable) words = ws_package_words(&named);
    const WsProgram *p = named.program;
    ws_package_word(words, "FOLDER", g_strdup(folder));
    ws_package_word(words, "MODULES", modules(pair));
    ws_package_word(words, "INPUTS", tensors(p, TRUE));
    ws_package_word(words, "OUTPUTS", tensors(p, FALSE));
    ws_package_word(words, "SCALARS", scalars(p));
    ws_package_word(words, "TAKEN", taken(pair, FALSE));
    ws_package_word(words, "TAKEN_NAMES", taken(pair, TRUE));
    ws_package_word(words, "GIVEN", gradients(p));
    ws_package_word(words, "LAUNCHES", launches(pair));
    ws_package_word(words, "ROWS", rows(pair));
    ws_package_word(words, "CALL", call(pair));
    ws_package_word(words, "CHECKED",
                    g_strdup(pair->checked ? pair->checked
                                           : "That the launches compute the gradient was NOT "
                                             "checked."));
    return ws_template_fill(form, words);
}

char *ws_pair_module(const WsPair *pair, const char *folder, GError **error)
{
    return fill(pair, folder, pair_py, error);
}

char *ws_pair_readme(const WsPair *pair, const char *folder, GError **error)
{
    return fill(pair, folder, pair_md, error);
}

/* One file of a launch, `text` or `bytes`; takes the text. FALSE also where there is neither. */
static gboolean put(const char *dir, const char *name, const char *end, char *text, GBytes *bytes,
                    GError **error)
{
    g_autofree char *own = text, *file = g_strconcat(name, end, NULL);
    if (own)
        return ws_folder_put_text(dir, file, own, error);
    return bytes && ws_folder_put_bytes(dir, file, bytes, error);
}

static gboolean put_launch(const WsPair *pair, guint launch, const char *dir, GError **error)
{
    g_autofree char *name = ws_pair_launch_name(pair, launch),
                    *image = g_strconcat(name, ".cubin", NULL);
    WsPackageSpec one = pair->launch[launch];
    one.name = name;
    one.among = TRUE;
    return put(dir, name, ".py", ws_package_module(&one, error), NULL, error) &&
           put(dir, name, ".h", ws_package_header(&one, error), NULL, error) &&
           put(dir, name, ".c", ws_package_launcher(&one, error), NULL, error) &&
           put(dir, name, "_kernel.c", ws_package_kernel(&one, image), NULL, error) &&
           put(dir, name, "_python.c", ws_package_extension(&one), NULL, error) &&
           put(dir, name, ".wstave", g_strdup(one.program->design_text), NULL, error) &&
           put(dir, name, ".ptx", g_strdup(one.ptx), NULL, error) &&
           put(dir, name, ".cubin", NULL, one.cubin, error);
}

static gboolean put_all(const WsPair *pair, const char *folder, const char *dir, GError **error)
{
    for (guint i = 0; i < pair->n; i++)
        if (!put_launch(pair, i, dir, error))
            return FALSE;
    const char *licence = pair->launch[0].licence;
    char *mark = g_strdup_printf(
        "warpstave-package 1\nname %s\nhash %s\nmade-by warpstave %s\n", pair->name,
        pair->launch[0].program->design_hash ? pair->launch[0].program->design_hash : "-",
        WARPSTAVE_VERSION);
    return put(dir, "__init__", ".py", ws_pair_module(pair, folder, error), NULL, error) &&
           put(dir, "README", ".md", ws_pair_readme(pair, folder, error), NULL, error) &&
           put(dir, "LICENSE", "", g_strdup(licence ? licence : licence_text), NULL, error) &&
           put(dir, WS_PACKAGE_MARK, "", mark, NULL, error);
}

gboolean ws_pair_folder_check(const char *dir, GError **error)
{
    g_autofree char *whole = g_canonicalize_filename(dir, NULL),
                    *folder = g_path_get_basename(whole);
    const char *problem = ws_package_folder_problem(folder);
    if (problem)
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_NAME,
                    "Python cannot import from a folder '%s' (%s); say another with -o", folder,
                    problem);
    return !problem;
}

gboolean ws_pair_write(const WsPair *pair, const char *dir, GError **error)
{
    g_autofree char *whole = g_canonicalize_filename(dir, NULL),
                    *folder = g_path_get_basename(whole);
    if (!ws_pair_folder_check(dir, error) || !ws_pair_check(pair, error))
        return FALSE;
    g_autofree char *part = ws_folder_begin(dir, WS_PACKAGE_MARK, "a package", error);
    if (!part)
        return FALSE;
    if (put_all(pair, folder, part, error) && ws_folder_commit(part, dir, "a package", error))
        return TRUE;
    ws_folder_remove(part);
    return FALSE;
}
