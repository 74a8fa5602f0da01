/* What the parts of `warpstave search` share. */
#pragma once

#include "cli/cli.h"
#include "search/search.h"

G_BEGIN_DECLS

typedef struct {
    const char *file, *out, *resume;
    gboolean json, dry;
    WsSearchOptions options; /* its `data` is this */
    GHashTable *same;        /* designs that were rehearsed, with the values of their reference */
    guint unbuilt; /* designs whose code ptxas does not assemble as it is meant, of this search */
    guint measure; /* designs to run on a GPU, 0 none */
    const char *host, *keep; /* where; folder for their bundles; NULL: here; none */
} WsSearchAsked;

/* --- asked.c --- */
/* Whether ptxas can be asked: the clock knows nothing of products that it serialises, or of values
 * that it spills. */
gboolean ws_asked_can_build(void);
/* WsSearchOptions.builds. */
gboolean ws_asked_builds(const WsProgram *p, gpointer data);
/* WsSearchOptions.values. */
gboolean ws_asked_values(const WsDesign *design, gpointer data);
/* WsSearchOptions.accept: not what computes something else, nor what cannot be compared though what
 * computes was moved; nor what cannot be built as it was played. `data`: WsSearchAsked. */
gboolean ws_asked_accept(const WsFound *f, gpointer data);

/* --- told.c --- */
void ws_told_print(const WsSearchAsked *a, const WsTrialOf *of, const WsSearch *s);
/* The members of the open object. */
void ws_told_json(WsJsonOut *j, const WsSearchAsked *a, const WsTrialOf *of, const WsSearch *s);
/* The designs found, in files beside each other; the exit code. */
int ws_told_write(const WsSearchAsked *a, const WsSearch *s);
/* A design as it is written, with its decisions in its note. Caller frees. */
char *ws_told_text(const WsFound *f);
/* OUT.wstave, OUT-2.wstave, OUT-3.wstave, … Caller frees. */
char *ws_told_file(const char *out, guint i);

/* --- shapes.c: --case --- */
/* A search for each of the cases ("M=1 N=2"), and a rule of at most `most` designs; the exit code.
 */
int ws_search_cases(WsSearchAsked *a, char **set, char **cases, const char *machine, guint most);

G_END_DECLS
