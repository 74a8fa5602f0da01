/* Quick-fixes of uses, parities and conditions. */
#include "check/fixer.h"

enum { MOST = 10 };

static gboolean is_data(WsNodeKind kind)
{
    return kind == WS_STEP_LOAD || kind == WS_STEP_GATHER || kind == WS_STEP_MMA ||
           kind == WS_STEP_READ || kind == WS_STEP_WRITE || kind == WS_STEP_STORE ||
           kind == WS_STEP_COPY || kind == WS_STEP_TRANSPOSE;
}

static gboolean is_mbarrier_step(WsNodeKind kind)
{
    return kind == WS_STEP_WAIT || kind == WS_STEP_ARRIVE || kind == WS_STEP_EXPECT;
}

static void add_use(GPtrArray *uses, char *use)
{
    for (guint i = 0; use && i < uses->len; i++)
        if (strcmp(uses->pdata[i], use) == 0)
            g_clear_pointer(&use, g_free);
    if (use)
        g_ptr_array_add(uses, use);
}

/* Uses under which the steps beside step i touch data or barriers. */
static GPtrArray *uses_beside(const WsFixer *F, gint i, gboolean data)
{
    GPtrArray *uses = g_ptr_array_new_with_free_func(g_free);
    const WsSpot *s = ws_spot(F, i);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        if (data ? is_data(step->kind) : is_mbarrier_step(step->kind) && step != s->node)
            add_use(uses, ws_step_use(step));
    }
    return uses;
}

/* Is step i one that a fix of this finding should look at? */
static gboolean concerned(const WsFixer *F, gint i)
{
    const WsNode *step = ws_spot(F, i)->node;
    const char *barrier = ws_step_barrier(step), *object = F->finding->object;
    if (i == F->at || i == F->other || (barrier && g_strcmp0(barrier, object) == 0))
        return TRUE;
    const gint beside[] = { F->at, F->other };
    for (guint k = 0; k < G_N_ELEMENTS(beside); k++)
        if (beside[k] >= 0 && ws_spot(F, beside[k])->group == ws_spot(F, i)->group)
            return TRUE;
    return FALSE;
}

void ws_fix_use_of_data(WsFixer *F)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        if (!is_mbarrier_step(step->kind) || !concerned(F, i))
            continue;
        g_autofree char *now = ws_field_json(step, WS_F_use), *name = ws_step_name(step);
        const gboolean fixed = ws_node_has(step, WS_F_slot) || ws_node_has(step, WS_F_phase);
        g_autoptr(GPtrArray) uses = uses_beside(F, i, TRUE);
        /* A release that lags belongs to the round before. */
        const guint plain = uses->len;
        for (guint u = 0; u < plain && step->kind == WS_STEP_ARRIVE && ws_node_has(step, WS_F_when);
             u++) {
            char *use = uses->pdata[u];
            if (use[0] == '"')
                add_use(uses, g_strdup_printf("%.*s - 1\"", (int)strlen(use) - 1, use));
        }
        for (guint u = 0; u < uses->len && n < MOST; u++) {
            if (!fixed && g_strcmp0(now, uses->pdata[u]) == 0)
                continue;
            WsFix *fix = fixed ? ws_fixer_add(F, "Let slot and parity of %s follow from use %s",
                                              name, (char *)uses->pdata[u])
                               : ws_fixer_add(F, "Let %s stand for use %s, that of the data", name,
                                              (char *)uses->pdata[u]);
            if (ws_node_has(step, WS_F_slot))
                ws_fix_unset(F, fix, step, WS_F_slot);
            if (ws_node_has(step, WS_F_phase))
                ws_fix_unset(F, fix, step, WS_F_phase);
            ws_fix_set(F, fix, step, WS_F_use, uses->pdata[u]);
            n++;
        }
    }
}

void ws_fix_flip_init(WsFixer *F)
{
    const char *name[] = { F->finding->object,
                           F->at >= 0 ? ws_step_barrier(ws_spot(F, F->at)->node) : NULL };
    for (guint i = 0; i < G_N_ELEMENTS(name); i++) {
        const WsNode *b = ws_object_named(F->design, WS_F_barriers, name[i]);
        if (!b || (i == 1 && g_strcmp0(name[0], name[1]) == 0))
            continue;
        const gboolean ready = g_strcmp0(ws_node_text(b, WS_F_init), "ready") == 0;
        WsFix *fix = ws_fixer_add(F,
                                  ready ? "Let %s begin pending: its first wait blocks"
                                        : "Let %s begin ready: its first wait passes",
                                  name[i]);
        if (ready)
            ws_fix_unset(F, fix, b, WS_F_init);
        else
            ws_fix_set(F, fix, b, WS_F_init, "\"ready\"");
    }
}

