#include "import/python/dsa/read.h"
#include "import/write.h"
#include "model/finding.h"
#include "model/findings.h"

#include <string.h>

/* What was read as a design of the target `ascend`. */

static WsJson *expr(const WsExpr *e)
{
    g_autofree char *text = e ? ws_x_text(e) : NULL;
    return ws_json_expr(text);
}

static WsJson *place(const PyDsa *d, WsJson *node, const WsPyNode *at)
{
    const gboolean body = at && at->kind == WS_PY_FOR;
    return at ? ws_write_place(d->r, node, at->line, at->column, body ? at->line : at->end_line)
              : node;
}

static const char *buffer(PyDsa *d, gint b)
{
    return py_dsa_buffer(d, b)->name;
}

/* Rings are touched at the round of their loop. */
static const char *use_of(PyDsa *d, const PyDsaStep *s, const PyDsaStep *loop)
{
    const gint of[] = { s->a, s->b, s->into };
    for (guint i = 0; i < 3; i++)
        if (loop && of[i] >= 0 && py_dsa_buffer(d, of[i])->ring)
            return ws_source_format(d->r, "%s.total", loop->word);
    return NULL;
}

static WsJson *steps(PyDsa *d, const GPtrArray *list, const PyDsaStep *loop);

static WsJson *loop_of(PyDsa *d, const PyDsaStep *s)
{
    gint64 n;
    WsJson *step = ws_json_map();
    ws_json_put(step, "for", ws_json_text(s->word));
    if (s->tiles)
        ws_json_put(step, "over", ws_json_text("tiles"));
    else
        ws_json_put(step, "count", s->full ? ws_json_text(d->stages) : expr(s->count));
    if (s->from && !s->tiles && !(ws_expr_is_int(s->from, &n) && !n))
        ws_json_put(step, "from", expr(s->from));
    if (s->by && !(ws_expr_is_int(s->by, &n) && n == 1))
        ws_json_put(step, "step", expr(s->by));
    if (s->full)
        ws_json_put(step, "unroll", ws_json_text("full"));
    ws_json_put(step, "do", steps(d, s->body, s));
    return step;
}

static WsJson *copy_of(PyDsa *d, const PyDsaStep *s, gboolean in, const char *use)
{
    WsJson *step = ws_json_map(), *at = ws_json_list();
    const PyDsaTensor *t = py_dsa_tensor(d, s->tensor);
    for (guint k = 2 - t->rank; k < 2; k++)
        ws_json_add(at, expr(s->at[k]));
    ws_json_put(step, in ? "load" : "store", ws_json_text(t->name));
    ws_json_put(step, "at", at);
    ws_json_put(step, in ? "into" : "from", ws_json_text(buffer(d, in ? s->into : s->a)));
    ws_json_put(step, "use", ws_json_text(use));
    return step;
}

static WsJson *product_of(PyDsa *d, const PyDsaStep *s, const char *use)
{
    gint64 always;
    WsJson *step = ws_json_map();
    ws_json_put(step, "mma", ws_json_text(buffer(d, s->into)));
    ws_json_put(step, "a", ws_json_text(buffer(d, s->a)));
    ws_json_put(step, "b", ws_json_format("%s%s", buffer(d, s->b), s->turned ? ".t" : ""));
    if (s->first)
        ws_json_put(step, "first",
                    ws_expr_is_int(s->first, &always) ? ws_json_bool(always != 0) : expr(s->first));
    ws_json_put(step, "use", ws_json_text(use));
    return step;
}

