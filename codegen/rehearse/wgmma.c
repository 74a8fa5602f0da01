/* wgmma: one product per warp group and instruction, done once all 128 threads have issued it, at
 * some time before the wait that retires it. Operands are read through their descriptors as the
 * hardware reads them; what was read is hashed at issue and again at the retiring wait. */
#include "codegen/rehearse/host.h"

#include "program/inputs.h"

#define ROWS_MAX 256
#define K_BYTES  32 /* contraction of one instruction, every dtype */

typedef float Float8 __attribute__((vector_size(32), aligned(4), may_alias));

/* --- operands --------------------------------------------------------------------------------- */
typedef struct {
    guint32 start, leading, stride, base;
    guint span; /* 128, 64, 32 bytes; 0: no swizzle */
} Descriptor;

static Descriptor decode(guint64 d)
{
    static const guint span[4] = { 0, 128, 64, 32 };
    Descriptor out = {
        .start = (guint32)(d & 0x3fff) << 4,
        .leading = (guint32)(d >> 16 & 0x3fff) << 4,
        .stride = (guint32)(d >> 32 & 0x3fff) << 4,
        .base = (guint32)(d >> 49 & 7),
        .span = span[d >> 62 & 3],
    };
    return out;
}

/* Address of 16-byte unit `u` of row `row`. K-major: a row is an M or N index and has two units.
 * MN-major: a row is a K index and has mn/8 units. Canonical layouts of the PTX manual: cores of
 * 8 rows, `stride` (SBO) from core to core along the rows' direction for K-major and along K for
 * MN-major, `leading` (LBO) the other way; inside a swizzled core rows follow each other at the
 * span. */
static guint32 unit_address(const Descriptor *d, gboolean transposed, guint row, guint u)
{
    guint per = d->span / 16; /* units of one row of a swizzled core */
    guint32 at;
    if (!transposed)
        at = d->span ? row % 8 * d->span + row / 8 * d->stride + u * 16
                     : row % 8 * 16 + row / 8 * d->stride + u * d->leading;
    else
        at = d->span ? row % 8 * d->span + row / 8 * d->stride + u % per * 16 + u / per * d->leading
                     : row % 8 * 16 + row / 8 * d->leading + u * d->stride;
    return ws_host_swizzled(d->start + at, d->span);
}

/* Gathers an operand: `rows` M or N indices. K-major: [row][32 bytes]; MN-major: [k][rows]. */
static void gather(WsHostCta *cta, guint64 descriptor, guint rows, gboolean transposed, guint8 *out)
{
    Descriptor d = decode(descriptor);
    guint n = transposed ? 16 : rows, units = transposed ? rows / 8 : 2, r, u;
    for (r = 0; r < n; r++) {
        for (u = 0; u < units; u++) {
            const guint8 *at =
                ws_host_shared(cta, unit_address(&d, transposed, r, u), 16, "operand of wgmma");
            if (at)
                memcpy(out, at, 16);
            else
                memset(out, 0xff, 16);
            out += 16;
        }
    }
}

/* 4 registers per thread: row lane/4 and 8 below, 32-bit word lane%4 and 4 to the right. */
static void gather_registers(const WsHostMma *m, guint8 *out)
{
    guint t, i;
    for (t = 0; t < 128; t++) {
        for (i = 0; i < 4; i++) {
            guint row = t / 32 * 16 + t % 32 / 4 + i % 2 * 8, word = t % 4 + i / 2 * 4;
            memcpy(out + row * K_BYTES + word * 4, &m->a_regs[t][i], 4);
        }
    }
}

/* Operand B has to be complete before the first thread issues the product and is hashed then. The
 * rows of A may still be written by slower warps of the group, each its own, until they issue it:
 * hashed when the last thread has. */
static guint64 hash_a(WsHostCta *cta, const WsHostMma *m, guint8 *a)
{
    if (m->a_in_regs) {
        gather_registers(m, a);
        return 0;
    }
    gather(cta, m->a_desc, 64, m->trans_a, a);
    return ws_host_hash(a, 64 * K_BYTES, 0);
}

static guint64 hash_b(WsHostCta *cta, const WsHostMma *m, guint8 *b)
{
    gather(cta, m->b_desc, m->n, m->trans_b, b);
    return ws_host_hash(b, (gsize)m->n * K_BYTES, 0);
}

static gboolean unchanged(WsHostCta *cta, const WsHostMma *m, guint8 *a, guint8 *b)
{
    guint64 ha = hash_a(cta, m, a), hb = hash_b(cta, m, b);
    return ha == m->hash_a && hb == m->hash_b;
}

