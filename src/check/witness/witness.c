/* The witness: the case, its plan, the run, and the words. */
#include "check/witness/witness_private.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

#include <string.h>

G_DEFINE_QUARK(ws - witness - error - quark, ws_witness_error)

/* --- names ------------------------------------------------------------------------------------ */
static char *ws_witness_agent_name(const WsProgram *p, guint agent)
{
    const char *name = p->agent[agent % p->n_agents].name;
    return p->cluster > 1 ? g_strdup_printf("%s@%u", name, agent / p->n_agents) : g_strdup(name);
}

static char *place_name(const WsReplay *m, const char *name, gboolean is_array, guint element,
                        const char *part, guint parts, guint index, guint rank)
{
    GString *s = g_string_new(name);
    if (is_array)
        g_string_append_printf(s, "[%u]", element);
    if (parts > 1)
        g_string_append_printf(s, " %s %u", part, index);
    if (m->ranks > 1)
        g_string_append_printf(s, " of CTA %u", rank);
    return g_string_free(s, FALSE);
}

static void name_slots(WsWitness *w, const WsReplay *m)
{
    w->n_barriers = m->n_slots;
    w->barrier = g_new0(char *, m->n_slots + 1);
    for (guint r = 0, n = 0; r < m->ranks; r++)
        for (guint b = 0; b < m->p->n_barriers; b++) {
            const WsBarrier *x = &m->p->barrier[b];
            guint slots = MAX(x->slots, 1), all = MAX(x->array, 1) * slots;
            for (guint i = 0; x->kind == WS_BARRIER_MBARRIER && i < all; i++)
                w->barrier[n++] =
                    place_name(m, x->name, x->is_array, i / slots, "slot", slots, i % slots, r);
        }
    w->n_stages = m->n_stages;
    w->stage = g_new0(char *, m->n_stages + 1);
    for (guint r = 0, n = 0; r < m->ranks; r++)
        for (guint b = 0; b < m->p->n_buffers; b++) {
            const WsBuffer *x = &m->p->buffer[b];
            guint stages = MAX(x->stages, 1), all = MAX(x->array, 1) * stages;
            for (guint i = 0; i < all; i++)
                w->stage[n++] =
                    place_name(m, x->name, x->is_array, i / stages, "stage", stages, i % stages, r);
        }
}

static char *named_name(const WsReplay *m, guint i)
{
    const WsReplayNamed *n = &m->named[i];
    guint within = i % m->named_per_rank, rank = i / m->named_per_rank;
    if (i + 1 == m->n_named)
        return g_strdup("cluster");
    if (n->barrier >= 0) {
        const WsBarrier *b = &m->p->barrier[n->barrier];
        return place_name(m, b->name, b->is_array, (guint)n->element, "", 1, 0, rank);
    }
    if (within < ws_named_ids(m->p))
        return place_name(m, "cta", FALSE, 0, "", 1, 0, rank);
    g_autofree char *group =
        g_strdup_printf("sync of %s", m->p->agent[within - ws_named_ids(m->p)].name);
    return place_name(m, group, FALSE, 0, "", 1, 0, rank);
}

/* Named barriers that nobody joins are left out: `used` gives each its place in the witness. */
static void name_named(WsWitness *w, const WsReplay *m, gint *used)
{
    for (guint i = 0; i < m->n_named; i++)
        used[i] = -1;
    for (guint a = 0; a < m->n_agents; a++)
        for (guint i = 0; i < m->agent[a].event->len; i++) {
            gint n = g_array_index(m->agent[a].event, WsReplayEvent, i).named;
            if (n >= 0)
                used[n] = 0;
        }
    w->named = g_new0(char *, m->n_named + 1);
    w->named_id = g_new0(gint, m->n_named + 1);
    for (guint i = 0; i < m->n_named; i++) {
        if (used[i] < 0)
            continue;
        guint within = i % m->named_per_rank;
        gboolean id = i + 1 < m->n_named && within < ws_named_ids(m->p);
        w->named_id[w->n_named] =
            id ? (gint)(i / m->named_per_rank * ws_named_ids(m->p) + within) : -1;
        used[i] = (gint)w->n_named;
        w->named[w->n_named++] = named_name(m, i);
    }
}

