#include "import/ptx/unite.h"

#include <string.h>

/* What the warps and lanes of a group do together: who arrives, which copies each issues, and the
 * bytes that all of them touch with one instruction. */

static gboolean has_line(GHashTable *lines, guint line)
{
    return g_hash_table_contains(lines, GUINT_TO_POINTER(line));
}

/* Arrivals by how many lanes? */
void ptx_unite_arrivals(PtxWalk *w, GPtrArray *list, GHashTable *const *warp, guint n,
                        GHashTable *lane)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_ARRIVE) {
            guint who = 0;
            for (guint k = 0; k < n; k++)
                who += has_line(warp[k], s->line);
            s->flag = has_line(lane, s->line) && g_strcmp0(s->text, PTX_SPREAD);
            s->all = !s->flag && who > 1;
            const gboolean spread = !g_strcmp0(s->text, PTX_SPREAD),
                           alone = g_hash_table_contains(w->alone, s);
            if (alone && (s->all || spread))
                ptx_lose_line(w, s->line,
                              "an arrival for lanes of a warp that no barrier of it follows");
            s->all |= n == 1 && !s->flag && !alone && s->n == 1;
            if (who < n && (who > 1 || s->flag))
                ptx_lose_line(w, s->line, "an arrival of some of the warps of a group");
        }
        ptx_unite_arrivals(w, s->body, warp, n, lane);
        ptx_unite_arrivals(w, s->other, warp, n, lane);
    }
}

/* The last lane of a warp arrives where all do, and nowhere else. */
void ptx_unite_last(PtxWalk *w, const GPtrArray *list, GHashTable *last)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_ARRIVE && !s->off && s->flag != has_line(last, s->line))
            ptx_lose_line(w, s->line, "an arrival of some of the lanes of a group");
        ptx_unite_last(w, s->body, last);
        ptx_unite_last(w, s->other, last);
    }
}

/* Arrivals that were compared, and that a later lane does not make. */
void ptx_spread_drop(GPtrArray *lane)
{
    for (guint i = 0; lane && i < lane->len; i++) {
        WsReadStep *s = g_ptr_array_index(lane, i);
        s->off |= s->kind == WS_READ_ARRIVE && !g_strcmp0(s->text, PTX_SPREAD);
        ptx_spread_drop(s->body);
        ptx_spread_drop(s->other);
    }
}

/* All that a choice or loop holds: which side is which differs where one of them is empty. */
static GPtrArray *both_sides(const WsReadStep *o)
{
    GPtrArray *all = g_ptr_array_new();
    const GPtrArray *side[] = { o->body, o->other };
    for (guint k = 0; k < 2; k++)
        for (guint i = 0; side[k] && i < side[k]->len; i++)
            g_ptr_array_add(all, g_ptr_array_index(side[k], i));
    return all;
}

/* Copies that another warp of the group issues at the same line for another part of the tile. */
void ptx_unite_copies(GPtrArray *list, const GPtrArray *from)
{
    for (guint i = 0, next = 0; i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        guint k = next;
        while (k < from->len && ((WsReadStep *)g_ptr_array_index(from, k))->line != s->line)
            k++;
        if (k == from->len)
            continue; /* the other warp does not do it */
        next = k;
        WsReadStep *o = g_ptr_array_index(from, k);
        gint64 d;
        if (s->kind == o->kind && s->body && o->body) {
            g_autoptr(GPtrArray) all = both_sides(o);
            ptx_unite_copies(s->body, all);
            if (s->other)
                ptx_unite_copies(s->other, all);
        } else if ((s->kind == WS_READ_LOAD || s->kind == WS_READ_STORE) && s->kind == o->kind) {
            const gboolean same = ws_x_difference(s->buffer.index, o->buffer.index, &d) && d == 0;
            while (i + 1 < list->len) { /* those that the warps before issue there */
                const WsReadStep *x = g_ptr_array_index(list, i + 1);
                if (x->line != s->line || x->kind != s->kind)
                    break;
                i++;
            }
            if (!same) { /* what each of them commits is one group */
                ((WsReadStep *)g_ptr_array_index(list, i))->all |= s->kind == WS_READ_STORE;
                g_ptr_array_insert(list, (gint)++i, o);
            }
            next = k + 1;
        }
    }
}

