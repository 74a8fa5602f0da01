#include "import/ptx/walk.h"

#include <string.h>

/* wgmma: products of a commit group are steps of the design, one per accumulator and run of
 * contraction steps that follow each other in shared memory. */

static const char *first_register(PtxWalk *w, const char *list)
{
    const char *start = list + strspn(list, "{ ");
    return g_string_chunk_insert_len(w->p.r->text, start, (gssize)strcspn(start, ",} "));
}

const char *ptx_accumulator(PtxWalk *w, const char *reg, gint64 n, gint *value)
{
    const char *name = g_hash_table_lookup(w->sum_names, reg);
    if (!name) {
        const guint number = g_hash_table_size(w->sum_names) + 1;
        name = number > 1 ? ws_source_format(w->p.r, "acc_%u", number) : "acc";
        g_hash_table_insert(w->sum_names, (gpointer)reg, (gpointer)name);
    }
    const gint v = ws_source_value(w->p.r, w->p.group, name, "f32", 64, n);
    g_array_index(w->p.group->values, WsReadValue, v).accumulator = TRUE;
    if (value)
        *value = v;
    return name;
}

/* A sum that begins with a product may be one that another place made before: a compiler gives the
 * first round, which it took out of a loop, registers of its own. */
static void same_as_before(PtxWalk *w, const char *reg, gint64 n)
{
    const gsize here = ((gsize)w->p.loops->len << 16) + (gsize)n;
    GHashTableIter it;
    gpointer name, where;
    if (g_hash_table_contains(w->sum_names, reg))
        return;
    g_hash_table_iter_init(&it, w->begun);
    while (g_hash_table_iter_next(&it, &name, &where))
        if ((GPOINTER_TO_SIZE(where) & 0xffff) == (gsize)n && GPOINTER_TO_SIZE(where) != here) {
            g_hash_table_insert(w->sum_names, (gpointer)reg, name);
            return;
        }
    g_hash_table_insert(w->begun, (gpointer)ptx_accumulator(w, reg, n, NULL),
                        GSIZE_TO_POINTER(here));
}

/* The register that names the accumulator a register holds now. */
static const char *root_of(PtxWalk *w, const char *reg)
{
    const Val *v = g_hash_table_lookup(w->p.frame->vars, reg);
    return v && v->kind == VAL_TILE && v->text ? v->text : reg;
}

static void mark_list(PtxWalk *w, const char *list, const char *root, gint64 n)
{
    g_autofree char *inner = g_strdup(list);
    g_strdelimit(inner, "{},", ' ');
    g_auto(GStrv) word = g_strsplit(inner, " ", -1);
    Val *tile = py_val(&w->p, VAL_TILE);
    tile->text = root;
    tile->cols = n;
    for (guint i = 0; word[i]; i++)
        if (*word[i])
            ptx_set(w, g_string_chunk_insert_const(w->p.r->text, word[i]), tile);
}

/* --- who reads an accumulator ----------------------------------------------------------------- */

static void note_read(PtxWalk *w, const WsPtxInst *i, const Val *v)
{
    gint value;
    const char *name = ptx_accumulator(w, v->text, v->cols, &value);
    if (g_hash_table_contains(w->seen, name) || w->p.probing)
        return;
    g_hash_table_add(w->seen, (gpointer)name);
    const gint to = ws_source_value(w->p.r, w->p.group, "seen", "f32", 64, 1);
    WsReadStep *s = ptx_new_step(w, WS_READ_COMPUTE, i);
    s->when = NULL; /* registers are read whatever is done with them */
    s->text = ws_source_format(w->p.r, "%s = rowmax(%s)",
                               g_array_index(w->p.group->values, WsReadValue, to).name,
                               g_array_index(w->p.group->values, WsReadValue, value).name);
}

