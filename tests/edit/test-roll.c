/* What runs ahead at the end of a loop, written at its beginning: the order stays; what would
 * change it is refused with its reason. */
#include "drafts.h"

#include <string.h>

#define PLAIN "tests/designs/search/gemm-plain.wstave"

static guint64 first_loop(const WsNode *owner, WsFieldId list)
{
    guint64 found = 0;
    for (guint i = 0; i < ws_node_n_children(owner, list) && !found; i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        found = step->kind != WS_STEP_FOR      ? 0
                : ws_node_has(step, WS_F_over) ? first_loop(step, WS_F_do)
                                               : step->identity;
    }
    return found;
}

/* The counted loop of the last group. */
static guint64 last_loop(const WsDesign *design)
{
    const WsNode *root = ws_design_root(design);
    return first_loop(ws_node_child(root, WS_F_groups, ws_node_n_children(root, WS_F_groups) - 1),
                      WS_F_body);
}

/* The plain loop with its wait and product written at the end, a round ahead: the program is that
 * of the plain loop again. */
static void rolled(void)
{
    g_autoptr(WsDesign) plain = load(PLAIN);
    g_autoptr(WsDraft) d = ws_draft_new(plain);
    const WsNode *loop = ws_draft_node(d, last_loop(plain));
    const guint n = ws_node_n_children(loop, WS_F_do);
    const guint64 ahead[] = { ws_node_child(loop, WS_F_do, 0)->identity,
                              ws_node_child(loop, WS_F_do, 1)->identity };
    for (guint i = 0; i < G_N_ELEMENTS(ahead); i++) {
        must(d, ws_draft_set(d, ahead[i], WS_F_ahead, ws_json_int(1)));
        must(d, ws_draft_move(d, ahead[i], last_loop(plain), WS_F_do, n - 1));
    }
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    g_autoptr(WsDraft) back = ws_draft_new(d->design);
    must(back, ws_edit_roll(back, last_loop(plain)));
    assert_replays(d->design, back);
    g_autofree char *x = ws_design_print(back->design), *y = ws_design_print(plain);
    g_assert_cmpstr(x, ==, y);
    /* Two rounds ahead: one is left. */
    must(d, ws_draft_set(d, ahead[0], WS_F_ahead, ws_json_int(2)));
    must(d, ws_draft_set(d, ahead[1], WS_F_ahead, ws_json_int(2)));
    must(d, ws_edit_roll(d, last_loop(plain)));
    const WsNode *first = ws_node_child(ws_draft_node(d, last_loop(plain)), WS_F_do, 0);
    g_assert_cmpuint(first->identity, ==, ahead[0]);
    g_assert_cmpint(ws_node_int(first, WS_F_ahead, 0), ==, 1);
}

/* Sets `ahead` (0: takes it away) of a step of the last loop, counted from its end. */
static void set_ahead(WsDraft *d, guint from_end, gint64 ahead)
{
    const WsNode *loop = ws_draft_node(d, last_loop(d->design));
    const guint n = ws_node_n_children(loop, WS_F_do);
    must(d, ws_draft_set(d, ws_node_child(loop, WS_F_do, n - 1 - from_end)->identity, WS_F_ahead,
                         ahead ? ws_json_int(ahead) : NULL));
}

static void refused_as(WsDraft *d, guint64 loop, const char *says)
{
    g_autoptr(WsDraft) tried = ws_draft_new(d->design);
    g_assert_false(ws_edit_roll(tried, loop));
    if (tried->why == NULL || strstr(why(tried), says) == NULL)
        g_error("%s", tried->why);
}

static void not_rolled(void)
{
    g_autoptr(WsDesign) plain = load(PLAIN);
    g_autoptr(WsDraft) d = ws_draft_new(plain);
    const guint64 loop = last_loop(plain);
    const guint n = ws_node_n_children(ws_draft_node(d, loop), WS_F_do);
    refused_as(d, loop, "no step at the end");
    refused_as(d, 123456789, "only a counted loop");
    refused_as(d, labelled(plain, "for tile", 0), "only a counted loop");
    refused_as(d, labelled(plain, "mma_wait 0", 0), "only a counted loop");
    set_ahead(d, 0, 1);
    set_ahead(d, n - 1, 2);
    refused_as(d, loop, "runs further ahead");
    set_ahead(d, 0, 2); /* as far as the first: it stays before it in every round */
    set_ahead(d, 1, 1);
    refused_as(d, loop, "runs further ahead");
    for (guint i = 0; i < n; i++)
        set_ahead(d, i, 1);
    refused_as(d, loop, "every step");
    set_ahead(d, n - 1, 0);
    must(d, ws_draft_set(d, loop, WS_F_unroll, ws_json_int(2)));
    refused_as(d, loop, "unrolled");
    must(d, ws_draft_set(d, loop, WS_F_unroll, NULL));
    const guint64 last = ws_node_child(ws_draft_node(d, loop), WS_F_do, n - 1)->identity;
    must(d, ws_draft_set(d, last, WS_F_muted, ws_json_bool(TRUE)));
    refused_as(d, loop, "no step at the end");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/roll/rolled", rolled);
    g_test_add_func("/edit/roll/refused", not_rolled);
    return g_test_run();
}
