/* What agrees with a reference, and what no tolerance may let pass. */
#include "program/agree.h"

#include <float.h>
#include <glib.h>

static void test_agree(void)
{
    static const struct {
        double got, want, absolute, relative;
        bool agrees;
    } row[] = {
        { 1, 1, 0, 0, true },
        { 1.01, 1, 0.02, 0, true },
        { 1.03, 1, 0.02, 0, false },
        { 104, 100, 0, 0.05, true },
        { -104, 100, 0, 0.05, false },
        { 0, -0.0, 0, 0, true },
        { INFINITY, INFINITY, 0, 0, true },
        { -INFINITY, -INFINITY, 0.02, 0.02, true },
        { INFINITY, -INFINITY, 0.02, 0.02, false },
        { 5.625, INFINITY, 0.02, 0.004, false }, /* nothing finite lies near it */
        { DBL_MAX, INFINITY, 0.02, 0.004, false },
        { NAN, INFINITY, 0.02, 0.004, false },
        { NAN, NAN, 0.02, 0.004, false }, /* which says nothing */
        { 0, NAN, 0.02, 0.004, false },
        { NAN, 0, 0.02, 0.004, false },
        { INFINITY, 1, 0.02, 0.004, false },
        { INFINITY, DBL_MAX, DBL_MAX, 2, false }, /* a tolerance that overflows */
        { 0, DBL_MAX, 0, 2, true },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        const WsAgreement a = ws_agree(row[i].got, row[i].want, row[i].absolute, row[i].relative);
        g_test_message("%g beside %g: error %g, allowed %g", row[i].got, row[i].want, a.error,
                       a.allowed);
        g_assert_true(a.agrees == row[i].agrees);
        g_assert_false(isnan(a.error));
    }
}

/* `any` agrees with all there is; no other NaN does, nor what arithmetic makes of it. */
static void test_any(void)
{
    const double got[] = { 0, -1e300, INFINITY, NAN };
    const float narrow = (float)ws_any();
    for (guint i = 0; i < G_N_ELEMENTS(got); i++)
        g_assert_true(ws_agree(got[i], ws_any(), 0, 0).agrees);
    g_assert_false(ws_is_any(NAN));
    g_assert_false(ws_is_any(-ws_any()));
    g_assert_false(ws_is_any((double)narrow));
    g_assert_false(ws_agree(NAN, (double)narrow, 1, 1).agrees);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/agree", test_agree);
    g_test_add_func("/runner/any", test_any);
    return g_test_run();
}
