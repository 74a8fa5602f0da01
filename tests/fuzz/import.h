/* What the fuzzers of the import share. */
#pragma once

#include "import/import.h"

/* Imports, elaborates and places findings: a design, or an error that begins with the file's name;
 * anything else aborts. */
void fuzz_import(const char *text, gsize length, WsImportFrom from);
