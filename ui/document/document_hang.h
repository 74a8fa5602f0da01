/* Where a kernel hung: what a bundle's results say of the agents that stood still. */
#pragma once

#include "launch/collect.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct {
    char *state;   /* of the case: "hung" */
    char *seen;    /* whether it is what a witness tells, in words; NULL */
    GArray *stuck; /* WsCollectedStuck, borrowed from `of` */
    WsCollected *of;
} WsHang;

/* Reads the results of the bundle in that folder, and opens the bundle's design if it is another
 * one than is open. FALSE, and the document as it was: they cannot be read. */
gboolean ws_document_open_hang(WsDocument *d, GFile *folder, GError **error);
/* NULL: none, or the design has changed since. Gone with the next design that is opened. */
const WsHang *ws_document_hang(WsDocument *d);
/* "mma.0 waits for full, slot 2: …". Caller frees. */
char *ws_hang_text(const WsHang *hang, guint stuck);
/* In a few words, for the score: "full, slot 2, parity 1". Caller frees. */
char *ws_hang_label(const WsHang *hang, guint stuck);
/* Folder of a results.json, or a folder with one; NULL if it is none. Transfer full. */
GFile *ws_hang_folder(GFile *file);

G_END_DECLS
