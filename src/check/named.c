#include "check/named.h"

#include "program/parts/barrier.h"
#include "program/program.h"
#include "target/target.h"

guint ws_named_ids(const WsProgram *p)
{
    return p->hardware->sync.named;
}

guint ws_named_id(const WsProgram *p, const WsBarrier *b, guint element)
{
    return (guint)CLAMP(b->hw_id ? b->hw_id[element] : 0, 0, (gint)ws_named_ids(p) - 1);
}
