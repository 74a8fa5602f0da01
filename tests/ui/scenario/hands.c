#include "hands.h"
#include "model/findings.h"
#include "seen.h"
#include "ui/gesture/gesture_private.h"

#include "ui/app/theme.h"
#include "ui/gesture/gesture.h"
#include "ui/inspector/inspector_fields.h"
#include "ui/panels/structure.h"

#include <glib/gstdio.h>
#include <string.h>

void hands_settle(Scenario *s)
{
    WAIT_FOR(!ws_document_pending(s->document));
    scenario_settle(GTK_WIDGET(s->window));
}

char *hands_text(Scenario *s)
{
    return ws_design_print(ws_document_latest(s->document));
}

WsTimeline *hands_timeline(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

void hands_begin_empty(Scenario *s)
{
    scenario_key("ctrl+n");
    hands_dialogue(s);
    scenario_key("Return");
    WAIT_FOR(ws_document_design(s->document));
    scenario_focus(GTK_WIDGET(s->window));
    hands_settle(s);
}

void hands_begin(Scenario *s, const char *path)
{
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(full, findings);
    g_assert_nonnull(design);
    ws_document_take_design(s->document, design, NULL, FALSE);
    hands_settle(s);
}

/* --- pictures of the manual ----------------------------------------------------------------------
 */

#define SHRINK 0.75

static void shoot(GtkWidget *window, const char *path)
{
    const int width = gtk_widget_get_width(window), height = gtk_widget_get_height(window);
    g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(window);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot, width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * SHRINK),
                                                          (int)(height * SHRINK));
    cairo_t *cr = cairo_create(picture);
    cairo_scale(cr, SHRINK, SHRINK);
    g_assert_nonnull(node);
    gsk_render_node_draw(node, cr);
    gsk_render_node_unref(node);
    cairo_destroy(cr);
    g_assert_cmpint(cairo_surface_write_to_png(picture, path), ==, CAIRO_STATUS_SUCCESS);
    cairo_surface_destroy(picture);
}

void hands_shot(Scenario *s, const char *name)
{
    hands_shot_of(GTK_WIDGET(s->window), name);
}

void hands_shot_as_is(Scenario *s, const char *name)
{
    const char *folder = g_getenv("WARPSTAVE_SHOTS");
    g_autofree char *path = folder ? g_strdup_printf("%s/%s-as-is.png", folder, name) : NULL;
    for (guint turn = 0; path && turn < 3; turn++)
        scenario_settle(GTK_WIDGET(s->window));
    if (path)
        shoot(GTK_WIDGET(s->window), path);
}

void hands_shot_of(GtkWidget *window, const char *name)
{
    static const WsThemeChoice theme[] = { WS_CHOICE_DARK, WS_CHOICE_LIGHT };
    const char *folder = g_getenv("WARPSTAVE_SHOTS");
    for (guint i = 0; folder && i < G_N_ELEMENTS(theme); i++) {
        g_autofree char *path = g_strdup_printf("%s/%s%s.png", folder, name, i ? "" : "-dark");
        ws_theme_choose(theme[i]);
        for (guint turn = 0; turn < 3; turn++)
            scenario_settle(window);
        shoot(window, path);
    }
}

/* --- the inspector ------------------------------------------------------------------------------
 */

static WsFields *fields(Scenario *s)
{
    return WS_FIELDS(scenario_find_type(GTK_WIDGET(s->window), "WsFields"));
}

void hands_scroll_to(Scenario *s, GtkWidget *widget)
{
    GtkWidget *scroll = gtk_widget_get_ancestor(widget, GTK_TYPE_SCROLLED_WINDOW);
    graphene_rect_t r;
    for (guint i = 0; i < 60; i++) {
        g_assert_true(gtk_widget_compute_bounds(widget, scroll, &r));
        const int high = gtk_widget_get_height(scroll);
        if (r.origin.y >= 2 && r.origin.y + r.size.height <= (float)high - 2)
            return;
        scenario_point(scroll, 20, high / 2.0);
        scenario_xdo("click %d", r.origin.y < 2 ? 4 : 5);
        scenario_settle(GTK_WIDGET(s->window));
    }
}

static GtkWidget *field(Scenario *s, const char *key)
{
    hands_settle(s);
    scenario_settle(GTK_WIDGET(s->window));
    GtkWidget *input = NULL;
    WAIT_FOR((input = ws_fields_entry(fields(s), key)));
    hands_scroll_to(s, input);
    return input;
}

/* Typing goes to the field, or it is said where to. */
static void expect_focus(Scenario *s, const char *key)
{
    GtkWidget *focus = gtk_root_get_focus(GTK_ROOT(s->window)),
              *input = ws_fields_entry(fields(s), key);
    if (focus && input && (focus == input || gtk_widget_is_ancestor(focus, input)))
        return;
    scenario_say();
    g_error("%s was clicked and has no focus", key);
}

