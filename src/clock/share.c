/* Shares of loads, by walking the beginning of every tile of the first waves. */
#include "clock/share.h"
#include "program/op.h"
#include "program/parts/dtype.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "target/target.h"

#include <string.h>

#define MAX_LOOK 400 /* operations of an agent's tile that are looked at */
#define CHOOSING 64  /* waves that are looked at where tiles choose among loads */

typedef struct {
    guint64 place;
    gint wave;   /* that touched it last; -1: none */
    guint n;     /* CTAs that did so in that wave; 0: nothing stands here */
    double then; /* bytes that had been fetched by then */
} Touch;

/* All places that were touched: open addressing, at most half of it in use. */
typedef struct {
    Touch *at;
    guint n, size; /* size: a power of 2, or 0 */
} Places;

struct WsShares {
    guint n_ops, waves;
    WsShare *share; /* [wave * n_ops + op] */
};

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    gint64 clusters, played, first, most, dies;
    double l2_bytes, fetched; /* fetched: and written, what takes a place in L2 */
    double written;           /* by a cluster in one tile */
    Places touch;
    guint64 *place; /* of the played CTA in this wave, by op */
    guint8 *known;
    guint *loads;       /* by agent */
    GArray *load;       /* guint: operations that load and that the played tile has, by agent */
    double *executions; /* by op, in one tile */
    guint32 *streamed;  /* by tensor: dimensions that some load walks through inside a tile */
    guint8 *at_once;    /* by agent: the coordinates of a tile tell all its places */
    WsWalker **inside;  /* by agent of these: in a tile, before its first load; NULL: not yet */
    WsShares *s;
} Look;

/* Of halves, rows are loaded by groups, but as tiles; elsewhere data pick them. */
static gboolean is_load(const WsProgram *p, const WsOp *op)
{
    const gboolean rows = p->hardware->halves && ws_op_issues(op->kind, WS_QUEUE_ROWS);
    return (op->kind == WS_OP_TMA_LOAD || rows) && op->tensor >= 0;
}

static WsExpr *first_row(const WsExpr *node, gpointer data, GError **error)
{
    const WsProgram *p = data;
    if (node->op != WS_EXPR_VAR || node->var < 0 || (guint)node->var >= p->n_vars ||
        p->var[node->var].kind != WS_VAR_ROW)
        return NULL;
    return ws_expr_int(0);
}

static void coordinate(const Look *look, WsWalker *w, const WsExpr *e, gint64 *at)
{
    if (!look->p->hardware->halves) {
        ws_walker_eval(w, e, at, NULL);
        return;
    }
    WsExpr *begin = ws_expr_map(e, first_row, (gpointer)look->p, NULL);
    if (begin)
        ws_walker_eval(w, begin, at, NULL);
    ws_expr_unref(begin);
}

static guint64 mix(guint64 h, guint64 x)
{
    h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccdu;
}

/* All that a tile loads by one operation is one place: where it begins along the dimensions that it
 * walks through does not tell it from the tiles that walk through the same rows. */
static guint64 place_of(const Look *look, WsWalker *w, const WsOp *op)
{
    guint64 h = mix(1469598103934665603u, op->index);
    for (guint i = 0; i < op->n_coord; i++) {
        gint64 at = 0;
        if (look->streamed[op->tensor] & 1u << i)
            continue;
        coordinate(look, w, op->coord[i], &at);
        h = mix(h, (guint64)at);
    }
    return h;
}

static gint64 only_tile(gpointer data, gint64 position)
{
    return position == 0 ? *(gint64 *)data : -1;
}

typedef struct {
    const WsProgram *p;
    gboolean walks;
    GHashTable *tile; /* variables of the tile, by index + 1; NULL: not asked for */
} Walks;