static void look_at(PtxWalk *w, const WsPtxInst *i, const char *text)
{
    if (*text == '{') {
        g_autofree char *inner = g_strdup(text);
        g_strdelimit(inner, "{},", ' ');
        g_auto(GStrv) word = g_strsplit(inner, " ", -1);
        for (guint k = 0; word[k]; k++)
            if (*word[k])
                look_at(w, i, word[k]);
        return;
    }
    if (!g_hash_table_contains(w->matrix, text))
        return; /* a copy */
    const Val *v = g_hash_table_lookup(w->p.frame->vars, text);
    if (v && v->kind == VAL_TILE && v->text)
        note_read(w, i, v);
}

void ptx_reads(PtxWalk *w, const WsPtxInst *i)
{
    if (g_str_has_prefix(i->op, "wgmma"))
        return;
    if (g_str_has_prefix(i->op, "mov") && i->n > 1 && g_hash_table_contains(w->matrix, i->arg[0]) &&
        (g_hash_table_contains(w->matrix, i->arg[1]) ||
         g_hash_table_contains(w->sums, i->arg[0]))) /* a copy, or where a sum begins */
        return;
    for (guint k = 0; k < i->n; k++)
        look_at(w, i, i->arg[k]); /* what it writes, too: a product may still add to it */
}

/* --- descriptors ------------------------------------------------------------------------------ */

/* The address in a descriptor: what stands divided by 16, and the k-steps added to it. */
static const WsExpr *descriptor(PtxWalk *w, const WsPtxInst *i, guint arg, PtxOperand *o,
                                gint64 *pitch)
{
    WsRead *r = w->p.r;
    WsAffine f;
    gint64 n, factor;
    const WsExpr *e = ptx_int(w, i->arg[arg]);
    if (!e || !ws_expr_affine(e, &f))
        return NULL;
    const WsExpr *at = NULL, *rest = ws_x_int(r, 0);
    for (guint k = 0; k < f.n; k++) {
        const WsExpr *t = f.term[k];
        if (t->op == WS_EXPR_MOD && ws_x_is(t->arg[1], &n) && n >= 1 << 14)
            t = t->arg[0];
        if (f.factor[k] == 1 && t->op == WS_EXPR_DIV && ws_x_is(t->arg[1], &n) && n == 16 && !at)
            at = ws_x_own(r, ws_expr_ref(t->arg[0]));
        else
            rest = ws_x_op(r, WS_EXPR_ADD, rest,
                           ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(f.term[k])),
                                   ws_x_int(r, f.factor[k] * 16)));
    }
    at = at ? ws_x_op(r, WS_EXPR_ADD, at, rest) : NULL;
    const guint64 bits = (guint64)f.constant;
    static const gint64 spans[] = { 16, 128, 64, 32 };
    o->span = spans[bits >> 62];
    *pitch = (gint64)(bits >> 16 & 0x3fff) * 16;
    if (at) {
        at = ws_x_op(r, WS_EXPR_ADD, at, ws_x_int(r, (f.constant & 0x3fff) * 16));
        at = ws_x_without(r, at, PTX_SMEM, FALSE, &factor);
        at = factor == 1 ? ptx_ring_form(r, ptx_fit(w, at)) : NULL;
    }
    ws_affine_clear(&f);
    /* eight rows of a span lie together; a base that is no multiple of them has an offset */
    if (o->span != 16 && ((gint64)(bits >> 32 & 0x3fff) * 16 != 8 * o->span || bits >> 46 & 0xffff))
        ptx_lost(w, i, "a descriptor with a stride or offset that its layout does not have");
    return o->span == 16 ? NULL : at;
}

/* mn rows (columns if turned) of the operand, k elements of `bytes` of the contraction. */
static void shape_operand(PtxOperand *o, gint64 mn, gint64 k, gint64 bytes, gint64 pitch)
{
    if (!o->turned) {
        o->rows = mn;
        o->width = k * bytes;
        o->to = mn * o->span;
        return;
    }
    o->rows = k;
    o->width = mn * bytes;
    o->pitch = o->width > o->span ? pitch : 0;
    o->to = k * o->span + o->pitch * ((o->width - 1) / o->span);
}

