/* A strip of all CTAs of the trace, by SM: how busy the tensor core was on each; where the trace
 * says when each began, rows of the SMs with their tiles. A click chooses the CTA that the score
 * shows. */
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/parts/format.h"
#include "ui/timeline/timeline_private.h"
#include "ui/timeline/timeline_waves.h"

#include <glib/gi18n.h>
#include <math.h>

#define HEIGHT 26.0
#define PAD    3.0
#define WIDEST 48.0 /* of a cell */

#define WS_TYPE_HEAT ws_heat_get_type()
G_DECLARE_FINAL_TYPE(WsHeat, ws_heat, WS, HEAT, GtkWidget)

typedef struct {
    guint cta, sm;
    double share; /* NAN: not known */
} Cell;

struct _WsHeat {
    GtkWidget parent;
    WsTimeline *timeline; /* borrowed: its ancestor */
    GArray *cell;         /* Cell, by SM; NULL: to be made */
    WsWaves *waves;       /* of `of`; NULL: not known */
    WsTrace *of;          /* a reference */
};
G_DEFINE_FINAL_TYPE(WsHeat, ws_heat, GTK_TYPE_WIDGET)

static gint by_sm(gconstpointer pa, gconstpointer pb)
{
    const Cell *a = pa, *b = pb;
    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    return a->cta < b->cta ? -1 : a->cta > b->cta;
}

static WsTrace *trace_of(WsHeat *self)
{
    WsTrace *measured = ws_document_measured(self->timeline->document);
    return measured ? measured : ws_document_predicted(self->timeline->document);
}

static const GArray *cells(WsHeat *self)
{
    WsTrace *t = trace_of(self);
    if (self->cell || !t)
        return self->cell;
    self->cell = g_array_new(FALSE, FALSE, sizeof(Cell));
    for (guint i = 0; i < t->cta->len; i++) {
        Cell c = { i, g_array_index(t->cta, WsTraceCta, i).sm, ws_score_tensor_share(t, i) };
        g_array_append_val(self->cell, c);
    }
    g_array_sort(self->cell, by_sm);
    return self->cell;
}

static const WsWaves *waves_of(WsHeat *self)
{
    WsTrace *t = trace_of(self);
    if (t != self->of) {
        g_clear_pointer(&self->waves, ws_waves_free);
        g_clear_pointer(&self->of, ws_trace_unref);
        self->of = t ? ws_trace_ref(t) : NULL;
        self->waves = t ? ws_waves_new(t) : NULL;
        if (self->waves && self->waves->row->len < WS_WAVES_LEAST)
            g_clear_pointer(&self->waves, ws_waves_free);
    }
    return self->waves;
}

static double height_of(WsHeat *self)
{
    const WsWaves *w = waves_of(self);
    return w ? ws_timeline_waves_height(w) : HEIGHT;
}

/* Units of the page: width of a cell. */
static double cell_width(WsHeat *self, guint n)
{
    double k = self->timeline->page_scale, w = gtk_widget_get_width(GTK_WIDGET(self)) / k;
    return MIN((w - WS_TIMELINE_GUTTER - WS_TIMELINE_RIGHT) / MAX(n, 1), WIDEST);
}

static void paint(WsHeat *self, cairo_t *cr)
{
    WsTheme theme = ws_theme_current();
    const WsPalette *p = ws_palette(theme);
    const GArray *all = cells(self);
    double w = all ? cell_width(self, all->len) : 0, h = HEIGHT - 2 * PAD;
    ws_paint_colour(cr, p->muted, 1);
    ws_timeline_words(cr, 22, HEIGHT / 2 + 3.5, 10, _("tensor core by SM"));
    for (guint i = 0; all && i < all->len; i++) {
        const Cell *c = &g_array_index(all, Cell, i);
        double x = WS_TIMELINE_GUTTER + i * w, gap = w > 4 ? 1 : 0;
        ws_paint_colour(cr, p->panel, 1);
        cairo_rectangle(cr, x, PAD, w - gap, h);
        cairo_fill(cr);
        const double share = isnan(c->share) ? 0 : c->share;
        ws_paint_colour(cr, ws_palette_item(theme, WS_ITEM_MMA), 0.25 + 0.7 * share);
        cairo_rectangle(cr, x, PAD + h * (1 - share), w - gap, h * share);
        cairo_fill(cr);
        if (c->cta != self->timeline->cta)
            continue;
        ws_paint_colour(cr, p->text, 1);
        cairo_set_line_width(cr, 2);
        cairo_rectangle(cr, x + 1, PAD + 1, MAX(w - gap - 2, 1), h - 2);
        cairo_stroke(cr);
    }
}

static void snapshot(GtkWidget *widget, GtkSnapshot *s)
{
    WsHeat *self = WS_HEAT(widget);
    float k = (float)self->timeline->page_scale;
    float w = (float)gtk_widget_get_width(widget), h = (float)gtk_widget_get_height(widget);
    guint32 page = ws_palette(ws_theme_current())->page;
    GdkRGBA back = { (float)(page >> 16 & 255) / 255, (float)(page >> 8 & 255) / 255,
                     (float)(page & 255) / 255, 1 };
    gtk_snapshot_append_color(s, &back, &GRAPHENE_RECT_INIT(0, 0, w, h));
    gtk_snapshot_save(s);
    gtk_snapshot_scale(s, k, k);
    cairo_t *cr = gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, w / k, h / k));
    const WsWaves *waves = waves_of(self);
    if (waves)
        ws_timeline_waves_paint(waves, cr, (double)(w / k), (double)(h / k), self->timeline->cta);
    else
        paint(self, cr);
    cairo_destroy(cr);
    gtk_snapshot_restore(s);
}

