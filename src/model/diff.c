/* Differences of two designs as edits. Each edit is applied to a running copy as it is found, so
 * that the list is right by construction; a node whose fields cannot change one by one is replaced
 * as a whole. */
#include "model/diff.h"

#include "model/diff_match.h"
#include "model/findings.h"
#include "model/internal.h"

#include <string.h>

/* Edits times objects of the design: each edit is applied to a design, which walks through it.
 * Where more would be needed, a list or an object is replaced as a whole. Some seconds. */
#define MAX_WORK  (1u << 21)
#define MIN_EDITS 64u

typedef struct {
    WsDesign *now; /* the first design after the edits found so far */
    GPtrArray *list;
    guint most; /* edits */
} Work;

static void free_difference(gpointer data)
{
    WsDifference *d = data;
    ws_edit_free(d->edit);
    g_free(d->words);
    g_free(d);
}

/* How many of b's children are not what and where they were; what was lost not counted. */
static guint changed(const WsDiffMatch *m)
{
    guint n = 0;
    for (guint j = 0; j < m->nb; j++)
        n += !m->anchor[j] || !m->same[j];
    return n;
}

/* A list that may not be empty and keeps nothing is set as one value, and one of which too much
 * differs to be told. */
static gboolean as_one_value(const Work *w, const WsDiffMatch *m, const WsFieldRow *row)
{
    guint kept = 0;
    for (guint i = 0; i < m->na; i++)
        kept += m->to_b[i] >= 0;
    if (kept == 0 && m->na > 0 && (m->nb == 0 || row->n_lo > 0))
        return TRUE;
    return m->na - kept > w->most || changed(m) > w->most;
}

/* --- edits ------------------------------------------------------------------------------------ */

/* Takes edit and words. */
static gboolean add(Work *w, char sign, WsEdit *edit, char *words)
{
    g_autofree char *own_words = words;
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *next = w->list->len < 4 * w->most ? ws_design_apply(w->now, edit, findings) : NULL;
    if (next == NULL) {
        ws_edit_free(edit);
        return FALSE;
    }
    ws_design_unref(w->now);
    w->now = next;
    WsDifference *d = g_new(WsDifference, 1);
    *d = (WsDifference){ edit, g_steal_pointer(&own_words), sign };
    g_ptr_array_add(w->list, d);
    return TRUE;
}

/* Text of a node on one line. */
static char *flat(const WsNode *node)
{
    g_autoptr(WsJson) json = ws_json_of_node(node);
    return ws_json_print(json);
}

static char *below(const char *path, const char *key, const char *segment)
{
    const gboolean root = !strcmp(path, ".");
    return g_strjoin("/", root ? key : path, root ? segment : key, root ? NULL : segment, NULL);
}

static gboolean change(Work *w, const char *path, const WsNode *a, const WsNode *b);

/* From the last to the first and the innermost outwards, so that no path shifts. */
static gboolean remove_lost(Work *w, const char *path, const WsNode *a, const WsNode *b)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(a->kind, &n);
    for (guint r = n; r-- > 0;) {
        if (rows[r].kind != WS_FIELD_NODES && rows[r].kind != WS_FIELD_STEPS)
            continue;
        g_auto(WsDiffMatch) m = ws_diff_match(a, b, rows[r].field);
        const char *key = ws_node_key(a->kind, rows[r].field);
        if (as_one_value(w, &m, &rows[r]))
            continue;
        for (guint i = m.na; i-- > 0;) {
            const WsNode *child = ws_node_child(a, rows[r].field, i);
            g_autofree char *segment = ws_node_segment(child, i);
            g_autofree char *place = below(path, key, segment);
            if (m.to_b[i] >= 0) {
                if (!remove_lost(w, place, child,
                                 ws_node_child(b, rows[r].field, (guint)m.to_b[i])))
                    return FALSE;
                continue;
            }
            g_autofree char *was = flat(child);
            if (!add(w, '-', ws_edit_new_remove(place), g_strdup_printf("%s: %s", place, was)))
                return FALSE;
        }
    }
    return TRUE;
}

