#include "import/ptx/text/ptx.h"

#include "import/import.h"

#include <string.h>

/* Basic blocks, the places where branches meet again, natural loops. */

static WsPtxBlock *block_at(const WsPtx *p, guint i)
{
    return &g_array_index(p->blocks, WsPtxBlock, i);
}

static gboolean is_branch(const WsPtxInst *i)
{
    return g_str_has_prefix(i->op, "bra") && strncmp(i->op, "barr", 4) && !i->spin;
}

static gboolean is_end(const WsPtx *p, const WsPtxInst *i)
{
    return ws_ptx_end(p, i) != PTX_GOES_ON;
}

static gboolean is_table(const WsPtxInst *i)
{
    return g_str_has_prefix(i->op, "brx");
}

/* Does the branch leave the loop around `wait` when its phase is complete, or repeat it when not?
 */
static gboolean repeats(WsPtx *p, guint wait, guint k, gboolean *back)
{
    const WsPtxInst *w = ws_ptx_inst(p, wait), *b = ws_ptx_inst(p, k);
    const gint to = ws_ptx_label(p, b->arg[0], k);
    const gboolean own = b->guard && !strcmp(b->guard, w->arg[0]);
    gboolean straight = to >= 0 && (guint)to <= wait;
    for (guint i = straight ? (guint)to : wait; i < wait && straight;
         i++) /* between label and wait */
        straight = i + 4 > wait && g_str_has_prefix(ws_ptx_inst(p, i)->op, "mov");
    *back = FALSE;
    if (straight && (!b->guard || (own && b->negated)))
        return *back = TRUE;
    return own && !b->negated && to > (gint)k && to <= (gint)k + 3;
}

/* The branches that only repeat a try_wait are none: the wait is one instruction. A try_wait that
 * nothing repeats is no wait: it gives a token. */
static void find_spins(WsPtx *p)
{
    for (guint i = 0; i < p->inst->len; i++) {
        WsPtxInst *wait = ws_ptx_inst(p, i);
        gboolean back = FALSE;
        guint out = 0;
        if ((!strstr(wait->op, "mbarrier.try_wait") && !strstr(wait->op, "mbarrier.test_wait")) ||
            !wait->n)
            continue;
        for (guint k = i + 1; k < MIN(i + 3, p->inst->len) && !back; k++) {
            WsPtxInst *b = ws_ptx_inst(p, k);
            if (!g_str_has_prefix(b->op, "bra") || !b->n || !repeats(p, i, k, &back))
                break;
            if (back && !b->guard && !out)
                back = FALSE; /* it never ends */
            else if (back && out &&
                     ws_ptx_label(p, ws_ptx_inst(p, out)->arg[0], out) != (gint)k + 1)
                back = FALSE; /* what it jumps over nobody comes to */
            else if (!back)
                out = k;
        }
        if (!back)
            continue;
        wait->spin = TRUE;
        for (guint k = i + 1; k < MIN(i + 3, p->inst->len); k++) {
            WsPtxInst *b = ws_ptx_inst(p, k);
            gboolean to_wait;
            if (!g_str_has_prefix(b->op, "bra") || !b->n || !repeats(p, i, k, &to_wait))
                break;
            b->spin = TRUE;
            if (to_wait)
                break;
        }
    }
}

static void resolve_targets(WsPtx *p)
{
    for (guint i = 0; i < p->inst->len; i++) {
        WsPtxInst *b = ws_ptx_inst(p, i);
        if (is_branch(b) && b->n)
            b->target = ws_ptx_label(p, b->arg[0], i);
    }
}

static void link_blocks(WsPtx *p, guint from, gint to_inst)
{
    if (to_inst < 0 || (guint)to_inst >= p->inst->len)
        return;
    const guint to = g_array_index(p->block_of, guint, to_inst);
    g_array_append_val(block_at(p, from)->next, to);
    g_array_append_val(block_at(p, to)->before, from);
}

