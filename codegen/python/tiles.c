/* Tiles: the function that maps an id to coordinates, and loops over tiles. Extents and the number
 * of tiles come from the launcher. */
#include "program/parts/tiles.h"
#include "codegen/python/py.h"
#include "program/parts/agent.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

static const char *axis_name(WsPy *y, guint i)
{
    return ws_py_local(y, y->p->tiles->axis[i].name);
}

const char *ws_py_extent(WsPy *y, guint axis)
{
    return ws_py_format(y, "n_%s", ws_py_ident(y, y->p->tiles->axis[axis].name));
}

/* The id is the one coordinate. */
static gboolean trivial(const WsTiles *t)
{
    return t->n_axes <= 1 && t->order == WS_ORDER_LINEAR && !(t->n_axes && t->axis[0].reverse);
}

/* --- coordinates of an id ----------------------------------------------------------------------*/

/* The axes that are not in the set `skip`, the last one fastest, out of `rest`. */
static void linear(WsPy *y, const char *rest, guint skip)
{
    const WsTiles *t = y->p->tiles;
    guint left = t->n_axes - (guint)__builtin_popcount(skip);
    const char *by = NULL;
    for (guint i = t->n_axes; i-- > 0;) {
        if (skip >> i & 1)
            continue;
        const char *x = by ? ws_py_format(y, "%s // %s", rest, by) : rest;
        if (--left)
            x = ws_py_format(y, "%s %% %s", x, ws_py_extent(y, i));
        ws_py_line(y, "%s = %s", axis_name(y, i), x);
        by = by ? ws_py_format(y, "(%s * %s)", by, ws_py_extent(y, i)) : ws_py_extent(y, i);
    }
}

static gboolean host_group(const WsTiles *t)
{
    gint64 n;
    return t->order == WS_ORDER_GROUPED && t->order_n && !ws_expr_is_int(t->order_n, &n);
}

static const char *group_text(WsPy *y)
{
    const WsTiles *t = y->p->tiles;
    gint64 n = t->order_group;
    if (host_group(t))
        return "group_n";
    if (t->order_n)
        ws_expr_is_int(t->order_n, &n);
    return ws_py_format(y, "%" G_GINT64_FORMAT, n);
}

static void grouped(WsPy *y)
{
    const WsTiles *t = y->p->tiles;
    guint axis = t->order_axis;
    const char *n = group_text(y), *others = "";
    for (guint i = 0; i < t->n_axes; i++) {
        if (i != axis)
            others = ws_py_format(y, "%s * %s", others, ws_py_extent(y, i));
    }
    ws_py_comment(y, ws_py_format(y, "groups of %s along %s, which is fastest inside of its group",
                                  n, axis_name(y, axis)));
    ws_py_line(y, "per_group = %s%s", n, others);
    ws_py_line(y, "first = tile_id // per_group * %s", n);
    ws_py_line(y, "height = %s.minimum(%s - first, %s)", y->dialect->module, ws_py_extent(y, axis),
               n);
    ws_py_line(y, "in_group = tile_id %% per_group");
    ws_py_line(y, "%s = first + in_group %% height", axis_name(y, axis));
    if (t->n_axes > 1) {
        ws_py_line(y, "rest = in_group // height");
        linear(y, "rest", 1u << axis);
    }
}

static const char *parameters(WsPy *y)
{
    const char *s = "tile_id";
    for (guint i = 0; i < y->p->tiles->n_axes; i++)
        s = ws_py_format(y, "%s, %s", s, ws_py_extent(y, i));
    return host_group(y->p->tiles) ? ws_py_format(y, "%s, group_n", s) : s;
}

static const char *coordinates(WsPy *y)
{
    const char *s = "";
    for (guint i = 0; i < y->p->tiles->n_axes; i++)
        s = ws_py_format(y, "%s%s%s", s, i ? ", " : "", axis_name(y, i));
    return s;
}

char *ws_py_tile_function(WsPy *y, const char *decorator)
{
    const WsTiles *t = y->p->tiles;
    if (trivial(t))
        return g_strdup("");
    if (t->order == WS_ORDER_HILBERT) {
        ws_py_refuse(y, NULL, "order hilbert, which needs a table", "use grouped(axis, n)");
        return g_strdup("");
    }
    GString *outer = y->out;
    guint depth = y->depth;
    y->out = g_string_new(NULL);
    y->depth = 0;
    ws_py_line(y, "%s", decorator);
    ws_py_open(y, "def tile_at(%s)", parameters(y));
    if (t->order == WS_ORDER_GROUPED)
        grouped(y);
    else
        linear(y, "tile_id", 0);
    for (guint i = 0; i < t->n_axes; i++) {
        if (t->axis[i].reverse)
            ws_py_line(y, "%s = %s - 1 - %s", axis_name(y, i), ws_py_extent(y, i), axis_name(y, i));
    }
    ws_py_line(y, "return %s", coordinates(y));
    ws_py_close(y);
    y->depth = depth;
    char *text = g_string_free(y->out, FALSE);
    y->out = outer;
    return text;
}

