/* Quick-fixes of rings: waits for data and for room, rounds and depths. */
#include "base/phrase.h"
#include "expr/expr.h"
#include "mend/fixer.h"

enum { MOST = 12, NEVER_TOLD = 9 };

const char *ws_step_ref(const WsNode *step, WsFieldId field)
{
    const WsRef *ref = ws_node_refv(step, field);
    return ref ? ref->name : NULL;
}

/* Buffers a step writes (in shared memory) or reads. */
gboolean ws_step_writes(const WsNode *step, const char *buffer)
{
    if (step->kind == WS_STEP_LOAD || step->kind == WS_STEP_GATHER || step->kind == WS_STEP_COPY ||
        step->kind == WS_STEP_TRANSPOSE || step->kind == WS_STEP_CLAIM)
        return g_strcmp0(ws_step_ref(step, WS_F_into), buffer) == 0;
    if (step->kind == WS_STEP_WRITE)
        return g_strcmp0(ws_step_ref(step, WS_F_to), buffer) == 0;
    return FALSE;
}

gboolean ws_step_reads(const WsNode *step, const char *buffer)
{
    if (step->kind == WS_STEP_MMA)
        return g_strcmp0(ws_step_ref(step, WS_F_a), buffer) == 0 ||
               g_strcmp0(ws_step_ref(step, WS_F_b), buffer) == 0;
    if (step->kind == WS_STEP_READ || step->kind == WS_STEP_STORE || step->kind == WS_STEP_TAKE)
        return g_strcmp0(ws_step_ref(step, WS_F_from), buffer) == 0;
    if (step->kind == WS_STEP_COPY || step->kind == WS_STEP_TRANSPOSE)
        return g_strcmp0(ws_step_ref(step, WS_F_keyword), buffer) == 0;
    return FALSE;
}

/* Has the list of step i, or one around it before the way leads in, such a step on the barrier? */
gboolean ws_has_beside(const WsFixer *F, gint i, WsNodeKind kind, const char *barrier)
{
    for (gboolean own = TRUE; i >= 0; i = ws_spot(F, i)->up, own = FALSE) {
        const WsSpot *s = ws_spot(F, i);
        const guint n = own ? ws_node_n_children(s->owner, s->field) : s->index;
        for (guint k = 0; k < n; k++) {
            const WsNode *step = ws_node_child(s->owner, s->field, k);
            if (step->kind == kind && !ws_node_bool(step, WS_F_muted, FALSE) &&
                g_strcmp0(ws_step_barrier(step), barrier) == 0)
                return TRUE;
        }
    }
    return FALSE;
}

gboolean ws_is_mbarrier(const WsFixer *F, const char *name)
{
    const WsNode *b = ws_object_named(F->design, WS_F_barriers, name);
    return b && !ws_is_named(b);
}

/* The load of the writer's list that signals the barrier comes behind the writer. */
static gboolean is_later(const WsFixer *F, const WsSpot *writer, const char *barrier)
{
    for (guint k = writer->index + 1; k < ws_node_n_children(writer->owner, writer->field); k++)
        if (g_strcmp0(ws_step_barrier(ws_node_child(writer->owner, writer->field, k)), barrier) ==
            0)
            return ws_node_has(ws_node_child(writer->owner, writer->field, k), WS_F_signal);
    return FALSE;
}

/* Where a wait before step i goes: before the fences that belong to it; and not while the turn is
 * held, then in the order in which it is filled. */
static gint wait_place(const WsFixer *F, gint i, const WsSpot *writer)
{
    while (ws_step_is(F, ws_spot_next(F, i, -1), WS_STEP_FENCE))
        i = ws_spot_next(F, i, -1);
    const gint turn = ws_spot_next(F, i, -1);
    const WsNode *b =
        ws_step_is(F, turn, WS_STEP_SYNC)
            ? ws_object_named(F->design, WS_F_barriers, ws_step_barrier(ws_spot(F, turn)->node))
            : NULL;
    if (!b || !ws_node_has(b, WS_F_array))
        return i;
    i = turn;
    for (gint k = ws_spot_next(F, i, -1); ws_step_is(F, k, WS_STEP_WAIT) &&
                                          is_later(F, writer, ws_step_barrier(ws_spot(F, k)->node));
         k = ws_spot_next(F, k, -1))
        i = k;
    return i;
}

