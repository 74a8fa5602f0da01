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

static gboolean group_has(const WsFixer *F, const WsNode *group, WsNodeKind kind,
                          const char *barrier)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (s->group == group && s->node->kind == kind &&
            !ws_node_bool(s->node, WS_F_muted, FALSE) &&
            g_strcmp0(ws_step_barrier(s->node), barrier) == 0)
            return TRUE;
    }
    return FALSE;
}

static char *with_use(const char *step, const char *ref, const char *use, const char *more)
{
    return g_strdup_printf("{ \"%s\": %s%s%s%s }", step, ref, use ? ", \"use\": " : "",
                           use ? use : "", more);
}

/* A reader of the buffer in a group that does not wait for its loads: the wait before it. */
static void await(WsFixer *F, gint load, gint reader)
{
    const WsNode *l = ws_spot(F, load)->node, *r = ws_spot(F, reader)->node;
    g_autofree char *signal = ws_field_json(l, WS_F_signal), *use = ws_step_use(r);
    if (!signal)
        return;
    char *at = strchr(signal, '@');
    if (at) /* the reader's use counts, not the load's */
        strcpy(at > signal && at[-1] == ' ' ? at - 1 : at, "\"");
    g_autofree char *json = with_use("wait", signal, use, ""), *name = ws_step_name(r);
    WsFix *fix = ws_fixer_add(F, "Wait for %s before %s", ws_step_barrier(l), name);
    ws_fix_insert(F, fix, reader, 0, json);
}

