"""Barrier operations of the three kernels of TLE that designs here correspond to, told from their
description: per group, in order, with slot and number of earlier uses. `tiles`: how many tiles the
CTA has; sizes in blocks. A slot of group c of n slots a group is slot + c*n."""


def gemm(tiles, blocks, stages=3):
    """Persistent GEMM: every consumer has its own ring of A, both share the ring of B."""
    load, mma, it = [], ([], []), 0
    for _ in range(tiles):
        for k in range(blocks):
            slot, use = it % stages, it // stages
            for name, group in (("a", 0), ("b", 0), ("a", 1)):
                load.append(("wait", f"empty_{name}", slot + group * stages, use))
                load.append(("load", f"full_{name}", slot + group * stages))
            for c in (0, 1):
                mma[c].append(("wait", "full_a", slot + c * stages, use))
                mma[c].append(("wait", "full_b", slot, use))
                mma[c].append(("mma",))
                mma[c].append(("mma_wait", 1))
                if k > 0:
                    before, use_before = (it - 1) % stages, (it - 1) // stages
                    mma[c].append(("arrive", "empty_a", before + c * stages, use_before, 1))
                    mma[c].append(("arrive", "empty_b", before, use_before, 1))
            it += 1
        for c in (0, 1):
            last, use = (it - 1) % stages, (it - 1) // stages
            mma[c].append(("mma_wait", 0))
            mma[c].append(("arrive", "empty_a", last + c * stages, use, 1))
            mma[c].append(("arrive", "empty_b", last, use, 1))
            mma[c].append(("store",))
    return {"load": load, "mma": mma[0], "mma.1": mma[1]}


def attention(tiles, blocks, buffers=2):
    """Persistent ping-pong attention with barriers: counters run on across tiles."""
    load, math, cnt = [], ([], []), 0

    def fill(name, use):
        load.append(("wait", f"{name}_empties", use % buffers, use // buffers))
        load.append(("load", f"{name}_fulls", use % buffers))

    math[1].append(("arrive", "pingpong", 0, None, 1))
    for tile in range(tiles):
        for group, name in ((0, "k"), (1, "v")):
            load.append(("wait", "q_empties", group, tile))
            load.append(("load", "q_fulls", group))
            fill(name, cnt)
        for j in range(1, blocks):
            fill("k", cnt + j)
            fill("v", cnt + j)
        for c in (0, 1):
            say = math[c].append

            def ready(name, use):
                say(("wait", f"{name}_fulls", use % buffers, use // buffers))

            def free(name, use):
                say(("arrive", f"{name}_empties", use % buffers, use // buffers, 1))

            def issue():
                say(("wait", "pingpong", c, None))
                say(("mma",))
                say(("arrive", "pingpong", 1 - c, None, 1))

            say(("wait", "q_fulls", c, tile))
            ready("k", cnt)
            issue()
            say(("mma_wait", 0))
            free("k", cnt)
            for j in range(1, blocks):
                ready("k", cnt + j)
                issue()
                ready("v", cnt + j - 1)
                say(("mma",))
                say(("mma_wait", 1))
                free("k", cnt + j)
                say(("mma_wait", 0))
                free("v", cnt + j - 1)
            ready("v", cnt + blocks - 1)
            say(("mma",))
            say(("mma_wait", 1))
            say(("arrive", "q_empties", c, tile, 1))
            say(("mma_wait", 0))
            free("v", cnt + blocks - 1)
            say(("store",))
        cnt += blocks
    return {"load": load, "math_": math[0], "math_.1": math[1]}


def mla(pairs):
    """Sparse MLA with three pipes: the producer fills Q once and two blocks a pair."""
    gather = [("acquire", "q", 0, 0), ("load",), ("load",), ("load",), ("commit", "q", 0, 0)]
    left, right = [("wait", "q", 0, 0)], [("wait", "q", 0, 0)]
    for it in range(2 * pairs):
        at = (it % 2, it // 2)
        gather += [("acquire", "kv", *at), ("commit", "kv", *at)]
        left += [("wait", "kv", *at), ("mma",), ("mma",), ("mma",), ("mma_wait", 0),
                 ("acquire", "score", 0, it), ("mma",), ("commit", "score", 0, it), ("mma_wait", 0),
                 ("release", "kv", *at)]
        right += [("wait", "kv", *at), ("wait", "score", 0, it), ("mma",), ("mma_wait", 0),
                  ("release", "score", 0, it), ("release", "kv", *at)]
    left.append(("store",))
    right.append(("store",))
    return {"gather": gather, "left": left, "right": right}
