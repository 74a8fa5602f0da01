/* Operands: registers, numbers and names of parameters as values. */
#include "import/ptx/walk.h"

#include <string.h>

/* "…_param_3" of a name that C++ made is "param_3". */
static const char *short_name(const char *param)
{
    const char *at = g_strrstr(param, "_param_");
    return at && strlen(param) > 40 ? at + 1 : param;
}

const char *ptx_parameter_size(PtxWalk *w, const char *param)
{
    return g_hash_table_lookup(w->p.r->size_of, short_name(param));
}

const Val *ptx_operand(PtxWalk *w, const char *text)
{
    PyRead *p = &w->p;
    gint64 value;
    if (*text == '%') {
        static const char *const ids[][2] = { { "%ctaid.x", PY_PID },
                                              { "%ctaid.y", PY_PID "_1" },
                                              { "%ctaid.z", PY_PID "_2" },
                                              { "%nctaid.x", PY_GRID } };
        if (!strcmp(text, "%tid.x"))
            return py_literal(p, w->tid);
        if (!strcmp(text, "%laneid"))
            return py_literal(p, w->tid % 32);
        if (!strcmp(text, "%ntid.x"))
            return py_literal(p, w->ptx->threads);
        if (!strcmp(text, "%cluster_ctarank") || !strcmp(text, "%cluster_ctaid.x"))
            return py_int(p, w->ptx->cluster > 1 ? ws_x_name(p->r, "cta") : ws_x_int(p->r, 0));
        if (!strcmp(text, "%cluster_nctarank") || !strcmp(text, "%cluster_nctaid.x"))
            return py_literal(p, w->ptx->cluster);
        if (!strcmp(text, "%clusterid.x") || !strcmp(text, "%nclusterid.x"))
            return py_int(p, ws_x_name(p->r, text[1] == 'c' ? PY_PID : PY_GRID));
        if (w->ptx->cluster > 1 && (!strcmp(text, "%ctaid.x") || !strcmp(text, "%nctaid.x"))) {
            const gboolean own = text[1] == 'c'; /* a cluster takes a tile as a whole */
            const WsExpr *all = ws_x_op(p->r, WS_EXPR_MUL, ws_x_name(p->r, own ? PY_PID : PY_GRID),
                                        ws_x_int(p->r, w->ptx->cluster));
            return py_int(p, own ? ws_x_op(p->r, WS_EXPR_ADD, all, ws_x_name(p->r, "cta")) : all);
        }
        if (!strcmp(text, "%tid.y") || !strcmp(text, "%tid.z"))
            return py_literal(p, 0);
        for (guint i = 0; i < G_N_ELEMENTS(ids); i++)
            if (!strcmp(text, ids[i][0]))
                return py_int(p, ws_x_name(p->r, ids[i][1]));
    } else if (g_ascii_isdigit(*text) || *text == '-') {
        if (g_str_has_prefix(text, "0f") || g_str_has_prefix(text, "0F"))
            return strspn(text + 2, "0") == strlen(text + 2) ? py_literal(p, 0) : py_opaque(p);
        return ptx_number(text, &value) ? py_literal(p, value) : py_opaque(p);
    }
    const Val *v = g_hash_table_lookup(p->frame->vars, text);
    if (v && v->kind == VAL_INT && g_hash_table_contains(w->turned, text))
        return py_opaque(p); /* what a product of a round before adds to is no number any more */
    if (v)
        return v;
    if (*text == '%' || g_hash_table_contains(w->ptx->locals, text))
        return py_opaque(p);
    for (guint i = 0; i < w->ptx->params->len; i++)
        if (!strcmp(g_array_index(w->ptx->params, const char *, i), text)) {
            Val *param = py_val(p, VAL_PARAM);
            param->text = short_name(g_array_index(w->ptx->params, const char *, i));
            return param;
        }
    const gsize own = GPOINTER_TO_SIZE(g_hash_table_lookup(w->ptx->shared, text));
    return g_ascii_isalpha(*text) || *text == '_' || *text == '$'
               ? py_int(p, ws_x_op(p->r, WS_EXPR_ADD, ws_x_name(p->r, PTX_SMEM),
                                   ws_x_int(p->r, own ? (gint64)own - 1 : 0)))
               : py_opaque(p);
}

const WsExpr *ptx_int(PtxWalk *w, const char *text)
{
    const Val *v = ptx_operand(w, text);
    return v->kind == VAL_INT ? v->e : v->kind == VAL_PARAM ? py_as_int(&w->p, v) : NULL;
}

void ptx_set(PtxWalk *w, const char *reg, const Val *v)
{
    g_hash_table_insert(w->p.frame->vars, (gpointer)reg, (gpointer)v);
}
