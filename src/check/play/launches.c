/* Launches in which some CTA has a wanted number of tiles. */
#include "check/play/launches.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

enum { MOST_TILES = 64, MOST_CLUSTERS = 12, DEEP = 32 };

/* A tensor map has strides of 16 bytes (cuTensorMapEncodeTiled); a launch with others is refused. A
 * tensor without elements is let pass: who launches may give any map for it. */
static const char *no_map(const WsProgram *p, const WsLaunchValues *values)
{
    for (guint i = 0; i < p->n_maps; i++) {
        const guint t = p->map[i].tensor;
        const WsTensor *x = &p->tensor[t];
        for (guint d = 0; d + 1 < x->rank; d++) {
            const gint64 stride = ws_launch_stride(values, t, d);
            if (stride % 16 * (gint64)ws_dtype_bytes(x->dtype) % 16 != 0 &&
                ws_launch_shape(values, t, x->rank - 1) > 0)
                return x->name;
        }
    }
    return NULL;
}

/* --- launches that were looked at --------------------------------------------------------------
 */
typedef struct {
    gint64 *now; /* [vars]; of names that are no sizes 0 */
    guint n;
    WsLaunchValues *values; /* NULL: assumptions do not allow them */
} Launch;

typedef struct {
    gboolean *in;    /* [vars]: the extent depends on that size */
    GArray *literal; /* gint64: of the extent, and 1 */
} Axis;

struct WsLaunches {
    const WsProgram *p;
    GHashTable *launch; /* of Launch */
    Axis *axis;         /* [axes]; not looked at yet: NULL */
};

static guint launch_hash(gconstpointer data)
{
    const Launch *x = data;
    guint64 h = x->n;
    for (guint i = 0; i < x->n; i++)
        h = (h ^ (guint64)x->now[i]) * 0x9e3779b97f4a7c15u;
    return (guint)(h >> 32);
}

static gboolean launch_equal(gconstpointer a, gconstpointer b)
{
    const Launch *x = a, *y = b;
    return memcmp(x->now, y->now, x->n * sizeof *x->now) == 0;
}

static void launch_free(gpointer data)
{
    Launch *x = data;
    ws_launch_values_free(x->values);
    g_free(x->now);
    g_free(x);
}

WsLaunches *ws_launches_new(const WsProgram *p)
{
    WsLaunches *l = g_new(WsLaunches, 1);
    l->p = p;
    l->launch = g_hash_table_new_full(launch_hash, launch_equal, launch_free, NULL);
    l->axis = g_new0(Axis, p->tiles->n_axes + 1);
    return l;
}

void ws_launches_free(WsLaunches *l)
{
    if (!l)
        return;
    for (guint a = 0; a < l->p->tiles->n_axes; a++) {
        g_free(l->axis[a].in);
        g_clear_pointer(&l->axis[a].literal, g_array_unref);
    }
    g_free(l->axis);
    g_hash_table_unref(l->launch);
    g_free(l);
}

static WsLaunchValues *find_values(const WsProgram *p, const gint64 *now, WsFindings *said)
{
    g_autofree WsSize *size = g_new0(WsSize, p->n_vars + 1);
    guint n = 0;
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE)
            size[n++] = (WsSize){ p->var[v].name, now[v] };
    return ws_launch_values(p, size, n, TRUE, said);
}

static char *why_not(const WsProgram *p, const gint64 *now)
{
    g_autoptr(WsFindings) said = ws_findings_new();
    g_autoptr(WsLaunchValues) values = find_values(p, now, said);
    const char *tensor = values ? no_map(p, values) : NULL;
    if (tensor)
        return ws_phrase("the strides of %s are not multiples of 16 bytes", tensor);
    return said->list->len ? g_strdup(((const WsFinding *)said->list->pdata[0])->said) : NULL;
}

