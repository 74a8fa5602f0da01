/* Quick-fixes that give a place the step that its siblings have: a release that stands in the loop
 * and lacks behind it, a wait that stands before the loop and lacks in it, the other half of a turn
 * that goes round, the wait of a pipe. */
#include "base/phrase.h"
#include "mend/fixer.h"
#include "model/finding.h"

enum { MOST_COPIES = 160, DRAIN = 8 };

/* The step again, without its condition. */
static WsJson *bare(const WsNode *step)
{
    g_autofree char *ref = ws_field_text(step, WS_F_keyword), *use = ws_field_text(step, WS_F_use),
                    *by = ws_field_text(step, WS_F_by), *cta = ws_field_text(step, WS_F_cta);
    return ws_hand(step->kind, ref, use, (WsHanding){ .by = by, .cta = cta });
}

static gboolean is_place(const WsFixer *F, gint i, WsNodeKind kind)
{
    const WsNodeKind here = ws_spot(F, i)->node->kind;
    return kind == WS_STEP_WAIT ? here == WS_STEP_LOAD || here == WS_STEP_MMA ||
                                      here == WS_STEP_READ || here == WS_STEP_WRITE
                                : ws_step_retires(here) || here == WS_STEP_FOR;
}

/* The finding is about one of the two barriers of the pipe. */
static gboolean is_of_pipe(const WsFixer *F, const char *pipe)
{
    const char *barrier = F->finding->barrier;
    const gsize n = strlen(pipe);
    return g_strcmp0(F->finding->object, pipe) == 0 ||
           (barrier && strncmp(barrier, pipe, n) == 0 && barrier[n] == '.');
}

/* Copies of a step that hands a ring over, at other places of its group: waits before what uses
 * data, arrivals behind what retires and behind loops. */
void ws_fix_copy_step(WsFixer *F)
{
    guint n = 0;
    for (gint s = 0; s < (gint)F->spot->len; s++) {
        const WsSpot *from = ws_spot(F, s);
        const WsNodeKind kind = from->node->kind;
        const char *barrier = ws_step_barrier(from->node),
                   *pipe = kind == WS_STEP_RELEASE ? ws_node_text(from->node, WS_F_keyword)
                           : kind == WS_STEP_WAIT  ? barrier
                                                   : NULL;
        if (!ws_object_named(F->design, WS_F_pipes, pipe))
            pipe = NULL;
        if (!pipe &&
            ((kind != WS_STEP_WAIT && kind != WS_STEP_ARRIVE) || !ws_is_mbarrier(F, barrier) ||
             ws_node_has(from->node, WS_F_slot) || ws_node_has(from->node, WS_F_phase)))
            continue;
        const gboolean meant =
            pipe ? is_of_pipe(F, pipe) : g_strcmp0(barrier, F->finding->object) == 0;
        g_autofree char *name = ws_step_name(from->node);
        for (gint i = 0; i < (gint)F->spot->len && n < MOST_COPIES; i++) {
            const WsSpot *to = ws_spot(F, i);
            if (to->group != from->group || to->owner == from->owner || !is_place(F, i, kind))
                continue;
            g_autofree char *where = ws_step_name(to->node);
            const gint by = kind == WS_STEP_WAIT ? 0 : 1;
            WsFix *fix = ws_fixer_add(F, "%s %s %s, as elsewhere in %s", name,
                                      by ? WS_WORD("after") : WS_WORD("before"), where,
                                      ws_node_name(from->group));
            /* a wait once more drains what is left; who loads a round too much should not */
            fix->cost += F->finding->rule == WS_RULE_P_EXIT ? DRAIN : 0;
            fix->cost += (meant ? 0 : 3) + (by && !ws_step_retires(to->node->kind) ? 1 : 0);
            ws_fix_insert(F, fix, i, by, bare(from->node));
            n++;
        }
    }
}

/* A group that gives a pipe back and never waits for it. */
void ws_fix_wait_pipe(WsFixer *F)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *r = ws_spot(F, i);
        const char *pipe =
            r->node->kind == WS_STEP_RELEASE ? ws_node_text(r->node, WS_F_keyword) : NULL;
        if (!pipe || !g_hash_table_add(done, (gpointer)pipe))
            continue;
        for (guint k = 0; k < ws_node_n_children(r->owner, r->field); k++) {
            const gint place = ws_spot_next(F, i, (gint)k - (gint)r->index);
            const WsNode *reader = ws_spot(F, place)->node;
            if (reader->kind != WS_STEP_MMA && reader->kind != WS_STEP_READ)
                continue;
            g_autofree char *use = ws_field_text(r->node, WS_F_use), *where = ws_step_name(reader);
            WsFix *fix = ws_fixer_add(F, "Wait for %s before %s", pipe, where);
            ws_fix_insert(F, fix, place, 0, ws_hand(WS_STEP_WAIT, pipe, use, (WsHanding){ 0 }));
        }
    }
}

/* A commit without an acquire in its list: before the first step that fills a field of the pipe. */
void ws_fix_acquire(WsFixer *F)
{
    if (!ws_step_is(F, F->at, WS_STEP_COMMIT))
        return;
    const WsSpot *c = ws_spot(F, F->at);
    const char *name = ws_node_text(c->node, WS_F_keyword);
    const WsNode *pipe = ws_object_named(F->design, WS_F_pipes, name);
    const gint head = ws_spot_next(F, F->at, -(gint)c->index);
    g_autofree char *use = ws_field_text(c->node, WS_F_use),
                    *fields = pipe ? ws_field_text(pipe, WS_F_fields) : NULL;
    for (gint k = head; fields && k >= 0 && k != F->at; k = ws_spot_next(F, k, 1)) {
        const WsNode *step = ws_spot(F, k)->node;
        const char *buffer = ws_step_ref(step, step->kind == WS_STEP_WRITE ? WS_F_to : WS_F_into);
        if (!buffer || !ws_has_word(fields, buffer))
            continue;
        g_autofree char *where = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Acquire %s before %s", name, where);
        ws_fix_insert(F, fix, k, 0, ws_hand(WS_STEP_ACQUIRE, name, use, (WsHanding){ 0 }));
        return;
    }
}

/* A group that waits for a pipe and never gives it back: behind what retires, or at the end. */
void ws_fix_release_pipe(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *w = ws_spot(F, i);
        const char *pipe = w->node->kind == WS_STEP_WAIT ? ws_step_barrier(w->node) : NULL;
        if (!ws_object_named(F->design, WS_F_pipes, pipe) ||
            ws_group_does(F, w->group, WS_STEP_RELEASE, pipe))
            continue;
        g_autofree char *use = ws_field_text(w->node, WS_F_use);
        guint n = 0;
        for (gint k = ws_spot_next(F, i, 1); k >= 0; k = ws_spot_next(F, k, 1)) {
            const WsNodeKind kind = ws_spot(F, k)->node->kind;
            if (!ws_step_retires(kind) && kind != WS_STEP_READ && ws_spot_next(F, k, 1) >= 0)
                continue;
            g_autofree char *where = ws_step_name(ws_spot(F, k)->node);
            WsFix *fix = ws_fixer_add(F, "Release %s after %s", pipe, where);
            fix->cost += (ws_step_retires(kind) ? 0 : 2) + MIN(n, 4);
            ws_fix_insert(F, fix, k, 1, ws_hand(WS_STEP_RELEASE, pipe, use, (WsHanding){ 0 }));
            n++;
        }
    }
}
