/* Kinds of bars stay apart for whoever sees no red, no green or no blue: their colours are
 * simulated (Machado, Oliveira and Fernandes 2009, severity 1) and compared by CIEDE2000. */
#include "score/palette.h"

#include <math.h>

typedef struct {
    double l, a, b;
} Lab;

static const struct {
    const char *name;
    double m[3][3];
} sight[] = {
    { "all colours", { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } },
    { "protanopia",
      { { 0.152286, 1.052583, -0.204868 },
        { 0.114503, 0.786281, 0.099216 },
        { -0.003882, -0.048116, 1.051998 } } },
    { "deuteranopia",
      { { 0.367322, 0.860646, -0.227968 },
        { 0.280085, 0.672501, 0.047413 },
        { -0.011820, 0.042940, 0.968881 } } },
    { "tritanopia",
      { { 1.255528, -0.076749, -0.178779 },
        { -0.078411, 0.930809, 0.147602 },
        { 0.004733, 0.691367, 0.303900 } } },
};

static double linear(guint32 rgb, int shift)
{
    const double c = (rgb >> shift & 255) / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double bend(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* What an eye makes of a colour, in CIELAB (D65). */
static Lab seen_by(guint eye, guint32 rgb)
{
    const double in[] = { linear(rgb, 16), linear(rgb, 8), linear(rgb, 0) };
    double out[3];
    for (int i = 0; i < 3; i++) {
        const double *m = sight[eye].m[i];
        out[i] = CLAMP(m[0] * in[0] + m[1] * in[1] + m[2] * in[2], 0, 1);
    }
    const double x = bend((0.4124564 * out[0] + 0.3575761 * out[1] + 0.1804375 * out[2]) / 0.95047);
    const double y = bend(0.2126729 * out[0] + 0.7151522 * out[1] + 0.0721750 * out[2]);
    const double z = bend((0.0193339 * out[0] + 0.1191920 * out[1] + 0.9503041 * out[2]) / 1.08883);
    return (Lab){ 116 * y - 16, 500 * (x - y), 200 * (y - z) };
}

static double radians(double degrees)
{
    return degrees * G_PI / 180;
}

static double hue(double a, double b)
{
    const double h = atan2(b, a) * 180 / G_PI;
    return a == 0 && b == 0 ? 0 : h < 0 ? h + 360 : h;
}

/* CIEDE2000, after Sharma, Wu and Dalal. */
static double difference(Lab p, Lab q)
{
    const double c = (hypot(p.a, p.b) + hypot(q.a, q.b)) / 2, c7 = pow(c, 7);
    const double g = 1.5 - 0.5 * sqrt(c7 / (c7 + pow(25, 7)));
    const double c1 = hypot(p.a * g, p.b), c2 = hypot(q.a * g, q.b);
    const double h1 = hue(p.a * g, p.b), h2 = hue(q.a * g, q.b);
    double turn = c1 * c2 == 0 ? 0 : h2 - h1, middle = h1 + h2;
    if (turn > 180)
        turn -= 360;
    else if (turn < -180)
        turn += 360;
    if (c1 * c2 > 0)
        middle = fabs(h1 - h2) <= 180 ? middle / 2
                 : middle < 360       ? (middle + 360) / 2
                                      : (middle - 360) / 2;
    const double l = (p.l + q.l) / 2 - 50, cm = (c1 + c2) / 2, cm7 = pow(cm, 7);
    const double t = 1 - 0.17 * cos(radians(middle - 30)) + 0.24 * cos(radians(2 * middle)) +
                     0.32 * cos(radians(3 * middle + 6)) - 0.2 * cos(radians(4 * middle - 63));
    const double spin = 30 * exp(-pow((middle - 275) / 25, 2));
    const double dl = (q.l - p.l) / (1 + 0.015 * l * l / sqrt(20 + l * l));
    const double dc = (c2 - c1) / (1 + 0.045 * cm);
    const double dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * cm * t);
    const double r = -sin(radians(2 * spin)) * 2 * sqrt(cm7 / (cm7 + pow(25, 7)));
    return sqrt(dl * dl + dc * dc + dh * dh + r * dc * dh);
}

/* Pairs of the paper's own table: what measures is right. */
static void test_formula(void)
{
    const Lab a = { 50, 2.6772, -79.7751 }, b = { 50, 0, -82.7485 };
    const Lab c = { 2.0776, 0.0795, -1.1350 }, d = { 0.9033, -0.0636, -0.5514 };
    const Lab e = { 50, 2.5, 0 }, f = { 73, 25, -18 };
    g_assert_cmpfloat_with_epsilon(difference(a, b), 2.0425, 1e-4);
    g_assert_cmpfloat_with_epsilon(difference(c, d), 0.9082, 1e-4);
    g_assert_cmpfloat_with_epsilon(difference(e, f), 27.1492, 1e-4);
}

/* Bars that stand beside each other in one staff. */
static gboolean engine(WsItemKind kind)
{
    return kind == WS_ITEM_LOAD || kind == WS_ITEM_MMA || kind == WS_ITEM_STORE ||
           kind == WS_ITEM_MATH || kind == WS_ITEM_SHARED;
}

static void test_kinds(void)
{
    static const WsItemKind kind[] = { WS_ITEM_LOAD, WS_ITEM_MMA,    WS_ITEM_STORE,
                                       WS_ITEM_MATH, WS_ITEM_SHARED, WS_ITEM_COPY,
                                       WS_ITEM_WAIT, WS_ITEM_IDLE,   WS_ITEM_OPAQUE };
    for (int theme = 0; theme <= WS_THEME_DARK_CONTRAST; theme++)
        for (guint i = 0; i < G_N_ELEMENTS(kind); i++)
            for (guint j = i + 1; j < G_N_ELEMENTS(kind); j++)
                for (guint eye = 0; eye < G_N_ELEMENTS(sight); eye++) {
                    const double apart =
                        difference(seen_by(eye, ws_palette_item((WsTheme)theme, kind[i])),
                                   seen_by(eye, ws_palette_item((WsTheme)theme, kind[j])));
                    const gboolean both = engine(kind[i]) && engine(kind[j]);
                    g_test_message("theme %d, %s: %s and %s %.1f", theme, sight[eye].name,
                                   ws_item_kind_text(kind[i]), ws_item_kind_text(kind[j]), apart);
                    g_assert_cmpfloat(apart, >=, both && eye < 3 ? 10.5 : 6);
                }
}

/* Tensor core and compute, half of an attention's score each: by lightness, whatever the eye. */
static void test_lightness(void)
{
    for (int theme = 0; theme <= WS_THEME_DARK_CONTRAST; theme++)
        for (guint eye = 0; eye < G_N_ELEMENTS(sight); eye++) {
            const Lab mma = seen_by(eye, ws_palette_item((WsTheme)theme, WS_ITEM_MMA));
            const Lab math = seen_by(eye, ws_palette_item((WsTheme)theme, WS_ITEM_MATH));
            g_test_message("theme %d, %s: lightness %.0f and %.0f", theme, sight[eye].name, mma.l,
                           math.l);
            g_assert_cmpfloat(math.l - mma.l, >=, 20);
            g_assert_cmpfloat(difference(mma, math), >=, 18);
        }
}

/* What is wrong has a red of its own: nothing else of the page is near it. */
static void test_red(void)
{
    for (int theme = 0; theme <= WS_THEME_DARK_CONTRAST; theme++) {
        const WsPalette *p = ws_palette((WsTheme)theme);
        for (guint eye = 0; eye < G_N_ELEMENTS(sight); eye++) {
            const Lab red = seen_by(eye, p->error);
            g_assert_cmpfloat(difference(red, seen_by(eye, p->path)), >=, 9);
            for (int k = 0; k < WS_ITEM_KIND_COUNT; k++) {
                const double apart =
                    difference(red, seen_by(eye, ws_palette_item((WsTheme)theme, (WsItemKind)k)));
                g_test_message("theme %d, %s: error and %s %.1f", theme, sight[eye].name,
                               ws_item_kind_text((WsItemKind)k), apart);
                g_assert_cmpfloat(apart, >=, eye ? 6.5 : 14);
            }
        }
    }
}

/* High contrast: another score, not only another frame. */
static void test_contrast(void)
{
    for (int k = 0; k < WS_ITEM_KIND_COUNT; k++)
        for (int dark = 0; dark < 2; dark++) {
            const WsTheme plain = dark ? WS_THEME_DARK : WS_THEME_LIGHT;
            const WsTheme strong = dark ? WS_THEME_DARK_CONTRAST : WS_THEME_LIGHT_CONTRAST;
            const double a = seen_by(0, ws_palette(strong)->page).l;
            const double far = fabs(seen_by(0, ws_palette_item(strong, (WsItemKind)k)).l - a);
            g_assert_cmpfloat(far, >=, 50);
            if (k != WS_ITEM_OPAQUE)
                g_assert_cmpuint(ws_palette_item(plain, (WsItemKind)k), !=,
                                 ws_palette_item(strong, (WsItemKind)k));
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/score/colours/formula", test_formula);
    g_test_add_func("/score/colours/kinds", test_kinds);
    g_test_add_func("/score/colours/lightness", test_lightness);
    g_test_add_func("/score/colours/red", test_red);
    g_test_add_func("/score/colours/contrast", test_contrast);
    return g_test_run();
}
