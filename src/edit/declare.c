/* What a reference names and nobody has declared: tensors and sizes. Extents are those of tensors
 * that were declared before, bounds of reductions, else a size called like the index in capitals.
 * Where a bound is no size or two extents disagree, nothing is declared. */
#include "edit/derive.h"

#include <string.h>

enum { RANK = 5, SIZE = 8192, REHEARSED = 320 };

/* A tensor that the text reads and nobody has declared. */
typedef struct {
    const char *name;
    guint n;
    const char *extent[RANK];
    gboolean open;  /* some extent does not follow */
    gboolean index; /* its elements are indices */
} Tensor;

typedef struct {
    WsDraft *d;
    const WsValue *all;  /* statements */
    GHashTable *used;    /* names of the text that are no sizes: of elements, results and indices */
    GHashTable *chosen;  /* size: the index it was chosen for */
    GStringChunk *texts; /* of extents */
    const char ***extent; /* of each index of each statement; NULL: not known yet */
    GArray *tensors;      /* Tensor */
    gboolean collect;     /* tensors, once the extents are known */
    gboolean changed, refused;
} Declare;

/* Indices of reductions around an expression. */
typedef struct Scope {
    const struct Scope *up;
    const char *index, *extent;
} Scope;

static const WsStatement *statement(const Declare *c, guint i)
{
    return c->all->item[i].statement;
}

static guint n_statements(const WsValue *all)
{
    return all->kind == WS_VALUE_LIST ? all->n : 0;
}

/* --- names of the text --------------------------------------------------------------------------
 */

static void see_used(const WsExpr *e, gpointer used)
{
    if (e->op == WS_EXPR_INDEX)
        g_hash_table_add(used, e->name);
    for (guint i = 0; i < ws_expr_n_bounds(e); i++)
        g_hash_table_add(used, e->arg[i]->arg[0]->name);
}

/* Borrows of the statements. */
static GHashTable *used_by(const WsValue *all)
{
    GHashTable *used = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < n_statements(all); i++) {
        const WsStatement *s = all->item[i].statement;
        g_hash_table_add(used, s->name);
        for (guint k = 0; k < s->n_index; k++)
            g_hash_table_add(used, s->index[k]);
        ws_expr_visit(s->value, see_used, used);
    }
    return used;
}

static gboolean has_key(const WsNode *root, WsFieldId field, const char *name)
{
    const WsValue *map = ws_node_get(root, field);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++)
        if (strcmp(map->key[i], name) == 0)
            return TRUE;
    return FALSE;
}

static gboolean is_size(const WsDraft *d, const char *name)
{
    return has_key(ws_design_root(d->design), WS_F_sizes, name);
}

/* What may stand in an extent: sizes, constants, run names, or a name that can become a size. */
static void see_extent(const WsExpr *e, gpointer data)
{
    Declare *c = data;
    const WsNode *root = ws_design_root(c->d->design);
    const gboolean name =
        e->op == WS_EXPR_NAME && !g_hash_table_contains(c->used, e->name) &&
        (is_size(c->d, e->name) || has_key(root, WS_F_constants, e->name) ||
         has_key(root, WS_F_let, e->name) ||
         (!ws_edit_taken(c->d->design, NULL, e->name) && !ws_name_is_reserved(e->name)));
    const gboolean number =
        (e->op == WS_EXPR_INT && e->i > 0) || (e->op >= WS_EXPR_ADD && e->op <= WS_EXPR_DIV) ||
        (e->op == WS_EXPR_CALL && ws_expr_n_bounds(e) == 0 &&
         (e->func == WS_FUNC_CDIV || e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX));
    c->refused |= !name && !number;
}

static const char *keep(Declare *c, char *taken)
{
    g_autofree char *text = taken;
    return g_string_chunk_insert_const(c->texts, text);
}

/* A size called like the index in capitals; one that stands for something else gets a number. */
static const char *choose(Declare *c, const char *index)
{
    g_autofree char *stem = g_ascii_strup(index, -1);
    for (guint i = 1;; i++) {
        g_autofree char *name = i > 1 ? g_strdup_printf("%s%u", stem, i) : g_strdup(stem);
        const char *by = g_hash_table_lookup(c->chosen, name);
        if (g_hash_table_contains(c->used, name) || (by != NULL && strcmp(by, index) != 0) ||
            (!is_size(c->d, name) &&
             (ws_edit_taken(c->d->design, NULL, name) || ws_name_is_reserved(name))))
            continue;
        const char *kept = keep(c, g_steal_pointer(&name));
        g_hash_table_insert(c->chosen, (gpointer)kept, (gpointer)index);
        return kept;
    }
}

/* --- extents ------------------------------------------------------------------------------------
 */

