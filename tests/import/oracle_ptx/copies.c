/* Asynchronous copies: bulk ones that end at an mbarrier or in groups, and cp.async.
 * Those of an mbarrier end when the schedule wants it; those of groups have no time of their own:
 * whether their end is known is a question of clocks alone. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void flight_add(Machine *m, Flight f)
{
    if (m->n_flights >= m->cap_flights) {
        m->cap_flights = m->cap_flights ? 2 * m->cap_flights : 64;
        m->flight = realloc(m->flight, sizeof *m->flight * (size_t)m->cap_flights);
    }
    const u64 dice = noise(m->seed, m->progress * 131 + (u64)m->n_flights);
    f.late = dice % 4 == 0 ? 2.0 : (double)(dice % 1000) / 1000;
    m->flight[m->n_flights++] = f;
    m->progress++;
}

void flight_ends(Machine *m, int nth)
{
    const Flight f = m->flight[nth];
    m->flight[nth] = m->flight[--m->n_flights];
    Mbarrier *b = &m->mbarrier[f.cta][f.mbarrier / 8];
    m->ended[f.component] = !f.arrives;
    if (!b->alive) {
        fault(m, "line %d: the copy ends at %u, where no mbarrier lives", f.line, f.mbarrier);
        return;
    }
    for (int half = 0; half < 2; half++) {
        u32 *at = &b->now[half * m->width + f.component];
        *at = *at > f.count ? *at : f.count;
    }
    s64 bytes = (s64)f.bytes;
    if (m->trace && bytes == 1) {
        bytes = b->tx;
        for (int o = 0; o < m->n_flights; o++)
            if (m->flight[o].cta == f.cta && m->flight[o].mbarrier == f.mbarrier)
                bytes = 0;
    }
    mbarrier_step(m, b, -bytes, (u32)f.arrives, f.line);
}

static bool lives(const Machine *m, int cta)
{
    for (int v = 0; v < m->n_warps; v++)
        for (int l = 0; l < LANES; l++)
            if (m->warp[cta * m->n_warps + v].state[l] != EXITED)
                return true;
    return false;
}

static u64 box_of(Machine *m, Warp *w, int lane, const Operand *o, int line, int *nth)
{
    const u64 map = address_on(m, w, lane, o);
    const u64 n = (map - PARAM_SPACE) / PARAM_BYTES;
    *nth = -1;
    if (map < PARAM_SPACE || n >= (u64)m->kernel->n_params || (map - PARAM_SPACE) % PARAM_BYTES) {
        fault(m, "line %d: no tensor map lies at this address", line);
        return 0;
    }
    *nth = (int)n;
    if (!m->box[n] && m->trace)
        return 1; /* boxes are guessed from a trace: boxes.py */
    if (!m->box[n])
        unknown(m, "line %d: the box of %s is not known", line, m->kernel->param[n].name);
    return m->box[n];
}

static void into_shared(Machine *m, Warp *w, int lane, const Instr *i, u64 to, u64 bytes, u64 bar,
                        u32 ctas, const Access *source, int source_cta, u32 source_at)
{
    const u32 *seen = seen_by(m, w, lane);
    int cta, bar_cta;
    const u32 at = shared_address(m, w, to, true, &cta),
              bar_at = shared_address(m, w, bar, true, &bar_cta);
    for (int c = 0; c < m->n_ctas && !m->fault[0]; c++) {
        if (ctas ? !(ctas >> c & 1) : c != cta)
            continue;
        u32 count;
        const int component = component_take(m, seen, &count);
        const int waits = ctas ? c : bar_cta;
        if (!mbarrier_used(m, w, lane, waits, bar_at, i->line))
            return;
        if (!lives(m, c))
            fault(m, "line %d: copies into a CTA that has ended", i->line);
        if (source) {
            Access s = *source;
            s.component = component;
            s.count = count;
            shadow_access(m, source_cta, source_at, (u32)bytes, &s);
        }
        shadow_access(m, c, at, (u32)bytes,
                      &(Access){ .component = component,
                                 .count = count,
                                 .seen = seen,
                                 .proxy = ASYNC,
                                 .writes = true,
                                 .line = i->line });
        flight_add(m, (Flight){ .component = component,
                                .count = count,
                                .bytes = bytes,
                                .cta = waits,
                                .mbarrier = bar_at,
                                .line = i->line });
    }
    if (ctas >> m->n_ctas)
        fault(m, "line %d: copies to CTAs that the cluster does not have", i->line);
}

