/* Rounds of a barrier that two halves of a group join wherever they stand: the n-th join of the one
 * meets the n-th of the other, and both go on. A line across both staffs, as a bar line. */
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "score/build.h"
#include "trace/op_kind.h"

#define NEAR 14.0 /* pixels between lines that have room for their numbers */

typedef struct {
    const WsTraceLane *lane;
    guint64 next;
} Joins;

/* The next record of a lane that joins the barrier and waits; NULL behind the last. */
static const WsTraceRecord *next_join(const WsBuild *b, Joins *j)
{
    while (j->lane && j->next < j->lane->n) {
        const WsTraceRecord *r =
            &g_array_index(b->t->record, WsTraceRecord, j->lane->first + j->next++);
        if (ws_op_waits_join(ws_trace_op_kind(b->t, r->op)))
            return r;
    }
    return NULL;
}

static char *label_of(const WsBuild *b, guint op)
{
    const WsOp *o = b->p->op[op];
    return ws_phrase_text(o->label ? o->label : o->id, b->o->translate, NULL);
}

/* What the other half stands at, in the words of this one's item. */
static void tell(WsBuild *b, const WsTraceRecord *r, const WsTraceRecord *other, guint number)
{
    const guint id = ws_staff_item(b, r->agent, r->op, r->round);
    WsSceneItem *item = id ? &g_array_index(b->s->item, WsSceneItem, id - 1) : NULL;
    if (!item || !item->tip)
        return;
    g_autofree char *there = label_of(b, other->op);
    g_autofree char *more =
        g_strdup_printf(ws_build_words(b, ", barrier round %u: meets \"%s\" of %s"), number, there,
                        (const char *)b->t->agent_name->pdata[other->agent]);
    char *tip = g_strconcat(item->tip, more, NULL);
    g_free(item->tip);
    item->tip = tip;
}

static gboolean under_fold(const WsBuild *b, double x)
{
    for (guint i = 0; i < b->s->fold->len; i++) {
        const WsSceneFold *f = &g_array_index(b->s->fold, WsSceneFold, i);
        if (x + NEAR > f->x0 && x < f->x1)
            return TRUE;
    }
    return FALSE;
}

static void add_line(WsBuild *b, const WsTraceRecord *lower, const WsTraceRecord *upper,
                     guint number, double *last)
{
    const gint64 at = MAX(MAX(lower->issued, lower->start), MAX(upper->issued, upper->start));
    if (!ws_scene_shows(b->s, at))
        return;
    const WsSceneRow *top = &g_array_index(b->s->row, WsSceneRow, b->control_row[lower->agent]);
    const WsSceneRow *foot = &g_array_index(b->s->row, WsSceneRow, b->control_row[upper->agent]);
    const WsSceneStaff *staff = &g_array_index(b->s->staff, WsSceneStaff, top->staff);
    WsSceneMeet m = { .x = ws_scene_x(b->s, at),
                      .y0 = MIN(top->y, foot->y),
                      .y1 = MAX(top->y + top->h, foot->y + foot->h),
                      .label_y = staff->y + staff->h + WS_STAFF_GAP - 1.5,
                      .at = at,
                      .number = number,
                      .op = { lower->op, upper->op },
                      .round = { lower->round, upper->round } };
    m.labelled = m.x - *last >= NEAR && !under_fold(b, m.x);
    *last = m.labelled ? m.x : *last;
    g_array_append_val(b->s->meet, m);
    tell(b, lower, upper, number);
    tell(b, upper, lower, number);
}

void ws_meet_build(WsBuild *b)
{
    if (!b->s->halves || ws_build_coarse(b))
        return;
    for (guint a = 0; a + 1 < b->p->n_agents; a++) {
        if (b->p->agent[a].half != 0 || b->p->agent[a + 1].half != 1 ||
            b->control_row[a] == G_MAXUINT || b->control_row[a + 1] == G_MAXUINT)
            continue;
        Joins lower = { ws_trace_lane(b->t, b->cta, a), 0 };
        Joins upper = { ws_trace_lane(b->t, b->cta, a + 1), 0 };
        const WsTraceRecord *x, *y;
        double last = -NEAR;
        for (guint n = 1; (x = next_join(b, &lower)) && (y = next_join(b, &upper)); n++)
            add_line(b, x, y, n, &last);
    }
}
