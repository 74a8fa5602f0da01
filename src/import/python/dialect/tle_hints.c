#include "import/python/dialect/py_spot.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Loops with `num_stages`: what their products take is loaded that many stages deep, the first
 * stages before the loop, each round one of a later round. The rings, their barriers, the waits and
 * the meeting behind a product are made here, and proved as if they were drawn. */

/* --- which loads are staged ------------------------------------------------------------------- */

static gboolean is_call_of(const WsPyNode *node, const char *word)
{
    return node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_ATTR &&
           !strcmp(node->kid[0]->text, word);
}

/* How often the name stands in the node, and how often as an operand of tl.dot. */
static void count_uses(const WsPyNode *node, const char *name, guint *all, guint *operands)
{
    if (node->kind == WS_PY_ATTR && !strcmp(node->text, "dtype"))
        return; /* takes no element */
    *all += node->kind == WS_PY_NAME && !strcmp(node->text, name);
    for (guint i = 1; is_call_of(node, "dot") && i < MIN(node->n, 3u); i++) {
        const WsPyNode *x = node->kid[i];
        if (is_call_of(x, "trans") && x->n == 2)
            x = x->kid[1];
        *operands += x->kind == WS_PY_NAME && !strcmp(x->text, name);
    }
    for (guint i = 0; i < node->n; i++)
        count_uses(node->kid[i], name, all, operands);
}

/* name = ….load(…) */
static gboolean is_load(const WsPyNode *s)
{
    return s->kind == WS_PY_ASSIGN && s->n == 2 && s->kid[0]->kind == WS_PY_NAME &&
           is_call_of(s->kid[1], "load");
}

/* How often the name stands in loops whose rounds set it by a load before products, and nothing
 * else, take it: each has a tile of its own by that name. */
static guint in_own_loops(const WsPyNode *node, const char *name)
{
    const WsPyNode *body = node->kind == WS_PY_FOR ? node->kid[2] : NULL;
    for (guint i = 0; body && i < body->n; i++) {
        const WsPyNode *s = body->kid[i];
        guint all = 0, operands = 0;
        count_uses(s, name, &all, &operands);
        if (!all)
            continue;
        if (!is_load(s) || strcmp(s->kid[0]->text, name) != 0 || all != 1)
            break; /* taken before it is set, or in a block */
        count_uses(node, name, &all, &operands);
        if (operands && all - 1 == operands + 1)
            return operands + 1;
        break;
    }
    guint sum = 0;
    for (guint i = 0; i < node->n; i++)
        sum += in_own_loops(node->kid[i], name);
    return sum;
}

/* Such a load where nothing but products takes the name: set once in the function, or once in each
 * loop that names it. */
static gboolean is_staged(const PyRead *p, const WsPyNode *s)
{
    if (!is_load(s))
        return FALSE;
    const WsPyNode *function = p->frame->function ? p->frame->function : p->kernel;
    const char *name = s->kid[0]->text;
    guint all = 0, operands = 0;
    count_uses(function, name, &all, &operands);
    return operands > 0 && (all == operands + 1 || all == in_own_loops(function, name));
}

/* How a load is staged. */
typedef struct {
    gint64 stages;
    const WsPyNode *loop; /* whose body it stands in; NULL: no round repeats it */
    gboolean maybe;       /* in a branch of it: not all rounds have it */
} Depth;

static void note(PyRead *p, const WsPyNode *load, gint64 stages, const WsPyNode *loop,
                 gboolean maybe)
{
    Depth *d = g_new0(Depth, 1);
    g_ptr_array_add(p->r->pool, d);
    *d = (Depth){ stages, loop, maybe };
    g_hash_table_insert(p->staged, (gpointer)load, d);
}

static gboolean stage_block(PyRead *p, const WsPyNode *body, const WsPyNode *loop, gint64 stages,
                            gboolean maybe)
{
    gboolean any = FALSE;
    for (guint i = 0; body && i < body->n; i++) {
        const WsPyNode *s = body->kid[i];
        if (s->kind == WS_PY_WITH) /* groups of a hint, too */
            any = stage_block(p, s->kid[s->n - 1], loop, stages, maybe) || any;
        for (guint k = 1; s->kind == WS_PY_IF && k < s->n; k++)
            any = stage_block(p, s->kid[k], loop, stages, TRUE) || any;
        if (!is_staged(p, s))
            continue;
        note(p, s->kid[1], stages, loop, maybe);
        any = any || !maybe;
    }
    return any;
}

