"""A file of kernels, made to run: functions under `jit` become generators that hand over at every call,
numbers that are assigned go into registers, what Triton does not compile raises `NotCompiled`. Every
expression, branch and loop is still evaluated by Python. The rest of the file, the host's part, is
executed as it stands, with stand-ins for the modules that it imports."""
import ast
import builtins
import inspect
from values import (Int, NotCompiled, NotModelled, Pointer, Tile, assigned, binary, int1, int32, int64, is_number,
                    promoted)
from machine import Broken


class Undefined:
    """A name that a loop or a branch leaves without a value."""

    def __getattr__(self, name):
        raise NotCompiled("a name without a value")

    def __bool__(self):
        raise NotCompiled("a name without a value")


for word in "add sub mul floordiv mod xor and or eq ne lt le gt ge call getitem iter index".split():
    setattr(Undefined, f"__{word}__", Undefined.__bool__)
    setattr(Undefined, f"__r{word}__", Undefined.__bool__)
Undefined.__hash__ = None
undefined = Undefined()


class Jit:
    """A function that is compiled."""

    def __init__(self, function):
        self.function, self.__name__ = function, function.__name__
        self.names = inspect.signature(function)
        self.constants = {n for n, p in self.names.parameters.items() if "constexpr" in str(p.annotation)}
        self.steps = inspect.isgeneratorfunction(function)
        self.launched = None

    def __get__(self, obj, cls=None):
        return self if obj is None else Bound(self, obj)

    def __getitem__(self, grid):
        return lambda *args, **kw: Jit.host.launch(self, grid, args, kw)

    def __call__(self, *args, **kw):
        raise NotCompiled(f"{self.__name__} called by the host")

    def bound(self, args, kw):
        try:
            b = self.names.bind(*args, **kw)
        except TypeError as e:
            raise NotCompiled(str(e))
        b.apply_defaults()
        for n in self.constants:
            if isinstance(b.arguments.get(n), (Int, Tile)):
                raise NotCompiled(f"{n} of {self.__name__} is no constant")
        return b

    def go(self, args, kw):
        b = self.bound(args, kw)
        if self.steps:
            return (yield from self.function(*b.args, **b.kwargs))
        return self.function(*b.args, **b.kwargs)


class Bound:
    def __init__(self, jit, obj):
        self.jit, self.obj = jit, obj

    def go(self, args, kw):
        return (yield from self.jit.go((self.obj,) + args, kw))


def extreme(name):
    def of(*args, **kw):
        if len(args) == 2 and any(isinstance(a, (Int, Tile)) for a in args):
            if any(isinstance(a, Tile) for a in args):
                return args[0] + args[1]
            less = binary("lt", *args)
            pick = (args[0] if less else args[1]) if name == "min" else (args[1] if less else args[0])
            others = [a.dtype for a in args if isinstance(a, Int)]
            return Int(pick, others[0] if len(others) == 1 else promoted(*others))
        return getattr(builtins, name)(*args, **kw)
    return of


REPLACED = {min: extreme("min"), max: extreme("max")}


def call(f, *args, **kw):
    if isinstance(f, (Jit, Bound)):
        return (yield from f.go(args, kw))
    try:
        f = REPLACED.get(f, f)
    except TypeError:
        pass
    if getattr(f, "op", False):
        yield None
        result = f(*args, **kw)
        if inspect.isgenerator(result):
            result = yield from result
        return result
    if inspect.isclass(f) and issubclass(f, BaseException):
        raise NotCompiled("an exception")
    return f(*args, **kw)


def kind(v):
    return v.dtype if isinstance(v, Int) else v.dtype if isinstance(v, Tile) and v.shape == () else None


class Scope:
    """What a loop or a branch does to names: `names` are those that it assigns."""

    def __init__(self, names, there, dynamic, once=()):
        self.dynamic, self.once = dynamic, once
        self.there = {n: there[n] for n in names if n in there and there[n] is not undefined}

    def has(self, name):
        return self.dynamic and name in self.there

    def lost(self, name):
        return self.dynamic and name not in self.there

    def lost_behind(self, name):
        return self.lost(name) and name in self.once

    def same(self, name, value):
        a, b = kind(assigned(self.there.get(name))), kind(value)
        if self.dynamic and a and b and a is not b:
            raise NotCompiled(f"{name} is {a}, and {b}")

    def same_behind(self, name, value):
        if name in self.once:
            self.same(name, value)

    def no_return(self):
        if self.dynamic:
            raise NotCompiled("return in a loop")


class static_range:
    def __init__(self, *args, **kw):
        if kw or not all(is_number(a) for a in args):
            raise NotCompiled("static_range of what is not known")
        self.range = range(*args)


class dynamic_range:
    def __init__(self, *args, **kw):
        self.args = args
        for word in kw:
            if word not in ("num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer", "flatten",
                            "warp_specialize", "disable_licm"):
                raise NotCompiled(f"range({word})")


