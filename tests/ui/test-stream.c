/* Upstream and downstream of a step, without a display: which steps, and in which direction. */
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op_kind.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/timeline/stream.h"

#include <string.h>

typedef struct {
    const char *design, *from; /* label of the step to begin at */
    gboolean downstream;
    const char *with, *without; /* labels, separated by "; " */
} Case;

static const char *label_of(const WsProgram *p, const char *step)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (!g_strcmp0(p->op[i]->step, step) && !p->op[i]->derived && p->op[i]->label)
            return p->op[i]->label;
    return "";
}

static const char *step_of(const WsProgram *p, const char *label)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && p->op[i]->label && !p->op[i]->derived &&
            g_str_has_prefix(p->op[i]->label, label))
            return p->op[i]->step;
    return NULL;
}

static WsProgram *load(const char *design)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, design, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(path, findings);
    g_assert_nonnull(d);
    WsProgram *p = ws_elaborate(d, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

static gboolean has(const WsProgram *p, const GPtrArray *found, const char *label)
{
    for (guint i = 0; i < found->len; i++)
        if (g_str_has_prefix(label_of(p, found->pdata[i]), label))
            return TRUE;
    return FALSE;
}

static void expect(const WsProgram *p, const GPtrArray *found, const char *labels, gboolean wanted)
{
    g_auto(GStrv) each = g_strsplit(labels, "; ", -1);
    for (guint i = 0; *labels && each[i]; i++) {
        if (has(p, found, each[i]) != wanted) {
            for (guint k = 0; k < found->len; k++)
                g_test_message("found %s: %s", (char *)found->pdata[k],
                               label_of(p, found->pdata[k]));
            g_test_message("%s is %s", each[i], wanted ? "missing" : "there");
        }
        g_assert_true(has(p, found, each[i]) == wanted);
    }
}

#define GEMM "projects/gemm-bf16/design.wstave"
#define FA   "projects/attention-d128-full/design.wstave"

/* Barriers, data and program order together; the stage given back belongs to another round. */
static const Case cases[] = {
    { GEMM, "mma acc", FALSE, "wait full; load A; load B; wait empty",
      "arrive empty; store c; write acc" },
    { GEMM, "load A", TRUE, "wait full; mma acc; mma_wait 0; write acc; sync; store c",
      "wait empty; load B" },
    { GEMM, "store c", FALSE, "sync; mma acc; load A; wait full", "arrive empty" },
    { GEMM, "arrive empty", FALSE, "mma_wait", "store c" },
    { GEMM, "arrive empty", TRUE, "wait empty; load A; load B; mma acc", "" },
};

static void run(gconstpointer data)
{
    const Case *c = data;
    g_autoptr(WsProgram) p = load(c->design);
    g_autoptr(GPtrArray) from = g_ptr_array_new();
    const char *step = step_of(p, c->from);
    g_assert_nonnull(step);
    g_ptr_array_add(from, (gpointer)step);
    g_autoptr(GPtrArray) found = ws_stream_of(p, from, c->downstream);
    g_assert_false(g_ptr_array_find(found, step, NULL));
    expect(p, found, c->with, TRUE);
    expect(p, found, c->without, FALSE);
}

/* One round more each time, until nothing is left. */
static void rounds(void)
{
    g_autoptr(WsProgram) p = load(GEMM);
    g_autoptr(GPtrArray) steps = g_ptr_array_new();
    g_ptr_array_add(steps, (gpointer)step_of(p, "mma acc"));
    guint last = 0, calls = 0;
    gboolean freed = FALSE;
    while (steps->len != last) {
        last = steps->len;
        g_autoptr(GPtrArray) found = ws_stream_of(p, steps, FALSE);
        for (guint i = 0; i < found->len; i++)
            g_ptr_array_add(steps, found->pdata[i]);
        freed |= calls > 0 && has(p, found, "arrive empty");
        calls++;
        g_assert_cmpuint(calls, <, 50);
    }
    g_assert_cmpuint(calls, >, 2);
    g_assert_true(freed);
}

/* If a step is upstream of another within a round, that one is downstream of it. */
static void mirrored(void)
{
    g_autoptr(WsProgram) p = load(FA);
    const char *mma = NULL;
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_MMA)
            mma = p->op[i]->step; /* the last one: P times V */
    g_test_message("of %s", mma);
    g_autoptr(GPtrArray) steps = g_ptr_array_new();
    g_ptr_array_add(steps, (gpointer)mma);
    g_autoptr(GPtrArray) up = ws_stream_of(p, steps, FALSE);
    g_assert_cmpuint(up->len, >, 4);
    gboolean math = FALSE, load = FALSE;
    for (guint i = 0; i < up->len; i++) {
        g_autoptr(GPtrArray) one = g_ptr_array_new();
        g_ptr_array_add(one, up->pdata[i]);
        g_autoptr(GPtrArray) down = ws_stream_of(p, one, TRUE);
        g_assert_true(g_ptr_array_find_with_equal_func(down, mma, g_str_equal, NULL));
        for (guint k = 0; k < p->n_ops; k++)
            if (!g_strcmp0(p->op[k]->step, up->pdata[i])) {
                math |= p->op[k]->kind == WS_OP_MATH;
                load |= p->op[k]->kind == WS_OP_TMA_LOAD;
            }
    }
    g_assert_true(math && load);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name =
            g_strdup_printf("/stream/I13-%s-%s-%u", cases[i].downstream ? "down" : "up",
                            strchr(cases[i].from, ' ') + 1, i);
        g_test_add_data_func(name, &cases[i], run);
    }
    g_test_add_func("/stream/I13-rounds", rounds);
    g_test_add_func("/stream/I13-mirrored", mirrored);
    return g_test_run();
}
