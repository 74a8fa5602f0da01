/* Bundles: a self-contained folder that warpstave-runner executes on a GPU machine. It holds the
 * manifest (bundle.txt, form in src/runner/README.md), the kernel as PTX or cubin in up to three
 * builds, or as a code object of gfx950, one reference kernel per judged output, and the design
 * itself. */
#pragma once

#include "program/forward.h"
#include "program/hold.h"
#include "trace/recorder.h"

G_BEGIN_DECLS

typedef enum {
    WS_BUNDLE_ERROR_LENS,   /* the design needs something bundles cannot carry yet, by name */
    WS_BUNDLE_ERROR_SIZES,  /* sizes that cannot be launched; the findings say why */
    WS_BUNDLE_ERROR_FORMAT, /* not a bundle, or not its results */
    WS_BUNDLE_ERROR_FAILED, /* a program could not be run, a host not be reached */
    WS_BUNDLE_ERROR_PLAN,   /* records of another version of the recorder */
    WS_BUNDLE_ERROR_ABSENT, /* something is not there: runner, ssh, results */
} WsBundleError;
#define WS_BUNDLE_ERROR ws_bundle_error_quark()
GQuark ws_bundle_error_quark(void);

/* One shape to run; sizes not named keep the design's presets. */
typedef struct {
    const WsSize *size;
    guint n_size;
} WsBundleCase;

/* Everything is borrowed. PTX texts come from the generator; src/launch does not know it. */
typedef struct {
    const WsProgram *program;
    const char *timed_ptx;              /* NULL: another compiler made the cubin */
    const char *traced_ptx;             /* NULL: not traced */
    const char *debug_ptx;              /* NULL: no debug build */
    GBytes *timed_cubin, *traced_cubin; /* not NULL: run instead of the PTX, which is kept beside */
    const char *const *reference_ptx;   /* per tensor of the program; NULL, or NULL entries */
    GBytes *timed_object;               /* not NULL: gfx950, and in place of all texts and cubins */
    GBytes *const *reference_object;    /* with it: per tensor; NULL, or NULL entries */
    const WsHold *hold; /* NULL; else the debug build holds agents to this order and is what runs */
    const WsRecordChoice *choice; /* with traced_ptx: what the traced build was made for */
    const WsBundleCase *cases;
    guint n_cases; /* 0: one case with the presets */
    guint64 seed;
    guint runs;       /* cold rounds, 0: 30 */
    double sustained; /* seconds back to back; 0 none, negative: 1 */
    double timeout;   /* seconds one launch may take, 0: 20 */
} WsBundleSpec;

/* Writes the bundle to `dir`: into a temporary folder beside it, then a rename. An existing bundle
 * or empty folder is replaced, anything else refused. Sizes that break an `assume`, or the rules of
 * tensor maps, are errors in `findings` naming tensor and size; then FALSE with
 * WS_BUNDLE_ERROR_SIZES and nothing is written. */
gboolean ws_bundle_write(const WsBundleSpec *spec, const char *dir, WsFindings *findings,
                         GError **error);

/* The manifest alone, as text. Caller frees. */
char *ws_bundle_manifest(const WsBundleSpec *spec, WsFindings *findings, GError **error);

/* Floating-point operations of one evaluation of `reference` (a product and a sum count one each),
 * 0 if it cannot be told: helper functions, data-dependent bounds, devices of a mesh. */
double ws_launch_flops(const WsProgram *p, const WsLaunchValues *v);

G_END_DECLS
