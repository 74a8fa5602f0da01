/* The machine of the rehearsal, driven by kernels written in C against its primitives. */
#include "codegen/prim.h"
#include "codegen/rehearse/host.h"
#include "codegen/rehearse/symbols.h"
#include "program/inputs.h"

#include <math.h>

#define BASE WS_HOST_BASE

typedef struct {
    gboolean fine;
    guint64 races, violations;
    char *stuck, *first;
} Outcome;

static Outcome run(guint threads, guint n_ctas, guint64 shared, guint64 seed,
                   void (*kernel)(const guint64 *), const guint64 *param)
{
    WsHost *h = ws_host_new(NULL, threads, n_ctas, shared, seed);
    Outcome o;
    o.fine = ws_host_run(h, 0, n_ctas, kernel, param);
    o.races = h->races;
    o.violations = h->violations;
    o.stuck = g_steal_pointer(&h->stuck);
    o.first = g_steal_pointer(&h->first_violation);
    if (!o.first)
        o.first = g_steal_pointer(&h->first_race);
    ws_host_free(h);
    return o;
}

static void clear(Outcome *o)
{
    g_free(o->stuck);
    g_free(o->first);
}

/* --- a ring: thread 0 writes, threads 32..63 read and release
 * ------------------------------------- */
#define SLOTS  3
#define ROUNDS 40
typedef struct {
    guint64 sum;
    guint producer_parity; /* 1 right */
    guint release_early, arrive_twice, forget_release;
} Ring;

static void ring_kernel(const guint64 *param)
{
    Ring *r = (Ring *)(guintptr)param[0];
    guint tid = wsh_tid(), i;
    guint32 full = BASE, empty = BASE + 8 * SLOTS, data = BASE + 256;
    if (tid == 0) {
        for (i = 0; i < SLOTS; i++) {
            wsh_mbar_init(full + 8 * i, 1);
            wsh_mbar_init(empty + 8 * i, 32);
        }
    }
    wsh_bar_sync(0, 64);
    if (tid >= 1 && tid < 32)
        return;
    for (i = 0; i < ROUNDS; i++) {
        guint slot = i % SLOTS, turn = i / SLOTS;
        wsh_op(i);
        if (tid == 0) {
            wsh_mbar_wait(empty + 8 * slot, (turn & 1) ^ r->producer_parity);
            wsh_st_shared(data + 4 * slot, i);
            wsh_mbar_arrive(full + 8 * slot);
        } else {
            wsh_mbar_wait(full + 8 * slot, turn & 1);
            if (r->release_early)
                wsh_mbar_arrive(empty + 8 * slot);
            if (r->release_early) /* somebody else runs first */
                wsh_warp_sync();
            r->sum += wsh_ld_shared(data + 4 * slot);
            if (!r->release_early && !(r->forget_release && i == 7 && tid == 40))
                wsh_mbar_arrive(empty + 8 * slot);
            if (r->arrive_twice && tid == 33 && i == 5)
                wsh_mbar_arrive(empty + 8 * slot);
        }
    }
}

static void test_ring(void)
{
    guint seed;
    for (seed = 0; seed < 20; seed++) {
        Ring r = { .producer_parity = 1 };
        guint64 param = (guint64)(guintptr)&r;
        Outcome o = run(64, 1, 1024, seed, ring_kernel, &param);
        g_assert_cmpstr(o.stuck, ==, NULL);
        g_assert_cmpstr(o.first, ==, NULL);
        g_assert_cmpuint(r.sum, ==, 32 * ROUNDS * (ROUNDS - 1) / 2);
        clear(&o);
    }
}

static void test_ring_broken(void)
{
    guint seed, wrong = 0;
    for (seed = 0; seed < 10; seed++) {
        Ring parity = { .producer_parity = 0 },
             forget = { .producer_parity = 1, .forget_release = 1 };
        Ring twice = { .producer_parity = 1, .arrive_twice = 1 };
        Ring early = { .producer_parity = 1, .release_early = 1 };
        guint64 param = (guint64)(guintptr)&parity;
        Outcome o = run(64, 1, 1024, seed, ring_kernel, &param);
        g_assert_nonnull(o.stuck);
        g_assert_nonnull(strstr(o.stuck, "parity 0"));
        clear(&o);
        param = (guint64)(guintptr)&forget;
        o = run(64, 1, 1024, seed, ring_kernel, &param);
        g_assert_nonnull(o.stuck);
        g_assert_nonnull(strstr(o.stuck, "missing 1 of 32 arrivals"));
        clear(&o);
        param = (guint64)(guintptr)&twice;
        o = run(64, 1, 1024, seed, ring_kernel, &param);
        wrong += o.stuck || o.violations || twice.sum != 32 * ROUNDS * (ROUNDS - 1) / 2;
        clear(&o);
        param = (guint64)(guintptr)&early;
        o = run(64, 1, 1024, seed, ring_kernel, &param);
        wrong += early.sum != 32 * ROUNDS * (ROUNDS - 1) / 2;
        clear(&o);
    }
    g_assert_cmpuint(wrong, >=, 10);
}

