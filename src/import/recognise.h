/* A program as it is being read from another language: what every front end (Python dialects, PTX)
 * fills in and write.c turns into a design. Steps keep the lines they were read from; barriers keep
 * the index and the parity that the source tests, and only at the end is it decided how they are
 * said in a design: a `use` where index and parity agree on one, else the overrides `slot` and
 * `phase`, so that what the source does wrong stays wrong.
 *
 * A WsRead owns everything; expressions, texts and steps are borrowed from it. */
#pragma once

#include "expr/expr.h"
#include "import/import.h"

G_BEGIN_DECLS

typedef enum {
#define WS_READ_STEP(id, ...) WS_READ_##id,
#include "import/read_step.def"
#undef WS_READ_STEP
} WsReadKind;

/* Columns of read_step.def. */
typedef enum {
    WS_READ_FORM_OWN,
    WS_READ_FORM_SIGNAL,
    WS_READ_FORM_MOVE,
    WS_READ_FORM_WORD,
    WS_READ_FORM_NUMBER,
    WS_READ_FORM_SUM,
    WS_READ_FORM_TILES,
} WsReadForm;
typedef enum {
    WS_READ_PLACES_NONE,
    WS_READ_PLACES_BUFFER,
    WS_READ_PLACES_A_B,
    WS_READ_PLACES_A_BUFFER,
} WsReadPlaces;
typedef enum { WS_READ_LOST_KEPT, WS_READ_LOST_OPAQUE, WS_READ_LOST_OFF } WsReadLost;
typedef enum { WS_READ_LEFT_YES, WS_READ_LEFT_NO, WS_READ_LEFT_LANE, WS_READ_LEFT_OWN } WsReadLeft;

typedef struct {
    WsReadForm form;
    const char *keyword, *key;
    WsReadPlaces places;
    WsReadLost lost;
    WsReadLeft left;
} WsReadRow;

const WsReadRow *ws_read_row(WsReadKind kind);

/* A place in a ring as the source picks it. */
typedef struct {
    gint object;         /* buffer or barrier; -1 none; with `in_value` a value */
    const WsExpr *index; /* which of its copies; NULL: it has one, or the source gives none */
    const WsExpr *use;   /* the running number, where the source says it (pipes); else NULL */
    const char *views;   /* ".rows(0, 64)", "" */
    gboolean transposed, in_value;
} WsPlace;

/* What a name in the author's text stands for: a buffer, a tensor or an integer. */
typedef struct {
    const char *name;
    WsPlace place; /* object -1: none */
    gint tensor;   /* -1 none */
    const WsExpr *e;
    gboolean out;
} WsReadOperand;

typedef struct WsReadStep WsReadStep;
struct WsReadStep {
    WsReadKind kind;
    guint line, column, end_line;
    guint number; /* in the order in which the source was walked, from 1 */
    gboolean off; /* not written: turned on or off while the source is read */
    WsPlace barrier, buffer, a, b;
    const WsExpr *parity;
    gint tensor, value;
    guint n_coord;
    const WsExpr *coord[5];
    const WsExpr *e; /* condition, count, increment, value of `let`; MMA: first, NULL false */
    const char *name, *text;
    const WsExpr *cta;  /* ARRIVE, COPY, READ: in that CTA of the cluster; NULL its own */
    guint ctas;         /* LOAD: multicast to this mask of CTAs; ARRIVE: in them; G_MAXUINT: all */
    gint64 ahead;       /* rounds that it runs early */
    gint64 n, stride;   /* FOR over tiles: from and step */
    gboolean flag, all; /* ARRIVE: flag = by all threads; FOR: all = unroll full; MMA: flag = open,
                                       STORE: all = open;
                                       WRITE, STORE: flag = adds to the tensor */
    const char
        *reduce; /* WRITE: what it does with what is there, atomically; NULL it replaces it */
    gint where;  /* WRITE, READ: 1 + the value that says which elements of the view; 0 none */
    gint64 rows; /* WRITE: to a tensor, of the first ones alone; 0: of all */
    gint expected, old; /* WRITE: 1 + the value of what has to be there, that gets what was; 0 */
    gboolean own;       /* WAIT: for the load before it, on a barrier that nothing else uses */
    const WsExpr *when; /* predicate, NULL always */
    gboolean masked;    /* WRITE, READ: of some of the elements */
    gboolean implied;   /* SYNC, FENCE: no word of the source, a compiler puts it there */
    gboolean added;     /* COMPUTE: neither the source nor a compiler has it: the reader copies a
                           value to say which one a name means */
    guint parts; /* bits: barriers of the source that it waits for or signals, as parts of one */
    GPtrArray *body, *other;
    GArray *reads;    /* gint64: values, OPAQUE */
    GArray *places;   /* WsPlace: buffers it may read and write, OPAQUE, RAW; NULL none */
    GArray *operands; /* WsReadOperand: RAW */
};