/* A reader of a buffer that does not wait for what tells that it is filled: the wait before it.
 * `ref` is the barrier as the writer names it. */
static void await_use(WsFixer *F, const char *barrier, const char *signal, const char *use,
                      gint reader, const WsSpot *writer, guint more)
{
    g_autofree char *name = ws_step_name(ws_spot(F, reader)->node);
    const gint first = wait_place(F, reader, writer);
    WsFix *fix = ws_fixer_add(F, "Wait for %s before %s", barrier, name);
    fix->cost += more;
    if (!ws_waits(F, ws_spot(F, reader)->group, barrier)) /* it reads what it is never told of */
        fix->cost -= NEVER_TOLD;
    ws_fix_insert(F, fix, first, 0, ws_hand(WS_STEP_WAIT, signal, use, (WsHanding){ 0 }));
    for (gint up = ws_spot(F, reader)->up; up >= 0 && ws_step_is(F, up, WS_STEP_IF);
         up = ws_spot(F, up)->up) {
        fix = ws_fixer_add(F, "Wait for %s before the choice around %s", barrier, name);
        fix->cost += more;
        ws_fix_insert(F, fix, up, 0, ws_hand(WS_STEP_WAIT, signal, use, (WsHanding){ 0 }));
    }
}

static void await(WsFixer *F, const char *barrier, const char *ref, const char *filled, gint reader,
                  const WsSpot *writer, guint more)
{
    const WsNode *r = ws_spot(F, reader)->node;
    g_autofree char *signal = g_strdup(ref), *use = ws_step_use(r);
    char *at = strchr(signal, '@');
    if (at) /* the reader's use counts, not the writer's */
        *(at > signal && at[-1] == ' ' ? at - 1 : at) = '\0';
    await_use(F, barrier, signal, use, reader, writer, more);
    if (filled && g_strcmp0(filled, use) != 0) /* of two operands the reader names one use only */
        await_use(F, barrier, signal, filled, reader, writer, more + 1);
}

/* Is that very element waited for in the list of step i? Of an array one element says nothing of
 * another one. */
static gboolean is_waited(const WsFixer *F, gint i, const char *ref)
{
    const WsSpot *s = ws_spot(F, i);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        g_autofree char *of = step->kind == WS_STEP_WAIT ? ws_field_text(step, WS_F_keyword) : NULL;
        if (g_strcmp0(of, ref) == 0)
            return TRUE;
    }
    return FALSE;
}

/* The element of the barrier that tells of what reader r reads: where buffers and barriers are
 * arrays alike, the one of the reader's own element. Caller frees. */
static char *ref_for(const WsFixer *F, const char *ref, const WsNode *writer, gint r,
                     const char *buffer)
{
    static const WsFieldId reads[] = { WS_F_a, WS_F_b, WS_F_from, WS_F_keyword };
    const WsRef *filled = ws_node_refv(writer, WS_F_into);
    g_autofree char *own = filled && filled->element ? ws_expr_print(filled->element) : NULL,
                    *tail = own ? g_strdup_printf("[%s]", own) : NULL;
    for (guint i = 0; tail && g_str_has_suffix(ref, tail) && i < G_N_ELEMENTS(reads); i++) {
        const WsRef *x = ws_node_refv(ws_spot(F, r)->node, reads[i]);
        if (!x || g_strcmp0(x->name, buffer) != 0 || !x->element)
            continue;
        g_autofree char *its = ws_expr_print(x->element);
        return g_strdup_printf("%.*s[%s]", (int)(strlen(ref) - strlen(tail)), ref, its);
    }
    return g_strdup(ref);
}

