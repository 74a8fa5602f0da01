/* A result as a few lines for people. */
#include "clock/clock.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <math.h>

#define MAX_WAITS 6

static void loops(GString *s, const WsClockResult *r, const WsProgram *p)
{
    for (guint i = 0; i < r->loop->len; i++) {
        const WsClockLoop *l = &g_array_index(r->loop, WsClockLoop, i);
        g_string_append_printf(s, "loop %-10s of %-10s %10.0f cycles per round\n",
                               l->loop->name ? l->loop->name : "?", p->agent[l->agent].name,
                               l->period);
    }
}

static void waits(GString *s, const WsClockResult *r, const WsProgram *p)
{
    for (guint i = 0; i < MIN(r->wait->len, MAX_WAITS); i++) {
        const WsClockWait *w = &g_array_index(r->wait, WsClockWait, i);
        const WsOp *op = p->op[w->op];
        if (w->exposed == 0)
            break;
        g_string_append_printf(s, "%-22s in %-10s %10.0f cycles each, %5.1f %% of the time",
                               op->label ? op->label : op->id, p->agent[w->agent].name,
                               (double)w->exposed / (double)w->count,
                               100.0 * (double)w->exposed / (double)MAX(r->played, 1));
        if (!isnan(w->gain))
            g_string_append_printf(s, "; free: %+.1f %%",
                                   -100.0 * w->gain / (double)MAX(r->cycles, 1));
        g_string_append_c(s, '\n');
    }
}

char *ws_clock_result_text(const WsClockResult *r, const WsProgram *p)
{
    static const char *const groups[] = { "tensor", "TMA", "shared memory", "ALU", "MUFU" },
                             *const halves[] = { "matrix", "loads", "LDS", "VALU",
                                                 "transcendentals" };
    const char *const *name = r->halves ? halves : groups;
    GString *s = g_string_new(NULL);
    g_string_append_printf(
        s,
        "%" G_GINT64_FORMAT " cycles (%.1f us at %.3f GHz), bound by: %s\n"
        "%" G_GINT64_FORMAT " CTAs, %" G_GINT64_FORMAT
        " tiles in the busiest; busy: %s %.1f %%, %s %.1f %%, %s %.1f %%, %s %.1f %%, %s %.1f %%\n",
        r->cycles, 1e6 * r->seconds, r->ghz, r->bound, r->grid, r->tiles, name[0],
        100 * r->tensor_busy, name[1], 100 * r->tma_busy, name[2], 100 * r->smem_busy, name[3],
        100 * r->alu_busy, name[4], 100 * r->mufu_busy);
    loops(s, r, p);
    waits(s, r, p);
    g_string_append_printf(s, "%s\n", r->note);
    return g_string_free(s, FALSE);
}
