/* Words of header.h.in and launcher.c.in. */
#include "package/launch_text.h"
#include "package/tables.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_asked.h"
#include "program/walk/reach.h"

#include "arithmetic.inc"

const char *ws_package_arithmetic(void)
{
    return arithmetic_c;
}

static void put_comment(GString *out, const char *text)
{
    for (const char *c = text; *c; c++)
        g_string_append_c(out, c[0] == '*' && c[1] == '/' ? '+' : *c);
}

/* Fields of the arguments, with shapes as the design says them. */
static char *fields(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        const WsTensor *x = &p->tensor[t];
        g_autofree char *name = ws_launch_ident(x->name);
        g_string_append_printf(out, "    CUdeviceptr %s; /* %s [", name,
                               ws_package_dtype(x->dtype)->c);
        for (guint d = 0; d < x->rank; d++) {
            g_autofree char *extent = ws_expr_print(x->shape[d]);
            g_string_append(out, d ? ", " : "");
            put_comment(out, extent);
        }
        g_string_append(out, "]");
        for (guint d = 0; x->strides_given && d < x->rank; d++) {
            g_autofree char *stride = ws_expr_print(x->stride[d]);
            g_string_append(out, d ? ", " : ", strides ");
            put_comment(out, stride);
        }
        g_string_append_printf(out, "; %s */\n",
                               x->access == WS_ACCESS_REDUCE ? "added to"
                               : x->access == WS_ACCESS_READ ? "read"
                                                             : "written");
    }
    for (int kind = 0; kind < 2; kind++)
        for (guint i = 0; i < p->n_vars; i++)
            if (p->var[i].kind == (kind ? WS_VAR_SCALAR : WS_VAR_SIZE)) {
                g_autofree char *name = ws_launch_ident(p->var[i].name);
                g_string_append_printf(out, "    %s %s;\n", kind ? "float" : "int64_t", name);
            }
    return g_string_free(out, FALSE);
}

static char *kinds(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    GString *out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++)
        g_string_append_printf(
            out, "    { \"%s\", %u, %u, %d, %d, %d },\n", p->tensor[t].name, p->tensor[t].rank,
            ws_dtype_bytes(p->tensor[t].dtype), ws_package_dtype(p->tensor[t].dtype)->map_value,
            ws_package_strides_free(spec, t), p->tensor[t].access != WS_ACCESS_READ);
    g_string_append(out, "    { \"\", 0, 0, 0, 0, 0 },\n");
    return g_string_free(out, FALSE);
}

static char *plans(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint m = 0; m < p->n_maps; m++) {
        const WsTensorMap *map = &p->map[m];
        g_string_append_printf(out, "    { %u, %u, %d", map->tensor, map->rank,
                               ws_package_swizzle(map));
        for (guint d = 0; d < map->rank; d++)
            g_string_append_printf(out, "%s%u", d ? ", " : ", { ", map->box[d]);
        g_string_append(out, " } },\n");
    }
    g_string_append(out, "    { 0, 0, 0, { 0 } },\n");
    return g_string_free(out, FALSE);
}

static void put_check(GString *out, const char *upper, const char *condition, const char *text)
{
    g_autofree char *quoted = g_strescape(text, NULL);
    g_string_append_printf(
        out, "    if (!(%s) || bad)\n        return fail(%s_SIZES, \"%%s\", \"%s\");\n", condition,
        upper, quoted);
}

static gboolean checks(GString *out, const WsPackageSpec *spec, GError **error)
{
    const WsProgram *p = spec->program;
    g_autofree char *upper = g_ascii_strup(spec->name, -1);
    gint64 most_size;
    g_autoptr(GPtrArray) wide = ws_reach_launch(p, &most_size);
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind != WS_VAR_SIZE)
            continue;
        g_autofree char *name = ws_launch_ident(p->var[i].name);
        g_autofree char *condition = g_strdup_printf("a->%s >= 0", name);
        g_autofree char *text = g_strdup_printf("%s must be 0 or more", p->var[i].name);
        put_check(out, upper, condition, text);
        g_autofree char *small = g_strdup_printf("a->%s <= %" G_GINT64_FORMAT, name, most_size);
        g_autofree char *most =
            g_strdup_printf("%s must be at most %" G_GINT64_FORMAT, p->var[i].name, most_size);
        put_check(out, upper, small, most);
    }
    for (guint i = 0; i < wide->len; i++) {
        g_autoptr(GString) value = g_string_new(NULL);
        if (!ws_launch_text(value, p, wide->pdata[i], WS_TEXT_C, error))
            return FALSE;
        g_autofree char *condition = g_strdup_printf("fits(%s)", value->str);
        g_autofree char *shown = ws_expr_print(wide->pdata[i]);
        g_autofree char *text = g_strdup_printf("%s must fit in 32 bits", shown);
        put_check(out, upper, condition, text);
    }
    for (guint i = 0; i < p->n_assume; i++) {
        g_autoptr(GString) condition = g_string_new(NULL);
        g_autoptr(GError) about_tiles = NULL;
        /* what is assumed of tiles or data is not of the launch */
        if (!ws_launch_text(condition, p, p->assume[i], WS_TEXT_C, &about_tiles))
            continue;
        g_autofree char *text = g_strdup_printf("%s does not hold", p->assume_text[i]);
        put_check(out, upper, condition->str, text);
    }
    g_autoptr(GPtrArray) valued = ws_launch_valued(p);
    for (guint i = 0; i < valued->len; i++) {
        g_autoptr(GString) value = g_string_new(NULL);
        if (!ws_launch_text(value, p, valued->pdata[i], WS_TEXT_C, error))
            return FALSE;
        g_autofree char *condition = g_strdup_printf("has_value(%s)", value->str);
        g_autofree char *shown = ws_expr_print(valued->pdata[i]);
        g_autofree char *text = g_strdup_printf("%s has no value", shown);
        put_check(out, upper, condition, text);
    }
    g_autoptr(GPtrArray) bounds = ws_launch_bounds(p);
    for (guint i = 0; i < bounds->len; i++) {
        g_autoptr(GString) condition = g_string_new(NULL);
        if (!ws_launch_text(condition, p, bounds->pdata[i], WS_TEXT_C, error))
            return FALSE;
        g_autofree char *shown = ws_expr_print(bounds->pdata[i]);
        g_autofree char *text = g_strdup_printf("%s does not hold", shown);
        put_check(out, upper, condition->str, text);
    }
    return TRUE;
}

