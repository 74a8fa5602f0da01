#include "import/python/loops/pyread_loop.h"
#include "import/fit.h"
#include "import/python/amd/amd.h"
#include "import/python/dialect/py_spot.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/loops/pyread_tried.h"
#include "import/python/names/names.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_object.h"
#include "import/python/pyread_types.h"
#include "model/design.h"

#include <string.h>

/* Loops. A round is walked once with unknown integers to see how it changes them; from that follows
 * what they are in every round: base + c·round, (base + c·round) mod n, or a parity that flips when
 * an index wraps. Rounds are `k.total` of the design wherever the variable goes on over outer
 * rounds and `k` where it starts anew. */

static void add_name(GPtrArray *names, const char *name)
{
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, (gpointer)name);
}

static void add_bound(const char *name, const WsPyNode *at, gpointer data)
{
    add_name(data, name);
}

void py_assigned_names(const WsPyNode *node, GPtrArray *names)
{
    py_bound_names(node, add_bound, names);
}

/* --- what a round does ------------------------------------------------------------------------ */

/* A name that nothing in the group has yet. */
const char *py_group_name(PyRead *p, const char *want)
{
    g_autofree char *base = g_strdup(*want == '%' ? want + 1 : want); /* a register of PTX */
    const char *name = NULL;
    for (guint n = 1; !name; n++) {
        name =
            n == 1 ? ws_source_format(p->r, "%s", base) : ws_source_format(p->r, "%s_%u", base, n);
        if (ws_name_is_reserved(name) || g_hash_table_contains(p->r->names, name) ||
            ws_func_find(name) != WS_FUNC_COUNT ||
            g_ptr_array_find_with_equal_func(p->loop_names, name, g_str_equal, NULL))
            name = NULL;
        for (guint i = 0; name && i < p->group->values->len; i++)
            if (!strcmp(g_array_index(p->group->values, WsReadValue, i).name, name))
                name = NULL;
    }
    g_ptr_array_add(p->loop_names, (gpointer)name);
    g_hash_table_add(p->r->locals, (gpointer)name);
    return name;
}

/* --- walking ---------------------------------------------------------------------------------- */

static void run_round(PyRead *p, PyLoop *l)
{
    p->unsure++; /* there may be none */
    if (l->run)
        l->run(p, l);
    else
        py_run(p, l->body);
    p->unsure--;
}

static void bind_target(PyRead *p, const PyLoop *l)
{
    if (l->target && l->target->kind == WS_PY_NAME)
        py_assign(p, l->target->text, py_int(p, l->index));
}

