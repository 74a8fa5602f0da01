/* What the design of a program says of its loops in the hint form (LANGUAGE section 28), for
 * languages that have such loops. The program's steps are what it means; nothing but writers may
 * read this. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    char *name, *place, *executor; /* executor: name of a group */
    gint64 stage, order;
} WsStagedGroup;

typedef struct {
    char *name, *place;
    char *home; /* group that holds it */
    gint64 stages;
    guint n;
    WsStagedGroup *group; /* as they are drawn */
} WsStagedLoop;

/* WsStagedLoop*; NULL: the design has none. Caller unrefs. */
GPtrArray *ws_staged_loops(const WsProgram *p);
/* The one that an operation's step stands in, and which group of it; NULL: none. Steps that are
 * derived for a group stand in it. */
const WsStagedLoop *ws_staged_loop(const GPtrArray *loops, const char *step, guint *group);
/* The same design with its hints taken as the groups are drawn, one after the other in one executor
 * (model/hint.h): what a text that says the hint computes. NULL: it is none, or has no such form.
 * Transfer full. */
WsProgram *ws_program_in_order(const WsProgram *p);

G_END_DECLS
