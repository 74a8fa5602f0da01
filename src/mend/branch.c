/* Quick-fixes of steps that stand too deep: a release inside a branch or a loop that others do not
 * have, a wait inside of the loop that what it waits for is outside of. */
#include "mend/fixer.h"

enum { BOTH_CHOOSE = 12 };

/* Does the other side of the barrier stand under a choice, too? Then which of the two conditions is
 * meant is for a person to say. */
static gboolean has_choice(const WsFixer *F, gint i)
{
    const char *barrier = ws_step_barrier(ws_spot(F, i)->node);
    for (gint k = 0; k < (gint)F->spot->len; k++) {
        if (ws_spot(F, k)->group == ws_spot(F, i)->group ||
            g_strcmp0(ws_step_barrier(ws_spot(F, k)->node), barrier) != 0)
            continue;
        for (gint up = k; up >= 0; up = ws_spot(F, up)->up)
            if (ws_step_is(F, up, WS_STEP_IF) || ws_node_has(ws_spot(F, up)->node, WS_F_when))
                return TRUE;
    }
    return FALSE;
}

/* Out of a choice: what hands over comes behind it, a wait before it. */
static void out_of_choice(WsFixer *F, gint i, gint branch)
{
    const WsSpot *s = ws_spot(F, i);
    g_autofree char *name = ws_step_name(s->node);
    WsFix *fix = ws_fixer_add(F, "Do %s in both cases, outside of the choice", name);
    const gboolean behind = s->node->kind != WS_STEP_WAIT && s->node->kind != WS_STEP_ACQUIRE;
    fix->safe = !has_choice(F, i);
    fix->cost += fix->safe ? 0 : BOTH_CHOOSE;
    ws_fix_move(F, fix, i, branch, behind ? 1 : 0);
}

/* Out of a counted loop whose rounds its use does not count: behind it, or before it. */
static void out_of_loop(WsFixer *F, gint i, gint loop)
{
    const WsSpot *s = ws_spot(F, i);
    const char *index = ws_node_name(ws_spot(F, loop)->node);
    g_autofree char *use = ws_field_text(s->node, WS_F_use), *name = ws_step_name(s->node),
                    *element = ws_field_text(s->node, WS_F_keyword);
    if (!use || ws_has_word(use, index) || ws_has_word(element, index))
        return;
    for (gint k = 0; k < (gint)F->spot->len; k++) /* a counter that moves in the loop counts it */
        if (ws_step_is(F, k, WS_STEP_ADVANCE) && ws_spot_inside(F, k, loop) &&
            ws_has_word(use, ws_node_text(ws_spot(F, k)->node, WS_F_keyword)))
            return;
    const gboolean behind = s->node->kind != WS_STEP_WAIT && s->node->kind != WS_STEP_ACQUIRE;
    WsFix *fix = behind ? ws_fixer_add(F, "Do %s once, behind the loop %s", name, index)
                        : ws_fixer_add(F, "Do %s once, before the loop %s", name, index);
    if (ws_node_has(s->node, WS_F_when))
        ws_fix_set(fix, s->node, WS_F_when, NULL);
    ws_fix_move(F, fix, i, loop, behind ? 1 : 0);
}

void ws_fix_out_of_branch(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (!ws_step_hands(s->node->kind) || s->node->kind == WS_STEP_EXPECT || s->up < 0)
            continue;
        if (ws_step_is(F, s->up, WS_STEP_IF))
            out_of_choice(F, i, s->up);
        else if (ws_node_has(ws_spot(F, s->up)->node, WS_F_count))
            out_of_loop(F, i, s->up);
    }
}

/* What is given back once in a tile is waited for once in it: before the loop that fills it, or in
 * its first round. */
void ws_fix_wait_outside(WsFixer *F)
{
    for (gint l = 0; l < (gint)F->spot->len; l++) {
        const WsSpot *w = ws_spot(F, l);
        const gint loop = w->up;
        if (!ws_step_ref(w->node, WS_F_into) || loop < 0 ||
            !ws_node_has(ws_spot(F, loop)->node, WS_F_count))
            continue;
        const char *index = ws_node_name(ws_spot(F, loop)->node);
        g_autofree char *own = ws_step_use(w->node);
        for (gint a = 0; a < (gint)F->spot->len; a++) {
            const WsSpot *r = ws_spot(F, a);
            const char *barrier = r->node->kind == WS_STEP_ARRIVE ? ws_step_barrier(r->node) : NULL;
            g_autofree char *use = ws_field_text(r->node, WS_F_use);
            if (!ws_is_mbarrier(F, barrier) || r->group == w->group || !use ||
                g_strcmp0(use, own) == 0 || ws_has_word(use, index) ||
                ws_has_beside(F, l, WS_STEP_WAIT, barrier))
                continue;
            g_autofree char *ref = ws_field_text(r->node, WS_F_keyword),
                            *round = ws_first_round(F, loop, "=="), *name = ws_step_name(w->node);
            WsFix *fix = ws_fixer_add(F, "Wait for %s before %s, in the first round of %s", barrier,
                                      name, index);
            fix->cost -= l == F->at || l == F->other ? 1 : 0;
            ws_fix_insert(F, fix, l, 0,
                          ws_hand(WS_STEP_WAIT, ref, use, (WsHanding){ .when = round }));
            fix = ws_fixer_add(F, "Wait for %s before the loop %s", barrier, index);
            fix->cost += 1;
            ws_fix_insert(F, fix, loop, 0, ws_hand(WS_STEP_WAIT, ref, use, (WsHanding){ 0 }));
        }
    }
}
