/* Candidates on trial: elaborated, timed, and those that gain checked. */
#include "advise/advise.h"
#include "base/phrase.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/formula.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <math.h>
#include <string.h>

#define LEAST_GAIN                                                                                 \
    0.01 /* less than this the clock cannot tell: on an H200 such edits gained nothing */
#define CHECK_WORK (100 << 20) /* of one check */

typedef struct {
    WsCandidate *c; /* borrowed */
    WsProgram *p;
    gint64 cycles;
    char *why;
} Timed;

static void timed_free(gpointer data)
{
    Timed *t = data;
    ws_program_unref(t->p);
    g_free(t->why);
    g_free(t);
}

void ws_next_edit_free(WsNextEdit *e)
{
    g_free(e->title);
    g_free(e->words);
    g_free(e->why);
    g_free(e->step);
    g_ptr_array_unref(e->edits);
    g_free(e);
}

static gboolean cancelled(const WsTrial *trial)
{
    return trial->options && trial->options->cancel && g_atomic_int_get(trial->options->cancel);
}

static gboolean same_statement(const WsStatement *a, const WsStatement *b)
{
    gboolean same = a->n_index == b->n_index && !strcmp(a->name, b->name);
    for (guint i = 0; same && i < a->n_index; i++)
        same = !strcmp(a->index[i], b->index[i]);
    if (!same)
        return FALSE;
    if (ws_expr_equal(a->value, b->value))
        return TRUE;
    g_autofree char *x = ws_statement_print(a), *y = ws_statement_print(b);
    return !strcmp(x, y);
}

/* Still the same question: tensors of the same shapes, computed by the same reference. */
static gboolean same_meaning(const WsProgram *a, const WsLaunchValues *va, const WsProgram *b,
                             const WsLaunchValues *vb)
{
    if (a->n_tensors != b->n_tensors || a->n_reference != b->n_reference)
        return FALSE;
    for (guint t = 0; t < a->n_tensors; t++)
        for (guint d = 0; d < MAX(a->tensor[t].rank, b->tensor[t].rank); d++)
            if (a->tensor[t].rank != b->tensor[t].rank ||
                ws_launch_shape(va, t, d) != ws_launch_shape(vb, t, d))
                return FALSE;
    for (guint i = 0; i < a->n_reference; i++)
        if (!same_statement(a->reference[i].statement, b->reference[i].statement))
            return FALSE;
    return TRUE;
}

static gint64 first_tile(gpointer data, gint64 position)
{
    return position == 0 ? 0 : -1;
}

WsTrialWork ws_trial_work(const WsProgram *p, const WsLaunchValues *v)
{
    WsTrialWork w = { 0, 0 };
    for (guint a = 0; a < p->n_agents; a++) {
        g_autoptr(WsWalker) walker = ws_walker_new(p, v, a, 0, first_tile, NULL);
        ws_walker_guess_elements(walker);
        WsStep step;
        guint steps = 0;
        while (steps++ < 100000 && ws_walker_next(walker, &step, NULL)) {
            const WsOp *op = step.op;
            if (ws_op_is_product(op->kind) && op->mma)
                w.products += (double)op->mma->m * op->mma->n * op->mma->k;
            else if (op->kind == WS_OP_TMA_STORE && op->n_access)
                w.stored += (double)op->access[0].rows * op->access[0].cols;
            else if (op->kind == WS_OP_ST_GLOBAL && op->n_value)
                w.stored += (double)op->value[0].rows * op->value[0].cols;
        }
    }
    double tiles = (double)ws_launch_tiles(v);
    return (WsTrialWork){ w.stored * tiles, w.products * tiles };
}

/* The check does not see whether every element is computed: constants that belong together (a tile
 * and its parts) must not be changed apart. Padding may change what little it is. */
static gboolean same_work(WsTrialWork a, WsTrialWork b)
{
    return b.stored >= a.stored * (1 - WS_TRIAL_PADDING) &&
           b.stored <= a.stored * (1 + 4 * WS_TRIAL_PADDING) &&
           b.products >= a.products * (1 - WS_TRIAL_PADDING) &&
           b.products <= a.products * (1 + 4 * WS_TRIAL_PADDING);
}

