#include "import/ptx_walk.h"

#include <string.h>

/* Synchronisation, copies and products. Addresses stay expressions until all threads were walked:
 * a step's place holds the address in `index` and object -1. */

const WsExpr *ptx_predicate(PtxWalk *w, const WsPtxInst *i)
{
    if (!i->guard)
        return ws_x_int(w->p.r, 1);
    const WsExpr *e = ptx_int(w, i->guard);
    return i->negated ? ws_x_op(w->p.r, WS_EXPR_NOT, e, NULL) : e;
}

WsReadStep *ptx_new_step(PtxWalk *w, WsReadKind kind, const WsPtxInst *i)
{
    gint64 known;
    WsReadStep *s = ws_source_step(w->p.r, w->p.to, kind, i->line, 1, i->line);
    const WsExpr *guard = ptx_predicate(w, i);
    if (!ws_x_is(guard, &known))
        s->when = guard;
    return s;
}

void ptx_unread(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    if (w->p.probing)
        return;
    const WsRead *r = w->p.r;
    ws_source_unread(w->p.r, i->line, 1, i->line, what,
                     i->line && i->line <= r->n_lines ? r->line[i->line - 1] : "");
}

static void opaque(PtxWalk *w, const WsPtxInst *i, const char *what)
{
    ptx_new_step(w, WS_READ_OPAQUE, i);
    ptx_unread(w, i, what);
}

/* "[%r1+8]": the address, without the beginning of shared memory. */
static const WsExpr *address(PtxWalk *w, const char *text)
{
    const gsize n = strlen(text);
    if (n < 3 || *text != '[')
        return NULL;
    g_autofree char *inner = g_strndup(text + 1, n - 2);
    g_auto(GStrv) part = g_strsplit(inner, "+", 2);
    g_strstrip(part[0]);
    gint64 offset = part[1] ? g_ascii_strtoll(part[1], NULL, 10) : 0, factor;
    const WsExpr *e = ptx_int(w, g_string_chunk_insert(w->p.r->text, part[0]));
    e = ws_x_op(w->p.r, WS_EXPR_ADD, e, ws_x_int(w->p.r, offset));
    if (!e)
        return NULL;
    e = ws_x_without(w->p.r, e, PTX_SMEM, FALSE, &factor);
    return factor == 1 ? ptx_ring_form(w->p.r, e) : NULL;
}

/* --- barriers
 * ---------------------------------------------------------------------------------------*/

static void init(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at, count;
    if (i->n < 2 || !ws_x_is(address(w, i->arg[0]), &at) ||
        !ws_x_is(ptx_int(w, i->arg[1]), &count)) {
        ptx_unread(w, i, "the initialisation of an mbarrier whose address is no number");
        return;
    }
    g_hash_table_insert(w->inits, GSIZE_TO_POINTER((gsize)at), GSIZE_TO_POINTER((gsize)count));
}

static WsReadStep *at_barrier(PtxWalk *w, WsReadKind kind, const WsPtxInst *i, const char *where)
{
    const WsExpr *e = address(w, where);
    if (!e) {
        opaque(w, i, "an mbarrier whose address is no affine expression");
        return NULL;
    }
    WsReadStep *s = ptx_new_step(w, kind, i);
    s->barrier.index = e;
    s->n = 1;
    return s;
}