/* --- names of the tile ------------------------------------------------------------------------ */

void ws_py_tiles_bind(WsPy *y, gboolean on)
{
    const WsTiles *t = y->p->tiles;
    for (guint i = 0; i < t->n_axes; i++) {
        if (t->axis[i].var >= 0)
            y->var[t->axis[i].var] =
                (WsTermName){ .bound = on, .s = axis_name(y, i), .in = ws_interval(0, G_MAXINT32) };
    }
    for (guint i = 0; i < y->p->n_vars && !y->error; i++) {
        if (y->p->var[i].kind != WS_VAR_TILE)
            continue;
        WsInterval in = on ? ws_py_uniform(y, y->p->var[i].value).in : y->var[i].in;
        y->var[i] = (WsTermName){ .bound = on, .s = ws_py_local(y, y->p->var[i].name), .in = in };
    }
}

static void is_element(const WsExpr *node, gpointer data)
{
    if (node->op == WS_EXPR_INDEX)
        *(gboolean *)data = TRUE;
}

/* What stands before the body of a tile: its coordinates, and the tile names that it mentions. */
static void names_of_tile(WsPy *y, const char *body)
{
    const WsTiles *t = y->p->tiles;
    g_autofree char *all = g_strdup(body);
    g_autoptr(GPtrArray) line = g_ptr_array_new();
    for (guint i = y->p->n_vars; i-- > 0 && !y->error;) {
        const WsVar *v = &y->p->var[i];
        if (v->kind != WS_VAR_TILE || !ws_py_mentions(all, y->var[i].s))
            continue;
        const char *s = ws_py_format(y, "%s = %s", y->var[i].s, ws_py_uniform(y, v->value).s);
        gboolean data = FALSE;
        ws_expr_visit(v->value, is_element, &data);
        if (data)
            s = ws_py_format(y, "%s  # is: %s", s, ws_py_plain(y, v->value));
        g_ptr_array_add(line, (gpointer)s);
        char *more = g_strconcat(all, "\n", s, NULL);
        g_free(all);
        all = more;
    }
    gboolean any = FALSE;
    for (guint i = 0; i < t->n_axes; i++)
        any = any || ws_py_mentions(all, axis_name(y, i));
    if (any && trivial(t))
        ws_py_line(y, "%s = tile_id", axis_name(y, 0));
    else if (any)
        ws_py_line(y, "%s = tile_at(%s)", coordinates(y), parameters(y));
    for (guint i = line->len; i-- > 0;)
        ws_py_line(y, "%s", (const char *)line->pdata[i]);
}

/* --- loops ------------------------------------------------------------------------------------ */

static char *body_text(WsPy *y, const WsTree *t)
{
    GString *outer = y->out;
    y->out = g_string_new(NULL);
    ws_py_round(y, t);
    char *text = g_string_free(y->out, FALSE);
    y->out = outer;
    return text;
}

static void single(WsPy *y, const WsTree *t, WsTerm from)
{
    gint64 known;
    if (!ws_term_known(from, &known)) {
        ws_py_refuse(y, NULL, "a tile loop whose first position is not constant", NULL);
        return;
    }
    if (known != 0)
        return;
    if (t->index_var >= 0)
        y->var[t->index_var] = (WsTermName){ TRUE, "0", ws_interval(0, 0) };
    ws_py_round(y, t);
}

/* A launch of one tile per CTA: its names stand before everything that a role does. */
void ws_py_tiles_single(WsPy *y, const char *body)
{
    g_autofree char *whole = g_strdup(body);
    gsize before = y->out->len;
    names_of_tile(y, whole);
    if (y->mesh &&
        (ws_py_mentions(whole, "shard") || ws_py_mentions(y->out->str + before, "shard"))) {
        g_autofree char *names = g_strdup(y->out->str + before);
        g_string_truncate(y->out, before);
        ws_py_line(y, "shard = tle.shard_id(%s, \"cluster_x\")", y->mesh);
        before = y->out->len;
        g_string_append(y->out, names);
    }
    if (!ws_py_mentions(y->out->str + before, "tile_id"))
        return;
    g_autofree char *names = g_strdup(y->out->str + before);
    g_string_truncate(y->out, before);
    const gint64 *xcd = y->p->tiles->xcd;
    if (xcd[0])
        ws_py_line(y,
                   "tile_id = %s(%s.program_id(0), n_tiles, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                   ")",
                   ws_py_helper(y, "dealt"), y->dialect->module, xcd[0], MAX(xcd[1], 1));
    else if (y->mesh)
        ws_py_line(y, "tile_id = %s.program_id(0) // %u", y->dialect->module, y->p->cluster);
    else
        ws_py_line(y, "tile_id = %s.program_id(0)", y->dialect->module);
    g_string_append(y->out, names);
}

