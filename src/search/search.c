/* Beam search over edits. */
#include "search/search.h"
#include "base/phrase.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/pressure.h"
#include "program/program.h"
#include "search/front.h"
#include "search/normal.h"
#include "search/tried.h"

#include <string.h>
#include <time.h>

#define TELL  32 /* after so many edits, too */
#define WHOLE 4  /* so many for each place of the beam are played whole */

typedef struct {
    const WsTrialOf *of;
    const WsSearchOptions *o;
    WsSearch *s;
    WsFindings *findings;
    gboolean unsaved;      /* what is kept could not be written, which has been said */
    GHashTable *seen;      /* ws_design_sum() of designs */
    GHashTable *constants; /* as text -> 1: their values are right, 2: they are not */
    GHashTable *built;     /* ws_search_computing -> 1: it builds, 2: it does not */
    GPtrArray *all;        /* WsFound*: proved, in the order of being found */
    GRand *rand;
    double begun;
} Run;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static guint asks(const Run *run)
{
    return run->o->asks ? run->o->asks : 8;
}

static gboolean is_over(Run *run)
{
    const double most = run->o->seconds > 0 ? run->o->seconds : 60;
    run->s->stopped = run->s->stopped || seconds() - run->begun >= most ||
                      (run->o->cancel && g_atomic_int_get(run->o->cancel));
    return run->s->stopped;
}

static WsFound *found_copy(const WsFound *f)
{
    WsFound *copy = g_new0(WsFound, 1);
    *copy = *f;
    copy->design = ws_design_ref(f->design);
    copy->decision = g_ptr_array_ref(f->decision);
    copy->words = g_ptr_array_ref(f->words);
    copy->after = g_array_ref(f->after);
    return copy;
}

static GPtrArray *texts_and(const GPtrArray *before, char *text)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < before->len; i++)
        g_ptr_array_add(list, g_strdup(before->pdata[i]));
    g_ptr_array_add(list, text);
    return list;
}

/* What was decided for the parent, and one more. */
static void decide(WsFound *f, const WsFound *parent, const WsCandidate *c, gboolean rolled)
{
    char *words =
        rolled ? ws_phrase("%s; what runs ahead at the end of a loop now begins it", c->words)
               : g_strdup(c->words);
    f->decision = texts_and(parent->decision, ws_phrase_text(words, NULL, NULL));
    f->words = texts_and(parent->words, words);
    f->after = g_array_copy(parent->after);
}

/* FALSE: somebody came to a design of this text before. */
static gboolean is_new(Run *run, const WsDesign *design)
{
    const guint64 sum = ws_design_sum(design);
    return g_hash_table_add(run->seen, g_memdup2(&sum, sizeof sum));
}

/* Under which it is kept; NULL: nothing is. Caller frees. */
static char *sum_of(const Run *run, const WsDesign *design)
{
    g_autofree char *text = run->o->kept ? ws_design_print(design) : NULL;
    return text ? g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1) : NULL;
}

/* All that it changes is when steps happen on which the parent's time does not hang. */
static gboolean is_idle(const WsCandidate *c, const WsCritical *critical)
{
    gboolean on = !critical || !c->moved;
    for (guint i = 0; !on && i < c->moved->len; i++)
        on = ws_critical_has(critical, c->moved->pdata[i]);
    return !on;
}

static void try_candidate(Run *run, const WsFound *parent, const WsCandidate *c,
                          const WsCritical *critical, GPtrArray *played)
{
    WsSearch *s = run->s;
    gboolean rolled;
    s->tried++;
    if (is_idle(c, critical)) {
        s->idle++;
        return;
    }
    g_autoptr(WsDesign) design = ws_search_normal(c->design, &rolled);
    if (!is_new(run, design)) {
        s->repeated++;
        return;
    }
    WsTried *one = ws_tried_new(run->of, run->o->kept, design, sum_of(run, design), s);
    if (!one)
        return;
    one->found->reorders = parent->reorders || c->reorders;
    decide(one->found, parent, c, rolled);
    one->moved = c->reorders;
    one->order = g_rand_int(run->rand);
    g_ptr_array_add(played, one);
}

