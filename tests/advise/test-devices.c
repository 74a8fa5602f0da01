/* Flags between devices: which notify let which await go, in a prediction and in what was measured;
 * the edge on the score, the critical path through it, and the idle unit that waits for it. */
#include "advise/idle.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "score/scene.h"
#include "trace/let_go.h"
#include "trace/op_kind.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define AG "tests/designs/mesh/ag-gemm.wstave"

typedef struct {
    WsProgram *p;
    WsMachine *m;
    WsTrace *t;
} Played;

static Played played(const WsSize *size, guint n)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, AG, NULL);
    g_autoptr(WsFindings) said = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(path, said);
    g_assert_nonnull(design);
    Played x = { .p = ws_elaborate(design, NULL, 0, said), .m = ws_machine_load(NULL, NULL) };
    g_assert_nonnull(x.p);
    g_autoptr(WsLaunchValues) v = ws_launch_values(x.p, size, n, FALSE, said);
    g_assert_nonnull(v);
    g_autoptr(WsClockResult) r = ws_clock_run(x.p, v, x.m, NULL, said);
    g_assert_nonnull(r);
    g_assert_false(r->stuck);
    x.t = ws_trace_ref(r->trace);
    return x;
}

static void played_clear(Played *x)
{
    ws_trace_unref(x->t);
    ws_machine_free(x->m);
    ws_program_unref(x->p);
}

static const WsSize two[] = { { "TM", 1 }, { "TN", 3 }, { "W", 2 }, { "SMS", 1 } };
static const WsSize three[] = { { "TM", 2 }, { "TN", 2 }, { "W", 3 }, { "SMS", 2 } };

static const char *flag_of(const WsProgram *p, guint op)
{
    return p->mesh->flag[p->op[op]->peer->flag].name;
}

static WsTraceRecord *record(const WsTrace *t, guint i)
{
    return &g_array_index(t->record, WsTraceRecord, i);
}

/* Each await has its notify, of the same flag, over before it returned. Element d of `ready` is
 * notified by device d alone; the rows of a device by that device. */
static void predicted_of(const WsSize *size, guint n, guint devices)
{
    Played x = played(size, n);
    g_autoptr(WsLetGo) l = ws_let_go_new(x.p, x.t);
    guint awaits = 0, away = 0;
    for (guint i = 0; i < x.t->record->len; i++) {
        const WsTraceRecord *r = record(x.t, i);
        const WsLetGoBy by = ws_let_go_of(l, r);
        if (!ws_op_awaits(ws_trace_op_kind(x.t, r->op))) {
            g_assert_null(by.by);
            continue;
        }
        awaits++;
        g_assert_nonnull(by.by);
        g_assert_true(ws_op_notifies(ws_trace_op_kind(x.t, by.by->op)));
        g_assert_cmpstr(flag_of(x.p, by.by->op), ==, flag_of(x.p, r->op));
        g_assert_cmpint(by.at, <=, r->issued);
        g_assert_cmpint(by.at, ==, by.by->issued);
        g_assert_false(by.least);
        if (!strcmp(flag_of(x.p, r->op), "ready") && r->round >= 0 && r->round < (gint)devices &&
            by.by->round <= 0)
            g_assert_cmpuint(ws_trace_device(x.t, by.by->cta), ==, (guint)r->round);
        away += by.by->cta != r->cta;
    }
    g_assert_cmpuint(awaits, >, 2 * devices);
    g_assert_cmpuint(away, >=, devices * (devices - 1)); /* ready of each other one, at least */
    played_clear(&x);
}

