/* Staffs: what the agents do (control row), what is in flight for them (rows per engine, as many
 * tracks as overlap asks for), and the measured bars under both. */
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "score/build.h"
#include "trace/op_kind.h"

#include <math.h>
#include <string.h>

#define CONTROL_HEIGHT  22.0
#define FLIGHT_HEIGHT   14.0
#define MEASURED_HEIGHT 9.0
#define MEASURED_FLIGHT 7.0
#define MAX_TRACKS      12
#define OPAQUE_WIDTH    9.0 /* at least: nobody knows how long it takes */
#define LABEL_SIZE      10.0

guint ws_place_hash(gconstpointer p)
{
    const WsTracePlace *k = p;
    return (k->agent * 65599u + k->op) * 2654435761u ^ (guint)k->round;
}

gboolean ws_place_equal(gconstpointer pa, gconstpointer pb)
{
    const WsTracePlace *a = pa, *b = pb;
    return a->agent == b->agent && a->op == b->op && a->round == b->round;
}

guint ws_staff_item(const WsBuild *b, guint agent, guint op, gint32 round)
{
    WsTracePlace key = { agent, op, round };
    return GPOINTER_TO_UINT(g_hash_table_lookup(b->item_of, &key));
}

static void remember(WsBuild *b, const WsTraceRecord *r, guint id)
{
    WsTracePlace key = { r->agent, r->op, r->round };
    g_hash_table_replace(b->item_of, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(id));
}

/* Bookkeeping that takes no time of its own (arrivals, commits, fences) is not drawn as a bar. */
gboolean ws_scene_draws(const WsTrace *t, const WsTraceRecord *r)
{
    WsOpKind kind = ws_trace_op_kind(t, r->op);
    return ws_item_kind_of(kind) != WS_ITEM_OTHER || MAX(r->issued, r->done) - r->start >= 16;
}

/* Pixels of [from, to], cut to the time area. */
static void place(const WsBuild *b, gint64 from, gint64 to, double *x, double *w)
{
    *x = ws_scene_x(b->s, from);
    *w = ws_scene_x(b->s, MAX(to, from)) - *x;
}

/* What the steps do in the language of the page; what they do it with has a name. */
static const char *verb_in(const WsBuild *b, const char *verb)
{
    static const char *const known[] = {
        WS_MARK("wait"),   WS_MARK("arrive"), WS_MARK("claim"), WS_MARK("compute"), WS_MARK("copy"),
        WS_MARK("gather"), WS_MARK("load"),   WS_MARK("store"), WS_MARK("sync"),
    };
    for (guint i = 0; b->o->translate && i < G_N_ELEMENTS(known); i++)
        if (!strcmp(verb, known[i]))
            return b->o->translate(known[i], NULL);
    return verb;
}

/* "wait full" */
static char *op_label(const WsBuild *b, const WsTrace *t, guint op)
{
    const char *label = ws_trace_op_label(t, op), *space = strchr(label, ' ');
    if (!b->o->translate)
        return g_strdup(label);
    g_autofree char *verb = space ? g_strndup(label, (gsize)(space - label)) : g_strdup(label);
    return g_strconcat(verb_in(b, verb), space, NULL);
}

static char *short_label(const WsBuild *b, const WsTraceRecord *r)
{
    char *label = op_label(b, b->t, r->op);
    char *arrow = strstr(label, " -> ");
    if (arrow)
        *arrow = 0;
    return label;
}

