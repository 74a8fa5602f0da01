/* Edits that move a statement or leave it out. */
#include "import/python/edits/spots.h"

#include <string.h>

/* A block must not become empty. */
static char *left_behind(const PyEdits *e, const PySpot *s)
{
    const gboolean only = !py_spot_beside(e->spots, s, -1) && !py_spot_beside(e->spots, s, 1);
    return only ? g_strdup_printf("%*spass\n", (int)s->indent, "") : g_strdup("");
}

static gboolean moves(const PySpot *s)
{
    return s->role != PY_ROLE_NONE && s->role != PY_ROLE_LOOP && s->role != PY_ROLE_BRANCH;
}

static void move_to(PyEdits *e, const PySpot *s, guint cost, guint to, guint indent,
                    const char *title)
{
    if (to > s->first && to <= s->last + 1)
        return;
    py_edits_moved(e, cost + (s->role == PY_ROLE_ACCESS ? 20 : 0), s, left_behind(e, s), to,
                   py_spot_indented(e->spots, s, indent), title);
}

/* First and last statement inside of a loop or a branch. */
static const PySpot *inner(const PySpots *spots, const PySpot *outer, gboolean last)
{
    const gint at = (gint)(outer - py_spot(spots, 0));
    const PySpot *found = NULL;
    for (guint i = 0; i < spots->spot->len; i++) {
        const PySpot *s = py_spot(spots, i);
        if (s->outer == at && (!found || last))
            found = s;
    }
    return found;
}

static void move_beside(PyEdits *e, const PySpot *s)
{
    for (gint direction = -1; direction <= 1; direction += 2) {
        const PySpot *other = py_spot_beside(e->spots, s, direction);
        for (guint step = 0; other && step < 5; step++) {
            move_to(e, s, 15 + 4 * step, direction < 0 ? other->first : other->last + 1, s->indent,
                    direction < 0 ? "moved up" : "moved down");
            const PySpot *in =
                other->last > other->head ? inner(e->spots, other, direction < 0) : NULL;
            if (in && step < 2)
                move_to(e, s, 30, direction < 0 ? in->last + 1 : in->first, in->indent,
                        other->role == PY_ROLE_LOOP ? "moved into the loop"
                                                    : "moved into the branch");
            other = py_spot_beside(e->spots, other, direction);
        }
    }
}

static void move_out(PyEdits *e, const PySpot *s)
{
    gint at = s->outer;
    for (guint level = 0; at >= 0 && level < 2; level++) {
        const PySpot *outer = py_spot(e->spots, (guint)at);
        const char *title =
            outer->role == PY_ROLE_LOOP ? "moved out of the loop" : "moved out of the branch";
        move_to(e, s, 20 + 5 * level, outer->first, outer->indent, title);
        move_to(e, s, 20 + 5 * level, outer->last + 1, outer->indent, title);
        at = outer->outer;
    }
}

static void leave_out(PyEdits *e, const PySpot *s)
{
    if (s->role == PY_ROLE_ACCESS || s->role == PY_ROLE_INIT ||
        (s->role == PY_ROLE_COUNT && s->node->kind != WS_PY_AUGMENT))
        return;
    const guint named = py_edits_named(e, s->text) ? 0 : 10;
    py_edits_lines(e, 25 + named, s->first, s->last - s->first + 1, left_behind(e, s), "left out");
}

/* What a branch holds is done always. */
static void without_branch(PyEdits *e, const PySpot *s)
{
    GString *text = g_string_new(NULL);
    const gint at = (gint)(s - py_spot(e->spots, 0));
    gboolean acts = FALSE;
    if (s->node->n == 2)
        for (guint i = 0; i < e->spots->spot->len; i++) {
            const PySpot *in = py_spot(e->spots, i);
            if (in->outer != at)
                continue;
            g_autofree char *lines = py_spot_indented(e->spots, in, s->indent);
            g_string_append(text, lines);
            acts |= moves(in);
        }
    if (acts)
        py_edits_lines(e, 15, s->first, s->last - s->first + 1, g_string_free(text, FALSE),
                       "done without the condition");
    else
        g_string_free(text, TRUE);
}

void py_edits_moves(PyEdits *e)
{
    for (guint i = 0; i < e->spots->spot->len && !py_edits_full(e); i++) {
        const PySpot *s = py_spot(e->spots, i);
        if (s->role == PY_ROLE_BRANCH)
            without_branch(e, s);
        if (!moves(s))
            continue;
        move_beside(e, s);
        move_out(e, s);
        leave_out(e, s);
    }
}
