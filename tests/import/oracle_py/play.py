"""Launches of a file, played: `play.py LANGUAGE FILE... [-v]` says what goes wrong, with the launch and the
schedule. Launches are made by the host's functions of the file, with tensors of small sizes."""
import ast
import itertools
import random
import sys
import transform
from host import DTYPE, Host, Tensor, TensorDescriptor
from machine import Broken, Machine
from transform import Jit, is_jit
from values import NotCompiled, NotModelled, Said
import words

SIZES = {"M": (64, 128, 192, 256, 384, 500), "N": (64, 128, 192, 256, 384, 500),
         "K": (16, 64, 65, 128, 192, 256, 320, 384, 448, 576, 640, 768), "B": (1, 1, 2), "HQ": (1, 2, 4),
         "HKV": (1, 2), "SQ": (1, 64, 128, 130, 256, 384), "SK": (1, 64, 128, 130, 256, 384, 512, 640),
         "N_CTX": (1, 64, 128, 130, 256, 384, 512, 640), "Z": (1, 2), "S": (64, 128, 256, 384), "D": (64, 128),
         "SKV": (64, 200), "H": (1, 2), "TOPK": (64, 128, 256, 320, 512), "points": (4,)}
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12)
TILES = (1, 2, 3, 5, 8, 9, 17, 20, 26, 133, 265, 400)  # several for each CTA of the grids that files have
SCHEDULES = [("early", 0), ("late", 0)] + [(k, s) for s in range(3) for k in ("order-late", "order-early")] + \
    [("random", s) for s in range(4)]


def language(which, sms=2):
    if which == "gluon":
        import gluon
        return gluon.modules(sms), transform.Compiled
    if which == "tle":
        import tle
        return tle.modules(sms), transform.Compiled
    import tlx
    return tlx.modules(sms), tlx.Compiled


class File:
    def __init__(self, text, which, sms=2):
        self.which, self.tree = which, ast.parse(text)
        modules, compiler = language(which, sms)
        self.host = Host()
        # numbers that a kernel compares with are tried as sizes, too; narrow integers wrap late
        self.far = sorted({n.value + d for c in ast.walk(self.tree) if isinstance(c, ast.Compare) for n in ast.walk(c)
                           if isinstance(n, ast.Constant) and type(n.value) is int and 12 < n.value < 200
                           for d in (0, 1)}) if "check(" not in text else []
        self.far += [200] if "int8" in text else []
        self.dtype = DTYPE["bfloat16" if "bfloat16" in text else "float16"]
        self.names = transform.load(text, modules, compiler=compiler)
        kernels = {n for n, v in self.names.items() if isinstance(v, Jit)}
        self.starts = []
        for f in self.tree.body:
            if isinstance(f, ast.FunctionDef) and not any(is_jit(d) for d in f.decorator_list):
                made = {n.func.value.id for n in ast.walk(f) if isinstance(n, ast.Call) and
                        isinstance(n.func, ast.Subscript) and isinstance(n.func.value, ast.Name)}
                if made & kernels:
                    self.starts.append(f)

    def tensors(self, f):
        found = set()
        params = {a.arg for a in f.args.args}
        for n in ast.walk(f):
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and \
                    n.attr in ("shape", "stride", "dtype", "device", "numel", "size"):
                found.add(n.value.id)
            if isinstance(n, ast.Call) and "TensorDescriptor" in ast.unparse(n.func) and n.args and \
                    isinstance(n.args[0], ast.Name):
                found.add(n.args[0].id)
        return found & params

    def launches(self, rng, fixed):
        """Launches of one set of sizes; `fixed` (names) keep their defaults."""
        self.host.launches = []
        Jit.host = self.host
        check = self.names.get("check")
        for f in self.starts:
            if check and f.name == "launch":
                code = check.__code__
                words_ = code.co_varnames[:code.co_argcount]
                sizes = {n: rng.choice(SIZES[n]) for n in words_ if n in SIZES}
                if "TOPK" in sizes:
                    sizes["H"] = rng.choice((64, 128))
                if "HKV" in sizes:
                    sizes["HKV"] = rng.choice([n for n in (1, 2, 4) if sizes["HQ"] % n == 0])
                yield from self.started(check, (), sizes, sizes)
                continue
            params = f.args.args
            defaults = dict(zip([a.arg for a in params[len(params) - len(f.args.defaults):]], f.args.defaults))
            many = rng.choice(self.far) if self.far and rng.random() < 0.3 else 0
            tensors, sizes = self.tensors(f), {n: rng.choice(SIZES[n]) for n in "MNK"}
            if rng.random() < 0.7:
                sizes.update(M=rng.choice((256, 512, 768)), N=256)
            args, varied = {}, {}
            for a in params:
                if a.arg in tensors:
                    continue
                if a.arg in defaults:
                    d = defaults[a.arg]
                    if a.arg not in fixed and isinstance(d, ast.Constant) and type(d.value) is int:
                        args[a.arg] = varied[a.arg] = rng.choice((d.value, d.value + 1, 0, 1, 2, 3, 5, 8))
                    continue
                args[a.arg] = varied[a.arg] = sizes[a.arg] if a.arg in sizes else \
                    rng.choice(TILES if "tile" in a.arg else NUMBERS)
                if many and a.arg in ("kt", "K", "N"):
                    args[a.arg] = varied[a.arg] = many
            for turned in (False, True, None):
                self.host.launches = []
                shapes = {n: self.shape(n, sizes, turned) for n in tensors}
                if list(self.started(self.names[f.name], (), {**args, **{n: Tensor(s, self.dtype)
                                                                          for n, s in shapes.items()}}, None)):
                    yield from ((launch, {**varied, **shapes}) for launch in self.host.launches)
                    break

    def shape(self, name, sizes, turned):
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        low = name.lower()
        if turned is None:
            return (M * K,)
        if low.startswith("b"):
            return (K, N) if turned else (N, K)
        if low.startswith(("c", "o")):
            return (M, N)
        return (M, K)

    def started(self, f, args, kw, sizes):
        try:
            f(*args, **kw)
        except (Exception, SystemExit) as e:  # whatever the host does behind its launch is not looked at
            self.why = repr(e)
        for launch in self.host.launches:
            yield launch, sizes


