/* The check as a whole: budgets, cases, plays, verdict. */
#include "check/between.h"
#include "check/global/judge.h"
#include "check/mesh/judge.h"
#include "check/no_launch.h"
#include "check/order.h"
#include "check/own_words.h"
#include "check/play/case_at.h"
#include "check/proof/certificate.h"
#include "check/proof/raw_text.h"
#include "check/prove.h"
#include "check/touch.h"
#include "check/verdict.h"
#include "check/weakest.h"
#include "model/design.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/refusal.h"
#include "program/walk/depends.h"
#include "target/target.h"

#include <string.h>

static void play_case(WsPlay *play, WsVerdict *v, const WsCase *c, WsSchedule schedule)
{
    ws_play_run(play, c, schedule);
    WsPlayed played = { c->rounds, c->tiles, schedule, c->mixed, g_strdup(c->sizes), play->ops };
    g_array_append_val(v->played, played);
    v->ops += play->ops;
}

/* --- limits --------------------------------------------------------------------------------- */
#define WEAKEST_WORK ((guint64)8 << 20)

static void does(const WsCheckOptions *o, WsCheckPart part)
{
    if (o->progress)
        g_atomic_int_set(&o->progress->part, (gint)part);
}

static gboolean cancelled(const WsCheckOptions *o)
{
    return o->cancel && g_atomic_int_get(o->cancel);
}

/* Plays that take too many steps are broken off between two cases; the verdict is the proof's. */
static gboolean goes_on(const WsPlay *play, const WsCheckOptions *o, guint64 work)
{
    return !play->errors && !play->outside && !cancelled(o) && work < ws_prove_work(o);
}

/* An operation of the play goes over what everybody knows; a round that does nothing asks its
 * conditions. */
static guint64 work_of(const WsPlay *play)
{
    return play->ops * (64 + 2 * play->n_comps) + 16 * play->walked;
}

/* Slots of mbarriers of a whole cluster. The play keeps for each what is known of every other one:
 * memory grows with the square. */
enum { MOST_SLOTS = 2048 };

static guint64 n_slots(const WsProgram *p)
{
    guint64 n = 0;
    for (guint b = 0; b < p->n_barriers; b++)
        if (p->barrier[b].kind == WS_BARRIER_MBARRIER)
            n += (guint64)MAX(p->barrier[b].array, 1) * MAX(p->barrier[b].slots, 1);
    return n * MAX(p->cluster, 1);
}

/* The first operation of an agent that the check does not understand. */
static const WsOp *unknown_op(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && ws_op_row(p->op[i]->kind)->check == WS_CHECK_OUTSIDE)
            return p->op[i];
    return NULL;
}

/* Why there is no verdict on a program, NULL if there is one; the caller frees it. */
static char *outside_reason(const WsProgram *p)
{
    const WsOp *unknown = unknown_op(p);
    char *refusal = ws_program_refusal(p, WS_LENS_CHECK);
    if (refusal)
        return refusal;
    if (unknown)
        return ws_phrase("operation %s at %s is not in the check", ws_op_kind_text(unknown->kind),
                         unknown->id);
    if (p->n_agents == 0)
        return ws_phrase("it has no agent");
    if (n_slots(p) > MOST_SLOTS)
        return ws_phrase("it has more than 2048 slots of mbarriers");
    return NULL;
}

/* Cases with all data that are worth it. */
static void play_with_data(WsPlay *play, const WsCheckOptions *o, WsVerdict *v, GPtrArray *cases,
                           const GArray *data, guint64 *work)
{
    for (guint d = 0; d < data->len; d++)
        for (guint i = 0; i < cases->len && goes_on(play, o, *work); i++) {
            WsCase *c = cases->pdata[i];
            if (d > 0 &&
                (c->chosen || !ws_case_with_data(play->p, c, &g_array_index(data, WsCaseData, d))))
                continue;
            play_case(play, v, c, WS_SCHEDULE_FORWARD);
            *work += work_of(play);
            play->outside = FALSE; /* one that cannot be played says nothing about the others */
        }
}

enum { MOST_TILES = 32, MANY_TILES = 9, FEW_TILES = 3 };

/* A launch in which the answers of an alarm hold, then its rounds and tiles with some data.
 * `missed` (caller frees): what holds in no launch that was found; NULL: nothing. */
