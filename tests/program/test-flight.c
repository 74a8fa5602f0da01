/* What waits retire, against runs: agents are walked with concrete sizes, their groups kept as they
 * are, and whatever a run does must be what the program says of all paths. */
#include "../codegen/waits/draw.h"
#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/operation.h"
#include "program/parts/retired.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <string.h>

typedef struct {
    GPtrArray *open;  /* const WsOp*, as issued */
    GPtrArray *group; /* GPtrArray*, oldest first */
} Queue;

typedef struct {
    Queue queue[WS_QUEUES];
    guint64 waits, retired;
} Run;

static GPtrArray *all_in_flight(const Queue *q)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; i < q->group->len; i++) {
        const GPtrArray *g = q->group->pdata[i];
        for (guint k = 0; k < g->len; k++)
            g_ptr_array_add(all, g->pdata[k]);
    }
    for (guint k = 0; k < q->open->len; k++)
        g_ptr_array_add(all, q->open->pdata[k]);
    return all;
}

static gboolean has(const GPtrArray *list, const WsOp *op)
{
    return g_ptr_array_find((GPtrArray *)list, op, NULL);
}

static void flies(const Queue *q, const WsOp *op)
{
    g_autoptr(GPtrArray) all = all_in_flight(q);
    for (guint i = 0; i < all->len; i++) {
        gboolean said = FALSE;
        for (guint k = 0; k < op->n_flying; k++)
            said = said || op->flying[k] == all->pdata[i];
        g_assert_true(said);
    }
}

static guint steps_of(const GPtrArray *group)
{
    guint n = 0;
    for (guint i = 0; i < group->len; i++) {
        const WsOp *op = group->pdata[i];
        n += strcmp(op->id, op->step) == 0;
    }
    return n;
}

/* Registers of a retired product that no product in flight has must be among those freed. */
static void frees(const WsOp *wait, const WsOp *product, const GPtrArray *left)
{
    gboolean held = FALSE, freed = FALSE;
    for (guint i = 0; i < left->len; i++)
        held = held || ((const WsOp *)left->pdata[i])->value[0].value == product->value[0].value;
    for (guint i = 0; i < wait->wait->n_freed; i++)
        freed = freed || wait->wait->freed[i].value == product->value[0].value;
    g_assert_true(held || freed);
}

static void retires(Run *r, Queue *q, const WsOp *op)
{
    const WsWait *w = op->wait;
    g_autoptr(GPtrArray) gone = g_ptr_array_new();
    const gboolean reached = (gint64)q->group->len > op->n;
    while ((gint64)q->group->len > op->n) {
        const GPtrArray *g = q->group->pdata[0];
        for (guint i = 0; i < g->len; i++)
            g_ptr_array_add(gone, g->pdata[i]);
        g_ptr_array_remove_index(q->group, 0);
    }
    g_autoptr(GPtrArray) left = all_in_flight(q);
    gint64 steps = 0;
    for (guint i = 0; i < q->group->len; i++)
        steps += steps_of(q->group->pdata[i]);
    g_assert_true(w->stay < 0 || (reached ? steps == w->stay : steps <= w->stay));
    for (guint i = 0; i < gone->len; i++) {
        gboolean said = FALSE;
        for (guint k = 0; k < w->n_retired; k++)
            said = said || w->retired[k].op == gone->pdata[i];
        g_assert_true(said);
        if (op->kind == WS_OP_MMA_WAIT)
            frees(op, gone->pdata[i], left);
    }
    for (guint k = 0; k < w->n_retired; k++)
        g_assert_true(w->retired[k].by_path ||
                      (has(gone, w->retired[k].op) && !has(left, w->retired[k].op)));
    r->waits++;
    r->retired += gone->len;
}

static void step(Run *r, const WsOp *op)
{
    const gint queue = ws_op_queue(op->kind);
    flies(&r->queue[WS_QUEUE_MMA], op);
    if (queue < 0)
        return;
    Queue *q = &r->queue[queue];
    switch (ws_op_row(op->kind)->deed) {
    case WS_DEED_ISSUE:
        g_ptr_array_add(q->open, (gpointer)op);
        break;
    case WS_DEED_CLOSE:
        g_ptr_array_add(q->group, q->open);
        q->open = g_ptr_array_new();
        break;
    case WS_DEED_RETIRE:
        retires(r, q, op);
        break;
    case WS_DEED_SIGNAL:
    case WS_DEED_COMBINE:
    case WS_DEED_NONE:
        break;
    }
}

static void free_group(gpointer group)
{
    g_ptr_array_unref(group);
}

