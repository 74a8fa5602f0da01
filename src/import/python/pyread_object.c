#include "import/python/pyread_object.h"
#include "import/python/names/names.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Classes of the file as kernels use them: their objects are bundles of values that are never
 * changed, only made anew. An OBJECT has its class in `node` and in `item` pairs of a STRING with
 * the field's name and its value; n counts fields. */

#define MOST_FIELDS 64

/* Of a CLASS, or of an OBJECT of it. */
static Val *object_of(PyRead *p, const Val *class)
{
    Val *v = py_val(p, VAL_OBJECT);
    v->node = class->node;
    v->closure = class->closure;
    v->item = g_new0(const Val *, 2 * MOST_FIELDS);
    g_ptr_array_add(p->r->pool, v->item);
    return v;
}

/* NULL: no such field. */
static const Val *field_of(const Val *object, const char *field)
{
    for (guint i = 0; i < object->n; i++)
        if (!strcmp(object->item[2 * i]->text, field))
            return object->item[2 * i + 1];
    return NULL;
}

static Val *copy(PyRead *p, const Val *object)
{
    Val *v = object_of(p, object);
    v->n = object->n;
    memcpy(v->item, object->item, 2 * object->n * sizeof *object->item);
    return v;
}

void py_object_set(PyRead *p, const Val *object, const char *field, const Val *v)
{
    Val *own = (Val *)object;
    if (v && v->kind == VAL_OBJECT) /* as it is now: no object holds itself */
        v = copy(p, v);
    for (guint i = 0; i < own->n; i++)
        if (!strcmp(own->item[2 * i]->text, field)) {
            own->item[2 * i + 1] = v;
            return;
        }
    if (own->n == MOST_FIELDS)
        return;
    Val *name = py_val(p, VAL_STRING);
    name->text = ws_source_format(p->r, "%s", field);
    own->item[2 * own->n] = name;
    own->item[2 * own->n++ + 1] = v;
}

const Val *py_object_merge(PyRead *p, const Val *a, const Val *b, PyMerge merge, gpointer data)
{
    Val *v = copy(p, a);
    for (guint i = 0; i < v->n; i++) {
        const Val *other = field_of(b, v->item[2 * i]->text);
        v->item[2 * i + 1] = merge(p, data, v->item[2 * i + 1], other);
    }
    return v;
}

/* --- variables and fields of variables: "state.index" ------------------------------------------*/

const Val *py_path(PyRead *p, const char *path)
{
    const char *dot = strchr(path, '.');
    if (!dot)
        return g_hash_table_lookup(p->frame->vars, path);
    g_autofree char *name = g_strndup(path, dot - path);
    const Val *v = g_hash_table_lookup(p->frame->vars, name);
    g_auto(GStrv) field = g_strsplit(dot + 1, ".", -1);
    for (guint i = 0; v && field[i]; i++)
        v = v->kind == VAL_OBJECT ? field_of(v, field[i]) : NULL;
    return v;
}

static const Val *with(PyRead *p, const Val *object, char **field, const Val *v)
{
    if (!*field || !object || object->kind != VAL_OBJECT)
        return v;
    Val *own = copy(p, object);
    py_object_set(p, own, *field, with(p, field_of(object, *field), field + 1, v));
    return own;
}

void py_set_path(PyRead *p, const char *path, const Val *v)
{
    const char *dot = strchr(path, '.');
    if (!dot) {
        py_assign(p, path, v);
        return;
    }
    g_autofree char *base = g_strndup(path, dot - path);
    const char *name = ws_source_format(p->r, "%s", base); /* the table keeps it */
    g_auto(GStrv) field = g_strsplit(dot + 1, ".", -1);
    const Val *object = g_hash_table_lookup(p->frame->vars, name);
    if (object && object->kind == VAL_OBJECT)
        py_assign(p, name, with(p, object, field, v));
}

/* --- classes -----------------------------------------------------------------------------------*/

