/* Quick-fixes of what runs on: waits that retire groups, syncs of an agent, fences. */
#include "check/fixer.h"

/* Where the waits that retire groups of a kind stand, and how to write one. */
typedef struct {
    WsNodeKind wait, issue;
    const char *json, *what;
} Retire;

static const Retire of_mma = { WS_STEP_MMA_WAIT, WS_STEP_MMA, "{ \"mma_wait\": 0 }", "mma" };
static const Retire of_store = { WS_STEP_STORE_WAIT, WS_STEP_STORE, "{ \"store_wait\": 0 }",
                                 "store" };
static const Retire of_load = { WS_STEP_LOAD_WAIT, WS_STEP_GATHER, "{ \"load_wait\": 0 }",
                                "gather" };

#define SYNC "{ \"sync\": \"group\" }"

static gint issuer(const WsFixer *F, const Retire *r)
{
    if (ws_step_is(F, F->other, r->issue))
        return F->other;
    return ws_step_is(F, F->at, r->issue) ? F->at : -1;
}

/* Waits of the same group let fewer stay in flight. */
static void fewer(WsFixer *F, const Retire *r, const WsNode *group)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const gint64 n = s->node->kind == r->wait ? ws_node_int(s->node, WS_F_keyword, 0) : 0;
        if (s->group != group || n <= 0)
            continue;
        for (gint64 to = n - 1; to >= 0; to = to > 0 ? 0 : -1) {
            g_autofree char *json = g_strdup_printf("%" G_GINT64_FORMAT, to);
            WsFix *fix = ws_fixer_add(F, "Let `%s` leave %s in flight instead of %" G_GINT64_FORMAT,
                                      ws_node_kind_keyword(r->wait), to ? json : "nothing", n);
            ws_fix_set(F, fix, s->node, WS_F_keyword, json);
        }
    }
}

/* Behind the loops that hold the step, and at the end of the body. */
static void at_the_end(WsFixer *F, const Retire *r, gint issue)
{
    gint top = issue;
    while (ws_spot(F, top)->up >= 0 &&
           ws_node_has(ws_spot(F, ws_spot(F, top)->up)->node, WS_F_count))
        top = ws_spot(F, top)->up;
    const WsSpot *s = ws_spot(F, top);
    const char *keyword = ws_node_kind_keyword(r->wait);
    if (top != issue) {
        WsFix *fix = ws_fixer_add(F, "`%s` 0 behind the loop", keyword);
        ws_fix_insert(F, fix, top, 1, r->json);
    }
    WsFix *list = ws_fixer_add(F, "`%s` 0 at the end of the list", keyword);
    ws_fix_append(F, list, s->owner, s->field, ws_node_n_children(s->owner, s->field), r->json);
    if (s->owner != s->group) {
        WsFix *fix = ws_fixer_add(F, "`%s` 0 at the end of %s", keyword, ws_node_name(s->group));
        ws_fix_append(F, fix, s->group, WS_F_body, ws_node_n_children(s->group, WS_F_body),
                      r->json);
    }
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

static void retire(WsFixer *F, const Retire *r, gboolean sync)
{
    const gint issue = issuer(F, r);
    if (issue < 0)
        return;
    const gint user = F->at == issue ? F->other : F->at;
    const char *keyword = ws_node_kind_keyword(r->wait);
    if (user >= 0 && ws_spot(F, user)->group == ws_spot(F, issue)->group) {
        fewer(F, r, ws_spot(F, issue)->group);
        const gint outside = ws_spot_outside(F, user, issue);
        const gint place[] = { outside, user };
        for (guint i = 0; i < (outside == user ? 1 : 2); i++) {
            g_autofree char *name = ws_step_name(ws_spot(F, place[i])->node);
            WsFix *fix = ws_fixer_add(F, "`%s` 0%s before %s", keyword,
                                      sync ? " and a sync of the group" : "", name);
            if (sync)
                ws_fix_insert(F, fix, place[i], 0, SYNC);
            ws_fix_insert(F, fix, place[i], 0, r->json);
        }
        move_wait(F, r, user);
    }
    WsFix *behind = ws_fixer_add(F, "`%s` 0 directly behind the %s", keyword, r->what);
    ws_fix_insert(F, behind, issue, 1, r->json);
    gint last = issue;
    for (gint k = issue; k >= 0; k = ws_spot_next(F, k, 1))
        if (ws_step_is(F, k, r->issue))
            last = k;
    if (last != issue) {
        behind = ws_fixer_add(F, "`%s` 0 behind the last %s of the list", keyword, r->what);
        ws_fix_insert(F, behind, last, 1, r->json);
    }
    at_the_end(F, r, issue);
    if (F->finding->rule == WS_RULE_P_EXIT)
        fewer(F, r, ws_spot(F, issue)->group);
}

void ws_fix_mma_wait(WsFixer *F)
{
    retire(F, &of_mma, FALSE);
}

void ws_fix_store_wait(WsFixer *F)
{
    retire(F, &of_store, TRUE);
}

void ws_fix_load_wait(WsFixer *F)
{
    retire(F, &of_load, TRUE);
}

/* --- sync ------------------------------------------------------------------------------------- */
void ws_fix_sync_group(WsFixer *F)
{
    const gint place[] = { F->at, F->other };
    for (guint i = 0; i < G_N_ELEMENTS(place); i++) {
        if (place[i] < 0)
            continue;
        g_autofree char *name = ws_step_name(ws_spot(F, place[i])->node);
        WsFix *fix = ws_fixer_add(F, "Sync the group %s %s", i ? "behind" : "before", name);
        ws_fix_insert(F, fix, place[i], (gint)i, SYNC);
    }
    /* What others did must be complete before one lane hands it over. */
    for (gint k = 0; F->other >= 0 && k < (gint)F->spot->len; k++) {
        const WsSpot *s = ws_spot(F, k);
        if (s->node->kind != WS_STEP_ARRIVE || s->group != ws_spot(F, F->other)->group)
            continue;
        g_autofree char *name = ws_step_name(s->node);
        WsFix *fix = ws_fixer_add(F, "Sync the group before %s", name);
        ws_fix_insert(F, fix, k, 0, SYNC);
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
    ws_fix_unset(F, fix, root, WS_F_fences);
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
        WsFix *fix = ws_fixer_add(F, "Move the fence %s %s", by ? "behind" : "before", name);
        ws_fix_move(F, fix, k, to, by);
    }
}

void ws_fix_fence_async(WsFixer *F)
{
    static const char json[] = "{ \"fence\": \"async\" }";
    move_fences(F, "async", F->other, 1);
    move_fences(F, "async", F->at, 0);
    if (F->other >= 0) {
        g_autofree char *name = ws_step_name(ws_spot(F, F->other)->node);
        WsFix *fix = ws_fixer_add(F, "Fence behind %s", name);
        ws_fix_insert(F, fix, F->other, 1, json);
    }
    if (F->at >= 0) {
        g_autofree char *name = ws_step_name(ws_spot(F, F->at)->node);
        WsFix *fix = ws_fixer_add(F, "Fence before %s", name);
        ws_fix_insert(F, fix, F->at, 0, json);
    }
    derive_fences(F);
}

void ws_fix_fence_mma(WsFixer *F)
{
    if (F->at >= 0) {
        move_fences(F, "mma", F->at, 0);
        WsFix *fix = ws_fixer_add(F, "Fence before the mma");
        ws_fix_insert(F, fix, F->at, 0, "{ \"fence\": \"mma\" }");
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
        ws_fix_unset(F, fix, s->node, WS_F_open);
    }
}
