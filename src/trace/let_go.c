#include "trace/let_go.h"
#include "model/findings.h"
#include "program/op.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "trace/bind.h"
#include "trace/op_kind.h"

#include <math.h>
#include <string.h>

#define COMPARED " devices, their clocks compared to within " /* of WS_CLOCKS_COMPARED */
#define SLACK    64 /* cycles by which two clock reads of one CTA may be off */

struct WsLetGo {
    const WsTrace *t;
    GHashTable *by; /* WsTraceRecord* (the await) -> WsLetGoBy */
};

double ws_trace_clock_error(const WsTrace *t, guint cta, guint other)
{
    const guint a = ws_trace_device(t, cta), b = ws_trace_device(t, other);
    const char *said = t->note ? strstr(t->note, COMPARED) : NULL;
    if (cta == other || t->origin != WS_TRACE_MEASURED)
        return 0;
    const double us = said ? g_ascii_strtod(said + strlen(COMPARED), NULL) : NAN;
    if (!(us >= 0 && us < 1e9))
        return NAN;
    return 1e3 * us * (a && b && a != b ? 2 : 1); /* each was compared with the first one */
}

/* --- predicted -------------------------------------------------------------------------------- */
static guint hash_spot(gconstpointer p)
{
    const WsTraceSpot *s = p;
    return s->op * 2654435761u ^ (guint)s->round * 40503u ^ s->agent * 65599u ^ s->cta;
}

static gboolean same_spot(gconstpointer pa, gconstpointer pb)
{
    const WsTraceSpot *a = pa, *b = pb;
    return a->cta == b->cta && a->agent == b->agent && a->op == b->op && a->round == b->round;
}

static gint64 over(const WsTraceRecord *r)
{
    return MAX(r->issued, r->start);
}

static void put(WsLetGo *l, const WsTraceRecord *await, const WsTraceRecord *by, gboolean least)
{
    const WsLetGoBy found = { by, MIN(over(by), over(await)), least };
    g_hash_table_insert(l->by, (gpointer)await, g_memdup2(&found, sizeof found));
}

/* Records of flags by their place. */
static GHashTable *index_spots(const WsTrace *t)
{
    GHashTable *index = g_hash_table_new_full(hash_spot, same_spot, g_free, NULL);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        const WsOpKind kind = ws_trace_op_kind(t, r->op);
        const WsTraceSpot spot = { r->cta, r->agent, r->op, r->round };
        if (ws_op_notifies(kind) || ws_op_awaits(kind))
            g_hash_table_insert(index, g_memdup2(&spot, sizeof spot), (gpointer)r);
    }
    return index;
}

static void take_played(WsLetGo *l)
{
    g_autoptr(GHashTable) index = index_spots(l->t);
    for (guint i = 0; i < l->t->let_go->len; i++) {
        const WsTraceLetGo *x = &g_array_index(l->t->let_go, WsTraceLetGo, i);
        const WsTraceRecord *await = g_hash_table_lookup(index, &x->await);
        const WsTraceRecord *notify = g_hash_table_lookup(index, &x->notify);
        if (await && notify)
            put(l, await, notify, FALSE);
    }
}

/* --- measured --------------------------------------------------------------------------------- */
/* What a recorded execution adds to an element of a flag of a device, or asks of it. */
typedef struct {
    gint64 device; /* -1: of all */
    gint64 flag, element, amount;
    const WsTraceRecord *r;
} Said;

typedef struct {
    const WsProgram *p;
    const WsTrace *t;
    GHashTable *notify; /* Said* (key: flag, element) -> GArray of Said */
    GArray *await;      /* Said */
    gint64 *all;        /* by flag: what a launch of all devices adds to an element; -1 not known */
} Heard;

static guint hash_said(gconstpointer p)
{
    const Said *s = p;
    return (guint)s->flag * 65599u ^ (guint)s->element * 2654435761u;
}

static gboolean same_said(gconstpointer pa, gconstpointer pb)
{
    const Said *a = pa, *b = pb;
    return a->flag == b->flag && a->element == b->element;
}

static void free_array(gpointer p)
{
    g_array_free(p, TRUE);
}

static void hear_notify(Heard *h, const Said *s)
{
    GArray *list = g_hash_table_lookup(h->notify, s);
    if (!list) {
        list = g_array_new(FALSE, FALSE, sizeof(Said));
        g_hash_table_insert(h->notify, g_memdup2(s, sizeof *s), list);
    }
    g_array_append_vals(list, s, 1);
}

static void hear_cta(Heard *h, guint cta)
{
    g_autoptr(WsBind) bind = ws_bind_new_flags(h->p, h->t, cta);
    for (guint a = 0; bind && a < h->t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(h->t, cta, a);
        for (guint64 i = 0; lane && i < lane->n; i++) {
            const WsTraceRecord *r = &g_array_index(h->t->record, WsTraceRecord, lane->first + i);
            const WsBound *b = ws_bind_get(bind, r->op, r->round);
            if (!b || b->use < 1 || b->element < 0)
                continue;
            const gboolean notifies = ws_op_notifies(ws_trace_op_kind(h->t, r->op));
            const Said s = { notifies ? b->slot : (gint64)ws_trace_device(h->t, cta),
                             h->p->op[r->op]->peer->flag, b->element, b->use, r };
            if (notifies)
                hear_notify(h, &s);
            else
                g_array_append_val(h->await, s);
        }
    }
}

