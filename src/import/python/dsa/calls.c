#include "import/python/dsa/read.h"

#include <string.h>

/* What calls of a kernel give: buffers, values of buffers, places, numbers. */

#define ONE_MEANING "Write it with integers, tl.arange and tle.dsa alone."

/* --- calls that give a value ------------------------------------------------------------------ */

static const PyDsaVal *program_id(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[1];
    static const char *const name[] = { "pid", "pid_1", "pid_2" };
    const WsExpr *axis =
        py_dsa_arguments(d, call, "axis", arg) && arg[0] ? py_dsa_int(d, arg[0]) : NULL;
    gint64 n;
    if (!axis || !ws_expr_is_int(axis, &n) || n < 0 || n > 2) {
        py_dsa_refuse(d, call, "Say tl.program_id(0), 1 or 2.", "the number of a program");
        return NULL;
    }
    if (d->tile) {
        py_dsa_refuse(d, call, "Use the variable of the loop over tiles.",
                      "the number of a program beside a loop over tiles");
        return NULL;
    }
    d->pid[n] = TRUE;
    return py_dsa_integer(d, ws_x_name(d->r, name[n]), call);
}

static const PyDsaVal *arange(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[2];
    gint64 from, to;
    const WsExpr *a = py_dsa_arguments(d, call, "start end", arg) && arg[0] && arg[1]
                          ? py_dsa_int(d, arg[0])
                          : NULL,
                 *b = a ? py_dsa_int(d, arg[1]) : NULL;
    if (!b || !ws_expr_is_int(a, &from) || !ws_expr_is_int(b, &to) || from || to < 1) {
        py_dsa_refuse(d, call, "Write tl.arange(0, N) with a constant N.", "a range of places");
        return NULL;
    }
    PyDsaVal *v = py_dsa_val(d, DSA_INDEX);
    v->rank = 1;
    v->axis[1] = (PyDsaAxis){ ws_x_int(d->r, 0), ws_x_int(d->r, 1), to };
    return v;
}

static const PyDsaVal *two(PyDsa *d, const WsPyNode *call, WsFunc f, const char *word)
{
    const WsPyNode *arg[2];
    if (!py_dsa_arguments(d, call, "a b", arg) || !arg[0] || !arg[1])
        return NULL;
    const PyDsaVal *a = py_dsa_eval(d, arg[0]), *b = a ? py_dsa_eval(d, arg[1]) : NULL;
    if (!a || !b)
        return NULL;
    if (word && py_dsa_is_plain(a) && py_dsa_is_plain(b))
        return py_dsa_pair(d, word, a, b);
    if (a->kind != DSA_INT || b->kind != DSA_INT) {
        py_dsa_refuse(d, call, ONE_MEANING, "the call of such values");
        return NULL;
    }
    if (f == WS_FUNC_CDIV && !py_dsa_rounds_alike(d, a->e, b->e, call))
        return NULL;
    return py_dsa_integer(d, ws_x_call(d->r, f, a->e, b->e, NULL), call);
}

static const PyDsaVal *alloc(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[3];
    gint64 n[2] = { 1, 0 };
    if (!py_dsa_arguments(d, call, "shape dtype mem_addr_space", arg))
        return NULL;
    if (!arg[0] || (arg[0]->kind != WS_PY_LIST && arg[0]->kind != WS_PY_TUPLE) || arg[0]->n < 1 ||
        arg[0]->n > 2) {
        py_dsa_refuse(d, call, "Write [N] or [R, C].",
                      "a buffer whose shape is not one or two numbers");
        return NULL;
    }
    const guint rank = arg[0]->n;
    for (guint i = 0; i < rank; i++) {
        const WsExpr *e = py_dsa_int(d, arg[0]->kid[i]);
        if (!e || !ws_expr_is_int(e, &n[i + 2 - rank]) || n[i + 2 - rank] < 1) {
            py_dsa_refuse(d, arg[0]->kid[i], "Give constants a value by --define NAME=VALUE.",
                          "an extent of a buffer that is no known number");
            return NULL;
        }
    }
    PyDsaBuffer b = { .rank = rank, .rows = n[0], .cols = n[1], .zero_depth = -1 };
    b.space = py_dsa_space(d, arg[2]);
    b.dtype = b.space < 0 ? NULL : py_dsa_dtype(d, arg[1]);
    if (!b.dtype)
        return NULL;
    const char *line = call->end_line <= d->r->n_lines ? d->r->line[call->end_line - 1] : "";
    const char *said = strstr(line, "# stages: ");
    b.stages = said ? g_ascii_strtoll(said + strlen("# stages: "), NULL, 10) : 0;
    if (said && (b.stages < 1 || b.stages > 64)) {
        py_dsa_refuse(d, call, "Say 1 to 64.", "a number of stages");
        return NULL;
    }
    b.line = call->line;
    PyDsaVal *v = py_dsa_val(d, DSA_BUFFER);
    v->object = py_dsa_new_buffer(d, b);
    return v;
}