/* The first reader of the buffer in every list that does not wait for the barrier. */
static guint await_all(WsFixer *F, const char *buffer, const char *barrier, const char *ref,
                       const char *filled, const WsSpot *from)
{
    const WsNode *writer = from->node->kind == WS_STEP_WRITE ? from->group : NULL;
    guint n = 0;
    const WsNode *owner = NULL;
    for (gint r = 0; r < (gint)F->spot->len && n < MOST; r++) {
        const WsSpot *s = ws_spot(F, r);
        if (!ws_step_reads(s->node, buffer) || s->owner == owner || s->group == writer)
            continue;
        g_autofree char *its = ref_for(F, ref, from->node, r, buffer);
        const gboolean element = strchr(its, '[') != NULL;
        if (element ? is_waited(F, r, its) : ws_in_list(F, r, WS_STEP_WAIT, barrier))
            continue;
        const gboolean beside = !element && ws_has_beside(F, r, WS_STEP_WAIT, barrier);
        owner = s->owner;
        await(F, barrier, its, filled, r, from, beside ? 4 : 0);
        n++;
    }
    return n;
}

void ws_fix_wait_for_data(WsFixer *F)
{
    guint n = 0;
    for (gint i = -2; i < (gint)F->spot->len && n < MOST; i++) { /* the finding's steps first */
        const gint l = i == -2 ? F->other : i == -1 ? F->at : i;
        if (l < 0 || (i >= 0 && (l == F->other || l == F->at)))
            continue;
        const WsSpot *w = ws_spot(F, l);
        const char *barrier = ws_step_barrier(w->node),
                   *buffer = w->node->kind == WS_STEP_WRITE ? ws_step_ref(w->node, WS_F_to)
                                                            : ws_step_ref(w->node, WS_F_into);
        if (!buffer)
            continue;
        if (ws_node_has(w->node, WS_F_signal)) {
            g_autofree char *ref = ws_field_text(w->node, WS_F_signal),
                            *filled = ws_field_text(w->node, WS_F_use);
            n += await_all(F, buffer, barrier, ref, filled, w);
            continue;
        }
        for (gint a = 0; a < (gint)F->spot->len && n < MOST; a++) {
            const WsSpot *s = ws_spot(F, a);
            const char *on = s->node->kind == WS_STEP_ARRIVE ? ws_step_barrier(s->node) : NULL;
            if (s->owner != w->owner || s->field != w->field || !ws_is_mbarrier(F, on))
                continue;
            g_autofree char *ref = ws_field_text(s->node, WS_F_keyword),
                            *filled = ws_field_text(s->node, WS_F_use);
            n += await_all(F, buffer, on, ref, filled, w);
        }
    }
}

/* The first step of a list that writes shared memory. */
gint ws_first_writer(const WsFixer *F, gint i)
{
    const WsSpot *s = ws_spot(F, i);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        if (ws_step_ref(step, WS_F_into) ||
            (step->kind == WS_STEP_WRITE && ws_step_ref(step, WS_F_to)) ||
            step->kind == WS_STEP_EXPECT)
            return ws_spot_of(F, step);
    }
    return i;
}

/* The first of the loads beside step i that signal the same barrier. */
static gint first_of_transaction(const WsFixer *F, gint i)
{
    const char *barrier = ws_step_barrier(ws_spot(F, i)->node);
    for (gint k = ws_spot_next(F, i, -1); barrier && k >= 0; k = ws_spot_next(F, k, -1)) {
        if (g_strcmp0(ws_step_barrier(ws_spot(F, k)->node), barrier) != 0)
            break;
        i = k;
    }
    return i;
}

/* Does the group wait for that very element anywhere? */
static gboolean is_heard(const WsFixer *F, const WsNode *group, const char *ref)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        g_autofree char *of = ws_step_is(F, i, WS_STEP_WAIT) && ws_spot(F, i)->group == group
                                  ? ws_field_text(ws_spot(F, i)->node, WS_F_keyword)
                                  : NULL;
        if (g_strcmp0(of, ref) == 0)
            return TRUE;
    }
    return FALSE;
}

/* Does the group read the buffer that the step fills, and does the step tell of it by the same
 * element? */
static gboolean is_room_for(const WsFixer *F, const WsNode *group, const WsNode *filler,
                            const char *ref)
{
    const char *buffer = ws_step_ref(filler, filler->kind == WS_STEP_WRITE ? WS_F_to : WS_F_into);
    g_autofree char *signal = ws_field_text(filler, WS_F_signal);
    const char *element = signal ? strchr(signal, '[') : NULL;
    if (!element || g_strcmp0(element, strchr(ref, '[')) != 0)
        return FALSE;
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_spot(F, i)->group == group && ws_step_reads(ws_spot(F, i)->node, buffer))
            return TRUE;
    return FALSE;
}