/* A file keeps it; one whose await is none is damaged. */
static void kept(void)
{
    Played x = played(two, G_N_ELEMENTS(two));
    g_autofree char *file = g_build_filename(g_get_tmp_dir(), "ws-devices-kept.wtrace", NULL);
    g_autofree char *bytes = NULL;
    gsize length;
    g_assert_cmpuint(x.t->let_go->len, >, 0);
    g_assert_true(ws_trace_save(x.t, file, NULL));
    g_autoptr(WsTrace) back = ws_trace_load(file, NULL);
    g_assert_nonnull(back);
    g_assert_cmpmem(back->let_go->data, back->let_go->len * sizeof(WsTraceLetGo), x.t->let_go->data,
                    x.t->let_go->len * sizeof(WsTraceLetGo));
    g_autoptr(WsLetGo) a = ws_let_go_new(x.p, x.t), b = ws_let_go_new(x.p, back);
    for (guint i = 0; i < back->record->len; i++)
        g_assert_cmpint(ws_let_go_of(a, record(x.t, i)).at, ==,
                        ws_let_go_of(b, record(back, i)).at);
    g_assert_true(g_file_get_contents(file, &bytes, &length, NULL));
    g_unlink(file);
    guint64 at;
    memcpy(&at, bytes + 112 + 16 * 10, sizeof at); /* where the section lies */
    for (guint field = 0; field < 7; field++) {
        guint32 was;
        const guint32 none = 9999;
        if (field % 4 == 3) /* any round may be said */
            continue;
        memcpy(&was, bytes + at + 4 * field, 4);
        memcpy(bytes + at + 4 * field, &none, 4);
        g_assert_null(ws_trace_parse((const guint8 *)bytes, length, FALSE, NULL));
        memcpy(bytes + at + 4 * field, &was, 4);
    }
    guint32 notify;
    memcpy(&notify, bytes + at + 24, 4); /* an await that is a notify */
    memcpy(bytes + at + 8, &notify, 4);
    g_assert_null(ws_trace_parse((const guint8 *)bytes, length, FALSE, NULL));
    played_clear(&x);
}

static void predicted(void)
{
    predicted_of(two, G_N_ELEMENTS(two), 2);
    predicted_of(three, G_N_ELEMENTS(three), 3);
}

/* A trace as if it had been measured, without the records for which `leave` is true. */
typedef gboolean (*Leave)(const WsProgram *p, const WsTrace *t, const WsTraceRecord *r);

static WsTrace *as_measured(const Played *x, const char *note, gint64 later, Leave leave)
{
    WsTrace *t = ws_trace_new(x->p, WS_TRACE_MEASURED);
    for (guint i = 0; i < x->t->size->len; i++)
        ws_trace_add_size(t, g_array_index(x->t->size_name, char *, i),
                          g_array_index(x->t->size, gint64, i));
    g_array_append_vals(t->cta, x->t->cta->data, x->t->cta->len);
    t->grid = x->t->grid;
    t->note = g_strdup(note);
    for (guint i = 0; i < x->t->record->len; i++) {
        WsTraceRecord r = *record(x->t, i);
        if (leave && leave(x->p, x->t, &r))
            continue;
        gint64 *const at[] = { &r.start, &r.issued, &r.done };
        for (guint k = 0; k < G_N_ELEMENTS(at); k++)
            *at[k] += r.cta && *at[k] >= 0 ? later : 0;
        ws_trace_add(t, &r);
    }
    ws_trace_finish(t);
    return t;
}

#define COMPARED "2 devices, their clocks compared to within 0.05 us, cold 12.00 us"

static gboolean notifies_rows_of_1(const WsProgram *p, const WsTrace *t, const WsTraceRecord *r)
{
    return ws_op_notifies(ws_trace_op_kind(t, r->op)) && !strcmp(flag_of(p, r->op), "rows") &&
           r->cta == 1 && r->tile == 0;
}

static gboolean notifies_ready_1(const WsProgram *p, const WsTrace *t, const WsTraceRecord *r)
{
    return ws_op_notifies(ws_trace_op_kind(t, r->op)) && !strcmp(flag_of(p, r->op), "ready") &&
           r->cta == 1;
}

typedef struct {
    guint known, least, away, unlike; /* unlike: another notify than in the prediction */
} Count;

