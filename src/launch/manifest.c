/* Writes bundle.txt: the program and its launch values as the plain lines that the runner reads. */
#include "runner/manifest.h"
#include "launch/bundle.h"
#include "launch/measure.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/formula.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/refusal.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"
#include "program/walk/walk.h"
#include "target/target.h"

#include <string.h>

G_DEFINE_QUARK(ws_bundle_error_quark, ws_bundle_error)

/* One word of at most size-1 bytes: no blanks, no control characters. */
static void put_word(GString *out, const char *text, guint size)
{
    g_autofree char *word = g_strndup(text && *text ? text : "-", size - 1);
    for (char *p = word; *p; p++)
        if ((guchar)*p <= ' ' || *p == 127)
            *p = '_';
    g_string_append_c(out, ' ');
    g_string_append(out, word);
}

static void put_int(GString *out, gint64 value)
{
    g_string_append_printf(out, " %" G_GINT64_FORMAT, value);
}

static void put_real(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(out, " %s", g_ascii_dtostr(text, sizeof text, value));
}

static gboolean lens(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean lens(GError **error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *text = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error_literal(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_LENS, text);
    return FALSE;
}

/* What the manifest cannot say, by name. */
static gboolean check_lens(const WsBundleSpec *spec, GError **error)
{
    const WsProgram *p = spec->program;
    guint sizes = 0, scalars = 0;
    for (guint i = 0; i < p->n_vars; i++) {
        sizes += p->var[i].kind == WS_VAR_SIZE;
        scalars += p->var[i].kind == WS_VAR_SCALAR;
    }
    g_autofree char *refusal = ws_program_refusal(p, WS_LENS_BUNDLE);
    if (refusal)
        return lens(error, "%s", refusal);
    if (spec->timed_object && (spec->traced_ptx || spec->debug_ptx || spec->hold))
        return lens(error, "a bundle for %s has one build: no traced, no debug build, no witness",
                    p->target);
    if (p->mesh && (spec->debug_ptx || spec->hold))
        return lens(error,
                    "devices: a bundle for several of them has no debug build and no witness");
    if (p->mesh && p->mesh->n_flags > WS_MANIFEST_FLAGS)
        return lens(error, "devices: a bundle holds at most %d flags", WS_MANIFEST_FLAGS);
    if (!p->n_tensors)
        return lens(error, "tensors: the design has none, so that a run would show nothing; give "
                           "it one that the kernel writes");
    if (p->n_tensors > WS_MANIFEST_TENSORS || p->n_maps > WS_MANIFEST_MAPS ||
        sizes > WS_MANIFEST_SIZES || scalars > WS_MANIFEST_SCALARS)
        return lens(error,
                    "a bundle holds at most %d tensors, %d tensor maps, %d sizes and %d scalars",
                    WS_MANIFEST_TENSORS, WS_MANIFEST_MAPS, WS_MANIFEST_SIZES, WS_MANIFEST_SCALARS);
    if (spec->n_cases > WS_MANIFEST_CASES)
        return lens(error, "a bundle holds at most %d cases", WS_MANIFEST_CASES);
    if (spec->traced_ptx &&
        (!spec->choice || spec->choice->n_ctas == 0 || spec->choice->n_ctas > WS_MANIFEST_CTAS))
        return lens(error, "a traced bundle records 1 to %d CTAs", WS_MANIFEST_CTAS);
    if (spec->traced_ptx) {
        g_autoptr(WsRecorder) r = ws_recorder_new(spec->program, spec->choice);
        if (p->mesh && r->launches > 1)
            return lens(error, "devices: those of a mesh are recorded in one launch");
        if (r->cta_bytes * r->n_ctas * r->launches > WS_MEASURE_MOST_BYTES)
            return lens(error,
                        "the records of %u CTAs take %" G_GUINT64_FORMAT
                        " MiB, and 1024 are read: fewer --rounds, --tiles, --ctas or --launches",
                        r->n_ctas, r->cta_bytes * r->n_ctas * r->launches >> 20);
    }
    for (guint m = 0; m < p->n_maps; m++)
        if (p->map[m].rank != p->tensor[p->map[m].tensor].rank)
            return lens(
                error, "tensor map of %s covers %u of %u dimensions: not supported by the bundle",
                p->tensor[p->map[m].tensor].name, p->map[m].rank, p->tensor[p->map[m].tensor].rank);
    return TRUE;
}

/* --- header ------------------------------------------------------------------------------------
 */

/* Dense operations per SM and cycle of the design's products; 0 where they differ: how much of the
 * arithmetic each does is not known. */
static double tensor_rate(const WsProgram *p)
{
    double rate = 0;
    for (guint i = 0; i < p->n_ops; i++) {
        if (!ws_op_is_product(p->op[i]->kind))
            continue;
        if (!p->op[i]->mma)
            return 0;
        const double own = (double)p->hardware->matrix.rate / ws_dtype_bytes(p->op[i]->mma->a_type);
        if (rate > 0 && own != rate)
            return 0;
        rate = own;
    }
    return rate;
}

static void put_waits(GString *out, const WsProgram *p)
{
    guint n = 0;
    for (guint i = 0; i < p->n_ops && n < WS_MANIFEST_WAITS; i++) {
        const WsOp *op = p->op[i];
        if (!ws_op_waits_for_agents(op->kind) || op->agent < 0)
            continue;
        const WsBarrier *b = op->barrier >= 0 ? &p->barrier[op->barrier] : NULL;
        const gboolean cluster = ws_op_row(op->kind)->waits == WS_WAITS_CLUSTER;
        g_autofree char *element =
            b && op->element && b->is_array ? ws_expr_print(op->element) : NULL;
        g_autofree char *barrier = element ? g_strdup_printf("%s[%s]", b->name, element)
                                           : g_strdup(b         ? b->name
                                                      : cluster ? "cluster"
                                                                : "group");
        g_string_append_printf(out, "wait %u", op->index);
        put_word(out, p->agent[op->agent].name, WS_MANIFEST_NAME);
        put_word(out, barrier, WS_MANIFEST_NAME);
        put_word(out, op->step ? op->step : op->id, 2 * WS_MANIFEST_NAME);
        g_string_append_c(out, '\n');
        n++;
    }
}

/* What a held kernel must show. */
static void put_hold(GString *out, const WsHold *h)
{
    g_autofree char *told = g_strdelimit(g_strndup(h->told ? h->told : "", 180), "\n\r\t", ' ');
    if (!g_utf8_validate(told, -1, NULL))
        *g_utf8_find_prev_char(told, told + strlen(told)) = 0;
    g_string_append_printf(out, "adversary %u %s\ntold %s\n", h->end, h->hangs ? "hang" : "harm",
                           *told ? told : "-");
    for (guint i = 0; i < h->await->len; i++) {
        const WsHoldAwait *a = &g_array_index(h->await, WsHoldAwait, i);
        g_string_append_printf(out, "await %u %u %u %d", a->op, a->rank, a->slot, a->parity);
        for (guint k = 0; k < MIN(a->n_rounds, 3); k++)
            put_int(out, a->round[k]);
        g_string_append_c(out, '\n');
    }
}

static void put_agents(GString *out, const WsProgram *p)
{
    g_string_append(out, "agents");
    for (guint i = 0; i < p->n_agents; i++)
        put_word(out, p->agent[i].name, WS_MANIFEST_NAME);
    g_string_append_c(out, '\n');
}

enum { MOST_LISTED = 128 };

static void put_records(GString *out, const WsBundleSpec *spec)
{
    const WsRecordChoice *c = spec->choice;
    g_autoptr(WsRecorder) r = ws_recorder_new(spec->program, c);
    g_string_append(out, "records");
    put_int(out, (gint64)(r->cta_bytes * r->n_ctas));
    put_int(out, c->first_round);
    put_int(out, c->rounds);
    put_int(out, c->first_tile);
    put_int(out, c->tiles);
    if (c->every > 1) /* a runner that knows no such bundle refuses it */
        put_int(out, c->every);
    if (c->launches > 1)
        put_int(out, c->launches);
    g_string_append_printf(out, "\nplan %" G_GUINT64_FORMAT "\nctas", ws_measure_plan_key(r));
    gboolean all = c->n_ctas > MOST_LISTED;
    for (guint i = 0; i < c->n_ctas && all; i++)
        all = c->cta[i] == i;
    if (all) {
        g_string_append(out, " all");
        put_int(out, c->n_ctas);
    }
    for (guint i = 0; i < c->n_ctas && !all; i++)
        put_int(out, c->cta[i]);
    g_string_append_c(out, '\n');
}

static void put_tensors(GString *out, const WsBundleSpec *spec)
{
    static const char *const access[] = { "read", "write", "reduce", "exchange" };
    const WsProgram *p = spec->program;
    for (guint t = 0; t < p->n_tensors; t++) {
        const WsTensor *x = &p->tensor[t];
        g_string_append(out, "tensor");
        put_word(out, x->name, WS_MANIFEST_NAME);
        put_word(out, ws_dtype_text(x->dtype), WS_MANIFEST_NAME);
        put_int(out, x->rank);
        put_word(out, access[x->access], WS_MANIFEST_NAME);
        put_real(out, x->tolerance_abs);
        put_real(out, x->tolerance_rel);
        g_string_append_c(out, '\n');
    }
    for (guint t = 0; spec->reference_ptx && t < p->n_tensors; t++)
        if (spec->reference_ptx[t])
            g_string_append_printf(out, "reference %u reference-%u.ptx%s\n", t, t,
                                   ws_formula_says_any(p, t) ? " any" : "");
    for (guint t = 0; spec->reference_object && t < p->n_tensors; t++)
        if (spec->reference_object[t])
            g_string_append_printf(out, "reference %u reference-%u.hsaco%s\n", t, t,
                                   ws_formula_says_any(p, t) ? " any" : "");
    for (guint m = 0; m < p->n_maps; m++) {
        g_string_append(out, "map");
        put_int(out, p->map[m].tensor);
        put_int(out, p->map[m].swizzle);
        for (guint d = 0; d < p->map[m].rank; d++)
            put_int(out, p->map[m].box[d]);
        g_string_append_c(out, '\n');
    }
}

static void put_header(GString *out, const WsBundleSpec *spec, const WsLaunchValues *v)
{
    const WsProgram *p = spec->program;
    g_autofree char *title = g_strdup(p->name ? p->name : "design");
    for (char *c = title; *c; c++)
        if ((guchar)*c < ' ')
            *c = ' ';
    if (strlen(title) > 100)
        *g_utf8_find_prev_char(title, title + 100) = 0;
    g_string_append_printf(out, "warpstave-bundle %d\nname %s\n", WS_MANIFEST_VERSION,
                           *title ? title : "design");
    g_string_append_printf(out, "target %s\nentry warpstave\ndesign design.wstave\n", p->target);
    if (p->design_hash)
        g_string_append_printf(out, "hash %s\n", p->design_hash);
    g_string_append_printf(out, "block %u %u %" G_GUINT64_FORMAT "\n", p->threads,
                           MAX(p->cluster, 1),
                           spec->timed_object ? 0 : p->shared_bytes); /* its LDS is in the object */
    g_string_append_printf(out, "module timed %s\n",
                           spec->timed_object  ? "kernel.hsaco"
                           : spec->timed_cubin ? "kernel.cubin"
                                               : "kernel.ptx");
    if (spec->traced_ptx)
        g_string_append_printf(out, "module traced %s\n",
                               spec->traced_cubin ? "traced.cubin" : "traced.ptx");
    if (spec->debug_ptx)
        g_string_append(out, "module debug debug.ptx\n");
    g_string_append_printf(out, "seed %" G_GUINT64_FORMAT "\nruns %u\n", spec->seed & G_MAXINT64,
                           spec->runs ? spec->runs : 30);
    g_string_append(out, "sustained");
    put_real(out, spec->sustained < 0 ? 1 : spec->sustained);
    g_string_append(out, "\ntimeout");
    put_real(out, spec->timeout > 0 ? spec->timeout : 20);
    g_string_append(out, "\nrate");
    put_real(out, tensor_rate(p));
    g_string_append(out, "\nsizes");
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            put_word(out, p->var[i].name, WS_MANIFEST_NAME);
    g_string_append_c(out, '\n');
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SCALAR) {
            g_string_append(out, "scalar");
            put_word(out, p->var[i].name, WS_MANIFEST_NAME);
            put_real(out, ws_launch_var_real(v, (gint)i));
            g_string_append_c(out, '\n');
        }
    put_tensors(out, spec);
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        g_string_append(out, "counter\n");
    if (p->mesh) {
        g_string_append(out, "mesh");
        put_word(out, p->mesh->name, WS_MANIFEST_NAME);
        for (guint f = 0; f < p->mesh->n_flags; f++)
            put_word(out, p->mesh->flag[f].name, WS_MANIFEST_NAME);
        g_string_append_c(out, '\n');
    }
    if (spec->debug_ptx)
        put_agents(out, p);
    put_waits(out, p);
    if (spec->hold)
        put_hold(out, spec->hold);
    if (spec->traced_ptx)
        put_records(out, spec);
}