void ws_fix_wait_for_room(WsFixer *F)
{
    guint n = 0;
    for (gint l = 0; l < (gint)F->spot->len && n < MOST; l++) {
        const WsSpot *w = ws_spot(F, l);
        const char *buffer = w->node->kind == WS_STEP_WRITE ? ws_step_ref(w->node, WS_F_to)
                                                            : ws_step_ref(w->node, WS_F_into);
        if (!buffer || !ws_object_named(F->design, WS_F_buffers, buffer))
            continue;
        for (gint a = 0; a < (gint)F->spot->len && n < MOST; a++) {
            const WsSpot *r = ws_spot(F, a);
            const char *barrier = r->node->kind == WS_STEP_ARRIVE ? ws_step_barrier(r->node) : NULL;
            if (!ws_is_mbarrier(F, barrier) ||
                (r->group == w->group && !(ws_node_has(r->node, WS_F_cta) /* of another CTA */ &&
                                           ws_node_has(w->node, WS_F_cta))))
                continue;
            g_autofree char *ref = ws_field_text(r->node, WS_F_keyword),
                            *use = ws_step_use(w->node), *name = ws_step_name(w->node);
            if (strchr(ref, '[')
                    ? is_heard(F, w->group, ref) || !is_room_for(F, r->group, w->node, ref)
                    : ws_in_list(F, l, WS_STEP_WAIT, barrier))
                continue;
            const gboolean element = strchr(ref, '[') != NULL;
            const guint more = !element && ws_has_beside(F, l, WS_STEP_WAIT, barrier)           ? 4
                               : element && ws_step_is(F, ws_spot_next(F, l, -1), WS_STEP_WAIT) ? 2
                                                                                                : 0;
            const gint place[] = { l, first_of_transaction(F, l) };
            for (guint k = 0; k < (place[0] == place[1] ? 1 : 2); k++) {
                WsFix *fix = ws_fixer_add(F, "Wait for %s before %s%s", barrier, name,
                                          k ? WS_WORD(" and what is filled with it") : "");
                fix->cost += more + (k ? 0 : place[0] != place[1]);
                if (!ws_waits(F, NULL, barrier)) /* room that nobody ever waits for */
                    fix->cost -= NEVER_TOLD;
                ws_fix_insert(F, fix, place[k], 0,
                              ws_hand(WS_STEP_WAIT, ref, use, (WsHanding){ 0 }));
            }
            n++;
        }
    }
}

/* --- rounds and depths ------------------------------------------------------------------------ */
/* Loops of a name and count begin at the same number. */
static void same_from(WsFixer *F, const WsSpot *a, const WsSpot *b)
{
    g_autofree char *x = ws_field_text(a->node, WS_F_from), *y = ws_field_text(b->node, WS_F_from);
    if (g_strcmp0(x, y) == 0)
        return;
    WsFix *fix = ws_fixer_add(F, "Let the loop %s of %s begin at %s, as that of %s does",
                              ws_node_name(a->node), ws_node_name(a->group), y ? y : "0",
                              ws_node_name(b->group));
    ws_fix_set(fix, a->node, WS_F_from, ws_json_expr(y));
}

static void rounds_of(WsFixer *F, const WsSpot *a, const WsSpot *b, guint *n)
{
    if (a->group == b->group || g_strcmp0(ws_node_name(a->node), ws_node_name(b->node)) != 0)
        return;
    g_autofree char *x = ws_field_text(a->node, WS_F_count);
    g_autofree char *y = ws_field_text(b->node, WS_F_count);
    if (!x || !y)
        return;
    if (strcmp(x, y) == 0) {
        same_from(F, a, b);
        return;
    }
    WsFix *fix =
        ws_fixer_add(F, "Let the loop %s of %s run %s rounds, as %s does", ws_node_name(a->node),
                     ws_node_name(a->group), y, ws_node_name(b->group));
    fix->cost += strlen(y) + !g_ascii_isdigit(*y) > strlen(x) + !g_ascii_isdigit(*x) ? 1 : 0;
    ws_fix_set(fix, a->node, WS_F_count, ws_json_expr(y));
    ++*n;
}

