/* Words of module.py.in. */
#include "package/launch_text.h"
#include "package/tables.h"
#include "package/template.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_asked.h"
#include "program/walk/reach.h"

#include "common.inc"

static char *kinds(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++)
        g_string_append_printf(out, "    (\"%s\", torch.%s, \"%s\", %s),\n", p->tensor[t].name,
                               ws_package_dtype(p->tensor[t].dtype)->torch,
                               ws_package_access(p->tensor[t].access),
                               ws_package_strides_free(spec, t) ? "True" : "False");
    return g_string_free(out, FALSE);
}

static char *plans(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint m = 0; m < p->n_maps; m++) {
        const WsTensorMap *map = &p->map[m];
        g_string_append_printf(out, "    (%u, %u, %d, %d, [", map->tensor, map->rank,
                               ws_package_swizzle(map),
                               ws_package_dtype(p->tensor[map->tensor].dtype)->map_value);
        for (guint d = 0; d < map->rank; d++)
            g_string_append_printf(out, "%s%u", d ? ", " : "", map->box[d]);
        g_string_append(out, "]),\n");
    }
    return g_string_free(out, FALSE);
}

static char *names(const WsProgram *p, WsVarKind kind)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == kind) {
            g_autofree char *name = ws_launch_ident(p->var[i].name);
            g_string_append_printf(out, "%s\"%s\"", out->len ? ", " : "", name);
        }
    return g_string_free(out, FALSE);
}

static void put_pair(GString *out, guint tensor, guint d)
{
    g_string_append_printf(out, "%s(%u, %u)", out->len ? ", " : "", tensor, d);
}

static char *extent_of(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind != WS_VAR_SIZE)
            continue;
        g_autoptr(GString) list = g_string_new(NULL);
        g_autofree char *name = ws_launch_ident(p->var[i].name);
        ws_package_extents(list, p, i, put_pair);
        if (list->len)
            g_string_append_printf(out, "%s\"%s\": [%s]", out->len ? ", " : "", name, list->str);
    }
    return g_string_free(out, FALSE);
}

static gboolean shapes(GString *out, const WsProgram *p, gboolean strides, GError **error)
{
    for (guint t = 0; t < p->n_tensors; t++) {
        g_string_append(out, "        (");
        for (guint d = 0; d < p->tensor[t].rank; d++) {
            if (strides ? !ws_package_stride(out, p, t, d, TRUE, error)
                        : !ws_launch_text(out, p, p->tensor[t].shape[d], WS_TEXT_PYTHON, error))
                return FALSE;
            g_string_append(out, p->tensor[t].rank == 1      ? ","
                                 : d + 1 < p->tensor[t].rank ? ", "
                                                             : "");
        }
        g_string_append(out, "),\n");
    }
    return TRUE;
}

static void put_condition(GString *out, const WsExpr *e, const char *python, const char *text)
{
    g_autofree char *quoted = g_strescape(text, NULL);
    if (ws_may_lack_value(e))
        g_string_append_printf(out, "        (_has_value(lambda: %s) and %s, \"%s\"),\n", python,
                               python, quoted);
    else
        g_string_append_printf(out, "        (%s, \"%s\"),\n", python, quoted);
}

