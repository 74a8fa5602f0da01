#include "codegen/generate.h"

GQuark ws_generate_error_quark(void)
{
    return g_quark_from_static_string("ws-generate-error-quark");
}
