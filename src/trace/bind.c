/* Executions of a CTA and what their operations' expressions come to. */
#include "trace/bind.h"
#include "model/findings.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

typedef struct {
    guint barrier;
    gint64 element, slot, turn;
} Completion;

/* What is bound: one CTA of a trace. */
typedef struct {
    const WsProgram *p;
    const WsTrace *t;
    guint cta;
    const gint32 *lo, *hi; /* rounds that are asked about, by operation; NULL: all */
    gboolean barriers;     /* nothing but what is on them */
    gboolean flags;        /* nothing but what notifies and awaits */
} Run;

struct WsBind {
    GHashTable *bound;       /* WsBound* (key: op, round) -> itself */
    GHashTable *contributor; /* Completion* -> GArray of WsTracePlace */
    GPtrArray *block;        /* what the WsBounds lie in: there may be millions */
    gsize left;              /* bytes of the last one */
};

#define MAX_ACCESS 4
#define BLOCK      (64 * 1024)

static WsBound *new_bound(WsBind *bind, guint n_access)
{
    const gsize size = sizeof(WsBound) + n_access * sizeof(((WsBound *)NULL)->access[0]);
    if (bind->left < size) {
        g_ptr_array_add(bind->block, g_malloc(BLOCK));
        bind->left = BLOCK;
    }
    char *last = bind->block->pdata[bind->block->len - 1];
    WsBound *b = (WsBound *)(gpointer)(last + BLOCK - bind->left);
    bind->left -= size;
    *b = (WsBound){ .n_access = n_access, .element = -1, .use = -1, .slot = -1, .turn = -1 };
    return b;
}

static guint hash_bound(gconstpointer p)
{
    const WsBound *b = p;
    return b->op * 2654435761u ^ (guint)b->round * 40503u;
}

static gboolean same_bound(gconstpointer pa, gconstpointer pb)
{
    const WsBound *a = pa, *b = pb;
    return a->op == b->op && a->round == b->round;
}

static guint hash_completion(gconstpointer p)
{
    const Completion *c = p;
    return (c->barrier * 31u + (guint)c->element) * 1000003u ^ (guint)c->slot * 7919u ^
           (guint)c->turn * 2654435761u;
}

static gboolean same_completion(gconstpointer pa, gconstpointer pb)
{
    const Completion *a = pa, *b = pb;
    return a->barrier == b->barrier && a->element == b->element && a->slot == b->slot &&
           a->turn == b->turn;
}

static void free_array(gpointer p)
{
    g_array_free(p, TRUE);
}

static gint64 value(WsWalker *w, const WsExpr *e)
{
    gint64 v;
    return e && ws_walker_eval(w, e, &v, NULL) ? v : -1;
}

static void bind_op(WsBind *bind, WsWalker *w, guint agent, const WsOp *op, gint32 round,
                    const WsTracePlace *before, gboolean barriers)
{
    WsBound *b = new_bound(bind, barriers ? 0 : MIN(op->n_access, MAX_ACCESS));
    b->op = op->index;
    b->round = round;
    if (op->barrier >= 0) {
        b->element = op->element ? value(w, op->element) : 0;
        b->use = value(w, op->use);
        b->slot = op->slot ? value(w, op->slot) : 0;
        b->turn = value(w, op->turn);
    }
    for (guint i = 0; i < b->n_access; i++) {
        const WsAccess *a = &op->access[i];
        b->access[i].element = a->element ? value(w, a->element) : 0;
        b->access[i].stage = a->stage ? value(w, a->stage) : 0;
        b->access[i].use = value(w, a->use);
    }
    if (op->barrier >= 0 && ws_op_completes(op->kind)) {
        Completion key = { (guint)op->barrier, b->element, b->slot, b->turn };
        GArray *list = g_hash_table_lookup(bind->contributor, &key);
        if (!list) {
            list = g_array_new(FALSE, FALSE, sizeof(WsTracePlace));
            g_hash_table_insert(bind->contributor, g_memdup2(&key, sizeof key), list);
        }
        WsTracePlace here = { agent, op->index, round };
        g_array_append_val(list, here);
        /* What the GPU does not record follows what it does. */
        if (!ws_op_measured(op->kind) && before->op != G_MAXUINT)
            g_array_append_vals(list, before, 1);
    }
    g_hash_table_add(bind->bound, b);
}

