/* What a finding holds, and its rule. */
#pragma once

#include "base/phrase.h"
#include "model/findings.h"

#include <glib.h>

G_BEGIN_DECLS

/* Classes of LANGUAGE section 22. */
typedef enum {
    WS_CLASS_V,
    WS_CLASS_S,
    WS_CLASS_N,
    WS_CLASS_T,
    WS_CLASS_L,
    WS_CLASS_B,
    WS_CLASS_P,
    WS_CLASS_G,
    WS_CLASS_F,
    WS_CLASS_R,
} WsClass;

/* Rules: one id each in rule_id.def, one row each in rule.def (class, severity, title, explanation,
 * remedy). */
typedef enum {
#define WS_RULE_ID(id) WS_RULE_##id,
#include "model/rule_id.def"
#undef WS_RULE_ID
    WS_RULE_COUNT
} WsRuleId;

typedef struct {
    const char *text; /* "S-KEY" */
    WsClass klass;
    WsSeverity severity;
    const char *title;
    const char *explain; /* what goes wrong, with a small example */
    const char *fix;     /* the remedy in general words */
} WsRule;
const WsRule *ws_rule(WsRuleId id);
/* By text, case-insensitive; returns WS_RULE_COUNT if there is none. */
WsRuleId ws_rule_find(const char *text);

/* Numbers that the check knows of a finding: one row each in fact.def. WS_FACT_NONE: not known, or
 * it does not apply. */
#define WS_FACT_NONE G_MININT64
typedef enum {
#define WS_FACT(id, text, help) WS_FACT_##id,
#include "model/fact.def"
#undef WS_FACT
    WS_FACT_N
} WsFactId;
const char *ws_fact_text(WsFactId id); /* key of the JSON form: "completion" */

/* What follows if nobody mends it. */
typedef enum {
    WS_HARM_NONE,
    WS_HARM_HANG,       /* some agent never ends */
    WS_HARM_CORRUPTION, /* wrong bytes are computed with or stored */
    WS_HARM_EARLY,      /* a wait can pass, or an arrival count, one phase too early */
    WS_HARM_UNDEFINED,  /* PTX does not say what happens */
} WsHarm;
const char *ws_harm_text(WsHarm harm); /* "hang" */

/* The story of a finding: labelled sentences in the order in which a person follows them. */
typedef enum {
    WS_STORY_WHO,     /* who waits or acts, at which round and phase */
    WS_STORY_CAME,    /* what has arrived */
    WS_STORY_MISSING, /* who should have arrived and why it did not */
    WS_STORY_FIRST,   /* of two accesses the one that may not be over */
    WS_STORY_THEN,    /* the one that does not wait for it */
    WS_STORY_BETWEEN, /* what stands between the two and why it is not enough */
    WS_STORY_SO,      /* consequence */
    WS_STORY_COUNT
} WsStoryPart;
const char *ws_story_label(WsStoryPart part); /* "waits" */

/* The launch that a finding was met with: what `sizes` says in words. */
enum { WS_MET_RANK = 5 };
typedef struct {
    char *name; /* of a size; with `rank` of a tensor, whose element it is */
    guint rank;
    gint64 at[WS_MET_RANK], value;
} WsMetValue;
typedef struct {
    gint refs;
    GArray *value;                /* WsMetValue: sizes, and elements that are not as the others */
    gint64 grid, cta;             /* CTAs and the one that is looked at; grid 0: one cluster */
    gboolean data;                /* elements are this, + step where the first index is odd */
    gint64 element, element_step; /* else 0 */
} WsMet;
WsMet *ws_met_new(void);
WsMet *ws_met_ref(WsMet *met); /* NULL for NULL */
void ws_met_unref(WsMet *met);
void ws_met_add(WsMet *met, const char *name, const gint64 *at, guint rank, gint64 value);

/* Sentences are phrases (phrase.h): `said` and its like hold template and arguments, the member
 * beside it is their English. */
typedef struct {
    WsStoryPart part;
    char *said;
    char *text;
} WsStoryLine;

struct WsFinding {
    WsRuleId rule;
    WsSeverity severity;
    char *at;         /* JSON path or step id: "groups/mma/body/0/do/3" */
    guint line;       /* 1-based line in the file, 0 unknown */
    guint column;     /* 1-based */
    char *said;       /* phrase: one sentence naming step, barrier, round */
    char *message;    /* its English */
    char *what;       /* phrase: the sentence without agent and sizes around it; NULL: `said` */
    char *advised;    /* phrase: what to do here, or NULL */
    char *remedy;     /* its English */
    GPtrArray *steps; /* char*: further step ids concerned; may be NULL */
    char *barrier;    /* "full[0] slot 2" or NULL */
    char *barrier_said;
    char *round; /* "tile 1, k 3" or NULL */
    WsHarm harm;
    GPtrArray *story; /* WsStoryLine*, or NULL */
    char *agent;      /* who meets it: "mma.0", "load@1", or NULL */
    char *other;      /* agent of the other access, or NULL */
    char *object;     /* name of the barrier or buffer in the design, or NULL */
    gint64 fact[WS_FACT_N];
    GPtrArray *loops; /* char*: names of the loops, outermost first, or NULL */
    GArray *rounds;   /* gint64: their rounds, parallel */
    char *sizes;      /* "K = 257": what it was met with, or NULL */
    WsMet *met;       /* the same as data; NULL: not of one CTA */
    char *silenced;   /* the written reason of a `suppress`: not counted, not printed; else NULL */
};

/* Appends a finding with the rule's severity. `at` is copied, template and arguments are kept:
 * an argument for `%s` may itself be a phrase, and a constant one should be a WS_WORD(). Returned
 * pointer is borrowed and may be filled further (remedy, steps, barrier, round). */
WsFinding *ws_findings_add(WsFindings *f, WsRuleId rule, const char *at, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
void ws_finding_set_remedy(WsFinding *f, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Adds a sentence to the story; `f` may be NULL. */
void ws_finding_tell(WsFinding *f, WsStoryPart part, const char *format, ...) G_GNUC_PRINTF(3, 4);
void ws_finding_set_barrier(WsFinding *f, const char *phrase);
/* What a finding says, in the words of a language (NULL: English). Callers free. */
char *ws_finding_message(const WsFinding *f, WsTranslate translate, gpointer data);
char *ws_finding_remedy(const WsFinding *f, WsTranslate translate,
                        gpointer data); /* or the rule's */
/* The story and the remedy, one labelled sentence per line, each line after `indent`, at most
 * `width` columns (0: unlimited) with hanging indent. Caller frees. */
char *ws_finding_story(const WsFinding *f, const char *indent, guint width);
G_END_DECLS