static char *tip_of(const WsBuild *b, const WsTrace *t, const WsTraceRecord *r)
{
    g_autofree char *round = ws_round_text(b, r), *start = ws_group_digits(r->start);
    GString *s = g_string_new(NULL);
    g_autofree char *name = op_label(b, t, r->op);
    g_string_append_printf(s, "%s, %s", name, (const char *)t->agent_name->pdata[r->agent]);
    if (r->tile >= 0)
        g_string_append_printf(s, ws_build_words(b, ", tile %d"), r->tile);
    if (*round)
        g_string_append_printf(s, ", %s", round);
    g_string_append_printf(s, ws_build_words(b, ": starts %s"), start);
    g_autofree char *issue = ws_group_digits(MAX(r->issued, r->start) - r->start);
    if (ws_op_waits(ws_trace_op_kind(t, r->op)))
        g_string_append_printf(s, ws_build_words(b, ", waits %s cycles"), issue);
    else if (r->issued >= 0)
        g_string_append_printf(s, ws_build_words(b, ", issue %s cycles"), issue);
    if (r->done > r->issued) {
        g_autofree char *done = ws_group_digits(r->done - r->start);
        g_string_append_printf(s, ws_build_words(b, ", done after %s"), done);
    }
    return g_string_free(s, FALSE);
}

static void fill_item(const WsBuild *b, gboolean overlay, const WsTraceRecord *r, WsSceneItem *item)
{
    const WsTrace *t = overlay ? b->overlay : b->t;
    item->measured = t->origin == WS_TRACE_MEASURED;
    item->op = r->op;
    item->step = t->op_id->pdata[r->op];
    item->agent = r->agent;
    item->tile = r->tile;
    item->round = r->round;
    item->start = r->start;
    item->issued = r->issued;
    item->done = r->done;
    item->tip = b->o->hasty || b->o->no_tips ? NULL : tip_of(b, t, r);
    ws_spread_fill(b, t, r, item);
}

/* "S·29": what the step is about, and its round: three computes of one round differ. */
static char *brief_label(const char *what, const char *round)
{
    const char *number = strrchr(round, ' ');
    return number ? g_strdup_printf("%s\xc2\xb7%s", what, number + 1) : g_strdup(what);
}

/* Labels from long to short: names before numbers. */
static char *control_label(const WsBuild *b, const WsTraceRecord *r, gboolean waits, double w)
{
    g_autofree char *label = short_label(b, r);
    g_autofree char *round = ws_round_text(b, r);
    g_autofree char *full = NULL, *brief = NULL, *number = NULL;
    const char *space = strchr(label, ' ');
    if (waits) {
        number = ws_group_digits(MAX(r->issued, r->start) - r->start);
        full = g_strdup_printf("%s \xc2\xb7 %s", label, number);
        /* "mma_wait 1" without its verb would read as a number. */
        brief = space && g_ascii_isdigit(space[1])
                    ? g_strdup("")
                    : g_strdup_printf("%s %s", space ? space + 1 : label, number);
    } else {
        const WsOpKind kind = ws_trace_op_kind(b->t, r->op);
        const gboolean names =
            ws_op_is_product(kind) || ws_op_is_bulk(kind) || ws_item_kind_of(kind) == WS_ITEM_MATH;
        g_autofree char *verb = space ? g_strndup(label, (gsize)(space - label)) : g_strdup(label);
        const char *what = space && names ? space + 1 : verb;
        full = *round ? g_strdup_printf("%s \xc2\xb7 %s", label, round) : g_strdup(label);
        brief = brief_label(what, round);
        number = g_strdup(what);
    }
    const char *candidate[] = { full, brief, number, NULL };
    return ws_build_fit(w - 6, LABEL_SIZE, candidate);
}

/* A wait takes the colour of what it waits for: a consumer's wait on a barrier costs tensor time, a
 * producer's is only its lead, and waits for own groups belong to their engines. */
static WsItemKind wait_colour(const WsBuild *b, const WsTraceRecord *r, WsOpKind kind)
{
    static const WsItemKind of[WS_QUEUES] = { WS_ITEM_MMA, WS_ITEM_STORE, WS_ITEM_COPY };
    if (ws_op_retires(kind))
        return of[ws_op_queue(kind)];
    if (ws_op_waits_phase(kind) && b->p->agent[r->agent].role == WS_ROLE_PRODUCER)
        return WS_ITEM_IDLE;
    return ws_item_kind_of(kind);
}

