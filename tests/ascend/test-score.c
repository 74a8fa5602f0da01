/* The score of a core by queues has no word of a GPU: not on the page, not in the legend, not in
 * what is said of an item. */
#include "ascend/designs.h"
#include "clock/clock.h"
#include "program/walk/launch_values.h"
#include "score/scene.h"

static guint asked;

static void has_none(const char *text, const char *where)
{
    if (text && g_regex_match_simple("\\b(SMs?|CTAs?|TMA|[Ww]arps?|tensor core)\\b", text, 0, 0))
        g_error("%s: %s", where, text);
}

/* All words of a page go through here. */
static const char *listen(const char *text, gpointer data)
{
    asked++;
    has_none(text, "word");
    return text;
}

static void draw(const char *design)
{
    g_autofree char *text = ascend_text(design, NULL, 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ascend_program(text, findings);
    g_autoptr(WsMachine) m = ws_machine_for(NULL, "ascend", NULL);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, TRUE, findings);
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, m, NULL, findings);
    g_assert_nonnull(r);
    WsScene *s = ws_scene_new(p, r->trace, NULL, &(WsSceneOptions){ .translate = listen });
    for (guint i = 0; i < s->text->len; i++)
        has_none(g_array_index(s->text, WsSceneText, i).text, "text");
    for (guint i = 0; i < s->staff->len; i++) {
        has_none(g_array_index(s->staff, WsSceneStaff, i).name, "staff");
        has_none(g_array_index(s->staff, WsSceneStaff, i).detail, "staff");
    }
    for (guint i = 0; i < s->row->len; i++)
        has_none(g_array_index(s->row, WsSceneRow, i).label, "row");
    for (guint i = 0; i < s->item->len; i++) {
        has_none(g_array_index(s->item, WsSceneItem, i).label, "item");
        has_none(g_array_index(s->item, WsSceneItem, i).tip, "tip");
    }
    cairo_surface_t *page = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 64, 64);
    cairo_t *cr = cairo_create(page);
    ws_scene_paint(s, cr, WS_THEME_LIGHT);
    cairo_destroy(cr);
    cairo_surface_destroy(page);
    ws_scene_free(s);
    g_autofree char *said = ws_clock_result_text(r, p);
    has_none(said, "result");
}

static void test_words(void)
{
    draw("vector-add");
    draw("cube-gemm");
    g_assert_cmpuint(asked, >, 50);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/score/words", test_words);
    return g_test_run();
}
