/* One fault in a certificate. */
#include "damage.h"

#include <string.h>

typedef struct {
    GRand *rand;
    GPtrArray *line; /* char*, without the empty one behind the last LF */
    GString *what;
} Damage;

typedef gboolean (*Fault)(Damage *d);

static guint any(Damage *d, guint n)
{
    return (guint)g_rand_int_range(d->rand, 0, (gint)MAX(n, 1));
}

static char *at(const Damage *d, guint i)
{
    return d->line->pdata[i];
}

static gboolean is(const Damage *d, guint i, const char *word)
{
    gsize n = strlen(word);
    return strncmp(at(d, i), word, n) == 0 && (at(d, i)[n] == ' ' || at(d, i)[n] == '\0');
}

static void replace(Damage *d, guint i, char *text)
{
    g_string_append_printf(d->what, "line %u: \"%s\" -> \"%s\"", i + 1, at(d, i), text);
    g_free(d->line->pdata[i]);
    d->line->pdata[i] = text;
}

/* A line of this kind, G_MAXUINT if there is none. */
static guint find(Damage *d, const char *word)
{
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < d->line->len; i++)
        if (is(d, i, word))
            g_array_append_val(list, i);
    return list->len ? g_array_index(list, guint, any(d, list->len)) : G_MAXUINT;
}

static gboolean is_number(const char *text)
{
    return g_ascii_isdigit(*text) || (*text == '-' && g_ascii_isdigit(text[1]));
}

/* Another number in field `n` of a line. */
static void change(Damage *d, guint i, guint n, gint64 by)
{
    g_auto(GStrv) f = g_strsplit(at(d, i), " ", -1);
    gint64 x = g_ascii_strtoll(f[n], NULL, 10);
    g_free(f[n]);
    f[n] = g_strdup_printf("%" G_GINT64_FORMAT, x + by);
    replace(d, i, g_strjoinv(" ", f));
}

static gint64 step(Damage *d)
{
    static const gint64 by[] = { 1, -1, 2, -2, 4, 8, -8, 1000, -1000, (gint64)1 << 40 };
    return by[any(d, G_N_ELEMENTS(by))];
}

/* --- what a symbol is needed for ----------------------------------------------------------------
 */
static gboolean field_is(const char *line, guint n, const char *text)
{
    g_auto(GStrv) f = g_strsplit(line, " ", -1);
    return g_strv_length(f) > n && strcmp(f[n], text) == 0;
}

static gboolean is_named(const Damage *d, const char *symbol)
{
    for (guint i = 0; i < d->line->len; i++)
        if ((is(d, i, "knows") && field_is(at(d, i), 1, symbol)) ||
            (is(d, i, "node") && field_is(at(d, i), 3, symbol)))
            return TRUE;
    return FALSE;
}

/* How far the values of a symbol lie apart: between them a number may change and nothing with it.
 */
static gint64 apart(const Damage *d, const char *symbol)
{
    for (guint i = 0; i < d->line->len; i++)
        if (is(d, i, "symbol") && field_is(at(d, i), 1, symbol)) {
            g_auto(GStrv) f = g_strsplit(at(d, i), " ", -1);
            return MAX(g_ascii_strtoll(f[12], NULL, 10), 1);
        }
    return 1;
}

/* --- nodes ------------------------------------------------------------------------------------ */
/* Lines first .. end - 1 of node `n`. */
static gboolean block(const Damage *d, guint n, guint *first, guint *end)
{
    g_autofree char *head = g_strdup_printf("node %u ask ", n);
    for (guint i = 0; i < d->line->len; i++) {
        if (!g_str_has_prefix(at(d, i), head))
            continue;
        *first = i;
        for (*end = i + 1; *end < d->line->len && !is(d, *end, "node") && !is(d, *end, "end");)
            ++*end;
        return TRUE;
    }
    return FALSE;
}