/* --- lanes
 * ------------------------------------------------------------------------------------------- */
static void lanes_kernel(const guint64 *param)
{
    guint32 *out = (guint32 *)(guintptr)param[0];
    guint lane = wsh_lane(), row = lane % 16;
    guint32 v[4], i;
    out[lane] = wsh_shfl_idx(lane * 3, 5) + 1000 * wsh_shfl_bfly(lane, 1);
    out[32 + lane] = wsh_vote_all(lane < 32) + 2 * wsh_vote_all(lane != 9);
    out[64 + lane] = wsh_elect();
    /* matrices of elements 100 row + column; x4 as in an epilogue: rows 0-15, columns 0-15 */
    for (i = 0; i < 4; i++) {
        guint r = lane / 4 + i % 2 * 8, c = 2 * (lane % 4) + i / 2 * 8;
        v[i] = (100 * r + c) | (100 * r + c + 1) << 16;
    }
    wsh_stmatrix_x4(BASE + row * 32 + lane / 16 * 16, v[0], v[1], v[2], v[3]);
    wsh_stmatrix_x4_t(BASE + 512 + row % 8 * 32 + row / 8 * 16 + lane / 16 * 256, v[0], v[1], v[2],
                      v[3]);
    for (i = 0; i < 8; i++) {
        out[96 + lane * 8 + i] = wsh_ld_shared(BASE + lane * 32 + 4 * i);
    }
}

static void test_lanes(void)
{
    guint32 out[96 + 256];
    guint16 half[512];
    guint64 param = (guint64)(guintptr)out;
    guint i, r, c, elected = 0;
    Outcome o = run(32, 1, 2048, 3, lanes_kernel, &param);
    g_assert_cmpstr(o.stuck, ==, NULL);
    g_assert_cmpstr(o.first, ==, NULL);
    for (i = 0; i < 32; i++) {
        g_assert_cmpuint(out[i], ==, 15 + 1000 * (i ^ 1));
        g_assert_cmpuint(out[32 + i], ==, 1);
        elected += out[64 + i];
    }
    g_assert_cmpuint(elected, ==, 1);
    memcpy(half, out + 96, sizeof half);
    for (r = 0; r < 16; r++) {
        for (c = 0; c < 16; c++) {
            g_assert_cmpuint(half[r * 16 + c], ==, 100 * r + c);
            g_assert_cmpuint(half[256 + c * 16 + r], ==, 100 * r + c);
        }
    }
    clear(&o);
}

/* --- TMA -> wgmma -> stores
 * ---------------------------------------------------------------------------- */
typedef struct {
    WsHostMap a, b, c;
    guint n, k, span; /* one tile 64 x n x k; span of the swizzle, bytes */
    WsDtype type;
    gboolean b_transposed, skip_wait, overwrite, no_mma_wait, a_in_registers;
    gint32 row0, col0, k0;
    float *acc_out; /* [128][n/2] */
} Product;

static guint64 descriptor(guint32 at, guint leading, guint stride, guint span)
{
    guint64 mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return (at & 0x3ffff) >> 4 | (guint64)(leading >> 4) << 16 | (guint64)(stride >> 4) << 32 |
           mode << 62;
}

