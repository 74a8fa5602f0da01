#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"
#include "program/partition_registers.h"
#include "target/target.h"

#include <string.h>

/* warp_specialize: its partitions become groups. */

/* Registers of the default partition, as Triton works them out; 0: no plan. */
static gint64 leftover(const PyRead *p, const Val *warps, const Val *regs)
{
    g_autofree guint *w = g_new0(guint, warps->n + 1), *r = g_new0(guint, warps->n + 1);
    for (guint i = 0; i < warps->n; i++) {
        w[i] = (guint)CLAMP(py_number(warps->item[i], 0), 0, 64);
        r[i] = (guint)CLAMP(py_number(regs->item[i], 0), 0, 256);
    }
    const WsPartitionRegisters plan = ws_partition_registers(
        &ws_target_sm_90a, (guint)CLAMP(p->num_warps, 1, 64), warps->n, w, r, (guint)p->maxnreg);
    if (plan.dropped)
        return 0;
    /* The compiler starts everybody with up to 256, designs with what their target says: what is
     * left to the default partition is nobody's text, and no reason to refuse a kernel. */
    const WsTarget *target = &ws_target_sm_90a;
    gint64 workers = 0, groups = (p->num_warps + target->group_warps - 1) / target->group_warps;
    const gint64 own = groups;
    for (guint i = 0; i < warps->n; i++) {
        const gint64 n = (w[i] + target->group_warps - 1) / target->group_warps;
        workers += n * ((r[i] + 7) / 8 * 8);
        groups += n;
    }
    const gint64 threads = MAX(groups, 1) * target->group_warps * target->lanes;
    const gint64 entry = MIN(target->registers.file / threads / 8 * 8, target->registers.entry);
    const gint64 room = (entry * groups - workers) / MAX(own, 1) / 8 * 8;
    return MAX(MIN(MIN(plan.leftover, room), 256), 0);
}

/* Whether more threads than one do anything in the group but wait. */
static gboolean works_together(const GPtrArray *list)
{
    static const WsReadKind together[] = { WS_READ_MMA,      WS_READ_COMPUTE, WS_READ_READ,
                                           WS_READ_WRITE,    WS_READ_GATHER,  WS_READ_OPAQUE,
                                           WS_READ_LOAD_WAIT };
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        for (guint k = 0; !s->off && k < G_N_ELEMENTS(together); k++)
            if (s->kind == together[k])
                return TRUE;
        if (works_together(s->body) || works_together(s->other))
            return TRUE;
    }
    return FALSE;
}

/* Barriers of the compiler before arrivals order nothing where one thread does all. */
static void drop_meetings(GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        s->off |= s->kind == WS_READ_SYNC && s->flag;
        drop_meetings(s->body);
        drop_meetings(s->other);
    }
}

static void begin_group(PyRead *p, const char *name, guint line, gint64 warps, gint64 registers)
{
    if (p->prologue && p->r->groups->len == 1 && p->group)
        p->group->name = name; /* the warps that began */
    else
        p->group = ws_source_group(p->r, name, line);
    p->group->line = line;
    p->group->warps = warps;
    p->group->registers = registers;
    p->to = p->group->body;
    g_ptr_array_set_size(p->loop_names, 0);
    g_hash_table_remove_all(p->allocated);
    p->dirty = p->waited = FALSE;
    g_array_set_size(p->waited_on, 0);
    g_array_set_size(p->generic, 0);
    p->calls = 0;
}

static void end_group(PyRead *p, const WsPyNode *at)
{
    py_claims_left(p, at);
    py_count_copies(p);
    if (!works_together(p->group->body))
        drop_meetings(p->group->body);
    p->group = NULL;
    p->to = NULL;
}

static void run_group(PyRead *p, const WsPyNode *f, const Val **args, gint64 warps,
                      gint64 registers, const WsPyNode *at)
{
    begin_group(p, f->text, f->line, warps, registers);
    py_call(p, f, args, at);
    end_group(p, f);
}

