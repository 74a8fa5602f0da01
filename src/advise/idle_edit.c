/* Which edit answers which cause: each listed edit is played once more, with its trace. */
#include "advise/idle.h"
#include "edit/edit.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#define LEAST 0.002 /* of the unit's time: less is not an answer */

static WsDesign *edited(const WsDesign *design, const WsNextEdit *e, WsFindings *findings)
{
    WsDesign *now = ws_design_ref((WsDesign *)design);
    for (guint i = 0; now && i < e->edits->len; i++) {
        WsDesign *after = ws_design_apply(now, e->edits->pdata[i], findings);
        ws_design_unref(now);
        now = after;
    }
    return now;
}

/* Ids of steps may be others in an edited design: what they say is the same. */
static double share_of(const WsIdle *idle, const WsProgram *p, const WsIdleCause *cause,
                       const char *label)
{
    double share = 0;
    for (guint i = 0; i < idle->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
        if (k->unit == cause->unit && k->reason == cause->reason &&
            !g_strcmp0(p->op[k->op]->label, label))
            share += k->share;
    }
    return share;
}

static void compare(GArray *list, const WsIdle *before, const WsProgram *p, const WsIdle *after,
                    const WsProgram *q, guint edit)
{
    for (guint i = 0; i < before->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(before->cause, WsIdleCause, i);
        WsIdleEdit *best = &g_array_index(list, WsIdleEdit, i);
        const double was = share_of(before, p, k, p->op[k->op]->label);
        const double now = share_of(after, q, k, p->op[k->op]->label);
        /* The unit itself must gain: a cause that only has another name now is no answer. Edits
         * come with the largest gain first. */
        if (best->edit != G_MAXUINT || was - now < MAX(LEAST, was / 3) ||
            before->idle[k->unit] - after->idle[k->unit] < LEAST)
            continue;
        best->edit = edit;
        best->before = was;
        best->after = now;
    }
}

GArray *ws_idle_edits(const WsIdle *idle, const WsNext *n, const WsDesign *design,
                      const WsProgram *p, const GArray *sizes, const WsMachine *m,
                      const gint *cancel)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsIdleEdit));
    for (guint i = 0; i < idle->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
        const WsIdleEdit none = { k->unit, k->op, k->reason, G_MAXUINT, 0, G_MAXDOUBLE };
        g_array_append_val(list, none);
    }
    for (guint i = 0; i < n->edit->len && !(cancel && g_atomic_int_get(cancel)); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design_then = edited(design, n->edit->pdata[i], findings);
        g_autoptr(WsProgram) q = design_then ? ws_elaborate(design_then, NULL, 0, findings) : NULL;
        g_autoptr(WsLaunchValues) then =
            q ? ws_launch_values(q, sizes ? (const WsSize *)(gpointer)sizes->data : NULL,
                                 sizes ? sizes->len : 0, FALSE, findings)
              : NULL;
        g_autoptr(WsClockResult) r = then ? ws_clock_run(q, then, m, NULL, findings) : NULL;
        g_autoptr(WsIdle) after = r && r->trace ? ws_idle_new(q, r->trace, m) : NULL;
        if (after)
            compare(list, idle, p, after, q, i);
    }
    return list;
}