static const Launch *look_at(WsLaunches *l, const gint64 *now)
{
    enum { MOST_KEPT = 1024 };
    g_autofree gint64 *sizes = g_new0(gint64, l->p->n_vars + 1);
    for (guint v = 0; v < l->p->n_vars; v++)
        if (l->p->var[v].kind == WS_VAR_SIZE)
            sizes[v] = now[v];
    const Launch key = { .now = sizes, .n = l->p->n_vars };
    Launch *x = g_hash_table_lookup(l->launch, &key);
    if (x)
        return x;
    if (g_hash_table_size(l->launch) >= MOST_KEPT)
        g_hash_table_remove_all(l->launch);
    x = g_new(Launch, 1);
    *x = (Launch){ g_steal_pointer(&sizes), key.n, find_values(l->p, now, NULL) };
    if (x->values && no_map(l->p, x->values))
        g_clear_pointer(&x->values, ws_launch_values_free);
    g_hash_table_add(l->launch, x);
    return x;
}

WsLaunchValues *ws_values_at(WsLaunches *l, const gint64 *now, char **why)
{
    const Launch *x = look_at(l, now);
    if (!x->values && why && !*why)
        *why = why_not(l->p, now);
    return x->values ? ws_launch_values_ref(x->values) : NULL;
}

gint64 *ws_rehearsal_sizes(const WsProgram *p)
{
    gint64 *now = g_new0(gint64, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_SIZE)
            now[v] = p->var[v].rehearse;
    return now;
}

/* --- CTAs ------------------------------------------------------------------------------------- */
static gint64 tiles_of(gint64 all, gint64 clusters, gint64 which)
{
    return which < all ? (all - which - 1) / clusters + 1 : 0;
}

/* Clusters of the launch where the design says how many; else 0. */
static gint64 fixed_clusters(const WsProgram *p, const WsLaunchValues *values, gint64 all)
{
    if (p->tiles->launch == WS_LAUNCH_SINGLE)
        return all;
    return p->tiles->grid ? ws_launch_grid(values, 1) / MAX(p->cluster, 1) : 0;
}

gboolean ws_place(const WsProgram *p, const WsLaunchValues *values, guint tiles, guint nth,
                  gint64 *grid, gint64 *cta)
{
    const gint64 all = ws_launch_tiles(values), cluster = MAX(p->cluster, 1);
    const gint64 fixed = all > 0 ? fixed_clusters(p, values, all) : 0;
    const gint64 most = (G_MAXINT64 - MOST_CLUSTERS) / cluster; /* that can be counted */
    if (all < 1 || all >= most) /* nothing is launched, or R-LAUNCH refuses it */
        return FALSE;
    /* by the number of clusters, few of them, then about as many as give each that many tiles */
    const gint64 about = tiles ? (all - 1) / tiles + 1 : all + 1;
    for (guint i = 0; i <= MOST_CLUSTERS + 2; i++) {
        const gint64 n = fixed                ? fixed
                         : i <= MOST_CLUSTERS ? (gint64)i + 1
                                              : about + (gint64)i - MOST_CLUSTERS - 1;
        if ((fixed && i > 0) || (i > MOST_CLUSTERS && n <= MOST_CLUSTERS + 1))
            continue;
        for (gint64 c = tiles ? 0 : all; c < MIN(n, tiles ? MOST_TILES : all + 1); c++)
            if (tiles_of(all, n, c) == tiles && nth-- == 0) {
                *grid = n * cluster, *cta = c * cluster;
                return TRUE;
            }
    }
    return FALSE;
}

/* --- sizes ------------------------------------------------------------------------------------ */
typedef struct {
    const WsProgram *p;
    gboolean *in;
    guint depth;
} Sizes;

static void see_size(const WsExpr *e, gpointer data)
{
    Sizes *s = data;
    if (e->op != WS_EXPR_VAR || e->var < 0 || (guint)e->var >= s->p->n_vars)
        return;
    const WsVar *v = &s->p->var[e->var];
    if (v->kind == WS_VAR_SIZE)
        s->in[e->var] = TRUE;
    if (s->depth >= DEEP)
        return;
    s->depth++;
    if ((v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) && v->value)
        ws_expr_visit(v->value, see_size, s);
    for (guint a = 0; v->kind == WS_VAR_AXIS && a < s->p->tiles->n_axes; a++)
        if (s->p->tiles->axis[a].var == e->var)
            ws_expr_visit(s->p->tiles->axis[a].extent, see_size, s);
    s->depth--;
}

