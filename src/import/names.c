#include "import/recognise.h"

#include <string.h>

/* Variables of the source become names of the design: what one value per launch or per tile holds
 * and is no sum, so that groups which use it are seen to use the same. Names are put in when the
 * design is written; until then every expression is spelled out. */

struct WsImportName {
    const char *want, *name;
    const WsExpr *e;
    gboolean tile, used; /* tile: one value per tile, else per launch */
};

GArray *ws_source_definitions(void)
{
    return g_array_new(FALSE, TRUE, sizeof(WsImportName));
}

void ws_source_define(WsRead *r, const char *want, const WsExpr *e)
{
    WsAffine f;
    if (!e || !ws_expr_affine(e, &f))
        return;
    const WsExpr *t = f.n == 1 && f.factor[0] == 1 ? ws_x_own(r, ws_expr_ref(f.term[0])) : NULL;
    ws_affine_clear(&f);
    if (!t || !t->n_args)
        return;
    for (guint i = 0; i < r->defined->len; i++)
        if (ws_expr_equal(g_array_index(r->defined, WsImportName, i).e, t))
            return;
    const WsImportName d = { .want = want, .e = t };
    g_array_append_val(r->defined, d);
}

typedef struct {
    const WsRead *r;
    gboolean tile, rank, loose;
} Leaves;

static gboolean is_size(const WsRead *r, const char *name)
{
    for (guint i = 0; i < r->sizes->len; i++)
        if (!strcmp(g_ptr_array_index(r->sizes, i), name))
            return TRUE;
    return FALSE;
}

static gboolean is_axis(const WsRead *r, const char *name)
{
    for (guint i = 0; i < r->axes->len; i += 2)
        if (!strcmp(g_ptr_array_index(r->axes, i), name))
            return TRUE;
    return FALSE;
}

static void look(const WsExpr *node, gpointer data)
{
    Leaves *l = data;
    if (node->op == WS_EXPR_INDEX)
        l->tile = TRUE;
    else if (node->op == WS_EXPR_TOTAL)
        l->loose = TRUE;
    else if (node->op == WS_EXPR_NAME && is_axis(l->r, node->name))
        l->tile = TRUE;
    else if (node->op == WS_EXPR_NAME && !strcmp(node->name, "cta"))
        l->rank = TRUE;
    else if (node->op == WS_EXPR_NAME && !is_size(l->r, node->name))
        l->loose = TRUE;
}

static const char *free_name(WsRead *r, const char *want)
{
    const char *name = ws_source_name(r, want);
    for (guint n = 2; g_hash_table_contains(r->locals, name); n++)
        name = ws_source_name(r, ws_source_format(r, "%s_%u", want, n));
    return name;
}

static gint by_height(gconstpointer a, gconstpointer b)
{
    const WsImportName *x = a, *y = b;
    return (gint)x->e->height - (gint)y->e->height;
}

void ws_source_settle_names(WsRead *r)
{
    for (guint i = r->defined->len; i-- > 0;) {
        WsImportName *d = &g_array_index(r->defined, WsImportName, i);
        Leaves l = { .r = r };
        ws_expr_visit(d->e, look, &l);
        d->tile = l.tile;
        if (l.loose || (l.rank && !l.tile)) /* a number of each CTA is known where it stands */
            g_array_remove_index(r->defined, i);
    }
    for (guint i = 0; i < r->defined->len; i++) {
        WsImportName *d = &g_array_index(r->defined, WsImportName, i);
        d->name = free_name(r, d->want);
    }
    g_array_sort(r->defined, by_height);
}

static WsExpr *with_args(const WsExpr *e, WsExpr **arg)
{
    if (e->op == WS_EXPR_CALL)
        return ws_expr_call(e->func, arg, e->n_args);
    if (e->op == WS_EXPR_INDEX)
        return ws_expr_index(e->name, e->var, arg, e->n_args);
    return ws_expr_op(e->op, arg[0], e->n_args > 1 ? arg[1] : NULL);
}

/* `most` definitions may stand for a part of e: the body of one is written in those before it. */
static WsExpr *named(WsRead *r, const WsExpr *e, guint most)
{
    if (!e->n_args)
        return ws_expr_ref(e);
    for (guint i = 0; i < most; i++) {
        WsImportName *d = &g_array_index(r->defined, WsImportName, i);
        if (d->e->height != e->height || !ws_expr_equal(d->e, e))
            continue;
        d->used = TRUE;
        return ws_expr_name(d->name);
    }
    g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args + 2);
    for (guint i = 0; i < e->n_args; i++)
        arg[i] = named(r, e->arg[i], most);
    return with_args(e, arg);
}

char *ws_source_named_text(WsRead *r, const WsExpr *e)
{
    g_autoptr(WsExpr) short_form = e ? named(r, e, r->defined->len) : NULL;
    return short_form ? ws_expr_print(short_form) : g_strdup("?");
}

void ws_source_mark_names(WsRead *r)
{
    for (guint i = r->defined->len; i-- > 0;) {
        const WsImportName *d = &g_array_index(r->defined, WsImportName, i);
        WsExpr *body = d->used ? named(r, d->e, i) : NULL;
        if (body)
            ws_expr_unref(body);
    }
}

gboolean ws_source_next_name(WsRead *r, gboolean tile, guint *at, const char **name, char **text)
{
    for (; *at < r->defined->len; ++*at) {
        const WsImportName *d = &g_array_index(r->defined, WsImportName, *at);
        if (!d->used || d->tile != tile)
            continue;
        g_autoptr(WsExpr) body = named(r, d->e, *at);
        *name = d->name;
        *text = ws_expr_print(body);
        ++*at;
        return TRUE;
    }
    return FALSE;
}