static gboolean is_of_flags(const WsOp *op)
{
    return ws_op_notifies(op->kind) || ws_op_awaits(op->kind);
}

static void bind_flag(WsBind *bind, WsWalker *w, const WsOp *op, gint32 round)
{
    WsBound *b = new_bound(bind, 0);
    b->op = op->index;
    b->round = round;
    b->element = value(w, op->peer->element);
    b->use = value(w, op->peer->amount);
    b->slot = op->peer->device ? value(w, op->peer->device) : -1;
    if (op->peer->device && b->slot < 0)
        b->use = -1;
    g_hash_table_add(bind->bound, b);
}

static gboolean worth_binding(const Run *b, const WsOp *op, gint32 round)
{
    if (b->flags)
        return is_of_flags(op);
    return (op->barrier >= 0 || (op->n_access > 0 && !b->barriers)) &&
           (!b->lo || (round >= b->lo[op->index] && round <= b->hi[op->index]));
}

static gint32 tile_position(WsWalker *w, const WsTree *loop, gint64 total)
{
    gint64 from = loop->from ? value(w, loop->from) : 0;
    gint64 by = loop->step_by ? value(w, loop->step_by) : 1;
    gint64 position;
    if (__builtin_mul_overflow(by, total, &position) ||
        __builtin_add_overflow(position, from, &position) || position > G_MAXINT32)
        return G_MAXINT32;
    return (gint32)position;
}

/* Operations to walk: a round has a few that are not recorded for each that is. A trace may state
 * sizes with more rounds than anybody has recorded. */
static guint64 most_steps(const Run *b)
{
    guint64 records = 0;
    for (guint i = 0; i < b->t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(b->t->lane, WsTraceLane, i);
        records += lane->cta == b->cta ? lane->n : 0;
    }
    return 200000 + 64 * records;
}

static void walk_agent(const Run *b, WsBind *bind, const WsLaunchValues *v, guint agent,
                       WsTileSource source, gpointer tiles, guint rank, gint32 tile0, gint32 tile1)
{
    g_autoptr(WsWalker) w = ws_walker_new(b->p, v, agent, rank, source, tiles);
    if (w && !b->flags)
        ws_walker_guess_elements(w);
    WsTracePlace before = { agent, G_MAXUINT, -1 };
    WsStep step;
    for (guint64 left = most_steps(b); left && w && ws_walker_next(w, &step, NULL); left--) {
        gint32 tile = -1, round = -1;
        for (guint i = 0; i < MIN(step.n_rounds, G_N_ELEMENTS(step.round)); i++) {
            round = (gint32)MIN(step.round[i], G_MAXINT32);
            if (step.loop[i]->kind == WS_TREE_LOOP && step.loop[i]->over == WS_OVER_TILES)
                tile = round = tile_position(w, step.loop[i], step.round[i]);
        }
        if (tile > tile1 && tile - tile1 > 1 && !b->flags)
            return;
        /* Rounds before the window still contribute to its first waits: one tile back is plenty. */
        if (worth_binding(b, step.op, round) && b->flags)
            bind_flag(bind, w, step.op, round);
        else if (worth_binding(b, step.op, round) && (tile < 0 || tile >= tile0 - 2))
            bind_op(bind, w, agent, step.op, round, &before, b->barriers);
        if (ws_op_measured(step.op->kind))
            before = (WsTracePlace){ agent, step.op->index, round };
    }
}

guint ws_bind_size(const WsBind *bind)
{
    return bind ? g_hash_table_size(bind->bound) : 0;
}

static gboolean has_flags(const WsProgram *p, guint agent)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent == (gint)agent && is_of_flags(p->op[i]))
            return TRUE;
    return FALSE;
}