static gint64 dtype_bytes(const char *dtype)
{
    return !strcmp(dtype, "e4m3") || !strcmp(dtype, "e5m2") ? 1 : !strcmp(dtype, "tf32") ? 4 : 2;
}

static gboolean turned(PtxWalk *w, const WsPtxInst *i, guint at)
{
    gint64 bit;
    return i->n > at && ws_x_is(ptx_int(w, i->arg[at]), &bit) && bit;
}

static void product(PtxWalk *w, const WsPtxInst *i)
{
    const char *shape = strstr(i->op, ".m64n");
    PtxMma m = { .line = i->line };
    if (!shape || i->n < 4 || i->guard) {
        ptx_lost(w, i, "a product of a shape that is not known");
        return;
    }
    char *end;
    gint64 pitch;
    m.n = CLAMP(g_ascii_strtoll(shape + 5, &end, 10), 8, 256);
    m.k = *end == 'k' ? CLAMP(g_ascii_strtoll(end + 1, NULL, 10), 8, 64) : 16;
    m.dtype = strstr(i->op, ".bf16")   ? "bf16"
              : strstr(i->op, ".e4m3") ? "e4m3"
              : strstr(i->op, ".e5m2") ? "e5m2"
              : strstr(i->op, ".tf32") ? "tf32"
                                       : "f16";
    const gint64 bytes = dtype_bytes(m.dtype);
    const gboolean registers = *i->arg[1] == '{';
    const char *root = root_of(w, first_register(w, i->arg[0]));
    m.keep = ptx_int(w, i->arg[3]);
    if (ws_x_is(m.keep, &pitch) && pitch == 0)
        same_as_before(w, root, m.n);
    m.acc = ptx_accumulator(w, root, m.n, NULL);
    mark_list(w, i->arg[0], root, m.n);
    m.held = registers ? ptx_flying_held(w, i->arg[1]) : 0;
    ptx_flying_product(w, i);
    g_hash_table_remove(w->seen, m.acc);
    m.at.turned = !registers && turned(w, i, 6);
    m.bt.turned = turned(w, i, registers ? 6 : 7);
    if (registers)
        m.list = i->arg[1];
    else if ((m.a = descriptor(w, i, 1, &m.at, &pitch)))
        shape_operand(&m.at, 64, m.k, bytes, pitch);
    if ((m.b = descriptor(w, i, 2, &m.bt, &pitch)))
        shape_operand(&m.bt, m.n, m.k, bytes, pitch);
    m.known = m.b && (m.a || registers);
    m.at.dtype = m.bt.dtype = m.dtype;
    g_array_append_val(w->mma, m);
}

/* --- commit groups ---------------------------------------------------------------------------- */

/* Does the operand of `next` go on where that of `m` ends? Adds it. */
static gboolean goes_on(const WsExpr *a, PtxOperand *to, const WsExpr *first,
                        const PtxOperand *more)
{
    gint64 d;
    const gint64 want = to->turned ? to->rows * to->span : to->width;
    return ws_x_difference(first, a, &d) && d == want && to->turned == more->turned &&
           to->span == more->span && (to->turned || to->width + more->width <= to->span);
}

static void extend(PtxOperand *to, const PtxOperand *more)
{
    if (to->turned) {
        to->rows += more->rows;
        to->to += more->rows * to->span;
    } else {
        to->width += more->width;
    }
}

static gboolean follows(const PtxMma *run, const PtxMma *next)
{
    return !strcmp(run->acc, next->acc) && run->known && next->known && !run->a == !next->a &&
           (!run->a || goes_on(next->a, (PtxOperand *)&run->at, run->a, &next->at)) &&
           goes_on(next->b, (PtxOperand *)&run->bt, run->b, &next->bt);
}

/* The value whose columns `from` … are the registers of the products of this group. */
static void register_operand(PtxWalk *w, WsReadStep *s, const PtxMma *run, guint at_list, gint64 k,
                             const char *name, gint64 whole)
{
    WsRead *r = w->p.r;
    const gint v = ws_source_value(r, w->p.group, name, run->dtype, 64, whole);
    s->a.in_value = TRUE;
    s->a.object = v;
    if (k != whole)
        s->a.views = ws_source_format(r, ".cols(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")",
                                      at_list * run->k, k);
}