/* A `let` outside all counted loops has one value per tile. */
static gboolean let_of_round(const WsProgram *p, gint var)
{
    for (guint i = 0; i < p->n_ops; i++) {
        if (p->op[i]->kind != WS_OP_LET || p->op[i]->var != var)
            continue;
        for (const WsTree *t = p->op[i]->tree; t; t = t->parent)
            if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT)
                return TRUE;
    }
    return FALSE;
}

static void note_var(const WsExpr *node, gpointer data)
{
    if (node->op == WS_EXPR_VAR && node->var >= 0)
        g_hash_table_add(data, GINT_TO_POINTER(node->var + 1));
}

static void note_walk(const WsExpr *node, gpointer data)
{
    Walks *walks = data;
    if (node->op != WS_EXPR_VAR || node->var < 0 || (guint)node->var >= walks->p->n_vars)
        return;
    WsVarKind kind = walks->p->var[node->var].kind;
    gboolean let = kind == WS_VAR_LET && !let_of_round(walks->p, node->var);
    if (walks->tile && (kind == WS_VAR_AXIS || kind == WS_VAR_TILE || let))
        g_hash_table_add(walks->tile, GINT_TO_POINTER(node->var + 1));
    if (kind == WS_VAR_INDEX || kind == WS_VAR_TOTAL || kind == WS_VAR_COUNTER ||
        (kind == WS_VAR_LET && !let))
        walks->walks = TRUE;
}

/* A tile may begin elsewhere because it walks further: then its loop is as long as that says. */
static gboolean only_length(const WsOp *op, GHashTable *tile)
{
    GHashTableIter iter;
    gpointer var;
    g_autoptr(GHashTable) count = g_hash_table_new(NULL, NULL);
    for (const WsTree *t = op->tree; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT && t->count)
            ws_expr_visit(t->count, note_var, count);
    g_hash_table_iter_init(&iter, tile);
    while (g_hash_table_iter_next(&iter, &var, NULL))
        if (!g_hash_table_contains(count, var))
            return FALSE;
    return TRUE;
}

/* The same box in every round of a loop: it is in L2 after the first. */
static gboolean again_and_again(const WsProgram *p, const WsOp *op)
{
    Walks walks = { p, FALSE, NULL };
    gboolean loop = FALSE;
    for (guint d = 0; d < op->n_coord; d++)
        ws_expr_visit(op->coord[d], note_walk, &walks);
    for (const WsTree *t = op->tree; t; t = t->parent)
        loop |= t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT;
    return loop && !walks.walks;
}

static void note_streams(Look *look)
{
    for (guint i = 0; i < look->p->n_ops; i++) {
        const WsOp *op = look->p->op[i];
        for (guint d = 0; is_load(look->p, op) && d < op->n_coord; d++) {
            g_autoptr(GHashTable) tile = g_hash_table_new(NULL, NULL);
            Walks walks = { look->p, FALSE, tile };
            ws_expr_visit(op->coord[d], note_walk, &walks);
            if (walks.walks && only_length(op, tile))
                look->streamed[op->tensor] |= 1u << d;
        }
    }
}

/* How often the loads of an agent happen in one tile, of those of which it is not known yet. FALSE:
 * of some of them it still is not. */
static gboolean count_executions(Look *look, guint agent, gint64 id)
{
    const WsProgram *p = look->p;
    g_autoptr(WsWalker) w = ws_walker_new(p, look->v, agent, 0, only_tile, &id);
    WsStep step;
    guint steps = 0;
    gboolean all = TRUE;
    g_autofree guint8 *before = g_new0(guint8, p->n_ops + 1);
    for (guint i = 0; i < p->n_ops; i++)
        before[i] = look->executions[i] > 0;
    ws_walker_guess_elements(w);
    while (steps++ < 20000 && ws_walker_next(w, &step, NULL))
        if (is_load(p, step.op) && !before[step.op->index])
            look->executions[step.op->index]++;
    for (guint i = 0; i < p->n_ops; i++)
        all &= p->op[i]->agent != (gint)agent || !is_load(p, p->op[i]) || look->executions[i] > 0;
    return all;
}

