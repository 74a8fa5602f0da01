/* The key of a state: its control part, equal for states that do the same from here on whatever
 * they know, and its knowledge, as ranks among the events that can still matter. */
#include "check/prove.h"

#include <string.h>

WsKey *ws_key_new(const WsPlay *play)
{
    WsKey *k = g_new0(WsKey, 1);
    k->cap_control = 1024;
    k->control = g_new(guint32, k->cap_control);
    /* at most two ranks of every component for every clock */
    k->cap_known = (guint)play->n_clocks;
    k->known = g_new(guint8, k->cap_known + 1);
    k->item = g_array_new(FALSE, FALSE, sizeof(WsItem));
    k->epoch = g_array_new(FALSE, FALSE, sizeof(WsEpoch));
    k->first = g_new0(guint, play->n_comps + 2);
    return k;
}

void ws_key_free(WsKey *k)
{
    if (!k)
        return;
    g_free(k->control);
    g_free(k->known);
    g_array_unref(k->item);
    g_array_unref(k->epoch);
    g_free(k->first);
    g_free(k);
}

/* One word for small numbers, three for others. */
#define LARGE 0x80000000u
static void put(WsKey *k, gint64 x)
{
    if (k->n_control + 3 > k->cap_control)
        k->control = g_renew(guint32, k->control, k->cap_control *= 2);
    if (x >= G_MININT32 / 2 && x <= G_MAXINT32 / 2) {
        k->control[k->n_control++] = (guint32)x;
        return;
    }
    k->control[k->n_control++] = LARGE;
    k->control[k->n_control++] = (guint32)((guint64)x >> 32);
    k->control[k->n_control++] = (guint32)x;
}

static void put_op(WsKey *k, const WsOp *op)
{
    put(k, op ? (gint64)op->index : -1);
}

static void put_place(WsKey *k, const WsPlay *play, const WsSlot *slot)
{
    put(k, slot ? slot - play->slot : -1);
}

static void put_pointer(WsKey *k, gconstpointer p)
{
    put(k, (gint64)(gintptr)p);
}

/* An event that someone may have to know; epoch 0 is known to all. */
static void item(WsKey *k, guint comp, WsEpoch epoch)
{
    WsItem x = { comp, epoch };
    put(k, epoch ? (gint64)comp : -1);
    if (epoch)
        g_array_append_val(k->item, x);
}

/* --- control ---------------------------------------------------------------------------------- */
/* Variables up to their bound count exactly, beyond it modulo. */
static void put_variable(WsKey *k, const WsControl *c, guint v, gint64 x)
{
    gint64 b = c->bound[v] + 1;
    put(k, x <= b && x >= -b ? x : b + 1 + ws_control_mod(x, c->modulus[v]));
}

static gboolean exact_loop(const WsControl *c, const WsTree *t)
{
    if (t->over != WS_OVER_COUNT || !t->count)
        return FALSE;
    const WsExpr *w = g_hash_table_lookup(c->rewritten, t->count);
    const WsForm *f = g_hash_table_lookup(c->forms, w);
    return f && f->symbol < 0;
}

static void put_frames(WsKey *k, const WsControl *c, const WsControlInst *ci)
{
    put(k, ci->n_frames);
    for (guint i = 0; i < ci->n_frames; i++) {
        const WsControlFrame *f = &ci->frame[i];
        put_pointer(k, f->tree);
        put(k, (gint64)f->kid << 1 | (f->inside ? 1 : 0));
        if (f->tree->kind != WS_TREE_LOOP)
            continue;
        gint v = f->tree->index_var;
        if (exact_loop(c, f->tree))
            put(k, f->round);
        else if (v >= 0 && c->relevant[v])
            put_variable(k, c, (guint)v, f->from + f->round * f->by);
    }
}

