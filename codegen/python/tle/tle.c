/* generate --as tle: header, one function per group, the kernel, the launcher. */
#include "codegen/python/tle/tle.h"
#include "codegen/python/dsa/dsa.h"
#include "codegen/python/triton/triton.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/pipe.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* --- the dialect -------------------------------------------------------------------------------*/

void ws_tle_role_begin(WsPy *y)
{
    WsTle *t = y->role;
    for (guint i = 0; i < t->pipe->len; i++)
        t->window[i] = NULL;
}

static const WsPyDialect dialect = {
    WS_TL_DIALECT,
    .name = "tle",
    .lens = WS_LENS_TLE,
    .range = "tl.range",
    .op = ws_tle_op,
    .goes_on = ws_tle_goes_on,
    .role_begin = ws_tle_role_begin,
};

/* --- partitions --------------------------------------------------------------------------------*/

static void add_param(GArray *list, const char *name, const char *given)
{
    WsPyParam p = { name, given };
    g_array_append_val(list, p);
}

GArray *ws_tle_parameters(WsTle *t)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsPyParam));
    const WsProgram *p = t->y->p;
    for (guint i = 0; i < t->y->boxes->len; i++) {
        const char *name = g_array_index(t->y->boxes, WsPyBox, i).name;
        add_param(list, name, name);
    }
    for (guint i = 0; i < p->n_tensors; i++)
        add_param(list, t->y->tensor[i], t->y->tensor[i]);
    for (guint i = 0; i < t->pipe->len; i++) {
        const char *name = ws_tle_pipe(t, (gint)i)->name;
        add_param(list, ws_py_format(t->y, "%s_writer", name),
                  ws_py_format(t->y, "%s.writer()", name));
        const char *reader = ws_py_format(t->y, "%s_reader", name);
        add_param(list, reader, reader); /* differs from agent to agent */
    }
    for (guint i = 0; i < p->n_buffers; i++)
        if (t->told_of[i] < 0 && !ws_tle_is_ring(t, t->pipe_of[i]))
            add_param(list, t->y->buffer[i], t->y->buffer[i]);
    for (guint i = 0; i < p->n_barriers; i++) {
        for (guint k = 0; k < t->barrier[i].n_parts && t->barrier[i].pipe < 0; k++) {
            const char *name = t->barrier[i].part[k].name;
            if (!t->barrier[i].per_element)
                add_param(list, name, name);
            for (guint e = 0; t->barrier[i].per_element && e < p->barrier[i].array; e++) {
                const char *one = ws_py_format(t->y, "%s_%u", name, e);
                add_param(list, one, one);
            }
        }
    }
    return list;
}

static const char *call_of(WsTle *t, const GPtrArray *roles, guint agent)
{
    const WsPyRole *r = ws_py_role_of(roles, agent);
    GString *s = g_string_new(ws_py_role_arguments(t->y, r, agent - r->first));
    for (guint i = 0; i < t->pipe->len; i++) {
        const WsTlePipe *pipe = ws_tle_pipe(t, (gint)i);
        g_autofree char *reader = g_strdup_printf("%s_reader", pipe->name);
        g_string_replace(s, reader, ws_tle_reader(t, pipe, agent), 0);
    }
    const char *text = ws_py_format(t->y, "(%s, %s)", r->name, s->str);
    g_string_free(s, TRUE);
    return text;
}

static void specialize(WsTle *t, const GPtrArray *roles)
{
    const WsProgram *p = t->y->p;
    const char *warps = "", *registers = "";
    for (guint i = 1; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[t->order[i]];
        warps = ws_py_format(t->y, "%s%s%u", warps, i > 1 ? ", " : "", a->warps);
        registers = ws_py_format(t->y, "%s%s%u", registers, i > 1 ? ", " : "",
                                 a->registers ? a->registers : p->entry_registers);
    }
    ws_py_line(t->y, "tle.gpu.warp_specialize(");
    t->y->depth++;
    ws_py_line(t->y, "[");
    t->y->depth++;
    for (guint i = 0; i < p->n_agents; i++)
        ws_py_line(t->y, "%s,", call_of(t, roles, t->order[i]));
    t->y->depth--;
    ws_py_line(t->y, "],");
    ws_py_line(t->y, "[%s],", warps);
    ws_py_line(t->y, "[%s],", registers);
    t->y->depth--;
    ws_py_line(t->y, ")");
}

/* --- the whole ---------------------------------------------------------------------------------*/

