/* Quick-fixes of rings: waits for data and for room, releases, rounds and depths. */
#include "check/fixer.h"

enum { MOST = 8 };

static const char *ref_name(const WsNode *step, WsFieldId field)
{
    const WsRef *ref = ws_node_refv(step, field);
    return ref ? ref->name : NULL;
}

/* Buffers a step writes (in shared memory) or reads. */
static gboolean writes(const WsNode *step, const char *buffer)
{
    switch (step->kind) {
    case WS_STEP_LOAD:
    case WS_STEP_GATHER:
    case WS_STEP_COPY:
    case WS_STEP_TRANSPOSE:
        return g_strcmp0(ref_name(step, WS_F_into), buffer) == 0;
    case WS_STEP_WRITE:
        return g_strcmp0(ref_name(step, WS_F_to), buffer) == 0;
    default:
        return FALSE;
    }
}

static gboolean reads(const WsNode *step, const char *buffer)
{
    switch (step->kind) {
    case WS_STEP_MMA:
        return g_strcmp0(ref_name(step, WS_F_a), buffer) == 0 ||
               g_strcmp0(ref_name(step, WS_F_b), buffer) == 0;
    case WS_STEP_READ:
    case WS_STEP_STORE:
        return g_strcmp0(ref_name(step, WS_F_from), buffer) == 0;
    case WS_STEP_COPY:
    case WS_STEP_TRANSPOSE:
        return g_strcmp0(ref_name(step, WS_F_keyword), buffer) == 0;
    default:
        return FALSE;
    }
}

/* Has the list of step i, or one around it before the way leads in, such a step on the barrier? */
static gboolean has_beside(const WsFixer *F, gint i, WsNodeKind kind, const char *barrier)
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

static gboolean is_mbarrier(const WsFixer *F, const char *name)
{
    const WsNode *b = ws_object_named(F->design, WS_F_barriers, name);
    return b && g_strcmp0(ws_node_text(b, WS_F_kind), "named") != 0;
}

static char *with_use(const char *step, const char *ref, const char *use, const char *more)
{
    return g_strdup_printf("{ \"%s\": %s%s%s%s }", step, ref, use ? ", \"use\": " : "",
                           use ? use : "", more);
}

/* A reader of a buffer that does not wait for what tells that it is filled: the wait before it.
 * `ref` is the barrier as the writer names it. */
static void await(WsFixer *F, const char *barrier, const char *ref, gint reader)
{
    const WsNode *r = ws_spot(F, reader)->node;
    g_autofree char *signal = g_strdup(ref), *use = ws_step_use(r);
    char *at = strchr(signal, '@');
    if (at) /* the reader's use counts, not the writer's */
        strcpy(at > signal && at[-1] == ' ' ? at - 1 : at, "\"");
    g_autofree char *json = with_use("wait", signal, use, ""), *name = ws_step_name(r);
    gint first = reader; /* fences after a wait belong to what it brings */
    while (ws_step_is(F, ws_spot_next(F, first, -1), WS_STEP_FENCE))
        first = ws_spot_next(F, first, -1);
    WsFix *fix = ws_fixer_add(F, "Wait for %s before %s", barrier, name);
    ws_fix_insert(F, fix, first, 0, json);
    for (gint up = ws_spot(F, reader)->up; up >= 0 && ws_step_is(F, up, WS_STEP_IF);
         up = ws_spot(F, up)->up) {
        fix = ws_fixer_add(F, "Wait for %s before the choice around %s", barrier, name);
        ws_fix_insert(F, fix, up, 0, json);
    }
}

/* The first reader of the buffer in every list that does not wait for the barrier. */
static guint await_all(WsFixer *F, const char *buffer, const char *barrier, const char *ref,
                       const WsNode *writer)
{
    guint n = 0;
    const WsNode *owner = NULL;
    for (gint r = 0; r < (gint)F->spot->len && n < MOST; r++) {
        const WsSpot *s = ws_spot(F, r);
        if (!reads(s->node, buffer) || s->owner == owner || s->group == writer ||
            has_beside(F, r, WS_STEP_WAIT, barrier))
            continue;
        owner = s->owner;
        await(F, barrier, ref, r);
        n++;
    }
    return n;
}

