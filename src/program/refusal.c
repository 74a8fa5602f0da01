#include "program/refusal.h"
#include "program/program.h"

/* What is missing for a lens to take a mesh of devices; NULL: it takes one. */
static const char *const lacks_mesh[WS_LENS_COUNT] = {
    [WS_LENS_CUDA] = "puts and flags of devices have no code yet",
    [WS_LENS_GLUON] = "the language has no devices",
    [WS_LENS_TLE] = "puts and flags of devices are not written yet",
    [WS_LENS_TLX] = "puts and flags of devices are not written yet",
};

/* Languages whose compiler decides how many CTAs an SM holds. */
static gboolean decides_residents(WsLens lens)
{
    return lens == WS_LENS_GLUON || lens == WS_LENS_TLE || lens == WS_LENS_TLX;
}

/* Code of a kernel whose values are not known would be of another kernel. A rehearsal of one plays
 * its protocol. */
static gboolean is_code(WsLens lens)
{
    return lens != WS_LENS_ELABORATE && lens != WS_LENS_CHECK && lens != WS_LENS_SIMULATE &&
           lens != WS_LENS_REHEARSE;
}

char *ws_program_refusal(const WsProgram *p, WsLens lens)
{
    char *refusal = ws_target_refusal(p->target, lens);
    if (!refusal && p->unread && is_code(lens))
        return g_strdup_printf(
            "%s was not read: not supported by %s (write it, then take the place "
            "from `unread`)",
            p->unread, ws_lens_name(lens));
    if (!refusal && p->per_sm > 1 && decides_residents(lens))
        return g_strdup_printf("ctas_per_sm: not supported by %s: its compiler decides how many "
                               "CTAs an SM holds; leave it out",
                               ws_lens_name(lens));
    if (refusal || !p->mesh || !lacks_mesh[lens])
        return refusal;
    return g_strdup_printf("devices: not supported by %s (%s)", ws_lens_name(lens),
                           lacks_mesh[lens]);
}
