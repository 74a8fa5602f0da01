/* Quick-fixes: a wait or an arrival that names another mbarrier than it means. */
#include "mend/fixer.h"

enum { MOST = 24 };

static gboolean is_wait(const WsFixer *F, gint i)
{
    return ws_step_is(F, i, WS_STEP_WAIT);
}

/* Does the group wait there (or, `feeds`, contribute), by another step than `but`? */
static gboolean does(const WsFixer *F, const WsNode *group, const char *barrier, gboolean feeds,
                     gint but)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (i != but && (!group || s->group == group) && is_wait(F, i) != feeds &&
            g_strcmp0(ws_step_barrier(s->node), barrier) == 0)
            return TRUE;
    }
    return FALSE;
}

/* The same step on the same barrier, with the same use, stands in the group twice. */
static gboolean has_twin(const WsFixer *F, gint at)
{
    const WsSpot *own = ws_spot(F, at);
    g_autofree char *use = ws_step_use(own->node);
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        g_autofree char *its = ws_step_use(s->node);
        if (i != at && s->group == own->group && s->node->kind == own->node->kind &&
            g_strcmp0(ws_step_barrier(s->node), ws_step_barrier(own->node)) == 0 &&
            g_strcmp0(use, its) == 0)
            return TRUE;
    }
    return FALSE;
}

/* That completion has been waited for before, in this list and in any case: here it says nothing.
 */
static gboolean is_known(const WsFixer *F, gint at)
{
    const WsSpot *s = ws_spot(F, at);
    g_autofree char *ref = ws_field_text(s->node, WS_F_keyword), *use = ws_step_use(s->node);
    for (gint k = ws_spot_next(F, at, -1); is_wait(F, at) && use && k >= 0;
         k = ws_spot_next(F, k, -1)) {
        g_autofree char *its =
                            is_wait(F, k) ? ws_field_text(ws_spot(F, k)->node, WS_F_keyword) : NULL,
                        *for_use = its ? ws_step_use(ws_spot(F, k)->node) : NULL;
        if (ws_step_is(F, k, WS_STEP_ADVANCE)) /* the use may be another one by now */
            return FALSE;
        if (g_strcmp0(its, ref) == 0 && g_strcmp0(for_use, use) == 0 &&
            !ws_node_has(ws_spot(F, k)->node, WS_F_when) &&
            !ws_node_bool(ws_spot(F, k)->node, WS_F_muted, FALSE))
            return TRUE;
    }
    return FALSE;
}

static void let_wait(WsFixer *F, gint i, const char *ref, guint more)
{
    const WsSpot *s = ws_spot(F, i);
    g_autofree char *step = ws_step_name(s->node);
    WsFix *fix = ws_fixer_add(F, "Let %s of %s wait for %s", step, ws_node_name(s->group), ref);
    fix->cost += more;
    fix->safe |= is_known(F, i);
    ws_fix_set(fix, s->node, WS_F_keyword, ws_json_text(ref));
}

/* Does the group wait for that very element? */
static gboolean hears(const WsFixer *F, const WsNode *group, const char *ref)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        g_autofree char *of =
            is_wait(F, i) ? ws_field_text(ws_spot(F, i)->node, WS_F_keyword) : NULL;
        if (ws_spot(F, i)->group == group && g_strcmp0(of, ref) == 0)
            return TRUE;
    }
    return FALSE;
}

/* A wait before the step of the finding is for another barrier than the one that tells of the
 * transfer which the finding names. */
static void of_transfer(WsFixer *F)
{
    const WsNode *other = F->other >= 0 ? ws_spot(F, F->other)->node : NULL;
    g_autofree char *ref = other ? ws_field_text(other, WS_F_signal) : NULL;
    if (!ref || F->at < 0 || strchr(ref, '@') || hears(F, ws_spot(F, F->at)->group, ref))
        return;
    guint n = 0;
    for (gint k = ws_spot_next(F, F->at, -1); k >= 0 && n < 2; k = ws_spot_next(F, k, -1))
        if (is_wait(F, k) && !ws_node_has(ws_spot(F, k)->node, WS_F_slot))
            let_wait(F, k, ref, n++);
}

/* Elsewhere in the group another barrier is waited for before the same buffer is filled. */
static void as_before_others(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const gint next = is_wait(F, i) ? ws_spot_next(F, i, 1) : -1;
        const char *into = next >= 0 ? ws_step_ref(ws_spot(F, next)->node, WS_F_into) : NULL;
        g_autofree char *own = into ? ws_field_text(ws_spot(F, i)->node, WS_F_keyword) : NULL;
        for (gint k = 0; own && k < (gint)F->spot->len; k++) {
            const gint then = is_wait(F, k) ? ws_spot_next(F, k, 1) : -1;
            if (k == i || then < 0 || ws_spot(F, k)->group != ws_spot(F, i)->group ||
                g_strcmp0(ws_step_ref(ws_spot(F, then)->node, WS_F_into), into) != 0 ||
                !ws_is_mbarrier(F, ws_step_barrier(ws_spot(F, k)->node)) ||
                ws_in_list(F, i, WS_STEP_WAIT, ws_step_barrier(ws_spot(F, k)->node)))
                continue;
            g_autofree char *ref = ws_field_text(ws_spot(F, k)->node, WS_F_keyword);
            if (strcmp(ref, own) != 0)
                let_wait(F, i, ref, 0);
        }
    }
}

/* Who waits for what his own group gives, or does it twice, may mean a barrier that misses him: one
 * that others give and his group does not, or one that others wait for. */
void ws_fix_other_barrier(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    guint n = 0;
    of_transfer(F);
    as_before_others(F);
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const WsSpot *s = ws_spot(F, i);
        const char *own = ws_step_barrier(s->node);
        const gboolean wait = is_wait(F, i);
        if ((!wait && s->node->kind != WS_STEP_ARRIVE) || !own || !ws_is_mbarrier(F, own) ||
            ws_node_has(s->node, WS_F_slot) || ws_node_has(s->node, WS_F_phase) ||
            !(does(F, s->group, own, wait, i) || has_twin(F, i)))
            continue;
        g_autofree char *ref = ws_field_text(s->node, WS_F_keyword);
        for (guint k = 0; k < ws_node_n_children(root, WS_F_barriers) && n < MOST; k++) {
            const WsNode *b = ws_node_child(root, WS_F_barriers, k);
            const char *name = ws_node_name(b);
            const char *element = strchr(ref, '[');
            if (!ws_is_mbarrier(F, name) || ws_node_has(b, WS_F_array) != (element != NULL) ||
                strcmp(name, own) == 0 || does(F, s->group, name, wait, i) ||
                !does(F, NULL, name, wait, i))
                continue;
            if (element && (wait || does(F, NULL, name, TRUE, i))) /* nobody else arrives there */
                continue;
            g_autofree char *step = ws_step_name(s->node);
            WsFix *fix = wait ? ws_fixer_add(F, "Let %s of %s wait for %s", step,
                                             ws_node_name(s->group), name)
                              : ws_fixer_add(F, "Let %s of %s arrive on %s", step,
                                             ws_node_name(s->group), name);
            /* nobody of the group does so yet: likely it is missed there */
            fix->cost += !element && does(F, s->group, name, !wait, i) ? 8 : 0;
            fix->safe |= is_known(F, i);
            g_autofree char *now = g_strconcat(name, element, NULL);
            ws_fix_set(fix, s->node, WS_F_keyword, ws_json_text(now));
            n++;
        }
    }
}
