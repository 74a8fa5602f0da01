#include "ui/app/help_page.h"

#include "ui/app/settings.h"
#include "ui/roots.h"

#include <string.h>

static void free_node(gpointer p)
{
    WsHelpNode *n = p;
    if (!n)
        return;
    g_free(n->name);
    g_free(n->text);
    g_free(n->id);
    g_free(n->xref);
    g_free(n->src);
    g_free(n->style);
    g_clear_pointer(&n->kid, g_ptr_array_unref);
    g_free(n);
}

void ws_help_page_free(WsHelpNode *page)
{
    free_node(page);
}

/* --- reading ------------------------------------------------------------------------------------
 */

typedef struct {
    WsHelpNode *root;
    GPtrArray *open; /* WsHelpNode, borrowed: from the root inwards */
} Reader;

static WsHelpNode *add_node(Reader *r, const char *name)
{
    WsHelpNode *n = g_new0(WsHelpNode, 1);
    n->name = g_strdup(name);
    n->kid = g_ptr_array_new_with_free_func(free_node);
    if (r->open->len)
        g_ptr_array_add(((WsHelpNode *)r->open->pdata[r->open->len - 1])->kid, n);
    else
        r->root = n;
    return n;
}

static void begin(GMarkupParseContext *c, const char *name, const char **attribute,
                  const char **value, gpointer data, GError **error)
{
    Reader *r = data;
    if (r->root && !r->open->len) {
        g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "two pages in one file");
        return;
    }
    WsHelpNode *n = add_node(r, name);
    for (guint i = 0; attribute[i]; i++) {
        char **slot = !strcmp(attribute[i], "id")      ? &n->id
                      : !strcmp(attribute[i], "xref")  ? &n->xref
                      : !strcmp(attribute[i], "src")   ? &n->src
                      : !strcmp(attribute[i], "style") ? &n->style
                                                       : NULL;
        if (slot)
            *slot = g_strdup(value[i]);
    }
    g_ptr_array_add(r->open, n);
}

static void end(GMarkupParseContext *c, const char *name, gpointer data, GError **error)
{
    Reader *r = data;
    g_ptr_array_set_size(r->open, (int)r->open->len - 1);
}

static void text(GMarkupParseContext *c, const char *words, gsize n, gpointer data, GError **error)
{
    Reader *r = data;
    GString *s = g_string_new(NULL);
    for (gsize i = 0; i < n; i++) {
        gboolean space = g_ascii_isspace(words[i]);
        if (!space)
            g_string_append_c(s, words[i]);
        else if (!s->len || s->str[s->len - 1] != ' ')
            g_string_append_c(s, ' ');
    }
    if (r->open->len && s->len) {
        WsHelpNode *node = add_node(r, NULL);
        node->text = g_strdup(s->str);
    }
    g_string_free(s, TRUE);
}

WsHelpNode *ws_help_page_load(const char *file, GError **error)
{
    static const GMarkupParser parser = { begin, end, text, NULL, NULL };
    g_autofree char *content = NULL;
    gsize length;
    Reader r = { NULL, NULL };
    if (!g_file_get_contents(file, &content, &length, error))
        return NULL;
    r.open = g_ptr_array_new();
    g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&parser, 0, &r, NULL);
    gboolean ok = g_markup_parse_context_parse(context, content, (gssize)length, error) &&
                  g_markup_parse_context_end_parse(context, error);
    g_ptr_array_unref(r.open);
    if (!ok) {
        g_prefix_error(error, "%s: ", file);
        g_clear_pointer(&r.root, free_node);
    }
    return r.root;
}

/* --- asking -------------------------------------------------------------------------------------
 */

const WsHelpNode *ws_help_child(const WsHelpNode *node, const char *name)
{
    for (guint i = 0; node && i < node->kid->len; i++) {
        const WsHelpNode *k = node->kid->pdata[i];
        if (!g_strcmp0(k->name, name))
            return k;
    }
    return NULL;
}

static void add_plain(GString *s, const WsHelpNode *n)
{
    if (n->text)
        g_string_append(s, n->text);
    for (guint i = 0; i < n->kid->len; i++)
        add_plain(s, n->kid->pdata[i]);
}

char *ws_help_plain(const WsHelpNode *node)
{
    GString *s = g_string_new(NULL);
    if (node)
        add_plain(s, node);
    return g_strstrip(g_string_free(s, FALSE));
}

static const struct {
    const char *name, *open, *close;
} inlines[] = {
    { "em", "<i>", "</i>" },    { "gui", "<b>", "</b>" },          { "code", "<tt>", "</tt>" },
    { "cmd", "<tt>", "</tt>" }, { "key", "<b><tt>", "</tt></b>" },
};

static void add_markup(GString *s, const WsHelpNode *n)
{
    gboolean keys = !g_strcmp0(n->name, "keyseq"), link = !g_strcmp0(n->name, "link") && n->xref;
    guint shown = 0, row = 0;
    if (n->text) {
        g_autofree char *escaped = g_markup_escape_text(n->text, -1);
        g_string_append(s, escaped);
    }
    while (row < G_N_ELEMENTS(inlines) && g_strcmp0(inlines[row].name, n->name))
        row++;
    if (link)
        g_string_append_printf(s, "<a href=\"page:%s\">", n->xref);
    if (row < G_N_ELEMENTS(inlines))
        g_string_append(s, inlines[row].open);
    for (guint i = 0; i < n->kid->len; i++) {
        const WsHelpNode *k = n->kid->pdata[i];
        if (keys && !k->name)
            continue;
        if (keys && shown++)
            g_string_append(s, "+");
        add_markup(s, k);
    }
    if (row < G_N_ELEMENTS(inlines))
        g_string_append(s, inlines[row].close);
    if (link)
        g_string_append(s, "</a>");
}

char *ws_help_markup(const WsHelpNode *node)
{
    GString *s = g_string_new(NULL);
    add_markup(s, node);
    return g_strstrip(g_string_free(s, FALSE));
}

/* --- the manual ---------------------------------------------------------------------------------
 */

char *ws_help_folder(void)
{
    const char *place =
        ws_ui_uninstalled() ? WS_SOURCE_ROOT "/help/C" : WS_DATA_DIR "/help/C/warpstave";
    return g_file_test(place, G_FILE_TEST_IS_DIR) ? g_strdup(place) : NULL;
}

static void add_page(GPtrArray *pages, const char *id)
{
    if (id && !g_ptr_array_find_with_equal_func(pages, id, g_str_equal, NULL))
        g_ptr_array_add(pages, g_strdup(id));
}

static void add_links(GPtrArray *pages, const WsHelpNode *n)
{
    if (!g_strcmp0(n->name, "link"))
        add_page(pages, n->xref);
    for (guint i = 0; i < n->kid->len; i++)
        add_links(pages, n->kid->pdata[i]);
}

GPtrArray *ws_help_pages(const char *folder)
{
    GPtrArray *pages = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *file = g_build_filename(folder, "index.page", NULL);
    g_autoptr(WsHelpNode) index = ws_help_page_load(file, NULL);
    add_page(pages, "index");
    if (index)
        add_links(pages, index);
    return pages;
}
