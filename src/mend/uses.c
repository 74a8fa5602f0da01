/* Quick-fixes of uses, parities and conditions. */
#include "base/phrase.h"
#include "mend/fixer.h"
#include "model/finding.h"

enum { MOST = 10, LIKELY = 15, ALONE = 20, PLACED = 2 };

/* A use that somebody names, and how many do. */
typedef struct {
    char *text;
    guint n;
    gboolean beside; /* in the list of the step itself */
} Use;

static void clear_use(gpointer data)
{
    g_free(((Use *)data)->text);
}

static void add_use(GArray *uses, char *text, gboolean beside)
{
    if (!text)
        return;
    for (guint i = 0; i < uses->len; i++) {
        Use *u = &g_array_index(uses, Use, i);
        if (strcmp(u->text, text) != 0)
            continue;
        u->n++;
        g_free(text);
        return;
    }
    const Use u = { text, 1, beside };
    g_array_append_val(uses, u);
}

/* What a step hands over: its barrier, its pipe or its buffer. */
static const char *handed(const WsNode *step)
{
    static const WsFieldId named[] = { WS_F_into, WS_F_from, WS_F_to, WS_F_keyword };
    const char *barrier = ws_step_barrier(step);
    if (step->kind == WS_STEP_ACQUIRE || step->kind == WS_STEP_COMMIT ||
        step->kind == WS_STEP_RELEASE)
        return ws_node_text(step, WS_F_keyword);
    for (guint i = 0; !barrier && i < G_N_ELEMENTS(named); i++) {
        const WsRef *ref = ws_node_refv(step, named[i]);
        barrier = ref ? ref->name : NULL;
    }
    return barrier;
}

/* "k.total - 1" and "max(0, k.total - 1)" name k.total; k names k.total. */
static char *stripped(const char *use, const char *loop)
{
    return g_strcmp0(use, loop) == 0 ? g_strdup_printf("%s.total", loop) : ws_one_off(use);
}

/* Uses that step i could mean: those beside it, those of its barrier or buffer elsewhere. Its own
 * is in the list too. */
static GArray *uses_around(const WsFixer *F, gint i)
{
    GArray *uses = g_array_new(FALSE, FALSE, sizeof(Use));
    g_array_set_clear_func(uses, clear_use);
    const WsSpot *s = ws_spot(F, i);
    const char *object = handed(s->node);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        if (step != s->node && (ws_step_is_data(step->kind) || ws_step_hands(step->kind)))
            add_use(uses, ws_step_use(step), TRUE);
    }
    for (gint k = 0; object && k < (gint)F->spot->len; k++) {
        const WsSpot *o = ws_spot(F, k);
        if ((o->owner != s->owner || o->field != s->field) &&
            g_strcmp0(handed(o->node), object) == 0)
            add_use(uses, ws_step_use(o->node), FALSE);
    }
    return uses;
}

/* Is step i one that a fix of this finding should look at first? */
static gboolean concerned(const WsFixer *F, gint i)
{
    const char *object = handed(ws_spot(F, i)->node);
    if (i == F->at || i == F->other || (object && g_strcmp0(object, F->finding->object) == 0))
        return TRUE;
    const gint beside[] = { F->at, F->other };
    for (guint k = 0; k < G_N_ELEMENTS(beside); k++)
        if (beside[k] >= 0 && ws_spot(F, beside[k])->group == ws_spot(F, i)->group)
            return TRUE;
    return FALSE;
}

static WsFix *propose_use(WsFixer *F, gint i, const char *use, guint more, gboolean safe)
{
    const WsNode *step = ws_spot(F, i)->node;
    const gboolean fixed = ws_node_has(step, WS_F_slot) || ws_node_has(step, WS_F_phase);
    g_autofree char *name = ws_step_name(step);
    WsFix *fix = fixed ? ws_fixer_add(F, "Let slot and parity of %s follow from use %s", name, use)
                       : ws_fixer_add(F, "Let %s name use %s", name, use);
    fix->cost += more + (concerned(F, i) ? 0 : 3);
    fix->safe = safe;
    if (ws_node_has(step, WS_F_slot))
        ws_fix_set(fix, step, WS_F_slot, NULL);
    if (ws_node_has(step, WS_F_phase))
        ws_fix_set(fix, step, WS_F_phase, NULL);
    ws_fix_set(fix, step, WS_F_use, ws_json_expr(use));
    return fix;
}

