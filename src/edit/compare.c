#include "edit/compare.h"

#include "edit/edit.h"
#include "model/diff.h"

#include <string.h>

/* Where a node stands: what is needed to say whether it moved. */
typedef struct {
    const WsNode *node, *owner;
    WsFieldId list;
    guint index;
} Place;

typedef struct {
    WsCompare *c;
    GHashTable *in_a, *in_b; /* identity -> Place */
    GHashTable *a_of;        /* identity in b -> identity in a */
    GHashTable *b_of;        /* and back */
} Work;

static void free_row(gpointer data)
{
    WsCompareRow *r = data;
    g_free(r->path_a);
    g_free(r->path_b);
    g_free(r->what);
    g_free(r->where);
    g_free(r->was);
    g_free(r->is);
    g_free(r);
}

static gboolean holds_nodes(const WsFieldRow *row)
{
    return row->kind == WS_FIELD_NODES || row->kind == WS_FIELD_STEPS;
}

static void put(GHashTable *in, const Place *place)
{
    guint64 *key = g_memdup2(&place->node->identity, sizeof(guint64));
    g_hash_table_insert(in, key, g_memdup2(place, sizeof *place));
}

static void index_nodes(GHashTable *in, const WsNode *node)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < ws_node_n_children(node, rows[i].field); k++) {
            const Place place = { ws_node_child(node, rows[i].field, k), node, rows[i].field, k };
            put(in, &place);
            index_nodes(in, place.node);
        }
}

static const Place *place_of(GHashTable *in, guint64 identity)
{
    return g_hash_table_lookup(in, &identity);
}

/* --- which belongs to which ---------------------------------------------------------------------
 */

static void pair(Work *w, guint64 a, guint64 b)
{
    g_hash_table_insert(w->a_of, g_memdup2(&b, sizeof b), g_memdup2(&a, sizeof a));
    g_hash_table_insert(w->b_of, g_memdup2(&a, sizeof a), g_memdup2(&b, sizeof b));
}

/* `like` is laid out as `b` and has the identities of the first design. */
static void pair_all(Work *w, const WsNode *like, const WsNode *b)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(b->kind, &n);
    const WsNode *root = ws_design_root(w->c->a);
    if (like->kind != b->kind)
        return;
    if (place_of(w->in_a, like->identity) || like->identity == root->identity)
        pair(w, like->identity, b->identity);
    for (guint i = 0; i < n; i++) {
        const guint most =
            MIN(ws_node_n_children(like, rows[i].field), ws_node_n_children(b, rows[i].field));
        for (guint k = 0; k < most; k++)
            pair_all(w, ws_node_child(like, rows[i].field, k), ws_node_child(b, rows[i].field, k));
    }
}

static void pair_by_identity(Work *w)
{
    GHashTableIter iter;
    gpointer key, value;
    pair(w, ws_design_root(w->c->a)->identity, ws_design_root(w->c->b)->identity);
    g_hash_table_iter_init(&iter, w->in_b);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const Place *a = g_hash_table_lookup(w->in_a, key);
        if (a && a->node->kind == ((const Place *)value)->node->kind)
            pair(w, a->node->identity, a->node->identity);
    }
}

static guint64 other(GHashTable *map, guint64 identity)
{
    const guint64 *found = g_hash_table_lookup(map, &identity);
    return found ? *found : 0;
}

/* --- what became of a node -----------------------------------------------------------------------
 */

/* What an import says of its text names lines ("before lines 47, 50 and 52"): where they stand is
 * not what is said. */
static gboolean same_but_for_lines(WsFieldId field, const char *a, const char *b)
{
    if (field != WS_F_granted && field != WS_F_unread)
        return FALSE;
    g_autoptr(GRegex) lines = g_regex_new("\\blines? [0-9]+((, | and |-)[0-9]+)*", 0, 0, NULL);
    g_autofree char *x = g_regex_replace_literal(lines, a, -1, 0, "lines", 0, NULL);
    g_autofree char *y = g_regex_replace_literal(lines, b, -1, 0, "lines", 0, NULL);
    return !g_strcmp0(x, y);
}

/* Plain fields that differ, as "depth 3; ahead 1" of each design. */
static void differing_fields(const WsNode *a, const WsNode *b, GString *was, GString *is)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(a->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *va = ws_node_get(a, rows[i].field), *vb = ws_node_get(b, rows[i].field);
        /* that a step moved in the text it was read from is no difference */
        if (holds_nodes(&rows[i]) || rows[i].kind == WS_FIELD_NODE || rows[i].field == WS_F_source)
            continue;
        g_autofree char *ta = ws_value_print(&rows[i], va), *tb = ws_value_print(&rows[i], vb);
        const char *otherwise = rows[i].fallback ? rows[i].fallback : "\xe2\x80\x93";
        const char *xa = va->kind == WS_VALUE_NONE ? otherwise : ta;
        const char *xb = vb->kind == WS_VALUE_NONE ? otherwise : tb;
        if (!g_strcmp0(xa, xb) || same_but_for_lines(rows[i].field, xa, xb))
            continue;
        const char *key = ws_node_key(a->kind, rows[i].field);
        g_string_append_printf(was, "%s%s %s", was->len ? "; " : "", key, xa);
        g_string_append_printf(is, "%s%s %s", is->len ? "; " : "", key, xb);
    }
}

