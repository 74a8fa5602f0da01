/* A kernel of gfx950 built from an empty window by pointer and keyboard: the loop of two stages in
 * which one half of the waves moves data while the other multiplies, to "proved". Its code is that
 * of the shipped design. */
#include "../scenario/hands.h"
#include "model/findings.h"
#include "ui/timeline/timeline_private.h"

#include <string.h>

static void begin(Scenario *s)
{
    hands_begin_empty(s);
    hands_choose_field(s, "target", "gfx950");
    hands_type_field(s, "constants", "BM=256,BN=256,BK=32,NB=3");
    hands_type_field(s, "sizes", "M=4096,N=4096,K=4096");
    hands_type_field(s, "rehearse", "M=512,N=256,K=224");
    hands_type_field(s, "assume", "M % BM == 0,N % BN == 0,K % BK == 0,K >= (NB - 1)*BK");
    hands_type_field(s, "let", "kt=K/BK");
}

static void tensor(Scenario *s, const char *name, const char *shape, const char *access)
{
    hands_add(s, "tensor");
    hands_type_field(s, "name", name);
    hands_choose_field(s, "dtype", "f16");
    hands_type_field(s, "shape", shape);
    if (access)
        hands_choose_field(s, "access", access);
}

static void buffer(Scenario *s, const char *name, const char *tile)
{
    hands_add(s, "buffer");
    hands_type_field(s, "name", name);
    hands_choose_field(s, "dtype", "f16");
    hands_type_field(s, "tile", tile);
    hands_type_field(s, "stages", "NB");
}

static void value(Scenario *s, const char *name, const char *dtype, const char *tile)
{
    hands_add(s, "value");
    hands_type_field(s, "name", name);
    hands_choose_field(s, "dtype", dtype);
    hands_type_field(s, "tile", tile);
}

static void objects(Scenario *s)
{
    tensor(s, "A", "M,K", NULL);
    tensor(s, "B", "K,N", NULL);
    tensor(s, "C", "M,N", "write");
    hands_select_row(s, "tiles", 0);
    hands_type_field(s, "axes", "tm=M/BM,tn=N/BN");
    hands_choose_field(s, "launch", "single");
    hands_type_field(s, "order", "grouped(tm,8)");
    hands_type_field(s, "xcd", "8,4");
    buffer(s, "a", "BM,BK");
    buffer(s, "b", "BK,BN");
    scenario_act(s, "select-none");
    hands_settle(s);
    hands_type_field(s, "reference", "C[m,n]=sum(k<K,A[m,k]*B[k,n])");
}

static void group(Scenario *s)
{
    hands_select_row(s, "group warps", 0);
    hands_type_field(s, "name", "all");
    hands_choose_field(s, "role", "worker");
    hands_type_field(s, "warps", "8");
}

static void values(Scenario *s)
{
    hands_select_row(s, "group all", 0);
    value(s, "acc", "f32", "BM,BN");
    value(s, "fa", "f16", "BM,BK");
    value(s, "fb", "f16", "BN,BK");
}

static void load(Scenario *s, const char *tensor_name, const char *at, const char *into,
                 const char *use)
{
    hands_add(s, "load");
    hands_type_field(s, "load", tensor_name);
    hands_type_field(s, "at", at);
    hands_type_field(s, "into", into);
    hands_type_field(s, "use", use);
}

static void read_both(Scenario *s, const char *use)
{
    hands_add(s, "read");
    hands_type_field(s, "read", "fa");
    hands_type_field(s, "from", "a");
    hands_type_field(s, "use", use);
    hands_add(s, "read");
    hands_type_field(s, "read", "fb");
    hands_type_field(s, "from", "b.t");
    hands_type_field(s, "use", use);
}

static void product(Scenario *s)
{
    hands_add(s, "mma");
    hands_type_field(s, "mma", "acc");
    hands_type_field(s, "a", "fa");
    hands_type_field(s, "b", "fb");
}

static void loop(Scenario *s, const char *name, const char *count, const char *unroll)
{
    hands_add(s, "for");
    hands_type_field(s, "for", name);
    hands_type_field(s, "count", count);
    if (unroll)
        hands_type_field(s, "unroll", unroll);
}

static void load_wait(Scenario *s, const char *n)
{
    hands_add(s, "load_wait");
    hands_type_field(s, "load_wait", n);
}

static void before(Scenario *s)
{
    hands_select_row(s, "group all", 0);
    loop(s, "i", "NB-1", "full");
    load(s, "A", "tm*BM,i*BK", "a", "i");
    load(s, "B", "i*BK,tn*BN", "b", "i");
    hands_select_row(s, "for i", 0);
    hands_add(s, "compute");
    hands_type_field(s, "compute", "acc=0");
    load_wait(s, "2*(NB-2)");
}

