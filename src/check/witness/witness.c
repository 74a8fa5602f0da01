/* The witness: the smallest case that goes wrong, its plan carried out, and the state at every
 * position. */
#include "check/play/case_at.h"
#include "check/witness/witness_private.h"

#include <string.h>

G_DEFINE_QUARK(ws - witness - error - quark, ws_witness_error)

void ws_witness_note(WsPlay *play, WsRuleId rule, guint inst, const WsOp *op, guint n_rounds,
                     const gint64 *round, const WsEvent *other)
{
    WsReported r = { .rule = rule, .inst = inst, .op = op };
    r.n_rounds = MIN(n_rounds, G_N_ELEMENTS(r.round));
    for (guint i = 0; i < r.n_rounds; i++)
        r.round[i] = round[i];
    if (other) {
        r.other = other->op, r.other_inst = other->inst;
        r.n_other = other->n_rounds;
        memcpy(r.other_round, other->round, sizeof r.other_round);
    }
    g_array_append_val(play->reported, r);
}

/* --- the smallest case ------------------------------------------------------------------------ */
typedef struct {
    const WsProgram *p;
    const WsFinding *finding;
    GPtrArray *cases;
    GArray *data; /* WsCaseData */
    WsPlay *play;
    const WsCase *c; /* found */
    WsSchedule schedule;
    WsReported reported;
    char *message;
} Search;

static gboolean is_meant(const Search *S, const WsReported *r)
{
    if (!S->finding)
        return TRUE;
    const char *step = r->op->step ? r->op->step : r->op->id;
    return r->rule == S->finding->rule && g_strcmp0(step, S->finding->at) == 0;
}

/* Plays one case; TRUE if it shows what is looked for. */
static gboolean shows(Search *S, const WsCase *c, WsSchedule schedule)
{
    WsPlay *play = S->play;
    g_hash_table_remove_all(play->said);
    g_hash_table_remove_all(play->causes);
    play->errors = play->said_errors = play->said_others = 0;
    play->outside = FALSE;
    g_array_set_size(play->reported, 0);
    g_ptr_array_set_size(play->findings->list, 0);
    ws_play_run(play, c, schedule);
    for (guint i = 0; i < play->reported->len; i++) {
        const WsReported *r = &g_array_index(play->reported, WsReported, i);
        if (!is_meant(S, r))
            continue;
        S->c = c, S->schedule = schedule, S->reported = *r;
        const char *step = r->op->step ? r->op->step : r->op->id;
        for (guint k = 0; k < play->findings->list->len && !S->message; k++) {
            const WsFinding *f = play->findings->list->pdata[k];
            if (f->rule == r->rule && g_strcmp0(f->at, step) == 0)
                S->message = g_strdup(f->message);
        }
        return TRUE;
    }
    return FALSE;
}

/* One case with some data: elements of integer tensors are 0, then chosen as the check does. */
static gboolean shows_with_data(Search *S, WsCase *c, WsSchedule schedule)
{
    if (shows(S, c, schedule))
        return TRUE;
    for (guint d = 1; d < S->data->len && !c->data && !c->chosen; d++)
        if (ws_case_with_data(S->p, c, &g_array_index(S->data, WsCaseData, d)) &&
            shows(S, c, schedule))
            return TRUE;
    ws_case_with_data(S->p, c, NULL);
    return FALSE;
}

static void look_for(Search *S)
{
    for (guint s = 0; s < WS_SCHEDULE_COUNT; s++)
        for (guint i = 0; i < S->cases->len; i++)
            if (shows_with_data(S, S->cases->pdata[i], (WsSchedule)s))
                return;
}

/* Numbers that a finding names ("k 12", "K = 257") may be rounds, too. */
static void add_numbers(GArray *rounds, const char *text)
{
    enum { MOST = 200 };
    for (const char *at = text; at && *at; at++) {
        if (!g_ascii_isdigit(*at) || (at > text && g_ascii_isalnum(at[-1])))
            continue;
        const gint64 n = g_ascii_strtoll(at, NULL, 10);
        for (gint64 r = n; r <= n + 2 && n <= MOST; r++)
            g_array_append_val(rounds, r);
    }
}

