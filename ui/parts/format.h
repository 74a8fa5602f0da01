/* Numbers for people: thin-space groups, units, plural forms. Every panel writes its figures with
 * these functions and no other. All results belong to the caller. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define WS_NO_FIGURE "\xe2\x80\x93" /* shown where a figure is not known */

char *ws_format_int(gint64 value);                  /* "232 448", narrow no-break spaces */
char *ws_format_real(double value, guint decimals); /* "1 024.5"; not known if not finite */
char *ws_format_share(double share);                /* 0.845 -> "84.5 %" */
char *ws_format_difference(double share);           /* 0.012 -> "+1.2 %" */
char *ws_format_cycles(gint64 cycles);              /* "1 024 cycles" */
char *ws_format_bytes(gint64 bytes);                /* "16 384 bytes" */
char *ws_format_seconds(double seconds);            /* "171.4 µs", the unit that fits */
/* "1 024 cycles (640 ns)"; cycles alone where `ghz` (cycles per ns) is not positive. */
char *ws_format_cycles_at(gint64 cycles, double ghz);
/* "12 rounds" and the like: `n` put into the form that ngettext chose, whose %s is the number. */
char *ws_format_count(gint64 n, const char *form) G_GNUC_FORMAT(2);

G_END_DECLS