static void head(WsPy *y)
{
    const WsTle *t = y->role;
    const WsProgram *p = y->p;
    guint n = p->n_agents - 1;
    g_autofree guint *request = g_new0(guint, n + 1);
    for (guint i = 0; i < n; i++) {
        const WsAgent *a = &p->agent[t->order[i + 1]];
        request[i] = a->registers ? a->registers : p->entry_registers;
    }
    g_autofree char *registers = ws_partition_registers_print(&t->registers, n, request);
    ws_py_head(y, ws_py_format(y,
                               "TLE (FlagTree after PR #707, which brought barriers and "
                               "wgmma), on warp_specialize, %s form.",
                               t->pipe->len ? "pipe" : "barrier"));
    ws_py_comment(y,
                  "Not run: TLE was not available where this was written. The plan was judged by "
                  "the rules of TLE's front end and lowering that Warpstave knows (F1 to F45, "
                  "L1 to L22); nothing of it was compiled or run by TLE.");
    ws_py_comment(y, ws_py_format(y, "Registers as TLE's solver deals them: %s.", registers));
    const WsAgent *first = &p->agent[t->order[0]];
    if (first->registers && !t->registers.dropped &&
        MIN(t->registers.leftover, (gint)p->hardware->registers.most) != (gint)first->registers)
        ws_py_comment(y, ws_py_format(y,
                                      "The design gives group %s %u: the default partition has "
                                      "no request of its own there.",
                                      p->group_name[first->group], first->registers));
    if (t->no_stages)
        ws_py_comment(y, ws_py_format(y,
                                      "The design has loops with stages (hint form); here are the "
                                      "steps that they mean: %s.",
                                      t->no_stages));
    for (guint i = 0; i < p->n_barriers; i++) {
        if (t->barrier[i].n_parts < 2)
            continue;
        ws_py_comment(y, ws_py_format(y,
                                      "Barrier %s of the design is written as %u barriers: a "
                                      "copy expects its own bytes there.",
                                      p->barrier[i].name, t->barrier[i].n_parts));
    }
    if (t->dropped & WS_TLE_DROPPED_HINT)
        ws_py_comment(y, "L2 hints of loads and stores are left away: a copy takes none.");
    if (t->dropped & WS_TLE_DROPPED_PREFETCH)
        ws_py_comment(y, "Prefetches into L2 are left away.");
}

static void kernel(WsPy *y, const GPtrArray *roles)
{
    ws_tle_objects(y->role);
    specialize(y->role, roles);
}

static void whole(WsTle *t)
{
    g_autoptr(GArray) param = ws_tle_parameters(t);
    ws_tl_file(t->y, &(WsTlFile){ .import = "triton.experimental.tle.language as tle",
                                  .param = param,
                                  .warps = t->y->p->agent[t->order[0]].warps,
                                  .options = "",
                                  .head = head,
                                  .texts = ws_tle_raw_functions,
                                  .kernel = kernel });
}

/* CTAs of a cluster are the shards of a mesh. */
static void as_mesh(WsPy *y)
{
    y->mesh = "MESH";
    for (guint i = 0; i < y->p->n_vars; i++)
        if (y->p->var[i].kind == WS_VAR_CTA)
            y->var[i] = (WsTermName){ TRUE, "shard", ws_interval(0, (gint64)y->p->cluster - 1) };
}

static char *written(const WsProgram *p, gboolean remarks, WsPyPieces *pieces,
                     const WsPyNumbers *numbers, GError **error)
{
    g_autoptr(GError) none = NULL;
    g_autoptr(GPtrArray) loops = ws_staged_loops(p);
    g_autofree char *hint = loops ? ws_tle_staged(p, loops, remarks, NULL, NULL, &none) : NULL;
    if (hint)
        return ws_tle_staged(p, loops, remarks, pieces, numbers, error);
    WsPy *y = ws_py_new(p, &dialect, remarks, pieces, numbers);
    if (y->error)
        return ws_py_finish(y, error);
    WsTle t;
    ws_tle_plan(&t, y);
    y->role = &t;
    t.no_stages = none ? ws_py_format(y, "%s", none->message) : NULL;
    ws_tle_judge(&t);
    if (!y->error && p->cluster > 1)
        as_mesh(y);
    if (!y->error)
        whole(&t);
    g_autoptr(GPtrArray) raw = g_ptr_array_ref(t.raw);
    ws_tle_clear(&t);
    char *text = ws_py_finish(y, error);
    if (!text && none)
        g_prefix_error(error, "%s; as the steps that its loops with stages mean: ", none->message);
    return text ? ws_tle_put_raw(raw, text) : NULL;
}

char *ws_generate_tle(const WsProgram *p, gboolean remarks, const WsPyJudge *judge, GError **error)
{
    if (p->hardware->core)
        return ws_generate_dsa(p, error);
    /* what the author's text means at other constants nobody knows */
    return ws_py_parametric(p, remarks, p->has_raw ? NULL : judge, written, error);
}
