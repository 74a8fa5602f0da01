"""Changes of what a name means: the host, or the module, binds it anew, changes the list that it holds, or patches
a module or a function by one of its names. What is drawn: a way to the object (alias), what is done to it (effect),
and where that stands (around)."""
import ast

# Expressions that are X.
ALIASES = ["{x}", "[{x}][0]", "{{'a': {x}}}['a']", "(lambda: {x})()", "({x} if True else None)", "(None or {x})",
           "next(iter([{x}]))", "(alias_{n} := {x})", "same_{n}({x})", "Held_{n}({x}).a", "getattr(Held_{n}({x}), 'a')",
           "list(zip([{x}]))[0][0]", "dict(a={x})['a']", "[y_{n} for y_{n} in [{x}]][0]", "tuple([{x}])[0]",
           "(lambda z_{n}: z_{n})({x})", "[*[{x}]][0]", "Held_{n}({x}).give()", "Held_{n}({x})[0]", "Held_{n}({x}).asked",
           "[{x}].pop()", "{{'a': {x}}}.get('b', {x})", "list(map(lambda z_{n}: z_{n}, [{x}]))[0]", "[[{x}]][0][0]",
           "max([{x}], key=id)", "closed_{n}({x})()", "list(given_{n}({x}))[0]", "sum([[{x}]], [])[0]"]
HELPERS = """def same_{n}(a_{n}):
    return a_{n}


class Held_{n}:
    def __init__(self, a):
        self.a = a

    def give(self):
        return self.a

    def __getitem__(self, i):
        return self.a

    @property
    def asked(self):
        return self.a


def closed_{n}(a_{n}):
    return lambda: a_{n}


def given_{n}(a_{n}):
    yield a_{n}


"""
LIST = ["{x}.insert(0, {v})", "{x}.__setitem__(0, {v})", "setitem({x}, 0, {v})", "heappush({x}, {v})"]
LIST_LINES = ["{x}[0] = {v}", "{x}[:] = [{v}]", "for {x}[0] in [{v}]:\n    pass", "{x}[0] += {v} - {x}[0]",
              "(a_{n}, {x}[0]) = 1, {v}", "*{x}[:], = [{v}]"]
PATCH = ["setattr({x}, {w!r}, {q})"]
PATCH_LINES = ["{x}.{w} = {q}", "for {x}.{w} in [{q}]:\n    pass", "({x}.{w}, a_{n}) = {q}, 1", "del {x}.{w}"]
# Statements that evaluate the expression X.
EXPRESSIONS = ["{x}", "assert [{x}]", "a_{n} = {x}", "f'{{{x}}}'", "print(end='', *[[{x}]][:0])", "[{x} for a_{n} in [0]]",
               "(lambda: {x})()", "(lambda a_{n}={x}: a_{n})()", "def f_{n}(a_{n}={x}):\n    pass",
               "def f_{n}(a_{n}: {x}):\n    pass", "def f_{n}() -> {x}:\n    pass", "class C_{n}:\n    {x}",
               "any([{x} for a_{n} in [0] for b_{n} in [0]])", "if [{x}]:\n    pass", "while {x}:\n    break",
               "0 < 1 < (0 if {x} else 2)", "{{**{{'a': {x}}}}}", "1 if {x} else 0", "[0][:({x} or 1)]",
               "try:\n    pass\nfinally:\n    {x}", "next(a_{n} for a_{n} in [{x}])", "sorted([1], key=lambda a_{n}: {x} or 0)"]
# Blocks around lines X.
AROUND = ["{x}", "if True:\n    {x}", "for o_{n} in [0]:\n    {x}", "try:\n    {x}\nfinally:\n    pass",
          "try:\n    1 // 0\nexcept ZeroDivisionError:\n    {x}", "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    {x}",
          "with nullcontext():\n    {x}", "while True:\n    {x}\n    break", "def g_{n}():\n    {x}\ng_{n}()",
          "class D_{n}:\n    def go(self):\n        {x}\nD_{n}().go()", "def g_{n}():\n    {x}\n    yield 0\nnext(g_{n}())",
          "class D_{n}:\n    def __enter__(self):\n        {x}\n    def __exit__(self, *a):\n        pass\nwith D_{n}():\n    pass",
          "class D_{n}:\n    @property\n    def p(self):\n        {x}\nD_{n}().p", "h_{n} = []\nfor h_{n}[:] in [[1]]:\n    {x}",
          "def g_{n}(f):\n    {x}\n    return f\n@g_{n}\ndef k_{n}():\n    pass"]