static gboolean describe(GString *out, const WsProgram *p, GError **error)
{
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        g_string_append_printf(out, "    t[%u].address = a->%s;\n", t, name);
        for (guint d = 0; d < p->tensor[t].rank; d++) {
            g_string_append_printf(out, "    t[%u].extent[%u] = ", t, d);
            if (!ws_launch_text(out, p, p->tensor[t].shape[d], WS_TEXT_C, error))
                return FALSE;
            g_string_append_printf(out, ";\n    t[%u].stride[%u] = ", t, d);
            if (!ws_package_stride(out, p, t, d, FALSE, error))
                return FALSE;
            g_string_append(out, ";\n");
        }
    }
    return TRUE;
}

static gboolean tiles(GString *out, const WsProgram *p, GError **error)
{
    for (guint i = 0; i < p->tiles->n_axes; i++) {
        g_string_append(out, "    n = mul(n, most(");
        if (!ws_launch_text(out, p, p->tiles->axis[i].extent, WS_TEXT_C, error))
            return FALSE;
        g_string_append(out, ", 0));\n");
    }
    return TRUE;
}

static gboolean grid(GString *out, const WsProgram *p, GError **error)
{
    if (p->tiles->launch == WS_LAUNCH_SINGLE) {
        g_string_append(out, "    return mul(tiles, CLUSTER);\n");
        return TRUE;
    }
    g_string_append(out, "    return mul(most(quotient(");
    if (!p->tiles->grid)
        g_string_append(out, "sms");
    else if (!ws_launch_text(out, p, p->tiles->grid, WS_TEXT_C, error))
        return FALSE;
    g_string_append(out, ", CLUSTER), 1), CLUSTER);\n");
    return TRUE;
}

/* Kernel parameters in the order of codegen/generate.h. */
static char *parameters(const WsProgram *p)
{
    GString *out = g_string_new(NULL);
    for (guint m = 0; m < p->n_maps; m++)
        g_string_append_printf(out, "&map[%u], ", m);
    for (guint t = 0; t < p->n_tensors; t++) {
        g_autofree char *name = ws_launch_ident(p->tensor[t].name);
        g_string_append_printf(out, "&a->%s, ", name);
    }
    for (int kind = 0; kind < 2; kind++)
        for (guint i = 0; i < p->n_vars; i++)
            if (p->var[i].kind == (kind ? WS_VAR_SCALAR : WS_VAR_SIZE)) {
                g_autofree char *name = ws_launch_ident(p->var[i].name);
                g_string_append_printf(out, "&a->%s, ", name);
            }
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        g_string_append(out, "&counter, ");
    if (out->len)
        g_string_truncate(out, out->len - 2);
    else
        g_string_append(out, "NULL");
    return g_string_free(out, FALSE);
}

static char *opens(const char *name)
{
    return g_strdup_printf(
        "/* Loads the kernel into the current context from `file` (kernel.cubin or kernel.ptx). "
        "*/\n"
        "%s_status %s_open(%s **kernel, const char *file);\n"
        "/* The same from memory: a cubin, or PTX that ends with a zero byte. */\n"
        "%s_status %s_open_image(%s **kernel, const void *image);\n"
        "/* The same from the program itself: link %s_kernel.c too. */\n"
        "%s_status %s_open_linked(%s **kernel);\n",
        name, name, name, name, name, name, name, name, name, name);
}

GHashTable *ws_package_words_c(const WsPackageSpec *spec, GError **error)
{
    const WsProgram *p = spec->program;
    g_autoptr(GHashTable) words = ws_package_words(spec);
    static const struct {
        const char *word;
        gboolean (*put)(GString *out, const WsProgram *p, GError **error);
    } part[] = { { "DESCRIBE", describe }, { "TILES", tiles }, { "GRID", grid } };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        g_autoptr(GString) out = g_string_new(NULL);
        if (!part[i].put(out, p, error))
            return NULL;
        ws_package_word(words, part[i].word, g_strdup(out->str));
    }
    g_autoptr(GString) check = g_string_new(NULL);
    if (!checks(check, spec, error))
        return NULL;
    ws_package_word(words, "CHECKS", g_strdup(check->str));
    ws_package_word(words, "FIELDS", fields(p));
    ws_package_word(words, "KINDS", kinds(spec));
    ws_package_word(words, "PLANS", plans(p));
    ws_package_word(words, "PARAMETERS", parameters(p));
    ws_package_word(words, "TENSORS_MOST", g_strdup_printf("%u", MAX(p->n_tensors, 1)));
    ws_package_word(words, "CHOICE_H", g_strdup(""));
    ws_package_word(words, "ARITHMETIC", g_strdup(arithmetic_c));
    ws_package_word(words, "OPENS", opens(spec->name));
    return g_steal_pointer(&words);
}
