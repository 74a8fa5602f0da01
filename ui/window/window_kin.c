/* Traces of another design than the one that is open: to be compared with it, or opened with their
 * own; and the measured traces that lie beside a design's file. */
#include "model/findings.h"
#include "program/program.h"
#include "ui/document/document_kin.h"
#include "ui/runs/measurements.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

#define MOST 40 /* traces in the menu */

/* --- the offer ----------------------------------------------------------------------------------
 */

static void forget(WsWindow *w)
{
    g_clear_object(&w->offered);
    g_clear_pointer(&w->offered_trace, ws_trace_unref);
}

/* "measured/causal.wtrace": which of several files of a name. */
static char *name_of(GFile *file)
{
    g_autofree char *base = g_file_get_basename(file);
    g_autoptr(GFile) folder = g_file_get_parent(file);
    g_autofree char *place = folder ? g_file_get_basename(folder) : NULL;
    return place ? g_build_filename(place, base, NULL) : g_steal_pointer(&base);
}

static void compare(WsWindow *w)
{
    if (!w->offered_trace)
        return;
    g_autofree char *name = name_of(w->offered);
    ws_document_compare_kin(w->document, w->offered_trace, name);
    forget(w);
    ws_window_say_nothing(w);
    ws_window_show_panel(w, WS_PART_MEASUREMENTS);
    ws_measurements_show(WS_MEASUREMENTS(w->part[WS_PART_MEASUREMENTS]), "two-runs");
}

static void open_now(WsWindow *w, gboolean safe, gpointer data)
{
    g_autoptr(GFile) file = data;
    if (safe)
        ws_window_open_own(w, file);
}

static void open_own(WsWindow *w)
{
    if (!w->offered)
        return;
    g_autoptr(GFile) file = g_object_ref(w->offered);
    forget(w);
    ws_window_when_safe(w, FALSE, open_now, g_object_ref(file));
}

static char *design_name(const WsTrace *t)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_parse(t->design_text, strlen(t->design_text), NULL, findings);
    const char *name = design ? ws_node_text(ws_design_root(design), WS_F_name) : NULL;
    return g_strdup(name ? name : _("No design"));
}

/* Says whose it is, and what can be done with it. */
static void offer(WsWindow *w, GFile *file, WsTrace *t, gboolean kin)
{
    g_autofree char *name = name_of(file), *design = design_name(t);
    g_autofree char *title = ws_document_title(w->document);
    g_autofree char *what =
        g_strcmp0(design, title)
            ? g_strdup_printf(_("%s was recorded from another design: %s"), name, design)
            : g_strdup_printf(_("%s was recorded from another form of this design"), name);
    ws_window_say(w, GTK_MESSAGE_QUESTION, what,
                  kin ? _("Compare puts both runs side by side, by the names of their steps.")
                      : _("Its steps have other names than those of the design that is open."));
    forget(w);
    w->offered = g_object_ref(file);
    w->offered_trace = ws_trace_ref(t);
    gtk_widget_set_visible(w->compare_button, kin);
    gtk_widget_set_visible(w->own_button, TRUE);
}

gboolean ws_window_offer_trace(WsWindow *w, GFile *file, gboolean always)
{
    const WsProgram *p = ws_document_program(w->document);
    g_autofree char *path = g_file_get_path(file);
    g_autoptr(WsTrace) t = p && path ? ws_trace_load(path, NULL) : NULL;
    if (!t || !g_strcmp0(t->design_hash, p->design_hash))
        return FALSE;
    const gboolean kin = ws_document_is_kin(w->document, t);
    if (!kin && !always)
        return FALSE;
    offer(w, file, t, kin);
    return TRUE;
}

/* --- what lies beside a design ------------------------------------------------------------------
 */

static gint by_name(gconstpointer a, gconstpointer b)
{
    GFile *x = *(GFile *const *)a, *y = *(GFile *const *)b;
    g_autofree char *s = g_file_get_uri(x), *t = g_file_get_uri(y);
    return strcmp(s, t);
}

static void list_folder(GFile *folder, GFile *but, GPtrArray *out)
{
    g_autoptr(GFileEnumerator) all = g_file_enumerate_children(
        folder, G_FILE_ATTRIBUTE_STANDARD_NAME, G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, NULL, NULL);
    GFileInfo *info;
    GFile *child;
    while (all && g_file_enumerator_iterate(all, &info, &child, NULL, NULL) && info)
        if (g_str_has_suffix(g_file_info_get_name(info), ".wtrace") && !g_file_equal(child, but) &&
            out->len < MOST)
            g_ptr_array_add(out, g_object_ref(child));
}

static GPtrArray *traces_beside(GFile *file)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(GFile) folder = g_file_get_parent(file);
    g_autoptr(GFile) measured = folder ? g_file_get_child(folder, "measured") : NULL;
    if (folder && g_file_is_native(folder)) {
        list_folder(folder, file, list);
        list_folder(measured, file, list);
    }
    g_ptr_array_sort(list, by_name);
    return list;
}

static void ws_window_show_traces(WsWindow *w)
{
    GFile *file = ws_document_file(w->document);
    if (w->traces_of && file && g_file_equal(file, w->traces_of))
        return;
    g_set_object(&w->traces_of, file);
    g_autoptr(GPtrArray) list = file ? traces_beside(file) : NULL;
    g_autoptr(GMenu) menu = g_menu_new();
    const guint n = list ? list->len : 0;
    for (guint i = 0; i < n; i++) {
        g_autofree char *name = name_of(list->pdata[i]), *uri = g_file_get_uri(list->pdata[i]);
        g_autoptr(GMenuItem) item = g_menu_item_new(NULL, NULL);
        g_menu_item_set_label(item, name);
        g_menu_item_set_action_and_target(item, "win.open-file", "s", uri);
        g_menu_append_item(menu, item);
    }
    g_autofree char *text = g_strdup_printf(
        g_dngettext(GETTEXT_PACKAGE, "%u measured trace", "%u measured traces", n), n);
    gtk_menu_button_set_label(GTK_MENU_BUTTON(w->traces_button), text);
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(w->traces_button), G_MENU_MODEL(menu));
    gtk_widget_set_visible(w->traces_button, n > 0);
}

void ws_window_follow_traces(WsWindow *w)
{
    w->traces_button = gtk_menu_button_new();
    gtk_menu_button_set_has_frame(GTK_MENU_BUTTON(w->traces_button), FALSE);
    gtk_menu_button_set_direction(GTK_MENU_BUTTON(w->traces_button), GTK_ARROW_UP);
    gtk_widget_set_valign(w->traces_button, GTK_ALIGN_CENTER);
    gtk_widget_set_visible(w->traces_button, FALSE);
    gtk_widget_set_tooltip_text(
        w->traces_button,
        _("Traces that lie beside this design: show one under the prediction, or compare with it"));
    gtk_box_insert_child_after(GTK_BOX(w->status_box), w->traces_button,
                               gtk_widget_get_prev_sibling(GTK_WIDGET(w->status_device)));
    g_signal_connect_object(w->document, "changed", G_CALLBACK(ws_window_show_traces), w,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(w->document, "edited", G_CALLBACK(ws_window_show_traces), w,
                            G_CONNECT_SWAPPED);
    g_signal_connect_swapped(w->compare_button, "clicked", G_CALLBACK(compare), w);
    g_signal_connect_swapped(w->own_button, "clicked", G_CALLBACK(open_own), w);
    ws_window_show_traces(w);
}

void ws_window_forget_traces(WsWindow *w)
{
    forget(w);
    g_clear_object(&w->traces_of);
}
