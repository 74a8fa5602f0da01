#include "import/ptx/region/region.h"
#include "import/ptx/walk.h"

#include <string.h>

/* A group is followed as a few of its threads: the first lane of each warp, the last ones, and the
 * second lane of the warp that leads. What the leader does stands for all of them, so all of them
 * have to do it: at the same barriers, for the same phase, as many rounds. What only one thread
 * does is what one thread may do; anything else loses the kernel. */

typedef struct {
    PtxWalk *w;
    PtxWho who;
    gboolean waits_alone, works; /* the other one leaves out a wait, and makes steps that need it */
    guint line;
    const GPtrArray *leader, *other;
} Agree;

static void differ(Agree *a, const WsReadStep *s, const char *what)
{
    WsRead *r = a->w->p.r;
    ws_source_unread(r, s->line, 1, s->line, what,
                     s->line && s->line <= r->n_lines ? r->line[s->line - 1] : "");
    a->w->lost = TRUE;
}

static gboolean same(const WsExpr *a, const WsExpr *b)
{
    gint64 d;
    return a == b || (a && b && (ws_expr_equal(a, b) || (ws_x_difference(a, b, &d) && d == 0)));
}

/* The sides of a branch change places where one is empty. */
static gboolean same_choice(WsRead *r, const WsExpr *a, const WsExpr *b)
{
    return same(a, b) || (a && b && same(a, ws_x_op(r, WS_EXPR_NOT, b, NULL))) ||
           (a && b && same(b, ws_x_op(r, WS_EXPR_NOT, a, NULL)));
}

static gboolean counts(const WsReadStep *s)
{
    return !s->off && s->kind != WS_READ_COMPUTE && s->kind != WS_READ_OPAQUE;
}

/* Does the other thread make what stands in that line? */
static gboolean makes(const GPtrArray *other, guint line)
{
    for (guint i = 0; other && i < other->len; i++) {
        const WsReadStep *s = g_ptr_array_index(other, i);
        if ((!s->off && s->line == line) || makes(s->body, line) || makes(s->other, line))
            return TRUE;
    }
    return FALSE;
}

/* Up to the next barrier that all come to, or the end of the thread, only the one thread does what
 * its fence is for. What others store or load there lies behind it in the group's steps, and is not
 * fenced. */
static gboolean alone_behind(const Agree *a, const GPtrArray *list, guint at)
{
    for (guint i = at; i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off || s->kind == WS_READ_COMPUTE || s->kind == WS_READ_STORE_WAIT)
            continue;
        if (s->kind == WS_READ_SYNC && !s->when)
            return TRUE;
        const gboolean plain =
            s->kind == WS_READ_WRITE || s->kind == WS_READ_READ || s->kind == WS_READ_FENCE;
        if (s->body || s->other || (!plain && makes(a->other, s->line)))
            return FALSE;
    }
    return list == a->leader;
}

/* Does the fence of one thread stand behind a barrier that all come to, and behind nothing since
 * but what that thread alone does with bytes that were fenced: then it fences what all have done,
 * for itself. */
static gboolean fences_for_all(const Agree *a, const GPtrArray *list, const WsReadStep *fence)
{
    gboolean met = list == a->leader; /* nothing was accessed yet */
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s == fence)
            return met && !s->when && alone_behind(a, list, i + 1);
        if (s->off || s->kind == WS_READ_COMPUTE || s->kind == WS_READ_FENCE ||
            s->kind == WS_READ_STORE || s->kind == WS_READ_STORE_WAIT)
            continue;
        met = s->kind == WS_READ_SYNC && !s->when;
        if (fences_for_all(a, s->body, fence) || fences_for_all(a, s->other, fence))
            return TRUE;
    }
    return FALSE;
}

/* May a thread leave this out that the leader does? */
static gboolean may_miss(Agree *a, const WsReadStep *s)
{
    const WsReadLeft left = ws_read_row(s->kind)->left;
    const gboolean lane = a->who != PTX_TWO_LANES;
    if (left == WS_READ_LEFT_LANE)
        return lane;
    if (s->kind == WS_READ_ARRIVE)
        return lane && g_strcmp0(s->text, "cp.async");
    /* A fence orders what its own thread does. */
    if (s->kind == WS_READ_WAIT ||
        (s->kind == WS_READ_FENCE && lane && !fences_for_all(a, a->leader, s))) {
        a->waits_alone = TRUE;
        a->line = s->line;
    }
    /* Accesses are opaque then; a loop or a branch is what it holds. */
    return left != WS_READ_LEFT_NO;
}

