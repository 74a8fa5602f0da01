/* The check as a whole: budgets, cases, plays, verdict. */
#include "check/prove.h"

#include <string.h>

static void clear_played(gpointer data)
{
    g_free(((WsPlayed *)data)->sizes);
}

static void name_free(gpointer data)
{
    g_free(((WsProvedName *)data)->text);
    g_free(data);
}

static void clear_case(gpointer data)
{
    WsCase *c = data;
    g_clear_pointer(&c->values, ws_launch_values_free);
    g_free(c->pin);
    g_free(c->pin_values);
    g_free(c->sizes);
    g_free(c);
}

static void play_case(WsPlay *play, WsVerdict *v, const WsCase *c, WsSchedule schedule)
{
    ws_play_run(play, c->values, c->tiles, schedule, c->pin, c->pin_values, c->n_pin_values,
                c->sizes);
    WsPlayed played = { c->rounds, c->tiles, schedule, c->mixed, g_strdup(c->sizes), play->ops };
    g_array_append_val(v->played, played);
    v->ops += play->ops;
}

static const char *outside_reason(const WsProgram *p)
{
    if (strcmp(p->target, "sm_90a") != 0)
        return "the play knows sm_90a only; stages, halves and borders are not in it";
    if (p->n_agents == 0)
        return "it has no agent";
    return NULL;
}

/* Plays the rounds and tiles of an alarm; TRUE: it is one in the play, too. */
static gboolean replay(const WsProgram *p, const WsProof *alarm, WsVerdict *v, WsFindings *findings)
{
    g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < alarm->rounds->len; i++)
        for (gint64 d = -1; d <= 1; d++) {
            gint64 r = g_array_index(alarm->rounds, gint64, i) + d;
            g_array_append_val(rounds, r);
        }
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) cases = ws_cases(p, CLAMP(alarm->tiles, 1, 6), rounds, skipped);
    g_ptr_array_set_free_func(cases, clear_case);
    WsPlay *play = ws_play_new(p, findings, 8);
    play->max_ops = 500000;
    for (guint i = 0; i < cases->len && !play->errors && !play->outside; i++)
        play_case(play, v, cases->pdata[i], WS_SCHEDULE_FORWARD);
    gboolean refuted = play->errors > 0;
    ws_play_free(play);
    return refuted;
}

static void say_why(WsVerdict *v, const WsProof *proof)
{
    gboolean path = proof->path && *proof->path;
    v->proof = g_strdup_printf("%s%s%s%s", proof->why, path ? " (" : "", path ? proof->path : "",
                               path ? ")" : "");
}

/* What was played without a finding may be proved for all trip counts. An alarm of the merged
 * search is cleared by the exact one, or has its smallest example there; that is played. What the
 * play does not confirm stays played: symbols may go together in a way that nobody has said. */
static void prove(const WsProgram *p, const WsCheckOptions *o, WsVerdict *v, WsFindings *findings)
{
    WsProof *proof = ws_prove(p, o->max_states ? o->max_states : 16000, TRUE);
    if (proof->kind == WS_PROOF_ALARM || proof->kind == WS_PROOF_CAP) {
        WsProof *exact = ws_prove(p, MIN(1000, o->max_states ? o->max_states : 1000), FALSE);
        if (exact->kind == WS_PROOF_CLOSED || exact->kind == WS_PROOF_ALARM) {
            ws_proof_free(proof);
            proof = exact;
        } else {
            ws_proof_free(exact);
        }
    }
    if (proof->kind == WS_PROOF_CLOSED) {
        v->kind = WS_VERDICT_PROVED;
        v->proof = g_strdup(proof->names);
    } else {
        if (proof->kind == WS_PROOF_ALARM && replay(p, proof, v, findings))
            v->kind = WS_VERDICT_REFUTED;
        say_why(v, proof);
    }
    v->states = proof->states;
    v->proof_seconds = proof->seconds;
    ws_proof_free(proof);
}

