/* The case that a finding was met with, and a case in which an alarm's answers hold. */
#include "check/play/case_at.h"
#include "base/phrase.h"
#include "check/play/launches.h"
#include "check/play/questions.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* --- a case that was met ---------------------------------------------------------------------- */
static gint size_named(const WsProgram *p, const char *name)
{
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE && !strcmp(p->var[v].name, name))
            return (gint)v;
    return -1;
}

static gint tensor_named(const WsProgram *p, const WsMetValue *x)
{
    for (guint t = 0; t < p->n_tensors; t++)
        if (!strcmp(p->tensor[t].name, x->name) && p->tensor[t].rank == x->rank)
            return (gint)t;
    return -1;
}

static WsCase *case_of(const WsProgram *p, const gint64 *now, const WsMet *met, guint tiles)
{
    g_autoptr(WsLaunches) launches = ws_launches_new(p);
    WsLaunchValues *values = ws_values_at(launches, now, NULL);
    if (!values)
        return NULL;
    gint64 grid = met->grid;
    if (grid == 0)
        grid = p->tiles->launch == WS_LAUNCH_SINGLE || p->tiles->grid ? ws_launch_grid(values, 1)
                                                                      : MAX(p->cluster, 1);
    g_autoptr(WsCase) c = ws_case_new(p, values, MAX(grid, 1), met->cta, tiles);
    if (!c)
        return NULL;
    c->element = met->element, c->element_step = met->element_step, c->data = met->data;
    for (guint i = 0; i < met->value->len; i++) {
        const WsMetValue *x = &g_array_index(met->value, WsMetValue, i);
        const gint tensor = x->rank ? tensor_named(p, x) : -1;
        if (x->rank && tensor < 0)
            return NULL;
        if (x->rank)
            ws_case_choose(p, c, tensor, x->at, x->value);
    }
    if (c->tiles != tiles || ws_case_broken(p, c))
        return NULL;
    ws_case_tell(p, c);
    return g_steal_pointer(&c);
}

WsCase *ws_case_at(const WsProgram *p, const WsMet *met, guint tiles)
{
    g_autofree gint64 *now = ws_rehearsal_sizes(p);
    for (guint i = 0; i < met->value->len; i++) {
        const WsMetValue *x = &g_array_index(met->value, WsMetValue, i);
        const gint v = x->rank ? -1 : size_named(p, x->name);
        if (!x->rank && v < 0)
            return NULL;
        if (v >= 0)
            now[v] = x->value;
    }
    return case_of(p, now, met, tiles);
}

/* --- a case for answers ----------------------------------------------------------------------- */
enum { MOST_TRIES = 3000, MOST_NUMBERS = 160, MOST_PLACES = 12 };

typedef struct {
    const WsProgram *p;
    WsLaunches *launches;
    const GArray *told; /* WsTold */
    guint tiles;
    gint64 *now;
    GArray *questions;
    GArray *number; /* gint64: worth trying */
    guint tries, want;
    guint best;           /* answers that hold in `found` */
    const WsTold *missed; /* there; NULL none */
    WsCase *found;
} Solve;

static void try_number(Solve *s, gint64 x)
{
    for (guint i = 0; i < s->number->len; i++)
        if (g_array_index(s->number, gint64, i) == x)
            return;
    if (x >= 0 && s->number->len < MOST_NUMBERS)
        g_array_append_val(s->number, x);
}

static gboolean holds(const WsTold *t, gint64 x)
{
    return t->op == WS_EXPR_EQ   ? x == t->value
           : t->op == WS_EXPR_NE ? (x != 0) == (t->value != 0)
           : t->op == WS_EXPR_LE ? x <= t->value
                                 : x > t->value;
}

/* An answer at a tile of the case, with elements chosen for it if that helps. */
static gboolean holds_at(const WsTold *t, WsAtTile *at, WsCase *c)
{
    gint64 x;
    if (ws_at_tile_eval(at, t->expr, &x) && holds(t, x)) {
        ws_at_tile_keep(at, c);
        return TRUE;
    }
    const gint64 wanted = t->op == WS_EXPR_NE   ? t->value != 0
                          : t->op == WS_EXPR_GT ? t->value + 1
                                                : t->value;
    if (!ws_at_tile_reach(at, c, t->expr, wanted))
        return FALSE;
    ws_at_tile_keep(at, c);
    return TRUE;
}

