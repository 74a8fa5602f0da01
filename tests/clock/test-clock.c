/* The machine description and the play on it. */
#include "clock/clock.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- machine descriptions -----------------------------------------------------------------------
 */
static void machine_builtin(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_load(NULL, &error);
    g_assert_no_error(error);
    g_autoptr(WsMachine) file =
        ws_machine_load(WS_SOURCE_ROOT "/resources/machines/h200.json", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(m->target, ==, "sm_90a");
    for (guint v = 0; v < WS_MACHINE_VALUE_COUNT; v++) {
        g_assert_cmpfloat(m->value[v], ==, file->value[v]);
        /* every figure says where it is from */
        g_assert_true(ws_machine_has(m, (WsMachineValue)v) == (m->source[v] && *m->source[v]));
    }
    g_assert_cmpfloat(m->value[WS_MACHINE_SMS], ==, 132);
}

static void machine_round_trip(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_load(NULL, &error);
    g_autofree char *name = NULL;
    g_close(g_file_open_tmp("machine-XXXXXX.json", &name, NULL), NULL);
    ws_machine_set(m, WS_MACHINE_TMA_LATENCY, 612.5, "calibrated");
    g_assert_true(ws_machine_save(m, name, &error));
    g_autoptr(WsMachine) again = ws_machine_load(name, &error);
    g_assert_no_error(error);
    for (guint v = 0; v < WS_MACHINE_VALUE_COUNT; v++) {
        g_assert_cmpfloat(again->value[v], ==, m->value[v]);
        g_assert_cmpstr(again->source[v], ==, m->source[v]);
    }
    g_unlink(name);
}

static void machine_errors(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "not JSON" },
        { "[]", "\"warpstave_machine\": 1 expected" },
        { "{ \"warpstave_machine\": 2 }", "expected" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\" }", "values expected" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": {} }",
          "value \"sms\" (streaming multiprocessors) is missing" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": "
          "{ \"warps\": { \"value\": 1 } } }",
          "unknown value \"warps\"" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": "
          "{ \"sms\": 132 } }",
          "must be {" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": "
          "{ \"smem_bytes_per_clk\": { \"value\": 0 } } }",
          "out of range" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": "
          "{ \"tma_latency\": { \"value\": -1 } } }",
          "out of range" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": "
          "{ \"sms\": { \"value\": 4097 } } }",
          "\"sms\" is 4097, which is out of range: 0.001 to 4096" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": "
          "{ \"mma_queue\": { \"value\": 2147483647 } } }",
          "\"mma_queue\" is 2.14748e+09, which is out of range: 0.001 to 4096" },
        { "{ \"warpstave_machine\": 1, \"name\": \"x\", \"target\": \"y\", \"values\": "
          "{ \"tma_latency\": { \"value\": NaN } } }",
          "out of range" },
    };
    g_autofree char *name = NULL;
    g_close(g_file_open_tmp("machine-XXXXXX.json", &name, NULL), NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_true(g_file_set_contents(name, cases[i].text, -1, NULL));
        g_assert_null(ws_machine_load(name, &error));
        if (!strstr(error->message, cases[i].says))
            g_error("'%s' lacks '%s'", error->message, cases[i].says);
    }
    g_unlink(name);
    g_autoptr(GError) error = NULL;
    g_assert_null(ws_machine_load("/nonexistent/machine.json", &error));
    g_assert_error(error, WS_MACHINE_ERROR, WS_MACHINE_ERROR_READ);
}

/* --- playing
 * -------------------------------------------------------------------------------------- */
typedef struct {
    WsProgram *p;
    WsLaunchValues *v;
    WsMachine *m;
    WsFindings *findings;
    WsClockResult *r;
} Played;

static void played_clear(Played *x)
{
    g_clear_pointer(&x->r, ws_clock_result_free);
    g_clear_pointer(&x->v, ws_launch_values_free);
    g_clear_pointer(&x->p, ws_program_unref);
    g_clear_pointer(&x->m, ws_machine_free);
    g_clear_pointer(&x->findings, ws_findings_free);
}

static WsProgram *program_of(const char *file, const WsSetting *set, guint n_set,
                             WsFindings *findings)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    WsDesign *design = ws_design_load(path, findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, set, n_set, findings);
    ws_design_unref(design);
    g_assert_nonnull(p);
    return p;
}

