/* What kernels write: every design that is shown right is right in a count of its own at many sizes
 * (writes.h), and no change of a store's place is shown right that is not. */
#include "../whole.h"
#include "check/check.h"
#include "check/global/judge.h"
#include "check/witness/witness.h"
#include "kernels.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "writes.h"

#include <string.h>

static const char *const designs[] = {
    "projects/gemm-bf16/design.wstave",
    "projects/gemm-bf16-cluster2/design.wstave",
    "projects/gemm-bf16-deferred/design.wstave",
    "projects/gemm-bf16-pingpong/design.wstave",
    "projects/gemm-bf16-splitk/design.wstave",
    "projects/gemm-fp8-block/design.wstave",
    "projects/gemm-bf16-epilogue/design.wstave",
    "projects/gemm-grouped/design.wstave",
    "projects/own-kernel/design.wstave",
    "projects/attention-d128/design.wstave",
    "projects/attention-d256/design.wstave",
    "projects/attention-d128-full/design.wstave",
    "projects/attention-window/design.wstave",
    "tests/designs/attention-fa3-causal.wstave",
    "tests/designs/gemm-aliased.wstave",
    "tests/designs/gemm-one-consumer.wstave",
    "tests/designs/gemm-tle.wstave",
    "tests/designs/sparse-mla-pipes.wstave",
    "tests/designs/sparse-mla-seesaw.wstave",
    "tests/designs/moves/gemm-dynamic.wstave",
    "tests/designs/moves/gemm-hilbert.wstave",
    "tests/designs/moves/cluster-copy.wstave",
    "tests/designs/moves/gather-groups.wstave",
    "tests/designs/moves/tensor-read.wstave",
    "tests/designs/catalogue/C05-ring-shared-by-turns.wstave",
    "tests/designs/catalogue/B47-one-staging-tile-one-store-left.wstave",
    "tests/designs/global/right-first-part-writes.wstave",
    "tests/designs/global/right-last-part-writes.wstave",
    "tests/designs/global/right-guarded.wstave",
    "tests/designs/global/right-heads.wstave",
    "tests/designs/global/right-slabs-in-a-loop.wstave",
    "tests/designs/global/right-grouped-by-hand.wstave",
    "tests/designs/global/right-next-tile-stores.wstave",
    "tests/designs/global/right-turns.wstave",
};

static char *read_file(const char *name)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

static WsProgram *program_of(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "design", findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        ws_program_unref(p);
        return NULL;
    }
    return p;
}

/* --- sizes -------------------------------------------------------------------------------------
 */
static gint64 some_size(GRand *rand, const WsVar *var)
{
    static const gint64 large[] = { 1,   2,   7,   63,  64,  65,  72,  80,  96,  112, 127, 128, 129,
                                    176, 192, 193, 255, 256, 257, 320, 384, 385, 512, 513, 640 };
    static const gint64 small[] = { 0, 1, 2, 3, 4, 5, 6, 8, 12 };
    if (g_rand_int_range(rand, 0, 4) == 0)
        return var->rehearse;
    if (var->preset <= 64)
        return small[g_rand_int_range(rand, 0, G_N_ELEMENTS(small))];
    return large[g_rand_int_range(rand, 0, G_N_ELEMENTS(large))];
}

/* The first sizes at which something is not written once, or NULL. Caller frees. */
static char *fault_of(const WsProgram *p, GRand *rand, guint cases, guint *told)
{
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE) {
            WsSize s = { p->var[i].name, p->var[i].rehearse };
            g_array_append_val(size, s);
        }
    *told = 0;
    for (guint c = 0; c < cases; c++) {
        for (guint i = 0, k = 0; c > 0 && i < p->n_vars; i++)
            if (p->var[i].kind == WS_VAR_SIZE)
                g_array_index(size, WsSize, k++).value = some_size(rand, &p->var[i]);
        Writes w = writes_at(p, (const WsSize *)(gpointer)size->data, size->len, 1 + c % 4, c);
        *told += w.told;
        if (!w.told || w.right)
            continue;
        GString *s = g_string_new(w.what);
        g_free(w.what);
        for (guint i = 0; i < size->len; i++)
            g_string_append_printf(s, " %s=%" G_GINT64_FORMAT, g_array_index(size, WsSize, i).name,
                                   g_array_index(size, WsSize, i).value);
        return g_string_free(s, FALSE);
    }
    return NULL;
}

