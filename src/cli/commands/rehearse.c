#include "cli/adversary.h"
#include "model/findings.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#include "program/walk/launch_values.h"
#endif

#include <math.h>
#include <stdio.h>

#ifdef WS_HAVE_CODEGEN
static void report_first(const char *what, guint64 n, const char *first)
{
    if (n)
        printf("%s: %" G_GUINT64_FORMAT "; first: %s\n", what, n, first);
}

static void put_count(WsJsonOut *j, const char *name, const guint64 *n)
{
    if (n)
        ws_json_out_integer(j, name, (gint64)*n);
    else
        ws_json_out_text(j, name, NULL);
}

/* A rehearsal, or (r NULL) one that was only that of the counterexample: null but for it. */
static void put_json(const char *file, const WsRehearseResult *r, const WsCliAdversary *a)
{
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", file);
    if (r)
        ws_json_out_truth(&j, "matches", r->matches);
    else
        ws_json_out_text(&j, "matches", NULL);
    ws_json_out_text(&j, "stuck", r ? r->stuck : NULL);
    put_count(&j, "elements", r ? &r->elements : NULL);
    put_count(&j, "anything", r ? &r->anything : NULL);
    put_count(&j, "wrong", r ? &r->wrong : NULL);
    ws_json_out_real(&j, "worst_error", r ? r->worst_error : (double)NAN);
    ws_json_out_real(&j, "tolerance", r ? r->worst_tolerance : (double)NAN);
    ws_json_out_text(&j, "first_wrong", r ? r->first_wrong : NULL);
    put_count(&j, "races", r ? &r->async_races : NULL);
    ws_json_out_text(&j, "first_race", r ? r->first_race : NULL);
    put_count(&j, "violations", r ? &r->violations : NULL);
    ws_json_out_text(&j, "first_violation", r ? r->first_violation : NULL);
    put_count(&j, "threads", r ? &r->fibers : NULL);
    put_count(&j, "switches", r ? &r->switches : NULL);
    if (a) {
        ws_json_out_open(&j, "counterexample", '{');
        ws_json_out_truth(&j, "reproduced", a->shown);
        ws_json_out_text(&j, "seen", a->seen);
        ws_json_out_text(&j, "predicted", a->hold->told);
        ws_json_out_close(&j, '}');
    } else {
        ws_json_out_text(&j, "counterexample", NULL);
    }
    ws_cli_json_end(&j);
}

static void print(const WsRehearseResult *r)
{
    if (r->stuck)
        printf("stuck:\n%s\n", r->stuck);
    else if (!r->elements && !r->matches && !r->async_races && !r->violations)
        printf(r->anything
                   ? "nothing was compared with the reference: it says `any` of all elements\n"
                   : "nothing was compared with the reference: no step writes a tensor\n");
    else
        printf("%s: %" G_GUINT64_FORMAT " elements, %" G_GUINT64_FORMAT
               " wrong, worst error %.3g (tolerance there %.3g)\n",
               r->wrong ? "differs from the reference" : "matches the reference", r->elements,
               r->wrong, r->worst_error, r->worst_tolerance);
    if (r->elements && r->anything)
        printf("%" G_GUINT64_FORMAT " more elements may hold anything: compared with nothing\n",
               r->anything);
    if (r->first_wrong)
        printf("first: %s\n", r->first_wrong);
    report_first("asynchronous races", r->async_races, r->first_race);
    report_first("broken hardware rules", r->violations, r->first_violation);
    printf("%" G_GUINT64_FORMAT " threads as fibers, %" G_GUINT64_FORMAT " switches\n", r->fibers,
           r->switches);
}

static void show_progress(guint64 done, guint64 ctas, guint64 switches, gpointer data)
{
    (void)data;
    ws_cli_progress("rehearsing: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                    " CTAs ended, %.1f million switches between threads",
                    done, ctas, (double)switches / 1e6);
}

static int rehearse(WsCliInput *in, const char *file, char **size, gint64 seed, gint64 sms,
                    gboolean json)
{
    g_autoptr(GArray) sizes = NULL;
    g_auto(GStrv) text = g_strdupv(size); /* reading settings cuts their text */
    int refused;
    g_autoptr(WsLaunchValues) launch = ws_cli_launch(in->program, text, TRUE, &refused);
    if (!launch)
        return refused;
    if (!ws_cli_settings(size, "--size", &sizes))
        return WS_EXIT_USAGE;
    g_autofree const char **names = g_new0(const char *, sizes->len + 1);
    g_autofree gint64 *values = g_new0(gint64, sizes->len + 1);
    for (guint i = 0; i < sizes->len; i++) {
        names[i] = g_array_index(sizes, WsSetting, i).name;
        values[i] = g_array_index(sizes, WsSetting, i).value;
    }
    WsRehearseOptions options = {
        .seed = (guint64)seed, .sms = sms, .size_name = names, .size = values, .n_size = sizes->len
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    options.progress = show_progress;
    WsRehearseResult *r = ws_rehearse(in->program, &options, findings, &error);
    ws_cli_progress(NULL);
    ws_cli_print_findings(findings, file);
    if (!r) {
        int code = ws_findings_exit_code(findings, FALSE);
        if (code == WS_EXIT_YES)
            code = g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP)
                       ? WS_EXIT_OUTSIDE
                       : WS_EXIT_DEFECT;
        /* A launch refused by its sizes is unreadable input, as it is for every command. */
        if (!error)
            return WS_EXIT_USAGE;
        return ws_cli_fail_with(code, error);
    }
    const int code = r->matches ? WS_EXIT_YES : WS_EXIT_NO;
    if (json)
        put_json(file, r, NULL);
    else
        print(r);
    ws_rehearse_result_free(r);
    return code;
}
/* Does the rehearsal show what the counterexample predicts? */
static int adversary(WsCliInput *in, const char *file, gboolean json)
{
    g_auto(WsCliAdversary) a = { 0 };
    int code = ws_cli_adversary(in, &a);
    if (code != WS_EXIT_YES)
        return code;
    if (json)
        put_json(file, NULL, &a);
    else
        printf("%s: %s\n%s\ncounterexample: %s\n", file,
               a.shown ? "the counterexample is reproduced"
                       : "the counterexample is NOT reproduced",
               a.seen, a.hold->told);
    return a.shown ? WS_EXIT_YES : WS_EXIT_NO;
}
#endif

int ws_command_rehearse(int argc, char **argv)
{
    g_auto(GStrv) set = NULL, size = NULL;
    gint64 seed = 1, sms = 2;
    gboolean held = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "override a rehearsal size",
          "NAME=VALUE" },
        { "seed", 0, 0, G_OPTION_ARG_INT64, &seed, "inputs and order of threads", "N" },
        { "sms", 0, 0, G_OPTION_ARG_INT64, &sms, "CTAs of a persistent launch", "N" },
        { "adversary", 0, 0, G_OPTION_ARG_NONE, &held,
          "replay the counterexample of a refuted design", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "rehearse", entries, &file))
        return WS_EXIT_USAGE;
    if (sms < 1 || sms > 1024)
        return ws_cli_fail(WS_EXIT_USAGE, "--sms must be 1..1024");
    g_auto(WsCliInput) in = { 0 };
    int code = ws_cli_load(&in, file, set);
#ifdef WS_HAVE_CODEGEN
    if (code == WS_EXIT_YES)
        code = held ? adversary(&in, file, json) : rehearse(&in, file, size, seed, sms, json);
#endif
    return code;
}
