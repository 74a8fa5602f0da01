/* An edge from one step to another: the wait and the arrival of a barrier, with its slots, its
 * uses and where it starts, derived from what both steps touch and the loops they stand in. Counts
 * are derived by elaboration. Whether the edge is right is for the check to say. */
#include "edit/edit.h"

#include <string.h>

/* A step as one end of an edge. */
typedef struct {
    const WsNode *step;
    const WsNode *owner; /* of the list it stands in */
    WsFieldId list;
    guint index;
    const WsNode *group, *loop;
    const WsNode *worker;      /* whose effect it stands for: the mma before an mma_wait */
    gint64 behind;             /* rounds that the worker's end lies behind the step: mma_wait 1 */
    GPtrArray *reads, *writes; /* names of buffers, borrowed */
} End;

static void clear_end(End *e)
{
    g_clear_pointer(&e->reads, g_ptr_array_unref);
    g_clear_pointer(&e->writes, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(End, clear_end)

/* --- what a step touches ------------------------------------------------------------------------
 */

static void add_object(const WsDesign *design, GPtrArray *names, const char *name)
{
    const WsNode *object = ws_edit_object(design, name);
    if (object != NULL && object->kind == WS_NODE_BUFFER)
        g_ptr_array_add(names, (gpointer)ws_node_name(object));
}

static void add_fields(const WsDesign *design, const WsNode *step, const char *fields,
                       GPtrArray *names)
{
    g_auto(GStrv) field = g_strsplit(fields != NULL ? fields : "", " ", -1);
    guint n;
    const WsFieldRow *rows = ws_node_rows(step->kind, &n);
    for (guint i = 0; field[i] != NULL; i++)
        for (guint k = 0; k < n; k++) {
            if (strcmp(ws_field_name(rows[k].field), field[i]) != 0)
                continue;
            const WsRef *ref = ws_node_refv(step, rows[k].field);
            if (ref != NULL)
                add_object(design, names, ref->name);
        }
}

/* Which steps a waiting step retires, if it is one. */
static gboolean retires(const WsNode *wait, const WsNode *step)
{
    const WsStepInfo *info = ws_step_info(step->kind);
    if (wait->kind == WS_STEP_MMA_WAIT)
        return info->engine == WS_STEP_ENGINE_COMMIT_GROUP;
    if (wait->kind == WS_STEP_STORE_WAIT)
        return info->engine == WS_STEP_ENGINE_BULK_GROUP;
    if (wait->kind == WS_STEP_LOAD_WAIT)
        return step->kind == WS_STEP_GATHER;
    return FALSE;
}

static gboolean is_engine_wait(const WsNode *step)
{
    return step->kind == WS_STEP_MMA_WAIT || step->kind == WS_STEP_STORE_WAIT ||
           step->kind == WS_STEP_LOAD_WAIT;
}

/* The last step below `node` that `wait` retires; NULL if there is none. */
static const WsNode *last_below(const WsNode *node, const WsNode *wait)
{
    const WsFieldId field =
        ws_node_kind_is_step(node->kind) ? ws_edit_list_field(node) : WS_F_COUNT;
    if (field == WS_F_COUNT)
        return retires(wait, node) ? node : NULL;
    for (guint i = ws_node_n_children(node, field); i > 0; i--) {
        const WsNode *found = last_below(ws_node_child(node, field, i - 1), wait);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Steps of one instruction group stand side by side: their reads count together. */
static void add_worker(const WsDesign *design, End *e, const WsNode *worker)
{
    const WsStepInfo *info = ws_step_info(worker->kind);
    add_fields(design, worker, info->reads, e->reads);
    add_fields(design, worker, info->writes, e->writes);
}

static void find_worker(const WsDesign *design, End *e)
{
    e->worker = e->step;
    if (!is_engine_wait(e->step))
        return;
    for (guint i = e->index; i > 0; i--) {
        const WsNode *found = last_below(ws_node_child(e->owner, e->list, i - 1), e->step);
        if (found == NULL)
            continue;
        e->worker = found;
        e->behind = ws_node_int(e->step, WS_F_keyword, 0);
        return;
    }
}

static gboolean begin_end(WsDraft *d, guint64 identity, End *e)
{
    e->step = ws_draft_node(d, identity);
    if (e->step == NULL || !ws_node_kind_is_step(e->step->kind))
        return ws_draft_refuse(d, "an edge runs from a step to a step");
    e->owner = ws_design_owner(d->design, e->step, &e->list, &e->index);
    e->group = ws_edit_group(d->design, e->step);
    e->loop = ws_edit_loop(d->design, e->step);
    e->reads = g_ptr_array_new();
    e->writes = g_ptr_array_new();
    find_worker(d->design, e);
    add_worker(d->design, e, e->worker);
    return TRUE;
}

static const char *common(const GPtrArray *a, const GPtrArray *b)
{
    for (guint i = 0; i < a->len; i++)
        if (g_ptr_array_find_with_equal_func((GPtrArray *)b, a->pdata[i], g_str_equal, NULL))
            return a->pdata[i];
    return NULL;
}

/* --- uses ----------------------------------------------------------------------------------------
 */

static char *use_text(const WsNode *step)
{
    const WsExpr *use = ws_node_expr(step, WS_F_use);
    return use != NULL ? ws_expr_print(use) : NULL;
}

static char *total_of(const WsNode *loop)
{
    return loop != NULL ? g_strdup_printf("%s.total", ws_node_text(loop, WS_F_keyword)) : NULL;
}

/* The use of a step by its own field, else by the loop it stands in, else by the ring's use in its
 * neighbours. Caller frees; NULL: none needed. */
static char *use_of(const WsDesign *design, const WsNode *step)
{
    char *own = use_text(step);
    return own != NULL ? own : total_of(ws_edit_loop(design, step));
}

static char *minus(const char *use, gint64 n)
{
    return n == 0 ? g_strdup(use) : g_strdup_printf("%s - %" G_GINT64_FORMAT, use, n);
}

/* Use number of what `from` has finished, and `when` that is anything at all. */
static char *use_finished(const WsDesign *design, const End *e, char **when)
{
    g_autofree char *use = use_of(design, e->worker);
    *when = NULL;
    if (use == NULL || e->worker == e->step)
        return g_steal_pointer(&use);
    const WsNode *loop = ws_edit_loop(design, e->worker);
    if (loop != e->loop) /* behind the loop: its last round, whose counters have gone on by one */
        return strstr(use, ".total") != NULL ? minus(use, 1) : g_steal_pointer(&use);
    if (e->behind == 0 || loop == NULL)
        return g_steal_pointer(&use);
    const gint64 from = ws_node_int(loop, WS_F_from, 0);
    if (!ws_node_has(loop, WS_F_over))
        *when = g_strdup_printf("%s > %" G_GINT64_FORMAT, ws_node_text(loop, WS_F_keyword),
                                from + e->behind - 1);
    return minus(use, e->behind);
}

/* --- barriers that are there
 * ----------------------------------------------------------------------
 */

static const char *signal_of(const WsNode *step)
{
    const WsRef *ref = ws_node_refv(step, WS_F_signal);
    return ref != NULL ? ref->name : NULL;
}

static const char *keyword_name(const WsNode *step)
{
    const WsRef *ref = ws_node_refv(step, WS_F_keyword);
    return ref != NULL ? ref->name : ws_node_text(step, WS_F_keyword);
}

static gboolean is_ready(const WsDesign *design, const char *barrier)
{
    const WsNode *b = ws_edit_object(design, barrier);
    return b != NULL && g_strcmp0(ws_node_text(b, WS_F_init), "ready") == 0;
}

static gboolean is_mbarrier(const WsDesign *design, const char *name)
{
    const WsNode *b = ws_edit_object(design, name);
    return b != NULL && b->kind == WS_NODE_BARRIER &&
           g_strcmp0(ws_node_text(b, WS_F_kind), "named") != 0;
}

/* A barrier that `to` already waits for, right before it, and that starts in the same way. */
static const char *awaited(const WsDesign *design, const End *to, gboolean release,
                           const char *wanted)
{
    const char *found = NULL;
    for (guint i = to->index + 1; i > 0; i--) {
        const WsNode *step = ws_node_child(to->owner, to->list, i - 1);
        const char *name = step->kind == WS_STEP_WAIT ? keyword_name(step) : NULL;
        if (name == NULL || !is_mbarrier(design, name))
            continue;
        if (wanted != NULL && strcmp(name, wanted) == 0)
            return name;
        if (wanted == NULL && found == NULL && is_ready(design, name) == release)
            found = name;
    }
    return found;
}

/* Whether a step of this list other than `from` signals the barrier. */
static gboolean signalled_beside(const End *from, const char *barrier)
{
    for (guint i = 0; i < ws_node_n_children(from->owner, from->list); i++) {
        const WsNode *step = ws_node_child(from->owner, from->list, i);
        if (step != from->step && g_strcmp0(signal_of(step), barrier) == 0)
            return TRUE;
    }
    return FALSE;
}

static gboolean signalled_in(const WsNode *node, const char *barrier)
{
    if (node->kind == WS_STEP_ARRIVE && g_strcmp0(keyword_name(node), barrier) == 0)
        return TRUE;
    static const WsFieldId list[] = { WS_F_body, WS_F_do, WS_F_then, WS_F_else };
    for (guint l = 0; l < G_N_ELEMENTS(list); l++)
        for (guint i = 0; i < ws_node_n_children(node, list[l]); i++)
            if (signalled_in(ws_node_child(node, list[l], i), barrier))
                return TRUE;
    return FALSE;
}

static gboolean is_transfer(const WsNode *step)
{
    return step->kind == WS_STEP_LOAD || step->kind == WS_STEP_GATHER;
}

/* The barrier the edge uses if one is there: what the transfer signals already, or what `to` waits
 * for and a neighbour of `from` (or `from`'s group, behind it) feeds. */
static const char *barrier_there(const WsDesign *design, const End *from, const End *to,
                                 gboolean release)
{
    if (is_transfer(from->step) && signal_of(from->step) != NULL)
        return signal_of(from->step);
    if (from->step->kind == WS_STEP_ARRIVE && is_mbarrier(design, keyword_name(from->step)))
        return keyword_name(from->step);
    const char *name = awaited(design, to, release, NULL);
    if (name == NULL)
        return NULL;
    if (is_transfer(from->step))
        return signalled_beside(from, name) ? name : NULL;
    return release || signalled_in(from->group, name) ? name : NULL;
}

/* --- making it -------------------------------------------------------------------------------- */

/* Stages of the buffer that the edge is about; NULL: one. Caller frees. */
static char *stages_of(const WsDesign *design, const char *buffer)
{
    const WsNode *b = buffer != NULL ? ws_edit_object(design, buffer) : NULL;
    const WsExpr *stages = b != NULL ? ws_node_expr(b, WS_F_stages) : NULL;
    return stages != NULL ? ws_expr_print(stages) : NULL;
}

static gboolean new_barrier(WsDraft *d, WsConnection *how, const char *slots)
{
    g_autofree char *name = ws_edit_fresh(d->design, how->release ? "empty" : "full");
    how->fresh = TRUE;
    g_strlcpy(how->barrier, name, sizeof how->barrier);
    g_strlcpy(how->slots, slots != NULL ? slots : "1", sizeof how->slots);
    return ws_draft_append(d, ws_design_root(d->design)->identity, WS_F_barriers,
                           WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(name) },
                                   { WS_F_slots, ws_json_expr(slots) },
                                   { WS_F_init, how->release ? ws_json_text("ready") : NULL })) !=
           0;
}

/* A step stays in the round of the step that it is for. */
static WsJson *ahead_of(const WsNode *step)
{
    const gint64 ahead = ws_node_int(step, WS_F_ahead, 0);
    return ahead > 0 ? ws_json_int(ahead) : NULL;
}

/* Where the wait of `to` stands: before it, and before the loads of its transaction that overwrite
 * what `from` has read too. */
static guint wait_index(const End *from, const End *to)
{
    guint index = to->index;
    for (; index > 0 && signal_of(to->step) != NULL; index--) {
        const WsNode *before = ws_node_child(to->owner, to->list, index - 1);
        const WsRef *into = ws_node_refv(before, WS_F_into);
        if (into == NULL || g_strcmp0(signal_of(before), signal_of(to->step)) != 0 ||
            !g_ptr_array_find_with_equal_func(from->reads, into->name, g_str_equal, NULL))
            break;
    }
    return index;
}

static gboolean insert_wait(WsDraft *d, const End *from, const End *to, WsConnection *how)
{
    const guint64 wait = ws_draft_insert(
        d, to->owner->identity, to->list, wait_index(from, to),
        WS_MAKE(WS_STEP_WAIT, { WS_F_keyword, ws_json_text(how->barrier) },
                { WS_F_use, ws_json_expr(how->use_to) }, { WS_F_ahead, ahead_of(to->step) }));
    how->wait = TRUE;
    if (wait != 0)
        ws_draft_touch(d, wait);
    return wait != 0;
}

/* Whose lanes did it, as far as the barrier must know: what all lanes do generically is finished
 * when every warp says so. */
static const char *by_of(const WsNode *step)
{
    if (step->kind == WS_STEP_READ || step->kind == WS_STEP_WRITE ||
        step->kind == WS_STEP_COMPUTE || step->kind == WS_STEP_TRANSPOSE ||
        step->kind == WS_STEP_TAKE)
        return "warp";
    return NULL;
}

/* Index behind which `from` has ended: itself, or the wait that retires it; inserts that wait if
 * there is none. G_MAXUINT after refusing. */
static guint end_index(WsDraft *d, const End *from)
{
    static const struct {
        WsStepEngine engine;
        WsNodeKind wait;
    } engine[] = { { WS_STEP_ENGINE_COMMIT_GROUP, WS_STEP_MMA_WAIT },
                   { WS_STEP_ENGINE_BULK_GROUP, WS_STEP_STORE_WAIT } };
    const guint n = ws_node_n_children(from->owner, from->list);
    for (guint k = 0; k < G_N_ELEMENTS(engine); k++) {
        if (ws_step_info(from->step->kind)->engine != engine[k].engine)
            continue;
        gint64 newer = 0;
        for (guint i = from->index + 1; i < n; i++) {
            const WsNode *step = ws_node_child(from->owner, from->list, i);
            if (step->kind == engine[k].wait && ws_node_int(step, WS_F_keyword, 99) <= newer)
                return i;
            newer += ws_step_info(step->kind)->engine == engine[k].engine;
        }
        const guint at = from->index + 1;
        return ws_draft_insert(d, from->owner->identity, from->list, at,
                               WS_MAKE(engine[k].wait, { WS_F_keyword, ws_json_int(0) })) != 0
                   ? at
                   : G_MAXUINT;
    }
    return from->index;
}

static gboolean insert_arrive(WsDraft *d, const End *from, WsConnection *how, const char *when)
{
    const guint index = end_index(d, from);
    if (index == G_MAXUINT)
        return FALSE;
    how->arrive = TRUE;
    const guint64 arrive = ws_draft_insert(
        d, from->owner->identity, from->list, index + 1,
        WS_MAKE(WS_STEP_ARRIVE, { WS_F_keyword, ws_json_text(how->barrier) },
                { WS_F_by, ws_json_text(by_of(from->step)) },
                { WS_F_use, ws_json_expr(how->use_from) }, { WS_F_when, ws_json_expr(when) },
                { WS_F_ahead, ahead_of(from->step) }));
    if (arrive != 0)
        ws_draft_touch(d, arrive);
    return arrive != 0;
}

static gboolean signal_barrier(WsDraft *d, const End *from, WsConnection *how)
{
    const guint64 step = from->step->identity;
    const gboolean has_use = ws_node_has(from->step, WS_F_use);
    if (signal_of(from->step) != NULL)
        return TRUE;
    ws_draft_touch(d, step);
    return ws_draft_set(d, step, WS_F_signal, ws_json_text(how->barrier)) &&
           (has_use || *how->use_from == '\0' ||
            ws_draft_set(d, step, WS_F_use, ws_json_expr(how->use_from)));
}

/* A load that begins to use a ring needs to know which stage. */
static gboolean give_use(WsDraft *d, const End *to, const WsConnection *how)
{
    const WsFieldRow *row = ws_node_row(to->step->kind, WS_F_use);
    if (row == NULL || ws_node_has(to->step, WS_F_use) || *how->use_to == '\0' ||
        strcmp(how->slots, "1") == 0)
        return TRUE;
    return ws_draft_set(d, to->step->identity, WS_F_use, ws_json_expr(how->use_to));
}

/* --- what comes along ---------------------------------------------------------------------------
 */

static gboolean same_text(const WsNode *a, const WsNode *b, WsFieldId field)
{
    const WsFieldRow *row = ws_node_row(a->kind, field);
    g_autofree char *x = ws_value_print(row, ws_node_get(a, field));
    g_autofree char *y = ws_value_print(row, ws_node_get(b, field));
    return strcmp(x, y) == 0;
}

/* Loads beside `from` that fill other rings of the same depth for `to`, and signal nothing yet,
 * join its transaction. */
static gboolean bring_loads(WsDraft *d, const End *from, const End *to, WsConnection *how)
{
    for (guint i = 0; i < ws_node_n_children(from->owner, from->list); i++) {
        const WsNode *step = ws_node_child(from->owner, from->list, i);
        const WsRef *into = ws_node_refv(step, WS_F_into);
        g_autofree char *slots = into != NULL ? stages_of(d->design, into->name) : NULL;
        if (step == from->step || step->kind != WS_STEP_LOAD || signal_of(step) != NULL ||
            into == NULL || g_strcmp0(slots, how->slots) != 0 ||
            !same_text(step, from->step, WS_F_when) || !same_text(step, from->step, WS_F_ahead) ||
            ws_node_has(step, WS_F_use) != ws_node_has(from->step, WS_F_use) ||
            !same_text(step, from->step, WS_F_use) ||
            !g_ptr_array_find_with_equal_func(to->reads, into->name, g_str_equal, NULL))
            continue;
        const End other = { .step = step };
        g_autofree char *label = ws_edit_label(step);
        if (!signal_barrier(d, &other, how))
            return FALSE;
        g_strlcat(how->with, *how->with != '\0' ? ", " : "", sizeof how->with);
        g_strlcat(how->with, label, sizeof how->with);
    }
    return TRUE;
}

/* A wait that leaves one round in flight tells of all rounds but the last: the first wait behind
 * the loop that leaves none tells of that one. */
static gboolean bring_tail(WsDraft *d, const End *from, WsConnection *how)
{
    const WsNode *loop = from->loop != NULL ? ws_draft_node(d, from->loop->identity) : NULL;
    WsFieldId list;
    guint at = 0;
    const WsNode *owner = loop != NULL ? ws_design_owner(d->design, loop, &list, &at) : NULL;
    if (from->behind != 1 || owner == NULL || strstr(how->use_from, ".total") == NULL)
        return TRUE;
    for (guint i = at + 1; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        if (step->kind != from->step->kind)
            continue;
        if (ws_node_int(step, WS_F_keyword, 1) != 0)
            return TRUE;
        g_autofree char *label = ws_edit_label(step);
        g_strlcpy(how->tail, label, sizeof how->tail);
        return ws_draft_insert(d, owner->identity, list, i + 1,
                               WS_MAKE(WS_STEP_ARRIVE, { WS_F_keyword, ws_json_text(how->barrier) },
                                       { WS_F_use, ws_json_expr(how->use_from) })) != 0;
    }
    return TRUE;
}

/* Whether the step behind `from` tells the barrier already. */
static gboolean told(const End *from, const char *barrier)
{
    const WsNode *next = from->index + 1 < ws_node_n_children(from->owner, from->list)
                             ? ws_node_child(from->owner, from->list, from->index + 1)
                             : NULL;
    return next != NULL && next->kind == WS_STEP_ARRIVE &&
           g_strcmp0(keyword_name(next), barrier) == 0;
}

static gboolean may_connect(WsDraft *d, const End *from, const End *to)
{
    if (from->step == to->step)
        return ws_draft_refuse(d, "an edge needs two steps");
    if (from->group == to->group)
        return ws_draft_refuse(
            d,
            ws_edit_replicas(from->group) == 1
                ? "both are in %s, whose steps follow each other; order them instead"
                : "both are in one replica of %s, whose steps follow each other; order them, or "
                  "draw the edge to another replica for a turn",
            ws_node_name(from->group));
    if (ws_node_kind_is_step(from->step->kind) && ws_edit_list_field(from->step) != WS_F_COUNT)
        return ws_draft_refuse(d, "a loop or branch has no port; use a step in it");
    if (from->step->kind == WS_STEP_WAIT)
        return ws_draft_refuse(d, "a wait finishes nothing; begin at the step after it");
    return TRUE;
}

gboolean ws_edit_connect(WsDraft *d, guint64 from_id, guint64 to_id, WsConnection *how)
{
    g_auto(End) from = { 0 }, to = { 0 };
    *how = (WsConnection){ 0 };
    if (!begin_end(d, from_id, &from) || !begin_end(d, to_id, &to) || !may_connect(d, &from, &to))
        return FALSE;
    const char *filled = common(from.writes, to.reads), *freed = common(from.reads, to.writes);
    how->release = freed != NULL && filled == NULL;
    const char *buffer = filled != NULL ? filled : freed;
    g_autofree char *when = NULL, *slots = stages_of(d->design, buffer);
    g_autofree char *use_from = use_finished(d->design, &from, &when);
    g_autofree char *use_to = use_of(d->design, to.step);
    g_strlcpy(how->use_from, use_from != NULL ? use_from : "", sizeof how->use_from);
    g_strlcpy(how->use_to, use_to != NULL ? use_to : "", sizeof how->use_to);
    const char *there = barrier_there(d->design, &from, &to, how->release);
    if (there != NULL) {
        const WsNode *b = ws_edit_object(d->design, there);
        const WsExpr *n = b != NULL ? ws_node_expr(b, WS_F_slots) : NULL;
        g_autofree char *text = n != NULL ? ws_expr_print(n) : g_strdup("1");
        g_strlcpy(how->barrier, there, sizeof how->barrier);
        g_strlcpy(how->slots, text, sizeof how->slots);
        if (((is_transfer(from.step) && signal_of(from.step) != NULL) || told(&from, there)) &&
            awaited(d->design, &to, how->release, there) != NULL)
            return ws_draft_refuse(d, "it already waits for that, through %s", there);
    } else if (!new_barrier(d, how, slots)) {
        return FALSE;
    }
    const gboolean waits = awaited(d->design, &to, how->release, how->barrier) != NULL;
    const gboolean made =
        (waits || insert_wait(d, &from, &to, how)) && give_use(d, &to, how) &&
        (is_transfer(from.step) ? signal_barrier(d, &from, how) && bring_loads(d, &from, &to, how)
         : from.step->kind == WS_STEP_ARRIVE
             ? TRUE
             : insert_arrive(d, &from, how, when) && (when == NULL || bring_tail(d, &from, how)));
    g_autofree char *a = ws_edit_label(from.step), *b = ws_edit_label(to.step);
    g_autofree char *what = g_strdup_printf("%s → %s", a, b);
    ws_draft_name(d, "Connect %s", what);
    return made;
}
