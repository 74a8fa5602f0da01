/* Kernels that serving runs: rehearsed where lengths are ragged, empty and one, and changes of them
 * that the check must refute, at its step, or the rehearsal must find wrong. */
#include "altered.h"

#define VARLEN   "projects/attention-varlen/design.wstave"
#define D192     "projects/attention-d192/design.wstave"
#define SINK     "projects/attention-sink/design.wstave"
#define NORM     "projects/rmsnorm-gemm/design.wstave"
#define LOSS     "projects/cross-entropy/design.wstave"
#define JOIN     "projects/cross-entropy/combine.wstave"
#define SPLIT    "projects/attention-decode-split/design.wstave"
#define JOINED   "projects/attention-decode-split/combine.wstave"
#define LINEAR   "projects/linear-attention/design.wstave"
#define BACK     "projects/attention-backward-d128/design.wstave"
#define ROWS     "projects/attention-backward-d128/rows.wstave"
#define ROUND    "projects/attention-backward-d128/convert.wstave"
#define DQ       "projects/attention-backward-d128-dq/design.wstave"
#define DKV      "projects/attention-backward-d128-dkv/design.wstave"
#define DQ64     "projects/attention-backward-d64/dq.wstave"
#define DQ256    "projects/attention-backward-d256/dq.wstave"
#define DKV256   "projects/attention-backward-d256/design.wstave"
#define MLA      "projects/sparse-mla-decode/design.wstave"
#define INT4     "projects/gemm-small-int4/design.wstave"
#define INDEX    "projects/mla-indexer/design.wstave"
#define INDEX_32 "projects/mla-indexer/heads32.wstave"
#define MLA_TO   "projects/sparse-mla-decode/combine.wstave"
#define MLA_1    "projects/sparse-mla-decode/single.wstave"
#define GROUPS   "tests/designs/moves/rows-end.wstave"

