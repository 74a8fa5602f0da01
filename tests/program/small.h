/* A small program built by hand, for tests of what follows a program: two axes, one agent whose
 * body is for tile over tiles for k count KT wait (0) if k == 0: math (1)   else: arrive (2) let x
 * = tm*100 + k.total (3) advance ring by KT (4) mark (5) with the sizes M, N, K, the scalar scale,
 * and KT = cdiv(K, 64), s2 = scale*2.0 per launch, row0 = tm*128 + LENS[tm] per tile. */
#pragma once

#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/dtype.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/walk.h"

#include <string.h>

enum {
    SMALL_M,
    SMALL_N,
    SMALL_K,
    SMALL_SCALE,
    SMALL_KT,
    SMALL_S2,
    SMALL_TM,
    SMALL_TN,
    SMALL_ROW0,
    SMALL_TILE,
    SMALL_TILE_TOTAL,
    SMALL_INDEX,
    SMALL_TOTAL,
    SMALL_RING,
    SMALL_X,
    SMALL_CTA,
    SMALL_VARS
};

typedef struct {
    WsProgram p;
    WsTiles tiles;
    WsVar var[SMALL_VARS];
    WsAgent agent;
    WsTensor tensor;
    WsOp op[6];
    WsOp *op_list[6];
    WsTree leaf[6], seq_k, loop_k, branch, seq_then, seq_else, seq_tile, loop_tile, body;
    WsTree *kids[16];
    WsExpr *assume[4];
    char *assume_text[4];
    GPtrArray *exprs;
} Small;

static inline WsExpr *small_bind(const WsExpr *leaf, gpointer data, GError **error)
{
    Small *s = data;
    if (leaf->op == WS_EXPR_INDEX) {
        WsExpr *arg = ws_expr_ref(leaf->arg[0]);
        return ws_expr_index(leaf->name, 0, &arg, 1);
    }
    g_autofree char *name =
        leaf->op == WS_EXPR_TOTAL ? g_strconcat(leaf->name, ".total", NULL) : g_strdup(leaf->name);
    for (gint i = 0; i < SMALL_VARS; i++)
        if (strcmp(s->var[i].name, name) == 0)
            return ws_expr_var(i, name);
    g_error("unbound %s", name);
}

/* Parses and binds; the program owns the result. */
static inline WsExpr *small_expr(Small *s, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsExpr) e = ws_expr_parse(text, &error);
    g_assert_no_error(error);
    WsExpr *bound = ws_expr_map(e, small_bind, s, &error);
    g_assert_no_error(error);
    g_ptr_array_add(s->exprs, bound);
    return bound;
}

static inline void small_list(Small *s, WsTree *t, WsTreeKind kind, WsTree **kids, guint n)
{
    t->kind = kind;
    t->kid = kids;
    t->n_kids = n;
    t->index_var = t->total_var = -1;
    for (guint i = 0; i < n; i++)
        if (kids[i])
            kids[i]->parent = t;
}

static inline void small_vars(Small *s)
{
    static const struct {
        WsVarKind kind;
        const char *name;
        gint64 preset;
    } rows[SMALL_VARS] = {
        { WS_VAR_SIZE, "M", 512 },   { WS_VAR_SIZE, "N", 768 },      { WS_VAR_SIZE, "K", 200 },
        { WS_VAR_SCALAR, "scale" },  { WS_VAR_RUN, "KT" },           { WS_VAR_RUN, "s2" },
        { WS_VAR_AXIS, "tm" },       { WS_VAR_AXIS, "tn" },          { WS_VAR_TILE, "row0" },
        { WS_VAR_INDEX, "tile" },    { WS_VAR_TOTAL, "tile.total" }, { WS_VAR_INDEX, "k" },
        { WS_VAR_TOTAL, "k.total" }, { WS_VAR_COUNTER, "ring" },     { WS_VAR_LET, "x" },
        { WS_VAR_CTA, "cta" },
    };
    for (guint i = 0; i < SMALL_VARS; i++)
        s->var[i] = (WsVar){ .kind = rows[i].kind,
                             .name = (char *)rows[i].name,
                             .agent = i >= SMALL_TILE && i <= SMALL_X ? 0 : -1,
                             .preset = rows[i].preset,
                             .rehearse = 10 };
    s->var[SMALL_SCALE].preset_real = 0.5;
    s->var[SMALL_SCALE].real = s->var[SMALL_S2].real = TRUE;
    s->var[SMALL_KT].value = small_expr(s, "cdiv(K, 64)");
    s->var[SMALL_S2].value = small_expr(s, "scale*2.0 + KT");
    s->var[SMALL_ROW0].value = small_expr(s, "tm*128 + LENS[tm]");
    s->var[SMALL_RING].value = small_expr(s, "7");
}

