/* Drawn designs (drawn.c): flags across loops, loops in loops and after another, under conditions,
 * with no round at all, two queues that take one tile. What goes wrong in some order of the queues
 * (stream.c) is never proved, what goes wrong in none is not refuted, and what is not decided says
 * why. */
#include "ascend/designs.h"
#include "ascend/drawn.h"
#include "ascend/stream.h"
#include "check/check.h"
#include "whole.h"

enum { ROUNDS = 4 };

typedef struct {
    guint drawn, unread, wrong, right, proved, refuted, undecided, other;
} Count;

static char *goes_wrong(const WsDesign *d)
{
    static const gint64 other[] = { 0, 1, 2, 3 };
    for (gint64 r = 0; r <= ROUNDS; r++)
        for (guint i = 0; i < G_N_ELEMENTS(other); i++) {
            char *wrong = stream_wrong_of(d, r, other[i]);
            if (wrong)
                return wrong;
        }
    return NULL;
}

static const WsFinding *first_error(const WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR)
            return f;
    }
    g_error("refuted without an error");
}

static void judge(guint32 seed, Count *n)
{
    g_autofree char *how = NULL, *text = ascend_drawn(seed, &how);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    n->drawn++;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        n->unread++;
        return;
    }
    g_autofree char *wrong = goes_wrong(d);
    g_autoptr(WsVerdict) v =
        ws_check(p, &(WsCheckOptions){ .verdict_only = TRUE, .max_findings = 1 }, findings);
    const gboolean open = wrong && *wrong == '?';
    n->wrong += wrong && !open;
    n->right += !wrong;
    n->proved += v->kind == WS_VERDICT_PROVED;
    n->refuted += v->kind == WS_VERDICT_REFUTED;
    n->undecided += v->kind != WS_VERDICT_PROVED && v->kind != WS_VERDICT_REFUTED;
    g_assert_true(v->kind == WS_VERDICT_PROVED || v->kind == WS_VERDICT_REFUTED ||
                  (v->reason && *v->reason));
    if (wrong && !open && v->kind == WS_VERDICT_PROVED)
        g_error("design %u, %s: proved, but %s\n%s", seed, how, wrong, text);
    if (!wrong && v->kind == WS_VERDICT_REFUTED) {
        /* hardware counts no uses, the language does: alone two accesses that race have to */
        if (first_error(findings)->rule == WS_RULE_P_RACE)
            g_error("design %u, %s: refuted (%s), and right in all orders\n%s", seed, how,
                    first_error(findings)->message, text);
        n->other++;
    }
}

static void test_drawn(void)
{
    Count n = { 0 };
    const char *from = g_getenv("WARPSTAVE_SEED"), *many = g_getenv("WARPSTAVE_DRAWN");
    const guint32 first = from ? (guint32)atoi(from) : 0;
    const guint32 count = many ? (guint32)atoi(many) : g_test_slow() ? 5000 : 60;
    for (guint32 i = 0; i < count; i++)
        judge(first + i, &n);
    g_test_message("%u designs, %u not read; %u go wrong in some order, %u in none; %u proved, %u "
                   "refuted (%u of them without an order that shows it), %u not decided",
                   n.drawn, n.unread, n.wrong, n.right, n.proved, n.refuted, n.other, n.undecided);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/drawn", test_drawn);
    return g_test_run();
}
