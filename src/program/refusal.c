#include "program/refusal.h"
#include "program/program.h"

/* What is missing for a lens to take a mesh of devices; NULL: it takes one. */
static const char *const lacks_mesh[WS_LENS_COUNT] = {
    [WS_LENS_SIMULATE] = "links between devices are not timed",
    [WS_LENS_GENERATE] = "puts and flags of devices have no code yet",
    [WS_LENS_REHEARSE] = "one address space is rehearsed",
    [WS_LENS_CUDA] = "puts and flags of devices have no code yet",
    [WS_LENS_GLUON] = "the language has no devices",
    [WS_LENS_TLE] = "puts and flags of devices are not written yet",
    [WS_LENS_TLX] = "puts and flags of devices are not written yet",
    [WS_LENS_BUNDLE] = "the runner launches on one device",
};

char *ws_program_refusal(const WsProgram *p, WsLens lens)
{
    char *refusal = ws_target_refusal(p->target, lens);
    if (refusal || !p->mesh || !lacks_mesh[lens])
        return refusal;
    return g_strdup_printf("devices: not supported by %s (%s)", ws_lens_name(lens),
                           lacks_mesh[lens]);
}
