/* A certificate as it was read: nothing of it is believed. */
#pragma once

#include "expr/expr.h"

G_BEGIN_DECLS

#define NO_LOW  G_MININT64
#define NO_HIGH G_MAXINT64

/* Tiles in the order of time: TILE_PASS for every loop over tiles entered before, and a position in
 * it, or what is none: before all tiles, behind this loop. LAUNCH: the number of its tiles. */
#define TILE_PASS   ((gint64)1 << 40)
#define TILE_AFTER  ((gint64)1 << 39)
#define TILE_BEFORE ((gint64)-1)
#define TILE_LAUNCH ((gint64)-2)
gint64 tile_pass(gint64 tile);
gint64 tile_position(gint64 tile); /* without its pass */
gboolean tile_is(gint64 tile);     /* a position */
char *tile_text(gint64 tile);      /* as a certificate writes it; caller frees */

#define TEXT_ROUND " in each round of "

typedef struct {
    gboolean letter, of_tile, of_cta, split;
    gboolean local,
        round; /* a count that follows the tile's number, an index of a loop around it */
    gint64 least, most, modulus, every, left; /* NO_LOW, NO_HIGH: nothing is assumed */
    char *text;
    /* What the text says; with definitions put in: of assume.c */
    WsExpr *expr, *whole;
    GPtrArray *divisor; /* WsExpr*: has a value only where these are not 0 */
    char *same;         /* what all its occurrences have in common (text.h) */
} Symbol;

/* What an expression of the program is taken for. */
typedef struct {
    gboolean letter; /* as a truth value */
    char *of, *text; /* variable n is _n in both, symbol n the one behind the last variable and n */
} Form;

/* What a loop counts to is asked anew where `place` is reached, not where the loop is. */
typedef struct {
    guint agent;
    gint place, loop;
} Anew;

/* An instance of a symbol and what is known of it. */
typedef struct {
    guint symbol;
    gint64 tile;
    gint cta; /* -1: none */
    gint64 time;
    gint64 low, high, residue; /* residue -1: not known */
} Fact;

enum { TARGET_END = -1 };
typedef struct {
    char op; /* '=', '>', '<', 'm' */
    gint64 value;
    gint target;
} Option;

typedef struct {
    Fact ask;      /* the instance only */
    GArray *knows; /* Fact */
    GArray *option;
} Node;

typedef struct {
    char *design;
    guint policy;
    GArray *symbol;  /* Symbol */
    GArray *form;    /* Form */
    GArray *anew;    /* Anew */
    gint begin;      /* target */
    GPtrArray *node; /* Node* */
} Certificate;

/* NULL and a message if the text does not have the form of section 8.1. */
Certificate *certificate_read(const char *text, char **message);
void certificate_free(Certificate *c);

gboolean fact_same(const Fact *a, const Fact *b); /* the same instance */
char *fact_text(const Certificate *c, const Fact *f);

G_END_DECLS
