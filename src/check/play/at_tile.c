/* What names and elements are worth at a tile of a case, and elements that give a wanted value. */
#include "check/play/case.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

typedef enum { UNSET, BUSY, DONE } State;

struct WsAtTile {
    const WsProgram *p;
    const WsCase *c;
    gint64 coord[8];
    gint64 *value; /* [vars] of tile names */
    guint8 *state;
    GArray *read; /* WsCaseElement */
};

WsAtTile *ws_at_tile_new(const WsProgram *p, const WsCase *c)
{
    WsAtTile *a = g_new0(WsAtTile, 1);
    a->p = p, a->c = c;
    a->value = g_new0(gint64, p->n_vars + 1);
    a->state = g_new0(guint8, p->n_vars + 1);
    a->read = g_array_new(FALSE, FALSE, sizeof(WsCaseElement));
    return a;
}

void ws_at_tile_free(WsAtTile *a)
{
    if (!a)
        return;
    g_free(a->value);
    g_free(a->state);
    g_array_unref(a->read);
    g_free(a);
}

static void ws_at_tile_forget(WsAtTile *a)
{
    memset(a->state, UNSET, a->p->n_vars);
    g_array_set_size(a->read, 0);
}

void ws_at_tile_move(WsAtTile *a, gint64 tile)
{
    ws_launch_tile(a->c->values, tile, a->coord);
    ws_at_tile_forget(a);
}

/* --- values ----------------------------------------------------------------------------------- */
static WsLookup look(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    WsAtTile *a = data;
    const WsProgram *p = a->p;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= p->n_vars)
        return WS_LOOKUP_UNKNOWN;
    const WsVar *v = &p->var[leaf->var];
    if (v->kind == WS_VAR_SIZE || (v->kind == WS_VAR_RUN && !v->real)) {
        *value = ws_launch_var(a->c->values, leaf->var);
        return WS_LOOKUP_KNOWN;
    }
    for (guint i = 0; v->kind == WS_VAR_AXIS && i < p->tiles->n_axes; i++)
        if (p->tiles->axis[i].var == leaf->var) {
            *value = a->coord[i];
            return WS_LOOKUP_KNOWN;
        }
    if (v->kind != WS_VAR_TILE || !v->value || a->state[leaf->var] == BUSY)
        return WS_LOOKUP_UNKNOWN;
    if (a->state[leaf->var] == UNSET) {
        a->state[leaf->var] = BUSY;
        const gboolean known = ws_at_tile_eval(a, v->value, &a->value[leaf->var]);
        a->state[leaf->var] = known ? DONE : UNSET;
        if (!known)
            return WS_LOOKUP_UNKNOWN;
    }
    *value = a->value[leaf->var];
    return WS_LOOKUP_KNOWN;
}

static WsLookup look_real(gpointer data, const WsExpr *leaf, double *value, GError **error)
{
    WsAtTile *a = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= a->p->n_vars)
        return WS_LOOKUP_UNKNOWN;
    const WsVar *v = &a->p->var[leaf->var];
    if (v->kind != WS_VAR_SCALAR && !(v->kind == WS_VAR_RUN && v->real))
        return WS_LOOKUP_UNKNOWN;
    *value = ws_launch_var_real(a->c->values, leaf->var);
    return WS_LOOKUP_KNOWN;
}

/* As the walker: outside its shape an element is 0. */
static WsLookup look_at(gpointer data, const WsExpr *leaf, const gint64 *at, gint64 *value,
                        GError **error)
{
    WsAtTile *a = data;
    WsCaseElement x = { .tensor = leaf->var };
    *value = 0;
    if (leaf->var < 0 || (guint)leaf->var >= a->p->n_tensors)
        return WS_LOOKUP_UNKNOWN;
    const guint rank = a->p->tensor[leaf->var].rank;
    for (guint d = 0; d < leaf->n_args && d < rank; d++)
        if (at[d] < 0 || at[d] >= ws_launch_shape(a->c->values, (guint)leaf->var, d))
            return WS_LOOKUP_KNOWN;
    memcpy(x.at, at, MIN(leaf->n_args, rank) * sizeof *at);
    x.value = *value = ws_case_element(a->p, a->c, leaf->var, x.at);
    for (guint i = 0; i < a->read->len; i++) {
        const WsCaseElement *y = &g_array_index(a->read, WsCaseElement, i);
        if (y->tensor == x.tensor && !memcmp(y->at, x.at, sizeof x.at))
            return WS_LOOKUP_KNOWN;
    }
    g_array_append_val(a->read, x);
    return WS_LOOKUP_KNOWN;
}

gboolean ws_at_tile_eval(WsAtTile *a, const WsExpr *e, gint64 *value)
{
    const WsExprEnv env = { look, look_real, look_at, a };
    return ws_expr_eval(e, &env, value, NULL);
}

/* --- what an expression is made of ------------------------------------------------------------ */
enum { DEEP = 32 };

typedef struct {
    const WsProgram *p;
    gboolean known, tile;
    guint depth;
} Kind;

static void look_kind(const WsExpr *e, gpointer data)
{
    Kind *k = data;
    if (e->op == WS_EXPR_INDEX)
        k->tile = TRUE;
    if (e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL)
        k->known = FALSE;
    if (e->op != WS_EXPR_VAR)
        return;
    const WsVar *v = e->var >= 0 && (guint)e->var < k->p->n_vars ? &k->p->var[e->var] : NULL;
    const WsVarKind kind = v ? v->kind : WS_VAR_LET;
    if (kind == WS_VAR_SIZE || kind == WS_VAR_RUN || kind == WS_VAR_SCALAR)
        return;
    k->tile = TRUE;
    if (kind == WS_VAR_TILE && v->value && k->depth < DEEP) {
        k->depth++;
        ws_expr_visit(v->value, look_kind, k);
        k->depth--;
    } else if (kind != WS_VAR_AXIS) {
        k->known = FALSE;
    }
}