/* --- lanes that store ------------------------------------------------------------------------- */

gboolean ptx_lanes_store(const GPtrArray *list, const GPtrArray *lane)
{
    gint64 d;
    for (guint i = 0; list && lane && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        for (guint k = 0; k < lane->len; k++) {
            const WsReadStep *o = g_ptr_array_index(lane, k);
            if (o->line != s->line || o->kind != s->kind || s->off || o->off)
                continue;
            if (s->kind == WS_READ_STORE &&
                !(ws_x_difference(s->buffer.index, o->buffer.index, &d) && d == 0))
                return TRUE;
            g_autoptr(GPtrArray) mine = both_sides(s), theirs = both_sides(o);
            if (ptx_lanes_store(mine, theirs))
                return TRUE;
        }
    }
    return FALSE;
}

void ptx_lanes_wait(PtxWalk *w, const GPtrArray *list, gboolean ends)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        ptx_lanes_wait(w, s->body, FALSE);
        ptx_lanes_wait(w, s->other, FALSE);
        if (s->kind != WS_READ_STORE_WAIT || s->off)
            continue;
        gboolean met = ends; /* nothing comes behind it */
        for (guint k = i + 1; k < list->len; k++) {
            const WsReadStep *next = g_ptr_array_index(list, k);
            if (next->off || next->kind == WS_READ_COMPUTE || next->kind == WS_READ_FENCE ||
                next->kind == WS_READ_STORE || next->kind == WS_READ_STORE_WAIT)
                continue; /* nothing is written there */
            met = next->kind == WS_READ_SYNC;
            break;
        }
        if (!met)
            ptx_lose_line(w, s->line, "a wait of several lanes, each for its own bulk stores");
    }
}

void ptx_lanes_drop(GPtrArray *lane)
{
    for (guint i = 0; lane && i < lane->len; i++) {
        WsReadStep *s = g_ptr_array_index(lane, i);
        ptx_lanes_drop(s->body);
        ptx_lanes_drop(s->other);
        if (s->kind == WS_READ_STORE || s->kind == WS_READ_STORE_WAIT)
            g_ptr_array_remove_index(lane, i--);
    }
}

/* --- bytes ------------------------------------------------------------------------------------ */

static gboolean is_access(const WsReadStep *s)
{
    return s->kind == WS_READ_WRITE || s->kind == WS_READ_READ || s->kind == WS_READ_GATHER;
}

/* The step of `other` that the same instruction made, from `*at` on. */
static WsReadStep *partner(const GPtrArray *other, const WsReadStep *s, guint *at)
{
    for (guint k = *at; other && k < other->len; k++) {
        WsReadStep *o = g_ptr_array_index(other, k);
        if (o->line != s->line || o->kind != s->kind || o->off)
            continue;
        *at = k + 1;
        return o;
    }
    return NULL;
}

/* Those of another warp, `d` bytes away; NULL: they are not known. */
static void unite_pieces(PtxWalk *w, PtxOperand *b, const PtxOperand *o, gint64 d)
{
    GArray *all = NULL;
    if (b->pieces && o->pieces) {
        all = g_array_new(FALSE, FALSE, sizeof(PtxPiece));
        g_ptr_array_add(w->p.r->arrays, all);
        g_array_append_vals(all, b->pieces->data, b->pieces->len);
        for (guint i = 0; i < o->pieces->len; i++) {
            PtxPiece one = g_array_index(o->pieces, PtxPiece, i);
            one.at += d;
            g_array_append_val(all, one);
        }
        g_array_sort(all, ptx_by_place);
    }
    b->pieces = all;
}

/* Another thread does it at other addresses: the bytes of both. What not everybody does is opaque.
 * `lane`: its number in
 * its warp; 0: it is one of another warp. */
