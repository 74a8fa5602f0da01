#include "import/ptx/region/region.h"

#include <string.h>

/* A compiler compares sizes where a design compares rounds: K + 63 > 127 is "cdiv(K, 64) > 1", and
 * only then do loop and condition ask the same question. */

typedef struct {
    const WsExpr *rounds, *size; /* rounds = (size + c) / d, rounded down */
    gint64 c, d;
} Rounds;

typedef struct {
    WsRead *r;
    GArray *rounds;    /* Rounds */
    GPtrArray *larger; /* const WsExpr*: max(x, number) */
} Conditions;

static void add(Conditions *q, const WsExpr *e)
{
    gint64 d;
    WsAffine f;
    const gboolean up = e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV;
    if ((!up && e->op != WS_EXPR_DIV) || !ws_x_is(e->arg[1], &d) || d < 1 ||
        !ws_expr_affine(e->arg[0], &f))
        return;
    Rounds one = { .rounds = ws_x_own(q->r, ws_expr_ref(e)),
                   .d = d,
                   .c = f.constant + (up ? d - 1 : 0) };
    one.size = ws_x_op(q->r, WS_EXPR_SUB, ws_x_own(q->r, ws_expr_ref(e->arg[0])),
                       ws_x_int(q->r, f.constant));
    ws_affine_clear(&f);
    for (guint i = 0; i < q->rounds->len; i++)
        if (ws_expr_equal(g_array_index(q->rounds, Rounds, i).rounds, one.rounds))
            return;
    if (one.size && q->rounds->len < 64)
        g_array_append_val(q->rounds, one);
}

static void collect(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    Conditions *q = data;
    const WsReadStep *s = g_ptr_array_index(list, at);
    WsAffine f;
    if (s->kind != WS_READ_FOR || !s->e)
        return;
    add(data, s->e);
    if (!ws_expr_affine(s->e, &f))
        return;
    for (guint i = 0; i < f.n; i++) {
        add(data, f.term[i]);
        if (f.term[i]->op == WS_EXPR_CALL && f.term[i]->func == WS_FUNC_MAX)
            g_ptr_array_add(q->larger, (gpointer)ws_x_own(q->r, ws_expr_ref(f.term[i])));
        if (f.term[i]->n_args) /* groups that make as many rounds say so by one name */
            ws_source_define(q->r, "rounds", ws_x_own(q->r, ws_expr_ref(f.term[i])));
    }
    ws_affine_clear(&f);
}

/* a op b with a - b = ±size + k: the same of the rounds; NULL: it is not that. */
static const WsExpr *in_rounds(WsRead *r, const Rounds *q, WsExprOp op, const WsExpr *a,
                               const WsExpr *b)
{
    gint64 k;
    const WsExpr *left = ws_x_op(r, WS_EXPR_SUB, a, b);
    if (!left || !ws_x_difference(q->size, left, &k)) {
        left = ws_x_op(r, WS_EXPR_SUB, b, a);
        if (!left || !ws_x_difference(q->size, left, &k))
            return NULL;
        op = op == WS_EXPR_LT   ? WS_EXPR_GT
             : op == WS_EXPR_LE ? WS_EXPR_GE
             : op == WS_EXPR_GT ? WS_EXPR_LT
             : op == WS_EXPR_GE ? WS_EXPR_LE
                                : op;
    }
    /* size + k > 0 is size + c >= c + 1 - k; size + k >= 0 is size + c >= c - k */
    const gboolean strict = op == WS_EXPR_GT || op == WS_EXPR_LE;
    const gint64 least = q->c - k + (strict ? 1 : 0);
    if (op < WS_EXPR_LT || op > WS_EXPR_GE || least % q->d)
        return NULL;
    const gboolean at_least = op == WS_EXPR_GT || op == WS_EXPR_GE;
    return ws_x_op(r, at_least ? WS_EXPR_GE : WS_EXPR_LT, q->rounds, ws_x_int(r, least / q->d));
}

/* x op n with n above c is max(x, c) op n. */
static const WsExpr *in_larger(WsRead *r, const WsExpr *larger, const WsExpr *e)
{
    gint64 c, n, d;
    if (larger->op != WS_EXPR_CALL || larger->func != WS_FUNC_MAX || larger->n_args != 2 ||
        !ws_x_is(larger->arg[1], &c) || !ws_x_is(e->arg[1], &n) || n <= c ||
        !ws_x_difference(e->arg[0], larger->arg[0], &d) || d)
        return NULL;
    return ws_x_op(r, e->op, larger, ws_x_own(r, ws_expr_ref(e->arg[1])));
}

static WsExprOp opposite(WsExprOp op)
{
    return op == WS_EXPR_LT   ? WS_EXPR_GE
           : op == WS_EXPR_LE ? WS_EXPR_GT
           : op == WS_EXPR_GT ? WS_EXPR_LE
           : op == WS_EXPR_GE ? WS_EXPR_LT
           : op == WS_EXPR_EQ ? WS_EXPR_NE
                              : WS_EXPR_EQ;
}

