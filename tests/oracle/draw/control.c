#include "control.h"

#include <string.h>

typedef struct {
    GRand *rand;
    gboolean tiles;
    GPtrArray *names; /* in scope; not owned */
    guint loops, lets, depth;
    gboolean other; /* the second agent: the same in other words, where `reword` */
    gboolean reword;
    gboolean plain;    /* loops and counters start and go on by numbers */
    const char *d, *e; /* texts of the names of the launch and of the tile */
} Control;

static guint upto(Control *C, guint n)
{
    return (guint)g_rand_int_range(C->rand, 0, (gint)n);
}

static gint64 number(Control *C)
{
    static const gint64 usual[] = { 0, 1, 2, 3, -1, 4, 5, 6, 8, 12, -2, -3, -9, 40, 20, -70 };
    return usual[upto(C, G_N_ELEMENTS(usual))];
}

static char *atom(Control *C)
{
    if (upto(C, 5) == 0)
        return g_strdup_printf("%d", (int)number(C));
    return g_strdup(g_ptr_array_index(C->names, upto(C, C->names->len)));
}

static char *condition(Control *C, guint depth);

static char *integer(Control *C, guint depth)
{
    if (depth == 0 || upto(C, 3) == 0)
        return atom(C);
    g_autofree char *a = integer(C, depth - 1), *b = integer(C, depth - 1);
    int n = (int)number(C), m = 2 + (int)upto(C, 4);
    switch (upto(C, 9)) {
    case 0:
        return g_strdup_printf("(%s + %s)", a, b);
    case 1:
        return g_strdup_printf("(%s - %s)", a, b);
    case 2:
        return g_strdup_printf("%s/%d", a, m);
    case 3:
        return g_strdup_printf("%s%%%d", a, m);
    case 4:
        return g_strdup_printf("min(%s, %d)", a, n);
    case 5:
        return g_strdup_printf("max(%s, %s)", a, b);
    case 6:
        return g_strdup_printf("%d*%s", m, a);
    case 7: {
        g_autofree char *c = condition(C, depth - 1);
        return g_strdup_printf("select(%s, %s, %s)", c, a, b);
    }
    default:
        return g_strdup_printf("(%s + %d)", a, n);
    }
}

static char *condition(Control *C, guint depth)
{
    static const char *const compare[] = { "<", "<=", ">", ">=", "==", "!=" };
    g_autofree char *a = integer(C, depth), *b = atom(C);
    if (depth > 0 && upto(C, 6) == 0) {
        g_autofree char *x = condition(C, depth - 1), *y = condition(C, depth - 1);
        return g_strdup_printf("(%s %s %s)", x, upto(C, 2) ? "&&" : "||", y);
    }
    if (upto(C, 8) == 0)
        return g_strdup_printf("!(%s < %s)", a, b);
    if (upto(C, 3) > 0)
        return g_strdup_printf("%s %s %d", a, compare[upto(C, 6)], (int)number(C));
    return g_strdup_printf("%s %s %s", a, compare[upto(C, 6)], b);
}

/* A name by what it stands for. */
static char *unfolded(const char *text, const char *name, const char *meaning)
{
    GString *out = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        gboolean word = *c == *name && !g_ascii_isalnum(c[1]) && c[1] != '_' &&
                        (c == text || (!g_ascii_isalnum(c[-1]) && c[-1] != '_'));
        if (word)
            g_string_append_printf(out, "(%s)", meaning);
        else
            g_string_append_c(out, *c);
    }
    return g_string_free(out, FALSE);
}

