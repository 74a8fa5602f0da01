#include "ui/app/pictures.h"

#include "edit/edit.h"
#include "score/palette.h"
#include "ui/app/main_loop.h"
#include "ui/app/settings.h"
#include "ui/app/theme.h"
#include "ui/roots.h"
#include "ui/timeline/timeline.h"
#include "ui/window/window.h"

#include <stdio.h>

#define PATIENCE (20 * G_USEC_PER_SEC)

/* --- windows ------------------------------------------------------------------------------------
 */

static void painted(GdkFrameClock *clock, guint *frames)
{
    (*frames)++;
}

/* Until what was asked for has been drawn, and what was put off has been done. */
static gboolean settle(GtkWidget *window)
{
    GdkFrameClock *clock = gtk_widget_get_frame_clock(window);
    gint64 began = g_get_monotonic_time();
    guint frames = 0;
    gulong id = g_signal_connect(clock, "after-paint", G_CALLBACK(painted), &frames);
    while ((frames < 6 || g_get_monotonic_time() - began < G_USEC_PER_SEC / 2) &&
           g_get_monotonic_time() - began < PATIENCE) {
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT);
        ws_main_loop_turn();
    }
    g_signal_handler_disconnect(clock, id);
    return frames >= 6;
}

static gboolean save(GtkWidget *widget, const char *file, GError **error)
{
    int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot, width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(image);
    ws_paint_colour(cr, ws_palette(ws_theme_current())->page, 1); /* what lies behind the widget */
    cairo_paint(cr);
    if (node)
        gsk_render_node_draw(node, cr);
    g_clear_pointer(&node, gsk_render_node_unref);
    cairo_destroy(cr);
    cairo_status_t status = cairo_surface_write_to_png(image, file);
    cairo_surface_destroy(image);
    if (status == CAIRO_STATUS_SUCCESS)
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", file,
                cairo_status_to_string(status));
    return FALSE;
}

/* --- the pictures -------------------------------------------------------------------------------
 */

typedef struct {
    const char *name;
    const char *design, *trace; /* of the source tree; trace NULL: none */
    int width, height, panels;  /* of the window; height of its lower panels, 0: as it is */
    WsPart part;                /* what is drawn of the window */
    void (*set_up)(WsWindow *w, WsTimeline *t);
} Picture;

static void act(WsWindow *w, const char *name)
{
    g_action_group_activate_action(G_ACTION_GROUP(w), name, NULL);
}

/* What was left shown or hidden is kept from one window to the next. */
static void hide(WsWindow *w, GtkWidget *pane, const char *toggle)
{
    if (gtk_widget_get_mapped(pane))
        act(w, toggle);
}

static void bare(WsWindow *w, WsTimeline *t)
{
    (void)t;
    GtkWidget *panels =
        gtk_widget_get_ancestor(ws_window_part(w, WS_PART_RESOURCES), GTK_TYPE_NOTEBOOK);
    hide(w, panels, "toggle-panels");
    hide(w, ws_window_part(w, WS_PART_INSPECTOR), "toggle-inspector");
}

/* Two rounds of one tile, in the middle of the run. */
static void near(WsWindow *w, WsTimeline *t)
{
    bare(w, t);
    const GArray *rounds = ws_timeline_rounds(t, NULL);
    guint middle = rounds ? rounds->len / 2 : 0;
    if (rounds && middle + 3 < rounds->len)
        ws_timeline_set_view(t, (double)g_array_index(rounds, WsScoreRound, middle).from - 200,
                             (double)g_array_index(rounds, WsScoreRound, middle + 3).from + 200);
}

/* The first rounds: what waits for what. */
static void queues(WsWindow *w, WsTimeline *t)
{
    bare(w, t);
    ws_timeline_set_view(t, 0, 6000);
}

static void far(WsWindow *w, WsTimeline *t)
{
    bare(w, t);
    act(w, "fit-all");
}

static void stages(WsWindow *w, WsTimeline *t)
{
    act(w, "show-stages");
}

/* The steps that the hint means, in their places. */
static void by_hand(WsWindow *w, WsTimeline *t)
{
    WsDocument *d = ws_window_document(w);
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(d));
    if (ws_edit_explicit(draft, 0))
        ws_document_commit(d, draft, NULL);
    act(w, "focus-structure");
}

static void problems(WsWindow *w, WsTimeline *t)
{
    act(w, "show-problems");
    act(w, "next-problem");
}

static void measurements(WsWindow *w, WsTimeline *t)
{
    act(w, "show-measurements");
}