static gboolean passes_registers(const WsReadStep *s)
{
    return s->kind == WS_READ_COMPUTE || (s->kind == WS_READ_FENCE && !g_strcmp0(s->name, "async"));
}

/* A computation of registers that a product reads: registers of PTX are names, and where their
 * moves stand among what does not touch them is nothing that the text says. So it stands before the
 * fence that makes registers visible, where nothing but computations and fences of memory lie
 * between; that no register was touched behind it, flying.c says. */
WsReadStep *ptx_before_fence(PtxWalk *w, guint line, guint end_line)
{
    WsReadStep *s = ws_source_step(w->p.r, NULL, WS_READ_COMPUTE, line, 1, end_line);
    guint to = w->p.to->len;
    while (to && passes_registers(g_ptr_array_index(w->p.to, to - 1)))
        to--;
    const WsReadStep *fence = to ? g_ptr_array_index(w->p.to, to - 1) : NULL;
    const gboolean behind =
        fence && fence->kind == WS_READ_FENCE && !g_strcmp0(fence->name, "mma") && !fence->when;
    g_ptr_array_insert(w->p.to, behind ? (gint)to - 1 : (gint)w->p.to->len, s);
    return s;
}

/* Name of a value that stands for the registers of A of this group: none of those whose registers
 * products in flight read. In a loop nothing says which of them a round finds in flight. */
static const char *free_name(PtxWalk *w, const WsPtxInst *at)
{
    guint64 taken = ptx_flying_values(w);
    guint n = 1;
    for (guint i = 0; i < w->mma->len; i++)
        taken |= 1ull << g_array_index(w->mma, PtxMma, i).held;
    while (n < 63 && taken >> n & 1)
        n++;
    gboolean any = FALSE;
    for (guint i = 0; i < w->mma->len; i++) {
        const PtxMma *m = &g_array_index(w->mma, PtxMma, i);
        any |= m->list != NULL;
        if (m->list)
            ptx_flying_value(w, m->list, n);
    }
    if (any && n > 1 && w->p.loops->len)
        ptx_lost(w, at, "a product of registers in a loop while another one has such in flight");
    return n == 1 ? "registers" : ws_source_format(w->p.r, "registers_%u", n);
}

/* Registers of A are written before the first product that reads them. */
static void define_registers(PtxWalk *w, const WsPtxInst *at, const char *name, gint64 *whole)
{
    g_autoptr(GHashTable) lists = g_hash_table_new(g_str_hash, g_str_equal);
    const PtxMma *first = NULL;
    for (guint i = 0; i < w->mma->len; i++) {
        const PtxMma *m = &g_array_index(w->mma, PtxMma, i);
        if (m->list && m->known && !g_hash_table_contains(lists, m->list)) {
            g_hash_table_insert(lists, (gpointer)m->list, NULL);
            first = first ? first : m;
            *whole += m->k;
        }
    }
    if (!first)
        return;
    const gint v = ws_source_value(w->p.r, w->p.group, name, first->dtype, 64, *whole);
    WsReadStep *s = ptx_before_fence(w, first->line, at->line);
    s->added = TRUE; /* what computes them stands elsewhere, or before the loop */
    s->text =
        ws_source_format(w->p.r, "%s = %s(0.0)",
                         g_array_index(w->p.group->values, WsReadValue, v).name, first->dtype);
}

static const WsExpr *first_of(PtxWalk *w, const WsExpr *keep)
{
    WsRead *r = w->p.r;
    const WsExpr *e = keep ? ws_x_op(r, WS_EXPR_NOT, keep, NULL) : NULL;
    if (e && e->op == WS_EXPR_NOT && e->arg[0]->op == WS_EXPR_NE)
        e = ws_x_op(r, WS_EXPR_EQ, ws_x_own(r, ws_expr_ref(e->arg[0]->arg[0])),
                    ws_x_own(r, ws_expr_ref(e->arg[0]->arg[1])));
    return e;
}

