/* Keeping and restoring the state of a proof. Everything stays at its address, so pointers inside
 * remain right. */
#include "check/prove.h"

#include <string.h>

/* --- compaction: only events that can still matter -------------------------------------------- */
#define BLOCK 512 /* as in play.c */
typedef struct {
    WsPlay *play;
    guint64 mark;
    GArray *kept; /* WsEvent */
} Compaction;

static WsEvent *place(const WsPlay *play, guint index)
{
    return &((WsEvent *)play->arena->pdata[index / BLOCK])[index % BLOCK];
}

static WsEvent *keep(Compaction *c, WsEvent *e)
{
    if (!e)
        return NULL;
    if (e->seen >> 32 != c->mark) {
        e->seen = c->mark << 32 | c->kept->len;
        g_array_append_val(c->kept, *e);
        WsEvent *copy = &g_array_index(c->kept, WsEvent, c->kept->len - 1);
        copy->next = NULL; /* what ends together has ended */
    }
    return place(c->play, (guint)(e->seen & G_MAXUINT32));
}

static void keep_queue(Compaction *c, GPtrArray *queue)
{
    for (guint i = 0; i < queue->len; i++)
        queue->pdata[i] = keep(c, queue->pdata[i]);
}

/* Of what was done to other CTAs the last counts: whoever knows it knows the earlier ones. */
static void thin_remote(WsPlay *play)
{
    guint n = 0;
    for (guint i = 0; i < play->remote->len; i++) {
        const WsEvent *e = play->remote->pdata[i];
        gboolean later = FALSE;
        for (guint k = i + 1; k < play->remote->len && !later; k++) {
            const WsEvent *x = play->remote->pdata[k];
            later = x->comp == e->comp && x->stage == e->stage && x->epoch >= e->epoch;
        }
        if (!later)
            play->remote->pdata[n++] = (gpointer)e;
    }
    g_ptr_array_set_size(play->remote, (gint)n);
}

/* The same with transfers, per slot. */
static void thin_transfers(WsPlay *play)
{
    guint n = 0;
    for (guint i = 0; i < play->transfers_used; i++) {
        WsTransfer *t = play->transfers->pdata[i];
        guint k = 0;
        while (k < n && ((WsTransfer *)play->transfers->pdata[k])->slot != t->slot)
            k++;
        if (k < n && ((WsTransfer *)play->transfers->pdata[k])->event->epoch > t->event->epoch)
            continue;
        play->transfers->pdata[i] = play->transfers->pdata[k];
        play->transfers->pdata[k] = t;
        if (k == n)
            n++;
    }
    play->transfers_used = n;
}

void ws_state_compact(WsPlay *play)
{
    static guint64 marks;
    Compaction c = { play, (++marks & G_MAXUINT32), g_array_new(FALSE, FALSE, sizeof(WsEvent)) };
    thin_remote(play);
    thin_transfers(play);
    for (guint i = 0; i < play->n_inst; i++) {
        WsInst *inst = &play->inst[i];
        keep_queue(&c, inst->mma);
        keep_queue(&c, inst->bulk);
        keep_queue(&c, inst->cp);
        for (guint k = 0; k < inst->busy->len; k++) {
            WsBusy *b = &g_array_index(inst->busy, WsBusy, k);
            b->event = keep(&c, b->event);
        }
    }
    for (guint r = 0; r < play->ranks; r++)
        for (guint i = 0; i < play->shadow[r].n; i++) {
            WsCell *cell = &play->shadow[r].cell[i];
            cell->write = keep(&c, cell->write);
            for (guint k = 0; k < cell->n_reads; k++)
                cell->read[k] = keep(&c, cell->read[k]);
        }
    keep_queue(&c, play->remote);
    for (guint i = 0; i < play->transfers_used; i++) {
        WsTransfer *t = play->transfers->pdata[i];
        t->event = keep(&c, t->event);
    }
    for (guint i = 0; i < c.kept->len; i++)
        *place(play, i) = g_array_index(c.kept, WsEvent, i);
    play->arena_used = c.kept->len;
    g_array_unref(c.kept);
}

/* --- one walk over everything, to keep or to restore ------------------------------------------ */
typedef struct {
    GByteArray *out;
    const guint8 *in;
} Archive;

static void bytes(Archive *a, gpointer p, gsize n)
{
    if (a->out) {
        g_byte_array_append(a->out, p, (guint)n);
    } else {
        memcpy(p, a->in, n);
        a->in += n;
    }
}

static void queue(Archive *a, GPtrArray *q)
{
    guint n = q->len;
    bytes(a, &n, sizeof n);
    if (!a->out)
        g_ptr_array_set_size(q, (gint)n);
    if (n)
        bytes(a, q->pdata, n * sizeof(gpointer));
}