/* The coordinates of a transfer say that use, and not the one that it names. */
static gboolean is_placed_by(const WsNode *step, const char *use, const char *now)
{
    g_autofree char *at = ws_step_is_data(step->kind) ? ws_field_text(step, WS_F_at) : NULL;
    return at && strchr(use, ' ') && strstr(at, use) && !(now && strstr(at, now));
}

/* Of a barrier that begins pending, arrivals that make room are a lap ahead of what they follow. */
static void a_lap_on(WsFixer *F, gint i, const char *now)
{
    const WsNode *step = ws_spot(F, i)->node;
    const WsNode *b = ws_object_named(F->design, WS_F_barriers, ws_step_barrier(step));
    g_autofree char *slots = b ? ws_field_text(b, WS_F_slots) : NULL;
    if (!slots || step->kind != WS_STEP_ARRIVE || ws_node_has(b, WS_F_init) || ws_is_named(b) ||
        ws_spot_loop(F, i) < 0 || ws_has_word(now, slots))
        return;
    g_autofree char *use = g_strdup_printf("%s + %s", now, slots);
    propose_use(F, i, use, 3, TRUE);
}

/* Does the step follow directly on a wait for that use? */
static gboolean its_wait(const WsFixer *F, gint i, const char *use)
{
    const gint before = ws_spot_next(F, i, -1);
    g_autofree char *waits = ws_step_is(F, before, WS_STEP_WAIT)
                                 ? ws_field_text(ws_spot(F, before)->node, WS_F_use)
                                 : NULL;
    return g_strcmp0(waits, use) == 0;
}

/* A step that stands for another use than its neighbours, or than its partner. Which slot of a ring
 * a load or an mma takes is data, too: it may be changed without asking only where all others of
 * its list agree, or the wait right before it, or where it is one off what its partner beside it
 * says. */
static void use_of(WsFixer *F, gint i)
{
    const WsNode *step = ws_spot(F, i)->node;
    g_autofree char *now = ws_field_text(step, WS_F_use);
    const gboolean fixed = ws_node_has(step, WS_F_slot) || ws_node_has(step, WS_F_phase);
    if ((!now && !fixed) || !(ws_step_is_data(step->kind) || ws_step_hands(step->kind)))
        return;
    g_autoptr(GArray) uses = uses_around(F, i);
    guint own = 0, beside = 0;
    for (guint u = 0; u < uses->len; u++) {
        const Use *x = &g_array_index(uses, Use, u);
        own += g_strcmp0(now, x->text) == 0 ? x->n : 0;
        beside += x->beside ? x->n : 0;
    }
    for (guint u = 0; u < uses->len; u++) {
        const Use *x = &g_array_index(uses, Use, u);
        if (!fixed && g_strcmp0(now, x->text) == 0)
            continue;
        const gboolean all = x->beside && own == 0 && x->n >= 2 && x->n >= beside;
        const guint more = (x->beside ? (all ? 0 : x->n > 1 ? 2 : 5) : 6) + (own ? 7 : 0);
        WsFix *fix =
            propose_use(F, i, x->text, more,
                        ws_step_hands(step->kind) || all || (own == 0 && its_wait(F, i, x->text)));
        fix->cost -= is_placed_by(step, x->text, now) ? PLACED : 0;
        /* a release that lags belongs to the round before */
        if (step->kind == WS_STEP_ARRIVE || step->kind == WS_STEP_RELEASE) {
            g_autofree char *lag = g_strdup_printf("%s - 1", x->text);
            if (!g_ascii_isdigit(*x->text) && g_strcmp0(lag, now) != 0)
                propose_use(F, i, lag, more + (ws_node_has(step, WS_F_when) ? 1 : 8), TRUE);
        }
    }
    const gint loop = ws_spot_loop(F, i);
    g_autofree char *bare =
        now ? stripped(now, loop >= 0 ? ws_node_name(ws_spot(F, loop)->node) : NULL) : NULL;
    gboolean named = ws_step_hands(step->kind);
    for (guint u = 0; bare && own == 0 && u < uses->len; u++)
        named |= g_array_index(uses, Use, u).beside &&
                 strcmp(g_array_index(uses, Use, u).text, bare) == 0;
    if (bare) { /* one off what its partners say: hardly anything is likelier */
        const guint more = named && !ws_step_hands(step->kind) ? 0 : 4;
        if (step->kind == WS_STEP_WAIT && ws_node_has(step, WS_F_when)) { /* as others wait */
            WsFix *fix = propose_use(F, i, bare, 0, named);
            fix->cost -= PLACED;
            ws_fix_set(fix, step, WS_F_when, NULL);
        }
        propose_use(F, i, bare, more, named);
    }
    if (now)
        a_lap_on(F, i, now);
}