typedef struct {
    const char *name, *dtype;
    guint rank;
    const WsExpr *shape[5];
    const WsExpr *stride[5]; /* between neighbours, NULL where rows follow each other */
    gboolean strided;        /* some access said them */
    gboolean contiguous;     /* the host asserts that rows follow each other */
    gboolean whole;          /* the host says how many dimensions there are */
    gboolean written, reduced;
    gboolean guessed; /* nothing of the source says its type */
    gint64 bytes;     /* of a block of its descriptor, 0 unknown */
    gint fills;       /* 1 + a buffer that its tiles are loaded into; 0: none */
    guint line;
} WsReadTensor;

typedef struct {
    const char *name, *dtype;
    guint rank; /* of shape */
    gint64 shape[5];
    gboolean indexed, indexed_twice;
    guint line;
    guint64 loaded_by, read_by,
        across_by;  /* by halves of the warps (python/amd/); 0: not, or by both */
    gint64 gap;     /* bytes free behind each KiB; 0: none, or none that a design has */
    gint64 spare;   /* bytes of padding, those of `gap` included */
    gboolean apart; /* the halves load other rows than they read; split: and it is not drawn so */
    gboolean split;
    gint64 span;    /* swizzle in bytes, -1 unknown */
    gint over;      /* 1 + the buffer whose storage it uses; 0: its own */
    gint64 over_at; /* bytes behind where that one begins */
    guint made;     /* steps of the source before it was; 0 at the beginning */
    /* decided by write.c */
    gint64 copies, stages;
} WsReadBuffer;

typedef struct {
    const char *name;
    gint64 copies;
    gint64 *count;        /* [copies], 0 not initialised */
    gint64 hw_id;         /* of a named one; 0 unknown */
    gint64 bytes;         /* expected by every copy into it (TLE), 0 none */
    gint *ready;          /* [copies], by element once rings are known: 0 pending, 1 ready */
    gboolean named, said; /* said: `ready` is what the source says, not what waits look like */
    gboolean ended;       /* invalidated */
    gboolean each;        /* every thread of a partition arrives by itself (TLE) */
    gboolean misfit;      /* some copy expects other bytes than it brings (TLE) */
    guint parts;          /* barriers of the source that it stands for (TLE); 0: itself */
    gint64 elements;      /* of the source that it is an array of (TLE); 0: itself */
    guint pipe;           /* 1 + the pipe of the design that it is a barrier of, which has its own;
                             0: it is written */
    guint line;
    /* decided by write.c */
    gint64 slots;
} WsReadBarrier;

/* Of TLE, where its writer closes it, or a loop goes over it; the others are read as barriers. */
typedef struct {
    const char *name;
    gint64 capacity;
    GArray *fields; /* gint: buffers */
    guint line;
} WsReadPipe;

typedef struct {
    const char *name, *dtype;
    gint64 rows, cols;
    gboolean accumulator, gone; /* gone: not written */
    gboolean line;              /* read from a line of memory: per row or per column */
    gboolean across;            /* a formula takes it as one value per column */
    guint set, set_line;        /* when it was set last (pyread_stale.c), and where */
    gconstpointer layout;       /* how it lies in warps (python/amd/) */
    gconstpointer site;         /* of the source, that alone sets it; NULL: a variable */
    const WsExpr *element; /* what it holds along `col`, in integers of tensors; NULL: not known */
    gconstpointer within;  /* the loop in whose rounds that is so; NULL: no loop */
} WsReadValue;

