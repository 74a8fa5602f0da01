/* Long traces: made here, opened by a process of their own, exported as they are read. A million
 * records by default; WARPSTAVE_RECORDS=10000000 is the size that the figures are promised for
 * (./dev bench). Prints seconds of processor time and megabytes. */
#include "toy.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#ifdef __SANITIZE_ADDRESS__
enum { SLOW = 8, FAT = 3 }; /* the sanitizers' own share */
#else
enum { SLOW = 1, FAT = 1 };
#endif

static char *self, *dir, *file;
static guint records = 1000000;

/* As a run of the recorder gives it: one stretch of rounds from each of many CTAs. */
static void make_trace(void)
{
    g_autoptr(WsTrace) one = toy_trace(WS_TRACE_MEASURED, 8, (gint)MIN(records / 10000, 1000), 300);
    g_autoptr(WsTrace) t = ws_trace_new(toy_program(), WS_TRACE_MEASURED);
    for (guint cta = 0; t->record->len < records; cta++) {
        WsTraceCta row = { .id = cta, .sm = cta % 132, .cycles = one->cycles, .ghz = 1.7 };
        g_array_append_val(t->cta, row);
        for (guint i = 0; i < one->record->len && t->record->len < records; i++) {
            WsTraceRecord r = g_array_index(one->record, WsTraceRecord, i);
            r.cta = (guint16)cta;
            ws_trace_add(t, &r);
        }
    }
    ws_trace_finish(t);
    g_autoptr(GError) error = NULL;
    ws_trace_save(t, file, &error);
    g_assert_no_error(error);
}

typedef struct {
    double seconds, megabytes; /* processor time of the work; most memory of the process */
} Cost;

static double processor_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

static double most_megabytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

/* In the process of its own: opens the file, does one thing, says what it cost. */
static int work(const char *what)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) t = ws_trace_load(file, &error);
    double before = processor_seconds();
    gboolean ok = t != NULL;
    if (ok && strcmp(what, "chrome") == 0)
        ok = ws_trace_export_chrome(t, "/dev/null", &error);
    else if (ok && strcmp(what, "perfetto") == 0)
        ok = ws_trace_export_perfetto(t, "/dev/null", &error);
    else if (ok && strcmp(what, "csv") == 0)
        ok = ws_trace_export_csv(t, "/dev/null", &error);
    else if (ok && strcmp(what, "save") == 0)
        ok = ws_trace_save(t, "/dev/null", &error);
    else
        before = 0; /* open: all of it */
    if (!ok)
        fprintf(stderr, "%s\n", error->message);
    printf("%u %.4f %.1f\n", ok ? t->record->len : 0, processor_seconds() - before,
           most_megabytes());
    return ok ? 0 : 1;
}

static Cost cost_of(const char *what)
{
    const char *argv[] = { self, "--work", what, file, NULL };
    g_autofree char *out = NULL;
    g_autoptr(GError) error = NULL;
    int status = 1;
    g_spawn_sync(NULL, (char **)argv, NULL, 0, NULL, NULL, &out, NULL, &status, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, 0);
    guint n;
    Cost c;
    g_assert_cmpint(sscanf(out, "%u %lf %lf", &n, &c.seconds, &c.megabytes), ==, 3);
    g_assert_cmpuint(n, ==, records);
    g_test_message("%u records, %s: %.2f s, %.0f MB", records, what, c.seconds, c.megabytes);
    return c;
}

/* Ten million: a second and a gigabyte; fewer: their share, and what any process needs. */
static void test_open(void)
{
    const double share = records / 1e7;
    Cost c = cost_of("open");
    for (guint i = 0; i < 2; i++) { /* the first also pays for what the writing left to be done */
        const Cost again = cost_of("open");
        c.seconds = MIN(c.seconds, again.seconds);
    }
    g_assert_cmpfloat(c.seconds, <=, SLOW * (share + 0.1));
    g_assert_cmpfloat(c.megabytes, <=, FAT * (1000 * share + 32));
}

/* What an export needs beside the trace does not grow with it. */
static void test_export(gconstpointer format)
{
    const Cost open = cost_of("open"), c = cost_of(format);
    g_assert_cmpfloat(c.megabytes - open.megabytes, <=, FAT * 8);
}

static void remove_files(void)
{
    g_unlink(file);
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--work") == 0) {
        file = argv[3];
        return work(argv[2]);
    }
    if (argc == 4 && strcmp(argv[1], "--make") == 0) { /* for a look at it: --make FILE RECORDS */
        file = argv[2];
        records = (guint)atoi(argv[3]);
        make_trace();
        return 0;
    }
    g_test_init(&argc, &argv, NULL);
    self = argv[0];
    if (g_getenv("WARPSTAVE_RECORDS"))
        records = (guint)MAX(atoi(g_getenv("WARPSTAVE_RECORDS")), 10000);
    dir = g_dir_make_tmp("warpstave-long-XXXXXX", NULL);
    file = g_build_filename(dir, "long.wtrace", NULL);
    make_trace();
    g_test_add_func("/long/open", test_open);
    g_test_add_data_func("/long/chrome", "chrome", test_export);
    g_test_add_data_func("/long/perfetto", "perfetto", test_export);
    g_test_add_data_func("/long/csv", "csv", test_export);
    g_test_add_data_func("/long/save", "save", test_export);
    const int status = g_test_run();
    remove_files();
    g_free(file);
    g_free(dir);
    return status;
}
