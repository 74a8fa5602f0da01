/* The GEMM built from an empty window by pointer and keyboard: no file is opened. Its PTX is that
 * of the shipped design. */
#include "model/findings.h"
#include "scenario/hands.h"
#include "scenario/seen.h"
#include "ui/gesture/gesture.h"

#include <string.h>

static void tensor(Scenario *s, const char *name, const char *shape, const char *access)
{
    hands_add(s, "tensor");
    hands_type_field(s, "name", name);
    hands_type_field(s, "shape", shape);
    if (access)
        hands_choose_field(s, "access", access);
}

static void buffer(Scenario *s, const char *name, const char *tile, const char *stages,
                   const char *array)
{
    hands_add(s, "buffer");
    hands_type_field(s, "name", name);
    hands_type_field(s, "tile", tile);
    hands_type_field(s, "stages", stages);
    if (array)
        hands_type_field(s, "array", array);
}

/* --- edges on the score
 * ------------------------------------------------------------------------------ */

/* Zooms to an execution of `first` and drags from the end of it to `second`. */
static void edge(Scenario *s, const char *first, const char *second, double cycles,
                 const char *picture)
{
    const WsSceneItem *from = hands_find(s, (HandsItem){ first, -1, -1, -1, 0, TRUE }),
                      *to = hands_find(s, (HandsItem){ second, -1, -1, -1, 0, TRUE });
    if ((!from || !to) && !hands_find_pair(s, first, second, cycles, &from, &to))
        g_error("%s and %s are not drawn together", first, second);
    const guint states = hands_states(s);
    hands_draw_edge(s, from, to);
    if (picture)
        hands_shot(s, picture);
    g_autofree char *words = g_strdup(seen_gesture_words(hands_timeline(s)));
    hands_let_go(s);
    if (hands_states(s) != states + 1)
        g_error("no edge from %s to %s; held there it said: %s", first, second, words);
}

static void begin_empty(Scenario *s)
{
    hands_begin_empty(s);
    hands_type_field(s, "constants", "BM=128,BN=256,BK=64,WM=64,STAGES=4,SLAB=64");
    hands_type_field(s, "sizes", "M=8192,N=8192,K=8192");
    hands_type_field(s, "rehearse", "M=320,N=512,K=320");
    hands_type_field(s, "assume", "K>=1");
}

static void build_objects(Scenario *s)
{
    tensor(s, "A", "M,K", NULL);
    tensor(s, "B", "N,K", NULL);
    tensor(s, "C", "M,N", "write");
    hands_select_row(s, "tiles", 0);
    hands_type_field(s, "axes", "tm=cdiv(M,BM),tn=cdiv(N,BN)");
    hands_type_field(s, "order", "grouped(tm,16)");
    buffer(s, "a", "BM,BK", "STAGES", NULL);
    buffer(s, "b", "BN,BK", "STAGES", NULL);
    buffer(s, "c", "WM,SLAB", "2", "2");
    scenario_act(s, "select-none");
    hands_settle(s);
    hands_type_field(s, "reference", "C[m,n]=sum(k<K,A[m,k]*B[n,k])");
}

static void build_loops(Scenario *s)
{
    hands_add(s, "persistent");
    hands_add(s, "for");
    hands_type_field(s, "for", "k");
    hands_type_field(s, "count", "cdiv(K,BK)");
}

static void build_load(Scenario *s)
{
    hands_select_row(s, "group warps", 0);
    hands_type_field(s, "name", "load");
    hands_choose_field(s, "role", "producer");
    build_loops(s);
    /* What is loaded, from where and into which buffer follows from tiles and loop. */
    hands_add(s, "load");
    hands_add(s, "load");
    g_autofree char *text = hands_text(s);
    g_test_message("%s", text);
    g_assert_nonnull(
        strstr(text, "\"load\": \"A\", \"at\": [\"tm*BM\", \"k*BK\"], \"into\": \"a\""));
    g_assert_nonnull(
        strstr(text, "\"load\": \"B\", \"at\": [\"tn*BN\", \"k*BK\"], \"into\": \"b\""));
}

static void build_mma(Scenario *s)
{
    hands_add(s, "group");
    hands_type_field(s, "name", "mma");
    hands_choose_field(s, "role", "consumer");
    hands_type_field(s, "replicate", "2");
    hands_add(s, "value");
    hands_type_field(s, "name", "acc");
    hands_type_field(s, "tile", "WM,BN");
    hands_select_row(s, "group mma", 0);
    build_loops(s);
    hands_type_field(s, "split", "1");
    hands_add(s, "mma");
    hands_type_field(s, "a", "a.rows(replica*WM,WM)");
    hands_type_field(s, "b", "b");
    g_autofree char *text = hands_text(s);
    g_assert_nonnull(strstr(text, "\"first\": \"k == 0\"")); /* guessed */
    hands_type_field(s, "use", "k.total");
    hands_add(s, "mma_wait");
    hands_type_field(s, "mma_wait", "1");
}

