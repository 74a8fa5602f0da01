#include "ui/app/theme.h"

#include "score/palette.h"
#include "ui/app/settings.h"

#include <string.h>

#define WS_TYPE_THEME_WATCH ws_theme_watch_get_type()
G_DECLARE_FINAL_TYPE(WsThemeWatch, ws_theme_watch, WS, THEME_WATCH, GObject)

struct _WsThemeWatch {
    GObject parent;
    WsThemeChoice choice;
    gboolean system_dark, system_contrast;
    gboolean dark, contrast;
    GtkCssProvider *provider;
    GDBusConnection *bus;
};

G_DEFINE_FINAL_TYPE(WsThemeWatch, ws_theme_watch, G_TYPE_OBJECT)
static guint changed_signal;

static void ws_theme_watch_class_init(WsThemeWatchClass *class)
{
    changed_signal = g_signal_new("changed", WS_TYPE_THEME_WATCH, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
}

static void ws_theme_watch_init(WsThemeWatch *self)
{
}

static WsThemeWatch *theme(void)
{
    static WsThemeWatch *self;
    if (!self)
        self = g_object_new(WS_TYPE_THEME_WATCH, NULL);
    return self;
}

GObject *ws_theme_watch(void)
{
    return G_OBJECT(theme());
}

WsTheme ws_theme_current(void)
{
    return (WsTheme)((theme()->dark ? WS_THEME_DARK : WS_THEME_LIGHT) |
                     (theme()->contrast ? WS_THEME_LIGHT_CONTRAST : 0));
}

GtkWidget *ws_theme_area_new(int width, int height, GtkDrawingAreaDrawFunc draw, gpointer data)
{
    GtkWidget *area = gtk_drawing_area_new();
    gtk_drawing_area_set_content_width(GTK_DRAWING_AREA(area), width);
    gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(area), height);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, data, NULL);
    gtk_widget_set_valign(area, GTK_ALIGN_CENTER);
    g_signal_connect_object(ws_theme_watch(), "changed", G_CALLBACK(gtk_widget_queue_draw), area,
                            G_CONNECT_SWAPPED);
    return area;
}

gboolean ws_theme_high_contrast(void)
{
    return theme()->contrast;
}

WsThemeChoice ws_theme_choice(void)
{
    return theme()->choice;
}

/* --- style sheets ----------------------------------------------------------------------------- */