static guint n_nodes(const Damage *d)
{
    guint n = 0;
    for (guint i = 0; i < d->line->len; i++)
        n += is(d, i, "node");
    return n;
}

/* What a node asks about, and of which instances it knows something: nodes that are alike in that
 * may cover states of each other. */
static char *subject(const Damage *d, guint n)
{
    guint first, end;
    GString *t = g_string_new(NULL);
    for (guint i = block(d, n, &first, &end) ? first : (end = 0); i < end; i++) {
        g_auto(GStrv) f = g_strsplit(at(d, i), " ", -1);
        if (is(d, i, "node") && g_strv_length(f) > 3)
            g_string_append_printf(t, "%s:", f[3]);
        if (is(d, i, "knows") && g_strv_length(f) > 1)
            g_string_append_printf(t, "%s,", f[1]);
    }
    return g_string_free(t, FALSE);
}

static char *target(const char *option)
{
    return g_strdup(strrchr(option, ' ') + 1);
}

static gboolean may_cover(const Damage *d, const char *a, const char *b)
{
    if (!is_number(a) || !is_number(b))
        return strcmp(a, b) == 0;
    g_autofree char *x = subject(d, (guint)g_ascii_strtoull(a, NULL, 10));
    g_autofree char *y = subject(d, (guint)g_ascii_strtoull(b, NULL, 10));
    return strcmp(x, y) == 0;
}

/* The node to which an option is led leads on to where the option led: its question may be answered
 * already. */
static gboolean leads_on(const Damage *d, guint option, const char *to)
{
    guint first, end;
    g_autofree char *was = target(at(d, option));
    if (!is_number(to) || !block(d, (guint)g_ascii_strtoull(to, NULL, 10), &first, &end))
        return FALSE;
    for (guint i = first; i < end; i++) {
        g_autofree char *next = is(d, i, "option") ? target(at(d, i)) : NULL;
        if (next && !strcmp(next, was))
            return TRUE;
    }
    return FALSE;
}

static char *with_target(const char *option, const char *to)
{
    g_autofree char *head = g_strndup(option, (gsize)(strrchr(option, ' ') - option));
    return g_strdup_printf("%s %s", head, to);
}

/* --- faults ----------------------------------------------------------------------------------- */
static gboolean drop_node(Damage *d)
{
    guint n = n_nodes(d), first, end;
    if (n == 0 || !block(d, any(d, n), &first, &end))
        return FALSE;
    g_string_append_printf(d->what, "\"%s\" dropped", at(d, first));
    g_ptr_array_remove_range(d->line, first, end - first);
    return TRUE;
}

static gboolean drop_line(Damage *d)
{
    guint i = any(d, d->line->len);
    if (is(d, i, "knows") || is(d, i, "option"))
        return FALSE; /* drop_knows, drop_option */
    g_string_append_printf(d->what, "line %u \"%s\" dropped", i + 1, at(d, i));
    g_ptr_array_remove_index(d->line, i);
    return TRUE;
}

/* Not a residue that an assumption rules out. */
static gboolean drop_option(Damage *d)
{
    guint i = find(d, "option");
    if (i == G_MAXUINT || g_str_has_prefix(at(d, i), "option mod "))
        return FALSE;
    g_string_append_printf(d->what, "line %u \"%s\" dropped", i + 1, at(d, i));
    g_ptr_array_remove_index(d->line, i);
    return TRUE;
}

