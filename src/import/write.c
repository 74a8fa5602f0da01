#include "import/write_steps.h"
#include "model/finding.h"
#include "model/findings.h"

#include <string.h>

/* What was read -> a design -> the ordinary reader. */

static void put_coords(WsWriter *w, const WsReadStep *s, WsJson *step)
{
    WsJson *at = ws_json_list();
    for (guint i = 0; i < s->n_coord; i++)
        ws_json_add(at, ws_write_expr(w->r, s->coord[i]));
    ws_json_put(step, "at", at);
}

/* --- references ------------------------------------------------------------------------------- */

static const WsReadBuffer *buffer_of(const WsWriter *w, const WsPlace *p)
{
    return &g_array_index(w->r->buffers, WsReadBuffer, p->object);
}

static char *buffer_ref(WsWriter *w, const WsPlace *p)
{
    if (p->in_value)
        return g_strdup_printf("%s%s", g_array_index(w->group->values, WsReadValue, p->object).name,
                               p->views ? p->views : "");
    const WsReadBuffer *b = buffer_of(w, p);
    const WsReadSpot spot = ws_source_spot(w->r, p, b->stages, b->copies);
    GString *out = g_string_new(b->name);
    if (spot.element >= 0)
        g_string_append_printf(out, "[%" G_GINT64_FORMAT "]", spot.element);
    if (p->views)
        g_string_append(out, p->views);
    if (p->transposed)
        g_string_append(out, ".t");
    const WsExpr *use = spot.use ? spot.use : spot.slot;
    if (b->stages > 1) {
        g_autofree char *text = use ? ws_source_named_text(w->r, use) : g_strdup("0");
        g_string_append_printf(out, " @ %s", text);
    }
    return g_string_free(out, FALSE);
}

/* --- steps ------------------------------------------------------------------------------------ */

static WsJson *steps_of(WsWriter *w, const GPtrArray *list);

static const WsReadBarrier *barrier_of(const WsWriter *w, const WsReadStep *s)
{
    return &g_array_index(w->r->barriers, WsReadBarrier, s->barrier.object);
}

static WsJson *pipe_name(const WsWriter *w, const WsReadStep *s)
{
    return ws_json_text(g_array_index(w->r->pipes, WsReadPipe, barrier_of(w, s)->pipe - 1).name);
}

static void put_for(WsWriter *w, WsReadStep *s, WsJson *step)
{
    ws_json_put(step, "for", ws_json_text(s->name));
    if (s->e) {
        ws_json_put(step, "count", ws_write_expr(w->r, s->e));
    } else if (s->barrier.object >= 0) {
        ws_json_put(step, "over", pipe_name(w, s));
        ws_json_put(step, "use", ws_write_expr(w->r, s->barrier.use));
    } else {
        ws_json_put(step, "over", ws_json_text("tiles"));
    }
    if (s->n)
        ws_json_put(step, "from", ws_json_int(s->n));
    if (s->stride > 1)
        ws_json_put(step, "step", ws_json_int(s->stride));
    if (s->all)
        ws_json_put(step, "unroll", ws_json_text("full"));
    g_ptr_array_add(w->loops, s);
    ws_json_put(step, "do", steps_of(w, s->body));
    g_ptr_array_set_size(w->loops, w->loops->len - 1);
}

static void put_if(WsWriter *w, WsReadStep *s, WsJson *step)
{
    ws_json_put(step, "if", ws_write_expr(w->r, s->e));
    w->conditional++;
    ws_json_put(step, "then", steps_of(w, s->body));
    if (s->other && s->other->len)
        ws_json_put(step, "else", steps_of(w, s->other));
    w->conditional--;
}

static void put_stage(WsWriter *w, const WsReadStep *s, WsJson *step)
{
    ws_json_put(step, "stage", ws_json_text(s->name));
    if (s->n >= 0)
        ws_json_put(step, "priority", ws_json_int(s->n));
    ws_json_put(step, "do", steps_of(w, s->body));
}

static gboolean fills(const GPtrArray *list, gint buffer)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean comes = s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER;
        if ((comes && !s->off && s->buffer.object == buffer) || fills(s->body, buffer) ||
            fills(s->other, buffer))
            return TRUE;
    }
    return FALSE;
}

/* Some copy brings what the buffer holds. */
static gboolean is_loaded(const WsRead *r, gint buffer)
{
    for (guint g = 0; g < r->groups->len; g++)
        if (fills(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, buffer))
            return TRUE;
    return FALSE;
}

