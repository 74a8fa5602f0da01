/* What steps touch. A name stands for its bytes: buffers that are laid over each other are one. */
#include "edit/rotate_touch.h"

#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

static gboolean is_value(const WsNode *group, const char *name)
{
    for (guint i = 0; i < ws_node_n_children(group, WS_F_values); i++)
        if (g_strcmp0(ws_node_name(ws_node_child(group, WS_F_values, i)), name) == 0)
            return TRUE;
    return FALSE;
}

typedef struct {
    const WsNode *group;
    GHashTable *set;
} Names;

static void add_name(const WsExpr *e, gpointer data)
{
    const Names *to = data;
    if (e->op == WS_EXPR_NAME && is_value(to->group, e->name))
        g_hash_table_add(to->set, e->name);
}

static void add_statements(const WsTurnTouch *t, const WsNode *step, WsTurnStep *s)
{
    const WsValue *list = ws_node_get(step, WS_F_keyword);
    Names to = { t->group, s->reads };
    for (guint i = 0; i < list->n; i++) {
        ws_expr_visit(list->item[i].statement->value, add_name, &to);
        if (is_value(t->group, list->item[i].statement->name))
            g_hash_table_add(s->writes, list->item[i].statement->name);
    }
    if (ws_node_expr(step, WS_F_unless) != NULL)
        ws_expr_visit(ws_node_expr(step, WS_F_unless), add_name, &to);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Everything but these may only be moved past what is of these. */
static gboolean may_pass(WsNodeKind kind)
{
    return kind == WS_STEP_WAIT || kind == WS_STEP_ARRIVE || kind == WS_STEP_MMA ||
           kind == WS_STEP_MMA_WAIT || kind == WS_STEP_COMPUTE || kind == WS_STEP_ADVANCE ||
           kind == WS_STEP_LOAD || kind == WS_STEP_SYNC;
}

static gboolean of_group(const WsNode *sync)
{
    const WsRef *ref = ws_node_refv(sync, WS_F_keyword);
    return ref == NULL || strcmp(ref->name, "group") == 0;
}

static gboolean joins_all(const WsNode *step)
{
    const WsRef *ref = ws_node_refv(step, WS_F_keyword);
    return step->kind == WS_STEP_SYNC && (of_group(step) || strcmp(ref->name, "cta") == 0);
}

/* Steps that only this agent notices. All others may let another one go on, or wait for one. */
static gboolean is_private(const WsNode *step)
{
    static const WsNodeKind own[] = { WS_STEP_FOR,       WS_STEP_IF,      WS_STEP_LET,
                                      WS_STEP_ADVANCE,   WS_STEP_READ,    WS_STEP_STORE,
                                      WS_STEP_LOAD_WAIT, WS_STEP_COMPUTE, WS_STEP_STORE_WAIT,
                                      WS_STEP_PREFETCH,  WS_STEP_MMA,     WS_STEP_TRANSPOSE,
                                      WS_STEP_MMA_WAIT,  WS_STEP_FENCE,   WS_STEP_MARK };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (step->kind == own[i])
            return TRUE;
    if (step->kind == WS_STEP_SYNC)
        return of_group(step);
    return (step->kind == WS_STEP_WRITE || step->kind == WS_STEP_GATHER) &&
           !ws_node_has(step, WS_F_signal);
}

static gboolean only_tells(WsNodeKind kind)
{
    return kind == WS_STEP_ARRIVE || kind == WS_STEP_EXPECT || kind == WS_STEP_COMMIT ||
           kind == WS_STEP_RELEASE || kind == WS_STEP_LOAD || kind == WS_STEP_GATHER ||
           kind == WS_STEP_WRITE || kind == WS_STEP_COPY;
}

static gboolean only_hears(WsNodeKind kind)
{
    return kind == WS_STEP_WAIT || kind == WS_STEP_ACQUIRE || kind == WS_STEP_TAKE;
}

static void add_step(const WsTurnTouch *t, const WsNode *step, WsTurnStep *s)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(step->kind, &n);
    s->ordered |= !may_pass(step->kind) || joins_all(step);
    s->tells |= !is_private(step) && !only_hears(step->kind);
    s->hears |= !is_private(step) && !only_tells(step->kind);
    if (step->kind == WS_STEP_COMPUTE)
        add_statements(t, step, s);
    for (guint i = 0; i < n; i++) {
        const WsRef *ref = ws_node_refv(step, rows[i].field);
        const char *root = ref != NULL ? ws_edit_root(t->design, ref->name) : NULL;
        if (ref != NULL && ((rows[i].of & 1 << WS_NODE_BARRIER) || rows[i].field == WS_F_signal))
            g_hash_table_add(s->barriers, ref->name);
        if (ref != NULL && ws_edit_is_touch(step->kind, rows[i].field, FALSE))
            g_hash_table_add(s->reads, (gpointer)root);
        if (ref != NULL && ws_edit_is_touch(step->kind, rows[i].field, TRUE))
            g_hash_table_add(step->kind == WS_STEP_LOAD ? s->lands : s->writes, (gpointer)root);
        for (guint c = 0; c < ws_node_n_children(step, rows[i].field); c++)
            add_step(t, ws_node_child(step, rows[i].field, c), s);
    }
}