/* One round with unknown integers; the steps of it are thrown away. */
void py_probe(PyRead *p, PyLoop *l, GArray *carries)
{
    GPtrArray *to = p->to, *scratch = g_ptr_array_new();
    GHashTable *saved = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_iter_init(&it, p->frame->vars);
    while (g_hash_table_iter_next(&it, &key, &value))
        g_hash_table_insert(saved, key, value);
    const guint names = p->loop_names->len, values = p->group->values->len;
    const guint counters = p->group->counters->len, alike = p->group->alike->len;
    g_autoptr(GArray) times = py_times(p);
    const gboolean dirty = p->dirty, waited = p->waited;
    GArray *waited_on = p->waited_on;
    GArray *generic = p->generic;
    GPtrArray *gathers = p->open_gathers;
    const gint64 copies = p->copies_of_group;
    p->open_gathers = g_ptr_array_copy(gathers, NULL, NULL);
    p->waited_on = waited_on ? g_array_copy(waited_on) : NULL;
    p->generic = generic ? g_array_copy(generic) : NULL;
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &g_array_index(carries, PyCarry, i);
        if (c->entry->kind != VAL_INT && c->entry->kind != VAL_PARAM)
            continue;
        if (c->entry->kind == VAL_PARAM)
            c->entry = py_int(p, py_as_int(p, c->entry));
        c->atom = ws_source_format(p->r, "__v_%u_", p->serial++);
        py_set_path(p, c->name, py_int(p, ws_x_name(p->r, c->atom)));
    }
    bind_target(p, l);
    p->to = scratch;
    p->probing++;
    OpenLoop open = { .name = l->name, .count = l->count, .node = l->node };
    py_forget_elements(p);
    g_array_append_val(p->loops, open);
    run_round(p, l);
    g_array_set_size(p->loops, p->loops->len - 1);
    p->probing--;
    p->to = to;
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &g_array_index(carries, PyCarry, i);
        c->end = py_path(p, c->name);
    }
    g_hash_table_remove_all(p->frame->vars);
    g_hash_table_iter_init(&it, saved);
    while (g_hash_table_iter_next(&it, &key, &value))
        g_hash_table_insert(p->frame->vars, key, value);
    g_hash_table_unref(saved);
    g_clear_pointer(&l->inside, g_ptr_array_unref);
    l->inside = g_ptr_array_new();
    for (guint i = names; i < p->loop_names->len; i++)
        g_ptr_array_add(l->inside, p->loop_names->pdata[i]);
    g_ptr_array_set_size(p->loop_names, names);
    g_ptr_array_set_size(p->group->counters, counters);
    g_ptr_array_set_size(p->group->starts, counters);
    g_array_set_size(p->group->values, values);
    g_array_set_size(p->group->alike, alike);
    g_clear_pointer(&l->set, g_array_unref);
    l->set = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < values; i++)
        if (py_times_of(p, (gint)i) != g_array_index(times, guint, i))
            g_array_append_val(l->set, i);
    py_times_back(p, times);
    g_ptr_array_unref(scratch);
    l->dirty = p->dirty;
    l->waited = p->waited;
    g_clear_pointer(&l->waited_on, g_array_unref);
    g_clear_pointer(&l->generic, g_array_unref);
    l->waited_on = p->waited_on;
    l->generic = p->generic;
    p->waited_on = waited_on;
    p->generic = generic;
    g_ptr_array_unref(p->open_gathers);
    p->open_gathers = gathers;
    p->copies_of_group = copies;
    p->dirty = dirty;
    p->waited = waited;
}

/* At the head of a round stands what the last one left, too: the compiler looks around loops. */
static void take_left(PyRead *p, PyLoop *l)
{
    p->dirty |= l->dirty;
    p->waited |= l->waited;
    if (l->waited_on && p->waited_on)
        g_array_append_vals(p->waited_on, l->waited_on->data, l->waited_on->len);
    if (l->generic && p->generic)
        g_array_append_vals(p->generic, l->generic->data, l->generic->len);
}

static void forget_wandering(PyRead *p, const PyLoop *l, GArray *carries)
{
    for (guint i = 0; i < carries->len; i++) {
        const PyCarry *c = &g_array_index(carries, PyCarry, i);
        if (!py_wanders(c))
            continue;
        if (c->end && py_holds_tile(c->end) && !py_is_index(c->end))
            py_unread(p, l->node, "which tile a variable is in the next round");
        const Val *places = p->amd && c->end ? py_amd_places(p, c->entry, c->end) : NULL;
        py_set_path(p, c->name, places ? places : py_opaque(p));
    }
}

static gboolean place_mentions(const WsPlace *p, const char *name)
{
    return ws_expr_mentions(p->index, name) || (p->views && strstr(p->views, name));
}

gboolean py_steps_mention(const GPtrArray *list, const char *name)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off)
            continue;
        gboolean found = ws_expr_mentions(s->e, name) || ws_expr_mentions(s->when, name) ||
                         ws_expr_mentions(s->parity, name) || place_mentions(&s->barrier, name) ||
                         place_mentions(&s->buffer, name) || place_mentions(&s->a, name) ||
                         place_mentions(&s->b, name) || (s->text && strstr(s->text, name)) ||
                         py_steps_mention(s->body, name) || py_steps_mention(s->other, name);
        for (guint k = 0; k < s->n_coord; k++)
            found |= ws_expr_mentions(s->coord[k], name);
        if (found)
            return TRUE;
    }
    return FALSE;
}

