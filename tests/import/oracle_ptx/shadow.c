/* Who touched which bytes, and who knows of it: clocks of every thread and of every copy.
 * An access that is not ordered behind an earlier one to the same bytes, one of them a write, is a
 * race. A write of the generic proxy that the async proxy touches needs a proxy fence on the way;
 * clocks have a second half for it: what was fenced. */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READS = 6 };
typedef struct Cell {
    u32 write_count;
    uint16_t write_by;
    uint8_t write_bytes, write_proxy, n_reads;
    uint16_t read_by[READS];
    u32 read_count[READS];
    uint8_t read_bytes[READS];
    int write_line, read_line[READS];
} Cell;

void fault(Machine *m, const char *format, ...)
{
    if (m->fault[0])
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(m->fault, sizeof m->fault, format, list);
    va_end(list);
}

void unknown(Machine *m, const char *format, ...)
{
    if (m->unknown[0])
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(m->unknown, sizeof m->unknown, format, list);
    va_end(list);
}

void shadow_start(Machine *m)
{
    const int threads = m->n_threads * m->n_ctas;
    m->width = threads + 320 + (m->width ? threads : 0); /* width: cp.async is used */
    m->clock = calloc((size_t)threads * 2 * (size_t)m->width, sizeof *m->clock);
    m->component = calloc((size_t)m->width, sizeof *m->component);
    m->ended = calloc((size_t)m->width, sizeof *m->ended);
    m->n_components = threads;
    for (int c = 0; c < m->n_ctas; c++) {
        m->cell[c] = calloc(SHARED_BYTES / 4 + 1, sizeof(Cell));
        for (int t = 0; t < m->n_threads; t++)
            clock_of(m, c, t)[c * m->n_threads + t] = 1;
    }
}

void shadow_free(Machine *m)
{
    free(m->clock);
    free(m->component);
    free(m->ended);
    for (int c = 0; c < m->n_ctas; c++)
        free(m->cell[c]);
}

u32 *clock_of(Machine *m, int cta, int thread)
{
    return m->clock + (size_t)(cta * m->n_threads + thread) * 2 * (size_t)m->width;
}

u32 *clock_new(const Machine *m)
{
    return calloc(2 * (size_t)m->width, sizeof(u32));
}

void clock_join(const Machine *m, u32 *into, const u32 *from)
{
    const int n = 2 * m->width;
    for (int i = 0; i < n; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

int component_lend(Machine *m)
{
    if (m->n_components >= m->width) {
        unknown(m, "more copies at once than this machine follows");
        return m->width - 1;
    }
    m->ended[m->n_components] = false;
    return m->n_components++;
}

/* One that ended and whose end the issuing thread knows of may serve again. */
int component_take(Machine *m, const u32 *seen, u32 *count)
{
    for (int c = m->n_threads * m->n_ctas; c < m->n_components; c++)
        if (m->ended[c] && seen[c] >= m->component[c]) {
            m->ended[c] = false;
            *count = ++m->component[c];
            return c;
        }
    const int c = component_lend(m);
    *count = ++m->component[c];
    return c;
}

static const char *kind_of(const Access *a)
{
    return a->proxy == ASYNC ? "async" : a->proxy == GATHERED ? "cp.async" : "plain";
}

static void touch(Machine *m, Cell *c, uint8_t bytes, const Access *a, u32 address)
{
    if (c->write_count && c->write_bytes & bytes) {
        const bool same = a->again && a->line == c->write_line; /* lanes that say the same */
        if (a->seen[c->write_by] < c->write_count && c->write_by != a->component && !same)
            fault(m, "race: %s %s of line %d at %u, written by line %d", kind_of(a),
                  a->writes ? "write" : "read", a->line, address, c->write_line);
        else if (a->proxy == ASYNC && c->write_proxy == GENERIC &&
                 a->seen[m->width + c->write_by] < c->write_count)
            fault(m, "proxy: %s of line %d at %u, written by line %d, no proxy fence",
                  a->writes ? "write" : "read", a->line, address, c->write_line);
    }
    if (a->writes) {
        int kept = 0;
        for (int r = 0; r < c->n_reads; r++)
            if (!(c->read_bytes[r] & bytes)) {
                c->read_by[kept] = c->read_by[r], c->read_count[kept] = c->read_count[r];
                c->read_line[kept] = c->read_line[r];
                c->read_bytes[kept++] = c->read_bytes[r];
            } else if (a->seen[c->read_by[r]] < c->read_count[r] && c->read_by[r] != a->component)
                fault(m, "race: %s write of line %d at %u, read by line %d", kind_of(a), a->line,
                      address, c->read_line[r]);
        c->n_reads = (uint8_t)kept;
        c->write_count = a->count;
        c->write_by = (uint16_t)a->component;
        c->write_bytes = bytes;
        c->write_proxy = (uint8_t)a->proxy;
        c->write_line = a->line;
        return;
    }
    int at = -1;
    for (int r = 0; r < c->n_reads && at < 0; r++)
        if (c->read_by[r] == a->component || a->seen[c->read_by[r]] >= c->read_count[r])
            at = r;
    if (at < 0)
        at = c->n_reads < READS ? c->n_reads++
                                : (int)(noise(m->seed, address) % READS); /* one is lost */
    c->read_bytes[at] =
        c->read_by[at] == a->component && at < c->n_reads ? c->read_bytes[at] | bytes : bytes;
    c->read_by[at] = (uint16_t)a->component;
    c->read_count[at] = a->count;
    c->read_line[at] = a->line;
}

void shadow_access(Machine *m, int cta, u32 address, u32 bytes, const Access *a)
{
    if (cta >= m->n_ctas || address < SHARED_BASE ||
        (u64)address + bytes > SHARED_BYTES + SHARED_BASE) {
        fault(m, "line %d: %u bytes at %u are outside of shared memory", a->line, bytes, address);
        return;
    }
    if (a->writes && address < m->barriers_high && address + bytes > m->barriers_low)
        for (u32 b = address / 8; b * 8 < address + bytes; b++)
            if (m->mbarrier[cta][b].alive)
                fault(m, "line %d: writes to the mbarrier at %u", a->line, b * 8);
    const u32 from = address - SHARED_BASE, stride = a->stride ? a->stride : 1;
    for (u32 cell = from / 4; cell * 4 < from + bytes; cell += stride) {
        uint8_t touched = 0;
        for (u32 b = 0; b < 4; b++)
            if (cell * 4 + b >= from && cell * 4 + b < from + bytes)
                touched |= (uint8_t)(1u << b);
        touch(m, &m->cell[cta][cell], touched, a, cell * 4 + SHARED_BASE);
        if (m->fault[0])
            return;
    }
}
