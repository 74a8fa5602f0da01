#include "check/global/poly.h"

#include <string.h>

enum {
    CHUNK = 32 * 1024,
    MOST_BYTES = 2 << 20,
    MOST_TERMS = 64,
    MOST_ATOMS = 2000,
    MOST_DEPTH = 24
};

typedef struct Chunk Chunk;
struct Chunk {
    Chunk *next;
    gsize used, size;
};

typedef struct {
    guint atom;
    WsPoly now;
} Mapped;

struct WsPolys {
    Chunk *chunk;
    GPtrArray *atoms; /* WsAtom*, in the arena; 0 is none */
    GArray *mapped;   /* Mapped, of the map that runs */
    gsize bytes;
    gboolean broken;
    guint depth;
};

/* --- arena ----------------------------------------------------------------------------------- */
gpointer ws_polys_alloc(WsPolys *ps, gsize bytes)
{
    bytes = (bytes + 15) & ~(gsize)15;
    if (!ps->chunk || ps->chunk->used + bytes > ps->chunk->size) {
        gsize size = MAX((gsize)CHUNK, bytes);
        ps->bytes += size;
        ps->broken |= ps->bytes > MOST_BYTES;
        Chunk *c = g_malloc(sizeof *c + 16 + size);
        c->next = ps->chunk;
        c->used = 0;
        c->size = size;
        ps->chunk = c;
    }
    char *at = (char *)(((gsize)(ps->chunk + 1) + 15) & ~(gsize)15) + ps->chunk->used;
    ps->chunk->used += bytes;
    return memset(at, 0, bytes);
}

WsPolys *ws_polys_new(void)
{
    WsPolys *ps = g_new0(WsPolys, 1);
    ps->atoms = g_ptr_array_new();
    ps->mapped = g_array_new(FALSE, FALSE, sizeof(Mapped));
    g_ptr_array_add(ps->atoms, NULL);
    return ps;
}

void ws_polys_free(WsPolys *ps)
{
    while (ps->chunk) {
        Chunk *next = ps->chunk->next;
        g_free(ps->chunk);
        ps->chunk = next;
    }
    g_ptr_array_unref(ps->atoms);
    g_array_unref(ps->mapped);
    g_free(ps);
}

const WsAtom *ws_atom(const WsPolys *ps, guint atom)
{
    return ps->atoms->pdata[atom];
}

gboolean ws_polys_broken(const WsPolys *ps)
{
    return ps->broken;
}

/* --- terms ----------------------------------------------------------------------------------- */
static gint compare(const WsMono *a, const WsMono *b)
{
    guint n = MIN(a->n, b->n);
    for (guint i = 0; i < n; i++)
        if (a->atom[i] != b->atom[i])
            return a->atom[i] < b->atom[i] ? -1 : 1;
    return a->n < b->n ? -1 : a->n > b->n;
}

static WsPoly broken(WsPolys *ps)
{
    ps->broken = TRUE;
    return ws_poly_int(ps, 0);
}

WsPoly ws_poly_int(WsPolys *ps, gint64 value)
{
    if (value == 0)
        return (WsPoly){ 0 };
    WsMono *m = ws_polys_alloc(ps, sizeof *m);
    m->factor = value;
    return (WsPoly){ 1, m };
}

WsPoly ws_poly_add(WsPolys *ps, WsPoly a, gint64 factor, WsPoly b)
{
    if (b.n == 0 || factor == 0)
        return a;
    if (a.n + b.n > MOST_TERMS || ps->broken)
        return broken(ps);
    WsMono *out = ws_polys_alloc(ps, (a.n + b.n) * sizeof *out);
    guint n = 0, i = 0, j = 0;
    while (i < a.n || j < b.n) {
        gint order = i == a.n ? 1 : j == b.n ? -1 : compare(&a.mono[i], &b.mono[j]);
        gint64 add = 0;
        if (order >= 0 && __builtin_mul_overflow(factor, b.mono[j].factor, &add))
            return broken(ps);
        out[n] = order <= 0 ? a.mono[i] : b.mono[j];
        if (order > 0)
            out[n].factor = add;
        else if (order == 0 && __builtin_add_overflow(out[n].factor, add, &out[n].factor))
            return broken(ps);
        i += order <= 0;
        j += order >= 0;
        n += out[n].factor != 0;
    }
    return (WsPoly){ n, out };
}

