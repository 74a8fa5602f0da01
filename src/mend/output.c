/* Quick-fixes of what is written to a tensor: coordinates that leave out an index or name another
 * axis, ranges that round down, steps that write in some tiles only. All of them change what is
 * written where: they are offered. */
#include "expr/expr.h"
#include "mend/fixer.h"
#include "model/finding.h"

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

/* With `to` for every `from`, a name or a number; NULL if that does not read. Caller frees. */
static char *renamed(const char *text, const char *from, const char *to)
{
    const gboolean simple = strcspn(to, " +-*/%") == strlen(to);
    GString *s = g_string_new(NULL);
    for (const char *at = text; *at;) {
        const gsize n = strspn(at, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.");
        if (n == strlen(from) && strncmp(at, from, n) == 0)
            g_string_append_printf(s, simple ? "%s" : "(%s)", to);
        else
            g_string_append_len(s, at, (gssize)MAX(n, 1));
        at += MAX(n, 1);
    }
    g_autofree char *all = g_string_free(s, FALSE);
    g_autoptr(WsExpr) e = ws_expr_parse(all, NULL);
    return e ? ws_expr_print(e) : NULL;
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
        const WsValue *c = ws_node_get(ws_design_root(F->design), WS_F_constants);
        for (guint k = 0; c->kind == WS_VALUE_MAP && k < c->n; k++)
            if (names(w->at[d], c->key[k]) && strcmp(c->key[k], w->extent[d]) != 0) {
                g_autofree char *wider = g_strdup_printf("%s + %s*%s", w->at[d], index, c->key[k]);
                propose(F, w, d, wider, more + 1 + (d + 2 == w->n ? 0 : 1));
            }
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

/* A step that writes under a condition: always, or in the first of the parts, which there is. */
static void always(WsFixer *F, const Writer *w)
{
    const WsNode *step = ws_spot(F, w->spot)->node;
    const gint up = ws_spot(F, w->spot)->up;
    g_autofree char *name = ws_step_name(step), *when = ws_field_text(step, WS_F_when);
    if (ws_step_is(F, up, WS_STEP_IF) && ws_node_n_children(ws_spot(F, up)->node, WS_F_else) == 0) {
        WsFix *fix = ws_fixer_add(F, "Do %s in both cases, outside of the choice", name);
        fix->cost += FAR;
        ws_fix_move(F, fix, w->spot, up, 1);
    }
    if (!when)
        return;
    const char *is = strstr(when, " == ");
    g_autofree char *axis = is ? g_strndup(when, (gsize)(is - when)) : NULL,
                    *first = axis ? g_strdup_printf("%s == 0", axis) : NULL;
    if (axis && ws_axis(F, axis) && strcmp(first, when) != 0) {
        WsFix *fix = ws_fixer_add(F, "Do %s only when %s", name, first);
        fix->cost += FAR - 1;
        ws_fix_set(fix, step, WS_F_when, ws_json_expr(first));
    }
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

/* --- steps of axes and loops ------------------------------------------------------------------ */
/* Does any step but the writer name it, or a name of the tile? Then it stands for more than the
 * writer's rows. */
static gboolean named_elsewhere(const WsFixer *F, const Writer *w, const char *index)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    g_autofree char *lets = tiles ? ws_field_text(tiles, WS_F_let) : NULL;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        guint n;
        const WsFieldRow *row = ws_node_rows(step->kind, &n);
        for (guint k = 0; i != w->spot && k < n; k++) {
            g_autofree char *text = row[k].kind == WS_FIELD_STEPS || step->kind == WS_STEP_FOR
                                        ? NULL
                                        : ws_field_text(step, row[k].field);
            if (ws_has_word(text, index))
                return TRUE;
        }
    }
    return ws_has_word(lets, index);
}

/* "cdiv(N, 32)" of what steps by 32, where one step writes `extent`: "cdiv(N, extent)" and the
 * coordinate. */
static WsFix *step_by(WsFixer *F, const Writer *w, guint d, const char *index, const WsExpr *count,
                      char **rounds)
{
    g_autofree char *all = count ? ws_expr_print(count) : NULL;
    if (!all || count->n_args != 2 || !w->extent[d] || !names(w->at[d], index) ||
        (count->op != WS_EXPR_DIV && !g_str_has_prefix(all, "cdiv(")) ||
        named_elsewhere(F, w, index))
        return NULL;
    g_autofree char *of = ws_expr_print(count->arg[0]), *by = ws_expr_print(count->arg[1]),
                    *text = renamed(w->at[d], by, w->extent[d]);
    if (!text || strcmp(text, w->at[d]) == 0)
        return NULL;
    *rounds = g_strdup_printf("cdiv(%s, %s)", of, w->extent[d]);
    const guint before = F->out->len;
    propose(F, w, d, text, 0);
    return F->out->len > before ? F->out->pdata[before] : NULL;
}

/* "b/H" and "b % H" of two dimensions: the axis has as many tiles as both of them together. */
static void split_axis(WsFixer *F, const Writer *w, const char *tensor, const char *axis)
{
    const WsNode *of = ws_object_named(F->design, WS_F_tensors, tensor);
    const gsize n = strlen(axis);
    for (guint d = 0; d < w->n; d++)
        for (guint e = 0; e < w->n; e++) {
            const char *by = w->at[d] + n + 1, *rest = w->at[e] + n + 3;
            g_autofree char *rows = item_text(of, WS_F_shape, d);
            if (!rows || strncmp(w->at[d], axis, n) != 0 || w->at[d][n] != '/' ||
                strncmp(w->at[e], axis, n) != 0 || strncmp(w->at[e] + n, " % ", 3) != 0 ||
                strcmp(by, rest) != 0)
                continue;
            g_autofree char *tiles = g_strdup_printf("%s*%s", rows, by);
            ws_fix_tiles_of_axis(F, axis, tiles);
        }
}

void ws_fix_own_step(WsFixer *F)
{
    const char *tensor = tensor_of(F);
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    const WsValue *axes = tiles ? ws_node_get(tiles, WS_F_axes) : NULL;
    for (gint i = 0; tensor && i < (gint)F->spot->len; i++) {
        Writer w = { 0 };
        const gboolean read =
            g_strcmp0(written(F, ws_spot(F, i)->node), tensor) == 0 && read_writer(F, i, &w);
        for (guint a = 0; read && axes && axes->kind == WS_VALUE_MAP && a < axes->n; a++) {
            split_axis(F, &w, tensor, axes->key[a]);
            for (guint d = 0; d < w.n; d++) {
                g_autofree char *rounds = NULL;
                WsFix *fix = axes->item[a].kind == WS_VALUE_EXPR
                                 ? step_by(F, &w, d, axes->key[a], axes->item[a].expr, &rounds)
                                 : NULL;
                if (fix)
                    ws_fix_set(fix, tiles, WS_F_axes,
                               ws_json_with(ws_json_of_field(tiles, WS_F_axes), axes->key[a],
                                            ws_json_expr(rounds)));
            }
        }
        for (gint up = read ? ws_spot(F, i)->up : -1; up >= 0; up = ws_spot(F, up)->up)
            for (guint d = 0; ws_step_is(F, up, WS_STEP_FOR) && d < w.n; d++) {
                const WsNode *loop = ws_spot(F, up)->node;
                g_autofree char *rounds = NULL;
                WsFix *fix =
                    step_by(F, &w, d, ws_node_name(loop), ws_node_expr(loop, WS_F_count), &rounds);
                if (fix)
                    ws_fix_set(fix, loop, WS_F_count, ws_json_expr(rounds));
            }
        writer_clear(&w);
    }
}