/* A reference that names a use of its own, one off that of its step. */
static void own_use(WsFixer *F, gint i)
{
    static const WsFieldId refs[] = { WS_F_into, WS_F_from, WS_F_to, WS_F_a, WS_F_b };
    const WsNode *step = ws_spot(F, i)->node;
    g_autofree char *use = ws_field_text(step, WS_F_use);
    for (guint k = 0; use && k < G_N_ELEMENTS(refs); k++) {
        const WsRef *ref = ws_node_refv(step, refs[k]);
        g_autofree char *own = ref && ref->use ? ws_expr_print(ref->use) : NULL,
                        *text = own ? ws_ref_print(ref) : NULL, *bare = ws_one_off(own);
        char *at = text ? strrchr(text, '@') : NULL;
        if (!at || g_strcmp0(bare, use) != 0)
            continue;
        at[at > text && at[-1] == ' ' ? -1 : 0] = '\0';
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Let %s take %s at its own use, %s", name, text, use);
        fix->safe = FALSE; /* which slot a transfer fills is data */
        ws_fix_set(fix, step, refs[k], ws_json_text(text));
    }
}

void ws_fix_use_of_others(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        use_of(F, i);
        own_use(F, i);
    }
}

/* --- which parity passes first ---------------------------------------------------------------- */
static gboolean fills(const WsNode *step)
{
    return step->kind == WS_STEP_LOAD || step->kind == WS_STEP_GATHER ||
           step->kind == WS_STEP_COPY || step->kind == WS_STEP_EXPECT ||
           (step->kind == WS_STEP_WRITE && ws_node_refv(step, WS_F_to));
}

/* What waits for it are for: 1 room, before something is filled; -1 data that were loaded or
 * written; 0 nobody knows. */
static int role_of(const WsFixer *F, const char *barrier)
{
    int room = 0;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (g_strcmp0(ws_step_barrier(s->node), barrier) != 0)
            continue;
        if (s->node->kind != WS_STEP_WAIT && s->node->kind != WS_STEP_ARRIVE)
            return -1; /* a transfer signals it, or its bytes are expected */
        for (gint k = ws_spot_next(F, i, 1); s->node->kind == WS_STEP_WAIT && k >= 0 && !room;
             k = ws_spot_next(F, k, 1))
            room = fills(ws_spot(F, k)->node)                   ? 1
                   : ws_step_is_data(ws_spot(F, k)->node->kind) ? -1
                                                                : 0;
    }
    return room;
}

/* Can nobody arrive there before a step of the waiting group has come? Then the first wait must
 * pass: the turn begins with it. Else it waits for an event that may be missing. */
static gboolean begins(const WsFixer *F, const char *barrier)
{
    const WsNode *waiter = NULL;
    for (gint i = 0; i < (gint)F->spot->len && !waiter; i++)
        if (ws_is_on(F, i, WS_STEP_WAIT, barrier))
            waiter = ws_spot(F, i)->group;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *a = ws_spot(F, i);
        if (a->group == waiter || a->node->kind != WS_STEP_ARRIVE ||
            g_strcmp0(ws_step_barrier(a->node), barrier) != 0)
            continue;
        for (gint w = 0; w < (gint)F->spot->len; w++) {
            const char *data = ws_spot(F, w)->group == a->group && ws_step_is(F, w, WS_STEP_WAIT)
                                   ? ws_step_barrier(ws_spot(F, w)->node)
                                   : NULL;
            for (gint s = 0; data && s < (gint)F->spot->len; s++)
                if (ws_spot(F, s)->group == waiter && !ws_step_is(F, s, WS_STEP_WAIT) &&
                    g_strcmp0(ws_step_barrier(ws_spot(F, s)->node), data) == 0)
                    return TRUE;
        }
    }
    return FALSE;
}

