/* Running the program under test. */
#pragma once

#include <glib.h>

/* Runs warpstave with these arguments (NULL-terminated); its exit status, and stdout with stderr as
 * text in *output (caller frees). It must end by itself, not by a signal. */
int run(const char *const *arguments, char **output);
/* The same without what it writes to the standard error (a sanitizer warns there). */
int run_for_output(const char *const *arguments, char **output);
