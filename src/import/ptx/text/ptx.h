/* Compiled PTX as text: instructions with their lines, basic blocks, loops. Nothing is executed.
 *
 * A WsPtx owns its instructions and blocks; texts are borrowed from it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define WS_PTX_MAX_BYTES        WS_IMPORT_MAX_BYTES
#define WS_PTX_MAX_INSTRUCTIONS 200000
#define WS_PTX_STATIC           (1 << 20) /* where arrays of known size begin, behind the dynamic one */
#define WS_PTX_MAX_BLOCKS       20000

/* What the table says of an instruction (law.def). */
typedef enum { PTX_LAW_UNKNOWN, PTX_LAW_VALUE, PTX_LAW_NONE, PTX_LAW_READ } PtxLaw;
PtxLaw ptx_law(const char *op);
gboolean ptx_matters(const char *op); /* it orders, waits, signals, or touches shared memory */
gboolean ptx_in_shared(const char *op);

typedef struct {
    const char *op;    /* "add.s32" */
    const char *guard; /* predicate register, NULL always */
    gboolean negated;
    guint n;
    const char **arg; /* as written: "%r1", "[%r2+8]", "{%r1, %r2}" */
    guint line;
    guint scope;     /* number of the { } that it stands in, 0 the kernel's */
    const char *loc; /* place in the source by .loc, "file.cu:12"; NULL none */
    gint target;     /* BRA: instruction, -1 none */
    PtxLaw law;
    gboolean matters; /* ptx_matters() */
    gboolean spin;    /* a branch of the loop around try_wait: not a branch of the program;
                         of try_wait: such a loop is around it */
} WsPtxInst;

/* How an instruction leaves its thread. */
typedef enum {
    PTX_GOES_ON,
    PTX_ENDS,   /* ret, exit */
    PTX_ABORTS, /* trap, brkpt, a failed assertion: the whole launch is lost */
} PtxEnd;

typedef struct {
    guint first, last;     /* instructions first..last */
    GArray *next, *before; /* guint: blocks; of a conditional branch the one taken comes first */
    gint join;             /* immediate postdominator, -1 the end */
    gint loop;             /* innermost loop with this block as its head, -1 */
    gboolean reached;
    gboolean aborts; /* whoever comes here ends the whole launch, and nothing before that matters */
} WsPtxBlock;

typedef struct {
    guint head;
    GHashTable *blocks; /* GUINT_TO_POINTER(block) */
    gboolean dispatch;  /* holds a jump by table: the loop in which workers wait for work */
} WsPtxLoop;

/* What a label stands before, and in which scope. */
typedef struct {
    guint at, scope;
} WsPtxLabel;

/* A directive of the kernel that is not known. */
typedef struct {
    const char *text;
    guint line;
} WsPtxOdd;

typedef struct {
    GStringChunk *text;
    const char *entry; /* name of the kernel */
    GArray *odd;       /* WsPtxOdd */
    GHashTable *files; /* number of .file, as text -> base name */
    guint line;
    GArray *params;     /* const char* */
    GHashTable *shared; /* names of arrays in shared memory of known size -> 1 + where they begin */
    gint64 shared_end;
    gint64 shared_align;     /* of the dynamic one, as the text says; 0 unknown */
    GHashTable *own;         /* names of functions that the text defines */
    GHashTable *locals;      /* registers that are not written with %: of inline assembly */
    GArray *wide;            /* gboolean, parallel: a tensor map (an array of bytes) */
    gint64 threads;          /* .maxntid or .reqntid, 0 unknown */
    gboolean threads_most;   /* of .maxntid: a launch may have fewer */
    gint64 maxnreg, cluster; /* cluster: CTAs, 1 none */
    gboolean cluster_said;   /* the text, or who imports it, says how many */
    gboolean cluster_given;  /* … it is not the text */
    gboolean few_lanes;      /* stmatrix or ldmatrix of less than four matrices */
    GArray *inst;            /* WsPtxInst */
    GHashTable *tables;      /* label of .branchtargets -> GPtrArray of labels */
    GHashTable *labels;      /* name -> GArray of WsPtxLabel */
    GArray *outer;           /* guint: scope that scope n + 1 stands in */
    GArray *blocks;          /* WsPtxBlock */
    GArray *block_of;        /* guint: instruction -> block */
    GArray *loops;           /* WsPtxLoop */
    GHashTable *spun; /* number of a wait that was a loop -> GPtrArray: registers left unknown */
} WsPtx;

static inline WsPtxInst *ws_ptx_inst(const WsPtx *p, guint i)
{
    return &g_array_index(p->inst, WsPtxInst, i);
}

static inline guint ws_ptx_block_of(const WsPtx *p, guint i)
{
    return g_array_index(p->block_of, guint, i);
}

/* Reads the kernel of that name (NULL: the first that holds mbarriers, else the first). `file`
 * names it in errors. NULL with WS_IMPORT_ERROR. */
WsPtx *ws_ptx_parse(const char *text, gsize length, const char *file, const char *kernel,
                    GError **error);
/* Names of the kernels in the order of the text (char*); the caller unrefs. */
GPtrArray *ws_ptx_kernels(const char *text, gsize length);
void ws_ptx_free(WsPtx *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsPtx, ws_ptx_free)
PtxEnd ws_ptx_end(const WsPtx *p, const WsPtxInst *i);
/* It calls the function of that name which the machine brings. */
gboolean ws_ptx_calls(const WsPtx *p, const WsPtxInst *i, const char *function);
/* Blocks, joins and loops. FALSE with WS_IMPORT_ERROR: too many. */
gboolean ws_ptx_flow(WsPtx *p, const char *file, GError **error);
/* Loops that are waits, as C++ writes them: their branches are none. TRUE: blocks are new. */
gboolean ws_ptx_spins(WsPtx *p);
/* Files and functions of the whole text. */
void ws_ptx_around(WsPtx *p, const char *text, const char *end);
const char *ws_ptx_keep(WsPtx *p, const char *text, gsize n); /* without blanks around it */
gboolean ws_ptx_is_name(char c);
void ws_ptx_add_label(WsPtx *p, const char *name, guint scope); /* of what comes next */
/* The instruction that `name` means in instruction `from`: of the innermost scope; -1 none. */
gint ws_ptx_label(const WsPtx *p, const char *name, guint from);

G_END_DECLS
