/* Quick-fixes of what is written to a tensor: coordinates that leave out an index or name another
 * axis, ranges that round down, steps that write in some tiles only. All of them change what is
 * written where: they are offered. */
#include "expr/expr.h"
#include "mend/fixer.h"

enum { MOST_DIMS = 5, FAR = 4 };

/* A step that writes the tensor. */
typedef struct {
    gint spot;
    guint n;
    char *at[MOST_DIMS];     /* coordinates */
    char *extent[MOST_DIMS]; /* elements of the step along each; NULL: not known */
} Writer;

static void writer_clear(Writer *w)
{
    for (guint d = 0; d < w->n; d++) {
        g_free(w->at[d]);
        g_free(w->extent[d]);
    }
}

static char *item_text(const WsNode *node, WsFieldId field, guint i)
{
    const WsValue *v = ws_node_get(node, field);
    if (v->kind != WS_VALUE_LIST || i >= v->n)
        return NULL;
    return v->item[i].kind == WS_VALUE_EXPR  ? ws_expr_print(v->item[i].expr)
           : v->item[i].kind == WS_VALUE_INT ? g_strdup_printf("%" G_GINT64_FORMAT, v->item[i].i)
                                             : NULL;
}

/* The tensor that a step writes; NULL. */
static const char *written(const WsFixer *F, const WsNode *step)
{
    const char *name = step->kind == WS_STEP_STORE   ? ws_node_text(step, WS_F_keyword)
                       : step->kind == WS_STEP_WRITE ? ws_step_ref(step, WS_F_to)
                                                     : NULL;
    return ws_object_named(F->design, WS_F_tensors, name) ? name : NULL;
}

/* Rows or columns of a view, else of its buffer or value. Caller frees. */
static char *extent_of(const WsFixer *F, gint spot, const WsRef *from, gboolean rows)
{
    const WsNode *group = ws_spot(F, spot)->group;
    const WsNode *tile = ws_object_named(F->design, WS_F_buffers, from->name);
    for (guint i = 0; !tile && i < ws_node_n_children(group, WS_F_values); i++) {
        const WsNode *value = ws_node_child(group, WS_F_values, i);
        if (g_strcmp0(ws_node_name(value), from->name) == 0)
            tile = value;
    }
    for (guint i = 0; i < from->n_views; i++)
        if (from->view[i].kind == (rows ? WS_VIEW_ROWS : WS_VIEW_COLS))
            return ws_expr_print(from->view[i].count);
    if (!tile)
        return NULL;
    const guint n = ws_node_get(tile, WS_F_tile)->n;
    return n == 1 ? (rows ? NULL : item_text(tile, WS_F_tile, 0))
                  : item_text(tile, WS_F_tile, rows ? 0 : 1);
}

static gboolean read_writer(const WsFixer *F, gint spot, Writer *w)
{
    const WsNode *step = ws_spot(F, spot)->node;
    const WsRef *from = ws_node_refv(step, step->kind == WS_STEP_STORE ? WS_F_from : WS_F_keyword);
    const WsValue *at = ws_node_get(step, WS_F_at);
    memset(w, 0, sizeof *w);
    w->spot = spot;
    if (!from || at->kind != WS_VALUE_LIST || at->n > MOST_DIMS)
        return FALSE;
    w->n = at->n;
    for (guint d = 0; d < w->n; d++) {
        w->at[d] = item_text(step, WS_F_at, d);
        if (d + 2 >= w->n)
            w->extent[d] = extent_of(F, spot, from, d + 2 == w->n);
        if (!w->at[d])
            return FALSE;
    }
    return TRUE;
}

/* --- names in expressions --------------------------------------------------------------------- */
typedef struct {
    const char *name;
    gboolean found;
} Named;

static void look(const WsExpr *e, gpointer data)
{
    Named *n = data;
    n->found |= e->op == WS_EXPR_NAME && strcmp(e->name, n->name) == 0;
}

