#include "import/python/amd/layout.h"

#include <string.h>

/* As Triton makes linear layouts of them (LinearLayoutConversions.cpp): the first dimensions of a
 * layout go to registers, then lanes, then warps; what a tile has more of goes to registers, and
 * what a layout has more of repeats elements. Warps count along the columns first. */

#define LANES 64
#define WARPS 8

static gboolean is_power(gint64 n)
{
    return n > 0 && n <= (gint64)1 << 20 && (n & (n - 1)) == 0;
}

/* --- bases ------------------------------------------------------------------------------------ */

typedef struct {
    PyBases *b;
    gint64 next[2]; /* by dimension: the step of the next basis */
    gint64 extent[2];
    gboolean full;
} Making;

/* Bases for `count` places along `dim`; `repeats`: they hold the same elements. */
static void along(Making *m, guint in, guint dim, gint64 count, gboolean repeats)
{
    for (gint64 i = 1; i < count; i *= 2) {
        if (m->b->n[in] >= PY_LAYOUT_MOST) {
            m->full = TRUE;
            return;
        }
        PyBasis *at = &m->b->at[in][m->b->n[in]++];
        *at = (PyBasis){ 0, 0 };
        if (repeats)
            continue;
        if (m->next[dim] < m->extent[dim])
            *(dim ? &at->col : &at->row) = m->next[dim];
        m->next[dim] *= 2;
    }
}

static void rest(Making *m)
{
    for (guint dim = 2; dim-- > 0;)
        if (m->next[dim] < m->extent[dim])
            along(m, PY_REGISTERS, dim, m->extent[dim] / m->next[dim], FALSE);
}

static void sums(Making *m, const PyLayout *l)
{
    const guint rows = l->transposed ? 1 : 0, cols = 1 - rows; /* of the instruction */
    along(m, PY_REGISTERS, rows, 4, FALSE);
    along(m, PY_LANES, cols, l->block, FALSE);
    along(m, PY_LANES, rows, LANES / l->block, FALSE);
    along(m, PY_REGISTERS, rows, l->block * l->block / (4 * LANES), FALSE);
    along(m, PY_REGISTERS, 1, l->tiles[1], FALSE);
    along(m, PY_REGISTERS, 0, l->tiles[0], FALSE);
    along(m, PY_WARPS, 1, l->warps[1], FALSE);
    along(m, PY_WARPS, 0, l->warps[0], FALSE);
}

static void operand(Making *m, const PyLayout *l)
{
    const PyLayout *of = l->parent;
    const guint own = l->number ? 1 : 0, deep = 1 - own;
    along(m, PY_REGISTERS, deep, l->width, FALSE);
    along(m, PY_LANES, own, of->block, FALSE);
    along(m, PY_LANES, deep, LANES / of->block, FALSE);
    along(m, PY_REGISTERS, own, of->tiles[own], FALSE);
    along(m, PY_WARPS, 1, of->warps[1], own != 1);
    along(m, PY_WARPS, 0, of->warps[0], own != 0);
}

static void blocked(Making *m, const PyLayout *l)
{
    for (guint i = 0; i < 2; i++)
        along(m, PY_REGISTERS, (guint)l->order[i], l->tiles[l->order[i]], FALSE);
    for (guint i = 0; i < 2; i++)
        along(m, PY_LANES, (guint)l->order[i], l->lanes[l->order[i]], FALSE);
    for (guint i = 0; i < 2; i++)
        along(m, PY_WARPS, (guint)l->order[i], l->warps[l->order[i]], FALSE);
}

static gboolean is_sums(const PyLayout *l)
{
    return l && l->kind == PY_LAYOUT_MFMA && (l->block == 16 || l->block == 32) &&
           is_power(l->tiles[0]) && is_power(l->tiles[1]) && is_power(l->warps[0]) &&
           is_power(l->warps[1]) && l->warps[0] * l->warps[1] == WARPS;
}

static gboolean is_blocked(const PyLayout *l)
{
    for (guint d = 0; d < 2; d++)
        if (!is_power(l->tiles[d]) || !is_power(l->lanes[d]) || !is_power(l->warps[d]))
            return FALSE;
    return l->lanes[0] * l->lanes[1] == LANES && l->warps[0] * l->warps[1] == WARPS &&
           l->order[0] + l->order[1] == 1 && l->order[0] * l->order[1] == 0;
}

