/* What happens in a move, in words: who does what, and which numbers change by it. */
#include "check/own_words.h"
#include "check/witness/witness_private.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

#define N G_GINT64_FORMAT

gboolean ws_move_silent(const WsOp *op)
{
    const WsCheckAs as = ws_op_row(op->kind)->check;
    return as == WS_CHECK_SILENT || as == WS_CHECK_ASSIGN;
}

static const char *ws_stage_use_word(WsStageUse use)
{
    static const char *const word[] = { "free", "filling", "full", "being read", "read" };
    return word[use];
}

/* --- states ----------------------------------------------------------------------------------- */
const WsMbarrierState *ws_witness_barrier(const WsWitness *w, guint position, guint barrier)
{
    return &w->barrier_state[(gsize)position * w->n_barriers + barrier];
}

const WsNamedState *ws_witness_named(const WsWitness *w, guint position, guint named)
{
    return &w->named_state[(gsize)position * w->n_named + named];
}

const WsStageState *ws_witness_stage(const WsWitness *w, guint position, guint stage)
{
    return &w->stage_state[(gsize)position * w->n_stages + stage];
}

const WsAgentState *ws_witness_agent(const WsWitness *w, guint position, guint agent)
{
    return &w->agent_state[(gsize)position * w->n_agents + agent];
}

char *ws_witness_rounds(const WsOp *op, guint n_rounds, const gint64 *round)
{
    return ws_rounds_text(op, n_rounds, round);
}

static const char *label(const WsOp *op)
{
    return op->label && op->label[0] ? op->label : ws_op_kind_text(op->kind);
}

/* "mma.0" or "mma.0 (k 3)" */
static char *who(const WsWitness *w, guint agent, const WsOp *op, guint n, const gint64 *round)
{
    g_autofree char *rounds = ws_witness_rounds(op, n, round);
    return rounds[0] ? ws_phrase("%s (%s)", w->agent[agent], rounds) : g_strdup(w->agent[agent]);
}