static void expect_accepted(Scenario *s, const char *key, const char *text)
{
    hands_settle(s);
    if (ws_fields_error(fields(s), key))
        g_error("%s: %s: %s", key, text, ws_fields_error(fields(s), key));
}

void hands_type_field(Scenario *s, const char *key, const char *text)
{
    GtkWidget *input = field(s, key);
    scenario_click_widget(input, NULL);
    expect_focus(s, key);
    scenario_key("ctrl+a");
    scenario_type(text);
    expect_focus(s, key);
    if (GTK_IS_TEXT_VIEW(input))
        scenario_key("ctrl+Return");
    else
        scenario_key("Tab"); /* leaving a field takes it over */
    expect_accepted(s, key, text);
}

void hands_choose_field(Scenario *s, const char *key, const char *word)
{
    GtkWidget *drop = field(s, key);
    GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(drop)));
    guint to = 0;
    while (g_strcmp0(gtk_string_list_get_string(list, to), word))
        g_assert_cmpuint(++to, <, g_list_model_get_n_items(G_LIST_MODEL(list)));
    /* A click that still closes another popover opens none: then again, as a person would. */
    for (guint tries = 1; !scenario_find_type(drop, "GtkPopover"); tries++) {
        g_assert_cmpuint(tries, <, 6);
        if (tries > 1) {
            g_test_message("click %u on %s", tries, key);
            drop = field(s, key); /* the inspector may have been filled anew meanwhile */
        }
        scenario_click_widget(drop, NULL);
        const gint64 since = g_get_monotonic_time();
        while (!scenario_find_type(drop, "GtkPopover") &&
               g_get_monotonic_time() - since < 10 * G_USEC_PER_SEC)
            scenario_turn();
    }
    scenario_settle(GTK_WIDGET(s->window));
    scenario_key("Home"); /* the row under the pointer is selected while it is there */
    for (guint i = 0; i < to; i++)
        scenario_key("Down");
    scenario_key("Return");
    WAIT_FOR(gtk_drop_down_get_selected(GTK_DROP_DOWN(drop)) == to);
    expect_accepted(s, key, word);
}

/* --- structure and dialogues ---------------------------------------------------------------------
 */

WsStructure *hands_structure(Scenario *s)
{
    if (!scenario_find_type(GTK_WIDGET(s->window), "WsStructure"))
        scenario_key("shift+F6");
    WAIT_FOR(scenario_find_type(GTK_WIDGET(s->window), "WsStructure"));
    scenario_settle(GTK_WIDGET(s->window));
    return WS_STRUCTURE(scenario_find_type(GTK_WIDGET(s->window), "WsStructure"));
}

/* A row of the structure, scrolled into sight. */
static GtkWidget *row_in_sight(Scenario *s, const char *label, guint nth)
{
    hands_settle(s);
    GtkWidget *row = ws_structure_row_widget(hands_structure(s), label, nth);
    for (guint i = 0; !row && i < 40; i++) {
        scenario_point(GTK_WIDGET(hands_structure(s)), 40, 60);
        scenario_xdo("click %d", i < 20 ? 5 : 4);
        scenario_settle(GTK_WIDGET(s->window));
        row = ws_structure_row_widget(hands_structure(s), label, nth);
    }
    if (!row)
        g_error("no row %s (%u)", label, nth);
    hands_scroll_to(s, row);
    scenario_settle(GTK_WIDGET(s->window)); /* rows are made anew when the design changes */
    return ws_structure_row_widget(hands_structure(s), label, nth);
}

/* The list may still scroll to what was selected before: looked at, and clicked again. */
static void click_row(Scenario *s, const char *label, guint nth, const char *modifier)
{
    for (guint tries = 0; tries < 4; tries++) {
        GtkWidget *row = row_in_sight(s, label, nth);
        scenario_click(row, 12, gtk_widget_get_height(row) / 2.0, 1, modifier);
        hands_settle(s);
        row = ws_structure_row_widget(hands_structure(s), label, nth);
        GtkWidget *item = row ? gtk_widget_get_parent(row) : NULL;
        if (item && gtk_widget_get_state_flags(item) & GTK_STATE_FLAG_SELECTED)
            return;
    }
    g_error("%s (%u) is not selected by clicks", label, nth);
}

void hands_select_row(Scenario *s, const char *label, guint nth)
{
    click_row(s, label, nth, NULL);
}

void hands_add_row(Scenario *s, const char *label, guint nth)
{
    click_row(s, label, nth, "ctrl");
}

void hands_select(Scenario *s, const char *step, gboolean add)
{
    WsFocus focus = { step, G_MAXUINT, -1, -1 };
    ws_document_select(s->document, &focus, add ? WS_SELECT_ADD : WS_SELECT_REPLACE, !add);
    scenario_settle(GTK_WIDGET(s->window));
}

