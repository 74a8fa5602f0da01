/* A result as a few lines for people. */
#include "base/phrase.h"
#include "clock/clock.h"
#include "clock/result.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "target/target.h"

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
    const double busy[] = { r->tensor_busy, r->tma_busy, r->smem_busy, r->alu_busy, r->mufu_busy };
    GString *s = g_string_new(NULL);
    g_string_append_printf(s,
                           "%" G_GINT64_FORMAT " cycles (%.1f us at %.3f GHz), bound by: %s\n"
                           "%" G_GINT64_FORMAT " %s, %" G_GINT64_FORMAT
                           " tiles in the busiest; busy: ",
                           r->cycles, 1e6 * r->seconds, r->ghz, r->bound, r->grid,
                           ws_target_own_word(p->hardware, "CTAs"), r->tiles);
    for (guint i = 0; i < G_N_ELEMENTS(busy) && ws_result_engine(r, i, FALSE); i++)
        g_string_append_printf(s, "%s%s %.1f %%", i ? ", " : "", ws_result_engine(r, i, FALSE),
                               100 * busy[i]);
    if (!isnan(r->link_busy))
        g_string_append_printf(s, ", links %.1f %%", 100 * r->link_busy);
    g_string_append_c(s, '\n');
    loops(s, r, p);
    waits(s, r, p);
    g_autofree char *note = ws_phrase_text(r->note, NULL, NULL);
    g_string_append_printf(s, "%s\n", note);
    return g_string_free(s, FALSE);
}