static void walk(const WsProgram *p, const WsLaunchValues *v, guint agent, Run *r)
{
    WsTilesStrided tiles = { 0, 1, MIN(ws_launch_tiles(v), 4) };
    g_autoptr(WsWalker) w = ws_walker_new(p, v, agent, 0, ws_tiles_strided, &tiles);
    WsStep s;
    for (guint q = 0; q < WS_QUEUES; q++)
        r->queue[q] = (Queue){ g_ptr_array_new(), g_ptr_array_new_with_free_func(free_group) };
    for (guint n = 0; n < 5000 && ws_walker_next(w, &s, NULL); n++)
        step(r, s.op);
    for (guint q = 0; q < WS_QUEUES; q++) {
        g_ptr_array_unref(r->queue[q].open);
        g_ptr_array_unref(r->queue[q].group);
    }
}

static void walk_all(const WsProgram *p, const WsSize *size, guint n_size, Run *r)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n_size, TRUE, findings);
    for (guint a = 0; v && a < p->n_agents; a++)
        walk(p, v, a, r);
}

/* --- what is walked ----------------------------------------------------------------------------
 */

static WsProgram *program_of(const char *text, const char *name)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), name, findings);
    return design ? ws_elaborate(design, NULL, 0, findings) : NULL;
}

static void test_folder(gconstpointer data)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, data, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    Run r = { .waits = 0 };
    guint designs = 0;
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autofree char *deeper = g_build_filename(file, "design.wstave", NULL);
        g_autofree char *text = NULL;
        if (!g_str_has_suffix(name, ".wstave") && !g_file_test(deeper, G_FILE_TEST_EXISTS))
            continue;
        const char *at = g_str_has_suffix(name, ".wstave") ? file : deeper;
        g_assert_true(g_file_get_contents(at, &text, NULL, NULL));
        g_autoptr(WsProgram) p = program_of(text, name);
        if (!p)
            continue;
        walk_all(p, NULL, 0, &r);
        designs++;
    }
    g_test_message("%u designs, %" G_GUINT64_FORMAT " waits, %" G_GUINT64_FORMAT " retired",
                   designs, r.waits, r.retired);
    g_assert_cmpuint(designs, >, 10);
    g_assert_cmpuint(r.waits, >, 50);
}

static void test_drawn(void)
{
    Run r = { .waits = 0 };
    const guint32 n = g_test_slow() ? 5000 : 300;
    for (guint32 seed = 0; seed < n; seed++) {
        const DrawOptions options = { seed & 1, seed & 2, 3 + seed % 16 };
        g_autofree char *text = draw_design(seed + 7000, &options);
        g_autoptr(WsProgram) p = program_of(text, "drawn");
        g_assert_nonnull(p);
        for (gint64 size = 1; size <= 5; size++)
            walk_all(p, &(WsSize){ "N", size }, 1, &r);
    }
    g_test_message("%u designs, %" G_GUINT64_FORMAT " waits, %" G_GUINT64_FORMAT " retired", n,
                   r.waits, r.retired);
    g_assert_cmpuint(r.retired, >, n);
}

/* --- the words of `--as program` ---------------------------------------------------------------
 */

static const struct {
    const char *name, *says[4];
} told[] = {
    { "both-branches",
      { "mma_wait group 0 retires 11 14  ; groups/math/body/6/then/0",
        "mma_wait group 0 retires 11 14  ; groups/math/body/6/else/0" } },
    { "newest-stays",
      { "mma_wait group 1 retires 11 stay 1  ;", "mma_wait group 0 retires 14  ;" } },
    { "newest-by-path", { "mma_wait group 1 retires 11? stay 1  ;" } },
    { "groups-by-path", { "mma_wait group 1 retires 11 stay by path  ;" } },
    { "carried",
      { "mma_wait group 1 retires 15? stay 1  ;", "mma_wait group 1 retires 11 stay 1  ;",
        "mma_wait group 0 retires 15?  ;" } },
    { "stores-two-stages", { "bulk_wait leader 1 retires", "bulk_wait leader 0 retires" } },
};

static void test_told(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *path =
        g_strdup_printf("%s/tests/designs/waits/%s.wstave", WS_SOURCE_ROOT, told[i].name);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(WsProgram) p = program_of(text, told[i].name);
    g_autofree char *printed = ws_program_print(p);
    for (guint k = 0; k < G_N_ELEMENTS(told[i].says) && told[i].says[k]; k++) {
        if (!strstr(printed, told[i].says[k]))
            g_test_message("no \"%s\" in\n%s", told[i].says[k], printed);
        g_assert_nonnull(strstr(printed, told[i].says[k]));
    }
}

int main(int argc, char **argv)
{
    static const char *const folders[] = { "projects", "tests/designs", "tests/designs/catalogue",
                                           "tests/designs/moves", "tests/designs/waits" };
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *path = g_strdup_printf("/flight/runs/%s", folders[i]);
        g_test_add_data_func(path, folders[i], test_folder);
    }
    g_test_add_func("/flight/runs/drawn", test_drawn);
    for (guint i = 0; i < G_N_ELEMENTS(told); i++) {
        g_autofree char *path = g_strdup_printf("/flight/told/%s", told[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_told);
    }
    return g_test_run();
}
