#include "codegen/amdgpu/amdgpu.h"
#include "codegen/amdgpu/amd.h"
#include "codegen/amdgpu/code_object.h"
#include "codegen/amdgpu/machine.h"
#include "codegen/emit_text.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* CDNA 4: vector registers of a lane that the waves of a SIMD share, and what is given out at once
 * of them and of the LDS */
#define VGPRS        512
#define VGPR_GRANULE 8
#define SIMD_WAVES   8
#define SIMDS        4
#define LDS_GRANULE  1280

static LLVMModuleRef module_of(const WsProgram *p, LLVMContextRef ctx, GError **error)
{
    ws_llvm_init();
    return ws_emit_module(p, NULL, FALSE, &ws_amd_kind, ctx, error);
}

gboolean ws_generate_amd_supports(const WsProgram *p, GError **error)
{
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef module = module_of(p, ctx, error);
    const gboolean made = module != NULL;
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(ctx);
    return made;
}

static GBytes *compiled(const WsProgram *p, guint version, gboolean assembly, GError **error)
{
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef module = module_of(p, ctx, error);
    GBytes *out = module ? ws_amd_compile(module, version, assembly, error) : NULL;
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(ctx);
    return out;
}

char *ws_generate_amd_assembly(const WsProgram *p, GError **error)
{
    g_autoptr(GBytes) text = compiled(p, WS_CODE_OBJECT_VERSION, TRUE, error);
    if (!text)
        return NULL;
    GString *s = g_string_new(NULL);
    ws_llvm_header(s, ";", p);
    g_string_append_printf(s, "; launch: %u threads, %" G_GUINT64_FORMAT " bytes of LDS\n",
                           p->threads, p->shared_bytes);
    gsize size;
    const char *data = g_bytes_get_data(text, &size);
    g_string_append_len(s, data, (gssize)size);
    return g_string_free(s, FALSE);
}

GBytes *ws_generate_amd_object(const WsProgram *p, guint version, GError **error)
{
    g_autoptr(GBytes) object = compiled(p, version, FALSE, error);
    return object ? ws_code_object_link(object, error) : NULL;
}

static gboolean clean_of(const WsCodeObjectReport *r)
{
    return r->spilled_vgprs + r->spilled_sgprs + r->scratch == 0;
}

gboolean ws_generate_amd_clean(GBytes *object)
{
    WsCodeObjectReport r;
    return ws_code_object_report(object, &r, NULL) && clean_of(&r);
}

guint ws_generate_amd_moves(const char *assembly)
{
    guint moves = 0;
    for (const char *at = assembly; (at = strstr(at, "v_accvgpr_")) != NULL; at++) {
        const char *line = at; /* an instruction is the first word of its line */
        while (line > assembly && (line[-1] == ' ' || line[-1] == '\t'))
            line--;
        moves += line == assembly || line[-1] == '\n';
    }
    return moves;
}

WsAmdOccupancy ws_generate_amd_occupancy(const WsCodeObjectReport *r, guint64 lds)
{
    const guint granted = (MAX(r->vgprs, 1) + VGPR_GRANULE - 1) / VGPR_GRANULE * VGPR_GRANULE;
    const guint waves = (MAX(r->threads, 1) + r->wave - 1) / MAX(r->wave, 1);
    const guint64 bytes = (r->lds + LDS_GRANULE - 1) / LDS_GRANULE * LDS_GRANULE;
    WsAmdOccupancy o = { .waves = MIN(VGPRS / granted, SIMD_WAVES) };
    o.groups = o.waves * SIMDS / waves;
    if (bytes > 0)
        o.groups = (guint)MIN((guint64)o.groups, lds / bytes);
    return o;
}

char *ws_generate_amd_report(const WsProgram *p, gboolean *clean, GError **error)
{
    g_autoptr(GBytes) object = ws_generate_amd_object(p, WS_CODE_OBJECT_VERSION, error);
    g_autofree char *text = object ? ws_generate_amd_assembly(p, error) : NULL;
    WsCodeObjectReport r;
    if (!text || !ws_code_object_report(object, &r, error))
        return NULL;
    const WsAmdOccupancy o = ws_generate_amd_occupancy(&r, p->hardware->shared.bytes);
    *clean = clean_of(&r);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s,
                           "code object: %u vector registers of a lane (%u of them accumulation), "
                           "%u scalar registers\n",
                           r.vgprs, r.agprs, r.sgprs);
    g_string_append_printf(s, "spilled: %u vector, %u scalar registers; %u bytes of scratch%s\n",
                           r.spilled_vgprs, r.spilled_sgprs, r.scratch, *clean ? "" : ": slow");
    g_string_append_printf(s,
                           "%u threads in waves of %u, %u bytes of LDS of %" G_GUINT64_FORMAT
                           ", %u bytes of arguments, %" G_GSIZE_FORMAT " bytes in all\n",
                           r.threads, r.wave, r.lds, p->hardware->shared.bytes, r.arguments,
                           g_bytes_get_size(object));
    g_string_append_printf(
        s,
        "occupancy: waves of a SIMD by registers %u, workgroups of a CU %u; moves from or "
        "to accumulation registers: %u\n",
        o.waves, o.groups, ws_generate_amd_moves(text));
    return g_string_free(s, FALSE);
}
