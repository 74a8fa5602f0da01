/* Inside src/check: what remedies look up in a program. */
#pragma once

#include "check/play/play.h"

G_BEGIN_DECLS

/* --- remedy.c: who does what on a barrier --- */
typedef gboolean (*WsOpIs)(const WsOp *op);
gboolean ws_is_feed(const WsOp *op);    /* contributes to an mbarrier */
gboolean ws_is_wait(const WsOp *op);    /* waits for one */
gboolean ws_is_arrival(const WsOp *op); /* arrives on one */
gboolean ws_is_join(const WsOp *op);    /* meets a named barrier */
gboolean ws_is_sync(const WsOp *op);    /* and waits there */
gboolean ws_is_meeting(const WsOp *op); /* comes to the cluster's barrier */
const char *ws_op_name(const WsOp *op);
const char *ws_op_agent(const WsPlay *play, const WsOp *op); /* name */
/* The use it names; NULL: it names slot and parity by hand. Caller frees. */
char *ws_use_text(const WsOp *op);
const WsTree *ws_loop_of(const WsOp *op); /* innermost, NULL none */
/* First operation of an agent (-1: of any) on a barrier; NULL. */
const WsOp *ws_first_on(const WsPlay *play, gint agent, guint barrier, WsOpIs is);
/* Has the barrier such an operation with that use? */
gboolean ws_use_is_named(const WsPlay *play, guint barrier, WsOpIs is, const char *use);
/* Barrier on which those who wait for `data` arrive when they have used it: what a ring calls
 * empty. Of several one that `agent` waits for. -1 if there is none; *by is an arrival on it. */
gint ws_room_of(const WsPlay *play, guint data, guint agent, const WsOp **by);
/* What an agent fills when it has waited for room on `room`; -1: it fills nothing. */
gint ws_data_of(const WsPlay *play, guint room, guint agent);
/* A step that stands twice in a row, or arrives more than once at a time, on the barrier; NULL. */
const WsOp *ws_doubled_on(const WsPlay *play, guint barrier, WsOpIs is);
/* The count in force is not the one that follows from the steps. Then that is the remedy: TRUE. */
gboolean ws_remedy_count(const WsPlay *play, WsFinding *f, const WsBarrier *b, guint element);
/* Both loops count and count differently: that is the remedy: TRUE. */
gboolean ws_remedy_rounds(const WsPlay *play, WsFinding *f, const WsOp *x, const WsOp *y);

/* --- remedy_role.c: sides that disagree; TRUE: that is the remedy --- */
/* What the wait is for comes only under a condition that the wait does not stand under. */
gboolean ws_remedy_condition(const WsPlay *play, WsFinding *f, const WsOp *wait);
/* It comes under a condition, and not for every use. */
gboolean ws_remedy_only_if(const WsPlay *play, WsFinding *f, const WsOp *feed);
/* It is for a round ahead, and stands in the last one, too. */
gboolean ws_remedy_ahead(const WsPlay *play, WsFinding *f, const WsOp *wait);
/* All that is filled has been waited for in another loop. */
gboolean ws_remedy_tail(const WsPlay *play, WsFinding *f, const WsOp *wait, const WsOp *feed);
/* The use is counted by a counter that tiles in turns move. */
gboolean ws_remedy_counter(const WsPlay *play, WsFinding *f, const WsOp *op);
/* The value is assigned under a condition, or later. */
gboolean ws_remedy_assigned(const WsPlay *play, WsFinding *f, const WsInst *inst, guint value);

/* --- remedy_room.c --- */
/* What `inst` reads has been overwritten by `p`: nobody waits for the room that it gives, or it
 * gives it before it has read. */
gboolean ws_remedy_overtaken(const WsPlay *play, WsFinding *f, const WsInst *inst,
                             const WsEvent *p);
/* Before it reads what the other one writes an agent syncs at a named barrier, all alone. */
gboolean ws_remedy_alone(const WsPlay *play, WsFinding *f, const WsOp *write, const WsOp *read);
/* `p` waits for room before it fills the bytes, and the agent of `inst`, which is not done with
 * them, does not arrive there. */
gboolean ws_remedy_untold(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p);
/* A contribution that no room goes with. */
void ws_remedy_unanswered(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s,
                          gint64 phase);
/* It waits in its list for the use of the barrier that it has waited for there before; what it
 * fills then has room of its own. */
gboolean ws_remedy_again(const WsPlay *play, WsFinding *f, const WsOp *wait);
/* A store of another CTA is in flight though the cluster has met. */
gboolean ws_remedy_meeting(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p);

/* --- remedy_stuck.c --- */
/* Nobody contributes to the use that is waited for. */
gboolean ws_remedy_uses(const WsPlay *play, WsFinding *f, const WsOp *wait, const WsOp *feed);

/* --- remedy_evident.c --- */
/* What the program contradicts is the cause, whatever the play has met: its remedy. */
void ws_remedy_evident(const WsPlay *play, WsFinding *f);

G_END_DECLS
