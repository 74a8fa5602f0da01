/* Uniform expressions, read and evaluated at once (LANGUAGE section 25 is the grammar). */
#include "meaning.h"

#include <string.h>

enum { MOST_ARGUMENTS = 5 };

typedef struct {
    const char *at;
    const MeaningNames *names;
    gboolean bad; /* no value, or no expression */
    guint idle;   /* inside of a branch that is not taken: nothing there can be wrong */
} Reader;

static gint64 or_of(Reader *r);

static gboolean sign(Reader *r, const char *text)
{
    while (*r->at == ' ')
        r->at++;
    if (!g_str_has_prefix(r->at, text))
        return FALSE;
    r->at += strlen(text);
    return TRUE;
}

static void no_value(Reader *r)
{
    if (!r->idle)
        r->bad = TRUE;
}

static gint64 floor_div(gint64 a, gint64 b)
{
    gint64 q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static gint64 quotient(Reader *r, gint64 a, gint64 b)
{
    if (b == 0)
        no_value(r);
    return b ? floor_div(a, b) : 0;
}

static gint64 rest(Reader *r, gint64 a, gint64 b)
{
    return a - b * quotient(r, a, b);
}

static gint64 chosen(Reader *r)
{
    gint64 c = or_of(r), value[2];
    for (guint i = 0; i < 2; i++) {
        gboolean taken = (c != 0) == (i == 0);
        if (!sign(r, ","))
            r->bad = TRUE;
        r->idle += !taken;
        value[i] = or_of(r);
        r->idle -= !taken;
    }
    if (!sign(r, ")"))
        r->bad = TRUE;
    return value[c == 0];
}

static gint64 power_below(gint64 x)
{
    gint64 p = 1;
    while (p <= x / 2)
        p *= 2;
    return x > 0 ? p : 0;
}

static gint64 call(Reader *r, const char *name)
{
    gint64 arg[MOST_ARGUMENTS] = { 0 };
    guint n = 0;
    if (strcmp(name, "select") == 0)
        return chosen(r);
    do
        arg[n++] = or_of(r);
    while (n < MOST_ARGUMENTS && sign(r, ","));
    if (!sign(r, ")"))
        r->bad = TRUE;
    if (strcmp(name, "cdiv") == 0 && n == 2)
        return -quotient(r, -arg[0], arg[1]);
    if (strcmp(name, "abs") == 0 && n == 1)
        return ABS(arg[0]);
    if (strcmp(name, "pow2floor") == 0 && n == 1)
        return power_below(arg[0]);
    gboolean least = strcmp(name, "min") == 0;
    if (!least && strcmp(name, "max") != 0)
        r->bad = TRUE;
    for (guint i = 1; i < n; i++)
        arg[0] = least ? MIN(arg[0], arg[i]) : MAX(arg[0], arg[i]);
    return arg[0];
}

static gint64 named(Reader *r)
{
    const char *from = r->at;
    while (g_ascii_isalnum(*r->at) || *r->at == '_')
        r->at++;
    g_autofree char *name = g_strndup(from, (gsize)(r->at - from));
    gint64 value = 0, at[MOST_ARGUMENTS];
    guint n = 0;
    if (*r->at == '(') {
        r->at++;
        return call(r, name);
    }
    if (*r->at == '[') {
        r->at++;
        do
            at[n++] = or_of(r);
        while (n < MOST_ARGUMENTS && sign(r, ","));
        if (!sign(r, "]"))
            r->bad = TRUE;
        if (!r->names->element(r->names->data, name, at, n, &value))
            no_value(r);
        return value;
    }
    gboolean total = g_str_has_prefix(r->at, ".total");
    r->at += total ? 6 : 0;
    if (!r->names->name(r->names->data, name, total, &value))
        no_value(r);
    return value;
}

static gint64 unary(Reader *r)
{
    if (sign(r, "-"))
        return -unary(r);
    if (sign(r, "(")) {
        gint64 v = or_of(r);
        if (!sign(r, ")"))
            r->bad = TRUE;
        return v;
    }
    if (g_ascii_isdigit(*r->at)) {
        char *end;
        gint64 v = g_ascii_strtoll(r->at, &end, 10);
        r->at = end;
        return v;
    }
    if (g_ascii_isalpha(*r->at) || *r->at == '_')
        return named(r);
    r->bad = TRUE;
    return 0;
}

static gint64 term(Reader *r)
{
    gint64 v = unary(r);
    for (;;)
        if (sign(r, "*"))
            v *= unary(r);
        else if (sign(r, "/"))
            v = quotient(r, v, unary(r));
        else if (sign(r, "%"))
            v = rest(r, v, unary(r));
        else
            return v;
}

static gint64 sum(Reader *r)
{
    gint64 v = term(r);
    for (;;)
        if (sign(r, "+"))
            v += term(r);
        else if (sign(r, "-"))
            v -= term(r);
        else
            return v;
}

static gint64 comparison(Reader *r)
{
    gint64 v = sum(r);
    if (sign(r, "<="))
        return v <= sum(r);
    if (sign(r, ">="))
        return v >= sum(r);
    if (sign(r, "=="))
        return v == sum(r);
    if (sign(r, "!="))
        return v != sum(r);
    if (sign(r, "<"))
        return v < sum(r);
    if (sign(r, ">"))
        return v > sum(r);
    return v;
}

static gint64 not_of(Reader *r)
{
    if (sign(r, "!"))
        return !not_of(r);
    return comparison(r);
}

static gint64 and_of(Reader *r)
{
    gint64 v = not_of(r);
    while (sign(r, "&&")) {
        gint64 w = not_of(r);
        v = v && w;
    }
    return v;
}

static gint64 or_of(Reader *r)
{
    gint64 v = and_of(r);
    while (sign(r, "||")) {
        gint64 w = and_of(r);
        v = v || w;
    }
    return v;
}

gboolean meaning_value(const char *text, const MeaningNames *names, gint64 *value)
{
    Reader r = { .at = text, .names = names };
    *value = or_of(&r);
    while (*r.at == ' ')
        r.at++;
    return !r.bad && *r.at == '\0';
}
