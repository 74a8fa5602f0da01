#include "cli/adversary.h"
#include "model/findings.h"
#include "program/walk/walk.h"

#include "check/witness/adversary.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#endif

void ws_cli_adversary_clear(WsCliAdversary *a)
{
    g_clear_pointer(&a->hold, ws_hold_free);
    g_clear_pointer(&a->seen, g_free);
}

#ifdef WS_HAVE_CODEGEN

/* At the rehearsal's end threads wait for all that the witness says. */
static gboolean has_waits(const WsHold *h, const GArray *waits)
{
    for (guint i = 0; i < h->await->len; i++) {
        const WsHoldAwait *x = &g_array_index(h->await, WsHoldAwait, i);
        gboolean found = FALSE;
        for (guint k = 0; waits && k < waits->len && !found; k++) {
            const WsRehearseWait *w = &g_array_index(waits, WsRehearseWait, k);
            found = w->op == x->op && w->cta == x->rank &&
                    (x->parity < 0 || (w->slot == (gint)x->slot && w->parity == x->parity));
        }
        if (!found)
            return FALSE;
    }
    return TRUE;
}

static char *see(const WsHold *h, const WsRehearseResult *r)
{
    g_autofree char *moves =
        g_strdup_printf("%u of %u moves of the counterexample replayed%s", MIN(r->clock, h->end),
                        h->end, r->gave_up ? ", a replay gate timed out" : "");
    if (!r->ran)
        return g_strdup_printf("%s; it hangs: %s", moves, r->stuck ? r->stuck : "?");
    if (h->hangs)
        return g_strdup_printf("%s; it ends", moves);
    if (r->wrong)
        return g_strdup_printf("%s; %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                               " elements are wrong, first %s",
                               moves, r->wrong, r->elements, r->first_wrong);
    return g_strdup_printf("%s; values are right%s%s", moves, r->first_violation ? "; " : "",
                           r->first_violation ? r->first_violation : "");
}

/* One order: TRUE if its rehearsal does what is told. */
static gboolean try_order(WsProgram *p, WsHold *h, char **seen, GError **error)
{
    g_autofree const char **name = g_new0(const char *, h->size->len + 1);
    g_autofree gint64 *size = g_new0(gint64, h->size->len + 1);
    for (guint i = 0; i < h->size->len; i++) {
        name[i] = g_array_index(h->size, WsSize, i).name;
        size[i] = g_array_index(h->size, WsSize, i).value;
    }
    WsRehearseOptions options = { .seed = 1,
                                  .sms = h->grid,
                                  .size_name = name,
                                  .size = size,
                                  .n_size = h->size->len,
                                  .hold = h };
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsRehearseResult *r = ws_rehearse(p, &options, findings, error);
    if (!r)
        return FALSE;
    gboolean whole = r->clock >= h->end && !r->gave_up;
    gboolean shown = h->hangs ? !r->ran && has_waits(h, r->waits) : whole && (!r->ran || r->wrong);
    *seen = see(h, r);
    ws_rehearse_result_free(r);
    return shown;
}

int ws_cli_adversary(WsCliInput *in, WsCliAdversary *a)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_new(in->program, NULL, NULL);
    if (!w) { /* not in the smallest cases: where the check has met it */
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsVerdict) verdict = ws_check(in->program, NULL, findings);
        w = ws_witness_of(in->program, findings, &error);
    }
    if (!w)
        return ws_cli_fail(WS_EXIT_OUTSIDE, "there is no counterexample to replay: %s",
                           error->message);
    for (guint i = 0; i < WS_ADVERSARY_VARIANTS && !a->shown; i++) {
        g_autofree char *seen = NULL;
        g_autoptr(WsHold) h = ws_adversary_hold(w, i, &error);
        if (!h)
            break;
        a->shown = try_order(in->program, h, &seen, &error);
        if (!seen)
            break;
        if (!a->shown && a->hold)
            continue; /* the first one stays */
        ws_cli_adversary_clear(a);
        a->hold = g_steal_pointer(&h);
        a->seen = g_steal_pointer(&seen);
    }
    return a->hold ? WS_EXIT_YES : ws_cli_fail(WS_EXIT_OUTSIDE, "%s", error->message);
}

#else

int ws_cli_adversary(WsCliInput *in, WsCliAdversary *a)
{
    return ws_cli_fail(WS_EXIT_ABSENT, "replaying a counterexample needs code generation: build "
                                       "with LLVM 22 (apt-get install llvm-22-dev)");
}

#endif
