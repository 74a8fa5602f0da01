/* Where tiles lie in warps: what the reader makes of layouts of Gluon for AMD is what Triton makes
 * of them (amd/layouts.def, which amd/layouts.py writes; it looks at elements, not at bases). */
#include "import/python/amd/layout.h"

typedef struct {
    PyLayout own, of;
    gint64 rows, cols;
    PyHalves halves;
    guint64 by;
    gboolean once, inside;
    const char *text;
} Row;

#define SUMS_OF(block_, turned, m, n, tm, tn)                                                      \
    {                                                                                              \
        .kind = PY_LAYOUT_MFMA, .number = -1, .block = block_, .transposed = turned,               \
        .warps = { m, n }, .tiles = {                                                              \
            tm,                                                                                    \
            tn                                                                                     \
        }                                                                                          \
    }
#define SUMS(block, turned, m, n, tm, tn, rows_, cols_, halves_, by_, once_, inside_)              \
    {                                                                                              \
        .own = SUMS_OF(block, turned, m, n, tm, tn), .rows = rows_, .cols = cols_,                 \
        .halves = PY_HALVES_##halves_, .by = by_, .once = once_, .inside = inside_,                \
        .text = #block " " #m "x" #n " " #tm "x" #tn " of " #rows_ "x" #cols_                      \
    }
#define OPERAND(block, turned, m, n, tm, tn, number_, width_, rows_, cols_, halves_, by_, once_,   \
                inside_)                                                                           \
    {                                                                                              \
        .own = { .kind = PY_LAYOUT_OPERAND, .number = number_, .width = width_ },                  \
        .of = SUMS_OF(block, turned, m, n, tm, tn), .rows = rows_, .cols = cols_,                  \
        .halves = PY_HALVES_##halves_, .by = by_, .once = once_, .inside = inside_,                \
        .text =                                                                                    \
            "operand " #number_ " " #block " " #m "x" #n " " #tm "x" #tn " of " #rows_ "x" #cols_  \
    }
#define BLOCKED(sm, sn, lm, ln, m, n, fast, slow, rows_, cols_, halves_, by_, once_, inside_)      \
    {                                                                                              \
        .own = { .kind = PY_LAYOUT_BLOCKED,                                                        \
                 .tiles = { sm, sn },                                                              \
                 .lanes = { lm, ln },                                                              \
                 .warps = { m, n },                                                                \
                 .order = { fast, slow } },                                                        \
        .rows = rows_, .cols = cols_, .halves = PY_HALVES_##halves_, .by = by_, .once = once_,     \
        .inside = inside_, .text = "blocked " #lm "x" #ln " " #m "x" #n " of " #rows_ "x" #cols_   \
    }
#define LAYOUT(kind, ...) kind(__VA_ARGS__),
static Row row[] = {
#include "layouts.def"
};

static void test_layouts(void)
{
    guint shared = 0, both = 0;
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        Row *r = &row[i];
        r->own.parent = r->own.kind == PY_LAYOUT_OPERAND ? &r->of : NULL;
        guint64 by;
        const PyHalves is = py_layout_halves(&r->own, r->rows, r->cols, &by);
        if (is != r->halves)
            g_test_message("%s: %d, Triton says %d", r->text, is, r->halves);
        g_assert_cmpint(is, ==, r->halves);
        g_assert_cmpuint(is == PY_HALVES_PLACES ? r->by : by, ==, r->by);
        g_assert_cmpint(py_layout_once(&r->own, r->rows, r->cols), ==, r->once);
        g_assert_cmpint(py_layout_row_in_warp(&r->own, r->rows, r->cols), ==, r->inside);
        shared += is == PY_HALVES_ROWS;
        both += is == PY_HALVES_BOTH;
    }
    g_assert_cmpuint(shared, >, 20);
    g_assert_cmpuint(both, >, 20);
}