void ws_fix_wait_for_data(WsFixer *F)
{
    guint n = 0;
    for (gint l = 0; l < (gint)F->spot->len && n < MOST; l++) {
        const WsSpot *w = ws_spot(F, l);
        const char *barrier = ws_step_barrier(w->node),
                   *buffer = w->node->kind == WS_STEP_WRITE ? ref_name(w->node, WS_F_to)
                                                            : ref_name(w->node, WS_F_into);
        if (!buffer)
            continue;
        if (ws_node_has(w->node, WS_F_signal)) {
            g_autofree char *ref = ws_field_json(w->node, WS_F_signal);
            n += await_all(F, buffer, barrier, ref, NULL);
            continue;
        }
        for (gint a = 0; a < (gint)F->spot->len && n < MOST; a++) {
            const WsSpot *s = ws_spot(F, a);
            const char *on = s->node->kind == WS_STEP_ARRIVE ? ws_step_barrier(s->node) : NULL;
            if (s->owner != w->owner || s->field != w->field || !is_mbarrier(F, on))
                continue;
            g_autofree char *ref = ws_field_json(s->node, WS_F_keyword);
            n += await_all(F, buffer, on, ref, w->group);
        }
    }
}

/* The first step of a list that writes shared memory. */
static gint first_writer(const WsFixer *F, gint i)
{
    const WsSpot *s = ws_spot(F, i);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        if (ref_name(step, WS_F_into) || (step->kind == WS_STEP_WRITE && ref_name(step, WS_F_to)) ||
            step->kind == WS_STEP_EXPECT)
            return ws_spot_of(F, step);
    }
    return i;
}

void ws_fix_wait_for_room(WsFixer *F)
{
    guint n = 0;
    for (gint l = 0; l < (gint)F->spot->len && n < MOST; l++) {
        const WsSpot *w = ws_spot(F, l);
        const char *buffer = w->node->kind == WS_STEP_WRITE ? ref_name(w->node, WS_F_to)
                                                            : ref_name(w->node, WS_F_into);
        if (!buffer || !ws_object_named(F->design, WS_F_buffers, buffer))
            continue;
        for (gint a = 0; a < (gint)F->spot->len && n < MOST; a++) {
            const WsSpot *r = ws_spot(F, a);
            const char *barrier = r->node->kind == WS_STEP_ARRIVE ? ws_step_barrier(r->node) : NULL;
            if (!is_mbarrier(F, barrier) || r->group == w->group ||
                has_beside(F, l, WS_STEP_WAIT, barrier))
                continue;
            g_autofree char *ref = ws_field_json(r->node, WS_F_keyword),
                            *use = ws_step_use(w->node);
            g_autofree char *json = with_use("wait", ref, use, ""), *name = ws_step_name(w->node);
            WsFix *fix = ws_fixer_add(F, "Wait for %s before %s", barrier, name);
            ws_fix_insert(F, fix, first_writer(F, l), 0, json);
            n++;
        }
    }
}

/* --- releases --------------------------------------------------------------------------------- */
static gboolean retires(WsNodeKind kind)
{
    return kind == WS_STEP_MMA_WAIT || kind == WS_STEP_STORE_WAIT || kind == WS_STEP_LOAD_WAIT;
}

static void later(WsFixer *F, gint arrive)
{
    const WsNode *step = ws_spot(F, arrive)->node;
    g_autofree char *name = ws_step_name(step);
    gint last = -1;
    for (gint k = ws_spot_next(F, arrive, 1); k >= 0; k = ws_spot_next(F, k, 1)) {
        const WsNode *s = ws_spot(F, k)->node;
        if (retires(s->kind)) {
            g_autofree char *wait = ws_step_name(s);
            WsFix *fix = ws_fixer_add(F, "Move %s behind %s", name, wait);
            ws_fix_move(F, fix, arrive, k, 1);
        }
        if (s->kind == WS_STEP_READ || s->kind == WS_STEP_MMA || s->kind == WS_STEP_WRITE ||
            s->kind == WS_STEP_TRANSPOSE || s->kind == WS_STEP_STORE || s->kind == WS_STEP_TAKE)
            last = k;
    }
    if (last >= 0) {
        g_autofree char *reader = ws_step_name(ws_spot(F, last)->node);
        WsFix *fix = ws_fixer_add(F, "Move %s behind %s", name, reader);
        ws_fix_move(F, fix, arrive, last, 1);
    }
    for (gint k = ws_spot_next(F, arrive, -1); k >= 0; k = ws_spot_next(F, k, -1))
        if (retires(ws_spot(F, k)->node->kind) &&
            ws_node_int(ws_spot(F, k)->node, WS_F_keyword, 0) > 0) {
            g_autofree char *wait = ws_step_name(ws_spot(F, k)->node);
            g_autofree char *less = g_strdup_printf(
                "%" G_GINT64_FORMAT, ws_node_int(ws_spot(F, k)->node, WS_F_keyword, 1) - 1);
            WsFix *fix = ws_fixer_add(F, "Let %s leave one group less in flight", wait);
            ws_fix_set(F, fix, ws_spot(F, k)->node, WS_F_keyword, less);
        }
    for (gint left = 1; left >= 0; left--) { /* what leaves one in flight keeps the overlap */
        WsFix *fix = ws_fixer_add(F, "Retire the mma before %s: `mma_wait` %d", name, left);
        g_autofree char *json = g_strdup_printf("{ \"mma_wait\": %d }", left);
        fix->cost += left ? 2 : 3;
        ws_fix_insert(F, fix, arrive, 0, json);
    }
}