static void put_variables(WsKey *k, const WsControl *c, const WsInst *inst, const WsControlInst *ci)
{
    for (guint v = 0; v < c->n_vars; v++) {
        const WsVar *var = &c->p->var[v];
        if (var->agent == (gint)inst->agent && c->relevant[v] &&
            (var->kind == WS_VAR_TOTAL || var->kind == WS_VAR_COUNTER || var->kind == WS_VAR_LET))
            put_variable(k, c, v, ci->value[v]);
    }
}

static void put_queue(WsKey *k, const GPtrArray *q, gint64 committed)
{
    put(k, q->len);
    for (guint i = 0; i < q->len; i++) {
        const WsEvent *e = q->pdata[i];
        put_op(k, e->op);
        put(k, committed - e->group);
    }
}

static void put_inst(WsKey *k, const WsPlay *play, const WsInst *inst)
{
    const WsControl *c = play->control;
    const WsControlInst *ci = &c->inst[inst->index];
    put(k, (gint64)inst->state << 8 | (inst->have ? 128 : 0) | ci->ask);
    put_frames(k, c, ci);
    put_variables(k, c, inst, ci);
    put(k, ci->private_frame);
    put_op(k, inst->have ? inst->step.op : NULL);
    put_place(k, play, inst->have ? inst->slot : NULL);
    put(k, inst->have && inst->named ? inst->named - play->named : -1);
    put(k, inst->have && inst->slot ? inst->parity : 0);
    put(k,
        inst->have && inst->slot && inst->turn != G_MININT64 ? inst->turn - inst->slot->phase : 99);
    put(k, inst->have && inst->named ? inst->joined - inst->named->generation : 0);
    put(k, inst->cluster_joined < 0 ? 99 : inst->cluster_joined - play->cluster.generation);
    put(k, (inst->mma_open ? 1 : 0) | (inst->bulk_open ? 2 : 0) | (inst->cp_open ? 4 : 0) |
               (inst->fence_seen ? 8 : 0));
    put_queue(k, inst->mma, inst->mma_committed);
    put_queue(k, inst->bulk, inst->bulk_committed);
    put_queue(k, inst->cp, inst->cp_committed);
    put(k, inst->busy->len);
    for (guint i = 0; i < inst->busy->len; i++) {
        const WsBusy *b = &g_array_index(inst->busy, WsBusy, i);
        put(k, (gint64)b->value << 32 | b->n);
        put(k, (gint64)b->mask);
        put(k, (inst->mma_committed - b->group) << 1 | b->accumulator);
    }
    for (guint i = 0; i < inst->a->n_values; i++) {
        put(k, (gint64)inst->defined[i]);
        put(k, (gint64)inst->touched[i]);
    }
    for (guint i = 0; i < MIN(inst->a->n_values, 64) && ci->private_frame; i++)
        put(k, (gint64)ci->saved[i]);
}

/* --- symbols ---------------------------------------------------------------------------------- */
static gboolean is_active(const WsControlInst *ci, const WsTree *t)
{
    for (guint i = 0; i < ci->n_frames; i++)
        if (ci->frame[i].tree == t)
            return TRUE;
    return FALSE;
}

/* All loops around the node are running. */
static gboolean in_scope(const WsControlInst *ci, const WsTree *node)
{
    for (const WsTree *t = node->parent; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && !is_active(ci, t))
            return FALSE;
    return TRUE;
}

/* The node can be met again in this tile: it lies ahead, or within a loop that is running. */
static gboolean lies_ahead(const WsControl *c, const WsControlInst *ci, const WsTree *node)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(c->number, node));
    if (ci->entered == G_MAXUINT || number > ci->entered)
        return TRUE;
    for (const WsTree *t = node->parent; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->over != WS_OVER_TILES && is_active(ci, t))
            return TRUE;
    return is_active(ci, node);
}

static gint64 round_of(const WsControlInst *ci, const WsTree *node)
{
    for (guint i = 0; i < ci->n_frames; i++)
        if (ci->frame[i].tree == node)
            return ci->frame[i].round;
    return 0;
}