/* Is this one thread's alone, so that a second one doing it would do it twice? */
static gboolean is_single(const WsReadStep *s)
{
    return s->kind == WS_READ_EXPECT || s->kind == WS_READ_LOAD || s->kind == WS_READ_STORE ||
           s->kind == WS_READ_COPY || s->kind == WS_READ_CLAIM;
}

/* All lanes of a warp make the same bulk store: it brings the same bytes several times. */
static gboolean is_repeated(const Agree *a, const WsReadStep *s, const WsReadStep *o)
{
    gboolean is = s->kind == WS_READ_STORE && s->tensor == o->tensor && s->n_coord == o->n_coord &&
                  (a->who == PTX_NEXT_LANE || a->who == PTX_LAST_LANE) && !s->flag && !o->flag &&
                  same(s->buffer.index, o->buffer.index);
    for (guint i = 0; i < s->n_coord && is; i++)
        is = same(s->coord[i], o->coord[i]);
    return is;
}

/* Does what another thread makes of a step need that it waited, too? */
static gboolean is_work(const WsReadStep *s)
{
    const WsPlace *place[2];
    return s->kind == WS_READ_ARRIVE || s->kind == WS_READ_BAR_ARRIVE || s->kind == WS_READ_CLAIM ||
           s->kind == WS_READ_TAKE || ptx_places(s, place) > 0;
}

static void compare(Agree *a, const WsReadStep *s, const WsReadStep *o)
{
    const gboolean lane = a->who != PTX_OTHER_WARP && a->who != PTX_SOME_LANE;
    const char *what = NULL;
    if (!same(s->when, o->when))
        what = "a predicate that is not the same in all threads of a group";
    else if ((s->kind == WS_READ_WAIT || s->kind == WS_READ_ARRIVE || s->kind == WS_READ_EXPECT) &&
             (!same(s->barrier.index, o->barrier.index) || !same(s->cta, o->cta) || s->n != o->n))
        what = "an mbarrier that is not the same for all threads of a group";
    else if (s->kind == WS_READ_WAIT && !same(s->parity, o->parity))
        what = "a parity that is not the same for all threads of a group";
    else if ((s->kind == WS_READ_FOR && !same(s->e, o->e)) ||
             (s->kind == WS_READ_IF && !same_choice(a->w->p.r, s->e, o->e)))
        what = "rounds or a branch that not all threads of a group make";
    else if ((s->kind == WS_READ_SYNC || s->kind == WS_READ_BAR_ARRIVE) &&
             (strcmp(s->name, o->name) || s->n != o->n))
        what = "a barrier that is not the same for all threads of a group";
    else if (s->kind == WS_READ_MMA &&
             (!same(s->b.index, o->b.index) || !same(s->a.index, o->a.index) || !same(s->e, o->e)))
        what = "a product that is not the same in all warps of a group";
    else if ((s->kind == WS_READ_MMA_WAIT || s->kind == WS_READ_LOAD_WAIT ||
              s->kind == WS_READ_STORE_WAIT) &&
             s->n != o->n)
        what = "a wait that is not the same in all threads of a group";
    else if ((s->kind == WS_READ_TAKE || s->kind == WS_READ_CLAIM) &&
             (s->kind == WS_READ_CLAIM || !same(s->buffer.index, o->buffer.index)))
        what = "a tile that several threads of a group claim, or take from different places";
    else if (is_repeated(a, s, o))
        a->w->repeated = TRUE;
    else if (is_single(s) && a->who != PTX_TWO_LANES &&
             (lane || (a->who == PTX_SOME_LANE && s->kind != WS_READ_STORE) ||
              (same(s->buffer.index, o->buffer.index) && same(s->barrier.index, o->barrier.index))))
        what = "a copy or an expect that several threads of a group make";
    if (what)
        differ(a, s, what);
}

static void missing(Agree *a, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (!counts(s))
            continue;
        if (!may_miss(a, s))
            differ(a, s, "a step that not all threads of a group make");
        missing(a, s->body);
        missing(a, s->other);
    }
}

static void add_all(GPtrArray *to, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++)
        if (counts(g_ptr_array_index(list, i)))
            g_ptr_array_add(to, g_ptr_array_index(list, i));
}

/* Where the leader expects bytes, which is an arrival, the other one arrives: its number in the
 * leader's steps from `next` on, before anything that both do; -1: it does not. */
static gint arrives_instead(Agree *a, const GPtrArray *leader, guint next, const WsReadStep *o)
{
    if (o->kind != WS_READ_ARRIVE || o->when || o->cta || o->n != 1 || o->text ||
        a->who == PTX_TWO_LANES)
        return -1;
    for (guint k = next; k < leader->len; k++) {
        const WsReadStep *s = g_ptr_array_index(leader, k);
        if (s->kind == WS_READ_EXPECT && !s->when && same(s->barrier.index, o->barrier.index))
            return (gint)k;
        if (s->kind != WS_READ_EXPECT && s->kind != WS_READ_LOAD)
            return -1;
    }
    return -1;
}

