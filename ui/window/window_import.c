/* A kernel in another language, read as a new design: in a thread, with Stop; what was not
 * understood and where errors lie is said. */
#include "model/findings.h"
#include "ui/document/document_source.h"
#include "ui/gesture/gesture.h"
#include "ui/panels/code_panel.h"
#include "ui/parts/format.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

#define PATIENCE_MS   250 /* before it is said that something is being read */
#define AGAIN_MS      100 /* between two times that it is said how far it is */
#define SOURCE_HEIGHT 310 /* of the panels, for a dozen lines */
#define MIN_SCORE     480

typedef struct {
    WsWindow *window;
    GFile *file;
    GCancellable *cancellable;
    gboolean given_up; /* edits that were not saved were there, and may go */
} Import;

static void import_free(Import *i)
{
    g_object_unref(i->window);
    g_object_unref(i->file);
    g_object_unref(i->cancellable);
    g_free(i);
}

static void stop_waiting(WsWindow *w)
{
    g_clear_handle_id(&w->import_source, g_source_remove);
    gtk_widget_set_visible(w->cancel_button, FALSE);
}

void ws_window_cancel_import(WsWindow *w)
{
    if (!w->importing)
        return;
    g_cancellable_cancel(w->importing);
    g_clear_object(&w->importing);
    g_clear_handle_id(&w->import_source, g_source_remove);
}

/* The bar is still ours: nothing else has been said since. */
static gboolean is_said(const WsWindow *w)
{
    return gtk_widget_get_visible(w->cancel_button);
}

static gboolean say_how_far(gpointer data)
{
    WsWindow *w = data;
    g_autofree char *words = ws_document_import_words(w->importing);
    if (words && is_said(w)) {
        gtk_label_set_text(w->error_how, words);
        gtk_widget_set_visible(w->error_scroll, TRUE);
    }
    return G_SOURCE_CONTINUE;
}

static gboolean say_reading(gpointer data)
{
    WsWindow *w = data;
    const char *name = g_object_get_data(G_OBJECT(w->importing), "name");
    g_autofree char *words = ws_document_import_words(w->importing);
    /* Translators: %s is a file. */
    g_autofree char *what = g_strdup_printf(_("Reading %s…"), name);
    ws_window_say(w, GTK_MESSAGE_INFO, what, words);
    gtk_widget_set_visible(w->cancel_button, TRUE);
    ws_window_update_actions(w);
    w->import_source = g_timeout_add(AGAIN_MS, say_how_far, w);
    return G_SOURCE_REMOVE;
}

/* Escape stops it, before the score or a panel takes the key; a field, a popover and a gesture that
 * is being made have it first. */
static gboolean key_pressed(GtkEventControllerKey *keys, guint key, guint code,
                            GdkModifierType state, WsWindow *w)
{
    GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(w));
    if (key != GDK_KEY_Escape || !w->importing || GTK_IS_EDITABLE(focus) ||
        (focus && gtk_widget_get_native(focus) != GTK_NATIVE(w)) ||
        ws_gesture_active(WS_TIMELINE(w->part[WS_PART_TIMELINE])))
        return GDK_EVENT_PROPAGATE;
    ws_window_stop_import(w);
    return GDK_EVENT_STOP;
}

void ws_window_let_stop_import(WsWindow *w)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect_object(keys, "key-pressed", G_CALLBACK(key_pressed), w, 0);
    gtk_widget_add_controller(GTK_WIDGET(w), keys);
}

/* A source wants more lines than the figures that the panels mostly hold; once for a window, and
 * only where the score keeps enough. */
static gboolean make_room(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    WsWindow *w = WS_WINDOW(widget);
    const int height = gtk_widget_get_height(GTK_WIDGET(w->rows));
    if (height <= 0 || !w->has_room++) /* not shown, or its panes are only being restored */
        return G_SOURCE_CONTINUE;
    if (height >= MIN_SCORE + SOURCE_HEIGHT &&
        gtk_widget_get_height(GTK_WIDGET(w->panels)) < SOURCE_HEIGHT)
        gtk_paned_set_position(w->rows, height - SOURCE_HEIGHT);
    return G_SOURCE_REMOVE;
}

