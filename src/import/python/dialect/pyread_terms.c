#include "import/python/dialect/pyread_terms.h"
#include "import/fit.h"
#include "import/python/pyread_law.h"

#include <string.h>

const Val *py_none(PyRead *p)
{
    return py_val(p, VAL_NONE);
}

const Val *py_wrong(PyRead *p, const WsPyNode *at, const char *what)
{
    if (!p->in_kernel || p->computing)
        return py_opaque(p);
    if (p->group)
        py_opaque_lines(p, at);
    py_unread(p, at, what);
    return py_opaque(p);
}

gint64 py_number(const Val *v, gint64 otherwise)
{
    gint64 n;
    return v && py_known(v, &n) ? n : otherwise;
}

static const WsExpr *guard(PyRead *p, const Val *pred, const WsPyNode *at)
{
    gint64 known;
    if (!pred || pred->kind == VAL_NONE || (py_known(pred, &known) && known))
        return NULL;
    const WsExpr *e = py_as_int(p, pred);
    if (!e)
        py_unread(p, at, "a predicate that is no expression over integers");
    return e;
}

/* --- barriers --------------------------------------------------------------------------------- */

/* A barrier that a step of this kernel already names. */
static gboolean in_use(const GPtrArray *list, gint barrier)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((!s->off && s->barrier.object == barrier) || in_use(s->body, barrier) ||
            in_use(s->other, barrier))
            return TRUE;
    }
    return FALSE;
}

/* Designs initialise a barrier once, before everything. */
const Val *py_mean_INIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 count = py_number(a[1], -1);
    gint64 i = 0;
    if (!py_is_barrier(a[0]))
        return py_wrong(p, at, "the initialisation of something that is no barrier");
    if (count < 1)
        return py_wrong(p, at, "the initialisation of a barrier with a count that is not known");
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, a[0]->place.object);
    if (!a[0]->place.index && b->copies > 1)
        return py_wrong(p, at, "the initialisation of several barriers as one");
    if (a[0]->place.index && (!ws_x_is(a[0]->place.index, &i) || i < 0 || i >= b->copies))
        return py_wrong(p, at, "the initialisation of a barrier that does not exist");
    if (p->probing)
        return py_none(p);
    if (b->count[i])
        return py_wrong(p, at, "a second initialisation of a barrier");
    const GPtrArray *top = p->prologue ? p->prologue : p->alone && p->group ? p->group->body : NULL;
    if (!top || p->loops->len || p->to != top || in_use(top, a[0]->place.object))
        return py_wrong(p, at, "the initialisation of a barrier that is not at the beginning");
    b->count[i] = count;
    return py_none(p);
}

/* What comes behind it would be a new barrier. */
const Val *py_mean_INVALIDATE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!py_is_barrier(a[0]))
        return py_wrong(p, at, "the end of something that is no barrier");
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, a[0]->place.object);
    gint64 i = -1;
    if (a[0]->place.index)
        ws_x_is(a[0]->place.index, &i);
    for (gint64 k = 0; k < b->copies; k++)
        if (!b->count[k] && (i < 0 || i == k))
            return py_wrong(p, at, "the end of a barrier that was not initialised");
    const gboolean early =
        p->loops->len || !p->group ||
        (p->epilogue ? p->to != p->epilogue : !p->alone || p->to != p->group->body);
    if (early)
        return py_wrong(p, at, "a barrier that ends before the kernel does");
    b->ended = TRUE;
    return py_none(p);
}

/* A barrier array without index is its first slot. */
static WsPlace slot_of(PyRead *p, const Val *v)
{
    WsPlace place = v->place;
    if (!place.index && g_array_index(p->r->barriers, WsReadBarrier, place.object).copies > 1)
        place.index = ws_x_int(p->r, 0);
    return place;
}

static gboolean waited_on(const PyRead *p, gint barrier)
{
    for (guint i = 0; i < p->waited_on->len; i++)
        if (g_array_index(p->waited_on, gint, i) == barrier)
            return TRUE;
    return FALSE;
}