static void product_kernel(const guint64 *param)
{
    Product *q = (Product *)(guintptr)param[0];
    guint tid = wsh_tid(), bytes = ws_dtype_bytes(q->type), chunk = q->span / bytes, i, j;
    guint32 full = BASE + 96 * 1024, a = BASE, b = BASE + 32768, out = BASE + 65536;
    guint chunks = q->k / chunk, b_chunks = q->b_transposed ? q->n / chunk : chunks;
    float *acc = g_newa(float, q->n / 2);
    if (tid == 0)
        wsh_mbar_init(full, 1);
    wsh_bar_sync(0, 128);
    if (tid == 0) {
        wsh_mbar_expect(full, (64 + q->n) * q->k * bytes);
        for (i = 0; i < chunks; i++)
            wsh_tma_load(a + i * 64 * q->span, (guint64)(guintptr)&q->a, full, 2,
                         (guint32)(q->k0 + (gint32)(i * chunk)), (guint32)q->row0, 0, 0, 0, 0);
        for (i = 0; i < b_chunks; i++) {
            guint rows = q->b_transposed ? q->k : q->n;
            gint32 along = (gint32)(i * chunk);
            wsh_tma_load(b + i * rows * q->span, (guint64)(guintptr)&q->b, full, 2,
                         (guint32)((q->b_transposed ? q->col0 : q->k0) + along),
                         (guint32)(q->b_transposed ? q->k0 : q->col0), 0, 0, 0, 0);
        }
    }
    if (!q->skip_wait)
        wsh_mbar_wait(full, 0);
    for (i = 0; i < q->k * bytes / 32; i++) {
        guint32 in_chunk = i * 32 % q->span, at = i * 32 / q->span;
        guint64 da = descriptor(a + at * 64 * q->span + in_chunk, 16, 8 * q->span, q->span);
        guint64 db = q->b_transposed
                         ? descriptor(b + i * 16 * q->span, q->k * q->span, 8 * q->span, q->span)
                         : descriptor(b + at * q->n * q->span + in_chunk, 16, 8 * q->span, q->span);
        guint32 regs[4];
        for (j = 0; j < 4 && q->a_in_registers; j++) {
            guint row = tid / 32 * 16 + tid % 32 / 4 + j % 2 * 8;
            guint32 offset = row * q->span + in_chunk + (tid % 4 + j / 2 * 4) * 4;
            offset ^= (offset >> 3) & (q->span == 128 ? 0x70 : q->span == 64 ? 0x30 : 0x10);
            regs[j] = wsh_ld_shared(a + at * 64 * q->span + offset);
        }
        wsh_wgmma((guint64)(guintptr)acc, q->a_in_registers ? (guint64)(guintptr)regs : 0, da, db,
                  q->n, q->type, q->type, WS_DTYPE_F32, i > 0, 0, q->b_transposed);
    }
    wsh_wgmma_commit();
    if (q->overwrite && tid == 77)
        wsh_st_shared(b, 0x3f803f80);
    if (!q->no_mma_wait)
        wsh_wgmma_wait(0);
    for (i = 0; i < q->n / 2; i++) {
        guint row = tid / 32 * 16 + tid % 32 / 4 + i / 2 % 2 * 8,
              col = i / 4 * 8 + tid % 4 * 2 + i % 2;
        q->acc_out[row * q->n + col] = acc[i];
        if (i % 2) { /* C in rows of 64 bytes, 16 f32 columns per box */
            guint32 at = out + col / 16 * 4096 + row * 64 + col % 16 * 4 - 4;
            at ^= (at >> 3) & 0x30;
            guint32 w[2];
            memcpy(w, &acc[i - 1], 8);
            wsh_st_shared_v2(at, w[0], w[1]);
        }
    }
    if (q->no_mma_wait)
        wsh_wgmma_wait(0);
    wsh_bar_sync(1, 128);
    if (tid == 0) {
        for (i = 0; i < q->n / 16; i++)
            wsh_tma_store(out + i * 4096, (guint64)(guintptr)&q->c, 2,
                          (guint32)(q->col0 + (gint32)(16 * i)), (guint32)q->row0, 0, 0, 0,
                          WS_REDUCE_NONE);
        wsh_bulk_commit();
        wsh_bulk_wait_read(0);
    }
}

static void *filled(WsDtype type, gint64 n, guint32 tensor)
{
    WsInputFill f = { .kind = WS_INPUT_NORMAL,
                      .dtype = (gint32)type,
                      .key = ws_input_key(7, tensor) };
    void *at = g_malloc((gsize)n * ws_dtype_bytes(type) + 1);
    ws_input_fill(at, &f, (guint64)n);
    return at;
}

static WsHostMap map_of(void *base, WsDtype type, gint64 rows, gint64 cols, guint box_rows,
                        guint box_cols, guint span)
{
    WsHostMap m = { .base = base,
                    .dtype = type,
                    .rank = 2,
                    .swizzle = span,
                    .dim = { cols, rows },
                    .stride = { 1, cols },
                    .box = { box_cols, box_rows } };
    return m;
}

