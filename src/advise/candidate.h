/* Edits of a design and their trial: what the list of next edits and the search share. Pure
 * functions of immutable inputs. */
#pragma once

#include "advise/critical.h"
#include "advise/floor.h"
#include "check/check.h"
#include "clock/clock.h"
#include "edit/edit.h"

G_BEGIN_DECLS

/* A proposal that nobody has judged. Owns all. */
typedef struct {
    char *title, *step; /* for people; the step or object that changes, or "." */
    char *words;        /* the title as a phrase (base/phrase.h) */
    WsDesign *design;   /* with the edits */
    GPtrArray *edits;   /* WsEdit* */
    gboolean reorders;  /* what computes stands in another place: its values are to be compared */
    GPtrArray *moved;   /* char*: steps that only wait, tell or begin a transfer, and all that it
                           changes is when they do; NULL: it changes more */
} WsCandidate;

/* The design as it was asked for: settings are constants of it, so that edits start from there.
 * Transfer full. */
WsDesign *ws_advise_settled(const WsDesign *design, const WsSetting *set, guint n_set);
/* Proposals, each once; free with g_ptr_array_unref. */
GPtrArray *ws_candidates_new(const WsDesign *design);
/* Besides these: products a round ahead or later with all that hangs on them, and with the load of
 * an operand; turns of replicas, and none outside the rounds; the rows of a group shared out; what
 * computes beside a product, and releases several places earlier. */
GPtrArray *ws_candidates_deep(const WsDesign *design);

/* What a launch does, counted over its first tile: elements stored to outputs, and products. */
typedef struct {
    double stored, products;
} WsTrialWork;

/* What proposals are compared with. `v` is a launch of `p`. */
typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    const WsMachine *m;
    const WsTrialWork *work; /* ws_trial_work() of these, for one who tries many; or NULL */
} WsTrialOf;
WsTrialWork ws_trial_work(const WsProgram *p, const WsLaunchValues *v);

/* A trial does at least this share less of the products and stores of what it is compared with, and
 * at most four times this share more. */
#define WS_TRIAL_PADDING 0.05
/* Elaborates and plays a design for the same launch, `tiles` of it as of WsClockOptions. NULL: it
 * does not fit, its reference or its tensors are others, it does not do the same work, or, *stuck,
 * the play shows an error. Transfer full. `result` without a trace; free it. */
WsProgram *ws_trial_play(const WsTrialOf *of, const WsDesign *design, guint tiles,
                         WsClockResult **result, gboolean *stuck);
/* Plays what ws_trial_play() elaborated once more, whole; 0: it cannot be. */
gint64 ws_trial_cycles(const WsTrialOf *of, const WsProgram *p);
/* What a play of the design hangs on, for `tiles` of that launch; NULL: not known. */
WsCritical *ws_trial_critical(const WsTrialOf *of, const WsDesign *design, guint tiles);
/* The floor under a design for that launch; not known where it does not elaborate. */
WsFloor ws_trial_floor(const WsTrialOf *of, const WsDesign *design);
/* A line for people on the rounds of its main loop (ws_round_of); NULL: it has none. Caller frees.
 */
char *ws_trial_round(const WsTrialOf *of, const WsDesign *design);
/* Verdict of the check, within the work that one trial may take. */
WsVerdictKind ws_trial_judge(const WsProgram *p, const gint *cancel);

G_END_DECLS