/* What is known of the name that is asked about, where that is more than what is assumed of it. */
static gboolean drop_knows(Damage *d)
{
    guint n = n_nodes(d), first, end;
    if (n == 0 || !block(d, any(d, n), &first, &end))
        return FALSE;
    g_autofree char *asked = g_strconcat("knows ", strstr(at(d, first), " ask ") + 5, " ", NULL);
    g_auto(GStrv) f = g_strsplit(asked, " ", -1);
    for (guint i = first; i < end; i++) {
        if (!g_str_has_prefix(at(d, i), asked))
            continue;
        g_auto(GStrv) known = g_strsplit(at(d, i), " ", -1);
        for (guint k = 0; k < first; k++)
            if (is(d, k, "symbol") && field_is(at(d, k), 1, f[1]) && is_number(known[5]) &&
                !field_is(at(d, k), 6, known[5])) {
                g_string_append_printf(d->what, "line %u \"%s\" dropped", i + 1, at(d, i));
                g_ptr_array_remove_index(d->line, i);
                return TRUE;
            }
    }
    return FALSE;
}

static gboolean number_of_option(Damage *d)
{
    guint i = find(d, "option");
    if (i == G_MAXUINT)
        return FALSE;
    guint node = i;
    while (!is(d, node, "node"))
        node--;
    g_auto(GStrv) f = g_strsplit(at(d, node), " ", -1);
    change(d, i, 2, step(d) * apart(d, f[3]));
    return TRUE;
}

/* More is said to be known than is. */
static gboolean know_more(Damage *d)
{
    guint i = find(d, "knows");
    if (i == G_MAXUINT)
        return FALSE;
    g_auto(GStrv) f = g_strsplit(at(d, i), " ", -1);
    guint n = 5 + any(d, 3);
    if (g_strv_length(f) != 8)
        return FALSE;
    if (is_number(f[n])) {
        change(d, i, n, (n == 5 ? 1 : -1) * (n == 7 ? 1 : apart(d, f[1])));
        return TRUE;
    }
    g_free(f[n]);
    f[n] = g_strdup(n == 5 ? "0" : n == 6 ? (is_number(f[5]) ? f[5] : "9") : "0");
    replace(d, i, g_strjoinv(" ", f));
    return TRUE;
}

/* Less is said to be known than is. */
static gboolean know_less(Damage *d)
{
    guint i = find(d, "knows");
    if (i == G_MAXUINT)
        return FALSE;
    g_auto(GStrv) f = g_strsplit(at(d, i), " ", -1);
    guint n = 5 + any(d, 3);
    if (g_strv_length(f) != 8 || !is_number(f[n]))
        return FALSE;
    if (n < 7 && any(d, 2)) {
        change(d, i, n, n == 5 ? -1 : 1);
        return TRUE;
    }
    g_free(f[n]);
    f[n] = g_strdup("-");
    replace(d, i, g_strjoinv(" ", f));
    return TRUE;
}

/* Another tile, another pass, another time or CTA of what is asked or known. */
static gboolean other_instance(Damage *d)
{
    static const struct {
        const char *word;
        guint tile, fields;
    } at_line[] = { { "node", 4, 3 }, { "knows", 2, 3 } };
    guint k = any(d, G_N_ELEMENTS(at_line)), i = find(d, at_line[k].word);
    if (i == G_MAXUINT)
        return FALSE;
    g_auto(GStrv) f = g_strsplit(at(d, i), " ", -1);
    guint n = at_line[k].tile + any(d, at_line[k].fields);
    static const char *const other[] = { "0",      "1",   "2",       "before",   "after",
                                         "launch", "1:0", "1:after", "1:launch", "-" };
    const char *to = other[any(d, n == at_line[k].tile ? 9 : 10)];
    if (n >= g_strv_length(f) || !strcmp(f[n], to))
        return FALSE;
    g_free(f[n]);
    f[n] = g_strdup(to);
    replace(d, i, g_strjoinv(" ", f));
    return TRUE;
}

/* Some node asks about the symbol of this line. */
static gboolean is_needed(const Damage *d, guint line)
{
    g_auto(GStrv) f = g_strsplit(at(d, line), " ", 3);
    return is_named(d, f[1]);
}