static WsJson *value_name(const WsWriter *w, gint value, const char *views)
{
    return ws_json_format("%s%s", g_array_index(w->group->values, WsReadValue, value).name,
                          views ? views : "");
}

static WsJson *tensor_name(const WsWriter *w, gint tensor)
{
    return ws_json_text(g_array_index(w->r->tensors, WsReadTensor, tensor).name);
}

static WsJson *place_of(WsWriter *w, const WsPlace *place)
{
    return ws_json_take_text(buffer_ref(w, place));
}

/* What an opaque step may do with the values and buffers that its lines name: it reads what copies
 * bring, and writes the other buffers. */
static WsJson *touched(WsWriter *w, const WsReadStep *s, gboolean values)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; values && s->reads && i < s->reads->len; i++)
        ws_json_add(list, value_name(w, (gint)g_array_index(s->reads, gint64, i), NULL));
    for (guint i = 0; s->places && i < s->places->len; i++) {
        const WsPlace *place = &g_array_index(s->places, WsPlace, i);
        if (is_loaded(w->r, place->object) == values)
            ws_json_add(list, place_of(w, place));
    }
    if (!values && s->value >= 0)
        ws_json_add(list, value_name(w, s->value, NULL));
    return list;
}

static void put_opaque(WsWriter *w, const WsReadStep *s, WsJson *step)
{
    WsJson *lines = ws_json_list();
    for (guint line = s->line; line <= MIN(s->end_line, s->line + 7) && line <= w->r->n_lines;
         line++)
        ws_json_add(lines, ws_json_text(w->r->line[line - 1]));
    ws_json_put(step, "raw", ws_json_text("unread"));
    ws_json_put(step, "text", lines);
    if (s->reads || s->places)
        ws_json_put(step, "reads", touched(w, s, TRUE));
    if (s->value >= 0 || s->places) {
        ws_json_put(step, "writes", touched(w, s, FALSE));
    } else if (s->buffer.object >= 0) {
        WsJson *one = ws_json_list();
        ws_json_add(one, place_of(w, &s->buffer));
        ws_json_put(step, s->flag ? "writes" : "reads", one);
    }
}

static void put_move(WsWriter *w, const WsReadStep *s, const char *keyword, const char *key,
                     WsJson *step)
{
    const gboolean value = s->value >= 0;
    ws_json_put(step, keyword,
                value ? value_name(w, s->value, s->text) : tensor_name(w, s->tensor));
    if (value && s->tensor >= 0) /* through pointers */
        ws_json_put(step, key, tensor_name(w, s->tensor));
    else
        ws_json_put(step, key, s->buffer.object >= 0 ? place_of(w, &s->buffer) : NULL);
    if (!value || s->tensor >= 0)
        put_coords(w, s, step);
}

static void put_mma(WsWriter *w, const WsReadStep *s, WsJson *step)
{
    gint64 first;
    ws_json_put(step, "mma", value_name(w, s->value, s->text));
    ws_json_put(step, "a", place_of(w, &s->a));
    ws_json_put(step, "b", place_of(w, &s->b));
    if (s->e)
        ws_json_put(step, "first",
                    ws_x_is(s->e, &first) ? ws_json_bool(first != 0) : ws_write_expr(w->r, s->e));
    if (s->flag)
        ws_json_put(step, "open", ws_json_bool(TRUE));
}

/* The step as it stands in the design: its place and its statement. */
static void note_added(WsRead *r, const WsReadStep *s, const char *says)
{
    const WsReadFile *of = ws_source_file(r, s->line);
    g_autoptr(WsStatement) written = ws_statement_parse(says, NULL);
    if (written)
        g_hash_table_add(r->added,
                         ws_source_step_key(of ? of->from : s->line, of ? 1 : MAX(s->column, 1),
                                            of ? of->from : s->end_line, written));
}

/* The statement in the names of the design; as it is where it is none of the grammar. */
static void put_compute(WsWriter *w, const WsReadStep *compute, WsJson *step)
{
    const char *text = compute->text;
    WsStatement *s = ws_statement_parse(text, NULL);
    g_autofree char *value = s ? ws_source_named_text(w->r, s->value) : NULL;
    g_autofree char *says = s ? g_strdup_printf("%s = %s", s->name, value) : g_strdup(text);
    if (s && compute->added)
        note_added(w->r, compute, says);
    ws_json_put(step, "compute", ws_json_text(says));
    if (s)
        ws_statement_unref(s);
}