gboolean py_stage_loop(PyRead *p, const WsPyNode *loop, gint64 stages)
{
    return stage_block(p, loop->kid[2], loop, stages, FALSE);
}

/* All threads meet at the end of a round, before what it took is filled anew. */
void py_end_staged(PyRead *p, const WsPyNode *loop)
{
    GHashTableIter it;
    gpointer depth;
    if (!p->staged) /* PTX */
        return;
    g_hash_table_iter_init(&it, p->staged);
    while (g_hash_table_iter_next(&it, NULL, &depth))
        if (((const Depth *)depth)->loop == loop) {
            py_mean_SYNC(p, NULL, loop);
            return;
        }
}

void py_stage_once(PyRead *p, const WsPyNode *assign)
{
    if (p->from == WS_IMPORT_TLE && p->group && p->to == p->group->body && !p->loops->len &&
        is_staged(p, assign))
        note(p, assign->kid[1], 1, NULL, FALSE);
}

static const OpenLoop *innermost(const PyRead *p)
{
    return p->loops->len ? &g_array_index(p->loops, OpenLoop, p->loops->len - 1) : NULL;
}

/* Rounds that are walked one by one have a stage each, and nothing runs ahead. */
gint64 py_stages_of(const PyRead *p, const WsPyNode *load)
{
    const Depth *d = g_hash_table_lookup(p->staged, load);
    const OpenLoop *l = innermost(p);
    return !d || d->maybe ? 0 : l && l->node == d->loop ? d->stages : 1;
}

gboolean py_stages_maybe(const PyRead *p, const WsPyNode *load)
{
    const Depth *d = g_hash_table_lookup(p->staged, load);
    return d && d->maybe;
}

/* --- rings ------------------------------------------------------------------------------------ */

typedef struct {
    const Val *buffer, *barrier;
    const WsExpr *use;
} Stage;

static const Val *kept(PyRead *p, const char *what, const WsPyNode *at, const Val *v)
{
    g_autofree char *site = py_site_of(p, at), *key = g_strconcat(what, " ", site, NULL);
    if (v)
        g_hash_table_insert(p->allocated, g_steal_pointer(&key), (gpointer)v);
    return v ? v : g_hash_table_lookup(p->allocated, key);
}

static const Val *new_ring(PyRead *p, gint64 stages, gint64 rows, gint64 cols, const char *dtype,
                           const WsPyNode *at)
{
    const Val *known = kept(p, "ring", at, NULL);
    if (known)
        return known;
    WsReadBuffer b = { .name = ws_source_name(
                           p->r, ws_source_format(p->r, "%s_stages", p->hint ? p->hint : "tile")),
                       .dtype = dtype,
                       .rank = 3,
                       .shape = { stages, rows, cols },
                       .indexed = TRUE,
                       .line = at->line,
                       .made = p->r->steps->len,
                       .span = -1 };
    g_array_append_val(p->r->buffers, b);
    Val *v = py_val(p, VAL_BUFFER);
    v->place.object = (gint)p->r->buffers->len - 1;
    v->place.views = "";
    py_compilers(p, v);
    return kept(p, "ring", at, v);
}

static const Val *new_full(PyRead *p, gint64 stages, gint64 arrivals, const WsPyNode *at)
{
    const Val *known = kept(p, "full", at, NULL);
    if (known)
        return known;
    WsReadBarrier b = { .name = ws_source_name(
                            p->r, ws_source_format(p->r, "%s_full", p->hint ? p->hint : "tile")),
                        .copies = stages,
                        .line = at->line,
                        .said = TRUE };
    b.count = g_new0(gint64, stages);
    b.ready = g_new0(gint, stages);
    for (gint64 i = 0; i < stages; i++)
        b.count[i] = arrivals;
    g_array_append_val(p->r->barriers, b);
    Val *v = py_val(p, VAL_BARRIER);
    v->place.object = (gint)p->r->barriers->len - 1;
    py_compilers(p, v);
    return kept(p, "full", at, v);
}

/* The stage of this round in the ring of the load, with a barrier where something arrives; FALSE:
 * it is too deep. */
