"""Small changes of the meaning of a PTX text. One is (name, {line: new lines})."""
import re

LINE = re.compile(r"^(\s*)(@!?%?\w+\s+)?([a-z][\w.:]*)(\s+[^;]*)?;(.*)$")
FLOATS = re.compile(r"\.(f16|bf16|f32|f64|f16x2|bf16x2|tf32)\b")
QUIET = ("prefetch", "pmevent", "st.global", "ret", "trap")
SYNC = ("mbarrier", "bar", "barrier", "fence", "cp", "wgmma", "elect", "shfl", "vote", "bra", "setp", "setmaxnreg")
NUMBER = re.compile(r"(?<![\w%.$])-?(?:0x[0-9a-fA-F]+|\d+)(?![\w.])")
REGISTER = re.compile(r"%(?:rd|rs|r|p|q|x|h)\d+")
GROUPS = [("add", "sub"), ("shl", "shr"), ("and", "or", "xor"), ("min", "max"), ("div", "rem"), ("mad.lo", "mul.lo")]
CHAINS = ["and.b32 {x}, {r}, {n};", "or.b32 {x}, {r}, {n};", "xor.b32 {x}, {r}, {n};", "shl.b32 {x}, {r}, {s};",
          "shr.u32 {x}, {r}, {s};", "shr.s32 {x}, {r}, {s};", "sub.s32 {x}, {r}, {n};", "sub.s32 {x}, {n}, {r};",
          "add.s32 {x}, {r}, {n};", "min.u32 {x}, {r}, {n};", "max.s32 {x}, {r}, {n};", "min.s32 {x}, {r}, {n};",
          "max.u32 {x}, {r}, {n};", "rem.s32 {x}, {r}, {n};", "rem.u32 {x}, {r}, {n};", "div.s32 {x}, {r}, {n};",
          "div.u32 {x}, {r}, {n};", "bfe.u32 {x}, {r}, {s}, {b};", "bfe.s32 {x}, {r}, {s}, {b};", "not.b32 {x}, {r};",
          "neg.s32 {x}, {r};", "abs.s32 {x}, {r};", "mul.lo.s32 {x}, {r}, {n};", "mul.hi.u32 {x}, {r}, {n};",
          "mul.hi.s32 {x}, {r}, {n};", "mad.lo.s32 {x}, {r}, {n}, {r};", "popc.b32 {x}, {r};", "clz.b32 {x}, {r};",
          "sub.s32 {x}, {r}, {other};", "add.s32 {x}, {r}, {other};", "xor.b32 {x}, {r}, {other};",
          "mul.lo.s32 {x}, {r}, {other};", "cvt.u32.u16 {x}, {half};", "cvt.s32.s16 {x}, {half};", "cvt.s32.s8 {x}, {half};",
          "cvt.u32.u8 {x}, {half};", "selp.b32 {x}, {r}, {n}, {p};", "brev.b32 {x}, {r};", "shf.l.wrap.b32 {x}, {r}, {other}, {s};",
          "shf.r.clamp.b32 {x}, {r}, {other}, {s};", "prmt.b32 {x}, {r}, {other}, {n};", "bfi.b32 {x}, {r}, {other}, {s}, {b};",
          "lop3.b32 {x}, {r}, {other}, {n}, 150;"]

# Values that no register of the kernel holds.
BEGINNINGS = ["mov.u32 {x}, %laneid;", "mov.u32 {x}, %warpid;", "mov.u32 {x}, %tid.y;", "mov.u32 {x}, %ntid.x;", "mov.u32 {x}, %tid.x;",
              "mov.u32 {x}, %nctaid.x;", "mov.u32 {x}, %ctaid.x;", "mov.u32 {x}, %clock;", "mov.u32 {x}, %cluster_ctarank;",
              "shfl.sync.idx.b32 {x}, {r}, {s}, 31, -1;", "shfl.sync.bfly.b32 {x}, {r}, {s}, 31, -1;", "shfl.sync.up.b32 {x}, {r}, {s}, 0, -1;",
              "activemask.b32 {x};", "mov.u32 {x}, %lanemask_lt;", "mov.u32 {x}, %tid.x; and.b32 {x}, {x}, {n};",
              "mov.u32 {x}, %tid.x; shr.u32 {x}, {x}, {s};", "elect.sync {x}|{p}, -1;", "vote.sync.ballot.b32 {x}, {p}, -1;"]
