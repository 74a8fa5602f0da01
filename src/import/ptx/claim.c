#include "import/ptx/finish.h"

#include <string.h>

/* Tiles handed out by a counter in global memory: one thread counts, adds how many CTAs there are
 * and stores the number, others load it; whichever a loop over tiles goes on with is `claim` or
 * `take`. Until a loop does, they are a store and loads like any other. */

#define PREFIX "__claim_" /* of names that stand in conditions only */

static Val *new_claim(PtxWalk *w, guint depth)
{
    Val *v = py_val(&w->p, VAL_CLAIM);
    v->depth = depth;
    v->text = ws_source_format(w->p.r, PREFIX "%u_", w->p.serial++);
    return v;
}

gboolean ptx_of_claim(const WsExpr *e)
{
    gboolean found = e && e->op == WS_EXPR_NAME && g_str_has_prefix(e->name, PREFIX);
    for (guint i = 0; e && i < e->n_args && !found; i++)
        found = ptx_of_claim(e->arg[i]);
    return found;
}

/* atom.global.inc.u32 old, [counter], tiles - 1, which begins anew behind the last one, or .add of
 * 1: the count before it. NULL: it counts nothing. */
const Val *ptx_counted(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    const gboolean inc = strstr(i->op, ".inc.u32") != NULL,
                   add = strstr(i->op, ".add.u32") || strstr(i->op, ".add.s32");
    if (!g_str_has_prefix(i->op, "atom.") || !(inc || add) || i->n != 3 ||
        strpbrk(i->arg[0], "{|") || strstr(i->op, ".cta") || strstr(i->op, ".cluster") ||
        strstr(i->op, ".shared") || !ws_x_is(ptx_predicate(w, i), &known))
        return NULL;
    const WsExpr *by = ptx_int(w, i->arg[2]);
    const gsize n = strlen(i->arg[1]);
    g_autofree char *at = n > 2 ? g_strstrip(g_strndup(i->arg[1] + 1, n - 2)) : g_strdup("");
    if (!by || (add && !(ws_x_is(by, &known) && known == 1)) ||
        ptx_operand(w, g_string_chunk_insert(w->p.r->text, at))->kind != VAL_PARAM)
        return NULL;
    Val *v = new_claim(w, 0);
    v->e = inc ? ws_x_op(w->p.r, WS_EXPR_ADD, by, ws_x_int(w->p.r, 1)) : NULL;
    v->index = (gint)(i - ws_ptx_inst(w->ptx, 0));
    return v;
}

/* A tile, as a name in the comparison with how many there are. */
static const WsExpr *tile_name(PtxWalk *w, const Val *v)
{
    return v->kind == VAL_CLAIM && v->depth >= 1                  ? ws_x_name(w->p.r, v->text)
           : v->kind == VAL_INT && !ws_expr_mentions(v->e, PTX_SMEM) ? v->e
                                                                  : NULL;
}

gboolean ptx_claim_number(PtxWalk *w, const WsPtxInst *i)
{
    static const struct {
        const char *text;
        WsExprOp op;
    } table[] = { { "setp.lt.s32", WS_EXPR_LT }, { "setp.gt.s32", WS_EXPR_GT } };
    const Val *a = i->n == 3 && !i->guard ? ptx_operand(w, i->arg[1]) : NULL,
              *b = a ? ptx_operand(w, i->arg[2]) : NULL;
    if (!a || (a->kind == VAL_CLAIM) == (b->kind == VAL_CLAIM))
        return FALSE;
    const Val *claim = a->kind == VAL_CLAIM ? a : b, *grid = claim == a ? b : a;
    if (g_str_has_prefix(i->op, "add.") && !claim->depth && grid->kind == VAL_INT &&
        ws_expr_equal(grid->e, ws_x_name(w->p.r, PY_GRID))) { /* those that every CTA begins with */
        Val *v = new_claim(w, 1);
        v->e = claim->e;
        v->index = claim->index;
        ptx_set(w, i->arg[0], v);
        return TRUE;
    }
    for (guint k = 0; k < G_N_ELEMENTS(table); k++) {
        const WsExpr *x = strcmp(i->op, table[k].text) ? NULL : tile_name(w, a),
                     *y = x ? tile_name(w, b) : NULL;
        if (!y)
            continue;
        ptx_set(w, i->arg[0], py_int(&w->p, ws_x_op(w->p.r, table[k].op, x, y)));
        return TRUE;
    }
    return FALSE;
}

