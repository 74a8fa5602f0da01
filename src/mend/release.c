/* Quick-fixes of releases: arrivals that come too early, that are missing, that do not reach
 * everybody. */
#include "base/phrase.h"
#include "mend/fixer.h"

enum { MOST = 12, ANOTHER = 8, STILL_READ = 8, CHANGED_PLACES = 8 };

/* --- releases --------------------------------------------------------------------------------- */
/* A step of the finding is a product or a transfer, which something has to wait for. */
static gboolean about_products(const WsFixer *F)
{
    const gint of[] = { F->at, F->other };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++)
        if (of[i] >= 0 && ws_spot(F, of[i])->node->kind != WS_STEP_READ &&
            ws_spot(F, of[i])->node->kind != WS_STEP_WRITE)
            return TRUE;
    return of[0] < 0;
}

static void later(WsFixer *F, gint arrive)
{
    const WsNode *step = ws_spot(F, arrive)->node;
    g_autofree char *name = ws_step_name(step);
    gint last = -1;
    for (gint k = ws_spot_next(F, arrive, 1); k >= 0; k = ws_spot_next(F, k, 1)) {
        const WsNode *s = ws_spot(F, k)->node;
        if (ws_step_retires(s->kind)) {
            g_autofree char *wait = ws_step_name(s);
            WsFix *fix = ws_fixer_add(F, "Move %s after %s", name, wait);
            if (k == ws_spot_next(F, arrive, 1) && ws_node_int(s, WS_F_keyword, 1) == 0)
                fix->cost -= CHANGED_PLACES;
            else if (!about_products(F))
                fix->cost += 2; /* right behind what threads do is nearer */
            ws_fix_move(F, fix, arrive, k, 1);
        }
        if (s->kind == WS_STEP_READ || s->kind == WS_STEP_MMA || s->kind == WS_STEP_WRITE ||
            s->kind == WS_STEP_TRANSPOSE || s->kind == WS_STEP_STORE || s->kind == WS_STEP_TAKE)
            last = k;
    }
    /* right behind the step that the finding names */
    const gint named[] = { F->other, F->at };
    for (guint i = 0; i < G_N_ELEMENTS(named); i++) {
        const gint k = named[i];
        if (k <= arrive || ws_spot(F, k)->owner != ws_spot(F, arrive)->owner ||
            ws_spot(F, k)->field != ws_spot(F, arrive)->field || !ws_step_is(F, k, WS_STEP_READ))
            continue;
        g_autofree char *reader = ws_step_name(ws_spot(F, k)->node);
        WsFix *fix = ws_fixer_add(F, "Move %s after %s", name, reader);
        fix->cost -= 1;
        ws_fix_move(F, fix, arrive, k, 1);
    }
    if (last >= 0) {
        g_autofree char *reader = ws_step_name(ws_spot(F, last)->node);
        WsFix *fix = ws_fixer_add(F, "Move %s after %s", name, reader);
        ws_fix_move(F, fix, arrive, last, 1);
    }
    for (gint k = ws_spot_next(F, arrive, -1); k >= 0; k = ws_spot_next(F, k, -1))
        if (ws_step_retires(ws_spot(F, k)->node->kind) &&
            ws_node_int(ws_spot(F, k)->node, WS_F_keyword, 0) > 0) {
            g_autofree char *wait = ws_step_name(ws_spot(F, k)->node);
            WsFix *fix = ws_fixer_add(F, "Let %s leave one group less in flight", wait);
            ws_fix_set(fix, ws_spot(F, k)->node, WS_F_keyword,
                       ws_json_int(ws_node_int(ws_spot(F, k)->node, WS_F_keyword, 1) - 1));
        }
    for (gint left = 1; left >= 0; left--) { /* what leaves one in flight keeps the overlap */
        WsFix *fix = ws_fixer_add(F, "Retire the mma before %s: `mma_wait` %d", name, left);
        fix->cost += left ? 2 : 3;
        ws_fix_insert(F, fix, arrive, 0, ws_plain(WS_STEP_MMA_WAIT, left ? "1" : "0"));
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

/* Every arrival on the barrier is made by every warp, or by every thread. */
static void by_lanes(WsFixer *F, gint i)
{
    static const char *const by[] = { "warp", "all" };
    const WsNode *step = ws_spot(F, i)->node;
    const gboolean behind =
        F->other >= 0 && i > F->other && ws_spot(F, i)->owner == ws_spot(F, F->other)->owner;
    for (guint k = 0; k < G_N_ELEMENTS(by); k++) {
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Let %s of the group %s",
                                  k ? WS_WORD("every thread") : WS_WORD("every warp"), name);
        fix->cost += behind ? 0 : 3;
        for (gint j = 0; j < (gint)F->spot->len; j++) {
            const WsNode *other = ws_spot(F, j)->node;
            if (other->kind == WS_STEP_ARRIVE &&
                g_strcmp0(ws_step_barrier(other), ws_step_barrier(step)) == 0)
                ws_fix_set(fix, other, WS_F_by, ws_json_text(by[k]));
        }
    }
}

void ws_fix_release_by_warp(WsFixer *F)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    for (gint n = 0; n < 2 * (gint)F->spot->len; n++) { /* those behind the finding's step first */
        const gint i = n % (gint)F->spot->len;
        const WsNode *step = ws_spot(F, i)->node;
        const char *name = step->kind == WS_STEP_ARRIVE ? ws_step_barrier(step) : NULL;
        const WsNode *b = ws_object_named(F->design, WS_F_barriers, name);
        if (!b || ws_node_has(step, WS_F_by) || (n < (gint)F->spot->len && i < F->other) ||
            ws_is_named(b) || g_hash_table_contains(done, name))
            continue;
        g_hash_table_add(done, (gpointer)name);
        by_lanes(F, i);
    }
}

