#include "import/ptx/text/ptx.h"

#include <string.h>

/* Waits as C++ writes them: a loop that tests an mbarrier in its head, does nothing but pass time
 * where the phase is not complete, and is left only where it is. Such a loop is one wait. */

static const WsPtxBlock *block_at(const WsPtx *p, guint b)
{
    return &g_array_index(p->blocks, WsPtxBlock, b);
}

static gboolean starts(const char *op, const char *word)
{
    return g_str_has_prefix(op, word);
}

/* Only its own registers change, or time passes; what lanes exchange is no such thing. */
static gboolean passes_time(const WsPtxInst *i)
{
    static const char *const exchanges[] = { "shfl",  "vote",       "redux",         "match",
                                             "elect", "activemask", "griddepcontrol" };
    for (guint k = 0; k < G_N_ELEMENTS(exchanges); k++)
        if (starts(i->op, exchanges[k]))
            return FALSE;
    if (starts(i->op, "bra"))
        return i->target >= 0;
    return i->law == PTX_LAW_VALUE || starts(i->op, "nanosleep.");
}

static gboolean mentions(const char *list, const char *reg)
{
    const gsize n = strlen(reg);
    for (const char *at = list; (at = strstr(at, reg)); at += n)
        if ((at == list || !ws_ptx_is_name(at[-1])) && !ws_ptx_is_name(at[n]))
            return TRUE;
    return FALSE;
}

static gboolean reads_any(const WsPtxInst *i, const GPtrArray *regs)
{
    const gboolean writes = i->n && *i->arg[0] != '[';
    for (guint r = 0; r < regs->len; r++) {
        if (i->guard && !strcmp(i->guard, g_ptr_array_index(regs, r)))
            return TRUE;
        for (guint k = writes ? 1 : 0; k < i->n; k++)
            if (mentions(i->arg[k], g_ptr_array_index(regs, r)))
                return TRUE;
    }
    return FALSE;
}

/* Is `reg` at the end of the head whether the phase is complete? 1: yes, -1: whether it is not. */
static gint says(const WsPtx *p, guint wait, guint end, const char *reg)
{
    for (guint k = end; k-- > wait + 1;) {
        const WsPtxInst *i = ws_ptx_inst(p, k);
        if (!i->n || !mentions(i->arg[0], reg))
            continue;
        if (i->guard || strcmp(i->arg[0], reg))
            return 0;
        if (starts(i->op, "selp.") && i->n == 4 && !strcmp(i->arg[1], "1") &&
            !strcmp(i->arg[2], "0"))
            return says(p, wait, k, i->arg[3]);
        const gboolean equal = starts(i->op, "setp.eq."), differs = starts(i->op, "setp.ne.");
        if ((equal || differs) && strchr(i->op, '.') == strrchr(i->op, '.') - 3 && i->n == 3 &&
            !strcmp(i->arg[2], "0"))
            return (equal ? -1 : 1) * says(p, wait, k, i->arg[1]);
        return 0;
    }
    return !strcmp(ws_ptx_inst(p, wait)->arg[0], reg);
}

/* The only test of an mbarrier of the loop, which its head makes; -1: it is no such loop. */
static gint only_test(const WsPtx *p, const WsPtxLoop *l, GPtrArray *written)
{
    GHashTableIter it;
    gpointer key;
    gint test = -1;
    g_hash_table_iter_init(&it, l->blocks);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const guint b = GPOINTER_TO_UINT(key);
        const WsPtxBlock *x = block_at(p, b);
        for (guint k = x->first; k <= x->last; k++) {
            const WsPtxInst *i = ws_ptx_inst(p, k);
            const gboolean tests =
                strstr(i->op, "mbarrier.try_wait") || strstr(i->op, "mbarrier.test_wait");
            if (tests ? test >= 0 || b != l->head || i->guard || i->spin || i->n < 3
                      : !passes_time(i))
                return -1;
            test = tests ? (gint)k : test;
            if (b != l->head && i->n && *i->arg[0] != '[' && !starts(i->op, "bra") &&
                !starts(i->op, "nanosleep")) {
                if (strpbrk(i->arg[0], "{|"))
                    return -1;
                g_ptr_array_add(written, (gpointer)i->arg[0]);
            }
        }
        for (guint k = 0; k < x->next->len && b != l->head; k++)
            if (!g_hash_table_contains(l->blocks,
                                       GUINT_TO_POINTER(g_array_index(x->next, guint, k))))
                return -1;
        if (!x->next->len)
            return -1;
    }
    return test;
}

/* What instruction `k` of a head changes, nothing from the head's `first` to it reads: the next
 * round does not find it changed. Several results at once: FALSE. */
static gboolean again_alike(const WsPtx *p, guint first, guint k)
{
    const WsPtxInst *i = ws_ptx_inst(p, k);
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    if (!i->n || *i->arg[0] == '[' || starts(i->op, "bra"))
        return TRUE;
    if (strpbrk(i->arg[0], "{|"))
        return FALSE;
    g_ptr_array_add(own, (gpointer)i->arg[0]);
    for (guint j = first; j <= k; j++)
        if (reads_any(ws_ptx_inst(p, j), own))
            return FALSE;
    return TRUE;
}

static gboolean one_wait(WsPtx *p, const WsPtxLoop *l)
{
    g_autoptr(GPtrArray) written = g_ptr_array_new();
    const WsPtxBlock *head = block_at(p, l->head);
    WsPtxInst *leave = ws_ptx_inst(p, head->last);
    const gint test = only_test(p, l, written);
    if (test < 0 || head->next->len != 2 || !leave->guard || leave->target < 0)
        return FALSE;
    const gboolean stays[] = {
        g_hash_table_contains(l->blocks, GUINT_TO_POINTER(g_array_index(head->next, guint, 0))),
        g_hash_table_contains(l->blocks, GUINT_TO_POINTER(g_array_index(head->next, guint, 1))),
    };
    const gint said = says(p, (guint)test, head->last, leave->guard) * (leave->negated ? -1 : 1);
    if (stays[0] == stays[1] || !said || (said > 0) == stays[0])
        return FALSE;
    for (guint k = head->first; k <= (guint)test; k++)
        if (reads_any(ws_ptx_inst(p, k), written))
            return FALSE; /* the next test is of something else */
    WsPtxInst *wait = ws_ptx_inst(p, (guint)test);
    for (guint k = head->first; k <= head->last; k++) /* … or by what the head changes itself */
        if (k != (guint)test && !again_alike(p, head->first, k))
            return FALSE;
    wait->spin = TRUE;
    if (stays[0]) {
        leave->spin = TRUE;
        leave->target = -1;
    } else {
        leave->guard = NULL;
    }
    g_hash_table_insert(p->spun, GUINT_TO_POINTER((guint)test), g_steal_pointer(&written));
    return TRUE;
}

gboolean ws_ptx_spins(WsPtx *p)
{
    gboolean any = FALSE;
    for (guint i = 0; i < p->loops->len; i++)
        any |= one_wait(p, &g_array_index(p->loops, WsPtxLoop, i));
    return any;
}
