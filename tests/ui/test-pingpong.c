/* A ring with one consumer becomes two consumers in turn, by pointer and keyboard: replicated,
 * their tiles and their part of the ring told apart in the inspector, one turn drawn with the
 * pointer, one with the keys. Its PTX is that of the shipped design. */
#include "../whole.h"
#include "model/finding.h"
#include "scenario/hands.h"
#include "scenario/seen.h"

#include "ui/gesture/gesture.h"

#include <string.h>

#define TILE "groups/mma/body/0/do/"
#define MMA  TILE "0/do/1"

static WsVerdictKind verdict(Scenario *s)
{
    hands_settle(s);
    WsVerdict *v = ws_document_verdict(s->document);
    g_assert_nonnull(v);
    return v->kind;
}

/* The rule that the check refutes the design by. */
static gboolean is_refuted_by(Scenario *s, WsRuleId rule)
{
    hands_settle(s);
    const WsFindings *f = ws_document_findings(s->document);
    for (guint i = 0; i < f->list->len; i++)
        if (((const WsFinding *)f->list->pdata[i])->rule == rule)
            return TRUE;
    return FALSE;
}

/* Each replica takes every other tile, and of the ring what lies between the other's tiles. */
static void tell_apart(Scenario *s)
{
    hands_select_row(s, "for tile", 1);
    hands_type_field(s, "from", "replica");
    hands_type_field(s, "step", "replicas");
    hands_select_row(s, "group mma", 0);
    hands_add(s, "counter");
    hands_type_field(s, "name", "ring");
    hands_type_field(s, "start", "replica*kt");
    hands_select_row(s, "wait full", 0);
    hands_type_field(s, "use", "ring");
    hands_select_row(s, "mma acc", 0);
    hands_type_field(s, "use", "ring");
    hands_select_row(s, "arrive empty", 0);
    hands_type_field(s, "use", "ring-1");
    hands_add(s, "advance");
    hands_select_row(s, "arrive empty", 1);
    hands_type_field(s, "use", "ring-1");
    hands_select_row(s, "sync group", 1);
    hands_add(s, "advance");
    hands_type_field(s, "by", "(replicas-1)*kt");
    hands_select_row(s, "buffer c", 0);
    hands_type_field(s, "array", "2");
    hands_select_row(s, "write acc", 0);
    hands_type_field(s, "to", "c[replica]");
    hands_select_row(s, "store C", 0);
    hands_type_field(s, "from", "c[replica]");
}

static guint agent_of(Scenario *s, const char *name)
{
    const WsTrace *trace = ws_document_predicted(s->document);
    for (guint i = 0; i < trace->agent_name->len; i++)
        if (!strcmp(trace->agent_name->pdata[i], name))
            return i;
    g_error("no agent %s", name);
}

/* From the last mma that one replica issues in its tile to the first of the other's in the next. */
static void draw_turn(Scenario *s)
{
    const gint32 one = (gint32)agent_of(s, "mma.0"), other = (gint32)agent_of(s, "mma.1");
    hands_zoom_to(s, MMA, 0, 31, 3000);
    const WsSceneItem *from = hands_find(s, (HandsItem){ MMA, 0, -1, one, 0, TRUE });
    const WsSceneItem *to = hands_find(s, (HandsItem){ MMA, 1, -1, other, 0, TRUE });
    g_assert_nonnull(from);
    g_assert_nonnull(to);
    hands_draw_edge(s, from, to);
    WAIT_FOR(strstr(seen_gesture_words(hands_timeline(s)), "✔"));
    const char *words = seen_gesture_words(hands_timeline(s));
    g_assert_nonnull(strstr(words, "replicas take turns: new barrier turn"));
    g_assert_nonnull(strstr(words, "wait before for k, tell the next one after for k"));
    g_assert_nonnull(strstr(words, "proved"));
    hands_shot(s, "pingpong-4-turn");
    hands_let_go(s);
    g_assert_cmpstr(ws_history_undo_name(ws_document_history(s->document)), ==,
                    "Take turns in mma (for k … for k)");
}

static void click_on(Scenario *s, HandsItem what, double cycles)
{
    double x, y;
    hands_zoom_to(s, what.step, what.tile, -1, cycles);
    const WsSceneItem *item = hands_find(s, what);
    g_assert_nonnull(item);
    hands_place(s, item, 0.4, &x, &y);
    scenario_click(hands_timeline(s)->canvas, x, y, 1, NULL);
    hands_settle(s);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, what.step);
}

/* The stores take turns too: C at the end of one's, a click on the other's write, Return. */
static void turn_by_keys(Scenario *s)
{
    const gint32 one = (gint32)agent_of(s, "mma.0"), other = (gint32)agent_of(s, "mma.1");
    const guint states = hands_states(s);
    g_autofree char *before = hands_text(s);
    click_on(s, (HandsItem){ TILE "9", 0, -1, one, 0, TRUE }, 600);
    scenario_key("c");
    click_on(s, (HandsItem){ TILE "5", 1, -1, other, 0, TRUE }, 2000);
    g_autofree char *said = scenario_text(GTK_WIDGET(s->window));
    g_assert_nonnull(strstr(said, "wait before write acc, tell the next one after sync group"));
    g_assert_nonnull(strstr(said, "Return makes it"));
    scenario_key("Escape"); /* drops it */
    scenario_key("Return");
    hands_settle(s);
    g_autofree char *same = hands_text(s);
    g_assert_cmpstr(same, ==, before);
    click_on(s, (HandsItem){ TILE "9", 0, -1, one, 0, TRUE }, 600);
    scenario_key("c");
    click_on(s, (HandsItem){ TILE "5", 1, -1, other, 0, TRUE }, 2000);
    scenario_key("Return");
    hands_settle(s);
    g_assert_cmpuint(hands_states(s), ==, states + 1);
}

static void pingpong(Scenario *s)
{
    hands_begin(s, "tests/designs/gemm-one-consumer.wstave");
    const gint64 before = ws_document_clock(s->document)->cycles;
    g_assert_cmpint(verdict(s), ==, WS_VERDICT_PROVED);
    hands_shot(s, "pingpong-1-one");
    hands_select_row(s, "group mma", 0);
    scenario_key("ctrl+alt+equal");
    g_assert_true(is_refuted_by(s, WS_RULE_P_RACE)); /* both write the same staging */
    hands_shot(s, "pingpong-2-replicas");
    tell_apart(s);
    g_assert_cmpuint(ws_document_left_out(s->document), ==, 0);
    g_assert_true(is_refuted_by(s, WS_RULE_P_EARLY)); /* nothing holds one back */
    hands_shot(s, "pingpong-3-apart");
    draw_turn(s);
    g_assert_cmpint(verdict(s), ==, WS_VERDICT_PROVED);
    turn_by_keys(s);
    g_assert_cmpint(verdict(s), ==, WS_VERDICT_PROVED);
    g_assert_cmpint(ws_document_clock(s->document)->cycles, <, before);
    hands_shot(s, "pingpong-5-done");
    hands_assert_same_ptx(s, "projects/gemm-bf16-pingpong/design.wstave");
}

static void add_cases(void)
{
    if (test_again(1, 2)) /* its gestures are those of build and gesture */
        scenario_add_empty("build/pingpong", pingpong);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add_cases);
}