/* A group arrives on a barrier in one way here and in another way there: as where it does so
 * otherwise. A completion takes the same number from everywhere. */
void ws_fix_same_lanes(WsFixer *F)
{
    static const WsFieldId how[] = { WS_F_by, WS_F_cta };
    for (gint i = 0; i < (gint)F->spot->len; i++)
        for (gint k = 0; ws_step_is(F, i, WS_STEP_ARRIVE) && k < (gint)F->spot->len; k++) {
            const WsSpot *a = ws_spot(F, i), *b = ws_spot(F, k);
            const char *name = ws_step_barrier(a->node);
            if (b->node->kind != WS_STEP_ARRIVE || a->group != b->group || a->owner == b->owner ||
                g_strcmp0(name, ws_step_barrier(b->node)) != 0 || !ws_is_mbarrier(F, name))
                continue;
            for (guint f = 0; f < G_N_ELEMENTS(how); f++) {
                g_autofree char *x = ws_field_text(a->node, how[f]),
                                *y = ws_field_text(b->node, how[f]);
                if (g_strcmp0(x, y) == 0)
                    continue;
                g_autofree char *step = ws_step_name(a->node);
                WsFix *fix =
                    ws_fixer_add(F, "Let %s say %s %s, as elsewhere in %s", step,
                                 ws_field_name(how[f]), y ? y : "-", ws_node_name(a->group));
                fix->cost += y ? 0 : 1;
                ws_fix_set(fix, a->node, how[f], ws_json_of_field(b->node, how[f]));
            }
        }
}

/* The last step of its list that has to do with the same bytes as step i, then what retires or
 * fences it. */
static gint after_data(const WsFixer *F, gint i, const char *buffer)
{
    gint last = i;
    for (gint k = i; k >= 0; k = ws_spot_next(F, k, 1)) {
        const WsNode *s = ws_spot(F, k)->node;
        if (ws_step_retires(s->kind) || ws_step_reads(s, buffer) || ws_step_writes(s, buffer) ||
            (s->kind == WS_STEP_FENCE && last == ws_spot_next(F, k, -1)))
            last = k;
    }
    return last;
}

static gboolean touched_by(const WsFixer *F, const WsNode *group, const char *buffer)
{
    for (gint k = 0; k < (gint)F->spot->len; k++) {
        const WsSpot *x = ws_spot(F, k);
        if (x->group == group &&
            (ws_step_reads(x->node, buffer) || ws_step_writes(x->node, buffer)))
            return TRUE;
    }
    return FALSE;
}

