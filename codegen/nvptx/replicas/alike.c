/* Two pieces of code side by side, instruction by instruction. A value of the second piece stands
 * for a value of the first plus a constant, so that an addition which only one of them needs (its
 * constant is 0 in the other) is no difference of shape. */
#include "codegen/nvptx/replicas/alike.h"
#include "base/phrase.h"

#define OTHER_STEPS                                                                                \
    WS_WORD("its replicas have other steps, not only other numbers and named barriers")
#define OTHER_VALUES WS_WORD("its replicas have values that no number of a replica gives")

/* How many instructions that one piece has alone may stand together. */
enum { ALONE = 12 };

/* value of the second piece -> this: what it is in the first */
typedef struct {
    LLVMValueRef v;
    gint64 delta;
} Image;

typedef struct {
    LLVMBuilderRef b;
    LLVMBasicBlockRef exit;
    GHashTable *image;       /* value of b -> Image */
    GHashTable *begins;      /* block of b -> where it begins in a */
    GHashTable *ends;        /* … and where its branch stands there */
    GHashTable *taken;       /* cells of a that stand for one of b already */
    GHashTable *in_a, *in_b; /* their blocks */
    GPtrArray *difference;
    GArray *later; /* choices, of a and of b in turn: compared at the end */
    const char *why;
} Alike;

static gboolean fail(Alike *k, const char *why)
{
    if (!k->why)
        k->why = why;
    return FALSE;
}

static gboolean is_wide(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
           (LLVMGetIntTypeWidth(t) == 32 || LLVMGetIntTypeWidth(t) == 64);
}

static gint64 sum(gint64 a, gint64 b)
{
    return (gint64)((guint64)a + (guint64)b);
}

static void stands_for(Alike *k, LLVMValueRef b, LLVMValueRef a, gint64 delta)
{
    Image *i = g_new(Image, 1);
    *i = (Image){ a, delta };
    g_hash_table_insert(k->image, b, i);
}

/* x + c with c constant: an integer of 32 or 64 bits. */
static gboolean is_sum(LLVMValueRef v, LLVMValueRef *x, gint64 *c)
{
    if (!is_wide(LLVMTypeOf(v)))
        return FALSE;
    if (LLVMIsAConstantExpr(v) ? LLVMGetConstOpcode(v) != LLVMAdd
                               : !LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMAdd)
        return FALSE;
    for (guint i = 0; i < 2; i++) {
        LLVMValueRef other = LLVMGetOperand(v, 1 - i);
        if (LLVMIsAConstantInt(other)) {
            *x = LLVMGetOperand(v, i);
            *c = LLVMConstIntGetSExtValue(other);
            return TRUE;
        }
    }
    return FALSE;
}

/* --- values ----------------------------------------------------------------------------------- */

static void free_difference(gpointer data)
{
    WsAlikeDifference *d = data;
    g_clear_pointer(&d->arg, g_array_unref);
    g_free(d);
}

static WsAlikeDifference *difference(Alike *k, WsAlikeKind kind, LLVMValueRef at, guint operand)
{
    WsAlikeDifference *d = g_new0(WsAlikeDifference, 1);
    d->kind = kind;
    d->instruction = at;
    d->operand = operand;
    g_ptr_array_add(k->difference, d);
    return d;
}

static gboolean used_only_in(LLVMValueRef cell, GHashTable *blocks)
{
    for (LLVMUseRef u = LLVMGetFirstUse(cell); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!g_hash_table_contains(blocks, LLVMGetInstructionParent(user)) &&
            (LLVMGetInstructionOpcode(user) != LLVMGetElementPtr || !used_only_in(user, blocks)))
            return FALSE;
    }
    return TRUE;
}

/* A part of a cell, as it stands in the entry block. */
static gboolean is_part(const Alike *k, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMGetElementPtr &&
           !g_hash_table_contains(k->in_b, LLVMGetInstructionParent(v)) &&
           LLVMIsAAllocaInst(LLVMGetOperand(v, 0));
}

