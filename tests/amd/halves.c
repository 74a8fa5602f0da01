#include "amd/halves.h"

#include "model/finding.h"
#include "model/findings.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <string.h>

/* Each half is a list of events; a state is how far each of them is. Until something is wrong, the
 * contents of shared memory follow from the state alone: two loads of one place in flight are
 * wrong. What a read must see is what it sees where the halves go step by step and loads land at
 * once. */

enum { PARTS = 16, MOST_CELLS = 4096, MOST_EVENTS = 4000 };
typedef enum { READ, WRITE, LOAD, COMMIT, WAIT, JOIN } Kind;
typedef struct {
    Kind kind;
    const WsOp *op;
    guint cell, cells; /* first, count */
    gint version;
    gint64 n;       /* WAIT: groups that stay */
    gint *expected; /* READ */
    guint turn;     /* number without the joins */
} Event;

typedef struct {
    GArray *event[2];
    guint base[256];
    guint n_cells;
} Halves;

static void add(Halves *h, guint half, const WsProgram *p, const WsStep *step, WsWalker *w)
{
    const WsOp *op = step->op;
    Event e = { .op = op };
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        const WsBuffer *b = &p->buffer[a->buffer];
        gint64 stage = 0, row = 0, use = 0;
        g_assert_true(ws_walker_eval(w, a->stage, &stage, NULL));
        g_assert_true(ws_walker_eval(w, a->row0, &row, NULL));
        if (a->use)
            g_assert_true(ws_walker_eval(w, a->use, &use, NULL));
        const guint first = (guint)(row * PARTS / b->rows),
                    last = (guint)((row + a->rows) * PARTS + b->rows - 1) / b->rows;
        e.kind = op->kind == WS_OP_CP_ROWS ? LOAD : a->mode & WS_MODE_WRITE ? WRITE : READ;
        e.cell = h->base[a->buffer] + (guint)stage * PARTS + first;
        e.cells = last - first;
        e.version = (gint)(use * 2 + 3 + (e.kind == WRITE));
        if (e.kind == READ)
            e.expected = g_new0(gint, e.cells);
        g_array_append_val(h->event[half], e);
    }
    if (op->n_access)
        return;
    if (op->kind == WS_OP_CP_COMMIT)
        e.kind = COMMIT;
    else if (op->kind == WS_OP_CP_WAIT)
        e.kind = WAIT, e.n = op->n;
    else if (op->kind == WS_OP_BAR_SYNC)
        e.kind = JOIN;
    else
        return;
    g_array_append_val(h->event[half], e);
}

static gboolean flatten(Halves *h, const WsProgram *p, const WsLaunchValues *v)
{
    for (guint i = 0; i < p->n_buffers; i++) {
        h->base[i] = h->n_cells;
        h->n_cells += p->buffer[i].stages * PARTS;
    }
    g_assert_cmpuint(h->n_cells, <=, MOST_CELLS);
    for (guint half = 0; half < 2; half++) {
        WsTilesStrided tiles = { 0, 1, 1 };
        g_autoptr(WsWalker) w = ws_walker_new(p, v, half, 0, ws_tiles_strided, &tiles);
        WsStep step;
        guint turn = 0;
        while (ws_walker_next(w, &step, NULL) && h->event[half]->len < MOST_EVENTS)
            add(h, half, p, &step, w);
        for (guint i = 0; i < h->event[half]->len; i++) {
            Event *e = &g_array_index(h->event[half], Event, i);
            e->turn = e->kind == JOIN ? turn : turn++;
        }
    }
    return TRUE;
}

#define AT(h, half, i) (&g_array_index((h)->event[half], Event, i))

/* Step by step: of each half the event of the same number, loads landing at once. */
static void expect(Halves *h)
{
    g_autofree gint *cell = g_new0(gint, h->n_cells);
    guint at[2] = { 0, 0 };
    for (guint turn = 0; at[0] < h->event[0]->len || at[1] < h->event[1]->len; turn++)
        for (guint half = 0; half < 2; half++)
            for (; at[half] < h->event[half]->len && AT(h, half, at[half])->turn <= turn;
                 at[half]++) {
                Event *e = AT(h, half, at[half]);
                for (guint c = 0; c < e->cells; c++) {
                    if (e->kind == READ)
                        e->expected[c] = cell[e->cell + c];
                    else if (e->kind == LOAD || e->kind == WRITE)
                        cell[e->cell + c] = e->version;
                }
                if (e->kind == JOIN && at[half] + 1 < h->event[half]->len)
                    continue;
            }
}

/* Loads of a half that it has issued and not waited for, when it stands at `pc`; TRUE in flying[i]
 * for event i. Groups are retired oldest first. */