static WsTerm first_tile(WsPy *y, WsTerm from, const char *programs)
{
    WsTerm pid = ws_term(ws_py_format(y, "%s.program_id(0)", y->dialect->module), WS_PREC_ATOM, 0,
                         G_MAXINT32);
    gint64 zero;
    if (ws_term_known(from, &zero) && zero == 0 && !y->terms.plus_zero)
        return pid;
    WsTerm skip = ws_py_op(y, WS_EXPR_MUL, from, ws_term(programs, WS_PREC_ATOM, 1, G_MAXINT32));
    return ws_py_op(y, WS_EXPR_ADD, pid, skip);
}

/* The loop's header, at the depth of y; FALSE: refused. */
static gboolean header(WsPy *y, const WsTree *t, WsTerm from, WsTerm step)
{
    const char *programs = ws_py_format(y, "%s.num_programs(0)", y->dialect->module);
    gint64 a, b;
    gboolean plain = ws_term_known(from, &a) && ws_term_known(step, &b) && a == 0 && b == 1;
    if (y->p->tiles->launch == WS_LAUNCH_DYNAMIC) {
        if (!plain) {
            ws_py_refuse(y, NULL, "a dynamic loop over tiles with from or step", NULL);
            return FALSE;
        }
        ws_py_line(y, "tile_id = %s.program_id(0)", y->dialect->module);
        ws_py_open(y, "while tile_id < n_tiles");
        return TRUE;
    }
    WsTerm by = ws_py_op(y, WS_EXPR_MUL, step, ws_term(programs, WS_PREC_ATOM, 1, G_MAXINT32));
    ws_py_open(y, "for tile_id in %s(%s, n_tiles, %s)", y->dialect->range,
               first_tile(y, from, programs).s, by.s);
    return TRUE;
}

static guint loops_of(const WsTree *t, gint total_var)
{
    guint n = t->kind == WS_TREE_LOOP && t->total_var == total_var;
    for (guint i = 0; i < t->n_kids; i++)
        n += t->kid[i] ? loops_of(t->kid[i], total_var) : 0;
    return n;
}

/* A dynamic loop that is the only one of its name has done as many rounds as its position says. */
static const char *position(WsPy *y, const WsTree *t, const char *name)
{
    gboolean alone = t->total_var >= 0 && y->var[t->total_var].bound &&
                     loops_of(y->agent->body, t->total_var) == 1;
    return y->p->tiles->launch == WS_LAUNCH_DYNAMIC && alone ? y->var[t->total_var].s : name;
}

/* A line of the body itself binds the next tile: Python knows the name behind it. */
static gboolean in_every_round(const WsPy *y, const char *text)
{
    g_autofree char *line = g_strdup_printf("%*s%s = ", (int)y->depth * 4, "", y->next_tile);
    g_auto(GStrv) all = g_strsplit(text, "\n", -1);
    for (guint i = 0; all[i]; i++) {
        if (g_str_has_prefix(all[i], line))
            return TRUE;
    }
    return FALSE;
}

void ws_py_tiles_loop(WsPy *y, const WsTree *t)
{
    WsTerm from = t->from ? ws_py_uniform(y, t->from) : ws_py_int(y, 0);
    WsTerm step = t->step_by ? ws_py_uniform(y, t->step_by) : ws_py_int(y, 1);
    if (y->p->tiles->launch == WS_LAUNCH_SINGLE) {
        single(y, t, from);
        return;
    }
    gboolean dynamic = y->p->tiles->launch == WS_LAUNCH_DYNAMIC;
    const char *outer_next = y->next_tile, *name = ws_py_local(y, t->name);
    ws_py_begin_block(y, t);
    if (!header(y, t, from, step))
        return;
    if (t->index_var >= 0)
        y->var[t->index_var] =
            (WsTermName){ TRUE, position(y, t, name), ws_interval(MAX(from.in.lo, 0), G_MAXINT32) };
    y->next_tile = dynamic ? "next_tile" : NULL;
    ws_py_tiles_bind(y, TRUE);
    g_autofree char *text = body_text(y, t);
    if (t->index_var >= 0 && ws_py_mentions(text, name)) {
        if (dynamic)
            ws_py_refuse(y, NULL, "the position in a dynamic loop over tiles",
                         "count with NAME.total");
        ws_py_line(y, "%s = (tile_id - %s.program_id(0)) // %s.num_programs(0)", name,
                   y->dialect->module, y->dialect->module);
    }
    names_of_tile(y, text);
    ws_py_tiles_bind(y, FALSE);
    g_string_append(y->out, text);
    if (dynamic && !in_every_round(y, text))
        ws_py_refuse(y, NULL, "a next tile that is not taken in every round",
                     "claim or take it outside of branches and inner loops");
    if (dynamic)
        ws_py_line(y, "tile_id = %s", y->next_tile);
    ws_py_close(y);
    ws_py_end_block(y, t);
    y->next_tile = outer_next;
    if (t->index_var >= 0)
        y->var[t->index_var].bound = FALSE;
}

/* --- on the host ------------------------------------------------------------------------------ */

gboolean ws_py_host_group(const WsPy *y)
{
    return host_group(y->p->tiles);
}
