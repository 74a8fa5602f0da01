#include "import/ptx/lanes/lanes.h"

#include <string.h>

/* Which lanes of a warp pass a guard. Only a few lanes are followed (import.c): that those between
 * do the same is asked here, of the text, before. A register is the same in all lanes of every
 * warp, or of all but its first, or a number known in every thread, or mixed: anything else. */

static void def_clear(gpointer data)
{
    g_free(((LanesDef *)data)->v);
    g_free(((LanesDef *)data)->far);
}

static void lanes_free(gpointer data)
{
    Lanes *l = data;
    g_array_unref(l->defs);
    g_hash_table_unref(l->reach);
    g_hash_table_unref(l->unset);
    g_free(l);
}

static gboolean is_register(const PtxLanes *q, const char *name)
{
    return *name == '%' || g_hash_table_contains(q->w->ptx->locals, name);
}

static char *key_of(const WsPtxInst *i, const char *name)
{
    return *name == '%' ? g_strdup(name) : g_strdup_printf("%s#%u", name, i->scope);
}

static Lanes *lanes_of(PtxLanes *q, const WsPtxInst *i, const char *name, gboolean make)
{
    g_autofree char *key = *name == '%' ? g_strdup(name) : g_strdup_printf("%s#%u", name, i->scope);
    Lanes *l = g_hash_table_lookup(q->of, key);
    if (!l && make) {
        l = g_new0(Lanes, 1);
        l->defs = g_array_new(FALSE, TRUE, sizeof(LanesDef));
        g_array_set_clear_func(l->defs, def_clear);
        l->reach = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
        l->unset = g_hash_table_new(NULL, NULL);
        g_hash_table_insert(q->of, g_steal_pointer(&key), l);
    }
    return l;
}

char **ptx_lanes_words(const char *text)
{
    g_autofree char *flat = g_strdup(text);
    return g_strsplit(g_strdelimit(flat, "{}[]()|,+! ", ' '), " ", -1);
}

static LanesDef *def_at(const Lanes *l, guint n)
{
    return &g_array_index(l->defs, LanesDef, n);
}

/* The writes of `l` that lie in instructions first … last, the last one first: into `found`. TRUE:
 * one of them is always made, so that none before it is read. */
static gboolean defs_in(const PtxLanes *q, const Lanes *l, guint first, guint last, GArray *found)
{
    ws_source_works(q->w->p.r, 20 + l->defs->len / 4);
    for (guint n = l->defs->len; n-- > 0;) {
        const guint at = def_at(l, n)->at;
        if (at < first || at > last)
            continue;
        g_array_append_val(found, n);
        if (!ws_ptx_inst(q->w->ptx, at)->guard)
            return TRUE;
    }
    return FALSE;
}

/* Which writes of its register instruction k may read. */
static const GArray *reaching(PtxLanes *q, const Lanes *l, guint k)
{
    GArray *found = g_hash_table_lookup(l->reach, GUINT_TO_POINTER(k));
    if (found)
        return found;
    found = g_array_new(FALSE, FALSE, sizeof(guint));
    g_hash_table_insert(l->reach, GUINT_TO_POINTER(k), found);
    const WsPtx *ptx = q->w->ptx;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(guint));
    const WsPtxBlock *b =
        &g_array_index(ptx->blocks, WsPtxBlock, g_array_index(ptx->block_of, guint, k));
    if (k > b->first && defs_in(q, l, b->first, k - 1, found))
        return found;
    if (!g_array_index(ptx->block_of, guint, k))
        g_hash_table_add(l->unset, GUINT_TO_POINTER(k));
    g_array_append_vals(next, b->before->data, b->before->len);
    for (guint at = 0; at < next->len; at++) {
        const guint one = g_array_index(next, guint, at);
        if (!g_hash_table_add(seen, GUINT_TO_POINTER(one)))
            continue;
        const WsPtxBlock *x = &g_array_index(ptx->blocks, WsPtxBlock, one);
        if (defs_in(q, l, x->first, x->last, found))
            continue;
        if (!one)
            g_hash_table_add(l->unset, GUINT_TO_POINTER(k));
        g_array_append_vals(next, x->before->data, x->before->len);
    }
    return found;
}

