#include "import/ptx/region.h"

/* Registers per thread, where every group says its own. */
void ptx_values(WsRead *r)
{
    gboolean all_say = TRUE;
    for (guint i = 0; i < r->groups->len; i++)
        all_say &= ((WsReadGroup *)g_ptr_array_index(r->groups, i))->registers > 0;
    for (guint i = 0; i < r->groups->len && !all_say; i++)
        ((WsReadGroup *)g_ptr_array_index(r->groups, i))->registers = 0;
}
