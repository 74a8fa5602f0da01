/* Collecting: a record buffer made up by walking the program must come back as the times that were
 * written into it, with asynchronous ends where the waits observed them. */
#include "launch/collect.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "trace/op_kind.h"

#include "base/folder.h"
#include "launch/measure.h"
#include "recorded.h"
#include "runner/manifest.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const WsTraceRecord *find(const WsTrace *t, guint cta, guint agent, WsOpKind kind,
                                 gint round, const char *step_part)
{
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (r->cta == cta && r->agent == agent && ws_trace_op_kind(t, r->op) == kind &&
            r->round == round && (!step_part || strstr(t->op_id->pdata[r->op], step_part)))
            return r;
    }
    return NULL;
}

static guint agent_named(const WsProgram *p, const char *name)
{
    for (guint a = 0; a < p->n_agents; a++)
        if (strcmp(p->agent[a].name, name) == 0)
            return a;
    g_assert_not_reached();
}

static void check_loads(const WsTrace *t, const WsProgram *p, guint cta)
{
    guint load = agent_named(p, "load"), m0 = agent_named(p, "mma.0"), m1 = agent_named(p, "mma.1");
    guint n = 0;
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (r->cta != cta || r->agent != load || ws_trace_op_kind(t, r->op) != WS_OP_TMA_LOAD)
            continue;
        const WsTraceRecord *a = find(t, cta, m0, WS_OP_MBAR_WAIT, r->round, NULL);
        const WsTraceRecord *b = find(t, cta, m1, WS_OP_MBAR_WAIT, r->round, NULL);
        g_assert_nonnull(a);
        g_assert_nonnull(b);
        g_assert_cmpint(r->done, ==, MIN(a->issued, b->issued));
        g_assert_cmpint(r->issued, >=, r->start); /* A and B share a clock: A has the time */
        n++;
    }
    g_assert_cmpuint(n, ==, 2 * 20); /* two tiles of ten rounds, A and B */
}

/* The mma of round k is over when `mma_wait 1` of round k + 1 returns, the last one of a tile when
 * `mma_wait 0` does. */
static void check_mma(const WsTrace *t, const WsProgram *p, guint cta)
{
    guint agent = agent_named(p, "mma.1"), n = 0;
    for (gint k = 0; k < 20; k++) {
        const WsTraceRecord *mma = find(t, cta, agent, WS_OP_MMA, k, NULL);
        g_assert_nonnull(mma);
        g_assert_cmpint(mma->tile, ==, k / 10);
        const WsTraceRecord *wait =
            k % 10 < 9 ? find(t, cta, agent, WS_OP_MMA_WAIT, k + 1, "/do/0/do/") : NULL;
        if (wait)
            g_assert_cmpint(mma->done, ==, wait->issued);
        g_assert_cmpint(mma->done, >, mma->issued);
        n += wait != NULL;
    }
    g_assert_cmpuint(n, ==, 18);
}

static gint by_value(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

/* The steps of an agent follow each other without a gap where all of them were recorded. */
static void check_cover(const WsTrace *t, guint cta)
{
    for (guint a = 0; a < t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, cta, a);
        g_assert_nonnull(lane);
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first);
        guint arrivals = 0;
        gint64 held = 0, latest = 0;
        for (guint64 i = 0; i < lane->n; i++) {
            held += r[i].issued - r[i].start;
            latest = MAX(latest, r[i].issued);
            arrivals += ws_trace_op_kind(t, r[i].op) == WS_OP_MBAR_ARRIVE;
        }
        g_assert_cmpint(held, ==, latest - r[0].start);
        g_assert_true(a == 0 || arrivals > 15);
    }
}

static void test_measure(Fixture *f, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    guint64 missing;
    g_autoptr(WsTrace) t =
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size, NULL, NULL, &missing, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(missing, ==, 0);
    g_assert_cmpuint(t->cta->len, ==, 2);
    const WsTraceCta *c = &g_array_index(t->cta, WsTraceCta, 1);
    g_assert_cmpuint(c->id, ==, 2);
    g_assert_cmpuint(c->sm, ==, 41);
    g_assert_cmpfloat(fabs(c->ghz - 1.7), <, 1e-9);
    gint64 latest = 0;
    for (guint i = 0; i < t->record->len; i++) { /* the wrap of the clock is undone */
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        g_assert_cmpint(r->start, >=, 0);
        g_assert_cmpint(r->start, <=, r->issued);
        latest = MAX(latest, r->issued);
    }
    g_assert_cmpint(latest, >, 0x80);
    g_assert_cmpint(latest, <, 100000);
    for (guint cta = 0; cta < 2; cta++) {
        check_loads(t, f->p, cta);
        check_mma(t, f->p, cta);
        check_cover(t, cta);
    }
}

