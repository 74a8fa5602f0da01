/* What the tables for C and for Python share. */
#include "package/tables.h"
#include "package/launch_text.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

G_DEFINE_QUARK(ws_package_error_quark, ws_package_error)

const WsPackageDtype *ws_package_dtype(WsDtype t)
{
    static const WsPackageDtype table[WS_DTYPE_COUNT] = {
#define WS_PACKAGE_DTYPE(id, map, code, bits, torch, c)                                            \
    [WS_DTYPE_##id] = { torch, c, map, code, bits },
#include "package/dtype.def"
#undef WS_PACKAGE_DTYPE
    };
    return &table[t];
}

const char *ws_package_access(WsTensorAccess access)
{
    static const char *const text[] = { "read", "write", "reduce", "exchange" };
    return text[access];
}

int ws_package_swizzle(const WsTensorMap *map)
{
    return map->swizzle == 128 ? 3 : map->swizzle == 64 ? 2 : map->swizzle == 32;
}

/* How often the text names a parameter of the kernel. */
static guint count_parameter(const char *ptx, guint number)
{
    g_autofree char *name = g_strdup_printf("warpstave_param_%u", number);
    guint n = 0;
    for (const char *at = ptx; (at = strstr(at, name)); n += !g_ascii_isdigit(*at))
        at += strlen(name);
    return n;
}

gboolean ws_package_strides_free(const WsPackageSpec *spec, guint tensor)
{
    const WsProgram *p = spec->program;
    gboolean mapped = FALSE;
    for (guint m = 0; m < p->n_maps; m++)
        mapped = mapped || p->map[m].tensor == tensor;
    /* once where the parameters are declared; maps come before the addresses */
    return mapped && spec->ptx && count_parameter(spec->ptx, p->n_maps + tensor) == 1;
}

/* Of the kernel, and of its package: two designs with one version of Warpstave differ. */
static char *version_of(const WsPackageSpec *spec)
{
    if (spec->version)
        return g_strdup(spec->version);
    const char *hash = spec->program->design_hash;
    return g_strdup_printf("%s+%.8s", WARPSTAVE_VERSION, hash ? hash : "unknown");
}

void ws_package_word(GHashTable *words, const char *word, char *value)
{
    g_hash_table_insert(words, g_strdup(word), value);
}

GHashTable *ws_package_words(const WsPackageSpec *spec)
{
    const WsProgram *p = spec->program;
    GHashTable *words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *title = g_strdup(p->name ? p->name : "design");
    for (char *c = title; *c; c++)
        if ((guchar)*c < ' ' || *c == '*' || *c == '"' ||
            *c == '\\') /* inside comments and texts */
            *c = ' ';
    ws_package_word(words, "NAME", g_strdup(spec->name));
    ws_package_word(words, "KERNEL_FILE",
                    g_strdup_printf("%s.cubin", spec->among ? spec->name : "kernel"));
    ws_package_word(words, "DESIGN_FILE",
                    g_strdup_printf("%s.wstave", spec->among ? spec->name : "design"));
    ws_package_word(words, "UPPER", g_ascii_strup(spec->name, -1));
    ws_package_word(words, "TITLE", g_steal_pointer(&title));
    ws_package_word(words, "VERSION", version_of(spec));
    ws_package_word(words, "HASH", g_strdup(p->design_hash ? p->design_hash : "unknown"));
    ws_package_word(words, "OUTCOME", g_strescape(spec->outcome ? spec->outcome : "unknown", NULL));
    ws_package_word(words, "THREADS", g_strdup_printf("%u", p->threads));
    ws_package_word(words, "CLUSTER", g_strdup_printf("%u", MAX(p->cluster, 1)));
    ws_package_word(words, "SHARED", g_strdup_printf("%" G_GUINT64_FORMAT, p->shared_bytes));
    ws_package_word(words, "TENSORS", g_strdup_printf("%u", p->n_tensors));
    ws_package_word(words, "MAPS", g_strdup_printf("%u", p->n_maps));
    ws_package_word(words, "COUNTER", g_strdup(p->tiles->launch == WS_LAUNCH_DYNAMIC ? "1" : "0"));
    return words;
}

gboolean ws_package_stride(GString *out, const WsProgram *p, guint tensor, guint d, gboolean python,
                           GError **error)
{
    const WsTensor *t = &p->tensor[tensor];
    const WsTextLanguage language = python ? WS_TEXT_PYTHON : WS_TEXT_C;
    if (t->strides_given && t->stride[d])
        return ws_launch_text(out, p, t->stride[d], language, error);
    /* an extent of 0 counts as 1, as in ws_launch_values() */
    g_autoptr(GString) product = g_string_new("1");
    for (guint i = t->rank; --i > d;) {
        g_autoptr(GString) extent = g_string_new(NULL);
        if (!ws_launch_text(extent, p, t->shape[i], language, error))
            return FALSE;
        g_autofree char *was = g_strdup(product->str);
        const gboolean one = g_str_equal(was, "1");
        const char *largest = python ? "max" : "most";
        if (one)
            g_string_printf(product, "%s(%s, 1)", largest, extent->str);
        else if (python)
            g_string_printf(product, "%s * max(%s, 1)", was, extent->str);
        else
            g_string_printf(product, "mul(%s, most(%s, 1))", was, extent->str);
    }
    g_string_append(out, product->str);
    return TRUE;
}

static gboolean is_size(const WsProgram *p, const WsExpr *e, guint var)
{
    return e->op == WS_EXPR_VAR && e->var == (gint)var && p->var[var].kind == WS_VAR_SIZE;
}

void ws_package_extents(GString *out, const WsProgram *p, guint var, WsPackageExtent put)
{
    for (guint t = 0; t < p->n_tensors; t++)
        for (guint d = 0; d < p->tensor[t].rank; d++)
            if (is_size(p, p->tensor[t].shape[d], var))
                put(out, t, d);
}
