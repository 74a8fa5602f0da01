/* What findings, fixes and rules say, in the language of the studio. src/ knows no language: its
 * sentences are phrases (src/base/phrase.h), whose templates stand in po/findings.def. All char *
 * belong to the caller. */
#pragma once

#include "check/verdict.h"
#include "model/forward.h"

G_BEGIN_DECLS

char *ws_words(const char *phrase);                              /* NULL for NULL */
const char *ws_words_translate(const char *text, gpointer data); /* for what makes its own words */
const char *ws_words_of_text(const char *text); /* of a table of src/: a title, a help text */
char *ws_words_message(const WsFinding *f);
char *ws_words_remedy(const WsFinding *f);        /* or that of the rule */
char *ws_words_barrier(const WsFinding *f);       /* or NULL */
char *ws_words_story(const WsFinding *f);         /* labelled sentences, one per line */
/* All of them, one below the other, with their places in a file that they keep from being read. */
char *ws_words_findings(const WsFindings *findings, const char *file);
const char *ws_words_title(const WsFinding *f);   /* of the rule */
const char *ws_words_verdict(WsVerdictKind kind); /* its first word: "proved" */
/* The same with how much a proof takes as given: "proved under 2 assumptions". Caller frees. */
char *ws_words_verdict_given(const WsVerdict *v);
const char *ws_words_explain(const WsFinding *f);
char *ws_words_said(const WsVerdict *v); /* all that it says */
/* "M = 320, CTA 0 of 6 (tile 0)": which launch a witness is of. */
char *ws_words_launch(const char *sizes);
/* What the clock says of a prediction (WsClockResult): the sentences of its note, and what binds
 * it. */
char *ws_words_bound(const char *bound); /* NULL for NULL */

G_END_DECLS
