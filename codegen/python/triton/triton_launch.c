/* What a kernel takes, and the launcher that hands it over: TLE and TLX. */
#include "codegen/python/host_tensors.h"
#include "codegen/python/triton/triton.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include <string.h>

const char *ws_tl_kernel_parameters(WsPy *y, const GPtrArray *roles, const GPtrArray *host)
{
    const char *s = "";
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < roles->len; i++)
        g_string_append(all, ((const WsPyRole *)roles->pdata[i])->parameters),
            g_string_append(all, ", ");
    for (guint i = 0; i < y->boxes->len; i++)
        s = ws_py_format(y, "%s%s%s", s, *s ? ", " : "", g_array_index(y->boxes, WsPyBox, i).name);
    for (guint i = 0; i < y->p->n_tensors; i++) {
        if (ws_py_mentions(all->str, y->tensor[i]))
            s = ws_py_format(y, "%s%s%s", s, *s ? ", " : "", y->tensor[i]);
    }
    for (guint i = 0; i < host->len; i++) {
        if (ws_py_mentions(all->str, host->pdata[i]))
            s = ws_py_format(y, "%s%s%s", s, *s ? ", " : "", (const char *)host->pdata[i]);
    }
    g_string_free(all, TRUE);
    return s;
}

static void descriptors(WsPy *y, const char *pointers)
{
    for (guint i = 0; i < y->boxes->len; i++) {
        const WsPyBox *box = &g_array_index(y->boxes, WsPyBox, i);
        const WsTensor *tensor = &y->p->tensor[box->tensor];
        ws_py_line(y, "%s = TensorDescriptor(%s, [%s], %s, [%s])", box->name,
                   y->tensor[box->tensor], ws_py_host_list(y, tensor->shape, tensor->rank),
                   ws_py_host_strides(y, box->tensor, pointers), ws_py_block_shape(y, box));
    }
}

static const char *grid(WsPy *y)
{
    const WsTiles *tiles = y->p->tiles;
    if (tiles->launch == WS_LAUNCH_SINGLE)
        return y->mesh ? ws_py_format(y, "n_tiles * %u", y->p->cluster) : "n_tiles";
    if (tiles->grid)
        return ws_py_format(y, "min(%s, n_tiles)", ws_py_uniform(y, tiles->grid).s);
    return ws_py_format(
        y, "min(torch.cuda.get_device_properties(%s.device).multi_processor_count, n_tiles)",
        y->tensor[0]);
}

/* The name that stands for the constants until it is known which ones the kernel takes. */
#define CONSTANTS "CONSTANTS_"

char *ws_tl_launcher(WsPy *y, const char *kernel, guint warps, const char *more)
{
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    y->depth = 1;
    y->host = TRUE;
    ws_py_host_sizes(y);
    ws_py_host_assumptions(y);
    ws_py_host_counted(y);
    y->host = TRUE;
    ws_py_host_tensors(y, kernel);
    descriptors(y, kernel);
    if (y->p->tiles->launch == WS_LAUNCH_DYNAMIC)
        ws_py_line(y, "counter = torch.zeros(1, dtype=torch.int32, device=%s.device)",
                   y->tensor[0]);
    ws_py_line(y, "%s[(%s,)](%s, " CONSTANTS "num_warps=%u%s)", y->kernel, grid(y), kernel, warps,
               more);
    y->host = FALSE;
    y->depth = 0;
    g_autofree char *lines = ws_py_piece(y, g_string_free(y->out, FALSE), FALSE);
    const char *constants = ws_py_parameters(y, "%s=%v", TRUE),
               *given = ws_py_parameters(y, "%s=%s", TRUE);
    GString *s = g_string_new(NULL);
    g_string_printf(s, "def launch(%s%s%s):\n%s", ws_py_host_parameters(y), *constants ? ", " : "",
                    constants, lines);
    g_string_replace(s, CONSTANTS, *given ? ws_py_format(y, "%s, ", given) : "", 0);
    y->out = outer;
    return g_string_free(s, FALSE);
}
