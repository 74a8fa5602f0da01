/* Mutated files of every kind, given to every command: fuzz-nodes SECONDS. See README.md. */
#include "nodes.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=99:detect_leaks=0:intercept_strstr=0:allocator_may_return_null=0:"
           "max_allocation_size_mb=3000";
}
const char *__ubsan_default_options(void)
{
    return "halt_on_error=1:print_stacktrace=1:exitcode=99";
}

enum { JSON = 1, IN_PLACE = 2, FOLDER = 4, LINES = 8 };

static const struct {
    FuzzKind kind;
    int weight;
    guint flags;
    double seconds;
    const char *arguments;
} commands[] = {
#define WS_FUZZ_COMMAND(kind, weight, flags, seconds, arguments)                                   \
    { FUZZ_##kind, weight, flags, seconds, arguments },
#include "command.def"
#undef WS_FUZZ_COMMAND
};

static const struct {
    const char *name, *ending;
    int weight;
} kinds[] = {
#define WS_FUZZ_KIND(id, ending, weight) { #id, ending, weight },
#include "kind.def"
#undef WS_FUZZ_KIND
};

static struct {
    gint seconds, seed, count;
    char *only, *found, *command;
    gboolean all, verbose;
    char *folder;                 /* of the case */
    GPtrArray *bases[FUZZ_KINDS]; /* files */
    guint64 n_files[FUZZ_KINDS], n_commands[G_N_ELEMENTS(commands)], n_run;
    double most[G_N_ELEMENTS(commands)];
    gsize most_bytes[G_N_ELEMENTS(commands)];
    GHashTable *causes; /* what was found -> how often */
} f = { .seconds = 60, .seed = 1, .count = 0 };

static char *at(const char *name)
{
    return g_build_filename(f.folder, name, NULL);
}

static void keep(const char *name, const char *data, gsize n)
{
    g_autofree char *path = at(name);
    g_autoptr(GError) error = NULL;
    if (!g_file_set_contents_full(path, data, (gssize)n, G_FILE_SET_CONTENTS_NONE, 0600, &error))
        g_error("%s", error->message);
}

static char *get(const char *path, gsize *n)
{
    char *data = NULL;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &data, n, &error))
        g_error("%s", error->message);
    return data;
}

/* --- what is mutated -------------------------------------------------------------------------- */

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_bases(FuzzKind kind, const char *folder, const char *ending, gsize most)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ending))
            g_ptr_array_add(names, g_build_filename(path, name, NULL));
    g_ptr_array_sort(names, by_name);
    for (guint i = 0; i < names->len; i++) {
        gsize n;
        g_autofree char *data = get(names->pdata[i], &n);
        if (n <= most)
            g_ptr_array_add(f.bases[kind], g_strdup(names->pdata[i]));
    }
}

static void find_bases(void)
{
    static const struct {
        FuzzKind kind;
        const char *folder, *ending;
        gsize most; /* bytes: a small one */
    } from[] = {
        { FUZZ_DESIGN, "tests/designs", ".wstave", 12000 },
        { FUZZ_DESIGN, "tests/designs/catalogue", ".wstave", 12000 },
        { FUZZ_DESIGN, "tests/designs/broken", ".wstave", 12000 },
        { FUZZ_DESIGN, "tests/designs/memory", ".wstave", 12000 },
        { FUZZ_DESIGN, "tests/designs/global", ".wstave", 12000 },
        { FUZZ_DESIGN, "projects/gemm-bf16", ".wstave", 12000 },
        { FUZZ_DESIGN, "projects/gemm-bf16-splitk", ".wstave", 12000 },
        { FUZZ_DESIGN, "projects/gemm-fp8-block", ".wstave", 12000 },
        { FUZZ_DESIGN, "projects/attention-d64", ".wstave", 16000 },
        { FUZZ_GLUON, "tests/import/gluon", ".py", 20000 },
        { FUZZ_TLE, "tests/import/tle", ".py", 20000 },
        { FUZZ_TLX, "tests/import/tlx", ".py", 20000 },
        { FUZZ_PTX, "tests/import/ptx", ".ptx", 60000 },
        { FUZZ_MACHINE, "resources/machines", ".json", 60000 },
        { FUZZ_PICK, "projects", ".pick", 60000 },
        { FUZZ_TABLE, "projects", "cycles.txt", 60000 },
    };
    for (guint i = 0; i < FUZZ_KINDS; i++)
        f.bases[i] = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < G_N_ELEMENTS(from); i++)
        add_bases(from[i].kind, from[i].folder, from[i].ending, from[i].most);
    for (guint i = 0; i < f.bases[FUZZ_DESIGN]->len; i++)
        g_ptr_array_add(f.bases[FUZZ_SERVE], g_strdup(f.bases[FUZZ_DESIGN]->pdata[i]));
}