#define GEMM  "projects/gemm-bf16/design.wstave"
#define TRACE "projects/gemm-bf16/measured/gemm-bf16.wtrace"
#define FA    "projects/attention-d128-full/design.wstave"
#define FAT   "projects/attention-d128-full/measured/attention-d128-full.wtrace"
#define CUBE  "projects/gemm-ascend/design.wstave"
#define HINT  "tests/designs/hint-attention.wstave"
#define BAD   "tests/designs/broken/10-unequal-loops.wstave"

static const Picture pictures[] = {
    { "window", GEMM, TRACE, 1600, 1000, 0, WS_PART_SELF, NULL },
    { "score", FA, NULL, 1300, 910, 0, WS_PART_TIMELINE, bare },
    { "afar", GEMM, NULL, 1200, 740, 0, WS_PART_TIMELINE, far },
    { "measured", FA, FAT, 1200, 640, 0, WS_PART_TIMELINE, near },
    { "queues", CUBE, NULL, 1300, 760, 0, WS_PART_TIMELINE, queues },
    { "hint", HINT, NULL, 1400, 900, 330, WS_PART_SELF, stages },
    { "hand", HINT, NULL, 1400, 900, 150, WS_PART_SELF, by_hand },
    { "histogram", "tests/designs/moves/histogram.wstave", NULL, 1300, 330, 0, WS_PART_TIMELINE,
      far },
    { "close", "tests/designs/pipe-close.wstave", NULL, 1300, 460, 0, WS_PART_TIMELINE, near },
    { "raw", "tests/designs/raw-add.wstave", NULL, 1300, 400, 0, WS_PART_TIMELINE, near },
    { "cluster", "tests/designs/cluster-allreduce.wstave", NULL, 1300, 360, 0, WS_PART_TIMELINE,
      far },
    { "problems", BAD, NULL, 1200, 800, 330, WS_PART_PROBLEMS, problems },
    { "measurements", GEMM, TRACE, 1200, 800, 400, WS_PART_MEASUREMENTS, measurements },
};

static gboolean draw(GtkApplication *application, const Picture *p, const char *folder,
                     gboolean dark, GError **error)
{
    if (p->panels && ws_settings())
        g_settings_set_int(ws_settings(), "panels-height", p->panels);
    WsWindow *w = ws_window_new(application);
    WsTimeline *t = WS_TIMELINE(ws_window_part(w, WS_PART_TIMELINE));
    g_autofree char *design = g_build_filename(WS_SOURCE_ROOT, p->design, NULL);
    g_autofree char *trace = p->trace ? g_build_filename(WS_SOURCE_ROOT, p->trace, NULL) : NULL;
    g_autoptr(GFile) file = g_file_new_for_path(design);
    g_autoptr(GFile) under = trace ? g_file_new_for_path(trace) : NULL;
    g_autofree char *name = g_strdup_printf("%s%s.png", p->name, dark ? "-dark" : "");
    g_autofree char *out = g_build_filename(folder, name, NULL);
    gtk_window_set_default_size(GTK_WINDOW(w), p->width, p->height);
    gtk_window_present(GTK_WINDOW(w));
    gboolean ok = ws_window_open(w, file) && (!under || ws_window_open_trace(w, under));
    ok = settle(GTK_WIDGET(w)) && ok;
    if (ok && p->set_up)
        p->set_up(w, t);
    ok = settle(GTK_WIDGET(w)) && ok;
    if (!ok)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: not shown", p->design);
    else
        ok = save(ws_window_part(w, p->part), out, error);
    if (ok)
        printf("%s\n", out);
    gtk_window_destroy(GTK_WINDOW(w));
    if (ws_settings())
        g_settings_reset(ws_settings(), "panels-height");
    while (g_main_context_iteration(NULL, FALSE))
        ;
    return ok;
}

int ws_pictures_run(GtkApplication *application, const char *folder)
{
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", FALSE, NULL);
    for (guint i = 0; i < 2 * G_N_ELEMENTS(pictures); i++) {
        g_autoptr(GError) error = NULL;
        gboolean dark = i >= G_N_ELEMENTS(pictures);
        ws_theme_choose(dark ? WS_CHOICE_DARK : WS_CHOICE_LIGHT);
        if (!draw(application, &pictures[i % G_N_ELEMENTS(pictures)], folder, dark, &error)) {
            fprintf(stderr, "warpstave-studio: %s\n", error->message);
            return 3;
        }
    }
    return 0;
}
