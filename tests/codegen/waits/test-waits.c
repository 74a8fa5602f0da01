/* Waits in branches and loops, in every back end: what a wait retires is used behind it, and only
 * there. Designs by hand (tests/designs/waits) and at random (draw.c) are rehearsed against their
 * reference; PTX and CUDA C++ are read by judges of their own (ptx_flow.c, cuda_flow.c); Gluon and
 * TLE are proved as they are read back, or refused by name. */
#include "../../import/judged.h"
#include "../../whole.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "cuda_flow.h"
#include "draw.h"
#include "import/import.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "ptx_flow.h"

#include <stdlib.h>
#include <string.h>

#define DESIGNS WS_SOURCE_ROOT "/tests/designs/"
#define WAITS   DESIGNS "waits/"

static WsProgram *program_of(const char *text, const char *name)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), name, findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *says = ws_findings_print(findings, name);
        g_error("%s: %s\n%s", name, says, text);
    }
    return p;
}

/* --- back ends -------------------------------------------------------------------------------- */

static void report(const char *what, const GPtrArray *violation, const char *text)
{
    for (guint i = 0; i < violation->len && i < 8; i++)
        g_test_message("%s: %s", what, (char *)violation->pdata[i]);
    if (violation->len)
        g_test_message("%s", text);
    g_assert_cmpuint(violation->len, ==, 0);
}

static guint products_of(const WsProgram *p, WsOpKind kind)
{
    guint n = 0;
    for (guint i = 0; i < p->n_ops; i++)
        n += p->op[i]->kind == kind;
    return n;
}

/* Id of a step -> bits of the buffers that it touches. */
static GHashTable *buffers_of(const WsProgram *p)
{
    GHashTable *all = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < p->n_ops; i++) {
        guint32 bits = 0;
        for (guint k = 0; k < p->op[i]->n_access; k++)
            bits |= 1u << p->op[i]->access[k].buffer;
        if (bits)
            g_hash_table_insert(all, p->op[i]->id, GUINT_TO_POINTER(bits));
    }
    return all;
}

static PtxFlow follow_ptx(const WsProgram *p, const char *text)
{
    g_autoptr(GHashTable) buffers = buffers_of(p);
    guint32 late[32] = { 0 };
    for (guint i = 0; i < p->n_buffers; i++)
        late[i] = p->buffer[i].stages == 1 ? ~0u : ~0u << p->buffer[i].stages;
    return ptx_flow(text, p->n_agents == 1 ? buffers : NULL, late);
}

static GPtrArray *flow_of(const WsProgram *p, const char *text)
{
    PtxFlow f = follow_ptx(p, text);
    return f.violation;
}

static void judge_ptx(const WsProgram *p, const char *design)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    PtxFlow f = follow_ptx(p, text);
    report("PTX", f.violation, design);
    if (products_of(p, WS_OP_MMA_WAIT) && products_of(p, WS_OP_MMA)) {
        g_assert_cmpuint(f.waits, >, 0);
        g_assert_cmpuint(f.products, >, 0);
    }
    ptx_flow_clear(&f);
}

/* `told`: where stores follow conditions that hang together (a tile that is wide, or after one),
 * cuda_flow() takes ways that no tile takes: of stores it is only told then. */
static void judge_cuda(const WsProgram *p, const char *design, gboolean told)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_cuda(p, FALSE, &error);
    g_assert_no_error(error);
    guint waits;
    g_autoptr(GPtrArray) violation = cuda_flow(text, &waits);
    for (guint i = violation->len; told && i-- > 0;)
        if (strstr(violation->pdata[i], ": smem.")) {
            g_test_message("CUDA, not judged: %s", (char *)violation->pdata[i]);
            g_ptr_array_remove_index(violation, i);
        }
    report("CUDA", violation, design);
    if (products_of(p, WS_OP_MMA_WAIT))
        g_assert_cmpuint(waits, >, 0);
}

