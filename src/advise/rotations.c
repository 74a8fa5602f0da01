/* Loops rotated: what of a round may run beside the next one. A ring that all operands share holds
 * the operand of the later part back with that of the earlier one, so each cut is also tried with
 * barriers of their own for a buffer of it. */
#include "advise/gather.h"
#include "base/phrase.h"

/* A cut makes a difference before what waits, issues or uses the result of a product; anywhere else
 * it is one of these, with steps on the other side that the order of the round puts right anyway.
 */
static gboolean may_be_cut(const WsNode *loop, guint i)
{
    const WsNodeKind kind = ws_node_child(loop, WS_F_do, i)->kind;
    const WsNodeKind before = ws_node_child(loop, WS_F_do, i - 1)->kind;
    return kind == WS_STEP_MMA || kind == WS_STEP_MMA_WAIT || kind == WS_STEP_WAIT ||
           (kind == WS_STEP_COMPUTE && before != WS_STEP_COMPUTE);
}

static gboolean has_product(const WsNode *loop)
{
    for (guint i = 0; i < ws_node_n_children(loop, WS_F_do); i++)
        if (ws_node_child(loop, WS_F_do, i)->kind == WS_STEP_MMA)
            return TRUE;
    return FALSE;
}

/* What was done to the design before it is cut. */
typedef struct {
    WsGather *g;
    const WsDraft *parted; /* NULL: nothing */
    const WsNode *buffer;
} Before;

static const WsDesign *begin_of(const Before *b)
{
    return b->parted ? b->parted->design : b->g->design;
}

/* A draft that has done what was done before: applying it again would take as long as all else. */
static WsDraft *draft_of(const Before *b)
{
    WsDraft *d = ws_gather_draft(begin_of(b));
    for (guint i = 0; b->parted && i < b->parted->edits->len; i++)
        g_ptr_array_add(d->edits, ws_edit_copy_of(b->parted->edits->pdata[i]));
    return d;
}

static void cut_loop(const Before *b, const WsNode *loop)
{
    for (guint i = 1; i < ws_node_n_children(loop, WS_F_do); i++) {
        if (!may_be_cut(loop, i))
            continue;
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        WsDraft *d = draft_of(b);
        const gboolean done = ws_edit_rotate(d, step->identity);
        const WsNode *shown = ws_design_by_identity(b->g->design, step->identity);
        g_autofree char *label = ws_edit_label(step);
        const guint from = b->g->list->len;
        ws_gather_take(
            b->g, d, done, shown ? shown : ws_design_by_identity(b->g->design, loop->identity),
            b->parted ? ws_phrase("%s and what follows it one round later, with barriers of "
                                  "its own for %s",
                                  label, ws_node_name(b->buffer))
                      : ws_phrase("%s and what follows it one round later", label));
        for (guint k = from; k < b->g->list->len; k++)
            ((WsCandidate *)b->g->list->pdata[k])->reorders = TRUE;
    }
}

static void cut_below(const Before *b, const WsNode *owner, WsFieldId list)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        if (step->kind == WS_STEP_FOR && !ws_node_has(step, WS_F_over) && has_product(step))
            cut_loop(b, step);
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            cut_below(b, step, inner[k]);
    }
}

static void cut_all(const Before *b)
{
    const WsNode *root = ws_design_root(begin_of(b));
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
        cut_below(b, ws_node_child(root, WS_F_groups, i), WS_F_body);
}

void ws_gather_rotations(WsGather *g)
{
    const WsNode *root = ws_design_root(g->design);
    const Before nothing = { g, NULL, NULL };
    cut_all(&nothing);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const WsNode *buffer = ws_node_child(root, WS_F_buffers, i);
        WsDraft *d = ws_gather_draft(g->design);
        if (!ws_edit_part(d, buffer->identity)) {
            ws_draft_free(d);
            continue;
        }
        const Before b = { g, d, buffer };
        cut_all(&b);
        ws_gather_take(g, d, TRUE, buffer,
                       ws_phrase("Barriers of its own for %s", ws_node_name(buffer)));
    }
}