static void list(Archive *a, GArray *l, gsize size)
{
    guint n = l->len;
    bytes(a, &n, sizeof n);
    if (!a->out)
        g_array_set_size(l, n);
    if (n)
        bytes(a, l->data, n * size);
}

static void cell(Archive *a, WsCell *c)
{
    bytes(a, &c->from, sizeof c->from);
    bytes(a, &c->to, sizeof c->to);
    bytes(a, &c->write, sizeof c->write);
    bytes(a, &c->n_reads, sizeof c->n_reads);
    if (c->cap_reads < c->n_reads) {
        c->cap_reads = MAX(4, c->n_reads);
        c->read = g_renew(WsEvent *, c->read, c->cap_reads);
    }
    if (c->n_reads)
        bytes(a, c->read, c->n_reads * sizeof(WsEvent *));
}

static void shadow(Archive *a, WsShadow *s)
{
    guint n = s->n;
    bytes(a, &n, sizeof n);
    for (guint i = n; i < s->n; i++)
        g_free(s->cell[i].read);
    if (n > s->cap) {
        s->cap = n;
        s->cell = g_renew(WsCell, s->cell, s->cap);
    }
    for (guint i = s->n; i < n; i++)
        memset(&s->cell[i], 0, sizeof(WsCell));
    s->n = n;
    for (guint i = 0; i < n; i++)
        cell(a, &s->cell[i]);
}

static void instances(Archive *a, WsPlay *play)
{
    WsControl *c = play->control;
    bytes(a, play->inst, play->n_inst * sizeof(WsInst));
    for (guint i = 0; i < play->n_inst; i++) {
        WsInst *inst = &play->inst[i];
        queue(a, inst->mma);
        queue(a, inst->bulk);
        queue(a, inst->cp);
        list(a, inst->busy, sizeof(WsBusy));
        bytes(a, inst->defined, (inst->a->n_values + 1) * sizeof(guint64));
        bytes(a, inst->touched, (inst->a->n_values + 1) * sizeof(guint64));
        bytes(a, c->inst[i].value, c->n_vars * sizeof(gint64));
    }
    bytes(a, c->inst, play->n_inst * sizeof(WsControlInst));
    list(a, c->instance, sizeof(WsInstance));
}

static gboolean is_zero(const WsEpoch *clock, guint n)
{
    for (guint i = 0; i < n; i++)
        if (clock[i])
            return FALSE;
    return TRUE;
}

/* Many clocks know nothing. */
static void clocks(Archive *a, WsPlay *play)
{
    guint width = 2 * play->n_comps;
    for (gsize i = 0; i < play->n_clocks; i += width) {
        WsEpoch *clock = play->clocks + i;
        guint8 some = a->out ? !is_zero(clock, width) : 0;
        bytes(a, &some, 1);
        if (some)
            bytes(a, clock, width * sizeof(WsEpoch));
        else
            memset(clock, 0, width * sizeof(WsEpoch));
    }
}

static void everything(Archive *a, WsPlay *play)
{
    guint slots = play->ranks * play->n_slots;
    clocks(a, play);
    instances(a, play);
    bytes(a, play->slot, slots * sizeof(WsSlot));
    for (guint i = 0; i < slots; i++) {
        bytes(a, play->slot[i].waited, play->p->n_agents * sizeof(WsWaited));
        bytes(a, play->slot[i].contributed, play->n_inst);
    }
    bytes(a, play->named, play->ranks * play->n_named * sizeof(WsNamed));
    bytes(a, &play->cluster, sizeof play->cluster);
    for (guint r = 0; r < play->ranks; r++)
        shadow(a, &play->shadow[r]);
    bytes(a, &play->arena_used, sizeof play->arena_used);
    for (guint i = 0; i < play->arena_used; i += BLOCK)
        bytes(a, play->arena->pdata[i / BLOCK], MIN(BLOCK, play->arena_used - i) * sizeof(WsEvent));
    queue(a, play->remote);
    bytes(a, &play->transfers_used, sizeof play->transfers_used);
    for (guint i = 0; i < play->transfers_used; i++) {
        WsTransfer *t = play->transfers->pdata[i];
        WsEpoch *clock = t->clock; /* storage of this place, whoever had it then */
        bytes(a, t, sizeof *t);
        t->clock = clock;
    }
}

void ws_state_save(WsPlay *play, GByteArray *out)
{
    Archive a = { out, NULL };
    everything(&a, play);
}

void ws_state_restore(WsPlay *play, const GByteArray *in)
{
    Archive a = { NULL, in->data };
    g_ptr_array_set_size(play->flight, 0);
    everything(&a, play);
}