#define GEMM "projects/gemm-bf16/design.wstave"

/* Plays `file` for a cube of n (0: the presets). */
static Played prepare(const char *file, gint64 n, const WsSetting *set, guint n_set)
{
    Played x = { .findings = ws_findings_new() };
    const WsSize size[] = { { "M", n }, { "N", n }, { "K", n } };
    x.p = program_of(file, set, n_set, x.findings);
    x.m = ws_machine_load(NULL, NULL);
    x.v = ws_launch_values(x.p, size, n ? 3 : 0, FALSE, x.findings);
    g_assert_nonnull(x.v);
    return x;
}

static Played play(const char *file, gint64 n, const WsSetting *set, guint n_set,
                   const WsClockOptions *options)
{
    Played x = prepare(file, n, set, n_set);
    x.r = ws_clock_run(x.p, x.v, x.m, options, x.findings);
    return x;
}

static double period(const Played *x, const char *agent, const char *loop)
{
    for (guint i = 0; i < x->r->loop->len; i++) {
        const WsClockLoop *l = &g_array_index(x->r->loop, WsClockLoop, i);
        if (strcmp(x->p->agent[l->agent].name, agent) == 0 && strcmp(l->loop->name, loop) == 0)
            return l->period;
    }
    return NAN;
}

static const WsClockWait *wait_of(const Played *x, const char *agent, const char *label)
{
    for (guint i = 0; i < x->r->wait->len; i++) {
        const WsClockWait *w = &g_array_index(x->r->wait, WsClockWait, i);
        if (strcmp(x->p->agent[w->agent].name, agent) == 0 &&
            g_strcmp0(x->p->op[w->op]->label, label) == 0)
            return w;
    }
    return NULL;
}

/* A round of 128x256x64 is 1024 cycles of the tensor pipe; 274 264 cycles were measured. */
static void gemm(void)
{
    Played x = play(GEMM, 4096, NULL, 0, NULL);
    g_assert_nonnull(x.r);
    g_assert_cmpfloat(fabs(period(&x, "mma.0", "k") - 1024), <, 2);
    g_assert_cmpfloat(fabs(period(&x, "load", "k") - 1024), <, 2);
    g_assert_cmpfloat(fabs((double)x.r->cycles / 274264 - 1), <, 0.03);
    g_assert_cmpint(x.r->tiles, ==, 4);
    g_assert_cmpint(x.r->grid, ==, 132);
    g_assert_false(x.r->extrapolated);
    g_assert_cmpfloat(x.r->tensor_busy, >, 0.97);
    g_assert_cmpstr(x.r->bound, ==, "tensor pipe");
    g_assert_nonnull(wait_of(&x, "load", "wait empty"));
    g_assert_cmpfloat((double)wait_of(&x, "load", "wait empty")->exposed, >,
                      0.5 * (double)x.r->played);
    g_autofree char *text = ws_clock_result_text(x.r, x.p);
    g_assert_nonnull(strstr(text, "bound by: tensor pipe"));
    played_clear(&x);
}

/* The model answers to the machine, not to the design: half the tensor rate doubles the period; a
 * slow L2 takes over; the queue decides how long the drain is. */
