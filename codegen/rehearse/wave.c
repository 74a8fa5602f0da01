/* What the 64 lanes of a wave of gfx950 do together: products, transposed reads, exchanges. All
 * lanes come before any of them goes on. */
#include "codegen/rehearse/host.h"

#include "program/inputs.h"

#define LANES 64
#define BLOCK 16

typedef void (*Finish)(WsHostCta *cta, WsHostWave *wave, WsHostThread *lane);

static void collective(const char *what, const guint64 *in, guint n, Finish finish)
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
/* in[lane]: addresses of the lane's sums and operands, rows of the instruction, two dtypes. */
enum { SUM, B, A, ROWS, B_TYPE, A_TYPE };

#define MOST_K 128 /* elements of a row */

static const void *of(const WsHostWave *w, guint lane, guint what)
{
    return (const void *)(gsize)w->in[lane][what];
}

static void widen(const WsHostWave *w, guint operand, guint rows, WsDtype type, float out[][MOST_K])
{
    const guint bytes = ws_dtype_bytes(type), n = bytes == 1 ? 32 : 8;
    for (guint lane = 0; lane < LANES; lane++) {
        const guint8 *from = of(w, lane, operand);
        for (guint e = 0; e < n; e++) {
            guint32 bits = 0;
            memcpy(&bits, from + (gsize)e * bytes, bytes);
            out[lane % rows][lane / rows * n + e] = (float)ws_input_decode((gint32)type, bits);
        }
    }
}

static void finish_mfma(WsHostCta *cta, WsHostWave *w, WsHostThread *lane)
{
    static _Thread_local float b[LANES / 2][MOST_K], a[LANES / 2][MOST_K];
    const guint rows = (guint)w->in[0][ROWS], sums = rows * rows / LANES;
    const WsDtype b_type = (WsDtype)w->in[0][B_TYPE], a_type = (WsDtype)w->in[0][A_TYPE];
    const guint k_all = LANES / rows * (ws_dtype_bytes(a_type) == 1 ? 32 : 8);
    for (guint i = 1; i < LANES; i++)
        if (memcmp(w->in[i] + ROWS, w->in[0] + ROWS, 3 * sizeof **w->in) != 0)
            ws_host_violation(lane, "lanes of one wave issue different products");
    widen(w, B, rows, b_type, b);
    widen(w, A, rows, a_type, a);
    for (guint l = 0; l < LANES; l++) {
        float *sum = (float *)(gsize)w->in[l][SUM];
        for (guint r = 0; r < sums; r++) {
            const guint of_b = r / 4 * 8 * (rows == 32) + l / rows * 4 + r % 4;
            const float *x = b[of_b], *y = a[l % rows];
            for (guint k = 0; k < k_all; k++)
                sum[r] += x[k] * y[k];
        }
    }
}

void wsh_mfma(guint64 sum, guint64 b, guint64 a, guint32 rows, guint32 b_type, guint32 a_type)
{
    const guint bytes = ws_dtype_bytes((WsDtype)a_type);
    const guint64 in[] = { sum, b, a, rows, b_type, a_type };
    if ((rows != 16 && rows != 32) || bytes > 2 || bytes != ws_dtype_bytes((WsDtype)b_type))
        ws_host_violation(ws_host_me(), "a product of %u rows, dtypes %u and %u", rows, b_type,
                          a_type);
    collective("mfma", in, G_N_ELEMENTS(in), finish_mfma);
}

/* --- transposed reads -------------------------------------------------------------------------*/

static void finish_read(WsHostCta *cta, WsHostWave *w, WsHostThread *lane)
{
    for (guint group = 0; group < LANES; group += BLOCK) {
        guint16 row[4][BLOCK];
        memset(row, 0xff, sizeof row);
        for (guint i = 0; i < BLOCK; i++) {
            const guint32 at = (guint32)w->in[group + i][0];
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
    const guint64 in = at;
    collective("ds_read_b64_tr_b16", &in, 1, finish_read);
    memcpy(out, ws_host_me()->results, 8);
}

/* --- exchanges --------------------------------------------------------------------------------*/

static void finish_xor(WsHostCta *cta, WsHostWave *w, WsHostThread *lane)
{
    for (guint i = 0; i < LANES; i++)
        lane[i].results[0] = (guint32)w->in[(i ^ w->in[i][1]) % LANES][0];
}

guint32 wsh_wave_xor(guint32 value, guint32 difference)
{
    collective("an exchange of lanes", (guint64[]){ value, difference }, 2, finish_xor);
    return ws_host_me()->results[0];
}
