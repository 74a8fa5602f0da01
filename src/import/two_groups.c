#include "import/alone.h"

#include <string.h>

/* A kernel without partitions whose products more warps share than a warp group has, or whose
 * product has more columns than an instruction: two warp groups do its steps, each with half of the
 * rows or columns of what products add up, and of all that is computed with it; the other values
 * both compute. What copies bring, and what both would write, one of them does. What they hand each
 * other goes through the barriers that the source, or its compiler, has for all threads. Where a
 * step is none of these nothing is changed. */

enum { WARPS = 4, WIDEST = 256, ATOM = 64, HELD = 192 * 32 * WARPS };

typedef struct {
    WsRead *r;
    WsReadGroup *g;
    gboolean rows;      /* they are split, else columns */
    gboolean wide;      /* some product has more columns than an instruction */
    GArray *part_of;    /* guint: by value, one of the values that are split like it */
    gboolean *whole;    /* [values] of such a one: not split */
    gboolean *product;  /* [values] of such a one: products add one of them up */
    guint buffers_from; /* first of the buffers in part_of */
    gboolean wrong;
    const char *barrier;
} Split;

static const WsReadValue *value_of(const Split *x, gint value)
{
    return &g_array_index(x->g->values, WsReadValue, value);
}

static gint64 extent(const Split *x, gint value)
{
    return x->rows ? value_of(x, value)->rows : value_of(x, value)->cols;
}

static guint root(const Split *x, guint i)
{
    while (g_array_index(x->part_of, guint, i) != i)
        i = g_array_index(x->part_of, guint, i);
    return i;
}

static void together(Split *x, guint a, guint b)
{
    g_array_index(x->part_of, guint, root(x, a)) = root(x, b);
}

static gboolean is_split(const Split *x, gint value)
{
    const guint v = root(x, (guint)value);
    return extent(x, value) > 1 && x->product[v] && !x->whole[v];
}

static gint find(const Split *x, const char *name)
{
    for (guint i = 0; i < x->g->values->len; i++)
        if (!strcmp(value_of(x, (gint)i)->name, name))
            return (gint)i;
    return -1;
}

static gboolean names_axis(const Split *x, const char *views)
{
    return views && strstr(views, x->rows ? ".rows" : ".cols") != NULL;
}

/* --- what goes together, and what cannot be split ----------------------------------------------
 */

typedef struct {
    Split *x;
    gint first;
    gboolean reduced;
} Statement;

static void take(Statement *t, gint value)
{
    if (value < 0 || extent(t->x, value) == 1)
        return;
    if (t->reduced)
        t->x->whole[value] = TRUE;
    if (t->first >= 0)
        together(t->x, (guint)value, (guint)t->first);
    t->first = value;
}

static gboolean of_rows(WsFunc f)
{
    static const WsFunc all[] = { WS_FUNC_ROWMAX, WS_FUNC_ROWSUM, WS_FUNC_LANEMAX, WS_FUNC_LANESUM,
                                  WS_FUNC_CUMSUM };
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        if (f == all[i])
            return TRUE;
    return FALSE;
}

static void names(Statement *t, const WsExpr *e)
{
    const gboolean before = t->reduced;
    if (e->op == WS_EXPR_NAME)
        take(t, find(t->x, e->name));
    t->reduced |= !t->x->rows && e->op == WS_EXPR_CALL && of_rows(e->func);
    for (guint i = 0; i < e->n_args; i++)
        names(t, e->arg[i]);
    t->reduced = before;
}

static void look_compute(Split *x, const WsReadStep *s)
{
    g_autoptr(WsStatement) t = s->text ? ws_statement_parse(s->text, NULL) : NULL;
    const gint to = t ? find(x, t->name) : -1;
    if (to < 0) {
        x->wrong = TRUE;
        return;
    }
    Statement all = { .x = x, .first = -1 };
    take(&all, to);
    names(&all, t->value);
}

