/* Tensor by tensor: what the kernel reads, writes, adds to. */
#include "check/global/judge.h"
#include "model/finding.h"
#include "program/formula.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include "check/global/global.h"
#include "program/walk/walk.h"

#include <string.h>

void ws_global_verdict_clear(WsGlobalVerdict *v)
{
    g_clear_pointer(&v->reason, g_free);
    g_clear_pointer(&v->assumed, g_ptr_array_unref);
}

/* --- symbols -----------------------------------------------------------------------------------
 */
void ws_global_begin(WsGlobal *g, const WsProgram *p)
{
    *g = (WsGlobal){ .p = p, .ps = ws_polys_new() };
    g->terms = (WsTerms){ .p = p,
                          .ps = g->ps,
                          .value = g_new0(WsPoly, p->n_vars + 1),
                          .known = g_new0(gboolean, p->n_vars + 1) };
    g->facts = (WsFacts){ .ps = g->ps,
                          .least = g_array_new(FALSE, FALSE, sizeof(WsPoly)),
                          .tile = g_array_new(FALSE, FALSE, sizeof(WsPoly)),
                          .divide = g_array_new(FALSE, FALSE, sizeof(WsPoly)) };
    g->piece = g_ptr_array_new();
    g->free = g_ptr_array_new();
    g->axes = g_array_new(FALSE, FALSE, sizeof(guint));
    g->extents = g_array_new(FALSE, FALSE, sizeof(WsPoly));
    for (guint i = 0; i < p->n_assume; i++)
        ws_facts_assume(&g->facts, &g->terms, p->assume[i]);
}

void ws_global_end(WsGlobal *g)
{
    g_array_unref(g->facts.least);
    g_array_unref(g->facts.tile);
    g_array_unref(g->facts.divide);
    g_array_unref(g->axes);
    g_array_unref(g->extents);
    g_ptr_array_unref(g->piece);
    g_ptr_array_unref(g->free);
    g_free(g->terms.value);
    g_free(g->terms.known);
    g_free(g->problem);
    g_free(g->cure);
    g_free(g->bounded);
    ws_polys_free(g->ps);
}

static void find_axes(WsGlobal *g)
{
    const WsProgram *p = g->p;
    g_array_set_size(g->axes, 0);
    for (guint a = 0; a < p->tiles->n_axes; a++) {
        guint atom;
        g_autoptr(WsExpr) var = ws_expr_var(p->tiles->axis[a].var, p->tiles->axis[a].name);
        if (ws_poly_is_atom(ws_terms_of(&g->terms, var), &atom))
            g_array_append_val(g->axes, atom);
    }
}

/* The reason why it is not shown, NULL if it is. Caller frees. */
static char *shown(WsGlobal *g, gint tensor)
{
    g->tensor = tensor;
    g_ptr_array_set_size(g->piece, 0);
    g_clear_pointer(&g->problem, g_free);
    g_clear_pointer(&g->cure, g_free);
    g_clear_pointer(&g->bounded, g_free);
    memset(g->window, 0, sizeof g->window);
    ws_global_pieces(g);
    find_axes(g);
    if (!g->problem)
        ws_global_split_axes(g);
    if (!g->problem && ws_global_injective(g) && ws_global_covered(g))
        return g_strdup(g->bounded);
    g_clear_pointer(&g->bounded, g_free);
    return g_strdup(g->problem ? g->problem : WS_WORD("no reason was found"));
}

/* --- words -------------------------------------------------------------------------------------
 */
static char *element_text(const WsProgram *p, gint tensor, const gint64 *element)
{
    GString *s = g_string_new(p->tensor[tensor].name);
    for (guint d = 0; d < p->tensor[tensor].rank; d++)
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, d ? "," : "[", element[d]);
    return g_string_free(g_string_append_c(s, ']'), FALSE);
}

static const char *step_of(const WsOp *op)
{
    return op->step ? op->step : op->id;
}