/* A row of the palette, held by the pointer, to the lower edge of a row of the structure: the step
 * comes behind it. */
static void drag_behind(Scenario *s, const char *what, const char *row_label)
{
    WsStructure *tree = hands_structure(s);
    const guint states = hands_states(s);
    hands_select_row(s, row_label, 1);
    GtkWidget *row = ws_structure_row_widget(tree, row_label, 1);
    GtkWidget *panel = scenario_find_text(GTK_WIDGET(s->window), what);
    g_assert_nonnull(row);
    g_assert_nonnull(panel);
    hands_scroll_to(s, panel);
    scenario_drag_onto(panel, 10, 5, row, 40, gtk_widget_get_height(row) - 2);
    WAIT_FOR(hands_states(s) > states);
    hands_settle(s);
}

/* One stage moves, the other multiplies; the wait stands between them. The first one comes from the
 * palette by a double click, the second one is dragged in. */
static void stages(Scenario *s)
{
    loop(s, "k", "kt-(NB-1)", NULL);
    hands_pick(s, "stage");
    hands_type_field(s, "stage", "mem");
    hands_type_field(s, "priority", "1");
    read_both(s, "k");
    load(s, "A", "tm*BM,(k+NB-1)*BK", "a", "k+NB-1");
    load(s, "B", "(k+NB-1)*BK,tn*BN", "b", "k+NB-1");
    hands_select_row(s, "stage mem", 0);
    load_wait(s, "2*(NB-2)");
    drag_behind(s, "one stage of two skewed halves of a group", "load_wait 2*(NB - 2)");
    hands_type_field(s, "stage", "mfma");
    product(s);
}

static void after(Scenario *s)
{
    hands_select_row(s, "for k", 0);
    load_wait(s, "0");
    hands_add(s, "sync");
    loop(s, "r", "NB-1", "full");
    read_both(s, "kt-(NB-1)+r");
    product(s);
    hands_select_row(s, "for r", 0);
    hands_add(s, "write");
    hands_type_field(s, "write", "acc");
    hands_type_field(s, "to", "C");
    hands_type_field(s, "at", "tm*BM,tn*BN");
}

/* What is drawn: two staffs, products of the upper half a stage behind those of the lower one, and
 * each of them between two lines at which both meet. */
static void drawn(Scenario *s)
{
    static const char product_step[] = "groups/all/body/3/do/2/do/0";
    WsTimeline *t = hands_timeline(s);
    hands_zoom_to(s, product_step, -1, 3, 6000);
    hands_settle(s);
    const WsSceneItem *half[2];
    for (gint32 h = 0; h < 2; h++) {
        half[h] = hands_find(s, (HandsItem){ product_step, -1, 3, h, 0, FALSE });
        g_assert_nonnull(half[h]);
    }
    g_assert_cmpuint(half[0]->row, !=, half[1]->row);
    g_assert_cmpfloat(half[1]->y, >, half[0]->y + half[0]->h);
    g_assert_cmpint(half[1]->start, >=, half[0]->issued - 1);
    guint across = 0, between = 0;
    for (guint i = 0; i < t->scene->meet->len; i++) {
        const WsSceneMeet *m = &g_array_index(t->scene->meet, WsSceneMeet, i);
        across += m->y0 <= half[0]->y && m->y1 >= half[1]->y;
        between += m->at >= half[0]->issued - 1 && m->at <= half[1]->start + 1;
    }
    g_assert_cmpuint(across, >=, 4);
    g_assert_cmpuint(across, ==, t->scene->meet->len);
    g_assert_cmpuint(between, ==, 1);
    hands_shot(s, "halves-3-apart");
}

static void build(Scenario *s)
{
    begin(s);
    /* the group first: the target has no other, and without it there is nothing to draw */
    group(s);
    objects(s);
    values(s);
    before(s);
    stages(s);
    hands_shot(s, "halves-1-stages");
    after(s);
    hands_settle(s);
    hands_shot(s, "halves-2-whole");
    g_autofree char *text = hands_text(s);
    g_test_message("%s", text);
    g_assert_cmpuint(ws_document_left_out(s->document), ==, 0);
    g_assert_cmpuint(ws_findings_count(ws_document_findings(s->document), WS_SEVERITY_ERROR), ==,
                     0);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    /* drawn as it will run: the halves a stage apart, with the rounds that both meet */
    g_assert_nonnull(ws_document_predicted(s->document));
    g_assert_nonnull(strstr(ws_document_clock(s->document)->note, "Not measured"));
    drawn(s);
    hands_assert_same_amdgpu(s, "projects/gemm-gfx950/design.wstave");
}

static void add_cases(void)
{
    scenario_add_empty("halves/two-stages", build);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add_cases);
}
