/* Sentences of the play: who, where, which slot, which round. */
#include "check/play/play.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

char *ws_inst_name(const WsPlay *play, guint inst)
{
    const WsInst *i = &play->inst[inst];
    if (play->ranks > 1)
        return g_strdup_printf("%s@%u", i->a->name, i->rank);
    return g_strdup(i->a->name);
}

/* Inner rounds are counted on from one outer round to the next. As long as the outer loops are in
 * their first round that is the index; behind it the index is known where the count is a number,
 * and else it is said that it is the total. */
char *ws_rounds_text(const WsOp *op, guint n, const gint64 *round)
{
    const WsTree *loop[16];
    guint found = 0;
    for (const WsTree *t = op ? op->tree : NULL; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && found < G_N_ELEMENTS(loop))
            loop[found++] = t;
    GString *s = g_string_new(NULL);
    gboolean later = FALSE; /* an outer loop is behind its first round */
    for (guint i = 0; i < n && i < found; i++) {
        const WsTree *t = loop[found - 1 - i];
        const gboolean counts_on = later && t->total_var >= 0 && t->over == WS_OVER_COUNT;
        gint64 count = 0;
        const gboolean known = t->count && ws_expr_is_int(t->count, &count) && count > 0;
        g_string_append_printf(s, "%s%s%s %" G_GINT64_FORMAT, i ? ", " : "", t->name,
                               counts_on && !known ? ".total" : "",
                               counts_on && known ? round[i] % count : round[i]);
        later |= round[i] != 0;
    }
    return g_string_free(s, FALSE);
}

static const char *label(const WsOp *op)
{
    return op->label && op->label[0] ? op->label : ws_op_kind_text(op->kind);
}

static char *deed(const WsPlay *play, guint inst, const WsOp *op, guint n, const gint64 *round)
{
    g_autofree char *name = ws_inst_name(play, inst), *rounds = ws_rounds_text(op, n, round);
    return ws_phrase("%s (%s%s%s)", name, label(op), *rounds ? "; " : "", rounds);
}

char *ws_where_event(const WsPlay *play, const WsEvent *e)
{
    g_autofree char *name = ws_inst_name(play, e->inst);
    g_autofree char *rounds = ws_rounds_text(e->op, e->n_rounds, e->round);
    return g_strdup_printf("%s%s%s", name, *rounds ? ", " : "", rounds);
}

char *ws_deed(const WsPlay *play, const WsInst *inst)
{
    return deed(play, inst->index, inst->step.op, MIN(inst->step.n_rounds, 12), inst->step.round);
}

char *ws_deed_event(const WsPlay *play, const WsEvent *e)
{
    return deed(play, e->inst, e->op, e->n_rounds, e->round);
}

char *ws_slot_name(const WsPlay *play, const WsSlot *slot)
{
    const WsBarrier *b = &play->p->barrier[slot->barrier];
    GString *s = g_string_new(b->name);
    if (b->is_array)
        g_string_append_printf(s, "[%u]", slot->element);
    if (b->slots > 1)
        ws_phrase_append(s, " slot %u", slot->slot);
    if (play->ranks > 1)
        ws_phrase_append(s, " of CTA %u", slot->rank);
    return g_string_free(s, FALSE);
}

void ws_report_slot(WsPlay *play, WsFinding *f, const WsSlot *slot)
{
    g_autofree char *name = ws_slot_name(play, slot);
    ws_finding_set_barrier(f, name);
    ws_facts_slot(play, f, slot);
}

void ws_report_queue(WsPlay *play, WsFinding *f, const char *queue, guint inst)
{
    g_autofree char *name = ws_inst_name(play, inst);
    g_autofree char *phrase = ws_phrase("%s of %s", queue, name);
    ws_finding_set_barrier(f, phrase);
}

static const char *step_of(const WsOp *op)
{
    return op->step ? op->step : op->id;
}

/* What follows, by rule; a story may know better. */
static WsHarm harm_of(WsRuleId rule)
{
    if (rule == WS_RULE_P_DEADLOCK || rule == WS_RULE_P_TX || rule == WS_RULE_P_ABA ||
        rule == WS_RULE_P_FLAG || rule == WS_RULE_P_NAMED)
        return WS_HARM_HANG;
    if (rule == WS_RULE_P_EARLY || rule == WS_RULE_P_COUNT)
        return WS_HARM_EARLY;
    if (rule == WS_RULE_P_RACE || rule == WS_RULE_P_ASYNC || rule == WS_RULE_P_PROXY ||
        rule == WS_RULE_P_EXIT || rule == WS_RULE_P_CLUSTER)
        return WS_HARM_CORRUPTION;
    if (rule == WS_RULE_P_FENCE || rule == WS_RULE_P_UNDEF)
        return WS_HARM_UNDEFINED;
    return WS_HARM_NONE;
}

