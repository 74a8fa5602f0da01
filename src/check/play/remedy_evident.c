/* Remedies of what the program itself contradicts, whatever has come of it: a barrier that one side
 * alone knows, counters of one ring that move differently, a release of another use than was waited
 * for, a count drawn against the steps. Such a thing is the cause of a finding of the agents it is
 * about, and its remedy takes the place of what was said of the symptom. */
#include "check/play/remedy.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* "mma.0@1" is agent mma.0. */
static gboolean is_agent(const char *said, const char *name)
{
    const gsize n = strlen(name);
    return said && strncmp(said, name, n) == 0 && (said[n] == '\0' || said[n] == '@');
}

static gboolean concerns(const WsPlay *play, const WsFinding *f, gint agent)
{
    return agent >= 0 && (is_agent(f->agent, play->p->agent[agent].name) ||
                          is_agent(f->other, play->p->agent[agent].name));
}

/* Barrier of the finding: "full slot 0" is of full. */
static gboolean is_about(const WsFinding *f, const WsBarrier *b)
{
    const gsize n = strlen(b->name);
    return f->barrier && strncmp(f->barrier, b->name, n) == 0 &&
           (f->barrier[n] == '\0' || f->barrier[n] == ' ' || f->barrier[n] == '[');
}

static gboolean is_move(const WsOp *op)
{
    return op->kind == WS_OP_ADVANCE;
}

static gboolean in_tiles(const WsOp *op)
{
    const WsTree *loop = ws_loop_of(op);
    return loop && loop->over == WS_OVER_TILES;
}

/* --- named barriers --------------------------------------------------------------------------- */
/* The agent arrives itself at the barrier at which it syncs. */
static gboolean crossed(const WsPlay *play, const WsOp *sync)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == sync->agent && op->barrier == sync->barrier && ws_is_join(op) &&
            !ws_is_sync(op) && ws_loop_of(op) == ws_loop_of(sync))
            return TRUE;
    }
    return FALSE;
}

/* One of them arrives on an mbarrier for which the other waits. */
static gboolean exchange(const WsPlay *play, const WsFinding *f)
{
    const WsProgram *p = play->p;
    for (guint i = 0; i < p->n_ops; i++)
        for (guint k = 0; ws_is_arrival(p->op[i]) && k < p->n_ops; k++)
            if (ws_is_wait(p->op[k]) && p->op[k]->barrier == p->op[i]->barrier &&
                p->op[k]->agent != p->op[i]->agent && concerns(play, f, p->op[i]->agent) &&
                concerns(play, f, p->op[k]->agent))
                return TRUE;
    return FALSE;
}

