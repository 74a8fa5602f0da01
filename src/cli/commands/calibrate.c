#include "clock/calibrate.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/temporary.h"
#include "cli/collect.h"
#include "cli/cycles_table.h"
#include "cli/kernels.h"
#include "launch/collect.h"
#include "launch/run.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CALIBRATE_RUNS 10
#define DRIVER(n)      (n) / 1000, (n) % 1000 / 10

/* "mma-bf16-GROUPS2_N16": rows of one design and setting share a bundle. */
static char *folder_of(const char *dir, const WsCalibrateRow *row)
{
    g_autofree char *name = g_strdup_printf("%s-%s-%s", row->design, row->set, row->size);
    for (char *c = name; *c; c++)
        if (*c == '=' || *c == ' ')
            *c = *c == ' ' ? '_' : '-';
    return g_build_filename(dir, name, NULL);
}

static int write_bundle(const char *dir, const WsCalibrateRow *row)
{
    g_autofree char *to = folder_of(dir, row), *file = g_strconcat(to, ".wstave", NULL);
    g_autofree char *a = g_strdup_printf("ROUNDS=%" G_GINT64_FORMAT " %s", row->n0, row->size);
    g_autofree char *b = g_strdup_printf("ROUNDS=%" G_GINT64_FORMAT " %s", row->n1, row->size);
    g_autoptr(GError) error = NULL;
    const char *text = ws_calibrate_design(row->design);
    if (g_file_test(to, G_FILE_TEST_IS_DIR))
        return WS_EXIT_YES;
    if (!ws_file_write(file, text, strlen(text), &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    g_auto(WsBundleOptions) options;
    ws_bundle_options_init(&options);
    options.set = g_strsplit(row->set, " ", -1);
    options.shape = g_new0(char *, 3);
    options.shape[0] = g_strdup(a);
    options.shape[1] = g_strdup(b);
    options.traced = TRUE; /* its header tells the clock that the SMs ran at */
    options.rounds = 1;
    options.runs = CALIBRATE_RUNS;
    options.sustained = 0;
    int code = ws_cli_bundle(file, &options, to);
    g_remove(file);
    return code;
}

/* The rows of one device, or those of as many as are named. */
static gboolean wanted(const WsCalibrateRow *row, guint devices)
{
    return devices > 1 ? row->devices == devices : row->devices == 1;
}

static int write_bundles(const char *dir, guint devices)
{
    guint n;
    const WsCalibrateRow *row = ws_calibrate_rows(&n);
    g_autoptr(GError) error = NULL;
    if (g_mkdir_with_parents(dir, 0777) != 0)
        return ws_cli_fail(WS_EXIT_USAGE, "%s: %s", dir, g_strerror(errno));
    for (guint i = 0; i < n; i++) {
        if (!wanted(&row[i], devices))
            continue;
        int code = ws_cli_interrupted() ? WS_EXIT_INTERRUPTED : write_bundle(dir, &row[i]);
        if (code != WS_EXIT_YES)
            return code;
    }
    return WS_EXIT_YES;
}

/* They only keep a unit busy and have no reference to judge their values by: what is fitted says
 * so.
 */
static int run_bundles(const char *dir, const char *host, const char *list, guint devices)
{
    const char *const arguments[] = { "--no-check", list ? "--devices" : NULL, list, NULL };
    guint n;
    const WsCalibrateRow *row = ws_calibrate_rows(&n);
    g_autoptr(GHashTable) done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < n; i++) {
        g_autofree char *bundle = folder_of(dir, &row[i]);
        g_autoptr(GError) error = NULL;
        int status = 0;
        WsRunSpec spec = {
            .host = host, .arguments = arguments, .quiet = TRUE, .interrupted = ws_cli_interrupted
        };
        if (!wanted(&row[i], devices) || !g_hash_table_add(done, g_strdup(bundle)))
            continue;
        if (!ws_run_bundle(bundle, &spec, &status, &error))
            return ws_cli_fail(g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT)
                                   ? WS_EXIT_ABSENT
                                   : WS_EXIT_NO,
                               "%s", error->message);
        if (status == WS_EXIT_ABSENT)
            return ws_cli_fail(
                WS_EXIT_ABSENT,
                "no GPU or driver %s%s: `warpstave calibrate --bundles DIR` makes folders "
                "to run elsewhere, --from DIR reads them back",
                host ? "on " : "here", host ? host : "");
        if (ws_cli_interrupted())
            return WS_EXIT_INTERRUPTED;
    }
    return WS_EXIT_YES;
}

/* Cycles per round, their spread as a share, and the clock that they were measured at. */
typedef struct {
    double period, spread, ghz;
    char *device;
    guint driver;
    gboolean judged; /* and right, in both cases */
    WsProgram *program;
} Measured;

