/* What a hand can do to a design. Nodes are named by identity; a draft's edits become one step. */
#pragma once

#include "edit/draft.h"

G_BEGIN_DECLS

/* --- looking (look.c) ---------------------------------------------------------------------------
 */
/* "load A", "for k", "buffer a": what a node is called in menus. Caller frees. */
char *ws_edit_label(const WsNode *node);
const WsNode *ws_edit_group(const WsDesign *design,
                            const WsNode *node); /* group it is in, or NULL */
/* The innermost loop around a node; NULL if there is none in its group. */
const WsNode *ws_edit_loop(const WsDesign *design, const WsNode *node);
/* First list of steps that a node holds: `body`, `do`, `then`; WS_F_COUNT if it holds none. */
WsFieldId ws_edit_list_field(const WsNode *node);
/* All names that an expression at this node may use, for completion; and of buffers, barriers …
 * Free with g_ptr_array_unref. */
GPtrArray *ws_edit_names(const WsDesign *design, const WsNode *at);
/* Whether a name is given in the document's scopes, or in that group's (NULL: in any group). */
gboolean ws_edit_taken(const WsDesign *design, const WsNode *group, const char *name);
/* A name like `base` that is not taken anywhere. Caller frees. */
char *ws_edit_fresh(const WsDesign *design, const char *base);
/* A buffer, barrier, pipe or tensor by name; NULL if there is none. */
const WsNode *ws_edit_object(const WsDesign *design, const char *name);
/* The pipe that carries a buffer; NULL: none does. */
const WsNode *ws_edit_pipe_of(const WsDesign *design, const char *buffer);
/* The name of the buffer at the end of a buffer's chain of `over`, whose bytes it shares; of
 * anything else its own. Borrowed. */
const char *ws_edit_root(const WsDesign *design, const char *name);
/* A buffer that shares bytes with this one, as the same ring under another name (alike) or as
 * another one; NULL: there is none. */
const WsNode *ws_edit_laid_over(const WsDesign *design, const WsNode *buffer, gboolean alike);
/* Whether a step of that kind reads (or writes) what stands in that field; the reference by which a
 * step reads (or writes) a buffer, NULL: it does not. */
gboolean ws_edit_is_touch(WsNodeKind kind, WsFieldId field, gboolean writes);
const WsRef *ws_edit_touch(const WsNode *step, const char *buffer, gboolean writes);

/* --- names (mention.c) --------------------------------------------------------------------------
 */
/* Renames an object, group, value, counter, loop or let, and every mention of it. */
gboolean ws_edit_rename(WsDraft *d, guint64 node, const char *name);
/* Identities of the steps and objects that mention a name. */
GArray *ws_edit_mentions(const WsDesign *design, const char *name); /* guint64; free */

/* Whether a step finds its counters as they are where it goes: one place on (`by` -1, 1), or in
 * another round (0; also where that place is beyond the list). */
gboolean ws_edit_keeps_counters(const WsDesign *design, const WsNode *step, gint by);

/* --- adding and taking away (add.c, arrange.c) --------------------------------------------------
 */
/* Where a step goes: before position `index` of that list. owner 0: nowhere. */
typedef struct {
    guint64 owner;
    WsFieldId list;
    guint index;
} WsEditSpot;
/* Behind the node; into it if it is a group, or an empty loop or branch. For no node: the end of
 * the last group. */
WsEditSpot ws_edit_spot(const WsDesign *design, const WsNode *at);
/* A step or object of a kind with what it needs guessed from what there is. `at`: node beside which
 * it goes, or NULL. */
gboolean ws_edit_add(WsDraft *d, WsNodeKind kind, const WsNode *at);
gboolean ws_edit_add_at(WsDraft *d, WsNodeKind kind, WsEditSpot spot);
/* Kinds that are likely added next beside that node (NULL: nothing selected), the likeliest first;
 * how many. */
