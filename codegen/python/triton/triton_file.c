/* A file of TLE or TLX: one function per group, the kernel, the launcher; head and imports stand in
 * front of them, but what these need is known behind them. */
#include "codegen/python/triton/triton.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include <string.h>

/* Caller frees. */
static char *kernel_body(WsPy *y, const WsTlFile *file, const GPtrArray *roles)
{
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    y->depth = 1;
    file->kernel(y, roles);
    y->depth = 0;
    char *text = ws_py_piece(y, g_string_free(y->out, FALSE), FALSE);
    y->out = outer;
    return text;
}

static void kernel(WsPy *y, const WsTlFile *file, const GPtrArray *roles, const GPtrArray *host)
{
    const char *names = ws_tl_kernel_parameters(y, roles, host);
    g_autofree char *body = kernel_body(y, file, roles);
    g_autofree char *launch = ws_tl_launcher(y, names, file->warps, file->options);
    const char *constants = ws_py_parameters(y, "%s: tl.constexpr = %v", FALSE);
    ws_py_line(y, "@triton.jit");
    ws_py_open(y, "def %s(%s%s%s)", y->kernel, names, *constants ? ", " : "", constants);
    ws_py_static_asserts(y);
    if (file->ids)
        ws_py_named_guards(y);
    g_string_append(y->out, body);
    if (file->inlined) /* behind its def */
        g_string_append(y->out, strchr(((const WsPyRole *)roles->pdata[0])->text, '\n') + 1);
    ws_py_close(y);
    g_string_append(y->out, "\n\n");
    g_string_append(y->out, launch);
}

/* Caller frees. */
static char *functions(WsPy *y, const WsTlFile *file)
{
    g_autoptr(GPtrArray) host = ws_py_host_arguments(y);
    if (y->p->tiles->launch == WS_LAUNCH_DYNAMIC)
        g_ptr_array_insert(host, 0, (gpointer) "counter");
    for (guint i = 0; i < host->len; i++) {
        const WsPyParam param = { host->pdata[i], host->pdata[i], FALSE };
        g_array_append_val(file->param, param);
    }
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    g_autofree char *tile = ws_py_piece(y, ws_py_tile_function(y, "@triton.jit"), TRUE);
    g_autoptr(GPtrArray) roles =
        ws_py_roles(y, (const WsPyParam *)(gpointer)file->param->data, file->param->len);
    if (!y->error && roles->len) {
        if (*tile)
            g_string_append_printf(y->out, "%s\n\n", tile);
        for (guint i = 0; i < roles->len && !file->inlined; i++)
            g_string_append_printf(y->out, "@triton.jit\n%s\n\n",
                                   ((const WsPyRole *)roles->pdata[i])->text);
        kernel(y, file, roles, host);
    }
    char *text = g_string_free(y->out, FALSE);
    y->out = outer;
    return text;
}

void ws_tl_file(WsPy *y, const WsTlFile *file)
{
    g_autofree char *text = functions(y, file);
    if (y->error)
        return;
    file->head(y);
    ws_py_line(y, "%s", "");
    ws_py_line(y, "import math");
    ws_py_line(y, "%s", "");
    ws_py_line(y, "import torch");
    ws_py_line(y, "import triton");
    ws_py_line(y, "import triton.language as tl");
    ws_py_line(y, "import %s", file->import);
    ws_py_line(y, "from triton.tools.tensor_descriptor import TensorDescriptor");
    ws_py_line(y, "%s", "");
    ws_tl_constants(y);
    if (file->ids)
        ws_py_named_constants(y);
    if (y->mesh)
        ws_py_line(y,
                   "%s = tl.constexpr(tle.device_mesh({\"block_cluster\": [(\"cluster_x\", %u)]}))",
                   y->mesh, y->p->cluster);
    g_string_append(y->out, "\n\n");
    ws_tl_helpers(y);
    if (file->texts)
        file->texts(y);
    g_string_append(y->out, text);
    ws_py_host_check(y);
}