/* Does step i, or one inside it, touch the buffer? */
static gboolean touches_inside(const WsFixer *F, gint i, const char *buffer)
{
    for (gint k = i; k < (gint)F->spot->len; k++)
        if (ws_spot_inside(F, k, i) && (ws_step_reads(ws_spot(F, k)->node, buffer) ||
                                        ws_step_writes(ws_spot(F, k)->node, buffer)))
            return TRUE;
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
    gint first = i; /* behind what retires the last reader, not behind all that retires */
    for (gint k = i; k >= 0; k = ws_spot_next(F, k, 1))
        if (touches_inside(F, k, buffer))
            first = k;
    const gint reader = first;
    for (gint k = ws_spot_next(F, first, 1); k >= 0; k = ws_spot_next(F, k, 1))
        if (ws_step_retires(ws_spot(F, k)->node->kind)) {
            first = k;
            break;
        }
    for (guint all = cluster ? 1 : 0;; all--) {
        WsHanding how = { .by = lanes ? "warp" : NULL, .cta = all ? "all" : NULL };
        g_autofree char *near = ws_step_name(ws_spot(F, first)->node);
        WsFix *fix = ws_fixer_add(F, "Arrive on %s after %s", name, near);
        fix->cost -= 1;
        ws_fix_insert(F, fix, first, 1, ws_hand(WS_STEP_ARRIVE, name, use, how));
        if (reader != first && ws_step_is(F, reader, WS_STEP_FOR)) { /* it may retire all itself */
            near = (g_free(near), ws_step_name(ws_spot(F, reader)->node));
            fix = ws_fixer_add(F, "Arrive on %s after %s", name, near);
            fix->cost -= 2;
            ws_fix_insert(F, fix, reader, 1, ws_hand(WS_STEP_ARRIVE, name, use, how));
        }
        fix = ws_fixer_add(F, "Arrive on %s after %s", name, what);
        ws_fix_insert(F, fix, after, 1, ws_hand(WS_STEP_ARRIVE, name, use, how));
        for (gint up = ws_spot(F, i)->up; up >= 0 && ws_step_is(F, up, WS_STEP_IF);
             up = ws_spot(F, up)->up) {
            fix = ws_fixer_add(F, "Arrive on %s after the choice around %s", name, what);
            ws_fix_insert(F, fix, up, 1, ws_hand(WS_STEP_ARRIVE, name, use, how));
            if (lanes)
                continue;
            /* where nothing is waited for between, every warp says that it has come so far */
            fix = ws_fixer_add(F, "Let every warp arrive on %s after the choice around %s", name,
                               what);
            fix->cost += 1;
            ws_fix_insert(
                F, fix, up, 1,
                ws_hand(WS_STEP_ARRIVE, name, use, (WsHanding){ .by = "warp", .cta = how.cta }));
        }
        if (use && !g_ascii_isdigit(*use) && loop >= 0) {
            g_autofree char *lag = g_strdup_printf("%s - 1", use),
                            *round = ws_first_round(F, loop, ">");
            how.when = round;
            fix = ws_fixer_add(F, "Arrive on %s after %s, for the round before", name, what);
            ws_fix_insert(F, fix, after, 1, ws_hand(WS_STEP_ARRIVE, name, lag, how));
        }
        if (all == 0)
            return;
    }
}

/* Is the buffer filled behind a wait for the barrier, before the next wait? */
static gboolean filled_behind(const WsFixer *F, const char *barrier, const char *buffer)
{
    for (gint w = 0; w < (gint)F->spot->len; w++) {
        if (!ws_is_on(F, w, WS_STEP_WAIT, barrier))
            continue;
        for (gint l = ws_spot_next(F, w, 1); l >= 0 && !ws_step_is(F, l, WS_STEP_WAIT);
             l = ws_spot_next(F, l, 1))
            if (ws_step_writes(ws_spot(F, l)->node, buffer))
                return TRUE;
    }
    return FALSE;
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
                !(ws_step_reads(s->node, buffer) || ws_step_writes(s->node, buffer)) ||
                ws_has_beside(F, i, WS_STEP_ARRIVE, ws_node_name(b)))
                continue;
            owner = s->owner;
            const guint from = F->out->len;
            release_in(F, b, i, buffer);
            for (guint n = from; n < F->out->len && !filled_behind(F, ws_node_name(b), buffer); n++)
                ((WsFix *)F->out->pdata[n])->cost += ANOTHER;
        }
    }
}

/* Does step i, or one inside it, read the buffer? */
static gboolean reads_inside(const WsFixer *F, gint i, const char *buffer)
{
    for (gint k = i; k < (gint)F->spot->len; k++)
        if (ws_spot_inside(F, k, i) && ws_step_reads(ws_spot(F, k)->node, buffer))
            return TRUE;
    return FALSE;
}

