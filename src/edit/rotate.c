/* A loop rotated: its body is cut in two, and the second part runs a round later, beside the first
 * part of the next round. The first part of round 0 goes before the loop, the second part of the
 * last round behind it; waits for products, uses and counters go along. What may run before what is
 * decided in rotate_order.c from what the steps touch; whether the ring is deep enough for it is
 * for the check to say. */
#include "edit/rotate.h"

#include <string.h>

typedef struct {
    WsDraft *d;
    guint64 loop;
    guint cut, n;
    GArray *order;              /* WsTurned */
    gint64 step;                /* of the index */
    char *index;                /* its name */
    char *first, *last, *count; /* texts: index of the first and of the last round, their number */
} Turn;

static void turn_clear(Turn *t)
{
    if (t->order != NULL)
        g_array_unref(t->order);
    g_free(t->index);
    g_free(t->first);
    g_free(t->last);
    g_free(t->count);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Turn, turn_clear)

static const WsTurned *turned(const Turn *t, guint i)
{
    return &g_array_index(t->order, WsTurned, i);
}

/* --- expressions ------------------------------------------------------------------------------ */

static char *folded(const WsExpr *e)
{
    static const WsExprEnv nothing;
    g_autoptr(WsExpr) f = ws_expr_fold(e, &nothing, NULL);
    return ws_expr_print(f != NULL ? f : e);
}

/* Of an index that is at least `least` a comparison with a number may be known. 0, 1; -1: it is
 * not. */
static gint known(const WsExpr *e, const char *index, gint64 least)
{
    gint64 c;
    if (e->n_args != 2 || e->arg[0]->op != WS_EXPR_NAME || strcmp(e->arg[0]->name, index) != 0 ||
        !ws_expr_is_int(e->arg[1], &c))
        return -1;
    if (e->op == WS_EXPR_EQ || e->op == WS_EXPR_NE)
        return c < least ? e->op == WS_EXPR_NE : -1;
    if (e->op == WS_EXPR_GT || e->op == WS_EXPR_LE)
        return c < least ? e->op == WS_EXPR_GT : -1;
    if (e->op == WS_EXPR_GE || e->op == WS_EXPR_LT)
        return c <= least ? e->op == WS_EXPR_GE : -1;
    return -1;
}

/* `when` and `first` that are known after all: the step goes, or the field does. */
static gboolean settle(WsDraft *d, guint64 node, const char *index, gint64 least)
{
    static const WsFieldId condition[] = { WS_F_when, WS_F_first };
    for (guint i = 0; i < G_N_ELEMENTS(condition); i++) {
        const WsExpr *e = ws_node_expr(ws_draft_node(d, node), condition[i]);
        gint64 value = e != NULL && index != NULL ? known(e, index, least) : -1;
        if (e == NULL || (value < 0 && !ws_expr_is_int(e, &value)))
            continue;
        if (condition[i] == WS_F_when && value == 0)
            return ws_draft_remove(d, node);
        if (!ws_draft_set(d, node, condition[i],
                          condition[i] == WS_F_when || value == 0 ? NULL : ws_json_bool(TRUE)))
            return FALSE;
    }
    return TRUE;
}

/* Sums with 0 and comparisons of numbers, after an index became one. */
static gboolean fold_fields(WsDraft *d, guint64 identity)
{
    guint n;
    const WsNode *node = ws_draft_node(d, identity);
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *value = ws_node_get(node, rows[i].field);
        const gboolean list = rows[i].kind == WS_FIELD_EXPRS && value->kind == WS_VALUE_LIST;
        if (value->kind != WS_VALUE_EXPR && !list)
            continue;
        WsJson *now = list ? ws_json_list() : NULL;
        for (guint k = 0; list && k < value->n; k++) {
            g_autofree char *text = folded(value->item[k].expr);
            ws_json_add(now, ws_json_expr(text));
        }
        g_autofree char *text = list ? NULL : folded(value->expr);
        if (!ws_draft_set(d, identity, rows[i].field, list ? now : ws_json_expr(text)))
            return FALSE;
    }
    return TRUE;
}

/* --- what does not fit ------------------------------------------------------------------------ */

