#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* cp.async, reducing TMA stores and dependent launches in Gluon. */

/* Words inside a helper of the file are placed where it is called. */
static const WsPyNode *place(const PyRead *p, const WsPyNode *at)
{
    return p->calls > 1 ? p->frame->at : at;
}

/* --- rows by cp.async --------------------------------------------------------------------------*/

/* Rows that no remark tells of: some of a tensor of their own, since which ones does not matter to
 * what is judged. */
static WsReadStep *some_rows(PyRead *p, const Val *to, const WsPyNode *at)
{
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, to->place.object);
    Val source = { .kind = VAL_PARAM, .text = ws_source_format(p->r, "%s_source", b->name) };
    const gint tensor = p->group ? py_tensor(p, &source, 2, at->line) : -1;
    if (tensor < 0)
        return NULL;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    t->dtype = g_array_index(p->r->buffers, WsReadBuffer, to->place.object).dtype;
    t->rank = 2;
    WsReadStep *s = py_step(p, WS_READ_GATHER, at);
    s->tensor = tensor;
    s->buffer = to->place;
    s->n_coord = 2;
    s->coord[0] = ws_x_name(p->r, "row");
    s->coord[1] = ws_x_int(p->r, 0);
    py_law_value(p, at, "which rows of global memory are copied");
    py_note_fetch(p, NULL, at);
    return s;
}

const Val *py_mean_CP_ROWS(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean place = a[0] && a[0]->kind == VAL_BUFFER && at->n > 2;
    if (place && p->group)
        py_meet_before(p, a[0]->place.object, TRUE, at);
    WsReadStep *s = place ? py_gather(p, a[0], at->kid[2], py_argument(at, 2, "mask"), at) : NULL;
    if (!s && place)
        s = some_rows(p, a[0], at);
    if (!s)
        return py_wrong(p, at, "rows of a tensor through pointers");
    g_ptr_array_add(p->open_gathers, s);
    return py_none(p);
}

/* Copies in another block than what is told of them may be more or fewer than stand there. */
static gboolean of_this_block(const PyRead *p)
{
    gboolean all = TRUE;
    for (guint i = 0; i < p->open_gathers->len; i++)
        all &= p->to && g_ptr_array_find(p->to, p->open_gathers->pdata[i], NULL);
    return all;
}

void py_copies_left(PyRead *p, guint before, const WsPyNode *at)
{
    if (p->open_gathers->len <= before)
        return;
    g_ptr_array_set_size(p->open_gathers, before);
    py_unread(p, at, "copies in a block that no group or arrival in it holds");
}

/* An arrival is written with its copies: between them and it stands nothing that waits, signals or
 * is not known. */
static gboolean at_once(const PyRead *p)
{
    guint first;
    if (!p->to || !g_ptr_array_find(p->to, p->open_gathers->pdata[0], &first))
        return FALSE;
    for (guint i = first; i < p->to->len; i++) {
        const WsReadStep *s = p->to->pdata[i];
        const gboolean quiet = s->kind == WS_READ_GATHER || s->kind == WS_READ_COMPUTE ||
                               s->kind == WS_READ_READ || s->kind == WS_READ_LET ||
                               s->kind == WS_READ_ADVANCE ||
                               (s->kind == WS_READ_SYNC && s->implied);
        if (!quiet)
            return FALSE;
    }
    return TRUE;
}

/* An arrival of every thread when its copies so far are done: those not yet told. */
const Val *py_mean_CP_ARRIVE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean counts = !a[1] || py_number(a[1], 1);
    if (!a[0] || a[0]->kind != VAL_BARRIER || counts || !p->open_gathers->len || !of_this_block(p))
        return py_wrong(p, at, "an arrival for copies that is not of the kind that counts threads");
    if (!at_once(p))
        return py_wrong(p, at, "an arrival for copies with other steps between them and it");
    for (guint i = 0; i < p->open_gathers->len; i++)
        ((WsReadStep *)g_ptr_array_index(p->open_gathers, i))->barrier = a[0]->place;
    g_ptr_array_set_size(p->open_gathers, 0);
    return py_none(p);
}

/* Load groups of a design are one gather each: groups of n gathers are counted n times. */
const Val *py_mean_CP_COMMIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 n = p->open_gathers->len;
    const gboolean here = of_this_block(p);
    g_ptr_array_set_size(p->open_gathers, 0);
    if (n < 1 || !here || (p->copies_of_group && p->copies_of_group != n)) {
        p->copies_of_group = -1;
        return py_wrong(p, at, "a group of other many copies than the ones before");
    }
    p->copies_of_group = n;
    return py_none(p);
}