/* Values by halves: cuda_flow() takes a value as a whole. */
static void judge_parts(const WsProgram *p)
{
    g_autofree char *text = ws_generate_cuda(p, FALSE, NULL);
    const char *role = strstr(text, "// Role "), *first = strstr(role, "wgmma_wait<1>();"),
               *second = strstr(role, "wgmma_wait<0>();");
    g_assert_true(first && second && first < second);
    const char *half = strstr(first, "keep_part<0, 32>(x_);");
    g_assert_true(half && half < second && half - first < 80);
    g_assert_true(strstr(second, "keep(x_);") != NULL);
}

static void judge_rehearsal(WsRehearsal *s, guint64 seed, const char *design)
{
    WsRehearseOptions options = { .seed = seed, .sms = 2 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearsal_run(s, &options, findings, &error);
    g_assert_no_error(error);
    if (!r->matches)
        g_test_message("%s %s %s %s\n%s", r->first_wrong ? r->first_wrong : "",
                       r->stuck ? r->stuck : "", r->first_race ? r->first_race : "",
                       r->first_violation ? r->first_violation : "", design);
    g_assert_true(r->matches);
    g_assert_cmpuint(r->elements, >, 0);
    ws_rehearse_result_free(r);
}

/* PTX as it is read back: whatever is understood of it is right. */
static gboolean is_ptx_proved(const WsProgram *p)
{
    g_autofree char *text = ws_generate_ptx(p, NULL, NULL);
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), !=, WS_VERDICT_REFUTED);
    return is_proved(text, WS_IMPORT_PTX);
}

/* What an export says that cannot be said: NULL if it is written. Caller frees. */
static char *judge_python(const WsProgram *p, WsImportFrom to, gboolean large)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = to == WS_IMPORT_GLUON ? ws_generate_gluon(p, FALSE, NULL, &error)
                            : to == WS_IMPORT_TLE ? ws_generate_tle(p, FALSE, NULL, &error)
                                                  : ws_generate_tlx(p, FALSE, NULL, &error);
    if (!text) {
        g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
        g_assert_null(strstr(error->message, "fault"));
        return g_strdup(error->message);
    }
    WsVerdictKind kind = verdict_of(text, to);
    if (!large || kind != WS_VERDICT_OUTSIDE) /* more states than the proof takes */
        g_assert_cmpint(kind, ==, WS_VERDICT_PROVED);
    return NULL;
}

/* --- by hand ---------------------------------------------------------------------------------- */

#define TLE_BRANCH "step mma_wait at groups/math/body/"

static const struct {
    const char *name, *gluon, *tle, *tlx; /* where and why it cannot be said; NULL: it is written */
    gboolean unread;                      /* its PTX is not read back as a whole */
} designs[] = {
    { "attention", NULL, TLE_BRANCH, NULL },
    { "both-branches", NULL, TLE_BRANCH, NULL },
    { "branch-in-branch", NULL, TLE_BRANCH, NULL },
    { "carried", NULL, NULL, NULL },
    { "carried-by-parity", NULL, TLE_BRANCH, NULL },
    { "gathers", NULL, NULL, "a gather into shared memory", TRUE },
    { "gathers-newest-stays", NULL, NULL, "a gather into shared memory", TRUE },
    { "groups-by-path", "of which paths leave different ones", "(F30)",
      "of which paths leave different ones" },
    { "loop", NULL, NULL, NULL },
    { "loop-always", NULL, NULL, NULL },
    { "newest-by-path", NULL, "it leaves its branch in flight", NULL },
    { "newest-stays", NULL, NULL, NULL },
    { "no-path", NULL, NULL, NULL },
    { "one-branch", NULL, TLE_BRANCH, NULL },
    { "operand", NULL, TLE_BRANCH, NULL },
    { "operand-around-loops", "that is read beyond its round or branch", NULL, NULL },
    { "operand-in-loop", NULL, TLE_BRANCH, NULL },
    { "operand-past-loop", NULL, NULL, NULL },
    { "over-tiles", NULL, TLE_BRANCH, NULL, TRUE },
    { "parts", "accumulates into part of a value", "a part of a value as accumulator",
      "part of a value" },
    { "product-in-branch", NULL, "it leaves its branch in flight", NULL },
    { "stores", NULL, NULL, NULL, TRUE },
    { "stores-two-stages", NULL, NULL, NULL },
};

