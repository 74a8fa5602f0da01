/* What a launch of all devices adds to each element of each flag on each device. A notify is
 * executed once for every device, every tile or CTA, and every round around it; the device that it
 * reaches and the element are digits of those numbers, each combination of them met as often as the
 * other digits have values. */
#include "check/mesh/mesh.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"

enum { MOST_DIGITS = 20 };

/* A number that runs from 0 to extent - 1 over the executions of a notify. */
typedef struct {
    guint atom;    /* 0: the CTA of a launch, which nothing names */
    gboolean used; /* by the device or the element */
    WsPoly extent;
} Digit;

typedef struct {
    guint n;
    Digit digit[MOST_DIGITS];
} Digits;

static void add_digit(Digits *x, guint atom, WsPoly extent)
{
    if (x->n < MOST_DIGITS)
        x->digit[x->n++] = (Digit){ atom, FALSE, extent };
}

static void digits_of(WsMeshCheck *M, const WsMeshSite *s, Digits *x)
{
    const WsTiles *tiles = M->p->tiles;
    guint atom;
    x->n = 0;
    if (ws_poly_is_atom(M->rank, &atom))
        add_digit(x, atom, M->devices);
    for (guint i = 0; i < s->n_loops; i++)
        if (s->round[i])
            add_digit(x, s->round[i], ws_atom(M->g.ps, s->round[i])->extent);
        else if (s->loop[i]->over != WS_OVER_TILES) { /* of a constant number of rounds, 0 or 1 */
            WsPoly count = ws_terms_of(&M->g.terms, s->loop[i]->count);
            add_digit(x, 0, count);
        }
    if (!s->in_tiles && tiles->grid)
        add_digit(x, 0, ws_terms_of(&M->g.terms, tiles->grid));
    for (guint a = 0; s->in_tiles && a < tiles->n_axes; a++) {
        g_autoptr(WsExpr) var = ws_expr_var(tiles->axis[a].var, tiles->axis[a].name);
        WsPoly extent = ws_terms_of(&M->g.terms, tiles->axis[a].extent);
        add_digit(x, ws_poly_is_atom(ws_terms_of(&M->g.terms, var), &atom) ? atom : 0, extent);
    }
}

/* FALSE: its executions are not counted. */
static gboolean counted_digits(WsMeshCheck *M, const WsMeshSite *s, Digits *x)
{
    if (s->conditional || !s->plain || (!s->in_tiles && !M->p->tiles->grid))
        return FALSE;
    digits_of(M, s, x);
    for (guint i = 0; i < x->n; i++) /* none below 0, which would be none at all */
        if (!ws_facts_least(&M->g.facts, x->digit[i].extent, FALSE))
            return FALSE;
    return TRUE;
}

static Digit *digit_of(Digits *x, guint atom)
{
    for (guint i = 0; i < x->n; i++)
        if (atom && x->digit[i].atom == atom && !x->digit[i].used)
            return &x->digit[i];
    return NULL;
}

static WsPoly leaf_of(WsMeshCheck *M, guint atom)
{
    WsMono *m = ws_polys_alloc(M->g.ps, sizeof *m);
    *m = (WsMono){ .factor = 1, .n = 1, .atom = { (guint16)atom } };
    return (WsPoly){ 1, m };
}

/* The element is one digit, or high * extent of low + low: each element of the array once while
 * they run. */
static gboolean takes_element(WsMeshCheck *M, const WsMeshSite *s, WsPoly elements, Digits *x)
{
    gint64 known;
    guint atom;
    WsPolys *ps = M->g.ps;
    WsPoly element = s->element;
    if (ws_poly_equal(elements, ws_poly_int(ps, 1)))
        return ws_poly_is_int(element, &known) && known == 0;
    for (guint i = 0; i < x->n; i++)
        if (x->digit[i].atom && ws_atom(ps, x->digit[i].atom)->kind == WS_ATOM_AXIS &&
            ws_global_turn(&M->g, x->digit[i].atom, &element, &atom))
            x->digit[i].atom = atom;
    Digit *one = ws_poly_is_atom(element, &atom) ? digit_of(x, atom) : NULL;
    if (one && ws_poly_equal(one->extent, elements)) {
        one->used = TRUE;
        return TRUE;
    }
    for (guint hi = 0; hi < x->n; hi++)
        for (guint lo = 0; lo < x->n; lo++) {
            Digit *h = &x->digit[hi], *l = &x->digit[lo];
            if (hi == lo || !h->atom || !l->atom || h->used || l->used)
                continue;
            WsPoly both = ws_poly_add(ps, leaf_of(M, l->atom), 1,
                                      ws_poly_mul(ps, leaf_of(M, h->atom), l->extent));
            if (!ws_poly_equal(both, element) ||
                !ws_poly_equal(ws_poly_mul(ps, h->extent, l->extent), elements))
                continue;
            h->used = l->used = TRUE;
            return TRUE;
        }
    return FALSE;
}

