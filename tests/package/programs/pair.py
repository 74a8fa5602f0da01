"""A package of a forward design and its gradient (attention-d128 with its two launches), on the stand-in of torch: each launch is written
down where the driver would be called. Usage: pair.py FOLDER STUB, FOLDER/pair being the package; prints "right".
"""
import sys
import types

sys.dont_write_bytecode = True
sys.path[:0] = sys.argv[1:]
import torch
from torch import Tensor, state

import pair

B, HQ, HKV, SQ, SK, D = 2, 4, 2, 70, 130, 128
launched = []


def must(holds, what):
    if not holds:
        sys.exit(f"WRONG: {what}")


def refuses(call, kind, *words):
    before = len(launched)
    try:
        call()
    except kind as e:
        must(all(w in str(e) for w in words), f"says {e}; not {words}")
    else:
        sys.exit(f"WRONG: was not refused: {words}")
    must(len(launched) == before, f"was launched: {words}")


def watch(module):
    def launch(device, tensors, n, scalars, tiles, shapes, strides):
        launched.append((module.__name__, dict(zip([t[0] for t in module._TENSORS], tensors)), list(scalars)))
    module._launch = launch


for module in (pair.pair_forward, pair.pair_backward1, pair.pair_backward2):
    watch(module)


def heads(h, s, address, dtype="bfloat16"):
    return Tensor(B, h, s, D, strides=(s * h * D, D, h * D, 1), address=address, dtype=dtype)


Q, K, V, DO = heads(HQ, SQ, 1 << 14), heads(HKV, SK, 2 << 14), heads(HKV, SK, 3 << 14), heads(HQ, SQ, 4 << 14)
O, LSE = pair.pair(Q, K, V, scale=0.5)
must([x[0] for x in launched] == ["pair.pair_forward"] and launched[0][2] == [0.5], "forward")
must(O.shape == (B, HQ, SQ, D) and LSE.dtype == "float32", "outputs")

# by the operator's own formula, as autograd calls it
backward, keep = state.gradients["warpstave::pair_forward"]
ctx = types.SimpleNamespace(asked=[])
ctx.set_materialize_grads = ctx.asked.append
ctx.save_for_backward = lambda *tensors: setattr(ctx, "saved_tensors", tensors)
keep(ctx, (Q, K, V, None, None, None, None, None, 0.5), (O, LSE))
must(ctx.asked == [False], "gradients that nobody asks for stay None")
launched.clear()
found = backward(ctx, DO, None)
must([x[0] for x in launched] == ["pair.pair_backward1", "pair.pair_backward2"], "the order of the launches")
first, second = launched[0][1], launched[1][1]
must(launched[0][2] == launched[1][2] == [0.5], "the scalar of the call")
must(first["Q"] is Q and first["O"] is O and first["LSE"] is LSE and first["DO"] is DO, "what is there is passed on")
must(second["K"] is K and second["V"] is V and second["DO"] is DO, "to the second launch, too")
must(second["L"] is first["L"] and second["DELTA"] is first["DELTA"], "what the first launch writes")
must(found == (first["DQ"], second["DK"], second["DV"]) + (None,) * 6, "a gradient for each input, None for sizes and scalars")
must(all(g.shape == x.shape and g.stride() == x.stride() and g.dtype == x.dtype for g, x in zip(found, (Q, K, V))), "their shapes")

# gradients as they come
expanded = Tensor(B, HQ, SQ, D, strides=(0, 0, 0, 0), address=9 << 14)
launched.clear()
backward(ctx, expanded, None)
must(launched[0][1]["DO"].copied is expanded and launched[0][1]["DO"].stride() == O.stride(), "strides of 0 are copied")
must(launched[1][1]["DO"] is launched[0][1]["DO"], "once")
negative = heads(HQ, SQ, 10 << 14)
negative.negative = True
launched.clear()
backward(ctx, negative, None)
must(launched[0][1]["DO"].copied is negative, "a negative is worked out")
launched.clear()
backward(ctx, None, None)
must(launched[0][1]["DO"].zeroed, "none is zeros")
refuses(lambda: backward(ctx, DO, LSE), NotImplementedError, "LSE", "detach")
refuses(lambda: backward(ctx, None, LSE), NotImplementedError, "LSE")
refuses(lambda: backward(ctx, heads(HQ, SQ, 5 << 14, "float32"), None), ValueError, "DO", "float32")
refuses(lambda: backward(ctx, heads(HQ, SQ, 0), None), ValueError, "DO", "no memory")
refuses(lambda: pair.pair(Q, K, heads(HKV, SK, 3 << 14, "float16")), ValueError, "V", "float16")

# a gradient of a gradient: the launches have none
backward2 = state.gradients["warpstave::pair_backward1"][0]
refuses(lambda: backward2(ctx, None), NotImplementedError, "pair_backward1", "no backward design")
must(pair.__version__ == pair.pair_forward.__version__ and pair.pair_forward._partial and not pair.pair_backward1._partial, "flags")
print("right")