static WsLaunchValues *launch_like(const WsProgram *p, const WsProgram *like,
                                   const WsLaunchValues *v)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    for (guint i = 0; i < like->n_vars; i++)
        if (like->var[i].kind == WS_VAR_SIZE) {
            WsSize s = { like->var[i].name, ws_launch_var(v, (gint)i) };
            g_array_append_val(size, s);
        }
    return ws_launch_values(p, (WsSize *)size->data, size->len, FALSE, findings);
}

static const char *step_of(const WsProgram *p, guint op)
{
    return p->op[op]->step ? p->op[op]->step : p->op[op]->id;
}

static double exposed_share(const WsClockResult *r, const WsProgram *p, guint agent,
                            const char *label)
{
    double sum = 0;
    for (guint i = 0; i < r->wait->len; i++) {
        const WsClockWait *w = &g_array_index(r->wait, WsClockWait, i);
        if (w->agent == agent && g_strcmp0(p->op[w->op]->label, label) == 0)
            sum += (double)w->exposed;
    }
    return sum / (double)MAX(r->played, 1);
}

/* The wait that shrinks most. */
static char *reason_of(const WsClockResult *before, const WsProgram *p, const WsClockResult *after,
                       const WsProgram *q)
{
    double most = 0.005, from = 0, to = 0;
    const WsClockWait *best = NULL;
    for (guint i = 0; i < before->wait->len; i++) {
        const WsClockWait *w = &g_array_index(before->wait, WsClockWait, i);
        if (w->agent >= q->n_agents || p->agent[w->agent].role == WS_ROLE_PRODUCER)
            continue;
        double x = exposed_share(before, p, w->agent, p->op[w->op]->label);
        double y = exposed_share(after, q, w->agent, p->op[w->op]->label);
        if (x - y > most) {
            most = x - y;
            from = x;
            to = y;
            best = w;
        }
    }
    if (!best && (isnan(after->tile_period) || isnan(before->tile_period))) /* a CTA had one tile */
        return ws_phrase("%" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT " cycles in all",
                         after->cycles, before->cycles);
    if (!best)
        return ws_phrase("%.0f instead of %.0f cycles a tile", after->tile_period,
                         before->tile_period);
    return ws_phrase("%s in %s stalls %.1f %% of the time, then %.1f %%",
                     p->op[best->op]->label ? p->op[best->op]->label : step_of(p, best->op),
                     p->agent[best->agent].name, 100 * from, 100 * to);
}

WsProgram *ws_trial_play(const WsTrialOf *of, const WsDesign *design, guint tiles,
                         WsClockResult **result, gboolean *stuck)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate_bare(design, findings);
    *result = NULL;
    *stuck = FALSE;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return NULL;
    g_autoptr(WsLaunchValues) v = launch_like(p, of->p, of->v);
    if (!v || !same_meaning(of->p, of->v, p, v))
        return NULL;
    const WsTrialWork was = of->work ? *of->work : ws_trial_work(of->p, of->v);
    if (!same_work(was, ws_trial_work(p, v)))
        return NULL;
    const WsClockOptions options = { .tiles = tiles, .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, of->m, &options, findings);
    *stuck = ws_findings_count(findings, WS_SEVERITY_ERROR) > 0;
    if (!r || *stuck)
        return NULL;
    *result = g_steal_pointer(&r);
    return g_steal_pointer(&p);
}

gint64 ws_trial_cycles(const WsTrialOf *of, const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsLaunchValues) v = launch_like(p, of->p, of->v);
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = v ? ws_clock_run(p, v, of->m, &options, findings) : NULL;
    return r && !ws_findings_count(findings, WS_SEVERITY_ERROR) ? r->cycles : 0;
}

WsCritical *ws_trial_critical(const WsTrialOf *of, const WsDesign *design, guint tiles)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate_bare(design, findings);
    g_autoptr(WsLaunchValues) v = p ? launch_like(p, of->p, of->v) : NULL;
    const WsClockOptions options = { .tiles = tiles, .no_trace = TRUE, .events = WS_CLOCK_EVENTS };
    g_autoptr(WsClockResult) r = v ? ws_clock_run(p, v, of->m, &options, findings) : NULL;
    return r ? ws_critical_new(p, r) : NULL;
}

WsFloor ws_trial_floor(const WsTrialOf *of, const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate_bare(design, findings);
    g_autoptr(WsLaunchValues) v = p ? launch_like(p, of->p, of->v) : NULL;
    return v ? ws_floor_of(p, v, of->m, 0) : (WsFloor){ 0, NULL };
}