static gboolean stage_of(PyRead *p, gint64 stages, gint64 rows, gint64 cols, gint tensor,
                         gint64 arrivals, const WsPyNode *at, Stage *stage)
{
    const OpenLoop *l = innermost(p);
    if (tensor < 0 || stages < 1 || (stages > 1 && !l->count) || stages > 64 || rows < 1 ||
        cols < 1)
        return FALSE;
    const char *dtype = py_type_of(p, tensor, "bf16", at);
    const Val *ring = new_ring(p, stages, rows, cols, dtype, at);
    Val *buffer = py_val(p, VAL_BUFFER), *barrier = py_val(p, VAL_BARRIER);
    *buffer = *ring;
    if (arrivals)
        *barrier = *new_full(p, stages, arrivals, at);
    stage->use = l ? ws_x_total(p->r, l->name) : ws_x_int(p->r, 0);
    buffer->rows = rows;
    buffer->cols = cols;
    buffer->place.use = barrier->place.use = stage->use;
    buffer->place.index = barrier->place.index = ws_x_mod(p->r, stage->use, stages);
    stage->buffer = buffer;
    stage->barrier = barrier;
    return TRUE;
}

typedef struct {
    const PyRead *p;
    gboolean all;
} Names;

/* What a round knows before it: numbers of the launch, of the tile and of rounds around it. */
static void is_known_ahead(const WsExpr *node, gpointer data)
{
    Names *d = data;
    const OpenLoop *own = innermost(d->p);
    gboolean known = node->op != WS_EXPR_NAME && node->op != WS_EXPR_TOTAL;
    if (node->op == WS_EXPR_TOTAL)
        known = own && !strcmp(node->name, own->name);
    if (node->op == WS_EXPR_NAME)
        known = g_str_has_prefix(node->name, PY_PID) || !strcmp(node->name, "row") ||
                (d->p->mesh && !strcmp(node->name, "cta")) || !g_strcmp0(node->name, d->p->tile) ||
                !g_strcmp0(node->name, d->p->tile_loop);
    for (guint i = 0; i < d->p->loops->len && node->op == WS_EXPR_NAME; i++)
        known |= !strcmp(node->name, g_array_index(d->p->loops, OpenLoop, i).name);
    for (guint i = 0; i < d->p->r->sizes->len && node->op == WS_EXPR_NAME; i++)
        known |= !strcmp(node->name, d->p->r->sizes->pdata[i]);
    d->all &= known;
}

/* The step of a later round is done in this one: where it goes may hang on the round alone. */
static const Val *runs_ahead(PyRead *p, WsReadStep *s, gint64 stages, const Stage *stage,
                             const WsPyNode *at)
{
    Names d = { p, TRUE };
    for (guint k = 0; k < s->n_coord && stages > 1; k++)
        ws_expr_visit(s->coord[k], is_known_ahead, &d);
    if (!p->probing && !d.all)
        return py_wrong(p, at, "a staged load from a place that only its own round knows");
    s->ahead = stages - 1;
    const WsExpr *turn = ws_x_op(p->r, WS_EXPR_DIV, stage->use, ws_x_int(p->r, stages));
    const Val *wait[] = { stage->barrier, py_int(p, ws_x_mod(p->r, turn, 2)), NULL, NULL };
    py_mean_WAIT(p, wait, at);
    return stage->buffer;
}

static WsReadStep *last_of(const PyRead *p, WsReadKind kind)
{
    for (guint i = p->to->len; i-- > 0;) {
        WsReadStep *s = g_ptr_array_index(p->to, i);
        if (s->kind == kind && !s->off)
            return s;
    }
    return NULL;
}

const Val *py_staged_desc(PyRead *p, const Val *desc, const Val *coord, const WsPyNode *at)
{
    const gint64 stages = py_stages_of(p, at);
    const gint tensor = p->group ? py_tensor(p, desc, 0, at->line) : -1;
    Stage stage;
    if (desc->kind != VAL_DESC || desc->n != 2 ||
        !stage_of(p, stages, py_number(desc->item[0], 0), py_number(desc->item[1], 0), tensor, 1,
                  at, &stage))
        return py_wrong(p, at, "a staged load whose descriptor or block is not known");
    const guint before = p->to->len;
    py_mean_LOAD(p, (const Val *[]){ desc, coord, stage.barrier, stage.buffer, NULL }, at);
    WsReadStep *s = p->to->len > before ? last_of(p, WS_READ_LOAD) : NULL;
    if (!s || !g_ptr_array_find(p->to, s, NULL) || s->buffer.object != stage.buffer->place.object)
        return py_opaque(p);
    return runs_ahead(p, s, stages, &stage, at);
}