static Count count(const Played *x, const WsTrace *t, const char *flag)
{
    g_autoptr(WsLetGo) said = ws_let_go_new(x->p, x->t), l = ws_let_go_new(x->p, t);
    Count c = { 0 };
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = record(t, i), *same = NULL;
        if (!ws_op_awaits(ws_trace_op_kind(t, r->op)) || strcmp(flag_of(x->p, r->op), flag))
            continue;
        for (guint k = 0; k < x->t->record->len && !same; k++) {
            const WsTraceRecord *o = record(x->t, k);
            if (o->cta == r->cta && o->agent == r->agent && o->op == r->op && o->round == r->round)
                same = o;
        }
        const WsLetGoBy by = ws_let_go_of(l, r), was = ws_let_go_of(said, same);
        if (!by.by)
            continue;
        c.known++;
        c.least += by.least;
        c.away += by.by->cta != r->cta;
        c.unlike +=
            by.by->cta != was.by->cta || by.by->op != was.by->op || by.by->round != was.by->round;
        g_assert_cmpint(by.at, <=, r->issued);
    }
    return c;
}

static gboolean notifies_first_half(const WsProgram *p, const WsTrace *t, const WsTraceRecord *r)
{
    return ws_op_notifies(ws_trace_op_kind(t, r->op)) && !strcmp(flag_of(p, r->op), "rows") &&
           r->tile % 2 == 0;
}

/* What waited for a notify after which one that was not recorded may have come has no edge. */
static void only_for_sure(void)
{
    const WsSize few[] = { { "TM", 2 }, { "TN", 2 }, { "W", 2 }, { "SMS", 1 } };
    Played own = played(few, G_N_ELEMENTS(few)), *x = &own;
    g_autoptr(WsTrace) t = as_measured(x, COMPARED, 0, notifies_first_half);
    g_autoptr(WsLetGo) l = ws_let_go_new(x->p, t);
    gint64 sure = 0, least = 0, edges = 0;
    for (guint cta = 0; cta < t->cta->len; cta++) {
        g_autoptr(GArray) list = ws_next_edges(x->p, t, cta);
        for (guint i = 0; i < list->len; i++) {
            const WsNextEdge *e = &g_array_index(list, WsNextEdge, i);
            edges += ws_op_awaits(x->p->op[e->to_op]->kind) ? e->exposed : 0;
        }
    }
    for (guint i = 0; i < t->record->len; i++) {
        const WsLetGoBy by = ws_let_go_of(l, record(t, i));
        if (by.by)
            *(by.least ? &least : &sure) += MAX(by.at - record(t, i)->start, 0);
    }
    g_assert_cmpint(edges, ==, sure);
    g_assert_cmpint(least, >, 0);
    played_clear(x);
}

/* All CTAs were recorded: what is measured says the same as the clock. */
static void measured(void)
{
    Played x = played(two, G_N_ELEMENTS(two));
    g_autoptr(WsTrace) all = as_measured(&x, COMPARED, 0, NULL);
    Count c = count(&x, all, "rows");
    g_assert_cmpuint(c.known, ==, 12); /* three tiles of two rows on each of two devices */
    g_assert_cmpuint(c.away, ==, 6);
    g_assert_cmpuint(c.least + c.unlike, ==, 0);
    c = count(&x, all, "ready");
    g_assert_cmpuint(c.known, ==, 4);
    g_assert_cmpuint(c.away, ==, 2);
    g_assert_cmpuint(c.unlike, ==, 0);
    g_assert_cmpfloat(ws_trace_clock_error(all, 0, 1), ==, 50);
    g_assert_cmpfloat(ws_trace_clock_error(all, 1, 1), ==, 0);
    /* A notify that is needed was not recorded: the last of the others is awaited at least. */
    g_autoptr(WsTrace) rows = as_measured(&x, COMPARED, 0, notifies_rows_of_1);
    c = count(&x, rows, "rows");
    g_assert_cmpuint(c.least, >, 0);
    /* One that is the only one: nobody can be named, and nobody else is. */
    g_autoptr(WsTrace) ready = as_measured(&x, COMPARED, 0, notifies_ready_1);
    c = count(&x, ready, "ready");
    g_assert_cmpuint(c.known, ==, 2); /* ready[0] */
    g_assert_cmpuint(c.unlike, ==, 0);
    /* Clocks that nobody compared, and times that cannot be: the notify after its await. */
    g_autoptr(WsTrace) apart = as_measured(&x, "cold 12.00 us", 0, NULL);
    g_assert_null(ws_let_go_new(x.p, apart));
    g_assert_true(isnan(ws_trace_clock_error(apart, 0, 1)));
    g_autoptr(WsTrace) wrong = as_measured(&x, COMPARED, 1000000000, NULL);
    c = count(&x, wrong, "ready");
    g_assert_cmpuint(c.known, ==, 3); /* ready[1] on device 0 came before it was said */
    played_clear(&x);
}

