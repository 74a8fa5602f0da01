/* Idle units: gaps against a count cycle by cycle, chains that fill them, what was not recorded,
 * and the causes that ablations are known to have. */
#include "advise/bound.h"
#include "advise/idle.h"
#include "advise/overlap.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "trace/op_kind.h"

#include <math.h>
#include <string.h>

static WsProgram *program_of(const char *text, const char *name)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), name, findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

static WsTrace *predicted(const char *file, WsProgram **p, WsMachine *m)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(WsFindings) findings = ws_findings_new();
    *p = program_of(text, file);
    g_autoptr(WsLaunchValues) v = ws_launch_values(*p, NULL, 0, FALSE, findings);
    g_autoptr(WsClockResult) r = ws_clock_run(*p, v, m, NULL, findings);
    g_assert_nonnull(r);
    return ws_trace_ref(r->trace);
}

static WsTrace *measured(const char *file, WsProgram **p)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    g_autoptr(GError) error = NULL;
    WsTrace *t = ws_trace_load(path, &error);
    g_assert_no_error(error);
    *p = program_of(t->design_text, file);
    return t;
}

/* By cycle: a product is in flight. */
static guint8 *in_flight(const WsTrace *t, guint cta, gint64 n)
{
    guint8 *busy = g_new0(guint8, n + 1);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (r->cta == cta && ws_op_is_product(ws_trace_op_kind(t, r->op)))
            for (gint64 c = r->start; c < r->done && c < n; c++)
                busy[c] = 1;
    }
    return busy;
}

static void check_cta(const WsTrace *t, const WsIdleCta *c)
{
    gint64 n = 0, last = -1;
    for (guint i = 0; i < t->record->len; i++)
        n = MAX(n, ws_trace_record_end(&g_array_index(t->record, WsTraceRecord, i)) + 1);
    g_autofree guint8 *busy = in_flight(t, c->cta, n);
    g_autofree guint8 *gap = g_new0(guint8, n + 1);
    for (guint i = 0; i < c->gap[WS_UNIT_TENSOR]->len; i++) {
        const WsIdleGap *g = &g_array_index(c->gap[WS_UNIT_TENSOR], WsIdleGap, i);
        g_assert_cmpint(g->from, >, last);
        g_assert_cmpint(g->to, >, g->from);
        memset(gap + g->from, 1, (gsize)(g->to - g->from));
        last = g->to;
        /* Its chain fills it, without a hole and in order. */
        gint64 at = g->from;
        for (guint k = 0; k < g->pieces; k++) {
            const WsNextPiece *x = &g_array_index(c->piece, WsNextPiece, g->first_piece + k);
            g_assert_cmpint(x->from, ==, at);
            at = x->to;
        }
        g_assert_cmpint(at, ==, g->to);
        g_assert_cmpuint(ws_idle_gap_from(c, WS_UNIT_TENSOR, g->from), ==, i);
        g_assert_cmpuint(ws_idle_gap_from(c, WS_UNIT_TENSOR, g->to - 1), ==, i);
        g_assert_cmpuint(ws_idle_gap_from(c, WS_UNIT_TENSOR, g->to), ==, i + 1);
    }
    gint64 used = 0, idle = 0;
    for (guint i = 0; i < c->recorded[WS_UNIT_TENSOR]->len; i++) {
        const WsIdleSpan *s = &g_array_index(c->recorded[WS_UNIT_TENSOR], WsIdleSpan, i);
        gint64 here = 0;
        for (gint64 k = s->from; k < s->to; k++) {
            g_assert_cmpint(busy[k] + gap[k], ==, 1);
            here += busy[k];
            idle += gap[k];
        }
        g_assert_cmpint(ws_idle_used(c, WS_UNIT_TENSOR, s->from, s->to), ==, here);
        used += here;
    }
    g_assert_cmpint(used, ==, c->used[WS_UNIT_TENSOR]);
    g_assert_cmpint(used + idle, ==, c->cycles[WS_UNIT_TENSOR]);
}

/* What was in use for sure is a part of what was in use at most; of a prediction all of it. */
static void check_sure(const WsTrace *t, const WsIdleCta *c)
{
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        gint64 last = -1;
        for (guint i = 0; i < c->sure[unit]->len; i++) {
            const WsIdleSpan *s = &g_array_index(c->sure[unit], WsIdleSpan, i);
            g_assert_cmpint(s->from, >, last);
            g_assert_cmpint(ws_idle_used(c, unit, s->from, s->to), ==, s->to - s->from);
            g_assert_cmpint(ws_idle_certain(c, unit, s->from, s->to), ==, s->to - s->from);
            last = s->to;
        }
        g_assert_cmpint(c->certain[unit], <=, c->used[unit]);
        if (t->origin == WS_TRACE_PREDICTED)
            g_assert_cmpint(c->certain[unit], ==, c->used[unit]);
    }
}

