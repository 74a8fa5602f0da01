#include "cli/colour.h"

#include <string.h>
#include <unistd.h>

static const struct {
    const char *word, *colour; /* SGR */
    gboolean first;            /* of the line; else behind the place of a finding */
} words[] = {
    { ": error ", "1;31", FALSE }, { ": warning ", "1;33", FALSE }, { ": hint ", "36", FALSE },
    { "proved ", "32", TRUE },     { "refuted ", "1;31", TRUE },    { "undecided ", "33", TRUE },
    { "unread ", "1;31", TRUE },
};

static gboolean wanted(FILE *to)
{
    const char *no = g_getenv("NO_COLOR"), *terminal = g_getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

static void put_line(const char *line, FILE *to)
{
    for (guint i = 0; *line != ' ' && i < G_N_ELEMENTS(words); i++) {
        const char *at = words[i].first ? (g_str_has_prefix(line, words[i].word) ? line : NULL)
                                        : strstr(line, words[i].word);
        if (!at)
            continue;
        at += words[i].first ? 0 : 2;
        const int n = (int)strcspn(at, " ");
        fprintf(to, "%.*s\033[%sm%.*s\033[0m", (int)(at - line), line, words[i].colour, n, at);
        line = at + n;
        break;
    }
    fputs(line, to);
}

void ws_cli_put_coloured(const char *text, FILE *to)
{
    if (!wanted(to)) {
        fputs(text, to);
        return;
    }
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        put_line(line[i], to);
        if (line[i + 1])
            fputc('\n', to);
    }
}
