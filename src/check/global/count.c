/* Counts the writes of every element at small sizes: what the symbols could not show is refuted by
 * an element that is written twice or never, if one of the sizes tried has one. */
#include "base/phrase.h"
#include "check/global/launches.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

#include <string.h>

enum { MOST_CELLS = 1 << 21, MOST_ELEMENTS = 4096, MOST_STEPS = 1500000 };

void ws_miscount_free(WsMiscount *m)
{
    if (!m)
        return;
    for (guint i = 0; i < 2; i++) {
        g_free(m->who[i]);
        g_free(m->coords[i]);
        g_free(m->round[i]);
    }
    if (m->size)
        g_array_unref(m->size);
    g_free(m->sizes);
    g_free(m);
}

/* --- words -------------------------------------------------------------------------------------
 */
static char *rounds_text(const WsWritten *x)
{
    const WsTree *loop[16];
    guint found = 0;
    for (const WsTree *t = x->op->tree; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && found < G_N_ELEMENTS(loop))
            loop[found++] = t;
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < x->n_rounds && i < found; i++)
        g_string_append_printf(
            s, "%s%s %" G_GINT64_FORMAT, i ? ", " : "",
            loop[found - 1 - i]->over == WS_OVER_TILES ? "tile" : loop[found - 1 - i]->name,
            x->round[i]);
    return g_string_free(s, FALSE);
}

static char *who_text(const WsProgram *p, const WsWritten *x)
{
    const char *name = p->agent[x->agent].name;
    return p->cluster > 1 ? g_strdup_printf("%s@%u", name, x->cta) : g_strdup(name);
}

/* "tm 1, tn 0"; NULL outside of the loop over tiles. */
static char *coords_text(const WsProgram *p, const WsLaunchValues *v, const WsWritten *x)
{
    gint64 coord[8] = { 0 };
    if (x->tile < 0)
        return NULL;
    ws_launch_tile(v, x->tile, coord);
    GString *s = g_string_new(NULL);
    for (guint a = 0; a < p->tiles->n_axes; a++)
        g_string_append_printf(s, "%s%s %" G_GINT64_FORMAT, a ? ", " : "", p->tiles->axis[a].name,
                               coord[a]);
    return g_string_free(s, FALSE);
}

char *ws_miscount_where(const WsMiscount *m, guint which, const char *who)
{
    if (!m->coords[which])
        return g_strdup(who);
    return ws_phrase("%s in tile %" G_GINT64_FORMAT " (%s)", who, m->tile[which], m->coords[which]);
}

/* --- one case ----------------------------------------------------------------------------------
 */
typedef struct {
    guint rank;
    GArray *edge[WS_MAX_RANK]; /* gint64, ascending: cells lie between two */
    gsize cells;
} Cells;

static gint ascending(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static gboolean cut(Cells *c, const WsLaunchValues *v, gint tensor, const GArray *writes)
{
    c->cells = 1;
    for (guint d = 0; d < c->rank; d++) {
        gint64 end = ws_launch_shape(v, (guint)tensor, d), zero = 0;
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(gint64));
        c->edge[d] = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_array_append_val(all, zero);
        g_array_append_val(all, end);
        for (guint i = 0; i < writes->len; i++) {
            g_array_append_val(all, g_array_index(writes, WsWritten, i).lo[d]);
            g_array_append_val(all, g_array_index(writes, WsWritten, i).hi[d]);
        }
        g_array_sort(all, ascending);
        for (guint i = 0; i < all->len; i++)
            if (i == 0 || g_array_index(all, gint64, i) != g_array_index(all, gint64, i - 1))
                g_array_append_val(c->edge[d], g_array_index(all, gint64, i));
        c->cells *= MAX(c->edge[d]->len, 1) - 1;
        if (c->cells > MOST_CELLS)
            return FALSE;
    }
    return TRUE;
}

