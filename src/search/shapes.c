#include "search/shapes.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <math.h>

#define LEAST_GAIN 1e-3 /* of the mean regret, for one design more */

static gint64 cycles_at(const WsShapes *s, guint design, guint shape)
{
    return s->cycles[design * s->n_shapes + shape];
}

static void add_design(WsShapes *s, GHashTable *seen, WsDesign *design)
{
    if (g_hash_table_add(seen, ws_design_print(design)))
        g_ptr_array_add(s->all, ws_design_ref(design));
}

static void play_all(WsShapes *s, const WsTrialOf *of)
{
    s->cycles = g_new0(gint64, s->all->len * s->n_shapes);
    for (guint d = 0; d < s->all->len; d++)
        for (guint i = 0; i < s->n_shapes; i++) {
            gboolean stuck;
            g_autoptr(WsClockResult) r = NULL;
            g_autoptr(WsProgram) p = ws_trial_play(&of[i], s->all->pdata[d], 0, &r, &stuck);
            s->cycles[d * s->n_shapes + i] = p ? r->cycles : 0;
        }
}

gint64 ws_shapes_fewest(const WsShapes *s, guint shape)
{
    gint64 best = 0;
    for (guint d = 0; d < s->all->len; d++) {
        const gint64 own = cycles_at(s, d, shape);
        if (own > 0 && (!best || own < best))
            best = own;
    }
    return best;
}

/* What is picked of those kept and of one more (G_MAXUINT: none), and what it loses. */
static double regret_with(const WsShapes *s, guint shape, guint more, guint *choice)
{
    gint64 best = 0;
    for (guint k = 0; k < s->kept->len + (more != G_MAXUINT); k++) {
        const guint d = k < s->kept->len ? g_array_index(s->kept, guint, k) : more;
        const gint64 own = cycles_at(s, d, shape);
        if (own > 0 && (!best || own < best)) {
            best = own;
            *choice = d;
        }
    }
    return best ? (double)best / (double)ws_shapes_fewest(s, shape) - 1 : INFINITY;
}

static double mean_with(const WsShapes *s, guint more)
{
    double sum = 0;
    guint ignored;
    for (guint i = 0; i < s->n_shapes; i++)
        sum += regret_with(s, i, more, &ignored);
    return sum / s->n_shapes;
}

/* One of those kept for another, as long as that helps. */
static gboolean exchange(WsShapes *s)
{
    const double mean = mean_with(s, G_MAXUINT);
    for (guint k = 0; k < s->kept->len; k++) {
        const guint was = g_array_index(s->kept, guint, k);
        for (guint d = 0; d < s->all->len; d++) {
            g_array_index(s->kept, guint, k) = d;
            if (mean_with(s, G_MAXUINT) < mean - 1e-9)
                return TRUE;
        }
        g_array_index(s->kept, guint, k) = was;
    }
    return FALSE;
}

/* A design that runs all shapes stands first: it is for all others, too. */
static void begin_with_general(WsShapes *s)
{
    for (guint k = 0; k < s->kept->len; k++) {
        const guint d = g_array_index(s->kept, guint, k);
        guint runs = 0;
        for (guint i = 0; i < s->n_shapes; i++)
            runs += cycles_at(s, d, i) > 0;
        if (runs < s->n_shapes)
            continue;
        g_array_index(s->kept, guint, k) = g_array_index(s->kept, guint, 0);
        g_array_index(s->kept, guint, 0) = d;
        return;
    }
}

/* The one that helps most, again and again. */
static void keep_some(WsShapes *s, guint most)
{
    double mean = INFINITY;
    while (s->kept->len < most) {
        guint best = G_MAXUINT;
        double least = mean - (isinf(mean) ? 0 : LEAST_GAIN);
        for (guint d = 0; d < s->all->len; d++) {
            const double with = mean_with(s, d);
            if (with < least) {
                least = with;
                best = d;
            }
        }
        if (best == G_MAXUINT)
            break;
        g_array_append_val(s->kept, best);
        while (exchange(s))
            ;
        mean = mean_with(s, G_MAXUINT);
    }
    begin_with_general(s);
}

WsShapes *ws_shapes_new(const WsTrialOf *of, const WsSearch *const *found, guint n_shapes,
                        const WsDesign *start, guint most)
{
    WsShapes *s = g_new0(WsShapes, 1);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s->n_shapes = n_shapes;
    s->all = g_ptr_array_new_with_free_func((GDestroyNotify)ws_design_unref);
    s->kept = g_array_new(FALSE, FALSE, sizeof(guint));
    add_design(s, seen, (WsDesign *)start);
    for (guint i = 0; i < n_shapes; i++)
        for (guint k = 0; k < found[i]->found->len; k++)
            add_design(s, seen, ((WsFound *)found[i]->found->pdata[k])->design);
    play_all(s, of);
    keep_some(s, MAX(most, 1));
    s->choice = g_new0(guint, n_shapes);
    s->regret = g_new0(double, n_shapes);
    for (guint i = 0; i < n_shapes; i++) {
        s->regret[i] = regret_with(s, i, G_MAXUINT, &s->choice[i]);
        s->worst = MAX(s->worst, s->regret[i]);
        s->mean += s->regret[i] / n_shapes;
    }
    return s;
}

void ws_shapes_free(WsShapes *s)
{
    if (!s)
        return;
    g_ptr_array_unref(s->all);
    g_array_unref(s->kept);
    g_free(s->cycles);
    g_free(s->choice);
    g_free(s->regret);
    g_free(s);
}

static void add_shape(GString *text, const WsTrialOf *of)
{
    guint n = 0;
    for (guint i = 0; i < of->p->n_vars; i++)
        if (of->p->var[i].kind == WS_VAR_SIZE)
            g_string_append_printf(text, "%s%s == %" G_GINT64_FORMAT, n++ ? " && " : "",
                                   of->p->var[i].name, ws_launch_var(of->v, (gint)i));
}

char *ws_shapes_rule(const WsShapes *s, const WsTrialOf *of, const char *const *file)
{
    GString *text = g_string_new(NULL);
    g_string_append_printf(
        text,
        "# Which design for which shape, on %s. Costs are cycles of the busiest "
        "SM as predicted; nothing is measured.\n"
        "# Of %u shapes that were searched the rule loses %.1f %% beside the "
        "best of each, %.1f %% at most. All other shapes get the first design.\n",
        of->m->name, s->n_shapes, 100 * s->mean, 100 * s->worst);
    for (guint k = 0; k < s->kept->len; k++) {
        const guint d = g_array_index(s->kept, guint, k);
        for (guint i = 0; i < s->n_shapes; i++) {
            if (s->choice[i] != d)
                continue;
            g_string_append_printf(text, "\ndesign %s\n  when ", file[k]);
            add_shape(text, &of[i]);
            g_string_append_printf(text, "\n  cost %" G_GINT64_FORMAT "\n", cycles_at(s, d, i));
        }
    }
    g_string_append_printf(text, "\n# Any other shape: no line above applies.\ndesign %s\n",
                           file[0]);
    return g_string_free(text, FALSE);
}
