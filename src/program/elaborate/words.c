/* What people are told: steps in their author's words, constants by their names. It means nothing
 * to any lens, and stands in the program so that no lens reads the design again. */
#include "program/elaborate/elab.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#include <string.h>

/* "load A at [tm*BM, k*BK] into a signal full" from the fields of a step. */
static char *sentence(WsElab *E, const WsNode *node)
{
    guint n;
    const WsFieldRow *row = ws_node_rows(node->kind, &n);
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        const WsValue *v = &node->value[i];
        if (v->kind == WS_VALUE_NONE || v->kind == WS_VALUE_NODES || v->kind == WS_VALUE_NODE ||
            row[i].kind == WS_FIELD_STEPS || row[i].field == WS_F_note || row[i].field == WS_F_id ||
            row[i].field == WS_F_source)
            continue;
        g_autofree char *text = ws_value_print(&row[i], v);
        g_string_append_printf(s, "%s%s ", s->len ? " " : "",
                               ws_node_key(node->kind, row[i].field));
        for (const char *at = text; *at; at++) {
            if (*at != '"')
                g_string_append_c(s, *at);
        }
    }
    char *words = ws_arena_strdup(E->arena, s->str);
    g_string_free(s, TRUE);
    return words;
}

/* The constant that a field names, if it has that value. */
static char *constant_of(WsElab *E, const WsNode *node, WsFieldId field, guint value)
{
    const WsExpr *x = node ? ws_node_expr(node, field) : NULL;
    for (guint i = 0; x && x->op == WS_EXPR_NAME && i < E->p->n_constants; i++) {
        if (strcmp(E->p->constant_name[i], x->name) == 0 && E->p->constant[i] == value)
            return E->p->constant_name[i];
    }
    return NULL;
}

static void counts(WsElab *E)
{
    for (guint i = 0; i < E->p->n_buffers; i++) {
        WsBuffer *b = &E->p->buffer[i];
        b->stages_name =
            constant_of(E, g_ptr_array_index(E->buffer_node, i), WS_F_stages, b->stages);
    }
    for (guint i = 0; i < E->p->n_barriers; i++) {
        WsBarrier *b = &E->p->barrier[i];
        if (!b->derived)
            b->slots_name =
                constant_of(E, g_ptr_array_index(E->barrier_node, i), WS_F_slots, b->slots);
    }
}

void ws_elab_words(WsElab *E)
{
    WsProgram *p = E->p;
    g_autoptr(GHashTable) first = g_hash_table_new(g_str_hash, g_str_equal);
    p->note = ws_arena_strdup(E->arena, ws_node_text(E->root, WS_F_note));
    const WsValue *unread = ws_elab_field_count(E->root, WS_F_unread)
                                ? ws_elab_field_item(E->root, WS_F_unread, 0)
                                : NULL;
    p->unread = unread ? ws_arena_strdup(E->arena, unread->text) : NULL;
    p->n_granted = ws_elab_field_count(E->root, WS_F_granted);
    p->granted = ws_arena_new0(E->arena, char *, p->n_granted + 1);
    for (guint i = 0; i < p->n_granted; i++) { /* one line each, in remarks of exports, too */
        p->granted[i] =
            ws_arena_strdup(E->arena, ws_elab_field_item(E->root, WS_F_granted, i)->text);
        for (char *c = p->granted[i]; *c; c++)
            *c = g_ascii_iscntrl(*c) ? ' ' : *c;
    }
    counts(E);
    for (guint i = 0; i < p->n_ops && !E->probe; i++) {
        WsOp *op = p->op[i];
        const WsOp *same = op->step ? g_hash_table_lookup(first, op->step) : NULL;
        const WsNode *node = op->step && !same ? ws_design_find(E->origin, op->step) : NULL;
        if (same) {
            op->words = same->words;
            op->note = same->note;
        } else if (op->step) {
            gboolean step = node && ws_node_kind_is_step(node->kind);
            op->words = step ? sentence(E, node) : NULL;
            const char *made = strchr(op->step, '#'); /* by a hint: "acquire.load_ring" */
            if (made && op->words)
                op->words = ws_arena_printf(E->arena, "%s, derived of %s", made + 1, op->words);
            op->note = node ? ws_arena_strdup(E->arena, ws_node_text(node, WS_F_note)) : NULL;
            g_hash_table_insert(first, op->step, op);
        }
    }
}
