/* Elements of an array of barriers that nobody arrives on, or another one than is meant; edges of
 * conditions. */
#include "mend/fixer.h"
#include "model/finding.h"

#include <stdlib.h>

enum { MOST_PLACES = 24, ASKED = 22 };

/* "k1_free" and 1 of "k1_free[1] of CTA 0", of the barrier that the finding names; NULL. */
static const char *missing_of(const WsFixer *F, gint *element)
{
    const char *said = F->finding->barrier, *name = F->object ? ws_node_name(F->object) : NULL;
    if (!said || !name || F->object->kind != WS_NODE_BARRIER ||
        !ws_node_has(F->object, WS_F_array) || !g_str_has_prefix(said, name) ||
        said[strlen(name)] != '[')
        return NULL;
    *element = atoi(said + strlen(name) + 1);
    return name;
}

/* The element of the barrier that a step names as a number; -1: another barrier, an expression. */
static gint element_of(const WsNode *step, WsFieldId field, const char *name)
{
    g_autofree char *text = ws_field_text(step, field);
    const gsize n = strlen(name);
    char *end = NULL;
    if (!text || !g_str_has_prefix(text, name) || text[n] != '[')
        return -1;
    const gint64 e = g_ascii_strtoll(text + n + 1, &end, 10);
    return end == text + n + 1 || strcmp(end, "]") != 0 || e > 64 ? -1 : (gint)e;
}

static gboolean arrives(const WsFixer *F, const char *name, gint element)
{
    for (guint i = 0; i < F->spot->len; i++) {
        const WsNode *step = ws_spot(F, (gint)i)->node;
        if ((step->kind == WS_STEP_ARRIVE && element_of(step, WS_F_keyword, name) == element) ||
            element_of(step, WS_F_signal, name) == element)
            return TRUE;
    }
    return FALSE;
}

/* Nobody arrives on this element: a step that does on another one means it. */
void ws_fix_other_element(WsFixer *F)
{
    gint missing;
    const char *name = missing_of(F, &missing);
    if (!name || arrives(F, name, missing))
        return;
    for (guint i = 0; i < F->spot->len; i++) {
        const WsNode *step = ws_spot(F, (gint)i)->node;
        const WsFieldId field = step->kind == WS_STEP_ARRIVE ? WS_F_keyword : WS_F_signal;
        if (element_of(step, field, name) < 0 || step->kind == WS_STEP_WAIT)
            continue;
        g_autofree char *ref = g_strdup_printf("%s[%d]", name, missing), *who = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Let %s be for %s", who, ref);
        ws_fix_set(fix, step, field, ws_json_text(ref));
    }
}

/* Or nobody does what is done for the other ones: behind what waits for products or reads. */
void ws_fix_missing_element(WsFixer *F)
{
    gint missing;
    const char *name = missing_of(F, &missing);
    const WsSpot *like = NULL;
    if (!name || arrives(F, name, missing))
        return;
    for (guint i = 0; i < F->spot->len && !like; i++) {
        const WsSpot *s = ws_spot(F, (gint)i);
        if (s->node->kind == WS_STEP_ARRIVE && element_of(s->node, WS_F_keyword, name) >= 0)
            like = s;
    }
    g_autofree char *by = like ? ws_field_text(like->node, WS_F_by) : NULL,
                    *cta = like ? ws_field_text(like->node, WS_F_cta) : NULL,
                    *use = like ? ws_step_use(like->node) : NULL,
                    *ref = g_strdup_printf("%s[%d]", name, missing);
    for (guint i = 0, n = 0; like && i < F->spot->len && n < MOST_PLACES; i++) {
        const WsSpot *s = ws_spot(F, (gint)i);
        const gint next = ws_spot_next(F, (gint)i, 1);
        if (s->group == like->group || (F->at >= 0 && s->group == ws_spot(F, F->at)->group) ||
            !(ws_step_retires(s->node->kind) || s->node->kind == WS_STEP_READ))
            continue;
        if (ws_step_is(F, next, WS_STEP_READ)) /* behind the last of several */
            continue;
        g_autofree char *after = ws_step_name(s->node);
        WsFix *fix = ws_fixer_add(F, "Arrive on %s after %s", ref, after);
        ws_fix_insert(F, fix, (gint)i, 1,
                      ws_hand(WS_STEP_ARRIVE, ref, use, (WsHanding){ .by = by, .cta = cta }));
        n++;
    }
}

/* --- x > n for x >= n --------------------------------------------------------------------------
 */
static char *other_edge(const WsExpr *e)
{
    static const char *const word[] = {
        [WS_EXPR_LT] = "<=", [WS_EXPR_LE] = "<", [WS_EXPR_GT] = ">=", [WS_EXPR_GE] = ">"
    };
    static const WsExprOp compares[] = { WS_EXPR_LT, WS_EXPR_LE, WS_EXPR_GT, WS_EXPR_GE };
    for (guint i = 0; e && i < G_N_ELEMENTS(compares); i++)
        if (e->op == compares[i]) {
            g_autofree char *a = ws_expr_print(e->arg[0]), *b = ws_expr_print(e->arg[1]);
            return g_strdup_printf("%s %s %s", a, word[e->op], b);
        }
    return NULL;
}

