/* What the tests of packages share. */
#pragma once

#include "package/package.h"
#include "program/forward.h"

/* A design of the source tree, elaborated; `set`: a constant that is set to 1, or NULL. */
WsProgram *package_program(const char *file, const char *set);
/* An empty folder, and what removes it with its files. Caller frees. */
char *package_folder(void);
void package_remove(const char *dir);
/* Runs a program; its output, or NULL if it cannot be started. */
char *package_run(const char *const *argv, char **environment, int *status);
/* The stub as libcuda.so.1 in `dir`, which the launcher loads; FALSE where there is no cc. */
gboolean package_driver(const char *dir);
/* PTX that names no address, so that every tensor with a map may have strides. Caller frees. */
char *package_ptx(const WsProgram *p);
/* NAME.h, NAME.c and NAME_kernel.c. */
void package_put(const char *dir, const WsPackageSpec *spec);
