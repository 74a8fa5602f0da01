/* Every function of the array language (expr/func.def, those for compute steps) and its literals in
 * every language that is written: LLVM, CUDA C++, Gluon, TLE and TLX say it, or refuse it by name.
 * Compiled where the tools are: ptxas, nvcc. The design is named by a keyword. */
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "expr/expr.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>
#include <unistd.h>

/* A value as f32 from x (f32), row and col. `host`: over the scalar `scale`, in a name of the
 * launch; NULL: not said there. `python`: what Gluon, TLE and TLX answer; NULL: they say it. */
static const struct {
    WsFunc func;
    const char *device, *host, *python;
} uses[] = {
    { WS_FUNC_CDIV, "f32(cdiv(row + 3, 7))", NULL, "this function" },
    { WS_FUNC_MIN, "min(x, 2, scale) + f32(min(row, col, 3))", "min(scale, 2)", NULL },
    { WS_FUNC_MAX, "max(x, -1) + f32(max(col, 3))", "max(scale, 1.5)", NULL },
    { WS_FUNC_ABS, "abs(x) + f32(abs(row - col))", "abs(0 - scale)", NULL },
    { WS_FUNC_SELECT, "select(row < col && x > 0 || !(col >= 7), x, 1)",
      "select(scale > 1, 1, 2.5)", NULL },
    { WS_FUNC_EXP2, "exp2(x) + exp2(x, 1, 4)", "exp2(scale)", NULL },
    { WS_FUNC_LOG2, "log2(x*x + 1)", "log2(scale)", NULL },
    { WS_FUNC_EXP, "exp(x)", "exp(scale)", NULL },
    { WS_FUNC_LN, "ln(x*x + 1)", "ln(scale)", NULL },
    { WS_FUNC_RCP, "rcp(x*x + 1)", "rcp(scale)", NULL },
    { WS_FUNC_SQRT, "sqrt(x*x)", "sqrt(scale)", NULL },
    { WS_FUNC_TANH, "tanh(x)", "tanh(scale)", NULL },
    { WS_FUNC_ERF, "erf(x)", "erf(scale)", NULL },
    { WS_FUNC_RSQRT, "rsqrt(x*x + 1)", "rsqrt(scale)", NULL },
    { WS_FUNC_SIN, "sin(x)", "sin(scale)", NULL },
    { WS_FUNC_COS, "cos(x) + cos(1000000.0*x)", "cos(scale)", NULL },
    { WS_FUNC_FLOOR, "floor(x)", "floor(scale)", NULL },
    { WS_FUNC_CEIL, "ceil(x)", "ceil(scale)", NULL },
    { WS_FUNC_SHL, "f32(shl(row + 1, col))", NULL, NULL },
    { WS_FUNC_SHR, "f32(shr(row - 9, 5))", NULL, NULL },
    { WS_FUNC_SAR, "f32(sar(row - 9, 1 + t))", NULL, NULL },
    { WS_FUNC_BITAND, "f32(bitand(row*col, 12))", NULL, NULL },
    { WS_FUNC_BITOR, "f32(bitor(row, -16))", NULL, NULL },
    { WS_FUNC_BITXOR, "f32(bitxor(row*-1640531535, M))", NULL, NULL },
    { WS_FUNC_UMULHI, "f32(umulhi(col*-1640531535, row - 5))", NULL, NULL },
    { WS_FUNC_BITS, "f32(shr(bits(x), 23) - bits(scale))", NULL, NULL },
    { WS_FUNC_FROM_BITS, "from_bits(bitand(bits(x), 2147483647))", NULL, NULL },
    { WS_FUNC_ROWMAX, "x - rowmax(x)", NULL, NULL },
    { WS_FUNC_ROWSUM, "x/rowsum(x*x)", NULL, NULL },
    { WS_FUNC_LANEMAX, "x - rowmax(lanemax(x))", NULL, NULL },
    { WS_FUNC_LANESUM, "x - rowsum(lanesum(x))", NULL, NULL },
    { WS_FUNC_CUMSUM, "cumsum(x) + cumsum(x*x, 1, 1)", NULL, "a running sum" },
    { WS_FUNC_F32, "f32(row*64 + col)", "scale*f32(M)", NULL },
    { WS_FUNC_BF16, "f32(bf16(x))", NULL, NULL },
    { WS_FUNC_F16, "f32(f16(x))", NULL, NULL },
    { WS_FUNC_TF32, "tf32(x)", NULL, "conversion to tf32" },
    { WS_FUNC_E4M3, "f32(e4m3(x))", NULL, NULL },
    { WS_FUNC_E5M2, "f32(e5m2(x))", NULL, NULL },
    { WS_FUNC_I32, "f32(i32(x))", NULL, "to integers" },
    { WS_FUNC_U8, "f32(u8(x))", NULL, "to integers" },
    { WS_FUNC_I8, "f32(i8(row*9))", NULL, "to integers" },
};