void py_run_task(PyRead *p, const WsPyNode *body, const char *name, gint64 warps, gint64 registers,
                 const WsPyNode *at)
{
    Frame frame = { .vars = py_copy_vars(p->frame->vars),
                    .closure = p->frame->closure,
                    .prefix = "",
                    .at = p->frame->at,
                    .up = p->frame->up };
    Frame *around = p->frame;
    begin_group(p, name, at->line, warps, registers);
    p->frame = &frame;
    p->calls = 1;
    py_run(p, body);
    p->calls = 0;
    p->frame = around;
    g_hash_table_unref(frame.vars);
    end_group(p, at);
}

const Val *py_one_group(PyRead *p, const Val **args, const WsPyNode *at)
{
    p->specialized = TRUE;
    p->own_warps = p->num_warps;
    run_group(p, p->alone, args, p->num_warps, 0, at);
    return py_none(p);
}

static void partition(PyRead *p, const Val *entry, gint64 warps, gint64 registers,
                      const WsPyNode *at)
{
    if (entry->kind != VAL_TUPLE || entry->n != 2 || entry->item[0]->kind != VAL_FUNC ||
        entry->item[1]->kind != VAL_TUPLE) {
        ws_source_fail(p->r, at->line, at->column, "Write (function, (arguments…)).",
                       "a partition of warp_specialize that is no function of this file");
        return;
    }
    const WsPyNode *f = entry->item[0]->node;
    g_autofree const Val **args = g_new0(const Val *, f->kid[0]->n + 1);
    for (guint i = 0; i < MIN(entry->item[1]->n, f->kid[0]->n); i++)
        args[i] = entry->item[1]->item[i];
    p->closure = entry->item[0]->closure;
    run_group(p, f, args, warps, registers, at);
}

/* Calls of Triton 3.5 and before: arguments and function of the default partition, then those of
 * the workers, which share theirs. */
static void as_pairs(PyRead *p, const Val **a)
{
    const gboolean in_order = a[1] && a[1]->kind == VAL_FUNC, by_name = !in_order && a[4];
    const Val *args = by_name ? a[3] : a[0], *f = by_name ? a[4] : a[1];
    const Val *worker_args = by_name ? a[5] : a[2], *workers = by_name ? a[6] : a[3];
    if (!by_name && !in_order)
        return;
    if (!args || !f || !worker_args || !workers || workers->kind != VAL_TUPLE)
        return;
    Val *all = py_val(p, VAL_TUPLE);
    all->item = g_new0(const Val *, workers->n + 2);
    g_ptr_array_add(p->r->pool, all->item);
    for (guint i = 0; i <= workers->n; i++) {
        Val *pair = py_val(p, VAL_TUPLE);
        pair->item = g_new0(const Val *, 3);
        g_ptr_array_add(p->r->pool, pair->item);
        pair->item[0] = i ? workers->item[i - 1] : f;
        pair->item[1] = i ? worker_args : args;
        pair->n = 2;
        all->item[all->n++] = pair;
    }
    if (!by_name) {
        a[1] = a[4];
        a[2] = a[5];
    }
    a[0] = all;
}

/* A loader whose other warps would do nothing is exported with one: "# 4 warps in the design"
 * behind the partition. */
static gint64 warps_of(PyRead *p, const WsPyNode *at, guint i, gint64 otherwise)
{
    static const char key[] = " warps in the design";
    const WsPyNode *list = at->n > 1 && at->kid[1]->kind == WS_PY_LIST ? at->kid[1] : NULL;
    const guint line = list && i < list->n ? list->kid[i]->end_line : 0;
    const char *text = line && line <= p->r->n_lines ? strchr(p->r->line[line - 1], '#') : NULL;
    char *end = NULL;
    const gint64 warps = text ? g_ascii_strtoll(text + 1, &end, 10) : 0;
    return warps >= 1 && warps <= 32 && g_str_has_prefix(end, key) ? warps : otherwise;
}

