/* Quick-fix: a step of synchronisation that stands between two steps elsewhere and lacks between
 * two like them. Kernels repeat a sequence for the first rounds, the last one, or another case, and
 * one copy is easily written without a step. */
#include "base/phrase.h"
#include "mend/fixer.h"
#include "model/finding.h"

enum { MOST = 160, LOOK = 3, LIKE_ENOUGH = 3, OTHER_GROUP = 3 };

/* A list of steps: that of a spot. */
typedef struct {
    const WsNode *owner, *group;
    WsFieldId field;
    guint n;
} List;

static const WsNode *nth(const List *l, gint i)
{
    return i >= 0 && i < (gint)l->n ? ws_node_child(l->owner, l->field, (guint)i) : NULL;
}

/* The buffer, barrier or value that a step is about. */
static const char *subject(const WsNode *step)
{
    static const WsFieldId named[] = { WS_F_into, WS_F_from, WS_F_to };
    const char *barrier = ws_step_barrier(step);
    for (guint i = 0; !barrier && i < G_N_ELEMENTS(named); i++)
        barrier = ws_step_ref(step, named[i]);
    if (!barrier && step->kind == WS_STEP_MMA)
        barrier = ws_step_ref(step, WS_F_keyword);
    if (!barrier && step->kind == WS_STEP_ADVANCE)
        barrier = ws_node_text(step, WS_F_keyword);
    return barrier;
}

/* Steps of a kind about the same; beyond both ends there is the same nothing. */
static gboolean alike(const WsNode *a, const WsNode *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && g_strcmp0(subject(a), subject(b)) == 0;
}

/* How many steps are alike, from there on in one direction. */
static guint run_of(const List *a, gint i, const List *b, gint k, gint by)
{
    guint n = 0;
    for (; n < LOOK && alike(nth(a, i), nth(b, k)); i += by, k += by, n++)
        if (!nth(a, i))
            return n + 1;
    return n;
}

static gboolean may_lack(const WsNode *step)
{
    return ws_step_orders(step->kind) || step->kind == WS_STEP_ADVANCE;
}

/* What the step's use is there: that of the step before it which names the same one here. NULL: as
 * it stands. Caller frees. */
static char *use_there(const List *here, gint i, const List *there, gint k)
{
    g_autofree char *use = ws_step_use(nth(here, i));
    for (gint d = 1; use && i - d >= 0 && k - d >= 0; d++) {
        const WsNode *a = nth(here, i - d), *b = nth(there, k - d);
        if (!alike(a, b))
            return NULL;
        g_autofree char *x = ws_step_use(a), *y = ws_step_use(b);
        if (g_strcmp0(x, use) == 0 && y)
            return strcmp(x, y) == 0 ? NULL : g_steal_pointer(&y);
    }
    return NULL;
}

/* Step i of `here`, before step k of `there`. */
static void propose(WsFixer *F, const List *here, gint i, const List *there, gint k, guint like)
{
    const WsNode *step = nth(here, i), *next = nth(there, k), *before = nth(there, k - 1);
    g_autofree char *name = ws_step_name(step), *where = ws_step_name(next ? next : before),
                    *use = use_there(here, i, there, k);
    WsFix *fix =
        ws_fixer_add(F, "%s %s %s, as elsewhere in %s", name,
                     next ? WS_WORD("before") : WS_WORD("after"), where, ws_node_name(here->group));
    fix->cost += 2 * (2 * LOOK - MIN(like, 2 * LOOK));
    fix->cost += here->group == there->group ? 0 : OTHER_GROUP;
    if (step->kind == WS_STEP_ADVANCE)
        fix->safe = ws_only_in_uses(F, there->group, ws_node_text(step, WS_F_keyword));
    WsJson *copy = ws_json_of_node(step);
    if (use)
        copy = ws_json_with(copy, ws_field_name(WS_F_use), ws_json_expr(use));
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, there->owner->identity, there->field, (guint)k,
                                 copy });
}

/* The finding names a step of the list, or what the step is about. */
static gboolean is_near(const WsFixer *F, const List *there, const WsNode *step)
{
    const gint at[] = { F->at, F->other };
    for (guint i = 0; i < G_N_ELEMENTS(at); i++)
        if (at[i] >= 0 && ws_spot(F, at[i])->owner == there->owner)
            return TRUE;
    for (guint i = 0; F->finding->steps && i < F->finding->steps->len; i++) {
        const gint s = ws_spot_of(F, ws_design_find(F->design, F->finding->steps->pdata[i]));
        if (s >= 0 && ws_spot(F, s)->owner == there->owner)
            return TRUE;
    }
    return F->object && g_strcmp0(subject(step), ws_node_name(F->object)) == 0;
}

/* It is there, beside the place where it would be: then it may have to move, and not be there
 * twice.
 */
static gboolean stands_near(const WsNode *step, const List *there, gint k)
{
    const gint far = ws_step_hands(step->kind) ? LOOK : 1;
    for (gint i = k - far; i < k + far; i++)
        if (nth(there, i) && alike(step, nth(there, i)))
            return TRUE;
    return FALSE;
}

static void compare(WsFixer *F, const List *here, const List *there, guint *n)
{
    for (gint i = 0; i < (gint)here->n; i++) {
        const WsNode *step = nth(here, i);
        if (!may_lack(step) || ws_node_has(step, WS_F_id) || ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        for (gint k = 0; k <= (gint)there->n && *n < MOST; k++) {
            if (!nth(there, k) && !nth(there, k - 1))
                continue;
            const guint before = run_of(here, i - 1, there, k - 1, -1),
                        behind = run_of(here, i + 1, there, k, 1);
            const gboolean both = before > 0 && behind > 0;
            const gboolean last = both && !nth(here, i + 1) && here->group != there->group;
            if ((!both && MAX(before, behind) < LOOK) ||
                (before + behind < LIKE_ENOUGH && !last) || /* both lists end so */
                !is_near(F, there, step) || stands_near(step, there, k))
                continue;
            propose(F, here, i, there, k, both ? before + behind : 0);
            ++*n;
        }
    }
}

/* A counter and the values of a group are its own. */
static gboolean comparable(const List *a, const List *b)
{
    return a->group == b->group ||
           ws_node_has(a->group, WS_F_counters) == ws_node_has(b->group, WS_F_counters);
}

void ws_fix_as_siblings(WsFixer *F)
{
    g_autoptr(GArray) lists = g_array_new(FALSE, FALSE, sizeof(List));
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const List l = { s->owner, s->group, s->field, ws_node_n_children(s->owner, s->field) };
        if (s->index == 0)
            g_array_append_val(lists, l);
    }
    guint n = 0;
    for (guint k = 0; k < lists->len; k++)
        for (guint i = 0; i < lists->len; i++) {
            const List *a = &g_array_index(lists, List, i), *b = &g_array_index(lists, List, k);
            if (comparable(a, b))
                compare(F, a, b, &n);
        }
}