void ws_fix_release_later(WsFixer *F)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (s->node->kind != WS_STEP_ARRIVE || (F->at >= 0 && s->group == ws_spot(F, F->at)->group))
            continue;
        later(F, i);
        n++;
    }
}

void ws_fix_release_by_warp(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        const WsNode *b = ws_object_named(F->design, WS_F_barriers, ws_step_barrier(step));
        if (step->kind != WS_STEP_ARRIVE || !b || ws_node_has(step, WS_F_by) ||
            g_strcmp0(ws_node_text(b, WS_F_kind), "named") == 0 ||
            (F->finding->object && F->finding->barrier &&
             !strstr(F->finding->barrier, ws_step_barrier(step))))
            continue;
        static const char *const by[] = { "warp", "all" };
        for (guint k = 0; k < G_N_ELEMENTS(by); k++) {
            g_autofree char *json = g_strdup_printf("\"%s\"", by[k]), *name = ws_step_name(step);
            WsFix *fix =
                ws_fixer_add(F, "Let %s of the group %s", k ? "every thread" : "every warp", name);
            for (gint j = i; j < (gint)F->spot->len; j++) {
                const WsNode *other = ws_spot(F, j)->node;
                if (other->kind == WS_STEP_ARRIVE &&
                    g_strcmp0(ws_step_barrier(other), ws_step_barrier(step)) == 0)
                    ws_fix_set(F, fix, other, WS_F_by, json);
            }
        }
        return;
    }
}

/* The last step of its list that has to do with the same bytes as step i, then what retires or
 * fences it. */
static gint after_data(const WsFixer *F, gint i, const char *buffer)
{
    gint last = i;
    for (gint k = i; k >= 0; k = ws_spot_next(F, k, 1)) {
        const WsNode *s = ws_spot(F, k)->node;
        if (retires(s->kind) || reads(s, buffer) || writes(s, buffer) ||
            (s->kind == WS_STEP_FENCE && last == ws_spot_next(F, k, -1)))
            last = k;
    }
    return last;
}

static gboolean touched_by(const WsFixer *F, const WsNode *group, const char *buffer)
{
    for (gint k = 0; k < (gint)F->spot->len; k++) {
        const WsSpot *x = ws_spot(F, k);
        if (x->group == group && (reads(x->node, buffer) || writes(x->node, buffer)))
            return TRUE;
    }
    return FALSE;
}

/* The arrival that a wait misses: in a group that touches the same bytes, in the same round and,
 * for a release that lags, of the round before. */
