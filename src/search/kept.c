/* Lines of text: a head, one line for each design in the order of its sum, an end with a checksum
 * of all before it. */
#include "search/kept.h"
#include "base/file.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <stdio.h>
#include <string.h>

#define MOST_BYTES (1u << 30)
#define SUM        64 /* characters of a SHA-256 */
#define HEAD       "warpstave-search 1 "
#define END        "end "

G_DEFINE_QUARK(ws - kept - error - quark, ws_kept_error)

static const char *const kind_word[] = { "unfit", "stuck", "serial", "played" };
static const char *const verdict_word[] = { "-", "proved", "refuted", "other" };

struct WsKept {
    char *file, *key;
    GHashTable *trial; /* sum -> WsKeptTrial* */
    gboolean changed;
};

static void add(GChecksum *sum, const char *text)
{
    g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

/* All that decides what is found out: the design, the launch, the durations, and who judged. */
static char *key_of(const WsTrialOf *of, const WsDesign *design)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autofree char *text = ws_design_print(design), *sizes = ws_launch_sizes_text(of->v);
    add(sum, WARPSTAVE_VERSION);
    add(sum, text);
    add(sum, sizes);
    add(sum, of->m->target);
    g_checksum_update(sum, (const guchar *)of->m->value, sizeof of->m->value);
    return g_strdup(g_checksum_get_string(sum));
}

static char *line_of(const char *sum, const WsKeptTrial *t)
{
    if (t->kind != WS_KEPT_PLAYED)
        return g_strdup_printf("%s %s", sum, kind_word[t->kind]);
    return g_strdup_printf(
        "%s played %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT " %d %s", sum,
        t->rough, t->whole, t->shared, t->extrapolated, verdict_word[t->verdict]);
}

static gboolean is_sum(const char *text)
{
    return strlen(text) == SUM && strspn(text, "0123456789abcdef") == SUM;
}

static gboolean word_of(const char *text, const char *const *words, guint n, guint *which)
{
    for (*which = 0; *which < n; ++*which)
        if (!strcmp(text, words[*which]))
            return TRUE;
    return FALSE;
}

/* FALSE: it is no such line, to the letter. */
static gboolean read_line(const char *line, char **sum, WsKeptTrial *t)
{
    g_auto(GStrv) part = g_strsplit(line, " ", -1);
    const guint n = g_strv_length(part);
    guint kind = 0, verdict = 0;
    *t = (WsKeptTrial){ 0 };
    if (n < 2 || !is_sum(part[0]) || !word_of(part[1], kind_word, G_N_ELEMENTS(kind_word), &kind) ||
        n != (kind == WS_KEPT_PLAYED ? 7u : 2u))
        return FALSE;
    t->kind = (WsKeptKind)kind;
    if (kind == WS_KEPT_PLAYED) {
        if (!word_of(part[6], verdict_word, G_N_ELEMENTS(verdict_word), &verdict))
            return FALSE;
        t->rough = g_ascii_strtoll(part[2], NULL, 10);
        t->whole = g_ascii_strtoll(part[3], NULL, 10);
        t->shared = g_ascii_strtoull(part[4], NULL, 10);
        t->extrapolated = !strcmp(part[5], "1");
        t->verdict = (WsKeptVerdict)verdict;
    }
    *sum = g_strdup(part[0]);
    g_autofree char *again = line_of(*sum, t);
    return !strcmp(again, line) && t->rough >= 0 && t->whole >= 0;
}

static gboolean refuse(const WsKept *k, guint line, const char *why, GError **error)
{
    g_set_error(error, WS_KEPT_ERROR, WS_KEPT_ERROR_FORMAT,
                "%s:%u: %s: what was kept is not read; name another file, or delete this one",
                k->file, line, why);
    return FALSE;
}

