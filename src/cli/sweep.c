#include "cli/sweep.h"

#include <string.h>

typedef struct {
    char *name;
    GArray *value; /* gint64 */
} Range;

static void clear_range(gpointer data)
{
    Range *r = data;
    g_free(r->name);
    g_clear_pointer(&r->value, g_array_unref);
}

static gboolean number(const char *text, gsize n, gint64 *value)
{
    g_autofree char *copy = g_strndup(text, n);
    return g_ascii_string_to_signed(copy, 10, G_MININT32, G_MAXINT32, value, NULL);
}

/* "FROM..TO" or "FROM..TO/STEP". */
static gboolean parse_span(const char *text, const char *dots, GArray *values)
{
    const char *slash = strchr(dots, '/');
    const char *to_text = dots + 2;
    gint64 from, to, step = 1;
    if (!number(text, (gsize)(dots - text), &from) ||
        !number(to_text, slash ? (gsize)(slash - to_text) : strlen(to_text), &to) ||
        (slash && !number(slash + 1, strlen(slash + 1), &step)) || step < 1 || from > to ||
        (to - from) / step >= WS_SWEEP_MAX_POINTS)
        return FALSE;
    for (gint64 v = from; v <= to; v += step)
        g_array_append_val(values, v);
    return TRUE;
}

static gboolean parse_list(const char *text, GArray *values)
{
    g_auto(GStrv) words = g_strsplit(text, ",", WS_SWEEP_MAX_POINTS);
    for (guint i = 0; words[i]; i++) {
        gint64 v;
        if (!number(words[i], strlen(words[i]), &v))
            return FALSE;
        g_array_append_val(values, v);
    }
    return values->len > 0;
}

static gboolean parse_range(const char *text, Range *r)
{
    const char *equals = strchr(text, '='), *dots = strstr(text, "..");
    r->value = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (!equals || equals == text)
        return FALSE;
    r->name = g_strndup(text, (gsize)(equals - text));
    return dots ? dots > equals && parse_span(equals + 1, dots, r->value)
                : parse_list(equals + 1, r->value);
}

static void free_point(gpointer data)
{
    WsSweepPoint *p = data;
    g_strfreev(p->set);
    g_free(p->label);
    g_free(p);
}

static WsSweepPoint *make_point(const GArray *ranges, guint index, char **set)
{
    g_autoptr(GStrvBuilder) all = g_strv_builder_new();
    g_autoptr(GStrvBuilder) own = g_strv_builder_new();
    g_autofree guint *digit = g_new(guint, ranges->len);
    for (guint i = ranges->len; i-- > 0;) {
        const guint n = g_array_index(ranges, Range, i).value->len;
        digit[i] = index % n;
        index /= n;
    }
    for (guint i = 0; set && set[i]; i++)
        g_strv_builder_add(all, set[i]);
    for (guint i = 0; i < ranges->len; i++) {
        const Range *r = &g_array_index(ranges, Range, i);
        g_autofree char *setting = g_strdup_printf("%s=%" G_GINT64_FORMAT, r->name,
                                                   g_array_index(r->value, gint64, digit[i]));
        g_strv_builder_add(all, setting);
        g_strv_builder_add(own, setting);
    }
    g_auto(GStrv) label = g_strv_builder_end(own);
    WsSweepPoint *p = g_new(WsSweepPoint, 1);
    *p = (WsSweepPoint){ g_strv_builder_end(all), g_strjoinv(" ", label) };
    return p;
}

GPtrArray *ws_sweep_points(char **range, char **set)
{
    g_autoptr(GArray) ranges = g_array_new(FALSE, TRUE, sizeof(Range));
    g_array_set_clear_func(ranges, clear_range);
    guint64 n = 1;
    for (guint i = 0; range[i]; i++) {
        Range r = { NULL, NULL };
        const gboolean ok = parse_range(range[i], &r);
        g_array_append_val(ranges, r);
        if (!ok) {
            ws_cli_fail(WS_EXIT_USAGE,
                        "--sweep %s: write NAME=FROM..TO, NAME=FROM..TO/STEP or NAME=A,B,C",
                        range[i]);
            return NULL;
        }
        n *= r.value->len;
        if (n > WS_SWEEP_MAX_POINTS) {
            ws_cli_fail(WS_EXIT_USAGE, "--sweep: more than %d combinations; sweep fewer at a time",
                        WS_SWEEP_MAX_POINTS);
            return NULL;
        }
    }
    GPtrArray *points = g_ptr_array_new_with_free_func(free_point);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(points, make_point(ranges, i, set));
    return points;
}
