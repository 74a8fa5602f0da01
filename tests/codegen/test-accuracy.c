/* Functions of compute steps beside libm, over floats of every size and sign: what the host of the
 * rehearsal computes, the PTX of the same rows of prim.def run line by line, and the reference in
 * float64. */
#include "codegen/generate.h"
#include "codegen/prim.h"
#include "codegen/reference/reference.h"
#include "codegen/rehearse/host.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <math.h>
#include <string.h>

static guint32 bits_of(float x)
{
    guint32 b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static float float_of(guint32 b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* --- what is tried -----------------------------------------------------------------------------*/

/* Zeros, denormals, the ends of intervals, close to multiples of pi/2, the largest, infinity, NaN;
 * both signs of all. */
static const guint32 special[] = {
    0,          1,          0x007fffff, 0x00800000, 0x33800000, 0x3effffff, 0x3f000000, 0x3f7fffff,
    0x3f800000, 0x3f800001, 0x3fc90fda, 0x3fc90fdb, 0x3fffffff, 0x40490fdb, 0x407fffff, 0x40800000,
    0x40c90fdb, 0x47ffffff, 0x48000000, 0x48000001, 0x4a800000, 0x4b000000, 0x4effffff, 0x4f000000,
    0x4f7fffff, 0x6f79be45, 0x7f7fffff, 0x7f800000, 0x7fc00000,
};

#define STRIDE 1021 /* prime: all exponents, 4.2 million floats */

static void each(void (*see)(float x, gpointer data), gpointer data)
{
    for (guint i = 0; i < G_N_ELEMENTS(special); i++) {
        see(float_of(special[i]), data);
        see(float_of(special[i] | 0x80000000u), data);
    }
    for (guint64 b = 0; b <= G_MAXUINT32; b += STRIDE)
        see(float_of((guint32)b), data);
}

static double inverse_root(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(INFINITY, x) : 1 / sqrt(x); /* denormals are flushed */
}

/* Distance in units in the last place of a float near `want`. */
static double units(float got, double want)
{
    int e = 0;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(want) || isinf(got))
        return (double)got == want ? 0 : INFINITY;
    frexp(want, &e);
    return fabs((double)got - want) / ldexp(1, MAX(e, -125) - 24);
}

static const struct {
    const char *name;
    WsPrim prim;
    float (*host)(float);
    double (*want)(double);
    double units;
} rows[] = {
    { "erf", WS_PRIM_ERF, wsh_erf, erf, 1.2 },
    { "sin", WS_PRIM_SIN, wsh_sin, sin, 1.55 },
    { "cos", WS_PRIM_COS, wsh_cos, cos, 1.55 },
    { "rsqrt", WS_PRIM_RSQRT, wsh_rsqrt, inverse_root, 1.5 },
    { "floor", WS_PRIM_FLOOR, wsh_floor, floor, 0 },
    { "ceil", WS_PRIM_CEIL, wsh_ceil, ceil, 0 },
};

typedef struct {
    guint row;
    double worst;
    float at;
} Sweep;

static void compare_host(float x, gpointer data)
{
    Sweep *s = data;
    const double want = rows[s->row].want((double)x);
    const float got = rows[s->row].host(x);
    const double u = units(got, want);
    if (want == 0 && !signbit(got) != !signbit(want) && rows[s->row].prim != WS_PRIM_SIN)
        g_error("%s(%a): %a", rows[s->row].name, (double)x, (double)got);
    if (u > s->worst) {
        s->worst = u;
        s->at = x;
    }
}

static void test_host(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Sweep s = { .row = i };
        each(compare_host, &s);
        g_test_message("%s: %.3f units at %a", rows[i].name, s.worst, s.at);
        g_assert_cmpfloat(s.worst, <=, rows[i].units);
    }
}

/* --- PTX, line by line -------------------------------------------------------------------------*/

/* Registers are one letter; $0 is the result, $1 the operand. */
typedef struct {
    guint64 reg[128];
} Machine;

static guint64 operand(const Machine *m, const char *text)
{
    if (text[0] == '0' && text[1] == 'f')
        return g_ascii_strtoull(text + 2, NULL, 16);
    if (text[0] == '0' && text[1] == 'd')
        return g_ascii_strtoull(text + 2, NULL, 16);
    if (g_ascii_isdigit(*text))
        return g_ascii_strtoull(text, NULL, 0);
    return m->reg[(guint)(text[0] == '$' ? text[1] : text[0])];
}