void ptx_claim_stored(PtxWalk *w, const char *text, WsReadStep *s)
{
    const Val *v = ptx_operand(w, text);
    if (v->kind != VAL_CLAIM || v->depth < 1 || v->depth > 2 || s->when)
        return;
    ((Val *)v)->step = v->depth == 1 ? s : NULL; /* what two stores hand on is not read */
    ((Val *)v)->depth = 2;
}

void ptx_claim_loaded(PtxWalk *w, const WsPtxInst *i, WsReadStep *s)
{
    const char *type = strrchr(i->op, '.');
    if (!type || strpbrk(i->arg[0], "{|") || s->when ||
        (strcmp(type, ".b32") && strcmp(type, ".u32") && strcmp(type, ".s32")))
        return;
    Val *v = new_claim(w, 3);
    v->step = s;
    ptx_set(w, i->arg[0], v);
}

gboolean ptx_same_claim(const Val *a, const Val *b)
{
    gint64 d;
    return a && b && a->kind == VAL_CLAIM && b->kind == VAL_CLAIM && a->depth == 3 &&
           b->depth == 3 && a->step->line == b->step->line &&
           ws_x_difference(a->step->buffer.index, b->step->buffer.index, &d) && d == 0;
}

/* "x < tiles" with the next tile as x, by that name. */
static gboolean ends_at(WsRead *r, const WsExpr *left, const char *name, const Val *next,
                        const WsExpr **tiles)
{
    gint64 factor, d;
    *tiles = ws_x_without(r, left, name, FALSE, &factor);
    return factor == -1 && *tiles && !ptx_of_claim(*tiles) &&
           (next->depth == 3 || !next->e || (ws_x_difference(next->e, *tiles, &d) && d == 0));
}

const char *ptx_claims_tiles(PtxWalk *w, PyLoop *l, const GArray *carries, const WsExpr *left)
{
    for (guint i = 0; left && i < carries->len && w->again->op != WS_EXPR_NE; i++) {
        PyCarry *c = &g_array_index(carries, PyCarry, i);
        const WsExpr *tiles;
        if (!c->atom || !c->end || c->end->kind != VAL_CLAIM || c->end->depth < 2 ||
            !c->end->step || c->entry->kind != VAL_INT ||
            !ends_at(w->p.r, left, w->tested_first ? c->atom : c->end->text, c->end, &tiles) ||
            !py_over_tiles(&w->p, l, c->entry->e, tiles, ws_x_name(w->p.r, PY_GRID)) || l->from)
            continue;
        c->atom = NULL;
        return c->name;
    }
    return NULL;
}

void ptx_claim_taken(PtxWalk *w, const char *reg, const WsPtxInst *at)
{
    const Val *v = ptx_operand(w, reg);
    ptx_set(w, reg, py_opaque(&w->p));
    if (w->p.probing)
        return;
    if (v->kind != VAL_CLAIM || v->depth < 2 || !v->step) {
        ptx_lost(w, at, "where the next tile comes from");
        return;
    }
    w->p.r->launch = "dynamic";
    v->step->kind = v->depth == 2 ? WS_READ_CLAIM : WS_READ_TAKE;
    if (v->depth == 2)
        g_hash_table_add(w->counts, GINT_TO_POINTER(v->index));
    ws_source_granted(w->p.r, "the counter of tiles is 0 when the kernel begins");
}

/* --- where they are handed on ----------------------------------------------------------------- */

typedef struct {
    PtxFinish *f;
    gint64 base, stride, n;
} Handed;