/* Brings what both lists have into b's order. `order` holds indices of b, as the list stands. */
static gboolean move_all(Work *w, const char *path, const char *key, const WsNode *a,
                         WsFieldId field, const WsDiffMatch *m, GArray *order)
{
    for (guint j = 0; j < m->nb; j++) {
        if (m->to_a[j] < 0 || m->anchor[j])
            continue;
        guint from = 0, to = 0;
        while (g_array_index(order, guint, from) != j)
            from++;
        g_array_remove_index(order, from);
        /* Ascending j: whatever belongs before it stands in its place already. */
        for (guint i = 0; i < order->len; i++)
            if (g_array_index(order, guint, i) < j)
                to = i + 1;
        g_array_insert_val(order, to, j);
        if (from == to)
            continue;
        g_autofree char *segment =
            ws_node_segment(ws_node_child(a, field, (guint)m->to_a[j]), from);
        g_autofree char *place = below(path, key, segment);
        if (!add(w, '>', ws_edit_new_move(place, path, key, to),
                 g_strdup_printf("%s: place %u -> %u of its list", place, from, to)))
            return FALSE;
    }
    return TRUE;
}

static gboolean insert_new(Work *w, const char *path, const char *key, const WsNode *b,
                           WsFieldId field, const WsDiffMatch *m)
{
    for (guint j = 0; j < m->nb; j++) {
        if (m->to_a[j] >= 0)
            continue;
        const WsNode *child = ws_node_child(b, field, j);
        g_autofree char *json = flat(child);
        g_autofree char *segment = ws_node_segment(child, j);
        g_autofree char *place = below(path, key, segment);
        if (!add(w, '+', ws_edit_new_insert(path, key, j, ws_json_of_node(child)),
                 g_strdup_printf("%s: %s", place, json)))
            return FALSE;
    }
    return TRUE;
}

/* A value for a line that people read. */
static char *words_of(const WsFieldRow *row, const WsValue *value)
{
    enum { LONGEST = 4096 };
    g_autofree char *text = ws_value_print(row, value);
    return value->kind == WS_VALUE_NODES && strlen(text) > LONGEST
               ? g_strdup_printf("%u items", value->n)
               : g_steal_pointer(&text);
}

static gboolean set_field(Work *w, const char *path, const WsFieldRow *row, const WsNode *a,
                          const WsNode *b)
{
    const char *key = ws_node_key(a->kind, row->field);
    const WsValue *va = ws_node_get(a, row->field), *vb = ws_node_get(b, row->field);
    const gboolean none_a = ws_value_is_default(a->kind, row, va);
    const gboolean none_b = ws_value_is_default(a->kind, row, vb);
    if ((none_a && none_b) || ws_value_equal(va, vb))
        return TRUE;
    const char *otherwise = row->fallback != NULL ? row->fallback : "nothing";
    g_autofree char *was = none_a ? g_strdup(otherwise) : words_of(row, va);
    g_autofree char *is = none_b ? g_strdup(otherwise) : words_of(row, vb);
    char *words = g_strdup_printf("%s: %s %s -> %s", path, key, was, is);
    return add(w, '~', ws_edit_new_set(path, key, none_b ? NULL : ws_json_of_value(row, vb)),
               words);
}

static gboolean change_list(Work *w, const char *path, const WsFieldRow *row, const WsNode *a,
                            const WsNode *b)
{
    const char *key = ws_node_key(a->kind, row->field);
    g_auto(WsDiffMatch) m = ws_diff_match(a, b, row->field);
    if (as_one_value(w, &m, row))
        return set_field(w, path, row, a, b);
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < m.na; i++)
        if (m.to_b[i] >= 0)
            g_array_append_val(order, m.to_b[i]);
    if (!move_all(w, path, key, a, row->field, &m, order) ||
        !insert_new(w, path, key, b, row->field, &m))
        return FALSE;
    for (guint j = 0; j < m.nb; j++) {
        if (m.to_a[j] < 0)
            continue;
        const WsNode *old = ws_node_child(a, row->field, (guint)m.to_a[j]);
        g_autofree char *segment = ws_node_segment(old, j);
        g_autofree char *place = below(path, key, segment);
        if (!change(w, place, old, ws_node_child(b, row->field, j)))
            return FALSE;
    }
    return TRUE;
}

/* A field that holds one object: inside it where both have one. */
static gboolean change_object(Work *w, const char *path, const WsFieldRow *row, const WsNode *a,
                              const WsNode *b)
{
    if (ws_node_n_children(a, row->field) != 1 || ws_node_n_children(b, row->field) != 1)
        return set_field(w, path, row, a, b);
    const char *key = ws_node_key(a->kind, row->field);
    g_autofree char *place = !strcmp(path, ".") ? g_strdup(key) : g_strjoin("/", path, key, NULL);
    return change(w, place, ws_node_child(a, row->field, 0), ws_node_child(b, row->field, 0));
}

