/* generate --as gluon for a group in halves: the program as one Python file for Triton 3.9. */
#include "codegen/python/gluon/amd/amd.h"
#include "codegen/python/gluon/amd/whole.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/program.h"

static const WsPyDialect dialect = {
    .name = "gluon",
    .lens = WS_LENS_GLUON,
    .module = "gl",
    .range = "range",
    .static_range = "gl.static_range",
    .constexpr_t = "gl.constexpr",
    .masks = FALSE,
    .parts = FALSE,
    .op = ws_gamd_op,
    .fresh = ws_gamd_fresh,
    .full = ws_gamd_full,
    .row_index = ws_gamd_row_index,
    .col_index = ws_gamd_col_index,
    .spread = ws_gamd_spread,
    .reduce = ws_gamd_reduce,
    .block_around = ws_gamd_block_around,
    .role_begin = ws_gamd_role_begin,
    .role_head = ws_gamd_role_head,
};

static void header(WsPy *y)
{
    ws_py_head(y, "Gluon of Triton 3.9 for an MI350 or MI355X (gfx950): launch() runs it, this "
                  "file run as a program tries it. Nobody has run it on one.");
    ws_py_line(y, "#");
    ws_py_comment(y,
                  "Eight warps run this code, warps 4 to 7 one stage later than warps 0 to 3: the "
                  "compiler makes the borders of the stages. The layouts give each half of the "
                  "warps the rows that the design gives it. x_total counts rounds of loop x. "
                  "`warpstave check` judges the design, and this text: --from=gluon.");
    ws_py_line(y, "%s", "");
}

static void imports(WsPy *y, const char *text)
{
    static const char *const name[] = { "async_copy", "mfma" };
    if (ws_py_mentions(text, "math"))
        ws_py_line(y, "import math\n");
    ws_py_line(y, "import torch");
    if (ws_py_mentions(text, "triton"))
        ws_py_line(y, "import triton");
    ws_py_line(y, "from triton.experimental import gluon");
    ws_py_line(y, "from triton.experimental.gluon import language as gl");
    ws_gluon_import_names(y, text, "triton.experimental.gluon.language.amd.cdna4", name,
                          G_N_ELEMENTS(name));
    ws_py_line(y, "%s", "");
}

static const char *shared_layout(WsPy *y, guint i)
{
    const WsBuffer *b = &y->p->buffer[i];
    if (b->rank != 2 || b->over >= 0)
        ws_py_refuse(y, NULL, ws_py_phrase(y, "buffer %s, a line or one over another", b->name),
                     "tiles with memory of their own");
    return ws_gamd_shared_layout(y, b);
}

/* One partition: all warps. How many registers there are follows from their number. */
static gboolean plan(WsPy *y, WsPyPlan *out)
{
    *out = (WsPyPlan){ .n = 1 };
    out->agent = g_new0(guint, 1);
    out->request = g_new0(guint, 1);
    out->warps = g_new0(guint, 1);
    out->warps[0] = y->p->agent[0].warps;
    return TRUE;
}

/* Distances in the kernel have 32 bits. */
static void checks(WsPy *y, const char *arguments)
{
    const char *all = "";
    for (guint i = 0; i < y->p->n_tensors; i++)
        if (ws_py_mentions(arguments, y->tensor[i]))
            all = ws_py_format(y, "%s%s%s", all, *all ? ", " : "", y->tensor[i]);
    ws_py_open(y, "for x in (%s,)", all);
    ws_py_raise_unless(y, "x.numel() * x.element_size() < 2**31",
                       "distances in the kernel have 32 bits");
    ws_py_close(y);
}

static const WsGluonKind kind = { .header = header,
                                  .imports = imports,
                                  .shared_layout = shared_layout,
                                  .plan = plan,
                                  .checks = checks };

char *ws_gluon_amd(const WsProgram *p, gboolean remarks, WsPyPieces *pieces,
                   const WsPyNumbers *numbers, GError **error)
{
    g_autoptr(WsWhole) both = ws_whole_new(p, error);
    if (!both)
        return NULL;
    WsGamd g = { .base = { .kind = &kind },
                 .mma = g_array_new(FALSE, FALSE, sizeof(guint)),
                 .load = g_array_new(FALSE, FALSE, sizeof(WsGamdLoad)),
                 .roles = ws_wave_roles(p) };
    WsPy *y = ws_py_new(ws_whole_program(both), &dialect, remarks, pieces, numbers);
    g.base.gathers = g_ptr_array_new();
    g.base.layout = g_array_new(FALSE, FALSE, sizeof(WsGluonLayout));
    y->role = &g;
    if (!y->error)
        ws_gluon_whole(y);
    g_ptr_array_unref(g.base.gathers);
    g_array_unref(g.base.layout);
    g_array_unref(g.mma);
    g_array_unref(g.load);
    ws_wave_roles_clear(&g.roles);
    return ws_py_finish(y, error);
}
