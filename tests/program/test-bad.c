/* Small bad designs: one change of a shipped design each, the rule it breaks and the exit code. */

#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"

#include <string.h>

typedef struct {
    const char *design, *from, *to;
    const char *rule; /* one finding has this rule */
    int exit_code;    /* of all findings */
    const char *says; /* part of that finding's message or remedy, or NULL */
} Bad;

#define ALL    "cluster-allreduce"
#define LOOKUP "moves/lookup"
#define ENDS   "moves/rows-end"
#define PICK   "moves/atomic-compact"
#define MARK   "moves/atomic-compare"
#define MASK   "moves/masked-store"
#define SCAN   "moves/running-sums"
#define COOP   "gemm-cooperative"
#define CAUSAL "attention-fa3-causal"
#define NAMED  "sparse-mla-seesaw"
#define PIPES  "sparse-mla-pipes"
#define MESH   "mesh/gemm-rs"
#define PULL   "mesh/ag-pull"
static const Bad bad[] = {
    /* names */
    { COOP, "\"signal\": \"full\", \"use\": \"k.total\" },", "\"signal\": \"fulls\", \"use\": 0 },",
      "N-UNKNOWN", 2, "Did you mean full?" },
    { COOP, "\"wait\": \"empty\", \"use\": \"k.total\"",
      "\"wait\": \"empty\", \"use\": \"j.total\"", "N-TOTAL", 2, "j" },
    { COOP, "\"to\": \"c[replica]\"", "\"to\": \"c\"", "N-ELEMENT", 2, "c[i]" },
    { COOP, "\"to\": \"c[replica]\"", "\"to\": \"c[replica]\", \"reduce\": \"add\"", "T-DTYPE", 2,
      "not combined" },
    { COOP, "\"to\": \"c[replica]\"", "\"to\": \"c[replica]\", \"at\": [0, 0]", "S-KEY", 2,
      "other side is a buffer" },
    { CAUSAL, "\"to\": \"LSE\"", "\"to\": \"LSE\", \"cta\": 0", "S-KEY", 2,
      "other side is a tensor" },
    { CAUSAL, "\"to\": \"LSE\"", "\"to\": \"LSE\", \"signal\": \"full\"", "S-KEY", 2,
      "other side is a tensor" },
    { CAUSAL, "\"to\": \"LSE\"", "\"to\": \"LSE.rows(0, 4)\"", "N-ELEMENT", 2, "no view" },
    { CAUSAL, "\"to\": \"LSE\"", "\"to\": \"LSE[1]\"", "N-ELEMENT", 2, "no [i]" },
    { CAUSAL, "\"to\": \"LSE\"", "\"to\": \"LSE @ 3\"", "N-ELEMENT", 2, "no use" },
    { CAUSAL, "\"to\": \"LSE\"", "\"to\": \"LSE\", \"use\": 0", "S-KEY", 2,
      "other side is a tensor" },
    { NAMED, "{ \"arrive\": \"p0\" }", "{ \"arrive\": \"p0\", \"count\": 2 }", "S-KEY", 2,
      "named barrier" },
    { NAMED, "{ \"arrive\": \"p0\" }", "{ \"arrive\": \"p0\", \"by\": \"warp\" }", "S-KEY", 2,
      "named barrier" },
    { NAMED, "{ \"arrive\": \"p0\" }", "{ \"arrive\": \"p0\", \"cta\": 0 }", "S-KEY", 2,
      "named barrier" },
    { NAMED, "{ \"arrive\": \"p0\" }", "{ \"arrive\": \"p0\", \"slot\": 1 }", "S-KEY", 2,
      "named barrier" },
    { NAMED, "{ \"arrive\": \"p0\" }", "{ \"arrive\": \"p0\", \"use\": 5 }", "S-KEY", 2,
      "named barrier" },
    { PIPES, "{ \"wait\": \"sparse_mla_q\", \"use\": 0 }",
      "{ \"wait\": \"sparse_mla_q\", \"use\": 0, \"slot\": 1 }", "S-KEY", 2, "a pipe" },
    { PIPES, "{ \"wait\": \"sparse_mla_q\", \"use\": 0 }",
      "{ \"wait\": \"sparse_mla_q\", \"use\": 0, \"phase\": 1 }", "S-KEY", 2, "a pipe" },
    { PIPES, "\"into\": \"q_l\"", "\"into\": \"q_l\", \"slot\": 1", "S-KEY", 2, "a pipe" },
    { COOP, "\"b\": \"b\"", "\"b\": \"b[0]\"", "N-ELEMENT", 2, "not an array" },
    { COOP, "\"at\": [\"tm*BM\", \"k*BK\"]", "\"at\": [\"s*BM\", \"k*BK\"]", "N-UNKNOWN", 2, "s" },
    { COOP, "{ \"store_wait\": 0 }", "{ \"store_wait\": 0, \"when\": \"tm > 0\" }", "N-SCOPE", 2,
      "tm" },
    { COOP, "{ \"store_wait\": 0 }", "{ \"store_wait\": 0, \"when\": \"tile > 0\" }", "N-SCOPE", 2,
      "tile" },
    { COOP, "\"count\": \"BN/SLAB\"", "\"count\": \"row\"", "N-SCOPE", 2, "row" },
    { COOP, "\"for\": \"s\"", "\"for\": \"tile\"", "N-SHADOW", 2, "tile" },
    { COOP, "\"for\": \"s\"", "\"for\": \"acc\"", "N-DUPLICATE", 2, "acc" },
    /* memory of other CTAs */
    { ALL, "\"from\": \"part\", \"cta\": \"r\"", "\"from\": \"part\", \"cta\": \"cta + 1\"",
      "T-RANGE", 2, "CTA 3 would reach CTA 4" },
    { ALL, "\"cluster\": 4", "\"cluster\": 1", "L-CLUSTER", 1, "the cluster has one" },
    { ALL, "\"cluster\": 4", "\"cluster\": 4, \"unread\": [18]", "S-KIND", 2, NULL },
    { ALL, "\"cluster\": 4", "\"cluster\": 4, \"granted\": [18]", "S-KIND", 2, NULL },
    { ALL, "\"from\": \"X\", ", "\"from\": \"X\", \"cta\": \"cta\", ", "S-KEY", 2, "tensor" },
    /* devices */
    { MESH, "\"devices\": { \"rank\": \"W\" },", "", "L-DEVICES", 2, "Say `devices`" },
    { MESH, "{ \"rank\": \"W\" }", "{ \"rank\": \"W\", \"other\": 2 }", "L-LENS", 3,
      "a mesh of 2 axes" },
    { MESH, "{ \"rank\": \"W\" }", "{ \"rank\": \"rank\" }", "N-SCOPE", 2,
      "another number on each device" },
    { MESH, "{ \"rank\": \"W\" }", "{ \"rank\": 0 }", "S-VALUE", 2, NULL },
    { MESH, "{ \"rank\": \"W\" }", "{ \"rank\": \"1 - 1\" }", "T-RANGE", 2, "at least one device" },
    { MESH, "{ \"rank\": \"W\" }", "{ \"W\": \"W\" }", "N-DUPLICATE", 2, NULL },
    { MESH, "\"shape\": [\"MS\", \"N\"]", "\"shape\": [\"MS + rank\", \"N\"]", "N-SCOPE", 2,
      "another number on each device" },
    { MESH, "\"TM\": \"cdiv(MS, BM)\"", "\"TM\": \"cdiv(MS, BM) + rank\"", "N-SCOPE", 2, "rank" },
    { MESH, "\"s\": \"W\"", "\"s\": \"rank\"", "N-SCOPE", 2, "rank" },
    { MESH, "\"assume\": [\"K >= 1\"]", "\"assume\": [\"K >= rank\"]", "N-SCOPE", 2, "rank" },
    { MESH, "\"grid\": \"SMS\"", "\"grid\": \"SMS + rank\"", "N-SCOPE", 2, "rank" },
    { MESH, "\"per_launch\": \"SMS\"", "\"per_launch\": \"SMS*rank\"", "N-SCOPE", 2, "rank" },
    { MESH, "\"per_launch\": \"SMS\"", "\"per_launch\": \"2 - 2\"", "T-RANGE", 2, "at least 1" },
    { MESH, "\"array\": \"W\"", "\"array\": \"1 - 1\"", "T-RANGE", 2, "no element" },
    { MESH, "\"launch\": \"persistent\"", "\"launch\": \"dynamic\"", "L-LENS", 3, "dynamic tiles" },
    { MESH, "\"devices\": {", "\"cluster\": 2, \"devices\": {", "L-LENS", 3, "clusters of 2 CTAs" },
    { MESH, "\"notify\": \"ready[rank]\"", "\"notify\": \"ready\"", "N-ELEMENT", 2, "ready[i]" },
    { MESH, "\"notify\": \"done\"", "\"notify\": \"done[0]\"", "N-ELEMENT", 2, "without [i]" },
    { MESH, "\"notify\": \"done\"", "\"notify\": \"done @ 1\"", "T-VIEW", 2, "no view and no use" },
    { MESH, "\"notify\": \"done\"", "\"notify\": \"full\"", "T-KIND", 2, "flag" },
    { MESH, "\"notify\": \"done\"", "\"notify\": \"dune\"", "N-UNKNOWN", 2, "done" },
    { MESH, "{ \"await\": \"done\", \"at_least\": \"all_tiles\" }", "{ \"await\": \"done\" }",
      "S-MISSING", 2, "has none" },
    { MESH, "{ \"await\": \"done\", ", "{ \"await\": \"done\", \"equals\": 1, ", "S-VALUE", 2,
      "has both" },
    { MESH, "{ \"await\": \"done\", ", "{ \"wait\": \"done\", ", "S-KEY", 2, NULL },
    { MESH, "\"notify\": \"done\", \"device\": \"dev\"", "\"notify\": \"done\"", "S-MISSING", 2,
      "device" },
    { PULL, "\"get\": \"X\"", "\"get\": \"C\"", "L-ACCESS", 1, "exchange" },
    { PULL, "\"device\": \"s\", ", "", "S-MISSING", 2, "device" },
    { PULL, "\"into\": \"a\", \"signal\": \"full\"", "\"into\": \"a\"", "T-USE", 2, "signal" },
    { PULL, "[\"a\"]", "[\"aa\"]", "N-UNKNOWN", 2, "aa" },
    { PULL, "[\"a\"]", "[\"full\"]", "T-KIND", 2, "buffer" },
    { PULL, "[\"a\"]", "[\"a @ 0\"]", "T-VIEW", 2, "whole" },
    { MESH, "\"notify\": \"done\", ", "\"notify\": \"done\", \"order\": \"acquire\", ", "S-VALUE",
      2, "release" },
    { MESH, "\"notify\": \"done\", ", "\"notify\": \"done\", \"scope\": \"cluster\", ", "S-VALUE",
      2, "sys" },
    { SCAN, "cumsum(x*x, 1)", "cumsum(x*x, 2)", "T-STATEMENT", 2, "constants, 0 or 1" },
    { SCAN, "cumsum(x*x, 1)", "cumsum(x > 0)", "T-STATEMENT", 2, "takes numbers" },
    { SCAN, "cumsum(x*x, 1)", "cumsum(rowsum(x))", "T-STATEMENT", 2, "multiples of 8" },
    { SCAN, "cumsum(x*x, 1)", "f32(cumsum(col))", "T-STATEMENT", 2, "multiples of 8" },
    { SCAN, "[1, 136] },\n        { \"name\": \"q\"", "[1, 132] },\n        { \"name\": \"q\"",
      "T-STATEMENT", 2, "multiples of 8" },
    { MASK, "\"mask\": \"above\"", "\"mask\": \"y\"", "T-DTYPE", 2, "a mask is i32" },
    { MASK, "\"mask\": \"above\"", "\"mask\": \"one\"", "T-SHAPE", 2, "its mask one" },
    { MASK, "\"mask\": \"above\"", "\"places\": \"above\"", "S-KEY", 2, "places" },
    { LOOKUP, "\"to\": \"line\"", "\"to\": \"line\", \"mask\": \"at\"", "S-KEY", 2, "mask" },
    { PICK, "\"old\": \"before\"", "\"old\": \"at\"", "T-USE", 2, "is read by the step" },
    { PICK, "\"old\": \"before\"", "\"old\": \"one\"", "T-USE", 2, "is read by the step" },
    { PICK, "\"old\": \"before\"", "\"old\": \"none\"", "T-SHAPE", 2, "its old none" },
    { PICK, "\"old\": \"before\"", "\"expected\": \"at\"", "T-USE", 2, "which needs it" },
    { PICK, "\"found\", \"places\": \"at\" },\n          { \"sync\"",
      "\"found\", \"places\": \"at\", \"old\": \"before\" },\n          { \"sync\"", "T-USE", 2,
      "`old` belongs to a write with `reduce`" },
    { PICK, "{ \"write\": \"none\", \"to\": \"found\" }",
      "{ \"write\": \"none\", \"to\": \"found\", \"old\": \"none\" }", "T-USE", 2,
      "belong to a write with `reduce`" },
    { MARK, "\"expected\": \"free\", ", "", "T-USE", 2, "which needs it" },
    { MARK, "\"expected\": \"free\"", "\"expected\": \"more\"", "T-DTYPE", 2, "more is f32" },
    { MARK, "\"expected\": \"free\"", "\"expected\": \"zero\"", "T-SHAPE", 2, "not in step" },
    { MARK, "\"old\": \"was\"", "\"old\": \"more\"", "T-DTYPE", 2, "more is f32" },
    { MARK, "\"reduce\": \"exchange\"", "\"reduce\": \"max\"", "T-DTYPE", 2, "in this way" },
    { MARK, "\"to\": \"total\", \"reduce\": \"add\"", "\"to\": \"mark\"", "T-DTYPE", 2,
      "in this way" },
    { LOOKUP, "\"places\": \"at\"", "\"places\": \"y\"", "T-DTYPE", 2, "places are i32" },
    { LOOKUP, "\"places\": \"at\"", "\"places\": \"turned\"", "T-SHAPE", 2, "not in step" },
    { LOOKUP, "\"places\": \"at\"", "\"places\": \"at\", \"cta\": 0", "T-USE", 2, "own CTA" },
    { LOOKUP, "\"from\": \"T\", \"at\": [0]", "\"from\": \"T\", \"at\": [0], \"places\": \"at\"",
      "S-KEY", 2, "places" },
    { ENDS, "\"rows\": \"left\"", "\"rows\": \"row\"", "N-SCOPE", 2, "row" },
    { ENDS, "\"write\": \"acc\", \"to\": \"C\", \"at\": [\"row0\", \"tn*BN\"]",
      "\"write\": \"acc\", \"to\": \"a\", \"use\": 0", "S-KEY", 2, "rows" },
    { ENDS, "{ \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [\"BM\", \"BN\"] }",
      "{ \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [1, \"BN\"] }", "T-SHAPE", 2,
      "has one row" },
    { ENDS, "\"data\": \"offsets(M)\"", "\"data\": \"offsets(M, 2)\"", "S-VALUE", 2, "offsets" },
    { ENDS, "\"data\": \"offsets(M)\"", "\"data\": \"offsets(tm)\"", "N-SCOPE", 2, "tm" },
    { MESH, "\"reduce\": \"add\"", "\"reduce\": \"max\"", "S-VALUE", 2, "add" },
    { MESH, ", \"reduce\": \"add\"", "", "L-ACCESS", 1, "\"write\" or \"exchange\"" },
    { MESH, "\"access\": \"reduce\"", "\"access\": \"exchange\"", "L-ACCESS", 1, "reduce" },
    { COOP, "\"access\": \"write\"", "\"access\": \"exchange\"", "L-DEVICES", 1, "has one" },
    { COOP, "{ \"store_wait\": 0 }",
      "{ \"get\": \"A\", \"device\": 0, \"at\": [0, 0], \"into\": \"a\" }", "L-DEVICES", 1,
      "devices of a mesh" },
    { COOP, "{ \"store_wait\": 0 }", "{ \"notify\": \"x\", \"device\": \"all\" }", "L-DEVICES", 1,
      "has one device" },
    /* types */
    { COOP, "\"stages\": \"STAGES\" }", "\"stages\": \"K/64\" }", "T-CONST", 2, NULL },
    { COOP, "\"stages\": \"STAGES\" }", "\"stages\": \"STAGES - 4\" }", "T-RANGE", 2, NULL },
    { COOP, "\"stages\": \"STAGES\" }", "\"stages\": \"STAGES\", \"pad\": 1 }", "T-RANGE", 2,
      "elements have 2" },
    { COOP, "\"tile\": [\"BM\", \"BK\"]", "\"tile\": [\"BM/0\", \"BK\"]", "T-EXPR", 2, NULL },
    { COOP, "\"tile\": [\"BM\", \"BK\"]", "\"tile\": [\"BM*9223372036854775807\", \"BK\"]",
      "T-EXPR", 2, NULL },
    { COOP, "\"load\": \"A\"", "\"load\": \"full\"", "T-KIND", 2, "barrier" },
    { COOP, "\"arrive\": \"empty\"", "\"sync\": \"empty\"", NULL, 2, NULL },
    { COOP, "\"name\": \"A\", \"dtype\": \"bf16\"", "\"name\": \"A\", \"dtype\": \"f16\"",
      "T-DTYPE", 2, "f16" },
    { COOP, "\"at\": [\"tm*BM\", \"k*BK\"]", "\"at\": [\"tm*BM\"]", "T-RANK", 2, NULL },
    { COOP, "acc.cols(s*SLAB, SLAB)", "acc.cols(s*SLAB, 32)", "T-SHAPE", 2, NULL },
    { COOP, "\"a\": \"a.rows(replica*WM, WM)\"", "\"a\": \"a\"", "T-SHAPE", 2, NULL },
    { COOP, "a.rows(replica*WM, WM)", "a.rows(replica*WM + 64, WM)", "T-VIEW", 2, NULL },
    { COOP, "\"count\": \"BN/SLAB\"", "\"count\": 5", "T-VIEW", 2, "s*64 = 256" },
    { COOP, "\"unroll\": \"full\"", "\"unroll\": 1", "T-CONST", 2, "Unroll that loop" },
    { COOP, "a.rows(replica*WM, WM)", "a.rows(9223372036854775807, WM)", "T-VIEW", 2, NULL },
    { "gemm-cluster", "b.rows(cta*(BN/ctas), BN/ctas)", "b.rows(cta*256, BN/ctas)", "T-VIEW", 2,
      "cta*256 = 256" },
    { COOP, "\"from\": \"c[replica]\"", "\"from\": \"c[replica + 1]\"", "T-VIEW", 2, NULL },
    { COOP, "{ \"wait\": \"full\", \"use\": \"k.total\" }", "{ \"wait\": \"full\" }", "T-USE", 2,
      NULL },
    { COOP, "\"into\": \"b\", \"signal\": \"full\"", "\"into\": \"b\"", "T-USE", 2, "signal" },
    { COOP, "{ \"arrive\": \"empty\",", "{ \"arrive\": \"empty\", \"slot\": 20000,", "T-RANGE", 2,
      "empty has slots 0..3, not 20000" },
    { COOP, "{ \"arrive\": \"empty\",", "{ \"arrive\": \"empty\", \"slot\": 4,", "T-RANGE", 2,
      "let the slot follow from a `use`" },
    { COOP, "{ \"wait\": \"full\", \"use\": \"k.total\" }",
      "{ \"wait\": \"full\", \"slot\": \"-STAGES\", \"phase\": 0 }", "T-RANGE", 2, "not -4" },
    { COOP, "\"signal\": \"full\", \"use\"",
      "\"signal\": \"full\", \"slot\": \"2*STAGES\", \"use\"", "T-RANGE", 2, "not 8" },
    { COOP, "\"count\": \"BN/SLAB\"", "\"count\": \"K/SLAB\"", "T-CONST", 2, "unrolled" },
    { COOP, "\"split\": [1]", "\"split\": [2, 1]", "T-RANGE", 2, "ascend" },
    { COOP, "\"split\": [1]", "\"split\": [1], \"step\": 0", "T-CONST", 2, "of at least 1" },
    { COOP, "\"split\": [1]", "\"split\": [1], \"step\": \"0 - 1\"", "T-CONST", 2,
      "of at least 1" },
    { COOP, "\"split\": [1]", "\"split\": [1], \"step\": \"K - 64\"", "T-CONST", 2,
      "`split` needs a constant" },
    { COOP, "\"split\": [1], \"do\": [\n            { \"wait\": \"full\",",
      "\"step\": \"K - 64\", \"do\": [\n            { \"wait\": \"full\", \"ahead\": 1,", "T-CONST",
      2, "`ahead` needs a constant" },
    { COOP, "{ \"store_wait\": 1 },",
      "{ \"store_wait\": 1 }, { \"for\": \"u\", \"count\": 200, \"unroll\": \"full\", \"do\": [{ "
      "\"for\": "
      "\"v\", \"count\": 200, \"unroll\": \"full\", \"do\": [{ \"sync\": \"group\" }] }] },",
      "T-RANGE", 2, "becomes 40000 steps" },
    { COOP, "{ \"store_wait\": 1 },",
      "{ \"store_wait\": 1 }, { \"for\": \"u\", \"count\": \"M\", \"unroll\": 64, \"do\": [{ "
      "\"for\": "
      "\"v\", \"count\": \"N\", \"unroll\": 64, \"do\": [{ \"sync\": \"group\" }] }] },",
      "T-RANGE", 2, "steps of code" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = t < 0", "T-STATEMENT", 2,
      NULL },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + sbrow", "T-STATEMENT",
      2, NULL },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "sa = d", "T-STATEMENT", 2,
      NULL },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + i32(t)*(t > 0)",
      "T-STATEMENT", 2, NULL },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + t*(t > 0)",
      "T-STATEMENT", 2, "character 11, t > 0: arithmetic takes numbers" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = (t > 0) < 1",
      "T-STATEMENT", 2, "character 5, t > 0: a comparison takes numbers" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = select(t, d, 0)",
      "T-STATEMENT", 2, "character 12, t: select takes a condition first, not a float" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + lanesum(t)",
      "T-STATEMENT", 2, "extents are equal, or one of the two is 1" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + lanesum(t)",
      "T-STATEMENT", 2, "declare several values of fewer columns" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = max(t, lanesum(t))",
      "T-STATEMENT", 2, "character 5, max(t, lanesum(t)): " },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + exp2(row)",
      "T-STATEMENT", 2, "character 9, exp2(row): a float is needed, not an integer" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + t % 2", "T-STATEMENT",
      2, "character 9, t % 2: % takes integers" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = f32(t > 0)",
      "T-STATEMENT", 2, "character 5, f32(t > 0): a condition has no conversion" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = -(t > 0)", "T-STATEMENT",
      2, "a condition has no sign" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = select(t > 0 && d, d, t)",
      "T-STATEMENT", 2, "a condition is needed, not a float" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = lanesum(rowsum(t))",
      "T-STATEMENT", 2, "columns in multiples of 8" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = pow2floor(t)",
      "T-STATEMENT", 2, "character 5, pow2floor(t): " },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = exp2(t, 1)",
      "T-STATEMENT", 2, "character 5, exp2(t, 1): exp2(x, n, of)" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = exp2(t, 5, 4)",
      "T-STATEMENT", 2, "0 <= n <= of" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = d + f32(rowsum(col))",
      "T-STATEMENT", 2, "character 13, rowsum(col): nothing here says how many columns" },
    { "gemm-fp8-block", "\"d = d + sa*select(col < edge, sb0, sb1)*t\"",
      "[\"o = sa + col\", \"sa = sa*2\", \"d = d + o\"]", "T-STATEMENT", 2,
      "o takes its extents from where it is used, but sa has been assigned since" },
    { "gemm-fp8-block", "\"d = d + sa*select(col < edge, sb0, sb1)*t\"",
      "\"d = d + t\", \"unless\": \"row < 3\"", "T-STATEMENT", 2,
      "unless: row and col have no extent here" },
    { "gemm-fp8-block", "d = d + sa*select(col < edge, sb0, sb1)*t", "d = nothing + t", "N-UNKNOWN",
      2, NULL },
    /* legality */
    { COOP, "\"WM\": 64", "\"WM\": 32", "L-MMA", 1, "M is 32" },
    { COOP, "\"BK\": 64", "\"BK\": 72", "L-MMA", 1, "K is 72" },
    { COOP, "\"BK\": 64", "\"BK\": 72", "L-MMA", 1, "Use 64 or 80." },
    { COOP, "\"WM\": 64", "\"WM\": 32", "L-MMA", 1, "Use 64." },
    { COOP, "\"BN\": 256", "\"BN\": 260", "L-MMA", 1, "Use 256." },
    { COOP, "\"BN\": 256", "\"BN\": 252", "L-MMA", 1, "Use 248 or 256." },
    { COOP, "\"name\": \"acc\", \"dtype\": \"f32\"", "\"name\": \"acc\", \"dtype\": \"f16\"",
      "L-MMA", 1, "Use bf16 x bf16 -> f32." },
    { COOP, "\"b\": \"b\"", "\"b\": \"b.t\"", "T-SHAPE", 2, "mma of" },
    { COOP, "\"warps\": 4, \"registers\": 232", "\"warps\": 8, \"registers\": 160", "L-WARPS", 1,
      "exactly 4" },
    { COOP, "\"warps\": 4, \"registers\": 40", "\"warps\": 3, \"registers\": 40", "L-WARPS", 1,
      NULL },
    { COOP, "\"access\": \"write\"", "\"access\": \"read\"", "L-ACCESS", 1, "C" },
    { COOP, "\"load\": \"A\"", "\"load\": \"C\"", "L-ACCESS", 1, "the kernel does not read it" },
    { "moves/gemm-prefetch", "\"prefetch\": \"B\"", "\"prefetch\": \"C\"", "L-ACCESS", 1, "C is" },
    { "moves/tensor-read", "\"data\": \"integers(0, M)\"", "\"access\": \"write\"", "L-ACCESS", 1,
      "I is written by this kernel" },
    { "moves/gather-groups", "\"shape\": [\"M\", \"N\"] },\n    { \"name\": \"I\"",
      "\"shape\": [\"M\", \"N\"], \"access\": \"write\" },\n    { \"name\": \"I\"", "L-ACCESS", 1,
      "the kernel does not read it" },
    { COOP, "\"sizes\"", "\"granted\": [\"a\", \"\"],\n  \"sizes\"", "S-VALUE", 2, "says nothing" },
    { COOP, "\"sizes\"", "\"granted\": \" \\u00a0\\u200b\",\n  \"sizes\"", "S-VALUE", 2,
      "says nothing" },
    { COOP, "\"sizes\"", "\"unread\": [\" \"],\n  \"sizes\"", "S-VALUE", 2, "says nothing" },
    { COOP, "\"access\": \"write\"", "\"access\": \"write\", \"covers\": \" \"", "T-KIND", 2,
      "no reason" },
    { COOP, "\"first\": \"k == 0\"", "\"first\": \"k == 0\", \"open\": true", "L-OPEN", 1, NULL },
    { COOP, "\"first\": \"k == 0\", \"use\": \"k.total\" }",
      "\"first\": \"k == 0\", \"use\": \"k.total\", \"open\": true }, { \"mma\": \"acc\", \"a\": "
      "\"a.rows(replica*WM, WM)\", \"b\": \"b\", \"use\": \"k.total\", \"when\": \"k > 0\" }",
      "L-OPEN", 1, "a condition guards the step that closes" },
    /* a round ahead: in the last round nothing would close the group */
    { COOP, "\"first\": \"k == 0\", \"use\": \"k.total\" }",
      "\"first\": \"k == 0\", \"use\": \"k.total\", \"open\": true }, { \"mma\": \"acc\", \"a\": "
      "\"a.rows(replica*WM, WM)\", \"b\": \"b\", \"use\": \"k.total\", \"ahead\": 1 }",
      "L-OPEN", 1, "which another round leaves open" },
    { COOP, "\"first\": \"k == 0\", \"use\": \"k.total\" }",
      "\"first\": \"k == 0\", \"use\": \"k.total\", \"open\": true }, { \"mma\": \"acc\", \"a\": "
      "\"a.rows(replica*WM, WM)\", \"b\": \"b\", \"use\": \"k.total\", \"open\": true, \"ahead\": "
      "1 }, "
      "{ \"mma\": \"acc\", \"a\": \"a.rows(replica*WM, WM)\", \"b\": \"b\", \"use\": \"k.total\" }",
      "L-OPEN", 1, "which another round leaves open" },
    { "once-refuted/uses-around-advance", "\"count\": \"N\"",
      "\"count\": \"N\", \"split\": [\"n\"]", "T-CONST", 2, "the body of the loop changes" },
    { "once-refuted/uses-around-advance",
      "\"count\": \"N\",\n     \"do\": [\n      {\n       \"wait\": \"e\"",
      "\"count\": \"N + n\",\n     \"do\": [\n      {\n       \"wait\": \"e\", \"ahead\": 1",
      "L-AHEAD", 1, "follow a counter that its body changes" },
    { COOP, "\"K >= 1\"", "\"tm < 3\"", "N-SCOPE", 2, "belongs to a tile" },
    { COOP, "\"into\": \"b\"", "\"multicast\": \"all\", \"into\": \"b\"", "L-CLUSTER", 1, NULL },
    { COOP, "{ \"store_wait\": 0 }", "{ \"cluster\": \"sync\" }", "L-CLUSTER", 1, NULL },
    { COOP, "{ \"store_wait\": 0 }", "{ \"store_wait\": 0, \"ahead\": 1 }", "L-AHEAD", 1, NULL },
    { "gemm-aliased", "\"BN\": 256", "\"BN\": 512", "L-OVER", 1, "c needs" },
    { "attention-fa3-dynamic", "\"launch\": \"dynamic\"", "\"launch\": \"persistent\"", "L-DYNAMIC",
      1, NULL },
    { "sparse-mla-pipes", "{ \"acquire\": \"sparse_mla_score\", \"use\": \"half.total\" },", "",
      "L-PIPE", 1, NULL },
    { COOP, "\"target\": \"sm_90a\"", "\"target\": \"sm_100a\"", "L-LENS", 3,
      "for sm_100a: tensor memory and tcgen05 are not in the program" },
    { COOP, "{ \"store_wait\": 0 }", "{ \"stage\": \"s\", \"do\": [] }", "L-LENS", 3,
      "sm_90a has no such step" },
    { "gemm-gfx950-fp8", "\"dtype\": \"e4m3\", \"shape\"", "\"dtype\": \"e8m0\", \"shape\"",
      "S-VALUE", 2, "scales of blocks of elements" },
    { "gemm-gfx950-fp8", "\"dtype\": \"e4m3\", \"tile\"", "\"dtype\": \"e2m1\", \"tile\"",
      "S-VALUE", 2, "elements of fewer than 8 bits" },
    /* budgets */
    { COOP, "\"STAGES\": 4", "\"STAGES\": 6", "B-SHARED", 1, "The largest STAGES that fits is 4." },
    /* with one stage it does not elaborate: its wait for loads would be of -2 of them */
    { "gemm-gfx950", "\"BK\": 32", "\"BK\": 64", "B-SHARED", 1, "The largest NB that fits is 2." },
    { "raw-steps", "\"signals\": [{ \"arrive\": \"done\",",
      "\"signals\": [{ \"arrive\": \"done\", \"when\": \"c > 0\",", "T-USE", 2,
      "no `when` of its own" },
    { "raw-steps", "\"signals\": [{ \"arrive\": \"done\",",
      "\"signals\": [{ \"arrive\": \"done\", \"muted\": true,", "T-USE", 2,
      "no `muted` of its own" },
    { "raw-steps", "\"signals\": [{ \"arrive\": \"done\",",
      "\"signals\": [{ \"arrive\": \"done\", \"ahead\": 1,", "T-USE", 2, "no `ahead` of its own" },
    { COOP, "\"registers\": 232", "\"registers\": 240", "B-POOL", 1, "520" },
    { COOP, "\"registers\": 232", "\"registers\": 100", "B-REGISTERS", 1, NULL },
    { COOP, "\"warps\": 4, \"registers\": 40,", "\"warps\": 4,", "B-REGISTERS", 1,
      "some groups set" },
    { COOP, "\"warps\": 4, \"registers\": 40", "\"warps\": 28, \"registers\": 40", "B-THREADS", 1,
      "1152" },
    { COOP, "\"warps\": 4, \"registers\": 40",
      "\"warps\": 1, \"one_code\": true, \"registers\": 40", "L-WARPS", 1, "no whole warp groups" },
    { "gemm-gfx950", "\"warps\": 8", "\"warps\": 8, \"one_code\": true", "L-WARPS", 1,
      "no whole warp groups" },
    /* products of 32 rows, gaps */
    { COOP, "\"warps\": 4, \"registers\": 40", "\"warps\": 4, \"mma_rows\": 32, \"registers\": 40",
      "L-LENS", 3, "matrix instructions of sm_90a have 64 rows" },
    { "gemm-gfx950-32", "\"BN\": 256", "\"BN\": 240", "L-MMA", 1,
      "Rows of a half and columns: multiples of 32; contraction: of 16." },
    { "gemm-gfx950-fp8", "\"dtype\": \"e5m2\", \"tile\": [\"BN\", \"BK\"] }",
      "\"dtype\": \"f16\", \"tile\": [\"BN\", \"BK\"] }", "L-MMA", 2, "has no e4m3 x f16 -> f32" },
    { COOP, "\"tile\": [\"BM\", \"BK\"]", "\"tile\": [\"BM\", \"BK\"], \"gap\": 16", "L-LENS", 3,
      "does not fill shared memory in pieces of a wave" },
    { "gemm-gfx950-gap", "\"gap\": 16", "\"gap\": 8", "L-SWIZZLE", 1, "gaps of 8 bytes" },
    { "gemm-gfx950-gap", "\"gap\": 16", "\"gap\": 16, \"pad\": 16", "L-SWIZZLE", 1,
      "do not fill pieces of 1024 bytes" },
    { "gemm-gfx950-gap", "\"gap\": 16", "\"gap\": 16, \"swizzle\": 64", "L-SWIZZLE", 1,
      "a swizzle of 64 does not allow" },
    { "gemm-gfx950-gap", "\"BK\": 64, \"NB\": 2", "\"BK\": 96, \"NB\": 2", "L-SWIZZLE", 1,
      "do not fill pieces of 1024 bytes" },
    { "gemm-gfx950-gap", "\"gap\": 16", "\"gap\": 1008", "B-SHARED", 1, NULL },
    /* several CTAs of an SM */
    { COOP, "\"target\": \"sm_90a\"", "\"target\": \"sm_90a\", \"ctas_per_sm\": 2", "B-SM", 1,
      "where it does not say `grid`" },
    { COOP, "\"target\": \"sm_90a\"", "\"target\": \"sm_90a\", \"ctas_per_sm\": 2", "B-SHARED", 1,
      "each CTA of an SM of sm_90a has 115712" },
    { COOP, "\"target\": \"sm_90a\"", "\"target\": \"sm_90a\", \"ctas_per_sm\": 2", "B-POOL", 1,
      "holds 128*240" },
    { COOP, "\"target\": \"sm_90a\"", "\"target\": \"sm_90a\", \"ctas_per_sm\": 6", "B-SM", 1,
      "6 CTAs of 384 threads: an SM has 2048 threads" },
    { COOP, "\"target\": \"sm_90a\"", "\"target\": \"sm_90a\", \"ctas_per_sm\": 0", "S-VALUE", 2,
      NULL },
    { "attention-fa3-dynamic", "\"target\": \"sm_90a\"",
      "\"target\": \"sm_90a\", \"ctas_per_sm\": 2", "B-SM", 1, "a dynamic launch" },
    { MESH, "\"target\": \"sm_90a\"", "\"target\": \"sm_90a\", \"ctas_per_sm\": 2", "B-SM", 1,
      "devices count" },
    { "gemm-gfx950", "\"target\": \"gfx950\"", "\"target\": \"gfx950\", \"ctas_per_sm\": 2", "B-SM",
      1, "not described for gfx950" },
    { "attention-fa3-causal", "\"kind\": \"named\", \"array\": 2",
      "\"kind\": \"named\", \"array\": 14", "B-BARRIERS", 1, NULL },
};