/* --- cases ------------------------------------------------------------------------------------ */

static gboolean data_parameter(const WsLaunchValues *v, const WsTensor *x, const WsExpr *e,
                               gint64 *out, WsFindings *findings)
{
    g_autoptr(GError) error = NULL;
    WsExprEnv env = ws_launch_env(v);
    *out = 0;
    if (!e || ws_expr_eval(e, &env, out, &error))
        return TRUE;
    g_autofree char *at = g_strdup_printf("tensors/%s", x->name);
    ws_findings_add(findings, WS_RULE_R_LAUNCH, at, "data of tensor %s: %s", x->name,
                    error->message);
    return FALSE;
}

static void put_case_tensor(GString *out, const WsProgram *p, const WsLaunchValues *v, guint t,
                            WsFindings *findings)
{
    static const char *const kinds[] = { "normal", "uniform", "integers",
                                         "zeros",  "indices", "offsets" };
    const WsTensor *x = &p->tensor[t];
    gint64 a, b;
    g_string_append_printf(out, "extent %u", t);
    for (guint d = 0; d < x->rank; d++)
        put_int(out, ws_launch_shape(v, t, d));
    for (guint d = 0; d < x->rank; d++)
        put_int(out, ws_launch_stride(v, t, d));
    g_string_append_printf(out, "\nfill %u %s", t, kinds[x->data]);
    if (!data_parameter(v, x, x->data_a, &a, findings) ||
        !data_parameter(v, x, x->data_b, &b, findings))
        return;
    put_int(out, a);
    put_int(out, b);
    put_real(out, x->data_x);
    put_real(out, x->data_y);
    g_string_append_c(out, '\n');
}

