/* The witness player, by pointer and keyboard: the run of a refuted design is stepped forwards and
 * backwards, scrubbed and played, with the state at each position, and ends at the hang. */
#include "base/phrase.h"
#include "model/finding.h"
#include "scenario/scenario.h"
#include "ui/app/actions.h"
#include "ui/document/player.h"
#include "ui/problems/witness.h"

#include <string.h>

#define HANGS    "tests/designs/catalogue/B22-count-too-high.wstave"
#define COLLIDES "tests/designs/catalogue/B19-release-ahead-of-the-retired-mma.wstave"

static GtkWidget *panel_of(Scenario *s)
{
    return ws_window_part(s->window, WS_PART_WITNESS);
}

static WsPlayer *opened(Scenario *s, const char *design)
{
    WsPlayer *p = ws_player_of(s->document);
    scenario_open(s, design);
    scenario_key("alt+6");
    WAIT_FOR(ws_player_witness(p) != NULL);
    scenario_settle(panel_of(s));
    return p;
}

static gboolean is_button(GtkWidget *widget, gconstpointer action)
{
    return GTK_IS_BUTTON(widget) &&
           g_strcmp0(gtk_actionable_get_action_name(GTK_ACTIONABLE(widget)), action) == 0;
}

static void press(Scenario *s, const char *action)
{
    GtkWidget *button = scenario_find(panel_of(s), is_button, action);
    g_assert_nonnull(button);
    scenario_click_widget(button, NULL);
}

static gboolean shows(Scenario *s, const char *text)
{
    g_autofree char *all = scenario_text(panel_of(s));
    return strstr(all, text) != NULL;
}

static gboolean shows_phrase(Scenario *s, const char *phrase)
{
    g_autofree char *text = ws_phrase_text(phrase, NULL, NULL);
    return shows(s, text);
}

static void buttons(Scenario *s)
{
    WsPlayer *p = opened(s, HANGS);
    const WsWitness *w = ws_player_witness(p);
    g_assert_cmpuint(ws_player_position(p), ==, 0);
    g_assert_true(shows(s, "The start"));
    g_assert_true(shows(s, "2 of 2")); /* empty slot 0 */
    for (guint i = 1; i <= 3; i++) {
        press(s, "witness.witness-next");
        WAIT_FOR(ws_player_position(p) == i);
        g_assert_true(shows_phrase(s, w->move[i - 1].words));
    }
    g_assert_true(shows(s, "filling by load"));
    press(s, "witness.witness-previous");
    WAIT_FOR(ws_player_position(p) == 2);
    g_assert_false(shows(s, "filling by load"));
    press(s, "witness.witness-last");
    WAIT_FOR(ws_player_position(p) == w->n_moves);
    g_assert_true(shows(s, "No agent can continue"));
    g_assert_true(shows(s, "1 of 2")); /* the arrival that never comes */
    press(s, "witness.witness-first");
    WAIT_FOR(ws_player_position(p) == 0);
    g_assert_false(shows(s, "No agent can continue"));
}

static void keys(Scenario *s)
{
    WsPlayer *p = opened(s, HANGS);
    const WsWitness *w = ws_player_witness(p);
    scenario_key("alt+period");
    scenario_key("alt+period");
    WAIT_FOR(ws_player_position(p) == 2);
    scenario_key("alt+comma");
    WAIT_FOR(ws_player_position(p) == 1);
    scenario_key("alt+shift+period");
    WAIT_FOR(ws_player_position(p) == w->n_moves);
    scenario_key("alt+shift+comma");
    WAIT_FOR(ws_player_position(p) == 0);
    scenario_key("alt+comma"); /* nothing before the start */
    scenario_settle(panel_of(s));
    g_assert_cmpuint(ws_player_position(p), ==, 0);
}

static void plays(Scenario *s)
{
    WsPlayer *p = opened(s, HANGS);
    guint last = ws_player_witness(p)->n_moves;
    press(s, "witness.witness-play");
    WAIT_FOR(ws_player_running(p));
    WAIT_FOR(ws_player_position(p) >= 2);
    press(s, "witness.witness-play");
    WAIT_FOR(!ws_player_running(p));
    ws_player_set_position(p, last - 1);
    scenario_key("F7");
    WAIT_FOR(ws_player_position(p) == last);
    g_assert_false(ws_player_running(p)); /* it stops at the end … */
    scenario_key("F7");
    WAIT_FOR(ws_player_running(p));
    g_assert_cmpuint(ws_player_position(p), <, last); /* … and begins anew */
}

