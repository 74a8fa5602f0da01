/* Head and objects of a design that was read: sizes, tensors, buffers, barriers. */
#include "import/write.h"
#include "target/target.h"

#include <string.h>

WsJson *ws_write_expr(WsRead *r, const WsExpr *e)
{
    return ws_json_take_text(ws_source_named_text(r, e));
}

WsJson *ws_write_place(const WsRead *r, WsJson *node, guint line, guint column, guint end_line)
{
    if (!line)
        return node;
    g_autofree char *source = g_strdup(line <= r->n_lines ? r->line[line - 1] : "");
    g_strstrip(source);
    if (g_utf8_strlen(source, -1) > 160)
        strcpy(g_utf8_offset_to_pointer(source, 160), "");
    const char *more = end_line > line ? " …" : "";
    const WsReadFile *of = ws_source_file(r, line);
    WsJson *place = ws_json_list();
    ws_json_add(place, ws_json_int(of ? of->from : line));
    ws_json_add(place, ws_json_int(of ? 1 : MAX(column, 1)));
    ws_json_add(place, end_line > line && !of ? ws_json_int(end_line) : NULL);
    ws_json_put(node, "source", place);
    ws_json_put(node, "note",
                of ? ws_json_format("%s:%u: %s%s", of->name, line - of->first + 1, source, more)
                   : ws_json_format("%s%s", source, more));
    return ws_json_at(node, of ? of->from : line, of ? 1 : MAX(column, 1));
}

/* A text that was kept of an expression, in the names of the design. */
static WsJson *kept(WsRead *r, const char *text)
{
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL);
    return e ? ws_write_expr(r, e) : ws_json_text(text);
}

static WsJson *lets(WsRead *r, gboolean tile)
{
    WsJson *map = NULL;
    guint at = 0;
    const char *name;
    for (char *text; ws_source_next_name(r, tile, &at, &name, &text);) {
        map = map ? map : ws_json_map();
        ws_json_put(map, name, ws_json_take_text(text));
    }
    return map;
}

/* Whether a size is but where a tensor begins, which steps name by the tensor. */
static gboolean is_address(const WsRead *r, const char *name, const char *text)
{
    if (!g_ptr_array_find_with_equal_func(r->addresses, name, g_str_equal, NULL))
        return FALSE;
    const gsize n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        const gboolean begins = at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '_');
        if (begins && !g_ascii_isalnum(at[n]) && at[n] != '_')
            return FALSE;
    }
    return TRUE;
}

static WsJson *unread_values(const WsRead *r)
{
    WsJson *list = NULL;
    for (guint i = 0; i < r->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(r->unread, i);
        if (!u->harmless)
            continue;
        list = list ? list : ws_json_list();
        ws_json_add(list, ws_json_format("line %u: %s", u->line, u->what));
    }
    return list;
}

void ws_write_head(WsRead *r, WsJson *design)
{
    g_autofree char *text = ws_json_print(design);
    WsJson *sizes = ws_json_map(), *scalars = ws_json_map(), *axes = ws_json_map(),
           *assume = ws_json_list();
    for (guint i = 0; i < r->sizes->len; i++)
        if (!is_address(r, r->sizes->pdata[i], text))
            ws_json_put(sizes, r->sizes->pdata[i],
                        ws_json_int(g_array_index(r->presets, gint64, i)));
    for (guint i = 0; i < r->scalars->len; i++)
        ws_json_put(scalars, r->scalars->pdata[i], ws_json_int(1));
    for (guint i = 0; i < r->assume->len; i++)
        ws_json_add(assume, kept(r, r->assume->pdata[i]));
    for (guint i = 0; i + 1 < r->axes->len; i += 2)
        ws_json_put(axes, r->axes->pdata[i], kept(r, r->axes->pdata[i + 1]));
    ws_source_mark_names(r);
    ws_json_put(design, "warpstave", ws_json_int(WS_DESIGN_VERSION));
    ws_json_put(design, "name", ws_json_text(r->title));
    ws_json_put(design, "source", ws_json_text(r->file));
    ws_json_put(design, "note", ws_json_format("imported from %s", r->file));
    ws_json_put(design, "target", ws_json_text(r->target ? r->target : ws_target_sm_90a.name));
    ws_json_put(design, "unread", unread_values(r));
    ws_json_put(design, "fences", ws_json_text(r->fences));
    ws_json_put(design, "sizes", sizes);
    ws_json_put(design, "scalars", scalars);
    ws_json_put(design, "assume", assume);
    ws_json_put(design, "cluster", r->cluster > 1 ? ws_json_int(r->cluster) : NULL);
    ws_json_put(design, "let", lets(r, FALSE));
    ws_json_put(design, "tiles",
                WS_MAKE(WS_NODE_TILES, { WS_F_axes, axes },
                        { WS_F_launch, ws_json_text(r->launch) }, { WS_F_let, lets(r, TRUE) }));
}

static WsJson *tensors(WsRead *r)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < r->tensors->len; i++) {
        const WsReadTensor *t = &g_array_index(r->tensors, WsReadTensor, i);
        WsJson *shape = ws_json_list();
        for (guint d = 0; d < t->rank; d++)
            ws_json_add(shape, ws_write_expr(r, t->shape[d]));
        WsJson *strides = t->rank && t->stride[0] ? ws_json_list() : NULL;
        for (guint d = 0; strides && d < t->rank; d++)
            ws_json_add(strides, ws_write_expr(r, t->stride[d]));
        const char *access = t->reduced ? "reduce" : t->written ? "write" : NULL;
        /* the text of a kernel does not say how it is launched, nor for which extents */
        const char *covers =
            t->written && !t->reduced ? "the kernel was made for its launch" : NULL;
        WsJson *tensor =
            WS_MAKE(WS_NODE_TENSOR, { WS_F_name, ws_json_text(t->name) },
                    { WS_F_dtype, ws_json_text(t->dtype ? t->dtype : "bf16") },
                    { WS_F_shape, shape }, { WS_F_strides, strides },
                    { WS_F_access, ws_json_text(access) }, { WS_F_covers, ws_json_text(covers) });
        ws_json_add(list, ws_write_place(r, tensor, t->line, 1, t->line));
    }
    return list;
}

