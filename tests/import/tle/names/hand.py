# 64 x 64 elements per program: each of the four programs of a cluster hands its tile to the next one.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def kernel(x_desc, y_desc, mesh: tl.constexpr):
    row = tl.program_id(0) * 64
    part = tle.gpu.alloc([64, 64], dtype=tl.float32, layout=None, scope=tle.gpu.smem)
    own = x_desc.load([row, 0])
    tle.distributed_barrier(mesh)
    tl.store(tle.gpu.local_ptr(tle.remote(part, (tle.shard_id(mesh, 0) + 1) % 4, scope=mesh)), own)
    tle.distributed_barrier(mesh)
    given = tl.load(tle.gpu.local_ptr(part))
    y_desc.store([row, 0], given)


def hand(x, y):
    assert x.dtype == torch.float32 and y.dtype == torch.float32
    mesh = tle.device_mesh({"block_cluster": [("cluster_x", 4)]})
    x_desc = TensorDescriptor.from_tensor(x, [64, 64])
    y_desc = TensorDescriptor.from_tensor(y, [64, 64])
    kernel[(triton.cdiv(x.shape[0], 256) * 4,)](x_desc, y_desc, mesh, num_warps=4)
    return y