/* Literals: whole, of both signs, beyond 24 bits, tiny, huge, named. */
static const char *const literals[] = {
    "x + 1",       "x*-1",     "x + 1.5",    "x - 16777217", "x*0.1",    "x*1e30",
    "x*1e-30",     "x*100000", "x*0",        "x*log2e",      "x + ln2",  "max(x, -inf)",
    "min(x, inf)", "x*scale",  "x + f32(1)", "x*c",          "x + t*64",
};

static const char design[] =
    "{ \"warpstave\": 1, \"name\": \"case\", \"target\": \"sm_90a\", \"sizes\": { \"M\": 128 },"
    "  \"scalars\": { \"scale\": 1 }, \"let\": { \"c\": \"%s\" },"
    "  \"tensors\": [ { \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [\"M\", 64] },"
    "    { \"name\": \"B\", \"dtype\": \"bf16\", \"shape\": [64, 64] },"
    "    { \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [\"M\", 64], \"access\": \"write\" } ],"
    "  \"tiles\": { \"axes\": { \"t\": \"cdiv(M, 64)\" }, \"launch\": \"single\" },"
    "  \"buffers\": [ { \"name\": \"a\", \"dtype\": \"bf16\", \"tile\": [64, 64] },"
    "    { \"name\": \"b\", \"dtype\": \"bf16\", \"tile\": [64, 64] } ],"
    "  \"barriers\": [ { \"name\": \"full\" } ],"
    "  \"groups\": [ { \"name\": \"all\", \"role\": \"worker\", \"warps\": 4, \"values\": ["
    "      { \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64, 64] },"
    "      { \"name\": \"y\", \"dtype\": \"f32\", \"tile\": [64, 64] } ],"
    "    \"body\": ["
    "      { \"load\": \"A\", \"at\": [\"t*64\", 0], \"into\": \"a\", \"signal\": \"full\", "
    "\"use\": 0 },"
    "      { \"load\": \"B\", \"at\": [0, 0], \"into\": \"b\", \"signal\": \"full\", \"use\": 0 },"
    "      { \"wait\": \"full\", \"use\": 0 },"
    "      { \"mma\": \"x\", \"a\": \"a\", \"b\": \"b\", \"first\": true },"
    "      { \"mma_wait\": 0 },"
    "      { \"compute\": [\"y = x*c\"%s] },"
    "      { \"write\": \"y\", \"to\": \"Y\", \"at\": [\"t*64\", 0] } ] } ] }";

/* `statements`: ", \"y = …\"" after the first one; `host`: value of the name c. */
static WsProgram *load(const char *host, const char *statements)
{
    g_autofree char *text = g_strdup_printf(design, host, statements);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "case", findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *report = ws_findings_print(findings, "case");
        g_error("%s: %s", statements, report);
    }
    return p;
}

static char *statement(const char *value)
{
    return g_strdup_printf(", \"y = y + (%s)\"", value);
}

/* --- the table is whole ------------------------------------------------------------------------*/

static void test_whole(void)
{
    static const struct {
        WsFunc func;
        const char *where;
    } all[] = {
#define WS_FUNC(id, text, least, most, where, help) { WS_FUNC_##id, where },
#include "expr/func.def"
#undef WS_FUNC
    };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
        guint found = 0;
        for (guint k = 0; k < G_N_ELEMENTS(uses); k++)
            found += uses[k].func == all[i].func;
        g_assert_cmpuint(found, ==, strchr(all[i].where, 'A') != NULL);
    }
}

/* --- Python ------------------------------------------------------------------------------------*/

typedef char *(*Export)(const WsProgram *p, gboolean remarks, const WsPyJudge *judge,
                        GError **error);
static const Export exports[] = { ws_generate_gluon, ws_generate_tle, ws_generate_tlx };

static void say(const WsProgram *p, const char *what, const char *refused)
{
    for (guint i = 0; i < G_N_ELEMENTS(exports); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = exports[i](p, FALSE, NULL, &error);
        if (!refused) {
            if (!text)
                g_error("%s: %s", what, error->message);
            continue;
        }
        g_assert_null(text);
        g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
        if (!strstr(error->message, refused) || !strstr(error->message, "not supported"))
            g_error("%s: %s", what, error->message);
    }
}