static void play_alarm(WsPlay *play, const WsCheckOptions *o, const WsProof *alarm, WsVerdict *v,
                       const GArray *data, guint64 *work, char **missed)
{
    const WsProgram *p = play->p;
    g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    const guint few = ws_has_integer_tensor(p) ? FEW_TILES : 1, tiles = MAX(alarm->tiles, 1);
    for (guint i = 0; i < alarm->rounds->len; i++)
        for (gint64 d = -1; d <= 1; d++) {
            gint64 r = g_array_index(alarm->rounds, gint64, i) + d;
            g_array_append_val(rounds, r);
        }
    g_autoptr(WsCase) first =
        alarm->told && tiles <= MOST_TILES ? ws_case_told(p, alarm->told, tiles, missed) : NULL;
    if (first)
        play_case(play, v, first, WS_SCHEDULE_FORWARD);
    play->outside = FALSE;
    if (!goes_on(play, o, *work))
        return;
    g_autoptr(GPtrArray) cases = ws_cases(p, CLAMP(alarm->tiles, few, MANY_TILES), rounds, skipped);
    play_with_data(play, o, v, cases, data, work);
}

/* Findings of further plays, but for those that have been made, and for what could not be played.
 */
static void add_new(WsFindings *to, WsFindings *from)
{
    while (from->list->len) {
        WsFinding *f = g_ptr_array_steal_index(from->list, 0);
        gboolean made = f->rule == WS_RULE_F_PLAY; /* the verdict says why there is none */
        for (guint i = 0; i < to->list->len && !made; i++) {
            const WsFinding *g = to->list->pdata[i];
            made = g->rule == f->rule && g_strcmp0(g->at, f->at) == 0;
        }
        g_ptr_array_add(made ? from->list : to->list, f);
        if (made)
            g_ptr_array_remove_index(from->list, from->list->len - 1);
    }
}

/* Plays what an alarm says, then further launches; TRUE: something is wrong in one of them. */
static gboolean replay(const WsProgram *p, const WsCheckOptions *o, const WsProof *proof,
                       WsVerdict *v, WsFindings *findings, char **missed)
{
    g_autoptr(GArray) data = ws_case_data(p);
    g_autoptr(WsFindings) said = ws_findings_new();
    WsPlay *play = ws_play_new(p, said, 8);
    guint64 work = 0;
    play->max_ops = 500000;
    play->cancel = o->cancel;
    play->in_step = o->in_step;
    if (proof->kind == WS_PROOF_ALARM)
        play_alarm(play, o, proof, v, data, &work, missed);
    /* what raw steps do is not known: the launches that were played are all there is to say */
    if (goes_on(play, o, work) && !p->has_raw) {
        /* a later position than the alarm's may be the one that a launch has */
        const guint most = CLAMP(proof->tiles + FEW_TILES, FEW_TILES, MANY_TILES + FEW_TILES);
        g_autoptr(GPtrArray) cases = ws_cases_beyond(p, most);
        play_with_data(play, o, v, cases, data, &work);
    }
    gboolean refuted = play->errors > 0;
    v->work += work;
    ws_play_free(play);
    add_new(findings, said);
    return refuted;
}

/* --- the proof -------------------------------------------------------------------------------- */
static void tell_proof(WsVerdict *v, WsProof *proof)
{
    v->kind = WS_VERDICT_PROVED;
    v->proof = ws_proof_text(proof->names);
    g_ptr_array_unref(v->names);
    v->names = g_ptr_array_ref(proof->names);
}

/* The proof once more, with states as they are and all told. What closes only where nothing is
 * merged is told so. */
static void certify(const WsProgram *p, const WsBitOptions *options, WsVerdict *v)
{
    if (p->hardware->core) {
        v->uncertified =
            ws_phrase("certificates have no form for flags between queues (target %s)", p->target);
        return;
    }
    WsCertificate *c = ws_certificate_new();
    WsBitOptions o = *options;
    o.certificate = c;
    o.max_states = 4 * o.max_states;
    o.max_work = 4 * o.max_work;
    WsProof *proof = ws_bits_prove(p, &o);
    if (proof->kind == WS_PROOF_ALARM) {
        ws_proof_free(proof);
        o.exact = TRUE;
        proof = ws_bits_prove(p, &o);
    }
    v->certificate = g_steal_pointer(&proof->certificate);
    if (!v->certificate)
        v->uncertified = proof->kind == WS_PROOF_CAP && !proof->leads
                             ? ws_phrase_text(proof->why, NULL, NULL)
                             : g_strdup("the proof needs rules that certificates have no form for");
    ws_proof_free(proof);
    ws_certificate_free(c);
}

