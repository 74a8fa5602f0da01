#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"
#include "program/parts/buffer.h"
#include "program/program.h"
#include "target/target.h"

/* Layout of shared memory: LANGUAGE section 7. */

static guint64 round_up(guint64 n, guint64 to)
{
    return (n + to - 1) / to * to;
}

static guint derived_swizzle(const WsTarget *hw, guint rank, guint64 row_length)
{
    const guint *span = hw->shared.swizzle;
    for (guint i = 0; rank == 2 && i < G_N_ELEMENTS(hw->shared.swizzle) && span[i]; i++)
        if (row_length % span[i] == 0)
            return span[i];
    return 0;
}

/* Rows that a half loads are dealt to pieces of the bytes that one instruction fills: there, and
 * nowhere else, bytes may stay free, so that neighbouring rows begin at other banks. */
static void buffer_gap(WsElab *E, WsBuffer *b, const WsNode *node, guint64 length, const char *at)
{
    const guint gap =
        (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_gap), 0, 1024, "gap", at);
    const guint share = E->hw->halves ? b->rows / E->hw->halves : 0;
    if (gap == 0)
        return;
    if (!share) {
        ws_elab_error(E, WS_RULE_L_LENS, at, WS_WORD("Use `pad`."),
                      "gap: %s does not fill shared memory in pieces of a wave", E->p->target);
        return;
    }
    if (b->swizzle > 0 && ws_node_has(node, WS_F_swizzle))
        ws_elab_note(E, WS_RULE_L_SWIZZLE, at, "Set \"swizzle\": 0.",
                     "%s has gaps between its rows, which a swizzle of %u does not allow", b->name,
                     b->swizzle);
    b->swizzle = 0;
    if (gap % E->hw->shared.unit != 0 || b->pad > 0 || b->rank != 2 || length > WS_PIECE ||
        WS_PIECE % length != 0 || b->rows % E->hw->halves != 0 || share * length % WS_PIECE != 0) {
        ws_elab_note(
            E, WS_RULE_L_SWIZZLE, at,
            "Rows of 16 to 1024 bytes, a power of two, as many as fill a multiple of 1024 for each "
            "half; a gap of a multiple of 16 bytes.",
            "the rows of %s do not fill pieces of %u bytes with gaps of %u bytes between them",
            b->name, WS_PIECE, gap);
        return;
    }
    b->gap = gap;
    b->share = share;
    b->pieces = (guint)(share * length / WS_PIECE);
}

static void buffer_layout(WsElab *E, WsBuffer *b, const WsNode *node, const char *at)
{
    guint element = ws_dtype_bytes(b->dtype);
    guint64 length = (guint64)b->cols * element;
    b->swizzle = derived_swizzle(E->hw, b->rank, length);
    if (ws_node_has(node, WS_F_swizzle)) {
        gint64 given = ws_node_int(node, WS_F_swizzle, 0);
        if (given > 0 && (b->rank != 2 || length % (guint64)given != 0))
            ws_elab_note(E, WS_RULE_L_SWIZZLE, at, "Drop the override, or change the tile.",
                         "rows of %s are %" G_GUINT64_FORMAT " bytes, which a swizzle span of %d "
                         "does not divide",
                         b->name, length, (int)given);
        else
            b->swizzle = (guint)given;
    }
    if (ws_node_has(node, WS_F_pad)) {
        b->pad = (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_pad), 0, 1024,
                                            "pad", at);
        if (b->pad > 0 && b->swizzle > 0 && !ws_node_has(node, WS_F_swizzle))
            b->swizzle = 0;
        if (b->pad > 0 && b->swizzle > 0) {
            ws_elab_note(E, WS_RULE_L_SWIZZLE, at, "Set \"swizzle\": 0.",
                         "%s has padded rows, which a swizzle of %u does not allow", b->name,
                         b->swizzle);
            b->pad = 0;
        }
        if (b->pad % element != 0)
            ws_elab_error(E, WS_RULE_T_RANGE, at, "Pad rows by whole elements.",
                          "rows of %s are padded by %u bytes, but its elements have %u", b->name,
                          b->pad, element);
    }
    if (ws_node_has(node, WS_F_gap))
        buffer_gap(E, b, node, length, at);
    b->chunk_cols = b->swizzle ? b->swizzle / element : b->cols;
    b->row_bytes = b->swizzle ? b->swizzle : (guint)length + b->pad;
    b->chunk_bytes = b->rows * b->row_bytes;
    if (b->gap)
        b->chunk_bytes += b->rows / b->share * b->pieces * b->gap;
    b->align = b->swizzle ? E->hw->shared.swizzle_rows * b->swizzle : E->hw->shared.align;
    ws_queue_buffer(E, b, node, at);
    b->stage_bytes = (guint64)b->chunk_bytes * (b->cols / b->chunk_cols);
    b->stage_pitch =
        b->stages > 1 || b->array > 1 ? round_up(b->stage_bytes, b->align) : b->stage_bytes;
    b->array_pitch = b->stage_pitch * b->stages;
    b->bytes = b->array_pitch * b->array;
}