static void add_control(WsBuild *b, gboolean overlay, const GArray *list, guint row)
{
    double end = b->s->left;
    for (guint i = 0; i < list->len; i++) {
        const WsTraceRecord *r = ws_seen(list, i);
        const WsTrace *t = overlay ? b->overlay : b->t;
        if (!ws_scene_draws(t, r))
            continue;
        WsOpKind op_kind = ws_trace_op_kind(t, r->op);
        WsItemKind kind = wait_colour(b, r, op_kind);
        double x, w;
        place(b, ws_build_time(b, overlay, r->start),
              ws_build_time(b, overlay, MAX(r->issued, r->start)), &x, &w);
        gboolean hollow = ws_op_waits(op_kind);
        if (b->o->bare && w < 2 && kind != WS_ITEM_OPAQUE) {
            if (!hollow && x + w > end)
                ws_dense_merge(b, row, kind, MAX(x, end), w, r->start, r->issued, overlay);
            end = MAX(end, x + w);
            continue;
        }
        if (w < 2 && !hollow)
            w = kind == WS_ITEM_OPAQUE ? OPAQUE_WIDTH : 2;
        if (x < end) {
            w -= end - x;
            x = end;
        }
        /* Less than a pixel shows nothing; the next bar is there already. */
        w = MIN(w, b->s->right - x);
        if (w < 1)
            continue;
        WsSceneItem *item = ws_build_item(b, kind, hollow ? WS_SHAPE_WAIT : WS_SHAPE_HEAD, row);
        item->x = x;
        item->w = item->head = w;
        end = x + w;
        fill_item(b, overlay, r, item);
        if (!overlay)
            item->label = control_label(b, r, hollow, w);
        if (!overlay && !ws_staff_item(b, r->agent, r->op, r->round))
            remember(b, r, item->id);
    }
}

/* A bar in flight: one record, or the loads of one transaction together. */
typedef struct {
    const WsTraceRecord *r;
    gint64 start, issued, end;
    guint track, members;
    char *names; /* "A+B" */
} Flight;

static void clear_flight(gpointer p)
{
    g_free(((Flight *)p)->names);
}

static gboolean same_transaction(const WsBuild *b, const Flight *f, const WsTraceRecord *r)
{
    const WsOp *x = b->p->op[f->r->op], *y = b->p->op[r->op];
    /* A wait between two loads of a transaction parts their bars. */
    return x->kind == y->kind && ws_op_brings(x->kind) && x->barrier == y->barrier &&
           r->start - f->r->issued < 100 && f->r->tile == r->tile && f->r->round == r->round &&
           x->tree && y->tree && x->tree->parent == y->tree->parent;
}

static char *tensor_name(const WsBuild *b, guint op)
{
    gint tensor = b->p->op[op]->tensor;
    return g_strdup(tensor >= 0 && (guint)tensor < b->p->n_tensors ? b->p->tensor[tensor].name
                                                                   : "");
}

static GArray *list_flights(WsBuild *b, gboolean overlay, const GArray *list, WsItemKind kind)
{
    const WsTrace *t = overlay ? b->overlay : b->t;
    GArray *flights = g_array_new(FALSE, FALSE, sizeof(Flight));
    g_array_set_clear_func(flights, clear_flight);
    for (guint i = 0; i < list->len; i++) {
        const WsTraceRecord *r = ws_seen(list, i);
        WsOpKind op_kind = ws_trace_op_kind(t, r->op);
        if (!ws_op_flies(op_kind) || ws_item_kind_of(op_kind) != kind || r->done <= r->start)
            continue;
        gint64 start = ws_build_time(b, overlay, r->start);
        gint64 end = ws_build_time(b, overlay, MAX(r->done, r->issued));
        gint64 issued = ws_build_time(b, overlay, MAX(r->issued, r->start));
        Flight *last = NULL;
        for (guint k = flights->len; k-- > 0 && flights->len - k <= 3 && !last;)
            if (same_transaction(b, &g_array_index(flights, Flight, k), r))
                last = &g_array_index(flights, Flight, k);
        if (last) {
            g_autofree char *name = tensor_name(b, r->op), *old = last->names;
            last->names = strstr(old, name) ? g_strdup(old) : g_strdup_printf("%s+%s", old, name);
            last->issued = MAX(last->issued, issued);
            last->end = MAX(last->end, end);
            last->members++;
            continue;
        }
        Flight f = { r, start, issued, end, 0, 1, tensor_name(b, r->op) };
        g_array_append_val(flights, f);
    }
    return flights;
}