/* Agents, loops and rounds: what the sentence says, in parts. */
static void fill(WsPlay *play, WsFinding *f, guint inst, const WsOp *op, guint n_rounds,
                 const gint64 *round, const WsEvent *other)
{
    f->harm = harm_of(f->rule);
    f->agent = ws_inst_name(play, inst);
    f->round = ws_rounds_text(op, n_rounds, round);
    f->loops = g_ptr_array_new_with_free_func(g_free);
    f->rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (const WsTree *t = op->tree; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP)
            g_ptr_array_insert(f->loops, 0, g_strdup(t->name));
    g_ptr_array_set_size(f->loops, (gint)MIN(f->loops->len, n_rounds));
    g_array_append_vals(f->rounds, round, f->loops->len);
    f->fact[WS_FACT_TILES] = play->c->tiles;
    if (play->ranks > 1)
        f->fact[WS_FACT_CTA] = play->inst[inst].rank;
    if (*play->c->sizes)
        f->sizes = g_strdup(play->c->sizes), f->met = ws_met_ref(play->c->met);
    if (!other)
        return;
    f->other = ws_inst_name(play, other->inst);
    f->steps = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(f->steps, g_strdup(step_of(other->op)));
}

/* What has one cause whichever of its steps is met first: the loads of one transaction, each
 * against the same other step, and one step against all of them. NULL: it stands for itself. Caller
 * frees. */
static char *cause_of(const WsPlay *play, WsRuleId rule, guint inst, const WsOp *op,
                      const WsEvent *other)
{
    const guint agent = play->inst[inst].agent;
    const gboolean moves = ws_op_brings(op->kind) || op->kind == WS_OP_MBAR_EXPECT;
    if (rule != WS_RULE_P_RACE && rule != WS_RULE_P_ASYNC && rule != WS_RULE_P_EARLY)
        return NULL;
    /* the contribution that may come too early, and what it brings over what is there: one wait */
    if (moves && op->barrier >= 0 &&
        (other ? other->inst == inst && other->op->barrier == op->barrier
               : rule == WS_RULE_P_EARLY))
        return g_strdup_printf("%u refills %d", agent, op->barrier);
    if (moves && op->barrier >= 0 && (!other || other->inst != inst))
        return g_strdup_printf("%d %u fills %d %s", rule, agent, op->barrier,
                               other ? step_of(other->op) : "");
    if (other && ws_op_brings(other->op->kind) && other->op->barrier >= 0)
        return g_strdup_printf("%d %s meets %u %d", rule, step_of(op),
                               play->inst[other->inst].agent, other->op->barrier);
    return NULL;
}

/* What follows from all of it stays the last line. */
static void end_last(WsFinding *f)
{
    GPtrArray *story = f->story;
    if (story->len > 1 && ((WsStoryLine *)story->pdata[story->len - 2])->part == WS_STORY_SO)
        g_ptr_array_insert(story, (gint)story->len - 2,
                           g_ptr_array_steal_index(story, story->len - 1));
}

/* A further place of a finding that has been made: "the same holds for `load B -> b`". FALSE: it is
 * said already. */
static gboolean add_place(WsFinding *f, const char *step, const char *deed)
{
    if (g_strcmp0(f->at, step) == 0)
        return FALSE;
    if (!f->steps)
        f->steps = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < f->steps->len; i++)
        if (strcmp(f->steps->pdata[i], step) == 0)
            return FALSE;
    g_ptr_array_add(f->steps, g_strdup(step));
    ws_finding_tell(f, WS_STORY_THEN, "the same holds for `%s`", deed);
    end_last(f);
    return TRUE;
}

/* Where something is met: what is said of it depends on nothing else but the rounds. */
typedef struct {
    WsRuleId rule;
    guint inst, other_inst;
    const WsOp *op, *other;
} Met;

static Met met_of(WsRuleId rule, guint inst, const WsOp *op, const WsEvent *other)
{
    return (Met){ rule, inst, other ? other->inst : 0, op, other ? other->op : NULL };
}

static guint met_hash(gconstpointer p)
{
    const Met *m = p;
    guint h = g_direct_hash(m->op);
    h = 31 * h + g_direct_hash(m->other);
    h = 31 * h + m->inst;
    h = 31 * h + m->other_inst;
    return 31 * h + m->rule;
}

static gboolean met_equal(gconstpointer p, gconstpointer q)
{
    const Met *a = p, *b = q;
    return a->rule == b->rule && a->inst == b->inst && a->other_inst == b->other_inst &&
           a->op == b->op && a->other == b->other;
}

GHashTable *ws_report_settled(void)
{
    return g_hash_table_new_full(met_hash, met_equal, g_free, NULL);
}

/* After a first error these are its consequences more often than not. */
static gboolean follows(const WsPlay *play, WsRuleId rule)
{
    return play->errors &&
           (rule == WS_RULE_P_ABA || rule == WS_RULE_P_EXIT || rule == WS_RULE_P_UNSEEN ||
            rule == WS_RULE_P_STALE || rule == WS_RULE_P_DEADLOCK);
}

/* what cannot be played is no mistake of the design: nothing is refuted by it */
static gboolean is_error(WsRuleId rule)
{
    return ws_rule(rule)->severity == WS_SEVERITY_ERROR && ws_rule(rule)->klass != WS_CLASS_F;
}

