/* Import: a kernel written in another language -> a design that `check` can judge. Only text is
 * read; nothing of the file is ever executed. Every step of the design carries in its `source`
 * the line it comes from, and in its `note` what stands there; findings are moved to those lines.
 * What cannot be read becomes a `raw` step with its source lines, and is listed.
 *
 * A WsImport owns its design and its list. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef enum {
#define WS_IMPORT_FROM(id, ...) WS_IMPORT_##id,
#include "import/from.def"
#undef WS_IMPORT_FROM
    WS_IMPORT_FROM_COUNT
} WsImportFrom;
/* No language is read beyond so many bytes; some end before. */
#define WS_IMPORT_MAX_BYTES (8 << 20)
WsImportFrom ws_import_from(const char *text); /* WS_IMPORT_FROM_COUNT if there is none */
const char *ws_import_from_text(WsImportFrom from);
const char *ws_import_from_mark(WsImportFrom from); /* in texts of this language alone; or NULL */
extern const char *const ws_import_names;           /* "gluon|ptx|…": all of them */
const char *ws_import_from_help(WsImportFrom from); /* what is read of the language */
/* The language of a file, by its suffix and, where two share one, by what the text imports (NULL:
 * by the suffix alone). WS_IMPORT_FROM_COUNT: it is none that is imported. */
WsImportFrom ws_import_guess(const char *file, const char *text);

typedef enum {
    WS_IMPORT_ERROR_READ,    /* the text is not of that language */
    WS_IMPORT_ERROR_NOTHING, /* nothing that could be a pipeline stands in it */
} WsImportError;
#define WS_IMPORT_ERROR ws_import_error_quark()
GQuark ws_import_error_quark(void);

/* What was not understood. */
typedef struct {
    guint line, column, end_line;
    char *what;         /* "the value of `x`" */
    char *source;       /* the lines */
    gboolean harmless;  /* only what is computed, or where it lies in global memory, is not known */
    gboolean all;       /* it may touch anything */
    char *group;        /* whose lanes it may hold back or order; NULL: everybody's */
    GPtrArray *objects; /* char*: barriers and buffers that it may touch; NULL none */
} WsUnread;

/* Shared by ws_import_ref(); nobody changes it once it is made. */
typedef struct {
    gint others; /* owners besides the first */
    char *file;
    WsDesign *design;
    char *kernel;       /* its name in the file, or NULL */
    GPtrArray *unread;  /* WsUnread*, in the order of the text */
    GPtrArray *granted; /* char*: what the reading takes for granted of the kernel and its launch;
                           the design says it, too, with `given` */
    GPtrArray *open;    /* char*: sizes of which the host makes values that were not followed: some
                           they may never have */
    gboolean launched;  /* the file launches it, with a grid that was read */
    gboolean parity_may_help; /* read `by_parity`, what stands in the way may not */
    GHashTable
        *partial;      /* lines of accesses under a mask: they touch some of what the design says */
    GHashTable *added; /* char*: places and statements of what the reader computes in addition */
    GHashTable *made;  /* char*: buffers and barriers that the kernel leaves to its compiler */
    GHashTable *near;  /* char*: groups and objects that something unread can reach; NULL: all */
    char *given; /* values of a call that it was read with ("causal = False"); NULL: for all */
} WsImport;

/* How a file is read; all may be NULL. */
typedef struct {
    const char *kernel; /* its name, as ws_import_kernels() gives it; NULL: the first */
    char **define;      /* "NAME=VALUE": parameters and constants of the module */
    char **assume;      /* conditions on sizes, as a design assumes them */
    const char *folder; /* of the file: what a Python text imports from is looked for there; NULL:
                           nowhere */
    char **modules;     /* more such folders */
    gboolean by_parity; /* which use of a barrier is meant is not worked out: what the hardware does
                           with slot and parity is all that waits and arrivals say */
    const gint *cancel; /* set to 1 by another thread: reading ends soon with an error */
    gint *line;         /* set to the line that is being read: for another thread to look at */
    gboolean named; /* PTX: what is asked of a tile is a name, of which nothing else is known: fewer
                       states; a proof is one, a refutation may be of tiles that there are not */
} WsImportOptions;

/* Names of the kernels in the text, in its order (char*, the caller unrefs). NULL: it cannot be
 * read. */
GPtrArray *ws_import_kernels(const char *text, gsize length, const char *file, WsImportFrom from,
                             GError **error);

/* `file` names the text in errors ("FILE:LINE:COLUMN: …"), notes and the design. NULL with
 * WS_PYTHON_ERROR or WS_IMPORT_ERROR. */
WsImport *ws_import_text(const char *text, gsize length, const char *file, WsImportFrom from,
                         GError **error);
WsImport *ws_import_text_as(const char *text, gsize length, const char *file, WsImportFrom from,
                            const WsImportOptions *options, GError **error);
WsImport *ws_import_ref(WsImport *import);
void ws_import_free(WsImport *import); /* the last owner frees it */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsImport, ws_import_free)

/* The place of an imported node, its `source`: TRUE and line, column and last line (may be NULL).
 */
gboolean ws_import_place(const WsNode *node, guint *line, guint *column, guint *last);
/* The line of a step that the reader added and `f` is about: a copy of a value, a step that a hint
 * stands for, or one on what the compiler makes. The kernel has none such, so that it goes wrong
 * there for nothing. 0: it is about none. */
guint ws_import_added(const WsImport *import, const WsFinding *f);
/* Moves findings from the lines of the design to those of the source. */
void ws_import_locate(const WsDesign *design, WsFindings *findings);

/* Why no verdict on what was read is one on the kernel: the first thing that was not read and may
 * synchronise or write ("line 42: the call of `f`"). NULL: all of it was read. Caller frees. */
char *ws_import_gap(const WsImport *import);
guint ws_import_gap_line(const WsImport *import); /* 0: none */
/* Whether an error holds for the kernel, whatever it does where it was not read: it is of the
 * protocol, and none of its groups and objects meets those of an unread statement, directly or
 * through others. */
gboolean ws_import_stands(const WsFinding *f, gconstpointer import);

G_END_DECLS
