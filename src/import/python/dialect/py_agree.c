#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Whether a remark of an export says what its line says: only then is it taken. */

/* --- "# is: LEN[b, t]" ------------------------------------------------------------------------ */

static gboolean is_call_of(const WsPyNode *node, const char *const *words)
{
    return node->kind == WS_PY_CALL && node->n > 1 && node->kid[0]->kind == WS_PY_ATTR &&
           g_strv_contains(words, node->kid[0]->text);
}

/* x of cast(x, int64) */
static const WsPyNode *inside_cast(const WsPyNode *node)
{
    static const char *const casts[] = { "cast", NULL };
    while (is_call_of(node, casts))
        node = node->kid[1];
    return node;
}

/* The sum without its leftmost name, which has to be `base`. NULL: it is no such sum. */
static const WsExpr *behind_base(PyRead *p, const WsPyNode *sum, const char *base)
{
    sum = inside_cast(sum);
    if (sum->kind == WS_PY_NAME)
        return !strcmp(sum->text, base) ? ws_x_int(p->r, 0) : NULL;
    if (sum->kind != WS_PY_BINARY || sum->n != 2 ||
        (strcmp(sum->text, "+") != 0 && strcmp(sum->text, "-") != 0))
        return NULL;
    const WsExpr *left = behind_base(p, sum->kid[0], base);
    return left ? ws_x_op(p->r, *sum->text == '+' ? WS_EXPR_ADD : WS_EXPR_SUB, left,
                          py_eval_int(p, sum->kid[1]))
                : NULL;
}

static gboolean same(const WsExpr *a, const WsExpr *b)
{
    gint64 d;
    return a && b && (ws_expr_equal(a, b) || (ws_x_difference(a, b, &d) && d == 0));
}

/* Each part of the mask bounds one of the indices. FALSE: some part asks for something else. */
static gboolean bounds(PyRead *p, const WsPyNode *mask, const WsExpr *const *at, guint n,
                       const WsExpr **below, gboolean *from)
{
    mask = inside_cast(mask);
    if (mask->kind != WS_PY_BINARY || mask->n != 2)
        return FALSE;
    if (!strcmp(mask->text, "&") || !strcmp(mask->text, "and"))
        return bounds(p, mask->kid[0], at, n, below, from) &&
               bounds(p, mask->kid[1], at, n, below, from);
    const gboolean less = !strcmp(mask->text, "<"), least = !strcmp(mask->text, ">=");
    const WsExpr *left = less || least ? py_eval_int(p, mask->kid[0]) : NULL;
    const WsExpr *right = left ? py_eval_int(p, mask->kid[1]) : NULL;
    gint64 zero;
    gboolean found = FALSE;
    for (guint i = 0; right && i < n; i++) {
        if (!same(left, at[i]))
            continue;
        if (least && ws_x_is(right, &zero) && zero == 0)
            found = from[i] = TRUE;
        if (less && (!below[i] || same(below[i], right))) {
            below[i] = right;
            found = TRUE;
        }
    }
    return found;
}

/* load(T + …, mask=…, other=0) is T[…], which is 0 outside of T. An index that no mask keeps from 0
 * on is below it in all groups alike. */