/* How far an agent is from the value of a symbol. */
static void put_distance(WsKey *k, WsPlay *play, const WsInst *inst, const WsInstance *x,
                         gboolean *absolute)
{
    const WsControl *c = play->control;
    const WsControlInst *ci = &c->inst[inst->index];
    const WsSymbol *symbol = c->symbols->pdata[x->symbol];
    gint64 here = x->symbol == WS_SYMBOL_TILES ? x->position : ci->position;
    if (inst->state == WS_INST_DONE || (symbol->per_cta && x->rank != (gint)inst->rank))
        return;
    const GArray *sites = c->site[inst->agent];
    for (guint i = 0; i < sites->len; i++) {
        const WsSite *s = &g_array_index(sites, WsSite, i);
        if (s->form->symbol != x->symbol)
            continue;
        gint64 rest, mine = symbol->split && here == x->position ? ci->begun[x->symbol] : 0;
        if (here > x->position || (symbol->split && mine > x->time))
            continue;
        if (s->form->factor == 0 || (!s->count && !s->relative)) {
            /* a comparison with a number: beyond it all values are alike */
            if (s->form->factor && ws_control_value(play, inst, s->form->rest, &rest))
                put(k, MIN(x->lo, ABS(rest) + 2));
            else
                *absolute |= s->form->factor != 0;
            continue;
        }
        if (here < x->position || (symbol->split && mine < x->time)) {
            *absolute = TRUE; /* it will come to that tile, to that loop */
            continue;
        }
        if (!lies_ahead(c, ci, s->node) && !symbol->split)
            continue;
        gboolean running = s->count ? is_active(ci, s->node) : s->relative;
        if (s->count && !running && symbol->split)
            continue; /* that will be another time */
        if (!running || !in_scope(ci, s->node)) {
            *absolute = TRUE;
            continue;
        }
        if (!ws_control_value(play, inst, s->form->rest, &rest))
            continue;
        gint64 asked = s->count ? round_of(ci, s->node) - rest : s->form->factor > 0 ? -rest : rest;
        put(k, i);
        put(k, x->lo - asked);
    }
    put(k, -1);
}

static void put_tiles(WsKey *k, const WsPlay *play, const WsInstance *x, gint64 base)
{
    (void)play;
    put(k, x->exact);
    put(k, base == WS_FAR ? 0 : x->lo - base);
}

static void put_symbols(WsKey *k, WsPlay *play)
{
    const WsControl *c = play->control;
    gint64 base = WS_FAR;
    for (guint i = 0; i < play->n_inst; i++)
        if (play->inst[i].state != WS_INST_DONE)
            base = MIN(base, MAX(c->inst[i].position, 0));
    for (guint i = 0; i < play->n_inst; i++) {
        gint64 at = c->inst[i].position;
        put(k, play->inst[i].state == WS_INST_DONE || at == WS_FAR ? -3 : at < 0 ? at : at - base);
        for (guint n = 0; n < MIN(c->symbols->len, WS_MAX_SPLIT); n++) {
            gint64 time = ws_control_time(play, (gint)n, at);
            if (((const WsSymbol *)c->symbols->pdata[n])->split &&
                play->inst[i].state != WS_INST_DONE)
                put(k, time == G_MAXINT64 || c->inst[i].begun[n] < time
                           ? -1
                           : c->inst[i].begun[n] - time);
        }
    }
    for (guint i = 0; i < c->instance->len; i++) {
        /* by value: evaluation may make new instances */
        WsInstance x = g_array_index(c->instance, WsInstance, i);
        const WsSymbol *s = c->symbols->pdata[x.symbol];
        put(k, x.symbol);
        put(k, x.position == WS_FAR ? -4 : x.position < 0 ? x.position : x.position - base);
        put(k, x.rank);
        if (s->split && x.position != -2) {
            gint64 time = ws_control_time(play, x.symbol, x.position);
            put(k, time == G_MAXINT64 || x.time < time ? -1 : x.time - time);
        }
        put(k, x.remainder);
        if (x.symbol == WS_SYMBOL_TILES) {
            put_tiles(k, play, &x, base);
            continue;
        }
        gboolean absolute = FALSE;
        put(k, x.exact);
        for (guint n = 0; n < play->n_inst; n++)
            put_distance(k, play, &play->inst[n], &x, &absolute);
        if (absolute || s->letter)
            put(k, x.lo);
        else if (s->ring)
            put(k, -1 - ws_control_mod(x.lo, s->modulus));
    }
}

