#include "import/pyread_loop.h"

#include <string.h>

/* Named barriers that an export wrote as mbarriers: "# named in the design: 256 threads" where the
 * barrier is made. They become named ones again if everything done with them is what the export
 * writes, and stay mbarriers otherwise: every wait tests the parity of a count of the waits on that
 * element in this function, and either one group waits and the others arrive once, or everyone who
 * waits arrives just before. */

/* --- counts of waits: x = 0 at the head, and only  wait(b.index(e), x % 2); x += 1
 * ---------------*/

static guint named_in(const WsPyNode *node, const char *name)
{
    guint n = node->kind == WS_PY_NAME && !strcmp(node->text, name);
    for (guint i = 0; i < node->n; i++)
        n += named_in(node->kid[i], name);
    return n;
}

/* The variable of `x % 2`. */
static const char *parity_of(const WsPyNode *call)
{
    const WsPyNode *e = call->n > 2 ? call->kid[2] : NULL;
    const gboolean fits = e && e->kind == WS_PY_BINARY && !strcmp(e->text, "%") &&
                          e->kid[0]->kind == WS_PY_NAME && e->kid[1]->kind == WS_PY_INT &&
                          e->kid[1]->i == 2;
    return fits ? e->kid[0]->text : NULL;
}

static gboolean adds_one(const WsPyNode *node, const char *name)
{
    return node->kind == WS_PY_AUGMENT && !strcmp(node->text, "+") &&
           node->kid[0]->kind == WS_PY_NAME && !strcmp(node->kid[0]->text, name) &&
           node->kid[1]->kind == WS_PY_INT && node->kid[1]->i == 1;
}

/* Waits by `name` that are followed by its increase. */
static guint counted_in(const WsPyNode *node, const char *name)
{
    guint n = 0;
    for (guint i = 0; i < node->n; i++) {
        const WsPyNode *one = node->kid[i];
        n += counted_in(one, name);
        if (node->kind == WS_PY_BLOCK && i + 1 < node->n && one->kind == WS_PY_EXPR &&
            one->kid[0]->kind == WS_PY_CALL && !g_strcmp0(parity_of(one->kid[0]), name) &&
            adds_one(node->kid[i + 1], name))
            n++;
    }
    return n;
}

/* Among what is set before anything is done; `if replica == 1:` may stand around it. */
static gboolean starts_at_zero(const WsPyNode *body, const char *name)
{
    for (guint i = 0; i < body->n; i++) {
        const WsPyNode *a = body->kid[i];
        if (a->kind == WS_PY_IF && a->n == 2 && starts_at_zero(a->kid[1], name))
            return TRUE;
        if (a->kind != WS_PY_ASSIGN && a->kind != WS_PY_IF)
            break;
        if (a->kind == WS_PY_ASSIGN && a->n == 2 && a->kid[0]->kind == WS_PY_NAME &&
            !strcmp(a->kid[0]->text, name))
            return a->kid[1]->kind == WS_PY_INT && a->kid[1]->i == 0;
    }
    return FALSE;
}

const char *py_wait_counter(const PyRead *p, const WsPyNode *call)
{
    const char *name = parity_of(call);
    const WsPyNode *body =
        name && p->frame && p->frame->function ? p->frame->function->kid[1] : NULL;
    return body && starts_at_zero(body, name) &&
                   named_in(body, name) == 1 + 2 * counted_in(body, name)
               ? name
               : NULL;
}

const gint64 *py_named_threads(PyRead *p, gint64 copies, const WsPyNode *at)
{
    static const char key[] = "# named in the design: ";
    const char *line = at->end_line <= p->r->n_lines ? p->r->line[at->end_line - 1] : "";
    const char *text = strstr(line, key);
    if (!text || copies < 1)
        return NULL;
    gint64 *threads = g_new0(gint64, copies);
    g_ptr_array_add(p->r->pool, threads);
    char *end = (char *)text + strlen(key);
    for (gint64 i = 0; i < copies; i++) {
        threads[i] = g_ascii_strtoll(end, &end, 10);
        if (*end != ',') { /* one figure stands for the rest */
            for (gint64 k = i + 1; k < copies; k++)
                threads[k] = threads[i];
            break;
        }
        end++;
    }
    return threads;
}

/* --- what everyone does with an element
 * ---------------------------------------------------------*/

typedef struct {
    gint barrier;
    gint64 element;
    gboolean wrong;
    guint waits, arrivals, pairs; /* of the group looked at; pair: an arrival just before a wait */
    const char *counter;
} Look;

static gboolean is_at(Look *l, const WsReadStep *s)
{
    gint64 e = 0;
    if (s->off || s->barrier.object != l->barrier)
        return FALSE;
    if (s->barrier.index && !ws_x_is(s->barrier.index, &e)) {
        l->wrong = TRUE;
        return FALSE;
    }
    return e == l->element;
}