static void machine_matters(void)
{
    static const struct {
        WsMachineValue value;
        double set, low, high;
        const char *bound;
    } cases[] = {
        { WS_MACHINE_MMA_COLUMNS, 1, 2047, 2049, "tensor pipe" },
        { WS_MACHINE_MMA_COLUMNS, 4, 780, 900, "TMA and L2" },
        { WS_MACHINE_TMA_BYTES, 24, 2048, 2100, "TMA and L2" },
        { WS_MACHINE_L2_BYTES, 132 * 32, 1535, 1800, "TMA and L2" }, /* full: it queues */
        { WS_MACHINE_TMA_LATENCY, 6000, 1900, 2700, NULL },
        { WS_MACHINE_MBAR_WAKE, 400, 1023, 1025, "tensor pipe" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Played x = prepare(GEMM, 4096, NULL, 0);
        ws_machine_set(x.m, cases[i].value, cases[i].set, "test");
        x.r = ws_clock_run(x.p, x.v, x.m, NULL, x.findings);
        double k = period(&x, "mma.0", "k");
        if (!(k > cases[i].low && k < cases[i].high))
            g_error("case %u: period %g", i, k);
        if (cases[i].bound)
            g_assert_cmpstr(x.r->bound, ==, cases[i].bound);
        played_clear(&x);
    }
}

/* While a tile is stored the loads of the next one wait for L2. */
static void stores_delay_loads(void)
{
    gint64 cycles[2];
    for (guint i = 0; i < 2; i++) {
        Played x = prepare(GEMM, 4096, NULL, 0);
        ws_machine_set(x.m, WS_MACHINE_L2_WRITE, i ? 132 * 2 : 132 * 2000, "test");
        x.r = ws_clock_run(x.p, x.v, x.m, NULL, x.findings);
        cycles[i] = x.r->cycles;
        played_clear(&x);
    }
    g_test_message("%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, cycles[0], cycles[1]);
    g_assert_cmpint(cycles[1], >, cycles[0] + 3 * 10000); /* of three more tiles, 64 KB each */
}

/* One stage cannot hide a load's latency; two hide half of it. */
static void stages(void)
{
    double before = INFINITY;
    for (gint64 n = 1; n <= 4; n++) {
        const WsSetting set[] = { { "STAGES", n } };
        Played x = play(GEMM, 4096, set, 1, NULL);
        double k = period(&x, "mma.0", "k");
        g_assert_cmpfloat(k, <=, before + 1);
        if (n == 1)
            g_assert_cmpfloat(k, >, 2000);
        before = k;
        played_clear(&x);
    }
    g_assert_cmpfloat(before, <, 1026);
}

/* Counting the tiles that are not played gives what playing them gives. */
static void extrapolation(void)
{
    const WsClockOptions all = { .tiles = 1000 };
    Played few = play(GEMM, 8192, NULL, 0, NULL), every = play(GEMM, 8192, NULL, 0, &all);
    g_assert_true(few.r->extrapolated);
    g_assert_cmpint(few.r->tiles_played, ==, 4);
    g_assert_false(every.r->extrapolated);
    g_assert_cmpint(every.r->tiles_played, ==, 16);
    g_assert_cmpfloat(fabs((double)few.r->cycles / (double)every.r->cycles - 1), <, 0.005);
    played_clear(&few);
    played_clear(&every);
}

/* More CTAs than SMs do not run at once: a grid of two each costs what one of each does, and more.
 */
static void grid_larger_than_the_machine(void)
{
    const char *file = "projects/gemm-bf16-balanced/design.wstave";
    const WsSetting two[] = { { "SMS", 264 } };
    Played one = play(file, 4096, NULL, 0, NULL), both = play(file, 4096, two, 1, NULL);
    g_assert_cmpint(one.r->waves, ==, 1);
    g_assert_cmpint(both.r->waves, ==, 2);
    g_assert_cmpint(both.r->cycles, >, one.r->cycles);
    played_clear(&one);
    played_clear(&both);
}

/* Causal attention deals the longest tiles first: the rest must be counted shorter. */
static void tiles_that_differ(void)
{
    const char *file = "tests/designs/attention-fa3-causal.wstave";
    const WsClockOptions all = { .tiles = 1000 };
    Played few = play(file, 0, NULL, 0, NULL), every = play(file, 0, NULL, 0, &all);
    g_assert_true(few.r->extrapolated);
    g_assert_cmpfloat(fabs((double)few.r->cycles / (double)every.r->cycles - 1), <, 0.03);
    played_clear(&few);
    played_clear(&every);
}

/* Tiles of so many rounds that one alone is all that is to be played: the others still count. */
static void tiles_of_many_rounds(void)
{
    const char *file = "projects/attention-backward-d128-dkv/design.wstave";
    const WsSize size[] = {
        { "B", 1 }, { "HQ", 1 }, { "HKV", 1 }, { "SQ", 131072 }, { "SK", 3 * 132 * 128 }
    };
    const WsClockOptions all = { .tiles = 1000 };
    gint64 cycles[2];
    for (guint i = 0; i < 2; i++) {
        Played x = prepare(file, 0, NULL, 0);
        ws_launch_values_free(x.v);
        x.v = ws_launch_values(x.p, size, G_N_ELEMENTS(size), FALSE, x.findings);
        x.r = ws_clock_run(x.p, x.v, x.m, i ? &all : NULL, x.findings);
        g_assert_cmpint(x.r->tiles, ==, 3);
        g_assert_cmpint(x.r->tiles_played, ==, i ? 3 : 2);
        cycles[i] = x.r->cycles;
        played_clear(&x);
    }
    g_assert_cmpfloat(fabs((double)cycles[0] / (double)cycles[1] - 1), <, 0.03);
}

/* A free wait on the critical path gains, one off it does not; nothing is worse than it was. */
static void gains(void)
{
    const WsSetting set[] = { { "STAGES", 2 } };
    const WsClockOptions options = { .gains = TRUE };
    Played x = play(GEMM, 4096, set, 1, &options);
    const WsClockWait *full = wait_of(&x, "mma.0", "wait full");
    g_assert_nonnull(full);
    for (guint i = 0; i < x.r->wait->len; i++) {
        const WsClockWait *w = &g_array_index(x.r->wait, WsClockWait, i);
        if (!isnan(w->gain))
            g_assert_cmpfloat(w->gain, >, -0.01 * (double)x.r->cycles);
    }
    const WsClockWait *empty = wait_of(&x, "load", "wait empty");
    g_assert_cmpfloat(empty->gain, >, 0);
    g_assert_cmpfloat(empty->gain, <, 0.9 * (double)x.r->cycles);
    played_clear(&x);
}

/* Records: every step of every round, in order, nothing negative, effects end after they began. */
static void records(void)
{
    Played x = play(GEMM, 4096, NULL, 0, NULL);
    const WsTrace *t = x.r->trace;
    guint mma = 0, loads = 0;
    const WsTraceRecord *before = NULL;
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        g_assert_cmpint(r->start, >=, 0);
        g_assert_cmpint(r->issued, >=, r->start);
        g_assert_cmpint(r->done, >=, r->issued);
        g_assert_cmpint(r->done, <=, x.r->played + 2000);
        if (before && before->agent == r->agent)
            g_assert_cmpint(r->start, >=, before->issued);
        before = r;
        WsOpKind kind = x.p->op[r->op]->kind;
        mma += kind == WS_OP_MMA;
        loads += kind == WS_OP_TMA_LOAD;
    }
    g_assert_cmpuint(mma, ==, 2 * 4 * 64);
    g_assert_cmpuint(loads, ==, 2 * 4 * 64);
    g_assert_cmpstr(t->device, ==, "NVIDIA H200");
    g_assert_cmpuint(t->size->len, ==, 3);
    g_assert_cmpint(t->grid, ==, 132);
    played_clear(&x);
}

static void every_example(void)
{
    static const char *const names[] = { "attention-fa3-causal",   "attention-fa3-dynamic",
                                         "attention-tle-pingpong", "gemm-aliased",
                                         "gemm-cluster",           "gemm-cooperative",
                                         "gemm-fp8-block",         "gemm-pingpong",
                                         "sparse-mla-pipes",       "sparse-mla-seesaw" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *file = g_strdup_printf("tests/designs/%s.wstave", names[i]);
        Played x = play(file, 0, NULL, 0, NULL);
        g_assert_nonnull(x.r);
        g_assert_cmpuint(ws_findings_count(x.findings, WS_SEVERITY_ERROR), ==, 0);
        g_assert_cmpint(x.r->cycles, >, 1000);
        g_assert_cmpfloat(x.r->tensor_busy, >, 0.3);
        g_assert_cmpfloat(x.r->tensor_busy, <=, 1.0);
        g_assert_cmpfloat(x.r->tma_busy, <=, 1.0 + 1e-6);
        g_assert_cmpuint(x.r->trace->record->len, >, 100);
        played_clear(&x);
    }
}

/* Ragged, tiny and empty launches. */
static void sizes(void)
{
    static const struct {
        gint64 m, n, k, tiles;
    } cases[] = { { 0, 8, 8, 0 },
                  { 8, 0, 8, 0 },
                  { 1, 8, 8, 1 },
                  { 1000, 1016, 520, 1 },
                  { 128, 256, 65536, 1 } };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Played x = prepare(GEMM, 4096, NULL, 0);
        const WsSize size[] = { { "M", cases[i].m }, { "N", cases[i].n }, { "K", cases[i].k } };
        g_clear_pointer(&x.v, ws_launch_values_free);
        x.v = ws_launch_values(x.p, size, 3, FALSE, x.findings);
        x.r = ws_clock_run(x.p, x.v, x.m, NULL, x.findings);
        g_assert_nonnull(x.r);
        g_assert_cmpint(x.r->tiles, ==, cases[i].tiles);
        if (cases[i].tiles == 0)
            g_assert_cmpint(x.r->cycles, ==, 0);
        played_clear(&x);
    }
}