static gboolean one_sided(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    for (guint b = 0; b < p->n_barriers; b++) {
        const WsBarrier *n = &p->barrier[b];
        const WsOp *gives = NULL, *other = NULL;
        gboolean met = FALSE;
        if (n->kind != WS_BARRIER_NAMED || n->derived)
            continue;
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if (op->agent < 0 || !ws_is_join(op))
                continue;
            if (op->barrier == (gint)b)
                gives = op, met |= ws_is_sync(op);
        }
        for (guint i = 0; gives && !met && i < p->n_ops; i++) { /* who would have to come */
            const WsOp *op = p->op[i];
            if (op->agent >= 0 && op->agent != gives->agent && ws_is_sync(op) &&
                !p->barrier[op->barrier].derived && ws_loop_of(op) && concerns(play, f, op->agent))
                other = !other || crossed(play, op) ? op : other;
        }
        if (!gives && f->other && f->agent && strcmp(f->agent, f->other) != 0 &&
            !exchange(play, f)) {
            ws_finding_set_remedy(f,
                                  "%s is declared but no step uses it: let %s and %s sync on it "
                                  "between the two steps",
                                  n->name, f->other, f->agent);
            return TRUE;
        }
        if (gives && !met && concerns(play, f, gives->agent)) {
            const WsOp *first = ws_first_on(play, -1, b, ws_is_join);
            if (first->agent != gives->agent)
                ws_finding_set_remedy(f,
                                      "%s and %s arrive at %s and nobody waits there: let the "
                                      "one sync that has to wait for the other",
                                      ws_op_agent(play, first), ws_op_agent(play, gives), n->name);
            else if (other)
                ws_finding_set_remedy(f,
                                      "nobody waits at %s, where %s arrives: let %s sync there; it "
                                      "has `%s`",
                                      n->name, ws_op_agent(play, gives), ws_op_agent(play, other),
                                      ws_op_name(other));
            else
                ws_finding_set_remedy(f,
                                      "nobody waits at %s, where %s arrives: let the groups that "
                                      "it should hold back sync there",
                                      n->name, ws_op_agent(play, gives));
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean other_threads(const WsPlay *play, WsFinding *f)
{
    for (guint b = 0; b < play->p->n_barriers; b++) {
        const WsBarrier *n = &play->p->barrier[b];
        for (guint e = 0; n->threads && n->threads_derived && e < MAX(n->array, 1); e++) {
            gboolean here = FALSE;
            for (guint i = 0; i < play->p->n_ops; i++)
                here |= play->p->op[i]->barrier == (gint)b && ws_is_join(play->p->op[i]) &&
                        concerns(play, f, play->p->op[i]->agent);
            if (!here || n->threads[e] == n->threads_derived[e])
                continue;
            ws_finding_set_remedy(f, "restore the derived count of %s: %u threads instead of %u",
                                  n->name, n->threads_derived[e], n->threads[e]);
            return TRUE;
        }
    }
    return FALSE;
}

/* --- turns ------------------------------------------------------------------------------------ */
/* Whoever waits for an element gives it to itself, and nobody else does. */
static gboolean own_turn(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    for (guint b = 0; b < p->n_barriers; b++) {
        const WsBarrier *n = &p->barrier[b];
        const WsOp *given = NULL;
        gboolean own = n->is_array && is_about(f, n);
        for (guint i = 0; own && i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if (op->agent < 0 || op->barrier != (gint)b || !ws_op_arrives(op->kind))
                continue;
            const WsOp *wait = ws_first_on(play, op->agent, b, ws_is_wait);
            own = wait && wait->element && op->element && ws_loop_of(op) &&
                  ws_expr_equal(wait->element, op->element);
            given = op;
        }
        if (!own || !given)
            continue;
        ws_finding_set_remedy(f,
                              "let `%s` of %s give the turn to the other one: each arrives on the "
                              "element of %s that it waits for itself",
                              ws_op_name(given), ws_op_agent(play, given), n->name);
        return TRUE;
    }
    return FALSE;
}

/* --- counters --------------------------------------------------------------------------------- */
/* An mbarrier whose uses both count by these counters; -1. */
static gint common(const WsPlay *play, const WsOp *a, const WsOp *b)
{
    for (guint n = 0; n < play->p->n_barriers; n++) {
        gboolean x = FALSE, y = FALSE;
        for (guint i = 0; i < play->p->n_ops; i++) {
            const WsOp *op = play->p->op[i];
            if (op->barrier != (gint)n)
                continue;
            x |= op->agent == a->agent && ws_expr_mentions_var(op->use, a->var);
            y |= op->agent == b->agent && ws_expr_mentions_var(op->use, b->var);
        }
        if (x && y)
            return (gint)n;
    }
    return -1;
}

/* The only step that moves a counter of the agent, if it stands in the tile's list. */
static const WsOp *mover(const WsPlay *play, const WsOp *advance)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (is_move(op) && op->var == advance->var && (op != advance || !in_tiles(op)))
            return NULL;
    }
    return advance;
}

static gboolean counters_differ(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    for (guint i = 0; i < p->n_ops; i++)
        for (guint k = 0; is_move(p->op[i]) && k < p->n_ops; k++) {
            const WsOp *a = p->op[i], *b = p->op[k];
            if (!is_move(b) || p->agent[a->agent].group == p->agent[b->agent].group ||
                !concerns(play, f, a->agent) ||
                strcmp(p->var[a->var].name, p->var[b->var].name) != 0 || !mover(play, a) ||
                !mover(play, b) || common(play, a, b) < 0)
                continue;
            g_autofree char *x = a->set ? ws_expr_print(a->set) : g_strdup("1"),
                            *y = b->set ? ws_expr_print(b->set) : g_strdup("1");
            if (strcmp(x, y) == 0)
                continue;
            ws_finding_set_remedy(
                f,
                "%s counts the same ring in %s and in %s and advances differently: by %s in a tile "
                "of %s, by %s in one of %s; let both advance by the same amount",
                p->var[a->var].name, ws_op_agent(play, a), ws_op_agent(play, b), x,
                ws_op_agent(play, a), y, ws_op_agent(play, b));
            return TRUE;
        }
    return FALSE;
}

static guint replicas(const WsPlay *play, gint agent)
{
    guint n = 0;
    for (guint i = 0; i < play->p->n_agents; i++)
        n += play->p->agent[i].group == play->p->agent[agent].group;
    return n;
}

