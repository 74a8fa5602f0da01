#include "import/ptx/walk.h"

#include <string.h>

/* Shared memory by ordinary accesses: constants that threads leave for each other, and tiles that a
 * group writes or reads. */

PtxOperand *ptx_operand_of(PtxWalk *w, const WsPlace *place)
{
    PtxOperand *o = g_hash_table_lookup(w->operands, place);
    if (!o) {
        o = g_new0(PtxOperand, 1);
        g_ptr_array_add(w->p.r->pool, o);
        g_hash_table_insert(w->operands, (gpointer)place, o);
    }
    return o;
}

const WsExpr *ptx_address(PtxWalk *w, const char *text, const WsExpr **cta)
{
    const gsize n = strlen(text);
    WsRead *r = w->p.r;
    if (n < 3 || *text != '[')
        return NULL;
    g_autofree char *inner = g_strndup(text + 1, n - 2);
    g_auto(GStrv) part = g_strsplit(inner, "+", 2);
    g_strstrip(part[0]);
    gint64 offset = 0, factor;
    if (part[1] && !ptx_number(g_strstrip(part[1]), &offset))
        return NULL;
    const Val *v = ptx_operand(w, g_string_chunk_insert(r->text, part[0]));
    if (v->kind == VAL_TUPLE && v->n == 2 && cta) { /* of mapa */
        *cta = v->item[1]->e;
        v = v->item[0];
    }
    const WsExpr *e =
        v->kind == VAL_INT ? ws_x_op(r, WS_EXPR_ADD, v->e, ws_x_int(r, offset)) : NULL;
    if (!e)
        return NULL;
    e = ws_x_without(r, e, PTX_SMEM, FALSE, &factor);
    return factor == 1 ? ptx_ring_form(r, ptx_fit(w, e)) : NULL;
}

static guint bytes_of(const char *op)
{
    const char *dot = strrchr(op, '.'), *type = dot ? dot : "";
    const guint one = strstr(type, "8") ? 1 : strstr(type, "16") ? 2 : strstr(type, "64") ? 8 : 4;
    return one * (strstr(op, ".v4") ? 4 : strstr(op, ".v2") ? 2 : 1);
}

/* A byte of shared memory that was given a number. */
typedef struct {
    guint syncs; /* barriers of the CTA before it was */
    guint value;
    gboolean told; /* two numbers at one time */
} Byte;

static Byte *byte_at(const GArray *bytes, guint syncs)
{
    Byte *best = NULL;
    for (guint i = 0; bytes && i < bytes->len; i++) {
        Byte *b = &g_array_index(bytes, Byte, i);
        if (b->syncs <= syncs && (!best || b->syncs >= best->syncs))
            best = b;
    }
    return best;
}

static void keep_byte(PtxWalk *w, gint64 at, guint value)
{
    GArray *bytes = g_hash_table_lookup(w->memory, GSIZE_TO_POINTER((gsize)at));
    if (!bytes) {
        bytes = g_array_new(FALSE, TRUE, sizeof(Byte));
        g_ptr_array_add(w->p.r->arrays, bytes);
        g_hash_table_insert(w->memory, GSIZE_TO_POINTER((gsize)at), bytes);
    }
    Byte *old = byte_at(bytes, w->syncs);
    if (old && old->syncs == w->syncs) {
        old->told |= old->value != value;
        return;
    }
    const Byte b = { w->syncs, value, FALSE };
    g_array_append_val(bytes, b);
}

/* Stores of numbers at numbered places are remembered: what a warp is to do is left there by
 * Triton's default partition. */
static gboolean constant_store(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at, value, known;
    if (i->n != 2 || w->p.loops->len || w->depth || !ws_x_is(ptx_predicate(w, i), &known) ||
        !ws_x_is(ptx_address(w, i->arg[0], NULL), &at))
        return FALSE;
    g_autofree char *list = g_strdup(i->arg[1]);
    g_strdelimit(list, "{}", ' ');
    g_auto(GStrv) word = g_strsplit(list, ",", -1);
    const guint bytes = bytes_of(i->op) / MAX(1, g_strv_length(word));
    for (guint k = 0; word[k]; k++, at += bytes) {
        g_strstrip(word[k]);
        if (!ws_x_is(ptx_int(w, g_string_chunk_insert(w->p.r->text, word[k])), &value))
            return FALSE;
        for (guint b = 0; b < MIN(bytes, 8); b++)
            keep_byte(w, at + b, (guint)(value >> (8 * b) & 255));
    }
    return TRUE;
}

