/* What the 64 lanes of a wave of gfx950 do together: products, transposed reads, exchanges. All
 * lanes come before any of them goes on. */
#include "codegen/rehearse/host.h"

#include "program/inputs.h"

#define LANES 64
#define BLOCK 16
#define K     32

typedef void (*Finish)(WsHostCta *cta, WsHostWave *wave, WsHostThread *lane);

static void collective(const char *what, const guint32 *in, guint n, Finish finish)
{
    WsHostThread *t = ws_host_me();
    WsHostWave *w = &t->cta->wave[t->tid / LANES];
    const guint64 generation = w->generation;
    if (w->arrived && w->what != what)
        ws_host_violation(t, "lanes of one wave reach %s and %s", w->what, what);
    w->what = what;
    memcpy(w->in[t->tid % LANES], in, n * sizeof *in);
    if (++w->arrived == LANES) {
        finish(t->cta, w, t - t->tid % LANES);
        w->arrived = 0;
        w->generation++;
        ws_host_wake_all(w->waiters);
        return;
    }
    while (w->generation == generation)
        ws_host_block(t, WS_HOST_WAIT_WARP, w->waiters);
}

/* --- products ---------------------------------------------------------------------------------*/
/* in[lane]: dtype, 4 words of each operand, 4 sums as bits. */

static void widen(const WsHostWave *w, guint first, WsDtype type, float out[BLOCK][K])
{
    for (guint lane = 0; lane < LANES; lane++)
        for (guint e = 0; e < 8; e++) {
            const guint32 bits = w->in[lane][first + e / 2] >> (e % 2 * 16) & 0xffff;
            out[lane % BLOCK][lane / BLOCK * 8 + e] = (float)ws_input_decode((gint32)type, bits);
        }
}

static void finish_mfma(WsHostCta *cta, WsHostWave *w, WsHostThread *lane)
{
    static _Thread_local float b[BLOCK][K], a[BLOCK][K];
    const WsDtype type = (WsDtype)w->in[0][0];
    for (guint i = 1; i < LANES; i++)
        if (w->in[i][0] != w->in[0][0])
            ws_host_violation(lane, "lanes of one wave issue different products");
    widen(w, 1, type, b);
    widen(w, 5, type, a);
    for (guint l = 0; l < LANES; l++)
        for (guint r = 0; r < 4; r++) {
            const float *x = b[l / BLOCK * 4 + r], *y = a[l % BLOCK];
            float sum;
            memcpy(&sum, &w->in[l][9 + r], 4);
            for (guint k = 0; k < K; k++)
                sum += x[k] * y[k];
            memcpy(&lane[l].results[r], &sum, 4);
        }
}

void wsh_mfma_16x16x32(float out[4], float s0, float s1, float s2, float s3, guint32 b0, guint32 b1,
                       guint32 b2, guint32 b3, guint32 a0, guint32 a1, guint32 a2, guint32 a3,
                       guint32 type)
{
    const float sum[] = { s0, s1, s2, s3 };
    guint32 in[13] = { type, b0, b1, b2, b3, a0, a1, a2, a3 };
    if (type != WS_DTYPE_F16 && type != WS_DTYPE_BF16)
        ws_host_violation(ws_host_me(), "a product of dtype %u", type);
    memcpy(in + 9, sum, sizeof sum);
    collective("mfma", in, G_N_ELEMENTS(in), finish_mfma);
    memcpy(out, ws_host_me()->results, sizeof sum);
}

/* --- transposed reads -------------------------------------------------------------------------*/

static void finish_read(WsHostCta *cta, WsHostWave *w, WsHostThread *lane)
{
    for (guint group = 0; group < LANES; group += BLOCK) {
        guint16 row[4][BLOCK];
        memset(row, 0xff, sizeof row);
        for (guint i = 0; i < BLOCK; i++) {
            const guint32 at = w->in[group + i][0];
            const guint8 *from = ws_host_shared(cta, at, 8, "ds_read_b64_tr_b16");
            if (from && at % 8)
                ws_host_violation(lane, "ds_read_b64_tr_b16 is not aligned");
            if (from)
                memcpy(&row[i / 4][i % 4 * 4], from, 8);
        }
        for (guint i = 0; i < BLOCK; i++)
            for (guint k = 0; k < 2; k++)
                lane[group + i].results[k] = row[2 * k][i] | (guint32)row[2 * k + 1][i] << 16;
    }
}

void wsh_ds_read_tr_b16(guint32 out[2], guint32 at)
{
    collective("ds_read_b64_tr_b16", &at, 1, finish_read);
    memcpy(out, ws_host_me()->results, 8);
}

/* --- exchanges --------------------------------------------------------------------------------*/

static void finish_xor(WsHostCta *cta, WsHostWave *w, WsHostThread *lane)
{
    for (guint i = 0; i < LANES; i++)
        lane[i].results[0] = w->in[(i ^ w->in[i][1]) % LANES][0];
}

guint32 wsh_wave_xor(guint32 value, guint32 difference)
{
    collective("an exchange of lanes", (guint32[]){ value, difference }, 2, finish_xor);
    return ws_host_me()->results[0];
}