static void test_python(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(uses); i++) {
        g_autofree char *one = statement(uses[i].device);
        g_autoptr(WsProgram) p = load("scale", one);
        say(p, uses[i].device, uses[i].python);
        if (!uses[i].host)
            continue;
        g_autoptr(WsProgram) q = load(uses[i].host, "");
        say(q, uses[i].host, NULL);
    }
    for (guint i = 0; i < G_N_ELEMENTS(literals); i++) {
        g_autofree char *one = statement(literals[i]);
        g_autoptr(WsProgram) p = load("scale", one);
        say(p, literals[i], NULL);
    }
}

/* Both sides of where, `and` and `or` of scalars are worked out on the device: a divisor that is 0
 * where its side is not taken is replaced, and no other. The module is called gl or tl. */
static void test_divisors(void)
{
    static const struct {
        const char *condition, *written;
    } cases[] = {
        { "select(M > 0, 64 / M, 0) > 3", "where(M > 0, 64 // maximum(M, 1), 0)" },
        { "M > 0 && 64 % max(M, 0) > 3", "M > 0 and 64 % maximum(M, 1) > 3" },
        { "M == 0 || 64 / abs(M) > 3", "M == 0 or 64 // maximum(abs(M), 1) > 3" },
        { "M > 64 && 64 / (M - 64) > 3", "where(M - 64 == 0, 1, M - 64)" },
        { "M > 64 && cdiv(M, M - 64) > 3", "where(M - 64 == 0, 1, M - 64)" },
        { "M > 64 && M / 7 > 3", "M // 7" },
        { "64 / max(M, 1) > 3 && M > 64", "64 // maximum(M, 1) > 3 and" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *step =
            g_strdup_printf("] }, { \"if\": \"%s\", \"then\": [ { \"compute\": \"y = 1\" } ] }, "
                            "{ \"compute\": [\"y = y + 1\"",
                            cases[i].condition);
        g_autoptr(WsProgram) p = load("scale", step);
        for (guint k = 0; k < G_N_ELEMENTS(exports); k++) {
            g_autoptr(GError) error = NULL;
            g_autofree char *text = exports[k](p, FALSE, NULL, &error);
            g_assert_no_error(error);
            g_auto(GStrv) words = g_strsplit(text, k == 0 ? "gl." : "tl.", -1);
            g_autofree char *plain = g_strjoinv("", words);
            if (!strstr(plain, cases[i].written))
                g_error("%s: %s", cases[i].condition, plain);
        }
    }
}

/* Of the check of an export: Python's `~` of True is -2, and `&` of 2 and 1 is 0; a reference
 * without a tensor is a number. */
static void test_truths(void)
{
    g_autofree char *text = g_strdup_printf(design, "scale", "");
    g_auto(GStrv) part = g_strsplit(text, "\"tiles\":", 2);
    g_autofree char *whole = g_strjoin(
        "\"reference\": \"Y[m,n] = select(!(M > 0) || M && M + 1, 1, 0)\", \"tiles\":", part[0],
        part[1], NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(whole, strlen(whole), "case", findings);
    g_assert_nonnull(d);
    g_autoptr(WsProgram) p = ws_elaborate(d, NULL, 0, findings);
    g_assert_nonnull(p);
    for (guint k = 0; k < G_N_ELEMENTS(exports); k++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *python = exports[k](p, FALSE, NULL, &error);
        g_assert_no_error(error);
        g_assert_nonnull(
            strstr(python, "f_select(((M > 0) == 0) | ((M != 0) & ((M + 1) != 0)), 1, 0)"));
        g_assert_nonnull(strstr(python, "want = tensor_of(at_Y(*index))"));
    }
}

/* --- LLVM, CUDA C++ ----------------------------------------------------------------------------*/

/* One kernel that holds them all. */
static WsProgram *everything(void)
{
    g_autoptr(GString) device = g_string_new(NULL), host = g_string_new("scale");
    for (guint i = 0; i < G_N_ELEMENTS(uses); i++) {
        g_autofree char *one = statement(uses[i].device);
        g_string_append(device, one);
        if (uses[i].host)
            g_string_append_printf(host, " + %s", uses[i].host);
    }
    for (guint i = 0; i < G_N_ELEMENTS(literals); i++) {
        g_autofree char *one = statement(literals[i]);
        g_string_append(device, one);
    }
    return load(host->str, device->str);
}

static void test_llvm(void)
{
    g_autoptr(WsProgram) p = everything();
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_available()) {
        g_test_skip("ptxas is not installed");
        return;
    }
    WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
    g_assert_no_error(error);
    ws_ptxas_report_free(r);
}

static void test_cuda(void)
{
    g_autoptr(WsProgram) p = everything();
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_cuda(p, FALSE, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(text, "float scale = 1.0f;"));
    if (!ws_nvcc_available()) {
        g_test_skip("nvcc is not installed");
        return;
    }
    g_autofree char *export = g_strconcat("#undef WARPSTAVE_BUNDLE\n", text, NULL);
    WsPtxasReport *r = ws_nvcc_run(export, NULL, &error);
    g_assert_no_error(error);
    g_assert_null(strstr(r->log, "warning"));
    ws_ptxas_report_free(r);
}

/* Integers of a tile run over modulo 2^32 in C++ too, and no operator of C++ may run over. */
static const struct {
    const char *value, *says, *never;
} integers[] = {
    { "f32(umulhi(col, row - 5))", "return int(__umulhi(", NULL },
    { "f32(max(umulhi(row*-1640531535, -5), 0))", "max(umulhi(", "max(__umulhi(" },
    { "select(row*-1640531535 < 0, 1.0, 0.0)", "wrap_mul(row0", "* -1640531535" },
    { "f32(-(col*2147483647))", "wrap_sub(0, wrap_mul(", NULL },
    { "f32(row*64 + col)", ") * 64 + ", "wrap_" },
    { "f32(row*33554432 + col)", ") * 33554432 + ", "wrap_" }, /* 63·2^25 + 63 < 2^31 */
    { "f32(row*33554432 + col*1048576)", "wrap_add((row0 + slot_row(ri)) * 33554432", NULL },
    { "f32(row*(col + M))", "wrap_mul(", NULL },
    { "f32(rowsum(i32(x)))", "quad_sum_i32(columns_sum_i32<", "quad_sum(" },
    { "rowsum(x)", "quad_sum(columns_sum<", "_i32" },
    { "f32(i32(x)/(col - 3))", "wrap_div(", "float(floor_div(" },
    { "f32(i32(x) % -7)", "float(wrap_mod(", "float(floor_mod(" },
    { "f32((row - 9) % 7)", "floor_mod(", "wrap_" },
    { "f32(i32(x)/7 + cdiv(i32(x), row))", "wrap_cdiv(", "wrap_abs" },
    { "f32(abs(i32(x)))", "wrap_abs(", NULL },
    { "f32(max(i32(x), -2147483648))", "(-2147483647 - 1))", "_long" },
    { "select(row + 2147483647 < col, 1, 0)", "wrap_add(", "slot_row(ri) - " },
    { "select(t*64 + col <= row + 9, 1, 0)", " <= -slot_col(ci) + slot_row(ri)", "wrap_" },
    { "select(M - col <= row - M, 1, 0)", "M - (col0 + slot_col(ci)) <= row0", NULL },
    { "x*1e39", "INFINITY", "e+39f" },
    { "x*0.30000001192092895508", "0.300000012f", NULL },
};

static void test_integers(void)
{
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint i = 0; i <= G_N_ELEMENTS(integers); i++) {
        const gboolean together = i == G_N_ELEMENTS(integers);
        g_autofree char *one = together ? g_strdup(all->str) : statement(integers[i].value);
        g_string_append(all, one);
        g_autoptr(WsProgram) p = load("scale", one);
        g_autoptr(GError) error = NULL;
        g_autofree char *text = ws_generate_cuda(p, FALSE, &error);
        g_assert_no_error(error);
        if (!together) {
            if (!strstr(text, integers[i].says) ||
                (integers[i].never && strstr(text, integers[i].never)))
                g_test_fail_printf("%s: %s", integers[i].value, text);
        } else if (ws_nvcc_available()) {
            g_autofree char *export = g_strconcat("#undef WARPSTAVE_BUNDLE\n", text, NULL);
            WsPtxasReport *r = ws_nvcc_run(export, NULL, &error);
            g_assert_no_error(error);
            g_assert_null(strstr(r->log, "warning"));
            ws_ptxas_report_free(r);
        }
    }
}

