/* generate --as tlx: header, one function per group, the kernel with its tasks, the launcher. */
#include "codegen/python/tlx/tlx.h"
#include "codegen/python/triton/triton.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

static const WsPyDialect dialect = {
    WS_TL_DIALECT,    .name = "tlx", .lens = WS_LENS_TLX,
    .range = "range", .parts = TRUE, .op = ws_tlx_op,
};

/* --- tasks -------------------------------------------------------------------------------------*/

static void add_param(GArray *list, const char *name)
{
    const WsPyParam p = { name, name, FALSE };
    g_array_append_val(list, p);
}

static GArray *parameters(WsPy *y)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsPyParam));
    for (guint i = 0; i < y->boxes->len; i++)
        add_param(list, g_array_index(y->boxes, WsPyBox, i).name);
    for (guint i = 0; i < y->p->n_tensors; i++)
        add_param(list, y->tensor[i]);
    for (guint i = 0; i < y->p->n_buffers; i++)
        add_param(list, y->buffer[i]);
    for (guint i = 0; i < y->p->n_barriers; i++) {
        if (y->p->barrier[i].kind == WS_BARRIER_MBARRIER)
            add_param(list, y->barrier[i]);
    }
    return list;
}

static void call(WsPy *y, const GPtrArray *roles, guint agent)
{
    const WsPyRole *r = ws_py_role_of(roles, agent);
    if (r->replica)
        ws_py_line(y, "%s(%s%s%u)", r->name, r->arguments, *r->arguments ? ", " : "",
                   agent - r->first);
    else
        ws_py_line(y, "%s(%s)", r->name, r->arguments);
}

static void tasks(WsPy *y, const GPtrArray *roles)
{
    const WsPyPlan *plan = ws_tlx(y)->plan;
    if (y->p->n_agents == 1) {
        call(y, roles, 0);
        return;
    }
    ws_py_plan_comment(y, plan);
    ws_py_open(y, "with tlx.async_tasks()");
    for (guint i = 0; i < plan->n; i++) {
        if (!i)
            ws_py_open(y, "with tlx.async_task(\"default\")");
        else
            ws_py_open(y, "with tlx.async_task(num_warps=%u, registers=%u)", plan->warps[i],
                       plan->request[i]);
        call(y, roles, plan->agent[i]);
        ws_py_close(y);
    }
    ws_py_close(y);
}

/* --- the whole ---------------------------------------------------------------------------------*/

static void head(WsPy *y)
{
    ws_py_head(y, "TLX (facebookexperimental/triton) for an H100 or H200. Not run: TLX was not "
                  "available where this was written. `warpstave check --from tlx` of this file "
                  "proves or refutes its schedule.");
}

static void kernel(WsPy *y, const GPtrArray *roles)
{
    ws_tlx_objects(y);
    tasks(y, roles);
}

static void whole(WsPy *y)
{
    const WsPyPlan *plan = ws_tlx(y)->plan;
    g_autoptr(GArray) param = parameters(y);
    /* loops are not to be pipelined by the compiler as well */
    const char *options = ws_py_format(y, ", num_stages=1, maxnreg=%u", plan->maxnreg);
    ws_tl_file(y, &(WsTlFile){ .import = "triton.language.extra.tlx as tlx",
                               .ids = TRUE,
                               .param = param,
                               .warps = y->p->agent[plan->agent[0]].warps,
                               .options = options,
                               .head = head,
                               .kernel = kernel });
}

static char *written(const WsProgram *p, gboolean remarks, WsPyPieces *pieces,
                     const WsPyNumbers *numbers, GError **error)
{
    WsPy *y = ws_py_new(p, &dialect, remarks, pieces, numbers);
    g_auto(WsPyPlan) plan = { 0 };
    WsTlx x = { .plan = &plan };
    y->role = &x;
    if (!y->error)
        ws_py_boxes(y);
    if (!y->error)
        ws_tlx_values(y);
    if (!y->error && ws_py_plan(y, &plan))
        whole(y);
    return ws_py_finish(y, error);
}

char *ws_generate_tlx(const WsProgram *p, gboolean remarks, const WsPyJudge *judge, GError **error)
{
    return ws_py_parametric(p, remarks, judge, written, error);
}