static double double_of(guint64 b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static guint64 bits_of_double(double x)
{
    guint64 b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* NaN as the hardware gives it is one NaN here. */
static guint64 rounded(double x)
{
    return bits_of((float)x);
}

static guint64 apply(const char *op, const guint64 *v)
{
    const float a = float_of((guint32)v[0]), b = float_of((guint32)v[1]),
                c = float_of((guint32)v[2]);
    const guint32 i = (guint32)v[0], k = (guint32)v[1], n = (guint32)v[2];
#define OP(text, value)                                                                            \
    if (g_str_equal(op, text))                                                                     \
    return value
    OP("abs.f32", bits_of(fabsf(a)));
    OP("neg.f32", bits_of(-a));
    OP("mul.rn.f32", bits_of(a * b));
    OP("sub.rn.f32", bits_of(a - b));
    OP("fma.rn.f32", bits_of(fmaf(a, b, c)));
    OP("min.f32", bits_of(fminf(a, b)));
    OP("ex2.approx.ftz.f32", bits_of(wsh_ex2(a)));
    OP("rsqrt.approx.ftz.f32", bits_of(wsh_rsqrt(a)));
    OP("cvt.rmi.f32.f32", bits_of(floorf(a)));
    OP("cvt.rpi.f32.f32", bits_of(ceilf(a)));
    OP("copysign.f32", bits_of(copysignf(b, a)));
    OP("setp.ge.f32", a >= b);
    OP("setp.lt.and.f32", a < b && v[2]);
    OP("setp.ge.u32", i >= k);
    OP("setp.ne.u32", i != k);
    OP("setp.lt.s32", (gint32)i < (gint32)k);
    OP("selp.f32", v[2] ? v[0] : v[1]);
    OP("selp.b32", v[2] ? v[0] : v[1]);
    OP("mov.b32", v[0]);
    OP("mov.f32", v[0]);
    OP("mov.b64", (v[0] & G_MAXUINT32) | v[1] << 32); /* {low, high} */
    OP("shl.b32", (guint32)(i << k));
    OP("shl.b64", v[0] << k);
    OP("shr.u32", i >> k);
    OP("shr.u64", v[0] >> k);
    OP("or.b32", i | k);
    OP("and.b32", i & k);
    OP("add.u32", (guint32)(i + k));
    OP("sub.u32", (guint32)(i - k));
    OP("neg.s32", (guint32)(0 - i));
    OP("bfe.u32", i >> k & ((1u << n) - 1));
    OP("shf.l.wrap.b32", (guint32)((v[1] << 32 | i) << (n & 31) >> 32));
    OP("mul.wide.u32", (guint64)i * k);
    OP("mad.wide.u32", (guint64)i * k + v[2]);
    OP("mad.lo.u32", (guint32)(i * k + n));
    OP("cvt.u32.u64", (guint32)v[0]);
    OP("cvt.rn.f64.s64", bits_of_double((double)(gint64)v[0]));
    OP("mul.rn.f64", bits_of_double(double_of(v[0]) * double_of(v[1])));
    OP("cvt.rn.f32.f64", rounded(double_of(v[0])));
#undef OP
    g_error("what is %s?", op);
}

/* One instruction. FALSE: it jumps to the end of the text's one label. */
static gboolean step(Machine *m, char *line)
{
    gboolean does = TRUE;
    if (*line == '@') {
        const gboolean turned = line[1] == '!';
        does = (m->reg[(guint)line[1 + turned]] != 0) != turned;
        line = strchr(line, ' ') + 1;
    }
    if (!does)
        return TRUE;
    if (g_str_has_prefix(line, "bra "))
        return FALSE;
    char *space = strchr(line, ' ');
    *space = '\0';
    g_auto(GStrv) word = g_strsplit_set(space + 1, " ,{}", -1);
    const char *at[5] = { NULL };
    guint n = 0;
    for (guint i = 0; word[i]; i++)
        if (*word[i])
            at[n++] = word[i];
    guint64 v[3] = { 0 };
    for (guint i = 1; i < n; i++)
        v[i - 1] = operand(m, at[i]);
    m->reg[(guint)(at[0][0] == '$' ? at[0][1] : at[0][0])] = apply(line, v);
    return TRUE;
}

typedef struct {
    guint row;
    char **line; /* of the template */
    guint64 tried;
} Text;

static float by_text(const Text *t, float x)
{
    Machine m = { 0 };
    gboolean runs = TRUE;
    m.reg[(guint)'1'] = bits_of(x);
    for (guint i = 0; t->line[i]; i++) {
        g_autofree char *line = g_strstrip(g_strdelimit(g_strdup(t->line[i]), "\n\t", ' '));
        if (g_str_has_prefix(line, "NEAR:")) {
            runs = TRUE;
            memmove(line, line + 5, strlen(line + 5) + 1);
            g_strchug(line);
        }
        if (*line == '{')
            g_strchug(memmove(line, line + 1, strlen(line)));
        if (!runs || !*line || *line == '.' || *line == '}')
            continue;
        runs = step(&m, line);
    }
    return float_of((guint32)m.reg[(guint)'0']);
}

static void compare_text(float x, gpointer data)
{
    Text *t = data;
    if (t->tried++ > 2 * G_N_ELEMENTS(special) && t->tried % 1009) /* slow: text each time */
        return;
    const float got = by_text(t, x), want = rows[t->row].host(x);
    if (bits_of(got) != bits_of(want) && !(isnan(got) && isnan(want)))
        g_error("%s(%a): PTX %a, host %a", rows[t->row].name, x, got, want);
}

static void test_ptx(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(GStrv) line = g_strsplit(ws_prim_row(rows[i].prim)->ptx, ";", -1);
        Text t = { .row = i, .line = line };
        each(compare_text, &t);
    }
}

/* --- the reference -----------------------------------------------------------------------------*/

#define N 8192
static const char design[] =
    "{ \"warpstave\": 1, \"name\": \"case\", \"target\": \"sm_90a\", \"sizes\": { \"N\": 8192 },"
    "  \"tensors\": [ { \"name\": \"X\", \"dtype\": \"f32\", \"shape\": [\"N\"] },"
    "    { \"name\": \"Y\", \"dtype\": \"f32\", \"shape\": [\"N\"], \"access\": \"write\" } ],"
    "  \"reference\": [ \"Y[i] = %s(X[i])\" ],"
    "  \"tiles\": { \"axes\": { \"t\": \"cdiv(N, 128)\" }, \"launch\": \"single\" },"
    "  \"groups\": [ { \"name\": \"all\", \"role\": \"worker\", \"warps\": 4, \"values\": ["
    "      { \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [128, 1] } ], \"body\": ["
    "      { \"read\": \"x\", \"from\": \"X\", \"at\": [\"t*128\"] },"
    "      { \"compute\": [\"x = %s(x)\"] },"
    "      { \"write\": \"x\", \"to\": \"Y\", \"at\": [\"t*128\"] } ] } ] }";

/* FALSE and the error where it refuses. */
static gboolean reference(const char *function, const float *x, double *out, GError **error)
{
    g_autofree char *text = g_strdup_printf(design, function, function);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), "case", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *report = ws_findings_print(findings, "case");
        g_error("%s: %s", function, report);
    }
    const void *tensor[] = { x, NULL };
    const gint64 size[] = { N };
    WsReferenceInput input = { tensor, size, NULL };
    g_autoptr(WsReference) r = ws_reference_new(p, error);
    return r && ws_reference_eval(r, 1, &input, NULL, 0, N, out, error);
}

