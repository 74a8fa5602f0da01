/* Advice in words and as JSON. */
#include "advise/advise.h"
#include "base/json_out.h"
#include "base/phrase.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"

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
    g_string_append(s, "exposed edges: cycles that an agent stalled in a wait\n");
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

static void put_path(GString *s, const WsNext *n, const WsProgram *p, const WsTrace *t)
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
        g_autofree char *cta = p->mesh && t ? ws_trace_cta_text(t, x->cta) : NULL;
        g_string_append_printf(s, "  %5.1f %%  %-7s %s of %s%s%s (%u times)\n", 100 * x->share,
                               ws_next_reason_text(x->reason), label(p, x->op), agent_of(p, x->op),
                               cta ? ", " : "", cta ? cta : "", x->count);
    }
}

#define EDITS_SHOWN 8 /* a loop rotated is some sixty of them */

static void put_edits(GString *s, const WsNext *n)
{
    g_string_append_printf(s,
                           "next edits, by what they gain (%u tried, %u refuted, %u do not fit):\n",
                           n->tried, n->refuted, n->unfit);
    for (guint i = 0; i < n->edit->len; i++) {
        const WsNextEdit *e = n->edit->pdata[i];
        g_autofree char *why = ws_phrase_text(e->why, NULL, NULL);
        g_string_append_printf(s, "%3u  %+5.1f %%  %s\n              %s%s\n", i + 1, 100 * e->gain,
                               e->title, why ? why : "",
                               e->proved ? "" : "; simulated, not proved");
        for (guint k = 0; k < MIN(e->edits->len, EDITS_SHOWN); k++) {
            g_autofree char *text = ws_edit_print(e->edits->pdata[k]);
            g_string_append_printf(s, "              %s\n", text);
        }
        if (e->edits->len > EDITS_SHOWN)
            g_string_append_printf(s, "              … and %u more: --json lists them\n",
                                   e->edits->len - EDITS_SHOWN);
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
                           measured ? "measured" : "predicted, simulated tiles");
    if (n->note)
        g_string_append_printf(s, "%s\n", n->note);
    put_edges(s, n, p);
    put_path(s, n, p, measured ? measured : n->predicted->trace);
    if (n->tried)
        put_edits(s, n);
    return g_string_free(s, FALSE);
}

static void json_op(WsJsonOut *j, const char *key, const WsProgram *p, guint op)
{
    const WsOp *o = op < p->n_ops ? p->op[op] : NULL;
    ws_json_out_open_row(j, key, '{');
    ws_json_out_text(j, "agent", agent_of(p, op));
    ws_json_out_text(j, "step", !o ? "" : o->step ? o->step : o->id);
    ws_json_out_text(j, "label", label(p, op));
    ws_json_out_close(j, '}');
}

static void json_edges(WsJsonOut *j, const WsNext *n, const WsProgram *p)
{
    ws_json_out_open(j, "edges", '[');
    for (guint i = 0; i < n->edge->len; i++) {
        const WsNextEdge *e = &g_array_index(n->edge, WsNextEdge, i);
        ws_json_out_open_row(j, NULL, '{');
        json_op(j, "from", p, e->from_op);
        json_op(j, "to", p, e->to_op);
        ws_json_out_integer(j, "count", e->count);
        ws_json_out_integer(j, "exposed", e->exposed);
        ws_json_out_real(j, "share", e->share);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
}

static void json_path(WsJsonOut *j, const WsNext *n, const WsProgram *p)
{
    ws_json_out_open(j, "path", '[');
    for (guint i = 0; i < n->part->len; i++) {
        const WsNextPart *x = &g_array_index(n->part, WsNextPart, i);
        ws_json_out_open_row(j, NULL, '{');
        json_op(j, "op", p, x->op);
        if (p->mesh)
            ws_json_out_integer(j, "cta", x->cta);
        ws_json_out_text(j, "reason", ws_next_reason_text(x->reason));
        ws_json_out_integer(j, "count", x->count);
        ws_json_out_integer(j, "cycles", x->cycles);
        ws_json_out_real(j, "share", x->share);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
}

static void json_edit(WsJsonOut *j, const WsNextEdit *e)
{
    g_autoptr(GPtrArray) edits = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; k < e->edits->len; k++)
        g_ptr_array_add(edits, ws_edit_print(e->edits->pdata[k]));
    g_autofree char *why = ws_phrase_text(e->why, NULL, NULL);
    ws_json_out_open_row(j, NULL, '{');
    ws_json_out_text(j, "title", e->title);
    ws_json_out_text(j, "why", why ? why : "");
    ws_json_out_text(j, "at", e->step);
    ws_json_out_integer(j, "before", e->cycles_before);
    ws_json_out_integer(j, "after", e->cycles_after);
    ws_json_out_truth(j, "proved", e->proved);
    ws_json_out_real(j, "gain", e->gain);
    ws_json_out_texts(j, "edits", edits);
    ws_json_out_close(j, '}');
}

char *ws_next_json(const WsNext *n, const WsProgram *p)
{
    WsJsonOut j;
    ws_json_out_init(&j);
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_integer(&j, "version", 1);
    ws_json_out_integer(&j, "cycles", n->predicted->cycles);
    ws_json_out_text(&j, "bound", n->predicted->bound);
    json_edges(&j, n, p);
    json_path(&j, n, p);
    ws_json_out_integer(&j, "tried", n->tried);
    ws_json_out_integer(&j, "refuted", n->refuted);
    ws_json_out_integer(&j, "unfit", n->unfit);
    ws_json_out_open(&j, "edits", '[');
    for (guint i = 0; i < n->edit->len; i++)
        json_edit(&j, n->edit->pdata[i]);
    ws_json_out_close(&j, ']');
    ws_json_out_close(&j, '}');
    return ws_json_out_end(&j);
}
