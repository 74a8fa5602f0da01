/* Parts of sums: docs/soundness.md section 8.4, lemmas DIFFERENCE, FLAT and REMAINDER. */
#include "verify/form.h"
#include "verify/text.h"

#include <string.h>

typedef struct {
    WsAffine sum;
    char **text;  /* of its terms */
    WsExpr *with; /* what is worth as much */
    gboolean asked;
} Part;

static void part_free(gpointer data)
{
    Part *part = data;
    ws_affine_clear(&part->sum);
    g_strfreev(part->text);
    ws_expr_unref(part->with);
    g_free(part);
}

static char **texts_of(const WsAffine *f)
{
    char **text = g_new0(char *, f->n + 1);
    for (guint i = 0; i < f->n; i++)
        text[i] = text_of(f->term[i]);
    return text;
}

void form_add_part(Plan *plan, const WsExpr *sum, WsExpr *with, gboolean asked)
{
    Part *part = g_new0(Part, 1);
    const gboolean fits = ws_expr_affine(sum, &part->sum);
    part->text = texts_of(&part->sum);
    part->with = with;
    part->asked = asked;
    gboolean own = fits && part->sum.n == 1; /* its term is no symbol */
    for (guint i = 1; i < plan->c->symbol->len && own && ABS(part->sum.factor[0]) == 1; i++)
        own = strcmp(g_array_index(plan->c->symbol, Symbol, i).same, part->text[0]) != 0;
    if (fits && (own || part->sum.n > 1))
        g_ptr_array_add(plan->part, part);
    else
        part_free(part);
}

/* `part` stands k times in f (`once`: k is 1): then what it is worth does. */
static gboolean put_part(WsAffine *f, const Part *part, gboolean once)
{
    g_auto(GStrv) text = texts_of(f);
    g_autofree guint *at = g_new0(guint, part->sum.n);
    gint64 k = 0, moved;
    for (guint i = 0; i < part->sum.n; i++) {
        while (at[i] < f->n && strcmp(text[at[i]], part->text[i]) != 0)
            at[i]++;
        if (at[i] == f->n || part->sum.factor[i] == 0 || f->factor[at[i]] == G_MININT64)
            return FALSE;
        if (i == 0)
            k = f->factor[at[0]] / part->sum.factor[0];
        if (k == 0 || (once && k != 1) || __builtin_mul_overflow(k, part->sum.factor[i], &moved) ||
            moved != f->factor[at[i]])
            return FALSE;
    }
    if (__builtin_mul_overflow(k, part->sum.constant, &moved) ||
        __builtin_sub_overflow(f->constant, moved, &moved))
        return FALSE;
    f->constant = moved;
    for (guint i = 0; i < part->sum.n; i++)
        f->factor[at[i]] = 0;
    ws_expr_unref(f->term[at[0]]);
    f->term[at[0]] = ws_expr_ref(part->with);
    f->factor[at[0]] = k;
    return TRUE;
}

gboolean form_put_parts(const Plan *plan, WsAffine *f)
{
    gboolean some = FALSE;
    for (guint first = 0, next = 0; first < plan->part->len; first = next) {
        const Part *part = plan->part->pdata[first];
        while (next < plan->part->len && ((Part *)plan->part->pdata[next])->sum.n == part->sum.n)
            next++;
        for (guint once = 2; once-- > 0;)
            for (guint i = first; i < next; i++)
                some |= put_part(f, plan->part->pdata[i], once);
    }
    return some;
}

gboolean form_put_rest(WsAffine *f, guint term)
{
    gint64 m;
    const WsExpr *t = f->term[term];
    if (t->op != WS_EXPR_DIV || f->factor[term] == 0 || !ws_expr_is_int(t->arg[1], &m) || m < 2)
        return FALSE;
    WsExpr *down = ws_expr_op(WS_EXPR_MUL, ws_expr_ref(t), ws_expr_int(m));
    g_autoptr(WsExpr) sum = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(t->arg[0]), down);
    Part part = { .with = ws_expr_op(WS_EXPR_MOD, ws_expr_ref(t->arg[0]), ws_expr_int(m)) };
    const gboolean fits = ws_expr_affine(sum, &part.sum);
    part.text = texts_of(&part.sum);
    const gboolean some = fits && put_part(f, &part, FALSE);
    ws_affine_clear(&part.sum);
    g_strfreev(part.text);
    ws_expr_unref(part.with);
    return some;
}

/* Longer ones first, then those that somebody asks about, then many times the same. */
static int by_length(gconstpointer a, gconstpointer b)
{
    const Part *x = *(Part *const *)a, *y = *(Part *const *)b;
    return x->sum.n != y->sum.n   ? (int)y->sum.n - (int)x->sum.n
           : x->asked != y->asked ? y->asked - x->asked
                                  : (ABS(y->sum.factor[0]) > ABS(x->sum.factor[0])) -
                                        (ABS(y->sum.factor[0]) < ABS(x->sum.factor[0]));
}

GPtrArray *form_parts_new(void)
{
    return g_ptr_array_new_with_free_func(part_free);
}

void form_sort_parts(Plan *plan)
{
    g_ptr_array_sort(plan->part, by_length); /* a shorter one may stand in a longer one */
}
