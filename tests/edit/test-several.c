/* Commands on several nodes at once, which may hold, name or be each other: each is done, and then
 * its script gives the same design, or refused with a reason. */
#include "../whole.h"
#include "drafts.h"

#include <string.h>

static void collect(const WsNode *node, GArray *out)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            g_array_append_val(out, child->identity);
            collect(child, out);
        }
}

typedef gboolean (*Command)(WsDraft *d, const guint64 *nodes, guint n);

static gboolean ahead(WsDraft *d, const guint64 *nodes, guint n)
{
    return ws_edit_ahead(d, nodes, n, 1);
}

static gboolean later(WsDraft *d, const guint64 *nodes, guint n)
{
    return ws_edit_nudge(d, nodes, n, 1);
}

static gboolean elsewhere(WsDraft *d, const guint64 *nodes, guint n)
{
    return ws_edit_other_group(d, nodes, n, 1);
}

/* Before what is selected last. */
static gboolean onto_itself(WsDraft *d, const guint64 *nodes, guint n)
{
    WsEditSpot spot;
    const WsNode *owner =
        ws_design_owner(d->design, ws_draft_node(d, nodes[n - 1]), &spot.list, &spot.index);
    spot.owner = owner->identity;
    return ws_edit_move(d, nodes, n, spot, 0);
}

static const struct {
    const char *name;
    Command command;
} commands[] = {
    { "remove", ws_edit_remove }, { "duplicate", ws_edit_duplicate },
    { "mute", ws_edit_mute },     { "wrap", ws_edit_wrap },
    { "indent", ws_edit_indent }, { "outdent", ws_edit_outdent },
    { "ahead", ahead },           { "later", later },
    { "elsewhere", elsewhere },   { "onto itself", onto_itself },
};

static void try_on(const WsDesign *design, guint which, const guint64 *nodes, guint n)
{
    g_autoptr(WsDraft) d = ws_draft_new(design);
    const gboolean done = commands[which].command(d, nodes, n);
    if (done == (d->why != NULL)) {
        g_autofree char *a = ws_edit_label(ws_design_by_identity(design, nodes[0])),
                        *b = ws_edit_label(ws_design_by_identity(design, nodes[1]));
        g_error("%s of %s and %s: %s", commands[which].name, a, b,
                done ? why(d) : "refused without a reason");
    }
    if (done)
        assert_replays(design, d);
}

/* Every object, group and loop with every node, in both orders and with itself. */
static void pairs(gconstpointer path)
{
    g_autoptr(WsDesign) design = load(path);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint row = 0;
    collect(ws_design_root(design), all);
    for (guint i = 0; i < all->len; i++)
        for (guint k = 0; k < all->len; k++) {
            const guint64 two[] = { g_array_index(all, guint64, i),
                                    g_array_index(all, guint64, k) };
            const WsNode *a = ws_design_by_identity(design, two[0]),
                         *b = ws_design_by_identity(design, two[1]);
            if (ws_node_kind_is_step(a->kind) && ws_edit_list_field(a) == WS_F_COUNT &&
                ws_node_kind_is_step(b->kind) && ws_edit_list_field(b) == WS_F_COUNT && i != k)
                continue;
            for (guint c = 0; c < G_N_ELEMENTS(commands); c++)
                if (test_takes(row++, 23, 101))
                    try_on(design, c, two, 2);
        }
    g_assert_cmpuint(row, >, 5000);
}

/* An object removed takes its waits and arrivals with it, also those that were selected, too. */
static void with_what_names_it(void)
{
    g_autoptr(WsDesign) design = load("projects/gemm-bf16/design.wstave");
    const guint64 full = node_at(design, "barriers/full"), wait = labelled(design, "wait full", 0);
    const guint64 nodes[2][2] = { { full, wait }, { wait, full } };
    g_autoptr(WsDraft) alone = ws_draft_new(design);
    must(alone, ws_edit_remove(alone, &full, 1));
    g_autofree char *expected = ws_design_print(alone->design);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(WsDraft) d = ws_draft_new(design);
        must(d, ws_edit_remove(d, nodes[i], 2));
        g_autofree char *text = ws_design_print(d->design);
        g_assert_cmpstr(text, ==, expected);
        assert_replays(design, d);
    }
}

int main(int argc, char **argv)
{
    static const char *const path[] = { "projects/gemm-bf16/design.wstave",
                                        "tests/designs/sparse-mla-pipes.wstave",
                                        "tests/designs/gemm-gfx950.wstave",
                                        "tests/designs/moves/histogram.wstave" };
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/several/with-what-names-it", with_what_names_it);
    for (guint i = 0; i < G_N_ELEMENTS(path); i++) {
        g_autofree char *name = g_path_get_basename(path[i]), *folder = g_path_get_dirname(path[i]);
        g_autofree char *last = g_path_get_basename(folder);
        g_autofree char *test = g_strdup_printf("/edit/several/pairs/%s/%s", last, name);
        g_test_add_data_func(test, path[i], pairs);
    }
    return g_test_run();
}
