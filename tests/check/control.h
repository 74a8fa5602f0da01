/* Designs of two agents that meet again and again (SYNC), made of the rows of control.def. */
#pragma once

#include "design.h"

typedef struct {
    const char *title;
    WsVerdictKind verdict;
    const char *a, *b; /* bodies, with ' for " */
    const char *counters, *assume;
    const char *let; /* names of the launch */
    guint cluster;
    gboolean tiles; /* persistent */
} Row;

static const Row rows[] = {
#include "control.def"
};

static inline char *replaced(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) parts = g_strsplit(text, from, -1);
    return g_strjoinv(to, parts);
}

/* A group whose SYNC is: wait for `wait`, arrive on `arrive`. */
static inline void add_group(GString *t, const Row *row, const char *name, const char *body,
                             const char *wait, const char *arrive)
{
    g_autofree char *sync = g_strdup_printf("{'wait':'%s','use':'c%s'},{'arrive':'%s','use':'c%s'},"
                                            "{'advance':'c%s'}",
                                            wait, name, arrive, name, name);
    g_autofree char *steps = replaced(body, "SYNC", sync);
    g_string_append_printf(t,
                           "{'name':'%s','role':'worker','warps':1,'counters':[{'name':'c%s',"
                           "'start':0}%s%s],'body':%s}",
                           name, name, row->counters ? "," : "", row->counters ? row->counters : "",
                           steps);
}

/* The text of a row. Caller frees. */
static inline char *design_of(const Row *row)
{
    GString *t = g_string_new("{'warpstave':1,'name':'control','target':'sm_90a',");
    if (row->cluster)
        g_string_append_printf(t, "'cluster':%u,", row->cluster);
    g_string_append_printf(t, "'sizes':{'N':4,'M':4,'Q':64},'let':{'d':'M - N'%s},",
                           row->let ? row->let : "");
    g_string_append_printf(t, "'assume':[%s],", row->assume ? row->assume : "");
    g_string_append(t, ""
                       "'tensors':[{'name':'L','dtype':'i32','shape':['Q'],"
                       "'data':'integers(-8, 12)'},"
                       "{'name':'X','dtype':'bf16','shape':[64,64]}],"
                       "'tiles':{'axes':{'tm':'Q'},");
    g_string_append_printf(t, "'launch':'%s','let':{'e':'L[tm]','f':'max(0, e)'}},",
                           row->tiles ? "persistent" : "single");
    g_string_append(t, "'barriers':[{'name':'go','arrivals':1},{'name':'back','arrivals':1,"
                       "'init':'ready'},{'name':'never'}],'groups':[");
    add_group(t, row, "a", row->a, "back", "go");
    g_string_append_c(t, ',');
    add_group(t, row, "b", row->b, "go", "back");
    g_string_append(t, "]}");
    return g_strdelimit(g_string_free(t, FALSE), "'", '"');
}
