/* Which lane of which wave holds which element of a value. The waves of a half stand in a grid of
 * `waves_m` by `waves_n` over the accumulators (codegen/wave_roles.h). The columns of operands are
 * ordered in fours or in eights: both operands of a product alike, in fours where a statement makes
 * one of them. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "codegen/wave_roles.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"

void ws_amd_refuse(WsEmit *e, const WsOp *op, const char *why, const char *remedy)
{
    ws_generate_refuse(&e->error, e->host ? "rehearse" : "generate", op,
                       e->agent ? e->agent->path : NULL, why, remedy);
}

static void refuse(WsEmit *e, const WsRegValue *v, const char *why, const char *remedy)
{
    g_autofree char *text = ws_phrase("value %s %s", v->name, why);
    ws_generate_refuse(&e->error, e->host ? "rehearse" : "generate", NULL, e->p->agent[0].path,
                       text, remedy);
}

static void shape(WsEmit *e, const WsWaveRoles *r, guint i)
{
    const WsRegValue *v = &e->p->agent[0].value[i];
    const WsWaveRole *is = &r->role[i];
    WsAmdValue *x = &e->amd->value[i];
    const guint bytes = ws_dtype_bytes(v->dtype);
    if (v->cols == 1) {
        if (bytes != 4) {
            refuse(e, v, WS_WORD("holds a row in one element of fewer than 32 bits"), NULL);
            return;
        }
        x->shape = v->rows == 1 ? WS_AMD_ONE : WS_AMD_ROWS;
        x->type = ws_dtype_real(v->dtype) ? e->f32 : e->i32;
        x->rows = v->rows == 1 ? WS_AMD_BLOCK : v->rows / e->amd->waves_m;
        x->cols = x->cuts = 1;
        x->blocks = MAX(x->rows / WS_AMD_BLOCK, 1);
        if (v->rows > 1 && v->rows % (WS_AMD_BLOCK * e->amd->waves_m) != 0)
            refuse(e, v, WS_WORD("has rows that waves of 16 rows do not share evenly"),
                   WS_WORD("multiples of 128 rows in a group"));
        return;
    }
    if (v->rows == 1 || (bytes != 4 && v->dtype != WS_DTYPE_F16 && v->dtype != WS_DTYPE_BF16)) {
        refuse(e, v, WS_WORD("is of a shape or dtype without a layout in waves"),
               WS_WORD("tiles of f32, f16 or bf16"));
        return;
    }
    if (is->b && (is->a || is->math || is->sum)) {
        refuse(e, v, WS_WORD("is operand b of a product and something else, too"),
               WS_WORD("a value of its own for operand b"));
        return;
    }
    x->shape = WS_AMD_TILE;
    x->packed = bytes == 2;
    x->share = is->b ? WS_AMD_BY_N : is->a ? WS_AMD_BY_M : WS_AMD_BY_MN;
    x->order = !x->packed || ws_wave_by_statements(r, is->klass) || !(is->a || is->b)
                   ? WS_AMD_FOUR
                   : WS_AMD_EIGHT;
    const guint over_rows = is->b ? e->amd->waves_n : e->amd->waves_m;
    const guint over_cols = x->share == WS_AMD_BY_MN ? e->amd->waves_n : 1;
    const guint cut = x->packed ? WS_AMD_K : WS_AMD_BLOCK;
    if (v->rows % (WS_AMD_BLOCK * over_rows) != 0 || v->cols % (cut * over_cols) != 0) {
        refuse(e, v, WS_WORD("has rows or columns that waves do not share evenly"),
               WS_WORD("multiples of 128 rows in a group, and of 64 columns"));
        return;
    }
    x->rows = v->rows / over_rows;
    x->cols = v->cols / over_cols;
    x->blocks = x->rows / WS_AMD_BLOCK;
    x->cuts = x->cols / cut;
    x->type = ws_amd_vector(x->packed || v->dtype == WS_DTYPE_I32 ? e->i32 : e->f32, 4);
}

gboolean ws_amd_layout(WsEmit *e)
{
    WsWaveRoles r = ws_wave_roles(e->p);
    const WsAgent *agent = &e->p->agent[0];
    e->amd->waves_n = r.waves_n;
    e->amd->waves_m = r.waves_m;
    e->row_lanes = WS_AMD_BLOCK * e->amd->waves_m;
    e->quad_lanes = 4 * e->amd->waves_n;
    e->amd->value = g_new0(WsAmdValue, agent->n_values + 1);
    for (guint i = 0; i < agent->n_values && !e->error; i++) {
        WsAmdValue *x = &e->amd->value[i];
        shape(e, &r, i);
        x->cell = g_new0(LLVMValueRef, (gsize)x->blocks * x->cuts + 1);
        for (guint k = 0; k < x->blocks * x->cuts && !e->error; k++)
            x->cell[k] = ws_cell(e, x->type, agent->value[i].name);
    }
    ws_wave_roles_clear(&r);
    return !e->error;
}

void ws_amd_layout_clear(WsEmit *e)
{
    for (guint i = 0; e->amd->value && i < e->p->agent[0].n_values; i++)
        g_free(e->amd->value[i].cell);
    g_clear_pointer(&e->amd->value, g_free);
}

WsAmdValue *ws_amd_value(WsEmit *e, const WsOp *op, guint i)
{
    const WsValueUse *use = &op->value[i];
    const WsRegValue *v = &e->p->agent[0].value[use->value];
    gint64 row = 0, col = 0;
    if ((use->row0 && (!ws_expr_is_int(use->row0, &row) || row != 0)) ||
        (use->col0 && (!ws_expr_is_int(use->col0, &col) || col != 0)) || use->rows != v->rows ||
        use->cols != v->cols) {
        ws_amd_refuse(e, op, WS_WORD("a part of a value"),
                      WS_WORD("values of their own for the parts"));
        return NULL;
    }
    return &e->amd->value[use->value];
}

LLVMValueRef ws_amd_get(WsEmit *e, const WsAmdValue *v, guint block, guint cut)
{
    return ws_load(e, v->type, v->cell[block * v->cuts + cut], "");
}

void ws_amd_set(WsEmit *e, const WsAmdValue *v, guint block, guint cut, LLVMValueRef x)
{
    LLVMBuildStore(e->b, x, v->cell[block * v->cuts + cut]);
}

LLVMValueRef ws_amd_row(WsEmit *e, const WsAmdValue *v, guint block)
{
    LLVMValueRef wave = v->share == WS_AMD_BY_N ? e->amd->wave_n : e->amd->wave_m;
    LLVMValueRef first = LLVMBuildMul(e->b, wave, ws_i32(e, v->rows), "");
    return ws_add(e, LLVMBuildAdd(e->b, first, e->amd->lane_row, ""), block * WS_AMD_BLOCK);
}

guint ws_amd_run(const WsAmdValue *v)
{
    return v->order == WS_AMD_FOUR ? 4 : 8;
}

guint ws_amd_runs(const WsAmdValue *v)
{
    return v->cols / (4 * ws_amd_run(v)); /* four lanes share a row */
}

LLVMValueRef ws_amd_col(WsEmit *e, const WsAmdValue *v, guint run)
{
    const guint width = ws_amd_run(v);
    LLVMValueRef col = LLVMBuildMul(e->b, e->amd->lane_group, ws_i32(e, width), "");
    if (v->share == WS_AMD_BY_MN)
        col =
            LLVMBuildAdd(e->b, col, LLVMBuildMul(e->b, e->amd->wave_n, ws_i32(e, v->cols), ""), "");
    return ws_add(e, col, (gint64)run * 4 * width);
}