void ptx_unite_bytes(PtxWalk *w, GPtrArray *list, const GPtrArray *other, guint lane)
{
    guint at = 0;
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off || (!s->body && !is_access(s)))
            continue;
        if (!s->body && lane && ptx_operand_of(w, &s->buffer)->last &&
            ptx_operand_of(w, &s->buffer)->last != lane)
            continue; /* another lane is the last that makes it */
        const WsReadStep *o = partner(other, s, &at);
        if (s->body) {
            g_autoptr(GPtrArray) all = o ? both_sides(o) : NULL;
            ptx_unite_bytes(w, s->body, all, lane);
            ptx_unite_bytes(w, s->other, all, lane);
            continue;
        }
        gint64 d = 0;
        PtxOperand *b = ptx_operand_of(w, &s->buffer),
                   *their = o ? ptx_operand_of(w, &o->buffer) : NULL;
        if (!s->buffer.index)
            continue; /* its place is not known: finish says so */
        if (o && their->idle)
            continue;
        if (o && ws_x_difference(s->buffer.index, o->buffer.index, &d)) {
            b->to = MAX(b->to, d + their->to);
            b->from = MIN(b->from, d + their->from);
            b->touched += !lane ? their->touched : 0;
            if (!lane)
                unite_pieces(w, b, their, d);
        } else if (s->kind == WS_READ_GATHER) {
            if (o)
                b->pieces = NULL;
        } else {
            s->flag = s->kind == WS_READ_WRITE;
            s->kind = WS_READ_OPAQUE;
            s->buffer.index = NULL;
            ws_source_unread_more(w->p.r, s->line,
                                  s->flag ? "stores to shared memory by part of a group"
                                          : "loads from shared memory by part of a group");
        }
    }
}

/* --- barriers of the whole CTA ---------------------------------------------------------------- */

static gboolean opens(const WsReadStep *s)
{
    return s->kind == WS_READ_SYNC && s->all && !strcmp(s->name, "cta");
}

/* Barriers before anything else is done; drops the first n. */
static guint leading(GPtrArray *list, guint n)
{
    guint found = 0;
    for (guint i = 0; i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off || s->kind == WS_READ_FENCE || s->kind == WS_READ_COMPUTE)
            continue;
        if (!opens(s))
            break;
        s->off = found++ < n;
    }
    return found;
}

/* Barriers of all threads: all come to the same ones (same_ends). Those that open every role are
 * the one a design begins with. */
void ptx_unite_cta(WsRead *r)
{
    guint least = G_MAXUINT;
    for (guint g = 0; g < r->groups->len; g++)
        least = MIN(least, leading(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, 0));
    for (guint g = 0; g < r->groups->len; g++)
        leading(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, least);
}

static void relaxed(PtxWalk *w, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_CLUSTER && !s->off && s->flag)
            ptx_lose_line(w, s->line,
                          "an arrival at the barrier of the cluster that hands on nothing");
        relaxed(w, s->body);
        relaxed(w, s->other);
    }
}

/* The first pair of arrive and wait at the head of every group is the one that a design derives. */
void ptx_unite_cluster(PtxWalk *w)
{
    WsRead *r = w->p.r;
    for (guint g = 0; g < r->groups->len && r->cluster > 1; g++) {
        const WsReadGroup *group = g_ptr_array_index(r->groups, g);
        guint n = 0;
        gboolean weak = FALSE;
        for (guint i = 0; i < group->body->len && n < 2; i++) {
            WsReadStep *s = g_ptr_array_index(group->body, i);
            if (s->off || s->kind == WS_READ_FENCE || s->kind == WS_READ_SYNC ||
                s->kind == WS_READ_COMPUTE)
                continue;
            if (s->kind != WS_READ_CLUSTER || strcmp(s->name, n ? "wait" : "arrive") || s->when)
                break;
            s->off = TRUE;
            weak |= s->flag;
            n++;
        }
        if (n < 2)
            ptx_lose_line(w, group->line,
                          "where the cluster syncs after its mbarriers were initialised");
        else if (weak && !w->init_fenced)
            ptx_lose_line(w, group->line, "what hands the initialised mbarriers on to the cluster");
        relaxed(w, group->body);
    }
}
