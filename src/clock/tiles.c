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

/* Rounds of the inner loops of tile `id`, at least 1. */
static double tile_rounds(const WsClockPlay *play, gint64 id)
{
    guint agent = typical_agent(play->p);
    g_autoptr(WsWalker) w = ws_walker_new(play->p, play->v, agent, 0, this_tile, &id);
    ws_walker_guess_elements(w);
    WsStep step;
    do
        if (!ws_walker_next(w, &step, NULL))
            return 1;
    while (ws_walker_position(w) < 0);
    return MAX(rounds(w, play->p->agent[agent].body), 1);
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

static Line line_of(const WsClockPlay *play, gint64 played, double period)
{
    double mean = 0;
    gint64 first = played > 2 ? 1 : 0, last = MAX(played - 1, first + 1);
    for (gint64 i = first; i < last; i++)
        mean += tile_rounds(play, ws_clock_play_tile(play, i));
    mean /= (double)(last - first);
    double slope = inner_period(play);
    if (slope <= 0 || slope * mean > period)
        slope = period / mean;
    return (Line){ period - slope * mean, slope };
}

static double tile_cycles(const WsClockPlay *play, Line line, gint64 id)
{
    return line.fixed + line.slope * tile_rounds(play, id);
}

gboolean ws_tiles_uneven(const WsClockPlay *play)
{
    gint64 count = play->stride.count, step = MAX(count / 64, 1);
    double first = tile_rounds(play, 0);
    for (gint64 id = 1; id < count; id += step)
        if (tile_rounds(play, id) != first)
            return TRUE;
    return FALSE;
}

double ws_tiles_dynamic(const WsClockPlay *play, gint64 played, gint64 ctas, double period,
                        double end)
{
    Line line = line_of(play, played, period);
    gint64 count = play->stride.count;
    double own = 0, latest = 0;
    g_autofree double *busy = g_new0(double, MAX(ctas, 1));
    for (gint64 i = 0; i < played; i++)
        own += tile_cycles(play, line, ws_clock_play_tile(play, i));
    for (gint64 id = 0; id < MIN(count, MAX_DYNAMIC); id++) {
        gint64 next = 0;
        for (gint64 c = 1; c < ctas; c++)
            if (busy[c] < busy[next])
                next = c;
        busy[next] += tile_cycles(play, line, id);
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
    Line line = line_of(play, played, period);
    gint64 step = (tiles - played + MAX_TILES - 1) / MAX_TILES, n = 0;
    double sum = 0;
    for (gint64 i = played; i < tiles; i += step, n++)
        sum += tile_cycles(play, line, ws_clock_play_tile(play, i));
    return sum / (double)MAX(n, 1) * (double)(tiles - played);
}

double ws_tiles_mean_ratio(const WsClockPlay *play, gint64 tiles)
{
    double sum = 0, own = tile_rounds(play, ws_clock_play_tile(play, 0));
    gint64 step = (tiles + MAX_TILES - 1) / MAX_TILES, n = 0;
    for (gint64 id = 0; id < tiles; id += MAX(step, 1), n++)
        sum += tile_rounds(play, id);
    return n ? sum / (double)n / own : 1;
}