/* Members of a list that both designs have, in the order of the second, that are not in the longest
 * run which both have in the same order: those were moved. */
static void find_moved(Work *w, const WsNode *owner, WsFieldId field, GHashTable *moved)
{
    const guint n = ws_node_n_children(owner, field);
    const guint64 home = other(w->a_of, owner->identity);
    g_autofree guint *best = g_new0(guint, n + 1);
    g_autofree gint *before = g_new(gint, n + 1), *at = g_new(gint, n + 1);
    gint last = -1;
    for (guint i = 0; i < n; i++) {
        const Place *a =
            place_of(w->in_a, other(w->a_of, ws_node_child(owner, field, i)->identity));
        at[i] = a && a->owner->identity == home && a->list == field ? (gint)a->index : -1;
        before[i] = -1;
        best[i] = at[i] >= 0;
        for (guint k = 0; at[i] >= 0 && k < i; k++)
            if (at[k] >= 0 && at[k] < at[i] && best[k] + 1 > best[i]) {
                best[i] = best[k] + 1;
                before[i] = (gint)k;
            }
        if (at[i] >= 0 && (last < 0 || best[i] > best[last]))
            last = (gint)i;
    }
    for (; last >= 0; last = before[last])
        at[last] = -1; /* stands where it stood */
    for (guint i = 0; i < n; i++) {
        const WsNode *child = ws_node_child(owner, field, i);
        const gboolean came =
            !home ? FALSE
                  : at[i] < 0 && other(w->a_of, child->identity) &&
                        place_of(w->in_a, other(w->a_of, child->identity))->owner->identity != home;
        if (at[i] >= 0 || came)
            g_hash_table_add(moved, (gpointer)child);
    }
}

static char *group_of(const WsDesign *design, const WsNode *node)
{
    const WsNode *group = ws_edit_group(design, node);
    return g_strdup(group && group != node && ws_node_name(group) ? ws_node_name(group) : "");
}

static char *place_text(const WsDesign *design, const WsNode *node, guint index)
{
    g_autofree char *group = group_of(design, node);
    return *group ? g_strdup_printf("%s, %u", group, index + 1) : g_strdup_printf("%u", index + 1);
}

static void note(GHashTable *sign, const char *path, char what)
{
    g_hash_table_insert(sign, g_strdup(path), GINT_TO_POINTER(what));
}

/* Every step below an object that came or went. */
static void note_below(const WsDesign *design, GHashTable *sign, const WsNode *node, char what)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < ws_node_n_children(node, rows[i].field); k++) {
            const WsNode *child = ws_node_child(node, rows[i].field, k);
            g_autofree char *path = ws_design_path(design, child);
            if (!g_hash_table_contains(sign, path))
                note(sign, path, what);
            note_below(design, sign, child, what);
        }
}

/* The text of a node on one line, short. */
static char *brief(const WsNode *node)
{
    g_autofree char *text = ws_node_print(node, 0);
    GString *s = g_string_new(NULL);
    gboolean space = FALSE;
    for (const char *c = text; *c && s->len < 160; c++) {
        const gboolean blank = g_ascii_isspace(*c);
        if (!(blank && space))
            g_string_append_c(s, blank ? ' ' : *c);
        space = blank;
    }
    if (s->len >= 160) {
        while (s->len && !g_utf8_validate(s->str, (gssize)s->len, NULL))
            g_string_truncate(s, s->len - 1);
        g_string_append(s, "\xe2\x80\xa6");
    }
    return g_string_free(s, FALSE);
}

static void add_row(Work *w, char sign, const WsNode *a, const WsNode *b, char *was, char *is)
{
    WsCompareRow *r = g_new0(WsCompareRow, 1);
    const WsNode *node = b ? b : a;
    const WsDesign *design = b ? w->c->b : w->c->a;
    r->sign = sign;
    r->path_a = a ? ws_design_path(w->c->a, a) : NULL;
    r->path_b = b ? ws_design_path(w->c->b, b) : NULL;
    r->what = node == ws_design_root(design) ? g_strdup("") : ws_edit_label(node);
    r->where = group_of(design, node);
    r->was = was;
    r->is = is;
    r->step = ws_node_kind_is_step(node->kind);
    g_ptr_array_add(w->c->row, r);
    if (r->path_a)
        note(w->c->sign_a, r->path_a, sign);
    if (r->path_b)
        note(w->c->sign_b, r->path_b, sign);
}

static void compare_nodes(Work *w, const WsNode *a, const WsNode *b, gboolean moved)
{
    g_autoptr(GString) was = g_string_new(NULL), is = g_string_new(NULL);
    differing_fields(a, b, was, is);
    const gboolean changed = was->len > 0;
    if (moved) {
        const Place *pa = place_of(w->in_a, a->identity), *pb = place_of(w->in_b, b->identity);
        g_autofree char *ta = place_text(w->c->a, a, pa->index);
        g_autofree char *tb = place_text(w->c->b, b, pb->index);
        g_string_append_printf(was, "%splace %s", was->len ? "; " : "", ta);
        g_string_append_printf(is, "%splace %s", is->len ? "; " : "", tb);
    }
    if (changed || moved)
        add_row(w, moved ? '>' : '~', a, b, g_strdup(was->str), g_strdup(is->str));
}

