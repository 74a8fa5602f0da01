"""What the generators here share: a kernel given to `warpstave import`, and the count of those that were drawn."""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def imported(warpstave, kernel):
    """Exit code, what `import` writes, and its messages."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as f:
        f.write(kernel)
    try:
        p = subprocess.run([warpstave, "import", "--from", "tle", f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    return p.returncode, p.stdout, p.stderr


def main(drawn, kernel_of, judged):
    """drawn(seed).draw(): lines; kernel_of(base, lines): a kernel; judged(warpstave, kernel, lines): None, it is not read
    whole, else what is wrong with it, or ''."""
    a = argparse.ArgumentParser()
    a.add_argument("warpstave")
    a.add_argument("kernel")
    a.add_argument("--count", type=int, default=50)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--out")
    o = a.parse_args()
    with open(o.kernel) as f:
        base = f.read()
    wrong = right = 0
    for i in range(o.count):
        lines = drawn(f"{o.seed} {i}").draw()
        kernel = kernel_of(base, lines)
        why = judged(o.warpstave, kernel, lines)
        right += why == ""
        if why:
            wrong += 1
            print(f"seed {o.seed} {i}: {why}\n{lines}")
            if o.out:
                with open(os.path.join(o.out, f"{o.seed}-{i}.py"), "w") as f:
                    f.write(kernel)
    print(f"{o.count} kernels: {right} read whole and right, {wrong} wrong")
    sys.exit(1 if wrong or (o.count >= 10 and not right) else 0)
