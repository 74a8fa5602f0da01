/* Mistakes planted in kernels of Gluon and TLE are found, by the right rule on the right line. */
#include "../whole.h"
#include "judge.h"
#include "judged.h"

#include <string.h>

#define GEMM      "tests/import/gluon/gemm.py"
#define HAND      "tests/codegen/tle/by_hand.py"
#define DYNAMIC   "tests/designs/moves/gemm-dynamic.wstave"
#define ADD       "tests/import/gluon/add.py"
#define CLASSES   "tests/import/gluon/classes.py"
#define PIPELINED "tests/import/gluon/pipelined.py"
#define SUBRINGS  "tests/import/gluon/subrings.py"
#define PIPES     "tests/import/tle/pipe.py"
#define TASKS     "tests/import/tlx/gemm.py"
#define TLE_GEMM  "tests/designs/gemm-tle.wstave"
#define TURNS     "tests/designs/attention-tle-pingpong.wstave"
#define PIPE      "tests/designs/gemm-pipe.wstave"

typedef struct {
    WsImportFrom language;
    const char *title, *kernel, *from, *to;
    guint nth;
    const char *rule, *source;
} Planted;

#define PLANT(language, title, kernel, from, to, nth, rule, source)                                \
    { WS_IMPORT_##language, title, kernel, from, to, nth, rule, source },
static const Planted planted[] = {
#include "planted.def"
};

/* Mistakes that an adversary found proved: whatever the answer, it is not that. */
#define ONE "tests/designs/gemm-one-consumer.wstave"
static const Planted doubted[] = {
    PLANT(
        TLE, "part-not-waited", ONE,
        "            tle.gpu.barrier_wait(full_b[k_total % STAGES], phaseIdx=k_total // STAGES)\n",
        "", 0, NULL, NULL) PLANT(TLE, "copy-on-the-other-part", ONE, "barrier=full_b[",
                                 "barrier=full_a[", 0, NULL, NULL)
        PLANT(TLE, "copy-behind-commit", PIPE,
              "            tle.gpu.copy(B_desc, ab_slot.b, [BN, BK], [tn * BN, k * BK])\n"
              "            ab_writer.commit(k_total)\n",
              "            ab_writer.commit(k_total)\n"
              "            tle.gpu.copy(B_desc, ab_slot.b, [BN, BK], [tn * BN, k * BK])\n",
              0, NULL,
              NULL) PLANT(TLE, "masked-store", ONE, "acc.to(tl.bfloat16))",
                          "acc.to(tl.bfloat16), mask=kt > 3)", 0, NULL,
                          NULL) PLANT(GLUON, "phase-below-zero", ONE, "(k_total // STAGES + 1) % 2",
                                      "((k_total - STAGES) // STAGES) % 2", 0, NULL, NULL)
            PLANT(GLUON, "condition-below-zero", ONE,
                  "            if k > 0:", "            if (k - 1) // 4 >= 0:", 0, NULL,
                  NULL) PLANT(GLUON, "counter-wraps-below-zero", ONE, "            k_total += 1\n",
                              "            k_total = (k_total + 1) % (2 * STAGES)\n", 0, NULL, NULL)
                PLANT(TLX, "result-of-a-wait-dropped", TASKS, "acc = tlx.async_dot_wait(0, acc)",
                      "tlx.async_dot_wait(0, acc)", 0, NULL,
                      NULL) PLANT(TLX, "arrival-elsewhere", TASKS, "tlx.local_view(empty, slot))",
                                  "tlx.local_view(empty, slot), 1, 1)", 0, NULL, NULL)
                    PLANT(TLX, "product-that-may-add", TASKS, "tlx.local_view(b, slot), acc)",
                          "tlx.local_view(b, slot), acc, use_acc=k > 0)", 0, NULL,
                          NULL) PLANT(TLX, "multicast", TASKS, "[row, k * BK], bar)",
                                      "[row, k * BK], bar, multicast_targets=[0, 1])", 0, NULL,
                                      NULL)
                        PLANT(TLX, "unknown-word", TASKS, "                    count += 1",
                              "                    tlx.mystery()\n                    count += 1",
                              0, NULL,
                              NULL) PLANT(TLX, "line-between-tasks", TASKS,
                                          "        with tlx.async_task(num_warps=4",
                                          "        tlx.barrier_arrive(tlx.local_view(empty, 0))\n"
                                          "        with tlx.async_task(num_warps=4",
                                          0, NULL, NULL)
                            PLANT(TLX, "task-of-unknown-warps", TASKS, "num_warps=4, replicate=2",
                                  "num_warps=n_tiles, replicate=2", 0, NULL, NULL)
};

static char *with_mistake(const char *text, const Planted *m)
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

/* Places of stores through pointers are all that may be unread. */
static Judged judge(const char *text, WsImportFrom language)
{
    Judged j = judge_kernel(text, language);
    for (guint i = 0; i < j.import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(j.import->unread, i);
        g_assert_true(g_str_has_prefix(u->what, "where a store through pointers goes"));
    }
    return j;
}

static void test_planted(gconstpointer data)
{
    const Planted *m = data;
    g_autofree char *right = kernel_of(m->kernel, m->language);
    g_autofree char *wrong = with_mistake(right, m);
    g_auto(Judged) j = judge(wrong, m->language);
    const gboolean found = found_on_line(j.findings, wrong, m->rule, m->source);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_REFUTED);
    g_assert_true(found);
}

static void test_doubted(gconstpointer data)
{
    const Planted *m = data;
    g_autofree char *right = kernel_of(m->kernel, m->language);
    g_autofree char *wrong = with_mistake(right, m);
    g_auto(Judged) right_one = judge(right, m->language);
    g_assert_cmpint(right_one.verdict->kind, ==, WS_VERDICT_PROVED);
    g_auto(Judged) j = judge_kernel(wrong, m->language);
    g_assert_cmpint(j.verdict->kind, !=, WS_VERDICT_PROVED);
}

/* Without the mistake nothing is found. */
static void test_right(gconstpointer data)
{
    const Planted *m = data;
    g_autofree char *right = kernel_of(m->kernel, m->language);
    g_auto(Judged) j = judge(right, m->language);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_PROVED);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(planted); i++) {
        const Planted *m = &planted[i];
        if (!test_either(i))
            continue;
        const char *language = ws_import_from_text(m->language);
        g_autofree char *path = g_strdup_printf("/import/planted/%s/%s", language, m->title);
        g_test_add_data_func(path, m, test_planted);
        gboolean first = TRUE;
        for (guint k = 0; k < i; k++)
            first &= !test_either(k) || strcmp(planted[k].kernel, m->kernel) ||
                     planted[k].language != m->language;
        g_autofree char *right =
            g_strdup_printf("/import/planted/%s/right/%s", language, m->kernel);
        if (first)
            g_test_add_data_func(right, m, test_right);
    }
    for (guint i = 0; i < G_N_ELEMENTS(doubted); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/planted/doubted/%s", doubted[i].title);
        g_test_add_data_func(path, &doubted[i], test_doubted);
    }
    return g_test_run();
}
