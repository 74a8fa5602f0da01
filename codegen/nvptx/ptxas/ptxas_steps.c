#include "codegen/nvptx/ptxas/ptxas_steps.h"
#include "codegen/facts.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/pressure.h"
#include "program/program.h"

#include <string.h>

static void free_note(gpointer data)
{
    WsPtxasNote *n = data;
    g_free(n->code);
    g_free(n->text);
    g_ptr_array_unref(n->step);
    g_free(n);
}

static WsPtxasNote *add(GPtrArray *notes, const char *code, const char *text)
{
    WsPtxasNote *n = g_new0(WsPtxasNote, 1);
    n->code = g_strdup(code);
    n->text = g_strstrip(g_strdup(text));
    n->step = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(notes, n);
    return n;
}

static void add_step(WsPtxasNote *n, const WsOp *op)
{
    const char *step = op->step ? op->step : op->id;
    for (guint i = 0; i < n->step->len; i++) {
        if (strcmp(n->step->pdata[i], step) == 0)
            return;
    }
    g_ptr_array_add(n->step, g_strdup(step));
}

/* --- by line -----------------------------------------------------------------------------------*/

/* The operation whose id stands in the last comment before line `number` of the text. */
static const WsOp *op_at_line(const WsProgram *p, const char *ptx, guint number)
{
    g_auto(GStrv) line = g_strsplit(ptx, "\n", -1);
    guint n = MIN(number, g_strv_length(line));
    while (n-- > 0) {
        const char *at = g_strchug(line[n]);
        if (!g_str_has_prefix(at, "// "))
            continue;
        for (guint i = 0; i < p->n_ops; i++) {
            if (strcmp(p->op[i]->id, at + 3) == 0)
                return p->op[i];
        }
    }
    return NULL;
}

static gboolean line_of(const char *text, guint *number)
{
    const char *at = strstr(text, "line ");
    if (!at || !g_ascii_isdigit(at[5]))
        return FALSE;
    *number = (guint)g_ascii_strtoull(at + 5, NULL, 10);
    return TRUE;
}

/* --- by what is in flight --------------------------------------------------------------------- */

typedef enum { READS_ACCUMULATOR, WRITES_ACCUMULATOR, WRITES_OPERAND, PRODUCTS, BUDGETS } Suspect;

static const struct {
    const char *code;
    Suspect suspect;
} suspects[] = {
    { "C7504", BUDGETS },           { "C7505", BUDGETS },
    { "C7508", BUDGETS },           { "C7511", PRODUCTS },
    { "C7512", PRODUCTS },          { "C7513", WRITES_OPERAND },
    { "C7514", READS_ACCUMULATOR }, { "C7515", WRITES_ACCUMULATOR },
    { "C7518", WRITES_OPERAND },
};

typedef struct {
    const WsOp *op;
    gboolean found;
} Search;

/* A product in flight before the operation holds the value: as accumulator (0) or operand (1). */
static gboolean held(const WsOp *op, guint value, guint operand)
{
    for (guint i = 0; i < op->n_flying; i++) {
        const WsOp *product = op->flying[i];
        if (operand < product->n_value && product->value[operand].value == value)
            return TRUE;
    }
    return FALSE;
}

static void named(const WsArray *a, gpointer data)
{
    Search *s = data;
    if (a->form == WS_ARRAY_VALUE)
        s->found = s->found || held(s->op, a->index, 0);
}

static gboolean reads_accumulator(const WsOp *op)
{
    Search s = { .op = op };
    for (guint i = 0; i < op->n_value; i++)
        s.found |= op->value[i].mode & WS_MODE_READ && held(op, op->value[i].value, 0);
    for (guint i = 0; i < op->n_math; i++)
        ws_array_visit(op->assign[i].array, named, &s);
    return s.found;
}

static gboolean writes(const WsOp *op, guint operand)
{
    gboolean found = FALSE;
    for (guint i = 0; i < op->n_value; i++)
        found |= op->value[i].mode & WS_MODE_WRITE && held(op, op->value[i].value, operand);
    for (guint i = 0; i < op->n_math; i++)
        found |= op->assign[i].value >= 0 && held(op, (guint)op->assign[i].value, operand);
    return found;
}

