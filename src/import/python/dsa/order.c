#include "import/python/dsa/read.h"

#include <string.h>

/* Flags and barriers between queues, which the text has not: its compiler orders them itself. Steps
 * of one list stand in runs of one queue; of two runs that touch a buffer, of which one writes, the
 * later one waits for a flag of the earlier, and in a loop the earlier one, a round on, for a flag
 * of the later: set once before the stream, and waited for once behind it. A loop in the list is
 * one run for each queue in it. */

typedef struct {
    gint buffer;
    gboolean writes;
} Touch;

typedef struct {
    guint queue;
    GArray *touch; /* Touch */
} Part;

/* A run of steps, or a loop. */
typedef struct {
    GPtrArray *step;  /* PyDsaStep* */
    GPtrArray *parts; /* Part* */
} Run;

typedef struct {
    GPtrArray *ahead, *behind; /* PyDsaStep* around the stream */
} Around;

/* --- what is touched -------------------------------------------------------------------------- */

static void part_free(gpointer data)
{
    g_array_unref(((Part *)data)->touch);
    g_free(data);
}

static void run_free(gpointer data)
{
    g_ptr_array_unref(((Run *)data)->step);
    g_ptr_array_unref(((Run *)data)->parts);
    g_free(data);
}

static Part *part_of(GPtrArray *parts, guint queue)
{
    for (guint i = 0; i < parts->len; i++)
        if (((Part *)parts->pdata[i])->queue == queue)
            return parts->pdata[i];
    Part *p = g_new(Part, 1);
    *p = (Part){ queue, g_array_new(FALSE, FALSE, sizeof(Touch)) };
    g_ptr_array_add(parts, p);
    return p;
}

static void touch(Part *p, gint buffer, gboolean writes)
{
    const Touch t = { buffer, writes };
    if (buffer >= 0)
        g_array_append_val(p->touch, t);
}

static void add_touches(GPtrArray *parts, const PyDsaStep *s)
{
    if (s->kind == DSA_LOOP) {
        for (guint i = 0; i < s->body->len; i++)
            add_touches(parts, s->body->pdata[i]);
        return;
    }
    if (s->kind >= DSA_SET)
        return;
    Part *p = part_of(parts, s->queue);
    touch(p, s->a, FALSE);
    touch(p, s->b, FALSE);
    touch(p, s->into, TRUE);
}

/* A buffer that both touch and one writes, from `*from` on in what `a` touches; -1: none. */
static gint next_common(const Part *a, const Part *b, guint *from)
{
    for (; *from < a->touch->len; ++*from) {
        const Touch *x = &g_array_index(a->touch, Touch, *from);
        for (guint k = 0; k < b->touch->len; k++) {
            const Touch *y = &g_array_index(b->touch, Touch, k);
            if (x->buffer == y->buffer && (x->writes || y->writes)) {
                ++*from;
                return x->buffer;
            }
        }
    }
    return -1;
}

static gboolean conflict(const Part *a, const Part *b)
{
    guint from = 0;
    return next_common(a, b, &from) >= 0;
}

static gboolean all_rings(PyDsa *d, const Part *a, const Part *b)
{
    guint from = 0;
    for (gint buffer; (buffer = next_common(a, b, &from)) >= 0;)
        if (!py_dsa_buffer(d, buffer)->ring)
            return FALSE;
    return TRUE;
}

/* --- rings ------------------------------------------------------------------------------------ */

static guint lists_with(const GPtrArray *list, gint buffer)
{
    guint here = 0, below = 0;
    for (guint i = 0; i < list->len; i++) {
        const PyDsaStep *s = list->pdata[i];
        if (s->kind == DSA_LOOP)
            below += lists_with(s->body, buffer);
        else
            here |= s->a == buffer || s->b == buffer || s->into == buffer;
    }
    return here + below;
}

/* Filled in a round of its only loop before it is read there. */
static void find_rings(PyDsa *d, const GPtrArray *stream, const GPtrArray *list, gboolean loop)
{
    for (guint i = 0; i < list->len; i++) {
        const PyDsaStep *s = list->pdata[i];
        if (s->kind == DSA_LOOP) {
            find_rings(d, stream, s->body, TRUE);
            continue;
        }
        PyDsaBuffer *b = s->into < 0 ? NULL : py_dsa_buffer(d, s->into);
        gboolean first = b && loop && s->kind != DSA_CUBE && s->a != s->into && s->b != s->into &&
                         lists_with(stream, s->into) == 1;
        for (guint k = 0; k < i && first; k++) {
            const PyDsaStep *other = list->pdata[k];
            first = other->kind == DSA_LOOP ||
                    (other->a != s->into && other->b != s->into && other->into != s->into);
        }
        if (first)
            b->ring = TRUE;
    }
}

/* --- runs ------------------------------------------------------------------------------------- */

