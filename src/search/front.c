#include "search/front.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#define MOST_LATE 64 /* played with late loads */

gboolean ws_front_as_fast(gint64 cycles, gint64 best)
{
    return cycles - best <= best / 100;
}

static gint faster(gconstpointer pa, gconstpointer pb)
{
    const WsFound *a = *(WsFound *const *)pa, *b = *(WsFound *const *)pb;
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles ? -1 : 1;
    if (a->shared != b->shared)
        return a->shared < b->shared ? -1 : 1;
    if (a->registers != b->registers)
        return a->registers < b->registers ? -1 : 1;
    return (a->decision->len > b->decision->len) - (a->decision->len < b->decision->len);
}

/* Those with a figure first, the least late of them before the others. */
static gint steadier(gconstpointer pa, gconstpointer pb)
{
    const WsFound *a = *(WsFound *const *)pa, *b = *(WsFound *const *)pb;
    if ((a->late > 0) != (b->late > 0))
        return a->late > 0 ? -1 : 1;
    if (a->late != b->late)
        return a->late < b->late ? -1 : 1;
    return faster(pa, pb);
}

/* The same machine, on which every load takes longer by that share of its latency. */
static WsMachine *late_machine(const WsMachine *m, double jitter)
{
    static const WsMachineValue latency[] = { WS_MACHINE_TMA_LATENCY, WS_MACHINE_TMA_LATENCY_HBM,
                                              WS_MACHINE_TMA_LATENCY_COLD };
    WsMachine *late = ws_machine_at(m, m->value[WS_MACHINE_GHZ]);
    for (guint i = 0; i < G_N_ELEMENTS(latency); i++)
        if (ws_machine_has(m, latency[i]))
            ws_machine_set(late, latency[i], m->value[latency[i]] * (1 + jitter), "late loads");
    return late;
}

static gint64 late_cycles(const WsTrialOf *of, const WsDesign *design)
{
    g_autoptr(WsFindings) ignored = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate_bare(design, ignored);
    return p ? ws_trial_cycles(of, p) : 0;
}

void ws_front_order(GPtrArray *all, const WsTrialOf *of, double jitter)
{
    g_ptr_array_sort(all, faster);
    if (jitter <= 0 || !all->len)
        return;
    g_autoptr(WsMachine) machine = late_machine(of->m, jitter);
    const WsTrialOf late = { of->p, of->v, machine, of->work };
    const gint64 best = ((const WsFound *)all->pdata[0])->cycles;
    for (guint i = 0; i < all->len && i < MOST_LATE; i++) {
        WsFound *f = all->pdata[i];
        if (ws_front_as_fast(f->cycles, best))
            f->late = late_cycles(&late, f->design);
    }
    g_ptr_array_sort(all, steadier);
}

gboolean ws_front_beaten(const GPtrArray *found, const WsFound *f)
{
    for (guint i = 0; i < found->len; i++) {
        const WsFound *k = found->pdata[i];
        if (k->shared <= f->shared && k->registers <= f->registers)
            return TRUE;
    }
    return FALSE;
}
