#include "ascend/mutants.h"

#include "ascend/designs.h"

typedef struct {
    AscendMutant judge;
    gpointer data;
} Each;

static gboolean is_sync(const char *line)
{
    return strstr(line, "\"arrive\"") || strstr(line, "\"wait\"") || strstr(line, "\"sync\"");
}

static gboolean is_step(const char *line)
{
    const char *at = line + strspn(line, " ");
    return g_str_has_prefix(at, "{ \"") && !strstr(line, "\"for\"") && strstr(at, "}") &&
           (is_sync(line) || strstr(line, "\"load\"") || strstr(line, "\"store\"") ||
            strstr(line, "\"move\"") || strstr(line, "\"vector\"") || strstr(line, "\"mma\""));
}

static char *joined(GPtrArray *line)
{
    g_ptr_array_add(line, NULL);
    char *text = g_strjoinv("\n", (char **)line->pdata);
    g_ptr_array_set_size(line, (gint)line->len - 1);
    return text;
}

/* Commas between steps of one list as JSON wants them. */
static char *mended(const char *text)
{
    g_autoptr(GRegex) more = g_regex_new("\\}\\s*\n(\\s*)\\{", 0, 0, NULL),
                      less = g_regex_new("\\},(\\s*)\\]", 0, 0, NULL);
    g_autofree char *a = g_regex_replace(more, text, -1, 0, "},\n\\1{", 0, NULL);
    return g_regex_replace(less, a, -1, 0, "}\\1]", 0, NULL);
}

static void judge_lines(GPtrArray *line, const char *how, const Each *n)
{
    g_autofree char *text = joined(line), *whole = mended(text);
    n->judge(whole, how, n->data);
}

/* A line taken out and put in `by` steps further on; 0: left out. */
static void moved(GPtrArray *line, guint i, gint by, const Each *n)
{
    const gint to = (gint)i + by;
    char *taken = line->pdata[i];
    g_autofree char *how = g_strdup_printf("line %u moved by %d: %s", i + 1, by, taken);
    if (to < 0 || to >= (gint)line->len)
        return;
    for (gint k = (gint)i; k != to; k += by > 0 ? 1 : -1)
        if (!is_step(line->pdata[k + (by > 0 ? 1 : -1)]))
            return; /* another list */
    g_ptr_array_remove_index(line, i);
    if (by)
        g_ptr_array_insert(line, to, taken);
    judge_lines(line, how, n);
    if (by)
        g_ptr_array_remove_index(line, (guint)to);
    g_ptr_array_insert(line, (gint)i, taken);
}

static void other_use(GPtrArray *line, guint i, const char *from, const char *to, const Each *n)
{
    char *was = line->pdata[i];
    if (!strstr(was, from))
        return;
    GString *s = g_string_new(was);
    g_string_replace(s, from, to, 1);
    g_autofree char *how = g_strdup_printf("line %u, %s for %s: %s", i + 1, to, from, was);
    line->pdata[i] = s->str;
    judge_lines(line, how, n);
    line->pdata[i] = was;
    g_string_free(s, TRUE);
}

void ascend_mutants(const char *design, AscendMutant judge, gpointer data)
{
    const Each each = { judge, data }, *n = &each;
    static const struct {
        const char *from, *to;
    } uses[] = {
        { "\"use\": \"k\"", "\"use\": \"k + 1\"" },
        { "\"use\": \"k + S\"", "\"use\": \"k + 1\"" },
        { "\"use\": \"k + S\"", "\"use\": \"k\"" },
        { "\"use\": \"s\"", "\"use\": \"s + 1\"" },
        { " + r\"", "\"" },
        { "\"use\": \"k\"", "\"use\": \"k % S\"" },
        { "\"use\": \"k\"", "\"use\": \"k*S\"" },
    };
    g_autofree char *text = ascend_text(design, NULL, 0);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(GPtrArray) line = g_ptr_array_new();
    for (guint i = 0; lines[i]; i++)
        g_ptr_array_add(line, lines[i]);
    for (guint i = 0; i < line->len; i++) {
        if (!is_step(line->pdata[i]))
            continue;
        if (is_sync(line->pdata[i])) {
            char *twice = line->pdata[i];
            g_autofree char *how = g_strdup_printf("line %u twice: %s", i + 1, twice);
            moved(line, i, 0, n);
            g_ptr_array_insert(line, (gint)i, twice);
            judge_lines(line, how, n);
            g_ptr_array_remove_index(line, i);
        }
        for (gint by = -5; by <= 5; by++)
            if (by)
                moved(line, i, by, n);
        for (guint k = 0; k < G_N_ELEMENTS(uses); k++)
            other_use(line, i, uses[k].from, uses[k].to, n);
    }
}