static const Right right[] = {
    { VARLEN, "", "B=5 HQ=2 HKV=1 TQ=420 TK=610 MQ=420" },
    { VARLEN, "CAUSAL=0", "B=9 HQ=1 HKV=1 TQ=300 TK=40 MQ=300" }, /* sequences without keys */
    { VARLEN, "", "B=9 HQ=1 HKV=1 TQ=300 TK=40 MQ=300" },
    { VARLEN, "", "B=1 HQ=2 HKV=2 TQ=1 TK=1 MQ=1" },
    { VARLEN, "CAUSAL=0", "B=30 HQ=1 HKV=1 TQ=40 TK=600 MQ=40" }, /* many of no row or of one */
    { VARLEN, "TURN=0", "B=2 HQ=8 HKV=2 TQ=192 TK=256 MQ=192" },
    { D192, "", "B=1 HQ=2 HKV=1 SQ=130 SK=300" },
    { D192, "CAUSAL=1", "B=1 HQ=1 HKV=1 SQ=200 SK=70" }, /* rows without keys */
    { D192, "CAUSAL=1", "B=2 HQ=4 HKV=2 SQ=1 SK=129" },
    { SINK, "", "B=1 HQ=2 HKV=1 SQ=130 SK=300" },
    { SINK, "CAUSAL=0 CAP=0", "B=1 HQ=1 HKV=1 SQ=130 SK=5" },
    { SINK, "SINKS=0", "B=1 HQ=1 HKV=1 SQ=150 SK=70" },
    { SINK, "CAP=0", "B=1 HQ=8 HKV=2 SQ=70 SK=3" }, /* sinks alone in rows without keys */
    { NORM, "", "M=1 N=8 K=8" },
    { NORM, "", "M=130 N=264 K=72" },
    { LOSS, "", "T=1 V=8 K=8" },
    { LOSS, "", "T=65 V=257 K=72" },
    { LOSS, "", "T=150 V=1300 K=8" },
    { JOIN, "", "T=1 V=1" },
    { JOIN, "", "T=65 V=9000" }, /* 36 tiles: the second round has 4 */
    { SPLIT, "", "B=2 H=1 G=16 NP=5 MP=1 S=1" },
    { SPLIT, "", "B=3 H=1 G=1 NP=9 MP=4 S=6" }, /* more splits than pages */
    { SPLIT, "", "B=1 H=2 G=3 NP=20 MP=9 S=2" },
    { JOINED, "", "B=1 H=1 G=1 S=1" },
    { JOINED, "", "B=2 H=1 G=3 S=9" }, /* the second round has one */
    { LINEAR, "", "B=1 H=1 T=1" },
    { LINEAR, "", "B=1 H=2 T=65" },
    { LINEAR, "", "B=2 H=1 T=200" },
    { BACK, "", "B=1 HQ=2 HKV=1 SQ=65 SK=129" },
    { BACK, "CAUSAL=1", "B=1 HQ=1 HKV=1 SQ=130 SK=65" }, /* rows without keys */
    { ROWS, "", "B=1 HQ=2 SQ=65" },
    { ROUND, "", "B=1 HQ=1 SQ=65" },
    { DQ, "CAUSAL=1", "B=1 HQ=1 HKV=1 SQ=129 SK=65" },
    { DQ64, "CAUSAL=1", "B=1 HQ=2 HKV=1 SQ=65 SK=9" },
    { DKV, "CAUSAL=1", "B=1 HQ=1 HKV=1 SQ=1 SK=129" },
    { DQ256, "CAUSAL=1", "B=1 HQ=1 HKV=1 SQ=129 SK=65" }, /* rows without keys */
    { DQ256, "", "B=1 HQ=2 HKV=1 SQ=1 SK=130" },
    { DKV256, "CAUSAL=1", "B=1 HQ=2 HKV=1 SQ=65 SK=70" },
    { DKV256, "CAUSAL=1", "B=1 HQ=1 HKV=1 SQ=1 SK=129" }, /* the mask leaves no block to a tile */
    { DKV256, "", "B=1 HQ=1 HKV=1 SQ=129 SK=1" },
    { MLA, "", "B=1 HQ=1 SKV=1 TOPK=1 S=1" },
    { MLA, "", "B=2 HQ=66 SKV=90 TOPK=130 S=4" }, /* more splits than blocks, keys twice */
    { MLA, "LEAST=130", "B=1 HQ=3 SKV=200 TOPK=130 S=1" },
    { MLA_1, "", "B=1 HQ=1 SKV=1 TOPK=1" },
    { MLA_1, "", "B=3 HQ=66 SKV=90 TOPK=260" }, /* 0 to 5 blocks, keys twice */
    { INDEX, "CH=1", "SQ=1 SKV=1" },
    { INDEX, "CH=1", "SQ=5 SKV=900" }, /* rows without keys, runs of which no row wants a key */
    { INDEX, "CH=2 H=32 RAGGED=0", "SQ=3 SKV=600" },
    { INDEX_32, "CH=1", "SQ=9 SKV=300" },
    { MLA_TO, "", "B=1 HQ=1 S=1" },
    { MLA_TO, "", "B=1 HQ=65 S=9" },
    { MLA_TO, "BN=16 STAGES=2", "B=1 HQ=3 S=16" },
    { GROUPS, "", "M=1 N=8 K=8 NG=1" },
    { GROUPS, "", "M=200 N=72 K=136 NG=4" },
    { GROUPS, "", "M=63 N=64 K=64 NG=9" },
};

