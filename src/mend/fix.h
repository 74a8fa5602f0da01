/* Quick-fixes: edits of the design that may mend a finding. Builders propose (fix.def says which
 * for which rule); only a new check tells whether a proposal holds. */
#pragma once

#include "check/check.h"
#include "edit/draft.h"
#include "model/finding.h"

G_BEGIN_DECLS

/* Owns its title, deeds and draft. */
typedef struct {
    const char *kind; /* row of fix.def: "derive-count"; static */
    char *said;       /* phrase of the title */
    char *title;      /* one line for a button or a list: "Wait for empty before the load" */
    GArray *deeds;    /* what it does and is not yet drawn: src/mend/fixer.h */
    WsDraft *draft;   /* the design with all edits of the fix, and these, once it is drawn */
    gboolean safe;    /* only synchronisation changes, none of it goes: no data, sizes, rounds */
    guint cost;       /* how far it is from what is drawn: fix.def */
    gboolean proves;  /* ws_fix_try() has proved the whole design with it */
} WsFix;

/* Of the proposals for a finding: how many are worth a whole check each, and how many that hold are
 * worth showing. */
enum { WS_FIX_TRIED = 48, WS_FIX_SHOWN = 4 };
/* Proposals for a finding, the likeliest first, 2 * WS_FIX_TRIED at most; empty if there are none.
 * All of them fit the design's form; nothing is checked. Transfer full (WsFix*; the array frees
 * them). */
GPtrArray *ws_fixes_of(const WsDesign *design, const WsFinding *finding);
/* Kinds of quick-fixes that are tried for a rule, the likeliest first: static strings; the caller
 * frees the array. */
GPtrArray *ws_fix_kinds(WsRuleId rule);
void ws_fix_free(WsFix *fix);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsFix, ws_fix_free)

/* What a check said of a design, to compare others with. Owns findings and verdict. */
typedef struct {
    WsDesign *design;
    WsFindings *findings;
    WsVerdict *verdict; /* NULL if it does not elaborate without errors */
    guint errors, warnings;
    guint ops; /* of its program: what a check of a design like it takes goes with them */
    gint refs;
    GHashTable *tried; /* ws_fix_state_remember(): what a design is -> WsFixState */
    GHashTable *own;   /* the same: identities of the design's nodes */
} WsFixState;
WsFixState *ws_fix_state_new(const WsDesign *design, const WsSetting *set, guint n_set,
                             const WsCheckOptions *options);
void ws_fix_state_free(WsFixState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsFixState, ws_fix_state_free)

/* From now on ws_fix_try() checks a design once, though several findings lead to it. For who tries
 * the fixes of all findings, always with the same settings and options. */
void ws_fix_state_remember(WsFixState *state);

/* Checks the fixed design: NULL unless the finding is gone and there is no error that `before` does
 * not have. (Same finding: same rule at the same step, by identity, wherever that stands now.)
 * Takes as long as a check. */
WsFixState *ws_fix_try(const WsFixState *before, const WsFinding *finding, WsFix *fix,
                       const WsSetting *set, guint n_set, const WsCheckOptions *options);
/* Of the proposals that hold the one that leaves least behind; NULL if none holds. With `any` also
 * those that are not safe. `*fix` is what was done; free both. */
WsFixState *ws_fix_best(const WsFixState *before, const WsFinding *finding, gboolean any,
                        const WsSetting *set, guint n_set, const WsCheckOptions *options,
                        WsFix **fix);

/* What a repair may do, and with what it is checked. */
typedef gboolean (*WsFixWanted)(const WsFinding *finding, gpointer data);
typedef struct {
    gboolean any;       /* also fixes that are not safe */
    WsFixWanted wanted; /* findings to look at; NULL: errors and warnings */
    gpointer data;
    const WsSetting *set;
    guint n_set;
    const WsCheckOptions *options;
} WsFixAsk;

/* What `check --fix` does: of all proposals the one nearest to what is drawn that the check proves,
 * two of them if one is not enough, then warnings. NULL: nothing is to be written, for the design
 * would stay wrong. `steps`, `offers` (char*, may be NULL): what was done, and what is proved but
 * not safe, each with its edits. Seconds at most. */
WsFixState *ws_fix_repair(const WsFixState *before, const WsFixAsk *ask, GPtrArray *steps,
                          GPtrArray *offers);

G_END_DECLS