static void put_copy(WsWriter *w, const GPtrArray *list, guint at, WsJson *step)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    ws_json_put(step, "copy", place_of(w, &s->a));
    ws_json_put(step, "into", place_of(w, &s->buffer));
    ws_write_signal(w, list, at, "signal", step);
}

/* The author's text and what its names stand for. */
static void put_raw(WsWriter *w, const WsReadStep *s, WsJson *step)
{
    WsJson *lines = ws_json_list(), *map[2] = { ws_json_map(), ws_json_map() };
    g_auto(GStrv) line = g_strsplit(s->text, "\n", -1);
    for (guint i = 0; line[i]; i++)
        ws_json_add(lines, ws_json_text(line[i]));
    for (guint i = 0; i < s->operands->len; i++) {
        const WsReadOperand *o = &g_array_index(s->operands, WsReadOperand, i);
        ws_json_put(map[o->out], o->name,
                    o->place.object >= 0 ? place_of(w, &o->place)
                    : o->tensor >= 0     ? tensor_name(w, o->tensor)
                                         : ws_write_expr(w->r, o->e));
    }
    ws_json_put(step, "raw", ws_json_text(s->name));
    ws_json_put(step, "text", lines);
    ws_json_put(step, "in", map[0]);
    ws_json_put(step, "out", map[1]);
}

static void put_pipe(WsWriter *w, const WsReadStep *s, WsJson *step)
{
    ws_json_put(step, s->name, pipe_name(w, s));
    ws_json_put(step, "use", ws_write_expr(w->r, s->barrier.use));
}

static void put_own(WsWriter *w, const GPtrArray *list, guint at, WsJson *step)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind == WS_READ_FOR)
        put_for(w, s, step);
    else if (s->kind == WS_READ_IF)
        put_if(w, s, step);
    else if (s->kind == WS_READ_STAGE)
        put_stage(w, s, step);
    else if (s->kind == WS_READ_WAIT)
        ws_write_wait(w, list, at, step);
    else if (s->kind == WS_READ_MMA)
        put_mma(w, s, step);
    else if (s->kind == WS_READ_COMPUTE)
        put_compute(w, s, step);
    else if (s->kind == WS_READ_COPY)
        put_copy(w, list, at, step);
    else if (s->kind == WS_READ_RAW)
        put_raw(w, s, step);
    else if (s->kind == WS_READ_PIPE)
        put_pipe(w, s, step);
    else
        put_opaque(w, s, step);
}

static void put_transfer(WsWriter *w, const GPtrArray *list, guint at, WsJson *step)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsReadRow *row = ws_read_row(s->kind);
    const gboolean comes = s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER;
    put_move(w, s, row->keyword, row->key, step);
    if (comes && s->barrier.object >= 0 && !barrier_of(w, s)->pipe) /* a window tells by itself */
        ws_write_signal(w, list, at, "signal", step);
    if (s->flag && (s->kind == WS_READ_STORE || s->kind == WS_READ_WRITE))
        ws_json_put(step, "reduce", ws_json_text("add"));
    if (s->reduce)
        ws_json_put(step, "reduce", ws_json_text(s->reduce));
    if ((s->kind == WS_READ_READ || s->kind == WS_READ_WRITE) && s->cta)
        ws_json_put(step, "cta", ws_write_expr(w->r, s->cta));
    if (s->where)
        ws_json_put(step, s->tensor >= 0 ? "mask" : "places", value_name(w, s->where - 1, NULL));
    if (s->rows)
        ws_json_put(step, "rows", ws_json_int(s->rows));
    if (s->expected)
        ws_json_put(step, "expected", value_name(w, s->expected - 1, NULL));
    if (s->old)
        ws_json_put(step, "old", value_name(w, s->old - 1, NULL));
    if (s->all && s->kind == WS_READ_STORE)
        ws_json_put(step, "open", ws_json_bool(TRUE));
}