/* Other assumptions about a symbol that some node names. */
static gboolean assume_other(Damage *d)
{
    static const guint field[] = { 6, 8, 10, 12, 14 };
    guint i = find(d, "symbol");
    g_auto(GStrv) f = i < G_MAXUINT ? g_strsplit(at(d, i), " ", -1) : NULL;
    if (!f || g_strv_length(f) < 17 || !is_named(d, f[1]))
        return FALSE;
    guint n = field[any(d, G_N_ELEMENTS(field))];
    if (!is_number(f[n]))
        return FALSE;
    gint64 by = step(d);
    change(d, i, n, n == 6 ? by : ABS(by));
    return TRUE;
}

static gboolean other_word(Damage *d)
{
    static const char *const pair[][2] = {
        { " = ", " >= " },          { " >= ", " = " },        { " number ", " letter " },
        { " letter ", " number " }, { " launch ", " tile " }, { "symbol ", "symbols " },
        { " ask ", " asks " },
    };
    guint k = any(d, G_N_ELEMENTS(pair)), from = any(d, d->line->len);
    for (guint i = 0; i < d->line->len; i++) {
        guint n = (from + i) % d->line->len;
        const char *hit = strstr(at(d, n), pair[k][0]);
        if (!hit || is(d, n, "form") || (is(d, n, "symbol") && !is_needed(d, n)))
            continue;
        g_autofree char *head = g_strndup(at(d, n), (gsize)(hit - at(d, n)));
        replace(d, n, g_strconcat(head, pair[k][1], hit + strlen(pair[k][0]), NULL));
        return TRUE;
    }
    return FALSE;
}

static gboolean redirect(Damage *d)
{
    guint i = find(d, any(d, 8) ? "option" : "begin"), n = n_nodes(d);
    if (i == G_MAXUINT)
        return FALSE;
    g_autofree char *was = target(at(d, i));
    g_autofree char *to = any(d, 6) ? g_strdup_printf("%u", any(d, n + 1)) : g_strdup("end");
    if (!strcmp(was, "end") || may_cover(d, was, to) || leads_on(d, i, to))
        return FALSE;
    replace(d, i, with_target(at(d, i), to));
    return TRUE;
}

static gboolean swap_targets(Damage *d)
{
    guint a = find(d, "option"), b = find(d, "option");
    if (a == G_MAXUINT || a == b)
        return FALSE;
    g_autofree char *x = target(at(d, a)), *y = target(at(d, b));
    if (may_cover(d, x, y) || leads_on(d, a, y) || leads_on(d, b, x))
        return FALSE;
    replace(d, a, with_target(at(d, a), y));
    g_string_append(d->what, ", ");
    replace(d, b, with_target(at(d, b), x));
    return TRUE;
}

static gboolean swap_lines(Damage *d)
{
    guint i = any(d, d->line->len - 1);
    if (strcspn(at(d, i), " ") == strcspn(at(d, i + 1), " ") &&
        strncmp(at(d, i), at(d, i + 1), strcspn(at(d, i), " ")) == 0)
        return FALSE;
    g_string_append_printf(d->what, "lines %u and %u exchanged", i + 1, i + 2);
    gpointer x = d->line->pdata[i];
    d->line->pdata[i] = d->line->pdata[i + 1];
    d->line->pdata[i + 1] = x;
    return TRUE;
}

static gboolean cut_or_add(Damage *d)
{
    guint i = any(d, d->line->len);
    switch (any(d, 3)) {
    case 0:
        g_string_append_printf(d->what, "cut after line %u", i);
        g_ptr_array_set_size(d->line, (gint)i);
        return TRUE;
    case 1:
        g_string_append_printf(d->what, "line %u twice", i + 1);
        g_ptr_array_insert(d->line, (gint)i, g_strdup(at(d, i)));
        return TRUE;
    default:
        g_string_append(d->what, "something after the end");
        g_ptr_array_add(d->line, g_strdup("end"));
        return TRUE;
    }
}

