/* The units of an SM at the foot of the score, always in view: when each has something in flight,
 * predicted and, beneath it, measured. Gaps are objects: they say why, and can be looked at. */
#include "program/parts/agent.h"
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/document/document_idle.h"
#include "ui/parts/format.h"
#include "ui/timeline/timeline_gap.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

#define LANE 12.0 /* units of the page: one trace of one unit */
#define PAD  5.0  /* between units */
/* Strength of what is measured: in use at most, and for sure on top of it. */
#define UNSURE 0.3
#define SURE   0.65

#define WS_TYPE_UNIT_ROWS ws_unit_rows_get_type()
G_DECLARE_FINAL_TYPE(WsUnitRows, ws_unit_rows, WS, UNIT_ROWS, GtkWidget)

struct _WsUnitRows {
    GtkWidget parent;
    WsTimeline *timeline; /* borrowed: its ancestor */
    gboolean hovers;
    WsGapRef hovered;
};
G_DEFINE_FINAL_TYPE(WsUnitRows, ws_unit_rows, GTK_TYPE_WIDGET)

static const WsItemKind kind_of[WS_UNITS] = { WS_ITEM_MMA, WS_ITEM_MATH, WS_ITEM_LOAD,
                                              WS_ITEM_STORE };
static const char *const name_of[WS_UNITS] = { N_("tensor core"), N_("MUFU"), N_("TMA load"),
                                               N_("TMA store") };

/* --- what is shown ----------------------------------------------------------------------------
 */

static gboolean shown(WsDocument *d, WsUnit unit, gboolean measured)
{
    const WsIdle *idle = ws_document_idle(d, measured);
    return idle && idle->uses[unit];
}

static guint n_lanes(WsDocument *d, WsUnit unit)
{
    return (guint)shown(d, unit, FALSE) + (guint)shown(d, unit, TRUE);
}

static double height_of(WsDocument *d)
{
    double h = 0;
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        const guint n = n_lanes(d, (WsUnit)unit);
        h += n ? n * LANE + PAD : 0;
    }
    return h > 0 ? h + PAD : 0;
}

/* The lane at a height; FALSE: none. `top` takes where it begins. */
static gboolean lane_at(WsDocument *d, double y, WsUnit *unit, gboolean *measured, double *top)
{
    double at = PAD;
    for (guint u = 0; u < WS_UNITS; u++) {
        for (guint m = 0; m < 2; m++) {
            if (!shown(d, (WsUnit)u, m == 1))
                continue;
            if (y >= at && y < at + LANE) {
                *unit = (WsUnit)u;
                *measured = m == 1;
                *top = at;
                return TRUE;
            }
            at += LANE;
        }
        at += n_lanes(d, (WsUnit)u) ? PAD : 0;
    }
    return FALSE;
}

gboolean ws_timeline_units_place(WsTimeline *t, const WsGapRef *ref, double *x, double *y)
{
    double from, to;
    if (!ws_gap_span(t, ref, &from, &to))
        return FALSE;
    for (double at = 0; at < height_of(t->document); at++) {
        WsUnit unit;
        gboolean measured;
        double top;
        if (!lane_at(t->document, at, &unit, &measured, &top) || unit != ref->unit ||
            measured != ref->measured)
            continue;
        *x = (WS_TIMELINE_GUTTER + (from + to) / 2) * t->page_scale;
        *y = (top + LANE / 2) * t->page_scale;
        return TRUE;
    }
    return FALSE;
}

/* --- drawing ------------------------------------------------------------------------------------
 */

typedef struct {
    WsTimeline *t;
    cairo_t *cr;
    const WsPalette *p;
    const WsIdleCta *c;
    WsUnit unit;
    gboolean measured;
    double y;
} Lane;

static void box(const Lane *l, double x0, double x1, guint32 colour, double alpha, double share)
{
    const double h = LANE - 2;
    x0 = MAX(x0, WS_TIMELINE_GUTTER);
    x1 = MIN(x1, WS_TIMELINE_GUTTER + l->t->view.width);
    if (x1 <= x0)
        return;
    ws_paint_colour(l->cr, colour, alpha);
    cairo_rectangle(l->cr, x0, l->y + h * (1 - share), x1 - x0, h * share);
    cairo_fill(l->cr);
}