/* A wait that passes at once is only safe where room is waited for: nothing was there before. */
void ws_fix_flip_init(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    const char *own = F->at >= 0 ? ws_step_barrier(ws_spot(F, F->at)->node) : NULL;
    for (guint i = 0; i < ws_node_n_children(root, WS_F_barriers); i++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, i);
        const char *name = ws_node_name(b), *init = ws_node_text(b, WS_F_init);
        const gboolean ready = g_strcmp0(init, "ready") == 0;
        const int found = role_of(F, name), role = found > 0 && !begins(F, name) ? 0 : found;
        const gboolean likely = role == (ready ? -1 : 1);
        if (!ready &&
            role <= 0) /* a wait for an event: passing it would hide that nobody makes it */
            continue;
        if ((ws_node_has(b, WS_F_init) && !init) /* one for each element */ || ws_is_named(b) ||
            (!likely && b != F->object && g_strcmp0(name, own) != 0))
            continue;
        WsFix *fix = ws_fixer_add(F,
                                  ready ? "Let %s begin pending: its first wait blocks"
                                        : "Let %s begin ready: its first wait passes",
                                  name);
        if (likely)
            fix->cost = LIKELY;
        if (ready)
            ws_fix_set(fix, b, WS_F_init, NULL);
        else
            ws_fix_set(fix, b, WS_F_init, ws_json_text("ready"));
    }
}

/* No other step on its barrier has a condition. */
static gboolean is_alone(const WsFixer *F, gint at)
{
    const char *barrier = ws_step_barrier(ws_spot(F, at)->node);
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (i != at && g_strcmp0(ws_step_barrier(ws_spot(F, i)->node), barrier) == 0 &&
            ws_node_has(ws_spot(F, i)->node, WS_F_when))
            return FALSE;
    return TRUE;
}

void ws_fix_wait_always(WsFixer *F)
{
    guint n = 0;
    for (gint k = 0; k < 2 * (gint)F->spot->len && n < MOST; k++) { /* those that wait come first */
        const gint i = k % (gint)F->spot->len;
        const WsNode *step = ws_spot(F, i)->node;
        const gboolean waits = step->kind == WS_STEP_WAIT || step->kind == WS_STEP_SYNC;
        if (waits != (k < (gint)F->spot->len) ||
            (!ws_step_hands(step->kind) && step->kind != WS_STEP_SYNC) ||
            !ws_node_has(step, WS_F_when) || !concerned(F, i))
            continue;
        g_autofree char *name = ws_step_name(step);
        WsFix *fix = ws_fixer_add(F, "Do %s in every round", name);
        fix->cost -= is_alone(F, i) ? ALONE : 0;
        ws_fix_set(fix, step, WS_F_when, NULL);
        const gint loop = ws_spot_loop(F, i);
        if (loop >= 0) {
            g_autofree char *round = ws_first_round(F, loop, ">");
            WsFix *later = ws_fixer_add(F, "Do %s in every round but the first", name);
            later->cost -= 8;
            ws_fix_set(later, step, WS_F_when, ws_json_expr(round));
        }
        n++;
    }
}

/* Steps of one list that share a use get another one together. */
static void set_all(WsFixer *F, gint i, const char *from, const char *to, const char *title)
{
    const WsSpot *s = ws_spot(F, i);
    WsFix *fix = ws_fixer_add(F, "%s", title);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        g_autofree char *use = ws_field_text(step, WS_F_use);
        if (g_strcmp0(use, from) == 0)
            ws_fix_set(fix, step, WS_F_use, ws_json_expr(to));
    }
}

void ws_fix_use_of_writer(WsFixer *F)
{
    guint n = 0;
    const gint list[] = { F->at, F->other };
    for (guint l = 0; l < G_N_ELEMENTS(list); l++) {
        if (list[l] < 0)
            continue;
        const WsSpot *s = ws_spot(F, list[l]);
        g_autoptr(GArray) uses = uses_around(F, list[l]);
        for (gint i = 0; i < (gint)F->spot->len; i++)
            if (ws_step_is_data(ws_spot(F, i)->node->kind) && ws_spot(F, i)->group != s->group)
                add_use(uses, ws_step_use(ws_spot(F, i)->node), FALSE);
        for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
            const WsNode *step = ws_node_child(s->owner, s->field, k);
            g_autofree char *use = ws_field_text(step, WS_F_use), *name = ws_step_name(step);
            for (guint u = 0; use && u < uses->len && n < 2 * MOST; u++) {
                const char *to = g_array_index(uses, Use, u).text;
                if (strcmp(use, to) == 0)
                    continue;
                g_autofree char *title =
                    ws_phrase("Let the steps beside %s name use %s instead of %s", name, to, use);
                set_all(F, list[l], use, to, title);
                n++;
            }
        }
    }
}