static void barrier(PtxWalk *w, const WsPtxInst *i)
{
    if (strstr(i->op, "mbarrier.init")) {
        init(w, i);
    } else if (strstr(i->op, "_wait")) {
        const WsExpr *parity = i->n > 2 ? ptx_int(w, i->arg[2]) : NULL;
        WsReadStep *s =
            parity && strstr(i->op, ".parity") ? at_barrier(w, WS_READ_WAIT, i, i->arg[1]) : NULL;
        w->waits = TRUE;
        if (s)
            s->parity = ws_x_mod(w->p.r, parity, 2);
        else if (!parity)
            opaque(w, i, "a wait whose parity is no affine expression");
    } else if (strstr(i->op, "expect_tx")) {
        const guint at = strstr(i->op, "mbarrier.arrive") ? 1 : 0;
        gint64 bytes;
        if (i->n < at + 2 || !ws_x_is(ptx_int(w, i->arg[at + 1]), &bytes))
            opaque(w, i, "an expect whose number of bytes is no number");
        else {
            WsReadStep *s = at_barrier(w, WS_READ_EXPECT, i, i->arg[at]);
            if (s)
                s->n = bytes;
        }
    } else if (strstr(i->op, "mbarrier.arrive") && i->n > 1 && !strstr(i->op, "shared::cluster")) {
        WsReadStep *s = at_barrier(w, WS_READ_ARRIVE, i, i->arg[1]);
        if (s && i->n > 2 && !ws_x_is(ptx_int(w, i->arg[2]), &s->n))
            s->n = 1;
    } else if (!strstr(i->op, "inval")) {
        opaque(w, i, "an operation on an mbarrier");
    }
}

/* bar.sync id, n: of the group alone, of the CTA, or named. */
static void named(PtxWalk *w, const WsPtxInst *i)
{
    gint64 id = 0, n = w->ptx->threads;
    if (!i->n || !ws_x_is(ptx_int(w, i->arg[0]), &id) ||
        (i->n > 1 && !ws_x_is(ptx_int(w, i->arg[1]), &n))) {
        opaque(w, i, "a barrier whose number is not known");
        return;
    }
    const gboolean sync = !strstr(i->op, "arrive");
    if (n == w->ptx->threads) { /* all threads: what opens and closes the roles, outside of loops */
        if (w->p.loops->len)
            ptx_new_step(w, WS_READ_SYNC, i)->name = "cta";
        return;
    }
    if (sync && n <= 128) {
        ptx_new_step(w, WS_READ_SYNC, i)->name = "group";
        return;
    }
    WsReadStep *s = ptx_new_step(w, sync ? WS_READ_SYNC : WS_READ_BAR_ARRIVE, i);
    s->name = ws_source_format(w->p.r, "bar_%d", (int)id);
    s->n = n;
}

/* --- copies
 * -----------------------------------------------------------------------------------------*/

/* "[%rd1, {%r1, %r2}]": tensor and coordinates, innermost last. */
static gboolean tensor_of(PtxWalk *w, WsReadStep *s, const char *text)
{
    PyRead *p = &w->p;
    g_autofree char *inner = g_strdup(text + 1);
    g_strdelimit(inner, "[]{}", ' ');
    g_auto(GStrv) word = g_strsplit(inner, ",", -1);
    const guint n = g_strv_length(word);
    if (n < 2 || n > 6)
        return FALSE;
    g_strstrip(word[0]);
    const Val *map = ptx_operand(w, g_string_chunk_insert(p->r->text, word[0]));
    s->tensor = py_tensor(p, map, n - 1, 0);
    if (s->tensor < 0)
        return FALSE;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    t->rank = n - 1;
    s->n_coord = n - 1;
    for (guint i = 1; i < n; i++) {
        g_strstrip(word[i]);
        const WsExpr *e = ptx_int(w, g_string_chunk_insert(p->r->text, word[i]));
        s->coord[n - 1 - i] = e ? ptx_ring_form(p->r, e) : NULL;
        if (!e)
            return FALSE;
    }
    return TRUE;
}