def loop(f, args, kw, names, there):
    """The rounds of a `for`, and its scope."""
    if f is static_range:
        return static_range(*args, **kw).range, Scope(names, there, False)
    if f is not builtins.range and f is not dynamic_range:
        raise NotCompiled("a loop over something else")
    if f is builtins.range and kw:
        raise NotCompiled("a keyword of range")
    if f is dynamic_range:
        dynamic_range(*args, **kw)
    lb, ub, step = (0,) + args + (1,) if len(args) == 1 else args + (1,) if len(args) == 2 else args
    turned = is_number(step) and step < 0
    if not all(isinstance(x, Int) or is_number(x) for x in (lb, ub, step)):
        if any(isinstance(x, Tile) and x.dtype.kind < 2 for x in (lb, ub, step)):
            raise NotModelled("a loop over data")
        raise NotCompiled("a loop over what is no integer")
    lb, ub, step = assigned(lb), assigned(ub), assigned(step)
    dtype = promoted(promoted(lb.dtype, ub.dtype), step.dtype)
    if dtype.primitive_bitwidth < 32:
        raise NotModelled("a loop over small integers")
    if step.v == 0 or (step.v < 0 and not turned):
        raise Broken("endless", "a loop whose step is not above 0")
    rounds = range(int(lb), int(ub), int(step))
    return (Int(i, dtype) for i in rounds), Scope(names, there, True)


def branch(test, names, once, there):
    return Scope(names, there, isinstance(test, Int), once)


def negated(v):
    if isinstance(v, Int):
        return Int(v.v == 0, int1)
    if isinstance(v, Tile):
        return Tile(v.read().shape, int1)
    return not v


def truth(v):
    return Int(v.v != 0, int1) if isinstance(v, Int) else v


def constant(v):
    if isinstance(v, (Int, Tile)):
        raise NotCompiled("a constant that is none")
    return v


def value(v):
    return v if isinstance(v, (int, float, bool, str)) or is_number(v) else v.value


def stop(why):
    raise NotCompiled(why)


HELPERS = {"o_call": call, "o_assigned": assigned, "o_loop": loop, "o_branch": branch, "o_not": negated,
           "o_truth": truth, "o_constant": constant, "o_value": value, "o_stop": stop, "o_undefined": undefined,
           "o_scope": Scope}


def stored(nodes):
    """Names that statements assign."""
    names = []
    for top in nodes:
        for n in ast.walk(top):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id not in names \
                    and not n.id.startswith("o_"):
                names.append(n.id)
    return names


def name(n):
    return ast.Name(n, ast.Load())


def helper(f, *args):
    return ast.Call(name(f), list(args), [])


def parsed(text):
    return ast.parse(text).body