def once(launch, schedule, program, data=0):
    """Plays one CTA; returns None or what went wrong."""
    x, y, z = launch.grid
    at = (program % x, program // x % y, program // (x * y))
    m = Machine(schedule, at, launch.grid, data)
    words.now.machine, words.now.warps = m, int(launch.options.get("num_warps", 4))
    try:
        bound = launch.bound()
        m.run("kernel", words.now.warps, launch.kernel.go(bound.args, bound.kwargs))
    except Said as e:
        return e
    except RecursionError:
        return NotCompiled("recursion")
    except (TypeError, AttributeError, NameError, UnboundLocalError, IndexError, KeyError, ValueError) as e:
        return NotCompiled(f"{type(e).__name__}: {e}")
    return None


class Verdict:
    """right, wrong (with a story), unknown (with reasons)."""

    def __init__(self):
        self.played, self.wrong, self.unknown = 0, {}, {}
        self.some = 0

    def say(self):
        if self.wrong:
            return "; ".join(f"{k}: {v}" for k, v in self.wrong.items())
        return f"right in {self.played} plays" + (f", unknown: {list(self.unknown.items())[:2]}"
                                                  if self.unknown else "")


def judge(text, which, seed=0, rounds=12, schedules=SCHEDULES, plays=4, fixed=(), stop=True, sms=(2, 3), skip=("divided",)):
    """Plays `rounds` sets of sizes with all `schedules`."""
    v, rng = Verdict(), random.Random(seed)
    try:
        files = [File(text, which, n) for n in sms]
    except Said as e:
        v.unknown[e.kind] = str(e)
        return v
    except Exception as e:
        v.unknown["no file"] = repr(e)
        return v
    for i in range(rounds):
        file = files[i % len(files)]
        Tensor.count = 0
        for launch, sizes in list(file.launches(rng, fixed)):
            total = launch.grid[0] * launch.grid[1] * launch.grid[2]
            if total < 1:
                continue
            for program in sorted({0, total - 1}) if total <= 1 << 16 else [0]:
                for schedule in rng.sample(schedules, min(plays, len(schedules))):
                    said = once(launch, schedule, program, seed + i)
                    if said is None:
                        v.played += 1
                        continue
                    story = f"{said} ({launch.kernel.__name__}, {sizes}, grid {launch.grid}, CTA {program}, {schedule})"
                    if isinstance(said, Broken) or said.kind == "wrong":
                        v.wrong.setdefault(said.kind, story)
                        if stop and said.kind != "wrong":
                            return v
                    else:
                        v.unknown.setdefault(f"{said.kind}: {said}", story)
                    if not isinstance(said, Broken):
                        break  # as good with every schedule
    if not v.played and not v.wrong and not v.unknown:
        v.unknown["no launch"] = getattr(files[0], "why", "?")
    return v


class All:
    def __contains__(self, name):
        return True


ALL = All()


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("-")]
    for path in args[1:]:
        v = judge(open(path).read(), args[0], stop="-v" not in sys.argv, fixed=ALL)
        print(f"{path.split('/')[-1]}: {v.say()}", flush=True)


if __name__ == "__main__":
    main()
