/* Inside src/mend: what builders of quick-fixes share. */
#pragma once

#include "mend/fix.h"

#include <stdio.h>
#include <string.h>

G_BEGIN_DECLS

/* A step and where it stands. */
typedef struct {
    const WsNode *node, *owner, *group;
    WsFieldId field; /* list of the owner */
    guint index;
    gint up; /* spot of the loop or branch it stands in, -1: the group's body */
} WsSpot;

typedef struct {
    const char *kind;
    gboolean safe;
    guint cost;
} WsFixRow;

typedef struct {
    const WsDesign *design;
    const WsFinding *finding;
    GArray *spot;         /* WsSpot of all steps, in document order */
    gint at, other;       /* spots of the finding's step and of its first further one, -1 none */
    const WsNode *object; /* object of the design that the finding names, or NULL */
    const WsFixRow *row;  /* whose turn it is */
    GPtrArray *out;       /* WsFix* */
} WsFixer;

/* One edit of a proposal, on nodes by identity. A design of a thousand steps has thousands of
 * proposals: they become edits of a draft when somebody looks at them. Owns its value. */
typedef struct {
    enum { WS_MEND_SET, WS_MEND_REPLACE, WS_MEND_REMOVE, WS_MEND_MOVE, WS_MEND_INSERT } what;
    guint64 node;  /* that is changed or moved */
    guint64 owner; /* MOVE, INSERT: of the list; 0: what the first INSERT of the proposal made */
    WsFieldId field;
    guint index; /* MOVE, INSERT; G_MAXUINT: behind what the list holds then */
    WsJson *value;
} WsMendDeed;

typedef void (*WsFixBuilder)(WsFixer *F);
#define WS_FIX(id, kind, safe, cost, rules) void ws_fix_##id(WsFixer *F);
#include "mend/fix.def"
#undef WS_FIX

/* --- place.c --- */
void ws_fixer_init(WsFixer *F, const WsDesign *design, const WsFinding *finding);
void ws_fixer_clear(WsFixer *F);
const WsSpot *ws_spot(const WsFixer *F, gint i);
gint ws_spot_of(const WsFixer *F, const WsNode *node); /* -1 none */
/* The neighbour in the same list, `by` places on; -1 none. */
gint ws_spot_next(const WsFixer *F, gint i, gint by);
/* The outermost loop or branch that holds step i but not step j; i itself if there is none. */
gint ws_spot_outside(const WsFixer *F, gint i, gint j);
/* The nearest enclosing loop with a count, -1 none. */
gint ws_spot_loop(const WsFixer *F, gint i);
gboolean ws_spot_inside(const WsFixer *F, gint i, gint loop);
/* "k == 0": the first round of a loop, or with ">" those behind it; `from` counts. Caller frees. */
char *ws_first_round(const WsFixer *F, gint loop, const char *is);
/* Barrier a step waits for, arrives on, expects on or signals; NULL. Borrowed. */
const char *ws_step_barrier(const WsNode *step);
gboolean ws_step_is(const WsFixer *F, gint i, WsNodeKind kind);
/* That, on a barrier; is there such a step in the list of step i (`barrier` NULL: on any, or none)?
 */
gboolean ws_is_on(const WsFixer *F, gint i, WsNodeKind kind, const char *barrier);
gboolean ws_in_list(const WsFixer *F, gint i, WsNodeKind kind, const char *barrier);
/* Does a group (NULL: anybody) wait for the barrier? */
gboolean ws_waits(const WsFixer *F, const WsNode *group, const char *barrier);
gboolean ws_is_named(const WsNode *barrier); /* and no mbarrier */
/* Does a text (NULL: none) have the word, as a whole one? */
gboolean ws_has_word(const char *text, const char *word);
/* What a field holds as a person writes it: `k.total - 1`, `4`; NULL if absent. Caller frees. */
char *ws_field_text(const WsNode *node, WsFieldId field);
/* `use` of a step: the field, or the @ of what it names; NULL if none. Caller frees. */
char *ws_step_use(const WsNode *step);
const WsNode *ws_object_named(const WsDesign *design, WsFieldId list, const char *name);
/* Name for people: "the load of A", "`wait full`". Caller frees. */
char *ws_step_name(const WsNode *step);