MODIFIERS = [("try_wait", "test_wait"), (".shared::cta", ".shared::cluster"), (".noinc", ""), (".read", ""), (".aligned", ""), (".release", ".relaxed"),
             (".acquire", ".relaxed"), (".cluster", ".cta"), ("proxy.async", "proxy.async.global"), (".arrive.", ".arrive.release.cta."),
             (".arrive.", ".arrive.relaxed.cluster."), (".arrive.", ".arrive_drop."), (".parity.", ".parity.relaxed.cta."), ("bar.sync", "bar.arrive"),
             ("bar.arrive", "bar.sync"), ("wait_group.read", "wait_group"), ("arrive.expect_tx", "expect_tx"), ("expect_tx", "complete_tx"),
             (".sync.aligned", ".sync"), ("init", "inval"), ("wgmma.commit_group", "wgmma.fence"), ("wait_group", "commit_group"), (".nc", ""),
             ("arrive.expect_tx", "arrive"), ("elect.sync", "activemask"), (".bulk_group", ""), ("fence.proxy.async", "fence.acq_rel.cta;//")]


class Text:
    def __init__(self, text):
        self.lines = text.split("\n")
        body = next(i for i, l in enumerate(self.lines) if ".entry" in l)
        self.open = next(i for i in range(body, len(self.lines)) if self.lines[i].startswith("{"))
        self.places, self.weights = [], []
        reach = self.reach()
        self.labels = sorted(set(re.findall(r"(?m)^(\$[\w]+):", text)))
        for i in range(self.open + 1, len(self.lines)):
            m = LINE.match(self.lines[i])
            if not m or m[3].startswith(QUIET) or (FLOATS.search(m[3]) and not m[3].startswith("wgmma")):
                continue
            sync = m[3].startswith(SYNC)
            tile = m[3].startswith(("stmatrix", "ld.global", "cvta"))
            self.places.append(i)
            self.weights.append(4.0 if sync else 0.2 if tile else 2.0 if i in reach else 0.1)
        self.rounds = [i for i in self.places if re.search(r"mbarrier\.(arrive|try_wait)|cp\.async\.bulk\.tensor|bar\.sync", self.lines[i])]

    def reach(self):
        """Lines whose value comes to what synchronises: addresses, parities, counts, guards, branches."""
        lines = []
        for i in range(self.open + 1, len(self.lines)):
            m = LINE.match(self.lines[i])
            if m:
                words = REGISTER.findall(re.sub(r"\{[^}]*\}", "", m[4] or ""))
                lines.append((i, m[3].startswith(SYNC) and not m[3].startswith(("shfl", "setp")), REGISTER.findall(m[2] or ""), words))
        wanted = {r for _, sync, guard, words in lines for r in guard + (words if sync else [])}
        before = 0
        while before != len(wanted):
            before = len(wanted)
            for _, _, guard, words in lines:
                if words and (words[0] in wanted or (len(words) > 1 and words[1] in wanted and "|" in words)):
                    wanted.update(words)
        return {i for i, sync, _, words in lines if sync or (words and words[0] in wanted)}


def with_changes(t, changes):
    lines = list(t.lines)
    for at, new in sorted(changes.items(), reverse=True):
        lines[at:at + 1] = new
    return "\n".join(lines)