static char *text_of(const char *name)
{
    g_autofree char *path = g_strdup_printf(WAITS "%s.wstave", name);
    char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

static void as_told(const WsProgram *p, WsImportFrom to, const char *why)
{
    g_autofree char *says = judge_python(p, to, FALSE);
    g_test_message("%s: %s", ws_import_from_text(to), says ? says : "proved");
    g_assert_true(!says == !why);
    g_assert_true(!why || strstr(says, why));
}

static void test_design(gconstpointer data)
{
    guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = text_of(designs[i].name);
    g_autoptr(WsProgram) p = program_of(text, designs[i].name);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsVerdict *v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    ws_verdict_free(v);
    const gboolean large = !strcmp(designs[i].name, "attention");
    g_autoptr(WsRehearsal) rehearsal = ws_rehearsal_new(p);
    for (guint64 seed = 1; seed <= (large ? 1u : 3u); seed++)
        judge_rehearsal(rehearsal, seed, text);
    judge_ptx(p, text);
    g_assert_true(is_ptx_proved(p) == !designs[i].unread);
    if (!strcmp(designs[i].name, "parts"))
        judge_parts(p);
    else
        judge_cuda(p, text, FALSE);
    as_told(p, WS_IMPORT_GLUON, designs[i].gluon);
    as_told(p, WS_IMPORT_TLE, designs[i].tle);
    as_told(p, WS_IMPORT_TLX, designs[i].tlx);
}

/* Every design of the folder is in the table. */
static void test_all(void)
{
    g_autoptr(GDir) dir = g_dir_open(WAITS, 0, NULL);
    guint n = 0;
    for (const char *file; (file = g_dir_read_name(dir));)
        n += g_str_has_suffix(file, ".wstave");
    g_assert_cmpuint(n, ==, G_N_ELEMENTS(designs));
}

/* --- at random -------------------------------------------------------------------------------- */

static const WsImportFrom languages[] = { WS_IMPORT_GLUON, WS_IMPORT_TLE, WS_IMPORT_TLX };

/* What is drawn beside products, and of how many designs some part is written as Gluon. */
static const struct {
    const char *name;
    DrawOptions with;
    guint gluon; /* one of so many, in the long run; 0: none, by what Gluon cannot say */
} drawn[] = {
    { "products", { 0 }, 2 },
    { "stores", { .stores = TRUE }, 2 },
    { "operands", { .operands = TRUE }, 4 },
    { "first", { .first = TRUE, .operands = TRUE }, 4 },
    { "gathers", { .gathers = TRUE }, 2 },
    { "parts", { .parts = TRUE, .operands = TRUE }, 0 },
    { "tiles", { .tiles = TRUE, .operands = TRUE, .first = TRUE }, 4 },
    { "all", { .stores = TRUE, .operands = TRUE, .gathers = TRUE }, 4 },
    { "all-in-tiles",
      { .stores = TRUE, .operands = TRUE, .gathers = TRUE, .parts = TRUE, .tiles = TRUE },
      0 },
};

static void test_random(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    const guint32 n = g_test_slow() ? 120 : 1;
    const char *from = g_getenv("WARPSTAVE_SEED");
    const guint32 first = from ? (guint32)atoi(from) : test_sanitized() ? 1 : 0;
    guint written[G_N_ELEMENTS(languages)] = { 0 };
    for (guint32 seed = first; seed < first + n; seed++) {
        DrawOptions options = drawn[row].with;
        options.items = 3 + seed % 9;
        g_autofree char *text = draw_design(seed, &options);
        g_autoptr(WsProgram) p = program_of(text, "drawn");
        g_autoptr(WsRehearsal) rehearsal = ws_rehearsal_new(p);
        judge_rehearsal(rehearsal, seed, text);
        judge_ptx(p, text);
        judge_cuda(p, text, FALSE);
        for (guint i = 0; i < G_N_ELEMENTS(languages); i++) {
            g_autofree char *says = judge_python(p, languages[i], TRUE);
            written[i] += says == NULL;
        }
    }
    g_test_message("%u designs: %u as Gluon, %u as TLE, %u as TLX", n, written[0], written[1],
                   written[2]);
    if (g_test_slow() && drawn[row].gluon)
        g_assert_cmpuint(written[0], >, n / drawn[row].gluon);
}

/* --- the judges ------------------------------------------------------------------------------- */

static char *without(const char *text, const char *word, guint nth)
{
    const char *at = text;
    for (guint i = 0; at && i <= nth; i++)
        at = strstr(i ? at + 1 : at, word);
    if (!at)
        return NULL;
    g_autofree char *before = g_strndup(text, (gsize)(at - text));
    return g_strconcat(before, at + strlen(word), NULL);
}

/* Waits that are left out of a text: how many the judge finds. Behind those that it does not find,
 * another wait comes before the registers or the buffer are used. */
static const struct {
    const char *name, *word;
    guint waits, found;
} planted_ptx[] = {
    { "both-branches", "wgmma.wait_group.sync.aligned 0;", 2, 2 },
    { "newest-stays", "wgmma.wait_group.sync.aligned 0;", 1, 1 },
    { "newest-stays", "wgmma.wait_group.sync.aligned 1;", 1, 1 },
    { "parts", "wgmma.wait_group.sync.aligned 0;", 1, 1 },
    { "parts", "wgmma.wait_group.sync.aligned 1;", 1, 1 },
    { "operand", "wgmma.wait_group.sync.aligned 0;", 3, 3 },
    { "carried", "wgmma.wait_group.sync.aligned 0;", 1, 1 },
    { "carried", "wgmma.wait_group.sync.aligned 1;", 2, 0 },
    { "over-tiles", "wgmma.wait_group.sync.aligned 0;", 1, 1 },
    { "over-tiles", "wgmma.wait_group.sync.aligned 1;", 2, 0 },
    { "stores", "cp.async.bulk.wait_group.read 0;", 3, 2 },
    { "stores-two-stages", "cp.async.bulk.wait_group.read 1;", 2, 2 },
    { "gathers", "cp.async.wait_group 0;", 2, 2 },
    { "gathers-newest-stays", "cp.async.wait_group 0;", 1, 1 },
    { "gathers-newest-stays", "cp.async.wait_group 1;", 2, 2 },
    { "stores", "mbarrier.try_wait", 1, 1 },
}, planted_cuda[] = {
    { "both-branches", "wgmma_wait<", 2, 2 },
    { "stores", "bulk_wait_read<", 3, 2 },
    { "stores-two-stages", "bulk_wait_read<", 4, 2 },
    { "gathers", "cp_wait<", 3, 2 },
    { "gathers-newest-stays", "cp_wait<", 3, 3 },
    { "stores", "mbar_wait(smem", 1, 1 },
};

static void judge_planted(gboolean cuda, const char *name, const char *word, guint waits,
                          guint found)
{
    g_autofree char *text = text_of(name);
    g_autoptr(WsProgram) p = program_of(text, name);
    g_autofree char *made =
        cuda ? ws_generate_cuda(p, FALSE, NULL) : ws_generate_ptx(p, NULL, NULL);
    guint have = 0, seen = 0;
    char *less;
    for (; (less = without(made, word, have)); have++) {
        guint n;
        g_autoptr(GPtrArray) violation = cuda ? cuda_flow(less, &n) : flow_of(p, less);
        seen += violation->len > 0;
        g_free(less);
    }
    g_test_message("%s, %s: %u of %u", name, word, seen, have);
    g_assert_cmpuint(have, ==, waits);
    g_assert_cmpuint(seen, ==, found);
}

static void test_planted_ptx(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(planted_ptx); i++)
        if (test_takes(i, 1, 2))
            judge_planted(FALSE, planted_ptx[i].name, planted_ptx[i].word, planted_ptx[i].waits,
                          planted_ptx[i].found);
}