static void make_blocks(WsPtx *p)
{
    const guint n = p->inst->len;
    g_autofree gboolean *starts = g_new0(gboolean, n + 1);
    starts[0] = TRUE;
    for (guint i = 0; i < n; i++) {
        const WsPtxInst *b = ws_ptx_inst(p, i);
        if (is_branch(b) || is_end(p, b) || is_table(b)) {
            starts[i + 1] = TRUE;
            if (b->target >= 0 && (guint)b->target < n)
                starts[b->target] = TRUE;
        }
        const GPtrArray *table =
            is_table(b) && b->n > 1 ? g_hash_table_lookup(p->tables, b->arg[1]) : NULL;
        for (guint k = 0; table && k < table->len; k++) {
            const gint to = ws_ptx_label(p, g_ptr_array_index(table, k), i);
            if (to >= 0 && (guint)to < n)
                starts[to] = TRUE;
        }
    }
    g_array_set_size(p->block_of, n);
    for (guint i = 0; i < n; i++) {
        if (starts[i]) {
            WsPtxBlock block = { .first = i, .join = -1, .loop = -1 };
            block.next = g_array_new(FALSE, FALSE, sizeof(guint));
            block.before = g_array_new(FALSE, FALSE, sizeof(guint));
            g_array_append_val(p->blocks, block);
        }
        g_array_index(p->block_of, guint, i) = p->blocks->len - 1;
        block_at(p, p->blocks->len - 1)->last = i;
    }
    for (guint k = 0; k < p->blocks->len; k++) {
        const guint last = block_at(p, k)->last;
        const WsPtxInst *b = ws_ptx_inst(p, last);
        if (is_branch(b))
            link_blocks(p, k, b->target);
        const GPtrArray *table =
            is_table(b) && b->n > 1 ? g_hash_table_lookup(p->tables, b->arg[1]) : NULL;
        for (guint t = 0; table && t < table->len; t++)
            link_blocks(p, k, ws_ptx_label(p, g_ptr_array_index(table, t), last));
        if ((!is_branch(b) || b->guard) && (!is_end(p, b) || b->guard) && !is_table(b))
            link_blocks(p, k, (gint)last + 1);
    }
}

/* Blocks in an order in which every block comes after all that lead to it but back edges. */
static GArray *order_of(WsPtx *p)
{
    GArray *order = g_array_new(FALSE, FALSE, sizeof(guint)),
           *stack = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree guint *next = g_new0(guint, p->blocks->len + 1);
    const guint zero = 0;
    g_array_append_val(stack, zero);
    block_at(p, 0)->reached = TRUE;
    while (stack->len) {
        const guint b = g_array_index(stack, guint, stack->len - 1);
        const GArray *to = block_at(p, b)->next;
        if (next[b] < to->len) {
            const guint n = g_array_index(to, guint, next[b]++);
            if (!block_at(p, n)->reached) {
                block_at(p, n)->reached = TRUE;
                g_array_append_val(stack, n);
            }
        } else {
            g_array_append_val(order, b);
            g_array_set_size(stack, stack->len - 1);
        }
    }
    g_array_unref(stack);
    return order; /* postorder */
}

/* Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001). `rank` numbers the nodes so
 * that a dominator has a higher one; node n is the virtual root. */
static gint meet(const gint *idom, const guint *rank, gint a, gint b)
{
    while (a != b) {
        while (rank[a] < rank[b])
            a = idom[a];
        while (rank[b] < rank[a])
            b = idom[b];
    }
    return a;
}

static gint *dominators(const WsPtx *p, const GArray *order)
{
    const guint n = p->blocks->len;
    gint *idom = g_new(gint, n);
    g_autofree guint *rank = g_new0(guint, n);
    for (guint i = 0; i < n; i++)
        idom[i] = -1;
    for (guint i = 0; i < order->len; i++)
        rank[g_array_index(order, guint, i)] = i;
    idom[0] = 0;
    for (gboolean changed = TRUE; changed;) {
        changed = FALSE;
        for (guint i = order->len; i-- > 0;) {
            const guint b = g_array_index(order, guint, i);
            const GArray *before = block_at(p, b)->before;
            gint d = -1;
            for (guint k = 0; b && k < before->len; k++) {
                const gint q = (gint)g_array_index(before, guint, k);
                if (idom[q] >= 0)
                    d = d < 0 ? q : meet(idom, rank, d, q);
            }
            if (b && d != idom[b]) {
                idom[b] = d;
                changed = TRUE;
            }
        }
    }
    return idom;
}

/* Blocks from which every way ends the launch, with nothing on it that others could wait for. */
static void find_aborts(WsPtx *p)
{
    for (gboolean changed = TRUE; changed;) {
        changed = FALSE;
        for (guint k = p->blocks->len; k-- > 0;) {
            WsPtxBlock *b = block_at(p, k);
            const WsPtxInst *last = ws_ptx_inst(p, b->last);
            gboolean aborts =
                b->next->len ? TRUE : ws_ptx_end(p, last) == PTX_ABORTS && !last->guard;
            for (guint i = 0; i < b->next->len && aborts; i++)
                aborts = block_at(p, g_array_index(b->next, guint, i))->aborts;
            for (guint i = b->first; i <= b->last && aborts && !b->aborts; i++)
                aborts = !ws_ptx_inst(p, i)->matters;
            changed |= aborts && !b->aborts;
            b->aborts = aborts;
        }
    }
}

/* Immediate postdominators, the same on the reversed graph; node n stands for the end. Blocks that
 * never reach the end have none; those that end the launch are no way to anywhere. */
