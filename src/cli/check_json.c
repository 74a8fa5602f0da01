/* The JSON form of `check`, version 2; docs/schema/check.json says what stands in it, and a test
 * compares the two. */
#include "base/json_out.h"
#include "base/phrase.h"
#include "check/witness/witness.h"
#include "cli/back_ends.h"
#include "cli/check_report.h"
#include "mend/fix.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/parts/operation.h"

#include <stdio.h>

static const char *const severities[] = { "hint", "warning", "error" };

typedef struct {
    WsJsonOut json;
    GArray *settings; /* WsSetting: what the fixes are checked with */
    guint64 looked;   /* what was checked for fixes, in operations of short designs */
} Json;

/* A second or so for all findings together: the same design gets the same fixes on any machine. The
 * check of a long design takes its square, that of one of FLAT operations twice its length; one
 * whose simulations are long is simulated again for each proposal. */
enum { MOST_LOOKED = 100000, FLAT = 512, FLAT_PLAYED = 1 << 21 };

static guint64 work_of_proposal(const WsFixState *s)
{
    const guint64 n = s->ops, played = s->verdict ? MIN(s->verdict->ops, 1u << 30) : 0;
    return n + n * n / FLAT + played * played / FLAT_PLAYED;
}

static void text(Json *j, const char *name, const char *value)
{
    ws_json_out_text(&j->json, name, value);
}

static void number(Json *j, const char *name, gint64 value)
{
    ws_json_out_integer(&j->json, name, value);
}