static WsJson *step_of(PyDsa *d, const PyDsaStep *s, const PyDsaStep *loop)
{
    const char *use = s->kind < DSA_LOOP ? use_of(d, s, loop) : s->use;
    WsJson *step = NULL;
    switch (s->kind) {
    case DSA_IN:
    case DSA_OUT:
        return copy_of(d, s, s->kind == DSA_IN, use);
    case DSA_CUBE:
        return product_of(d, s, use);
    case DSA_LOOP:
        return loop_of(d, s);
    case DSA_MOVE:
        step = ws_json_map();
        ws_json_put(step, "move", ws_json_text(buffer(d, s->a)));
        break;
    case DSA_VECTOR:
        step = ws_json_map();
        ws_json_put(step, "vector", ws_json_text(s->word));
        ws_json_put(step, "a", ws_json_text(buffer(d, s->a)));
        ws_json_put(step, "b", ws_json_text(buffer(d, s->b)));
        break;
    case DSA_SET:
    case DSA_WAIT:
        step = ws_json_map();
        ws_json_put(step, s->kind == DSA_SET ? "arrive" : "wait",
                    ws_json_text(g_array_index(d->flags, PyDsaFlag, s->flag).name));
        break;
    case DSA_BARRIER:
        step = ws_json_map();
        ws_json_put(
            step, "sync",
            ws_json_text(s->queue == WS_CORE_UNITS ? "group" : d->core->unit[s->queue].name));
        return step;
    }
    if (s->into >= 0)
        ws_json_put(step, "into", ws_json_text(buffer(d, s->into)));
    if (use)
        ws_json_put(step, "use", ws_json_expr(use));
    return step;
}

static WsJson *steps(PyDsa *d, const GPtrArray *list, const PyDsaStep *loop)
{
    WsJson *all = ws_json_list();
    for (guint i = 0; i < list->len; i++) {
        const PyDsaStep *s = list->pdata[i];
        ws_json_add(all, place(d, step_of(d, s, loop), s->node));
    }
    return all;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Which programs there are: then the check shows that all is written once, or that it is not. */
static gboolean launch_is_known(const PyDsa *d)
{
    gboolean all = d->tile || d->grid[0];
    for (guint i = 0; i < 3 && !d->tile; i++)
        all &= d->grid[i] || !d->pid[i];
    return all;
}

static WsJson *tensors(PyDsa *d)
{
    const char *covers = launch_is_known(d) ? NULL : "the kernel was made for its launch";
    WsJson *list = ws_json_list();
    for (guint i = 0; i < d->tensors->len; i++) {
        const PyDsaTensor *t = py_dsa_tensor(d, (gint)i);
        WsJson *shape = ws_json_list(), *strides = NULL;
        if (!t->rank) { /* a pointer that nothing is copied through */
            ws_json_free(shape);
            continue;
        }
        for (guint k = 2 - t->rank; k < 2; k++) {
            ws_json_add(shape, expr(t->shape[k]));
            if (!t->stride[k])
                continue;
            strides = strides ? strides : ws_json_list();
            ws_json_add(strides, expr(t->stride[k]));
        }
        ws_json_add(list, WS_MAKE(WS_NODE_TENSOR, { WS_F_name, ws_json_text(t->name) },
                                  { WS_F_dtype, ws_json_text(t->dtype) }, { WS_F_shape, shape },
                                  { WS_F_strides, strides },
                                  { WS_F_access, t->written ? ws_json_text("write") : NULL },
                                  { WS_F_covers, t->written ? ws_json_text(covers) : NULL }));
    }
    return list;
}

static WsJson *buffers(PyDsa *d)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < d->buffers->len; i++) {
        const PyDsaBuffer *b = py_dsa_buffer(d, (gint)i);
        WsJson *tile = ws_json_list();
        if (b->rank == 2)
            ws_json_add(tile, ws_json_int(b->rows));
        ws_json_add(tile, ws_json_int(b->cols));
        WsJson *one =
            WS_MAKE(WS_NODE_BUFFER, { WS_F_name, ws_json_text(b->name) },
                    { WS_F_dtype, ws_json_text(b->dtype) }, { WS_F_tile, tile },
                    { WS_F_stages, b->ring && d->stages ? ws_json_text(d->stages) : NULL },
                    { WS_F_space, ws_json_text(ws_core_space_name(d->core, b->space)) });
        ws_json_add(list, ws_write_place(d->r, one, b->line, 1, b->line));
    }
    return list;
}