def number_near(rng, n):
    return rng.choice([n + 1, n - 1, n * 2, n // 2, 0, 1, n ^ 1, n + 8, n - 8, n + 4, -n, n + 16, n ^ 0x80000000 if 0 <= n < 1 << 31 else n + 2, 31, 255])


def nearby(t, at, kind, rng):
    near = [r for i in range(max(t.open, at - 40), min(len(t.lines), at + 12)) for r in REGISTER.findall(t.lines[i])
            if re.match(r"%[a-z]+", r)[0] == kind]
    return rng.choice(near) if near else None


def registers_of(t, at, rng):
    """One that a line up to 30 above writes by an integer instruction."""
    found = []
    for i in range(max(t.open + 1, at - 30), at):
        m = re.match(r"\s*[a-z][\w.]*\.[subu](?:32)\s+(%r\d+),", t.lines[i])
        if m and not FLOATS.search(t.lines[i]):
            found.append(m[1])
    return rng.choice(found) if found else None


def value_of(t, at, rng, fresh):
    """Instructions that work out a number from what is there, and its register."""
    r, out = registers_of(t, at, rng), []
    if not r:
        return None, []
    if rng.random() < 0.25:
        x = fresh("b32", "%zx")
        out.append("\t" + rng.choice(BEGINNINGS).format(x=x, r=r, s=rng.choice([0, 1, 2, 5, 7, 16]), n=rng.choice([1, 31, 96, 111, 127, 128]),
                                                       p=nearby(t, at, "%p", rng) or fresh("pred", "%zp")))
        r = x
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])):
        x = fresh("b32", "%zx")
        how = rng.choice(CHAINS)
        words = dict(x=x, r=r, n=rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 15, 31, 63, 100, 255, 65535, -1, -2, -4, 2147483647, -2147483648]),
                     s=rng.choice([0, 1, 2, 3, 4, 5, 8, 16, 24, 31, 32, 33]), b=rng.choice([0, 1, 2, 3, 4, 8, 16, 31, 32]),
                     other=registers_of(t, at, rng) or r, p="%zp0")
        if "{half}" in how:
            words["half"] = fresh("b16", "%zh")
            out.append(f"\tcvt.u16.u32 {words['half']}, {r};")
        if "{p}" in how:
            fresh("pred", "%zp")
            words["p"] = fresh("pred", "%zp")
            out.append(f"\tsetp.{rng.choice(['lt', 'ge', 'eq', 'ne'])}.{rng.choice(['s32', 'u32'])} {words['p']}, {r}, {words['n']};")
        out.append("\t" + how.format(**words))
        r = x
    return r, out


