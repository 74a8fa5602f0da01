#include "program/waves.h"
#include "program/array.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

typedef struct {
    guint8 *operand, *made; /* by value: a or b of a product; an accumulator, or in a statement */
    gboolean reduces, by_two;
} Seen;

static void see(const WsArray *node, gpointer data)
{
    ((Seen *)data)->made[node->index] = 1;
}

static gboolean reduces(const WsArray *a)
{
    if (!a)
        return FALSE;
    gboolean any = a->form == WS_ARRAY_REDUCTION || a->form == WS_ARRAY_SCAN;
    for (guint i = 0; i < a->n_arg && !any; i++)
        any = reduces(a->arg[i]);
    return any;
}

static void look(Seen *seen, const WsOp *op, guint rows)
{
    if (op->mma && op->n_value == 3) {
        seen->made[op->value[0].value] = 1;
        seen->operand[op->value[1].value] = seen->operand[op->value[2].value] = 1;
        seen->by_two &= op->mma->m % (2 * rows) == 0 && op->mma->n % (2 * rows) == 0;
    }
    for (guint i = 0; i < op->n_math; i++) {
        const WsAssign *s = &op->assign[i];
        if (s->value >= 0)
            seen->made[s->value] = 1;
        seen->reduces |= reduces(s->array);
        if (s->array)
            ws_array_visit(s->array, see, seen);
    }
}

void ws_waves_grid(const WsProgram *p, guint *m, guint *n)
{
    const guint waves = p->hardware->halves ? p->hardware->half_warps : 1;
    const guint values = p->n_agents ? p->agent[0].n_values : 0;
    g_autofree guint8 *operand = g_new0(guint8, values + 1), *made = g_new0(guint8, values + 1);
    Seen seen = { operand, made, FALSE, TRUE };
    for (guint i = 0; waves > 1 && i < p->n_ops; i++)
        if (p->op[i]->agent == 0)
            look(&seen, p->op[i], p->agent[0].mma_rows);
    gboolean two = waves > 1 && seen.by_two && !seen.reduces;
    for (guint i = 0; i < values; i++)
        two &= !(operand[i] && made[i]);
    *n = two ? 2 : 1;
    *m = waves / *n;
}
