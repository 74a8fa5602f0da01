/* The clock of targets whose groups are halves: the built-in machine of gfx950, and what the play
 * makes of the designs on it and on machines that differ in one value. */
#include "clock/clock.h"
#include "clock/play.h"
#include "clock/share.h"
#include "designs.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/walk/launch_values.h"

#include <glib/gstdio.h>
#include <math.h>

/* --- the machine ------------------------------------------------------------------------------ */
static void machine_builtin(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsMachine) m = ws_machine_for(NULL, "gfx950", &error);
    g_assert_no_error(error);
    g_autoptr(WsMachine) file =
        ws_machine_load(WS_SOURCE_ROOT "/resources/machines/mi355x.json", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(m->target, ==, "gfx950");
    g_assert_nonnull(strstr(m->note, "Not measured"));
    for (guint v = 0; v < WS_MACHINE_VALUE_COUNT; v++) {
        g_assert_cmpfloat(m->value[v], ==, file->value[v]);
        g_assert_true(ws_machine_has(m, (WsMachineValue)v) == (m->source[v] && *m->source[v]));
        /* no figure was measured here, and none may say so */
        g_assert_true(!m->source[v] || !g_str_has_prefix(m->source[v], "measured"));
    }
    g_autoptr(WsMachine) hopper = ws_machine_for(NULL, "sm_90a", &error);
    g_assert_cmpstr(hopper->target, ==, "sm_90a");
    g_assert_null(hopper->note);
    g_autoptr(WsMachine) other = ws_machine_for(NULL, "sm_100a", &error);
    g_assert_cmpstr(other->target, ==, "sm_90a"); /* and the clock refuses to play it */
    g_autofree char *name = NULL;
    g_close(g_file_open_tmp("machine-XXXXXX.json", &name, NULL), NULL);
    g_assert_true(ws_machine_save(m, name, &error));
    g_autoptr(WsMachine) again = ws_machine_load(name, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(again->note, ==, m->note);
    g_unlink(name);
}

static void machine_errors(void)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        { "\"dies\": { \"value\": 8", "\"dies\": { \"value\": 0", "\"dies\" is 0, which is out" },
        { "\"dies\": { \"value\": 8", "\"dies\": { \"value\": 1e9", "out of range: 1 to 4096" },
        { "\"mfma_cycles\"", "\"mma_issue\"", "a machine for gfx950 has no value \"mma_issue\"" },
        { "\"target\": \"gfx950\"", "\"target\": \"sm_90a\"",
          "a machine for sm_90a has no value \"mfma_cycles\"" },
        { "\"load_wait\": {", "\"set_priority\": {", "value \"load_wait\"" },
        { "\"note\": \"", "\"note\": 1, \"x\": \"", "\"note\" must be a text" },
        { "\"power_rest\": { \"value\": 313", "\"power_rest\": { \"value\": 1400",
          "power_rest is 1400 W, which leaves nothing of power_limit" },
        { "\"power_far\"", "\"power_near\"", "unknown value \"power_near\"" },
    };
    g_autofree char *good = NULL, *name = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/resources/machines/mi355x.json", &good, NULL, NULL));
    g_close(g_file_open_tmp("machine-XXXXXX.json", &name, NULL), NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        GString *s = g_string_new(good);
        g_assert_cmpuint(g_string_replace(s, cases[i].from, cases[i].to, 1), ==, 1);
        g_assert_true(g_file_set_contents(name, s->str, -1, NULL));
        g_string_free(s, TRUE);
        g_assert_null(ws_machine_load(name, &error));
        if (!strstr(error->message, cases[i].says))
            g_error("'%s' lacks '%s'", error->message, cases[i].says);
    }
    g_unlink(name);
}

/* --- plays ------------------------------------------------------------------------------------ */
typedef struct {
    WsProgram *p;
    WsLaunchValues *v;
    WsMachine *m;
    WsFindings *findings;
    WsClockResult *r;
} Played;

