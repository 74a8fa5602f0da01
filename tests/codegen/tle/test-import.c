/* TLE as people write it and as exports write it: mistakes planted in a kernel are found on its
 * lines, damaged text is a design or an error. */
#include "../../import/judge.h"
#include "check/check.h"
#include "codegen/python/python.h"
#include "import/import.h"

#include <string.h>

typedef struct {
    WsDesign *design;
    WsProgram *program;
} Read;

static void read_clear(Read *r)
{
    g_clear_pointer(&r->program, ws_program_unref);
    g_clear_pointer(&r->design, ws_design_unref);
}

static Read read_design(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    Read r = { ws_design_load(file, findings), NULL };
    r.program = r.design ? ws_elaborate(r.design, NULL, 0, findings) : NULL;
    g_assert_nonnull(r.program);
    return r;
}

/* A design as TLE, or a kernel by hand as it stands. */
static char *export_of(const char *path)
{
    char *text = NULL;
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    if (g_str_has_suffix(path, ".py")) {
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        return text;
    }
    Read r = read_design(path);
    g_autoptr(GError) error = NULL;
    text = ws_generate_tle(r.program, &error);
    g_assert_no_error(error);
    read_clear(&r);
    return text;
}

/* The import as a program; `unread` things and refusals are told. */
static Read read_tle(const char *text, const char *name, guint unread, WsFindings *findings)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import = ws_import_text(text, strlen(text), name, WS_IMPORT_TLE, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = import->unread->pdata[i];
        g_test_message("%s:%u: not read: %s\n%s", name, u->line, u->what, u->source);
    }
    g_assert_cmpuint(import->unread->len, ==, unread);
    Read r = { ws_design_ref(import->design), NULL };
    r.program = ws_elaborate(r.design, NULL, 0, findings);
    if (!r.program) {
        g_autofree char *says = ws_findings_print(findings, name);
        g_autofree char *design = ws_design_print(r.design);
        g_test_message("%s\n%s", says, design);
    }
    g_assert_nonnull(r.program);
    return r;
}

/* A kernel written by hand. */
static void test_proved(gconstpointer data)
{
    g_autofree char *text = export_of(data);
    g_autoptr(WsFindings) findings = ws_findings_new();
    Read b = read_tle(text, "kernel.py", 0, findings);
    WsCheckOptions options = { 0 };
    g_autoptr(WsVerdict) v = ws_check(b.program, &options, findings);
    g_autofree char *says = ws_findings_print(findings, "kernel.py");
    if (v->kind != WS_VERDICT_PROVED)
        g_test_message("%s", says);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    read_clear(&b);
}

static const char *const proved[] = { "tests/codegen/tle/by_hand.py" };

/* --- planted mistakes --------------------------------------------------------------------------*/

typedef struct {
    const char *title, *from, *to;
    guint nth;          /* occurrence that changes, from 1; 0: all */
    const char *rule;   /* that speaks */
    const char *source; /* what stands on the line that it names */
    const char *design; /* NULL: gemm-tle */
} Planted;

#define BY_HAND "tests/codegen/tle/by_hand.py"

static const Planted planted[] = {
    { "empty-counts-one", "alloc_barriers(STAGES, arrive_count=2",
      "alloc_barriers(STAGES, arrive_count=1", 1, "P-CNT", "barrier_arrive(empty_b" },
    { "consumer-forgets-b",
      "        tle.gpu.barrier_wait(full_b[k_total % STAGES], phaseIdx=k_total // STAGES)\n",
      "        pass\n", 1, "P-RACE", "wgmma" },
    { "phase-starts-again", "phaseIdx=k_total // STAGES)\n", "phaseIdx=k // STAGES)\n", 4, "P-ABA",
      "barrier_wait(full_a" },
    { "wrong-bytes", "expect_bytes=16384", "expect_bytes=8192", 1, "P-TX", "tle.gpu.copy(B_desc" },
    { "empty-is-pending", "init=tle.gpu.READY", "init=tle.gpu.PENDING", 1, "P-DL",
      "barrier_wait(empty_a" },
    { "early-release", "wgmma_wait(1, acc)", "wgmma_wait(2, acc)", 1, "P-ASYNC", "tle.gpu.copy(" },
    { "array-without-index", "barrier_arrive(empty_b[last], ", "barrier_arrive(empty_b, ", 1,
      "P-EARLY", "barrier_arrive(empty_b, ", BY_HAND },
    { "waits-for-nothing", "            acc = tle.gpu.wgmma_wait(1, acc)\n", "", 1, "P-ASYNC",
      "tle.gpu.copy(", BY_HAND },
    { "counter-starts-again", "        for k in range(0, tl.cdiv(K, 64)):\n",
      "        it = 0\n        for k in range(0, tl.cdiv(K, 64)):\n", 1, "P-", "", BY_HAND },
    { "released-while-read", "ab_reader.release(k_total - 1)", "ab_reader.release(k_total)", 1,
      "P-", "ab_reader.release(k_total)", "tests/designs/gemm-pipe.wstave" },
    { "stale-slot", "ab_slot = ab_reader.wait(k_total).slot",
      "ab_slot = ab_reader.wait(k_total + 1).slot", 1, "P-", "", "tests/designs/gemm-pipe.wstave" },
};