static void drop_counter(PyRead *p, const char *name)
{
    guint at;
    if (!g_ptr_array_find(p->group->counters, name, &at))
        return;
    g_ptr_array_remove_index(p->group->counters, at);
    g_ptr_array_remove_index(p->group->starts, at);
}

/* What a round leaves in the variable as a formula of the shape that it has; NULL: it is none. One
 * of two lines may have become one value per row meanwhile, the other is turned then, too. */
static const Val *left_of_round(PyRead *p, gint value, const Val *end)
{
    const Val *left = py_itself(p, end);
    const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, value);
    if (left && left->rows * left->cols > 1 && left->rows == held->cols && held->rows == 1)
        py_turn_line(p, value);
    else if (left && held->cols == 1 && left->cols == held->rows && left->rows == 1)
        left = py_itself(p, py_as_rows(p, end));
    const gboolean fits = left && (left->rows == held->rows || left->rows == 1) &&
                          (left->cols == held->cols || left->cols == 1);
    return fits ? left : NULL;
}

/* A tile variable that means another value at the end of a round than at its head is copied. */
static void close_round(PyRead *p, const PyLoop *l, GArray *carries)
{
    for (guint i = 0; i < carries->len; i++) {
        const PyCarry *c = &g_array_index(carries, PyCarry, i);
        const Val *end = py_path(p, c->name);
        gint64 factor, zero;
        if (c->counter && end && end->kind == VAL_INT) {
            const WsExpr *sum = c->kind == CARRY_MOD ? py_inner_of(p, end->e, c->n) : end->e;
            const WsExpr *by = ws_x_without(p->r, sum, c->counter, FALSE, &factor);
            if (c->kind == CARRY_NONE)
                by = ws_x_op(p->r, WS_EXPR_SUB, sum, ws_x_name(p->r, c->counter));
            if (!py_steps_mention(p->to, c->counter))
                drop_counter(p, c->counter);
            else if ((c->kind != CARRY_NONE && factor != 1) || !by)
                py_opaque_step(p, l->node, "what a round adds to a variable");
            else if (!ws_x_is(by, &zero) || zero) {
                WsReadStep *s = py_step(p, WS_READ_ADVANCE, l->node);
                s->name = c->counter;
                s->e = by;
                if (g_hash_table_lookup(p->rising, c->counter) &&
                    !py_only_adds(p, by)) /* as was taken for granted in the round */
                    py_unread(p, l->node, "what a round adds to a variable");
            }
            continue;
        }
        const gboolean copied = end && (end->kind == VAL_MATH || end->kind == VAL_TILE ||
                                        (end->kind == VAL_ZERO && end->step));
        if (copied && py_is_former(p, end)) { /* another variable has its value by now */
            py_set_path(p, c->name, py_current(p, end, l->node));
            py_unread(p, l->node, "which tile a variable is in the next round");
            continue;
        }
        if (copied && end->kind == VAL_ZERO && end->index == c->entry->index &&
            py_times_of(p, end->index) <= end->made) {
            end->step->off = FALSE; /* the next round begins with the zeros */
            py_set_path(p, c->name, py_renewed(p, c->entry));
            continue;
        }
        if (c->entry->kind != VAL_TILE || !copied ||
            (end->kind == VAL_TILE && end->index == c->entry->index))
            continue;
        const Val *left = left_of_round(p, c->entry->index, end);
        if (!left) {
            py_set_path(p, c->name, py_opaque(p));
            py_unread(p, l->node, "which tile a variable is in the next round");
            continue;
        }
        GPtrArray *to = p->to;
        p->to = p->amd ? py_amd_last_stage(to) : to;
        WsReadStep *s = py_step(p, WS_READ_COMPUTE, l->node);
        s->added = end->kind != VAL_MATH; /* which the kernel computes, by a step of its own */
        p->to = to;
        py_set(p, s, c->entry->index);
        const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, c->entry->index);
        const char *dtype = end->kind != VAL_TILE
                                ? left->dtype
                                : g_array_index(p->group->values, WsReadValue, end->index).dtype;
        const gboolean converts =
            (p->amd || g_strcmp0(held->dtype, dtype)) && strcmp(held->dtype, "f32");
        if (converts && !p->amd && py_is_wider(p, end, left))
            py_law_value(p, l->node,
                         "a variable that a round leaves in another type than it found");
        py_line_of(p, c->entry->index, left);
        s->text = ws_source_format(p->r, converts ? "%s = %s(%s)" : "%s = %s%s", held->name,
                                   converts ? held->dtype : "",
                                   converts ? left->text : py_as_type(p, held->dtype, left->text));
        py_set_path(p, c->name, py_renewed(p, c->entry));
    }
}

