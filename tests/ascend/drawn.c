#include "ascend/drawn.h"

#include <string.h>

typedef struct {
    GRand *r;
    GPtrArray *line; /* char*, owned: steps, and what opens and closes lists */
    gint slots, sums;
    const char *use, *total; /* of a round; rounds when all is over */
} Draw;

static gint pick(Draw *d, gint n)
{
    return g_rand_int_range(d->r, 0, n);
}

static void put(Draw *d, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void put(Draw *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(d->line, g_strdup_vprintf(format, args));
    va_end(args);
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void flag(Draw *d, gboolean sets, const char *name, const char *plus)
{
    put(d, "{ \"%s\": \"%s\", \"use\": \"%s%s\" }", sets ? "arrive" : "wait", name, d->use, plus);
}

static void load(Draw *d)
{
    put(d, "{ \"load\": \"X\", \"at\": [\"0\"], \"into\": \"x\", \"use\": \"%s\" }", d->use);
}

static void store(Draw *d, const char *from)
{
    put(d, "{ \"store\": \"Z\", \"at\": [\"I[%s]\"], \"from\": \"%s\", \"use\": \"%s\" }", d->use,
        from, d->use);
}

static void add(Draw *d, const char *into)
{
    put(d, "{ \"vector\": \"add\", \"a\": \"x\", \"b\": \"x\", \"into\": \"%s\", \"use\": \"%s\" }",
        into, d->use);
}

/* In to V, to the copy out. */
static void by_vector(Draw *d)
{
    flag(d, FALSE, "free", "");
    load(d);
    flag(d, TRUE, "filled", "");
    flag(d, FALSE, "filled", "");
    flag(d, FALSE, "stored", "");
    add(d, "z");
    flag(d, TRUE, "free", " + S");
    flag(d, TRUE, "summed", "");
    flag(d, FALSE, "summed", "");
    store(d, "z");
    flag(d, TRUE, "stored", " + T");
}

/* Straight through. */
static void direct(Draw *d)
{
    flag(d, FALSE, "back", "");
    load(d);
    flag(d, TRUE, "straight", "");
    flag(d, FALSE, "straight", "");
    store(d, "x");
    flag(d, TRUE, "back", " + S");
}

/* Two queues take what came in. */
static void both(Draw *d)
{
    flag(d, FALSE, "free", "");
    flag(d, FALSE, "back", "");
    load(d);
    flag(d, TRUE, "straight", "");
    flag(d, TRUE, "filled", "");
    flag(d, FALSE, "straight", "");
    store(d, "x");
    flag(d, TRUE, "back", " + S");
    flag(d, FALSE, "filled", "");
    put(d, "{ \"sync\": \"V\" }");
    add(d, "z");
    flag(d, TRUE, "free", " + S");
}

static const struct {
    void (*round)(Draw *d);
    const char *ahead[3]; /* flags that are set before the rounds */
} kinds[] = {
    { by_vector, { "free", "stored" } },
    { direct, { "back" } },
    { both, { "free", "back" } },
};

static const char *slots_of(const char *name)
{
    return strcmp(name, "stored") == 0 || strcmp(name, "summed") == 0 ? "T" : "S";
}

static const char *condition(Draw *d)
{
    static const char *const of[] = { "k % 2 == 0", "k < 2",   "k == 0", "k + 1 < kt",
                                      "jt > 0",     "kt > 1",  "k >= 1", "k == kt - 1",
                                      "k % 3 < 2",  "jt == 2", "k < jt" };
    return of[pick(d, G_N_ELEMENTS(of))];
}

/* A round, all of it under a condition or none. */
static void round_of(Draw *d, guint kind, gboolean conditional, gboolean counted)
{
    if (conditional)
        put(d, "{ \"if\": \"%s\", \"then\": [", condition(d));
    kinds[kind].round(d);
    if (counted)
        put(d, "{ \"advance\": \"n\" }");
    if (conditional)
        put(d, "] }");
}

static void opened(Draw *d, const char *name, const char *count)
{
    put(d, "{ \"for\": \"%s\", \"count\": \"%s\", \"do\": [", name, count);
}

static void around(Draw *d, const char *how, guint kind)
{
    for (guint i = 0; i < G_N_ELEMENTS(kinds[kind].ahead) && kinds[kind].ahead[i]; i++) {
        const char *name = kinds[kind].ahead[i];
        const gboolean sets = *how == 's';
        put(d, "{ \"for\": \"%s%u\", \"count\": \"%s\", \"unroll\": \"full\", \"do\": [", how, i,
            slots_of(name));
        put(d, "{ \"%s\": \"%s\", \"use\": \"%s%s%u\" }", sets ? "arrive" : "wait", name,
            sets ? "" : d->total, how, i);
        put(d, "] }");
    }
}

static char *stream(Draw *d)
{
    static const char *const counts[] = { "kt", "jt", "2", "kt + 1", "3" };
    const guint kind = (guint)pick(d, G_N_ELEMENTS(kinds)), shape = (guint)pick(d, 6);
    const gboolean conditional = pick(d, 3) == 0, counted = conditional || pick(d, 4) == 0;
    const char *count = counts[pick(d, G_N_ELEMENTS(counts))];
    d->use = counted ? "n" : shape == 1 || shape == 2 ? "k.total" : shape == 3 ? "o*2 + k" : "k";
    d->total = counted      ? "n + "
               : shape == 3 ? "kt*2 + "
               : shape == 5 ? "select(jt > 0, kt, 0) + "
                            : "k.total + ";
    if (shape == 5 && !counted)
        d->use = "k", d->total = "k.total + ";
    around(d, "s", kind);
    if (shape == 1) { /* a loop in a loop */
        opened(d, "o", pick(d, 2) ? "kt" : "2");
        opened(d, "k", count);
        round_of(d, kind, conditional, counted);
        put(d, "] }");
        put(d, "] }");
    } else if (shape == 2) { /* one after another */
        opened(d, "k", count);
        round_of(d, kind, conditional, counted);
        put(d, "] }");
        opened(d, "k", counts[pick(d, G_N_ELEMENTS(counts))]);
        round_of(d, kind, conditional, counted);
        put(d, "] }");
    } else if (shape == 3) {
        opened(d, "o", "kt");
        opened(d, "k", "2");
        round_of(d, kind, conditional, counted);
        put(d, "] }");
        put(d, "] }");
    } else if (shape == 5) { /* a loop in a branch */
        put(d, "{ \"if\": \"jt > 0\", \"then\": [");
        opened(d, "k", count);
        round_of(d, kind, conditional, counted);
        put(d, "] }");
        put(d, "] }");
    } else {
        opened(d, "k", count);
        round_of(d, kind, conditional, counted);
        put(d, "] }");
    }
    if (pick(d, 2))
        around(d, "r", kind);
    else
        around(d, "q", kind);
    return g_strdup_printf("kind %u, shape %u, count %s, use %s%s, %d and %d slots", kind, shape,
                           count, d->use, conditional ? ", conditional" : "", d->slots, d->sums);
}

/* --- changes ---------------------------------------------------------------------------------- */

static gboolean is_step(const char *line)
{
    return !strstr(line, "\"for\"") && !strstr(line, "\"if\"") && *line == '{';
}

static gboolean is_sync(const char *line)
{
    return strstr(line, "\"arrive\"") || strstr(line, "\"wait\"") || strstr(line, "\"sync\"");
}

static gint step_of(Draw *d, gboolean sync)
{
    for (guint tries = 0; tries < 100; tries++) {
        const gint i = pick(d, (gint)d->line->len);
        const char *line = d->line->pdata[i];
        if (is_step(line) && (!sync || is_sync(line)))
            return i;
    }
    return 0;
}

static char *replaced(const char *line, const char *from, const char *to)
{
    GString *s = g_string_new(line);
    g_string_replace(s, from, to, 1);
    return g_string_free(s, FALSE);
}

static void set_line(Draw *d, gint i, char *text)
{
    g_free(d->line->pdata[i]);
    d->line->pdata[i] = text;
}

static void change(Draw *d, GString *how)
{
    static const char *const added[] = { "{ \"sync\": \"V\" }", "{ \"sync\": \"MTE2\" }",
                                         "{ \"sync\": \"MTE3\" }", "{ \"sync\": \"group\" }" };
    const gint kind = pick(d, 8), i = step_of(d, kind < 5);
    g_autofree char *was = g_strdup(d->line->pdata[i]);
    gint to = i;
    switch (kind) {
    case 0:
        g_ptr_array_remove_index(d->line, (guint)i);
        break;
    case 1:
        g_ptr_array_insert(d->line, i, g_strdup(was));
        break;
    case 2: { /* another use */
        static const struct {
            const char *from, *to;
        } use[] = { { " + S\"", "\"" },       { " + S\"", " + 1\"" },  { " + T\"", "\"" },
                    { "k\" }", "k + 1\" }" }, { "\" }", " + S\" }" },  { "k\" }", "k % S\" }" },
                    { "\" }", "*2\" }" },     { " + S\"", " + 2*S\"" } };
        const gint n = pick(d, G_N_ELEMENTS(use));
        set_line(d, i, replaced(was, use[n].from, use[n].to));
        break;
    }
    case 3: /* under a condition of its own */
        if (!strstr(was, "\"when\""))
            set_line(d, i, g_strdup_printf("{ \"when\": \"%s\", %s", condition(d), was + 2));
        break;
    case 4: {
        static const char *const pair[][2] = { { "free", "filled" },     { "filled", "free" },
                                               { "summed", "stored" },   { "back", "straight" },
                                               { "straight", "filled" }, { "free", "back" },
                                               { "stored", "summed" } };
        const gint n = pick(d, G_N_ELEMENTS(pair));
        set_line(d, i, replaced(was, pair[n][0], pair[n][1]));
        break;
    }
    case 5:
        g_ptr_array_insert(d->line, i, g_strdup(added[pick(d, G_N_ELEMENTS(added))]));
        break;
    default:
        to = i + (pick(d, 2) ? 1 : -1) * (1 + pick(d, 4));
        if (to < 0 || to >= (gint)d->line->len)
            break;
        char *taken = g_ptr_array_steal_index(d->line, (guint)i);
        g_ptr_array_insert(d->line, to, taken);
    }
    g_string_append_printf(how, "; change %d of line %d to %d: %s", kind, i, to, was);
}

/* --- the text --------------------------------------------------------------------------------- */

static char *joined(Draw *d)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < d->line->len; i++) {
        const char *line = d->line->pdata[i];
        const gsize n = s->len;
        const gboolean comma = n > 2 && s->str[n - 2] == '}' && *line == '{';
        if (comma)
            g_string_insert(s, (gssize)n - 1, ",");
        g_string_append_printf(s, "%s\n", line);
    }
    return g_string_free(s, FALSE);
}

