#include "edit/derive.h"

#include "edit/look.h"
#include "edit/propose.h"
#include "target/target.h"

#include <string.h>

/* What is usual: a tile of 128 x 256 with 128 bytes along the contraction, four stages deep. */
enum { TILE_M = 128, TILE_N = 256, STAGES = 4 };

static const WsTarget *target_of(const WsDraft *d)
{
    const WsTarget *t = ws_target_find(ws_node_text(ws_design_root(d->design), WS_F_target));
    return t != NULL ? t : ws_target_at(0);
}

static gint64 group_threads(const WsTarget *t)
{
    return (gint64)t->lanes * t->group_warps;
}

/* --- the product of the reference ---------------------------------------------------------------
 */

static gboolean is_at(const WsExpr *element, const char *first, const char *second)
{
    return element->op == WS_EXPR_INDEX && element->n_args == 2 &&
           element->arg[0]->op == WS_EXPR_NAME && element->arg[1]->op == WS_EXPR_NAME &&
           strcmp(element->arg[0]->name, first) == 0 && strcmp(element->arg[1]->name, second) == 0;
}

static char *extent(const WsNode *tensor, guint i)
{
    const WsValue *shape = ws_node_get(tensor, WS_F_shape);
    return i < shape->n ? ws_value_words(ws_node_row(tensor->kind, WS_F_shape), &shape->item[i])
                        : g_strdup("");
}

static const WsNode *tensor_of(const WsDesign *design, const char *name)
{
    const WsNode *node = ws_edit_object(design, name);
    return node != NULL && node->kind == WS_NODE_TENSOR ? node : NULL;
}

/* Extents agree, differ from each other (else an axis could be either's), and it can be made. */
static gboolean fits(WsProduct *p, const WsExpr *bound)
{
    g_autofree char *of_sum = ws_expr_print(bound), *b_k = extent(p->b, p->turned ? 0 : 1);
    g_autofree char *out_m = extent(p->out, 0), *out_n = extent(p->out, 1);
    p->m = extent(p->a, 0);
    p->n = extent(p->b, p->turned ? 1 : 0);
    p->k = extent(p->a, 1);
    const guint bytes = ws_edit_element_bytes(p->a);
    return bytes > 0 && (!p->turned || bytes == 2) && ws_edit_element_bytes(p->out) > 0 &&
           g_strcmp0(ws_node_text(p->a, WS_F_dtype), ws_node_text(p->b, WS_F_dtype)) == 0 &&
           strcmp(p->k, of_sum) == 0 && strcmp(p->k, b_k) == 0 && strcmp(p->m, out_m) == 0 &&
           strcmp(p->n, out_n) == 0 && strcmp(p->m, p->n) != 0 && strcmp(p->m, p->k) != 0 &&
           strcmp(p->n, p->k) != 0;
}

static gboolean is_product(const WsDesign *design, const WsStatement *s, WsProduct *p)
{
    const WsExpr *sum = s->value;
    if (s->n_index != 2 || ws_expr_n_bounds(sum) != 1 || sum->func != WS_FUNC_SUM ||
        sum->arg[1]->op != WS_EXPR_MUL)
        return FALSE;
    *p = (WsProduct){ .out = tensor_of(design, s->name), .index = sum->arg[0]->arg[0]->name };
    for (guint i = 0; i < 2; i++) {
        const WsExpr *e = sum->arg[1]->arg[i];
        if (is_at(e, s->index[0], p->index) && p->a == NULL)
            p->a = tensor_of(design, e->name);
        else if (is_at(e, s->index[1], p->index) || is_at(e, p->index, s->index[1]))
            p->b = tensor_of(design, e->name), p->turned = is_at(e, p->index, s->index[1]);
    }
    if (p->out != NULL && p->a != NULL && p->b != NULL && fits(p, sum->arg[0]->arg[1]))
        return TRUE;
    ws_product_clear(p);
    return FALSE;
}

