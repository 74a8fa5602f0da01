/* What measuring says, prints and writes. */
#include "cli/search/measured.h"

#include <math.h>
#include <stdio.h>

/* Predicted time over that of the design as it is. */
static double predicted(const WsMeasured *m, const WsMeasuredDesign *d)
{
    const WsMeasuredDesign *as_is = m->design->pdata[0];
    return (double)d->found->cycles / (double)MAX(as_is->found->cycles, 1);
}

static double first_us(const WsMeasuredDesign *d)
{
    return d->us->len ? g_array_index(d->us, double, 0) : NAN;
}

void ws_measured_print(const WsMeasured *m)
{
    printf("measured, cold, by turns beside the design as it is (times are shares of its own):\n"
           "%10s %6s %9s %9s  %s\n",
           "first us", "turns", "measured", "predicted", "");
    for (guint i = 0; i < m->design->len; i++) {
        const WsMeasuredDesign *d = m->design->pdata[i];
        if (!d->us->len) {
            printf("%10s %6s %9s %9.3f  %s: ", "-", "-", "-", predicted(m, d),
                   d->problem ? d->problem
                   : d->state ? d->state
                              : "did not run");
        } else {
            printf("%10.2f %6u %9.3f %9.3f  ", first_us(d), d->turns, d->time, predicted(m, d));
        }
        const GPtrArray *edits = d->found->decision;
        printf("%s", edits->len ? "" : "as it is");
        for (guint k = 0; k < edits->len; k++)
            printf("%s%s", k ? "; " : "", (const char *)edits->pdata[k]);
        printf("\n");
    }
    if (!isnan(m->correlation))
        printf("rank correlation (Spearman) of predicted and measured time in the first turn: "
               "%.2f\n",
               m->correlation);
}

static void put_real(WsJsonOut *j, const char *name, double value)
{
    if (!isnan(value))
        ws_json_out_real(j, name, value);
}

void ws_measured_json(WsJsonOut *j, const WsMeasured *m)
{
    ws_json_out_open(j, "measured", '{');
    if (isnan(m->correlation))
        ws_json_out_text(j, "correlation", NULL);
    else
        ws_json_out_real(j, "correlation", m->correlation);
    ws_json_out_open(j, "designs", '[');
    for (guint i = 0; i < m->design->len; i++) {
        const WsMeasuredDesign *d = m->design->pdata[i];
        ws_json_out_open(j, NULL, '{');
        ws_json_out_integer(j, "cycles", d->found->cycles);
        ws_json_out_text(j, "state", d->state);
        ws_json_out_text(j, "problem", d->problem);
        ws_json_out_text(j, "bundle", m->kept ? d->dir : NULL);
        ws_json_out_integer(j, "turns", d->turns);
        put_real(j, "us", first_us(d));
        put_real(j, "time", d->time);
        ws_json_out_texts(j, "decisions", d->found->decision);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
    ws_json_out_close(j, '}');
}

static int write_best(const WsSearchAsked *a, const WsMeasuredDesign *best, int code)
{
    g_autofree char *text = ws_told_text(best->found);
    return ws_cli_write(a->out, text, -1) ? code : WS_EXIT_DEFECT;
}

/* What whole turns say holds. */
static int end_early(const WsSearchAsked *a, const WsMeasuredDesign *as_is,
                     const WsMeasuredDesign *best)
{
    if (!as_is->us->len)
        return ws_cli_fail(WS_EXIT_INTERRUPTED,
                           "interrupted before the first turn was whole: nothing was compared");
    ws_cli_fail(WS_EXIT_INTERRUPTED, "interrupted; turns that were whole: %u", as_is->us->len);
    return a->out && best && best->time < 1 ? write_best(a, best, WS_EXIT_INTERRUPTED)
                                            : WS_EXIT_INTERRUPTED;
}

int ws_measured_end(const WsSearchAsked *a, const WsMeasured *m)
{
    const WsMeasuredDesign *as_is = m->design->pdata[0],
                           *best = m->design->len > 1 ? m->design->pdata[1] : NULL;
    for (guint i = 0; i < m->design->len; i++) {
        const WsMeasuredDesign *d = m->design->pdata[i];
        if (d->turns && !d->right) /* a proved design is wrong: nothing is to be trusted */
            return ws_cli_fail(WS_EXIT_NO, "a proved design ran and was %s: nothing is written",
                               d->state);
    }
    if (ws_cli_interrupted())
        return end_early(a, as_is, best);
    if (m->absent || as_is->problem)
        return ws_cli_fail(m->absent ? WS_EXIT_ABSENT : WS_EXIT_NO, "nothing was measured: %s",
                           as_is->problem ? as_is->problem : "no GPU, runner or host any more");
    if (!a->out)
        return WS_EXIT_YES;
    if (!best || !(best->time < 1))
        return ws_cli_fail(WS_EXIT_NO, "nothing measured is faster: %s is not written", a->out);
    return write_best(a, best, WS_EXIT_YES);
}
