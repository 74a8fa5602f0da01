#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Tiles claimed at run time: one group adds to a counter and hands the number on through shared
 * memory, the others take it from there; whichever a round leaves in the variable of the loop
 * becomes `claim` or `take`. A claim that no loop takes is not read. */

/* atomic_add(counter, 1): the count before it. */
const Val *py_mean_COUNT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *added = py_add_to_tensor(p, "add", a[1], at);
    if (added)
        return added;
    const gboolean counter = a[0] && (a[0]->kind == VAL_PARAM || a[0]->kind == VAL_TENSOR);
    if (!p->group || !counter || py_number(a[1], 0) != 1 || (a[2] && a[2]->kind != VAL_NONE))
        return py_wrong(p, at, "an atomic operation that counts no tiles");
    py_note_count(p, a[0], at);
    return py_val(p, VAL_CLAIM);
}

const Val *py_claim_sum(PyRead *p, const char *op, const Val *a, const Val *b)
{
    const Val *claim = a->kind == VAL_CLAIM ? a : b, *grid = claim == a ? b : a;
    if (claim->kind != VAL_CLAIM)
        return NULL;
    if (strcmp(op, "+") || claim->depth || grid->kind != VAL_INT || grid->e->op != WS_EXPR_NAME ||
        strcmp(grid->e->name, PY_GRID))
        return py_opaque(p);
    Val *v = py_val(p, VAL_CLAIM);
    v->depth = 1;
    return v;
}

const Val *py_claim_store(PyRead *p, const Val *to, const Val *v, const WsPyNode *at)
{
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, to->place.object);
    if (v->depth != 1 || strcmp(b->dtype, "i32") || b->shape[b->rank - 1] != 1)
        return py_wrong(p, at, "a claimed tile that is stored where there is no single int32");
    WsReadStep *s = py_step(p, WS_READ_CLAIM, at);
    s->buffer = to->place;
    ((Val *)v)->depth = 2;
    ((Val *)v)->step = s;
    if (!p->probing)
        g_ptr_array_add(p->handed, s);
    return py_none(p);
}

gboolean py_is_next_tile(const PyRead *p, const Val *v)
{
    if (v->kind == VAL_CLAIM)
        return v->depth == 2;
    return v->kind == VAL_TILE && v->rows == 1 && v->cols == 1 && v->step && !v->text &&
           v->step->kind == WS_READ_READ && v->step->tensor < 0 &&
           !strcmp(g_array_index(p->r->buffers, WsReadBuffer, v->step->buffer.object).dtype, "i32");
}

/* Steps that hold or compute with a value. */
static guint users(const GPtrArray *list, gint value, const char *name)
{
    guint n = 0;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        n += s->value == value || s->where == value + 1 || s->expected == value + 1 ||
             s->old == value + 1 || (s->text && strstr(s->text, name));
        n += users(s->body, value, name) + users(s->other, value, name);
    }
    return n;
}

void py_take_tile(PyRead *p, const Val *v, const WsPyNode *at)
{
    if (!py_is_next_tile(p, v)) {
        py_opaque_step(p, at, "where the next tile comes from");
        return;
    }
    WsReadStep *s = v->step;
    if (v->kind == VAL_CLAIM) {
        g_ptr_array_remove(p->handed, s);
        return;
    }
    WsReadValue *held = &g_array_index(p->group->values, WsReadValue, s->value);
    held->gone = users(p->group->body, s->value, held->name) == 1;
    s->kind = WS_READ_TAKE;
    s->value = -1;
}

void py_claims_left(PyRead *p, const WsPyNode *at)
{
    for (guint i = 0; i < p->handed->len; i++) {
        WsReadStep *s = g_ptr_array_index(p->handed, i);
        s->kind = WS_READ_OPAQUE;
        s->flag = TRUE;
        py_unread(p, at, "a tile that is claimed and not gone on with");
    }
    g_ptr_array_set_size(p->handed, 0);
}
