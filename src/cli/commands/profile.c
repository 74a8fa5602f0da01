#include "base/file.h"
#include "base/folder.h"
#include "base/temporary.h"
#include "cli/collect.h"
#include "cli/launches.h"
#include "cli/sweep.h"
#include "launch/run.h"
#include "program/program.h"

#include <string.h>

/* The figures of the bundle in `dir`, as text or as the one point of the JSON form. */
static int figures(const char *file, const char *dir, const char *host, const char *trace,
                   gboolean json)
{
    if (!json)
        return ws_cli_collect(dir, 0, host, trace, NULL);
    WsJsonOut j;
    ws_cli_profile_begin(&j, file);
    ws_cli_profile_point(&j, NULL, host, NULL);
    const gsize empty = j.out->len;
    const int code = ws_cli_collect(dir, 0, host, trace, &j);
    if (j.out->len > empty) {
        ws_json_out_close(&j, '}');
        ws_json_out_close(&j, '}');
        ws_json_out_close(&j, ']');
        ws_cli_json_end(&j);
    } else {
        g_string_free(j.out, TRUE);
    }
    return code;
}

/* --devices before anything is built: a list of numbers, of a design for several devices. */
static int check_devices(const char *file, const WsBundleOptions *options, const char *devices)
{
    if (!ws_cli_devices(devices))
        return ws_cli_fail(WS_EXIT_USAGE,
                           "--devices %s: write numbers of GPUs, each once, such as "
                           "0,1",
                           devices);
    g_auto(WsCliInput) in = { 0 };
    g_auto(GStrv) set = g_strdupv(options->set);
    const int code = ws_cli_load(&in, file, set);
    if (code != WS_EXIT_YES || in.program->mesh)
        return code;
    return ws_cli_fail(WS_EXIT_USAGE,
                       "--devices: %s is of one device: leave --devices away (the "
                       "environment's CUDA_VISIBLE_DEVICES chooses the GPU)",
                       file);
}

/* Whether the trace is of one launch is decided by what that costs its rounds. */
static gboolean asks_launches(const WsBundleOptions *o, const char *devices, const char *trace)
{
    return trace && strcmp(trace, "-") != 0 && !devices && o->launches == WS_NOT_GIVEN &&
           o->every == WS_NOT_GIVEN && o->rounds != 0;
}

static int profile(const char *file, const WsBundleOptions *options, const char *host,
                   const char *devices, const char *keep, const char *trace, gboolean json)
{
    const char *const arguments[] = { "--devices", devices, NULL };
    g_autoptr(GError) error = NULL;
    g_autofree char *scratch = keep ? NULL : ws_temporary_folder(&error);
    if (!keep && !scratch)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    const char *dir = keep ? keep : scratch;
    int status = 0, code = ws_cli_bundle(file, options, dir);
    if (code == WS_EXIT_YES) {
        WsRunSpec spec = { .host = host,
                           .arguments = devices ? arguments : NULL,
                           .quiet = TRUE,
                           .interrupted = ws_cli_interrupted };
        if (!ws_run_bundle(dir, &spec, &status, &error))
            code = ws_cli_fail(g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT)
                                   ? WS_EXIT_ABSENT
                                   : WS_EXIT_NO,
                               "%s", error->message);
        else if (status == WS_EXIT_ABSENT)
            code = ws_cli_fail(WS_EXIT_ABSENT,
                               "no GPU or driver %s%s: `warpstave rehearse` runs on the CPU, "
                               "`warpstave bundle` makes a folder to take elsewhere",
                               host ? "on " : "here", host ? host : "");
        else
            code = figures(file, dir, host, trace, json);
        if (code == WS_EXIT_YES && asks_launches(options, devices, trace))
            code = ws_cli_launches(file, options, &spec, trace, json);
    }
    if (scratch)
        ws_folder_remove(scratch);
    return code;
}

int ws_command_profile(int argc, char **argv)
{
    g_autofree char *trace = NULL, *keep = NULL, *devices = NULL;
    g_auto(GStrv) hosts = NULL, sweep = NULL;
    gboolean json = FALSE;
    g_autoptr(GError) error = NULL;
    g_auto(WsBundleOptions) options;
    ws_bundle_options_init(&options);
    const GOptionEntry entries[] = {
        { "host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &hosts,
          "run there, through ssh; several share a sweep", "HOST" },
        { "devices", 0, 0, G_OPTION_ARG_STRING, &devices,
          "GPUs of a design for several devices, e.g. 0,1", "LIST" },
        { "sweep", 0, 0, G_OPTION_ARG_STRING_ARRAY, &sweep,
          "every value of a constant, ranked; repeatable", "NAME=A..B" },
        { "trace", 0, 0, G_OPTION_ARG_FILENAME, &trace, "write the measured trace", "OUT" },
        { "keep", 0, 0, G_OPTION_ARG_FILENAME, &keep, "keep the bundle in this folder", "DIR" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        WS_BUNDLE_ENTRIES(options),
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "profile", entries, &file))
        return WS_EXIT_USAGE;
    options.traced |= trace != NULL;
    if (sweep && (trace || keep))
        return ws_cli_fail(WS_EXIT_USAGE, "--sweep keeps no bundle and no trace: profile the best "
                                          "point again with --keep or --trace");
    if (sweep && devices)
        return ws_cli_fail(WS_EXIT_USAGE, "--sweep runs on the first GPUs: leave --devices away");
    int code = ws_bundle_options_check(&options);
    if (code == WS_EXIT_YES && devices)
        code = check_devices(file, &options, devices);
    if (code == WS_EXIT_YES && trace && strcmp(trace, "-") != 0 &&
        !ws_file_check(trace, file, &error))
        code = ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (code != WS_EXIT_YES)
        return code;
    if (sweep)
        return ws_sweep_profile(file, &options, sweep, hosts, json);
    if (hosts && hosts[0] && hosts[1])
        return ws_cli_fail(WS_EXIT_USAGE, "several --host share the points of a --sweep; a single "
                                          "run takes one");
    return profile(file, &options, hosts ? hosts[0] : NULL, devices, keep, trace, json);
}
