/* Designs that hold lines of a kernel which an import did not understand. */
#include "base/phrase.h"
#include "check/verdict.h"
#include "model/finding.h"
#include "program/parts/operation.h"
#include "program/program.h"

static gboolean is_budget(const WsFinding *f, gconstpointer data)
{
    (void)data;
    return ws_rule(f->rule)->klass == WS_CLASS_B;
}

void ws_verdict_unread(const WsProgram *p, WsVerdict *v, WsFindings *findings)
{
    const WsOp *unread = NULL;
    for (guint i = 0; !unread && i < p->n_ops; i++)
        unread = p->op[i]->unread ? p->op[i] : NULL;
    if (p->unread && v->kind == WS_VERDICT_PROVED)
        g_ptr_array_add(v->assumed,
                        ws_phrase("its values do not matter (%s was not read)", p->unread));
    if (!unread)
        return;
    g_autofree char *gap = ws_phrase("the lines of its source at %s were not read", unread->id);
    ws_verdict_limit(v, findings, gap, is_budget, NULL);
}
