/* Tiles: struct Tile, the map from ids to coordinates (LANGUAGE section 6), and loops over them. */
#include "program/parts/tiles.h"
#include "codegen/cuda/cuda.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

static void bind(WsCuda *c, gint var, const char *s, gint64 lo, gint64 hi)
{
    if (var >= 0)
        c->var[var] = (WsTermName){ .bound = TRUE, .s = s, .in = ws_interval(lo, hi) };
}

static const char *axis_name(WsCuda *c, guint i)
{
    return ws_cuda_ident(c, c->p->tiles->axis[i].name);
}

char *ws_cuda_tile_struct(WsCuda *c)
{
    const WsTiles *t = c->p->tiles;
    GString *s =
        g_string_new("// Coordinates of a tile, and what the design computes from them once "
                     "per tile.\nstruct Tile {\n");
    for (guint i = 0; i < t->n_axes; i++)
        g_string_append_printf(s, "    int %s;\n", axis_name(c, i));
    for (guint i = 0; i < c->p->n_vars; i++) {
        if (c->p->var[i].kind == WS_VAR_TILE)
            g_string_append_printf(s, "    int %s;\n", ws_cuda_ident(c, c->p->var[i].name));
    }
    g_string_append(s, "};\n\n");
    return g_string_free(s, FALSE);
}

/* --- coordinates of an id ----------------------------------------------------------------------*/

static const char *extent(WsCuda *c, guint i)
{
    return ws_cuda_format(c, "n_%s", axis_name(c, i));
}

/* The axes that are not in the set `skip`, the last one fastest, out of `rest`. */
static void linear(WsCuda *c, const char *rest, guint skip)
{
    const WsTiles *t = c->p->tiles;
    guint left = t->n_axes - (guint)__builtin_popcount(skip);
    const char *by = NULL;
    for (guint i = t->n_axes; i-- > 0;) {
        if (skip >> i & 1)
            continue;
        const char *x = by ? ws_cuda_format(c, "quot(%s, %s)", rest, by) : rest;
        if (--left)
            x = ws_cuda_format(c, "mod(%s, %s)", x, extent(c, i));
        ws_cuda_line(c, "tile.%s = %s;", axis_name(c, i), x);
        by = by ? ws_cuda_format(c, "(%s * %s)", by, extent(c, i)) : extent(c, i);
    }
}

static void grouped(WsCuda *c)
{
    const WsTiles *t = c->p->tiles;
    guint axis = t->order_axis;
    WsTerm n = t->order_n ? ws_cuda_uniform(c, t->order_n) : ws_term_int(&c->terms, t->order_group);
    const char *others = "";
    for (guint i = 0; i < t->n_axes; i++) {
        if (i != axis)
            others = ws_cuda_format(c, "%s * %s", others, extent(c, i));
    }
    ws_cuda_line(c, "// groups of %s along %s, which is fastest inside of its group", n.s,
                 axis_name(c, axis));
    ws_cuda_line(c, "const int per_group = %s%s;", ws_term_in(&c->terms, n, WS_PREC_TERM), others);
    ws_cuda_line(c, "const int first = quot(id, per_group) * %s;",
                 ws_term_in(&c->terms, n, WS_PREC_UNARY));
    ws_cuda_line(c, "const int height = min(%s - first, %s);", extent(c, axis), n.s);
    ws_cuda_line(c, "const int in_group = mod(id, per_group);");
    ws_cuda_line(c, "tile.%s = first + mod(in_group, height);", axis_name(c, axis));
    linear(c, "quot(in_group, height)", 1u << axis);
}

