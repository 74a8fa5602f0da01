#include "program/partition_registers.h"

#include "target/target.h"

#define PAD        16 /* what padding partitions ask for */
#define WORKER_MAX 64

static guint up(const WsTarget *hw, guint n)
{
    return (n + hw->registers.step - 1) / hw->registers.step * hw->registers.step;
}

static gint down(const WsTarget *hw, gint64 n)
{
    const gint64 step = hw->registers.step;
    return (gint)(n >= 0 ? n / step * step : -((-n + step - 1) / step * step));
}

/* Larger partitions come first; four warps in that order are a warp group, which gets what its
 * most demanding member asks for. Returns what all groups together leave of their share. */
static gint64 surplus(const WsTarget *hw, const guint *warps, const guint *request, guint n,
                      guint padded, guint maxnreg)
{
    gint64 left = 0;
    guint at = 0, most = 0, size[WORKER_MAX + 1], ask[WORKER_MAX + 1], count = 0;
    for (guint i = 0; i < n && count < WORKER_MAX; i++, count++) {
        guint k = count;
        for (; k > 0 && size[k - 1] < warps[i]; k--) {
            size[k] = size[k - 1];
            ask[k] = ask[k - 1];
        }
        size[k] = warps[i];
        ask[k] = up(hw, request[i]);
    }
    guint sum = 0;
    for (guint i = 0; i < count; i++)
        sum += size[i];
    size[count] = padded > sum ? padded - sum : 0;
    ask[count] = PAD;
    for (guint i = 0; i <= count; i++) {
        for (guint w = 0; w < size[i]; w++) {
            most = MAX(most, ask[i]);
            if (++at % hw->group_warps == 0) {
                left += ((gint64)maxnreg - most) * hw->group_warps * hw->lanes;
                most = 0;
            }
        }
    }
    return left;
}

WsPartitionRegisters ws_partition_registers(const WsTarget *hw, guint default_warps, guint n,
                                            const guint *warps, const guint *request, guint maxnreg)
{
    WsPartitionRegisters r = { .target = hw, .maxnreg = maxnreg };
    for (guint i = 0; i < n; i++)
        r.padded += warps[i];
    r.padded = (r.padded + hw->group_warps - 1) / hw->group_warps * hw->group_warps;
    guint all = default_warps + r.padded;
    if (!maxnreg)
        r.maxnreg =
            MIN((guint)down(hw, hw->registers.file / (all * hw->lanes)), hw->registers.most);
    gint64 lanes = (gint64)default_warps * hw->lanes;
    gint64 budget = r.maxnreg * lanes + surplus(hw, warps, request, n, r.padded, r.maxnreg);
    r.leftover = down(hw, budget < 0 ? (budget - lanes + 1) / lanes : budget / lanes);
    r.dropped = n > 0 && (budget <= 0 || r.leftover < (gint)hw->registers.least);
    return r;
}

char *ws_partition_registers_print(const WsPartitionRegisters *r, guint n, const guint *request)
{
    const WsTarget *hw = r->target;
    GString *s = g_string_new(NULL);
    if (r->dropped)
        g_string_append_printf(s,
                               "the default partition would be left %d, which is below %u: "
                               "setmaxnreg would be dropped silently, all run with %u",
                               r->leftover, hw->registers.least, r->maxnreg);
    else
        g_string_append_printf(s, "default partition %d",
                               MIN(r->leftover, (gint)hw->registers.most));
    g_string_append(s, n == 1 ? "; worker" : n ? "; workers" : "");
    for (guint i = 0; i < n; i++)
        g_string_append_printf(s, " %u", up(hw, request[i]));
    g_string_append_printf(s, " (all start with %u)", r->maxnreg);
    return g_string_free(s, FALSE);
}
