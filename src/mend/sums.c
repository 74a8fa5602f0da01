/* Quick-fixes of what the first round has not: a sum that begins nowhere, a step that looks a round
 * back. A sum may begin anew only behind what reads it: everywhere else it would lose products. */
#include "mend/fixer.h"
#include "model/finding.h"

static gboolean assigns(const WsNode *step, const char *value)
{
    const WsValue *v = step->kind == WS_STEP_COMPUTE ? ws_node_get(step, WS_F_keyword) : NULL;
    for (guint i = 0; v && v->kind == WS_VALUE_LIST && i < v->n; i++)
        if (v->item[i].kind == WS_VALUE_STATEMENT && strcmp(v->item[i].statement->name, value) == 0)
            return TRUE;
    return FALSE;
}

static gboolean names(const WsNode *step, const char *value)
{
    g_autofree char *text =
        step->kind == WS_STEP_FOR || step->kind == WS_STEP_IF ? NULL : ws_node_print(step, 0);
    return ws_has_word(text, value);
}

/* A product that adds to the value, or a computation that makes it anew, of itself or not. */
static gboolean sums(const WsNode *step, const char *value)
{
    return step->kind == WS_STEP_MMA ? g_strcmp0(ws_step_ref(step, WS_F_keyword), value) == 0
                                     : assigns(step, value);
}

/* Do two steps stand in the two branches of one choice? */
static gboolean apart(const WsFixer *F, gint a, gint b)
{
    const WsSpot *x = ws_spot(F, ws_spot_outside(F, a, b)),
                 *y = ws_spot(F, ws_spot_outside(F, b, a));
    return x->owner == y->owner && x->field != y->field;
}

/* Does a step before product i define the value, in the loop (-1: in the group)? Then the sum has
 * begun there on some way, and may not begin again here. */
static gboolean begun(const WsFixer *F, gint loop, gint i, const char *value)
{
    for (gint k = 0; k < i; k++) {
        const WsSpot *s = ws_spot(F, k);
        if (s->group == ws_spot(F, i)->group && (loop < 0 || ws_spot_inside(F, k, loop)) &&
            sums(s->node, value) && !apart(F, i, k))
            return TRUE;
    }
    return FALSE;
}

/* Does a round of the loop read what has been summed up? */
static gboolean is_read(const WsFixer *F, gint loop, const char *value)
{
    for (gint k = loop + 1; k < (gint)F->spot->len && ws_spot_inside(F, k, loop); k++) {
        const WsNode *step = ws_spot(F, k)->node;
        if (names(step, value) && !sums(step, value))
            return TRUE;
    }
    return FALSE;
}

/* In the first round of all loops that add to it. */
void ws_fix_start_sum(WsFixer *F)
{
    const WsNode *step = ws_step_is(F, F->at, WS_STEP_MMA) ? ws_spot(F, F->at)->node : NULL;
    const char *value = step ? ws_step_ref(step, WS_F_keyword) : NULL;
    g_autoptr(GString) when = g_string_new(NULL);
    gint up = value ? ws_spot(F, F->at)->up : -1;
    for (; up >= 0 && !is_read(F, up, value); up = ws_spot(F, up)->up) {
        if (!ws_step_is(F, up, WS_STEP_FOR))
            continue;
        if (!ws_node_has(ws_spot(F, up)->node, WS_F_count)) /* its rounds have no number */
            return;
        g_autofree char *round = ws_first_round(F, up, "==");
        g_string_prepend(when, when->len ? " && " : "");
        g_string_prepend(when, round);
    }
    if (!value || begun(F, up, F->at, value))
        return;
    WsFix *fix = when->len ? ws_fixer_add(F, "Start the sum where %s", when->str)
                           : ws_fixer_add(F, "Start a new sum with this mma");
    ws_fix_set(fix, step, WS_F_first, when->len ? ws_json_expr(when->str) : ws_json_bool(TRUE));
}

/* A value that a warp may leave as it is: all of them make it. */
void ws_fix_assign_always(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        if (step->kind != WS_STEP_COMPUTE || !ws_node_has(step, WS_F_unless))
            continue;
        g_autofree char *name = ws_step_name(step), *unless = ws_field_text(step, WS_F_unless);
        WsFix *fix = ws_fixer_add(F, "Do %s in every case, also where %s", name, unless);
        ws_fix_set(fix, step, WS_F_unless, NULL);
    }
}

/* Only a step that looks a round back has nothing to do in the first one. */
void ws_fix_not_in_first(WsFixer *F)
{
    const gint loop = ws_spot_loop(F, F->at);
    if (loop < 0 || F->finding->object == NULL)
        return;
    const WsNode *step = ws_spot(F, F->at)->node;
    g_autofree char *when = ws_field_text(step, WS_F_when), *name = ws_step_name(step),
                    *use = ws_step_use(step), *round = ws_first_round(F, loop, ">");
    if (!use || !strstr(use, " - "))
        return;
    g_autofree char *both = when ? g_strdup_printf("(%s) && %s", when, round) : g_strdup(round);
    WsFix *fix = ws_fixer_add(F, "Do %s only when %s", name, round);
    ws_fix_set(fix, step, WS_F_when, ws_json_expr(both));
}