static gboolean change_plain(Work *w, const char *path, const WsFieldRow *row, const WsNode *a,
                             const WsNode *b)
{
    return row->kind == WS_FIELD_NODE ? change_object(w, path, row, a, b)
                                      : set_field(w, path, row, a, b);
}

/* Clears one of the fields that still differ, to be set later: names in it may stand in the way. */
static gboolean clear_one(Work *w, const char *path, const GPtrArray *left, const WsNode *a,
                          GHashTable *cleared)
{
    for (guint i = left->len; i-- > 0;) {
        const WsFieldRow *row = left->pdata[i];
        const char *key = ws_node_key(a->kind, row->field);
        if (row->required || row->kind == WS_FIELD_NODE || !ws_node_has(a, row->field) ||
            g_hash_table_contains(cleared, row))
            continue;
        if (!add(w, '~', ws_edit_new_set(path, key, NULL),
                 g_strdup_printf("%s: %s cleared, set again below", path, key)))
            continue;
        g_hash_table_add(cleared, (gpointer)row);
        return TRUE;
    }
    return FALSE;
}

/* Fields may lean on each other (rehearsal sizes on sizes): what cannot be set yet is tried again
 * once others are. */
static gboolean change_plain_fields(Work *w, const char *path, const WsNode *a, const WsNode *b)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(a->kind, &n);
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    g_autoptr(GHashTable) cleared = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < n; i++)
        if (rows[i].kind != WS_FIELD_NODES && rows[i].kind != WS_FIELD_STEPS &&
            rows[i].field != WS_F_name)
            g_ptr_array_add(left, (gpointer)&rows[i]);
    while (left->len > 0) {
        guint kept = 0;
        const guint before = left->len;
        for (guint i = 0; i < before; i++)
            if (!change_plain(w, path, left->pdata[i], a, b))
                left->pdata[kept++] = left->pdata[i];
        g_ptr_array_set_size(left, (int)kept);
        if (kept == before && !clear_one(w, path, left, a, cleared))
            return FALSE;
    }
    return TRUE;
}

static gboolean change_fields(Work *w, const char *path, const WsNode *a, const WsNode *b)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(a->kind, &n);
    gboolean ok = change_plain_fields(w, path, a, b);
    for (guint i = 0; ok && i < n; i++)
        if (rows[i].kind == WS_FIELD_NODES || rows[i].kind == WS_FIELD_STEPS)
            ok = change_list(w, path, &rows[i], a, b);
    const WsFieldRow *name = ws_node_row(a->kind, WS_F_name); /* last: it is part of the path */
    return ok && (name == NULL || set_field(w, path, name, a, b));
}

static gboolean change(Work *w, const char *path, const WsNode *a, const WsNode *b)
{
    const guint mark = w->list->len;
    g_autoptr(WsDesign) before = ws_design_ref(w->now);
    if (change_fields(w, path, a, b))
        return TRUE;
    g_ptr_array_set_size(w->list, (int)mark);
    ws_design_unref(w->now);
    w->now = g_steal_pointer(&before);
    g_autofree char *was = flat(a), *is = flat(b);
    return add(w, '~', ws_edit_new_replace(path, ws_json_of_node(b)),
               g_strdup_printf("%s: %s -> %s", path, was, is));
}

static guint nodes(const WsNode *node)
{
    guint n = 1, n_rows;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n_rows);
    for (guint i = 0; i < n_rows; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            n += nodes(ws_node_child(node, rows[i].field, c));
    return n;
}

static Work compare(const WsDesign *a, const WsDesign *b)
{
    const WsNode *root_a = ws_design_root(a), *root_b = ws_design_root(b);
    Work w = { ws_design_ref(a), g_ptr_array_new_with_free_func(free_difference),
               MAX(MIN_EDITS, MAX_WORK / (nodes(root_a) + nodes(root_b))) };
    if (!remove_lost(&w, ".", root_a, root_b) || !change_fields(&w, ".", root_a, root_b)) {
        ws_design_unref(w.now);
        w.now = ws_design_ref(a);
        g_ptr_array_set_size(w.list, 0);
        add(&w, '~', ws_edit_new_replace(".", ws_json_of_node(root_b)),
            g_strdup(".: another design"));
    }
    return w;
}

GPtrArray *ws_design_diff(const WsDesign *a, const WsDesign *b)
{
    Work w = compare(a, b);
    ws_design_unref(w.now);
    return w.list;
}

WsDesign *ws_design_diff_result(const WsDesign *a, const WsDesign *b)
{
    Work w = compare(a, b);
    g_ptr_array_unref(w.list);
    return w.now;
}
