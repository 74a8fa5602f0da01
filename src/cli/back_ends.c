#include "cli/back_ends.h"
#include "base/phrase.h"
#include "cli/shown.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "program/program.h"
#include "target/target.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/amdgpu/amdgpu.h"
#endif

#include <stdio.h>
#include <string.h>

#define WS_PY_DIALECT(name)                                                                        \
    static char *name(const WsProgram *p, GError **error)                                          \
    {                                                                                              \
        const WsPyJudge judge = { ws_cli_proved, NULL, NULL, TRUE };                               \
        return ws_generate_##name(p, FALSE, &judge, error);                                        \
    }
#include "codegen/python/dialect.def"
#undef WS_PY_DIALECT
#ifdef WS_HAVE_CODEGEN
static char *ptx(const WsProgram *p, GError **error)
{
    if (p->hardware->halves) /* it says why not */
        return ws_generate_ptx(p, NULL, error);
    return ws_generate_llvm(p, NULL, error); /* what refuses is the module, not LLVM */
}
static char *amdgpu(const WsProgram *p, GError **error)
{
    return ws_generate_amd_supports(p, error) ? g_strdup("") : NULL;
}
static char *cuda(const WsProgram *p, GError **error)
{
    return ws_generate_cuda(p, FALSE, error);
}
static char *rehearse(const WsProgram *p, GError **error)
{
    return ws_rehearse_supports(p, error) ? g_strdup("") : NULL;
}
#else
#define ptx      NULL
#define amdgpu   NULL
#define cuda     NULL
#define rehearse NULL
#endif

/* In the order of the table in docs/back-ends.md. NULL: this build has no code generation. */
static const struct {
    const char *name;
    char *(*make)(const WsProgram *p, GError **error);
    gboolean halves; /* asked of targets whose groups are halves alone */
} back_ends[] = {
    { "ptx", ptx },
    { "amdgpu", amdgpu, TRUE },
    { "rehearse", rehearse },
    { "cuda", cuda },
#define WS_PY_DIALECT(name) { #name, name },
#include "codegen/python/dialect.def"
#undef WS_PY_DIALECT
};

/* NULL: it can be written. */
static GError *refusal_of(guint which, const WsProgram *p)
{
    GError *error = NULL;
    if (!back_ends[which].make) {
        g_set_error_literal(&error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_ABSENT,
                            "this build has no code generation");
        return error;
    }
    g_autofree char *text = back_ends[which].make(p, &error);
    return error;
}

void ws_cli_print_back_ends(const WsProgram *p)
{
    for (guint i = 0; i < G_N_ELEMENTS(back_ends); i++) {
        if (back_ends[i].halves && !p->hardware->halves)
            continue;
        g_autoptr(GError) error = refusal_of(i, p);
        printf("  %-9s %s%s\n", back_ends[i].name, error ? "no: " : "yes",
               error ? error->message : "");
    }
}

void ws_cli_put_back_ends(WsJsonOut *j, const WsProgram *p)
{
    if (!p) {
        ws_json_out_text(j, "back_ends", NULL);
        return;
    }
    ws_json_out_open(j, "back_ends", '[');
    for (guint i = 0; i < G_N_ELEMENTS(back_ends); i++) {
        if (back_ends[i].halves && !p->hardware->halves)
            continue;
        g_autoptr(GError) error = refusal_of(i, p);
        const WsRefusal *r = error ? ws_generate_refusal(error) : NULL;
        g_autofree char *why = r && r->why ? ws_phrase_text(r->why, NULL, NULL) : NULL;
        g_autofree char *remedy = r && r->remedy ? ws_phrase_text(r->remedy, NULL, NULL) : NULL;
        ws_json_out_open(j, NULL, '{');
        ws_json_out_text(j, "name", back_ends[i].name);
        ws_json_out_truth(j, "supported", !error);
        ws_json_out_text(j, "step", r ? r->step : NULL);
        ws_json_out_text(j, "why", why ? why : error ? error->message : NULL);
        ws_json_out_text(j, "remedy", remedy);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
}