/* The small ones, and those of the size that the finding was met with. */
static GPtrArray *all_cases(const WsProgram *p, const WsFinding *finding)
{
    enum { FEW = 4, MANY = 12 };
    g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    for (gint64 r = 0; r <= 8; r++)
        g_array_append_val(rounds, r);
    add_numbers(rounds, finding ? finding->round : NULL);
    add_numbers(rounds, finding ? finding->sizes : NULL);
    const gint64 tiles = finding ? finding->fact[WS_FACT_TILES] : 0;
    GPtrArray *cases = ws_cases(p, (guint)CLAMP(tiles, FEW, MANY), rounds, skipped);
    WsCase *met =
        finding && finding->sizes ? ws_case_at(p, finding->sizes, (guint)MAX(tiles, 1)) : NULL;
    if (met)
        g_ptr_array_add(cases, met);
    return cases;
}

/* --- names ------------------------------------------------------------------------------------ */
char *ws_witness_agent_name(const WsProgram *p, guint agent)
{
    const char *name = p->agent[agent % p->n_agents].name;
    return p->cluster > 1 ? g_strdup_printf("%s@%u", name, agent / p->n_agents) : g_strdup(name);
}

static char *place_name(const WsReplay *m, const char *name, gboolean is_array, guint element,
                        const char *part, guint parts, guint index, guint rank)
{
    GString *s = g_string_new(name);
    if (is_array)
        g_string_append_printf(s, "[%u]", element);
    if (parts > 1)
        g_string_append_printf(s, " %s %u", part, index);
    if (m->ranks > 1)
        g_string_append_printf(s, " of CTA %u", rank);
    return g_string_free(s, FALSE);
}

static void name_slots(WsWitness *w, const WsReplay *m)
{
    w->n_barriers = m->n_slots;
    w->barrier = g_new0(char *, m->n_slots + 1);
    for (guint r = 0, n = 0; r < m->ranks; r++)
        for (guint b = 0; b < m->p->n_barriers; b++) {
            const WsBarrier *x = &m->p->barrier[b];
            guint slots = MAX(x->slots, 1), all = MAX(x->array, 1) * slots;
            for (guint i = 0; x->kind == WS_BARRIER_MBARRIER && i < all; i++)
                w->barrier[n++] =
                    place_name(m, x->name, x->is_array, i / slots, "slot", slots, i % slots, r);
        }
    w->n_stages = m->n_stages;
    w->stage = g_new0(char *, m->n_stages + 1);
    for (guint r = 0, n = 0; r < m->ranks; r++)
        for (guint b = 0; b < m->p->n_buffers; b++) {
            const WsBuffer *x = &m->p->buffer[b];
            guint stages = MAX(x->stages, 1), all = MAX(x->array, 1) * stages;
            for (guint i = 0; i < all; i++)
                w->stage[n++] =
                    place_name(m, x->name, x->is_array, i / stages, "stage", stages, i % stages, r);
        }
}

static char *named_name(const WsReplay *m, guint i)
{
    const WsReplayNamed *n = &m->named[i];
    guint within = i % m->named_per_rank, rank = i / m->named_per_rank;
    if (i + 1 == m->n_named)
        return g_strdup("cluster");
    if (n->barrier >= 0) {
        const WsBarrier *b = &m->p->barrier[n->barrier];
        return place_name(m, b->name, b->is_array, (guint)n->element, "", 1, 0, rank);
    }
    if (within < ws_named_ids(m->p))
        return place_name(m, "cta", FALSE, 0, "", 1, 0, rank);
    g_autofree char *group =
        g_strdup_printf("sync of %s", m->p->agent[within - ws_named_ids(m->p)].name);
    return place_name(m, group, FALSE, 0, "", 1, 0, rank);
}