static void measured_clear(Measured *m)
{
    g_clear_pointer(&m->program, ws_program_unref);
    g_clear_pointer(&m->device, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Measured, measured_clear)

static int measure(const char *dir, const WsCalibrateRow *row, Measured *m)
{
    g_autofree char *bundle = folder_of(dir, row);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsCollected) c = ws_collect(bundle, findings, &error);
    if (!c)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (c->cases->len != 2 || !c->program)
        return ws_cli_fail(WS_EXIT_USAGE, "%s: two cases of a calibration design expected", bundle);
    const WsCollectedCase *few = c->cases->pdata[0], *many = c->cases->pdata[1];
    const WsCollectedTime *a = &few->cold, *b = &many->cold;
    if (!a->n || !b->n || !isfinite(a->cycles) || !isfinite(b->cycles))
        return ws_cli_fail(WS_EXIT_NO, "%s: a case was not timed", bundle);
    m->period = (b->cycles - a->cycles) / (double)(row->n1 - row->n0);
    m->spread = (b->p90_us - b->p10_us) / b->median_us;
    m->ghz = b->sm_mhz / 1e3;
    m->device = g_strdup(c->device);
    m->driver = c->driver;
    m->judged = few->right && many->right;
    m->program = ws_program_ref(c->program);
    return WS_EXIT_YES;
}

static char *source_of(const WsCalibrateRow *row, const Measured *m)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *date = g_date_time_format(now, "%Y-%m-%d");
    return g_strdup_printf(
        "measured on %s, CUDA driver %u.%u, %s: %s (%s, %s), %.1f cycles a round "
        "at %.2f GHz, spread %.1f %%%s",
        m->device, DRIVER(m->driver), date, row->design, row->set, row->size, m->period, m->ghz,
        100 * m->spread, m->judged ? "" : "; values of the kernel not judged");
}

/* One description is of one GPU under one driver. `first` takes what it is. */
static int same_gpu(const char *dir, const WsCalibrateRow *row, const Measured *x, Measured *first)
{
    g_autofree char *bundle = folder_of(dir, row);
    if (!x->device || !x->driver)
        return ws_cli_fail(WS_EXIT_USAGE,
                           "%s: its results do not say which GPU and driver it ran on", bundle);
    if (!first->device) {
        first->device = g_strdup(x->device);
        first->driver = x->driver;
        return WS_EXIT_YES;
    }
    if (strcmp(first->device, x->device) == 0 && first->driver == x->driver)
        return WS_EXIT_YES;
    return ws_cli_fail(WS_EXIT_USAGE,
                       "%s was measured on %s, CUDA driver %u.%u, but the bundles before it on %s, "
                       "CUDA driver %u.%u: run all of them on one GPU",
                       bundle, x->device, DRIVER(x->driver), first->device, DRIVER(first->driver));
}

