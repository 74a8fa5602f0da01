/* What a search kept for another machine: --bundles. */
#include "base/file.h"
#include "cli/search/measured.h"
#include "model/findings.h"

#include <string.h>

#define MOST_BYTES (1 << 20)
#define CELLS      3 /* number, edits, cycles; what was done follows, parted likewise */

static gboolean integer(const char *text, gint64 least, gint64 *value)
{
    return g_ascii_string_to_signed(text, 10, least, G_MAXINT64, value, NULL);
}

static WsFound *read_line(const char *dir, const char *line)
{
    g_auto(GStrv) cell = g_strsplit(line, "|", -1);
    const guint n = g_strv_length(cell);
    gint64 number, edits, cycles;
    for (guint i = 0; i < n; i++)
        g_strstrip(cell[i]);
    if (n <= CELLS || !integer(cell[0], 0, &number) || !integer(cell[1], 0, &edits) ||
        !integer(cell[2], 1, &cycles) || (edits == 0) != (n == CELLS + 1 && !*cell[CELLS]))
        return NULL;
    g_autofree char *file = g_build_filename(dir, cell[0], "design.wstave", NULL);
    g_autoptr(WsFindings) ignored = ws_findings_new();
    WsDesign *design = ws_design_load(file, ignored);
    if (!design)
        return NULL;
    WsFound *f = g_new0(WsFound, 1);
    f->design = design;
    f->decision = g_ptr_array_new_with_free_func(g_free);
    f->words = g_ptr_array_new_with_free_func(g_free);
    f->after = g_array_new(FALSE, FALSE, sizeof(gint64));
    f->cycles = cycles;
    for (guint i = CELLS; edits && i < n; i++)
        g_ptr_array_add(f->decision, g_strdup(cell[i]));
    return f;
}

static gboolean is_same(const WsDesign *a, const WsDesign *b)
{
    g_autofree char *x = ws_design_print(a), *y = ws_design_print(b);
    return !strcmp(x, y);
}

/* Of a line of the list; FALSE after saying what is wrong. */
static gboolean take_line(WsMeasured *m, const char *dir, const char *list, guint line,
                          const char *text, const WsDesign *start)
{
    WsFound *f = read_line(dir, text);
    if (!f) {
        ws_cli_fail(WS_EXIT_USAGE, "%s:%u: no line of a search, or its folder has no design", list,
                    line);
        return FALSE;
    }
    g_ptr_array_add(m->own, f);
    if (!m->design->len && (f->decision->len || !is_same(f->design, start))) {
        ws_cli_fail(WS_EXIT_USAGE, "%s: kept of a search from another design", dir);
        return FALSE;
    }
    g_auto(GStrv) cell = g_strsplit(text, "|", 2);
    WsMeasuredDesign *d = ws_measured_add(m, f, ws_measured_is_proved(f));
    d->dir = g_build_filename(dir, g_strstrip(cell[0]), NULL);
    if (!d->proved)
        d->problem = g_strdup("the check does not prove it");
    return TRUE;
}

WsMeasured *ws_measured_kept(const char *dir, const WsDesign *start, const char *host, guint most)
{
    g_autofree char *list = g_build_filename(dir, WS_MEASURED_LIST, NULL), *text = NULL;
    g_autoptr(GError) error = NULL;
    gsize length;
    if (!ws_file_read(list, MOST_BYTES, &text, &length, &error)) {
        ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
        return NULL;
    }
    g_autoptr(WsMeasured) m = ws_measured_new(TRUE);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i] && m->design->len <= most; i++)
        if (*line[i] && *line[i] != '#' && !take_line(m, dir, list, i + 1, line[i], start))
            return NULL;
    if (!m->design->len) {
        ws_cli_fail(WS_EXIT_USAGE, "%s lists no design", list);
        return NULL;
    }
    ws_measured_take(m, host);
    return g_steal_pointer(&m);
}