/* A design whose ring is never freed stops: a finding that names the wait, and what happened so
 * far. */
static void stuck(void)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, GEMM, NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) parts = g_strsplit(text, "\"init\": \"ready\"", 2);
    g_autofree char *broken = g_strjoinv("\"init\": \"pending\"", parts);
    Played x = { .findings = ws_findings_new(), .m = ws_machine_load(NULL, NULL) };
    WsDesign *design = ws_design_parse(broken, strlen(broken), NULL, x.findings);
    x.p = ws_elaborate(design, NULL, 0, x.findings);
    ws_design_unref(design);
    x.v = ws_launch_values(x.p, NULL, 0, FALSE, x.findings);
    guint findings = x.findings->list->len;
    x.r = ws_clock_run(x.p, x.v, x.m, NULL, x.findings);
    g_assert_nonnull(x.r);
    g_assert_cmpuint(x.findings->list->len, ==, findings + 1);
    const WsFinding *f = g_ptr_array_index(x.findings->list, findings);
    g_assert_cmpint(f->rule, ==, WS_RULE_P_DEADLOCK);
    g_assert_nonnull(strstr(f->message, "load waits on empty slot 0 at tile 0, k 0"));
    g_assert_true(x.r->stuck); /* and no share of a whole that there is not */
    g_assert_true(isnan(x.r->tensor_busy) && isnan(x.r->tma_busy) && isnan(x.r->smem_busy) &&
                  isnan(x.r->alu_busy) && isnan(x.r->mufu_busy));
    g_assert_true(isnan(x.r->trace->tma_busy) && isnan(x.r->trace->tensor_busy));
    played_clear(&x);
}

