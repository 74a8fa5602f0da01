/* Processes of a mesh, one for each device, of one host. Process 0 leads: it tells the others what
 * to do next, and all of them then do the same step, each for its own device. A step ends with a
 * meeting: all hear whether all have done it, what numbers they brought, and get copies of the file
 * descriptors that stand for memory. Nobody waits for a process that is gone: its socket says so.
 */
#pragma once

#include "runner/session.h"

enum { WS_LINK_PROCESSES = 16 };

typedef enum {
    WS_TELL_MEET,
    WS_TELL_CASE_OPEN, /* a: which */
    WS_TELL_CASE_CLOSE,
    WS_TELL_POISON,
    WS_TELL_LAUNCH, /* a: the build */
    WS_TELL_SYNCHRONIZE,
    WS_TELL_COLD, /* a: the build */
    WS_TELL_END,  /* a: exit status */
} WsTell;

typedef struct {
    int own, n;                    /* n 0: all devices are in this process */
    int socket[WS_LINK_PROCESSES]; /* of the leader: by process; else [0]: the leader; -1 none */
    bool broken;
} WsLink;

/* What one brings to a meeting, and what all have brought. */
typedef struct {
    int64_t number;
    double us;
    char name[64];
} WsLinkGift;

/* The supervisor of process 0: the socket at which the others come; -1 with a text. */
int ws_link_listen(const WsRunOptions *o, char *error, size_t size);
/* All processes have come, or joined; false: not within o->meet_seconds, or they do not fit. */
bool ws_link_open(WsSession *s, WsLink *l);
/* Of the leader, to all others. Does nothing in others. */
bool ws_link_tell(WsSession *s, WsLink *l, WsTell tell, int64_t a);
/* Of the others: the next step. */
bool ws_link_hear(WsSession *s, WsLink *l, WsTell *tell, int64_t *a);
/* `gift` (of l->n) has this process's own at l->own, and that of all after it. With `fd` (of l->n,
 * own at l->own) copies of those of the others. False: not `ok` here, or elsewhere, which the error
 * says. */
bool ws_link_meet(WsSession *s, WsLink *l, bool ok, WsLinkGift *gift, int *fd);
/* Another process is gone; the error says which. */
bool ws_link_broken(WsSession *s, WsLink *l);
void ws_link_close(WsLink *l);
