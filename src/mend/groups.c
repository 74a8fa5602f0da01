/* Quick-fixes of what runs on: waits that retire groups, syncs of an agent, fences. */
#include "base/phrase.h"
#include "mend/fixer.h"
#include "model/finding.h"

/* Where the waits that retire groups of a kind stand, and how to write one. */
typedef struct {
    WsNodeKind wait, issue;
    const char *what;
} Retire;

static const Retire of_mma = { WS_STEP_MMA_WAIT, WS_STEP_MMA, "mma" };
static const Retire of_store = { WS_STEP_STORE_WAIT, WS_STEP_STORE, "store" };
static const Retire of_load = { WS_STEP_LOAD_WAIT, WS_STEP_GATHER, "gather" };

enum { DEEPER = 14, UNHEARD = 13, AS_DRAWN = 6, ELSEWHERE = 4 };

static gint issuer(const WsFixer *F, const Retire *r)
{
    if (ws_step_is(F, F->other, r->issue))
        return F->other;
    return ws_step_is(F, F->at, r->issue) ? F->at : -1;
}

/* Waits of the same group let fewer stay in flight: the last one before the user first. */
static void fewer(WsFixer *F, const Retire *r, const WsNode *group, gint user)
{
    guint far = 6;
    for (gint i = (gint)F->spot->len - 1; i >= 0; i--) {
        const WsSpot *s = ws_spot(F, i);
        const gint64 n = s->node->kind == r->wait ? ws_node_int(s->node, WS_F_keyword, 0) : 0;
        if (s->group != group || n <= 0)
            continue;
        /* what is left in flight behind a loop is no matter of the rounds in it; and where all is
         * waited for, the other lanes must hear of it */
        const gboolean deeper =
            s->up >= 0 && user >= 0 && user < (gint)F->spot->len && !ws_spot_inside(F, user, s->up);
        const gboolean unheard =
            r != &of_mma && !ws_step_is(F, ws_spot_next(F, i, 1), WS_STEP_SYNC);
        const guint more = (i > user ? 8 : 6 - far) + (deeper ? DEEPER : 0) + (unheard ? 6 : 0);
        far -= i < user && far > 0 ? 2 : 0;
        for (gint64 to = n - 1; to >= 0; to = to > 0 ? 0 : -1) {
            g_autofree char *less = g_strdup_printf("%" G_GINT64_FORMAT, to);
            WsFix *fix =
                ws_fixer_add(F, "Let `%s` leave %s in flight instead of %" G_GINT64_FORMAT,
                             ws_node_kind_keyword(r->wait), to ? less : WS_WORD("nothing"), n);
            fix->cost = 14 + more + (to ? 0 : 1);
            ws_fix_set(fix, s->node, WS_F_keyword, ws_json_int(to));
        }
    }
}

/* Behind the loops that hold the step, and at the end of the body. What is in flight when its agent
 * ends belongs to the end. */
static void at_the_end(WsFixer *F, const Retire *r, gint issue)
{
    const guint less = F->finding->rule == WS_RULE_P_EXIT ? 6 : 0;
    gint top = issue;
    while (ws_spot(F, top)->up >= 0 &&
           ws_node_has(ws_spot(F, ws_spot(F, top)->up)->node, WS_F_count))
        top = ws_spot(F, top)->up;
    const WsSpot *s = ws_spot(F, top);
    const char *keyword = ws_node_kind_keyword(r->wait);
    WsFix *end = ws_fixer_add(F, "`%s` 0 at the end of %s", keyword, ws_node_name(s->group));
    ws_fix_append(end, s->group, WS_F_body, ws_plain(r->wait, "0"));
    end->cost -= less;
    if (top != issue) {
        WsFix *fix = ws_fixer_add(F, "`%s` 0 after the loop", keyword);
        ws_fix_insert(F, fix, top, 1, ws_plain(r->wait, "0"));
        fix->cost = end->cost + 1;
    }
    WsFix *list = ws_fixer_add(F, "`%s` 0 at the end of the list", keyword);
    ws_fix_append(list, s->owner, s->field, ws_plain(r->wait, "0"));
    list->cost = end->cost + 2;
}

/* An existing wait that stands too late or too early: beside the step. */
static void move_wait(WsFixer *F, const Retire *r, gint before)
{
    for (gint k = 0; before >= 0 && k < (gint)F->spot->len; k++) {
        const WsSpot *s = ws_spot(F, k);
        if (s->node->kind != r->wait || s->owner != ws_spot(F, before)->owner ||
            s->field != ws_spot(F, before)->field)
            continue;
        g_autofree char *name = ws_step_name(ws_spot(F, before)->node);
        WsFix *fix = ws_fixer_add(F, "Move `%s` before %s", ws_node_kind_keyword(r->wait), name);
        ws_fix_move(F, fix, k, before, 0);
    }
}