static void agree(Declare *c, const char **known, const char *extent)
{
    if (*known == NULL && extent != NULL) {
        *known = extent;
        c->changed = TRUE;
    } else if (extent != NULL && strcmp(*known, extent) != 0) {
        c->refused = TRUE;
    }
}

/* Where the extent of an index of statement `i` is kept; NULL: it is none, or of a reduction. */
static const char **slot(const Declare *c, guint i, const char *index)
{
    for (guint k = 0; k < statement(c, i)->n_index; k++)
        if (strcmp(statement(c, i)->index[k], index) == 0)
            return &c->extent[i][k];
    return NULL;
}

static gint defined(const Declare *c, const char *name)
{
    for (guint i = 0; i < c->all->n; i++)
        if (strcmp(statement(c, i)->name, name) == 0)
            return (gint)i;
    return -1;
}

static const WsNode *declared(const Declare *c, const char *name)
{
    const WsNode *node = ws_edit_object(c->d->design, name);
    return node != NULL && node->kind == WS_NODE_TENSOR ? node : NULL;
}

static const char *dimension(Declare *c, const WsNode *tensor, guint i)
{
    const WsValue *shape = ws_node_get(tensor, WS_F_shape);
    const WsFieldRow *row = ws_node_row(tensor->kind, WS_F_shape);
    return i < shape->n ? keep(c, ws_value_words(row, &shape->item[i])) : NULL;
}

static Tensor *tensor_called(Declare *c, const char *name, guint n)
{
    for (guint i = 0; i < c->tensors->len; i++)
        if (strcmp(g_array_index(c->tensors, Tensor, i).name, name) == 0)
            return &g_array_index(c->tensors, Tensor, i);
    const Tensor fresh = { .name = name, .n = n, .open = n > RANK };
    g_array_append_val(c->tensors, fresh);
    return &g_array_index(c->tensors, Tensor, c->tensors->len - 1);
}

/* An element: what its tensor or statement says of the indices, and they of it. */
static void see_element(Declare *c, guint i, const WsExpr *e, const Scope *scope, gboolean index)
{
    const WsNode *known = declared(c, e->name);
    const gint of = defined(c, e->name);
    Tensor *t = c->collect && known == NULL && of < 0 ? tensor_called(c, e->name, e->n_args) : NULL;
    if (t != NULL) {
        t->index |= index;
        c->refused |= t->n != e->n_args;
    }
    for (guint k = 0; k < e->n_args; k++) {
        const char *name = e->arg[k]->op == WS_EXPR_NAME ? e->arg[k]->name : "";
        const Scope *s = scope;
        while (s != NULL && strcmp(s->index, name) != 0)
            s = s->up;
        const char **own = s == NULL ? slot(c, i, name) : NULL;
        const char *extent = s != NULL ? s->extent : own != NULL ? *own : NULL;
        if (own != NULL && known != NULL)
            agree(c, own, dimension(c, known, k));
        if (of >= 0 && k < statement(c, (guint)of)->n_index) {
            agree(c, &c->extent[of][k], extent);
            if (own != NULL)
                agree(c, own, c->extent[of][k]);
        }
        if (t != NULL && extent == NULL)
            t->open = TRUE;
        else if (t != NULL && k < MIN(t->n, RANK))
            agree(c, &t->extent[k], extent);
    }
}

static void walk(Declare *c, guint i, const WsExpr *e, const Scope *scope, gboolean index)
{
    const guint n = ws_expr_n_bounds(e);
    if (n > 0) {
        Scope inner[8];
        c->refused |= n > G_N_ELEMENTS(inner);
        for (guint k = 0; k < n && !c->refused; k++) {
            const WsExpr *bound = e->arg[k]->arg[1];
            inner[k] = (Scope){ k > 0 ? &inner[k - 1] : scope, e->arg[k]->arg[0]->name,
                                keep(c, ws_expr_print(bound)) };
            ws_expr_visit(bound, see_extent, c);
            c->refused |= slot(c, i, inner[k].index) != NULL;
        }
        if (!c->refused)
            walk(c, i, e->arg[n], &inner[n - 1], index);
        return;
    }
    if (e->op == WS_EXPR_INDEX)
        see_element(c, i, e, scope, index);
    for (guint k = 0; k < e->n_args && !c->refused; k++)
        walk(c, i, e->arg[k], scope, index || e->op == WS_EXPR_INDEX);
}

/* Extents follow from each other until nothing new does. */
static void settle(Declare *c)
{
    do {
        c->changed = FALSE;
        for (guint i = 0; i < c->all->n && !c->refused; i++) {
            const WsNode *result = declared(c, statement(c, i)->name);
            for (guint k = 0; result != NULL && k < statement(c, i)->n_index; k++)
                agree(c, &c->extent[i][k], dimension(c, result, k));
            walk(c, i, statement(c, i)->value, NULL, FALSE);
        }
    } while (c->changed && !c->refused);
}

