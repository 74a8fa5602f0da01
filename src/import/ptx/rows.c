#include "import/ptx/finish.h"

#include <string.h>

/* Copies of cp.async and runs of accesses: what threads do a few bytes at a time is one step of a
 * tile, and groups count steps. */

static gboolean is_commit(const WsReadStep *s)
{
    return s->kind == WS_READ_LOAD_WAIT && s->flag;
}

/* Copies that only some rounds make, in a group that every round closes, count as always made: what
 * they would write too much is the stage that their group has anyway. */
static gboolean hoist(GPtrArray *list)
{
    gboolean any = FALSE;
    for (guint i = 0; i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        gboolean only = s->kind == WS_READ_IF && s->body->len && !s->other->len && !s->off;
        for (guint k = 0; only && k < s->body->len; k++)
            only = ((WsReadStep *)g_ptr_array_index(s->body, k))->kind == WS_READ_GATHER;
        if (only) {
            for (guint k = 0; k < s->body->len; k++)
                g_ptr_array_insert(list, (gint)(i + 1 + k), g_ptr_array_index(s->body, k));
            s->off = any = TRUE;
        } else if (s->kind == WS_READ_GATHER) {
            any |= s->when != NULL;
            s->when = NULL;
        }
        if (s->body && !s->off)
            any |= hoist(s->body);
        if (s->other && !s->off)
            any |= hoist(s->other);
    }
    return any;
}

static gboolean same_when(const WsReadStep *a, const WsReadStep *b)
{
    return a->when == b->when || (a->when && b->when && ws_expr_equal(a->when, b->when));
}

static gboolean is_whole(const PtxOperand *o)
{
    return o->touched >= o->to - o->from;
}

/* Does `s` go on where `g` ends, or fill what lies between? Then it is part of that step. So is
 * what lies `slack` bytes away where one of the two leaves gaps. */
static gboolean joins(PtxFinish *f, WsReadStep *g, WsReadStep *s, gint64 slack)
{
    PtxSpot a, b;
    PtxOperand *to = ptx_operand_of(f->w, &g->buffer), *o = ptx_operand_of(f->w, &s->buffer);
    if (g->kind != s->kind || !same_when(g, s) || !ptx_spot(f->r, g->buffer.index, &a) ||
        !ptx_spot(f->r, s->buffer.index, &b) || a.n != b.n || a.stride != b.stride)
        return FALSE;
    if (a.n > 1 && !ws_expr_equal(a.index, b.index))
        return FALSE;
    const gint64 d = b.base - a.base, from = d + o->from, to_here = d + o->to;
    if (slack && is_whole(to) && is_whole(o))
        return FALSE;
    if (from > to->to + slack || to_here < to->from - slack)
        return FALSE;
    to->from = MIN(to->from, from);
    to->to = MAX(to->to, to_here);
    to->touched += o->touched;
    g->end_line = MAX(g->end_line, s->line);
    return TRUE;
}

/* Runs of stores, loads or copies of one tile, up to what synchronises, are one step. */
static void join_runs(PtxFinish *f, GPtrArray *list, gint64 slack)
{
    for (guint i = 0; i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        if (s->body)
            join_runs(f, s->body, slack);
        if (s->other)
            join_runs(f, s->other, slack);
        if (s->kind != WS_READ_WRITE && s->kind != WS_READ_READ && s->kind != WS_READ_GATHER)
            continue;
        for (guint k = i; k-- > 0;) { /* what it fills may join what stands before, too */
            WsReadStep *g = g_ptr_array_index(list, k);
            if (g->off || g->kind == WS_READ_COMPUTE)
                continue;
            if (g->kind != WS_READ_WRITE && g->kind != WS_READ_READ && g->kind != WS_READ_GATHER)
                break;
            if (joins(f, g, s, slack)) {
                s->off = TRUE;
                s = g;
            }
        }
    }
}

/* Stores that leave gaps count as opaque: somebody else may write there. */
void ptx_gaps(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    PtxFinish *f = data;
    WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind != WS_READ_WRITE)
        return;
    const PtxOperand *o = ptx_operand_of(f->w, &s->buffer);
    if (o->touched * 4 < (o->to - o->from) * 3)
        ptx_make_opaque(f, s, "stores to shared memory that leave gaps");
}

/* The first eight rows are a step of their own: a design takes rows that an agent writes and reads
 * back for rows that each warp keeps to itself, and nothing says that of this kernel. */
static void split_rows(PtxFinish *f, GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        split_rows(f, s->body);
        split_rows(f, s->other);
        if ((s->kind != WS_READ_WRITE && s->kind != WS_READ_GATHER) || s->all)
            continue;
        PtxOperand *o = ptx_operand_of(f->w, &s->buffer);
        const gint64 column = ptx_regions_columns(&f->regions, &s->buffer),
                     inside = s->kind == WS_READ_WRITE ? o->from % 8192 : 0,
                     cut = column > 0 ? column
                           : inside   ? 8192 - inside
                                      : 1024; /* then 64 rows each, of stores */
        if (o->to - o->from <= cut || column < 0 || (column > 0 && s->kind != WS_READ_GATHER))
            continue;
        WsReadStep *rest = ws_source_step(f->r, NULL, s->kind, s->line, s->column, s->end_line);
        g_autofree WsReadStep *copy = g_memdup2(s, sizeof *s);
        *rest = *copy;
        *ptx_operand_of(f->w, &rest->buffer) = *o;
        ptx_operand_of(f->w, &rest->buffer)->from = o->from + cut;
        o->to = o->from + cut;
        g_ptr_array_insert(list, (gint)i + 1, rest);
        i += s->kind == WS_READ_GATHER;
    }
}

