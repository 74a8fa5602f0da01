/* Replicas of a group as one piece of code. */
#pragma once

#include "codegen/nvptx/emit.h"

G_BEGIN_DECLS

/* What the role switch made of a span of warp groups: `head` ends in the branch to `role`, which
 * `mine` decides (NULL: always). `agent`: the only one of the span, or -1. */
typedef struct {
    LLVMBasicBlockRef head, role;
    LLVMValueRef mine;
    guint end; /* first warp group behind the span */
    gint agent;
} WsRoleCode;

/* Whether its replicas run one code here: not in builds that watch waits, hold agents to a witness
 * or sleep at random, where what is added names the agent, nor in what recorded CTAs run. */
gboolean ws_replicas_joined(const WsEmit *e, const WsAgent *a);
/* Where they do, the longest of their codes runs for all, and what differs comes from the number of
 * the replica; an error if that cannot be. All roles end at `exit`. */
void ws_replicas_join(WsEmit *e, WsRoleCode *role, guint n, LLVMBasicBlockRef exit);

G_END_DECLS
