/* Kernels without partitions that are written as more, or other, warps than the source has: what
 * products ask for (two_groups.c, few_rows.c). Before rings are asked for. */
#pragma once

#include "import/recognise.h"

G_BEGIN_DECLS

/* A step of which it is known what it is when two warp groups do it, or more rows. */
gboolean ws_source_alone(const WsReadStep *s);
/* Products of 16 or 32 rows become such of 64, of which the first ones are written. */
void ws_source_few_rows(WsRead *r);
/* Two warp groups where there were eight warps, or a product of more than 256 columns. */
void ws_source_two_groups(WsRead *r);

G_END_DECLS