/* Cells of the entry block that each piece has for itself. */
static gboolean cells(Alike *k, LLVMValueRef a, LLVMValueRef b)
{
    if (!LLVMIsAAllocaInst(a) || LLVMGetAllocatedType(a) != LLVMGetAllocatedType(b) ||
        LLVMGetOperand(a, 0) != LLVMGetOperand(b, 0) || LLVMGetAlignment(a) != LLVMGetAlignment(b))
        return fail(k, OTHER_VALUES);
    if (!used_only_in(a, k->in_a) || !used_only_in(b, k->in_b))
        return fail(k, OTHER_VALUES);
    if (!g_hash_table_add(k->taken, a))
        return fail(k, OTHER_VALUES);
    stands_for(k, b, a, 0);
    return TRUE;
}

static gboolean parts(Alike *k, LLVMValueRef a, LLVMValueRef b)
{
    if (!is_part(k, a) || !ws_alike_kind(a, b))
        return fail(k, OTHER_VALUES);
    for (guint i = 1; i < (guint)LLVMGetNumOperands(a); i++) {
        if (LLVMGetOperand(a, i) != LLVMGetOperand(b, i))
            return fail(k, OTHER_VALUES);
    }
    LLVMValueRef x = LLVMGetOperand(a, 0), y = LLVMGetOperand(b, 0);
    const Image *i = g_hash_table_lookup(k->image, y);
    if (i ? i->v != x : x != y && !cells(k, x, y))
        return fail(k, OTHER_VALUES);
    stands_for(k, b, a, 0);
    return TRUE;
}

static gboolean outside(const Alike *k, LLVMValueRef v)
{
    return !LLVMIsAInstruction(v) ||
           (!LLVMIsAAllocaInst(v) && !g_hash_table_contains(k->in_a, LLVMGetInstructionParent(v)) &&
            !g_hash_table_contains(k->in_b, LLVMGetInstructionParent(v)));
}

/* `b` in terms of the first piece. */
static gboolean image_of(Alike *k, LLVMValueRef b, LLVMValueRef *v, gint64 *delta)
{
    const Image *i = g_hash_table_lookup(k->image, b);
    *v = i ? i->v : b;
    *delta = i ? i->delta : 0;
    return i || outside(k, b) || fail(k, OTHER_VALUES);
}

static gboolean may_choose(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind || LLVMGetTypeKind(t) == LLVMFloatTypeKind;
}

/* Constant parts go into *c. */
static LLVMValueRef base_of(LLVMValueRef v, gint64 *c)
{
    gint64 by;
    LLVMValueRef x;
    while (is_sum(v, &x, &by)) {
        *c = sum(*c, by);
        v = x;
    }
    if (LLVMIsAConstantInt(v) && is_wide(LLVMTypeOf(v))) {
        *c = sum(*c, LLVMConstIntGetSExtValue(v));
        return NULL;
    }
    return v;
}

/* Operand `n` of the first piece's instruction `at`, which is `b` in the second. */
static gboolean values(Alike *k, LLVMValueRef at, guint n, LLVMValueRef b)
{
    LLVMValueRef a = LLVMGetOperand(at, n), want;
    gint64 delta, ca = 0, cb = 0;
    if (LLVMTypeOf(a) != LLVMTypeOf(b))
        return fail(k, OTHER_VALUES);
    if (LLVMIsAAllocaInst(b) && !g_hash_table_contains(k->image, b))
        return a == b ? !g_hash_table_contains(k->taken, a) || fail(k, OTHER_VALUES)
                      : cells(k, a, b);
    if (is_part(k, b) && !g_hash_table_contains(k->image, b))
        return parts(k, a, b);
    if (!image_of(k, b, &want, &delta))
        return FALSE;
    if (a == want && !delta)
        return TRUE;
    if (!ws_alike_computes(at) || !may_choose(LLVMTypeOf(a)))
        return fail(k, OTHER_VALUES);
    if (is_wide(LLVMTypeOf(a)) && base_of(a, &ca) == base_of(want, &cb)) {
        if ((delta = sum(delta, sum(cb, -ca))))
            difference(k, WS_ALIKE_CHANGE, at, n)->delta = delta;
        return TRUE;
    }
    WsAlikeDifference *d = difference(k, WS_ALIKE_CHOOSE, at, n);
    d->value = want;
    d->delta = delta;
    return TRUE;
}