static gboolean names(const char *text, const char *name)
{
    Named n = { name, FALSE };
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL);
    if (e)
        ws_expr_visit(e, look, &n);
    return n.found;
}

/* In a coordinate, or in a name of the tile that a coordinate uses. */
static gboolean is_used(const WsFixer *F, const Writer *w, const char *name)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    const WsValue *lets = tiles ? ws_node_get(tiles, WS_F_let) : NULL;
    for (guint d = 0; d < w->n; d++) {
        if (names(w->at[d], name))
            return TRUE;
        for (guint k = 0; lets && lets->kind == WS_VALUE_MAP && k < lets->n; k++) {
            g_autofree char *text =
                lets->item[k].kind == WS_VALUE_EXPR ? ws_expr_print(lets->item[k].expr) : NULL;
            if (text && names(w->at[d], lets->key[k]) && names(text, name))
                return TRUE;
        }
    }
    return FALSE;
}

typedef struct {
    const char *from, *to;
} Renamed;

static WsExpr *rename_leaf(const WsExpr *leaf, gpointer data, GError **error)
{
    const Renamed *r = data;
    return leaf->op == WS_EXPR_NAME && strcmp(leaf->name, r->from) == 0
               ? ws_expr_parse(r->to, error)
               : NULL;
}

static char *renamed(const char *text, const char *from, const char *to)
{
    Renamed r = { from, to };
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL),
                      other = e ? ws_expr_map(e, rename_leaf, &r, NULL) : NULL;
    return other ? ws_expr_print(other) : NULL;
}

/* --- coordinates ------------------------------------------------------------------------------ */
static void propose(WsFixer *F, const Writer *w, guint d, const char *text, guint more)
{
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL);
    g_autofree char *plain = e ? ws_expr_print(e) : NULL;
    if (!plain || strcmp(plain, w->at[d]) == 0)
        return;
    const WsNode *step = ws_spot(F, w->spot)->node;
    g_autofree char *name = ws_step_name(step);
    WsJson *at = ws_json_list();
    for (guint i = 0; i < w->n; i++)
        ws_json_add(at, ws_json_expr(i == d ? plain : w->at[i]));
    WsFix *fix = ws_fixer_add(F, "Let %s write at %s along dimension %u, not at %s", name, plain, d,
                              w->at[d]);
    fix->cost += more;
    ws_fix_set(fix, step, WS_F_at, at);
}

/* Something that tells writers, tiles or rounds apart is in no coordinate: it steps by what one of
 * them writes. */
static void add_index(WsFixer *F, const Writer *w, const char *index, guint more)
{
    if (is_used(F, w, index))
        return;
    for (guint d = 0; d < w->n; d++) {
        if (!w->extent[d])
            continue;
        g_autofree char *step = strchr(w->extent[d], ' ') ? g_strdup_printf("(%s)", w->extent[d])
                                                          : g_strdup(w->extent[d]),
                        *text = g_strdup_printf("%s + %s*%s", w->at[d], index, step);
        propose(F, w, d, text, more + (d + 2 == w->n ? 0 : 1));
    }
}

static void add_indices(WsFixer *F, const Writer *w)
{
    const WsSpot *s = ws_spot(F, w->spot);
    if (ws_node_has(s->group, WS_F_replicate))
        add_index(F, w, "replica", 0);
    if (ws_node_int(ws_design_root(F->design), WS_F_cluster, 1) > 1)
        add_index(F, w, "cta", 1);
    for (gint up = s->up; up >= 0; up = ws_spot(F, up)->up)
        if (ws_step_is(F, up, WS_STEP_FOR) && ws_node_has(ws_spot(F, up)->node, WS_F_count))
            add_index(F, w, ws_node_name(ws_spot(F, up)->node), 1);
}