GtkWindow *hands_dialogue(Scenario *s)
{
    GListModel *all = gtk_window_get_toplevels();
    WAIT_FOR(g_list_model_get_n_items(all) >= 2);
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkWindow) each = g_list_model_get_item(all, i);
        if (each == GTK_WINDOW(s->window) || !gtk_window_get_transient_for(each))
            continue;
        WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(each)));
        scenario_focus(GTK_WIDGET(each));
        return each;
    }
    g_assert_not_reached();
}

guint hands_states(Scenario *s)
{
    return ws_history_now(ws_document_history(s->document)) + 1;
}

static gboolean is_palette_row(GtkWidget *w, gconstpointer what)
{
    GtkWidget *row = gtk_widget_get_ancestor(w, GTK_TYPE_LIST_BOX_ROW);
    return row && GTK_IS_LABEL(w) && gtk_widget_get_mapped(w) &&
           !strcmp(gtk_label_get_text(GTK_LABEL(w)), what);
}

static gint64 double_clicked; /* when the last one ended */

/* Two double clicks at one place within the double-click time would be presses three and four of
 * one click, which activate nothing. */
static void wait_double_click(void)
{
    int ms;
    g_object_get(gtk_settings_get_default(), "gtk-double-click-time", &ms, NULL);
    while (g_get_monotonic_time() - double_clicked < (gint64)ms * 1000)
        scenario_turn();
}

void hands_pick(Scenario *s, const char *what)
{
    hands_settle(s);
    const guint states = hands_states(s);
    GtkWidget *row = scenario_find(GTK_WIDGET(s->window), is_palette_row, what);
    if (!row)
        g_error("the palette has no %s", what);
    /* A row that is half in sight is scrolled by the first click, away from under the second: then
     * again, as a person would. */
    for (guint tries = 1; hands_states(s) == states; tries++) {
        g_assert_cmpuint(tries, <, 6);
        if (tries > 1)
            g_test_message("double click %u on %s", tries, what);
        hands_scroll_to(s, row);
        wait_double_click();
        scenario_press(row, gtk_widget_get_width(row) / 2.0, gtk_widget_get_height(row) / 2.0,
                       "click --repeat 2 --delay 40 1");
        double_clicked = g_get_monotonic_time();
        for (gint64 since = g_get_monotonic_time();
             hands_states(s) == states && g_get_monotonic_time() - since < 2 * G_USEC_PER_SEC;)
            scenario_turn();
    }
    hands_settle(s);
}

void hands_add(Scenario *s, const char *what)
{
    hands_settle(s);
    const guint states = hands_states(s);
    g_test_message("add %s", what);
    scenario_act(s, "add");
    hands_dialogue(s);
    scenario_type(what);
    scenario_key("Return");
    WAIT_FOR(hands_states(s) > states);
    scenario_focus(GTK_WIDGET(s->window));
    hands_settle(s);
}

/* --- the score
 * ------------------------------------------------------------------------------------
 */

const WsSceneItem *hands_find(Scenario *s, HandsItem what)
{
    WsTimeline *t = hands_timeline(s);
    const WsSceneItem *best = NULL;
    WAIT_FOR(t->settle == 0); /* a slow scene leaves things out until the view stands still */
    ws_timeline_sync(t);      /* an answer may have come since the last frame */
    g_assert_nonnull(t->scene);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        const double x = item->x + ws_timeline_offset(t);
        if (g_strcmp0(item->step, what.step) || (what.tile >= 0 && item->tile != what.tile) ||
            (what.round >= 0 && item->round != what.round) ||
            (what.agent >= 0 && item->agent != (guint)what.agent) || x <= what.from ||
            x + item->w >= t->view.width - 20 || item->shape == WS_SHAPE_DENSE ||
            g_array_index(t->scene->row, WsSceneRow, item->row).kind != WS_ROW_CONTROL)
            continue;
        if (!what.widest)
            return item;
        if (!best || item->w > best->w)
            best = item;
    }
    return best;
}

void hands_place(Scenario *s, const WsSceneItem *item, double at, double *x, double *y)
{
    WsTimeline *t = hands_timeline(s);
    *x = item->x + item->w * at;
    *y = item->y + item->h / 2 - t->view.at.y;
    if (ws_scene_narrow(item)) { /* where it is hit */
        const WsSceneZone *z = ws_scene_zone(t->scene, item);
        *x = at > 0 && at < 1 ? CLAMP(*x, z->x0 + 0.5, MAX(z->port - 0.5, z->x0 + 0.5)) : *x;
        *y = (z->y0 + z->y1) / 2 - t->view.at.y;
    }
    *x += ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
}

