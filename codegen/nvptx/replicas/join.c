#include "codegen/nvptx/replicas/join.h"
#include "codegen/nvptx/replicas/alike.h"
#include "program/parts/agent.h"
#include "program/program.h"

#include <string.h>

/* An operand of the first replica's code, by replica. */
typedef struct {
    LLVMValueRef instruction;
    guint operand;
    gint64 *by;            /* [n]: what is added to it */
    LLVMValueRef *instead; /* [n]: NULL, or what it is, by[] added */
} Patch;

typedef struct {
    WsEmit *e;
    WsRoleCode *role; /* [n]: the replicas */
    guint n, base;    /* whose code runs for all */
    LLVMBasicBlockRef exit;
    GPtrArray **differ; /* [n]: WsAlikeDifference; of `base` NULL */
    GPtrArray *patch;
    LLVMValueRef number; /* of the replica, i32 */
    GHashTable *made;    /* text of `by` and type -> value at the head of the role */
} Join;

static void free_patch(gpointer data)
{
    Patch *p = data;
    g_free(p->by);
    g_free(p->instead);
    g_free(p);
}

static Patch *patch_of(Join *j, const WsAlikeDifference *d)
{
    for (guint i = 0; i < j->patch->len; i++) {
        Patch *p = j->patch->pdata[i];
        if (p->instruction == d->instruction && p->operand == d->operand)
            return p;
    }
    Patch *p = g_new0(Patch, 1);
    p->instruction = d->instruction;
    p->operand = d->operand;
    p->by = g_new0(gint64, j->n);
    p->instead = g_new0(LLVMValueRef, j->n);
    g_ptr_array_add(j->patch, p);
    return p;
}

/* --- what is added ---------------------------------------------------------------------------- */

static LLVMValueRef constant(LLVMTypeRef type, gint64 v)
{
    return LLVMConstInt(type, (guint64)v & (LLVMGetIntTypeWidth(type) == 32 ? 0xffffffffu : ~0ull),
                        TRUE);
}

static LLVMValueRef is_replica(Join *j, guint r)
{
    return LLVMBuildICmp(j->e->b, LLVMIntEQ, j->number, ws_i32(j->e, r), "");
}

static gboolean is_line(const Join *j, const gint64 *by)
{
    for (guint i = 0; i < j->n; i++) {
        if ((guint64)by[i] - (guint64)by[0] != i * ((guint64)by[1] - (guint64)by[0]))
            return FALSE;
    }
    return TRUE;
}

/* At the head of the role, once for all that add the same. */
static LLVMValueRef added(Join *j, const gint64 *by, LLVMTypeRef type)
{
    GString *key = g_string_new(NULL);
    g_string_printf(key, "%u", LLVMGetIntTypeWidth(type));
    for (guint i = 0; i < j->n; i++)
        g_string_append_printf(key, " %" G_GINT64_FORMAT, by[i]);
    LLVMValueRef v = g_hash_table_lookup(j->made, key->str);
    if (v) {
        g_string_free(key, TRUE);
        return v;
    }
    WsEmit *e = j->e;
    LLVMPositionBuilderBefore(e->b, LLVMGetNextInstruction(j->number));
    if (is_line(j, by)) {
        v = type == e->i32 ? j->number : LLVMBuildZExt(e->b, j->number, type, "");
        v = LLVMBuildMul(e->b, v, constant(type, (gint64)((guint64)by[1] - (guint64)by[0])), "");
        v = LLVMBuildAdd(e->b, v, constant(type, by[0]), "replica");
    } else {
        v = constant(type, by[0]);
        for (guint i = 1; i < j->n; i++)
            v = LLVMBuildSelect(e->b, is_replica(j, i), constant(type, by[i]), v, "replica");
    }
    g_hash_table_insert(j->made, g_string_free(key, FALSE), v);
    return v;
}