/* x < e - 1 for x < e, and x < e for x < e - 1. */
static char *other_bound(const WsExpr *e, gint64 by)
{
    static const char *const word[] = {
        [WS_EXPR_LT] = "<",  [WS_EXPR_LE] = "<=", [WS_EXPR_GT] = ">",
        [WS_EXPR_GE] = ">=", [WS_EXPR_EQ] = "==", [WS_EXPR_NE] = "!="
    };
    gint64 n = 0;
    if (!e || e->op < WS_EXPR_LT || e->op > WS_EXPR_NE || ws_expr_is_int(e->arg[1], &n))
        return NULL;
    const WsExpr *bound = e->arg[1];
    const gboolean sum = (bound->op == WS_EXPR_SUB || bound->op == WS_EXPR_ADD) &&
                         ws_expr_is_int(bound->arg[1], &n) && n >= 0 && n < G_MAXINT32;
    n = (sum ? bound->op == WS_EXPR_SUB ? -n : n : 0) + by;
    g_autofree char *a = ws_expr_print(e->arg[0]), *b = ws_expr_print(sum ? bound->arg[0] : bound);
    return n == 0 ? g_strdup_printf("%s %s %s", a, word[e->op], b)
                  : g_strdup_printf("%s %s %s %c %" G_GINT64_FORMAT, a, word[e->op], b,
                                    n < 0 ? '-' : '+', ABS(n));
}

/* Steps elsewhere ask just that. */
static gboolean is_asked(const WsFixer *F, const char *text)
{
    for (guint i = 0; i < F->spot->len; i++) {
        const WsNode *step = ws_spot(F, (gint)i)->node;
        g_autofree char *when =
            ws_field_text(step, step->kind == WS_STEP_IF ? WS_F_keyword : WS_F_when);
        if (g_strcmp0(when, text) == 0)
            return TRUE;
    }
    return FALSE;
}

/* x > n - 1 and x > n + 1 for x > n. */
static char *other_number(const WsExpr *e, gint64 by)
{
    static const char *const word[] = {
        [WS_EXPR_LT] = "<",  [WS_EXPR_LE] = "<=", [WS_EXPR_GT] = ">",
        [WS_EXPR_GE] = ">=", [WS_EXPR_EQ] = "==", [WS_EXPR_NE] = "!="
    };
    gint64 n;
    if (!e || e->op < WS_EXPR_LT || e->op > WS_EXPR_NE || !ws_expr_is_int(e->arg[1], &n) ||
        ABS(n / 2) > G_MAXINT32)
        return NULL;
    g_autofree char *a = ws_expr_print(e->arg[0]);
    return g_strdup_printf("%s %s %" G_GINT64_FORMAT, a, word[e->op], n + by);
}

static void edge(WsFixer *F, gint i, gboolean *seen)
{
    for (; i >= 0 && !seen[i]; i = ws_spot(F, i)->up) {
        seen[i] = TRUE;
        const WsNode *step = ws_spot(F, i)->node;
        const WsFieldId field = step->kind == WS_STEP_IF ? WS_F_keyword : WS_F_when;
        const WsExpr *e = ws_node_expr(step, field);
        char *const texts[] = { other_edge(e), other_number(e, -1), other_number(e, 1),
                                other_bound(e, -1), other_bound(e, 1) };
        g_autofree char *name = ws_step_name(step), *before = e ? ws_expr_print(e) : NULL;
        for (guint k = 0; k < G_N_ELEMENTS(texts); k++) {
            if (texts[k]) {
                WsFix *fix = ws_fixer_add(F, "Ask %s instead of %s of %s", texts[k], before, name);
                fix->cost += k;
                fix->cost -= is_asked(F, texts[k]) ? ASKED : 0;
                ws_fix_set(fix, step, field, ws_json_expr(texts[k]));
            }
            g_free(texts[k]);
        }
    }
}

/* Who comes to a named barrier, and who waits there, are not the same one. */
static void both_alike(WsFixer *F, gint a)
{
    const WsSpot *x = ws_spot(F, a);
    const char *name = ws_step_barrier(x->node);
    const WsNode *b = ws_object_named(F->design, WS_F_barriers, name);
    g_autofree char *when = ws_field_text(x->node, WS_F_when);
    const WsExpr *e = ws_node_expr(x->node, WS_F_when);
    if (x->node->kind != WS_STEP_ARRIVE || !b || !ws_is_named(b) || !when ||
        !ws_has_word(when, "replica"))
        return;
    for (gint k = 0; k < (gint)F->spot->len; k++) {
        const WsSpot *y = ws_spot(F, k);
        g_autofree char *its = ws_field_text(y->node, WS_F_when);
        if (!ws_is_on(F, k, WS_STEP_SYNC, name) || y->owner != x->owner || g_strcmp0(its, when))
            continue;
        for (gint by = -1; by <= 1; by += 2) {
            g_autofree char *text = other_number(e, by), *step = ws_step_name(x->node);
            if (!text)
                continue;
            WsFix *fix = ws_fixer_add(F, "Ask %s instead of %s of %s", text, when, step);
            fix->cost -= ASKED;
            ws_fix_set(fix, x->node, WS_F_when, ws_json_expr(text));
        }
    }
}

/* Conditions around the steps that the finding names. */
void ws_fix_other_edge(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        both_alike(F, i);
    g_autofree gboolean *seen = g_new0(gboolean, F->spot->len + 1);
    edge(F, F->at, seen);
    for (guint i = 0; F->finding->steps && i < F->finding->steps->len; i++)
        edge(F, ws_spot_of(F, ws_design_find(F->design, F->finding->steps->pdata[i])), seen);
}
