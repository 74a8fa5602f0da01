/* Loops that are unrolled in full and whose index picks columns of a value are laid out: then each
 * round names the part that it means. Every step keeps the name of its place. */
#include "model/finding.h"
#include "model/findings.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "program/split/split.h"

#include <string.h>

#define WS_MOST_ROUNDS 16

typedef struct {
    const WsProgram *p;
    const WsDesign *design;
    gboolean any, bad;
} Unroll;

static gboolean letter(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

/* Where the word stands in a text; NULL: nowhere. */
static const char *find(const char *text, const char *word)
{
    const gsize n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n) {
        if ((at == text || !letter(at[-1])) && !letter(at[n]))
            return at;
    }
    return NULL;
}

typedef struct {
    const char *name;
    gint64 round;
    const char *total; /* what stands for NAME.total; NULL: nothing does */
    gboolean lost;     /* it was needed */
} Put;

static WsJson *in_round(const char *text, gpointer data)
{
    Put *put = data;
    GString *out = g_string_new(NULL);
    const char *from = text, *at;
    while ((at = find(from, put->name))) {
        const char *behind = at + strlen(put->name);
        const gboolean total = g_str_has_prefix(behind, ".total");
        g_string_append_len(out, from, at - from);
        if (total && put->total)
            g_string_append(out, put->total);
        else
            g_string_append_printf(out, "%" G_GINT64_FORMAT, put->round);
        put->lost = put->lost || (total && !put->total);
        from = behind + (total ? strlen(".total") : 0);
    }
    if (from == text) {
        g_string_free(out, TRUE);
        return NULL;
    }
    g_string_append(out, from);
    return ws_json_take_text(g_string_free(out, FALSE));
}

static gboolean is_value(const WsProgram *p, const char *name)
{
    for (guint i = 0; i < p->n_agents; i++) {
        for (guint v = 0; v < p->agent[i].n_values; v++) {
            if (!strcmp(p->agent[i].value[v].name, name))
                return TRUE;
        }
    }
    return FALSE;
}

/* The index picks a part of a value somewhere below; *lets: a name is given there. */
static gboolean picks(const WsProgram *p, const WsNode *node, const char *index, gboolean *lets)
{
    gboolean is = FALSE;
    *lets = *lets || node->kind == WS_STEP_LET || node->kind == WS_STEP_FOR;
    for (guint i = 0; i < node->n_values; i++) {
        const WsValue *v = &node->value[i];
        for (guint k = 0; v->kind == WS_VALUE_REF && k < v->ref->n_views; k++) {
            const WsExpr *start = v->ref->view[k].start;
            g_autofree char *text = start ? ws_expr_print(start) : NULL;
            is = is || (text && find(text, index) && is_value(p, v->ref->name));
        }
        for (guint k = 0; v->kind == WS_VALUE_NODES && k < v->n; k++)
            is = picks(p, v->node[k], index, lets) || is;
    }
    return is;
}

/* Step and all below it under the place that it has in the design, so that whoever names it means
 * that; `round`: "" or what tells rounds apart. */
static WsJson *placed(Unroll *u, const WsNode *node, const char *round);

/* `above`: the loop in each round of which these steps are once, "" where they are once in all,
 * NULL: neither. */
static WsJson *steps(Unroll *u, const WsNode *owner, WsFieldId field, const char *round,
                     const char *above);

/* The rounds of a loop one behind the other. FALSE: it stays a loop. */
static gboolean laid_out(Unroll *u, const WsNode *node, const char *outer, const char *above,
                         WsJson *list)
{
    gint64 count = 0, from = 0, by = 1;
    gboolean lets = FALSE, is = FALSE;
    if (node->kind != WS_STEP_FOR || g_strcmp0(ws_node_text(node, WS_F_unroll), "full") != 0)
        return FALSE;
    const char *index = ws_node_text(node, WS_F_keyword);
    const WsExpr *n = ws_node_expr(node, WS_F_count), *first = ws_node_expr(node, WS_F_from),
                 *step = ws_node_expr(node, WS_F_step);
    for (guint i = 0; i < ws_node_n_children(node, WS_F_do); i++)
        is = picks(u->p, ws_node_child(node, WS_F_do, i), index, &lets) || is;
    if (!is || !n)
        return FALSE;
    if (lets || ws_node_has(node, WS_F_when) || ws_node_has(node, WS_F_split) ||
        !ws_split_constant(u->p, n, &count) || count < 1 || count > WS_MOST_ROUNDS ||
        (first && !ws_split_constant(u->p, first, &from)) ||
        (step && !ws_split_constant(u->p, step, &by))) {
        u->bad = TRUE;
        return FALSE;
    }
    for (gint64 k = 0; k < count; k++) {
        g_autofree char *round = g_strdup_printf("%s.%" G_GINT64_FORMAT, outer, k);
        g_autofree char *total =
            !above    ? NULL
            : !*above ? g_strdup_printf("%" G_GINT64_FORMAT, k)
                      : g_strdup_printf("(%s.total*%" G_GINT64_FORMAT " + %" G_GINT64_FORMAT ")",
                                        above, count, k);
        for (guint i = 0; i < ws_node_n_children(node, WS_F_do); i++) {
            const WsNode *child = ws_node_child(node, WS_F_do, i);
            WsJson *one = placed(u, child, round);
            Put put = { index, from + k * by, total, FALSE };
            ws_json_replace(one, FALSE, in_round, &put);
            u->bad = u->bad || put.lost || ws_node_has(child, WS_F_ahead);
            ws_json_add(list, one);
        }
    }
    return u->any = TRUE;
}

static WsJson *placed(Unroll *u, const WsNode *node, const char *round)
{
    static const WsFieldId inside[] = { WS_F_do, WS_F_then, WS_F_else };
    WsJson *step = ws_json_of_node(node);
    g_autofree char *place = ws_design_path(u->design, node);
    g_strdelimit(place, "/", '|');
    const char *loop = node->kind == WS_STEP_FOR ? ws_node_text(node, WS_F_keyword) : NULL;
    for (guint k = 0; k < G_N_ELEMENTS(inside); k++) {
        if (ws_node_has(node, inside[k]))
            ws_json_with(step, ws_node_key(node->kind, inside[k]),
                         steps(u, node, inside[k], round, *round ? NULL : loop));
    }
    return ws_json_with(step, "id", ws_json_format("%s%s", place, round));
}

static WsJson *steps(Unroll *u, const WsNode *owner, WsFieldId field, const char *round,
                     const char *above)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(owner, field); i++) {
        const WsNode *node = ws_node_child(owner, field, i);
        if (!laid_out(u, node, round, above, list))
            ws_json_add(list, placed(u, node, round));
    }
    return list;
}

WsDesign *ws_split_unrolled(const WsDesign *design, const WsProgram *p, gboolean *any)
{
    Unroll u = { p, design, FALSE, FALSE };
    const WsNode *root = ws_design_root(design);
    WsJson *groups = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, i);
        WsJson *body = steps(&u, group, WS_F_body, "", "");
        ws_json_add(groups, ws_json_with(ws_json_of_node(group), "body", body));
    }
    WsJson *all = ws_json_with(ws_json_of_node(root), "groups", groups);
    g_autoptr(WsFindings) findings = ws_findings_new();
    *any = u.any;
    if (!u.bad)
        return ws_design_build(all, ws_design_file(design), findings);
    ws_json_free(all);
    return NULL;
}
