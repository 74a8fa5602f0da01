/* What a hand does to a design: each command on the shipped GEMM or a small design, and what comes
 * out as canonical text or as a verdict. */
#include "../edit_line.h"
#include "drafts.h"
#include "model/findings.h"

#include <string.h>

#define GEMM "projects/gemm-bf16/design.wstave"

/* --- edges: the shipped GEMM without barriers, and four edges drawn
 * ------------------------------- */

/* Whether the edge is refused since both wait for each other already. */
static gboolean refused(const WsDraft *so_far, guint64 from, guint64 to)
{
    g_autoptr(WsDraft) d = ws_draft_new(so_far->design);
    WsConnection how;
    return !ws_edit_connect(d, from, to, &how) && strstr(why(d), "already waits") != NULL;
}

static void connect_gemm(void)
{
    g_autoptr(WsDesign) shipped = load(GEMM);
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    const guint64 barriers[] = { node_at(shipped, "barriers/full"),
                                 node_at(shipped, "barriers/empty") };
    must(d, ws_edit_remove(d, barriers, 2));
    g_autofree char *bare = ws_design_print(d->design);
    g_assert_null(strstr(bare, "\"signal\""));
    g_assert_null(strstr(bare, "\"wait\""));
    g_assert_null(strstr(bare, "\"arrive\""));
    WsConnection how;
    const guint64 a = labelled(d->design, "load A", 0), b = labelled(d->design, "load B", 0);
    const guint64 mma = labelled(d->design, "mma acc", 0);
    const guint64 wait1 = labelled(d->design, "mma_wait 1", 0);
    const guint64 wait0 = labelled(d->design, "mma_wait 0", 0);
    must(d, ws_edit_connect(d, a, mma, &how));
    g_assert_cmpstr(how.barrier, ==, "full");
    g_assert_true(how.fresh && how.wait && !how.arrive && !how.release);
    g_assert_cmpstr(how.slots, ==, "STAGES");
    g_assert_cmpstr(how.with, ==, "load B"); /* of the same list, for the same step */
    g_assert_true(refused(d, b, mma));
    must(d, ws_edit_connect(d, wait1, a, &how));
    g_assert_cmpstr(how.barrier, ==, "empty");
    g_assert_true(how.fresh && how.release && how.wait && how.arrive);
    g_assert_cmpstr(how.use_from, ==, "k.total - 1");
    g_assert_cmpstr(how.tail, ==, "mma_wait 0"); /* of the last round */
    g_assert_true(refused(d, wait0, a));
    g_autofree char *now = ws_design_print(d->design), *was = ws_design_print(shipped);
    g_assert_cmpstr(now, ==, was);
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    assert_replays(shipped, d);
}

static void connect_refuses(void)
{
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        { "load A", "load A", "two steps" },           { "load A", "load B", "follow each other" },
        { "wait full", "load A", "finishes nothing" }, { "for k", "mma acc", "no port" },
        { "load A", "mma acc", "already waits" },
    };
    g_autoptr(WsDesign) shipped = load(GEMM);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDraft) d = ws_draft_new(shipped);
        WsConnection how;
        g_assert_false(ws_edit_connect(d, labelled(shipped, cases[i].from, 0),
                                       labelled(shipped, cases[i].to, 0), &how));
        if (strstr(why(d), cases[i].why) == NULL)
            g_error("%s -> %s: %s", cases[i].from, cases[i].to, d->why);
    }
}

/* --- turns: two replicas of the consumer
 * ----------------------------------------------------------- */

#define CONSUMER "groups/mma/body/0/do/"

static char *text_at(const WsDesign *design, const char *path)
{
    const WsNode *node = ws_design_find(design, path);
    return node != NULL ? ws_edit_label(node) : g_strdup("nothing");
}

static void turn_around(gboolean other_tile, const char *wait, const char *arrive)
{
    g_autoptr(WsDesign) one = load("tests/designs/gemm-one-consumer.wstave");
    g_autoptr(WsDraft) d = ws_draft_new(one);
    const guint64 mma = node_at(one, CONSUMER "0/do/1");
    WsConnection how;
    must(d, ws_edit_replicate(d, node_at(one, "groups/mma"), 2));
    must(d, ws_edit_turn(d, mma, mma, other_tile, &how));
    g_assert_true(how.turn && how.fresh && how.wait && how.arrive);
    g_autofree char *first = text_at(d->design, wait), *last = text_at(d->design, arrive);
    g_assert_cmpstr(first, ==, "wait turn[replica]");
    g_assert_cmpstr(last, ==, "arrive turn[(replica + 1) % replicas]");
    g_autofree char *text = ws_design_print(d->design);
    g_assert_nonnull(strstr(text, "\"array\": 3, \"init\": [\"ready\", \"pending\", "
                                  "\"pending\"]"));
    assert_replays(one, d);
}