static const Wrong wrong[] = {
    { VARLEN, ", \"rows\": \"left - replica*WM\" }\n", " }\n", "G-TWICE",
      "groups/mma/body/1/do/0/then/16/else/0", NULL },
    { VARLEN, ", \"rows\": \"left - replica*WM\" },\n", " },\n", "G-TWICE",
      "groups/mma/body/1/do/0/then/17", NULL },
    { VARLEN, "\"left - replica*WM >= WM\"", "\"left - replica*WM > 0\"", "G-TWICE",
      "groups/mma/body/1/do/0/then/16/then/3", NULL },
    { VARLEN, "\"rows\": \"left - replica*WM\"", "\"rows\": \"left - replica*WM - 1\"", "G-NEVER",
      NULL, NULL },
    { VARLEN, "\"when\": \"j < nm\"", "\"when\": \"j < nm - 1\"", NULL, NULL,
      "B=2 HQ=1 HKV=1 TQ=300 TK=600 MQ=300" },
    { VARLEN, "replica*WM + shift, keys - 1", "replica*WM + shift + 1, keys - 1", NULL, NULL,
      "B=5 HQ=1 HKV=1 TQ=150 TK=200 MQ=150" },
    { VARLEN, "\"k0\": \"KS[b]\"", "\"k0\": \"KS[0]\"", NULL, NULL,
      "B=5 HQ=1 HKV=1 TQ=150 TK=200 MQ=150" },
    { VARLEN, "select(mx == -inf, 0, mx)", "mx", NULL, NULL, "B=9 HQ=1 HKV=1 TQ=150 TK=20 MQ=150" },
    { D192, "\"m*BM + replica*WM\", \"n*SLAB\"", "\"m*BM + replica*WM\", 0", "G-TWICE",
      "groups/mma/body/1/do/15/do/4", NULL },
    { D192, "            { \"store_wait\": 0 },\n", "", "P-ASYNC", "groups/mma/body/1/do/15/do/1",
      NULL },
    { D192, "o.cols(n*SLAB, SLAB)", "o.cols(0, SLAB)", NULL, NULL, "B=1 HQ=1 HKV=1 SQ=64 SK=9" },
    { SINK, "\"inner\": \"scale/softcap\"", "\"inner\": \"scale\"", NULL, NULL,
      "B=1 HQ=1 HKV=1 SQ=64 SK=100" },
    { SINK, "\"unit\": \"select(CAP != 0, softcap, scale)\"", "\"unit\": \"scale\"", NULL, NULL,
      "B=1 HQ=1 HKV=1 SQ=64 SK=100" },
    { SINK, "\"at\": [\"h\"]", "\"at\": [0]", NULL, NULL, "B=1 HQ=2 HKV=1 SQ=64 SK=65" },
    { SINK, "rowsum(l)*f + select(t == -inf, 0, exp2(sink*log2e - t))", "rowsum(l)*f", NULL, NULL,
      "B=1 HQ=2 HKV=1 SQ=64 SK=65" },
    { NORM, "\"by\": \"warp\", \"use\": \"k.total - 1\", \"when\"",
      "\"use\": \"k.total - 1\", \"when\"", "P-DL", NULL, NULL },
    { NORM, "          { \"compute\": \"ss = 0\" },\n", "", "P-UNDEF", NULL, NULL },
    { NORM, "rowsum(ss)/K", "rowsum(ss)", NULL, NULL, "M=64 N=8 K=72" },
    { LOSS, "\"at\": [\"tn\", \"tm*BM + replica*WM\"]", "\"at\": [\"tn\", \"tm*BM\"]", "G-TWICE",
      NULL, NULL },
    { LOSS, "select(n < V, acc, -inf)", "acc + 0", NULL, NULL, "T=65 V=257 K=72" },
    { LOSS, "exp2(acc*log2e - top)", "exp2(acc - top)", NULL, NULL, "T=65 V=257 K=72" },
    { JOIN, "l*exp2(mx - mn)", "l", NULL, NULL, "T=65 V=9000" },
    { JOIN, "hit = hit + ", "hit = ", NULL, NULL, "T=65 V=9000" },
    { SPLIT, "\"at\": [\"s\", \"b\", \"h\", 0, 0]", "\"at\": [0, \"b\", \"h\", 0, 0]", "G-TWICE",
      NULL, NULL },
    { SPLIT, "          { \"arrive\": \"empty\", \"use\": \"2*j\" },\n", "", "P-", NULL, NULL },
    { SPLIT, "(j*S + s)*PAGE + col", "j*PAGE + col", NULL, NULL, "B=1 H=1 G=1 NP=9 MP=4 S=3" },
    { SPLIT, "\"T[b, j*S + s]\"", "\"T[b, j]\"", NULL, NULL, "B=1 H=1 G=1 NP=9 MP=4 S=3" },
    { JOINED, "out = out*alpha", "out = out", NULL, NULL, "B=2 H=1 G=3 S=9" },
    { JOINED, "select(j*C + col < S, t, -1e+30)", "t", NULL, NULL, "B=2 H=1 G=3 S=1" },
    { JOINED, "select(li > 0, out/li, 0)", "out/li", NULL, NULL, "B=2 H=1 G=8 S=1" },
    { LOSS, "n == label", "n == label + 1", NULL, NULL, "T=65 V=257 K=72" },
    { LINEAR, "\"use\": \"c\", \"when\": \"c > 0\" }", "\"use\": \"c\" }", "P-UNDEF",
      "groups/mma/body/0/do/2", NULL },
    { LINEAR, "          { \"sync\": \"group\" },\n          { \"store\": \"O\"",
      "          { \"store\": \"O\"", "P-RACE", "groups/mma/body/0/do/14", NULL },
    { LINEAR, "{ \"mma_wait\": 0 },\n          { \"arrive\"",
      "{ \"mma_wait\": 1 },\n          { \"arrive\"", "P-ASYNC", NULL, NULL },
    { LINEAR, "col <= row", "col < row", NULL, NULL, "B=1 H=1 T=65" },
    { LINEAR, "\"a\": \"k.t\", \"b\": \"v.cols(replica*E, E).t\", \"first\": \"c == 0\"",
      "\"a\": \"k.t\", \"b\": \"v.cols(replica*E, E).t\", \"first\": true", NULL, NULL,
      "B=1 H=1 T=200" },
    { BACK, "              { \"sync\": \"both\" },\n", "", "P-RACE", NULL, NULL },
    { BACK, "\"stages\": 2 }", "\"stages\": 1 }", "P-", NULL, NULL }, /* dS is still read */
    { BACK, "              { \"wait\": \"dq_empty[replica]\", \"use\": \"i.total\" },\n", "", "P-",
      NULL, NULL },
    { BACK, "row - CAUSAL*col <= last", "row - CAUSAL*col < last", NULL, NULL,
      "B=1 HQ=1 HKV=1 SQ=9 SK=9" },
    { ROWS, "rowsum(x*y)", "rowsum(x*x)", NULL, NULL, "B=1 HQ=1 SQ=9" },
    { DQ, "{ \"wait\": \"o_full[replica]\", \"use\": \"tile.total\" },", "", "P-RACE", NULL, NULL },
    { DKV, "{ \"mma_wait\": 0 },\n              { \"arrive\": \"q_empty\"",
      "{ \"arrive\": \"q_empty\"", "P-ASYNC", NULL, NULL },
    { DKV, "hk*heads + g", "hk*heads", NULL, NULL, "B=1 HQ=2 HKV=1 SQ=64 SK=64" },
    { DQ256, "          { \"wait\": \"v_full\", \"use\": \"kv\" },\n", "", "P-RACE", NULL, NULL },
    { DQ256, "          { \"arrive\": \"v_empty\", \"by\": \"warp\", \"use\": \"kv\" },\n", "",
      "P-DL", NULL, NULL },
    { DQ256, "replica == 1", "replica == 0", NULL, NULL, "B=1 HQ=1 HKV=1 SQ=128 SK=9" },
    { DKV256, "              { \"wait\": \"p_full\", \"use\": \"i.total\" },\n", "", "P-RACE", NULL,
      NULL },
    /* what frees P is that Q of two rounds later has come */
    { DKV256,
      "\"name\": \"ps\", \"dtype\": \"f16\", \"tile\": [\"BN\", \"BM\"], \"stages\": \"STAGES\"",
      "\"name\": \"ps\", \"dtype\": \"f16\", \"tile\": [\"BN\", \"BM\"], \"stages\": 1", "P-", NULL,
      NULL },
    { DKV256, "\"L\", \"at\": [\"bt\", \"hk*heads + g\", \"(blocks - 1 - i)*BM\"]",
      "\"L\", \"at\": [\"bt\", \"hk*heads + g\", \"i*BM\"]", NULL, NULL,
      "B=1 HQ=1 HKV=1 SQ=128 SK=65" },
    { DKV256, "hk*heads + g", "hk*heads", NULL, NULL, "B=1 HQ=2 HKV=1 SQ=64 SK=64" },
    { MLA, "          { \"wait\": \"kl_free\", \"use\": \"j\" },\n", "", "P-", NULL, NULL },
    { MLA, "          { \"arrive\": \"kr_free\", \"use\": \"j\" },\n", "", "P-DL", NULL, NULL },
    { MLA, "          { \"wait\": \"p_free\", \"use\": \"j\" },\n", "", "P-RACE",
      "groups/left/body/6/do/15", NULL },
    { MLA, "\"tile\": [\"BT\"], \"stages\": 4", "\"tile\": [\"BT\"], \"stages\": 2", "P-", NULL,
      NULL },
    { MLA, "\"at\": [\"s\", \"b\", \"hb*BH\", \"COLS\"]", "\"at\": [\"s\", \"b\", \"hb*BH\", 0]",
      "G-TWICE", NULL, NULL },
    { MLA, "scales.cols(3, 1)", "scales.cols(2, 1)", NULL, NULL, "B=1 HQ=1 SKV=90 TOPK=70 S=1" },
    { MLA, "BT + col < len", "BT + col <= len", NULL, NULL, "B=2 HQ=2 SKV=90 TOPK=70 S=1" },
    { MLA, "idx < SKV && ", "", NULL, NULL, "B=2 HQ=2 SKV=90 TOPK=70 S=1" },
    { MLA, "idx >= 0 && ", "", NULL, NULL, "B=2 HQ=2 SKV=90 TOPK=70 S=1" },
    { MLA, "\"o3 = o3*alpha\"", "\"o3 = o3*1\"", NULL, NULL, "B=3 HQ=9 SKV=200 TOPK=190 S=1" },
    { MLA, "\"mt = max(mt, r)\"", "\"mt = m\"", NULL, NULL, "B=3 HQ=9 SKV=200 TOPK=190 S=1" },
    { MLA_1, "\"at\": [\"b\", \"hb*BH\", \"COLS\"]", "\"at\": [\"b\", \"hb*BH\", 0]", "G-TWICE",
      NULL, NULL },
    { MLA_1, "\"wait\": \"p_free\", \"use\": \"nb\"", "\"wait\": \"p_free\", \"use\": 0", "P-",
      NULL, NULL },
    { MLA_1, "BT + row < len", "BT + row < len - 1", NULL, NULL, "B=2 HQ=2 SKV=90 TOPK=70" },
    { MLA_1, "select(lt == 0, 0, rcp(lt))", "rcp(lt)", NULL, NULL, "B=40 HQ=1 SKV=9 TOPK=3" },
    { INDEX, "              { \"arrive\": \"kv_empty\", \"by\": \"warp\", \"use\": \"kv + j\" },\n",
      "", "P-DL", "groups/load/body/0/do/4/then/0/do/0", NULL },
    { INDEX, "              { \"mma_wait\": 0 },\n", "", "P-ASYNC",
      "groups/score/body/1/do/2/then/0/do/12", NULL },
    { INDEX, "              { \"sync\": \"group\", \"when\": \"j > 0\" },\n", "", "P-RACE", "lane0",
      NULL },
    { INDEX, "              { \"fence\": \"mma\" },\n", "", "P-FENCE",
      "groups/score/body/1/do/2/then/0/do/2", NULL },
    { INDEX, "\"advance\": \"kv\", \"by\": \"CH\"", "\"advance\": \"kv\", \"by\": \"CH + 1\"",
      "P-EARLY", "groups/score/body/1/do/2/then/0/do/0", NULL },
    { INDEX, "max(s, 0)*wq", "s*wq", NULL, NULL, "SQ=3 SKV=300" },
    { INDEX, "col >= H", "col >= H - 8", NULL, NULL, "SQ=3 SKV=300" },
    { INDEX, "< select(row == 0, e0", "<= select(row == 0, e0", NULL, NULL, "SQ=3 SKV=300" },
    { INDEX, ">= select(row == 0, a0", "> select(row == 0, a0", NULL, NULL, "SQ=3 SKV=300" },
    { INDEX, "lo < (c*4 + 1)*CH*BK", "lo < c*CH*BK", NULL, NULL, "SQ=3 SKV=300" },
    { INDEX, "cols(2*(WM + 8), WM)", "cols(WM + 8, WM)", NULL, NULL, "SQ=3 SKV=300" },
    { INDEX, "sc.rows((CH + j)*BK", "sc.rows(j*BK", NULL, NULL, "SQ=2 SKV=1200" },
    { INDEX_32, "              { \"sync\": \"group\" },\n", "", "P-RACE", NULL, NULL },
    { INDEX_32, "col >= 2*H && ", "", NULL, NULL, "SQ=4 SKV=70" },
    { MLA_TO, "li = li*alpha", "li = li", NULL, NULL, "B=1 HQ=40 S=20" },
    { MLA_TO, "select(li == 0, 0, out/li)", "out/li", NULL, NULL, "B=1 HQ=16 S=1" },
    { GROUPS, ", \"rows\": \"left\"", "", "G-TWICE", "groups/mma/body/0/do/2", NULL },
    { GROUPS, "\"rows\": \"left\"", "\"rows\": \"left - 1\"", "G-NEVER", NULL, NULL },
    { GROUPS, "\"at\": [\"g\", ", "\"at\": [\"min(g, 1)\", ", NULL, NULL, "M=200 N=8 K=8 NG=4" },
};