/* Nothing found in the play, and no proof: what the play of an alarm's counts confirms is refuted.
 * What it does not confirm stays open: symbols may go together in a way that nobody has said. */
static void judge_alarm(const WsProgram *p, const WsCheckOptions *o, const WsProof *proof,
                        WsVerdict *v, WsFindings *findings)
{
    gboolean path = proof->path && *proof->path;
    g_autofree char *missed = NULL;
    if (replay(p, o, proof, v, findings, &missed)) {
        v->kind = WS_VERDICT_REFUTED;
        return;
    }
    v->kind = WS_VERDICT_OUTSIDE;
    if (proof->kind != WS_PROOF_ALARM)
        v->reason = g_strdup(proof->why);
    else if (missed)
        v->reason = ws_phrase(
            "%s%s%s could happen, but no launch was found that has %s; expressions of the "
            "same sizes count as independent: give what they share one name under `let`, "
            "and use it in each",
            proof->why, path ? WS_WORD(" where ") : "", path ? proof->path : "", missed);
    else
        v->reason = ws_phrase("%s%s%s could happen, and no launch was found that shows it",
                              proof->why, path ? WS_WORD(" where ") : "", path ? proof->path : "");
    if (proof->again && !missed) {
        g_autofree char *reason = g_steal_pointer(&v->reason);
        v->reason = ws_phrase("%s: %s", reason, proof->again);
    }
}

/* --- all cases -------------------------------------------------------------------------------- */
/* Plays the cases; of a proved program only the smallest and the largest, for warnings. */
static void play_all(WsPlay *play, const GPtrArray *cases, const WsCheckOptions *o, WsVerdict *v,
                     gboolean proved)
{
    guint schedules = o->schedules ? MIN(o->schedules, WS_SCHEDULE_COUNT) : WS_SCHEDULE_COUNT;
    guint heaviest = 0;
    guint64 work = 0;
    for (guint i = 0; i < cases->len; i++)
        heaviest = MAX(heaviest, ((WsCase *)cases->pdata[i])->weight);
    /* Small cases come first and the first one that fails ends the play: the witness is small. */
    for (guint i = 0; i < cases->len && goes_on(play, o, work); i++)
        if (!proved || i == 0 || ((WsCase *)cases->pdata[i])->weight == heaviest) {
            play_case(play, v, cases->pdata[i], WS_SCHEDULE_FORWARD);
            work += work_of(play);
        }
    for (guint i = 0; i < cases->len && (!proved || o->schedules); i++)
        for (guint s = 1; s < schedules && goes_on(play, o, work); s++)
            if (((WsCase *)cases->pdata[i])->weight == heaviest || o->schedules) {
                play_case(play, v, cases->pdata[i], (WsSchedule)s);
                work += work_of(play);
            }
    v->work += work;
    if (work >= ws_prove_work(o))
        g_ptr_array_add(v->skipped, ws_phrase("the simulation took too many steps: larger cases"));
}

/* What the policy makes an error of. */
static guint promote(const WsCheckOptions *o, WsFindings *findings)
{
    guint n = 0;
    for (guint i = 0; i < findings->list->len; i++) {
        WsFinding *f = findings->list->pdata[i];
        if ((f->rule == WS_RULE_P_PROXY_WAR && o->policy & WS_POLICY_WAR) ||
            (f->rule == WS_RULE_P_PROXY_GATHER && o->policy & WS_POLICY_GATHER)) {
            f->severity = WS_SEVERITY_ERROR;
            n++;
        }
    }
    return n;
}

/* The largest step of a loop over tiles: as many agents take turns at them. */
static gint64 turns_at(const WsTree *t)
{
    gint64 step = 1, most = 1;
    if (t && t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES && t->step_by &&
        ws_expr_is_int(t->step_by, &step))
        most = MAX(step, 1);
    for (guint i = 0; t && i < t->n_kids; i++) {
        const gint64 inner = turns_at(t->kid[i]);
        most = MAX(most, inner);
    }
    return most;
}

