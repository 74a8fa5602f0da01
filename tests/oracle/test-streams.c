/* Random pipes that are closed, and loops over them, right and with one thing wrong, against the
 * two oracles: no design is proved that one of them finds wrong at a small size. */
#include "check/check.h"
#include "lanes/lanes.h"
#include "model/design.h"
#include "model/findings.h"
#include "oracle.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "whole.h"

#include <string.h>

enum { MOST_STREAMS = 3 };

typedef struct {
    GRand *rand;
    guint streams, order[MOST_STREAMS];
    const char *count[MOST_STREAMS];
    guint first[MOST_STREAMS]; /* windows before the loop */
    gboolean tiles;
    guint fault, where;
} Draw;

static gboolean is(const Draw *d, guint fault, guint where)
{
    return d->fault == fault && d->where == where;
}

static void window(GString *s, const Draw *d, guint stream)
{
    g_string_append_printf(s,
                           "{\"acquire\": \"p\", \"use\": \"w\"}, {\"load\": \"X\", \"at\": [0], "
                           "\"into\": \"x\"}, {\"commit\": \"p\", \"use\": \"w%s\"}%s, ",
                           "", is(d, 1, stream) ? "" : ", {\"advance\": \"w\"}");
}

static void writer(GString *s, const Draw *d)
{
    for (guint i = 0; i < d->streams; i++) {
        for (guint k = 0; k < d->first[i]; k++)
            window(s, d, MOST_STREAMS);
        g_string_append_printf(s, "{\"for\": \"k%u\", \"count\": \"%s\", \"do\": [", i,
                               d->count[i]);
        window(s, d, i);
        g_string_truncate(s, s->len - 2);
        g_string_append_printf(
            s, "]}, {\"close\": \"p\", \"use\": \"w%s\"%s}, {\"advance\": \"w\"}, ",
            is(d, 2, i) ? " + 1" : "", is(d, 3, i) ? ", \"when\": \"N > 1\"" : "");
    }
    g_string_truncate(s, s->len - 2);
}

static void loop(GString *s, const Draw *d, guint i)
{
    g_string_append_printf(s,
                           "{\"for\": \"r%u\", \"over\": \"p\", \"use\": \"c%s\", \"do\": ["
                           "{\"read\": \"v\", \"from\": \"x\"}, %s{\"advance\": \"c\"}]}%s",
                           i, is(d, 4, i) ? " + 1" : "",
                           is(d, 5, i) ? "" : "{\"release\": \"p\"}, ",
                           is(d, 6, i) ? "" : ", {\"advance\": \"c\"}");
}

/* The loops in their order, or those of the sides of branches in another one. */
static void reader(GString *s, const Draw *d)
{
    g_string_append_printf(s, "{\"for\": \"z\", \"count\": %u, \"do\": [", d->streams);
    for (guint i = 0; i < d->streams; i++) {
        g_string_append_printf(s, "%s{\"if\": \"z == %u\", \"then\": [", i ? ", " : "",
                               d->order[i]);
        loop(s, d, i);
        g_string_append(s, "]}");
    }
    g_string_append(s, "]}");
}

