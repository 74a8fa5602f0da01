/* The check: static budgets that need the whole program, the proof for every trip count and every
 * interleaving (bits.h), and the play (play.h), which runs the program phase by phase for chosen
 * numbers of rounds and tiles. The proof is the verdict; the play finds what to say about a design
 * that has no proof, and warnings about one that has. */
#pragma once

#include "model/forward.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef enum {
    WS_VERDICT_PLAYED,  /* only played, as asked: nothing found in anything that was */
    WS_VERDICT_REFUTED, /* at least one error; findings carry the witness */
    WS_VERDICT_OUTSIDE, /* neither proved nor refuted: `reason` says why */
    WS_VERDICT_PROVED,  /* nothing wrong for any trip count and any interleaving */
} WsVerdictKind;

typedef enum {
    WS_SCHEDULE_FORWARD,  /* agents in order, transfers land as late as possible */
    WS_SCHEDULE_BACKWARD, /* agents in reverse order, transfers land late, newest first */
    WS_SCHEDULE_EAGER,    /* transfers land at once */
    WS_SCHEDULE_MIXED,    /* one operation each in turn */
    WS_SCHEDULE_COUNT
} WsSchedule;

typedef struct {
    gint64 rounds; /* of the inner loops; -1: the design has no loop to choose */
    guint tiles;   /* per CTA */
    WsSchedule schedule;
    gboolean mixed; /* the tiles have different rounds, `rounds` is the first one's */
    char *sizes;    /* "K = 256" */
    guint64 ops;    /* operations executed */
} WsPlayed;

/* What a check does, for another thread to look at (g_atomic_int_get). */
typedef enum { WS_CHECK_BEGINS, WS_CHECK_PROVES, WS_CHECK_PLAYS, WS_CHECK_WEAKENS } WsCheckPart;
typedef struct {
    gint part;   /* WsCheckPart */
    gint states; /* of the proof that is being tried */
} WsCheckProgress;

typedef struct {
    guint max_tiles;        /* 0: 3 */
    guint schedules;        /* of every case; 0: one, and all of them for the largest cases */
    guint64 max_ops;        /* of one play; 0: 500,000 */
    guint max_findings;     /* 0: 8 */
    gboolean play_only;     /* no proof */
    gboolean protocol_only; /* leaves out what is written to global memory */
    guint max_states;       /* of the proof; 0: 16000 */
    guint64
        max_work; /* of the proof, and of all plays together, each in its own steps; 0: what takes
                     a second or two. No clock: a verdict does not depend on the machine */
    guint policy; /* WsPolicy: what is an error though it is a warning by default */
    gboolean verdict_only; /* leaves out under which assumption it would be right */
    gboolean kind_only;    /* and, of what is proved, a part of what it takes as harmless */
    gboolean certificate;  /* PROVED: the certificate of the proof, too */
    gboolean foreign; /* the program stands for a kernel that another compiler places and allocates:
                         budgets warn, they do not refute; what goes wrong only where lanes of one
                         warp come apart is undecided (L-IN-STEP) */
    gboolean in_step; /* ws_check() alone sets it, to ask what would hold if they were in step */
    const gint *cancel;        /* set to 1 by another thread: the check ends within 2 ms, OUTSIDE,
                                  "cancelled"; NULL: nobody does */
    WsCheckProgress *progress; /* NULL: nobody looks */
} WsCheckOptions;

/* Two cells of the proxy table that production code leaves out though the text asks for them. */
typedef enum {
    WS_POLICY_WAR = 1,    /* bytes read by plain loads are overwritten by a load without a fence */
    WS_POLICY_GATHER = 2, /* gathered bytes are read by an engine without a fence */
} WsPolicy;

/* What a proof holds for. */
typedef enum {
    WS_NAME_TILES,   /* every number of tiles of a CTA, each with its own rounds */
    WS_NAME_UNIFORM, /* a name with one value per launch */
    WS_NAME_STREAM,  /* one value per tile, every sequence of them */
    WS_NAME_LETTER,  /* both answers to a condition, each time anew */
} WsNameKind;
typedef struct {
    WsNameKind kind;
    char *text;         /* "cdiv(K, 64)", "nb", "causal == 1"; "tiles" */
    gboolean derived;   /* an expression of another name of the list: it goes along */
    gint64 every, left; /* holds for those that leave `left` modulo `every`, as is assumed */
    gint64 least;       /* holds from here on: from the assumptions, else 0 */
    gboolean below;     /* and for all that is less, which is as `least` is */
} WsProvedName;

typedef struct {
    WsVerdictKind kind;
    GPtrArray *names; /* PROVED: WsProvedName*; empty otherwise */
    char *weakest;    /* REFUTED: under which assumption it would be right: "fails only for K = 0",
                         "right if N is a multiple of 4", "right up to N = 3"; NULL: not known */
    char *reason;     /* OUTSIDE: why */
    GArray *played;   /* WsPlayed */
    GPtrArray *skipped; /* phrases: "k rounds 0: K >= 1 does not hold" */
    guint64 ops;
    guint64 work; /* steps of proofs and plays, whatever the machine: what budgets count */
    double seconds;
    char *certificate;  /* PROVED and asked for: its text (docs/soundness.md section 8), or NULL: */
    char *uncertified;  /* why there is none */
    char *proof;        /* PROVED: over what, in one line; else NULL */
    GPtrArray *assumed; /* phrases: what the design states and the proof takes as given */
    GPtrArray *undetermined; /* PROVED: names of buffers, values and tensors of which the order of
                                atomics may show */
    guint states;            /* of the proof */
    gsize proof_bytes;
    double proof_seconds;
    const struct WsTarget *target; /* whose words it is said in; NULL: those of a GPU */
} WsVerdict;

/* Never fails: what is wrong is a finding of class B, P or F. `options` may be NULL. */
WsVerdict *ws_check(const WsProgram *p, const WsCheckOptions *options, WsFindings *findings);
/* Gives findings that name a step or an object of the design its line and column, and silences
 * those that the design suppresses. Call it once, when all findings are there. */
void ws_check_locate(const WsDesign *design, WsFindings *findings);
/* Hints and warnings that the design names under `suppress` get its reason as `silenced`; a
 * suppression that silences nothing, or names an error, gets a hint. */
void ws_check_suppress(const WsDesign *design, WsFindings *findings);
/* A verdict on a program that stands for something of which not all was read: proved becomes
 * OUTSIDE with `gap` as its reason; of a refutation only the errors count that `stands` says hold
 * all the same, the others become warnings, and without any it is OUTSIDE too. `gap` NULL: all was
 * read, then only errors that do not stand are dropped so. */
typedef gboolean (*WsFindingStands)(const WsFinding *f, gconstpointer data);
void ws_verdict_limit(WsVerdict *v, WsFindings *findings, const char *gap, WsFindingStands stands,
                      gconstpointer data);
/* OUTSIDE, nothing played. */
WsVerdict *ws_verdict_outside(const char *reason);
void ws_verdict_free(WsVerdict *v);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsVerdict, ws_verdict_free)
/* "played: rounds 1 2 3 4 5 9 over 0 to 3 tiles (19 plays, 5240 operations, 3.1 ms)". Caller frees.
 */
char *ws_verdict_text(const WsVerdict *v);
/* "given that …": what a proof builds on, in English; "" without. Caller frees. */
char *ws_verdict_given(const WsVerdict *v);
const char *ws_verdict_word(WsVerdictKind kind); /* "played", "refuted", "outside", "proved" */

G_END_DECLS