#define MOST_NAMES 500

/* Fields that a round hands on in a new object of the class. */
static gboolean drop_kept_fields(GArray *carries)
{
    gboolean any = FALSE;
    for (guint i = carries->len; i-- > 0;) {
        const PyCarry *c = &g_array_index(carries, PyCarry, i);
        if (!strchr(c->name, '.') || !c->atom || !c->end || c->end->kind != VAL_INT ||
            c->end->e->op != WS_EXPR_NAME || strcmp(c->end->e->name, c->atom))
            continue;
        g_array_remove_index(carries, i);
        any = TRUE;
    }
    return any;
}

/* Whether what a round does to every integer can be said for all rounds. */
static gboolean all_followed(PyRead *p, const GArray *carries)
{
    g_autoptr(GArray) own = g_array_copy((GArray *)carries);
    PyCarry *all = (PyCarry *)(gpointer)own->data;
    for (guint i = 0; i < own->len; i++)
        if (all[i].atom && all[i].end && all[i].end->kind == VAL_INT)
            py_classify(p, &all[i]);
        else if (all[i].atom)
            return FALSE;
    for (guint i = 0; i < own->len; i++)
        if (all[i].atom &&
            (all[i].kind == CARRY_UNKNOWN ||
             (all[i].kind == CARRY_NONE && py_holds_trial(all[i].end->e))) &&
            !py_flips_on_wrap(p, &all[i], all, own->len))
            return FALSE;
    return TRUE;
}

/* A loop of few rounds whose number is written out. */
static void round_by_round(PyRead *p, PyLoop *l)
{
    for (gint64 i = 0; i < l->rounds && !*p->r->error && !p->frame->returned; i++) {
        if (l->target && l->target->kind == WS_PY_NAME)
            py_assign(p, l->target->text, py_literal(p, l->first + i * l->by));
        const gsize outer = p->rounds->len;
        g_string_append_printf(p->rounds, "%" G_GINT64_FORMAT " ", i);
        run_round(p, l);
        g_string_truncate(p->rounds, outer);
    }
}

gboolean py_value_in(const GArray *list, gint value)
{
    for (guint i = 0; i < list->len; i++)
        if (g_array_index(list, guint, i) == (guint)value)
            return TRUE;
    return FALSE;
}

static gboolean holds_one_of(const GArray *list, const Val *v)
{
    if (v->kind == VAL_TILE)
        return py_value_in(list, v->index);
    const guint step = v->kind == VAL_OBJECT ? 2 : 1;
    for (guint i = 0; (v->kind == VAL_TUPLE || v->kind == VAL_OBJECT) && i < v->n; i++)
        if (holds_one_of(list, v->item[step * i + step - 1]))
            return TRUE;
    return FALSE;
}

/* At the head of a round stands what the last one left: values that a round sets are those of the
 * variables that it carries on, and of no other name. */
