/* A buffer parted from a ring: buffers that fill under one barrier and are given back under one
 * other get a pair each, so that one of them can be reused while the other is still read. Whoever
 * reads the parted buffer waits for it right before, and gives it back once the product that read
 * it is over; whether the counts and turns then match is for the check to say. */
#include "edit/edit.h"

#include <string.h>

typedef struct {
    WsDraft *d;
    char *buffer, *full, *empty; /* as they are called */
    char *own_full, *own_empty;  /* the new pair */
    WsJson *arrive;              /* an arrival on `empty`, as a pattern */
} Part;

static void part_clear(Part *p)
{
    g_free(p->buffer);
    g_free(p->full);
    g_free(p->empty);
    g_free(p->own_full);
    g_free(p->own_empty);
    ws_json_free(p->arrive);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Part, part_clear)

/* --- steps ------------------------------------------------------------------------------------ */

static const WsRef *ref_of(const WsNode *step, WsFieldId field, const char *name)
{
    const WsRef *ref = ws_node_refv(step, field);
    return ref != NULL && g_strcmp0(ref->name, name) == 0 ? ref : NULL;
}

static gboolean is_on(const WsNode *step, WsNodeKind kind, const char *barrier)
{
    return step->kind == kind && ref_of(step, WS_F_keyword, barrier) != NULL;
}

/* Text of a use, "" for none. Caller frees. */
static char *use_text(const WsNode *step, const WsRef *ref)
{
    const WsExpr *e = ref != NULL && ref->use != NULL ? ref->use : ws_node_expr(step, WS_F_use);
    return e != NULL ? ws_expr_print(e) : g_strdup("");
}

static gboolean has_use(const WsNode *step, const WsRef *ref, const char *use)
{
    g_autofree char *own = use_text(step, ref);
    return strcmp(own, use) == 0;
}

/* Buffers that fill under the same barrier. */
typedef struct {
    const char *full, *but;
    GPtrArray *buffers; /* char*, borrowed */
} Filled;

static void find_filled(const WsNode *node, Filled *f)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    const WsRef *into = node->kind == WS_STEP_LOAD ? ws_node_refv(node, WS_F_into) : NULL;
    if (into != NULL && ref_of(node, WS_F_signal, f->full) != NULL &&
        strcmp(into->name, f->but) != 0)
        g_ptr_array_add(f->buffers, into->name);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            find_filled(ws_node_child(node, rows[i].field, c), f);
}

/* --- one list --------------------------------------------------------------------------------- */

typedef struct {
    guint64 owner;
    WsFieldId field;
} List;

static const WsNode *step_at(const Part *p, List l, guint i)
{
    return ws_node_child(ws_draft_node(p->d, l.owner), l.field, i);
}

static guint length(const Part *p, List l)
{
    return ws_node_n_children(ws_draft_node(p->d, l.owner), l.field);
}

static gboolean rename_ref(const Part *p, guint64 step, WsFieldId field, const char *name)
{
    const WsRef *ref = ws_node_refv(ws_draft_node(p->d, step), field);
    g_autofree char *element = ref->element != NULL ? ws_expr_print(ref->element) : NULL;
    g_autofree char *text =
        element != NULL ? g_strdup_printf("%s[%s]", name, element) : g_strdup(name);
    return ws_draft_set(p->d, step, field, ws_json_text(text));
}

/* A step like `like` on another barrier, with this use and the condition and round of `beside`. */
static gboolean add_like(const Part *p, List l, guint index, WsJson *like, const char *barrier,
                         const char *use, const WsNode *beside)
{
    WsJson *ahead = beside != NULL ? ws_json_of_field(beside, WS_F_ahead) : NULL;
    WsJson *when = beside != NULL ? ws_json_of_field(beside, WS_F_when) : NULL;
    like = ws_json_with(like, "id", NULL);
    like = ws_json_with(ws_json_with(like, "note", NULL), "slot", NULL);
    like = ws_json_with(like, "use", ws_json_expr(use));
    if (beside != NULL)
        like = ws_json_with(ws_json_with(like, "ahead", ahead), "when", when);
    const guint64 step = ws_draft_insert(p->d, l.owner, l.field, index, like);
    return step != 0 && rename_ref(p, step, WS_F_keyword, barrier);
}

/* --- who fills -------------------------------------------------------------------------------- */