static void turns(void)
{
    turn_around(FALSE, CONSUMER "0/do/1", CONSUMER "0/do/3"); /* around the mma of a round */
    turn_around(TRUE, CONSUMER "0", CONSUMER "2");            /* around the loop of a tile */
}

static void turns_refused(void)
{
    static const struct {
        const char *from, *to;
        gint more;
        const char *why;
    } cases[] = {
        { "0/do/1", "0/do/1", 0, "needs two replicas" },
        { "3", "5", 1, "draw the edge from the later step" },
    };
    g_autoptr(WsDesign) one = load("tests/designs/gemm-one-consumer.wstave");
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDraft) d = ws_draft_new(one);
        g_autofree char *from = g_strconcat(CONSUMER, cases[i].from, NULL);
        g_autofree char *to = g_strconcat(CONSUMER, cases[i].to, NULL);
        WsConnection how;
        if (cases[i].more)
            must(d, ws_edit_replicate(d, node_at(one, "groups/mma"), cases[i].more));
        g_assert_false(ws_edit_turn(d, node_at(one, from), node_at(one, to), TRUE, &how));
        if (strstr(why(d), cases[i].why) == NULL)
            g_error("%s", d->why);
    }
}

/* --- order ---------------------------------------------------------------------------------------
 */

static void nudge_across_the_end(void)
{
    g_autoptr(WsDesign) shipped = load(GEMM);
    const guint64 load_b = labelled(shipped, "load B", 0),
                  wait = labelled(shipped, "wait empty", 0);
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    must(d, ws_edit_nudge(d, &load_b, 1, -1));
    guint index;
    ws_design_owner(d->design, ws_draft_node(d, load_b), NULL, &index);
    g_assert_cmpuint(index, ==, 1);
    /* The wait is first: one earlier is the end of the round before. */
    must(d, ws_edit_nudge(d, &wait, 1, -1));
    g_assert_cmpint(ws_node_int(ws_draft_node(d, wait), WS_F_ahead, 0), ==, 1);
    must(d, ws_edit_nudge(d, &wait, 1, 1));
    g_assert_false(ws_node_has(ws_draft_node(d, wait), WS_F_ahead));
    must(d, ws_edit_nudge(d, &load_b, 1, 1));
    g_autofree char *now = ws_design_print(d->design), *was = ws_design_print(shipped);
    g_assert_cmpstr(now, ==, was);
    assert_replays(shipped, d);
    g_autoptr(WsDraft) end = ws_draft_new(shipped);
    g_assert_false(ws_edit_nudge(end, &load_b, 1, 1));
    g_assert_cmpstr(why(end), ==, "it is the last one");
}

static void wrap_and_unwrap(void)
{
    g_autoptr(WsDesign) shipped = load(GEMM);
    const guint64 steps[] = { labelled(shipped, "load B", 0), labelled(shipped, "load A", 0) };
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    must(d, ws_edit_wrap(d, steps, 2));
    g_assert_cmpuint(d->touched->len, ==, 1);
    const guint64 loop = g_array_index(d->touched, guint64, 0);
    const WsNode *node = ws_draft_node(d, loop);
    g_assert_cmpint(node->kind, ==, WS_STEP_FOR);
    g_assert_cmpuint(ws_node_n_children(node, WS_F_do), ==, 2);
    g_assert_cmpuint(ws_node_child(node, WS_F_do, 0)->identity, ==, steps[1]);
    must(d, ws_edit_unwrap(d, loop));
    g_autofree char *now = ws_design_print(d->design), *was = ws_design_print(shipped);
    g_assert_cmpstr(now, ==, was);
    must(d, ws_edit_outdent(d, &steps[0], 1));
    must(d, ws_edit_indent(d, &steps[0], 1));
    g_autofree char *again = ws_design_print(d->design);
    g_assert_cmpstr(again, ==, was);
}

