/* The GEMM built from an empty window by pointer and keyboard: no file is opened. Its PTX is that
 * of the shipped design. */
#include "scenario.h"

#include "ui/gesture.h"
#include "ui/inspector_fields.h"
#include "ui/structure.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static WsTimeline *timeline(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

static void settle(Scenario *s)
{
    WAIT_FOR(!ws_document_pending(s->document));
    scenario_settle(GTK_WIDGET(s->window));
}

static void shot(Scenario *s, const char *name)
{
    const char *folder = g_getenv("WARPSTAVE_SHOTS");
    if (!folder)
        return;
    scenario_settle(GTK_WIDGET(s->window));
    cairo_surface_t *picture = scenario_picture(GTK_WIDGET(s->window));
    g_autofree char *path = g_strdup_printf("%s/%s.png", folder, name);
    cairo_surface_write_to_png(picture, path);
    cairo_surface_destroy(picture);
}

/* --- the inspector, by pointer and keys
 * ------------------------------------------------------------ */

static WsFields *fields(Scenario *s)
{
    return WS_FIELDS(scenario_find_type(GTK_WIDGET(s->window), "WsFields"));
}

/* The wheel until the widget is in sight. */
static void scroll_to(Scenario *s, GtkWidget *widget)
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
    settle(s);
    scenario_settle(GTK_WIDGET(s->window));
    GtkWidget *input = ws_fields_entry(fields(s), key);
    if (!input)
        g_error("no field %s", key);
    scroll_to(s, input);
    return input;
}

static void expect_accepted(Scenario *s, const char *key, const char *text)
{
    settle(s);
    if (ws_fields_error(fields(s), key))
        g_error("%s: %s: %s", key, text, ws_fields_error(fields(s), key));
}

static void type_field(Scenario *s, const char *key, const char *text)
{
    GtkWidget *input = field(s, key);
    scenario_click_widget(input, NULL);
    scenario_key("ctrl+a");
    scenario_type(text);
    if (GTK_IS_TEXT_VIEW(input))
        scenario_key("ctrl+Return");
    else
        scenario_key("Tab"); /* leaving a field takes it over */
    expect_accepted(s, key, text);
}

static void choose_field(Scenario *s, const char *key, const char *word)
{
    GtkWidget *drop = field(s, key);
    GtkStringList *list = GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(drop)));
    guint to = 0;
    while (g_strcmp0(gtk_string_list_get_string(list, to), word))
        g_assert_cmpuint(++to, <, g_list_model_get_n_items(G_LIST_MODEL(list)));
    scenario_click_widget(drop, NULL);
    scenario_settle(GTK_WIDGET(s->window));
    scenario_key("Home"); /* the row under the pointer is selected while it is there */
    for (guint i = 0; i < to; i++)
        scenario_key("Down");
    scenario_key("Return");
    WAIT_FOR(gtk_drop_down_get_selected(GTK_DROP_DOWN(drop)) == to);
    expect_accepted(s, key, word);
}

/* --- structure and palette
 * ------------------------------------------------------------------------- */

static WsStructure *structure(Scenario *s)
{
    return WS_STRUCTURE(scenario_find_type(GTK_WIDGET(s->window), "WsStructure"));
}

static void select_row(Scenario *s, const char *label, guint nth)
{
    settle(s);
    GtkWidget *row = ws_structure_row_widget(structure(s), label, nth);
    for (guint i = 0; !row && i < 40; i++) { /* out of sight */
        scenario_point(GTK_WIDGET(structure(s)), 40, 60);
        scenario_xdo("click %d", i < 20 ? 5 : 4);
        scenario_settle(GTK_WIDGET(s->window));
        row = ws_structure_row_widget(structure(s), label, nth);
    }
    if (!row)
        g_error("no row %s (%u)", label, nth);
    scroll_to(s, row);
    scenario_click(row, 12, gtk_widget_get_height(row) / 2.0, 1, NULL);
    settle(s);
}

static GtkWindow *dialogue(Scenario *s)
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

/* Insert, the name, Return: it stands behind the selection and is selected. */
static void add(Scenario *s, const char *what)
{
    settle(s);
    const guint states = ws_history_n(ws_document_history(s->document));
    g_test_message("add %s", what);
    scenario_act(s, "add");
    dialogue(s);
    scenario_type(what);
    shot(s, "dialog");
    scenario_key("Return");
    WAIT_FOR(ws_history_n(ws_document_history(s->document)) > states);
    scenario_focus(GTK_WIDGET(s->window));
    settle(s);
}

static void tensor(Scenario *s, const char *name, const char *shape, const char *access)
{
    add(s, "tensor");
    type_field(s, "name", name);
    type_field(s, "shape", shape);
    if (access)
        choose_field(s, "access", access);
}

static void buffer(Scenario *s, const char *name, const char *tile, const char *stages,
                   const char *array)
{
    add(s, "buffer");
    type_field(s, "name", name);
    type_field(s, "tile", tile);
    type_field(s, "stages", stages);
    if (array)
        type_field(s, "array", array);
}

