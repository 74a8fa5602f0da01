/* Barriers of the CTA and of the cluster, mbarriers, fences. */
#include "machine.h"

#include <string.h>

static void release(Machine *m, Warp *w, int lane, u32 *into)
{
    u32 *seen = seen_by(m, w, lane);
    if (into)
        clock_join(m, into, seen);
    seen[self_of(m, w, lane)]++;
}

static void warp_barrier(Machine *m, Warp *w, u32 lanes)
{
    u32 *all = clock_new(m);
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1)
            release(m, w, l, all);
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1)
            clock_join(m, seen_by(m, w, l), all);
    __builtin_free(all);
}

static void barrier_opens(Machine *m, int cta, int id)
{
    Barrier *b = &m->barrier[cta][id];
    for (int v = 0; v < m->n_ctas * m->n_warps; v++)
        for (int l = 0; l < LANES; l++) {
            Warp *w = &m->warp[v];
            if (w->cta != cta || w->state[l] != AT_BARRIER || w->waits[l] != id)
                continue;
            w->state[l] = RUNS;
            clock_join(m, seen_by(m, w, l), b->clock);
        }
    memset(b->clock, 0, 2 * (size_t)m->width * sizeof *b->clock);
    b->arrived = b->expected = 0;
    m->progress++;
}

static void cta_barrier(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    const bool arrives = has(i, "arrive"),
               aligned = !strcmp(instr_rows[i->op].name, "bar") || has(i, "aligned");
    const int first = __builtin_ctz(lanes);
    const u64 id = operand(m, w, first, &i->arg[0]);
    const u64 count = i->n_args > 1 ? operand(m, w, first, &i->arg[1]) : (u64)m->n_threads;
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1 && (operand(m, w, l, &i->arg[0]) != id ||
                               (i->n_args > 1 && operand(m, w, l, &i->arg[1]) != count)))
            unknown(m, "line %d: lanes of a warp at other barriers", i->line);
    if (id >= MAX_BARRIERS || count % LANES || !count || count > (u64)m->n_threads ||
        (arrives && i->n_args < 2)) {
        fault(m, "line %d: barrier %d of %d threads", i->line, (int)id, (int)count);
        return;
    }
    Barrier *b = &m->barrier[w->cta][id];
    if (b->arrived && b->expected != count)
        fault(m, "line %d: barrier %d counts %u threads elsewhere", i->line, (int)id, b->expected);
    b->expected = (u32)count;
    b->arrived += aligned ? LANES : (u32)__builtin_popcount(lanes);
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1) {
            release(m, w, l, b->clock);
            if (!arrives) {
                w->state[l] = AT_BARRIER;
                w->waits[l] = (int)id;
            }
        }
    m->progress++;
    if (b->arrived > b->expected)
        fault(m, "line %d: more threads come to barrier %d than it counts", i->line, (int)id);
    if (b->arrived >= b->expected)
        barrier_opens(m, w->cta, (int)id);
}

/* All threads of the cluster that have not ended count. */
void cluster_step(Machine *m)
{
    u32 live = 0, came = 0;
    for (int v = 0; v < m->n_ctas * m->n_warps; v++)
        for (int l = 0; l < LANES; l++) {
            const Warp *w = &m->warp[v];
            live += w->state[l] != EXITED;
            came += w->state[l] != EXITED && w->owes[l] && w->token[l] == m->cluster.phase;
        }
    if (!came || came < live)
        return;
    memcpy(m->cluster.done, m->cluster.clock, 2 * (size_t)m->width * sizeof(u32));
    m->cluster.phase++;
    m->progress++;
}

static bool cluster_barrier(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        if (has(i, "arrive")) {
            if (w->owes[l])
                fault(m, "line %d: arrives at the cluster's barrier twice", i->line);
            w->owes[l] = true;
            w->token[l] = m->cluster.phase;
            release(m, w, l, has(i, "relaxed") ? NULL : m->cluster.clock);
            m->progress++;
        } else {
            if (!w->owes[l])
                fault(m, "line %d: waits for the cluster's barrier without an arrival", i->line);
            if (w->token[l] == m->cluster.phase)
                return false;
        }
    }
    if (has(i, "arrive"))
        cluster_step(m);
    else
        for (int l = 0; l < LANES; l++)
            if (lanes >> l & 1) {
                w->owes[l] = false;
                clock_join(m, seen_by(m, w, l), m->cluster.done);
            }
    return true;
}