static void look_mma(Split *x, const WsReadStep *s)
{
    const WsReadValue *v = value_of(x, s->value);
    x->product[s->value] = TRUE;
    x->wide |= v->cols > WIDEST;
    const WsPlace *part = x->rows ? &s->a : &s->b;
    const gint64 half = extent(x, s->value) / 2, least = x->rows ? ATOM : 8;
    const gint64 cols = x->rows ? v->cols : half, rows = x->rows ? half : v->rows;
    /* sums leave registers for what is multiplied; a turned operand is cut at its swizzle's chunks
     */
    const gboolean fits = half % least == 0 && cols <= WIDEST && rows * cols <= HELD &&
                          (!part->transposed || half % ATOM == 0);
    if (!fits || s->text || (!part->in_value && names_axis(x, part->views)) ||
        (part->in_value && part->views && *part->views))
        x->whole[s->value] = TRUE;
    if (!s->a.in_value)
        return;
    if (x->rows)
        together(x, (guint)s->value, (guint)s->a.object);
    else
        x->whole[s->a.object] = TRUE;
}

static void look_move(Split *x, const WsReadStep *s)
{
    const gboolean shared = s->tensor < 0, odd = s->reduce || s->where || s->old || s->expected;
    if (s->cta || s->old || s->expected || (shared && odd))
        x->wrong = TRUE;
    if (s->value < 0 || x->wrong)
        return;
    if (s->where)
        together(x, (guint)s->value, (guint)s->where - 1);
    if (shared) /* what is read back lies as it was written, without a barrier in between */
        together(x, (guint)s->value, x->buffers_from + (guint)s->buffer.object);
    const gboolean part = names_axis(x, s->text) ||
                          (shared && (s->buffer.transposed || names_axis(x, s->buffer.views)));
    if (part || extent(x, s->value) % 2)
        x->whole[s->value] = extent(x, s->value) > 1;
    if (!shared && s->n_coord < (value_of(x, s->value)->cols > 1 && x->rows ? 2 : 1))
        x->wrong = TRUE;
}

/* What tells of a gather's rows counts the threads that make it. */
static gboolean counted(const Split *x, const WsReadStep *s)
{
    const WsReadBarrier *b = s->kind == WS_READ_GATHER && s->barrier.object >= 0
                                 ? &g_array_index(x->r->barriers, WsReadBarrier, s->barrier.object)
                                 : NULL;
    for (gint64 i = 0; b && i < b->copies; i++)
        if (b->count[i] != 32 * x->g->warps)
            return FALSE;
    return TRUE;
}

static void look(Split *x, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len && !x->wrong; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        x->wrong |= !ws_source_alone(s) || !counted(x, s);
        for (guint k = 0; k < s->n_coord; k++)
            x->wrong |= !s->coord[k];
        if (x->wrong)
            return;
        if (s->kind == WS_READ_COMPUTE)
            look_compute(x, s);
        else if (s->kind == WS_READ_MMA)
            look_mma(x, s);
        else if (s->kind == WS_READ_READ || s->kind == WS_READ_WRITE)
            look_move(x, s);
        look(x, s->body);
        look(x, s->other);
    }
}

/* One part of all values that were found to go together. */
static void settle(Split *x)
{
    for (guint i = 0; i < x->g->values->len; i++) {
        const guint at = root(x, i);
        if (extent(x, (gint)i) == 1)
            continue;
        x->whole[at] |= x->whole[i] || extent(x, (gint)i) % 16;
        x->product[at] |= x->product[i];
    }
}

/* Both would write what neither has a part of. */
static gboolean twice(const Split *x, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean writes = s->kind == WS_READ_WRITE && !s->off && s->tensor < 0;
        if ((writes && !is_split(x, s->value)) || twice(x, s->body) || twice(x, s->other))
            return TRUE;
    }
    return FALSE;
}

/* Every product that more warps share, or that is too wide, can be. */
static gboolean products(const Split *x, const GPtrArray *list, gboolean *some)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_MMA && !s->off) {
            const gboolean split = is_split(x, s->value);
            *some |= split;
            if (!split && (x->rows || value_of(x, s->value)->cols > WIDEST))
                return FALSE;
        }
        if (!products(x, s->body, some) || !products(x, s->other, some))
            return FALSE;
    }
    return TRUE;
}