static void find_extents(Declare *c)
{
    settle(c);
    for (guint i = 0; i < c->all->n; i++)
        for (guint k = 0; k < statement(c, i)->n_index && !c->refused; k++)
            if (c->extent[i][k] == NULL) {
                c->extent[i][k] = choose(c, statement(c, i)->index[k]);
                settle(c);
            }
    c->collect = TRUE;
    settle(c);
}

/* --- what is declared ---------------------------------------------------------------------------
 */

static void declare_size(const WsExpr *e, gpointer data)
{
    WsDraft *d = data;
    if (e->op == WS_EXPR_NAME && !ws_edit_taken(d->design, NULL, e->name) &&
        ws_guess_entry(d, WS_F_sizes, e->name, SIZE))
        ws_guess_entry(d, WS_F_rehearse, e->name, REHEARSED);
}

static void declare_sizes(WsDraft *d, const char *const *extent, guint n)
{
    for (guint i = 0; i < n; i++) {
        g_autoptr(WsExpr) e = ws_expr_parse(extent[i], NULL);
        if (e != NULL)
            ws_expr_visit(e, declare_size, d);
    }
}

static void declare_bounds(const WsExpr *e, gpointer data)
{
    for (guint i = 0; i < ws_expr_n_bounds(e); i++)
        ws_expr_visit(e->arg[i]->arg[1], declare_size, data);
}

static gboolean declare_tensor(WsDraft *d, const char *name, const char *const *extent, guint n,
                               const char *dtype, const char *access)
{
    if (ws_edit_taken(d->design, NULL, name) || n == 0 || n > RANK)
        return TRUE;
    WsJson *shape = ws_json_list();
    for (guint i = 0; i < n; i++)
        ws_json_add(shape, ws_json_expr(extent[i]));
    const guint64 made =
        ws_draft_append(d, ws_design_root(d->design)->identity, WS_F_tensors,
                        WS_MAKE(WS_NODE_TENSOR, { WS_F_name, ws_json_text(name) },
                                { WS_F_dtype, ws_json_text(dtype) }, { WS_F_shape, shape },
                                { WS_F_access, ws_json_text(access) }));
    return made != 0 && ws_guess_mark(d, ws_draft_node(d, made), WS_F_dtype);
}

static void see_read(const WsExpr *e, gpointer read)
{
    if (e->op == WS_EXPR_INDEX)
        g_hash_table_add(read, e->name);
}

static void declare_all(Declare *c)
{
    WsDraft *d = c->d;
    g_autoptr(GHashTable) read = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < c->all->n; i++)
        ws_expr_visit(statement(c, i)->value, see_read, read);
    for (guint i = 0; i < c->all->n; i++) { /* sizes of the results come first */
        const WsStatement *s = statement(c, i);
        if (!g_hash_table_contains(read, s->name) && !ws_edit_taken(d->design, NULL, s->name))
            declare_sizes(d, c->extent[i], s->n_index);
    }
    for (guint i = 0; i < c->tensors->len; i++) {
        const Tensor *t = &g_array_index(c->tensors, Tensor, i);
        if (t->open || ws_edit_taken(d->design, NULL, t->name))
            continue;
        declare_sizes(d, t->extent, t->n);
        declare_tensor(d, t->name, t->extent, t->n, t->index ? "i32" : "bf16", NULL);
    }
    for (guint i = 0; i < c->all->n; i++) {
        const WsStatement *s = statement(c, i);
        ws_expr_visit(s->value, declare_bounds, d);
        if (!g_hash_table_contains(read, s->name))
            declare_tensor(d, s->name, c->extent[i], s->n_index, "bf16", "write");
    }
}

/* --- what only the reference before named -------------------------------------------------------
 */

/* The design as it was before the reference was changed; NULL: it was not. Borrowed. */
static const WsDesign *before_reference(const WsDraft *d)
{
    g_autoptr(WsJson) now = ws_json_of_field(ws_design_root(d->design), WS_F_reference);
    g_autofree char *text = now != NULL ? ws_json_print(now) : NULL;
    for (guint i = d->former->len; i > 0; i--) {
        const WsDesign *was = d->former->pdata[i - 1];
        g_autoptr(WsJson) then = ws_json_of_field(ws_design_root(was), WS_F_reference);
        g_autofree char *before = then != NULL ? ws_json_print(then) : NULL;
        if (g_strcmp0(before, text) != 0)
            return was;
    }
    return NULL;
}

