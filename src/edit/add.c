/* New steps and objects, with what they need guessed from what there is. */
#include "edit/edit.h"
#include "model/text.h"

#include <string.h>

static const char *default_json(WsNodeKind kind, const char **stem)
{
    switch (kind) {
#define WS_DEFAULT(id, name, json)                                                                 \
    case WS_##id:                                                                                  \
        *stem = name;                                                                              \
        return json;
#include "edit/default.def"
#undef WS_DEFAULT
    default:
        return NULL;
    }
}

/* --- guessing -----------------------------------------------------------------------------------
 */

static const WsNode *tensor_for(const WsDesign *design, gboolean written)
{
    const WsNode *root = ws_design_root(design), *any = NULL;
    for (guint i = 0; i < ws_node_n_children(root, WS_F_tensors); i++) {
        const WsNode *t = ws_node_child(root, WS_F_tensors, i);
        const char *access = ws_node_text(t, WS_F_access);
        any = any != NULL ? any : t;
        if ((access != NULL && strcmp(access, "read") != 0) == written)
            return t;
    }
    return any;
}

static const char *nth_name(const WsNode *owner, WsFieldId list, guint nth, const char *otherwise)
{
    const guint n = owner != NULL ? ws_node_n_children(owner, list) : 0;
    return n > 0 ? ws_node_name(ws_node_child(owner, list, MIN(nth, n - 1))) : otherwise;
}

static gboolean in_a_pipe(const WsNode *root, const char *buffer)
{
    for (guint i = 0; i < ws_node_n_children(root, WS_F_pipes); i++) {
        const WsValue *fields = ws_node_get(ws_node_child(root, WS_F_pipes, i), WS_F_fields);
        for (guint k = 0; k < fields->n; k++)
            if (strcmp(fields->item[k].text, buffer) == 0)
                return TRUE;
    }
    return FALSE;
}

static const char *free_buffer(const WsNode *root)
{
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const char *name = ws_node_name(ws_node_child(root, WS_F_buffers, i));
        if (!in_a_pipe(root, name))
            return name;
    }
    return NULL;
}

/* Coordinates 0 for each dimension of the tensor. */
static void append_zeros(GString *s, const WsNode *tensor)
{
    const guint rank = tensor != NULL ? ws_node_get(tensor, WS_F_shape)->n : 2;
    for (guint i = 0; i < rank; i++)
        g_string_append(s, i > 0 ? ",0" : "0");
}

static void append_guess(GString *s, const WsDesign *design, const WsNode *group, const char *word,
                         const char *name, const WsNode **tensor)
{
    const WsNode *root = ws_design_root(design);
    if (strcmp(word, "name") == 0) {
        g_string_append(s, name);
    } else if (strcmp(word, "input") == 0 || strcmp(word, "output") == 0) {
        *tensor = tensor_for(design, *word == 'o');
        g_string_append(s, *tensor != NULL ? ws_node_name(*tensor) : "tensor");
    } else if (strcmp(word, "at") == 0) {
        append_zeros(s, *tensor);
    } else if (strcmp(word, "free") == 0) {
        g_string_append(s, free_buffer(root) != NULL ? free_buffer(root) : "buffer");
    } else {
        static const struct {
            const char *word, *otherwise;
            WsFieldId list;
            guint nth;
            gboolean of_group;
        } guess[] = {
            { "buffer", "buffer", WS_F_buffers, 0, FALSE },
            { "buffer2", "buffer", WS_F_buffers, 1, FALSE },
            { "barrier", "barrier", WS_F_barriers, 0, FALSE },
            { "pipe", "pipe", WS_F_pipes, 0, FALSE },
            { "value", "value", WS_F_values, 0, TRUE },
            { "counter", "counter", WS_F_counters, 0, TRUE },
        };
        for (guint i = 0; i < G_N_ELEMENTS(guess); i++)
            if (strcmp(guess[i].word, word) == 0)
                g_string_append(s, nth_name(guess[i].of_group ? group : root, guess[i].list,
                                            guess[i].nth, guess[i].otherwise));
    }
}

/* Text of a new node of the kind. Caller frees. */
static char *make_json(const WsDesign *design, const WsNode *group, WsNodeKind kind)
{
    const char *stem = NULL, *from = default_json(kind, &stem);
    g_autofree char *name = stem != NULL ? ws_edit_fresh(design, stem) : NULL;
    const WsNode *tensor = NULL;
    GString *s = g_string_new(NULL);
    for (const char *c = from; *c != '\0';) {
        if (*c != '$') {
            g_string_append_c(s, *c++);
            continue;
        }
        const char *end = c + 1;
        while (g_ascii_isalnum(*end))
            end++;
        g_autofree char *word = g_strndup(c + 1, (gsize)(end - c - 1));
        append_guess(s, design, group, word, name, &tensor);
        c = end;
    }
    return g_string_free(s, FALSE);
}

