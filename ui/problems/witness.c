#include "ui/problems/witness.h"
#include "model/finding.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "ui/app/actions.h"
#include "ui/document/document_names.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

enum { FIRST, BACK, PLAY, FORWARD, LAST, N_BUTTONS };

struct _WsWitnessPanel {
    GtkWidget parent;
    WsDocument *document;
    WsPlayer *player; /* of the document */
    GtkWidget *stack, *message;
    GtkWidget *choice, *button[N_BUTTONS], *scale, *where, *words, *ending;
    GtkWidget *scroll[WS_WITNESS_TABLES], *table[WS_WITNESS_TABLES];
    gboolean setting; /* what changes now comes from the player */
};

G_DEFINE_FINAL_TYPE(WsWitnessPanel, ws_witness_panel, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsWitnessPanel *self = WS_WITNESS_PANEL(object);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_witness_panel_parent_class)->dispose(object);
}

/* --- what is shown ------------------------------------------------------------------------------
 */
static void show_position(WsWitnessPanel *self)
{
    const WsWitness *w = ws_player_witness(self->player);
    guint at = ws_player_position(self->player);
    gboolean running = ws_player_running(self->player);
    if (!w)
        return;
    self->setting = TRUE;
    gtk_range_set_value(GTK_RANGE(self->scale), at);
    self->setting = FALSE;
    g_autofree char *where = g_strdup_printf(_("move %u of %u"), at, w->n_moves);
    g_autofree char *launch = ws_words_launch(w->sizes ? w->sizes : ""), *start = NULL;
    if (at == 0)
        start = *launch ? g_strdup_printf(g_dngettext(NULL, "The start, with %s and %u tile.",
                                                      "The start, with %s and %u tiles.", w->tiles),
                                          launch, w->tiles)
                        : g_strdup(_("The start: nothing has happened yet."));
    gtk_label_set_text(GTK_LABEL(self->where), where);
    g_autofree char *move = at ? ws_words(w->move[at - 1].words) : NULL,
                    *ending = at == w->n_moves ? ws_words(w->ending) : NULL;
    gtk_label_set_text(GTK_LABEL(self->words), at ? move : start);
    gtk_label_set_text(GTK_LABEL(self->ending), ending ? ending : "");
    gtk_widget_set_visible(self->ending, at == w->n_moves);
    gtk_widget_set_sensitive(self->button[FIRST], at > 0);
    gtk_widget_set_sensitive(self->button[BACK], at > 0);
    gtk_widget_set_sensitive(self->button[FORWARD], at < w->n_moves);
    gtk_widget_set_sensitive(self->button[LAST], at < w->n_moves);
    gtk_button_set_icon_name(GTK_BUTTON(self->button[PLAY]), running
                                                                 ? "media-playback-pause-symbolic"
                                                                 : "media-playback-start-symbolic");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->button[PLAY]),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, running ? _("Pause") : _("Play"),
                                   -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->scale), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT,
                                   where, -1);
    for (guint i = 0; i < WS_WITNESS_TABLES; i++)
        ws_witness_table_show(self->table[i], w, at);
}

static void show_choices(WsWitnessPanel *self)
{
    GtkStringList *list = gtk_string_list_new(NULL);
    guint n = ws_player_n_choices(self->player);
    for (guint i = 0; i < n; i++) {
        const WsFinding *f = ws_player_choice(self->player, i);
        g_autofree char *step = ws_name_of_step(ws_document_program(self->document), f->at);
        g_autofree char *text =
            g_strdup_printf("%s %s%s%s", ws_rule(f->rule)->text, step ? step : "",
                            f->round && *f->round ? ", " : "", f->round ? f->round : "");
        gtk_string_list_append(list, text);
    }
    self->setting = TRUE;
    gtk_drop_down_set_model(GTK_DROP_DOWN(self->choice), G_LIST_MODEL(list));
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->choice), ws_player_chosen(self->player));
    self->setting = FALSE;
    g_object_unref(list);
}

