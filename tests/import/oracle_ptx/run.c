/* Runs launches of a kernel under many schedules: test-import-oracle-ptx machine FILE [-k KERNEL]
 * [-p N=VALUE]… [-b N=BYTES]…
 *   [-c CTA] [-g CTAS] [-n RUNS] [-s SEED] [-l LIMIT] [-t]
 * -p: parameter N of the launch, -b: bytes of the box of the tensor map that is parameter N, -l:
 * most instructions of warps, -t: prints copies and expectations. The last line says what was
 * found: right, wrong (and what), long (more than LIMIT), unknown (and what this machine cannot
 * do). A schedule is a number: SEED, SEED + 1, … */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u64 dice(Machine *m)
{
    return noise(m->seed, m->thrown++);
}

static void start(Machine *m)
{
    Kernel *k = m->kernel;
    m->width = 0;
    for (int i = 0; i < k->n_instrs; i++)
        if (instr_rows[k->instr[i].op].id == I_CP && !has(&k->instr[i], "bulk"))
            m->width = 1;
    shadow_start(m);
    const int warps = m->n_ctas * m->n_warps;
    m->warp = calloc((size_t)warps, sizeof *m->warp);
    for (int v = 0; v < warps; v++) {
        Warp *w = &m->warp[v];
        w->cta = v / m->n_warps;
        w->index = v % m->n_warps;
        w->reg = malloc(sizeof *w->reg * LANES * (size_t)(k->n_regs + 1));
        for (int r = 0; r < k->n_regs * LANES; r++)
            w->reg[r] = noise(m->seed, (u64)(v * 100003 + r)) & 0xffffffff;
        w->product = calloc((size_t)k->n_regs + 1, sizeof *w->product);
        w->source = calloc((size_t)k->n_regs + 1, sizeof *w->source);
        w->stamp = calloc((size_t)k->n_regs + 1, sizeof *w->stamp);
        w->priority = (double)(noise(m->seed, (u64)v) % 1000) / 1000;
    }
    for (int c = 0; c < m->n_ctas; c++) {
        m->shared[c] = malloc(SHARED_BYTES + 64);
        for (int i = 0; i < SHARED_BYTES; i++)
            m->shared[c][i] = (unsigned char)noise(m->seed, (u64)i);
        m->mbarrier[c] = calloc((SHARED_BYTES + SHARED_BASE) / 8 + 1, sizeof(Mbarrier));
        for (int b = 0; b < MAX_BARRIERS; b++)
            m->barrier[c][b] = (Barrier){ .clock = clock_new(m) };
    }
    m->cluster = (Barrier){ .clock = clock_new(m), .done = clock_new(m) };
    m->bulk = calloc((size_t)(m->n_threads * m->n_ctas), sizeof *m->bulk);
    m->rows = calloc((size_t)(m->n_threads * m->n_ctas), sizeof *m->rows);
    m->tensor_core = calloc((size_t)warps / 4 + 2, sizeof *m->tensor_core);
    m->products = calloc((size_t)warps / 4 + 2, sizeof *m->products);
    m->n_flights = 0;
    m->phases = 0;
    m->thrown = 0;
    m->progress = 0;
    m->barriers_low = m->barriers_high = 0;
    memset(m->global_key, 0, sizeof m->global_key);
    memset(m->global_value, 0, sizeof m->global_value);
    m->fault[0] = m->unknown[0] = 0;
}

static void finish(Machine *m)
{
    for (int v = 0; v < m->n_ctas * m->n_warps; v++) {
        free(m->warp[v].reg);
        free(m->warp[v].product);
        free(m->warp[v].source);
        free(m->warp[v].stamp);
    }
    for (int c = 0; c < m->n_ctas; c++) {
        for (int i = 0; i <= (SHARED_BYTES + SHARED_BASE) / 8; i++) {
            free(m->mbarrier[c][i].now);
            free(m->mbarrier[c][i].done);
            free(m->mbarrier[c][i].uses);
        }
        for (int b = 0; b < MAX_BARRIERS; b++)
            free(m->barrier[c][b].clock);
        free(m->mbarrier[c]);
        free(m->shared[c]);
    }
    free(m->cluster.clock);
    free(m->cluster.done);
    free(m->bulk);
    free(m->rows);
    free(m->tensor_core);
    free(m->products);
    free(m->warp);
    shadow_free(m);
}

/* Which lanes have to come to an instruction before it happens: 0, any. */
static u32 wanted(Machine *m, Warp *w, int lane, const Instr *i)
{
    const InstrRow *row = &instr_rows[i->op];
    u32 live = 0;
    for (int l = 0; l < LANES; l++)
        if (w->state[l] != EXITED)
            live |= 1u << l;
    if (has(i, "aligned") || (row->id == I_BAR && !strcmp(row->name, "bar") && !has(i, "warp")))
        return live;
    if (row->id == I_BAR && has(i, "warp"))
        return (u32)operand(m, w, lane, &i->arg[0]) & live;
    if (row->kind == K_WARP && has(i, "sync"))
        return (u32)operand(m, w, lane, &i->arg[i->n_args - 1]) & live;
    return 0;
}

