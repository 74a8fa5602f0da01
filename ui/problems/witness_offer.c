/* The way from a problem to the run that shows it: a button under the explanation. */
#include "ui/problems/witness.h"

#include <glib/gi18n.h>

static void explained(WsProblems *problems, GtkWidget *button)
{
    WsPlayer *p = g_object_get_data(G_OBJECT(button), "player");
    const WsFinding *f = ws_problems_selected(problems);
    gboolean there = FALSE;
    for (guint i = 0; f && i < ws_player_n_choices(p); i++)
        there |= ws_player_choice(p, i) == f;
    gtk_widget_set_visible(button, there);
}

static void clicked(GtkWidget *button, WsProblems *problems)
{
    WsPlayer *p = g_object_get_data(G_OBJECT(button), "player");
    const WsFinding *f = ws_problems_selected(problems);
    if (f && ws_player_choose_finding(p, f))
        gtk_widget_activate_action(button, "win.show-witness", NULL);
}

void ws_witness_offer(WsProblems *problems, WsDocument *document)
{
    GtkWidget *actions = GTK_WIDGET(ws_problems_actions(problems));
    GtkWidget *button = gtk_button_new_with_label(_("Show the Run"));
    gtk_widget_set_halign(button, GTK_ALIGN_START);
    gtk_widget_set_tooltip_text(button, _("The shortest failing run, move by move"));
    gtk_widget_set_visible(button, FALSE);
    g_object_set_data_full(G_OBJECT(button), "player", g_object_ref(ws_player_of(document)),
                           g_object_unref);
    gtk_box_insert_child_after(GTK_BOX(gtk_widget_get_parent(actions)), button, actions);
    g_signal_connect_object(problems, "explained", G_CALLBACK(explained), button, 0);
    g_signal_connect_object(button, "clicked", G_CALLBACK(clicked), problems, 0);
}
