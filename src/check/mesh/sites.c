/* The operations that other devices see, with the loops and conditions around them. */
#include "check/mesh/mesh.h"
#include "program/mesh.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

enum { FIRST_ROUND = 1 << 16 }; /* ids of rounds: no variable has one */

typedef struct {
    WsMeshCheck *M;
    guint agent, number, loops, next;
    gboolean conditional, in_tiles, plain;
    const WsTree *loop[WS_MESH_LOOPS];
    guint round[WS_MESH_LOOPS];
} Walk;

static gboolean is_number(const WsExpr *e, gint64 value)
{
    gint64 known;
    return !e || (ws_expr_is_int(e, &known) && known == value);
}

static gboolean wanted(const WsProgram *p, const WsOp *op)
{
    if (op->tensor >= 0 && p->tensor[op->tensor].access == WS_ACCESS_EXCHANGE)
        return TRUE;
    return op->peer != NULL;
}

gint64 ws_mesh_box(const WsProgram *p, const WsOp *op, guint d)
{
    const WsTensorMap *m = &p->map[op->map];
    return m->box[m->rank - 1 - d];
}

/* The device that it reaches is each of the mesh once while an axis or the rounds of a loop around
 * it run. */
static void runs_over_devices(Walk *w, WsMeshSite *s)
{
    WsMeshCheck *M = w->M;
    gint var;
    guint atom;
    if (!ws_mesh_device_var(M->p, s->op->peer->device, &var))
        return;
    g_autoptr(WsExpr) e = ws_expr_var(var, M->p->var[var].name);
    if (ws_poly_is_atom(ws_terms_of(&M->g.terms, e), &atom) &&
        ws_atom(M->g.ps, atom)->kind != WS_ATOM_VALUE &&
        ws_poly_equal(ws_atom(M->g.ps, atom)->extent, M->devices))
        s->device_var = var, s->device_atom = atom;
}

/* The number of a device, with `rank` that of this one, in a launch that the design names. */
typedef struct {
    guint rank;
    gint64 value;
    WsPolys *ps;
} Ranked;

static gboolean ranked(gpointer data, guint atom, WsPoly *out)
{
    const Ranked *r = data;
    if (atom != r->rank)
        return FALSE;
    *out = ws_poly_int(r->ps, r->value);
    return TRUE;
}

gboolean ws_mesh_outside(WsMeshCheck *M, const WsMeshSite *s)
{
    Ranked r = { .ps = M->g.ps };
    for (guint i = 0; i < 2 && ws_poly_is_atom(M->rank, &r.rank) && ws_mesh_executed(M, s); i++) {
        gint64 n, device;
        if (!ws_mesh_number(M, M->devices, i == 0, &n))
            continue;
        for (r.value = 0; r.value < n; r.value += MAX(n - 1, 1)) { /* the first and the last */
            WsPoly at = ws_poly_map(M->g.ps, s->device, ranked, &r);
            if (ws_mesh_number(M, at, i == 0, &device) && (device < 0 || device >= n))
                return TRUE;
        }
    }
    return FALSE;
}

static WsMeshReach reach_of(WsMeshCheck *M, const WsMeshSite *s)
{
    gint64 n;
    Ranked r = { .ps = M->g.ps };
    if (ws_poly_equal(s->device, M->rank) || (ws_poly_is_int(M->devices, &n) && n == 1))
        return WS_MESH_OWN;
    for (guint i = 0; i < 2; i++) {
        if (!ws_mesh_number(M, M->devices, i == 0, &n) || n < 2)
            continue;
        if (s->device_var >= 0) /* it runs over all of them */
            return WS_MESH_ELSEWHERE;
        for (r.value = 0; r.value < 2 && ws_poly_is_atom(M->rank, &r.rank); r.value++) {
            gint64 device;
            WsPoly at = ws_poly_map(M->g.ps, s->device, ranked, &r);
            if (ws_mesh_number(M, at, i == 0, &device) && device != r.value)
                return WS_MESH_ELSEWHERE;
        }
    }
    return WS_MESH_PERHAPS;
}