static gboolean has_product(const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == WS_READ_MMA && !s->off) || has_product(s->body) || has_product(s->other))
            return TRUE;
    }
    return FALSE;
}

/* --- the two groups ----------------------------------------------------------------------------
 */

static const WsExpr *replica(const Split *x)
{
    return ws_x_name(x->r, "replica");
}

static const WsExpr *shifted(const Split *x, const WsExpr *e, gint64 half)
{
    return ws_x_op(x->r, WS_EXPR_ADD, e,
                   ws_x_op(x->r, WS_EXPR_MUL, replica(x), ws_x_int(x->r, half)));
}

static const char *part(const Split *x, const char *views, gboolean rows, gint64 half)
{
    return ws_source_format(x->r, "%s.%s(replica*%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")",
                            views ? views : "", rows ? "rows" : "cols", half, half);
}

static void once(const Split *x, WsReadStep *s)
{
    const WsExpr *first = ws_x_op(x->r, WS_EXPR_EQ, replica(x), ws_x_int(x->r, 0));
    s->when = s->when ? ws_x_op(x->r, WS_EXPR_AND, first, s->when) : first;
}

static void split_move(const Split *x, WsReadStep *s)
{
    const WsReadValue *v = value_of(x, s->value);
    const gint64 half = extent(x, s->value) / 2;
    if (s->tensor < 0) {
        s->buffer.views = part(x, s->buffer.views, x->rows, half);
        return;
    }
    const guint at = s->n_coord - (x->rows && v->cols > 1 ? 2 : 1);
    s->coord[at] = shifted(x, s->coord[at], half);
}

/* Each has half of the rows; one has them all where they are too few. */
static void split_gather(Split *x, WsReadStep *s)
{
    const WsReadBuffer *b = &g_array_index(x->r->buffers, WsReadBuffer, s->buffer.object);
    const gint64 rows = b->rank >= 2 ? b->shape[b->rank - 2] : 0;
    const gboolean fits = rows % 16 == 0 && rows > 0 && !(s->buffer.views && *s->buffer.views) &&
                          !s->buffer.transposed;
    WsReadBarrier *told = s->barrier.object >= 0
                              ? &g_array_index(x->r->barriers, WsReadBarrier, s->barrier.object)
                              : NULL;
    if (!fits)
        once(x, s);
    for (guint k = 0; fits && k < s->n_coord; k++)
        s->coord[k] =
            ws_x_replace(x->r, s->coord[k], "row", shifted(x, ws_x_name(x->r, "row"), rows / 2));
    if (fits)
        s->buffer.views = part(x, NULL, TRUE, rows / 2);
    for (gint64 k = 0; told && k < told->copies; k++)
        told->count[k] = 32 * WARPS * (fits ? 2 : 1);
}

static void split_compute(const Split *x, WsReadStep *s)
{
    g_autoptr(WsStatement) t = ws_statement_parse(s->text, NULL);
    const gint to = find(x, t->name);
    const char *place = x->rows ? "row" : "col";
    if (!is_split(x, to) || !ws_expr_mentions(t->value, place))
        return;
    const gint64 half = extent(x, to) / 2;
    const WsExpr *e = ws_x_own(x->r, ws_expr_ref(t->value));
    e = ws_x_replace(x->r, e, place, shifted(x, ws_x_name(x->r, place), half));
    g_autofree char *text = ws_x_text(e);
    s->text = ws_source_format(x->r, "%s = %s", t->name, text);
}

static void split(Split *x, const GPtrArray *list);

static void split_product(const Split *x, WsReadStep *s)
{
    WsPlace *p = x->rows ? &s->a : &s->b;
    if (!p->in_value)
        p->views = part(x, p->views, !p->transposed, extent(x, s->value) / 2);
}

