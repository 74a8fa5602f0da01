#include "program/elaborate.h"
#include "model/build.h"
#include "model/hint.h"
#include "program/elaborate/elab.h"
#include "program/formula.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "program/validate.h"
#include "target/target.h"

#include <string.h>

/* design -> program, in the order of LANGUAGE section 20. */

/* clang-format off */
const WsStepElaborate ws_step_elaborate[WS_NODE_KIND_COUNT] = {
#define WS_STEP_ID(id) [WS_STEP_##id] = ws_step_##id,
#include "model/step_id.def"
#undef WS_STEP_ID
};
/* clang-format on */

static void begin(WsElab *E, const WsDesign *origin, const WsDesign *design, const WsSetting *set,
                  guint n_set, WsFindings *findings)
{
    *E = (WsElab){ .origin = origin,
                   .design = design,
                   .root = ws_design_root(design),
                   .set = set,
                   .n_set = n_set,
                   .findings = findings,
                   .row_var = -1,
                   .col_var = -1,
                   .cta_var = -1,
                   .rank_var = -1 };
    E->arena = ws_arena_new();
    E->p = g_new0(WsProgram, 1);
    E->p->refs = 1;
    E->p->tiles = ws_arena_new0(E->arena, WsTiles, 1);
    E->p->arena = E->arena;
    E->names = g_hash_table_new(g_str_hash, g_str_equal);
    E->group_names = g_hash_table_new(g_str_hash, g_str_equal);
    E->vars = g_array_new(FALSE, TRUE, sizeof(WsVar));
    E->maps = g_array_new(FALSE, TRUE, sizeof(WsTensorMap));
    E->barriers = g_array_new(FALSE, TRUE, sizeof(WsBarrier));
    E->buffers = g_array_new(FALSE, TRUE, sizeof(WsBuffer));
    E->pipes = g_array_new(FALSE, TRUE, sizeof(WsPipeBuild));
    E->buffer_node = g_ptr_array_new();
    E->barrier_node = g_ptr_array_new();
    E->transactions = g_ptr_array_new();
    E->ops = g_ptr_array_new();
    E->round_ends = g_array_new(FALSE, FALSE, sizeof(WsRoundEnd));
}

static gpointer keep(WsElab *E, const GArray *list, gsize item)
{
    gpointer out = ws_arena_alloc(E->arena, item * MAX(list->len, 1));
    if (list->len)
        memcpy(out, list->data, item * list->len);
    return out;
}

static void end(WsElab *E)
{
    g_hash_table_destroy(E->names);
    g_hash_table_destroy(E->group_names);
    g_array_free(E->vars, TRUE);
    g_array_free(E->maps, TRUE);
    g_array_free(E->barriers, TRUE);
    g_array_free(E->buffers, TRUE);
    g_array_free(E->pipes, TRUE);
    g_ptr_array_free(E->buffer_node, TRUE);
    g_ptr_array_free(E->barrier_node, TRUE);
    g_ptr_array_free(E->transactions, TRUE);
    g_ptr_array_free(E->ops, TRUE);
    g_array_free(E->round_ends, TRUE);
}

static void head(WsElab *E)
{
    WsProgram *p = E->p;
    const char *name = ws_node_text(E->root, WS_F_name);
    p->name = ws_arena_strdup(E->arena, name ? name : "");
    p->target = ws_arena_strdup(E->arena, ws_elab_field_name(E, E->root, WS_F_target));
    p->file = ws_arena_strdup(E->arena, ws_design_file(E->design));
    E->hw = p->hardware = ws_target_find(p->target);
    if (!E->hw) { /* the reader lets none through: a design made by hand */
        ws_elab_error(E, WS_RULE_V_TARGET, "target", NULL, "no target is named %s", p->target);
        E->hw = p->hardware = ws_target_at(0);
    }
    p->cluster = (guint)ws_node_int(E->root, WS_F_cluster, 1); /* 1, 2, 4 or 8: the reader */
    if (!ws_target_has_cluster(E->hw, p->cluster))
        ws_elab_note(E, WS_RULE_L_CLUSTER, "cluster", NULL,
                     ws_target_has_cluster(E->hw, 2) ? "%s has no clusters of %u CTAs"
                                                     : "%s has no clusters",
                     p->target, p->cluster);
    p->per_sm = (guint)ws_node_int(E->root, WS_F_ctas_per_sm, 1); /* 1 to 32: the reader */
    gboolean drawn = ws_elab_field_is(E, E->root, WS_F_fences, "drawn");
    E->fences = !drawn;
    E->war = !drawn && !ws_elab_field_is(E, E->root, WS_F_fences, "derived_no_war");
}

