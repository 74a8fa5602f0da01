/* Products for experts: rehearsed where groups are ragged, empty, of one row or of no expert, and
 * changes of them that the check must refute or the rehearsal must find wrong. */
#include "altered.h"

#define GROUPED "projects/gemm-grouped/design.wstave"
#define FP8     "projects/gemm-grouped-fp8/design.wstave"
#define MASKED  "projects/gemm-grouped-fp8/masked.wstave"
#define RAGGED  "projects/gemm-grouped-fp8/ragged.wstave"
#define SWIGLU  "projects/gemm-grouped-swiglu/design.wstave"
#define EIGHT   "projects/gemm-grouped-swiglu/quantized.wstave"
#define COMBINE "projects/gemm-grouped-combine/design.wstave"

static const Right right[] = {
    { GROUPED, "", "M=1 N=8 K=8 NE=1" },        /* one row, one expert, most numbers are none */
    { GROUPED, "", "M=129 N=264 K=72 NE=7" },   /* ragged everywhere */
    { GROUPED, "", "M=700 N=256 K=192 NE=3" },  /* blocks of no expert among others */
    { GROUPED, "", "M=1500 N=256 K=64 NE=20" }, /* more experts than blocks: most are empty */
    { FP8, "", "M=4 N=8 K=512 NE=8" },
    { FP8, "", "M=132 N=136 K=512 NE=2" },
    { FP8, "", "M=520 N=520 K=512 NE=3" }, /* blocks of no expert, two pairs of columns */
    { FP8, "", "M=1100 N=8 K=512 NE=20" },
    { MASKED, "", "NE=1 MX=320 N=8 K=512 CTAS=1" },
    { MASKED, "", "NE=4 MX=320 N=168 K=512 CTAS=2" }, /* columns of two scales */
    { MASKED, "BN=192 STAGES=4",
      "NE=3 MX=140 N=392 K=512 CTAS=5" },                    /* more rows than there is room */
    { MASKED, "BN=128", "NE=2 MX=320 N=264 K=512 CTAS=40" }, /* most CTAs have no tile */
    { RAGGED, "", "M=1 N=8 K=256 NE=1" },
    { RAGGED, "", "M=9 N=136 K=256 NE=8" }, /* experts of no row and of one */
    { RAGGED, "", "M=300 N=264 K=256 NE=3" },
    { RAGGED, "", "M=200 N=8 K=256 NE=5" },
    { SWIGLU, "", "M=4 N=128 K=512 NE=8" },
    { SWIGLU, "", "M=260 N=384 K=512 NE=5" },
    { EIGHT, "", "M=4 N=128 K=512 NE=8" },
    { EIGHT, "", "M=260 N=384 K=512 NE=5" },
    { COMBINE, "", "T=1 M=9 N=8" },
    { COMBINE, "", "T=7 M=9 N=1032" }, /* every row for every token, a ragged column */
    { COMBINE, "K=1", "T=3 M=1 N=16" },
    { COMBINE, "", "T=0 M=0 N=8" },
};

