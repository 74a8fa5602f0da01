/* The judgement of a mesh as a whole. */
#include "check/mesh/judge.h"
#include "base/phrase.h"
#include "check/global/judge.h"
#include "check/mesh/mesh.h"
#include "check/verdict.h"
#include "program/elaborate.h"
#include "program/mesh.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <stdarg.h>

typedef enum { WS_MESH_SHOWN, WS_MESH_OPEN, WS_MESH_WRONG } WsMeshKind;
typedef struct {
    WsMeshKind kind;
    char *reason;       /* OPEN: why, a phrase; owned */
    GPtrArray *assumed; /* char*: what the verdict builds on */
} WsMeshVerdict;

static const char *step_of(const WsOp *op)
{
    return op->step ? op->step : op->id;
}

WsFinding *ws_mesh_wrong(WsMeshCheck *M, WsRuleId rule, const WsOp *op, WsHarm harm,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *said = ws_phrase_v(format, args);
    va_end(args);
    M->wrong = TRUE;
    for (guint i = 0; i < M->findings->list->len; i++) {
        WsFinding *f = M->findings->list->pdata[i];
        if (f->rule == rule && g_strcmp0(f->at, step_of(op)) == 0 && g_strcmp0(f->said, said) == 0)
            return NULL;
    }
    WsFinding *f = ws_findings_add(M->findings, rule, step_of(op), "%s", said);
    f->agent = op->agent >= 0 ? g_strdup(M->p->agent[op->agent].name) : NULL;
    f->harm = harm;
    ws_finding_tell(f, WS_STORY_SO, "%s",
                    harm == WS_HARM_HANG ? WS_WORD("no device ends this launch")
                    : harm == WS_HARM_EARLY
                        ? WS_WORD("an await of a later launch ends too early, or never")
                        : WS_WORD("what was there before is read, kept or overwritten"));
    return f;
}

void ws_mesh_also(WsFinding *f, const WsOp *op)
{
    if (!f)
        return;
    f->steps = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(f->steps, g_strdup(step_of(op)));
}

void ws_mesh_open(WsMeshCheck *M, const WsOp *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *said = ws_phrase_v(format, args);
    va_end(args);
    if (M->open)
        return;
    M->open = op ? ws_phrase("%s: %s", step_of(op), said) : g_strdup(said);
}

const char *ws_mesh_flag(const WsMeshCheck *M, const WsOp *op)
{
    return M->p->mesh->flag[op->peer->flag].name;
}

WsPoly ws_mesh_per_launch(WsMeshCheck *M, gint flag)
{
    return ws_terms_of(&M->g.terms, M->p->mesh->flag[flag].per_launch);
}

/* --- numbers ---------------------------------------------------------------------------------- */
typedef struct {
    WsMeshCheck *M;
    const WsLaunchValues *v;
} Sizes;

static gboolean size_of(gpointer data, guint atom, WsPoly *out)
{
    const Sizes *s = data;
    const WsAtom *x = ws_atom(s->M->g.ps, atom);
    if (x->kind != WS_ATOM_SIZE)
        return FALSE;
    *out = ws_poly_int(s->M->g.ps, ws_launch_var(s->v, x->id));
    return TRUE;
}

gboolean ws_mesh_number(WsMeshCheck *M, WsPoly a, gboolean rehearse, gint64 *out)
{
    g_autoptr(WsLaunchValues) v = ws_launch_values(M->p, NULL, 0, rehearse, NULL);
    if (!v)
        return FALSE;
    Sizes s = { M, v };
    return ws_poly_is_int(ws_poly_map(M->g.ps, a, size_of, &s), out);
}

gboolean ws_mesh_below(WsMeshCheck *M, WsPoly a, WsPoly b)
{
    for (guint i = 0; i < 2; i++) {
        gint64 x, y;
        if (ws_mesh_number(M, a, i == 0, &x) && ws_mesh_number(M, b, i == 0, &y) && x < y)
            return TRUE;
    }
    return FALSE;
}

static gboolean at_least_one(WsMeshCheck *M, const WsExpr *e, gboolean rehearse)
{
    gint64 n;
    return ws_mesh_number(M, ws_terms_of(&M->g.terms, e), rehearse, &n) && n >= 1;
}

