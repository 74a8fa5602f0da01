/* Quick-fixes of counters that name uses: one that starts or moves otherwise than what it counts. A
 * counter that stands in uses alone is synchronisation; one that a coordinate or a condition names
 * is not. */
#include "mend/fixer.h"

gboolean ws_only_in_uses(const WsFixer *F, const WsNode *group, const char *counter)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        guint n;
        const WsFieldRow *row = ws_node_rows(s->node->kind, &n);
        for (guint k = 0; s->group == group && k < n; k++) {
            if (row[k].kind == WS_FIELD_STEPS || row[k].field == WS_F_use ||
                row[k].field == WS_F_note || s->node->kind == WS_STEP_ADVANCE)
                continue;
            g_autofree char *text = ws_field_text(s->node, row[k].field);
            if (text && ws_has_word(text, counter))
                return FALSE;
        }
    }
    return TRUE;
}

/* What an advance adds, without its quotes. Caller frees. */
static char *by_of(const WsNode *step)
{
    const WsExpr *by = ws_node_expr(step, WS_F_by);
    return by ? ws_expr_print(by) : g_strdup("1");
}

static WsJson *advance(const char *counter, const char *by)
{
    return WS_MAKE(WS_STEP_ADVANCE, { WS_F_keyword, ws_json_text(counter) },
                   { WS_F_by, ws_json_expr(by) });
}

/* The loop over tiles that holds step i; -1. */
static gint tiles_of(const WsFixer *F, gint i)
{
    for (i = ws_spot(F, i)->up; i >= 0; i = ws_spot(F, i)->up)
        if (ws_step_is(F, i, WS_STEP_FOR) && ws_node_has(ws_spot(F, i)->node, WS_F_over))
            return i;
    return -1;
}

static WsFix *move_by(WsFixer *F, gint i, const char *by, const WsNode *as)
{
    const WsSpot *s = ws_spot(F, i);
    const char *counter = ws_node_text(s->node, WS_F_keyword);
    WsFix *fix = ws_fixer_add(F, "Let %s of %s move by %s, as that of %s does", counter,
                              ws_node_name(s->group), by, ws_node_name(as));
    fix->safe = ws_only_in_uses(F, s->group, counter);
    ws_fix_set(fix, s->node, WS_F_by, ws_json_expr(by));
    return fix;
}

/* Counters of one name in two groups count the same ring. */
static void as_others(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        for (gint k = 0; ws_step_is(F, i, WS_STEP_ADVANCE) && k < (gint)F->spot->len; k++) {
            const WsSpot *a = ws_spot(F, i), *b = ws_spot(F, k);
            if (b->node->kind != WS_STEP_ADVANCE || a->group == b->group ||
                g_strcmp0(ws_node_text(a->node, WS_F_keyword),
                          ws_node_text(b->node, WS_F_keyword)) != 0)
                continue;
            g_autofree char *x = by_of(a->node), *y = by_of(b->node);
            if (strcmp(x, y) != 0)
                move_by(F, i, y, b->group);
        }
}

static gboolean is_moved(const WsFixer *F, const WsNode *group, const char *counter, gint loop)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_spot(F, i)->group == group && ws_step_is(F, i, WS_STEP_ADVANCE) &&
            ws_spot_inside(F, i, loop) &&
            g_strcmp0(ws_node_text(ws_spot(F, i)->node, WS_F_keyword), counter) == 0)
            return TRUE;
    return FALSE;
}

/* A counter of a group that is moved in the tiles of another one and not in its own. */
static void move_too(WsFixer *F, const WsNode *group, const char *counter, gint tiles)
{
    if (is_moved(F, group, counter, tiles))
        return;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const gint loop = ws_step_is(F, i, WS_STEP_ADVANCE) ? tiles_of(F, i) : -1;
        if (s->group == group || loop < 0 || s->up != loop ||
            g_strcmp0(ws_node_text(s->node, WS_F_keyword), counter) != 0)
            continue;
        const WsNode *own = ws_spot(F, tiles)->node;
        g_autofree char *by = by_of(s->node);
        WsFix *fix = ws_fixer_add(F, "Let %s of %s move by %s in every tile, as that of %s does",
                                  counter, ws_node_name(group), by, ws_node_name(s->group));
        fix->safe = ws_only_in_uses(F, group, counter);
        fix->cost += 8;
        ws_fix_append(fix, own, WS_F_do, advance(counter, by));
    }
}