static void bulk(PtxWalk *w, const WsPtxInst *i)
{
    gint64 n;
    if (strstr(i->op, "commit_group") || strstr(i->op, "prefetch"))
        return;
    if (strstr(i->op, "wait_group")) {
        WsReadStep *s = ptx_new_step(w, WS_READ_STORE_WAIT, i);
        s->n = i->n && ws_x_is(ptx_int(w, i->arg[0]), &n) ? n : 0;
        s->flag = !strstr(i->op, ".read");
        return;
    }
    const gboolean load =
        strstr(i->op, ".shared::cluster.global") || strstr(i->op, ".shared::cta.global");
    const gboolean store = strstr(i->op, ".global.shared::cta") != NULL;
    if (!strstr(i->op, ".tensor") || strstr(i->op, "multicast") || (!load && !store) ||
        i->n < (load ? 3 : 2)) {
        opaque(w, i, "a bulk copy that is no plain tile of a tensor");
        return;
    }
    WsReadStep *s = ptx_new_step(w, load ? WS_READ_LOAD : WS_READ_STORE, i);
    s->buffer.index = address(w, i->arg[load ? 0 : 1]);
    if (load)
        s->barrier.index = address(w, i->arg[2]);
    if (!s->buffer.index || (load && !s->barrier.index) || !tensor_of(w, s, i->arg[load ? 1 : 0])) {
        s->off = TRUE;
        opaque(w, i, "a copy whose addresses or coordinates are not known");
    }
}

/* --- products
 * ---------------------------------------------------------------------------------------*/

static const char *accumulator_of(PtxWalk *w, const char *list)
{
    const char *start = list + strspn(list, "{ ");
    return g_string_chunk_insert_len(w->p.r->text, start, (gssize)strcspn(start, ",} "));
}

static void product(PtxWalk *w, const WsPtxInst *i)
{
    const char *shape = strstr(i->op, ".m64n");
    PtxMma m = { .line = i->line };
    if (!shape || i->n < 4) {
        opaque(w, i, "a product of a shape that is not known");
        return;
    }
    char *end;
    m.n = g_ascii_strtoll(shape + 5, &end, 10);
    m.k = *end == 'k' ? g_ascii_strtoll(end + 1, NULL, 10) : 16;
    m.dtype = strstr(i->op, ".bf16")   ? "bf16"
              : strstr(i->op, ".e4m3") ? "e4m3"
              : strstr(i->op, ".e5m2") ? "e5m2"
              : strstr(i->op, ".tf32") ? "tf32"
                                       : "f16";
    m.acc = accumulator_of(w, i->arg[0]);
    m.a = *i->arg[1] == '{' ? NULL : ptx_int(w, i->arg[1]);
    m.b = ptx_int(w, i->arg[2]);
    m.keep = ptx_int(w, i->arg[3]);
    gint64 turned;
    if (i->n > 7) {
        m.a_turned = m.a && ws_x_is(ptx_int(w, i->arg[6]), &turned) && turned;
        m.b_turned = ws_x_is(ptx_int(w, i->arg[i->n - 1]), &turned) && turned;
    }
    g_array_append_val(w->mma, m);
}

/* The address in a descriptor: what stands divided by 16, and the k-steps added to it. */
static const WsExpr *descriptor_address(PtxWalk *w, const WsExpr *e)
{
    WsRead *r = w->p.r;
    WsAffine f;
    gint64 n, factor;
    if (!e || !ws_expr_affine(e, &f))
        return NULL;
    const WsExpr *at = NULL;
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = f.term[i];
        if (t->op == WS_EXPR_MOD)
            t = t->arg[0];
        if (f.factor[i] == 1 && t->op == WS_EXPR_DIV && ws_x_is(t->arg[1], &n) && n == 16)
            at = ws_x_own(r, ws_expr_ref(t->arg[0]));
    }
    if (at) {
        at = ws_x_op(r, WS_EXPR_ADD, at, ws_x_int(r, (f.constant & 0x3fff) * 16));
        at = ws_x_without(r, at, PTX_SMEM, FALSE, &factor);
        at = factor == 1 ? ptx_ring_form(r, at) : NULL;
    }
    ws_affine_clear(&f);
    return at;
}

