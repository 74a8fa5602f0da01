#include "import/ptx/lanes/lanes.h"

#include <string.h>

/* Instructions on numbers of 32 bits that are known in every thread. */

enum {
    AND,
    OR,
    XOR,
    NOT,
    ADD,
    SUB,
    MUL,
    SHL,
    SHR,
    DIV,
    REM,
    MOV,
    SELP,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    BFE,
    MAD,
    HIGH,
    N_OPS
};
_Static_assert(N_OPS == PTX_LANE_OPS, "lanes.h says how many");

static const struct {
    const char *word; /* what it begins with, up to a dot */
    guint args;
} ops[N_OPS] = { { "and", 2 },     { "or", 2 },      { "xor", 2 },     { "not", 1 },
                 { "add", 2 },     { "sub", 2 },     { "mul.lo", 2 },  { "shl", 2 },
                 { "shr", 2 },     { "div", 2 },     { "rem", 2 },     { "mov", 1 },
                 { "selp", 3 },    { "setp.eq", 2 }, { "setp.ne", 2 }, { "setp.lt", 2 },
                 { "setp.le", 2 }, { "setp.gt", 2 }, { "setp.ge", 2 }, { "bfe", 3 },
                 { "mad.lo", 3 },  { "mul.hi", 2 } };

static const char *const types[] = { ".u32", ".s32", ".b32", ".pred" };

guint ptx_lanes_operation(const WsPtxInst *i, gboolean *is_signed)
{
    for (guint k = 0; k < N_OPS; k++) {
        const gsize n = strlen(ops[k].word);
        if (strncmp(i->op, ops[k].word, n) || i->n != ops[k].args + 1)
            continue;
        for (guint t = 0; t < G_N_ELEMENTS(types); t++)
            if (!strcmp(i->op + n, types[t])) {
                *is_signed = t == 1;
                return k;
            }
    }
    return PTX_LANE_OPS;
}

gboolean ptx_lanes_compute(guint op, gboolean is_signed, gint64 a, gint64 b, gint64 c, gint64 *out)
{
    const guint32 x = (guint32)a, y = (guint32)b;
    const gint64 s = is_signed ? (gint64)(gint32)x : (gint64)x,
                 u = is_signed ? (gint64)(gint32)y : (gint64)y;
    gint64 v;
    switch (op) {
    case AND:
        v = x & y;
        break;
    case OR:
        v = x | y;
        break;
    case XOR:
        v = x ^ y;
        break;
    case NOT:
        return FALSE; /* of a predicate it is another than of a number */
    case ADD:
        v = (guint32)(x + y);
        break;
    case SUB:
        v = (guint32)(x - y);
        break;
    case MUL:
        v = (guint32)(x * y);
        break;
    case SHL:
        v = y > 31 ? 0 : (guint32)(x << y);
        break;
    case SHR:
        v = s >> MIN(y, is_signed ? 31 : 32);
        break;
    case DIV:
        if (!u)
            return FALSE;
        v = s / u;
        break;
    case REM:
        if (!u)
            return FALSE;
        v = s % u;
        break;
    case MOV:
        v = x;
        break;
    case SELP:
        v = c ? x : y;
        break;
    case EQ:
        v = x == y;
        break;
    case NE:
        v = x != y;
        break;
    case LT:
        v = s < u;
        break;
    case LE:
        v = s <= u;
        break;
    case GT:
        v = s > u;
        break;
    case GE:
        v = s >= u;
        break;
    case BFE:
        if (is_signed)
            return FALSE;
        v = (y & 255) > 31 ? 0 : (gint64)x >> (y & 255);
        v &= (c & 255) > 31 ? G_MAXUINT32 : ((gint64)1 << (c & 255)) - 1;
        break;
    case MAD:
        v = (guint32)(x * y + (guint32)c);
        break;
    case HIGH:
        v = is_signed ? s * u >> 32 : (gint64)((guint64)x * y >> 32);
        break;
    default:
        return FALSE;
    }
    *out = (guint32)v;
    return TRUE;
}
