/* Loops begun by what runs ahead; products that ptxas does not follow. */
#include "search/normal.h"
#include "edit/edit.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tree.h"
#include "program/visit.h"
#include "search/search.h"

#include <string.h>

/* --- what runs ahead at the end of a loop ----------------------------------------------------- */

/* Counted loops whose last step runs ahead, by identity. */
static void find_ahead(const WsNode *owner, WsFieldId list, GArray *found)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    const guint n = ws_node_n_children(owner, list);
    if (owner->kind == WS_STEP_FOR && n > 0 &&
        ws_node_has(ws_node_child(owner, list, n - 1), WS_F_ahead))
        g_array_append_val(found, owner->identity);
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            find_ahead(ws_node_child(owner, list, i), inner[k], found);
}

WsDesign *ws_search_normal(const WsDesign *design, gboolean *rolled)
{
    g_autoptr(GArray) loops = g_array_new(FALSE, FALSE, sizeof(guint64));
    const WsNode *root = ws_design_root(design);
    WsDesign *now = ws_design_ref((WsDesign *)design);
    *rolled = FALSE;
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++)
        find_ahead(ws_node_child(root, WS_F_groups, i), WS_F_body, loops);
    for (guint i = 0; i < loops->len; i++) {
        g_autoptr(WsDraft) d = ws_draft_new(now);
        /* Two rounds ahead: once for each. */
        while (ws_edit_roll(d, g_array_index(loops, guint64, i))) {
            ws_design_unref(now);
            now = ws_design_ref(d->design);
            *rolled = TRUE;
        }
    }
    return now;
}

/* --- what ptxas does not follow --------------------------------------------------------------- */

static void named(const WsArray *a, gpointer data)
{
    guint64 *values = data;
    if (a->form == WS_ARRAY_VALUE && a->index < 64)
        *values |= G_GUINT64_CONSTANT(1) << a->index;
}

/* Values that an operation which is no product reads, as a set of the first 64. */
static guint64 values_read(const WsOp *op)
{
    guint64 values = 0;
    for (guint i = 0; i < op->n_math; i++)
        ws_array_visit(op->assign[i].array, named, &values);
    for (guint i = 0; i < op->n_value; i++)
        if ((op->value[i].mode & WS_MODE_READ) && op->value[i].value < 64)
            values |= G_GUINT64_CONSTANT(1) << op->value[i].value;
    return ws_op_is_product(op->kind) ? 0 : values;
}

typedef struct {
    const WsTree *loop;
    guint64 read, met; /* accumulators: read in the loop; in flight where its rounds meet */
} Loop;

static gboolean in_branch(const WsTree *t, const WsTree *loop)
{
    while (t != loop && t->kind != WS_TREE_BRANCH)
        t = t->parent;
    return t != loop;
}

typedef struct {
    const WsOp *product;
    gboolean found;
} Early;

/* A wait that ends the product while a later one stays in flight. */
static void look_for_early(const WsTree *t, gpointer data)
{
    Early *e = data;
    const WsWait *w = t->kind == WS_TREE_OP && t->op->n > 0 ? t->op->wait : NULL;
    for (guint i = 0; w && i < w->n_retired; i++)
        e->found = e->found || w->retired[i].op == e->product;
}

/* All of them over at the first wait of the round is what ptxas follows. */
static gboolean is_followed(const WsOp *product, const WsTree *loop)
{
    Early e = { product, FALSE };
    ws_tree_each(loop, look_for_early, &e);
    return !e.found && !in_branch(product->tree, loop);
}

/* A product is in flight where rounds meet if it is so before an operation that stands before it
 * (or before itself), and no loop inside has both. */
static void look(const WsTree *t, gpointer data)
{
    Loop *l = data;
    if (t->kind != WS_TREE_OP)
        return;
    l->read |= values_read(t->op);
    for (guint i = 0; i < t->op->n_flying; i++) {
        const WsOp *product = t->op->flying[i];
        if (product->index >= t->op->index && product->value[0].value < 64 &&
            ws_tree_loop_of_both(t->op, product) == l->loop && !is_followed(product, l->loop))
            l->met |= G_GUINT64_CONSTANT(1) << product->value[0].value;
    }
}

static void look_at_loop(const WsTree *t, gpointer data)
{
    gboolean *found = data;
    if (t->kind != WS_TREE_LOOP || t->unroll < 0)
        return;
    Loop l = { t, 0, 0 };
    ws_tree_each(t, look, &l);
    *found = *found || (l.met & l.read) != 0;
}

gboolean ws_search_serialises(const WsProgram *p)
{
    gboolean found = FALSE;
    for (guint a = 0; a < p->n_agents && !found; a++)
        ws_tree_each(p->agent[a].body, look_at_loop, &found);
    return found;
}

/* --- what decides how it is built --------------------------------------------------------------
 */

static void add_text(GChecksum *sum, const char *text)
{
    g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

static void add_number(GChecksum *sum, gint64 n)
{
    g_checksum_update(sum, (const guchar *)&n, sizeof n);
}

static void add_expr(GChecksum *sum, const WsExpr *e)
{
    g_autofree char *text = e ? ws_expr_print(e) : g_strdup("");
    add_text(sum, text);
}

static void add_op(GChecksum *sum, const WsOp *op)
{
    add_number(sum, op->kind);
    add_number(sum, op->n);
    for (guint i = 0; i < op->n_value; i++)
        add_number(sum, op->value[i].value);
    for (guint i = 0; i < op->n_math; i++) {
        add_number(sum, op->assign[i].value);
        add_expr(sum, op->assign[i].array ? op->assign[i].array->x : NULL);
    }
    add_expr(sum, op->mma ? op->mma->first : NULL);
}

/* Something in it does more than wait at an mbarrier, arrive at a barrier or load. */
static void matters(const WsTree *t, gpointer data)
{
    if (t->kind == WS_TREE_OP && (t->op->barrier < 0 || ws_op_waits_join(t->op->kind)))
        *(gboolean *)data = TRUE;
}

static void add_tree(GChecksum *sum, const WsTree *t)
{
    gboolean any = FALSE;
    ws_tree_each(t, matters, &any);
    if (!any)
        return;
    add_number(sum, t->kind);
    if (t->kind == WS_TREE_OP)
        add_op(sum, t->op);
    add_expr(sum, t->kind == WS_TREE_BRANCH ? t->cond : NULL);
    add_number(sum, t->kind == WS_TREE_LOOP ? t->n_cuts : 0);
    for (guint i = 0; i < t->n_kids; i++)
        add_tree(sum, t->kid[i]);
    add_number(sum, -2);
}

char *ws_search_computing(const WsProgram *p)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (guint a = 0; a < p->n_agents; a++) {
        add_number(sum, p->agent[a].warps);
        add_number(sum, p->agent[a].registers);
        add_tree(sum, p->agent[a].body);
    }
    return g_strdup(g_checksum_get_string(sum));
}
