/* wgmma: four warps make one product, which reads shared memory through the async proxy and adds to
 * registers until a wait for its group. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Operand *item(const Machine *m, const Operand *o, int n)
{
    return o->kind == O_LIST ? &m->kernel->item[o->first + n] : o;
}

static int items(const Operand *o)
{
    return o->kind == O_LIST ? o->count : o->kind == O_REG ? 1 : 0;
}

typedef struct {
    u32 at[64], bytes[64];
    int n;
} Footprint;

static void piece(Footprint *f, u32 at, u32 bytes)
{
    if (f->n < 64) {
        f->at[f->n] = at;
        f->bytes[f->n++] = bytes;
    }
}

/* The bytes a matrix descriptor names (PTX ISA, wgmma, "Matrix descriptor"): start, leading and
 * stride offsets in 16 bytes, swizzle in bits 62 and 63. Rows of a swizzle are taken whole. */
static bool footprint(Machine *m, u64 d, int rows, bool across, Footprint *f, int line)
{
    const u32 start = (u32)(d & 0x3fff) << 4, leading = (u32)(d >> 16 & 0x3fff) << 4;
    const u32 stride = (u32)(d >> 32 & 0x3fff) << 4;
    const int swizzle = (int)(d >> 62 & 3);
    const u32 width = swizzle == 1 ? 128 : swizzle == 2 ? 64 : swizzle == 3 ? 32 : 16;
    f->n = 0;
    if (d >> 49 & 7) {
        unknown(m, "line %d: a descriptor with a base offset", line);
        return false;
    }
    if (!across) { /* rows of K: groups of 8 rows, a stride apart */
        for (int g = 0; g < rows / 8; g++)
            if (swizzle)
                piece(f, (start & ~(width - 1)) + (u32)g * stride, 8 * width);
            else
                for (u32 half = 0; half < 2; half++)
                    piece(f, start + (u32)g * stride + half * leading, 128);
        return true;
    }
    for (int g = 0; g * (int)width / 2 < rows; g++) /* rows of M or N: 16 deep in K, 8 to an atom */
        for (u32 k = 0; k < 2; k++)
            piece(f,
                  swizzle ? start + (u32)g * leading + k * stride
                          : start + (u32)g * stride + k * leading,
                  8 * width);
    return true;
}

static bool same_of_all(Machine *m, Warp *w, const Operand *o, u64 *value)
{
    *value = operand(m, w, 0, o);
    for (int l = 1; l < LANES; l++)
        if (operand(m, w, l, o) != *value)
            return false;
    return true;
}

static void multiply(Machine *m, Warp *w, const Instr *i)
{
    const int group = w->cta * m->n_warps / 4 + w->index / 4;
    const Operand *d = &i->arg[0], *a = &i->arg[1], *b = &i->arg[2];
    int columns = 0, rows = 0;
    for (int j = 0; j < i->n_mods; j++)
        sscanf(i->mod[j], "m%dn%dk%*d", &rows, &columns);
    u64 left = 0, right = 0;
    if (rows != 64 || columns < 8 || i->n_args < 6 || has(i, "sp")) {
        unknown(m, "line %d: a product of another shape", i->line);
        return;
    }
    if ((a->kind == O_REG && !same_of_all(m, w, a, &left)) || !same_of_all(m, w, b, &right)) {
        fault(m, "line %d: lanes with other descriptors", i->line);
        return;
    }
    const int k = ++w->products;
    for (int n = 0; n < items(d); n++) {
        const int r = item(m, d, n)->reg;
        if (w->stamp[r] > w->fence_stamp)
            fault(m, "line %d: adds to registers that were written after the last wgmma.fence",
                  i->line);
        if (w->source[r] > w->waited)
            fault(m, "line %d: adds to registers that a product reads", i->line);
        w->product[r] = k;
        for (int l = 0; l < LANES; l++)
            w->reg[(u64)r * LANES + (u64)l] = noise(m->data_seed, (u64)(r * 32 + l) + m->progress);
    }
    for (int n = 0; a->kind == O_LIST && n < items(a); n++) {
        const int r = item(m, a, n)->reg;
        if (w->stamp[r] > w->fence_stamp)
            fault(m, "line %d: reads registers that were written after the last wgmma.fence",
                  i->line);
        if (w->product[r] > w->waited)
            fault(m, "line %d: reads registers that a product adds to", i->line);
        w->source[r] = k;
    }
    Product *p = &m->products[group][k % 1024];
    if (p->number != k)
        *p = (Product){ k, i->line, left, right };
    else if (p->line != i->line || p->a != left || p->b != right)
        fault(m, "line %d: another product than the group's other warps (line %d)", i->line,
              p->line);
    if (!m->tensor_core[group])
        m->tensor_core[group] = component_lend(m);
    const int component = m->tensor_core[group];
    if (m->component[component] < (u32)k)
        m->component[component] = (u32)k;
    u32 *seen = clock_new(m);
    for (int l = 0; l < LANES; l++)
        clock_join(m, seen, seen_by(m, w, l));
    const Access reads = { .component = component,
                           .count = (u32)k,
                           .seen = seen,
                           .proxy = ASYNC,
                           .line = i->line,
                           .stride = w->index % 4 ? 32 : 1 };
    Footprint f;
    const int scales =
        i->n_args - (a->kind == O_REG ? 2 : 1); /* transpositions are the last ones */
    const bool wide = i->src_bits == 16 && i->n_args >= (a->kind == O_REG ? 8 : 7);
    const u64 across_a = wide && a->kind == O_REG ? operand(m, w, 0, &i->arg[scales]) : 0;
    const u64 across_b = wide ? operand(m, w, 0, &i->arg[i->n_args - 1]) : 0;
    if (a->kind == O_REG && footprint(m, left, 64, across_a, &f, i->line))
        for (int n = 0; n < f.n && !m->fault[0]; n++)
            shadow_access(m, w->cta, f.at[n], f.bytes[n], &reads);
    if (footprint(m, right, columns, across_b, &f, i->line))
        for (int n = 0; n < f.n && !m->fault[0]; n++)
            shadow_access(m, w->cta, f.at[n], f.bytes[n], &reads);
    free(seen);
}

