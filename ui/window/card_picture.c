#include "ui/window/card_picture.h"

#include "model/design.h"
#include "model/findings.h"
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/document/answers.h"

#include <math.h>
#include <string.h>

#define ROUNDS 3    /* that a picture shows */
#define SHRINK 0.62 /* of the score's own size */

typedef struct {
    GtkPicture *picture;
    char *design;
} Wanted;

struct WsCardQueue {
    GQueue wanted; /* Wanted */
    GCancellable *cancel;
    gboolean drawing;
};

/* --- in the thread ------------------------------------------------------------------------------
 */

/* From where to where: some rounds in the middle of the run. */
static void middle(const WsProgram *p, WsTrace *t, WsSceneOptions *o)
{
    g_autoptr(GArray) round = ws_score_rounds(p, t, 0, NULL);
    const guint at = round ? round->len / 2 : 0;
    if (round && at + ROUNDS < round->len) {
        o->from = g_array_index(round, WsScoreRound, at).from;
        o->to = g_array_index(round, WsScoreRound, at + ROUNDS).from;
    } else {
        o->from = 0;
        o->to = t->cycles;
    }
    o->to = MAX(o->to, o->from + 1);
}

static GdkTexture *paint(const WsProgram *p, WsTrace *t, WsTheme theme, int scale)
{
    WsSceneOptions o = { .width = WS_CARD_WIDTH / SHRINK,
                         .bare = TRUE,
                         .hasty = TRUE,
                         .no_tips = TRUE,
                         .no_units = TRUE,
                         .no_edges = TRUE };
    middle(p, t, &o);
    g_autoptr(WsScene) scene = ws_scene_new(p, t, NULL, &o);
    const int width = WS_CARD_WIDTH * scale, height = WS_CARD_HEIGHT * scale;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    cairo_t *cr = cairo_create(image);
    ws_paint_colour(cr, ws_palette(theme)->page, 1);
    cairo_paint(cr);
    cairo_scale(cr, scale * SHRINK, scale * SHRINK);
    cairo_translate(cr, 0, 4 - scene->top);
    ws_scene_paint_layer(scene, cr, theme, WS_LAYER_STAFFS, o.width, NULL);
    ws_scene_paint_layer(scene, cr, theme, WS_LAYER_ITEMS, o.width, NULL);
    cairo_destroy(cr);
    cairo_surface_flush(image);
    const gsize stride = (gsize)cairo_image_surface_get_stride(image);
    g_autoptr(GBytes) bytes =
        g_bytes_new(cairo_image_surface_get_data(image), stride * (gsize)height);
    cairo_surface_destroy(image);
    return gdk_memory_texture_new(width, height, GDK_MEMORY_DEFAULT, bytes, stride);
}

static GdkTexture *draw(const char *file, WsTheme theme, int scale)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *text = NULL;
    if (!g_file_get_contents(file, &text, NULL, NULL))
        return NULL;
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_autoptr(WsMachine) machine =
        design ? ws_machine_for(NULL, ws_node_text(ws_design_root(design), WS_F_target), NULL)
               : NULL;
    if (!machine)
        return NULL;
    g_autoptr(WsAnswers) answers =
        design ? ws_answers_make(design, NULL, machine, (WsAnswerAsk)0, NULL) : NULL;
    return answers && answers->predicted && answers->program
               ? paint(answers->program, answers->predicted, theme, scale)
               : NULL;
}

GdkTexture *ws_card_draw(const char *design, int scale)
{
    return draw(design, ws_theme_current(), scale);
}

/* --- the queue ----------------------------------------------------------------------------------
 */

typedef struct {
    char *design;
    WsTheme theme;
    int scale;
} Work;

static void free_work(gpointer data)
{
    g_free(((Work *)data)->design);
    g_free(data);
}

static void run(GTask *task, gpointer source, gpointer data, GCancellable *cancel)
{
    const Work *w = data;
    g_task_return_pointer(task, draw(w->design, w->theme, w->scale), g_object_unref);
}

static void free_wanted(gpointer data)
{
    Wanted *w = data;
    g_object_unref(w->picture);
    g_free(w->design);
    g_free(w);
}

static void next(WsCardQueue *q);

static void drawn(GObject *source, GAsyncResult *result, gpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GdkTexture) texture = g_task_propagate_pointer(G_TASK(result), &error);
    if (error) /* cancelled: the queue is gone */
        return;
    WsCardQueue *q = data;
    Wanted *w = g_queue_pop_head(&q->wanted);
    if (texture)
        gtk_picture_set_paintable(w->picture, GDK_PAINTABLE(texture));
    free_wanted(w);
    q->drawing = FALSE;
    next(q);
}

static void next(WsCardQueue *q)
{
    const Wanted *w = g_queue_peek_head(&q->wanted);
    if (!w || q->drawing)
        return;
    q->drawing = TRUE;
    Work *work = g_new(Work, 1);
    *work = (Work){ g_strdup(w->design), ws_theme_current(),
                    gtk_widget_get_scale_factor(GTK_WIDGET(w->picture)) };
    g_autoptr(GTask) task = g_task_new(NULL, q->cancel, drawn, q);
    g_task_set_task_data(task, work, free_work);
    g_task_run_in_thread(task, run);
}

WsCardQueue *ws_card_queue_new(void)
{
    WsCardQueue *q = g_new0(WsCardQueue, 1);
    g_queue_init(&q->wanted);
    q->cancel = g_cancellable_new();
    return q;
}

void ws_card_queue_free(WsCardQueue *q)
{
    g_cancellable_cancel(q->cancel);
    g_object_unref(q->cancel);
    g_queue_clear_full(&q->wanted, free_wanted);
    g_free(q);
}

void ws_card_queue_add(WsCardQueue *q, GtkPicture *picture, const char *design)
{
    Wanted *w = g_new(Wanted, 1);
    *w = (Wanted){ g_object_ref(picture), g_strdup(design) };
    g_queue_push_tail(&q->wanted, w);
    next(q);
}
