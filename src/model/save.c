/* Saving a design. */
#include "model/internal.h"

#include "base/file.h"

#include <string.h>

gboolean ws_design_save(const WsDesign *design, const char *file, GError **error)
{
    g_autofree char *text = ws_design_print(design);
    if (strlen(text) > WS_DESIGN_MAX_BYTES) { /* it could not be read back */
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "cannot save %s: the text would be longer than %d bytes", file,
                    WS_DESIGN_MAX_BYTES);
        return FALSE;
    }
    return ws_file_rewrite(file, text, strlen(text), error);
}
