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

typedef enum { RELATION_NONE, RELATION_DIV, RELATION_MAX, RELATION_MIN, RELATION_MUL } Relation;

typedef struct {
    gboolean letter, of_tile, of_cta, split, asked;
    gboolean local,
        round; /* a count that follows the tile's number, an index of a loop around it */
    gint64 least, most, modulus, every, left; /* NO_LOW, NO_HIGH: nothing is assumed */
    char *text;
    Relation relation; /* relation(symbol base + offset, number) */
    guint base;
    gint64 number, offset;
    /* What the text says; with definitions put in; by its relation; and what all its occurrences
     * have in common (text.h), of assume.c */
    WsExpr *expr, *whole, *means;
    GPtrArray *divisor; /* WsExpr*: has a value only where these are not 0 */
    char *same;
} Symbol;

/* An expression that is worth what a symbol is because of what is assumed. */
typedef struct {
    guint symbol;
    char *text, *same; /* as those of a symbol */
    WsExpr *whole;
} Equal;

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
    GArray *equal;   /* Equal */
    gint begin;      /* target */
    GPtrArray *node; /* Node* */
} Certificate;

/* NULL and a message if the text does not have the form of section 8.1. */
Certificate *certificate_read(const char *text, char **message);
void certificate_free(Certificate *c);

/* The symbol that all with this text are taken for: the first one of those that somebody asks
 * about, or of all; 0: there is none. */
guint certificate_find(const Certificate *c, const char *text, gboolean letter);
gboolean fact_same(const Fact *a, const Fact *b); /* the same instance */
char *fact_text(const Certificate *c, const Fact *f);

G_END_DECLS
