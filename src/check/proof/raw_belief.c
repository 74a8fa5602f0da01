/* What a proof believes of the author's PTX: which bytes an address picks is not computed. */
#include "base/phrase.h"
#include "check/proof/raw_text.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/raw.h"
#include "program/parts/tensor.h"

char *ws_raw_believed(const WsProgram *p, const WsOp *op)
{
    static const struct {
        WsMode mode;
        const char *word;
    } ways[] = { { WS_MODE_READ, "reads" }, { WS_MODE_WRITE, "writes" } };
    g_autoptr(GString) list = g_string_new(NULL);
    for (guint k = 0; k < G_N_ELEMENTS(ways); k++) {
        gboolean any = FALSE;
        for (guint i = 0; i < op->n_access; i++) {
            if (!(op->access[i].mode & ways[k].mode))
                continue;
            g_string_append(list, any ? ", " : list->len ? "; " : "");
            g_string_append_printf(list, "%s%s%s", any ? "" : ways[k].word, any ? "" : " ",
                                   p->buffer[op->access[i].buffer].name);
            any = TRUE;
        }
        for (guint i = 0; k == 0 && i < op->n_raw; i++) {
            if (op->raw[i].kind != WS_RAW_TENSOR)
                continue;
            g_string_append_printf(list, "%s%s", any ? ", " : "reads ",
                                   p->tensor[op->raw[i].index].name);
            any = TRUE;
        }
    }
    return list->len ? ws_phrase("the text at %s touches the bytes that it declares, and no others "
                                 "(%s), aligned ones, and writes none that another thread of it "
                                 "touches",
                                 op->id, list->str)
                     : NULL;
}