# Lines that bind X to V.
BIND = ["{x} = {v}", "{x}: int = {v}", "for {x} in [{v}]:\n    pass", "({x} := {v})", "[({x} := {v}) for b_{n} in [0]]",
        "({x}, b_{n}) = {v}, 1", "*b_{n}, {x} = 1, {v}", "with nullcontext({v}) as {x}:\n    pass", "b_{n} = {x} = {v}",
        "f'{{({x} := {v})}}'", "assert ({x} := {v}) is not None", "[b_{n} for b_{n} in [0] if [({x} := {v})]]"]
NEEDED = "from contextlib import nullcontext\nfrom operator import setitem\nfrom heapq import heappush\n"


def put_in(form, text, **names):
    """The form with X replaced by text, whose lines are indented like it."""
    out = []
    for line in form.split("\n"):
        if "{x}" in line and "\n" in text:
            pad = line[:len(line) - len(line.lstrip())]
            if line.strip() != "{x}":
                return None
            out += [pad + part for part in text.split("\n")]
        else:
            out.append(line.format(x=text, **names))
    return "\n".join(out)


def alias(rng, name, n):
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        name = rng.choice(ALIASES).format(x=name, n=n)
    return name


def block(rng, lines, n):
    for k in range(rng.choice((0, 0, 1, 1, 2))):
        lines = put_in(rng.choice(AROUND), lines, n=f"{n}{k}") or lines
    return lines


def effect(rng, name, calls, lines, n, **more):
    x = alias(rng, name, n)
    if rng.random() < 0.6:
        call = rng.choice(calls).format(x=x, n=n, **more)
        return rng.choice(EXPRESSIONS).format(x=call, n=n)
    if ":=" in x or x.startswith("("):  # no target
        x = f"[{x}][0]"
    return rng.choice(lines).format(x=x, n=n, **more)


def host_names(t):
    """Names that a launching function binds to numbers, and lists of the module."""
    numbers, lists, words = {}, [], set()
    for f in t.hosts:
        for s in f.body:
            for target in s.targets if isinstance(s, ast.Assign) else []:
                for name in [target] if isinstance(target, ast.Name) else getattr(target, "elts", []):
                    if isinstance(name, ast.Name):
                        numbers.setdefault(f, []).append(name.id)
    for s in t.tree.body:
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.List) and isinstance(s.targets[0], ast.Name):
            lists.append(s.targets[0].id)
    for f in t.kernels:
        words |= {(n.func.value.id, n.func.attr) for n in ast.walk(f) if isinstance(n, ast.Call) and
                  isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name) and
                  n.func.value.id in ("mbarrier", "tma", "gl", "tl", "tle", "tlx")}
    return numbers, lists, sorted(words)


def rebind(t, rng):
    """The text with a name that means something else, or None."""
    numbers, lists, words = host_names(t)
    if not t.hosts:
        return None
    f, n = rng.choice(t.hosts), rng.randrange(100)
    value, ways = rng.choice((0, 1, 2, 3)), []
    if numbers.get(f):
        ways.append(lambda: block(rng, rng.choice(BIND).format(x=rng.choice(numbers[f]), v=value, n=n), n))
    if lists:
        ways += [lambda: block(rng, effect(rng, rng.choice(lists), LIST, LIST_LINES, n, v=value), n)] * 3
    if words:
        def patch():
            module, word = rng.choice(words)
            quiet = rng.choice(("lambda *a, **k: None", "print", "(lambda *a, **k: 0)"))
            return block(rng, effect(rng, module, PATCH, PATCH_LINES, n, w=word, q=quiet), n)
        ways.append(patch)
    helpers = [k.name for k in t.kernels if any(isinstance(c, ast.Call) and isinstance(c.func, ast.Name) and
                                                c.func.id == k.name for o in t.kernels for c in ast.walk(o))]
    if helpers:
        ways.append(lambda: block(rng, rng.choice(BIND).format(x=rng.choice(helpers), v="(lambda *a, **k: None)", n=n), n))
    lines = rng.choice(ways)() if ways else None
    if not lines:
        return None
    body = [s for s in f.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    first = t.span(t.tree.body[0])[0]
    head = ((first, first), NEEDED)
    at_module = rng.random() < 0.4
    to = f if at_module else rng.choice(body[:-1] or body)
    if at_module and to.decorator_list:
        return None
    pad = " " * to.col_offset
    start = t.span(to)[0]
    own = HELPERS.format(n=n) if at_module else None
    inner = ("\n" + pad).join(lines.split("\n")) + "\n" + pad
    if at_module:
        return t.put(head, ((start, start), own + inner))
    f_start = t.span(f)[0]
    if f.decorator_list:
        return None
    return t.put(head, ((f_start, f_start), HELPERS.format(n=n)), ((start, start), inner))