/* --- all of it -------------------------------------------------------------------------------- */
static void tell(WsWitness *w, const WsWitnessSearch *S, WsReplay *m)
{
    w->rule = S->reported.rule;
    w->at = g_strdup(S->reported.op->step ? S->reported.op->step : S->reported.op->id);
    w->message = S->message ? g_strdup(S->message) : ws_phrase_word(ws_rule(w->rule)->title);
    w->rounds = S->c->rounds, w->tiles = S->c->tiles;
    w->sizes = g_strdup(S->c->sizes);
    w->size = g_new0(gint64, m->p->n_vars + 1);
    for (guint v = 0; v < m->p->n_vars; v++) {
        if (m->p->var[v].kind == WS_VAR_SIZE)
            w->size[v] = ws_launch_var(S->c->values, (gint)v);
    }
    w->pinned = S->c->chosen || S->c->cta > 0 ||
                (S->c->tiles > 1 && S->c->grid > (gint64)MAX(m->p->cluster, 1));
    w->first_of_several = w->pinned && !S->c->chosen && S->c->cta == 0;
    w->data = S->c->data, w->element = S->c->element, w->element_step = S->c->element_step;
    w->ranks = m->ranks, w->n_agents = m->n_agents;
    w->agent = g_new0(char *, m->n_agents + 1);
    for (guint i = 0; i < m->n_agents; i++)
        w->agent[i] = ws_witness_agent_name(m->p, i);
    name_slots(w, m);
    g_autofree gint *used = g_new0(gint, m->n_named);
    name_named(w, m, used);
    gboolean shown = FALSE;
    for (guint attempt = 0; !shown && attempt <= 2; attempt++) {
        ws_replay_reset(m);
        ws_replay_run(m, S->schedule);
        WsPlan *plan = ws_plan_new(m, &S->reported, attempt);
        ws_witness_forget(w);
        if (plan && (plan->agent != G_MAXUINT || attempt == 2))
            shown = ws_witness_run(w, m, plan, used);
        if (attempt == 2 && w->end == WS_END_STEP) /* shows the operation, not what is wrong */
            w->confirmed = FALSE;
        ws_plan_free(plan);
    }
    if (!w->confirmed)
        w->why = g_strdup(m->p->hardware->core
                              ? "its moves are those of whole steps, and none of the orders that "
                                "were tried ends so: steps of one queue must overlap for it"
                              : "its moves are those of whole agents, and none of the orders that "
                                "were tried ends so: lanes of one agent must get out of step for "
                                "it");
    ws_witness_say(w);
}

WsWitness *ws_witness_new(WsProgram *p, const WsFinding *finding, GError **error)
{
    if (finding && ws_witness_is_global(finding))
        return ws_witness_written(p, finding, error);
    WsWitnessSearch S;
    ws_witness_search(&S, p, finding);
    WsWitness *w = NULL;
    WsReplay *m = S.c ? ws_replay_new(p, S.c) : NULL;
    if (m && !m->trouble) {
        w = g_new0(WsWitness, 1);
        w->program = ws_program_ref(p);
        tell(w, &S, m);
    } else {
        g_set_error(error, WS_WITNESS_ERROR, 0, "%s",
                    m ? m->trouble
                    : finding && !finding->agent /* no play has met it */
                        ? "no order of moves makes it go wrong: it is in the text, for every run"
                        : "none of the sizes and schedules that were tried shows it");
    }
    ws_replay_free(m);
    ws_witness_search_clear(&S);
    return w;
}

WsWitness *ws_witness_of(WsProgram *p, const WsFindings *findings, GError **error)
{
    WsWitness *first = NULL;
    g_autoptr(GError) why = NULL;
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity != WS_SEVERITY_ERROR ||
            (ws_rule(f->rule)->klass != WS_CLASS_P && !ws_witness_is_global(f)))
            continue;
        WsWitness *w = ws_witness_new(p, f, why ? NULL : &why);
        if (w && w->confirmed) {
            ws_witness_free(first);
            return w;
        }
        if (first)
            ws_witness_free(w);
        else
            first = w;
    }
    if (!first && why)
        g_propagate_error(error, g_steal_pointer(&why));
    else if (!first)
        g_set_error(error, WS_WITNESS_ERROR, 0, "nothing was refuted that a run could show");
    return first;
}

static void free_names(char **name, guint n)
{
    for (guint i = 0; name && i < n; i++)
        g_free(name[i]);
    g_free(name);
}

void ws_witness_free(WsWitness *w)
{
    if (!w)
        return;
    ws_witness_forget(w);
    free_names(w->agent, w->n_agents);
    free_names(w->barrier, w->n_barriers);
    free_names(w->named, w->n_named);
    free_names(w->stage, w->n_stages);
    g_free(w->named_id);
    g_free(w->at);
    g_free(w->message);
    g_free(w->sizes);
    g_free(w->size);
    g_free(w->ending);
    g_free(w->why);
    ws_program_unref(w->program);
    g_free(w);
}