static const Cell *cell_at(WsHeat *self, double x)
{
    const GArray *all = cells(self);
    double at = x / self->timeline->page_scale - WS_TIMELINE_GUTTER;
    double i = all && all->len ? floor(at / cell_width(self, all->len)) : -1;
    return i >= 0 && i < all->len ? &g_array_index(all, Cell, (guint)i) : NULL;
}

static const WsWaveRow *row_at(WsHeat *self, double x, double y, const WsWaveSpan **span)
{
    const double k = self->timeline->page_scale;
    return ws_timeline_waves_at(self->waves, gtk_widget_get_width(GTK_WIDGET(self)) / k,
                                gtk_widget_get_height(GTK_WIDGET(self)) / k, x / k, y / k, span);
}

static void pressed(GtkGestureClick *g, int n, double x, double y, WsHeat *self)
{
    const WsWaveSpan *span = NULL;
    if (waves_of(self)) {
        const WsWaveRow *row = row_at(self, x, y, &span);
        if (row && row->n && !span)
            span = &g_array_index(self->waves->span, WsWaveSpan, row->first);
        if (span)
            ws_timeline_set_cta(self->timeline, span->cta);
        gtk_widget_queue_draw(GTK_WIDGET(self));
        return;
    }
    const Cell *c = cell_at(self, x);
    if (c)
        ws_timeline_set_cta(self->timeline, c->cta);
}

static gboolean tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tip,
                        gpointer data)
{
    WsHeat *self = WS_HEAT(widget);
    const WsWaveSpan *span = NULL;
    const WsWaveRow *row = waves_of(self) && !keyboard ? row_at(self, x, y, &span) : NULL;
    if (row) {
        const WsTraceCta *of = span ? ws_timeline_cta_info(self->timeline, span->cta) : NULL;
        g_autofree char *words = ws_timeline_waves_tip(self->waves, row, span, of ? of->id : 0);
        gtk_tooltip_set_text(tip, words);
        return TRUE;
    }
    const Cell *c = keyboard || self->waves ? NULL : cell_at(self, x);
    const WsTraceCta *cta = c ? ws_timeline_cta_info(self->timeline, c->cta) : NULL;
    if (!cta)
        return FALSE;
    g_autofree char *cycles = ws_format_cycles(cta->cycles),
                    *share = isnan(c->share) ? g_strdup(_("not known")) : ws_format_share(c->share);
    g_autofree char *name = ws_timeline_cta_name(self->timeline, c->cta);
    g_autofree char *text =
        c->sm == G_MAXUINT32
            ? g_strdup_printf(_("%s: %s, tensor core busy %s"), name, cycles, share)
            : g_strdup_printf(_("SM %u, %s: %s, tensor core busy %s"), c->sm, name, cycles, share);
    gtk_tooltip_set_text(tip, text);
    return TRUE;
}

void ws_timeline_heat_reset(WsTimeline *t)
{
    WsHeat *self = WS_HEAT(t->heat);
    g_clear_pointer(&self->cell, g_array_unref);
    gtk_widget_set_visible(t->heat, ws_timeline_n_ctas(t) > 1);
    gtk_widget_queue_resize(t->heat);
    gtk_widget_queue_draw(t->heat);
}

static void measure(GtkWidget *widget, GtkOrientation o, int for_size, int *least, int *natural,
                    int *a, int *n)
{
    WsHeat *self = WS_HEAT(widget);
    const double k = self->timeline->page_scale;
    *least = *natural = o == GTK_ORIENTATION_HORIZONTAL ? 200 : (int)ceil(height_of(self) * k);
    if (o == GTK_ORIENTATION_VERTICAL && waves_of(self)) /* the score goes first */
        *least = (int)ceil(MIN(ws_timeline_waves_least(), height_of(self)) * k);
}

static void finalize(GObject *object)
{
    g_clear_pointer(&WS_HEAT(object)->cell, g_array_unref);
    g_clear_pointer(&WS_HEAT(object)->waves, ws_waves_free);
    g_clear_pointer(&WS_HEAT(object)->of, ws_trace_unref);
    G_OBJECT_CLASS(ws_heat_parent_class)->finalize(object);
}

static void ws_heat_class_init(WsHeatClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->finalize = finalize;
    widget->snapshot = snapshot;
    widget->measure = measure;
    gtk_widget_class_set_css_name(widget, "heat");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
}

static void ws_heat_init(WsHeat *self)
{
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(pressed), self);
    gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(click));
    gtk_widget_set_has_tooltip(GTK_WIDGET(self), TRUE);
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
    g_signal_connect(self, "query-tooltip", G_CALLBACK(tooltip), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Tensor core on each SM of the trace"), -1);
}

GtkWidget *ws_timeline_heat_new(WsTimeline *t)
{
    WsHeat *self = g_object_new(WS_TYPE_HEAT, NULL);
    self->timeline = t;
    return GTK_WIDGET(self);
}
