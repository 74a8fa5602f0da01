#!/usr/bin/env python3
"""What a reader may do to the constants of an export, tried without Triton and without a GPU.

    edited.py try EXPORT FOLDER
        Gives each constant other values, alone (half, double, three times, one more, one less, 0, -1) and
        in pairs, and asks the kernel's own static_assert. Prints one line per trial: "refused NAME=V …",
        or "accepted NAME=V …" with the edited text in FOLDER/NAME=V….py.
    edited.py same EDITED GENERATED
        Says "same" if both texts are one program: constants put in place of their names, arithmetic of
        numbers done, arguments that hand constants on left out; else the first difference."""
import ast
import difflib
import itertools
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def is_constexpr(node):
    return isinstance(node, ast.Attribute) and node.attr == "constexpr"


def functions(tree):
    return {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}


def kernel_of(tree):
    """The kernel: the function that the launcher subscripts with its grid."""
    for node in ast.walk(functions(tree)["launch"]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            return functions(tree)[node.func.value.id]
    raise SystemExit("no kernel")


def constants(tree):
    """Constants with a default in the kernel, and those of the file."""
    kernel, found = kernel_of(tree), {}
    given = kernel.args.args[-len(kernel.args.defaults):] if kernel.args.defaults else []
    for arg, default in zip(given, kernel.args.defaults):
        if is_constexpr(arg.annotation):
            found[arg.arg] = default.value
    for node in tree.body:
        if (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and is_constexpr(node.value.func)
                and isinstance(node.value.args[0], ast.Constant)):
            found[node.targets[0].id] = node.value.args[0].value
    return found


def guards(tree):
    for node in ast.walk(kernel_of(tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "static_assert":
            yield node


def accepts(tree, values):
    for call in guards(tree):
        if not (isinstance(call.args[1], ast.Constant) and len(call.args[1].value) > 8):
            raise SystemExit("a guard without a message: " + ast.unparse(call))
        if not eval(compile(ast.Expression(call.args[0]), "guard", "eval"), {"__builtins__": {}}, values):
            return False
    return True


def others(v):
    return sorted({v // 2, v // 4, v // 8, 2 * v, 4 * v, 3 * v, v + 1, v - 1, v + 2, 0, -1} - {v})


def edit(text, change):
    for name, value in change.items():
        text = re.sub(rf"\b({name}: \w+\.constexpr = )-?\d+\b", rf"\g<1>{value}", text)
        text = re.sub(rf"(?m)^(def launch\((?:.|\n)*?\b{name}=)-?\d+\b", rf"\g<1>{value}", text)
        text = re.sub(rf"(?m)^({name} = \w+\.constexpr\()-?\d+\b", rf"\g<1>{value}", text)
    return text


def try_all(path, folder):
    text = read(path)
    tree = ast.parse(text)
    base = constants(tree)
    if not accepts(tree, dict(base)):
        raise SystemExit("the kernel refuses its own values")
    alone = [{n: v} for n in base for v in others(base[n])]
    pairs = [{a: x, b: y} for a, b in itertools.combinations(base, 2) for x in others(base[a]) for y in others(base[b])]
    names = list(base)
    more = [{n: base[n] // 2 for n in some} for some in itertools.combinations(names, 3)]
    for change in alone + pairs + more:
        title = " ".join(f"{n}={v}" for n, v in change.items())
        taken = accepts(tree, {**base, **change})
        print("accepted" if taken else "refused", title)
        if taken:
            with open(os.path.join(folder, title.replace(" ", "_") + ".py"), "w", encoding="utf-8") as file:
                file.write(edit(text, change))


class Folded(ast.NodeTransformer):
    """Constants in place of their names, numbers reckoned, what hands constants on left out."""

    def __init__(self, tree):
        self.value = constants(tree)
        self.functions = functions(tree)

    def without(self, name, args):
        """The arguments of a function of the file that are no constants."""
        kept = []
        for param, arg in zip(self.functions[name].args.args, args):
            if param.arg not in self.value:
                kept.append(arg)
            elif not (isinstance(arg, ast.Constant) and arg.value == self.value[param.arg]):
                raise SystemExit(f"{name} gets {ast.unparse(arg)} for {param.arg}")
        return kept

    def visit_Name(self, node):
        return ast.Constant(self.value[node.id]) if node.id in self.value else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            if isinstance(node.left.value, int) and isinstance(node.right.value, int):
                return ast.Constant(eval(ast.unparse(node), {"__builtins__": {}}))
        return node

    def visit_Tuple(self, node):
        self.generic_visit(node)
        if (len(node.elts) == 2 and isinstance(node.elts[0], ast.Name) and node.elts[0].id in self.functions
                and isinstance(node.elts[1], ast.Tuple)):
            node.elts[1].elts = self.without(node.elts[0].id, node.elts[1].elts)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            node.args = self.without(node.func.id, node.args)
        node.keywords = [k for k in node.keywords if k.arg not in self.value]
        return node

    def visit_FunctionDef(self, node):
        with_default = dict(zip([a.arg for a in node.args.args[len(node.args.args) - len(node.args.defaults):]],
                                node.args.defaults))
        node.args.args = [a for a in node.args.args if a.arg not in self.value]
        node.args.defaults = [with_default[a.arg] for a in node.args.args if a.arg in with_default]
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            del node.body[0]  # the docstring
        self.generic_visit(node)
        return node

    def visit_Expr(self, node):
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "static_assert":
            return None
        self.generic_visit(node)
        return node


def folded(path):
    tree = ast.parse(read(path))
    fold = Folded(tree)
    tree.body = [n for n in tree.body if not (isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
                                              and n.targets[0].id in fold.value)]
    body = [fold.visit(n) for n in tree.body]
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, []))).splitlines()


def same(a, b):
    difference = [x for x in difflib.unified_diff(folded(b), folded(a), lineterm="", n=0)
                  if not x.startswith(("---", "+++", "@@"))]
    print("\n".join(difference[:20]) or "same")
    return bool(difference)


if __name__ == "__main__":
    if sys.argv[1] == "try":
        sys.exit(try_all(sys.argv[2], sys.argv[3]))
    sys.exit(same(sys.argv[2], sys.argv[3]))