static WsJson *buffers(WsRead *r)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < r->buffers->len; i++) {
        const WsReadBuffer *b = &g_array_index(r->buffers, WsReadBuffer, i);
        WsJson *tile = ws_json_list(), *over = NULL;
        for (guint d = (b->indexed ? 1 : 0) + (b->indexed_twice ? 1 : 0); d < b->rank; d++)
            ws_json_add(tile, ws_json_int(b->shape[d]));
        if (b->over) {
            const WsReadBuffer *under = &g_array_index(r->buffers, WsReadBuffer, b->over - 1);
            over = ws_json_format("%s%s", under->name, under->copies > under->stages ? "[0]" : "");
        }
        WsJson *buffer = WS_MAKE(
            WS_NODE_BUFFER, { WS_F_name, ws_json_text(b->name) },
            { WS_F_dtype, ws_json_text(b->dtype) }, { WS_F_tile, tile },
            { WS_F_array, b->copies > b->stages ? ws_json_int(b->copies / b->stages) : NULL },
            { WS_F_stages, ws_json_int(b->stages) },
            { WS_F_gap, b->gap ? ws_json_int(b->gap) : NULL }, { WS_F_over, over },
            { WS_F_offset, b->over && b->over_at ? ws_json_int(b->over_at) : NULL });
        ws_json_add(list, ws_write_place(r, buffer, b->line, 1, b->line));
    }
    return list;
}

/* Arrivals of the elements of a barrier; the design has one figure for all of them. */
static gint64 arrivals_of(WsRead *r, const WsReadBarrier *b)
{
    gint64 n = 0;
    for (gint64 i = 0; i < b->copies; i++) {
        if (n && b->count[i] && b->count[i] != n) { /* never to be called proved */
            ws_source_unread(r, b->line, 1, b->line,
                             "arrival counts that differ between the slots of a barrier", b->name);
            WsReadGroup *g = g_ptr_array_index(r->groups, 0);
            ws_source_step(r, g->body, WS_READ_OPAQUE, b->line, 1, b->line);
            return n;
        }
        n = MAX(n, b->count[i]);
    }
    return MAX(n, 1);
}

static WsJson *init_of(const WsReadBarrier *b)
{
    static const char *const word[] = { "pending", "ready" };
    const gint64 n = b->copies / b->slots;
    gboolean same = TRUE;
    for (gint64 i = 1; i < n; i++)
        same &= b->ready[i] == b->ready[0];
    if (same)
        return ws_json_text(word[b->ready[0]]);
    WsJson *list = ws_json_list();
    for (gint64 i = 0; i < n; i++)
        ws_json_add(list, ws_json_text(word[b->ready[i]]));
    return list;
}

/* The design has one figure for all elements; where they differ it derives them. */
static WsJson *threads_of(const WsReadBarrier *b)
{
    gboolean alike = TRUE;
    for (gint64 i = 1; i < b->copies; i++)
        alike &= b->hw_id == 0 || b->count[i] == b->count[0];
    return alike ? ws_json_int(b->count[0]) : NULL;
}

static WsJson *barriers(WsRead *r)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < r->barriers->len; i++) {
        const WsReadBarrier *b = &g_array_index(r->barriers, WsReadBarrier, i);
        if (b->pipe)
            continue;
        const gint64 array = b->named ? b->copies : b->copies / b->slots;
        WsJson *barrier =
            WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(b->name) },
                    { WS_F_kind, b->named ? ws_json_text("named") : NULL },
                    { WS_F_array, array > 1 ? ws_json_int(array) : NULL },
                    { WS_F_threads, b->named ? threads_of(b) : NULL },
                    { WS_F_slots, b->named ? NULL : ws_json_int(b->slots) },
                    { WS_F_init, b->named ? NULL : init_of(b) },
                    { WS_F_arrivals, b->named ? NULL : ws_json_int(arrivals_of(r, b)) });
        ws_json_add(list, ws_write_place(r, barrier, b->line, 1, b->line));
    }
    return list;
}

static WsJson *pipes(WsRead *r)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < r->pipes->len; i++) {
        const WsReadPipe *p = &g_array_index(r->pipes, WsReadPipe, i);
        WsJson *fields = ws_json_list();
        for (guint k = 0; k < p->fields->len; k++)
            ws_json_add(fields, ws_json_text(g_array_index(r->buffers, WsReadBuffer,
                                                           g_array_index(p->fields, gint, k))
                                                 .name));
        WsJson *pipe =
            WS_MAKE(WS_NODE_PIPE, { WS_F_name, ws_json_text(p->name) },
                    { WS_F_capacity, ws_json_int(p->capacity) }, { WS_F_fields, fields });
        ws_json_add(list, ws_write_place(r, pipe, p->line, 1, p->line));
    }
    return list;
}

void ws_write_objects(WsRead *r, WsJson *design)
{
    ws_json_put(design, "tensors", tensors(r));
    ws_json_put(design, "buffers", buffers(r));
    ws_json_put(design, "barriers", barriers(r));
    if (r->pipes->len)
        ws_json_put(design, "pipes", pipes(r));
}