static void find_joins(WsPtx *p)
{
    const guint n = p->blocks->len;
    g_autofree gint *idom = g_new(gint, n + 1);
    g_autofree guint *rank = g_new0(guint, n + 1), *at = g_new0(guint, n + 1);
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree gboolean *seen = g_new0(gboolean, n + 1);
    for (guint e = 0; e < n; e++) { /* postorder of the reversed graph from the ends */
        if (block_at(p, e)->next->len || seen[e] || block_at(p, e)->aborts)
            continue;
        g_array_append_val(stack, e);
        seen[e] = TRUE;
        while (stack->len) {
            const guint b = g_array_index(stack, guint, stack->len - 1);
            const GArray *before = block_at(p, b)->before;
            if (at[b] < before->len) {
                const guint q = g_array_index(before, guint, at[b]++);
                if (!seen[q]) {
                    seen[q] = TRUE;
                    g_array_append_val(stack, q);
                }
            } else {
                g_array_append_val(order, b);
                g_array_set_size(stack, stack->len - 1);
            }
        }
    }
    for (guint i = 0; i <= n; i++)
        idom[i] = -1;
    for (guint i = 0; i < order->len; i++)
        rank[g_array_index(order, guint, i)] = i;
    rank[n] = n + 1;
    idom[n] = (gint)n;
    for (gboolean changed = TRUE; changed;) {
        changed = FALSE;
        for (guint i = order->len; i-- > 0;) {
            const guint b = g_array_index(order, guint, i);
            const GArray *next = block_at(p, b)->next;
            gint d = next->len ? -1 : (gint)n;
            for (guint k = 0; k < next->len; k++) {
                const gint q = (gint)g_array_index(next, guint, k);
                if (idom[q] >= 0 && !block_at(p, (guint)q)->aborts)
                    d = d < 0 ? q : meet(idom, rank, d, q);
            }
            if (d != idom[b]) {
                idom[b] = d;
                changed = TRUE;
            }
        }
    }
    for (guint i = 0; i < n; i++)
        block_at(p, i)->join = idom[i] == (gint)n ? -1 : idom[i];
}

static gboolean dominates(const gint *idom, gint a, gint b)
{
    while (b > 0 && b != a)
        b = idom[b];
    return a == b;
}

static WsPtxLoop *loop_of(WsPtx *p, guint head)
{
    WsPtxBlock *h = block_at(p, head);
    if (h->loop < 0) {
        WsPtxLoop loop = { .head = head, .blocks = g_hash_table_new(NULL, NULL) };
        g_hash_table_add(loop.blocks, GUINT_TO_POINTER(head));
        g_array_append_val(p->loops, loop);
        h->loop = (gint)p->loops->len - 1;
    }
    return &g_array_index(p->loops, WsPtxLoop, h->loop);
}

static void fill_loop(WsPtx *p, WsPtxLoop *loop, guint latch)
{
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_append_val(stack, latch);
    while (stack->len) {
        const guint b = g_array_index(stack, guint, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        if (!block_at(p, b)->reached || !g_hash_table_add(loop->blocks, GUINT_TO_POINTER(b)))
            continue;
        loop->dispatch |= is_table(ws_ptx_inst(p, block_at(p, b)->last));
        const GArray *before = block_at(p, b)->before;
        for (guint i = 0; i < before->len; i++)
            g_array_append_val(stack, g_array_index(before, guint, i));
    }
    loop->dispatch |= is_table(ws_ptx_inst(p, block_at(p, loop->head)->last));
}

static gboolean build(WsPtx *p, const char *file, GError **error)
{
    g_array_set_size(p->blocks, 0);
    g_array_set_size(p->loops, 0);
    make_blocks(p);
    if (p->blocks->len > WS_PTX_MAX_BLOCKS) {
        g_set_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_READ,
                    "%s:%u:1: more than %d basic blocks. Import a smaller kernel.", file, p->line,
                    WS_PTX_MAX_BLOCKS);
        return FALSE;
    }
    g_autoptr(GArray) order = order_of(p);
    g_autofree gint *idom = dominators(p, order);
    find_aborts(p);
    find_joins(p);
    for (guint b = 0; b < p->blocks->len; b++) {
        const GArray *next = block_at(p, b)->next;
        for (guint i = 0; block_at(p, b)->reached && i < next->len; i++) {
            const guint h = g_array_index(next, guint, i);
            if (dominates(idom, (gint)h, (gint)b))
                fill_loop(p, loop_of(p, h), b);
        }
    }
    return TRUE;
}

gboolean ws_ptx_flow(WsPtx *p, const char *file, GError **error)
{
    if (!p->inst->len) {
        g_set_error(error, WS_IMPORT_ERROR, WS_IMPORT_ERROR_NOTHING,
                    "%s:%u:1: the kernel is empty. Import a kernel with a body.", file, p->line);
        return FALSE;
    }
    for (guint i = 0; i < p->inst->len; i++)
        p->few_lanes |=
            strstr(ws_ptx_inst(p, i)->op, "matrix.") && !strstr(ws_ptx_inst(p, i)->op, ".x4");
    find_spins(p);
    resolve_targets(p);
    return build(p, file, error) && (!ws_ptx_spins(p) || build(p, file, error));
}
