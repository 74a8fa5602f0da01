/* What the words of a dialect mean: `a` holds the arguments by parameter, NULL where absent; the
 * rows of the tables (gluon.def) name these functions. */
#pragma once

#include "import/python/pyread.h"

G_BEGIN_DECLS

typedef const Val *(*PyMeaning)(PyRead *p, const Val **a, const WsPyNode *at);

#define PY_MEANING(id, effect)                                                                     \
    const Val *py_mean_##id(PyRead *p, const Val **a, const WsPyNode *at);
#include "import/python/dialect/meaning.def"
#undef PY_MEANING

/* What a call of a name as it stands in a text is likely to mean, whatever the file binds the name
 * to: by the row that fits, else by the last word alone. NULL: no row does. */
PyMeaning py_likely_meaning(WsImportFrom from, const char *dotted);
const Val *py_none(PyRead *p);
/* A wait for products orders the registers that it hands on: what is read of others behind it may
 * be read before it. */
void py_look_at_product(PyRead *p, const Val *v, const WsPyNode *at);
/* Before an access to a buffer: a barrier of the compiler where one is due. */
void py_have_met(PyRead *p); /* all threads of the group, at a barrier of the source */
void py_meet_before(PyRead *p, gint buffer, gboolean writes, const WsPyNode *at);
void py_touched(PyRead *p, gint buffer); /* by plain accesses, since the last fence */
/* A part of a buffer by lists: a[0] from a[1] on, as long as a[2] says. */
const Val *py_box(PyRead *p, const Val **a, const WsPyNode *at);
/* One element of a stage that is a line; a place that is not shown to lie in it is not read. */
const Val *py_element(PyRead *p, const Val *line, const Val *at_element, const WsPyNode *at);
/* The type of a tensor's elements; listed as a value where nothing says it: `otherwise`, then. */
const char *py_type_of(PyRead *p, gint tensor, const char *otherwise, const WsPyNode *at);
/* What a store asks its tile to be converted to is what it is stored to, or that is listed. */
void py_convert_for(PyRead *p, const char *dtype, const WsPyNode *at);
/* The type of what is stored, where nothing else says which the tensor has: taken for granted. */
void py_type_stored(PyRead *p, WsReadTensor *t, const char *dtype);
void py_extents(PyRead *p, Val *v); /* sets rows and columns of a place: pyread_objects.c */
/* A store to global memory whose place is not known: it reads the tile and touches nothing else of
 * the pipeline. */
const Val *py_store_away(PyRead *p, const Val *value, const WsPyNode *at);
/* --- py_remarks.c; NULL: no remark says so. */
/* The tree of what stands behind `key` at the end of the statement; caller frees. */
WsPython *py_said(PyRead *p, const WsPyNode *at, const char *key, const WsPyNode **node);
/* LEN[b, t]: an element of a tensor of integers, as remarks of exports say it. */
const Val *py_tensor_element(PyRead *p, const Val *tensor, const WsPyNode *at);
#define PY_ROW "# row" /* what arange gives while a remark is compared with its line */
/* Whether the remark says of the line what it says itself (py_agree.c). */
gboolean py_line_says(PyRead *p, const WsPyNode *line, const WsPyNode *said);
/* Whether the accumulator is zeros where `c` holds, at the product that is read now. */
gboolean py_begins_anew(PyRead *p, const Val *acc, const WsExpr *c);
const Val *py_said_value(PyRead *p, const WsPyNode *at); /* "# is: LEN[b, t]" */
/* A step on the tile of tensor `tensor` at `n` coordinates. */
WsReadStep *py_at_tensor(PyRead *p, WsReadKind kind, gint tensor, const WsExpr *const *coord,
                         guint n, const WsPyNode *at);
/* The same through `pointer`, which is not the first argument of `at`. */
WsReadStep *py_pointed_by(PyRead *p, WsReadKind kind, const WsPyNode *pointer, const WsPyNode *at,
                          gint64 *rows, gint64 *cols);
WsReadStep *py_pointed(PyRead *p, WsReadKind kind, const WsPyNode *at, gint64 *rows, gint64 *cols);
/* Argument i of a call, which may be given by its name; NULL: it is not. */
const WsPyNode *py_argument(const WsPyNode *call, guint i, const char *name);
WsReadStep *py_gather(PyRead *p, const Val *to, const WsPyNode *pointers, const WsPyNode *mask,
                      const WsPyNode *at);
