"""Changes of what a kernel means: each picks a place in a function under `jit`, or in one that launches,
and gives the changed text. Comments stay, since some of them say what is assumed."""
import ast
import re
import bind
from transform import is_jit


class Text:
    def __init__(self, text):
        self.text, self.tree = text, ast.parse(text)
        self.lines = [0]
        for line in text.split("\n"):
            self.lines.append(self.lines[-1] + len(line.encode()) + 1)
        self.raw = text.encode()
        kernels = [f for f in ast.walk(self.tree) if isinstance(f, ast.FunctionDef) and
                   any(is_jit(d) for d in f.decorator_list)]
        names = {f.name for f in kernels}
        hosts = [f for f in self.tree.body if isinstance(f, ast.FunctionDef) and f not in kernels and any(
            isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in names
            for n in ast.walk(f))]
        self.kernels, self.hosts = kernels, hosts
        self.parents = {c: p for p in ast.walk(self.tree) for c in ast.iter_child_nodes(p)}

    def span(self, node):
        return (self.lines[node.lineno - 1] + node.col_offset, self.lines[node.end_lineno - 1] + node.end_col_offset)

    def source(self, node):
        a, b = self.span(node)
        return self.raw[a:b].decode()

    def put(self, *changes):
        """(node, text) or ((from, to), text): the text with these in place."""
        raw = self.raw
        spans = sorted(((c if isinstance(c, tuple) else self.span(c)), t) for c, t in changes)
        for (a, b), t in reversed(spans):
            raw = raw[:a] + t.encode() + raw[b:]
        return raw.decode()

    def nodes(self, rng, kind, where=lambda n: True):
        where_ = self.kernels if rng.random() < 0.93 or not self.hosts else self.hosts
        found = []
        for f in where_:
            for s in f.body:
                found += [n for n in ast.walk(s) if isinstance(n, kind) and where(n)]
        return rng.choice(found) if found else None

    def function(self, node):
        while node in self.parents and not isinstance(node, ast.FunctionDef):
            node = self.parents[node]
        return node

    def numbers(self, node):
        """Names that look like integers where `node` stands."""
        f, found = self.function(node), set()
        for n in ast.walk(f):
            if isinstance(n, (ast.BinOp, ast.Compare, ast.AugAssign)):
                found |= {m.id for m in ast.walk(n) if isinstance(m, ast.Name)}
            if isinstance(n, ast.For):
                found |= {n.target.id} if isinstance(n.target, ast.Name) else set()
        return sorted(found - {"gl", "tl", "tle", "tlx", "mbarrier", "tma"}) or ["0"]


def statement(t, rng):
    return t.nodes(rng, (ast.Expr, ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While),
                   lambda n: not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)))


def indented(t, node, at=None):
    pad = " " * (node.col_offset if at is None else at)
    return ast.unparse(node).replace("\n", "\n" + pad)