static const WsPyNode *method(const WsPyNode *class, const char *name)
{
    const WsPyNode *body = class->kid[0];
    for (guint i = 0; i < body->n; i++)
        if (body->kid[i]->kind == WS_PY_DEF && !strcmp(body->kid[i]->text, name))
            return body->kid[i];
    return NULL;
}

/* Arguments of a call, by parameter; `self` before them. */
static const Val *invoke(PyRead *p, const WsPyNode *f, const Val *self, GHashTable *closure,
                         const WsPyNode *at)
{
    const WsPyNode *params = f->kid[0];
    g_autofree const Val **args = g_new0(const Val *, params->n + 1);
    guint n = 0;
    if (self && params->n)
        args[n++] = self;
    py_arguments(p, f, at, n, args);
    p->closure = closure;
    return py_call(p, f, args, at);
}

/* Without `__init__` the fields in their order, or by name. */
static void fill_fields(PyRead *p, Val *object, const WsPyNode *body, const WsPyNode *at)
{
    g_autoptr(GPtrArray) fields = g_ptr_array_new();
    for (guint i = 0; i < body->n; i++)
        if (body->kid[i]->kind == WS_PY_EXPR && body->kid[i]->kid[0]->kind == WS_PY_NAME)
            g_ptr_array_add(fields, (gpointer)body->kid[i]->kid[0]->text);
    g_autofree gboolean *given = g_new0(gboolean, fields->len + 1);
    guint next = 0;
    for (guint i = 1; i < at->n; i++) {
        const WsPyNode *arg = at->kid[i];
        const gboolean keyword = arg->kind == WS_PY_KEYWORD;
        const Val *v = py_eval(p, keyword || arg->kind == WS_PY_STAR ? arg->kid[0] : arg);
        guint k = next;
        if (keyword)
            for (k = 0; k < fields->len && strcmp(fields->pdata[k], arg->text) != 0;)
                k++;
        const gboolean known = arg->kind != WS_PY_STAR && k < fields->len;
        if (known && !given[k]) {
            py_object_set(p, object, fields->pdata[k], v);
            given[k] = TRUE;
            next += !keyword;
            continue;
        }
        if (p->in_kernel)
            py_law_unread(p, arg,
                          known ? "a field that is given twice"
                                : "an argument that the class has no field for",
                          &v, 1);
        for (k = 0; k < fields->len; k++) /* any of them may be meant */
            py_object_set(p, object, fields->pdata[k], py_opaque(p));
    }
}

const Val *py_construct(PyRead *p, const Val *class, const WsPyNode *at)
{
    if (!py_plain_class(p, class->node, at))
        return py_opaque(p);
    Val *object = object_of(p, class);
    const WsPyNode *init = method(class->node, "__init__"), *body = class->node->kid[0];
    if (init) {
        const Val *outer = p->making;
        p->making = object;
        invoke(p, init, object, class->closure, at);
        p->making = outer;
        return object;
    }
    fill_fields(p, object, body, at);
    return object;
}

static gboolean is_static(const WsPyNode *f)
{
    for (guint k = 2; k < f->n; k++) {
        g_autofree char *name = py_decorator(f->kid[k]);
        if (!g_strcmp0(name, "staticmethod"))
            return TRUE;
    }
    return FALSE;
}

const Val *py_method(PyRead *p, const Val *left, const char *name, const WsPyNode *at)
{
    const WsPyNode *f = method(left->node, name);
    if (!f)
        return NULL;
    if (p->names && g_hash_table_contains(p->names->any, name)) {
        if (p->in_kernel)
            py_unread(p, at, ws_source_format(p->r, "what `%s` is after it is stored", name));
        return py_opaque(p);
    }
    const gboolean bound = left->kind == VAL_OBJECT && !is_static(f);
    return py_plain_class(p, left->node, at) ? invoke(p, f, bound ? left : NULL, left->closure, at)
                                             : py_opaque(p);
}

/* --- what descriptors, buffers and barriers know of themselves ---------------------------------*/

static const Val *list(PyRead *p, const gint64 *number, guint n)
{
    Val *v = py_val(p, VAL_TUPLE);
    v->item = g_new0(const Val *, n + 1);
    g_ptr_array_add(p->r->pool, v->item);
    for (guint i = 0; i < n; i++)
        v->item[v->n++] = py_literal(p, number[i]);
    return v;
}

