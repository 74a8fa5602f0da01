/* The designs rehearsed: right in every order that is tried. Mutants that go wrong in some order
 * (stream.c) show it in one of a few orders. */
#include "ascend/designs.h"
#include "ascend/mutants.h"
#include "ascend/stream.h"
#include "codegen/generate.h"
#include "whole.h"

enum { ORDERS = 6 };

static WsProgram *small(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GString) s = g_string_new(text);
    /* tiles of a few elements: orders, not numbers, are asked for */
    g_string_replace(s, "\"BN\": 8192", "\"BN\": 64", 1);
    g_string_replace(s, "\"BM\": 128, \"BN\": 128, \"BK\": 64",
                     "\"BM\": 16, \"BN\": 16, \"BK\": 16", 1);
    return ascend_program(s->str, findings);
}

typedef struct {
    const char *name[3];
    gint64 size[3];
    guint n;
} Sizes;

/* What the run shows, NULL if all is right. Caller frees. */
static char *shown(WsRehearsal *s, const Sizes *sizes, guint64 seed)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions o = { .seed = seed,
                                  .sms = 2,
                                  .size_name = (const char **)(gpointer)sizes->name,
                                  .size = sizes->size,
                                  .n_size = sizes->n };
    WsRehearseResult *r = ws_rehearsal_run(s, &o, findings, &error);
    if (!r) { /* a mistake that no run shows is none that a run shows */
        g_autofree char *text = ws_findings_print(findings, NULL);
        g_error("not run: %s %s", error ? error->message : "?", text);
    }
    char *what = r->matches && !r->stuck ? NULL
                                         : g_strdup(r->stuck             ? r->stuck
                                                    : r->first_race      ? r->first_race
                                                    : r->first_violation ? r->first_violation
                                                    : r->first_wrong     ? r->first_wrong
                                                                         : "not right");
    ws_rehearse_result_free(r);
    return what;
}

static const Sizes add_sizes[] = { { { "N" }, { 1 }, 1 },
                                   { { "N" }, { 64 }, 1 },
                                   { { "N" }, { 65 }, 1 },
                                   { { "N" }, { 500 }, 1 },
                                   { { "N" }, { 1024 }, 1 } };
static const Sizes gemm_sizes[] = { { { "M", "N", "K" }, { 16, 16, 16 }, 3 },
                                    { { "M", "N", "K" }, { 32, 16, 32 }, 3 },
                                    { { "M", "N", "K" }, { 16, 48, 80 }, 3 },
                                    { { "M", "N", "K" }, { 32, 32, 128 }, 3 } };

static void right(const char *design, const Sizes *sizes, guint n)
{
    g_autofree char *text = ascend_text(design, NULL, 0);
    g_autoptr(WsProgram) p = small(text);
    g_assert_nonnull(p);
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    for (guint i = 0; i < n; i++)
        for (guint64 seed = 0; seed < 2 * ORDERS; seed++) {
            g_autofree char *wrong = shown(s, &sizes[i], seed);
            if (wrong)
                g_error("%s, sizes %u, seed %u: %s", design, i, (guint)seed, wrong);
        }
}

static void test_right(void)
{
    right("vector-add", add_sizes, G_N_ELEMENTS(add_sizes));
    right("cube-gemm", gemm_sizes, G_N_ELEMENTS(gemm_sizes));
}

typedef struct {
    const Sizes *sizes;
    guint least, wrong, seen, at_once, take, number;
} Runs;

static void judge(const char *text, const char *how, gpointer data)
{
    Runs *x = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
    g_autoptr(WsProgram) p = small(text);
    g_autofree char *wrong = NULL;
    if (!p || !d)
        return;
    for (guint r = x->least; r <= 4 && !wrong; r++)
        wrong = stream_wrong(d, r);
    if (!wrong || x->number++ % x->take)
        return;
    x->wrong++;
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    for (guint64 seed = 0; seed < ORDERS; seed++) {
        g_autofree char *what = shown(s, x->sizes, seed);
        if (!what)
            continue;
        x->seen++;
        x->at_once += seed == 0;
        return;
    }
    g_test_message("%s: %s, and %d orders do not show it", how, wrong, ORDERS);
}

static void shows(const char *design, const Sizes *sizes, guint least)
{
    Runs x = { .sizes = sizes, .least = least, .take = test_quick() ? 4 : 1 };
    ascend_mutants(design, judge, &x);
    g_test_message("%s: of %u mutants that go wrong %u show it, %u of them in the first order",
                   design, x.wrong, x.seen, x.at_once);
    g_assert_cmpuint(x.wrong, >=, 20);
    g_assert_cmpuint(x.seen, ==, x.wrong);
}

static void test_vector_add(void)
{
    shows("vector-add", &(Sizes){ { "N" }, { 640 }, 1 }, 0);
}

static void test_gemm(void)
{
    shows("cube-gemm", &(Sizes){ { "M", "N", "K" }, { 32, 16, 80 }, 3 }, 1);
}

/* What the core has not is said by the back ends, too. */
static void test_refused(void)
{
    g_autofree char *text = ascend_text("cube-gemm", NULL, 0);
    g_autoptr(WsProgram) p = small(text);
    g_autoptr(GError) error = NULL;
    g_assert_null(ws_generate_ptx(p, NULL, &error));
    g_assert_nonnull(strstr(error->message, "ascend"));
    g_clear_error(&error);
    g_assert_null(ws_generate_llvm(p, NULL, &error));
    g_assert_nonnull(error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ascend/runs/right", test_right);
    g_test_add_func("/ascend/runs/vector-add", test_vector_add);
    g_test_add_func("/ascend/runs/gemm", test_gemm);
    g_test_add_func("/ascend/runs/refused", test_refused);
    return g_test_run();
}