void ws_turn_step_init(const WsTurnTouch *t, const WsNode *step, guint index, WsTurnStep *s)
{
    GHashTable **const sets[] = { &s->reads, &s->writes, &s->lands, &s->barriers };
    for (guint i = 0; i < G_N_ELEMENTS(sets); i++)
        *sets[i] = g_hash_table_new(g_str_hash, g_str_equal);
    s->step = step;
    s->index = index;
    add_step(t, step, s);
}

void ws_turn_step_clear(WsTurnStep *s)
{
    g_hash_table_destroy(s->reads);
    g_hash_table_destroy(s->writes);
    g_hash_table_destroy(s->lands);
    g_hash_table_destroy(s->barriers);
}

/* --- stages of a ring ------------------------------------------------------------------------- */

/* The only buffer of that root that a step touches, by one reference of its own; NULL: it has a
 * body, or there are more. */
static const WsRef *only_touch(const WsTurnTouch *t, const WsNode *step, const char *root)
{
    guint n, found = 0;
    const WsRef *only = NULL;
    const WsFieldRow *rows = ws_node_rows(step->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsRef *ref = ws_node_refv(step, rows[i].field);
        found += ws_node_n_children(step, rows[i].field) > 0 ? 2 : 0;
        if (ref == NULL || strcmp(ws_edit_root(t->design, ref->name), root) != 0)
            continue;
        only = ref;
        found++;
    }
    return found == 1 ? only : NULL;
}

typedef struct {
    const WsTurnTouch *t;
    guint index;  /* of the step */
    guint rounds; /* that it runs after the round that counters are counted from */
} When;

/* Where the index and the counters stand at the step, from what they are at the beginning of a
 * round. */
static WsExpr *as_of(const WsExpr *leaf, gpointer data, GError **error)
{
    const When *w = data;
    (void)error;
    if (leaf->op != WS_EXPR_NAME)
        return NULL;
    if (g_strcmp0(ws_node_text(w->t->loop, WS_F_keyword), leaf->name) == 0) {
        const gint64 step = ws_node_int(w->t->loop, WS_F_step, 1);
        return ws_expr_op(WS_EXPR_ADD, ws_expr_ref(leaf), ws_expr_int(step * w->rounds));
    }
    for (guint i = 0; i < ws_node_n_children(w->t->loop, WS_F_do); i++) {
        const WsNode *step = ws_node_child(w->t->loop, WS_F_do, i);
        if (step->kind != WS_STEP_ADVANCE ||
            g_strcmp0(ws_node_text(step, WS_F_keyword), leaf->name) != 0)
            continue;
        const WsExpr *by = ws_node_expr(step, WS_F_by);
        const gint64 times = (gint64)w->rounds + (w->index > i);
        return ws_expr_op(WS_EXPR_ADD, ws_expr_ref(leaf),
                          ws_expr_op(WS_EXPR_MUL, ws_expr_int(times),
                                     by != NULL ? ws_expr_ref(by) : ws_expr_int(1)));
    }
    return NULL;
}