static Played prepare(const char *design, const AmdChange *change, guint n, const WsSetting *set,
                      guint n_set, gint64 k)
{
    Played x = { .findings = ws_findings_new() };
    const WsSize size[] = { { "K", k } };
    x.p = amd_load(design, change, n, set, n_set);
    x.m = ws_machine_for(NULL, "gfx950", NULL);
    x.v = ws_launch_values(x.p, size, k ? 1 : 0, FALSE, x.findings);
    g_assert_nonnull(x.v);
    return x;
}

static void play(Played *x)
{
    g_clear_pointer(&x->r, ws_clock_result_free);
    x->r = ws_clock_run(x->p, x->v, x->m, NULL, x->findings);
}

static void played_clear(Played *x)
{
    g_clear_pointer(&x->r, ws_clock_result_free);
    ws_launch_values_free(x->v);
    ws_program_unref(x->p);
    ws_machine_free(x->m);
    ws_findings_free(x->findings);
}

static double period(const Played *x, guint agent, const char *loop)
{
    for (guint i = 0; i < x->r->loop->len; i++) {
        const WsClockLoop *l = &g_array_index(x->r->loop, WsClockLoop, i);
        if (l->agent == agent && strcmp(l->loop->name, loop) == 0)
            return l->period;
    }
    return NAN;
}