void ws_elab_buffers(WsElab *E)
{
    guint n = ws_node_n_children(E->root, WS_F_buffers);
    for (guint i = 0; i < n && !ws_elab_stop(E); i++) {
        const WsNode *node = ws_node_child(E->root, WS_F_buffers, i);
        WsBuffer b = { .name = ws_arena_strdup(E->arena, ws_node_name(node)), .over = -1 };
        const char *at = ws_arena_printf(E->arena, "buffers/%s", b.name);
        if (!ws_elab_dtype(ws_elab_field_name(E, node, WS_F_dtype), &b.dtype))
            ws_elab_error(E, WS_RULE_T_DTYPE, at, NULL, "the dtype of %s is not known", b.name);
        gint64 extent[2] = { 1, 1 };
        b.rank = CLAMP(ws_elab_field_count(node, WS_F_tile), 1, 2);
        for (guint k = 0; k < b.rank; k++)
            extent[2 - b.rank + k] = ws_elab_constant_in(
                E, ws_elab_value_expr(E, ws_elab_field_item(node, WS_F_tile, k)), 1, 1 << 20,
                WS_WORD("a tile extent"), at);
        b.rows = (guint)extent[0];
        b.cols = (guint)extent[1];
        b.is_array = ws_node_has(node, WS_F_array);
        b.array = 1;
        if (b.is_array)
            b.array = (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_array), 1,
                                                 1024, "array", at);
        b.stages = 1;
        if (ws_node_has(node, WS_F_stages))
            b.stages = (guint)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_stages), 1,
                                                  4096, "stages", at);
        if ((guint64)b.rows * b.cols > 1 << 24) {
            ws_elab_error(E, WS_RULE_T_RANGE, at, NULL, "a tile of %u x %u is too large", b.rows,
                          b.cols);
            b.rows = b.cols = 1;
        }
        b.k_permuted = ws_elab_field_is(E, node, WS_F_k_order, "accumulator");
        buffer_layout(E, &b, node, at);
        g_array_append_val(E->buffers, b);
        g_ptr_array_add(E->buffer_node, (gpointer)node);
    }
}

void ws_buffer_hidden(WsElab *E, WsBuffer *b)
{
    b->chunk_cols = b->cols;
    b->row_bytes = b->cols * ws_dtype_bytes(b->dtype);
    b->chunk_bytes = b->rows * b->row_bytes;
    b->align = E->hw->shared.align;
    b->stage_bytes = b->chunk_bytes;
    ws_buffer_set_stages(b, MAX(b->stages, 1));
}

/* Changes the number of stages (pipes). */
void ws_buffer_set_stages(WsBuffer *b, guint stages)
{
    b->stages = stages;
    b->stage_pitch = round_up(b->stage_bytes, b->align);
    b->array_pitch = b->stage_pitch * stages;
    b->bytes = b->array_pitch * b->array;
}

