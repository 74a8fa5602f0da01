/* The launcher: descriptors, the grid, what it says of itself and what it refuses. */
#include "codegen/early.h"
#include "codegen/python/gluon/gluon.h"
#include "codegen/python/host_tensors.h"
#include "program/formula.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"

static void descriptors(WsPy *y, const char *pointers)
{
    for (guint i = 0; i < y->boxes->len; i++) {
        const WsPyBox *b = &g_array_index(y->boxes, WsPyBox, i);
        const WsTensor *t = &y->p->tensor[b->tensor];
        ws_py_line(y, "%s = TensorDescriptor(", b->name);
        ws_py_line(y, "    %s, [%s], %s, [%s],", y->tensor[b->tensor],
                   ws_py_host_list(y, t->shape, t->rank),
                   ws_py_host_strides(y, b->tensor, pointers), ws_py_block_shape(y, b));
        ws_py_line(y, "    %s)", ws_gluon_shared_layout(y, b->swizzle, t->dtype, b->rank));
    }
}

static void grid(WsPy *y)
{
    const WsTiles *t = y->p->tiles;
    if (t->launch == WS_LAUNCH_SINGLE) {
        ws_py_line(y, "programs = n_tiles");
        return;
    }
    if (t->grid)
        ws_py_line(y, "programs = min(n_tiles, %s)", ws_py_uniform(y, t->grid).s);
    else
        ws_py_line(y,
                   "programs = min(n_tiles, torch.cuda.get_device_properties(%s.device)"
                   ".multi_processor_count)",
                   y->tensor[0]);
}

static const char *listed_shape(WsPy *y, const WsTensor *t)
{
    const char *s = "";
    for (guint d = 0; d < t->rank; d++)
        s = ws_py_format(y, "%s%s%s", s, d ? ", " : "", ws_py_uniform(y, t->shape[d]).s);
    return s;
}

/* What it computes, and of what: in the words of the design. */
static void docstring(WsPy *y)
{
    static const char *const use[] = {
        [WS_ACCESS_READ] = "", [WS_ACCESS_WRITE] = ", written", [WS_ACCESS_REDUCE] = ", added to"
    };
    for (guint i = 0; i < y->p->n_reference; i++) {
        g_autofree char *line = ws_statement_print(y->p->reference[i].statement);
        ws_py_line(y, "%s%s", i ? "" : "\"\"\"", line);
    }
    ws_py_line(y, "%s", y->p->n_reference ? "" : "\"\"\"Runs the kernel.\n");
    for (guint i = 0; i < y->p->n_tensors; i++) {
        const WsTensor *t = &y->p->tensor[i];
        ws_py_line(y, "%s: %s [%s]%s%s", y->tensor[i], ws_dtype_text(t->dtype), listed_shape(y, t),
                   t->strides_given ? " with the strides below" : "", use[t->access]);
    }
    ws_py_line(y, "\"\"\"");
}

/* The name that stands for the constants until it is known which ones the kernel takes. */
#define CONSTANTS "CONSTANTS_"

char *ws_gluon_launcher(WsPy *y, const GPtrArray *arguments, const WsPyPlan *plan)
{
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    y->depth = 1;
    ws_py_host_sizes(y);
    ws_py_host_assumptions(y);
    ws_py_host_counted(y);
    y->host = TRUE;
    const char *pointers = ws_gluon_joined(y, arguments);
    ws_py_host_tensors(y, pointers);
    if (ws_gluon(y)->kind->checks)
        ws_gluon(y)->kind->checks(y, pointers);
    descriptors(y, pointers);
    grid(y);
    y->host = FALSE;
    if (y->p->tiles->launch == WS_LAUNCH_DYNAMIC)
        ws_py_line(y, "counter = torch.zeros(1, dtype=torch.int32, device=%s.device)",
                   y->tensor[0]);
    ws_py_line(y, "return %s[(programs,)](%s, " CONSTANTS "num_warps=%u%s%s)", y->kernel,
               ws_gluon_joined(y, arguments), y->p->agent[plan->agent[0]].warps,
               plan->maxnreg ? ws_py_format(y, ", maxnreg=%u", plan->maxnreg) : "",
               ws_launch_begins_early(y->p) ? ", launch_pdl=True" : "");
    g_autofree char *used = ws_py_piece(y, ws_py_host_used(y, y->out->str), FALSE);
    g_string_truncate(y->out, 0);
    y->depth = 0;
    const char *constants = ws_py_parameters(y, "%s=%v", TRUE),
               *given = ws_py_parameters(y, "%s=%s", TRUE);
    ws_py_open(y, "def launch(%s%s%s)", ws_py_host_parameters(y), *constants ? ", " : "",
               constants);
    y->host = TRUE;
    docstring(y);
    y->host = FALSE;
    g_string_append(y->out, used);
    g_string_replace(y->out, CONSTANTS, *given ? ws_py_format(y, "%s, ", given) : "", 0);
    ws_py_close(y);
    char *text = g_string_free(y->out, FALSE);
    y->out = outer;
    return text;
}
