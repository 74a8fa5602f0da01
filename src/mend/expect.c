/* Quick-fix: a copy into another CTA whose bytes nobody expects there. */
#include "expr/expr.h"
#include "mend/fixer.h"
#include "program/parts/dtype.h"

/* Bytes of a whole buffer, as a person writes them: "WM*HALF*4". NULL: not of two extents or one.
 * Caller frees. */
static char *bytes_of(const WsFixer *F, const char *buffer)
{
    const WsNode *b = ws_object_named(F->design, WS_F_buffers, buffer);
    const WsValue *tile = b ? ws_node_get(b, WS_F_tile) : NULL;
    const char *dtype = b ? ws_node_text(b, WS_F_dtype) : NULL;
    WsDtype type = 0;
    while (type < WS_DTYPE_COUNT && g_strcmp0(ws_dtype_text(type), dtype) != 0)
        type++;
    if (!tile || tile->kind != WS_VALUE_LIST || type == WS_DTYPE_COUNT)
        return NULL;
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < tile->n; i++) {
        g_autofree char *e = ws_expr_print(tile->item[i].expr);
        g_string_append_printf(s, strchr(e, ' ') ? "(%s)*" : "%s*", e);
    }
    g_string_append_printf(s, "%u", ws_dtype_bytes(type));
    return g_string_free(s, FALSE);
}

/* The loop whose index the use names; -1: none, it is one use of the launch. */
static gint round_of(const WsFixer *F, gint i, const char *use)
{
    for (gint up = ws_spot(F, i)->up; up >= 0; up = ws_spot(F, up)->up) {
        const char *name =
            ws_step_is(F, up, WS_STEP_FOR) ? ws_node_name(ws_spot(F, up)->node) : NULL;
        if (name && use && ws_has_word(use, name))
            return up;
    }
    return -1;
}

/* Who waits for the copy expects its bytes, before anybody can send them: at the head of the round
 * that the use is of. */
void ws_fix_expect_copy(WsFixer *F)
{
    if (!ws_step_is(F, F->at, WS_STEP_COPY))
        return;
    const WsSpot *c = ws_spot(F, F->at);
    const WsRef *into = ws_node_refv(c->node, WS_F_into);
    const char *barrier = ws_step_barrier(c->node);
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_is_on(F, i, WS_STEP_EXPECT, barrier))
            return;
    g_autofree char *bytes = into && into->n_views == 0 ? bytes_of(F, into->name) : NULL,
                    *ref = ws_field_text(c->node, WS_F_signal), *use = ws_step_use(c->node);
    if (!bytes || !ref || !ws_waits(F, c->group, barrier))
        return;
    const gint loop = round_of(F, F->at, use);
    const WsNode *owner = loop >= 0 ? ws_spot(F, loop)->node : c->group;
    WsFix *fix = ws_fixer_add(F, "Expect the bytes of %s on %s", into->name, barrier);
    WsJson *expect = WS_MAKE(WS_STEP_EXPECT, { WS_F_keyword, ws_json_text(ref) },
                             { WS_F_bytes, ws_json_expr(bytes) }, { WS_F_use, ws_json_expr(use) });
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, owner->identity,
                                 loop >= 0 ? WS_F_do : WS_F_body, 0, expect });
}

/* All CTAs send to one, which expects less than the whole buffer that they fill together. */
void ws_fix_expect_whole(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *send = ws_spot(F, i)->node;
        const WsFieldId field = send->kind == WS_STEP_WRITE ? WS_F_to : WS_F_into;
        const WsRef *to = send->kind == WS_STEP_WRITE || send->kind == WS_STEP_COPY
                              ? ws_node_refv(send, field)
                              : NULL;
        g_autofree char *bytes = to && ws_node_has(send, WS_F_cta) ? bytes_of(F, to->name) : NULL;
        g_autoptr(WsExpr) e = bytes ? ws_expr_parse(bytes, NULL) : NULL;
        const WsExprEnv nothing = { 0 };
        g_autoptr(WsExpr) all = e ? ws_expr_fold(e, &nothing, NULL) : NULL;
        g_autofree char *text = all ? ws_expr_print(all) : NULL;
        for (gint k = 0; text && k < (gint)F->spot->len; k++) {
            const WsNode *expect = ws_spot(F, k)->node;
            g_autofree char *now = ws_field_text(expect, WS_F_bytes);
            if (!ws_is_on(F, k, WS_STEP_EXPECT, ws_step_barrier(send)) || g_strcmp0(now, text) == 0)
                continue;
            g_autofree char *name = ws_step_name(expect);
            WsFix *fix = ws_fixer_add(F, "Let %s expect all bytes of %s, %s", name, to->name, text);
            ws_fix_set(fix, expect, WS_F_bytes, ws_json_expr(text));
        }
    }
}