static gboolean other_program(Damage *d)
{
    guint i = find(d, any(d, 2) ? "design" : "symbol");
    if (i == G_MAXUINT || (is(d, i, "symbol") && !is_needed(d, i)))
        return FALSE;
    char *text = g_strdup(at(d, i));
    gsize n = strlen(text);
    if (is(d, i, "symbol") && !strstr(text, " text x") && g_str_has_suffix(text, " text ")) {
        g_free(text); /* the tiles have no text */
        return FALSE;
    }
    text[n - 1] = text[n - 1] == '0' ? '1' : '0';
    replace(d, i, text);
    return TRUE;
}

/* One character of an expression, in the rest of a line behind `from`. */
static gboolean other_character(Damage *d, guint i, const char *behind)
{
    static const char *const pair[] = { "+*", "-*", "/*", "*/", "<>", "><", "12", "21",
                                        "8",  "MN", "NM", "ed", "kt", "0 ", "3 " };
    char *text = g_strdup(at(d, i)), *from = strstr(text, behind) + strlen(behind);
    const gsize length = strlen(from);
    for (guint k = 0, first = any(d, (guint)length); length && k < length; k++) {
        char *here = from + (first + k) % length;
        for (guint n = 0; n < G_N_ELEMENTS(pair); n++)
            if (*here == pair[n][0]) {
                *here = pair[n][1] ? pair[n][1] : '9';
                replace(d, i, text);
                return TRUE;
            }
    }
    g_free(text);
    return FALSE;
}

/* What a symbol stands for. */
static gboolean other_text(Damage *d)
{
    const guint i = find(d, "symbol");
    return i < G_MAXUINT && is_needed(d, i) && other_character(d, i, " text ");
}

/* What is taken for what; of remainders another number may leave the same. */
static gboolean other_form(Damage *d)
{
    const guint i = find(d, "form");
    if (i < G_MAXUINT && strpbrk(at(d, i), "%/"))
        return FALSE;
    if (i < G_MAXUINT)
        return other_character(d, i, any(d, 2) ? " as " : " ");
    change(d, find(d, "forms"), 1, 1);
    return TRUE;
}

static const struct {
    const char *name;
    Fault fault;
} kinds[WS_DAMAGE_KINDS] = {
    { "a node dropped", drop_node },
    { "a line dropped", drop_line },
    { "an answer dropped", drop_option },
    { "what is known of a name dropped", drop_knows },
    { "a number of an answer", number_of_option },
    { "more known than is", know_more },
    { "another assumption", assume_other },
    { "another word", other_word },
    { "an answer led elsewhere", redirect },
    { "two answers exchanged", swap_targets },
    { "two lines exchanged", swap_lines },
    { "cut off, doubled, lengthened", cut_or_add },
    { "another program", other_program },
    { "less known than is", know_less },
    { "another tile, time or CTA", other_instance },
    { "another form", other_form },
    { "another text", other_text },
};

const char *ws_damage_kind(guint32 seed)
{
    return kinds[seed % WS_DAMAGE_KINDS].name;
}

char *ws_damage(const char *text, guint32 seed, char **what)
{
    Damage d = { .rand = g_rand_new_with_seed(seed), .what = g_string_new(NULL) };
    d.line = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i] && line[i + 1]; i++)
        g_ptr_array_add(d.line, g_strdup(line[i]));
    gboolean done = FALSE;
    for (guint again = 0; again < 200 && !done && d.line->len > 1; again++)
        done = kinds[seed % WS_DAMAGE_KINDS].fault(&d);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < d.line->len; i++)
        g_string_append_printf(out, "%s\n", at(&d, i));
    g_ptr_array_unref(d.line);
    g_rand_free(d.rand);
    *what = g_string_free(d.what, FALSE);
    if (done && strcmp(out->str, text) != 0)
        return g_string_free(out, FALSE);
    g_clear_pointer(what, g_free);
    g_string_free(out, TRUE);
    return NULL;
}
