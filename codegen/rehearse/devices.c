#include "codegen/rehearse/devices.h"
#include "base/phrase.h"
#include "codegen/rehearse/case.h"
#include "codegen/rehearse/mesh.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launchable.h"

enum { LAUNCHES = 3, MOST_CTAS = 64, CHUNK = 4096 };

typedef struct {
    const WsProgram *p;
    const WsRehearseOptions *options;
    guint devices;
    WsRehearseCase *of; /* [devices] */
    guint8 **block;     /* [tensors] that of all devices, one behind the other */
    gint64 *pitch;      /* [tensors] bytes from one device to the next; behind them the devices */
    guint8 **kept;      /* [launches * tensors] outputs of all devices, as `block` */
    guint8 *maps;       /* [maps][devices], WS_PEER_MAP_BYTES each */
    guint64 *first;     /* [flags + 1] */
    guint64 **flag, **param;
    guint64 *table;        /* [devices] addresses of flags: one memory serves all */
    const guint64 **entry; /* [devices] of the table */
    GError *error;
} Mesh;

/* --- memory ----------------------------------------------------------------------------------- */
static guint64 seed_of(const Mesh *m, guint device, guint launch)
{
    return (m->options ? m->options->seed : 0) * 1000003 + launch * 1009 + device;
}

static gboolean make_tensors(Mesh *m, GError **error)
{
    const WsProgram *p = m->p;
    for (guint i = 0; i < p->n_tensors; i++) {
        const gint64 bytes = ws_case_bytes(&m->of[0], i, error);
        if (bytes < 0)
            return FALSE;
        m->pitch[i] = (bytes + 127) / 128 * 128;
        m->block[i] = g_try_malloc((gsize)m->pitch[i] * m->devices + 16);
        for (guint l = 0; l < LAUNCHES && m->block[i]; l++)
            if (ws_tensor_is_output(&p->tensor[i]))
                m->kept[l * p->n_tensors + i] = g_try_malloc((gsize)m->pitch[i] * m->devices + 16);
        if (!m->block[i] ||
            (ws_tensor_is_output(&p->tensor[i]) && !m->kept[(LAUNCHES - 1) * p->n_tensors + i])) {
            ws_generate_refuse(error, "rehearse", NULL, NULL,
                               WS_WORD("no memory for the tensors of all devices"),
                               "give smaller sizes");
            return FALSE;
        }
    }
    m->pitch[p->n_tensors] = m->devices;
    for (guint d = 0; d < m->devices; d++) {
        m->of[d].borrowed = TRUE;
        m->of[d].tensor = g_new0(void *, p->n_tensors + 1);
        for (guint i = 0; i < p->n_tensors; i++)
            m->of[d].tensor[i] = m->block[i] + d * m->pitch[i];
        ws_case_arguments(&m->of[d]);
    }
    return TRUE;
}

static gboolean make_flags(Mesh *m, GError **error)
{
    const WsMesh *mesh = m->p->mesh;
    WsExprEnv env = ws_launch_env(m->of[0].values);
    for (guint f = 0; f < mesh->n_flags; f++) {
        gint64 n;
        if (!ws_expr_eval(mesh->flag[f].array, &env, &n, error))
            return FALSE;
        m->first[f + 1] = m->first[f] + (guint64)n;
    }
    m->table = g_new0(guint64, m->devices);
    for (guint d = 0; d < m->devices; d++) {
        m->flag[d] = g_new0(guint64, m->first[mesh->n_flags] + 1);
        m->table[d] = (guint64)(guintptr)m->flag[d];
        m->entry[d] = m->table;
    }
    return TRUE;
}

/* What a mesh adds to the parameters of each device. */
static void make_arguments(Mesh *m)
{
    const WsProgram *p = m->p;
    m->maps = g_malloc0((gsize)(p->n_maps * m->devices + 1) * WS_PEER_MAP_BYTES);
    for (guint i = 0; i < p->n_maps; i++)
        for (guint d = 0; d < m->devices; d++)
            memcpy(m->maps + (i * m->devices + d) * WS_PEER_MAP_BYTES, &m->of[d].map[i],
                   sizeof(WsHostMap));
    for (guint d = 0; d < m->devices; d++) {
        WsRehearseCase *c = &m->of[d];
        m->param[d] = c->param;
        c->param[c->n_param] = (guint64)(guintptr)m->maps;
        c->param[c->n_param + 1] = (guint64)(guintptr)m->table;
    }
}

