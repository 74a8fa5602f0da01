#!/usr/bin/env python3
"""Phases and slots in every way people count them: phases.py WARPSTAVE [N] [SEED] [-v]

Draws ring kernels of Gluon (a loader, a reader, tiles, a slot, a parity), each written by putting
together how the slot is counted, how the parity is, what happens at the head and at the end of a
tile and around them. What is true of each is found by running its text as the Python it is, with
barriers that are played out in every order (integers divide as compiled ones do), for few tiles and
rounds; nothing of the import or of the check takes part. A kernel that is proved though some order
goes wrong, or refuted though none does, is printed, and the exit status is 1."""
import random, subprocess, sys, tempfile, os, re

HEAD = """import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, fence_async_shared


@gluon.jit
def step(i, ph, N: gl.constexpr):
    i += 1
    if i == N:
        i = 0
        ph ^= 1
    return i, ph


@gluon.jit
def slot_of(count, N: gl.constexpr):
    return count % N


@gluon.jit
def await_turn(bars, count, turn, N: gl.constexpr):
    mbarrier.wait(bars.index(count % N), (count // N + turn) % 2)


"""
PART = """@gluon.jit
def {name}(x_desc, y_desc, kt, n_tiles, ring, out, full, empty, N: gl.constexpr, L: gl.constexpr):
{init}
    for tile in range(gl.program_id(0), n_tiles, gl.num_programs(0)):
{head}
        for k in {loop}:
{before}
{body}
{after}
{tail}
{end}

"""
LOAD = """            {wait}
            mbarrier.expect(full.index({slot}), x_desc.block_type.nbytes)
            tma.async_copy_global_to_shared(x_desc, [tile * 64, k * 64], full.index({slot}), ring.index({slot}))"""
READ = """            {wait}
            value = ring.index({slot}).load(L)
            mbarrier.arrive(empty.index({slot}), count=1)"""
KERNEL = """@gluon.jit
def kernel(x_desc, y_desc, kt, n_tiles, N: gl.constexpr, L: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float16, [N, 64, 64], x_desc.layout)
    out = gl.allocate_shared_memory(gl.float16, [64, 64], y_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(N):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize([
        (take, (x_desc, y_desc, kt, n_tiles, ring, out, full, empty, N, L)),
        (bring, (x_desc, y_desc, kt, n_tiles, ring, out, full, empty, N, L)),
    ], [1], [24])


def run(x, y, kt, n_tiles):
    assert kt >= {least}
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    x_desc = TensorDescriptor.from_tensor(x, [64, 64], layout)
    y_desc = TensorDescriptor.from_tensor(y, [64, 64], layout)
    kernel[(8,)](x_desc, y_desc, kt, n_tiles, {n}, gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]), num_warps=4)
"""