/* Loops of one name in a list share what one loop of another group does: those with a number stay,
 * the other one makes the rest. */
static void rest_of(WsFixer *F, gint i, gint as)
{
    const WsSpot *a = ws_spot(F, i), *b = ws_spot(F, as);
    g_autofree char *all = ws_field_text(b->node, WS_F_count),
                    *now = ws_field_text(a->node, WS_F_count);
    gint64 fixed = 0;
    guint more = 0;
    for (guint k = 0; k < ws_node_n_children(a->owner, a->field); k++) {
        const WsNode *loop = ws_node_child(a->owner, a->field, k);
        gint64 n;
        if (loop == a->node || loop->kind != WS_STEP_FOR ||
            g_strcmp0(ws_node_name(loop), ws_node_name(a->node)) != 0)
            continue;
        const WsExpr *count = ws_node_expr(loop, WS_F_count);
        if (!count || !ws_expr_is_int(count, &n) || n < 0 || n > 1024)
            return;
        fixed += n;
        more++;
    }
    g_autoptr(WsExpr) whole = all ? ws_expr_parse(all, NULL) : NULL;
    if (more == 0 || !now || !whole)
        return;
    g_autoptr(WsExpr) rest = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(whole), ws_expr_int(fixed));
    g_autofree char *text = ws_expr_print(rest);
    if (strcmp(text, now) == 0)
        return;
    WsFix *fix =
        ws_fixer_add(F, "Let the loop %s of %s run %s rounds, the rest of what %s does",
                     ws_node_name(a->node), ws_node_name(a->group), text, ws_node_name(b->group));
    fix->cost -= 10;
    ws_fix_set(fix, a->node, WS_F_count, ws_json_expr(text));
}

/* Loops of a name count alike; of two counts the simpler one is likelier. */
void ws_fix_same_rounds(WsFixer *F)
{
    g_autoptr(GArray) loop = g_array_new(FALSE, FALSE, sizeof(gint));
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_spot(F, i)->node->kind == WS_STEP_FOR)
            g_array_append_val(loop, i);
    for (guint i = 0; i < loop->len; i++)
        for (guint k = 0; k < loop->len && n < 2 * MOST; k++)
            rounds_of(F, ws_spot(F, g_array_index(loop, gint, i)),
                      ws_spot(F, g_array_index(loop, gint, k)), &n);
    for (guint i = 0; i < loop->len; i++)
        for (guint k = 0; k < loop->len; k++) {
            const gint a = g_array_index(loop, gint, i), b = g_array_index(loop, gint, k);
            gint64 number;
            const WsExpr *count = ws_node_expr(ws_spot(F, a)->node, WS_F_count);
            if (ws_spot(F, a)->group != ws_spot(F, b)->group && count &&
                !ws_expr_is_int(count, &number) &&
                g_strcmp0(ws_node_name(ws_spot(F, a)->node), ws_node_name(ws_spot(F, b)->node)) ==
                    0)
                rest_of(F, a, b);
        }
}

/* "kt - 5" as "kt - 4" or "kt - 6": how many rounds stand elsewhere is easily miscounted. */
static void another_number(WsFixer *F, gint i, gint by)
{
    const WsNode *loop = ws_spot(F, i)->node;
    const WsExpr *count = ws_node_expr(loop, WS_F_count);
    gint64 n;
    if (!count || (count->op != WS_EXPR_SUB && count->op != WS_EXPR_ADD) ||
        !ws_expr_is_int(count->arg[1], &n) || n + by < 1)
        return;
    g_autoptr(WsExpr) other =
        ws_expr_op(count->op, ws_expr_ref(count->arg[0]), ws_expr_int(n + by));
    g_autofree char *text = ws_expr_print(other);
    WsFix *fix = ws_fixer_add(F, "Let the loop %s of %s run %s rounds", ws_node_name(loop),
                              ws_node_name(ws_spot(F, i)->group), text);
    fix->cost += 2;
    ws_fix_set(fix, loop, WS_F_count, ws_json_expr(text));
}

