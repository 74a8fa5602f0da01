/* Applies edits: copies the path from the root to what changes and shares everything else. What is
 * new is read and checked by the code that reads documents. */
#include "base/phrase.h"
#include "model/edit.h"
#include "model/internal.h"

#include <string.h>

static WsTextPlace nowhere(void)
{
    return (WsTextPlace){ 0, 0 };
}

/* `said` is a phrase, which is taken. */
static void misfit(WsReader *r, const char *remedy, char *said)
{
    g_autofree char *message = said;
    WsFinding *f = ws_reader_report(r, WS_RULE_S_EDIT, nowhere(), "%s", message);
    if (f != NULL)
        ws_finding_set_remedy(f, "%s", remedy);
}

static GArray *find_trail(WsReader *r, const WsDesign *design, const char *path)
{
    GArray *trail = ws_design_trail(design, strcmp(path, ".") == 0 ? "" : path);
    if (trail == NULL)
        misfit(r, WS_WORD("use a path such as groups/mma/body/0, or an id"),
               ws_phrase("%s is not in the design", path));
    return trail;
}

static WsTrail *level(const GArray *trail, guint i)
{
    return &g_array_index(trail, WsTrail, i);
}

static const WsNode *last_node(const GArray *trail)
{
    return level(trail, trail->len - 1)->node;
}

static const WsFieldRow *find_row(WsReader *r, const WsNode *node, const char *key)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        if (strcmp(ws_node_key(node->kind, rows[i].field), key) == 0)
            return &rows[i];
    misfit(r, WS_WORD("use a field of that kind of object"),
           ws_phrase("%s has no field %s", ws_node_kind_keyword(node->kind), key));
    return NULL;
}

/* The root of a tree in which `node` (taken) stands in the place the trail ends at. */
static WsNode *rebuild(const GArray *trail, WsNode *node)
{
    for (guint i = trail->len - 1; i > 0; i--) {
        WsNode *owner = ws_node_copy(level(trail, i - 1)->node);
        WsValue *slot = ws_node_slot(owner, level(trail, i)->field);
        ws_node_unref(slot->node[level(trail, i)->index]);
        slot->node[level(trail, i)->index] = node;
        node = owner;
    }
    return node;
}

/* How deep lists, objects and bodies are where the trail ends, for the limits of what is read. */
static void set_depth(WsReader *r, const GArray *trail)
{
    r->depth = 1;
    for (guint i = 1; i < trail->len; i++) {
        const WsFieldRow *row =
            ws_node_row(level(trail, i - 1)->node->kind, level(trail, i)->field);
        r->depth += row->kind == WS_FIELD_NODE ? 1 : 2;
        r->nesting += row->kind == WS_FIELD_STEPS;
    }
}

static WsNode *apply_set(WsReader *r, const GArray *trail, const WsEdit *edit)
{
    const WsFieldRow *row = find_row(r, last_node(trail), edit->key);
    if (row == NULL)
        return NULL;
    set_depth(r, trail);
    r->nesting += row->kind == WS_FIELD_STEPS;
    WsValue value = { 0 };
    WsNode *node = NULL;
    const gsize mark = ws_reader_enter(r, edit->key);
    if (ws_json_check(edit->value, r) &&
        ws_read_field(r, last_node(trail)->kind, row, edit->value, &value)) {
        node = ws_node_copy(last_node(trail));
        WsValue *slot = ws_node_slot(node, row->field);
        ws_value_clear(slot);
        *slot = value;
    }
    ws_reader_leave(r, mark);
    return node;
}

static WsNode *apply_unset(WsReader *r, const GArray *trail, const WsEdit *edit)
{
    const WsFieldRow *row = find_row(r, last_node(trail), edit->key);
    if (row == NULL)
        return NULL;
    if (row->required) {
        WsFinding *f =
            ws_reader_report(r, WS_RULE_S_MISSING, nowhere(), "\"%s\" is required", edit->key);
        ws_finding_set_remedy(f, "set it to another value instead");
        return NULL;
    }
    WsNode *node = ws_node_copy(last_node(trail));
    ws_value_clear(ws_node_slot(node, row->field));
    return node;
}

/* The list row that takes a child of `kind`, or NULL after reporting. */
static const WsFieldRow *list_row(WsReader *r, const WsNode *owner, const char *key)
{
    const WsFieldRow *row = find_row(r, owner, key);
    if (row == NULL || row->kind == WS_FIELD_STEPS || row->kind == WS_FIELD_NODES)
        return row;
    misfit(r, WS_WORD("use a list of objects or steps, such as body or buffers"),
           ws_phrase("%s has no list %s", ws_node_kind_keyword(owner->kind), key));
    return NULL;
}

