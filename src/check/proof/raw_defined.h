/* Which registers of a raw text an instruction before has surely set. A text jumps forward only, so
 * what sets a register stands before what reads it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsRawDefined WsRawDefined;

WsRawDefined *ws_raw_defined_new(void);
void ws_raw_defined_free(WsRawDefined *d);
/* The next instruction, under that guard ("@p", "@!p"; NULL: none). */
void ws_raw_defined_next(WsRawDefined *d, const char *guard);
void ws_raw_defined_jump(WsRawDefined *d, const char *label);  /* it goes there */
void ws_raw_defined_label(WsRawDefined *d, const char *label); /* one that stands before the next */
void ws_raw_defined_set(WsRawDefined *d, const char *name);    /* it sets the register */
/* Whether the register is set wherever this instruction is executed: on every way to it, and where
 * it was set under a guard, under the same one, or under both of a predicate that nothing has set
 * since. */
gboolean ws_raw_defined_has(const WsRawDefined *d, const char *name);

G_END_DECLS