WsVerdict *ws_check(const WsProgram *p, const WsCheckOptions *options, WsFindings *findings)
{
    static const WsCheckOptions none = { 0 };
    const WsCheckOptions *o = options ? options : &none;
    gint64 start = g_get_monotonic_time();
    WsVerdict *v = g_new0(WsVerdict, 1);
    v->names = g_ptr_array_new_with_free_func(name_free);
    v->played = g_array_new(FALSE, FALSE, sizeof(WsPlayed));
    g_array_set_clear_func(v->played, clear_played);
    v->skipped = g_ptr_array_new_with_free_func(g_free);
    guint before = ws_findings_count(findings, WS_SEVERITY_ERROR);
    ws_check_budgets(p, findings);
    gboolean over = ws_findings_count(findings, WS_SEVERITY_ERROR) > before;
    const char *reason = outside_reason(p);
    if (reason) {
        ws_findings_add(findings, WS_RULE_F_PLAY, "target", "%s: %s", p->name, reason);
        v->kind = WS_VERDICT_OUTSIDE;
        v->seconds = (g_get_monotonic_time() - start) * 1e-6;
        return v;
    }
    GPtrArray *cases = ws_cases(p, o->max_tiles ? o->max_tiles : 3, NULL, v->skipped);
    g_ptr_array_set_free_func(cases, clear_case);
    WsPlay *play = ws_play_new(p, findings, o->max_findings ? o->max_findings : 8);
    play->max_ops = o->max_ops ? o->max_ops : 500000;
    guint schedules = o->schedules ? MIN(o->schedules, WS_SCHEDULE_COUNT) : WS_SCHEDULE_COUNT;
    guint heaviest = 0;
    for (guint i = 0; i < cases->len; i++)
        heaviest = MAX(heaviest, ((WsCase *)cases->pdata[i])->weight);
    /* Small cases come first and the first one that fails ends the play: the witness is small. */
    for (guint i = 0; i < cases->len && !play->errors && !play->outside; i++)
        play_case(play, v, cases->pdata[i], WS_SCHEDULE_FORWARD);
    for (guint i = 0; i < cases->len; i++)
        for (guint s = 1; s < schedules && !play->errors && !play->outside; s++)
            if (((WsCase *)cases->pdata[i])->weight == heaviest || o->schedules)
                play_case(play, v, cases->pdata[i], (WsSchedule)s);
    v->kind = play->errors || over ? WS_VERDICT_REFUTED
              : play->outside      ? WS_VERDICT_OUTSIDE
                                   : WS_VERDICT_PLAYED;
    if (v->kind == WS_VERDICT_PLAYED && v->played->len == 0) {
        ws_findings_add(findings, WS_RULE_F_PLAY, "sizes",
                        "%s: no sizes were found that its assumptions allow%s%s", p->name,
                        v->skipped->len ? ": " : "",
                        v->skipped->len ? (char *)v->skipped->pdata[v->skipped->len - 1] : "");
        v->kind = WS_VERDICT_OUTSIDE;
    }
    ws_play_free(play);
    g_ptr_array_unref(cases);
    if (o->prove && v->kind == WS_VERDICT_PLAYED)
        prove(p, o, v, findings);
    v->seconds = (g_get_monotonic_time() - start) * 1e-6;
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

void ws_verdict_free(WsVerdict *v)
{
    if (!v)
        return;
    g_array_unref(v->played);
    g_ptr_array_unref(v->names);
    g_ptr_array_unref(v->skipped);
    g_free(v->weakest);
    g_free(v->reason);
    g_free(v->proof);
    g_free(v);
}

const char *ws_verdict_word(WsVerdictKind kind)
{
    static const char *const word[] = { "played", "refuted", "outside", "proved" };
    return word[kind];
}

static gint by_value(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

char *ws_verdict_text(const WsVerdict *v)
{
    GString *s = g_string_new(ws_verdict_word(v->kind));
    if (v->kind == WS_VERDICT_PROVED) {
        g_string_append_printf(s, " for every interleaving over %s (%u states, %.1f ms)", v->proof,
                               v->states, v->proof_seconds * 1e3);
        return g_string_free(s, FALSE);
    }
    g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    guint tiles = 0;
    for (guint i = 0; i < v->played->len; i++) {
        const WsPlayed *p = &g_array_index(v->played, WsPlayed, i);
        tiles = MAX(tiles, p->tiles);
        if (p->rounds >= 0 && p->tiles > 0)
            g_array_append_val(rounds, p->rounds);
    }
    g_array_sort(rounds, by_value);
    for (guint i = 0, said = 0; i < rounds->len; i++) {
        gint64 r = g_array_index(rounds, gint64, i);
        if (i && g_array_index(rounds, gint64, i - 1) == r)
            continue;
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, said++ ? " " : ": rounds ", r);
    }
    if (v->played->len)
        g_string_append_printf(s, "%s up to %u tile%s per CTA", rounds->len ? " over" : ":", tiles,
                               tiles == 1 ? "" : "s");
    g_string_append_printf(s, " (%u plays, %" G_GUINT64_FORMAT " operations, %.1f ms)",
                           v->played->len, v->ops, v->seconds * 1e3);
    if (v->proof && v->kind == WS_VERDICT_PLAYED)
        g_string_append_printf(s, "; not proved: %s", v->proof);
    return g_string_free(s, FALSE);
}