/* --- steps.c: sorts of steps --- */
gboolean ws_step_orders(WsNodeKind kind);  /* it orders others, and touches no data */
gboolean ws_step_moves(WsNodeKind kind);   /* that, and one group alone can do it elsewhere */
gboolean ws_step_hands(WsNodeKind kind);   /* at an mbarrier or a pipe: it names a use */
gboolean ws_step_retires(WsNodeKind kind); /* it waits for groups of its own */
gboolean ws_step_is_data(WsNodeKind kind); /* it moves or multiplies what buffers hold */

/* --- rings.c: what steps do with buffers and barriers --- */
const char *ws_step_ref(const WsNode *step, WsFieldId field);    /* name it refers to; NULL */
gboolean ws_step_writes(const WsNode *step, const char *buffer); /* in shared memory */
gboolean ws_step_reads(const WsNode *step, const char *buffer);
/* Has the list of step i, or one around it before the way leads in, such a step on the barrier? */
gboolean ws_has_beside(const WsFixer *F, gint i, WsNodeKind kind, const char *barrier);
gboolean ws_is_mbarrier(const WsFixer *F, const char *name);
/* "N + 1", "N - 1" and "max(0, N - 1)" without their one; NULL for others. Caller frees. */
char *ws_one_off(const char *text);
/* The first step of the list of step i that writes shared memory; i itself if none does. */
gint ws_first_writer(const WsFixer *F, gint i);

/* --- role.c --- */
/* A step of that kind in the group with that text behind its keyword: a pipe's name, "arrive". */
gboolean ws_group_does(const WsFixer *F, const WsNode *group, WsNodeKind kind, const char *what);

/* --- counter.c --- */
/* No field of the group but `use` names the counter. */
gboolean ws_only_in_uses(const WsFixer *F, const WsNode *group, const char *counter);

/* --- ranges.c: axes of the launch --- */
const WsExpr *ws_axis(const WsFixer *F, const char *name); /* NULL: no axis of that name */
void ws_fix_tiles_of_axis(WsFixer *F, const char *axis, const char *n);

/* Does a read meet other bytes than it means, though the mistakes are gone? */
gboolean ws_fix_gets_stale(const WsFixState *before, const WsFixState *after);
/* No step that is drawn goes or moves. */
gboolean ws_fix_only_adds(const WsFix *fix);
/* ws_fixes_of(), none of them drawn, nor known to fit. */
GPtrArray *ws_fixes_planned(const WsDesign *design, const WsFinding *finding);
/* Raises the cost of those that are far from all steps that the finding names (near.c). */
void ws_fixes_rank(const WsFixer *F, GPtrArray *fixes);
/* Sorts proposals by cost; of those that do the same one stays. */
void ws_fixes_sort(GPtrArray *fixes);

/* --- adding proposals: returns the fix to add edits to (owned by F) --- */
WsFix *ws_fixer_add(WsFixer *F, const char *title, ...) G_GNUC_PRINTF(2, 3);
/* Values are taken, as everywhere (model/build.h); nodes are those of F, wherever they stand after
 * the edits before. An edit that does not fit takes its proposal away. */
void ws_fix_set(WsFix *fix, const WsNode *node, WsFieldId field, WsJson *value); /* NULL: unset */
void ws_fix_insert(const WsFixer *F, WsFix *fix, gint spot, gint by, WsJson *value);
void ws_fix_append(WsFix *fix, const WsNode *owner, WsFieldId list, WsJson *value);
void ws_fix_remove(const WsFixer *F, WsFix *fix, gint spot);
/* Moves a step behind (by 1) or before (by 0) another one. */
void ws_fix_move(const WsFixer *F, WsFix *fix, gint spot, gint to, gint by);
void ws_fix_do(WsFix *fix, WsMendDeed deed);
/* Makes its edits; FALSE: they do not fit the design's form. */
gboolean ws_fix_draw(WsFix *fix);
char *
ws_fix_deeds(const WsFix *fix); /* what is not drawn, as text: two that do the same say the same */

/* --- values of steps --- */
/* The rest of a step that orders; what is NULL is left out. */
typedef struct {
    const char *by, *cta, *when;
} WsHanding;
/* A step of a kind that names a barrier or pipe and a use; `use` may be NULL. */
WsJson *ws_hand(WsNodeKind kind, const char *ref, const char *use, WsHanding how);
/* A step that is its keyword alone: `sync group`, `mma_wait 0`. */
WsJson *ws_plain(WsNodeKind kind, const char *what);

G_END_DECLS