/* --- where --------------------------------------------------------------------------------------
 */

WsEditSpot ws_edit_spot(const WsDesign *design, const WsNode *at)
{
    const WsNode *root = ws_design_root(design);
    const guint n_groups = ws_node_n_children(root, WS_F_groups);
    if (at == NULL || (!ws_node_kind_is_step(at->kind) && at->kind != WS_NODE_GROUP)) {
        const WsNode *group = at != NULL ? ws_edit_group(design, at) : NULL;
        at = group != NULL ? group : ws_node_child(root, WS_F_groups, n_groups - 1);
    }
    const WsFieldId inner = ws_edit_list_field(at);
    if (inner != WS_F_COUNT && (at->kind == WS_NODE_GROUP || ws_node_n_children(at, inner) == 0))
        return (WsEditSpot){ at->identity, inner, ws_node_n_children(at, inner) };
    WsEditSpot spot = { 0 };
    const WsNode *owner = ws_design_owner(design, at, &spot.list, &spot.index);
    spot.owner = owner->identity;
    spot.index++;
    return spot;
}

gboolean ws_edit_add_at(WsDraft *d, WsNodeKind kind, WsEditSpot spot)
{
    const WsNode *owner = ws_draft_node(d, spot.owner);
    if (owner == NULL)
        return ws_draft_refuse(d, "there is no place for it");
    g_autofree char *json = make_json(d->design, ws_edit_group(d->design, owner), kind);
    const guint64 node =
        ws_draft_insert(d, spot.owner, ws_node_key(owner->kind, spot.list), spot.index, json);
    if (node == 0)
        return FALSE;
    g_autofree char *label = ws_edit_label(ws_draft_node(d, node));
    ws_draft_name(d, "Add %s", label);
    ws_draft_touch(d, node);
    return TRUE;
}

gboolean ws_edit_add(WsDraft *d, WsNodeKind kind, const WsNode *at)
{
    static const struct {
        WsNodeKind kind;
        WsFieldId list;
    } home[] = { { WS_NODE_TENSOR, WS_F_tensors },   { WS_NODE_BUFFER, WS_F_buffers },
                 { WS_NODE_BARRIER, WS_F_barriers }, { WS_NODE_PIPE, WS_F_pipes },
                 { WS_NODE_GROUP, WS_F_groups },     { WS_NODE_VALUE, WS_F_values },
                 { WS_NODE_COUNTER, WS_F_counters } };
    const WsNode *root = ws_design_root(d->design);
    if (ws_node_kind_is_step(kind))
        return ws_edit_add_at(d, kind, ws_edit_spot(d->design, at));
    if (kind == WS_NODE_PIPE && free_buffer(root) == NULL)
        return ws_draft_refuse(d, "a pipe carries buffers; add a buffer first");
    for (guint i = 0; i < G_N_ELEMENTS(home); i++) {
        if (home[i].kind != kind)
            continue;
        const gboolean local = kind == WS_NODE_VALUE || kind == WS_NODE_COUNTER;
        const WsNode *owner = local && at != NULL ? ws_edit_group(d->design, at) : root;
        if (local && (at == NULL || owner == NULL)) {
            const guint n = ws_node_n_children(root, WS_F_groups);
            owner = ws_node_child(root, WS_F_groups, n - 1);
        }
        const WsEditSpot spot = { owner->identity, home[i].list,
                                  ws_node_n_children(owner, home[i].list) };
        return ws_edit_add_at(d, kind, spot);
    }
    return ws_draft_refuse(d, "it cannot be added");
}

WsDesign *ws_edit_empty(const char *name)
{
    g_autofree char *title = ws_text_quote(name);
    g_autofree char *text = g_strdup_printf(
        "{\"warpstave\":1,\"name\":%s,\"target\":\"sm_90a\",\"tensors\":[],"
        "\"tiles\":{\"axes\":{\"t\":1},\"launch\":\"persistent\"},"
        "\"groups\":[{\"name\":\"warps\",\"role\":\"worker\",\"warps\":4,\"body\":[]}]}",
        title);
    g_autoptr(WsFindings) findings = ws_findings_new();
    return ws_design_parse(text, strlen(text), NULL, findings);
}
