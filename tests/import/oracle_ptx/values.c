/* What instructions compute: integers exactly, floats not at all (their bits are noise). */
#include "machine.h"

#include <stdio.h>
#include <string.h>

const InstrRow instr_rows[] = { { "mov", K_VALUE, I_MOV },
                                { "add", K_VALUE, I_ADD },
                                { "sub", K_VALUE, I_SUB },
                                { "mul", K_VALUE, I_MUL },
                                { "mad", K_VALUE, I_MAD },
                                { "div", K_VALUE, I_DIV },
                                { "rem", K_VALUE, I_REM },
                                { "min", K_VALUE, I_MIN },
                                { "max", K_VALUE, I_MAX },
                                { "abs", K_VALUE, I_ABS },
                                { "neg", K_VALUE, I_NEG },
                                { "and", K_VALUE, I_AND },
                                { "or", K_VALUE, I_OR },
                                { "xor", K_VALUE, I_XOR },
                                { "not", K_VALUE, I_NOT },
                                { "cnot", K_VALUE, I_CNOT },
                                { "shl", K_VALUE, I_SHL },
                                { "shr", K_VALUE, I_SHR },
                                { "bfe", K_VALUE, I_BFE },
                                { "bfi", K_VALUE, I_BFI },
                                { "brev", K_VALUE, I_BREV },
                                { "clz", K_VALUE, I_CLZ },
                                { "popc", K_VALUE, I_POPC },
                                { "prmt", K_VALUE, I_PRMT },
                                { "lop3", K_VALUE, I_LOP3 },
                                { "shf", K_VALUE, I_SHF },
                                { "selp", K_VALUE, I_SELP },
                                { "setp", K_VALUE, I_SETP },
                                { "set", K_VALUE, I_SET },
                                { "cvt", K_VALUE, I_CVT },
                                { "cvta", K_VALUE, I_CVTA },
                                { "mapa", K_VALUE, I_MAPA },
                                { "fma", K_VALUE, I_FLOAT },
                                { "ex2", K_VALUE, I_FLOAT },
                                { "lg2", K_VALUE, I_FLOAT },
                                { "rcp", K_VALUE, I_FLOAT },
                                { "sqrt", K_VALUE, I_FLOAT },
                                { "rsqrt", K_VALUE, I_FLOAT },
                                { "tanh", K_VALUE, I_FLOAT },
                                { "copysign", K_VALUE, I_FLOAT },
                                { "bra", K_FLOW, I_BRA },
                                { "brx", K_FLOW, I_BRX },
                                { "ret", K_FLOW, I_RET },
                                { "exit", K_FLOW, I_RET },
                                { "ld", K_MEMORY, I_LD },
                                { "st", K_MEMORY, I_ST },
                                { "ldmatrix", K_MEMORY, I_LDMATRIX },
                                { "stmatrix", K_MEMORY, I_STMATRIX },
                                { "atom", K_MEMORY, I_ATOM },
                                { "red", K_MEMORY, I_RED },
                                { "shfl", K_WARP, I_SHFL },
                                { "vote", K_WARP, I_VOTE },
                                { "elect", K_WARP, I_ELECT },
                                { "match", K_WARP, I_MATCH },
                                { "redux", K_WARP, I_REDUX },
                                { "activemask", K_WARP, I_ACTIVEMASK },
                                { "mma", K_WARP, I_MMA },
                                { "setmaxnreg", K_WARP, I_SETMAXNREG },
                                { "bar", K_SYNC, I_BAR },
                                { "barrier", K_SYNC, I_BAR },
                                { "mbarrier", K_SYNC, I_MBARRIER },
                                { "fence", K_SYNC, I_FENCE },
                                { "membar", K_SYNC, I_FENCE },
                                { "cp", K_SYNC, I_CP },
                                { "wgmma", K_SYNC, I_WGMMA },
                                { "prefetch", K_NOP, I_NOP },
                                { "pmevent", K_NOP, I_NOP },
                                { "nanosleep", K_NOP, I_NOP },
                                { "griddepcontrol", K_NOP, I_NOP },
                                { NULL, K_NOP, 0 } };