/* Within the error of the clocks either of two CTAs may have been the last one. */
static void unsure(void)
{
    Played x = played(three, G_N_ELEMENTS(three));
    g_autoptr(WsTrace) fine =
        as_measured(&x, "3 devices, their clocks compared to within 0.01 us", 0, NULL);
    g_autoptr(WsTrace) rough =
        as_measured(&x, "3 devices, their clocks compared to within 900 us", 0, NULL);
    const Count a = count(&x, fine, "rows"), b = count(&x, rough, "rows");
    g_assert_cmpuint(a.known, >=, b.known);
    g_assert_cmpuint(count(&x, rough, "ready").known, <=, count(&x, fine, "ready").known);
    g_assert_cmpfloat(ws_trace_clock_error(rough, 0, 2), ==, 900e3);
    g_assert_cmpfloat(ws_trace_clock_error(rough, 1, 2), ==, 1800e3); /* neither is the first */
    played_clear(&x);
}

static const WsSceneEdge *origin_on(const WsScene *s, guint cta)
{
    for (guint i = 0; i < s->edge->len; i++) {
        const WsSceneEdge *e = &g_array_index(s->edge, WsSceneEdge, i);
        if (e->origin && e->from_cta == cta)
            return e;
    }
    return NULL;
}

static void score(void)
{
    Played x = played(two, G_N_ELEMENTS(two));
    g_autoptr(WsTrace) all = as_measured(&x, COMPARED, 0, NULL);
    for (guint m = 0; m < 2; m++)
        for (guint cta = 0; cta < 2; cta++) {
            const WsSceneOptions o = { .cta = cta, .from = 0, .to = x.t->cycles };
            g_autoptr(WsScene) s =
                m ? ws_scene_new(x.p, NULL, all, &o) : ws_scene_new(x.p, x.t, NULL, &o);
            const WsSceneEdge *e = origin_on(s, 1 - cta);
            g_autofree char *begin = g_strdup_printf("device %u, CTA 0: notify ", 1 - cta);
            g_assert_nonnull(e);
            g_assert_null(origin_on(s, cta));
            g_assert_true(g_str_has_prefix(e->origin, begin));
            g_assert_cmpint(strstr(e->origin, "0.05 \xc2\xb5s") != NULL, ==, m);
            g_assert_cmpint(e->measured, ==, m);
            g_assert_true(ws_scene_hit_origin(s, e->x0 + 1, e->y0) != NULL);
            g_assert_null(ws_scene_hit_origin(s, -100, -100));
            g_assert_cmpfloat(e->x0, <=, e->x1);
        }
    /* One below the other the edges run from score to score. */
    WsScene *both[2];
    guint joined = 0;
    for (guint cta = 0; cta < 2; cta++)
        both[cta] = ws_scene_new(x.p, x.t, NULL,
                                 &(WsSceneOptions){ .cta = cta, .from = 0, .to = x.t->cycles });
    g_autofree char *file = g_build_filename(g_get_tmp_dir(), "ws-devices-XXXXXX.svg", NULL);
    g_assert_true(ws_scene_save_below(both, 2, file, WS_THEME_LIGHT, NULL));
    g_unlink(file);
    for (guint cta = 0; cta < 2; cta++) {
        for (guint i = 0; i < both[cta]->edge->len; i++) {
            const WsSceneEdge *e = &g_array_index(both[cta]->edge, WsSceneEdge, i);
            if (!e->joined)
                continue;
            joined++;
            g_assert_true(cta ? e->y0 < 0 : e->y0 > both[0]->height);
        }
        ws_scene_free(both[cta]);
    }
    g_assert_cmpuint(joined, >=, 2);
    played_clear(&x);
}

