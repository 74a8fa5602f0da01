/* Fuzzes the import: any text as Python, as a Gluon or TLE kernel, as PTX: a design or an error
 * with file, line and column, never a fault; the first byte picks the language. */
#include "import.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    fuzz_import(text, strlen(text), (WsImportFrom)(data[0] % WS_IMPORT_FROM_COUNT));
    return 0;
}
