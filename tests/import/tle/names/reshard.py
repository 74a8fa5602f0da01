# 64 x 64 elements per program, parts of a sum over the four programs of a cluster: all have the sum.
import torch
import triton
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def kernel(x_desc, y_desc, mesh: tl.constexpr):
    row = tl.program_id(0) * 64
    own = x_desc.load([row, 0])
    part = tle.make_sharded_tensor(own, tle.sharding(mesh, partial=["cluster_x"]))
    total = tle.reshard(part, tle.sharding(mesh))
    y_desc.store([row, 0], total.handle)


def reduce(x, y):
    assert x.dtype == torch.float32 and y.dtype == torch.float32
    mesh = tle.device_mesh({"block_cluster": [("cluster_x", 4)]})
    x_desc = TensorDescriptor.from_tensor(x, [64, 64])
    y_desc = TensorDescriptor.from_tensor(y, [64, 64])
    kernel[(triton.cdiv(x.shape[0], 256) * 4,)](x_desc, y_desc, mesh, num_warps=4)
    return y
