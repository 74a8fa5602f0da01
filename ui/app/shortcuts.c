#include "ui/app/shortcuts.h"

#include "ui/app/actions.h"

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
    static const struct {
        const char *name, *title;
        WsSection section[2];
        guint n;
    } page[] = {
        { "window", N_("The window"), { WS_SECTION_FILE, WS_SECTION_WORK }, 2 },
        { "panels", N_("Panels"), { WS_SECTION_PANEL, WS_SECTION_HELP }, 2 },
        { "design", N_("The design"), { WS_SECTION_EDIT, WS_SECTION_ADD }, 2 },
        { "score", N_("The score"), { WS_SECTION_VIEW, WS_SECTION_SELECT }, 2 },
        { "moving", N_("Moving"), { WS_SECTION_MOVE }, 1 },
    };
    g_autoptr(GString) ui = g_string_new(
        "<interface><object class='GtkShortcutsWindow' id='window'><property name='modal'>1"
        "</property>");
    for (guint i = 0; i < G_N_ELEMENTS(page); i++)
        add_section(ui, page[i].name, _(page[i].title), page[i].section, page[i].n);
    g_string_append(ui, "</object></interface>");
    g_autoptr(GtkBuilder) builder = gtk_builder_new_from_string(ui->str, (gssize)ui->len);
    GtkWidget *shortcuts = GTK_WIDGET(gtk_builder_get_object(builder, "window"));
    gtk_window_set_transient_for(GTK_WINDOW(shortcuts), parent);
    return shortcuts;
}