WsReadStep *py_gathered(PyRead *p, const Val *to, const WsPyNode *x, const WsPyNode *at);
const Val *py_add_to_tensor(PyRead *p, const char *how, const Val *value, const WsPyNode *at);
/* --- py_bounds.c */
gboolean py_is_size(const PyRead *p, const char *name);
gboolean py_is_same(const WsExpr *a, const WsExpr *b);
/* How many values a number of the launch or of a round takes, from 0 on; NULL: that is not known.
 */
const WsExpr *py_count_of(PyRead *p, const char *name);
/* program_id // n and program_id % n of no more than n programs; NULL: there may be more. */
const WsExpr *py_of_few_programs(PyRead *p, const char *op, const WsExpr *a, const WsExpr *b);
/* Of numbers of the launch, of tiles and of rounds, which are not below 0, nothing taken away. */
gboolean py_is_from_zero(PyRead *p, const WsExpr *e);
/* The same where rows of tiles are grouped, the last group being smaller: n - tile/(g*m)*g of n * m
 * tiles. */
gboolean py_is_place(PyRead *p, const WsExpr *e);
/* e + n <= shape, whatever the launch, by what is assumed of the shape, too. */
gboolean py_fits(PyRead *p, const WsExpr *e, gint64 n, const WsExpr *shape);
/* The same of 0 <= at and at + n <= shape, where tiles are counted in groups of rows (py_groups.c). */
gboolean py_in_groups(PyRead *p, const WsExpr *at, gint64 n, const WsExpr *shape);
gboolean py_is_bound(PyRead *p, const WsExpr *bound, const WsExpr *shape);
gboolean py_is_extent(const PyRead *p, const WsExpr *e); /* one number of the launch */
/* A name of one that is no extent of a tensor: such a stride is one of another tensor, or of a
 * tensor that is laid out another way. A number of the kernel's own is handed over by nobody. */
gboolean py_is_handed(const PyRead *p, const WsExpr *e);
/* --- py_through.c: a step on the tile of a tensor that pointers pick. NULL, and listed: it is not
 * shown to lie in the tensor. `more`: the mask asks for more than that; NULL: it may not. */
WsReadStep *py_through(PyRead *p, WsReadKind kind, const Val *pointer, const Val *mask,
                       const WsPyNode *at, gboolean *more);
/* It lies in its tensor, and the mask asks for more than that. */
gboolean py_asks_more(PyRead *p, const Val *pointer, const Val *mask, const WsPyNode *at);
/* Such a store (`more`) goes where the mask holds. FALSE: the mask is no value. */
gboolean py_store_masked(PyRead *p, WsReadStep *s, const Val *mask, gint64 rows, gint64 cols,
                         const WsPyNode *at);
/* What a load under a mask gives: the tile, or `other`. */
const Val *py_masked_value(PyRead *p, const Val *tile, const Val *mask, const Val *other,
                           gboolean more);
/* Shared memory that holds a tile, put there now (tle_parts.c); NULL: it is none. */
const Val *py_laid_down(PyRead *p, const Val *tile, const WsPyNode *at);
/* --- tle_hints.c: loads of a loop with num_stages that products take. 0: it is none. */
gint64 py_stages_of(const PyRead *p, const WsPyNode *load);
/* One in a branch, which through pointers is staged without a barrier. */
gboolean py_stages_maybe(const PyRead *p, const WsPyNode *load);
const Val *py_staged_desc(PyRead *p, const Val *desc, const Val *coord, const WsPyNode *at);
const Val *py_staged_pointers(PyRead *p, const Val *pointer, const Val *mask, const Val *other,
                              const WsPyNode *at);