/* Named barriers that nobody joins are left out: `used` gives each its place in the witness. */
static void name_named(WsWitness *w, const WsReplay *m, gint *used)
{
    for (guint i = 0; i < m->n_named; i++)
        used[i] = -1;
    for (guint a = 0; a < m->n_agents; a++)
        for (guint i = 0; i < m->agent[a].event->len; i++) {
            gint n = g_array_index(m->agent[a].event, WsReplayEvent, i).named;
            if (n >= 0)
                used[n] = 0;
        }
    w->named = g_new0(char *, m->n_named + 1);
    w->named_id = g_new0(gint, m->n_named + 1);
    for (guint i = 0; i < m->n_named; i++) {
        if (used[i] < 0)
            continue;
        guint within = i % m->named_per_rank;
        gboolean id = i + 1 < m->n_named && within < ws_named_ids(m->p);
        w->named_id[w->n_named] =
            id ? (gint)(i / m->named_per_rank * ws_named_ids(m->p) + within) : -1;
        used[i] = (gint)w->n_named;
        w->named[w->n_named++] = named_name(m, i);
    }
}

/* --- carrying out a plan ---------------------------------------------------------------------- */
typedef struct {
    WsWitness *w;
    WsReplay *m;
    const WsPlan *plan;
    gint *used;
    GArray *move;
    GArray *barrier, *named, *stage, *agent; /* states */
    gint64 met;                              /* by the last move */
} Run;

static void keep_state(Run *R)
{
    const WsReplay *m = R->m;
    guint b = R->barrier->len, n = R->named->len, s = R->stage->len, a = R->agent->len;
    g_autofree WsNamedState *all = g_new0(WsNamedState, m->n_named);
    g_array_set_size(R->barrier, b + m->n_slots);
    g_array_set_size(R->stage, s + m->n_stages);
    g_array_set_size(R->agent, a + m->n_agents);
    ws_replay_show(m, (WsMbarrierState *)(gpointer)R->barrier->data + b, all,
                   (WsStageState *)(gpointer)R->stage->data + s,
                   (WsAgentState *)(gpointer)R->agent->data + a);
    for (guint i = 0; i < m->n_named; i++)
        if (R->used[i] >= 0)
            g_array_append_val(R->named, all[i]);
    for (guint i = 0; i < m->n_agents; i++) {
        WsAgentState *x = &g_array_index(R->agent, WsAgentState, a + i);
        x->named = x->named >= 0 ? R->used[x->named] : -1;
    }
    g_assert(R->named->len == n + R->w->n_named);
}

static void keep_move(Run *R, const WsPlanMove *p, const WsReplayEvent *e)
{
    WsMove move = { .kind = p->land ? WS_MOVE_LAND : WS_MOVE_STEP,
                    .agent = p->agent,
                    .op = e->op,
                    .n_rounds = e->n_rounds,
                    .barrier = e->n_slots && !e->n_transfers ? (gint)e->slot[0] : -1,
                    .named = e->named >= 0 ? R->used[e->named] : -1,
                    .rank = p->agent / R->m->p->n_agents,
                    .collide = p->collide };
    if (!p->land && (p->pass || e->op->kind == WS_OP_CLUSTER_WAIT))
        move.kind = WS_MOVE_PASS;
    if (p->land) {
        const WsReplayTransfer *t = &g_array_index(R->m->transfer, WsReplayTransfer, p->transfer);
        move.rank = t->rank, move.barrier = (gint)t->slot;
    }
    memcpy(move.round, e->round, sizeof move.round);
    g_array_append_val(R->move, move);
    keep_state(R);
}

/* One move of the plan; FALSE if the hardware does not allow it here. */
static gboolean carry_out(Run *R, const WsPlanMove *p)
{
    WsReplay *m = R->m;
    const WsReplayEvent *e = &g_array_index(m->agent[p->agent].event, WsReplayEvent, p->event);
    if (p->land) {
        if (!ws_replay_in_flight(m, p->transfer))
            return FALSE;
        R->met = m->slot[g_array_index(m->transfer, WsReplayTransfer, p->transfer).slot].phase;
        ws_replay_land(m, p->transfer);
    } else {
        if (m->agent[p->agent].pc != p->event || !ws_replay_move(m, p->agent))
            return FALSE;
        R->met = g_array_index(m->log, WsLogNode, m->log->len - 1).met;
        for (guint i = m->log->len; i-- > 0;) { /* completions follow the move in the log */
            const WsLogNode *n = &g_array_index(m->log, WsLogNode, i);
            if (n->kind == WS_NODE_COMPLETION)
                continue;
            R->met = n->met;
            break;
        }
    }
    if (!ws_move_silent(e->op) || p->collide)
        keep_move(R, p, e);
    return TRUE;
}

