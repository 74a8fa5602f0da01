#include "cli/pick/regret.h"
#include "base/file.h"
#include "base/json_out.h"
#include "cli/cli.h"

#include <gio/gio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_TABLE_BYTES (1 << 20)

/* design | set | sizes | GHz | microseconds | use, as of projects/cycles.txt */
enum { DESIGN, SET, SIZES, GHZ, MICROSECONDS, USE, COLUMNS };

typedef struct {
    const char *rules, *text;
    WsPickRegret *r;
    GPtrArray *sizes;  /* char*: in the order of the tables */
    GHashTable *times; /* sizes -> GHashTable of what_of() -> double* (microseconds) */
} Job;

static void shape_free(gpointer data)
{
    WsPickShape *s = data;
    g_free(s->sizes);
    g_free(s->picked);
    g_free(s->fastest);
    g_free(s);
}

void ws_pick_regret_free(WsPickRegret *r)
{
    if (!r)
        return;
    g_ptr_array_unref(r->table);
    g_ptr_array_unref(r->shape);
    g_free(r);
}

gboolean ws_pick_counts(const WsPickShape *s)
{
    return s->measured > 1 && !isnan(s->us);
}

/* --- tables ------------------------------------------------------------------------------------
 */

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The words in one order: "B=2 A=1" is "A=1 B=2". */
static char *sorted(const char *words)
{
    g_auto(GStrv) word = g_strsplit_set(words, " \t", -1);
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    for (guint i = 0; word[i]; i++)
        if (*word[i])
            g_ptr_array_add(list, word[i]);
    g_ptr_array_sort(list, by_text);
    g_ptr_array_add(list, NULL);
    return g_strjoinv(" ", (char **)list->pdata);
}

/* A design with its settings, beside a file that names it. */
static char *what_of(const char *file, const char *design, const char *set)
{
    g_autofree char *folder = g_path_get_dirname(file);
    g_autofree char *from = g_canonicalize_filename(folder, NULL); /* it may be "." */
    g_autofree char *path = g_canonicalize_filename(design, from), *words = sorted(set);
    return g_strdup_printf("%s %s", path, words);
}

static gboolean take_row(Job *job, const char *file, guint number, const char *line, GError **error)
{
    g_auto(GStrv) cell = g_strsplit(line, "|", -1);
    if (g_strv_length(cell) != COLUMNS) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s:%u: six cells expected, parted by |", file, number);
        return FALSE;
    }
    for (guint i = 0; i < COLUMNS; i++)
        g_strstrip(cell[i]);
    const double us = g_ascii_strtod(cell[MICROSECONDS], NULL);
    if (!(us > 0 && us < 1e9)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s:%u: no time of a launch: \"%s\"", file, number, cell[MICROSECONDS]);
        return FALSE;
    }
    g_autofree char *design = g_str_has_suffix(cell[DESIGN], ".wstave")
                                  ? g_strdup(cell[DESIGN])
                                  : g_build_filename(cell[DESIGN], "design.wstave", NULL);
    GHashTable *of = g_hash_table_lookup(job->times, cell[SIZES]);
    if (!of) {
        of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_hash_table_insert(job->times, g_strdup(cell[SIZES]), of);
        g_ptr_array_add(job->sizes, g_strdup(cell[SIZES]));
    }
    /* Measured twice: the last time stands. */
    g_hash_table_insert(of, what_of(file, design, cell[SET]), g_memdup2(&us, sizeof us));
    return TRUE;
}

static gboolean take_table(Job *job, const char *file, GError **error)
{
    g_autofree char *text = NULL;
    gsize length;
    if (!ws_file_read(file, MAX_TABLE_BYTES, &text, &length, error))
        return FALSE;
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        g_strstrip(line[i]);
        if (*line[i] && *line[i] != '#' && !take_row(job, file, i + 1, line[i], error))
            return FALSE;
    }
    return TRUE;
}

/* --- shapes ------------------------------------------------------------------------------------
 */

/* NULL: not NAME=INTEGER each. */
static GHashTable *names_of(const char *sizes)
{
    g_auto(GStrv) word = g_strsplit_set(sizes, " \t", -1);
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; word[i]; i++) {
        char *equals = strchr(word[i], '=');
        gint64 value;
        if (!*word[i])
            continue;
        if (!equals ||
            !g_ascii_string_to_signed(equals + 1, 10, G_MININT64, G_MAXINT64, &value, NULL))
            return NULL;
        *equals = '\0';
        g_hash_table_insert(names, g_strdup(word[i]), g_memdup2(&value, sizeof value));
    }
    return g_steal_pointer(&names);
}

static char *shown(const WsPickChoice *c)
{
    return g_strdup_printf("%s%s%s", c->design, *c->set ? " " : "", c->set);
}