/* --- what one piece has alone ----------------------------------------------------------------- */

static gboolean may_be_alone(LLVMValueRef v)
{
    return ws_alike_pure(v) || ws_alike_may_miss(v);
}

/* The operand as a value where the builder stands. */
static LLVMValueRef placed(Alike *k, LLVMValueRef b)
{
    LLVMValueRef v;
    gint64 delta;
    if (!image_of(k, b, &v, &delta))
        return NULL;
    return delta ? LLVMBuildAdd(k->b, v, LLVMConstInt(LLVMTypeOf(v), (guint64)delta, TRUE), "") : v;
}

static gboolean copy(Alike *k, LLVMValueRef b, LLVMValueRef before)
{
    const gboolean call = !ws_alike_pure(b);
    const guint n = call ? LLVMGetNumArgOperands(b) : (guint)LLVMGetNumOperands(b);
    g_autoptr(GArray) arg = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef));
    LLVMPositionBuilderBefore(k->b, before);
    for (guint i = 0; i < n; i++) {
        LLVMValueRef v = placed(k, LLVMGetOperand(b, i));
        if (!v)
            return FALSE;
        g_array_append_val(arg, v);
    }
    if (call) {
        WsAlikeDifference *d = difference(k, WS_ALIKE_CALL, before, 0);
        d->value = b;
        d->arg = g_steal_pointer(&arg);
        return TRUE;
    }
    LLVMValueRef made = LLVMInstructionClone(b);
    for (guint i = 0; i < n; i++)
        LLVMSetOperand(made, i, g_array_index(arg, LLVMValueRef, i));
    LLVMInsertIntoBuilder(k->b, made);
    stands_for(k, b, made, 0);
    return TRUE;
}

static GHashTable *set_of(const GPtrArray *blocks)
{
    GHashTable *set = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < blocks->len; i++)
        g_hash_table_add(set, blocks->pdata[i]);
    return set;
}

static gboolean is_choice(LLVMValueRef v)
{
    return LLVMGetInstructionOpcode(v) == LLVMPHI;
}

/* Where the code goes on behind an `if` without `else`, or NULL: nothing of it leads elsewhere, and
 * nothing is chosen there. */
static LLVMBasicBlockRef behind_if(Alike *k, LLVMValueRef branch)
{
    if (LLVMGetInstructionOpcode(branch) != LLVMBr || !LLVMIsConditional(branch))
        return NULL;
    LLVMBasicBlockRef then = LLVMGetSuccessor(branch, 0), after = LLVMGetSuccessor(branch, 1);
    g_autoptr(GPtrArray) inside = ws_alike_blocks(then, after);
    g_autoptr(GHashTable) set = set_of(inside);
    if (after == k->exit || g_hash_table_contains(set, LLVMGetInstructionParent(branch)) ||
        g_hash_table_contains(set, k->exit) || is_choice(LLVMGetFirstInstruction(after)))
        return NULL;
    for (guint i = 0; i < inside->len; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(inside->pdata[i]);
        if (!end || LLVMGetInstructionOpcode(end) != LLVMBr)
            return NULL;
    }
    return after;
}

/* The instruction behind `v`, if the piece may have what lies between alone; an `if` only the first
 * one. */
static LLVMValueRef past(Alike *k, LLVMValueRef v, gboolean first)
{
    if (may_be_alone(v))
        return LLVMGetNextInstruction(v);
    LLVMBasicBlockRef after = first ? behind_if(k, v) : NULL;
    return after ? LLVMGetFirstInstruction(after) : NULL;
}

static gboolean same_cell(const Alike *k, LLVMValueRef a, LLVMValueRef b)
{
    const LLVMOpcode op = LLVMGetInstructionOpcode(a);
    if (op != LLVMLoad && op != LLVMStore)
        return TRUE;
    const guint n = op == LLVMStore ? 1 : 0;
    const Image *i = g_hash_table_lookup(k->image, LLVMGetOperand(b, n));
    return i ? i->v == LLVMGetOperand(a, n)
             : !g_hash_table_contains(k->taken, LLVMGetOperand(a, n));
}