/* Greedy: the first track that is free. Returns the number of tracks. */
static guint pack(const WsBuild *b, GArray *flights)
{
    double end[MAX_TRACKS] = { 0 };
    guint used = 0;
    for (guint i = 0; i < flights->len; i++) {
        Flight *f = &g_array_index(flights, Flight, i);
        double x, w;
        place(b, f->start, f->end, &x, &w);
        for (f->track = 0; f->track < MAX_TRACKS && end[f->track] > x + 0.01;)
            f->track++;
        if (f->track == MAX_TRACKS)
            continue; /* more than that at once is no picture any more */
        end[f->track] = x + (b->o->bare ? w : MAX(w, 2)); /* on screen rows stay while one zooms */
        used = MAX(used, f->track + 1);
    }
    return used;
}

static char *flight_label(const WsBuild *b, const Flight *f, double w)
{
    g_autofree char *round = ws_round_text(b, f->r);
    g_autofree char *what = *f->names ? g_strdup(f->names) : short_label(b, f->r);
    g_autofree char *full =
        *round ? g_strdup_printf("%s \xc2\xb7 %s", what, round) : g_strdup(what);
    const char *space = *f->names ? NULL : strchr(what, ' ');
    const char *object = space ? space + 1 : what;
    g_autofree char *brief = brief_label(object, round);
    const char *candidate[] = { full, brief, object, NULL };
    return ws_build_fit(w - 6, LABEL_SIZE - 0.5, candidate);
}

/* Flights of a track, on its row or the last of `rows`. */
static void add_flights(WsBuild *b, gboolean overlay, const GArray *flights, guint first_row,
                        guint rows, guint track)
{
    const guint row = first_row + MIN(track, rows - 1);
    for (guint i = 0; i < flights->len; i++) {
        const Flight *f = &g_array_index(flights, Flight, i);
        double x, w;
        if (f->track != track)
            continue;
        place(b, f->start, f->end, &x, &w);
        if (b->o->bare && w < 2) {
            WsItemKind merged = ws_item_kind_of(b->p->op[f->r->op]->kind);
            ws_dense_merge(b, row, merged, x, w, f->start, f->end, overlay);
            continue;
        }
        w = MIN(MAX(w, 2), b->s->right - x);
        if (f->track >= MAX_TRACKS || w < 1)
            continue;
        const WsTrace *t = overlay ? b->overlay : b->t;
        WsItemKind kind = ws_item_kind_of(ws_trace_op_kind(t, f->r->op));
        WsSceneItem *item = ws_build_item(b, kind, WS_SHAPE_FLIGHT, row);
        item->x = x;
        item->w = w;
        item->head = CLAMP(ws_scene_x(b->s, f->issued) - x, 0, w);
        fill_item(b, overlay, f->r, item);
        if (!overlay) {
            item->label = flight_label(b, f, w);
            remember(b, f->r, item->id);
        }
    }
}

/* Rows of one engine of one agent: as many as overlap asks for, or has asked for before; while they
 * are held, the latter alone. */
static void add_engine_rows(WsBuild *b, gboolean overlay, const GArray *list, WsItemKind kind,
                            guint agent, const char *name)
{
    g_autoptr(GArray) flights = b->unseen ? NULL : list_flights(b, overlay, list, kind);
    guint tracks = flights ? pack(b, flights) : 0;
    guint8 *known = &b->cache->tracks[agent][overlay ? 1 : 0][kind];
    if (!b->cache->held || !b->cache->fits || *known == 0)
        *known = (guint8)MAX(*known, tracks);
    guint first = b->s->row->len;
    for (guint i = 0; i < *known; i++)
        ws_build_row(b, overlay ? WS_ROW_MEASURED : WS_ROW_ASYNC,
                     overlay ? MEASURED_FLIGHT : FLIGHT_HEIGHT, i ? NULL : name);
    for (guint i = 0; i < tracks; i++)
        add_flights(b, overlay, flights, first, *known, i);
    for (guint i = 0; *known && i < b->dense->len && !b->unseen; i++) {
        const WsDense *d = &g_array_index(b->dense, WsDense, i);
        if (d->agent == agent && d->overlay == overlay)
            ws_dense_add(b, d, first, kind, TRUE);
    }
}

