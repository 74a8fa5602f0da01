/* Tiles that differ in length: how many rounds each has, without playing it. */
#include "clock/result.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <math.h>

#define MAX_TILES   2048 /* evaluated one by one; more are sampled evenly */
#define MAX_DYNAMIC 8192 /* dealt out one by one; what more there are goes on like that */

static gint64 this_tile(gpointer data, gint64 position)
{
    return *(gint64 *)data;
}

static double rounds(WsWalker *w, const WsTree *t)
{
    gint64 value = 0;
    double sum = 0;
    if (!t)
        return 0;
    if (t->kind == WS_TREE_BRANCH) {
        guint side = ws_walker_eval(w, t->cond, &value, NULL) && !value ? 1 : 0;
        return side < t->n_kids ? rounds(w, t->kid[side]) : 0;
    }
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i]->kind != WS_TREE_OP)
            sum += rounds(w, t->kid[i]);
    if (t->kind != WS_TREE_LOOP || t->over != WS_OVER_COUNT)
        return sum;
    if (!t->count || !ws_walker_eval(w, t->count, &value, NULL))
        value = 1;
    return (double)MAX(value, 0) * MAX(sum, 1);
}

/* The agent whose loops stand for the length of a tile: the first that multiplies. */
static guint typical_agent(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (ws_op_is_product(p->op[i]->kind) && p->op[i]->agent >= 0)
            return (guint)p->op[i]->agent;
    return 0;
}

/* Tiles of a play, asked one after the other. `w` is of this struct. */
typedef struct {
    const WsClockPlay *play;
    guint agent; /* typical */
    gint64 id;
    WsWalker *w; /* in a tile where nothing but the tile is known: it tells of all others */
} Tiles;

static Tiles tiles_of(const WsClockPlay *play)
{
    return (Tiles){ play, typical_agent(play->p), 0, NULL };
}

static void tiles_clear(Tiles *t)
{
    ws_walker_free(t->w);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Tiles, tiles_clear)

static gboolean knows_only_tile(const WsStep *step)
{
    gboolean only = !ws_op_assigns(step->op->kind);
    for (guint i = 0; i < step->n_rounds; i++)
        only &= step->loop[i]->over == WS_OVER_TILES;
    return only;
}

/* Rounds of the inner loops of tile `id`, at least 1. */
static double tile_rounds(Tiles *t, gint64 id)
{
    const WsTree *body = t->play->p->agent[t->agent].body;
    if (t->w) {
        ws_walker_set_tile(t->w, id);
        return MAX(rounds(t->w, body), 1);
    }
    t->id = id;
    g_autoptr(WsWalker) w = ws_walker_new(t->play->p, t->play->v, t->agent, 0, this_tile, &t->id);
    ws_walker_guess_elements(w);
    WsStep step;
    guint steps = 0;
    do {
        if (!ws_walker_next(w, &step, NULL))
            return 1;
        steps++;
    } while (ws_walker_position(w) < 0);
    const double found = MAX(rounds(w, body), 1);
    if (steps == 1 && knows_only_tile(&step))
        t->w = g_steal_pointer(&w);
    return found;
}

/* The typical agent's longest inner loop, as cycles per round; 0 unknown. */
static double inner_period(const WsClockPlay *play)
{
    guint agent = typical_agent(play->p);
    double best = 0;
    for (guint i = 0; i < play->loops->len; i++) {
        const WsLoopTrack *t = &g_array_index(play->loops, WsLoopTrack, i);
        double sum = 0;
        if (t->agent != agent || t->loop->over != WS_OVER_COUNT || t->distance->len == 0)
            continue;
        for (guint k = 0; k < t->distance->len; k++)
            sum += g_array_index(t->distance, double, k);
        best = MAX(best, sum / t->distance->len);
    }
    return best;
}

/* Cycles of a tile = fixed + slope * rounds, through the mean of the tiles that were played. */
typedef struct {
    double fixed, slope;
} Line;

static Line line_of(Tiles *t, gint64 played, double period)
{
    const WsClockPlay *play = t->play;
    double mean = 0;
    gint64 first = played > 2 ? 1 : 0, last = MAX(played - 1, first + 1);
    for (gint64 i = first; i < last; i++)
        mean += tile_rounds(t, ws_clock_play_tile(play, i));
    mean /= (double)(last - first);
    double slope = inner_period(play);
    if (slope <= 0 || slope * mean > period)
        slope = period / mean;
    return (Line){ period - slope * mean, slope };
}

static double tile_cycles(Tiles *t, Line line, gint64 id)
{
    return line.fixed + line.slope * tile_rounds(t, id);
}

gboolean ws_tiles_uneven(const WsClockPlay *play)
{
    gint64 count = play->stride.count, step = MAX(count / 64, 1);
    g_auto(Tiles) t = tiles_of(play);
    double first = tile_rounds(&t, 0);
    for (gint64 id = 1; id < count; id += step)
        if (tile_rounds(&t, id) != first)
            return TRUE;
    return FALSE;
}

double ws_tiles_dynamic(const WsClockPlay *play, gint64 played, gint64 ctas, double period,
                        double end)
{
    g_auto(Tiles) t = tiles_of(play);
    Line line = line_of(&t, played, period);
    gint64 count = play->stride.count;
    double own = 0, latest = 0;
    g_autofree double *busy = g_new0(double, MAX(ctas, 1));
    for (gint64 i = 0; i < played; i++)
        own += tile_cycles(&t, line, ws_clock_play_tile(play, i));
    for (gint64 id = 0; id < MIN(count, MAX_DYNAMIC); id++) {
        gint64 next = 0;
        for (gint64 c = 1; c < ctas; c++)
            if (busy[c] < busy[next])
                next = c;
        busy[next] += tile_cycles(&t, line, id);
        latest = MAX(latest, busy[next]);
    }
    if (count > MAX_DYNAMIC)
        latest *= (double)count / MAX_DYNAMIC;
    return latest + MAX(end - own, 0);
}

double ws_tiles_left(const WsClockPlay *play, gint64 played, gint64 tiles, double period)
{
    if (played >= tiles || played < 1)
        return 0;
    g_auto(Tiles) t = tiles_of(play);
    Line line = line_of(&t, played, period);
    gint64 step = (tiles - played + MAX_TILES - 1) / MAX_TILES, n = 0;
    double sum = 0;
    for (gint64 i = played; i < tiles; i += step, n++)
        sum += tile_cycles(&t, line, ws_clock_play_tile(play, i));
    return sum / (double)MAX(n, 1) * (double)(tiles - played);
}

double ws_tiles_mean_ratio(const WsClockPlay *play, gint64 tiles)
{
    g_auto(Tiles) t = tiles_of(play);
    double sum = 0, own = tile_rounds(&t, ws_clock_play_tile(play, 0));
    gint64 step = (tiles + MAX_TILES - 1) / MAX_TILES, n = 0;
    for (gint64 id = 0; id < tiles; id += MAX(step, 1), n++)
        sum += tile_rounds(&t, id);
    return n ? sum / (double)n / own : 1;
}