/* [vars]: the expression depends on that size, through names and axes. Caller frees. */
static gboolean *ws_sizes_in(const WsProgram *p, const WsExpr *e)
{
    Sizes s = { p, g_new0(gboolean, p->n_vars + 1), 0 };
    ws_expr_visit(e, see_size, &s);
    return s.in;
}

/* `whole`: the first CTA of as few as there can be. */
static WsCase *placed(WsLaunches *l, const gint64 *now, guint tiles, gboolean whole, char **why)
{
    enum { MOST_PLACES = 64 };
    const WsProgram *p = l->p;
    WsLaunchValues *values = ws_values_at(l, now, why);
    gint64 grid = 0, cta = 0, other_grid, other_cta;
    if (!values)
        return NULL;
    gboolean found = ws_place(p, values, tiles, 0, &grid, &cta);
    for (guint i = 1; found && cta > 0 && tiles > 0 && i < MOST_PLACES; i++)
        if (ws_place(p, values, tiles, i, &other_grid, &other_cta) && other_cta == 0)
            grid = other_grid, cta = 0;
    if (found && whole && tiles > 0)
        found = cta == 0 && (p->tiles->grid || p->tiles->launch == WS_LAUNCH_SINGLE ||
                             grid <= MAX(p->cluster, 1));
    if (!found) {
        ws_launch_values_free(values);
        return NULL;
    }
    return ws_case_new(p, values, grid, cta, MOST_TILES);
}

static const Axis *axis_at(WsLaunches *l, guint a)
{
    enum { MOST_LITERALS = 8 };
    const WsExpr *extent = l->p->tiles->axis[a].extent;
    const gint64 one = 1;
    Axis *x = &l->axis[a];
    if (x->in)
        return x;
    x->in = ws_sizes_in(l->p, extent);
    x->literal = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_array_append_val(x->literal, one);
    ws_literals(l->p, extent, x->literal, MOST_LITERALS);
    return x;
}

/* One size of an extent after the other to numbers that give about as many tiles in all. */
static WsCase *resized(WsLaunches *l, gint64 *now, const gboolean *locked, guint tiles,
                       gboolean whole)
{
    const WsProgram *p = l->p;
    for (guint a = 0; a < p->tiles->n_axes; a++) {
        const gboolean *in = axis_at(l, a)->in;
        const GArray *literal = axis_at(l, a)->literal;
        for (guint v = 0; v < p->n_vars; v++) {
            const gint64 keep = now[v];
            for (guint i = 0; in[v] && !(locked && locked[v]) && i < literal->len; i++) {
                const gint64 factor = g_array_index(literal, gint64, i);
                /* as many as that CTA has, or the least that give them to the first of a fixed
                 * number of them */
                g_autoptr(WsLaunchValues) values =
                    p->tiles->grid ? ws_values_at(l, now, NULL) : NULL;
                const gint64 fixed = values ? ws_launch_grid(values, 1) / MAX(p->cluster, 1) : 0;
                const gint64 want =
                    tiles == 0 || fixed == 0 ? MAX(tiles, 1) : ((gint64)tiles - 1) * fixed + 1;
                if (factor < 1 || want > G_MAXINT32 / factor)
                    continue;
                now[v] = want * factor;
                WsCase *c = placed(l, now, tiles, whole, NULL);
                if (c)
                    return c;
                now[v] = keep;
            }
        }
    }
    return NULL;
}

WsCase *ws_case_with(WsLaunches *l, gint64 *now, const gboolean *locked, guint tiles, char **why)
{
    WsCase *c = placed(l, now, tiles, TRUE, why);
    if (!c)
        c = resized(l, now, locked, tiles, TRUE);
    if (!c)
        c = placed(l, now, tiles, FALSE, NULL);
    return c ? c : resized(l, now, locked, tiles, FALSE);
}
