#include "ui/panels/palette_icon.h"

#include "score/palette.h"
#include "score/scene.h"
#include "ui/app/theme.h"

#define WIDTH  18
#define HEIGHT 14

typedef void (*Draw)(cairo_t *cr);

/* --- objects: lines of the colour of text, in a box of WIDTH by HEIGHT -------------------------
 */

/* Warps side by side. */
static void draw_group(cairo_t *cr)
{
    for (int i = 0; i < 4; i++) {
        cairo_move_to(cr, 1.5, 2.5 + 3 * i);
        cairo_line_to(cr, WIDTH - 1.5, 2.5 + 3 * i);
    }
    cairo_stroke(cr);
}

static void draw_grid(cairo_t *cr, double x, double w, int columns, int rows)
{
    for (int i = 0; i <= columns; i++) {
        cairo_move_to(cr, x + w * i / columns, 1.5);
        cairo_line_to(cr, x + w * i / columns, HEIGHT - 1.5);
    }
    for (int i = 0; i <= rows; i++) {
        cairo_move_to(cr, x, 1.5 + (HEIGHT - 3.0) * i / rows);
        cairo_line_to(cr, x + w, 1.5 + (HEIGHT - 3.0) * i / rows);
    }
    cairo_stroke(cr);
}

static void draw_tensor(cairo_t *cr)
{
    draw_grid(cr, 2.5, 12, 3, 3);
}

/* Stages in a row, the first one full. */
static void draw_buffer(cairo_t *cr)
{
    cairo_rectangle(cr, 1.5, 1.5, 5, HEIGHT - 3.0);
    cairo_fill(cr);
    draw_grid(cr, 1.5, 15, 3, 1);
}

static void draw_barrier(cairo_t *cr)
{
    cairo_move_to(cr, 8.5, 1);
    cairo_line_to(cr, 8.5, HEIGHT - 1);
    cairo_move_to(cr, 1, 3.5);
    cairo_line_to(cr, 8, 3.5);
    cairo_move_to(cr, 9, 10.5);
    cairo_line_to(cr, WIDTH - 1, 10.5);
    cairo_stroke(cr);
}

static void draw_pipe(cairo_t *cr)
{
    cairo_move_to(cr, 1, 3.5);
    cairo_line_to(cr, WIDTH - 1, 3.5);
    cairo_move_to(cr, 1, 10.5);
    cairo_line_to(cr, WIDTH - 1, 10.5);
    for (int i = 0; i < 2; i++) {
        cairo_move_to(cr, 4 + 7 * i, 5);
        cairo_line_to(cr, 6 + 7 * i, 7);
        cairo_line_to(cr, 4 + 7 * i, 9);
    }
    cairo_stroke(cr);
}

static void draw_value(cairo_t *cr)
{
    draw_grid(cr, 2.5, 12, 2, 1);
}

static void draw_counter(cairo_t *cr)
{
    for (int i = 0; i < 4; i++)
        cairo_rectangle(cr, 1 + 4 * i, HEIGHT - 3 - 2.5 * i, 3, 2 + 2.5 * i);
    cairo_fill(cr);
}

static const struct {
    WsNodeKind kind;
    Draw draw;
} object[] = {
    { WS_NODE_GROUP, draw_group },     { WS_NODE_TENSOR, draw_tensor },
    { WS_NODE_BUFFER, draw_buffer },   { WS_NODE_BARRIER, draw_barrier },
    { WS_NODE_PIPE, draw_pipe },       { WS_NODE_VALUE, draw_value },
    { WS_NODE_COUNTER, draw_counter },
};

/* --- steps: the bar of what they become ---------------------------------------------------------
 */

static const struct {
    WsNodeKind kind;
    WsItemKind item;
} step[] = {
    { WS_STEP_LOAD, WS_ITEM_LOAD },      { WS_STEP_PREFETCH, WS_ITEM_LOAD },
    { WS_STEP_GATHER, WS_ITEM_COPY },    { WS_STEP_COPY, WS_ITEM_COPY },
    { WS_STEP_STORE, WS_ITEM_STORE },    { WS_STEP_WRITE, WS_ITEM_SHARED },
    { WS_STEP_READ, WS_ITEM_SHARED },    { WS_STEP_TRANSPOSE, WS_ITEM_SHARED },
    { WS_STEP_MOVE, WS_ITEM_COPY },      { WS_STEP_VECTOR, WS_ITEM_MATH },
    { WS_STEP_MMA, WS_ITEM_MMA },        { WS_STEP_COMPUTE, WS_ITEM_MATH },
    { WS_STEP_WAIT, WS_ITEM_WAIT },      { WS_STEP_MMA_WAIT, WS_ITEM_WAIT },
    { WS_STEP_LOAD_WAIT, WS_ITEM_WAIT }, { WS_STEP_STORE_WAIT, WS_ITEM_WAIT },
    { WS_STEP_ACQUIRE, WS_ITEM_WAIT },   { WS_STEP_SYNC, WS_ITEM_SYNC },
    { WS_STEP_CLUSTER, WS_ITEM_SYNC },   { WS_STEP_RAW, WS_ITEM_OPAQUE },
};

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    const WsNodeKind kind = (WsNodeKind)GPOINTER_TO_UINT(data);
    const WsTheme theme = ws_theme_current();
    for (guint i = 0; i < G_N_ELEMENTS(step); i++)
        if (step[i].kind == kind)
            ws_scene_paint_sample(cr, theme, step[i].item, 1, 1, width - 2, height - 2);
    for (guint i = 0; i < G_N_ELEMENTS(object); i++) {
        if (object[i].kind != kind)
            continue;
        ws_paint_colour(cr, ws_palette(theme)->muted, 1);
        cairo_set_line_width(cr, 1);
        object[i].draw(cr);
    }
}

GtkWidget *ws_palette_icon_new(WsNodeKind kind)
{
    return ws_theme_area_new(WIDTH, HEIGHT, draw, GUINT_TO_POINTER(kind));
}