def mutation(t, rng):
    """Name and changes, or nothing where the dice fell badly."""
    declared = []

    def fresh(kind, stem):
        name = f"{stem}{rng.randrange(1 << 30)}"
        declared.append(f"\t.reg .{kind} {name};")
        return name

    at = rng.choices(t.places, t.weights)[0]
    how = rng.choice(["number", "number", "compare", "sign", "near", "guard", "drop", "twice", "move", "register", "register", "label",
                      "offset"] + ["guarded"] * 6 + ["changed"] * 5 + ["select", "parameter", "modifier", "modifier", "both", "looped", "jumped", "jumped"])
    if how in ("guarded", "looped", "jumped"):
        at = rng.choice(t.rounds) if t.rounds else at
    line = t.lines[at]
    m = LINE.match(line)
    guard, op, rest = m[2] or "", m[3], m[4] or ""
    new = None
    if how == "number":
        spots = list(NUMBER.finditer(line, len(m[1])))
        if spots:
            s = rng.choice(spots)
            n = int(s[0], 0)
            new = [line[:s.start()] + str(number_near(rng, n)) + line[s.end():]]
    elif how == "compare" and op.startswith("setp."):
        now = op.split(".")[1]
        other = rng.choice([c for c in ("eq", "ne", "lt", "le", "gt", "ge") if c != now])
        typed = op.split(".")
        typed[1] = other
        if typed[-1].startswith("b") and other not in ("eq", "ne"):
            typed[-1] = rng.choice("su") + typed[-1][1:]
        new = [line.replace(op, ".".join(typed), 1)]
    elif how == "sign":
        swapped = re.sub(r"\.([su])(32|64|16)\b", lambda x: "." + ("u" if x[1] == "s" else "s") + x[2], op)
        if swapped != op:
            new = [line.replace(op, swapped, 1)]
    elif how == "near":
        for group in GROUPS:
            for name in group:
                if op.startswith(name + "."):
                    other = rng.choice([g for g in group if g != name])
                    tail = op[len(name):]
                    if {name, other} == {"shl", "shr"}:
                        tail = "." + rng.choice("su") + tail[2:] if other == "shr" else ".b" + tail[2:]
                    if "mad" in (name[:3], other[:3]):
                        continue
                    new = [line.replace(op, other + tail, 1)]
    elif how == "guard":
        p = nearby(t, at, "%p", rng)
        if guard:
            choice = rng.choice(["not", "none", "other"])
            if choice == "not":
                new = [line.replace("@!", "@", 1) if "@!" in guard else line.replace("@", "@!", 1)]
            elif choice == "none":
                new = [line.replace(guard, "", 1)]
            elif p:
                new = [line.replace(guard, f"@{rng.choice(['', '!'])}{p} ", 1)]
        elif p and not op.startswith("bra.uni"):
            new = [f"{m[1]}@{rng.choice(['', '!'])}{p} {line.strip()}"]
    elif how == "drop":
        new = []
    elif how == "twice":
        new = [line, line]
    elif how == "move":
        to = t.places.index(at) + rng.choice([-3, -2, -1, 1, 2, 3])
        if 0 <= to < len(t.places) and not op.startswith("bra"):
            other = t.places[to]
            if other > at:
                return f"move {op}", {at: [], other: [t.lines[other], line]}
            return f"move {op}", {at: [], other: [line, t.lines[other]]}
    elif how == "register":
        spots = list(REGISTER.finditer(line))
        if spots:
            s = rng.choice(spots)
            other = nearby(t, at, re.match(r"%[a-z]+", s[0])[0], rng)
            if other and other != s[0]:
                new = [line[:s.start()] + other + line[s.end():]]
    elif how == "label" and op.startswith("bra"):
        now = rest.strip()
        if now in t.labels:
            n = t.labels.index(now) + rng.choice([-2, -1, 1, 2])
            if 0 <= n < len(t.labels):
                new = [line.replace(now, t.labels[n], 1)]
    elif how == "offset" and re.search(r"\[%\w+(\+\d+)?\]", line):
        step = rng.choice([8, -8, 16, 128, 1024, 4])
        new = [re.sub(r"\[(%\w+)(?:\+(\d+))?\]", lambda x: f"[{x[1]}+{int(x[2] or 0) + step}]", line, count=1)]
    elif how == "guarded":
        r, out = value_of(t, at, rng, fresh)
        if r and not guard:
            q = fresh("pred", "%zq")
            compare = f"\tsetp.{rng.choice(['eq', 'ne', 'lt', 'le', 'gt', 'ge'])}.{rng.choice(['s32', 'u32'])} {q}, {r}, {rng.choice([0, 0, 1, -1, 2, 3, 4, 7, 8, 100, 255, 65536, registers_of(t, at, rng)])};"
            new = [*out, compare, f"{m[1]}@{rng.choice(['', '!'])}{q} {line.strip()}"]
    elif how == "changed":
        d = re.match(r"\s*[a-z][\w.]*\.[subu]32\s+(%r\d+),", line)
        if d and not guard:
            r, out = d[1], []
            x = fresh("b32", "%zx")
            out = ["\t" + rng.choice([c for c in CHAINS if "{half}" not in c and "{p}" not in c]).format(
                x=r, r=r, n=rng.choice([0, 1, 2, 3, 4, 7, 8, 15, 31, 255, 65535, 16383, 262143, -1]), s=rng.choice([0, 1, 2, 3, 31, 32]),
                b=rng.choice([1, 2, 3, 8, 16, 31]), other=registers_of(t, at, rng) or r)]
            if rng.random() < 0.3:
                out = [f"\tcvt.u16.u32 %zh, {r};", f"\tcvt.{rng.choice(['u32.u16', 's32.s16', 'u32.u8', 's32.s8'])} {r}, %zh;"]
                declared.append("\t.reg .b16 %zh;")
            new = [line, *out]
    elif how == "select" and op.startswith("selp"):
        a = [x.strip() for x in rest.split(",")]
        if len(a) == 4:
            new = [f"{m[1]}{guard}{op} {a[0]}, {a[2]}, {a[1]}, {a[3]};"]
    elif how == "modifier":
        a, b = rng.choice([c for c in MODIFIERS if c[0] in op] or [("", "")])
        new = [line.replace(op, op.replace(a, b, 1), 1)] if a else None
    elif how == "both" and op.startswith("setp.") and op.count(".") == 2 and "|" not in rest:
        p = nearby(t, at, "%p", rng)
        a = op.split(".")
        if p:
            new = [f"{m[1]}{guard}{a[0]}.{a[1]}.{rng.choice(['and', 'or', 'xor'])}.{a[2]} {rest.strip()}, {rng.choice(['', '!'])}{p};"]
    elif how == "looped":
        r, out = value_of(t, at, rng, fresh)
        if r and not guard and not op.startswith("bra"):
            n, q, again = fresh("b32", "%zn"), fresh("pred", "%zq"), f"$Z{rng.randrange(1 << 30)}"
            bound = rng.choice([r, "1", "2", "3"])
            new = [*out, f"\tmov.b32 {n}, 0;", f"{again}:", line, f"\tadd.s32 {n}, {n}, {rng.choice([1, 1, 2])};",
                   f"\tsetp.{rng.choice(['lt', 'ne', 'le'])}.{rng.choice(['s32', 'u32'])} {q}, {n}, {bound};", f"\t@{q} bra {again};"]
    elif how == "jumped":
        r, out = value_of(t, at, rng, fresh)
        if r and not op.startswith("bra"):
            q, over = fresh("pred", "%zq"), f"$Z{rng.randrange(1 << 30)}"
            new = [*out, f"\tsetp.{rng.choice(['eq', 'ne', 'lt', 'le', 'gt', 'ge'])}.{rng.choice(['s32', 'u32'])} {q}, {r}, {rng.choice([0, 0, 1, -1, 2, 3, 4, 7, 100, 65536])};",
                   f"\t@{rng.choice(['', '!'])}{q} bra {over};", line, f"{over}:"]
    elif how == "parameter" and op.startswith("ld.param"):
        new = [re.sub(r"ld\.param\.[bus](32|64)", "ld.param." + rng.choice(["u16", "s16", "u8", "s32", "u32"]), line)]
    if new is None or new == [line]:
        return None
    changes = {at: new}
    if declared:
        changes[t.open] = [t.lines[t.open], *dict.fromkeys(declared)]
    return f"{how} {op}", changes