static gboolean takes_kind(WsReader *r, const WsFieldRow *row, const char *key, WsNodeKind kind)
{
    const gboolean ok =
        row->kind == WS_FIELD_STEPS
            ? ws_node_kind_is_step(kind) &&
                  (row->words == NULL || ws_word_in(row->words, ws_node_kind_keyword(kind)))
            : (WsNodeKind)row->of == kind;
    if (!ok)
        misfit(r, WS_WORD("choose a list of its kind"),
               ws_phrase("%s cannot hold a %s", key, ws_node_kind_keyword(kind)));
    return ok;
}

/* A copy of `owner` with `child` (taken) in the list at `index`; NULL if the index is too high. */
static WsNode *with_child(WsReader *r, const WsNode *owner, const WsFieldRow *row, guint index,
                          WsNode *child)
{
    const guint n = ws_node_n_children(owner, row->field);
    if (index > n) {
        misfit(r, WS_WORD("count from 0; the length of the list appends"),
               ws_phrase("%s has fewer items than that", ws_node_key(owner->kind, row->field)));
        ws_node_unref(child);
        return NULL;
    }
    WsNode *node = ws_node_copy(owner);
    WsValue *slot = ws_node_slot(node, row->field);
    slot->kind = WS_VALUE_NODES;
    slot->node = g_renew(WsNode *, slot->node, n + 1);
    memmove(slot->node + index + 1, slot->node + index, (n - index) * sizeof *slot->node);
    slot->node[index] = child;
    slot->n = n + 1;
    return node;
}

static WsNode *without_child(const WsNode *owner, WsFieldId field, guint index)
{
    WsNode *node = ws_node_copy(owner);
    WsValue *slot = ws_node_slot(node, field);
    ws_node_unref(slot->node[index]);
    memmove(slot->node + index, slot->node + index + 1, (slot->n - index - 1) * sizeof *slot->node);
    slot->n--;
    return node;
}

static WsNode *read_child(WsReader *r, const WsJson *json, WsNodeKind kind)
{
    return ws_json_check(json, r) ? ws_read_node(r, json, kind) : NULL;
}

static WsNode *apply_insert(WsReader *r, const GArray *trail, const WsEdit *edit)
{
    const WsNode *owner = last_node(trail);
    const WsFieldRow *row = list_row(r, owner, edit->key);
    if (row == NULL)
        return NULL;
    const gboolean steps = row->kind == WS_FIELD_STEPS;
    set_depth(r, trail);
    r->depth++;
    r->nesting += steps;
    const gsize mark = ws_reader_enter(r, edit->key);
    ws_reader_enter_index(r, edit->index);
    WsNode *child = read_child(r, edit->value, steps ? WS_NODE_KIND_COUNT : (WsNodeKind)row->of);
    ws_reader_leave(r, mark);
    if (child == NULL)
        return NULL;
    if (takes_kind(r, row, edit->key, child->kind))
        return with_child(r, owner, row, edit->index, child);
    ws_node_unref(child);
    return NULL;
}

static gboolean in_list(WsReader *r, const GArray *trail)
{
    const guint n = trail->len;
    if (n > 1 && ws_node_row(level(trail, n - 2)->node->kind, level(trail, n - 1)->field)->kind !=
                     WS_FIELD_NODE)
        return TRUE;
    misfit(r, WS_WORD("choose a step or an object of a list"),
           ws_phrase("%s is not part of a list", ws_node_kind_keyword(last_node(trail)->kind)));
    return FALSE;
}

/* Takes the node at the trail's end out; returns the new root. */
static WsNode *take_out(const GArray *trail)
{
    const guint n = trail->len;
    WsNode *owner = without_child(level(trail, n - 2)->node, level(trail, n - 1)->field,
                                  level(trail, n - 1)->index);
    g_autoptr(GArray) shorter = g_array_copy((GArray *)trail);
    g_array_set_size(shorter, n - 1);
    return rebuild(shorter, owner);
}

/* The target is looked up before, its list index counts after the node has left its old place. */
static WsNode *apply_move(WsReader *r, const WsDesign *design, const GArray *trail,
                          const WsEdit *edit)
{
    g_autoptr(GArray) target = find_trail(r, design, edit->to);
    if (target == NULL || !in_list(r, trail))
        return NULL;
    const WsNode *moved = last_node(trail);
    for (guint i = 0; i < target->len; i++) {
        if (level(target, i)->node->identity != moved->identity)
            continue;
        misfit(r, WS_WORD("move it to a place outside"),
               ws_phrase("%s cannot be moved into itself", ws_node_kind_keyword(moved->kind)));
        return NULL;
    }
    const WsFieldRow *row = list_row(r, last_node(target), edit->key);
    if (row == NULL || !takes_kind(r, row, edit->key, moved->kind))
        return NULL;
    g_autoptr(WsDesign) rest = ws_design_new(take_out(trail));
    g_autofree char *path = ws_design_path(rest, last_node(target));
    g_autoptr(GArray) now = ws_design_trail(rest, path);
    WsNode *owner = with_child(r, last_node(now), row, edit->index, ws_node_ref(moved));
    return owner != NULL ? rebuild(now, owner) : NULL;
}