static PtxHow one_for_all(const PtxLanes *q, PtxHow how, const gint64 *v)
{
    return how != KNOWN              ? how
           : ptx_lanes_same(q, v, 0) ? SAME
           : ptx_lanes_same(q, v, 1) ? LEADER
                                     : MIXED;
}

static LanesDef *only_def(PtxLanes *q, const Lanes *l, guint k)
{
    const GArray *found = l->defs->len > 1 ? reaching(q, l, k) : NULL;
    return !found            ? def_at(l, 0) /* before it nobody reads it */
           : found->len == 1 ? def_at(l, g_array_index(found, guint, 0))
                             : NULL;
}

/* What a register is where instruction k reads it: what all writes are that may be read there. */
static PtxHow at_use(PtxLanes *q, const Lanes *l, guint k, gint64 *v)
{
    const LanesDef *only = only_def(q, l, k);
    if (only && only->how == KNOWN && only->left < KNOWN) {
        memcpy(v, only->v, q->threads * sizeof *v);
        return KNOWN;
    }
    if (only)
        return only->how == NONE_YET ? NONE_YET
                                     : MAX(only->left, one_for_all(q, only->how, only->v));
    const GArray *found = reaching(q, l, k);
    PtxHow how = NONE_YET;
    for (guint n = 0; n < found->len; n++) {
        const LanesDef *d = def_at(l, g_array_index(found, guint, n));
        if (d->how != NONE_YET)
            how = MAX(how, MAX(MAX(d->apart, d->left), one_for_all(q, d->how, d->v)));
    }
    return how;
}

static const char *const special[] = { "%tid.x", "%laneid", "%tid.y", "%tid.z" };

/* What one operand is. `v`, of every thread, is filled where it is KNOWN. */
PtxHow ptx_lanes_operand(PtxLanes *q, const WsPtxInst *i, const char *name, gint64 *v)
{
    for (guint k = 0; k < G_N_ELEMENTS(special); k++) {
        if (strcmp(name, special[k]))
            continue;
        for (guint t = 0; t < q->threads; t++)
            v[t] = k == 0 ? t : k == 1 ? t % 32 : 0;
        return KNOWN;
    }
    if (g_str_has_prefix(name, "%lanemask") || g_str_has_prefix(name, "%clock") ||
        g_str_has_prefix(name, "%globaltimer"))
        return MIXED;
    if (g_ascii_isdigit(*name) || *name == '-') {
        char *end;
        const gint64 n = g_ascii_strtoll(name, &end, 10);
        if (*end || (*name == '0' && end > name + 1))
            return SAME;
        for (guint t = 0; t < q->threads; t++)
            v[t] = n;
        return KNOWN;
    }
    if (!is_register(q, name))
        return SAME;
    const Lanes *l = lanes_of(q, i, name, FALSE);
    if (!l) /* %ctaid.x; a local one of another scope is not found */
        return *name == '%' ? SAME : MIXED;
    return at_use(q, l, (guint)(i - ws_ptx_inst(q->w->ptx, 0)), v);
}

gboolean ptx_lanes_same(const PtxLanes *q, const gint64 *v, guint first)
{
    for (guint t = 0; t < q->threads; t++)
        if (t % 32 > first && v[t] != v[t / 32 * 32 + first])
            return FALSE;
    return TRUE;
}

/* Is it this number in every thread? */
static gboolean is_number(PtxLanes *q, const WsPtxInst *i, const char *name, gint64 want, gint64 *v,
                          gboolean *later)
{
    const PtxHow how = ptx_lanes_operand(q, i, name, v);
    gboolean all = how == KNOWN;
    for (guint t = 0; t < q->threads && all; t++)
        all = (guint32)v[t] == (guint32)want;
    *later |= how == NONE_YET;
    return all;
}

