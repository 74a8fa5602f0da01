/* From a play to figures: extrapolation, loops, waits, utilisation, what bounds the run. */
#include "clock/result.h"
#include "base/median.h"
#include "base/phrase.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

#include <math.h>
#include <string.h>

/* --- span ------------------------------------------------------------------------------------- */
static const WsSnapshot *tile_at(const WsClockPlay *play, guint position)
{
    return &g_array_index(play->tile_start, WsSnapshot, position);
}

/* First and last tile start between which the run is steady; FALSE below two tiles. */
static gboolean steady(const WsClockPlay *play, guint *first, guint *last)
{
    guint n = play->tile_start->len;
    if (n < 2)
        return FALSE;
    *last = n - 1;
    *first = n > 2 ? 1 : 0; /* the first tile also fills the pipeline */
    return TRUE;
}

/* Traffic that memory must carry at least: each tensor once, or less if less of it is touched. */
static double memory_cycles(const WsClockResult *r, const WsClockPlay *play)
{
    double bytes = 0;
    double times = r->tiles_played
                       ? (double)ws_launch_tiles(play->v) * play->n_sms / (double)r->tiles_played
                       : 0;
    for (guint t = 0; t < play->p->n_tensors; t++) {
        double size = ws_dtype_bytes(play->p->tensor[t].dtype);
        for (guint d = 0; d < play->p->tensor[t].rank; d++)
            size *= (double)ws_launch_shape(play->v, t, d);
        bytes += MIN(size, (double)play->tensor_bytes[t] * times);
    }
    return bytes / play->m->value[WS_MACHINE_HBM_BYTES];
}

static gint64 whole(double x)
{
    return x < 9e18 ? (gint64)llrint(x) : G_MAXINT64;
}

/* CTAs that the GPU holds. Clusters of three and of five to seven CTAs are taken for the next
 * larger ones. Of CTAs that share an SM with others more fit (62 clusters of four at two on an SM);
 * that the last of them then have their SMs for themselves is not played, and they are taken to
 * fit. */
static gint64 at_once_of(const WsClockPlay *play)
{
    const double *m = play->m->value;
    const gint64 size = play->n_sms;
    gint64 clusters = (gint64)m[WS_MACHINE_SMS] / size;
    if (size > 2 && play->p->per_sm == 1 && m[WS_MACHINE_CLUSTERS_4] > 0)
        clusters = (gint64)m[size > 8   ? WS_MACHINE_CLUSTERS_16
                             : size > 4 ? WS_MACHINE_CLUSTERS_8
                                        : WS_MACHINE_CLUSTERS_4];
    return MAX(clusters, 1) * size * play->p->per_sm;
}

void ws_result_span(WsClockResult *r, const WsClockPlay *play)
{
    const double *m = play->m->value;
    guint first, last;
    double cycles = play->end;
    r->played = whole(play->end);
    r->tiles_played = MIN((gint64)MAX(play->tile_start->len, 1), r->tiles);
    r->tile_period = NAN;
    if (steady(play, &first, &last))
        r->tile_period = (tile_at(play, last)->at - tile_at(play, first)->at) / (last - first);
    r->extrapolated = r->tiles_played < r->tiles && !isnan(r->tile_period);
    if (play->tiles_differ && play->p->tiles->launch == WS_LAUNCH_DYNAMIC &&
        !isnan(r->tile_period) && ws_tiles_uneven(play))
        cycles =
            ws_tiles_dynamic(play, r->tiles_played, play->stride.stride, r->tile_period, cycles);
    else if (r->extrapolated && play->tiles_differ)
        cycles += ws_tiles_left(play, r->tiles_played, r->tiles, r->tile_period);
    else if (r->extrapolated)
        cycles += (double)(r->tiles - r->tiles_played) * r->tile_period;
    const gint64 at_once = at_once_of(play);
    r->waves = MAX((r->grid - 1) / at_once + 1, 1);
    if (r->waves > 1) {
        double all = (double)r->waves * (cycles + m[WS_MACHINE_CTA_NEXT]) - m[WS_MACHINE_CTA_NEXT];
        if (play->tiles_differ && r->waves > 1) /* SMs take the next CTA when they are free */
            all *= ws_tiles_mean_ratio(play, ws_launch_tiles(play->v));
        cycles = MAX(cycles, all);
    }
    r->hbm_cycles = memory_cycles(r, play);
    r->cycles = whole(MAX(cycles, r->hbm_cycles));
    r->ghz = m[WS_MACHINE_GHZ];
    r->seconds = (double)r->cycles / (r->ghz * 1e9);
}

/* --- utilisation ------------------------------------------------------------------------------ */
/* Of the whole launch: puts come in bursts, and wait for nobody's tiles. */
static double links(const WsClockPlay *play)
{
    double most = 0;
    for (guint d = 0; d < play->n_devices && play->flags; d++)
        most =
            MAX(most, MAX(play->sm[d * play->n_sms].out.busy, play->sm[d * play->n_sms].in.busy));
    return play->flags && !play->stuck ? most / MAX(play->end, 1) : NAN;
}