#define WITHIN(x, low, high)                                                                       \
    do {                                                                                           \
        const double is_ = (x);                                                                    \
        if (!(is_ >= (low) && is_ <= (high)))                                                      \
            g_error("%s is %g, not %g to %g", #x, is_, (double)(low), (double)(high));             \
    } while (0)

/* By hand: a half multiplies 128 x 256 x 32 in 8 * 16 blocks, a quarter of them on each SIMD, 16.75
 * cycles each: 536. The halves take turns at the units: 1072 a round, and the borders. */
static void three_buffers(void)
{
    Played x = prepare("gemm-gfx950", NULL, 0, NULL, 0, 4096);
    play(&x);
    g_assert_nonnull(x.r);
    WITHIN(period(&x, 0, "k"), 1072, 1072 * 1.06);
    WITHIN(period(&x, 1, "k"), 1072, 1072 * 1.06);
    g_assert_cmpstr(x.r->bound, ==, "matrix units");
    g_assert_nonnull(strstr(x.r->note, "One CU is simulated"));
    g_assert_nonnull(strstr(x.r->note, "Not measured: no such GPU was at hand."));
    g_autofree char *text = ws_clock_result_text(x.r, x.p);
    g_assert_nonnull(strstr(text, "busy: matrix "));
    g_assert_null(strstr(text, "TMA"));
    played_clear(&x);
}

/* The play answers to the machine: what a changed value does to the period of a round. */
static void machine_matters(void)
{
    static const struct {
        WsMachineValue value;
        double set, low, high;
        const char *bound;
    } cases[] = {
        { WS_MACHINE_MFMA_CYCLES, 33.5, 2144, 2144 * 1.05, "matrix units" },
        /* 2 halves * (128*32*2 bytes of A read twice + 256*32*2 of B twice) at 32 bytes, and loads
         */
        { WS_MACHINE_SMEM_BYTES, 32, 3072, 3072 * 1.2, "LDS" },
        { WS_MACHINE_LOAD_PATH, 16, 2048, 2048 * 1.1, "loads and L2" },
        { WS_MACHINE_DIE_L2, 32 * 16, 2048, 2048 * 1.6, "loads and L2" },
        { WS_MACHINE_BAR_SYNC, 200, 1072 + 2 * 184, 1072 + 2 * 184 + 60, NULL },
        /* each half waits in its turn, and a load is under way for three of these turns */
        { WS_MACHINE_LOAD_LATENCY_FAR, 6000, 4000, 4000 * 1.12, NULL },
        { WS_MACHINE_PRIORITY, 100, 1072, 1500, NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Played x = prepare("gemm-gfx950", NULL, 0, NULL, 0, 4096);
        ws_machine_set(x.m, cases[i].value, cases[i].set, "test");
        play(&x);
        const double k = period(&x, 0, "k");
        if (!(k >= cases[i].low && k <= cases[i].high))
            g_error("%s: period %g", ws_machine_key(cases[i].value), k);
        if (cases[i].bound)
            g_assert_cmpstr(x.r->bound, ==, cases[i].bound);
        played_clear(&x);
    }
}

/* --- the two halves --------------------------------------------------------------------------- */
typedef struct {
    double from, to;
} Span;

static Span span(const Played *x, guint agent, WsOpKind kind, gint32 round)
{
    Span s = { INFINITY, 0 };
    for (guint i = 0; i < x->r->trace->record->len; i++) {
        const WsTraceRecord *t = &g_array_index(x->r->trace->record, WsTraceRecord, i);
        const WsOp *op = x->p->op[t->op];
        gboolean inside = FALSE;
        for (const WsTree *up = op->tree; up; up = up->parent)
            inside |= up->kind == WS_TREE_LOOP && g_strcmp0(up->name, "k") == 0;
        if (!inside || t->agent != agent || op->kind != kind || t->round != round)
            continue;
        s.from = MIN(s.from, (double)t->start);
        s.to = MAX(s.to, (double)t->issued);
    }
    g_assert_true(s.to > 0);
    return s;
}

/* One half reads while the other multiplies, and the upper one is the later one. */
static void a_stage_apart(void)
{
    Played x = prepare("gemm-gfx950", NULL, 0, NULL, 0, 4096);
    play(&x);
    for (gint32 k = 10; k < 14; k++) {
        const Span lower = span(&x, 0, WS_OP_MFMA, k), upper = span(&x, 1, WS_OP_MFMA, k);
        const Span reads = span(&x, 1, WS_OP_LD_SHARED, k);
        g_assert_cmpfloat(lower.to, <=, upper.from + 1);
        g_assert_cmpfloat(upper.to, <=, span(&x, 0, WS_OP_MFMA, k + 1).from + 1);
        g_assert_cmpfloat(reads.from, >=, lower.from - 1);
        g_assert_cmpfloat(reads.to, <=, lower.to + 1);
    }
    played_clear(&x);
}

/* Without stages both halves read, and then both multiply: a round is longer, though nobody does
 * more. With a stage more that both must pass, likewise. */
static void stages_pay(void)
{
    static const AmdChange flat[] = {
        { "{ \"stage\": \"mem\", \"priority\": 1, \"do\": [", "" },
        { "\"use\": \"k + NB - 1\" }\n          ] },", "\"use\": \"k + NB - 1\" }," },
        { "{ \"stage\": \"mfma\", \"do\": [", "{ \"sync\": \"group\" }," },
        { "{ \"mma\": \"acc\", \"a\": \"fa\", \"b\": \"fb\" }\n          ] }",
          "{ \"mma\": \"acc\", \"a\": \"fa\", \"b\": \"fb\" }" },
    };
    Played staged = prepare("gemm-gfx950", NULL, 0, NULL, 0, 4096);
    Played plain = prepare("gemm-gfx950", flat, G_N_ELEMENTS(flat), NULL, 0, 4096);
    play(&staged);
    play(&plain);
    g_assert_cmpfloat(period(&plain, 0, "k"), >, 1.2 * period(&staged, 0, "k"));
    g_assert_cmpfloat(plain.r->smem_busy, <, staged.r->smem_busy);
    played_clear(&staged);
    played_clear(&plain);
}

/* A half that multiplies with priority is not held up by one that multiplies without. */
static void priority(void)
{
    static const AmdChange both[] = {
        { "{ \"name\": \"fa\"", "{ \"name\": \"more\", \"dtype\": \"f32\", \"tile\": [\"BM\", "
                                "\"BN\"] }, { \"name\": \"fa\"" },
        { "\"acc = 0\"", "[\"acc = 0\", \"more = 0\"]" },
        { "\"use\": \"k + NB - 1\" }\n          ] },",
          "\"use\": \"k + NB - 1\" }, { \"mma\": \"more\", \"a\": \"fa\", \"b\": \"fb\" } ] }," },
    };
    static const AmdChange no = { "\"priority\": 1, ", "" };
    double longest[2] = { 0, 0 }; /* product of the first stage, without and with priority */
    for (guint with = 0; with < 2; with++) {
        AmdChange change[G_N_ELEMENTS(both) + 1];
        memcpy(change, both, sizeof both);
        change[G_N_ELEMENTS(both)] = no;
        Played x = prepare("gemm-gfx950", change, G_N_ELEMENTS(both) + !with, NULL, 0, 4096);
        play(&x);
        for (guint i = 0; i < x.r->trace->record->len; i++) {
            const WsTraceRecord *t = &g_array_index(x.r->trace->record, WsTraceRecord, i);
            const WsOp *op = x.p->op[t->op];
            if (op->kind != WS_OP_MFMA || t->round < 10 || t->round > 20)
                continue;
            if (strcmp(x.p->agent[t->agent].value[op->value[0].value].name, "more") == 0)
                longest[with] = MAX(longest[with], (double)(t->issued - t->start));
        }
        played_clear(&x);
    }
    WITHIN(longest[1], 536, 900); /* its operands are read meanwhile */
    g_assert_cmpfloat(longest[0], >, longest[1] + 150);
}

/* --- dies ------------------------------------------------------------------------------------- */
static void dealt(void)
{
    static const AmdChange none[] = { { "all ,\n    \"xcd\": [8, 4]", "" } };
    g_autoptr(WsProgram) p = amd_load("gemm-gfx950", NULL, 0, NULL, 0);
    g_autoptr(WsProgram) plain = amd_load("gemm-gfx950", none, 1, NULL, 0);
    g_assert_cmpint(p->tiles->xcd[0], ==, 8);
    for (gint64 count = 1; count < 150; count++) {
        g_autofree guint8 *seen = g_new0(guint8, (gsize)count);
        for (gint64 id = 0; id < count; id++) {
            const gint64 tile = ws_dealt_tile(p, count, id);
            g_assert_true(tile >= 0 && tile < count && !seen[tile]);
            seen[tile] = 1;
            g_assert_cmpint(ws_dealt_tile(plain, count, id), ==, id);
            if (id < count / 32 * 32) /* four tiles next to each other on a die, 32 in a round */
                g_assert_cmpint(tile / 4 % 8, ==, id % 8);
        }
    }
    g_assert_cmpint(ws_dealt_tile(p, 100, -1), ==, -1);
}

/* CTAs of a die that load the same rows share what comes from beyond it: how many of the 32 that
 * work at a time, by hand. 4096 x 4096: 16 x 16 tiles, grouped by 8 rows: id % 8 is the row in its
 * group of 128 ids. */
static void sharers(void)
{
    static const AmdChange none[] = { { ",\n    \"xcd\": [8, 4]", "" } };
    static const struct {
        guint n;
        guint of_a, of_b;         /* CTAs that load the rows of A, the columns of B */
    } cases[] = { { 0, 4, 8 },    /* four rows of two groups each, in four columns */
                  { 1, 16, 2 } }; /* every eighth tile: two rows, all columns */
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Played x = prepare("gemm-gfx950", none, cases[i].n, NULL, 0, 4096);
        g_autoptr(WsMachine) m = ws_machine_for(NULL, "gfx950", NULL);
        WsShares *s = ws_shares_new(x.p, x.v, 256, 0, 256, 8, 6, 4 << 20);
        guint loads = 0;
        for (guint o = 0; o < x.p->n_ops; o++) {
            if (x.p->op[o]->kind != WS_OP_CP_ROWS)
                continue;
            const WsShare share = ws_shares_get(s, o, 0);
            g_assert_true(share.fetched);
            g_assert_cmpuint(share.sharers, ==,
                             x.p->op[o]->tensor == 0 ? cases[i].of_a : cases[i].of_b);
            loads++;
        }
        g_assert_cmpuint(loads, ==, 8);
        ws_shares_free(s);
        played_clear(&x);
    }
}

/* --- power ------------------------------------------------------------------------------------ */
/* Watts of 4096 x 4096 x 4096 by hand: 16.75 cycles for each 16 x 16 x 32 of it on one of 1024
 * matrix units; of 64 rows of K each of 256 CTAs fetches a quarter of 256 rows of A and an eighth
 * of 256 columns of B (`sharers`). */
static double watts(const WsMachine *m, double cycles, double ghz)
{
    const double k = 4096, busy = 4096.0 * 4096 * k / (16 * 16 * 32) / 1024 * 16.75 / cycles;
    const double bytes = 256 * k * 2 * (256 / 4.0 + 256 / 8.0);
    return 313 + 141e-12 * bytes / (cycles / (ghz * 1e9)) +
           m->value[WS_MACHINE_POWER_MATRIX] * busy * pow(ghz, m->value[WS_MACHINE_POWER_EXPONENT]);
}

static void power(void)
{
    static const struct {
        WsMachineValue value;
        double set, ghz; /* 0: below 2.4 */
    } cases[] = {
        { WS_MACHINE_POWER_LIMIT, 1400, 0 },      { WS_MACHINE_POWER_LIMIT, 1000, 0 },
        { WS_MACHINE_POWER_LIMIT, 4000, 2.4 },    { WS_MACHINE_POWER_LIMIT, 0, 2.4 },
        { WS_MACHINE_POWER_MATRIX, 614, 0 },      { WS_MACHINE_POWER_MATRIX, 50, 2.4 },
        { WS_MACHINE_POWER_EXPONENT, 3, 0 },      { WS_MACHINE_GHZ, 1.5, 1.5 },
        { WS_MACHINE_MFMA_CYCLES, 16.75 * 4, 0 },
    };
    double last = 0;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Played x = prepare("gemm-gfx950", NULL, 0, NULL, 0, 4096);
        ws_machine_set(x.m, WS_MACHINE_POWER_LIMIT, 0, "test");
        play(&x);
        const double cycles = (double)x.r->cycles;
        ws_machine_set(x.m, WS_MACHINE_POWER_LIMIT, 1400, "test");
        ws_machine_set(x.m, cases[i].value, cases[i].set, "test");
        play(&x);
        WITHIN(x.r->seconds * x.r->ghz * 1e9 / (double)x.r->cycles, 1 - 1e-9, 1 + 1e-9);
        g_assert_true((strstr(x.r->note, "Power holds the engine clock") != NULL) ==
                      (x.r->peak_ghz > 0));
        if (cases[i].ghz > 0) {
            g_assert_cmpfloat(x.r->ghz, ==, cases[i].ghz);
            g_assert_cmpfloat(x.r->peak_ghz, ==, 0);
        } else if (cases[i].value != WS_MACHINE_MFMA_CYCLES) {
            const double limit = x.m->value[WS_MACHINE_POWER_LIMIT];
            g_assert_cmpfloat(x.r->ghz, <, 2.4);
            g_assert_cmpfloat(x.r->peak_ghz, ==, 2.4);
            WITHIN(watts(x.m, cycles, x.r->ghz) / limit, 0.995, 1.005);
            /* memory does not slow down with the engine: no more cycles than before */
            g_assert_cmpfloat((double)x.r->cycles, <=, cycles * 1.001);
        }
        if (i == 1)
            g_assert_cmpfloat(x.r->ghz, <, last);
        last = x.r->ghz;
        played_clear(&x);
    }
    /* the clock of a measured run is given, and one workgroup alone is not held */
    Played x = prepare("gemm-gfx950", NULL, 0, NULL, 0, 4096);
    g_autoptr(WsMachine) given = ws_machine_at(x.m, 2.1);
    g_autoptr(WsClockResult) at = ws_clock_run(x.p, x.v, given, NULL, x.findings);
    g_assert_cmpfloat(at->ghz, ==, 2.1);
    ws_launch_values_free(x.v);
    x.v = ws_launch_values(x.p, (WsSize[]){ { "M", 256 }, { "N", 256 }, { "K", 4096 } }, 3, FALSE,
                           x.findings);
    play(&x);
    g_assert_cmpfloat(x.r->ghz, ==, 2.4);
    played_clear(&x);
}

