/* What the clock assumes of rounds that data decide. */
#include "advise/fold.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/walk/depends.h"

static gboolean of_data(guint bits)
{
    return (bits & WS_DEPENDS_DATA) != 0;
}

/* What each round does may be another's: a branch or an inner loop, a step that may be skipped,
 * text whose time is not known. */
static const char *assumed_of(const WsDepends *d, const WsTree *t)
{
    if (t->kind == WS_TREE_BRANCH && of_data(ws_depends_control(d, t)))
        return "data decide a branch within its rounds, and the clock takes the middle of "
               "their range";
    if (t->kind == WS_TREE_LOOP && of_data(ws_depends_control(d, t)))
        return "data decide how many rounds an inner loop has, and the clock takes the "
               "middle of their range";
    if (t->kind == WS_TREE_OP && t->op->skip)
        return "a step with `unless` stands in its rounds, and the clock takes it as "
               "skipped";
    if (t->kind == WS_TREE_OP && ws_op_is_raw(t->op->kind))
        return "a raw step stands in its rounds, and the clock gives it no time";
    return NULL;
}

/* Of what stands in rounds of loops like the one that is told. */
static const char *within(const WsDepends *d, const WsTree *t, gboolean tiles, gboolean inside)
{
    const char *found = inside ? assumed_of(d, t) : NULL;
    const gboolean rounds = t->kind == WS_TREE_LOOP && (tiles || t->over == WS_OVER_COUNT);
    for (guint i = 0; i < t->n_kids && !found; i++)
        found = t->kid[i] ? within(d, t->kid[i], tiles, inside || rounds) : NULL;
    return found;
}

const char *ws_fold_assumes(const WsProgram *p, gboolean tiles)
{
    g_autoptr(WsDepends) d = ws_depends_new(p, NULL);
    const char *found = p->unread ? "values that were not read take no time in the clock" : NULL;
    for (guint a = 0; a < p->n_agents && !found; a++)
        found = p->agent[a].body ? within(d, p->agent[a].body, tiles, FALSE) : NULL;
    return found;
}
