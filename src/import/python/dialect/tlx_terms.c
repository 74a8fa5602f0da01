#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"
#include "model/design.h"

#include <string.h>

/* What TLX means where it differs from Gluon: barriers are initialised where they are made, buffers
 * have their number behind their shape, products are always asynchronous, coordinates come behind
 * the buffer. */

/* --- objects -----------------------------------------------------------------------------------*/

static const WsReadBuffer *buffer_of(const PyRead *p, gint i)
{
    return &g_array_index(p->r->buffers, WsReadBuffer, i);
}

/* All of what was allocated, which lies over nothing else itself. */
static gboolean is_whole_buffer(const PyRead *p, const Val *v)
{
    return v->kind == VAL_BUFFER && !v->place.index && !*v->place.views && !v->place.transposed &&
           !v->depth && !buffer_of(p, v->place.object)->over;
}

static gint64 bytes_of(const PyRead *p, gint i)
{
    const WsReadBuffer *b = buffer_of(p, i);
    gint64 all = py_dtype_bytes(b->dtype);
    for (guint k = 0; k < b->rank; k++)
        if (__builtin_mul_overflow(all, b->shape[k], &all))
            return G_MAXINT64;
    return all;
}

const Val *py_mean_TLX_ALLOCATE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 copies = a[2] ? py_number(a[2], 0) : 0;
    const gboolean elsewhere =
        py_given(a[3]) &&
        !(a[3]->kind == VAL_NAME && g_str_has_suffix(a[3]->text, "storage_kind.smem"));
    if (elsewhere)
        return py_wrong(p, at, "an allocation that is not of shared memory");
    if (py_given(a[4]) && !is_whole_buffer(p, a[4]))
        return py_wrong(p, at, "an allocation over something that is no buffer of its own");
    if (!a[0] || a[0]->kind != VAL_TUPLE || !a[0]->n || a[0]->n > 3 || copies < 1)
        return py_wrong(p, at, "an allocation whose shape or number is not known");
    Val *shape = py_val(p, VAL_TUPLE);
    shape->item = g_new0(const Val *, a[0]->n + 2);
    g_ptr_array_add(p->r->pool, shape->item);
    shape->item[shape->n++] = py_literal(p, copies);
    for (guint i = 0; i < a[0]->n; i++)
        shape->item[shape->n++] = a[0]->item[i];
    const Val *v = py_mean_ALLOCATE(p, (const Val *[]){ a[1], shape, NULL, NULL }, at);
    if (!py_given(a[4]) || v->kind != VAL_BUFFER)
        return v;
    if (bytes_of(p, v->place.object) > bytes_of(p, a[4]->place.object))
        return py_wrong(p, at, "an allocation that is larger than what it lies over");
    g_array_index(p->r->buffers, WsReadBuffer, v->place.object).over = a[4]->place.object + 1;
    return v;
}

const Val *py_mean_TLX_BARRIERS(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 count = a[1] ? py_number(a[1], -1) : 1;
    const gboolean early = p->prologue && p->to == p->prologue && !p->loops->len;
    if (count < 1)
        return py_wrong(p, at, "barriers whose count is not known");
    if (!early && !(p->alone && p->group && p->to == p->group->body && !p->loops->len))
        return py_wrong(p, at, "barriers that are not made at the beginning");
    const Val *v = py_mean_ALLOCATE_BARRIER(p, a, at);
    if (v->kind != VAL_BARRIER)
        return v;
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, v->place.object);
    for (gint64 i = 0; i < b->copies; i++)
        b->count[i] = count;
    return v;
}

const Val *py_mean_TLX_TRANSPOSE(PyRead *p, const Val **a, const WsPyNode *at)
{
    Val *order = py_val(p, VAL_TUPLE);
    order->item = g_new0(const Val *, 2);
    g_ptr_array_add(p->r->pool, order->item);
    order->item[order->n++] = py_literal(p, 1);
    order->item[order->n++] = py_literal(p, 0);
    return py_mean_PERMUTE(p, (const Val *[]){ a[0], a[1] ? a[1] : order, NULL, NULL, NULL }, at);
}

const Val *py_mean_TLX_SLICE(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_box(p, a, at);
}

/* The element type of a buffer or of what a descriptor describes. */
const Val *py_mean_TLX_DTYPE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint tensor =
        a[0] && (a[0]->kind == VAL_DESC || a[0]->kind == VAL_TENSOR || a[0]->kind == VAL_PARAM)
            ? py_tensor(p, a[0], 0, at->line)
            : -1;
    const char *dtype = a[0] && a[0]->kind == VAL_BUFFER
                            ? g_array_index(p->r->buffers, WsReadBuffer, a[0]->place.object).dtype
                        : tensor >= 0 ? g_array_index(p->r->tensors, WsReadTensor, tensor).dtype
                                      : NULL;
    Val *v = py_val(p, VAL_NAME);
    v->text =
        dtype ? ws_source_format(p->r, "triton.language.%s", py_dtype_name(dtype)) : "unknown";
    return v;
}