static bool runnable(const Machine *m, const Warp *w, int l)
{
    return w->state[l] == RUNS || (w->state[l] == SLEEPS && w->slept[l] != m->phases);
}

static void flow(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    const int id = instr_rows[i->op].id;
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        if (id == I_RET) {
            thread_exits(m, w, l, i->line);
            continue;
        }
        if (id == I_BRA) {
            w->pc[l] = (int)(s64)i->arg[0].imm;
            continue;
        }
        const u64 n = operand(m, w, l, &i->arg[0]) & 0xffffffff;
        const s64 list = -1 - (s64)i->arg[1].imm;
        if (list < 0 || list >= m->kernel->n_targets || n >= (u64)m->kernel->target[list][0])
            fault(m, "line %d: jumps to none of the targets", i->line);
        else
            w->pc[l] = m->kernel->target[list][n + 1];
    }
}

/* One instruction of the lanes that stand furthest back. False: nothing can be done. */
static bool step(Machine *m, Warp *w)
{
    int pc = -1;
    for (int l = 0; l < LANES; l++)
        if (runnable(m, w, l)) {
            w->state[l] = RUNS;
            if (pc < 0 || w->pc[l] < pc)
                pc = w->pc[l];
        }
    if (pc < 0)
        return false;
    if (pc >= m->kernel->n_instrs) {
        fault(m, "runs over the end of the kernel");
        return true;
    }
    const Instr *i = &m->kernel->instr[pc];
    u32 at = 0, lanes = 0;
    int first = -1;
    for (int l = 0; l < LANES; l++)
        if (w->pc[l] == pc && (w->state[l] == RUNS || w->state[l] == CONVERGES)) {
            if (w->state[l] == RUNS && i->guard >= 0 &&
                !w->reg[(u64)i->guard * LANES + (u64)l] == !i->guard_not) {
                w->pc[l]++;
                continue;
            }
            at |= 1u << l;
            first = l;
        }
    w->clock++;
    if (!at)
        return true;
    lanes = at;
    const u32 want = wanted(m, w, first, i);
    if (want) {
        if ((want & at) != want) {
            for (int l = 0; l < LANES; l++)
                if (at >> l & 1)
                    w->state[l] = CONVERGES;
            return true;
        }
        lanes = want;
    }
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1) {
            w->state[l] = RUNS;
            w->pc[l]++;
        } else if (at >> l & 1 && want)
            w->state[l] = RUNS;
    registers_in_use(m, w, i);
    switch (instr_rows[i->op].kind) {
    case K_VALUE:
        compute(m, w, lanes, i);
        break;
    case K_FLOW:
        flow(m, w, lanes, i);
        break;
    case K_MEMORY:
        access_memory(m, w, lanes, i);
        break;
    case K_WARP:
        warp_exchange(m, w, lanes, i);
        break;
    case K_SYNC:
        if (!synchronise(m, w, lanes, i)) {
            for (int l = 0; l < LANES; l++)
                if (lanes >> l & 1) {
                    w->pc[l]--;
                    w->state[l] = SLEEPS;
                    w->slept[l] = m->phases;
                }
            return false;
        }
        break;
    case K_FLOAT:
    case K_NOP:
    default:
        break;
    }
    return true;
}

static bool can_run(const Machine *m, const Warp *w)
{
    for (int l = 0; l < LANES; l++)
        if (runnable(m, w, l))
            return true;
    return false;
}

static bool all_over(const Machine *m)
{
    for (int v = 0; v < m->n_ctas * m->n_warps; v++)
        for (int l = 0; l < LANES; l++)
            if (m->warp[v].state[l] != EXITED)
                return false;
    return true;
}

static void where(const Machine *m, char *text, size_t size)
{
    size_t n = 0;
    text[0] = 0;
    for (int v = 0; v < m->n_ctas * m->n_warps && n + 40 < size; v++)
        for (int l = 0; l < LANES && n + 40 < size; l++) {
            const Warp *w = &m->warp[v];
            if (w->state[l] == EXITED ||
                (l && w->pc[l] == w->pc[l - 1] && w->state[l - 1] != EXITED))
                continue;
            n += (size_t)snprintf(text + n, size - n, " %d.%d:%d", v, l,
                                  m->kernel->instr[w->pc[l]].line);
        }
}

/* Wakes everybody who looked in vain. False: nothing has happened for many such rounds. */
static bool wake(Machine *m, u64 *last, int *rounds)
{
    *rounds = *last == m->progress ? *rounds + 1 : 0;
    *last = m->progress;
    bool some = false;
    for (int v = 0; v < m->n_ctas * m->n_warps; v++)
        for (int l = 0; l < LANES; l++)
            if (m->warp[v].state[l] == SLEEPS) {
                m->warp[v].slept[l] = m->phases - 1;
                some = true;
            }
    return some && *rounds < 6;
}

static Warp *chosen(Machine *m, int mode)
{
    Warp *best = NULL;
    int n = 0;
    for (int v = 0; v < m->n_ctas * m->n_warps; v++) {
        Warp *w = &m->warp[v];
        if (!can_run(m, w))
            continue;
        n++;
        if (!best || (mode == 0 ? dice(m) % (u64)n == 0 : w->priority > best->priority))
            best = w;
    }
    return best;
}