static WsJson *step_of(WsWriter *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const WsReadRow *row = ws_read_row(s->kind);
    const gboolean body =
        s->kind == WS_READ_FOR || s->kind == WS_READ_IF || s->kind == WS_READ_STAGE;
    WsJson *step = ws_json_map();
    switch (row->form) {
    case WS_READ_FORM_OWN:
        put_own(w, list, at, step);
        break;
    case WS_READ_FORM_SIGNAL:
        ws_write_signal(w, list, at, row->keyword, step);
        break;
    case WS_READ_FORM_MOVE:
        put_transfer(w, list, at, step);
        break;
    case WS_READ_FORM_WORD:
        ws_json_put(step, row->keyword, ws_json_text(s->name));
        break;
    case WS_READ_FORM_NUMBER:
        ws_json_put(step, row->keyword, ws_json_int(s->n));
        if (s->kind == WS_READ_STORE_WAIT && s->flag)
            ws_json_put(step, "full", ws_json_bool(TRUE));
        break;
    case WS_READ_FORM_SUM:
        ws_json_put(step, row->keyword, ws_json_text(s->name));
        ws_json_put(step, row->key, ws_write_expr(w->r, s->e));
        break;
    case WS_READ_FORM_TILES:
        ws_json_put(step, row->keyword, ws_json_text("tiles"));
        ws_json_put(step, row->key, place_of(w, &s->buffer));
        break;
    }
    if (s->when)
        ws_json_put(step, "when", ws_write_expr(w->r, s->when));
    if (s->ahead)
        ws_json_put(step, "ahead", ws_json_int(s->ahead));
    return ws_write_place(w->r, step, s->line, s->column, body ? s->line : s->end_line);
}

static WsJson *steps_of(WsWriter *w, const GPtrArray *list)
{
    WsJson *steps = ws_json_list();
    for (guint i = 0; list && i < list->len; i++)
        if (!((WsReadStep *)g_ptr_array_index(list, i))->off)
            ws_json_add(steps, step_of(w, list, i));
    return steps;
}

static gboolean issues(const GPtrArray *list, WsReadKind kind)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == kind && !s->off) || issues(s->body, kind) || issues(s->other, kind))
            return TRUE;
    }
    return FALSE;
}

static WsJson *group_of(WsWriter *w, WsReadGroup *g)
{
    w->group = g;
    const char *role = issues(g->body, WS_READ_MMA)    ? "consumer"
                       : issues(g->body, WS_READ_LOAD) ? "producer"
                                                       : "worker";
    WsJson *body = steps_of(w, g->body), *values = ws_json_list(), *counters = ws_json_list();
    for (guint i = 0; i < g->values->len; i++) {
        const WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
        if (v->gone)
            continue;
        WsJson *tile = ws_json_list();
        ws_json_add(tile, ws_json_int(v->rows));
        ws_json_add(tile, ws_json_int(v->cols));
        ws_json_add(values, WS_MAKE(WS_NODE_VALUE, { WS_F_name, ws_json_text(v->name) },
                                    { WS_F_dtype, ws_json_text(v->dtype) }, { WS_F_tile, tile }));
    }
    for (guint i = 0; i < g->counters->len; i++) {
        WsJson *start = ws_write_expr(w->r, g_ptr_array_index(g->starts, i));
        ws_json_add(counters,
                    WS_MAKE(WS_NODE_COUNTER,
                            { WS_F_name, ws_json_text(g_ptr_array_index(g->counters, i)) },
                            { WS_F_start, start }));
    }
    WsJson *group =
        WS_MAKE(WS_NODE_GROUP, { WS_F_name, ws_json_text(g->name) },
                { WS_F_role, ws_json_text(role) }, { WS_F_warps, ws_json_int(g->warps) },
                { WS_F_replicate, g->replicate ? ws_json_int(g->replicate) : NULL },
                { WS_F_registers, g->registers ? ws_json_int(g->registers) : NULL },
                { WS_F_mma_rows, g->mma_rows > 16 ? ws_json_int(g->mma_rows) : NULL },
                { WS_F_values, values }, { WS_F_counters, counters }, { WS_F_body, body });
    return ws_write_place(w->r, group, g->line, 1, g->line);
}

WsDesign *ws_source_write(WsRead *r)
{
    WsWriter w = { .r = r, .loops = g_ptr_array_new() };
    WsJson *objects = ws_json_map(), *groups = ws_json_list();
    ws_source_rings(r);
    ws_source_seal(r);
    ws_source_settle_names(r);
    ws_write_objects(r, objects);
    for (guint i = 0; i < r->groups->len; i++)
        ws_json_add(groups, group_of(&w, g_ptr_array_index(r->groups, i)));
    ws_json_put(objects, "groups", groups);
    ws_write_head(r, objects); /* last: it holds the names that were used */
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_build(objects, r->file, findings);
    if (!design) {
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        ws_source_fail(r, MAX(f->line, 1), MAX(f->column, 1), "Import a smaller part of it.",
                       "what was read makes no design: %s at %s", f->message, f->at);
    }
    g_ptr_array_unref(w.loops);
    return ws_source_hints(r, design);
}
