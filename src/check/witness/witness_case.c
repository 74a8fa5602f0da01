/* The smallest case that shows a finding: the fewest tiles and rounds together. */
#include "check/play/case_at.h"
#include "check/play/questions.h"
#include "check/witness/witness_private.h"

#include <string.h>

void ws_witness_note(WsPlay *play, WsRuleId rule, guint inst, const WsOp *op, guint n_rounds,
                     const gint64 *round, const WsEvent *other)
{
    WsReported r = { .rule = rule, .inst = inst, .op = op };
    r.n_rounds = MIN(n_rounds, G_N_ELEMENTS(r.round));
    for (guint i = 0; i < r.n_rounds; i++)
        r.round[i] = round[i];
    if (other) {
        r.other = other->op, r.other_inst = other->inst;
        r.n_other = other->n_rounds;
        memcpy(r.other_round, other->round, sizeof r.other_round);
    }
    g_array_append_val(play->reported, r);
}

/* --- the smallest case ------------------------------------------------------------------------ */
typedef WsWitnessSearch Search;

static gboolean is_meant(const Search *S, const WsReported *r)
{
    if (!S->finding)
        return TRUE;
    const char *step = r->op->step ? r->op->step : r->op->id;
    return r->rule == S->finding->rule && g_strcmp0(step, S->finding->at) == 0;
}

/* Plays one case; TRUE if it shows what is looked for. */
static gboolean shows(Search *S, const WsCase *c, WsSchedule schedule)
{
    WsPlay *play = S->play;
    g_hash_table_remove_all(play->said);
    g_hash_table_remove_all(play->causes);
    g_hash_table_remove_all(play->settled);
    play->errors = play->said_errors = play->said_others = 0;
    play->outside = FALSE;
    g_array_set_size(play->reported, 0);
    g_ptr_array_set_size(play->findings->list, 0);
    ws_play_run(play, c, schedule);
    for (guint i = 0; i < play->reported->len; i++) {
        const WsReported *r = &g_array_index(play->reported, WsReported, i);
        if (!is_meant(S, r))
            continue;
        S->c = c, S->schedule = schedule, S->reported = *r;
        const char *step = r->op->step ? r->op->step : r->op->id;
        for (guint k = 0; k < play->findings->list->len && !S->message; k++) {
            const WsFinding *f = play->findings->list->pdata[k];
            if (f->rule == r->rule && g_strcmp0(f->at, step) == 0)
                S->message = g_strdup(f->said);
        }
        return TRUE;
    }
    return FALSE;
}

/* One case with some data: elements of integer tensors are 0, then chosen as the check does. */
static gboolean shows_with_data(Search *S, WsCase *c, WsSchedule schedule)
{
    if (shows(S, c, schedule))
        return TRUE;
    for (guint d = 1; d < S->data->len && !c->data && !c->chosen; d++)
        if (ws_case_with_data(S->p, c, &g_array_index(S->data, WsCaseData, d)) &&
            shows(S, c, schedule))
            return TRUE;
    ws_case_with_data(S->p, c, NULL);
    return FALSE;
}

static void look_for(Search *S)
{
    for (guint s = 0; s < WS_SCHEDULE_COUNT; s++)
        for (guint i = 0; i < S->cases->len; i++)
            if (shows_with_data(S, S->cases->pdata[i], (WsSchedule)s))
                return;
}

/* Numbers that a finding names (round 12 of k, K = 257) may be counts of rounds, too. */
static void add_number(GArray *rounds, gint64 n)
{
    enum { MOST = 200 };
    for (gint64 r = n; r <= n + 2 && n >= 0 && n <= MOST; r++)
        g_array_append_val(rounds, r);
}

static void add_numbers(GArray *rounds, const WsFinding *f)
{
    for (guint i = 0; f->rounds && i < f->rounds->len; i++)
        add_number(rounds, g_array_index(f->rounds, gint64, i));
    for (guint i = 0; f->met && i < f->met->value->len; i++)
        add_number(rounds, g_array_index(f->met->value, WsMetValue, i).value);
}

/* Behind all that are not larger; at the end if it has more rounds than anybody plays. */
static void insert(const WsProgram *p, GPtrArray *cases, WsCase *met)
{
    g_autoptr(GArray) questions = ws_questions(p);
    const gboolean weighed = ws_case_weigh(p, met, questions);
    guint i = weighed ? 0 : cases->len;
    for (; i < cases->len; i++) {
        const WsCase *c = cases->pdata[i];
        if (c->weight + c->tiles > met->weight + met->tiles)
            break;
    }
    g_ptr_array_insert(cases, (gint)i, met);
}

/* The small ones, and those of the size that the finding was met with. */
static GPtrArray *all_cases(const WsProgram *p, const WsFinding *finding)
{
    enum { FEW = 4, MANY = 12 };
    g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    for (gint64 r = 0; r <= 8; r++)
        g_array_append_val(rounds, r);
    if (finding)
        add_numbers(rounds, finding);
    const gint64 tiles = finding ? finding->fact[WS_FACT_TILES] : 0;
    GPtrArray *cases = ws_cases(p, (guint)CLAMP(tiles, FEW, MANY), rounds, skipped);
    WsCase *met =
        finding && finding->met ? ws_case_at(p, finding->met, (guint)MAX(tiles, 1)) : NULL;
    if (met)
        insert(p, cases, met);
    return cases;
}

void ws_witness_search(WsWitnessSearch *S, const WsProgram *p, const WsFinding *finding)
{
    *S = (WsWitnessSearch){ .p = p, .finding = finding };
    S->findings = ws_findings_new();
    S->cases = all_cases(p, finding);
    S->data = ws_case_data(p);
    S->play = ws_play_new(p, S->findings, 8);
    S->play->max_ops = 500000;
    S->play->reported = g_array_new(FALSE, FALSE, sizeof(WsReported));
    look_for(S);
}

void ws_witness_search_clear(WsWitnessSearch *S)
{
    g_array_unref(S->play->reported);
    ws_play_free(S->play);
    g_array_unref(S->data);
    g_ptr_array_unref(S->cases);
    ws_findings_free(S->findings);
    g_free(S->message);
}
