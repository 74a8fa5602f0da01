/* Code generation: a program becomes an LLVM module through the table of primitives (prim.def), and
 * from there PTX for the GPU or host code for the rehearsal. Nothing here derives a slot, a phase,
 * a count or a byte: it all comes from the program.
 *
 * User input can reach none of LLVM's fatal-error paths: CPU and feature names are ours, asm texts
 * come from the table, and the module is verified before any pass or emitter sees it. */
#pragma once

#include "program/debug_words.h"
#include "program/forward.h"
#include "program/hold.h"
#include "trace/recorder.h"

G_BEGIN_DECLS

typedef enum {
    WS_GENERATE_ERROR_STEP,     /* "step X: not in lens generate" */
    WS_GENERATE_ERROR_INTERNAL, /* our own defect (exit 5) */
    WS_GENERATE_ERROR_ABSENT,   /* ptxas missing (exit 4) */
    WS_GENERATE_ERROR_PTXAS,    /* ptxas refused or reported C75xx, stack, spills (exit 1) */
} WsGenerateError;
#define WS_GENERATE_ERROR ws_generate_error_quark()
GQuark ws_generate_error_quark(void);

/* What a refusal says, as data; what is not known is NULL. */
typedef struct {
    char *lens;   /* "tle" */
    char *step;   /* place in the design, without it the whole of it */
    char *why;    /* phrase: "it has two" */
    char *remedy; /* phrase: "give it one" */
} WsRefusal;
/* WS_GENERATE_ERROR_STEP, "step KEYWORD at PLACE: not in lens LENS: why; remedy": of the operation
 * if it is a step's, else of `place`, or of the design. `why` and `remedy`: phrases, constant texts
 * or NULL. Nothing if there is an error already. */
void ws_generate_refuse(GError **error, const char *lens, const WsOp *op, const char *place,
                        const char *why, const char *remedy);
/* No value alone is more than the registers of a thread: else an error, before a compiler takes
 * seconds to spill it. */
gboolean ws_generate_fits(const WsProgram *p, const char *lens, GError **error);
/* One more thing that would help: a phrase, behind the remedy of such an error. */
void ws_generate_advise(GError *error, const char *remedy);
/* Of such an error, else NULL. Borrowed from it. */
const WsRefusal *ws_generate_refusal(const GError *error);

/* Kernel entry parameters, in order (the launcher and the runner follow this):
 *   1. every tensor map of program->map, by value, 128 bytes, 64-byte aligned (grid constant)
 *   2. every tensor's device address, 64 bit, in program order
 *   3. every WS_VAR_SIZE, 64 bit, in variable order; every WS_VAR_SCALAR, f32, in variable order
 *   4. traced builds only: address of the record buffer, 64 bit
 *   5. builds with debug_waits or a hold only: address of WS_DEBUG_WORDS u32, zeros before the
 *      launch (program/debug_words.h): every stuck wait records itself, then the kernel traps
 *   6. launch dynamic only: address of one u32 that is 0 before the first launch; every launch that
 *      comes to its end leaves it at 0
 *   7. order hilbert only: address of pairs of int32 (ws_launch_hilbert, walk.h)
 *   8. devices only: address of tensor maps of all devices, WS_PEER_MAP_BYTES each, that of map m
 * and device d the (m * devices + d)-th, on addresses that this device reaches; address of the
 *      addresses of each device's flags, an array of u64 in the order of the flags and their
 *      elements, 0 before the first launch; the number of launches of these sizes since then
 * Kernel name: "warpstave". Block: (threads,1,1). Dynamic shared memory: program->shared_bytes. */
#define WS_KERNEL_NAME    "warpstave"
#define WS_PEER_MAP_BYTES 128

typedef struct {
    const WsRecorder
        *recorder;        /* NULL: no clock is read and the text is identical to a timed build */
    gboolean debug_waits; /* a wait that spins too long records itself and traps */
    const WsHold *hold;   /* NULL; else agents are held to its order */
    guint32 delays;       /* 0 none; else a seed: random sleeps before what synchronises */
} WsGenerateOptions;

