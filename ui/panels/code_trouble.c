#include "ui/panels/code_trouble.h"

#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/problems/wrong_steps.h"

#define CATEGORY "warpstave-wrong"
#define STEP     "warpstave-step" /* of a mark: the id that it was set for */
#define SIZE     16

/* The cross of the score. */
static GdkPixbuf *cross(void)
{
    const WsPalette *p = ws_palette(ws_theme_current());
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, SIZE, SIZE);
    cairo_t *cr = cairo_create(image);
    ws_paint_colour(cr, p->error, 1);
    cairo_rectangle(cr, 1, 1, SIZE - 2, SIZE - 2);
    cairo_fill(cr);
    ws_paint_colour(cr, p->page, 1);
    cairo_set_line_width(cr, 2);
    cairo_move_to(cr, 5, 5);
    cairo_line_to(cr, SIZE - 5, SIZE - 5);
    cairo_move_to(cr, SIZE - 5, 5);
    cairo_line_to(cr, 5, SIZE - 5);
    cairo_stroke(cr);
    cairo_destroy(cr);
    GdkPixbuf *pixels = gdk_pixbuf_get_from_surface(image, 0, 0, SIZE, SIZE);
    cairo_surface_destroy(image);
    return pixels;
}

/* What the first error at that step says. */
static char *tip(GtkSourceMarkAttributes *attributes, GtkSourceMark *mark, gpointer view)
{
    WsDocument *document = g_object_get_data(G_OBJECT(mark), "document");
    return ws_wrong_step_text(document, g_object_get_data(G_OBJECT(mark), STEP));
}

void ws_code_trouble_style(GtkSourceView *view)
{
    g_autoptr(GtkSourceMarkAttributes) attributes = gtk_source_mark_attributes_new();
    g_autoptr(GdkPixbuf) pixels = cross();
    gtk_source_mark_attributes_set_pixbuf(attributes, pixels);
    g_signal_connect(attributes, "query-tooltip-text", G_CALLBACK(tip), NULL);
    gtk_source_view_set_mark_attributes(view, CATEGORY, attributes, 2);
}

guint ws_code_trouble_mark(WsDocument *document, WsCodeKind kind, GtkSourceBuffer *buffer)
{
    GtkTextIter a, b;
    GHashTableIter each;
    gpointer step;
    guint n = 0;
    gtk_text_buffer_get_bounds(GTK_TEXT_BUFFER(buffer), &a, &b);
    gtk_source_buffer_remove_source_marks(buffer, &a, &b, CATEGORY);
    g_autoptr(GHashTable) steps =
        ws_document_code(document, kind) ? ws_wrong_steps(document) : NULL;
    if (!steps)
        return 0;
    for (g_hash_table_iter_init(&each, steps); g_hash_table_iter_next(&each, &step, NULL);) {
        g_autoptr(GArray) lines = ws_document_code_lines(document, kind, step);
        for (guint i = 0; i < lines->len; i++) {
            if (!gtk_text_buffer_get_iter_at_line(GTK_TEXT_BUFFER(buffer), &a,
                                                  (gint)g_array_index(lines, guint, i)))
                continue;
            GtkSourceMark *mark = gtk_source_buffer_create_source_mark(buffer, NULL, CATEGORY, &a);
            g_object_set_data_full(G_OBJECT(mark), STEP, g_strdup(step), g_free);
            g_object_set_data_full(G_OBJECT(mark), "document", g_object_ref(document),
                                   g_object_unref);
            n++;
        }
    }
    return n;
}