static void renew_heads(PyRead *p, PyLoop *l, GArray *carries)
{
    for (guint i = 0; i < carries->len; i++) {
        const PyCarry *c = &g_array_index(carries, PyCarry, i);
        const guint value = (guint)c->entry->index;
        const gboolean ends = c->entry->kind == VAL_TILE && !(c->end && c->end->kind == VAL_TILE &&
                                                              c->end->index == c->entry->index);
        if (ends && !py_value_in(l->set, (gint)value))
            g_array_append_val(l->set, value);
    }
    g_autoptr(GArray) before = py_times(p);
    p->clock++;
    for (guint i = 0; i < l->set->len; i++) {
        WsReadValue *held =
            &g_array_index(p->group->values, WsReadValue, g_array_index(l->set, guint, i));
        held->set = p->clock;
        held->set_line = l->node->line;
    }
    g_autoptr(GArray) owned = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < carries->len; i++) {
        PyCarry *c = &g_array_index(carries, PyCarry, i);
        if (c->entry->kind == VAL_MATH || !py_is_former(p, c->entry))
            continue; /* a formula of the values before the loop is no other one in it */
        const Val *still = py_renewed(p, c->entry);
        if (py_was_former(p, c->entry, before) || py_is_former(p, still))
            continue;
        if (holds_one_of(owned, c->entry)) {
            py_unread(p, l->node, "variables that are one value when a loop begins");
            continue;
        }
        if (c->entry->kind == VAL_TILE) {
            const guint value = (guint)c->entry->index;
            g_array_append_val(owned, value);
        }
        c->entry = still;
        py_set_path(p, c->name, still);
    }
}

static gboolean walk(PyRead *p, PyLoop *l)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; l->names && i < l->names->len; i++)
        g_ptr_array_add(names, g_ptr_array_index(l->names, i));
    if (!l->names)
        py_assigned_names(l->body, names);
    g_autoptr(GArray) carries = g_array_new(FALSE, TRUE, sizeof(PyCarry));
    g_autoptr(GArray) shared = g_array_new(FALSE, TRUE, sizeof(PyCopy));
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        const Val *entry = py_path(p, name);
        for (guint k = 0;
             entry && entry->kind == VAL_OBJECT && k < entry->n && names->len < MOST_NAMES; k++)
            g_ptr_array_add(
                names, (gpointer)ws_source_format(p->r, "%s.%s", name, entry->item[2 * k]->text));
        if (!entry || entry->kind == VAL_OBJECT ||
            (l->target && l->target->text && !strcmp(l->target->text, name)))
            continue;
        PyCarry c = { .name = name, .entry = entry };
        if (entry->kind == VAL_ZERO && entry->step && entry->index >= 0 &&
            py_times_of(p, entry->index) > entry->made) { /* a product has used the zeros */
            Val *zeros = py_val(p, VAL_TILE);
            zeros->dims = entry->dims;
            zeros->rows = entry->rows;
            zeros->cols = entry->cols;
            const guint before = p->r->steps->len;
            zeros->index = py_hold_at(p, name, entry, l->node);
            py_added(p, before);
            zeros->made = p->clock;
            c.entry = entry = zeros;
            py_set_path(p, name, zeros);
        }
        if (entry->kind == VAL_ZERO && entry->step && entry->index >= 0) {
            entry->step->off = FALSE; /* rounds add to it: it is stored before them */
            Val *tile = py_val(p, VAL_TILE);
            tile->index = entry->index;
            tile->dims = entry->dims;
            tile->rows = entry->rows;
            tile->cols = entry->cols;
            c.entry = tile;
            py_set_path(p, name, tile);
        }
        py_own_value(p, l, &c, shared);
        g_array_append_val(carries, c);
    }
    py_probe(p, l, carries);
    if (py_drop_copies(p, l, carries, shared))
        py_probe(p, l, carries);
    g_auto(PyShared) entered = py_shared_now(p);
    take_left(p, l);
    if (drop_kept_fields(carries)) /* what a round leaves as it is, is known in it */
        py_probe(p, l, carries);
    if (*p->r->error || (l->decide && !l->decide(p, l, carries)))
        return FALSE;
    if (l->rounds && !all_followed(p, carries)) {
        round_by_round(p, l);
        return TRUE;
    }
    renew_heads(p, l, carries);
    py_set_heads(p, l, carries);
    forget_wandering(p, l, carries);
    g_autoptr(GArray) tried = py_try_heads(p, l, carries);
    bind_target(p, l);
    WsReadStep *met = p->amd ? py_amd_loop_begins(p) : NULL;
    WsReadStep *s = py_step(p, WS_READ_FOR, l->node);
    s->name = l->name;
    s->e = l->count;
    s->n = l->from;
    s->stride = l->stride;
    GPtrArray *to = p->to;
    p->to = s->body;
    OpenLoop open = { .name = l->name,
                      .count = l->count,
                      .node = l->node,
                      .outer = to,
                      .body = s->body,
                      .met = met };
    py_forget_elements(p);
    g_array_append_val(p->loops, open);
    const guint copies = p->open_gathers->len;
    run_round(p, l);
    py_end_staged(p, l->node);
    py_copies_left(p, copies, l->node);
    py_try_rounds(p, l, tried);
    if (p->amd)
        py_amd_loop_ends(p, l->node, s->body);
    close_round(p, l, carries);
    g_array_set_size(p->loops, p->loops->len - 1);
    p->to = to;
    py_shared_join(p, &entered); /* there may be no round, and the compiler looks around loops */
    py_set_exits(p, l, carries);
    py_try_exits(p, l, tried);
    forget_wandering(p, l, carries);
    return TRUE;
}