static gboolean advances_below(const WsNode *node, const char *counter)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            if ((child->kind == WS_STEP_ADVANCE &&
                 g_strcmp0(ws_node_text(child, WS_F_keyword), counter) == 0) ||
                advances_below(child, counter))
                return TRUE;
        }
    return FALSE;
}

/* Whether a step at or below the node advances a counter that the expression mentions. */
static gboolean advances_any_of(const WsNode *node, const WsExpr *e)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (node->kind == WS_STEP_ADVANCE && ws_expr_mentions(e, ws_node_text(node, WS_F_keyword)))
        return TRUE;
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            if (advances_any_of(ws_node_child(node, rows[i].field, c), e))
                return TRUE;
    return FALSE;
}

/* A counter that the body advances does so once in each round, by what stays the same. */
static gboolean counts_evenly(WsDraft *d, const WsNode *loop, const WsNode *advance)
{
    const char *counter = ws_node_text(advance, WS_F_keyword);
    const WsExpr *by = ws_node_expr(advance, WS_F_by);
    guint times = 0;
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        times += step->kind == WS_STEP_ADVANCE &&
                 g_strcmp0(ws_node_text(step, WS_F_keyword), counter) == 0;
        if (advances_below(step, counter))
            times += 2;
    }
    if (times != 1 || ws_node_has(advance, WS_F_when) ||
        ws_expr_mentions(by, ws_node_text(loop, WS_F_keyword)) || advances_any_of(loop, by))
        return ws_draft_refuse(
            d, "counter %s is not advanced once in each round by the same number", counter);
    return TRUE;
}

/* Whether the name stands anywhere in what is printed of a node. */
static gboolean says(const WsNode *node, const char *name)
{
    g_autofree char *text = ws_node_print(node, 0);
    for (const char *c = text; (c = strstr(c, name)) != NULL; c++) {
        const char after = c[strlen(name)];
        if ((c == text || !(g_ascii_isalnum(c[-1]) || c[-1] == '_')) &&
            !(g_ascii_isalnum(after) || after == '_'))
            return TRUE;
    }
    return FALSE;
}

/* Whether a direct step of the loop other than this one, by what it says, follows the counter. */
static gboolean is_followed(const WsNode *loop, const WsNode *but, const char *counter)
{
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        if (step != but && says(step, counter))
            return TRUE;
    }
    return FALSE;
}

/* Advances at or below `node`, in the step `direct` of the body. How far a counter is in another
 * round is known where each round advances it once; in a branch or a loop inside it is not, and
 * then nothing beside that step may follow the counter. */
static gboolean counts_below(WsDraft *d, const WsNode *loop, const WsNode *direct,
                             const WsNode *node)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    const char *counter = node->kind == WS_STEP_ADVANCE ? ws_node_text(node, WS_F_keyword) : NULL;
    if (counter != NULL && (ws_expr_mentions(ws_node_expr(loop, WS_F_count), counter) ||
                            ws_expr_mentions(ws_node_expr(loop, WS_F_from), counter)))
        return ws_draft_refuse(
            d, "the rounds of the loop follow counter %s, which its body changes", counter);
    if (counter != NULL && node == direct && !counts_evenly(d, loop, node))
        return FALSE;
    if (counter != NULL && node != direct && is_followed(loop, direct, counter))
        return ws_draft_refuse(
            d, "counter %s is not advanced once in each round by the same number", counter);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            if (!counts_below(d, loop, direct, ws_node_child(node, rows[i].field, c)))
                return FALSE;
    return TRUE;
}

/* A loop inside whose rounds are counted beyond it would count those of another round. */
static gboolean totals_stay(WsDraft *d, const WsNode *group, const WsNode *node)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (node->kind == WS_STEP_FOR) {
        g_autofree char *total = g_strconcat(ws_node_text(node, WS_F_keyword), ".total", NULL);
        g_autofree char *in = ws_node_print(node, 0), *all = ws_node_print(group, 0);
        guint inside = 0, overall = 0;
        for (const char *c = in; (c = strstr(c, total)) != NULL; c++)
            inside++;
        for (const char *c = all; (c = strstr(c, total)) != NULL; c++)
            overall++;
        if (inside != overall)
            return ws_draft_refuse(d,
                                   "%s is mentioned outside its loop, which would count the "
                                   "rounds of another one",
                                   total);
    }
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            if (!totals_stay(d, group, ws_node_child(node, rows[i].field, c)))
                return FALSE;
    return TRUE;
}