/* --- is the end what the plan promises? ------------------------------------------------------- */
static gboolean can_move(const WsReplay *m, guint agent)
{
    const WsReplayEvent *e = ws_replay_next(m, agent);
    if (!e)
        return FALSE;
    if (e->op->kind == WS_OP_MBAR_WAIT)
        return m->slot[e->slot[0]].phase % 2 != e->parity;
    if (e->named < 0)
        return TRUE;
    gint64 joined =
        e->op->kind == WS_OP_CLUSTER_WAIT ? m->agent[agent].clustered : m->agent[agent].joined;
    if (e->op->kind == WS_OP_CLUSTER_WAIT)
        return m->named[e->named].generation > joined;
    return joined < 0 || m->named[e->named].generation > joined;
}

static gboolean hangs(const WsReplay *m)
{
    gboolean left = FALSE;
    for (guint i = 0; i < m->n_agents; i++) {
        left |= ws_replay_next(m, i) != NULL;
        if (can_move(m, i))
            return FALSE;
    }
    for (guint i = 0; i < m->transfer->len; i++)
        if (ws_replay_in_flight(m, i))
            return FALSE;
    return left;
}

static gboolean leaves(const WsReplay *m)
{
    gboolean something = FALSE;
    for (guint i = 0; i < m->n_agents; i++) {
        const WsReplayEvent *at = ws_replay_at(m, i);
        if (at->op)
            return FALSE;
        for (guint q = 0; q < WS_QUEUES; q++)
            something |= at->lo[q] < at->hi[q];
    }
    for (guint i = 0; i < m->transfer->len; i++)
        something |= ws_replay_in_flight(m, i);
    for (guint i = 0; i < m->n_slots; i++)
        something |= m->slot[i].tx != 0;
    return something;
}

/* Is an asynchronous operation still running? */
static gboolean running(const WsReplay *m, guint agent, guint event)
{
    const WsReplayEvent *e = &g_array_index(m->agent[agent].event, WsReplayEvent, event);
    for (guint i = 0; i < e->n_transfers; i++)
        if (ws_replay_in_flight(m, e->first_transfer + i))
            return TRUE;
    const WsReplayEvent *at = ws_replay_at(m, agent);
    for (guint q = 0; q < WS_QUEUES; q++)
        for (guint i = at->lo[q]; i < at->hi[q]; i++)
            if (g_array_index(m->agent[agent].queue[q], guint, i) == event)
                return TRUE;
    for (guint i = 0; i < m->transfer->len; i++) { /* rows that a later arrival took over */
        const WsReplayTransfer *t = &g_array_index(m->transfer, WsReplayTransfer, i);
        if (e->op->kind == WS_OP_CP_ROWS && t->agent == agent && t->event > event &&
            ws_replay_in_flight(m, i))
            return TRUE;
    }
    return FALSE;
}

static gboolean overfull(const Run *R, guint before)
{
    const WsReplay *m = R->m;
    const WsPlan *plan = R->plan;
    const WsReplayEvent *e =
        &g_array_index(m->agent[plan->agent].event, WsReplayEvent, plan->event);
    const WsMbarrierState *was = &g_array_index(R->barrier, WsMbarrierState, before * m->n_slots);
    if (e->named >= 0)
        return m->named[e->named].arrived > m->named[e->named].count || R->met != plan->means ||
               TRUE;
    for (guint i = 0; i < e->n_slots; i++) {
        const WsMbarrierState *s = &was[e->slot[i]];
        if (e->arrivals > s->pending || s->phase != (e->turn != G_MININT64 ? e->turn : s->phase))
            return TRUE;
    }
    return FALSE;
}

static gboolean confirmed(const Run *R)
{
    const WsPlan *plan = R->plan;
    const WsReplay *m = R->m;
    switch (plan->end) {
    case WS_END_HANG:
        return hangs(m);
    case WS_END_LEFT:
        return leaves(m);
    case WS_END_COLLISION:
        return plan->other_agent < 0 ||
               running(m, (guint)plan->other_agent, (guint)plan->other_event);
    case WS_END_PHASE:
        if (plan->lapped) {
            const WsReplayEvent *e = ws_replay_next(m, plan->agent);
            return e && m->agent[plan->agent].pc == plan->event &&
                   m->slot[e->slot[0]].phase == plan->means + 2;
        }
        return R->met != plan->means;
    case WS_END_COUNT:
        return R->move->len > 0 && overfull(R, R->move->len - 1);
    case WS_END_STEP:
        return TRUE;
    }
    return FALSE;
}