/* --- what changes ----------------------------------------------------------------------------- */
static void part(GString *s, gboolean *first, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void part(GString *s, gboolean *first, const char *format, ...)
{
    va_list args;
    g_string_append(s, *first ? ": " : ", ");
    *first = FALSE;
    va_start(args, format);
    g_autofree char *more = ws_phrase_v(format, args);
    va_end(args);
    g_string_append(s, more);
}

/* Its slots are flags: up or down, and nothing else is to be told of them. */
static gboolean has_flags(const WsWitness *w)
{
    return w->program->hardware->core != NULL;
}

static void slot_change(const WsWitness *w, guint i, guint b, gboolean name, GString *s,
                        gboolean *first)
{
    const WsMbarrierState *x = ws_witness_barrier(w, i, b), *y = ws_witness_barrier(w, i + 1, b);
    if (memcmp(x, y, sizeof *x) == 0)
        return;
    if (name)
        part(s, first, "%s", w->barrier[b]);
    if (y->phase != x->phase) {
        if (x->pending)
            part(s, first, "pending %" N " → 0", x->pending);
        part(s, first, "completion %" N " happens, phase %" N " → %" N, y->phase - 1, x->phase & 1,
             y->phase & 1);
        return;
    }
    if (x->pending != y->pending)
        part(s, first, "pending %" N " → %" N, x->pending, y->pending);
    if (x->tx != y->tx)
        part(s, first, "bytes due %" N " → %" N, x->tx, y->tx);
}

static void slot_changes(const WsWitness *w, guint i, gint own, GString *s)
{
    gboolean first = TRUE;
    if (has_flags(w))
        return;
    if (own >= 0)
        slot_change(w, i, (guint)own, FALSE, s, &first);
    for (guint b = 0; b < w->n_barriers; b++)
        if ((gint)b != own)
            slot_change(w, i, b, TRUE, s, &first);
}

/* Whether a move made a stage what it is now. Who reads a stage that is being filled, which is a
 * race, fills nothing: the stage stays as it was but for its readers. */
static gboolean became(const WsStageState *x, const WsStageState *y, WsStageUse to)
{
    if (to == WS_STAGE_READING)
        return (y->readers & ~x->readers) != 0 || (y->use == to && x->use != to);
    if (y->use != to)
        return FALSE;
    if (to == WS_STAGE_FILLING)
        return x->use != to || x->fill != y->fill;
    /* full again because a reader has gone: nothing is filled */
    if (to == WS_STAGE_FULL)
        return x->fill != y->fill || x->use == WS_STAGE_FILLING;
    return x->use != to || x->fill != y->fill || x->readers != y->readers;
}

static void stages_of(const WsWitness *w, guint i, WsStageUse to, const char *word, GString *s)
{
    gboolean any = FALSE;
    for (guint k = 0; k < w->n_stages; k++) {
        if (!became(ws_witness_stage(w, i, k), ws_witness_stage(w, i + 1, k), to))
            continue;
        g_string_append(s, any ? WS_WORD(" and ") : word);
        g_string_append(s, w->stage[k]);
        any = TRUE;
    }
}

/* --- one move --------------------------------------------------------------------------------- */
static void say_wait(const WsWitness *w, guint i, const WsMove *m, GString *s)
{
    const WsMbarrierState *x = ws_witness_barrier(w, i, (guint)m->barrier);
    if (x->phase == 0)
        ws_phrase_append(s, " passes the wait for %s at once: nothing was to be waited for",
                         w->barrier[m->barrier]);
    else if (has_flags(w))
        ws_phrase_append(s, " continues: set %" N " of %s has happened", x->phase - 1,
                         w->barrier[m->barrier]);
    else
        ws_phrase_append(s, " continues: completion %" N " of %s has happened, phase is %" N,
                         x->phase - 1, w->barrier[m->barrier], x->phase & 1);
}

static void say_named(const WsWitness *w, guint i, const WsMove *m, GString *s)
{
    const WsNamedState *x = ws_witness_named(w, i, (guint)m->named),
                       *y = ws_witness_named(w, i + 1, (guint)m->named);
    if (m->kind == WS_MOVE_PASS) {
        ws_phrase_append(s, " continues: all have reached %s", w->named[m->named]);
        return;
    }
    gboolean sync = m->op->kind == WS_OP_BAR_SYNC;
    if (has_flags(w)) { /* no threads that are counted */
        ws_phrase_append(s, " joins and waits at %s", w->named[m->named]);
        return;
    }
    ws_phrase_append(s, sync ? " joins and waits at %s: " : " arrives at %s: ", w->named[m->named]);
    if (y->generation != x->generation)
        ws_phrase_append(s, "%" N " of %" N ", generation %" N " is complete", y->count, y->count,
                         x->generation);
    else
        ws_phrase_append(s, "%" N " of %" N, y->arrived, y->count);
}

static void say_land(const WsWitness *w, guint i, const WsMove *m, GString *s)
{
    if (m->op->kind == WS_OP_CP_ARRIVE)
        ws_phrase_append(s, "The gathered rows of %s are there", w->agent[m->agent]);
    else
        ws_phrase_append(s, "The %" N " bytes of %s by %s land", m->op->bytes, label(m->op),
                         w->agent[m->agent]);
    stages_of(w, i, WS_STAGE_FULL, WS_WORD(" in "), s);
    ws_phrase_append(s, "; %s", w->barrier[m->barrier]);
    slot_changes(w, i, m->barrier, s);
}

static void say_step(const WsWitness *w, guint i, const WsMove *m, GString *s)
{
    if (m->op->kind == WS_OP_MBAR_WAIT) {
        say_wait(w, i, m, s);
        return;
    }
    if (m->op->kind == WS_OP_MBAR_ARRIVE) {
        ws_phrase_append(s, has_flags(w) ? " sets %s" : " arrives on %s", w->barrier[m->barrier]);
        slot_changes(w, i, m->barrier, s);
        return;
    }
    if (m->op->kind == WS_OP_MBAR_EXPECT) {
        ws_phrase_append(s, " expects %" N " bytes on %s", m->op->bytes, w->barrier[m->barrier]);
        slot_changes(w, i, m->barrier, s);
        return;
    }
    if (m->op->kind == WS_OP_MMA_WAIT || m->op->kind == WS_OP_BULK_WAIT ||
        m->op->kind == WS_OP_CP_WAIT) {
        static const char *const what[WS_QUEUES] = { "mma", "store", "gather" };
        const char *kind = what[ws_op_queue(m->op->kind)];
        if (m->op->n == 0)
            ws_phrase_append(s, " waits until all its %s groups are done", kind);
        else
            ws_phrase_append(s,
                             m->op->n == 1 ? " waits until at most %" N " of its %s groups is left"
                                           : " waits until at most %" N
                                             " of its %s groups are left",
                             m->op->n, kind);
        stages_of(w, i, WS_STAGE_READ, WS_WORD("; done with "), s);
        return;
    }
    if (m->op->kind == WS_OP_MMA_COMMIT || m->op->kind == WS_OP_BULK_COMMIT ||
        m->op->kind == WS_OP_CP_COMMIT) {
        ws_phrase_append(s, " closes its group (%s)", label(m->op));
        return;
    }
    gboolean async = m->op->engine != WS_ENGINE_NONE || m->op->kind == WS_OP_MMA;
    ws_phrase_append(s, async ? " starts %s" : " does %s", label(m->op));
    stages_of(w, i, WS_STAGE_FILLING, WS_WORD("; fills "), s);
    stages_of(w, i, WS_STAGE_FULL, WS_WORD("; fills "), s);
    stages_of(w, i, WS_STAGE_READING, WS_WORD("; reads "), s);
    if (!async)
        stages_of(w, i, WS_STAGE_READ, WS_WORD("; has read "), s);
}

static char *say_move(const WsWitness *w, guint i)
{
    const WsMove *m = &w->move[i];
    GString *s = g_string_new(NULL);
    if (m->kind == WS_MOVE_LAND) {
        say_land(w, i, m, s);
        return g_string_free(s, FALSE);
    }
    g_autofree char *name = who(w, m->agent, m->op, m->n_rounds, m->round);
    g_string_append(s, name);
    if (m->named >= 0)
        say_named(w, i, m, s);
    else
        say_step(w, i, m, s);
    return g_string_free(s, FALSE);
}

/* --- agents and stages ------------------------------------------------------------------------ */
char *ws_witness_agent_words(const WsWitness *w, guint position, guint agent)
{
    const WsAgentState *a = ws_witness_agent(w, position, agent);
    if (a->mode == WS_AGENT_DONE)
        return ws_phrase("is done");
    g_autofree char *rounds = ws_witness_rounds(a->op, a->n_rounds, a->round);
    const char *open = rounds[0] ? " (" : "", *close = rounds[0] ? ")" : "";
    if (a->mode == WS_AGENT_READY)
        return ws_phrase("next: %s%s%s%s", label(a->op), open, rounds, close);
    if (a->barrier >= 0) {
        const WsMbarrierState *b = ws_witness_barrier(w, position, (guint)a->barrier);
        if (has_flags(w))
            return ws_phrase("waits for set %" N " of %s%s%s%s", b->phase, w->barrier[a->barrier],
                             open, rounds, close);
        GString *s = g_string_new(NULL);
        ws_phrase_append(s, "waits for completion %" N " of %s%s%s%s, which lacks", b->phase,
                         w->barrier[a->barrier], open, rounds, close);
        if (b->pending)
            ws_phrase_append(
                s, b->count == 1 ? " %" N " of %" N " arrival" : " %" N " of %" N " arrivals",
                b->pending, b->count);
        if (b->tx > 0)
            ws_phrase_append(s, b->pending ? " and %" N " bytes" : " %" N " bytes", b->tx);
        if (b->tx < 0)
            ws_phrase_append(s,
                             b->pending ? " and nothing but has got %" N " bytes too many"
                                        : " nothing but has got %" N " bytes too many",
                             -b->tx);
        return g_string_free(s, FALSE);
    }
    const WsNamedState *n = ws_witness_named(w, position, (guint)MAX(a->named, 0));
    if (has_flags(w))
        return ws_phrase("waits at %s%s%s%s", w->named[a->named], open, rounds, close);
    return ws_phrase("waits at %s%s%s%s: %" N " of %" N " have come", w->named[a->named], open,
                     rounds, close, n->arrived, n->count);
}

char *ws_witness_stage_words(const WsWitness *w, guint position, guint stage)
{
    const WsStageState *s = ws_witness_stage(w, position, stage);
    g_autofree char *use = ws_phrase_word(ws_stage_use_word(s->use));
    GString *out = g_string_new(use);
    if ((s->use == WS_STAGE_FILLING || s->use == WS_STAGE_FULL) && s->writer >= 0)
        ws_phrase_append(out, " by %s", w->agent[s->writer]);
    for (guint i = 0, n = 0; i < MIN(w->n_agents, 64); i++)
        if (s->readers >> i & 1)
            ws_phrase_append(out,
                             n++                          ? ", %s"
                             : s->use == WS_STAGE_READING ? " by %s"
                                                          : ", read by %s",
                             w->agent[i]);
    return g_string_free(out, FALSE);
}

/* --- the end ---------------------------------------------------------------------------------- */
static char *say_hang(const WsWitness *w)
{
    GString *s = g_string_new(WS_WORD("No agent can continue"));
    for (guint i = 0; i < w->n_agents; i++) {
        if (ws_witness_agent(w, w->n_moves, i)->mode != WS_AGENT_WAITING)
            continue;
        g_autofree char *words = ws_witness_agent_words(w, w->n_moves, i);
        ws_phrase_append(s, "; %s %s", w->agent[i], words);
    }
    g_string_append_c(s, '.');
    return g_string_free(s, FALSE);
}

static char *say_collision(const WsWitness *w)
{
    const WsMove *two[2] = { NULL, NULL };
    for (guint i = 0; i < w->n_moves; i++)
        if (w->move[i].collide)
            two[two[0] != NULL] = &w->move[i];
    if (!two[0] || !two[1])
        return g_strdup(w->message);
    g_autofree char *x = who(w, two[0]->agent, two[0]->op, two[0]->n_rounds, two[0]->round),
                    *y = who(w, two[1]->agent, two[1]->op, two[1]->n_rounds, two[1]->round);
    return ws_phrase("%s of %s and %s of %s access the same bytes, and nothing orders them.",
                     label(two[0]->op), x, label(two[1]->op), y);
}

void ws_witness_say(WsWitness *w)
{
    for (guint i = 0; i < w->n_moves; i++)
        w->move[i].words = say_move(w, i);
    w->ending = w->end == WS_END_HANG        ? say_hang(w)
                : w->end == WS_END_COLLISION ? say_collision(w)
                                             : g_strdup(w->message);
    if (w->end == WS_END_HANG && w->rule == WS_RULE_P_ABA) {
        char *hang = w->ending;
        w->ending = ws_phrase("%s\n%s", w->message, hang);
        g_free(hang);
    }
    for (guint i = 0; i < w->n_moves; i++)
        ws_own_words(w->program->hardware, &w->move[i].words, NULL);
    ws_own_words(w->program->hardware, &w->ending, NULL);
}

/* --- text ------------------------------------------------------------------------------------- */
static void put_states(const WsWitness *w, guint i, GString *s)
{
    for (guint b = 0; b < w->n_barriers; b++) {
        const WsMbarrierState *y = ws_witness_barrier(w, i, b);
        if (i > 0 && memcmp(ws_witness_barrier(w, i - 1, b), y, sizeof *y) == 0)
            continue;
        if (has_flags(w))
            g_string_append_printf(s, "        %s: sets %" N "\n", w->barrier[b], y->phase);
        else
            g_string_append_printf(s,
                                   "        %s: phase %" N " (completions %" N "), pending %" N
                                   " of %" N ", bytes due %" N "\n",
                                   w->barrier[b], y->phase & 1, y->phase, y->pending, y->count,
                                   y->tx);
    }
    for (guint k = 0; k < w->n_named; k++) {
        const WsNamedState *y = ws_witness_named(w, i, k);
        if (i > 0 && !has_flags(w) && memcmp(ws_witness_named(w, i - 1, k), y, sizeof *y) != 0)
            g_string_append_printf(s, "        %s: generation %" N ", %" N " of %" N "\n",
                                   w->named[k], y->generation, y->arrived, y->count);
    }
    for (guint k = 0; k < w->n_stages; k++) {
        const WsStageState *y = ws_witness_stage(w, i, k);
        if (i == 0 || memcmp(ws_witness_stage(w, i - 1, k), y, sizeof *y) == 0)
            continue;
        g_autofree char *said = ws_witness_stage_words(w, i, k),
                        *words = ws_phrase_text(said, NULL, NULL);
        g_string_append_printf(s, "        %s: %s\n", w->stage[k], words);
    }
}

char *ws_witness_text(const WsWitness *w, gboolean states)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "witness of %s", ws_rule(w->rule)->text);
    if (w->sizes && *w->sizes)
        g_string_append_printf(s, " with %s", w->sizes);
    g_string_append_printf(s, ", %u tile%s%s\n", w->tiles, w->tiles == 1 ? "" : "s",
                           w->confirmed ? "" : " (the whole run)");
    if (states)
        put_states(w, 0, s);
    for (guint i = 0; i < w->n_moves; i++) {
        g_autofree char *words = ws_phrase_text(w->move[i].words, NULL, NULL);
        g_string_append_printf(s, "%4u  %s%s\n", i + 1, words,
                               w->move[i].collide ? "   <-- collides" : "");
        if (states)
            put_states(w, i + 1, s);
    }
    for (guint i = 0; i < w->n_agents && ws_rule(w->rule)->klass != WS_CLASS_G; i++) {
        g_autofree char *said = ws_witness_agent_words(w, w->n_moves, i),
                        *words = ws_phrase_text(said, NULL, NULL);
        g_string_append_printf(s, "      %s %s\n", w->agent[i], words);
    }
    if (w->why)
        g_string_append_printf(s, "note: %s\n", w->why);
    g_autofree char *ending = ws_phrase_text(w->ending, NULL, NULL);
    g_string_append_printf(s, "end:  %s\n", ending);
    return g_string_free(s, FALSE);
}