/* Replicas that take tiles in turns and use a ring that is filled for all of them. */
static gboolean in_turns(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *a = p->op[i];
        const WsTree *loop = is_move(a) ? ws_loop_of(a) : NULL, *tiles = loop;
        while (tiles && !(tiles->kind == WS_TREE_LOOP && tiles->over == WS_OVER_TILES))
            tiles = tiles->parent;
        gint64 step = 1;
        if (!tiles || tiles == loop || !concerns(play, f, a->agent) ||
            replicas(play, a->agent) < 2 || !tiles->step_by ||
            !ws_expr_is_int(tiles->step_by, &step) || step < 2)
            continue;
        gboolean skips = FALSE;
        for (guint k = 0; k < p->n_ops; k++)
            skips |= is_move(p->op[k]) && p->op[k]->var == a->var && in_tiles(p->op[k]);
        const WsVar *v = &p->var[a->var];
        gint64 start = 0;
        const gboolean fixed = !v->value || (ws_expr_is_int(v->value, &start) && start == 0);
        const gboolean first = ws_expr_is_int(tiles->from, &start) && start == 0;
        g_autofree char *rounds = loop->count ? ws_expr_print(loop->count) : g_strdup("?");
        if (!skips) {
            ws_finding_set_remedy(f,
                                  "let %s of %s pass over what the other replicas use: they take "
                                  "every other tile, and the ring is filled for all; `advance` it "
                                  "by (replicas - 1)*(%s) more in every tile",
                                  v->name, ws_op_agent(play, a), rounds);
            return TRUE;
        }
        if (fixed && !first) {
            ws_finding_set_remedy(f,
                                  "let %s of %s start after what the replicas before it use in "
                                  "their first tile: at replica*(%s)",
                                  v->name, ws_op_agent(play, a), rounds);
            return TRUE;
        }
    }
    return FALSE;
}

/* --- releases --------------------------------------------------------------------------------- */
/* It gives another use back than the one that it has waited for in the same loop. */
static gboolean other_release(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *give = p->op[i];
        if (give->agent < 0 || !ws_is_arrival(give) || !give->use || !ws_loop_of(give) ||
            !p->barrier[give->barrier].ready || !p->barrier[give->barrier].ready[0])
            continue; /* of a ring that arrivals prime the uses run ahead */
        for (guint k = 0; k < p->n_ops; k++) {
            const WsOp *wait = p->op[k], *by = NULL;
            if (wait->agent != give->agent || !ws_is_wait(wait) || !wait->use ||
                wait->tree->parent != give->tree->parent ||
                (give->element && wait->element && !ws_expr_equal(give->element, wait->element)) ||
                !(is_about(f, &p->barrier[give->barrier]) ||
                  is_about(f, &p->barrier[wait->barrier])))
                continue;
            g_autofree char *gives = ws_use_text(give), *awaits = ws_use_text(wait);
            const gsize n = strlen(awaits);
            if (strcmp(gives, awaits) == 0 ||
                (strncmp(gives, awaits, n) == 0 && g_str_has_prefix(gives + n, " - ")) ||
                ws_use_is_named(play, (guint)wait->barrier, ws_is_wait, gives))
                continue;
            const WsOp *fill = NULL;
            for (guint j = 0; j < p->n_ops && !fill; j++)
                if (p->op[j]->barrier == wait->barrier && p->op[j]->agent != wait->agent &&
                    ws_is_feed(p->op[j]) &&
                    ws_first_on(play, p->op[j]->agent, (guint)give->barrier, ws_is_wait))
                    fill = p->op[j];
            if (!fill || fill->agent < 0 ||
                ws_room_of(play, (guint)wait->barrier, (guint)fill->agent, &by) != give->barrier)
                continue;
            ws_finding_set_remedy(f,
                                  "let `%s` of %s give back the use that it has waited for: it "
                                  "says %s, `%s` says %s",
                                  ws_op_name(give), ws_op_agent(play, give), gives,
                                  ws_op_name(wait), awaits);
            return TRUE;
        }
    }
    return FALSE;
}

/* An agent arrives on an mbarrier in one way here and in another way there: with other lanes, or in
 * other CTAs. A completion takes the same number from everywhere. */
