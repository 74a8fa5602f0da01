/* The JSON form of `check`, version 2; check-json.md says what stands in it, and a test holds the
 * two against each other. */
#include "check/mend/fix.h"
#include "check/witness/witness.h"
#include "cli/check_report.h"
#include "model/text.h"
#include "program/program.h"

#include <stdio.h>

static const char *const severities[] = { "hint", "warning", "error" };

/* Members are written in order; `first` tells whether a comma is due. */
typedef struct {
    GString *out;
    guint depth;
    gboolean first;
    GArray *settings; /* WsSetting: what the fixes are checked with */
} Json;

static void next(Json *j)
{
    g_string_append(j->out, j->first ? "\n" : ",\n");
    g_string_append_printf(j->out, "%*s", 2 * (int)j->depth, "");
    j->first = FALSE;
}

static void key(Json *j, const char *name)
{
    next(j);
    g_string_append_printf(j->out, "\"%s\": ", name);
}

static void json_open(Json *j, char bracket)
{
    g_string_append_c(j->out, bracket);
    j->depth++;
    j->first = TRUE;
}

static void json_close(Json *j, char bracket)
{
    j->depth--;
    if (!j->first)
        g_string_append_printf(j->out, "\n%*s", 2 * (int)j->depth, "");
    g_string_append_c(j->out, bracket);
    j->first = FALSE;
}

static void text(Json *j, const char *name, const char *value)
{
    key(j, name);
    ws_text_json(j->out, value);
}

/* A sentence as data: its template and arguments. */
static void phrase(Json *j, const char *name, const char *value)
{
    key(j, name);
    ws_phrase_json(j->out, value);
}

static void number(Json *j, const char *name, gint64 value)
{
    key(j, name);
    g_string_append_printf(j->out, "%" G_GINT64_FORMAT, value);
}

static void truth(Json *j, const char *name, gboolean value)
{
    key(j, name);
    g_string_append(j->out, value ? "true" : "false");
}

static void texts(Json *j, const char *name, const GPtrArray *list)
{
    key(j, name);
    g_string_append_c(j->out, '[');
    for (guint i = 0; list && i < list->len; i++) {
        g_string_append(j->out, i ? ", " : "");
        ws_text_json(j->out, list->pdata[i]);
    }
    g_string_append_c(j->out, ']');
}

