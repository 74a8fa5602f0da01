#include "ui/panels/palette.h"

#include "model/findings.h"
#include "target/target.h"
#include "ui/app/settings.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <string.h>

static const char *const section[WS_STEP_SECTION_COUNT] = {
    [WS_STEP_SECTION_CONTROL] = N_("Control"),
    [WS_STEP_SECTION_MOVEMENT] = N_("Movement"),
    [WS_STEP_SECTION_ARITHMETIC] = N_("Arithmetic"),
    [WS_STEP_SECTION_SYNCHRONISATION] = N_("Synchronisation"),
    [WS_STEP_SECTION_OTHER] = N_("Other"),
};

static void free_item(gpointer data)
{
    WsPaletteItem *item = data;
    g_free(item->title);
    g_free(item);
}

static void add_kind(GPtrArray *items, WsNodeKind kind, const char *label)
{
    WsPaletteItem *item = g_new0(WsPaletteItem, 1);
    *item = (WsPaletteItem){ kind, ws_node_kind_keyword(kind), label,
                             g_intern_string(_(ws_node_kind_help(kind))),
                             g_strdup(ws_node_kind_keyword(kind)) };
    g_ptr_array_add(items, item);
}

static const WsTarget *target_of(const WsDesign *design)
{
    const WsTarget *t =
        ws_target_find(design ? ws_node_text(ws_design_root(design), WS_F_target) : NULL);
    return t ? t : ws_target_at(0);
}

static gboolean has_step(const WsDesign *design, WsNodeKind kind)
{
    return ws_target_has_step(target_of(design), ws_node_kind_keyword(kind));
}

/* The first line of a template's note says what it is for. One of queues is not for warps, nor the
 * other way round; `into` NULL: it may be any. */
static void add_template(GPtrArray *items, const char *name, const WsDesign *into)
{
    g_autofree char *text = ws_palette_text(name);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = text ? ws_design_parse(text, strlen(text), NULL, findings) : NULL;
    if (!design || (into && !target_of(into)->core != !target_of(design)->core))
        return;
    const WsNode *root = ws_design_root(design);
    WsPaletteItem *item = g_new0(WsPaletteItem, 1);
    const char *note = ws_node_text(root, WS_F_note);
    *item = (WsPaletteItem){ WS_NODE_KIND_COUNT, g_intern_string(name), _("Templates"),
                             note ? g_intern_string(_(note)) : "",
                             g_strdup(_(ws_node_text(root, WS_F_name))) };
    g_ptr_array_add(items, item);
}

static void add_templates(GPtrArray *items, const WsDesign *into)
{
    g_auto(GStrv) names = g_resources_enumerate_children(WS_RESOURCE_PATH "/templates", 0, NULL);
    for (guint i = 0; names && names[i]; i++) {
        g_autofree char *name = g_strdup_printf("templates/%s", names[i]);
        add_template(items, name, into);
    }
}

GPtrArray *ws_palette_items(const WsDesign *design, gboolean templates)
{
    static const WsNodeKind object[] = { WS_NODE_GROUP,   WS_NODE_TENSOR, WS_NODE_BUFFER,
                                         WS_NODE_BARRIER, WS_NODE_PIPE,   WS_NODE_VALUE,
                                         WS_NODE_COUNTER };
    GPtrArray *items = g_ptr_array_new_with_free_func(free_item);
    for (guint i = 0; !templates && i < G_N_ELEMENTS(object); i++)
        add_kind(items, object[i], _("Objects"));
    for (guint s = 0; !templates && s < WS_STEP_SECTION_COUNT; s++)
        for (WsNodeKind kind = 0; kind < WS_NODE_KIND_COUNT; kind++)
            if (ws_node_kind_is_step(kind) && ws_step_info(kind)->section == s &&
                has_step(design, kind))
                add_kind(items, kind, _(section[s]));
    add_templates(items, design);
    return items;
}

GPtrArray *ws_palette_likely(const WsDesign *design, const WsNode *at)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(free_item);
    WsNodeKind kind[WS_EDIT_LIKELY];
    const guint n = design ? ws_edit_likely(design, at, kind) : 0;
    for (guint i = 0; i < n; i++)
        if (!ws_node_kind_is_step(kind[i]) || has_step(design, kind[i]))
            add_kind(items, kind[i], _("Likely Next"));
    return items;
}

gboolean ws_palette_match(const WsPaletteItem *item, const char *typed)
{
    g_autofree char *wanted = g_utf8_casefold(typed, -1);
    g_autofree char *all = g_strdup_printf("%s %s %s", item->title, item->section, item->help);
    g_autofree char *folded = g_utf8_casefold(all, -1);
    g_auto(GStrv) word = g_strsplit(wanted, " ", -1);
    for (guint i = 0; word[i]; i++)
        if (!strstr(folded, word[i]))
            return FALSE;
    return TRUE;
}

char *ws_palette_text(const char *resource)
{
    g_autofree char *path = g_strdup_printf(WS_RESOURCE_PATH "/%s", resource);
    g_autoptr(GBytes) bytes = g_resources_lookup_data(path, 0, NULL);
    gsize n;
    const char *text = bytes ? g_bytes_get_data(bytes, &n) : NULL;
    return text ? g_strndup(text, n) : NULL;
}

/* "7-hint-gemm.wstave": they are numbered. */
static int by_number(const void *a, const void *b)
{
    const gint64 x = g_ascii_strtoll(*(char *const *)a, NULL, 10);
    const gint64 y = g_ascii_strtoll(*(char *const *)b, NULL, 10);
    return x < y ? -1 : x > y;
}

char **ws_starting_designs(void)
{
    char **names = g_resources_enumerate_children(WS_RESOURCE_PATH "/designs", 0, NULL);
    if (names)
        qsort(names, g_strv_length(names), sizeof *names, by_number);
    return names ? names : g_new0(char *, 1);
}