const Val *py_read_remote(PyRead *p, const Val *remote, const WsPyNode *at);
/* The call could not be read: an opaque step in a partition, and a line in the list. */
char *py_site_of(const PyRead *p, const WsPyNode *at); /* of what is made there; caller frees */
const Val *py_copy_at_once(PyRead *p, const Val **a, const WsPyNode *at); /* tle_access.c */
void py_wait_for_rows(PyRead *p, const WsPyNode *at); /* all threads, for what they copied */
const Val *py_start_copy(PyRead *p, const Val **a, const WsPyNode *at);
gboolean py_copies_async(PyRead *p, const Val *flag, const WsPyNode *at);
const Val *py_copy_through(PyRead *p, const Val **a, const WsPyNode *at);
gboolean py_copies_maybe(const GPtrArray *list, gboolean inside);
const Val *py_arrive_each(PyRead *p, const Val *barrier, gint64 n, const WsPyNode *at);
/* Says that it is not read, unless `e` is shown to be one of 0 … n - 1 (pyread_range.c). */
void py_need_within(PyRead *p, const WsExpr *e, gint64 n, const WsPyNode *at);
/* The same, unless the block of a descriptor, or a shape, is that of the buffer. */
void py_need_block(PyRead *p, const Val *block, const Val *buffer, const WsPyNode *at);
const Val *py_wrong(PyRead *p, const WsPyNode *at, const char *what);
/* An element of a tensor of integers through a pointer that is one number. NULL: it is none. */
const Val *py_loaded_number(PyRead *p, const Val *pointer, const WsPyNode *at);
/* Integers of that tensor are in expressions: nothing may be stored to it. */
void py_note_number(PyRead *p, const char *tensor);
GArray *py_aways(void); /* of PyAway */
/* A store, or a load, through a pointer that no step stands for. NULL: the pointer is not known. */
void py_note_store(PyRead *p, const Val *pointer, const WsPyNode *at);
void py_note_fetch(PyRead *p, const Val *pointer, const WsPyNode *at);
/* A counter that is added to, which races with loads and stores alone. */
void py_note_count(PyRead *p, const Val *pointer, const WsPyNode *at);
void py_finish_numbers(PyRead *p); /* those that the kernel may write itself are listed */
/* That those stores race with nothing, and what is loaded where they may store, is granted. */
void py_finish_aways(PyRead *p);
/* Barriers and fences of the compiler are taken for granted, with their lines. */
void py_finish_implied(PyRead *p);
/* The field that an attribute of a slot names, read there; NULL: there is none. */
const Val *py_tle_field(PyRead *p, const Val *slot, const WsPyNode *at);
/* The slot of a reader or a writer at a use. */
const Val *py_tle_slot(PyRead *p, const Val *end, const WsExpr *use);
const Val *py_tle_signal(PyRead *p, const Val *buffer);
void py_tle_finish(PyRead *p);
const Val *py_load_places(PyRead *p, const Val **a, const WsPyNode *at); /* of VAL_PLACES */
const Val *py_store_places(PyRead *p, const Val **a, const WsPyNode *at);
void py_finish_places(PyRead *p); /* indices that may leave their buffers are listed */
/* What a load or store goes through is not shown to point to global memory (py_global.c). */
gboolean py_may_be_shared(PyRead *p, const Val *pointer, const WsPyNode *call);
/* The kernel as the one group that all warps are. */
const Val *py_one_group(PyRead *p, const Val **args, const WsPyNode *at);
/* Copies into barriers that nobody expects bytes on are listed: nothing makes them up (Gluon). */
void py_finish_bytes(PyRead *p);
/* At the end of a block: its copies beyond `before` are in no group of it. */
void py_copies_left(PyRead *p, guint before, const WsPyNode *at);
void py_count_copies(PyRead *p); /* at the end of a group: its waits for cp.async */
/* A kernel with partitions: what it does outside of them is done by the warps of the first one. */
void py_with_partitions(PyRead *p, const Val **args, const WsPyNode *at);
/* `with tlx.async_tasks():`: its tasks become groups. FALSE: the statement is none. */
gboolean py_tasks(PyRead *p, const WsPyNode *with);
/* What the block does in `warps` of its own, with the variables around it (pyread_partition.c), and
 * what comes behind all of them. */
void py_run_task(PyRead *p, const WsPyNode *body, const char *name, gint64 warps, gint64 registers,
                 const WsPyNode *at);
void py_behind_partitions(PyRead *p);
/* "turn[1]" of number `id` of the hardware; NULL: other many threads meet there. */
const char *py_named_barrier(PyRead *p, gint64 id, gint64 threads, const WsPyNode *at);
/* Numbers of named barriers in a constant of the file (pyread_named.c). */
void py_named_constant(PyRead *p, const WsPyNode *assign, const Val *v);
void py_tle_pipes(PyRead *p); /* who arrives how often in pipes, when all groups were read */
/* Writes the pipe as one of the design where its writer closes it, or a loop goes over it. */
void py_tle_close(PyRead *p, const Val *pipe);
void py_tle_remarks(PyRead *p, const WsPyNode *block, guint i); /* before statement i; n: behind */
gint64 py_number(const Val *v, gint64 otherwise); /* what v is if it is a known integer */

gboolean py_given(const Val *v); /* an argument that is neither left out nor None */
gboolean py_is_barrier(const Val *v);
gboolean py_is_named(const Val *v, const char *word);  /* a name that ends so */
WsReadBarrier *py_barrier_of(PyRead *p, const Val *v); /* v is a barrier; borrowed */

G_END_DECLS