/* shfl.sync.idx to, from, lane, 31: what one lane has, in all of them. */
static PtxHow handed_on(PtxLanes *q, const WsPtxInst *i, gint64 *one, gint64 *v)
{
    const guint n = q->threads;
    gboolean later = FALSE;
    if (i->n < 4 || !is_number(q, i, i->arg[3], 31, one, &later))
        return later ? NONE_YET : MIXED;
    const PtxHow from = ptx_lanes_operand(q, i, i->arg[1], one),
                 lane = ptx_lanes_operand(q, i, i->arg[2], one + n);
    if (from == NONE_YET || lane == NONE_YET)
        return NONE_YET;
    if (lane != SAME && (lane != KNOWN || !ptx_lanes_same(q, one + n, 0)))
        return MIXED;
    if (from != KNOWN || lane != KNOWN)
        return SAME;
    for (guint t = 0; t < n; t++)
        v[t] = one[t / 32 * 32 + (one[n + t] & 31)];
    return KNOWN;
}

/* What an instruction computes, from all that it reads. */
static PtxHow result(PtxLanes *q, const WsPtxInst *i, gint64 *v)
{
    const guint n = q->threads;
    g_autofree gint64 *one = g_new0(gint64, 3 * n);
    gboolean is_signed = FALSE, same = TRUE, rest = TRUE, known = TRUE;
    const guint op = ptx_lanes_operation(i, &is_signed);
    if (g_str_has_prefix(i->op, "vote") || g_str_has_prefix(i->op, "redux") || i->spin)
        return SAME;
    if (g_str_has_prefix(i->op, "shfl.sync.idx"))
        return handed_on(q, i, one, v);
    if (g_str_has_prefix(i->op, "match") || g_str_has_prefix(i->op, "shfl") ||
        g_str_has_prefix(i->op, "atom") || g_str_has_prefix(i->op, "ldmatrix"))
        return MIXED;
    if (g_str_has_prefix(i->op, "elect")) { /* of its predicate; which lane it is: see pass() */
        for (guint t = 0; t < n; t++)
            v[t] = t % 32 == 0;
        return KNOWN;
    }
    for (guint k = 1; k < i->n; k++) {
        g_auto(GStrv) word = ptx_lanes_words(i->arg[k]);
        known &= !strpbrk(i->arg[k], ",|");
        for (guint j = 0; word[j]; j++) {
            gint64 *at = op < PTX_LANE_OPS && k <= 3 ? one + (k - 1) * n : one;
            if (!*word[j])
                continue;
            const PtxHow how = ptx_lanes_operand(q, i, word[j], at);
            if (how == NONE_YET)
                return NONE_YET; /* comes with the next pass */
            same &= how == SAME || (how == KNOWN && ptx_lanes_same(q, at, 0));
            rest &= how == SAME || how == LEADER || (how == KNOWN && ptx_lanes_same(q, at, 1));
            known &= how == KNOWN;
        }
    }
    known &= op < PTX_LANE_OPS;
    for (guint t = 0; t < n && known; t++)
        known = ptx_lanes_compute(op, is_signed, one[t], one[n + t], one[2 * n + t], &v[t]);
    return known ? KNOWN : same ? SAME : rest ? LEADER : MIXED;
}

/* What instruction k writes to `l`; the last one of a list that names it twice. */
static LanesDef *def_of(const Lanes *l, guint k)
{
    for (guint n = l ? l->defs->len : 0; n-- > 0;)
        if (def_at(l, n)->at == k)
            return def_at(l, n);
    return NULL;
}

LanesDef *ptx_lanes_only(PtxLanes *q, const WsPtxInst *i, const char *name)
{
    const Lanes *l = is_register(q, name) ? lanes_of(q, i, name, FALSE) : NULL;
    LanesDef *d = l ? only_def(q, l, (guint)(i - ws_ptx_inst(q->w->ptx, 0))) : NULL;
    return d && d->left < LEADER ? d : NULL;
}

LanesDef *ptx_lanes_def(PtxLanes *q, const WsPtxInst *i, const char *name)
{
    const Lanes *l = is_register(q, name) ? lanes_of(q, i, name, FALSE) : NULL;
    return l ? def_of(l, (guint)(i - ws_ptx_inst(q->w->ptx, 0))) : NULL;
}

