#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* --- layout of values (LANGUAGE section 10) --------------------------------------------------- */

/* Union-find over names: values of the group, and temporaries of a step as "step:name". */
typedef struct {
    WsElab *E;
    GHashTable *parent;      /* interned name -> interned name */
    GHashTable *accumulator; /* roots and names that meet an mma */
    GHashTable *whole;       /* operands b of products of values */
    GHashTable *rows;        /* names that meet a reduction of rows */
    GHashTable *values;      /* names of the group's values */
    guint step;
    GHashTable *temporaries; /* of the step */
    const char *target;
    gboolean reduced; /* the statement reduces rows */
} Layouts;

static const char *find(Layouts *L, const char *name)
{
    const char *up;
    while ((up = g_hash_table_lookup(L->parent, name)))
        name = up;
    return name;
}

static void join(Layouts *L, const char *a, const char *b)
{
    a = find(L, a);
    b = find(L, b);
    if (a != b)
        g_hash_table_insert(L->parent, (gpointer)a, (gpointer)b);
}

static const char *node_of(Layouts *L, const char *name)
{
    if (g_hash_table_contains(L->values, name))
        return g_intern_string(name);
    if (!g_hash_table_contains(L->temporaries, name))
        return NULL;
    g_autofree char *key = g_strdup_printf("%u:%s", L->step, name);
    return g_intern_string(key);
}

static gboolean reduces(const WsExpr *e)
{
    return e->op == WS_EXPR_CALL &&
           (e->func == WS_FUNC_ROWSUM || e->func == WS_FUNC_ROWMAX || e->func == WS_FUNC_LANESUM ||
            e->func == WS_FUNC_LANEMAX || e->func == WS_FUNC_CUMSUM);
}

static void meet(const WsExpr *e, gpointer data)
{
    Layouts *L = data;
    const char *node = e->op == WS_EXPR_NAME ? node_of(L, e->name) : NULL;
    if (reduces(e))
        L->reduced = TRUE;
    if (node && L->target)
        join(L, node, L->target);
    else if (node)
        L->target = node;
}

static void scan_compute(Layouts *L, const WsNode *step)
{
    L->step++;
    L->temporaries = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < ws_elab_field_count(step, WS_F_keyword); i++) {
        const WsValue *v = ws_elab_field_item(step, WS_F_keyword, i);
        if (v->kind != WS_VALUE_STATEMENT)
            continue;
        if (!g_hash_table_contains(L->values, v->statement->name))
            g_hash_table_add(L->temporaries, v->statement->name);
        L->target = node_of(L, v->statement->name);
        L->reduced = FALSE;
        ws_expr_visit(v->statement->value, meet, L);
        if (L->reduced && L->target)
            g_hash_table_add(L->rows, (gpointer)L->target);
    }
    L->target = NULL;
    const WsExpr *unless = ws_node_expr(step, WS_F_unless);
    if (unless)
        ws_expr_visit(unless, meet, L);
    g_hash_table_destroy(L->temporaries);
    L->temporaries = NULL;
}

/* Values that a move takes element by element beside the one that moves. */
static void in_step(Layouts *L, const WsNode *step)
{
    static const WsFieldId beside[] = { WS_F_places, WS_F_expected, WS_F_old, WS_F_mask };
    const char *own = ws_elab_field_name(L->E, step, WS_F_keyword);
    for (guint i = 0; i < G_N_ELEMENTS(beside); i++) {
        const char *name =
            own && ws_node_has(step, beside[i]) ? ws_elab_field_name(L->E, step, beside[i]) : NULL;
        if (name && g_hash_table_contains(L->values, own) && g_hash_table_contains(L->values, name))
            join(L, g_intern_string(own), g_intern_string(name));
    }
}

static void scan_steps(Layouts *L, const WsNode *owner, WsFieldId field)
{
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *step = ws_node_child(owner, field, i);
        if (ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        if (step->kind == WS_STEP_MMA) {
            const WsFieldId operands[] = { WS_F_keyword, WS_F_a, WS_F_b };
            for (guint k = 0; k < G_N_ELEMENTS(operands); k++) {
                const char *name = ws_elab_field_name(L->E, step, operands[k]);
                if (name && g_hash_table_contains(L->values, name))
                    g_hash_table_add(k == 2 ? L->whole : L->accumulator,
                                     (gpointer)g_intern_string(name));
            }
        } else if (step->kind == WS_STEP_COMPUTE) {
            scan_compute(L, step);
        } else if (step->kind == WS_STEP_WRITE || step->kind == WS_STEP_READ) {
            in_step(L, step);
        }
        scan_steps(L, step, WS_F_do);
        scan_steps(L, step, WS_F_then);
        scan_steps(L, step, WS_F_else);
    }
}