/* The painter's colours as names, so that canvas and panels cannot drift apart. */
static void add_palette(GString *css, WsTheme which)
{
    const WsPalette *p = ws_palette(which);
    const struct {
        const char *name;
        guint32 colour;
    } row[] = {
        { "page", p->page },
        { "panel", p->panel },
        { "frame", p->frame },
        { "grid", p->grid },
        { "text", p->text },
        { "muted", p->muted },
        { "band_a", p->band_a },
        { "band_b", p->band_b },
        { "edge", p->edge },
        { "on_bar", p->on_bar },
        { "bad", p->error },
        { "load", ws_palette_item(which, WS_ITEM_LOAD) },
        { "mma", ws_palette_item(which, WS_ITEM_MMA) },
        { "shared", ws_palette_item(which, WS_ITEM_SHARED) },
        { "math", ws_palette_item(which, WS_ITEM_MATH) },
        { "store", ws_palette_item(which, WS_ITEM_STORE) },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        g_string_append_printf(css, "@define-color ws_%s #%06x;\n", row[i].name, row[i].colour);
}

/* The font of code that was chosen, if one was. */
static void add_code_font(GString *css)
{
    g_autofree char *chosen =
        ws_settings() ? g_settings_get_string(ws_settings(), "code-font") : NULL;
    if (!chosen || !*chosen)
        return;
    PangoFontDescription *font = pango_font_description_from_string(chosen);
    const char *family = pango_font_description_get_family(font);
    const double size = (double)pango_font_description_get_size(font) / PANGO_SCALE;
    if (family && !strpbrk(family, "\"\\{};"))
        g_string_append_printf(css,
                               ".ws-studio textview.monospace, .ws-facts entry, .ws-facts textview,"
                               " .ws-studio .ws-excerpt { font-family: \"%s\"; }\n",
                               family);
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    if (size >= 4 && size <= 72)
        g_string_append_printf(css, ".ws-studio textview.monospace { font-size: %spt; }\n",
                               g_ascii_formatd(number, sizeof number, "%.1f", size));
    pango_font_description_free(font);
}

static void add_sheet(GString *css, const char *name)
{
    g_autofree char *path = g_strdup_printf(WS_RESOURCE_PATH "/%s.css", name);
    g_autoptr(GBytes) bytes = g_resources_lookup_data(path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    if (bytes)
        g_string_append_len(css, g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes));
}

static void load_sheets(WsThemeWatch *self)
{
    g_autoptr(GString) css = g_string_new(NULL);
    add_palette(css, ws_theme_current());
    add_sheet(css, "studio");
    add_sheet(css, self->dark ? "dark" : "light");
    if (self->contrast)
        add_sheet(css, "contrast");
    add_code_font(css);
    gtk_css_provider_load_from_data(self->provider, css->str, (gssize)css->len);
}

/* GTK has high-contrast themes of its own; the dark one is found only while prefer-dark is off. */
static void apply(WsThemeWatch *self)
{
    gboolean system = self->choice == WS_CHOICE_SYSTEM;
    self->contrast = self->choice == WS_CHOICE_CONTRAST || (system && self->system_contrast);
    self->dark =
        self->choice == WS_CHOICE_DARK || (self->choice != WS_CHOICE_LIGHT && self->system_dark);
    GtkSettings *settings = gtk_settings_get_default();
    if (!settings || !self->provider)
        return;
    const char *name = !self->contrast ? "Default" : self->dark ? "Default-hc-dark" : "Default-hc";
    g_autofree char *old = NULL;
    gboolean was_dark, dark = self->dark && !self->contrast;
    g_object_get(settings, "gtk-theme-name", &old, "gtk-application-prefer-dark-theme", &was_dark,
                 NULL);
    if (g_strcmp0(old, name)) /* GTK reads its sheets again, also for the same name */
        g_object_set(settings, "gtk-theme-name", name, NULL);
    if (was_dark != dark)
        g_object_set(settings, "gtk-application-prefer-dark-theme", dark, NULL);
    load_sheets(self);
    g_signal_emit(self, changed_signal, 0);
}

void ws_theme_restyle(void)
{
    if (theme()->provider)
        load_sheets(theme());
}

void ws_theme_choose(WsThemeChoice choice)
{
    WsThemeWatch *self = theme();
    self->choice = choice;
    if (ws_settings())
        g_settings_set_enum(ws_settings(), "theme", (int)choice);
    apply(self);
}

/* --- the desktop ------------------------------------------------------------------------------ */

#define PORTAL_NAME      "org.freedesktop.portal.Desktop"
#define PORTAL_PATH      "/org/freedesktop/portal/desktop"
#define PORTAL_INTERFACE "org.freedesktop.portal.Settings"
#define APPEARANCE       "org.freedesktop.appearance"
#define GNOME_A11Y       "org.gnome.desktop.a11y.interface"

/* The portal wraps a value in one variant or, in its older call, in two. */
static GVariant *unwrap(GVariant *value)
{
    GVariant *inner = g_variant_ref(value);
    while (g_variant_is_of_type(inner, G_VARIANT_TYPE_VARIANT)) {
        GVariant *next = g_variant_get_variant(inner);
        g_variant_unref(inner);
        inner = next;
    }
    return inner;
}

static void take(WsThemeWatch *self, const char *space, const char *key, GVariant *boxed)
{
    g_autoptr(GVariant) value = unwrap(boxed);
    gboolean number = g_variant_is_of_type(value, G_VARIANT_TYPE_UINT32);
    if (!strcmp(space, APPEARANCE) && !strcmp(key, "color-scheme") && number)
        self->system_dark = g_variant_get_uint32(value) == 1;
    else if (!strcmp(space, APPEARANCE) && !strcmp(key, "contrast") && number)
        self->system_contrast = g_variant_get_uint32(value) == 1;
    else if (!strcmp(space, GNOME_A11Y) && !strcmp(key, "high-contrast") &&
             g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
        self->system_contrast = g_variant_get_boolean(value);
    else
        return;
    if (self->choice == WS_CHOICE_SYSTEM || self->choice == WS_CHOICE_CONTRAST)
        apply(self);
}

static void on_changed(GDBusConnection *bus, const char *sender, const char *path,
                       const char *interface, const char *signal, GVariant *parameters,
                       gpointer data)
{
    const char *space, *key;
    g_autoptr(GVariant) value = NULL;
    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ssv)")))
        return;
    g_variant_get(parameters, "(&s&s@v)", &space, &key, &value);
    take(data, space, key, value);
}

static void on_read(GObject *source, GAsyncResult *result, gpointer data)
{
    g_autofree const char **key = data; /* namespace, key: literals */
    g_autoptr(GVariant) reply =
        g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, NULL);
    if (!reply || !g_variant_is_of_type(reply, G_VARIANT_TYPE("(v)")))
        return; /* no portal, or it does not know the key: the default stays */
    g_autoptr(GVariant) value = g_variant_get_child_value(reply, 0);
    take(theme(), key[0], key[1], value);
}