/* --- edges on the score
 * ------------------------------------------------------------------------------ */

static const WsSceneItem *item_of(Scenario *s, const char *step, double from)
{
    WsTimeline *t = timeline(s);
    const WsSceneItem *best = NULL;
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        const double x = item->x + ws_timeline_offset(t);
        if (!g_strcmp0(item->step, step) && x > from && x + item->w < t->view.width - 10 &&
            item->w >= 1 &&
            g_array_index(t->scene->row, WsSceneRow, item->row).kind == WS_ROW_CONTROL &&
            (!best || item->w > best->w))
            best = item;
    }
    return best;
}

/* Zooms to an execution of `first` and drags from the end of it to `second`. */
static void edge(Scenario *s, const char *first, const char *second, double cycles)
{
    WsTimeline *t = timeline(s);
    WsTrace *trace = ws_document_predicted(s->document);
    settle(s);
    const WsSceneItem *from = NULL, *to = NULL;
    for (guint i = 0, tries = 0; i < trace->record->len && (!from || !to) && tries < 40; i++) {
        const WsTraceRecord *r = &g_array_index(trace->record, WsTraceRecord, i);
        if (g_strcmp0(trace->op_id->pdata[r->op], first))
            continue;
        ws_timeline_set_view(t, (double)r->start - cycles / 2, (double)r->start + cycles / 2);
        scenario_settle(s->timeline);
        from = item_of(s, first, 0);
        to = item_of(s, second, 0);
        tries++;
    }
    if (!from || !to)
        g_error("%s%s is not drawn", from ? "" : first, to ? "" : second);
    const guint states = ws_history_n(ws_document_history(s->document));
    double x0 = from->x + from->w + ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
    double y0 = from->y + from->h / 2 - t->view.at.y;
    double x1 = to->x + to->w / 2 + ws_timeline_offset(t) + WS_TIMELINE_GUTTER;
    double y1 = to->y + to->h / 2 - t->view.at.y;
    int sx, sy;
    scenario_on_screen(t->canvas, x0 - (from->w >= 18 ? 2 : 0.4), y0, &sx, &sy);
    /* A narrow step has its port just behind it. */
    if (from->w < 18)
        scenario_on_screen(t->canvas, x0 + 1.5, y0, &sx, &sy);
    scenario_xdo("mousemove %d %d mousedown 1", sx, sy);
    for (int i = 1; i <= 8; i++) {
        scenario_on_screen(t->canvas, x0 + (x1 - x0) * i / 8, y0 + (y1 - y0) * i / 8, &sx, &sy);
        scenario_xdo("mousemove %d %d", sx, sy);
    }
    settle(s);
    g_assert_true(ws_gesture_active(t));
    g_test_message("%s -> %s: %s", first, second, ws_gesture_words(t));
    scenario_xdo("mouseup 1");
    settle(s);
    g_assert_cmpuint(ws_history_n(ws_document_history(s->document)), ==, states + 1);
}

/* --- PTX
 * -----------------------------------------------------------------------------------------------
 */

static char *ptx_of(const char *path)
{
    g_autofree char *out = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) p =
        g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, WS_BUILD_ROOT "/bin/warpstave",
                         "generate", path, "--as", "ptx", NULL);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_communicate_utf8(p, NULL, NULL, &out, NULL, &error));
    g_assert_no_error(error);
    if (!g_subprocess_get_successful(p))
        return NULL;
    GString *bare = g_string_new(NULL); /* without comments: they hold ids and the design's name */
    g_auto(GStrv) line = g_strsplit(out, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        line[i][strcspn(line[i], "/")] = '\0';
        g_strchomp(line[i]);
        if (*line[i])
            g_string_append_printf(bare, "%s\n", line[i]);
    }
    return g_string_free(bare, FALSE);
}

static void begin_empty(Scenario *s)
{
    scenario_key("ctrl+n");
    dialogue(s);
    scenario_key("Return");
    WAIT_FOR(ws_document_design(s->document));
    scenario_focus(GTK_WIDGET(s->window));
    settle(s);
    type_field(s, "constants", "BM=128,BN=256,BK=64,WM=64,STAGES=4,SLAB=64");
    type_field(s, "sizes", "M=8192,N=8192,K=8192");
    type_field(s, "rehearse", "M=320,N=512,K=320");
    type_field(s, "assume", "K>=1");
}

static void build_objects(Scenario *s)
{
    tensor(s, "A", "M,K", NULL);
    tensor(s, "B", "N,K", NULL);
    tensor(s, "C", "M,N", "write");
    select_row(s, "tiles", 0);
    type_field(s, "axes", "tm=cdiv(M,BM),tn=cdiv(N,BN)");
    type_field(s, "order", "grouped(tm,16)");
    buffer(s, "a", "BM,BK", "STAGES", NULL);
    buffer(s, "b", "BN,BK", "STAGES", NULL);
    buffer(s, "c", "WM,SLAB", "2", "2");
    scenario_act(s, "select-none");
    settle(s);
    type_field(s, "reference", "C[m,n]=sum(k<K,A[m,k]*B[n,k])");
}