char *ws_trial_round(const WsTrialOf *of, const WsDesign *design)
{
    gboolean stuck;
    g_autoptr(WsClockResult) r = NULL;
    g_autoptr(WsProgram) p = ws_trial_play(of, design, 0, &r, &stuck);
    const WsRound round = p ? ws_round_of(p, r, of->m) : (WsRound){ NULL, NULL, 0, 0, NULL };
    return round.agent && round.loop
               ? g_strdup_printf(
                     "a round of %s in %s takes %.0f cycles; the %s works %.0f of them, "
                     "and no order of these steps takes less",
                     round.loop, round.agent, round.period, round.unit, round.least)
               : NULL;
}

/* NULL: it does not fit, or computes something else. */
static Timed *time_candidate(const WsTrial *trial, WsCandidate *c, const WsClockResult *before,
                             gboolean *stuck)
{
    const WsTrialOf of = { trial->p, trial->v, trial->m, NULL };
    g_autoptr(WsClockResult) r = NULL;
    g_autoptr(WsProgram) p = ws_trial_play(&of, c->design, 0, &r, stuck);
    if (!p)
        return NULL;
    Timed *t = g_new0(Timed, 1);
    t->c = c;
    t->cycles = r->cycles;
    t->why = reason_of(before, trial->p, r, p);
    t->p = g_steal_pointer(&p);
    return t;
}

static gint by_cycles(gconstpointer pa, gconstpointer pb)
{
    const Timed *a = *(Timed *const *)pa, *b = *(Timed *const *)pb;
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles ? -1 : 1;
    return strcmp(a->c->title, b->c->title);
}

WsVerdictKind ws_trial_judge(const WsProgram *p, const gint *cancel)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsCheckOptions options = { .max_work = CHECK_WORK,
                                     .verdict_only = TRUE,
                                     .kind_only = TRUE,
                                     .cancel = cancel };
    g_autoptr(WsVerdict) verdict = ws_check(p, &options, findings);
    if (ws_findings_count(findings, WS_SEVERITY_ERROR))
        return WS_VERDICT_REFUTED;
    return verdict->kind;
}

static void list_edit(WsNext *n, Timed *t, gint64 before, WsVerdictKind verdict)
{
    WsNextEdit *e = g_new0(WsNextEdit, 1);
    e->title = g_strdup(t->c->title);
    e->words = g_strdup(t->c->words);
    e->why = g_steal_pointer(&t->why);
    e->step = g_strdup(t->c->step);
    e->edits = g_ptr_array_ref(t->c->edits);
    e->cycles_before = before;
    e->cycles_after = t->cycles;
    e->gain = (double)before / (double)MAX(t->cycles, 1) - 1;
    e->proved = verdict == WS_VERDICT_PROVED;
    g_ptr_array_add(n->edit, e);
}

gboolean ws_trial_run(const WsTrial *trial, GPtrArray *candidates, WsNext *n)
{
    g_autoptr(GPtrArray) timed = g_ptr_array_new_with_free_func(timed_free);
    guint most = trial->options && trial->options->max_tried ? trial->options->max_tried : 200;
    guint listed = trial->options && trial->options->max_edits ? trial->options->max_edits : 8;
    gint64 before = n->predicted->cycles;
    for (guint i = 0; i < candidates->len && i < most; i++) {
        gboolean stuck = FALSE;
        if (cancelled(trial))
            return FALSE;
        Timed *t = time_candidate(trial, candidates->pdata[i], n->predicted, &stuck);
        n->tried++;
        n->refuted += stuck;
        n->unfit += !t && !stuck;
        if (t && (double)before / (double)MAX(t->cycles, 1) - 1 >= LEAST_GAIN)
            g_ptr_array_add(timed, t);
        else if (t)
            timed_free(t);
    }
    g_ptr_array_sort(timed, by_cycles);
    for (guint i = 0; i < timed->len && n->edit->len < listed; i++) {
        Timed *t = timed->pdata[i];
        if (cancelled(trial))
            return FALSE;
        WsVerdictKind verdict =
            ws_trial_judge(t->p, trial->options ? trial->options->cancel : NULL);
        if (verdict == WS_VERDICT_REFUTED)
            n->refuted++;
        else
            list_edit(n, t, before, verdict);
    }
    return !cancelled(trial);
}
