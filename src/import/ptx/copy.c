#include "import/ptx/walk.h"

#include <string.h>

/* Copies: tiles of tensors, bulk copies, cp.async. */

/* A copy whose place in its tensor is not followed: all of them are one entry of the list. */
static void unplaced(PtxWalk *w, guint line)
{
    if (w->p.probing)
        return;
    w->place_from = w->place_from ? MIN(w->place_from, line) : line;
    w->place_to = MAX(w->place_to, line);
}

/* A step for a tensor without coordinates: from where in global memory is not followed. */
static gboolean from_pointer(PtxWalk *w, WsReadStep *s, const char *text, guint rank)
{
    WsRead *r = w->p.r;
    const gsize n = strlen(text);
    g_autofree char *inner = n > 2 ? g_strndup(text + 1, n - 2) : g_strdup("");
    inner[strcspn(inner, "+")] = '\0';
    g_strstrip(inner);
    const WsExpr *e = ptx_int(w, g_string_chunk_insert(r->text, inner));
    Val *map = py_val(&w->p, VAL_PARAM);
    map->text = "global";
    for (guint i = 0; i < w->ptx->params->len; i++) {
        const char *name = g_array_index(w->ptx->params, const char *, i);
        const char *size = ptx_parameter_size(w, name);
        if (e && size && ws_expr_mentions(e, size))
            map->text = size;
    }
    map->text = ws_source_format(r, "%s_at", map->text);
    s->tensor = py_tensor(&w->p, map, rank, 0);
    if (s->tensor < 0)
        return FALSE;
    g_array_index(r->tensors, WsReadTensor, s->tensor).rank = rank;
    s->n_coord = rank;
    for (guint i = 0; i < rank; i++)
        s->coord[i] = ws_x_int(r, 0);
    return TRUE;
}

/* "[%rd1, {%r1, %r2}]": tensor and coordinates, innermost last. */
static gboolean tensor_of(PtxWalk *w, WsReadStep *s, const char *text)
{
    PyRead *p = &w->p;
    if (*text != '[')
        return FALSE;
    g_autofree char *inner = g_strdup(text + 1);
    g_strdelimit(inner, "[]{}", ' ');
    g_auto(GStrv) word = g_strsplit(inner, ",", -1);
    const guint n = g_strv_length(word);
    if (n < 2 || n > 6)
        return FALSE;
    g_strstrip(word[0]);
    const Val *map = ptx_operand(w, g_string_chunk_insert(p->r->text, word[0]));
    gint64 offset;
    const char *in = map->kind == VAL_INT ? ptx_parameter(w, map->e, &offset) : NULL;
    if (in)
        map = ptx_field_at(w, in, offset);
    s->tensor = py_tensor(p, map, n - 1, 0);
    if (s->tensor < 0)
        return FALSE;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    t->rank = n - 1;
    s->n_coord = n - 1;
    for (guint i = 1; i < n; i++) {
        g_strstrip(word[i]);
        const WsExpr *e = ptx_int(w, g_string_chunk_insert(p->r->text, word[i]));
        s->coord[n - 1 - i] = e ? ptx_ring_form(p->r, e) : ws_x_int(p->r, 0);
        if (!e)
            unplaced(w, s->line);
    }
    return TRUE;
}

/* The CTAs of a multicast mask. FALSE: it is no number. */
static gboolean multicast(PtxWalk *w, WsReadStep *s, const char *text)
{
    gint64 mask;
    if (!ws_x_is(ptx_int(w, text), &mask) || mask < 1)
        return FALSE;
    s->ctas = mask == ((gint64)1 << w->p.r->cluster) - 1 ? G_MAXUINT : (guint)(mask & 0xffff);
    return TRUE;
}

static void give_up(PtxWalk *w, const WsPtxInst *i, WsReadStep *s, const char *what)
{
    s->off = TRUE;
    ptx_lost(w, i, what);
}