static char *plant(const char *text, const Planted *m)
{
    GString *s = g_string_new(NULL);
    guint n = 0;
    for (const char *at = text; *at;) {
        if (g_str_has_prefix(at, m->from) && (++n == m->nth || !m->nth)) {
            g_string_append(s, m->to);
            at += strlen(m->from);
        } else {
            g_string_append_c(s, *at++);
        }
    }
    g_assert_cmpuint(n, >=, MAX(m->nth, 1));
    return g_string_free(s, FALSE);
}

static void test_planted(gconstpointer data)
{
    const Planted *m = data;
    g_autofree char *right = export_of(m->design ? m->design : "tests/designs/gemm-tle.wstave");
    g_autofree char *text = plant(right, m);
    g_autoptr(WsFindings) findings = ws_findings_new();
    Read b = read_tle(text, "kernel.py", 0, findings);
    WsCheckOptions options = { 0 };
    g_autoptr(WsVerdict) v = ws_check(b.program, &options, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
    ws_import_locate(b.design, findings);
    const gboolean found = found_on_line(findings, text, m->rule, m->source);
    g_assert_true(found);
    read_clear(&b);
}

/* --- what is not TLE ---------------------------------------------------------------------------*/

static void test_bad(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "import triton\n", "warp_specialize" },
        { "def f(:\n  pass\n", ":3:1" },
        { "import triton.experimental.tle.language as tle\n@jit\ndef k(x):\n"
          "    tle.gpu.warp_specialize([(k, (x,))], [4], [24])\n",
          ":4:5" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsImport) import =
            ws_import_text(bad[i].text, strlen(bad[i].text), "bad.py", WS_IMPORT_TLE, &error);
        g_assert_null(import);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, bad[i].says));
    }
}

/* Lines lost, doubled, swapped, numbers changed, words cut: a design or an error with its place,
 * never more than that. */
static char *damaged(const char *text, GRand *rand)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    const guint n = g_strv_length(line);
    for (guint times = 0; times < 3; times++) {
        char **at = &line[g_rand_int_range(rand, 0, (gint32)n)];
        char *digit = strpbrk(*at, "0123456789"), *word = strpbrk(*at, ".([");
        switch (g_rand_int_range(rand, 0, 5)) {
        case 0:
            **at = '\0';
            break;
        case 1:
            if (digit)
                *digit = (char)('0' + g_rand_int_range(rand, 0, 10));
            break;
        case 2:
            if (word)
                *word = '\0';
            break;
        case 3:
            if (word)
                memmove(word, word + 1, strlen(word));
            break;
        default: {
            char **other = &line[g_rand_int_range(rand, 0, (gint32)n)], *kept = *at;
            *at = *other;
            *other = kept;
        }
        }
    }
    return g_strjoinv("\n", line);
}

static void test_damaged(void)
{
    static const char *const designs[] = { "tests/designs/gemm-tle.wstave",
                                           "tests/designs/gemm-pipe.wstave",
                                           "tests/designs/attention-tle-pingpong.wstave",
                                           "tests/designs/sparse-mla-pipes.wstave" };
    guint designed = 0, refused = 0;
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *text = export_of(designs[i]);
        for (guint32 seed = 0; seed < 60; seed++) {
            g_autoptr(GRand) rand = g_rand_new_with_seed(seed * 7 + i);
            g_autofree char *bad = damaged(text, rand);
            g_autoptr(GError) error = NULL;
            g_autoptr(WsImport) import =
                ws_import_text(bad, strlen(bad), "bad.py", WS_IMPORT_TLE, &error);
            g_autoptr(WsFindings) findings = ws_findings_new();
            WsProgram *p = import ? ws_elaborate(import->design, NULL, 0, findings) : NULL;
            g_assert_true(!import == (error != NULL));
            designed += import != NULL;
            refused += error != NULL;
            if (error)
                g_assert_true(g_str_has_prefix(error->message, "bad.py:"));
            if (p)
                ws_program_unref(p);
        }
    }
    g_test_message("%u designs, %u errors", designed, refused);
    g_assert_cmpuint(designed, >, 40);
    g_assert_cmpuint(refused, >, 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(proved); i++) {
        g_autofree char *path = g_strdup_printf("/tle-import/proved/%u", i);
        g_test_add_data_func(path, proved[i], test_proved);
    }
    for (guint i = 0; i < G_N_ELEMENTS(planted); i++) {
        g_autofree char *path = g_strdup_printf("/tle-import/planted/%s", planted[i].title);
        g_test_add_data_func(path, &planted[i], test_planted);
    }
    g_test_add_func("/tle-import/bad", test_bad);
    g_test_add_func("/tle-import/damaged", test_damaged);
    return g_test_run();
}
