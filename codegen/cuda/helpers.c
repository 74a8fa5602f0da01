/* Small functions of the printed text: only those that are called are written, in this order. */
#include "codegen/cuda/cuda.h"

#include <string.h>

typedef struct {
    const char *names; /* what calls it is found by, separated by spaces */
    const char *text;
} Helper;

#define HD "__host__ __device__ __forceinline__ "
#define D  "__device__ __forceinline__ "

static const Helper helper[] = {
    { "mod quot", "// Remainder and quotient of what is never negative.\n" HD
                  "int mod(int a, int b) { return int(uint32_t(a) % uint32_t(b)); }\n" HD
                  "int quot(int a, int b) { return int(uint32_t(a) / uint32_t(b)); }\n" },
    { "floor_div wrap_div wrap_cdiv",
      "// Division that rounds down, whatever the signs.\n" HD
      "int floor_div(int a, int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n" },
    { "floor_mod wrap_mod wrap_cdiv",
      HD "int floor_mod(int a, int b)\n{\n    const int rest = a % b;\n"
         "    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n}\n" },
    { "cdiv", "// Up, by what is greater than 0.\n" HD
              "int cdiv(int a, int b) { return a / b + (a > 0 && a % b != 0); }\n" },
    { "pow2floor", "// Largest power of two <= n, 0 for n < 1.\n" HD "int pow2floor(int n)\n{\n"
                   "    int p = n < 1 ? 0 : 1;\n    while (p && p <= n / 2)\n        p *= 2;\n"
                   "    return p;\n}\n" },
    { "uniform", "// The value of lane 0, so that ptxas sees one per warp.\n"
                 "template <bool alone = false>\n" D "int uniform(int x)\n{\n"
                 "    return alone ? x : int(shfl_idx(x, 0));\n}\n" },
    { "shl shr sar", "// Shifts by n % 32.\n" D
                     "int shl(int a, int n) { return int(uint32_t(a) << (n & 31)); }\n" D
                     "int shr(int a, int n) { return int(uint32_t(a) >> (n & 31)); }\n" D
                     "int sar(int a, int n) { return a >> (n & 31); }\n" },
    { "bits_and bits_or bits_xor", D "int bits_and(int a, int b) { return a & b; }\n" D
                                     "int bits_or(int a, int b) { return a | b; }\n" D
                                     "int bits_xor(int a, int b) { return a ^ b; }\n" },
    { "umulhi",
      D "int umulhi(int a, int b) { return int(__umulhi(uint32_t(a), uint32_t(b))); }\n" },
    { "wrap_add wrap_sub wrap_mul wrap_abs wrap_div wrap_cdiv quad_sum_i32",
      "// Modulo 2^32.\n" HD
      "int wrap_add(int a, int b) { return int(uint32_t(a) + uint32_t(b)); }\n" HD
      "int wrap_sub(int a, int b) { return int(uint32_t(a) - uint32_t(b)); }\n" D
      "int wrap_mul(int a, int b) { return int(uint32_t(a) * uint32_t(b)); }\n" },
    { "wrap_abs", D "int wrap_abs(int a) { return a < 0 ? wrap_sub(0, a) : a; }\n" },
    { "wrap_mod wrap_cdiv",
      "// What 0 divides stays, without a rest; the least integer divided by -1 is itself.\n" HD
      "int wrap_mod(int a, int b) { return b == 0 || b == -1 ? 0 : floor_mod(a, b); }\n" },
    { "wrap_div wrap_cdiv",
      HD "int wrap_div(int a, int b)\n{\n"
         "    return b == 0 ? a : b == -1 ? wrap_sub(0, a) : floor_div(a, b);\n}\n" },
    { "wrap_cdiv", HD
      "int wrap_cdiv(int a, int b) { return wrap_add(wrap_div(a, b), wrap_mod(a, b) != 0); }\n" },
    { "swizzle column",
      "// The swizzle of TMA and wgmma: bits 4.. of an address are XORed with bits 7.. .\n"
      "template <int SPAN>\n" D "uint32_t swizzle(uint32_t at)\n{\n"
      "    constexpr uint32_t bits = SPAN == 128 ? 0x70 : SPAN == 64 ? 0x30 : SPAN == 32 ? 0x10 : "
      "0;\n"
      "    return at ^ (at >> 3 & bits);\n}\n" },
    { "column", "// Column `col` of the row whose swizzled address is `row`; `col` is a constant "
                "once loops are\n"
                "// unrolled, so this is one XOR or one addition.\n"
                "template <int SPAN, int CHUNK, int BYTES, int CHUNK_BYTES>\n" D
                "uint32_t column(uint32_t row, int col)\n{\n"
                "    const uint32_t in = col % CHUNK * BYTES, chunk = col / CHUNK * CHUNK_BYTES;\n"
                "    return (SPAN ? row ^ in : row + in) + chunk;\n}\n" },
    { "slot_row slot_col at at16 at8",
      "// Accumulator layout: of every 64 rows and 8 columns a thread holds rows lane/4 and lane/4 "
      "+ 8 of its\n"
      "// warp and columns 2 * (lane % 4) and the next: row slot ri and column slot ci count what "
      "it holds.\n" D "constexpr int slot_row(int ri) { return ri / 2 * 64 + ri % 2 * 8; }\n" D
      "constexpr int slot_col(int ci) { return ci / 2 * 8 + ci % 2; }\n" },
    { "at", "// Register of a slot: 32-bit elements.\ntemplate <int COLUMNS>\n" D
            "constexpr int at(int ri, int ci)\n{\n"
            "    return ri / 2 * (COLUMNS / 2) + ci / 2 * 4 + ri % 2 * 2 + ci % 2;\n}\n" },
    { "at16", "// The same, 16-bit elements: neighbouring columns share a register.\ntemplate <int "
              "COLUMNS>\n" D "constexpr int at16(int ri, int ci)\n{\n"
              "    return ri / 2 * (COLUMNS / 4) + ci / 2 * 2 + ri % 2;\n}\n" },
    { "at8",
      "// The same, 8-bit elements: 4 column slots share a register.\ntemplate <int COLUMNS>\n" D
      "constexpr int at8(int ri, int ci)\n{\n"
      "    return ri / 2 * (COLUMNS / 8) + ci / 4 * 2 + ri % 2;\n}\n" },
    { "keep",
      "// Nothing that reads or writes these registers is moved across this place.\n"
      "template <int N>\n" D "void keep(float (&r)[N])\n{\n#pragma unroll\n"
      "    for (int i = 0; i < N; ++i)\n        asm volatile(\"\" : \"+f\"(r[i])::\"memory\");\n}\n"
      "template <typename T, int N>\n" D "void keep(T (&r)[N])\n{\n#pragma unroll\n"
      "    for (int i = 0; i < N; ++i)\n        asm volatile(\"\" : "
      "\"+r\"(r[i])::\"memory\");\n}\n" },
    { "keep_part",
      "// Nothing that reads or writes N registers from FIRST on is moved across this place.\n"
      "template <int FIRST, int N, int ALL>\n" D "void keep_part(float (&r)[ALL])\n{\n"
      "#pragma unroll\n    for (int i = FIRST; i < FIRST + N; ++i)\n"
      "        asm volatile(\"\" : \"+f\"(r[i])::\"memory\");\n}\n"
      "template <int FIRST, int N, typename T, int ALL>\n" D "void keep_part(T (&r)[ALL])\n{\n"
      "#pragma unroll\n    for (int i = FIRST; i < FIRST + N; ++i)\n"
      "        asm volatile(\"\" : \"+r\"(r[i])::\"memory\");\n}\n" },
    { "descriptor",
      "// Matrix descriptor of wgmma (bytes): 18 bits of the address, without the rank that it has "
      "in a\n"
      "// cluster. The opaque move keeps sums of base and step out of registers.\n"
      "template <int SWIZZLE, int LEADING, int STRIDE>\n" D "uint64_t descriptor(uint32_t at)\n{\n"
      "    constexpr uint64_t mode = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : SWIZZLE == 32 ? 3 : "
      "0;\n"
      "    return mov64(mode << 62 | uint64_t(STRIDE >> 4 & 0x3fff) << 32 |\n"
      "                 uint64_t(LEADING >> 4 & 0x3fff) << 16 | (at & 0x3ffff) >> 4);\n}\n" },
    { "EVICT_FIRST", "constexpr uint64_t EVICT_FIRST = 0x12F0000000000000; // L2 cache policy\n" },
    { "EVICT_NORMAL",
      "constexpr uint64_t EVICT_NORMAL = 0x1000000000000000; // L2 cache policy\n" },
    { "EVICT_LAST", "constexpr uint64_t EVICT_LAST = 0x14F0000000000000; // L2 cache policy\n" },
    { "widen_bf16 round_bf16",
      D "float widen_bf16(uint32_t bits) { return __uint_as_float(bits << 16); }\n" },
    { "widen_f16 round_f16 widen_e4m3 widen_e5m2 round_e4m3 round_e5m2",
      D "float widen_f16(uint32_t bits) { return cvt_f32_f16(uint16_t(bits)); }\n" },
    { "widen_e4m3 round_e4m3",
      D "float widen_e4m3(uint32_t bits) { return widen_f16(cvt_f16x2_e4m3(uint16_t(bits))); }\n" },
    { "widen_e5m2 round_e5m2",
      D "float widen_e5m2(uint32_t bits) { return widen_f16(cvt_f16x2_e5m2(uint16_t(bits))); }\n" },
    { "widen_i8 wrap_i8 saturate_i8",
      D "int widen_i8(uint32_t bits) { return int(int8_t(bits)); }\n" },
    { "widen_u8 wrap_u8 saturate_u8",
      D "int widen_u8(uint32_t bits) { return int(uint8_t(bits)); }\n" },
    { "wrap_i8", D "int wrap_i8(int x) { return widen_i8(x); }\n" },
    { "wrap_u8", D "int wrap_u8(int x) { return widen_u8(x); }\n" },
    { "saturate_i8",
      D "int saturate_i8(float x) { return min(max(int(cvt_rni(x)), -128), 127); }\n" },
    { "saturate_u8", D "int saturate_u8(float x) { return min(max(int(cvt_rni(x)), 0), 255); }\n" },
    { "narrow_bf16 round_bf16",
      D "uint32_t narrow_bf16(float x) { return cvt_bf16x2(0.0f, x) & 0xffff; }\n" },
    { "narrow_f16 round_f16",
      D "uint32_t narrow_f16(float x) { return cvt_f16x2(0.0f, x) & 0xffff; }\n" },
    { "narrow_e4m3 round_e4m3",
      D "uint32_t narrow_e4m3(float x) { return cvt_e4m3x2(0.0f, x) & 0xff; }\n" },
    { "narrow_e5m2 round_e5m2",
      D "uint32_t narrow_e5m2(float x) { return cvt_e5m2x2(0.0f, x) & 0xff; }\n" },
    { "narrow_i8", D "uint32_t narrow_i8(int x) { return x & 0xff; }\n" },
    { "narrow_u8", D "uint32_t narrow_u8(int x) { return x & 0xff; }\n" },
    { "round_bf16", D "float round_bf16(float x) { return widen_bf16(narrow_bf16(x)); }\n" },
    { "round_f16", D "float round_f16(float x) { return widen_f16(narrow_f16(x)); }\n" },
    { "round_e4m3", D "float round_e4m3(float x) { return widen_e4m3(narrow_e4m3(x)); }\n" },
    { "round_e5m2", D "float round_e5m2(float x) { return widen_e5m2(narrow_e5m2(x)); }\n" },
    { "round_tf32", D "float round_tf32(float x) { return __uint_as_float(cvt_tf32(x)); }\n" },
    { "pair8",
      D "uint16_t pair8(int lo, int hi) { return uint16_t((lo & 0xff) | (hi & 0xff) << 8); }\n" },
    { "insert", "// One of the elements that share a register.\ntemplate <int BITS>\n" D
                "uint32_t insert(uint32_t all, int part, uint32_t bits)\n{\n"
                "    const uint32_t mask = (1u << BITS) - 1;\n"
                "    return (all & ~(mask << BITS * part)) | bits << BITS * part;\n}\n" },
    { "quad_max quad_sum quad_sum_i32",
      "// Over the four lanes that share a row.\n" D
      "float quad_of(float x, int lanes) { return __uint_as_float(shfl_bfly(__float_as_uint(x), "
      "lanes)); }\n" D "int quad_of(int x, int lanes) { return int(shfl_bfly(x, lanes)); }\n" },
    { "quad_max columns_max", D "float larger(float a, float b) { return fmaxf(a, b); }\n" D
                                "int larger(int a, int b) { return max(a, b); }\n" },
    { "quad_max",
      "template <typename T>\n" D "T quad_max(T x)\n{\n    x = larger(x, quad_of(x, 2));\n"
      "    return larger(x, quad_of(x, 1));\n}\n" },
    { "quad_sum", "template <typename T>\n" D "T quad_sum(T x)\n{\n    x += quad_of(x, 2);\n"
                  "    return x + quad_of(x, 1);\n}\n" },
    { "quad_sum_i32", D "int quad_sum_i32(int x)\n{\n    x = wrap_add(x, quad_of(x, 2));\n"
                        "    return wrap_add(x, quad_of(x, 1));\n}\n" },
    { "columns_max",
      "// Over the N column slots of a row, in two chains: half the latency for one register "
      "more.\n"
      "template <int N, typename F>\n" D "auto columns_max(F f)\n{\n    auto a = f(0), b = f(1);\n"
      "#pragma unroll\n    for (int ci = 2; ci < N; ci += 2) {\n        a = larger(a, f(ci));\n"
      "        b = larger(b, f(ci + 1));\n    }\n    return larger(a, b);\n}\n" },
    { "columns_sum columns_sum_i32",
      "template <int N, typename F>\n" D "auto columns_sum(F f)\n{\n    auto a = f(0), b = f(1);\n"
      "#pragma unroll\n    for (int ci = 2; ci < N; ci += 2) {\n        a += f(ci);\n"
      "        b += f(ci + 1);\n    }\n    return a + b;\n}\n" },
    { "columns_sum_i32",
      "template <int N, typename F>\n" D "int columns_sum_i32(F f)\n{\n"
      "    return int(columns_sum<N>([&](int ci) { return uint32_t(f(ci)); }));\n}\n" },
    { "quad_scan",
      "// Running sums of a row: a lane holds two neighbouring columns of every 8. PLUS adds.\n"
      "template <int N, bool EXCLUSIVE, bool REVERSE, typename T, typename F, typename P>\n" D
      "void quad_scan(T *out, int lane, F f, P plus)\n{\n    T carry = 0;\n#pragma unroll\n"
      "    for (int i = 0; i < N; i += 2) {\n"
      "        const int one = REVERSE ? N - 1 - i : i, two = REVERSE ? one - 1 : one + 1;\n"
      "        const T a = f(one), b = plus(a, f(two));\n        T base = 0;\n#pragma unroll\n"
      "        for (int back = 3; back > 0; --back) {\n"
      "            const int at = lane % 4 + (REVERSE ? back : -back);\n"
      "            const T x = __shfl_sync(0xffffffff, b, (lane & ~3) | (at & 3));\n"
      "            base = plus(base, uint32_t(at) < 4 ? x : T(0));\n        }\n"
      "        const T all = __shfl_sync(0xffffffff, plus(base, b), (lane & ~3) | (REVERSE ? 0 : "
      "3));\n"
      "        base = plus(carry, base);\n        out[one] = EXCLUSIVE ? base : plus(base, a);\n"
      "        out[two] = plus(base, EXCLUSIVE ? a : b);\n        carry = plus(carry, all);\n    "
      "}\n}\n" },
    { "line_scan",
      "// Running sums along COLS of linear values: a thread has element li * THREADS + thread of "
      "ALL. A\n"
      "// chunk is what a warp has of one li; STORE and LOAD hand its sum from warp to warp, who "
      "MEET.\n"
      "template <int SLOTS, int THREADS, int COLS, int ALL, bool EXCLUSIVE, bool REVERSE, typename "
      "T,\n"
      "          typename F, typename P, typename M, typename S, typename L>\n" D
      "void line_scan(T *out, int thread, F f, P plus, M meet, S store, L load)\n"
      "{\n"
      "    constexpr int WARPS = THREADS / 32, CHUNKS = SLOTS * WARPS;\n"
      "    const int lane = thread % 32, warp = thread / 32;\n"
      "    const auto near = [&](T v, int col, int far) {\n"
      "        const int from = lane + (REVERSE ? far : -far);\n"
      "        const T x = __shfl_sync(0xffffffff, v, from & 31);\n"
      "        return uint32_t(from) < 32 && (REVERSE ? col + far < COLS : col >= far) ? x : "
      "T(0);\n"
      "    };\n"
      "    T sum[SLOTS], carry[SLOTS] = {}, base = 0;\n"
      "#pragma unroll\n"
      "    for (int li = 0; li < SLOTS; ++li) {\n"
      "        const int e = li * THREADS + thread;\n"
      "        sum[li] = e < ALL ? f(li) : T(0);\n"
      "#pragma unroll\n"
      "        for (int far = 1; far < 32 && far < COLS; far *= 2)\n"
      "            sum[li] = plus(sum[li], near(sum[li], e % COLS, far));\n"
      "    }\n"
      "    meet();\n"
      "    if (WARPS > 1 && lane == (REVERSE ? 0 : 31))\n"
      "        for (int li = 0; li < SLOTS; ++li)\n"
      "            store(li * WARPS + warp, sum[li]);\n"
      "    meet();\n"
      "#pragma unroll\n"
      "    for (int k = 0; k < CHUNKS; ++k) {\n"
      "        const int j = REVERSE ? CHUNKS - 1 - k : k, first = j * 32, last = first + 31;\n"
      "        const bool breaks = REVERSE ? (last + 1) / COLS != first / COLS\n"
      "                                    : first % COLS == 0 || first / COLS != last / COLS;\n"
      "        carry[j / WARPS] = j % WARPS == warp ? base : carry[j / WARPS];\n"
      "        if (first >= ALL)\n"
      "            continue;\n"
      "        const T all = WARPS > 1 ? load(j) : __shfl_sync(0xffffffff, sum[j / WARPS], REVERSE "
      "? 0 : 31);\n"
      "        base = breaks ? all : plus(base, all);\n"
      "    }\n"
      "#pragma unroll\n"
      "    for (int li = 0; li < SLOTS; ++li) {\n"
      "        const int col = (li * THREADS + thread) % COLS;\n"
      "        const bool more = REVERSE ? COLS - 1 - col > 31 - lane : col > lane;\n"
      "        out[li] = plus(more ? carry[li] : T(0), EXCLUSIVE ? near(sum[li], col, 1) : "
      "sum[li]);\n"
      "    }\n"
      "}\n" },
    { "line_reduce",
      "// One number of all elements of a linear value of one row.\n"
      "template <int SLOTS, int THREADS, int ALL, typename T, typename F, typename P, typename M,\n"
      "          typename S, typename L>\n" D
      "T line_reduce(T none, int thread, F f, P plus, M meet, S store, L load)\n"
      "{\n"
      "    T v = thread < ALL ? f(0) : none;\n"
      "#pragma unroll\n"
      "    for (int li = 1; li < SLOTS; ++li)\n"
      "        v = li * THREADS + thread < ALL ? plus(v, f(li)) : v;\n"
      "#pragma unroll\n"
      "    for (int mask = 16; mask; mask /= 2)\n"
      "        v = plus(v, __shfl_xor_sync(0xffffffff, v, mask));\n"
      "    if (THREADS == 32)\n"
      "        return v;\n"
      "    meet();\n"
      "    if (thread % 32 == 0)\n"
      "        store(thread / 32, v);\n"
      "    meet();\n"
      "    v = load(0);\n"
      "#pragma unroll\n"
      "    for (int w = 1; w < THREADS / 32; ++w)\n"
      "        v = plus(v, load(w));\n"
      "    return v;\n"
      "}\n" },
    { "ex2_share",
      "// SHARE of every OF elements by polynomial, so that two pipes work.\n"
      "template <int SHARE, int OF>\n" D "float ex2_share(float x, int i)\n{\n"
      "    return (i + 1) * SHARE / OF != i * SHARE / OF ? ex2_poly(x) : ex2(x);\n}\n" },
};

static gboolean wanted(const char *text, const char *names)
{
    g_auto(GStrv) name = g_strsplit(names, " ", -1);
    for (guint i = 0; name[i]; i++) {
        if (g_ascii_isupper(*name[i]) ? ws_fold_mentions(text, name[i])
                                      : ws_cuda_calls(text, name[i]))
            return TRUE;
    }
    return FALSE;
}

char *ws_cuda_helpers(const char *text)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(helper); i++) {
        if (wanted(text, helper[i].names))
            g_string_append_printf(s, "%s\n", helper[i].text);
    }
    return g_string_free(s, FALSE);
}
