#include "program/walk/launchable.h"
#include "model/finding.h"
#include "program/parts/mesh.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/reach.h"
#include "target/target.h"

/* What a tensor map takes (CUDA driver API, cuTensorMapEncodeTiled): extents, strides in multiples
 * of the granule, the innermost contiguous. */
static void check_map(const WsProgram *p, const WsLaunchValues *v, const WsTensorMap *map,
                      const char *sizes, WsFindings *findings)
{
    const WsTensor *x = &p->tensor[map->tensor];
    const WsTargetBulk *bulk = &p->hardware->bulk;
    g_autofree char *at = g_strdup_printf("tensors/%s", x->name);
    for (guint d = 0; d < x->rank; d++) {
        gint64 extent = ws_launch_shape(v, map->tensor, d), bytes;
        gint64 stride = ws_launch_stride(v, map->tensor, d);
        gboolean last = d + 1 == x->rank;
        if (extent < 1 || extent > bulk->extent)
            ws_findings_add(findings, WS_RULE_R_LAUNCH, at,
                            "dimension %u of tensor %s has extent %" G_GINT64_FORMAT
                            " for %s; TMA takes 1 to %" G_GINT64_FORMAT,
                            d, x->name, extent, sizes, bulk->extent);
        else if (last && stride != 1)
            ws_findings_add(findings, WS_RULE_R_LAUNCH, at,
                            "the last dimension of tensor %s has stride %" G_GINT64_FORMAT
                            " for %s; TMA needs 1",
                            x->name, stride, sizes);
        else if (!last &&
                 (__builtin_mul_overflow(stride, (gint64)ws_dtype_bytes(x->dtype), &bytes) ||
                  bytes < 0 || bytes % bulk->granule != 0 || bytes >= bulk->stride)) {
            WsFinding *f = ws_findings_add(
                findings, WS_RULE_R_LAUNCH, at,
                "dimension %u of tensor %s has a stride of %" G_GINT64_FORMAT
                " elements (%" G_GINT64_FORMAT " bytes) for %s; TMA needs a multiple of %u bytes",
                d, x->name, stride, stride * (gint64)ws_dtype_bytes(x->dtype), sizes,
                bulk->granule);
            ws_finding_set_remedy(f, "Make it a multiple of %u elements, or pad the tensor.",
                                  bulk->granule / ws_dtype_bytes(x->dtype));
        }
    }
}

static void check_integers(const WsProgram *p, const WsLaunchValues *v, gint64 most,
                           const char *sizes, WsFindings *findings)
{
    for (guint i = 0; i < p->n_vars; i++) {
        const WsVar *x = &p->var[i];
        if (x->kind != WS_VAR_SIZE && (x->kind != WS_VAR_RUN || x->real))
            continue;
        const gint64 value = ws_launch_var(v, (gint)i);
        if (value < G_MININT32 || value > (x->kind == WS_VAR_SIZE ? most : WS_REACH_SIZE_MOST))
            ws_findings_add(findings, WS_RULE_R_LAUNCH, x->kind == WS_VAR_SIZE ? "sizes" : "run",
                            "%s is %" G_GINT64_FORMAT
                            " for %s; kernels count in 32 bits, up to %" G_GINT64_FORMAT,
                            x->name, value, sizes,
                            x->kind == WS_VAR_SIZE ? most : WS_REACH_SIZE_MOST);
    }
    const gint64 tiles = ws_launch_tiles(v);
    if (tiles > G_MAXINT32)
        ws_findings_add(findings, WS_RULE_R_LAUNCH, "tiles",
                        "%" G_GINT64_FORMAT " tiles for %s; kernels count in 32 bits, up to 2^31-1",
                        tiles, sizes);
}

/* Products of sizes; the tiles with room for the next claim. */
static void check_products(const GPtrArray *wide, const WsLaunchValues *v, const char *sizes,
                           WsFindings *findings)
{
    const WsExprEnv env = ws_launch_env(v);
    for (guint i = 0; i < wide->len; i++) {
        g_autoptr(GError) why = NULL;
        gint64 value;
        if (ws_expr_eval(wide->pdata[i], &env, &value, &why)
                ? value >= G_MININT32 && value <= G_MAXINT32
                : g_error_matches(why, WS_EXPR_ERROR, WS_EXPR_ERROR_DIVIDE))
            continue; /* that nothing is divided by 0 is the proof's */
        g_autofree char *text = ws_expr_print(wide->pdata[i]);
        ws_findings_add(findings, WS_RULE_R_LAUNCH, "sizes",
                        "%s does not fit in the 32 bits in which kernels count, for %s", text,
                        sizes);
    }
}

/* Elements of flags, and what launches add to them, are counted in 32 bits, too. */
static void check_flags(const WsProgram *p, const WsLaunchValues *v, const char *sizes,
                        WsFindings *findings)
{
    WsExprEnv env = ws_launch_env(v);
    for (guint f = 0; p->mesh && f < p->mesh->n_flags; f++) {
        const WsFlag *flag = &p->mesh->flag[f];
        gint64 elements, adds;
        g_autofree char *at = g_strdup_printf("flags/%s", flag->name);
        if (!ws_expr_eval(flag->array, &env, &elements, NULL) || elements < 1 ||
            elements > WS_LAUNCH_FLAGS_MOST)
            ws_findings_add(findings, WS_RULE_R_LAUNCH, at,
                            "flag %s does not have 1 to %d elements for %s", flag->name,
                            WS_LAUNCH_FLAGS_MOST, sizes);
        if (!ws_expr_eval(flag->per_launch, &env, &adds, NULL) || adds < 0 || adds > G_MAXINT32)
            ws_findings_add(findings, WS_RULE_R_LAUNCH, at,
                            "what a launch adds to flag %s is not 0 to 2^31-1 for %s", flag->name,
                            sizes);
    }
}

gint64 ws_launch_most(const WsProgram *p)
{
    const gint64 cluster = MAX(p->cluster, 1);
    return G_MAXINT32 / cluster * cluster;
}

void ws_launchable(const WsProgram *p, const WsLaunchValues *v, gint64 grid, WsFindings *findings)
{
    g_autofree char *sizes = ws_launch_sizes_text(v);
    if (grid > ws_launch_most(p))
        ws_findings_add(findings, WS_RULE_R_LAUNCH, "tiles",
                        "%" G_GINT64_FORMAT " CTAs for %s; a launch holds at most 2^31-1", grid,
                        sizes);
    gint64 most;
    g_autoptr(GPtrArray) wide = ws_reach_launch(p, &most);
    check_integers(p, v, most, sizes, findings);
    if (ws_launch_tiles(v) <= G_MAXINT32)
        check_products(wide, v, sizes, findings);
    check_flags(p, v, sizes, findings);
    for (guint m = 0; grid > 0 && m < p->n_maps; m++)
        check_map(p, v, &p->map[m], sizes, findings);
}