static gint by_end(gconstpointer pa, gconstpointer pb)
{
    const Said *a = pa, *b = pb;
    return over(a->r) < over(b->r) ? -1 : over(a->r) > over(b->r);
}

static void find_per_launch(Heard *h)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree WsSize *size = g_new0(WsSize, h->t->size->len + 1);
    const WsMesh *mesh = h->p->mesh;
    for (guint i = 0; i < h->t->size->len; i++)
        size[i] = (WsSize){ g_array_index(h->t->size_name, char *, i),
                            g_array_index(h->t->size, gint64, i) };
    g_autoptr(WsLaunchValues) v = ws_launch_values(h->p, size, h->t->size->len, FALSE, findings);
    h->all = g_new(gint64, mesh->n_flags + 1);
    for (guint f = 0; f < mesh->n_flags; f++) {
        const WsExprEnv env = v ? ws_launch_env(v) : (WsExprEnv){ 0 };
        if (!v || !ws_expr_eval(mesh->flag[f].per_launch, &env, &h->all[f], NULL))
            h->all[f] = -1;
    }
}

/* Cycles by which the times of two executions may be off; -1 not known. */
static gint64 apart(const WsTrace *t, const WsTraceRecord *a, const WsTraceRecord *b)
{
    const double ns = ws_trace_clock_error(t, a->cta, b->cta);
    const double ghz = g_array_index(t->cta, WsTraceCta, a->cta).ghz;
    if (ns == 0)
        return SLACK;
    return isnan(ns) || !(ghz > 0) ? -1 : (gint64)ceil(ns * ghz) + SLACK;
}

/* One of another CTA that may have changed places with it, as far as the clocks tell. */
static gboolean rivalled(const Heard *h, const GArray *adds, const Said *last)
{
    for (guint i = 0; i < adds->len; i++) {
        const Said *x = &g_array_index(adds, Said, i);
        const gint64 off = apart(h->t, x->r, last->r);
        if (x->r->cta != last->r->cta && (off < 0 || ABS(over(x->r) - over(last->r)) <= off))
            return TRUE;
    }
    return FALSE;
}

/* With which of them, ascending in time, so much was there. */
static const Said *crossing(const GArray *adds, gint64 amount)
{
    gint64 sum = 0;
    for (guint i = 0; i < adds->len; i++) {
        const Said *s = &g_array_index(adds, Said, i);
        sum += s->amount;
        if (sum >= amount)
            return s;
    }
    return NULL;
}

static void find_measured(WsLetGo *l, const Heard *h, const Said *await)
{
    const GArray *of_all = g_hash_table_lookup(h->notify, await);
    const gint64 all = h->all[await->flag];
    g_autoptr(GArray) adds = g_array_new(FALSE, FALSE, sizeof(Said));
    gint64 sum = 0;
    for (guint i = 0; of_all && i < of_all->len; i++) {
        const Said *s = &g_array_index(of_all, Said, i);
        if (s->device >= 0 && s->device != await->device)
            continue;
        g_array_append_vals(adds, s, 1);
        sum += s->amount;
    }
    /* All of them are known, or each of those that are was needed. */
    const gboolean complete = sum == all, whole = await->amount == all;
    if (!adds->len || all < 0 || sum > all || !(complete || whole))
        return;
    g_array_sort(adds, by_end);
    const Said *last = crossing(adds, whole ? sum : await->amount);
    const gint64 off = last ? apart(h->t, last->r, await->r) : -1;
    if (off >= 0 && over(last->r) - off <= over(await->r) && !rivalled(h, adds, last))
        put(l, await->r, last->r, !complete);
}

static void take_measured(WsLetGo *l, const WsProgram *p)
{
    Heard h = { .p = p,
                .t = l->t,
                .notify = g_hash_table_new_full(hash_said, same_said, g_free, free_array),
                .await = g_array_new(FALSE, FALSE, sizeof(Said)) };
    find_per_launch(&h);
    for (guint cta = 0; cta < l->t->cta->len; cta++)
        hear_cta(&h, cta);
    for (guint i = 0; i < h.await->len; i++)
        find_measured(l, &h, &g_array_index(h.await, Said, i));
    g_hash_table_destroy(h.notify);
    g_array_unref(h.await);
    g_free(h.all);
}

/* --- asking ----------------------------------------------------------------------------------- */
static gboolean comparable(const WsTrace *t)
{
    for (guint cta = 1; cta < t->cta->len; cta++)
        if (isnan(ws_trace_clock_error(t, 0, cta)))
            return FALSE;
    return TRUE;
}

WsLetGo *ws_let_go_new(const WsProgram *p, const WsTrace *t)
{
    if (!p->mesh || t->op_id->len != p->n_ops || !comparable(t))
        return NULL;
    WsLetGo *l = g_new0(WsLetGo, 1);
    l->t = t;
    l->by = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    if (t->origin == WS_TRACE_MEASURED)
        take_measured(l, p);
    else
        take_played(l);
    return l;
}

void ws_let_go_free(WsLetGo *l)
{
    if (!l)
        return;
    g_hash_table_destroy(l->by);
    g_free(l);
}

WsLetGoBy ws_let_go_of(const WsLetGo *l, const WsTraceRecord *await)
{
    const WsLetGoBy *found = l ? g_hash_table_lookup(l->by, await) : NULL;
    return found ? *found : (WsLetGoBy){ 0 };
}