class Compiled(ast.NodeTransformer):
    """The body of a function under `jit`."""

    def __init__(self):
        self.count, self.loops = 0, []

    def stop(self, why):
        return parsed(f"o_stop({why!r})")

    def block(self, nodes):
        out = []
        for n in nodes:
            got = self.visit(n)
            out += got if isinstance(got, list) else [got] if got is not None else []
        return out or [ast.Pass()]

    def visit_Call(self, node):
        self.generic_visit(node)
        return ast.YieldFrom(ast.Call(name("o_call"), [node.func] + node.args, node.keywords))

    def visit_ListComp(self, node):
        return node

    visit_GeneratorExp = visit_Lambda = visit_JoinedStr = visit_ListComp

    def visit_Attribute(self, node):
        self.generic_visit(node)
        return helper("o_value", node.value) if node.attr == "value" and isinstance(node.ctx, ast.Load) else node

    def visit_Assign(self, node):
        self.generic_visit(node)
        t = node.targets[0]
        simple = isinstance(t, ast.Name) or isinstance(t, ast.Attribute) or \
            (isinstance(t, ast.Tuple) and all(isinstance(x, ast.Name) for x in t.elts))
        if len(node.targets) != 1 or not simple:
            return self.stop("an assignment")
        node.value = helper("o_assigned", node.value)
        return node

    def visit_AnnAssign(self, node):
        node.value = self.visit(node.value) if node.value else None
        if not isinstance(node.target, ast.Name) or not node.value:
            return self.stop("a declaration")
        f = "o_constant" if "constexpr" in ast.unparse(node.annotation) else "o_assigned"
        return ast.Assign([node.target], helper(f, node.value))

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            return self.stop("an assignment")
        sum_ = ast.BinOp(name(node.target.id), node.op, self.visit(node.value))
        return ast.Assign([node.target], helper("o_assigned", sum_))

    def visit_Assert(self, node):
        return ast.Expr(self.visit(node.test))

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        return helper("o_truth", node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return helper("o_not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        return node if len(node.ops) == 1 else helper("o_stop", ast.Constant("a chain of comparisons"))

    def visit_Return(self, node):
        self.generic_visit(node)
        return parsed("\n".join(f"o_s{k}.no_return()" for k in self.loops)) + [node]

    def visit_unknown(self, node):
        return self.stop(type(node).__name__)

    visit_Break = visit_Continue = visit_Global = visit_Nonlocal = visit_Delete = visit_Try = visit_Raise = \
        visit_FunctionDef = visit_ClassDef = visit_Yield = visit_YieldFrom = visit_With = visit_unknown

    def in_loop(self, node, k, names):
        self.loops.append(k)
        body = parsed("\n".join(f"if o_s{k}.lost({n!r}): {n} = o_undefined" for n in names)) + self.block(node.body)
        self.loops.pop()
        return body + parsed("\n".join(f"if o_s{k}.has({n!r}): o_s{k}.same({n!r}, {n})" for n in names))

    def carried(self, k, names):
        return parsed("\n".join(f"if o_s{k}.has({n!r}): {n} = o_assigned({n})" for n in names))

    def left(self, k, names):
        return parsed("\n".join(f"if o_s{k}.lost({n!r}): {n} = o_undefined" for n in names))

    def visit_For(self, node):
        if not isinstance(node.iter, ast.Call) or not isinstance(node.target, ast.Name) or node.orelse:
            return self.stop("a loop")
        k, names = self.fresh(), [n for n in stored(node.body) if n != node.target.id]
        it = node.iter
        if any(isinstance(a, ast.Starred) for a in it.args) or any(not w.arg for w in it.keywords):
            return self.stop("a loop")
        head = ast.parse(f"o_r{k}, o_s{k} = o_loop(0, 0, 0, {names!r}, locals())").body[0]
        head.value.args[:3] = [self.visit(it.func), ast.Tuple([self.visit(a) for a in it.args], ast.Load()),
                               ast.Dict([ast.Constant(w.arg) for w in it.keywords],
                                        [self.visit(w.value) for w in it.keywords])]
        node.iter, node.body = name(f"o_r{k}"), self.in_loop(node, k, names)
        return [head] + self.carried(k, names) + [node] + self.left(k, names)

    def visit_While(self, node):
        if node.orelse:
            return self.stop("else of a loop")
        k, names = self.fresh(), stored(node.body)
        node.test, node.body = self.visit(node.test), self.in_loop(node, k, names)
        return parsed(f"o_s{k} = o_scope({names!r}, locals(), True)") + self.carried(k, names) + [node] + \
            self.left(k, names)

    def visit_If(self, node):
        k = self.fresh()
        then, other = stored(node.body), stored(node.orelse)
        names = then + [n for n in other if n not in then]
        once = [n for n in names if (n in then) != (n in other)]
        head = parsed(f"o_c{k} = 0\no_s{k} = o_branch(o_c{k}, {names!r}, {once!r}, locals())")
        head[0].value = self.visit(node.test)
        node.test, node.body = name(f"o_c{k}"), self.block(node.body)
        node.orelse = self.block(node.orelse) if node.orelse else []
        tail = parsed("\n".join(f"if o_s{k}.lost_behind({n!r}): {n} = o_undefined\n"
                                f"elif o_s{k}.has({n!r}): o_s{k}.same_behind({n!r}, {n})" for n in names))
        return head + self.carried(k, names) + [node] + tail

    def fresh(self):
        self.count += 1
        return self.count


def is_jit(d):
    text = ast.unparse(d)
    return text.split("(")[0].split(".")[-1] == "jit"


class Kernels(ast.NodeTransformer):
    compiler = Compiled

    def visit_FunctionDef(self, node):
        if not any(is_jit(d) for d in node.decorator_list):
            self.generic_visit(node)
            return node
        node.decorator_list = [d for d in node.decorator_list if "must_use" not in ast.unparse(d)]
        c = self.compiler()
        doc = node.body[:1] if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) \
            else []
        node.body = doc + c.block(node.body[len(doc):])
        return node


def load(text, modules, path="kernel", compiler=Compiled):
    """The names of a file; `modules` stand for what it imports (by dotted name)."""
    transformer = Kernels()
    transformer.compiler = compiler
    tree = ast.fix_missing_locations(transformer.visit(ast.parse(text)))
    real = builtins.__import__

    def fetch(module, globals=None, locals=None, fromlist=(), level=0):
        top = module.split(".")[0]
        if module in modules or top in modules:
            found = modules.get(module)
            if found is None:
                raise ImportError(module)
            return found if fromlist else modules[top]
        if top in ("math", "functools", "dataclasses", "typing", "itertools", "sys", "os", "__future__", "enum", "builtins", "bisect", "collections", "contextlib", "copy", "heapq", "importlib", "logging", "operator", "random", "threading", "time", "types", "warnings"):
            return real(module, globals, locals, fromlist, level)
        raise ImportError(module)

    names = {"__name__": "kernels", "__builtins__": dict(vars(builtins), __import__=fetch), **HELPERS}
    exec(compile(tree, path, "exec"), names)
    return names
