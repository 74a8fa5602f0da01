/* What kernels compute in 32 bits and a proof counts in 64. A launch is refused whose sizes are too
 * large for what grows with them; what data give, and products of sizes, may not fit either. */
#include "base/phrase.h"
#include "check/global/judge.h"
#include "program/walk/reach.h"

#include <string.h>

enum { MOST_NAMED = 3 };

/* Names before what is made of them. */
static gint by_length(gconstpointer a, gconstpointer b)
{
    const gsize x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);
    return (x > y) - (x < y);
}

void ws_global_narrow(const WsProgram *p, GPtrArray *given)
{
    g_autoptr(GPtrArray) wide = ws_reach_wide(p);
    g_autoptr(GString) named = g_string_new(NULL);
    if (wide->len == 0)
        return;
    g_ptr_array_sort(wide, by_length);
    for (guint i = 0; i < MIN(wide->len, MOST_NAMED); i++)
        g_string_append_printf(named, "%s%s", i ? "; " : "", (char *)wide->pdata[i]);
    char *said = wide->len > MOST_NAMED
                     ? ws_phrase("%s and %u more expressions stay within 2^29 either way",
                                 named->str, wide->len - MOST_NAMED)
                 : wide->len > 1 ? ws_phrase("%s stay within 2^29 either way", named->str)
                                 : ws_phrase("%s stays within 2^29 either way", named->str);
    if (g_ptr_array_find_with_equal_func(given, said, g_str_equal, NULL))
        g_free(said);
    else
        g_ptr_array_add(given, said);
}
