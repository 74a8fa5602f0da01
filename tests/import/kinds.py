"""What a kernel of a Python file is made of: `asynchronous` (its author synchronises copies, products
or partitions on Hopper), `blackwell` (words that only Blackwell has), `plain` (neither).

Read with Python's own parser, from the kernel and whatever functions and classes of its file it
names; no word is shared with the reader that is judged."""
import ast, re

BLACKWELL = re.compile(
    r"tcgen05|try_cancel|TensorMemory|allocate_tensor_memory|tensor_memory_descriptor|\bclc\b|MMAv5|"
    r"async_gather|async_scatter|mma_scaled|async_dot_scaled|local_alloc\([^)]*storage_kind\.tmem|"
    r"storage_kind\.tmem|storage\s*=\s*tlx\.storage_kind\.tmem|local_load.*tmem")
ASYNCHRONOUS = re.compile(
    r"mbarrier|warpgroup_mma|\btma\.|async_copy|\bcp\.|async_dot|async_task|async_load|"
    r"warp_specialize|alloc_barriers?|barrier_wait|barrier_arrive|wgmma|\bpipe\(|"
    r"\.(expect|init)\(|issue_async_mma|WGMMA|descriptor_load|barrier_expect")


def jit(function):
    return any(re.search(r"\bjit\b", ast.unparse(d)) for d in function.decorator_list)


class File:
    def __init__(self, path):
        self.tree = ast.parse(open(path).read())
        self.text = ast.unparse(self.tree)
        self.known = {}
        methods = {id(m) for c in ast.walk(self.tree) if isinstance(c, ast.ClassDef) for m in c.body}
        for node in ast.walk(self.tree): # methods come with their class, which has to be named
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and id(node) not in methods:
                self.known.setdefault(node.name, []).append(node)

    def text_of(self, kernel):
        """The text of everything that the kernel names, of this file."""
        outer, _, name = kernel.rpartition(".")
        first = [n for n in self.known.get(name, [])]
        if outer:
            inside = [n for o in self.known.get(outer, []) for n in ast.walk(o)
                      if isinstance(n, ast.FunctionDef) and n.name == name]
            first = inside or first
        seen, todo, text = set(), list(first), []
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            body = ast.Module(body=node.body, type_ignores=[])
            if node.body and isinstance(node.body[0], ast.Expr) and \
                    isinstance(node.body[0].value, ast.Constant):
                body.body = node.body[1:] or [ast.Pass()]
            text.append(ast.unparse(body))
            for n in ast.walk(node):
                for one in [n.id] if isinstance(n, ast.Name) else []:
                    for found in self.known.get(one, []):
                        device = isinstance(found, ast.ClassDef) or jit(found) or found in first
                        if device and found not in todo:
                            todo.append(found)
        return "\n".join(text)

    def kind(self, kernel):
        text = self.text_of(kernel)
        name = kernel.rpartition(".")[2]
        if not re.search(rf"\b{name}(_autotuned)?\b *[\[,)]", self.text):
            return "plain" # a helper of other files: nobody launches it here
        if BLACKWELL.search(text):
            return "blackwell"
        return "asynchronous" if ASYNCHRONOUS.search(text) else "plain"
