#include "ui/timeline/timeline_list.h"
#include "program/op.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "ui/parts/format.h"

#include <glib/gi18n.h>
#include <string.h>

G_DEFINE_FINAL_TYPE(WsListed, ws_listed, G_TYPE_OBJECT)

#define MANY_RECORDS 200000 /* figures of such a trace take too long for a list */

static void finalize(GObject *object)
{
    WsListed *l = WS_LISTED(object);
    g_free(l->agent);
    g_free(l->name);
    g_free(l->times);
    g_free(l->step);
    g_free(l->from);
    G_OBJECT_CLASS(ws_listed_parent_class)->finalize(object);
}

static void ws_listed_class_init(WsListedClass *class)
{
    G_OBJECT_CLASS(class)->finalize = finalize;
}

static void ws_listed_init(WsListed *l)
{
}

static const char *label_of(const WsOp *op)
{
    return op->label ? op->label : ws_op_kind_text(op->kind);
}

static char *group_of(const char *step)
{
    const char *name = g_str_has_prefix(step, "groups/") ? step + strlen("groups/") : step;
    return g_strndup(name, strcspn(name, "/"));
}

static char *times_text(guint n, gint64 each)
{
    g_autofree char *cycles = ws_format_int(each);
    return g_strdup_printf(
        g_dngettext(GETTEXT_PACKAGE, "%u time, %s cycles each", "%u times, %s cycles each", n), n,
        cycles);
}

static char *times_of(const WsTraceStats *stats, guint op)
{
    for (guint i = 0; stats && i < stats->step->len; i++) {
        const WsTraceStepStat *s = &g_array_index(stats->step, WsTraceStepStat, i);
        if (s->op == op)
            return times_text(s->n, s->held.p50);
    }
    return g_strdup("");
}

static WsListed *listed(const WsOp *op, const WsTraceStats *stats)
{
    WsListed *l = g_object_new(WS_TYPE_LISTED, NULL);
    l->step = g_strdup(op->step);
    l->agent = group_of(op->step);
    l->name = g_strdup(label_of(op));
    l->times = times_of(stats, op->index);
    return l;
}

static gboolean is_edge(const WsOp *from, const WsOp *to)
{
    return from->barrier >= 0 && from->barrier == to->barrier && from != to &&
           ws_op_waits_at_barrier(to->kind) && ws_op_row(from->kind)->gives != WS_GIVES_NONE &&
           from->step && strcmp(from->step, to->step) != 0;
}

static void add_edges(GListStore *list, const WsProgram *p, const WsOp *to)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *from = p->op[i];
        if (from->agent < 0 || !is_edge(from, to) || !g_hash_table_add(known, from->step))
            continue;
        g_autofree char *a = group_of(from->step), *b = group_of(to->step);
        WsListed *l = g_object_new(WS_TYPE_LISTED, NULL);
        l->edge = TRUE;
        l->step = g_strdup(to->step);
        l->from = g_strdup(from->step);
        l->agent = g_strdup_printf(_("%s to %s"), a, b);
        l->name = g_strdup_printf(_("edge %s: from %s to %s"), p->barrier[to->barrier].name,
                                  label_of(from), label_of(to));
        l->times = g_strdup("");
        g_list_store_append(list, l);
        g_object_unref(l);
    }
}

/* The operation that stands for a step: the one that takes time, else its first. */
static const WsOp *main_op(const WsProgram *p, guint first)
{
    const char *step = p->op[first]->step;
    for (guint i = first; i < p->n_ops && i < first + 64; i++) {
        const WsOp *op = p->op[i];
        if (!g_strcmp0(op->step, step) && !op->derived &&
            (op->engine || ws_op_waits_phase(op->kind)))
            return op;
    }
    return p->op[first];
}

GListStore *ws_timeline_list(WsDocument *d)
{
    GListStore *list = g_list_store_new(WS_TYPE_LISTED);
    const WsProgram *p = ws_document_program(d);
    WsTrace *trace = ws_document_predicted(d);
    const WsTraceStats *stats =
        trace && trace->record->len <= MANY_RECORDS ? ws_document_stats(d, FALSE) : NULL;
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; p && i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent < 0 || !op->step || !g_hash_table_add(known, op->step))
            continue;
        g_autoptr(WsListed) l = listed(main_op(p, i), stats);
        g_list_store_append(list, l);
    }
    g_hash_table_remove_all(known);
    for (guint i = 0; p && i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && p->op[i]->step && p->op[i]->barrier >= 0 &&
            ws_op_waits_at_barrier(p->op[i]->kind) && g_hash_table_add(known, p->op[i]->step))
            add_edges(list, p, p->op[i]);
    return list;
}