/* Since the group met last: barriers it waited for, buffers it read and wrote. */
#define READ_SINCE(buffer)  ((buffer) + (1 << 20))
#define WROTE_SINCE(buffer) ((buffer) + (1 << 21))

static void note_since(PyRead *p, gint what)
{
    if (!waited_on(p, what))
        g_array_append_val(p->waited_on, what);
}

void py_have_met(PyRead *p)
{
    p->dirty = p->waited = FALSE;
    g_array_set_size(p->waited_on, 0);
}

/* Accesses of all threads before what one thread does: the compiler puts a barrier between. */
static WsReadStep *settle_group(PyRead *p, const WsPyNode *at, gboolean also_waits)
{
    if (!p->group || !(p->dirty || (also_waits && p->waited)))
        return NULL;
    p->dirty = p->waited = FALSE;
    g_array_set_size(p->waited_on, 0);
    WsReadStep *s = py_step(p, WS_READ_SYNC, at);
    s->name = "group";
    s->implied = TRUE;
    return s;
}

/* A barrier of the compiler that orders nothing but waits: dropped again where one thread does all.
 */
static void meet_for_waits(PyRead *p, const WsPyNode *at)
{
    if (p->dirty || p->own_warps <= 1)
        return;
    WsReadStep *s = py_step(p, WS_READ_SYNC, at);
    s->name = "group";
    s->flag = s->implied = TRUE;
    g_array_set_size(p->waited_on, 0);
}

/* Between accesses to the same buffer of which one writes the compiler puts a barrier. */
void py_meet_before(PyRead *p, gint buffer, gboolean writes, const WsPyNode *at)
{
    if (waited_on(p, WROTE_SINCE(buffer)) || (writes && waited_on(p, READ_SINCE(buffer)))) {
        p->dirty = TRUE;
        settle_group(p, at, FALSE);
    }
    note_since(p, writes ? WROTE_SINCE(buffer) : READ_SINCE(buffer));
}

/* --- proxies: within a partition the compiler puts fences between plain accesses and copies or
 * products of the same buffer; between partitions they are the author's. */

void py_touched(PyRead *p, gint buffer)
{
    for (guint i = 0; i < p->generic->len; i++)
        if (g_array_index(p->generic, gint, i) == buffer)
            return;
    g_array_append_val(p->generic, buffer);
}

static void fence_for(PyRead *p, const Val *buffer, const WsPyNode *at)
{
    if (!p->group || p->from == WS_IMPORT_TLE || p->amd || !buffer || buffer->kind != VAL_BUFFER)
        return;
    for (guint i = 0; i < p->generic->len; i++) {
        if (g_array_index(p->generic, gint, i) != buffer->place.object)
            continue;
        WsReadStep *fence = py_step(p, WS_READ_FENCE, at);
        fence->name = "async";
        fence->implied = TRUE;
        p->dirty = TRUE;
        settle_group(p, at, FALSE);
        g_array_set_size(p->generic, 0);
        return;
    }
}

static WsReadStep *at_barrier(PyRead *p, WsReadKind kind, const Val *barrier, const Val *pred,
                              const WsPyNode *at)
{
    if (g_array_index(p->r->barriers, WsReadBarrier, barrier->place.object).ended)
        py_wrong(p, at, "what is done with a barrier that has ended");
    WsReadStep *s = py_step(p, kind, at);
    s->barrier = slot_of(p, barrier);
    s->when = guard(p, pred, at);
    s->n = 1;
    return s;
}

/* A parity that is put together, as of one quotient where it is one. */
static const WsExpr *one_quotient(PyRead *p, const WsExpr *phase)
{
    WsAffine f;
    gint64 two;
    if (p->probing || phase->op != WS_EXPR_MOD || !ws_x_is(phase->arg[1], &two) || two != 2 ||
        !ws_expr_affine(phase->arg[0], &f))
        return phase;
    const gboolean several = f.n > 1;
    ws_affine_clear(&f);
    const WsExpr *one = several ? ws_fit(p->r, phase) : phase;
    return py_is_parity(one) ? one : phase;
}