/* PTX text; *cost in bytes of nothing else. Caller frees. */
char *ws_generate_ptx(const WsProgram *p, const WsGenerateOptions *options,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
char *ws_generate_llvm(const WsProgram *p, const WsGenerateOptions *options,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* CUDA C++: one self-contained file with the same kernel name and parameters (no recorder, no debug
 * waits). What cannot be expressed is an error that names the step. Caller frees. */
char *ws_generate_cuda(const WsProgram *p, gboolean remarks,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* PTX of the sampled reference kernel: evaluates one output tensor's reference in float64.
 * Entry "warpstave_reference"; parameters: every tensor's address, sizes, scalars as above, of a
 * mesh (the addresses being those of device 0) the bytes from each tensor of a device to that of
 * the next one and the number of devices, 64 bit each, then
 * address of n int64 flat logical indices of output `tensor`, address of n doubles for the results,
 * n (64 bit). One thread per sample, any block size. */
char *ws_generate_reference_ptx(const WsProgram *p, guint tensor, GError **error);

typedef struct {
    guint registers, stack, spill_stores, spill_loads, barriers;
    GPtrArray *diagnostics; /* char*: C75xx lines and other warnings */
    char *log;
} WsPtxasReport;
void ws_ptxas_report_free(WsPtxasReport *r);
gboolean ws_ptxas_available(void);
/* Assembles for sm_90a; *cubin may be NULL. */
WsPtxasReport *ws_ptxas_run(const char *ptx, GBytes **cubin, GError **error);
/* The same for CUDA C++, by nvcc. */
gboolean ws_nvcc_available(void);
WsPtxasReport *ws_nvcc_run(const char *cuda, GBytes **cubin, GError **error);
gboolean ws_ptxas_report_clean(const WsPtxasReport *r);

/* --- rehearsal ------------------------------------------------------------------------------- */
/* Values of references, by what they depend on. Of one thread; whoever makes it frees it. */
typedef struct WsReferenceValues WsReferenceValues;
WsReferenceValues *ws_reference_values_new(void);
void ws_reference_values_free(WsReferenceValues *v);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsReferenceValues, ws_reference_values_free)

/* How far a rehearsal is, several times a second. */
typedef void (*WsRehearseProgress)(guint64 ctas_done, guint64 ctas, guint64 switches,
                                   gpointer data);

typedef struct {
    guint64 seed;
    gint64 sms; /* CTAs of a persistent launch; default 2 */
    const char *const *size_name;
    const gint64 *size;
    guint n_size;
    const WsHold *hold; /* NULL; else agents are held to its order */
    WsReferenceValues
        *values; /* NULL; else what other rehearsals with it need not work out again */
    WsRehearseProgress progress; /* NULL: nobody looks */
    gpointer progress_data;
} WsRehearseOptions;
/* What threads of a CTA wait for when nothing moves any more. */
typedef struct {
    guint op, cta;
    gint slot, parity; /* of an mbarrier, else -1 */
} WsRehearseWait;
typedef struct {
    gboolean ran;     /* every CTA came to its end */
    gboolean matches; /* ran, no wrong element, no race, no violation: all is well; something was
                         compared, or there is nothing to compare */
    guint64 elements, wrong; /* that were compared */
    guint64 anything;        /* the reference says `any` of them: compared with nothing */
    double worst_error, worst_tolerance;
    char *first_wrong; /* "C[3, 17] = 1.25, reference 2.5" */
    guint64 fibers, switches, async_races;
    char *stuck;        /* deadlock report: which agent waits on which barrier, slot, parity */
    GArray *waits;      /* WsRehearseWait: the same as data, each once */
    char *first_race;   /* "groups/…/2: shared memory was written while …" or NULL */
    guint32 clock;      /* of the hold: moves that were done */
    gboolean gave_up;   /* a gate went on although its turn had not come */
    guint64 violations; /* broken hardware rules: over-arrival, tx overflow, bad address, … */
    char *first_violation;
} WsRehearseResult;
void ws_rehearse_result_free(WsRehearseResult *r);
/* Nothing of the program is missing in the rehearsal (its sizes and its reference aside). */
gboolean ws_rehearse_supports(const WsProgram *p, GError **error);
/* A program to rehearse again and again: its code and its reference, neither of which depends on a
 * seed or a size, are compiled by the first run that needs them and kept. Keeps a reference to the
 * program; of one thread; whoever makes it frees it. */
typedef struct WsRehearsal WsRehearsal;
WsRehearsal *ws_rehearsal_new(const WsProgram *p);
void ws_rehearsal_free(WsRehearsal *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsRehearsal, ws_rehearsal_free)
/* Runs the same lowering on the CPU, one fiber per GPU thread in seeded random order with delayed
 * TMA, on the design's rehearsal sizes, and compares every output element with `reference`. No run
 * sees anything of one before it. A hold is part of the code: a run with one compiles its own. */
WsRehearseResult *ws_rehearsal_run(WsRehearsal *s, const WsRehearseOptions *options,
                                   WsFindings *findings, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same, once. */
WsRehearseResult *ws_rehearse(const WsProgram *p, const WsRehearseOptions *options,
                              WsFindings *findings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
