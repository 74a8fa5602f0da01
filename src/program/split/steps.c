/* Steps, once for each part. */
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/program.h"
#include "program/split/split.h"

#include <string.h>

static WsJson *with(WsJson *step, const WsNode *node, WsFieldId field, WsJson *value)
{
    return ws_json_with(step, ws_node_key(node->kind, field), value);
}

/* Part `i` of a step: what names it stands at the first one. */
static WsJson *copy_of(const WsNode *node, guint i)
{
    WsJson *step = ws_json_of_node(node);
    const char *id = ws_node_text(node, WS_F_id);
    if (i && id)
        with(step, node, WS_F_id, ws_json_format("%s.%u", id, i));
    return step;
}

/* Parts of a step with a condition, of which one closes what the others open: under that condition
 * together. Takes the parts over. */
static void guarded(const WsNode *node, WsJson *parts, WsJson *list)
{
    WsJson *when = ws_json_of_field(node, WS_F_when);
    ws_json_add(list, WS_MAKE(WS_STEP_IF, { WS_F_keyword, when }, { WS_F_then, parts }));
}

/* --- moves -------------------------------------------------------------------------------------*/

typedef struct {
    WsSplitView value, buffer; /* of which a step has one or both */
    gboolean of_value, of_buffer;
} Ends;

static void ends_clear(Ends *e)
{
    ws_split_view_clear(&e->value);
    ws_split_view_clear(&e->buffer);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ends, ends_clear)

/* Where a move is cut along its rows or columns. */
static gboolean cuts_of(WsSplit *s, const Ends *e, gboolean rows, gboolean powers, WsCuts *out)
{
    const WsSplitView *v = &e->value, *b = &e->buffer;
    const guint extent = e->of_buffer ? (rows ? b->rows : b->cols) : rows ? v->rows : v->cols;
    g_autofree gboolean *mark = g_new0(gboolean, extent + 1);
    const gint64 origin = rows ? b->row0 : b->col0;
    if (e->of_value)
        ws_split_marks(rows ? v->row_cuts : v->col_cuts, rows ? v->row0 : v->col0, extent, mark);
    if (e->of_buffer)
        ws_split_marks(rows ? b->row_cuts : b->col_cuts, origin, extent, mark);
    if (powers)
        return ws_split_cuts(mark, extent, MAX(origin, 0), out) ||
               ws_split_give_up(s, "a move in too many parts");
    *out = (WsCuts){ 0 };
    for (guint i = 0; i < extent; i++) {
        if (i && !mark[i])
            continue;
        if (out->n == WS_SPLIT_MOST)
            return ws_split_give_up(s, "a move in too many parts");
        out->at[out->n++] = i;
    }
    out->at[out->n] = extent;
    return TRUE;
}

static WsJson *coordinates(const WsNode *node, guint rows, guint cols, guint row, guint col)
{
    const WsValue *at = ws_node_get(node, WS_F_at);
    WsJson *list = ws_json_list();
    const gint of_col = cols > 1 ? (gint)at->n - 1 : -1;
    const gint of_row = rows > 1 ? (gint)at->n - (cols > 1 ? 2 : 1) : -1;
    for (gint d = 0; d < (gint)at->n; d++) {
        g_autofree char *text = ws_expr_print(at->item[d].expr);
        const guint by = d == of_col ? col : d == of_row ? row : 0;
        g_autofree char *moved = ws_split_plus(text, by);
        ws_json_add(list, ws_json_expr(moved));
    }
    return list;
}

static gboolean other(WsSplit *s, const WsNode *node, WsJson *list);

/* A load, store, write or read of which one end is in parts. `value`, `buffer`: fields of the ends,
 * WS_F_COUNT: none. FALSE: s has the reason. */