/* An axis that no coordinate names, instead of one that several do. */
static void other_axis(WsFixer *F, const Writer *w)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    const WsValue *axes = tiles ? ws_node_get(tiles, WS_F_axes) : NULL;
    for (guint a = 0; axes && axes->kind == WS_VALUE_MAP && a < axes->n; a++) {
        if (is_used(F, w, axes->key[a]))
            continue;
        for (guint b = 0; b < axes->n; b++)
            for (guint d = 0; b != a && d < w->n; d++) {
                if (!names(w->at[d], axes->key[b]))
                    continue;
                g_autofree char *text = renamed(w->at[d], axes->key[b], axes->key[a]);
                if (text)
                    propose(F, w, d, text, 1);
            }
    }
}

/* "tm*BM" where the step writes 64: "tm*64". */
static void other_width(WsFixer *F, const Writer *w)
{
    const WsNode *root = ws_design_root(F->design);
    const WsValue *constants = ws_node_get(root, WS_F_constants);
    for (guint d = 0; d < w->n; d++)
        for (guint k = 0; w->extent[d] && constants->kind == WS_VALUE_MAP && k < constants->n; k++)
            if (names(w->at[d], constants->key[k]) &&
                strcmp(constants->key[k], w->extent[d]) != 0) {
                g_autofree char *text = renamed(w->at[d], constants->key[k], w->extent[d]);
                if (text)
                    propose(F, w, d, text, FAR);
            }
}

/* "(tm + 1)*BM", "row - 1": without the number. */
static WsExpr *without_number(const WsExpr *e)
{
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB) {
        gint64 n;
        if (ws_expr_is_int(e->arg[1], &n))
            return ws_expr_ref(e->arg[0]);
    }
    for (guint i = 0; i < e->n_args && e->op != WS_EXPR_CALL && e->op != WS_EXPR_INDEX; i++) {
        WsExpr *less = without_number(e->arg[i]);
        if (less && e->n_args == 2)
            return ws_expr_op(e->op, i ? ws_expr_ref(e->arg[0]) : less,
                              i ? less : ws_expr_ref(e->arg[1]));
        g_clear_pointer(&less, ws_expr_unref);
    }
    return NULL;
}

static void no_number(WsFixer *F, const Writer *w)
{
    for (guint d = 0; d < w->n; d++) {
        g_autoptr(WsExpr) e = ws_expr_parse(w->at[d], NULL), less = e ? without_number(e) : NULL;
        g_autofree char *text = less ? ws_expr_print(less) : NULL;
        if (text)
            propose(F, w, d, text, FAR);
    }
}

/* What another step of the tensor says of the same dimension. */
static void as_others(WsFixer *F, const Writer *w, const char *tensor)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        Writer o;
        if (i == w->spot || g_strcmp0(written(F, ws_spot(F, i)->node), tensor) != 0)
            continue;
        if (read_writer(F, i, &o) && o.n == w->n)
            for (guint d = 0; d < w->n; d++)
                propose(F, w, d, o.at[d], 0);
        writer_clear(&o);
    }
}

/* --- who writes ------------------------------------------------------------------------------- */
static void set_when(WsFixer *F, gint spot, const char *when, guint more)
{
    const WsNode *step = ws_spot(F, spot)->node;
    g_autofree char *name = ws_step_name(step), *now = ws_field_text(step, WS_F_when),
                    *both = now ? g_strdup_printf("(%s) && %s", now, when) : g_strdup(when);
    WsFix *fix = ws_fixer_add(F, "Do %s only when %s", name, when);
    fix->cost += more;
    ws_fix_set(fix, step, WS_F_when, ws_json_expr(both));
}

/* Several write the same: one of them is enough. */
static void one_writes(WsFixer *F, const Writer *w)
{
    const WsNode *root = ws_design_root(F->design), *tiles = ws_node_child(root, WS_F_tiles, 0);
    const WsValue *axes = tiles ? ws_node_get(tiles, WS_F_axes) : NULL;
    if (ws_node_int(root, WS_F_cluster, 1) > 1 && !is_used(F, w, "cta"))
        set_when(F, w->spot, "cta == 0", FAR);
    if (ws_node_has(ws_spot(F, w->spot)->group, WS_F_replicate) && !is_used(F, w, "replica"))
        set_when(F, w->spot, "replica == 0", FAR);
    for (guint a = 0; axes && axes->kind == WS_VALUE_MAP && a < axes->n; a++)
        if (!is_used(F, w, axes->key[a])) {
            g_autofree char *when = g_strdup_printf("%s == 0", axes->key[a]);
            set_when(F, w->spot, when, FAR);
        }
}