/* Does a step behind step i, in its list or in one around it up to the loop over tiles, read the
 * buffer? Then a release behind step i gives back what is still used. */
static gboolean read_later(const WsFixer *F, gint i, const char *buffer)
{
    for (; i >= 0; i = ws_spot(F, i)->up) {
        for (gint k = ws_spot_next(F, i, 1); k >= 0; k = ws_spot_next(F, k, 1))
            if (reads_inside(F, k, buffer))
                return TRUE;
        const gint up = ws_spot(F, i)->up;
        if (up >= 0 && ws_node_has(ws_spot(F, up)->node, WS_F_over))
            return FALSE;
    }
    return FALSE;
}

/* `by` of the other arrivals on the barrier; NULL if they have none. Caller frees. */
static char *by_of_others(const WsFixer *F, const char *barrier)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_is_on(F, i, WS_STEP_ARRIVE, barrier) && ws_node_has(ws_spot(F, i)->node, WS_F_by))
            return ws_field_text(ws_spot(F, i)->node, WS_F_by);
    return NULL;
}

/* Do threads of the group read the buffer themselves, not by a product or transfer? */
static gboolean lanes_read(const WsFixer *F, const WsNode *group, const char *buffer)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_spot(F, i)->group == group && ws_step_is(F, i, WS_STEP_READ) &&
            ws_step_reads(ws_spot(F, i)->node, buffer))
            return TRUE;
    return FALSE;
}

/* What wait w is for: the arrival with its very use, by those who read what is filled behind it,
 * where they are done: behind a step that retires, or behind the last reader. */
static void partner(WsFixer *F, gint w, const char *barrier)
{
    g_autofree char *use = ws_field_text(ws_spot(F, w)->node, WS_F_use),
                    *ref = ws_field_text(ws_spot(F, w)->node, WS_F_keyword);
    g_autofree char *others = by_of_others(F, barrier);
    for (gint l = ws_spot_next(F, w, 1); use && l >= 0; l = ws_spot_next(F, l, 1)) {
        const char *buffer = ws_step_ref(ws_spot(F, l)->node, WS_F_into);
        if (ws_step_is(F, l, WS_STEP_WAIT))
            return;
        guint n = 0;
        gboolean after = FALSE;
        const WsNode *group = NULL;
        for (gint i = 0; buffer && i < (gint)F->spot->len; i++) {
            const WsSpot *s = ws_spot(F, i);
            if (s->group != group)
                group = s->group, n = 0, after = FALSE;
            if (n >= MOST)
                continue;
            const gboolean reader = s->group != ws_spot(F, w)->group && reads_inside(F, i, buffer);
            after |= reader;
            if (!reader &&
                !(after && ws_step_retires(s->node->kind) && s->group != ws_spot(F, w)->group))
                continue;
            g_autofree char *name = ws_step_name(s->node);
            const gboolean lanes = lanes_read(F, s->group, buffer);
            for (guint warps = 0; warps < 2; warps++) {
                /* a leader may say so for lanes only behind what all of them wait for */
                const WsHanding how = { .by = !warps ? NULL : others ? others : "warp" };
                WsFix *fix = ws_fixer_add(F, "Arrive on %s after %s, for use %s%s", barrier, name,
                                          use, warps ? WS_WORD(", by every warp") : "");
                fix->cost += 1 + (ws_step_retires(s->node->kind) ? 0 : 1) + MIN(n, 4) +
                             (others || lanes ? 1 - warps : 2 * warps) +
                             (read_later(F, i, buffer) ? STILL_READ : 0);
                ws_fix_insert(F, fix, i, 1, ws_hand(WS_STEP_ARRIVE, ref, use, how));
            }
            n++;
        }
    }
}