static gboolean multiply(const WsMono *a, const WsMono *b, WsMono *out)
{
    *out = (WsMono){ 0 };
    if (a->n + b->n > WS_POLY_DEGREE || __builtin_mul_overflow(a->factor, b->factor, &out->factor))
        return FALSE;
    for (guint i = 0, j = 0; i < a->n || j < b->n;) {
        gboolean left = j == b->n || (i < a->n && a->atom[i] <= b->atom[j]);
        out->atom[out->n++] = left ? a->atom[i++] : b->atom[j++];
    }
    return TRUE;
}

WsPoly ws_poly_mul(WsPolys *ps, WsPoly a, WsPoly b)
{
    WsPoly sum = { 0 };
    for (guint j = 0; j < b.n; j++) {
        if (b.mono[j].n == 0) {
            sum = ws_poly_add(ps, sum, b.mono[j].factor, a);
            continue;
        }
        for (guint i = 0; i < a.n; i++) {
            WsMono *m = ws_polys_alloc(ps, sizeof *m);
            if (!multiply(&a.mono[i], &b.mono[j], m))
                return broken(ps);
            sum = ws_poly_add(ps, sum, 1, (WsPoly){ 1, m });
        }
    }
    return sum;
}

gboolean ws_poly_is_int(WsPoly a, gint64 *value)
{
    if (a.n > 1 || (a.n == 1 && a.mono[0].n > 0))
        return FALSE;
    *value = a.n ? a.mono[0].factor : 0;
    return TRUE;
}

gint64 ws_poly_constant(WsPoly a)
{
    return a.n && a.mono[0].n == 0 ? a.mono[0].factor : 0;
}

gboolean ws_poly_equal(WsPoly a, WsPoly b)
{
    if (a.n != b.n)
        return FALSE;
    for (guint i = 0; i < a.n; i++)
        if (a.mono[i].factor != b.mono[i].factor || compare(&a.mono[i], &b.mono[i]) != 0)
            return FALSE;
    return TRUE;
}

gboolean ws_poly_is_atom(WsPoly a, guint *atom)
{
    if (a.n != 1 || a.mono[0].n != 1 || a.mono[0].factor != 1)
        return FALSE;
    *atom = a.mono[0].atom[0];
    return TRUE;
}

guint ws_poly_on(const WsPolys *ps, WsPoly a)
{
    guint on = 0;
    for (guint i = 0; i < a.n; i++)
        for (guint k = 0; k < a.mono[i].n; k++)
            on |= ws_atom(ps, a.mono[i].atom[k])->on;
    return on;
}

/* --- atoms ----------------------------------------------------------------------------------- */
static WsPoly of_atom(WsPolys *ps, guint atom)
{
    WsMono *m = ws_polys_alloc(ps, sizeof *m);
    *m = (WsMono){ .factor = 1, .n = 1, .atom = { (guint16)atom } };
    return (WsPoly){ 1, m };
}