/* Widens to float as out[k][row] (by_k) or out[row][k]. */
static void widen(const guint8 *in, WsDtype dtype, guint rows, gboolean transposed, gboolean by_k,
                  float *out)
{
    static _Thread_local float table[2][256];
    static _Thread_local gboolean ready;
    guint bytes = ws_dtype_bytes(dtype), k_n = K_BYTES / bytes, row, k;
    if (!ready) {
        for (k = 0; k < 256; k++) {
            table[0][k] = (float)ws_input_decode(WS_INPUT_E4M3, k);
            table[1][k] = (float)ws_input_decode(WS_INPUT_E5M2, k);
        }
        ready = TRUE;
    }
    for (row = 0; row < rows; row++) {
        for (k = 0; k < k_n; k++) {
            guint64 at = transposed ? (guint64)k * rows + row : (guint64)row * k_n + k;
            guint32 bits = ws_input_get(in, (gint32)dtype, at);
            float v;
            if (dtype == WS_DTYPE_BF16 || dtype == WS_DTYPE_TF32) {
                bits = dtype == WS_DTYPE_BF16 ? bits << 16 : bits & ~0x1fffu;
                memcpy(&v, &bits, 4);
            } else if (dtype == WS_DTYPE_E4M3 || dtype == WS_DTYPE_E5M2) {
                v = table[dtype == WS_DTYPE_E5M2][bits];
            } else {
                v = (float)ws_input_decode((gint32)dtype, bits);
            }
            out[by_k ? k * rows + row : row * k_n + k] = v;
        }
    }
}

/* --- the product ------------------------------------------------------------------------------ */
/* Accumulator register i of a thread: row and column (PTX D fragment). */
static guint d_row(guint thread, guint i)
{
    return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}