static void test_planted_cuda(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(planted_cuda); i++)
        if (test_takes(i, 1, 2))
            judge_planted(TRUE, planted_cuda[i].name, planted_cuda[i].word, planted_cuda[i].waits,
                          planted_cuda[i].found);
}

/* What a wait frees, not held back behind it. */
static void test_held_cuda(void)
{
    static const char *const names[] = { "both-branches", "newest-stays", "loop-always" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *text = text_of(names[i]);
        g_autoptr(WsProgram) p = program_of(text, names[i]);
        g_autofree char *cuda = ws_generate_cuda(p, FALSE, NULL);
        const char *wait = strstr(cuda, "wgmma_wait<"); /* the primitive's definition … */
        const char *role = strstr(cuda, "// Role ");
        g_assert_true(wait && role);
        wait = strstr(role, "wgmma_wait<"); /* … and the first call */
        const char *keep = strstr(wait, "keep(");
        g_assert_nonnull(keep);
        g_autofree char *before = g_strndup(cuda, (gsize)(keep - cuda));
        g_autofree char *less = g_strconcat(before, "//", keep, NULL);
        guint waits;
        g_autoptr(GPtrArray) violation = cuda_flow(less, &waits);
        g_assert_cmpuint(violation->len, >, 0);
    }
}

