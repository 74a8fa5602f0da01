#include "repairs.h"

#include <string.h>

static void repair_free(gpointer data)
{
    Repair *r = data;
    g_free(r->name);
    g_free(r->of);
    g_free(r->cause);
    g_strfreev(r->rules);
    g_strfreev(r->says);
    g_strfreev(r->remedy);
    g_strfreev(r->answer);
    g_free(r->right);
    g_free(r->wrong);
    g_ptr_array_unref(r->also);
    g_free(r);
}

/* Whole lines that stand there exactly once become others. */
static char *changed(char *text, const GString *from, const GString *to, const char *name)
{
    const char *at = strstr(text, from->str);
    if (from->len == 0 || !at || strstr(at + 1, from->str))
        g_error("%s: these lines do not stand there exactly once:\n%s", name, from->str);
    char *out = g_strdup_printf("%.*s%s%s", (int)(at - text), text, to->str, at + from->len);
    g_free(text);
    return out;
}

/* The changes that begin at `*line`: what `text` becomes. */
static char *with_changes(char **const lines, guint *line, const char *text, const char *name)
{
    char *now = g_strdup(text);
    while (lines[*line] && strcmp(lines[*line], "@@") == 0) {
        g_autoptr(GString) from = g_string_new(NULL), to = g_string_new(NULL);
        for (++*line; lines[*line] && strchr(" +-", *lines[*line]) && *lines[*line]; ++*line) {
            const char *l = lines[*line];
            if (*l != '+')
                g_string_append_printf(from, "%s\n", l + 1);
            if (*l != '-')
                g_string_append_printf(to, "%s\n", l + 1);
        }
        now = changed(now, from, to, name);
    }
    return now;
}

static char *file_text(const char *path)
{
    char *text = NULL;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error))
        g_error("%s", error->message);
    return text;
}

static const char *value(const char *line, const char *key)
{
    const gsize n = strlen(key);
    return line && strncmp(line, key, n) == 0 && line[n] == ' ' ? line + n + 1 : NULL;
}

static void read_file(const char *path, GPtrArray *into)
{
    g_autofree char *all = file_text(path);
    g_auto(GStrv) lines = g_strsplit(all, "\n", -1);
    Repair *r = NULL;
    for (guint i = 0; lines[i];) {
        const char *v = NULL;
        if ((v = value(lines[i], "design"))) {
            r = g_new0(Repair, 1);
            r->also = g_ptr_array_new_with_free_func(g_free);
            r->name = g_strdup(v);
            g_ptr_array_add(into, r);
        } else if (!r && *lines[i])
            g_error("%s: \"%s\" before the first design", path, lines[i]);
        else if ((v = value(lines[i], "of"))) {
            r->of = g_strdup(v);
            g_autofree char *of = g_build_filename(WS_SOURCE_ROOT, "tests/designs", v, NULL);
            r->right = file_text(of);
        } else if ((v = value(lines[i], "cause")))
            r->cause = g_strdup(v);
        else if ((v = value(lines[i], "rules")))
            r->rules = g_strsplit(v, " ", -1);
        else if ((v = value(lines[i], "says")))
            r->says = g_strsplit(v, " ", -1);
        else if ((v = value(lines[i], "remedy")))
            r->remedy = g_strsplit(v, "|", -1);
        else if ((v = value(lines[i], "answer")))
            r->answer = g_strsplit(v, " ", -1);
        else if (strcmp(lines[i], "fix any") == 0)
            r->open = TRUE;
        else if (strcmp(lines[i], "also") == 0) {
            i++;
            g_ptr_array_add(r->also, with_changes(lines, &i, r->wrong, r->name));
            continue;
        } else if (strcmp(lines[i], "@@") == 0) {
            r->wrong = with_changes(lines, &i, r->right, r->name);
            continue;
        } else if (*lines[i])
            g_error("%s: what is \"%s\"?", path, lines[i]);
        i++;
    }
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *repairs_read(const char *under)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(repair_free);
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs", under, NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_assert_nonnull(dir);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
        if (g_str_has_suffix(name, ".diff"))
            g_ptr_array_add(files, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(files, by_name);
    for (guint i = 0; i < files->len; i++)
        read_file(files->pdata[i], all);
    return all;
}
