/* ws_clock_run(): chooses what to play, plays it, and asks "what if" for the exposed waits. */
#include "base/phrase.h"
#include "clock/result.h"
#include "model/finding.h"
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/visit.h"
#include "program/walk/depends.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

#include <math.h>
#include <string.h>

#define DEFAULT_TILES     4
#define SOFT_STEPS        40000 /* tiles that differ in length: play more of them, up to this */
#define DEFAULT_MAX_STEPS 4000000
#define MAX_GAINS         32
#define SM_CTAS           32 /* that an SM can hold */
#define SHARE_WAVES       6  /* tiles of every CTA whose loads are told apart */
#define MESH_WAVES        64 /* likewise on a mesh, where all tiles are played */

typedef struct {
    const WsDepends *d;
    gboolean differ;
} Look;

/* A branch of what came before in the CTA is of its first tiles, which the steady distance leaves
 * out. */
static void look(const WsTree *t, gpointer data)
{
    Look *l = data;
    const guint asked =
        WS_DEPENDS_TILE | WS_DEPENDS_DATA | (t->kind == WS_TREE_LOOP ? (guint)WS_DEPENDS_ORDER : 0);
    l->differ |= (ws_depends_control(l->d, t) & asked) != 0;
}

/* May tiles have other rounds and steps than the first ones? */
static gboolean tiles_differ(const WsProgram *p)
{
    g_autoptr(WsDepends) d = ws_depends_new(p, NULL);
    Look l = { d, FALSE };
    for (guint a = 0; a < p->n_agents; a++)
        ws_tree_each(p->agent[a].body, look, &l);
    return l.differ;
}

static gint64 tiles_of(const WsTilesStrided *s)
{
    if (s->first >= s->count)
        return 0;
    return (s->count - s->first - 1) / s->stride + 1;
}

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    const WsMachine *m;
    WsClockOptions options;
    gint64 grid, tiles;
    gint64 size; /* CTAs of a cluster */
    WsTilesStrided stride;
    gint64 tile_limit;
    guint cluster;
    gboolean differ; /* tiles differ in length */
    WsShares *shares;
    WsLaunchValues **of_device; /* of a mesh; or NULL */
    guint n_devices;
    WsFlagPlan *flags;
} Job;

static void plan(Job *job)
{
    job->size = CLAMP(job->p->cluster, 1, 16);
    job->grid = ws_launch_grid(job->v, (gint64)job->m->value[WS_MACHINE_SMS]);
    gint64 clusters = job->grid / job->size, count = ws_launch_tiles(job->v);
    job->cluster = (guint)CLAMP((gint64)job->options.cluster, 0, MAX(clusters - 1, 0));
    gboolean single = job->p->tiles->launch == WS_LAUNCH_SINGLE;
    job->stride =
        (WsTilesStrided){ job->cluster, single ? MAX(count, 1) : MAX(clusters, 1), count };
    job->tiles = job->options.claims ? job->options.claims->n : tiles_of(&job->stride);
    job->tile_limit = job->options.tiles ? job->options.tiles : DEFAULT_TILES;
    job->differ = tiles_differ(job->p);
    if (job->p->mesh || (!job->options.tiles && job->differ))
        job->tile_limit = G_MAXINT64; /* until SOFT_STEPS; of a mesh all: flags await all of it */
}

static void job_clear(Job *job)
{
    ws_flag_plan_free(job->flags);
    ws_clock_devices_free(job->of_device);
    ws_shares_free(job->shares);
}

/* What all devices of a mesh do to each other. FALSE, with a finding: it is not played. */
static gboolean plan_devices(Job *job, WsFindings *findings)
{
    g_autoptr(GError) error = NULL;
    const gint64 at_once = (gint64)job->m->value[WS_MACHINE_SMS] * job->p->per_sm;
    if (job->grid > at_once) { /* those that wait would keep out those that they wait for */
        if (findings)
            ws_findings_add(findings, WS_RULE_F_CLOCK, "devices",
                            "%" G_GINT64_FORMAT
                            " CTAs on each device, which holds %" G_GINT64_FORMAT
                            " at once: flags of devices need all of them to run together",
                            job->grid, at_once);
        return FALSE;
    }
    job->of_device = ws_clock_devices_new(job->p, job->v, &job->n_devices, findings);
    if (!job->of_device)
        return FALSE;
    job->flags = ws_flag_plan_new(job->p, job->of_device, job->n_devices, job->grid, &error);
    if (!job->flags && findings)
        ws_findings_add(findings, WS_RULE_F_CLOCK, "flags", "%s", error->message);
    if (!job->flags)
        job_clear(job);
    return job->flags != NULL;
}