/* A new wait at a place; one that leaves a group in flight keeps the overlap, and is tried first. A
 * list that has such a wait already hardly wants another one. */
static void wait_at(WsFixer *F, const Retire *r, gint place, gint by, gboolean sync,
                    const char *where)
{
    for (gint left = 1; left >= 0; left--) {
        WsFix *fix = ws_fixer_add(F, "`%s` %d%s %s", ws_node_kind_keyword(r->wait), left,
                                  sync ? WS_WORD(" and a sync of the group") : "", where);
        fix->cost += (ws_in_list(F, place, r->wait, NULL) ? 8 : 0) + (left ? 0 : 1) + (by ? 1 : 0) +
                     (sync ? 2 : 0);
        if (sync)
            ws_fix_insert(F, fix, place, by, ws_plain(WS_STEP_SYNC, "group"));
        ws_fix_insert(F, fix, place, by, ws_plain(r->wait, left ? "1" : "0"));
    }
}

static void retire(WsFixer *F, const Retire *r)
{
    const gint issue = issuer(F, r);
    if (issue < 0)
        return;
    const gint user = F->at == issue ? F->other : F->at;
    if (user >= 0 && ws_spot(F, user)->group == ws_spot(F, issue)->group) {
        fewer(F, r, ws_spot(F, issue)->group, user);
        const gint outside = ws_spot_outside(F, user, issue);
        const gint place[] = { outside, user };
        for (guint i = 0; i < (outside == user ? 1 : 2); i++) {
            gint first = place[i]; /* before the syncs that stand before the user */
            while (ws_step_is(F, ws_spot_next(F, first, -1), WS_STEP_SYNC))
                first = ws_spot_next(F, first, -1);
            g_autofree char *name = ws_step_name(ws_spot(F, first)->node),
                            *where = g_strdup_printf("before %s", name),
                            *own = ws_step_name(ws_spot(F, place[i])->node),
                            *here = g_strdup_printf("before %s", own);
            wait_at(F, r, first, 0, FALSE, where);
            if (r != &of_mma)
                wait_at(F, r, place[i], 0, TRUE, here);
        }
        /* what is told of in the user's list must be over, too */
        for (gint k = ws_spot_next(F, user, -1); k >= 0; k = ws_spot_next(F, k, -1)) {
            if (!ws_step_is(F, k, WS_STEP_ARRIVE))
                continue;
            g_autofree char *name = ws_step_name(ws_spot(F, k)->node),
                            *where = g_strdup_printf("before %s", name);
            wait_at(F, r, k, 0, FALSE, where);
        }
        move_wait(F, r, user);
    }
    g_autofree char *behind = g_strdup_printf("directly after the %s", r->what),
                    *far = g_strdup_printf("after the last %s of the list", r->what);
    wait_at(F, r, issue, 1, FALSE, behind);
    gint last = issue;
    for (gint k = issue; k >= 0; k = ws_spot_next(F, k, 1))
        if (ws_step_is(F, k, r->issue))
            last = k;
    if (last != issue)
        wait_at(F, r, last, 1, FALSE, far);
    at_the_end(F, r, issue);
    if (F->finding->rule == WS_RULE_P_EXIT)
        fewer(F, r, ws_spot(F, issue)->group, (gint)F->spot->len);
}

void ws_fix_mma_wait(WsFixer *F)
{
    retire(F, &of_mma);
}

void ws_fix_store_wait(WsFixer *F)
{
    retire(F, &of_store);
}

void ws_fix_load_wait(WsFixer *F)
{
    retire(F, &of_load);
}

/* --- sync ------------------------------------------------------------------------------------- */
/* Are there arrivals of several lanes, and is there no sync of the group? Then lanes are told of
 * here by their own arrivals. */
static gboolean lanes_arrive(const WsFixer *F, const WsNode *group)
{
    if (ws_step_is(F, F->other, WS_STEP_TAKE)) /* which every warp does */
        return TRUE;
    gboolean by = FALSE;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        by |= s->node->kind == WS_STEP_ARRIVE && ws_node_has(s->node, WS_F_by);
        if (s->group == group && s->node->kind == WS_STEP_SYNC &&
            g_strcmp0(ws_step_barrier(s->node), "group") == 0)
            return FALSE;
    }
    return by;
}

