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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/agree", test_agree);
    return g_test_run();
}