static const struct {
    const char *name;
    int which;
} specials[] = {
    { "%tid.x", S_TID_X },
    { "%tid.y", S_TID_Y },
    { "%tid.z", S_TID_Z },
    { "%ntid.x", S_NTID_X },
    { "%ntid.y", S_NTID_Y },
    { "%ntid.z", S_NTID_Z },
    { "%ctaid.x", S_CTAID_X },
    { "%ctaid.y", S_CTAID_Y },
    { "%ctaid.z", S_CTAID_Z },
    { "%nctaid.x", S_NCTAID_X },
    { "%nctaid.y", S_NCTAID_Y },
    { "%nctaid.z", S_NCTAID_Z },
    { "%laneid", S_LANE },
    { "%warpid", S_WARP },
    { "%nwarpid", S_NWARP },
    { "%cluster_ctarank", S_RANK },
    { "%cluster_nctarank", S_CLUSTER_CTAS },
    { "%cluster_ctaid.x", S_CLUSTER_CTA_X },
    { "%cluster_ctaid.y", S_ZERO },
    { "%cluster_ctaid.z", S_ZERO },
    { "%cluster_nctaid.x", S_CLUSTER_CTAS },
    { "%cluster_nctaid.y", S_ONE },
    { "%cluster_nctaid.z", S_ONE },
    { "%clusterid.x", S_CLUSTER_X },
    { "%clusterid.y", S_ZERO },
    { "%nclusterid.x", S_NCLUSTER_X },
    { "%nclusterid.y", S_ONE },
    { "%smid", S_SM },
    { "%clock", S_CLOCK },
    { "%clock64", S_CLOCK },
    { "%globaltimer", S_CLOCK },
    { "%globaltimer_lo", S_CLOCK },
    { "%lanemask_eq", S_MASK_EQ },
    { "%lanemask_lt", S_MASK_LT },
    { "%lanemask_le", S_MASK_LE },
    { "%lanemask_gt", S_MASK_GT },
    { "%lanemask_ge", S_MASK_GE },
    { "%dynamic_smem_size", S_DYNAMIC },
};

int special_register(const char *name)
{
    for (unsigned i = 0; i < sizeof specials / sizeof *specials; i++)
        if (!strcmp(specials[i].name, name))
            return specials[i].which;
    return -1;
}

static u64 special(Machine *m, const Warp *w, int lane, int which)
{
    const int t = thread_of(w, lane), *n = m->kernel->ntid;
    switch (which) {
    case S_TID_X:
        return (u64)(t % n[0]);
    case S_TID_Y:
        return (u64)(t / n[0] % n[1]);
    case S_TID_Z:
        return (u64)(t / n[0] / n[1]);
    case S_NTID_X:
        return (u64)n[0];
    case S_NTID_Y:
        return (u64)n[1];
    case S_NTID_Z:
        return (u64)n[2];
    case S_CTAID_X:
        return (u64)(m->ctaid + w->cta);
    case S_NCTAID_X:
        return (u64)m->nctaid;
    case S_CTAID_Y:
    case S_CTAID_Z:
    case S_ZERO:
        return 0;
    case S_NCTAID_Y:
    case S_NCTAID_Z:
    case S_ONE:
        return 1;
    case S_LANE:
        return (u64)lane;
    case S_WARP:
        return (u64)w->index;
    case S_NWARP:
        return (u64)m->n_warps;
    case S_RANK:
    case S_CLUSTER_CTA_X:
        return (u64)w->cta;
    case S_CLUSTER_CTAS:
        return (u64)m->n_ctas;
    case S_CLUSTER_X:
        return (u64)(m->ctaid / m->n_ctas);
    case S_NCLUSTER_X:
        return (u64)(m->nctaid / m->n_ctas);
    case S_CLOCK:
        return m->progress * 7 + w->clock;
    case S_MASK_EQ:
        return 1u << lane;
    case S_MASK_LT:
        return (1u << lane) - 1;
    case S_MASK_LE:
        return (2u << lane) - 1;
    case S_MASK_GT:
        return (u32) ~((2u << lane) - 1);
    case S_MASK_GE:
        return (u32) ~((1u << lane) - 1);
    case S_DYNAMIC:
        return SHARED_BYTES - 1024;
    default:
        return noise(m->seed, (u64)which) % 132;
    }
}

bool has(const Instr *i, const char *mod)
{
    for (int j = 0; j < i->n_mods; j++)
        if (!strcmp(i->mod[j], mod))
            return true;
    return false;
}