static gboolean move(WsSplit *s, const WsNode *node, WsFieldId value, WsFieldId buffer,
                     WsJson *list)
{
    g_auto(Ends) e = { 0 };
    e.of_value = value != WS_F_COUNT && ws_split_view(s, ws_node_refv(node, value), &e.value);
    e.of_buffer =
        !s->why && buffer != WS_F_COUNT && ws_split_view(s, ws_node_refv(node, buffer), &e.buffer);
    const gboolean copies = value == WS_F_COUNT;
    WsCuts rows, cols;
    if (s->why)
        return FALSE;
    if (ws_node_has(node, WS_F_rows) && (e.of_value || e.of_buffer))
        return ws_split_give_up(s, "a write that leaves out rows");
    if (ws_node_has(node, WS_F_places) || ws_node_has(node, WS_F_old) ||
        ws_node_has(node, WS_F_expected) ||
        ws_node_has(node, WS_F_mask)) /* counted along the rows of a whole view, or in step */
        return other(s, node, list);
    if (!e.of_value && !e.of_buffer) {
        ws_json_add(list, ws_json_of_node(node));
        return TRUE;
    }
    const gboolean cut = e.value.col_cuts || e.buffer.col_cuts || e.buffer.row_cuts || copies;
    const gboolean uncut = e.of_buffer && e.buffer.buffer >= 0 && s->uncut[e.buffer.buffer];
    if (!cuts_of(s, &e, TRUE, copies && !uncut, &rows) || !cuts_of(s, &e, FALSE, copies, &cols))
        return FALSE;
    if (cut && rows.n * cols.n > 1 &&
        ((e.of_buffer && e.buffer.turned) || (!copies && ws_node_has(node, WS_F_signal)) ||
         ws_node_has(node, WS_F_cta)))
        return ws_split_give_up(s, "a move to another CTA, or turned");
    const gboolean last_closes = node->kind == WS_STEP_STORE && rows.n * cols.n > 1;
    const gboolean guard = last_closes && ws_node_has(node, WS_F_when);
    WsJson *parts = guard ? ws_json_list() : list;
    for (guint i = 0; i < rows.n * cols.n; i++) {
        const guint r = i / cols.n, c = i % cols.n, row = rows.at[r], col = cols.at[c];
        const guint n = rows.at[r + 1] - row, m = cols.at[c + 1] - col;
        WsJson *step = copy_of(node, i);
        if (e.of_value) {
            char *part = ws_split_sub(s, &e.value, row, n, col, m);
            with(step, node, value, ws_json_take_text(part ? part : g_strdup("")));
        }
        if (e.of_buffer) {
            char *part = ws_split_sub(s, &e.buffer, row, n, col, m);
            with(step, node, buffer, ws_json_take_text(part ? part : g_strdup("")));
        }
        const Ends *at = &e;
        const WsSplitView *v = e.of_buffer ? &at->buffer : &at->value;
        if (ws_node_has(node, WS_F_at))
            with(step, node, WS_F_at, coordinates(node, v->rows, v->cols, row, col));
        if (last_closes && i + 1 < rows.n * cols.n)
            with(step, node, WS_F_open, ws_json_bool(TRUE));
        if (guard)
            with(step, node, WS_F_when, NULL);
        ws_json_add(parts, step);
    }
    if (guard)
        guarded(node, parts, list);
    return s->why == NULL;
}

/* --- products ----------------------------------------------------------------------------------*/

static gboolean mma(WsSplit *s, const WsNode *node, WsJson *list)
{
    g_auto(WsSplitView) d = { 0 }, a = { 0 }, b = { 0 };
    if (!ws_split_view(s, ws_node_refv(node, WS_F_keyword), &d) ||
        !ws_split_view(s, ws_node_refv(node, WS_F_a), &a) ||
        !ws_split_view(s, ws_node_refv(node, WS_F_b), &b))
        return s->why ? FALSE : ws_split_give_up(s, "a product of other than tiles");
    const guint k = a.turned ? a.rows : a.cols, columns = d.cols;
    g_autofree gboolean *along_n = g_new0(gboolean, columns + 1),
                        *along_k = g_new0(gboolean, k + 1);
    WsCuts n = { 0 }, of_k = { 0 };
    ws_split_marks(d.col_cuts, d.col0, columns, along_n);
    ws_split_marks(b.turned ? b.col_cuts : b.row_cuts, b.turned ? b.col0 : b.row0, columns,
                   along_n);
    ws_split_marks(a.turned ? a.row_cuts : a.col_cuts, a.turned ? a.row0 : a.col0, k, along_k);
    ws_split_marks(b.turned ? b.row_cuts : b.col_cuts, b.turned ? b.row0 : b.col0, k, along_k);
    if (!ws_split_cuts(along_n, columns, MAX(d.col0, 0), &n) ||
        !ws_split_cuts(along_k, k, MAX(a.turned ? a.row0 : a.col0, 0), &of_k))
        return ws_split_give_up(s, "a product in too many parts");
    const gboolean guard = n.n * of_k.n > 1 && ws_node_has(node, WS_F_when);
    WsJson *parts = guard ? ws_json_list() : list;
    for (guint i = 0; i < n.n * of_k.n && !s->why; i++) {
        /* all of K for one part of the columns, then the next */
        const guint x = i / of_k.n, z = i % of_k.n, col = n.at[x], m = n.at[x + 1] - col;
        const guint at = of_k.at[z], depth = of_k.at[z + 1] - at;
        g_autofree char *acc = ws_split_sub(s, &d, 0, d.rows, col, m);
        g_autofree char *left = a.turned ? ws_split_sub(s, &a, at, depth, 0, a.cols)
                                         : ws_split_sub(s, &a, 0, a.rows, at, depth);
        g_autofree char *right = b.turned ? ws_split_sub(s, &b, at, depth, col, m)
                                          : ws_split_sub(s, &b, col, m, at, depth);
        WsJson *step = copy_of(node, i);
        with(step, node, WS_F_keyword, ws_json_text(acc ? acc : ""));
        with(step, node, WS_F_a, ws_json_text(left ? left : ""));
        with(step, node, WS_F_b, ws_json_text(right ? right : ""));
        if (z)
            with(step, node, WS_F_first, ws_json_bool(FALSE));
        if (i + 1 < n.n * of_k.n)
            with(step, node, WS_F_open, ws_json_bool(TRUE));
        if (guard)
            with(step, node, WS_F_when, NULL);
        ws_json_add(parts, step);
    }
    if (guard)
        guarded(node, parts, list);
    return s->why == NULL;
}

