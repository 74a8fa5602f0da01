/* What loops with `num_stages` say, for who shows or writes them; and what they mean, drawn
 * plainly. */
#include "model/finding.h"
#include "model/hint/hint_parts.h"

static void loop_free(gpointer data)
{
    WsHintLoop *loop = data;
    for (guint i = 0; i < loop->n; i++)
        g_free(loop->cell[i].fills);
    g_free(loop->cell);
    g_free(loop->why);
    g_free(loop);
}

static char *joined(const GPtrArray *names)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(s, "%s%s", i ? ", " : "", (char *)names->pdata[i]);
    return g_string_free(s, names->len == 0);
}

static WsHintLoop *loop_of(const WsDesign *design, GArray *trail)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsHint h = { .design = design,
                 .root = ws_design_root(design),
                 .trail = trail,
                 .loop = g_array_index(trail, WsTrail, trail->len - 1).node,
                 .home = g_array_index(trail, WsTrail, 1).index,
                 .findings = findings };
    WsHintLoop *out = g_new0(WsHintLoop, 1);
    *out = (WsHintLoop){ .loop = h.loop, .home = ws_node_child(h.root, WS_F_groups, h.home) };
    if (ws_hint_read(&h) && ws_hint_judge(&h)) {
        out->stages = h.stages;
        out->n = h.n;
        out->cell = g_new0(WsHintCell, h.n);
    } else {
        const WsFinding *f = findings->list->len ? findings->list->pdata[0] : NULL;
        out->why = g_strdup(f ? f->said : "");
    }
    for (guint i = 0; i < out->n; i++) {
        const WsHintGroup *g = &h.group[i];
        out->cell[i] = (WsHintCell){ .node = g->node,
                                     .executor = ws_node_child(h.root, WS_F_groups, g->executor),
                                     .stage = g->stage,
                                     .order = g->order,
                                     .ahead = g->ahead,
                                     .fills = joined(g->fills) };
    }
    ws_hint_clear(&h);
    return out;
}

GPtrArray *ws_hint_loops(const WsDesign *design)
{
    GPtrArray *loops = g_ptr_array_new_with_free_func(loop_free);
    for (GArray *trail; (trail = ws_hint_trail(design, loops->len));)
        g_ptr_array_add(loops, loop_of(design, trail));
    return loops;
}

static WsNode *in_order(const WsNode *node)
{
    static const WsFieldId said[] = { WS_F_pipe_stage, WS_F_pipe_order, WS_F_executor };
    WsNode *copy = ws_node_copy(node);
    for (guint i = 0; i < copy->n_values; i++) {
        WsValue *v = &copy->value[i];
        for (guint k = 0; (v->kind == WS_VALUE_NODES || v->kind == WS_VALUE_NODE) && k < v->n;
             k++) {
            WsNode *inner = in_order(v->node[k]);
            ws_node_unref(v->node[k]);
            v->node[k] = inner;
        }
    }
    for (guint i = 0; node->kind == WS_STEP_PIPELINE_GROUP && i < G_N_ELEMENTS(said); i++)
        ws_value_clear(ws_node_slot(copy, said[i]));
    return copy;
}

/* Groups of the design that run nothing but groups of loops. */
static void drop_executors(WsNode *root)
{
    WsValue *v = ws_node_slot(root, WS_F_groups);
    guint kept = 0;
    for (guint i = 0; i < v->n; i++) {
        if (ws_node_n_children(v->node[i], WS_F_body))
            v->node[kept++] = v->node[i];
        else
            ws_node_unref(v->node[i]);
    }
    v->n = kept;
}

WsDesign *ws_hint_in_order(const WsDesign *design)
{
    WsNode *root = in_order(ws_design_root(design));
    drop_executors(root);
    WsDesign *made = ws_design_new(root);
    ws_design_set_file(made, ws_design_file(design));
    return made;
}