static void look_at(Look *l, const GPtrArray *list)
{
    const WsReadStep *before = NULL;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        look_at(l, s->body);
        look_at(l, s->other);
        if (is_at(l, s)) {
            l->wrong |= s->when != NULL;
            if (s->kind == WS_READ_WAIT) {
                l->waits++;
                l->pairs += before && before->kind == WS_READ_ARRIVE && is_at(l, before);
                l->wrong |= !s->text || (l->counter && strcmp(s->text, l->counter));
                l->counter = s->text;
            } else if (s->kind == WS_READ_ARRIVE && s->n == 1) {
                l->arrivals++;
            } else {
                l->wrong = TRUE;
            }
        }
        if (!s->off)
            before = s;
    }
}

/* Whether the groups do with the element what a named barrier is written as; `both`: who waits
 * arrives. */
static gboolean fits(WsRead *r, const WsReadBarrier *b, Look *l, gboolean *both)
{
    guint waiters = 0, arrivers = 0, paired = 0;
    gint64 threads = 0;
    for (guint g = 0; g < r->groups->len && !l->wrong; g++) {
        const WsReadGroup *group = g_ptr_array_index(r->groups, g);
        l->waits = l->arrivals = l->pairs = 0;
        l->counter = NULL;
        look_at(l, group->body);
        waiters += l->waits > 0;
        arrivers += l->arrivals > 0;
        paired += l->waits && l->pairs == l->waits && l->arrivals == l->waits;
        threads += l->waits || l->arrivals ? group->warps * 32 : 0;
    }
    *both = paired > 0;
    return !l->wrong && threads == b->threads[l->element] &&
           b->count[l->element] == (gint64)arrivers &&
           (paired ? paired == waiters : waiters == 1 && arrivers && threads);
}

static gboolean mixes(WsRead *r, Look *l) /* a group that waits and arrives, though not in pairs */
{
    for (guint g = 0; g < r->groups->len; g++) {
        l->waits = l->arrivals = l->pairs = 0;
        l->counter = NULL;
        look_at(l, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body);
        if (l->waits && l->arrivals != (l->pairs == l->waits ? l->waits : 0))
            return TRUE;
    }
    return FALSE;
}

/* --- … becomes a named barrier
 * ------------------------------------------------------------------*/

static void turn(WsRead *r, GPtrArray *list, const WsReadBarrier *b, gint number)
{
    WsReadStep *before = NULL;
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        turn(r, s->body, b, number);
        turn(r, s->other, b, number);
        if (!s->off && s->barrier.object == number) {
            gint64 e = 0;
            ws_x_is(s->barrier.index, &e);
            s->name = b->copies > 1 ? ws_source_format(r, "%s[%" G_GINT64_FORMAT "]", b->name, e)
                                    : b->name;
            if (s->kind == WS_READ_WAIT && before && before->kind == WS_READ_BAR_ARRIVE &&
                !g_strcmp0(before->name, s->name))
                before->off = TRUE;
            s->kind = s->kind == WS_READ_WAIT ? WS_READ_SYNC : WS_READ_BAR_ARRIVE;
            s->barrier.object = -1;
            s->text = NULL;
        }
        if (!s->off)
            before = s;
    }
}

static void drop_advance(GPtrArray *list, const char *counter)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        s->off |= s->kind == WS_READ_ADVANCE && !strcmp(s->name, counter);
        drop_advance(s->body, counter);
        drop_advance(s->other, counter);
    }
}

/* Counters that only the parities needed. */
static void drop_counters(WsReadGroup *g)
{
    for (guint i = g->counters->len; i-- > 0;) {
        const char *name = g_ptr_array_index(g->counters, i);
        if (py_steps_mention(g->body, name))
            continue;
        drop_advance(g->body, name);
        g_ptr_array_remove_index(g->counters, i);
        g_ptr_array_remove_index(g->starts, i);
    }
}

void py_named_barriers(WsRead *r)
{
    gboolean any = FALSE;
    for (guint i = 0; i < r->barriers->len; i++) {
        WsReadBarrier *b = &g_array_index(r->barriers, WsReadBarrier, i);
        gboolean all = b->threads != NULL, both;
        for (gint64 e = 0; all && e < b->copies; e++) {
            Look l = { .barrier = (gint)i, .element = e };
            all = b->threads[e] == b->threads[0] && fits(r, b, &l, &both) && !mixes(r, &l);
        }
        if (!all)
            continue;
        for (guint g = 0; g < r->groups->len; g++)
            turn(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, b, (gint)i);
        b->named = any = TRUE;
        b->count[0] = b->threads[0];
    }
    for (guint g = 0; any && g < r->groups->len; g++)
        drop_counters(g_ptr_array_index(r->groups, g));
}
