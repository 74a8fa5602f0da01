/* The witness panel: the run that shows a finding, move by move, with words, agents, barriers and
 * stages at each position. */
#pragma once

#include "ui/document/player.h"
#include "ui/problems/problems.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_WITNESS_PANEL ws_witness_panel_get_type()
G_DECLARE_FINAL_TYPE(WsWitnessPanel, ws_witness_panel, WS, WITNESS_PANEL, GtkWidget)

/* Keeps a reference to the document. */
GtkWidget *ws_witness_panel_new(WsDocument *document);

/* --- witness_tables.c: what agents, barriers and stages are at the position --- */
typedef enum {
    WS_WITNESS_AGENTS,
    WS_WITNESS_BARRIERS,
    WS_WITNESS_STAGES,
    WS_WITNESS_TABLES
} WsWitnessTable;
/* Rows of one table; labels are kept and change their words. Floating. */
GtkWidget *ws_witness_table_new(WsWitnessTable kind, const WsWitness *w);
void ws_witness_table_show(GtkWidget *table, const WsWitness *w, guint position);

/* --- witness_offer.c: a button under the explanation of a problem that has a run --- */
void ws_witness_offer(WsProblems *problems, WsDocument *document);

/* --- witness_score.c: where the agents are, on the score --- */
struct _WsTimeline;
void ws_witness_follow(struct _WsTimeline *t); /* redraws the score when the player moves */
void ws_witness_place(const WsOp *op, guint n_rounds, const gint64 *round, gint32 *tile,
                      gint32 *inner);
void ws_witness_snapshot(struct _WsTimeline *t, GtkSnapshot *s); /* units of the page */

G_END_DECLS