/* Runs one product of a tensor that is smaller than the tile, and counts wrong elements of C. */
static guint run_product(Product *q, guint64 seed, Outcome *o)
{
    gint64 rows = q->row0 + 50, cols = q->col0 + (gint64)q->n - 3, k = q->k0 + (gint64)q->k - 5, i,
           j, x;
    guint chunk = q->span / ws_dtype_bytes(q->type), wrong = 0;
    g_autofree void *a = filled(q->type, rows * k, 0), *b = filled(q->type, cols * k, 1);
    g_autofree float *c = g_new(float, rows *cols);
    guint64 param = (guint64)(guintptr)q;
    q->acc_out = g_new(float, 64 * q->n);
    memset(c, 0xff, sizeof(float) * (gsize)(rows * cols));
    q->a = map_of(a, q->type, rows, k, 64, chunk, q->span);
    q->b = q->b_transposed ? map_of(b, q->type, k, cols, q->k, chunk, q->span)
                           : map_of(b, q->type, cols, k, q->n, chunk, q->span);
    q->c = map_of(c, WS_DTYPE_F32, rows, cols, 64, 16, 64);
    *o = run(128, 1, 100 * 1024, seed, product_kernel, &param);
    for (i = q->row0; i < rows && !o->stuck; i++) {
        for (j = q->col0; j < cols; j++) {
            double want = 0;
            for (x = q->k0; x < k; x++) {
                gint64 at = q->b_transposed ? x * cols + j : j * k + x;
                want +=
                    ws_input_decode((gint32)q->type,
                                    ws_input_get(a, (gint32)q->type, (guint64)(i * k + x))) *
                    ws_input_decode((gint32)q->type, ws_input_get(b, (gint32)q->type, (guint64)at));
            }
            wrong += !(fabs(want - c[i * cols + j]) < 1e-3);
        }
    }
    g_free(q->acc_out);
    return wrong;
}

static void test_product(void)
{
    static const Product table[] = {
        { .n = 64, .k = 64, .span = 128, .type = WS_DTYPE_BF16 },
        { .n = 128, .k = 128, .span = 128, .type = WS_DTYPE_F16, .row0 = 3, .col0 = 5, .k0 = 7 },
        { .n = 32, .k = 64, .span = 64, .type = WS_DTYPE_BF16 },
        { .n = 48, .k = 32, .span = 32, .type = WS_DTYPE_F16, .col0 = 16 },
        { .n = 128, .k = 64, .span = 128, .type = WS_DTYPE_BF16, .b_transposed = TRUE },
        { .n = 64, .k = 64, .span = 64, .type = WS_DTYPE_F16, .b_transposed = TRUE, .k0 = 2 },
        { .n = 64, .k = 128, .span = 128, .type = WS_DTYPE_E4M3 },
        { .n = 16, .k = 128, .span = 64, .type = WS_DTYPE_E5M2 },
        { .n = 16, .k = 64, .span = 128, .type = WS_DTYPE_TF32, .row0 = 1 },
        { .n = 64, .k = 64, .span = 128, .type = WS_DTYPE_BF16, .a_in_registers = TRUE },
        { .n = 64, .k = 64, .span = 64, .type = WS_DTYPE_E4M3, .a_in_registers = TRUE },
    };
    guint i, seed;
    for (i = 0; i < G_N_ELEMENTS(table); i++) {
        for (seed = 0; seed < 3; seed++) {
            Product q = table[i];
            Outcome o;
            guint wrong = run_product(&q, seed, &o);
            g_test_message("row %u", i);
            g_assert_cmpstr(o.stuck, ==, NULL);
            g_assert_cmpstr(o.first, ==, NULL);
            g_assert_cmpuint(o.races, ==, 0);
            g_assert_cmpuint(wrong, ==, 0);
            clear(&o);
        }
    }
}