/* First span that ends after a time. */
static guint first_span(const GArray *list, gint64 time)
{
    guint lo = 0, hi = list->len;
    while (lo < hi) {
        const guint mid = (lo + hi) / 2;
        if (g_array_index(list, WsIdleSpan, mid).to <= time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void draw_spans(const Lane *l, const WsGapAxis *a, const GArray *list, guint32 colour,
                       double alpha)
{
    for (guint i = first_span(list, a->from); i < list->len; i++) {
        const WsIdleSpan *s = &g_array_index(list, WsIdleSpan, i);
        if (s->from >= a->to)
            break;
        const double x0 = ws_gap_x(a, s->from), x1 = ws_gap_x(a, s->to);
        box(l, x0, MAX(x1, x0 + 0.5), colour, alpha, 1);
    }
}

/* More spans than pixels: the share of each pixel. */
static void draw_shares(const Lane *l, const WsGapAxis *a, guint32 colour)
{
    for (double x = floor(a->x0); x < a->x1; x++) {
        const gint64 from = ws_gap_time(a, x), to = MAX(ws_gap_time(a, x + 1), from + 1);
        const double share = (double)ws_idle_used(l->c, l->unit, from, to) / (double)(to - from);
        if (share > 0)
            box(l, x, x + 1, colour, l->measured ? UNSURE : 1, MIN(share, 1));
        const double sure = (double)ws_idle_certain(l->c, l->unit, from, to) / (double)(to - from);
        if (l->measured && sure > 0)
            box(l, x, x + 1, colour, SURE, MIN(sure, 1));
    }
}

static void draw_gap_frame(const Lane *l, double x0, double x1, gboolean strong)
{
    x0 = MAX(x0, WS_TIMELINE_GUTTER - 2);
    x1 = MIN(x1, WS_TIMELINE_GUTTER + l->t->view.width + 2);
    if (x1 <= x0)
        return;
    ws_paint_colour(l->cr, l->p->text, strong ? 0.16 : 0.1);
    cairo_rectangle(l->cr, x0, l->y, x1 - x0, LANE - 2);
    cairo_fill(l->cr);
    ws_paint_colour(l->cr, l->p->text, 1);
    cairo_set_line_width(l->cr, strong ? 2 : 1);
    cairo_rectangle(l->cr, floor(x0) + 0.5, l->y + 0.5, MAX(x1 - x0 - 1, 2), LANE - 3);
    cairo_stroke(l->cr);
}

/* Cycles of the gaps that have room for the number. */
static void draw_numbers(const Lane *l, const WsGapAxis *a)
{
    const GArray *gaps = l->c->gap[l->unit];
    ws_paint_font(l->cr, 8.5, FALSE);
    ws_paint_colour(l->cr, l->p->muted, 1);
    for (guint i = ws_idle_gap_from(l->c, l->unit, a->from); i < gaps->len; i++) {
        const WsIdleGap *g = &g_array_index(gaps, WsIdleGap, i);
        if (g->from >= a->to)
            break;
        const double x0 = MAX(ws_gap_x(a, g->from), a->x0), x1 = MIN(ws_gap_x(a, g->to), a->x1);
        if (x1 - x0 < 18)
            continue;
        g_autofree char *text = ws_format_int(g->to - g->from);
        cairo_text_extents_t e;
        cairo_text_extents(l->cr, text, &e);
        if (e.x_advance + 4 < x1 - x0)
            ws_paint_text(l->cr, (x0 + x1 - e.x_advance) / 2, l->y + LANE - 4, text);
    }
}

static void draw_lane(const Lane *l)
{
    const guint32 colour = ws_palette_item(ws_theme_current(), kind_of[l->unit]);
    WsGapAxis axis[WS_GAP_AXES];
    const guint n = ws_gap_axes(l->t, l->measured, axis);
    for (guint i = 0; i < n; i++) {
        const WsGapAxis *a = &axis[i];
        const GArray *busy = l->c->busy[l->unit];
        const guint first = first_span(busy, a->from), last = first_span(busy, a->to);
        draw_spans(l, a, l->c->recorded[l->unit], l->p->frame, 0.35);
        if (last - first > (a->x1 - a->x0) / 2) {
            draw_shares(l, a, colour);
        } else {
            draw_spans(l, a, busy, colour, l->measured ? UNSURE : 1);
            if (l->measured)
                draw_spans(l, a, l->c->sure[l->unit], colour, SURE);
            draw_numbers(l, a);
        }
    }
}

static void draw_marks(const Lane *l, const WsUnitRows *self)
{
    WsGapRef at;
    double from, to;
    if (self->hovers && self->hovered.unit == l->unit && self->hovered.measured == l->measured &&
        ws_gap_span(l->t, &self->hovered, &from, &to))
        draw_gap_frame(l, WS_TIMELINE_GUTTER + from, WS_TIMELINE_GUTTER + to, FALSE);
    if (ws_document_gap(l->t->document, &at) && at.unit == l->unit && at.measured == l->measured &&
        at.cta == l->c->cta && ws_gap_span(l->t, &at, &from, &to))
        draw_gap_frame(l, WS_TIMELINE_GUTTER + from, WS_TIMELINE_GUTTER + to, TRUE);
}

/* What share a unit is idle: measured, between what it is at least and at most. */
static char *idle_words(const Lane *l)
{
    const double share = 1 - (double)l->c->used[l->unit] / (double)MAX(l->c->cycles[l->unit], 1);
    const double most = ws_idle_most(l->c, l->unit);
    g_autofree char *figure = ws_format_share(share);
    if (!l->measured)
        return g_strdup_printf(_("idle %s"), figure);
    if (ws_idle_unseen(share, most))
        return g_strdup(_("measured, ends not seen"));
    if (most - share < 0.0005)
        return g_strdup_printf(_("measured, idle \xe2\x89\xa5 %s"), figure);
    g_autofree char *least = ws_format_real(100 * share, 1), *upto = ws_format_share(most);
    /* Translators: "15.3" to "20.0 %". */
    return g_strdup_printf(_("measured, idle %s\xe2\x80\x93%s"), least, upto);
}

/* "tensor core", and what share it is idle. */
static void draw_words(const Lane *l, gboolean first)
{
    g_autofree char *text = idle_words(l);
    if (first) {
        ws_paint_colour(l->cr, l->p->text, 1);
        ws_timeline_words(l->cr, 22, l->y + LANE - 3.5, 10, _(name_of[l->unit]));
    }
    ws_paint_colour(l->cr, l->p->muted, 1);
    ws_timeline_words_end(l->cr, WS_TIMELINE_GUTTER - 8, l->y + LANE - 3.5, 8.5, text);
}

static void draw(WsUnitRows *self, cairo_t *cr)
{
    WsTimeline *t = self->timeline;
    const double room = gtk_widget_get_height(GTK_WIDGET(self)) / t->page_scale;
    WsDocument *d = t->document;
    double y = PAD;
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        gboolean first = TRUE;
        for (guint m = 0; m < 2; m++) {
            const WsIdle *idle = ws_document_idle(d, m == 1);
            const WsTrace *trace = m ? ws_document_measured(d) : ws_document_predicted(d);
            Lane l = { t, cr, ws_palette(ws_theme_current()), NULL, (WsUnit)unit, m == 1, y };
            if (!shown(d, (WsUnit)unit, m == 1))
                continue;
            l.c = ws_idle_cta(idle, ws_timeline_cta_of(t, trace));
            if (l.c && y + LANE <= room + 1) { /* half of one says nothing */
                draw_words(&l, first);
                draw_lane(&l);
                draw_marks(&l, self);
            }
            first = FALSE;
            y += LANE;
        }
        y += n_lanes(d, (WsUnit)unit) ? PAD : 0;
    }
}

static void snapshot(GtkWidget *widget, GtkSnapshot *s)
{
    WsUnitRows *self = WS_UNIT_ROWS(widget);
    const WsPalette *p = ws_palette(ws_theme_current());
    float k = (float)self->timeline->page_scale;
    float w = (float)gtk_widget_get_width(widget), h = (float)gtk_widget_get_height(widget);
    cairo_t *cr = gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, w, h));
    ws_paint_colour(cr, p->page, 1);
    cairo_paint(cr);
    ws_paint_colour(cr, p->frame, 1);
    cairo_rectangle(cr, 0, 0, w, 1);
    cairo_fill(cr);
    cairo_scale(cr, k, k);
    draw(self, cr);
    cairo_destroy(cr);
}

