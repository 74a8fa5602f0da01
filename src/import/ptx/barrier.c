#include "import/fit.h"
#include "import/ptx/walk.h"

#include <string.h>

/* mbarriers, named barriers, barriers of the cluster. */

static void init(PtxWalk *w, const WsPtxInst *i)
{
    gint64 at, count;
    if (i->n < 2 || !ws_x_is(ptx_address(w, i->arg[0], NULL), &at) ||
        !ws_x_is(ptx_int(w, i->arg[1]), &count)) {
        ptx_unread(w, i, "the initialisation of an mbarrier whose address is no number");
        return;
    }
    g_hash_table_insert(w->inits, GSIZE_TO_POINTER((gsize)at), GSIZE_TO_POINTER((gsize)count));
}

static WsReadStep *at_barrier(PtxWalk *w, WsReadKind kind, const WsPtxInst *i, const char *where)
{
    const WsExpr *cta = NULL, *e = ptx_address(w, where, &cta);
    if (!e) {
        ptx_lost(w, i, "an mbarrier whose address is no affine expression");
        return NULL;
    }
    WsReadStep *s = ptx_new_step(w, kind, i);
    s->barrier.index = e;
    s->n = 1;
    s->cta = cta;
    return s;
}

static void wait(PtxWalk *w, const WsPtxInst *i)
{
    const WsExpr *parity = i->n > 2 ? ptx_int(w, i->arg[2]) : NULL;
    w->waits = TRUE;
    if (!parity || !strstr(i->op, ".parity")) {
        ptx_lost(w, i, "a wait whose parity is no affine expression");
        return;
    }
    WsReadStep *s = at_barrier(w, WS_READ_WAIT, i, i->arg[1]);
    if (s)
        s->parity = ws_fit(w->p.r, ws_x_mod(w->p.r, parity, 2));
}

static void expect(PtxWalk *w, const WsPtxInst *i)
{
    const guint at = strstr(i->op, "mbarrier.arrive") ? 1 : 0;
    gint64 bytes;
    if (i->n < at + 2 || !ws_x_is(ptx_int(w, i->arg[at + 1]), &bytes)) {
        ptx_lost(w, i, "an expect whose number of bytes is no number");
        return;
    }
    if (!at) {
        ptx_lost(w, i, "an expect that does not arrive");
        return;
    }
    WsReadStep *s = at_barrier(w, WS_READ_EXPECT, i, i->arg[at]);
    if (s)
        s->n = bytes;
}

static void arrive(PtxWalk *w, const WsPtxInst *i)
{
    WsReadStep *s = at_barrier(w, WS_READ_ARRIVE, i, i->arg[1]);
    const gboolean there = s && s->cta && w->ptx->cluster < 2; /* how many CTAs is not said */
    if (there || (s && strstr(i->op, "shared::cluster") && !s->cta)) {
        s->off = TRUE;
        ptx_lost(w, i, "an arrival in a CTA that is not known");
        return;
    }
    if (s && i->n > 2 && !ws_x_is(ptx_int(w, i->arg[2]), &s->n)) {
        s->off = TRUE;
        ptx_lost(w, i, "an arrival whose count is no number");
    }
}

void ptx_mbarrier(PtxWalk *w, const WsPtxInst *i)
{
    if (strstr(i->op, "mbarrier.init"))
        init(w, i);
    else if (strstr(i->op, "_wait"))
        wait(w, i);
    else if (strstr(i->op, "expect_tx"))
        expect(w, i);
    else if (g_str_has_prefix(i->op, "mbarrier.arrive") && i->n > 1 && !strstr(i->op, "drop"))
        arrive(w, i);
    else if (!strstr(i->op, "inval"))
        ptx_lost(w, i, "an operation on an mbarrier");
}

/* bar.sync id, n: of the group alone, of the CTA, or named. */
void ptx_named(PtxWalk *w, const WsPtxInst *i)
{
    gint64 id = 0, n = w->ptx->threads;
    if (!i->n || !ws_x_is(ptx_int(w, i->arg[0]), &id) ||
        (i->n > 1 && !ws_x_is(ptx_int(w, i->arg[1]), &n))) {
        ptx_lost(w, i, "a barrier whose number is not known");
        return;
    }
    const gboolean sync = !strstr(i->op, "arrive");
    if (sync && n == w->ptx->threads) {
        WsReadStep *s = ptx_new_step(w, WS_READ_SYNC, i);
        s->name = "cta";
        s->all = !w->p.loops->len; /* outside of loops: may be what opens and closes the roles */
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

/* A pair of arrive and wait before anything else was done is the one a design derives. */
void ptx_cluster(PtxWalk *w, const WsPtxInst *i)
{
    const gboolean wait = strstr(i->op, ".wait") != NULL;
    if (w->ptx->cluster < 2 && !wait)
        return; /* of one CTA: its wait is a barrier of all threads */
    WsReadStep *s = ptx_new_step(w, w->ptx->cluster < 2 ? WS_READ_SYNC : WS_READ_CLUSTER, i);
    s->name = w->ptx->cluster < 2 ? "cta" : wait ? "wait" : "arrive";
    s->all = !w->p.loops->len;
}
