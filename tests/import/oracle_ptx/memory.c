/* Plain accesses to memory, and what the lanes of a warp hand each other. Global memory is noise,
 * but for what atomics keep there. */
#include "machine.h"

#include <string.h>

u32 shared_address(Machine *m, const Warp *w, u64 address, bool window, int *cta)
{
    if (!window)
        address -= SHARED_SPACE;
    u32 a = (u32)address;
    *cta = w->cta;
    if (a >> 24) {
        *cta = (int)(a >> 24) - 1;
        a &= 0xffffff;
    }
    if (*cta >= m->n_ctas || a < SHARED_BASE || a >= SHARED_BYTES + SHARED_BASE) {
        fault(m, "address %u is outside of shared memory", (u32)address);
        *cta = w->cta;
        return SHARED_BASE;
    }
    return a;
}

u64 address_on(Machine *m, Warp *w, int lane, const Operand *o)
{
    (void)m;
    return o->imm + (o->reg >= 0 ? w->reg[(u64)o->reg * LANES + (u64)lane] : 0);
}

static u64 *global_at(Machine *m, u64 address)
{
    for (u64 i = noise(address, 3);; i++) {
        const u64 slot = i % 1024;
        if (m->global_key[slot] == address)
            return &m->global_value[slot];
        if (!m->global_key[slot]) {
            m->global_key[slot] = address;
            return &m->global_value[slot];
        }
    }
}

static bool space(const Instr *i, const char *name)
{
    for (int j = 0; j < i->n_mods; j++)
        if (!strncmp(i->mod[j], name, strlen(name)))
            return true;
    return false;
}

static void touch_shared(Machine *m, Warp *w, int lane, u64 address, u32 bytes, bool writes,
                         const Instr *i, const void *value, unsigned char **data)
{
    int cta;
    const u32 at = shared_address(m, w, address, space(i, "shared"), &cta);
    const u32 *seen = seen_by(m, w, lane);
    const int self = self_of(m, w, lane);
    if (at % bytes && !space(i, "m8n8"))
        fault(m, "line %d: address %u is not a multiple of %u", i->line, at, bytes);
    shadow_access(
        m, cta, at, bytes,
        &(Access){ .component = self,
                   .count = seen[self],
                   .seen = seen,
                   .writes = writes,
                   .line = i->line,
                   .again = value && !memcmp(value, m->shared[cta] + (at - SHARED_BASE), bytes) });
    *data = m->shared[cta] + (at - SHARED_BASE);
}

static int vector_of(const Instr *i)
{
    return has(i, "v2") ? 2 : has(i, "v4") ? 4 : has(i, "v8") ? 8 : 1;
}

static void load(Machine *m, Warp *w, int lane, const Instr *i)
{
    const Operand *to = &i->arg[0];
    u64 at = address_on(m, w, lane, &i->arg[1]);
    const int n = vector_of(i), bytes = i->bits / 8;
    unsigned char *data = NULL;
    const bool shared =
        space(i, "shared") || (!space(i, "global") && !space(i, "param") && !space(i, "const") &&
                               at >> 40 == SHARED_SPACE >> 40);
    if (space(i, "param")) {
        const u64 nth = (at - PARAM_SPACE) / PARAM_BYTES;
        if (at < PARAM_SPACE || nth >= MAX_PARAMS) {
            fault(m, "line %d: no parameter lies at this address", i->line);
            return;
        }
        data = m->param[nth] + (at - PARAM_SPACE) % PARAM_BYTES;
    } else if (shared)
        touch_shared(m, w, lane, at, (u32)(n * bytes), false, i, NULL, &data);
    if (m->fault[0])
        return;
    for (int j = 0; j < n; j++) {
        u64 v = 0;
        if (data)
            memcpy(&v, data + j * bytes, (size_t)bytes);
        else {
            v = noise(at + (u64)(j * bytes), m->data_seed) % 6;
            for (int g = 0; g < 1024; g++)
                if (m->global_key[g] == at + (u64)(j * bytes))
                    v = m->global_value[g];
        }
        if (i->is_signed)
            v = (u64)extend(v, i->bits);
        result(m, w, lane, to->kind == O_LIST ? &m->kernel->item[to->first + j] : to,
               i->bits < 32 && i->is_signed ? 32 : i->bits, v);
    }
}

static void store(Machine *m, Warp *w, int lane, const Instr *i)
{
    const Operand *from = &i->arg[1];
    const u64 at = address_on(m, w, lane, &i->arg[0]);
    const int n = vector_of(i), bytes = i->bits / 8;
    unsigned char *data;
    if (!space(i, "shared") && (space(i, "global") || at >> 40 != SHARED_SPACE >> 40))
        return;
    unsigned char value[64];
    for (int j = 0; j < n; j++) {
        const u64 v =
            operand(m, w, lane, from->kind == O_LIST ? &m->kernel->item[from->first + j] : from);
        memcpy(value + j * bytes, &v, (size_t)bytes);
    }
    touch_shared(m, w, lane, at, (u32)(n * bytes), true, i, value, &data);
    if (!m->fault[0])
        memcpy(data, value, (size_t)(n * bytes));
}