/* A value that comes into a choice is made where it comes from. */
static LLVMValueRef place_of(const Patch *p)
{
    if (LLVMGetInstructionOpcode(p->instruction) != LLVMPHI)
        return p->instruction;
    return LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(p->instruction, p->operand));
}

static void apply(Join *j, const Patch *p)
{
    LLVMBuilderRef b = j->e->b;
    LLVMValueRef v = LLVMGetOperand(p->instruction, p->operand);
    gint64 any = 0;
    for (guint i = 0; i < j->n; i++)
        any |= p->instead[i] ? 0 : p->by[i];
    if (any) {
        LLVMValueRef by = added(j, p->by, LLVMTypeOf(v));
        LLVMPositionBuilderBefore(b, place_of(p));
        v = LLVMBuildAdd(b, v, by, "");
    }
    LLVMPositionBuilderBefore(b, place_of(p));
    for (guint i = 0; i < j->n; i++) {
        LLVMValueRef x = p->instead[i];
        if (x && p->by[i])
            x = LLVMBuildAdd(b, x, constant(LLVMTypeOf(x), p->by[i]), "");
        if (x)
            v = LLVMBuildSelect(b, is_replica(j, i), x, v, "");
    }
    LLVMSetOperand(p->instruction, p->operand, v);
}

/* --- calls of some replicas only -------------------------------------------------------------- */

/* The one instruction of the text under a predicate. */
static LLVMValueRef predicated(WsEmit *e, LLVMValueRef call, LLVMValueRef *arg, guint n)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t size, length;
    const char *all = LLVMGetInlineAsmAsmString(callee, &size);
    const char *comment = all, *text = ws_alike_asm(callee, &size);
    const char *letters = LLVMGetInlineAsmConstraintString(callee, &length);
    g_autofree char *clobbers = g_strndup(letters, length);
    char *tail = strstr(clobbers, "~{");
    g_autofree char *behind = g_strdup(tail ? tail : "");
    if (tail)
        *tail = '\0';
    const gboolean comma = *clobbers && !g_str_has_suffix(clobbers, ",");
    g_autofree char *constraints =
        g_strdup_printf("%s%sb%s%s", clobbers, comma ? "," : "", *behind ? "," : "", behind);
    g_autofree char *asm_text =
        g_strdup_printf("%.*s@$%u %.*s", (int)(text - comment), comment, n - 1, (int)size, text);
    g_autofree LLVMTypeRef *type = g_new0(LLVMTypeRef, n);
    for (guint i = 0; i < n; i++)
        type[i] = LLVMTypeOf(arg[i]);
    LLVMTypeRef ft = LLVMFunctionType(e->none, type, n, 0);
    LLVMValueRef f =
        LLVMGetInlineAsm(ft, asm_text, strlen(asm_text), constraints, strlen(constraints), TRUE,
                         FALSE, LLVMInlineAsmDialectATT, FALSE);
    LLVMValueRef made = LLVMBuildCall2(e->b, ft, f, arg, n, "");
    ws_llvm_mark_asm(e, made, WS_PRIM_EFFECT);
    return made;
}

/* On the host a function that calls it if its last argument says so. */
static void conditional(WsEmit *e, LLVMValueRef call, LLVMValueRef *arg, guint n)
{
    g_autofree LLVMTypeRef *type = g_new0(LLVMTypeRef, n);
    g_autofree LLVMValueRef *given = g_new0(LLVMValueRef, n);
    for (guint i = 0; i < n; i++)
        type[i] = LLVMTypeOf(arg[i]);
    LLVMTypeRef ft = LLVMFunctionType(e->none, type, n, 0);
    LLVMValueRef f = LLVMAddFunction(e->module, "some.replicas", ft);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(e->ctx);
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(e->ctx, f, "head");
    LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(e->ctx, f, "then");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->ctx, f, "done");
    for (guint i = 0; i < n; i++)
        given[i] = LLVMGetParam(f, i);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMBuildCondBr(b, given[n - 1], then, done);
    LLVMPositionBuilderAtEnd(b, then);
    LLVMBuildCall2(b, LLVMGetCalledFunctionType(call), LLVMGetCalledValue(call), given, n - 1, "");
    LLVMBuildBr(b, done);
    LLVMPositionBuilderAtEnd(b, done);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    LLVMBuildCall2(e->b, ft, f, arg, n, "");
}