gint py_dsa_new_buffer(PyDsa *d, PyDsaBuffer b)
{
    b.name = ws_source_name(d->r, d->hint ? d->hint : "tile");
    g_array_append_val(d->buffers, b);
    return (gint)d->buffers->len - 1;
}

static const PyDsaVal *zeros(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[2];
    gint64 n[2];
    if (!py_dsa_arguments(d, call, "shape dtype", arg))
        return NULL;
    gboolean fits =
        arg[0] && (arg[0]->kind == WS_PY_LIST || arg[0]->kind == WS_PY_TUPLE) && arg[0]->n == 2;
    for (guint i = 0; fits && i < 2; i++) {
        const WsExpr *e = py_dsa_int(d, arg[0]->kid[i]);
        fits = e && ws_expr_is_int(e, &n[i]) && n[i] > 0;
    }
    const char *dtype = fits ? py_dsa_dtype(d, arg[1]) : NULL;
    if (!dtype || strcmp(dtype, "f32")) {
        py_dsa_refuse(d, call, "Write tl.zeros([M, N], tl.float32) for sums of products.",
                      "zeros of something else than sums of products");
        return NULL;
    }
    const PyDsaVar *old = d->hint ? py_dsa_find(d, d->hint) : NULL;
    PyDsaVal *v = py_dsa_val(d, DSA_SUMS);
    if (old && old->value->kind == DSA_SUMS) {
        const PyDsaBuffer *b = py_dsa_buffer(d, old->value->object);
        if (b->rows != n[0] || b->cols != n[1]) {
            py_dsa_refuse(d, call, "Use another variable.", "sums that change their shape");
            return NULL;
        }
        v->object = old->value->object;
    } else {
        v->object = py_dsa_new_buffer(d, (PyDsaBuffer){ .dtype = dtype,
                                                        .space = (gint)d->core->sums,
                                                        .rank = 2,
                                                        .rows = n[0],
                                                        .cols = n[1],
                                                        .zero_depth = -1,
                                                        .line = call->line });
    }
    return v;
}

/* A value that buffers had when it was made, and have no more. */
gboolean py_dsa_is_former(PyDsa *d, const PyDsaVal *v, const WsPyNode *at)
{
    const gboolean changed = v->kind != DSA_SUMS &&
                             v->kind != DSA_BUFFER && /* which have one name, and change */
                             ((v->object >= 0 && py_dsa_buffer(d, v->object)->stores != v->at) ||
                              (v->other >= 0 && py_dsa_buffer(d, v->other)->stores != v->other_at));
    if (changed)
        py_dsa_refuse(d, at, "Call to_tensor() where its value is used.",
                      "a value of a buffer that was written since");
    return changed;
}

static const PyDsaVal *to_tensor(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[2];
    const PyDsaVal *b =
        py_dsa_arguments(d, call, "memref writable", arg) && arg[0] ? py_dsa_eval(d, arg[0]) : NULL;
    if (!b || b->kind != DSA_BUFFER ||
        (arg[1] && (arg[1]->kind != WS_PY_CONST || !strcmp(arg[1]->text, "None")))) {
        py_dsa_refuse(d, call, "Write to_tensor(buffer).", "to_tensor() of that");
        return NULL;
    }
    PyDsaVal *v = py_dsa_val(d, DSA_TENSOR);
    v->object = b->object;
    v->at = py_dsa_buffer(d, b->object)->stores;
    return v;
}

