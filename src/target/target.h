/* What a GPU is, one row for each target: the only place outside the generators that knows a
 * number, a name or a rule of the hardware. Elaboration, check, clock, meters, palette and
 * `explain` ask a row; nobody compares names of targets.
 *
 * A row may be there before the code for it: then `lacks` says for each lens what is missing, and
 * the lens refuses the target with that text. Sources of the figures: the vendors' programming
 * guides and ISA documents named in the files of the rows. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Those of target.def; `target` of a design takes one of these words (row.def). */
#define WS_TARGET_NAMES "sm_90a gfx950 sm_100a ascend"

/* Who asks whether a target is known to it. */
typedef enum {
    WS_LENS_ELABORATE,
    WS_LENS_CHECK,
    WS_LENS_SIMULATE,
    WS_LENS_GENERATE, /* LLVM IR, PTX, cubin */
    WS_LENS_REHEARSE,
    WS_LENS_CUDA,
    WS_LENS_GLUON,
    WS_LENS_TLE,
    WS_LENS_TLX,
    WS_LENS_BUNDLE,
    WS_LENS_COUNT
} WsLens;
const char *ws_lens_name(WsLens lens); /* "generate" */

/* How the end of asynchronous work is seen. */
typedef enum {
    WS_ENDS_AT_BARRIER,   /* it completes a phase of an mbarrier */
    WS_ENDS_WITH_GROUP,   /* the oldest committed groups are waited for, first in first out */
    WS_ENDS_WITH_COUNTER, /* a counter of what is outstanding, first in first out */
} WsTargetEnd;

/* A transfer or matrix engine, as the queue that an agent sees of it. */
typedef struct {
    const char *name;
    const char *steps; /* that start its work, separated by spaces */
    WsTargetEnd end;
    const char *wait; /* step that waits for its groups or counter; NULL: a wait at the barrier */
    guint most;       /* groups, or counts, that such a wait can leave outstanding */
} WsTargetQueue;

/* Types that a matrix instruction takes: any of `a` with any of `b` where `mixed`, else with
 * itself; words are those of dtype.def. */
typedef struct {
    const char *operands, *accumulators;
    gboolean mixed;
    guint k; /* of the contraction in one instruction of `m` rows, elements; 0: by k_bytes */
} WsTargetProduct;

typedef struct {
    const char *name; /* "wgmma"; NULL: no matrix instruction is described */
    guint warps;      /* that issue it together */
    guint m;          /* rows come in multiples of it */
    guint m_other;    /* rows and columns that a group may choose instead (`mma_rows`), with as much
                         less of the contraction; 0: none */
    guint n_step, n_most;     /* columns: multiples, and the most */
    guint n_step_int8, n_few; /* 8-bit integers above n_few columns: multiples of n_step_int8 */
    guint k_bytes;            /* of the contraction in one instruction */
    gboolean values;          /* operands and results are values, and it ends at once */
    guint row_step;           /* operands in shared memory start at multiples of so many rows */
    guint transposable;       /* bytes of an element that can be read transposed */
    guint register_bytes;     /* widest element of an operand in registers */
    /* Accumulators in registers: bands of so many rows; `quad` lanes share a row and hold
     * neighbouring columns in blocks of `columns`. 0: the layout is not described. */
    guint rows, quad, columns;
    guint cell; /* rows, and columns of 16 bits, of the matrices that lanes move together to and
                 * from shared memory (stmatrix, ldmatrix), two side by side; 0: there are none */
    const WsTargetProduct *product;
    guint n_products;
    /* Dense operations (a multiplication and an addition are two) of one SM in a cycle, times the
     * bytes of an operand's element. */
    guint rate;
} WsTargetMatrix;

typedef struct {
    guint file; /* 32-bit registers that the threads of a CTA share; 0: not described */
    guint step; /* a thread gets a multiple of it */
    guint least, most;
    guint entry;     /* most at the start of a kernel */
    guint idle, few; /* what a group without values gets by default, and where others lack room */
    guint spare;     /* addresses and counters beside the values of a group */
    gboolean moves;  /* groups can hand registers to each other (setmaxnreg) */
} WsTargetRegisters;

typedef struct {
    guint64 bytes;      /* of one CTA at most */
    guint align;        /* of a plain buffer */
    guint swizzle[4];   /* spans in bytes, widest first, 0 ends */
    guint swizzle_rows; /* rows of one pattern: alignment = rows * span */
    guint unit;         /* bytes that a swizzle moves as one; also of one cp.async */
} WsTargetShared;