/* --- designs that are right --------------------------------------------------------------------
 */
static void right(gconstpointer data)
{
    g_autofree char *text = read_file(data);
    g_autoptr(WsProgram) p = program_of(text);
    g_assert_nonnull(p);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsGlobalVerdict v = ws_check_global(p, findings);
    g_test_message("%s", v.reason ? v.reason : "shown");
    g_assert_cmpint(v.kind, ==, WS_GLOBAL_SHOWN);
    ws_global_verdict_clear(&v);
    GRand *rand = g_rand_new_with_seed(7);
    guint told;
    g_autofree char *fault = fault_of(p, rand, 60, &told);
    g_assert_cmpstr(fault, ==, NULL);
    g_assert_cmpuint(told, >=, 4);
    g_rand_free(rand);
}

/* --- designs that say what they are ------------------------------------------------------------
 */
static void said(gconstpointer data)
{
    const char *name = data;
    g_autofree char *text = read_file(name);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), name, findings);
    g_assert_nonnull(design);
    g_autofree char *printed = ws_design_print(design);
    g_assert_cmpstr(printed, ==, text);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    ws_check_locate(design, findings);
    g_autofree char *words = ws_findings_print(findings, name);
    g_autofree char *verdict = g_strdup_printf("\"verdict\": \"%s\"", ws_verdict_word(v->kind));
    g_test_message("%s %s", verdict, words);
    g_assert_nonnull(strstr(text, verdict));
    g_assert_cmpint(findings->list->len == 0, ==, v->kind == WS_VERDICT_PROVED);
    if (findings->list->len == 0)
        return;
    const WsFinding *f = findings->list->pdata[0];
    g_autofree char *rule = g_strdup_printf("\"rule\": \"%s\"", ws_rule(f->rule)->text);
    g_assert_nonnull(strstr(text, rule));
    g_assert_cmpuint(f->line, >, 0);
    g_assert_cmpint(ws_findings_exit_code(findings, FALSE), ==,
                    v->kind == WS_VERDICT_OUTSIDE ? 3 : 1);
    if (ws_rule(f->rule)->klass != WS_CLASS_G)
        return;
    /* the element, who writes it, and sizes at which it can be seen */
    g_assert_nonnull(strstr(f->message, "C["));
    g_assert_nonnull(f->sizes);
    g_assert_cmpint(f->harm, ==, WS_HARM_CORRUPTION);
    g_assert_nonnull(f->story);
    /* the run that shows it: two writes or none, and the other judge counts so at its sizes */
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) w = ws_witness_new(p, f, &error);
    g_assert_no_error(error);
    g_assert_true(w->confirmed);
    g_autofree char *run = ws_witness_text(w, TRUE);
    g_test_message("%s", run);
    const gboolean strides = strstr(w->ending, "one place in memory") != NULL;
    g_assert_cmpuint(w->n_moves, ==, f->rule == WS_RULE_G_TWICE && !strides ? 2 : 0);
    Writes got = writes_said(p, w->sizes);
    const gboolean wrong = strides || (got.told && !got.right);
    g_free(got.what);
    g_assert_true(wrong);
}

/* That 0 is not 0 is nothing that anybody could answer for. */
static void divides_by_zero(void)
{
    static const char body[] = "{\"let\":\"v\",\"be\":\"N/0\"},"
                               "{\"for\":\"k\",\"count\":\"N + v - v\",\"do\":[]}";
    g_autofree char *text = g_strdup_printf(
        "{\"warpstave\":1,\"name\":\"zero\",\"target\":\"sm_90a\",\"sizes\":{\"N\":4,\"Q\":64},"
        "\"tensors\":[{\"name\":\"L\",\"dtype\":\"i32\",\"shape\":[\"Q\"],\"data\":\"integers(0, "
        "9)\"}],"
        "\"tiles\":{\"axes\":{\"tm\":\"Q\"},\"launch\":\"single\",\"let\":{\"e\":\"L[tm]\"}},"
        "\"groups\":[{\"name\":\"a\",\"role\":\"worker\",\"warps\":1,\"body\":[%s]}]}",
        body);
    g_autoptr(WsProgram) p = program_of(text);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
    g_assert_nonnull(strstr(v->reason, "N/0 divides by 0"));
}

