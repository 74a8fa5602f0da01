/* Compound moves: what goes along with a product or a load, and what the check says of the designs
 * that come out. */
#include "drafts.h"

#include <string.h>

/* Labels of what goes along: "wait full | mma_wait 0, arrive empty". Caller frees. */
static char *labels_of(const WsDesign *design, const WsAlong *along)
{
    g_autoptr(GString) s = g_string_new(NULL);
    for (guint i = 0; i < along->before->len + along->behind->len; i++) {
        const gboolean before = i < along->before->len;
        const guint64 node = g_array_index(before ? along->before : along->behind, guint64,
                                           before ? i : i - along->before->len);
        g_autofree char *label = ws_edit_label(ws_design_by_identity(design, node));
        if (i == along->before->len)
            g_string_append(s, "| ");
        g_string_append_printf(s, "%s; ", label);
    }
    if (along->behind->len == 0)
        g_string_append(s, "| ");
    return g_strdup(s->str);
}

/* --- one round ahead, in the shipped designs -----------------------------------------------------
 */

/* The step with this label, a round ahead with what goes along: proved, and one step that can be
 * taken back. By itself, without it, the step is refuted. */
typedef struct {
    const char *design, *label;
} Case;

static const Case ahead_cases[] = {
    { "tests/designs/attention-straight.wstave", "mma s" },
    { "tests/designs/attention-straight.wstave", "load K" },
    { "tests/designs/gemm-one-consumer.wstave", "mma acc" },
    { "projects/attention-d128/design.wstave", "mma s" },
    { "projects/attention-d128-full/design.wstave", "mma s" },
    { "projects/attention-d256/design.wstave", "mma s" },
    { "projects/attention-d128/design.wstave", "load V" },
    { "projects/gemm-bf16/design.wstave", "mma acc" },
    { "projects/gemm-bf16/design.wstave", "load A" },
    { "projects/gemm-bf16/design.wstave", "load B" },
    { "projects/gemm-bf16-cluster2/design.wstave", "mma acc" },
    { "projects/gemm-bf16-cluster2/design.wstave", "load B" },
    { "projects/gemm-bf16-splitk/design.wstave", "mma lo" },
    { "projects/gemm-bf16-splitk/design.wstave", "mma hi" },
    { "projects/gemm-bf16-pingpong/design.wstave", "load A" },
    { "projects/gemm-fp8-block/design.wstave", "load SA" },
    { "tests/designs/gemm-pipe.wstave", "load A" },
    { "tests/designs/gemm-pipe.wstave", "load B" },
    { "tests/designs/gemm-pipe.wstave", "mma acc" },
};

static gboolean in_counted_loop(const WsDesign *design, guint64 node)
{
    const WsNode *owner = ws_design_owner(design, ws_design_by_identity(design, node), NULL, NULL);
    return owner->kind == WS_STEP_FOR && !ws_node_has(owner, WS_F_over);
}

/* The first step with this label that stands in a counted loop. */
static guint64 looped(const WsDesign *design, const char *label)
{
    for (guint nth = 0;; nth++) {
        const guint64 node = labelled(design, label, nth);
        if (in_counted_loop(design, node))
            return node;
    }
}

static WsVerdictKind verdict_alone(const WsDesign *design, guint64 node)
{
    g_autoptr(WsDraft) d = ws_draft_new(design);
    must(d, ws_draft_set(d, node, WS_F_ahead, ws_json_int(1)));
    return judge(d->design);
}

static void ahead(gconstpointer data)
{
    const Case *c = data;
    g_autoptr(WsDesign) design = load(c->design);
    g_autofree char *text = ws_design_print(design);
    const guint64 node = looped(design, c->label);
    g_autoptr(WsDraft) d = ws_draft_new(design);
    must(d, ws_edit_ahead(d, &node, 1, 1));
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    g_assert_cmpint(ws_node_int(ws_draft_node(d, node), WS_F_ahead, 0), ==, 1);
    assert_replays(design, d);
    g_autofree char *same = ws_design_print(design);
    g_assert_cmpstr(same, ==, text);
    g_assert_cmpuint(d->touched->len, ==, 1); /* what was asked for stays selected */
    g_assert_cmpint(verdict_alone(design, node), ==, WS_VERDICT_REFUTED);
}