/* --- any step ----------------------------------------------------------------------------------*/

static gboolean in_parts(const WsSplit *s, const char *name)
{
    for (guint i = 0; i < s->p->n_buffers; i++) {
        if (!strcmp(s->p->buffer[i].name, name))
            return s->rows[i].n > 1 || s->cols[i].n > 1;
    }
    return ws_split_of_name(s, name) != NULL;
}

/* A step of another kind may name nothing that is in parts. */
static gboolean untouched(WsSplit *s, const WsNode *node)
{
    guint n;
    const WsFieldRow *row = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const WsValue *v = &node->value[i];
        const gboolean one = v->kind == WS_VALUE_REF;
        if (node->kind == WS_STEP_RAW && v->kind != WS_VALUE_NONE && row[i].field != WS_F_keyword)
            return ws_split_give_up(s, "a raw step");
        for (guint k = 0; k < (one ? 1 : v->kind == WS_VALUE_LIST ? v->n : 0); k++) {
            const WsValue *at = one ? v : &v->item[k];
            if (at->kind == WS_VALUE_REF && in_parts(s, at->ref->name))
                return ws_split_give_up(s, "%s with %s", ws_node_kind_keyword(node->kind),
                                        at->ref->name);
        }
        if (one || v->kind != WS_VALUE_TEXT || row[i].kind != WS_FIELD_NAME)
            continue;
        if (in_parts(s, v->text))
            return ws_split_give_up(s, "%s with %s", ws_node_kind_keyword(node->kind), v->text);
    }
    return TRUE;
}

static gboolean other(WsSplit *s, const WsNode *node, WsJson *list)
{
    static const WsFieldId inside[] = { WS_F_do, WS_F_then, WS_F_else };
    WsJson *step = ws_json_of_node(node);
    for (guint i = 0; i < G_N_ELEMENTS(inside); i++) {
        if (!ws_node_has(node, inside[i]))
            continue;
        WsJson *steps = ws_split_steps(s, node, inside[i]);
        with(step, node, inside[i], steps ? steps : ws_json_list());
    }
    ws_json_add(list, step);
    return s->why == NULL && untouched(s, node);
}

static gboolean compute(WsSplit *s, const WsNode *node, WsJson *list)
{
    WsJson *statements = ws_split_statements(s, ws_node_get(node, WS_F_keyword));
    if (!statements)
        return FALSE;
    WsJson *step = ws_json_of_node(node);
    ws_json_add(list, with(step, node, WS_F_keyword, statements));
    return TRUE;
}

static gboolean one(WsSplit *s, const WsNode *node, WsJson *list)
{
    static const struct {
        WsNodeKind kind;
        WsFieldId value, buffer;
    } moves[] = {
        { WS_STEP_LOAD, WS_F_COUNT, WS_F_into },
        { WS_STEP_STORE, WS_F_COUNT, WS_F_from },
        { WS_STEP_WRITE, WS_F_keyword, WS_F_to },
        { WS_STEP_READ, WS_F_keyword, WS_F_from },
    };
    for (guint i = 0; i < G_N_ELEMENTS(moves); i++) {
        if (node->kind == moves[i].kind)
            return move(s, node, moves[i].value, moves[i].buffer, list);
    }
    if (node->kind == WS_STEP_MMA)
        return mma(s, node, list);
    return node->kind == WS_STEP_COMPUTE ? compute(s, node, list) : other(s, node, list);
}

WsJson *ws_split_steps(WsSplit *s, const WsNode *owner, WsFieldId field)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        if (!one(s, ws_node_child(owner, field, i), list)) {
            ws_json_free(list);
            return NULL;
        }
    }
    return list;
}