static gint by_cycles(gconstpointer pa, gconstpointer pb)
{
    const WsTried *a = *(WsTried *const *)pa, *b = *(WsTried *const *)pb;
    if (a->hopeful != b->hopeful)
        return a->hopeful ? -1 : 1;
    if (a->found->cycles != b->found->cycles)
        return a->found->cycles < b->found->cycles ? -1 : 1;
    if (a->found->shared != b->found->shared)
        return a->found->shared < b->found->shared ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Of the places of a beam, so many are for the fastest in which the last edit moved what computes:
 * a product in another round is slower until the waits around it have followed. */
static guint patient_places(guint beam)
{
    return beam / 3;
}

/* Designs of the same time are mostly the same schedule, written in another order: one is enough.
 */
static gboolean is_alike(const GPtrArray *kept, const WsFound *f)
{
    for (guint i = 0; i < kept->len; i++) {
        const WsFound *k = kept->pdata[i];
        if (k->cycles == f->cycles && k->shared == f->shared)
            return TRUE;
    }
    return FALSE;
}

static gboolean is_proved(Run *run, WsTried *one)
{
    const WsKeptVerdict verdict = ws_tried_judge(run->o->kept, one, run->o->cancel);
    run->s->refuted += verdict == WS_KEPT_REFUTED;
    run->s->undecided += verdict == WS_KEPT_OTHER;
    return verdict == WS_KEPT_PROVED;
}

/* An order that nobody was asked about is kept: what is returned is asked about in the end. */
static gboolean is_built(Run *run, WsTried *one)
{
    if (!run->o->builds)
        return TRUE;
    const WsProgram *p = ws_tried_program(one);
    g_autofree char *how = p ? ws_search_computing(p) : NULL;
    if (!how)
        return FALSE;
    gint known = GPOINTER_TO_INT(g_hash_table_lookup(run->built, how));
    if (!known && g_hash_table_size(run->built) < asks(run)) {
        const double before = seconds();
        g_autoptr(WsFindings) ignored = ws_findings_new();
        g_autoptr(WsProgram) full = ws_elaborate(one->found->design, NULL, 0, ignored);
        known = full && run->o->builds(full, run->o->data) ? 1 : 2;
        run->begun += seconds() - before;
        g_hash_table_insert(run->built, g_strdup(how), GINT_TO_POINTER(known));
    }
    run->s->unbuilt += known == 2;
    return known != 2;
}

static char *constants_of(const WsDesign *design)
{
    const WsValue *map = ws_node_get(ws_design_root(design), WS_F_constants);
    GString *text = g_string_new(NULL);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++) {
        g_autofree char *value = ws_expr_print(map->item[i].expr);
        g_string_append_printf(text, "%s=%s;", map->key[i], value);
    }
    return g_string_free(text, FALSE);
}

static gboolean has_values(Run *run, const WsTried *one)
{
    if (!run->o->values)
        return TRUE;
    g_autofree char *constants = constants_of(one->found->design);
    gint known = GPOINTER_TO_INT(g_hash_table_lookup(run->constants, constants));
    if (!known) {
        const double before = seconds();
        known = run->o->values(one->found->design, run->o->data) ? 1 : 2;
        run->begun += seconds() - before;
        g_hash_table_insert(run->constants, g_strdup(constants), GINT_TO_POINTER(known));
    }
    run->s->rejected += known == 2;
    return known != 2;
}

static void play_one(Run *run, WsTried *one)
{
    ws_tried_whole(run->of, run->o->kept, one);
}

static void keep_found(Run *run, WsFound *f)
{
    g_ptr_array_add(run->all, f);
    if (run->o->proved)
        run->o->proved(f, run->o->data);
}

static void keep(Run *run, GPtrArray *played, gboolean moved, guint places, GPtrArray *kept)
{
    const guint most = kept->len + places;
    for (guint i = 0; i < played->len && kept->len < most && !is_over(run); i++) {
        WsTried *one = played->pdata[i];
        if (!one->found || (moved && !one->moved) || is_alike(kept, one->found) ||
            !is_proved(run, one) || !has_values(run, one) || !is_built(run, one))
            continue;
        play_one(run, one);
        if (one->found->cycles <= 0 || is_alike(kept, one->found))
            continue;
        const WsProgram *p = ws_tried_program(one);
        one->found->registers = p ? ws_program_planned_registers(p) : 0;
        g_array_append_val(one->found->after, one->found->cycles);
        keep_found(run, one->found);
        g_ptr_array_add(kept, one->found);
        one->found = NULL;
    }
}

/* Plays the most promising whole: the first `most` of them that differ in time or space. Those
 * alike are taken for equal until one of them is kept; the others come after them, by the time of
 * their first tiles. */
