/* Quick-fix: what every round of a loop does and the round before the loop does not. A pipeline
 * draws its first round apart, with numbers in place of the index; a step is easily forgotten
 * there. */
#include "expr/expr.h"
#include "mend/fixer.h"

enum { MOST_STEPS = 32 };

typedef struct {
    const char *index;
    gint64 round;
} Peel;

static WsLookup number_of(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Peel *p = data;
    (void)error;
    if (leaf->op != WS_EXPR_NAME || strcmp(leaf->name, p->index) != 0)
        return WS_LOOKUP_UNKNOWN;
    *value = p->round;
    return WS_LOOKUP_KNOWN;
}

/* Nothing times something is nothing, whatever the name stands for; fold() leaves names alone. */
static WsExpr *no_products_of_zero(const WsExpr *e)
{
    gint64 a = 1, b = 1;
    if (e->op != WS_EXPR_MUL && e->op != WS_EXPR_ADD && e->op != WS_EXPR_SUB)
        return ws_expr_ref((WsExpr *)e);
    if (e->op == WS_EXPR_MUL &&
        ((ws_expr_is_int(e->arg[0], &a) && a == 0) || (ws_expr_is_int(e->arg[1], &b) && b == 0)))
        return ws_expr_int(0);
    return ws_expr_op(e->op, no_products_of_zero(e->arg[0]), no_products_of_zero(e->arg[1]));
}

static WsJson *with_number(const char *text, gpointer data)
{
    const Peel *p = data;
    const WsExprEnv env = { .integer = number_of, .data = data };
    g_autoptr(WsExpr) e = ws_has_word(text, p->index) ? ws_expr_parse(text, NULL) : NULL;
    g_autoptr(WsExpr) known = e ? ws_expr_fold(e, &env, NULL) : NULL;
    g_autoptr(WsExpr) less = known ? no_products_of_zero(known) : NULL;
    g_autoptr(WsExpr) folded = less ? ws_expr_fold(less, &env, NULL) : NULL;
    g_autofree char *now = folded ? ws_expr_print(folded) : NULL;
    return now && strcmp(now, text) != 0 ? ws_json_expr(now) : NULL;
}

/* A step of the loop as that round has it; NULL: it cannot be told so. Caller frees. */
static WsJson *peeled(const WsNode *step, Peel *p, gboolean *changed)
{
    WsJson *json = ws_json_of_node(step);
    *changed = ws_json_replace(json, FALSE, with_number, p) > 0;
    g_autofree char *text = ws_json_print(json);
    if (ws_has_word(text, p->index))
        g_clear_pointer(&json, ws_json_free);
    return json;
}

/* Where that very step stands before the loop, in its list; -1. */
static gint drawn(const WsSpot *loop, const char *text)
{
    for (guint k = 0; k < loop->index; k++) {
        g_autoptr(WsJson) json = ws_json_of_node(ws_node_child(loop->owner, loop->field, k));
        g_autofree char *own = ws_json_print(json);
        if (strcmp(own, text) == 0)
            return (gint)k;
    }
    return -1;
}

typedef struct {
    const WsNode *step;
    gint at; /* where it is drawn, -1: it is missing */
} Part;

/* Steps from..to of the round, which are missing, at a place of the loop's list. */
static void add(WsFixer *F, const WsSpot *loop, const Part *part, guint from, guint to, guint place,
                guint more, Peel *p)
{
    g_autofree char *name = ws_step_name(part[to].step);
    WsFix *fix = ws_fixer_add(F, "Do %s before loop %s, too, as every round of it does", name,
                              ws_node_name(loop->node));
    fix->cost += more;
    for (guint i = from; i <= to; i++) {
        gboolean changed;
        fix->safe &= ws_step_orders(part[i].step->kind);
        ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, loop->owner->identity, loop->field,
                                     place + i - from, peeled(part[i].step, p, &changed) });
    }
}

/* Missing steps that follow each other, together before the loop; each that orders, behind what
 * comes before it in a round. */
static void propose(WsFixer *F, const WsSpot *loop, const Part *part, guint n, Peel *p)
{
    for (guint i = 0; i < n; i++) {
        if (part[i].at >= 0)
            continue;
        if (i > 0 && part[i - 1].at >= 0 && ws_step_orders(part[i].step->kind))
            add(F, loop, part, i, i, (guint)part[i - 1].at + 1, 0, p);
        guint last = i;
        while (last + 1 < n && part[last + 1].at < 0)
            last++;
        add(F, loop, part, i, last, loop->index, 1, p);
        i = last;
    }
}

static void peel(WsFixer *F, gint i)
{
    const WsSpot *loop = ws_spot(F, i);
    const WsExpr *from = ws_node_expr(loop->node, WS_F_from);
    Peel p = { ws_node_name(loop->node), 0 };
    if ((from && !ws_expr_is_int(from, &p.round)) || ABS(p.round / 2) > G_MAXINT32 || !p.index)
        return;
    p.round--;
    Part part[MOST_STEPS];
    guint n = 0;
    gboolean alike = FALSE, told = TRUE;
    for (guint k = 0; told && k < ws_node_n_children(loop->node, WS_F_do); k++) {
        const WsNode *step = ws_node_child(loop->node, WS_F_do, k);
        if (!ws_step_hands(step->kind) && !ws_step_is_data(step->kind) &&
            step->kind != WS_STEP_SYNC)
            continue;
        gboolean changed = FALSE;
        g_autoptr(WsJson) json = n < MOST_STEPS ? peeled(step, &p, &changed) : NULL;
        told = json != NULL && !ws_node_has(step, WS_F_id);
        g_autofree char *text = told ? ws_json_print(json) : NULL;
        if (!told)
            break;
        part[n] = (Part){ step, drawn(loop, text) };
        alike |= changed && part[n].at >= 0;
        n++;
    }
    if (told && alike)
        propose(F, loop, part, n, &p);
}

void ws_fix_peeled_round(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_step_is(F, i, WS_STEP_FOR) && ws_node_has(ws_spot(F, i)->node, WS_F_count))
            peel(F, i);
}
