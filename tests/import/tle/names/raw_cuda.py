# 128 x 64 elements per program, doubled by CUDA C++ of the author between two copies.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.experimental.tle.language.raw as tle_raw
import triton.language as tl
from triton.experimental.tle.raw import dialect
from triton.tools.tensor_descriptor import TensorDescriptor


class Source:
    def __init__(self, text):
        self.text = text

    def read_text(self):
        return self.text


@dialect(name="cuda", file=Source(r"""
#include <stdint.h>

__device__ void Double(
    __attribute__((address_space(3))) float *to_allocated,
    __attribute__((address_space(3))) float *to_aligned, const int64_t to_offset,
    const int64_t to_rows, const int64_t to_cols, const int64_t to_down, const int64_t to_right,
    __attribute__((address_space(3))) const float *from_allocated,
    __attribute__((address_space(3))) const float *from_aligned, const int64_t from_offset,
    const int64_t from_rows, const int64_t from_cols, const int64_t from_down,
    const int64_t from_right, const int twice) {
  const int thread = threadIdx.x % 128;
  float *const to = (float *)(to_aligned + to_offset);
  const float *const from = (const float *)(from_aligned + from_offset);
  for (int i = thread; i < 128 * 64; i += 128)
    to[i] = from[i] * twice;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
"""))
def double(*args, **kwargs):
    ...


@triton.jit
def kernel(x_desc, y_desc, steps):
    row = tl.program_id(0) * 128
    x = tle.gpu.alloc([128, 64], dtype=tl.float32, layout=None, scope=tle.gpu.smem,
                      nv_mma_shared_layout=False)
    y = tle.gpu.alloc([128, 64], dtype=tl.float32, layout=None, scope=tle.gpu.smem,
                      nv_mma_shared_layout=False)
    full = tle.gpu.alloc_barriers(1, arrive_count=1, init=tle.gpu.PENDING, expect_bytes=32768)
    tle.gpu.copy(x_desc, x, [128, 64], [row, 0], barrier=full[0])
    tle.gpu.barrier_wait(full[0], phaseIdx=0)
    tle_raw.call(double, [y, x, 2])
    tl.debug_barrier()
    tle.gpu.copy(y, y_desc, [128, 64], [row, 0])


def scale(x, y):
    assert x.dtype == torch.float32 and y.dtype == torch.float32
    N = x.shape[0]
    x_desc = TensorDescriptor.from_tensor(x, [128, 64])
    y_desc = TensorDescriptor.from_tensor(y, [128, 64])
    kernel[(triton.cdiv(N, 128),)](x_desc, y_desc, 1, num_warps=4)
    return y