Mbarrier *mbarrier_used(Machine *m, Warp *w, int lane, int cta, u32 address, int line)
{
    if (address % 8 || !m->mbarrier[cta][address / 8].alive) {
        fault(m, "line %d: no mbarrier lives at %u", line, address);
        return NULL;
    }
    Mbarrier *b = &m->mbarrier[cta][address / 8];
    if (w) {
        const u32 *seen = seen_by(m, w, lane);
        const int self = self_of(m, w, lane);
        if (seen[b->init_by] < b->init_count)
            fault(m, "line %d: the mbarrier at %u may not be initialised yet", line, address);
        b->uses[self] = seen[self];
    }
    return b;
}

void mbarrier_step(Machine *m, Mbarrier *b, s64 tx, u32 arrivals, int line)
{
    b->tx += tx;
    if (b->tx > 1048575 || b->tx < -1048575)
        fault(m, "line %d: the bytes of an mbarrier leave their range", line);
    if (arrivals > b->pending) {
        fault(m, "line %d: more arrivals at an mbarrier than it counts", line);
        return;
    }
    b->pending -= arrivals;
    m->progress++;
    if (b->pending || b->tx)
        return;
    clock_join(m, b->done, b->now);
    memset(b->now, 0, 2 * (size_t)m->width * sizeof(u32));
    b->phase++;
    b->pending = b->count;
    m->phases++;
}

static void mbarrier_begin(Machine *m, Warp *w, int lane, const Instr *i, int cta, u32 at)
{
    const bool init = has(i, "init");
    Mbarrier *b = &m->mbarrier[cta][at / 8];
    u32 *seen = seen_by(m, w, lane);
    const int self = self_of(m, w, lane);
    if (at % 8)
        fault(m, "line %d: an mbarrier at %u", i->line, at);
    if (init == b->alive)
        fault(m, "line %d: the mbarrier at %u %s", i->line, at,
              init ? "lives already" : "does not live");
    for (int c = 0; b->uses && c < m->width; c++)
        if (b->uses[c] > seen[c])
            fault(m, "line %d: the mbarrier at %u may be used still", i->line, at);
    b->alive = false;
    shadow_access(m, cta, at, 8,
                  &(Access){ .component = self,
                             .count = seen[self],
                             .seen = seen,
                             .writes = true,
                             .line = i->line });
    m->progress++;
    if (!init)
        return;
    const u64 count = operand(m, w, lane, &i->arg[1]) & 0xffffffff;
    if (!count || count > 1048575)
        fault(m, "line %d: an mbarrier that counts %d", i->line, (int)count);
    if (!b->now)
        b->now = clock_new(m), b->done = clock_new(m), b->uses = clock_new(m);
    memset(b->now, 0, 2 * (size_t)m->width * sizeof(u32));
    memset(b->done, 0, 2 * (size_t)m->width * sizeof(u32));
    b->alive = true;
    b->count = b->pending = (u32)count;
    b->phase = 0;
    b->tx = 0;
    b->init_by = self;
    b->init_count = seen[self];
    m->barriers_low = !m->barriers_high || at < m->barriers_low ? at : m->barriers_low;
    m->barriers_high = at + 8 > m->barriers_high ? at + 8 : m->barriers_high;
    seen[self]++;
}