/* What is stated is in the verdict. */
static void stated(void)
{
    g_autofree char *text = read_file("tests/designs/global/right-covers.wstave");
    g_autoptr(WsProgram) p = program_of(text);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpuint(v->assumed->len, ==, 2);
    g_autofree char *words = ws_verdict_text(v);
    g_assert_nonnull(strstr(words, "given that picked*128 stays within 2^29 either way, every "
                                   "element of C is written once (I is a perm"));
    /* It says nothing about the kernel. */
    g_auto(GStrv) part =
        g_strsplit(text, ", \"covers\": \"I is a permutation of the tiles of rows\"", -1);
    g_assert_cmpuint(g_strv_length(part), ==, 2);
    g_autofree char *bare = g_strjoinv("", part);
    g_autoptr(WsProgram) same = program_of(bare);
    g_assert_cmpstr(same->design_hash, ==, p->design_hash);
    g_assert_cmpstr(same->design_text, !=, p->design_text);
    const WsCheckOptions protocol = { .protocol_only = TRUE };
    g_autoptr(WsVerdict) w = ws_check(same, &protocol, findings);
    g_assert_cmpint(w->kind, ==, WS_VERDICT_PROVED);
    g_assert_cmpuint(findings->list->len, ==, 0);
}

/* --- changes -----------------------------------------------------------------------------------
 */
typedef struct {
    guint wrong_refuted, wrong_open, right_shown, right_open, nothing, same, large;
} Tally;

/* Where the list of coordinates of some step that writes a tensor stands. */
static gboolean find_list(const char *text, GRand *rand, gsize *from, gsize *to)
{
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(gsize));
    for (const char *c = strstr(text, "\"at\": ["); c; c = strstr(c + 1, "\"at\": [")) {
        const char *line = c;
        while (line > text && line[-1] != '{')
            line--;
        g_autofree char *head = g_strndup(line, c - line);
        if (!strstr(head, "\"store\":") && !strstr(head, "\"to\":"))
            continue;
        gsize at = c + strlen("\"at\": [") - text;
        g_array_append_val(found, at);
    }
    if (found->len == 0)
        return FALSE;
    *from = g_array_index(found, gsize, g_rand_int_range(rand, 0, (gint)found->len));
    *to = *from + strcspn(text + *from, "]");
    return TRUE;
}

static char *splice(const char *text, gsize from, gsize to, const char *with)
{
    return g_strdup_printf("%.*s%s%s", (int)from, text, with, text + to);
}

static char *unquoted(const char *item)
{
    g_autofree char *s = g_strstrip(g_strdup(item));
    gsize n = strlen(s);
    return *s == '"' ? g_strndup(s + 1, n - 2) : g_strdup(s);
}

/* Another place for one store. */
static char *move_store(const char *text, GRand *rand)
{
    static const char *const forms[] = {
        "(%s) + 64",
        "(%s) - 64",
        "(%s) + 128",
        "(%s) + 8",
        "(%s) + 1",
        "(%s) - 1",
        "(%s)*2",
        "(%s)/2",
        "max(0, (%s) - 64)",
        "(%s)/128*128",
        "(%s) % 128",
        "0",
        "(%s) + 0",
        "select((%s) > 64, (%s), (%s))",
        "min((%s), 64)",
    };
    gsize from, to;
    if (!find_list(text, rand, &from, &to))
        return NULL;
    g_autofree char *list = g_strndup(text + from, to - from);
    g_auto(GStrv) item = g_regex_split_simple(",\\s*(?=[\"0-9])", list, 0, 0);
    guint n = g_strv_length(item), i = (guint)g_rand_int_range(rand, 0, (gint)n);
    if (g_rand_int_range(rand, 0, 6) == 0) {
        guint k = (guint)g_rand_int_range(rand, 0, (gint)n);
        char *x = item[i];
        item[i] = item[k], item[k] = x;
    } else {
        g_autofree char *old = unquoted(item[i]);
        g_auto(GStrv) part =
            g_strsplit(forms[g_rand_int_range(rand, 0, G_N_ELEMENTS(forms))], "%s", -1);
        g_autofree char *now = g_strjoinv(old, part);
        g_free(item[i]);
        item[i] = g_strdup_printf("\"%s\"", now);
    }
    g_autofree char *joined = g_strjoinv(", ", item);
    return splice(text, from, to, joined);
}