/* What the second piece passes by, from `a` on up to `x`. `b`: its block. */
static void leave_out(Alike *k, LLVMValueRef *a, LLVMValueRef x, LLVMBasicBlockRef b)
{
    while (*a != x) {
        if (ws_alike_may_miss(*a)) {
            difference(k, WS_ALIKE_WITHOUT, *a, 0);
        } else if (!ws_alike_pure(*a)) {
            LLVMValueRef none = LLVMConstNull(LLVMTypeOf(LLVMGetCondition(*a)));
            difference(k, WS_ALIKE_CHOOSE, *a, 0)->value = none;
            g_hash_table_insert(k->ends, b, behind_if(k, *a));
        }
        *a = past(k, *a, TRUE);
    }
}

/* Goes on where both are of the same kind again. `in`: block of the second piece. */
static gboolean resume(Alike *k, LLVMValueRef *a, LLVMValueRef *b, LLVMBasicBlockRef in)
{
    LLVMValueRef x[ALONE + 1] = { *a }, y[ALONE + 1] = { *b };
    for (guint i = 1; i <= ALONE; i++) {
        x[i] = x[i - 1] ? past(k, x[i - 1], TRUE) : NULL;
        y[i] = y[i - 1] ? past(k, y[i - 1], FALSE) : NULL;
    }
    for (guint both = 1; both <= ALONE; both++) {
        for (guint i = 0; i <= both; i++) {
            LLVMValueRef to = x[i], other = y[both - i];
            if (!to || !other || !ws_alike_kind(to, other) || !same_cell(k, to, other))
                continue;
            leave_out(k, a, to, in);
            for (; *b != other; *b = LLVMGetNextInstruction(*b)) {
                if (!copy(k, *b, to))
                    return FALSE;
            }
            return TRUE;
        }
    }
    return FALSE;
}

/* Additions of a constant that only one piece has: in the second they stand for what they are added
 * to, in the first they are seen through where they are used. */
static gboolean extra(Alike *k, LLVMValueRef *a, LLVMValueRef *b)
{
    LLVMValueRef x, y;
    gint64 c, d;
    const gboolean first = is_sum(*a, &x, &c), second = is_sum(*b, &y, &d);
    const Image *i = second ? g_hash_table_lookup(k->image, y) : NULL;
    if (first == second && (!first || x == (i ? i->v : y)))
        return FALSE;
    if (!second) {
        *a = LLVMGetNextInstruction(*a);
        return TRUE;
    }
    if (!i && !outside(k, y))
        return FALSE;
    stands_for(k, *b, i ? i->v : y, sum(d, i ? i->delta : 0));
    *b = LLVMGetNextInstruction(*b);
    return TRUE;
}

/* --- instructions ----------------------------------------------------------------------------- */

static gboolean pair(Alike *k, LLVMValueRef a, LLVMValueRef b)
{
    const LLVMOpcode op = LLVMGetInstructionOpcode(a);
    guint n = op == LLVMCall ? LLVMGetNumArgOperands(a) : (guint)LLVMGetNumOperands(a);
    if (op == LLVMBr)
        n = LLVMIsConditional(a) ? 1 : 0;
    for (guint i = 0; i < n; i++) {
        if (!values(k, a, i, LLVMGetOperand(b, i)))
            return FALSE;
    }
    stands_for(k, b, a, 0);
    return TRUE;
}

static gboolean choices(Alike *k, LLVMValueRef a, LLVMValueRef b)
{
    if (!is_choice(a) || !is_choice(b) || LLVMTypeOf(a) != LLVMTypeOf(b) ||
        LLVMCountIncoming(a) != LLVMCountIncoming(b) || LLVMHasMetadata(a) || LLVMHasMetadata(b))
        return fail(k, OTHER_STEPS);
    stands_for(k, b, a, 0);
    g_array_append_val(k->later, a);
    g_array_append_val(k->later, b);
    return TRUE;
}