static void check(const WsTrace *t, const WsIdle *idle)
{
    for (guint i = 0; i < idle->cta->len; i++)
        check_sure(t, idle->cta->pdata[i]);
    for (guint unit = 0; unit < WS_UNITS; unit++)
        g_assert_cmpfloat(idle->most[unit], >=, idle->idle[unit] - 1e-9);
    double sum[WS_UNITS] = { 0 };
    for (guint i = 0; i < idle->cta->len; i++)
        check_cta(t, idle->cta->pdata[i]);
    for (guint i = 0; i < idle->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
        g_assert_cmpint(k->together, <=, k->cycles);
        g_assert_cmpint(k->most, <=, k->cycles);
        sum[k->unit] += k->share;
        if (i && k[-1].unit == k->unit)
            g_assert_cmpint(k[-1].cycles, >=, k->cycles);
    }
    for (guint unit = 0; unit < WS_UNITS; unit++)
        if (idle->uses[unit])
            g_assert_cmpfloat_with_epsilon(sum[unit], idle->idle[unit], 1e-9);
}

static void counted(void)
{
    static const char *const file[] = {
        "projects/gemm-bf16/design.wstave",      "projects/gemm-bf16-pingpong/design.wstave",
        "projects/attention-d128/design.wstave", "projects/gemm-fp8-block/design.wstave",
        "tests/designs/gemm-cooperative.wstave",
    };
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(file); i++) {
        g_autoptr(WsProgram) p = NULL;
        g_autoptr(WsTrace) t = predicted(file[i], &p, m);
        g_autoptr(WsIdle) idle = ws_idle_new(p, t, m);
        check(t, idle);
        /* Never busier by its rate than it was in flight. */
        g_assert_cmpfloat(idle->rated[WS_UNIT_TENSOR], <=, 1 - idle->idle[WS_UNIT_TENSOR] + 1e-6);
        g_assert_cmpfloat(idle->rated[WS_UNIT_TENSOR], >, 0.3);
        /* What the clock counted for the steady tiles is the same figure, but for begin and end. */
        g_assert_cmpfloat_with_epsilon(idle->rated[WS_UNIT_TENSOR], t->tensor_busy, 0.06);
    }
}

static const WsIdleCause *first(const WsIdle *idle, WsUnit unit)
{
    for (guint i = 0; i < idle->cause->len; i++)
        if (g_array_index(idle->cause, WsIdleCause, i).unit == unit)
            return &g_array_index(idle->cause, WsIdleCause, i);
    return NULL;
}

/* attention-d128/README: what the ablations are about. */
static void known_causes(void)
{
    static const struct {
        const char *file, *label;
        WsNextReason reason;
        gboolean together;
        double least, most; /* idle */
    } cases[] = {
        { "projects/attention-d128/measured/no-overlap.wtrace", "compute ", WS_NEXT_WORK, TRUE, 0.2,
          0.35 },
        { "projects/attention-d128/measured/attention-d128.wtrace", "compute ", WS_NEXT_WORK, TRUE,
          0.1, 0.2 },
        { "projects/gemm-bf16-pingpong/measured/gemm-bf16-pingpong.wtrace", "load ", WS_NEXT_FLIGHT,
          FALSE, 0, 0.03 },
        { "projects/own-kernel/measured/own-kernel.wtrace", "write acc", WS_NEXT_WORK, TRUE, 0.1,
          0.2 },
    };
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsProgram) p = NULL;
        g_autoptr(WsTrace) t = measured(cases[i].file, &p);
        g_autoptr(WsIdle) idle = ws_idle_new(p, t, m);
        const WsIdleCause *k = first(idle, WS_UNIT_TENSOR);
        check(t, idle);
        g_assert_nonnull(k);
        g_assert_true(g_str_has_prefix(p->op[k->op]->label, cases[i].label));
        g_assert_cmpint(k->reason, ==, cases[i].reason);
        g_assert_cmpint(ws_idle_together(k), ==, cases[i].together);
        g_assert_cmpfloat(idle->idle[WS_UNIT_TENSOR], >=, cases[i].least);
        g_assert_cmpfloat(idle->idle[WS_UNIT_TENSOR], <=, cases[i].most);
        g_assert_cmpfloat(idle->rated[WS_UNIT_TENSOR], <=, 1 - idle->idle[WS_UNIT_TENSOR]);
        if (k->reason != WS_NEXT_FLIGHT)
            continue;
        g_assert_cmpstr(p->op[k->waiter.op]->label, ==, "wait full");
        g_assert_cmpuint(k->release.op, ==, k->op);
    }
}

