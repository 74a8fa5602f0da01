#include "import/python/dialect/pyread_terms.h"

/* Loads of buffers into values: of this CTA, and of others of its cluster. */

/* Of this CTA, or of another one: there nothing but the source's own barriers stands before it. */
static const Val *read_of(PyRead *p, const Val *buffer, const WsExpr *cta, const WsPyNode *at)
{
    Val from = *buffer;
    if (!from.rows)
        py_extents(p, &from);
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, from.place.object);
    const Val *old = p->hint ? g_hash_table_lookup(p->frame->vars, p->hint) : NULL;
    const gboolean line = from.rows == 1 && from.cols > 1;
    if (line && old && (old->kind == VAL_TILE || old->kind == VAL_ZERO) && old->rows == from.cols &&
        old->cols == 1) { /* the variable holds one value per row */
        from.rows = from.cols;
        from.cols = 1;
    }
    const gint value = py_value_for(p, "loaded", at, b->dtype, from.rows, from.cols);
    g_array_index(p->group->values, WsReadValue, value).line = line;
    if (!cta)
        py_meet_before(p, from.place.object, FALSE, at);
    WsReadStep *s = py_step(p, WS_READ_READ, at);
    py_set(p, s, value);
    s->buffer = from.place;
    s->cta = cta;
    p->dirty = TRUE;
    if (!cta)
        py_touched(p, from.place.object);
    Val *v = py_val(p, VAL_TILE);
    v->step = s;
    v->index = value;
    v->rows = from.rows;
    v->cols = from.cols;
    return v;
}

const Val *py_mean_READ(PyRead *p, const Val **a, const WsPyNode *at)
{
    return p->group && a[0] && a[0]->kind == VAL_BUFFER
               ? read_of(p, a[0], NULL, at)
               : py_wrong(p, at, "a load from something that is no buffer");
}

const Val *py_read_remote(PyRead *p, const Val *remote, const WsPyNode *at)
{
    return p->group ? read_of(p, remote, remote->e, at)
                    : py_wrong(p, at, "a load from another CTA outside of the kernel");
}
