#include "check/between.h"
#include "base/phrase.h"
#include "expr/expr.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

typedef struct {
    const WsProgram *p;
    GPtrArray *assumed;
} Names;

static void see(const WsExpr *e, gpointer data)
{
    const Names *n = data;
    if (e->op != WS_EXPR_INDEX)
        return;
    char *text = ws_phrase("the kernel before does not write %s, which names of tiles read before "
                           "any griddepcontrol",
                           n->p->tensor[e->var].name);
    for (guint i = 0; text && i < n->assumed->len; i++)
        if (!g_strcmp0(n->assumed->pdata[i], text))
            g_clear_pointer(&text, g_free);
    if (text)
        g_ptr_array_add(n->assumed, text);
}

void ws_between_assumed(const WsProgram *p, GPtrArray *assumed)
{
    gboolean depends = FALSE, waits = FALSE;
    for (guint i = 0; i < p->n_ops; i++) {
        depends |= ws_op_between_kernels(p->op[i]->kind);
        waits |= ws_op_waits_for_kernel(p->op[i]->kind);
    }
    if (!depends)
        return;
    g_ptr_array_add(
        assumed,
        waits ? ws_phrase("what the kernel before writes is touched after griddepcontrol only")
              : ws_phrase("the kernel before writes nothing that is touched, as no griddepcontrol "
                          "waits for it"));
    /* The one tile of a CTA has its names before the bodies begin; those of a loop over tiles have
     * theirs where the loop stands. */
    Names n = { p, assumed };
    for (guint i = 0; p->tiles->launch == WS_LAUNCH_SINGLE && i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_TILE && p->var[i].value)
            ws_expr_visit(p->var[i].value, see, &n);
}
