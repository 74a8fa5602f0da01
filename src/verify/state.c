/* States: made, copied; what is known of names in them. */
#include "verify/state.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"

#include <stdlib.h>
#include <string.h>

/* Where the parts of a state lie behind it; how long it is. NULL: that alone. */
static gsize carve(const Plan *plan, State *s)
{
    const guint cluster = plan->p->cluster, vars = plan->p->n_vars;
    const gsize sets = (gsize)plan->n_items * plan->words;
    gsize at = (sizeof *s + 15) / 16 * 16;
#define PART(field, n)                                                                             \
    do {                                                                                           \
        if (s)                                                                                     \
            s->field = (gpointer)((guint8 *)s + at);                                               \
        at += ((n) * sizeof *s->field + 15) / 16 * 16;                                             \
    } while (0)
    PART(inst, plan->n_inst);
    PART(slot, cluster * plan->n_slots);
    PART(name, cluster * plan->n_names + 1);
    PART(k, sets);
    PART(q, sets);
    PART(written, cluster * plan->n_cells);
    PART(flight, plan->n_items);
    PART(author, plan->n_items);
    for (guint i = 0; i < plan->n_inst; i++) {
        PART(inst[i].loop, plan->agent[i % plan->p->n_agents].n_loops);
        PART(inst[i].var, vars);
        PART(inst[i].loose, vars);
        PART(inst[i].times, plan->c->symbol->len);
    }
#undef PART
    return at;
}

State *state_new(const Plan *plan)
{
    State *s = g_malloc0(carve(plan, NULL));
    carve(plan, s);
    for (guint i = 0; i < plan->n_inst; i++) {
        s->inst[i].tile = plan->p->tiles->launch == WS_LAUNCH_SINGLE ? 0 : TILE_BEFORE;
        s->inst[i].touched = G_MAXUINT64; /* the first product needs a fence, too */
    }
    for (guint n = 0; n < plan->p->cluster * plan->n_slots; n++)
        s->slot[n].pending = plan->arrivals[n % plan->n_slots];
    memset(s->k, 0xff, (gsize)plan->n_items * plan->words * 8);
    memset(s->q, 0xff, (gsize)plan->n_items * plan->words * 8);
    s->fact = g_array_new(FALSE, FALSE, sizeof(Fact));
    return s;
}

State *state_copy(const Plan *plan, const State *s)
{
    State *t = g_memdup2(s, carve(plan, NULL));
    carve(plan, t);
    t->fact = g_array_copy(s->fact);
    return t;
}

void state_free(State *s)
{
    if (s)
        g_array_unref(s->fact);
    g_free(s);
}

/* --- what is known of names ------------------------------------------------------------------- */
Fact *state_fact(const State *s, const Fact *key)
{
    for (guint i = 0; i < s->fact->len; i++)
        if (fact_same(&g_array_index(s->fact, Fact, i), key))
            return &g_array_index(s->fact, Fact, i);
    return NULL;
}

Fact fact_default(const Certificate *c, const Fact *key)
{
    const Symbol *s = &g_array_index(c->symbol, Symbol, key->symbol);
    Fact f = *key;
    const gboolean residue_only = key->symbol && key->tile == TILE_LAUNCH;
    f.low = residue_only ? NO_LOW : s->least;
    f.high = residue_only ? NO_HIGH : s->most;
    f.residue = -1;
    return f;
}

Fact state_know(const Plan *plan, const State *s, const Fact *key)
{
    const Fact *f = state_fact(s, key);
    return f ? *f : fact_default(plan->c, key);
}

Fact *state_learn(const Plan *plan, State *s, const Fact *key)
{
    Fact *f = state_fact(s, key);
    if (f)
        return f;
    Fact new = fact_default(plan->c, key);
    g_array_append_val(s->fact, new);
    return &g_array_index(s->fact, Fact, s->fact->len - 1);
}

gint64 fact_residue(const Plan *plan, const State *s, const Fact *f)
{
    const Symbol *y = &g_array_index(plan->c->symbol, Symbol, f->symbol);
    if (y->modulus == 1)
        return 0;
    if (f->low == f->high)
        return range_mod(f->low, y->modulus);
    if (f->residue >= 0 || y->of_tile)
        return f->residue;
    Fact launch = *f;
    launch.tile = TILE_LAUNCH;
    launch.time = 0;
    return state_know(plan, s, &launch).residue;
}

