/* Examples of rules: bases and the lines in which right and wrong differ. examples.txt has one
 * paragraph per rule:
 *   RULE BASE           the design that the lines stand in
 *     size N=-1         (or edit, file) what breaks the rule, where it is not the text
 *     @ LINE            the line of the base (@@: every such line) that what follows stands for
 *     = LINE  - LINE  + LINE   in both, in the right one only, in the wrong one only */
#include "check/examples.h"

#include "src/check/example_cluster.inc"
#include "src/check/example_core.inc"
#include "src/check/example_gather.inc"
#include "src/check/example_hint.inc"
#include "src/check/example_mesh.inc"
#include "src/check/example_pipe.inc"
#include "src/check/example_read.inc"
#include "src/check/example_ring.inc"
#include "src/check/example_stages.inc"
#include "src/check/example_store.inc"
#include "src/check/example_streams.inc"
#include "src/check/example_tiles.inc"
#include "src/check/example_turns.inc"
#include "src/check/examples.inc"

#include <string.h>

static const struct {
    const char *name, *text;
} bases[] = {
    { "cluster", example_cluster }, { "core", example_core },       { "gather", example_gather },
    { "hint", example_hint },       { "mesh", example_mesh },       { "pipe", example_pipe },
    { "read", example_read },       { "ring", example_ring },       { "stages", example_stages },
    { "store", example_store },     { "streams", example_streams }, { "tiles", example_tiles },
    { "turns", example_turns },
};

/* The paragraph of a rule: its lines without the heading, and its base. FALSE if there is none. */
typedef struct {
    char **line;
    const char *base; /* NULL: no text */
    char *how;
} Example;

static GHashTable *read_all(void)
{
    GHashTable *all = g_hash_table_new(g_str_hash, g_str_equal);
    g_auto(GStrv) paragraph = g_strsplit(examples_text, "\n\n", -1);
    for (guint i = 0; paragraph[i]; i++) {
        char **line = g_strsplit(g_strchomp(paragraph[i]), "\n", -1);
        g_auto(GStrv) head = g_strsplit(line[0] ? line[0] : "", " ", 2);
        if (!head[0] || !*head[0]) {
            g_strfreev(line);
            continue;
        }
        Example *e = g_new0(Example, 1); /* lives as long as the program */
        e->line = line;
        for (guint b = 0; head[1] && b < G_N_ELEMENTS(bases); b++)
            if (strcmp(bases[b].name, head[1]) == 0)
                e->base = bases[b].text;
        for (guint k = 1; line[k]; k++)
            if (!strchr("@=-+", line[k][2]))
                e->how = line[k] + 2;
        g_hash_table_insert(all, g_strdup(head[0]), e);
    }
    return all;
}

static const Example *find(WsRuleId rule)
{
    static gsize ready;
    static GHashTable *all;
    if (g_once_init_enter(&ready)) {
        all = read_all();
        g_once_init_leave(&ready, 1);
    }
    return rule < WS_RULE_COUNT ? g_hash_table_lookup(all, ws_rule(rule)->text) : NULL;
}

const char *ws_rule_example_how(WsRuleId rule)
{
    const Example *e = find(rule);
    return e ? e->how : NULL;
}

/* Where the lines for a line of the base stand, 0 if it stays as it is. */
static guint hunk_of(const Example *e, const char *line, gboolean *every)
{
    for (guint k = 1; e->line[k]; k++) {
        *every = g_str_has_prefix(e->line[k], "  @@ ");
        if (e->line[k][2] == '@' && strcmp(e->line[k] + (*every ? 5 : 4), line) == 0)
            return k + 1;
    }
    return 0;
}

/* All lines, each after its mark: ' ' both, '-', '+'. */
static GPtrArray *marked(const Example *e)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
    g_auto(GStrv) base = g_strsplit(e->base, "\n", -1);
    for (guint i = 0; base[i]; i++) {
        const char *line = base[i] + strspn(base[i], " ");
        const int indent = (int)(line - base[i]);
        gboolean every;
        guint k = hunk_of(e, line, &every);
        if (k == 0 || (!g_hash_table_add(used, GUINT_TO_POINTER(k)) && !every)) {
            if (base[i + 1])
                g_ptr_array_add(out, g_strdup_printf(" %s", base[i]));
            continue;
        }
        for (; e->line[k] && e->line[k][2] != '@'; k++)
            g_ptr_array_add(out,
                            g_strdup_printf("%c%*s%s", e->line[k][2] == '=' ? ' ' : e->line[k][2],
                                            indent, "", e->line[k] + 4));
    }
    return out;
}

/* What is only in the right one before what is only in the wrong one, run by run. */
static GPtrArray *grouped(const Example *e)
{
    g_autoptr(GPtrArray) lines = marked(e);
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0, end; i < lines->len; i = end) {
        for (end = i; end < lines->len && *(char *)lines->pdata[end] != ' ';)
            end++;
        for (const char *mark = "-+"; *mark; mark++)
            for (guint k = i; k < end; k++)
                if (*(char *)lines->pdata[k] == *mark)
                    g_ptr_array_add(out, g_strdup(lines->pdata[k]));
        if (end == i)
            g_ptr_array_add(out, g_strdup(lines->pdata[end++]));
    }
    return out;
}

char *ws_rule_example(WsRuleId rule, gboolean wrong)
{
    const Example *e = find(rule);
    if (!e || !e->base)
        return NULL;
    g_autoptr(GPtrArray) lines = marked(e);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++) {
        const char *line = lines->pdata[i];
        if (*line == ' ' || *line == (wrong ? '+' : '-'))
            g_string_append_printf(out, "%s\n", line + 1);
    }
    return g_string_free(out, FALSE);
}

char *ws_rule_example_difference(WsRuleId rule, guint context)
{
    const Example *e = find(rule);
    if (!e || !e->base)
        return NULL;
    g_autoptr(GPtrArray) lines = grouped(e);
    g_autofree gboolean *shown = g_new0(gboolean, lines->len);
    for (guint i = 0; i < lines->len; i++)
        for (guint k = i > context ? i - context : 0;
             *(const char *)lines->pdata[i] != ' ' && k < lines->len && k <= i + context; k++)
            shown[k] = TRUE;
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++) {
        const char *line = lines->pdata[i];
        if (shown[i])
            g_string_append_printf(out, "%c %s\n", *line, line + 1);
        else if (i == 0 || shown[i - 1])
            g_string_append(out, "  …\n");
    }
    return g_string_free(out, FALSE);
}