const Val *py_mean_CP_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 n = a[0] ? py_number(a[0], -1) : 0;
    if (!p->group || n < 0)
        return py_wrong(p, at, "a wait for a number of copies that is not known");
    if (p->open_gathers->len) /* it waits for groups, and they are in none yet */
        py_wrong(p, at, "a wait after copies that no group holds");
    py_step(p, WS_READ_LOAD_WAIT, at)->n = n;
    if (p->own_warps > 1) { /* the compiler's, behind every such wait */
        WsReadStep *s = py_step(p, WS_READ_SYNC, at);
        s->name = "group";
        s->implied = TRUE;
        g_array_set_size(p->waited_on, 0);
    }
    return py_none(p);
}

static void count_copies(const GPtrArray *list, gint64 n)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        s->n *= s->kind == WS_READ_LOAD_WAIT ? n : 1;
        count_copies(s->body, n);
        count_copies(s->other, n);
    }
}

void py_count_copies(PyRead *p)
{
    if (p->copies_of_group > 1)
        count_copies(p->group->body, p->copies_of_group);
    if (p->copies_of_group && p->copied_at) /* what it waits for are not those groups */
        py_unread(
            p, p->copied_at,
            "rows that are copied and waited for at once beside groups of asynchronous copies");
    p->copied_at = NULL;
    p->copies_of_group = 0;
    g_ptr_array_set_size(p->open_gathers, 0);
}

typedef struct {
    gint barrier;
    const WsReadStep *load;
    gboolean expected;
} Bytes;

static void look_for_bytes(const GPtrArray *list, Bytes *b)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (!s->off && s->barrier.object == b->barrier && s->kind == WS_READ_LOAD)
            b->load = s;
        b->expected |= !s->off && s->barrier.object == b->barrier && s->kind == WS_READ_EXPECT;
        look_for_bytes(s->body, b);
        look_for_bytes(s->other, b);
    }
}

void py_finish_bytes(PyRead *p)
{
    for (guint i = 0; i < p->r->barriers->len; i++) {
        Bytes b = { .barrier = (gint)i };
        for (guint g = 0; g < p->r->groups->len; g++)
            look_for_bytes(((WsReadGroup *)g_ptr_array_index(p->r->groups, g))->body, &b);
        if (b.load && !b.expected)
            ws_source_unread(p->r, b.load->line, b.load->column, b.load->end_line,
                             ws_source_format(p->r, "who expects the bytes that come to `%s`",
                                              g_array_index(p->r->barriers, WsReadBarrier, i).name),
                             "");
    }
}

/* --- pixels ----------------------------------------------------------------------------------- */

/* An im2col copy brings a block whose rows lie where its pixels do. */
const Val *py_mean_LOAD_PIXELS(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || a[0]->kind != VAL_DESC || !a[0]->n)
        return py_wrong(p, at, "a copy of pixels whose descriptor is not known");
    Val *zero = py_val(p, VAL_TUPLE);
    zero->item = g_new0(const Val *, a[0]->n + 1);
    g_ptr_array_add(p->r->pool, zero->item);
    while (zero->n < a[0]->n)
        zero->item[zero->n++] = py_literal(p, 0);
    py_law_value(p, at, "which pixels of global memory are copied");
    return py_mean_LOAD(p, (const Val *[]){ a[0], zero, a[3], a[4], a[5] }, at);
}

/* --- stores that add ---------------------------------------------------------------------------*/

const Val *py_mean_TMA_REDUCE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsPyNode *where = place(p, at);
    if (!a[1] || a[1]->kind != VAL_NAME || !g_str_has_suffix(a[1]->text, "ADD"))
        return py_wrong(p, where, "a reducing store that does not add");
    const guint before = p->to ? p->to->len : 0;
    py_mean_STORE(p, a + 2, where); /* tensor, coordinates, buffer */
    WsReadStep *s = p->to && p->to->len > before ? g_ptr_array_index(p->to, p->to->len - 1) : NULL;
    if (s && s->kind == WS_READ_STORE) {
        s->flag = TRUE;
        g_array_index(p->r->tensors, WsReadTensor, s->tensor).reduced = TRUE;
    }
    return py_none(p);
}

/* --- launches that overlap ---------------------------------------------------------------------*/

static const Val *dependent(PyRead *p, const char *name, const WsPyNode *at)
{
    if (p->group)
        py_step(p, WS_READ_DEPENDENT, at)->name = name;
    return py_none(p);
}

const Val *py_mean_GDC_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    return dependent(p, "wait", at);
}

const Val *py_mean_GDC_LAUNCH(PyRead *p, const Val **a, const WsPyNode *at)
{
    return dependent(p, "launch_dependents", at);
}