const Val *py_mean_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group)
        return py_wrong(p, at, "a wait outside of the partitions");
    const WsExpr *phase = a[1] ? py_as_int(p, a[1]) : NULL;
    if (!py_is_barrier(a[0]) || !phase)
        return py_wrong(p, at, "a wait whose barrier or phase is not known");
    phase = one_quotient(p, phase);
    if (!py_phase_fits(p))
        return py_wrong(p, at, "a phase of a count that may be below 0");
    if (!p->probing && !py_is_parity(phase))
        return py_wrong(p, at, "a parity that may be something else than 0 and 1");
    WsReadStep *s = at_barrier(p, WS_READ_WAIT, a[0], a[2], at);
    s->parity = phase;
    note_since(p, a[0]->place.object);
    return py_none(p);
}

const Val *py_mean_EXPECT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 bytes = py_number(a[1], -1);
    if (!p->group || !py_is_barrier(a[0]) || bytes < 0)
        return py_wrong(p, at, "an expect whose barrier or number of bytes is not known");
    if (waited_on(p, a[0]->place.object)) { /* its memory is read by waits and written now */
        meet_for_waits(p, at);
        settle_group(p, at, FALSE);
    }
    at_barrier(p, WS_READ_EXPECT, a[0], a[2], at)->n = bytes;
    return py_none(p);
}

/* Triton lets the warps of a partition meet before its first thread arrives, so an arrival that
 * counts for all threads orders what each of them did, as an arrival of each of them would. */
static void count_arrivals(const PyRead *p, WsReadStep *s, gint64 n)
{
    const gint64 threads = 32 * MAX(p->group->warps, 1);
    s->flag = threads > 32 && n >= threads && n % threads == 0;
    s->n = s->flag ? n / threads : MAX(n, 1);
}

const Val *py_mean_ARRIVE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group || !py_is_barrier(a[0]))
        return py_wrong(p, at, "an arrival on something that is no barrier");
    if (a[1] && py_number(a[1], -1) < 1)
        return py_wrong(p, at, "an arrival whose count is not known");
    meet_for_waits(p, at);
    settle_group(p, at, FALSE);
    count_arrivals(p, at_barrier(p, WS_READ_ARRIVE, a[0], a[2], at), py_number(a[1], 1));
    return py_none(p);
}

/* Each thread arrives `n` times and orders what it did itself: nobody meets before. */
const Val *py_arrive_each(PyRead *p, const Val *barrier, gint64 n, const WsPyNode *at)
{
    WsReadStep *s = at_barrier(p, WS_READ_ARRIVE, barrier, NULL, at);
    s->flag = TRUE;
    s->n = n;
    return py_none(p);
}

const Val *py_mean_SYNC(PyRead *p, const Val **a, const WsPyNode *at)
{
    p->dirty = TRUE;
    WsReadStep *s = settle_group(p, at, TRUE);
    if (s)
        s->implied = FALSE;
    return py_none(p);
}

const Val *py_mean_FENCE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (p->group)
        py_step(p, WS_READ_FENCE, at)->name = "async";
    g_array_set_size(p->generic, 0);
    return py_none(p);
}

/* --- copies ----------------------------------------------------------------------------------- */

static gboolean coordinates(PyRead *p, WsReadStep *s, const Val *coord)
{
    if (!coord || coord->kind != VAL_TUPLE || coord->n > 5)
        return FALSE;
    s->n_coord = coord->n;
    for (guint i = 0; i < coord->n; i++)
        if (!(s->coord[i] = py_as_int(p, coord->item[i])))
            return FALSE;
    return TRUE;
}

