/* What packages of one design and of a rule share on the command line. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* gemm_bf16 for projects/gemm-bf16/design.wstave, ring for ring.wstave. Caller frees. */
char *ws_cli_package_name(const char *file);
/* A verdict without how long it took. Caller frees. */
char *ws_cli_package_outcome(const char *verdict);
/* Whether a package of this name can be written there: an exit code, what is wrong is printed. It
 * takes long until one is written. `wheels`: the folder of the wheel, or NULL. */
int ws_cli_package_ready(const char *name, const char *dir, const char *wheels);
/* Prints an error of src/package; the exit code. `dir` was written where only the wheel failed. */
int ws_cli_package_failure(const GError *error, const char *dir);
/* The JSON form of a package that was written to `dir`. `files`: their names (char*); NULL: those
 * of the folder. `wheel`: its file, or NULL. */
void ws_cli_package_json(const char *file, const char *dir, const char *name, const char *verdict,
                         const GPtrArray *files, const char *wheel);

G_END_DECLS
