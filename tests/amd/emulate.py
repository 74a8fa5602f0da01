#!/usr/bin/env python3
"""Runs a code object of gfx950 in tinygrad's emulator of the instruction set (test/mockgpu/amd/emu.py of
its source, MIT, not part of this project) and compares what the kernel writes with what it should.

    emulate.py SOURCE OBJECT KIND SIZE... [--seed N] [--orders N] [--drop-barrier N] [--weaken-wait N]

SOURCE: a checkout of tinygrad. KIND: gemm (A[M,K] B[K,N] -> C[M,N], f16, or --types A:B:C and --turned: B[N,K]; sizes M N K) or attention
(Q K V -> O [Z,H,N,128], f16; sizes Z H N), or reference: the float64 kernel that judges C of gemm.
Instructions are the emulator's, waves and memory are ours: waves run to their next s_barrier in an order of the seed, rounds are released together; a load
straight to LDS leaves what is no number there and lands when s_waitcnt vmcnt lets no more loads be
outstanding. So a wait or a barrier that is missing shows. Changes of the machine code:
--drop-barrier N makes the N-th s_barrier of the text an s_nop, --weaken-wait N lets the N-th wait that
names vmcnt wait for no load. Prints "right", or "wrong: " and what is wrong, and exits with 0 or 1.
--orders N runs the same numbers in N more orders of the waves, and once with loads that land as they
are issued: where one of these leaves other bits than the first run, it prints "differs: " and which.
"""
import argparse
import ctypes
import math
import random
import signal
import struct
import sys

POISON = 0xFFFFFFFF
KIND_PLAIN, KIND_TO_LDS, KIND_VMEM, KIND_WAIT, KIND_TR, KIND_SWAP, KIND_BARRIER, KIND_OVER, KIND_HALF = range(9)


def sections(data):
    shoff, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    head = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * size) for i in range(count)]
    start = head[names][4]
    return {data[start + h[0]:data.index(b"\0", start + h[0])].decode(): h for h in head}


class Object:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        part = sections(data)
        text, descriptor = part[".text"], part[".rodata"]
        kd = data[descriptor[4]:descriptor[4] + 64]
        self.lds, = struct.unpack_from("<I", kd, 0)
        entry, = struct.unpack_from("<q", kd, 16)
        self.rsrc2, = struct.unpack_from("<I", kd, 52)
        self.code = bytearray(data[text[4]:text[4] + text[5]])
        self.entry = descriptor[3] + entry - text[3]


def f16(values):
    return struct.pack("<%de" % len(values), *values)