static void utilisation(WsClockResult *r, const WsClockPlay *play)
{
    r->stuck = play->stuck;
    r->link_busy = links(play);
    if (play->stuck) { /* engines are given work beyond the moment at which all stand still */
        r->tensor_busy = r->tma_busy = r->smem_busy = r->alu_busy = r->mufu_busy = NAN;
        return;
    }
    const WsSm *sm = &play->sm[0];
    guint first, last;
    WsSnapshot from = { 0 },
               to = { play->end,      sm->tensor.busy, MAX(sm->load.busy, sm->l2.busy),
                      sm->store.busy, sm->smem.busy,   sm->alu.busy,
                      sm->mufu.busy };
    if (steady(play, &first, &last) && last > first && first > 0) {
        from = *tile_at(play, first);
        to = *tile_at(play, last);
    }
    double span = MAX(to.at - from.at, 1);
    r->tensor_busy = (to.tensor - from.tensor) / span;
    r->tma_busy = MAX(to.load - from.load, to.store - from.store) / span;
    r->smem_busy = (to.smem - from.smem) / span;
    r->alu_busy = (to.alu - from.alu) / span;
    r->mufu_busy = (to.mufu - from.mufu) / span;
}

/* --- loops and waits -------------------------------------------------------------------------- */
/* The median, or the mean where rounds come in bursts (a ring that fills all at once). */
static double typical(GArray *distance)
{
    double sum = 0;
    for (guint i = 0; i < distance->len; i++)
        sum += g_array_index(distance, double, i);
    ws_sort_values((double *)(gpointer)distance->data, distance->len);
    double mean = sum / distance->len;
    double median = g_array_index(distance, double, distance->len / 2);
    return fabs(mean - median) <= 0.05 * median ? median : mean;
}

static void loops(WsClockResult *r, const WsClockPlay *play)
{
    for (guint i = 0; i < play->loops->len; i++) {
        const WsLoopTrack *t = &g_array_index(play->loops, WsLoopTrack, i);
        if (t->distance->len == 0)
            continue;
        WsClockLoop l = { t->agent, t->loop, t->distance->len, typical(t->distance) };
        g_array_append_val(r->loop, l);
    }
}

static int by_exposed(gconstpointer a, gconstpointer b)
{
    const WsClockWait *x = a, *y = b;
    if (x->exposed != y->exposed)
        return x->exposed < y->exposed ? 1 : -1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void waits(WsClockResult *r, const WsClockPlay *play)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsWaitSum *s = &play->wait[i];
        if (s->count == 0)
            continue;
        WsClockWait w = { i, (guint)MAX(play->p->op[i]->agent, 0), s->count, whole(s->exposed),
                          NAN };
        g_array_append_val(r->wait, w);
    }
    g_array_sort(r->wait, by_exposed);
}

/* The longest wait of the agent that waits least: the others wait for it. */
static const WsClockWait *critical_wait(const WsClockResult *r, const WsClockPlay *play)
{
    gint busiest = -1;
    gint64 least = G_MAXINT64;
    for (guint a = 0; a < play->p->n_agents; a++) {
        gint64 sum = 0;
        for (guint i = 0; i < r->wait->len; i++) {
            const WsClockWait *w = &g_array_index(r->wait, WsClockWait, i);
            sum += w->agent == a ? w->exposed : 0;
        }
        if (sum < least && play->p->agent[a].body) {
            least = sum;
            busiest = (gint)a;
        }
    }
    for (guint i = 0; i < r->wait->len; i++) {
        const WsClockWait *w = &g_array_index(r->wait, WsClockWait, i);
        if ((gint)w->agent == busiest && w->exposed > 0)
            return w;
    }
    return NULL;
}

const char *ws_result_engine(const WsClockResult *r, guint i, gboolean whole)
{
    static const char *const name[3][2][5] = {
        { { "tensor", "TMA", "shared memory", "ALU", "MUFU" },
          { "tensor pipe", "TMA and L2", "shared-memory port", "ALU", "MUFU" } },
        { { "matrix", "loads", "LDS", "VALU", "transcendentals" },
          { "matrix units", "loads and L2", "LDS", "VALU", "transcendentals" } },
        { { "M", "MTE2, MTE3, FIX", "MTE1", "V", NULL },
          { "queue M", "copies in and out", "queue MTE1", "queue V", NULL } },
    };
    return name[r->core ? 2 : r->halves ? 1 : 0][whole][i];
}