/* Exponents from the least to 2^30, both signs; what is special and no larger. */
static void fill(float *x)
{
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(special); i++)
        if (special[i] <= 0x4e800000 || special[i] >= 0x7f800000) {
            x[n++] = float_of(special[i]);
            x[n++] = float_of(special[i] | 0x80000000u);
        }
    const guint from = n;
    for (; n < N; n++) {
        const guint32 b = (guint32)((guint64)(n - from) * 0x4e800000 / (N - from));
        x[n] = float_of(n & 1 ? b : b | 0x80000000u);
    }
}

static void test_reference(void)
{
    static float x[N];
    static double out[N];
    fill(x);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        double (*f)(double) = rows[i].host == wsh_rsqrt ? NULL : rows[i].want;
        reference(rows[i].name, x, out, &error);
        g_assert_no_error(error);
        for (guint k = 0; k < N; k++) {
            const double want = f ? f((double)x[k]) : 1 / sqrt((double)x[k]);
            const double most = f ? 4e-16 : 4e-16 * fabs(want);
            if (!(fabs(out[k] - want) <= most || (isnan(want) && isnan(out[k])) || out[k] == want))
                g_error("%s(%a): %a, want %a", rows[i].name, (double)x[k], out[k], want);
        }
    }
}

static void test_far(void)
{
    static float x[N];
    static double out[N];
    static const char *const functions[] = { "sin", "cos" };
    for (guint i = 0; i < G_N_ELEMENTS(functions); i++) {
        g_autoptr(GError) error = NULL;
        x[17] = -0x1.8p30f;
        g_assert_false(reference(functions[i], x, out, &error));
        g_assert_nonnull(strstr(error->message, "more than 2^30 radians"));
        x[17] = -INFINITY;
        g_clear_error(&error);
        g_assert_true(reference(functions[i], x, out, &error));
        g_assert_true(isnan(out[17]));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/accuracy/host", test_host);
    g_test_add_func("/accuracy/ptx", test_ptx);
    g_test_add_func("/accuracy/reference", test_reference);
    g_test_add_func("/accuracy/far", test_far);
    return g_test_run();
}