/* What is not a number here is a finding of ws_launchable. */
static void put_devices(GString *out, const WsProgram *p, const WsLaunchValues *v)
{
    WsExprEnv env = ws_launch_env(v);
    gint64 n = 0;
    ws_expr_eval(p->mesh->devices, &env, &n, NULL);
    g_string_append(out, "devices");
    put_int(out, n);
    g_string_append(out, "\nflags");
    for (guint f = 0; f < p->mesh->n_flags; f++) {
        const WsExpr *of[] = { p->mesh->flag[f].array, p->mesh->flag[f].per_launch };
        for (guint i = 0; i < 2; i++) {
            n = 0;
            ws_expr_eval(of[i], &env, &n, NULL);
            put_int(out, n);
        }
    }
    g_string_append_c(out, '\n');
}

static void put_case(GString *out, const WsBundleSpec *spec, const WsLaunchValues *v,
                     WsFindings *findings)
{
    const WsProgram *p = spec->program;
    g_autofree char *sizes = ws_launch_sizes_text(v);
    gboolean sms = p->tiles->launch != WS_LAUNCH_SINGLE && !p->tiles->grid && !spec->hold;
    gint64 most = ws_launch_most(p);
    gint64 grid = spec->hold ? spec->hold->grid : ws_launch_grid(v, most);
    ws_launchable(p, v, grid, findings);
    g_autofree char *label = g_strdup(*sizes ? sizes : "preset");
    g_strdelimit(label, " ", ',');
    g_string_append(out, "case");
    put_word(out, label, 2 * WS_MANIFEST_NAME);
    g_string_append(out, sms ? " sms" : " ctas");
    put_int(out, MIN(grid, most));
    put_int(out, ws_launch_tiles(v));
    put_real(out, ws_launch_flops(p, v));
    g_string_append(out, "\nvalues");
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            put_int(out, ws_launch_var(v, (gint)i));
    g_string_append_c(out, '\n');
    if (p->mesh)
        put_devices(out, p, v);
    if (p->tiles->order == WS_ORDER_HILBERT && grid > 0) {
        g_string_append(out, "hilbert");
        put_int(out, ws_launch_extent(v, p->tiles->order_axis));
        put_int(out, ws_launch_extent(v, p->tiles->order_axis2));
        g_string_append_c(out, '\n');
    }
    for (guint t = 0; t < p->n_tensors; t++)
        put_case_tensor(out, p, v, t, findings);
}

char *ws_bundle_manifest(const WsBundleSpec *spec, WsFindings *findings, GError **error)
{
    static const WsBundleCase preset = { NULL, 0 };
    if (!check_lens(spec, error))
        return NULL;
    guint n = MAX(spec->n_cases, 1), errors = ws_findings_count(findings, WS_SEVERITY_ERROR);
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        const WsBundleCase *c = spec->n_cases ? &spec->cases[i] : &preset;
        g_autoptr(WsLaunchValues) v =
            ws_launch_values(spec->program, c->size, c->n_size, FALSE, findings);
        if (!v)
            break;
        if (i == 0)
            put_header(out, spec, v);
        put_case(out, spec, v, findings);
    }
    if (ws_findings_count(findings, WS_SEVERITY_ERROR) > errors) {
        g_set_error_literal(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_SIZES,
                            "these sizes cannot be launched");
        return NULL;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}
