#include "import/ptx/lanes/lanes.h"

#include <string.h>

/* Warps that compute the same. Where a layout holds a tile several times, several warps store the
 * same values to the same bytes; which of them comes last does not matter then. That two warps have
 * the same value in a register is asked of the text: everything that it is computed of is the same
 * in both, lane by lane, down to numbers that are known in every thread, what is the same in a CTA,
 * and shared memory at the same addresses (that nothing changes there in between is what the proof
 * says of reads). Both go the same way: all branches that they come to are by the same values. */

/* Instructions whose result follows from their operands alone, up to the first dot. */
static const char *const pure[] = { "abs", "add",  "and", "bfe",  "bfi",   "cnot", "copysign",
                                    "cos", "cvt",  "div", "ex2",  "fma",   "lg2",  "lop3",
                                    "mad", "max",  "min", "mov",  "mul",   "neg",  "not",
                                    "or",  "rcp",  "rem", "prmt", "rsqrt", "selp", "setp",
                                    "shf", "shl",  "shr", "sin",  "sqrt",  "sub",  "tanh",
                                    "xor", "cvta", "fns", "brev", "clz",   "popc", NULL };
/* … and those that read memory, which no thread writes unseen. */
static const char *const reads[] = { "ld.param.", "ld.const.", "ld.shared.", "ldmatrix." };

static gboolean follows(const WsPtxInst *i)
{
    g_autofree char *first = g_strndup(i->op, strcspn(i->op, "."));
    gboolean known = g_strv_contains(pure, first);
    for (guint k = 0; k < G_N_ELEMENTS(reads); k++)
        known |= g_str_has_prefix(i->op, reads[k]);
    return known && !strstr(i->op, "::cluster");
}

static gboolean text_differs(PtxLanes *q, const WsPtxInst *i, const char *text, GHashTable *differ)
{
    gboolean differs = FALSE;
    g_auto(GStrv) word = ptx_lanes_words(text);
    for (guint k = 0; word[k] && !differs; k++)
        differs = *word[k] && ptx_lanes_differ(q, i, word[k], differ);
    return differs;
}

/* What it is computed of, and whether it is, is not the same. */
static gboolean sources_differ(PtxLanes *q, const WsPtxInst *i, GHashTable *differ)
{
    gboolean differs = i->guard && text_differs(q, i, i->guard, differ);
    for (guint k = *i->arg[0] == '[' ? 0 : 1; k < i->n && !differs; k++)
        differs = text_differs(q, i, i->arg[k], differ);
    return differs;
}

static gboolean numbers_differ(const LanesDef *d, guint a, guint b)
{
    return memcmp(d->v + 32 * a, d->v + 32 * b, 32 * sizeof *d->v) != 0;
}

/* All that instruction k writes. TRUE: it was not known before that it differs. */
static gboolean note(PtxLanes *q, const WsPtxInst *i, guint a, guint b, GHashTable *differ)
{
    gboolean changed = FALSE, asked = FALSE, differs = FALSE;
    g_auto(GStrv) word = ptx_lanes_words(i->arg[0]);
    for (guint k = 0; word[k]; k++) {
        LanesDef *d = *word[k] ? ptx_lanes_def(q, i, word[k]) : NULL;
        if (!d || g_hash_table_contains(differ, d))
            continue;
        if (d->how == KNOWN && !i->guard) {
            if (!numbers_differ(d, a, b))
                continue;
        } else {
            if (!asked)
                differs = !follows(i) || sources_differ(q, i, differ);
            asked = TRUE;
            if (!differs)
                continue;
        }
        changed |= g_hash_table_add(differ, d);
    }
    return changed;
}

/* The one way that all lanes of two warps go at the end of a block; -1: it is not known. */
static gint one_way(PtxLanes *q, const WsPtxBlock *x, guint a, guint b)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, x->last);
    if (x->next->len != 2 || !i->guard || i->target < 0 || i->spin)
        return -1;
    g_autofree gint64 *v = g_new0(gint64, q->threads);
    if (ptx_lanes_operand(q, i, i->guard, v) != KNOWN)
        return -1;
    for (guint t = 0; t < 32; t++)
        if (!v[32 * a + t] != !v[32 * a] || !v[32 * b + t] != !v[32 * a])
            return -1;
    const gboolean taken = (v[32 * a] != 0) != i->negated;
    return (gint)g_array_index(x->next, guint, taken ? 0 : 1);
}