static void refused(const Fixture *f, const char *why)
{
    g_autoptr(GError) error = NULL;
    guint64 missing;
    g_autoptr(WsTrace) t =
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size, NULL, NULL, &missing, &error);
    g_assert_null(t);
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, why));
}

static void test_damage(Fixture *f, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    guint64 missing;
    g_assert_null(
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size - 4, NULL, NULL, &missing, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
    g_clear_error(&error);
    put32(f->data + 4, 77);
    g_assert_null(
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size, NULL, NULL, &missing, &error));
    g_assert_nonnull(strstr(error->message, "say they are of CTA 77"));
    g_clear_error(&error);
    put32(f->data + 4, f->plan->cta[0]);
    /* A lost round: its records are counted, not invented. */
    const WsRecordStrip *s = &f->plan->strip[0];
    memset(f->data + s->offset, 0xff, s->round_bytes);
    g_autoptr(WsTrace) t =
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size, NULL, NULL, &missing, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(missing, ==, s->n_points);
    /* Clocks that the CTA cannot have read are refused: one that goes back, one after its end,
     * a launch longer than 32 bits of a clock tell. */
    const WsRecordStrip *inner = &f->plan->strip[1];
    guint8 *word = f->data + inner->offset + 4 * (guint)inner->point[0].after;
    guint8 kept[4];
    memcpy(kept, word, 4);
    put32(word, (guint32)CLOCK0 - 1);
    refused(f, "a clock went back");
    memcpy(word, kept, 4);
    put64(f->data + 32, CLOCK0 + 3400 + (G_GUINT64_CONSTANT(1) << 32));
    refused(f, "more than 2^32 cycles");
    put64(f->data + 32, CLOCK0 - 1);
    refused(f, "its clock went back");
    put64(f->data + 32, CLOCK0 + 3400);
    put64(f->data + 16, 1000); /* no nanosecond: the rate of its clock is not known */
    g_autoptr(WsTrace) unknown =
        ws_measure(f->p, f->v, f->plan, GRID, f->data, f->size, NULL, NULL, &missing, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(g_array_index(unknown->cta, WsTraceCta, 0).ghz, ==, 0);
    g_assert_cmpint(g_array_index(unknown->cta, WsTraceCta, 0).cycles, >=, 3400);
    put64(f->data + 16, 3000);
    /* Arbitrary words never crash it. */
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    for (guint i = 64; i + 4 <= f->plan->cta_bytes; i += 4)
        put32(f->data + i, g_rand_int(rand));
    refused(f, "cannot be read as times");
}

static const char results[] =
    "{\"warpstave_results\": 1, \"status\": 0, \"name\": \"GEMM\", \"design_hash\": \"%s\", "
    "\"device\": {\"name\": \"NVIDIA "
    "H200\", \"sms\": 132, \"driver\": 13000}, \"modules\": {\"timed\": {\"registers\": 168}},"
    " \"cases\": [{\"label\": \"a\", "
    "\"sizes\": {\"M\": 200, \"N\": 768, \"K\": 640}, "
    "\"state\": \"right\", \"grid\": 3, \"records\": "
    "\"records.bin\","
    " \"outputs\": [{\"samples\": 4096, \"wrong\": 0, \"worst_error\": 0.01, \"worst_allowed\": "
    "0.02}],"
    " \"cold\": {\"n\": 30, \"median_us\": 12.5, \"min_us\": 12, \"max_us\": 13, \"p10_us\": 12.1,"
    " \"p90_us\": 12.9, \"cycles\": 20000, \"sm_mhz\": 1600, \"tensor_floor_cycles\": 19000},"
    " \"overhead\": 0.015},"
    " {\"label\": \"b\", "
    "\"sizes\": {\"M\": 200, \"N\": 768, \"K\": 640}, "
    "\"state\": \"hung\", \"stuck_agents\": [3, {\"cta\": 1},"
    " {\"cta\": 1, \"agent\": \"mma.0\", \"step\": \"groups/mma/body/0\", \"barrier\": \"full\","
    " \"op\": 17, \"waits\": \"mbarrier\", \"slot\": 2, \"awaited\": 1, \"seen\": 1, \"pending\": "
    "3,"
    " \"rounds\": [0, 4, 5, 6, 7]}, {\"cta\": 0, \"agent\": \"load\", \"step\": \"s\","
    " \"barrier\": \"x\", \"waits\": \"sync\", \"rounds\": []}],"
    " \"adversary\": {\"as_told\": true, \"seen\": \"it hangs\"}}]}";

static void put(const char *dir, const char *name, const void *data, gsize size)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
}