#define WS_EDIT_LIKELY 4
guint ws_edit_likely(const WsDesign *design, const WsNode *at, WsNodeKind likely[WS_EDIT_LIKELY]);
/* Removes; of an object also what is nothing without it (waits and arrivals on a barrier). */
gboolean ws_edit_remove(WsDraft *d, const guint64 *nodes, guint n);
gboolean ws_edit_duplicate(WsDraft *d, const guint64 *nodes, guint n);
/* Declares the tensors and sizes that the reference names and nobody has declared, and takes away
 * those that only the reference before it named. Where the text leaves an extent open or two
 * disagree, nothing is declared. */
gboolean ws_edit_declare(WsDraft *d);
/* What in this field is only a guess, made with another edit and not changed since: "BM = 128",
 * "bf16"; NULL: nothing. Caller frees. */
char *ws_edit_guessed(const WsDesign *design, const WsNode *node, WsFieldId field);
/* All guesses of a design that the one before it had not; NULL: none. Caller frees. */
char *ws_edit_guesses(const WsDesign *before, const WsDesign *after);
/* Before a draft is committed: what it changed or took away is no guess any more, also if it comes
 * back; what it renamed stays one. */
gboolean ws_edit_settle(WsDraft *d);
gboolean ws_edit_confirm(WsDraft *d, guint64 node, WsFieldId field); /* nothing in it is a guess */
/* An empty design: no step yet, one group. Transfer full. */
WsDesign *ws_edit_empty(const char *name);

/* --- order (arrange.c) --------------------------------------------------------------------------
 */
/* To a place, in the order they stand in now; `spot.index` counts in the list as it is. */
gboolean ws_edit_move(WsDraft *d, const guint64 *nodes, guint n, WsEditSpot spot, gint ahead);
/* What steps that are moved may not leave behind (along.c): the waits for operands or room, the
 * mma_wait that ends a product and the arrivals that give its operands back, of those only what
 * would be on the wrong side of them there. Nothing of `nodes` itself. */
typedef struct {
    GArray *before, *behind; /* guint64: goes right before them, right behind them */
} WsAlong;
WsAlong *ws_edit_along(const WsDesign *design, const guint64 *nodes, guint n, WsEditSpot spot,
                       gint ahead);
void ws_along_free(WsAlong *along);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsAlong, ws_along_free)
/* ws_edit_move, and `along` (made for the same spot and `ahead`) with it. */
gboolean ws_edit_move_along(WsDraft *d, const guint64 *nodes, guint n, WsEditSpot spot, gint ahead,
                            const WsAlong *along);
/* The mma_wait that ends this product and no other one in flight; 0 if there is none. */
guint64 ws_edit_own_wait(const WsDesign *design, const WsNode *product);
/* One step by so many rounds, with all that goes along; a product that goes earlier stands behind
 * what still reads its accumulator. */
gboolean ws_edit_ahead_along(WsDraft *d, guint64 node, gint by);
/* One place earlier (-1) or later (+1) in time: within the list, and across the end of a counted
 * loop, where `ahead` changes. Objects and groups move in their list. */
gboolean ws_edit_nudge(WsDraft *d, const guint64 *nodes, guint n, gint by);
/* Rounds earlier (by > 0) or later; a single step as by ws_edit_ahead_along. */
gboolean ws_edit_ahead(WsDraft *d, const guint64 *nodes, guint n, gint by);
/* To the group before (-1) or behind (+1). */
gboolean ws_edit_other_group(WsDraft *d, const guint64 *nodes, guint n, gint by);
gboolean ws_edit_indent(WsDraft *d, const guint64 *nodes, guint n);  /* into the loop beside */
gboolean ws_edit_outdent(WsDraft *d, const guint64 *nodes, guint n); /* out of the loop */
gboolean ws_edit_wrap(WsDraft *d, const guint64 *nodes, guint n);    /* into a new loop */
gboolean ws_edit_unwrap(WsDraft *d, guint64 loop);
gboolean ws_edit_peel(WsDraft *d, guint64 loop); /* the first round apart: `split` */
/* Cuts a counted loop before this step and runs what follows a round later, beside the next round
 * (rotate.c): with prologue and epilogue, waits, uses and counters carried, in a branch where there
 * may be no round. Refused where the order of values would not hold. */