/* There and back: the same design as before, where nothing had to change its place. */
static void there_and_back(void)
{
    static const Case cases[] = {
        { "projects/gemm-bf16/design.wstave", "mma acc" },
        { "projects/gemm-bf16/design.wstave", "load A" },
        { "projects/gemm-bf16/design.wstave", "load B" },
        { "projects/gemm-bf16-splitk/design.wstave", "mma lo" },
        { "tests/designs/attention-straight.wstave", "load K" },
        { "tests/designs/gemm-pipe.wstave", "load A" },
        { "tests/designs/gemm-pipe.wstave", "load B" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) design = load(cases[i].design);
        g_autofree char *text = ws_design_print(design);
        const guint64 node = looped(design, cases[i].label);
        g_autoptr(WsDraft) d = ws_draft_new(design);
        must(d, ws_edit_ahead(d, &node, 1, 1));
        must(d, ws_edit_ahead(d, &node, 1, 1)); /* two rounds: all of it */
        must(d, ws_edit_ahead(d, &node, 1, -1));
        must(d, ws_edit_ahead(d, &node, 1, -1));
        g_autofree char *back = ws_design_print(d->design);
        g_assert_cmpstr(back, ==, text);
        g_assert_false(ws_edit_ahead(d, &node, 1, -1));
    }
}

/* The straight attention, QK a round ahead, is the one that was written by hand. */
static void attention_by_one_command(void)
{
    g_autoptr(WsDesign) straight = load("tests/designs/attention-straight.wstave");
    g_autoptr(WsDesign) hand = load("tests/designs/attention-ahead.wstave");
    g_autoptr(WsDraft) d = ws_draft_new(straight);
    const guint64 qk = looped(straight, "mma s");
    must(d, ws_edit_ahead_along(d, qk, 1));
    const WsNode *a = ws_edit_loop(d->design, ws_draft_node(d, qk));
    const WsNode *b = ws_edit_loop(hand, ws_design_by_identity(hand, looped(hand, "mma s")));
    g_autoptr(WsJson) x = ws_json_of_node(a);
    g_autoptr(WsJson) y = ws_json_of_node(b);
    g_autofree char *p = ws_json_print(x), *q = ws_json_print(y);
    g_assert_cmpstr(p, ==, q);
}

/* --- what goes along, by where it goes -----------------------------------------------------------
 */

#define STRAIGHT "tests/designs/attention-straight.wstave"
#define PIPE     "tests/designs/gemm-pipe.wstave"
#define ROUND    "groups/math/body/0/do/2"

static void goes_along(void)
{
    static const struct {
        const char *design, *label, *owner; /* owner: NULL: the list it is in */
        guint index;
        gint ahead;
        const char *along;
    } cases[] = {
        { STRAIGHT, "mma s", NULL, 5, 1, "wait k_fulls; | " },
        { STRAIGHT, "mma s", NULL, 1, 0, "| " },
        { STRAIGHT, "mma s", NULL, 0, 0, "wait k_fulls; | " },
        { STRAIGHT, "mma s", NULL, 2, 0, "| " },
        { STRAIGHT, "mma s", NULL, 3, 0, "wait k_fulls; | mma_wait 0; " },
        { STRAIGHT, "mma s", NULL, 5, 0, "wait k_fulls; | mma_wait 0; arrive k_empties; " },
        { STRAIGHT, "mma s", "groups/math/body/0", 2, 0,
          "wait k_fulls; | mma_wait 0; arrive k_empties; " },
        { STRAIGHT, "mma acc", NULL, 9, 0, "wait v_fulls; | mma_wait 0; arrive v_empties; " },
        { STRAIGHT, "load V", NULL, 0, 0, "wait v_empties; | " },
        { STRAIGHT, "load V", NULL, 3, 0, "| " },
        { STRAIGHT, "load V", NULL, 3, 1, "wait v_empties; | " },
        { STRAIGHT, "wait k_fulls", NULL, 9, 0, "| " }, /* by itself it is what one wants to move */
        { STRAIGHT, "mma_wait 0", NULL, 9, 0, "| " },
        { "projects/gemm-bf16/design.wstave", "load B", NULL, 1, 0, "| " },
        { "projects/gemm-bf16/design.wstave", "load B", NULL, 0, 0, "wait empty; | " },
        { "projects/gemm-bf16/design.wstave", "load A", NULL, 3, 0, "| " }, /* B needs the wait */
        { "projects/gemm-bf16/design.wstave", "load A", "groups/load/body/0", 0, 0,
          "wait empty; | load B; " },
        { PIPE, "load A", NULL, 1, 1, "acquire ab; | load B; commit ab; " },
        { PIPE, "load B", NULL, 2, 1, "acquire ab; load A; | commit ab; " },
        { PIPE, "load A", NULL, 3, 0, "| " },
        { PIPE, "load A", NULL, 4, 0, "| commit ab; " },
        { PIPE, "load B", NULL, 0, 0, "acquire ab; | " },
        { PIPE, "load A", "groups/load/body/0", 0, 0, "acquire ab; | load B; commit ab; " },
        { PIPE, "mma acc", NULL, 0, 0, "wait ab; | " },
        { PIPE, "mma acc", NULL, 1, 1, "wait ab; | " },
        /* what a write of the same use writes is made by steps that would stay */
        { "tests/designs/sparse-mla-pipes.wstave", "gather KV", NULL, 2, 1, "| " },
        /* its mma_wait ends another one, too */
        { "projects/gemm-bf16/design.wstave", "mma acc", "groups/mma/body/0", 0, 0,
          "wait full; | " },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) design = load(cases[i].design);
        const guint64 node = looped(design, cases[i].label);
        WsEditSpot spot = { 0, WS_F_do, cases[i].index };
        const WsNode *own =
            ws_design_owner(design, ws_design_by_identity(design, node), &spot.list, NULL);
        spot.owner = cases[i].owner != NULL ? node_at(design, cases[i].owner) : own->identity;
        g_autoptr(WsAlong) along = ws_edit_along(design, &node, 1, spot, cases[i].ahead);
        g_autofree char *labels = labels_of(design, along);
        if (strcmp(labels, cases[i].along) != 0)
            g_error("%u: %s with %s", i, cases[i].label, labels);
        g_autoptr(WsDraft) d = ws_draft_new(design);
        must(d, ws_edit_move_along(d, &node, 1, spot, cases[i].ahead, along));
        assert_replays(design, d);
    }
}