static void add_engine(WsBuild *b, const GArray *list, const GArray *below, WsItemKind kind,
                       guint agent, const char *name)
{
    add_engine_rows(b, FALSE, list, kind, agent, name);
    if (below)
        add_engine_rows(b, TRUE, below, kind, agent, ws_build_words(b, "measured"));
}

/* Records in sight by agent: once for all staffs. */
static GArray **by_agent(const GArray *seen, guint n)
{
    GArray **list = g_new(GArray *, n + 1);
    for (guint i = 0; i < n; i++)
        list[i] = g_array_new(FALSE, FALSE, sizeof(WsTraceRecord *));
    for (guint i = 0; i < seen->len; i++) {
        const WsTraceRecord *r = ws_seen(seen, i);
        if (r->agent < n)
            g_array_append_val(list[r->agent], r);
    }
    return list;
}

static void free_by_agent(GArray **list, guint n)
{
    for (guint i = 0; i < n; i++)
        g_array_free(list[i], TRUE);
    g_free(list);
}

/* Replicas share a staff while nothing they do is more than a few pixels apart. */
static gboolean coincide(const WsBuild *b, const GArray *x, const GArray *y)
{
    const WsSceneSegment *g = &g_array_index(b->s->segment, WsSceneSegment, 0);
    gint64 apart = MAX((gint64)(4.0 * (double)(g->t1 - g->t0) / MAX(g->x1 - g->x0, 1)), 8);
    if (x->len != y->len)
        return FALSE;
    for (guint i = 0; i < x->len; i++) {
        const WsTraceRecord *p = ws_seen(x, i), *q = ws_seen(y, i);
        if (strcmp(b->t->op_id->pdata[p->op], b->t->op_id->pdata[q->op]) != 0 ||
            p->round != q->round || ABS(p->start - q->start) > apart ||
            ABS(ws_trace_record_end(p) - ws_trace_record_end(q)) > apart)
            return FALSE;
    }
    return TRUE;
}

static char *staff_detail(const WsBuild *b, const WsAgent *a)
{
    GString *s = g_string_new(NULL);
    if (a->warps == 1)
        g_string_append(s, ws_build_words(b, "1 warp"));
    else
        g_string_append_printf(s, ws_build_words(b, "%u warps"), a->warps);
    if (a->registers) {
        g_string_append(s, " \xc2\xb7 ");
        g_string_append_printf(s, ws_build_words(b, "%u regs"), a->registers);
    }
    return g_string_free(s, FALSE);
}

static WsItemKind staff_kind(const WsAgent *a)
{
    return a->role == WS_ROLE_PRODUCER ? WS_ITEM_LOAD : WS_ITEM_MMA;
}