static gboolean shares(const Handed *h, gint64 from, gint64 to)
{
    for (gint64 k = 0; k < h->n; k++)
        if (h->base + k * h->stride < to && from < h->base + k * h->stride + 4)
            return TRUE;
    return FALSE;
}

/* Nothing else touches these bytes. */
static void apart(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    const Handed *h = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsPlace *place[2];
    PtxSpot spot;
    for (guint i = 0, n = ptx_places(s, place); i < n; i++) {
        if (place[i]->in_value || !place[i]->index || !ptx_spot(h->f->r, place[i]->index, &spot))
            continue; /* said elsewhere */
        const PtxOperand *o = ptx_operand_of(h->f->w, place[i]);
        for (gint64 k = 0; k < spot.n; k++)
            if (shares(h, spot.base + k * spot.stride + o->from,
                       spot.base + k * spot.stride + MAX(o->to, 16))) {
                ptx_lose_at(h->f, s->line, "bytes through which a claimed tile is handed on");
                return;
            }
    }
}

static void place_claim(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    PtxSpot spot;
    if (s->kind != WS_READ_CLAIM && s->kind != WS_READ_TAKE)
        return;
    if (!s->buffer.index || !ptx_spot(f->r, s->buffer.index, &spot) || spot.per_cta || spot.open ||
        spot.base % 4 || spot.stride % (spot.n > 1 ? 4 : 1)) {
        ptx_lose_at(f, s->line, "a claimed tile that is handed on where it is not known");
        return;
    }
    g_autofree char *name =
        g_strdup_printf("tile_%" G_GINT64_FORMAT "_%" G_GINT64_FORMAT, spot.base, spot.n);
    s->value = -1;
    for (guint i = 0; i < f->r->buffers->len && s->buffer.object < 0; i++)
        if (!strcmp(g_array_index(f->r->buffers, WsReadBuffer, i).name, name))
            s->buffer.object = (gint)i;
    s->buffer.index = spot.n > 1 ? spot.index : NULL;
    if (s->buffer.object >= 0)
        return;
    WsReadBuffer b = { .name = ws_source_name(f->r, name), .dtype = "i32", .line = s->line };
    b.indexed = spot.n > 1;
    if (b.indexed)
        b.shape[b.rank++] = spot.n;
    b.shape[b.rank++] = 1;
    s->buffer.object = (gint)f->r->buffers->len;
    g_array_append_val(f->r->buffers, b);
    const Handed h = { f, spot.base, spot.stride, spot.n };
    ptx_visit(f->r, apart, (gpointer)&h);
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, f->w->inits);
    while (g_hash_table_iter_next(&it, &key, NULL))
        if (shares(&h, (gint64)GPOINTER_TO_SIZE(key), (gint64)GPOINTER_TO_SIZE(key) + 8))
            ptx_lose_at(f, s->line, "bytes of an mbarrier that are used otherwise");
}

/* Loops over tiles that count them beside others that do not. */
static void evenly(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    guint handed = 0;
    if (s->kind != WS_READ_FOR || s->e)
        return;
    for (guint i = 0; i < s->body->len; i++) {
        const WsReadStep *o = g_ptr_array_index(s->body, i);
        handed += !o->off && (o->kind == WS_READ_CLAIM || o->kind == WS_READ_TAKE);
    }
    if (handed != 1)
        ptx_lose_at(f, s->line, "a loop over tiles that does not continue with the claimed ones");
}

void ptx_claims(PtxFinish *f)
{
    if (g_strcmp0(f->r->launch, "dynamic"))
        return;
    ptx_visit(f->r, evenly, f);
    ptx_visit(f->r, place_claim, f);
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, f->w->met);
    while (g_hash_table_iter_next(&it, &key, NULL)) { /* one of them may be of the same counter */
        const WsPtxInst *i = ws_ptx_inst(f->w->ptx, GPOINTER_TO_UINT(key));
        if ((!strncmp(i->op, "atom", 4) || !strncmp(i->op, "red.", 4)) &&
            !g_hash_table_contains(f->w->counts, key))
            ptx_lose_at(f, i->line, "an atomic operation beside the counter of tiles");
    }
}