static void ask(GDBusConnection *bus, const char *space, const char *key)
{
    const char **both = g_new(const char *, 2);
    both[0] = space;
    both[1] = key;
    g_dbus_connection_call(bus, PORTAL_NAME, PORTAL_PATH, PORTAL_INTERFACE, "Read",
                           g_variant_new("(ss)", space, key), G_VARIANT_TYPE("(v)"),
                           G_DBUS_CALL_FLAGS_NONE, 2000, NULL, on_read, both);
}

static void on_bus(GObject *source, GAsyncResult *result, gpointer data)
{
    WsThemeWatch *self = theme();
    self->bus = g_bus_get_finish(result, NULL);
    if (!self->bus)
        return;
    g_dbus_connection_signal_subscribe(self->bus, PORTAL_NAME, PORTAL_INTERFACE, "SettingChanged",
                                       PORTAL_PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE, on_changed,
                                       self, NULL);
    ask(self->bus, GNOME_A11Y, "high-contrast");
    ask(self->bus, APPEARANCE, "contrast");
    ask(self->bus, APPEARANCE, "color-scheme");
}

/* GTK_THEME, until ws_theme_start. GTK would keep to that variable whatever is chosen here, and
 * draw its own widgets dark on our light sheets. */
static char *forced;

void ws_theme_take_environment(void)
{
    g_free(forced);
    forced = g_strdup(g_getenv("GTK_THEME"));
    g_unsetenv("GTK_THEME");
}

/* Desktops without a portal say it with the name of their theme, some people with
 * GTK_THEME=NAME:dark. */
static void read_theme_name(WsThemeWatch *self)
{
    g_autofree char *name = NULL;
    gboolean dark = FALSE;
    g_object_get(gtk_settings_get_default(), "gtk-theme-name", &name,
                 "gtk-application-prefer-dark-theme", &dark, NULL);
    if (forced && *forced) {
        dark = g_str_has_suffix(forced, ":dark");
        g_free(name);
        name = g_strndup(forced, strcspn(forced, ":"));
    }
    g_clear_pointer(&forced, g_free);
    self->system_contrast = name && g_str_has_prefix(name, "HighContrast");
    self->system_dark =
        dark || (name && (g_str_has_suffix(name, "-dark") || g_str_has_suffix(name, "Inverse")));
}

void ws_theme_start(void)
{
    WsThemeWatch *self = theme();
    if (self->provider)
        return;
    self->provider = gtk_css_provider_new();
    GdkDisplay *display = gdk_display_get_default();
    gtk_style_context_add_provider_for_display(display, GTK_STYLE_PROVIDER(self->provider),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    gtk_icon_theme_add_resource_path(gtk_icon_theme_get_for_display(display),
                                     WS_RESOURCE_PATH "/icons");
    read_theme_name(self);
    if (ws_settings())
        self->choice = (WsThemeChoice)g_settings_get_enum(ws_settings(), "theme");
    apply(self);
    g_bus_get(G_BUS_TYPE_SESSION, NULL, on_bus, NULL);
}