/* Modes: 0 everything at random; 1 priorities that change now and then; 2 priorities, copies end
 * last; 3 priorities, copies end at once. */
static const char *run(Machine *m, u64 limit)
{
    const int mode = (int)(m->seed % 4);
    u64 steps = 0, last = 0;
    int rounds = 0;
    while (!m->fault[0] && !m->unknown[0]) {
        if (all_over(m)) {
            if (m->n_flights)
                fault(m, "the kernel ends before the copy of line %d", m->flight[0].line);
            return m->fault[0] ? "wrong" : "right";
        }
        Warp *w = chosen(m, mode);
        int ends = -1;
        for (int f = 0; f < m->n_flights; f++)
            if (ends < 0 || m->flight[f].late < m->flight[ends].late)
                ends = f;
        const bool may_end =
            ends >= 0 &&
            (!w || mode == 3 || (mode != 2 && m->flight[ends].late < 1 && dice(m) % 3 == 0));
        if (may_end) {
            flight_ends(m, mode == 0 ? (int)(dice(m) % (u64)m->n_flights) : ends);
            continue;
        }
        if (!w) {
            if (wake(m, &last, &rounds))
                continue;
            char text[400];
            where(m, text, sizeof text);
            fault(m, "hang: nobody goes on;%s", text);
            return "wrong";
        }
        const u64 burst = mode == 0 ? 1 + dice(m) % 24 : 1 + dice(m) % 400;
        for (u64 n = 0; n < burst && !m->fault[0] && !m->unknown[0]; n++) {
            steps++;
            if (!step(m, w))
                break;
        }
        if (mode && dice(m) % 16 == 0)
            w->priority = (double)(dice(m) % 1000) / 1000;
        if (steps > limit)
            return "long";
    }
    return m->unknown[0] ? "unknown" : "wrong";
}

static char *file_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *text = calloc(1, 1 << 24);
    text[fread(text, 1, (1 << 24) - 1, f)] = 0;
    fclose(f);
    return text;
}

int machine_main(int argc, char **argv)
{
    static Machine m;
    const char *kernel = NULL;
    u64 runs = 1, seed = 1, limit = 2000000;
    m.nctaid = 1;
    for (int a = 2; a < argc; a++) {
        const char *v = argv[a][1] == 't' ? "" : a + 1 < argc ? argv[++a] : "0";
        const char *equals = strchr(v, '=');
        switch (argv[a - (argv[a] == v)][1]) {
        case 'k':
            kernel = v;
            break;
        case 'p': {
            const u64 value = strtoull(equals ? equals + 1 : "0", NULL, 0);
            memcpy(m.param[atoi(v) % MAX_PARAMS], &value, sizeof value);
            break;
        }
        case 'b':
            m.box[atoi(v) % MAX_PARAMS] = strtoull(equals ? equals + 1 : "0", NULL, 0);
            break;
        case 'c':
            m.ctaid = atoi(v);
            break;
        case 'g':
            m.nctaid = atoi(v);
            break;
        case 'n':
            runs = strtoull(v, NULL, 0);
            break;
        case 's':
            seed = strtoull(v, NULL, 0);
            break;
        case 'l':
            limit = strtoull(v, NULL, 0);
            break;
        case 't':
            m.trace = true;
            break;
        default:
            return 2;
        }
    }
    char *text = argc > 1 ? file_read(argv[1]) : NULL;
    m.kernel = text ? kernel_read(text, kernel) : NULL;
    free(text);
    if (!m.kernel) {
        printf("unknown the text is not understood\n");
        return 3;
    }
    m.n_ctas = m.kernel->cluster;
    m.n_threads = m.kernel->ntid[0] * m.kernel->ntid[1] * m.kernel->ntid[2];
    m.n_warps = m.n_threads / LANES;
    if (m.n_ctas > MAX_CTAS || m.n_threads % LANES || m.n_threads > 1024 || m.kernel->odd) {
        printf("unknown a launch that this machine does not make\n");
        return 3;
    }
    m.ctaid = m.ctaid / m.n_ctas * m.n_ctas;
    m.nctaid = m.nctaid < m.ctaid + m.n_ctas ? m.ctaid + m.n_ctas : m.nctaid;
    for (u64 r = 0; r < runs; r++) {
        m.seed = seed + r;
        m.data_seed = noise(m.seed, 77);
        start(&m);
        const char *verdict = run(&m, limit);
        if (strcmp(verdict, "right")) {
            printf("%s seed %d: %s\n", verdict, (int)m.seed, m.unknown[0] ? m.unknown : m.fault);
            return !strcmp(verdict, "wrong") ? 1 : 3;
        }
        if (r + 1 == runs) {
            u64 clock = 0;
            for (int v = 0; v < m.n_ctas * m.n_warps; v++)
                clock += m.warp[v].clock;
            printf("right %d runs, %d instructions\n", (int)runs, (int)clock);
        }
        finish(&m);
    }
    return 0;
}