static u32 next_of(Machine *m, Groups *g)
{
    if (!g->component)
        g->component = component_lend(m);
    return ++m->component[g->component];
}

static void commit(Machine *m, Groups *g, int line)
{
    if (g->n_groups == 256) {
        memmove(g->group, g->group + 1, 255 * sizeof *g->group);
        g->n_groups--;
    }
    (void)line;
    g->group[g->n_groups++] = g->component ? m->component[g->component] : 0;
}

static void group_wait(Machine *m, Groups *g, u32 *seen, u64 left, bool all)
{
    u32 over = 0;
    if (all)
        over = g->component ? m->component[g->component] : 0;
    else if ((u64)g->n_groups > left)
        over = g->group[(u64)g->n_groups - left - 1];
    if (!g->component || over <= seen[g->component])
        return;
    seen[g->component] = seen[m->width + g->component] = over;
}

static bool mod_begins(const Instr *i, const char *with)
{
    for (int j = 0; j < i->n_mods; j++)
        if (!strncmp(i->mod[j], with, strlen(with)))
            return true;
    return false;
}

/* Which way a bulk copy goes is said by the two state spaces in their order: to, from. */
static void bulk_lane(Machine *m, Warp *w, int lane, const Instr *i)
{
    const bool tensor = has(i, "tensor"), grouped = has(i, "bulk_group");
    const u32 *seen = seen_by(m, w, lane);
    const u64 first = address_on(m, w, lane, &i->arg[0]),
              second = address_on(m, w, lane, &i->arg[1]);
    int nth = -1;
    if (i->n_args < 2 || i->arg[0].kind != O_ADDRESS || i->arg[1].kind != O_ADDRESS) {
        unknown(m, "line %d: a bulk copy of another shape", i->line);
        return;
    }
    if (grouped) { /* [global or map], [shared] {, size} */
        const u64 bytes = tensor ? box_of(m, w, lane, &i->arg[0], i->line, &nth)
                                 : operand(m, w, lane, &i->arg[2]) & 0xffffffff;
        Groups *g = &m->bulk[self_of(m, w, lane)];
        int cta;
        const u32 at = shared_address(m, w, second, true, &cta), count = next_of(m, g);
        if (m->trace)
            printf("store %d %d %d %u\n", i->line, nth, cta, at);
        if (at % (tensor ? 128 : 16))
            fault(m, "line %d: copies from %u, which is not aligned", i->line, at);
        shadow_access(m, cta, at, (u32)bytes,
                      &(Access){ .component = g->component,
                                 .count = count,
                                 .seen = seen,
                                 .proxy = ASYNC,
                                 .line = i->line });
        m->progress++;
        return;
    }
    if (!mod_begins(i, "mbarrier::complete_tx")) {
        unknown(m, "line %d: a bulk copy without an end", i->line);
        return;
    }
    if (tensor) { /* [shared], [map, {…}], [mbarrier] {, mask} {, policy} */
        const u64 bytes = box_of(m, w, lane, &i->arg[1], i->line, &nth),
                  bar = address_on(m, w, lane, &i->arg[2]);
        const u32 ctas =
            has(i, "multicast::cluster") ? (u32)operand(m, w, lane, &i->arg[3]) & 0xffff : 0;
        if (m->trace)
            printf("load %d %d %d %u %u %u\n", i->line, nth, w->cta, (u32)first, (u32)bar, ctas);
        if (first % 128)
            fault(m, "line %d: copies to %u, which is not aligned", i->line, (u32)first);
        into_shared(m, w, lane, i, first, bytes, bar, ctas, NULL, 0, 0);
        return;
    }
    const u64 bytes = operand(m, w, lane, &i->arg[2]) & 0xffffffff,
              bar = address_on(m, w, lane, &i->arg[3]);
    if (has(i, "multicast::cluster") || bytes % 16) {
        unknown(m, "line %d: a bulk copy of another shape", i->line);
        return;
    }
    if (has(i, "global")) {
        into_shared(m, w, lane, i, first, bytes, bar, 0, NULL, 0, 0);
        return;
    }
    int cta;
    const u32 at = shared_address(m, w, second, true, &cta);
    into_shared(m, w, lane, i, first, bytes, bar, 0,
                &(Access){ .seen = seen, .proxy = ASYNC, .line = i->line }, cta, at);
}