/* --- findings --------------------------------------------------------------------------------- */
static void steps(Json *j, const WsDesign *design, const WsFinding *f)
{
    ws_json_out_open(&j->json, "steps", '[');
    for (guint i = 0; f->steps && i < f->steps->len; i++) {
        const char *id = f->steps->pdata[i];
        const WsNode *node = design ? ws_design_find(design, id) : NULL;
        ws_json_out_open(&j->json, NULL, '{');
        text(j, "id", id);
        number(j, "line", node ? node->line : 0);
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
}

static void rounds(Json *j, const WsFinding *f)
{
    ws_json_out_open(&j->json, "rounds", '[');
    for (guint i = 0; f->loops && i < f->loops->len; i++) {
        ws_json_out_open(&j->json, NULL, '{');
        text(j, "loop", f->loops->pdata[i]);
        number(j, "round", g_array_index(f->rounds, gint64, i));
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
}

static void facts(Json *j, const WsFinding *f)
{
    ws_json_out_open(&j->json, "facts", '{');
    for (WsFactId id = 0; id < WS_FACT_N; id++)
        if (f->fact[id] != WS_FACT_NONE)
            number(j, ws_fact_text(id), f->fact[id]);
    ws_json_out_close(&j->json, '}');
}

static void story(Json *j, const WsFinding *f)
{
    ws_json_out_open(&j->json, "story", '[');
    for (guint i = 0; f->story && i < f->story->len; i++) {
        const WsStoryLine *line = f->story->pdata[i];
        ws_json_out_open(&j->json, NULL, '{');
        text(j, "part", ws_story_label(line->part));
        text(j, "text", line->text);
        ws_json_out_phrase(&j->json, "said", line->said);
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
}

/* A fix is judged by its findings: nobody reads under which assumption a half mended design is
 * right, which takes several proofs. */
static const WsCheckOptions tried = { .verdict_only = TRUE };

/* Proposals, and which of them the check confirms. */
static void fixes(Json *j, const WsFixState *state, const WsFinding *f)
{
    g_autoptr(GPtrArray) list =
        ws_fixes_of(state && j->looked <= MOST_LOOKED ? state->design : NULL, f);
    ws_json_out_open(&j->json, "fixes", '[');
    for (guint i = 0, n = 0; i < MIN(list->len, WS_FIX_TRIED) && n < WS_FIX_SHOWN; i++) {
        j->looked += work_of_proposal(state);
        if (j->looked > MOST_LOOKED)
            break;
        WsFix *fix = list->pdata[i];
        g_autoptr(WsFixState) after =
            ws_fix_try(state, f, fix, (const WsSetting *)(gpointer)j->settings->data,
                       j->settings->len, &tried);
        if (!after)
            continue;
        n++;
        ws_json_out_open(&j->json, NULL, '{');
        text(j, "kind", fix->kind);
        text(j, "title", fix->title);
        ws_json_out_truth(&j->json, "safe", fix->safe);
        number(j, "errors_left", after->errors);
        g_autoptr(GPtrArray) edits = g_ptr_array_new_with_free_func(g_free);
        for (guint k = 0; k < fix->draft->edits->len; k++)
            g_ptr_array_add(edits, ws_edit_print(fix->draft->edits->pdata[k]));
        ws_json_out_texts(&j->json, "edits", edits);
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
}

static void finding(Json *j, const WsFixState *state, const WsFinding *f)
{
    ws_json_out_open(&j->json, NULL, '{');
    text(j, "rule", ws_rule(f->rule)->text);
    text(j, "severity", severities[f->severity]);
    text(j, "harm", ws_harm_text(f->harm));
    text(j, "at", f->at);
    number(j, "line", f->line);
    number(j, "column", f->column);
    text(j, "message", f->message);
    ws_json_out_phrase(&j->json, "said", f->what ? f->what : f->said);
    text(j, "remedy", f->remedy ? f->remedy : ws_rule(f->rule)->fix);
    ws_json_out_phrase(&j->json, "advised", f->advised);
    text(j, "agent", f->agent);
    text(j, "other_agent", f->other);
    text(j, "object", f->object);
    text(j, "barrier", f->barrier);
    text(j, "round", f->round);
    text(j, "sizes", f->sizes);
    rounds(j, f);
    steps(j, state ? state->design : NULL, f);
    facts(j, f);
    story(j, f);
    fixes(j, state, f);
    ws_json_out_close(&j->json, '}');
}

static void silenced(Json *j, const WsFindings *findings)
{
    ws_json_out_open(&j->json, "suppressed", '[');
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (!f->silenced)
            continue;
        ws_json_out_open(&j->json, NULL, '{');
        text(j, "rule", ws_rule(f->rule)->text);
        text(j, "at", f->at);
        text(j, "message", f->message);
        text(j, "reason", f->silenced);
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
}

/* --- verdict ---------------------------------------------------------------------------------- */
static void proved(Json *j, const WsVerdict *v)
{
    static const char *const kinds[] = { "tiles", "uniform", "stream", "letter" };
    ws_json_out_open(&j->json, "proved_over", '[');
    for (guint i = 0; v->names && i < v->names->len; i++) {
        const WsProvedName *name = v->names->pdata[i];
        ws_json_out_open(&j->json, NULL, '{');
        text(j, "kind", kinds[name->kind]);
        text(j, "name", name->text);
        number(j, "least", name->least);
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
}

static void played(Json *j, const WsVerdict *v)
{
    ws_json_out_open(&j->json, "played", '[');
    for (guint i = 0; i < v->played->len; i++) {
        const WsPlayed *p = &g_array_index(v->played, WsPlayed, i);
        ws_json_out_open_row(&j->json, NULL, '{');
        number(j, "rounds", p->rounds);
        number(j, "tiles", p->tiles);
        number(j, "schedule", p->schedule);
        number(j, "operations", (gint64)p->ops);
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
    ws_json_out_texts(&j->json, "skipped", v->skipped);
}

static void verdict_members(Json *j, const WsVerdict *v)
{
    text(j, "verdict", ws_verdict_word(v->kind));
    text(j, "proof", v->proof);
    proved(j, v);
    ws_json_out_texts(&j->json, "assumed", v->assumed);
    ws_json_out_texts(&j->json, "undetermined", v->undetermined);
    g_autofree char *weakest = ws_phrase_text(v->weakest, NULL, NULL),
                    *reason = ws_phrase_text(v->reason, NULL, NULL);
    text(j, "weakest_assumption", weakest);
    text(j, "reason", reason);
    number(j, "states", v->states);
    played(j, v);
}

/* --- witness ---------------------------------------------------------------------------------- */
static void moves(Json *j, const WsWitness *w)
{
    static const char *const kinds[] = { "step", "pass", "land" };
    ws_json_out_open(&j->json, "moves", '[');
    for (guint i = 0; i < w->n_moves; i++) {
        const WsMove *m = &w->move[i];
        g_autofree char *round = ws_witness_rounds(m->op, m->n_rounds, m->round);
        ws_json_out_open(&j->json, NULL, '{');
        text(j, "kind", kinds[m->kind]);
        text(j, "agent", w->agent[m->agent]);
        text(j, "step", m->op->step ? m->op->step : m->op->id);
        text(j, "operation", m->op->id);
        text(j, "round", round);
        text(j, "barrier", m->barrier >= 0 ? w->barrier[m->barrier] : NULL);
        if (m->barrier >= 0) {
            const WsMbarrierState *s = ws_witness_barrier(w, i + 1, (guint)m->barrier);
            number(j, "phase", s->phase);
            number(j, "pending", s->pending);
            number(j, "tx", s->tx);
        }
        g_autofree char *words = ws_phrase_text(m->words, NULL, NULL);
        text(j, "words", words);
        ws_json_out_close(&j->json, '}');
    }
    ws_json_out_close(&j->json, ']');
}

static void witness(Json *j, const WsCliInput *in, const WsVerdict *v)
{
    static const char *const ends[] = { "hang", "collision", "phase", "count", "left", "step" };
    g_autoptr(WsWitness) w = NULL;
    if (v && v->kind == WS_VERDICT_REFUTED)
        w = ws_witness_of(in->program, in->findings, NULL);
    if (!w) {
        text(j, "witness", NULL);
        return;
    }
    ws_json_out_open(&j->json, "witness", '{');
    text(j, "rule", ws_rule(w->rule)->text);
    text(j, "at", w->at);
    text(j, "sizes", w->sizes);
    number(j, "rounds", w->rounds);
    number(j, "tiles", w->tiles);
    text(j, "end", ends[w->end]);
    ws_json_out_truth(&j->json, "confirmed", w->confirmed);
    g_autofree char *ending = ws_phrase_text(w->ending, NULL, NULL);
    text(j, "ending", ending);
    moves(j, w);
    ws_json_out_close(&j->json, '}');
}

char *ws_cli_check_json_text(const char *file, const WsCliInput *in, GArray *settings,
                             const WsVerdict *v, int code, gboolean back_ends)
{
    Json j = { .settings = settings };
    ws_json_out_init(&j.json);
    ws_json_out_open(&j.json, NULL, '{');
    number(&j, "version", 2);
    text(&j, "file", file);
    number(&j, "exit", code);
    if (v)
        verdict_members(&j, v);
    g_autoptr(WsFixState) state =
        in->design ? ws_fix_state_new(in->design, (const WsSetting *)(gpointer)j.settings->data,
                                      j.settings->len, &tried)
                   : NULL;
    if (state)
        ws_fix_state_remember(state);
    ws_json_out_open(&j.json, "findings", '[');
    for (guint i = 0; i < in->findings->list->len; i++) {
        const WsFinding *f = in->findings->list->pdata[i];
        if (!f->silenced)
            finding(&j, state, f);
    }
    ws_json_out_close(&j.json, ']');
    silenced(&j, in->findings);
    witness(&j, in, v);
    ws_cli_put_back_ends(&j.json, back_ends ? in->program : NULL);
    ws_json_out_close(&j.json, '}');
    return ws_json_out_end(&j.json);
}

void ws_cli_check_json(const char *file, const WsCliInput *in, char **set, const WsVerdict *v,
                       int code, gboolean back_ends)
{
    g_autoptr(GArray) settings = NULL;
    if (!ws_cli_settings(set, "--set", &settings))
        settings = g_array_new(FALSE, TRUE, sizeof(WsSetting));
    g_autofree char *text = ws_cli_check_json_text(file, in, settings, v, code, back_ends);
    fputs(text, stdout);
}