static gboolean executed(WsMeshCheck *M, const WsMeshSite *s, gboolean rehearse)
{
    const WsTiles *tiles = M->p->tiles;
    gint64 n;
    if (s->conditional || !s->plain)
        return FALSE;
    if (ws_op_awaits(s->op->kind) && !(ws_mesh_number(M, s->amount, rehearse, &n) && n >= 1))
        return FALSE;
    for (guint i = 0; i < s->n_loops; i++)
        if (s->loop[i]->over != WS_OVER_TILES && !at_least_one(M, s->loop[i]->count, rehearse))
            return FALSE;
    for (guint a = 0; a < tiles->n_axes; a++) /* without tiles no CTA runs */
        if (!at_least_one(M, tiles->axis[a].extent, rehearse))
            return FALSE;
    return TRUE;
}

gboolean ws_mesh_executed(WsMeshCheck *M, const WsMeshSite *s)
{
    return executed(M, s, TRUE) || executed(M, s, FALSE);
}

gboolean ws_mesh_below_at(WsMeshCheck *M, const WsMeshSite *s, WsPoly a, WsPoly b)
{
    for (guint i = 0; i < 2; i++) {
        gint64 x, y;
        if (ws_mesh_number(M, a, i == 0, &x) && ws_mesh_number(M, b, i == 0, &y) && x < y &&
            executed(M, s, i == 0))
            return TRUE;
    }
    return FALSE;
}

/* --- what is outside -------------------------------------------------------------------------- */
static void look(WsMeshCheck *M)
{
    const WsProgram *p = M->p;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent < 0)
            continue;
        if (ws_op_is_raw(op->kind))
            ws_mesh_open(M, op, "a raw step may reach other devices");
        if (ws_op_between_kernels(op->kind))
            ws_mesh_open(
                M, op,
                "griddepcontrol lets launches of one device overlap, and flags count launches that "
                "follow each other");
        if (op->tensor >= 0 && p->tensor[op->tensor].access == WS_ACCESS_EXCHANGE &&
            !(ws_op_loads(op->kind) && op->transfer) && !ws_op_puts(op->kind))
            ws_mesh_open(M, op, "%s touches what devices exchange", ws_op_kind_text(op->kind));
    }
}

/* --- who writes what -------------------------------------------------------------------------- */
static gboolean is_put(const WsProgram *p, gint tensor)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (ws_op_puts(p->op[i]->kind) && p->op[i]->tensor == tensor)
            return TRUE;
    return p->tensor[tensor].access == WS_ACCESS_EXCHANGE;
}

static void spread(WsMeshCheck *M, gint tensor, GPtrArray *assumed)
{
    g_autofree char *why = NULL;
    g_autoptr(WsProgram) all = ws_program_over_devices(M->p, tensor, &why);
    if (!all) {
        ws_mesh_open(M, NULL, "%s", why);
        return;
    }
    const guint before = M->findings->list->len;
    WsGlobalVerdict v = ws_check_global_tensor(all, tensor, M->findings);
    if (v.kind == WS_GLOBAL_WRONG)
        M->wrong = TRUE;
    if (v.kind == WS_GLOBAL_OPEN) {
        ws_mesh_open(M, NULL, "%s", v.reason ? v.reason : WS_WORD("no reason was found"));
        while (M->findings->list->len > before)
            g_ptr_array_remove_index(M->findings->list, M->findings->list->len - 1);
    }
    for (guint i = 0; i < v.assumed->len; i++)
        g_ptr_array_add(assumed, g_strdup(v.assumed->pdata[i]));
    ws_global_verdict_clear(&v);
}

/* --- the whole -------------------------------------------------------------------------------- */
static void begin(WsMeshCheck *M)
{
    const WsProgram *p = M->p;
    ws_global_begin(&M->g, p);
    M->site = g_ptr_array_new();
    M->answer = g_hash_table_new(NULL, NULL);
    M->of_op = g_new0(guint, p->n_ops + 1);
    M->gates = g_new0(gboolean, p->mesh->n_flags + 1);
    M->counted = g_new0(gboolean, p->mesh->n_flags + 1);
    M->needs = g_new0(guint, p->mesh->n_flags + 1);
    M->devices = ws_terms_of(&M->g.terms, p->mesh->devices);
    g_autoptr(WsExpr) rank = ws_expr_var(p->mesh->rank, p->mesh->name);
    M->rank = ws_terms_of(&M->g.terms, rank);
    if (p->tiles->grid) { /* a launch of less is refused (R-LAUNCH) */
        WsPoly more = ws_poly_add(M->g.ps, ws_terms_of(&M->g.terms, p->tiles->grid), -1,
                                  ws_poly_int(M->g.ps, 1));
        g_array_append_val(M->g.facts.least, more);
    }
}