static gboolean written_out(const PyLayout *l, gint64 rows, gint64 cols, PyBases *b)
{
    if (l->shape[0] != rows || l->shape[1] != cols || l->n[PY_LANES] != 6 || l->n[PY_WARPS] != 3)
        return FALSE;
    memcpy(b->n, l->n, sizeof b->n);
    memcpy(b->at, l->basis, sizeof b->at);
    for (guint in = 0; in < 3; in++)
        for (guint i = 0; i < b->n[in]; i++)
            if (b->at[in][i].row < 0 || b->at[in][i].row >= rows || b->at[in][i].col < 0 ||
                b->at[in][i].col >= cols)
                return FALSE;
    return TRUE;
}

gboolean py_layout_bases(const PyLayout *l, gint64 rows, gint64 cols, PyBases *b)
{
    memset(b, 0, sizeof *b);
    if (!l || !is_power(rows) || !is_power(cols))
        return FALSE;
    Making m = { .b = b, .next = { 1, 1 }, .extent = { rows, cols } };
    if (l->kind == PY_LAYOUT_BASES)
        return written_out(l, rows, cols, b);
    if (l->kind == PY_LAYOUT_MFMA && is_sums(l))
        sums(&m, l);
    else if (l->kind == PY_LAYOUT_OPERAND && is_sums(l->parent) && is_power(l->width) &&
             (l->number == 0 || l->number == 1))
        operand(&m, l);
    else if (l->kind == PY_LAYOUT_BLOCKED && is_blocked(l))
        blocked(&m, l);
    else
        return FALSE;
    rest(&m);
    return !m.full;
}

/* --- what follows from them ------------------------------------------------------------------- */

/* One number for a place: all of the bits of its row above those of its column. */
static guint64 number(PyBasis at, gint64 cols)
{
    return (guint64)at.row * (guint64)cols + (guint64)at.col;
}

/* The bits that bases move, each with a vector that moves it alone of them. */
typedef struct {
    guint64 of[64];
    guint rank;
} Span;

static void span_add(Span *s, guint64 v)
{
    for (guint i = 0; i < 64; i++)
        if (v >> i & 1 && s->of[i])
            v ^= s->of[i];
    if (!v)
        return;
    const guint own = (guint)__builtin_ctzll(v);
    for (guint i = 0; i < 64; i++)
        if (s->of[i] >> own & 1)
            s->of[i] ^= v;
    s->of[own] = v;
    s->rank++;
}

/* Of all bases but that of warp bit `without` (-1: of all). */
static Span span_of(const PyBases *b, gint64 cols, gint without)
{
    Span s = { .rank = 0 };
    for (guint in = 0; in < 3; in++)
        for (guint i = 0; i < b->n[in]; i++)
            if (in != PY_WARPS || (gint)i != without)
                span_add(&s, number(b->at[in][i], cols));
    return s;
}

static guint rank_of(const PyBases *b, gint64 cols, gint without)
{
    return span_of(b, cols, without).rank;
}

/* The one combination of `n` bits that is 0 all over a span of n - 1 of them. */
static guint64 zero_on(const Span *s, guint n)
{
    guint out = 0;
    while (out < n && s->of[out])
        out++;
    guint64 by = (guint64)1 << out;
    for (guint i = 0; i < n; i++)
        by |= s->of[i] && s->of[i] >> out & 1 ? (guint64)1 << i : 0;
    return by;
}

static guint bits(gint64 n)
{
    return (guint)__builtin_ctzll((guint64)n);
}

#define UPPER 2 /* the bit of a warp that says which half it is of */

/* A tile of one dimension, as one of the other dimension of `parent`. */
static const PyLayout *whole(const PyLayout *l, gint64 *rows, gint64 *cols)
{
    if (!l || l->kind != PY_LAYOUT_SLICE)
        return l;
    const PyLayout *of = l->parent;
    if (of && of->kind == PY_LAYOUT_BASES && *rows == 1)
        *rows = of->shape[0];
    else if (of && of->kind == PY_LAYOUT_BASES && *cols == 1)
        *cols = of->shape[1];
    return of;
}

