/* Registers that are set. An instruction is passed over by a jump before it to a label behind it,
 * and where its guard is not so. */
#include "check/proof/raw_defined.h"

#include <string.h>

/* A setting of a register, a jump or a label: `name` is the register or the label. */
typedef struct {
    char *name;
    char *guard; /* "+p.2": p as its second setting left it; "": none */
    guint at;
} Mark;

struct WsRawDefined {
    GArray *set, *jump, *label; /* Mark */
    char *guard;
    guint at;
};

static void mark_clear(gpointer data)
{
    Mark *m = data;
    g_free(m->name);
    g_free(m->guard);
}

static GArray *marks(void)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Mark));
    g_array_set_clear_func(list, mark_clear);
    return list;
}

WsRawDefined *ws_raw_defined_new(void)
{
    WsRawDefined *d = g_new0(WsRawDefined, 1);
    d->set = marks();
    d->jump = marks();
    d->label = marks();
    d->guard = g_strdup("");
    return d;
}

void ws_raw_defined_free(WsRawDefined *d)
{
    g_array_unref(d->set);
    g_array_unref(d->jump);
    g_array_unref(d->label);
    g_free(d->guard);
    g_free(d);
}

static const Mark *mark(const GArray *list, guint i)
{
    return &g_array_index(list, Mark, i);
}

static void add(const WsRawDefined *d, GArray *list, const char *name)
{
    g_array_append_val(list, ((Mark){ g_strdup(name), g_strdup(d->guard), d->at }));
}

void ws_raw_defined_next(WsRawDefined *d, const char *guard)
{
    guint times = 0;
    const gboolean not = guard && guard[1] == '!';
    const char *name = guard ? guard + 1 + not : "";
    for (guint i = 0; i < d->set->len; i++)
        times += !strcmp(mark(d->set, i)->name, name);
    g_free(d->guard);
    d->guard = guard ? g_strdup_printf("%c%s.%u", not ? '-' : '+', name, times) : g_strdup("");
    d->at++;
}

void ws_raw_defined_jump(WsRawDefined *d, const char *label)
{
    add(d, d->jump, label);
}

void ws_raw_defined_label(WsRawDefined *d, const char *label)
{
    add(d, d->label, label);
}

void ws_raw_defined_set(WsRawDefined *d, const char *name)
{
    add(d, d->set, name);
}

/* A label stands before the instruction that follows it: at `at` of the one before. */
static gboolean passed_over(const WsRawDefined *d, guint at)
{
    for (guint j = 0; j < d->jump->len; j++)
        for (guint k = 0; mark(d->jump, j)->at < at && k < d->label->len; k++)
            if (mark(d->label, k)->at >= at &&
                !strcmp(mark(d->label, k)->name, mark(d->jump, j)->name))
                return TRUE;
    return FALSE;
}

/* The same predicate as the same instruction left it, the other way round. */
static gboolean opposite(const char *a, const char *b)
{
    return *a && *b && *a != *b && !strcmp(a + 1, b + 1);
}

gboolean ws_raw_defined_has(const WsRawDefined *d, const char *name)
{
    for (guint i = 0; i < d->set->len; i++) {
        const Mark *m = mark(d->set, i);
        if (strcmp(m->name, name) != 0 || m->at >= d->at || passed_over(d, m->at))
            continue;
        if (!*m->guard || !strcmp(m->guard, d->guard))
            return TRUE;
        for (guint k = 0; k < i; k++)
            if (!strcmp(mark(d->set, k)->name, name) && !passed_over(d, mark(d->set, k)->at) &&
                opposite(m->guard, mark(d->set, k)->guard))
                return TRUE;
    }
    return FALSE;
}
