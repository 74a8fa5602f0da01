/* Which lane of which wave holds which element of a value. The waves of a half stand in a grid of
 * `waves_m` by `waves_n` over the accumulators (codegen/wave_roles.h). The columns of operands are
 * ordered in fours, eights or sixteens: both operands of a product alike, in fours where a
 * statement makes one of them. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "codegen/wave_roles.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

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

static void uneven(WsEmit *e, const WsRegValue *v, guint cols)
{
    const guint rows = e->amd->block * e->p->hardware->half_warps * e->p->hardware->halves;
    g_autofree char *remedy =
        cols ? ws_phrase("multiples of %u rows in a group, and of %u columns", rows, cols)
             : ws_phrase("multiples of %u rows in a group", rows);
    refuse(e, v, WS_WORD("has rows or columns that waves do not share evenly"), remedy);
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
        x->rows = v->rows == 1 ? e->amd->block : v->rows / e->amd->waves_m;
        x->cols = x->cuts = 1;
        x->blocks = MAX(x->rows / e->amd->block, 1);
        if (v->rows > 1 && v->rows % (e->amd->block * e->amd->waves_m) != 0)
            uneven(e, v, 0);
        return;
    }
    const gboolean eight = v->dtype == WS_DTYPE_E4M3 || v->dtype == WS_DTYPE_E5M2;
    if (v->rows == 1 ||
        (bytes != 4 && v->dtype != WS_DTYPE_F16 && v->dtype != WS_DTYPE_BF16 && !eight)) {
        refuse(e, v, WS_WORD("is of a shape or dtype without a layout in waves"),
               WS_WORD("tiles of f32, f16 or bf16, operands of e4m3 or e5m2"));
        return;
    }
    if (eight && (is->math || is->sum || !(is->a || is->b))) {
        refuse(e, v, WS_WORD("has 8-bit elements and is no operand of a product alone"),
               WS_WORD("statements on f32, f16 or bf16"));
        return;
    }
    if (is->b && (is->a || is->math || is->sum)) {
        refuse(e, v, WS_WORD("is operand b of a product and something else, too"),
               WS_WORD("a value of its own for operand b"));
        return;
    }
    x->shape = WS_AMD_TILE;
    x->bytes = bytes;
    x->share = is->b ? WS_AMD_BY_N : is->a ? WS_AMD_BY_M : WS_AMD_BY_MN;
    const gboolean read = (is->a || is->b) && !ws_wave_by_statements(r, is->klass);
    x->order = bytes == 1 ? WS_AMD_SIXTEEN : bytes == 2 && read ? WS_AMD_EIGHT : WS_AMD_FOUR;
    /* 8 elements of 16 bits, 32 of 8; of a sum as many as the block has for each lane */
    x->words = bytes == 1 ? 8 : bytes == 2 ? 4 : e->amd->block * e->amd->block / WS_AMD_LANES;
    const guint over_rows = is->b ? e->amd->waves_n : e->amd->waves_m;
    const guint over_cols = x->share == WS_AMD_BY_MN ? e->amd->waves_n : 1;
    const guint cut = x->words * 4 / bytes * e->amd->groups;
    if (v->rows % (e->amd->block * over_rows) != 0 || v->cols % (cut * over_cols) != 0) {
        uneven(e, v, MAX(cut * e->amd->waves_n, 64));
        return;
    }
    x->rows = v->rows / over_rows;
    x->cols = v->cols / over_cols;
    x->blocks = x->rows / e->amd->block;
    x->cuts = x->cols / cut;
    x->type = ws_amd_vector(bytes < 4 || v->dtype == WS_DTYPE_I32 ? e->i32 : e->f32, x->words);
}

gboolean ws_amd_layout(WsEmit *e)
{
    WsWaveRoles r = ws_wave_roles(e->p);
    const WsAgent *agent = &e->p->agent[0];
    e->amd->waves_n = r.waves_n;
    e->amd->waves_m = r.waves_m;
    e->row_lanes = e->amd->block * e->amd->waves_m;
    e->quad_lanes = e->amd->groups * e->amd->waves_n;
    e->exchanges = e->amd->groups == 4 ? 2 : 1;
    e->amd->value = g_new0(WsAmdValue, agent->n_values + 1);
    for (guint i = 0; i < agent->n_values && !e->error; i++) {
        WsAmdValue *x = &e->amd->value[i];
        shape(e, &r, i);
        x->cell = g_new0(LLVMValueRef, (gsize)x->blocks * x->cuts + 1);
        for (guint k = 0; k < x->blocks * x->cuts && !e->error; k++)
            x->cell[k] = ws_cell(e, x->type, agent->value[i].name);
    }
    for (guint i = 0; e->host && i < G_N_ELEMENTS(e->amd->scratch); i++)
        e->amd->scratch[i] = ws_cell(e, ws_amd_vector(i ? e->i32 : e->f32, i ? 8 : 16), "operand");
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
    return ws_add(e, LLVMBuildAdd(e->b, first, e->amd->lane_row, ""), block * e->amd->block);
}

guint ws_amd_run(const WsAmdValue *v)
{
    return v->order == WS_AMD_FOUR ? 4 : v->order == WS_AMD_EIGHT ? 8 : 16;
}

guint ws_amd_run_words(const WsAmdValue *v)
{
    return ws_amd_run(v) * v->bytes / 4;
}

guint ws_amd_runs(const WsEmit *e, const WsAmdValue *v)
{
    return v->cols / (e->amd->groups * ws_amd_run(v));
}

LLVMValueRef ws_amd_col(WsEmit *e, const WsAmdValue *v, guint run)
{
    const guint width = ws_amd_run(v);
    LLVMValueRef col = LLVMBuildMul(e->b, e->amd->lane_group, ws_i32(e, width), "");
    if (v->share == WS_AMD_BY_MN)
        col =
            LLVMBuildAdd(e->b, col, LLVMBuildMul(e->b, e->amd->wave_n, ws_i32(e, v->cols), ""), "");
    return ws_add(e, col, (gint64)run * e->amd->groups * width);
}