/* Plays once. The play is to be cleared by the caller. */
static gboolean play_once(const Job *job, WsClockPlay *play, WsTrace *trace, gint free_op,
                          WsFindings *findings)
{
    const double *m = job->m->value;
    *play = (WsClockPlay){
        .p = job->p,
        .v = job->v,
        .m = job->m,
        .findings = findings,
        .trace = trace,
        .free_op = free_op,
        .cluster = job->cluster,
        .stride = job->stride,
        .claims = job->options.claims,
        .tile_limit = job->tile_limit,
        .of_device = (const WsLaunchValues *const *)job->of_device,
        .n_devices = job->n_devices,
        .soft_steps = job->tile_limit == G_MAXINT64 && !job->p->mesh ? SOFT_STEPS : G_MAXINT64,
        .max_steps = job->options.max_steps ? job->options.max_steps : DEFAULT_MAX_STEPS
    };
    /* CTAs are dealt to all SMs once before an SM gets its next one. */
    play->apart = MAX((gint64)m[WS_MACHINE_SMS] / job->size, 1);
    play->n_clusters = 1;
    while (play->n_clusters < job->p->per_sm &&
           job->cluster + play->n_clusters * play->apart < job->grid / job->size)
        play->n_clusters++;
    double sharers = CLAMP((double)job->grid, 1, m[WS_MACHINE_SMS]);
    play->l2_rate = m[WS_MACHINE_L2_BYTES] / sharers;
    play->fetch_rate = m[WS_MACHINE_L2_FETCH] / sharers;
    play->write_rate = m[WS_MACHINE_L2_WRITE] / sharers;
    play->hbm_rate = m[WS_MACHINE_HBM_BYTES] / sharers;
    if (job->p->hardware->halves) {
        const double on_die = MAX(sharers / m[WS_MACHINE_DIES], 1);
        play->l2_rate = m[WS_MACHINE_DIE_L2] / on_die;
        play->far_rate = MIN(m[WS_MACHINE_DIE_FAR] / on_die, m[WS_MACHINE_HBM_BYTES]);
    }
    if (job->flags) {
        play->link_rate =
            MAX(m[WS_MACHINE_LINK_BYTES], m[WS_MACHINE_LINK_PEER]) / m[WS_MACHINE_GHZ] / sharers;
        play->peer_rate = m[WS_MACHINE_LINK_PEER] / m[WS_MACHINE_GHZ] / sharers;
        play->flags = ws_clock_flags_new(job->flags);
    }
    play->shares = job->shares;
    if (job->options.events && free_op < 0 && !job->p->hardware->halves && !job->p->hardware->core)
        play->events = ws_events_new(job->options.events);
    play->tiles_differ = job->differ;
    ws_clock_play_init(play);
    return ws_clock_play_run(play);
}

static WsClockResult *result_new(const Job *job)
{
    WsClockResult *r = g_new0(WsClockResult, 1);
    r->grid = job->grid;
    r->tiles = job->tiles;
    r->halves = job->p->hardware->halves > 0;
    r->core = job->p->hardware->core != NULL;
    r->loop = g_array_new(FALSE, FALSE, sizeof(WsClockLoop));
    r->wait = g_array_new(FALSE, FALSE, sizeof(WsClockWait));
    return r;
}

void ws_clock_result_free(WsClockResult *r)
{
    if (!r)
        return;
    if (r->trace)
        ws_trace_unref(r->trace);
    ws_events_free(r->events);
    g_array_unref(r->loop);
    g_array_unref(r->wait);
    g_free(r->bound);
    g_free(r->note);
    g_free(r);
}

/* The same launch with one wait free: cycles, or NAN if that play has no end. */
static double cycles_without(const Job *job, guint op)
{
    WsClockPlay play;
    double cycles = NAN;
    if (play_once(job, &play, NULL, (gint)op, NULL)) {
        g_autoptr(WsClockResult) r = result_new(job);
        ws_result_span(r, &play);
        cycles = (double)r->cycles;
    }
    ws_clock_play_clear(&play);
    return cycles;
}