/* The quotients of the text, run on the host over edge values with what C++ leaves undefined
 * trapped, against the one rule in 64 bits. */
static const char quotients[] =
    "#include <cstdint>\n#include <cstdio>\n#define __host__\n#define __device__\n"
    "#define __forceinline__ inline\nusing std::uint32_t;\n%s\n"
    "static int wrong;\n"
    "static void same(const char *f, int a, int b, int got, int64_t want)\n{\n"
    "    if (got != int(uint32_t(want)))\n        wrong = printf(\"%%s(%%d, %%d) = %%d\\n\", f, a, "
    "b, got);\n}\n"
    "int main()\n{\n"
    "    const int least = -2147483647 - 1, edge[] = { least, least + 1, -1073741825, -64, -3, -2, "
    "-1,\n"
    "        0, 1, 2, 3, 64, 127, 1073741824, 1073741825, 2147483646, 2147483647 };\n"
    "    for (int a : edge)\n        for (int b : edge) {\n"
    "            int64_t q = b ? int64_t(a) / b : a, r = b ? int64_t(a) %% b : 0;\n"
    "            if (r && (r < 0) != (b < 0)) { q--; r += b; }\n"
    "            same(\"wrap_div\", a, b, wrap_div(a, b), q);\n"
    "            same(\"wrap_mod\", a, b, wrap_mod(a, b), r);\n"
    "            same(\"wrap_cdiv\", a, b, wrap_cdiv(a, b), q + !!r);\n"
    "            if (b > 0) {\n"
    "                same(\"floor_div\", a, b, floor_div(a, b), q);\n"
    "                same(\"floor_mod\", a, b, floor_mod(a, b), r);\n"
    "                same(\"cdiv\", a, b, cdiv(a, b), q + !!r);\n"
    "            }\n"
    "            if (b > 0 && a >= 0) {\n"
    "                same(\"quot\", a, b, quot(a, b), q);\n"
    "                same(\"mod\", a, b, mod(a, b), r);\n"
    "            }\n        }\n    return wrong != 0;\n}\n";

