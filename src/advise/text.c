/* Advice in words and as JSON. */
#include "model/text.h"
#include "advise/advise.h"

#define LINES 8 /* of edges and of parts of the path */

static const char *label(const WsProgram *p, guint op)
{
    if (op >= p->n_ops)
        return "?";
    return p->op[op]->label ? p->op[op]->label : p->op[op]->id;
}

static const char *agent_of(const WsProgram *p, guint op)
{
    gint a = op < p->n_ops ? p->op[op]->agent : -1;
    return a >= 0 ? p->agent[a].name : "?";
}

static void put_edges(GString *s, const WsNext *n, const WsProgram *p)
{
    g_string_append(s, "exposed edges: cycles that the waiter stood for what it waited for\n");
    for (guint i = 0; i < n->edge->len && i < LINES; i++) {
        const WsNextEdge *e = &g_array_index(n->edge, WsNextEdge, i);
        g_autofree char *from =
            g_strdup_printf("%s of %s", label(p, e->from_op), agent_of(p, e->from_op));
        g_autofree char *to =
            g_strdup_printf("%s of %s", label(p, e->to_op), agent_of(p, e->to_op));
        g_string_append_printf(s, "  %-32s -> %-30s %7" G_GINT64_FORMAT " cycles each, %5.1f %%\n",
                               from, to, e->exposed / MAX(e->count, 1), 100 * e->share);
    }
    if (n->edge->len == 0)
        g_string_append(s, "  none\n");
}

static void put_path(GString *s, const WsNext *n, const WsProgram *p)
{
    if (n->path->len == 0)
        return;
    const WsNextPiece *first = &g_array_index(n->path, WsNextPiece, 0),
                      *last = &g_array_index(n->path, WsNextPiece, n->path->len - 1);
    g_string_append_printf(s,
                           "critical path: %u pieces, cycle %" G_GINT64_FORMAT
                           " to %" G_GINT64_FORMAT ", made of\n",
                           n->path->len, first->from, last->to);
    for (guint i = 0; i < n->part->len && i < LINES; i++) {
        const WsNextPart *x = &g_array_index(n->part, WsNextPart, i);
        g_string_append_printf(s, "  %5.1f %%  %-7s %s of %s (%u times)\n", 100 * x->share,
                               ws_next_reason_text(x->reason), label(p, x->op), agent_of(p, x->op),
                               x->count);
    }
}

static void put_edits(GString *s, const WsNext *n)
{
    g_string_append_printf(s,
                           "next edits, by what they gain (%u tried, %u refuted, %u do not fit):\n",
                           n->tried, n->refuted, n->unfit);
    for (guint i = 0; i < n->edit->len; i++) {
        const WsNextEdit *e = n->edit->pdata[i];
        g_string_append_printf(s, "%3u  %+5.1f %%  %s\n              %s%s\n", i + 1, 100 * e->gain,
                               e->title, e->why ? e->why : "",
                               e->proved ? "" : "; played, not proved");
        for (guint k = 0; k < e->edits->len; k++) {
            g_autofree char *text = ws_edit_print(e->edits->pdata[k]);
            g_string_append_printf(s, "              %s\n", text);
        }
    }
    if (n->edit->len == 0)
        g_string_append(s, "  none of them gains 1 %\n");
}

char *ws_next_text(const WsNext *n, const WsProgram *p, const WsTrace *measured)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%" G_GINT64_FORMAT " cycles predicted, bound by: %s\n",
                           n->predicted->cycles, n->predicted->bound);
    g_string_append_printf(s, "edges and path: %s\n",
                           measured ? "measured" : "predicted, tiles that were played");
    if (n->note)
        g_string_append_printf(s, "%s\n", n->note);
    put_edges(s, n, p);
    put_path(s, n, p);
    if (n->tried)
        put_edits(s, n);
    return g_string_free(s, FALSE);
}