gboolean ptx_lanes_differ(PtxLanes *q, const WsPtxInst *i, const char *name, GHashTable *differ)
{
    static const char *const alike[] = { "%ctaid.x",  "%ctaid.y",  "%ctaid.z", "%nctaid.x",
                                         "%nctaid.y", "%nctaid.z", "%laneid",  "%ntid.x",
                                         "%ntid.y",   "%ntid.z",   NULL };
    if (!is_register(q, name))
        return FALSE; /* a number, or the name of a parameter or an array */
    const Lanes *l = lanes_of(q, i, name, FALSE);
    if (!l)
        return !g_strv_contains(alike, name);
    const guint k = (guint)(i - ws_ptx_inst(q->w->ptx, 0));
    const GArray *found = reaching(q, l, k);
    gboolean differs = !found->len || g_hash_table_contains(l->unset, GUINT_TO_POINTER(k));
    for (guint n = 0; n < found->len; n++)
        differs |= g_hash_table_contains(differ, def_at(l, g_array_index(found, guint, n)));
    return differs;
}

/* What an instruction writes under a predicate that is not the same for all, or as one of two. */
static PtxHow written(PtxLanes *q, const WsPtxInst *i, PtxHow how, const gint64 *v)
{
    g_autofree gint64 *guard = g_new0(gint64, q->threads);
    gboolean rest = FALSE;
    if (i->guard) {
        const PtxHow g = ptx_lanes_operand(q, i, i->guard, guard);
        if (g == MIXED || (g == KNOWN && !ptx_lanes_same(q, guard, 1)))
            return MIXED;
        rest = g == LEADER || (g == KNOWN && !ptx_lanes_same(q, guard, 0));
    }
    if (!i->guard && (!strpbrk(i->arg[0], ",|") || !strncmp(i->op, "elect", 5)))
        return how;
    how = one_for_all(q, how, v);
    return rest && how < LEADER ? LEADER : how;
}

gboolean ptx_lanes_writes(const WsPtxInst *i)
{
    return i->n && *i->arg[0] != '[' && i->target < 0 && strncmp(i->op, "bra", 3) &&
           strncmp(i->op, "bar", 3) && !g_str_has_prefix(i->op, "setmaxnreg");
}

static gboolean pass(PtxLanes *q)
{
    gboolean changed = FALSE;
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        if (!ptx_lanes_writes(i))
            continue;
        if (!ws_source_works(q->w->p.r, 50 + q->threads / 4))
            return FALSE;
        const PtxHow found = result(q, i, v);
        g_auto(GStrv) word = ptx_lanes_words(i->arg[0]);
        for (guint j = 0; word[j]; j++) {
            const Lanes *l =
                *word[j] && is_register(q, word[j]) ? lanes_of(q, i, word[j], FALSE) : NULL;
            LanesDef *d = def_of(l, k);
            const gboolean who = j == 0 && strchr(i->arg[0], '|') && !strncmp(i->op, "elect", 5);
            PtxHow how = !d ? NONE_YET : written(q, i, who ? SAME : found, v);
            if (how == KNOWN && q->kept > PTX_MOST_KEPT)
                how = one_for_all(q, how, v);
            if (!d || how <= d->how)
                continue;
            d->how = how;
            q->kept += how == KNOWN ? q->threads : 0;
            if (how == KNOWN)
                d->v = g_memdup2(v, q->threads * sizeof *v);
            changed = TRUE;
        }
    }
    return changed;
}

static gboolean is_branch(const WsPtxInst *i)
{
    return i->guard && i->target >= 0 && !i->spin;
}

/* Registers that are read from block `from` on. */
static GHashTable *read_behind(PtxLanes *q, gint from)
{
    GHashTable *found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(guint));
    if (from >= 0)
        g_array_append_val(next, from);
    for (guint at = 0; at < next->len; at++) {
        const guint one = g_array_index(next, guint, at);
        if (!g_hash_table_add(seen, GUINT_TO_POINTER(one)))
            continue;
        const WsPtxBlock *x = &g_array_index(q->w->ptx->blocks, WsPtxBlock, one);
        for (guint k = x->first; k <= x->last; k++) {
            const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
            for (guint a = ptx_lanes_writes(i) ? 1 : 0; a <= i->n; a++) {
                const char *text = a < i->n ? i->arg[a] : i->guard;
                g_auto(GStrv) word = ptx_lanes_words(text ? text : "");
                for (guint j = 0; word[j]; j++)
                    if (*word[j] && is_register(q, word[j]))
                        g_hash_table_add(found, key_of(i, word[j]));
            }
        }
        g_array_append_vals(next, x->next->data, x->next->len);
    }
    return found;
}

