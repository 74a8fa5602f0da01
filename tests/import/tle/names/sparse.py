# Rows that a list of integers picks for each token, up to the token's own number: scored and added up,
# 64 heads per program.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl


@triton.jit
def kernel(q, kv, ids, out, stride_qm, stride_qh, stride_kvn, stride_tm, stride_om, stride_oh, K,
           BH: tl.constexpr, BK: tl.constexpr, D: tl.constexpr):
    m, h = tl.program_id(0), tl.program_id(1)
    q_base = q + m * stride_qm + h * (BH * stride_qh)
    t_base = ids + m * stride_tm
    o_base = out + m * stride_om + h * (BH * stride_oh)
    heads = tl.arange(0, BH)
    d = tl.arange(0, D)
    t = tl.arange(0, BK)
    q_blk = tl.load(q_base + heads[:, None] * stride_qh + d[None, :])
    acc = tl.zeros([BH, D], tl.float32)
    for k in tl.range(tl.cdiv(K, BK), num_stages=0):
        if k * BK <= m:
            t_ptr = BK * k + t
            t_msk = t_ptr < K
            t_ptr += t_base
            picked = tl.load(t_ptr, t_msk, other=-1)
            there = (picked <= m) & (picked >= 0)
            kv_ptr = kv + d[:, None] + picked[None, :] * stride_kvn
            kv_blk = tle.load(kv_ptr, there[None, :] & (d < D)[:, None], other=0.0, is_async=True)
            s = tl.dot(q_blk, kv_blk)
            s = tl.where(there[None, :], s * 0.001, 0.0)
            acc = tl.dot(s.to(q_blk.dtype), tl.trans(kv_blk), acc)
    tl.store(o_base + heads[:, None] * stride_oh + d[None, :], acc.to(q_blk.dtype))


def run(q, kv, ids):
    assert q.dtype == torch.bfloat16 and kv.dtype == torch.bfloat16 and ids.dtype == torch.int32
    assert q.is_contiguous() and kv.is_contiguous() and ids.is_contiguous()
    M, H, D = q.shape
    assert q.shape == (M, 128, 64)
    N = kv.shape[0]
    K = ids.shape[1]
    assert kv.shape == (N, 64) and ids.shape == (M, K)
    out = torch.zeros((M, 128, 64), device=q.device, dtype=torch.bfloat16)
    kernel[(M, 2)](q, kv, ids, out, q.stride(0), q.stride(1), kv.stride(0), ids.stride(0), out.stride(0),
                   out.stride(1), K, BH=64, BK=32, D=64, num_warps=4)
    return out