static guint value_registers(const WsTargetMatrix *x, const WsRegValue *v, guint threads)
{
    guint64 n = (guint64)v->rows * v->cols, bytes = ws_dtype_bytes(v->dtype);
    if (v->layout == WS_LAYOUT_LINEAR || x->rows == 0)
        return (guint)((n + threads - 1) / threads);
    if (v->rows == 1 && v->cols == 1)
        return 1;
    if (v->rows == 1)
        return MAX(1, v->cols / x->quad);
    guint atoms = MAX(1, v->rows / x->rows);
    if (v->cols == 1 || v->cols == x->quad)
        return 2 * atoms;
    guint per_register = bytes >= 4 ? 1 : (guint)(4 / bytes);
    return MAX(1, v->cols / 2 / per_register) * atoms;
}

static gboolean fits_accumulator(const WsTargetMatrix *x, const WsRegValue *v)
{
    return (v->rows == 1 || x->rows == 0 || v->rows % x->rows == 0) &&
           (v->cols == 1 || v->cols == x->quad || x->columns == 0 || v->cols % x->columns == 0);
}

static GHashTable *roots_of(Layouts *L, GHashTable *names)
{
    GHashTable *roots = g_hash_table_new(g_direct_hash, g_direct_equal);
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, names);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_hash_table_add(roots, (gpointer)find(L, name));
    return roots;
}

/* Without an mma, too, the accumulator layout is the one in which a thread knows the row of what it
 * holds: values whose rows are reduced, or that meet values of another shape, take it where all of
 * them can. What an import read keeps the layout that its kernel gave it. */
static void rows_without_mma(Layouts *L, const WsAgent *agent, GHashTable *roots)
{
    const WsTargetMatrix *x = &L->E->hw->matrix;
    if (!x->rows || agent->warps != x->warps || ws_node_has(L->E->root, WS_F_source))
        return;
    g_autoptr(GHashTable) reduced = roots_of(L, L->rows);
    for (guint i = 0; i < agent->n_values; i++) {
        const char *root = find(L, g_intern_string(agent->value[i].name));
        const WsRegValue *first = NULL;
        gboolean wanted = g_hash_table_contains(reduced, root), fits = TRUE;
        for (guint k = 0; k < agent->n_values; k++) {
            const WsRegValue *v = &agent->value[k];
            if ((v->rows == 1 && v->cols == 1) || find(L, g_intern_string(v->name)) != root)
                continue;
            first = first ? first : v;
            wanted |= v->rows != first->rows || v->cols != first->cols;
            fits &= fits_accumulator(x, v);
        }
        if (wanted && fits)
            g_hash_table_add(roots, (gpointer)root);
    }
}

static void take_all(GHashTable *to, GHashTable *from)
{
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, from);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_hash_table_add(to, name);
}

/* Values of more than one row are shared out to the halves, but what meets operand b of a product
 * is whole in both. */
static void halve(Layouts *L, WsAgent *agent)
{
    WsElab *E = L->E;
    g_autoptr(GHashTable) whole = roots_of(L, L->whole), shared = roots_of(L, L->accumulator);
    for (guint i = 0; i < agent->n_values; i++) {
        WsRegValue *v = &agent->value[i];
        const char *root = find(L, g_intern_string(v->name));
        const char *at = ws_arena_printf(E->arena, "%s/values/%s", agent->path, v->name);
        if (g_hash_table_contains(whole, root)) {
            if (g_hash_table_contains(shared, root)) {
                ws_elab_error(E, WS_RULE_L_STAGE, at, WS_WORD("Use another value for operand b."),
                              "%s meets operand b of a product, which both halves hold, and an "
                              "accumulator or operand a, which they share",
                              v->name);
                return;
            }
            continue;
        }
        if (v->rows == 1)
            continue;
        if (v->rows % 2 != 0) {
            ws_elab_error(E, WS_RULE_L_STAGE, at, WS_WORD("Use an even number of rows."),
                          "%u rows of %s cannot be shared out to two halves", v->rows, v->name);
            return;
        }
        v->rows /= 2;
        v->halved = TRUE;
    }
}