/* What the CTAs of one SM share beside its registers. */
typedef struct {
    guint64 shared;   /* bytes of shared memory of an SM; 0: not described, then one CTA */
    guint64 reserved; /* bytes of it that each CTA takes for the system */
    guint threads, ctas;
} WsTargetSm;

typedef struct {
    guint line;    /* bytes of a row that the engine takes at a time; 0: not known */
    guint box;     /* elements of one dimension of a box at most */
    guint granule; /* bytes: rows and strides of a transfer are multiples */
    gint64 extent; /* elements of one dimension of a tensor at most */
    gint64 stride; /* bytes: strides of a tensor stay below */
} WsTargetBulk;

typedef struct {
    guint bytes;                  /* of one mbarrier; 0: there is none */
    gint64 arrivals, transaction; /* it counts to */
    guint named, named_reserved;  /* ids, and those that are not the author's */
    guint cluster[5];             /* sizes, ascending, 0 ends */
    const char *fences;           /* words of the step `fence` */
    gboolean proxies;             /* generic and asynchronous accesses need a fence between */
} WsTargetSync;

typedef struct WsTargetCore WsTargetCore;

/* A word of pages and pictures, and what it is on this target: not every one has warps and a TMA.
 */
typedef struct {
    const char *text, *own;
} WsTargetWord;
#define WS_TARGET_WORD(text, own)                                                                  \
    {                                                                                              \
        text, own                                                                                  \
    } /* marked for translation: po/findings.py */

typedef struct WsTarget {
    const char *name;  /* "sm_90a" */
    const char *title; /* "NVIDIA Hopper" */
    guint lanes;       /* of a warp, or wave */
    guint halves; /* agents that a group becomes, which run the same code and meet at borders; 0:
                     itself */
    guint half_warps;  /* of each of them */
    guint group_warps; /* warps that registers and matrix instructions take together */
    guint threads;     /* of a CTA at most */
    WsTargetRegisters registers;
    WsTargetShared shared;
    WsTargetSm sm;
    WsTargetBulk bulk;
    WsTargetSync sync;
    WsTargetMatrix matrix;
    const WsTargetQueue *queue;
    guint n_queues;
    const WsTargetCore *core; /* queues of instructions and memory spaces (core.h); NULL: warps */
    const char *steps;        /* keywords that the target has, separated by spaces */
    const WsTargetWord
        *word; /* those that differ from the GPUs of NVIDIA; text NULL ends; or NULL */
    const char *lacks[WS_LENS_COUNT]; /* what is missing for a lens to know it; NULL: it knows it */
} WsTarget;

#define WS_TARGET(name) extern const WsTarget ws_target_##name;
#include "target/target.def"
#undef WS_TARGET

/* What the text is called on the target: `text` itself, or another one with the same conversions.
 */
const char *ws_target_own_word(const WsTarget *t, const char *text) G_GNUC_FORMAT(2);
const WsTarget *ws_target_find(const char *name); /* NULL if there is none */
const WsTarget *ws_target_at(guint i);            /* all of them, NULL behind the last */
/* TRUE if a step with this keyword is legal on the target. */
gboolean ws_target_has_step(const WsTarget *t, const char *keyword);
gboolean ws_target_has_cluster(const WsTarget *t, guint ctas);
/* Bytes of shared memory that each of `per_sm` CTAs of an SM has. */
guint64 ws_target_shared(const WsTarget *t, guint per_sm);
gboolean ws_target_has_product(const WsTarget *t, const char *a, const char *b,
                               const char *accumulator);
/* Elements of the contraction that one instruction of `rows` rows takes of type `a`. */
guint ws_target_product_k(const WsTarget *t, const char *a, guint bytes, guint rows);
/* "128, 64, 32": the spans of its swizzles. Caller frees. */
char *ws_target_swizzles(const WsTarget *t);
/* "f16 -> f32 f16; bf16 -> f32": what its matrix instruction takes. Caller frees. */
char *ws_target_products(const WsTarget *t);
/* The queue that a step waits for ("mma_wait"), NULL if it waits for none. */
const WsTargetQueue *ws_target_waited(const WsTarget *t, const char *keyword);
/* "target gfx950: not in lens check (…)", NULL if the lens knows it. `name` may be of no target.
 * Caller frees. */
char *ws_target_refusal(const char *name, WsLens lens);
/* The word is one of a list of words separated by spaces. */
gboolean ws_target_word(const char *words, const char *word);

G_END_DECLS
