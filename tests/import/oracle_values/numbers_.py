"""Numbers as the hardware holds them."""
import math
import struct


def f32(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def f16(x):
    try:
        return struct.unpack("e", struct.pack("e", f32(x)))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bf16(x):
    x = f32(x)
    if math.isinf(x) or math.isnan(x):
        return x
    bits = struct.unpack("I", struct.pack("f", x))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16 & 0xFFFFFFFF
    return struct.unpack("f", struct.pack("I", bits))[0]


def wrap(x, bits=32, signed=True):
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def bits_of(x):
    return struct.unpack("i", struct.pack("f", x))[0]


def from_bits(i):
    return struct.unpack("f", struct.pack("i", i))[0]