static WsJson *flags(PyDsa *d)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < d->flags->len; i++) {
        const PyDsaFlag *f = &g_array_index(d->flags, PyDsaFlag, i);
        WsJson *one = WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(f->name) },
                              { WS_F_kind, ws_json_text("flag") },
                              { WS_F_slots, f->ring && d->stages ? ws_json_text(d->stages) : NULL },
                              { WS_F_from, ws_json_text(d->core->unit[f->from].name) },
                              { WS_F_to, ws_json_text(d->core->unit[f->to].name) });
        ws_json_put(one, "note",
                    ws_json_text("derived: the text has no flags, its compiler orders the queues"));
        ws_json_add(list, one);
    }
    return list;
}

static WsJson *tiles(PyDsa *d)
{
    static const char *const pid[] = { "pid", "pid_1", "pid_2" };
    WsJson *axes = ws_json_map();
    if (d->tile)
        ws_json_put(axes, d->tile, expr(d->tiles));
    for (guint i = 3; i-- > 0 && !d->tile;) { /* the first one runs fastest */
        static const char *const size[] = { "grid", "grid_1", "grid_2" };
        if (!d->pid[i] && i && !d->grid[i]) /* what a launch has, and no one reads, is there too */
            continue;
        const WsExpr *n =
            d->grid[i]
                ? d->grid[i]
                : ws_x_name(d->r, ws_source_size_of(d->r, ws_source_format(d->r, "launch %u", i),
                                                    size[i], 1));
        ws_json_put(axes, pid[i], expr(n));
    }
    return WS_MAKE(WS_NODE_TILES, { WS_F_axes, axes },
                   { WS_F_launch, ws_json_text(d->tile ? "persistent" : "single") });
}

WsDesign *py_dsa_write(PyDsa *d, const GPtrArray *stream)
{
    WsRead *r = d->r;
    WsJson *design = ws_json_map(), *sizes = ws_json_map(), *assume = ws_json_list(),
           *constants = ws_json_map(), *groups = ws_json_list();
    ws_json_put(design, "warpstave", ws_json_int(WS_DESIGN_VERSION));
    ws_json_put(design, "name", ws_json_format("%s of %s", d->function->text, r->file));
    ws_json_put(design, "source", ws_json_text(r->file));
    ws_json_put(design, "note",
                ws_json_format("imported from %s; flags and barriers are derived", r->file));
    ws_json_put(design, "target", ws_json_text("ascend"));
    WsJson *axes = tiles(d), *own = tensors(d);
    if (d->stages)
        ws_json_put(constants, d->stages, ws_json_int(MAX(d->n_stages, 1)));
    ws_json_put(design, "constants", constants);
    for (guint i = 0; i < r->sizes->len; i++)
        ws_json_put(sizes, r->sizes->pdata[i], ws_json_int(g_array_index(r->presets, gint64, i)));
    ws_json_put(design, "sizes", sizes);
    for (guint i = 0; i < r->assume->len; i++)
        ws_json_add(assume, ws_json_text(r->assume->pdata[i]));
    ws_json_put(design, "assume", assume);
    ws_json_put(design, "tensors", own);
    ws_json_put(design, "tiles", axes);
    ws_json_put(design, "buffers", buffers(d));
    ws_json_put(design, "barriers", flags(d));
    WsJson *group = WS_MAKE(WS_NODE_GROUP, { WS_F_name, ws_json_text("core") },
                            { WS_F_role, ws_json_text("worker") }, { WS_F_warps, ws_json_int(1) },
                            { WS_F_body, steps(d, stream, NULL) });
    ws_json_add(groups, ws_write_place(r, group, d->function->line, 1, d->function->line));
    ws_json_put(design, "groups", groups);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *made = ws_design_build(design, r->file, findings);
    if (!made) {
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        ws_source_fail(r, MAX(f->line, 1), MAX(f->column, 1), "Import a smaller part of it.",
                       "what was read makes no design: %s at %s", f->message, f->at);
    }
    return made;
}
