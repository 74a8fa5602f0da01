/* What a loop with `num_stages` says, and what its form cannot be. */
#include "base/text.h"
#include "model/hint/hint_parts.h"

#include <stdarg.h>
#include <string.h>

gboolean ws_hint_refuse(WsHint *h, const char *place, const char *remedy, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = ws_phrase_v(format, args);
    va_end(args);
    WsFinding *f = ws_findings_add(h->findings, WS_RULE_L_HINT, place, "%s", text);
    const WsNode *node = ws_design_find(h->design, place);
    if (node) {
        f->line = node->line;
        f->column = node->column;
    }
    g_autofree char *advice = ws_phrase_word(remedy);
    ws_finding_set_remedy(f, "%s", advice);
    h->refused = TRUE;
    return FALSE;
}

gboolean ws_hint_has(const WsNode *owner, WsFieldId list, const char *name)
{
    for (guint i = 0; name && i < ws_node_n_children(owner, list); i++)
        if (g_strcmp0(ws_node_name(ws_node_child(owner, list, i)), name) == 0)
            return TRUE;
    return FALSE;
}

/* --- what a step touches ---------------------------------------------------------------------- */

typedef struct {
    const WsHint *h;
    const WsNode *executor;
    WsHintSee see;
    gpointer data;
    gboolean reads, writes;
} Look;

static void name_seen(Look *l, const char *name)
{
    const gboolean value = ws_hint_has(l->executor, WS_F_values, name);
    if (!value && !ws_hint_has(l->h->root, WS_F_buffers, name)) {
        const WsNode *home = ws_node_child(l->h->root, WS_F_groups, l->h->home);
        if (!ws_hint_has(home, WS_F_values, name))
            return; /* a tensor, a temporary, or nothing that is known: elaboration says so */
    }
    const gboolean buffer = ws_hint_has(l->h->root, WS_F_buffers, name);
    const WsHintTouch touch = { name, l->reads, l->writes, !buffer };
    l->see(&touch, l->data);
}

static void in_expr(const WsExpr *e, gpointer data)
{
    if (e->op == WS_EXPR_NAME)
        name_seen(data, e->name);
}

static void in_value(Look *l, const WsValue *v)
{
    if (v->kind == WS_VALUE_REF)
        name_seen(l, v->ref->name);
    if (v->kind == WS_VALUE_TEXT)
        name_seen(l, v->text);
    if (v->kind == WS_VALUE_EXPR)
        ws_expr_visit(v->expr, in_expr, l);
    for (guint i = 0; v->kind == WS_VALUE_LIST && i < v->n; i++)
        in_value(l, &v->item[i]);
}

static void in_statements(Look *l, const WsNode *step)
{
    const WsValue *list = ws_node_get(step, WS_F_keyword);
    for (guint i = 0; i < list->n; i++) {
        l->reads = TRUE;
        l->writes = FALSE;
        ws_expr_visit(list->item[i].statement->value, in_expr, l);
        l->reads = FALSE;
        l->writes = TRUE;
        name_seen(l, list->item[i].statement->name);
    }
    l->reads = TRUE;
    l->writes = FALSE;
    in_value(l, ws_node_get(step, WS_F_unless));
}

static gboolean is_true(const WsNode *step, WsFieldId field)
{
    const WsValue *v = ws_node_get(step, field);
    gint64 i;
    return (v->kind == WS_VALUE_BOOL && v->b) ||
           (v->kind == WS_VALUE_EXPR && ((v->expr->op == WS_EXPR_TEXT_BOOL && v->expr->i) ||
                                         (ws_expr_is_int(v->expr, &i) && i)));
}

void ws_hint_touches(const WsHint *h, const WsHintGroup *g, const WsNode *step, WsHintSee see,
                     gpointer data)
{
    Look l = { h, ws_node_child(h->root, WS_F_groups, g->executor), see, data, FALSE, FALSE };
    if (step->kind == WS_STEP_COMPUTE) {
        in_statements(&l, step);
        return;
    }
    const WsStepInfo *info = ws_step_info(step->kind);
    guint n;
    const WsFieldRow *row = ws_node_rows(step->kind, &n);
    for (guint i = 0; i < n; i++) {
        l.reads = ws_word_in(info->reads, ws_field_name(row[i].field));
        l.writes = ws_word_in(info->writes, ws_field_name(row[i].field));
        if (step->kind == WS_STEP_MMA && row[i].field == WS_F_keyword && is_true(step, WS_F_first))
            l.reads = FALSE;
        /* a write that reduces combines with what is there */
        if (step->kind == WS_STEP_WRITE && row[i].field == WS_F_to) {
            l.writes = TRUE;
            l.reads = ws_node_has(step, WS_F_reduce);
        }
        if (l.reads || l.writes)
            in_value(&l, &step->value[i]);
    }
}

