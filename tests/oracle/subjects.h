/* Right designs of the repository, and the sizes with which they are small enough for the oracle.
 */
#pragma once

#include "oracle.h"

G_BEGIN_DECLS

/* A design, reduced for the oracle, and the sizes it is tried with. */
typedef struct {
    const char *file;
    WsSetting set[3];                        /* name NULL: none */
    const char *rounds, *tiles;              /* sizes that count rounds and tiles, NULL: none */
    gint64 per_round, per_tile, more_rounds; /* size = per_round * (rounds + more_rounds) */
    gint64 max_rounds, max_tiles;
    WsSize fixed[5];
    gboolean element; /* elements of integer tensors are the size of the rounds */
    gboolean small;   /* must be exhausted */
    guint cap;        /* states of one size; 0: 100,000 */
    gint64 max_work;  /* rounds of all tiles; 0: any */
} Subject;

extern const Subject subject_shipped[];
guint subject_n_shipped(void);
extern const Subject subject_small; /* designs of the catalogue */

guint subject_n_set(const Subject *s);
/* `n` rounds, `t` tiles; NULL: the program allows no such sizes. */
WsLaunchValues *subject_values(const Subject *s, const WsProgram *p, gint64 n, gint64 t);
/* Elements of integer tensors with `n` rounds. */
gint64 subject_element(const Subject *s, gint64 n);

G_END_DECLS
