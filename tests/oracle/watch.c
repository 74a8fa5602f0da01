#include "watch.h"

#include <string.h>

static char *message;

static GLogWriterOutput noted(GLogLevelFlags level, const GLogField *field, gsize n, gpointer data)
{
    for (gsize i = 0; i < n && level <= G_LOG_LEVEL_WARNING && !message; i++)
        if (strcmp(field[i].key, "MESSAGE") == 0)
            message = g_strdup(field[i].value);
    return g_log_writer_default(level, field, n, data);
}

void watch_begin(void)
{
    g_log_set_always_fatal(G_LOG_FATAL_MASK);
    g_log_set_writer_func(noted, NULL, NULL);
}

char *watch_take(void)
{
    return g_steal_pointer(&message);
}
