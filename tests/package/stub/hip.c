/* libamdhip64.so for tests: says what it is called with. STUB_FAIL names a call that fails. What
 * STUB_PARAMETERS lists are the parameters of a launch: p an address, i 64 bits, f a float. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int module, function;

static int result(const char *call)
{
    const char *fails = getenv("STUB_FAIL");
    return fails && strcmp(fails, call) == 0 ? 209 : 0;
}

const char *hipGetErrorString(int error)
{
    return error == 209 ? "no kernel image is available for execution on the device" : "?";
}

int hipModuleLoadData(void **to, const void *image)
{
    const unsigned char *b = image;
    printf("load %s for machine %d, flags 0x%x\n", memcmp(b, "\177ELF", 4) ? "?" : "ELF",
           b[18] | b[19] << 8, b[48] | b[49] << 8 | b[50] << 16);
    *to = result("hipModuleLoadData") ? NULL : &module;
    return result("hipModuleLoadData");
}

int hipModuleUnload(void *which)
{
    printf("unload %s\n", which == &module ? "it" : "?");
    return 0;
}

int hipModuleGetFunction(void **to, void *of, const char *name)
{
    printf("function %s of %s\n", name, of == &module ? "it" : "?");
    *to = &function;
    return result("hipModuleGetFunction");
}

int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **parameter,
                          void **extra)
{
    const char *kind = getenv("STUB_PARAMETERS");
    printf("launch %s %u %u %u of %u %u %u shared %u stream %lx%s:", f == &function ? "it" : "?",
           gx, gy, gz, bx, by, bz, shared, (unsigned long)(uintptr_t)stream, extra ? " extra" : "");
    for (int i = 0; kind && kind[i]; i++) {
        uint64_t word = 0;
        float real = 0;
        memcpy(kind[i] == 'f' ? (void *)&real : (void *)&word, parameter[i],
               kind[i] == 'f' ? 4 : 8);
        if (kind[i] == 'f')
            printf(" %g", real);
        else
            printf(kind[i] == 'p' ? " 0x%lx" : " %lu", (unsigned long)word);
    }
    printf("\n");
    return result("hipModuleLaunchKernel");
}