static void hilbert(WsCuda *c)
{
    const WsTiles *t = c->p->tiles;
    guint x = t->order_axis, y = t->order_axis2;
    ws_cuda_line(c, "// along the Hilbert curve: pairs of coordinates in a table");
    ws_cuda_line(c, "const int cells = %s * %s;", extent(c, x), extent(c, y));
    ws_cuda_line(c, "const uint64_t cell = hilbert + uint64_t(mod(id, cells)) * 8;");
    ws_cuda_line(c, "tile.%s = uniform(int(ldg_b32(cell, true)));", axis_name(c, x));
    ws_cuda_line(c, "tile.%s = uniform(int(ldg_b32(cell + 4, true)));", axis_name(c, y));
    if (t->n_axes > 2)
        linear(c, "quot(id, cells)", 1u << x | 1u << y);
}

/* `uniform` shuffles, and a loop of the leader has one lane: both forms where they differ. */
char *ws_cuda_tile_function(WsCuda *c)
{
    const WsTiles *t = c->p->tiles;
    GString *outer = c->out;
    c->out = g_string_new(NULL);
    c->depth = 1;
    ws_cuda_line(c, "// Tile `id` of the launch. One lane alone may ask for it too.");
    ws_cuda_line(c, "template <bool alone>");
    ws_cuda_line(c, "__device__ __forceinline__ Tile tile_at(int id) const");
    ws_cuda_block(c, "");
    ws_cuda_line(c, "Tile tile;");
    if (t->order == WS_ORDER_HILBERT)
        hilbert(c);
    else if (t->order == WS_ORDER_GROUPED)
        grouped(c);
    else
        linear(c, "id", 0);
    for (guint i = 0; i < t->n_axes; i++) {
        if (t->axis[i].reverse)
            ws_cuda_line(c, "tile.%s = %s - 1 - tile.%s; // reversed", axis_name(c, i),
                         extent(c, i), axis_name(c, i));
        bind(c, t->axis[i].var, ws_cuda_format(c, "tile.%s", axis_name(c, i)), 0, G_MAXINT32);
    }
    for (guint i = 0; i < c->p->n_vars && !c->error; i++) {
        const WsVar *v = &c->p->var[i];
        if (v->kind != WS_VAR_TILE)
            continue;
        const char *name = ws_cuda_ident(c, v->name);
        WsTerm x = ws_cuda_uniform(c, v->value);
        ws_cuda_line(c, "tile.%s = %s;", name, x.s);
        c->var[i] =
            (WsTermName){ .bound = TRUE, .s = ws_cuda_format(c, "tile.%s", name), .in = x.in };
    }
    ws_cuda_line(c, "return tile;");
    ws_cuda_close(c);
    c->depth = 0;
    char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    /* in this function a shuffle depends on who asks */
    GString *s = g_string_new(text);
    g_free(text);
    c->tile_alone = g_string_replace(s, "uniform(", "uniform<alone>(", 0) > 0;
    if (!c->tile_alone) {
        g_string_replace(s, "    template <bool alone>\n", "", 0);
        g_string_replace(s, " One lane alone may ask for it too.", "", 0);
    }
    return g_string_free(s, FALSE);
}

/* Names of the tile `here`: coordinates, and tile names in the intervals of their definitions. */
void ws_cuda_tiles_bind(WsCuda *c, gboolean on)
{
    const WsTiles *t = c->p->tiles;
    for (guint i = 0; i < t->n_axes; i++) {
        bind(c, t->axis[i].var, ws_cuda_format(c, "here.%s", axis_name(c, i)), 0, G_MAXINT32);
        if (t->axis[i].var >= 0)
            c->var[t->axis[i].var].bound = on;
    }
    for (guint i = 0; i < c->p->n_vars && !c->error; i++) {
        if (c->p->var[i].kind != WS_VAR_TILE)
            continue;
        WsInterval in = on ? ws_cuda_uniform(c, c->p->var[i].value).in : c->var[i].in;
        c->var[i] =
            (WsTermName){ .bound = on,
                          .s = ws_cuda_format(c, "here.%s", ws_cuda_ident(c, c->p->var[i].name)),
                          .in = in };
    }
}

/* Template argument of tile_at() here. */
static const char *alone(WsCuda *c)
{
    return !c->tile_alone ? "" : c->in_leader ? "<true>" : "<false>";
}

/* --- loops -------------------------------------------------------------------------------------*/

