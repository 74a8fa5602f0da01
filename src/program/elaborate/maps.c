#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/transfer.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* Tensor maps and boxes (LANGUAGE section 11.2 and 14): a transfer is cut into boxes of at most
 * `bulk.box` elements per dimension and one swizzle span. */

gint ws_map_of(WsElab *E, guint tensor, const guint *box, guint swizzle)
{
    guint rank = E->p->tensor[tensor].rank;
    for (guint i = 0; i < E->maps->len; i++) {
        const WsTensorMap *m = &g_array_index(E->maps, WsTensorMap, i);
        if (m->tensor == tensor && m->swizzle == swizzle &&
            memcmp(m->box, box, sizeof(guint) * rank) == 0)
            return (gint)i;
    }
    WsTensorMap map = { .tensor = tensor, .rank = rank, .swizzle = swizzle };
    memcpy(map.box, box, sizeof(guint) * rank);
    g_array_append_val(E->maps, map);
    return (gint)E->maps->len - 1;
}

/* Static TMA rules: innermost stride 1, other strides and inner box bytes multiples of 16. */
static void legal(WsStepState *S, const WsTensor *t, guint inner)
{
    WsElab *E = S->E;
    guint bytes = ws_dtype_bytes(t->dtype), granule = E->hw->bulk.granule;
    gint64 stride;
    if (ws_elab_is_int(t->stride[t->rank - 1], &stride) && stride != 1)
        ws_elab_note(E, WS_RULE_L_TMA, S->id,
                     "Declare the tensor with its contiguous dimension "
                     "last.",
                     "the last dimension of %s has stride %" G_GINT64_FORMAT
                     "; a bulk transfer needs 1",
                     t->name, stride);
    for (guint i = 0; i + 1 < t->rank; i++)
        if (ws_elab_is_int(t->stride[i], &stride) && stride % granule * bytes % granule != 0)
            ws_elab_note(E, WS_RULE_L_TMA, S->id, "Pad the rows of the tensor.",
                         "stride %u of %s is %" G_GINT64_FORMAT " elements of %u bytes; a bulk "
                         "transfer needs a multiple of %u bytes",
                         i, t->name, stride, bytes, granule);
    if ((guint64)inner * bytes % granule != 0)
        ws_elab_note(E, WS_RULE_L_TMA, S->id,
                     ws_arena_phrase(E->arena, "Move a multiple of %u bytes per row.", granule),
                     "a row of this box is %u bytes; a bulk transfer needs a multiple of %u",
                     inner * bytes, granule);
}

typedef struct {
    guint rows, cols; /* of a box */
} Box;

static Box box_size(WsStepState *S, const WsBuffer *b, const WsAccess *a)
{
    const guint most = S->E->hw->bulk.box;
    Box box = { MIN(a->rows, most), MIN(a->cols, b->chunk_cols) };
    gint64 col = 0;
    gboolean known = ws_elab_is_int(a->col0, &col);
    if (b->swizzle) {
        gboolean whole = a->cols % b->chunk_cols == 0 && (!known || col % b->chunk_cols == 0);
        gboolean inside = known && col % b->chunk_cols + a->cols <= b->chunk_cols;
        if (!whole && !inside)
            ws_elab_note(S->E, WS_RULE_L_VIEW, S->id, "Choose whole swizzle chunks.",
                         "columns %s..+%u of %s cut through a swizzle chunk of %u columns",
                         ws_elab_text(S->E, a->col0), a->cols, b->name, b->chunk_cols);
        else if (!whole && a->rows > 1 && a->cols < b->chunk_cols)
            ws_elab_note(S->E, WS_RULE_L_VIEW, S->id, "Choose whole swizzle chunks.",
                         "a box of %u columns leaves gaps in the %u-column chunks of %s", a->cols,
                         b->chunk_cols, b->name);
    } else {
        box.cols = MIN(a->cols, most);
        if (a->rows > 1 && (a->cols != b->cols || b->pad || a->cols > most))
            ws_elab_note(S->E, WS_RULE_L_TMA, S->id,
                         ws_arena_phrase(S->E->arena,
                                         "Move whole unpadded rows of at most %u elements, or use "
                                         "a swizzle.",
                                         most),
                         "the rows of this view of %s do not follow each other in memory", b->name);
    }
    return box;
}

