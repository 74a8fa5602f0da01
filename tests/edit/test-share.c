/* The rows of a group shared out between two replicas: proved, replayed, and refused by name where
 * a step does anything else. */
#include "drafts.h"

#include <string.h>

#define PLAIN "tests/designs/search/gemm-plain.wstave"

static void shared(void)
{
    g_autoptr(WsDesign) plain = load(PLAIN);
    g_autoptr(WsDraft) d = ws_draft_new(plain);
    must(d, ws_edit_share_rows(d, last_group(plain)));
    assert_replays(plain, d);
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    g_autofree char *text = ws_design_print(d->design);
    static const char *const now[] = { "\"replicate\": 2", "a.rows(replica*", "c.rows(replica*",
                                       "tm*BM + replica*" };
    for (guint i = 0; i < G_N_ELEMENTS(now); i++)
        g_assert_nonnull(strstr(text, now[i]));
    /* Once: there are two of them now. */
    g_autoptr(WsDraft) again = ws_draft_new(d->design);
    g_assert_false(ws_edit_share_rows(again, last_group(d->design)));
    g_assert_nonnull(strstr(why(again), "one replica"));
}

/* A step with a field of which nothing is known, an operand that is no whole buffer, two operands
 * that are the same, a group without products. */
static void refused(void)
{
    static const struct {
        const char *step;
        WsFieldId field;
        const char *value, *why;
    } cases[] = {
        { "mma acc", WS_F_a, "a.rows(0, 64)", "mma acc" },
        { "mma acc", WS_F_a, "b", "mma acc" },
        { "write acc", WS_F_keyword, "acc.cols(0, 64)", "write acc" },
        { "store C", WS_F_reduce, "add", "store C" },
        { "sync group", WS_F_keyword, "full", "sync" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) plain = load(PLAIN);
        g_autoptr(WsDraft) d = ws_draft_new(plain);
        must(d, ws_draft_set(d, labelled(plain, cases[i].step, 0), cases[i].field,
                             ws_json_text(cases[i].value)));
        g_autoptr(WsDraft) with = ws_draft_new(d->design);
        g_assert_false(ws_edit_share_rows(with, last_group(d->design)));
        g_assert_nonnull(strstr(why(with), cases[i].why));
        g_assert_nonnull(strstr(why(with), "by rows"));
    }
    static const char *const files[] = { "projects/attention-d128/design.wstave",
                                         "projects/gemm-bf16-epilogue/design.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autoptr(WsDesign) other = load(files[i]);
        const WsNode *root = ws_design_root(other);
        for (guint k = 0; k < ws_node_n_children(root, WS_F_groups); k++) {
            g_autoptr(WsDraft) d = ws_draft_new(other);
            g_assert_false(ws_edit_share_rows(d, ws_node_child(root, WS_F_groups, k)->identity));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/share/shared", shared);
    g_test_add_func("/share/refused", refused);
    return g_test_run();
}