static WsPoly make(WsPolys *ps, const WsAtom *like)
{
    for (guint i = 1; i < ps->atoms->len; i++) {
        const WsAtom *a = ps->atoms->pdata[i];
        gboolean same = a->kind == like->kind && a->id == like->id && a->n_args == like->n_args;
        for (guint k = 0; same && k < a->n_args; k++)
            same = ws_poly_equal(a->arg[k], like->arg[k]);
        if (same)
            return of_atom(ps, i);
    }
    if (ps->atoms->len >= MOST_ATOMS)
        return broken(ps);
    WsAtom *a = ws_polys_alloc(ps, sizeof *a);
    *a = *like;
    a->arg = like->n_args ? ws_polys_alloc(ps, like->n_args * sizeof *a->arg) : NULL;
    for (guint k = 0; k < like->n_args; k++) {
        a->arg[k] = like->arg[k];
        a->on |= ws_poly_on(ps, like->arg[k]);
    }
    g_ptr_array_add(ps->atoms, a);
    return of_atom(ps, ps->atoms->len - 1);
}

WsPoly ws_poly_leaf(WsPolys *ps, WsAtomKind kind, gint id, guint on, const WsPoly *extent,
                    const char *name)
{
    const WsAtom like = {
        .kind = kind, .id = id, .on = on, .name = name, .extent = extent ? *extent : (WsPoly){ 0 }
    };
    return make(ps, &like);
}

WsPoly ws_poly_call(WsPolys *ps, gint id, guint on, const char *name, guint n, const WsPoly *arg)
{
    const WsAtom like = {
        .kind = WS_ATOM_CALL, .id = id, .on = on, .name = name, .n_args = n, .arg = (WsPoly *)arg
    };
    return make(ps, &like);
}

static WsPoly pair(WsPolys *ps, WsAtomKind kind, WsPoly a, WsPoly b)
{
    WsPoly arg[2] = { a, b };
    const WsAtom like = { .kind = kind, .n_args = 2, .arg = arg };
    return make(ps, &like);
}