# --- ways to count: init, head of a tile, before, slot, parity less the role's turn, after, tail --
# T stands for the parity that the first wait of the role tests.
WAYS = {
    "modulo": ("c = 0", "", "", "c % N", "(c // N + T) % 2", "c += 1", ""),
    "bits": ("c = 0", "", "", "c % N", "(c // N & 1) ^ T", "c += 1", ""),
    "not-reduced": ("c = 0", "", "", "c % N", "c // N + T", "c += 1", ""),
    "wrap": ("i = 0\nph = T", "", "", "i", "ph", "i += 1\nif i == N:\n    i = 0\n    ph ^= 1", ""),
    "wrap-where": ("i = 0\nph = T", "", "", "i", "ph", "n = i + 1\nph = gl.where(n == N, ph ^ 1, ph)\ni = gl.where(n == N, 0, n)", ""),
    "wrap-late": ("i = 0\nph = T", "", "", "i", "ph", "i = (i + 1) % N\nif i == 0:\n    ph = 1 - ph", ""),
    "wrap-first": ("i = N - 1\nph = T ^ 1", "", "i += 1\nif i == N:\n    i = 0\n    ph ^= 1", "i", "ph", "", ""),
    "wrap-at-one": ("i = 0\nph = T", "", "", "i", "ph", "i = (i + 1) % N\nif i == 1:\n    ph ^= 1", ""),
    "wrap-never": ("i = 0\nph = T", "", "", "i", "ph", "i = (i + 1) % N", ""),
    "each-round": ("i = 0\nph = T", "", "", "i", "ph", "i = (i + 1) % N\nph ^= 1", ""),
    "helper": ("i = 0\nph = T", "", "", "i", "ph", "i, ph = step(i, ph, N)", ""),
    "slot-helper": ("c = 0", "", "", "slot_of(c, N)", "(c // N + T) % 2", "c += 1", ""),
    "wait-helper": ("c = 0", "", "", "c % N", None, "c += 1", ""),
    "minus-one": ("i = -1\nph = T", "", "i += 1\nif i == N:\n    i = 0\n    ph ^= 1", "i", "ph", "", ""),
    "minus-n": ("c = -N", "", "", "(c + N) % N", "((c + N) // N + T) % 2", "c += 1", ""),
    "below": ("c = -1", "", "c += 1", "c % N", "(c // N + T) % 2", "", ""),
    "wrapped-counter": ("c = 0", "", "", "c % N", "(c // N + T) % 2", "c = (c + 1) % (2 * N)", ""),
    "counter-wraps-wrong": ("c = 0", "", "", "c % N", "(c // N + T) % 2", "c = (c + 1) % N", ""),
    "base": ("z = 0", "", "", "(z + k) % N", "((z + k) // N + T) % 2", "", "z += kt"),
    "base-of-count": ("c = 0", "z = c", "", "(z + k) % N", "((z + k) // N + T) % 2", "c += 1", ""),
    "base-alone": ("c = 0", "z = c", "", "z % N", "(z // N + T) % 2", "c += 1", ""),
    "tile-times": ("t = 0", "", "", "(t * kt + k) % N", "((t * kt + k) // N + T) % 2", "", "t += 1"),
    "k-alone": ("", "", "", "k % N", "(k // N + T) % 2", "", ""),
    "split": ("c = 0\nph = T", "", "", "c % N", "ph", "c += 1\nif c % N == 0:\n    ph ^= 1", ""),
    "flip-by-count": ("c = 0", "", "", "c % N", "T ^ (c // N % 2)", "c += 1", ""),
    "two-behind": ("i = 0\nc = 0", "", "", "i", "(c // N + T) % 2", "i = (i + 1) % N\nc += 1", ""),
    "two-apart": ("i = 0\nc = 0", "", "", "i", "(c // N + T) % 2", "i = (i + 1) % N\nc += 2", ""),
    "select-turn": ("i = 0\nturn = 0", "", "", "i", "(turn + T) % 2", "i += 1\nif i >= N:\n    i -= N\n    turn += 1", ""),
    "turn-compare": ("i = 0\nb = T == 1", "", "", "i", "b", "i += 1\nif i == N:\n    i = 0\n    b = b == 0", ""),
}
# What is planted at the ends of a tile, or of a round: most of it breaks something.
EXTRA = {
    "": ("", "", ""), "ph-at-head": ("ph = T", "", ""), "ph-at-tail": ("", "", "ph = T"),
    "c-at-head": ("c = 0", "", ""), "i-at-head": ("i = 0", "", ""),
    "both-at-head": ("i = 0\nph = T", "", ""), "flip-at-tail": ("", "", "ph ^= 1"),
    "twice-at-tail": ("", "", "ph ^= 1\nph ^= 1"), "nothing": ("q = 0", "q += 1", "q = 1"),
    "ph-in-branch": ("", "if k == 0:\n    ph = T", ""), "ph-if-odd": ("", "", "if kt % 2 == 1:\n    ph = T"),
    "restart": ("", "", "if kt % N == 0:\n    i = 0\n    ph = ph"), "c-plus-n": ("", "", "c += 2 * N"),
    "c-plus-one": ("", "", "c += 1"), "c-again": ("", "", "c = c % (2 * N)"),
    "z-at-head": ("z = 0", "", ""), "copy": ("w = ph", "", "ph = w"),
}
LOOPS = {"range(kt)": 1, "range(0, kt, 1)": 1, "range(1, kt + 1)": 0, "gl.static_range(3)": 0, "range(5)": 0, "WHILE": 0}


def indent(text, n):
    return "\n".join(" " * n + line for line in text.split("\n")) if text else ""


def part(rng, role, way, extra, loop, outer):
    turn = "1" if role == "bring" else "0"
    init, head, before, slot, parity, after, tail = WAYS[way]
    h, b, t = EXTRA[extra]
    if parity is None:
        wait = "await_turn(%s, c, T, N)" % ("empty" if role == "bring" else "full")
    else:
        wait = "mbarrier.wait(%s.index(%s), %s)" % ("empty" if role == "bring" else "full", slot, parity)
    body = (LOAD if role == "bring" else READ).format(wait=wait, slot=slot)
    kept = [x for x in (init,) if x]
    text = PART.format(name=role, init=indent("\n".join(kept) or "pass", 4), loop=loop,
                       head=indent("\n".join(x for x in (head, h) if x), 8),
                       before=indent("\n".join(x for x in (before, b) if x), 12), body=body,
                       after=indent(after, 12), tail=indent("\n".join(x for x in (tail, t) if x), 8), end="")
    if loop == "WHILE":
        text = text.replace("        for k in WHILE:", "        k = 0\n        while k < kt:")
        text = text.rstrip("\n").replace("\n\n\n\n", "\n\n")
        lines = text.split("\n")
        text = "\n".join(lines)
        at = text.index("        while k < kt:")
        body_end = at
        out, inside, done = [], False, False
        for line in lines:
            if inside and line.strip() and not line.startswith(" " * 12) and not done:
                out.append(" " * 12 + "k += 1")
                done = True
            out.append(line)
            inside = inside or line.startswith("        while k < kt:")
        if not done:
            while out and not out[-1].strip():
                out.pop()
            out.append(" " * 12 + "k += 1")
        text = "\n".join(out) + "\n\n\n"
    text = re.sub(r"\bT\b", turn, text)
    return re.sub(r"\n\s*\n(?=\s)", "\n", re.sub(r"\n[ ]*\n+(?=    )", "\n", text))