/* Everybody goes on as far as he can. */
static void go_on(Run *R)
{
    WsReplay *m = R->m;
    for (gboolean moved = TRUE; moved && R->move->len < 4000;) {
        moved = FALSE;
        for (guint i = 0; i < m->n_agents; i++)
            while (can_move(m, i) && R->move->len < 4000) {
                WsPlanMove move = { .agent = i, .event = m->agent[i].pc };
                move.pass = m->agent[i].joined >= 0;
                moved |= carry_out(R, &move);
            }
        for (guint t = 0; t < m->transfer->len && !moved; t++) {
            const WsReplayTransfer *x = &g_array_index(m->transfer, WsReplayTransfer, t);
            WsPlanMove move = { .land = TRUE, .agent = x->agent, .event = x->event };
            move.transfer = t;
            if (ws_replay_in_flight(m, t))
                moved = carry_out(R, &move);
        }
    }
}

/* A wait that has been lapped shows when everybody else goes on: it stays there. If it does not (a
 * later completion frees it), the run ends where it was lapped. */
static gboolean ends_in_a_hang(Run *R)
{
    guint n = R->move->len;
    go_on(R);
    if (hangs(R->m))
        return TRUE;
    g_array_set_size(R->move, n);
    g_array_set_size(R->barrier, (n + 1) * R->w->n_barriers);
    g_array_set_size(R->named, (n + 1) * R->w->n_named);
    g_array_set_size(R->stage, (n + 1) * R->w->n_stages);
    g_array_set_size(R->agent, (n + 1) * R->w->n_agents);
    return FALSE;
}

/* --- all of it -------------------------------------------------------------------------------- */
static gpointer states(GArray *a)
{
    return g_array_free(a, FALSE);
}

static gboolean try_plan(WsWitness *w, WsReplay *m, const WsPlan *plan, gint *used)
{
    Run R = { .w = w,
              .m = m,
              .plan = plan,
              .used = used,
              .move = g_array_new(FALSE, TRUE, sizeof(WsMove)),
              .barrier = g_array_new(FALSE, TRUE, sizeof(WsMbarrierState)),
              .named = g_array_new(FALSE, TRUE, sizeof(WsNamedState)),
              .stage = g_array_new(FALSE, TRUE, sizeof(WsStageState)),
              .agent = g_array_new(FALSE, TRUE, sizeof(WsAgentState)) };
    ws_replay_reset(m);
    keep_state(&R);
    gboolean ok = TRUE;
    for (guint i = 0; i < plan->move->len && ok; i++)
        ok = carry_out(&R, &g_array_index(plan->move, WsPlanMove, i));
    w->confirmed = ok && confirmed(&R);
    w->end = plan->end;
    if (w->confirmed && plan->lapped && ends_in_a_hang(&R))
        w->end = WS_END_HANG;
    w->n_moves = R.move->len;
    w->move = states(R.move);
    w->barrier_state = states(R.barrier);
    w->named_state = states(R.named);
    w->stage_state = states(R.stage);
    w->agent_state = states(R.agent);
    return w->confirmed;
}

static void forget(WsWitness *w)
{
    for (guint i = 0; i < w->n_moves; i++)
        g_free(w->move[i].words);
    g_clear_pointer(&w->move, g_free);
    g_clear_pointer(&w->barrier_state, g_free);
    g_clear_pointer(&w->named_state, g_free);
    g_clear_pointer(&w->stage_state, g_free);
    g_clear_pointer(&w->agent_state, g_free);
    w->n_moves = 0;
}

