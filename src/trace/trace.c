/* Lifetime of a trace, adding records, and the index over its lanes. */
#include "trace/trace.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "trace/op_kind.h"

#include <math.h>
#include <string.h>

GQuark ws_trace_error_quark(void)
{
    return g_quark_from_static_string("ws-trace-error");
}

gint64 ws_trace_record_end(const WsTraceRecord *r)
{
    return MAX(r->start, MAX(r->issued, r->done));
}

/* Names of the loops around an operation, outermost first: "tile/k". */
static char *loop_path(const WsTree *t)
{
    GString *path = g_string_new(NULL);
    for (; t; t = t->parent) {
        if (t->kind != WS_TREE_LOOP)
            continue;
        if (path->len)
            g_string_prepend_c(path, '/');
        g_string_prepend(path, t->name ? t->name : "?");
    }
    return g_string_free(path, FALSE);
}

WsTrace *ws_trace_new(const WsProgram *p, WsTraceOrigin origin)
{
    WsTrace *t = g_new0(WsTrace, 1);
    t->refs = 1;
    t->origin = origin;
    t->every = 1;
    t->overhead = t->round_cost = t->tensor_busy = t->tma_busy = NAN;
    t->size_name = g_array_new(FALSE, FALSE, sizeof(char *));
    t->size = g_array_new(FALSE, FALSE, sizeof(gint64));
    t->cta = g_array_new(FALSE, FALSE, sizeof(WsTraceCta));
    t->claimed = g_array_new(FALSE, FALSE, sizeof(WsTraceClaim));
    t->begin = g_array_new(FALSE, FALSE, sizeof(gint64));
    t->launch = g_array_new(FALSE, FALSE, sizeof(WsTraceLaunch));
    t->let_go = g_array_new(FALSE, FALSE, sizeof(WsTraceLetGo));
    t->record = g_new0(WsTraceRecords, 1);
    t->lane = g_array_new(FALSE, FALSE, sizeof(WsTraceLane));
    t->span = g_array_new(FALSE, FALSE, sizeof(WsTraceSpan));
    t->op_kind = g_array_new(FALSE, FALSE, sizeof(guint8));
    t->op_id = g_ptr_array_new_with_free_func(g_free);
    t->op_label = g_ptr_array_new_with_free_func(g_free);
    t->op_loop = g_ptr_array_new_with_free_func(g_free);
    t->agent_name = g_ptr_array_new_with_free_func(g_free);
    if (!p)
        return t;
    t->design_text = g_strdup(p->design_text);
    t->design_hash = g_strdup(p->design_hash);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        guint8 kind = (guint8)op->kind;
        g_ptr_array_add(t->op_id, g_strdup(op->step ? op->step : op->id ? op->id : ""));
        g_ptr_array_add(t->op_label, g_strdup(op->label ? op->label : ws_op_kind_text(op->kind)));
        g_ptr_array_add(t->op_loop, loop_path(op->tree));
        g_array_append_val(t->op_kind, kind);
    }
    for (guint i = 0; i < p->n_agents; i++)
        g_ptr_array_add(t->agent_name, g_strdup(p->agent[i].name));
    return t;
}

WsTrace *ws_trace_ref(WsTrace *t)
{
    g_atomic_int_inc(&t->refs);
    return t;
}

void ws_trace_unref(WsTrace *t)
{
    if (!t || !g_atomic_int_dec_and_test(&t->refs))
        return;
    for (guint i = 0; i < t->size_name->len; i++)
        g_free(g_array_index(t->size_name, char *, i));
    g_array_free(t->size_name, TRUE);
    g_array_free(t->size, TRUE);
    g_array_free(t->cta, TRUE);
    g_array_free(t->claimed, TRUE);
    g_array_free(t->begin, TRUE);
    g_array_free(t->launch, TRUE);
    g_array_free(t->let_go, TRUE);
    g_free(t->record->bytes);
    g_free(t->record);
    g_array_free(t->lane, TRUE);
    g_array_free(t->span, TRUE);
    g_array_free(t->op_kind, TRUE);
    g_ptr_array_free(t->op_id, TRUE);
    g_ptr_array_free(t->op_label, TRUE);
    g_ptr_array_free(t->op_loop, TRUE);
    g_ptr_array_free(t->agent_name, TRUE);
    g_free(t->design_text);
    g_free(t->design_hash);
    g_free(t->device);
    g_free(t->note);
    g_free(t->bound);
    g_free(t);
}