static void put_results(const char *dir, const char *hash)
{
    const char *at = strstr(results, "%s");
    g_autofree char *text = g_strdup_printf("%.*s%s%s", (int)(at - results), results, hash, at + 2);
    put(dir, "results.json", text, strlen(text));
}

/* Folder of two cases of 200x768x640 without a traced build. Caller removes and frees it. */
static char *timed_bundle(Fixture *f, WsFindings *findings)
{
    const WsSize size[] = { { "M", 200 }, { "N", 768 }, { "K", 640 } };
    WsBundleCase two[] = { { size, 3 }, { size, 3 } };
    WsBundleSpec spec = { .program = f->p, .timed_ptx = "", .cases = two, .n_cases = 2 };
    g_autoptr(GError) error = NULL;
    char *dir = g_dir_make_tmp("warpstave-collect-XXXXXX", NULL);
    ws_bundle_write(&spec, dir, findings, &error);
    g_assert_no_error(error);
    return dir;
}

static void test_collect(Fixture *f, gconstpointer unused)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *dir = g_dir_make_tmp("warpstave-collect-XXXXXX", NULL);
    const WsSize size[] = { { "M", 200 }, { "N", 768 }, { "K", 640 } };
    WsBundleCase two[] = { { size, 3 }, { size, 3 } };
    WsRecordChoice choice = { 0, ROUNDS, 0, 2, 3, f->plan->cta };
    WsBundleSpec spec = { .program = f->p,
                          .timed_ptx = "",
                          .traced_ptx = "",
                          .choice = &choice,
                          .cases = two,
                          .n_cases = 2 };
    g_assert_null(ws_collect(dir, findings, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
    g_clear_error(&error);
    ws_bundle_write(&spec, dir, findings, &error);
    g_assert_no_error(error);
    g_assert_null(ws_collect(dir, findings, &error));
    g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT);
    g_clear_error(&error);
    put_results(dir, f->p->design_hash);
    put(dir, "records.bin", f->data, f->size);
    g_autoptr(WsCollected) c = ws_collect(dir, findings, &error);
    g_assert_no_error(error);
    const WsCollectedCase *x = c->cases->pdata[0];
    g_assert_true(x->right);
    g_assert_cmpfloat(x->cold.median_us, ==, 12.5);
    g_assert_true(isnan(x->cold.watt));
    g_autofree char *text = ws_collected_print(c);
    g_assert_nonnull(strstr(text, "NVIDIA H200, 132 SMs, driver 13.0"));
    g_assert_nonnull(strstr(text, "recording costs +1.50 %"));
    const WsCollectedCase *hung = c->cases->pdata[1];
    g_assert_true(hung->held && hung->as_told && !x->held);
    g_assert_cmpuint(hung->stuck_agents->len, ==, 2); /* what is no record is passed over */
    g_assert_cmpint(g_array_index(hung->stuck_agents, WsCollectedStuck, 0).round[2], ==, 5);
    g_assert_nonnull(strstr(text, "the counterexample is reproduced: it hangs"));
    g_assert_nonnull(strstr(text, "stuck: agent mma.0 waits at groups/mma/body/0 on barrier full "
                                  "slot 2 for parity 1 (seen 1, 3 arrivals missing), CTA 1, round "
                                  "0.4.5\n"));
    g_assert_nonnull(strstr(text, "stuck: agent load waits at s on sync x, CTA 0\n"));
    g_autoptr(WsTrace) t = ws_collected_trace(c, 0, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(t->device, ==, "NVIDIA H200");
    g_assert_cmpstr(t->bound, ==, "tensor pipe");
    g_assert_cmpfloat(t->overhead, ==, 0.015);
    g_assert_cmpint(t->grid, ==, 3);
    g_assert_cmpint(g_array_index(t->size, gint64, 2), ==, 640);
    g_assert_null(ws_collected_trace(c, 1, &error));
    ws_folder_remove(dir);
}

static void test_bad_results(Fixture *f, gconstpointer unused)
{
    static const char *const bad[] = { "", "{", "[1]", "{\"warpstave_results\": 2}",
                                       "{\"warpstave_results\": \"1\"}" };
    g_autofree char *dir = g_dir_make_tmp("warpstave-collect-XXXXXX", NULL);
    put(dir, "bundle.txt", "x", 1);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        put(dir, "results.json", bad[i], strlen(bad[i]));
        g_assert_null(ws_collect(dir, findings, &error));
        g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
    }
    ws_folder_remove(dir);
}

