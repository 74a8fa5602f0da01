/* warpstave serve: a line in, a line out, until the standard input ends. */
#include "cli/cli.h"
#include "cli/serve/answer.h"
#include "cli/serve/request.h"

#include <stdio.h>

/* The next line without its end, cut at the bound; FALSE at the end of the input. */
static gboolean read_line(GString *line, gboolean *cut)
{
    int c;
    g_string_truncate(line, 0);
    *cut = FALSE;
    while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
        if (line->len < WS_SERVE_MAX_LINE)
            g_string_append_c(line, (char)c);
        else
            *cut = TRUE;
    }
    return c != EOF || line->len > 0;
}

static gboolean is_blank(const GString *line)
{
    for (gsize i = 0; i < line->len; i++)
        if (!g_ascii_isspace(line->str[i]))
            return FALSE;
    return TRUE;
}

int ws_command_serve(int argc, char **argv)
{
    if (!ws_cli_arguments(&argc, &argv, "serve", NULL, 0, NULL))
        return WS_EXIT_USAGE;
    g_autoptr(GString) line = g_string_new(NULL);
    gboolean cut, told = TRUE;
    while (told && read_line(line, &cut)) {
        if (is_blank(line))
            continue;
        g_autofree char *answer =
            cut ? g_strdup_printf(
                      "{ \"id\": null, \"exit\": %d, \"error\": { \"message\": \"the line "
                      "is longer than %d bytes\", \"findings\": [] } }",
                      WS_EXIT_USAGE, WS_SERVE_MAX_LINE)
                : ws_serve_answer(line->str, line->len);
        told = puts(answer) >= 0 && fflush(stdout) == 0;
    }
    return WS_EXIT_YES;
}
