/* Warnings and critical messages of the product, which end a test otherwise: here they are told of
 * the design at hand. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

void watch_begin(void); /* once, after g_test_init */
/* The first message since the last call, NULL: none. Caller frees. */
char *watch_take(void);

G_END_DECLS