static guint d_column(guint thread, guint i)
{
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

static float read_acc(const WsHostMma *m, guint thread, guint i)
{
    guint32 word = m->acc[thread][m->acc_type == WS_DTYPE_F16 ? i / 2 : i];
    float v;
    if (m->acc_type == WS_DTYPE_F16)
        return (float)ws_input_decode(WS_INPUT_F16, word >> (i % 2 * 16) & 0xffff);
    if (m->acc_type == WS_DTYPE_I32)
        return 0; /* integers are added when they are written */
    memcpy(&v, &word, 4);
    return v;
}

static void write_acc(const WsHostMma *m, guint thread, guint i, float v)
{
    guint32 *word = &m->acc[thread][m->acc_type == WS_DTYPE_F16 ? i / 2 : i];
    if (m->acc_type == WS_DTYPE_F16) {
        guint32 half = ws_input_encode(WS_INPUT_F16, (double)v), up = i % 2 * 16;
        *word = (*word & ~(0xffffu << up)) | half << up;
    } else if (m->acc_type == WS_DTYPE_I32) {
        *word = (m->scale_d ? *word : 0) + (guint32)(gint32)v; /* |v| <= 32*128*128: exact */
    } else {
        memcpy(word, &v, 4);
    }
}

static void multiply(const float *a, const float *b, guint k_n, guint n, float *d)
{
    guint row, k, j;
    for (row = 0; row < 64; row++) {
        for (k = 0; k < k_n; k++) {
            float x = a[row * k_n + k];
            const Float8 *from = (const Float8 *)(b + k * n);
            Float8 *to = (Float8 *)(d + row * n);
            for (j = 0; j < n / 8; j++)
                to[j] += x * from[j];
        }
    }
}

static void execute(WsHostCta *cta, WsHostMma *m)
{
    static _Thread_local guint8 raw_a[64 * K_BYTES], raw_b[ROWS_MAX * K_BYTES];
    static _Thread_local float a[64 * K_BYTES], b[ROWS_MAX * K_BYTES], d[64 * ROWS_MAX];
    guint registers = m->n / 2, t, i;
    if (!unchanged(cta, m, raw_a, raw_b))
        ws_host_race(m->op, "shared memory was written while an mma was still reading it");
    widen(raw_a, m->a_type, 64, m->trans_a && !m->a_in_regs, FALSE, a);
    widen(raw_b, m->b_type, m->n, m->trans_b, TRUE, b);
    memset(d, 0, sizeof d);
    for (t = 0; t < 128 && m->scale_d; t++)
        for (i = 0; i < registers; i++)
            d[d_row(t, i) * m->n + d_column(t, i)] = read_acc(m, t, i);
    multiply(a, b, K_BYTES / ws_dtype_bytes(m->a_type), m->n, d);
    for (t = 0; t < 128; t++)
        for (i = 0; i < registers; i++)
            write_acc(m, t, i, d[d_row(t, i) * m->n + d_column(t, i)]);
    m->done = TRUE;
}

/* --- issue, commit, wait ---------------------------------------------------------------------- */
static WsHostWarpGroup *my_group(void)
{
    const WsHostThread *t = ws_host_me();
    return &t->cta->group[t->tid / 128];
}

static gboolean same(const WsHostMma *a, const WsHostMma *b)
{
    return a->a_in_regs == b->a_in_regs && a->a_desc == b->a_desc && a->b_desc == b->b_desc &&
           a->n == b->n && a->a_type == b->a_type && a->b_type == b->b_type &&
           a->acc_type == b->acc_type && a->scale_d == b->scale_d && a->trans_a == b->trans_a &&
           a->trans_b == b->trans_b;
}

static void issue(WsHostWarpGroup *g, WsHostMma *m)
{
    static _Thread_local guint8 raw_a[64 * K_BYTES];
    WsHostLater *l = g_new0(WsHostLater, 1);
    m->issued = TRUE;
    m->hash_a = hash_a(g->cta, m, raw_a);
    g->issued++;
    l->kind = WS_HOST_MMA;
    l->mma = g;
    l->op = m->op;
    ws_host_later(l);
}

void wsh_wgmma(guint64 acc, guint64 a_regs, guint64 a_desc, guint64 b_desc, guint32 n,
               guint32 a_type, guint32 b_type, guint32 acc_type, guint32 scale_d, guint32 trans_a,
               guint32 trans_b)
{
    WsHostThread *t = ws_host_me();
    WsHostWarpGroup *g = my_group();
    WsHostMma new = { .a_in_regs = a_regs != 0,
                      .a_desc = a_regs ? 0 : a_desc,
                      .b_desc = b_desc,
                      .n = n,
                      .a_type = a_type,
                      .b_type = b_type,
                      .acc_type = acc_type,
                      .scale_d = scale_d != 0,
                      .trans_a = trans_a != 0,
                      .trans_b = trans_b != 0,
                      .op = t->op,
                      .agent = t->agent };
    static _Thread_local guint8 raw_b[ROWS_MAX * K_BYTES];
    WsHostMma *m;
    guint lane = t->tid % 128;
    if (n == 0 || n > ROWS_MAX || n % 8 || a_type >= WS_DTYPE_COUNT || b_type >= WS_DTYPE_COUNT) {
        ws_host_violation(t, "wgmma with n = %u", n);
        return;
    }
    if (t->mma_issued - g->first >= g->mma->len)
        g_ptr_array_add(g->mma, g_memdup2(&new, sizeof new));
    m = g->mma->pdata[t->mma_issued - g->first];
    if (m->arrived && !same(m, &new))
        ws_host_violation(t, "threads of one warp group issue different wgmma");
    if (!m->arrived)
        m->hash_b = hash_b(g->cta, m, raw_b);
    m->acc[lane] = (guint32 *)(guintptr)acc;
    if (a_regs)
        memcpy(m->a_regs[lane], (const void *)(guintptr)a_regs, 16);
    t->mma_issued++;
    if (++m->arrived == 128)
        issue(g, m);
}

void ws_host_run_mma(WsHostWarpGroup *g)
{
    execute(g->cta, g->mma->pdata[g->executed - g->first]);
    g->executed++;
    ws_host_wake_all(g->waiters);
}

void wsh_wgmma_commit(void)
{
    WsHostThread *t = ws_host_me();
    t->mma_bound[t->mma_groups++ % G_N_ELEMENTS(t->mma_bound)] = t->mma_issued;
}

/* Retires products below `bound`: what they read must still be what it was at issue. */
static void retire(WsHostWarpGroup *g, guint64 bound)
{
    static _Thread_local guint8 raw_a[64 * K_BYTES], raw_b[ROWS_MAX * K_BYTES];
    while (g->first < bound) {
        const WsHostMma *m = g->mma->pdata[0];
        if (!unchanged(g->cta, m, raw_a, raw_b))
            ws_host_race(m->op, "shared memory was written before the mma_wait that retires its "
                                "reader");
        g_ptr_array_remove_index(g->mma, 0);
        g->first++;
    }
}

void wsh_wgmma_wait(guint32 n)
{
    WsHostThread *t = ws_host_me();
    WsHostWarpGroup *g = my_group();
    guint64 bound;
    if (t->mma_groups <= n || n >= G_N_ELEMENTS(t->mma_bound))
        return;
    bound = t->mma_bound[(t->mma_groups - n - 1) % G_N_ELEMENTS(t->mma_bound)];
    t->id = n;
    while (g->executed < bound)
        ws_host_block(t, WS_HOST_WAIT_MMA, g->waiters);
    retire(g, bound);
}

void ws_host_mma_end(WsHostWarpGroup *g)
{
    if (g->mma->len)
        ws_host_violation(NULL, "CTA %u ends with %u wgmma of warp group %d not waited for",
                          g->cta->id, g->mma->len, (int)(g - g->cta->group));
}