static guint room_wait(const Part *p, List l, guint load, const char *use)
{
    for (guint i = load; i > 0; i--) {
        const WsNode *step = step_at(p, l, i - 1);
        if (step->kind == WS_STEP_WAIT && has_use(step, NULL, use) &&
            (p->empty == NULL || is_on(step, WS_STEP_WAIT, p->empty)))
            return i - 1;
    }
    return G_MAXUINT;
}

/* The first load of the same transaction that fills another buffer; G_MAXUINT: none. */
static guint other_load(const Part *p, List l, const char *use, guint from)
{
    for (guint i = from; i < length(p, l); i++) {
        const WsNode *step = step_at(p, l, i);
        if (step->kind == WS_STEP_LOAD && ref_of(step, WS_F_into, p->buffer) == NULL &&
            ref_of(step, WS_F_signal, p->full) != NULL && has_use(step, NULL, use))
            return i;
    }
    return G_MAXUINT;
}

/* Each load has the wait for its room right before it. */
static gboolean part_load(const Part *p, List l, guint load, guint wait, const char *use)
{
    const guint64 room = step_at(p, l, wait)->identity;
    const guint other = other_load(p, l, use, wait);
    if (other == G_MAXUINT)
        return rename_ref(p, room, WS_F_keyword, p->own_empty);
    if (!add_like(p, l, load, ws_json_of_node(step_at(p, l, wait)), p->own_empty, use,
                  step_at(p, l, load)))
        return FALSE;
    return other < load || ws_draft_move(p->d, room, l.owner, l.field, other);
}

static gboolean part_loads(const Part *p, List l)
{
    g_autoptr(GArray) loads = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < length(p, l); i++)
        if (step_at(p, l, i)->kind == WS_STEP_LOAD &&
            ref_of(step_at(p, l, i), WS_F_into, p->buffer) != NULL)
            g_array_append_val(loads, step_at(p, l, i)->identity);
    for (guint i = 0; i < loads->len; i++) {
        guint at;
        const WsNode *load = ws_draft_node(p->d, g_array_index(loads, guint64, i));
        g_autofree char *use = use_text(load, NULL);
        ws_design_owner(p->d->design, load, NULL, &at);
        const guint wait = room_wait(p, l, at, use);
        if (wait == G_MAXUINT)
            return ws_draft_refuse(p->d, "a load of %s has no wait for its room in its list",
                                   p->buffer);
        if (!rename_ref(p, load->identity, WS_F_signal, p->own_full) ||
            !part_load(p, l, at, wait, use))
            return FALSE;
    }
    return TRUE;
}

/* --- who reads -------------------------------------------------------------------------------- */

static guint find_on(const Part *p, List l, WsNodeKind kind, const char *barrier, const char *use)
{
    for (guint i = 0; i < length(p, l); i++)
        if (is_on(step_at(p, l, i), kind, barrier) && has_use(step_at(p, l, i), NULL, use))
            return i;
    return G_MAXUINT;
}

/* Place behind the wait that ends a product, by how many newer ones that leaves; G_MAXUINT: none.
 */
static guint behind_end(const Part *p, List l, guint reader)
{
    gint64 newer = 0;
    if (step_at(p, l, reader)->kind != WS_STEP_MMA)
        return reader + 1;
    for (guint i = reader + 1; i < length(p, l); i++) {
        const WsNode *step = step_at(p, l, i);
        const gint64 stay = ws_node_int(step, WS_F_keyword, G_MAXINT64);
        if (step->kind == WS_STEP_MMA_WAIT && newer >= stay)
            return i + 1;
        newer += step->kind == WS_STEP_MMA && !ws_node_bool(step, WS_F_open, FALSE);
    }
    return G_MAXUINT;
}

/* Text of the use with which a step reads one of the buffers; NULL: it does not. Caller frees. */
static char *read_use(const WsNode *step, const GPtrArray *buffers)
{
    for (guint k = 0; k < buffers->len; k++) {
        const WsRef *ref = ws_edit_touch(step, buffers->pdata[k], FALSE);
        if (ref != NULL)
            return use_text(step, ref);
    }
    return NULL;
}

/* The uses with which a list reads them, each once, behind those that are in `uses`. */
static void add_uses(const Part *p, List l, const GPtrArray *buffers, GPtrArray *uses)
{
    for (guint i = 0; i < length(p, l); i++) {
        char *use = read_use(step_at(p, l, i), buffers);
        if (use != NULL && !g_ptr_array_find_with_equal_func(uses, use, g_str_equal, NULL))
            g_ptr_array_add(uses, use);
        else
            g_free(use);
    }
}

