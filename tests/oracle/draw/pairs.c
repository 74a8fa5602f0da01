#include "pairs.h"

#include <string.h>

struct Pairs {
    guint n;          /* features */
    PairTally *tally; /* [n * n], the lower feature first */
};

Pairs *pairs_new(void)
{
    Pairs *p = g_new0(Pairs, 1);
    p->n = compose_features();
    p->tally = g_new0(PairTally, (gsize)p->n * p->n);
    return p;
}

void pairs_free(Pairs *p)
{
    g_free(p->tally);
    g_free(p);
}

static void add(Pairs *p, guint a, guint b, PairTally what)
{
    PairTally *t = &p->tally[(gsize)MIN(a, b) * p->n + MAX(a, b)];
    t->drawn += what.drawn;
    t->judged += what.judged;
    t->proved += what.proved;
    t->refuted += what.refuted;
}

void pairs_count(Pairs *p, const guint *feature, guint n, PairTally what)
{
    for (guint i = 0; i < n; i++)
        for (guint k = i + 1; k < n; k++)
            add(p, feature[i], feature[k], what);
}

static gint feature_of(const Pairs *p, const char *name)
{
    for (guint i = 0; i < p->n; i++)
        if (strcmp(compose_name(i), name) == 0)
            return (gint)i;
    return -1;
}

static void read_line(Pairs *p, const char *line)
{
    g_auto(GStrv) word = g_strsplit(line, " ", -1);
    guint count[4];
    if (g_strv_length(word) != 6)
        return;
    gint a = feature_of(p, word[0]), b = feature_of(p, word[1]);
    for (guint i = 0; i < 4; i++)
        count[i] = (guint)g_ascii_strtoull(word[2 + i], NULL, 10);
    if (a >= 0 && b >= 0 && a != b)
        add(p, (guint)a, (guint)b, (PairTally){ count[0], count[1], count[2], count[3] });
}

gboolean pairs_add_to(Pairs *p, const char *file)
{
    g_autofree char *text = NULL;
    if (g_file_get_contents(file, &text, NULL, NULL)) {
        g_auto(GStrv) line = g_strsplit(text, "\n", -1);
        for (guint i = 0; line[i]; i++)
            read_line(p, line[i]);
    }
    GString *out = g_string_new(NULL);
    for (guint a = 0; a < p->n; a++)
        for (guint b = a + 1; b < p->n; b++) {
            const PairTally *t = &p->tally[(gsize)a * p->n + b];
            if (t->drawn)
                g_string_append_printf(out, "%s %s %u %u %u %u\n", compose_name(a), compose_name(b),
                                       t->drawn, t->judged, t->proved, t->refuted);
        }
    gboolean done = g_file_set_contents(file, out->str, -1, NULL);
    g_string_free(out, TRUE);
    return done;
}

char *pairs_text(const Pairs *p)
{
    guint may = 0, drawn = 0, judged = 0, proved = 0, both = 0;
    for (guint a = 0; a < p->n; a++)
        for (guint b = a + 1; b < p->n; b++) {
            const PairTally *t = &p->tally[(gsize)a * p->n + b];
            if (!compose_pair(a, b))
                continue;
            may++;
            drawn += t->drawn > 0;
            judged += t->judged > 0;
            proved += t->proved > 0;
            both += t->proved > 0 && t->refuted > 0;
        }
    return g_strdup_printf("%u features, %u pairs that may stand together: %u drawn, %u judged, %u "
                           "with a proof, %u with a proof and a refutation",
                           p->n, may, drawn, judged, proved, both);
}

char *pairs_missing(const Pairs *p, guint most)
{
    GString *out = g_string_new(NULL);
    for (guint a = 0; a < p->n && most; a++)
        for (guint b = a + 1; b < p->n && most; b++) {
            const PairTally *t = &p->tally[(gsize)a * p->n + b];
            if (!compose_pair(a, b) || t->judged || t->drawn < 4)
                continue;
            g_string_append_printf(out, "%snever judged: %s and %s (%u drawn)",
                                   out->len ? "\n" : "", compose_name(a), compose_name(b),
                                   t->drawn);
            most--;
        }
    return g_string_free(out, FALSE);
}