/* What the notify adds to each element on each device in a launch. FALSE: not followed, and said.
 */
static gboolean adds(WsMeshCheck *M, const WsMeshSite *s, WsPoly *out)
{
    const WsFlag *f = &M->p->mesh->flag[s->op->peer->flag];
    Digits x;
    if (!counted_digits(M, s, &x)) {
        ws_mesh_open(M, s->op,
                     "how often %s is executed in a launch is not counted: it stands under a "
                     "condition, in rounds "
                     "that the launch does not give, or outside of the tiles without a `grid`",
                     s->op->label);
        return FALSE;
    }
    if (!s->of_all) {
        guint own; /* each device to itself: once over the devices, too */
        Digit *d = s->device_var >= 0 ? digit_of(&x, s->device_atom)
                   : ws_poly_equal(s->device, M->rank) && ws_poly_is_atom(s->device, &own)
                       ? digit_of(&x, own)
                       : NULL;
        if (!d) {
            ws_mesh_open(M, s->op,
                         "`device` of %s is neither all, nor an axis or index that runs over the "
                         "devices, nor "
                         "(axis + …) %% devices",
                         s->op->label);
            return FALSE;
        }
        d->used = TRUE;
    }
    if (!takes_element(M, s, ws_terms_of(&M->g.terms, f->array), &x)) {
        ws_mesh_open(M, s->op,
                     "the element of %s is not met equally often: it is neither one number that "
                     "runs over all of "
                     "them, nor high*count + low of two",
                     ws_mesh_flag(M, s->op));
        return FALSE;
    }
    *out = s->amount;
    if (ws_poly_on(M->g.ps, *out) ||
        !ws_facts_least(&M->g.facts, ws_poly_add(M->g.ps, *out, -1, ws_poly_int(M->g.ps, 1)),
                        FALSE)) {
        ws_mesh_open(M, s->op, "what %s adds is not one number in a launch, of at least 1",
                     s->op->label);
        return FALSE;
    }
    for (guint i = 0; i < x.n; i++)
        if (!x.digit[i].used)
            *out = ws_poly_mul(M->g.ps, *out, x.digit[i].extent);
    return TRUE;
}

/* An await is of an element that there is. */
static void in_array(WsMeshCheck *M, const WsMeshSite *s)
{
    WsPoly elements = ws_terms_of(&M->g.terms, M->p->mesh->flag[s->op->peer->flag].array);
    WsPoly left = ws_poly_add(M->g.ps, ws_poly_add(M->g.ps, elements, -1, s->element), -1,
                              ws_poly_int(M->g.ps, 1));
    Digits x;
    digits_of(M, s, &x);
    if (takes_element(M, s, elements, &x))
        return;
    if (!ws_facts_least(&M->g.facts, s->element, TRUE) || !ws_facts_least(&M->g.facts, left, TRUE))
        ws_mesh_open(M, s->op, "it was not shown that %s has this element", ws_mesh_flag(M, s->op));
}

static void of_await(WsMeshCheck *M, const WsMeshSite *s)
{
    WsPoly all = ws_mesh_per_launch(M, s->op->peer->flag), one = ws_poly_int(M->g.ps, 1);
    WsPoly more = ws_poly_add(M->g.ps, all, -1, s->amount);
    in_array(M, s);
    if (ws_poly_on(M->g.ps, s->amount)) {
        ws_mesh_open(M, s->op, "what it awaits is not one number in a launch");
        return;
    }
    if (ws_poly_equal(all, s->amount)) {
        if (s->op->peer->equals && M->gates[s->op->peer->flag])
            ws_mesh_open(
                M, s->op,
                "a device that is a launch ahead could add to %s before this CTA has looked",
                ws_mesh_flag(M, s->op));
        return;
    }
    if (ws_mesh_below_at(M, s, all, s->amount) && M->counted[s->op->peer->flag]) {
        WsFinding *f =
            ws_mesh_wrong(M, WS_RULE_P_MESH, s->op, WS_HARM_HANG,
                          "%s asks for more than a launch adds: it never ends", s->op->label);
        ws_finding_set_remedy(f, "Await at most the `per_launch` of the flag.");
        return;
    }
    if (!ws_facts_least(&M->g.facts, more, FALSE) ||
        !ws_facts_least(&M->g.facts, ws_poly_add(M->g.ps, s->amount, -1, one), FALSE)) {
        ws_mesh_open(M, s->op, "it was not shown that it asks for 1 to `per_launch`");
        return;
    }
    /* what is added behind the await itself it cannot miss */
    if (s->op->peer->equals && M->counted[s->op->peer->flag] &&
        !(M->needs[s->op->peer->flag] >> s->op->peer->flag & 1) &&
        ws_mesh_below_at(M, s, s->amount, all)) {
        WsFinding *f = ws_mesh_wrong(
            M, WS_RULE_P_EPOCH, s->op, WS_HARM_HANG,
            "%s waits for exactly a number that %s grows past: the wait can miss it and never end",
            s->op->label, ws_mesh_flag(M, s->op));
        ws_finding_set_remedy(f, "Say `at_least`.");
        return;
    }
    if (!M->gates[s->op->peer->flag] || s->op->peer->equals)
        ws_mesh_open(
            M, s->op,
            "an await of a part of what devices add to %s together says nothing of any of them",
            ws_mesh_flag(M, s->op));
}