/* What there is to see first: what is wrong, if anything is; else the source beside the score. */
static void show_it(WsWindow *w)
{
    WsFindings *findings = ws_document_findings(w->document);
    const gboolean wrong = findings && ws_findings_count(findings, WS_SEVERITY_ERROR) > 0;
    ws_code_panel_show(WS_CODE_PANEL(w->part[WS_PART_CODE]), WS_CODE_SOURCE);
    if (!w->has_room)
        gtk_widget_add_tick_callback(GTK_WIDGET(w), make_room, NULL, NULL);
    ws_window_raise_panel(w, wrong ? WS_PART_PROBLEMS : WS_PART_CODE);
    if (ws_document_program(w->document))
        gtk_widget_grab_focus(w->part[WS_PART_TIMELINE]);
    else
        ws_window_show_panel(w, WS_PART_PROBLEMS);
}

static void tell(WsWindow *w, WsImported imported)
{
    const WsSource *source = ws_document_source(w->document);
    g_autoptr(GPtrArray) opaque = ws_document_opaque(w->document);
    g_autoptr(GString) text = g_string_new(NULL);
    if (imported == WS_IMPORT_SAME)
        g_string_append_printf(text, _("%s was read again: the design is the same."), source->name);
    else if (imported == WS_IMPORT_DIFFERS)
        g_string_append_printf(text, _("%s was read again: A is what it was before."),
                               source->name);
    else
        g_string_append_printf(text,
                               _("%s was read as a new design; that file itself is never written."),
                               source->name);
    if (opaque->len) {
        g_autofree char *count =
            ws_format_count(opaque->len, ngettext("%s place was not understood",
                                                  "%s places were not understood", opaque->len));
        g_string_append_printf(text, " %s.", count);
    }
    ws_window_toast(w, text->str);
}

static void fail(WsWindow *w, GFile *file, const GError *error)
{
    g_autofree char *name = g_file_get_parse_name(file), *base = g_file_get_basename(file);
    g_autofree char *what = g_strdup_printf(_("Cannot read %s"), name);
    const WsImportFrom from = ws_import_guess(base, NULL);
    const gboolean known = error->domain == WS_IMPORT_ERROR;
    /* Translators: the error, then what is read of the language (in English). */
    g_autofree char *how =
        known && from != WS_IMPORT_FROM_COUNT
            ? g_strdup_printf(_("%s\nWhat is read: %s."), error->message, ws_import_from_help(from))
            : g_strdup(error->message);
    ws_window_say(w, GTK_MESSAGE_ERROR, what, how);
}

static void done(GObject *document, GAsyncResult *result, gpointer data)
{
    Import *i = data;
    WsWindow *w = i->window;
    WsImported imported;
    g_autoptr(GError) error = NULL;
    const gboolean mine = w->importing == i->cancellable;
    if (mine) {
        g_clear_object(&w->importing);
        stop_waiting(w);
    }
    if (!w->document || g_cancellable_is_cancelled(i->cancellable)) {
        import_free(i);
        return;
    }
    if (ws_document_dirty(w->document) && !i->given_up) {
        ws_window_offer_file(w, i->file); /* edited meanwhile: nothing is taken away */
    } else if (ws_document_import_finish(w->document, result, &imported, &error)) {
        ws_window_say_nothing(w);
        ws_window_note_recent(i->file);
        show_it(w);
        tell(w, imported);
    } else {
        fail(w, i->file, error);
    }
    ws_window_update_actions(w);
    import_free(i);
}

void ws_window_import(WsWindow *w, GFile *file)
{
    Import *i = g_new0(Import, 1);
    ws_window_cancel_import(w);
    w->importing = g_cancellable_new();
    g_object_set_data_full(G_OBJECT(w->importing), "name", g_file_get_basename(file), g_free);
    *i = (Import){ g_object_ref(w), g_object_ref(file), g_object_ref(w->importing),
                   ws_document_dirty(w->document) };
    w->import_source = g_timeout_add(PATIENCE_MS, say_reading, w);
    ws_document_import_async(w->document, file, w->importing, done, i);
}

gboolean ws_window_importing(WsWindow *w)
{
    return w->importing != NULL;
}

void ws_window_stop_import(WsWindow *w)
{
    if (!w->importing)
        return;
    const gboolean said = is_said(w);
    g_autofree char *name = g_strdup(g_object_get_data(G_OBJECT(w->importing), "name"));
    ws_window_cancel_import(w);
    stop_waiting(w);
    if (said)
        ws_window_say_nothing(w);
    /* Translators: %s is a file. */
    g_autofree char *what =
        g_strdup_printf(_("Reading %s was stopped; nothing was opened or changed."), name);
    ws_window_toast(w, what);
    ws_window_update_actions(w);
}
