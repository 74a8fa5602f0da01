/* New steps and objects, with what they need guessed from what there is. */
#include "edit/derive.h"
#include "edit/propose.h"
#include "model/findings.h"
#include "target/target.h"

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
    case WS_NODE_DESIGN:
    case WS_NODE_KIND_COUNT:
    case WS_NODE_SUPPRESS:
    case WS_NODE_TILES:
    default:
        return NULL;
    }
}

/* --- guessing -----------------------------------------------------------------------------------
 */

static const char *nth_name(const WsNode *owner, WsFieldId list, guint nth, const char *otherwise)
{
    const guint n = owner != NULL ? ws_node_n_children(owner, list) : 0;
    return n > 0 ? ws_node_name(ws_node_child(owner, list, MIN(nth, n - 1))) : otherwise;
}

static const char *free_buffer(const WsDesign *design)
{
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const char *name = ws_node_name(ws_node_child(root, WS_F_buffers, i));
        if (ws_edit_pipe_of(design, name) == NULL)
            return name;
    }
    return NULL;
}

typedef struct {
    const WsDesign *design;
    const WsNode *group;
    const char *name;
    const WsNode *tensor; /* that was guessed last */
    const WsNode *owner;  /* holds the list it goes into */
} Guess;

/* A coordinate for each dimension of the tensor. */
static WsJson *coordinates(const Guess *g)
{
    const guint rank = g->tensor != NULL ? ws_node_get(g->tensor, WS_F_shape)->n : 2;
    WsJson *list = ws_json_list();
    for (guint i = 0; i < rank; i++) {
        g_autofree char *at = g->tensor != NULL
                                  ? ws_propose_coordinate(g->design, g->owner, g->tensor, i, NULL)
                                  : NULL;
        ws_json_add(list, at == NULL || !strcmp(at, "0") ? ws_json_int(0) : ws_json_text(at));
    }
    return list;
}

static WsJson *first(const Guess *g)
{
    g_autofree char *text = ws_propose_first(g->design, g->owner);
    return strcmp(text, "true") == 0    ? ws_json_bool(TRUE)
           : strcmp(text, "false") == 0 ? ws_json_bool(FALSE)
                                        : ws_json_text(text);
}

static const char *guess_word(Guess *g, const char *word)
{
    const WsNode *root = ws_design_root(g->design);
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
        { "flag", "flag", WS_F_flags, 0, FALSE },
        { "value", "value", WS_F_values, 0, TRUE },
        { "counter", "counter", WS_F_counters, 0, TRUE },
    };
    if (strcmp(word, "name") == 0)
        return g->name;
    if (strcmp(word, "input") == 0 || strcmp(word, "output") == 0) {
        g->tensor = ws_propose_tensor(g->design, *word == 'o');
        return g->tensor != NULL ? ws_node_name(g->tensor) : "tensor";
    }
    if (strcmp(word, "tile") == 0) {
        const char *buffer =
            g->tensor != NULL ? ws_propose_buffer(g->design, g->owner, g->tensor) : NULL;
        return buffer != NULL ? buffer : nth_name(root, WS_F_buffers, 0, "buffer");
    }
    if (strcmp(word, "free") == 0)
        return free_buffer(g->design) != NULL ? free_buffer(g->design) : "buffer";
    for (guint i = 0; i < G_N_ELEMENTS(guess); i++)
        if (strcmp(guess[i].word, word) == 0)
            return nth_name(guess[i].of_group ? g->group : root, guess[i].list, guess[i].nth,
                            guess[i].otherwise);
    return "";
}

/* "$value = 0" with what stands for $value. */
static WsJson *fill(const char *text, gpointer data)
{
    Guess *g = data;
    if (strcmp(text, "$at") == 0)
        return coordinates(g);
    if (strcmp(text, "$first") == 0)
        return first(g);
    const char *word = strchr(text, '$');
    if (word == NULL)
        return NULL;
    const char *end = word + 1;
    while (g_ascii_isalnum(*end))
        end++;
    g_autofree char *key = g_strndup(word + 1, (gsize)(end - word - 1));
    return ws_json_format("%.*s%s%s", (int)(word - text), text, guess_word(g, key), end);
}

/* A new node of the kind. */
static WsJson *make_node(const WsDesign *design, const WsNode *owner, WsNodeKind kind)
{
    const char *stem = NULL, *from = default_json(kind, &stem);
    g_autofree char *name = stem != NULL ? ws_edit_fresh(design, stem) : NULL;
    Guess g = {
        .design = design, .group = ws_edit_group(design, owner), .name = name, .owner = owner
    };
    WsJson *json = ws_json_read(from, NULL);
    ws_json_replace(json, FALSE, fill, &g);
    return json;
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
    const char *stem;
    if (default_json(kind, &stem) == NULL)
        return ws_draft_refuse(d, "it cannot be added");
    if (owner == NULL)
        return ws_draft_refuse(d, "there is no place for it");
    guint64 node = ws_derive_step(d, kind, &spot);
    if (node == 0 && d->why == NULL)
        node = ws_draft_insert(d, spot.owner, spot.list, spot.index,
                               make_node(d->design, ws_draft_node(d, spot.owner), kind));
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
                 { WS_NODE_FLAG, WS_F_flags },       { WS_NODE_GROUP, WS_F_groups },
                 { WS_NODE_VALUE, WS_F_values },     { WS_NODE_COUNTER, WS_F_counters } };
    const WsNode *root = ws_design_root(d->design);
    if (ws_node_kind_is_step(kind))
        return ws_edit_add_at(d, kind, ws_edit_spot(d->design, at));
    if (kind == WS_NODE_PIPE && free_buffer(d->design) == NULL)
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
    WsJson *axes = ws_json_map(), *groups = ws_json_list();
    ws_json_put(axes, "t", ws_json_int(1));
    ws_json_add(groups, WS_MAKE(WS_NODE_GROUP, { WS_F_name, ws_json_text("warps") },
                                { WS_F_role, ws_json_text("worker") },
                                { WS_F_warps, ws_json_int(ws_target_at(0)->group_warps) },
                                { WS_F_body, ws_json_list() }));
    WsJson *tiles =
        WS_MAKE(WS_NODE_TILES, { WS_F_axes, axes }, { WS_F_launch, ws_json_text("persistent") });
    g_autoptr(WsFindings) findings = ws_findings_new();
    return ws_design_build(
        WS_MAKE(WS_NODE_DESIGN, { WS_F_warpstave, ws_json_int(WS_DESIGN_VERSION) },
                { WS_F_name, ws_json_text(name) },
                { WS_F_target, ws_json_text(ws_target_at(0)->name) },
                { WS_F_tensors, ws_json_list() }, { WS_F_tiles, tiles }, { WS_F_groups, groups }),
        NULL, findings);
}