guint64 ws_buffer_offset(const WsBuffer *b, guint row, guint col)
{
    guint element = ws_dtype_bytes(b->dtype);
    if (b->gap) {
        const guint in = row % b->share, piece = row / b->share * b->pieces + in % b->pieces;
        return (guint64)piece * (WS_PIECE + b->gap) + (guint64)(in / b->pieces) * b->row_bytes +
               (guint64)col * element;
    }
    return (guint64)(col / b->chunk_cols) * b->chunk_bytes + (guint64)row * b->row_bytes +
           (guint64)(col % b->chunk_cols) * element;
}

/* CUTLASS Swizzle<3, 4, 3>, <2, 4, 3>, <1, 4, 3>. */
guint64 ws_buffer_place(const WsProgram *p, const WsBuffer *b, guint64 base, guint row, guint col)
{
    const WsTargetShared *hw = &p->hardware->shared;
    const guint64 at = base + ws_buffer_offset(b, row, col);
    const guint64 units = b->swizzle / MAX(hw->unit, 1);
    return units > 1 ? at ^ ((at / hw->swizzle[0] & (units - 1)) * hw->unit) : at;
}

static guint add_range(WsRange *out, guint n, guint max, WsRange *last, guint64 offset,
                       guint64 bytes)
{
    if (n > 0 && last->offset + last->bytes == offset) {
        last->bytes += bytes;
        if (n <= max)
            out[n - 1] = *last;
        return n;
    }
    *last = (WsRange){ offset, bytes };
    if (n < max)
        out[n] = *last;
    return n + 1;
}

guint ws_buffer_ranges(const WsBuffer *b, guint row0, guint rows, guint col0, guint cols,
                       WsRange *out, guint max)
{
    guint element = ws_dtype_bytes(b->dtype), n = 0;
    WsRange last = { 0, 0 };
    const guint deep = b->gap ? b->share / b->pieces : 0; /* rows of a piece */
    for (guint piece = 0; b->gap && piece < b->rows / deep; piece++)
        for (guint i = 0; i < deep; i++) {
            const guint row = piece / b->pieces * b->share + piece % b->pieces + i * b->pieces;
            if (row >= row0 && row < row0 + rows)
                n = add_range(out, n, max, &last, ws_buffer_offset(b, row, col0),
                              (guint64)cols * element);
        }
    if (b->gap)
        return n;
    for (guint col = col0; col < col0 + cols;) {
        guint end = MIN(col0 + cols, (col / b->chunk_cols + 1) * b->chunk_cols);
        guint64 bytes = (guint64)(end - col) * element;
        if (bytes == b->row_bytes) {
            n = add_range(out, n, max, &last, ws_buffer_offset(b, row0, col), bytes * rows);
        } else {
            for (guint r = row0; r < row0 + rows; r++)
                n = add_range(out, n, max, &last, ws_buffer_offset(b, r, col), bytes);
        }
        col = end;
    }
    return n;
}

/* --- placing -------------------------------------------------------------------------------- */

/* A constant view of a buffer, for `over`. FALSE after an error. */
static gboolean constant_view(WsElab *E, const WsRef *ref, const char *at, guint *buffer,
                              guint64 *offset, guint64 *room)
{
    WsElabSymbol *symbol = ws_elab_find(E, ref->name, WS_SYMBOL_BUFFER, at);
    if (!symbol)
        return FALSE;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, symbol->index);
    guint row0 = 0, rows = b->rows, col0 = 0, cols = b->cols, element = 0;
    if (ref->use) {
        ws_elab_error(E, WS_RULE_T_VIEW, at, NULL, "`over` takes a view without use");
        return FALSE;
    }
    if ((ref->element != NULL) != b->is_array) {
        ws_elab_error(E, WS_RULE_N_ELEMENT, at, NULL,
                      b->is_array ? "%s is an array: write %s[i]"
                                  : "%s is not an array: write %s without [i]",
                      b->name, b->name);
        return FALSE;
    }
    if (ref->element)
        element = (guint)ws_elab_constant_in(E, ref->element, 0, b->array - 1,
                                             WS_WORD("the element"), at);
    for (guint i = 0; i < ref->n_views; i++) {
        if (ref->view[i].kind == WS_VIEW_T)
            continue;
        gboolean is_row = (ref->view[i].kind == WS_VIEW_ROWS) == (b->rank == 2);
        guint *first = is_row ? &row0 : &col0, *count = is_row ? &rows : &cols;
        gint64 start =
            ws_elab_constant_in(E, ref->view[i].start, 0, *count - 1, WS_WORD("the start"), at);
        *count = (guint)ws_elab_constant_in(E, ref->view[i].count, 1, *count - start,
                                            WS_WORD("the count"), at);
        *first += (guint)start;
    }
    *buffer = symbol->index;
    *offset = element * b->array_pitch + ws_buffer_offset(b, row0, col0);
    *room = b->bytes - *offset;
    return TRUE;
}

