#include "ui/gesture/edge_keys.h"

#include "ui/compose/edit_commands.h"
#include "ui/gesture/edge.h"
#include "ui/parts/words.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

/* Owned by the window while an edge is begun. */
typedef struct {
    WsWindow *window;
    WsEdgeEnd from;
    char *label;
    GtkEventController *keys;
} Begun;

static const char KEY[] = "ws-edge-begun";

static WsEdgeEnd focus_end(WsWindow *w)
{
    const WsFocus *f = ws_document_focus(w->document);
    const WsNode *node = ws_edit_focus(w);
    return (WsEdgeEnd){ node && ws_node_kind_is_step(node->kind) ? node->identity : 0, f->agent,
                        f->tile };
}

/* What Return would do here. */
static void say(Begun *b)
{
    WsDesign *latest = ws_document_latest(b->window->document);
    const WsEdgeEnd to = focus_end(b->window);
    g_autofree char *text = NULL;
    if (!latest || !to.node || ws_edge_is_loop(latest, b->from, to)) {
        text = g_strdup_printf(_("Edge from %s: choose the step that waits for it, then Return; "
                                 "Escape drops it"),
                               b->label);
    } else {
        g_autofree char *words = NULL;
        g_autoptr(WsDraft) draft = ws_edge_draft(latest, b->from, to, &words);
        g_autofree char *why = ws_words(draft->why);
        text = why ? g_strdup_printf("✖ %s", why)
                   : g_strdup_printf(_("%s\nReturn makes it, Escape drops it"), words);
    }
    ws_window_toast(b->window, text);
}

static void selected(WsDocument *d, Begun *b)
{
    say(b);
}

static void drop(gpointer data)
{
    Begun *b = data;
    g_signal_handlers_disconnect_by_func(b->window->document, selected, b);
    gtk_widget_remove_controller(GTK_WIDGET(b->window), b->keys);
    g_free(b->label);
    g_free(b);
}

static void end(WsWindow *w, gboolean make)
{
    Begun *b = g_object_get_data(G_OBJECT(w), KEY);
    WsDesign *latest = ws_document_latest(w->document);
    const WsEdgeEnd from = b->from, to = focus_end(w);
    if (make && latest && (!to.node || ws_edge_is_loop(latest, from, to)))
        return; /* nothing is chosen yet */
    ws_edge_keys_drop(w);
    ws_window_toast(w, NULL);
    if (!make || !latest)
        return;
    g_autofree char *words = NULL;
    ws_edit_commit(w, ws_edge_draft(latest, from, to, &words), NULL);
}

static gboolean pressed(GtkEventControllerKey *c, guint key, guint code, GdkModifierType state,
                        Begun *b)
{
    GtkWidget *focus = gtk_root_get_focus(GTK_ROOT(b->window));
    const gboolean make = key == GDK_KEY_Return || key == GDK_KEY_KP_Enter;
    if ((!make && key != GDK_KEY_Escape) || GTK_IS_TEXT(focus) || GTK_IS_TEXT_VIEW(focus))
        return FALSE;
    end(b->window, make);
    return TRUE;
}

void ws_edge_keys_drop(WsWindow *w)
{
    g_object_set_data(G_OBJECT(w), KEY, NULL);
}

void ws_edge_keys_go(WsWindow *w)
{
    if (g_object_get_data(G_OBJECT(w), KEY)) {
        end(w, TRUE);
        return;
    }
    const WsEdgeEnd from = focus_end(w);
    if (!from.node) {
        ws_window_toast(w, _("Select the step that the edge begins at."));
        return;
    }
    Begun *b = g_new0(Begun, 1);
    b->window = w;
    b->from = from;
    b->label = ws_edit_label(ws_edit_focus(w));
    b->keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(b->keys, GTK_PHASE_CAPTURE);
    g_signal_connect(b->keys, "key-pressed", G_CALLBACK(pressed), b);
    gtk_widget_add_controller(GTK_WIDGET(w), b->keys);
    g_signal_connect(w->document, "selection-changed", G_CALLBACK(selected), b);
    g_object_set_data_full(G_OBJECT(w), KEY, b, drop);
    say(b);
}