static gboolean ws_product_find(const WsDesign *design, WsProduct *p)
{
    const WsValue *all = ws_node_get(ws_design_root(design), WS_F_reference);
    return all->kind == WS_VALUE_LIST && all->n == 1 &&
           is_product(design, all->item[0].statement, p);
}

void ws_product_clear(WsProduct *p)
{
    g_clear_pointer(&p->m, g_free);
    g_clear_pointer(&p->n, g_free);
    g_clear_pointer(&p->k, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsProduct, ws_product_clear)

/* --- tiles --------------------------------------------------------------------------------------
 */

static const WsNode *tiles_of(const WsDraft *d)
{
    return ws_node_child(ws_design_root(d->design), WS_F_tiles, 0);
}

/* Every name that is going to be a constant is one above 0, or free. */
static gboolean names_are_free(const WsDraft *d)
{
    static const char *const name[] = { "BM", "BN", "BK", "WM", "STAGES", "SLAB" };
    for (guint i = 0; i < G_N_ELEMENTS(name); i++)
        if (ws_edit_number(d->design, name[i]) <= 0 && ws_edit_taken(d->design, NULL, name[i]))
            return FALSE;
    return TRUE;
}

/* The step by which tiles advance along a dimension of the result; NULL: none. Caller frees. */
static char *tile_step(const WsDraft *d, const WsProduct *p, guint i)
{
    char *step = NULL;
    g_free(ws_propose_coordinate(d->design, ws_design_root(d->design), p->out, i, &step));
    return step;
}

static gboolean is_blank(const WsNode *tiles)
{
    const WsValue *axes = ws_node_get(tiles, WS_F_axes);
    g_autofree char *one =
        axes->n == 1 ? ws_value_words(ws_node_row(tiles->kind, WS_F_axes), &axes->item[0]) : NULL;
    return g_strcmp0(one, "1") == 0;
}

/* Tiles cover the result: as they are, or of a blank design made so. FALSE: not to be derived. */
static gboolean have_tiles(WsDraft *d, const WsProduct *p)
{
    g_autofree char *m = tile_step(d, p, 0), *n = tile_step(d, p, 1);
    const WsNode *tiles = tiles_of(d);
    if (tiles == NULL || g_strcmp0(ws_node_text(tiles, WS_F_launch), "persistent") != 0 ||
        !names_are_free(d))
        return FALSE;
    if (m != NULL && n != NULL)
        return ws_edit_number(d->design, m) > 0 && ws_edit_number(d->design, n) > 0;
    if (!is_blank(tiles) || !ws_guess_entry(d, WS_F_constants, "BM", TILE_M) ||
        !ws_guess_entry(d, WS_F_constants, "BN", TILE_N))
        return FALSE;
    g_autofree char *tm = ws_edit_fresh(d->design, "tm"), *tn = ws_edit_fresh(d->design, "tn");
    WsJson *axes = ws_json_map();
    ws_json_put(axes, tm, ws_json_format("cdiv(%s, BM)", p->m));
    ws_json_put(axes, tn, ws_json_format("cdiv(%s, BN)", p->n));
    return ws_draft_set(d, tiles_of(d)->identity, WS_F_axes, axes);
}

/* --- loops and buffers --------------------------------------------------------------------------
 */

static gboolean is_empty_group(const WsNode *node)
{
    return node->kind == WS_NODE_GROUP && ws_node_n_children(node, WS_F_body) == 0;
}

static char *loop_name(const WsDraft *d, guint64 group, const char *name)
{
    return ws_edit_taken(d->design, ws_draft_node(d, group), name) ? ws_edit_fresh(d->design, name)
                                                                   : g_strdup(name);
}

/* The loops over tiles and along the contraction in an empty group; identity of the inner one. */
static guint64 make_loops(WsDraft *d, const WsProduct *p, guint64 group, gboolean peel)
{
    if (!ws_guess_entry(d, WS_F_constants, "BK", WS_EDIT_ROW_BYTES / ws_edit_element_bytes(p->a)))
        return 0;
    g_autofree char *tile = loop_name(d, group, "tile"), *k = loop_name(d, group, p->index);
    const guint64 outer =
        ws_draft_append(d, group, WS_F_body,
                        WS_MAKE(WS_STEP_FOR, { WS_F_keyword, ws_json_text(tile) },
                                { WS_F_over, ws_json_text("tiles") }, { WS_F_do, ws_json_list() }));
    WsJson *first = peel ? ws_json_list() : NULL;
    if (peel)
        ws_json_add(first, ws_json_int(1));
    return outer == 0
               ? 0
               : ws_draft_append(d, outer, WS_F_do,
                                 WS_MAKE(WS_STEP_FOR, { WS_F_keyword, ws_json_text(k) },
                                         { WS_F_count, ws_json_format("cdiv(%s, BK)", p->k) },
                                         { WS_F_split, first }, { WS_F_do, ws_json_list() }));
}

/* Role and registers: a group is what its first step makes it. */
static gboolean give_role(WsDraft *d, guint64 group, const char *role)
{
    const char *now = ws_node_text(ws_draft_node(d, group), WS_F_role);
    return (now != NULL && strcmp(now, "worker") != 0) ||
           ws_draft_set(d, group, WS_F_role, ws_json_text(role));
}

/* One producer gives what it does not need to the replicas of one consumer; both are whole groups.
 */
static gboolean share_registers(WsDraft *d)
{
    const WsTarget *hw = target_of(d);
    const WsTargetRegisters *r = &hw->registers;
    const WsNode *root = ws_design_root(d->design), *from = NULL, *to = NULL;
    const guint n = ws_node_n_children(root, WS_F_groups);
    for (guint i = 0; i < n; i++) {
        const WsNode *g = ws_node_child(root, WS_F_groups, i);
        const char *role = ws_node_text(g, WS_F_role);
        from = g_strcmp0(role, "producer") == 0 ? g : from;
        to = g_strcmp0(role, "consumer") == 0 ? g : to;
        if (ws_node_int(g, WS_F_warps, 0) != hw->group_warps || ws_node_has(g, WS_F_registers))
            return TRUE;
    }
    if (!r->moves || n != 2 || from == NULL || to == NULL || ws_edit_replicas(from) != 1)
        return TRUE;
    const gint64 replicas = ws_edit_replicas(to), groups = 1 + replicas, step = r->step;
    const gint64 all = r->file / (group_threads(hw) * groups) / step * step * groups;
    const gint64 each = replicas > 0 ? (all - r->idle) / replicas / step * step : 0;
    const guint64 a = from->identity, b = to->identity;
    if (each < r->idle || each > r->most)
        return TRUE;
    return ws_draft_set(d, a, WS_F_registers, ws_json_int(r->idle)) &&
           ws_draft_set(d, b, WS_F_registers, ws_json_int(each)) &&
           ws_guess_mark(d, ws_draft_node(d, a), WS_F_registers) &&
           ws_guess_mark(d, ws_draft_node(d, b), WS_F_registers);
}

/* The ring that tiles of a tensor are loaded into by steps of `owner`, made if there is none. NULL:
 * what a tile of it is does not follow, or it did not fit. */
static const char *have_buffer(WsDraft *d, guint64 owner, const char *tensor)
{
    const WsNode *t = tensor_of(d->design, tensor);
    const char *there = ws_propose_buffer(d->design, ws_draft_node(d, owner), t);
    if (there != NULL)
        return there;
    g_autofree char *lower = g_ascii_strdown(tensor, -1), *name = ws_edit_fresh(d->design, lower);
    WsJson *tile = ws_json_list();
    for (guint i = 0; i < ws_node_get(t, WS_F_shape)->n; i++) {
        g_autofree char *step = NULL;
        g_free(ws_propose_coordinate(d->design, ws_draft_node(d, owner), t, i, &step));
        if (step == NULL) {
            ws_json_free(tile);
            return NULL;
        }
        ws_json_add(tile, ws_json_expr(step));
    }
    if (!ws_guess_entry(d, WS_F_constants, "STAGES", STAGES)) {
        ws_json_free(tile);
        return NULL;
    }
    const guint64 made =
        ws_draft_append(d, ws_design_root(d->design)->identity, WS_F_buffers,
                        WS_MAKE(WS_NODE_BUFFER, { WS_F_name, ws_json_text(name) },
                                { WS_F_dtype, ws_json_text(ws_node_text(t, WS_F_dtype)) },
                                { WS_F_tile, tile }, { WS_F_stages, ws_json_text("STAGES") }));
    return made != 0 ? ws_node_name(ws_draft_node(d, made)) : NULL;
}

/* --- steps --------------------------------------------------------------------------------------
 */

/* A load in an empty group: the loops it stands in; and the ring that it fills. */
static guint64 derive_load(WsDraft *d, const WsProduct *p, WsEditSpot *spot)
{
    const gboolean begins = is_empty_group(ws_draft_node(d, spot->owner));
    if (begins && have_tiles(d, p)) {
        const guint64 group = spot->owner, loop = make_loops(d, p, group, FALSE);
        if (loop == 0 || !give_role(d, group, "producer") || !share_registers(d))
            return 0;
        *spot = (WsEditSpot){ loop, WS_F_do, 0 };
    }
    const WsNode *tensor = ws_propose_tensor(d->design, FALSE);
    const char *name = d->why == NULL && tensor != NULL ? ws_node_name(tensor) : NULL;
    if (name != NULL &&
        (strcmp(name, ws_node_name(p->a)) == 0 || strcmp(name, ws_node_name(p->b)) == 0))
        have_buffer(d, spot->owner, name);
    return 0;
}

/* The contraction may not be empty: the accumulator would hold nothing. */
static gboolean assume_rounds(WsDraft *d, const WsProduct *p)
{
    g_autofree char *wanted = g_strdup_printf("%s >= 1", p->k);
    return !ws_name_is_identifier(p->k) || ws_guess_item(d, WS_F_assume, wanted);
}

/* By how many replicas, WM rows each, the rows of a tile are worked on; 0: by none. */
static gint64 replicas_of(const WsDraft *d, const WsProduct *p)
{
    g_autofree char *m = tile_step(d, p, 0);
    const gint64 given = ws_edit_number(d->design, m != NULL ? m : "BM"),
                 own = ws_edit_number(d->design, "WM");
    const WsTarget *hw = target_of(d);
    const gint64 band = hw->matrix.m, high = m == NULL && given == 0 ? TILE_M : given,
                 rows = own ? own : band;
    const gboolean whole = band > 0 && rows > 0 && rows % band == 0 && high > 0 && high % rows == 0;
    return whole && high / rows <= hw->threads / group_threads(hw) ? high / rows : 0;
}

/* The accumulator of one replica: its rows of the tile, all columns. */
static char *make_accumulator(WsDraft *d, const WsProduct *p, guint64 group, gint64 replicas)
{
    g_autofree char *n = tile_step(d, p, 1);
    if (!ws_guess_entry(d, WS_F_constants, "WM", target_of(d)->matrix.m))
        return NULL;
    char *name = ws_edit_fresh(d->design, "acc");
    WsJson *tile = ws_json_list();
    ws_json_add(tile, ws_json_text("WM"));
    ws_json_add(tile, ws_json_expr(n));
    if (ws_draft_append(d, group, WS_F_values,
                        WS_MAKE(WS_NODE_VALUE, { WS_F_name, ws_json_text(name) },
                                { WS_F_dtype, ws_json_text("f32") }, { WS_F_tile, tile })) != 0 &&
        (replicas == 1 || ws_draft_set(d, group, WS_F_replicate, ws_json_int(replicas))))
        return name;
    g_free(name);
    return NULL;
}

/* The first step of an empty group: the product of the reference, with its rings, accumulator,
 * loops and the waits that let one product be in flight. */
static guint64 derive_mma(WsDraft *d, const WsProduct *p, WsEditSpot *spot)
{
    const guint64 group = spot->owner;
    const gint64 replicas = replicas_of(d, p);
    if (replicas == 0 || !is_empty_group(ws_draft_node(d, group)) ||
        ws_node_n_children(ws_draft_node(d, group), WS_F_values) > 0 || !have_tiles(d, p))
        return 0;
    const guint64 loop = make_loops(d, p, group, TRUE);
    g_autofree char *acc = loop != 0 ? make_accumulator(d, p, group, replicas) : NULL;
    const char *a = acc != NULL ? have_buffer(d, loop, ws_node_name(p->a)) : NULL;
    g_autofree char *left = g_strdup_printf(replicas > 1 ? "%s.rows(replica*WM, WM)" : "%s", a);
    const char *b = a != NULL ? have_buffer(d, loop, ws_node_name(p->b)) : NULL;
    if (b == NULL)
        return d->why == NULL ? ws_draft_refuse(d, "it does not fit") : 0;
    g_autofree char *first = ws_propose_first(d->design, ws_draft_node(d, loop));
    const guint64 mma = ws_draft_append(
        d, loop, WS_F_do,
        WS_MAKE(WS_STEP_MMA, { WS_F_keyword, ws_json_text(acc) }, { WS_F_a, ws_json_text(left) },
                { WS_F_b, ws_json_format(p->turned ? "%s.t" : "%s", b) },
                { WS_F_first, ws_json_text(first) }));
    const guint64 tile =
        mma != 0 ? ws_design_owner(d->design, ws_draft_node(d, loop), NULL, NULL)->identity : 0;
    return tile != 0 &&
                   ws_draft_append(d, loop, WS_F_do,
                                   WS_MAKE(WS_STEP_MMA_WAIT, { WS_F_keyword, ws_json_int(1) })) !=
                       0 &&
                   ws_draft_append(d, tile, WS_F_do,
                                   WS_MAKE(WS_STEP_MMA_WAIT, { WS_F_keyword, ws_json_int(0) })) !=
                       0 &&
                   assume_rounds(d, p) && give_role(d, group, "consumer") && share_registers(d)
               ? mma
               : 0;
}

/* What a staged store needs to know: the accumulator, its rows, and how it is cut. */
typedef struct {
    const char *acc;
    char *rows, *columns, *tm, *tn;
    gint64 replicas;
} Staging;

static void staging_clear(Staging *s)
{
    g_free(s->rows);
    g_free(s->columns);
    g_free(s->tm);
    g_free(s->tn);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Staging, staging_clear)

static gboolean stages_result(WsDraft *d, const WsProduct *p, const WsNode *loop, Staging *s)
{
    const WsNode *group = ws_edit_group(d->design, loop);
    const WsNode *acc = ws_node_child(group, WS_F_values, 0);
    const WsValue *tile = acc != NULL ? ws_node_get(acc, WS_F_tile) : NULL;
    g_autofree char *m = NULL, *n = NULL;
    if (loop->kind != WS_STEP_FOR || g_strcmp0(ws_node_text(loop, WS_F_over), "tiles") != 0 ||
        ws_node_n_children(group, WS_F_values) != 1 || tile->n != 2)
        return FALSE;
    s->tm = ws_propose_coordinate(d->design, loop, p->out, 0, &m);
    s->tn = ws_propose_coordinate(d->design, loop, p->out, 1, &n);
    s->acc = ws_node_name(acc);
    s->rows = ws_value_words(ws_node_row(acc->kind, WS_F_tile), &tile->item[0]);
    s->columns = ws_value_words(ws_node_row(acc->kind, WS_F_tile), &tile->item[1]);
    s->replicas = ws_edit_replicas(group);
    return m != NULL && n != NULL && s->replicas > 0 && names_are_free(d) &&
           ws_edit_number(d->design, s->rows) * s->replicas == ws_edit_number(d->design, m) &&
           ws_edit_number(d->design, m) > 0 && strcmp(s->columns, n) == 0;
}

static guint64 make_staging(WsDraft *d, const WsProduct *p, const Staging *s)
{
    g_autofree char *lower = g_ascii_strdown(ws_node_name(p->out), -1);
    g_autofree char *name = ws_edit_fresh(d->design, lower);
    WsJson *tile = ws_json_list();
    ws_json_add(tile, ws_json_expr(s->rows));
    ws_json_add(tile, ws_json_text("SLAB"));
    return ws_draft_append(
        d, ws_design_root(d->design)->identity, WS_F_buffers,
        WS_MAKE(WS_NODE_BUFFER, { WS_F_name, ws_json_text(name) },
                { WS_F_dtype, ws_json_text(ws_node_text(p->out, WS_F_dtype)) }, { WS_F_tile, tile },
                { WS_F_array, s->replicas > 1 ? ws_json_int(s->replicas) : NULL },
                { WS_F_stages, ws_json_int(2) }));
}

/* A store in the loop over tiles of a group that holds the result: slabs of it through a staging
 * buffer of two, one stored while the next is written. */
static guint64 derive_store(WsDraft *d, const WsProduct *p, WsEditSpot *spot)
{
    const WsNode *loop = ws_draft_node(d, spot->owner);
    const guint64 group = loop->kind == WS_STEP_FOR ? ws_edit_group(d->design, loop)->identity : 0;
    g_auto(Staging) s = { 0 };
    const gint64 slab = WS_EDIT_ROW_BYTES / ws_edit_element_bytes(p->out);
    if (group == 0 || ws_propose_has(loop, WS_STEP_STORE) || !stages_result(d, p, loop, &s) ||
        ws_edit_number(d->design, s.columns) % slab != 0)
        return 0;
    const guint64 c = ws_guess_entry(d, WS_F_constants, "SLAB", slab) ? make_staging(d, p, &s) : 0;
    if (c == 0)
        return 0;
    g_autofree char *round = loop_name(d, group, "s");
    g_autofree char *staged =
        g_strdup_printf(s.replicas > 1 ? "%s[replica]" : "%s", ws_node_name(ws_draft_node(d, c)));
    g_autofree char *row =
        s.replicas > 1 ? g_strdup_printf("%s + replica*%s", s.tm, s.rows) : g_strdup(s.tm);
    const guint64 slabs =
        ws_draft_insert(d, spot->owner, spot->list, spot->index,
                        ws_slabs_loop(&(WsSlabs){ round, s.acc, s.columns, "SLAB", staged,
                                                  ws_node_name(p->out), row, s.tn }));
    if (slabs == 0 ||
        ws_draft_append(d, group, WS_F_body,
                        WS_MAKE(WS_STEP_STORE_WAIT, { WS_F_keyword, ws_json_int(0) })) == 0)
        return 0;
    const WsNode *made = ws_draft_node(d, slabs);
    return ws_node_child(made, WS_F_do, ws_node_n_children(made, WS_F_do) - 1)->identity;
}

guint64 ws_derive_step(WsDraft *d, WsNodeKind kind, WsEditSpot *spot)
{
    static const struct {
        WsNodeKind kind;
        guint64 (*derive)(WsDraft *d, const WsProduct *p, WsEditSpot *spot);
    } row[] = { { WS_STEP_LOAD, derive_load },
                { WS_STEP_MMA, derive_mma },
                { WS_STEP_STORE, derive_store } };
    g_auto(WsProduct) p = { 0 };
    g_autoptr(WsDesign) design = ws_design_ref(d->design); /* holds what `p` borrows */
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        if (row[i].kind == kind && ws_product_find(design, &p))
            return row[i].derive(d, &p, spot);
    return 0;
}