static gboolean read_end(const WsKept *k, guint line, const char *text, const char *at,
                         GError **error)
{
    g_autofree char *sum =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, (gsize)(at - text));
    g_autofree char *end = g_strdup_printf(END "%u %s\n", g_hash_table_size(k->trial), sum);
    return !strcmp(at, end) || refuse(k, line, "its checksum or number of lines is another", error);
}

static gboolean read_all(WsKept *k, const char *text, gsize length, GError **error)
{
    g_autofree char *head = g_strconcat(HEAD, k->key, "\n", NULL);
    guint line = 2;
    if (strlen(text) != length)
        return refuse(k, 1, "a byte of it is 0", error);
    if (!g_str_has_prefix(text, HEAD))
        return refuse(k, 1, "this is not a file of a search", error);
    if (!g_str_has_prefix(text, head)) {
        g_set_error(error, WS_KEPT_ERROR, WS_KEPT_ERROR_OTHER,
                    "%s:1: it is of another design, launch, machine or version of warpstave: name "
                    "another file",
                    k->file);
        return FALSE;
    }
    for (const char *at = text + strlen(head);; line++) {
        const char *end = strchr(at, '\n');
        if (g_str_has_prefix(at, END))
            return read_end(k, line, text, at, error);
        if (!end)
            return refuse(k, line, "it ends early", error);
        g_autofree char *own = g_strndup(at, (gsize)(end - at)), *sum = NULL;
        WsKeptTrial t;
        if (!read_line(own, &sum, &t))
            return refuse(k, line, "this is not a line of it", error);
        if (!g_hash_table_insert(k->trial, g_steal_pointer(&sum), g_memdup2(&t, sizeof t)))
            return refuse(k, line, "this design stands in it twice", error);
        at = end + 1;
    }
}

WsKept *ws_kept_open(const char *file, const WsTrialOf *of, const WsDesign *design, GError **error)
{
    g_autoptr(WsKept) k = g_new0(WsKept, 1);
    g_autofree char *text = NULL;
    gsize length;
    k->file = g_strdup(file);
    k->key = key_of(of, design);
    k->trial = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    if (!g_file_test(file, G_FILE_TEST_EXISTS)) {
        k->changed = TRUE;
        return g_steal_pointer(&k);
    }
    if (!ws_file_read(file, MOST_BYTES, &text, &length, error) || !read_all(k, text, length, error))
        return NULL;
    return g_steal_pointer(&k);
}

void ws_kept_free(WsKept *k)
{
    if (!k)
        return;
    g_free(k->file);
    g_free(k->key);
    g_hash_table_destroy(k->trial);
    g_free(k);
}

guint ws_kept_count(const WsKept *k)
{
    return g_hash_table_size(k->trial);
}

gboolean ws_kept_find(const WsKept *k, const char *sum, WsKeptTrial *trial)
{
    const WsKeptTrial *t = k ? g_hash_table_lookup(k->trial, sum) : NULL;
    if (t)
        *trial = *t;
    return t != NULL;
}

void ws_kept_set(WsKept *k, const char *sum, const WsKeptTrial *trial)
{
    if (!k)
        return;
    g_hash_table_insert(k->trial, g_strdup(sum), g_memdup2(trial, sizeof *trial));
    k->changed = TRUE;
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

gboolean ws_kept_save(WsKept *k, GError **error)
{
    if (!k->changed)
        return TRUE;
    g_autoptr(GString) text = g_string_new(HEAD);
    g_autoptr(GList) sums = g_list_sort(g_hash_table_get_keys(k->trial), by_text);
    g_string_append_printf(text, "%s\n", k->key);
    for (GList *l = sums; l; l = l->next) {
        g_autofree char *line = line_of(l->data, g_hash_table_lookup(k->trial, l->data));
        g_string_append_printf(text, "%s\n", line);
    }
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, -1);
    g_string_append_printf(text, END "%u %s\n", g_hash_table_size(k->trial), sum);
    k->changed = !ws_file_rewrite(k->file, text->str, text->len, error);
    return !k->changed;
}