static const WsExpr *rewrite(const Conditions *q, const WsExpr *e, guint depth)
{
    WsRead *r = q->r;
    if (!e || depth > 16)
        return e;
    if (e->op == WS_EXPR_NOT && e->arg[0]->op >= WS_EXPR_LT && e->arg[0]->op <= WS_EXPR_NE)
        return rewrite(q,
                       ws_x_op(r, opposite(e->arg[0]->op),
                               ws_x_own(r, ws_expr_ref(e->arg[0]->arg[0])),
                               ws_x_own(r, ws_expr_ref(e->arg[0]->arg[1]))),
                       depth + 1);
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT) {
        const WsExpr *a = rewrite(q, ws_x_own(r, ws_expr_ref(e->arg[0])), depth + 1);
        const WsExpr *b = e->op == WS_EXPR_NOT
                              ? NULL
                              : rewrite(q, ws_x_own(r, ws_expr_ref(e->arg[1])), depth + 1);
        return ws_x_op(r, e->op, a, b);
    }
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_GE)
        return e;
    for (guint i = 0; i < q->rounds->len; i++) {
        const WsExpr *same =
            in_rounds(r, &g_array_index(q->rounds, Rounds, i), e->op,
                      ws_x_own(r, ws_expr_ref(e->arg[0])), ws_x_own(r, ws_expr_ref(e->arg[1])));
        if (same)
            return same;
    }
    for (guint i = 0; i < q->larger->len; i++) {
        const WsExpr *same = in_larger(r, g_ptr_array_index(q->larger, i), e);
        if (same)
            return same;
    }
    return e;
}

/* What a condition compares with gets a name: it is long where a compiler made it. */
static void name_limits(WsRead *r, const WsExpr *e, guint depth)
{
    WsAffine f;
    if (!e || depth > 16)
        return;
    for (guint k = 0; k < e->n_args && (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR); k++)
        name_limits(r, ws_x_own(r, ws_expr_ref(e->arg[k])), depth + 1);
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_NE)
        return;
    for (guint k = 0; k < 2; k++) {
        if (!ws_expr_affine(e->arg[k], &f))
            continue;
        for (guint i = 0; i < f.n; i++)
            if (f.term[i]->n_args)
                ws_source_define(r, "limit", ws_x_own(r, ws_expr_ref(f.term[i])));
        ws_affine_clear(&f);
    }
}

static void name_condition(WsRead *r, const WsExpr *e)
{
    gboolean tile = FALSE;
    for (guint i = 0; e && i < r->axes->len; i += 2)
        tile |= ws_expr_mentions(e, r->axes->pdata[i]);
    if (r->named && tile && !ws_expr_mentions(e, "cta") && e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE)
        ws_source_define(r, "which", e);
}

static void rewrite_step(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    s->when = rewrite(data, s->when, 0);
    if (s->kind == WS_READ_IF || s->kind == WS_READ_MMA)
        s->e = rewrite(data, s->e, 0);
    if (s->kind == WS_READ_IF)
        name_condition(((Conditions *)data)->r, s->e);
    if (s->kind == WS_READ_IF)
        name_limits(((Conditions *)data)->r, s->e, 0);
}

/* if (rounds > 0) for …: the loop makes none by itself. */
static gboolean only_guards(const WsReadStep *s, const WsReadStep **loop)
{
    *loop = NULL;
    for (guint i = 0; i < s->other->len; i++) {
        const WsReadStep *o = g_ptr_array_index(s->other, i);
        if (!o->off && o->kind != WS_READ_COMPUTE)
            return FALSE;
    }
    for (guint i = 0; i < s->body->len; i++) {
        const WsReadStep *o = g_ptr_array_index(s->body, i);
        if (o->off || o->kind == WS_READ_COMPUTE)
            continue;
        if (*loop || o->kind != WS_READ_FOR || !o->e)
            return FALSE;
        *loop = o;
    }
    return *loop != NULL;
}

static void unwrap(WsRead *r, GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        const WsReadStep *loop;
        gint64 d, least;
        unwrap(r, s->body);
        unwrap(r, s->other);
        if (s->kind != WS_READ_IF || s->off || !s->e || s->e->n_args != 2 || !only_guards(s, &loop))
            continue;
        const WsExpr *a = ws_x_own(r, ws_expr_ref(s->e->arg[0]));
        if ((s->e->op != WS_EXPR_GE && s->e->op != WS_EXPR_GT) || !ws_x_is(s->e->arg[1], &least) ||
            !ws_x_difference(loop->e, a, &d) || d != least - (s->e->op == WS_EXPR_GE))
            continue; /* a >= n, and the loop makes a - (n - 1) rounds */
        for (guint k = 0; k < s->body->len; k++)
            g_ptr_array_insert(list, (gint)(i + 1 + k), g_ptr_array_index(s->body, k));
        ((WsReadStep *)loop)->text = NULL;
        s->off = TRUE;
    }
}

