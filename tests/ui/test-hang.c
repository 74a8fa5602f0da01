/* The results of a run that hung on the H200 (tests/ui/hang, tests/designs/broken/02-wrong-count):
 * the agents that stood still, in words and on the score. */
#include "scenario/hands.h"

#include "ui/document/document_hang.h"
#include "ui/timeline/marks/hang_score.h"

#include <glib/gstdio.h>
#include <string.h>

static void put(const char *folder, const char *name, const char *from)
{
    g_autofree char *to = g_build_filename(folder, name, NULL), *text = NULL;
    gsize length = 0;
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, from, NULL);
    g_assert_true(g_file_get_contents(path, &text, &length, NULL));
    g_assert_true(g_file_set_contents(to, text, (gssize)length, NULL));
}

/* A folder as the runner leaves it. Transfer full. */
static GFile *bundle(const char *results)
{
    g_autofree char *folder = g_build_filename(g_get_user_runtime_dir(), "bundle", NULL);
    g_mkdir_with_parents(folder, 0700);
    put(folder, "bundle.txt", "tests/ui/hang/bundle.txt");
    put(folder, "design.wstave", "tests/designs/broken/02-wrong-count.wstave");
    put(folder, "results.json", results);
    return g_file_new_for_path(folder);
}

static void drawn(Scenario *s)
{
    g_autoptr(GFile) folder = bundle("tests/ui/hang/results.json");
    g_autoptr(GFile) results = g_file_get_child(folder, "results.json");
    WsTimeline *t = WS_TIMELINE(s->timeline);
    g_assert_null(ws_document_hang(s->document));
    g_assert_true(ws_window_open(s->window, results));
    const WsHang *hang = ws_document_hang(s->document);
    g_assert_nonnull(hang);
    g_assert_cmpuint(hang->stuck->len, ==, 3);
    WAIT_FOR(ws_hang_n_drawn(t) == 3);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "The kernel hung: 3 agents are stuck"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window),
                                        "load waits for empty, slot 0: parity 0 awaited"));
    g_autofree char *label = ws_hang_label(hang, 1);
    g_assert_cmpstr(label, ==, "stuck at full, slot 0, parity 1, 1 missing, round 0.4");
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, "groups/load/body/0/do/0/do/0");
    hands_shot(s, "hang");
    /* Of an edited design nothing is known. */
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    const guint64 step = ws_document_node(s->document, "groups/load/body/0/do/0/do/1");
    g_assert_true(ws_edit_mute(draft, &step, 1));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
    g_assert_null(ws_document_hang(s->document));
    g_assert_cmpuint(ws_hang_n_drawn(t), ==, 0);
}

static void refused(Scenario *s)
{
    g_autofree char *before = hands_text(s);
    g_autoptr(GFile) folder = bundle("meson.build");
    g_assert_false(ws_window_open(s->window, folder));
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "Cannot open"));
    g_autofree char *after = hands_text(s);
    g_assert_cmpstr(before, ==, after);
}

static void add(void)
{
    scenario_add("hang/drawn", drawn);
    scenario_add("hang/refused", refused);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
