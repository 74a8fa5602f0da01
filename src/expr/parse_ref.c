/* References, statements and worded forms: the parts of the grammar around expressions. */
#include "expr/internal.h"

#include <string.h>

/* --- references ------------------------------------------------------------------------------- */
static WsRef *ref_new(void)
{
    WsRef *ref = g_new0(WsRef, 1);
    ref->refs = 1;
    return ref;
}

WsRef *ws_ref_ref(const WsRef *ref)
{
    WsRef *mutable = (WsRef *)ref;
    if (mutable)
        g_atomic_int_inc(&mutable->refs);
    return mutable;
}

void ws_ref_unref(WsRef *ref)
{
    if (!ref || !g_atomic_int_dec_and_test(&ref->refs))
        return;
    for (guint i = 0; i < ref->n_views; i++) {
        ws_expr_unref(ref->view[i].start);
        ws_expr_unref(ref->view[i].count);
    }
    g_free(ref->view);
    ws_expr_unref(ref->element);
    ws_expr_unref(ref->use);
    g_free(ref->name);
    g_free(ref);
}

/* One of .rows(…, …), .cols(…, …), .t; the dot has been read. */
static gboolean parse_view(WsParser *p, WsRef *ref)
{
    WsView view = { .kind = WS_VIEW_T };
    if (!ws_parser_take(p, "t")) {
        if (ws_parser_take(p, "rows"))
            view.kind = WS_VIEW_ROWS;
        else if (ws_parser_take(p, "cols"))
            view.kind = WS_VIEW_COLS;
        else {
            ws_parser_expected(p, "'rows', 'cols' or 't'");
            return FALSE;
        }
        if (!ws_parser_want(p, "("))
            return FALSE;
        view.start = ws_parser_expr(p);
        if (view.start && ws_parser_want(p, ","))
            view.count = ws_parser_expr(p);
        if (!view.count || !ws_parser_want(p, ")")) {
            ws_expr_unref(view.start);
            ws_expr_unref(view.count);
            return FALSE;
        }
    }
    ref->view = g_renew(WsView, ref->view, ref->n_views + 1);
    ref->view[ref->n_views++] = view;
    return TRUE;
}

static gboolean parse_ref(WsParser *p, WsRef *ref)
{
    ref->name = ws_parser_name(p, "the name of a buffer, barrier, value or tensor");
    if (!ref->name)
        return FALSE;
    if (ws_parser_take(p, "[")) {
        ref->element = ws_parser_expr(p);
        if (!ref->element || !ws_parser_want(p, "]"))
            return FALSE;
    }
    while (ws_parser_take(p, ".")) {
        if (ref->n_views >= WS_EXPR_MAX_DEPTH) {
            ws_parser_expected(p, "fewer views");
            return FALSE;
        }
        if (!parse_view(p, ref))
            return FALSE;
    }
    if (ws_parser_take(p, "@")) {
        ref->use = ws_parser_expr(p);
        return ref->use && ws_parser_end(p);
    }
    if (!*p->at)
        return TRUE;
    ws_parser_expected(p, "'[', '.rows(', '.cols(', '.t', '@' or the end");
    return FALSE;
}

WsRef *ws_ref_parse(const char *text, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(WsRef) ref = ref_new();
    WsParser p;
    ws_parser_init(&p, text, &problem);
    if (parse_ref(&p, ref))
        return g_steal_pointer(&ref);
    g_propagate_error(error, g_steal_pointer(&problem));
    return NULL;
}

/* --- statements ------------------------------------------------------------------------------- */
WsStatement *ws_statement_ref(const WsStatement *s)
{
    WsStatement *mutable = (WsStatement *)s;
    if (mutable)
        g_atomic_int_inc(&mutable->refs);
    return mutable;
}

void ws_statement_unref(WsStatement *s)
{
    if (!s || !g_atomic_int_dec_and_test(&s->refs))
        return;
    for (guint i = 0; i < s->n_index; i++)
        g_free(s->index[i]);
    g_free(s->index);
    ws_expr_unref(s->value);
    g_free(s->name);
    g_free(s);
}

static gboolean parse_statement(WsParser *p, WsStatement *s)
{
    s->name = ws_parser_name(p, "the name that is assigned");
    if (!s->name)
        return FALSE;
    if (ws_parser_take(p, "[")) {
        do {
            char *index = ws_parser_name(p, "an index name");
            if (!index)
                return FALSE;
            s->index = g_renew(char *, s->index, s->n_index + 1);
            s->index[s->n_index++] = index;
        } while (ws_parser_take(p, ","));
        if (!ws_parser_take(p, "]")) {
            ws_parser_expected(p, "',' or ']'");
            return FALSE;
        }
    }
    if (g_str_has_prefix(p->at, "==") || !ws_parser_take(p, "=")) {
        ws_parser_expected(p, s->index ? "'='" : "'=' or '['");
        return FALSE;
    }
    s->value = ws_parser_expr(p);
    return s->value && ws_parser_end(p);
}

WsStatement *ws_statement_parse(const char *text, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(WsStatement) s = g_new0(WsStatement, 1);
    s->refs = 1;
    WsParser p;
    ws_parser_init(&p, text, &problem);
    if (parse_statement(&p, s))
        return g_steal_pointer(&s);
    g_propagate_error(error, g_steal_pointer(&problem));
    return NULL;
}

/* --- forms ------------------------------------------------------------------------------------ */
gboolean ws_form_parse(const char *text, char **name, GPtrArray **args, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(GPtrArray) list = NULL;
    WsParser p;
    ws_parser_init(&p, text, &problem);
    g_autofree char *word = ws_parser_name(&p, "a name");
    if (word)
        list = ws_parser_take(&p, "(")
                   ? ws_parser_args(&p, ")")
                   : g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    if (list && *p.at)
        ws_parser_expected(&p, list->len ? "the end" : "'(' or the end");
    if (problem) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return FALSE;
    }
    *name = g_steal_pointer(&word);
    *args = g_steal_pointer(&list);
    return TRUE;
}