void ws_trace_add(WsTrace *t, const WsTraceRecord *r)
{
    WsTraceRecords *list = t->record;
    if (list->len == list->room) {
        list->room = MAX(64, list->room + list->room / 2);
        if ((gpointer)list->data == list->bytes) {
            list->data = list->bytes = g_realloc_n(list->bytes, list->room, sizeof *r);
        } else { /* of a loaded trace: somewhere in the file's bytes */
            gpointer bytes = g_malloc_n(list->room, sizeof *r);
            memcpy(bytes, list->data, list->len * sizeof *r);
            g_free(list->bytes);
            list->data = list->bytes = bytes;
        }
    }
    list->data[list->len++] = *r;
}

void ws_trace_add_let_go(WsTrace *t, const WsTraceSpot *await, const WsTraceSpot *notify)
{
    const WsTraceLetGo fresh = { *await, *notify };
    g_array_append_val(t->let_go, fresh);
}

void ws_trace_add_size(WsTrace *t, const char *name, gint64 value)
{
    char *copy = g_strdup(name);
    g_array_append_val(t->size_name, copy);
    g_array_append_val(t->size, value);
}

static gint compare_records(gconstpointer pa, gconstpointer pb)
{
    const WsTraceRecord *a = pa, *b = pb;
    if (a->cta != b->cta)
        return a->cta < b->cta ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    gint64 ea = ws_trace_record_end(a), eb = ws_trace_record_end(b);
    if (ea != eb)
        return ea < eb ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

static void add_spans(WsTrace *t, WsTraceLane *lane)
{
    lane->first_span = t->span->len;
    guint64 below = lane->n, first = lane->first;
    for (gboolean leaves = TRUE; leaves || below > 1; leaves = FALSE) {
        guint64 here = t->span->len;
        for (guint64 i = 0; i < below; i += WS_TRACE_FAN) {
            WsTraceSpan span = { G_MAXINT64, G_MININT64 };
            for (guint64 j = i; j < MIN(i + WS_TRACE_FAN, below); j++) {
                if (leaves) {
                    const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, first + j);
                    span.start = MIN(span.start, r->start);
                    span.end = MAX(span.end, ws_trace_record_end(r));
                } else {
                    const WsTraceSpan *s = &g_array_index(t->span, WsTraceSpan, first + j);
                    span.start = MIN(span.start, s->start);
                    span.end = MAX(span.end, s->end);
                }
            }
            g_array_append_val(t->span, span);
        }
        below = t->span->len - here;
        first = here;
    }
    lane->n_span = t->span->len - lane->first_span;
}

static gint compare_again(gconstpointer a, gconstpointer b, gpointer unused)
{
    return compare_records(a, b);
}

static gboolean in_order(const WsTraceRecord *r, guint n)
{
    for (guint i = 1; i < n; i++)
        if (compare_records(&r[i - 1], &r[i]) > 0)
            return FALSE;
    return TRUE;
}

static void sort_range(WsTraceRecord *r, guint n)
{
    if (!in_order(r, n))
        g_qsort_with_data(r, (gint)n, sizeof *r, compare_again, NULL);
}

/* Most producers add in order already: then one pass is all. Those that play add what happens in
 * order of time: then each lane is, once the records are dealt out to their lanes. */
static void sort_records(WsTraceRecords *list)
{
    guint ctas = 0, agents = 0;
    if (in_order(list->data, list->len))
        return;
    for (guint i = 0; i < list->len; i++) {
        ctas = MAX(ctas, list->data[i].cta + 1u);
        agents = MAX(agents, list->data[i].agent + 1u);
    }
    const guint64 lanes = (guint64)ctas * agents;
    if (lanes > list->len) { /* hardly any record in each */
        sort_range(list->data, list->len);
        return;
    }
    g_autofree guint *at = g_new0(guint, lanes + 1);
    g_autofree WsTraceRecord *dealt = g_new(WsTraceRecord, list->len);
    for (guint i = 0; i < list->len; i++)
        at[list->data[i].cta * agents + list->data[i].agent + 1]++;
    for (guint64 k = 0; k < lanes; k++)
        at[k + 1] += at[k];
    for (guint i = 0; i < list->len; i++)
        dealt[at[list->data[i].cta * agents + list->data[i].agent]++] = list->data[i];
    memcpy(list->data, dealt, list->len * sizeof *dealt);
    for (guint64 k = 0, first = 0; k < lanes; first = at[k++]) /* at: the end of each now */
        sort_range(list->data + first, (guint)(at[k] - first));
}

