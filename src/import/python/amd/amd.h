/* Gluon for AMD (gfx950): what the walk of a kernel asks of it. */
#pragma once

#include "import/python/amd/layout.h"
#include "import/python/dialect/pyread_terms.h"

G_BEGIN_DECLS

/* The kernel, or a function that it calls, speaks of triton's module `amd`: after the module was
 * read. */
gboolean py_is_amd(PyRead *p, const WsPyNode *module);
/* An option of a launch that changes which registers LLVM takes, and nothing else. */
gboolean py_amd_option(const char *name, const Val *v);

/* --- layouts.c --------------------------------------------------------------------------------*/
/* The layout of what both are made into one tile of; NULL: of neither anything is known. */
const PyLayout *py_amd_met(PyRead *p, const PyLayout *a, const PyLayout *b);
/* How a tile lies, as far as that is known; NULL. */
const PyLayout *py_amd_layout(const PyRead *p, const Val *v);
/* Places of elements of which only the layout is known: of index tiles, or other such places, that
 * make one another. NULL: it is none. */
const Val *py_amd_places(PyRead *p, const Val *a, const Val *b);
gboolean py_amd_is_places(const Val *v);
/* The same where one of them is such places already, whatever comes of it; NULL: none is. */
const Val *py_amd_moved(PyRead *p, const Val *a, const Val *b);
/* The same of a formula of rows, columns and numbers, which no value holds; NULL: it is none. */
const Val *py_amd_unheld(PyRead *p, const Val *v);
/* Lists a tile whose layout is not one that gives each half of the warps half of the rows (or, of
 * an operand b, all of it). */
void py_amd_need_halves(PyRead *p, const PyLayout *l, gint64 rows, gint64 cols, const WsPyNode *at);
/* The halves of the warps load, or read, elements of the buffer by these bits of their places. */
typedef enum { PY_SHARE_LOAD, PY_SHARE_READ, PY_SHARE_ACROSS } PyShare;
void py_amd_share(PyRead *p, gint buffer, PyShare how, guint64 by, const WsPyNode *at);
gboolean py_amd_is_operand_b(const PyLayout *l);

/* --- turned.c ---------------------------------------------------------------------------------*/
/* When all is read: buffers of which the halves load other rows than they read. */
void py_amd_turn(PyRead *p);

/* --- room.c -----------------------------------------------------------------------------------*/
/* The compiler may take so many bytes of shared memory there, or none but those of a buffer (0). */
void py_amd_take(PyRead *p, gint64 bytes, const WsPyNode *at);
/* When all is read: whether what the kernel takes fits, and lies over nothing that is loaded to. */
void py_amd_room(PyRead *p);

/* --- stages.c ---------------------------------------------------------------------------------*/
/* `with gl.amd.warp_pipeline_stage(…):`; FALSE: the statement is none. */
gboolean py_amd_stage(PyRead *p, const WsPyNode *with);
/* The compiler may put a barrier there: listed inside of a stage, and in a loop of stages, where it
 * becomes part of one. */
void py_amd_met_within(PyRead *p, const WsPyNode *at, const char *what);
/* Around each statement of a kernel. */
void py_amd_beside(PyRead *p, const WsPyNode *node, const GPtrArray *to, guint before);
/* A wait or barrier of the source is read: it belongs to the border that it stands at. */
void py_amd_at_border(PyRead *p, const WsPyNode *at);
/* A loop, or an access to shared memory, comes behind a wait: the compiler puts a barrier between.
 */
void py_amd_meet(PyRead *p);
WsReadStep *py_amd_loop_begins(PyRead *p); /* that barrier; NULL: none is due */
/* Where names for values that a round hands on are set: registers change their names alone. */
GPtrArray *py_amd_last_stage(GPtrArray *body);
/* The rounds of a loop were read into `body`. */
void py_amd_loop_ends(PyRead *p, const WsPyNode *loop, GPtrArray *body);

/* --- borders.c --------------------------------------------------------------------------------*/
/* Lines of stages behind which the design waits for shared memory and Triton's lowering does not:
 * guint, the caller unrefs; NULL: there are none. */
GArray *py_amd_weak_borders(const WsDesign *design);

G_END_DECLS