static void split_step(Split *x, WsReadStep *s)
{
    const WsReadKind kind = s->kind;
    const gboolean move = kind == WS_READ_READ || kind == WS_READ_WRITE,
                   by_one = kind == WS_READ_LOAD || kind == WS_READ_STORE || kind == WS_READ_EXPECT;
    const gboolean own = (move || kind == WS_READ_MMA) && is_split(x, s->value);
    if (kind == WS_READ_COMPUTE)
        split_compute(x, s);
    else if (kind == WS_READ_MMA && own)
        split_product(x, s);
    else if (move && own)
        split_move(x, s);
    else if (by_one || kind == WS_READ_WRITE)
        once(x, s);
    else if (kind == WS_READ_GATHER)
        split_gather(x, s);
    else if (kind == WS_READ_SYNC)
        s->name = x->barrier;
    split(x, s->body);
    split(x, s->other);
}

static void split(Split *x, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (!s->off)
            split_step(x, s);
    }
}

static void carry_out(Split *x)
{
    WsReadBarrier all = { .name = ws_source_name(x->r, "all_warps"), .copies = 1, .named = TRUE };
    all.count = g_new0(gint64, 1);
    all.ready = g_new0(gint, 1);
    all.count[0] = 2 * 32 * WARPS;
    g_array_append_val(x->r->barriers, all);
    x->barrier = all.name;
    split(x, x->g->body);
    for (guint i = 0; i < x->g->values->len; i++) {
        WsReadValue *v = &g_array_index(x->g->values, WsReadValue, i);
        if (is_split(x, (gint)i))
            *(x->rows ? &v->rows : &v->cols) /= 2;
    }
    x->g->warps = WARPS;
    x->g->replicate = 2;
    ws_source_granted(
        x->r,
        x->rows
            ? "two warp groups, each with half of the rows of its products, do what its warps do"
            : "two warp groups, each with half of the columns of its products, do what its "
              "warps do");
}

/* Nothing of its products can be split: one warp group does what the eight warps do. */
static void one_group(Split *x, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        WsReadBarrier *told = s->kind == WS_READ_GATHER && !s->off && s->barrier.object >= 0
                                  ? &g_array_index(x->r->barriers, WsReadBarrier, s->barrier.object)
                                  : NULL;
        for (gint64 k = 0; told && k < told->copies; k++)
            told->count[k] = 32 * WARPS;
        one_group(x, s->body);
        one_group(x, s->other);
    }
    if (list != x->g->body)
        return;
    x->g->warps = WARPS;
    ws_source_granted(x->r, "one warp group does what its eight warps do");
}

static gboolean try_axis(WsRead *r, WsReadGroup *g, gboolean rows)
{
    const guint n = g->values->len;
    Split x = { .r = r, .g = g, .rows = rows, .buffers_from = n };
    x.part_of = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < n + r->buffers->len; i++)
        g_array_append_val(x.part_of, i);
    x.whole = g_new0(gboolean, n + r->buffers->len + 1);
    x.product = g_new0(gboolean, n + r->buffers->len + 1);
    look(&x, g->body);
    gboolean some = FALSE, done = FALSE;
    if (!x.wrong && (g->warps == 2 * WARPS || x.wide)) {
        settle(&x);
        done = !r->hints->len && products(&x, g->body, &some) && some && !twice(&x, g->body);
        if (done)
            carry_out(&x);
        else if (!rows && g->warps == 2 * WARPS && has_product(g->body))
            one_group(&x, g->body);
    }
    g_array_unref(x.part_of);
    g_free(x.whole);
    g_free(x.product);
    return done;
}

void ws_source_two_groups(WsRead *r)
{
    WsReadGroup *g = r->groups->len == 1 ? g_ptr_array_index(r->groups, 0) : NULL;
    if (!g || r->cluster > 1 || g->replicate || (g->warps != WARPS && g->warps != 2 * WARPS))
        return;
    if (g->warps != 2 * WARPS || !try_axis(r, g, TRUE))
        try_axis(r, g, FALSE);
}
