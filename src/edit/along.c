/* Compound moves: what a step may not leave behind where it goes. A product has the waits that fill
 * its operands, the mma_wait that ends it and the arrivals that give its operands back; a load has
 * the wait for its room, and in a pipe its acquire and commit. Of these go along what would come on
 * the wrong side of it. Which barrier means what is read from who signals, awaits and tells it;
 * whether the design is right then is for the check to say. */
#include "edit/edit.h"

#include <string.h>

/* --- what a step touches, waits for and tells ---------------------------------------------------
 */

/* Whether the step reads (or writes) the buffer of that name. */
static gboolean touches(const WsNode *step, gboolean writes, const char *buffer)
{
    return ws_edit_touch(step, buffer, writes) != NULL;
}

static const char *ref_name(const WsNode *step, WsFieldId field)
{
    const WsRef *ref = ws_node_refv(step, field);
    return ref != NULL ? ref->name : NULL;
}

static const char *barrier_of(const WsNode *step)
{
    return ref_name(step, WS_F_keyword);
}

/* Uses that are written alike; a step without one has its loop's. */
static gboolean same_use(const WsNode *a, const WsNode *b)
{
    const WsExpr *x = ws_node_expr(a, WS_F_use), *y = ws_node_expr(b, WS_F_use);
    g_autofree char *p = x != NULL ? ws_expr_print(x) : NULL;
    g_autofree char *q = y != NULL ? ws_expr_print(y) : NULL;
    return p == NULL || q == NULL || strcmp(p, q) == 0;
}

static gint64 ahead_of(const WsNode *step)
{
    return ws_node_int(step, WS_F_ahead, 0);
}

/* --- lists of steps ------------------------------------------------------------------------------
 */

typedef struct {
    const WsNode *owner;
    WsFieldId list;
    guint n;
} List;

static const WsNode *step_at(const List *l, guint i)
{
    return ws_node_child(l->owner, l->list, i);
}

typedef gboolean (*Found)(const List *l, gconstpointer data);

/* Whether `found` holds for a list of steps at or below a node. */
static gboolean any_list(const WsNode *node, Found found, gconstpointer data)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        const List l = { node, rows[i].field, ws_node_n_children(node, rows[i].field) };
        if (rows[i].kind == WS_FIELD_STEPS && found(&l, data))
            return TRUE;
        for (guint c = 0; c < l.n; c++)
            if (any_list(step_at(&l, c), found, data))
                return TRUE;
    }
    return FALSE;
}

typedef struct {
    const char *barrier, *buffer;
    gboolean written; /* told by who has written it; else by who has read it */
} Told;

/* A transfer that credits the barrier with the buffer. */
static gboolean is_signalled(const List *l, gconstpointer data)
{
    const Told *t = data;
    for (guint i = 0; i < l->n; i++)
        if (g_strcmp0(ref_name(step_at(l, i), WS_F_signal), t->barrier) == 0 &&
            touches(step_at(l, i), t->written, t->buffer))
            return TRUE;
    return FALSE;
}

/* An arrival in the list of a step that has touched the buffer. */
static gboolean is_told(const List *l, gconstpointer data)
{
    const Told *t = data;
    gboolean touched = FALSE, arrives = FALSE;
    for (guint i = 0; i < l->n; i++) {
        touched |= touches(step_at(l, i), t->written, t->buffer);
        arrives |= step_at(l, i)->kind == WS_STEP_ARRIVE &&
                   g_strcmp0(barrier_of(step_at(l, i)), t->barrier) == 0;
    }
    return touched && arrives;
}

/* --- the waits before a step ---------------------------------------------------------------------
 */

/* Whether one step of a list begins before another one of the same round. */
static gboolean earlier(const List *l, guint a, guint b)
{
    const gint64 x = ahead_of(step_at(l, a)), y = ahead_of(step_at(l, b));
    return x != y ? x > y : a < b;
}

static gboolean names_pipe(const WsNode *step, WsNodeKind kind, const WsNode *pipe)
{
    if (step->kind != kind || pipe == NULL)
        return FALSE;
    const char *name = kind == WS_STEP_WAIT ? barrier_of(step) : ws_node_text(step, WS_F_keyword);
    return g_strcmp0(name, ws_node_name(pipe)) == 0;
}

/* The acquire (of who writes) or the wait (of who reads) before a step that touches a field of a
 * pipe: the last one. G_MAXUINT: none. */
static guint pipe_opening(const WsDesign *design, const List *l, guint index, const char *buffer,
                          gboolean written)
{
    const WsNode *pipe = ws_edit_pipe_of(design, buffer);
    guint best = G_MAXUINT;
    for (guint i = 0; pipe != NULL && i < l->n; i++)
        if (names_pipe(step_at(l, i), written ? WS_STEP_WAIT : WS_STEP_ACQUIRE, pipe) &&
            earlier(l, i, index) && same_use(step_at(l, i), step_at(l, index)) &&
            (best == G_MAXUINT || earlier(l, best, i)))
            best = i;
    return best;
}