typedef struct {
    gint64 each; /* steps of a group, -1: it differs, -2: none yet */
    gint64 open; /* steps that no commit closed yet */
    guint line;  /* a wait that leaves them out, 0 none */
    const WsReadGroup *group;
} Groups;

static void count_groups(GPtrArray *list, Groups *q)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        q->open += s->kind == WS_READ_GATHER && s->barrier.object < 0;
        if (is_commit(s)) {
            q->each = q->each != -2 && q->each != q->open ? -1 : q->open;
            q->open = 0;
            s->off = TRUE;
        } else if (s->kind == WS_READ_LOAD_WAIT && !s->all && q->open) {
            q->line = s->line;
        }
        if (s->body && q->open) /* a group over the edge of a loop or branch */
            q->each = -1;
        count_groups(s->body, q);
        count_groups(s->other, q);
        if (s->body && q->open)
            q->each = -1;
    }
}

static void scale_waits(gpointer data, GPtrArray *list, guint at, WsReadGroup *g)
{
    gpointer *both = data;
    const Groups *q = both[1];
    WsReadStep *s = g_ptr_array_index(list, at);
    if (g != q->group || s->kind != WS_READ_LOAD_WAIT || !s->n)
        return;
    if (q->each < 1)
        ptx_make_opaque(both[0], s, "a wait for groups of cp.async that do not hold the same");
    else
        s->n *= q->each;
}

/* Others may wait for it by then, or what it does is not known. */
static gboolean may_wait(const WsReadStep *s)
{
    static const WsReadKind kinds[] = { WS_READ_WAIT,  WS_READ_CLUSTER, WS_READ_FOR, WS_READ_IF,
                                        WS_READ_STAGE, WS_READ_OPAQUE,  WS_READ_RAW, WS_READ_PIPE,
                                        WS_READ_CLAIM, WS_READ_TAKE };
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (s->kind == kinds[i])
            return !s->off;
    return s->kind == WS_READ_SYNC && !s->implied && !s->off;
}

/* cp.async.mbarrier.arrive.noinc belongs to the copies before it. */
static void give_arrivals(PtxFinish *f, GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        give_arrivals(f, s->body);
        give_arrivals(f, s->other);
        if (s->kind != WS_READ_ARRIVE || g_strcmp0(s->text, "cp.async"))
            continue;
        if (s->when)
            ptx_lose_at(f, s->line, "an arrival of cp.async under a predicate");
        gboolean waits = FALSE, late = FALSE;
        for (guint k = i; k-- > 0;) {
            WsReadStep *g = g_ptr_array_index(list, k);
            waits |= may_wait(g);
            late |= waits && g->kind == WS_READ_GATHER && !g->off && !g->barrier.index;
            if (g->kind != WS_READ_GATHER || g->off || g->barrier.index)
                continue;
            g->barrier = s->barrier;
            s->off = TRUE;
        }
        if (late)
            ptx_lose_at(f, s->line, "an arrival of cp.async with a wait between copies and it");
        s->text = NULL;
    }
}

void ptx_copies_of_threads(PtxFinish *f)
{
    for (guint i = 0; i < f->r->groups->len; i++) {
        WsReadGroup *g = g_ptr_array_index(f->r->groups, i);
        ptx_collisions(f, g->body);
        if (hoist(g->body)) {
            ws_source_granted(f->r, "copies of cp.async that only some rounds make stay inside of "
                                    "the stage that their group copies to");
            /* the last ones are made by nobody: nothing of them is in flight */
            WsReadStep *end = ws_source_step(f->r, g->body, WS_READ_LOAD_WAIT, g->line, 1, g->line);
            end->n = 0;
        }
        join_runs(f, g->body, 0);
        join_runs(f, g->body, 1024); /* rows of 128 bytes, eight of them a swizzle pattern */
        give_arrivals(f, g->body);
    }
}

/* Steps as a design has them, and waits that count these. */
void ptx_count_copies(PtxFinish *f)
{
    for (guint i = 0; i < f->r->groups->len; i++) {
        Groups q = { .each = -2 };
        WsReadGroup *g = g_ptr_array_index(f->r->groups, i);
        gpointer both[] = { f, &q };
        split_rows(f, g->body);
        count_groups(g->body, &q);
        if (q.line)
            ptx_lose_at(f, q.line, "a wait for copies that no commit closes before");
        q.group = g;
        ptx_visit(f->r, scale_waits, both);
    }
}
