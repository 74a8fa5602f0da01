/* The score as a picture, and its trace for other programs (I47, I49). */
#include "ui/window/window_private.h"

#include "score/scene.h"
#include "ui/app/theme.h"
#include "ui/document/document_machine.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

gboolean ws_window_say_saved(WsWindow *w, GFile *file, gboolean ok, const char *why)
{
    g_autofree char *name = g_file_get_parse_name(file);
    if (ok) {
        g_autofree char *what = g_strdup_printf(_("Saved %s"), name);
        ws_window_say(w, GTK_MESSAGE_INFO, what, NULL);
        return TRUE;
    }
    g_autofree char *what = g_strdup_printf(_("Cannot save %s"), name);
    ws_window_say(w, GTK_MESSAGE_ERROR, what,
                  why ? why : _("It is not a local file. Choose a local folder."));
    return FALSE;
}

/* TRUE if there is a trace to draw; else the error bar says why not. */
static gboolean has_score(WsWindow *w)
{
    if (ws_document_predicted(w->document) || ws_document_measured(w->document))
        return TRUE;
    ws_window_say(w, GTK_MESSAGE_WARNING, _("There is no score to save"),
                  _("The problems panel says why this design has no predicted time."));
    return FALSE;
}

gboolean ws_window_export_picture(WsWindow *w, GFile *file)
{
    g_autofree char *path = g_file_get_path(file);
    g_autoptr(GError) error = NULL;
    if (!has_score(w))
        return FALSE;
    const WsMachine *machine = ws_document_machine(w->document);
    g_autofree double *special =
        machine ? ws_clock_special_cycles(ws_document_program(w->document), machine) : NULL;
    WsSceneOptions options = { .special = special, .translate = ws_words_translate };
    g_autoptr(WsScene) scene =
        ws_scene_new(ws_document_program(w->document), ws_document_predicted(w->document),
                     ws_document_measured(w->document), &options);
    gboolean ok = path && ws_scene_save(scene, path, ws_theme_current(), &error);
    return ws_window_say_saved(w, file, ok, error ? error->message : NULL);
}

gboolean ws_window_export_trace(WsWindow *w, GFile *file)
{
    g_autofree char *path = g_file_get_path(file);
    g_autoptr(GError) error = NULL;
    gboolean ok = FALSE;
    if (!has_score(w))
        return FALSE;
    WsTrace *measured = ws_document_measured(w->document);
    WsTrace *trace = measured ? measured : ws_document_predicted(w->document);
    if (path && g_str_has_suffix(path, ".csv"))
        ok = ws_trace_export_csv(trace, path, &error);
    else if (path && g_str_has_suffix(path, ".json"))
        ok = ws_trace_export_chrome(trace, path, &error);
    else if (path && g_str_has_suffix(path, ".wtrace"))
        ok = ws_trace_save(trace, path, &error);
    else if (path)
        g_set_error(&error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME,
                    _("The ending says which form it gets: .json for Chrome and Perfetto, .csv for "
                      "tables, .wtrace for Warpstave. Choose one of them."));
    return ws_window_say_saved(w, file, ok, error ? error->message : NULL);
}

static void chose(GtkNativeDialog *dialog, int response, WsWindow *w)
{
    gboolean trace = g_object_get_data(G_OBJECT(dialog), "trace") != NULL;
    g_autoptr(GFile) file = ws_window_chosen(w, dialog, response);
    if (file && trace)
        ws_window_export_trace(w, file);
    else if (file)
        ws_window_export_picture(w, file);
}

static GtkFileChooser *choose(WsWindow *w, const char *title, const char *ending)
{
    g_autofree char *design = ws_document_title(w->document);
    g_autofree char *name = g_strconcat(design, ending, NULL);
    GtkFileChooser *chooser = ws_window_new_chooser(w, title, GTK_FILE_CHOOSER_ACTION_SAVE,
                                                    _("_Save"), G_CALLBACK(chose));
    gtk_file_chooser_set_current_name(chooser, g_strdelimit(name, "/", '-'));
    return chooser;
}

void ws_window_choose_picture(WsWindow *w)
{
    static const char *const kinds[] = { "svg", "pdf", "png", NULL };
    if (!has_score(w))
        return;
    GtkFileChooser *chooser = choose(w, _("Export a Picture"), ".svg");
    ws_window_add_filter(chooser, _("Pictures (.svg, .pdf, .png)"), kinds);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}

void ws_window_choose_trace_export(WsWindow *w)
{
    static const char *const kinds[] = { "json", "csv", "wtrace", NULL };
    if (!has_score(w))
        return;
    GtkFileChooser *chooser = choose(w, _("Export the Trace"), ".json");
    g_object_set_data(G_OBJECT(chooser), "trace", w);
    ws_window_add_filter(chooser, _("Traces (.json, .csv, .wtrace)"), kinds);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}