static WsBind *bind_run(const Run *b, gint32 tile0, gint32 tile1)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree WsSize *size = g_new0(WsSize, b->t->size->len + 1);
    const guint device = ws_trace_device(b->t, b->cta);
    for (guint i = 0; i < b->t->size->len; i++) {
        const char *name = g_array_index(b->t->size_name, char *, i);
        const gboolean rank = b->p->mesh && strcmp(name, b->p->mesh->name) == 0;
        size[i] = (WsSize){ name, rank ? device : g_array_index(b->t->size, gint64, i) };
    }
    g_autoptr(WsLaunchValues) v = ws_launch_values(b->p, size, b->t->size->len, FALSE, findings);
    if (!v)
        return NULL;
    WsBind *bind = g_new0(WsBind, 1);
    bind->bound = g_hash_table_new(hash_bound, same_bound);
    bind->block = g_ptr_array_new_with_free_func(g_free);
    bind->contributor = g_hash_table_new_full(hash_completion, same_completion, g_free, free_array);
    gint64 cluster = MAX(b->p->cluster, 1);
    gint64 id = ws_trace_cta_id(b->t, b->cta);
    gint64 grid = b->t->grid > 0 ? b->t->grid : MAX(ws_launch_grid(v, 132), 1);
    WsTilesStrided tiles = { .first = id / cluster,
                             .stride = MAX(grid / cluster, 1),
                             .count = ws_launch_tiles(v) };
    WsTraceClaims claims;
    claims.claim = ws_trace_claims(b->t, b->cta, &claims.n);
    for (guint a = 0; a < b->p->n_agents; a++)
        if (!b->flags || has_flags(b->p, a))
            walk_agent(b, bind, v, a, claims.n ? ws_trace_claim_at : ws_tiles_strided,
                       claims.n ? (gpointer)&claims : &tiles, (guint)(id % cluster), tile0, tile1);
    return bind;
}

WsBind *ws_bind_new(const WsProgram *p, const WsTrace *t, guint cta, gint32 tile0, gint32 tile1)
{
    return bind_run(&(Run){ p, t, cta, NULL, NULL, FALSE, FALSE }, tile0, tile1);
}

WsBind *ws_bind_new_barriers(const WsProgram *p, const WsTrace *t, guint cta, gint32 tile0,
                             gint32 tile1)
{
    return bind_run(&(Run){ p, t, cta, NULL, NULL, TRUE, FALSE }, tile0, tile1);
}

WsBind *ws_bind_new_within(const WsProgram *p, const WsTrace *t, guint cta, gint32 tile0,
                           gint32 tile1, const gint32 *lo, const gint32 *hi)
{
    return bind_run(&(Run){ p, t, cta, lo, hi, FALSE, FALSE }, tile0, tile1);
}

WsBind *ws_bind_new_flags(const WsProgram *p, const WsTrace *t, guint cta)
{
    return bind_run(&(Run){ p, t, cta, NULL, NULL, TRUE, TRUE }, 0, G_MAXINT32);
}

void ws_bind_free(WsBind *bind)
{
    if (!bind)
        return;
    g_hash_table_destroy(bind->bound);
    g_hash_table_destroy(bind->contributor);
    g_ptr_array_unref(bind->block);
    g_free(bind);
}

const WsBound *ws_bind_get(const WsBind *bind, guint op, gint32 round)
{
    WsBound key = { .op = op, .round = round };
    const WsBound *found = bind ? g_hash_table_lookup(bind->bound, &key) : NULL;
    if (bind && !found &&
        round == 0) { /* outside of all loops: predictions count that as round 0 */
        key.round = -1;
        found = g_hash_table_lookup(bind->bound, &key);
    }
    return found;
}

const GArray *ws_bind_contributors(const WsBind *bind, guint barrier, gint64 element, gint64 slot,
                                   gint64 turn)
{
    Completion key = { barrier, element, slot, turn };
    return bind ? g_hash_table_lookup(bind->contributor, &key) : NULL;
}
