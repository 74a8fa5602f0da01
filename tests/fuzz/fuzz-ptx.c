/* Fuzzes the import of compiled PTX alone: a design or an error with file, line and column, never a
 * fault. Seeds are the kernels of tests/import/ptx. */
#include "import.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import((const char *)data, size, WS_IMPORT_PTX);
    return 0;
}