/* There is a device of the number that a put or get names. */
static void of_device(WsMeshCheck *M, const WsMeshSite *s)
{
    WsPoly left = ws_poly_add(M->g.ps, ws_poly_add(M->g.ps, M->devices, -1, s->device), -1,
                              ws_poly_int(M->g.ps, 1));
    if (ws_facts_least(&M->g.facts, s->device, TRUE) && ws_facts_least(&M->g.facts, left, TRUE))
        return;
    if (!ws_mesh_outside(M, s)) {
        ws_mesh_open(M, s->op, "it was not shown that there is a device of this number");
        return;
    }
    WsFinding *f = ws_mesh_wrong(M, WS_RULE_P_PEER, s->op, WS_HARM_CORRUPTION,
                                 "%s reaches a device that the mesh does not have", s->op->label);
    ws_finding_set_remedy(f, "Take the number modulo the devices.");
}

void ws_mesh_counts(WsMeshCheck *M)
{
    const WsMesh *mesh = M->p->mesh;
    for (guint f = 0; f < mesh->n_flags; f++) {
        WsPoly sum = ws_poly_int(M->g.ps, 0), all = ws_mesh_per_launch(M, (gint)f);
        const WsMeshSite *last = NULL, *waits = NULL;
        gboolean known = TRUE;
        for (guint i = 0; i < M->site->len; i++) {
            const WsMeshSite *s = M->site->pdata[i];
            WsPoly more;
            if (!s->op->peer || s->op->peer->flag != (gint)f)
                continue;
            if (ws_op_awaits(s->op->kind) && (!waits || ws_mesh_executed(M, s)))
                waits = s;
            if (!ws_op_notifies(s->op->kind))
                continue;
            last = s;
            known = adds(M, s, &more) && known;
            if (known)
                sum = ws_poly_add(M->g.ps, sum, 1, more);
        }
        M->counted[f] = known && last && ws_poly_equal(sum, all);
        if (!known || !waits || M->counted[f])
            continue; /* what nobody awaits may count what it likes */
        if (!ws_mesh_executed(M, waits)) {
            ws_mesh_open(M, waits->op,
                         "it was not shown that a launch adds to %s what it says, nor that this "
                         "await is executed",
                         mesh->flag[f].name);
            continue;
        }
        if (!last) {
            WsFinding *w =
                ws_mesh_wrong(M, WS_RULE_P_MESH, waits->op, WS_HARM_HANG,
                              "%s never ends: nothing notifies the flag", waits->op->label);
            ws_finding_set_remedy(w, "Notify it.");
            continue;
        }
        g_autofree char *is = ws_poly_text(M->g.ps, sum), *said = ws_poly_text(M->g.ps, all);
        if (!ws_mesh_below_at(M, waits, sum, all) && !ws_mesh_below_at(M, waits, all, sum)) {
            ws_mesh_open(
                M, last->op,
                "a launch adds %s to %s; it was not shown that this is its `per_launch`, %s", is,
                mesh->flag[f].name, said);
            continue;
        }
        WsFinding *w = ws_mesh_wrong(M, WS_RULE_P_EPOCH, last->op, WS_HARM_EARLY,
                                     "a launch adds %s to each element of %s, and its `per_launch` "
                                     "is %s: later launches count from a wrong "
                                     "number",
                                     is, mesh->flag[f].name, said);
        ws_finding_set_remedy(w, "Set \"per_launch\": \"%s\".", is);
    }
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_awaits(s->op->kind))
            of_await(M, s);
        if ((ws_op_puts(s->op->kind) || ws_op_gets(s->op->kind)) && s->device_var < 0 &&
            !ws_poly_equal(s->device, M->rank))
            of_device(M, s);
    }
}
