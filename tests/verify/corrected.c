/* A forger that believes what the verifier says of a state. */
#include "corrected.h"

#include <stdio.h>
#include <string.h>

char *ws_corrected(const char *text, const char *reason)
{
    guint node = 0;
    const char *what = strstr(reason, "another state: \"");
    if (!what || sscanf(reason, "node %u:", &node) != 1)
        return NULL;
    g_auto(GStrv) part = g_strsplit(what, "\"", 5);
    g_autofree char *head = g_strdup_printf("\nnode %u ask", node);
    const char *from = strstr(text, head);
    g_autofree char *line = g_strconcat("\n", part[1], "\n", NULL);
    const char *here = !from ? NULL : *part[1] ? strstr(from, line) : strstr(from, "\noption ");
    if (!here || (!*part[1] && !*part[3]))
        return NULL;
    g_autofree char *before = g_strndup(text, (gsize)(here - text));
    const char *behind = *part[1] ? here + strlen(line) - 1 : here;
    return g_strconcat(before, *part[3] ? "\n" : "", part[3], behind, NULL);
}
