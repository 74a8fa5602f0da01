"""cuBLASLt through ctypes: every algorithm that its heuristic names for C[M,N] = A[M,K] * B[N,K]^T in
bf16, sums in f32, each ready to be launched on torch tensors.

Row-major C is column-major C^T = B * A^T, so cuBLASLt is asked for an N x M product whose first operand
is B, transposed. Values of enumerations are those of cublasLt.h, cublas_api.h and library_types.h."""

import ctypes

import torch

R_16BF, R_32F, COMPUTE_32F, OP_T = 14, 0, 68, 1
DESC_TRANSA, PREF_WORKSPACE = 3, 1
WORKSPACE = 64 << 20


class Algo(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64 * 8)]


class Heuristic(ctypes.Structure):
    _fields_ = [("algo", Algo), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class CublasLt:
    def __init__(self):
        self.lib = None
        for name in ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"):
            try:  # torch has loaded one: the same is found by its name
                self.lib = ctypes.CDLL(name)
                break
            except OSError:
                continue
        if self.lib is None:
            raise OSError("no libcublasLt")
        self.lib.cublasLtGetVersion.restype = ctypes.c_size_t
        self.version = self.lib.cublasLtGetVersion()
        self.handle = self.made("cublasLtCreate")
        self.workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")
        self.one, self.zero = ctypes.c_float(1.0), ctypes.c_float(0.0)

    def call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            raise RuntimeError("%s: status %d" % (name, code))

    def made(self, name, *args):
        out = ctypes.c_void_p()
        self.call(name, ctypes.byref(out), *args)
        return out

    def layout(self, rows, cols, leading):
        return self.made("cublasLtMatrixLayoutCreate", ctypes.c_int(R_16BF), ctypes.c_uint64(rows),
                         ctypes.c_uint64(cols), ctypes.c_int64(leading))

    def algorithms(self, m, n, k, count=32):
        """What the heuristic names, best first by its own opinion: a plan and a list of Heuristic."""
        desc = self.made("cublasLtMatmulDescCreate", ctypes.c_int(COMPUTE_32F), ctypes.c_int(R_32F))
        transposed = ctypes.c_int32(OP_T)
        self.call("cublasLtMatmulDescSetAttribute", desc, ctypes.c_int(DESC_TRANSA), ctypes.byref(transposed),
                  ctypes.c_size_t(4))
        plan = (desc, self.layout(k, n, k), self.layout(k, m, k), self.layout(n, m, n))
        preference = self.made("cublasLtMatmulPreferenceCreate")
        size = ctypes.c_uint64(WORKSPACE)
        self.call("cublasLtMatmulPreferenceSetAttribute", preference, ctypes.c_int(PREF_WORKSPACE),
                  ctypes.byref(size), ctypes.c_size_t(8))
        found, results = ctypes.c_int(0), (Heuristic * count)()
        self.call("cublasLtMatmulAlgoGetHeuristic", self.handle, plan[0], plan[1], plan[2], plan[3], plan[3],
                  preference, ctypes.c_int(count), results, ctypes.byref(found))
        self.call("cublasLtMatmulPreferenceDestroy", preference)
        return plan, [r for r in results[:found.value] if r.state == 0]

    def prepare(self, plan, heuristic, a, b, c):
        """A function without arguments that launches it once on the current stream."""
        desc, first, second, out = plan

        def run(keep=(heuristic, a, b, c)):
            self.call("cublasLtMatmul", self.handle, desc, ctypes.byref(self.one), pointer(b), first, pointer(a),
                      second, ctypes.byref(self.zero), pointer(c), out, pointer(c), out,
                      ctypes.byref(heuristic.algo), pointer(self.workspace),
                      ctypes.c_size_t(heuristic.workspace),
                      ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

        return run