/* --- objects ---------------------------------------------------------------------------------- */
static void put_slot(WsKey *k, const WsPlay *play, const WsSlot *s)
{
    put(k, s->phase <= 1 ? s->phase : 2 + s->phase % WS_LAPS);
    put(k, s->pend);
    put(k, s->tx);
    put(k, (s->broken ? 1 : 0) | (s->bytes_before ? 2 : 0) | (s->expected || s->credited ? 4 : 0) |
               ((gint64)s->loose << 3));
    for (guint i = 0; i < play->n_inst; i++)
        put(k, s->contributed[i]);
    item(k, s->comp, (WsEpoch)s->phase);
    item(k, s->comp, (WsEpoch)MAX(s->phase - 1, 0));
    for (guint a = 0; a < play->p->n_agents; a++) {
        const WsWaited *w = &s->waited[a];
        if (w->phase != s->phase - 1) {
            put(k, -2);
            continue;
        }
        put_op(k, w->event.op);
        item(k, w->comp, w->epoch);
    }
}

static void put_event(WsKey *k, const WsPlay *play, const WsEvent *e)
{
    put_op(k, e ? e->op : NULL);
    if (!e)
        return;
    const WsInst *inst = &play->inst[e->inst];
    put(k, (gint64)e->inst << 1 | e->pending);
    put(k, e->use), put(k, e->buffer), put(k, e->stage), put(k, e->element), put(k, e->row0);
    put_place(k, play, e->slot);
    if (!e->pending) {
        item(k, e->comp, e->epoch);
        return;
    }
    gint64 committed = e->op->engine == WS_ENGINE_MMA         ? inst->mma_committed
                       : e->op->engine == WS_ENGINE_TMA_STORE ? inst->bulk_committed
                                                              : inst->cp_committed;
    put(k, committed - e->group);
}

static void put_objects(WsKey *k, const WsPlay *play)
{
    for (guint i = 0; i < play->ranks * play->n_slots; i++)
        put_slot(k, play, &play->slot[i]);
    for (guint i = 0; i <= play->ranks * play->n_named; i++) {
        const WsNamed *n = i < play->ranks * play->n_named ? &play->named[i] : &play->cluster;
        if (n->generation == 0 && n->arrived == 0) {
            put(k, -5);
            continue;
        }
        put(k, MIN(n->generation, 1));
        put(k, (gint64)n->now);
        put(k, (gint64)n->before);
        put(k, n->arrived);
        put(k, n->arrived ? n->count : 0);
        item(k, n->comp, (WsEpoch)n->generation);
    }
    for (guint r = 0; r < play->ranks; r++)
        for (guint i = 0; i < play->shadow[r].n; i++) {
            const WsCell *c = &play->shadow[r].cell[i];
            put(k, (gint64)c->from);
            put_event(k, play, c->write);
            put(k, c->n_reads);
            for (guint n = 0; n < c->n_reads; n++)
                put_event(k, play, c->read[n]);
        }
    put(k, play->remote->len);
    for (guint i = 0; i < play->remote->len; i++) {
        const WsEvent *e = play->remote->pdata[i];
        put(k, e->stage);
        item(k, e->comp, e->epoch);
    }
    put(k, play->transfers_used);
    for (guint i = 0; i < play->transfers_used; i++) {
        const WsTransfer *t = play->transfers->pdata[i];
        put_place(k, play, t->slot);
        item(k, t->event->comp, t->event->epoch);
    }
}