void ws_fix_wait_for_data(WsFixer *F)
{
    guint n = 0;
    for (gint l = 0; l < (gint)F->spot->len; l++) {
        const WsNode *load = ws_spot(F, l)->node;
        const char *barrier = ws_step_barrier(load), *buffer = ref_name(load, WS_F_into);
        if (!barrier || !buffer || !ws_node_has(load, WS_F_signal))
            continue;
        const WsNode *group = NULL; /* the first reader of each group */
        for (gint r = 0; r < (gint)F->spot->len && n < MOST; r++) {
            const WsSpot *s = ws_spot(F, r);
            if (!reads(s->node, buffer) || s->group == group ||
                group_has(F, s->group, WS_STEP_WAIT, barrier))
                continue;
            group = s->group;
            await(F, l, r);
            n++;
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
            const WsNode *b = ws_object_named(F->design, WS_F_barriers, barrier);
            if (!b || r->group == w->group || g_strcmp0(ws_node_text(b, WS_F_kind), "named") == 0 ||
                group_has(F, w->group, WS_STEP_WAIT, barrier))
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
    WsFix *fix = ws_fixer_add(F, "Retire the mma before %s", name);
    ws_fix_insert(F, fix, arrive, 0, "{ \"mma_wait\": 0 }");
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

/* The last step of its list that has to do with the same bytes as step i, then what retires it. */
static gint after_data(const WsFixer *F, gint i, const char *buffer)
{
    gint last = i;
    for (gint k = i; k >= 0; k = ws_spot_next(F, k, 1)) {
        const WsNode *s = ws_spot(F, k)->node;
        if (retires(s->kind) || reads(s, buffer) || writes(s, buffer))
            last = k;
    }
    return last;
}

static gboolean touched_beside(const WsFixer *F, gint at, const char *buffer)
{
    const WsSpot *s = ws_spot(F, at);
    for (gint k = 0; k < (gint)F->spot->len; k++) {
        const WsSpot *x = ws_spot(F, k);
        if (x->group == s->group && (reads(x->node, buffer) || writes(x->node, buffer)))
            return TRUE;
    }
    return FALSE;
}

/* The arrival that the finding's wait misses: in a group that touches the same bytes. */
static void release_in(WsFixer *F, const WsNode *barrier, gint i, const char *buffer)
{
    const char *name = ws_node_name(barrier);
    const gint after = after_data(F, i, buffer);
    const WsNode *step = ws_spot(F, i)->node;
    g_autofree char *use = ws_step_use(step), *what = ws_step_name(ws_spot(F, after)->node);
    const gboolean lanes = step->kind == WS_STEP_READ || step->kind == WS_STEP_WRITE;
    g_autofree char *ref = g_strdup_printf("\"%s\"", name);
    g_autofree char *json = with_use("arrive", ref, use, lanes ? ", \"by\": \"warp\"" : "");
    WsFix *fix = ws_fixer_add(F, "Arrive on %s after %s", name, what);
    ws_fix_insert(F, fix, after, 1, json);
}

void ws_fix_release(WsFixer *F)
{
    const WsNode *b = F->object;
    const WsNode *root = ws_design_root(F->design);
    if (!b || b->kind != WS_NODE_BARRIER || F->at < 0 || ws_node_has(b, WS_F_array) ||
        g_strcmp0(ws_node_text(b, WS_F_kind), "named") == 0)
        return;
    for (guint k = 0; k < ws_node_n_children(root, WS_F_buffers); k++) {
        const char *buffer = ws_node_name(ws_node_child(root, WS_F_buffers, k));
        const WsNode *group = ws_spot(F, F->at)->group;
        if (!touched_beside(F, F->at, buffer))
            continue;
        for (gint i = 0; i < (gint)F->spot->len; i++) {
            const WsSpot *s = ws_spot(F, i);
            if (s->group == group || !(reads(s->node, buffer) || writes(s->node, buffer)) ||
                group_has(F, s->group, WS_STEP_ARRIVE, ws_node_name(b)))
                continue;
            group = s->group;
            release_in(F, b, i, buffer);
        }
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
void ws_fix_same_rounds(WsFixer *F)
{
    guint n = 0;
    const gint mine = F->at >= 0 ? ws_spot_loop(F, F->at) : -1;
    if (mine < 0)
        return;
    const WsNode *loop = ws_spot(F, mine)->node;
    g_autofree char *count = ws_field_json(loop, WS_F_count);
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const WsSpot *s = ws_spot(F, i);
        g_autofree char *other =
            s->node->kind == WS_STEP_FOR ? ws_field_json(s->node, WS_F_count) : NULL;
        if (!other || s->group == ws_spot(F, mine)->group || strcmp(count, other) == 0)
            continue;
        WsFix *fix =
            ws_fixer_add(F, "Let the loop %s of %s make %s rounds, as %s does", ws_node_name(loop),
                         ws_node_name(ws_spot(F, mine)->group), other, ws_node_name(s->group));
        ws_fix_set(F, fix, loop, WS_F_count, other);
        fix = ws_fixer_add(F, "Let the loop %s of %s make %s rounds, as %s does",
                           ws_node_name(s->node), ws_node_name(s->group), count,
                           ws_node_name(ws_spot(F, mine)->group));
        ws_fix_set(F, fix, s->node, WS_F_count, count);
        n++;
    }
}

void ws_fix_same_depth(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    guint n = 0;
    for (guint b = 0; b < ws_node_n_children(root, WS_F_barriers); b++)
        for (guint k = 0; k < ws_node_n_children(root, WS_F_buffers) && n < MOST; k++) {
            const WsNode *barrier = ws_node_child(root, WS_F_barriers, b);
            const WsNode *buffer = ws_node_child(root, WS_F_buffers, k);
            g_autofree char *slots = ws_field_json(barrier, WS_F_slots);
            g_autofree char *stages = ws_field_json(buffer, WS_F_stages);
            if (!slots || !stages || strcmp(slots, stages) == 0)
                continue;
            WsFix *fix = ws_fixer_add(F, "Give %s as many slots as %s has stages",
                                      ws_node_name(barrier), ws_node_name(buffer));
            ws_fix_set(F, fix, barrier, WS_F_slots, stages);
            fix = ws_fixer_add(F, "Give %s as many stages as %s has slots", ws_node_name(buffer),
                               ws_node_name(barrier));
            ws_fix_set(F, fix, buffer, WS_F_stages, slots);
            n++;
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