/* A step that writes under a condition: always. */
static void always(WsFixer *F, const Writer *w)
{
    const WsNode *step = ws_spot(F, w->spot)->node;
    if (!ws_node_has(step, WS_F_when))
        return;
    g_autofree char *name = ws_step_name(step), *when = ws_field_text(step, WS_F_when);
    WsFix *fix = ws_fixer_add(F, "Do %s in every case, not only when %s", name, when);
    fix->cost += FAR;
    ws_fix_set(fix, step, WS_F_when, NULL);
}

/* The tensor that the finding is about. */
static const char *tensor_of(const WsFixer *F)
{
    const WsNode *at = F->finding->at ? ws_design_find(F->design, F->finding->at) : NULL;
    return !at                              ? NULL
           : at->kind == WS_NODE_TENSOR     ? ws_node_name(at)
           : ws_node_kind_is_step(at->kind) ? written(F, at)
                                            : NULL;
}

void ws_fix_coordinate(WsFixer *F)
{
    const char *tensor = tensor_of(F);
    const gboolean twice = F->finding->rule == WS_RULE_G_TWICE;
    for (gint i = 0; tensor && i < (gint)F->spot->len; i++) {
        Writer w;
        if (g_strcmp0(written(F, ws_spot(F, i)->node), tensor) != 0)
            continue;
        if (read_writer(F, i, &w)) {
            add_indices(F, &w);
            other_axis(F, &w);
            as_others(F, &w, tensor);
            other_width(F, &w);
            no_number(F, &w);
            if (twice)
                one_writes(F, &w);
            else
                always(F, &w);
        }
        writer_clear(&w);
    }
}

/* --- ranges ----------------------------------------------------------------------------------- */
/* "N/BN" as "cdiv(N, BN)", NULL if it is no quotient. */
static char *rounded_up(const WsExpr *e)
{
    if (!e || e->op != WS_EXPR_DIV)
        return NULL;
    g_autofree char *x = ws_expr_print(e->arg[0]), *y = ws_expr_print(e->arg[1]);
    return g_strdup_printf("cdiv(%s, %s)", x, y);
}

/* An axis, or a loop that writes, leaves the rest of a division out. */
void ws_fix_round_up(WsFixer *F)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    const WsValue *axes = tiles ? ws_node_get(tiles, WS_F_axes) : NULL;
    for (guint a = 0; axes && axes->kind == WS_VALUE_MAP && a < axes->n; a++) {
        g_autofree char *up =
            axes->item[a].kind == WS_VALUE_EXPR ? rounded_up(axes->item[a].expr) : NULL;
        if (!up)
            continue;
        WsFix *fix =
            ws_fixer_add(F, "Let axis %s have %s tiles: the last one, too", axes->key[a], up);
        ws_fix_set(
            fix, tiles, WS_F_axes,
            ws_json_with(ws_json_of_field(tiles, WS_F_axes), axes->key[a], ws_json_expr(up)));
    }
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *loop = ws_spot(F, i)->node;
        g_autofree char *up =
            loop->kind == WS_STEP_FOR ? rounded_up(ws_node_expr(loop, WS_F_count)) : NULL;
        if (!up)
            continue;
        WsFix *fix = ws_fixer_add(F, "Let the loop %s of %s make %s rounds", ws_node_name(loop),
                                  ws_node_name(ws_spot(F, i)->group), up);
        ws_fix_set(fix, loop, WS_F_count, ws_json_expr(up));
    }
}
