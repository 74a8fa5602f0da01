/* A forger that believes what the verifier says of names. */
#include "corrected.h"

#include <stdio.h>
#include <string.h>

/* The block of a node, in `text`: its first line, and where the next one begins. */
static const char *block(const char *text, guint node, const char **end)
{
    g_autofree char *head = g_strdup_printf("\nnode %u ask", node);
    const char *from = strstr(text, head);
    const char *next = from ? strstr(from + 1, "\nnode ") : NULL;
    *end = next ? next : from ? strstr(from, "\nend\n") : NULL;
    return *end ? from : NULL;
}

/* `with` stands for from .. to. */
static char *spliced(const char *text, const char *from, const char *to, const char *with)
{
    g_autofree char *before = g_strndup(text, (gsize)(from - text));
    return g_strconcat(before, with, to, NULL);
}

static guint symbol_of(const char *text, const char *name)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    guint symbol = 0;
    for (guint i = 0; line[i]; i++) {
        g_auto(GStrv) f = g_strsplit(line[i], " ", 17);
        if (g_strv_length(f) == 17 && !strcmp(f[0], "symbol") && !strcmp(f[16], name))
            symbol = (guint)g_ascii_strtoull(f[1], NULL, 10);
    }
    return symbol;
}

/* "... is not known as well": the node does not know it. */
static char *without_fact(const char *text, const char *reason)
{
    guint node = 0;
    int cta = -1;
    char tile[32] = "";
    const char *by = strstr(reason, "not covered by node "), *end;
    const char *first = strstr(reason, "is not known as well: ");
    const char *what = first ? first + strlen("is not known as well: ")
                       : by  ? strstr(by, ": ") + 2
                             : NULL;
    const char *of = what ? strstr(what, " of tile ") : NULL;
    gint64 time = 0;
    if (!of || (!first && !strstr(of, " is not known as well")) ||
        sscanf(of, " of tile %31[^,], CTA %d, time %" G_GINT64_FORMAT, tile, &cta, &time) != 3 ||
        sscanf(first ? reason : by + strlen("not covered by "), "node %u:", &node) != 1)
        return NULL;
    g_autofree char *name = g_strndup(what, (gsize)(of - what)), *rank = NULL, *line = NULL;
    rank = cta < 0 ? g_strdup("-") : g_strdup_printf("%d", cta);
    line = g_strdup_printf("\nknows %u %s %s %" G_GINT64_FORMAT " ", symbol_of(text, name), tile,
                           rank, time);
    const char *from = block(text, node, &end), *here = from ? strstr(from, line) : NULL;
    return here && here < end ? spliced(text, here, strchr(here + 1, '\n'), "") : NULL;
}

/* "assumption not discharged: "X"": nothing is assumed of it. */
static char *without_assumption(const char *text, const char *reason)
{
    if (!g_str_has_prefix(reason, "assumption not discharged: \""))
        return NULL;
    g_auto(GStrv) part = g_strsplit(reason, "\"", 3);
    g_autofree char *head = g_strdup_printf("\nsymbol %u ", symbol_of(text, part[1]));
    const char *here = strstr(text, head), *to = here ? strchr(here + 1, '\n') : NULL;
    if (!to)
        return NULL;
    g_autofree char *line = g_strndup(here, (gsize)(to - here)), *with = NULL;
    g_auto(GStrv) f = g_strsplit(line, " ", 17);
    with = g_strdup_printf("%s %s %s %s %s least - most - modulus %s every 1 left 0 text %s", f[0],
                           f[1], f[2], f[3], f[4], f[10], f[16]);
    return strcmp(with, line) != 0 ? spliced(text, here, to, with) : NULL;
}

char *ws_corrected(const char *text, const char *reason)
{
    char *better = without_fact(text, reason);
    return better ? better : without_assumption(text, reason);
}
