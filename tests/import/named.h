/* The kernels of tle/names, as tle/names.def has them. */
#pragma once

#include "import/import.h"
#include "model/design.h"
#include "program/program.h"

typedef enum { YES, VALUES, OTHER, NO } NamedAnswer;

typedef struct {
    const char *name;
    const char *base;         /* kernel of tle/names; NULL: the TLE text of the design */
    const char *const *edits; /* what brings the name into it */
    const char *design;       /* that says it; "": what was read says it; NULL: none does */
    const char *mark;         /* what stands in TLE text that has the name */
    NamedAnswer said, read, written;
} NamedRow;

/* What a kernel computes, at sizes that are no multiples of its tiles. */
typedef struct {
    const char *base;
    const char *const *edits;
    const char *reference, *sizes;
} NamedValues;

/* A kernel with one thing broken, the rule that refutes it, what stands on the line. */
typedef struct {
    const char *base;
    const char *const *edits;
    const char *rule, *line;
} NamedKin;

/* The same of what an export makes of hints. */
typedef struct {
    const char *base;
    const char *const *edits;
    const char *find, *by, *rule, *line;
} NamedMade;

extern const NamedRow named_rows[];
extern const NamedValues named_values[];
extern const NamedKin named_kin[];
extern const NamedMade named_made[];
extern const guint named_n_rows, named_n_values, named_n_kin, named_n_made;

/* The text of a kernel of tle/names with pieces replaced: "find", "replacement", … NULL. Caller
 * frees; a piece that is not there ends the test. */
char *named_kernel(const char *base, const char *const *edits);
/* The program of a design that is proved. NULL: `*why` says what hinders it (caller frees). */
WsProgram *named_program(const WsDesign *design, gboolean foreign, char **why, const char *text);
/* The program of a design in a file, if it is proved. */
WsProgram *named_program_of_file(const char *path);
/* Whether a text is read, and proved where all of it that acts is read. Caller owns what it gets;
 * `*why` must be NULL before. */
NamedAnswer named_read(const char *text, WsDesign **design, WsProgram **p, char **why);
/* The design that was read, with a reference and sizes of the test, as text. Caller frees. */
char *named_judged(const WsDesign *design, const NamedValues *v);