static gboolean is_mentioned(const WsDesign *design, const char *name)
{
    g_autoptr(GArray) mentions = ws_edit_mentions(design, name);
    return mentions->len > 0;
}

/* Whether it is as that design's reference declared it: nobody has changed anything of it. */
static gboolean is_as_declared(const WsDesign *was, const WsNode *tensor)
{
    g_autofree char *dtype = ws_edit_guessed(was, tensor, WS_F_dtype);
    g_autoptr(WsDraft) again = ws_draft_new(was);
    if (dtype == NULL || !ws_draft_remove(again, tensor->identity) || !ws_edit_declare(again))
        return FALSE;
    const WsNode *made = ws_edit_object(again->design, ws_node_name(tensor));
    g_autoptr(WsJson) a = ws_json_of_node(tensor);
    g_autoptr(WsJson) b = made != NULL ? ws_json_of_node(made) : NULL;
    g_autofree char *one = ws_json_print(a), *other = b != NULL ? ws_json_print(b) : NULL;
    return g_strcmp0(one, other) == 0;
}

static void see_name(const WsExpr *e, gpointer names)
{
    if (e->op == WS_EXPR_NAME)
        g_hash_table_add(names, e->name);
}

static void take_away_sizes(WsDraft *d, GHashTable *names)
{
    static const WsFieldId field[] = { WS_F_sizes, WS_F_rehearse };
    g_autoptr(WsDesign) design = ws_design_ref(d->design); /* without the tensors */
    const WsNode *root = ws_design_root(design);
    for (guint f = 0; f < G_N_ELEMENTS(field); f++) {
        const WsValue *map = ws_node_get(root, field[f]);
        WsJson *rest = ws_json_map();
        guint left = 0, n = map->kind == WS_VALUE_MAP ? map->n : 0;
        for (guint i = 0; i < n; i++) {
            if (ws_guess_is_entry(design, WS_F_sizes, map->key[i]) &&
                ws_guess_is_entry(design, WS_F_rehearse, map->key[i]) &&
                !g_hash_table_contains(names, map->key[i]) && !is_mentioned(design, map->key[i]))
                continue;
            ws_json_put(rest, map->key[i],
                        ws_json_of_value(ws_node_row(root->kind, field[f]), &map->item[i]));
            left++;
        }
        if (left == 0)
            g_clear_pointer(&rest, ws_json_free);
        if (left == n)
            ws_json_free(rest);
        else
            ws_draft_set(d, root->identity, field[f], rest);
    }
}

static void take_away(WsDraft *d, const WsDesign *was)
{
    g_autoptr(WsDesign) design = ws_design_ref(d->design);
    const WsNode *root = ws_design_root(design);
    const WsValue *all = ws_node_get(root, WS_F_reference);
    g_autoptr(GHashTable) names = used_by(all);
    for (guint i = 0; i < n_statements(all); i++)
        ws_expr_visit(all->item[i].statement->value, see_name, names);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_tensors) && d->why == NULL; i++) {
        const WsNode *t = ws_node_child(root, WS_F_tensors, i);
        const WsNode *old = ws_design_by_identity(was, t->identity);
        if (old != NULL && !g_hash_table_contains(names, ws_node_name(t)) &&
            !is_mentioned(design, ws_node_name(t)) && is_as_declared(was, old))
            ws_draft_remove(d, t->identity);
    }
    take_away_sizes(d, names);
    ws_guess_settle(d, NULL);
}

/* ------------------------------------------------------------------------------------------------
 */

gboolean ws_edit_declare(WsDraft *d)
{
    g_autoptr(WsDesign) design = ws_design_ref(d->design);
    const WsValue *all = ws_node_get(ws_design_root(design), WS_F_reference);
    const WsDesign *was = before_reference(d);
    if (was != NULL)
        take_away(d, was);
    if (n_statements(all) == 0 || d->why != NULL)
        return d->why == NULL;
    g_autoptr(GHashTable) used = used_by(all);
    g_autoptr(GHashTable) chosen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) tensors = g_array_new(FALSE, FALSE, sizeof(Tensor));
    Declare c = { .d = d, .all = all, .used = used, .chosen = chosen, .tensors = tensors };
    c.texts = g_string_chunk_new(256);
    c.extent = g_new(const char **, all->n);
    for (guint i = 0; i < all->n; i++)
        c.extent[i] = g_new0(const char *, all->item[i].statement->n_index + 1);
    find_extents(&c);
    if (!c.refused)
        declare_all(&c);
    for (guint i = 0; i < all->n; i++)
        g_free(c.extent[i]);
    g_free(c.extent);
    g_string_chunk_free(c.texts);
    return d->why == NULL;
}