/* A step that has to do with it, besides the one it is found at. */
static void note_step(WsFinding *f, const WsOp *op)
{
    if (!f->steps)
        f->steps = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < f->steps->len; i++)
        if (strcmp(f->steps->pdata[i], step_of(op)) == 0)
            return;
    if (g_strcmp0(f->at, step_of(op)) != 0 && f->steps->len < 8)
        g_ptr_array_add(f->steps, g_strdup(step_of(op)));
}

static void say(const WsGlobal *g, const WsMiscount *m, const char *reason, WsFindings *findings)
{
    const WsProgram *p = g->p;
    /* what could not be shown first may be another mistake than the one that was counted */
    const gboolean elsewhere = g->cure && g->cure_times >= 0 && g->cure_times != (int)m->times;
    const WsTensor *t = &p->tensor[m->tensor];
    g_autofree char *at = g_strdup_printf("tensors/%s", t->name);
    g_autofree char *element = element_text(p, m->tensor, m->element);
    g_autofree char *first = m->who[0] ? ws_miscount_where(m, 0, m->who[0]) : NULL,
                    *second = m->who[1] ? ws_miscount_where(m, 1, m->who[1]) : NULL;
    const char *where[] = { first, second };
    const char *sizes = m->sizes && *m->sizes ? m->sizes : WS_WORD("the sizes that it has");
    WsFinding *f;
    if (m->same_place) {
        g_autofree char *other = element_text(p, m->tensor, m->other);
        f = ws_findings_add(findings, WS_RULE_G_TWICE, at,
                            "%s and %s lie at the same place with these strides [%s]", element,
                            other, sizes);
        ws_finding_set_remedy(f, "Give %s strides that keep its elements apart.", t->name);
    } else if (m->times == 2) {
        f = ws_findings_add(findings, WS_RULE_G_TWICE, step_of(m->op[1]),
                            "%s is written by %s and again by %s [%s]", element, where[0], where[1],
                            sizes);
        ws_finding_tell(f, WS_STORY_FIRST, "%s writes %s (%s%s%s), in CTA %" G_GINT64_FORMAT,
                        where[0], element, m->op[0]->label, *m->round[0] ? "; " : "", m->round[0],
                        m->cta[0]);
        ws_finding_tell(f, WS_STORY_THEN, "%s writes it, too (%s%s%s), in CTA %" G_GINT64_FORMAT,
                        where[1], m->op[1]->label, *m->round[1] ? "; " : "", m->round[1],
                        m->cta[1]);
        f->round = g_strdup(m->round[1]);
        f->agent = g_strdup(m->who[1]);
        f->other = g_strdup(m->who[0]);
        note_step(f, m->op[0]);
    } else {
        f = ws_findings_add(findings, WS_RULE_G_NEVER, at, "%s is never written [%s]", element,
                            sizes);
        for (guint i = 0; i < p->n_ops; i++)
            if (p->op[i]->tensor == m->tensor && ws_op_row(p->op[i]->kind)->to == WS_DATA_AT_TENSOR)
                note_step(f, p->op[i]);
    }
    if (!elsewhere)
        ws_finding_tell(f, WS_STORY_BETWEEN, "%s", reason);
    ws_finding_tell(f, WS_STORY_SO,
                    m->times == 2 ? "which of the two values remains is not determined"
                                  : "the element keeps whatever was there before the launch");
    if (g->cure && !elsewhere && !m->same_place)
        ws_finding_set_remedy(f, "%s", g->cure);
    f->object = g_strdup(t->name);
    f->sizes = g_strdup(m->sizes);
    f->harm = WS_HARM_CORRUPTION;
}

/* --- reductions --------------------------------------------------------------------------------
 */
/* Additions in any order come to the same; an addition and a maximum do not. */
static gboolean one_reduction(const WsProgram *p, gint tensor, WsFindings *findings)
{
    const WsOp *first = NULL;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->tensor != tensor || op->reduce == WS_REDUCE_NONE)
            continue;
        if (!first)
            first = op;
        if (op->reduce == first->reduce)
            continue;
        WsFinding *f = ws_findings_add(findings, WS_RULE_L_ACCESS, step_of(op),
                                       "%s is reduced in two ways; their order is not fixed",
                                       p->tensor[tensor].name);
        ws_finding_set_remedy(f, "Reduce a tensor by one of add, min and max.");
        return FALSE;
    }
    return TRUE;
}