/* One word of the coordinates, the axes or the loops for another. */
static char *change_word(const char *text, GRand *rand)
{
    static const char *const words[][2] = {
        { "tm*BM", "tn*BM" },
        { "tn*BN", "tm*BN" },
        { "tm*BM", "tm*BN" },
        { " + replica*WM", "" },
        { "replica*WM", "(1 - replica)*WM" },
        { "replica*WM", "replica*BM" },
        { "s*SLAB", "(s + 1)*SLAB" },
        { "s*SLAB", "s*SLAB/2" },
        { "cdiv(M, BM)", "M/BM" },
        { "cdiv(M, BM)", "cdiv(M, BM) + 1" },
        { "cdiv(N, BN)", "N/BN" },
        { "cdiv(N, BN)", "N/BN + 1" },
        { "cdiv(N, BN)", "cdiv(N, BM)" },
        { "cdiv(M, ctas*BM)", "cdiv(M, BM)" },
        { "cdiv(M, ctas*BM)", "M/(ctas*BM)" },
        { "\"BN/SLAB\"", "\"BN/SLAB - 1\"" },
        { "\"BN/SLAB\"", "\"BN/SLAB + 1\"" },
        { "(tm*ctas + cta)", "(tm*ctas + 1 - cta)" },
        { "(tm*ctas + cta)", "(tm*ctas)" },
        { " + cta*HALF", "" },
        { " + cta*HALF", " + (1 - cta)*HALF" },
        { "\"B*HQ\"", "\"B*HKV\"" },
        { "bh/HQ", "bh/HKV" },
        { "bh % HQ", "bh % HKV" },
        { "hz % H", "hz % (H + 1)" },
        { "hz/H", "hz % Z" },
        { "\"Z*H\"", "\"H*Z\"" },
        { "cdiv(SQ, BM)", "SQ/BM" },
        { "m*BM + replica*WM", "m*BM" },
        { "N_CTX/BM", "cdiv(N_CTX, BM)" },
        { "N_CTX/BM", "N_CTX/BN" },
        { "tile > 0", "tile > 1" },
        { "tile > 0", "tile >= 1" },
        { "tile.total > 0", "tile.total > 1" },
        { "tile.total > 0", "tile > 0" },
        { "m0 + replica*WM - row0", "m0 - row0" },
        { "n0 - col0", "n0 - col0 - 64" },
        { "\"launch\": \"persistent\"", "\"launch\": \"single\"" },
        { "\"from\": \"replica\"", "\"from\": 0" },
        { "\"step\": \"replicas\"", "\"step\": 1" },
        { "\"step\": \"replicas\"", "\"step\": 3" },
        { "\"when\": \"replica == 0\"", "\"when\": \"replica == 1\"" },
        { "replica == replicas - 1", "replica == 0" },
        { "\"replicate\": 2", "\"replicate\": 1" },
        { "hb*BH", "hb*BH + 1" },
        { "t*64", "t*32" },
        { "\"H\"]", "0]" },
        { "\"shape\": [\"M\", \"N\"], \"access\"", "\"shape\": [\"M + 1\", \"N\"], \"access\"" },
        { "\"shape\": [\"M\", \"N\"], \"access\"", "\"shape\": [\"N\", \"M\"], \"access\"" },
        { "ts == 0", "ts <= 0" },
        { "ts == 0", "ts == 3" },
        { "ts == 0", "ts != 1" },
        { "S - 1", "S" },
        { "S - 1", "S - 2" },
        { "S - 1", "0" },
        { "S >= 1", "S >= 0" },
        { "8*nn", "4*nn" },
        { "g*8", "g*4" },
        { "min(nm - g*8, 8)", "8" },
        { "t % (8*nn)/rows", "t % (8*nn) % rows" },
        { "t % (8*nn) % rows", "t % rows" },
        { "bh/H", "bh % H" },
        { "\"B*H\"", "\"B*H + 1\"" },
        { "cdiv(N, SLAB)", "N/SLAB" },
        { "cdiv(N, SLAB)", "cdiv(N, BN)" },
        { "s*SLAB", "s*BN" },
        { "\"from\": \"replica\"", "\"from\": \"replica + 1\"" },
        { "N <= 72", "N <= 73" },
        { "N <= 80", "N <= 90" },
        { "\"K >= 1\"", "\"K >= 1\", \"M % 128 == 0\"" },
    };
    for (guint tries = 0; tries < 12; tries++) {
        const char *const *w = words[g_rand_int_range(rand, 0, G_N_ELEMENTS(words))];
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(gsize));
        for (const char *c = strstr(text, w[0]); c; c = strstr(c + 1, w[0])) {
            gsize at = c - text;
            g_array_append_val(found, at);
        }
        if (found->len == 0)
            continue;
        gsize at = g_array_index(found, gsize, g_rand_int_range(rand, 0, (gint)found->len));
        return splice(text, at, at + strlen(w[0]), w[1]);
    }
    return NULL;
}