/* Where the place stands, or would. */
static Touch *seat_of(const Places *p, guint64 place)
{
    guint i = (guint)(place >> 17) & (p->size - 1);
    while (p->at[i].n && p->at[i].place != place)
        i = (i + 1) & (p->size - 1);
    return &p->at[i];
}

static Touch *touched(Places *p, guint64 place)
{
    if (2 * p->n >= p->size) {
        const Places old = *p;
        p->size = MAX(2 * old.size, 256);
        p->at = g_new0(Touch, p->size);
        for (guint i = 0; i < old.size; i++)
            if (old.at[i].n)
                *seat_of(p, old.at[i].place) = old.at[i];
        g_free(old.at);
    }
    Touch *t = seat_of(p, place);
    if (!t->n) {
        *t = (Touch){ place, -1, 1, 0 };
        p->n++;
    }
    return t;
}

static void touch_place(Look *look, guint64 place, const WsOp *op, gint wave)
{
    Touch *t = touched(&look->touch, place);
    double bytes = (double)op->bytes * MAX(look->executions[op->index], 1);
    if (t->wave == wave) {
        t->n++;
        return;
    }
    gboolean there = t->wave >= 0 && look->fetched - t->then < look->l2_bytes;
    if (!there)
        look->fetched += bytes;
    t->n = there ? 1 : 1 | 1u << 31; /* the top bit: fetched in this wave */
    t->wave = wave;
    t->then = look->fetched;
}

static void note_round(const WsExpr *node, gpointer hangs_on_rounds)
{
    Walks *walks = hangs_on_rounds;
    if (node->op == WS_EXPR_INDEX)
        walks->walks = TRUE;
    if (node->op != WS_EXPR_VAR)
        return;
    const WsVarKind kind = walks->p->var[node->var].kind;
    if (kind != WS_VAR_SIZE && kind != WS_VAR_RUN && kind != WS_VAR_AXIS && kind != WS_VAR_TILE &&
        kind != WS_VAR_ROW)
        walks->walks = TRUE;
}

/* Whether no place of an agent's loads hangs on more than the tile. */
static gboolean places_of_tile(const Look *look, guint agent)
{
    Walks walks = { look->p, FALSE, NULL };
    for (guint i = 0; i < look->p->n_ops; i++) {
        const WsOp *op = look->p->op[i];
        for (guint d = 0; op->agent == (gint)agent && is_load(look->p, op) && d < op->n_coord; d++)
            if (!(look->streamed[op->tensor] & 1u << d))
                ws_expr_visit(op->coord[d], note_round, &walks);
    }
    return !walks.walks;
}

/* Of one wave alone, in which everything is fetched, only who shares with the played tile is asked:
 * a place that it does not touch need not be kept. */
static gboolean is_asked(const Look *look, guint64 place, const WsOp *op, gboolean played)
{
    return look->s->waves > 1 || played ||
           (look->known[op->index] && look->place[op->index] == place);
}

static void look_at_load(Look *look, WsWalker *w, const WsOp *op, gint wave, gboolean played)
{
    guint64 place = place_of(look, w, op);
    if (is_asked(look, place, op, played))
        touch_place(look, place, op, wave);
    if (played) {
        look->place[op->index] = place;
        look->known[op->index] = 1;
    }
}

static gboolean in_tile(const WsProgram *p, const WsStep *step)
{
    if (p->tiles->launch == WS_LAUNCH_SINGLE &&
        !p->hardware->halves) /* a CTA is its tile; of halves MAX_LOOK counts */
        return TRUE;
    for (guint i = 0; i < step->n_rounds; i++)
        if (step->loop[i]->over == WS_OVER_TILES)
            return TRUE;
    return FALSE;
}