static void build_epilogue(Scenario *s)
{
    hands_select_row(s, "for k", 1);
    hands_add(s, "mma_wait");
    hands_add(s, "for");
    hands_type_field(s, "for", "s");
    hands_type_field(s, "count", "BN/SLAB");
    hands_type_field(s, "unroll", "full");
    hands_add(s, "store_wait");
    hands_type_field(s, "store_wait", "1");
    hands_add(s, "sync");
    hands_add(s, "write");
    hands_type_field(s, "write", "acc.cols(s*SLAB,SLAB)");
    hands_type_field(s, "to", "c[replica]");
    hands_type_field(s, "use", "s.total");
    hands_add(s, "sync");
    hands_add(s, "store");
    hands_type_field(s, "at", "tm*BM+replica*WM,tn*BN+s*SLAB");
    hands_type_field(s, "from", "c[replica]");
    hands_type_field(s, "use", "s.total");
    hands_select_row(s, "for tile", 1);
    hands_add(s, "store_wait");
    hands_select_row(s, "group load", 0);
    hands_type_field(s, "registers", "40");
    hands_select_row(s, "group mma", 0);
    hands_type_field(s, "registers", "232");
}

static void assert_proved(Scenario *s)
{
    hands_settle(s);
    g_autofree char *text = hands_text(s);
    g_test_message("%s", text);
    g_assert_cmpuint(ws_document_left_out(s->document), ==, 0);
    g_assert_cmpuint(ws_findings_count(ws_document_findings(s->document), WS_SEVERITY_ERROR), ==,
                     0);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
}

static void build_gemm(Scenario *s)
{
    begin_empty(s);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "empty \xc2\xb7 ")); /* not "proved" */
    hands_shot(s, "build-1-empty");
    build_objects(s);
    hands_shot(s, "build-2-objects");
    build_load(s);
    build_mma(s);
    build_epilogue(s);
    g_assert_nonnull(ws_document_predicted(s->document)); /* drawn, though nothing is joined yet */
    hands_shot(s, "build-3-steps");
    edge(s, "groups/load/body/0/do/0/do/0", "groups/mma/body/0/do/0/do/0", 1500, NULL);
    edge(s, "groups/mma/body/0/do/0/do/2", "groups/load/body/0/do/0/do/0", 1500, "build-4-edge");
    hands_shot(s, "build-5-whole");
    assert_proved(s);
    hands_assert_same_ptx(s, "projects/gemm-bf16/design.wstave");
}

/* --- what follows is not typed ------------------------------------------------------------------
 */

static void say_count(const char *what)
{
    g_test_message("to %s: %u presses of a button, %u turns of the wheel, %u keys, %u typed values",
                   what, scenario_count.presses, scenario_count.wheel, scenario_count.keys,
                   scenario_count.typed);
}

/* Of the reference alone: tensors and sizes with it; loops, tiles and rings with the first step of
 * a group; the transaction and the last round with an edge. Guesses are shown as such, and each
 * gesture is one step back. */
static void build_derived(Scenario *s)
{
    scenario_count = (ScenarioCount){ 0 };
    scenario_key("ctrl+n");
    hands_dialogue(s);
    scenario_key("Return");
    WAIT_FOR(ws_document_design(s->document));
    scenario_focus(GTK_WIDGET(s->window));
    hands_structure(s);
    hands_settle(s);
    hands_type_field(s, "reference", "C[m,n]=sum(k<K,A[m,k]*B[n,k])");
    g_autofree char *shown = scenario_text(GTK_WIDGET(s->window));
    g_assert_nonnull(strstr(shown, "guessed: M = 8192, N = 8192, K = 8192"));
    hands_pick(s, "load");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "Guessed: constants BM = 128"));
    hands_pick(s, "load");
    hands_pick(s, "group");
    g_autofree char *before = hands_text(s);
    hands_pick(s, "mma");
    g_autofree char *after = hands_text(s);
    const ScenarioCount built = scenario_count;
    scenario_key("ctrl+z");
    hands_settle(s);
    g_autofree char *undone = hands_text(s);
    g_assert_cmpstr(undone, ==, before);
    scenario_key("ctrl+shift+z");
    hands_settle(s);
    g_autofree char *again = hands_text(s);
    g_assert_cmpstr(again, ==, after);
    scenario_count = built; /* stepping back and forth builds nothing */
    hands_select_row(s, "mma_wait 0", 0);
    hands_pick(s, "store");
    edge(s, "groups/warps/body/0/do/0/do/0", "groups/warps2/body/0/do/0/do/0", 1500, NULL);
    edge(s, "groups/warps2/body/0/do/0/do/2", "groups/warps/body/0/do/0/do/0", 1500, NULL);
    assert_proved(s);
    say_count("a proved GEMM");
    g_assert_cmpuint(scenario_count.presses + scenario_count.wheel, <=, 12);
    g_assert_cmpuint(scenario_count.typed, <=, 8);
    hands_select_row(s, "tiles", 0);
    hands_type_field(s, "order", "grouped(tm,16)");
    assert_proved(s);
    say_count("the shipped one");
    hands_assert_same_ptx(s, "projects/gemm-bf16/design.wstave");
}

static void add_cases(void)
{
    scenario_add_empty("build/derived", build_derived);
    scenario_add_empty("build/gemm", build_gemm);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add_cases);
}