/* Where the builder stands. */
static void call_if(WsEmit *e, LLVMValueRef call, GArray *arg, LLVMValueRef condition)
{
    g_array_append_val(arg, condition);
    LLVMValueRef *v = (LLVMValueRef *)(gpointer)arg->data;
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
        predicated(e, call, v, arg->len);
    else
        conditional(e, call, v, arg->len);
}

static void call_extra(Join *j, guint replica, const WsAlikeDifference *d)
{
    LLVMPositionBuilderBefore(j->e->b, d->instruction);
    call_if(j->e, d->value, d->arg, is_replica(j, replica));
}

static gboolean lacks(const Join *j, guint replica, LLVMValueRef call)
{
    for (guint i = 0; j->differ[replica] && i < j->differ[replica]->len; i++) {
        const WsAlikeDifference *d = j->differ[replica]->pdata[i];
        if (d->kind == WS_ALIKE_WITHOUT && d->instruction == call)
            return TRUE;
    }
    return FALSE;
}

/* A call that not all have: its operands are as they were patched. */
static void call_without(Join *j, LLVMValueRef call)
{
    WsEmit *e = j->e;
    g_autoptr(GArray) arg = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef));
    LLVMPositionBuilderBefore(e->b, call);
    LLVMValueRef has = LLVMConstInt(e->i1, 1, FALSE);
    for (guint r = 0; r < j->n; r++) {
        if (lacks(j, r, call))
            has = LLVMBuildAnd(e->b, has, LLVMBuildNot(e->b, is_replica(j, r), ""), "");
    }
    for (guint i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef v = LLVMGetOperand(call, i);
        g_array_append_val(arg, v);
    }
    call_if(e, call, arg, has);
}

/* --- one code --------------------------------------------------------------------------------- */

static void erase(LLVMBasicBlockRef role, LLVMBasicBlockRef exit)
{
    g_autoptr(GPtrArray) blocks = ws_alike_blocks(role, exit);
    for (guint i = 0; i < blocks->len; i++) {
        LLVMValueRef x;
        while ((x = LLVMGetLastInstruction(blocks->pdata[i]))) {
            if (LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMVoidTypeKind)
                LLVMReplaceAllUsesWith(x, LLVMGetUndef(LLVMTypeOf(x)));
            LLVMInstructionEraseFromParent(x);
        }
    }
    for (guint i = 0; i < blocks->len; i++)
        LLVMDeleteBasicBlock(blocks->pdata[i]);
}

/* The base's code takes the warps of all, and nobody comes to the others. */
static void retarget(Join *j)
{
    WsEmit *e = j->e;
    LLVMSetOperand(j->role[0].mine, 1, ws_i32(e, j->role[j->n - 1].end));
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(j->role[0].head), 0, j->role[j->base].role);
    for (guint i = 1; i < j->n; i++) {
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(j->role[i].head);
        LLVMBasicBlockRef next = j->role[i].mine ? LLVMGetSuccessor(branch, 1) : j->exit;
        LLVMInstructionEraseFromParent(branch);
        LLVMPositionBuilderAtEnd(e->b, j->role[i].head);
        LLVMBuildBr(e->b, next);
    }
    for (guint i = 0; i < j->n; i++) {
        if (i != j->base)
            erase(j->role[i].role, j->exit);
    }
}