static char *bound(const WsClockResult *r, const WsClockPlay *play)
{
    const struct {
        const char *name;
        double share;
    } units[] = { { ws_result_engine(r, 0, TRUE), r->tensor_busy },
                  { ws_result_engine(r, 1, TRUE), r->tma_busy },
                  { ws_result_engine(r, 4, TRUE), r->mufu_busy },
                  { ws_result_engine(r, 3, TRUE), r->alu_busy },
                  { ws_result_engine(r, 2, TRUE), r->smem_busy } };
    guint best = 0;
    for (guint i = 1; i < G_N_ELEMENTS(units); i++)
        if (units[i].share > units[best].share + 1e-9)
            best = i;
    if (r->hbm_cycles >= (double)r->cycles - 1)
        return g_strdup("HBM");
    if (r->link_busy >= 0.85 && r->link_busy > units[best].share)
        return g_strdup("links between devices");
    if (units[best].share >= 0.85)
        return g_strdup(units[best].name);
    const WsClockWait *w = critical_wait(r, play);
    if (!w)
        return g_strdup_printf("issue (%s %.0f %%)", units[best].name, 100 * units[best].share);
    const WsOp *op = play->p->op[w->op];
    return g_strdup_printf("%s in %s (%s %.0f %%)", op->label ? op->label : op->id,
                           play->p->agent[w->agent].name, units[best].name,
                           100 * units[best].share);
}

static char *note(const WsClockResult *r, const WsClockPlay *play)
{
    GString *s = g_string_new(
        r->core ? WS_WORD("One core is simulated; the others are assumed to be identical and to "
                          "share memory.")
        : play->flags ? WS_WORD("One SM of each device is simulated; the others are assumed to be "
                                "identical, as far as it is, and to share L2 and links.")
        : r->halves ? WS_WORD("One CU is simulated; the others are assumed to be identical and to "
                              "share the L2 of their die.")
                    : WS_WORD("One SM is simulated; the others are assumed to be identical and to "
                              "share L2."));
    if (r->extrapolated)
        ws_phrase_append(s,
                         play->tiles_differ
                             ? " %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                               " tiles were simulated, the rest counted at their number of rounds."
                             : " %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                               " tiles were simulated, the rest counted at the steady distance.",
                         r->tiles_played, r->tiles);
    if (r->waves > 1)
        ws_phrase_append(s,
                         r->core     ? " %" G_GINT64_FORMAT " programs follow each other on a core."
                         : r->halves ? " %" G_GINT64_FORMAT " CTAs follow each other on a CU."
                                     : " %" G_GINT64_FORMAT " CTAs follow each other on an SM.",
                         r->waves);
    if (r->peak_ghz > 0)
        ws_phrase_append(s, " Power holds the engine clock at %.2f of %.2f GHz.", r->ghz,
                         r->peak_ghz);
    if (play->has_unless)
        g_string_append(s, WS_WORD(" Steps with `unless` are assumed to be skipped."));
    if (play->has_raw)
        g_string_append(s, WS_WORD(" Raw steps take no time here."));
    if (play->p->unread)
        ws_phrase_append(s, " Values that were not read take no time here (%s).", play->p->unread);
    if (r->hbm_cycles >= (double)r->cycles - 1)
        g_string_append(s, WS_WORD(" Memory traffic is a lower bound, not simulated."));
    if (play->m->note)
        g_string_append_printf(s, " %s", play->m->note);
    return g_string_free(s, FALSE);
}

/* --- trace header ----------------------------------------------------------------------------- */
static void header(WsClockResult *r, const WsClockPlay *play)
{
    WsTrace *t = r->trace;
    for (guint i = 0; i < play->p->n_vars; i++)
        if (play->p->var[i].kind == WS_VAR_SIZE)
            ws_trace_add_size(t, play->p->var[i].name, ws_launch_var(play->v, (gint)i));
    const gboolean claims = play->p->tiles->launch == WS_LAUNCH_DYNAMIC;
    for (guint c = 0; c < play->n_sms * play->n_devices; c++) {
        const gint64 first = c / play->n_sms * r->grid + play->cluster * play->n_sms;
        WsTraceCta cta = { (guint32)(first + c % play->n_sms), G_MAXUINT32, r->played, r->ghz };
        g_array_append_val(t->cta, cta);
        for (gint64 i = 0; claims && i < play->tiles_granted; i++)
            if (ws_clock_play_tile(play, i) >= 0)
                ws_trace_add_claim(t, c, (gint32)ws_clock_play_tile(play, i));
    }
    g_free(t->device);
    t->device = g_strdup(play->m->name);
    g_free(t->note);
    t->note = ws_phrase_text(r->note, NULL, NULL);
    g_free(t->bound);
    t->bound = g_strdup(r->bound);
    t->grid = r->grid;
    t->tensor_busy = r->tensor_busy;
    t->tma_busy = r->tma_busy;
    t->cycles = r->played;
    ws_trace_finish(t);
}

void ws_result_details(WsClockResult *r, WsClockPlay *play)
{
    utilisation(r, play);
    loops(r, play);
    waits(r, play);
    r->bound = bound(r, play);
    r->note = note(r, play);
    if (r->trace)
        header(r, play);
}