/* Where turns may drift, agents that take turns at tiles have three of their own in the largest
 * case.
 */
static guint most_tiles(const WsProgram *p, gboolean drifts)
{
    gint64 turns = 1;
    for (guint a = 0; a < p->n_agents && drifts; a++) {
        const gint64 own = turns_at(p->agent[a].body);
        turns = MAX(turns, own);
    }
    return (guint)MIN(FEW_TILES * turns, MANY_TILES);
}

static void play_program(const WsProgram *p, const WsCheckOptions *o, WsVerdict *v,
                         WsFindings *findings, gboolean drifts)
{
    gboolean proved = v->kind == WS_VERDICT_PROVED;
    GPtrArray *cases =
        ws_cases(p, o->max_tiles ? o->max_tiles : most_tiles(p, drifts), NULL, v->skipped);
    WsPlay *play = ws_play_new(p, findings, o->max_findings ? o->max_findings : 8);
    play->max_ops = o->max_ops ? o->max_ops : 500000;
    play->cancel = o->cancel;
    play->in_step = o->in_step;
    play_all(play, cases, o, v, proved);
    if (promote(o, findings) || play->errors)
        v->kind = WS_VERDICT_REFUTED;
    else if (!proved && play->outside)
        v->kind = WS_VERDICT_OUTSIDE,
        v->reason = ws_phrase("the findings say what cannot be simulated");
    else if (v->played->len == 0 && !cancelled(o))
        ws_judge_no_launch(p, v, findings);
    ws_play_free(play);
    g_ptr_array_unref(cases);
}

/* --- the whole -------------------------------------------------------------------------------- */
static void prove_and_play(const WsProgram *p, const WsCheckOptions *o, WsVerdict *v,
                           WsFindings *findings)
{
    const WsBitOptions options = ws_prove_options(o);
    does(o, WS_CHECK_PROVES);
    WsProof *proof = ws_bits_prove(p, &options);
    v->work += proof->work;
    if (proof->kind == WS_PROOF_CLOSED)
        tell_proof(v, proof);
    does(o, WS_CHECK_PLAYS);
    if (!cancelled(o))
        play_program(p, o, v, findings, proof->drifts || o->foreign);
    if (v->kind == WS_VERDICT_PLAYED && !cancelled(o)) {
        does(o, WS_CHECK_PROVES);
        proof = ws_prove_exactly(p, &options, proof, &v->work);
        does(o, WS_CHECK_PLAYS);
        if (proof->kind == WS_PROOF_CLOSED)
            tell_proof(v, proof);
        else
            judge_alarm(p, o, proof, v, findings);
    }
    if (v->kind == WS_VERDICT_REFUTED && proof->kind == WS_PROOF_ALARM && !cancelled(o) &&
        !o->verdict_only) {
        does(o, WS_CHECK_WEAKENS);
        v->weakest = ws_weakest(p, proof->names, &options, WEAKEST_WORK);
    }
    if (v->kind == WS_VERDICT_PROVED && v->played->len > 0 && !o->kind_only && !cancelled(o))
        ws_judge_uncounted(p, v, findings);
    if (v->kind == WS_VERDICT_PROVED && o->certificate && !cancelled(o))
        certify(p, &options, v);
    v->states = proof->states;
    v->proof_bytes = proof->bytes;
    v->proof_seconds = proof->seconds;
    ws_proof_free(proof);
}

/* Is it found of lanes in step, too? */
static gboolean found_in_step(const WsFinding *f, gconstpointer data)
{
    const WsFindings *in_step = data;
    for (guint i = 0; i < in_step->list->len; i++) {
        const WsFinding *g = in_step->list->pdata[i];
        if (g->severity == WS_SEVERITY_ERROR && g->rule == f->rule && !g_strcmp0(g->at, f->at))
            return TRUE;
    }
    return FALSE;
}

/* L-IN-STEP: whether lanes of one warp come apart between its operations is for the compiler of a
 * foreign kernel to say. Refuted is what goes wrong all the same. */