static void tile(PtxWalk *w, const WsPtxInst *i, gboolean load)
{
    WsReadStep *s = ptx_new_step(w, load ? WS_READ_LOAD : WS_READ_STORE, i);
    const WsExpr *cta = NULL;
    s->buffer.index = ptx_address(w, i->arg[load ? 0 : 1], &cta);
    if (load)
        s->barrier.index = ptx_address(w, i->arg[2], NULL);
    if (s->buffer.index && !ptx_divides(s->buffer.index, 128))
        give_up(w, i, s, "a copy to or from an address that may be no multiple of 128");
    else if (cta || !s->buffer.index || (load && !s->barrier.index) ||
             !tensor_of(w, s, i->arg[load ? 1 : 0]))
        give_up(w, i, s, "a copy whose addresses or coordinates are not known");
    else if (strstr(i->op, "multicast") && (i->n < 4 || !multicast(w, s, i->arg[3])))
        give_up(w, i, s, "a multicast to CTAs that are not known");
    else if (!load)
        g_array_append_val(w->stores, s);
    w->stored |= !load;
}

/* cp.async.bulk [to], [from], bytes, [barrier] without a tensor map. */
static void block(PtxWalk *w, const WsPtxInst *i, gboolean load)
{
    gint64 bytes = 0;
    WsReadStep *s = ptx_new_step(w, load ? WS_READ_LOAD : WS_READ_STORE, i);
    s->buffer.index = ptx_address(w, i->arg[load ? 0 : 1], NULL);
    if (load)
        s->barrier.index = i->n > 3 ? ptx_address(w, i->arg[3], NULL) : NULL;
    if (!s->buffer.index || (load && !s->barrier.index) ||
        !ws_x_is(ptx_int(w, i->arg[2]), &bytes) || bytes < 1 ||
        !from_pointer(w, s, i->arg[load ? 1 : 0], 1)) {
        give_up(w, i, s, "a bulk copy whose addresses or size are not known");
        return;
    }
    if (bytes % 16 || !ptx_divides(s->buffer.index, 16)) {
        give_up(w, i, s, "a bulk copy that may be no multiple of 16 bytes at one of 16");
        return;
    }
    ptx_operand_of(w, &s->buffer)->to = bytes;
    unplaced(w, i->line);
    w->stored |= !load;
    if (!load)
        g_array_append_val(w->stores, s);
}

/* Shared memory to another CTA. */
static void peer(PtxWalk *w, const WsPtxInst *i)
{
    gint64 bytes = 0;
    const WsExpr *to = NULL, *credits = NULL;
    WsReadStep *s = ptx_new_step(w, WS_READ_COPY, i);
    s->buffer.index = i->n > 3 ? ptx_address(w, i->arg[0], &to) : NULL;
    s->a.index = i->n > 3 ? ptx_address(w, i->arg[1], NULL) : NULL;
    s->barrier.index = i->n > 3 ? ptx_address(w, i->arg[3], &credits) : NULL;
    s->cta = to;
    if (!s->buffer.index || !s->a.index || !s->barrier.index || !to || !credits ||
        w->ptx->cluster < 2 || !ws_expr_equal(to, credits) ||
        !ws_x_is(ptx_int(w, i->arg[2]), &bytes) || bytes < 1) {
        give_up(w, i, s, "a copy to another CTA whose addresses are not known");
        return;
    }
    ptx_operand_of(w, &s->buffer)->to = bytes;
    ptx_operand_of(w, &s->a)->to = bytes;
}

/* The stores since the last commit are one group. */
static void commit(PtxWalk *w, const WsPtxInst *i)
{
    gint64 known;
    gboolean empty = !w->stores->len || !ws_x_is(ptx_predicate(w, i), &known);
    for (guint k = 0; k < w->stores->len; k++) {
        WsReadStep *s = g_array_index(w->stores, WsReadStep *, k);
        const gboolean last = k + 1 == w->stores->len;
        guint at;
        s->all = !last; /* open */
        empty |= last && (s->when || !g_ptr_array_find(w->p.to, s, &at));
    }
    g_array_set_size(w->stores, 0);
    if (empty && w->compares) /* a wait counts it */
        ptx_new_step(w, WS_READ_COMPUTE, i)->text = "a group that may be empty";
    w->empty_commit |= empty && !w->p.probing;
}

void ptx_stores_counted(PtxWalk *w)
{
    if (w->counted && w->stored)
        ptx_lost(w, w->counted,
                 "a wait that counts groups of bulk stores of which some may be empty");
    w->counted = NULL;
}

void ptx_stores_closed(PtxWalk *w, const WsPtxInst *i)
{
    if (w->stores->len)
        ptx_lost(w, i, "a bulk store that no commit closes before");
    g_array_set_size(w->stores, 0);
}

