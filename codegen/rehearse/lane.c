/* What a thread asks of itself, its warp and shared memory. Warp instructions gather all 32 lanes
 * before any of them goes on. */
#include "codegen/rehearse/host.h"

#include "program/inputs.h"

guint32 wsh_tid(void)
{
    return ws_host_me()->tid;
}
guint32 wsh_lane(void)
{
    return ws_host_me()->tid % 32;
}
guint32 wsh_ctaid(void)
{
    return ws_host_me()->cta->id;
}
guint32 wsh_nctaid(void)
{
    return ws_host->n_ids;
}
guint32 wsh_cluster_rank(void)
{
    return ws_host_me()->cta->rank;
}
guint32 wsh_shared_base(void)
{
    return ws_host_me()->cta->rank << WS_HOST_RANK_BIT | WS_HOST_BASE;
}
guint32 wsh_smid(void)
{
    return ws_host_me()->cta->id;
}
guint32 wsh_clock(void)
{
    return (guint32)ws_host->steps;
}
guint64 wsh_clock64(void)
{
    return ws_host->steps;
}
guint64 wsh_mov64(guint64 value)
{
    return value;
}
/* Fibers are delayed by the scheduler; no rehearsal asks for this. */
void wsh_delay(guint32 place)
{
}

guint32 wsh_mov32(guint32 value)
{
    return value;
}
void wsh_nothing(void)
{
}
void wsh_nothing32(guint32 x)
{
}
void wsh_nothing64(guint64 x)
{
}

guint32 wsh_elect(void)
{
    const WsHostThread *t = ws_host_me();
    return t->tid % 32 == t->cta->warp[t->tid / 32].elected;
}

/* --- collectives of a warp ---------------------------------------------------------------------
 */
typedef void (*Finish)(WsHostCta *cta, WsHostWarp *warp, WsHostThread *lane);

static guint32 collective(const char *what, const guint32 *in, guint n, Finish finish)
{
    WsHostThread *t = ws_host_me();
    WsHostWarp *w = &t->cta->warp[t->tid / 32];
    guint64 generation = w->generation;
    if (w->arrived && w->what != what)
        ws_host_violation(t, "lanes of one warp reach %s and %s", w->what, what);
    w->what = what;
    if (n)
        memcpy(w->in[t->tid % 32], in, n * sizeof *in);
    if (++w->arrived == 32) {
        if (finish)
            finish(t->cta, w, t - t->tid % 32);
        w->arrived = 0;
        w->generation++;
        ws_host_wake_all(w->waiters);
        return t->result;
    }
    while (w->generation == generation)
        ws_host_block(t, WS_HOST_WAIT_WARP, w->waiters);
    return t->result;
}

static void finish_idx(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    guint i;
    for (i = 0; i < 32; i++)
        lane[i].result = w->in[w->in[i][1] % 32][0];
}

static void finish_bfly(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    guint i;
    for (i = 0; i < 32; i++)
        lane[i].result = w->in[(i ^ w->in[i][1]) % 32][0];
}

static void finish_all(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    guint i, all = 1;
    for (i = 0; i < 32; i++)
        all &= w->in[i][0] != 0;
    for (i = 0; i < 32; i++)
        lane[i].result = all;
}

guint32 wsh_shfl_idx(guint32 value, guint32 lane)
{
    return collective("shfl.idx", (guint32[]){ value, lane }, 2, finish_idx);
}

guint32 wsh_shfl_bfly(guint32 value, guint32 mask)
{
    return collective("shfl.bfly", (guint32[]){ value, mask }, 2, finish_bfly);
}

guint32 wsh_vote_all(guint32 value)
{
    return collective("vote.all", &value, 1, finish_all);
}

void wsh_warp_sync(void)
{
    collective("bar.warp.sync", NULL, 0, NULL);
}

/* --- stmatrix ------------------------------------------------------------------------------------
 */
/* Matrix m: lane 8m + r gives the address of row r; register m of lane 4r + c holds elements
 * (r, 2c) and (r, 2c + 1). Transposed, row r of memory is column r of the registers. */
static void finish_matrices(WsHostCta *cta, WsHostWarp *w, guint n, gboolean transposed)
{
    guint m, r, c;
    for (m = 0; m < n; m++) {
        for (r = 0; r < 8; r++) {
            guint32 at = w->in[8 * m + r][0];
            guint8 *row = ws_host_shared(cta, at, 16, "stmatrix");
            guint16 out[8];
            if (!row || at % 16) {
                if (row)
                    ws_host_violation(ws_host_me(), "stmatrix row address is not a multiple of 16");
                continue;
            }
            for (c = 0; c < 8; c++) {
                guint from = transposed ? c : r, col = transposed ? r : c;
                out[c] = (guint16)(w->in[4 * from + col / 2][1 + m] >> (col % 2 * 16));
            }
            memcpy(row, out, 16);
        }
    }
}

