/* Flags of devices in time. One CTA of each device is played. All others of its device are taken to
 * be as far as it is: at its n-th notify each of them does its own n-th, which may be of another
 * element or device. So a flag grows by what the whole launch adds to it. */
#include "base/phrase.h"
#include "clock/play.h"
#include "model/finding.h"
#include "program/op.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#define MAX_STEPS (8 * 1000 * 1000) /* of all agents that notify, over all CTAs and devices */
#define MAX_CELLS (1 << 20)         /* elements of all flags, over all devices */

/* --- launch values of the devices ------------------------------------------------------------- */
WsLaunchValues **ws_clock_devices_new(const WsProgram *p, const WsLaunchValues *v, guint *n,
                                      WsFindings *findings)
{
    const WsExprEnv env = ws_launch_env(v);
    gint64 devices = 0;
    *n = 0;
    if (!ws_expr_eval(p->mesh->devices, &env, &devices, NULL) || devices < 1 ||
        devices > WS_CLOCK_DEVICES) {
        if (findings)
            ws_findings_add(findings, WS_RULE_F_CLOCK, "devices",
                            "%" G_GINT64_FORMAT
                            " devices: the clock plays each of them, and at most %d",
                            devices, WS_CLOCK_DEVICES);
        return NULL;
    }
    WsLaunchValues **of_device = g_new0(WsLaunchValues *, (gsize)devices + 1);
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    for (guint i = 0; i < p->n_vars; i++) {
        const WsSize s = { p->var[i].name, ws_launch_var(v, (gint)i) };
        if (p->var[i].kind == WS_VAR_SIZE && (gint)i != p->mesh->rank)
            g_array_append_val(size, s);
    }
    const WsSize rank = { p->mesh->name, 0 };
    g_array_append_val(size, rank);
    for (*n = 0; *n < (guint)devices; (*n)++) {
        g_array_index(size, WsSize, size->len - 1).value = *n;
        of_device[*n] =
            ws_launch_values(p, (const WsSize *)(gpointer)size->data, size->len, FALSE, findings);
        if (!of_device[*n]) {
            ws_clock_devices_free(of_device);
            return NULL;
        }
    }
    return of_device;
}

void ws_clock_devices_free(WsLaunchValues **of_device)
{
    for (guint i = 0; of_device && of_device[i]; i++)
        ws_launch_values_free(of_device[i]);
    g_free(of_device);
}

/* --- what is notified ------------------------------------------------------------------------- */
typedef struct {
    guint cell; /* of all devices: device * cells + element behind the flags before */
    gint64 amount;
} Add;

struct WsFlagPlan {
    const WsProgram *p;
    guint n_devices;
    gint64 *first;  /* by flag: its first cell on a device */
    gint64 cells;   /* of a device */
    GPtrArray **at; /* by device and agent: of each notify a GArray of Add; NULL: it has none */
};

static gboolean take_cells(WsFlagPlan *plan, const WsLaunchValues *v, GError **error)
{
    const WsMesh *mesh = plan->p->mesh;
    const WsExprEnv env = ws_launch_env(v);
    plan->first = g_new0(gint64, mesh->n_flags + 1);
    for (guint f = 0; f < mesh->n_flags; f++) {
        gint64 n = 0;
        if (!ws_expr_eval(mesh->flag[f].array, &env, &n, error))
            return FALSE;
        plan->first[f] = plan->cells;
        plan->cells += CLAMP(n, 0, MAX_CELLS);
        if (n < 1 || plan->cells * plan->n_devices > MAX_CELLS) {
            g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_OVERFLOW,
                        "flag %s has %" G_GINT64_FORMAT " elements on each of %u devices",
                        mesh->flag[f].name, n, plan->n_devices);
            return FALSE;
        }
    }
    plan->first[mesh->n_flags] = plan->cells;
    return TRUE;
}

/* The cell of an element of a flag on a device; -1: there is none. */
static gint64 cell_of(const WsFlagPlan *plan, gint64 device, gint flag, gint64 element)
{
    if (device < 0 || device >= plan->n_devices || flag < 0 || element < 0 ||
        element >= plan->first[flag + 1] - plan->first[flag])
        return -1;
    return device * plan->cells + plan->first[flag] + element;
}

static gboolean notifies(const WsProgram *p, guint agent)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (ws_op_notifies(p->op[i]->kind) && p->op[i]->agent == (gint)agent)
            return TRUE;
    return FALSE;
}

static void add_to(GPtrArray *list, guint n, guint cell, gint64 amount)
{
    while (list->len <= n)
        g_ptr_array_add(list, g_array_new(FALSE, FALSE, sizeof(Add)));
    GArray *adds = list->pdata[n];
    for (guint i = 0; i < adds->len; i++)
        if (g_array_index(adds, Add, i).cell == cell) {
            g_array_index(adds, Add, i).amount += amount;
            return;
        }
    const Add fresh = { cell, amount };
    g_array_append_val(adds, fresh);
}

static gboolean take_notify(WsFlagPlan *plan, WsWalker *w, const WsOp *op, GPtrArray *list, guint n,
                            GError **error)
{
    gint64 device = 0, element = 0, amount = 0;
    const WsPeer *peer = op->peer;
    if ((peer->device && !ws_walker_eval(w, peer->device, &device, error)) ||
        !ws_walker_eval(w, peer->element, &element, error) ||
        !ws_walker_eval(w, peer->amount, &amount, error))
        return FALSE;
    for (gint64 d = peer->device ? device : 0; d <= (peer->device ? device : plan->n_devices - 1);
         d++) {
        const gint64 cell = cell_of(plan, d, peer->flag, element);
        if (cell < 0) {
            g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE,
                        "%s: device %" G_GINT64_FORMAT " has no element %" G_GINT64_FORMAT
                        " of that flag",
                        op->id, d, element);
            return FALSE;
        }
        add_to(list, n, (guint)cell, amount);
    }
    return TRUE;
}

