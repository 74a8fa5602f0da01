/* The path back from the last event of a play, as steps. */
#include "advise/critical.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/visit.h"

#define NONE 0

struct WsCritical {
    GHashTable *step; /* texts of the program */
};

typedef struct {
    const WsProgram *p;
    const WsEvents *e;
    gboolean *on; /* by operation */
} Path;

static const WsClockEvent *event_at(const WsEvents *e, guint i)
{
    return &g_array_index(e->event, WsClockEvent, i);
}

static guint last_of(const WsEvents *e)
{
    guint last = NONE;
    for (guint i = 1; i < e->event->len; i++)
        if (last == NONE || event_at(e, i)->at > event_at(e, last)->at)
            last = i;
    return last;
}

/* The cause that decided. */
static const WsEventCause *cause_of(const WsEvents *e, guint i)
{
    const WsClockEvent *v = event_at(e, i);
    const WsEventCause *found = NULL;
    double latest = 0;
    for (guint k = 0; k < v->n; k++) {
        const WsEventCause *c = &g_array_index(e->cause, WsEventCause, v->first + k);
        const double at = event_at(e, c->from)->at + c->weight;
        if (!found || at > latest) {
            found = c;
            latest = at;
        }
    }
    return found;
}

static void mark(const Path *path, guint from, guint to)
{
    for (guint i = from; i <= to && i < path->p->n_ops; i++)
        path->on[i] = TRUE;
}

/* Between two events of an agent one after the other: what it did in between has no event of its
 * own, or one that did not decide. */
static void mark_between(const Path *path, const WsEventOf *from, const WsEventOf *to)
{
    if (from->op <= to->op) {
        mark(path, from->op, to->op);
        return;
    }
    /* Around a loop: what of it comes after the one and before the other. */
    const WsTree *loop = ws_tree_loop_of_both(path->p->op[from->op], path->p->op[to->op]);
    for (guint i = 0; i < path->p->n_ops; i++)
        if (path->p->op[i]->agent == to->agent && (i >= from->op || i <= to->op) &&
            (!loop || ws_tree_is_within(path->p->op[i]->tree, loop)))
            path->on[i] = TRUE;
}

static void follow(const Path *path)
{
    guint at = last_of(path->e);
    while (at != NONE) {
        const WsEventOf *of = &event_at(path->e, at)->of;
        const WsEventCause *c = cause_of(path->e, at);
        if (of->agent >= 0)
            mark(path, of->op, of->op);
        if (c && c->kind == WS_CAUSE_ORDER && of->agent >= 0)
            mark_between(path, &event_at(path->e, c->from)->of, of);
        at = c ? c->from : NONE;
    }
}

WsCritical *ws_critical_new(const WsProgram *p, const WsClockResult *r)
{
    if (!r->events || r->events->too_many || r->events->event->len < 2)
        return NULL;
    g_autofree gboolean *on = g_new0(gboolean, p->n_ops + 1);
    const Path path = { p, r->events, on };
    WsCritical *c = g_new0(WsCritical, 1);
    c->step = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    follow(&path);
    for (guint i = 0; i < p->n_ops; i++)
        if (on[i] && p->op[i]->step)
            g_hash_table_add(c->step, g_strdup(p->op[i]->step));
    return c;
}

void ws_critical_free(WsCritical *c)
{
    if (!c)
        return;
    g_hash_table_destroy(c->step);
    g_free(c);
}

gboolean ws_critical_has(const WsCritical *c, const char *step)
{
    return g_hash_table_contains(c->step, step);
}