void ptx_bulk(PtxWalk *w, const WsPtxInst *i)
{
    gint64 n;
    if (strstr(i->op, "prefetch"))
        return;
    if (strstr(i->op, "commit_group")) {
        commit(w, i);
        return;
    }
    if (strstr(i->op, "wait_group")) {
        if (!i->n || !ws_x_is(ptx_int(w, i->arg[0]), &n)) {
            ptx_lost(w, i, "a wait for bulk stores whose number is not known");
            return;
        }
        ptx_stores_closed(w, i);
        if (n && w->empty_commit && !w->p.probing)
            w->counted = i; /* of a thread that stores nothing it waits for nothing */
        WsReadStep *s = ptx_new_step(w, WS_READ_STORE_WAIT, i);
        s->n = n;
        s->flag = !strstr(i->op, ".read");
        return;
    }
    const gboolean load = strstr(i->op, ".shared::cluster.global") ||
                          strstr(i->op, ".shared::cta.global"),
                   store = strstr(i->op, ".global.shared::cta") != NULL,
                   tensor = strstr(i->op, ".tensor") != NULL;
    if (g_str_has_prefix(i->op, "cp.reduce") || strstr(i->op, "im2col") || i->n < 2)
        ptx_lost(w, i, "a bulk copy that is no plain tile of a tensor");
    else if (tensor && (load || store) && i->n >= (load ? 3 : 2))
        tile(w, i, load);
    else if (!tensor && (load || store) && i->n >= 3 && !strstr(i->op, "multicast"))
        block(w, i, load);
    else if (strstr(i->op, ".shared::cluster.shared::cta"))
        peer(w, i);
    else
        ptx_lost(w, i, "a bulk copy that is no plain tile of a tensor");
}

/* --- cp.async --------------------------------------------------------------------------------- */

/* Copies of 4 to 16 bytes by each thread: what stands in a row is one step (finish joins them). */
static void copy_row(PtxWalk *w, const WsPtxInst *i)
{
    gint64 bytes = 16;
    if (i->n < 2) {
        ptx_lost(w, i, "a cp.async without addresses");
        return;
    }
    if (i->n > 2 && (!ws_x_is(ptx_int(w, i->arg[2]), &bytes) || bytes < 4 || bytes > 16)) {
        ptx_lost(w, i, "a cp.async whose size is not a number");
        return;
    }
    WsReadStep *s = ptx_new_step(w, WS_READ_GATHER, i);
    s->buffer.index = ptx_address(w, i->arg[0], NULL);
    if (!s->buffer.index || !from_pointer(w, s, i->arg[1], 2)) {
        give_up(w, i, s, "a cp.async whose address in shared memory is no affine expression");
        return;
    }
    if (!ptx_divides(s->buffer.index, bytes)) {
        give_up(w, i, s, PTX_UNALIGNED);
        return;
    }
    PtxOperand *o = ptx_operand_of(w, &s->buffer);
    o->to = bytes;
    ptx_lanes_bytes(w, i, 32, bytes, o);
    unplaced(w, i->line);
}

void ptx_cp_async(PtxWalk *w, const WsPtxInst *i)
{
    gint64 n = 0;
    if (strstr(i->op, "commit_group")) {
        /* closes the group: a step that finish takes out again */
        WsReadStep *s = ptx_new_step(w, WS_READ_LOAD_WAIT, i);
        s->flag = TRUE;
        if (s->when)
            ptx_lost(w, i, "a commit of copies under a predicate");
    } else if (strstr(i->op, "wait_group")) {
        if (!i->n || !ws_x_is(ptx_int(w, i->arg[0]), &n)) {
            ptx_lost(w, i, "a wait for groups of cp.async whose number is not known");
            return;
        }
        ptx_new_step(w, WS_READ_LOAD_WAIT, i)->n = n;
    } else if (strstr(i->op, "wait_all")) {
        WsReadStep *s = ptx_new_step(w, WS_READ_LOAD_WAIT, i);
        s->n = 0;
        s->all = TRUE;
    } else if (strstr(i->op, "mbarrier.arrive")) {
        const WsExpr *at = i->n ? ptx_address(w, i->arg[0], NULL) : NULL;
        if (!at || !strstr(i->op, "noinc")) {
            ptx_lost(w, i, "an arrival of cp.async that is not counted by the barrier");
            return;
        }
        WsReadStep *s = ptx_new_step(w, WS_READ_ARRIVE, i); /* finish gives it to the copies */
        s->barrier.index = at;
        s->text = "cp.async";
        s->n = 1;
    } else {
        copy_row(w, i);
    }
}
