/* Questions to the tables of a core (core.h). */
#include "target/core.h"

#include <string.h>

gint ws_core_space(const WsTargetCore *core, const char *name)
{
    for (guint i = 0; name && i < core->n_spaces; i++)
        if (strcmp(core->space[i].name, name) == 0)
            return (gint)i;
    return -1;
}

gint ws_core_unit(const WsTargetCore *core, const char *name)
{
    for (guint i = 0; name && i < core->n_units; i++)
        if (strcmp(core->unit[i].name, name) == 0)
            return (gint)i;
    return -1;
}

const WsTargetMove *ws_core_move(const WsTargetCore *core, gint from, gint to)
{
    for (guint i = 0; i < core->n_moves; i++)
        if (core->move[i].from == from && core->move[i].to == to)
            return &core->move[i];
    return NULL;
}

gboolean ws_core_has_flags(const WsTargetCore *core, guint from, guint to)
{
    for (guint i = 0; i < core->n_flags; i++)
        if (core->flags[i].from == from && core->flags[i].to == to)
            return TRUE;
    return FALSE;
}

const char *ws_core_space_name(const WsTargetCore *core, gint space)
{
    return space >= 0 && (guint)space < core->n_spaces ? core->space[space].name : "a tensor";
}
