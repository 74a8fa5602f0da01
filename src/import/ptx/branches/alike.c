#include "import/ptx/walk.h"

#include <string.h>

/* A branch by data or a bound of which both ways store to the same bytes (a row of a tensor, or
 * zeros where there is none): whichever way a lane goes, it makes that store, of a value that is
 * not known. */

#define MOST_BLOCKS 4

typedef struct {
    guint block[MOST_BLOCKS], n;
    const WsPtxInst *store;
} Way;

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

static gboolean is_store(const WsPtxInst *i)
{
    return g_str_has_prefix(i->op, "st.shared") && !i->guard && i->n > 1 &&
           g_str_has_prefix(i->arg[0], "[%") && !strstr(i->op, "async") &&
           !strstr(i->op, "cluster");
}

/* One block behind the other, come to by this way alone, that compute and make one store. */
static gboolean way(PtxWalk *w, guint from, guint join, Way *out)
{
    gboolean stores = FALSE;
    *out = (Way){ 0 };
    for (guint b = from; b != join; b = g_array_index(block_at(w, b)->next, guint, 0)) {
        const WsPtxBlock *x = block_at(w, b);
        if (out->n == MOST_BLOCKS || x->next->len != 1 || x->before->len != 1 || x->loop >= 0 ||
            x->aborts || g_hash_table_contains(w->heads, GUINT_TO_POINTER(b)))
            return FALSE;
        out->block[out->n++] = b;
        for (guint k = x->first; k <= x->last; k++) {
            const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
            if (is_store(i) && !out->store)
                out->store = i;
            else if (!ptx_is_quiet(w, i, &stores) || ptx_warp_wide(i) ||
                     g_str_has_prefix(i->op, "setmaxnreg") || ws_ptx_end(w->ptx, i) != PTX_GOES_ON)
                return FALSE;
        }
    }
    return out->store != NULL;
}

/* A number that is stored would be remembered, and is one of two. */
static gboolean of_registers(const WsPtxInst *i)
{
    g_auto(GStrv) word = g_strsplit_set(i->arg[1], "{}, ", -1);
    for (guint k = 0; word[k]; k++)
        if (*word[k] && *word[k] != '%')
            return FALSE;
    return i->n == 2;
}

/* Does an instruction of the way write the register that the address is made of? */
static gboolean moves(const PtxWalk *w, const Way *way, const char *address)
{
    const gsize n = strcspn(address + 1, "+]");
    for (guint b = 0; b < way->n; b++) {
        const WsPtxBlock *x = block_at(w, way->block[b]);
        for (guint k = x->first; k <= x->last; k++) {
            const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
            g_autofree char *name = g_strndup(address + 1, n);
            g_auto(GStrv) word = i->n ? g_strsplit_set(i->arg[0], "{}|, ", -1) : NULL;
            if (i != way->store && word && g_strv_contains((const char *const *)word, name))
                return TRUE;
        }
    }
    return FALSE;
}

static void pass(PtxWalk *w, const Way *way)
{
    for (guint b = 0; b < way->n; b++) {
        const WsPtxBlock *x = block_at(w, way->block[b]);
        for (guint k = x->first; k <= x->last; k++) {
            const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
            if (i != way->store)
                ptx_quiet_passed(w, i);
        }
    }
}

gboolean ptx_alike(PtxWalk *w, const WsPtxInst *branch, guint taken, guint fall, gint join)
{
    const guint number = (guint)(branch - ws_ptx_inst(w->ptx, 0));
    Way one, other;
    if (join < 0 || !g_hash_table_contains(w->mixed, GUINT_TO_POINTER(number)) ||
        !way(w, taken, (guint)join, &one) || !way(w, fall, (guint)join, &other))
        return FALSE;
    const WsPtxInst *a = one.store, *b = other.store;
    if (!of_registers(a) || strcmp(a->op, b->op) != 0 || strcmp(a->arg[0], b->arg[0]) != 0 ||
        a->n != b->n || moves(w, &one, a->arg[0]) || moves(w, &other, a->arg[0]))
        return FALSE;
    pass(w, &one);
    pass(w, &other);
    ptx_forget(w, a->arg[1]);
    ptx_quiet_passed(w, b);
    const gpointer store = GUINT_TO_POINTER((guint)(a - ws_ptx_inst(w->ptx, 0))),
                   far = g_hash_table_lookup(w->far_if, store);
    if (far)
        g_hash_table_insert(w->far_of, store, far);
    g_hash_table_add(w->met, GUINT_TO_POINTER((guint)(b - ws_ptx_inst(w->ptx, 0))));
    ptx_step(w, a);
    return TRUE;
}