static void gains(const Job *job, WsClockResult *r)
{
    for (guint i = 0; i < r->wait->len && i < MAX_GAINS; i++) {
        WsClockWait *w = &g_array_index(r->wait, WsClockWait, i);
        if ((double)w->exposed < 0.001 * (double)r->played)
            break;
        w->gain = (double)r->cycles - cycles_without(job, w->op);
    }
}

/* The machine at the clock that power leaves this launch, NULL where that is its own. */
static WsMachine *held(const Job *job)
{
    WsClockPlay play;
    double ghz = job->m->value[WS_MACHINE_GHZ];
    if (!job->p->hardware->halves || !(job->m->value[WS_MACHINE_POWER_LIMIT] > 0))
        return NULL;
    if (play_once(job, &play, NULL, -1, NULL)) {
        g_autoptr(WsClockResult) r = result_new(job);
        ws_result_span(r, &play);
        ghz = ws_clock_play_ghz(&play, r);
    }
    ws_clock_play_clear(&play);
    return ghz < job->m->value[WS_MACHINE_GHZ] ? ws_machine_at(job->m, ghz) : NULL;
}

/* Nothing runs: no tile, no cycle. */
static WsClockResult *empty(const Job *job)
{
    WsClockResult *r = result_new(job);
    r->tile_period = r->link_busy = NAN;
    r->ghz = job->m->value[WS_MACHINE_GHZ];
    r->bound = g_strdup("nothing to do");
    r->note = g_strdup(WS_WORD("The launch has no tile."));
    if (!job->options.no_trace) {
        r->trace = ws_trace_new(job->p, WS_TRACE_PREDICTED);
        ws_trace_finish(r->trace);
    }
    return r;
}

WsClockResult *ws_clock_run(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m,
                            const WsClockOptions *options, WsFindings *findings)
{
    Job job = { .p = p, .v = v, .m = m };
    if (options)
        job.options = *options;
    if (p->target && strcmp(p->target, m->target) != 0) {
        if (findings)
            ws_findings_add(findings, WS_RULE_F_CLOCK, "target",
                            "the machine description %s is for %s, the design for %s", m->name,
                            m->target, p->target);
        return NULL;
    }
    plan(&job);
    if (job.tiles == 0)
        return empty(&job);
    if (p->mesh && !plan_devices(&job, findings))
        return NULL;
    /* Eight waves with 256 registers each, or all of the LDS: one CTA on a CU. */
    const gint64 resident = p->hardware->halves ? 1 : SM_CTAS;
    job.shares = ws_shares_new(p, v, job.grid / job.size, job.cluster,
                               (gint64)m->value[WS_MACHINE_SMS] * resident / job.size,
                               (gint64)m->value[WS_MACHINE_DIES],
                               (guint)MIN(p->mesh ? MESH_WAVES : SHARE_WAVES, job.tile_limit),
                               m->value[WS_MACHINE_L2_CAPACITY]);
    g_autoptr(WsMachine) slower = held(&job);
    if (slower)
        job.m = slower;
    WsClockPlay play;
    WsTrace *trace = job.options.no_trace ? NULL : ws_trace_new(p, WS_TRACE_PREDICTED);
    gboolean ok = play_once(&job, &play, trace, -1, findings);
    if (!ok && !play.stuck) {
        if (findings)
            ws_findings_add(findings, WS_RULE_F_CLOCK, "groups", "%s",
                            play.error ? play.error->message : "the simulation failed");
        ws_clock_play_clear(&play);
        if (trace)
            ws_trace_unref(trace);
        job_clear(&job);
        return NULL;
    }
    WsClockResult *r = result_new(&job);
    r->trace = trace;
    r->peak_ghz = slower ? m->value[WS_MACHINE_GHZ] : 0;
    r->events = g_steal_pointer(&play.events);
    for (guint i = 0; play.stuck && i < play.n_players; i++)
        ws_clock_play_close_record(&play, &play.player[i]);
    ws_result_span(r, &play);
    ws_result_details(r, &play);
    ws_clock_play_clear(&play);
    if (ok && job.options.gains)
        gains(&job, r);
    job_clear(&job);
    return r;
}