/* A wait that comes after the end says nothing of when it was: a store is awaited a tile later. */
static void not_seen(void)
{
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    g_autoptr(WsProgram) p = NULL, q = NULL;
    g_autoptr(WsTrace) t = measured("projects/attention-d128/measured/no-overlap.wtrace", &p);
    g_autoptr(WsIdle) idle = ws_idle_new(p, t, m);
    g_assert_cmpfloat(idle->idle[WS_UNIT_STORE], <, 0.01);
    g_assert_cmpfloat(idle->most[WS_UNIT_STORE], >, 0.99);
    g_assert_true(ws_idle_unseen(idle->idle[WS_UNIT_STORE], idle->most[WS_UNIT_STORE]));
    /* Every product was waited for until it was over. */
    g_assert_cmpfloat_with_epsilon(idle->most[WS_UNIT_TENSOR], idle->idle[WS_UNIT_TENSOR], 1e-9);
    /* Where products are awaited late, their rate is what is known besides. */
    g_autoptr(WsTrace) late =
        measured("projects/gemm-bf16-pingpong/measured/gemm-bf16-pingpong.wtrace", &q);
    g_autoptr(WsIdle) other = ws_idle_new(q, late, m);
    g_assert_cmpfloat_with_epsilon(other->most[WS_UNIT_TENSOR], 1 - other->rated[WS_UNIT_TENSOR],
                                   1e-9);
    g_assert_false(ws_idle_unseen(other->idle[WS_UNIT_TENSOR], other->most[WS_UNIT_TENSOR]));
}

/* What was not recorded is neither use nor gap: two tiles taken out of the middle. */
static void holes(void)
{
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    g_autoptr(WsProgram) p = NULL;
    g_autoptr(WsTrace) all = predicted("projects/attention-d128/design.wstave", &p, m);
    g_autoptr(WsTrace) some = ws_trace_new(p, WS_TRACE_MEASURED);
    for (guint i = 0; i < all->cta->len; i++)
        g_array_append_val(some->cta, g_array_index(all->cta, WsTraceCta, i));
    for (guint i = 0; i < all->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(all->record, WsTraceRecord, i);
        if (r->tile != 3 && r->tile != 4)
            ws_trace_add(some, r);
    }
    ws_trace_finish(some);
    g_autoptr(WsIdle) a = ws_idle_new(p, all, m), b = ws_idle_new(p, some, m);
    const WsIdleCta *whole = ws_idle_cta(a, 0), *cut = ws_idle_cta(b, 0);
    check(some, b);
    g_assert_cmpuint(whole->recorded[WS_UNIT_TENSOR]->len, ==, 1);
    g_assert_cmpuint(cut->recorded[WS_UNIT_TENSOR]->len, >=, 2);
    g_assert_cmpint(cut->cycles[WS_UNIT_TENSOR], <, whole->cycles[WS_UNIT_TENSOR]);
    gint64 longest[2] = { 0 };
    for (guint k = 0; k < 2; k++)
        for (guint i = 0; i < (k ? cut : whole)->gap[WS_UNIT_TENSOR]->len; i++) {
            const WsIdleGap *g =
                &g_array_index((k ? cut : whole)->gap[WS_UNIT_TENSOR], WsIdleGap, i);
            longest[k] = MAX(longest[k], g->to - g->from);
        }
    g_assert_cmpint(longest[1], <=, longest[0]);
    g_assert_cmpfloat_with_epsilon(b->idle[WS_UNIT_TENSOR], a->idle[WS_UNIT_TENSOR], 0.02);
}

/* A trace of another program: what was in flight is known, nothing else. */
static void of_another(void)
{
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    g_autoptr(WsProgram) p = NULL, q = NULL;
    g_autoptr(WsTrace) t = predicted("projects/gemm-bf16/design.wstave", &p, m);
    g_autoptr(WsTrace) other = predicted("projects/attention-d128/design.wstave", &q, m);
    g_autoptr(WsIdle) idle = ws_idle_new(q, t, m);
    g_assert_cmpuint(idle->cause->len, ==, 0);
    g_assert_true(isnan(idle->rated[WS_UNIT_TENSOR]));
    g_assert_true(idle->uses[WS_UNIT_TENSOR]);
    g_autofree char *text = ws_idle_text(idle, q);
    g_assert_nonnull(strstr(text, "tensor core idle"));
}