gint ptx_accumulator(PtxWalk *w, gint64 n)
{
    const gint v = ws_source_value(w->p.r, w->p.group, "acc", "f32", 64, n);
    g_array_index(w->p.group->values, WsReadValue, v).accumulator = TRUE;
    return v;
}

/* The products of a commit group: those of one accumulator are one step. */
static void close_group(PtxWalk *w, const WsPtxInst *at)
{
    for (guint i = 0; i < w->mma->len;) {
        const PtxMma *first = &g_array_index(w->mma, PtxMma, i);
        guint n = i + 1;
        while (n < w->mma->len && !strcmp(g_array_index(w->mma, PtxMma, n).acc, first->acc))
            n++;
        WsReadStep *s = ws_source_step(w->p.r, w->p.to, WS_READ_MMA, first->line, 1, at->line);
        s->value = ptx_accumulator(w, first->n);
        s->a.index = descriptor_address(w, first->a);
        s->b.index = descriptor_address(w, first->b);
        s->b.transposed = first->b_turned;
        s->a.transposed = first->a_turned;
        s->n = (n - i) * first->k;
        s->text = first->dtype;
        s->e = first->keep ? ws_x_op(w->p.r, WS_EXPR_NOT, first->keep, NULL) : NULL;
        if (s->e && s->e->op == WS_EXPR_NOT && s->e->arg[0]->op == WS_EXPR_NE)
            s->e = ws_x_op(w->p.r, WS_EXPR_EQ, ws_x_own(w->p.r, ws_expr_ref(s->e->arg[0]->arg[0])),
                           ws_x_own(w->p.r, ws_expr_ref(s->e->arg[0]->arg[1])));
        if (!s->a.index || !s->b.index || first->b_turned || first->a_turned) {
            s->kind = WS_READ_OPAQUE;
            if (!w->p.probing)
                ws_source_unread(w->p.r, first->line, 1, at->line,
                                 "a product whose operands are no K-major rings in shared memory",
                                 "");
        }
        i = n;
    }
    g_array_set_size(w->mma, 0);
}

static void matrix(PtxWalk *w, const WsPtxInst *i)
{
    gint64 n = 0;
    if (strstr(i->op, "mma_async")) {
        product(w, i);
    } else if (strstr(i->op, "fence")) {
        ptx_new_step(w, WS_READ_FENCE, i)->name = "mma";
    } else if (strstr(i->op, "commit_group")) {
        close_group(w, i);
    } else if (strstr(i->op, "wait_group")) {
        if (i->n)
            ws_x_is(ptx_int(w, i->arg[0]), &n);
        ptx_new_step(w, WS_READ_MMA_WAIT, i)->n = n;
    }
}

/* --- the rest
 * ---------------------------------------------------------------------------------------*/

static void elect(PtxWalk *w, const WsPtxInst *i)
{
    const char *bar = i->n ? strchr(i->arg[0], '|') : NULL;
    if (bar)
        ptx_set(w, g_string_chunk_insert(w->p.r->text, bar + 1), py_literal(&w->p, w->first));
}

/* Constants a thread leaves in shared memory for others, and what it reads of them. */
static gboolean memory(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at, value;
    if (g_str_has_prefix(i->op, "st.shared") && i->n == 2 && ws_x_is(address(w, i->arg[0]), &at)) {
        g_autofree char *list = g_strdup(i->arg[1]);
        g_strdelimit(list, "{}", ' ');
        g_auto(GStrv) word = g_strsplit(list, ",", -1);
        const guint bytes = strstr(i->op, "b8")   ? 1
                            : strstr(i->op, "16") ? 2
                            : strstr(i->op, "64") ? 8
                                                  : 4;
        for (guint k = 0; word[k]; k++, at += bytes) {
            g_strstrip(word[k]);
            if (!ws_x_is(ptx_int(w, g_string_chunk_insert(w->p.r->text, word[k])), &value))
                return FALSE;
            for (guint b = 0; b < bytes; b++)
                if (!g_hash_table_contains(w->memory, GSIZE_TO_POINTER((gsize)(at + b))))
                    g_hash_table_insert(w->memory, GSIZE_TO_POINTER((gsize)(at + b)),
                                        GSIZE_TO_POINTER((gsize)((value >> (8 * b) & 255) + 1)));
        }
        return TRUE;
    }
    if (g_str_has_prefix(i->op, "ld.shared") && strstr(i->op, "8") && i->n == 2 &&
        ws_x_is(address(w, i->arg[1]), &at)) {
        const gsize byte =
            GPOINTER_TO_SIZE(g_hash_table_lookup(w->memory, GSIZE_TO_POINTER((gsize)at)));
        ptx_set(w, i->arg[0], byte ? py_literal(&w->p, (gint64)byte - 1) : py_opaque(&w->p));
        return TRUE;
    }
    return FALSE;
}