/* How many answers hold at a place; keeps the case if it is the best. */
static guint hold_there(Solve *s, WsCase *c)
{
    g_autoptr(WsAtTile) at = ws_at_tile_new(s->p, c);
    const WsTold *missed = NULL;
    guint n = 0;
    for (guint i = 0; i < s->told->len; i++) {
        const WsTold *t = &g_array_index(s->told, WsTold, i);
        const gint64 position = t->launch || t->position < 0 ? 0 : t->position;
        const gint64 tile = position < c->tiles ? ws_case_tile(s->p, c, position) : -1;
        ws_at_tile_move(at, MAX(tile, 0));
        if ((tile >= 0 || t->launch) && holds_at(t, at, c))
            n++;
        else
            missed = t;
    }
    if ((s->found && n <= s->best) || ws_case_broken(s->p, c) ||
        !ws_case_weigh(s->p, c, s->questions)) {
        ws_case_free(c);
        return n;
    }
    ws_case_free(s->found);
    s->found = c, s->best = n, s->missed = missed;
    return n;
}

/* The most answers that hold at the present sizes, over some grids and CTAs. */
static gint hold(Solve *s)
{
    gint best = -1;
    for (guint nth = 0; nth < MOST_PLACES && best < (gint)s->want && s->tries < MOST_TRIES; nth++) {
        WsLaunchValues *values = ws_values_at(s->launches, s->now, NULL);
        gint64 grid, cta;
        s->tries++;
        if (!values)
            return best;
        if (!ws_place(s->p, values, s->tiles, nth, &grid, &cta)) {
            ws_launch_values_free(values);
            return best;
        }
        const gint n = (gint)hold_there(s, ws_case_new(s->p, values, grid, cta, s->tiles));
        best = MAX(best, n);
    }
    return best;
}

/* One size after the other to the number with which most answers hold. */
static void climb(Solve *s)
{
    gint best = hold(s);
    for (guint pass = 0; pass < 4 && best < (gint)s->want; pass++)
        for (guint v = 0; v < s->p->n_vars && best < (gint)s->want; v++) {
            if (s->p->var[v].kind != WS_VAR_SIZE)
                continue;
            gint64 keep = s->now[v];
            for (guint i = 0; i < s->number->len && best < (gint)s->want && s->tries < MOST_TRIES;
                 i++) {
                s->now[v] = g_array_index(s->number, gint64, i);
                gint n = hold(s);
                if (n > best)
                    best = n, keep = s->now[v];
            }
            s->now[v] = keep;
        }
}

/* What a comparison with a far number is about: the number, times what counts are divided by. */
static void far_numbers(Solve *s, const WsExpr *asked, const GArray *literal)
{
    enum { FEW = 4 };
    g_autoptr(GArray) far = g_array_new(FALSE, FALSE, sizeof(gint64));
    ws_literals(s->p, asked, far, FEW);
    for (guint i = 0; i < far->len; i++) {
        const gint64 number = ABS(g_array_index(far, gint64, i));
        for (guint k = 0; k < literal->len && number <= G_MAXINT32; k++) {
            const gint64 factor = ABS(g_array_index(literal, gint64, k));
            for (gint64 d = -1; d <= 1 && factor >= 1 && factor <= 4096; d++) {
                try_number(s, number * factor + d);
                try_number(s, (number + d) * factor);
            }
        }
    }
}