char *ws_one_off(const char *text)
{
    static const struct {
        const char *before, *after;
    } form[] = { { "max(0, ", " - 1)" }, { "", " - 1" }, { "", " + 1" } };
    for (guint i = 0; text && i < G_N_ELEMENTS(form); i++) {
        const gsize n = strlen(form[i].before), m = strlen(form[i].after);
        if (g_str_has_prefix(text, form[i].before) && g_str_has_suffix(text, form[i].after) &&
            strlen(text) > n + m)
            return g_strndup(text + n, strlen(text) - n - m);
    }
    return NULL;
}

/* A count that is one off what it says otherwise: "N + 1", "max(0, N - 1)". */
void ws_fix_round_less(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *loop = ws_spot(F, i)->node;
        g_autofree char *count = loop->kind == WS_STEP_FOR ? ws_field_text(loop, WS_F_count) : NULL,
                        *less = ws_one_off(count);
        if (less) {
            WsFix *fix = ws_fixer_add(F, "Let the loop %s of %s run %s rounds", ws_node_name(loop),
                                      ws_node_name(ws_spot(F, i)->group), less);
            ws_fix_set(fix, loop, WS_F_count, ws_json_expr(less));
        }
        for (gint by = 1; count && by >= -1; by -= 2)
            another_number(F, i, by);
    }
}

/* Depths that are drawn: of every ring's barriers and buffers. */
static GPtrArray *depths(const WsFixer *F)
{
    static const struct {
        WsFieldId list, field;
    } of[] = { { WS_F_barriers, WS_F_slots }, { WS_F_buffers, WS_F_stages } };
    const WsNode *root = ws_design_root(F->design);
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < G_N_ELEMENTS(of); i++)
        for (guint k = 0; k < ws_node_n_children(root, of[i].list); k++) {
            char *depth = ws_field_text(ws_node_child(root, of[i].list, k), of[i].field);
            g_ptr_array_add(all, depth ? depth : g_strdup(""));
        }
    return all;
}

static guint how_often(const GPtrArray *all, const char *depth)
{
    guint n = 0;
    for (guint i = 0; i < all->len; i++)
        n += strcmp(all->pdata[i], depth) == 0;
    return n;
}

/* One barrier or buffer is as deep as no other one: another depth, the commonest first. Slots of a
 * barrier are synchronisation; stages of a buffer are bytes, and theirs may only be changed without
 * asking where everything else of the design has one depth. */
void ws_fix_same_depth(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    const guint n_barriers = ws_node_n_children(root, WS_F_barriers);
    g_autoptr(GPtrArray) all = depths(F);
    for (guint i = 0; i < all->len; i++) {
        const gboolean buffer = i >= n_barriers;
        const WsNode *object = buffer ? ws_node_child(root, WS_F_buffers, i - n_barriers)
                                      : ws_node_child(root, WS_F_barriers, i);
        const char *own = all->pdata[i];
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint k = 0; k < all->len; k++) {
            const char *depth = all->pdata[k];
            if (!*depth || strcmp(own, depth) == 0 || !g_hash_table_add(seen, (gpointer)depth))
                continue;
            const guint n = how_often(all, depth);
            const gboolean odd = *own && how_often(all, own) == 1 && n >= 2;
            WsFix *fix =
                ws_fixer_add(F, "Give %s %s %s, as the rest of the ring has", ws_node_name(object),
                             depth, buffer ? WS_WORD("stages") : WS_WORD("slots"));
            fix->cost = odd ? 16 : fix->cost + (*own ? 16 : 6) + (buffer ? 2 : 0);
            fix->safe = odd || (!buffer && !*own);
            ws_fix_set(fix, object, buffer ? WS_F_stages : WS_F_slots, ws_json_expr(depth));
        }
    }
}

void ws_fix_less_ahead(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        const gint64 ahead = ws_node_int(step, WS_F_ahead, 0);
        if (ahead <= 0)
            continue;
        g_autofree char *name = ws_step_name(step);
        if (ahead > 1) {
            WsFix *fix =
                ws_fixer_add(F, "Run %s %" G_GINT64_FORMAT " rounds ahead only", name, ahead - 1);
            ws_fix_set(fix, step, WS_F_ahead, ws_json_int(ahead - 1));
        }
        WsFix *fix = ws_fixer_add(F, "Run %s in its own round", name);
        ws_fix_set(fix, step, WS_F_ahead, NULL);
    }
}