void ptx_agree_others(PtxWalk *w, GPtrArray *leader, gint64 threads)
{
    for (guint i = 0; leader && i < leader->len; i++) {
        WsReadStep *s = g_ptr_array_index(leader, i);
        const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(w->beside, s));
        ptx_agree_others(w, s->body, threads);
        ptx_agree_others(w, s->other, threads);
        if (!n || s->off)
            continue;
        if (n != w->compared)
            ptx_lose_line(w, s->line, "an arrival of some of the threads of a group");
        WsReadStep *others = ws_source_step(w->p.r, NULL, WS_READ_ARRIVE, s->line, 1, s->line);
        others->barrier.index = s->barrier.index;
        others->n = threads - 1;
        others->text = PTX_OTHERS;
        g_hash_table_insert(w->made_by, others, g_hash_table_lookup(w->made_by, s));
        g_ptr_array_insert(leader, (gint)++i, others);
    }
}

/* A store that some lanes make, the same ones in every warp, the last one not. */
static gboolean partly(const PtxWalk *w, const WsReadStep *s)
{
    GHashTableIter it;
    gpointer number;
    g_hash_table_iter_init(&it, w->partly);
    while (g_hash_table_iter_next(&it, &number, NULL))
        if (ws_ptx_inst(w->ptx, GPOINTER_TO_UINT(number))->line == s->line)
            return TRUE;
    return FALSE;
}

static void walk(Agree *a, const GPtrArray *leader, const GPtrArray *other)
{
    guint next = 0;
    for (guint i = 0; i < other->len; i++) {
        const WsReadStep *o = g_ptr_array_index(other, i), *s = NULL;
        guint k = next;
        for (; k < leader->len; k++) {
            s = g_ptr_array_index(leader, k);
            if (s->line == o->line && s->kind == o->kind)
                break;
        }
        a->works |= is_work(o);
        const gint instead = k == leader->len ? arrives_instead(a, leader, next, o) : -1;
        if (instead >= 0) {
            gpointer expect = g_ptr_array_index(leader, (guint)instead);
            const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(a->w->beside, expect));
            g_hash_table_insert(a->w->beside, expect, GUINT_TO_POINTER(n + 1));
            next = (guint)instead + 1;
            continue;
        }
        if (k == leader->len && a->who == PTX_TWO_LANES && partly(a->w, o))
            continue; /* the last one that makes it is followed, too */
        if (k == leader->len) {
            differ(a, o, "a step that only some threads of a group make");
            continue;
        }
        for (; next < k; next++) {
            const WsReadStep *left = g_ptr_array_index(leader, next);
            if (!may_miss(a, left))
                differ(a, left, "a step that not all threads of a group make");
            missing(a, left->body);
            missing(a, left->other);
        }
        next = k + 1;
        compare(a, s, o);
        if (!s->body)
            continue;
        g_autoptr(GPtrArray) mine = g_ptr_array_new(), theirs = g_ptr_array_new();
        add_all(mine, s->body);
        add_all(mine, s->other);
        add_all(theirs, o->body);
        add_all(theirs, o->other);
        walk(a, mine, theirs);
    }
    for (; next < leader->len; next++) {
        const WsReadStep *left = g_ptr_array_index(leader, next);
        if (!may_miss(a, left))
            differ(a, left, "a step that not all threads of a group make");
        missing(a, left->body);
        missing(a, left->other);
    }
}

gboolean ptx_works(const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (counts(s) &&
            (is_work(s) || s->kind == WS_READ_WAIT || ptx_works(s->body) || ptx_works(s->other)))
            return TRUE;
    }
    return FALSE;
}

/* At barriers of all threads inside of loops or branches. */
static gboolean meets(const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == WS_READ_SYNC && !s->all) || meets(s->body) || meets(s->other))
            return TRUE;
    }
    return FALSE;
}

void ptx_agree(PtxWalk *w, const GPtrArray *leader, const GPtrArray *other, PtxWho who)
{
    Agree a = { .w = w, .who = who, .leader = leader, .other = other };
    g_autoptr(GPtrArray) mine = g_ptr_array_new(), theirs = g_ptr_array_new();
    w->compared += who != PTX_TWO_LANES;
    if (who == PTX_OTHER_WARP && !ptx_works(other) && !meets(other))
        return; /* it only meets the others */
    add_all(mine, leader);
    add_all(theirs, other);
    walk(&a, mine, theirs);
    if (a.waits_alone && a.works) {
        const WsReadStep at = { .line = a.line };
        differ(&a, &at, "a wait of one thread for all of its group");
    }
}