/* What is selected with it does not go twice; nothing, and what is gone, have nothing along. */
static void goes_once(void)
{
    g_autoptr(WsDesign) design = load(STRAIGHT);
    const guint64 nodes[] = { looped(design, "wait k_fulls"), looped(design, "mma s") };
    const WsEditSpot spot = { node_at(design, ROUND), WS_F_do, 5 };
    g_autoptr(WsAlong) along = ws_edit_along(design, nodes, 2, spot, 1);
    g_assert_cmpuint(along->before->len + along->behind->len, ==, 0);
    const guint64 gone = 123456789;
    g_autoptr(WsAlong) none = ws_edit_along(design, nodes, 0, spot, 1);
    g_autoptr(WsAlong) lost = ws_edit_along(design, &gone, 1, spot, 1);
    g_assert_cmpuint(none->before->len + none->behind->len, ==, 0);
    g_assert_cmpuint(lost->before->len + lost->behind->len, ==, 0);
    g_autoptr(WsDraft) d = ws_draft_new(design);
    g_assert_false(ws_edit_ahead_along(d, gone, 1));
    g_assert_nonnull(d->why);
}

static void refuses(void)
{
    g_autoptr(WsDesign) design = load(STRAIGHT);
    const guint64 outside = node_at(design, "groups/math/body/0/do/1");
    g_autoptr(WsDraft) d = ws_draft_new(design);
    g_autoptr(WsDraft) e = ws_draft_new(design);
    g_assert_false(ws_edit_ahead(d, &outside, 1, 1));
    g_assert_nonnull(strstr(why(d), "directly in a counted loop"));
    const guint64 qk = looped(design, "mma s");
    must(e, ws_draft_set(e, qk, WS_F_ahead, ws_json_text("D / 64")));
    g_assert_false(ws_edit_ahead(e, &qk, 1, 1));
    g_assert_nonnull(strstr(why(e), "expression"));
}

/* The mma_wait of a product alone is its own; one that ends others, too, is not. */
static void own_waits(void)
{
    static const struct {
        const char *file, *product;
        guint nth;
        gboolean own;
    } cases[] = {
        { "tests/designs/attention-ahead.wstave", "mma s", 0, FALSE },
        { "tests/designs/attention-ahead.wstave", "mma acc", 0, FALSE },
        { "projects/gemm-bf16/design.wstave", "mma acc", 0, FALSE }, /* waits for all but one */
        { "tests/designs/attention-fa3-causal.wstave", "mma s", 0, TRUE },
        { STRAIGHT, "mma acc", 0, TRUE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) d = load(cases[i].file);
        const WsNode *product =
            ws_design_by_identity(d, labelled(d, cases[i].product, cases[i].nth));
        g_assert_cmpint(ws_edit_own_wait(d, product) != 0, ==, cases[i].own);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(ahead_cases); i++) {
        g_autofree char *path = g_strdup_printf("/edit/along/ahead/%u", i);
        g_test_add_data_func(path, &ahead_cases[i], ahead);
    }
    g_test_add_func("/edit/along/there-and-back", there_and_back);
    g_test_add_func("/edit/along/attention", attention_by_one_command);
    g_test_add_func("/edit/along/goes-along", goes_along);
    g_test_add_func("/edit/along/goes-once", goes_once);
    g_test_add_func("/edit/along/refuses", refuses);
    g_test_add_func("/edit/along/own-waits", own_waits);
    return g_test_run();
}