static void judge_lanes(const WsProgram *p, const WsCheckOptions *o, WsVerdict *v,
                        WsFindings *findings)
{
    if (!o->foreign || v->kind != WS_VERDICT_REFUTED || cancelled(o))
        return;
    g_autoptr(WsFindings) in_step = ws_findings_new();
    g_autoptr(WsVerdict) other = ws_verdict_outside(NULL);
    WsCheckOptions how = *o;
    how.in_step = TRUE;
    other->kind = WS_VERDICT_PLAYED;
    prove_and_play(p, &how, other, in_step);
    const gboolean refuted = other->kind == WS_VERDICT_REFUTED;
    g_autofree char *why =
        ws_phrase("it goes wrong where lanes of one warp come apart, which is for the compiler of "
                  "this kernel to say");
    ws_verdict_limit(v, findings, refuted ? NULL : why, found_in_step, in_step);
    if (refuted) {
        v->kind = WS_VERDICT_REFUTED;
        add_new(findings, in_step);
    }
}

static gboolean is_found(const WsFindings *findings, WsRuleId rule)
{
    for (guint i = 0; i < findings->list->len; i++)
        if (((const WsFinding *)findings->list->pdata[i])->rule == rule)
            return TRUE;
    return FALSE;
}

/* What the policy leaves at a warning is taken as harmless, and said: these of WsPolicy. */
static guint taken(const WsProgram *p, const WsCheckOptions *o, WsVerdict *v,
                   const WsFindings *findings)
{
    static const struct {
        WsPolicy policy;
        WsRuleId rule;
    } row[] = { { WS_POLICY_WAR, WS_RULE_P_PROXY_WAR },
                { WS_POLICY_GATHER, WS_RULE_P_PROXY_GATHER } };
    guint seen = 0, open = v->kind == WS_VERDICT_PROVED ? ws_prove_concerned(p) & ~o->policy : 0;
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        if (v->kind == WS_VERDICT_PROVED && is_found(findings, row[i].rule))
            seen |= row[i].policy & ~o->policy;
    open &= ~seen;
    if (open == 0 || o->kind_only || cancelled(o) || ws_proved_under(p, o, open, &v->work))
        return seen;
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        if (open & row[i].policy &&
            (open == row[i].policy || !ws_proved_under(p, o, row[i].policy, &v->work)))
            seen |= row[i].policy;
    return seen;
}

/* A launch is refused if its sizes break an assumption; nobody looks at its tiles. */
static void tell_assumed(const WsProgram *p, const WsCheckOptions *o, WsVerdict *v,
                         const WsFindings *findings)
{
    const guint harmless = taken(p, o, v, findings);
    if (harmless & WS_POLICY_WAR)
        g_ptr_array_add(v->assumed, ws_phrase("plain reads that are over in order are over for the "
                                              "async proxy, too (P-WAR)"));
    if (harmless & WS_POLICY_GATHER)
        g_ptr_array_add(v->assumed, ws_phrase("the async proxy sees gathered bytes that were "
                                              "waited for (P-GATHER)"));
    for (guint i = 0; v->kind == WS_VERDICT_PROVED && i < p->n_ops; i++) {
        char *believed = ws_op_is_raw(p->op[i]->kind) ? ws_raw_believed(p, p->op[i]) : NULL;
        if (believed)
            g_ptr_array_add(v->assumed, believed);
    }
    if (p->hardware->core && v->kind == WS_VERDICT_PROVED)
        g_ptr_array_add(v->assumed, ws_phrase("a queue takes all steps that are issued before one "
                                              "of its waits ends (the depth of queues is not "
                                              "documented)"));
    for (guint i = 0; v->kind == WS_VERDICT_PROVED && i < p->n_granted; i++)
        g_ptr_array_add(v->assumed, g_strdup(p->granted[i]));
    if (v->kind == WS_VERDICT_PROVED)
        ws_between_assumed(p, v->assumed);
    g_autoptr(WsDepends) d =
        v->kind == WS_VERDICT_PROVED && p->n_assume ? ws_depends_new(p, NULL) : NULL;
    for (guint i = 0; d && i < p->n_assume; i++)
        if (ws_depends_of(d, p->assume[i]))
            g_ptr_array_add(v->assumed, ws_phrase("%s in every tile", p->assume_text[i]));
}