static int fit(const char *dir, guint devices, const WsMachine *from, const char *out)
{
    guint n, all = 0, failed = 0, unjudged = 0;
    const WsCalibrateRow *row = ws_calibrate_rows(&n);
    g_autoptr(WsMachine) m = ws_machine_at(from, from->value[WS_MACHINE_GHZ]);
    g_auto(Measured) first = { 0 };
    g_autoptr(GError) error = NULL;
    printf("%-26s %12s %12s %9s   %s\n", "value", "was", "measured", "change", "unit");
    for (guint i = 0; i < n; i++) {
        g_auto(Measured) x = { 0 };
        if (!wanted(&row[i], devices))
            continue;
        int code = measure(dir, &row[i], &x);
        if (code == WS_EXIT_YES)
            code = same_gpu(dir, &row[i], &x, &first);
        if (code != WS_EXIT_YES)
            return code;
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autofree char *source = source_of(&row[i], &x);
        unjudged += !x.judged;
        double was = m->value[row[i].value];
        if (all++ == 0) {
            g_free(m->name);
            m->name = g_strdup(x.device);
        }
        if (!ws_calibrate_fit(&row[i], x.program, x.period, x.ghz, m, source, findings)) {
            failed++;
            ws_cli_print_findings(findings, row[i].design);
            printf("%-26s %12.6g %12s             no value gives %.1f cycles a round (%s, %s)\n",
                   ws_machine_key(row[i].value), was, "-", x.period, row[i].design, row[i].set);
            continue;
        }
        printf("%-26s %12.6g %12.6g %+8.1f %%   %s\n", ws_machine_key(row[i].value), was,
               m->value[row[i].value], 100 * (m->value[row[i].value] / MAX(was, 1e-9) - 1),
               ws_machine_unit(row[i].value));
    }
    if (unjudged)
        printf("%u of %u values are from kernels that were timed and not judged\n", unjudged, all);
    if (out && !ws_machine_save(m, out, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    return failed ? WS_EXIT_NO : WS_EXIT_YES;
}

/* Bundles, runs and fits in a folder of its own. */
static int here(const char *host, const char *keep, const char *list, guint devices,
                const WsMachine *m, const char *out)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *scratch = keep ? NULL : ws_temporary_folder(&error);
    if (!keep && !scratch)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    const char *dir = keep ? keep : scratch;
    int code = write_bundles(dir, devices);
    if (code == WS_EXIT_YES)
        code = run_bundles(dir, host, list, devices);
    if (code == WS_EXIT_YES)
        code = fit(dir, devices, m, out);
    if (scratch)
        ws_folder_remove(scratch);
    return code;
}

/* What can be asked for: a table, bundles, what bundles say, or all of it here. */
enum { TABLE = 1, BUNDLES = 2, FROM = 4, HERE = 8 };

/* An option and where it means something. */
typedef struct {
    const char *name;
    gboolean given;
    int with;
} Use;

static int check_use(const Use *use, guint n, int what)
{
    static const struct {
        int what;
        const char *does;
    } form[] = { { TABLE, "--table reads what was measured" },
                 { BUNDLES, "--bundles only writes bundles" },
                 { FROM, "--from reads bundles that were run" },
                 { HERE, "without --table" } };
    for (guint i = 0; i < n; i++)
        for (guint k = 0; use[i].given && !(use[i].with & what) && k < G_N_ELEMENTS(form); k++)
            if (form[k].what == what)
                return ws_cli_fail(WS_EXIT_USAGE, "%s: %s means nothing there; leave it away",
                                   form[k].does, use[i].name);
    return WS_EXIT_YES;
}

int ws_command_calibrate(int argc, char **argv)
{
    g_autofree char *machine = NULL, *table = NULL, *out = NULL, *host = NULL, *keep = NULL,
                    *from = NULL, *bundles = NULL, *list = NULL;
    double within = -G_MAXDOUBLE; /* not given */
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "write the machine description", "FILE" },
        { "machine", 0, 0, G_OPTION_ARG_FILENAME, &machine,
          "description to start from (default: H200)", "FILE" },
        { "host", 0, 0, G_OPTION_ARG_STRING, &host, "measure there, through ssh", "HOST" },
        { "keep", 0, 0, G_OPTION_ARG_FILENAME, &keep, "keep the bundles in this folder", "DIR" },
        { "bundles", 0, 0, G_OPTION_ARG_FILENAME, &bundles, "only write the bundles", "DIR" },
        { "from", 0, 0, G_OPTION_ARG_FILENAME, &from, "read bundles that were run elsewhere",
          "DIR" },
        { "devices", 0, 0, G_OPTION_ARG_STRING, &list,
          "GPUs, e.g. 0,1: measure what goes between them, and nothing else", "LIST" },
        { "table", 0, 0, G_OPTION_ARG_FILENAME, &table,
          "predicted beside measured cycles of the launches kept in FILE", "FILE" },
        { "within", 0, 0, G_OPTION_ARG_DOUBLE, &within, "error that the table allows (default 10)",
          "PERCENT" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "the table as JSON, version 1", NULL },
        { NULL },
    };
    g_autoptr(GError) error = NULL;
    if (!ws_cli_arguments(&argc, &argv, "calibrate", entries, 0, NULL))
        return WS_EXIT_USAGE;
    const Use use[] = { { "--output", out != NULL, FROM | HERE },
                        { "--host", host != NULL, HERE },
                        { "--keep", keep != NULL, HERE },
                        { "--bundles", bundles != NULL, BUNDLES },
                        { "--from", from != NULL, FROM },
                        { "--devices", list != NULL, BUNDLES | FROM | HERE },
                        { "--within", within != -G_MAXDOUBLE, TABLE },
                        { "--json", json, TABLE } };
    const int what = table     ? TABLE
                     : bundles ? BUNDLES
                     : from    ? FROM
                               : HERE,
              code = check_use(use, G_N_ELEMENTS(use), what);
    if (code != WS_EXIT_YES)
        return code;
    if (within != -G_MAXDOUBLE && !(within > 0 && isfinite(within)))
        return ws_cli_fail(WS_EXIT_USAGE, "--within must be more than 0");
    const char *const folders[] = { bundles, from, keep }, *const of[] = { "--bundles", "--from",
                                                                           "--keep" };
    for (guint i = 0; i < G_N_ELEMENTS(folders); i++)
        if (folders[i] && !*folders[i])
            return ws_cli_fail(WS_EXIT_USAGE, "%s '' is no folder: name one", of[i]);
    const guint devices = list ? ws_cli_devices(list) : 1;
    if (list && devices != 2)
        return ws_cli_fail(WS_EXIT_USAGE, "--devices needs two GPU numbers, e.g. 0,1: what goes "
                                          "between more is not measured yet");
    g_autoptr(WsMachine) m = ws_machine_load(machine, &error);
    if (!m || (out && !ws_file_check(out, NULL, &error)))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (table)
        return ws_cli_cycles_table(table, m, within > 0 ? within / 100 : 0.1, json);
    if (bundles)
        return write_bundles(bundles, devices);
    return from ? fit(from, devices, m, out) : here(host, keep, list, devices, m, out);
}