static void test_product_broken(void)
{
    const Product right = { .n = 64, .k = 64, .span = 128, .type = WS_DTYPE_BF16 };
    guint seed, no_wait = 0, overwritten = 0, no_mma_wait = 0;
    for (seed = 0; seed < 10; seed++) {
        Product q = right;
        Outcome o;
        q.skip_wait = TRUE;
        no_wait += run_product(&q, seed, &o) > 0 || o.races > 0;
        clear(&o);
        q = right;
        q.overwrite = TRUE;
        overwritten += run_product(&q, seed, &o) > 0 || o.races > 0;
        clear(&o);
        q = right;
        q.no_mma_wait = TRUE;
        no_mma_wait += run_product(&q, seed, &o) > 0;
        clear(&o);
    }
    g_assert_cmpuint(no_wait, >=, 3); /* seen if the load happens to be slow */
    g_assert_cmpuint(overwritten, >=, 9);
    g_assert_cmpuint(no_mma_wait, >=, 9);
}

/* --- cluster: multicast, remote arrivals, cluster barrier
 * ------------------------------------------------ */
typedef struct {
    WsHostMap map;
    guint32 got[2][32];
} Cluster;

static void cluster_kernel(const guint64 *param)
{
    Cluster *q = (Cluster *)(guintptr)param[0];
    guint rank = wsh_cluster_rank(), tid = wsh_tid();
    guint32 full = BASE + 4096, empty = BASE + 4104;
    if (tid == 0) {
        wsh_mbar_init(full, 1);
        wsh_mbar_init(empty, 2);
    }
    wsh_cluster_arrive();
    wsh_cluster_wait();
    if (tid == 0) {
        wsh_mbar_expect(full, 128);
        wsh_tma_load(BASE + 64 * rank, (guint64)(guintptr)&q->map, full, 1, 16 * rank, 0, 0, 0, 0,
                     3);
    }
    wsh_mbar_wait(full, 0);
    q->got[rank][tid] = wsh_ld_shared(BASE + 4 * tid);
    wsh_warp_sync();
    if (tid == 0) {
        wsh_mbar_arrive_remote(empty, 0, 1);
        wsh_mbar_arrive_remote(empty, 1, 1);
    }
    wsh_mbar_wait(empty, 0);
    wsh_cluster_arrive();
    wsh_cluster_wait();
}

static void test_cluster(void)
{
    guint seed, i;
    for (seed = 0; seed < 10; seed++) {
        guint32 data[32];
        Cluster q = { .map = { .base = (guint8 *)data,
                               .dtype = WS_DTYPE_I32,
                               .rank = 1,
                               .dim = { 32 },
                               .stride = { 1 },
                               .box = { 16 } } };
        guint64 param = (guint64)(guintptr)&q;
        Outcome o;
        for (i = 0; i < 32; i++)
            data[i] = 1000 + i;
        o = run(32, 2, 4112, seed, cluster_kernel, &param);
        g_assert_cmpstr(o.stuck, ==, NULL);
        for (i = 0; i < 32; i++) {
            g_assert_cmpuint(q.got[0][i], ==, data[i]);
            g_assert_cmpuint(q.got[1][i], ==, data[i]);
        }
        clear(&o);
    }
}

/* --- every primitive that a host lowering can call has its function
 * ---------------------------------- */
static gboolean host_has_no_use(const char *name)
{
    static const char
        *const prefix[] = {
            "wsh_tma_load_", "wsh_tma_store_", "wsh_tma_add_",  "wsh_tma_min_",
            "wsh_tma_max_",  "wsh_st_global_", "wsh_less_here", "wsh_mbar_wait_debug",
            "wsh_stands", /* HOST_TMA; recorder; debug_waits
                           */
        };
    guint i;
    for (i = 0; i < G_N_ELEMENTS(prefix); i++)
        if (g_str_has_prefix(name, prefix[i]))
            return TRUE;
    return FALSE;
}

static void test_symbols(void)
{
    guint n, i, id;
    const WsJitSymbol *symbol = ws_host_symbols(&n);
    for (id = 0; id < WS_PRIM_COUNT; id++) {
        const char *name = ws_prim_row((WsPrim)id)->name;
        for (i = 0; i < n && strcmp(symbol[i].name, name) != 0; i++)
            continue;
        if (i == n && !host_has_no_use(name))
            g_error("primitive %s has no host function in symbols.c", name);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rehearse/host/ring", test_ring);
    g_test_add_func("/rehearse/host/ring-broken", test_ring_broken);
    g_test_add_func("/rehearse/host/lanes", test_lanes);
    g_test_add_func("/rehearse/host/product", test_product);
    g_test_add_func("/rehearse/host/product-broken", test_product_broken);
    g_test_add_func("/rehearse/host/cluster", test_cluster);
    g_test_add_func("/rehearse/host/symbols", test_symbols);
    return g_test_run();
}