static void test_bad(gconstpointer data)
{
    const Bad *b = data;
    g_autofree char *file =
        g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, b->design);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    char *at = strstr(text, b->from);
    g_assert_nonnull(at);
    *at = '\0';
    g_autofree char *changed = g_strconcat(text, b->to, at + strlen(b->from), NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(changed, strlen(changed), b->design, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    g_autofree char *all = ws_findings_print(findings, b->design);
    g_test_message("%s", all);
    if (ws_findings_exit_code(findings, FALSE) != b->exit_code ||
        (p == NULL) != (b->exit_code == 2 || strcmp(b->rule, "L-LENS") == 0)) {
        g_test_message("exit code %d, program %s", ws_findings_exit_code(findings, FALSE),
                       p ? "yes" : "no");
        g_test_fail();
    }
    gboolean found = b->rule == NULL;
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        gboolean says =
            !b->says || strstr(f->message, b->says) || (f->remedy && strstr(f->remedy, b->says));
        found = found || (strcmp(ws_rule(f->rule)->text, b->rule) == 0 && says);
        g_assert_nonnull(f->at);
    }
    if (!found)
        g_test_fail();
}

/* --- nothing crashes ------------------------------------------------------------------------ */

static const char *const designs[] = {
    "gemm-cooperative", "gemm-aliased",         "gemm-pingpong",         "gemm-cluster",
    "gemm-fp8-block",   "attention-fa3-causal", "attention-fa3-dynamic", "attention-tle-pingpong",
    "sparse-mla-pipes", "sparse-mla-seesaw",    "gemm-gfx950",
};

