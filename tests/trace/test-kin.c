/* Traces of kindred designs: which steps go together by name and role. */
#include "program/op.h"
#include "trace/kin.h"
#include "trace/op_kind.h"

#include <string.h>

static WsTrace *load(const char *file)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "projects", file, NULL);
    g_autoptr(GError) error = NULL;
    WsTrace *t = ws_trace_load(path, &error);
    g_assert_no_error(error);
    return t;
}

static void kinship(void)
{
    static const struct {
        const char *a, *b;
        gboolean kin;
    } cases[] = {
        { "attention-d128/measured/attention-d128.wtrace",
          "attention-d128/measured/unordered.wtrace", TRUE },
        { "attention-d128/measured/attention-d128.wtrace", "attention-d128/measured/causal.wtrace",
          TRUE },
        { "attention-d128/measured/attention-d128.wtrace",
          "attention-d128/measured/no-overlap.wtrace", TRUE },
        { "attention-d64/measured/two-groups.wtrace",
          "attention-d64/measured/two-groups-lock.wtrace", TRUE },
        { "gemm-bf16/measured/gemm-bf16.wtrace",
          "gemm-bf16-pingpong/measured/gemm-bf16-pingpong.wtrace", TRUE },
        { "attention-d128/measured/attention-d128.wtrace", "gemm-bf16/measured/gemm-bf16.wtrace",
          FALSE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsTrace) a = load(cases[i].a), b = load(cases[i].b);
        const double k = ws_trace_kinship(a, b);
        g_test_message("%s, %s: %.2f", cases[i].a, cases[i].b, k);
        g_assert_cmpfloat_with_epsilon(k, ws_trace_kinship(b, a), 1e-9);
        g_assert_cmpfloat_with_epsilon(ws_trace_kinship(a, a), 1, 1e-9);
        g_assert_cmpint(k >= WS_TRACE_KIN, ==, cases[i].kin);
    }
}

/* Every step of either trace is in one row, and rows of two are of one text, kind and role. */
static void rows(void)
{
    static const char *const pair[][2] = {
        { "attention-d128/measured/attention-d128.wtrace",
          "attention-d128/measured/no-overlap.wtrace" },
        { "attention-d128/measured/attention-d128.wtrace",
          "attention-d128/measured/causal.wtrace" },
        { "gemm-bf16/measured/gemm-bf16.wtrace",
          "gemm-bf16-pingpong/measured/gemm-bf16-pingpong.wtrace" },
    };
    for (guint k = 0; k < G_N_ELEMENTS(pair); k++) {
        g_autoptr(WsTrace) a = load(pair[k][0]), b = load(pair[k][1]);
        g_autoptr(WsTraceStats) sa = ws_trace_stats_new(a), sb = ws_trace_stats_new(b);
        g_autoptr(GArray) list = ws_trace_kin_rows(a, sa, b, sb);
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        guint n[2] = { 0 }, both = 0;
        for (guint i = 0; i < list->len; i++) {
            const WsTraceKinRow *x = &g_array_index(list, WsTraceKinRow, i);
            g_assert_true(x->s[0] || x->s[1]);
            for (guint m = 0; m < 2; m++)
                if (x->s[m]) {
                    g_assert_true(g_hash_table_add(seen, (gpointer)x->s[m]));
                    n[m]++;
                }
            if (!x->s[0] || !x->s[1])
                continue;
            both++;
            g_assert_cmpstr(ws_trace_op_label(a, x->s[0]->op), ==,
                            ws_trace_op_label(b, x->s[1]->op));
            g_assert_cmpint(ws_trace_op_kind(a, x->s[0]->op), ==, ws_trace_op_kind(b, x->s[1]->op));
        }
        g_assert_cmpuint(n[0], ==, sa->step->len);
        g_assert_cmpuint(n[1], ==, sb->step->len);
        g_assert_cmpuint(both, >, MIN(n[0], n[1]) / 3);
        /* With itself everything has itself. */
        g_autoptr(GArray) own = ws_trace_kin_rows(a, sa, a, sa);
        g_assert_cmpuint(own->len, ==, sa->step->len);
        for (guint i = 0; i < own->len; i++) {
            const WsTraceKinRow *x = &g_array_index(own, WsTraceKinRow, i);
            g_assert_true(x->s[0] == x->s[1]);
        }
    }
}

/* Agents of other names go together by what they do; what has no partner stands alone. */
static void by_role(void)
{
    g_autoptr(WsTrace) a = load("gemm-bf16/measured/gemm-bf16.wtrace");
    g_autoptr(WsTrace) b = load("gemm-bf16/measured/gemm-bf16.wtrace");
    for (guint i = 0; i < b->agent_name->len; i++) {
        g_autofree char *was = b->agent_name->pdata[i];
        b->agent_name->pdata[i] = g_strdup_printf("other%u", i);
    }
    g_autoptr(WsTraceStats) sa = ws_trace_stats_new(a), sb = ws_trace_stats_new(b);
    g_autoptr(GArray) list = ws_trace_kin_rows(a, sa, b, sb);
    g_assert_cmpuint(list->len, ==, sa->step->len);
    for (guint i = 0; i < list->len; i++)
        g_assert_cmpuint(g_array_index(list, WsTraceKinRow, i).s[0]->agent, ==,
                         g_array_index(list, WsTraceKinRow, i).s[1]->agent);
    /* A trace without records, and one whose labels are all new. */
    for (guint i = 0; i < b->op_label->len; i++) {
        g_autofree char *was = b->op_label->pdata[i];
        b->op_label->pdata[i] = g_strdup_printf("step %u", i);
    }
    g_autoptr(GArray) apart = ws_trace_kin_rows(a, sa, b, sb);
    g_assert_cmpuint(apart->len, ==, sa->step->len + sb->step->len);
    g_assert_cmpfloat(ws_trace_kinship(a, b), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/kin/kinship", kinship);
    g_test_add_func("/trace/kin/rows", rows);
    g_test_add_func("/trace/kin/by-role", by_role);
    return g_test_run();
}
