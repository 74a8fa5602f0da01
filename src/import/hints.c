/* Loops of TLE whose text has a hint (pipe_stages, pipe_orders, executors; a `with pipeline_group`
 * for each group). They are read as the loops that they mean, with rings, waits and rounds ahead of
 * the reader's own; here those are taken out again and the groups put around what is left: the
 * design has the hint form, and what it means is derived in one place (model/hint.h). */
#include "import/import.h"
#include "import/recognise.h"
#include "model/build.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"

#include <string.h>

typedef struct {
    WsRead *r;
    const WsReadHint *hint;
    WsDesign *design;
    const WsNode *loop, *group;
    guint found;
    const char *why;             /* it cannot be put into the hint form; NULL: it can */
    GPtrArray *rings, *barriers; /* char*: of the reader's own */
} Lift;

static void find(Lift *l, const WsNode *node, const WsNode *group)
{
    guint line, column, n;
    if (node->kind == WS_NODE_GROUP)
        group = node;
    if (node->kind == WS_STEP_FOR && ws_import_place(node, &line, &column, NULL) &&
        line == l->hint->line) {
        l->loop = node;
        l->group = group;
        l->found++;
    }
    const WsFieldRow *row = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, row[i].field); c++)
            find(l, ws_node_child(node, row[i].field, c), group);
}

static gboolean has(const GPtrArray *names, const char *name)
{
    return g_ptr_array_find_with_equal_func((GPtrArray *)names, name, g_str_equal, NULL);
}

/* Rings and barriers of the loads of the loop. */
static void own_objects(Lift *l)
{
    for (guint i = 0; i < ws_node_n_children(l->loop, WS_F_do); i++) {
        const WsNode *s = ws_node_child(l->loop, WS_F_do, i);
        const WsRef *into = ws_node_refv(s, WS_F_into), *signal = ws_node_refv(s, WS_F_signal);
        if (s->kind != WS_STEP_LOAD && s->kind != WS_STEP_GATHER)
            continue;
        if (!into || !signal) {
            l->why = "a load without a barrier of its own";
            return;
        }
        g_ptr_array_add(l->rings, into->name);
        g_ptr_array_add(l->barriers, signal->name);
    }
}

static WsJson *without_use(const Lift *l, const WsRef *ref)
{
    char *text = ws_ref_print(ref), *at = ref->use ? strstr(text, " @ ") : NULL;
    if (at && has(l->rings, ref->name))
        *at = '\0';
    return ws_json_take_text(text);
}

/* A step as it stands in a group: without what is derived. NULL: it is derived itself. */
static WsJson *plain(Lift *l, const WsNode *s)
{
    static const WsFieldId refs[] = { WS_F_into, WS_F_a, WS_F_b, WS_F_from, WS_F_to };
    static const WsFieldId derived[] = { WS_F_signal, WS_F_ahead, WS_F_use };
    const WsRef *on = ws_node_refv(s, WS_F_keyword);
    const char *word = ws_node_text(s, WS_F_keyword);
    if (s->kind == WS_STEP_MMA_WAIT || (s->kind == WS_STEP_SYNC && !g_strcmp0(word, "group")) ||
        (s->kind == WS_STEP_WAIT && on && has(l->barriers, on->name)))
        return NULL;
    if (s->kind != WS_STEP_LOAD && s->kind != WS_STEP_GATHER && s->kind != WS_STEP_MMA &&
        s->kind != WS_STEP_COMPUTE && s->kind != WS_STEP_READ && s->kind != WS_STEP_WRITE) {
        l->why = ws_source_format(l->r, "a group holds %s", ws_node_kind_keyword(s->kind));
        return NULL;
    }
    WsJson *json = ws_json_of_node(s);
    for (guint i = 0; i < G_N_ELEMENTS(refs); i++)
        if (ws_node_refv(s, refs[i]))
            json = ws_json_with(json, ws_field_name(refs[i]),
                                without_use(l, ws_node_refv(s, refs[i])));
    guint line, column, last;
    if (ws_import_place(s, &line, &column,
                        &last)) { /* numbers that a node holds are not integers */
        WsJson *source = ws_json_list();
        ws_json_add(source, ws_json_int(line));
        ws_json_add(source, ws_json_int(column));
        if (last > line)
            ws_json_add(source, ws_json_int(last));
        json = ws_json_with(json, "source", source);
    }
    for (guint i = 0; i < G_N_ELEMENTS(derived); i++)
        json = ws_json_with(json, ws_field_name(derived[i]), NULL);
    return json;
}