/* A condition on a store, or a second one. */
static char *guard_store(const char *text, GRand *rand)
{
    static const char *const when[] = {
        "replica == 0",
        "tm > 0",
        "tm % 2 == 0",
        "tm*BM < M",
        "tn*BN < N",
        "tm*BM <= M",
        "tm*128 < M",
        "K > 64",
        "M > 100",
        "cta == 0",
        "tile > 0",
        "tile % 2 == 0",
        "m*BM < SQ",
        "m > 0",
        "h == 0",
        "M >= 0",
        "tn*BN + s*SLAB < N",
        "tm*BM + replica*WM < M",
        "s < 3",
        "t == 0",
    };
    gsize from, to;
    if (!find_list(text, rand, &from, &to))
        return NULL;
    const char *brace = text + from;
    while (*brace != '{')
        brace--;
    gsize begin = brace - text, length = strcspn(brace, "}") + 1;
    g_autofree char *step = g_strndup(brace, length);
    if (strstr(step, "\"when\""))
        return NULL;
    const char *cond = when[g_rand_int_range(rand, 0, G_N_ELEMENTS(when))];
    g_autofree char *bare = g_strndup(step, length - 1);
    g_autofree char *one = g_strdup_printf("%s, \"when\": \"%s\" }", g_strchomp(bare), cond);
    g_autofree char *other = g_strdup_printf("%s, \"when\": \"!(%s)\" }", bare, cond);
    g_autofree char *with = NULL;
    switch (g_rand_int_range(rand, 0, 4)) {
    case 0:
        with = g_strdup_printf("%s, %s", one, other); /* right */
        break;
    case 1:
        with = g_strdup_printf("%s, %s", step, step);
        break;
    default:
        with = g_strdup(one);
    }
    return splice(text, begin, begin + length, with);
}

static char *change(const char *text, GRand *rand)
{
    switch (g_rand_int_range(rand, 0, 3)) {
    case 0:
        return move_store(text, rand);
    case 1:
        return guard_store(text, rand);
    default:
        return change_word(text, rand);
    }
}