static void loaded(WsPlayer *player, WsWitnessPanel *self)
{
    const WsWitness *w = ws_player_witness(player);
    const char *why = ws_player_why(player);
    g_autofree char *none = NULL;
    if (ws_player_n_choices(player) == 0)
        none = g_strdup(_("Nothing is refuted: there is no run to show."));
    else if (why)
        none = g_strdup_printf(_("This finding has no run to show: %s."), why);
    else
        none = g_strdup(_("Looking for the shortest run…"));
    gtk_label_set_text(GTK_LABEL(self->message), none);
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), w ? "run" : "none");
    show_choices(self);
    for (guint i = 0; i < WS_WITNESS_TABLES; i++) {
        self->table[i] = w ? ws_witness_table_new(i, w) : NULL;
        gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroll[i]), self->table[i]);
    }
    if (!w)
        return;
    self->setting = TRUE;
    gtk_range_set_range(GTK_RANGE(self->scale), 0, MAX(w->n_moves, 1));
    self->setting = FALSE;
    show_position(self);
}

/* The score goes along: what was just done is selected and brought into view. */
static void follow(WsWitnessPanel *self)
{
    const WsWitness *w = ws_player_witness(self->player);
    guint at = ws_player_position(self->player);
    if (!w || at == 0 || !gtk_widget_get_mapped(GTK_WIDGET(self)))
        return;
    const WsMove *m = &w->move[at - 1];
    WsFocus focus = { .step = m->op->step ? m->op->step : m->op->id };
    focus.agent = m->agent % w->program->n_agents;
    ws_witness_place(m->op, m->n_rounds, m->round, &focus.tile, &focus.round);
    ws_document_select(self->document, &focus, WS_SELECT_REPLACE, TRUE);
}

static void moved(WsPlayer *player, WsWitnessPanel *self)
{
    show_position(self);
    follow(self);
}

/* --- what a person does ----------------------------------------------------------------------- */
static void scrubbed(WsWitnessPanel *self, GtkRange *range)
{
    if (!self->setting)
        ws_player_set_position(self->player, (guint)lround(gtk_range_get_value(range)));
}

static void chosen(WsWitnessPanel *self, GParamSpec *spec, GtkDropDown *choice)
{
    guint i = gtk_drop_down_get_selected(choice);
    if (!self->setting && i != GTK_INVALID_LIST_POSITION)
        ws_player_choose(self->player, i);
}

static void act(GtkWidget *widget, const char *name, GVariant *parameter)
{
    WsPlayer *p = WS_WITNESS_PANEL(widget)->player;
    const WsWitness *w = ws_player_witness(p);
    ws_player_want(p);
    if (g_str_has_suffix(name, "play"))
        ws_player_run(p, !ws_player_running(p));
    else if (g_str_has_suffix(name, "next"))
        ws_player_step(p, 1);
    else if (g_str_has_suffix(name, "previous"))
        ws_player_step(p, -1);
    else if (g_str_has_suffix(name, "first"))
        ws_player_set_position(p, 0);
    else if (w)
        ws_player_set_position(p, w->n_moves);
}

static void mapped(WsWitnessPanel *self)
{
    ws_player_want(self->player);
}

/* --- widget -------------------------------------------------------------------------------------
 */
static const struct {
    const char *action, *icon, *name;
} buttons[N_BUTTONS] = {
    [FIRST] = { "witness-first", "media-skip-backward-symbolic", N_("To the start") },
    [BACK] = { "witness-previous", "media-seek-backward-symbolic", N_("One move back") },
    [PLAY] = { "witness-play", "media-playback-start-symbolic", N_("Play") },
    [FORWARD] = { "witness-next", "media-seek-forward-symbolic", N_("One move on") },
    [LAST] = { "witness-last", "media-skip-forward-symbolic", N_("To the end") },
};

static void ws_witness_panel_class_init(WsWitnessPanelClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(widget, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_GROUP);
    for (guint i = 0; i < N_BUTTONS; i++) {
        g_autofree char *name = g_strdup_printf("witness.%s", buttons[i].action);
        gtk_widget_class_install_action(widget, g_intern_string(name), NULL, act);
    }
    ws_actions_bind_keys(widget, WS_PART_WITNESS);
}