static void refusals(void)
{
    Played x = prepare(GEMM, 4096, NULL, 0);
    const WsClockOptions short_play = { .max_steps = 100 };
    g_assert_null(ws_clock_run(x.p, x.v, x.m, &short_play, x.findings));
    const WsFinding *f = g_ptr_array_index(x.findings->list, x.findings->list->len - 1);
    g_assert_nonnull(strstr(f->message, "more than 100 operations"));
    g_free(x.m->target);
    x.m->target = g_strdup("gfx950");
    g_assert_null(ws_clock_run(x.p, x.v, x.m, NULL, x.findings));
    f = g_ptr_array_index(x.findings->list, x.findings->list->len - 1);
    g_assert_cmpint(f->rule, ==, WS_RULE_F_CLOCK);
    played_clear(&x);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/machine/builtin", machine_builtin);
    g_test_add_func("/clock/machine/round-trip", machine_round_trip);
    g_test_add_func("/clock/machine/errors", machine_errors);
    g_test_add_func("/clock/play/gemm", gemm);
    g_test_add_func("/clock/play/machine-matters", machine_matters);
    g_test_add_func("/clock/play/stores-delay-loads", stores_delay_loads);
    g_test_add_func("/clock/play/stages", stages);
    g_test_add_func("/clock/play/extrapolation", extrapolation);
    g_test_add_func("/clock/play/grid-larger", grid_larger_than_the_machine);
    g_test_add_func("/clock/play/tiles-that-differ", tiles_that_differ);
    g_test_add_func("/clock/play/tiles-of-many-rounds", tiles_of_many_rounds);
    g_test_add_func("/clock/play/gains", gains);
    g_test_add_func("/clock/play/records", records);
    g_test_add_func("/clock/play/every-example", every_example);
    g_test_add_func("/clock/play/sizes", sizes);
    g_test_add_func("/clock/play/stuck", stuck);
    g_test_add_func("/clock/play/refusals", refusals);
    return g_test_run();
}