static gboolean fits(WsDraft *d, const WsNode *loop)
{
    const WsNode *group = ws_edit_group(d->design, loop);
    if (group == NULL || ws_node_has(loop, WS_F_over) || !ws_node_has(loop, WS_F_count))
        return ws_draft_refuse(d, "only a counted loop can be rotated");
    if (ws_node_has(loop, WS_F_when) || ws_node_has(loop, WS_F_ahead))
        return ws_draft_refuse(d, "the loop has a condition or runs ahead itself");
    if (ws_node_has(loop, WS_F_unroll))
        return ws_draft_refuse(d, "the loop is unrolled; rotate it first and unroll it then");
    if (ws_node_has(loop, WS_F_step) && ws_node_int(loop, WS_F_step, -1) < 1)
        return ws_draft_refuse(d, "the `step` of the loop is not a number of at least 1");
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        if (!counts_below(d, loop, step, step) || !totals_stay(d, group, step))
            return FALSE;
    }
    return TRUE;
}

/* --- the round in the loop -------------------------------------------------------------------- */

/* Advances of a counter that ran before a step, compared with those that did before it in the order
 * as it was: what a mention of the counter has to add. */
static gint64 lag(const Turn *t, guint at, guint advance)
{
    const gboolean late = turned(t, at)->late, advance_late = advance >= t->cut;
    gint64 ran = advance_late ? -1 : 0; /* rounds begun before this one, counted from its number */
    for (guint i = 0; i < at; i++)
        ran += turned(t, i)->index == advance;
    const gint64 wanted = (late ? -1 : 0) + (turned(t, at)->index > advance);
    return wanted - ran;
}

static gboolean carry_counter(const Turn *t, guint advance, const char *counter, const char *by)
{
    for (guint i = 0; i < t->order->len; i++) {
        const gint64 rounds = turned(t, i)->index == advance ? 0 : lag(t, i, advance);
        if (rounds == 0)
            continue;
        g_autofree char *text = rounds == 1    ? g_strdup_printf("(%s + (%s))", counter, by)
                                : rounds == -1 ? g_strdup_printf("(%s - (%s))", counter, by)
                                               : g_strdup_printf("(%s + %" G_GINT64_FORMAT "*(%s))",
                                                                 counter, rounds, by);
        if (!ws_edit_put(t->d, turned(t, i)->step, counter, text))
            return FALSE;
    }
    return TRUE;
}

static gboolean carry_counters(const Turn *t)
{
    for (guint i = 0; i < t->n; i++) {
        const WsNode *step = ws_node_child(ws_draft_node(t->d, t->loop), WS_F_do, i);
        const WsExpr *e = ws_node_expr(step, WS_F_by);
        g_autofree char *by = e != NULL ? ws_expr_print(e) : g_strdup("1");
        if (step->kind == WS_STEP_ADVANCE &&
            !carry_counter(t, i, ws_node_text(step, WS_F_keyword), by))
            return FALSE;
    }
    return TRUE;
}

static gboolean set_wait(WsDraft *d, guint64 step, gint64 stay)
{
    return stay < 0 ? ws_draft_remove(d, step)
                    : ws_draft_set(d, step, WS_F_keyword, ws_json_int(stay));
}

static gboolean turn_body(const Turn *t)
{
    g_autofree char *before = g_strdup_printf("(%s - %" G_GINT64_FORMAT ")", t->index, t->step);
    gint64 least = 0;
    const WsExpr *from = ws_node_expr(ws_draft_node(t->d, t->loop), WS_F_from);
    const gboolean number = from == NULL || ws_expr_is_int(from, &least);
    for (guint i = 0; i < t->order->len; i++)
        if (!ws_draft_move(t->d, turned(t, i)->step, t->loop, WS_F_do, i))
            return FALSE;
    for (guint i = 0; i < t->order->len; i++) {
        const WsTurned *s = turned(t, i);
        const gboolean wait = ws_draft_node(t->d, s->step)->kind == WS_STEP_MMA_WAIT;
        if (s->late && !ws_edit_put(t->d, s->step, t->index, before))
            return FALSE;
        if (wait && !set_wait(t->d, s->step, s->inside))
            return FALSE;
        if (!wait &&
            (!fold_fields(t->d, s->step) ||
             !settle(t->d, s->step, number && !s->late ? t->index : NULL, least + t->step)))
            return FALSE;
    }
    return TRUE;
}