static GtkWidget *make_bar(WsWitnessPanel *self)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    gtk_widget_add_css_class(bar, "ws-bar");
    for (guint i = 0; i < N_BUTTONS; i++) {
        g_autofree char *name = g_strdup_printf("witness.%s", buttons[i].action);
        g_autofree char *tip = ws_action_tooltip(ws_action_find(buttons[i].action));
        self->button[i] = gtk_button_new_from_icon_name(buttons[i].icon);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(self->button[i]), name);
        gtk_widget_set_tooltip_text(self->button[i], tip);
        gtk_accessible_update_property(GTK_ACCESSIBLE(self->button[i]),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, _(buttons[i].name), -1);
        gtk_box_append(GTK_BOX(bar), self->button[i]);
    }
    self->scale = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 1, 1);
    gtk_range_set_round_digits(GTK_RANGE(self->scale), 0);
    gtk_widget_set_hexpand(self->scale, TRUE);
    gtk_widget_set_size_request(self->scale, 160, -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Position in the run"), -1);
    g_signal_connect_swapped(self->scale, "value-changed", G_CALLBACK(scrubbed), self);
    gtk_box_append(GTK_BOX(bar), self->scale);
    self->where = gtk_label_new("");
    gtk_label_set_width_chars(GTK_LABEL(self->where), 14);
    gtk_widget_add_css_class(self->where, "numeric");
    gtk_box_append(GTK_BOX(bar), self->where);
    self->choice = gtk_drop_down_new(NULL, NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->choice), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Finding whose run is shown"), -1);
    gtk_widget_set_tooltip_text(self->choice, _("Finding whose run is shown"));
    g_signal_connect_swapped(self->choice, "notify::selected", G_CALLBACK(chosen), self);
    gtk_box_append(GTK_BOX(bar), self->choice);
    return bar;
}

/* Words of the move, read out when they change. */
static GtkWidget *sentence(const char *style)
{
    GtkWidget *label =
        g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, NULL);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_selectable(GTK_LABEL(label), TRUE);
    gtk_widget_add_css_class(label, style);
    return label;
}

static GtkWidget *make_run(WsWitnessPanel *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    GtkWidget *tables = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_box_append(GTK_BOX(box), make_bar(self));
    self->words = sentence("ws-witness-words");
    self->ending = sentence("ws-error-text");
    gtk_widget_add_css_class(head, "ws-witness-head");
    gtk_box_append(GTK_BOX(head), self->words);
    gtk_box_append(GTK_BOX(head), self->ending);
    gtk_box_append(GTK_BOX(box), head);
    for (guint i = 0; i < WS_WITNESS_TABLES; i++) {
        self->scroll[i] = gtk_scrolled_window_new();
        gtk_widget_set_hexpand(self->scroll[i], i == WS_WITNESS_AGENTS);
        gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(self->scroll[i]),
                                                        i != WS_WITNESS_AGENTS);
        gtk_widget_set_vexpand(self->scroll[i], TRUE);
        gtk_box_append(GTK_BOX(tables), self->scroll[i]);
    }
    gtk_box_append(GTK_BOX(box), tables);
    return box;
}

static void ws_witness_panel_init(WsWitnessPanel *self)
{
    self->stack = gtk_stack_new();
    self->message = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(self->message), TRUE);
    gtk_widget_add_css_class(self->message, "ws-empty");
    gtk_widget_add_css_class(self->message, "dim");
    gtk_stack_add_named(GTK_STACK(self->stack), self->message, "none");
    gtk_stack_add_named(GTK_STACK(self->stack), make_run(self), "run");
    gtk_widget_set_parent(self->stack, GTK_WIDGET(self));
    g_signal_connect(self, "map", G_CALLBACK(mapped), NULL);
}

GtkWidget *ws_witness_panel_new(WsDocument *document)
{
    WsWitnessPanel *self = g_object_new(WS_TYPE_WITNESS_PANEL, NULL);
    self->document = g_object_ref(document);
    self->player = ws_player_of(document);
    g_signal_connect_object(self->player, "loaded", G_CALLBACK(loaded), self, 0);
    g_signal_connect_object(self->player, "moved", G_CALLBACK(moved), self, 0);
    loaded(self->player, self);
    return GTK_WIDGET(self);
}
