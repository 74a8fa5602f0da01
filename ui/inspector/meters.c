#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "target/target.h"
#include "ui/panels/resources.h"

#include "program/pressure.h"

#include "ui/parts/format.h"

#include <glib/gi18n.h>

#define NEAR_SHARE 0.9

static void free_meter(gpointer data)
{
    WsMeter *m = data;
    g_free(m->name);
    g_free(m->text);
    g_free(m->help);
    g_free(m);
}

/* `whole`: reaching the limit is no sign of trouble. `form` has two %s: used, limit. */
static void add(GPtrArray *list, char *name, gint64 used, gint64 limit, const char *form,
                const char *help, gboolean whole)
{
    WsMeter *m = g_new0(WsMeter, 1);
    g_autofree char *a = ws_format_int(used), *b = ws_format_int(limit);
    m->name = name;
    m->text = g_strdup_printf(form, a, b);
    m->help = g_strdup(help);
    m->used = used;
    m->limit = limit;
    m->state = used > limit                                          ? WS_METER_OVER
               : !whole && (double)used > NEAR_SHARE * (double)limit ? WS_METER_NEAR
                                                                     : WS_METER_FREE;
    g_ptr_array_add(list, m);
}

static void add_agents(GPtrArray *list, const WsProgram *p)
{
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i];
        WsPressure r = ws_program_pressure(p, i);
        if (a->replica > 0)
            continue;
        add(list, g_strdup_printf(_("Registers of %s"), a->name), ws_pressure_total(&r), r.budget,
            _("about %s of %s registers"),
            _("an estimate per thread: the values that are alive at once, and an allowance for "
              "addresses and counters; ptxas decides"),
            FALSE);
    }
}

static guint named_barriers(const WsProgram *p)
{
    guint n = 0;
    for (guint i = 0; i < p->n_barriers; i++)
        n += p->barrier[i].kind == WS_BARRIER_NAMED ? p->barrier[i].array : 0;
    return n;
}

static gint64 largest_tx(const WsProgram *p)
{
    gint64 most = 0;
    for (guint i = 0; i < p->n_ops; i++)
        if (ws_op_expects(p->op[i]->kind))
            most = MAX(most, p->op[i]->bytes);
    for (guint i = 0; i < p->n_barriers; i++)
        most = MAX(most, (gint64)p->barrier[i].expected_bytes);
    return most;
}

GPtrArray *ws_meters_new(const WsProgram *p)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(free_meter);
    const WsTarget *hw = p->hardware;
    add(list, g_strdup(_("Shared memory")), (gint64)p->shared_bytes,
        (gint64)ws_target_shared(hw, p->per_sm), _("%s of %s bytes"),
        _("dynamic shared memory of one CTA"), FALSE);
    add(list, g_strdup(_("Threads")), p->threads, hw->threads, _("%s of %s threads"),
        _("threads of one CTA, all groups"), FALSE);
    if (!hw->registers.moves)
        return list;
    add(list, g_strdup(_("Registers at the start")), (gint64)p->threads * p->entry_registers,
        hw->registers.file / p->per_sm, _("%s of %s registers"),
        _("threads times the registers each one starts with: the pool that the plan shares out"),
        TRUE);
    add(list, g_strdup(_("Registers by plan")), ws_program_planned_registers(p),
        (gint64)p->threads * p->entry_registers, _("%s of %s registers"),
        _("after every group set its own number, of the pool"), TRUE);
    add_agents(list, p);
    add(list, g_strdup(_("Named barriers")), named_barriers(p), hw->sync.named,
        _("%s of %s hardware ids"), _("named barriers and syncs of groups"), FALSE);
    add(list, g_strdup(_("Bytes per turn")), largest_tx(p), hw->sync.transaction,
        _("%s of %s bytes"), _("largest number of bytes that one mbarrier waits for at a time"),
        FALSE);
    return list;
}