static void collect_numbers(Solve *s)
{
    enum { MOST_LITERALS = 12 };
    g_autoptr(GArray) literal = g_array_new(FALSE, FALSE, sizeof(gint64));
    const gint64 one = 1;
    for (gint64 x = 0; x <= 20; x++)
        try_number(s, x);
    g_array_append_val(literal, one);
    for (guint i = 0; i < s->told->len; i++)
        ws_literals(s->p, g_array_index(s->told, WsTold, i).expr, literal, MOST_LITERALS);
    for (guint a = 0; a < s->p->tiles->n_axes; a++)
        ws_literals(s->p, s->p->tiles->axis[a].extent, literal, MOST_LITERALS);
    for (guint i = 0; i < s->told->len; i++)
        if (g_array_index(s->told, WsTold, i).op == WS_EXPR_NE)
            far_numbers(s, g_array_index(s->told, WsTold, i).expr, literal);
    for (guint k = 0; k < literal->len; k++) {
        const gint64 factor = ABS(g_array_index(literal, gint64, k));
        if (factor > 4096 || factor < 1)
            continue;
        try_number(s, (gint64)MAX(s->tiles, 1) * factor);
        for (guint i = 0; i < s->told->len; i++) {
            const WsTold *t = &g_array_index(s->told, WsTold, i);
            if (ABS(t->value) > 4096)
                continue;
            for (gint64 d = -2; d <= 2; d++) {
                try_number(s, (ABS(t->value) + d) * factor);
                try_number(s, ABS(t->value) * factor + d);
            }
        }
    }
}

static char *told_text(const WsTold *t)
{
    g_autofree char *name = ws_expr_print(t->expr);
    GString *s = g_string_new(name);
    if (t->op == WS_EXPR_NE)
        g_string_append(s, t->value ? " true" : " false");
    else
        g_string_append_printf(s, " %s %" G_GINT64_FORMAT,
                               t->op == WS_EXPR_EQ   ? "="
                               : t->op == WS_EXPR_LE ? "<="
                                                     : ">",
                               t->value);
    if (!t->launch && t->position >= 0)
        g_string_append_printf(s, " in tile %" G_GINT64_FORMAT, t->position);
    return g_string_free(s, FALSE);
}

static WsCase *solve(const WsProgram *p, const GArray *told, guint tiles, char **missed)
{
    g_autofree gint64 *now = ws_rehearsal_sizes(p);
    g_autoptr(GArray) number = g_array_new(FALSE, FALSE, sizeof(gint64));
    static const gint64 from[] = { 0, 8, 32 };
    g_autoptr(GArray) questions = ws_questions(p);
    g_autoptr(WsLaunches) launches = ws_launches_new(p);
    Solve s = {
        .p = p, .launches = launches, .told = told, .tiles = tiles, .now = now, .number = number
    };
    s.questions = questions;
    s.want = told->len;
    collect_numbers(&s);
    ws_case_free(ws_case_with(launches, now, NULL, tiles, NULL)); /* leaves its sizes in `now` */
    climb(&s);
    for (guint k = 0; k < G_N_ELEMENTS(from) && s.best < s.want; k++) {
        for (guint v = 0; v < p->n_vars; v++)
            now[v] = from[k];
        s.tries = 0;
        climb(&s);
    }
    *missed = s.missed ? told_text(s.missed) : NULL;
    if (s.found)
        ws_case_tell(p, s.found);
    else
        *missed = ws_phrase(tiles == 1 ? "%u tile of a CTA" : "%u tiles of a CTA", tiles);
    return s.found;
}

/* Answers that are yes or no are given beside the counts they may contradict (L-FAR): where not all
 * hold together, those alone are tried, too. */
WsCase *ws_case_told(const WsProgram *p, const GArray *told, guint tiles, char **missed)
{
    WsCase *best = solve(p, told, tiles, missed);
    g_autoptr(GArray) letters = g_array_new(FALSE, FALSE, sizeof(WsTold));
    for (guint i = 0; *missed && i < told->len; i++)
        if (g_array_index(told, WsTold, i).op == WS_EXPR_NE)
            g_array_append_val(letters, g_array_index(told, WsTold, i));
    if (letters->len == 0 || letters->len == told->len)
        return best;
    g_autofree char *still = NULL;
    WsCase *other = solve(p, letters, tiles, &still);
    if (other && !still) {
        ws_case_free(best);
        return other;
    }
    ws_case_free(other);
    return best;
}