static void round_of(WsCuda *c, const WsTree *t)
{
    ws_cuda_tree(c, t->kid[0]);
    if (t->total_var >= 0)
        ws_cuda_line(c, "++%s;", c->var[t->total_var].s);
}

static void single(WsCuda *c, const WsTree *t, WsTerm from)
{
    gint64 known;
    if (!ws_term_known(from, &known)) {
        ws_cuda_step_error(c, NULL, "a tile loop whose first position is not constant");
        return;
    }
    if (known != 0)
        return;
    bind(c, t->index_var, "0", 0, 0);
    round_of(c, t);
}

void ws_cuda_tiles_loop(WsCuda *c, const WsTree *t)
{
    WsTerm from = t->from ? ws_cuda_uniform(c, t->from) : ws_term_int(&c->terms, 0);
    WsTerm step = t->step_by ? ws_cuda_uniform(c, t->step_by) : ws_term_int(&c->terms, 1);
    if (c->p->tiles->launch == WS_LAUNCH_SINGLE) {
        single(c, t, from);
        return;
    }
    gboolean dynamic = c->p->tiles->launch == WS_LAUNCH_DYNAMIC;
    const char *outer_next = c->next_tile, *name = ws_cuda_ident(c, t->name);
    WsTerm clusters = ws_term("n_clusters", WS_PREC_ATOM, 1, G_MAXINT32);
    gint64 a, b;
    gboolean plain = ws_term_known(from, &a) && ws_term_known(step, &b) && a == 0 && b == 1;
    if (dynamic && !plain) {
        ws_cuda_step_error(c, NULL, "a dynamic loop over tiles with from or step");
        return;
    }
    WsTerm skip = ws_term_op(&c->terms, WS_EXPR_MUL, from, clusters);
    WsTerm first = ws_term_op(&c->terms, WS_EXPR_ADD,
                              ws_term("cluster_id", WS_PREC_ATOM, 0, G_MAXINT32), skip);
    WsTerm by = ws_term_op(&c->terms, WS_EXPR_MUL, step, clusters);
    bind(c, t->index_var, name, from.in.lo, G_MAXINT32);
    GString *outer = c->out;
    c->out = g_string_new(NULL);
    c->depth++;
    c->next_tile = dynamic ? ws_cuda_format(c, "next_%s", name) : NULL;
    ws_cuda_tiles_bind(c, TRUE);
    round_of(c, t);
    ws_cuda_tiles_bind(c, FALSE);
    g_autofree char *text = g_string_free(c->out, FALSE);
    c->out = outer;
    c->depth--;
    gboolean position = ws_fold_mentions(text, name);
    if (dynamic)
        ws_cuda_line(c, "int %s = n_tiles; // claimed below", c->next_tile);
    const char *also = position ? ws_cuda_format(c, ", %s = %s", name, from.s) : "";
    const char *count = !position ? ""
                        : plain   ? ws_cuda_format(c, ", ++%s", name)
                                  : ws_cuda_format(c, ", %s += %s", name, step.s);
    ws_cuda_line(c, "#pragma unroll 1");
    if (dynamic)
        ws_cuda_open(c, "for (int id = %s%s; id < n_tiles; id = %s%s)", first.s, also, c->next_tile,
                     count);
    else if (position && plain) // the id is worked out anew: one register less over the tile
        ws_cuda_open(c, "for (int %s = 0, id; (id = cluster_id + %s * n_clusters) < n_tiles; ++%s)",
                     name, name, name);
    else
        ws_cuda_open(c, "for (int id = %s%s; id < n_tiles; id += %s%s)", first.s, also, by.s,
                     count);
    if (ws_fold_mentions(text, "here"))
        ws_cuda_line(c, "const Tile here = tile_at%s(id);", alone(c));
    g_string_append(c->out, text);
    ws_cuda_close(c);
    c->next_tile = outer_next;
    if (t->index_var >= 0)
        c->var[t->index_var].bound = FALSE;
}
