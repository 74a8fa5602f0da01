/* What check and oracle say of one design, and what disagrees made small. */
#pragma once

#include "check/witness/witness.h"
#include "judge.h"

G_BEGIN_DECLS

typedef enum {
    AGREE,
    FALSE_PROOF,
    UNSOUND, /* nothing found, and wrong */
    FALSE_ALARM,
    MEANING,  /* the program is not what the text means (meaning.h) */
    INTERNAL, /* a warning or critical message: the program is not what elaboration says it is */
    INNER,    /* the oracle's interleavings and its lanes */
    ASTRAY,   /* the oracle cannot follow the witness */
    N_DISAGREEMENTS
} Disagreement;

typedef enum {
    ANSWER_USUAL,    /* small cases, the far ones by their lanes */
    ANSWER_THOROUGH, /* and accesses in every interleaving, and the witness is followed */
    ANSWER_CONTROL,  /* many cases of a design that only counts */
} AnswerKind;

typedef struct {
    gboolean read; /* elaborated */
    WsVerdictKind kind;
    guint errors;
    gboolean elsewhere; /* an error of a rule that the oracle does not judge */
    gboolean judged;    /* an error is about what the oracle looks at */
    char *first;        /* finding, or reason, in English */
    char *reason;       /* phrase: why it is outside, NULL: it is not */
    gboolean unjudged;  /* by the oracle: outside, and not one of those of the sample */
    Judgement oracle;
    guint followed; /* witnesses */
    guint compared; /* runs of agents whose text and program were compared */
    Disagreement what;
    AnswerKind how;
} Answer;

Answer answer_of(const char *text, AnswerKind how);
/* The design made smaller for as long as the same is said of it. Caller frees. */
char *answer_shrunk(const char *text, const Answer *like);
void answer_free(Answer *a);
const char *answer_word(const Answer *a); /* "agree", "false-proof", … */
/* Makes the design as small as it can be while it disagrees in the same way, tells it, and writes
 * it to `folder` (NULL: does not). `origin`: how it was made. Once for each design that comes out.
 */
void answer_report(const char *folder, guint seed, const char *origin, const char *text,
                   const Answer *a);

G_END_DECLS
