/* Mutates valid inputs by node and runs commands on them under limits. See README.md. */
#pragma once

#include <glib.h>
#include <json.h>

G_BEGIN_DECLS

/* What a mutated file is; its name in the folder of a case is "in" and the ending. */
typedef enum {
#define WS_FUZZ_KIND(id, ending, weight) FUZZ_##id,
#include "kind.def"
#undef WS_FUZZ_KIND
    FUZZ_KINDS
} FuzzKind;

/* --- mutations: `r` decides everything, so that a seed names a case --- */
extern const char *const fuzz_names[];
extern const guint fuzz_n_names;
extern const char *const fuzz_numbers[];
extern const guint fuzz_n_numbers;
/* One of the names above, a name of ten thousand bytes, or a deep expression. Caller frees. */
char *fuzz_name(GRand *r);
/* Changes some nodes of a JSON document: values, names, lists. NULL: `text` is no JSON. */
char *fuzz_tree(GRand *r, const char *text);
/* Changes some tokens of one line of text, as an expression. */
char *fuzz_expression(GRand *r, const char *text);
/* Changes some lines and tokens of a program text. */
char *fuzz_lines(GRand *r, const char *text);
/* Changes some words of a binary file in place; a trace's checksum is right afterwards. */
void fuzz_words(GRand *r, guint8 *data, gsize length, gboolean trace);

/* --- judgement --- */
#ifdef __SANITIZE_ADDRESS__ /* gcc; clang's trees are those of libFuzzer */
#define FUZZ_SANITIZED 1
#else
#define FUZZ_SANITIZED 0
#endif
enum { FUZZ_SLOWER = FUZZ_SANITIZED ? 6 : 1 }; /* what a sanitizer takes, of processor time */

typedef struct {
    gboolean json;     /* what it prints is JSON or nothing */
    gboolean lines;    /* every line of it is JSON */
    gboolean in_place; /* it may change its input */
    gboolean folder;   /* it writes the folder "out" */
    double seconds;    /* of processor time, without a sanitizer */
    gsize bytes;       /* of resident memory */
} FuzzLimits;

typedef struct {
    char *kind; /* NULL: as it should be */
    char *said; /* what it wrote to both outputs, shortened */
    int code;
    double seconds;
    gsize bytes;
} FuzzOutcome;
typedef int (*FuzzRun)(int argc, char **argv);

/* Runs a command in a child, in `folder`, whose files are its inputs; what it made is judged and
 * removed. */
FuzzOutcome fuzz_judge(const char *folder, FuzzRun run, char **argv, const FuzzLimits *limits);
void fuzz_outcome_clear(FuzzOutcome *o);
/* Removes everything in a folder. */
void fuzz_empty(const char *folder);

int warpstave_main(int argc, char **argv);

G_END_DECLS
