/* The witness of what is wrong with global memory: the two writes of one element, or a launch in
 * which nobody writes it. No order of moves makes it go wrong, so there are no states to show. */
#include "base/phrase.h"
#include "check/global/global.h"
#include "check/own_words.h"
#include "check/witness/witness_private.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

gboolean ws_witness_is_global(const WsFinding *f)
{
    return f->rule == WS_RULE_G_TWICE || f->rule == WS_RULE_G_NEVER;
}

static char *element_text(const WsProgram *p, gint tensor, const gint64 *element)
{
    GString *s = g_string_new(p->tensor[tensor].name);
    for (guint d = 0; d < p->tensor[tensor].rank; d++)
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, d ? "," : "[", element[d]);
    return g_string_free(g_string_append_c(s, ']'), FALSE);
}

/* One place for each CTA that writes: both writes are in the first, or the second has its own. */
static guint place_of(const WsMiscount *m, guint i)
{
    return i && m->cta[1] != m->cta[0];
}

static void name_agents(WsWitness *w, const WsMiscount *m)
{
    const WsProgram *p = w->program;
    w->ranks = m->op[1] ? place_of(m, 1) + 1 : 1;
    w->n_agents = w->ranks * p->n_agents;
    w->agent = g_new0(char *, w->n_agents + 1);
    for (guint i = 0; i < w->n_agents; i++)
        w->agent[i] =
            m->ctas > 1
                ? g_strdup_printf(ws_target_own_word(p->hardware, "%s of CTA %" G_GINT64_FORMAT),
                                  p->agent[i % p->n_agents].name, m->cta[i / p->n_agents])
                : g_strdup(p->agent[i % p->n_agents].name);
}

static void keep_moves(WsWitness *w, const WsMiscount *m, const char *element)
{
    const guint own = w->program->n_agents;
    w->n_moves = m->op[1] ? 2 : 0;
    w->move = g_new0(WsMove, w->n_moves + 1);
    w->agent_state = g_new0(WsAgentState, (gsize)(w->n_moves + 1) * w->n_agents);
    for (guint i = 0; i < (w->n_moves + 1) * w->n_agents; i++)
        w->agent_state[i].mode = WS_AGENT_DONE;
    for (guint i = 0; i < w->n_moves; i++) {
        WsMove *x = &w->move[i];
        *x = (WsMove){ .kind = WS_MOVE_STEP,
                       .agent = place_of(m, i) * own + m->agent[i],
                       .op = m->op[i],
                       .n_rounds = m->n_rounds[i],
                       .barrier = -1,
                       .named = -1,
                       .rank = place_of(m, i),
                       .collide = TRUE };
        memcpy(x->round, m->at[i], m->n_rounds[i] * sizeof x->round[0]);
        g_autofree char *where = ws_miscount_where(m, i, w->agent[x->agent]);
        x->words = ws_phrase(i ? "%s writes it again, %s: %s%s%s" : "%s writes %s: %s%s%s", where,
                             element, m->op[i]->label, *m->round[i] ? "; " : "", m->round[i]);
        WsAgentState *s = &w->agent_state[(gsize)i * w->n_agents + x->agent];
        s->mode = WS_AGENT_READY, s->op = x->op, s->n_rounds = x->n_rounds;
        memcpy(s->round, x->round, sizeof s->round);
        s->barrier = s->named = -1;
    }
}

static void keep_sizes(WsWitness *w, const WsMiscount *m)
{
    const WsProgram *p = w->program;
    w->size = g_new0(gint64, p->n_vars + 1);
    for (guint i = 0; i < m->size->len; i++) {
        const WsSize *x = &g_array_index(m->size, WsSize, i);
        const gint var = ws_program_find_var(p, x->name);
        if (var >= 0)
            w->size[var] = x->value;
    }
    w->sizes = g_strdup(m->sizes);
    w->data = m->data != NULL;
    w->element = m->data ? m->data->element : 0;
    w->element_step = m->data ? m->data->step : 0;
    w->tiles = (guint)m->tiles;
    w->rounds = -1;
}

WsWitness *ws_witness_written(WsProgram *p, const WsFinding *finding, GError **error)
{
    const gint tensor = ws_program_find_tensor(p, finding->object);
    guint tried = 0;
    WsMiscount *m =
        tensor < 0 ? NULL
                   : ws_global_count(
                         p, tensor, p->tensor[tensor].covers ? WS_COUNT_OWN : WS_COUNT_ALL, &tried);
    if (!m) {
        g_set_error(error, WS_WITNESS_ERROR, 0, "no launch that was counted shows it");
        return NULL;
    }
    WsWitness *w = g_new0(WsWitness, 1);
    w->program = ws_program_ref(p);
    w->rule = finding->rule;
    w->at = g_strdup(finding->at);
    w->message = g_strdup(finding->said);
    g_autofree char *element = element_text(p, tensor, m->element),
                    *other = m->same_place ? element_text(p, tensor, m->other) : NULL;
    keep_sizes(w, m);
    name_agents(w, m);
    keep_moves(w, m, element);
    w->end = m->op[1] ? WS_END_COLLISION : WS_END_LEFT;
    w->confirmed = TRUE;
    w->ending =
        other ? ws_phrase("%s and %s are one place in memory: one of the two is lost.", element,
                          other)
        : m->op[1] ? ws_phrase("%s holds the value of one of the two: which one is not determined.",
                               element)
        : m->tiles == 1
            ? ws_phrase(m->ctas == 1 ? "All %" G_GINT64_FORMAT
                                       " tile of the launch are done, in %" G_GINT64_FORMAT
                                       " CTA, and nobody has written %s."
                                     : "All %" G_GINT64_FORMAT
                                       " tile of the launch are done, in %" G_GINT64_FORMAT
                                       " CTAs, and nobody has written %s.",
                        m->tiles, m->ctas, element)
            : ws_phrase(m->ctas == 1 ? "All %" G_GINT64_FORMAT
                                       " tiles of the launch are done, in %" G_GINT64_FORMAT
                                       " CTA, and nobody has written %s."
                                     : "All %" G_GINT64_FORMAT
                                       " tiles of the launch are done, in %" G_GINT64_FORMAT
                                       " CTAs, and nobody has written %s.",
                        m->tiles, m->ctas, element);
    ws_own_words(p->hardware, &w->ending, NULL);
    ws_miscount_free(m);
    return w;
}
