/* A tile stored in slabs: proved, replayed, also of one replica's rows; refused by name where
 * something else stands between or uses the staging. */
#include "drafts.h"

#include <string.h>

#define PLAIN "tests/designs/search/gemm-plain.wstave"

static void assert_slabs(const WsDesign *before)
{
    g_autoptr(WsDraft) d = ws_draft_new(before);
    must(d, ws_edit_slabs(d, labelled(before, "write acc", 0)));
    assert_replays(before, d);
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    g_autofree char *text = ws_design_print(d->design);
    static const char *const now[] = { "\"tile\": [\"BM\", 64], \"stages\": 2",
                                       "\"count\": \"BN/64\"",
                                       "acc.cols(s*64, 64)",
                                       "s*64",
                                       "\"unroll\": \"full\"",
                                       "{ \"store_wait\": 1 }",
                                       "{ \"store_wait\": 0 }" };
    for (guint i = 0; i < G_N_ELEMENTS(now); i++)
        if (!strstr(text, now[i]))
            g_error("no %s in %s", now[i], text);
    /* Once: the wait behind the store is another one now. */
    g_autoptr(WsDraft) again = ws_draft_new(d->design);
    g_assert_false(ws_edit_slabs(again, labelled(d->design, "write acc.cols(s*64, 64)", 0)));
    g_assert_nonnull(strstr(why(again), "not followed by"));
}

static void stored(void)
{
    g_autoptr(WsDesign) plain = load(PLAIN);
    assert_slabs(plain);
    g_autoptr(WsDraft) d = ws_draft_new(plain);
    must(d, ws_edit_share_rows(d, last_group(plain)));
    assert_slabs(d->design);
}

/* A part of the tile, a step under a condition, another wait, another store of the group, a store
 * that adds, one slab of columns, columns that are no whole slabs, a ring. */
static void refused(void)
{
    static const struct {
        const char *step;
        WsFieldId field;
        const char *value, *why;
    } cases[] = {
        { "write acc", WS_F_keyword, "\"acc.cols(0, 64)\"", "no whole tile" },
        { "write acc", WS_F_when, "\"tm > 0\"", "not followed by" },
        { "write acc", WS_F_to, "\"c[0]\"", "not followed by" },
        { "store_wait 0", WS_F_keyword, "1", "not followed by" },
        { "store C", WS_F_reduce, "\"add\"", "not followed by" },
        { "store C", WS_F_when, "\"tm > 0\"", "not followed by" },
        { "store C", WS_F_open, "true", "not followed by" },
        { "store C", WS_F_from, "\"c.rows(0, 64)\"", "not followed by" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) plain = load(PLAIN);
        g_autoptr(WsDraft) d = ws_draft_new(plain);
        must(d, ws_draft_set(d, labelled(plain, cases[i].step, 0), cases[i].field,
                             ws_json_read(cases[i].value, NULL)));
        const WsNode *write = ws_draft_node(d, labelled(plain, "write acc", 0));
        g_autoptr(WsDraft) with = ws_draft_new(d->design);
        g_assert_false(ws_edit_slabs(with, write->identity));
        g_test_message("%u: %s", i, why(with));
        g_assert_nonnull(strstr(why(with), cases[i].why));
    }
    static const struct {
        const char *tile, *stages, *why;
    } buffers[] = {
        { "[\"BM\", 64]", NULL, "are not two slabs" },
        { "[\"BM\", \"BN + 32\"]", NULL, "are not two slabs" },
        { "[\"BM\", \"BN\"]", "2", "serves this store alone" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(buffers); i++) {
        g_autoptr(WsDesign) plain = load(PLAIN);
        g_autoptr(WsDraft) d = ws_draft_new(plain);
        const guint64 c = ws_edit_object(plain, "c")->identity;
        must(d, ws_draft_set(d, c, WS_F_tile, ws_json_read(buffers[i].tile, NULL)));
        if (buffers[i].stages)
            must(d, ws_draft_set(d, c, WS_F_stages, ws_json_read(buffers[i].stages, NULL)));
        g_autoptr(WsDraft) with = ws_draft_new(d->design);
        g_assert_false(ws_edit_slabs(with, labelled(plain, "write acc", 0)));
        g_assert_nonnull(strstr(why(with), buffers[i].why));
    }
}

/* A second store in the group, and one in a branch: which copies a wait leaves in flight is then
 * another question. */
static void others(void)
{
    g_autoptr(WsDesign) plain = load(PLAIN);
    g_autoptr(WsDraft) d = ws_draft_new(plain);
    const guint64 store = labelled(plain, "store C", 0), write = labelled(plain, "write acc", 0);
    must(d, ws_edit_duplicate(d, &store, 1));
    g_autoptr(WsDraft) with = ws_draft_new(d->design);
    g_assert_false(ws_edit_slabs(with, write));
    g_autoptr(WsDraft) load_step = ws_draft_new(plain);
    g_assert_false(ws_edit_slabs(load_step, labelled(plain, "load A", 0)));
    g_assert_nonnull(strstr(why(load_step), "select the step that writes"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slabs/stored", stored);
    g_test_add_func("/slabs/refused", refused);
    g_test_add_func("/slabs/others", others);
    return g_test_run();
}