/* --- the form of the loop --------------------------------------------------------------------- */

static gboolean group_of(const WsHint *h, const char *name, guint *index)
{
    for (guint i = 0; i < ws_node_n_children(h->root, WS_F_groups); i++)
        if (g_strcmp0(ws_node_name(ws_node_child(h->root, WS_F_groups, i)), name) == 0) {
            *index = i;
            return TRUE;
        }
    return FALSE;
}

/* An integer, or the name of a constant that is one; -1. */
static gint64 number_of(const WsHint *h, const WsNode *node, WsFieldId field, gint64 otherwise)
{
    const WsExpr *e = ws_node_expr(node, field);
    const WsValue *map = ws_node_get(h->root, WS_F_constants);
    gint64 value;
    if (e && e->op == WS_EXPR_NAME)
        for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++)
            if (!strcmp(map->key[i], e->name))
                return ws_expr_is_int(map->item[i].expr, &value) ? value : -1;
    return ws_node_int(node, field, ws_node_has(node, field) ? -1 : otherwise);
}

static gboolean has_any(WsHint *h, const WsNode *node, const char *place, const WsFieldId *field,
                        guint n, const char *remedy)
{
    for (guint i = 0; i < n; i++)
        if (ws_node_has(node, field[i])) {
            ws_hint_refuse(h, place, remedy, "%s has no \"%s\" in a loop with \"num_stages\"",
                           ws_node_kind_keyword(node->kind), ws_field_name(field[i]));
            return TRUE;
        }
    return FALSE;
}