static void replace(const char *dir, const char *name, const char *from, const char *to)
{
    g_autofree char *path = g_build_filename(dir, name, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    const char *at = strstr(text, from);
    g_assert_nonnull(at);
    g_autofree char *other =
        g_strdup_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    put(dir, name, other, strlen(other));
}

/* Figures are of the design that ran: not of one that was edited since, nor of any that does not
 * say which it is. */
static void test_another(Fixture *f, gconstpointer unused)
{
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    g_autofree char *line = g_strdup_printf("hash %s\n", f->p->design_hash);
    g_autofree char *zeroed = g_strdup_printf("hash %s\n", zeros);
    const struct {
        const char *ran, *file, *from, *to, *said;
    } row[] = {
        { f->p->design_hash, NULL, NULL, NULL, NULL },
        { zeros, NULL, NULL, NULL, "results.json is of another design" },
        { "", NULL, NULL, NULL, "results.json is of another design" },
        { f->p->design_hash, "bundle.txt", line, "", "not the design that the bundle was made of" },
        { f->p->design_hash, "bundle.txt", line, zeroed, "not the design" },
        { zeros, "bundle.txt", line, zeroed, "not the design" },
        { f->p->design_hash, "design.wstave", "\"STAGES\": 4", "\"STAGES\": 3", "not the design" },
        { f->p->design_hash, "design.wstave", "\"SLAB\": 64", "\"SLAB\": 32", "not the design" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *dir = timed_bundle(f, findings);
        put_results(dir, row[i].ran);
        if (row[i].file)
            replace(dir, row[i].file, row[i].from, row[i].to);
        g_autoptr(WsCollected) c = ws_collect(dir, findings, &error);
        g_assert_true((c == NULL) == (row[i].said != NULL));
        g_test_message("%u: %s", i, error ? error->message : "taken");
        if (row[i].said) {
            g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
            g_assert_nonnull(strstr(error->message, row[i].said));
        }
        ws_folder_remove(dir);
    }
}

/* Figures that no run can have given are refused; those of a kernel that was wrong are not taken.
 */
static void test_impossible(Fixture *f, gconstpointer unused)
{
    static const struct {
        const char *from, *to, *said;
    } row[] = {
        { "\"median_us\": 12.5", "\"median_us\": 0", "no clock gives" },
        { "\"median_us\": 12.5", "\"median_us\": NaN", "no clock gives" },
        { "\"median_us\": 12.5", "\"median_us\": -12.5", "no clock gives" },
        { "\"median_us\": 12.5", "\"median_us\": 12.95", "no clock gives" },
        { "\"min_us\": 12,", "\"min_us\": 0,", "no clock gives" },
        { "\"max_us\": 13", "\"max_us\": Infinity", "no clock gives" },
        { "\"p10_us\": 12.1", "\"p10_us\": 11.9", "no clock gives" },
        { "\"cycles\": 20000", "\"cycles\": 2000", "no clock gives" },
        { "\"cycles\": 20000", "\"cycles\": 20000, \"tflops\": -1", "no clock gives" },
        { "\"overhead\": 0.015", "\"overhead\": -1.5", "no clock gives" },
        { "\"wrong\": 0", "\"wrong\": 3", "samples of it are wrong" },
        { "\"K\": 640", "\"K\": 641", "not of the sizes M=200,N=768,K=640" },
        { "\"K\": 640", "\"L\": 640", "not of the sizes" },
        { "hangs\"}}]}", "hangs\"}}, {}]}", "has 3 cases, the bundle 2" },
    };
    for (guint i = 0; i <= G_N_ELEMENTS(row); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *dir = timed_bundle(f, findings);
        put_results(dir, f->p->design_hash);
        if (i < G_N_ELEMENTS(row))
            replace(dir, "results.json", row[i].from, row[i].to);
        else
            replace(dir, "results.json", "\"right\"", "\"wrong\"");
        g_autoptr(WsCollected) c = ws_collect(dir, findings, &error);
        g_test_message("%u: %s", i, error ? error->message : "taken");
        if (i < G_N_ELEMENTS(row)) {
            g_assert_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT);
            g_assert_nonnull(strstr(error->message, row[i].said));
        } else {
            g_assert_no_error(error);
            const WsCollectedCase *x = c->cases->pdata[0];
            g_assert_cmpuint(x->cold.n, ==, 0);
            g_assert_true(isnan(x->overhead));
        }
        ws_folder_remove(dir);
    }
}

/* A floor above the time is no floor: it is said to be impossible, and bounds nothing. */
static void test_floor(Fixture *f, gconstpointer unused)
{
    WsCollectedCase x = { .label = (char *)"a",
                          .state = (char *)"right",
                          .right = TRUE,
                          .cold = { 3, 10, 9, 11, 9, 11, NAN, 10000, 20000, 1000, NAN, NAN, TRUE },
                          .cold_traced.n = 0,
                          .overhead = NAN,
                          .stuck_agents = g_array_new(FALSE, FALSE, sizeof(WsCollectedStuck)) };
    g_autoptr(GPtrArray) cases = g_ptr_array_new();
    g_ptr_array_add(cases, &x);
    const WsCollected c = { .cases = cases };
    g_autofree char *impossible = ws_collected_print(&c);
    g_assert_nonnull(strstr(impossible, "tensor floor 20000 CANNOT BE"));
    g_assert_null(strstr(impossible, "200.0 %"));
    g_assert_null(strstr(impossible, "p10-p90")); /* of three */
    x.cold.floor_cycles = 9000;
    x.cold.n = 30;
    g_autofree char *possible = ws_collected_print(&c);
    g_assert_nonnull(strstr(possible, "tensor floor 9000 = 90.0 %"));
    g_assert_nonnull(strstr(possible, "p10-p90"));
    g_array_unref(x.stuck_agents);
}

/* A bundle that really ran, on an H200 (4096^3, CTAs 0, 1 and 131, the first 256 rounds). */
/* Lengths of sequences, as a launch may find them. */
static gboolean lengths(gpointer data, gint tensor, const gint64 *at, gint64 *value)
{
    const Fixture *f = data;
    *value = strcmp(f->p->tensor[tensor].name, "L") == 0 ? 100 + 700 * at[0] : 0;
    return TRUE;
}

/* Loops whose rounds an element of a tensor gives are walked by what that element was; where that
 * is not known, nothing is said: with 0 rounds the time of all of them went into the step behind.
 */
static void test_data(void)
{
    static const guint cta[] = { 0, 4, 8 };
    WsRecordChoice choice = { 0, ROUNDS, 0, 1, 3, cta, 0 };
    const WsSize size[] = { { "B", 3 }, { "H", 1 }, { "G", 4 }, { "NP", 64 }, { "MP", 32 } };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/attention-decode/design.wstave", findings);
    Fixture f = { .p = ws_elaborate(design, NULL, 0, findings), .element = lengths };
    guint64 missing = 0;
    f.v = ws_launch_values(f.p, size, G_N_ELEMENTS(size), FALSE, findings);
    f.plan = ws_recorder_new(f.p, &choice);
    f.size = f.plan->cta_bytes * f.plan->n_ctas;
    f.data = g_malloc(f.size);
    memset(f.data, 0xff, f.size);
    for (guint i = 0; i < 3; i++)
        record(&f, i);
    g_assert_null(ws_measure(f.p, f.v, f.plan, 12, f.data, f.size, NULL, NULL, &missing, &error));
    g_assert_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME);
    g_assert_nonnull(strstr(error->message, "elements of L"));
    g_clear_error(&error);
    g_autoptr(WsTrace) t =
        ws_measure(f.p, f.v, f.plan, 12, f.data, f.size, lengths, &f, &missing, &error);
    g_assert_no_error(error);
    guint rounds[3] = { 0 };
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (r->round >= 0 && f.p->op[r->op]->kind == WS_OP_TMA_LOAD)
            rounds[r->cta] = MAX(rounds[r->cta], (guint)r->round + 1);
    }
    for (guint i = 0; i < 3;
         i++) /* pages of 64 keys, dealt to four CTAs of which this is the first */
        g_assert_cmpuint(rounds[i], ==, ((100 + 700 * i + 63) / 64 + 3) / 4);
    tear_down(&f, NULL);
}