/* All loads that the played tile has, of the tile in which the walker is. */
static void look_at_all(Look *look, WsWalker *w, guint agent, gint wave, gboolean played)
{
    for (guint i = 0; i < look->load->len; i++) {
        const WsOp *op = look->p->op[g_array_index(look->load, guint, i)];
        if (op->agent == (gint)agent)
            look_at_load(look, w, op, wave, played);
    }
}

static void look_at_tile(Look *look, guint agent, gint64 id, gint wave, gboolean played)
{
    if (look->inside[agent]) { /* nothing but the tile tells its places from those of others */
        ws_walker_set_tile(look->inside[agent], id);
        look_at_all(look, look->inside[agent], agent, wave, played);
        return;
    }
    g_autoptr(WsWalker) w = ws_walker_new(look->p, look->v, agent, 0, only_tile, &id);
    WsStep step;
    guint found = 0, steps = 0;
    g_autofree guint8 *seen = g_new0(guint8, look->p->n_ops + 1);
    ws_walker_guess_elements(w);
    while (found < look->loads[agent] && steps++ < MAX_LOOK && ws_walker_next(w, &step, NULL)) {
        const WsOp *op = step.op;
        if (look->at_once[agent] && in_tile(look->p, &step)) {
            look_at_all(look, w, agent, wave, played);
            if (!found)
                look->inside[agent] = g_steal_pointer(&w);
            return;
        }
        if (!is_load(look->p, op) || seen[op->index])
            continue;
        seen[op->index] = 1;
        found++;
        look_at_load(look, w, op, wave, played);
    }
}

static gboolean walks_rows(const Look *look, guint op)
{
    const gint tensor = look->p->op[op]->tensor;
    const guint rank = tensor >= 0 ? look->p->tensor[tensor].rank : 0;
    return rank && look->streamed[tensor] >> (rank - 1) & 1;
}

static void note_wave(Look *look, gint wave)
{
    for (guint i = 0; i < look->p->n_ops; i++) {
        WsShare *share = &look->s->share[(guint)wave * look->p->n_ops + i];
        /* A tile that does not load by it says nothing of one that does. */
        *share = wave ? share[-(gint)look->p->n_ops] : (WsShare){ FALSE, 1, walks_rows(look, i) };
        share->fetched = FALSE;
        if (!look->known[i])
            continue;
        const Touch *t = seat_of(&look->touch, look->place[i]);
        *share = (WsShare){ t->n >> 31 && !again_and_again(look->p, look->p->op[i]),
                            MAX(t->n & 0x7fffffff, 1), share->along };
    }
}

static double bytes_written(const WsProgram *p, const WsLaunchValues *v)
{
    double bytes = 0;
    for (guint t = 0; t < p->n_tensors; t++) {
        double all = ws_dtype_bytes(p->tensor[t].dtype);
        for (guint d = 0; d < p->tensor[t].rank; d++)
            all *= (double)ws_launch_shape(v, t, d);
        bytes += p->tensor[t].access == WS_ACCESS_WRITE ? all : 0;
    }
    return bytes;
}

static void look_at_wave(Look *look, gint wave, gint64 count)
{
    memset(look->known, 0, look->p->n_ops);
    for (guint agent = 0; agent < look->p->n_agents; agent++) {
        if (!look->loads[agent])
            continue;
        const gint64 begin = wave * look->clusters;
        const gint64 all = MIN(count - begin, look->clusters);
        const gint64 end = MIN(all, look->first + look->most);
        const gboolean before = look->s->waves == 1 && look->played < end; /* see is_asked() */
        if (before)
            look_at_tile(look, agent, ws_dealt_tile(look->p, count, begin + look->played), wave,
                         TRUE);
        for (gint64 c = look->first; c < end; c++)
            if (c % look->dies == look->played % look->dies && !(before && c == look->played))
                look_at_tile(look, agent, ws_dealt_tile(look->p, count, begin + c), wave,
                             c == look->played);
    }
    note_wave(look, wave);
    look->fetched += look->written * (double)MIN(count - wave * look->clusters, look->clusters);
}

