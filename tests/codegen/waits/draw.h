/* Random bodies around waits: products, stores, copies, loads, and the waits for them, in branches
 * and loops. Each is right by its making: before a value is used, every path has retired what
 * writes or reads it. What the kernel must give is counted while the body is drawn, from the sizes
 * alone. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    gboolean stores;   /* reducing stores, too */
    gboolean operands; /* products with an operand in registers, too */
    gboolean first;    /* products that begin a sum, too */
    gboolean gathers;  /* copies row by row, too */
    gboolean parts;    /* products into halves of a value, too */
    gboolean tiles;    /* in a loop over tiles, with a product that flies on into the next one */
    guint items;       /* about so many steps */
} DrawOptions;

/* Text of a whole design. Caller frees. */
char *draw_design(guint32 seed, const DrawOptions *options);

G_END_DECLS