static guint reader(const Part *p, List l, const GPtrArray *buffers, const char *use, gboolean last)
{
    guint found = G_MAXUINT;
    for (guint i = 0; i < length(p, l); i++) {
        g_autofree char *own = read_use(step_at(p, l, i), buffers);
        if (g_strcmp0(own, use) == 0 && (last || found == G_MAXUINT))
            found = i;
    }
    return found;
}

/* What of the ring goes which way: some of its buffers under a pair of barriers. */
typedef struct {
    const GPtrArray *buffers;
    const char *full, *empty;
} Side;

/* The wait and the arrival of a side, as late and as early as its readers allow. `told`: where the
 * arrival of both stood. */
static gboolean add_side(const Part *p, List l, const Side *side, const char *use, guint64 told)
{
    const guint last = reader(p, l, side->buffers, use, TRUE);
    if (last == G_MAXUINT)
        return TRUE;
    const WsNode *behind = step_at(p, l, last), *former = ws_draft_node(p->d, told);
    guint place = behind_end(p, l, last);
    if (place == G_MAXUINT && former != NULL) {
        ws_design_owner(p->d->design, former, NULL, &place);
        behind = former;
    }
    if (place != G_MAXUINT &&
        !add_like(p, l, place, ws_json_copy(p->arrive), side->empty, use, behind))
        return FALSE;
    const guint first = reader(p, l, side->buffers, use, FALSE);
    return add_like(p, l, first, WS_MAKE(WS_STEP_WAIT, { WS_F_keyword, ws_json_text(p->full) }),
                    side->full, use, step_at(p, l, first));
}

static gboolean part_use(const Part *p, List l, const Side side[2], const char *use)
{
    const guint wait = find_on(p, l, WS_STEP_WAIT, p->full, use);
    if (wait != G_MAXUINT && !ws_draft_remove(p->d, step_at(p, l, wait)->identity))
        return FALSE;
    const guint told = find_on(p, l, WS_STEP_ARRIVE, p->empty, use);
    const guint64 former = told != G_MAXUINT ? step_at(p, l, told)->identity : 0;
    for (guint i = 0; i < 2; i++)
        if (!add_side(p, l, &side[i], use, former))
            return FALSE;
    return former == 0 || ws_draft_remove(p->d, former);
}

/* Whoever waits for the ring, or gives it back, and reads nothing of that use in this list does so
 * twice. */
static gboolean part_idle(const Part *p, List l, const GPtrArray *uses)
{
    for (guint i = 0; i < length(p, l); i++) {
        const WsNode *step = step_at(p, l, i);
        const gboolean full = is_on(step, WS_STEP_WAIT, p->full);
        if (!full && !is_on(step, WS_STEP_ARRIVE, p->empty))
            continue;
        g_autofree char *use = use_text(step, NULL);
        if (g_ptr_array_find_with_equal_func((GPtrArray *)uses, use, g_str_equal, NULL))
            continue;
        if (!add_like(p, l, i + 1, ws_json_of_node(step), full ? p->own_full : p->own_empty, use,
                      NULL))
            return FALSE;
        i++;
    }
    return TRUE;
}

static gboolean part_list(const Part *p, List l, const Side side[2])
{
    g_autoptr(GPtrArray) uses = g_ptr_array_new_with_free_func(g_free);
    add_uses(p, l, side[0].buffers, uses);
    add_uses(p, l, side[1].buffers, uses);
    if (!part_loads(p, l) || !part_idle(p, l, uses))
        return FALSE;
    for (guint i = 0; i < uses->len; i++)
        if (!part_use(p, l, side, uses->pdata[i]))
            return FALSE;
    return TRUE;
}

/* --- the ring --------------------------------------------------------------------------------- */

static void find_lists(const WsNode *node, GArray *lists)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++) {
        if (rows[i].kind == WS_FIELD_STEPS)
            g_array_append_val(lists, ((List){ node->identity, rows[i].field }));
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            find_lists(ws_node_child(node, rows[i].field, c), lists);
    }
}

/* Which barriers the ring has: that which loads of the buffer signal, and that which is awaited
 * before. */