static bool group_wait(Machine *m, Warp *w, const Instr *i)
{
    const u64 left = operand(m, w, 0, &i->arg[0]);
    const int group = w->cta * m->n_warps / 4 + w->index / 4;
    int over = w->waited;
    if ((u64)w->n_committed > left) {
        const int n = w->committed[(u64)w->n_committed - left - 1];
        over = n > over ? n : over;
    }
    for (int v = w->index / 4 * 4; v < w->index / 4 * 4 + 4; v++)
        if (v >= m->n_warps || m->warp[w->cta * m->n_warps + v].products < over)
            return false; /* the other warps have not come to that product */
    w->waited = over;
    const int component = m->tensor_core[group];
    for (int l = 0; component && l < LANES; l++) {
        u32 *seen = seen_by(m, w, l);
        if (seen[component] < (u32)over)
            seen[component] = seen[m->width + component] = (u32)over;
    }
    return true;
}

bool product(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    (void)lanes;
    if (lanes != ~0u)
        fault(m, "line %d: not all lanes of the warp come to this", i->line);
    else if (has(i, "fence"))
        w->fence_stamp = w->clock;
    else if (has(i, "commit_group")) {
        if (w->n_committed == 64) {
            memmove(w->committed, w->committed + 1, 63 * sizeof *w->committed);
            w->n_committed--;
        }
        w->committed[w->n_committed++] = w->products;
    } else if (has(i, "wait_group"))
        return group_wait(m, w, i);
    else if (has(i, "mma_async"))
        multiply(m, w, i);
    else
        unknown(m, "line %d: a wgmma that this machine does not know", i->line);
    return true;
}

static void in_use(Machine *m, Warp *w, const Operand *o, bool writes, int line)
{
    for (int n = 0; n < items(o) + (o->kind == O_ADDRESS); n++) {
        const int r = o->kind == O_ADDRESS ? o->reg : item(m, o, n)->reg;
        if (r < 0)
            continue;
        if (w->product[r] > w->waited)
            fault(m, "line %d: %s registers that a product still adds to", line,
                  writes ? "writes" : "reads");
        if (writes && w->source[r] > w->waited)
            fault(m, "line %d: writes registers that a product still reads", line);
        if (writes)
            w->stamp[r] = w->clock;
    }
}

void registers_in_use(Machine *m, Warp *w, const Instr *i)
{
    const int id = instr_rows[i->op].id;
    if (id == I_WGMMA || i->n_args == 0)
        return;
    const bool reads_first =
        id == I_ST || id == I_STMATRIX || id == I_RED || id == I_CP || id == I_BAR || id == I_BRX;
    for (int n = 0; n < i->n_args; n++)
        in_use(m, w, &i->arg[n], n == 0 && !reads_first && i->arg[0].kind != O_ADDRESS, i->line);
}