/* The pass of the loop over tiles that it has entered, or enters next. */
static gint64 tiles_pass(const Plan *plan, const Instance *x, guint inst)
{
    const AgentPlan *a = &plan->agent[inst % plan->p->n_agents];
    for (gint n = 1; n <= a->n_places; n++)
        if (a->place[n].loop >= 0 && a->place[n].tree->over == WS_OVER_TILES &&
            x->loop[a->place[n].loop].running)
            return tile_pass(x->tile);
    return x->tile == TILE_BEFORE ? 0 : tile_pass(x->tile) + 1;
}

const LoopState *instance_rounds(const Plan *plan, guint agent, const Instance *x, guint symbol)
{
    const AgentPlan *a = &plan->agent[agent];
    for (gint n = 1; n <= a->n_places; n++)
        if (a->place[n].of_rounds >> symbol & 1 && x->loop[a->place[n].loop].entered)
            return &x->loop[a->place[n].loop];
    return NULL;
}

gint64 instance_time(const Plan *plan, guint agent, const Instance *x, guint symbol)
{
    const Symbol *y = &g_array_index(plan->c->symbol, Symbol, symbol);
    if (!y->split || !y->round)
        return y->split ? x->times[symbol] : 0;
    const LoopState *l = instance_rounds(plan, agent, x, symbol);
    return (x->times[symbol] << 32) + (!l ? 0xffffffff : l->running ? l->index + 1 : 0);
}

/* Nobody can ask about this name of rounds any more. */
gboolean fact_is_past(const Plan *plan, const State *s, const Fact *f)
{
    for (guint i = 0; i < plan->n_inst; i++) {
        const guint agent = i % plan->p->n_agents;
        const Instance *x = &s->inst[i];
        if (x->status != ENDED && plan->agent[agent].asks[f->symbol] &&
            (x->tile < f->tile ||
             (x->tile == f->tile && instance_time(plan, agent, x, f->symbol) <= f->time)))
            return FALSE;
    }
    return g_array_index(plan->c->symbol, Symbol, f->symbol).round;
}

Fact instance_fact(const Plan *plan, const State *s, guint inst, guint symbol)
{
    const Symbol *y = &g_array_index(plan->c->symbol, Symbol, symbol);
    Fact key = { .symbol = symbol,
                 .tile = symbol
                             ? s->inst[inst].tile
                             : TILE_PASS * tiles_pass(plan, &s->inst[inst], inst) + TILE_LAUNCH };
    key.cta = y->of_cta ? (gint)(inst / plan->p->n_agents) : -1;
    key.time = instance_time(plan, inst % plan->p->n_agents, &s->inst[inst], symbol);
    return state_know(plan, s, &key);
}

gboolean state_refine(const Plan *plan, State *s, const Fact *ask, const Option *o)
{
    const Symbol *y = &g_array_index(plan->c->symbol, Symbol, ask->symbol);
    Fact *f = state_learn(plan, s, ask);
    if (o->op == 'm' && y->modulus > 1)
        f->residue = f->residue < 0 || f->residue == o->value ? o->value : -2;
    if (o->op == '=' || o->op == '>')
        f->low = MAX(f->low, o->value);
    if (o->op == '=' || o->op == '<')
        f->high = MIN(f->high, o->value);
    if (f->residue == -2 || f->low > f->high)
        return FALSE;
    const gboolean exact = f->low == f->high;
    const gint64 g = range_gcd(y->every, y->modulus), value = f->low, residue = f->residue;
    if (residue >= 0 && residue % g != y->left % g)
        return FALSE;
    if (!exact)
        return TRUE;
    if (range_mod(value, y->every) != y->left ||
        (residue >= 0 && range_mod(value, y->modulus) != residue))
        return FALSE;
    if (y->modulus == 1 || y->of_tile || !ask->symbol)
        return TRUE;
    Fact launch = *ask;
    launch.tile = TILE_LAUNCH;
    launch.time = 0;
    f = state_learn(plan, s, &launch); /* ask may have moved */
    if (f->residue >= 0 && f->residue != range_mod(value, y->modulus))
        return FALSE;
    f->residue = range_mod(value, y->modulus);
    return TRUE;
}