void ws_trace_finish(WsTrace *t)
{
    WsTraceRecords *all = t->record;
    if ((gpointer)all->data == all->bytes && all->room > all->len && all->len) {
        all->data = all->bytes = g_realloc_n(all->bytes, all->len, sizeof *all->data);
        all->room = all->len;
    }
    sort_records(t->record);
    g_array_set_size(t->lane, 0);
    g_array_set_size(t->span, 0);
    gint64 first = G_MAXINT64, last = G_MININT64;
    for (guint64 i = 0; i < t->record->len;) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        WsTraceLane lane = { .cta = r->cta, .agent = r->agent, .first = i };
        gint64 cta_last = 0;
        for (; i < t->record->len; i++) {
            r = &g_array_index(t->record, WsTraceRecord, i);
            if (r->cta != lane.cta || r->agent != lane.agent)
                break;
            first = MIN(first, r->start);
            cta_last = MAX(cta_last, ws_trace_record_end(r));
        }
        last = MAX(last, cta_last);
        lane.n = i - lane.first;
        add_spans(t, &lane);
        g_array_append_val(t->lane, lane);
        while (t->cta->len <= lane.cta) { /* a producer that listed no CTAs */
            WsTraceCta cta = { .id = t->cta->len, .sm = G_MAXUINT32 };
            g_array_append_val(t->cta, cta);
        }
        WsTraceCta *cta = &g_array_index(t->cta, WsTraceCta, lane.cta);
        cta->cycles = MAX(cta->cycles, cta_last);
    }
    gint64 span = 0;
    if (t->record->len && !__builtin_sub_overflow(last, first, &span))
        t->cycles = MAX(t->cycles, span);
}

guint ws_trace_device(const WsTrace *t, guint cta)
{
    const guint32 id = cta < t->cta->len ? g_array_index(t->cta, WsTraceCta, cta).id : 0;
    return t->grid > 0 ? (guint)(id / t->grid) : 0;
}

guint ws_trace_cta_id(const WsTrace *t, guint cta)
{
    const guint32 id = cta < t->cta->len ? g_array_index(t->cta, WsTraceCta, cta).id : cta;
    return t->grid > 0 ? (guint)(id % t->grid) : id;
}

gboolean ws_trace_has_devices(const WsTrace *t)
{
    for (guint i = 0; i < t->cta->len; i++)
        if (ws_trace_device(t, i) > 0)
            return TRUE;
    return FALSE;
}

char *ws_trace_cta_text(const WsTrace *t, guint cta)
{
    return ws_trace_has_devices(t) ? g_strdup_printf("device %u, CTA %u", ws_trace_device(t, cta),
                                                     ws_trace_cta_id(t, cta))
                                   : g_strdup_printf("CTA %u", ws_trace_cta_id(t, cta));
}

WsOpKind ws_trace_op_kind(const WsTrace *t, guint op)
{
    return op < t->op_kind->len ? (WsOpKind)g_array_index(t->op_kind, guint8, op)
                                : WS_OP_KIND_COUNT;
}

const char *ws_trace_op_label(const WsTrace *t, guint op)
{
    return op < t->op_label->len ? t->op_label->pdata[op] : "?";
}

const WsTraceLane *ws_trace_lane(const WsTrace *t, guint cta, guint agent)
{
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(t->lane, WsTraceLane, i);
        if (lane->cta == cta && lane->agent == agent)
            return lane;
    }
    return NULL;
}

typedef struct {
    const WsTrace *t;
    const WsTraceLane *lane;
    guint64 first_span[12], n_span[12]; /* per level; 64^11 > 2^64 */
    gint64 from, to;
    WsTraceVisit visit;
    gpointer data;
} Window;

static void visit_span(const Window *w, gint level, guint64 i)
{
    guint64 below = level == 0 ? w->lane->n : w->n_span[level - 1];
    guint64 end = MIN((i + 1) * WS_TRACE_FAN, below);
    for (guint64 j = i * WS_TRACE_FAN; j < end; j++) {
        if (level == 0) {
            const WsTraceRecord *r =
                &g_array_index(w->t->record, WsTraceRecord, w->lane->first + j);
            if (r->start >= w->to)
                return;
            if (ws_trace_record_end(r) >= w->from)
                w->visit(r, w->data);
        } else {
            const WsTraceSpan *s =
                &g_array_index(w->t->span, WsTraceSpan, w->first_span[level - 1] + j);
            if (s->start >= w->to)
                return;
            if (s->end >= w->from)
                visit_span(w, level - 1, j);
        }
    }
}

void ws_trace_window(const WsTrace *t, const WsTraceLane *lane, gint64 from, gint64 to,
                     WsTraceVisit visit, gpointer data)
{
    if (!lane || !lane->n)
        return;
    Window w = { .t = t, .lane = lane, .from = from, .to = to, .visit = visit, .data = data };
    gint levels = 0;
    guint64 at = lane->first_span, n = lane->n;
    do {
        n = (n + WS_TRACE_FAN - 1) / WS_TRACE_FAN;
        w.first_span[levels] = at;
        w.n_span[levels++] = n;
        at += n;
    } while (n > 1);
    visit_span(&w, levels - 1, 0);
}
