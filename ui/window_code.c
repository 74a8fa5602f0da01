/* The generated code as a file (I48): the ending says in which language. The tool writes it, from a
 * copy of the design as it is on screen. */
#include "model/folder.h"
#include "ui/process.h"
#include "ui/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

static const struct {
    const char *ending, *as;
} language[] = {
    { ".gluon.py", "gluon" }, { ".tle.py", "tle" }, { ".ptx", "ptx" },
    { ".ll", "llvm" },        { ".cu", "cuda" },    { ".txt", "program" },
};

typedef struct {
    WsWindow *window;
    GFile *file;
    char *folder; /* with the copy of the design */
} Export;

static void done(int code, const char *output, const char *errors, gpointer data)
{
    Export *e = data;
    g_autofree char *why = g_strstrip(g_strdup(errors && *errors ? errors : output));
    if (e->window->document)
        ws_window_say_saved(e->window, e->file, code == 0, why);
    ws_folder_remove(e->folder);
    g_object_unref(e->window);
    g_object_unref(e->file);
    g_free(e->folder);
    g_free(e);
}

static const char *language_of(const char *path)
{
    for (guint i = 0; path && i < G_N_ELEMENTS(language); i++)
        if (g_str_has_suffix(path, language[i].ending))
            return language[i].as;
    return NULL;
}

gboolean ws_window_export_code(WsWindow *w, GFile *file)
{
    g_autofree char *path = g_file_get_path(file), *name = NULL, *copy = NULL, *folder = NULL;
    g_autoptr(GError) error = NULL;
    const char *as = language_of(path);
    WsDesign *design = ws_document_latest(w->document);
    if (path && !as)
        return ws_window_say_saved(
            w, file, FALSE,
            _("The ending says which language it gets: .ptx, .ll (LLVM IR), .cu (CUDA C++), "
              ".gluon.py, .tle.py, .txt (the program). Choose one of them."));
    if (!path || !design)
        return ws_window_say_saved(w, file, FALSE, NULL);
    name = ws_document_file(w->document) ? g_file_get_basename(ws_document_file(w->document))
                                         : g_strdup("design.wstave");
    folder = g_dir_make_tmp("warpstave-XXXXXX", &error);
    copy = folder ? g_build_filename(folder, name, NULL) : NULL;
    if (!folder || !ws_design_save(design, copy, &error))
        return ws_window_say_saved(w, file, FALSE, error->message);
    Export *e = g_new0(Export, 1);
    *e = (Export){ g_object_ref(w), g_object_ref(file), g_steal_pointer(&folder) };
    const char *argv[] = { "warpstave", "generate", copy, "--as", as, "-o", path, NULL };
    ws_process_start(argv, done, e);
    return TRUE;
}

static void chose(GtkNativeDialog *dialog, int response, WsWindow *w)
{
    g_autoptr(GFile) file = response == GTK_RESPONSE_ACCEPT
                                ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                                : NULL;
    g_clear_object(&w->chooser);
    if (file)
        ws_window_export_code(w, file);
}

void ws_window_choose_code_export(WsWindow *w)
{
    static const char *const endings[] = { "ptx", "ll", "cu", "py", "txt", NULL };
    g_autofree char *design = ws_document_title(w->document);
    g_autofree char *name = g_strconcat(design, ".cu", NULL);
    GtkFileChooser *chooser = ws_window_new_chooser(
        w, _("Export the Code"), GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"), G_CALLBACK(chose));
    gtk_file_chooser_set_current_name(chooser, g_strdelimit(name, "/", '-'));
    ws_window_add_filter(chooser, _("Code (.ptx, .ll, .cu, .gluon.py, .tle.py, .txt)"), endings);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}