void hands_zoom_to(Scenario *s, const char *step, gint32 tile, gint32 round, double cycles)
{
    WsTimeline *t = hands_timeline(s);
    WsTrace *trace = ws_document_predicted(s->document);
    for (guint i = 0; i < trace->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(trace->record, WsTraceRecord, i);
        if (g_strcmp0(trace->op_id->pdata[r->op], step) || (round >= 0 && r->round != round) ||
            (tile >= 0 && r->tile != tile))
            continue;
        ws_timeline_set_view(t, (double)r->start - cycles / 2, (double)r->start + cycles / 2);
        break;
    }
    scenario_settle(s->timeline);
}

gboolean hands_find_pair(Scenario *s, const char *first, const char *second, double cycles,
                         const WsSceneItem **from, const WsSceneItem **to)
{
    hands_settle(s); /* an answer that comes later would take the trace away */
    *from = *to = NULL;
    g_assert_nonnull(ws_document_predicted(s->document));
    g_autoptr(WsTrace) trace = ws_trace_ref(ws_document_predicted(s->document));
    for (guint i = 0, tries = 0; i < trace->record->len && (!*from || !*to) && tries < 40; i++) {
        const WsTraceRecord *r = &g_array_index(trace->record, WsTraceRecord, i);
        if (g_strcmp0(trace->op_id->pdata[r->op], first))
            continue;
        ws_timeline_set_view(hands_timeline(s), (double)r->start - cycles / 2,
                             (double)r->start + cycles / 2);
        scenario_settle(s->timeline);
        *from = hands_find(s, (HandsItem){ first, -1, -1, -1, 0, TRUE });
        *to = hands_find(s, (HandsItem){ second, -1, -1, -1, 0, TRUE });
        tries++;
    }
    return *from && *to;
}

void hands_press(Scenario *s, double x, double y)
{
    scenario_press(hands_timeline(s)->canvas, x, y, "mousedown 1");
}

void hands_glide(Scenario *s, double x0, double y0, double x1, double y1)
{
    for (int i = 1; i <= 8; i++) {
        int sx, sy;
        scenario_on_screen(hands_timeline(s)->canvas, x0 + (x1 - x0) * i / 8,
                           y0 + (y1 - y0) * i / 8, &sx, &sy);
        scenario_xdo("mousemove %d %d", sx, sy);
    }
    hands_settle(s);
}

void hands_let_go(Scenario *s)
{
    scenario_xdo("mouseup 1");
    hands_settle(s);
}

void hands_draw_edge(Scenario *s, const WsSceneItem *from, const WsSceneItem *to)
{
    double x0, y0, x1, y1;
    hands_place(s, to, 0.5, &x1, &y1);
    ws_gesture_port(hands_timeline(s), from, &x0, &y0);
    /* A narrow step has its port behind it. */
    x0 += from->w >= 18 ? -2 : 1.5;
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1, y1);
    g_assert_true(seen_gesture_active(hands_timeline(s)));
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
}

/* --- code
 * -----------------------------------------------------------------------------------------
 */

/* Code of a form without comments, which begin with that character; NULL: not in this build. */
static char *code_of(const char *path, const char *form, const char *comment)
{
    g_autofree char *out = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) p =
        g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, WS_BUILD_ROOT "/bin/warpstave",
                         "generate", path, "--as", form, NULL);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_communicate_utf8(p, NULL, NULL, &out, NULL, &error));
    g_assert_no_error(error);
    if (!g_subprocess_get_successful(p))
        return NULL;
    GString *bare = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(out, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        line[i][strcspn(line[i], comment)] = '\0';
        g_strchomp(line[i]);
        if (*line[i])
            g_string_append_printf(bare, "%s\n", line[i]);
    }
    return g_string_free(bare, FALSE);
}

char *hands_ptx_of(const char *path)
{
    return code_of(path, "ptx", "/");
}

static void same_code(Scenario *s, const char *reference, const char *form, const char *comment)
{
    g_autofree char *folder = g_dir_make_tmp("hands-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "built.wstave", NULL);
    g_autofree char *shipped = g_build_filename(WS_SOURCE_ROOT, reference, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_assert_true(ws_document_save(s->document, file, NULL));
    g_autofree char *wanted = code_of(shipped, form, comment);
    g_autofree char *made = code_of(path, form, comment);
    g_unlink(path);
    g_rmdir(folder);
    if (!wanted) {
        g_test_skip("built without code generation: the code is not compared");
        return;
    }
    g_assert_nonnull(made);
    g_assert_cmpuint(strlen(made), >, 20000);
    g_assert_cmpstr(made, ==, wanted);
}

void hands_assert_same_ptx(Scenario *s, const char *reference)
{
    same_code(s, reference, "ptx", "/");
}

void hands_assert_same_amdgpu(Scenario *s, const char *reference)
{
    same_code(s, reference, "amdgpu", ";");
}
