#include "import/ptx/lanes/lanes.h"

#include <string.h>

/* What is said of guards that only some lanes of a warp pass, and of exchanges inside of a warp. */

static gboolean is_branch(const WsPtxInst *i)
{
    return i->guard && i->target >= 0 && !i->spin;
}

gboolean ptx_warp_wide(const WsPtxInst *i)
{
    static const char *const all[] = { "elect.sync", "shfl.sync", "vote.sync", "match.",  "redux.",
                                       "bar.warp",   "mma.sync",  "ldmatrix",  "stmatrix" };
    for (guint k = 0; k < G_N_ELEMENTS(all); k++)
        if (g_str_has_prefix(i->op, all[k]))
            return TRUE;
    return FALSE;
}

/* What lanes of a warp have to agree on: besides what has an effect on the ring, what all of them
 * execute together, and what ends the launch for all. */
static gboolean lanes_matter(const PtxLanes *q, const WsPtxInst *i)
{
    return i->matters || ptx_warp_wide(i) || g_str_has_prefix(i->op, "setmaxnreg") ||
           g_str_has_prefix(i->op, "griddepcontrol") || ws_ptx_end(q->w->ptx, i) == PTX_ABORTS;
}

/* The blocks behind `block` as far as `join`, or to the ends (-1); TRUE: something there matters.
 */
static gboolean lanes_reach(PtxLanes *q, guint block, gint join, GHashTable *into)
{
    const WsPtxBlock *b = &g_array_index(q->w->ptx->blocks, WsPtxBlock, block);
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(guint));
    gboolean matters = FALSE;
    g_array_append_vals(next, b->next->data, b->next->len);
    for (guint at = 0; at < next->len; at++) {
        const guint one = g_array_index(next, guint, at);
        if ((gint)one == join || !g_hash_table_add(seen, GUINT_TO_POINTER(one)))
            continue;
        const WsPtxBlock *x = &g_array_index(q->w->ptx->blocks, WsPtxBlock, one);
        for (guint i = x->first; i <= x->last; i++)
            matters |= lanes_matter(q, ws_ptx_inst(q->w->ptx, i));
        g_hash_table_add(into, GUINT_TO_POINTER(one));
        g_array_append_vals(next, x->next->data, x->next->len);
    }
    return matters;
}

/* The blocks between a branch and where its ways meet; TRUE: something there matters. */
gboolean ptx_lanes_region(PtxLanes *q, guint block, GHashTable *into)
{
    const WsPtxBlock *b = &g_array_index(q->w->ptx->blocks, WsPtxBlock, block);
    return lanes_reach(q, block, b->join, into);
}

/* It waits for the lanes of its mask: that has to be all of them, and all have to come. */
static gboolean all_in_mask(PtxLanes *q, const WsPtxInst *i)
{
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    if (strstr(i->op, "matrix") || g_str_has_prefix(i->op, "mma"))
        return TRUE;
    const char *mask = i->n ? i->arg[i->n - 1] : "";
    if (!g_ascii_strcasecmp(mask, "0xffffffff"))
        return TRUE;
    gboolean all = ptx_lanes_operand(q, i, mask, v) == KNOWN;
    for (guint t = 0; t < q->threads && all; t++)
        all = (guint32)v[t] == G_MAXUINT32;
    return all;
}

static gboolean operand_same(PtxLanes *q, const WsPtxInst *i, gint64 *v)
{
    const PtxHow how = ptx_lanes_operand(q, i, i->guard, v);
    return how == SAME || (how == KNOWN && ptx_lanes_same(q, v, 0));
}

static void judge_warps(PtxLanes *q)
{
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        if (!ptx_warp_wide(i) || strstr(i->op, "matrix")) /* steps that all lanes make: agree.c */
            continue;
        if (!all_in_mask(q, i))
            ptx_lose_line(q->w, i->line,
                          "an exchange inside of a warp of which lanes are left out");
        else if (g_hash_table_contains(q->some, GUINT_TO_POINTER(ws_ptx_block_of(q->w->ptx, k))))
            ptx_lose_line(q->w, i->line,
                          "an exchange inside of a warp in a branch that not all lanes take");
    }
}

static gboolean stores(const WsPtxInst *i)
{
    return !i->matters || (g_str_has_prefix(i->op, "cp.async.bulk") &&
                           (strstr(i->op, ".global.shared::cta") || strstr(i->op, "_group")));
}

/* Do only lanes 0, 1, … of one warp come to it, and what they do is to store tiles, each its own?
 * Then all lanes of that warp are followed: see all_lanes(). */