static const Val *type_name(PyRead *p, const char *dtype)
{
    Val *v = py_val(p, VAL_NAME);
    v->text =
        py_dtype_name(dtype ? dtype : "bf16"); /* what tensors of no known type are taken for */
    return v;
}

static const Val *unknown_type(PyRead *p)
{
    Val *v = py_val(p, VAL_NAME);
    v->text = "unknown";
    return v;
}

/* `depth` 1: what block_type gives. */
static const Val *of_descriptor(PyRead *p, const Val *a, const char *name)
{
    const WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, a->index);
    gint64 block[5] = { 0 }, bytes = py_dtype_bytes(t->dtype ? t->dtype : "bf16");
    for (guint i = 0; i < MIN(a->n, 5); i++) {
        if (!py_known(a->item[i], &block[i]))
            block[i] = 0;
        bytes *= CLAMP(block[i], 0, 1 << 16);
    }
    if (!strcmp(name, "type"))
        return a;
    if (!strcmp(name, "block_type")) {
        Val *v = py_val(p, VAL_DESC);
        *v = *a;
        v->depth = 1;
        return v;
    }
    if (!strcmp(name, "block_shape") || (!strcmp(name, "shape") && a->depth))
        return a->n ? list(p, block, a->n) : NULL;
    if (!strcmp(name, "nbytes") || (!strcmp(name, "nbytes_per_cta") && p->r->cluster == 1))
        return bytes > 0 ? py_literal(p, bytes) : NULL;
    if (!strcmp(name, "shape")) {
        Val *v = py_val(p, VAL_SHAPE);
        v->index = a->index;
        return v;
    }
    if (!strcmp(name, "dtype") || !strcmp(name, "element_ty"))
        return t->dtype || p->from != WS_IMPORT_TLE ? type_name(p, t->dtype) : unknown_type(p);
    return !strcmp(name, "layout") ? py_val(p, VAL_LAYOUT) : NULL;
}

static const Val *of_memory(PyRead *p, const Val *a, const char *name)
{
    gint64 shape[5] = { 0 };
    if (!strcmp(name, "type"))
        return a;
    if (!strcmp(name, "layout"))
        return py_val(p, VAL_LAYOUT);
    if (a->kind == VAL_BARRIER) {
        shape[0] = g_array_index(p->r->barriers, WsReadBarrier, a->place.object).copies;
        shape[1] = 1;
        return strcmp(name, "shape") ? NULL : list(p, shape, 2);
    }
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, a->place.object);
    if (!strcmp(name, "dtype"))
        return type_name(p, b->dtype);
    const guint lead = a->place.index ? (b->indexed_twice ? 2 : 1) : 0;
    return strcmp(name, "shape") ? NULL : list(p, b->shape + lead, b->rank - lead);
}

const Val *py_attribute(PyRead *p, const Val *a, const char *name)
{
    if (a->kind == VAL_OBJECT)
        return p->names && g_hash_table_contains(p->names->fields, name) ? NULL : field_of(a, name);
    if (a->kind == VAL_DESC)
        return of_descriptor(p, a, name);
    if (a->kind == VAL_BUFFER || a->kind == VAL_BARRIER)
        return of_memory(p, a, name);
    if (a->kind == VAL_TILE || a->kind == VAL_MATH || a->kind == VAL_ZERO)
        return strcmp(name, "shape") ? NULL : list(p, (const gint64[]){ a->rows, a->cols }, 2);
    if (a->kind == VAL_PARAM || a->kind == VAL_TENSOR) {
        /* what it points to is not known: conversions to it are left out */
        const gboolean type = !strcmp(name, "dtype") || !strcmp(name, "element_ty") ||
                              (p->in_kernel && !strcmp(name, "type")); /* pointer's, of elements */
        if (type)
            return a->dtype ? type_name(p, a->dtype) : unknown_type(p);
        return NULL;
    }
    return NULL;
}