/* Instructions that a lane of one of two warps may come to, in their order: number. */
static GArray *theirs(PtxLanes *q, guint a, guint b)
{
    const WsPtx *ptx = q->w->ptx;
    GArray *is = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree gboolean *come = g_new0(gboolean, ptx->blocks->len);
    guint entry = 0;
    g_array_append_val(next, entry);
    for (guint at = 0; at < next->len; at++) {
        const guint one = g_array_index(next, guint, at);
        if (come[one])
            continue;
        come[one] = TRUE;
        const WsPtxBlock *x = &g_array_index(ptx->blocks, WsPtxBlock, one);
        const gint way = one_way(q, x, a, b);
        const guint taken = (guint)MAX(way, 0);
        if (way >= 0)
            g_array_append_val(next, taken);
        else
            g_array_append_vals(next, x->next->data, x->next->len);
    }
    for (guint k = 0; k < ptx->inst->len; k++)
        if (come[g_array_index(ptx->block_of, guint, k)])
            g_array_append_val(is, k);
    return is;
}

/* What differs between two warps: LanesDef*. NULL: they may go different ways. */
static GHashTable *between(PtxLanes *q, guint a, guint b)
{
    g_autoptr(GHashTable) differ = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) all = theirs(q, a, b);
    gboolean changed = TRUE;
    while (changed) { /* what differs only grows: it ends */
        changed = FALSE;
        for (guint k = 0; k < all->len; k++) {
            const WsPtxInst *i = ws_ptx_inst(q->w->ptx, g_array_index(all, guint, k));
            if (!ws_source_works(q->w->p.r, 60))
                return NULL;
            if (ptx_lanes_writes(i))
                changed |= note(q, i, a, b, differ);
        }
    }
    for (guint k = 0; k < all->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(q->w->ptx, g_array_index(all, guint, k));
        const gboolean goes = i->target >= 0 || g_str_has_prefix(i->op, "br") ||
                              ws_ptx_end(q->w->ptx, i) != PTX_GOES_ON;
        if (g_str_has_prefix(i->op, "call") || g_str_has_prefix(i->op, "brx") ||
            (goes && !i->spin && i->guard && text_differs(q, i, i->guard, differ)))
            return NULL;
    }
    return g_steal_pointer(&differ);
}

static const guint32 *far_at(PtxLanes *q, guint k)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
    const gboolean stores = g_str_has_prefix(i->op, "st.shared") || !strncmp(i->op, "stmatrix", 8);
    return stores && !i->guard && *i->arg[0] == '['
               ? g_hash_table_lookup(q->w->far_of, GUINT_TO_POINTER(k))
               : NULL;
}

static void store(PtxLanes *q, guint k, guint a, guint b, GHashTable *differ)
{
    const WsPtxInst *i = ws_ptx_inst(q->w->ptx, k);
    guint8 *twins = g_hash_table_lookup(q->w->twins, GUINT_TO_POINTER(k));
    gboolean differs = FALSE;
    for (guint n = 1; n < i->n && !differs; n++)
        differs = text_differs(q, i, i->arg[n], differ);
    if (differs)
        return;
    if (!twins) {
        twins = g_new(guint8, q->threads / 32);
        for (guint n = 0; n < q->threads / 32; n++)
            twins[n] = (guint8)n;
        g_ptr_array_add(q->w->p.r->pool, twins);
        g_hash_table_insert(q->w->twins, GUINT_TO_POINTER(k), twins);
    }
    if (twins[b] == b)
        twins[b] = twins[a];
}

void ptx_lanes_twins(PtxLanes *q)
{
    const guint warps = q->threads / 32;
    for (guint b = 1; b < warps; b++)
        for (guint a = 0; a < b; a++) {
            g_autoptr(GHashTable) differ = NULL;
            gboolean asked = FALSE;
            for (guint k = 0; k < q->w->ptx->inst->len; k++) {
                const guint32 *far = far_at(q, k);
                if (!far || memcmp(far + 32 * a, far + 32 * b, 32 * sizeof *far))
                    continue;
                if (!asked)
                    differ = between(q, a, b);
                asked = TRUE;
                if (*q->w->p.r->error || !differ)
                    break;
                store(q, k, a, b, differ);
            }
        }
}