/* P stored out of the registers that the product in flight has as a: refuted by the check, and seen
 * in the PTX; made of s again it has registers of its own. */
static void test_stored_operand(void)
{
    static const char of_s[] = "{ \"write\": \"s\", \"to\": \"c\" }";
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(
        WS_SOURCE_ROOT "/tests/designs/memory/operand-made-again.wstave", &text, NULL, NULL));
    char *at = strstr(text, of_s);
    g_assert_nonnull(at);
    at[strlen("{ \"write\": \"")] = 'p';
    g_autoptr(WsProgram) p = program_of(text, "stored-operand");
    g_autofree char *ptx = ws_generate_ptx(p, NULL, NULL);
    g_assert_nonnull(ptx);
    PtxFlow f = ptx_flow(ptx, NULL, NULL);
    g_assert_cmpuint(f.violation->len, >, 0);
    ptx_flow_clear(&f);
}

/* What is shipped. */
static void test_shipped(gconstpointer data)
{
    g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", data, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(WsProgram) p = program_of(text, data);
    judge_ptx(p, data);
    judge_cuda(p, data,
               g_str_has_suffix(data, "gemm-bf16-balanced/design.wstave") ||
                   g_str_has_suffix(data, "sparse-mla-any/design.wstave") ||
                   g_str_has_suffix(data, "sparse-mla-prefill/design.wstave"));
}

int main(int argc, char **argv)
{
    static const char *const shipped[] = {
        "projects/attention-d128/design.wstave",
        "projects/attention-d128-full/design.wstave",
        "projects/attention-d256/design.wstave",
        "projects/attention-d64/design.wstave",
        "projects/gemm-bf16/design.wstave",
        "projects/gemm-bf16-balanced/design.wstave",
        "projects/gemm-bf16-deferred/design.wstave",
        "projects/gemm-bf16-pingpong/design.wstave",
        "projects/gemm-fp8-block/design.wstave",
        "tests/designs/attention-ahead.wstave",
        "tests/designs/sparse-mla-pipes.wstave",
        "tests/designs/sparse-mla-seesaw.wstave",
        "projects/sparse-mla-any/design.wstave",
        "projects/sparse-mla-prefill/design.wstave",
        "tests/designs/memory/operand-made-again.wstave",
    };
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_test_add_func("/waits/all", test_all);
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/waits/design/%s", designs[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_design);
    }
    for (guint i = 0; i < G_N_ELEMENTS(drawn); i++) {
        g_autofree char *path = g_strdup_printf("/waits/random/%s", drawn[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_random);
    }
    g_test_add_func("/waits/planted/ptx", test_planted_ptx);
    g_test_add_func("/waits/planted/cuda", test_planted_cuda);
    g_test_add_func("/waits/planted/keep", test_held_cuda);
    g_test_add_func("/waits/planted/stored-operand", test_stored_operand);
    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++) {
        if (!test_takes(i, 2, 4))
            continue;
        g_autofree char *path = g_strdup_printf("/waits/shipped/%s", shipped[i]);
        g_test_add_data_func(path, shipped[i], test_shipped);
    }
    return g_test_run();
}