WsShares *ws_shares_new(const WsProgram *p, const WsLaunchValues *v, gint64 clusters, gint64 played,
                        gint64 resident, gint64 dies, guint waves, double l2_bytes)
{
    gint64 count = ws_launch_tiles(v);
    WsShares *s = g_new0(WsShares, 1);
    g_autofree guint64 *place = g_new0(guint64, p->n_ops + 1);
    g_autofree guint8 *known = g_new0(guint8, p->n_ops + 1);
    g_autofree guint *loads = g_new0(guint, p->n_agents + 1);
    g_autoptr(GArray) load = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree double *executions = g_new0(double, p->n_ops + 1);
    g_autofree guint32 *streamed = g_new0(guint32, p->n_tensors + 1);
    g_autofree guint8 *at_once = g_new0(guint8, p->n_agents + 1);
    g_autofree WsWalker **inside = g_new0(WsWalker *, p->n_agents + 1);
    clusters = MAX(clusters, 1);
    resident = CLAMP(resident, 1, clusters);
    s->n_ops = p->n_ops;
    s->waves = (guint)CLAMP((count - 1) / clusters + 1, 1, MAX(waves, 1));
    Look look = { p,
                  v,
                  clusters,
                  played,
                  played - played % resident,
                  resident,
                  MAX(dies, 1),
                  l2_bytes,
                  0,
                  bytes_written(p, v) / (double)MAX(count, 1),
                  { NULL, 0, 0 },
                  place,
                  known,
                  loads,
                  load,
                  executions,
                  streamed,
                  at_once,
                  inside,
                  s };
    note_streams(&look);
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && is_load(p, p->op[i]))
            loads[p->op[i]->agent]++;
    for (guint agent = 0; agent < p->n_agents; agent++)
        if (loads[agent]) {
            /* Where tiles choose among loads, each is walked. */
            const gboolean all = count_executions(&look, agent, MIN(played, count - 1));
            at_once[agent] = all && places_of_tile(&look, agent);
            if (!all)
                s->waves = (guint)CLAMP((count - 1) / clusters + 1, s->waves, CHOOSING);
            for (guint w = 1; !all && w < s->waves; w++)
                if (count_executions(&look, agent, MIN(played + w * clusters, count - 1)))
                    break;
        }
    for (guint i = 0; i < p->n_ops; i++)
        if (is_load(p, p->op[i]) && executions[i] > 0)
            g_array_append_val(load, i);
    s->share = g_new0(WsShare, (gsize)s->waves * MAX(p->n_ops, 1));
    for (guint w = 0; w < s->waves; w++)
        look_at_wave(&look, (gint)w, count);
    g_free(look.touch.at);
    for (guint agent = 0; agent < p->n_agents; agent++)
        ws_walker_free(inside[agent]);
    return s;
}

void ws_shares_free(WsShares *s)
{
    if (!s)
        return;
    g_free(s->share);
    g_free(s);
}

WsShare ws_shares_get(const WsShares *s, guint op, gint64 position)
{
    if (!s || op >= s->n_ops)
        return (WsShare){ FALSE, 1, FALSE };
    guint wave = (guint)CLAMP(position, 0, (gint64)s->waves - 1);
    return s->share[(gsize)wave * s->n_ops + op];
}

gboolean ws_rows_are_far(const WsProgram *p, const WsLaunchValues *v, double l2, guint tensor)
{
    const WsTensor *t = &p->tensor[tensor];
    double elements = 0; /* from the first to the last */
    for (guint d = 0; d < t->rank; d++)
        elements = MAX(elements, (double)ws_launch_shape(v, tensor, d) *
                                     (double)ws_launch_stride(v, tensor, d));
    return elements * ws_dtype_bytes(t->dtype) > 2 * l2;
}