static void atomic(Machine *m, Warp *w, int lane, const Instr *i)
{
    const u64 at = address_on(m, w, lane, &i->arg[1]);
    u64 *cell, old, b = operand(m, w, lane, &i->arg[2]), new;
    if (space(i, "shared")) {
        int cta;
        const u32 a = shared_address(m, w, at, true, &cta);
        memcpy(&old, m->shared[cta] + (a - SHARED_BASE), 8);
        unknown(m, "line %d: atomics on shared memory", i->line);
        return;
    }
    cell = global_at(m, at);
    old = *cell & mask_of(i->bits);
    b &= mask_of(i->bits);
    new = old;
    if (i->is_float)
        new = b;
    else if (has(i, "add"))
        new = old + b;
    else if (has(i, "inc"))
        new = old >= b ? 0 : old + 1;
    else if (has(i, "exch"))
        new = b;
    else if (has(i, "cas"))
        new = old == b ? operand(m, w, lane, &i->arg[3]) : old;
    else if (has(i, "max"))
        new = old > b ? old : b;
    else
        unknown(m, "line %d: an atomic that this machine does not know", i->line);
    *cell = new;
    result(m, w, lane, &i->arg[0], i->bits, old);
}

void access_memory(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    const int id = instr_rows[i->op].id;
    unsigned char *data;
    if (has(i, "async") || has(i, "bulk"))
        unknown(m, "line %d: an access that is asynchronous", i->line);
    for (int lane = 0; lane < LANES && !m->fault[0]; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        if (id == I_LD)
            load(m, w, lane, i);
        else if (id == I_ST)
            store(m, w, lane, i);
        else if (id == I_ATOM)
            atomic(m, w, lane, i);
        else if (id == I_LDMATRIX || id == I_STMATRIX) {
            const int rows = has(i, "x4") ? 32 : has(i, "x2") ? 16 : 8;
            const Operand *address = &i->arg[id == I_LDMATRIX], *to = &i->arg[0];
            if (lane < rows) {
                const u64 at = address_on(m, w, lane, address);
                if (at % 16)
                    fault(m, "line %d: a row of a matrix that is not a multiple of 16", i->line);
                touch_shared(m, w, lane, at, 16, id == I_STMATRIX, i, NULL, &data);
            }
            for (int j = 0; id == I_LDMATRIX && to->kind == O_LIST && j < to->count; j++)
                result(m, w, lane, &m->kernel->item[to->first + j], 32,
                       noise(m->data_seed, (u64)lane + m->progress));
        }
    }
}

static void shuffle(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    u64 value[LANES];
    for (int l = 0; l < LANES; l++)
        value[l] = operand(m, w, l, &i->arg[1]);
    u64 r[LANES] = { 0 };
    bool inside[LANES] = { false };
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        const int b = (int)operand(m, w, l, &i->arg[2]) & 31, c = (int)operand(m, w, l, &i->arg[3]);
        const int segment = c >> 8 & 31, clamp = c & 31;
        const int high = (l & segment) | (clamp & ~segment), low = l & segment;
        int j = l;
        if (has(i, "up"))
            j = l - b, inside[l] = j >= high;
        else if (has(i, "down"))
            j = l + b, inside[l] = j <= high;
        else if (has(i, "bfly"))
            j = l ^ b, inside[l] = j <= high;
        else
            j = low | (b & ~segment), inside[l] = j <= high;
        if (!inside[l])
            j = l;
        r[l] = lanes >> j & 1 ? value[j] : noise(m->seed, (u64)j + m->progress);
    }
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1) {
            result(m, w, l, &i->arg[0], 32, r[l]);
            if (i->arg[0].reg2 >= 0)
                w->reg[(u64)i->arg[0].reg2 * LANES + (u64)l] = inside[l];
        }
}

static void reduce(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    u64 r = 0;
    bool first = true;
    for (int l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        const u64 v = operand(m, w, l, &i->arg[1]) & mask_of(32);
        const bool less = i->is_signed ? extend(v, 32) < extend(r, 32) : v < r;
        r = first           ? v
            : has(i, "add") ? r + v
            : has(i, "and") ? r & v
            : has(i, "or")  ? r | v
            : has(i, "xor") ? r ^ v
            : has(i, "min") ? (less ? v : r)
                            : (less ? r : v);
        first = false;
    }
    for (int l = 0; l < LANES; l++)
        if (lanes >> l & 1)
            result(m, w, l, &i->arg[0], 32, r);
}

void warp_exchange(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    const int id = instr_rows[i->op].id;
    if (id == I_SHFL) {
        shuffle(m, w, lanes, i);
    } else if (id == I_VOTE) {
        u32 yes = 0;
        for (int l = 0; l < LANES; l++)
            if (lanes >> l & 1 && operand(m, w, l, &i->arg[1]))
                yes |= 1u << l;
        const u64 r = has(i, "all")   ? yes == lanes
                      : has(i, "any") ? yes != 0
                      : has(i, "uni") ? yes == lanes || !yes
                                      : yes;
        for (int l = 0; l < LANES; l++)
            if (lanes >> l & 1)
                result(m, w, l, &i->arg[0], i->bits, r);
    } else if (id == I_ELECT) {
        const int leader = __builtin_ctz(lanes);
        for (int l = 0; l < LANES; l++)
            if (lanes >> l & 1) {
                result(m, w, l, &i->arg[0], 32, (u64)leader);
                if (i->arg[0].reg2 >= 0)
                    w->reg[(u64)i->arg[0].reg2 * LANES + (u64)l] = l == leader;
            }
    } else if (id == I_REDUX) {
        reduce(m, w, lanes, i);
    } else if (id == I_ACTIVEMASK) {
        for (int l = 0; l < LANES; l++)
            if (lanes >> l & 1)
                result(m, w, l, &i->arg[0], 32, lanes);
    } else if (id == I_MMA) {
        for (int l = 0; l < LANES; l++)
            for (int j = 0; i->arg[0].kind == O_LIST && j < i->arg[0].count; j++)
                result(m, w, l, &m->kernel->item[i->arg[0].first + j], 32,
                       noise(m->data_seed, (u64)l));
    } else if (id != I_SETMAXNREG)
        unknown(m, "line %d: an exchange that this machine does not know", i->line);
}