/* Of a shape that the rule cannot be asked about (of another kernel's sizes) nothing is said. */
static void take_shape(Job *job, const char *sizes)
{
    GHashTable *of = g_hash_table_lookup(job->times, sizes);
    g_autoptr(GHashTable) names = names_of(sizes);
    g_autoptr(GPtrArray) choices = names ? ws_pick_judge(job->text, names, NULL) : NULL;
    const WsPickChoice *picked = choices ? ws_pick_best(choices) : NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    WsPickShape s = { .us = NAN, .best = NAN };
    const WsPickChoice *fastest = NULL;
    for (guint i = 0; picked && i < choices->len; i++) {
        const WsPickChoice *c = choices->pdata[i];
        char *what = what_of(job->rules, c->design, c->set);
        const double *us = g_hash_table_lookup(of, what);
        if (us && (!fastest || *us < s.best)) {
            fastest = c;
            s.best = *us;
        }
        if (us && c == picked)
            s.us = *us;
        s.measured += g_hash_table_add(seen, what) && us;
    }
    if (!fastest)
        return;
    s.sizes = g_strdup(sizes);
    s.picked = shown(picked);
    s.fastest = shown(fastest);
    g_ptr_array_add(job->r->shape, g_memdup2(&s, sizeof s));
}

static void sum_up(WsPickRegret *r)
{
    double sum = 0;
    r->mean = r->most = NAN;
    for (guint i = 0; i < r->shape->len; i++) {
        const WsPickShape *s = r->shape->pdata[i];
        const double regret = s->us / s->best - 1;
        if (!ws_pick_counts(s))
            continue;
        sum += regret;
        if (!r->counted++ || regret > r->most) {
            r->most = regret;
            r->worst = s;
        }
    }
    if (r->counted)
        r->mean = sum / r->counted;
}

WsPickRegret *ws_pick_regret(const char *rules, const char *text, GError **error)
{
    g_autoptr(WsPickRegret) r = g_new0(WsPickRegret, 1);
    g_autofree char *folder = g_path_get_dirname(rules);
    g_autoptr(GPtrArray) sizes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) times =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_hash_table_unref);
    Job job = { rules, text, r, sizes, times };
    r->shape = g_ptr_array_new_with_free_func(shape_free);
    r->table = ws_pick_tables(text);
    for (guint i = 0; i < r->table->len; i++) {
        char *path = g_build_filename(folder, r->table->pdata[i], NULL);
        g_free(r->table->pdata[i]);
        r->table->pdata[i] = path;
        if (!take_table(&job, path, error))
            return NULL;
    }
    for (guint i = 0; i < sizes->len; i++)
        take_shape(&job, sizes->pdata[i]);
    sum_up(r);
    return g_steal_pointer(&r);
}

/* --- saying ------------------------------------------------------------------------------------
 */

static void put_real(WsJsonOut *j, const char *name, double value)
{
    if (isnan(value))
        ws_json_out_text(j, name, NULL);
    else
        ws_json_out_real(j, name, value);
}

static void print_json(const char *rules, const WsPickRegret *r)
{
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", rules);
    ws_json_out_texts(&j, "tables", r->table);
    ws_json_out_integer(&j, "counted", r->counted);
    put_real(&j, "mean", r->mean);
    put_real(&j, "most", r->most);
    ws_json_out_open(&j, "shapes", '[');
    for (guint i = 0; i < r->shape->len; i++) {
        const WsPickShape *s = r->shape->pdata[i];
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_text(&j, "sizes", s->sizes);
        ws_json_out_text(&j, "picked", s->picked);
        put_real(&j, "picked_us", s->us);
        ws_json_out_text(&j, "fastest", s->fastest);
        put_real(&j, "fastest_us", s->best);
        ws_json_out_integer(&j, "measured", s->measured);
        put_real(&j, "regret", ws_pick_counts(s) ? s->us / s->best - 1 : NAN);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
}

static void print_shape(const WsPickShape *s)
{
    if (ws_pick_counts(s))
        printf("%s: %s %.2f us, fastest of %u %s %.2f us: %.1f %%\n", s->sizes, s->picked, s->us,
               s->measured, s->fastest, s->best, 100 * (s->us / s->best - 1));
    else if (isnan(s->us))
        printf("%s: %s, which was not measured: not counted\n", s->sizes, s->picked);
    else
        printf("%s: %s alone was measured: not counted\n", s->sizes, s->picked);
}

int ws_pick_regret_print(const char *rules, const WsPickRegret *r, gboolean json)
{
    if (json) {
        print_json(rules, r);
        return r->counted ? WS_EXIT_YES : WS_EXIT_NO;
    }
    for (guint i = 0; i < r->shape->len; i++)
        print_shape(r->shape->pdata[i]);
    if (!r->counted)
        return ws_cli_fail(WS_EXIT_NO,
                           r->table->len
                               ? "%s: no regret: the tables hold no shape for which what it picks "
                                 "and another of its designs were measured"
                               : "%s: no regret: nothing was measured that the rule says it rests "
                                 "on (`table FILE`)",
                           rules);
    printf("regret over %u shape%s: %.1f %% in the mean, %.1f %% at most (%s)\n", r->counted,
           r->counted == 1 ? "" : "s", 100 * r->mean, 100 * r->most, r->worst->sizes);
    return WS_EXIT_YES;
}