/* Which of the register lists of the group this one is. */
static guint list_number(const PtxWalk *w, const char *list)
{
    guint number = 0;
    for (guint i = 0; i < w->mma->len; i++) {
        const PtxMma *m = &g_array_index(w->mma, PtxMma, i);
        if (!m->list)
            continue;
        if (!strcmp(m->list, list))
            return number;
        guint k = 0;
        while (k < i && (!g_array_index(w->mma, PtxMma, k).list ||
                         strcmp(g_array_index(w->mma, PtxMma, k).list, m->list)))
            k++;
        number += k == i;
    }
    return number;
}

static void close_group(PtxWalk *w, const WsPtxInst *at)
{
    gint64 whole = 0;
    WsReadStep *last = NULL;
    ptx_flying_closed(w);
    const char *name = free_name(w, at);
    define_registers(w, at, name, &whole);
    for (guint i = 0; i < w->mma->len;) {
        PtxMma run = g_array_index(w->mma, PtxMma, i);
        const guint list = run.list ? list_number(w, run.list) : 0;
        gint64 k = run.k;
        guint n = i + 1;
        for (; n < w->mma->len && follows(&run, &g_array_index(w->mma, PtxMma, n)); n++) {
            const PtxMma *next = &g_array_index(w->mma, PtxMma, n);
            extend(&run.at, &next->at);
            extend(&run.bt, &next->bt);
            k += next->k;
        }
        WsReadStep *s = ws_source_step(w->p.r, w->p.to, WS_READ_MMA, run.line, 1,
                                       g_array_index(w->mma, PtxMma, n - 1).line);
        s->value = ws_source_value(w->p.r, w->p.group, run.acc, "f32", 64, run.n);
        s->a.index = run.a;
        s->b.index = run.b;
        s->a.transposed = run.at.turned;
        s->b.transposed = run.bt.turned;
        s->e = first_of(w, run.keep);
        s->flag = TRUE;
        last = s;
        *ptx_operand_of(w, &s->a) = run.at;
        *ptx_operand_of(w, &s->b) = run.bt;
        if (run.list && run.known)
            register_operand(w, s, &run, list, k, name, whole);
        if (!run.known) {
            s->kind = WS_READ_OPAQUE;
            s->value = -1;
            if (!w->p.probing)
                ws_source_unread(w->p.r, run.line, 1, s->end_line,
                                 "a product whose operands are no rings in shared memory", "");
        }
        i = n;
    }
    if (last)
        last->flag = FALSE;
    g_array_set_size(w->mma, 0);
}

void ptx_products_closed(PtxWalk *w, const WsPtxInst *i)
{
    if (!w->mma->len)
        return;
    g_array_set_size(w->mma, 0);
    ptx_lost(w, i, "a product that no commit closes before");
}

void ptx_matrix(PtxWalk *w, const WsPtxInst *i)
{
    gint64 n = 0;
    if (i->guard && !(ws_x_is(ptx_predicate(w, i), &n) && n)) {
        ptx_lost(w, i, "an instruction on products under a predicate");
        return;
    }
    if (strstr(i->op, "mma_async")) {
        product(w, i);
    } else if (strstr(i->op, "fence")) {
        ptx_new_step(w, WS_READ_FENCE, i)->name = "mma";
        g_hash_table_remove_all(w->unfenced);
    } else if (strstr(i->op, "commit_group")) {
        if (!w->mma->len)
            ptx_lost(w, i, "a group of products that is empty");
        close_group(w, i);
    } else if (strstr(i->op, "wait_group")) {
        if (!i->n || !ws_x_is(ptx_int(w, i->arg[0]), &n))
            ptx_lost(w, i, "a wait for products whose number is not known");
        else
            ptx_new_step(w, WS_READ_MMA_WAIT, i)->n = n;
        ptx_flying_waited(w, n);
    }
}