static WsNode *apply_replace(WsReader *r, const GArray *trail, const WsEdit *edit)
{
    const WsNode *old = last_node(trail);
    set_depth(r, trail);
    r->depth--; /* the node itself is read again */
    const gboolean step = ws_node_kind_is_step(old->kind);
    WsNode *node = read_child(r, edit->value, step ? WS_NODE_KIND_COUNT : old->kind);
    if (node != NULL)
        node->identity = old->identity;
    return node;
}

/* --- the whole document after an edit --------------------------------------------------------- */

static void check_limits(WsReader *r, const WsNode *node, guint nesting, guint *n_steps)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (ws_node_kind_is_step(node->kind) && ++*n_steps == WS_DESIGN_MAX_STEPS + 1)
        ws_reader_report(r, WS_RULE_S_LIMIT, nowhere(), "more than %d steps", WS_DESIGN_MAX_STEPS);
    for (guint i = 0; i < n; i++) {
        if (node->value[i].kind == WS_VALUE_NONE) /* most fields, of every node after every edit */
            continue;
        const guint inner = nesting + (rows[i].kind == WS_FIELD_STEPS);
        const guint n_children = ws_node_n_children(node, rows[i].field);
        if (inner > WS_DESIGN_MAX_NESTING && n_children > 0) {
            ws_reader_report(r, WS_RULE_S_LIMIT, nowhere(), "bodies nested deeper than %d",
                             WS_DESIGN_MAX_NESTING);
            return;
        }
        if ((rows[i].kind == WS_FIELD_NODES || rows[i].kind == WS_FIELD_STEPS) &&
            ws_node_has(node, rows[i].field) &&
            (n_children < rows[i].n_lo || n_children > rows[i].n_hi))
            ws_reader_report(r, WS_RULE_S_VALUE, nowhere(), "%s has %u items",
                             ws_node_key(node->kind, rows[i].field), n_children);
        for (guint c = 0; c < n_children; c++)
            check_limits(r, ws_node_child(node, rows[i].field, c), inner, n_steps);
    }
}

static WsNode *apply_at(WsReader *r, const WsDesign *design, const GArray *trail,
                        const WsEdit *edit)
{
    WsNode *node = NULL;
    switch (edit->kind) {
    case WS_EDIT_SET:
        node = apply_set(r, trail, edit);
        break;
    case WS_EDIT_UNSET:
        node = apply_unset(r, trail, edit);
        break;
    case WS_EDIT_INSERT:
        node = apply_insert(r, trail, edit);
        break;
    case WS_EDIT_REPLACE:
        node = apply_replace(r, trail, edit);
        break;
    case WS_EDIT_REMOVE:
        return in_list(r, trail) ? take_out(trail) : NULL;
    case WS_EDIT_MOVE:
        return apply_move(r, design, trail, edit);
    }
    if (node != NULL && !ws_check_together(r, nowhere(), node))
        g_clear_pointer(&node, ws_node_unref);
    return node != NULL ? rebuild(trail, node) : NULL;
}

static void check_whole(WsReader *r, const WsNode *root)
{
    guint n_steps = 0;
    check_limits(r, root, 0, &n_steps);
    ws_check_document(r, root);
}

static WsDesign *apply(const WsDesign *design, const WsEdit *edit, gboolean whole,
                       WsFindings *findings)
{
    WsReader r;
    ws_reader_init(&r, findings, FALSE);
    WsNode *root = NULL;
    g_autoptr(GArray) trail = find_trail(&r, design, edit->path);
    if (trail != NULL) {
        if (strcmp(edit->path, ".") != 0)
            g_string_assign(r.path, edit->path);
        root = apply_at(&r, design, trail, edit);
        g_string_truncate(r.path, 0);
    }
    if (root != NULL && whole)
        check_whole(&r, root);
    const gboolean ok = root != NULL && r.n_errors == 0;
    ws_reader_clear(&r);
    if (!ok) {
        ws_node_unref(root);
        return NULL;
    }
    WsDesign *edited = ws_design_new(root);
    ws_design_set_file(edited, ws_design_file(design));
    return edited;
}

WsDesign *ws_design_apply(const WsDesign *design, const WsEdit *edit, WsFindings *findings)
{
    return apply(design, edit, TRUE, findings);
}

WsDesign *ws_design_apply_part(const WsDesign *design, const WsEdit *edit, WsFindings *findings)
{
    return apply(design, edit, FALSE, findings);
}

gboolean ws_design_is_whole(const WsDesign *design, WsFindings *findings)
{
    WsReader r;
    ws_reader_init(&r, findings, FALSE);
    check_whole(&r, ws_design_root(design));
    const gboolean ok = r.n_errors == 0;
    ws_reader_clear(&r);
    return ok;
}