/* --- before and behind ------------------------------------------------------------------------ */

static GPtrArray *copies(const Turn *t, gboolean late)
{
    const WsNode *loop = ws_draft_node(t->d, t->loop);
    GPtrArray *list = g_ptr_array_new_with_free_func((GDestroyNotify)ws_json_free);
    for (guint i = late ? t->cut : 0; i < (late ? t->n : t->cut); i++)
        g_ptr_array_add(list,
                        ws_json_with(ws_json_of_node(ws_node_child(loop, WS_F_do, i)), "id", NULL));
    return list;
}

static const WsTurned *of_index(const Turn *t, guint index)
{
    for (guint i = 0; i < t->order->len; i++)
        if (turned(t, i)->index == index)
            return turned(t, i);
    g_assert_not_reached();
}

/* One round of a part beside the loop: its steps with the index `text`. */
static gboolean put_apart(const Turn *t, GPtrArray *list, gboolean late, const char *text,
                          GArray *made)
{
    WsFieldId field;
    guint place;
    const WsNode *loop = ws_draft_node(t->d, t->loop);
    const guint64 owner = ws_design_owner(t->d->design, loop, &field, &place)->identity;
    for (guint i = 0; i < list->len; i++) {
        const guint64 step =
            ws_draft_insert(t->d, owner, field, place + i + late, g_steal_pointer(&list->pdata[i]));
        if (step == 0)
            return FALSE;
        g_array_append_val(made, step);
    }
    for (guint i = 0; i < list->len; i++) {
        const guint64 step = g_array_index(made, guint64, made->len - list->len + i);
        const gboolean wait = ws_draft_node(t->d, step)->kind == WS_STEP_MMA_WAIT;
        const WsTurned *s = of_index(t, late ? t->cut + i : i);
        if (!ws_edit_put(t->d, step, t->index, text) ||
            (wait ? !set_wait(t->d, step, s->alone)
                  : !fold_fields(t->d, step) || !settle(t->d, step, NULL, 0)))
            return FALSE;
    }
    return TRUE;
}

/* The index begins a round later, and there is one round less. */
static gboolean shorten(const Turn *t)
{
    g_autofree char *from = g_strdup_printf("%s + %" G_GINT64_FORMAT, t->first, t->step);
    g_autofree char *less = g_strdup_printf("%s - 1", t->count);
    g_autoptr(WsExpr) a = ws_expr_parse(from, NULL), b = ws_expr_parse(less, NULL);
    g_autofree char *x = folded(a), *y = folded(b);
    return ws_draft_set(t->d, t->loop, WS_F_from, ws_json_expr(x)) &&
           ws_draft_set(t->d, t->loop, WS_F_count, ws_json_expr(y));
}

/* Cuts of `split` at or before the new beginning cut nothing. */
static gboolean trim_split(const Turn *t)
{
    const WsNode *loop = ws_draft_node(t->d, t->loop);
    const WsValue *cuts = ws_node_get(loop, WS_F_split);
    gint64 from = 0, cut;
    if (cuts->kind != WS_VALUE_LIST || !ws_expr_is_int(ws_node_expr(loop, WS_F_from), &from))
        return TRUE;
    WsJson *left = NULL;
    for (guint i = 0; i < cuts->n; i++)
        if (!ws_expr_is_int(cuts->item[i].expr, &cut) || cut > from) {
            g_autofree char *text = ws_expr_print(cuts->item[i].expr);
            left = left != NULL ? left : ws_json_list();
            ws_json_add(left, ws_json_expr(text));
        }
    return ws_draft_set(t->d, t->loop, WS_F_split, left);
}

