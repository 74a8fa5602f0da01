#include "codegen/python/host_tensors.h"
#include "program/parts/tensor.h"
#include "program/program.h"

const char *ws_py_host_list(WsPy *y, WsExpr *const *x, guint n)
{
    const char *s = "";
    for (guint i = 0; i < n; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", ws_py_uniform(y, x[i]).s);
    return s;
}

/* Only descriptors reach it, and the design says nothing of its strides. */
static gboolean is_spaced(const WsPy *y, guint tensor, const char *pointers)
{
    const WsTensor *t = &y->p->tensor[tensor];
    return t->rank > 1 && !t->strides_given && !ws_py_mentions(pointers, y->tensor[tensor]);
}

void ws_py_host_tensors(WsPy *y, const char *pointers)
{
    for (guint i = 0; i < y->p->n_tensors; i++) {
        const WsTensor *t = &y->p->tensor[i];
        const gboolean spaced = is_spaced(y, i, pointers);
        const char *end = t->rank == 1 ? "," : "", *name = y->tensor[i];
        ws_py_line(y, "%s%s(\"%s\", %s, (%s%s), (%s%s), torch.%s)",
                   spaced ? ws_py_format(y, "%s_strides = ", name) : "",
                   ws_py_helper(y, spaced ? "spaced" : "fits"), name, name,
                   ws_py_host_list(y, t->shape, t->rank), end,
                   ws_py_host_list(y, t->stride, t->rank), end, ws_py_torch_type(t->dtype));
    }
}

const char *ws_py_host_strides(WsPy *y, guint tensor, const char *pointers)
{
    const WsTensor *t = &y->p->tensor[tensor];
    return is_spaced(y, tensor, pointers)
               ? ws_py_format(y, "%s_strides", y->tensor[tensor])
               : ws_py_format(y, "[%s]", ws_py_host_list(y, t->stride, t->rank));
}