def constant(t, rng):
    n = t.nodes(rng, ast.Constant, lambda n: type(n.value) in (int, bool))
    if n:
        v = n.value
        if type(v) is bool:
            return t.put((n, str(not v)))
        w = rng.choice([v + 1, v - 1, 0, 1, 2, -v, 2 * v, v + 2, v // 2, 3])
        return t.put((n, f"({w})" if w < 0 else str(w))) if w != v else None


def drop(t, rng):
    n = statement(t, rng)
    return n and t.put((n, "pass"))


def double(t, rng):
    n = statement(t, rng)
    return n and t.put((n, t.source(n) + "\n" + " " * n.col_offset + indented(t, n)))


def siblings(t, n):
    p = t.parents[n]
    for field in ("body", "orelse"):
        there = getattr(p, field, None)
        if isinstance(there, list) and n in there:
            return there
    return []


def move(t, rng):
    """To another place of its block, behind its block, or to the head of a loop beside it."""
    n = statement(t, rng)
    if not n:
        return None
    there, p = siblings(t, n), t.parents[n]
    ways = [s for s in there if s is not n][-6:]
    if isinstance(p, (ast.For, ast.If, ast.While)):
        ways.append(p)
    ways += [s.body[0] for s in there if isinstance(s, (ast.For, ast.While)) and s is not n]
    if not ways:
        return None
    to = rng.choice(ways)
    if to in ast.walk(n):
        return None
    pad = " " * to.col_offset
    if to is p or rng.random() < 0.5:
        new = t.source(to) + "\n" + pad + indented(t, n, to.col_offset) if to is not p else None
        if to is p:
            end = t.span(to)[1]
            before = rng.random() < 0.4
            if before:
                at = t.span(to)[0]
                return t.put((n, "pass"), ((at, at), indented(t, n, to.col_offset) + "\n" + pad))
            return t.put((n, "pass"), ((end, end), "\n" + pad + indented(t, n, to.col_offset)))
        return t.put((n, "pass"), (to, new))
    return t.put((n, "pass"), (to, indented(t, n, to.col_offset) + "\n" + pad + t.source(to)))


def compare(t, rng):
    n = t.nodes(rng, ast.Compare, lambda n: len(n.ops) == 1)
    return n and t.put((n, f"{t.source(n.left)} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} "
                           f"{t.source(n.comparators[0])}"))


def operator(t, rng):
    n = t.nodes(rng, ast.BinOp)
    if n:
        a, b = t.source(n.left), t.source(n.right)
        return t.put((n, rng.choice([f"({a})", f"({b})"] + [f"(({a}) {o} ({b}))" for o in
                                                           ("+", "-", "*", "//", "%", "&", "^", "|", ">>")])))


def rename(t, rng):
    n = t.nodes(rng, ast.Name, lambda n: isinstance(n.ctx, ast.Load) and n.id not in ("gl", "tl", "tle", "tlx"))
    if n:
        f = t.function(n)
        pool = t.numbers(n) if rng.random() < 0.6 else \
            sorted({m.id for m in ast.walk(f) if isinstance(m, ast.Name)} | {a.arg for a in f.args.args})
        return t.put((n, rng.choice(pool)))


def integer(t, rng):
    """An index, a phase, a bound: any expression that calculates."""
    return t.nodes(rng, (ast.BinOp, ast.Name), lambda n: isinstance(n, ast.BinOp) or (
        isinstance(n.ctx, ast.Load) and n.id in t.numbers(n)))


def cast(t, rng):
    n = integer(t, rng)
    word = "tl" if "as tl" in t.text else "gl"
    return n and t.put((n, f"({t.source(n)}).to({word}.{rng.choice(['int8', 'int1', 'int16', 'int64', 'uint8'])})"))


def around(t, rng):
    n = integer(t, rng)
    if n:
        s = t.source(n)
        other = rng.choice(t.numbers(n))
        return t.put((n, rng.choice(["(({0}) + 1)", "(({0}) - 1)", "(-({0}))", "(({0}) % 2)", "(({0}) // 2)",
                                     "(1 - ({0}))", "(({0}) ^ 1)", "(({0}) * 2)", "(({0}) + {1})", "(({0}) % {1})",
                                     "min({0}, {1})", "max({0}, {1})", "min({0}, 2)", "max({0}, 1)", "abs({0})",
                                     "(({0}) & 3)", "(~({0}))", "(not ({0}))"]).format(s, other)))



def guarded(t, rng):
    n = statement(t, rng)
    if n:
        names = t.numbers(n)
        test = rng.choice(["{0} > 0", "{0} == 0", "{0} != 1", "{0} < 2", "{0} % 2 == 0", "{0} < {1} - 1", "{0} == {1}",
                           "{0} > {1}", "{0} >= 3", "{0} // 2 < 1"]).format(rng.choice(names), rng.choice(names))
        pad = " " * n.col_offset
        return t.put((n, f"if {test}:\n{pad}    " + indented(t, n, n.col_offset + 4)))


def argument(t, rng):
    n = t.nodes(rng, ast.Call, lambda n: n.args or n.keywords)
    if not n:
        return None
    args = list(n.args)
    if n.keywords and rng.random() < 0.5:
        k = rng.choice(n.keywords)
        if rng.random() < 0.5 and k.arg:
            rest = [t.source(a) for a in args] + [f"{w.arg}={t.source(w.value)}" for w in n.keywords if w is not k]
            return t.put((n, f"{t.source(n.func)}({', '.join(rest)})"))
        return t.put((k.value, rng.choice(["0", "1", "2", "False", "True"])))
    if len(args) > 1:
        a, b = rng.sample(args, 2)
        return t.put((a, t.source(b)), (b, t.source(a)))
    word = ast.unparse(n.func)
    if re.search(r"\.(wait|arrive|expect)$|copy_global_to_shared$", word):
        return t.put((n, f"{t.source(n)[:-1]}, pred={rng.choice(t.numbers(n))} {rng.choice(['> 0', '== 1', '< 2'])})"))


def set_anew(t, rng):
    """A variable is given a value somewhere."""
    n = statement(t, rng)
    if n:
        name, pad = rng.choice(t.numbers(n)), " " * n.col_offset
        new = rng.choice(["{0} = 0", "{0} = 1", "{0} += 1", "{0} -= 1", "{0} ^= 1", "{0} = {0} % 2", "{0} = {1}",
                          "{0} += {1}", "{0} = 1 - {0}"]).format(name, rng.choice(t.numbers(n)))
        if rng.random() < 0.5:
            return t.put((n, new + "\n" + pad + t.source(n)))
        return t.put((n, t.source(n) + "\n" + pad + new))


def rounds(t, rng):
    n = t.nodes(rng, ast.For)
    if n and isinstance(n.iter, ast.Call) and n.iter.args:
        a = [t.source(x) for x in n.iter.args]
        lo, hi, step = (["0"] + a + ["1"])[:3] if len(a) == 1 else (a + ["1"])[:3]
        way = rng.choice([(f"{lo} + 1", hi, step), (lo, f"{hi} + 1", step), (lo, f"{hi} - 1", step),
                          (lo, hi, f"2 * ({step})"), (f"({hi}) - 1", f"({lo}) - 1", "-1"), (lo, "4", step),
                          (lo, f"({hi}) // 2", step), (f"{lo} - 1", hi, step), (lo, f"2 * ({hi})", step)])
        return t.put((n.iter, f"{t.source(n.iter.func)}({', '.join(way)})"))


def turned(t, rng):
    n = t.nodes(rng, ast.If)
    if n:
        return t.put((n.test, rng.choice([f"not ({t.source(n.test)})", "True", "False"])))


MUTATIONS = [constant] * 3 + [drop] * 2 + [double, move, move, compare, operator, operator, rename, rename, cast, around,
                                          around, guarded, guarded, argument, set_anew, set_anew, rounds, turned,
                                          bind.rebind, bind.rebind]


def mutant(text, rng, count):
    """The changed text and what was done, or None."""
    done = []
    for _ in range(count):
        for _ in range(20):
            f = rng.choice(MUTATIONS)
            try:
                new = f(Text(text), rng)
                if new and new != text:
                    ast.parse(new)
                    break
            except (SyntaxError, KeyError, ValueError, AttributeError):
                pass
        else:
            return None
        text = new
        done.append(f.__name__)
    return text, "+".join(done)
