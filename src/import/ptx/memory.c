#include "import/fit.h"
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
    gint64 offset = part[1] ? g_ascii_strtoll(part[1], NULL, 10) : 0, factor;
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
    return factor == 1 ? ptx_ring_form(r, ws_fit(r, e)) : NULL;
}

static guint bytes_of(const char *op)
{
    const char *type = strrchr(op, '.');
    const guint one = strstr(type, "8") ? 1 : strstr(type, "16") ? 2 : strstr(type, "64") ? 8 : 4;
    return one * (strstr(op, ".v4") ? 4 : strstr(op, ".v2") ? 2 : 1);
}

/* Stores of numbers are remembered, loads of single bytes look there. */
static gboolean constant_store(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at, value;
    if (i->n != 2 || !ws_x_is(ptx_address(w, i->arg[0], NULL), &at))
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
            if (!g_hash_table_contains(w->memory, GSIZE_TO_POINTER((gsize)(at + b))))
                g_hash_table_insert(w->memory, GSIZE_TO_POINTER((gsize)(at + b)),
                                    GSIZE_TO_POINTER((gsize)((value >> (8 * b) & 255) + 1)));
    }
    return TRUE;
}

static gboolean constant_load(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at;
    if (!strstr(i->op, "8") || i->n != 2 || !ws_x_is(ptx_address(w, i->arg[1], NULL), &at))
        return FALSE;
    const gsize byte =
        GPOINTER_TO_SIZE(g_hash_table_lookup(w->memory, GSIZE_TO_POINTER((gsize)at)));
    ptx_set(w, i->arg[0], byte ? py_literal(&w->p, (gint64)byte - 1) : py_opaque(&w->p));
    return TRUE;
}

static void forget(PtxWalk *w, const char *list)
{
    g_autofree char *inner = g_strdup(list);
    g_strdelimit(inner, "{},", ' ');
    g_auto(GStrv) word = g_strsplit(inner, " ", -1);
    for (guint k = 0; word[k]; k++)
        if (*word[k] == '%')
            ptx_set(w, g_string_chunk_insert_const(w->p.r->text, word[k]), py_opaque(&w->p));
}

void ptx_shared(PtxWalk *w, const WsPtxInst *i)
{
    const gboolean writes = i->op[0] == 's', matrix = strstr(i->op, "matrix") != NULL;
    const gboolean plain = writes ? g_str_has_prefix(i->op, "st") : g_str_has_prefix(i->op, "ld");
    if (!plain || i->n < 2) {
        ptx_opaque(w, i, "an operation on shared memory");
        if (i->n)
            forget(w, i->arg[0]);
        return;
    }
    if (!matrix && (writes ? constant_store(w, i) : constant_load(w, i)))
        return;
    if (!writes)
        forget(w, i->arg[0]);
    const WsExpr *at = ptx_address(w, i->arg[writes ? 0 : i->n - 1], NULL);
    WsReadStep *s = ptx_new_step(w, writes ? WS_READ_WRITE : WS_READ_READ, i);
    s->buffer.index = at;
    s->all = w->warp_synced; /* handed on inside of a warp */
    PtxOperand *o = ptx_operand_of(w, &s->buffer);
    o->to = matrix ? 16 : bytes_of(i->op);
    o->touched = 32 * o->to;
}