static void open_reason(WsGlobalVerdict *v, const WsProgram *p, gint tensor, const char *reason,
                        WsFindings *findings)
{
    const char *name = p->tensor[tensor].name;
    g_autofree char *at = g_strdup_printf("tensors/%s", name);
    if (v->kind == WS_GLOBAL_WRONG)
        return;
    WsFinding *f = ws_findings_add(findings, WS_RULE_F_GLOBAL, at,
                                   "it was not shown that every element of %s is written once: %s",
                                   name, reason);
    f->object = g_strdup(name);
    v->kind = WS_GLOBAL_OPEN;
    if (!v->reason)
        v->reason = g_strdup(f->said);
}

static gboolean has_rehearsal(const WsProgram *p)
{
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE && p->var[i].rehearse != p->var[i].preset)
            return TRUE;
    return FALSE;
}

/* The launch that the design names is within what is written. Larger ones were not thought of: that
 * is said, and the kernel is not called wrong. */
static gboolean fits(const WsGlobal *g)
{
    g_autoptr(WsLaunchValues) v = ws_launch_values(g->p, NULL, 0, FALSE, NULL);
    for (guint d = 0; v && d < g->p->tensor[g->tensor].rank; d++)
        if (g->window[d] && ws_launch_shape(v, (guint)g->tensor, d) > g->window[d])
            return FALSE;
    return v != NULL;
}

/* A step that a mask keeps from elements of the tensor; NULL: there is none. */
static const WsOp *masked(const WsProgram *p, gint tensor)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->tensor == tensor && p->op[i]->mask)
            return p->op[i];
    return NULL;
}

static void stated(WsGlobalVerdict *v, const WsProgram *p, gint tensor)
{
    const WsTensor *t = &p->tensor[tensor];
    g_ptr_array_add(
        v->assumed,
        ws_formula_says_any(p, (guint)tensor)
            ? ws_phrase("every element of %s is written once, or may hold anything (%s)", t->name,
                        t->covers)
            : ws_phrase("every element of %s is written once (%s)", t->name, t->covers));
}

/* G22: how often is the kernel's, as once a part of a sum; what is shown of it is said. */
static void reduced(WsGlobalVerdict *v, WsGlobal *g, gint tensor)
{
    const char *name = g->p->tensor[tensor].name;
    g_ptr_array_set_size(g->free, 0);
    g->reduces = TRUE;
    g_autofree char *reason = masked(g->p, tensor) ? g_strdup("") : shown(g, tensor);
    g->reduces = FALSE;
    if (reason) {
        g_ptr_array_add(v->assumed, ws_phrase("%s is reduced where, and as often as, it should be "
                                              "(its elements are not counted)",
                                              name));
        return;
    }
    g_autoptr(GString) each = g_string_new(NULL);
    for (guint i = 0; i < g->free->len; i++)
        g_string_append_printf(each, "%s%s", i ? ", " : "", (const char *)g->free->pdata[i]);
    if (g->free->len)
        g_ptr_array_add(
            v->assumed,
            ws_phrase("every element of %s is to be reduced once for each %s", name, each->str));
}

