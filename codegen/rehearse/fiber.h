/* Fibers: one per GPU thread. A fiber runs until it yields; whoever resumed it goes on then. Stacks
 * are small mappings with a guard page, kept in a pool. Knows nothing of GPUs. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsFiber WsFiber;
typedef struct WsFiberPool WsFiberPool;

WsFiberPool *ws_fiber_pool_new(gsize stack_bytes);
/* Frees every fiber of the pool, finished or not. */
void ws_fiber_pool_free(WsFiberPool *pool);
/* A fiber that will run entry(data). NULL if the system has no memory for its stack. */
WsFiber *ws_fiber_new(WsFiberPool *pool, void (*entry)(gpointer), gpointer data);
/* Gives the stack back; the fiber may be in the middle of its entry. */
void ws_fiber_release(WsFiber *fiber);
/* Runs the fiber until it yields or ends; FALSE once it has ended. Not from inside a fiber. */
gboolean ws_fiber_resume(WsFiber *fiber);
/* From inside a fiber: back to its resumer. */
void ws_fiber_yield(WsFiber *fiber);

G_END_DECLS
