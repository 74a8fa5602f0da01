/* The head of a kernel: parameters, threads, cluster; and comments, which are blanked first. */
#include "machine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void comments_blank(char *s)
{
    for (; *s; s++)
        if (s[0] == '/' && s[1] == '/')
            while (*s && *s != '\n')
                *s++ = ' ';
        else if (s[0] == '/' && s[1] == '*')
            while (*s && !(s[0] == '*' && s[1] == '/')) {
                if (*s != '\n')
                    *s = ' ';
                s++;
            }
}

const char *head_read(Kernel *k, char *head)
{
    char *open = strchr(head, '('), *close = open ? strchr(open, ')') : NULL;
    if (!close) {
        return "no parameters";
    }
    for (char *p = strstr(open, ".param"); p && p < close && k->n_params < MAX_PARAMS;
         p = strstr(p + 1, ".param")) {
        Param *q = &k->param[k->n_params++];
        char *end = p;
        while (*end != ',' && end < close)
            end++;
        while (end > p && isspace((unsigned char)end[-1]))
            end--;
        char *name = end;
        while (name > p && !isspace((unsigned char)name[-1]))
            name--;
        snprintf(q->name, sizeof q->name, "%.*s", (int)(end - name > 120 ? 120 : end - name), name);
        char *array = strchr(q->name, '[');
        q->bytes = 8;
        if (array) {
            q->bytes = atoi(array + 1);
            *array = 0;
        }
        for (char *c = q->name; *c; c++)
            if (isspace((unsigned char)*c))
                *c = 0;
    }
    k->ntid[0] = k->ntid[1] = k->ntid[2] = 1;
    char *threads = strstr(close, ".reqntid");
    if (!threads)
        threads = strstr(close, ".maxntid");
    if (threads)
        sscanf(threads + 8, " %d , %d , %d", &k->ntid[0], &k->ntid[1], &k->ntid[2]);
    else
        return "the text does not say how many threads";
    char *cluster = strstr(close, ".reqnctapercluster");
    int size[3] = { 1, 1, 1 };
    if (cluster)
        sscanf(cluster + 18, " %d , %d , %d", &size[0], &size[1], &size[2]);
    k->cluster = size[0];
    k->odd = k->ntid[1] > 1 || k->ntid[2] > 1 || size[1] > 1 || size[2] > 1;
    return NULL;
}