static void clear(Mesh *m)
{
    for (guint d = 0; d < m->devices; d++) {
        ws_case_clear(&m->of[d]);
        g_free(m->flag[d]);
    }
    for (guint i = 0; i < m->p->n_tensors; i++) {
        g_free(m->block[i]);
        for (guint l = 0; l < LAUNCHES; l++)
            g_free(m->kept[l * m->p->n_tensors + i]);
    }
    g_free(m->of);
    g_free(m->block);
    g_free(m->pitch);
    g_free(m->kept);
    g_free(m->maps);
    g_free(m->first);
    g_free(m->flag);
    g_free(m->param);
    g_free(m->table);
    g_free(m->entry);
}

/* --- hosts ------------------------------------------------------------------------------------ */
static void fill(Mesh *m, guint device, guint launch)
{
    for (guint i = 0; i < m->p->n_tensors && !m->error; i++)
        ws_case_fill(&m->of[device], i, seed_of(m, device, launch), &m->error);
}

static void begin(gpointer data, guint device, guint launch)
{
    fill(data, device, launch);
}

/* The tensor is read by other devices than its own. */
static gboolean is_got(const WsProgram *p, guint tensor)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (ws_op_gets(p->op[i]->kind) && p->op[i]->tensor == (gint)tensor)
            return TRUE;
    return FALSE;
}

/* What comes behind it on the device may overwrite its inputs. */
static void end(gpointer data, guint device, guint launch)
{
    Mesh *m = data;
    for (guint i = 0; i < m->p->n_tensors; i++) {
        if (m->p->tensor[i].access == WS_ACCESS_READ && is_got(m->p, i))
            memset(m->of[device].tensor[i], 0x7e, (gsize)m->pitch[i]);
        guint8 *kept = m->kept[launch * m->p->n_tensors + i];
        if (kept)
            memcpy(kept + device * m->pitch[i], m->of[device].tensor[i], (gsize)m->pitch[i]);
    }
}

/* --- comparison ------------------------------------------------------------------------------- */
static gboolean compare_launch(WsRehearseResult *r, Mesh *m, guint launch, WsReference *reference,
                               GError **error)
{
    g_autofree double *want = g_new(double, CHUNK);
    g_autofree const void **first = g_new0(const void *, m->p->n_tensors + 1);
    const WsReferenceInput input = { first, m->of[0].size, m->of[0].scalar, m->pitch };
    for (guint i = 0; i < m->p->n_tensors; i++)
        first[i] = m->block[i];
    for (guint d = 0; d < m->devices; d++)
        fill(m, d, launch);
    ws_reference_restart(reference);
    for (guint i = 0; i < m->p->n_tensors; i++) {
        const gint64 n = ws_case_elements(&m->of[0], i);
        const guint8 *kept = m->kept[launch * m->p->n_tensors + i];
        for (gint64 at = 0; kept && at < n * m->devices; at += CHUNK) {
            const guint part = (guint)MIN(CHUNK, n * m->devices - at);
            if (!ws_reference_eval(reference, i, &input, NULL, at, part, want, error))
                return FALSE;
            for (gint64 k = at; k < at + part; k++)
                ws_case_judge(r, &m->of[0], i, kept + k / n * m->pitch[i], k / n, k % n,
                              want[k - at]);
        }
    }
    return TRUE;
}

/* --- the run ---------------------------------------------------------------------------------- */
static void run(WsRehearseResult *r, Mesh *m, guint grid, void (*kernel)(const guint64 *))
{
    const WsProgram *p = m->p;
    const WsRehearseOptions *o = m->options;
    const gboolean single = p->tiles->launch == WS_LAUNCH_SINGLE;
    const guint sms = o && o->sms > 0 ? (guint)o->sms : 2;
    const WsHostMeshPlan plan = { .devices = m->devices,
                                  .launches = LAUNCHES,
                                  .grid = grid,
                                  .resident = single ? MIN(grid, sms) : grid,
                                  .param = m->param,
                                  .launch_word = m->of[0].n_param + 2,
                                  .flag = m->flag,
                                  .table = m->entry,
                                  .first = m->first,
                                  .begin = begin,
                                  .end = end,
                                  .data = m };
    WsHost *h = ws_host_new(p, p->threads, m->devices * grid, p->shared_bytes, o ? o->seed : 0);
    r->ran = ws_host_run_mesh(h, &plan, kernel);
    r->fibers = (guint64)m->devices * grid * p->threads * LAUNCHES;
    ws_case_end(r, h);
}

