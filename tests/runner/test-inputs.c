/* Inputs by seed: rounding of every dtype, distributions, distinct indices. */
#include "program/inputs.h"

#include <glib.h>
#include <math.h>

/* Every pattern of an 8- or 16-bit type survives decode and encode. */
static void test_round_trip(void)
{
    static const int types[] = { WS_INPUT_F16,  WS_INPUT_BF16, WS_INPUT_E4M3,
                                 WS_INPUT_E5M2, WS_INPUT_I8,   WS_INPUT_U8 };
    for (guint t = 0; t < G_N_ELEMENTS(types); t++) {
        guint32 mask = ws_input_bytes(types[t]) == 1 ? 0xff : 0xffff;
        for (guint32 bits = 0; bits <= mask; bits++) {
            double v = ws_input_decode(types[t], bits);
            if (isfinite(v))
                g_assert_cmphex(ws_input_encode(types[t], v) & mask, ==, bits);
        }
    }
}

static void test_f32(void)
{
    for (guint i = 0; i < 100000; i++) {
        guint64 r = ws_input_mix(i);
        double v;
        memcpy(&v, &r, 8);
        float f = (float)v;
        guint32 bits;
        memcpy(&bits, &f, 4);
        if (isfinite(v))
            g_assert_cmphex(ws_input_encode(WS_INPUT_F32, v), ==, bits);
    }
}

static const struct {
    int dtype;
    double value;
    guint32 bits;
} rounded[] = {
    { WS_INPUT_BF16, 1.0, 0x3f80 },        { WS_INPUT_BF16, 1.00390625, 0x3f80 }, /* tie to even */
    { WS_INPUT_BF16, 1.01171875, 0x3f82 }, { WS_INPUT_BF16, -2.5, 0xc020 },
    { WS_INPUT_BF16, 1e39, 0x7f80 },       { WS_INPUT_F16, 65504, 0x7bff },
    { WS_INPUT_F16, 65520, 0x7c00 },       { WS_INPUT_F16, 5.9604644775390625e-8, 1 },
    { WS_INPUT_F16, 2.9e-8, 0 },           { WS_INPUT_E4M3, 448, 0x7e },
    { WS_INPUT_E4M3, 1e6, 0x7e },          { WS_INPUT_E4M3, -1e6, 0xfe },
    { WS_INPUT_E5M2, 1e6, 0x7b },          { WS_INPUT_E4M3, 0.001953125, 1 },
    { WS_INPUT_TF32, 1.0, 0x3f800000 },    { WS_INPUT_I32, -7, 0xfffffff9 },
};

static void test_rounding(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rounded); i++)
        g_assert_cmphex(ws_input_encode(rounded[i].dtype, rounded[i].value), ==, rounded[i].bits);
}

static void test_distributions(void)
{
    WsInputFill normal = { .kind = WS_INPUT_NORMAL, .key = ws_input_key(1, 0) };
    WsInputFill uniform = { .kind = WS_INPUT_UNIFORM, .key = ws_input_key(1, 1), .x = -2, .y = 3 };
    WsInputFill integers = {
        .kind = WS_INPUT_INTEGERS, .key = ws_input_key(1, 2), .a = -2, .b = 3
    };
    double sum = 0, square = 0, low = 9, high = -9;
    guint seen[5] = { 0 };
    const guint n = 200000;
    for (guint i = 0; i < n; i++) {
        double v = ws_input_value(&normal, i), u = ws_input_value(&uniform, i);
        sum += v;
        square += v * v;
        low = MIN(low, u);
        high = MAX(high, u);
        seen[(int)ws_input_value(&integers, i) + 2]++;
    }
    g_assert_cmpfloat(fabs(sum / n), <, 0.01);
    g_assert_cmpfloat(fabs(square / n - 1), <, 0.02);
    g_assert_cmpfloat(low, >=, -2);
    g_assert_cmpfloat(low, <, -1.99);
    g_assert_cmpfloat(high, <, 3);
    for (guint i = 0; i < 5; i++)
        g_assert_cmpuint(seen[i], >, n / 6);
}

static void test_indices(void)
{
    WsInputFill f = { .kind = WS_INPUT_INDICES, .key = 3, .last = 100, .a = 130, .y = 0.25 };
    guint holes = 0;
    for (guint row = 0; row < 50; row++) {
        guint8 seen[130] = { 0 };
        for (guint c = 0; c < 100; c++) {
            int v = (int)ws_input_value(&f, row * 100 + c);
            g_assert_cmpint(v, >=, -1);
            g_assert_cmpint(v, <, 130);
            if (v < 0)
                holes++;
            else
                g_assert_cmpint(seen[v]++, ==, 0);
        }
    }
    g_assert_cmpuint(holes, >, 1000);
    g_assert_cmpuint(holes, <, 1500);
}

static void test_offsets(void)
{
    guint equal = 0, uneven = 0;
    for (guint row = 0; row < 200; row++)
        for (int last = 1; last < 9; last++) {
            WsInputFill f = { .kind = WS_INPUT_OFFSETS, .key = 5, .last = last, .a = 1000 };
            double before = 0;
            for (int c = 0; c < last; c++) {
                double v = ws_input_value(&f, (uint64_t)row * (uint64_t)last + (uint64_t)c);
                g_assert_cmpfloat(v, >=, before);
                g_assert_cmpfloat(v, ==, floor(v));
                if (c == 0)
                    g_assert_cmpfloat(v, ==, 0);
                else if (c == last - 1)
                    g_assert_cmpfloat(v, ==, 1000);
                equal += c > 0 && v == before;
                uneven += c > 0 && v > before && v - before != 1000.0 / (last - 1);
                before = v;
            }
        }
    g_assert_cmpuint(equal, >, 1000); /* 5600 distances, a quarter of them 0 */
    g_assert_cmpuint(equal, <, 2000);
    g_assert_cmpuint(uneven, >, 2500);
    WsInputFill none = { .kind = WS_INPUT_OFFSETS, .key = 5, .last = 4, .a = 0 };
    for (uint64_t i = 0; i < 4; i++)
        g_assert_cmpfloat(ws_input_value(&none, i), ==, 0);
    WsInputFill large = { .kind = WS_INPUT_OFFSETS, .key = 5, .last = 1 << 12, .a = G_MAXINT32 };
    g_assert_cmpfloat(ws_input_value(&large, (1 << 12) - 2), <=, G_MAXINT32);
    g_assert_cmpfloat(ws_input_value(&large, (1 << 12) - 2), >, 0.99 * G_MAXINT32);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/inputs/round-trip", test_round_trip);
    g_test_add_func("/runner/inputs/f32", test_f32);
    g_test_add_func("/runner/inputs/rounding", test_rounding);
    g_test_add_func("/runner/inputs/distributions", test_distributions);
    g_test_add_func("/runner/inputs/indices", test_indices);
    g_test_add_func("/runner/inputs/offsets", test_offsets);
    return g_test_run();
}