/* By cycle: a unit or an agent is in use, from the records alone. */
static guint8 *in_use(const WsTrace *t, guint cta, const WsOverlapThing *x, gint64 n)
{
    guint8 *busy = g_new0(guint8, n + 1);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        const WsOpKind kind = ws_trace_op_kind(t, r->op);
        const gboolean mine = !x->is_unit ? r->agent == x->index && !ws_op_waits(kind)
                              : x->index == WS_UNIT_TENSOR
                                  ? ws_op_is_product(kind)
                                  : ws_op_is_bulk(kind) && ws_op_loads(kind);
        const gint64 end = x->is_unit ? MAX(r->done, r->start) : MAX(r->issued, r->start);
        for (gint64 c = r->start; mine && r->cta == cta && c < end && c < n; c++)
            busy[c] = 1;
    }
    return busy;
}

/* The matrix against a count cycle by cycle. */
static void beside(void)
{
    static const char *const file[] = { "projects/gemm-bf16/design.wstave",
                                        "projects/attention-d128/design.wstave" };
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    for (guint f = 0; f < G_N_ELEMENTS(file); f++) {
        g_autoptr(WsProgram) p = NULL;
        g_autoptr(WsTrace) t = predicted(file[f], &p, m);
        g_autoptr(WsIdle) idle = ws_idle_new(p, t, m);
        g_autoptr(WsOverlap) o = ws_overlap_new(p, t, m, idle);
        g_assert_cmpuint(t->cta->len, ==, 1);
        g_autoptr(GPtrArray) use = g_ptr_array_new_with_free_func(g_free);
        const guint n = o->thing->len;
        for (guint i = 0; i < n; i++)
            g_ptr_array_add(use,
                            in_use(t, 0, &g_array_index(o->thing, WsOverlapThing, i), t->cycles));
        for (guint i = 0; i < n; i++)
            for (guint k = 0; k < n; k++) {
                const WsOverlapThing *x = &g_array_index(o->thing, WsOverlapThing, i);
                const WsOverlapThing *y = &g_array_index(o->thing, WsOverlapThing, k);
                if ((x->is_unit && x->index != WS_UNIT_TENSOR && x->index != WS_UNIT_LOAD) ||
                    (y->is_unit && y->index != WS_UNIT_TENSOR && y->index != WS_UNIT_LOAD))
                    continue; /* by rates, or counted like loads */
                gint64 both = 0;
                for (gint64 c = 0; c < t->cycles; c++)
                    both += ((guint8 *)use->pdata[i])[c] && ((guint8 *)use->pdata[k])[c];
                g_assert_cmpint(ws_overlap_cell(o, i, k)->both, ==, both);
                g_assert_cmpint(ws_overlap_cell(o, k, i)->both, ==, both);
                if (both && i != k) {
                    g_assert_cmpuint(ws_overlap_cell(o, i, k)->first.op, <, p->n_ops);
                    g_assert_cmpuint(ws_overlap_cell(o, i, k)->second.op, <, p->n_ops);
                }
            }
        for (guint i = 0; i < n * n; i++)
            g_assert_cmpint(o->cell[i].both, <=, MAX(o->cell[i].known, 0));
    }
}

/* What the pages of the projects found by hand. */
static void bounds(void)
{
    static const struct {
        const char *file, *label;
        gboolean is_unit, together;
    } cases[] = {
        { "projects/attention-d128/measured/no-overlap.wtrace", "compute ", FALSE, TRUE },
        { "projects/gemm-bf16-pingpong/measured/gemm-bf16-pingpong.wtrace", NULL, TRUE, FALSE },
        { "projects/gemm-bf16-single/measured/gemm-bf16-single.wtrace", NULL, TRUE, FALSE },
    };
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsProgram) p = NULL;
        g_autoptr(WsTrace) t = measured(cases[i].file, &p);
        g_autoptr(WsIdle) idle = ws_idle_new(p, t, m);
        WsBoundBy by;
        g_assert_true(ws_bound_by(idle, &by));
        g_assert_cmpint(by.is_unit, ==, cases[i].is_unit);
        g_assert_cmpint(by.unit, ==, WS_UNIT_TENSOR);
        g_assert_cmpint(by.together, ==, cases[i].together);
        if (!by.is_unit)
            g_assert_true(g_str_has_prefix(p->op[by.op]->label, cases[i].label));
        g_assert_cmpfloat(idle->flops, >, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advise/idle/counted", counted);
    g_test_add_func("/advise/idle/known-causes", known_causes);
    g_test_add_func("/advise/idle/not-seen", not_seen);
    g_test_add_func("/advise/idle/holes", holes);
    g_test_add_func("/advise/idle/of-another", of_another);
    g_test_add_func("/advise/idle/beside", beside);
    g_test_add_func("/advise/idle/bounds", bounds);
    return g_test_run();
}