/* Written out, as exports do: the last base of the warps is half of the rows, or it is not. */
static void test_written_out(void)
{
    PyLayout l = { .kind = PY_LAYOUT_BASES,
                   .shape = { 32, 64 },
                   .n = { 2, 6, 3 },
                   .basis = { { { 0, 1 }, { 0, 2 } },
                              { { 0, 4 }, { 0, 8 }, { 0, 16 }, { 0, 32 }, { 1, 0 }, { 2, 0 } },
                              { { 4, 0 }, { 8, 0 }, { 16, 0 } } } };
    const PyBasis upper = { 16, 0 }, other = { 8, 0 }, both = { 24, 0 }, column = { 0, 1 };
    guint64 by;
    g_assert_cmpint(py_layout_halves(&l, 32, 64, &by), ==, PY_HALVES_ROWS);
    g_assert_cmpuint(by, ==, 16 * 64);
    g_assert_true(py_layout_once(&l, 32, 64));
    g_assert_cmpint(py_layout_halves(&l, 64, 64, &by), ==, PY_HALVES_UNKNOWN); /* of another tile */
    l.basis[PY_WARPS][2] = other; /* row 16 is nowhere */
    g_assert_cmpint(py_layout_halves(&l, 32, 64, &by), ==, PY_HALVES_UNKNOWN);
    l.basis[PY_WARPS][1] = upper; /* warps 4 to 7 hold rows 8 to 15 and 24 to 31 */
    g_assert_cmpint(py_layout_halves(&l, 32, 64, &by), ==, PY_HALVES_ROWS);
    g_assert_cmpuint(by, ==, 8 * 64);
    l.basis[PY_WARPS][1] = other;
    l.basis[PY_WARPS][2] = both; /* rows 16 to 31 all the same, but in another order */
    g_assert_cmpint(py_layout_halves(&l, 32, 64, &by), ==, PY_HALVES_ROWS);
    g_assert_cmpuint(by, ==, 16 * 64);
    l.basis[PY_WARPS][1] =
        both; /* rows 8 to 23: of the upper half where bit 8 or 16 is set alone */
    l.basis[PY_WARPS][2] = other;
    g_assert_cmpint(py_layout_halves(&l, 32, 64, &by), ==, PY_HALVES_ROWS);
    g_assert_cmpuint(by, ==, 24 * 64);
    l.basis[PY_WARPS][1] = other;
    l.basis[PY_WARPS][2] = column;
    g_assert_cmpint(py_layout_halves(&l, 32, 64, &by), ==, PY_HALVES_UNKNOWN);
    g_assert_cmpint(py_layout_halves(NULL, 32, 64, &by), ==, PY_HALVES_UNKNOWN);
    g_assert_cmpint(py_layout_halves(&l, 0, 64, &by), ==, PY_HALVES_UNKNOWN);
    g_assert_cmpint(py_layout_halves(&l, 48, 64, &by), ==, PY_HALVES_UNKNOWN);
}

/* A sum's layout and that of operand a with four columns at a time are the same registers, where a
 * warp has whole rows. */
static void test_stays(void)
{
    PyLayout sums = SUMS_OF(16, TRUE, 8, 1, 2, 1), wide = SUMS_OF(16, TRUE, 4, 2, 4, 1),
             upright = SUMS_OF(16, FALSE, 8, 1, 2, 1);
    PyLayout a = { .kind = PY_LAYOUT_OPERAND, .number = 0, .width = 4, .parent = &sums };
    g_assert_true(py_layout_stays(&sums, &a, 256, 64));
    g_assert_false(py_layout_stays(&sums, &upright, 256, 64));
    a.width = 8;
    g_assert_false(py_layout_stays(&sums, &a, 256, 64));
    a.width = 4;
    a.parent = &wide;
    g_assert_false(py_layout_stays(&wide, &a, 256, 64));
    g_assert_false(py_layout_stays(&sums, NULL, 256, 64));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/amd-layouts/triton", test_layouts);
    g_test_add_func("/import/amd-layouts/written-out", test_written_out);
    g_test_add_func("/import/amd-layouts/stays", test_stays);
    return g_test_run();
}