typedef struct {
    const char *name;
    gint64 value;
    gboolean others;
} Leaf;

static WsLookup leaf_value(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    Leaf *l = data;
    l->name = l->name ? l->name : leaf->name;
    l->others |= leaf->op != WS_EXPR_NAME || strcmp(l->name, leaf->name);
    *value = l->value;
    return WS_LOOKUP_KNOWN;
}

/* "size >= n" for e >= 1, where e grows with one size; else e >= 1 as it is. */
static const char *at_least_one(WsRead *r, const WsExpr *e)
{
    Leaf l = { 0 };
    const WsExprEnv env = { .integer = leaf_value, .data = &l };
    gint64 value;
    while (l.value < 65536 && !l.others && ws_expr_eval(e, &env, &value, NULL) && value < 1)
        l.value++;
    g_autofree char *count = ws_x_text(e);
    return l.others || !l.name || l.value == 65536
               ? ws_source_format(r, "%s >= 1", count)
               : ws_source_format(r, "%s >= %" G_GINT64_FORMAT, l.name, l.value);
}

static void unread(WsRead *r, const WsReadStep *s, const char *what)
{
    ws_source_unread(r, s->line, 1, s->line, what,
                     s->line && s->line <= r->n_lines ? r->line[s->line - 1] : "");
}

gboolean ptx_of_launch(const WsRead *r, const WsExpr *e)
{
    if (e->op == WS_EXPR_NAME) {
        for (guint i = 0; i < r->sizes->len; i++)
            if (!strcmp(e->name, g_ptr_array_index(r->sizes, i)))
                return TRUE;
        for (guint i = 0; i < r->axes->len; i += 2)
            if (!strcmp(e->name, g_ptr_array_index(r->axes, i)))
                return TRUE;
        return FALSE;
    }
    gboolean all = e->op != WS_EXPR_TOTAL && e->op != WS_EXPR_INDEX;
    for (guint i = 0; all && i < e->n_args; i++)
        all = ptx_of_launch(r, e->arg[i]);
    return all;
}

/* Rounds of a loop that is not guarded: a compiler leaves the test out where it knows that there is
 * one (or the kernel makes one too many), so that is assumed, and said. */
static void assume_rounds(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    WsRead *r = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    WsAffine f;
    gint64 known;
    if (s->kind != WS_READ_FOR)
        return;
    const gboolean once = !g_strcmp0(s->text, PTX_ONCE);
    s->text = NULL;
    if (!s->e) { /* over tiles */
        if (once && s->n)
            unread(r, s, "a loop over tiles that may begin after the last one");
        else if (once)
            ws_source_granted(r, "no more CTAs are launched than there are tiles");
        return;
    }
    if (ws_x_is(s->e, &known)) {
        if (once && known < 1)
            unread(r, s, "a loop whose rounds are not known");
        return;
    }
    if (!ws_expr_affine(s->e, &f)) {
        if (once)
            unread(r, s, "a loop whose rounds are not known");
        return;
    }
    Leaf none = { 0 };
    const WsExprEnv env = { .integer = leaf_value, .data = &none };
    gint64 least;
    const gboolean later = f.constant < 0 || (ws_expr_eval(s->e, &env, &least, NULL) && least < 0);
    ws_affine_clear(&f);
    if (!once && !later)
        return;
    if (s->e->op == WS_EXPR_CALL && s->e->func == WS_FUNC_MAX && ws_x_is(s->e->arg[1], &known) &&
        known > 0)
        return; /* says so itself */
    if (!ptx_of_launch(r, s->e)) {
        if (once)
            unread(r, s, "a loop that makes a round whether there is one or not");
        return;
    }
    /* rounds that were taken out of the loop in front of it are made, too */
    const WsExpr *e = once ? s->e : ws_x_op(r, WS_EXPR_ADD, s->e, ws_x_int(r, 1));
    const char *text = at_least_one(r, e);
    for (guint i = 0; i < r->assume->len; i++)
        if (!strcmp(g_ptr_array_index(r->assume, i), text))
            return;
    g_ptr_array_add(r->assume, (gpointer)text);
    ws_source_unread_value(r, s->line, 1, s->line,
                           ws_source_format(r, "that a loop may make no round (assumed: %s)", text),
                           "");
}

void ptx_conditions(WsRead *r)
{
    Conditions q = { r, g_array_new(FALSE, TRUE, sizeof(Rounds)), g_ptr_array_new() };
    ptx_visit(r, collect, &q);
    ptx_visit(r, rewrite_step, &q);
    for (guint g = 0; g < r->groups->len; g++)
        unwrap(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body);
    ptx_visit(r, assume_rounds, r);
    g_array_unref(q.rounds);
    g_ptr_array_unref(q.larger);
}