static void site(Walk *w, const WsOp *op)
{
    WsMeshCheck *M = w->M;
    WsMeshSite *s = ws_polys_alloc(M->g.ps, sizeof *s);
    *s = (WsMeshSite){ .op = op,
                       .agent = w->agent,
                       .number = w->number,
                       .conditional = w->conditional,
                       .in_tiles = w->in_tiles,
                       .plain = w->plain,
                       .n_loops = w->loops };
    memcpy(s->loop, w->loop, sizeof s->loop);
    memcpy(s->round, w->round, sizeof s->round);
    if (op->peer) {
        s->of_all = ws_op_notifies(op->kind) && !op->peer->device;
        if (op->peer->device)
            s->device = ws_terms_of(&M->g.terms, op->peer->device);
        if (op->peer->element)
            s->element = ws_terms_of(&M->g.terms, op->peer->element);
        if (op->peer->amount)
            s->amount = ws_terms_of(&M->g.terms, op->peer->amount);
    }
    for (guint d = 0; op->tensor >= 0 && d < op->n_coord; d++)
        s->at[d] = ws_terms_of(&M->g.terms, op->coord[d]);
    s->device_var = -1;
    if (op->peer && op->peer->device)
        runs_over_devices(w, s);
    if (ws_op_puts(op->kind) || ws_op_gets(op->kind))
        s->reach = reach_of(M, s);
    g_ptr_array_add(M->site, s);
    M->of_op[op->index] = M->site->len;
}

static void walk(Walk *w, const WsTree *t);

static void walk_loop(Walk *w, const WsTree *t)
{
    WsMeshCheck *M = w->M;
    const Walk before = *w;
    const gboolean whole = is_number(t->from, 0) && is_number(t->step_by, 1);
    if (w->loops == WS_MESH_LOOPS) {
        ws_mesh_open(M, NULL, "loops are nested too deeply around %s", t->step ? t->step : "?");
        return;
    }
    guint atom = 0;
    if (t->over == WS_OVER_TILES) {
        gboolean inner = FALSE;
        for (guint i = 0; i < w->loops; i++)
            inner |= w->loop[i]->over == WS_OVER_TILES;
        w->plain = w->plain && whole && !inner;
        w->in_tiles = TRUE;
    } else {
        WsPoly count = t->over == WS_OVER_COUNT && t->count ? ws_terms_of(&M->g.terms, t->count)
                                                            : ws_terms_unknown(&M->g.terms, "?");
        if (whole && ws_poly_on(M->g.ps, count) == 0) {
            WsPoly round = ws_poly_leaf(M->g.ps, WS_ATOM_ROUND, FIRST_ROUND + (gint)w->next++,
                                        WS_ON_ROUND, &count, t->name ? t->name : "?");
            if (t->index_var >= 0)
                ws_terms_set(&M->g.terms, t->index_var, round);
            if (!ws_poly_is_atom(round, &atom))
                atom = 0;
        } else {
            w->plain = FALSE;
            if (t->index_var >= 0)
                M->g.terms.known[t->index_var] = FALSE;
        }
    }
    w->loop[w->loops] = t;
    w->round[w->loops++] = atom;
    for (guint i = 0; i < t->n_kids; i++)
        walk(w, t->kid[i]);
    if (t->index_var >= 0)
        M->g.terms.known[t->index_var] = FALSE;
    const guint number = w->number, next = w->next;
    *w = before;
    w->number = number;
    w->next = next;
}

static void walk(Walk *w, const WsTree *t)
{
    gint64 known;
    if (!t)
        return;
    switch (t->kind) {
    case WS_TREE_SEQ:
        for (guint i = 0; i < t->n_kids; i++)
            walk(w, t->kid[i]);
        return;
    case WS_TREE_LOOP:
        walk_loop(w, t);
        return;
    case WS_TREE_BRANCH: {
        WsPoly cond = ws_terms_truth(&w->M->g.terms, t->cond);
        const gboolean before = w->conditional, constant = ws_poly_is_int(cond, &known);
        w->conditional |= !constant;
        if (constant)
            g_hash_table_insert(w->M->answer, (gpointer)t, GINT_TO_POINTER(known ? 2 : 1));
        if ((!constant || known) && t->n_kids > 0)
            walk(w, t->kid[0]);
        if ((!constant || !known) && t->n_kids > 1)
            walk(w, t->kid[1]);
        w->conditional = before;
        return;
    }
    case WS_TREE_OP:
        w->number++;
        if (wanted(w->M->p, t->op))
            site(w, t->op);
        return;
    }
}