gboolean ws_of_tile(const WsProgram *p, const WsExpr *e, gboolean *tile)
{
    Kind k = { p, TRUE, FALSE, 0 };
    ws_expr_visit(e, look_kind, &k);
    *tile = k.tile;
    return k.known;
}

typedef struct {
    const WsProgram *p;
    GArray *list;
    guint most, depth;
} Literals;

static void see_literal(const WsExpr *e, gpointer data)
{
    Literals *l = data;
    const WsVar *v = e->op == WS_EXPR_VAR && e->var >= 0 && (guint)e->var < l->p->n_vars
                         ? &l->p->var[e->var]
                         : NULL;
    if (v && (v->kind == WS_VAR_TILE || v->kind == WS_VAR_RUN) && v->value && l->depth < DEEP) {
        l->depth++;
        ws_expr_visit(v->value, see_literal, l);
        l->depth--;
    }
    if (e->op != WS_EXPR_INT || l->list->len >= l->most)
        return;
    for (guint i = 0; i < l->list->len; i++)
        if (g_array_index(l->list, gint64, i) == e->i)
            return;
    g_array_append_val(l->list, e->i);
}

void ws_literals(const WsProgram *p, const WsExpr *e, GArray *list, guint most)
{
    Literals l = { p, list, most, 0 };
    ws_expr_visit(e, see_literal, &l);
}

/* --- elements for a value --------------------------------------------------------------------- */
typedef struct {
    WsAtTile *a;
    WsCase *c;
    const WsExpr *e;
    gint64 value;
    gint64 tried; /* the number before, brought within the element's range; G_MININT64: none */
} Reach;

static gboolean try_element(Reach *r, const WsCaseElement *x, gint64 value)
{
    gint64 got;
    ws_case_choose(r->a->p, r->c, x->tensor, x->at, value);
    value = ws_case_element(r->a->p, r->c, x->tensor, x->at);
    if (value == r->tried)
        return FALSE;
    r->tried = value;
    ws_at_tile_forget(r->a);
    return ws_at_tile_eval(r->a, r->e, &got) && got == r->value;
}

/* x = v, x = v * m and its neighbours for the numbers m of the text, and the same beyond what other
 * elements are (lengths as differences of beginnings). */
static gboolean try_numbers(Reach *r, const WsCaseElement *x, const GArray *read,
                            const GArray *literal)
{
    for (guint k = 0; k <= read->len; k++) {
        const gint64 from = k < read->len ? g_array_index(read, WsCaseElement, k).value : 0;
        for (guint m = 0; m <= literal->len; m++) {
            const gint64 factor = m < literal->len ? g_array_index(literal, gint64, m) : 1;
            static const gint64 by[] = { 0, 1, -1 };
            for (guint d = 0; d < G_N_ELEMENTS(by); d++) {
                gint64 product;
                if (__builtin_mul_overflow(r->value + by[d], factor, &product) ||
                    ABS(product) > G_MAXINT32)
                    continue;
                for (guint n = 0; n < G_N_ELEMENTS(by); n++)
                    if (try_element(r, x, from + product + by[n]) ||
                        try_element(r, x, from - product + by[n]))
                        return TRUE;
            }
        }
    }
    return FALSE;
}

static gboolean is_chosen(const WsCase *c, const WsCaseElement *x)
{
    for (guint i = 0; c->chosen && i < c->chosen->len; i++) {
        const WsCaseElement *y = &g_array_index(c->chosen, WsCaseElement, i);
        if (y->tensor == x->tensor && !memcmp(y->at, x->at, sizeof x->at))
            return TRUE;
    }
    return FALSE;
}

gboolean ws_at_tile_reach(WsAtTile *a, WsCase *c, const WsExpr *e, gint64 value)
{
    enum { MOST_READ = 4, MOST_LITERALS = 8 };
    gint64 got;
    g_assert(a->c == c);
    ws_at_tile_forget(a);
    if (ws_at_tile_eval(a, e, &got) && got == value)
        return TRUE;
    if (a->read->len == 0 || a->read->len > MOST_READ)
        return FALSE;
    g_autoptr(GArray) read = g_array_copy(a->read);
    g_autoptr(GArray) literal = g_array_new(FALSE, FALSE, sizeof(gint64));
    ws_literals(a->p, e, literal, MOST_LITERALS);
    Reach r = { a, c, e, value, G_MININT64 };
    for (guint i = 0; i < read->len; i++) {
        const WsCaseElement *x = &g_array_index(read, WsCaseElement, i);
        const guint before = c->chosen ? c->chosen->len : 0;
        if (is_chosen(c, x))
            continue;
        r.tried = G_MININT64;
        if (try_numbers(&r, x, read, literal))
            return TRUE;
        if (c->chosen)
            g_array_set_size(c->chosen, before);
        ws_at_tile_forget(a);
    }
    return FALSE;
}

void ws_at_tile_keep(const WsAtTile *a, WsCase *c)
{
    for (guint i = 0; i < a->read->len; i++) {
        const WsCaseElement *x = &g_array_index(a->read, WsCaseElement, i);
        if (!is_chosen(c, x))
            ws_case_choose(a->p, c, x->tensor, x->at, x->value);
    }
}