static void other_group(void)
{
    g_autoptr(WsDesign) shipped = load(GEMM);
    const guint64 load_b = labelled(shipped, "load B", 0);
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    must(d, ws_edit_other_group(d, &load_b, 1, 1));
    const WsNode *node = ws_draft_node(d, load_b);
    g_assert_cmpstr(ws_node_name(ws_edit_group(d->design, node)), ==, "mma");
    g_assert_cmpstr(ws_node_text(ws_edit_loop(d->design, node), WS_F_keyword), ==, "k");
    g_autoptr(WsDraft) no = ws_draft_new(shipped);
    g_assert_false(ws_edit_other_group(no, &load_b, 1, -1));
}

/* --- names and objects
 * ---------------------------------------------------------------------------- */

static void rename_everything(void)
{
    static const struct {
        const char *path, *name;
    } cases[] = { { "buffers/a", "left" },
                  { "barriers/full", "filled" },
                  { "groups/load", "feed" },
                  { "groups/mma/values/acc", "sum_" },
                  { "tensors/A", "Left" } };
    g_autoptr(WsDesign) shipped = load(GEMM);
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        must(d, ws_edit_rename(d, node_at(d->design, cases[i].path), cases[i].name));
    must(d, ws_edit_rename(d, labelled(d->design, "for k", 1), "kk"));
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    assert_replays(shipped, d);
    g_autoptr(WsDraft) taken = ws_draft_new(shipped);
    g_assert_false(ws_edit_rename(taken, node_at(shipped, "buffers/a"), "b"));
    g_autoptr(WsDraft) reserved = ws_draft_new(shipped);
    g_assert_false(ws_edit_rename(reserved, node_at(shipped, "buffers/a"), "replica"));
    /* And back: the same document. */
    must(d, ws_edit_rename(d, node_at(d->design, "tensors/Left"), "A"));
    must(d, ws_edit_rename(d, node_at(d->design, "groups/mma/values/sum_"), "acc"));
    must(d, ws_edit_rename(d, node_at(d->design, "groups/feed"), "load"));
    must(d, ws_edit_rename(d, node_at(d->design, "barriers/filled"), "full"));
    must(d, ws_edit_rename(d, node_at(d->design, "buffers/left"), "a"));
    must(d, ws_edit_rename(d, labelled(d->design, "for kk", 0), "k"));
    g_autofree char *now = ws_design_print(d->design), *was = ws_design_print(shipped);
    g_assert_cmpstr(now, ==, was);
}

/* Every kind can be added to an empty design and to the GEMM, and taken away again. */
static void add_every_kind(void)
{
    g_autoptr(WsDesign) empty = ws_edit_empty("Untitled"), gemm = load(GEMM);
    const WsDesign *from[] = { empty, gemm };
    g_assert_nonnull(empty);
    for (guint i = 0; i < G_N_ELEMENTS(from); i++)
        for (guint kind = 0; kind < WS_NODE_KIND_COUNT; kind++) {
            if (kind == WS_NODE_DESIGN || kind == WS_NODE_TILES || kind == WS_NODE_SUPPRESS)
                continue;
            g_autoptr(WsDraft) d = ws_draft_new(from[i]);
            if (kind == WS_NODE_PIPE && i == 0) {
                g_assert_false(ws_edit_add(d, kind, NULL));
                continue;
            }
            must(d, ws_edit_add(d, kind, NULL));
            g_assert_cmpuint(d->touched->len, ==, 1);
            const guint64 node = g_array_index(d->touched, guint64, 0);
            g_assert_cmpint(ws_draft_node(d, node)->kind, ==, (gint)kind);
            must(d, ws_edit_duplicate(d, &node, 1));
            const guint64 both[] = { node, g_array_index(d->touched, guint64, 1) };
            must(d, ws_edit_remove(d, both, 2));
            g_autofree char *now = ws_design_print(d->design), *was = ws_design_print(from[i]);
            g_assert_cmpstr(now, ==, was);
            assert_replays(from[i], d);
        }
}

/* --- rings
 * ---------------------------------------------------------------------------------------- */