u64 noise(u64 a, u64 b)
{
    u64 x = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

u64 mask_of(int bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

s64 extend(u64 value, int bits)
{
    return bits >= 64 ? (s64)value : (s64)(value << (64 - bits)) >> (64 - bits);
}

u64 operand(Machine *m, Warp *w, int lane, const Operand *o)
{
    switch (o->kind) {
    case O_REG: {
        const u64 v = w->reg[(u64)o->reg * LANES + (u64)lane];
        return o->not ? !v : v;
    }
    case O_IMM:
        return o->not ? !o->imm : o->imm;
    case O_SPECIAL:
        return special(m, w, lane, (int)o->imm);
    case O_ADDRESS:
    case O_LABEL:
    case O_LIST:
    case O_NONE:
    default:
        unknown(m, "an operand that is no value");
        return 0;
    }
}

void result(Machine *m, Warp *w, int lane, const Operand *o, int bits, u64 value)
{
    (void)m;
    if (o->kind == O_REG && o->reg >= 0)
        w->reg[(u64)o->reg * LANES + (u64)lane] = value & mask_of(bits);
}

static bool compare(const Instr *i, const char *how, u64 a, u64 b, int bits, bool sign)
{
    const u64 ua = a & mask_of(bits), ub = b & mask_of(bits);
    const s64 sa = extend(a, bits), sb = extend(b, bits);
    (void)i;
    if (!strcmp(how, "eq"))
        return ua == ub;
    if (!strcmp(how, "ne"))
        return ua != ub;
    if (!strcmp(how, "lo"))
        return ua < ub;
    if (!strcmp(how, "ls"))
        return ua <= ub;
    if (!strcmp(how, "hi"))
        return ua > ub;
    if (!strcmp(how, "hs"))
        return ua >= ub;
    if (!strcmp(how, "lt"))
        return sign ? sa < sb : ua < ub;
    if (!strcmp(how, "le"))
        return sign ? sa <= sb : ua <= ub;
    if (!strcmp(how, "gt"))
        return sign ? sa > sb : ua > ub;
    return sign ? sa >= sb : ua >= ub;
}

static void compare_set(Machine *m, Warp *w, int lane, const Instr *i)
{
    const Operand *a = i->arg;
    bool r = i->src_float ? noise(m->data_seed, m->progress * 64 + (u64)lane + w->clock) & 1
                          : compare(i, i->mod[0], operand(m, w, lane, &a[1]),
                                    operand(m, w, lane, &a[2]), i->src_bits, i->src_signed);
    bool other = !r;
    if (i->n_args > 3) {
        const bool c = operand(m, w, lane, &a[3]) != 0;
        const char *how = i->mod[1];
        const bool is_and = !strcmp(how, "and"), is_or = !strcmp(how, "or");
        other = is_and ? !r && c : is_or ? !r || c : !r != c;
        r = is_and ? r && c : is_or ? r || c : r != c;
    }
    if (i->arg[0].reg2 >= 0)
        w->reg[(u64)i->arg[0].reg2 * LANES + (u64)lane] = other;
    result(m, w, lane, &a[0], i->bits, instr_rows[i->op].id == I_SET && r ? ~0ull : r);
}

/* To s-bit from t-bit: extended by the source's sign, cut or clamped to the destination's. */
static u64 converted(Machine *m, const Instr *i, u64 v, u64 salt)
{
    if (i->src_float || i->is_float)
        return noise(m->data_seed, salt) & (i->is_float ? ~0ull : 7);
    const s64 s = i->src_signed ? extend(v, i->src_bits) : (s64)(v & mask_of(i->src_bits));
    if (has(i, "sat")) {
        const s64 low = i->is_signed ? -(s64)(mask_of(i->bits) >> 1) - 1 : 0;
        const s64 high =
            (s64)(i->is_signed || i->bits >= 64 ? mask_of(i->bits) >> 1 : mask_of(i->bits));
        return (u64)(s < low ? low : s > high ? high : s);
    }
    /* a register wider than the destination gets it sign- or zero-extended */
    return i->is_signed ? (u64)extend((u64)s, i->bits) & 0xffffffffffffffffull
                        : (u64)s & mask_of(i->bits);
}

static u64 multiplied(const Instr *i, u64 a, u64 b, int *bits)
{
    const int n = i->bits;
    const u64 ua = a & mask_of(n), ub = b & mask_of(n);
    const s64 sa = extend(a, n), sb = extend(b, n);
    if (has(i, "wide")) {
        *bits = 2 * n;
        return i->is_signed ? (u64)sa * (u64)sb : ua * ub;
    }
    if (!has(i, "hi"))
        return ua * ub;
    if (i->is_signed)
        return (u64)((__int128)sa * sb >> n);
    return (u64)((unsigned __int128)ua * ub >> n);
}

static u64 divided(const Instr *i, u64 a, u64 b, bool rest)
{
    const u64 ua = a & mask_of(i->bits), ub = b & mask_of(i->bits);
    if (!ub)
        return rest ? ua : mask_of(i->bits);
    if (!i->is_signed)
        return rest ? ua % ub : ua / ub;
    const s64 sa = extend(a, i->bits), sb = extend(b, i->bits);
    if (sb == -1)
        return rest ? 0 : -(u64)sa;
    return (u64)(rest ? sa % sb : sa / sb);
}

static u64 field(const Instr *i, u64 a, u64 at, u64 length)
{
    const int n = i->bits, pos = (int)(at & 0xff), len = (int)(length & 0xff);
    if (len == 0)
        return 0;
    const int last = pos + len - 1 < n - 1 ? pos + len - 1 : n - 1;
    const u64 sign = i->is_signed ? a >> last & 1 : 0;
    u64 r = sign ? ~0ull : 0;
    for (int j = 0; j < len && j < n; j++) {
        const u64 bit = pos + j < n ? a >> (pos + j) & 1 : sign;
        r = (r & ~(1ull << j)) | bit << j;
    }
    return r;
}

static u64 permuted(u64 a, u64 b, u64 how)
{
    const u64 all = (a & 0xffffffff) | b << 32;
    u64 r = 0;
    for (int j = 0; j < 4; j++) {
        const u64 pick = how >> 4 * j & 15, byte = all >> 8 * (pick & 7) & 255;
        r |= (pick & 8 ? (byte >> 7 ? 255 : 0) : byte) << 8 * j;
    }
    return r;
}

static u64 logic3(u64 a, u64 b, u64 c, u64 table)
{
    u64 r = 0;
    for (int j = 0; j < 32; j++)
        r |= (table >> ((a >> j & 1) * 4 + (b >> j & 1) * 2 + (c >> j & 1)) & 1) << j;
    return r;
}

static u64 funnel(const Instr *i, u64 a, u64 b, u64 c)
{
    const u64 n = has(i, "clamp") ? ((c & 0xffffffff) > 32 ? 32 : c) : c & 31,
              both = (a & 0xffffffff) | b << 32;
    return has(i, "l") ? (both << n) >> 32 : both >> n;
}

static void mov(Machine *m, Warp *w, int lane, const Instr *i)
{
    const Operand *to = &i->arg[0], *from = &i->arg[1];
    if (to->kind == O_LIST) { /* unpack */
        const int each = i->bits / to->count;
        const u64 v = operand(m, w, lane, from);
        for (int j = 0; j < to->count; j++)
            result(m, w, lane, &m->kernel->item[to->first + j], each, v >> each * j);
    } else if (from->kind == O_LIST) {
        const int each = i->bits / from->count;
        u64 v = 0;
        for (int j = 0; j < from->count; j++)
            v |= (operand(m, w, lane, &m->kernel->item[from->first + j]) & mask_of(each))
                 << each * j;
        result(m, w, lane, to, i->bits, v);
    } else {
        u64 v = operand(m, w, lane, from);
        result(m, w, lane, to, i->bits, i->bits == 1 ? v != 0 : v);
    }
}

static u64 saturated(const Instr *i, s64 v)
{
    if (!has(i, "sat"))
        return (u64)v;
    return (u64)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

static u64 shifted(const Instr *i, u64 a, u64 by, bool left)
{
    const u64 n = by & 0xffffffff;
    const s64 s = i->is_signed ? extend(a, i->bits) : (s64)(a & mask_of(i->bits));
    if (n >= (u64)i->bits)
        return left || !i->is_signed || s >= 0 ? 0 : ~0ull;
    return left ? a << n : i->is_signed ? (u64)(s >> n) : (u64)s >> n;
}

static void compute_lane(Machine *m, Warp *w, int lane, const Instr *i)
{
    const int id = instr_rows[i->op].id;
    if (id == I_MOV) {
        mov(m, w, lane, i);
        return;
    }
    if (id == I_SETP || id == I_SET) {
        compare_set(m, w, lane, i);
        return;
    }
    u64 v[4] = { 0 }, r = 0;
    int bits = i->bits;
    if (id == I_FLOAT || (i->is_float && id != I_SELP && id != I_CVT)) {
        r = noise(m->data_seed, (u64)i->line * 64 + (u64)lane + m->progress);
        result(m, w, lane, &i->arg[0], bits, r);
        return;
    }
    for (int j = 1; j < i->n_args && j < 5; j++)
        v[j - 1] = operand(m, w, lane, &i->arg[j]);
    const s64 a = extend(v[0], bits), b = extend(v[1], bits);
    const u64 ua = v[0] & mask_of(bits), ub = v[1] & mask_of(bits);
    switch (id) {
    case I_ADD:
        r = saturated(i, a + (s64)(u64)b);
        break;
    case I_SUB:
        r = saturated(i, (s64)((u64)a - (u64)b));
        break;
    case I_MUL:
        r = multiplied(i, v[0], v[1], &bits);
        break;
    case I_MAD:
        r = multiplied(i, v[0], v[1], &bits) + v[2];
        break;
    case I_DIV:
        r = divided(i, v[0], v[1], false);
        break;
    case I_REM:
        r = divided(i, v[0], v[1], true);
        break;
    case I_MIN:
        r = i->is_signed ? (u64)(a < b ? a : b) : ua < ub ? ua : ub;
        break;
    case I_MAX:
        r = i->is_signed ? (u64)(a > b ? a : b) : ua > ub ? ua : ub;
        break;
    case I_ABS:
        r = a < 0 ? -(u64)a : (u64)a;
        break;
    case I_NEG:
        r = -(u64)a;
        break;
    case I_AND:
        r = v[0] & v[1];
        break;
    case I_OR:
        r = v[0] | v[1];
        break;
    case I_XOR:
        r = v[0] ^ v[1];
        break;
    case I_NOT:
        r = bits == 1 ? !v[0] : ~v[0];
        break;
    case I_CNOT:
        r = ua == 0;
        break;
    case I_SHL:
        r = shifted(i, v[0], v[1], true);
        break;
    case I_SHR:
        r = shifted(i, v[0], v[1], false);
        break;
    case I_BFE:
        r = field(i, v[0], v[1], v[2]);
        break;
    case I_BFI: {
        const u64 pos = v[2] & 255, len = v[3] & 255;
        const u64 field_mask = pos >= 64 ? 0 : (len >= 64 ? ~0ull : (1ull << len) - 1) << pos;
        r = (v[1] & ~field_mask) | ((pos >= 64 ? 0 : v[0] << pos) & field_mask);
        break;
    }
    case I_BREV:
        for (int j = 0; j < bits; j++)
            r |= (v[0] >> j & 1) << (bits - 1 - j);
        break;
    case I_CLZ:
        r = ua ? (u64)(__builtin_clzll(ua) - (64 - bits)) : (u64)bits;
        bits = 32;
        break;
    case I_POPC:
        r = (u64)__builtin_popcountll(ua);
        bits = 32;
        break;
    case I_PRMT:
        r = permuted(v[0], v[1], v[2]);
        break;
    case I_LOP3:
        r = logic3(v[0], v[1], v[2], v[3]);
        break;
    case I_SHF:
        r = funnel(i, v[0], v[1], v[2]);
        break;
    case I_SELP:
        r = v[2] ? v[0] : v[1];
        break;
    case I_CVT:
        r = converted(m, i, v[0], (u64)i->line * 64 + (u64)lane);
        if (!i->is_float && bits < 32)
            bits = 32;
        break;
    case I_CVTA:
        r = has(i, "shared") ? (has(i, "to") ? v[0] - SHARED_SPACE : v[0] + SHARED_SPACE) : v[0];
        break;
    case I_MAPA:
        r = ((v[1] & 0xff) + 1) << 24 | (v[0] & 0xffffff);
        if ((v[1] & 0xffffffff) >= (u64)m->n_ctas)
            fault(m, "line %d: mapa to a CTA that the cluster does not have", i->line);
        break;
    default:
        unknown(m, "line %d: an instruction without a meaning here", i->line);
    }
    result(m, w, lane, &i->arg[0], bits, r);
}

void compute(Machine *m, Warp *w, u32 lanes, const Instr *i)
{
    for (int lane = 0; lane < LANES; lane++)
        if (lanes >> lane & 1)
            compute_lane(m, w, lane, i);
}
