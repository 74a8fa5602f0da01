/* Single elements: narrow accesses of shared memory, predicated accesses of tensors, conversions.
 */
#include "codegen/rehearse/host.h"

#include "program/inputs.h"

static guint8 *shared(guint32 at, guint32 bytes, const char *what)
{
    guint8 *to = ws_host_shared(ws_host_me()->cta, at, bytes, what);
    if (to && at % bytes)
        ws_host_violation(ws_host_me(), "%s of %u bytes is not aligned", what, bytes);
    return to;
}

void wsh_st_shared_b16(guint32 at, guint16 a)
{
    guint8 *to = shared(at, 2, "st.shared");
    if (to)
        memcpy(to, &a, 2);
}

void wsh_st_shared_b8(guint32 at, guint16 a)
{
    guint8 *to = shared(at, 1, "st.shared");
    if (to)
        *to = (guint8)a;
}

guint16 wsh_ld_shared_b16(guint32 at)
{
    const guint8 *from = shared(at, 2, "ld.shared");
    guint16 a = 0xffff;
    if (from)
        memcpy(&a, from, 2);
    return a;
}

guint16 wsh_ld_shared_b8(guint32 at)
{
    const guint8 *from = shared(at, 1, "ld.shared");
    return from ? *from : 0xff;
}

void wsh_ld_shared_v2(guint32 out[2], guint32 at)
{
    const guint8 *from = shared(at, 8, "ld.shared");
    memset(out, 0xff, 8);
    if (from)
        memcpy(out, from, 8);
}

/* --- other CTAs ------------------------------------------------------------------------------- */
guint32 wsh_mapa(guint32 at, guint32 rank)
{
    if (rank >= ws_host->n_ctas)
        ws_host_violation(ws_host_me(), "an address of CTA %u of a cluster of %u", rank,
                          ws_host->n_ctas);
    return (at & ((1u << WS_HOST_RANK_BIT) - 1)) | rank << WS_HOST_RANK_BIT;
}

/* Memory of the cluster; NULL: there is none. */
static guint8 *of_peer(guint32 at, guint32 bytes, const char *what)
{
    const guint32 rank = at >> WS_HOST_RANK_BIT;
    if (rank < ws_host->n_ctas && at % bytes == 0)
        return ws_host_shared(&ws_host->cta[rank], at, bytes, what);
    ws_host_violation(ws_host_me(), "%s of %u bytes is not aligned", what, bytes);
    return NULL;
}

static void peek(guint32 at, void *to, guint32 bytes)
{
    const guint8 *from = of_peer(at, bytes, "ld.shared::cluster");
    memset(to, 0xff, bytes);
    if (from)
        memcpy(to, from, bytes);
}

static void poke(guint32 at, const void *from, guint32 bytes)
{
    guint8 *to = of_peer(at, bytes, "st.shared::cluster");
    if (to)
        memcpy(to, from, bytes);
}

void wsh_st_cluster(guint32 at, guint32 a)
{
    poke(at, &a, 4);
}

void wsh_st_cluster_b16(guint32 at, guint16 a)
{
    poke(at, &a, 2);
}

void wsh_st_cluster_b8(guint32 at, guint16 a)
{
    const guint8 one = (guint8)a;
    poke(at, &one, 1);
}

void wsh_st_cluster_v2(guint32 at, guint32 a, guint32 b)
{
    const guint32 both[2] = { a, b };
    poke(at, both, 8);
}

guint32 wsh_ld_cluster(guint32 at)
{
    guint32 a;
    peek(at, &a, 4);
    return a;
}

guint16 wsh_ld_cluster_b16(guint32 at)
{
    guint16 a;
    peek(at, &a, 2);
    return a;
}

guint16 wsh_ld_cluster_b8(guint32 at)
{
    guint8 a;
    peek(at, &a, 1);
    return a;
}

void wsh_ld_cluster_v2(guint32 out[2], guint32 at)
{
    peek(at, out, 8);
}

/* --- tensors -----------------------------------------------------------------------------------*/
static void *global(guint64 at, guint32 bytes, const char *what)
{
    if (at % bytes)
        ws_host_violation(ws_host_me(), "%s of %u bytes is not aligned", what, bytes);
    return (void *)(guintptr)at;
}

static guint32 read_global(guint64 at, guint32 bytes, guint32 inside)
{
    guint32 a = 0;
    if (inside)
        memcpy(&a, global(at, bytes, "ld.global"), bytes);
    return a;
}

guint32 wsh_ldg_b32(guint64 at, guint32 inside)
{
    return read_global(at, 4, inside);
}
guint16 wsh_ldg_b16(guint64 at, guint32 inside)
{
    return (guint16)read_global(at, 2, inside);
}
guint16 wsh_ldg_b8(guint64 at, guint32 inside)
{
    return (guint16)read_global(at, 1, inside);
}

