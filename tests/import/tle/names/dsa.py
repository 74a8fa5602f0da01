# N numbers added in pieces of 128, one piece per program.
import torch
import triton
import triton.experimental.tle as tle
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(axis=0) * BLOCK
    places = start + tl.arange(0, BLOCK)
    x = tle.dsa.alloc([BLOCK], dtype=tl.float32, mem_addr_space=tle.dsa.ascend.UB)
    y = tle.dsa.alloc([BLOCK], dtype=tl.float32, mem_addr_space=tle.dsa.ascend.UB)
    z = tle.dsa.alloc([BLOCK], dtype=tl.float32, mem_addr_space=tle.dsa.ascend.UB)
    tail = tl.minimum(n - start, BLOCK)
    tle.dsa.copy(x_ptr + places, x, [tail])
    tle.dsa.copy(y_ptr + places, y, [tail])
    tle.dsa.add(x, y, z)
    tle.dsa.copy(z, z_ptr + places, [tail])


def add(x, y):
    z = torch.empty_like(x)
    n = z.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    kernel[grid](x, y, z, n, BLOCK=128)
    return z