static WsReadStep *transfer(PyRead *p, WsReadKind kind, const Val *desc, const Val *coord,
                            const Val *buffer, const WsPyNode *at)
{
    const gint tensor = py_tensor(p, desc, 0, at->line);
    if (!p->group || tensor < 0 || !buffer || buffer->kind != VAL_BUFFER)
        return NULL;
    WsReadStep *s = py_step(p, kind, at);
    s->tensor = tensor;
    s->buffer = buffer->place;
    if (!coordinates(p, s, coord)) {
        s->off = TRUE;
        return NULL;
    }
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    const char *dtype = g_array_index(p->r->buffers, WsReadBuffer, buffer->place.object).dtype;
    t->rank = MAX(t->rank, s->n_coord);
    if (!t->dtype || (!strcmp(dtype, "tf32") && !strcmp(t->dtype, "f32")))
        t->dtype = dtype;
    return s;
}

const Val *py_mean_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (py_is_barrier(a[2]) &&
        g_array_index(p->r->barriers, WsReadBarrier, a[2]->place.object).ended)
        py_wrong(p, at, "what is done with a barrier that has ended");
    py_need_block(p, a[0], a[3], at);
    fence_for(p, a[3], at);
    settle_group(p, at, FALSE); /* what all threads read before is not overwritten under them */
    WsReadStep *s = py_is_barrier(a[2]) ? transfer(p, WS_READ_LOAD, a[0], a[1], a[3], at) : NULL;
    if (!s)
        return py_wrong(p, at, "a copy whose tensor, coordinates, barrier or buffer is not known");
    g_array_index(p->r->tensors, WsReadTensor, s->tensor).fills = s->buffer.object + 1;
    s->barrier = slot_of(p, a[2]);
    s->when = guard(p, a[4], at);
    return py_none(p);
}

const Val *py_mean_STORE(PyRead *p, const Val **a, const WsPyNode *at)
{
    fence_for(p, a[2], at);
    settle_group(p, at, FALSE);
    WsReadStep *s = transfer(p, WS_READ_STORE, a[0], a[1], a[2], at);
    if (!s)
        return py_wrong(p, at, "a store whose tensor, coordinates or buffer is not known");
    g_array_index(p->r->tensors, WsReadTensor, s->tensor).written = TRUE;
    return py_none(p);
}

const Val *py_mean_STORE_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean half = !a[1] || py_number(a[1], 0);
    if (!p->group || (a[0] && py_number(a[0], -1) < 0) || (a[1] && py_number(a[1], -1) < 0))
        return py_wrong(p, at, "a wait for a number of stores that is not known");
    WsReadStep *s = py_step(p, WS_READ_STORE_WAIT, at);
    s->n = py_number(a[0], 0);
    s->flag = !half;
    p->waited = TRUE;
    return py_none(p);
}

const Val *py_mean_WRITE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group || !a[0] || (a[0]->kind != VAL_BUFFER && a[0]->kind != VAL_REMOTE) || !a[1])
        return py_wrong(p, at, "a store to something that is no buffer");
    const WsExpr *cta = a[0]->kind == VAL_REMOTE ? a[0]->e : NULL;
    if (a[1]->kind == VAL_CLAIM && !cta)
        return py_claim_store(p, a[0], a[1], at);
    Val to = *a[0];
    if (!to.rows)
        py_extents(p, &to);
    if (p->waited)
        settle_group(p, at, TRUE);
    gint value = a[1]->kind == VAL_TILE ? a[1]->index : -1;
    Val unknown = *a[1]; /* of the buffer's type, then */
    const char *dtype = g_array_index(p->r->buffers, WsReadBuffer, to.place.object).dtype;
    if (unknown.kind == VAL_OPAQUE && (*dtype == 'i' || *dtype == 'u'))
        unknown.dtype = dtype;
    if (value < 0)
        value = py_hold(p, "stored", &unknown, at, to.rows, to.cols);
    if (value < 0)
        return py_wrong(p, at, "a store of something that is no tile");
    py_convert_for(p, dtype, at);
    if (!cta)
        py_meet_before(p, to.place.object, TRUE, at);
    WsReadStep *s = py_step(p, WS_READ_WRITE, at);
    s->value = value;
    s->text = a[1]->kind == VAL_TILE ? a[1]->text : NULL;
    s->buffer = to.place;
    s->cta = cta;
    p->dirty = TRUE;
    if (!cta)
        py_touched(p, to.place.object);
    return py_none(p);
}