static guint edge_of(const GArray *edge, gint64 x)
{
    guint lo = 0, hi = edge->len - 1;
    while (lo < hi) {
        guint mid = (lo + hi) / 2;
        if (g_array_index(edge, gint64, mid) < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void element_at(const Cells *c, gsize cell, gint64 *element)
{
    for (guint d = c->rank; d-- > 0;) {
        guint n = c->edge[d]->len - 1;
        element[d] = g_array_index(c->edge[d], gint64, cell % n);
        cell /= n;
    }
}

static void say_write(WsMiscount *m, guint i, const WsProgram *p, const WsLaunchValues *v,
                      const WsWritten *x)
{
    m->op[i] = x->op;
    m->who[i] = who_text(p, x);
    m->tile[i] = x->tile;
    m->coords[i] = coords_text(p, v, x);
    m->round[i] = rounds_text(x);
    m->agent[i] = x->agent, m->cta[i] = x->block, m->n_rounds[i] = x->n_rounds;
    memcpy(m->at[i], x->round, sizeof m->at[i]);
}

/* Marks the cells of write i; the cell of an earlier write that it meets is told. */
static gboolean mark(const Cells *c, const WsWritten *x, guint i, guint *writer, gsize *cell)
{
    guint from[WS_MAX_RANK], to[WS_MAX_RANK], at[WS_MAX_RANK];
    for (guint d = 0; d < c->rank; d++) {
        from[d] = at[d] = edge_of(c->edge[d], x->lo[d]);
        to[d] = edge_of(c->edge[d], x->hi[d]);
    }
    while (TRUE) {
        gsize k = 0;
        for (guint d = 0; d < c->rank; d++)
            k = k * (c->edge[d]->len - 1) + at[d];
        if (writer[k]) {
            *cell = k;
            return FALSE;
        }
        writer[k] = i + 1;
        guint d = c->rank;
        while (d > 0 && ++at[d - 1] == to[d - 1]) {
            at[d - 1] = from[d - 1];
            d--;
        }
        if (d == 0)
            return TRUE;
    }
}

static WsMiscount *miscount(const WsProgram *p, const WsLaunchValues *v, gint tensor,
                            const GArray *writes, gboolean twice)
{
    Cells c = { .rank = p->tensor[tensor].rank };
    WsMiscount *m = NULL;
    g_autofree guint *writer = NULL;
    if (cut(&c, v, tensor, writes) && c.cells > 0) {
        writer = g_new0(guint, c.cells);
        gsize cell = 0;
        for (guint i = 0; i < writes->len && !m; i++) {
            const WsWritten *x = &g_array_index(writes, WsWritten, i);
            if (mark(&c, x, i, writer, &cell))
                continue;
            m = g_new0(WsMiscount, 1);
            m->times = 2;
            element_at(&c, cell, m->element);
            say_write(m, 0, p, v, &g_array_index(writes, WsWritten, writer[cell] - 1));
            say_write(m, 1, p, v, x);
        }
        for (cell = 0; cell < c.cells && !m && !twice; cell++)
            if (!writer[cell]) {
                m = g_new0(WsMiscount, 1);
                element_at(&c, cell, m->element);
            }
    }
    for (guint d = 0; d < c.rank; d++)
        if (c.edge[d])
            g_array_unref(c.edge[d]);
    return m;
}

/* --- strides -----------------------------------------------------------------------------------
 */
static WsMiscount *meeting(const WsProgram *p, const WsLaunchValues *v, gint tensor)
{
    const WsTensor *t = &p->tensor[tensor];
    gint64 n = 1;
    for (guint d = 0; d < t->rank; d++) {
        n *= ws_launch_shape(v, (guint)tensor, d);
        if (!t->strides_given || n <= 0 || n > MOST_ELEMENTS)
            return NULL;
    }
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autofree gint64 *place = g_new(gint64, n);
    for (gint64 i = 0; i < n; i++) {
        gint64 rest = i;
        place[i] = 0;
        for (guint d = t->rank; d-- > 0;) {
            gint64 extent = ws_launch_shape(v, (guint)tensor, d);
            place[i] += rest % extent * ws_launch_stride(v, (guint)tensor, d);
            rest /= extent;
        }
        const gint64 *other = g_hash_table_lookup(seen, &place[i]);
        if (!other) {
            g_hash_table_insert(seen, &place[i], &place[i]);
            continue;
        }
        WsMiscount *m = g_new0(WsMiscount, 1);
        m->times = 2;
        m->same_place = TRUE;
        gint64 a = other - place, b = i;
        for (guint d = t->rank; d-- > 0;) {
            gint64 extent = ws_launch_shape(v, (guint)tensor, d);
            m->element[d] = a % extent, a /= extent;
            m->other[d] = b % extent, b /= extent;
        }
        return m;
    }
    return NULL;
}

/* --- all cases ---------------------------------------------------------------------------------
 */
gboolean ws_global_reads_data(const WsProgram *p)
{
    for (guint i = 0; i < p->n_tensors; i++)
        if (!ws_dtype_real(p->tensor[i].dtype) && p->tensor[i].access == WS_ACCESS_READ &&
            p->tensor[i].data != WS_DATA_OFFSETS)
            return TRUE;
    return FALSE;
}

static gboolean reads_offsets(const WsProgram *p)
{
    for (guint i = 0; i < p->n_tensors; i++)
        if (p->tensor[i].access == WS_ACCESS_READ && p->tensor[i].data == WS_DATA_OFFSETS)
            return TRUE;
    return FALSE;
}

static char *sizes_text(const WsProgram *p, const WsMiscount *m)
{
    const gboolean single = p->tiles->launch == WS_LAUNCH_SINGLE;
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < m->size->len; i++) {
        const WsSize *x = &g_array_index(m->size, WsSize, i);
        g_string_append_printf(s, "%s%s = %" G_GINT64_FORMAT, i ? ", " : "", x->name, x->value);
    }
    if (m->data)
        g_string_append_printf(s, "%selements %" G_GINT64_FORMAT, s->len ? ", " : "",
                               m->data->element);
    if (m->data && m->data->step)
        g_string_append_printf(s, " and %" G_GINT64_FORMAT " by turns",
                               m->data->element + m->data->step);
    if (m->data && m->data->backwards)
        g_string_append(s, ", indices backwards");
    if (reads_offsets(p))
        g_string_append_printf(s, "%soffsets evenly spaced", s->len ? ", " : "");
    const char *ctas = m->ctas == 1
                           ? ws_target_own_word(p->hardware, "%s%" G_GINT64_FORMAT " CTA")
                           : ws_target_own_word(p->hardware, "%s%" G_GINT64_FORMAT " CTAs");
    if (!single)
        g_string_append_printf(s, ctas, s->len ? ", " : "", m->ctas);
    return g_string_free(s, FALSE);
}

WsMiscount *ws_global_count(const WsProgram *p, gint tensor, WsCounting what, guint *tried)
{
    const gboolean few = what == WS_COUNT_OWN, twice = what == WS_COUNT_TWICE;
    g_autoptr(GPtrArray) cases = ws_launch_cases(p, tensor);
    guint64 left = MOST_STEPS; /* no clock: a verdict does not depend on the machine */
    const gboolean reads = ws_global_reads_data(p);
    *tried = 0;
    for (guint i = 0; i < (few ? 1 : cases->len) && left > 0; i++) {
        const GArray *sizes = cases->pdata[i];
        g_autoptr(WsLaunchValues) v =
            ws_launch_values(p, (const WsSize *)(gpointer)sizes->data, sizes->len, FALSE, NULL);
        if (!v)
            continue;
        WsMiscount *m = twice ? NULL : meeting(p, v, tensor);
        const WsGlobalData *data = ws_global_data(0);
        for (guint k = 0; (k == 0 || reads) && ws_global_data(k) && !m; k++) {
            data = ws_global_data(k);
            g_autoptr(GArray) writes =
                ws_launch_written(p, v, tensor, (1 + i % 3) * MAX(p->cluster, 1), data, &left);
            *tried += writes != NULL;
            if (writes)
                m = miscount(p, v, tensor, writes, twice);
        }
        if (!m)
            continue;
        m->tensor = tensor;
        m->size = g_array_copy((GArray *)sizes);
        m->ctas = ws_launch_grid(v, (1 + i % 3) * MAX(p->cluster, 1));
        m->tiles = ws_launch_tiles(v);
        m->data = reads ? data : NULL;
        m->sizes = sizes_text(p, m);
        return m;
    }
    return NULL;
}