static void flying(const Halves *h, guint half, guint pc, gboolean *in_flight)
{
    g_autofree guint *group = g_new0(guint, pc + 1);
    guint closed = 0, retired = 0;
    for (guint i = 0; i < pc; i++) {
        const Event *e = AT(h, half, i);
        group[i] = closed;
        if (e->kind == COMMIT)
            closed++;
        else if (e->kind == WAIT && (gint64)closed - e->n > retired)
            retired = (guint)(closed - e->n);
    }
    for (guint i = 0; i < pc; i++)
        in_flight[i] = AT(h, half, i)->kind == LOAD && group[i] >= retired;
}

typedef struct {
    gint *version;
} State;

static char *touch(const Halves *h, guint half, const guint pc[2], const State *s,
                   gboolean *const in_flight[2])
{
    const Event *e = AT(h, half, pc[half]);
    if (e->kind != READ && e->kind != WRITE && e->kind != LOAD)
        return NULL;
    for (guint other = 0; other < 2; other++)
        for (guint i = 0; i < pc[other]; i++) {
            const Event *f = AT(h, other, i);
            if (in_flight[other][i] && f->cell < e->cell + e->cells && e->cell < f->cell + f->cells)
                return g_strdup_printf("half %u at %s touches what %s of half %u is loading", half,
                                       e->op->id, f->op->id, other);
        }
    for (guint c = 0; e->kind == READ && c < e->cells; c++)
        if (s->version[e->cell + c] != e->expected[c])
            return g_strdup_printf("half %u at %s reads fill %d, not %d", half, e->op->id,
                                   s->version[e->cell + c], e->expected[c]);
    return NULL;
}

static char *search(const Halves *h)
{
    const guint n[2] = { h->event[0]->len, h->event[1]->len };
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GQueue) queue = g_queue_new();
    typedef struct {
        guint pc[2];
        gint version[];
    } Node;
    const gsize size = sizeof(Node) + sizeof(gint) * h->n_cells;
    g_queue_push_tail(queue, g_malloc0(size));
    char *wrong = NULL;
    while (!g_queue_is_empty(queue)) {
        g_autofree Node *at = g_queue_pop_head(queue);
        if (wrong)
            continue;
        g_autofree gboolean *low = g_new0(gboolean, n[0] + 1), *high = g_new0(gboolean, n[1] + 1);
        gboolean *const in_flight[2] = { low, high };
        flying(h, 0, at->pc[0], low);
        flying(h, 1, at->pc[1], high);
        gboolean joins[2], ended[2], moved = FALSE;
        for (guint half = 0; half < 2; half++) {
            ended[half] = at->pc[half] == n[half];
            joins[half] = !ended[half] && AT(h, half, at->pc[half])->kind == JOIN;
        }
        for (guint half = 0; half < 3 && !wrong; half++) {
            if (half == 2 ? !(joins[0] && joins[1]) : ended[half] || joins[half])
                continue;
            moved = TRUE;
            const State s = { at->version };
            if (half < 2 && (wrong = touch(h, half, at->pc, &s, in_flight)))
                break;
            gint64 key = (gint64)(at->pc[0] + (half != 1)) << 32 | (at->pc[1] + (half != 0));
            if (g_hash_table_contains(seen, &key))
                continue;
            g_hash_table_add(seen, g_memdup2(&key, sizeof key));
            Node *to = g_memdup2(at, size);
            to->pc[0] += half != 1;
            to->pc[1] += half != 0;
            if (half < 2 && AT(h, half, at->pc[half])->kind == WRITE) {
                const Event *e = AT(h, half, at->pc[half]);
                for (guint c = 0; c < e->cells; c++)
                    to->version[e->cell + c] = e->version;
            }
            if (half < 2 && AT(h, half, at->pc[half])->kind == WAIT) {
                g_autofree gboolean *still = g_new0(gboolean, n[half] + 1);
                flying(h, half, to->pc[half], still);
                for (guint i = 0; i < at->pc[half]; i++)
                    for (guint c = 0; in_flight[half][i] && !still[i] && c < AT(h, half, i)->cells;
                         c++)
                        to->version[AT(h, half, i)->cell + c] = AT(h, half, i)->version;
            }
            g_queue_push_tail(queue, to);
        }
        if (!moved && !wrong && !(ended[0] && ended[1]))
            wrong = g_strdup("one half waits at a barrier and the other has ended");
    }
    return wrong;
}

char *halves_wrong(const WsProgram *p, const char *size, gint64 value, gboolean *ran)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsSize sizes[] = { { size, value } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, sizes, 1, TRUE, findings);
    *ran = v != NULL;
    if (!v)
        return NULL;
    g_assert_cmpuint(p->n_agents, ==, 2);
    Halves h = { .event = { g_array_new(FALSE, TRUE, sizeof(Event)),
                            g_array_new(FALSE, TRUE, sizeof(Event)) } };
    flatten(&h, p, v);
    expect(&h);
    char *wrong = search(&h);
    for (guint half = 0; half < 2; half++) {
        for (guint i = 0; i < h.event[half]->len; i++)
            g_free(AT(&h, half, i)->expected);
        g_array_free(h.event[half], TRUE);
    }
    return wrong;
}