static void path(void)
{
    Played x = played(two, G_N_ELEMENTS(two));
    guint turns = 0;
    for (guint cta = 0; cta < 2; cta++) {
        g_autoptr(GArray) pieces = ws_next_path(x.p, x.t, cta);
        g_assert_cmpuint(pieces->len, >, 0);
        for (guint i = 1; i < pieces->len; i++) {
            const WsNextPiece *a = &g_array_index(pieces, WsNextPiece, i - 1), *b = a + 1;
            g_assert_cmpint(a->to, <=, b->from);
            g_assert_cmpint(b->from - a->to, <=, 2); /* clocks of different agents within a cycle */
            if (a->cta == b->cta)
                continue;
            turns++; /* to where an await returned, from the notify that it waited for */
            g_assert_true(ws_op_awaits(x.p->op[b->op]->kind));
            g_assert_true(ws_op_notifies(x.p->op[a->op]->kind));
            g_assert_cmpint(b->waits_for, ==, (gint)ws_trace_device(x.t, a->cta));
        }
        g_autoptr(GArray) parts = ws_next_parts(pieces);
        double share = 0;
        for (guint i = 0; i < parts->len; i++)
            share += g_array_index(parts, WsNextPart, i).share;
        g_assert_cmpfloat_with_epsilon(share, 1, 1e-6);
    }
    g_assert_cmpuint(turns, >, 0);
    played_clear(&x);
}

static void idle(void)
{
    const WsSize few[] = { { "TM", 2 }, { "TN", 2 }, { "W", 2 }, { "SMS", 1 } };
    Played x = played(few, G_N_ELEMENTS(few));
    g_autoptr(WsIdle) idle = ws_idle_new(x.p, x.t, x.m);
    guint causes = 0;
    double sum = 0;
    for (guint i = 0; i < idle->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
        sum += k->unit == WS_UNIT_TENSOR ? k->share : 0;
        if (k->unit != WS_UNIT_TENSOR || k->waits_for < 0)
            continue;
        causes++;
        g_assert_true(ws_op_awaits(x.p->op[k->op]->kind));
        g_assert_cmpint(k->reason, ==, WS_NEXT_WAIT);
        g_assert_true(ws_op_notifies(x.p->op[k->release.op]->kind));
        g_assert_cmpint((gint)ws_trace_device(x.t, k->release.cta), ==, k->waits_for);
        g_assert_cmpint((gint)ws_trace_device(x.t, k->waiter.cta), !=, k->waits_for);
        g_assert_true(ws_idle_same(idle, x.p, k) == k);
    }
    g_assert_cmpuint(causes, >=, 1);
    g_assert_cmpfloat_with_epsilon(sum, idle->idle[WS_UNIT_TENSOR], 1e-3);
    g_autofree char *text = ws_idle_text(idle, x.p);
    g_assert_nonnull(strstr(text, "await rows of load waits for device 0: notify rows of comm"));
    played_clear(&x);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/devices/predicted", predicted);
    g_test_add_func("/advise/devices/kept", kept);
    g_test_add_func("/advise/devices/measured", measured);
    g_test_add_func("/advise/devices/unsure", unsure);
    g_test_add_func("/advise/devices/only-for-sure", only_for_sure);
    g_test_add_func("/advise/devices/score", score);
    g_test_add_func("/advise/devices/path", path);
    g_test_add_func("/advise/devices/idle", idle);
    return g_test_run();
}