/* Where there may be no round at all, everything is in a branch. */
static gboolean guard(const Turn *t, const GArray *made)
{
    WsFieldId field;
    guint place;
    const WsNode *first = ws_draft_node(t->d, g_array_index(made, guint64, 0));
    g_autofree char *when = g_strdup_printf("%s > 0", t->count);
    if (first == NULL)
        first = ws_draft_node(t->d, t->loop);
    const guint64 owner = ws_design_owner(t->d->design, first, &field, &place)->identity;
    const guint64 branch = ws_draft_insert(
        t->d, owner, field, place,
        WS_MAKE(WS_STEP_IF, { WS_F_keyword, ws_json_expr(when) }, { WS_F_then, ws_json_list() }));
    guint n = 0;
    for (guint i = 0; branch != 0 && i < made->len; i++) {
        const guint64 step = g_array_index(made, guint64, i);
        if (ws_draft_node(t->d, step) != NULL && /* not one that was left out */
            !ws_draft_move(t->d, step, branch, WS_F_then, n++))
            return FALSE;
    }
    return branch != 0;
}

static char *in_brackets(const WsExpr *e, const char *otherwise)
{
    g_autofree char *text = e != NULL ? ws_expr_print(e) : g_strdup(otherwise);
    return g_strdup_printf("(%s)", text);
}

static void read_loop(Turn *t, const WsNode *loop)
{
    t->index = g_strdup(ws_node_text(loop, WS_F_keyword));
    t->step = ws_node_int(loop, WS_F_step, 1);
    t->first = in_brackets(ws_node_expr(loop, WS_F_from), "0");
    t->count = in_brackets(ws_node_expr(loop, WS_F_count), "0");
    g_autofree char *last =
        g_strdup_printf("%s + %" G_GINT64_FORMAT "*(%s - 1)", t->first, t->step, t->count);
    g_autoptr(WsExpr) e = ws_expr_parse(last, NULL);
    g_autofree char *text = folded(e);
    t->last = g_strdup_printf("(%s)", text);
    t->n = ws_node_n_children(loop, WS_F_do);
}

static gboolean rotate(Turn *t)
{
    WsDraft *d = t->d;
    const WsNode *loop = ws_draft_node(d, t->loop);
    const gboolean certain = ws_edit_is_positive(d->design, ws_node_expr(loop, WS_F_count));
    read_loop(t, loop);
    t->order = ws_rotate_order(d, loop, t->cut);
    if (t->order == NULL)
        return FALSE;
    g_autoptr(GPtrArray) before = copies(t, FALSE), behind = copies(t, TRUE);
    g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(guint64));
    if (!carry_counters(t) || !turn_body(t) || !put_apart(t, before, FALSE, t->first, made))
        return FALSE;
    g_array_append_val(made, t->loop);
    return put_apart(t, behind, TRUE, t->last, made) && shorten(t) && trim_split(t) &&
           (certain || guard(t, made));
}

gboolean ws_edit_rotate(WsDraft *d, guint64 step)
{
    WsFieldId list;
    guint cut;
    const WsNode *node = ws_draft_node(d, step);
    const WsNode *loop = node != NULL ? ws_design_owner(d->design, node, &list, &cut) : NULL;
    if (loop == NULL || loop->kind != WS_STEP_FOR)
        return ws_draft_refuse(d, "only a step that is directly in a counted loop can be the one "
                                  "that runs a round later");
    if (cut == 0)
        return ws_draft_refuse(d, "it is the first step of the loop: nothing would be left to run "
                                  "before it");
    g_autofree char *label = ws_edit_label(node);
    const guint64 identity = loop->identity;
    if (!fits(d, loop) || !ws_edit_count_total(d, ws_edit_group(d->design, loop)->identity,
                                               ws_node_text(loop, WS_F_keyword)))
        return FALSE;
    g_auto(Turn) t = { .d = d, .loop = identity, .cut = cut };
    if (!rotate(&t))
        return FALSE;
    ws_draft_name(d, "Run %s and what follows it a round later", label);
    ws_draft_touch(d, step);
    return TRUE;
}
