/* From a loaded design to a bundle: what the commands bundle and profile share. */
#pragma once

#include "cli/cli.h"

G_BEGIN_DECLS

typedef struct {
    char **set, **size, **shape; /* --set, --size, --case "M=1 N=2" */
    gboolean traced, debug_waits, cubin, from_cuda, force;
    gboolean proved;    /* by the caller, of this very file: it is not proved once more */
    gboolean adversary; /* a refuted design, its agents held to its witness */
    gint64 delays;      /* seed of random delays in the timed build; 0 none */
    gint64 seed, first_round, rounds, first_tile, tiles, every,
        launches; /* WS_NOT_GIVEN: by the launch */
    gint runs;
    double sustained, timeout;
    char *ctas; /* "0,1,2", "all", "last"; NULL: chosen by the launch */
} WsBundleOptions;

#define WS_NOT_GIVEN G_MININT64

void ws_bundle_options_init(WsBundleOptions *o);
/* Whether the options go together and have values that mean something: an exit code, what is wrong
 * is printed. Before anything takes long. */
int ws_bundle_options_check(const WsBundleOptions *o);
/* GPU numbers of --devices, such as "0,1": how many; 0: it is no such list, or names one twice. */
guint ws_cli_devices(const char *list);
void ws_bundle_options_clear(WsBundleOptions *o);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsBundleOptions, ws_bundle_options_clear)
#define WS_BUNDLE_ENTRIES(o)                                                                          \
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(o).set, "override a constant", "NAME=VALUE" },        \
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(o).size, "a size of every case", "NAME=VALUE" }, \
        { "case",                                                                                     \
          0,                                                                                          \
          0,                                                                                          \
          G_OPTION_ARG_STRING_ARRAY,                                                                  \
          &(o).shape,                                                                                 \
          "a case of its own; repeatable",                                                            \
          "\"M=1 N=2\"" },                                                                            \
        { "from-cuda",                                                                                \
          0,                                                                                          \
          0,                                                                                          \
          G_OPTION_ARG_NONE,                                                                          \
          &(o).from_cuda,                                                                             \
          "the timed build from CUDA C++, by nvcc",                                                   \
          NULL },                                                                                     \
        { "traced", 0, 0, G_OPTION_ARG_NONE, &(o).traced, "a traced build beside the timed one",      \
          NULL },                                                                                     \
        { "ctas",    0,                                                                               \
          0,         G_OPTION_ARG_STRING,                                                             \
          &(o).ctas, "CTAs to record: all, last (default of static launches) or numbers",             \
          "0,1,…" },                                                                                  \
        { "rounds",    0,                                                                             \
          0,           G_OPTION_ARG_INT64,                                                            \
          &(o).rounds, "rounds of inner loops to record; 0: only steps outside them",                 \
          "N" },                                                                                      \
        { "every",    0,                                                                              \
          0,          G_OPTION_ARG_INT64,                                                             \
          &(o).every, "record one round of inner loops in N: costs less, shows less",                 \
          "N" },                                                                                      \
        { "launches",                                                                                 \
          0,                                                                                          \
          0,                                                                                          \
          G_OPTION_ARG_INT64,                                                                         \
          &(o).launches,                                                                              \
          "launches that take turns with the rounds of inner loops: cost less, "                      \
          "tell nothing of what lies between two rounds; 1: one, with all of them",                   \
          "N" },                                                                                      \
        { "first-round", 0, 0, G_OPTION_ARG_INT64, &(o).first_round, "first one", "N" },              \
        { "tiles", 0, 0, G_OPTION_ARG_INT64, &(o).tiles, "tiles to record", "N" },                    \
        { "debug-waits",                                                                              \
          0,                                                                                          \
          0,                                                                                          \
          G_OPTION_ARG_NONE,                                                                          \
          &(o).debug_waits,                                                                           \
          "a build whose stuck waits say so",                                                         \
          NULL },                                                                                     \
        { "adversary",                                                                                \
          0,                                                                                          \
          0,                                                                                          \
          G_OPTION_ARG_NONE,                                                                          \
          &(o).adversary,                                                                             \
          "of a refuted design: hold its agents to the witness, so that it shows what it does",       \
          NULL },                                                                                     \
        { "delays",                                                                                   \
          0,                                                                                          \
          0,                                                                                          \
          G_OPTION_ARG_INT64,                                                                         \
          &(o).delays,                                                                                \
          "random sleeps before what synchronises: values must stay right, times mean nothing",       \
          "SEED" },                                                                                   \
        { "cubin", 0, 0, G_OPTION_ARG_NONE, &(o).cubin, "assemble with ptxas here", NULL },           \
        { "seed", 0, 0, G_OPTION_ARG_INT64, &(o).seed, "of the inputs", "N" },                        \
        { "runs", 0, 0, G_OPTION_ARG_INT, &(o).runs, "cold launches (default 30)", "N" },             \
        { "sustained",                                                                                \
          0,                                                                                          \
          0,                                                                                          \
          G_OPTION_ARG_DOUBLE,                                                                        \
          &(o).sustained,                                                                             \
          "seconds back to back (default 1)",                                                         \
          "S" },                                                                                      \
        { "timeout", 0, 0, G_OPTION_ARG_DOUBLE, &(o).timeout, "seconds one launch may take", "S" },   \
    {                                                                                                 \
        "force", 0, 0, G_OPTION_ARG_NONE, &(o).force, "bundle a refuted design too", NULL             \
    }

/* PTX and cubin of the timed build, free of spills and complaints; transfer full. */
gboolean ws_cli_timed_kernel(const WsProgram *p, char **ptx, GBytes **cubin, GError **error);
/* Exit code for an error of generating, assembling or bundling. */
int ws_cli_kernel_failure(const GError *error);

/* Loads, plays, generates and writes the bundle. Exit code; says what it does not like. */
int ws_cli_bundle(const char *file, const WsBundleOptions *o, const char *dir);

G_END_DECLS