/* What one thread does for its group, or every thread for itself. */
static gboolean is_for_one(const GPtrArray *list)
{
    static const WsReadKind kinds[] = { WS_READ_FOR,        WS_READ_IF,    WS_READ_ADVANCE,
                                        WS_READ_LET,        WS_READ_WAIT,  WS_READ_ARRIVE,
                                        WS_READ_EXPECT,     WS_READ_LOAD,  WS_READ_STORE,
                                        WS_READ_STORE_WAIT, WS_READ_FENCE, WS_READ_COMPUTE,
                                        WS_READ_CLAIM,      WS_READ_TAKE,  WS_READ_DEPENDENT };
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        gboolean is = s->off || (s->kind == WS_READ_SYNC && !g_strcmp0(s->name, "group"));
        for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
            is = is || s->kind == kinds[k];
        if (!is || (s->kind == WS_READ_ARRIVE && s->flag) || !is_for_one(s->body) ||
            !is_for_one(s->other))
            return FALSE;
    }
    return TRUE;
}

/* The warps that an export leaves out do nothing in the design, either. */
static void need_idle(PyRead *p, const WsPyNode *at)
{
    if (!is_for_one(((WsReadGroup *)g_ptr_array_index(p->r->groups, p->r->groups->len - 1))->body))
        py_unread(
            p, at,
            "a remark `warps in the design` at a partition whose steps take all of its warps");
}

static void join_prologue(PyRead *p);

const Val *py_mean_SPECIALIZE(PyRead *p, const Val **a, const WsPyNode *at)
{
    as_pairs(p, a);
    if (a[1] && a[1]->kind == VAL_TUPLE && (!a[2] || a[2]->kind == VAL_NONE)) { /* no budgets */
        Val *none = py_val(p, VAL_TUPLE);
        none->item = g_new0(const Val *, a[1]->n + 1);
        g_ptr_array_add(p->r->pool, none->item);
        while (none->n < a[1]->n)
            none->item[none->n++] = py_literal(p, 0);
        a[2] = none;
    }
    if (p->specialized || !p->prologue || p->loops->len || p->to != p->prologue || !a[0] ||
        a[0]->kind != VAL_TUPLE || !a[0]->n || !a[1] || a[1]->kind != VAL_TUPLE || !a[2] ||
        a[2]->kind != VAL_TUPLE) {
        ws_source_fail(p->r, at->line, at->column,
                       "Write warp_specialize([(f, args), …], [warps…], [registers…]) once.",
                       "a second warp_specialize, or one whose lists are not written out");
        return py_none(p);
    }
    if (a[1]->n != a[0]->n - 1 || a[2]->n != a[0]->n - 1) {
        ws_source_fail(p->r, at->line, at->column, "Give one figure per worker.",
                       "%u workers, %u warp counts, %u register counts", a[0]->n - 1, a[1]->n,
                       a[2]->n);
        return py_none(p);
    }
    p->specialized = TRUE;
    gint64 budgets = 0;
    for (guint i = 0; i < a[2]->n; i++)
        budgets += py_number(a[2]->item[i], 0);
    const gint64 rest = budgets ? leftover(p, a[1], a[2]) : 0;
    for (guint i = 0; i < a[0]->n && !*p->r->error; i++) {
        p->own_warps = i ? py_number(a[1]->item[i - 1], 4) : p->num_warps;
        const gint64 warps = warps_of(p, at, i, p->own_warps);
        partition(p, a[0]->item[i], warps, i && rest ? py_number(a[2]->item[i - 1], 0) : rest, at);
        if (warps != p->own_warps && p->r->groups->len)
            need_idle(p, at);
    }
    p->own_warps = p->num_warps;
    if (*p->r->error || !p->r->groups->len)
        return py_opaque(p);
    py_behind_partitions(p);
    return py_plain(p);
}