/* --- findings --------------------------------------------------------------------------------- */
static void steps(Json *j, const WsDesign *design, const WsFinding *f)
{
    key(j, "steps");
    json_open(j, '[');
    for (guint i = 0; f->steps && i < f->steps->len; i++) {
        const char *id = f->steps->pdata[i];
        const WsNode *node = design ? ws_design_find(design, id) : NULL;
        next(j);
        json_open(j, '{');
        text(j, "id", id);
        number(j, "line", node ? node->line : 0);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void rounds(Json *j, const WsFinding *f)
{
    key(j, "rounds");
    json_open(j, '[');
    for (guint i = 0; f->loops && i < f->loops->len; i++) {
        next(j);
        json_open(j, '{');
        text(j, "loop", f->loops->pdata[i]);
        number(j, "round", g_array_index(f->rounds, gint64, i));
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void facts(Json *j, const WsFinding *f)
{
    key(j, "facts");
    json_open(j, '{');
    for (WsFactId id = 0; id < WS_FACT_N; id++)
        if (f->fact[id] != WS_FACT_NONE)
            number(j, ws_fact_text(id), f->fact[id]);
    json_close(j, '}');
}

static void story(Json *j, const WsFinding *f)
{
    key(j, "story");
    json_open(j, '[');
    for (guint i = 0; f->story && i < f->story->len; i++) {
        const WsStoryLine *line = f->story->pdata[i];
        next(j);
        json_open(j, '{');
        text(j, "part", ws_story_label(line->part));
        text(j, "text", line->text);
        phrase(j, "said", line->said);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* Proposals, and which of them the check confirms. */
static void fixes(Json *j, const WsFixState *state, const WsFinding *f)
{
    g_autoptr(GPtrArray) list = ws_fixes_of(state ? state->design : NULL, f);
    key(j, "fixes");
    json_open(j, '[');
    for (guint i = 0, n = 0; i < MIN(list->len, WS_FIX_TRIED) && n < WS_FIX_SHOWN; i++) {
        const WsFix *fix = list->pdata[i];
        g_autoptr(WsFixState) after = ws_fix_try(
            state, f, fix, (const WsSetting *)(gpointer)j->settings->data, j->settings->len, NULL);
        if (!after)
            continue;
        n++;
        next(j);
        json_open(j, '{');
        text(j, "kind", fix->kind);
        text(j, "title", fix->title);
        truth(j, "safe", fix->safe);
        number(j, "errors_left", after->errors);
        g_autoptr(GPtrArray) edits = g_ptr_array_new_with_free_func(g_free);
        for (guint k = 0; k < fix->edits->len; k++)
            g_ptr_array_add(edits, ws_edit_print(fix->edits->pdata[k]));
        texts(j, "edits", edits);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void finding(Json *j, const WsFixState *state, const WsFinding *f)
{
    next(j);
    json_open(j, '{');
    text(j, "rule", ws_rule(f->rule)->text);
    text(j, "severity", severities[f->severity]);
    text(j, "harm", ws_harm_text(f->harm));
    text(j, "at", f->at);
    number(j, "line", f->line);
    number(j, "column", f->column);
    text(j, "message", f->message);
    phrase(j, "said", f->what ? f->what : f->said);
    text(j, "remedy", f->remedy ? f->remedy : ws_rule(f->rule)->fix);
    phrase(j, "advised", f->advised);
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
    json_close(j, '}');
}

static void silenced(Json *j, const WsFindings *findings)
{
    key(j, "suppressed");
    json_open(j, '[');
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (!f->silenced)
            continue;
        next(j);
        json_open(j, '{');
        text(j, "rule", ws_rule(f->rule)->text);
        text(j, "at", f->at);
        text(j, "message", f->message);
        text(j, "reason", f->silenced);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* --- verdict ---------------------------------------------------------------------------------- */
static void proved(Json *j, const WsVerdict *v)
{
    static const char *const kinds[] = { "tiles", "uniform", "stream", "letter" };
    key(j, "proved_over");
    json_open(j, '[');
    for (guint i = 0; v->names && i < v->names->len; i++) {
        const WsProvedName *name = v->names->pdata[i];
        next(j);
        json_open(j, '{');
        text(j, "kind", kinds[name->kind]);
        text(j, "name", name->text);
        number(j, "least", name->least);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void played(Json *j, const WsVerdict *v)
{
    key(j, "played");
    json_open(j, '[');
    for (guint i = 0; i < v->played->len; i++) {
        const WsPlayed *p = &g_array_index(v->played, WsPlayed, i);
        next(j);
        g_string_append_printf(j->out,
                               "{ \"rounds\": %" G_GINT64_FORMAT ", \"tiles\": %u, \"schedule\": "
                               "%d, \"operations\": %" G_GUINT64_FORMAT " }",
                               p->rounds, p->tiles, p->schedule, p->ops);
    }
    json_close(j, ']');
    texts(j, "skipped", v->skipped);
}

static void verdict_members(Json *j, const WsVerdict *v)
{
    text(j, "verdict", ws_verdict_word(v->kind));
    text(j, "proof", v->proof);
    proved(j, v);
    texts(j, "assumed", v->assumed);
    text(j, "weakest_assumption", v->weakest);
    text(j, "reason", v->reason);
    number(j, "states", v->states);
    played(j, v);
}

/* --- witness ---------------------------------------------------------------------------------- */
static void moves(Json *j, const WsWitness *w)
{
    static const char *const kinds[] = { "step", "pass", "land" };
    key(j, "moves");
    json_open(j, '[');
    for (guint i = 0; i < w->n_moves; i++) {
        const WsMove *m = &w->move[i];
        g_autofree char *round = ws_witness_rounds(m->op, m->n_rounds, m->round);
        next(j);
        json_open(j, '{');
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
        text(j, "words", m->words);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void witness(Json *j, const WsCliInput *in, const WsVerdict *v)
{
    static const char *const ends[] = { "hang", "collision", "phase", "count", "left", "step" };
    key(j, "witness");
    g_autoptr(WsWitness) w = NULL;
    if (v && v->kind == WS_VERDICT_REFUTED)
        w = ws_witness_of(in->program, in->findings, NULL);
    if (!w) {
        g_string_append(j->out, "null");
        return;
    }
    json_open(j, '{');
    text(j, "rule", ws_rule(w->rule)->text);
    text(j, "at", w->at);
    text(j, "sizes", w->sizes);
    number(j, "rounds", w->rounds);
    number(j, "tiles", w->tiles);
    text(j, "end", ends[w->end]);
    truth(j, "confirmed", w->confirmed);
    text(j, "ending", w->ending);
    moves(j, w);
    json_close(j, '}');
}

void ws_cli_check_json(const char *file, const WsCliInput *in, char **set, const WsVerdict *v,
                       int code)
{
    Json j = { g_string_new(NULL), 0, TRUE, NULL };
    if (!ws_cli_settings(set, "--set", &j.settings))
        j.settings = g_array_new(FALSE, TRUE, sizeof(WsSetting));
    json_open(&j, '{');
    number(&j, "version", 2);
    text(&j, "file", file);
    number(&j, "exit", code);
    if (v)
        verdict_members(&j, v);
    g_autoptr(WsFixState) state =
        in->design ? ws_fix_state_new(in->design, (const WsSetting *)(gpointer)j.settings->data,
                                      j.settings->len, NULL)
                   : NULL;
    key(&j, "findings");
    json_open(&j, '[');
    for (guint i = 0; i < in->findings->list->len; i++) {
        const WsFinding *f = in->findings->list->pdata[i];
        if (!f->silenced)
            finding(&j, state, f);
    }
    json_close(&j, ']');
    silenced(&j, in->findings);
    witness(&j, in, v);
    json_close(&j, '}');
    puts(j.out->str);
    g_string_free(j.out, TRUE);
    g_array_unref(j.settings);
}