static void end(WsMeshCheck *M)
{
    ws_global_end(&M->g);
    g_ptr_array_unref(M->site);
    g_hash_table_unref(M->answer);
    g_free(M->of_op);
    g_free(M->gates);
    g_free(M->needs);
    g_free(M->counted);
    g_free(M->open);
}

static WsMeshVerdict check_mesh(const WsProgram *p, WsFindings *findings)
{
    WsMeshVerdict v = { .assumed = g_ptr_array_new_with_free_func(g_free) };
    WsMeshCheck M = { .p = p, .findings = findings };
    begin(&M);
    look(&M);
    if (p->mesh->n_flags > 32)
        ws_mesh_open(&M, NULL, "more than 32 flags");
    if (!M.open) /* what is not understood could be what is missed */
        ws_mesh_sites(&M);
    const gboolean followed = !M.open;
    if (followed) {
        ws_mesh_order(&M);
        ws_mesh_needs(&M);
        ws_mesh_counts(&M);
        ws_mesh_stuck(&M);
    }
    for (guint t = 0; t < p->n_tensors && followed; t++)
        if (is_put(p, (gint)t))
            spread(&M, (gint)t, v.assumed);
    if (ws_polys_broken(M.g.ps))
        ws_mesh_open(&M, NULL, "its numbers grow too large");
    if (M.wrong) {
        v.kind = WS_MESH_WRONG;
    } else if (M.open) {
        v.kind = WS_MESH_OPEN;
        v.reason = g_strdup(M.open);
        ws_findings_add(findings, WS_RULE_F_MESH, "devices", "%s", M.open);
    } else {
        g_ptr_array_add(
            v.assumed,
            ws_phrase(
                "devices launch the same sizes in the same order, one launch after the other on "
                "each"));
        gboolean exchanged = FALSE;
        for (guint t = 0; t < p->n_tensors; t++)
            exchanged |= p->tensor[t].access == WS_ACCESS_EXCHANGE;
        if (exchanged)
            g_ptr_array_add(
                v.assumed, ws_phrase("tensors of access exchange stay allocated until the launches "
                                     "of all devices have ended"));
        if (M.site->len > 0)
            g_ptr_array_add(
                v.assumed,
                ws_phrase("all CTAs of a launch are resident at once (a cooperative launch "
                          "refuses others)"));
    }
    end(&M);
    return v;
}

static void verdict_clear(WsMeshVerdict *v)
{
    g_clear_pointer(&v->reason, g_free);
    g_clear_pointer(&v->assumed, g_ptr_array_unref);
}

void ws_judge_mesh(const WsProgram *p, WsVerdict *v, WsFindings *findings)
{
    WsMeshVerdict mesh = check_mesh(p, findings);
    if (mesh.kind != WS_MESH_SHOWN)
        ws_verdict_drop_proof(v);
    if (mesh.kind == WS_MESH_WRONG) {
        v->kind = WS_VERDICT_REFUTED;
        g_clear_pointer(&v->reason, g_free);
    } else if (mesh.kind == WS_MESH_OPEN && v->kind == WS_VERDICT_PROVED) {
        v->kind = WS_VERDICT_OUTSIDE;
        v->reason = g_steal_pointer(&mesh.reason);
    }
    if (v->certificate) { /* it would tell of one device alone */
        g_clear_pointer(&v->certificate, g_free);
        g_free(v->uncertified);
        v->uncertified = g_strdup("certificates have no form for devices");
    }
    for (guint i = 0; v->kind == WS_VERDICT_PROVED && i < mesh.assumed->len; i++)
        g_ptr_array_add(v->assumed, g_strdup(mesh.assumed->pdata[i]));
    verdict_clear(&mesh);
}