/* L-DIVISOR: what has no value is no number of rounds, no place, no tile. */
static void judge_divisors(const WsProgram *p, const WsCheckOptions *o, WsVerdict *v)
{
    char *reason =
        v->kind == WS_VERDICT_PROVED ? ws_global_divisors(p, o->protocol_only, v->assumed) : NULL;
    if (!reason)
        return;
    ws_verdict_drop_proof(v);
    v->kind = WS_VERDICT_OUTSIDE;
    v->reason = reason;
}

/* What the kernel writes to global memory; of a refuted one it is not asked. */
static void judge_global(const WsProgram *p, WsVerdict *v, WsFindings *findings)
{
    WsGlobalVerdict global = ws_check_global(p, findings);
    if (global.kind != WS_GLOBAL_SHOWN && v->kind == WS_VERDICT_PROVED)
        ws_verdict_drop_proof(v);
    if (global.kind == WS_GLOBAL_WRONG) {
        v->kind = WS_VERDICT_REFUTED;
    } else if (global.kind == WS_GLOBAL_OPEN && v->kind == WS_VERDICT_PROVED) {
        v->kind = WS_VERDICT_OUTSIDE;
        v->reason = g_steal_pointer(&global.reason);
    }
    if (v->kind == WS_VERDICT_PROVED)
        ws_global_narrow(p, v->assumed);
    for (guint i = 0; i < global.assumed->len; i++)
        g_ptr_array_add(v->assumed, g_strdup(global.assumed->pdata[i]));
    ws_global_verdict_clear(&global);
}

WsVerdict *ws_check(const WsProgram *p, const WsCheckOptions *options, WsFindings *findings)
{
    static const WsCheckOptions none = { 0 };
    const WsCheckOptions *o = options ? options : &none;
    gint64 start = g_get_monotonic_time();
    WsVerdict *v = ws_verdict_outside(NULL);
    v->kind = WS_VERDICT_PLAYED;
    guint before = ws_findings_count(findings, WS_SEVERITY_ERROR);
    ws_check_budgets(p, findings);
    gboolean over = ws_findings_count(findings, WS_SEVERITY_ERROR) > before;
    for (guint i = 0; over && o->foreign && i < findings->list->len; i++) {
        WsFinding *f = findings->list->pdata[i];
        if (ws_rule(f->rule)->klass == WS_CLASS_B)
            f->severity = MIN(f->severity, WS_SEVERITY_WARNING);
    }
    over = ws_findings_count(findings, WS_SEVERITY_ERROR) > before;
    g_autofree char *reason = outside_reason(p);
    if (reason) {
        WsFinding *f =
            ws_findings_add(findings, WS_RULE_F_PLAY, "target", "%s: %s", p->name, reason);
        if (p->hardware->lacks[WS_LENS_CHECK])
            ws_finding_set_remedy(f, "choose a target that the check knows: %s",
                                  ws_target_at(0)->name);
        v->kind = WS_VERDICT_OUTSIDE;
        v->reason = g_steal_pointer(&reason);
    } else if (o->play_only) {
        play_program(p, o, v, findings, FALSE);
    } else {
        prove_and_play(p, o, v, findings);
        judge_lanes(p, o, v, findings);
        judge_divisors(p, o, v);
        tell_assumed(p, o, v, findings);
        if (p->mesh && v->kind != WS_VERDICT_REFUTED && !cancelled(o))
            ws_judge_mesh(p, v, findings);
        if (v->kind != WS_VERDICT_REFUTED && !o->protocol_only && !cancelled(o))
            judge_global(p, v, findings);
    }
    if (v->kind == WS_VERDICT_PROVED)
        ws_check_order(p, v->undetermined);
    if (!o->foreign)
        ws_verdict_unread(p, v, findings);
    if (over)
        v->kind = WS_VERDICT_REFUTED;
    if (cancelled(o)) {
        v->kind = WS_VERDICT_OUTSIDE;
        g_free(v->reason);
        v->reason = g_strdup("cancelled");
    }
    v->seconds = (g_get_monotonic_time() - start) * 1e-6;
    ws_check_own_words(p, v, findings);
    return v;
}

void ws_check_locate(const WsDesign *design, WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        WsFinding *f = findings->list->pdata[i];
        const WsNode *node = f->line == 0 && f->at ? ws_design_find(design, f->at) : NULL;
        if (node)
            f->line = node->line, f->column = node->column;
    }
    ws_check_suppress(design, findings);
}