static void elab_value_layouts(WsElab *E, const WsNode *group, WsAgent *agent)
{
    Layouts L = { .E = E,
                  .parent = g_hash_table_new(g_direct_hash, g_direct_equal),
                  .accumulator = g_hash_table_new(g_direct_hash, g_direct_equal),
                  .whole = g_hash_table_new(g_direct_hash, g_direct_equal),
                  .rows = g_hash_table_new(g_direct_hash, g_direct_equal),
                  .values = g_hash_table_new(g_str_hash, g_str_equal) };
    for (guint i = 0; i < agent->n_values; i++)
        g_hash_table_add(L.values, agent->value[i].name);
    scan_steps(&L, group, WS_F_body);
    if (agent->half >= 0)
        halve(&L, agent);
    else
        take_all(L.accumulator, L.whole);
    g_autoptr(GHashTable) roots = roots_of(&L, L.accumulator);
    rows_without_mma(&L, agent, roots);
    const WsTargetMatrix *x = &E->hw->matrix;
    for (guint i = 0; i < agent->n_values; i++) {
        WsRegValue *v = &agent->value[i];
        const char *own = g_intern_string(v->name);
        v->layout =
            g_hash_table_contains(roots, find(&L, own)) ? WS_LAYOUT_ACCUMULATOR : WS_LAYOUT_LINEAR;
        v->registers = value_registers(x, v, MAX(agent->threads, 1));
        if (v->layout == WS_LAYOUT_ACCUMULATOR && !fits_accumulator(x, v) && agent->replica == 0) {
            g_autofree char *at = g_strdup_printf("%s/values/%s", agent->path, v->name);
            ws_elab_note(E, WS_RULE_L_VALUE, at,
                         ws_arena_phrase(E->arena,
                                         "Rows: 1 or a multiple of %u; columns: 1, %u or a "
                                         "multiple of %u.",
                                         x->rows, x->quad, x->columns),
                         "%s is %u x %u and cannot take the layout of an "
                         "accumulator",
                         v->name, v->rows, v->cols);
        }
    }
    g_hash_table_destroy(L.parent);
    g_hash_table_destroy(L.accumulator);
    g_hash_table_destroy(L.whole);
    g_hash_table_destroy(L.rows);
    g_hash_table_destroy(L.values);
}

/* --- agents --------------------------------------------------------------------------------- */

static void values(WsElab *E, const WsNode *group, WsAgent *a)
{
    a->n_values = ws_node_n_children(group, WS_F_values);
    a->value = ws_arena_new0(E->arena, WsRegValue, a->n_values);
    for (guint i = 0; i < a->n_values; i++) {
        const WsNode *node = ws_node_child(group, WS_F_values, i);
        WsRegValue *v = &a->value[i];
        v->name = ws_arena_strdup(E->arena, ws_node_name(node));
        const char *at = ws_arena_printf(E->arena, "%s/values/%s", a->path, v->name);
        if (!ws_elab_dtype(ws_elab_field_name(E, node, WS_F_dtype), &v->dtype))
            ws_elab_error(E, WS_RULE_T_DTYPE, at, NULL, "the dtype of %s is not known", v->name);
        guint *extent[2] = { &v->rows, &v->cols };
        for (guint k = 0; k < 2; k++) {
            *extent[k] = 1;
            if (k < ws_elab_field_count(node, WS_F_tile))
                *extent[k] = (guint)ws_elab_constant_in(
                    E, ws_elab_value_expr(E, ws_elab_field_item(node, WS_F_tile, k)), 1, 1 << 20,
                    WS_WORD("a tile extent"), at);
        }
        if ((guint64)v->rows * v->cols > 1 << 24) {
            ws_elab_error(E, WS_RULE_T_RANGE, at, NULL, "a value of %u x %u is too large", v->rows,
                          v->cols);
            v->rows = v->cols = 1;
        }
    }
}

/* First warp of a group of `warps` warps, after `at` warps are taken, where `whole` make a warp
 * group: smaller groups share one with the small groups before them if they fit. */
static guint first_warp(guint whole, guint at, guint warps, gboolean small_before)
{
    guint room = (whole - at % whole) % whole;
    if (warps < whole && small_before && warps <= room)
        return at;
    return (at + whole - 1) / whole * whole;
}

