#include "ui/compose/recovery.h"

#include "score/scene.h"
#include "ui/app/theme.h"
#include "ui/document/answers.h"
#include "ui/document/document_machine.h"
#include "ui/document/journal.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

#define WIDTH  220
#define HEIGHT 110

typedef struct {
    WsWindow *window;
    GtkWindow *dialog;
    GtkListBox *list;
    GPtrArray *lost; /* WsLost */
} Recovery;

static void free_recovery(gpointer data)
{
    Recovery *r = data;
    g_ptr_array_unref(r->lost);
    g_free(r);
}

/* The score as it was, small; NULL if there is none to draw. */
static GdkTexture *picture_of(const WsDesign *design)
{
    g_autoptr(WsAnswers) a = ws_answers_make(
        design, NULL, ws_machine_builtin(ws_node_text(ws_design_root(design), WS_F_target)), 0,
        NULL);
    if (!a->program || !a->predicted)
        return NULL;
    WsSceneOptions o = { .width = 900, .height = 450, .no_edges = TRUE };
    g_autoptr(WsScene) scene = ws_scene_new(a->program, a->predicted, NULL, &o);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, WIDTH, HEIGHT);
    cairo_t *cr = cairo_create(image);
    const double scale = MIN(WIDTH / MAX(scene->width, 1), HEIGHT / MAX(scene->height, 1));
    cairo_scale(cr, scale, scale);
    ws_scene_paint(scene, cr, ws_theme_current());
    cairo_destroy(cr);
    cairo_surface_flush(image);
    g_autoptr(GBytes) bytes = g_bytes_new(cairo_image_surface_get_data(image),
                                          (gsize)cairo_image_surface_get_stride(image) * HEIGHT);
    GdkTexture *texture = gdk_memory_texture_new(WIDTH, HEIGHT, GDK_MEMORY_DEFAULT, bytes,
                                                 (gsize)cairo_image_surface_get_stride(image));
    cairo_surface_destroy(image);
    return texture;
}

static char *age_text(gint64 then)
{
    const gint64 minutes = MAX((g_get_real_time() / G_USEC_PER_SEC - then) / 60, 0);
    if (minutes < 1)
        return g_strdup(_("less than a minute ago"));
    if (minutes < 120)
        return g_strdup_printf(
            g_dngettext(NULL, "%d minute ago", "%d minutes ago", (gulong)minutes), (int)minutes);
    if (minutes < 2880)
        return g_strdup_printf(_("%d hours ago"), (int)(minutes / 60));
    return g_strdup_printf(_("%d days ago"), (int)(minutes / 1440));
}

static void take(WsWindow *w, const WsLost *lost)
{
    if (ws_document_design(w->document)) { /* each gets a window of its own */
        w = ws_window_new(gtk_window_get_application(GTK_WINDOW(w)));
        gtk_window_present(GTK_WINDOW(w));
    }
    ws_document_take_design(w->document, lost->design, lost->file, TRUE);
    ws_document_keep(w->document);
    ws_window_want_pane(w, WS_PANE_SIDEBAR, TRUE);
}

static void drop_row(Recovery *r, GtkWidget *row, gboolean recover)
{
    WsLost *lost = g_object_get_data(G_OBJECT(row), "lost");
    if (recover)
        take(r->window, lost);
    ws_lost_remove(lost);
    gtk_list_box_remove(r->list, row);
    if (!gtk_list_box_get_row_at_index(r->list, 0))
        gtk_window_destroy(r->dialog);
}

static void recover(GtkButton *button, Recovery *r)
{
    drop_row(r, gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_LIST_BOX_ROW), TRUE);
}

static void discard(GtkButton *button, Recovery *r)
{
    drop_row(r, gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_LIST_BOX_ROW), FALSE);
}

static GtkWidget *facts_of(const WsLost *lost)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    g_autofree char *path =
        lost->file ? g_file_get_parse_name(lost->file) : g_strdup(_("not saved yet"));
    g_autofree char *age = age_text(lost->time);
    g_autofree char *edits = g_strdup_printf(
        g_dngettext(NULL, "%u edit, %s", "%u edits, %s", lost->n_edits), lost->n_edits, age);
    const char *line[] = { ws_node_text(ws_design_root(lost->design), WS_F_name), path, edits };
    for (guint i = 0; i < G_N_ELEMENTS(line); i++) {
        GtkWidget *label = gtk_label_new(line[i]);
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
        gtk_widget_add_css_class(label, i ? "dim" : "ws-title");
        gtk_box_append(GTK_BOX(box), label);
    }
    gtk_widget_set_hexpand(box, TRUE);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    return box;
}

static void add_row(Recovery *r, WsLost *lost)
{
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *yes = gtk_button_new_with_mnemonic(_("_Recover"));
    GtkWidget *no = gtk_button_new_with_mnemonic(_("_Discard"));
    g_autoptr(GdkTexture) picture = picture_of(lost->design);
    GtkWidget *image = gtk_picture_new_for_paintable(picture ? GDK_PAINTABLE(picture) : NULL);
    gtk_widget_set_size_request(image, WIDTH, HEIGHT);
    gtk_widget_add_css_class(yes, "suggested-action");
    gtk_widget_set_valign(yes, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(no, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(box), image);
    gtk_box_append(GTK_BOX(box), facts_of(lost));
    gtk_box_append(GTK_BOX(box), no);
    gtk_box_append(GTK_BOX(box), yes);
    gtk_widget_add_css_class(box, "ws-dialog");
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
    g_object_set_data(G_OBJECT(row), "lost", lost);
    g_signal_connect(yes, "clicked", G_CALLBACK(recover), r);
    g_signal_connect(no, "clicked", G_CALLBACK(discard), r);
    gtk_list_box_append(r->list, row);
}

GtkWindow *ws_recovery_offer(WsWindow *w)
{
    g_autoptr(GPtrArray) lost = ws_journal_lost();
    if (!lost->len)
        return NULL;
    Recovery *r = g_new0(Recovery, 1);
    GtkWidget *scroll = gtk_scrolled_window_new();
    *r = (Recovery){ w, GTK_WINDOW(gtk_window_new()), GTK_LIST_BOX(gtk_list_box_new()),
                     g_ptr_array_ref(lost) };
    gtk_window_set_title(r->dialog, _("Work That Was Not Saved"));
    gtk_window_set_transient_for(r->dialog, GTK_WINDOW(w));
    gtk_window_set_modal(r->dialog, TRUE);
    gtk_window_set_default_size(r->dialog, 720, 360);
    gtk_widget_add_css_class(GTK_WIDGET(r->dialog), "ws-studio");
    for (guint i = 0; i < lost->len; i++)
        add_row(r, lost->pdata[i]);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), GTK_WIDGET(r->list));
    gtk_window_set_child(r->dialog, scroll);
    g_object_set_data_full(G_OBJECT(r->dialog), "recovery", r, free_recovery);
    gtk_window_present(r->dialog);
    return r->dialog;
}