static void depth(void)
{
    g_autoptr(WsDesign) shipped = load(GEMM);
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    must(d, ws_edit_depth(d, node_at(shipped, "buffers/a"), 3));
    g_assert_cmpint(ws_edit_depth_of(d->design, ws_design_find(d->design, "barriers/empty")), ==,
                    3);
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    /* Written out, the members are found by what the loads touch. */
    must(d, draft_line(d, "set buffers/a stages 3"));
    must(d, draft_line(d, "set buffers/b stages 3"));
    must(d, draft_line(d, "set barriers/full slots 3"));
    must(d, draft_line(d, "set barriers/empty slots 3"));
    must(d, ws_edit_depth(d, node_at(d->design, "barriers/full"), 2));
    static const char *const members[] = { "buffers/a", "buffers/b", "barriers/full",
                                           "barriers/empty" };
    for (guint i = 0; i < G_N_ELEMENTS(members); i++)
        g_assert_cmpint(ws_edit_depth_of(d->design, ws_design_find(d->design, members[i])), ==, 2);
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    g_autoptr(WsDraft) none = ws_draft_new(shipped);
    g_assert_false(ws_edit_depth(none, node_at(shipped, "buffers/a"), 0));
}

/* --- fragments
 * ------------------------------------------------------------------------------------ */

static WsDesign *parse(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    return ws_design_parse(text, strlen(text), NULL, findings);
}

static void copy_and_paste(void)
{
    g_autoptr(WsDesign) shipped = load(GEMM), empty = ws_edit_empty("Untitled");
    const guint64 groups[] = { node_at(shipped, "groups/load"), node_at(shipped, "groups/mma") };
    g_autofree char *text = ws_edit_copy(shipped, groups, 2);
    g_assert_nonnull(text);
    g_autoptr(WsDesign) clip = parse(text);
    g_autoptr(WsDraft) d = ws_draft_new(empty);
    must(d, ws_edit_paste(d, clip, ws_edit_spot(empty, NULL)));
    g_assert_cmpuint(ws_node_n_children(ws_design_root(d->design), WS_F_groups), ==, 2);
    g_assert_cmpuint(ws_node_n_children(ws_design_root(d->design), WS_F_buffers), ==, 3);
    g_assert_nonnull(ws_design_find(d->design, "barriers/empty"));
    assert_replays(empty, d);
    /* Steps: into the same design, beside the original. */
    const guint64 steps[] = { labelled(shipped, "load A", 0), labelled(shipped, "load B", 0) };
    g_autofree char *two = ws_edit_copy(shipped, steps, 2);
    g_autoptr(WsDesign) fragment = parse(two);
    g_autoptr(WsDraft) same = ws_draft_new(shipped);
    must(same, ws_edit_paste(same, fragment, ws_edit_spot(shipped, ws_draft_node(same, steps[1]))));
    g_assert_cmpuint(same->touched->len, ==, 2);
    g_assert_cmpuint(ws_node_n_children(ws_design_root(same->design), WS_F_buffers), ==, 3);
}

/* The group's name also stands in its text as part of a key: "m" in "name". */
static void paste_short_name(void)
{
    g_autoptr(WsDesign) shipped = load(GEMM);
    g_autoptr(WsDraft) named = ws_draft_new(shipped);
    must(named, ws_edit_rename(named, node_at(shipped, "groups/mma"), "m"));
    const guint64 group = node_at(named->design, "groups/m");
    g_autofree char *text = ws_edit_copy(named->design, &group, 1);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) clip = ws_design_parse(text, strlen(text), NULL, findings);
    g_autoptr(WsDraft) d = ws_draft_new(named->design);
    must(d, ws_edit_paste(d, clip, ws_edit_spot(d->design, NULL)));
    g_assert_nonnull(ws_design_find(d->design, "groups/m2"));
    assert_replays(named->design, d);
}

/* A load takes the tensor that nothing loads yet, from where its tile begins, into the buffer for
 * that tile; a product begins in the first round of its loop. Without a tile or a loop: as before.
 */