static gboolean is_element(PyRead *p, const WsPyNode *load, const WsPyNode *said)
{
    const WsPyNode *index = said->kid[1], *mask = NULL, *other = NULL;
    const guint n = index->kind == WS_PY_TUPLE ? index->n : 1;
    const Val *base = said->kid[0]->kind == WS_PY_NAME ? py_lookup(p, said->kid[0]->text) : NULL;
    const WsExpr *at[5], *below[5] = { NULL };
    gboolean from[5] = { FALSE };
    for (guint i = 2; i < load->n; i++) {
        const WsPyNode *arg = load->kid[i];
        const gboolean keyword = arg->kind == WS_PY_KEYWORD;
        if (keyword && !strcmp(arg->text, "mask") && !mask)
            mask = arg->kid[0];
        else if (keyword && !strcmp(arg->text, "other") && !other)
            other = arg->kid[0];
        else
            return FALSE;
    }
    if (!mask || !other || other->kind != WS_PY_INT || other->i != 0 || n < 1 || n > 5 || !base ||
        (base->kind != VAL_PARAM && base->kind != VAL_TENSOR))
        return FALSE;
    for (guint i = 0; i < n; i++)
        if (!(at[i] = py_eval_int(p, index->kind == WS_PY_TUPLE ? index->kid[i] : index)))
            return FALSE;
    const WsExpr *offset = behind_base(p, load->kid[1], said->kid[0]->text);
    const gint number = py_tensor(p, base, n, load->line);
    if (!offset || number < 0 || !bounds(p, mask, at, n, below, from))
        return FALSE;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, number);
    const WsExpr *sum = ws_x_int(p->r, 0), *stride = ws_x_int(p->r, 1);
    for (guint i = n; i-- > 0;) {
        if (!below[i])
            return FALSE;
        if (t->shape[i] && !same(t->shape[i], below[i]))
            return FALSE;
        sum = ws_x_op(p->r, WS_EXPR_ADD, sum, ws_x_op(p->r, WS_EXPR_MUL, at[i], stride));
        stride = ws_x_op(p->r, WS_EXPR_MUL, stride, below[i]);
    }
    if (!same(offset, sum))
        return FALSE;
    for (guint i = 0; i < n; i++) /* another load has to have the same */
        t->shape[i] = t->shape[i] ? t->shape[i] : below[i];
    return TRUE;
}

static gboolean is_plain(const WsPyNode *node)
{
    static const char *const calls[] = { "arange", "cast", NULL };
    gboolean plain =
        is_call_of(node, calls) || (node->kind != WS_PY_CALL && node->kind != WS_PY_INDEX);
    for (guint i = 0; i < node->n && plain; i++)
        plain = is_plain(node->kid[i]);
    return plain;
}

gboolean py_line_says(PyRead *p, const WsPyNode *line, const WsPyNode *said)
{
    static const char *const loads[] = { "load", NULL };
    static const char *const known[] = { "where", "cdiv", "minimum", "maximum", NULL };
    line = inside_cast(line);
    said = inside_cast(said);
    if (said->kind == WS_PY_INDEX)
        return is_call_of(line, loads) && is_element(p, line, said);
    if (is_plain(line) && is_plain(said))
        return same(py_eval_int(p, line), py_eval_int(p, said));
    if (line->kind != said->kind || line->n != said->n || g_strcmp0(line->text, said->text) ||
        line->i != said->i)
        return FALSE;
    if (line->kind == WS_PY_CALL && (!is_call_of(line, known) || !is_call_of(said, known)))
        return FALSE;
    const guint first = line->kind == WS_PY_CALL;
    if (first && strcmp(line->kid[0]->text, said->kid[0]->text) != 0)
        return FALSE;
    for (guint i = first; i < line->n; i++)
        if (!py_line_says(p, line->kid[i], said->kid[i]))
            return FALSE;
    return line->n > first;
}

/* --- "# first: k == 0" ------------------------------------------------------------------------ */

typedef struct {
    const PyRead *p;
    gint value;
    const GPtrArray *to;
    GPtrArray *around, *zero_around, *here; /* the last two: NULL until they are met */
    GPtrArray *products;                    /* GPtrArray*: what is around each */
    const char *c;
    gboolean other; /* something else has set it since */
} History;

static GPtrArray *copy_of(GPtrArray *list)
{
    return g_ptr_array_copy(list, NULL, NULL);
}