static void judge(WsGlobalVerdict *v, WsGlobal *g, gint tensor, WsFindings *findings)
{
    const WsProgram *p = g->p;
    const WsTensor *t = &p->tensor[tensor];
    guint tried = 0;
    if (t->access == WS_ACCESS_REDUCE && !one_reduction(p, tensor, findings))
        v->kind = WS_GLOBAL_WRONG;
    else if (t->access == WS_ACCESS_REDUCE)
        reduced(v, g, tensor);
    if (t->access != WS_ACCESS_WRITE)
        return;
    const WsOp *mask = masked(p, tensor);
    if (mask && t->covers) { /* what a mask leaves out is not counted */
        stated(v, p, tensor);
        return;
    }
    g_autofree char *reason =
        mask ? ws_phrase("a mask says which elements %s writes (state `covers`)", mask->id)
             : shown(g, tensor);
    if (!reason)
        return;
    if (ws_formula_says_any(p, (guint)tensor) && !t->covers) {
        g_free(reason);
        reason =
            ws_phrase("the reference says `any` of some elements of %s (state `covers`)", t->name);
    }
    if (mask || (ws_formula_says_any(p, (guint)tensor) && !t->covers)) {
        open_reason(v, p, tensor, reason, findings);
        return;
    }
    /* of what is stated only the sizes that the author has chosen are looked at */
    WsMiscount *m = NULL;
    if (ws_formula_says_any(
            p, (guint)tensor)) { /* which need not be written is not counted; twice is not once */
        if (has_rehearsal(p) && !ws_global_reads_data(p))
            m = ws_global_count(p, tensor, WS_COUNT_OWN, &tried);
        if (m && m->times == 2) {
            g_free(reason);
            reason = ws_phrase("an element is written twice [%s], and the reference does not say "
                               "that it may hold anything",
                               m->sizes && *m->sizes ? m->sizes : WS_WORD("the sizes that it has"));
            open_reason(v, p, tensor, reason, findings);
        } else {
            stated(v, p, tensor);
        }
        if (m)
            ws_miscount_free(m);
        return;
    }
    if (t->covers ? has_rehearsal(p) && !ws_global_reads_data(p) : !g->bounded || !fits(g))
        m = ws_global_count(p, tensor, t->covers ? WS_COUNT_OWN : WS_COUNT_ALL, &tried);
    if (m) {
        say(g, m, reason, findings);
        v->kind = WS_GLOBAL_WRONG;
        ws_miscount_free(m);
    } else if (t->covers) {
        stated(v, p, tensor);
    } else {
        open_reason(v, p, tensor, reason, findings);
    }
}

/* What devices put is judged over all of them (src/check/mesh). */
static gboolean is_put(const WsProgram *p, gint tensor)
{
    for (guint i = 0; p->mesh && i < p->n_ops; i++)
        if (ws_op_puts(p->op[i]->kind) && p->op[i]->tensor == tensor)
            return TRUE;
    return FALSE;
}

static WsGlobalVerdict some(const WsProgram *p, gint tensor, WsFindings *findings)
{
    WsGlobalVerdict v = { .assumed = g_ptr_array_new_with_free_func(g_free) };
    WsGlobal g;
    ws_global_begin(&g, p);
    for (guint i = 0; i < p->n_tensors; i++)
        if (tensor < 0 ? !is_put(p, (gint)i) : (gint)i == tensor)
            judge(&v, &g, (gint)i, findings);
    ws_global_end(&g);
    if (v.kind != WS_GLOBAL_OPEN)
        g_clear_pointer(&v.reason, g_free);
    return v;
}

WsGlobalVerdict ws_check_global(const WsProgram *p, WsFindings *findings)
{
    return some(p, -1, findings);
}

WsGlobalVerdict ws_check_global_tensor(const WsProgram *p, gint tensor, WsFindings *findings)
{
    return some(p, tensor, findings);
}

char *ws_check_global_twice(const WsProgram *p)
{
    guint tried = 0;
    WsMiscount *m = NULL;
    for (guint i = 0; i < p->n_tensors && !m; i++)
        if (p->tensor[i].access == WS_ACCESS_WRITE && p->tensor[i].covers && !masked(p, (gint)i) &&
            !ws_global_reads_data(p))
            m = ws_global_count(p, (gint)i, WS_COUNT_TWICE, &tried);
    if (!m)
        return NULL;
    g_autofree char *element = element_text(p, m->tensor, m->element);
    g_autofree char *first = ws_miscount_where(m, 0, m->who[0]),
                    *second = ws_miscount_where(m, 1, m->who[1]);
    char *said = ws_phrase("%s is written by %s and again by %s [%s]", element, first, second,
                           m->sizes && *m->sizes ? m->sizes : WS_WORD("the sizes that it has"));
    ws_miscount_free(m);
    return said;
}
