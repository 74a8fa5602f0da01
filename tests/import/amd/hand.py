# A product as people write it: slots of the rings are constants, rounds of them written out in a
# loop, offsets that grow, rows of a warp apart, helpers that load and read.
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

unit = gl.amd.cdna4
straight = unit.async_copy


@gluon.jit
def fetch(left, right, slot: gl.constexpr, x_ptr, y_ptr, x_at, y_at):
    straight.buffer_load_to_shared(left.index(slot), x_ptr, x_at)
    straight.buffer_load_to_shared(right.index(slot), y_ptr, y_at)
    straight.commit_group()


@gluon.jit
def taken(left, right, slot: gl.constexpr, for_x: gl.constexpr, for_y: gl.constexpr):
    x = straight.load_shared_relaxed(left.index(slot), for_x)
    y = straight.load_shared_relaxed(right.index(slot), for_y)
    return x, y


@gluon.jit
def product(x_ptr, y_ptr, z_ptr, x_step, y_step, z_step, ROUNDS: gl.constexpr, RING: gl.constexpr):
    sums: gl.constexpr = gl.amd.AMDMFMALayout(version=4, instr_shape=[16, 16, 32], transposed=True,
                                              warps_per_cta=[2, 4])
    for_x: gl.constexpr = gl.DotOperandLayout(0, sums, k_width=8)
    for_y: gl.constexpr = gl.DotOperandLayout(1, sums, k_width=8)
    rows_of_x: gl.constexpr = gl.DistributedLinearLayout(
        reg_bases=[[0, 1], [0, 2], [0, 4], [64, 0]],
        lane_bases=[[0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0]],
        warp_bases=[[8, 0], [32, 0], [16, 0]], block_bases=[], shape=[128, 64])
    rows_of_y: gl.constexpr = gl.BlockedLayout([1, 8], [4, 16], [8, 1], [1, 0])
    plain: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, order=[1, 0])
    left = gl.allocate_shared_memory(gl.bfloat16, [RING, 128, 64], plain)
    right = gl.allocate_shared_memory(gl.bfloat16, [RING, 64, 128], plain)
    x_at = (gl.program_id(0) * 128 + gl.arange(0, 128, gl.SliceLayout(1, rows_of_x)))[:, None] \
        * x_step + gl.arange(0, 64, gl.SliceLayout(0, rows_of_x))[None, :]
    y_at = gl.arange(0, 64, gl.SliceLayout(1, rows_of_y))[:, None] * y_step \
        + (gl.program_id(1) * 128 + gl.arange(0, 128, gl.SliceLayout(0, rows_of_y)))[None, :]
    for slot in gl.static_range(RING):
        fetch(left, right, slot, x_ptr, y_ptr, x_at, y_at)
        x_at += 64
        y_at += 64 * y_step
    z = gl.zeros([128, 128], gl.float32, sums)
    straight.wait_group(RING - 1)
    x, y = taken(left, right, 0, for_x, for_y)
    for _ in range(ROUNDS):
        for slot in gl.static_range(RING):
            straight.wait_group(RING - 2)
            with gl.amd.warp_pipeline_stage("sum", priority=0):
                z = unit.mfma(x, y, z)
            with gl.amd.warp_pipeline_stage("move", priority=1):
                x, y = taken(left, right, (slot + 1) % RING, for_x, for_y)
                fetch(left, right, slot, x_ptr, y_ptr, x_at, y_at)
                x_at += 64
                y_at += 64 * y_step
    straight.wait_group(0)
    for slot in gl.static_range(1, RING):
        z = unit.mfma(x, y, z)
        x, y = taken(left, right, slot, for_x, for_y)
    z = unit.mfma(x, y, z)
    row = gl.program_id(0) * 128 + gl.arange(0, 128, gl.SliceLayout(1, sums))
    col = gl.program_id(1) * 128 + gl.arange(0, 128, gl.SliceLayout(0, sums))
    unit.buffer_store(z, z_ptr, row[:, None] * z_step + col[None, :])


def launch(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor):
    product[(x.shape[0] // 128, y.shape[1] // 128)](
        x, y, z, x.stride(0), y.stride(0), z.stride(0), ROUNDS=20, RING=3, num_warps=8)