/* Zeros, or zeros where c holds. */
static gboolean is_zeros(const History *h, const char *text)
{
    const char *name = g_array_index(h->p->group->values, WsReadValue, h->value).name;
    const char *formula = text && g_str_has_prefix(text, name) ? text + strlen(name) : "";
    g_autofree char *plain = g_strdup_printf(" = select(%s, 0.0, ", h->c);
    g_autofree char *wrapped = g_strdup_printf(" = select((%s), 0.0, ", h->c);
    return !strcmp(formula, " = 0.0") || !strcmp(formula, " = 0") ||
           g_str_has_prefix(formula, plain) || g_str_has_prefix(formula, wrapped);
}

static void walk(History *h, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean sets =
            !s->off &&
            (s->old == h->value + 1 ||
             (s->value == h->value &&
              (s->kind == WS_READ_COMPUTE || s->kind == WS_READ_READ || s->kind == WS_READ_MMA)));
        if (sets && s->kind == WS_READ_COMPUTE && is_zeros(h, s->text)) {
            g_clear_pointer(&h->zero_around, g_ptr_array_unref);
            h->zero_around = copy_of(h->around);
            g_ptr_array_set_size(h->products, 0);
            h->other = FALSE;
        } else if (sets && s->kind == WS_READ_MMA) {
            g_ptr_array_add(h->products, copy_of(h->around));
        } else if (sets) {
            h->other = TRUE;
        }
        g_ptr_array_add(h->around, s);
        walk(h, s->body);
        walk(h, s->other);
        g_ptr_array_set_size(h->around, h->around->len - 1);
    }
    if (list == h->to)
        h->here = copy_of(h->around);
}

/* Where c holds, q is 0 or less. */
static gboolean leaves_none(const WsExpr *c, const WsExpr *q)
{
    gint64 n, d;
    if (!q)
        return FALSE;
    if (c->op == WS_EXPR_AND)
        return leaves_none(c->arg[0], q) || leaves_none(c->arg[1], q);
    return c->op == WS_EXPR_EQ && ws_x_is(c->arg[1], &n) && ws_x_difference(c->arg[0], q, &d) &&
           n + d <= 0;
}

static gboolean begins(const History *h, const WsExpr *c)
{
    const GPtrArray *here = h->here, *zero = h->zero_around;
    if (!here || !zero || h->other || zero->len > here->len)
        return FALSE;
    for (guint i = 0; i < zero->len; i++)
        if (zero->pdata[i] != here->pdata[i])
            return FALSE;
    for (guint i = zero->len; i < here->len; i++) { /* the first round of each */
        const WsReadStep *s = here->pdata[i];
        if (s->kind == WS_READ_FOR && (!s->e || !leaves_none(c, ws_x_name(h->p->r, s->name))))
            return FALSE;
    }
    for (guint i = 0; i < h->products->len; i++) {
        const GPtrArray *around = h->products->pdata[i];
        gboolean none = FALSE;
        guint common = 0;
        while (common < MIN(around->len, here->len) && around->pdata[common] == here->pdata[common])
            common++;
        for (guint k = common; k < around->len && !none; k++) {
            const WsReadStep *s = around->pdata[k];
            none = s->kind == WS_READ_FOR && leaves_none(c, s->e);
        }
        if (!none)
            return FALSE;
    }
    return TRUE;
}

gboolean py_begins_anew(PyRead *p, const Val *acc, const WsExpr *c)
{
    if (p->probing || !p->group || acc->kind == VAL_ZERO)
        return TRUE;
    if (acc->kind != VAL_TILE || acc->text)
        return FALSE;
    gint64 never;
    if (ws_x_is(c, &never) && !never)
        return TRUE;
    g_autofree char *text = ws_x_text(c);
    History h = { .p = p,
                  .value = acc->index,
                  .to = p->to,
                  .c = text,
                  .around = g_ptr_array_new(),
                  .products = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref) };
    walk(&h, p->group->body);
    const gboolean is = begins(&h, c);
    g_ptr_array_unref(h.around);
    g_ptr_array_unref(h.products);
    g_clear_pointer(&h.zero_around, g_ptr_array_unref);
    g_clear_pointer(&h.here, g_ptr_array_unref);
    return is;
}