static void scrubs(Scenario *s)
{
    WsPlayer *p = opened(s, HANGS);
    GtkWidget *scale = scenario_find_type(panel_of(s), "GtkScale");
    double w = gtk_widget_get_width(scale), h = gtk_widget_get_height(scale);
    g_assert_nonnull(scale);
    scenario_drag(scale, 12, h / 2, w / 2, h / 2, 1, NULL);
    WAIT_FOR(ws_player_position(p) > 5);
    g_assert_cmpuint(ws_player_position(p), <, 15);
    guint half = ws_player_position(p);
    g_assert_true(shows_phrase(s, ws_player_witness(p)->move[half - 1].words));
    gtk_widget_grab_focus(scale);
    scenario_key("Right");
    WAIT_FOR(ws_player_position(p) == half + 1);
    scenario_key("Home");
    WAIT_FOR(ws_player_position(p) == 0);
}

/* Both that collide are told of, and the score shows where the agents are. */
static void collides(Scenario *s)
{
    WsPlayer *p = opened(s, COLLIDES);
    cairo_surface_t *before, *after;
    before = scenario_picture(s->timeline);
    press(s, "witness.witness-last");
    WAIT_FOR(ws_player_position(p) == ws_player_witness(p)->n_moves);
    g_assert_true(shows(s, "access the same bytes"));
    scenario_settle(s->timeline);
    after = scenario_picture(s->timeline);
    g_assert_cmpint(cairo_image_surface_get_stride(before), ==,
                    cairo_image_surface_get_stride(after));
    gsize size = (gsize)cairo_image_surface_get_stride(before) *
                 (gsize)cairo_image_surface_get_height(before);
    g_assert_true(memcmp(cairo_image_surface_get_data(before), cairo_image_surface_get_data(after),
                         size) != 0);
    cairo_surface_destroy(before);
    cairo_surface_destroy(after);
}

static gboolean says(GtkWidget *widget, gconstpointer text)
{
    return GTK_IS_BUTTON(widget) && gtk_widget_get_mapped(widget) &&
           g_strcmp0(gtk_button_get_label(GTK_BUTTON(widget)), text) == 0;
}

/* From the list of problems to the run of the one that is explained. */
static void from_problems(Scenario *s)
{
    WsPlayer *p = ws_player_of(s->document);
    GtkWidget *problems = ws_window_part(s->window, WS_PART_PROBLEMS);
    scenario_open(s, COLLIDES);
    scenario_key("alt+1");
    scenario_key("F8");
    WAIT_FOR(scenario_find(problems, says, "Show the Run"));
    scenario_settle(problems);
    gtk_widget_grab_focus(scenario_find(problems, says, "Show the Run"));
    scenario_settle(problems);
    scenario_key("Return");
    WAIT_FOR(ws_player_witness(p) != NULL);
    WAIT_FOR(gtk_widget_get_mapped(panel_of(s)));
    g_assert_cmpint(ws_player_witness(p)->rule, ==, WS_RULE_P_ASYNC);
}

static void nothing(Scenario *s)
{
    scenario_key("alt+6"); /* gemm-bf16 is right */
    scenario_settle(panel_of(s));
    g_assert_null(ws_player_witness(ws_player_of(s->document)));
    g_assert_true(shows(s, "Nothing is refuted"));
    scenario_open(s, HANGS);
    WAIT_FOR(ws_player_witness(ws_player_of(s->document)) != NULL);
    scenario_open(s, "projects/gemm-bf16/design.wstave");
    WAIT_FOR(ws_player_witness(ws_player_of(s->document)) == NULL);
}

static void add(void)
{
    scenario_add("witness/buttons", buttons);
    scenario_add("witness/keys", keys);
    scenario_add("witness/plays", plays);
    scenario_add("witness/scrubs", scrubs);
    scenario_add("witness/collides", collides);
    scenario_add("witness/from-problems", from_problems);
    scenario_add("witness/nothing", nothing);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
