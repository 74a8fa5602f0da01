# Blocks of 128 x 64 elements added up, as many per program as a tensor says, which the writer alone reads.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def load(writer, x_desc, counts):
    row = tl.program_id(0)
    n = tl.load(counts + row)
    it = 0
    for k in range(n):
        slot = writer.acquire(it)
        tle.gpu.copy(x_desc, slot.x, [128, 64], [row * 128, k * 64])
        writer.commit(it)
        it += 1
    writer.close(it)


@triton.jit
def add(reader, y, y_desc):
    row = tl.program_id(0)
    total = tl.zeros([128, 64], dtype=tl.float32)
    it = 0
    ready = reader.wait(it)
    while not ready.is_closed:
        tile = tl.load(tle.gpu.local_ptr(ready.slot.x))
        reader.release(it)
        total += tile
        it += 1
        ready = reader.wait(it)
    reader.release(it)
    tl.store(tle.gpu.local_ptr(y), total.to(tl.bfloat16))
    tl.debug_barrier()
    tle.gpu.copy(y, y_desc, [128, 64], [row * 128, 0])


@triton.jit
def kernel(x_desc, y_desc, counts):
    x = tle.gpu.alloc([2, 128, 64], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    y = tle.gpu.alloc([128, 64], dtype=tl.bfloat16, layout=None, scope=tle.gpu.smem)
    blocks = tle.pipe(capacity=2, scope="cta", name="blocks", x=x)
    tle.gpu.warp_specialize(
        [
            (add, (blocks.reader(), y, y_desc)),
            (load, (blocks.writer(), x_desc, counts)),
        ],
        worker_num_warps=[1],
        worker_num_regs=[40],
    )


def sums(x, counts, y):
    assert x.dtype == torch.bfloat16 and y.dtype == torch.bfloat16 and counts.dtype == torch.int32
    x_desc = TensorDescriptor.from_tensor(x, [128, 64])
    y_desc = TensorDescriptor.from_tensor(y, [128, 64])
    kernel[(triton.cdiv(y.shape[0], 128),)](x_desc, y_desc, counts, num_warps=4)
    return y
