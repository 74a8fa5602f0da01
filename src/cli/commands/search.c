#include "search/search.h"
#include "base/file.h"
#include "base/folder.h"
#include "cli/search/asked.h"
#include "cli/search/measured.h"
#include "model/findings.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <string.h>

#define KEPT_BYTES  (256 << 20) /* of what was freed */
#define WHOLE_BYTES (32 << 20)  /* what is larger is handed back at once */

/* Designs that are assembled and rehearsed, at most: many of a kind may fail alike. */
#define ASKS 40

static gint interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    g_atomic_int_set(&interrupted, 1);
}

/* What a trial frees, the next one takes: handing it back to the system each time took a third of
 * all time of a search of the sparse MLA. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, WHOLE_BYTES);
#endif
}

static void show(const WsFound *best, guint tried, gpointer data)
{
    (void)data;
    ws_cli_progress("%u edits tried, best %" G_GINT64_FORMAT " cycles after %u edits", tried,
                    best->cycles, best->decision->len);
}

/* --- searching ----------------------------------------------------------------------------------
 */

static int measure_kept(const WsSearchAsked *a, char **set, const char *dir)
{
    g_auto(GStrv) setting = g_strdupv(set);
    g_auto(WsCliInput) in = { 0 };
    g_autoptr(GArray) settings = NULL;
    const int code = ws_cli_load(&in, a->file, set);
    if (code != WS_EXIT_YES)
        return code;
    if (!ws_cli_settings(setting, "--set", &settings))
        return WS_EXIT_USAGE;
    g_autoptr(WsDesign) start =
        ws_advise_settled(in.design, settings ? (const WsSetting *)(gpointer)settings->data : NULL,
                          settings ? settings->len : 0);
    g_autoptr(WsMeasured) m = ws_measured_kept(dir, start, a->host, a->measure);
    if (!m)
        return WS_EXIT_USAGE;
    ws_cli_say_aside(a->out);
    ws_measured_print(m);
    return ws_measured_end(a, m);
}

static int search(WsSearchAsked *a, char **set, char **size, const char *machine)
{
    g_auto(WsCliLaunched) l = { 0 };
    g_auto(GStrv) setting = g_strdupv(set); /* what is read is cut in place */
    g_autoptr(GArray) settings = NULL;
    g_auto(GStrv) sizes = g_strdupv(size); /* likewise; as given for --measure */
    const int code = ws_cli_launched(&l, a->file, set, sizes, machine);
    if (code != WS_EXIT_YES)
        return code;
    if (!ws_cli_settings(setting, "--set", &settings))
        return WS_EXIT_USAGE;
    g_autoptr(WsDesign) start = ws_advise_settled(
        l.in.design, settings ? (const WsSetting *)(gpointer)settings->data : NULL,
        settings ? settings->len : 0);
    g_autoptr(GError) error = NULL;
    const WsTrialOf of = { l.in.program, l.values, l.machine };
    g_autoptr(WsKept) kept = a->resume ? ws_kept_open(a->resume, &of, start, &error) : NULL;
    if (error)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    a->options.kept = kept;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) s = ws_search_new(&of, start, &a->options, findings);
    ws_cli_progress(NULL);
    ws_cli_print_findings(findings, a->file);
    if (!s)
        return WS_EXIT_OUTSIDE;
    g_autoptr(WsMeasured) m =
        a->measure ? ws_measured_run(a, s, size, a->host, a->keep, a->measure) : NULL;
    if (a->measure && !m)
        return WS_EXIT_USAGE;
    ws_cli_say_aside(a->out);
    if (a->json) {
        WsJsonOut j;
        ws_cli_json_begin(&j);
        ws_told_json(&j, a, &of, s);
        if (m)
            ws_measured_json(&j, m);
        ws_cli_json_end(&j);
    } else {
        ws_told_print(a, &of, s);
        if (m)
            ws_measured_print(m);
    }
    if (m)
        return ws_measured_end(a, m);
    return a->out ? ws_told_write(a, s) : WS_EXIT_YES;
}

/* A size with two values is no launch, but may be meant as two. */
static gboolean names_one_shape(char **size)
{
    for (guint i = 0; size && size[i]; i++)
        for (guint k = 0; k < i; k++) {
            const gsize n = strcspn(size[i], "=");
            if (n != strcspn(size[k], "=") || strncmp(size[i], size[k], n) != 0)
                continue;
            ws_cli_fail(WS_EXIT_USAGE,
                        "--size: %.*s is given twice; for several shapes write --case \"M=1 N=2\", "
                        "with all sizes of one, once for each",
                        (int)n, size[i]);
            return FALSE;
        }
    return TRUE;
}

/* "60", "60s", "5m": seconds; 0: it is none of these. */
static double read_budget(const char *text)
{
    char *end;
    const double value = g_ascii_strtod(text, &end);
    const double unit = !strcmp(end, "m") ? 60 : !*end || !strcmp(end, "s") ? 1 : 0;
    return value > 0 && value * unit <= 86400 ? value * unit : 0;
}