/* --- knowledge -------------------------------------------------------------------------------- */
static gint by_item(gconstpointer a, gconstpointer b)
{
    const WsItem *x = a, *y = b;
    if (x->comp != y->comp)
        return x->comp < y->comp ? -1 : 1;
    return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static guint rank_of(const WsKey *k, guint comp, WsEpoch value)
{
    guint n = 0;
    for (guint i = k->first[comp]; i < k->first[comp + 1]; i++)
        n += g_array_index(k->epoch, WsEpoch, i) <= value;
    return n;
}

static void rank_items(WsPlay *play, WsKey *k)
{
    g_autoptr(GArray) sorted = g_array_copy(k->item);
    g_array_sort(sorted, by_item);
    g_array_set_size(k->epoch, 0);
    guint at = 0;
    for (guint comp = 0; comp < play->n_comps; comp++) {
        k->first[comp] = k->epoch->len;
        for (; at < sorted->len && g_array_index(sorted, WsItem, at).comp == comp; at++) {
            WsEpoch e = g_array_index(sorted, WsItem, at).epoch;
            if (k->epoch->len > k->first[comp] &&
                g_array_index(k->epoch, WsEpoch, k->epoch->len - 1) == e)
                continue;
            g_array_append_val(k->epoch, e);
        }
        if (k->epoch->len - k->first[comp] > 250) { /* a rank is a byte */
            if (!play->control->outside)
                play->control->outside = g_strdup("too many accesses can still matter");
            play->outside = TRUE;
        }
    }
    k->first[play->n_comps] = k->epoch->len;
    for (guint i = 0; i < k->item->len; i++) {
        const WsItem *x = &g_array_index(k->item, WsItem, i);
        put(k, rank_of(k, x->comp, x->epoch));
    }
}

/* All clocks of a play, in a fixed order; NULL for those of barriers that nobody has used yet. */
static WsEpoch *holder(const WsPlay *play, guint i)
{
    guint before = 2 * play->n_inst + 2 * play->ranks * play->n_slots;
    if (i >= before) {
        guint n = (i - before) / 2;
        const WsNamed *x = n < play->ranks * play->n_named ? &play->named[n] : &play->cluster;
        if (x->generation == 0 && x->arrived == 0)
            return NULL;
    }
    return play->clocks + (gsize)i * 2 * play->n_comps;
}

void ws_key_make(WsPlay *play, WsKey *k)
{
    k->n_control = k->n_known = 0;
    g_array_set_size(k->item, 0);
    for (guint i = 0; i < play->n_inst; i++)
        put_inst(k, play, &play->inst[i]);
    put_symbols(k, play);
    put_objects(k, play);
    rank_items(play, k);
    guint n = (guint)(play->n_clocks / (2 * play->n_comps));
    for (guint h = 0; h < n; h++) {
        const WsEpoch *clock = holder(play, h);
        if (!clock)
            continue;
        for (guint comp = 0; comp < play->n_comps; comp++) {
            if (k->first[comp] == k->first[comp + 1])
                continue;
            k->known[k->n_known++] = (guint8)rank_of(k, comp, clock[comp]);
            k->known[k->n_known++] = (guint8)rank_of(k, comp, clock[play->n_comps + comp]);
        }
    }
}

static void lower(const WsKey *k, guint comp, WsEpoch *value, guint rank)
{
    if (rank_of(k, comp, *value) <= rank)
        return;
    *value = rank ? g_array_index(k->epoch, WsEpoch, k->first[comp] + rank - 1) : 0;
}

void ws_key_lower(WsPlay *play, const WsKey *k, const guint8 *known)
{
    guint n = (guint)(play->n_clocks / (2 * play->n_comps));
    for (guint h = 0; h < n; h++) {
        WsEpoch *clock = holder(play, h);
        if (!clock)
            continue;
        for (guint comp = 0; comp < play->n_comps; comp++) {
            if (k->first[comp] == k->first[comp + 1])
                continue;
            lower(k, comp, &clock[comp], known[0]);
            lower(k, comp, &clock[play->n_comps + comp], known[1]);
            known += 2;
        }
    }
}