static GPtrArray *runs_of(const GPtrArray *list)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func(run_free);
    const PyDsaStep *before = NULL;
    for (guint i = 0; i < list->len; i++) {
        PyDsaStep *s = list->pdata[i];
        Run *run = runs->len ? runs->pdata[runs->len - 1] : NULL;
        if (!before || before->kind == DSA_LOOP || s->kind == DSA_LOOP ||
            before->queue != s->queue) {
            run = g_new(Run, 1);
            *run = (Run){ g_ptr_array_new(), g_ptr_array_new_with_free_func(part_free) };
            g_ptr_array_add(runs, run);
        }
        g_ptr_array_add(run->step, s);
        add_touches(run->parts, s);
        before = s;
    }
    return runs;
}

/* --- what is put in --------------------------------------------------------------------------- */

typedef struct {
    PyDsa *d;
    const PyDsaStep *loop; /* NULL: the stream itself */
    Around *around;
    GPtrArray **before, **stop, **after; /* of each run; stop: barriers in front of its sets */
} Order;

static PyDsaStep *tell(const Order *o, GPtrArray *to, PyDsaStepKind kind, gint flag,
                       const char *use)
{
    PyDsaStep *s = py_dsa_new_step(o->d, kind, NULL);
    s->flag = flag;
    s->use = use;
    g_ptr_array_add(to, s);
    return s;
}

static void barrier(const Order *o, GPtrArray *to, guint queue)
{
    for (guint i = 0; i < to->len; i++) {
        const PyDsaStep *s = to->pdata[i];
        if (s->kind == DSA_BARRIER && (s->queue == queue || s->queue == WS_CORE_UNITS))
            return;
    }
    PyDsaStep *s = py_dsa_new_step(o->d, DSA_BARRIER, NULL);
    s->queue = queue;
    g_ptr_array_add(to, s);
}

static gint new_flag(PyDsa *d, guint from, guint to, gboolean ring)
{
    g_autofree char *a = g_ascii_strdown(d->core->unit[from].name, -1),
                    *b = g_ascii_strdown(d->core->unit[to].name, -1);
    const PyDsaFlag f = { ws_source_name(d->r, ws_source_format(d->r, "%s_to_%s", a, b)), from, to,
                          ring };
    g_array_append_val(d->flags, f);
    return (gint)d->flags->len - 1;
}

/* Flag `flag` is set (`ahead`) or waited for once per slot around the stream. */
static void around(const Order *o, GPtrArray *to, PyDsaStepKind kind, gint flag, const char *total)
{
    PyDsa *d = o->d;
    const gboolean ring = g_array_index(d->flags, PyDsaFlag, flag).ring;
    GPtrArray *list = to;
    const char *use = total ? total : "0";
    if (ring) {
        const char *name = ws_source_name(d->r, kind == DSA_SET ? "s" : "r");
        PyDsaStep *loop = py_dsa_new_step(d, DSA_LOOP, NULL);
        loop->word = name;
        loop->full = TRUE;
        loop->body = list = py_dsa_list(d);
        g_ptr_array_add(to, loop);
        use = total ? ws_source_format(d->r, "%s + %s", total, name) : name;
    }
    tell(o, list, kind, flag, use);
}

/* Of two parts, the second of which comes later in the list. */
static void ordered(const Order *o, guint i, const Part *a, guint k, const Part *b)
{
    PyDsa *d = o->d;
    if (a->queue == b->queue) {
        barrier(o, o->before[k], b->queue);
        return;
    }
    const char *total = o->loop ? ws_source_format(d->r, "%s.total", o->loop->word) : NULL;
    const gboolean there = ws_core_has_flags(d->core, a->queue, b->queue),
                   back = ws_core_has_flags(d->core, b->queue, a->queue);
    if (!there || (o->loop && !back)) {
        barrier(o, o->before[k], WS_CORE_UNITS);
        if (o->loop)
            barrier(o, o->after[k], WS_CORE_UNITS);
        return;
    }
    const gboolean ring = o->loop && all_rings(d, a, b);
    const gint forth = new_flag(d, a->queue, b->queue, ring);
    const char *use = total ? total : "0";
    tell(o, o->after[i], DSA_SET, forth, use);
    tell(o, o->before[k], DSA_WAIT, forth, use);
    if (!o->loop)
        return;
    const gint again = new_flag(d, b->queue, a->queue, ring);
    d->stages = ring && !d->stages ? ws_source_name(d->r, "S") : d->stages;
    tell(o, o->before[i], DSA_WAIT, again, use);
    tell(o, o->after[k], DSA_SET, again,
         ws_source_format(d->r, "%s + %s", use, ring ? d->stages : "1"));
    around(o, o->around->ahead, DSA_SET, again, NULL);
    around(o, o->around->behind, DSA_WAIT, again, total);
}

