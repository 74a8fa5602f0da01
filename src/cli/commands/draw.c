#include "cli/cli.h"
#include "clock/clock.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "score/scene.h"

#include <string.h>

typedef struct {
    WsTrace *predicted, *measured;
} Traces;

static void traces_clear(Traces *t)
{
    g_clear_pointer(&t->predicted, ws_trace_unref);
    g_clear_pointer(&t->measured, ws_trace_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Traces, traces_clear)

/* At most one predicted and one measured trace make a score; their origin says which is which. */
static int load_traces(Traces *t, const WsProgram *p, char **files)
{
    for (guint i = 0; files && files[i]; i++) {
        WsTrace *trace = ws_cli_trace_of(p, files[i]);
        if (!trace)
            return WS_EXIT_USAGE;
        WsTrace **place = trace->origin == WS_TRACE_MEASURED ? &t->measured : &t->predicted;
        if (*place) {
            ws_trace_unref(trace);
            return ws_cli_fail(WS_EXIT_USAGE,
                               "%s: a score shows one predicted and one measured trace; "
                               "warpstave trace --compare takes two of a kind",
                               files[i]);
        }
        *place = trace;
    }
    return WS_EXIT_YES;
}

/* Without a predicted trace the clock makes one, for the sizes of the measured one. */
static int predict(Traces *t, const WsProgram *p, char **size, const char *machine)
{
    g_autoptr(GPtrArray) sizes = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; t->measured && i < t->measured->size->len; i++)
        g_ptr_array_add(sizes, g_strdup_printf("%s=%" G_GINT64_FORMAT,
                                               g_array_index(t->measured->size_name, char *, i),
                                               g_array_index(t->measured->size, gint64, i)));
    for (guint i = 0; size && size[i]; i++)
        g_ptr_array_add(sizes, g_strdup(size[i]));
    g_ptr_array_add(sizes, NULL);
    int code = WS_EXIT_YES;
    g_autoptr(WsLaunchValues) values = ws_cli_launch(p, (char **)sizes->pdata, FALSE, &code);
    if (!values)
        return code;
    WsClockResult *result = ws_cli_clock(p, values, machine, FALSE, &code);
    if (!result)
        return code;
    g_autoptr(WsMachine) m = ws_machine_for(machine, p->target, NULL); /* has been read once */
    if (t->measured && m)
        t->predicted = ws_clock_claimed(p, values, m, t->measured);
    if (!t->predicted)
        t->predicted = ws_trace_ref(result->trace);
    ws_clock_result_free(result);
    return WS_EXIT_YES;
}

static void put_trace(WsJsonOut *j, const char *name, const WsTrace *t)
{
    if (!t) {
        ws_json_out_text(j, name, NULL);
        return;
    }
    ws_json_out_open(j, name, '{');
    ws_json_out_integer(j, "records", t->record->len);
    ws_json_out_text(j, "device", t->device);
    ws_json_out_close(j, '}');
}

static void put_json(const char *file, const char *out, const Traces *t, const GPtrArray *scenes)
{
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", file);
    ws_json_out_text(&j, "output", out);
    double height = 0;
    for (guint i = 0; i < scenes->len; i++)
        height += ((const WsScene *)scenes->pdata[i])->height;
    ws_json_out_real(&j, "width", ((const WsScene *)scenes->pdata[0])->width);
    ws_json_out_real(&j, "height", height);
    put_trace(&j, "predicted", t->predicted);
    put_trace(&j, "measured", t->measured);
    ws_cli_json_end(&j);
}

/* The first CTA of a device in a trace; without a trace, or CTAs in it, there is device 0. */
static gboolean find_device(const WsTrace *t, guint device, guint *cta)
{
    for (guint i = 0; t && i < t->cta->len; i++)
        if (ws_trace_device(t, i) == device) {
            *cta = i;
            return TRUE;
        }
    return !t || (device == 0 && !t->cta->len);
}

/* NULL: one of the traces does not have the device. */
static WsScene *scene_of(const WsProgram *p, const Traces *t, guint device, WsSceneOptions *options)
{
    return find_device(t->predicted, device, &options->cta) &&
                   find_device(t->measured, device,
                               t->predicted ? &options->overlay_cta : &options->cta)
               ? ws_scene_new(p, t->predicted, t->measured, options)
               : NULL;
}

/* Devices that a trace numbers, with those in between that it has no CTA of. */
static guint devices_of(const WsTrace *t)
{
    guint n = 1;
    for (guint i = 0; t && i < t->cta->len; i++)
        n = MAX(n, ws_trace_device(t, i) + 1);
    return n;
}

/* Which device is drawn: its number, or all of them from 0 on (`*to` is behind the last one). */
static gboolean read_device(const char *device, const Traces *t, guint *from, guint *to)
{
    guint64 which = 0;
    if (g_strcmp0(device, "all") == 0) {
        *from = 0;
        *to = MAX(devices_of(t->predicted), devices_of(t->measured));
        return TRUE;
    }
    if (device && !g_ascii_string_to_unsigned(device, 10, 0, G_MAXUINT16, &which, NULL))
        return FALSE;
    *from = (guint)which;
    *to = *from + 1;
    return TRUE;
}