static void test_sizes(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(right); i++) {
        if (!test_either(i))
            continue;
        g_autoptr(WsProgram) p = with(right[i].file, NULL, NULL, right[i].set);
        g_assert_true(is_right(p, right[i].size));
    }
}

static void test_wrong(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        if (!test_either(i))
            continue;
        g_autoptr(WsProgram) p = with(wrong[i].file, wrong[i].from, wrong[i].to, NULL);
        if (wrong[i].rule)
            refuted(p, &wrong[i]);
        else
            g_assert_false(is_right(p, wrong[i].size));
    }
}

static guint times(const char *text, const char *word)
{
    guint n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

/* 8-bit floats are read four at a time, two become f16 times their scale by two instructions. Which
 * rows are gathered is read once a block, and before the wait: also behind the own group's wait for
 * the kernel before, but not behind that of another one, which tells of it by a barrier. */
static void test_widened(void)
{
    g_autoptr(GError) error = NULL;
    const guint pairs = 2 * 4 * 64 * 64 / 128 / 2;
    guint rows[3];
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *wait = "        { \"griddepcontrol\": \"wait\" },\n";
        g_autoptr(WsProgram) p = i == 0   ? with(MLA, NULL, NULL, NULL)
                                 : i == 1 ? with(MLA_1, NULL, NULL, NULL)
                                          : with(MLA, wait, "", NULL);
        g_autofree char *ptx = ws_generate_ptx(p, &(WsGenerateOptions){ 0 }, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(times(ptx, "cvt.rn.f16x2.e4m3x2"), ==, pairs);
        g_assert_cmpuint(times(ptx, "mul.rn.f16x2"), ==, pairs);
        g_assert_cmpuint(times(ptx, "satfinite.e4m3x2"), ==, 0);
        rows[i] = times(ptx, "ld.global.nc.b32");
    }
    g_test_message("%u, %u, %u reads", rows[0], rows[1], rows[2]);
    g_assert_cmpuint(rows[0], ==, rows[1]);
    g_assert_cmpuint(rows[2], >, rows[0]);
}

typedef struct {
    const char *from, *to, *want_from, *want_to;
    guint pairs; /* of two elements that became bf16 without a conversion, of 64 */
} Bytes;

/* Numbers out of bytes become bf16 two at a time where they are small, and are right elsewhere. */
static const Bytes bytes[] = {
    { "bitand(i32(q), 15) - 8", "bitand(i32(q), 15) + 120 - 128", NULL, NULL, 64 },
    { "bitand(i32(q), 15) - 8", "bitand(i32(q), 127) - 128",
      "bitand(W[n, (k/GROUP)*HALF + k % HALF], 15)",
      "bitand(W[n, (k/GROUP)*HALF + k % HALF], 127) - 120", 64 },
    { "shr(i32(q), 4) - 8", "bitand(shr(i32(q), 2), 60) - 32",
      "shr(W[n, (k/GROUP)*HALF + k % HALF], 4)", "4*shr(W[n, (k/GROUP)*HALF + k % HALF], 4) - 24",
      64 },
    { "bitand(i32(q), 15) - 8", "bitand(i32(q), 255) - 8",
      "bitand(W[n, (k/GROUP)*HALF + k % HALF], 15)", "W[n, (k/GROUP)*HALF + k % HALF]",
      32 }, /* 7 bits do not hold it */
    { "bitand(i32(q), 15) - 8", "8 - (16 - bitand(i32(q), 15))", NULL, NULL, 32 },
    { "shr(i32(q), 4) - 8", "shr(shr(i32(q), 2), 2) - 8", NULL, NULL, 64 },
    { "shr(i32(q), 4) - 8", "shr(shr(shr(shr(shr(i32(q), 7), 7), 7), 7), 7) - 8",
      "shr(W[n, (k/GROUP)*HALF + k % HALF], 4)", "0*shr(W[n, (k/GROUP)*HALF + k % HALF], 4)",
      32 }, /* 35 bits: more than a register has */
};

static void test_bytes(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(bytes); i++) {
        if (!test_either(i))
            continue;
        const Bytes *b = &bytes[i];
        g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, INT4, NULL), *text = NULL;
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        GString *other = g_string_new(text);
        g_assert_cmpuint(g_string_replace(other, b->from, b->to, 0), ==, 2);
        if (b->want_from)
            g_assert_cmpuint(g_string_replace(other, b->want_from, b->want_to, 0), ==, 1);
        g_autofree char *now = g_string_free(other, FALSE);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(now, strlen(now), path, findings);
        g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        g_assert_nonnull(p);
        g_autoptr(GError) error = NULL;
        g_autofree char *ptx = ws_generate_ptx(p, &(WsGenerateOptions){ 0 }, &error);
        g_assert_no_error(error);
        g_test_message("%s", b->to);
        g_assert_cmpuint(times(ptx, "sub.rn.bf16x2"), ==, b->pairs);
        g_assert_true(is_right(p, "M=3 N=64 K=1024"));
    }
}