/* What is written in `blocks`, and read from `join` on, differs between the lanes there. */
static gboolean set_apart(PtxLanes *q, GHashTable *blocks, guint branch, PtxHow how)
{
    const gint join = g_array_index(q->w->ptx->blocks, WsPtxBlock, branch).join;
    const gboolean again = g_hash_table_contains(blocks, GUINT_TO_POINTER(branch));
    gboolean changed = FALSE;
    g_autoptr(GHashTable) behind = read_behind(q, join);
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        if (!ptx_lanes_writes(i) ||
            !g_hash_table_contains(blocks, GUINT_TO_POINTER(ws_ptx_block_of(q->w->ptx, k))))
            continue;
        g_auto(GStrv) word = ptx_lanes_words(i->arg[0]);
        for (guint j = 0; word[j]; j++) {
            g_autofree char *key = key_of(i, word[j]);
            const Lanes *l =
                g_hash_table_contains(behind, key) ? g_hash_table_lookup(q->of, key) : NULL;
            LanesDef *d = def_of(l, k);
            PtxHow *at = !d ? NULL : again ? &d->left : &d->apart;
            if (!at || *at >= how)
                continue;
            *at = how;
            changed = TRUE;
        }
    }
    return changed;
}

/* Branches that only some lanes of a warp take. TRUE: it was not known of one before. */
static gboolean note_branches(PtxLanes *q)
{
    gboolean changed = FALSE;
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    for (guint k = 0; k < q->w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
        const PtxHow how = is_branch(i) ? ptx_lanes_operand(q, i, i->guard, v) : SAME;
        if (how < KNOWN || (how == KNOWN && ptx_lanes_same(q, v, 0)))
            continue;
        if (!ws_source_works(q->w->p.r, 40 * (gint64)q->w->ptx->inst->len))
            return FALSE;
        g_autoptr(GHashTable) blocks = g_hash_table_new(NULL, NULL);
        ptx_lanes_region(q, ws_ptx_block_of(q->w->ptx, k), blocks);
        GHashTableIter it;
        gpointer block;
        g_hash_table_iter_init(&it, blocks);
        while (g_hash_table_iter_next(&it, &block, NULL))
            g_hash_table_add(q->some, block);
        changed |=
            set_apart(q, blocks, ws_ptx_block_of(q->w->ptx, k),
                      how == LEADER || (how == KNOWN && ptx_lanes_same(q, v, 1)) ? LEADER : MIXED);
    }
    return changed;
}

void ptx_lanes_alike(PtxWalk *w)
{
    PtxLanes q = { w,
                   g_hash_table_new_full(g_str_hash, g_str_equal, g_free, lanes_free),
                   (guint)CLAMP(w->ptx->threads, 32, 1024) / 32 * 32,
                   g_hash_table_new(NULL, NULL),
                   g_hash_table_new(NULL, NULL),
                   0 };
    for (guint k = 0; k < w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        g_auto(GStrv) word = ptx_lanes_words(ptx_lanes_writes(i) ? i->arg[0] : "");
        for (guint j = 0; word[j]; j++)
            if (*word[j] && is_register(&q, word[j])) {
                const LanesDef d = { .at = k };
                g_array_append_val(lanes_of(&q, i, word[j], TRUE)->defs, d);
            }
    }
    do { /* what is known only grows: it ends */
        while (pass(&q))
            ;
    } while (note_branches(&q));
    if (!*w->p.r->error)
        ptx_lanes_judge(&q);
    if (!*w->p.r->error)
        ptx_lanes_far(&q);
    if (!*w->p.r->error)
        ptx_lanes_twins(&q);
    g_hash_table_unref(q.of);
    g_hash_table_unref(q.some);
    g_hash_table_unref(q.multiples);
}