static void shared_access(PtxWalk *w, const WsPtxInst *i)
{
    if (memory(w, i))
        return;
    const gboolean writes = strstr(i->op, "st") == i->op;
    const WsExpr *at = address(w, i->arg[writes ? 0 : i->n - 1]);
    WsReadStep *s = ptx_new_step(w, WS_READ_OPAQUE, i);
    s->buffer.index = at;
    s->flag = writes;
    if (!w->p.probing)
        ws_source_unread_more(w->p.r, i->line,
                              writes ? "stores to shared memory" : "loads from shared memory");
}

gboolean ptx_step(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    const gboolean mine = !i->guard || !ws_x_is(ptx_predicate(w, i), &known) || known;
    const char *op = i->op;
    if (g_str_has_prefix(op, "elect.sync")) {
        elect(w, i);
    } else if (g_str_has_prefix(op, "shfl.sync.idx") && i->n > 1) {
        g_autofree char *to = g_strndup(i->arg[0], strcspn(i->arg[0], "|"));
        ptx_set(w, g_string_chunk_insert(w->p.r->text, to), ptx_operand(w, i->arg[1]));
    } else if (g_str_has_prefix(op, "ld.param") && i->n > 1) {
        g_autofree char *name = g_strndup(i->arg[1] + 1, strcspn(i->arg[1] + 1, "]+"));
        const Val *v = ptx_operand(w, g_string_chunk_insert(w->p.r->text, name));
        ptx_set(w, i->arg[0], strstr(op, "64") ? v : py_int(&w->p, py_as_int(&w->p, v)));
    } else if (!mine) {
        return TRUE; /* another thread's */
    } else if (g_str_has_prefix(op, "mbarrier")) {
        barrier(w, i);
    } else if (g_str_has_prefix(op, "cp.async.bulk") || g_str_has_prefix(op, "cp.reduce")) {
        bulk(w, i);
    } else if (g_str_has_prefix(op, "wgmma")) {
        matrix(w, i);
    } else if (g_str_has_prefix(op, "bar.") || g_str_has_prefix(op, "barrier.")) {
        if (!strstr(op, "cluster") && !strstr(op, "warp"))
            named(w, i);
        else if (strstr(op, "cluster"))
            opaque(w, i, "a cluster barrier");
    } else if (g_str_has_prefix(op, "setmaxnreg") && i->n) {
        if (ws_x_is(ptx_int(w, i->arg[0]), &known) && !w->p.loops->len && !w->waits)
            w->registers = known;
    } else if (g_str_has_prefix(op, "fence.proxy.async")) {
        ptx_new_step(w, WS_READ_FENCE, i)->name = "async";
    } else if (strstr(op, ".shared") || g_str_has_prefix(op, "stmatrix") ||
               g_str_has_prefix(op, "ldmatrix")) {
        shared_access(w, i);
    } else if (g_str_has_prefix(op, "cp.async")) {
        opaque(w, i, "a copy by cp.async");
    } else {
        return FALSE;
    }
    return TRUE;
}