static void play_whole(Run *run, GPtrArray *played, gboolean moved, guint most)
{
    const WsTried *before = NULL;
    for (guint i = 0, n = 0; i < played->len && !is_over(run); i++) {
        WsTried *one = played->pdata[i];
        if (moved && !one->moved)
            continue;
        if (before && before->first == one->first && before->found->shared == one->found->shared) {
            one->found->cycles = before->found->cycles; /* until it is kept */
            one->hopeful = TRUE;
            continue;
        }
        if (n++ == most)
            break;
        play_one(run, one);
        one->hopeful = TRUE;
        before = one;
    }
}

/* The fastest that the check proves are the next round's designs. A refuted design may be on the
 * way to a right one, but whoever stands on it stands on nothing: it is left. */
static GPtrArray *judge(Run *run, GPtrArray *played, guint beam)
{
    GPtrArray *kept = g_ptr_array_new();
    g_ptr_array_sort(played, by_cycles);
    play_whole(run, played, FALSE, WHOLE * beam);
    play_whole(run, played, TRUE, WHOLE * patient_places(beam));
    g_ptr_array_sort(played, by_cycles);
    keep(run, played, FALSE, beam - patient_places(beam), kept);
    keep(run, played, TRUE, patient_places(beam), kept);
    return kept;
}

static const WsFound *best_of(const Run *run)
{
    const WsFound *best = run->all->pdata[0];
    for (guint i = 1; i < run->all->len; i++) {
        const WsFound *f = run->all->pdata[i];
        if (f->cycles < best->cycles)
            best = f;
    }
    return best;
}

static void tell(const Run *run)
{
    if (run->o->progress)
        run->o->progress(best_of(run), run->s->tried, run->o->data);
}

/* One more edit on each design of the beam. FALSE: there is nothing new. */
static gboolean next_round(Run *run, GPtrArray **beam)
{
    g_autoptr(GPtrArray) played = g_ptr_array_new_with_free_func(ws_tried_free);
    for (guint i = 0; i < (*beam)->len; i++) {
        const WsFound *parent = (*beam)->pdata[i];
        g_autoptr(GPtrArray) list = ws_candidates_deep(parent->design);
        g_autoptr(WsCritical) critical =
            run->o->every ? NULL : ws_trial_critical(run->of, parent->design, WS_ROUGH_TILES);
        for (guint k = 0; k < list->len && !is_over(run); k++) {
            try_candidate(run, parent, list->pdata[k], critical, played);
            if (run->s->tried % TELL == 0)
                tell(run);
        }
    }
    GPtrArray *kept = judge(run, played, run->o->beam ? run->o->beam : 6);
    g_ptr_array_unref(*beam);
    *beam = kept;
    tell(run);
    return kept->len > 0 && !run->s->stopped;
}

static gboolean accepted(Run *run, const WsFound *f, guint *asked)
{
    if (!run->o->accept || !f->decision->len)
        return TRUE;
    if (*asked >= asks(run))
        return FALSE;
    ++*asked;
    const gboolean yes = run->o->accept(f, run->o->data);
    run->s->rejected += !yes;
    return yes;
}

/* What is returned is proved and played by this program, not by the one that kept it. */
static gboolean still_holds(Run *run, const WsFound *f)
{
    g_autoptr(WsFindings) ignored = ws_findings_new();
    if (!run->o->kept || !f->decision->len)
        return TRUE;
    g_autoptr(WsProgram) p = ws_elaborate(f->design, NULL, 0, ignored);
    const gint64 cycles = p ? ws_trial_cycles(run->of, p) : 0;
    if (cycles == f->cycles && ws_trial_judge(p, NULL) == WS_VERDICT_PROVED)
        return TRUE;
    ws_findings_add(run->findings, WS_RULE_F_CLOCK, "groups",
                    "what was kept of an earlier search is of another clock or check: a design "
                    "that it holds as proved with %" G_GINT64_FORMAT
                    " cycles takes %" G_GINT64_FORMAT " or is not proved; delete what was kept",
                    f->cycles, cycles);
    return FALSE;
}

/* Of what was found, those that nothing else beats in cycles, shared memory, registers and, as far
 * as the clock can tell cycles, number of edits: an edit that gains nothing measurable may lose. */
