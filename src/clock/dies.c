/* Dies: which tile a CTA gets where its launch deals ids to dies (`xcd` of a design). Workgroups go
 * to dies in turn. */
#include "clock/share.h"
#include "program/parts/tiles.h"
#include "program/program.h"

gint64 ws_dealt_tile(const WsProgram *p, gint64 count, gint64 id)
{
    const gint64 dies = p->tiles->xcd[0], chunk = MAX(p->tiles->xcd[1], 1);
    if (dies <= 0 || id < 0 || chunk > G_MAXINT32 || dies > G_MAXINT32)
        return id;
    const gint64 round = dies * chunk, whole = count / round * round;
    const gint64 own = id / dies;
    return id < whole ? own / chunk * round + id % dies * chunk + own % chunk : id;
}