/* Every design without one of its lines; and with each constant at odd values. */
static void test_mutants(gconstpointer data)
{
    g_autofree char *file =
        g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, (const char *)data);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    guint elaborated = 0, refused = 0;
    for (guint i = 0; line[i]; i++) {
        g_autoptr(GString) less = g_string_new(NULL);
        for (guint k = 0; line[k]; k++)
            if (k != i)
                g_string_append_printf(less, "%s\n", line[k]);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_parse(less->str, less->len, NULL, findings);
        g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
        g_assert_true(p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0);
        g_autofree char *print = p ? ws_program_print(p) : NULL;
        elaborated += p != NULL;
        refused += p == NULL;
    }
    g_test_message("%u mutants elaborate, %u are refused", elaborated, refused);
    g_assert_cmpuint(refused, >, 0);
}

static void test_settings(gconstpointer data)
{
    static const gint64 odd[] = { G_MININT64, -1, 0, 1, 3, 7, 8, 72, 1000, 1 << 20, G_MAXINT64 };
    g_autofree char *file =
        g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, (const char *)data);
    g_autoptr(WsFindings) none = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, none);
    g_assert_nonnull(d);
    const WsValue *constants = ws_node_get(ws_design_root(d), WS_F_constants);
    for (guint i = 0; i < constants->n; i++)
        for (guint k = 0; k < G_N_ELEMENTS(odd); k++) {
            WsSetting set = { constants->key[i], odd[k] };
            g_autoptr(WsFindings) findings = ws_findings_new();
            g_autoptr(WsProgram) p = ws_elaborate(d, &set, 1, findings);
            g_assert_true(p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0);
        }
    WsSetting unknown = { "NOTHING", 1 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_elaborate(d, &unknown, 1, findings));
    g_assert_cmpint(ws_findings_exit_code(findings, FALSE), ==, 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *path =
            g_strdup_printf("/program/bad/%02u/%s", i, bad[i].rule ? bad[i].rule : "any");
        g_test_add_data_func(path, &bad[i], test_bad);
    }
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *path = g_strdup_printf("/program/mutants/%s", designs[i]);
        g_test_add_data_func(path, designs[i], test_mutants);
        g_autofree char *settings = g_strdup_printf("/program/settings/%s", designs[i]);
        g_test_add_data_func(settings, designs[i], test_settings);
    }
    return g_test_run();
}