/* The same in other words: `a` for the first agent, another text of equal value for the second. */
static char *reworded(Control *C, const char *text, gboolean truth)
{
    switch (upto(C, 8)) {
    case 6:
        return unfolded(text, "d", C->d);
    case 7:
        return strchr(C->e, '[') ? g_strdup(text) : unfolded(text, "e", C->e);
    case 0:
        return truth ? g_strdup_printf("!!(%s)", text) : g_strdup_printf("(%s) + 0", text);
    case 1:
        return truth ? g_strdup_printf("(%s) != 0", text) : g_strdup_printf("0 - (0 - (%s))", text);
    case 2:
        return truth ? g_strdup_printf("1 - (%s) < 1", text)
                     : g_strdup_printf("2*(%s) - (%s)", text, text);
    case 3:
        return truth ? g_strdup_printf("(%s) && 1", text)
                     : g_strdup_printf("max(%s, -1000) - 0*N", text);
    default:
        return g_strdup(text);
    }
}

/* Two bodies grow together: out[0] of the first agent, out[1] of the second. */
static void both(GString **out, const char *text)
{
    g_string_append(out[0], text);
    g_string_append(out[1], text);
}

static void two(Control *C, GString **out, const char *text, gboolean truth)
{
    g_autofree char *other = C->reword ? reworded(C, text, truth) : g_strdup(text);
    g_string_append(out[0], text);
    g_string_append(out[1], other);
}

static void list(Control *C, GString **out, guint depth);

static void loop(Control *C, GString **out, guint depth)
{
    g_autofree char *count = integer(C, 1 + upto(C, 2));
    g_autofree char *bounded = g_strdup_printf("min(%s, %d)", count, depth > 1 ? 6 : 9);
    guint number_of = C->loops++;
    char *name = g_strdup_printf("x%u", number_of);
    g_autofree char *head = g_strdup_printf("{ \"for\": \"%s\", \"count\": \"", name);
    both(out, head);
    two(C, out, upto(C, 2) ? bounded : strcmp(count, "N") == 0 ? "N" : bounded, FALSE);
    both(out, "\"");
    if (upto(C, 5) == 0) {
        g_autofree char *from = C->plain ? g_strdup_printf("%d", (int)number(C)) : atom(C);
        g_autofree char *text = g_strdup_printf(", \"from\": \"%s\"", from);
        both(out, text);
    }
    both(out, ", \"do\": [ ");
    g_ptr_array_add(C->names, name);
    list(C, out, depth - 1);
    g_ptr_array_remove(C->names, name);
    g_free(name);
    both(out, " ] }");
}

static void branch(Control *C, GString **out, guint depth)
{
    g_autofree char *cond = condition(C, 1 + upto(C, 2));
    both(out, "{ \"if\": \"");
    two(C, out, cond, TRUE);
    both(out, "\", \"then\": [ ");
    list(C, out, depth - 1);
    if (upto(C, 3) == 0) {
        both(out, " ], \"else\": [ ");
        list(C, out, depth - 1);
    }
    both(out, " ] }");
}

static void node(Control *C, GString **out, guint depth)
{
    guint what = upto(C, 10);
    if (depth == 0 || what < 4) {
        both(out, "SYNC");
    } else if (what < 6) {
        loop(C, out, depth);
    } else if (what < 9) {
        branch(C, out, depth);
    } else {
        g_autofree char *by =
            C->plain || upto(C, 2) ? g_strdup_printf("%d", (int)number(C)) : atom(C);
        g_autofree char *text =
            g_strdup_printf("{ \"advance\": \"c\", \"by\": \"%s\" }", strcmp(by, "c") ? by : "1");
        both(out, text);
    }
}

/* One meeting more of the second agent, under a condition that is seldom true. */
static void rare(Control *C, GString **out)
{
    g_autofree char *a = integer(C, 1);
    g_string_append_printf(out[1], ", { \"if\": \"%s == %d\", \"then\": [ SYNC ] }", a,
                           (int)number(C));
}

static void list(Control *C, GString **out, guint depth)
{
    guint n = 1 + upto(C, 3);
    for (guint i = 0; i < n; i++) {
        both(out, i ? ", " : "");
        node(C, out, depth);
    }
    if (C->other && upto(C, 3) == 0) {
        C->other = FALSE;
        rare(C, out);
    }
}