/* The group that a step's line lies in; -1: none. */
static gint group_at(const Lift *l, guint line)
{
    for (guint i = 0; i < l->hint->n; i++)
        if (line >= l->hint->group[i].from && line <= l->hint->group[i].to)
            return (gint)i;
    return -1;
}

static gboolean touches_values(const WsNode *s)
{
    return s->kind != WS_STEP_LOAD && s->kind != WS_STEP_GATHER;
}

static char *executor_name(gint64 executor)
{
    return g_strdup_printf("executor%" G_GINT64_FORMAT, executor);
}

/* The new `do`; NULL with `why`. `home`: executor that has the values. */
static WsJson *groups_of(Lift *l, gint64 *home)
{
    g_autofree WsJson **list = g_new0(WsJson *, l->hint->n);
    gint last = 0;
    *home = G_MININT64;
    for (guint i = 0; i < l->hint->n; i++)
        list[i] = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(l->loop, WS_F_do) && !l->why; i++) {
        const WsNode *s = ws_node_child(l->loop, WS_F_do, i);
        guint line = 0, column;
        WsJson *json = plain(l, s);
        if (!json)
            continue;
        ws_import_place(s, &line, &column, NULL);
        const gint g = group_at(l, line);
        if (g < last)
            l->why = "a step of a round stands in none of the groups, or they are not in order";
        else
            last = g;
        if (g >= 0)
            ws_json_add(list[g], json);
        else
            ws_json_free(json);
        if (g >= 0 && touches_values(s) && *home == G_MININT64)
            *home = l->hint->group[g].executor;
    }
    WsJson *all = ws_json_list();
    for (guint i = 0; i < l->hint->n; i++) {
        const WsReadHintGroup *g = &l->hint->group[i];
        g_autofree char *name = executor_name(g->executor);
        WsJson *source = ws_json_list();
        ws_json_add(source, ws_json_int(g->from - 1)); /* its `with` */
        ws_json_add(source, ws_json_int(1));
        ws_json_add(source, ws_json_int(g->to));
        ws_json_add(all,
                    WS_MAKE(WS_STEP_PIPELINE_GROUP,
                            { WS_F_keyword, ws_json_format("group%" G_GINT64_FORMAT, g->number) },
                            { WS_F_pipe_stage, ws_json_int(g->stage) },
                            { WS_F_pipe_order, ws_json_int(g->order) },
                            { WS_F_executor, g->executor == *home ? NULL : ws_json_text(name) },
                            { WS_F_source, source }, { WS_F_do, list[i] }));
    }
    if (l->why)
        g_clear_pointer(&all, ws_json_free);
    return all;
}

static gboolean apply(Lift *l, WsEdit *edit)
{
    g_autoptr(WsEdit) own = edit;
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *next = ws_design_apply(l->design, own, findings);
    if (!next) {
        const WsFinding *f = findings->list->len ? findings->list->pdata[0] : NULL;
        l->why = ws_source_format(l->r, "its groups make no design: %s", f ? f->message : "");
        return FALSE;
    }
    ws_design_unref(l->design);
    l->design = next;
    return TRUE;
}

/* A design has executors of one loop. */
static gboolean has_executor(const Lift *l, gint64 home)
{
    for (guint i = 0; i < l->hint->n; i++) {
        const gint64 executor = l->hint->group[i].executor;
        g_autofree char *place = g_strdup_printf("groups/executor%" G_GINT64_FORMAT, executor);
        if (executor != home && ws_design_find(l->design, place))
            return TRUE;
    }
    return FALSE;
}

