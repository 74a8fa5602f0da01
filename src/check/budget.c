/* Budgets that need the whole program and that elaboration does not judge: counters of an mbarrier,
 * and who hands over tiles. */
#include "check/play/play.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "target/target.h"

static gboolean same_phase(const WsOp *a, const WsOp *b)
{
    return a->barrier == b->barrier && a->use && b->use && ws_expr_equal(a->use, b->use) &&
           a->tree->parent == b->tree->parent;
}

/* Largest sum of bytes that one step list expects on one use of a barrier. */
static gint64 bytes_of(const WsProgram *p, const WsOp *op)
{
    gint64 sum = 0;
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_MBAR_EXPECT && p->op[i]->agent == op->agent &&
            (p->op[i] == op || same_phase(p->op[i], op)) &&
            __builtin_add_overflow(sum, p->op[i]->bytes, &sum))
            return G_MAXINT64;
    return sum;
}

static void check_barrier(const WsProgram *p, guint b, WsFindings *findings)
{
    const WsBarrier *bar = &p->barrier[b];
    const char *path = bar->path ? bar->path : bar->name;
    const guint *in_force = bar->kind == WS_BARRIER_MBARRIER ? bar->arrivals : NULL;
    for (guint e = 0; in_force && e < MAX(bar->array, 1); e++) {
        if (in_force[e] > p->hardware->sync.arrivals)
            ws_findings_add(findings, WS_RULE_P_COUNT, path,
                            "%s needs %u arrivals; an mbarrier counts to %" G_GINT64_FORMAT,
                            bar->name, in_force[e], p->hardware->sync.arrivals);
    }
}

/* --- dynamic tiles (LANGUAGE section 17) ------------------------------------------------------ */
static void count_tiles(const WsTree *t, guint *claims, guint *takes, const WsTree **loop,
                        guint *loops)
{
    if (!t)
        return;
    if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES && t->n_kids) {
        *loop = t;
        ++*loops;
        for (const WsTree *up = t->parent; up; up = up->parent)
            *loops += up->kind == WS_TREE_LOOP;
        for (guint i = 0; i < t->kid[0]->n_kids; i++) {
            const WsTree *kid = t->kid[0]->kid[i];
            if (kid->kind != WS_TREE_OP)
                continue;
            *claims += kid->op->kind == WS_OP_CLAIM;
            *takes += kid->op->kind == WS_OP_TAKE;
        }
    }
    for (guint i = 0; i < t->n_kids; i++)
        count_tiles(t->kid[i], claims, takes, loop, loops);
}

static void check_tiles(const WsProgram *p, WsFindings *findings)
{
    guint all = 0;
    for (guint a = 0; a < p->n_agents; a++) {
        guint claims = 0, takes = 0, loops = 0;
        const WsTree *loop = NULL;
        count_tiles(p->agent[a].body, &claims, &takes, &loop, &loops);
        all += claims;
        if (loop && claims + takes != 1)
            ws_findings_add(findings, WS_RULE_P_TILE, loop->step ? loop->step : p->agent[a].path,
                            "%s has %u claims and %u takes directly in its loop over tiles; it "
                            "needs one of either",
                            p->agent[a].name, claims, takes);
        if (loops > 1) /* the counter does not begin again */
            ws_finding_set_remedy(
                ws_findings_add(findings, WS_RULE_P_TILE,
                                loop->step ? loop->step : p->agent[a].path,
                                "%s goes over the tiles more than once, and a tile is claimed once",
                                p->agent[a].name),
                "do the work of both in one loop over tiles, or launch \"persistent\" without "
                "claims");
    }
    if (all != 1)
        ws_findings_add(findings, WS_RULE_P_TILE, "tiles",
                        "%u agents claim tiles; exactly one must", all);
}

void ws_check_budgets(const WsProgram *p, WsFindings *findings)
{
    for (guint b = 0; b < p->n_barriers; b++)
        check_barrier(p, b, findings);
    if (p->tiles->launch == WS_LAUNCH_DYNAMIC)
        check_tiles(p, findings);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->kind != WS_OP_MBAR_EXPECT || op->agent < 0 || op->barrier < 0)
            continue;
        gint64 bytes = bytes_of(p, op);
        if (bytes <= p->hardware->sync.transaction)
            continue;
        WsFinding *f =
            ws_findings_add(findings, WS_RULE_P_TX, op->step ? op->step : op->id,
                            "%s expects %" G_GINT64_FORMAT
                            " bytes in one phase; an mbarrier counts to %" G_GINT64_FORMAT,
                            p->barrier[op->barrier].name, bytes, p->hardware->sync.transaction);
        ws_finding_set_remedy(f, "spread the loads over two barriers");
        f->barrier = g_strdup(p->barrier[op->barrier].name);
        return;
    }
}