static const PyDsaVal *to_buffer(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[2];
    if (!py_dsa_arguments(d, call, "tensor space", arg) || !arg[0])
        return NULL;
    const PyDsaVal *v = py_dsa_eval(d, arg[0]);
    const gint space = v ? py_dsa_space(d, arg[1]) : -1;
    if (space < 0 || py_dsa_is_former(d, v, call))
        return NULL;
    if ((v->kind == DSA_SUMS || v->kind == DSA_CAST) && space == (gint)d->core->sums)
        return v;
    if (v->kind == DSA_PAIR && space == (gint)d->core->work) {
        const PyDsaBuffer *a = py_dsa_buffer(d, v->object);
        const gint into = py_dsa_new_buffer(d, (PyDsaBuffer){ .dtype = a->dtype,
                                                              .space = space,
                                                              .rank = a->rank,
                                                              .rows = a->rows,
                                                              .cols = a->cols,
                                                              .zero_depth = -1,
                                                              .line = call->line });
        return py_dsa_store_pair(d, v, into, call);
    }
    py_dsa_refuse(d, call, "Sums go to L0C, what is computed of two buffers to UB.",
                  "to_buffer() of that into this space");
    return NULL;
}

static const PyDsaVal *turned(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *arg[1];
    const PyDsaVal *v =
        py_dsa_arguments(d, call, "x", arg) && arg[0] ? py_dsa_eval(d, arg[0]) : NULL;
    if (!v || v->kind != DSA_TENSOR) {
        py_dsa_refuse(d, call, "Transpose to_tensor(buffer).", "tl.trans() of that");
        return NULL;
    }
    PyDsaVal *t = py_dsa_val(d, DSA_TENSOR);
    *t = *v;
    t->turned = !v->turned;
    return t;
}

/* x.to(type) */
static const PyDsaVal *converted(PyDsa *d, const WsPyNode *call)
{
    const PyDsaVal *v = py_dsa_eval(d, call->kid[0]->kid[0]);
    const WsPyNode *arg[1];
    if (!v || !py_dsa_arguments(d, call, "dtype", arg) || !arg[0])
        return NULL;
    const char *word = py_dsa_known(py_dsa_word(d, arg[0]));
    if ((v->kind == DSA_INDEX || v->kind == DSA_INT) && word &&
        (!strcmp(word, "int64") || !strcmp(word, "int32")))
        return v;
    if (v->kind != DSA_SUMS) {
        py_dsa_refuse(d, call, "Only sums and places are converted.", "a conversion of that");
        return NULL;
    }
    PyDsaVal *c = py_dsa_val(d, DSA_CAST);
    *c = *v;
    c->kind = DSA_CAST;
    c->at = py_dsa_buffer(d, v->object)->stores;
    c->dtype = py_dsa_dtype(d, arg[0]);
    return c->dtype ? c : NULL;
}

const PyDsaVal *py_dsa_called(PyDsa *d, const WsPyNode *call)
{
    const WsPyNode *f = call->kid[0];
    const char *word = py_dsa_known(py_dsa_word(d, f));
    static const struct {
        const char *word;
        const PyDsaVal *(*make)(PyDsa *d, const WsPyNode *call);
    } make[] = { { "program_id", program_id },
                 { "arange", arange },
                 { "dsa.alloc", alloc },
                 { "zeros", zeros },
                 { "dsa.to_tensor", to_tensor },
                 { "dsa.to_buffer", to_buffer },
                 { "trans", turned } };
    for (guint i = 0; word && i < G_N_ELEMENTS(make); i++)
        if (!strcmp(word, make[i].word))
            return make[i].make(d, call);
    if (word && !strcmp(word, "cdiv"))
        return two(d, call, WS_FUNC_CDIV, NULL);
    const gboolean plain = d->plain && f->kind == WS_PY_NAME && !py_dsa_find(d, f->text);
    if ((word && !strcmp(word, "minimum")) || (plain && !strcmp(f->text, "min")))
        return two(d, call, WS_FUNC_MIN, "min");
    if ((word && !strcmp(word, "maximum")) || (plain && !strcmp(f->text, "max")))
        return two(d, call, WS_FUNC_MAX, "max");
    if (!word && f->kind == WS_PY_ATTR && !strcmp(f->text, "to"))
        return converted(d, call);
    g_autofree char *text = ws_python_dotted(f);
    py_dsa_refuse(d, call,
                  "Read are tle.dsa.alloc, copy, add, sub, mul, div, max, min, to_tensor, "
                  "to_buffer, and tl.dot.",
                  "the call of `%s`",
                  word   ? word
                  : text ? text
                         : "that");
    return NULL;
}