/* FALSE with a refusal: the launch is not one of these. */
static gboolean launchable(const WsRehearseOptions *o, const WsRehearseCase *c, gint64 devices,
                           gint64 *grid, WsFindings *findings, GError **error)
{
    if (o && o->hold) {
        ws_generate_refuse(error, "rehearse", NULL, NULL,
                           WS_WORD("no witness is replayed on several devices"), NULL);
        return FALSE;
    }
    g_autoptr(WsFindings) own = ws_findings_new();
    WsFindings *found = findings ? findings : own;
    const guint before = ws_findings_count(found, WS_SEVERITY_ERROR);
    *grid = ws_launch_grid(c->values, o && o->sms > 0 ? o->sms : 2);
    ws_launchable(c->p, c->values, *grid, found);
    if (ws_findings_count(found, WS_SEVERITY_ERROR) > before) {
        ws_generate_refuse(error, "rehearse", NULL, NULL,
                           WS_WORD("these sizes do not make a launch: see the findings"), NULL);
        return FALSE;
    }
    if (devices >= 1 && *grid >= 1 && *grid <= MOST_CTAS && devices <= MOST_CTAS / *grid)
        return TRUE;
    g_autofree char *why = ws_phrase("%" G_GINT64_FORMAT " devices of %" G_GINT64_FORMAT
                                     " CTAs: all of them are rehearsed at once, %u at most",
                                     devices, *grid, (guint)MOST_CTAS);
    ws_generate_refuse(error, "rehearse", NULL, NULL, why, "give smaller sizes");
    return FALSE;
}

gboolean ws_rehearse_devices(WsRehearseResult *r, const WsProgram *p, const WsRehearseOptions *o,
                             void (*kernel)(const guint64 *), WsReference *reference,
                             WsFindings *findings, GError **error)
{
    g_auto(WsRehearseCase) probe = { .p = p };
    gint64 devices, grid;
    if (!ws_case_values(&probe, o, 0, findings, error))
        return FALSE;
    WsExprEnv env = ws_launch_env(probe.values);
    if (!ws_expr_eval(p->mesh->devices, &env, &devices, error) ||
        !launchable(o, &probe, devices, &grid, findings, error))
        return FALSE;
    Mesh m = { .p = p,
               .options = o,
               .devices = (guint)devices,
               .of = g_new0(WsRehearseCase, devices),
               .block = g_new0(guint8 *, p->n_tensors + 1),
               .pitch = g_new0(gint64, p->n_tensors + 1),
               .kept = g_new0(guint8 *, LAUNCHES * p->n_tensors + 1),
               .first = g_new0(guint64, p->mesh->n_flags + 1),
               .flag = g_new0(guint64 *, devices),
               .param = g_new0(guint64 *, devices),
               .entry = g_new0(const guint64 *, devices) };
    gboolean fine = TRUE;
    for (guint d = 0; d < m.devices && fine; d++) {
        m.of[d].p = p;
        fine = ws_case_values(&m.of[d], o, d, NULL, error);
    }
    fine = fine && make_tensors(&m, error) && make_flags(&m, error);
    if (fine) {
        make_arguments(&m);
        run(r, &m, (guint)grid, kernel);
        for (guint l = 0; l < LAUNCHES && r->ran && fine && !m.error; l++)
            fine = compare_launch(r, &m, l, reference, error);
        r->matches = r->ran && !r->wrong && !r->async_races && !r->violations;
    }
    clear(&m);
    if (!m.error)
        return fine;
    if (error && !*error)
        g_propagate_error(error, m.error);
    else
        g_error_free(m.error);
    return FALSE;
}