static gboolean unlike(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    for (guint i = 0; i < p->n_ops; i++)
        for (guint k = i + 1; p->op[i]->agent >= 0 && !p->op[i]->derived && k < p->n_ops; k++) {
            const WsOp *x = p->op[i], *y = p->op[k];
            if (!ws_is_arrival(x) || !ws_is_arrival(y) || x->agent != y->agent || y->derived ||
                x->barrier != y->barrier || x->tree->parent == y->tree->parent)
                continue;
            const gboolean lanes = x->per != y->per,
                           ctas = (x->ctas.kind == WS_CTAS_OWN && y->ctas.kind == WS_CTAS_ALL) ||
                                  (x->ctas.kind == WS_CTAS_ALL && y->ctas.kind == WS_CTAS_OWN);
            if (lanes)
                ws_finding_set_remedy(f,
                                      "let `%s` of %s be by the same lanes everywhere: it is by "
                                      "one of them in one place and by every warp or thread in "
                                      "another, and %s counts the same number each time",
                                      ws_op_name(x), ws_op_agent(play, x),
                                      p->barrier[x->barrier].name);
            else if (ctas)
                ws_finding_set_remedy(f,
                                      "let `%s` of %s reach the same CTAs everywhere: it reaches "
                                      "all (\"cta\": \"all\") in one place and its own in another",
                                      ws_op_name(x), ws_op_agent(play, x));
            if (lanes || ctas)
                return TRUE;
        }
    return FALSE;
}

/* Somebody arrives on an mbarrier behind what it has done, and nobody ever waits for it. */
static gboolean unheard(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    if (f->rule != WS_RULE_P_RACE && f->rule != WS_RULE_P_ASYNC)
        return FALSE;
    for (guint b = 0; b < p->n_barriers; b++) {
        const WsOp *gives = ws_first_on(play, -1, b, ws_is_arrival);
        if (p->barrier[b].kind != WS_BARRIER_MBARRIER || !gives ||
            ws_first_on(play, -1, b, ws_is_wait) || !f->other || !f->agent ||
            strcmp(f->other, f->agent) == 0)
            continue;
        for (guint i = 0; i < p->n_ops; i++)
            if (p->op[i]->agent >= 0 && p->op[i]->barrier == (gint)b && ws_is_arrival(p->op[i]) &&
                concerns(play, f, p->op[i]->agent)) {
                const gboolean own = is_agent(f->agent, p->agent[p->op[i]->agent].name);
                ws_finding_set_remedy(f,
                                      "let %s wait for %s: %s arrives there, and nobody waits for "
                                      "it",
                                      own ? f->other : f->agent, p->barrier[b].name,
                                      ws_op_agent(play, p->op[i]));
                return TRUE;
            }
    }
    return FALSE;
}

/* All releases stand in a loop and lag behind it: the last use is given back by nobody. */
static gboolean last_kept(const WsPlay *play, WsFinding *f)
{
    const WsProgram *p = play->p;
    if (f->rule != WS_RULE_P_DEADLOCK)
        return FALSE;
    for (guint b = 0; b < p->n_barriers; b++) {
        const WsOp *lags = NULL;
        gboolean behind = FALSE;
        if (!is_about(f, &p->barrier[b]))
            continue;
        for (guint i = 0; i < p->n_ops; i++) {
            const WsOp *op = p->op[i];
            if (op->agent < 0 || op->barrier != (gint)b || !ws_is_arrival(op))
                continue;
            g_autofree char *use = ws_use_text(op);
            const WsTree *loop = ws_loop_of(op);
            if (!use || !loop)
                return FALSE;
            behind |= loop->over == WS_OVER_TILES;
            if (loop->over == WS_OVER_COUNT && g_str_has_suffix(use, " - 1"))
                lags = op;
        }
        if (!lags)
            continue;
        g_autofree char *use = ws_use_text(lags);
        const WsTree *loop = ws_loop_of(lags);
        if (MAX(p->barrier[b].slots, 1) == 1)
            ws_finding_set_remedy(f,
                                  "give the ring of %s more stages than one, or let `%s` of %s "
                                  "come in its own round: it gives a slot back a round later, and "
                                  "the next round needs it",
                                  p->barrier[b].name, ws_op_name(lags), ws_op_agent(play, lags));
        else if (!behind)
            ws_finding_set_remedy(f,
                                  "let `%s` of %s come once more, after loop %s: it gives a slot "
                                  "back a round later (%s), and nobody gives back the last one",
                                  ws_op_name(lags), ws_op_agent(play, lags), loop->name, use);
        else
            continue;
        return TRUE;
    }
    return FALSE;
}

void ws_remedy_evident(const WsPlay *play, WsFinding *f)
{
    static gboolean (*const causes[])(const WsPlay *, WsFinding *) = {
        other_threads, unlike,        one_sided, own_turn,  counters_differ,
        in_turns,      other_release, unheard,   last_kept,
    };
    if (ws_rule(f->rule)->klass != WS_CLASS_P || f->severity != WS_SEVERITY_ERROR)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(causes); i++)
        if (causes[i](play, f))
            return;
}