static char *synced(const char *body, const char *wait, const char *arrive)
{
    g_auto(GStrv) part = g_strsplit(body, "SYNC", -1);
    g_autofree char *sync = g_strdup_printf(
        "{ \"wait\": \"%s\", \"use\": \"n\" }, { \"arrive\": \"%s\", \"use\": \"n\" }, "
        "{ \"advance\": \"n\" }",
        wait, arrive);
    return g_strjoinv(sync, part);
}

char *control_design(guint32 seed)
{
    static const char *const starts[] = { "0", "0", "3", "12", "-2", "N", "N - D" };
    enum { N_NUMBERS = 5 }; /* first of them */
    static const char *const run[] = { "N - D", "N/2", "max(N, 1)", "N%3", "D - N", "min(N, 6)" };
    static const char *const tile[] = {
        "L[t]", "L[t] - 1", "max(L[t], 0)", "N - t", "t%2", "t - N"
    };
    Control C = { .rand = g_rand_new_with_seed(seed), .names = g_ptr_array_new() };
    GString *out[2] = { g_string_new(NULL), g_string_new(NULL) };
    C.tiles = upto(&C, 2);
    C.reword = upto(&C, 2);
    C.other = upto(&C, 3) == 0;
    static char *const always[] = { "N", "N", "D", "d", "e", "c" };
    for (guint i = 0; i < G_N_ELEMENTS(always); i++)
        g_ptr_array_add(C.names, always[i]);
    /* the rest of what can be drawn keeps most designs outside, and nothing is said of these */
    C.plain = upto(&C, 2);
    const char *start = starts[upto(&C, C.plain ? N_NUMBERS : G_N_ELEMENTS(starts))];
    const char *d = run[upto(&C, G_N_ELEMENTS(run))], *e = tile[upto(&C, G_N_ELEMENTS(tile))];
    C.d = d;
    C.e = e;
    if (C.tiles) {
        both(out, "{ \"for\": \"tile\", \"over\": \"tiles\", \"do\": [ ");
    }
    /* not both: positions and coordinates hang together in ways that cost many cases to try */
    g_ptr_array_add(C.names, (gpointer)(C.tiles && upto(&C, 2) ? "tile" : "t"));
    list(&C, out, 3);
    both(out, C.tiles ? " ] }" : "");
    g_autofree char *a = synced(out[0]->str, "back", "go"), *b = synced(out[1]->str, "go", "back");
    char *text = g_strdup_printf(
        "{ \"warpstave\": 1, \"name\": \"control\", \"target\": \"sm_90a\",\n"
        "  \"sizes\": { \"N\": 3, \"T\": 3, \"D\": 1 },\n  \"let\": { \"d\": \"%s\" },\n"
        "  \"tensors\": [ { \"name\": \"L\", \"dtype\": \"i32\", \"shape\": [\"T\"], \"data\": "
        "\"integers(-70, 60)\" } ],\n"
        "  \"tiles\": { \"axes\": { \"t\": \"%s\" }, \"launch\": \"%s\", \"let\": { \"e\": \"%s\" "
        "} },\n"
        "  \"barriers\": [ { \"name\": \"go\" }, { \"name\": \"back\", \"init\": \"ready\" } ],\n"
        "  \"groups\": [\n"
        "    { \"name\": \"a\", \"role\": \"worker\", \"warps\": 1, \"counters\": [ { \"name\": "
        "\"n\" }, "
        "{ \"name\": \"c\", \"start\": \"%s\" } ],\n      \"body\": [ %s ] },\n"
        "    { \"name\": \"b\", \"role\": \"worker\", \"warps\": 1, \"counters\": [ { \"name\": "
        "\"n\" }, "
        "{ \"name\": \"c\", \"start\": \"%s\" } ],\n      \"body\": [ %s ] } ] }\n",
        d, C.tiles ? "T" : "1", C.tiles ? "persistent" : "single", e, start, a, start, b);
    g_string_free(out[0], TRUE);
    g_string_free(out[1], TRUE);
    g_ptr_array_free(C.names, TRUE);
    g_rand_free(C.rand);
    return text;
}