/* A small trace and its design, which stay beside every case. */
static void keep_trace(void)
{
    static const FuzzLimits limits = { .in_place = TRUE, .seconds = 20, .bytes = (gsize)1 << 30 };
    char *argv[] = { (char *)"warpstave",
                     (char *)"simulate",
                     (char *)"--size",
                     (char *)"M=256",
                     (char *)"--size",
                     (char *)"N=128",
                     (char *)"--size",
                     (char *)"K=320",
                     (char *)"--trace=trace.tmp",
                     (char *)"traced.wstave",
                     NULL };
    gsize n;
    g_autofree char *data = get(WS_SOURCE_ROOT "/tests/designs/gemm-one-consumer.wstave", &n);
    keep("traced.wstave", data, n);
    keep("trace.tmp", "", 0); /* not new: it stays */
    FuzzOutcome o = fuzz_judge(f.folder, warpstave_main, argv, &limits);
    if (o.code != 0)
        g_error("no trace to begin with: %s", o.said);
    fuzz_outcome_clear(&o);
    g_autofree char *from = at("trace.tmp"), *to = at("trace.wtrace");
    g_rename(from, to);
    g_ptr_array_add(f.bases[FUZZ_TRACE], g_strdup(to));
    g_ptr_array_add(f.bases[FUZZ_BUNDLE],
                    g_canonicalize_filename(WS_SOURCE_ROOT "/tests/launch/h200", NULL));
}

static void make_bundle(GRand *r, const char *from)
{
    static const char *const names[] = { "bundle.txt", "results.json", "records.bin",
                                         "design.wstave" };
    const gint which = g_rand_int_range(r, 0, 6);
    g_autofree char *folder = at("in");
    g_mkdir(folder, 0700);
    for (gint i = 0; i < (gint)G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(from, names[i], NULL), *now = NULL;
        g_autofree char *to = g_build_filename("in", names[i], NULL);
        gsize n;
        g_autofree char *data = get(path, &n);
        if (i == 0 && (which == 0 || which == 4))
            now = fuzz_lines(r, data);
        else if (i != 2 && (i == which || (i == 1 && which == 5)))
            now = fuzz_tree(r, data);
        else if (i == which)
            fuzz_words(r, (guint8 *)data, n, FALSE);
        keep(to, now ? now : data, now ? strlen(now) : n);
    }
}

static char *make_requests(GRand *r, const char *design)
{
    static const char *const dos[] = { "check", "simulate", "advise", "fix", "check" };
    GString *out = g_string_new(NULL);
    for (gint i = g_rand_int_range(r, 1, 4); i > 0; i--) {
        json_object *o = json_object_new_object();
        g_autofree char *mutated = fuzz_tree(r, design);
        json_object_object_add(o, "do", json_object_new_string(dos[g_rand_int_range(r, 0, 5)]));
        json_object_object_add(o, "id", json_object_new_int(i));
        json_object_object_add(o, "design", json_object_new_string(mutated ? mutated : design));
        g_autofree char *request =
            g_rand_boolean(r) ? fuzz_tree(r, json_object_to_json_string(o)) : NULL;
        g_autofree char *line = g_strdup(request ? request : json_object_to_json_string(o));
        json_object_put(o);
        g_string_append_printf(out, "%s\n", g_strdelimit(line, "\n", ' '));
    }
    return g_string_free(out, FALSE);
}

static char *make_text(GRand *r, FuzzKind kind, const char *data)
{
    if (kind == FUZZ_DESIGN || kind == FUZZ_MACHINE)
        return fuzz_tree(r, data);
    if (kind == FUZZ_SERVE)
        return make_requests(r, data);
    return fuzz_lines(r, data);
}

/* Writes "in" and its ending; FALSE: there is nothing of this kind. */
static gboolean make(GRand *r, FuzzKind kind)
{
    if (f.bases[kind]->len == 0)
        return FALSE;
    const char *base = f.bases[kind]->pdata[g_rand_int_range(r, 0, (gint)f.bases[kind]->len)];
    g_autofree char *name = g_strconcat("in", kinds[kind].ending, NULL), *text = NULL;
    gsize n;
    if (kind == FUZZ_BUNDLE) {
        make_bundle(r, base);
        return TRUE;
    }
    g_autofree char *data = get(base, &n);
    keep("base.wstave", data, n);
    if (kind == FUZZ_TRACE) {
        fuzz_words(r, (guint8 *)data, n, TRUE);
        keep(name, data, n);
        return TRUE;
    }
    text = make_text(r, kind, data);
    keep(name, text ? text : data, text ? strlen(text) : n);
    return TRUE;
}