static gboolean place_over(WsElab *E, guint index, int *state)
{
    WsBuffer *b = &g_array_index(E->buffers, WsBuffer, index);
    const WsNode *node = g_ptr_array_index(E->buffer_node, index);
    if (!node || !ws_node_has(node, WS_F_over) || state[index] == 2)
        return TRUE;
    const char *at = ws_arena_printf(E->arena, "buffers/%s", b->name);
    if (state[index] == 1) {
        ws_elab_error(E, WS_RULE_N_ORDER, at, NULL, "buffer %s lies over itself", b->name);
        return FALSE;
    }
    state[index] = 1;
    guint64 offset = 0, room = 0, shift = 0;
    guint base = 0;
    const WsRef *ref = ws_elab_field_ref(E, node, WS_F_over);
    if (!ref || !constant_view(E, ref, at, &base, &offset, &room) || !place_over(E, base, state)) {
        state[index] = 2;
        return FALSE;
    }
    if (ws_node_has(node, WS_F_offset))
        shift = (guint64)ws_elab_constant_in(E, ws_elab_field_expr(E, node, WS_F_offset), 0,
                                             1 << 20, "offset", at);
    b->over = (gint)base;
    b->offset = g_array_index(E->buffers, WsBuffer, base).offset + offset + shift;
    state[index] = 2;
    if (b->bytes + shift > room)
        ws_elab_note(E, WS_RULE_L_OVER, at, "Choose a larger view, or a smaller tile.",
                     "%s needs %" G_GUINT64_FORMAT " bytes, but only %" G_GUINT64_FORMAT
                     " lie after the start of that view",
                     b->name, b->bytes, room > shift ? room - shift : 0);
    if (b->offset % b->align != 0)
        ws_elab_note(E, WS_RULE_L_OVER, at, "Start the view at a multiple of the alignment.",
                     "%s begins at byte %" G_GUINT64_FORMAT ", but its swizzle needs a multiple of "
                     "%u",
                     b->name, b->offset, b->align);
    return TRUE;
}

void ws_elab_place(WsElab *E)
{
    guint64 at = 0;
    guint align = 1;
    for (guint i = 0; i < E->buffers->len; i++)
        align = MAX(align, g_array_index(E->buffers, WsBuffer, i).align);
    for (; align > 0; align /= 2) /* powers of two, the widest first: no gaps */
        for (guint i = 0; i < E->buffers->len; i++) {
            WsBuffer *b = &g_array_index(E->buffers, WsBuffer, i);
            const WsNode *node = g_ptr_array_index(E->buffer_node, i);
            if (b->align != align || (node && ws_node_has(node, WS_F_over)))
                continue;
            b->offset = at = round_up(at, b->align);
            at += b->bytes;
        }
    g_autofree int *state = g_new0(int, E->buffers->len + 1);
    for (guint i = 0; i < E->buffers->len; i++)
        place_over(E, i, state);
    for (guint i = 0; i < E->barriers->len; i++) {
        WsBarrier *b = &g_array_index(E->barriers, WsBarrier, i);
        if (b->kind != WS_BARRIER_MBARRIER)
            continue;
        if (E->hw->sync.bytes == 0) {
            ws_elab_error(E, WS_RULE_L_LENS, b->path, NULL, "%s is an mbarrier, and %s has none",
                          b->name, E->p->target);
            return;
        }
        b->offset = at = round_up(at, E->hw->sync.bytes);
        at += E->hw->sync.bytes * (guint64)b->array * b->slots;
    }
    E->p->shared_bytes = at;
    ws_queue_budgets(E);
}