static void finish_x4(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    finish_matrices(cta, w, 4, FALSE);
}

static void finish_x4_t(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    finish_matrices(cta, w, 4, TRUE);
}

static void finish_x2(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    finish_matrices(cta, w, 2, FALSE);
}

void wsh_stmatrix_x4(guint32 at, guint32 a, guint32 b, guint32 c, guint32 d)
{
    collective("stmatrix.x4", (guint32[]){ at, a, b, c, d }, 5, finish_x4);
}

void wsh_stmatrix_x4_t(guint32 at, guint32 a, guint32 b, guint32 c, guint32 d)
{
    collective("stmatrix.x4.trans", (guint32[]){ at, a, b, c, d }, 5, finish_x4_t);
}

void wsh_stmatrix_x2(guint32 at, guint32 a, guint32 b)
{
    collective("stmatrix.x2", (guint32[]){ at, a, b }, 3, finish_x2);
}

/* --- ldmatrix: the other way round
 * -----------------------------------------------------------------
 */
static void load_matrices(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane, gboolean transposed)
{
    guint m, r, c;
    for (m = 0; m < 4; m++) {
        for (r = 0; r < 8; r++) {
            guint32 at = w->in[8 * m + r][0];
            const guint8 *row = ws_host_shared(cta, at, 16, "ldmatrix");
            guint16 in[8];
            if (row && at % 16)
                ws_host_violation(ws_host_me(), "ldmatrix row address is not a multiple of 16");
            if (row)
                memcpy(in, row, 16);
            else
                memset(in, 0xff, 16);
            for (c = 0; c < 8; c++) {
                guint to = transposed ? c : r, col = transposed ? r : c, up = col % 2 * 16;
                guint32 *word = &lane[4 * to + col / 2].results[m];
                *word = (*word & ~(0xffffu << up)) | (guint32)in[c] << up;
            }
        }
    }
}

static void finish_load(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    load_matrices(cta, w, lane, FALSE);
}

static void finish_load_t(WsHostCta *cta, WsHostWarp *w, WsHostThread *lane)
{
    load_matrices(cta, w, lane, TRUE);
}

void wsh_ldmatrix_x4(guint32 out[4], guint32 at)
{
    collective("ldmatrix.x4", &at, 1, finish_load);
    memcpy(out, ws_host_me()->results, 16);
}

void wsh_ldmatrix_x4_t(guint32 out[4], guint32 at)
{
    collective("ldmatrix.x4.trans", &at, 1, finish_load_t);
    memcpy(out, ws_host_me()->results, 16);
}

/* --- plain accesses --------------------------------------------------------------------------- */
static void store(guint32 at, const guint32 *word, guint n)
{
    guint8 *to = ws_host_shared(ws_host_me()->cta, at, 4 * n, "st.shared");
    if (to && at % (4 * n))
        ws_host_violation(ws_host_me(), "st.shared of %u bytes is not aligned", 4 * n);
    if (to)
        memcpy(to, word, 4 * n);
}

void wsh_st_shared(guint32 at, guint32 a)
{
    store(at, &a, 1);
}

void wsh_st_shared_v2(guint32 at, guint32 a, guint32 b)
{
    store(at, (guint32[]){ a, b }, 2);
}

void wsh_st_shared_v4(guint32 at, guint32 a, guint32 b, guint32 c, guint32 d)
{
    store(at, (guint32[]){ a, b, c, d }, 4);
}

void wsh_st_shared_f32(guint32 at, float a)
{
    guint32 word;
    memcpy(&word, &a, 4);
    store(at, &word, 1);
}

guint32 wsh_ld_shared(guint32 at)
{
    const guint8 *from = ws_host_shared(ws_host_me()->cta, at, 4, "ld.shared");
    guint32 word = 0xffffffffu;
    if (from && at % 4)
        ws_host_violation(ws_host_me(), "ld.shared is not aligned");
    if (from)
        memcpy(&word, from, 4);
    return word;
}

float wsh_ld_shared_f32(guint32 at)
{
    guint32 word = wsh_ld_shared(at);
    float value;
    memcpy(&value, &word, 4);
    return value;
}