typedef struct {
    gint value, of;
} WsReadAlike;

typedef struct {
    const char *name;
    gint64 warps, registers;
    gint64 replicate; /* times that it is there; 0: once */
    gint64 mma_rows;  /* of its matrix instructions; 0: not said */
    guint line;
    GArray *values;      /* WsReadValue */
    GArray *alike;       /* WsReadAlike: lines of which one is computed from the other */
    GPtrArray *counters; /* char*, name; start 0 */
    GPtrArray *starts;   /* const WsExpr* */
    GPtrArray *body;     /* WsReadStep* */
} WsReadGroup;

typedef struct WsImportName WsImportName;

/* A loop whose text has a hint, and its groups: lines from the first to the last one of each. */
#define WS_READ_HINT_MOST 16
typedef struct {
    gint64 number, stage, order, executor;
    guint from, to;
} WsReadHintGroup;
typedef struct {
    guint line;
    gint64 stages;
    guint n;
    WsReadHintGroup group[WS_READ_HINT_MOST];
    const char *text;
} WsReadHint;

/* A file that the text imports from: its lines follow those of the text. */
typedef struct {
    const char *name;
    guint first, lines;
    guint from; /* line of the import that leads to it */
} WsReadFile;

typedef struct {
    const char *file, *title;
    char **line; /* of the source, for notes */
    guint n_lines;
    const GArray *files; /* WsReadFile; NULL none */
    GStringChunk *text;
    GPtrArray *exprs; /* WsExpr*, owned */
    GPtrArray *steps; /* WsReadStep*, owned */
    GArray *tensors, *buffers, *barriers, *pipes;
    GPtrArray *groups;    /* WsReadGroup*, owned */
    GPtrArray *sizes;     /* char* */
    GHashTable *size_of;  /* what was asked for -> its name, one of `sizes` */
    GHashTable *own_size; /* char*, of whom -> the same */
    GHashTable *opened;   /* char*: names that a value nobody knows has, a size of its own */
    GArray *presets;      /* gint64 */
    GPtrArray *open;      /* char*: sizes that are what the host makes in ways not followed */
    GPtrArray *addresses; /* char*: sizes that are where tensors begin, and nothing else */
    GPtrArray *scalars;   /* char* */
    GHashTable *partial;  /* lines of accesses under a mask */
    GArray *away;         /* guint: lines of accesses of global memory that no step stands for */
    GHashTable *made;     /* char*: buffers and barriers of the source's compiler, not its own */
    GHashTable *added;    /* char*, ws_source_step_key() of steps that the reader added */
    GPtrArray *assume;    /* char* */
    GHashTable *parsed;   /* char* -> const WsExpr*: texts of conditions; NULL: it is none */
    GPtrArray *granted;   /* char*, owned: what is taken for granted of the kernel, in words */
    GPtrArray *axes;      /* char* name, then char* extent, … */
    const char *target;
    const char *fences; /* NULL: derived */
    const char *launch; /* single, persistent, dynamic */
    gint64 cluster;
    gboolean named;     /* conditions on the tile get a name each */
    gboolean by_parity; /* waits and arrivals are written as slot and parity, no use is meant */
    gboolean parity_may_help; /* a use that is not known stands in the way, and nothing needs it */
    gboolean launched;        /* the text launches it, with a grid that was read */
    gboolean inits;           /* the source initialises its barriers by itself */
    gint64 work;              /* steps of reading so far */
    const gint *cancel;       /* another thread sets it; NULL nobody does */
    gint *at_line;            /* being read: another thread looks at it; NULL nobody does */
    GPtrArray *unread;        /* WsUnread*, owned; becomes the import's */
    GArray *defined;          /* WsImportName: variables that may become names */
    GHashTable *names;        /* in use in document scope */
    GHashTable *locals;       /* in use in some group: what a name of the document must not be */
    GPtrArray *pool;          /* g_free */
    GPtrArray *arrays;        /* GArray* */
    GArray *hints;            /* WsReadHint */
    GError **error;
} WsRead;