/* A single byte that was stored before the last barrier of the CTA. */
static gboolean constant_load(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at;
    if (bytes_of(i->op) != 1 || i->n != 2 || !w->syncs ||
        !ws_x_is(ptx_address(w, i->arg[1], NULL), &at))
        return FALSE;
    const Byte *b =
        byte_at(g_hash_table_lookup(w->memory, GSIZE_TO_POINTER((gsize)at)), w->syncs - 1);
    if (!b || b->told)
        return FALSE;
    ptx_set(w, i->arg[0], py_literal(&w->p, b->value));
    g_hash_table_add(w->table, GSIZE_TO_POINTER((gsize)at));
    g_hash_table_add(w->told, (gpointer)i->arg[0]);
    return TRUE;
}

void ptx_forget(PtxWalk *w, const char *list)
{
    if (!strpbrk(list, "{|,")) {
        ptx_set(w, list, py_opaque(&w->p));
        return;
    }
    g_autofree char *inner = g_strdup(list);
    g_strdelimit(inner, "{},|", ' ');
    g_auto(GStrv) word = g_strsplit(inner, " ", -1);
    for (guint k = 0; word[k]; k++)
        if (*word[k] && *word[k] != '_')
            ptx_set(w, g_string_chunk_insert_const(w->p.r->text, word[k]), py_opaque(&w->p));
}

static const char *address_of(const WsPtxInst *i)
{
    for (guint k = 0; k < i->n; k++)
        if (*i->arg[k] == '[')
            return i->arg[k];
    return NULL;
}

gboolean ptx_generic(PtxWalk *w, const WsPtxInst *i)
{
    const char *at = address_of(i);
    const gsize n = at ? strlen(at) : 0;
    g_autofree char *inner = n > 2 ? g_strndup(at + 1, n - 2) : g_strdup("");
    inner[strcspn(inner, "+")] = '\0';
    g_strstrip(inner);
    const Val *v = ptx_operand(w, g_string_chunk_insert(w->p.r->text, inner));
    const WsExpr *e = v->kind == VAL_INT ? v->e : NULL;
    if (v->kind == VAL_PARAM || (e && !ws_expr_mentions(e, PTX_SMEM)))
        return TRUE; /* what does not begin in shared memory does not come there */
    if (e) {
        ptx_shared(w, i);
        return FALSE;
    }
    if (g_str_has_prefix(i->op, "ld.")) {
        ws_source_granted(w->p.r, PTX_POINTERS);
        return TRUE;
    }
    ptx_lost(w, i, "an access of which nothing says in what memory it is");
    if (i->n && *i->arg[0] != '[')
        ptx_forget(w, i->arg[0]);
    return FALSE;
}

void ptx_shared(PtxWalk *w, const WsPtxInst *i)
{
    const gboolean writes = i->op[0] == 's', matrix = strstr(i->op, "matrix") != NULL;
    const gboolean plain = writes ? g_str_has_prefix(i->op, "st") : g_str_has_prefix(i->op, "ld");
    if (!plain || i->n < 2 || strstr(i->op, "shared::cluster")) {
        ptx_lost(w, i, "an operation on shared memory");
        if (i->n && *i->arg[0] != '[')
            ptx_forget(w, i->arg[0]);
        return;
    }
    if (!matrix && !writes && constant_load(w, i))
        return;
    const gboolean number = !matrix && writes && constant_store(w, i);
    if (!writes)
        ptx_forget(w, i->arg[0]);
    const WsExpr *at = ptx_address(w, i->arg[writes ? 0 : i->n - 1], NULL);
    if (at && !ptx_divides(at, matrix ? 16 : bytes_of(i->op))) {
        ptx_lost(w, i, PTX_UNALIGNED);
        return;
    }
    WsReadStep *s = ptx_new_step(w, writes ? WS_READ_WRITE : WS_READ_READ, i);
    s->buffer.index = at;
    if (number)
        g_hash_table_add(w->numbers, s);
    w->apart = TRUE;
    s->all = w->warp_synced; /* handed on inside of a warp */
    if (!matrix && writes)
        ptx_claim_stored(w, i->arg[1], s);
    else if (!matrix)
        ptx_claim_loaded(w, i, s);
    PtxOperand *o = ptx_operand_of(w, &s->buffer);
    const guint lanes = !matrix ? 32 : strstr(i->op, ".x4") ? 32 : strstr(i->op, ".x2") ? 16 : 8;
    o->matrix = matrix;
    o->to = matrix ? 16 : bytes_of(i->op);
    const WsPtxInst *all = ws_ptx_inst(w->ptx, 0);
    const guint partly =
        GPOINTER_TO_UINT(g_hash_table_lookup(w->partly, GUINT_TO_POINTER((guint)(i - all))));
    o->last = partly >> 8;
    o->touched = (partly ? partly & 255 : lanes) * o->to;
    o->idle = w->tid % 32 >= lanes; /* whose address is not looked at */
    if (!o->idle)
        ptx_lanes_bytes(w, i, lanes, o->to, o);
}