/* --- commands --------------------------------------------------------------------------------- */

static char *argument(const char *word, FuzzKind kind)
{
    static const char *const places[][2] = { { "TRACED", "traced.wstave" },
                                             { "TRACE", "trace.wtrace" },
                                             { "BASE", "base.wstave" },
                                             { "OUT", "out" } };
    g_autofree char *in = g_strconcat("in", kinds[kind].ending, NULL);
    const char *found = strstr(word, "IN");
    if (found)
        return g_strdup_printf("%.*s%s%s", (int)(found - word), word, in, found + 2);
    for (guint i = 0; i < G_N_ELEMENTS(places); i++)
        if ((found = strstr(word, places[i][0])))
            return g_strdup_printf("%.*s%s%s", (int)(found - word), word, places[i][1],
                                   found + strlen(places[i][0]));
    return g_strdup(word);
}

static void keep_found(guint32 seed, FuzzKind kind)
{
    g_autofree char *name = g_strdup_printf("%u%s", seed, kinds[kind].ending);
    g_autofree char *to = g_build_filename(f.found, name, NULL);
    g_autofree char *inner = g_strconcat("in", kinds[kind].ending, NULL), *from = at(inner);
    const char *argv[] = { "cp", "-rT", from, to, NULL };
    g_mkdir_with_parents(f.found, 0700);
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
}

static void run_command(guint which, guint32 seed)
{
    g_auto(GStrv) words = g_strsplit(commands[which].arguments, " ", -1);
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    const guint flags = commands[which].flags;
    const FuzzLimits limits = { .json = flags & JSON,
                                .lines = flags & LINES,
                                .in_place = flags & IN_PLACE,
                                .folder = flags & FOLDER,
                                .seconds = commands[which].seconds,
                                .bytes = (gsize)1 << 30 };
    g_ptr_array_add(argv, g_strdup("warpstave"));
    for (guint i = 0; words[i]; i++)
        g_ptr_array_add(argv, argument(words[i], commands[which].kind));
    g_ptr_array_add(argv, NULL);
    FuzzOutcome o = fuzz_judge(f.folder, warpstave_main, (char **)argv->pdata, &limits);
    f.n_commands[which]++;
    f.n_run++;
    f.most[which] = MAX(f.most[which], o.seconds);
    f.most_bytes[which] = MAX(f.most_bytes[which], o.bytes);
    if (f.verbose)
        printf("%u: %s: %d, %.2f s, %zu MiB\n%s\n", seed, commands[which].arguments, o.code,
               o.seconds, o.bytes >> 20, o.said);
    if (o.kind) {
        g_autofree char *cause = g_strdup_printf("%s: %s", commands[which].arguments, o.kind);
        const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(f.causes, cause)) + 1;
        g_hash_table_insert(f.causes, g_strdup(cause), GUINT_TO_POINTER(n));
        if (n <= 5) {
            printf("found: seed %u, %s (%.1f s, %zu MiB)\n", seed, cause, o.seconds, o.bytes >> 20);
            keep_found(seed, commands[which].kind);
        }
        fflush(stdout);
    }
    fuzz_outcome_clear(&o);
}

static guint choose(GRand *r, FuzzKind kind)
{
    int sum = 0;
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        sum += commands[i].kind == kind ? commands[i].weight : 0;
    int left = g_rand_int_range(r, 0, sum);
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        if (commands[i].kind == kind && (left -= commands[i].weight) < 0)
            return i;
    g_assert_not_reached();
}

static FuzzKind choose_kind(GRand *r)
{
    int sum = 0;
    for (guint i = 0; i < FUZZ_KINDS; i++)
        sum += kinds[i].weight;
    int left = g_rand_int_range(r, 0, sum);
    for (guint i = 0; i < FUZZ_KINDS; i++) {
        if ((left -= kinds[i].weight) < 0)
            return (FuzzKind)i;
    }
    g_assert_not_reached();
}