/* --- matrix */

static gboolean operand(PyRead *p, const Val *v, const char *name, WsPlace *place, gint64 *rows,
                        gint64 *cols, const WsPyNode *at)
{
    if (v && v->kind == VAL_BUFFER) {
        Val full = *v;
        if (!full.rows)
            py_extents(p, &full);
        *place = full.place;
        *rows = full.place.transposed ? full.cols : full.rows;
        *cols = full.place.transposed ? full.rows : full.cols;
        return TRUE;
    }
    if (v && v->kind == VAL_MATH && v->rows * v->cols > 1) { /* p.to(…): computed for it */
        Val *held = py_val(p, VAL_TILE);
        held->index = py_hold_at(p, name, v, at);
        held->made = p->clock;
        held->rows = v->rows;
        held->cols = v->cols;
        v = held->index >= 0 ? held : NULL;
    }
    if (!v || v->kind != VAL_TILE)
        return FALSE;
    *place = (WsPlace){ .object = v->index, .views = v->text, .in_value = TRUE };
    *rows = v->rows;
    *cols = v->cols;
    return TRUE;
}

/* Products take float32 in shared memory as tf32: there are no others. */
static void as_tf32(PyRead *p, const Val *operand)
{
    if (!operand || operand->kind != VAL_BUFFER)
        return;
    WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, operand->place.object);
    if (strcmp(b->dtype, "f32"))
        return;
    for (guint i = 0; i < p->r->tensors->len; i++) {
        WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, i);
        if (t->fills == operand->place.object + 1)
            t->dtype = "tf32";
    }
    b->dtype = "tf32";
}

static void mark_accumulator(PyRead *p, gint value)
{
    g_array_index(p->group->values, WsReadValue, value).accumulator = TRUE;
}

const Val *py_mean_MMA(PyRead *p, const Val **a, const WsPyNode *at)
{
    WsPlace left, right;
    gint64 m, n, k, k2, first;
    if (!p->group || !operand(p, a[0], "operand", &left, &m, &k, at) ||
        !operand(p, a[1], "operand_b", &right, &k2, &n, at))
        return py_wrong(p, at, "a product whose operands are not known");
    if (p->amd) /* operand b has its columns as rows */
        n = k2;
    as_tf32(p, a[0]);
    as_tf32(p, a[1]);
    fence_for(p, a[0], at);
    fence_for(p, a[1], at);
    const WsExpr *use = a[3] ? py_as_int(p, a[3]) : ws_x_int(p->r, 1);
    const Val *acc = a[2];
    gboolean zero = acc && acc->kind == VAL_ZERO;
    gint value = zero || (acc && acc->kind == VAL_TILE) ? acc->index : -1;
    if (acc && acc->kind == VAL_MATH && p->hint && p->whole == at) /* its start is computed */
        value = py_hold(p, p->hint, acc, at, m, n);
    else if (acc && acc->kind == VAL_MATH)
        value = py_hold_at(p, "acc", acc, at);
    const gboolean again = zero && value >= 0 && py_times_of(p, value) > acc->made;
    if (again) { /* another product has used the zeros: its sum is elsewhere */
        acc = NULL;
        use = ws_x_int(p->r, 0);
        value = -1;
    }
    if (value < 0) {
        value = py_value_for(p, "acc", at, "f32", m, n);
        zero = zero || !acc || acc->kind != VAL_OPAQUE;
    }
    mark_accumulator(p, value);
    if (!p->amd && p->from != WS_IMPORT_TLE)
        py_step(p, WS_READ_FENCE, at)->name = "mma";
    WsReadStep *s = py_step(p, WS_READ_MMA, at);
    py_set(p, s, value);
    s->a = left;
    s->b = right;
    s->b.transposed = !right.transposed; /* the design writes b with the contraction last */
    s->e = use ? ws_x_op(p->r, WS_EXPR_NOT, use, NULL) : NULL;
    if (s->e && s->e->op == WS_EXPR_NOT && s->e->arg[0]->n_args == 2) { /* !(k > 0) */
        static const WsExprOp other[][2] = {
            { WS_EXPR_GT, WS_EXPR_LE }, { WS_EXPR_NE, WS_EXPR_EQ }, { WS_EXPR_GE, WS_EXPR_LT },
            { WS_EXPR_EQ, WS_EXPR_NE }, { WS_EXPR_LT, WS_EXPR_GE }, { WS_EXPR_LE, WS_EXPR_GT }
        };
        for (guint i = 0; i < G_N_ELEMENTS(other); i++)
            if (s->e->arg[0]->op == other[i][0]) {
                const WsExpr *c = s->e->arg[0];
                s->e = ws_x_op(p->r, other[i][1], ws_x_own(p->r, ws_expr_ref(c->arg[0])),
                               ws_x_own(p->r, ws_expr_ref(c->arg[1])));
                break;
            }
    }
    if (zero && ws_x_is(s->e, &first) && !first && acc && acc->step) {
        /* the first product after the zeros; in a branch, the other path reads them */
        if (acc->depth == p->loops->len && g_ptr_array_find(p->to, acc->step, NULL))
            s->e = ws_x_int(p->r, 1);
        else
            acc->step->off = FALSE;
    }
    gint64 async = 0;
    if (!p->amd && !(a[6] && py_known(a[6], &async) && async))
        py_step(p, WS_READ_MMA_WAIT, at)->n = 0;
    Val *v = py_val(p, VAL_TILE);
    v->depth = async && p->from != WS_IMPORT_TLE ? ++p->products : 0;
    v->index = value;
    v->rows = m;
    v->cols = n;
    return v;
}

