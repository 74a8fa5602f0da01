/* What a proof that is given up says: what was too much, and which loops make so many states. */
#include "check/proof/bits/bits_much.h"
#include "base/phrase.h"
#include "program/parts/agent.h"
#include "program/program.h"

static const WsTree *counted_around(const WsTree *t)
{
    for (t = t->parent; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->over != WS_OVER_TILES)
            return t;
    return NULL;
}

/* Where an index is compared with a size and its loop starts again in each round of another one,
 * both count themselves: what that takes is said by name. */
char *ws_bits_starts_again(const WsControl *c)
{
    for (guint a = 0; a < c->p->n_agents; a++)
        for (guint i = 0; i < c->site[a]->len; i++) {
            const WsSite *site = &g_array_index(c->site[a], WsSite, i);
            const WsTree *outer = site->again && site->moving ? counted_around(site->moving) : NULL;
            if (outer)
                return ws_phrase("a condition of loop %s compares its index with a size, and %s "
                                 "starts it again in each round; give the steps that run ahead "
                                 "there to another group",
                                 site->moving->name, outer->name);
        }
    return NULL;
}

typedef struct {
    const WsTree *loop; /* within as many others as any that is counted */
    const WsAgent *agent;
    guint depth;
} Deepest;

static void look_deeper(const WsTree *t, guint depth, const WsAgent *agent, Deepest *d)
{
    const gboolean counted = t->kind == WS_TREE_LOOP && t->over != WS_OVER_TILES;
    depth += counted;
    if (counted && depth > d->depth)
        *d = (Deepest){ t, agent, depth };
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i])
            look_deeper(t->kid[i], depth, agent, d);
}

/* What it was that was too much, and what makes so many states. */
char *ws_bits_too_much(const WsBits *b, const char *what)
{
    g_autofree char *again = ws_bits_starts_again(b->c);
    if (again)
        return ws_phrase("%s: %s", what, again);
    Deepest d = { 0 };
    for (guint a = 0; a < b->p->n_agents; a++)
        look_deeper(b->p->agent[a].body, 0, &b->p->agent[a], &d);
    const WsTree *outer = d.loop ? counted_around(d.loop) : NULL;
    if (!outer)
        return g_strdup(what);
    return ws_phrase("%s: rounds of loop %s in loop %s of group %s at %s are told apart", what,
                     d.loop->name, outer->name, d.agent->name, d.loop->step ? d.loop->step : "-");
}