gboolean ws_edit_rotate(WsDraft *d, guint64 step);
/* The steps at the end of a counted loop that run ahead become its first ones, one round less ahead
 * (roll.c): the order of all steps stays. ptxas serialises products that are in flight where rounds
 * meet and whose accumulator something else reads in the loop. */
gboolean ws_edit_roll(WsDraft *d, guint64 loop);
/* The loops with `num_stages` as ordinary steps: the same program (hint.c). */
gboolean ws_edit_explicit(WsDraft *d, guint64 node);
/* A pipeline group to another stage or place in the round (-1: as it is), or executor (NULL: as it
 * is, "": the group that holds the loop). Refused, with the reason, where the hint is then not
 * possible; the group whose order it takes gets its own. */
gboolean ws_edit_hint_move(WsDraft *d, guint64 group, gint64 stage, gint64 order,
                           const char *executor);
gboolean ws_edit_replicate(WsDraft *d, guint64 group, gint by);
/* A group of one replica gets a second one, and each takes half of the rows of its tile: products,
 * writes and stores of whole tiles are narrowed to them. Refused, with the step, where one does
 * anything of which that cannot be said (share_rows.c). */
gboolean ws_edit_share_rows(WsDraft *d, guint64 group);
/* A tile that this step writes to be stored whole, in slabs of 128 bytes a row: two of them in
 * shared memory, one written while the other is stored, the last ones under the next tile
 * (slabs.c). Refused, with the reason, where anything else stands between or uses the staging. */
gboolean ws_edit_slabs(WsDraft *d, guint64 write);
gboolean ws_edit_mute(WsDraft *d, const guint64 *nodes, guint n);

/* --- edges and rings (connect.c, turn.c, ring.c)
 * --------------------------------------------------------
 */
typedef struct {
    char barrier[64];
    gboolean fresh;        /* the barrier is new */
    gboolean release;      /* `to` writes again what `from` has read: starts ready */
    gboolean wait, arrive; /* which steps are new */
    char use_from[160], use_to[160], slots[160];
    char with[96]; /* loads that came along: of the same list, for the same step; or "" */
    char tail[96]; /* the wait behind the loop after which the last round is told too; or "" */
    gboolean turn; /* replicas take turns: a barrier each, `slots` of them … */
    char first[96], last[96]; /* … from the step they wait before to the one they tell behind */
} WsConnection;
/* An edge: `to` begins only after `from` is done. Creates or reuses a barrier. `how` says what was
 * made. */
gboolean ws_edit_connect(WsDraft *d, guint64 from, guint64 to, WsConnection *how);
/* An edge from one replica of a group to another: a turn (turn.c). Of the same tile, it is around
 * the steps from `to` to `from`, in the innermost list that holds both; of another tile, around
 * whatever of the loop over tiles holds them. */
gboolean ws_edit_turn(WsDraft *d, guint64 from, guint64 to, gboolean other_tile, WsConnection *how);
gint64 ws_edit_replicas(const WsNode *group); /* 0: given by an expression */
/* Depth of the ring that a buffer, barrier or pipe belongs to: the constant it is given by, or all
 * its members. */
gboolean ws_edit_depth(WsDraft *d, guint64 node, gint64 depth);
/* A pair of barriers of its own for a buffer whose loads signal, and whose room is awaited,
 * together with those of others (part.c). */
gboolean ws_edit_part(WsDraft *d, guint64 buffer);
gint64 ws_edit_depth_of(const WsDesign *design, const WsNode *node); /* 0 unknown */

/* --- fragments (clip.c) --------------------------------------------------------------------------
 */
/* The nodes as a design of their own with all that they name, as canonical text; NULL if nothing of
 * it can be copied. Caller frees. */
char *ws_edit_copy(const WsDesign *design, const guint64 *nodes, guint n);
/* Puts what such a text holds into the design: steps at `spot`, objects where they belong. What it
 * names is taken from the design if it is there, else from the text. */
gboolean ws_edit_paste(WsDraft *d, const WsDesign *clip, WsEditSpot spot);
/* A template: like a fragment, but groups and objects get names of their own. */
gboolean ws_edit_template(WsDraft *d, const WsDesign *clip, WsEditSpot spot);

G_END_DECLS