static gint64 floor_div(gint64 a, gint64 b)
{
    gint64 q = a / b;
    return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

/* Parts of a that b, one term, divides. */
static gboolean divides(const WsMono *by, const WsMono *m, WsMono *out)
{
    *out = (WsMono){ 0 };
    if (m->factor % by->factor != 0 || m->factor == G_MININT64)
        return FALSE;
    out->factor = m->factor / by->factor;
    guint k = 0;
    for (guint i = 0; i < m->n; i++)
        if (k < by->n && m->atom[i] == by->atom[k])
            k++;
        else
            out->atom[out->n++] = m->atom[i];
    return k == by->n;
}

gboolean ws_poly_quotient(WsPolys *ps, WsPoly a, WsPoly b, WsPoly *out)
{
    WsPoly sum = { 0 };
    if (b.n != 1)
        return FALSE;
    for (guint i = 0; i < a.n; i++) {
        WsMono *m = ws_polys_alloc(ps, sizeof *m);
        if (!divides(b.mono, &a.mono[i], m))
            return FALSE;
        sum = ws_poly_add(ps, sum, 1, (WsPoly){ 1, m });
    }
    *out = sum;
    return TRUE;
}

/* z lies in 0 .. b - 1: it is a constant below b, or an axis of extent b. */
static gboolean below(const WsPolys *ps, WsPoly z, WsPoly b)
{
    gint64 value, limit;
    guint atom;
    if (ws_poly_is_int(z, &value))
        return value == 0 || (ws_poly_is_int(b, &limit) && value >= 0 && value < limit);
    if (!ws_poly_is_atom(z, &atom))
        return FALSE;
    const WsAtom *x = ws_atom(ps, atom);
    return (x->kind == WS_ATOM_AXIS || x->kind == WS_ATOM_BEFORE || x->kind == WS_ATOM_ROUND) &&
           ws_poly_equal(x->extent, b);
}

WsPoly ws_poly_div(WsPolys *ps, WsPoly a, WsPoly b)
{
    gint64 n = 0, by = 0;
    gboolean number = ws_poly_is_int(b, &by);
    if (number && (by == 0 || by == G_MININT64))
        return broken(ps);
    if (number && by < 0)
        return ws_poly_div(ps, ws_poly_add(ps, (WsPoly){ 0 }, -1, a), ws_poly_int(ps, -by));
    if (number && ws_poly_is_int(a, &n))
        return ws_poly_int(ps, floor_div(n, by));
    /* floor((b*y + z)/b) = y + floor(z/b) */
    WsPoly y = { 0 }, z = { 0 };
    for (guint i = 0; i < a.n; i++) {
        WsMono *m = ws_polys_alloc(ps, sizeof *m);
        WsPoly whole = { 1, &a.mono[i] };
        if (b.n == 1 && divides(b.mono, &a.mono[i], m)) {
            y = ws_poly_add(ps, y, 1, (WsPoly){ 1, m });
        } else if (number && a.mono[i].n == 0) {
            y = ws_poly_add(ps, y, 1, ws_poly_int(ps, floor_div(a.mono[i].factor, by)));
            gint64 rest = a.mono[i].factor - by * floor_div(a.mono[i].factor, by);
            z = ws_poly_add(ps, z, 1, ws_poly_int(ps, rest));
        } else {
            z = ws_poly_add(ps, z, 1, whole);
        }
    }
    if (below(ps, z, b))
        return y;
    guint atom;
    /* floor(floor(x/c)/b) = floor(x/(c*b)) for b > 0 */
    if (number && ws_poly_is_atom(z, &atom) && ws_atom(ps, atom)->kind == WS_ATOM_DIV) {
        const WsAtom *inner = ws_atom(ps, atom);
        return ws_poly_add(ps, y, 1,
                           ws_poly_div(ps, inner->arg[0], ws_poly_mul(ps, inner->arg[1], b)));
    }
    return ws_poly_add(ps, y, 1, pair(ps, WS_ATOM_DIV, z, b));
}

WsPoly ws_poly_negative(WsPolys *ps, WsPoly a)
{
    gint64 value;
    if (ws_poly_is_int(a, &value))
        return ws_poly_int(ps, value < 0);
    gint64 constant = ws_poly_constant(a);
    if (constant == G_MININT64)
        return broken(ps);
    WsPoly p = ws_poly_add(ps, a, -1, ws_poly_int(ps, constant));
    /* p + constant < 0, with the first factor of p above 0: p < -constant, or -p >= constant + 1 */
    if (p.mono[0].factor > 0)
        return pair(ps, WS_ATOM_LESS, p, ws_poly_int(ps, -constant));
    WsPoly flipped = ws_poly_add(ps, (WsPoly){ 0 }, -1, p);
    WsPoly less = pair(ps, WS_ATOM_LESS, flipped, ws_poly_int(ps, constant + 1));
    return ws_poly_add(ps, ws_poly_int(ps, 1), -1, less);
}

WsPoly ws_poly_least(WsPolys *ps, gboolean largest, WsPoly a, WsPoly b)
{
    gint64 d;
    if (ws_poly_is_int(ws_poly_add(ps, a, -1, b), &d))
        return (d > 0) == largest ? a : b;
    return pair(ps, largest ? WS_ATOM_MAX : WS_ATOM_MIN, a, b);
}

/* --- inside ---------------------------------------------------------------------------------- */
/* Atoms share what they hold: without a note of those seen the way through them grows with every
 * level. */
static void visit_new(const WsPolys *ps, WsPoly a, WsPolyVisit visit, gpointer data, guint8 *seen)
{
    for (guint i = 0; i < a.n; i++)
        for (guint k = 0; k < a.mono[i].n; k++) {
            const guint atom = a.mono[i].atom[k];
            const WsAtom *x = ws_atom(ps, atom);
            if (seen[atom / 8] & 1u << atom % 8)
                continue;
            seen[atom / 8] |= (guint8)(1u << atom % 8);
            visit(data, atom);
            for (guint j = 0; j < x->n_args; j++)
                visit_new(ps, x->arg[j], visit, data, seen);
        }
}

void ws_poly_visit(const WsPolys *ps, WsPoly a, WsPolyVisit visit, gpointer data)
{
    guint8 seen[MOST_ATOMS / 8 + 1] = { 0 };
    visit_new(ps, a, visit, data, seen);
}

typedef struct {
    guint atom;
    gboolean found;
} Search;

static void look(gpointer data, guint atom)
{
    Search *s = data;
    s->found |= s->atom == atom;
}

gboolean ws_poly_has(const WsPolys *ps, WsPoly a, guint atom)
{
    Search s = { atom, FALSE };
    ws_poly_visit(ps, a, look, &s);
    return s.found;
}

gboolean ws_poly_linear(WsPolys *ps, WsPoly a, guint atom, WsPoly *factor, WsPoly *rest)
{
    *factor = *rest = (WsPoly){ 0 };
    for (guint i = 0; i < a.n; i++) {
        guint times = 0;
        for (guint k = 0; k < a.mono[i].n; k++)
            times += a.mono[i].atom[k] == atom;
        if (times > 1)
            return FALSE;
        WsMono *m = ws_polys_alloc(ps, sizeof *m);
        *m = a.mono[i];
        if (times) {
            m->n = 0;
            for (guint k = 0; k < a.mono[i].n; k++)
                if (a.mono[i].atom[k] != atom)
                    m->atom[m->n++] = a.mono[i].atom[k];
            for (guint k = m->n; k < WS_POLY_DEGREE; k++)
                m->atom[k] = 0;
        }
        WsPoly *to = times ? factor : rest;
        *to = ws_poly_add(ps, *to, 1, (WsPoly){ 1, m });
    }
    return !ws_poly_has(ps, *factor, atom) && !ws_poly_has(ps, *rest, atom);
}

static WsPoly map_inside(WsPolys *ps, guint index, WsPolyMap map, gpointer data);

static WsPoly map_atom(WsPolys *ps, guint index, WsPolyMap map, gpointer data)
{
    WsPoly out;
    if (map(data, index, &out))
        return out;
    if (ws_atom(ps, index)->n_args == 0)
        return of_atom(ps, index);
    for (guint i = 0; i < ps->mapped->len; i++)
        if (g_array_index(ps->mapped, Mapped, i).atom == index)
            return g_array_index(ps->mapped, Mapped, i).now;
    const Mapped m = { index, map_inside(ps, index, map, data) };
    g_array_append_val(ps->mapped, m);
    return m.now;
}

static WsPoly map_inside(WsPolys *ps, guint index, WsPolyMap map, gpointer data)
{
    const WsAtom *x = ws_atom(ps, index);
    WsPoly arg[8];
    gboolean changed = FALSE;
    for (guint k = 0; k < MIN(x->n_args, G_N_ELEMENTS(arg)); k++) {
        arg[k] = ws_poly_map(ps, x->arg[k], map, data);
        changed |= !ws_poly_equal(arg[k], x->arg[k]);
    }
    if (!changed)
        return of_atom(ps, index);
    gint64 zero;
    switch (x->kind) {
    case WS_ATOM_DIV:
        return ws_poly_is_int(arg[1], &zero) && zero == 0 ? broken(ps)
                                                          : ws_poly_div(ps, arg[0], arg[1]);
    case WS_ATOM_LESS:
        return ws_poly_negative(ps, ws_poly_add(ps, arg[0], -1, arg[1]));
    case WS_ATOM_MIN:
    case WS_ATOM_MAX:
        return ws_poly_least(ps, x->kind == WS_ATOM_MAX, arg[0], arg[1]);
    case WS_ATOM_AXIS:
    case WS_ATOM_BEFORE:
    case WS_ATOM_CALL:
    case WS_ATOM_POSITION:
    case WS_ATOM_ROUND:
    case WS_ATOM_SIZE:
    case WS_ATOM_TILES:
    case WS_ATOM_VALUE:
    default:
        /* what its arguments no longer hang on stays noted: the answer only gets more careful */
        return ws_poly_call(ps, x->id, x->on, x->name, x->n_args, arg);
    }
}

WsPoly ws_poly_map(WsPolys *ps, WsPoly a, WsPolyMap map, gpointer data)
{
    if (ps->depth >= MOST_DEPTH || ps->broken)
        return broken(ps);
    if (ps->depth == 0)
        g_array_set_size(ps->mapped, 0); /* what this map has made of atoms with arguments */
    ps->depth++;
    WsPoly sum = { 0 };
    for (guint i = 0; i < a.n; i++) {
        WsPoly product = ws_poly_int(ps, a.mono[i].factor);
        for (guint k = 0; k < a.mono[i].n; k++)
            product = ws_poly_mul(ps, product, map_atom(ps, a.mono[i].atom[k], map, data));
        sum = ws_poly_add(ps, sum, 1, product);
    }
    ps->depth--;
    return sum;
}

typedef struct {
    guint atom;
    WsPoly with;
} Replace;

static gboolean replaced(gpointer data, guint atom, WsPoly *out)
{
    const Replace *r = data;
    *out = r->with;
    return atom == r->atom;
}

WsPoly ws_poly_replace(WsPolys *ps, WsPoly a, guint atom, WsPoly with)
{
    Replace r = { atom, with };
    return ws_poly_has(ps, a, atom) ? ws_poly_map(ps, a, replaced, &r) : a;
}

/* --- text ------------------------------------------------------------------------------------ */
enum { MOST_TEXT = 240 };

static void put_poly(const WsPolys *ps, GString *s, WsPoly a);

static void put_atom(const WsPolys *ps, GString *s, const WsAtom *x)
{
    const gboolean infix = x->kind == WS_ATOM_DIV || x->kind == WS_ATOM_LESS;
    const char *between = x->kind == WS_ATOM_DIV ? "/" : x->kind == WS_ATOM_LESS ? " < " : ", ";
    if (!infix)
        g_string_append(s, x->kind == WS_ATOM_MIN   ? "min"
                           : x->kind == WS_ATOM_MAX ? "max"
                           : x->name                ? x->name
                                                    : "?");
    if (x->n_args == 0)
        return;
    g_string_append_c(s, '(');
    for (guint k = 0; k < x->n_args; k++) {
        const gboolean sum = infix && x->arg[k].n > 1;
        g_string_append_printf(s, "%s%s", k ? between : "", sum ? "(" : "");
        put_poly(ps, s, x->arg[k]);
        g_string_append(s, sum ? ")" : "");
    }
    g_string_append_c(s, ')');
}

static void put_poly(const WsPolys *ps, GString *s, WsPoly a)
{
    if (a.n == 0)
        g_string_append_c(s, '0');
    for (guint j = 0; j < a.n && s->len < MOST_TEXT; j++) {
        /* the constant comes last */
        const WsMono *m = &a.mono[a.mono[0].n == 0 ? (j + 1) % a.n : j];
        const gint64 f = m->factor;
        g_string_append(s, j == 0 ? (f < 0 ? "-" : "") : f < 0 ? " - " : " + ");
        const guint64 size = f < 0 ? -(guint64)f : (guint64)f;
        if (size != 1 || m->n == 0)
            g_string_append_printf(s, "%" G_GUINT64_FORMAT "%s", size, m->n ? "*" : "");
        for (guint k = 0; k < m->n && s->len < MOST_TEXT; k++) {
            if (k)
                g_string_append_c(s, '*');
            put_atom(ps, s, ws_atom(ps, m->atom[k]));
        }
    }
}

char *ws_poly_text(const WsPolys *ps, WsPoly a)
{
    GString *s = g_string_new(NULL);
    put_poly(ps, s, a);
    if (s->len >= MOST_TEXT) {
        const char *end = g_utf8_find_prev_char(s->str, s->str + MOST_TEXT);
        g_string_truncate(s, (gsize)(end - s->str));
        g_string_append(s, "…");
    }
    return g_string_free(s, FALSE);
}
