/* Words and files of the package of several devices. */
#include "package/mesh.h"
#include "base/folder.h"
#include "package/launch_text.h"
#include "package/name.h"
#include "package/tables.h"
#include "package/template.h"
#include "program/op.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include "licence.inc"
#include "mesh_md.inc"
#include "mesh_py.inc"

static gboolean is_reached(const WsProgram *p, guint tensor)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if ((ws_op_puts(op->kind) || ws_op_gets(op->kind)) && op->tensor == (gint)tensor)
            return TRUE;
    }
    return FALSE;
}

/* What is put between the items of a list. */
static void item(GString *out, const char *text)
{
    g_string_append_printf(out, "%s%s", out->len ? ", " : "", text);
}

static void of_tensors(GHashTable *words, const WsProgram *p)
{
    GString *reached = g_string_new(NULL), *names = g_string_new(NULL), *call = g_string_new(NULL),
            *rows = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        const WsTensor *x = &p->tensor[t];
        g_autofree char *number = g_strdup_printf("%u", t), *name = ws_launch_ident(x->name),
                        *quoted = g_strdup_printf("`%s`", x->name);
        if (is_reached(p, t)) {
            item(reached, number);
            item(names, quoted);
        }
        if (x->access == WS_ACCESS_READ)
            item(call, name);
        g_string_append_printf(rows, "| `%s` | %s | `[", x->name, ws_package_dtype(x->dtype)->c);
        for (guint d = 0; d < x->rank; d++) {
            g_autofree char *text = ws_expr_print(x->shape[d]);
            g_string_append(rows, d ? ", " : "");
            ws_package_cell(rows, text);
        }
        g_string_append_printf(rows, "]` | %s |\n", ws_package_access(x->access));
    }
    ws_package_word(words, "REACHED", g_string_free(reached, FALSE));
    ws_package_word(words, "SHARED_NAMES",
                    names->len ? g_string_free(names, FALSE)
                               : (g_string_free(names, TRUE), g_strdup("none")));
    ws_package_word(words, "CALL", g_string_free(call, FALSE));
    ws_package_word(words, "ROWS", g_string_free(rows, FALSE));
}

/* The size that counts the devices; NULL: an expression does. */
static const WsVar *devices_size(const WsProgram *p)
{
    const WsExpr *e = p->mesh->devices;
    return e->op == WS_EXPR_VAR && e->var >= 0 && p->var[e->var].kind == WS_VAR_SIZE
               ? &p->var[e->var]
               : NULL;
}

static void of_sizes(GHashTable *words, const WsProgram *p)
{
    const WsVar *devices = devices_size(p);
    GString *example = g_string_new(NULL), *presets = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *v = &p->var[i];
        g_autofree char *name = ws_launch_ident(v->name), *text = NULL;
        char real[G_ASCII_DTOSTR_BUF_SIZE];
        if (v->kind == WS_VAR_SIZE && v != devices && (gint)i != p->mesh->rank)
            item(example, text = g_strdup_printf("%s=%" G_GINT64_FORMAT, name, v->preset));
        if (v->kind == WS_VAR_SCALAR)
            item(presets,
                 text = g_strdup_printf("\"%s\": %s", name,
                                        g_ascii_dtostr(real, sizeof real, v->preset_real)));
    }
    g_autofree char *counted = devices ? ws_launch_ident(devices->name) : NULL;
    ws_package_word(words, "EXAMPLE", g_string_free(example, FALSE));
    ws_package_word(words, "PRESETS", g_string_free(presets, FALSE));
    ws_package_word(words, "RANK", ws_launch_ident(p->mesh->name));
    ws_package_word(words, "DEVICES_SIZE",
                    counted ? g_strdup_printf("\"%s\"", counted) : g_strdup("None"));
    ws_package_word(words, "WORLD",
                    devices ? g_strdup_printf("%" G_GINT64_FORMAT, devices->preset)
                            : g_strdup("N"));
}

static gboolean of_flags(GHashTable *words, const WsProgram *p, GError **error)
{
    g_autoptr(GString) devices = g_string_new(NULL);
    g_autoptr(GString) flags = g_string_new(NULL);
    if (!ws_launch_text(devices, p, p->mesh->devices, WS_TEXT_PYTHON, error))
        return FALSE;
    for (guint f = 0; f < p->mesh->n_flags; f++) {
        g_string_append(flags, f ? ", " : "");
        if (!ws_launch_text(flags, p, p->mesh->flag[f].array, WS_TEXT_PYTHON, error))
            return FALSE;
    }
    ws_package_word(words, "DEVICES", g_strdup(devices->str));
    ws_package_word(words, "FLAGS", g_strdup(flags->str));
    return TRUE;
}

static char *filled(const WsPackageSpec *spec, const char *text, GError **error)
{
    const WsProgram *p = spec->program;
    g_autoptr(GHashTable) words = ws_package_words_python(spec, error);
    if (!words || !of_flags(words, p, error))
        return NULL;
    of_tensors(words, p);
    of_sizes(words, p);
    ws_package_word(words, "SAID", g_strdup(spec->verdict ? spec->verdict : ""));
    ws_package_word(words, "FIGURES",
                    spec->figures ? g_strdup_printf("\n%s", spec->figures) : g_strdup(""));
    return ws_template_fill(text, words);
}

char *ws_package_mesh_module(const WsPackageSpec *spec, GError **error)
{
    return filled(spec, mesh_py, error);
}

static gboolean put_all(const WsPackageSpec *spec, const char *dir, GError **error)
{
    g_autofree char *module = ws_package_mesh_module(spec, error);
    g_autofree char *readme = module ? filled(spec, mesh_md, error) : NULL;
    if (!readme)
        return FALSE;
    g_autofree char *name = g_strconcat(spec->name, ".py", NULL);
    g_autofree char *mark = g_strdup_printf(
        "warpstave-package 1\nname %s\nhash %s\nmade-by warpstave %s\n", spec->name,
        spec->program->design_hash ? spec->program->design_hash : "-", WARPSTAVE_VERSION);
    return ws_folder_put_text(dir, name, module, error) &&
           ws_folder_put_text(dir, "README.md", readme, error) &&
           ws_folder_put_text(dir, "LICENSE", spec->licence ? spec->licence : licence_text,
                              error) &&
           ws_folder_put_text(dir, "design.wstave", spec->program->design_text, error) &&
           ws_folder_put_text(dir, "kernel.ptx", spec->ptx, error) &&
           ws_folder_put_bytes(dir, "kernel.cubin", spec->cubin, error) &&
           ws_folder_put_text(dir, WS_PACKAGE_MARK, mark, error);
}

gboolean ws_package_mesh_write(const WsPackageSpec *spec, const char *dir, GError **error)
{
    if (!ws_package_check_form(spec, error))
        return FALSE;
    g_autofree char *part = ws_folder_begin(dir, WS_PACKAGE_MARK, "a package", error);
    if (!part)
        return FALSE;
    if (put_all(spec, part, error) && ws_folder_commit(part, dir, "a package", error))
        return TRUE;
    ws_folder_remove(part);
    return FALSE;
}