static void declarations(WsElab *E)
{
    ws_elab_scope(E);
    ws_elab_tile_scope(E);
    if (E->p->cluster > 1)
        E->cta_var = ws_elab_var(E, WS_VAR_CTA, "cta", -1);
    ws_elab_run_values(E);
    ws_elab_mesh(E);
    ws_elab_tensors(E);
    ws_elab_tiles(E);
    ws_elab_reference(E);
    ws_elab_buffers(E);
    ws_elab_barriers(E);
    if (ws_elab_stop(E) || E->errors)
        return;
    ws_elab_pipes(E);
    ws_elab_place(E);
    E->cta_barrier = ws_barrier_derived(E, "cta", "groups", WS_BARRIER_NAMED, 1, FALSE);
    ws_elab_groups(E);
}

static void agent_scope(WsElab *E, WsElabAgent *A)
{
    for (guint i = 0; i < A->out->n_values; i++) {
        const char *name = A->out->value[i].name;
        ws_elab_declare(E, A->names, WS_SYMBOL_VALUE, name,
                        ws_arena_printf(E->arena, "%s/values/%s", A->out->path, name))
            ->index = i;
    }
    for (guint i = 0; i < ws_node_n_children(A->node, WS_F_counters); i++) {
        const WsNode *node = ws_node_child(A->node, WS_F_counters, i);
        const char *name = ws_node_name(node);
        const char *at = ws_arena_printf(E->arena, "%s/counters/%s", A->out->path, name);
        WsExpr *start = ws_elab_int(E, 0);
        if (ws_node_has(node, WS_F_start))
            start = ws_elab_resolve(E, ws_elab_field_expr(E, node, WS_F_start), 0, at);
        WsElabSymbol *symbol = ws_elab_declare(E, A->names, WS_SYMBOL_COUNTER, name, at);
        symbol->var = ws_elab_var(E, WS_VAR_COUNTER, name, (gint)A->index);
        g_array_index(E->vars, WsVar, symbol->var).value = start;
    }
}

static void agent(WsElab *E, guint index)
{
    WsAgent *a = &E->p->agent[index];
    WsElabAgent A = { .group = a->group,
                      .out = a,
                      .index = index,
                      .node = ws_node_child(E->root, WS_F_groups, a->group),
                      .names = g_hash_table_new(g_str_hash, g_str_equal),
                      .lets = g_ptr_array_new(),
                      .ranks = (guint16)((1u << E->p->cluster) - 1) };
    A.pipe_use = ws_arena_new0(E->arena, WsExpr *, E->pipes->len + 1);
    E->agent = &A;
    E->replica = a->replica;
    E->replicas = a->replicas;
    agent_scope(E, &A);
    a->body = ws_tree_new(E, WS_TREE_SEQ, a->path);
    ws_elab_list(E, A.node, WS_F_body, ws_arena_printf(E->arena, "%s/body", a->path), a->body);
    E->agent = NULL;
    E->replicas = 0;
    g_hash_table_destroy(A.names);
    g_ptr_array_free(A.lets, TRUE);
}

static void number(WsProgram *p, const WsTree *t)
{
    if (!t)
        return;
    if (t->op) {
        t->op->index = p->n_ops;
        p->op[p->n_ops++] = t->op;
    }
    for (guint i = 0; i < t->n_kids; i++)
        number(p, t->kid[i]);
}

static void ws_elab_number(WsElab *E)
{
    WsProgram *p = E->p;
    p->op = ws_arena_new0(E->arena, WsOp *, E->ops->len);
    for (guint i = 0; i < p->n_prologue; i++) {
        p->prologue[i]->index = p->n_ops;
        p->op[p->n_ops++] = p->prologue[i];
    }
    for (guint a = 0; a < p->n_agents; a++)
        number(p, p->agent[a].body);
}

static void finish(WsElab *E)
{
    WsProgram *p = E->p;
    ws_elab_counts(E);
    ws_elab_leaders(E);
    ws_elab_exchanges(E);
    ws_elab_fences(E);
    ws_elab_registers(E);
    ws_elab_prologue(E);
    ws_elab_number(E);
    ws_elab_k_orders(E);
    ws_elab_flights(E);
    ws_elab_budgets(E);
    for (guint i = 0; i < E->vars->len; i++) {
        WsVar *v = &g_array_index(E->vars, WsVar, i);
        if (v->kind == WS_VAR_RUN && v->real && v->value)
            v->array = ws_types_run_name(E, v->value);
    }
    p->n_transactions = E->transactions->len;
    p->transaction = ws_arena_new0(E->arena, WsTransaction *, p->n_transactions);
    for (guint i = 0; i < p->n_transactions; i++)
        p->transaction[i] = E->transactions->pdata[i];
    p->n_vars = E->vars->len;
    p->var = keep(E, E->vars, sizeof(WsVar));
    ws_formulas_bind(p, E->reference, E->n_reference);
    p->n_maps = E->maps->len;
    p->map = keep(E, E->maps, sizeof(WsTensorMap));
    p->n_buffers = E->buffers->len;
    p->buffer = keep(E, E->buffers, sizeof(WsBuffer));
    p->n_barriers = E->barriers->len;
    p->barrier = keep(E, E->barriers, sizeof(WsBarrier));
    ws_elab_keep_pipes(E);
}

