/* The design's file, watched: a change by another program is offered for reading again (I43). So is
 * the kernel that a design was read from, as long as the design has no file of its own: it is read
 * again by itself where no edit would be lost. */
#include "ui/document/document_source.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

/* Editors write in bursts; the offer comes when it is quiet. */
#define QUIET_MS 300

static GFile *watched(WsWindow *w)
{
    const WsSource *source = ws_document_source(w->document);
    GFile *file = ws_document_file(w->document);
    return file ? file : source ? source->file : NULL;
}

void ws_window_offer_file(WsWindow *w, GFile *file)
{
    const gboolean there = g_file_query_exists(file, NULL);
    g_autofree char *name = g_file_get_basename(file);
    g_autofree char *what =
        there
            ? g_strdup_printf(_("Another program has changed %s"), name)
            : g_strdup_printf(_("%s is gone from its folder; what you see is what it held"), name);
    ws_window_say(w, GTK_MESSAGE_QUESTION, what, NULL);
    gtk_widget_set_visible(w->reload_button, there);
}

static gboolean offer(gpointer data)
{
    WsWindow *w = data;
    GFile *file = watched(w);
    const gboolean design = ws_document_file(w->document) != NULL;
    w->watch_source = 0;
    if (!file ||
        (design ? ws_document_file_is_ours(w->document) : ws_document_source_is_ours(w->document)))
        return G_SOURCE_REMOVE;
    if (!design && !ws_document_dirty(w->document) && g_file_query_exists(file, NULL)) {
        ws_window_import(w, file);
        return G_SOURCE_REMOVE;
    }
    ws_window_offer_file(w, file);
    return G_SOURCE_REMOVE;
}

static void file_changed(GFileMonitor *monitor, GFile *file, GFile *other, GFileMonitorEvent event,
                         WsWindow *w)
{
    if (event == G_FILE_MONITOR_EVENT_ATTRIBUTE_CHANGED ||
        event == G_FILE_MONITOR_EVENT_PRE_UNMOUNT)
        return;
    g_clear_handle_id(&w->watch_source, g_source_remove);
    w->watch_source = g_timeout_add(QUIET_MS, offer, w);
}

void ws_window_watch_file(WsWindow *w)
{
    GFile *file = watched(w);
    ws_window_unwatch_file(w);
    w->monitor = file ? g_file_monitor_file(file, G_FILE_MONITOR_WATCH_MOVES, NULL, NULL) : NULL;
    if (w->monitor)
        g_signal_connect_object(w->monitor, "changed", G_CALLBACK(file_changed), w, 0);
}

void ws_window_unwatch_file(WsWindow *w)
{
    g_clear_handle_id(&w->watch_source, g_source_remove);
    if (w->monitor)
        g_file_monitor_cancel(w->monitor);
    g_clear_object(&w->monitor);
}