static void join(Join *j)
{
    WsEmit *e = j->e;
    const WsAgent *a = &e->p->agent[j->role[0].agent];
    g_autoptr(GHashTable) without = g_hash_table_new(NULL, NULL);
    LLVMPositionBuilderBefore(e->b, LLVMGetFirstInstruction(j->role[j->base].role));
    LLVMValueRef warp = LLVMBuildSub(e->b, e->warp, ws_i32(e, a->warp0), "");
    j->number = LLVMBuildUDiv(e->b, warp, ws_i32(e, a->warps), "replica.number");
    for (guint r = 0; r < j->n; r++) {
        for (guint i = 0; j->differ[r] && i < j->differ[r]->len; i++) {
            const WsAlikeDifference *d = j->differ[r]->pdata[i];
            if (d->kind == WS_ALIKE_CALL) {
                call_extra(j, r, d);
            } else if (d->kind == WS_ALIKE_WITHOUT) {
                g_hash_table_add(without, d->instruction);
            } else {
                Patch *p = patch_of(j, d);
                p->by[r] = d->delta;
                p->instead[r] = d->value;
            }
        }
    }
    for (guint i = 0; i < j->patch->len; i++)
        apply(j, j->patch->pdata[i]);
    GHashTableIter at;
    gpointer call;
    g_hash_table_iter_init(&at, without);
    while (g_hash_table_iter_next(&at, &call, NULL)) {
        call_without(j, call);
        LLVMInstructionEraseFromParent(call);
    }
    retarget(j);
}

static gboolean follows(const WsEmit *e, const WsRoleCode *a, const WsRoleCode *b)
{
    if (a->agent < 0 || b->agent < 0 || !a->mine)
        return FALSE;
    const WsAgent *x = &e->p->agent[a->agent], *y = &e->p->agent[b->agent];
    return x->group == y->group && y->replica == x->replica + 1 && x->warps == y->warps &&
           y->warp0 == x->warp0 + x->warps;
}

/* The longest code: what the others lack of it they pass by. */
static guint longest(const Join *j)
{
    guint best = 0, most = 0;
    for (guint i = 0; i < j->n; i++) {
        g_autoptr(GPtrArray) blocks = ws_alike_blocks(j->role[i].role, j->exit);
        if (blocks->len > most) {
            most = blocks->len;
            best = i;
        }
    }
    return best;
}

static void forget(Join *j)
{
    for (guint i = 0; i < j->n; i++)
        g_clear_pointer(&j->differ[i], g_ptr_array_unref);
}

/* Whether all run the code of one; if not, an error says why. */
static gboolean compare(Join *j)
{
    WsEmit *e = j->e;
    j->base = longest(j);
    for (guint i = 0; i < j->n && !e->error; i++) {
        const char *why = NULL;
        if (i == j->base)
            continue;
        j->differ[i] = ws_alike(e->b, j->role[j->base].role, j->role[i].role, j->exit, &why);
        if (!j->differ[i])
            ws_generate_refuse(&e->error, "generate", NULL, e->p->agent[j->role[i].agent].path, why,
                               "take `one_code` away");
    }
    return !e->error;
}

gboolean ws_replicas_joined(const WsEmit *e, const WsAgent *a)
{
    return a->one_code && !e->kind && !e->hold && !e->debug_waits && !e->delays && !e->recorder;
}

void ws_replicas_join(WsEmit *e, WsRoleCode *role, guint n, LLVMBasicBlockRef exit)
{
    for (guint i = 0; i < n && !e->error; i++) {
        if (role[i].agent < 0 || !ws_replicas_joined(e, &e->p->agent[role[i].agent]))
            continue;
        Join j = { .e = e, .role = role + i, .n = 1, .exit = exit };
        while (i + j.n < n && follows(e, &j.role[j.n - 1], &j.role[j.n]))
            j.n++;
        j.differ = g_new0(GPtrArray *, j.n);
        j.patch = g_ptr_array_new_with_free_func(free_patch);
        j.made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        if (j.n != e->p->agent[role[i].agent].replicas)
            ws_emit_internal_error(e, "%u replicas side by side", j.n);
        else if (compare(&j))
            join(&j);
        forget(&j);
        g_free(j.differ);
        g_ptr_array_unref(j.patch);
        g_hash_table_unref(j.made);
        i += j.n - 1;
    }
}