/* The design without the reasons that only the check asks for: they make no other kernel. */
static WsDesign *kernel_of(const WsElab *E, const WsDesign *design)
{
    WsDesign *now = ws_design_ref(design);
    for (guint i = 0; i < E->p->n_tensors; i++) {
        if (!E->p->tensor[i].covers)
            continue;
        g_autofree char *path = g_strdup_printf("tensors/%s", E->p->tensor[i].name);
        g_autoptr(WsEdit) edit = ws_edit_new_set(path, "covers", NULL);
        g_autoptr(WsFindings) none = ws_findings_new();
        WsDesign *next = ws_design_apply(now, edit, none);
        if (!next)
            continue;
        ws_design_unref(now);
        now = next;
    }
    return now;
}

/* Canonical text with --set applied, and the hash of the kernel. */
static void identity(WsElab *E)
{
    WsProgram *p = E->p;
    g_autoptr(WsDesign) with = ws_design_ref(E->origin);
    for (guint i = 0; i < E->n_set; i++) {
        WsDesign *next = ws_design_with_constant(with, E->set[i].name, E->set[i].value);
        if (!next)
            continue;
        ws_design_unref(with);
        with = next;
    }
    g_autofree char *text = ws_design_print(with);
    p->design_text = ws_arena_strdup(E->arena, text);
    g_autoptr(WsDesign) kernel = kernel_of(E, with);
    g_autofree char *same = kernel == with ? NULL : ws_design_print(kernel);
    g_autofree char *hash =
        g_compute_checksum_for_string(G_CHECKSUM_SHA256, same ? same : text, -1);
    p->design_hash = ws_arena_strdup(E->arena, hash);
}

/* Where loops have hints, the steps that these mean, under these settings; NULL: they mean none. */
static WsDesign *without_hints(const WsDesign *design, const WsSetting *set, guint n_set,
                               WsFindings *findings)
{
    if (!ws_hint_in(design))
        return ws_design_ref(design);
    g_autoptr(WsDesign) with = ws_design_ref(design);
    for (guint i = 0; i < n_set; i++) {
        WsDesign *next = ws_design_with_constant(with, set[i].name, set[i].value);
        if (!next)
            continue;
        ws_design_unref(with);
        with = next;
    }
    return ws_hint_explicit(with, TRUE, findings);
}

static WsProgram *elaborate(const WsDesign *origin, const WsSetting *set, guint n_set,
                            WsFindings *findings, gboolean probe)
{
    g_autoptr(WsDesign) design = without_hints(origin, set, n_set, findings);
    WsElab E;
    if (!design)
        return NULL;
    begin(&E, origin, design, set, n_set, findings);
    E.probe = probe;
    head(&E);
    declarations(&E);
    for (guint a = 0; a < E.p->n_agents && !E.errors; a++)
        agent(&E, a);
    if (E.errors == 0)
        finish(&E);
    if (E.errors == 0 && !probe)
        identity(&E);
    if (E.errors == 0)
        ws_elab_words(&E);
    WsProgram *p = E.p;
    gboolean failed = E.errors > 0;
    end(&E);
    if (failed)
        g_clear_pointer(&p, ws_program_unref);
    return p;
}

WsProgram *ws_elaborate(const WsDesign *design, const WsSetting *set, guint n_set,
                        WsFindings *findings)
{
    guint before = ws_findings_count(findings, WS_SEVERITY_ERROR);
    WsProgram *p = elaborate(design, set, n_set, findings, FALSE);
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR) == before) {
        g_autofree char *wrong = ws_program_validate(p);
        if (wrong) /* a defect of elaboration: fatal in tests and under fuzzing */
            g_critical("%s: %s", p->file ? p->file : p->name, wrong);
    }
    return p;
}

WsProgram *ws_elaborate_bare(const WsDesign *design, WsFindings *findings)
{
    return elaborate(design, NULL, 0, findings, TRUE);
}

guint64 ws_elab_shared_bytes(const WsDesign *design, const WsSetting *set, guint n_set)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = elaborate(design, set, n_set, findings, TRUE);
    return p ? p->shared_bytes : 0;
}

WsProgram *ws_program_ref(const WsProgram *p)
{
    g_atomic_int_inc(&((WsProgram *)p)->refs);
    return (WsProgram *)p;
}

void ws_program_unref(WsProgram *p)
{
    if (!p || !g_atomic_int_dec_and_test(&p->refs))
        return;
    ws_arena_free(p->arena);
    g_free(p);
}

gint ws_program_find_var(const WsProgram *p, const char *name)
{
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].agent < 0 && strcmp(p->var[i].name, name) == 0)
            return (gint)i;
    return -1;
}

gint ws_program_find_tensor(const WsProgram *p, const char *name)
{
    for (guint i = 0; name && i < p->n_tensors; i++)
        if (strcmp(p->tensor[i].name, name) == 0)
            return (gint)i;
    return -1;
}
