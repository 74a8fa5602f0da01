#include "judge/open.h"
#include "base/phrase.h"
#include "model/finding.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"
#include "program/walk/depends.h"

#include <string.h>

typedef struct {
    const WsDepends *d;
    gboolean order;  /* what happens, in which order, and what it touches in shared memory */
    gboolean places; /* or what it touches in global memory */
} Asked;

static void see(const WsExpr *e, WsOperand what, gpointer data)
{
    Asked *a = data;
    if (what == WS_OPERAND_MATH || !(ws_depends_of(a->d, e) & WS_DEPENDS_SIZES))
        return;
    a->places = TRUE;
    a->order |= what != WS_OPERAND_COORD;
}

static void see_node(const WsTree *t, gpointer data)
{
    ws_tree_operands(t, see, data);
}

static Asked asked_of(const WsProgram *p, const WsDepends *d)
{
    Asked a = { d, FALSE, FALSE };
    for (guint i = 0; i < p->n_agents; i++)
        ws_tree_each(p->agent[i].body, see_node, &a);
    /* how many tiles a CTA has; in a launch with one for each no more than which */
    const WsOperand extent =
        p->tiles->launch == WS_LAUNCH_SINGLE ? WS_OPERAND_COORD : WS_OPERAND_COUNT;
    for (guint i = 0; i < p->tiles->n_axes; i++)
        see(p->tiles->axis[i].extent, extent, &a);
    const WsExpr *of_launch[] = { p->tiles->grid, p->tiles->order_n };
    for (guint i = 0; i < G_N_ELEMENTS(of_launch); i++)
        if (of_launch[i])
            see(of_launch[i], extent, &a);
    for (guint t = 0; t < p->n_tensors; t++)
        for (guint i = 0; i < p->tensor[t].rank; i++) {
            see(p->tensor[t].shape[i], WS_OPERAND_COORD, &a);
            see(p->tensor[t].stride[i], WS_OPERAND_COORD, &a);
        }
    return a;
}

static gboolean stands(const WsFinding *f, gconstpointer data)
{
    const Asked *a = data;
    const WsClass klass = ws_rule(f->rule)->klass;
    return klass == WS_CLASS_P ? !a->order : klass == WS_CLASS_G ? !a->places : TRUE;
}

void ws_judge_open(const WsImport *import, const WsProgram *program, WsVerdict *verdict,
                   WsFindings *findings)
{
    if (verdict->kind != WS_VERDICT_REFUTED || !program)
        return;
    g_autofree gboolean *sizes = g_new0(gboolean, program->n_vars + 1);
    const char *first = NULL;
    for (guint v = 0; v < program->n_vars; v++) {
        sizes[v] =
            program->var[v].kind == WS_VAR_SIZE &&
            g_ptr_array_find_with_equal_func(import->open, program->var[v].name, g_str_equal, NULL);
        first = sizes[v] && !first ? program->var[v].name : first;
    }
    if (!first)
        return;
    g_autoptr(WsDepends) d = ws_depends_new(program, sizes);
    const Asked asked = asked_of(program, d);
    g_autofree char *why = ws_phrase("what the host makes of `%s` was not followed, and it goes "
                                     "wrong for values that it may never have",
                                     first);
    ws_verdict_limit(verdict, findings, why, stands, &asked);
    if (verdict->kind == WS_VERDICT_OUTSIDE)
        g_array_set_size(verdict->played, 0); /* which found an error */
}
