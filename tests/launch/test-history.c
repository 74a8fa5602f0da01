/* Run history: what goes in comes out; foreign, newer and broken files are refused. */
#include "launch/history.h"
#include "model/findings.h"
#include "program/program.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define REAL WS_SOURCE_ROOT "/tests/launch/h200"

static char *dir;

static void set_up(void)
{
    dir = g_dir_make_tmp("warpstave-history-XXXXXX", NULL);
}

static void tear_down(void)
{
    GDir *d = g_dir_open(dir, 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        g_unlink(path);
    }
    g_dir_close(d);
    g_rmdir(dir);
    g_clear_pointer(&dir, g_free);
}

/* FALSE and a skip where the build has no SQLite. */
static gboolean opened(WsRunStore **h, const char *file)
{
    g_autoptr(GError) error = NULL;
    *h = ws_history_open(file, &error);
    if (g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT)) {
        g_assert_nonnull(strstr(error->message, "libsqlite3-dev"));
        g_test_skip("built without SQLite");
        return FALSE;
    }
    g_assert_no_error(error);
    return TRUE;
}

static void test_round_trip(void)
{
    set_up();
    g_autofree char *file = g_build_filename(dir, "deeper", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsCollected) c = ws_collect(REAL, findings, &error);
    g_assert_no_error(error);
    WsRunStore *h;
    if (opened(&h, file)) {
        g_assert_true(ws_history_add(h, c, "gpu1", "/x/m.wtrace", &error));
        ws_history_close(h);
        h = ws_history_open(file, &error); /* it is kept */
        g_assert_no_error(error);
        g_assert_true(ws_history_add(h, c, NULL, NULL, &error));
        g_autoptr(GPtrArray) all = ws_history_list(h, NULL, 100, &error);
        g_autoptr(GPtrArray) other = ws_history_list(h, "no'such", 100, &error);
        g_autoptr(GPtrArray) one = ws_history_list(h, c->program->design_hash, 1, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(all->len, ==, 2);
        g_assert_cmpuint(other->len, ==, 0);
        g_assert_cmpuint(one->len, ==, 1);
        const WsHistoryRun *newest = all->pdata[0], *first = all->pdata[1];
        const WsCollectedCase *x = c->cases->pdata[0];
        g_assert_null(newest->host);
        g_assert_null(newest->trace);
        g_assert_cmpstr(first->host, ==, "gpu1");
        g_assert_cmpstr(first->trace, ==, "/x/m.wtrace");
        g_assert_cmpstr(first->device, ==, "NVIDIA H200");
        g_assert_cmpstr(first->state, ==, "right");
        g_assert_cmpfloat(first->cold_us, ==, x->cold.median_us);
        g_assert_cmpfloat(first->overhead, ==, x->overhead);
        g_assert_cmpint(first->time, >, 1700000000);
        g_assert_cmpstr(first->sizes, ==, "M=4096,N=4096,K=4096");
        ws_history_close(h);
    }
    tear_down();
}

static void test_refused(void)
{
    set_up();
    g_autofree char *file = g_build_filename(dir, "h.db", NULL);
    g_autoptr(GError) error = NULL;
    WsRunStore *h;
    if (opened(&h, file)) {
        ws_history_close(h);
        g_autofree char *data = NULL;
        gsize size;
        g_assert_true(g_file_get_contents(file, &data, &size, NULL));
        data[63] = 9; /* user_version is the big-endian word at byte 60 */
        g_assert_true(g_file_set_contents(file, data, (gssize)size, NULL));
        g_assert_null(ws_history_open(file, &error));
        g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
        g_assert_nonnull(strstr(error->message, "has version 9"));
        g_clear_error(&error);
        g_assert_true(g_file_set_contents(file, "this is no database at all, only text", -1, NULL));
        g_assert_null(ws_history_open(file, &error));
        g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED);
        g_clear_error(&error);
        g_assert_null(ws_history_open("/proc/nope/h.db", &error));
        g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED);
    }
    tear_down();
}

/* A file of the first version is brought up, and nothing of it is lost. */
static void test_annotated(void)
{
    set_up();
    g_autofree char *file = g_build_filename(dir, "old.db", NULL), *bytes = NULL;
    gsize size;
    g_autoptr(GError) error = NULL;
    WsRunStore *h;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/launch/history-1.db", &bytes, &size, &error));
    g_assert_true(g_file_set_contents(file, bytes, (gssize)size, &error));
    if (opened(&h, file)) {
        g_assert_true(ws_history_annotate(h, 1, "before the ring grew", "base h200", &error));
        g_assert_no_error(error);
        ws_history_close(h);
        h = ws_history_open(file, &error);
        g_assert_no_error(error);
        g_autoptr(GPtrArray) all = ws_history_list(h, "abc", 10, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(all->len, ==, 1);
        const WsHistoryRun *r = all->pdata[0];
        g_assert_cmpstr(r->name, ==, "old one");
        g_assert_cmpfloat(r->cold_us, ==, 203.5);
        g_assert_cmpstr(r->note, ==, "before the ring grew");
        g_assert_cmpstr(r->tags, ==, "base h200");
        g_assert_true(ws_history_annotate(h, 1, "", NULL, &error));
        g_autoptr(GPtrArray) again = ws_history_list(h, NULL, 10, &error);
        g_assert_null(((WsHistoryRun *)again->pdata[0])->note);
        g_assert_null(((WsHistoryRun *)again->pdata[0])->tags);
        g_assert_false(ws_history_annotate(h, 77, "x", NULL, &error));
        g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED);
        ws_history_close(h);
    }
    tear_down();
}

static void test_default_file(void)
{
    g_setenv("WARPSTAVE_HISTORY", "/a/b.db", TRUE);
    g_autofree char *named = ws_history_default_file();
    g_assert_cmpstr(named, ==, "/a/b.db");
    g_unsetenv("WARPSTAVE_HISTORY");
    g_autofree char *file = ws_history_default_file();
    g_assert_true(g_str_has_suffix(file, "/warpstave/history.db"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launch/history/round-trip", test_round_trip);
    g_test_add_func("/launch/history/refused", test_refused);
    g_test_add_func("/launch/history/annotated", test_annotated);
    g_test_add_func("/launch/history/default-file", test_default_file);
    return g_test_run();
}