static void one_case(guint32 seed)
{
    g_autoptr(GRand) r = g_rand_new_with_seed(seed);
    const FuzzKind kind = choose_kind(r);
    if ((f.only && strcmp(kinds[kind].name, f.only) != 0) || !make(r, kind))
        return;
    f.n_files[kind]++;
    if (f.all || f.command) {
        for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
            if (commands[i].kind == kind &&
                (!f.command || strstr(commands[i].arguments, f.command)))
                run_command(i, seed);
    } else {
        for (guint i = 0; i < 2; i++)
            run_command(choose(r, kind), seed);
    }
    g_autofree char *in = g_strconcat("in", kinds[kind].ending, NULL), *path = at(in);
    if (kind == FUZZ_BUNDLE)
        fuzz_empty(path);
    else
        g_unlink(path);
}

static void report(double seconds)
{
    guint64 n = 0, found = 0;
    for (guint i = 0; i < FUZZ_KINDS; i++)
        n += f.n_files[i];
    printf("%" G_GUINT64_FORMAT " files, %" G_GUINT64_FORMAT " commands, %.0f s; seeds from %d:", n,
           f.n_run, seconds, f.seed);
    for (guint i = 0; i < FUZZ_KINDS; i++)
        printf(" %s %" G_GUINT64_FORMAT, kinds[i].name, f.n_files[i]);
    printf("\n");
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        if (f.n_commands[i] > 0)
            printf("  %8" G_GUINT64_FORMAT "  most %5.2f s %4zu MiB  %s\n", f.n_commands[i],
                   f.most[i], f.most_bytes[i] >> 20, commands[i].arguments);
    GHashTableIter iter;
    gpointer cause, times;
    g_hash_table_iter_init(&iter, f.causes);
    while (g_hash_table_iter_next(&iter, &cause, &times)) {
        found++;
        printf("found %u times: %s\n", GPOINTER_TO_UINT(times), (char *)cause);
    }
    printf("%" G_GUINT64_FORMAT " findings%s%s\n", found, found ? ", inputs in " : "",
           found ? f.found : "");
}

static gboolean options(int *argc, char ***argv)
{
    const GOptionEntry entries[] = {
        { "seed", 0, 0, G_OPTION_ARG_INT, &f.seed, "the first case", "N" },
        { "count", 0, 0, G_OPTION_ARG_INT, &f.count, "cases (default: as time allows)", "N" },
        { "only", 0, 0, G_OPTION_ARG_STRING, &f.only, "only files of this kind", "KIND" },
        { "command", 0, 0, G_OPTION_ARG_STRING, &f.command, "only commands with this text",
          "TEXT" },
        { "all", 0, 0, G_OPTION_ARG_NONE, &f.all, "every command on every file", NULL },
        { "found", 0, 0, G_OPTION_ARG_FILENAME, &f.found, "where inputs with findings are kept",
          "DIR" },
        { "verbose", 0, 0, G_OPTION_ARG_NONE, &f.verbose, "print what commands say", NULL },
        { NULL },
    };
    g_autoptr(GOptionContext) context = g_option_context_new("[SECONDS]");
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, argc, argv, &error)) {
        fprintf(stderr, "fuzz-nodes: %s\n", error->message);
        return FALSE;
    }
    if (*argc > 1)
        f.seconds = atoi((*argv)[1]);
    return TRUE;
}

int main(int argc, char **argv)
{
    if (!options(&argc, &argv))
        return 2;
    g_autofree char *made =
        g_strdup(g_file_test("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm/warpstave-fuzz-XXXXXX"
                                                             : "/tmp/warpstave-fuzz-XXXXXX");
    g_autofree char *here = g_get_current_dir();
    f.found = f.found ? g_canonicalize_filename(f.found, here)
                      : g_build_filename(here, "fuzz-nodes-found", NULL);
    f.folder = g_mkdtemp(made);
    f.causes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *history = at("history.db"), *tmp = at("tmp");
    g_mkdir(tmp, 0700);
    g_setenv("WARPSTAVE_HISTORY", history, TRUE);
    g_setenv("WARPSTAVE_RUNNER", "/bin/false", TRUE);
    g_setenv("TMPDIR", tmp, TRUE);
    g_setenv("HOME", tmp, TRUE);
    find_bases();
    keep_trace();
    const gint64 begin = g_get_monotonic_time();
    const gint64 end = begin + (gint64)f.seconds * G_USEC_PER_SEC;
    for (gint i = 0; f.count > 0 ? i < f.count : g_get_monotonic_time() < end; i++)
        one_case((guint32)(f.seed + i));
    report((double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC);
    fuzz_empty(f.folder);
    g_rmdir(f.folder);
    return g_hash_table_size(f.causes) > 0;
}