/* --- conversions ------------------------------------------------------------------------------ */
guint32 wsh_cvt_bf16x2(float hi, float lo)
{
    return ws_input_encode(WS_INPUT_BF16, (double)hi) << 16 |
           ws_input_encode(WS_INPUT_BF16, (double)lo);
}

static double bf16_half(guint32 a, guint half)
{
    return ws_input_decode(WS_INPUT_BF16, a >> 16 * half & 0xffff);
}

guint32 wsh_sub_bf16x2(guint32 a, guint32 b)
{
    return wsh_cvt_bf16x2((float)(bf16_half(a, 1) - bf16_half(b, 1)),
                          (float)(bf16_half(a, 0) - bf16_half(b, 0)));
}

guint32 wsh_cvt_f16x2(float hi, float lo)
{
    return ws_input_encode(WS_INPUT_F16, (double)hi) << 16 |
           ws_input_encode(WS_INPUT_F16, (double)lo);
}

static double f16_half(guint32 a, guint half)
{
    return ws_input_decode(WS_INPUT_F16, a >> 16 * half & 0xffff);
}

guint32 wsh_mul_f16x2(guint32 a, guint32 b)
{
    return wsh_cvt_f16x2((float)(f16_half(a, 1) * f16_half(b, 1)),
                         (float)(f16_half(a, 0) * f16_half(b, 0)));
}

/* --- atomics of shared memory ------------------------------------------------------------------
 */
/* Fibers of a CTA give way to each other at waits alone. NULL: not there. */
static guint8 *combined(guint32 at, guint32 bytes, guint32 there)
{
    if (!there)
        return NULL;
    if (at % bytes)
        ws_host_violation(ws_host_me(), "an atomic of %u bytes is not aligned", bytes);
    return ws_host_shared(ws_host_me()->cta, at, bytes, "atom.shared");
}

float wsh_atoms_add_f32(guint32 at, float a, guint32 there)
{
    guint8 *to = combined(at, 4, there);
    float old = 0, new;
    if (!to)
        return 0;
    memcpy(&old, to, 4);
    new = old + a;
    memcpy(to, &new, 4);
    return old;
}

void wsh_reds_add_f32(guint32 at, float a, guint32 there)
{
    wsh_atoms_add_f32(at, a, there);
}

static guint32 replace(guint8 *to, guint32 old, guint32 new)
{
    memcpy(to, &new, 4);
    return old;
}

#define COMBINE(name, value)                                                                       \
    guint32 wsh_atoms_##name(guint32 at, guint32 a, guint32 there)                                 \
    {                                                                                              \
        guint8 *to = combined(at, 4, there);                                                       \
        guint32 old = 0;                                                                           \
        if (!to)                                                                                   \
            return 0;                                                                              \
        memcpy(&old, to, 4);                                                                       \
        return replace(to, old, (guint32)(value));                                                 \
    }
#define REDUCE(name)                                                                               \
    void wsh_reds_##name(guint32 at, guint32 a, guint32 there)                                     \
    {                                                                                              \
        wsh_atoms_##name(at, a, there);                                                            \
    }
COMBINE(add_s32, old + a)
COMBINE(min_s32, (gint32)a < (gint32)old ? a : old)
COMBINE(max_s32, (gint32)a > (gint32)old ? a : old)
COMBINE(and_b32, old &a)
COMBINE(or_b32, old | a)
COMBINE(xor_b32, old ^ a)
COMBINE(exch_b32, a)
REDUCE(add_s32)
REDUCE(min_s32)
REDUCE(max_s32)
REDUCE(and_b32)
REDUCE(or_b32)
REDUCE(xor_b32)
#undef COMBINE
#undef REDUCE

guint32 wsh_atoms_cas_b32(guint32 at, guint32 expected, guint32 a, guint32 there)
{
    guint8 *to = combined(at, 4, there);
    guint32 old = 0;
    if (!to)
        return 0;
    memcpy(&old, to, 4);
    return replace(to, old, old == expected ? a : old);
}

void wsh_sts_b32(guint32 at, guint32 a, guint32 there)
{
    guint8 *to = combined(at, 4, there);
    if (to)
        memcpy(to, &a, 4);
}

void wsh_sts_b16(guint32 at, guint16 a, guint32 there)
{
    guint8 *to = combined(at, 2, there);
    if (to)
        memcpy(to, &a, 2);
}

void wsh_sts_b8(guint32 at, guint16 a, guint32 there)
{
    guint8 *to = combined(at, 1, there);
    if (to)
        *to = (guint8)a;
}
