#include "ui/parts/format.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define THIN "\xe2\x80\xaf" /* narrow no-break space */

/* Digits with a narrow space between groups of three; four digits stay together with no group of
 * one, as in "1 024", so that columns line up. */
static void put_groups(GString *out, const char *digits)
{
    gsize n = strlen(digits);
    for (gsize i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            g_string_append(out, THIN);
        g_string_append_c(out, digits[i]);
    }
}

char *ws_format_int(gint64 value)
{
    char digits[32];
    GString *out = g_string_new(value < 0 ? "\xe2\x88\x92" : NULL); /* minus sign */
    guint64 size = value < 0 ? -(guint64)value : (guint64)value;
    g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, size);
    put_groups(out, digits);
    return g_string_free(out, FALSE);
}

char *ws_format_real(double value, guint decimals)
{
    if (!isfinite(value) || fabs(value) > 1e18)
        return g_strdup(WS_NO_FIGURE);
    g_autofree char *digits = g_strdup_printf("%.*f", (int)MIN(decimals, 9u), fabs(value));
    gsize whole =
        strspn(digits, "0123456789"); /* the point may be a comma: keep what stands there */
    g_autofree char *head = g_strndup(digits, whole);
    gboolean zero = !digits[strspn(digits, "0.,")];
    GString *out = g_string_new(value < 0 && !zero ? "\xe2\x88\x92" : NULL);
    put_groups(out, head);
    g_string_append(out, digits + whole);
    return g_string_free(out, FALSE);
}

char *ws_format_share(double share)
{
    if (!isfinite(share))
        return g_strdup(WS_NO_FIGURE);
    g_autofree char *text = ws_format_real(100 * share, 1);
    /* Translators: a percentage, %s is the number */
    return g_strdup_printf(_("%s\xe2\x80\xaf%%"), text);
}

char *ws_format_difference(double share)
{
    g_autofree char *text = ws_format_share(share);
    return share > 0 ? g_strconcat("+", text, NULL) : g_steal_pointer(&text);
}

char *ws_format_count(gint64 n, const char *form)
{
    g_autofree char *number = ws_format_int(n);
    return g_strdup_printf(form, number);
}

static gulong plural(gint64 n)
{
    return (gulong)(n < 0 ? -(guint64)n : (guint64)n);
}

char *ws_format_cycles(gint64 cycles)
{
    return ws_format_count(cycles, ngettext("%s cycle", "%s cycles", plural(cycles)));
}

char *ws_format_bytes(gint64 bytes)
{
    return ws_format_count(bytes, ngettext("%s byte", "%s bytes", plural(bytes)));
}

char *ws_format_seconds(double seconds)
{
    if (!isfinite(seconds))
        return g_strdup(WS_NO_FIGURE);
    double size = fabs(seconds);
    guint unit = size >= 1 ? 0 : size >= 1e-3 ? 1 : size >= 1e-6 ? 2 : 3;
    double scaled = seconds * (double[]){ 1, 1e3, 1e6, 1e9 }[unit];
    g_autofree char *text = ws_format_real(scaled, fabs(scaled) < 100 ? 1 : 0);
    static const char *const form[] = { N_("%s s"), N_("%s ms"), N_("%s µs"), N_("%s ns") };
    return g_strdup_printf(_(form[unit]), text);
}

char *ws_format_cycles_at(gint64 cycles, double ghz)
{
    g_autofree char *text = ws_format_cycles(cycles);
    if (!(ghz > 0))
        return g_steal_pointer(&text);
    g_autofree char *time = ws_format_seconds((double)cycles / (ghz * 1e9));
    /* Translators: cycles, and the same as time: "1 024 cycles (640 ns)" */
    return g_strdup_printf(_("%s (%s)"), text, time);
}