void py_behind_partitions(PyRead *p)
{
    p->calls = 1;
    p->group = g_ptr_array_index(p->r->groups, 0); /* what comes now is done by its warps */
    p->to = p->epilogue = g_ptr_array_new();
    join_prologue(p);
}

static gboolean does_something(const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++)
        if (!((const WsReadStep *)g_ptr_array_index(list, i))->off)
            return TRUE;
    return FALSE;
}

/* A barrier of all partitions; `first` and `others` are what they do there. NULL: there is one. */
static const char *meeting(PyRead *p, const char *name)
{
    WsRead *r = p->r;
    WsReadBarrier b = { .name = ws_source_name(r, name), .copies = 1, .named = TRUE };
    b.count = g_new0(gint64, 1);
    b.ready = g_new0(gint, 1);
    for (guint i = 0; i < r->groups->len; i++)
        b.count[0] += 32 * ((WsReadGroup *)g_ptr_array_index(r->groups, i))->warps;
    g_array_append_val(r->barriers, b);
    return b.name;
}

static WsReadStep *meet(WsRead *r, const WsReadGroup *g, WsReadKind kind, const char *name)
{
    WsReadStep *s = ws_source_step(r, NULL, kind, g->line, 1, g->line);
    s->name = name;
    return s;
}

/* Partitions begin when everything before them is done. */
static void join_prologue(PyRead *p)
{
    WsRead *r = p->r;
    WsReadGroup *first = g_ptr_array_index(r->groups, 0);
    const gboolean any = does_something(p->prologue);
    const char *name = any && r->groups->len > 1 ? meeting(p, "warp_specialize_begin") : NULL;
    for (guint i = 1; name && i < r->groups->len; i++) {
        WsReadGroup *g = g_ptr_array_index(r->groups, i);
        g_ptr_array_insert(g->body, 0, meet(r, g, WS_READ_SYNC, name));
    }
    if (name)
        g_ptr_array_insert(first->body, 0, meet(r, first, WS_READ_SYNC, name));
    for (guint i = p->prologue->len; i-- > 0;)
        g_ptr_array_insert(first->body, 0, g_ptr_array_index(p->prologue, i));
    g_ptr_array_unref(p->prologue);
    p->prologue = NULL;
}

/* All partitions end before the kernel goes on in the warps of the first one. */
static void join_epilogue(PyRead *p)
{
    WsRead *r = p->r;
    if (!p->epilogue)
        return;
    WsReadGroup *first = g_ptr_array_index(r->groups, 0);
    const gboolean any = does_something(p->epilogue);
    const char *name = any && r->groups->len > 1 ? meeting(p, "warp_specialize_end") : NULL;
    for (guint i = 0; name && i < r->groups->len; i++) {
        WsReadGroup *g = g_ptr_array_index(r->groups, i);
        g_ptr_array_add(g->body, meet(r, g, i ? WS_READ_BAR_ARRIVE : WS_READ_SYNC, name));
    }
    for (guint i = 0; i < p->epilogue->len; i++)
        g_ptr_array_add(first->body, g_ptr_array_index(p->epilogue, i));
    g_ptr_array_unref(p->epilogue);
    p->epilogue = NULL;
}

void py_with_partitions(PyRead *p, const Val **args, const WsPyNode *at)
{
    p->group = ws_source_group(p->r, p->kernel->text, p->kernel->line);
    p->group->warps = p->own_warps = p->num_warps;
    p->to = p->prologue = g_ptr_array_new();
    g_ptr_array_set_size(p->loop_names, 0);
    g_hash_table_remove_all(p->allocated);
    g_array_set_size(p->waited_on, 0);
    g_array_set_size(p->generic, 0);
    p->dirty = p->waited = FALSE;
    p->calls = 0;
    py_call(p, p->kernel, args, at);
    if (p->prologue) { /* it was never reached */
        g_ptr_array_unref(p->prologue);
        p->prologue = NULL;
        g_ptr_array_set_size(p->r->groups, 0);
    }
    join_epilogue(p);
    p->group = NULL;
    p->to = NULL;
}
