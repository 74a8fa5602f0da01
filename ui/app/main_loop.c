#include "ui/app/main_loop.h"

#include <glib.h>

static gboolean wake(gpointer data)
{
    return G_SOURCE_REMOVE;
}

void ws_main_loop_turn(void)
{
    guint id = g_timeout_add(2, wake, NULL);
    g_main_context_iteration(NULL, TRUE);
    GSource *source = g_main_context_find_source_by_id(NULL, id);
    if (source)
        g_source_destroy(source);
}