# --- running a partition: its barriers write down what it does --------------------------------------
class Int(int):
    """Divides as compiled code does."""
    def _cut(a, b):
        q = abs(int(a)) // abs(int(b))
        return q if (a < 0) == (b < 0) else -q
    def __floordiv__(self, o): return Int(Int._cut(self, o))
    def __mod__(self, o): return Int(int(self) - Int._cut(self, o) * int(o))
    def __rfloordiv__(self, o): return Int(o) // self
    def __rmod__(self, o): return Int(o) % self
for op in ("add", "sub", "mul", "and", "xor", "or", "radd", "rsub", "rmul", "rand", "rxor", "ror"):
    def make(name):
        base = getattr(int, name)
        def f(self, o):
            r = base(self, int(o))
            return r if r is NotImplemented else Int(r)
        return f
    setattr(Int, "__%s__" % op, make("__%s__" % op))


class Wrong(Exception):
    pass


class Ring:
    def __init__(self, name, n): self.name, self.n = name, n
    def index(self, i):
        if not 0 <= i < self.n: raise Wrong("slot")
        return (self.name, int(i))


class Slot:
    pass


def trace_of(source, name, kt, tiles, n):
    events = []
    class Buffer(Ring):
        def index(self, i):
            s = Ring.index(self, i)
            v = Slot(); v.at = s
            v.load = lambda L: events.append(("read", s[1]))
            return v
    class mbarrier:
        @staticmethod
        def wait(bar, parity):
            if int(parity) not in (0, 1): raise Wrong("parity")
            events.append(("wait", bar, int(parity)))
        @staticmethod
        def expect(bar, nbytes): events.append(("expect", bar))
        @staticmethod
        def arrive(bar, count): events.append(("arrive", bar))
    class tma:
        @staticmethod
        def async_copy_global_to_shared(desc, at, bar, buffer): events.append(("copy", bar, buffer.at[1]))
    class gl:
        constexpr = None
        program_id = staticmethod(lambda i: Int(0))
        num_programs = staticmethod(lambda i: Int(1))
        where = staticmethod(lambda c, a, b: a if c else b)
        static_range = staticmethod(lambda *a: map(Int, range(*map(int, a))))
    class Desc:
        class block_type: nbytes = 1
    class gluon:
        jit = staticmethod(lambda f: f)
    space = {"gl": gl, "gluon": gluon, "mbarrier": mbarrier, "tma": tma,
             "range": lambda *a: map(Int, range(*map(int, a)))}
    code = source[source.index("@gluon.jit"):source.index("@gluon.jit\ndef kernel")]
    # literals divide as compiled ones do, too
    code = re.sub(r"(?<![\w.\[])(\d+)(?![\w.\]])", r"Int(\1)", code)
    space["Int"] = Int
    exec(code, space)
    space[name](Desc, Desc, Int(kt), Int(tiles), Buffer("ring", n), None, Ring("full", n), Ring("empty", n), Int(n), None)
    return events