static gboolean is_suspect(const WsOp *op, Suspect suspect)
{
    if (ws_op_is_product(op->kind) || suspect == PRODUCTS)
        return ws_op_is_product(op->kind) && suspect == PRODUCTS;
    if (op->kind == WS_OP_SETMAXNREG || suspect == BUDGETS)
        return op->kind == WS_OP_SETMAXNREG && suspect == BUDGETS;
    return suspect == READS_ACCUMULATOR    ? reads_accumulator(op)
           : suspect == WRITES_ACCUMULATOR ? writes(op, 0)
                                           : writes(op, 1);
}

static void find(const WsProgram *p, Suspect suspect, WsPtxasNote *note)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent >= 0 && is_suspect(op, suspect))
            add_step(note, op);
    }
    if (!note->step->len && suspect != PRODUCTS) /* the cause is not to be seen: where it costs */
        find(p, PRODUCTS, note);
}

/* --- notes -------------------------------------------------------------------------------------*/

static void diagnostic(GPtrArray *notes, const WsProgram *p, const char *ptx, const char *text)
{
    const char *at = strstr(text, "C7");
    g_autofree char *code = at ? g_strndup(at, 5) : g_strdup("warning");
    const char *words = strchr(at ? at : text, ')');
    WsPtxasNote *n = add(notes, code, words ? words + 1 : text);
    guint number;
    const WsOp *op = line_of(text, &number) ? op_at_line(p, ptx, number) : NULL;
    if (op) {
        add_step(n, op);
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(suspects); i++) {
        if (strcmp(suspects[i].code, code) == 0)
            find(p, suspects[i].suspect, n);
    }
}

/* Spills are laid where the fullest agent holds most. */
static void spills(GPtrArray *notes, const WsProgram *p, const WsPtxasReport *r)
{
    g_autofree char *text =
        g_strdup_printf("%u bytes of stack, %u bytes stored and %u loaded for want of registers",
                        r->stack, r->spill_stores, r->spill_loads);
    WsPtxasNote *n = add(notes, r->spill_stores ? "spill" : "stack", text);
    const WsOp *worst = NULL;
    double most = 0;
    for (guint a = 0; a < p->n_agents; a++) {
        WsPressure x = ws_program_pressure(p, a);
        double share = x.budget ? (double)ws_pressure_total(&x) / x.budget : 0;
        if (x.peak && share > most) {
            most = share;
            worst = x.peak;
        }
    }
    if (worst)
        add_step(n, worst);
}

GPtrArray *ws_ptxas_notes(const WsProgram *p, const char *ptx, const WsPtxasReport *report)
{
    GPtrArray *notes = g_ptr_array_new_with_free_func(free_note);
    for (guint i = 0; i < report->diagnostics->len; i++)
        diagnostic(notes, p, ptx, report->diagnostics->pdata[i]);
    if (report->stack || report->spill_stores || report->spill_loads)
        spills(notes, p, report);
    return notes;
}

char *ws_ptxas_notes_print(const GPtrArray *notes)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < notes->len; i++) {
        const WsPtxasNote *n = notes->pdata[i];
        g_string_append_printf(s, "%s: %s\n", n->code, n->text);
        for (guint k = 0; k < n->step->len; k++)
            g_string_append_printf(s, "  at %s\n", (char *)n->step->pdata[k]);
    }
    return g_string_free(s, FALSE);
}

char *ws_register_report(const WsProgram *p)
{
    GString *s = g_string_new("group            warps  values  estimate  budget\n");
    for (guint a = 0; a < p->n_agents; a++) {
        const WsAgent *agent = &p->agent[a];
        WsPressure r = ws_program_pressure(p, a);
        g_string_append_printf(s, "%-16s %5u  %6u  %8u  %6u%s\n", agent->name, agent->warps,
                               r.values, ws_pressure_total(&r), r.budget,
                               ws_pressure_total(&r) > r.budget ? "  over" : "");
    }
    return g_string_free(s, FALSE);
}