void ws_fix_release(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint k = 0; k < ws_node_n_children(root, WS_F_barriers); k++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, k);
        const WsNode *group = NULL;
        const gboolean array = ws_node_has(b, WS_F_array);
        if (!ws_is_mbarrier(F, ws_node_name(b)))
            continue;
        for (gint i = 0; i < (gint)F->spot->len; i++) {
            if (!ws_is_on(F, i, WS_STEP_WAIT, ws_node_name(b)) || (array && i != F->at))
                continue;
            if (!group && !array)
                release_of(F, b, ws_spot(F, i)->group);
            group = ws_spot(F, i)->group;
            partner(F, i, ws_node_name(b));
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
    const char *buffer = ws_step_ref(l->node, WS_F_into);
    const WsNode *b = ws_object_named(F->design, WS_F_buffers, buffer);
    const gint loop = l->up;
    if (!b || ws_node_has(b, WS_F_array) || !ws_step_is(F, loop, WS_STEP_FOR))
        return;
    const char *index = ws_node_name(ws_spot(F, loop)->node);
    g_autofree char *name = g_strdup_printf("%s_free", buffer),
                    *stages = ws_field_text(b, WS_F_stages), *use = ws_step_use(l->node);
    if (ws_object_named(F->design, WS_F_barriers, name))
        return;
    if (!use)
        use = g_strdup_printf("%s.total", index);
    WsFix *fix =
        ws_fixer_add(F, "Add %s: readers of %s arrive on it, the load waits for it", name, buffer);
    ws_fix_append(fix, root, WS_F_barriers,
                  WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(name) },
                          { WS_F_slots, ws_json_expr(stages) },
                          { WS_F_init, ws_json_text("ready") }));
    const WsNode *group = l->group;
    for (gint i = (gint)F->spot->len - 1; i >= 0; i--) { /* from the last: paths before it stand */
        const WsSpot *s = ws_spot(F, i);
        if (i == F->at)
            ws_fix_insert(F, fix, ws_first_writer(F, i), 0,
                          ws_hand(WS_STEP_WAIT, name, use, (WsHanding){ 0 }));
        if (s->group == group || !ws_step_reads(s->node, buffer))
            continue;
        gint top = i; /* the step of the loop of the same name that holds the reader */
        while (ws_spot(F, top)->up >= 0 &&
               g_strcmp0(ws_node_name(ws_spot(F, ws_spot(F, top)->up)->node), index) != 0)
            top = ws_spot(F, top)->up;
        group = s->group;
        ws_fix_insert(F, fix, after_data(F, top, buffer), 1,
                      ws_hand(WS_STEP_ARRIVE, name, use, (WsHanding){ 0 }));
    }
}

/* The arrival right before says the same to other CTAs: where that one reaches all, this one has
 * nothing left to say. */
static gboolean is_covered(const WsFixer *F, gint i)
{
    const gint before = ws_spot_next(F, i, -1);
    if (!ws_step_is(F, before, WS_STEP_ARRIVE))
        return FALSE;
    static const WsFieldId same[] = { WS_F_keyword, WS_F_use,   WS_F_slot, WS_F_phase,
                                      WS_F_by,      WS_F_count, WS_F_when };
    for (guint k = 0; k < G_N_ELEMENTS(same); k++) {
        g_autofree char *x = ws_field_text(ws_spot(F, before)->node, same[k]),
                        *y = ws_field_text(ws_spot(F, i)->node, same[k]);
        if (g_strcmp0(x, y) != 0)
            return FALSE;
    }
    return TRUE;
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
        if (!b || ws_is_named(b) || g_ptr_array_find(done, b, NULL))
            continue;
        g_ptr_array_add(done, (gpointer)b);
        WsFix *fix =
            ws_fixer_add(F, "Release %s in all CTAs of the cluster, by all of them", barrier);
        for (gint k = i; k < (gint)F->spot->len; k++) {
            const WsNode *other = ws_spot(F, k)->node;
            if (other->kind != WS_STEP_ARRIVE || g_strcmp0(ws_step_barrier(other), barrier) != 0 ||
                is_covered(F, k))
                continue;
            ws_fix_set(fix, other, WS_F_cta, ws_json_text("all"));
            g_autofree char *when = ws_field_text(other, WS_F_when);
            if (when && strstr(when, "cta"))
                ws_fix_set(fix, other, WS_F_when, NULL);
        }
        if (ws_node_has(b, WS_F_arrivals))
            ws_fix_set(fix, b, WS_F_arrivals, NULL);
        for (gint k = (gint)F->spot->len - 1; k >= 0;
             k--) /* from the last: paths before it stand */
            if (ws_step_is(F, k, WS_STEP_ARRIVE) && is_covered(F, k) &&
                g_strcmp0(ws_step_barrier(ws_spot(F, k)->node), barrier) == 0)
                ws_fix_remove(F, fix, k);
    }
}
