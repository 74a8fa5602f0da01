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

/* Who waits for what his own group gives, or does it twice, may mean a barrier that misses him: one
 * that others give and his group does not, or one that others wait for. */
void ws_fix_other_barrier(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    guint n = 0;
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
            if (!ws_is_mbarrier(F, name) || ws_node_has(b, WS_F_array) || strcmp(name, own) == 0 ||
                strchr(ref, '[') || does(F, s->group, name, wait, i) ||
                !does(F, NULL, name, wait, i))
                continue;
            g_autofree char *step = ws_step_name(s->node);
            WsFix *fix = wait ? ws_fixer_add(F, "Let %s of %s wait for %s", step,
                                             ws_node_name(s->group), name)
                              : ws_fixer_add(F, "Let %s of %s arrive on %s", step,
                                             ws_node_name(s->group), name);
            /* nobody of the group does so yet: likely it is missed there */
            fix->cost += does(F, s->group, name, !wait, i) ? 8 : 0;
            ws_fix_set(fix, s->node, WS_F_keyword, ws_json_text(name));
            n++;
        }
    }
}