static const Wrong wrong[] = {
    { GROUPED, "\"e\": \"E[tm]\"", "\"e\": \"E[0]\"", NULL, NULL, "M=700 N=256 K=64 NE=7" },
    { GROUPED, "          { \"compute\": \"acc = 0\" },\n", "", "P-UNDEF", NULL, NULL },
    { GROUPED, ", \"when\": \"rounds > 0\"", "", "P-UNDEF", NULL, NULL },
    { GROUPED, "\"when\": \"rounds > 0\"", "\"when\": \"rounds > 3\"", "P-DL", NULL, NULL },
    { GROUPED, "\"count\": \"rounds\", \"do\"", "\"count\": \"cdiv(K, BK)\", \"do\"", "P-EXIT",
      NULL, NULL },
    { FP8, "\"e\": \"E[tm*BM]\"", "\"e\": \"E[0]\"", NULL, NULL, "M=520 N=8 K=512 NE=7" },
    { FP8, "\"e >= 0 && e < NE\"", "\"e > 4 && e < NE\"", NULL, NULL, "M=520 N=8 K=512 NE=7" },
    { FP8, "sfb.rows(1, 1).cols(k, 1)", "sfb.rows(0, 1).cols(k, 1)", NULL, NULL,
      "M=132 N=256 K=512 NE=8" },
    { FP8, ", \"multicast\": \"all\"", "", "P-", NULL, NULL },
    { FP8, "\"b.rows(HN, HN)\"", "\"b.rows(0, HN)\"", NULL, NULL, "M=132 N=256 K=512 NE=8" },
    { FP8,
      "          { \"compute\": [\n            \"d0 = 0\",\n            \"d1 = 0\"\n          ] "
      "},\n",
      "", "P-UNDEF", NULL, NULL },
    { MASKED, "(at0 >= b0)*b0", "(at0 >= b0)*0", NULL, NULL, "NE=3 MX=320 N=8 K=512 CTAS=2" },
    { MASKED, "\"be\": \"u % total\"", "\"be\": \"min(u % total, 1)\"", NULL, NULL,
      "NE=3 MX=320 N=8 K=512 CTAS=2" },
    { MASKED, "select(lim > 64, s0, s1)", "select(lim > 128, s0, s1)", NULL, NULL,
      "NE=2 MX=130 N=328 K=512 CTAS=2" },
    { MASKED, "max(cdiv(b7*np - cta0, CTAS), 0)", "max((b7*np - cta0)/CTAS, 0)", NULL, NULL,
      "NE=3 MX=320 N=8 K=512 CTAS=2" },
    { MASKED, "m < CNT[g], sum", "m < CNT[g] + 128, sum", NULL, NULL,
      "NE=3 MX=320 N=8 K=512 CTAS=2" },
    { MASKED, "              { \"mma_wait\": 0 },\n", "", "P-ASYNC", NULL, NULL },
    { RAGGED, "\"left - replica*WM >= WM\"", "\"1\"", "G-TWICE", NULL, NULL },
    { RAGGED, ", \"rows\": \"left - replica*WM\"", "", "G-TWICE", NULL, NULL },
    { RAGGED, "\"rows\": \"left - replica*WM\"", "\"rows\": \"left - replica*WM - 1\"", "G-NEVER",
      NULL, NULL },
    { RAGGED, "\"cdiv(M, BM) + NE\"", "\"cdiv(M, BM)\"", "G-NEVER", NULL, NULL },
    { RAGGED, "\"OFF[e] + (tm - before)*BM\"", "\"OFF[e] + (tm - before)*WM\"", NULL, NULL,
      "M=300 N=8 K=256 NE=1" },
    { SWIGLU, "\"N + col0\"", "\"col0\"", NULL, NULL, "M=260 N=128 K=512 NE=8" },
    { SWIGLU, "rcp(1.0 + exp(0.0 - d0))*d1", "d1", NULL, NULL, "M=260 N=128 K=512 NE=8" },
    { SWIGLU, "\"(N + col0)/128\"", "\"col0/128\"", NULL, NULL, "M=260 N=128 K=512 NE=8" },
    { EIGHT, "rowmax(abs(d0))", "rowmax(d0)", NULL, NULL, "M=260 N=128 K=512 NE=8" },
    { EIGHT, "\"S\", \"at\": [\"col0/128\"", "\"S\", \"at\": [0", "G-TWICE", NULL, NULL },
    { COMBINE, "\"I[t, row]\"", "\"I[t, 0]\"", NULL, NULL, "T=3 M=40 N=16" },
    { COMBINE, "\"at\": [\"t\", \"k\"]", "\"at\": [\"t\", 0]", NULL, NULL, "T=3 M=40 N=16" },
    { COMBINE, "        { \"load_wait\": 0 },\n", "", "P-RACE", NULL, NULL },
    { COMBINE, "        { \"sync\": \"group\" },\n", "", "P-RACE", NULL, NULL },
    { COMBINE, "        { \"compute\": \"out = 0\" },\n", "", "P-UNDEF", NULL, NULL },
    { COMBINE, "\"O\", \"at\": [\"t\"", "\"O\", \"at\": [\"I[t, 0]\"", "G-TWICE", NULL, NULL },
    { COMBINE, "\"cdiv(N, C)\"", "\"N/C\"", "G-NEVER", NULL, NULL },
};

static void test_sizes(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(right); i++) {
        if (!test_takes(i, 5, 5))
            continue;
        g_autoptr(WsProgram) p = with(right[i].file, NULL, NULL, right[i].set);
        g_assert_true(is_right(p, right[i].size));
    }
}

static void test_wrong(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        if (!test_takes(i, 5, 5))
            continue;
        g_autoptr(WsProgram) p = with(wrong[i].file, wrong[i].from, wrong[i].to, NULL);
        g_test_message("%u", i);
        if (wrong[i].rule)
            refuted(p, &wrong[i]);
        else
            g_assert_false(is_right(p, wrong[i].size));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/experts/sizes", test_sizes);
    g_test_add_func("/experts/wrong", test_wrong);
    return g_test_run();
}