static char *checks(const WsProgram *p, const GPtrArray *wide, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE) {
            g_autofree char *name = ws_launch_ident(p->var[i].name);
            g_string_append_printf(out, "        (n.%s >= 0, \"%s >= 0\"),\n", name,
                                   p->var[i].name);
        }
    for (guint i = 0; i < wide->len; i++) {
        g_autoptr(GString) value = g_string_new(NULL);
        if (!ws_launch_text(value, p, wide->pdata[i], WS_TEXT_PYTHON, error))
            return NULL;
        g_autofree char *text = ws_expr_print(wide->pdata[i]);
        g_string_append_printf(out, "        (_fits(lambda: %s), \"%s in 32 bits\"),\n", value->str,
                               text);
    }
    for (guint i = 0; i < p->n_assume; i++) {
        g_autoptr(GString) condition = g_string_new(NULL);
        if (!ws_launch_text(condition, p, p->assume[i], WS_TEXT_PYTHON, NULL))
            continue; /* of tiles or data: not of the launch */
        put_condition(out, p->assume[i], condition->str, p->assume_text[i]);
    }
    g_autoptr(GPtrArray) valued = ws_launch_valued(p);
    for (guint i = 0; i < valued->len; i++) {
        g_autoptr(GString) value = g_string_new(NULL);
        if (!ws_launch_text(value, p, valued->pdata[i], WS_TEXT_PYTHON, error))
            return NULL;
        g_autofree char *text = ws_expr_print(valued->pdata[i]);
        g_string_append_printf(out, "        (_has_value(lambda: %s), \"%s has a value\"),\n",
                               value->str, text);
    }
    g_autoptr(GPtrArray) bounds = ws_launch_bounds(p);
    for (guint i = 0; i < bounds->len; i++) {
        g_autoptr(GString) condition = g_string_new(NULL);
        if (!ws_launch_text(condition, p, bounds->pdata[i], WS_TEXT_PYTHON, error))
            return NULL;
        g_autofree char *text = ws_expr_print(bounds->pdata[i]);
        put_condition(out, bounds->pdata[i], condition->str, text);
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static gboolean tiles(GString *out, const WsProgram *p, GError **error)
{
    for (guint i = 0; i < p->tiles->n_axes; i++) {
        g_string_append(out, i ? ", " : "");
        if (!ws_launch_text(out, p, p->tiles->axis[i].extent, WS_TEXT_PYTHON, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean grid(GString *out, const WsProgram *p, GError **error)
{
    if (p->tiles->launch == WS_LAUNCH_SINGLE) {
        g_string_append(out, "tiles * _CLUSTER");
        return TRUE;
    }
    g_string_append(out, "max(");
    if (!p->tiles->grid)
        g_string_append(out, "sms");
    else if (!ws_launch_text(out, p, p->tiles->grid, WS_TEXT_PYTHON, error))
        return FALSE;
    g_string_append(out, " // _CLUSTER, 1) * _CLUSTER");
    return TRUE;
}

/* The function people call: inputs, then outputs that may be left away, then scalars and sizes. */
static char *function(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    g_autoptr(GString) given = g_string_new(NULL);
    g_autoptr(GString) first = g_string_new(NULL);
    g_autoptr(GString) last = g_string_new(NULL);
    g_autoptr(GString) named = g_string_new(NULL);
    g_autoptr(GString) size = g_string_new(NULL);
    g_autoptr(GString) scalar = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        const gboolean in = p->tensor[t].access == WS_ACCESS_READ;
        g_string_append_printf(given, "%s%s", t ? ", " : "", name);
        g_string_append_printf(in ? first : last, in ? "%s, " : "%s=None, ", name);
    }
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *v = &p->var[i];
        g_autofree char *name = ws_launch_ident(v->name);
        if (v->kind == WS_VAR_SCALAR) {
            char text[G_ASCII_DTOSTR_BUF_SIZE];
            g_string_append_printf(named, ", %s=%s", name,
                                   g_ascii_dtostr(text, sizeof text, v->preset_real));
            g_string_append_printf(scalar, "%s%s", scalar->len ? ", " : "", name);
        } else if (v->kind == WS_VAR_SIZE) {
            g_string_append_printf(named, ", %s=None", name);
            g_string_append_printf(size, "%s\"%s\": %s", size->len ? ", " : "", name, name);
        }
    }
    g_autoptr(GString) every = g_string_new(given->str);
    for (int kind = 0; kind < 2; kind++)
        for (guint i = 0; i < p->n_vars; i++)
            if (p->var[i].kind == (kind ? WS_VAR_SCALAR : WS_VAR_SIZE)) {
                g_autofree char *name = ws_launch_ident(p->var[i].name);
                g_string_append_printf(every, "%s%s", every->len ? ", " : "", name);
            }
    g_autofree char *outputs = g_strndup(last->str, last->len ? last->len - 2 : 0);
    g_autoptr(GString) out = g_string_new(NULL);
    g_string_append_printf(out, "def %s(%s%s%s%s):\n", spec->name, first->str, outputs,
                           named->len ? ", *" : "", named->str);
    g_string_append_printf(
        out,
        "    \"\"\"Runs the kernel on the current stream and returns what it writes. Outputs that "
        "are not given are made; sizes\n    that are extents of tensors may be omitted.\"\"\"\n"
        "    if _fast is not None and not _compiling():\n"
        "        _result = _fast(%s)\n"
        "        if _result is not NotImplemented:\n"
        "            return _result\n"
        "    return _run([%s], {%s}, [%s])",
        every->str, given->str, size->str, scalar->str);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

GHashTable *ws_package_words_python(const WsPackageSpec *spec, GError **error)
{
    const WsProgram *p = spec->program;
    g_autoptr(GHashTable) words = ws_package_words(spec);
    g_autoptr(GString) shape = g_string_new(NULL);
    g_autoptr(GString) stride = g_string_new(NULL);
    g_autoptr(GString) tile = g_string_new(NULL);
    g_autoptr(GString) ctas = g_string_new(NULL);
    if (!shapes(shape, p, FALSE, error) || !shapes(stride, p, TRUE, error) ||
        !tiles(tile, p, error) || !grid(ctas, p, error))
        return NULL;
    gint64 most;
    g_autoptr(GPtrArray) wide = ws_reach_launch(p, &most);
    ws_package_word(words, "SHAPES", g_strdup(shape->str));
    ws_package_word(words, "STRIDES", g_strdup(stride->str));
    ws_package_word(words, "TILES", g_strdup(tile->str));
    ws_package_word(words, "GRID", g_strdup(ctas->str));
    ws_package_word(words, "KINDS", kinds(spec));
    ws_package_word(words, "PLANS", plans(p));
    ws_package_word(words, "SIZES", names(p, WS_VAR_SIZE));
    ws_package_word(words, "SCALARS", names(p, WS_VAR_SCALAR));
    ws_package_word(words, "COMMON", ws_template_fill(common_py, words));
    ws_package_word(words, "SIZE_MOST", g_strdup_printf("%" G_GINT64_FORMAT, most));
    ws_package_word(words, "EXTENT_OF", extent_of(p));
    char *assumed = checks(p, wide, error);
    if (!assumed)
        return NULL;
    ws_package_word(words, "CHECKS", assumed);
    ws_package_word(words, "CHOICE_PY", g_strdup(""));
    ws_package_word(words, "FUNCTION", function(spec));
    return g_steal_pointer(&words);
}
