/* A list with columns that sorts, filters and copies itself; rows are texts with sort keys. The
 * problems, resources and measurements are all of them such lists. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct {
    const char *title; /* translated */
    const char *help;  /* translated, or NULL: tooltip of every cell without one of its own */
    gboolean number;   /* right-aligned; first click sorts the largest to the top */
    gboolean expand;
    int width; /* fixed, in pixels; 0: as wide as its texts */
} WsColumn;

#define WS_TYPE_TABLE ws_table_get_type()
G_DECLARE_FINAL_TYPE(WsTable, ws_table, WS, TABLE, GtkWidget)
#define WS_TYPE_ROW ws_row_get_type()
G_DECLARE_FINAL_TYPE(WsRow, ws_row, WS, ROW, GObject)

/* A row for a table of `n` columns. */
WsRow *ws_row_new(guint n, const char *place);
/* Takes the text. The key sorts: numbers by value, others by the text itself. */
void ws_row_text(WsRow *row, guint column, char *text);
void ws_row_number(WsRow *row, guint column, double key, char *text);
void ws_row_tip(WsRow *row, const char *tip);
void ws_row_index(WsRow *row, guint index); /* the owner's number of it */
guint ws_row_get_index(WsRow *row);
const char *ws_row_place(WsRow *row);
const char *ws_row_get_text(WsRow *row, guint column);

/* Columns are copied but not their strings. `empty` is shown when there is no row. */
GtkWidget *ws_table_new(const char *name, const WsColumn *column, guint n, const char *empty);
/* Replaces all rows (GPtrArray of WsRow*, borrowed); keeps the sorting, and the selection of the
 * row with the same index where it still exists. */
void ws_table_set_rows(WsTable *table, GPtrArray *rows);
void ws_table_sort_by(WsTable *table, guint column, gboolean descending);
guint ws_table_n_shown(WsTable *table);
WsRow *ws_table_shown(WsTable *table, guint position); /* borrowed, NULL past the end */
gint ws_table_selected(WsTable *table);                /* position, -1 none */
void ws_table_select(WsTable *table, guint position);  /* and scrolls to it */
/* All rows as shown, columns separated by tabulators, with a heading. Caller frees. */
char *ws_table_copy(WsTable *table);

/* Signals: "activated" (WsRow*) by double click or Enter; "selected" (WsRow* or NULL). */

G_END_DECLS