/* From the first helper of divisions to the first one that is none. */
static char *helpers(const char *text)
{
    GString *s = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    static const char *const want[] = { " mod(",      " quot(",     " floor_div(", " floor_mod(",
                                        " cdiv(",     " wrap_add(", " wrap_sub(",  " wrap_div(",
                                        " wrap_mod(", " wrap_cdiv(" };
    for (guint i = 0; line[i]; i++) {
        gboolean head = FALSE;
        for (guint k = 0; k < G_N_ELEMENTS(want); k++)
            head = head || (strstr(line[i], want[k]) && strstr(line[i], "__forceinline__ int"));
        for (; head && line[i]; i++) {
            g_string_append_printf(s, "%s\n", line[i]);
            if (g_str_has_suffix(line[i], "}"))
                break;
        }
    }
    return g_string_free(s, FALSE);
}

static void test_edges(void)
{
    g_autofree char *compiler = g_find_program_in_path("c++");
    if (!compiler) {
        g_test_skip("no C++ compiler is installed");
        return;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p =
        load("scale", ", \"y = y + f32(i32(x)/i32(y) + cdiv(i32(x), i32(y)) + i32(x) % i32(y))\", "
                      "\"y = y + f32((row - 9)/7 + (row - 9) % 7 + cdiv(M, 3) + M/3 + M % 3)\"");
    g_autofree char *text = ws_generate_cuda(p, FALSE, &error);
    g_assert_no_error(error);
    g_autofree char *called = helpers(text);
    g_autofree char *source = g_strdup_printf(quotients, called);
    g_autofree char *dir = g_dir_make_tmp("warpstave-edges-XXXXXX", &error);
    g_autofree char *file = g_build_filename(dir, "edges.cpp", NULL);
    g_autofree char *program = g_build_filename(dir, "edges", NULL);
    g_assert_true(g_file_set_contents(file, source, -1, &error));
    const char *build[] = {
        compiler, "-std=c++17", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", file,
        "-o",     program,      NULL
    };
    const char *run[] = { program, NULL };
    g_autofree char *says = NULL, *fails = NULL;
    gint status;
    g_assert_true(
        g_spawn_sync(NULL, (char **)build, NULL, 0, NULL, NULL, &says, &fails, &status, &error));
    if (status)
        g_error("%s\n%s", fails, source);
    g_clear_pointer(&says, g_free);
    g_clear_pointer(&fails, g_free);
    g_assert_true(
        g_spawn_sync(NULL, (char **)run, NULL, 0, NULL, NULL, &says, &fails, &status, &error));
    if (status)
        g_error("%s%s", says, fails);
    unlink(program);
    unlink(file);
    rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/whole", test_whole);
    g_test_add_func("/functions/python", test_python);
    g_test_add_func("/functions/divisors", test_divisors);
    g_test_add_func("/functions/truths", test_truths);
    g_test_add_func("/functions/llvm", test_llvm);
    g_test_add_func("/functions/cuda", test_cuda);
    g_test_add_func("/functions/integers", test_integers);
    g_test_add_func("/functions/edges", test_edges);
    return g_test_run();
}