const Val *py_mean_TLX_SIZE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const char *dtype = a[0] && a[0]->kind == VAL_NAME ? py_dtype(a[0]->text) : NULL;
    if (!dtype && a[0] && a[0]->kind == VAL_NAME && g_str_has_prefix(a[0]->text, "unknown"))
        dtype = "bf16"; /* as buffers of no known type */
    return dtype ? py_literal(p, py_dtype_bytes(dtype)) : py_opaque(p);
}

/* Slot and parity of a count, a helper of the language: (count % n, count // n & 1). */
const Val *py_mean_TLX_TURN(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *count = a[0] ? py_as_int(p, a[0]) : NULL;
    const gint64 n = py_number(a[1], 0);
    if (!count || n < 1 || py_may_be_negative(p, count, FALSE))
        return py_wrong(p, at, "a turn of a count that is not known");
    Val *pair = py_val(p, VAL_TUPLE);
    pair->item = g_new0(const Val *, 2);
    g_ptr_array_add(p->r->pool, pair->item);
    pair->item[pair->n++] = py_int(p, ws_x_mod(p->r, count, n));
    pair->item[pair->n++] =
        py_int(p, ws_x_mod(p->r, ws_x_op(p->r, WS_EXPR_DIV, count, ws_x_int(p->r, n)), 2));
    return pair;
}

const Val *py_mean_TLX_REPLICA(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group || p->replica < 0)
        return py_wrong(p, at, "a replica outside of the tasks");
    return py_literal(p, p->replica);
}

/* --- what is done ------------------------------------------------------------------------------*/

const Val *py_mean_TLX_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_mean_LOAD(p, (const Val *[]){ a[0], a[2], a[3], a[1], a[4] }, at);
}

const Val *py_mean_TLX_STORE(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_mean_STORE(p, (const Val *[]){ a[0], a[2], a[1] }, at);
}

const Val *py_mean_TLX_DOT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *acc = py_given(a[2]) ? a[2] : NULL;
    if (py_given(a[3])) /* of Blackwell: Hopper's adds to `acc` */
        return py_wrong(p, at, "a product with a condition whether to add");
    const Val *b[8] = {
        a[0], a[1], acc, acc ? NULL : py_literal(p, 0), NULL, NULL, py_literal(p, 1), NULL
    };
    return py_mean_MMA(p, b, at);
}

const Val *py_mean_TLX_FENCE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || a[0]->kind != VAL_STRING || strcmp(a[0]->text, "\"async_shared\"") != 0)
        return py_wrong(p, at, "a fence that is not of shared memory between the proxies");
    return py_mean_FENCE(p, a, at);
}

/* Without tokens it is the copies so far; with them the same, as groups are counted in order. */
const Val *py_mean_TLX_COMMIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_mean_CP_COMMIT(p, a, at);
}

const Val *py_mean_TLX_WAIT_GROUP(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_mean_CP_WAIT(p, a, at);
}

static const Val *named(PyRead *p, WsReadKind kind, const Val **a, const WsPyNode *at)
{
    const gint64 id = py_number(a[0], -1), threads = py_number(a[1], -1);
    const char *name = p->group && id >= 0 && id < 16 && threads >= 32 && threads <= 1024
                           ? py_named_barrier(p, id, threads, at)
                           : NULL;
    if (!name)
        return py_wrong(p, at, "a named barrier whose number or threads are not known");
    py_step(p, kind, at)->name = name;
    return py_none(p);
}

const Val *py_mean_TLX_NAMED_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    return named(p, WS_READ_SYNC, a, at);
}

const Val *py_mean_TLX_NAMED_ARRIVE(PyRead *p, const Val **a, const WsPyNode *at)
{
    return named(p, WS_READ_BAR_ARRIVE, a, at);
}

/* --- tasks -------------------------------------------------------------------------------------*/

/* The call of `with tlx.async_task(…):` if that is what the statement is; NULL. */
static const WsPyNode *context_of(const WsPyNode *with, const char *word)
{
    const WsPyNode *item = with->kind == WS_PY_WITH && with->n == 2 ? with->kid[0] : NULL;
    if (!item || item->kind != WS_PY_CALL)
        return NULL;
    g_autofree char *dotted = ws_python_dotted(item->kid[0]);
    return dotted && py_ends_in(dotted, word) ? item : NULL;
}