#define WGMMA_MOST 7

/* What a wait hands on is the accumulator behind it. */
static const Val *waited_for(PyRead *p, const Val *v)
{
    if (v->kind != VAL_TILE && v->kind != VAL_TUPLE)
        return v;
    Val *own = py_val(p, v->kind);
    *own = *v;
    if (v->kind == VAL_TILE) {
        own->depth = v->depth > p->products_done ? v->depth : 0;
        return own;
    }
    own->item = g_new0(const Val *, v->n + 1);
    g_ptr_array_add(p->r->pool, own->item);
    for (guint i = 0; i < v->n; i++)
        own->item[i] = waited_for(p, v->item[i]);
    return own;
}

const Val *py_mean_MMA_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group || (a[0] && py_number(a[0], -1) < 0))
        return py_wrong(p, at, "a wait for a number of products that is not known");
    const gint64 n = MAX(py_number(a[0], 0), 0);
    if (n < WGMMA_MOST) { /* the instruction leaves no more in flight: no wait */
        py_step(p, WS_READ_MMA_WAIT, at)->n = n;
        p->products_done = MAX(p->products_done, p->products - MIN((guint)n, p->products));
    }
    if (a[1] && a[1]->kind == VAL_TUPLE && a[1]->n == 1)
        return waited_for(p, a[1]->item[0]);
    return a[1] ? waited_for(p, a[1]) : py_none(p);
}

void py_look_at_product(PyRead *p, const Val *v, const WsPyNode *at)
{
    if (v->kind == VAL_TILE && v->depth && p->products_done >= v->depth && !p->handing &&
        p->in_kernel)
        py_unread(p, at, "an accumulator as it was before a wait that does not hand it on");
}

const Val *py_store_away(PyRead *p, const Val *value, const WsPyNode *at)
{
    if (p->group && value)
        py_look(p, value, at);
    py_law_value(p, at, "where a store through pointers goes in global memory");
    return py_none(p);
}

gboolean py_given(const Val *v)
{
    return v && v->kind != VAL_NONE;
}

gboolean py_is_barrier(const Val *v)
{
    return v && v->kind == VAL_BARRIER;
}

gboolean py_is_named(const Val *v, const char *word)
{
    return v && v->kind == VAL_NAME && g_str_has_suffix(v->text, word);
}

WsReadBarrier *py_barrier_of(PyRead *p, const Val *v)
{
    return &g_array_index(p->r->barriers, WsReadBarrier, v->place.object);
}
