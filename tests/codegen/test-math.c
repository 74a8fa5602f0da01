/* The array language of compute steps: small designs, one compute step each, rehearsed against a
 * reference that is written by hand. A 64-column product of two random matrices is the tile they
 * work on; 100 rows make a second, ragged tile. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

typedef struct {
    const char *name;
    const char *steps;     /* the compute step(s) of the body, JSON */
    const char *y, *r, *u; /* references of Y[i,j], R[i], U[i]; NULL: S[i,j], 0, W[i] */
} Case;

#define COMPUTE(list) "{ \"compute\": [" list "] },"

static const Case cases[] = {
    { "copy", COMPUTE("\"y = acc\""), NULL, NULL, NULL },
    { "arithmetic", COMPUTE("\"y = (acc + 3)*acc - acc/4 + -acc\""),
      "(S[i,j] + 3)*S[i,j] - S[i,j]/4 - S[i,j]", NULL, NULL },
    { "exp2", COMPUTE("\"y = exp2(acc) + exp(-abs(acc))\""), "exp2(S[i,j]) + exp(-abs(S[i,j]))",
      NULL, NULL },
    { "exp2-share",
      COMPUTE("\"acc = select(col == 9, -inf, acc*8 - 20)\", \"y = exp2(acc, 3, 4)\", "
              "\"r = rowmax(abs(exp2(acc, 2, 2)/exp2(acc) - 1))\""),
      "select(j == 9, 0.0, exp2(S[i,j]*8 - 20))", NULL, NULL },
    { "log", COMPUTE("\"y = log2(acc*acc + 1) - ln(abs(acc) + 2)\""),
      "log2(S[i,j]*S[i,j] + 1) - ln(abs(S[i,j]) + 2)", NULL, NULL },
    { "rcp-sqrt-tanh", COMPUTE("\"y = rcp(acc*acc + 1) + sqrt(abs(acc)) - tanh(acc)\""),
      "1.0/(S[i,j]*S[i,j] + 1) + sqrt(abs(S[i,j])) - tanh(S[i,j])", NULL, NULL },
    { "erf-rsqrt", COMPUTE("\"y = erf(acc) + rsqrt(acc*acc + 1)\""),
      "erf(S[i,j]) + rsqrt(S[i,j]*S[i,j] + 1)", NULL, NULL },
    { "sin-cos", COMPUTE("\"y = sin(acc*9) - cos(acc*acc*-7)\", \"r = sin(f32(row)*30000.0)\""),
      "sin(S[i,j]*9) - cos(S[i,j]*S[i,j]*7)", "sin(i % 64*30000.0)", NULL },
    { "floor-ceil", COMPUTE("\"y = floor(acc)*2 + ceil(acc) + floor(-2.5) + ceil(-0.5)\""),
      "floor(S[i,j])*2 + ceil(S[i,j]) - 3", NULL, NULL },
    { "min-max", COMPUTE("\"y = min(max(acc, -1), 2) + max(col, 3)\""),
      "min(max(S[i,j], -1), 2) + max(j, 3)", NULL, NULL },
    { "rowmax", COMPUTE("\"y = acc - rowmax(acc)\", \"r = rowmax(acc)\""),
      "S[i,j] - max(q < 64, S[i,q])", "max(q < 64, S[i,q])", NULL },
    { "rowsum", COMPUTE("\"y = acc\", \"r = rowsum(acc*acc)\""), NULL, "sum(q < 64, S[i,q]*S[i,q])",
      NULL },
    { "online",
      COMPUTE("\"y = acc\", \"r = rowmax(lanemax(acc))\", \"l = lanesum(exp2(acc - r))\", "
              "\"l = l*exp2(r/8) + lanesum(y)\", \"r = rowsum(l)\""),
      NULL, "sum(q < 64, exp2(S[i,q] - max(p < 64, S[i,p]))*exp2(max(p < 64, S[i,p])/8) + S[i,q])",
      NULL },
    { "softmax",
      COMPUTE("\"acc = exp2(acc*c - rowmax(acc)*c)\", \"r = rowsum(acc)\", \"y = acc/r\""),
      "exp2((S[i,j] - max(q < 64, S[i,q]))*scale*log2e)/"
      "sum(p < 64, exp2((S[i,p] - max(q < 64, S[i,q]))*scale*log2e))",
      "sum(p < 64, exp2((S[i,p] - max(q < 64, S[i,q]))*scale*log2e))", NULL },
    { "mask", COMPUTE("\"y = select(tm*64 + col <= last + row, acc, -1)\""),
      "select(j <= 40 + i % 64, S[i,j], -1.0)", NULL, NULL },
    { "mask-inf",
      COMPUTE("\"acc = select(col <= row, acc, -inf)\", \"r = rowmax(acc)\", "
              "\"y = select(acc == -inf, 0, acc)\""),
      "select(j <= i % 64, S[i,j], 0.0)", "max(q < i % 64 + 1, S[i,q])", NULL },
    { "logic", COMPUTE("\"y = select(!(row < 3) && (col > 5 || acc > 0) && tm >= 0, acc, 7)\""),
      "select(!(i % 64 < 3) && (j > 5 || S[i,j] > 0), S[i,j], 7.0)", NULL, NULL },
    { "columns", COMPUTE("\"y = acc*b + b\""), "S[i,j]*BIAS[j] + BIAS[j]", NULL, NULL },
    { "column-index", COMPUTE("\"b = b + f32(col)\", \"y = acc + b\""), "S[i,j] + BIAS[j] + j",
      NULL, NULL },
    { "row-index", COMPUTE("\"r = f32(row)\", \"y = acc*r\""), "S[i,j]*(i % 64)", "i % 64 + 0.0",
      NULL },
    { "scalar", COMPUTE("\"y = acc*scale + f32(tm)\", \"r = c\""), "S[i,j]*scale + i/64",
      "scale*log2e", NULL },
    { "f16", COMPUTE("\"h = f16(acc)\", \"y = f32(h) + h*2\""), "S[i,j]*3", NULL, NULL },
    { "f16-again", COMPUTE("\"h = f16(acc)\", \"h = f16(h*0.5)\", \"y = f32(h)\""), "S[i,j]/2",
      NULL, NULL },
    { "round-trip", COMPUTE("\"y = f32(bf16(row)) + f32(e4m3(col % 8)) + e5m2(row % 4)\""),
      "i % 64 + j % 8 + i % 4 + 0.0", NULL, NULL },
    { "round", COMPUTE("\"n = i32(acc)\", \"y = select(abs(acc - n) <= 0.5, 0, 1)\""), "0.0", NULL,
      NULL },
    { "integers", COMPUTE("\"n = (row*3 - col*5)/7\", \"y = f32(n % 5 + n*2)\""),
      "((i % 64*3 - j*5)/7) % 5 + (i % 64*3 - j*5)/7*2 + 0.0", NULL, NULL },
    /* what 0 divides stays, without a rest; the least integer divided by -1 is itself */
    { "quotients",
      COMPUTE("\"n = shl(1 + 0*row, 31)\", \"y = f32(sar(n/(col - 40), 8))\", "
              "\"r = f32((row - 9) / (row - 20))\", \"w = f32((row - 9) / 0)\""),
      "sar(select(j == 40, -2147483648, -2147483648/(j - 40)), 8) + 0.0",
      "select(i % 64 == 20, 11, (i % 64 - 9)/(i % 64 - 20)) + 0.0", "i % 64 - 9 + 0.0" },
    { "rests",
      COMPUTE("\"n = shl(1 + 0*row, 31)\", \"y = f32(n % (col - 40))\", "
              "\"r = f32((row - 9) % (row - 20))\", \"w = f32((row - 9) % 0)\""),
      "select(j == 40, 0, -2147483648 % (j - 40)) + 0.0",
      "select(i % 64 == 20, 0, (i % 64 - 9) % (i % 64 - 20)) + 0.0", "0.0" },
    { "quotients-up",
      COMPUTE("\"n = shl(1 + 0*row, 31)\", \"y = f32(sar(cdiv(n, col - 40), 8))\", "
              "\"r = f32(cdiv(row - 9, row - 20))\""),
      "sar(select(j == 40, -2147483648, cdiv(-2147483648, j - 40)), 8) + 0.0",
      "select(i % 64 == 20, 11, cdiv(i % 64 - 9, i % 64 - 20)) + 0.0", NULL },
    /* sums of places run over modulo 2^32 in a comparison too: no side of it is brought to the
     * other where that would leave 32 bits */
    { "masks-edges",
      COMPUTE(
          "\"y = select(row + 2147483647 < col, 1, 0) + "
          "select(col - 2147483647 - 40 < row, 2, 0) + "
          "select(row + 2147483600 < col - 2147483600, 4, 0)\", "
          "\"r = f32(select(row > -2147483648, 1, 0) + select(row - 20 < -2147483647 - 1, 2, 0) + "
          "select(2147483647 + row == -2147483648, 4, 0))\""),
      "select(sar(i % 64 + 2147483647, 0) < j, 1, 0) + "
      "select(sar(j - 2147483687, 0) < i % 64, 2, 0) + "
      "select(sar(i % 64 + 2147483600, 0) < sar(j - 2147483600, 0), 4, 0) + 0.0",
      "select(i % 64 == 1, 5.0, 1.0)", NULL },
    { "masks-sizes",
      COMPUTE(
          "\"y = select(row + big < col - big, 1, 0) + select(row - big < col + big, 2, 0)\", "
          "\"r = f32(select(row + big < 0, 1, 0) + select(big - 2147483647 + row > 0, 2, 0))\""),
      "select(sar(i % 64 + big, 0) < sar(j - big, 0), 1, 0) + "
      "select(sar(i % 64 - big, 0) < sar(j + big, 0), 2, 0) + 0.0",
      "select(sar(i % 64 + big, 0) < 0, 1, 0) + select(big - 2147483647 + i % 64 > 0, 2, 0) + 0.0",
      NULL },
    /* uniform quotients follow the same rule: tm - 1 is -1, then 0 */
    { "uniform-quotients",
      COMPUTE("\"y = f32(sar((-big - 48)/(tm - 1), 8) + (-big - 48) % (tm - 1))\", "
              "\"r = f32(sar(cdiv(-big - 48, tm - 1), 8))\""),
      "-8388608.0", "-8388608.0", NULL },
    /* the least integer is its own opposite; conversions saturate, and take NaN as 0 */
    { "least",
      COMPUTE("\"n = shl(1 + 0*row, 31)\", \"y = f32(sar(-n, 8) + sar(abs(n), 8) + "
              "sar(max(n, -2147483648), 8) + sar(min(n - 1, 2147483647), 8))\", "
              "\"n = n*0\""),
      "-8388608*3 + 8388607 + 0.0", NULL, NULL },
    { "saturates",
      COMPUTE("\"n = i32((acc*0 + 1)*f32(col - 32)*1e9)\", \"y = f32(sar(n, 8))\", "
              "\"r = f32(i8(f32(row)*9.0 - 200.0)) + f32(u8(f32(row)*9.0 - 100.0)) + "
              "f32(i32(from_bits(2143289344 + 0*row)))\""),
      "sar(max(min((j - 32)*1000000000, 2147483647), -2147483648), 8) + 0.0",
      "max(min(i % 64*9 - 200, 127), -128) + max(min(i % 64*9 - 100, 255), 0) + 0.0", NULL },
    { "nan",
      COMPUTE("\"t = from_bits(2143289344 + 0*row)\", \"y = max(acc, t) + min(t, acc)\", "
              "\"r = select(t == t, 1, 0) + select(t < 1, 2, 0) + select(t != t, 4, 0) + "
              "select(!(t >= 0), 8, 0)\""),
      "S[i,j]*2", "12.0", NULL },
    /* amounts of shifts are taken modulo 32; what runs over is taken modulo 2^32 */
    { "shifts",
      COMPUTE("\"n = shr(row - 40, col) + shl(col - 9, row)\", \"y = f32(bitand(n, 65535))\", "
              "\"r = f32(sar(row - 40, 2) + shl(1, 35) + shr(-1, -1))\""),
      "bitand(shr(i % 64 - 40, j) + shl(j - 9, i % 64), 65535)", "sar(i % 64 - 40, 2) + 9", NULL },
    { "bits",
      COMPUTE("\"n = bitxor(bitor(row, 5), bitand(col, -4))\", \"y = f32(n)\", "
              "\"r = f32(bitand(row, 3))\""),
      "bitxor(bitor(i % 64, 5), bitand(j, -4))", "i % 64 % 4", NULL },
    { "run-over",
      COMPUTE("\"n = (row + 1)*-1640531535 + col*2147483647\", \"n = bitxor(n, shr(n, 16))\", "
              "\"n = n*-2048144789 - n*n\", \"y = f32(shr(n, 8))\", "
              "\"r = f32(umulhi(row*-1640531535, -5))/1000\""),
      "H2[i % 64,j]", "umulhi((i % 64)*-1640531535, -5)/1000.0", NULL },
    { "casts",
      COMPUTE("\"y = from_bits(bitand(bits(acc), 2147483647)) + "
              "from_bits(shl(127 + col % 3, 23))\", \"r = f32(shr(bits(1), 23))\""),
      "abs(S[i,j]) + exp2(j % 3)", "127.0", NULL },
    { "bytes", COMPUTE("\"y = f32(u8(row*8)) + f32(i8(col*3))\""),
      "i % 64*8 % 256 + (j*3 + 128) % 256 - 128.0", NULL, NULL },
    { "temporary", COMPUTE("\"t = acc\", \"acc = 2\", \"y = t*acc + t\""), "S[i,j]*3", NULL, NULL },
    { "in-place", COMPUTE("\"acc = acc - rowsum(acc)/64\", \"y = acc\""),
      "S[i,j] - sum(q < 64, S[i,q])/64.0", NULL, NULL },
    { "unless-some",
      COMPUTE("\"y = acc\"") "{ \"compute\": \"y = max(y, 0)\", \"unless\": \"y >= 0\" },",
      "max(S[i,j], 0.0)", NULL, NULL },
    { "unless-all", COMPUTE("\"y = acc\"") "{ \"compute\": \"y = 99\", \"unless\": \"y < 1000\" },",
      NULL, NULL, NULL },
    { "linear", COMPUTE("\"y = acc\", \"w = exp2(w)*2 - w\", \"w = select(w > 2, w, -w)\""), NULL,
      NULL, "select(exp2(W[i])*2 - W[i] > 2, exp2(W[i])*2 - W[i], W[i] - exp2(W[i])*2)" },
    { "linear-index", COMPUTE("\"y = acc\", \"w = w + row*2\""), NULL, NULL, "W[i] + i % 64*2" },
    /* row and col take their extents from where they are used */
    { "row-by-name", COMPUTE("\"t = row\", \"y = acc + t\""), "S[i,j] + i % 64", NULL, NULL },
    { "column-by-name", COMPUTE("\"t = col\", \"u = t*2\", \"y = acc + u\""), "S[i,j] + j*2", NULL,
      NULL },
    { "mask-by-name", COMPUTE("\"t = row < 3\", \"y = select(t && col != 5, acc, 1)\""),
      "select(i % 64 < 3 && j != 5, S[i,j], 1.0)", NULL, NULL },
    { "sum-by-name", COMPUTE("\"t = row + b\", \"y = acc + t\""), "S[i,j] + i % 64 + BIAS[j]", NULL,
      NULL },
    { "name-used-twice", COMPUTE("\"t = row\", \"y = acc + t\", \"r = f32(t)\", \"w = w + t\""),
      "S[i,j] + i % 64", "i % 64 + 0.0", "W[i] + i % 64" },
    { "row-in-reduction",
      COMPUTE("\"y = acc + rowsum(select(row < 3, b, 0))\", \"r = rowmax(max(row, b))\""),
      "S[i,j] + select(i % 64 < 3, sum(q < 64, BIAS[q]), 0.0)",
      "max(q < 64, max(i % 64 + 0.0, BIAS[q]))", NULL },
    { "reduction-by-name",
      COMPUTE("\"y = acc\", \"t = rowsum(select(row < 3, b, 0))\", \"r = t*2\""), NULL,
      "select(i % 64 < 3, sum(q < 64, BIAS[q])*2, 0.0)", NULL },
    { "linear-row-by-name", COMPUTE("\"y = acc\", \"t = row*2\", \"w = w + t\""), NULL, NULL,
      "W[i] + i % 64*2" },
    { "name-again", COMPUTE("\"t = acc\", \"t = t*2\", \"y = t + 1\""), "S[i,j]*2 + 1", NULL,
      NULL },
};