gboolean py_walk(PyRead *p, PyLoop *l)
{
    l->held = g_array_new(FALSE, FALSE, sizeof(PyHeld));
    const gboolean read = walk(p, l);
    g_clear_pointer(&l->held, g_array_unref);
    g_clear_pointer(&l->waited_on, g_array_unref);
    g_clear_pointer(&l->generic, g_array_unref);
    g_clear_pointer(&l->inside, g_ptr_array_unref);
    g_clear_pointer(&l->set, g_array_unref);
    return read;
}

/* e = a·name: a */
static gboolean multiple(PyRead *p, const WsExpr *e, const char *name, gint64 *a)
{
    gint64 rest;
    return e && ws_x_is(ws_x_without(p->r, e, name, FALSE, a), &rest) && rest == 0;
}

/* A variable of a round has this name, which is then that of a value. */
static gboolean sets(const PyLoop *l, const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    gboolean is = FALSE;
    if (l->body)
        py_assigned_names(l->body, names);
    for (guint i = 0; i < names->len; i++)
        is = is || !strcmp(names->pdata[i], name);
    return is;
}

/* A loop from this CTA's number in steps of the grid: over tiles. */
gboolean py_over_tiles(PyRead *p, PyLoop *l, const WsExpr *start, const WsExpr *stop,
                       const WsExpr *step)
{
    gint64 one, from, stride;
    const WsExpr *behind = start ? ws_x_without(p->r, start, PY_PID, FALSE, &one) : NULL;
    if (!behind || one != 1 || !multiple(p, behind, PY_GRID, &from) || from < 0 ||
        !multiple(p, step, PY_GRID, &stride) || stride < 1)
        return FALSE;
    l->from = from;
    l->stride = stride;
    if (!p->tile) {
        p->tile = ws_source_name(p->r, "tile");
        p->tiles = stop;
    } else if (!p->tiles || !stop || !ws_expr_equal(p->tiles, stop)) {
        ws_source_unread(p->r, l->node->line, l->node->column, l->node->line,
                         "a second range of tiles", "");
    }
    l->tiles = TRUE;
    l->count = NULL;
    l->index = ws_x_name(p->r, p->tile);
    l->name = py_group_name(p, sets(l, "t") ? "tiles_done" : "t");
    p->tile_loop = l->name;
    return TRUE;
}