static void rows_lane(Machine *m, Warp *w, int lane, const Instr *i)
{
    Groups *g = &m->rows[self_of(m, w, lane)];
    u32 *seen = seen_by(m, w, lane);
    if (has(i, "commit_group"))
        commit(m, g, i->line);
    else if (has(i, "wait_group") || has(i, "wait_all"))
        group_wait(m, g, seen, i->n_args ? operand(m, w, lane, &i->arg[0]) : 0, has(i, "wait_all"));
    else if (has(i, "mbarrier")) {
        int cta;
        const u32 at = shared_address(m, w, address_on(m, w, lane, &i->arg[0]), true, &cta);
        Mbarrier *b = mbarrier_used(m, w, lane, cta, at, i->line);
        if (!b)
            return;
        next_of(m, g);
        if (!has(i, "noinc"))
            b->pending++;
        flight_add(m, (Flight){ .component = g->component,
                                .count = m->component[g->component],
                                .cta = cta,
                                .arrives = 1,
                                .mbarrier = at,
                                .line = i->line });
    } else {
        int cta;
        const u64 to = address_on(m, w, lane, &i->arg[0]);
        const u32 at = shared_address(m, w, to, true, &cta),
                  bytes = (u32)operand(m, w, lane, &i->arg[2]);
        const u32 count = next_of(m, g);
        if (bytes != 4 && bytes != 8 && bytes != 16) {
            unknown(m, "line %d: a cp.async of %u bytes", i->line, bytes);
            return;
        }
        if (at % bytes)
            fault(m, "line %d: cp.async to %u, which is not aligned", i->line, at);
        shadow_access(m, cta, at, bytes,
                      &(Access){ .component = g->component,
                                 .count = count,
                                 .seen = seen,
                                 .proxy = GATHERED,
                                 .writes = true,
                                 .line = i->line });
    }
}

void copy(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    const bool bulk = has(i, "bulk");
    if (has(i, "prefetch"))
        return;
    for (int l = 0; l < LANES && !m->fault[0]; l++) {
        if (!(lanes >> l & 1))
            continue;
        Groups *g = &m->bulk[self_of(m, w, l)];
        if (!bulk)
            rows_lane(m, w, l, i);
        else if (has(i, "commit_group"))
            commit(m, g, i->line);
        else if (has(i, "wait_group"))
            group_wait(m, g, seen_by(m, w, l), operand(m, w, l, &i->arg[0]), false);
        else
            bulk_lane(m, w, l, i);
    }
}

/* Shared memory may go with its last thread: what still reads it must have ended. */
void thread_exits(Machine *m, Warp *w, int lane, int line)
{
    const Groups *g = &m->bulk[self_of(m, w, lane)];
    if (g->component && seen_by(m, w, lane)[g->component] < m->component[g->component])
        fault(m, "line %d: a thread ends before its bulk copies have read shared memory", line);
    m->progress++;
    w->state[lane] = EXITED;
    if (!lives(m, w->cta))
        for (int f = 0; f < m->n_flights; f++)
            if (m->flight[f].cta == w->cta)
                fault(m, "line %d: the CTA ends before the copy of line %d", line,
                      m->flight[f].line);
    cluster_step(m);
}
