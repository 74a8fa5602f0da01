/* L-BEGIN: where the name of a loop's rounds is asked anew. A count met again in a tile is asked
 * anew when its loop is entered (L-SPLIT). What stands in front of the loop and asks about the same
 * name, the first rounds of what runs ahead, then hears what the loop before it has heard. Here it
 * is asked anew in front of those. */
#include "check/proof/symbols.h"
#include "program/program.h"

static gboolean is_within(const WsTree *t, const WsTree *in)
{
    while (t && t != in)
        t = t->parent;
    return t != NULL;
}

/* What asks about a symbol in a tree, and whether a loop over it is there. */
static gboolean asks(const WsControl *c, gint agent, const WsTree *in, gint symbol, gboolean count)
{
    for (guint i = 0; in && i < c->site[agent]->len; i++) {
        const WsSite *s = &g_array_index(c->site[agent], WsSite, i);
        if (s->form->symbol == symbol && (s->count || !count) && is_within(s->node, in))
            return TRUE;
    }
    return FALSE;
}

static gboolean has_condition(const WsControl *c, gint agent, const WsTree *branch, gint symbol)
{
    for (guint i = 0; i < c->site[agent]->len; i++) {
        const WsSite *s = &g_array_index(c->site[agent], WsSite, i);
        if (s->node == branch && s->form->symbol == symbol)
            return TRUE;
    }
    return FALSE;
}

/* The first of those before a node of a sequence that ask about the symbol; behind another loop
 * over it only what was peeled off this one. FALSE: it goes no further up. */
static gboolean look_before(const WsControl *c, gint agent, const WsTree *node, const WsTree *loop,
                            gint symbol, const WsTree **begin)
{
    const WsTree *list = node->parent;
    guint at = 0, first = 0;
    while (at < list->n_kids && list->kid[at] != node)
        at++;
    for (guint i = 0; i < at; i++)
        if (asks(c, agent, list->kid[i], symbol, TRUE))
            first = i + 1;
    for (guint i = first; i < at; i++) {
        const WsTree *kid = list->kid[i];
        if (asks(c, agent, kid, symbol, FALSE) &&
            (first == 0 || (loop->step && !g_strcmp0(kid->step, loop->step)))) {
            *begin = kid;
            break;
        }
    }
    return first == 0;
}

static const WsTree *begin_of(const WsControl *c, gint agent, const WsTree *loop, gint symbol)
{
    const WsTree *begin = loop, *node = loop;
    for (const WsTree *up = loop->parent; up && up->kind != WS_TREE_LOOP; up = up->parent) {
        if (up->kind == WS_TREE_SEQ && !look_before(c, agent, node, loop, symbol, &begin))
            break;
        if (up->kind == WS_TREE_BRANCH) {
            gboolean other = FALSE;
            for (guint i = 0; i < up->n_kids; i++)
                other |= up->kid[i] != node && asks(c, agent, up->kid[i], symbol, TRUE);
            if (other || !has_condition(c, agent, up, symbol))
                break;
            begin = up;
        }
        node = up;
    }
    return begin;
}

/* Nothing compares the index of that loop with a value that was asked before it was entered. */
static void renew(WsControl *c, gint agent, const WsTree *loop, gint symbol, gboolean set)
{
    for (guint i = 0; i < c->site[agent]->len; i++) {
        WsSite *s = &g_array_index(c->site[agent], WsSite, i);
        if (s->count || s->moving != loop || s->form->symbol != symbol || s->number < 0 ||
            s->number != loop->index_var)
            continue;
        c->leads |= s->again;
        s->renewed = set;
        s->again &= !set;
    }
}

void ws_find_begins(WsControl *c, gboolean set)
{
    for (guint a = 0; a < c->p->n_agents; a++)
        for (guint i = 0; c->site[a] && i < c->site[a]->len; i++) {
            const WsSite *s = &g_array_index(c->site[a], WsSite, i);
            const WsSymbol *x = s->count ? c->symbols->pdata[s->form->symbol] : NULL;
            if (!x || !x->split || x->by_round)
                continue;
            const WsTree *begin = begin_of(c, (gint)a, s->node, s->form->symbol);
            renew(c, (gint)a, s->node, s->form->symbol, set);
            c->leads |= begin != s->node;
            if (begin == s->node || !set)
                continue;
            const guint64 *is = g_hash_table_lookup(c->begins, begin);
            guint64 *splits = g_new0(guint64, 1);
            *splits = (is ? *is : 0) | 1ull << (x->split - 1);
            g_hash_table_insert(c->begins, (gpointer)begin, splits);
            g_hash_table_insert(c->begun, (gpointer)s->node, (gpointer)begin);
        }
}