static void count(WsPlay *play, WsRuleId rule, guint inst, const WsOp *op, guint n_rounds,
                  const gint64 *round, const WsEvent *other)
{
    play->errors += is_error(rule);
    if (is_error(rule) && play->reported)
        ws_witness_note(play, rule, inst, op, n_rounds, round, other);
}

/* TRUE, and counted: whatever its text, nothing is left to say of it. */
static gboolean again(WsPlay *play, WsRuleId rule, guint inst, const WsOp *op, guint n_rounds,
                      const gint64 *round, const WsEvent *other)
{
    const Met met = met_of(rule, inst, op, other);
    if (follows(play, rule))
        return TRUE;
    if (!g_hash_table_contains(play->settled, &met))
        return FALSE;
    count(play, rule, inst, op, n_rounds, round, other);
    return TRUE;
}

static WsFinding *settle(WsPlay *play, const Met *met)
{
    g_hash_table_add(play->settled, g_memdup2(met, sizeof *met));
    return NULL;
}

static WsFinding *report(WsPlay *play, WsRuleId rule, guint inst, const WsOp *op, guint n_rounds,
                         const gint64 *round, const WsEvent *other, const char *text)
{
    const Met met = met_of(rule, inst, op, other);
    count(play, rule, inst, op, n_rounds, round, other);
    g_autofree char *cause = cause_of(play, rule, inst, op, other);
    WsFinding *made = cause ? g_hash_table_lookup(play->causes, cause) : NULL;
    if (made && made->rule != rule &&
        g_hash_table_add(play->said, g_strdup_printf("%d %s", rule, cause))) {
        g_autofree char *who = deed(play, inst, op, n_rounds, round);
        ws_finding_tell(made, WS_STORY_THEN, "%s %s", who, text);
        end_last(made);
        return NULL;
    }
    if (made) {
        const WsOp *place = strcmp(made->at, step_of(op)) == 0 && other ? other->op : op;
        return add_place(made, step_of(place), label(place)) ? NULL : settle(play, &met);
    }
    guint *said = is_error(rule) ? &play->said_errors : &play->said_others;
    const gboolean full = *said >= play->max_findings;
    /* Replicas and ranks do the same: say it once per pair of steps. */
    if (!g_hash_table_add(play->said, g_strdup_printf("%d %s %s", rule, step_of(op),
                                                      other ? step_of(other->op) : "")) ||
        full) /* a finding of this cause may still be made while there is room */
        return full || !cause ? settle(play, &met) : NULL;
    ++*said;
    g_autofree char *who = deed(play, inst, op, n_rounds, round);
    g_autoptr(GString) sizes = g_string_new(NULL);
    ws_phrase_append(sizes, play->c->tiles == 1 ? " [%s%s%u tile]" : " [%s%s%u tiles]",
                     play->c->said, *play->c->sizes ? "; " : "", play->c->tiles);
    WsFinding *f =
        ws_findings_add(play->findings, rule, step_of(op), "%s %s%s", who, text, sizes->str);
    f->what = g_strdup(text);
    fill(play, f, inst, op, n_rounds, round, other);
    if (cause)
        g_hash_table_insert(play->causes, g_steal_pointer(&cause), f);
    return f;
}

gboolean ws_report_again(WsPlay *play, WsRuleId rule, const WsInst *inst, const WsEvent *other)
{
    return again(play, rule, inst->index, inst->step.op, MIN(inst->step.n_rounds, 12),
                 inst->step.round, other);
}

WsFinding *ws_report(WsPlay *play, WsRuleId rule, const WsInst *inst, const WsEvent *other,
                     const char *format, ...)
{
    if (ws_report_again(play, rule, inst, other))
        return NULL;
    va_list args;
    va_start(args, format);
    g_autofree char *text = ws_phrase_v(format, args);
    va_end(args);
    return report(play, rule, inst->index, inst->step.op, MIN(inst->step.n_rounds, 12),
                  inst->step.round, other, text);
}

WsFinding *ws_report_event(WsPlay *play, WsRuleId rule, const WsEvent *at, const WsEvent *other,
                           const char *format, ...)
{
    if (again(play, rule, at->inst, at->op, at->n_rounds, at->round, other))
        return NULL;
    va_list args;
    va_start(args, format);
    g_autofree char *text = ws_phrase_v(format, args);
    va_end(args);
    return report(play, rule, at->inst, at->op, at->n_rounds, at->round, other, text);
}

void ws_outside(WsPlay *play, const WsInst *inst, const char *why)
{
    if (play->outside)
        return;
    play->outside = TRUE;
    g_autofree char *said = ws_phrase_word(why);
    if (inst && inst->have)
        ws_report(play, WS_RULE_F_PLAY, inst, NULL, "cannot be simulated: %s", said);
    else
        ws_findings_add(play->findings, WS_RULE_F_PLAY, inst ? inst->a->path : "",
                        "%s cannot be simulated: %s", inst ? inst->a->name : WS_WORD("the design"),
                        said);
}