static void build_staff(WsBuild *b, guint agent, guint last, const GArray *list)
{
    const WsAgent *a = &b->p->agent[agent];
    g_autofree char *name =
        last > agent ? g_strdup_printf("%s \xe2\x80\xa6 %u", a->name, b->p->agent[last].replica)
                     : g_strdup(a->name);
    g_autofree char *detail = staff_detail(b, a);
    WsSceneStaff *staff = ws_build_staff(b, name, detail);
    staff->kind = staff_kind(a);
    for (guint i = agent; i <= last && staff->n_agents < G_N_ELEMENTS(staff->agent); i++)
        staff->agent[staff->n_agents++] = i;
    const GArray *below = b->overlay ? b->of_agent[1][agent] : NULL;
    guint control = ws_build_row(b, WS_ROW_CONTROL, CONTROL_HEIGHT, ws_build_words(b, "issue"));
    for (guint i = agent; i <= last; i++) {
        b->control_row[i] = control;
        b->drawn_as[i] = agent;
    }
    guint under = 0;
    if (ws_claims_rounds(b) && (b->t->origin == WS_TRACE_MEASURED || (below && below->len)))
        ws_claims_note(b);
    if (b->t->origin == WS_TRACE_MEASURED && ws_claims_rounds(b)) {
        ws_build_staff_end(b);
        return;
    }
    if (ws_claims_rounds(b))
        below = NULL;
    b->cache->measured_row |= below && below->len;
    if (below && b->cache->measured_row)
        under = ws_build_row(b, WS_ROW_MEASURED, MEASURED_HEIGHT,
                             ws_build_words(b, b->overlay->launch->len ? "merged"
                                               : b->overlay->every > 1 ? "some rounds"
                                                                       : "measured"));
    add_engine(b, list, below, WS_ITEM_LOAD, agent, ws_build_words(b, "TMA load"));
    add_engine(b, list, below, WS_ITEM_COPY, agent, ws_build_words(b, "copies"));
    add_engine(b, list, below, WS_ITEM_MMA, agent, ws_build_words(b, "tensor"));
    add_engine(b, list, below, WS_ITEM_STORE, agent, ws_build_words(b, "TMA store"));
    if (!b->unseen)
        add_control(b, FALSE, list, control);
    if (under && !b->unseen)
        add_control(b, TRUE, below, under);
    for (guint i = 0; i < b->dense->len && !b->unseen; i++) {
        const WsDense *d = &g_array_index(b->dense, WsDense, i);
        if (d->agent == agent && (!d->overlay || under))
            ws_dense_add(b, d, d->overlay ? under : control, staff_kind(a), FALSE);
    }
    ws_build_staff_end(b);
}

/* Of a staff that begins here: is it out of sight? One whose height nobody knows yet is not. */
static gboolean unseen(const WsBuild *b, guint agent)
{
    const double height = b->cache->height[agent];
    return b->o->sight1 > b->o->sight0 && height > 0 &&
           (b->y > b->o->sight1 || b->y + height < b->o->sight0);
}

void ws_staff_build(WsBuild *b)
{
    guint n = b->p->n_agents;
    b->of_agent[0] = by_agent(b->seen, n);
    b->of_agent[1] = b->overlay ? by_agent(b->seen_overlay, n) : NULL;
    b->item_of = g_hash_table_new_full(ws_place_hash, ws_place_equal, g_free, NULL);
    b->control_row = g_new(guint, MAX(n, 1));
    b->drawn_as = g_new0(guint, MAX(n, 1));
    for (guint i = 0; i < n; i++)
        b->control_row[i] = G_MAXUINT;
    guint8 *staff = b->cache->staff;
    for (guint agent = 0; agent < n;) {
        const GArray *list = b->of_agent[0][agent];
        guint last = agent;
        while (last + 1 < n && b->p->agent[last + 1].group == b->p->agent[agent].group &&
               b->p->agent[last + 1].half == b->p->agent[agent].half) {
            const GArray *other = b->of_agent[0][last + 1];
            /* Where nothing is shown one by one, what was folded stays so. */
            gboolean blank = b->o->cache && staff[last + 1] && !(list->len && other->len);
            /* And what was once apart stays apart: rows come while one moves, and do not go. */
            gboolean apart = b->o->cache && staff[last + 1] == 1;
            if (apart || (blank ? staff[last + 1] != 2 : !coincide(b, list, other)))
                break;
            staff[++last] = 2;
        }
        if (list->len || staff[agent] == 1 || ws_dense_lane(b, agent, FALSE)) {
            const double top = b->y;
            staff[agent] = 1;
            b->unseen = unseen(b, agent);
            build_staff(b, agent, last, list);
            b->unseen = FALSE;
            b->cache->height[agent] = b->y - top;
        }
        agent = last + 1;
    }
    free_by_agent(b->of_agent[0], n);
    if (b->of_agent[1])
        free_by_agent(b->of_agent[1], n);
}