/* The wait of the list that opens the buffer to a step: the last one before it that a transfer
 * into the buffer signals, else one that is told behind the other side's step. G_MAXUINT: none. */
static guint opening_wait(const WsDesign *design, const List *l, guint index, const char *buffer,
                          gboolean written)
{
    static const Found kinds[] = { is_signalled, is_told };
    const guint piped = pipe_opening(design, l, index, buffer, written);
    if (piped != G_MAXUINT)
        return piped;
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        guint best = G_MAXUINT;
        for (guint i = 0; i < l->n; i++) {
            const WsNode *wait = step_at(l, i);
            if (wait->kind != WS_STEP_WAIT || !earlier(l, i, index) ||
                !same_use(wait, step_at(l, index)) || (best != G_MAXUINT && !earlier(l, best, i)))
                continue;
            const Told told = { barrier_of(wait), buffer, written };
            if (any_list(ws_design_root(design), kinds[k], &told))
                best = i;
        }
        if (best != G_MAXUINT)
            return best;
    }
    return G_MAXUINT;
}

static gboolean is_buffer(const WsDesign *design, const char *name)
{
    const WsNode *object = name != NULL ? ws_edit_object(design, name) : NULL;
    return object != NULL && object->kind == WS_NODE_BUFFER;
}

/* The buffer of a pipe that a step fills, or NULL. */
static const char *fills_field(const WsDesign *design, const WsNode *step, const WsNode **pipe)
{
    static const WsFieldId into[] = { WS_F_into, WS_F_to };
    for (guint i = 0; i < G_N_ELEMENTS(into); i++) {
        const char *buffer = ref_name(step, into[i]);
        *pipe =
            buffer != NULL && touches(step, TRUE, buffer) ? ws_edit_pipe_of(design, buffer) : NULL;
        if (*pipe != NULL)
            return buffer;
    }
    return NULL;
}

/* Whether two steps of a list fill fields of a pipe behind the same acquire. */
static gboolean same_filling(const WsDesign *design, const List *l, guint a, guint b)
{
    const WsNode *x, *y;
    const char *p = fills_field(design, step_at(l, a), &x),
               *q = fills_field(design, step_at(l, b), &y);
    const guint opening = p != NULL && x == y ? pipe_opening(design, l, a, p, FALSE) : G_MAXUINT;
    return opening != G_MAXUINT && pipe_opening(design, l, b, q, FALSE) == opening;
}

/* Whether two steps signal the same completion: their bytes are expected together; or fill one use
 * of a pipe. */
static gboolean same_transaction(const WsDesign *design, const List *l, guint i, guint k)
{
    const WsNode *a = step_at(l, i), *b = step_at(l, k);
    const char *signal = ref_name(a, WS_F_signal);
    return (signal != NULL && g_strcmp0(ref_name(b, WS_F_signal), signal) == 0 && same_use(a, b)) ||
           same_filling(design, l, i, k);
}

/* Whether two products belong to one commit group: those between are left open. */
static gboolean same_group(const List *l, guint a, guint b)
{
    for (guint i = MIN(a, b); i < MAX(a, b); i++)
        if (step_at(l, i)->kind == WS_STEP_MMA && !ws_node_bool(step_at(l, i), WS_F_open, FALSE))
            return FALSE;
    return step_at(l, a)->kind == WS_STEP_MMA && step_at(l, b)->kind == WS_STEP_MMA;
}

/* Whether another step of the list, that stays, needs that wait, too: it touches the buffer
 * likewise, or belongs to the same transaction. What belongs `together` does not stay. */
static gboolean shared(const WsDesign *design, const List *l, guint index, const char *buffer,
                       gboolean written, gboolean together)
{
    for (guint i = 0; i < l->n; i++) {
        const gboolean same = same_transaction(design, l, index, i);
        if (i != index && !(together && (same || same_group(l, index, i))) &&
            (same || touches(step_at(l, i), !written, buffer)))
            return TRUE;
    }
    return FALSE;
}

/* --- the wait behind a product, and what is given back ------------------------------------------
 */

typedef enum { STEP_OTHER, STEP_ENDS_ALL, STEP_HIDES } StepSort;

/* What a step says to somebody who looks for products that are under way: a wait for all of them
 * ends the search; products, other waits and bodies of their own hide what is beyond. */
static StepSort sort_of(const WsNode *step)
{
    if (step->kind == WS_STEP_MMA_WAIT)
        return ws_node_int(step, WS_F_keyword, -1) == 0 ? STEP_ENDS_ALL : STEP_HIDES;
    return step->kind == WS_STEP_MMA || ws_edit_list_field(step) != WS_F_COUNT ? STEP_HIDES
                                                                               : STEP_OTHER;
}

