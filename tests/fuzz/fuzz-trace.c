/* Reader of .wtrace files: any bytes give a trace or an error, and a trace that was read can be
 * used. The checksum is skipped, else nearly every input would stop there. */
#include "trace/stats.h"

#include <stddef.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    g_autoptr(WsTrace) t = ws_trace_parse(data, size, FALSE, NULL);
    if (t && t->record->len < 5000) {
        g_autofree char *text = ws_trace_overlap_print(t, NULL);
        g_autoptr(WsTraceComparison) c = ws_trace_compare(t, t);
        g_autofree char *table = ws_trace_comparison_print(c, t, t);
    }
    return 0;
}