static void write_global(guint64 at, guint32 bytes, guint32 a, guint32 inside)
{
    if (inside)
        memcpy(global(at, bytes, "st.global"), &a, bytes);
}

void wsh_stg_b32(guint64 at, guint32 a, guint32 inside)
{
    write_global(at, 4, a, inside);
}
void wsh_stg_b16(guint64 at, guint16 a, guint32 inside)
{
    write_global(at, 2, a, inside);
}
void wsh_stg_b8(guint64 at, guint16 a, guint32 inside)
{
    write_global(at, 1, a, inside);
}

static void reduce(guint64 at, WsDtype t, guint32 bits, guint32 inside, WsReduce how)
{
    if (!inside)
        return;
    void *to = global(at, ws_dtype_bytes(t), "red.global");
    double old = ws_input_decode((gint32)t, ws_input_get(to, (gint32)t, 0));
    double new = ws_input_decode((gint32)t, bits);
    new = how == WS_REDUCE_ADD ? old + new : how == WS_REDUCE_MIN ? MIN(old, new) : MAX(old, new);
    ws_input_put(to, (gint32)t, 0, ws_input_encode((gint32)t, new));
}

void wsh_red_add_f32(guint64 at, float a, guint32 inside)
{
    guint32 bits;
    memcpy(&bits, &a, 4);
    reduce(at, WS_DTYPE_F32, bits, inside, WS_REDUCE_ADD);
}
void wsh_red_add_f16(guint64 at, guint16 a, guint32 inside)
{
    reduce(at, WS_DTYPE_F16, a, inside, WS_REDUCE_ADD);
}
void wsh_red_add_bf16(guint64 at, guint16 a, guint32 inside)
{
    reduce(at, WS_DTYPE_BF16, a, inside, WS_REDUCE_ADD);
}
void wsh_red_add_s32(guint64 at, guint32 a, guint32 inside)
{
    reduce(at, WS_DTYPE_I32, a, inside, WS_REDUCE_ADD);
}
void wsh_red_min_s32(guint64 at, guint32 a, guint32 inside)
{
    reduce(at, WS_DTYPE_I32, a, inside, WS_REDUCE_MIN);
}
void wsh_red_max_s32(guint64 at, guint32 a, guint32 inside)
{
    reduce(at, WS_DTYPE_I32, a, inside, WS_REDUCE_MAX);
}

guint32 wsh_count_up(guint64 at, guint32 last)
{
    guint32 *counter = global(at, 4, "atom.global"), old = *counter;
    *counter = old >= last ? 0 : old + 1;
    return old;
}

/* --- conversions -------------------------------------------------------------------------------*/
static guint16 pair8(gint32 type, float hi, float lo)
{
    return (guint16)(ws_input_encode(type, (double)hi) << 8 | ws_input_encode(type, (double)lo));
}

guint16 wsh_cvt_e4m3x2(float hi, float lo)
{
    return pair8(WS_INPUT_E4M3, hi, lo);
}
guint16 wsh_cvt_e5m2x2(float hi, float lo)
{
    return pair8(WS_INPUT_E5M2, hi, lo);
}
guint32 wsh_cvt_e4m3x4(float a, float b, float c, float d)
{
    return (guint32)pair8(WS_INPUT_E4M3, d, c) << 16 | pair8(WS_INPUT_E4M3, b, a);
}
guint32 wsh_cvt_e5m2x4(float a, float b, float c, float d)
{
    return (guint32)pair8(WS_INPUT_E5M2, d, c) << 16 | pair8(WS_INPUT_E5M2, b, a);
}
guint32 wsh_prmt(guint32 a, guint32 b, guint32 selector)
{
    const guint64 both = (guint64)b << 32 | a;
    guint32 out = 0;
    for (guint i = 0; i < 4; i++)
        out |= (guint32)(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return out;
}
guint32 wsh_cvt_tf32(float a)
{
    return ws_input_encode(WS_INPUT_TF32, (double)a);
}
float wsh_cvt_f32_f16(guint16 a)
{
    return (float)ws_input_decode(WS_INPUT_F16, a);
}

static guint32 unpair8(gint32 type, guint16 a)
{
    guint32 lo = ws_input_encode(WS_INPUT_F16, ws_input_decode(type, a & 0xff));
    return ws_input_encode(WS_INPUT_F16, ws_input_decode(type, a >> 8)) << 16 | lo;
}

guint32 wsh_cvt_f16x2_e4m3(guint16 a)
{
    return unpair8(WS_INPUT_E4M3, a);
}
guint32 wsh_cvt_f16x2_e5m2(guint16 a)
{
    return unpair8(WS_INPUT_E5M2, a);
}