static gboolean read_steps(WsHint *h, const WsHintGroup *g)
{
    static const WsFieldId derived[] = { WS_F_when,   WS_F_ahead,    WS_F_use,       WS_F_signal,
                                         WS_F_slot,   WS_F_open,     WS_F_multicast, WS_F_cta,
                                         WS_F_places, WS_F_expected, WS_F_old };
    for (guint i = 0; i < ws_node_n_children(g->node, WS_F_do); i++) {
        const WsNode *step = ws_node_child(g->node, WS_F_do, i);
        g_autofree char *place = g_strdup_printf("%s/do/%u", g->place, i);
        if (ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        if (step->kind != WS_STEP_LOAD && step->kind != WS_STEP_GATHER &&
            step->kind != WS_STEP_MMA && step->kind != WS_STEP_COMPUTE &&
            step->kind != WS_STEP_READ && step->kind != WS_STEP_WRITE)
            return ws_hint_refuse(
                h, place,
                "Leave it out: waits, arrivals and rings are derived; what is no load, gather, mma,"
                " compute, read or write is drawn by hand (warpstave format --explicit).",
                "a pipeline group holds no %s", ws_node_kind_keyword(step->kind));
        if (has_any(h, step, place, derived, G_N_ELEMENTS(derived),
                    "Leave it out: it is derived from stages and orders, or make the loop explicit"
                    " and write it there."))
            return FALSE;
    }
    return TRUE;
}

static gboolean read_group(WsHint *h, WsHintGroup *g, guint index)
{
    static const WsFieldId none[] = { WS_F_when, WS_F_ahead };
    const char *executor = ws_node_text(g->node, WS_F_executor);
    g->name = ws_node_name(g->node);
    g->executor = h->home;
    g->stage = number_of(h, g->node, WS_F_pipe_stage, 0);
    g->order = number_of(h, g->node, WS_F_pipe_order, index);
    g->fills = g_ptr_array_new();
    if (has_any(h, g->node, g->place, none, G_N_ELEMENTS(none),
                "Leave it out: a group runs in every round, its stage says how early."))
        return FALSE;
    if (executor && !group_of(h, executor, &g->executor))
        return ws_hint_refuse(h, g->place, "Name a group of the design, or leave the executor out.",
                              "executor %s of %s is no group of this design", executor, g->name);
    if (g->stage < 0 || g->stage >= h->stages)
        return ws_hint_refuse(h, g->place, "Give a stage from 0 to num_stages - 1, or more stages.",
                              "stage %" G_GINT64_FORMAT
                              " of %s lies outside of the %" G_GINT64_FORMAT " stages of the loop",
                              g->stage, g->name, h->stages);
    for (guint i = 0; i < index; i++) {
        if (!strcmp(h->group[i].name, g->name))
            return ws_hint_refuse(h, g->place, "Give each its own name.",
                                  "two pipeline groups are named %s", g->name);
        if (h->group[i].order == g->order)
            return ws_hint_refuse(h, g->place, "Give each group an order of its own.",
                                  "%s and %s have the same order %" G_GINT64_FORMAT,
                                  h->group[i].name, g->name, g->order);
    }
    return read_steps(h, g);
}

static gint by_order(gconstpointer a, gconstpointer b)
{
    const WsHintGroup *x = *(WsHintGroup *const *)a, *y = *(WsHintGroup *const *)b;
    return x->order < y->order ? -1 : x->order > y->order;
}

static gboolean executors_are_free(WsHint *h)
{
    const WsNode *tiles = ws_node_child(h->root, WS_F_tiles, 0);
    for (guint i = 0; i < h->n; i++) {
        const WsHintGroup *g = &h->group[i];
        const WsNode *group = ws_node_child(h->root, WS_F_groups, g->executor);
        if (g->executor == h->home)
            continue;
        if (ws_node_n_children(group, WS_F_body))
            return ws_hint_refuse(h, g->place,
                                  "Leave its body empty, or choose a group without steps.",
                                  "executor %s has steps of its own; the body of an executor is"
                                  " derived from the loop",
                                  ws_node_name(group));
        if (g_strcmp0(ws_node_text(tiles, WS_F_launch), "dynamic") == 0)
            return ws_hint_refuse(h, g->place, "Use launch persistent or single, or one executor.",
                                  "executor %s of a loop over tiles that are claimed",
                                  ws_node_name(group));
    }
    return TRUE;
}

gboolean ws_hint_read(WsHint *h)
{
    static const WsFieldId none[] = { WS_F_over, WS_F_unroll, WS_F_when, WS_F_ahead };
    g_autofree char *place = ws_design_place(h->design, h->loop);
    const guint n = ws_node_n_children(h->loop, WS_F_do);
    h->stages = number_of(h, h->loop, WS_F_num_stages, 1);
    if (h->stages < 1 || h->stages > WS_HINT_MOST)
        return ws_hint_refuse(h, place, "Give a number from 1 to 64, or a constant that is one.",
                              "num_stages of loop %s is not known, or not from 1 to %d",
                              ws_node_name(h->loop), WS_HINT_MOST);
    if (has_any(h, h->loop, place, none, G_N_ELEMENTS(none),
                "Use a loop with count, and nothing that it derives."))
        return FALSE;
    if (n == 0)
        return ws_hint_refuse(h, place, "Put steps into pipeline_group steps.",
                              "loop %s has num_stages and no pipeline groups",
                              ws_node_name(h->loop));
    if (n > WS_HINT_MOST)
        return ws_hint_refuse(h, place, "Join some: at most 64.",
                              "loop %s has %u pipeline groups, too many", ws_node_name(h->loop), n);
    h->group = g_new0(WsHintGroup, n);
    for (guint i = 0; i < n; i++) {
        const WsNode *node = ws_node_child(h->loop, WS_F_do, i);
        if (ws_node_bool(node, WS_F_muted, FALSE))
            continue;
        WsHintGroup *g = &h->group[h->n];
        g->node = node;
        g->place = g_strdup_printf("%s/do/%u", place, i);
        h->n++;
        if (node->kind != WS_STEP_PIPELINE_GROUP)
            return ws_hint_refuse(h, g->place, "Put it into a pipeline_group.",
                                  "a loop with num_stages holds pipeline groups alone, no %s",
                                  ws_node_kind_keyword(node->kind));
        if (!read_group(h, g, h->n - 1))
            return FALSE;
    }
    h->in_order = g_new0(WsHintGroup *, h->n);
    for (guint i = 0; i < h->n; i++)
        h->in_order[i] = &h->group[i];
    qsort(h->in_order, h->n, sizeof *h->in_order, by_order);
    for (guint i = 0; i < h->n; i++) {
        gint64 last = 0;
        for (guint k = 0; k < h->n; k++)
            if (h->group[k].executor == h->group[i].executor)
                last = MAX(last, h->group[k].stage);
        h->group[i].ahead = last - h->group[i].stage;
    }
    return executors_are_free(h);
}

void ws_hint_clear(WsHint *h)
{
    for (guint i = 0; i < h->n; i++) {
        g_free(h->group[i].place);
        if (h->group[i].fills)
            g_ptr_array_unref(h->group[i].fills);
    }
    g_free(h->group);
    g_free(h->in_order);
    g_clear_pointer(&h->ring, g_hash_table_unref);
    g_clear_pointer(&h->trail, g_array_unref);
}