static void release_in(WsFixer *F, const WsNode *barrier, gint i, const char *buffer)
{
    const char *name = ws_node_name(barrier);
    const gint after = after_data(F, i, buffer), loop = ws_spot_loop(F, i);
    const WsNode *step = ws_spot(F, i)->node;
    g_autofree char *use = ws_step_use(step), *what = ws_step_name(ws_spot(F, after)->node);
    const gboolean lanes =
        step->kind == WS_STEP_READ || step->kind == WS_STEP_WRITE || step->kind == WS_STEP_GATHER;
    const gboolean cluster = ws_node_int(ws_design_root(F->design), WS_F_cluster, 1) > 1;
    g_autofree char *ref = g_strdup_printf("\"%s\"", name);
    gint first = i; /* behind what retires the last reader, not behind all that retires */
    for (gint k = i; k >= 0; k = ws_spot_next(F, k, 1))
        if (reads(ws_spot(F, k)->node, buffer) || writes(ws_spot(F, k)->node, buffer))
            first = k;
    for (gint k = ws_spot_next(F, first, 1); k >= 0; k = ws_spot_next(F, k, 1))
        if (retires(ws_spot(F, k)->node->kind)) {
            first = k;
            break;
        }
    for (guint all = cluster ? 1 : 0;; all--) {
        g_autofree char *more = g_strdup_printf("%s%s", lanes ? ", \"by\": \"warp\"" : "",
                                                all ? ", \"cta\": \"all\"" : "");
        g_autofree char *json = with_use("arrive", ref, use, more);
        g_autofree char *near = ws_step_name(ws_spot(F, first)->node);
        WsFix *fix = ws_fixer_add(F, "Arrive on %s after %s", name, near);
        fix->cost -= 1;
        ws_fix_insert(F, fix, first, 1, json);
        fix = ws_fixer_add(F, "Arrive on %s after %s", name, what);
        ws_fix_insert(F, fix, after, 1, json);
        for (gint up = ws_spot(F, i)->up; up >= 0 && ws_step_is(F, up, WS_STEP_IF);
             up = ws_spot(F, up)->up) {
            fix = ws_fixer_add(F, "Arrive on %s after the choice around %s", name, what);
            ws_fix_insert(F, fix, up, 1, json);
            if (lanes)
                continue;
            /* where nothing is waited for between, every warp says that it has come so far */
            g_autofree char *warps =
                with_use("arrive", ref, use,
                         all ? ", \"by\": \"warp\", \"cta\": \"all\"" : ", \"by\": \"warp\"");
            fix = ws_fixer_add(F, "Let every warp arrive on %s after the choice around %s", name,
                               what);
            fix->cost += 1;
            ws_fix_insert(F, fix, up, 1, warps);
        }
        if (use && use[0] == '"' && loop >= 0) {
            use[strlen(use) - 1] = '\0';
            g_autofree char *lag = g_strdup_printf("\"%s - 1\"", use + 1);
            strcat(use, "\"");
            g_autofree char *when = g_strdup_printf(", \"when\": \"%s > 0\"%s",
                                                    ws_node_name(ws_spot(F, loop)->node), more);
            g_autofree char *late = with_use("arrive", ref, lag, when);
            fix = ws_fixer_add(F, "Arrive on %s after %s, for the round before", name, what);
            ws_fix_insert(F, fix, after, 1, late);
        }
        if (all == 0)
            return;
    }
}

static void release_of(WsFixer *F, const WsNode *b, const WsNode *waiter)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint k = 0; k < ws_node_n_children(root, WS_F_buffers); k++) {
        const char *buffer = ws_node_name(ws_node_child(root, WS_F_buffers, k));
        const WsNode *owner = NULL;
        if (!touched_by(F, waiter, buffer))
            continue;
        for (gint i = 0; i < (gint)F->spot->len; i++) {
            const WsSpot *s = ws_spot(F, i);
            if (s->group == waiter || s->owner == owner ||
                !(reads(s->node, buffer) || writes(s->node, buffer)) ||
                has_beside(F, i, WS_STEP_ARRIVE, ws_node_name(b)))
                continue;
            owner = s->owner;
            release_in(F, b, i, buffer);
        }
    }
}

void ws_fix_release(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint k = 0; k < ws_node_n_children(root, WS_F_barriers); k++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, k);
        if (!is_mbarrier(F, ws_node_name(b)) || ws_node_has(b, WS_F_array))
            continue;
        for (gint i = 0; i < (gint)F->spot->len; i++)
            if (ws_step_is(F, i, WS_STEP_WAIT) &&
                g_strcmp0(ws_step_barrier(ws_spot(F, i)->node), ws_node_name(b)) == 0) {
                release_of(F, b, ws_spot(F, i)->group);
                break;
            }
    }
}

/* A ring without a way back: a barrier that readers arrive on and the loads wait for. */
void ws_fix_new_release(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    if (F->at < 0 || ws_spot(F, F->at)->node->kind != WS_STEP_LOAD)
        return;
    const WsSpot *l = ws_spot(F, F->at);
    const char *buffer = ref_name(l->node, WS_F_into);
    const WsNode *b = ws_object_named(F->design, WS_F_buffers, buffer);
    const gint loop = l->up;
    if (!b || ws_node_has(b, WS_F_array) || !ws_step_is(F, loop, WS_STEP_FOR))
        return;
    const char *index = ws_node_name(ws_spot(F, loop)->node);
    g_autofree char *name = g_strdup_printf("%s_free", buffer),
                    *stages = ws_field_json(b, WS_F_stages), *use = ws_step_use(l->node);
    if (ws_object_named(F->design, WS_F_barriers, name))
        return;
    if (!use)
        use = g_strdup_printf("\"%s.total\"", index);
    g_autofree char *ref = g_strdup_printf("\"%s\"", name), *wait = with_use("wait", ref, use, ""),
                    *arrive = with_use("arrive", ref, use, "");
    g_autofree char *json = g_strdup_printf(
        "{ \"name\": \"%s\", \"slots\": %s, \"init\": \"ready\" }", name, stages ? stages : "1");
    WsFix *fix =
        ws_fixer_add(F, "Add %s: readers of %s arrive on it, the load waits for it", name, buffer);
    ws_fix_append(F, fix, root, WS_F_barriers, ws_node_n_children(root, WS_F_barriers), json);
    const WsNode *group = l->group;
    for (gint i = (gint)F->spot->len - 1; i >= 0; i--) { /* from the last: paths before it stand */
        const WsSpot *s = ws_spot(F, i);
        if (i == F->at)
            ws_fix_insert(F, fix, first_writer(F, i), 0, wait);
        if (s->group == group || !reads(s->node, buffer))
            continue;
        gint top = i; /* the step of the loop of the same name that holds the reader */
        while (ws_spot(F, top)->up >= 0 &&
               g_strcmp0(ws_node_name(ws_spot(F, ws_spot(F, top)->up)->node), index) != 0)
            top = ws_spot(F, top)->up;
        group = s->group;
        ws_fix_insert(F, fix, after_data(F, top, buffer), 1, arrive);
    }
}