static const char design[] =
    "{ \"warpstave\": 1, \"name\": \"one compute step\", \"target\": \"sm_90a\","
    "  \"sizes\": { \"M\": 100, \"big\": 2147483600 }, \"scalars\": { \"scale\": 0.75 },"
    "  \"let\": { \"c\": \"scale*log2e\" },"
    "  \"tensors\": ["
    "    { \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [\"M\", 64], \"data\": \"uniform(-1, "
    "1)\" },"
    "    { \"name\": \"B\", \"dtype\": \"bf16\", \"shape\": [64, 64], \"data\": \"uniform(-1, 1)\" "
    "},"
    "    { \"name\": \"BIAS\", \"dtype\": \"f32\", \"shape\": [64] },"
    "    { \"name\": \"W\", \"dtype\": \"f32\", \"shape\": [\"M\"] },"
    "    { \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [\"M\", 64], \"access\": \"write\" },"
    "    { \"name\": \"R\", \"dtype\": \"f32\", \"shape\": [\"M\"], \"access\": \"write\" },"
    "    { \"name\": \"U\", \"dtype\": \"f32\", \"shape\": [\"M\"], \"access\": \"write\" } ],"
    "  \"reference\": [ \"S[i,j] = sum(k < 64, A[i,k]*B[j,k])\", \"Y[i,j] = %s\", \"R[i] = %s\","
    "    \"U[i] = %s\","
    "    \"H0[i,j] = (i + 1)*-1640531535 + j*2147483647\","
    "    \"H1[i,j] = bitxor(H0[i,j], shr(H0[i,j], 16))\","
    "    \"H2[i,j] = shr(H1[i,j]*-2048144789 - H1[i,j]*H1[i,j], 8)\" ],"
    "  \"tiles\": { \"axes\": { \"tm\": \"cdiv(M, 64)\" }, \"launch\": \"single\" },"
    "  \"buffers\": [ { \"name\": \"a\", \"dtype\": \"bf16\", \"tile\": [64, 64] },"
    "    { \"name\": \"bb\", \"dtype\": \"bf16\", \"tile\": [64, 64] } ],"
    "  \"barriers\": [ { \"name\": \"full\" } ],"
    "  \"groups\": [ { \"name\": \"all\", \"role\": \"worker\", \"warps\": 4, \"values\": ["
    "      { \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [64, 64] },"
    "      { \"name\": \"y\", \"dtype\": \"f32\", \"tile\": [64, 64] },"
    "      { \"name\": \"h\", \"dtype\": \"f16\", \"tile\": [64, 64] },"
    "      { \"name\": \"n\", \"dtype\": \"i32\", \"tile\": [64, 64] },"
    "      { \"name\": \"r\", \"dtype\": \"f32\", \"tile\": [64, 1] },"
    "      { \"name\": \"l\", \"dtype\": \"f32\", \"tile\": [64, 4] },"
    "      { \"name\": \"b\", \"dtype\": \"f32\", \"tile\": [1, 64] },"
    "      { \"name\": \"w\", \"dtype\": \"f32\", \"tile\": [64, 1] } ],"
    "    \"body\": ["
    "      { \"let\": \"last\", \"be\": \"40 + tm*64\" },"
    "      { \"load\": \"A\", \"at\": [\"tm*64\", 0], \"into\": \"a\", \"signal\": \"full\", "
    "\"use\": 0 },"
    "      { \"load\": \"B\", \"at\": [0, 0], \"into\": \"bb\", \"signal\": \"full\", \"use\": 0 },"
    "      { \"read\": \"b\", \"from\": \"BIAS\", \"at\": [0] },"
    "      { \"read\": \"w\", \"from\": \"W\", \"at\": [\"tm*64\"] },"
    "      { \"wait\": \"full\", \"use\": 0 },"
    "      { \"mma\": \"acc\", \"a\": \"a\", \"b\": \"bb\", \"first\": true },"
    "      { \"mma_wait\": 0 },"
    "      { \"compute\": [\"r = rowsum(acc + b)*0\", \"y = acc\", \"n = i32(acc)\"] },"
    "      %s"
    "      { \"write\": \"y\", \"to\": \"Y\", \"at\": [\"tm*64\", 0] },"
    "      { \"write\": \"r\", \"to\": \"R\", \"at\": [\"tm*64\"] },"
    "      { \"write\": \"w\", \"to\": \"U\", \"at\": [\"tm*64\"] } ] } ] }";

