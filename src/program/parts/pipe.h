/* Pipes: buffers that are filled and freed together. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

struct WsPipeReads {
    char *group;
    guint n_fields, *field; /* buffers */
};
struct WsPipe {
    char *name;
    char *path; /* "pipes/p" */
    guint capacity;
    gboolean one_shot;
    gint full, empty;         /* its barriers; empty -1 if one_shot */
    guint n_fields, *field;   /* buffers */
    gint told;                /* buffer that says of each slot whether it is the end; -1 none */
    gint writer;              /* agent that fills it, the last one if there are several; -1 none */
    guint n_readers, *reader; /* agents that wait for it, in the order of their operations */
    guint n_reads;
    WsPipeReads *reads; /* groups that touch some of the fields alone, where the design says so */
};

G_END_DECLS
