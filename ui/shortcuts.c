#include "ui/shortcuts.h"

#include "ui/actions.h"

#include <glib/gi18n.h>

/* GtkShortcutsWindow of GTK 4.8 is filled by GtkBuilder only, so the table becomes XML first. */
static void add_shortcut(GString *ui, const WsAction *action)
{
    g_autofree char *keys = g_strstrip(g_strdup_printf("%s %s", action->accels, action->keys));
    if (!*keys)
        return;
    g_autofree char *item = g_markup_printf_escaped(
        "<child><object class='GtkShortcutsShortcut'><property name='accelerator'>%s</property>"
        "<property name='title'>%s</property></object></child>",
        keys, ws_action_label(action));
    g_string_append(ui, item);
}

static void add_group(GString *ui, WsSection section)
{
    guint n;
    const WsAction *action = ws_actions(&n);
    g_autofree char *head = g_markup_printf_escaped(
        "<child><object class='GtkShortcutsGroup'><property name='title'>%s</property>",
        ws_section_label(section));
    g_string_append(ui, head);
    for (guint i = 0; i < n; i++)
        if (action[i].section == section)
            add_shortcut(ui, &action[i]);
    g_string_append(ui, "</object></child>");
}

/* One page each: the page numbers of GTK 4.8's own pager ask for less than no width. */
static void add_section(GString *ui, const char *name, const char *title, const WsSection *section,
                        guint n)
{
    g_autofree char *head = g_markup_printf_escaped(
        "<child><object class='GtkShortcutsSection'><property name='section-name'>%s</property>"
        "<property name='title'>%s</property><property name='max-height'>18</property>",
        name, title);
    g_string_append(ui, head);
    for (guint i = 0; i < n; i++)
        add_group(ui, section[i]);
    g_string_append(ui, "</object></child>");
}

GtkWidget *ws_shortcuts_new(GtkWindow *parent)
{
    static const WsSection score[] = { WS_SECTION_VIEW, WS_SECTION_MOVE, WS_SECTION_SELECT };
    static const WsSection window[] = { WS_SECTION_FILE, WS_SECTION_WORK, WS_SECTION_PANEL,
                                        WS_SECTION_HELP };
    g_autoptr(GString) ui = g_string_new(
        "<interface><object class='GtkShortcutsWindow' id='window'><property name='modal'>1"
        "</property>");
    add_section(ui, "window", _("The window"), window, G_N_ELEMENTS(window));
    add_section(ui, "score", _("The score"), score, G_N_ELEMENTS(score));
    g_string_append(ui, "</object></interface>");
    g_autoptr(GtkBuilder) builder = gtk_builder_new_from_string(ui->str, (gssize)ui->len);
    GtkWidget *shortcuts = GTK_WIDGET(gtk_builder_get_object(builder, "window"));
    gtk_window_set_transient_for(GTK_WINDOW(shortcuts), parent);
    return shortcuts;
}