int ws_command_search(int argc, char **argv)
{
    g_autofree char *machine = NULL, *budget = NULL, *out = NULL, *resume = NULL, *host = NULL,
                    *keep = NULL, *bundles = NULL;
    g_auto(GStrv) set = NULL, size = NULL, cases = NULL;
    int beam = 6, rounds = 12, designs = 4, measure = 0;
    double jitter = 30;
    gint64 seed = 1;
    gboolean json = FALSE, every = FALSE, dry = FALSE;
    const GOptionEntry entries[] = {
        { "budget", 0, 0, G_OPTION_ARG_STRING, &budget,
          "time of this processor: 60s, 5m (default 60s)", "TIME" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out,
          "write the fastest design here, others beside it as OUT-2.wstave", "OUT.wstave" },
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "a size of the launch", "NAME=VALUE" },
        { "case", 0, 0, G_OPTION_ARG_STRING_ARRAY, &cases,
          "a shape; repeatable: a search for each within the budget, and a rule for `pick` (-o "
          "OUT.pick)",
          "\"M=1 N=2\"" },
        { "designs", 0, 0, G_OPTION_ARG_INT, &designs,
          "with --case: designs of the rule, at most (default 4)", "N" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "machine", 0, 0, G_OPTION_ARG_FILENAME, &machine,
          "machine description (default: the built-in one)", "FILE" },
        { "beam", 0, 0, G_OPTION_ARG_INT, &beam,
          "designs kept from one edit to the next (default 6)", "N" },
        { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "edits one after the other (default 12)",
          "N" },
        { "jitter", 0, 0, G_OPTION_ARG_DOUBLE, &jitter,
          "of designs equally fast the first is the one that loses least where loads take so much "
          "longer (default 30; 0: not asked)",
          "PERCENT" },
        { "every", 0, 0, G_OPTION_ARG_NONE, &every,
          "also edits that change only what is on no critical path", NULL },
        { "dry", 0, 0, G_OPTION_ARG_NONE, &dry,
          "check and clock alone: nothing is assembled, rehearsed or written", NULL },
        { "measure", 0, 0, G_OPTION_ARG_INT, &measure,
          "run the N fastest by prediction on a GPU beside the design as it is; the fastest "
          "measured is written",
          "N" },
        { "host", 0, 0, G_OPTION_ARG_STRING, &host, "with --measure: run there, through ssh",
          "HOST" },
        { "keep", 0, 0, G_OPTION_ARG_FILENAME, &keep,
          "with --measure: keep the bundles in folders of DIR, 000 of the design as it is", "DIR" },
        { "bundles", 0, 0, G_OPTION_ARG_FILENAME, &bundles,
          "with --measure: run what --keep=DIR of such a search left, perhaps on another machine; "
          "nothing is searched",
          "DIR" },
        { "resume", 0, 0, G_OPTION_ARG_FILENAME, &resume,
          "keep what was tried in FILE; a search that finds it there continues from it", "FILE" },
        { "seed", 0, 0, G_OPTION_ARG_INT64, &seed, "which of equal designs are kept", "N" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "search", entries, &file))
        return WS_EXIT_USAGE;
    const double seconds = budget ? read_budget(budget) : 60;
    if (seconds <= 0)
        return ws_cli_fail(WS_EXIT_USAGE, "--budget=%s is no time from 1s to 1440m", budget);
    if (dry && out)
        return ws_cli_fail(WS_EXIT_USAGE, "--dry compares no values: it writes no design (-o)");
    if (cases && (size || resume))
        return ws_cli_fail(WS_EXIT_USAGE,
                           "--case names all sizes of a shape, and each is a search of its own: "
                           "--size and --resume do not go with it");
    if (!ws_cli_shapes(cases) || !names_one_shape(size))
        return WS_EXIT_USAGE;
    if (resume && !*resume)
        return ws_cli_fail(WS_EXIT_USAGE, "--resume '' is no file: name one");
    if (measure < 0 || measure > 1000 || ((host || keep) && !measure))
        return ws_cli_fail(WS_EXIT_USAGE, measure ? "--measure is from 1 to 1000"
                                                  : "--host and --keep go with --measure");
    if (bundles && (!measure || keep || json || size || resume))
        return ws_cli_fail(WS_EXIT_USAGE, "--bundles goes with --measure, and neither with --keep, "
                                          "--size, --resume nor --json");
    if (measure && (dry || cases))
        return ws_cli_fail(WS_EXIT_USAGE, "--measure runs designs of one launch whose values were "
                                          "compared: --dry and --case do not go with it");
    g_autoptr(GError) error = NULL;
    if ((resume && !ws_file_check(resume, file, &error)) ||
        (out && strcmp(out, "-") != 0 && !ws_file_check(out, file, &error)) ||
        (keep && !ws_folder_is_free(keep, &error)))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (designs < 1 || designs > 1000 || (cases && g_strv_length(cases) > 1000))
        return ws_cli_fail(WS_EXIT_USAGE, "--designs is from 1 to 1000, --case at most 1000");
    if (!(jitter >= 0 && jitter <= 1000))
        return ws_cli_fail(WS_EXIT_USAGE, "--jitter is from 0 to 1000");
    if (beam < 1 || beam > 1000 || rounds < 1 || rounds > 1000)
        return ws_cli_fail(WS_EXIT_USAGE, "--beam and --rounds are from 1 to 1000");
    WsSearchAsked a = { file,
                        out,
                        resume,
                        json,
                        dry,
                        { .seconds = seconds,
                          .beam = (guint)beam,
                          .rounds = (guint)rounds,
                          .every = every,
                          .jitter = jitter / 100,
                          .seed = (guint64)seed,
                          .cancel = &interrupted,
                          .accept = dry ? NULL : ws_asked_accept,
                          .asks = ASKS,
                          .builds = ws_asked_can_build() && !dry ? ws_asked_builds : NULL,
                          .values = dry ? NULL : ws_asked_values,
                          .progress = show },
                        g_hash_table_new(NULL, NULL),
                        0,
                        (guint)measure,
                        host,
                        keep };
    a.options.data = &a;
    keep_memory();
    signal(SIGINT, on_interrupt);
    const int code = cases     ? ws_search_cases(&a, set, cases, machine, (guint)designs)
                     : bundles ? measure_kept(&a, set, bundles)
                               : search(&a, set, size, machine);
    signal(SIGINT, SIG_DFL);
    g_hash_table_destroy(a.same);
    return code;
}