void ws_fix_sync_group(WsFixer *F)
{
    const gint place[] = { F->at, F->other };
    for (guint i = 0; i < G_N_ELEMENTS(place); i++) {
        if (place[i] < 0)
            continue;
        g_autofree char *name = ws_step_name(ws_spot(F, place[i])->node);
        WsFix *fix =
            ws_fixer_add(F, "Sync the group %s %s", i ? WS_WORD("after") : WS_WORD("before"), name);
        fix->cost += lanes_arrive(F, ws_spot(F, place[i])->group) ? AS_DRAWN : 0;
        ws_fix_insert(F, fix, place[i], (gint)i, ws_plain(WS_STEP_SYNC, "group"));
    }
    /* Only the leader waits for stores: the other lanes hear of it by a sync. */
    for (gint k = F->at >= 0 ? ws_spot_next(F, F->at, -1) : -1; k >= 0; k = ws_spot_next(F, k, -1))
        if (ws_step_is(F, k, WS_STEP_STORE_WAIT) || ws_step_is(F, k, WS_STEP_LOAD_WAIT)) {
            g_autofree char *name = ws_step_name(ws_spot(F, k)->node);
            WsFix *fix = ws_fixer_add(F, "Sync the group after %s", name);
            fix->cost -= ws_step_is(F, ws_spot_next(F, k, 1), WS_STEP_SYNC) ? 4 : UNHEARD;
            ws_fix_insert(F, fix, k, 1, ws_plain(WS_STEP_SYNC, "group"));
        }
    /* What others did must be complete before one lane hands it over. */
    const WsNode *mine = F->at >= 0 ? ws_spot(F, F->at)->group : NULL,
                 *theirs = F->other >= 0 ? ws_spot(F, F->other)->group : mine;
    for (gint k = 0; k < (gint)F->spot->len; k++) {
        const WsSpot *s = ws_spot(F, k);
        if (s->node->kind != WS_STEP_ARRIVE || (s->group != mine && s->group != theirs))
            continue;
        g_autofree char *name = ws_step_name(s->node);
        WsFix *fix = ws_fixer_add(F, "Sync the group before %s", name);
        fix->cost += lanes_arrive(F, s->group) ? AS_DRAWN : 0;
        ws_fix_insert(F, fix, k, 0, ws_plain(WS_STEP_SYNC, "group"));
    }
}

/* --- fences ----------------------------------------------------------------------------------- */
static void derive_fences(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    const char *fences = ws_node_text(root, WS_F_fences);
    if (!fences || strcmp(fences, "derived") == 0)
        return;
    WsFix *fix = ws_fixer_add(F, "Let all fences be derived");
    ws_fix_set(fix, root, WS_F_fences, NULL);
}

static void move_fences(WsFixer *F, const char *which, gint to, gint by)
{
    for (gint k = 0; to >= 0 && k < (gint)F->spot->len; k++) {
        const WsSpot *s = ws_spot(F, k);
        if (s->node->kind != WS_STEP_FENCE ||
            g_strcmp0(ws_node_text(s->node, WS_F_keyword), which) != 0 ||
            s->group != ws_spot(F, to)->group)
            continue;
        g_autofree char *name = ws_step_name(ws_spot(F, to)->node);
        WsFix *fix = ws_fixer_add(F, "Move the fence %s %s",
                                  by ? WS_WORD("after") : WS_WORD("before"), name);
        /* behind the reader it is there for something else */
        if (strcmp(which, "async") == 0 && F->at >= 0 && k > F->at &&
            s->owner == ws_spot(F, F->at)->owner)
            fix->cost += ELSEWHERE;
        ws_fix_move(F, fix, k, to, by);
    }
}

void ws_fix_fence_async(WsFixer *F)
{
    move_fences(F, "async", F->other, 1);
    move_fences(F, "async", F->at, 0);
    if (F->other >= 0) {
        gint last = F->other; /* of several writes */
        while (ws_step_is(F, ws_spot_next(F, last, 1), WS_STEP_WRITE))
            last = ws_spot_next(F, last, 1);
        g_autofree char *name = ws_step_name(ws_spot(F, last)->node);
        WsFix *fix = ws_fixer_add(F, "Fence after %s", name);
        ws_fix_insert(F, fix, last, 1, ws_plain(WS_STEP_FENCE, "async"));
    }
    if (F->at >= 0) {
        g_autofree char *name = ws_step_name(ws_spot(F, F->at)->node);
        WsFix *fix = ws_fixer_add(F, "Fence before %s", name);
        ws_fix_insert(F, fix, F->at, 0, ws_plain(WS_STEP_FENCE, "async"));
    }
    derive_fences(F);
}

void ws_fix_fence_mma(WsFixer *F)
{
    if (F->at >= 0) {
        move_fences(F, "mma", F->at, 0);
        WsFix *fix = ws_fixer_add(F, "Fence before the mma");
        ws_fix_insert(F, fix, F->at, 0, ws_plain(WS_STEP_FENCE, "mma"));
    }
    derive_fences(F);
}

void ws_fix_close_group(WsFixer *F)
{
    const WsNode *group = F->at >= 0 ? ws_spot(F, F->at)->group : NULL;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (s->group != group || !ws_node_bool(s->node, WS_F_open, FALSE))
            continue;
        g_autofree char *name = ws_step_name(s->node);
        WsFix *fix = ws_fixer_add(F, "Close the group with %s", name);
        ws_fix_set(fix, s->node, WS_F_open, NULL);
    }
}