/* One agent of one CTA of a device. */
static gboolean walk(WsFlagPlan *plan, const WsLaunchValues *v, guint agent, WsTilesStrided tiles,
                     GPtrArray *list, gint64 *spent, GError **error)
{
    g_autoptr(WsWalker) w = ws_walker_new(plan->p, v, agent, 0, ws_tiles_strided, &tiles);
    WsStep step;
    GError *problem = NULL;
    guint n = 0;
    ws_walker_guess_elements(w);
    ws_walker_limit(w, MAX_STEPS - *spent);
    while (!problem && ws_walker_next(w, &step, &problem))
        if (ws_op_notifies(step.op->kind) && !take_notify(plan, w, step.op, list, n++, &problem))
            break;
    *spent += ws_walker_spent(w);
    if (!problem)
        return TRUE;
    if (*spent >= MAX_STEPS) {
        g_clear_error(&problem);
        g_set_error(&problem, WS_EXPR_ERROR, WS_EXPR_ERROR_OVERFLOW,
                    "more than %d operations of agents that notify, over all CTAs and devices",
                    MAX_STEPS);
    }
    g_propagate_error(error, problem);
    return FALSE;
}

WsFlagPlan *ws_flag_plan_new(const WsProgram *p, WsLaunchValues *const *of_device, guint n,
                             gint64 grid, GError **error)
{
    WsFlagPlan *plan = g_new0(WsFlagPlan, 1);
    gint64 spent = 0;
    plan->p = p;
    plan->n_devices = n;
    plan->at = g_new0(GPtrArray *, (gsize)n * p->n_agents + 1);
    gboolean ok = take_cells(plan, of_device[0], error);
    for (guint a = 0; a < p->n_agents; a++) {
        for (guint d = 0; ok && notifies(p, a) && d < n; d++) {
            GPtrArray *list = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
            plan->at[d * p->n_agents + a] = list;
            const gint64 tiles = ws_launch_tiles(of_device[d]);
            const gboolean single = p->tiles->launch == WS_LAUNCH_SINGLE;
            for (gint64 c = 0; ok && c < grid; c++)
                ok = walk(plan, of_device[d], a,
                          (WsTilesStrided){ c, single ? MAX(tiles, 1) : grid, tiles }, list, &spent,
                          error);
        }
    }
    if (!ok)
        g_clear_pointer(&plan, ws_flag_plan_free);
    return plan;
}

void ws_flag_plan_free(WsFlagPlan *plan)
{
    if (!plan)
        return;
    for (guint i = 0; i < plan->n_devices * plan->p->n_agents; i++)
        g_clear_pointer(&plan->at[i], g_ptr_array_unref);
    g_free(plan->at);
    g_free(plan->first);
    g_free(plan);
}

/* --- in time ---------------------------------------------------------------------------------- */
typedef struct {
    double at;
    gint64 amount;
    WsNotified by;
} Seen;

struct WsClockFlags {
    const WsFlagPlan *plan;
    GArray **seen; /* by cell: Seen, by time; NULL: nothing yet */
};

WsClockFlags *ws_clock_flags_new(const WsFlagPlan *plan)
{
    WsClockFlags *f = g_new0(WsClockFlags, 1);
    f->plan = plan;
    f->seen = g_new0(GArray *, (gsize)(plan->cells * plan->n_devices) + 1);
    return f;
}

void ws_clock_flags_free(WsClockFlags *f)
{
    if (!f)
        return;
    for (gint64 i = 0; i < f->plan->cells * f->plan->n_devices; i++)
        g_clear_pointer(&f->seen[i], g_array_unref);
    g_free(f->seen);
    g_free(f);
}

void ws_clock_flags_add(WsClockFlags *f, guint device, guint agent, guint n, double here,
                        double there, const WsNotified *by)
{
    const GPtrArray *list = f->plan->at[device * f->plan->p->n_agents + agent];
    if (!list || n >= list->len)
        return;
    const GArray *adds = list->pdata[n];
    for (guint i = 0; i < adds->len; i++) {
        const Add *x = &g_array_index(adds, Add, i);
        const gboolean own = x->cell / f->plan->cells == device;
        const Seen s = { own ? here : there, x->amount, *by };
        GArray **seen = &f->seen[x->cell];
        if (!*seen)
            *seen = g_array_new(FALSE, FALSE, sizeof(Seen));
        guint at = (*seen)->len;
        while (at > 0 && g_array_index(*seen, Seen, at - 1).at > s.at)
            at--;
        g_array_insert_val(*seen, at, s);
    }
}

gboolean ws_clock_flags_reach(const WsClockFlags *f, guint device, gint flag, gint64 element,
                              gint64 amount, double *when, WsNotified *by)
{
    const gint64 cell = cell_of(f->plan, device, flag, element);
    const GArray *seen = cell < 0 ? NULL : f->seen[cell];
    gint64 sum = 0;
    *when = 0;
    *by = (WsNotified){ 0 };
    for (guint i = 0; seen && i < seen->len && sum < amount; i++) {
        const Seen *s = &g_array_index(seen, Seen, i);
        sum += s->amount;
        *when = s->at;
        *by = s->by;
    }
    return sum >= amount;
}