void ws_fix_wait_always(WsFixer *F)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        if (!is_mbarrier_step(step->kind) || !ws_node_has(step, WS_F_when) || !concerned(F, i))
            continue;
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Do %s in every round", name);
        ws_fix_unset(F, fix, step, WS_F_when);
        const gint loop = ws_spot_loop(F, i);
        if (loop >= 0) {
            const char *k = ws_node_name(ws_spot(F, loop)->node);
            g_autofree char *json = g_strdup_printf("\"%s > 0\"", k);
            WsFix *later = ws_fixer_add(F, "Do %s in every round but the first", name);
            ws_fix_set(F, later, step, WS_F_when, json);
        }
        n++;
    }
}

void ws_fix_start_sum(WsFixer *F)
{
    if (!ws_step_is(F, F->at, WS_STEP_MMA))
        return;
    const gint loop = ws_spot_loop(F, F->at);
    const WsNode *step = ws_spot(F, F->at)->node;
    if (loop >= 0) {
        const char *k = ws_node_name(ws_spot(F, loop)->node);
        g_autofree char *json = g_strdup_printf("\"%s == 0\"", k);
        WsFix *fix = ws_fixer_add(F, "Start the sum in round 0 of %s", k);
        ws_fix_set(F, fix, step, WS_F_first, json);
    }
    WsFix *fix = ws_fixer_add(F, "Start a new sum with this mma");
    ws_fix_set(F, fix, step, WS_F_first, "true");
}

void ws_fix_not_in_first(WsFixer *F)
{
    const gint loop = ws_spot_loop(F, F->at);
    if (loop < 0 || F->finding->object == NULL)
        return;
    const WsNode *step = ws_spot(F, F->at)->node;
    g_autofree char *when = ws_field_json(step, WS_F_when), *name = ws_step_name(step);
    if (when && when[0] != '"')
        return;
    const char *k = ws_node_name(ws_spot(F, loop)->node);
    if (when)
        when[strlen(when) - 1] = '\0';
    g_autofree char *json = when ? g_strdup_printf("\"(%s) && %s > 0\"", when + 1, k)
                                 : g_strdup_printf("\"%s > 0\"", k);
    WsFix *fix = ws_fixer_add(F, "Leave %s out in round 0 of %s", name, k);
    ws_fix_set(F, fix, step, WS_F_when, json);
}

/* Steps of one list that share a use get another one together. */
static void set_all(WsFixer *F, gint i, const char *from, const char *to, const char *title)
{
    const WsSpot *s = ws_spot(F, i);
    WsFix *fix = ws_fixer_add(F, "%s", title);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        g_autofree char *use = ws_field_json(step, WS_F_use);
        if (g_strcmp0(use, from) == 0)
            ws_fix_set(F, fix, step, WS_F_use, to);
    }
}

/* A data step whose use is not that of the waits and arrivals beside it. */
static guint odd_ones(WsFixer *F)
{
    guint n = 0;
    for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        g_autofree char *use = ws_field_json(step, WS_F_use);
        if (!use || !is_data(step->kind))
            continue;
        g_autoptr(GPtrArray) uses = uses_beside(F, i, FALSE);
        g_autoptr(GPtrArray) others = uses_beside(F, i, TRUE);
        for (guint u = 0; u < others->len; u++)
            add_use(uses, g_strdup(others->pdata[u]));
        g_autofree char *name = ws_step_name(step);
        for (guint u = 0; u < uses->len && n < MOST; u++) {
            if (strcmp(use, uses->pdata[u]) == 0)
                continue;
            WsFix *fix = ws_fixer_add(F, "Let %s touch use %s", name, (char *)uses->pdata[u]);
            ws_fix_set(F, fix, step, WS_F_use, uses->pdata[u]);
            n++;
        }
    }
    return n;
}

void ws_fix_use_of_writer(WsFixer *F)
{
    guint n = odd_ones(F);
    const gint list[] = { F->at, F->other };
    for (guint l = 0; l < G_N_ELEMENTS(list); l++) {
        if (list[l] < 0)
            continue;
        const WsSpot *s = ws_spot(F, list[l]);
        g_autoptr(GPtrArray) uses = uses_beside(F, list[l], FALSE);
        for (gint i = 0; i < (gint)F->spot->len; i++)
            if (is_data(ws_spot(F, i)->node->kind) && ws_spot(F, i)->group != s->group)
                add_use(uses, ws_step_use(ws_spot(F, i)->node));
        for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
            const WsNode *step = ws_node_child(s->owner, s->field, k);
            g_autofree char *use = ws_field_json(step, WS_F_use), *name = ws_step_name(step);
            for (guint u = 0; use && u < uses->len && n < 2 * MOST; u++) {
                const char *to = uses->pdata[u];
                if (strcmp(use, to) == 0)
                    continue;
                if (is_data(step->kind)) {
                    WsFix *fix = ws_fixer_add(F, "Let %s touch use %s", name, to);
                    ws_fix_set(F, fix, step, WS_F_use, to);
                }
                g_autofree char *title =
                    g_strdup_printf("Let the steps beside %s name use %s instead "
                                    "of %s",
                                    name, to, use);
                set_all(F, list[l], use, to, title);
                n++;
            }
        }
    }
}