void ws_fix_release_everywhere(WsFixer *F)
{
    if (ws_node_int(ws_design_root(F->design), WS_F_cluster, 1) < 2)
        return;
    g_autoptr(GPtrArray) done = g_ptr_array_new();
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        const char *barrier = step->kind == WS_STEP_ARRIVE ? ws_step_barrier(step) : NULL;
        const WsNode *b = ws_object_named(F->design, WS_F_barriers, barrier);
        if (!b || g_strcmp0(ws_node_text(b, WS_F_kind), "named") == 0 ||
            g_ptr_array_find(done, b, NULL))
            continue;
        g_ptr_array_add(done, (gpointer)b);
        WsFix *fix =
            ws_fixer_add(F, "Release %s in all CTAs of the cluster, by all of them", barrier);
        for (gint k = i; k < (gint)F->spot->len; k++) {
            const WsNode *other = ws_spot(F, k)->node;
            if (other->kind != WS_STEP_ARRIVE || g_strcmp0(ws_step_barrier(other), barrier) != 0)
                continue;
            ws_fix_set(F, fix, other, WS_F_cta, "\"all\"");
            g_autofree char *when = ws_field_json(other, WS_F_when);
            if (when && strstr(when, "cta"))
                ws_fix_unset(F, fix, other, WS_F_when);
        }
        if (ws_node_has(b, WS_F_arrivals))
            ws_fix_unset(F, fix, b, WS_F_arrivals);
    }
}

/* --- rounds and depths ------------------------------------------------------------------------ */
/* Loops of a name count alike; of two counts the simpler one is likelier. */
void ws_fix_same_rounds(WsFixer *F)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len; i++)
        for (gint k = 0; k < (gint)F->spot->len && n < 2 * MOST; k++) {
            const WsSpot *a = ws_spot(F, i), *b = ws_spot(F, k);
            g_autofree char *x =
                a->node->kind == WS_STEP_FOR ? ws_field_json(a->node, WS_F_count) : NULL;
            g_autofree char *y =
                b->node->kind == WS_STEP_FOR ? ws_field_json(b->node, WS_F_count) : NULL;
            if (!x || !y || a->group == b->group || strcmp(x, y) == 0 ||
                g_strcmp0(ws_node_name(a->node), ws_node_name(b->node)) != 0)
                continue;
            WsFix *fix = ws_fixer_add(F, "Let the loop %s of %s make %s rounds, as %s does",
                                      ws_node_name(a->node), ws_node_name(a->group), y,
                                      ws_node_name(b->group));
            fix->cost += strlen(y) > strlen(x) ? 1 : 0;
            ws_fix_set(F, fix, a->node, WS_F_count, y);
            n++;
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
            char *depth = ws_field_json(ws_node_child(root, of[i].list, k), of[i].field);
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
            WsFix *fix = ws_fixer_add(F, "Give %s %s %s, as the rest of the ring has",
                                      ws_node_name(object), depth, buffer ? "stages" : "slots");
            fix->cost = odd ? 16 : fix->cost + (*own ? 16 : 6) + (buffer ? 2 : 0);
            fix->safe = odd || (!buffer && !*own);
            ws_fix_set(F, fix, object, buffer ? WS_F_stages : WS_F_slots, depth);
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
            g_autofree char *less = g_strdup_printf("%" G_GINT64_FORMAT, ahead - 1);
            WsFix *fix = ws_fixer_add(F, "Run %s %s rounds ahead only", name, less);
            ws_fix_set(F, fix, step, WS_F_ahead, less);
        }
        WsFix *fix = ws_fixer_add(F, "Run %s in its own round", name);
        ws_fix_unset(F, fix, step, WS_F_ahead);
    }
}