static void guesses(void)
{
    g_autoptr(WsDesign) gemm = load(GEMM);
    g_autoptr(WsDraft) d = ws_draft_new(gemm);
    const guint64 loop = node_at(gemm, "groups/load/body/0/do/0");
    const guint64 load[] = { node_at(gemm, "groups/load/body/0/do/0/do/0"),
                             node_at(gemm, "groups/load/body/0/do/0/do/1") };
    must(d, ws_edit_remove(d, load, 2));
    must(d, ws_edit_add_at(d, WS_STEP_LOAD, (WsEditSpot){ loop, WS_F_do, 0 }));
    must(d, ws_edit_add_at(d, WS_STEP_LOAD, (WsEditSpot){ loop, WS_F_do, 1 }));
    must(d, ws_edit_add_at(d, WS_STEP_LOAD, (WsEditSpot){ loop, WS_F_do, 2 })); /* all are loaded */
    must(d, ws_edit_add_at(d, WS_STEP_MMA, (WsEditSpot){ loop, WS_F_do, 3 }));
    must(d, ws_edit_add_at(d, WS_STEP_MMA,
                           (WsEditSpot){ node_at(gemm, "groups/load"), WS_F_body, 0 }));
    must(d, ws_edit_add_at(d, WS_STEP_LOAD,
                           (WsEditSpot){ node_at(gemm, "groups/load"), WS_F_body, 0 }));
    g_autofree char *text = ws_design_print(d->design);
    static const char *const said[] = {
        "\"load\": \"A\", \"at\": [\"tm*BM\", \"k*BK\"], \"into\": \"a\"",
        "\"load\": \"B\", \"at\": [\"tn*BN\", \"k*BK\"], \"into\": \"b\"",
        "\"first\": \"k == 0\"",
        "\"first\": true",
        "\"load\": \"A\", \"at\": [\"tm*BM\", 0], \"into\": \"a\"",
    };
    for (guint i = 0; i < G_N_ELEMENTS(said); i++)
        if (!strstr(text, said[i]))
            g_error("no %s in %s", said[i], text);
}

/* What the journal and `--json` say of an edit, to the letter. */
static void scripts(void)
{
    g_autoptr(WsDesign) one = load("tests/designs/gemm-one-consumer.wstave");
    g_autoptr(WsDraft) d = ws_draft_new(one);
    const guint64 mma = node_at(one, CONSUMER "0/do/1"), group = node_at(one, "groups/mma");
    const guint64 loop = node_at(one, CONSUMER "0"), buffer = node_at(one, "buffers/a");
    WsConnection how;
    must(d, ws_edit_replicate(d, group, 1));
    must(d, ws_edit_turn(d, mma, mma, FALSE, &how));
    must(d, ws_edit_peel(d, loop));
    must(d, ws_edit_mute(d, &mma, 1));
    must(d, ws_edit_wrap(d, &mma, 1));
    must(d, ws_edit_add(d, WS_STEP_LOAD, ws_draft_node(d, mma)));
    must(d, ws_edit_duplicate(d, &buffer, 1));
    static const char said[] =
        "set groups/mma replicate 2\n"
        "insert . barriers 2 {\"name\":\"turn\",\"array\":2,\"init\":[\"ready\",\"pending\"]}\n"
        "insert groups/mma/body/0/do/0 do 2 {\"arrive\":\"turn[1 - "
        "replica]\",\"by\":\"all\",\"use\":\"k.total\"}\n"
        "insert groups/mma/body/0/do/0 do 1 {\"wait\":\"turn[replica]\",\"use\":\"k.total\"}\n"
        "unset groups/mma/body/0/do/0 split\n"
        "set groups/mma/body/0/do/0/do/2 muted true\n"
        "insert groups/mma/body/0/do/0 do 2 {\"for\":\"i\",\"count\":1,\"do\":[]}\n"
        "move groups/mma/body/0/do/0/do/3 groups/mma/body/0/do/0/do/2 do 0\n"
        "insert groups/mma/body/0/do/0/do/2 do 1 "
        "{\"load\":\"A\",\"at\":[\"tm*BM\",0],\"into\":\"a\"}\n"
        "insert . buffers 1 "
        "{\"name\":\"a2\",\"dtype\":\"bf16\",\"tile\":[\"BM\",\"BK\"],\"stages\":\"STAGES\"}\n";
    g_autofree char *script = ws_draft_script(d);
    g_assert_cmpstr(script, ==, said);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/connect/gemm", connect_gemm);
    g_test_add_func("/edit/connect/refuses", connect_refuses);
    g_test_add_func("/edit/turn/around", turns);
    g_test_add_func("/edit/turn/refuses", turns_refused);
    g_test_add_func("/edit/nudge", nudge_across_the_end);
    g_test_add_func("/edit/wrap", wrap_and_unwrap);
    g_test_add_func("/edit/other-group", other_group);
    g_test_add_func("/edit/rename", rename_everything);
    g_test_add_func("/edit/guesses", guesses);
    g_test_add_func("/edit/add", add_every_kind);
    g_test_add_func("/edit/depth", depth);
    g_test_add_func("/edit/copy-paste", copy_and_paste);
    g_test_add_func("/edit/paste/short-name", paste_short_name);
    g_test_add_func("/edit/scripts", scripts);
    return g_test_run();
}