/* Why a device is not drawn. */
static char *absent(const Traces *t, guint device)
{
    guint cta;
    const gboolean predicted = find_device(t->predicted, device, &cta),
                   measured = find_device(t->measured, device, &cta);
    return g_strdup_printf("device %u has no CTA in %s", device,
                           predicted  ? "the measured trace"
                           : measured ? "the predicted trace"
                                      : "the traces");
}

/* Of one device, or of all: those at the times that the score of the first one opens with; one that
 * a trace does not have is named. An exit code. */
static int make_scenes(GPtrArray *scenes, const WsProgram *p, const Traces *t, const char *device,
                       WsSceneOptions *options)
{
    guint from, to;
    if (!read_device(device, t, &from, &to))
        return ws_cli_fail(WS_EXIT_USAGE, "--device %s: write the number of a device, or all",
                           device);
    const gboolean several = to - from > 1;
    for (guint d = from; d < to; d++) {
        WsScene *scene = scene_of(p, t, d, options);
        if (!scene) {
            g_autofree char *why = absent(t, d);
            if (!several)
                return ws_cli_fail(WS_EXIT_USAGE, "%s; name another with --device=N", why);
            g_printerr("warpstave: %s and is not drawn\n", why);
            continue;
        }
        if (!scenes->len && several && scene->segment->len) {
            options->from = g_array_index(scene->segment, WsSceneSegment, 0).t0;
            options->to = g_array_index(scene->segment, WsSceneSegment, scene->segment->len - 1).t1;
            ws_scene_free(scene);
            scene = scene_of(p, t, d, options);
        }
        g_ptr_array_add(scenes, scene);
    }
    return scenes->len ? WS_EXIT_YES
                       : ws_cli_fail(WS_EXIT_USAGE, "the traces have no device in common");
}

int ws_command_draw(int argc, char **argv)
{
    g_autofree char *out = NULL, *theme = NULL, *described = NULL, *device = NULL;
    g_auto(GStrv) set = NULL, size = NULL, traces = NULL;
    double width = -G_MAXDOUBLE, height = -G_MAXDOUBLE; /* not given */
    gboolean no_edges = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out, "the picture", "OUT.svg|pdf|png" },
        { "trace", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &traces, "a predicted or measured trace",
          "FILE" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "size for the prediction", "NAME=VALUE" },
        { "machine", 0, 0, G_OPTION_ARG_FILENAME, &described,
          "machine description of the prediction (default: the built-in one)", "FILE" },
        { "device", 0, 0, G_OPTION_ARG_STRING, &device,
          "of a mesh, the one that is drawn (default 0); all: one below the other, at the same "
          "times",
          "N|all" },
        { "theme", 0, 0, G_OPTION_ARG_STRING, &theme, "light (default) or dark", "THEME" },
        { "width", 0, 0, G_OPTION_ARG_DOUBLE, &width, "pixels (default 1600)", "N" },
        { "height", 0, 0, G_OPTION_ARG_DOUBLE, &height, "pixels (default: as needed)", "N" },
        { "no-edges", 0, 0, G_OPTION_ARG_NONE, &no_edges, "leave the barrier edges out", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "draw", entries, &file))
        return WS_EXIT_USAGE;
    if (!out)
        return ws_cli_fail(WS_EXIT_USAGE, "draw: say where: -o OUT.svg, OUT.pdf or OUT.png");
    if (json && !strcmp(out, "-"))
        return ws_cli_fail(WS_EXIT_USAGE, "draw: --json holds no picture, say -o FILE");
    if ((width != -G_MAXDOUBLE && !(width > 0)) || (height != -G_MAXDOUBLE && !(height > 0)))
        return ws_cli_fail(WS_EXIT_USAGE, "--width and --height take pixels, more than 0");
    if (theme && g_strcmp0(theme, "light") && g_strcmp0(theme, "dark"))
        return ws_cli_fail(WS_EXIT_USAGE, "--theme %s: write light or dark", theme);
    g_auto(WsCliInput) in = { 0 };
    g_auto(Traces) t = { 0 };
    int code = ws_cli_load(&in, file, set);
    if (code == WS_EXIT_YES)
        code = load_traces(&t, in.program, traces);
    if (code == WS_EXIT_YES && !t.predicted)
        code = predict(&t, in.program, size, described);
    if (code != WS_EXIT_YES)
        return code;
    WsSceneOptions options = { .width = MAX(width, 0),
                               .height = MAX(height, 0),
                               .no_edges = no_edges };
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) machine = ws_machine_for(described, in.program->target, &error);
    if (!machine)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    g_autofree double *special = ws_clock_special_cycles(in.program, machine);
    options.special = special;
    g_autoptr(GPtrArray) scenes = g_ptr_array_new_with_free_func((GDestroyNotify)ws_scene_free);
    code = make_scenes(scenes, in.program, &t, device, &options);
    if (code != WS_EXIT_YES)
        return code;
    if (!ws_scene_save_below((WsScene *const *)scenes->pdata, scenes->len, out,
                             g_strcmp0(theme, "dark") ? WS_THEME_LIGHT : WS_THEME_DARK, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (json)
        put_json(file, out, &t, scenes);
    return WS_EXIT_YES;
}