const Val *py_staged_pointers(PyRead *p, const Val *pointer, const Val *mask, const Val *other,
                              const WsPyNode *at)
{
    const gboolean maybe = py_stages_maybe(p, at);
    const gint64 stages = maybe ? 1 : py_stages_of(p, at);
    const gint tensor = p->group ? py_tensor(p, pointer->item[0], 0, at->line) : -1;
    gint64 n;
    const char *why = NULL;
    PyPick pick;
    const gboolean zero = !other || other->kind == VAL_NONE || (py_known(other, &n) && !n) ||
                          (other->kind == VAL_REAL && !strcmp(other->text, "0.0"));
    Stage stage;
    const gboolean picked = py_picked(p, pointer, mask, &pick, &why);
    if (!zero || pointer->rows < 2 ||
        !stage_of(p, stages, picked ? pick.rows : pointer->rows, picked ? pick.cols : pointer->cols,
                  tensor, maybe ? 0 : p->group->warps * 32, at, &stage))
        return py_wrong(p, at, "a staged load that is no tile, or leaves out with another than 0");
    gboolean more = FALSE;
    if (picked && why)
        return py_wrong(p, at, why);
    WsReadStep *s = picked ? py_at_tensor(p, WS_READ_GATHER, tensor, pick.coord, pick.n, at)
                           : py_through(p, WS_READ_GATHER, pointer, mask, at, &more);
    if (s && more)
        s->off = TRUE;
    if (!s || more)
        return py_wrong(p, at, "a staged load that is not shown to lie in its tensor");
    const guint rows = s->n_coord - 2;
    if (!picked)
        s->coord[rows] = ws_x_op(p->r, WS_EXPR_ADD, s->coord[rows], ws_x_name(p->r, "row"));
    s->buffer = stage.buffer->place;
    if (!maybe)
        s->barrier = stage.barrier->place;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    t->dtype = t->dtype ? t->dtype : "bf16";
    const Val *tile = maybe ? stage.buffer : runs_ahead(p, s, stages, &stage, at);
    if (maybe) { /* not all rounds would complete a phase */
        py_wait_for_rows(p, at);
        py_mean_SYNC(p, NULL, at);
    }
    if (!picked || tile->kind != VAL_BUFFER)
        return tile;
    Val *v = py_val(p, VAL_BUFFER);
    *v = *tile;
    v->place.transposed = v->place.transposed != pick.turned; /* extents are those of its rows */
    return v;
}

/* --- products --------------------------------------------------------------------------------- */

/* tl.trans(x) of an operand: the step takes it turned. */
const Val *py_mean_TLE_TRANS(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || a[0]->kind != VAL_BUFFER)
        return py_wrong(p, at, "a transposed tile that is no operand of a product alone");
    Val *v = py_val(p, VAL_BUFFER);
    *v = *a[0];
    v->place.transposed = !v->place.transposed;
    return v;
}

/* What begins anew has a value of its own: acc + tl.dot(a, b) still needs acc. */
static const char *name_of_product(PyRead *p, const WsPyNode *at)
{
    const Val *known = kept(p, "product", at, NULL);
    if (!known) {
        Val *v = py_val(p, VAL_STRING);
        v->text = ws_source_format(p->r, "product_%u", p->products_named++);
        known = kept(p, "product", at, v);
    }
    return known->text;
}

/* tl.dot(a, b, acc): a product that is waited for; what is in registers goes where products find
 * it. */
const Val *py_mean_TLE_DOT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *left = a[0], *right = a[1];
    if (!p->group || !left || !right)
        return py_wrong(p, at, "a product whose operands are not known");
    if (left->kind == VAL_POINTER || right->kind == VAL_POINTER || left->kind == VAL_OPAQUE ||
        right->kind == VAL_OPAQUE)
        return py_wrong(p, at, "a product whose operands are not known");
    if (right->kind != VAL_BUFFER)
        right = py_laid_down(p, right, at);
    if (!right)
        return py_wrong(p, at, "a product whose right side is no tile");
    if (right != a[1]) /* what all threads put there, before it is multiplied */
        py_meet_before(p, right->place.object, FALSE, at);
    const gboolean fresh = !a[2] || a[2]->kind == VAL_NONE;
    const char *hint = p->hint;
    p->hint = fresh ? name_of_product(p, at) : hint;
    const Val *b[8] = { left, right, a[2], a[3], NULL, a[5], NULL, NULL };
    const Val *acc = py_mean_TLE_MMA(p, b, at);
    p->hint = hint;
    if (acc->kind == VAL_OPAQUE)
        return acc;
    const Val *wait[] = { py_literal(p, 0), acc };
    acc = py_mean_TLE_MMA_WAIT(p, wait, at);
    return acc;
}
