#include "ui/problems/witness.h"

#include "ui/parts/format.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <string.h>

#define MAX_CELLS 5

typedef struct {
    WsWitnessTable kind;
    guint n_rows, n_columns;
    GtkWidget **cell; /* [n_rows][n_columns], of the grid */
} Table;

static const struct {
    const char *title;
    guint n;
    const char *column[MAX_CELLS];
    int chars[MAX_CELLS]; /* least width, so that nothing jumps about */
} shapes[WS_WITNESS_TABLES] = {
    [WS_WITNESS_AGENTS] = { N_("Agents"), 2, { N_("Agent"), N_("Where it is") }, { 8, 24 } },
    [WS_WITNESS_BARRIERS] = { N_("Barriers"),
                              5,
                              { N_("Barrier"), N_("Phase"), N_("Completions"), N_("Pending"),
                                N_("Bytes due") },
                              { 12, 2, 2, 7, 9 } },
    [WS_WITNESS_STAGES] = { N_("Stages"), 2, { N_("Stage"), N_("Held") }, { 10, 22 } },
};

/* A sign for each use, so that colour is never the only one. */
static const struct {
    const char *glyph, *style;
} uses[] = {
    [WS_STAGE_FREE] = { "\xe2\x97\x8b", "ws-stage-free" },
    [WS_STAGE_FILLING] = { "\xe2\x97\x90", "ws-stage-filling" },
    [WS_STAGE_FULL] = { "\xe2\x97\x8f", "ws-stage-full" },
    [WS_STAGE_READING] = { "\xe2\x97\x89", "ws-stage-reading" },
    [WS_STAGE_READ] = { "\xe2\x97\x8c", "ws-stage-read" },
};

static void table_free(gpointer data)
{
    Table *t = data;
    g_free(t->cell);
    g_free(t);
}

static guint rows_of(WsWitnessTable kind, const WsWitness *w)
{
    return kind == WS_WITNESS_AGENTS     ? w->n_agents
           : kind == WS_WITNESS_BARRIERS ? w->n_barriers + w->n_named
                                         : w->n_stages;
}

static const char *name_of(WsWitnessTable kind, const WsWitness *w, guint row)
{
    if (kind == WS_WITNESS_AGENTS)
        return w->agent[row];
    if (kind == WS_WITNESS_STAGES)
        return w->stage[row];
    return row < w->n_barriers ? w->barrier[row] : w->named[row - w->n_barriers];
}

static GtkWidget *label_of(const char *text, const char *style, int chars)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_width_chars(GTK_LABEL(label), chars);
    if (style)
        gtk_widget_add_css_class(label, style);
    return label;
}

GtkWidget *ws_witness_table_new(WsWitnessTable kind, const WsWitness *w)
{
    GtkWidget *grid = gtk_grid_new();
    Table *t = g_new0(Table, 1);
    t->kind = kind, t->n_rows = rows_of(kind, w), t->n_columns = shapes[kind].n;
    t->cell = g_new0(GtkWidget *, (gsize)t->n_rows * t->n_columns + 1);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    gtk_widget_add_css_class(grid, "ws-witness-table");
    gtk_accessible_update_property(GTK_ACCESSIBLE(grid), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _(shapes[kind].title), -1);
    for (guint c = 0; c < t->n_columns; c++)
        gtk_grid_attach(GTK_GRID(grid), label_of(_(shapes[kind].column[c]), "ws-name", 0), (int)c,
                        0, 1, 1);
    for (guint r = 0; r < t->n_rows; r++)
        for (guint c = 0; c < t->n_columns; c++) {
            GtkWidget *label =
                label_of(c ? "" : name_of(kind, w, r), c ? "numeric" : NULL, shapes[kind].chars[c]);
            if (kind == WS_WITNESS_AGENTS && c == 1) {
                gtk_label_set_wrap(GTK_LABEL(label), TRUE);
                gtk_widget_set_hexpand(label, TRUE);
            }
            t->cell[r * t->n_columns + c] = label;
            gtk_grid_attach(GTK_GRID(grid), label, (int)c, (int)r + 1, 1, 1);
        }
    g_object_set_data_full(G_OBJECT(grid), "table", t, table_free);
    return grid;
}

