/* explain TARGET: the row of src/target, for people. */
#include "cli/explain_target.h"
#include "cli/cli.h"
#include "target/core.h"

#include <stdio.h>

static void put_registers(const WsTargetRegisters *r)
{
    if (r->file == 0)
        return;
    printf(
        "registers: %u of 32 bits in a CTA; a thread gets a multiple of %u in %u..%u, at most %u "
        "at the start%s\n",
        r->file, r->step, r->least, r->most, r->entry,
        r->moves ? "; warp groups can hand them over" : "");
}

static void put_shared(const WsTarget *t)
{
    printf("shared memory: %" G_GUINT64_FORMAT " bytes of a CTA; swizzles of", t->shared.bytes);
    for (guint i = 0; i < G_N_ELEMENTS(t->shared.swizzle) && t->shared.swizzle[i]; i++)
        printf(" %u", t->shared.swizzle[i]);
    printf(" bytes\n");
}

static void put_sync(const WsTargetSync *s)
{
    if (s->bytes)
        printf("mbarriers: %u bytes, %" G_GINT64_FORMAT " arrivals and %" G_GINT64_FORMAT
               " bytes of a phase at most\n",
               s->bytes, s->arrivals, s->transaction);
    if (s->named)
        printf("named barriers: %u, of which %u for the CTA as a whole\n", s->named,
               s->named_reserved);
    printf("clusters of");
    for (guint i = 0; i < G_N_ELEMENTS(s->cluster) && s->cluster[i]; i++)
        printf(" %u", s->cluster[i]);
    printf(" CTAs\nfences: %s%s\n", s->fences,
           s->proxies ? "; generic and asynchronous accesses need one between" : "");
}

static void put_queues(const WsTarget *t)
{
    static const char *const end[] = { "ends at an mbarrier", "groups, first in first out",
                                       "a counter, first in first out" };
    for (guint i = 0; i < t->n_queues; i++) {
        const WsTargetQueue *q = &t->queue[i];
        printf("queue: %s (%s); %s", q->name, q->steps, end[q->end]);
        if (q->wait)
            printf("; %s 0..%u", q->wait, q->most);
        printf("\n");
    }
}

static void put_matrix(const WsTargetMatrix *x)
{
    if (!x->name)
        return;
    printf("%s: ", x->name);
    if (x->warps > 1)
        printf("%u warps; ", x->warps);
    printf("M in multiples of %u, N of %u up to %u, %u bytes of K at a time\n", x->m, x->n_step,
           x->n_most, x->k_bytes);
    for (guint i = 0; i < x->n_products; i++)
        printf("  %s%s -> %s\n", x->product[i].operands,
               x->product[i].mixed ? " with each other" : "", x->product[i].accumulators);
}

static void put_rest(const WsTarget *t)
{
    printf("steps: %s\n", t->steps);
    for (guint i = 0; i < WS_LENS_COUNT; i++)
        if (t->lacks[i])
            printf("not supported by %s: %s\n", ws_lens_name((WsLens)i), t->lacks[i]);
}

/* A core by queues: its tables, each figure with its source. */
static void put_core(const WsTargetCore *c)
{
    for (guint i = 0; i < c->n_units; i++)
        printf("queue %s: %s%s%s%s\n", c->unit[i].name, c->unit[i].what,
               c->unit[i].half ? " (" : "", c->unit[i].half ? c->unit[i].half : "",
               c->unit[i].half ? " core)" : "");
    for (guint i = 0; i < c->n_spaces; i++)
        printf("space %s: %" G_GUINT64_FORMAT
               " bytes of a core, buffers at multiples of %u, rows of "
               "multiples of %u bytes (%s)\n",
               c->space[i].name, c->space[i].bytes, c->space[i].align, c->space[i].unit,
               c->space[i].source);
    for (guint i = 0; i < c->n_moves; i++)
        printf("move from %s to %s: %s%s (%s)\n", ws_core_space_name(c, c->move[i].from),
               ws_core_space_name(c, c->move[i].to), c->unit[c->move[i].unit].name,
               c->move[i].converts ? ", f32 may become f16 or bf16" : "", c->move[i].source);
    printf("flags, %u ids each (%s):", c->ids, c->flags_source);
    for (guint i = 0; i < c->n_flags; i++)
        printf(" %s-%s", c->unit[c->flags[i].from].name, c->unit[c->flags[i].to].name);
    printf("\nvector: %s, of %s\n", c->operations, c->vector_types);
}

void ws_explain_target(const WsTarget *t)
{
    printf("%s: %s\n\n", t->name, t->title);
    if (t->core) {
        put_core(t->core);
        put_matrix(&t->matrix);
        put_rest(t);
        return;
    }
    printf("a warp: %u threads; a CTA has at most %u\n", t->lanes, t->threads);
    if (t->group_warps > 1)
        printf("a warp group: %u warps\n", t->group_warps);
    put_registers(&t->registers);
    put_shared(t);
    put_sync(&t->sync);
    put_queues(t);
    put_matrix(&t->matrix);
    put_rest(t);
}