/* --- what it does not know ---------------------------------------------------------------------
 */
static void refused(void)
{
    static const AmdChange hopper[] = { { "", NULL } };
    Played x = prepare("gemm-gfx950", hopper, 0, NULL, 0, 4096);
    ws_machine_free(x.m);
    x.m = ws_machine_load(NULL, NULL);
    play(&x);
    g_assert_null(x.r); /* of another target */
    g_autofree char *text = ws_findings_print(x.findings, "d");
    g_assert_nonnull(strstr(text, "the machine description NVIDIA H200 is for sm_90a"));
    played_clear(&x);

    static const AmdChange reduce[] = {
        { "\"access\": \"write\"", "\"access\": \"reduce\"" },
        { "{ \"write\": \"acc\", \"to\": \"C\"",
          "{ \"write\": \"acc\", \"reduce\": \"add\", \"to\": \"C\"" },
        { "\"name\": \"C\", \"dtype\": \"f16\"", "\"name\": \"C\", \"dtype\": \"f32\"" },
    };
    Played y = prepare("gemm-gfx950", reduce, G_N_ELEMENTS(reduce), NULL, 0, 4096);
    play(&y);
    g_assert_null(y.r);
    g_autofree char *says = ws_findings_print(y.findings, "d");
    g_assert_nonnull(strstr(says, "not in the clock"));
    played_clear(&y);
}