static void set_class(GtkWidget *widget, const char *style, gboolean on)
{
    if (on)
        gtk_widget_add_css_class(widget, style);
    else
        gtk_widget_remove_css_class(widget, style);
}

/* What is different from the position before stands out. */
static void set_cell(Table *t, guint row, guint column, gboolean changed, char *text)
{
    GtkWidget *label = t->cell[row * t->n_columns + column];
    if (strcmp(gtk_label_get_text(GTK_LABEL(label)), text) != 0)
        gtk_label_set_text(GTK_LABEL(label), text);
    set_class(label, "ws-changed", changed);
    g_free(text);
}

static char *number(gint64 n)
{
    return g_strdup_printf("%" G_GINT64_FORMAT, n);
}

static void show_mbarrier(Table *t, const WsWitness *w, guint position, guint row)
{
    const WsMbarrierState *y = ws_witness_barrier(w, position, row);
    const WsMbarrierState *x = position ? ws_witness_barrier(w, position - 1, row) : y;
    set_cell(t, row, 1, x->phase != y->phase, number(y->phase & 1));
    set_cell(t, row, 2, x->phase != y->phase, number(y->phase));
    set_cell(t, row, 3, x->pending != y->pending || x->phase != y->phase,
             g_strdup_printf(_("%d of %d"), (int)y->pending, (int)y->count));
    set_cell(t, row, 4, x->tx != y->tx, ws_format_int(y->tx));
}

static void show_named(Table *t, const WsWitness *w, guint position, guint row)
{
    guint n = row - w->n_barriers;
    const WsNamedState *y = ws_witness_named(w, position, n);
    const WsNamedState *x = position ? ws_witness_named(w, position - 1, n) : y;
    gint64 left = y->arrived ? y->count - y->arrived : y->count;
    gboolean changed = x->generation != y->generation || x->arrived != y->arrived;
    set_cell(t, row, 1, FALSE, g_strdup("\xe2\x80\x93"));
    set_cell(t, row, 2, x->generation != y->generation, number(y->generation));
    set_cell(t, row, 3, changed,
             y->count ? g_strdup_printf(_("%d of %d"), (int)left, (int)y->count) : g_strdup(""));
    set_cell(t, row, 4, FALSE, g_strdup(""));
}

static void show_stage(Table *t, const WsWitness *w, guint position, guint row)
{
    const WsStageState *y = ws_witness_stage(w, position, row);
    const WsStageState *x = position ? ws_witness_stage(w, position - 1, row) : y;
    g_autofree char *said = ws_witness_stage_words(w, position, row), *words = ws_words(said);
    GtkWidget *label = t->cell[row * t->n_columns + 1];
    for (guint i = 0; i < G_N_ELEMENTS(uses); i++)
        set_class(label, uses[i].style, y->use == i);
    set_cell(t, row, 1, memcmp(x, y, sizeof *x) != 0,
             g_strdup_printf("%s %s", uses[y->use].glyph, words));
}

static void show_agent(Table *t, const WsWitness *w, guint position, guint row)
{
    const WsAgentState *y = ws_witness_agent(w, position, row);
    GtkWidget *label = t->cell[row * t->n_columns + 1];
    gboolean moved = position > 0 && w->move[position - 1].kind != WS_MOVE_LAND &&
                     w->move[position - 1].agent == row;
    static const char *const glyph[] = { "\xe2\x96\xb6", "\xe2\x80\x96", "\xe2\x9c\x93" };
    set_class(label, "ws-warning", y->mode == WS_AGENT_WAITING);
    set_cell(t, row, 0, moved, g_strdup(w->agent[row]));
    g_autofree char *said = ws_witness_agent_words(w, position, row), *words = ws_words(said);
    set_cell(t, row, 1, FALSE, g_strdup_printf("%s %s", glyph[y->mode], words));
}

void ws_witness_table_show(GtkWidget *table, const WsWitness *w, guint position)
{
    Table *t = g_object_get_data(G_OBJECT(table), "table");
    for (guint r = 0; r < t->n_rows; r++) {
        if (t->kind == WS_WITNESS_AGENTS)
            show_agent(t, w, position, r);
        else if (t->kind == WS_WITNESS_STAGES)
            show_stage(t, w, position, r);
        else if (r < w->n_barriers)
            show_mbarrier(t, w, position, r);
        else
            show_named(t, w, position, r);
    }
}