static gboolean find_ring(Part *p, const GArray *lists)
{
    for (guint k = 0; k < lists->len; k++) {
        const List l = g_array_index(lists, List, k);
        for (guint i = 0; i < length(p, l); i++) {
            const WsNode *step = step_at(p, l, i);
            const WsRef *signal = ws_node_refv(step, WS_F_signal);
            if (ref_of(step, WS_F_into, p->buffer) == NULL)
                continue;
            if (step->kind != WS_STEP_LOAD || signal == NULL)
                return ws_draft_refuse(p->d, "%s is not filled by loads alone", p->buffer);
            if (p->full != NULL && strcmp(p->full, signal->name) != 0)
                return ws_draft_refuse(p->d, "loads of %s signal several barriers", p->buffer);
            if (p->full == NULL)
                p->full = g_strdup(signal->name);
            g_autofree char *use = use_text(step, NULL);
            const guint wait = room_wait(p, l, i, use);
            if (wait == G_MAXUINT)
                return ws_draft_refuse(p->d, "a load of %s has no wait for its room in its list",
                                       p->buffer);
            if (p->empty == NULL)
                p->empty = g_strdup(ws_node_refv(step_at(p, l, wait), WS_F_keyword)->name);
        }
    }
    return p->full != NULL || ws_draft_refuse(p->d, "%s is not filled by loads alone", p->buffer);
}

static gboolean find_arrival(Part *p, const GArray *lists)
{
    for (guint k = 0; k < lists->len; k++) {
        const List l = g_array_index(lists, List, k);
        for (guint i = 0; i < length(p, l); i++) {
            const WsNode *step = step_at(p, l, i);
            const gboolean arrives = is_on(step, WS_STEP_ARRIVE, p->empty);
            if (!arrives && !is_on(step, WS_STEP_WAIT, p->full))
                continue;
            if (ws_node_has(step, WS_F_slot) || ws_node_has(step, WS_F_phase))
                return ws_draft_refuse(p->d, "a step names slot or phase of %s itself", p->buffer);
            if (arrives && p->arrive == NULL)
                p->arrive =
                    ws_json_with(ws_json_with(ws_json_of_node(step), "when", NULL), "ahead", NULL);
        }
    }
    return p->arrive != NULL || ws_draft_refuse(p->d, "nobody gives %s back", p->buffer);
}

static char *copy_barrier(const Part *p, const char *name)
{
    guint index;
    WsFieldId list;
    const WsNode *barrier = ws_edit_object(p->d->design, name);
    if (barrier == NULL || barrier->kind != WS_NODE_BARRIER ||
        ws_node_has(barrier, WS_F_arrivals)) {
        ws_draft_refuse(p->d, "%s is no barrier whose arrivals are derived", name);
        return NULL;
    }
    g_autofree char *wanted = g_strdup_printf("%s_%s", name, p->buffer);
    char *fresh = ws_edit_fresh(p->d->design, wanted);
    const WsNode *root = ws_design_owner(p->d->design, barrier, &list, &index);
    WsJson *copy = ws_json_with(ws_json_of_node(barrier), "id", NULL);
    copy = ws_json_with(copy, "name", ws_json_text(fresh));
    if (ws_draft_insert(p->d, root->identity, list, index + 1, copy) == 0)
        g_clear_pointer(&fresh, g_free);
    return fresh;
}

gboolean ws_edit_part(WsDraft *d, guint64 buffer)
{
    const WsNode *node = ws_draft_node(d, buffer);
    if (node == NULL || node->kind != WS_NODE_BUFFER)
        return ws_draft_refuse(d, "only a buffer can be parted from its ring");
    g_auto(Part) p = { .d = d, .buffer = g_strdup(ws_node_name(node)) };
    g_autoptr(GArray) lists = g_array_new(FALSE, FALSE, sizeof(List));
    g_autoptr(GPtrArray) others = g_ptr_array_new();
    find_lists(ws_design_root(d->design), lists);
    if (!find_ring(&p, lists))
        return FALSE;
    Filled f = { p.full, p.buffer, others };
    find_filled(ws_design_root(d->design), &f);
    if (others->len == 0)
        return ws_draft_refuse(d, "%s has its ring for itself", p.buffer);
    if (!find_arrival(&p, lists) || (p.own_full = copy_barrier(&p, p.full)) == NULL ||
        (p.own_empty = copy_barrier(&p, p.empty)) == NULL)
        return FALSE;
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    g_ptr_array_add(own, p.buffer);
    const Side side[2] = { { own, p.own_full, p.own_empty }, { others, p.full, p.empty } };
    for (guint i = 0; i < lists->len; i++)
        if (!part_list(&p, g_array_index(lists, List, i), side))
            return FALSE;
    ws_draft_name(d, "Give %s barriers of its own", p.buffer);
    ws_draft_touch(d, buffer);
    return TRUE;
}