/* --- pointing -----------------------------------------------------------------------------------
 */

static gboolean gap_at(WsUnitRows *self, double x, double y, WsGapRef *ref)
{
    WsTimeline *t = self->timeline;
    double top;
    ws_timeline_page(t, &x, &y);
    if (!lane_at(t->document, y, &ref->unit, &ref->measured, &top))
        return FALSE;
    const WsTrace *trace =
        ref->measured ? ws_document_measured(t->document) : ws_document_predicted(t->document);
    ref->cta = ws_timeline_cta_of(t, trace);
    return ws_gap_at(t, x, ref);
}

static void pressed(GtkGestureClick *g, int n, double x, double y, WsUnitRows *self)
{
    WsGapRef ref;
    gtk_widget_grab_focus(self->timeline->canvas);
    ws_document_look_at_gap(self->timeline->document, gap_at(self, x, y, &ref) ? &ref : NULL,
                            FALSE);
}

static void moved(GtkEventControllerMotion *c, double x, double y, WsUnitRows *self)
{
    WsGapRef ref = { 0 };
    const gboolean hovers = gap_at(self, x, y, &ref);
    if (hovers == self->hovers &&
        (!hovers || (ref.gap == self->hovered.gap && ref.unit == self->hovered.unit &&
                     ref.measured == self->hovered.measured && ref.cta == self->hovered.cta)))
        return;
    self->hovers = hovers;
    self->hovered = ref;
    gtk_widget_trigger_tooltip_query(GTK_WIDGET(self));
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void left(GtkEventControllerMotion *c, WsUnitRows *self)
{
    self->hovers = FALSE;
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

/* What the row says where there is no gap. */
static char *row_tip(WsUnitRows *self, double y)
{
    WsDocument *d = self->timeline->document;
    WsUnit unit;
    gboolean measured;
    double top;
    ws_timeline_page(self->timeline, NULL, &y);
    if (!lane_at(d, y, &unit, &measured, &top))
        return NULL;
    const WsIdle *idle = ws_document_idle(d, measured);
    return ws_gap_unit_text(idle, unit);
}

static gboolean tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tip,
                        gpointer data)
{
    WsUnitRows *self = WS_UNIT_ROWS(widget);
    WsGapRef ref;
    g_autofree char *text = keyboard                   ? NULL
                            : gap_at(self, x, y, &ref) ? ws_gap_text(self->timeline->document, &ref)
                                                       : row_tip(self, y);
    gtk_tooltip_set_text(tip, text);
    return text != NULL;
}

static gboolean scroll(GtkEventControllerScroll *c, double dx, double dy, WsUnitRows *self)
{
    ws_timeline_scroll_by(self->timeline, (dx != 0 ? dx : dy) * 60, 0);
    return TRUE;
}

/* --- the widget ---------------------------------------------------------------------------------
 */

void ws_timeline_units_changed(WsTimeline *t)
{
    WsUnitRows *self = WS_UNIT_ROWS(t->units);
    self->hovers = FALSE;
    gtk_widget_set_visible(t->units, height_of(t->document) > 0);
    gtk_widget_queue_resize(t->units);
    gtk_widget_queue_draw(t->units);
}

static void measure(GtkWidget *widget, GtkOrientation o, int for_size, int *least, int *natural,
                    int *a, int *n)
{
    WsTimeline *t = WS_UNIT_ROWS(widget)->timeline;
    const double h = t->document ? height_of(t->document) : 0;
    *least = *natural = o == GTK_ORIENTATION_HORIZONTAL ? 200 : (int)ceil(h * t->page_scale);
    if (o == GTK_ORIENTATION_VERTICAL) /* the first unit stays in the smallest window */
        *least = (int)ceil(MIN(h, 2 * LANE + PAD) * t->page_scale);
}

static void ws_unit_rows_class_init(WsUnitRowsClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    widget->snapshot = snapshot;
    widget->measure = measure;
    gtk_widget_class_set_css_name(widget, "units");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
}

static void ws_unit_rows_init(WsUnitRows *self)
{
    GtkGesture *click = gtk_gesture_click_new();
    GtkEventController *motion = gtk_event_controller_motion_new();
    GtkEventController *wheel =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(click, "pressed", G_CALLBACK(pressed), self);
    g_signal_connect(motion, "motion", G_CALLBACK(moved), self);
    g_signal_connect(motion, "leave", G_CALLBACK(left), self);
    g_signal_connect(wheel, "scroll", G_CALLBACK(scroll), self);
    gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(click));
    gtk_widget_add_controller(GTK_WIDGET(self), motion);
    gtk_widget_add_controller(GTK_WIDGET(self), wheel);
    gtk_widget_set_has_tooltip(GTK_WIDGET(self), TRUE);
    gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
    g_signal_connect(self, "query-tooltip", G_CALLBACK(tooltip), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Units of the SM: in use, and idle"), -1);
}

GtkWidget *ws_timeline_units_new(WsTimeline *t)
{
    WsUnitRows *self = g_object_new(WS_TYPE_UNIT_ROWS, NULL);
    self->timeline = t;
    return GTK_WIDGET(self);
}