static gboolean keep_front(Run *run)
{
    guint asked = 0, fewest = G_MAXUINT / 4;
    ws_front_order(run->all, run->of, run->o->jitter);
    for (guint i = 0; i < run->all->len; i++) {
        const WsFound *f = run->all->pdata[i];
        const WsFound *best = run->s->found->len ? run->s->found->pdata[0] : f;
        /* A third fewer: many differ by an edit or two. */
        const gboolean plainer =
            3 * f->decision->len < 2 * fewest && ws_front_as_fast(f->cycles, best->cycles);
        if (ws_front_beaten(run->s->found, f) && !plainer)
            continue;
        if (!still_holds(run, f))
            return FALSE;
        if (!accepted(run, f, &asked))
            continue;
        WsFound *copy = found_copy(f);
        copy->floor = ws_trial_floor(run->of, f->design);
        g_ptr_array_add(run->s->found, copy);
        fewest = MIN(fewest, f->decision->len);
    }
    return TRUE;
}

static gboolean begin(Run *run, const WsDesign *design, WsFindings *findings)
{
    gboolean stuck = FALSE;
    g_autoptr(WsClockResult) r = NULL;
    g_autoptr(WsProgram) p = ws_trial_play(run->of, design, 0, &r, &stuck);
    if (!p) {
        ws_findings_add(findings, WS_RULE_F_CLOCK, "groups", "the design cannot be simulated");
        return FALSE;
    }
    if (ws_trial_judge(p, NULL) != WS_VERDICT_PROVED) {
        ws_findings_add(findings, WS_RULE_F_CLOCK, "groups",
                        "the search begins from a proved design, and the check does not prove this "
                        "one; run `warpstave check` first");
        return FALSE;
    }
    if (r->cycles <= 0) {
        ws_findings_add(findings, WS_RULE_F_CLOCK, "groups",
                        "the launch has no tile: there is nothing to make faster");
        return FALSE;
    }
    WsFound *f = g_new0(WsFound, 1);
    *f = (WsFound){ .design = ws_design_ref(design),
                    .decision = g_ptr_array_new_with_free_func(g_free),
                    .words = g_ptr_array_new_with_free_func(g_free),
                    .after = g_array_new(FALSE, FALSE, sizeof(gint64)),
                    .cycles = r->cycles,
                    .shared = p->shared_bytes,
                    .registers = ws_program_planned_registers(p) };
    keep_found(run, f);
    run->s->cycles = r->cycles;
    is_new(run, design);
    g_hash_table_insert(run->constants, constants_of(design), GINT_TO_POINTER(1));
    return TRUE;
}

static void save(Run *run)
{
    g_autoptr(GError) error = NULL;
    if (run->o->kept && !run->unsaved && !ws_kept_save(run->o->kept, &error)) {
        run->unsaved = TRUE;
        ws_findings_add(run->findings, WS_RULE_F_CLOCK, "groups", "%s", error->message);
    }
}

WsSearch *ws_search_new(const WsTrialOf *of, const WsDesign *design, const WsSearchOptions *options,
                        WsFindings *findings)
{
    static const WsSearchOptions defaults;
    g_autoptr(WsSearch) s = g_new0(WsSearch, 1);
    s->found = g_ptr_array_new_with_free_func(ws_found_free);
    const WsTrialWork work = ws_trial_work(of->p, of->v);
    const WsTrialOf known = { of->p, of->v, of->m, &work };
    Run run = { .of = &known,
                .o = options ? options : &defaults,
                .s = s,
                .findings = findings,
                .seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .built = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .constants = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .all = g_ptr_array_new_with_free_func(ws_found_free),
                .begun = seconds() };
    run.rand = g_rand_new_with_seed((guint32)(run.o->seed ^ run.o->seed >> 32));
    const gboolean begun = begin(&run, design, findings);
    GPtrArray *beam = g_ptr_array_new();
    if (begun)
        g_ptr_array_add(beam, run.all->pdata[0]);
    const guint rounds = run.o->rounds ? run.o->rounds : 12;
    while (begun && s->rounds < rounds && next_round(&run, &beam)) {
        s->rounds++;
        save(&run);
    }
    s->seconds = seconds() - run.begun;
    if (begun)
        save(&run);
    const gboolean good = begun && keep_front(&run);
    g_ptr_array_unref(beam);
    s->proved = run.all;
    g_hash_table_destroy(run.seen);
    g_hash_table_destroy(run.constants);
    g_hash_table_destroy(run.built);
    g_rand_free(run.rand);
    return good ? g_steal_pointer(&s) : NULL;
}

void ws_search_free(WsSearch *s)
{
    if (!s)
        return;
    g_ptr_array_unref(s->found);
    g_clear_pointer(&s->proved, g_ptr_array_unref);
    g_free(s);
}
