/* What a round of a loop costs, and the least that it can. */
#include "advise/floor.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/visit.h"

#include <math.h>

/* Of what every round does: branches and loops inside may do nothing. */
static double work_of(const WsTree *t, const double *cycles)
{
    double sum = t->kind == WS_TREE_OP ? cycles[t->op->index] : 0;
    for (guint i = 0; t->kind == WS_TREE_SEQ && i < t->n_kids; i++)
        sum += work_of(t->kid[i], cycles);
    return sum;
}

typedef struct {
    const char *step; /* that the loop comes from: the same in all replicas */
    const double *cycles;
    double sum;
} Work;

static void add_loop(const WsTree *t, gpointer data)
{
    Work *w = data;
    if (t->kind == WS_TREE_LOOP && t->n_kids && g_strcmp0(t->step, w->step) == 0)
        w->sum += work_of(t->kid[0], w->cycles);
}

static double in_a_round(const WsProgram *p, const WsClockLoop *l, const double *cycles)
{
    Work w = { l->loop->step, cycles, 0 };
    for (guint a = 0; a < p->n_agents; a++)
        if (p->agent[a].group == p->agent[l->agent].group)
            ws_tree_each(p->agent[a].body, add_loop, &w);
    return w.sum;
}

WsRound ws_round_of(const WsProgram *p, const WsClockResult *r, const WsMachine *m)
{
    g_autofree double *products = ws_clock_product_cycles(p, m);
    g_autofree double *functions = ws_clock_special_cycles(p, m);
    WsRound found = { NULL, NULL, 0, 0, NULL };
    gint64 most = 0;
    for (guint i = 0; i < r->loop->len; i++) {
        const WsClockLoop *l = &g_array_index(r->loop, WsClockLoop, i);
        if (l->loop->over != WS_OVER_COUNT || !l->loop->step || l->rounds <= most)
            continue;
        const double tensor = in_a_round(p, l, products), special = in_a_round(p, l, functions);
        if (tensor <= 0)
            continue;
        most = l->rounds;
        found = (WsRound){ p->agent[l->agent].name, l->loop->name, l->period, MAX(tensor, special),
                           tensor >= special ? "tensor pipe" : "MUFU" };
    }
    return found;
}