def goes_wrong(source, kt, tiles, n):
    """What can go wrong in some order; None: nothing."""
    try:
        traces = [trace_of(source, who, kt, tiles, n) for who in ("bring", "take")]
    except Wrong as e:
        return str(e)
    # state: positions, per full/empty slot (completions, expected pending), slots' content
    start = ((0, 0), tuple([0] * n), tuple([0] * n), tuple(["none"] * n), ())
    seen, todo = {start}, [start]
    while todo:
        (pos, fulls, empties, slots, flying) = todo.pop()
        moves = []
        for f in range(len(flying)):  # a copy lands
            bar, slot = flying[f]
            nf, ns = list(fulls), list(slots)
            nf[bar] += 1
            ns[slot] = "there"
            moves.append((pos, tuple(nf), empties, tuple(ns), flying[:f] + flying[f + 1:]))
        for w in (0, 1):
            if pos[w] == len(traces[w]):
                continue
            e = traces[w][pos[w]]
            np_ = (pos[0] + (w == 0), pos[1] + (w == 1))
            if e[0] == "wait":
                (kind, i), parity = e[1], e[2]
                done = (fulls if kind == "full" else empties)[i]
                if done % 2 == parity:  # the running phase has this parity: blocks
                    continue
                moves.append((np_, fulls, empties, slots, flying))
            elif e[0] == "expect":
                if any(b == e[1][1] for b, _ in flying): return "a second arrival in a phase"
                moves.append((np_, fulls, empties, slots, flying))
            elif e[0] == "copy":
                if any(b == e[1][1] for b, _ in flying): return "a second arrival in a phase"
                if slots[e[2]] == "there" : return "overwritten before it was read"
                if slots[e[2]] == "flying" or slots[e[2]] == "unreleased": return "overwritten"
                ns = list(slots); ns[e[2]] = "flying"
                moves.append((np_, fulls, empties, tuple(ns), flying + ((e[1][1], e[2]),)))
            elif e[0] == "read":
                if slots[e[1]] != "there": return "read of " + slots[e[1]]
                ns = list(slots); ns[e[1]] = "unreleased"
                moves.append((np_, fulls, empties, tuple(ns), flying))
            elif e[0] == "arrive":
                ne = list(empties); ne[e[1][1]] += 1
                ns = list(slots)
                if ns[e[1][1]] == "unreleased": ns[e[1][1]] = "free"
                moves.append((np_, fulls, tuple(ne), tuple(ns), flying))
        if not moves and (pos[0] < len(traces[0]) or pos[1] < len(traces[1])):
            return "hang"
        for m in moves:
            if m not in seen:
                if len(seen) > 60000: return None
                seen.add(m); todo.append(m)
    return None


def truth(source, least, n):
    for tiles in (1, 2, 3, 5):
        for kt in range(least, 2 * n + 3):
            if tiles * kt > 24 and kt > n + 1: continue
            wrong = goes_wrong(source, kt, tiles, n)
            if wrong: return "%s with %d tiles, kt %d" % (wrong, tiles, kt)
    return None


def verdict(binary, source):
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as f:
        f.write(source)
    r = subprocess.run([binary, "check", "--from", "gluon", f.name], capture_output=True, text=True)
    os.unlink(f.name)
    last = (r.stdout.strip() or r.stderr.strip()).split("\n")[-1]
    found = re.search(r"\b(proved|refuted|outside)\b", last)
    return found.group(1) if found else "none", last


def names_in(way):
    return set(re.findall(r"\b[a-z]+\b", " ".join(x or "" for x in WAYS[way])))


def draw(rng):
    n, least = rng.choice((2, 3, 4)), rng.choice((0, 1))
    loop = rng.choice(list(LOOPS)) if rng.random() < 0.3 else "range(kt)"
    parts, title = [], []
    straight = rng.random() < 0.5
    for role in ("bring", "take"):
        way = rng.choice(list(WAYS)) if role == "bring" or not straight else "modulo"
        extra = ""
        if rng.random() < 0.45:
            fits = [e for e in EXTRA if e and (set(re.findall(r"\b(?:i|ph|c|z)\b", " ".join(EXTRA[e]))) <= names_in(way))]
            extra = rng.choice(fits) if fits else ""
        parts.append(part(rng, role, way, extra, loop, 0))
        title.append("%s+%s" % (way, extra) if extra else way)
    source = HEAD + "".join(parts) + KERNEL.format(n=n, least=least)
    return " / ".join(title) + " in %s, %d slots" % (loop, n), source, least, n


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    binary, count, seed = args[0], int(args[1]) if len(args) > 1 else 200, int(args[2]) if len(args) > 2 else 1
    table, bad, why = {}, 0, {}
    for i in range(count):
        rng = random.Random(seed * 1000003 + i)
        title, source, least, n = draw(rng)
        wrong = truth(source, least, n)
        says, last = verdict(binary, source)
        key = ("broken" if wrong else "right", says)
        table[key] = table.get(key, 0) + 1
        if says in ("outside", "none"):
            m = re.search(r"line \d+: (.*)", last)
            reason = (m.group(1) if m else last)[:70]
            why[(key[0], reason)] = why.get((key[0], reason), 0) + 1
        false = key in (("broken", "proved"), ("right", "refuted"))
        bad += false
        if false or "-v" in sys.argv:
            print("%s %s: %s (%s)" % ("FALSE" if false else "     ", says, title, wrong or "right"), flush=True)
            if false:
                path = "/tmp/phases-%d-%d.py" % (seed, i)
                open(path, "w").write(source)
                print("      " + path)
    for key in sorted(table):
        print("%-7s %-8s %5d" % (key + (table[key],)))
    for (kind, reason), k in sorted(why.items(), key=lambda x: -x[1])[:12]:
        print("%5d %s %s" % (k, kind, reason))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