static void mbarrier_lane(Machine *m, Warp *w, int lane, const Instr *i)
{
    int address = 0, cta;
    while (address < i->n_args && i->arg[address].kind != O_ADDRESS)
        address++;
    if (address >= i->n_args) {
        unknown(m, "line %d: an mbarrier without an address", i->line);
        return;
    }
    const bool window = has(i, "shared::cta") || has(i, "shared::cluster") || has(i, "shared");
    const u32 at = shared_address(m, w, address_on(m, w, lane, &i->arg[address]), window, &cta);
    const u64 value =
        address + 1 < i->n_args ? operand(m, w, lane, &i->arg[address + 1]) & 0xffffffff : 0;
    if (m->fault[0])
        return;
    if (cta != w->cta && !has(i, "shared::cluster"))
        fault(m, "line %d: an address of another CTA", i->line);
    if (has(i, "init") || has(i, "inval")) {
        mbarrier_begin(m, w, lane, i, cta, at);
        return;
    }
    Mbarrier *b = mbarrier_used(m, w, lane, cta, at, i->line);
    if (!b)
        return;
    if (cta != w->cta) {
        bool live = false;
        for (int v = 0; v < m->n_warps; v++)
            for (int l = 0; l < LANES; l++)
                live |= m->warp[cta * m->n_warps + v].state[l] != EXITED;
        if (!live)
            fault(m, "line %d: arrives at a CTA that has ended", i->line);
    }
    if (has(i, "test_wait") || has(i, "try_wait")) {
        bool over;
        if (has(i, "parity")) {
            if (value > 1)
                fault(m, "line %d: a parity of %d", i->line, (int)value);
            over = (b->phase & 1) != value;
        } else
            over = b->phase != (u32)(operand(m, w, lane, &i->arg[address + 1]) >> 20);
        result(m, w, lane, &i->arg[0], 1, over);
        if (over && !has(i, "relaxed"))
            clock_join(m, seen_by(m, w, lane), b->done);
        else if (!over) {
            w->state[lane] = SLEEPS;
            w->slept[lane] = m->phases;
        }
        return;
    }
    const bool expects = has(i, "expect_tx"), arrives = has(i, "arrive") || has(i, "arrive_drop");
    const bool ordered = !has(i, "relaxed") && (cta == w->cta || !has(i, "cta"));
    if (has(i, "noComplete") || has(i, "pending_count") ||
        (!expects && !arrives && !has(i, "complete_tx"))) {
        unknown(m, "line %d: an instruction of mbarriers", i->line);
        return;
    }
    if (arrives)
        result(m, w, lane, &i->arg[0], 64, (u64)b->phase << 20);
    if (has(i, "arrive_drop"))
        b->count--;
    const bool counted = arrives && !expects && address + 1 < i->n_args;
    if (m->trace && expects)
        __builtin_printf("expect %d %d %u %d\n", i->line, cta, at, (int)value);
    if (counted && !value)
        fault(m, "line %d: no arrivals", i->line);
    if (arrives)
        release(m, w, lane, ordered ? b->now : NULL);
    mbarrier_step(m, b,
                  expects                 ? (s64)value
                  : has(i, "complete_tx") ? -(s64)value
                                          : 0,
                  !arrives  ? 0
                  : counted ? (u32)value
                            : 1,
                  i->line);
}

static void fence(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    if (!has(i, "proxy"))
        return;
    if (!has(i, "async") && !has(i, "async::generic") && !has(i, "alias") &&
        !has(i, "async.shared::cta") && !has(i, "tensormap::generic")) {
        bool some = false;
        for (int j = 0; j < i->n_mods; j++)
            some |= !strncmp(i->mod[j], "async", 5);
        if (!some)
            unknown(m, "line %d: a fence of another proxy", i->line);
    }
    if (has(i, "global"))
        return;
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1) {
            u32 *seen = seen_by(m, w, l);
            for (int c = 0; c < m->width; c++)
                seen[m->width + c] = seen[c];
            seen[self_of(m, w, l)]++;
        }
}

bool synchronise(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    switch (instr_rows[i->op].id) {
    case I_BAR:
        if (has(i, "cluster"))
            return cluster_barrier(m, w, lanes, i);
        if (has(i, "warp"))
            warp_barrier(m, w, lanes);
        else if (has(i, "sync") || has(i, "arrive"))
            cta_barrier(m, w, lanes, i);
        else
            unknown(m, "line %d: a barrier that this machine does not know", i->line);
        return true;
    case I_MBARRIER:
        for (int l = 0; l < LANES && !m->fault[0]; l++)
            if (lanes >> l & 1)
                mbarrier_lane(m, w, l, i);
        return true;
    case I_FENCE:
        fence(m, w, lanes, i);
        return true;
    case I_CP:
        copy(m, w, lanes, i);
        return true;
    default:
        return product(m, w, lanes, i);
    }
}