/* The first step that is not STEP_OTHER on the way from one place towards another; NULL: none. */
static const WsNode *next_told(const List *l, gint from, gint to, gint by)
{
    for (gint i = from; i != to; i += by)
        if (sort_of(step_at(l, (guint)i)) != STEP_OTHER)
            return step_at(l, (guint)i);
    return NULL;
}

guint64 ws_edit_own_wait(const WsDesign *design, const WsNode *product)
{
    List l;
    guint index;
    l.owner = ws_design_owner(design, product, &l.list, &index);
    if (l.owner == NULL || product->kind != WS_STEP_MMA)
        return 0;
    l.n = ws_node_n_children(l.owner, l.list);
    const gint n = (gint)l.n, at = (gint)index;
    const WsNode *wait = next_told(&l, at + 1, n, 1);
    const WsNode *former = next_told(&l, at - 1, -1, -1);
    if (former == NULL && l.owner->kind == WS_STEP_FOR) /* the round before */
        former = next_told(&l, n - 1, at, -1);
    return wait != NULL && sort_of(wait) == STEP_ENDS_ALL &&
                   (former == NULL || sort_of(former) == STEP_ENDS_ALL)
               ? wait->identity
               : 0;
}

typedef struct {
    const WsDesign *design;
    const char *barrier, *buffer;
} Room;

/* Whether who writes the buffer waits on the barrier for its room. */
static gboolean is_room(const List *l, gconstpointer data)
{
    const Room *r = data;
    for (guint i = 0; i < l->n; i++) {
        if (!touches(step_at(l, i), TRUE, r->buffer))
            continue;
        const guint wait = opening_wait(r->design, l, i, r->buffer, FALSE);
        if (wait != G_MAXUINT && g_strcmp0(barrier_of(step_at(l, wait)), r->barrier) == 0)
            return TRUE;
    }
    return FALSE;
}

/* --- what goes along -----------------------------------------------------------------------------
 */

typedef struct {
    const WsDesign *design;
    const guint64 *nodes;
    guint n;
    WsEditSpot spot;
    gint ahead;
    WsAlong *out;
} Going;

static void take(const Going *g, GArray *list, const WsNode *step)
{
    GArray *const both[] = { g->out->before, g->out->behind };
    for (guint i = 0; i < g->n; i++)
        if (g->nodes[i] == step->identity)
            return;
    for (guint k = 0; k < G_N_ELEMENTS(both); k++)
        for (guint i = 0; i < both[k]->len; i++)
            if (g_array_index(both[k], guint64, i) == step->identity)
                return;
    g_array_append_val(list, step->identity);
}

/* Whether the step at `i`, left where it is, begins before the one at `index` where that goes. */
static gboolean stays_before(const Going *g, const List *l, guint i, guint index)
{
    const gint64 x = ahead_of(step_at(l, i)), y = ahead_of(step_at(l, index)) + g->ahead;
    return x != y ? x > y : i < g->spot.index;
}

static void take_openings(const Going *g, const List *l, guint index, const char *buffer,
                          gboolean written, gboolean away)
{
    const guint wait = opening_wait(g->design, l, index, buffer, written);
    if (wait == G_MAXUINT)
        return;
    const gboolean own = !shared(g->design, l, index, buffer, written, away || g->ahead != 0);
    /* Back to a later place it comes along if it was for this step alone and stood right there. */
    const gboolean close =
        own && wait + 1 == index && ahead_of(step_at(l, wait)) == ahead_of(step_at(l, index));
    if (away ? own : close || !stays_before(g, l, wait, index))
        take(g, g->out->before, step_at(l, wait));
}

static void take_endings(const Going *g, const List *l, guint index, gboolean away)
{
    const WsNode *product = step_at(l, index);
    const guint64 own = ws_edit_own_wait(g->design, product);
    const char *const operand[] = { ref_name(product, WS_F_a), ref_name(product, WS_F_b) };
    for (guint i = 0; own != 0 && i < l->n; i++) {
        const WsNode *step = step_at(l, i);
        gboolean mine = step->identity == own;
        for (guint k = 0; k < G_N_ELEMENTS(operand); k++) {
            const Room room = { g->design, barrier_of(step), operand[k] };
            const gboolean given =
                names_pipe(step, WS_STEP_RELEASE, ws_edit_pipe_of(g->design, operand[k])) ||
                (step->kind == WS_STEP_ARRIVE && is_buffer(g->design, operand[k]) &&
                 any_list(ws_design_root(g->design), is_room, &room));
            mine |= given && earlier(l, index, i) && same_use(step, product);
        }
        if (mine && (away || stays_before(g, l, i, index)))
            take(g, g->out->behind, step);
    }
}