static void add_executors(Lift *l, gint64 home)
{
    g_autoptr(GPtrArray) known = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < l->hint->n; i++) {
        const gint64 executor = l->hint->group[i].executor;
        char *name = executor_name(executor);
        if (executor == home || has(known, name)) {
            g_free(name);
            continue;
        }
        g_ptr_array_add(known, name);
        const WsNode *root = ws_design_root(l->design);
        WsJson *group = WS_MAKE(WS_NODE_GROUP, { WS_F_name, ws_json_text(name) },
                                { WS_F_role, ws_json_text("producer") },
                                { WS_F_warps, ws_json_int(4) }, { WS_F_body, ws_json_list() });
        if (!apply(l,
                   ws_edit_new_insert(".", "groups", ws_node_n_children(root, WS_F_groups), group)))
            return;
    }
}

static void lift(Lift *l)
{
    gint64 home;
    find(l, ws_design_root(l->design), NULL);
    l->why = l->found != 1 ? "its loop stands at several places, or at none" : NULL;
    if (!l->why && ws_node_has(l->group, WS_F_registers))
        l->why = "its warps say how many registers they have";
    if (!l->why)
        own_objects(l);
    WsJson *list = l->why ? NULL : groups_of(l, &home);
    if (!list)
        return;
    if (has_executor(l, home)) {
        l->why = "its executor has the steps of another loop";
        ws_json_free(list);
        return;
    }
    g_autofree char *place = ws_design_place(l->design, l->loop);
    gboolean ok = apply(l, ws_edit_new_set(place, "num_stages", ws_json_int(l->hint->stages)));
    if (ok)
        ok = apply(l, ws_edit_new_set(place, "do", list));
    else
        ws_json_free(list);
    for (guint i = 0; ok && i < l->rings->len; i++) {
        g_autofree char *ring = g_strdup_printf("buffers/%s", (char *)l->rings->pdata[i]);
        g_autofree char *barrier = g_strdup_printf("barriers/%s", (char *)l->barriers->pdata[i]);
        ok = apply(l, ws_edit_new_set(ring, "stages", NULL));
        if (ws_design_find(l->design, barrier))
            ok = ok && apply(l, ws_edit_new_remove(barrier));
    }
    if (ok)
        add_executors(l, home);
}

/* The design with a step that says what was not read: saved, it is judged as the kernel was. */
static WsDesign *marked(WsDesign *design, const WsReadHint *hint)
{
    const WsNode *group = ws_node_child(ws_design_root(design), WS_F_groups, 0);
    if (!group)
        return design;
    WsJson *step = ws_json_map(), *text = ws_json_list(), *source = ws_json_list();
    ws_json_put(step, "raw", ws_json_text("unread"));
    ws_json_add(text, ws_json_text(hint->text));
    ws_json_put(step, "text", text);
    ws_json_add(source, ws_json_int(hint->line));
    ws_json_add(source, ws_json_int(1));
    ws_json_put(step, "source", source);
    g_autofree char *place = ws_design_place(design, group);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsEdit) edit = ws_edit_new_insert(place, "body", 0, step);
    WsDesign *with = ws_design_apply(design, edit, findings);
    if (!with)
        return design;
    ws_design_unref(design);
    return with;
}

WsDesign *ws_source_hints(WsRead *r, WsDesign *design)
{
    for (guint i = 0; design && i < r->hints->len; i++) {
        const WsReadHint *hint = &g_array_index(r->hints, WsReadHint, i);
        g_autoptr(GPtrArray) rings = g_ptr_array_new(), barriers = g_ptr_array_new();
        g_autoptr(WsDesign) before = ws_design_ref(design); /* names are borrowed of it */
        Lift l = { .r = r, .hint = hint, .design = design, .rings = rings, .barriers = barriers };
        lift(&l);
        design = l.design;
        if (!l.why)
            continue;
        ws_design_unref(design);
        design = marked(ws_design_ref(before), hint);
        ws_source_unread(r, hint->line, 1, hint->line,
                         ws_source_format(r, "the stages of a loop: %s", l.why), hint->text);
    }
    return design;
}