def floats(buffer):
    return struct.unpack("<%de" % (len(buffer) // 2), bytes(buffer))


def decoded8(bits, e, m):
    """An 8-bit float of e exponent and m mantissa bits (OCP); what is no number is not made here."""
    power, part = bits >> m & (1 << e) - 1, bits & (1 << m) - 1
    bias = (1 << e - 1) - 1
    x = part / (1 << m) * 2 ** (1 - bias) if power == 0 else (1 + part / (1 << m)) * 2 ** (power - bias)
    return -x if bits & 128 else x


TABLE = {"e4m3": [decoded8(i, 4, 3) for i in range(256)], "e5m2": [decoded8(i, 5, 2) for i in range(256)]}


def encoded(values, dtype):
    if dtype == "f16":
        return f16(values)
    if dtype == "bf16":  # of values that it holds
        return b"".join(struct.pack("<f", x)[2:] for x in values)
    return bytes(TABLE[dtype].index(x) for x in values)


def decoded(buffer, dtype):
    if dtype == "f16":
        return floats(buffer)
    if dtype == "bf16":
        return [struct.unpack("<f", b"\0\0" + bytes(buffer[i:i + 2]))[0] for i in range(0, len(buffer), 2)]
    return [TABLE[dtype][x] for x in buffer]


class Machine:
    eager = False  # loads to LDS land as they are issued

    def __init__(self, emu, obj, seed, drop, weaken):
        self.emu, self.obj, self.random = emu, obj, random.Random(seed)
        self.drop, self.weaken, self.seen = drop, weaken, {}
        self.code = (ctypes.c_char * (len(obj.code) + 64)).from_buffer_copy(bytes(obj.code) + bytes(64))
        self.at = ctypes.addressof(self.code)
        self.lds = (ctypes.c_uint32 * (obj.lds // 4 + 4))()
        self.change()

    def words(self, pc):
        return struct.unpack_from("<II", self.code, pc - self.at)

    def change(self):
        """The text in order, so that barriers and waits have numbers."""
        barriers = waits = 0
        pc = self.at + self.obj.entry
        while True:
            instruction = self.emu.decode_inst(bytes(self.code[pc - self.at:pc - self.at + 16]), "cdna")
            name = instruction.op.name
            if name == "S_BARRIER":
                if barriers == self.drop:
                    struct.pack_into("<I", self.code, pc - self.at, 0xBF800000)
                barriers += 1
            if name == "S_WAITCNT":
                word, = struct.unpack_from("<I", self.code, pc - self.at)
                if word & 0xC00F != 0xC00F:
                    if waits == self.weaken:
                        struct.pack_into("<I", self.code, pc - self.at, word | 0xC00F)
                    waits += 1
            pc += instruction.size()
            if name == "S_ENDPGM":
                break
        for kind, number, of in (("barrier", self.drop, barriers), ("wait", self.weaken, waits)):
            if number is not None and number >= of:
                sys.exit("there are %d of %s" % (of, kind))

    def decode(self, pc):
        known = self.seen.get(pc)
        if known:
            return known
        instruction = self.emu.decode_inst(bytes(self.code[pc - self.at:pc - self.at + 16]), "cdna")
        name = instruction.op.name
        low, _ = self.words(pc)
        run = None
        kind = KIND_PLAIN
        if name.startswith("BUFFER_LOAD") and low >> 16 & 1:
            kind = KIND_TO_LDS
        elif name == "DS_READ_B64_TR_B16":
            kind = KIND_TR
        elif name.startswith("V_PERMLANE") and "SWAP" in name:
            kind = KIND_SWAP
        elif name.startswith("V_MFMA_F32_32X32X") or (name.startswith("V_MFMA_F32_16X16X") and self.overlaps(pc)):
            kind = KIND_OVER
        elif name == "V_CVT_F16_F32_E32" and low & 511 >= 256:
            kind = KIND_HALF
        else:
            if name.startswith(("BUFFER_", "GLOBAL_", "FLAT_")):
                kind = KIND_VMEM
            elif name == "S_WAITCNT":
                kind = KIND_WAIT
            elif name == "S_BARRIER":
                kind = KIND_BARRIER
            (program, runtime), _ = self.emu._decode_at(pc, "cdna")
            run = (runtime.fxn, program.arg.globals)
        self.seen[pc] = (kind, run, instruction.size(), name)
        return self.seen[pc]

    # --- what the emulator lacks, or does at once
    def mfma_registers(self, pc):
        """dst, a, b, c: numbers of vector registers, or None for a constant."""
        low, high = self.words(pc)
        sources = [high & 511, high >> 9 & 511, high >> 18 & 511]
        return [low & 255] + [s - 256 if s >= 256 else None for s in sources]

    def overlaps(self, pc):
        """The emulator writes results while it still reads sums: what begins elsewhere is ours."""
        dst, _, _, c = self.mfma_registers(pc)
        return c is not None and 0 < abs(dst - c) < 4

    def halved(self, wave, pc):
        """The emulator takes registers from 128 on for upper halves of others, as RDNA has them."""
        low, _ = self.words(pc)
        v, s = wave._vgpr_mv, wave._sgpr_mv
        to, source, active = low >> 17 & 255, low & 255, s[126] | s[127] << 32
        for lane in range(64):
            if active >> lane & 1:
                x, = struct.unpack("<f", struct.pack("<I", v[source * 64 + lane]))
                try:
                    half = struct.pack("<e", x)
                except OverflowError:
                    half = struct.pack("<e", math.copysign(math.inf, x))
                v[to * 64 + lane], = struct.unpack("<H", half)

    def product(self, wave, pc, name):
        """D of 32 rows has row 8 (r / 4) + 4 (lane / 32) + r % 4 in register r (CDNA 4 ISA, matrix layouts;
        the emulator has other rows there); of 16, row 4 (lane / 16) + r."""
        dst, a, b, c = self.mfma_registers(pc)
        low, high = self.words(pc)
        v, block = wave._vgpr_mv, 32 if "32X32X" in name else 16
        eight = "F8F6F4" in name
        types = [("e4m3", "e5m2")[f] for f in (low >> 8 & 7, high >> 29 & 7)] if eight else \
            ["bf16" if name.split("_")[4].startswith("BF16") else "f16"] * 2
        count = 8 if eight else 4

        def rows(first, dtype):
            words = [[v[(first + i) * 64 + lane] for i in range(count)] for lane in range(64)]
            part = [tuple(decoded(struct.pack("<%dI" % count, *w), dtype)) for w in words]
            return [sum((part[g * block + r] for g in range(64 // block)), ()) for r in range(block)]

        x, y, out = rows(a, types[0]), rows(b, types[1]), {}
        for lane in range(64):
            for r in range(block * block // 64):
                start = 0.0
                if c is not None:
                    start, = struct.unpack("<f", struct.pack("<I", v[(c + r) * 64 + lane]))
                row = r // 4 * 8 + lane // 32 * 4 + r % 4 if block == 32 else lane // 16 * 4 + r
                s = start + sum(p * q for p, q in zip(x[row], y[lane % block]))
                out[(dst + r) * 64 + lane] = struct.unpack("<I", struct.pack("<f", s))[0]
        for at, value in out.items():
            v[at] = value

    def to_lds(self, wave, pc, queue):
        low, high = self.words(pc)
        if low >> 18 & 127 != 23 or not low >> 12 & 1 or low >> 13 & 1:
            raise RuntimeError("a load to LDS that is not buffer_load_dwordx4 offen")
        s, first = wave._sgpr_mv, (high >> 16 & 31) * 4
        base = s[first] | (s[first + 1] & 0xFFFF) << 32
        records, soffset, offset = s[first + 2], s[high >> 24], low & 0xFFF
        to = s[124] + offset
        vaddr, jobs = high & 255, []
        for lane in range(64):
            distance = (wave._vgpr_mv[vaddr * 64 + lane] + offset) & 0xFFFFFFFF
            inside = distance + 16 <= records
            word = (to + lane * 16) // 4
            for i in range(4):
                self.lds[word + i] = POISON
            jobs.append((word, base + distance + soffset if inside else None))
        if self.eager:
            self.land(jobs)
            jobs = None
        queue.append(jobs)

    def land(self, jobs):
        for word, address in jobs or ():
            for i in range(4):
                self.lds[word + i] = ctypes.c_uint32.from_address(address + 4 * i).value if address else 0

    def transposed(self, wave, pc):
        low, high = self.words(pc)
        offset, addr, vdst = low & 0xFFFF, high & 255, high >> 24
        half = ctypes.cast(self.lds, ctypes.POINTER(ctypes.c_uint16))
        v = wave._vgpr_mv
        for group in range(0, 64, 16):
            rows = [[0] * 16 for _ in range(4)]
            for i in range(16):
                at = v[addr * 64 + group + i] + offset
                if at % 8 or at + 8 > self.obj.lds:
                    raise RuntimeError("ds_read_b64_tr_b16 at %d" % at)
                for k in range(4):
                    rows[i // 4][i % 4 * 4 + k] = half[at // 2 + k]
            for i in range(16):
                for k in range(2):
                    v[(vdst + k) * 64 + group + i] = rows[2 * k][i] | rows[2 * k + 1][i] << 16

    def swapped(self, wave, pc, name):
        """Odd rows of lanes of the first change places with even rows of the second."""
        low, = struct.unpack_from("<I", self.code, pc - self.at)
        first, second, v = low >> 17 & 255, low & 255, wave._vgpr_mv
        if not low >> 8 & 1:
            raise RuntimeError("%s of a scalar" % name)
        width = 32 if "32_SWAP" in name else 16
        for lane in range(64):
            if lane & width:
                a, b = first * 64 + lane, second * 64 + lane - width
                v[a], v[b] = v[b], v[a]

    # --- waves
    def step(self, wave, buffers, queue):
        """One instruction; True at a barrier."""
        pc = wave.pc
        kind, run, size, name = self.decode(pc)
        if kind == KIND_WAIT:
            low, _ = self.words(pc)
            most = low & 15 | (low >> 14 & 3) << 4
            while len(queue) > most:
                self.land(queue.pop(0))
        elif kind == KIND_VMEM:
            queue.append(None)
        if run:
            run[0](*[buffers[i] for i in run[1]])
            return kind == KIND_BARRIER
        if kind == KIND_TO_LDS:
            self.to_lds(wave, pc, queue)
        elif kind == KIND_TR:
            self.transposed(wave, pc)
        elif kind == KIND_OVER:
            self.product(wave, pc, name)
        elif kind == KIND_HALF:
            self.halved(wave, pc)
        else:
            self.swapped(wave, pc, name)
        wave.pc = pc + size
        return False

    def workgroup(self, number, arguments, memory, threads):
        emu = self.emu
        ctypes.memset(self.lds, 0xFF, ctypes.sizeof(self.lds))
        waves = []
        for start in range(0, threads, 64):
            wave = emu._init_wave(self.at + self.obj.entry, start, threads, threads, 1, 1, arguments,
                                  self.obj.rsrc2, 0, "cdna", number, 0, 0, None, 64)
            address = [wave.sgpr_buf._buf.va_addr, wave.vgpr_buf._buf.va_addr, memory._buf.va_addr,
                       ctypes.addressof(self.lds), 0, wave.accvgpr_buf._buf.va_addr]
            waves.append((wave, [ctypes.c_uint64(a) for a in address], []))
        while waves:
            self.random.shuffle(waves)
            for entry in list(waves):
                wave, buffers, queue = entry
                while not self.step(wave, buffers, queue):
                    if wave.pc == emu.ENDPGM_PC:
                        waves.remove(entry)
                        break

    def run(self, groups, arguments, threads=512):
        from tinygrad.device import Buffer, BufferSpec
        from tinygrad.dtype import dtypes
        memory = Buffer("CPU", 1 << 40, dtypes.uint32, options=BufferSpec(external_ptr=0)).ensure_allocated()
        with self.emu._MXCSRContext():
            for number in range(groups):
                self.workgroup(number, arguments, memory, threads)

    def orders(self, groups, arguments, output):
        """All that were asked for; what the first left is in `output`, if no other left other bits."""
        size, first = len(output), None
        for order in range(self.more + 2 if self.more else 1):
            if order:
                self.random = random.Random(order)
            self.eager = order == self.more + 1
            ctypes.memset(output, 0xFF, size)
            self.run(groups, arguments)
            bits = output.raw
            if first is None:
                first = bits
            elif bits != first:
                at = next(i for i in range(0, size, 2) if bits[i:i + 2] != first[i:i + 2]) // 2
                how = "with loads that land at once" if self.eager else "in order %d" % order
                return "differs: element %d %s" % (at, how)
        return None


def decodes_one(emu):
    """The emulator knows a product with scales by the second half of its 16 bytes alone, and so takes any eight bytes
    before a product of 8-bit types for its prefix. The prefix begins with 0xD3AC (LLVM's v_mfma_ld_scale_b32)."""
    decode = emu.decode_inst
    emu.decode_inst = lambda data, arch: decode(data if data[2:4] == b"\xac\xd3" else data[:8] + bytes(8), arch)


def differs(got, want, absolute, relative):
    return not abs(got - want) <= absolute + relative * abs(want)


def gemm(machine, sizes, rng):
    m, n, k = sizes
    of_a, of_b, of_c = machine.types
    a = [rng.choice((-1.5, -1, -0.5, 0.5, 1, 2)) for _ in range(m * k)]
    b = [rng.choice((-1.5, -1, -0.5, 0.5, 1, 2)) for _ in range(k * n)]
    laid = [b[i * n + j] for j in range(n) for i in range(k)] if machine.turned else b
    memory = [ctypes.create_string_buffer(encoded(a, of_a)), ctypes.create_string_buffer(encoded(laid, of_b)),
              ctypes.create_string_buffer(b"\xff" * (2 * m * n))]
    values = [ctypes.addressof(x) for x in memory] + [m, n, k]
    arguments = ctypes.create_string_buffer(struct.pack("<6q", *values))
    again = machine.orders(m // 256 * (n // 256), ctypes.addressof(arguments), memory[2])
    if again:
        return again
    c = decoded(memory[2].raw[:2 * m * n], of_c)
    bad = sum(x != x for x in c)
    if bad:
        return "%d of %d elements are no number" % (bad, len(c))
    close = 0.01 if of_c == "bf16" else 0.001
    columns = [b[j::n] for j in range(n)]
    picked = [divmod(rng.randrange(m * n), n) for _ in range(3000)] + [(i, i) for i in range(min(m, n))]
    for i, j in picked:
        want = sum(x * y for x, y in zip(a[i * k:(i + 1) * k], columns[j]))
        if differs(c[i * n + j], want, 0.01, close):
            return "C[%d, %d] = %g, not %g" % (i, j, c[i * n + j], want)
    # all of it: C x = A (B x)
    x = [rng.random() for _ in range(n)]
    bx = [sum(p * q for p, q in zip(b[i * n:(i + 1) * n], x)) for i in range(k)]
    for i in range(m):
        want = sum(p * q for p, q in zip(a[i * k:(i + 1) * k], bx))
        got = sum(p * q for p, q in zip(c[i * n:(i + 1) * n], x))
        if differs(got, want, 10 * close * math.sqrt(n), 2 * close):
            return "row %d of C: %g, not %g" % (i, got, want)
    return None


def reference(machine, sizes, rng):
    """The reference of C by itself: float64 sums of f16 products, in order, at some places."""
    m, n, k = sizes
    a, b = [[rng.gauss(0, 1) for _ in range(x)] for x in (m * k, k * n)]
    at = [0, m * n - 1] + [rng.randrange(m * n) for _ in range(98)]
    memory = [ctypes.create_string_buffer(f16(a)), ctypes.create_string_buffer(f16(b)),
              ctypes.create_string_buffer(2 * m * n), ctypes.create_string_buffer(struct.pack("<100q", *at)),
              ctypes.create_string_buffer(b"\xff" * 800)]
    a, b = [floats(x.raw[:-1]) for x in memory[:2]]
    where = [ctypes.addressof(x) for x in memory]
    arguments = ctypes.create_string_buffer(struct.pack("<9q", *where[:3], m, n, k, *where[3:], len(at)))
    machine.run(2, ctypes.addressof(arguments), threads=64)
    for flat, got in zip(at, struct.unpack("<100d", memory[4].raw[:800])):
        i, j = divmod(flat, n)
        want = sum(x * y for x, y in zip(a[i * k:(i + 1) * k], b[j::n]))
        if differs(got, want, 1e-12, 1e-13):
            return "C[%d, %d] = %.17g, not %.17g" % (i, j, got, want)
    return None


def attention(machine, sizes, rng):
    z, h, n = sizes
    d, scale = 128, 0.1
    tensors = [[rng.gauss(0, 1) for _ in range(z * h * n * d)] for _ in range(3)]
    memory = [ctypes.create_string_buffer(f16(t)) for t in tensors]
    q, key, v = [floats(x.raw[:-1]) for x in memory]
    memory.append(ctypes.create_string_buffer(b"\xff" * (2 * z * h * n * d)))
    values = [ctypes.addressof(x) for x in memory] + [z, h, n]
    arguments = ctypes.create_string_buffer(struct.pack("<7qf", *values, scale))
    again = machine.orders(z * h * (n // 256), ctypes.addressof(arguments), memory[3])
    if again:
        return again
    out = floats(memory[3].raw[:2 * z * h * n * d])
    bad = sum(x != x for x in out)
    if bad:
        return "%d of %d elements are no number" % (bad, len(out))
    for row in rng.sample(range(z * h * n), 48):
        head = row // n * n
        s = [scale * sum(x * y for x, y in zip(q[row * d:(row + 1) * d], key[j * d:(j + 1) * d]))
             for j in range(head, head + n)]
        top = max(s)
        p = [math.exp(x - top) for x in s]
        total = sum(p)
        for col in range(0, d):
            want = sum(w * v[(head + j) * d + col] for j, w in enumerate(p)) / total
            if differs(out[row * d + col], want, 0.005, 0.004):
                return "O[%d, %d] = %g, not %g" % (row, col, out[row * d + col], want)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("object")
    parser.add_argument("kind", choices=("gemm", "attention", "reference"))
    parser.add_argument("size", type=int, nargs=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--orders", type=int, default=0)
    parser.add_argument("--drop-barrier", type=int)
    parser.add_argument("--weaken-wait", type=int)
    parser.add_argument("--types", default="f16:f16:f16")
    parser.add_argument("--turned", action="store_true")
    o = parser.parse_args()
    sys.path.insert(0, o.source)
    import test.mockgpu.amd.emu as emu
    decodes_one(emu)
    machine = Machine(emu, Object(o.object), o.seed, o.drop_barrier, o.weaken_wait)
    machine.more = o.orders
    machine.types, machine.turned = o.types.split(":"), o.turned
    signal.alarm(600)  # a loop without an end
    wrong = {"gemm": gemm, "attention": attention, "reference": reference}[o.kind](machine, o.size, random.Random(o.seed))
    print(wrong if wrong and wrong.startswith("differs") else "wrong: " + wrong if wrong else "right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