static void tell(WsWitness *w, const Search *S, WsReplay *m)
{
    w->rule = S->reported.rule;
    w->at = g_strdup(S->reported.op->step ? S->reported.op->step : S->reported.op->id);
    w->message = g_strdup(S->message ? S->message : ws_rule(w->rule)->title);
    w->rounds = S->c->rounds, w->tiles = S->c->tiles;
    w->sizes = g_strdup(S->c->sizes);
    w->size = g_new0(gint64, m->p->n_vars + 1);
    for (guint v = 0; v < m->p->n_vars; v++) {
        if (m->p->var[v].kind == WS_VAR_SIZE)
            w->size[v] = ws_launch_var(S->c->values, (gint)v);
    }
    w->pinned = S->c->chosen || S->c->cta > 0 ||
                (S->c->tiles > 1 && S->c->grid > (gint64)MAX(m->p->cluster, 1));
    w->data = S->c->data, w->element = S->c->element, w->element_step = S->c->element_step;
    w->ranks = m->ranks, w->n_agents = m->n_agents;
    w->agent = g_new0(char *, m->n_agents + 1);
    for (guint i = 0; i < m->n_agents; i++)
        w->agent[i] = ws_witness_agent_name(m->p, i);
    name_slots(w, m);
    g_autofree gint *used = g_new0(gint, m->n_named);
    name_named(w, m, used);
    gboolean shown = FALSE;
    for (guint attempt = 0; !shown && attempt <= 2; attempt++) {
        ws_replay_reset(m);
        ws_replay_run(m, S->schedule);
        WsPlan *plan = ws_plan_new(m, &S->reported, attempt);
        forget(w);
        if (plan && (plan->agent != G_MAXUINT || attempt == 2))
            shown = try_plan(w, m, plan, used);
        if (attempt == 2 && w->end == WS_END_STEP) /* shows the operation, not what is wrong */
            w->confirmed = FALSE;
        ws_plan_free(plan);
    }
    ws_witness_say(w);
}

WsWitness *ws_witness_new(WsProgram *p, const WsFinding *finding, GError **error)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GPtrArray) cases = all_cases(p, finding);
    g_autoptr(GArray) data = ws_case_data(p);
    Search S = { .p = p, .finding = finding, .cases = cases, .data = data };
    S.play = ws_play_new(p, findings, 8);
    S.play->max_ops = 500000;
    S.play->reported = g_array_new(FALSE, FALSE, sizeof(WsReported));
    look_for(&S);
    WsWitness *w = NULL;
    WsReplay *m = S.c ? ws_replay_new(p, S.c) : NULL;
    if (m && !m->trouble) {
        w = g_new0(WsWitness, 1);
        w->program = ws_program_ref(p);
        tell(w, &S, m);
    } else {
        g_set_error(error, WS_WITNESS_ERROR, 0, "%s",
                    m ? m->trouble : "none of the sizes and schedules that were tried shows it");
    }
    ws_replay_free(m);
    g_array_unref(S.play->reported);
    ws_play_free(S.play);
    g_free(S.message);
    return w;
}

WsWitness *ws_witness_of(WsProgram *p, const WsFindings *findings, GError **error)
{
    WsWitness *first = NULL;
    g_autoptr(GError) why = NULL;
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity != WS_SEVERITY_ERROR || ws_rule(f->rule)->klass != WS_CLASS_P)
            continue;
        WsWitness *w = ws_witness_new(p, f, why ? NULL : &why);
        if (w && w->confirmed) {
            ws_witness_free(first);
            return w;
        }
        if (first)
            ws_witness_free(w);
        else
            first = w;
    }
    if (!first && why)
        g_propagate_error(error, g_steal_pointer(&why));
    else if (!first)
        g_set_error(error, WS_WITNESS_ERROR, 0, "nothing was refuted that a run could show");
    return first;
}

static void free_names(char **name, guint n)
{
    for (guint i = 0; name && i < n; i++)
        g_free(name[i]);
    g_free(name);
}

void ws_witness_free(WsWitness *w)
{
    if (!w)
        return;
    forget(w);
    free_names(w->agent, w->n_agents);
    free_names(w->barrier, w->n_barriers);
    free_names(w->named, w->n_named);
    free_names(w->stage, w->n_stages);
    g_free(w->named_id);
    g_free(w->at);
    g_free(w->message);
    g_free(w->sizes);
    g_free(w->size);
    g_free(w->ending);
    ws_program_unref(w->program);
    g_free(w);
}