/* In another round or list the products of one commit group stay together, with what opens their
 * operands. */
static void take_products(const Going *g, const List *l, guint index, gboolean away)
{
    static const WsFieldId operand[] = { WS_F_a, WS_F_b };
    const gboolean together = away || g->ahead != 0;
    for (guint i = 0; i < l->n; i++) {
        if (i != index && !(together && same_group(l, index, i)))
            continue;
        for (guint k = 0; k < G_N_ELEMENTS(operand); k++)
            if (is_buffer(g->design, ref_name(step_at(l, i), operand[k])))
                take_openings(g, l, i, ref_name(step_at(l, i), operand[k]), TRUE, away);
    }
    for (guint i = 0; together && i < l->n; i++)
        if (i != index && same_group(l, index, i))
            take(g, i < index ? g->out->before : g->out->behind, step_at(l, i));
}

/* The commit behind the fillings of a pipe that belong to the step at `index`; G_MAXUINT: none, or
 * one of them is no transfer: what it writes is made by steps that stay. */
static guint commit_of(const Going *g, const List *l, guint index)
{
    const WsNode *pipe;
    const char *buffer = fills_field(g->design, step_at(l, index), &pipe);
    const guint opening =
        buffer != NULL ? pipe_opening(g->design, l, index, buffer, FALSE) : G_MAXUINT;
    guint commit = G_MAXUINT;
    for (guint i = 0; opening != G_MAXUINT && i < l->n; i++) {
        if (same_filling(g->design, l, index, i) &&
            ws_step_info(step_at(l, i)->kind)->engine != WS_STEP_ENGINE_TRANSFER)
            return G_MAXUINT;
        if (names_pipe(step_at(l, i), WS_STEP_COMMIT, pipe) && earlier(l, index, i) &&
            same_use(step_at(l, i), step_at(l, opening)) &&
            (commit == G_MAXUINT || earlier(l, i, commit)))
            commit = i;
    }
    return commit;
}

/* In another round or list the transfers of one transaction stay together: a barrier expects their
 * bytes by one arrival, a pipe is filled between one acquire and its commit. */
static void take_transfer(const Going *g, const List *l, guint index, gboolean away)
{
    const WsNode *pipe;
    const gboolean together = away || g->ahead != 0;
    const guint commit = commit_of(g, l, index);
    if (commit == G_MAXUINT && fills_field(g->design, step_at(l, index), &pipe) != NULL)
        return;
    for (guint i = 0; i < l->n; i++)
        if ((i == index || (together && same_transaction(g->design, l, index, i))) &&
            is_buffer(g->design, ref_name(step_at(l, i), WS_F_into)))
            take_openings(g, l, i, ref_name(step_at(l, i), WS_F_into), FALSE, away);
    for (guint i = 0; together && i < l->n; i++)
        if (i != index && same_transaction(g->design, l, index, i))
            take(g, i < index ? g->out->before : g->out->behind, step_at(l, i));
    if (commit != G_MAXUINT && (together || stays_before(g, l, commit, index)))
        take(g, g->out->behind, step_at(l, commit));
}

static void take_of(const Going *g, const WsNode *step)
{
    List l;
    guint index;
    l.owner = ws_design_owner(g->design, step, &l.list, &index);
    if (l.owner == NULL || !ws_node_kind_is_step(step->kind))
        return;
    l.n = ws_node_n_children(l.owner, l.list);
    const gboolean away = l.owner->identity != g->spot.owner || l.list != g->spot.list;
    if (!away && g->ahead == 0 && (g->spot.index == index || g->spot.index == index + 1))
        return; /* where it is */
    if (step->kind == WS_STEP_MMA) {
        take_products(g, &l, index, away);
        take_endings(g, &l, index, away);
    } else if (ws_step_info(step->kind)->engine == WS_STEP_ENGINE_TRANSFER) {
        take_transfer(g, &l, index, away);
    }
}

WsAlong *ws_edit_along(const WsDesign *design, const guint64 *nodes, guint n, WsEditSpot spot,
                       gint ahead)
{
    WsAlong *along = g_new0(WsAlong, 1);
    along->before = g_array_new(FALSE, FALSE, sizeof(guint64));
    along->behind = g_array_new(FALSE, FALSE, sizeof(guint64));
    const Going g = { design, nodes, n, spot, ahead, along };
    for (guint i = 0; i < n; i++) {
        const WsNode *step = ws_design_by_identity(design, nodes[i]);
        if (step != NULL)
            take_of(&g, step);
    }
    return along;
}

void ws_along_free(WsAlong *along)
{
    if (along == NULL)
        return;
    g_array_unref(along->before);
    g_array_unref(along->behind);
    g_free(along);
}