typedef struct {
    const WsPyNode *at, *body;
    gint64 warps, replicas;
    gint64 registers; /* not read further: what the default task keeps is nobody's text */
    gboolean first;   /* it is done by the warps that the kernel began with */
    const char *name; /* NULL: none of its own */
} Task;

/* A task of TLE has a role, or a name: the producer is the task of the warps that began. */
static gboolean read_word(PyRead *p, const WsPyNode *arg, Task *t)
{
    const gboolean keyword = arg->kind == WS_PY_KEYWORD;
    const WsPyNode *word = keyword ? arg->kid[0] : arg;
    if (word->kind != WS_PY_STRING)
        return FALSE;
    if (!keyword && !strcmp(word->text, "\"default\"")) {
        t->first = TRUE;
        return TRUE;
    }
    if (p->from != WS_IMPORT_TLE)
        return FALSE;
    if (keyword && !strcmp(arg->text, "name")) {
        g_autofree char *plain = g_strdup(word->text + 1);
        plain[strcspn(plain, "\"'")] = 0;
        t->name = g_intern_string(plain);
        return ws_name_is_identifier(plain);
    }
    if (keyword && strcmp(arg->text, "role"))
        return FALSE;
    t->first = strcmp(word->text, "\"consumer\"") != 0;
    return !t->first || !strcmp(word->text, "\"producer\"") || !strcmp(word->text, "\"default\"");
}

/* FALSE: something of it is not known, which was told. */
static gboolean read_task(PyRead *p, const WsPyNode *with, Task *t)
{
    const WsPyNode *call = context_of(with, "async_task");
    *t = (Task){ .at = with, .body = with->kid[with->n - 1], .warps = 0, .replicas = 1 };
    for (guint i = 1; call && i < call->n; i++) {
        const WsPyNode *arg = call->kid[i];
        if (read_word(p, arg, t))
            continue;
        const gboolean keyword = arg->kind == WS_PY_KEYWORD;
        const gint64 n = keyword ? py_number(py_eval(p, arg->kid[0]), -1) : -1;
        gint64 *to = !keyword                          ? NULL
                     : !strcmp(arg->text, "num_warps") ? &t->warps
                     : !strcmp(arg->text, "replicate") ? &t->replicas
                     : !strcmp(arg->text, "registers") || !strcmp(arg->text, "num_regs")
                         ? &t->registers
                         : NULL;
        if (!to || n < 1) {
            py_unread(p, arg,
                      keyword ? ws_source_format(p->r, "what `%s` of a task is", arg->text)
                              : "an argument of a task");
            return FALSE;
        }
        *to = n;
    }
    if (t->first && t->warps && p->from == WS_IMPORT_TLE)
        py_unread(p, with, "warps of its own of a task that has those of the launch");
    if (t->first)
        t->warps = p->num_warps;
    if (!call || t->warps < 1 || t->warps > 32 || t->replicas > 8 ||
        (t->first && t->replicas != 1)) {
        py_unread(p, with, "statements between the tasks, or a task whose warps are not known");
        return FALSE;
    }
    return TRUE;
}

gboolean py_tasks(PyRead *p, const WsPyNode *node)
{
    const WsPyNode *call =
        p->from != WS_IMPORT_GLUON && p->in_kernel ? context_of(node, "async_tasks") : NULL;
    if (!call)
        return FALSE;
    const WsPyNode *body = node->kid[node->n - 1];
    g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(Task));
    if (call->n > 1)
        py_unread(p, call, "an option of async_tasks");
    guint first = 0;
    for (guint i = 0; i < body->n; i++) {
        Task t;
        if (body->kid[i]->kind == WS_PY_PASS || !read_task(p, body->kid[i], &t))
            continue;
        first += t.first;
        if (t.first)
            g_array_prepend_val(tasks, t);
        else
            g_array_append_val(tasks, t);
    }
    if (first != 1 || p->specialized || !p->prologue || p->loops->len || p->to != p->prologue) {
        ws_source_fail(
            p->r, node->line, node->column, "Write `with … .async_tasks():` once.",
            "tasks without a default one or a producer, or that are in a branch or a loop");
        return TRUE;
    }
    p->specialized = TRUE;
    for (guint i = 0; i < tasks->len && !*p->r->error; i++) {
        const Task *t = &g_array_index(tasks, Task, i);
        p->own_warps = t->warps;
        for (p->replica = 0; p->replica < t->replicas && !*p->r->error; p->replica++)
            py_run_task(p, t->body,
                        t->name    ? t->name
                        : t->first ? "default"
                                   : "task",
                        t->warps, 0, t->at);
    }
    p->replica = -1;
    p->own_warps = p->num_warps;
    if (!*p->r->error)
        py_behind_partitions(p);
    return TRUE;
}
