/* Statements of the functions that run on the GPU, as lines of their file. */
#pragma once

#include "import/edits.h"
#include "import/python/text/python.h"

G_BEGIN_DECLS

typedef enum {
    PY_ROLE_NONE,
    PY_ROLE_WAIT,
    PY_ROLE_ARRIVE,
    PY_ROLE_EXPECT,
    PY_ROLE_INIT,
    PY_ROLE_TURN,   /* of a pipe: acquire, commit, wait, release */
    PY_ROLE_NAMED,  /* a named barrier, or a function of the file that synchronises */
    PY_ROLE_RETIRE, /* waits for what is in flight, fences */
    PY_ROLE_ACCESS, /* copies, products, loads and stores of shared memory */
    PY_ROLE_COUNT,  /* sets or changes a number: `phase ^= 1` */
    PY_ROLE_LOOP,
    PY_ROLE_BRANCH,
} PyRole;

typedef struct {
    guint first, head, last; /* lines: where it begins, ends its head, ends */
    guint indent;            /* columns */
    guint function;          /* number of the function, from 0 */
    guint block;             /* number of the block it stands in */
    gint outer;              /* the spot around it, or -1 */
    PyRole role;
    const WsPyNode *node;
    const WsPyNode *call; /* what makes its role, or NULL */
    char *text;           /* its head, without the indentation of the first line */
} PySpot;

/* Owns everything; nodes are the tree's. */
typedef struct {
    WsPython *python;
    WsImportFrom from;
    char **line;
    guint n_lines, n_blocks;
    GArray *spot;                 /* PySpot, in the order of the text */
    GHashTable *barrier, *buffer; /* char*: names in the text */
    GHashTable *counter;          /* char*: names that hold counted numbers */
} PySpots;

PySpots *py_spots_new(const char *text, gsize length, const char *file, WsImportFrom from,
                      GError **error);
void py_spots_free(PySpots *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PySpots, py_spots_free)
const PySpot *py_spot(const PySpots *s, guint i);
/* The nearest one before (-1) or behind (1) it in its block; NULL. */
const PySpot *py_spot_beside(const PySpots *s, const PySpot *at, gint direction);

/* A word of a statement. */
typedef struct {
    guint start, length; /* bytes */
    enum { PY_WORD_NAME, PY_WORD_NUMBER, PY_WORD_SIGN } kind;
} PyWord;
/* Names, integers and signs of a text, without strings and comments. Caller unrefs. */
GArray *py_words(const char *text);
gboolean py_word_is(const char *text, const PyWord *w, const char *what);
/* The text without word..last, `put` in their place. Caller frees. */
char *py_words_replaced(const char *text, const PyWord *word, const PyWord *last, const char *put);
/* Arguments of the call whose bracket opens at word `open`: first and last word of each (guint
 * pairs); keywords are part of them. *close: the word that closes it. Caller unrefs. */
GArray *py_word_arguments(const char *text, const GArray *words, guint open, guint *close);
/* The word that opens the arguments of the call `s` is about; 0: none. */
guint py_word_opens(const PySpot *s, const GArray *words);

/* Where edits go: ranked by how near they are to what is known of the mistake. */
typedef struct {
    const PySpots *spots;
    const WsImportHints *hints;
    GPtrArray *edits; /* WsImportEdit* */
    GHashTable *seen; /* char*: hunks of edits that were made */
    guint most;       /* edits that are taken */
} PyEdits;
gboolean py_edits_full(const PyEdits *e); /* no more are taken */
/* How far a line is from the lines of the hints, at most 40; 0 where there are none. */
guint py_edits_distance(const PyEdits *e, guint line);
gboolean py_edits_named(const PyEdits *e, const char *text); /* holds a name of the hints */
/* The head of a statement becomes `text` (taken). `cost`: 10 for each doubt. */
void py_edits_change(PyEdits *e, const PySpot *s, guint cost, char *text, const char *title);
/* Lines first … first + count - 1 become `text` (taken), and at `to` lines are put in (taken). */
void py_edits_lines(PyEdits *e, guint cost, guint first, guint count, char *text,
                    const char *title);
void py_edits_moved(PyEdits *e, guint cost, const PySpot *s, char *left, guint to, char *text,
                    const char *title);
/* Lines of a spot with another indentation. Caller frees. */
char *py_spot_indented(const PySpots *s, const PySpot *spot, guint indent);

void py_edits_inside(PyEdits *e); /* change.c */
void py_edits_moves(PyEdits *e);  /* move.c */
void py_edits_added(PyEdits *e);  /* insert.c */

G_END_DECLS