char *ascend_drawn(guint32 seed, char **how)
{
    Draw d = { .r = g_rand_new_with_seed(seed), .line = g_ptr_array_new_with_free_func(g_free) };
    d.slots = 1 + pick(&d, 3);
    d.sums = pick(&d, 2) ? d.slots : 1 + pick(&d, 2);
    g_autofree char *what = stream(&d);
    GString *said = g_string_new(what);
    for (gint n = pick(&d, 4); n > 0; n--)
        change(&d, said);
    g_autofree char *body = joined(&d);
    char *text = g_strdup_printf(
        "{ \"warpstave\": 1, \"name\": \"drawn\", \"target\": \"ascend\",\n"
        "\"constants\": { \"S\": %d, \"T\": %d }, \"sizes\": { \"N\": 256, \"M\": 128 },\n"
        "\"rehearse\": { \"N\": 192 }, \"let\": { \"kt\": \"N/64\", \"jt\": \"M/64\" },\n"
        "\"tensors\": [ { \"name\": \"I\", \"dtype\": \"i32\", \"shape\": [\"N\"] }, { \"name\": "
        "\"X\", \"dtype\": \"f32\", \"shape\": [64] },\n"
        "{ \"name\": \"Z\", \"dtype\": \"f32\", \"shape\": [\"N\"], \"access\": \"write\", "
        "\"covers\": \"drawn\" } ],\n"
        "\"tiles\": { \"axes\": { \"t\": 1 }, \"launch\": \"single\" },\n"
        "\"buffers\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64], \"stages\": \"S\", "
        "\"space\": \"UB\" },\n"
        "{ \"name\": \"z\", \"dtype\": \"f32\", \"tile\": [64], \"stages\": \"T\", \"space\": "
        "\"UB\" } ],\n"
        "\"barriers\": [\n"
        "{ \"name\": \"filled\", \"kind\": \"flag\", \"slots\": \"S\", \"from\": \"MTE2\", \"to\": "
        "\"V\" },\n"
        "{ \"name\": \"free\", \"kind\": \"flag\", \"slots\": \"S\", \"from\": \"V\", \"to\": "
        "\"MTE2\" },\n"
        "{ \"name\": \"summed\", \"kind\": \"flag\", \"slots\": \"T\", \"from\": \"V\", \"to\": "
        "\"MTE3\" },\n"
        "{ \"name\": \"stored\", \"kind\": \"flag\", \"slots\": \"T\", \"from\": \"MTE3\", \"to\": "
        "\"V\" },\n"
        "{ \"name\": \"straight\", \"kind\": \"flag\", \"slots\": \"S\", \"from\": \"MTE2\", "
        "\"to\": \"MTE3\" },\n"
        "{ \"name\": \"back\", \"kind\": \"flag\", \"slots\": \"S\", \"from\": \"MTE3\", \"to\": "
        "\"MTE2\" } ],\n"
        "\"groups\": [ { \"name\": \"core\", \"role\": \"worker\", \"warps\": 1,\n"
        "\"counters\": [ { \"name\": \"n\", \"start\": 0 } ], \"body\": [\n%s] } ] }\n",
        d.slots, d.sums, body);
    *how = g_string_free(said, FALSE);
    g_ptr_array_unref(d.line);
    g_rand_free(d.r);
    return text;
}