PyHalves py_layout_halves(const PyLayout *l, gint64 rows, gint64 cols, guint64 *by)
{
    PyBases b;
    const PyLayout *of = whole(l, &rows, &cols);
    *by = 0;
    if (!py_layout_bases(of, rows, cols, &b) || b.n[PY_WARPS] != UPPER + 1)
        return PY_HALVES_UNKNOWN;
    const guint all = bits(rows) + bits(cols);
    if (rank_of(&b, cols, -1) != all)
        return PY_HALVES_UNKNOWN;
    const Span lower = span_of(&b, cols, UPPER);
    if (lower.rank == all)
        return PY_HALVES_BOTH;
    *by = zero_on(&lower, all);
    return *by % (guint64)cols ? PY_HALVES_PLACES : PY_HALVES_ROWS;
}

gboolean py_layout_once(const PyLayout *l, gint64 rows, gint64 cols)
{
    PyBases b;
    if (!py_layout_bases(l, rows, cols, &b))
        return FALSE;
    const guint all = bits(rows) + bits(cols);
    return rank_of(&b, cols, -1) == all && b.n[0] + b.n[1] + b.n[2] == all;
}

gboolean py_layout_deals(const PyLayout *l, gint64 rows, gint64 cols, gint64 piece)
{
    const gint64 pieces = cols > 0 ? rows / 2 * cols / MAX(piece, 1) : 0;
    const gint64 from[] = { pieces, 1, rows / 2 }, to[] = { rows / 2, pieces, rows };
    guint at = 0;
    if (!is_power(rows) || !is_power(cols) || rows < 2 || pieces < 1 || l->shape[0] != rows ||
        l->shape[1] != cols || l->every != piece || cols > piece)
        return FALSE;
    for (gint64 col = 1; col < cols; col *= 2, at++)
        if (at >= l->n[0] || l->basis[0][at].row || l->basis[0][at].col != col)
            return FALSE;
    for (guint part = 0; part < G_N_ELEMENTS(from); part++)
        for (gint64 row = from[part]; row < to[part]; row *= 2, at++)
            if (at >= l->n[0] || l->basis[0][at].col || l->basis[0][at].row != row)
                return FALSE;
    return at == l->n[0];
}

gboolean py_layout_equal(const PyLayout *a, const PyLayout *b)
{
    if (!a || !b || a->kind != b->kind || a->kind == PY_LAYOUT_UNKNOWN)
        return FALSE;
    if (a == b)
        return TRUE;
    if (a->number != b->number || a->width != b->width || a->transposed != b->transposed ||
        a->block != b->block)
        return FALSE;
    if (memcmp(a->warps, b->warps, sizeof a->warps) ||
        memcmp(a->tiles, b->tiles, sizeof a->tiles) ||
        memcmp(a->lanes, b->lanes, sizeof a->lanes) ||
        memcmp(a->order, b->order, sizeof a->order) ||
        memcmp(a->shape, b->shape, sizeof a->shape) || memcmp(a->n, b->n, sizeof a->n) ||
        memcmp(a->basis, b->basis, sizeof a->basis))
        return FALSE;
    return a->parent || b->parent ? py_layout_equal(a->parent, b->parent) : TRUE;
}

static gboolean has(const PyBases *b, PyBasis at)
{
    for (guint i = 0; i < b->n[PY_REGISTERS]; i++)
        if (b->at[PY_REGISTERS][i].row == at.row && b->at[PY_REGISTERS][i].col == at.col)
            return TRUE;
    return FALSE;
}

gboolean py_layout_stays(const PyLayout *a, const PyLayout *b, gint64 rows, gint64 cols)
{
    PyBases x, y;
    if (!py_layout_bases(a, rows, cols, &x) || !py_layout_bases(b, rows, cols, &y) ||
        memcmp(x.n, y.n, sizeof x.n) != 0)
        return FALSE;
    for (guint in = PY_LANES; in <= PY_WARPS; in++)
        if (memcmp(x.at[in], y.at[in], x.n[in] * sizeof *x.at[in]) != 0)
            return FALSE;
    for (guint i = 0; i < x.n[PY_REGISTERS]; i++)
        if (!has(&y, x.at[PY_REGISTERS][i]) || !has(&x, y.at[PY_REGISTERS][i]))
            return FALSE;
    return TRUE;
}

gboolean py_layout_row_in_warp(const PyLayout *l, gint64 rows, gint64 cols)
{
    PyBases b;
    if (!py_layout_bases(l, rows, cols, &b))
        return FALSE;
    for (guint i = 0; i < b.n[PY_WARPS]; i++)
        if (b.at[PY_WARPS][i].col)
            return FALSE;
    return TRUE;
}