void ws_boxes(WsStepState *S, guint tensor, const WsBufferView *view, WsExpr **at, guint n_at,
              WsBoxMake make, gpointer data)
{
    WsElab *E = S->E;
    const WsTensor *t = &E->p->tensor[tensor];
    const WsBuffer b = g_array_index(E->buffers, WsBuffer, view->access.buffer);
    const WsAccess *a = &view->access;
    guint bytes = ws_dtype_bytes(b.dtype), n = 0;
    if (t->dtype != b.dtype && !ws_queue_converts(E, &b, t->dtype))
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s holds %s but %s holds %s", t->name,
                      ws_dtype_text(t->dtype), b.name, ws_dtype_text(b.dtype));
    if (a->transposed && b.rank == 2)
        ws_elab_error(E, WS_RULE_T_VIEW, S->id, NULL, "a bulk transfer cannot transpose");
    if (t->rank < b.rank) {
        ws_elab_error(E, WS_RULE_T_RANK, S->id, NULL, "%s has %u dimensions, the tile of %s %u",
                      t->name, t->rank, b.name, b.rank);
        return;
    }
    Box box = box_size(S, &b, a);
    WsTensorTransfer *whole = ws_arena_new0(E->arena, WsTensorTransfer, 1);
    gint64 known;
    *whole = (WsTensorTransfer){ .tensor = tensor,
                                 .swizzle = b.swizzle,
                                 .rows = a->rows,
                                 .cols = a->cols,
                                 .rank = t->rank,
                                 .constant = ws_elab_is_int(a->row0, &known) &&
                                             ws_elab_is_int(a->col0, &known),
                                 .bytes = (gint64)a->rows * a->cols * bytes };
    for (guint i = 0; i < t->rank; i++)
        whole->extent[i] = i + 1 == t->rank                  ? a->cols
                           : i + 2 == t->rank && b.rank == 2 ? a->rows
                                                             : 1;
    whole->box = ws_arena_new0(E->arena, const WsOp *,
                               (gsize)((a->rows + box.rows - 1) / box.rows) *
                                   ((a->cols + box.cols - 1) / box.cols));
    legal(S, t, box.cols);
    for (guint col = 0; col < a->cols; col += box.cols)
        for (guint row = 0; row < a->rows; row += box.rows) {
            WsAccess part = *a;
            WsExpr *coord[WS_MAX_RANK];
            guint extent[WS_MAX_RANK] = { 0 };
            part.rows = MIN(box.rows, a->rows - row);
            part.cols = MIN(box.cols, a->cols - col);
            part.row0 = ws_elab_op_int(E, WS_EXPR_ADD, a->row0, row, S->id);
            part.col0 = ws_elab_op_int(E, WS_EXPR_ADD, a->col0, col, S->id);
            gint64 r, c;
            part.stage_offset = -1;
            if (ws_elab_is_int(part.row0, &r) && ws_elab_is_int(part.col0, &c))
                part.stage_offset = (gint64)ws_buffer_offset(&b, (guint)r, (guint)c);
            memcpy(coord, at, sizeof(WsExpr *) * n_at);
            for (guint i = 0; i < t->rank; i++)
                extent[i] = 1;
            extent[0] = part.cols;
            coord[n_at - 1] = ws_elab_op_int(E, WS_EXPR_ADD, at[n_at - 1], col, S->id);
            if (b.rank == 2) {
                extent[1] = part.rows;
                coord[n_at - 2] = ws_elab_op_int(E, WS_EXPR_ADD, at[n_at - 2], row, S->id);
            }
            WsOp *op = make(S, n, &part, ws_map_of(E, tensor, extent, b.swizzle), coord, n_at,
                            (gint64)part.rows * part.cols * bytes, data);
            op->transfer = whole;
            whole->box[n++] = op;
            whole->n = n;
        }
}

guint ws_step_coordinates(WsStepState *S, const WsTensor *t, guint flags, WsExpr **at)
{
    WsElab *E = S->E;
    guint n = ws_elab_field_count(S->node, WS_F_at);
    if (n != t->rank)
        ws_elab_error(E, WS_RULE_T_RANK, S->id, NULL,
                      "%s has %u dimensions, but `at` gives %u coordinates", t->name, t->rank, n);
    for (guint i = 0; i < t->rank; i++)
        at[i] =
            i < n
                ? ws_elab_resolve(E, ws_elab_value_expr(E, ws_elab_field_item(S->node, WS_F_at, i)),
                                  flags | WS_RESOLVE_TENSOR, S->id)
                : ws_elab_int(E, 0);
    return t->rank;
}
