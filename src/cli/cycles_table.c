#include "cli/cycles_table.h"
#include "model/findings.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include "base/file.h"
#include "base/json_out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_TABLE_BYTES (1 << 20)

/* A row: design | settings | sizes | SM clock in GHz | microseconds | fit or held.
 * Designs are folders beside the table. */
enum { DESIGN, SET, SIZES, GHZ, MICROSECONDS, USE, COLUMNS };

typedef struct {
    guint n, beyond;
    double sum, worst;
} Sum;

typedef struct {
    const WsMachine *m;
    double within;
    WsJsonOut *json; /* NULL: text */
    char *folder;
    Sum fit, held;
    GString *out;
} Table;

static void add(Sum *s, double error, double within)
{
    s->n++;
    s->beyond += fabs(error) > within;
    s->sum += fabs(error);
    s->worst = MAX(s->worst, fabs(error));
}

static char **words(const char *cell)
{
    g_autofree char *text = g_strstrip(g_strdup(cell));
    return *text ? g_strsplit(text, " ", -1) : g_new0(char *, 1);
}

/* Predicted cycles at the clock that the launch ran with; a negative exit code never. */
static int predict(const Table *t, char **cell, double ghz, gint64 *cycles)
{
    g_auto(GStrv) set = words(cell[SET]), size = words(cell[SIZES]);
    g_autofree char *path = g_build_filename(t->folder, cell[DESIGN], "design.wstave", NULL);
    g_auto(WsCliInput) in = { 0 };
    int code = ws_cli_load(&in, path, set);
    if (code != WS_EXIT_YES)
        return code;
    g_autoptr(WsLaunchValues) v = ws_cli_launch(in.program, size, FALSE, &code);
    if (!v)
        return code;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsMachine) m = ws_machine_at(t->m, ghz);
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(in.program, v, m, &options, findings);
    ws_cli_print_findings(findings, path);
    if (!r || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return WS_EXIT_OUTSIDE;
    *cycles = r->cycles;
    return WS_EXIT_YES;
}

static void put(Table *t, char **cell, double measured, gint64 predicted, double error)
{
    if (!t->json) {
        g_string_append_printf(t->out,
                               "%-20s %-14s %-34s %10.0f %10" G_GINT64_FORMAT " %+6.1f %%  %s%s\n",
                               cell[DESIGN], cell[SET], cell[SIZES], measured, predicted,
                               100 * error, cell[USE], fabs(error) > t->within ? "  BEYOND" : "");
        return;
    }
    ws_json_out_open_row(t->json, NULL, '{');
    ws_json_out_text(t->json, "design", cell[DESIGN]);
    ws_json_out_text(t->json, "set", cell[SET]);
    ws_json_out_text(t->json, "sizes", cell[SIZES]);
    ws_json_out_integer(t->json, "measured", (gint64)rint(measured));
    ws_json_out_integer(t->json, "predicted", predicted);
    ws_json_out_text(t->json, "use", cell[USE]);
    ws_json_out_real(t->json, "error", error);
    ws_json_out_close(t->json, '}');
}

static int row(Table *t, const char *file, guint number, const char *line)
{
    g_auto(GStrv) cell = g_strsplit(line, "|", -1);
    gint64 predicted = 0;
    if (g_strv_length(cell) != COLUMNS)
        return ws_cli_fail(WS_EXIT_USAGE, "%s:%u: six cells expected, parted by |", file, number);
    for (guint i = 0; i < COLUMNS; i++)
        g_strstrip(cell[i]);
    double ghz = g_ascii_strtod(cell[GHZ], NULL), us = g_ascii_strtod(cell[MICROSECONDS], NULL);
    if (!(ghz > 0.1 && ghz < 10 && us > 0 && us < 1e9))
        return ws_cli_fail(WS_EXIT_USAGE, "%s:%u: no clock and time of a launch: \"%s\", \"%s\"",
                           file, number, cell[GHZ], cell[MICROSECONDS]);
    int code = predict(t, cell, ghz, &predicted);
    if (code != WS_EXIT_YES)
        return code;
    double measured = (us * 1e3 - t->m->value[WS_MACHINE_LAUNCH_NS]) * ghz;
    double error = (double)predicted / MAX(measured, 1) - 1;
    put(t, cell, measured, predicted, error);
    add(strcmp(cell[USE], "fit") == 0 ? &t->fit : &t->held, error, t->within);
    return WS_EXIT_YES;
}

static void put_sum(const Table *t, const char *name, const Sum *s)
{
    if (s->n)
        g_string_append_printf(
            t->out, "%s: %u launches, mean error %.1f %%, largest %.1f %%, %u beyond %.0f %%\n",
            name, s->n, 100 * s->sum / s->n, 100 * s->worst, s->beyond, 100 * t->within);
}

int ws_cli_cycles_table(const char *file, const WsMachine *m, double within, gboolean json)
{
    g_autofree char *text = NULL, *folder = g_path_get_dirname(file);
    g_autoptr(GError) error = NULL;
    gsize length;
    WsJsonOut j;
    ws_json_out_init(&j);
    g_autoptr(GString) out = j.out;
    Table t = { .m = m, .within = within, .json = json ? &j : NULL, .folder = folder, .out = out };
    int code = WS_EXIT_YES;
    if (!ws_file_read(file, MAX_TABLE_BYTES, &text, &length, &error))
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    if (json) {
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_integer(&j, "version", 1);
        ws_json_out_open(&j, "rows", '[');
    } else {
        g_string_append_printf(out, "%-20s %-14s %-34s %10s %10s %8s\n", "design", "set", "sizes",
                               "measured", "predicted", "error");
    }
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i] && code == WS_EXIT_YES; i++) {
        g_strstrip(line[i]);
        if (*line[i] && *line[i] != '#')
            code = row(&t, file, i + 1, line[i]);
        if (ws_cli_interrupted())
            code = WS_EXIT_INTERRUPTED;
    }
    if (code != WS_EXIT_YES)
        return code;
    if (!t.fit.n && !t.held.n)
        return ws_cli_fail(
            WS_EXIT_USAGE,
            "%s: no launch in it; a row is design | settings | sizes | GHz | us | fit", file);
    if (json) {
        ws_json_out_close(&j, ']');
        ws_json_out_close(&j, '}');
        g_string_append_c(out, '\n');
    } else {
        put_sum(&t, "fitted", &t.fit);
        put_sum(&t, "held out", &t.held);
    }
    fputs(out->str, stdout);
    return t.fit.beyond + t.held.beyond ? WS_EXIT_NO : WS_EXIT_YES;
}