static WsExpr *use_at(const WsTurnTouch *t, const WsTurnStep *s, const WsRef *ref, guint rounds)
{
    const When w = { t, s->index, rounds };
    const WsExpr *use = ref->use != NULL ? ref->use : ws_node_expr(s->step, WS_F_use);
    return use != NULL ? ws_expr_map(use, as_of, (gpointer)&w, NULL) : NULL;
}

/* Stages of a buffer where they are a number, or a constant that has one; 1: not known. */
static gint64 stages_of(const WsTurnTouch *t, const char *buffer)
{
    const WsNode *object = ws_edit_object(t->design, buffer);
    const gint64 depth = object != NULL ? ws_edit_depth_of(t->design, object) : 0;
    return MAX(depth, 1);
}

/* Whether a step of the first part, a round later, and one of the second touch other stages of that
 * buffer: uses that differ by a number which is no multiple of the depth. */
static gboolean apart(const WsTurnTouch *t, const WsTurnStep *a, const WsTurnStep *b,
                      const char *root)
{
    const WsRef *x = only_touch(t, a->step, root), *y = only_touch(t, b->step, root);
    if (x == NULL || y == NULL || strcmp(x->name, y->name) != 0)
        return FALSE;
    gint64 p, q;
    if (x->element != NULL && y->element != NULL && ws_expr_is_int(x->element, &p) &&
        ws_expr_is_int(y->element, &q) && p != q)
        return TRUE;
    g_autoptr(WsExpr) u = use_at(t, a, x, 1), v = use_at(t, b, y, 0);
    if (u == NULL || v == NULL)
        return FALSE;
    g_autoptr(WsExpr) both = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(u), ws_expr_ref(v));
    WsAffine sum = { 0 };
    const gboolean known =
        ws_expr_affine(both, &sum) && sum.n == 0 && sum.constant % stages_of(t, x->name) != 0;
    ws_affine_clear(&sum);
    return known;
}

/* --- two steps -------------------------------------------------------------------------------- */

static gboolean meets(GHashTable *a, GHashTable *b)
{
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, a);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        if (g_hash_table_contains(b, key))
            return TRUE;
    return FALSE;
}

/* Whether what one of them loads may be where the other one touches. */
static gboolean lands_on(const WsTurnTouch *t, const WsTurnStep *a, const WsTurnStep *b)
{
    GHashTable *const pairs[][2] = { { a->lands, b->reads },
                                     { a->lands, b->writes },
                                     { a->lands, b->lands },
                                     { b->lands, a->reads },
                                     { b->lands, a->writes } };
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
        GHashTableIter iter;
        gpointer root;
        g_hash_table_iter_init(&iter, pairs[i][0]);
        while (g_hash_table_iter_next(&iter, &root, NULL))
            if (g_hash_table_contains(pairs[i][1], root) && !apart(t, a, b, root))
                return TRUE;
    }
    return FALSE;
}

gboolean ws_turn_conflicts(const WsTurnTouch *t, const WsTurnStep *a, const WsTurnStep *b)
{
    return meets(a->writes, b->writes) || meets(a->writes, b->reads) ||
           meets(a->reads, b->writes) || meets(a->barriers, b->barriers) ||
           (a->ordered && b->ordered) || lands_on(t, a, b);
}

gboolean ws_turn_disturbs(const WsTurnTouch *t, const WsTurnStep *a, const WsTurnStep *product)
{
    const WsRef *acc = ws_node_refv(product->step, WS_F_keyword);
    if ((meets(a->writes, product->reads) && a->step->kind != WS_STEP_MMA) ||
        lands_on(t, a, product))
        return TRUE;
    if (a->step->kind != WS_STEP_MMA)
        return g_hash_table_contains(a->reads, acc->name) ||
               g_hash_table_contains(a->writes, acc->name);
    const WsRef *own = ws_node_refv(a->step, WS_F_keyword);
    const WsRef *left = ws_node_refv(a->step, WS_F_a), *right = ws_node_refv(a->step, WS_F_b);
    const WsRef *held = ws_node_refv(product->step, WS_F_a);
    return strcmp(left->name, acc->name) == 0 || strcmp(right->name, acc->name) == 0 ||
           strcmp(own->name, held->name) == 0;
}