/* All that came into the choices, now that every value is known. */
static gboolean incoming(Alike *k)
{
    for (guint p = 0; p < k->later->len; p += 2) {
        LLVMValueRef a = g_array_index(k->later, LLVMValueRef, p);
        LLVMValueRef b = g_array_index(k->later, LLVMValueRef, p + 1);
        for (guint i = 0; i < LLVMCountIncoming(a); i++) {
            if (g_hash_table_lookup(k->ends, LLVMGetIncomingBlock(b, i)) !=
                LLVMGetIncomingBlock(a, i))
                return fail(k, OTHER_STEPS);
            if (!values(k, a, i, LLVMGetIncomingValue(b, i)))
                return FALSE;
        }
    }
    return TRUE;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void collect(LLVMBasicBlockRef from, LLVMBasicBlockRef exit, GPtrArray *out,
                    GHashTable *seen)
{
    if (from == exit || !g_hash_table_add(seen, from))
        return;
    g_ptr_array_add(out, from);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    for (guint i = 0; end && i < LLVMGetNumSuccessors(end); i++)
        collect(LLVMGetSuccessor(end, i), exit, out, seen);
}

GPtrArray *ws_alike_blocks(LLVMBasicBlockRef from, LLVMBasicBlockRef exit)
{
    GPtrArray *out = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    collect(from, exit, out, seen);
    return out;
}

static gboolean walk(Alike *k, LLVMBasicBlockRef a, LLVMBasicBlockRef b);

static gboolean branches(Alike *k, LLVMValueRef x, LLVMValueRef y)
{
    if (LLVMGetNumSuccessors(x) != LLVMGetNumSuccessors(y))
        return fail(k, OTHER_STEPS);
    for (guint i = 0; i < LLVMGetNumSuccessors(x); i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(x, i), other = LLVMGetSuccessor(y, i);
        gpointer known = g_hash_table_lookup(k->begins, other);
        if (known ? known != (gpointer)to : !walk(k, to, other))
            return fail(k, OTHER_STEPS);
    }
    return TRUE;
}

static gboolean walk(Alike *k, LLVMBasicBlockRef a, LLVMBasicBlockRef b)
{
    if (a == k->exit || b == k->exit)
        return fail(k, OTHER_STEPS);
    g_hash_table_insert(k->begins, b, a);
    g_hash_table_insert(k->ends, b, a);
    LLVMValueRef x = LLVMGetFirstInstruction(a), y = LLVMGetFirstInstruction(b);
    while (x && y) {
        if (extra(k, &x, &y))
            continue;
        if (is_choice(x) || is_choice(y)) {
            if (!choices(k, x, y))
                return FALSE;
        } else if (!ws_alike_kind(x, y) || !same_cell(k, x, y)) {
            if (!resume(k, &x, &y, b))
                return fail(k, OTHER_STEPS);
            continue;
        } else if (!pair(k, x, y)) {
            return FALSE;
        } else if (LLVMGetInstructionOpcode(x) == LLVMBr) {
            return branches(k, x, y);
        }
        x = LLVMGetNextInstruction(x);
        y = LLVMGetNextInstruction(y);
    }
    return fail(k, OTHER_STEPS);
}

GPtrArray *ws_alike(LLVMBuilderRef builder, LLVMBasicBlockRef a, LLVMBasicBlockRef b,
                    LLVMBasicBlockRef exit, const char **why)
{
    g_autoptr(GPtrArray) first = ws_alike_blocks(a, exit), second = ws_alike_blocks(b, exit);
    Alike k = { .b = builder,
                .exit = exit,
                .image = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .begins = g_hash_table_new(NULL, NULL),
                .ends = g_hash_table_new(NULL, NULL),
                .taken = g_hash_table_new(NULL, NULL),
                .in_a = set_of(first),
                .in_b = set_of(second),
                .difference = g_ptr_array_new_with_free_func(free_difference),
                .later = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef)) };
    g_hash_table_insert(k.begins, exit, exit);
    const gboolean same = walk(&k, a, b) && incoming(&k);
    g_hash_table_unref(k.image);
    g_hash_table_unref(k.begins);
    g_hash_table_unref(k.ends);
    g_hash_table_unref(k.taken);
    g_hash_table_unref(k.in_a);
    g_hash_table_unref(k.in_b);
    g_array_unref(k.later);
    *why = k.why;
    if (same)
        return k.difference;
    g_ptr_array_unref(k.difference);
    return NULL;
}
