#include "search/tried.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "search/normal.h"

void ws_found_free(gpointer data)
{
    WsFound *f = data;
    ws_design_unref(f->design);
    g_clear_pointer(&f->decision, g_ptr_array_unref);
    g_clear_pointer(&f->words, g_ptr_array_unref);
    g_clear_pointer(&f->after, g_array_unref);
    g_free(f);
}

void ws_tried_free(gpointer data)
{
    WsTried *p = data;
    if (p->found)
        ws_found_free(p->found);
    ws_program_unref(p->p);
    g_free(p->sum);
    g_free(p);
}

static void count(WsSearch *s, WsKeptKind kind)
{
    s->unfit += kind == WS_KEPT_UNFIT;
    s->refuted += kind == WS_KEPT_STUCK;
    s->serial += kind == WS_KEPT_SERIAL;
}

/* What comes of a design that nobody tried. `p` where it is played. */
static WsKeptTrial try_now(const WsTrialOf *of, const WsDesign *design, WsProgram **p)
{
    gboolean stuck = FALSE;
    g_autoptr(WsClockResult) r = NULL;
    *p = ws_trial_play(of, design, WS_ROUGH_TILES, &r, &stuck);
    if (!*p)
        return (WsKeptTrial){ .kind = stuck ? WS_KEPT_STUCK : WS_KEPT_UNFIT };
    if (ws_search_serialises(*p)) {
        g_clear_pointer(p, ws_program_unref);
        return (WsKeptTrial){ .kind = WS_KEPT_SERIAL };
    }
    return (WsKeptTrial){ .kind = WS_KEPT_PLAYED,
                          .rough = r->cycles,
                          .whole = r->extrapolated ? 0 : r->cycles,
                          .shared = (*p)->shared_bytes,
                          .extrapolated = r->extrapolated };
}

WsTried *ws_tried_new(const WsTrialOf *of, WsKept *kept, WsDesign *design, char *sum, WsSearch *s)
{
    g_autofree char *own = sum;
    WsProgram *p = NULL;
    WsKeptTrial t;
    if (ws_kept_find(kept, sum, &t)) {
        s->known++;
    } else {
        t = try_now(of, design, &p);
        ws_kept_set(kept, sum, &t);
    }
    count(s, t.kind);
    if (t.kind != WS_KEPT_PLAYED)
        return NULL;
    WsTried *one = g_new0(WsTried, 1);
    *one = (WsTried){ .found = g_new0(WsFound, 1),
                      .p = p,
                      .sum = g_steal_pointer(&own),
                      .known = t,
                      .rough = t.extrapolated,
                      .first = t.rough };
    *one->found =
        (WsFound){ .design = ws_design_ref(design), .cycles = t.rough, .shared = t.shared };
    return one;
}

const WsProgram *ws_tried_program(WsTried *one)
{
    g_autoptr(WsFindings) ignored = ws_findings_new();
    if (!one->p)
        one->p = ws_elaborate_bare(one->found->design, ignored);
    return one->p;
}

void ws_tried_whole(const WsTrialOf *of, WsKept *kept, WsTried *one)
{
    if (one->rough && one->known.whole <= 0) {
        const WsProgram *p = ws_tried_program(one);
        one->known.whole = p ? ws_trial_cycles(of, p) : 0;
        ws_kept_set(kept, one->sum, &one->known);
    }
    if (one->rough)
        one->found->cycles = one->known.whole;
    one->rough = FALSE;
}

static WsKeptVerdict judge(WsTried *one, const gint *cancel)
{
    const WsProgram *p = ws_tried_program(one);
    if (!p)
        return WS_KEPT_OTHER;
    const WsVerdictKind kind = ws_trial_judge(p, cancel);
    return kind == WS_VERDICT_PROVED    ? WS_KEPT_PROVED
           : kind == WS_VERDICT_REFUTED ? WS_KEPT_REFUTED
                                        : WS_KEPT_OTHER;
}

WsKeptVerdict ws_tried_judge(WsKept *kept, WsTried *one, const gint *cancel)
{
    if (one->known.verdict != WS_KEPT_UNASKED)
        return one->known.verdict;
    const WsKeptVerdict verdict = judge(one, cancel);
    if (cancel && g_atomic_int_get(cancel))
        return verdict; /* it may be of half a check */
    one->known.verdict = verdict;
    ws_kept_set(kept, one->sum, &one->known);
    return verdict;
}