/* The worst error is that of the elements that have one, also behind an infinite reference. */
static void test_worst(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = with(INDEX, NULL, NULL, "CH=1");
    const char *name[] = { "SQ", "SKV" };
    const gint64 size[] = { 5, 200 };
    WsRehearseOptions options = { .seed = 4, .size_name = name, .size = size, .n_size = 2 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    g_assert_true(r->matches);
    g_assert_cmpfloat(r->worst_error, >, 0);
    g_assert_cmpfloat(r->worst_error, <, r->worst_tolerance);
    ws_rehearse_result_free(r);
}

/* Weights and scales are read plainly and loaded over: where the policy asks, a fence stands
 * between. */
static void test_freed(void)
{
    const WsCheckOptions options = { .policy = WS_POLICY_WAR };
    for (guint i = 0; i < 2; i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = with(INDEX_32, i ? "{ \"fence\": \"async\" },\n" : NULL, "", NULL);
        g_autoptr(WsVerdict) verdict = ws_check(p, &options, findings);
        g_assert_true((verdict->kind == WS_VERDICT_PROVED) == (i == 0));
        /* Without the policy it is taken as harmless, which is said, though no launch that is
         * played shows the overwrite. */
        g_autoptr(WsFindings) shown = ws_findings_new();
        g_autoptr(WsVerdict) lax = ws_check(p, NULL, shown);
        g_assert_cmpint(lax->kind, ==, WS_VERDICT_PROVED);
        gboolean said = FALSE;
        for (guint k = 0; k < lax->assumed->len; k++)
            said = said || strstr(lax->assumed->pdata[k], "P-WAR");
        g_assert_true(said == (i == 1));
        for (guint k = 0; k < shown->list->len; k++)
            g_assert_cmpint(((const WsFinding *)shown->list->pdata[k])->rule, !=,
                            WS_RULE_P_PROXY_WAR);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/served/sizes", test_sizes);
    g_test_add_func("/codegen/served/wrong", test_wrong);
    g_test_add_func("/codegen/served/widened", test_widened);
    g_test_add_func("/codegen/served/bytes", test_bytes);
    g_test_add_func("/codegen/served/worst", test_worst);
    g_test_add_func("/codegen/served/freed", test_freed);
    return g_test_run();
}