/* One queue, from the round before: what no flag of another queue orders, or not in all slots. */
static void again(const Order *o, GPtrArray *runs, guint i)
{
    const Run *run = runs->pdata[i];
    const gboolean loop = ((const PyDsaStep *)run->step->pdata[0])->kind == DSA_LOOP;
    for (guint p = 0; p < run->parts->len; p++) {
        const Part *a = run->parts->pdata[p];
        gboolean due = FALSE;
        for (guint k = 0; k < runs->len; k++) {
            const Run *other = runs->pdata[k];
            for (guint q = 0; (k != i || !loop) && q < other->parts->len; q++) {
                const Part *b = other->parts->pdata[q];
                if (b->queue == a->queue && conflict(a, b) && !all_rings(o->d, a, b))
                    due = TRUE;
            }
        }
        guint from = 0;
        for (gint buffer; !loop && !due && (buffer = next_common(a, a, &from)) >= 0;) {
            gboolean alone = TRUE; /* no other queue touches the ring */
            for (guint k = 0; k < runs->len; k++)
                for (guint q = 0; q < ((Run *)runs->pdata[k])->parts->len; q++) {
                    const Part *b = ((Run *)runs->pdata[k])->parts->pdata[q];
                    for (guint t = 0; b->queue != a->queue && t < b->touch->len; t++)
                        alone &= g_array_index(b->touch, Touch, t).buffer != buffer;
                }
            due = alone;
        }
        if (due)
            barrier(o, o->stop[i], a->queue);
    }
}

/* Steps of one run that touch the same: a barrier of their queue in front of the later one. */
static void put_run(const Order *o, GPtrArray *into, const Run *run)
{
    guint since = into->len;
    for (guint i = 0; i < run->step->len; i++) {
        PyDsaStep *s = run->step->pdata[i];
        g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(part_free);
        add_touches(own, s);
        gboolean due = FALSE;
        for (guint k = since; k < into->len && s->kind != DSA_LOOP; k++) {
            g_autoptr(GPtrArray) former = g_ptr_array_new_with_free_func(part_free);
            const PyDsaStep *x = into->pdata[k];
            if (x->kind == DSA_BARRIER || x->kind == DSA_LOOP)
                continue;
            add_touches(former, x);
            due |= conflict(former->pdata[0], own->pdata[0]);
        }
        if (due) {
            PyDsaStep *stop = py_dsa_new_step(o->d, DSA_BARRIER, NULL);
            stop->queue = s->queue;
            g_ptr_array_add(into, stop);
            since = into->len;
        }
        g_ptr_array_add(into, s);
    }
}

static void order_list(PyDsa *d, GPtrArray *list, const PyDsaStep *loop, Around *where)
{
    for (guint i = 0; i < list->len; i++) {
        PyDsaStep *s = list->pdata[i];
        if (s->kind == DSA_LOOP)
            order_list(d, s->body, s, where);
    }
    g_autoptr(GPtrArray) runs = runs_of(list);
    Order o = { .d = d, .loop = loop, .around = where };
    o.before = g_new0(GPtrArray *, runs->len + 1);
    o.stop = g_new0(GPtrArray *, runs->len + 1);
    o.after = g_new0(GPtrArray *, runs->len + 1);
    for (guint i = 0; i < runs->len; i++) {
        o.before[i] = py_dsa_list(d);
        o.stop[i] = py_dsa_list(d);
        o.after[i] = py_dsa_list(d);
    }
    for (guint i = 0; i < runs->len; i++)
        for (guint k = i + 1; k < runs->len; k++) {
            const Run *x = runs->pdata[i], *y = runs->pdata[k];
            for (guint p = 0; p < x->parts->len; p++)
                for (guint q = 0; q < y->parts->len; q++)
                    if (conflict(x->parts->pdata[p], y->parts->pdata[q]))
                        ordered(&o, i, x->parts->pdata[p], k, y->parts->pdata[q]);
        }
    for (guint i = 0; i < runs->len && loop; i++)
        again(&o, runs, i);
    g_ptr_array_set_size(list, 0);
    for (guint i = 0; i < runs->len; i++) {
        for (guint k = 0; k < o.before[i]->len; k++)
            g_ptr_array_add(list, o.before[i]->pdata[k]);
        put_run(&o, list, runs->pdata[i]);
        for (guint k = 0; k < o.stop[i]->len; k++)
            g_ptr_array_add(list, o.stop[i]->pdata[k]);
        for (guint k = 0; k < o.after[i]->len; k++)
            g_ptr_array_add(list, o.after[i]->pdata[k]);
    }
    g_free(o.before);
    g_free(o.stop);
    g_free(o.after);
}

void py_dsa_order(PyDsa *d, GPtrArray *stream)
{
    Around where = { py_dsa_list(d), py_dsa_list(d) };
    find_rings(d, stream, stream, FALSE);
    for (guint i = 0; i < d->buffers->len; i++) {
        const PyDsaBuffer *b = py_dsa_buffer(d, (gint)i);
        if (b->ring)
            d->n_stages = MAX(d->n_stages, b->stages);
    }
    order_list(d, stream, NULL, &where);
    for (guint i = where.ahead->len; i-- > 0;)
        g_ptr_array_insert(stream, 0, where.ahead->pdata[i]);
    for (guint i = 0; i < where.behind->len; i++)
        g_ptr_array_add(stream, where.behind->pdata[i]);
}