def each(t):
    """For every line that synchronises or copies: dropped, doubled, made in its first rounds alone or in later ones alone,
    by a guard or by a branch, by one half of the lanes, with the next such line before it."""
    head = {t.open: [t.lines[t.open], "\t.reg .pred %zq;", "\t.reg .b32 %zk;", "\t.reg .b32 %zt;", "\tmov.b32 %zk, 0;"]}
    more = "\tadd.s32 %zk, %zk, 1;"
    for n, at in enumerate(t.places):
        line, m = t.lines[at], LINE.match(t.lines[at])
        if not m[3].startswith(SYNC) or m[3].startswith(("bra", "setp")):
            continue
        op, bare = m[3], line.strip()
        yield f"drop {op}", {at: []}
        yield f"twice {op}", {at: [line, line]}
        if n + 1 < len(t.places) and not t.lines[t.places[n + 1]].strip().startswith(("@", "bra")):
            after = t.places[n + 1]
            yield f"behind the next {op}", {at: [], after: [t.lines[after], line]}
        for how in ("lt", "ge"):
            ask = f"\tsetp.{how}.s32 %zq, %zk, 2;"
            if not m[2]:
                yield f"{how} 2 {op}", {**head, at: [ask, f"\t@%zq {bare}", more]}
            yield f"{how} 2 by a branch {op}", {**head, at: [ask, "\t@!%zq bra $ZOVER;", line, "$ZOVER:", more]}
        if not m[2]:
            yield f"of some lanes {op}", {**head, at: ["\tmov.u32 %zt, %laneid;", "\tsetp.lt.u32 %zq, %zt, 16;", f"\t@%zq {bare}"]}
            yield f"of odd warps {op}", {**head, at: ["\tmov.u32 %zt, %tid.x;", "\tand.b32 %zt, %zt, 32;", "\tsetp.ne.u32 %zq, %zt, 0;", f"\t@%zq {bare}"]}


def joined(a, b):
    """Both changes, where they do not touch the same lines."""
    out = dict(a)
    for at, new in b.items():
        if at in out:
            if not (new and out[at] and new[0] == out[at][0]):
                return None
            out[at] = out[at] + [l for l in new[1:] if l not in out[at]]
        else:
            out[at] = new
    return out