gint ws_mesh_side(const WsMeshCheck *M, const WsTree *branch)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(M->answer, branch)) - 1;
}

guint ws_mesh_rounds(WsMeshCheck *M, const WsTree *loop)
{
    gint64 most = 0;
    if (loop->over == WS_OVER_TILES)
        return 2;
    if (loop->over != WS_OVER_COUNT || !loop->count)
        return 0;
    for (guint i = 0; i < 2; i++) {
        gint64 n;
        if (ws_mesh_number(M, ws_terms_of(&M->g.terms, loop->count), i == 0, &n))
            most = MAX(most, n);
    }
    return (guint)MIN(most, 2);
}

const WsMeshSite *ws_mesh_site(const WsMeshCheck *M, const WsOp *op)
{
    const guint at = M->of_op[op->index];
    return at ? M->site->pdata[at - 1] : NULL;
}

/* Elements that one device alone adds to: its own, on all devices. */
static void find_gates(WsMeshCheck *M)
{
    const WsMesh *mesh = M->p->mesh;
    for (guint f = 0; f < mesh->n_flags; f++)
        M->gates[f] = mesh->flag[f].is_array &&
                      ws_poly_equal(ws_terms_of(&M->g.terms, mesh->flag[f].array), M->devices);
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_notifies(s->op->kind) &&
            (!s->of_all || ws_mesh_weak(s) || !ws_poly_equal(s->element, M->rank)))
            M->gates[s->op->peer->flag] = FALSE;
    }
}

void ws_mesh_sites(WsMeshCheck *M)
{
    const WsProgram *p = M->p;
    guint next = 0;
    for (guint a = 0; a < p->n_agents; a++) {
        Walk w = { .M = M,
                   .agent = a,
                   .plain = TRUE,
                   .next = next,
                   .in_tiles = p->tiles->launch == WS_LAUNCH_SINGLE };
        const guint before = M->site->len;
        walk(&w, p->agent[a].body);
        next = w.next;
        if (M->site->len > before && p->agent[a].replicas > 1)
            ws_mesh_open(M, ((WsMeshSite *)M->site->pdata[before])->op,
                         "a group with replicas reaches other devices");
    }
    find_gates(M);
}

static gboolean share_loop(const WsOp *a, const WsOp *b)
{
    for (const WsTree *x = a->tree; x; x = x->parent)
        for (const WsTree *y = b->tree; y && x->kind == WS_TREE_LOOP; y = y->parent)
            if (x == y)
                return TRUE;
    return FALSE;
}

gboolean ws_mesh_may_precede(const WsOp *a, const WsOp *b)
{
    return a->agent != b->agent || a->index < b->index || share_loop(a, b);
}

gboolean ws_mesh_weak(const WsMeshSite *s)
{
    return s->op->peer->relaxed || s->op->peer->gpu;
}

gboolean ws_mesh_awaits_all(const WsMeshCheck *M, const WsMeshSite *s)
{
    const WsFlag *f = &M->p->mesh->flag[s->op->peer->flag];
    WsPoly elements = ws_terms_of((WsTerms *)&M->g.terms, f->array), one = ws_poly_int(M->g.ps, 1);
    guint atom;
    if (!s->plain || ws_mesh_weak(s))
        return FALSE;
    if (ws_poly_equal(elements, one) && s->n_loops == 0)
        return TRUE;
    return s->n_loops == 1 && s->round[0] && ws_poly_is_atom(s->element, &atom) &&
           atom == s->round[0] && ws_poly_equal(ws_atom(M->g.ps, atom)->extent, elements);
}

gboolean ws_mesh_is_gate(const WsMeshCheck *M, const WsTree *loop)
{
    const WsTree *body = loop->n_kids == 1 ? loop->kid[0] : NULL;
    if (!body || body->kind != WS_TREE_SEQ || body->n_kids < 1 || body->n_kids > 2 ||
        body->kid[0]->kind != WS_TREE_OP || !ws_op_awaits(body->kid[0]->op->kind) ||
        (body->n_kids == 2 &&
         (body->kid[1]->kind != WS_TREE_OP || !ws_op_fences_global(body->kid[1]->op->kind))))
        return FALSE;
    const WsMeshSite *s = ws_mesh_site(M, body->kid[0]->op);
    return s && M->gates[s->op->peer->flag] && ws_mesh_awaits_all(M, s);
}