static void walk_b(Work *w, const WsNode *b)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(b->kind, &n);
    for (guint i = 0; i < n; i++) {
        g_autoptr(GHashTable) moved = g_hash_table_new(NULL, NULL);
        find_moved(w, b, rows[i].field, moved);
        for (guint k = 0; k < ws_node_n_children(b, rows[i].field); k++) {
            const WsNode *child = ws_node_child(b, rows[i].field, k);
            const Place *a = place_of(w->in_a, other(w->a_of, child->identity));
            if (!a) {
                add_row(w, '+', NULL, child, g_strdup(""), brief(child));
                note_below(w->c->b, w->c->sign_b, child, '+');
            } else {
                compare_nodes(w, a->node, child, g_hash_table_contains(moved, child));
            }
            walk_b(w, child);
        }
    }
}

/* What is under something that was added as a whole is no row of its own. */
static void drop_nested(Work *w)
{
    for (guint i = 0; i < w->c->row->len;) {
        const WsCompareRow *r = w->c->row->pdata[i];
        const WsNode *node = r->sign == '+' ? ws_design_find(w->c->b, r->path_b) : NULL;
        const WsNode *owner = node ? ws_design_owner(w->c->b, node, NULL, NULL) : NULL;
        if (owner && owner != ws_design_root(w->c->b) && !other(w->a_of, owner->identity))
            g_ptr_array_remove_index(w->c->row, i);
        else
            i++;
    }
}

static void walk_a(Work *w, const WsNode *a)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(a->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < ws_node_n_children(a, rows[i].field); k++) {
            const WsNode *child = ws_node_child(a, rows[i].field, k);
            if (other(w->b_of, child->identity)) {
                walk_a(w, child);
                continue;
            }
            add_row(w, '-', child, NULL, brief(child), g_strdup(""));
            note_below(w->c->a, w->c->sign_a, child, '-');
        }
}

static void name_partners(Work *w)
{
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, w->in_b);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const Place *b = value;
        const Place *a = place_of(w->in_a, other(w->a_of, b->node->identity));
        if (!a || !ws_node_kind_is_step(b->node->kind))
            continue;
        char *in_a = ws_design_path(w->c->a, a->node), *in_b = ws_design_path(w->c->b, b->node);
        g_hash_table_insert(w->c->to_a, in_b, in_a);
        g_hash_table_insert(w->c->to_b, g_strdup(in_a), g_strdup(in_b));
    }
}

static GHashTable *texts(GDestroyNotify value)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, value);
}

static GHashTable *identities(void)
{
    return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

WsCompare *ws_compare_new(const WsDesign *a, const WsDesign *b)
{
    WsCompare *c = g_new0(WsCompare, 1);
    c->a = ws_design_ref(a);
    c->b = ws_design_ref(b);
    c->row = g_ptr_array_new_with_free_func(free_row);
    c->sign_a = texts(NULL);
    c->sign_b = texts(NULL);
    c->to_a = texts(g_free);
    c->to_b = texts(g_free);
    Work w = { c, identities(), identities(), identities(), identities() };
    const WsNode *root_a = ws_design_root(a), *root_b = ws_design_root(b);
    index_nodes(w.in_a, root_a);
    index_nodes(w.in_b, root_b);
    if (root_a->identity == root_b->identity) {
        pair_by_identity(&w);
    } else {
        g_autoptr(WsDesign) like = ws_design_diff_result(a, b);
        pair_all(&w, ws_design_root(like), root_b);
    }
    if (other(w.a_of, root_b->identity))
        compare_nodes(&w, root_a, root_b, FALSE);
    walk_b(&w, root_b);
    drop_nested(&w);
    walk_a(&w, root_a);
    name_partners(&w);
    g_hash_table_destroy(w.in_a);
    g_hash_table_destroy(w.in_b);
    g_hash_table_destroy(w.a_of);
    g_hash_table_destroy(w.b_of);
    return c;
}

void ws_compare_free(WsCompare *c)
{
    if (!c)
        return;
    ws_design_unref(c->a);
    ws_design_unref(c->b);
    g_ptr_array_unref(c->row);
    g_hash_table_destroy(c->sign_a);
    g_hash_table_destroy(c->sign_b);
    g_hash_table_destroy(c->to_a);
    g_hash_table_destroy(c->to_b);
    g_free(c);
}

char ws_compare_sign(const WsCompare *c, const char *path, gboolean in_b)
{
    return path ? (char)GPOINTER_TO_INT(g_hash_table_lookup(in_b ? c->sign_b : c->sign_a, path))
                : 0;
}

const char *ws_compare_partner(const WsCompare *c, const char *path, gboolean in_b)
{
    return path ? g_hash_table_lookup(in_b ? c->to_a : c->to_b, path) : NULL;
}