static gboolean first_lanes_store(PtxLanes *q, guint at, GHashTable *blocks, const gint64 *v)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, at);
    gboolean only = !i->matters || stores(i);
    GHashTableIter it;
    gpointer block;
    g_hash_table_iter_init(&it, blocks);
    while (g_hash_table_iter_next(&it, &block, NULL)) {
        const WsPtxBlock *b =
            &g_array_index(q->w->ptx->blocks, WsPtxBlock, GPOINTER_TO_UINT(block));
        for (guint k = b->first; k <= b->last; k++)
            only &= stores(ws_ptx_inst(q->w->ptx, k)) && !ptx_warp_wide(ws_ptx_inst(q->w->ptx, k));
    }
    /* what a branch guards is what it does not jump over */
    const gboolean past = is_branch(i);
    const WsPtxBlock *from =
        &g_array_index(q->w->ptx->blocks, WsPtxBlock, ws_ptx_block_of(q->w->ptx, at));
    only &= !past || (gint)g_array_index(from->next, guint, 0) == from->join;
    gint warp = -1;
    for (guint t = 0; t < q->threads && only; t++) {
        if ((v[t] != 0) == (i->negated != past))
            continue;
        only = t % 32 == 0 ? warp < 0 : warp == (gint)t / 32 && (v[t - 1] != 0) == (v[t] != 0);
        warp = (gint)t / 32;
    }
    only &= warp >= 0 && (q->w->storing < 0 || q->w->storing == warp);
    if (only)
        q->w->storing = warp;
    return only;
}

/* The last instruction before `at` in its block that writes what stands in brackets there. */
static const WsPtxInst *mapped(const PtxLanes *q, guint first, guint at)
{
    const WsPtxInst *arrive = ws_ptx_inst(q->w->ptx, at), *found = NULL;
    const gsize n = strlen(arrive->arg[1]);
    g_autofree char *name = n > 2 ? g_strndup(arrive->arg[1] + 1, n - 2) : g_strdup("");
    g_strstrip(name);
    for (guint k = first; k < at; k++) {
        const WsPtxInst *x = ws_ptx_inst(q->w->ptx, k);
        if (x->n && !strcmp(x->arg[0], name) && x->scope == arrive->scope)
            found = x;
    }
    return found && g_str_has_prefix(found->op, "mapa") && found->n > 2 ? found : NULL;
}

static gboolean same_for_all(PtxLanes *q, const WsPtxInst *i, const char *name)
{
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    const PtxHow how = ptx_lanes_operand(q, i, name, v);
    return how == SAME || (how == KNOWN && ptx_lanes_same(q, v, 0));
}

/* Does lane n arrive at this barrier of CTA n? */
static gboolean in_cta_of_lane(PtxLanes *q, guint first, guint at, const gboolean *comes)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, at);
    const WsPtxInst *map = i->n > 1 && !i->guard ? mapped(q, first, at) : NULL;
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    if (!map || map->guard || !g_str_has_prefix(i->op, "mbarrier.arrive") ||
        !strstr(i->op, "shared::cluster") || strstr(i->op, "expect_tx") || strstr(i->op, "drop") ||
        !same_for_all(q, map, map->arg[1]) || (i->n > 2 && !same_for_all(q, i, i->arg[2])) ||
        ptx_lanes_operand(q, map, map->arg[2], v) != KNOWN)
        return FALSE;
    for (guint t = 0; t < q->threads; t++)
        if (comes[t] && v[t] != t % 32)
            return FALSE;
    return TRUE;
}

/* Do lanes 0 … C - 1 of some warps come to it, as many as a cluster has CTAs, and only arrive, each
 * in another CTA? Together they do what one lane does that arrives in all of them. */
static gboolean lanes_arrive(PtxLanes *q, guint at, GHashTable *blocks, const gint64 *v)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, at);
    const WsPtxBlock *from =
        &g_array_index(q->w->ptx->blocks, WsPtxBlock, ws_ptx_block_of(q->w->ptx, at));
    const guint ctas = (guint)q->w->ptx->cluster;
    if (ctas < 2 || !is_branch(i) || g_hash_table_size(blocks) != 1 || from->next->len != 2 ||
        (gint)g_array_index(from->next, guint, 0) != from->join)
        return FALSE;
    g_autofree gboolean *comes = g_new0(gboolean, q->threads);
    for (guint t = 0; t < q->threads; t++) {
        comes[t] = (v[t] != 0) == i->negated;
        if (comes[t] != (comes[t / 32 * 32] && t % 32 < ctas))
            return FALSE;
    }
    const guint inside = g_array_index(from->next, guint, 1);
    const WsPtxBlock *b = &g_array_index(q->w->ptx->blocks, WsPtxBlock, inside);
    g_autoptr(GArray) arrivals = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint k = b->first; k <= b->last; k++) {
        const WsPtxInst *x = ws_ptx_inst(q->w->ptx, k);
        if (in_cta_of_lane(q, b->first, k, comes))
            g_array_append_val(arrivals, k);
        else if (x->guard || x->law != PTX_LAW_VALUE || lanes_matter(q, x))
            return FALSE;
    }
    for (guint k = 0; k < arrivals->len; k++)
        g_hash_table_add(q->w->spread, GUINT_TO_POINTER(g_array_index(arrivals, guint, k)));
    return arrivals->len > 0;
}