static void json_op(GString *s, const char *key, const WsProgram *p, guint op)
{
    g_string_append_printf(s, "\"%s\": { \"agent\": ", key);
    ws_text_json(s, agent_of(p, op));
    g_string_append(s, ", \"step\": ");
    ws_text_json(s, op < p->n_ops ? (p->op[op]->step ? p->op[op]->step : p->op[op]->id) : "");
    g_string_append(s, ", \"label\": ");
    ws_text_json(s, label(p, op));
    g_string_append(s, " }");
}

static void json_edges(GString *s, const WsNext *n, const WsProgram *p)
{
    g_string_append(s, ",\n  \"edges\": [");
    for (guint i = 0; i < n->edge->len; i++) {
        const WsNextEdge *e = &g_array_index(n->edge, WsNextEdge, i);
        g_string_append(s, i ? ",\n    { " : "\n    { ");
        json_op(s, "from", p, e->from_op);
        g_string_append(s, ", ");
        json_op(s, "to", p, e->to_op);
        g_string_append_printf(
            s, ", \"count\": %" G_GINT64_FORMAT ", \"exposed\": %" G_GINT64_FORMAT ", \"share\": ",
            e->count, e->exposed);
        ws_text_json_real(s, e->share);
        g_string_append(s, " }");
    }
    g_string_append(s, "\n  ]");
}

static void json_path(GString *s, const WsNext *n, const WsProgram *p)
{
    g_string_append(s, ",\n  \"path\": [");
    for (guint i = 0; i < n->part->len; i++) {
        const WsNextPart *x = &g_array_index(n->part, WsNextPart, i);
        g_string_append(s, i ? ",\n    { " : "\n    { ");
        json_op(s, "op", p, x->op);
        g_string_append_printf(
            s, ", \"reason\": \"%s\", \"count\": %u, \"cycles\": %" G_GINT64_FORMAT ", \"share\": ",
            ws_next_reason_text(x->reason), x->count, x->cycles);
        ws_text_json_real(s, x->share);
        g_string_append(s, " }");
    }
    g_string_append(s, "\n  ]");
}

static void json_edit(GString *s, const WsNextEdit *e)
{
    g_string_append(s, "{ \"title\": ");
    ws_text_json(s, e->title);
    g_string_append(s, ", \"why\": ");
    ws_text_json(s, e->why ? e->why : "");
    g_string_append(s, ", \"at\": ");
    ws_text_json(s, e->step);
    g_string_append_printf(s,
                           ", \"before\": %" G_GINT64_FORMAT ", \"after\": %" G_GINT64_FORMAT
                           ", \"proved\": %s, \"gain\": ",
                           e->cycles_before, e->cycles_after, e->proved ? "true" : "false");
    ws_text_json_real(s, e->gain);
    g_string_append(s, ", \"edits\": [");
    for (guint k = 0; k < e->edits->len; k++) {
        g_autofree char *text = ws_edit_print(e->edits->pdata[k]);
        g_string_append(s, k ? ", " : "");
        ws_text_json(s, text);
    }
    g_string_append(s, "] }");
}

char *ws_next_json(const WsNext *n, const WsProgram *p)
{
    GString *s = g_string_new("{\n  \"version\": 1,\n  \"cycles\": ");
    g_string_append_printf(s, "%" G_GINT64_FORMAT ",\n  \"bound\": ", n->predicted->cycles);
    ws_text_json(s, n->predicted->bound);
    json_edges(s, n, p);
    json_path(s, n, p);
    g_string_append_printf(
        s, ",\n  \"tried\": %u,\n  \"refuted\": %u,\n  \"unfit\": %u,\n  \"edits\": [", n->tried,
        n->refuted, n->unfit);
    for (guint i = 0; i < n->edit->len; i++) {
        g_string_append(s, i ? ",\n    " : "\n    ");
        json_edit(s, n->edit->pdata[i]);
    }
    g_string_append(s, "\n  ]\n}\n");
    return g_string_free(s, FALSE);
}
