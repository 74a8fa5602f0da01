#include "program/elaborate/elab.h"
#include "program/program.h"

#include <string.h>

/* Devices and flags (LANGUAGE section 27). The number of this device is a size that the launch
 * gives, another one on each device: so everything that is said of sizes is said of every device.
 */

void ws_elab_devices(WsElab *E)
{
    const WsValue *map = ws_node_get(E->root, WS_F_devices);
    const guint n = map->kind == WS_VALUE_MAP ? map->n : 0;
    if (n == 0)
        return;
    if (n > 1)
        ws_elab_error(E, WS_RULE_L_LENS, "devices", "Number the devices along one axis.",
                      "a mesh of %u axes: not supported by elaborate", n);
    const char *at = ws_arena_printf(E->arena, "devices/%s", map->key[0]);
    WsElabSymbol *symbol = ws_elab_declare(E, E->names, WS_SYMBOL_SIZE, map->key[0], at);
    symbol->var = E->rank_var = ws_elab_var(E, WS_VAR_SIZE, map->key[0], -1);
    E->p->mesh = ws_arena_new0(E->arena, WsMesh, 1);
    E->p->mesh->name = ws_arena_strdup(E->arena, map->key[0]);
    E->p->mesh->rank = symbol->var;
}

/* The launch gives each device a number below their count. */
static void assume_below(WsElab *E, const WsMesh *mesh)
{
    WsProgram *p = E->p;
    WsExpr **assume = ws_arena_new0(E->arena, WsExpr *, p->n_assume + 1);
    char **text = ws_arena_new0(E->arena, char *, p->n_assume + 1);
    for (guint i = 0; i < p->n_assume; i++)
        assume[i] = p->assume[i], text[i] = p->assume_text[i];
    assume[p->n_assume] =
        ws_elab_op(E, WS_EXPR_LT, ws_elab_var_expr(E, mesh->rank), mesh->devices, "devices");
    text[p->n_assume] = (char *)ws_elab_text(E, assume[p->n_assume]);
    p->assume = assume;
    p->assume_text = text;
    p->n_assume++;
}

static void flag(WsElab *E, const WsNode *node, WsFlag *f)
{
    const guint flags = WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA;
    gint64 known;
    f->name = ws_arena_strdup(E->arena, ws_node_name(node));
    const char *at = ws_arena_printf(E->arena, "flags/%s", f->name);
    f->is_array = ws_node_has(node, WS_F_array);
    f->array = f->is_array ? ws_elab_resolve(E, ws_elab_field_expr(E, node, WS_F_array), flags, at)
                           : ws_elab_int(E, 1);
    f->per_launch = ws_elab_resolve(E, ws_elab_field_expr(E, node, WS_F_per_launch), flags, at);
    if (ws_elab_is_int(f->array, &known) && known < 1)
        ws_elab_error(E, WS_RULE_T_RANGE, at, NULL, "%s has no element", f->name);
    if (ws_elab_is_int(f->per_launch, &known) && known < 1)
        ws_elab_error(E, WS_RULE_T_RANGE, at, NULL, "a launch adds at least 1 to %s", f->name);
}

void ws_elab_mesh(WsElab *E)
{
    WsProgram *p = E->p;
    const guint n = ws_node_n_children(E->root, WS_F_flags);
    if (!p->mesh) {
        if (n > 0)
            ws_elab_note(E, WS_RULE_L_DEVICES, "flags", "Say `devices`, or drop the flags.",
                         "flags are of the devices of a mesh, and the design has one device");
        return;
    }
    if (p->cluster > 1)
        ws_elab_error(E, WS_RULE_L_LENS, "cluster", "Use clusters of one CTA.",
                      "clusters of %u CTAs on a mesh of devices: not supported by elaborate",
                      p->cluster);
    if (p->tiles &&
        ws_elab_field_is(E, ws_node_child(E->root, WS_F_tiles, 0), WS_F_launch, "dynamic"))
        ws_elab_error(E, WS_RULE_L_LENS, "tiles", "Use a persistent launch.",
                      "dynamic tiles on a mesh of devices: not supported by elaborate");
    WsMesh *mesh = p->mesh;
    const WsValue *map = ws_node_get(E->root, WS_F_devices);
    gint64 known;
    mesh->devices = ws_elab_resolve(E, ws_elab_value_expr(E, &map->item[0]),
                                    WS_RESOLVE_NO_TILE | WS_RESOLVE_NO_CTA,
                                    ws_arena_printf(E->arena, "devices/%s", mesh->name));
    if (ws_elab_is_int(mesh->devices, &known) && known < 1)
        ws_elab_error(E, WS_RULE_T_RANGE, "devices", NULL, "a mesh has at least one device");
    assume_below(E, mesh);
    mesh->flag = ws_arena_new0(E->arena, WsFlag, n);
    for (mesh->n_flags = 0; mesh->n_flags < n; mesh->n_flags++)
        flag(E, ws_node_child(E->root, WS_F_flags, mesh->n_flags), &mesh->flag[mesh->n_flags]);
}