/* No trip at all, and one: the halves still meet. */
static void short_loops(void)
{
    static const gint64 k[] = { 64, 96, 128 };
    for (guint i = 0; i < G_N_ELEMENTS(k); i++) {
        Played x = prepare("gemm-gfx950", NULL, 0, NULL, 0, k[i]);
        play(&x);
        g_assert_nonnull(x.r);
        g_assert_false(x.r->stuck);
        played_clear(&x);
    }
}

/* Lanes that meet in a bank: 8 lanes that read 16 bytes are served together, 16 that read 8 bytes.
 */
static void banks(void)
{
    static const AmdChange plain = { "\"stages\": \"NB\"", "\"stages\": \"NB\", \"swizzle\": 0" };
    static const AmdChange both = { "all \"stages\": \"NB\"",
                                    "\"stages\": \"NB\", \"swizzle\": 0" };
    static const AmdChange no_gap = { "all \"gap\": 16", "\"swizzle\": 0" };
    static const struct {
        const char *design;
        const AmdChange *change;
        double a, b; /* times as long as the bytes take */
    } cases[] = {
        { "gemm-gfx950", NULL, 1, 1 },
        { "gemm-gfx950-32", NULL, 1, 1 },
        { "gemm-gfx950-fp8", NULL, 1, 1 },
        { "gemm-gfx950-gap", NULL, 1, 1 },
        /* rows of 128 bytes, every second one in the same banks: 4 of 8 */
        { "gemm-gfx950-gap", &no_gap, 4, 4 },
        /* rows of 64 bytes: 2 of 8 */
        { "gemm-gfx950", &plain, 2, 1 },
        /* of B four rows of 512 bytes at a time, all in the same banks */
        { "gemm-gfx950", &both, 2, 4 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsProgram) p =
            amd_load(cases[i].design, cases[i].change, cases[i].change ? 1 : 0, NULL, 0);
        g_autoptr(WsMachine) m =
            ws_machine_load(WS_SOURCE_ROOT "/resources/machines/mi355x.json", &error);
        double turns[2] = { 0, 0 };
        g_assert_no_error(error);
        for (guint k = 0; k < p->n_ops; k++) {
            const WsOp *op = p->op[k];
            if (op->kind == WS_OP_LD_SHARED)
                turns[op->access[0].buffer] = ws_clock_bank_turns(p, m, op);
        }
        if (turns[0] != cases[i].a || turns[1] != cases[i].b)
            g_error("%s: %g and %g, not %g and %g", cases[i].design, turns[0], turns[1], cases[i].a,
                    cases[i].b);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/amd/clock/machine", machine_builtin);
    g_test_add_func("/amd/clock/machine-errors", machine_errors);
    g_test_add_func("/amd/clock/three-buffers", three_buffers);
    g_test_add_func("/amd/clock/machine-matters", machine_matters);
    g_test_add_func("/amd/clock/a-stage-apart", a_stage_apart);
    g_test_add_func("/amd/clock/stages-pay", stages_pay);
    g_test_add_func("/amd/clock/priority", priority);
    g_test_add_func("/amd/clock/dealt", dealt);
    g_test_add_func("/amd/clock/sharers", sharers);
    g_test_add_func("/amd/clock/power", power);
    g_test_add_func("/amd/clock/refused", refused);
    g_test_add_func("/amd/clock/short-loops", short_loops);
    g_test_add_func("/amd/clock/banks", banks);
    return g_test_run();
}