static inline void small_body(Small *s)
{
    static const WsOpKind kinds[6] = { WS_OP_MBAR_WAIT, WS_OP_MATH,    WS_OP_MBAR_ARRIVE,
                                       WS_OP_LET,       WS_OP_ADVANCE, WS_OP_MARK };
    static const char *const ids[6] = { "w", "m", "a", "l", "v", "e" };
    for (guint i = 0; i < 6; i++) {
        s->op[i] = (WsOp){ .kind = kinds[i],
                           .index = i,
                           .id = (char *)ids[i],
                           .step = (char *)ids[i],
                           .barrier = -1,
                           .var = -1,
                           .tensor = -1,
                           .map = -1,
                           .tree = &s->leaf[i] };
        s->leaf[i] =
            (WsTree){ .kind = WS_TREE_OP, .op = &s->op[i], .index_var = -1, .total_var = -1 };
        s->op_list[i] = &s->op[i];
    }
    s->op[3].var = SMALL_X;
    s->op[3].set = small_expr(s, "tm*100 + k.total");
    s->op[4].var = SMALL_RING;
    s->op[4].set = small_expr(s, "KT");
    WsTree **k = s->kids;
    k[0] = &s->leaf[1], k[1] = &s->leaf[2];
    small_list(s, &s->seq_then, WS_TREE_SEQ, k, 1);
    small_list(s, &s->seq_else, WS_TREE_SEQ, k + 1, 1);
    k[2] = &s->seq_then, k[3] = &s->seq_else;
    small_list(s, &s->branch, WS_TREE_BRANCH, k + 2, 2);
    s->branch.cond = small_expr(s, "k == 0");
    k[4] = &s->leaf[0], k[5] = &s->branch;
    small_list(s, &s->seq_k, WS_TREE_SEQ, k + 4, 2);
    k[6] = &s->seq_k;
    small_list(s, &s->loop_k, WS_TREE_LOOP, k + 6, 1);
    s->loop_k.name = (char *)"k", s->loop_k.count = small_expr(s, "KT");
    s->loop_k.index_var = SMALL_INDEX, s->loop_k.total_var = SMALL_TOTAL;
    k[7] = &s->loop_k, k[8] = &s->leaf[3], k[9] = &s->leaf[4];
    small_list(s, &s->seq_tile, WS_TREE_SEQ, k + 7, 3);
    k[10] = &s->seq_tile;
    small_list(s, &s->loop_tile, WS_TREE_LOOP, k + 10, 1);
    s->loop_tile.name = (char *)"tile", s->loop_tile.over = WS_OVER_TILES;
    s->loop_tile.index_var = SMALL_TILE, s->loop_tile.total_var = SMALL_TILE_TOTAL;
    k[11] = &s->loop_tile, k[12] = &s->leaf[5];
    small_list(s, &s->body, WS_TREE_SEQ, k + 11, 2);
}

static inline Small *small_new(void)
{
    Small *s = g_new0(Small, 1);
    s->exprs = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    s->tensor = (WsTensor){ .name = (char *)"LENS", .dtype = WS_DTYPE_I32, .rank = 1 };
    small_vars(s);
    s->tensor.shape[0] = small_expr(s, "cdiv(M, 128)");
    small_body(s);
    s->agent = (WsAgent){ .name = (char *)"one",
                          .path = (char *)"groups/one",
                          .warps = 4,
                          .threads = 128,
                          .replicas = 1,
                          .half = -1,
                          .body = &s->body };
    WsProgram *p = &s->p;
    *p = (WsProgram){ .refs = 1, .name = (char *)"small", .target = (char *)"sm_90a" };
    p->var = s->var, p->n_vars = SMALL_VARS;
    p->tensor = &s->tensor, p->n_tensors = 1;
    p->agent = &s->agent, p->n_agents = 1;
    p->op = s->op_list, p->n_ops = 6;
    p->tiles = &s->tiles;
    p->cluster = 1, p->threads = 128;
    p->assume = s->assume, p->assume_text = s->assume_text;
    p->tiles->n_axes = 2;
    p->tiles->axis[0].name = (char *)"tm", p->tiles->axis[0].var = SMALL_TM;
    p->tiles->axis[0].extent = small_expr(s, "cdiv(M, 128)");
    p->tiles->axis[1].name = (char *)"tn", p->tiles->axis[1].var = SMALL_TN;
    p->tiles->axis[1].extent = small_expr(s, "cdiv(N, 256)");
    p->tiles->launch = WS_LAUNCH_PERSISTENT;
    return s;
}

static inline void small_free(Small *s)
{
    g_assert_cmpint(s->p.refs, ==, 1); /* everybody who borrowed it is gone */
    g_ptr_array_unref(s->exprs);
    g_free(s);
}