/* Puts loops with a hint into the hint form (hints.c); takes and returns a design. */
WsDesign *ws_source_hints(WsRead *r, WsDesign *design);

/* "18 5 20 acc = b": which `compute` it is. Caller frees. */
char *ws_source_step_key(guint line, guint column, guint last, const WsStatement *statement);
/* The file that the line is one of; NULL: it is the text's own. */
const WsReadFile *ws_source_file(const WsRead *r, guint line);
WsRead *ws_source_new(const char *file, const char *source, GError **error);
void ws_source_free(WsRead *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsRead, ws_source_free)
gboolean ws_source_fail(WsRead *r, guint line, guint column, const char *remedy, const char *format,
                        ...) G_GNUC_PRINTF(5, 6);
const char *ws_source_format(WsRead *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* `want` if it is an identifier nobody has yet, else one made of it. */
const char *ws_source_name(WsRead *r, const char *want);
const char *ws_source_size(WsRead *r, const char *want, gint64 preset); /* adds it once */
/* The size of what `owner` names ("shape 0 of x"), and of nothing else: `want`, or a name like it.
 */
const char *ws_source_size_of(WsRead *r, const char *owner, const char *want, gint64 preset);
gboolean ws_source_has_size(const WsRead *r, const char *want);
/* `size`, a name that the above gave, may not have all values: once. */
void ws_source_open(WsRead *r, const char *size);
WsReadStep *ws_source_step(WsRead *r, GPtrArray *to, WsReadKind kind, guint line, guint column,
                           guint end_line);
WsReadGroup *ws_source_group(WsRead *r, const char *name, guint line);
gint ws_source_value(WsRead *r, WsReadGroup *g, const char *name, const char *dtype, gint64 rows,
                     gint64 cols);
/* Notes what a proof builds on and nothing shows; once. */
void ws_source_granted(WsRead *r, const char *what);
/* An access of global memory that no step stands for and that may race: its line. What was noted is
 * granted in the end, by its lines (away.c). */
void ws_source_away(WsRead *r, guint line);
/* "line 5", "lines 5, 6 and 9": as many as `most`, then how many more; `lines`: guint, in the order
 * that they are said in. */
void ws_source_say_lines(const WsRead *r, const GArray *lines, guint most, GString *to);
void ws_source_grant_away(WsRead *r);
/* The step is an access of shared memory under a mask: it touches at most what it says, so that a
 * refutation by it does not stand. */
void ws_source_masked(WsRead *r, WsReadStep *s);
/* Stores under a mask, of which the loads are under one, too, or not (masks.c). */
void ws_source_masks(WsRead *r);
/* n steps of reading more, about 10 ns each: FALSE and an error where they are too many, or another
 * thread cancelled. */
gboolean ws_source_works(WsRead *r, gint64 n);
/* A line is read now. FALSE and an error where another thread cancelled. */
gboolean ws_source_reads(WsRead *r, guint line);
void ws_source_unread(WsRead *r, guint line, guint column, guint end_line, const char *what,
                      const char *source);
/* The same where only what is computed, or where it lies in global memory, is not known. */
void ws_source_unread_value(WsRead *r, guint line, guint column, guint end_line, const char *what,
                            const char *source);
/* The same where what it may touch is known: barriers and buffers by name, and what the lanes of
 * `group` do. */
void ws_source_unread_of(WsRead *r, guint line, guint column, guint end_line, const char *what,
                         const char *source, const char *group, const GPtrArray *objects);
/* The same for an instruction: neighbours in the text become one entry. */
void ws_source_unread_more(WsRead *r, guint line, const char *what);
/* Lists buffers that the compiler may place over others that are still in use. */
void ws_source_lifetimes(WsRead *r);
/* The number of the step that names the buffer last, at the end of its loops; 0: none does. */
guint ws_source_last_use(WsRead *r, gint buffer);
/* Barriers that are used and never initialised are listed, and where something is unread that may
 * synchronise or write, some step of the design is raw: after ws_source_rings. */
void ws_source_seal(WsRead *r);
/* "group g", "object o": what an unread statement can reach, through others too; NULL: all. The
 * caller unrefs. */
GHashTable *ws_source_near(const WsRead *r);
/* Stages kept in parts become whole ones: before the rings are asked for. */
void ws_source_parts(WsRead *r);
/* How many copies of an object are one ring, what every place of it means, and which barriers start
 * ready: from all places the source names. */
void ws_source_rings(WsRead *r);
/* The design; NULL and the error of `r`. */
WsDesign *ws_source_write(WsRead *r);

/* --- names.c: variables of the source as run names and tile names ------------------------------*/
GArray *ws_source_definitions(void); /* an empty list of them */
void ws_source_define(WsRead *r, const char *want, const WsExpr *e);
void ws_source_settle_names(WsRead *r);                 /* when sizes and axes are known */
char *ws_source_named_text(WsRead *r, const WsExpr *e); /* e in these names; caller frees */
void ws_source_mark_names(WsRead *r);                   /* names that used names need */
/* The used ones in order; text: caller frees. */
gboolean ws_source_next_name(WsRead *r, gboolean tile, guint *at, const char **name, char **text);

/* A place in the words of the design (after ws_source_rings). */
typedef struct {
    gint64 element;     /* of an array, -1 none */
    const WsExpr *use;  /* NULL: one copy, or it is not known */
    const WsExpr *slot; /* the ring's slot where `use` cannot say it */
} WsReadSpot;
WsReadSpot ws_source_spot(WsRead *r, const WsPlace *p, gint64 stages, gint64 copies);

/* --- term.c: integer expressions; results are owned by r, NULL means "not known" and spreads
 * ------ */
const WsExpr *ws_x_int(WsRead *r, gint64 value);
const WsExpr *ws_x_name(WsRead *r, const char *name);
const WsExpr *ws_x_total(WsRead *r, const char *loop);
const WsExpr *ws_x_op(WsRead *r, WsExprOp op, const WsExpr *a, const WsExpr *b);
const WsExpr *ws_x_call(WsRead *r, WsFunc f, const WsExpr *a, const WsExpr *b, const WsExpr *c);
const WsExpr *ws_x_mod(WsRead *r, const WsExpr *a, gint64 n); /* (x % n + y) % n is (x + y) % n */
const WsExpr *ws_x_own(WsRead *r, WsExpr *e);                 /* takes it; NULL stays NULL */
const WsExpr *ws_x_parsed(WsRead *r, const char *text);       /* each text is parsed once */
gboolean ws_x_is(const WsExpr *e, gint64 *value);
/* b - a if it is a constant. */
gboolean ws_x_difference(const WsExpr *a, const WsExpr *b, gint64 *d);
/* No two elements of a matrix lie at one place: its rows (or columns) follow each other, or a
 * stride is one of those that the host hands over (`handed`), which is taken for granted. */
gboolean ws_x_strides_part(WsRead *r, const WsExpr *const *shape, const WsExpr *const *stride,
                           gboolean (*handed)(gconstpointer data, const WsExpr *stride),
                           gconstpointer data);
/* e without its term `name` (or name.total with `total`); the factor of it. */
const WsExpr *ws_x_without(WsRead *r, const WsExpr *e, const char *name, gboolean total,
                           gint64 *factor);
/* e with every `name` replaced. */
const WsExpr *ws_x_replace(WsRead *r, const WsExpr *e, const char *name, const WsExpr *by);
/* e = base + (u % n) with constant base. FALSE if e holds no such term. */
gboolean ws_x_modulus(WsRead *r, const WsExpr *e, gint64 *base, const WsExpr **u, gint64 *n);
char *ws_x_text(const WsExpr *e);

G_END_DECLS