void ws_elab_groups(WsElab *E)
{
    WsProgram *p = E->p;
    const guint whole = E->hw->group_warps;
    guint n = ws_node_n_children(E->root, WS_F_groups), at_warp = 0;
    g_autoptr(GArray) agents = g_array_new(FALSE, TRUE, sizeof(WsAgent));
    gboolean small = FALSE;
    p->group_name = ws_arena_new0(E->arena, char *, n);
    for (guint g = 0; g < n && !ws_elab_stop(E); g++) {
        const WsNode *node = ws_node_child(E->root, WS_F_groups, g);
        char *name = p->group_name[p->n_groups++] = ws_arena_strdup(E->arena, ws_node_name(node));
        char *path = ws_arena_printf(E->arena, "groups/%s", name);
        if (!g_hash_table_add(E->group_names, name))
            ws_elab_error(E, WS_RULE_N_DUPLICATE, path, "Rename one of them.",
                          "two groups are named %s", name);
        if (E->hw->core) {
            ws_queue_agents(E, node, path, g, agents);
            at_warp = agents->len;
            continue;
        }
        guint warps = (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_warps), 1, 64,
                                                 "warps", path);
        if (warps != 1 && warps != 2 && warps % whole != 0)
            ws_elab_note(E, WS_RULE_L_WARPS, path,
                         ws_arena_phrase(E->arena, "Use 1, 2 or a multiple of %u.", whole),
                         "%s has %u warps", name, warps);
        guint replicas = 1;
        if (ws_node_has(node, WS_F_replicate))
            replicas = (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_replicate), 1,
                                                  64, "replicate", path);
        const guint halves = MAX(E->hw->halves, 1);
        if (E->hw->halves && (n > 1 || replicas > 1 || warps != halves * E->hw->half_warps)) {
            ws_elab_error(E, WS_RULE_L_LENS, path,
                          ws_arena_phrase(E->arena, "Use one group with \"warps\": %u.",
                                          halves * E->hw->half_warps),
                          "%s has one barrier, for all waves: only one group of %u warps is "
                          "elaborated for it",
                          E->p->target, halves * E->hw->half_warps);
            return;
        }
        if (ws_node_bool(node, WS_F_one_code, FALSE) && (E->hw->halves || warps % whole != 0))
            ws_elab_note(E, WS_RULE_L_WARPS, path, WS_WORD("Take `one_code` away."),
                         "one_code: replicas of %s are no whole warp groups, which the role switch "
                         "chooses among",
                         name);
        const guint rows = (guint)ws_node_int(node, WS_F_mma_rows, E->hw->matrix.m);
        if (rows != E->hw->matrix.m && rows != E->hw->matrix.m_other)
            ws_elab_error(E, WS_RULE_L_LENS, path, WS_WORD("Take `mma_rows` away."),
                          "mma_rows: matrix instructions of %s have %u rows", E->p->target,
                          E->hw->matrix.m);
        for (guint k = 0; k < replicas * halves; k++) {
            const guint r = k / halves;
            WsAgent a = { .path = path,
                          .group = g,
                          .replica = r,
                          .replicas = replicas,
                          .half = E->hw->halves ? (gint)(k % halves) : -1,
                          .queue = -1,
                          .mma_rows = MAX(rows, 1),
                          .warps = warps / halves,
                          .threads = E->hw->lanes * (warps / halves) };
            a.name = replicas > 1 ? ws_arena_printf(E->arena, "%s.%u", name, r) : name;
            if (a.half >= 0)
                a.name = ws_arena_printf(E->arena, "%s.%s", name, a.half ? "upper" : "lower");
            a.role = ws_elab_field_is(E, node, WS_F_role, "producer")   ? WS_ROLE_PRODUCER
                     : ws_elab_field_is(E, node, WS_F_role, "consumer") ? WS_ROLE_CONSUMER
                                                                        : WS_ROLE_WORKER;
            a.warp0 = first_warp(whole, at_warp, a.warps, small);
            at_warp = a.warp0 + a.warps;
            small = warps < whole;
            E->replica = r;
            E->replicas = replicas;
            if (ws_node_has(node, WS_F_registers))
                a.registers = (guint)ws_elab_constant_in(
                    E, ws_elab_field_expr(E, node, WS_F_registers), 1, 1024, "registers", path);
            a.one_code = replicas > 1 && ws_node_bool(node, WS_F_one_code, FALSE);
            values(E, node, &a);
            if (!ws_elab_stop(E))
                elab_value_layouts(E, node, &a);
            E->replicas = 0;
            g_array_append_val(agents, a);
            if (agents->len > 64) {
                ws_elab_error(E, WS_RULE_T_RANGE, path, NULL, "more than 64 groups");
                break;
            }
        }
    }
    at_warp = (at_warp + whole - 1) / whole * whole;
    p->n_agents = agents->len;
    p->agent = ws_arena_new0(E->arena, WsAgent, agents->len);
    if (agents->len)
        memcpy(p->agent, agents->data, sizeof(WsAgent) * agents->len);
    p->threads = E->hw->lanes * at_warp;
    guint used = 0;
    for (guint i = 0; i < p->n_agents; i++)
        used += p->agent[i].warps;
    p->idle_warps = at_warp - used;
}