static void judge(const char *name, const char *text, GRand *rand, Tally *tally)
{
    g_autoptr(WsProgram) p = program_of(text);
    if (!p || g_strcmp0(p->target, "sm_90a") != 0) {
        tally->nothing++;
        return;
    }
    guint told;
    g_autofree char *fault = fault_of(p, rand, 24, &told);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsGlobalVerdict v = ws_check_global(p, findings);
    const WsFinding *f = findings->list->len ? findings->list->pdata[0] : NULL;
    if (fault && v.kind == WS_GLOBAL_SHOWN) {
        g_printerr("%s\n%s\n", fault, text);
        g_error("%s: shown right, but %s", name, fault);
    }
    if (!fault && v.kind == WS_GLOBAL_WRONG) {
        /* the count here tries other sizes: those of the finding decide */
        Writes w = writes_said(p, f->sizes ? f->sizes : "");
        const gboolean wrong = w.told && !w.right, could = w.told;
        g_free(w.what);
        if (!could) {
            tally->large++;
            ws_global_verdict_clear(&v);
            return;
        }
        if (!wrong) {
            g_printerr("%s\n%s\n", f->message, text);
            g_error("%s: refuted, but right: %s", name, f->message);
        }
        fault = g_strdup(f->message);
    }
    guint *to = fault ? v.kind == WS_GLOBAL_WRONG ? &tally->wrong_refuted : &tally->wrong_open
                : v.kind == WS_GLOBAL_SHOWN ? &tally->right_shown
                                            : &tally->right_open;
    ++*to;
    if (g_test_verbose() && to == &tally->wrong_open)
        g_printerr("open: %s: %s / %s\n", name, v.reason, fault);
    if (g_test_verbose() && to == &tally->right_open)
        g_printerr("right, open: %s: %s\n", name, v.reason);
    ws_global_verdict_clear(&v);
}

static void say_tally(const Tally *all)
{
    g_test_message("wrong: %u refuted, %u left open, 0 shown; right: %u shown, %u left open; "
                   "%u no program, %u repeated, %u refuted at sizes too large to count here",
                   all->wrong_refuted, all->wrong_open, all->right_shown, all->right_open,
                   all->nothing, all->same, all->large);
}

static void mutants(void)
{
    const char *more = g_getenv("WS_MUTANTS");
    const guint n = more ? (guint)atoi(more) : test_sanitized() ? 10 : 40;
    Tally all = { 0 };
    for (guint d = 0; d < G_N_ELEMENTS(designs); d++) {
        g_autofree char *text = read_file(designs[d]);
        GRand *rand = g_rand_new_with_seed(1000 + d);
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < n; i++) {
            g_autofree char *once = change(text, rand);
            char *now = once && g_rand_int_range(rand, 0, 3) == 0 ? change(once, rand) : NULL;
            if (!now)
                now = g_steal_pointer(&once);
            if (!now)
                continue;
            if (strcmp(now, text) == 0 || g_hash_table_contains(seen, now)) {
                all.same++;
                g_free(now);
                continue;
            }
            g_hash_table_add(seen, now);
            judge(designs[d], now, rand, &all);
        }
        g_rand_free(rand);
    }
    say_tally(&all);
    g_assert_cmpuint(all.wrong_refuted, >, n);
    g_assert_cmpuint(all.right_shown, >, n / 4);
}

/* Kernels put together at random: WS_KERNELS says how many. */
static void kernels(void)
{
    const char *more = g_getenv("WS_KERNELS"), *first = g_getenv("WS_SEED");
    const guint n = more               ? (guint)atoi(more)
                    : test_sanitized() ? 300
                                       : 1500,
                seed = first ? (guint)atoi(first) : 1;
    Tally all = { 0 };
    GRand *rand = g_rand_new_with_seed(seed);
    for (guint i = 0; i < n; i++) {
        g_autofree char *text = random_kernel(seed + i),
                        *name = g_strdup_printf("seed %u", seed + i);
        judge(name, text, rand, &all);
    }
    g_rand_free(rand);
    say_tally(&all);
    g_assert_cmpuint(all.wrong_refuted, >, n / 5);
    g_assert_cmpuint(all.right_shown, >, n / 20);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *path = g_strdup_printf("/check/global/%s", designs[i]);
        g_test_add_data_func(path, designs[i], right);
    }
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs/global", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_assert_nonnull(dir);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir))
        g_ptr_array_add(names, g_strconcat("tests/designs/global/", name, NULL));
    g_ptr_array_sort(names, by_name);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_strdup_printf("/check/global/said/%s", (char *)names->pdata[i]);
        g_test_add_data_func(path, names->pdata[i], said);
    }
    g_test_add_func("/check/global/stated", stated);
    g_test_add_func("/check/global/divides-by-zero", divides_by_zero);
    g_test_add_func("/check/global/mutants", mutants);
    g_test_add_func("/check/global/kernels", kernels);
    return g_test_run();
}