static gboolean is_plain_store(const WsPtxInst *i)
{
    return g_str_has_prefix(i->op, "st.shared") && !strstr(i->op, "async") &&
           !strstr(i->op, "cluster");
}

/* Do the first lane of a warp, and others, but not the last one, come to it, in every warp the same
 * ones or none, and what they do there that matters is to store? Then the last one that comes is
 * followed, too: see some_lanes(). */
static gboolean lanes_write(PtxLanes *q, guint at, GHashTable *blocks, const gint64 *v)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, at);
    const gboolean past = is_branch(i);
    const WsPtxBlock *from =
        &g_array_index(q->w->ptx->blocks, WsPtxBlock, ws_ptx_block_of(q->w->ptx, at));
    guint32 lanes = 0;
    if (past && (from->next->len != 2 || (gint)g_array_index(from->next, guint, 0) != from->join))
        return FALSE;
    for (guint t = 0; t < q->threads; t += 32) {
        guint32 own = 0;
        for (guint k = 0; k < 32; k++)
            own |= (guint32)((v[t + k] != 0) == (i->negated == past)) << k;
        if (own && lanes && own != lanes)
            return FALSE;
        lanes |= own;
    }
    const guint last = lanes ? g_bit_nth_msf(lanes, 32) : 0;
    if (!(lanes & 1) || last < 1 || last == 31)
        return FALSE;
    g_autoptr(GArray) stores = g_array_new(FALSE, FALSE, sizeof(guint));
    if (!past && is_plain_store(i))
        g_array_append_val(stores, at);
    GHashTableIter it;
    gpointer block;
    g_hash_table_iter_init(&it, blocks);
    while (g_hash_table_iter_next(&it, &block, NULL)) {
        const WsPtxBlock *b =
            &g_array_index(q->w->ptx->blocks, WsPtxBlock, GPOINTER_TO_UINT(block));
        for (guint k = b->first; k <= b->last; k++) {
            const WsPtxInst *x = ws_ptx_inst(q->w->ptx, k);
            if (is_plain_store(x) && !x->guard)
                g_array_append_val(stores, k);
            else if (x->guard || lanes_matter(q, x))
                return FALSE;
        }
    }
    guint many = 0;
    for (guint k = 0; k < 32; k++)
        many += lanes >> k & 1;
    for (guint k = 0; k < stores->len; k++)
        g_hash_table_insert(q->w->partly, GUINT_TO_POINTER(g_array_index(stores, guint, k)),
                            PTX_PARTLY(last, many));
    return stores->len > 0;
}

/* What matters and several lanes of a warp pass, but not all: they are not followed one by one. */
static void judge(PtxLanes *q)
{
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        const PtxEnd end = ws_ptx_end(q->w->ptx, i);
        if (!i->guard || i->spin || !(i->target >= 0 || end != PTX_GOES_ON || lanes_matter(q, i)))
            continue;
        if (ptx_warp_wide(i) && !i->matters && !operand_same(q, i, v)) {
            ptx_lose_line(q->w, i->line, "an exchange inside of a warp under a predicate of lanes");
            continue;
        }
        const PtxHow how = ptx_lanes_operand(q, i, i->guard, v);
        if (how == SAME || how == NONE_YET || how == LEADER ||
            (how == KNOWN && ptx_lanes_same(q, v, 1)))
            continue;
        if (how == MIXED && i->target >= 0)
            g_hash_table_add(q->w->mixed, GUINT_TO_POINTER(k));
        g_autoptr(GHashTable) blocks = g_hash_table_new(NULL, NULL);
        if (is_branch(i) && !ptx_lanes_region(q, ws_ptx_block_of(q->w->ptx, k), blocks))
            continue;
        if (end == PTX_ENDS && !lanes_reach(q, ws_ptx_block_of(q->w->ptx, k), -1, blocks))
            continue; /* they would come to nothing any more */
        if (how == KNOWN && (i->matters || i->target >= 0) &&
            (first_lanes_store(q, k, blocks, v) || lanes_arrive(q, k, blocks, v) ||
             lanes_write(q, k, blocks, v)))
            continue;
        if (how == KNOWN) /* mixed ones are data or bounds: the walk compares these between lanes */
            ptx_lose_line(q->w, i->line, "a guard that several lanes of a warp pass, and not all");
    }
}

void ptx_lanes_judge(PtxLanes *q)
{
    judge(q);
    judge_warps(q);
}
