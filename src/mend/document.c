/* Quick-fixes of what elaboration finds: declarations, depths, registers. */
#include "mend/fixer.h"
#include "model/finding.h"

/* The constant that elaboration says is too large, and the largest value that fits. */
void ws_fix_fitting_depth(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    const char *name = F->finding->object;
    const gint64 value = F->finding->fact[WS_FACT_LARGEST];
    if (!name || value == WS_FACT_NONE)
        return;
    g_autoptr(WsDesign) changed = ws_design_with_constant(F->design, name, value);
    if (!changed)
        return;
    WsFix *fix = ws_fixer_add(F, "Set %s to %" G_GINT64_FORMAT, name, value);
    ws_fix_set(fix, root, WS_F_constants,
               ws_json_of_field(ws_design_root(changed), WS_F_constants));
}

/* Buffers that lie over each other: bytes of its own for the upper one. It takes more shared
 * memory. */
void ws_fix_own_bytes(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const WsNode *buffer = ws_node_child(root, WS_F_buffers, i);
        if (!ws_node_has(buffer, WS_F_over))
            continue;
        WsFix *fix = ws_fixer_add(F, "Give %s bytes of its own", ws_node_name(buffer));
        ws_fix_set(fix, buffer, WS_F_over, NULL);
    }
}

void ws_fix_derive_registers(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    WsFix *fix = ws_fixer_add(F, "Derive the registers of all groups");
    for (guint g = 0; g < ws_node_n_children(root, WS_F_groups); g++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, g);
        if (ws_node_has(group, WS_F_registers))
            ws_fix_set(fix, group, WS_F_registers, NULL);
    }
}

void ws_fix_derive_field(WsFixer *F)
{
    const WsNode *at = F->at >= 0 ? ws_spot(F, F->at)->node : F->object;
    if (!at)
        return;
    if (ws_node_has(at, WS_F_swizzle)) {
        WsFix *fix = ws_fixer_add(F, "Derive the swizzle of %s", ws_node_name(at));
        ws_fix_set(fix, at, WS_F_swizzle, NULL);
    }
    if (ws_node_has(at, WS_F_ahead)) {
        WsFix *fix = ws_fixer_add(F, "Run it in its own round");
        ws_fix_set(fix, at, WS_F_ahead, NULL);
    }
    const gint loop = ws_spot_loop(F, F->at);
    if (F->finding->rule == WS_RULE_T_USE && loop >= 0 && ws_node_row(at->kind, WS_F_use) &&
        !ws_node_has(at, WS_F_use)) {
        const char *k = ws_node_name(ws_spot(F, loop)->node);
        WsFix *fix = ws_fixer_add(F, "Name use %s.total", k);
        ws_fix_set(fix, at, WS_F_use, ws_json_format("%s.total", k));
    }
}

void ws_fix_declare_access(WsFixer *F)
{
    if (F->at < 0)
        return;
    const WsNode *step = ws_spot(F, F->at)->node;
    const WsRef *to = ws_node_refv(step, WS_F_to);
    const char *name =
        step->kind == WS_STEP_WRITE ? to ? to->name : NULL : ws_node_text(step, WS_F_keyword);
    const WsNode *tensor = ws_object_named(F->design, WS_F_tensors, name);
    if (!tensor)
        return;
    const gboolean gives = step->kind == WS_STEP_WRITE || step->kind == WS_STEP_STORE;
    const char *access = !gives ? "read" : ws_node_has(step, WS_F_reduce) ? "reduce" : "write";
    WsFix *fix = ws_fixer_add(F, "Declare the access %s of %s", access, name);
    /* what is written once and what is added to are two kernels */
    fix->safe = !ws_node_has(tensor, WS_F_access) || strcmp(access, "write") == 0;
    ws_fix_set(fix, tensor, WS_F_access, ws_json_text(access));
}

void ws_fix_launch_dynamic(WsFixer *F)
{
    const WsNode *tiles = ws_node_child(ws_design_root(F->design), WS_F_tiles, 0);
    if (!tiles)
        return;
    WsFix *fix = ws_fixer_add(F, "Launch with dynamic tiles");
    ws_fix_set(fix, tiles, WS_F_launch, ws_json_text("dynamic"));
}

void ws_fix_four_warps(WsFixer *F)
{
    const WsNode *group = F->finding->at ? ws_design_find(F->design, F->finding->at) : NULL;
    if (group && group->kind != WS_NODE_GROUP)
        group = F->at >= 0 ? ws_spot(F, F->at)->group : NULL;
    if (!group)
        return;
    WsFix *fix = ws_fixer_add(F, "Give %s four warps", ws_node_name(group));
    ws_fix_set(fix, group, WS_F_warps, ws_json_int(4));
}

void ws_fix_drop_suppress(WsFixer *F)
{
    const WsNode *at = F->finding->at ? ws_design_find(F->design, F->finding->at) : NULL;
    if (!at || at->kind != WS_NODE_SUPPRESS)
        return;
    WsFix *fix = ws_fixer_add(F, "Remove the suppression");
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_REMOVE, at->identity });
}
