"""calls.py EXPORT…: the texts are Python, every name that a function reads is bound, and every call of
TLX is one that TLX defines, with arguments that it takes: WARPSTAVE_TLX names the folder of its source
(third_party/tlx/language/tlx of facebookexperimental/triton), which is read, not imported. Without it
only names and syntax are judged. Prints TAP."""
import ast
import builtins
import glob
import inspect
import os
import sys


def signatures(folder):
    """name -> Signature of the functions and classes that are called."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.py"))):
        for node in ast.parse(open(path).read()).body:
            if isinstance(node, ast.ClassDef):
                inner = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
                if not inner or node.name not in ("async_task", "async_tasks"):
                    continue
                found[node.name] = signature(inner[0].args, True)
            elif isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, signature(node.args, False))
    return found


def signature(a, method):
    kind = inspect.Parameter
    plain = (a.posonlyargs + a.args)[method:]
    presets = [kind.empty] * (len(plain) - len(a.defaults)) + [None] * min(len(plain), len(a.defaults))
    made = [kind(p.arg, kind.POSITIONAL_OR_KEYWORD, default=d) for p, d in zip(plain, presets)]
    made += [kind(a.vararg.arg, kind.VAR_POSITIONAL)] if a.vararg else []
    made += [kind(p.arg, kind.KEYWORD_ONLY, default=None) for p in a.kwonlyargs]
    made += [kind(a.kwarg.arg, kind.VAR_KEYWORD)] if a.kwarg else []
    return inspect.Signature(made)


def unbound(tree):
    """Names that a function reads and nobody binds."""
    outer = set(dir(builtins)) | {"__name__"}
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            outer |= {(n.asname or n.name).split(".")[0] for n in node.names}
        elif isinstance(node, ast.FunctionDef):
            outer.add(node.name)
        elif isinstance(node, ast.Assign):
            outer |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    for f in (n for n in tree.body if isinstance(n, ast.FunctionDef)):
        own = {a.arg for g in ast.walk(f) if isinstance(g, (ast.FunctionDef, ast.Lambda))
               for a in g.args.posonlyargs + g.args.args + g.args.kwonlyargs + [g.args.vararg, g.args.kwarg] if a}
        own |= {g.name for g in ast.walk(f) if isinstance(g, ast.FunctionDef)}
        names = [n for n in ast.walk(f) if isinstance(n, ast.Name)]
        own |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
        for n in names:
            if n.id not in own | outer:
                yield f"line {n.lineno}: {n.id} is bound nowhere"


def calls(tree, known):
    for node in ast.walk(tree):
        f = node.func if isinstance(node, ast.Call) else None
        if not (isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == "tlx"):
            continue
        if f.attr not in known:
            yield f"line {node.lineno}: TLX has no {f.attr}"
            continue
        try:
            known[f.attr].bind(*node.args, **{k.arg: k.value for k in node.keywords})
        except TypeError as e:
            yield f"line {node.lineno}: {f.attr}: {e}"


def main():
    folder, failed = os.environ.get("WARPSTAVE_TLX"), 0
    known = signatures(folder) if folder else None
    for i, path in enumerate(sys.argv[1:], 1):
        tree = ast.parse(open(path).read(), path)
        wrong = list(unbound(tree)) + (list(calls(tree, known)) if known else [])
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {i} - {os.path.basename(path)}{'' if known else ' # without TLX'}")
        for line in wrong:
            print("# " + line)
    print(f"1..{len(sys.argv) - 1}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
