/* Inside src/check: the weakest assumption under which a refuted design is right. */
#pragma once

#include "check/proof/bits/bits.h"

G_BEGIN_DECLS

/* "fails only for K = 0", "fails only for an odd number of tiles of a CTA"; NULL: none was found
 * within `work` (WsProof.work of all tries). `names` are those of the alarm. Caller frees. */
char *ws_weakest(const WsProgram *p, const GPtrArray *names, const WsBitOptions *options,
                 guint64 work);

G_END_DECLS