static void build_load(Scenario *s)
{
    select_row(s, "group warps", 0);
    type_field(s, "name", "load");
    choose_field(s, "role", "producer");
    add(s, "persistent");
    add(s, "for");
    type_field(s, "for", "k");
    type_field(s, "count", "cdiv(K,BK)");
    add(s, "load");
    type_field(s, "load", "A");
    type_field(s, "at", "tm*BM,k*BK");
    type_field(s, "into", "a");
    add(s, "load");
    type_field(s, "load", "B");
    type_field(s, "at", "tn*BN,k*BK");
    type_field(s, "into", "b");
}

static void build_mma(Scenario *s)
{
    add(s, "group");
    type_field(s, "name", "mma");
    choose_field(s, "role", "consumer");
    type_field(s, "replicate", "2");
    add(s, "value");
    type_field(s, "name", "acc");
    type_field(s, "tile", "WM,BN");
    select_row(s, "group mma", 0);
    add(s, "persistent");
    add(s, "for");
    type_field(s, "for", "k");
    type_field(s, "count", "cdiv(K,BK)");
    type_field(s, "split", "1");
    add(s, "mma");
    type_field(s, "a", "a.rows(replica*WM,WM)");
    type_field(s, "b", "b");
    type_field(s, "first", "k==0");
    type_field(s, "use", "k.total");
    add(s, "mma_wait");
    type_field(s, "mma_wait", "1");
}

static void build_epilogue(Scenario *s)
{
    select_row(s, "for k", 1);
    add(s, "mma_wait");
    add(s, "for");
    type_field(s, "for", "s");
    type_field(s, "count", "BN/SLAB");
    type_field(s, "unroll", "full");
    add(s, "store_wait");
    type_field(s, "store_wait", "1");
    add(s, "sync");
    add(s, "write");
    type_field(s, "write", "acc.cols(s*SLAB,SLAB)");
    type_field(s, "to", "c[replica]");
    type_field(s, "use", "s.total");
    add(s, "sync");
    add(s, "store");
    type_field(s, "at", "tm*BM+replica*WM,tn*BN+s*SLAB");
    type_field(s, "from", "c[replica]");
    type_field(s, "use", "s.total");
    select_row(s, "for tile", 1);
    add(s, "store_wait");
    select_row(s, "group load", 0);
    type_field(s, "registers", "40");
    select_row(s, "group mma", 0);
    type_field(s, "registers", "232");
}

static void build_gemm(Scenario *s)
{
    begin_empty(s);
    shot(s, "build-1-empty");
    build_objects(s);
    shot(s, "build-2-objects");
    build_load(s);
    build_mma(s);
    build_epilogue(s);
    if (g_getenv("WARPSTAVE_SHOTS")) {
        g_autofree char *half = ws_design_print(ws_document_latest(s->document));
        g_file_set_contents("/tmp/cmpshots/half.wstave", half, -1, NULL);
    }
    g_assert_nonnull(ws_document_predicted(s->document)); /* drawn, though nothing is joined yet */
    shot(s, "build-3-steps");
    edge(s, "groups/load/body/0/do/0/do/0", "groups/mma/body/0/do/0/do/0", 1500);
    edge(s, "groups/load/body/0/do/0/do/1", "groups/mma/body/0/do/0/do/1", 1500);
    shot(s, "build-4-filled");
    edge(s, "groups/mma/body/0/do/0/do/2", "groups/load/body/0/do/0/do/0", 1500);
    edge(s, "groups/mma/body/0/do/1", "groups/load/body/0/do/0/do/1", 4000);
    shot(s, "build-5-whole");
    g_autofree char *text = ws_design_print(ws_document_latest(s->document));
    g_test_message("%s", text);
    g_assert_cmpuint(ws_document_left_out(s->document), ==, 0);
    g_assert_cmpuint(ws_findings_count(ws_document_findings(s->document), WS_SEVERITY_ERROR), ==,
                     0);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "built.wstave", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_assert_true(ws_document_save(s->document, file, NULL));
    g_autofree char *shipped =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autofree char *built_ptx = ptx_of(path), *shipped_ptx = ptx_of(shipped);
    g_unlink(path);
    if (!shipped_ptx) {
        g_test_skip("built without code generation: the PTX is not compared");
        return;
    }
    g_assert_nonnull(built_ptx);
    g_assert_cmpuint(strlen(built_ptx), >, 20000);
    g_assert_cmpstr(built_ptx, ==, shipped_ptx);
}

static void add_cases(void)
{
    scenario_add_empty("build/gemm", build_gemm);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add_cases);
}
