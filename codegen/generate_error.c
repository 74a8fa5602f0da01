#include "codegen/generate.h"

typedef WsRefusal WsGenerateErrorPrivate;

static void ws_generate_error_private_init(WsGenerateErrorPrivate *r)
{
    *r = (WsGenerateErrorPrivate){ NULL };
}

static void ws_generate_error_private_copy(const WsGenerateErrorPrivate *from,
                                           WsGenerateErrorPrivate *to)
{
    *to = (WsGenerateErrorPrivate){ g_strdup(from->lens), g_strdup(from->step), g_strdup(from->why),
                                    g_strdup(from->remedy) };
}

static void ws_generate_error_private_clear(WsGenerateErrorPrivate *r)
{
    g_free(r->lens);
    g_free(r->step);
    g_free(r->why);
    g_free(r->remedy);
}

G_DEFINE_EXTENDED_ERROR(WsGenerateError, ws_generate_error)

void ws_generate_refuse(GError **error, const WsRefusal *refusal, const char *format, ...)
{
    va_list args;
    if (error == NULL)
        return;
    va_start(args, format);
    *error = g_error_new_valist(WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP, format, args);
    va_end(args);
    ws_generate_error_private_copy(refusal, ws_generate_error_get_private(*error));
}

const WsRefusal *ws_generate_refusal(const GError *error)
{
    return g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP)
               ? ws_generate_error_get_private(error)
               : NULL;
}
