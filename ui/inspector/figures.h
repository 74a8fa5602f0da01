/* The tables of the measurements panel: predicted beside measured. Columns and rows belong
 * together; no widgets here. */
#pragma once

#include "ui/inspector/range.h"
#include "ui/parts/table.h"

G_BEGIN_DECLS

typedef enum {
    WS_FIGURES_SUMMARY,
    WS_FIGURES_LOOPS,
    WS_FIGURES_STEPS,
    WS_FIGURES_WAITS,
    WS_FIGURES_RANGE_LANES,
    WS_FIGURES_RANGE_STEPS,
    WS_FIGURES_RANGE_OVERLAP,
    WS_FIGURES_COUNT
} WsFiguresKind;

/* A table for figures of this kind, sorted as it should be at first. Floating reference. */
GtkWidget *ws_figures_table(WsFiguresKind kind);
/* Rows for it (GPtrArray of WsRow*, owned); the range kinds take what ws_figures_range() made. */
GPtrArray *ws_figures_rows(WsFiguresKind kind, WsDocument *document, const WsRangeStats *range);
/* Statistics of the document's time range in its main trace (predicted, else measured). NULL: no
 * range, or no trace. */
WsRangeStats *ws_figures_range(WsDocument *document);
/* "from 1 000 to 3 048: 2 048 cycles (1.3 µs); …": the range in words. Caller frees. */
char *ws_figures_range_text(WsDocument *document, const WsRangeStats *range);
/* "Bound by the tensor pipe": what limits the launch, said first. Caller frees. */
char *ws_figures_bound_text(WsDocument *document);
/* Rows of WS_FIGURES_SUMMARY: totals of the launch. */
GPtrArray *ws_figures_summary(WsDocument *document);
/* Cycles per ns that a trace's times are converted with; 0 unknown. */
double ws_figures_clock(WsDocument *document, gboolean measured);

G_END_DECLS
