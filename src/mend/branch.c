/* Quick-fixes of choices and of steps that stand too deep: a release inside a branch or a loop that
 * others do not have, a wait inside of the loop that what it waits for is outside of, a branch that
 * does not do what the other one does. */
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
    WsFix *fix = behind ? ws_fixer_add(F, "Do %s once, after the loop %s", name, index)
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

/* --- two branches that do the same -------------------------------------------------------------
 */
/* The one field in which two steps of a kind differ; WS_F_COUNT: none, or several. */
static WsFieldId differs(const WsNode *a, const WsNode *b)
{
    WsFieldId found = WS_F_COUNT;
    guint n;
    const WsFieldRow *row = ws_node_rows(a->kind, &n);
    for (guint i = 0; i < n; i++) {
        if (row[i].kind == WS_FIELD_STEPS || row[i].field == WS_F_note || row[i].field == WS_F_id)
            continue;
        g_autofree char *x = ws_field_text(a, row[i].field), *y = ws_field_text(b, row[i].field);
        if (g_strcmp0(x, y) == 0)
            continue;
        if (found != WS_F_COUNT)
            return WS_F_COUNT;
        found = row[i].field;
    }
    return found;
}

/* A step says in one branch what its twin in the other one does not: as that says. */
static void say_the_same(WsFixer *F, const WsNode *one, const WsNode *other)
{
    static const WsFieldId hands[] = { WS_F_signal, WS_F_use, WS_F_by, WS_F_cta };
    const WsFieldId field = differs(one, other);
    for (guint i = 0; i < G_N_ELEMENTS(hands); i++) {
        if (field != hands[i])
            continue;
        g_autofree char *name = ws_step_name(one), *to = ws_field_text(other, field);
        WsFix *fix = ws_fixer_add(F, "Let %s say %s %s, as in the other branch", name,
                                  ws_field_name(field), to ? to : "-");
        fix->safe = ws_step_orders(one->kind) || field == WS_F_signal;
        ws_fix_set(fix, one, field, ws_json_of_field(other, field));
    }
}

/* The place in the other branch of step i: behind as many steps of the kind of the one before it.
 */
static guint place_of(const WsNode *branch, WsFieldId here, guint i, WsFieldId there)
{
    if (i == 0)
        return 0;
    const WsNodeKind kind = ws_node_child(branch, here, i - 1)->kind;
    guint nth = 0, seen = 0;
    for (guint k = 0; k < i; k++)
        nth += ws_node_child(branch, here, k)->kind == kind;
    for (guint k = 0; k < ws_node_n_children(branch, there); k++) {
        seen += ws_node_child(branch, there, k)->kind == kind;
        if (seen == nth)
            return k + 1;
    }
    return ws_node_n_children(branch, there);
}

static guint count_kind(const WsNode *branch, WsFieldId list, WsNodeKind kind)
{
    guint n = 0;
    for (guint i = 0; i < ws_node_n_children(branch, list); i++)
        n += ws_node_child(branch, list, i)->kind == kind;
    return n;
}

/* What orders stands in one branch, and is missing in the other one, or says something else. */
void ws_fix_other_branch(WsFixer *F)
{
    static const WsFieldId of[] = { WS_F_then, WS_F_else };
    for (gint b = 0; b < (gint)F->spot->len; b++) {
        const WsNode *branch = ws_spot(F, b)->node;
        for (guint w = 0; branch->kind == WS_STEP_IF && w < 2; w++)
            for (guint i = 0; i < ws_node_n_children(branch, of[w]); i++) {
                const WsNode *step = ws_node_child(branch, of[w], i);
                const guint own = count_kind(branch, of[w], step->kind),
                            others = count_kind(branch, of[!w], step->kind),
                            at = place_of(branch, of[w], i, of[!w]);
                if (own == others && i < ws_node_n_children(branch, of[!w]) &&
                    ws_node_child(branch, of[!w], i)->kind == step->kind)
                    say_the_same(F, step, ws_node_child(branch, of[!w], i));
                if (own <= others || others + ws_node_n_children(branch, of[!w]) == 0 ||
                    !ws_step_orders(step->kind))
                    continue;
                g_autofree char *name = ws_step_name(step);
                WsFix *fix = ws_fixer_add(F, "Do %s in the other branch, too", name);
                ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, branch->identity, of[!w], at,
                                             ws_json_of_node(step) });
            }
    }
}