/* Replicas that take tiles in turns, and one ring that is filled for all of them: each begins
 * behind what is filled for those before it, and passes over what is filled for the others. */
static void in_turns(WsFixer *F, const WsNode *group, const WsNode *counter, gint tiles)
{
    const WsNode *loop = ws_spot(F, tiles)->node;
    const char *name = ws_node_name(counter);
    g_autofree char *step = ws_field_text(loop, WS_F_step);
    for (gint i = 0; step && i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const WsExpr *count = s->node->kind == WS_STEP_FOR && s->up == tiles
                                  ? ws_node_expr(s->node, WS_F_count)
                                  : NULL;
        if (!count || !is_moved(F, group, name, i))
            continue;
        g_autofree char *text = ws_expr_print(count),
                        *n = strchr(text, ' ') ? g_strdup_printf("(%s)", text) : g_strdup(text),
                        *start = g_strdup_printf("replica*%s", n),
                        *now = ws_field_text(counter, WS_F_start),
                        *skip = g_strdup_printf("(replicas - 1)*%s", n);
        const gboolean safe = ws_only_in_uses(F, group, name);
        if (g_strcmp0(now, start) != 0) {
            WsFix *fix = ws_fixer_add(F,
                                      "Let %s of %s start at replica*%s: those before it take "
                                      "the first ones",
                                      name, ws_node_name(group), n);
            fix->safe = safe;
            fix->cost += 8;
            ws_fix_set(fix, counter, WS_F_start, ws_json_expr(start));
        }
        WsFix *fix = ws_fixer_add(F,
                                  "Let %s of %s pass over what the others use: by "
                                  "(replicas - 1)*%s in every tile",
                                  name, ws_node_name(group), n);
        fix->safe = safe;
        fix->cost += 9;
        ws_fix_append(fix, loop, WS_F_do, advance(name, skip));
    }
}

/* Tiles that are taken in turns, and a counter that passes over those of one turn only. */
static void by_turns(WsFixer *F, gint tiles)
{
    const WsExpr *step = ws_node_expr(ws_spot(F, tiles)->node, WS_F_step);
    for (gint i = 0; step && i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const WsExpr *by = s->node->kind == WS_STEP_ADVANCE ? ws_node_expr(s->node, WS_F_by) : NULL;
        if (!by || s->up != tiles || by->op == WS_EXPR_MUL)
            continue;
        g_autoptr(WsExpr) all = ws_expr_op(WS_EXPR_MUL, ws_expr_ref(step), ws_expr_ref(by));
        g_autofree char *text = ws_expr_print(all);
        const char *counter = ws_node_text(s->node, WS_F_keyword);
        WsFix *fix =
            ws_fixer_add(F, "Let %s move by %s: the tiles between are others'", counter, text);
        fix->safe = ws_only_in_uses(F, s->group, counter);
        ws_fix_set(fix, s->node, WS_F_by, ws_json_expr(text));
    }
}

/* A counter that stands still in some rounds, though what it counts goes on. */
static void always(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        g_autofree char *when =
            s->node->kind == WS_STEP_ADVANCE ? ws_field_text(s->node, WS_F_when) : NULL;
        if (!when)
            continue;
        g_autofree char *name = ws_step_name(s->node);
        WsFix *fix = ws_fixer_add(F, "Do %s in every case, not only when %s", name, when);
        fix->safe = ws_only_in_uses(F, s->group, ws_node_text(s->node, WS_F_keyword));
        ws_fix_set(fix, s->node, WS_F_when, NULL);
    }
}

void ws_fix_counter(WsFixer *F)
{
    always(F);
    as_others(F);
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (s->node->kind != WS_STEP_FOR || !ws_node_has(s->node, WS_F_over))
            continue;
        by_turns(F, i);
        for (guint c = 0; c < ws_node_n_children(s->group, WS_F_counters); c++) {
            const WsNode *counter = ws_node_child(s->group, WS_F_counters, c);
            move_too(F, s->group, ws_node_name(counter), i);
            if (ws_node_has(s->group, WS_F_replicate))
                in_turns(F, s->group, counter, i);
        }
    }
}