static void test_real(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsCollected) c = ws_collect(WS_SOURCE_ROOT "/tests/launch/h200", findings, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(c->cases->len, ==, 1);
    const WsCollectedCase *x = c->cases->pdata[0];
    g_assert_true(x->right);
    g_assert_cmpfloat(x->cold.median_us, >, 150);
    g_autoptr(WsTrace) t = ws_collected_trace(c, 0, &error);
    if (g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_PLAN)) {
        g_test_skip("the recorder's plan has changed since; record tests/launch/h200 anew");
        return;
    }
    g_assert_no_error(error);
    g_assert_null(strstr(t->note, "never written"));
    g_assert_cmpuint(t->cta->len, ==, 3);
    g_assert_cmpuint(g_array_index(t->cta, WsTraceCta, 2).id, ==, 131);
    for (guint i = 0; i < 3; i++) {
        const WsTraceCta *cta = &g_array_index(t->cta, WsTraceCta, i);
        g_assert_cmpuint(cta->sm, <, 132);
        g_assert_cmpfloat(cta->ghz, >, 1.2); /* and not the 1.98 that NVML says between launches */
        g_assert_cmpfloat(cta->ghz, <, 1.99);
    }
    /* The k loop runs at the tensor floor: 1024 cycles per 128x256x64 round. */
    guint agent = agent_named(c->program, "mma.0"), known = 0, loads = 0;
    GArray *period = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (gint k = 10; k < 60; k++) {
        const WsTraceRecord *a = find(t, 0, agent, WS_OP_MMA, k, NULL);
        const WsTraceRecord *b = find(t, 0, agent, WS_OP_MMA, k + 1, NULL);
        g_assert_nonnull(a);
        g_assert_nonnull(b);
        gint64 d = b->start - a->start;
        g_array_append_val(period, d);
    }
    g_array_sort(period, by_value);
    g_assert_cmpint(g_array_index(period, gint64, 25), >=, 1016);
    g_assert_cmpint(g_array_index(period, gint64, 25), <=, 1044);
    g_array_unref(period);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        g_assert_cmpint(r->start, <=, r->issued);
        if (ws_trace_op_kind(t, r->op) != WS_OP_TMA_LOAD)
            continue;
        loads++;
        known += r->done >= r->issued;
    }
    g_assert_cmpuint(loads, ==, 2 * (4 + 4 + 3) * 64); /* 512 tiles over 132 CTAs */
    g_assert_cmpuint(known, ==, loads);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/launch/collect/measure", Fixture, NULL, set_up, test_measure, tear_down);
    g_test_add("/launch/collect/damage", Fixture, NULL, set_up, test_damage, tear_down);
    g_test_add("/launch/collect/collect", Fixture, NULL, set_up, test_collect, tear_down);
    g_test_add("/launch/collect/another", Fixture, NULL, set_up, test_another, tear_down);
    g_test_add("/launch/collect/bad-results", Fixture, NULL, set_up, test_bad_results, tear_down);
    g_test_add("/launch/collect/impossible", Fixture, NULL, set_up, test_impossible, tear_down);
    g_test_add("/launch/collect/floor", Fixture, NULL, set_up, test_floor, tear_down);
    g_test_add_func("/launch/collect/data", test_data);
    g_test_add_func("/launch/collect/real", test_real);
    return g_test_run();
}
