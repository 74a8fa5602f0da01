/* Edits of a kernel's own text that may repair it: small changes of what synchronises, the likely
 * ones first. Nothing is known of an edit but that the text still parses where it did; whoever
 * offers one reads and checks the edited text first.
 *
 * A WsImportEdit owns its texts; lines are 1-based lines of the text it was made for. */
#pragma once

#include "import/import.h"

G_BEGIN_DECLS

typedef struct {
    guint first, count; /* so many lines from `first` on are replaced; 0: inserted before it */
    char *text;         /* whole lines with their ends; "" deletes */
} WsImportHunk;

typedef struct {
    char *title; /* "the parity of the wait is the other one" */
    guint line;  /* where it begins */
    guint rank;  /* lower is likelier */
    guint n;
    WsImportHunk hunk[2]; /* in the order of the text, apart from each other */
} WsImportEdit;
void ws_import_edit_free(WsImportEdit *edit);

/* What is known of the mistake; lines and names may be empty. Borrowed. */
typedef struct {
    const guint *line; /* where the findings point */
    guint n_lines;
    char *const *name;    /* of barriers and buffers that they name; NULL ends */
    const gint64 *number; /* of bytes that they say should be expected */
    guint n_numbers;
} WsImportHints;

/* Functions of more statements are not edited, and no more edits are made before they are ranked.
 */
#define WS_IMPORT_EDIT_STATEMENTS 2000
#define WS_IMPORT_EDITS           50000
/* Edits of a Gluon, TLE or TLX file (WsImportEdit*, at most `most`, likeliest first; the caller
 * unrefs). NULL with WS_IMPORT_ERROR (another language, too long) or WS_PYTHON_ERROR. */
GPtrArray *ws_import_edits(const char *text, gsize length, const char *file, WsImportFrom language,
                           const WsImportHints *hints, guint most, GError **error);
/* The text with the edit made. Caller frees. */
char *ws_import_edited(const char *text, const WsImportEdit *edit);
/* The unified difference of two texts, as `patch -p0` takes it ("--- FILE", "+++ FILE", three lines
 * around each change). "" if they are the same. Caller frees. */
char *ws_import_difference(const char *before, const char *after, const char *file);

G_END_DECLS