static char *drawn(guint seed, Draw *d)
{
    static const char *const counts[] = {
        "0", "1", "2", "N", "N - 1", "min(N, 2)", "max(N - 1, 0)"
    };
    *d = (Draw){ .rand = g_rand_new_with_seed(seed), .where = MOST_STREAMS + 1 };
    d->streams = (guint)g_rand_int_range(d->rand, 1, MOST_STREAMS + 1);
    d->tiles = g_rand_boolean(d->rand);
    for (guint i = 0; i < d->streams; i++) {
        d->order[i] = i;
        d->first[i] = g_rand_int_range(d->rand, 0, 4) == 0;
        d->count[i] = counts[g_rand_int_range(d->rand, 0, G_N_ELEMENTS(counts))];
    }
    if (d->streams > 1 && g_rand_int_range(d->rand, 0, 3) == 0) { /* fault or not: by the counts */
        const guint i = (guint)g_rand_int_range(d->rand, 1, (gint)d->streams), was = d->order[i];
        d->order[i] = d->order[i - 1];
        d->order[i - 1] = was;
    } else if (g_rand_boolean(d->rand)) {
        d->fault = (guint)g_rand_int_range(d->rand, 1, 7);
        d->where = (guint)g_rand_int_range(d->rand, 0, (gint)d->streams);
    }
    GString *s = g_string_new(NULL);
    g_string_append_printf(
        s,
        "{\"warpstave\": 1, \"name\": \"streams\", \"target\": \"sm_90a\", \"sizes\": {\"N\": 2}, "
        "\"tensors\": [{\"name\": \"X\", \"dtype\": \"f32\", \"shape\": [32]}], \"tiles\": "
        "{\"axes\": {\"t\": %d}, \"launch\": \"%s\"}, \"buffers\": [{\"name\": \"x\", \"dtype\": "
        "\"f32\", \"tile\": [32], \"swizzle\": 0}], \"pipes\": [{\"name\": \"p\", \"capacity\": "
        "%d, "
        "\"fields\": [\"x\"]}], \"groups\": [{\"name\": \"load\", \"role\": \"producer\", "
        "\"warps\": "
        "1, \"counters\": [{\"name\": \"w\"}], \"body\": [",
        d->tiles ? 2 : 1, d->tiles ? "persistent" : "single", g_rand_int_range(d->rand, 1, 4));
    if (d->tiles)
        g_string_append(s, "{\"for\": \"i\", \"over\": \"tiles\", \"do\": [");
    writer(s, d);
    g_string_append_printf(
        s,
        "%s]}, {\"name\": \"math\", \"role\": \"worker\", \"warps\": %d, "
        "\"values\": [{\"name\": \"v\", \"dtype\": \"f32\", \"tile\": [1, 32]}], "
        "\"counters\": [{\"name\": \"c\"}], \"body\": [",
        d->tiles ? "]}" : "", g_rand_int_range(d->rand, 1, 3));
    if (d->tiles)
        g_string_append(s, "{\"for\": \"j\", \"over\": \"tiles\", \"do\": [");
    reader(s, d);
    g_string_append_printf(s, "%s]}]}", d->tiles ? "]}" : "");
    g_rand_free(d->rand);
    return g_string_free(s, FALSE);
}

/* What an oracle finds at sizes up to 3; *at: where. */
static guint wrong_at(const WsProgram *p, gint64 *at)
{
    for (gint64 n = 0; n <= 3; n++) {
        const WsSize size = { "N", n };
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, &size, 1, FALSE, findings);
        const OracleOptions options = { .tiles = 2, .cap = 200000, .stop = TRUE };
        g_assert_nonnull(v);
        guint found = oracle_run(p, v, &options).verdict | lanes_run(p, v, &options).verdict;
        g_assert_cmpuint(found & ORACLE_OUTSIDE, ==, 0);
        *at = n;
        if (found & ORACLE_BAD)
            return found & ORACLE_BAD;
    }
    return 0;
}

static guint seed0 = 1, designs = 300;

static void test_streams(void)
{
    guint proved = 0, refuted = 0, open = 0, wrong = 0, none = 0, right = 0;
    for (guint i = 0; i < designs; i++) {
        Draw d;
        gint64 at = 0;
        g_autofree char *text = drawn(seed0 + i, &d);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "drawn", findings);
        g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        if (!p) {
            g_autofree char *all = ws_findings_print(findings, "drawn");
            g_test_message("seed %u: %s", seed0 + i, all);
            none++;
            continue;
        }
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        const guint bad = wrong_at(p, &at);
        wrong += bad != 0;
        right += bad == 0;
        proved += v->kind == WS_VERDICT_PROVED;
        refuted += v->kind == WS_VERDICT_REFUTED;
        open += v->kind == WS_VERDICT_OUTSIDE;
        if (v->kind == WS_VERDICT_PROVED && bad)
            g_test_fail_printf("seed %u: proved, and wrong (%x) at N = %d: %s", seed0 + i, bad,
                               (int)at, text);
        if (v->kind == WS_VERDICT_REFUTED && !bad && d.fault == 0 && at == 3) {
            g_autofree char *all = ws_findings_print(findings, "drawn");
            g_test_message("seed %u: refuted, and no oracle knows why: %s\n%s", seed0 + i, all,
                           text);
        }
    }
    g_test_message(
        "%u designs: %u without a program; oracles: %u right, %u wrong; check: %u proved, "
        "%u refuted, %u undecided",
        designs, none, right, wrong, proved, refuted, open);
    g_assert_cmpuint(none, ==, 0);
    g_assert_cmpuint(proved * 5, >, designs); /* it can fail: there are enough of either */
    g_assert_cmpuint(wrong * 5, >, designs);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    if (argc > 2)
        seed0 = (guint)g_ascii_strtoull(argv[1], NULL, 10),
        designs = (guint)g_ascii_strtoull(argv[2], NULL, 10);
    g_test_add_func("/oracle/streams", test_streams);
    return g_test_run();
}