static WsProgram *load(const Case *c)
{
    g_autofree char *text = g_strdup_printf(design, c->y ? c->y : "S[i,j]", c->r ? c->r : "0.0",
                                            c->u ? c->u : "W[i]", c->steps);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "case", findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *report = ws_findings_print(findings, "case");
        g_test_message("%s", report);
        g_test_fail();
    }
    g_assert_nonnull(p);
    return p;
}

static void test_rehearse(gconstpointer data)
{
    g_autoptr(WsProgram) p = load(data);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseOptions options = { .seed = 3 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(r->stuck, ==, NULL);
    g_assert_cmpstr(r->first_violation, ==, NULL);
    g_assert_cmpstr(r->first_race, ==, NULL);
    g_assert_cmpstr(r->first_wrong, ==, NULL);
    g_assert_cmpuint(r->elements, ==, 100 * 64 + 2 * 100);
    g_assert_true(r->matches);
    ws_rehearse_result_free(r);
}

static void test_assemble(gconstpointer data)
{
    if (!ws_ptxas_available()) {
        g_test_skip("ptxas is not installed");
        return;
    }
    g_autoptr(WsProgram) p = load(data);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_report_clean(r))
        g_test_message("%s", r->log);
    g_assert_true(ws_ptxas_report_clean(r));
    ws_ptxas_report_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *a = g_strconcat("/math/rehearse/", cases[i].name, NULL);
        g_autofree char *b = g_strconcat("/math/assemble/", cases[i].name, NULL);
        g_test_add_data_func(a, &cases[i], test_rehearse);
        g_test_add_data_func(b, &cases[i], test_assemble);
    }
    return g_test_run();
}
