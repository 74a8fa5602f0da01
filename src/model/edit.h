/* The parts of an edit, for edit.c (text) and apply.c. */
#pragma once

#include "model/internal.h"

G_BEGIN_DECLS

typedef enum {
    WS_EDIT_SET,
    WS_EDIT_UNSET,
    WS_EDIT_INSERT,
    WS_EDIT_REMOVE,
    WS_EDIT_MOVE,
    WS_EDIT_REPLACE,
} WsEditKind;

struct WsEdit {
    WsEditKind kind;
    char *path; /* "." is the root */
    char *to;
    char *key;
    guint index;
    WsJson *value;
};

G_END_DECLS
