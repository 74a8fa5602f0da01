/* What stands around the score: title, sizes, bound, axis, legend, footnote. */
#include "score/build.h"

#include <math.h>
#include <string.h>

static const char *origin_text(const WsScene *s)
{
    if (s->predicted && s->measured)
        return "predicted, measured below";
    return s->measured ? "measured" : "predicted";
}

static char *sizes_text(const WsTrace *t)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < t->size->len; i++) {
        g_autofree char *value = ws_group_digits(g_array_index(t->size, gint64, i));
        g_string_append_printf(s, "%s%s %s", i ? "  " : "", g_array_index(t->size_name, char *, i),
                               value);
    }
    return g_string_free(s, FALSE);
}

static void add_part(GString *s, const char *text)
{
    if (!text || !*text)
        return;
    if (s->len)
        g_string_append(s, "   \xc2\xb7   ");
    g_string_append(s, text);
}

static char *bound_text(const WsBuild *b)
{
    const char *bound = b->o->bound ? b->o->bound : b->t->bound;
    gboolean known = !isnan(b->t->tensor_busy);
    if (!bound && !known)
        return NULL;
    GString *s = g_string_new(NULL);
    if (bound)
        g_string_append_printf(s, "bound by %s%s", bound, known ? ", " : "");
    if (known)
        g_string_append_printf(s, "tensor core busy %.1f %%", 100 * b->t->tensor_busy);
    return g_string_free(s, FALSE);
}

void ws_furniture_head(WsBuild *b)
{
    ws_build_text(b, WS_TEXT_TITLE, WS_MARGIN, 30, g_strdup(b->p->name ? b->p->name : "design"));
    b->y = 44;
    b->s->axis_y = b->y;
    if (!b->t)
        return;
    GString *s = g_string_new(NULL);
    add_part(s, origin_text(b->s));
    g_autofree char *sizes = sizes_text(b->t);
    add_part(s, sizes);
    add_part(s, b->t->device);
    if (b->cta < b->t->cta->len) {
        const WsTraceCta *cta = &g_array_index(b->t->cta, WsTraceCta, b->cta);
        g_autofree char *cycles = ws_group_digits(cta->cycles);
        g_autofree char *where = g_strdup_printf("CTA %u, %s cycles", cta->id, cycles);
        add_part(s, where);
    }
    g_autofree char *bound = bound_text(b);
    add_part(s, bound);
    ws_build_text(b, WS_TEXT_SUB, WS_MARGIN, 50, g_string_free(s, FALSE));
    b->y = 62;
    b->s->axis_y = b->y + 18; /* ticks hang from here */
    b->y += 26;
}

/* Names as they stand on the staffs: "mma mma acc" would say the verb twice. */
static char *pair_text(const WsTrace *t, const WsTracePair *p)
{
    const char *a = ws_trace_op_label(t, p->op_a), *b = ws_trace_op_label(t, p->op_b);
    g_autofree char *x = g_strdup(a), *y = g_strdup(b);
    char *cut;
    if ((cut = strstr(x, " -> ")))
        *cut = 0;
    if ((cut = strstr(y, " -> ")))
        *cut = 0;
    return g_strdup_printf("%s under %s (%s) %.0f %%", x, y,
                           (const char *)t->agent_name->pdata[p->agent_b], 100 * p->share_a);
}

/* The pairs that tell whether the design overlaps: other work against the tensor core. */
static void add_pairs(GString *s, const WsTrace *t, const WsTraceStats *stats)
{
    guint shown = 0;
    g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < stats->pair->len && shown < 5; i++) {
        WsTracePair p = g_array_index(stats->pair, WsTracePair, i);
        gboolean a_mma = ws_trace_op_kind(t, p.op_a) == WS_OP_MMA;
        gboolean b_mma = ws_trace_op_kind(t, p.op_b) == WS_OP_MMA;
        if (a_mma && !b_mma) { /* the tensor core comes second */
            WsTracePair swapped = { p.agent_b, p.op_b, p.agent_a, p.op_a,   p.b,
                                    p.a,       p.both, p.share_b, p.share_a };
            p = swapped;
        } else if (!b_mma || a_mma) {
            continue;
        }
        WsOpKind kind = ws_trace_op_kind(t, p.op_a);
        if ((!ws_trace_kind_flies(kind) && kind != WS_OP_MATH) || p.share_a < 0.005)
            continue;
        char *key = g_strdup_printf("%s|%s", (char *)t->op_id->pdata[p.op_a],
                                    (char *)t->op_id->pdata[p.op_b]);
        if (!g_hash_table_add(told, key))
            continue;
        g_autofree char *text = pair_text(t, &p);
        g_string_append_printf(s, "%s%s", shown++ ? "  \xc2\xb7  " : "Overlap: ", text);
    }
}

static void add_loops(GString *s, const WsTrace *t, const WsTraceStats *stats)
{
    guint shown = 0;
    for (guint i = 0; i < stats->loop->len && shown < 4; i++) {
        const WsTraceLoopStat *l = &g_array_index(stats->loop, WsTraceLoopStat, i);
        const char *name = strrchr(l->loop, '/');
        if (!name || ws_trace_op_kind(t, l->op) != WS_OP_MMA)
            continue;
        g_autofree char *period = ws_group_digits(l->period.p50);
        g_string_append_printf(s, "%s%s loop of %s %s cycles",
                               shown++ ? "  \xc2\xb7  " : "Period: ", name + 1,
                               (char *)t->agent_name->pdata[l->agent], period);
    }
}

/* The waits that cost most, over the whole run. */
static void add_waits(GString *s, const WsTrace *t, const WsTraceStats *stats)
{
    gboolean taken[3] = { FALSE };
    guint best[3];
    for (guint n = 0; n < 3; n++) {
        for (guint i = 0; i < stats->step->len; i++) {
            const WsTraceStepStat *p = &g_array_index(stats->step, WsTraceStepStat, i);
            gboolean used = FALSE;
            for (guint k = 0; k < n; k++)
                used |= taken[k] && best[k] == i;
            if (used || ws_trace_op_kind(t, p->op) != WS_OP_MBAR_WAIT || p->share < 0.001)
                continue;
            if (!taken[n] ||
                p->share > g_array_index(stats->step, WsTraceStepStat, best[n]).share) {
                taken[n] = TRUE;
                best[n] = i;
            }
        }
        if (!taken[n])
            break;
        const WsTraceStepStat *p = &g_array_index(stats->step, WsTraceStepStat, best[n]);
        g_string_append_printf(s, "%s%s %s %.1f %%", n ? "  \xc2\xb7  " : "Exposed waits: ",
                               (char *)t->agent_name->pdata[p->agent], ws_trace_op_label(t, p->op),
                               100 * p->share);
    }
}

static void put_note(WsBuild *b, GString *s)
{
    if (!s->len) {
        g_string_free(s, TRUE);
        return;
    }
    ws_build_text(b, WS_TEXT_NOTE, WS_MARGIN, b->y + 12, g_string_free(s, FALSE));
    b->y += 17;
}

void ws_furniture_foot(WsBuild *b)
{
    b->y = b->s->bottom + 12;
    b->s->legend_y = b->y;
    if (!b->t || !b->s->item->len)
        return;
    b->y += 24;
    WsTraceStats *own = b->o->stats ? NULL : ws_trace_stats_new(b->t);
    const WsTraceStats *stats = own ? own : b->o->stats;
    GString *first = g_string_new(NULL), *second = g_string_new(NULL);
    add_loops(first, b->t, stats);
    if (first->len)
        g_string_append(first, "        ");
    add_waits(first, b->t, stats);
    add_pairs(second, b->t, stats);
    put_note(b, first);
    put_note(b, second);
    if (b->t->origin == WS_TRACE_MEASURED || b->overlay) {
        const WsTrace *m = b->overlay ? b->overlay : b->t;
        GString *third = g_string_new("Measured ends are when completion was observed: upper "
                                      "bounds.");
        if (!isnan(m->overhead))
            g_string_append_printf(third, "  Recording cost %.1f %% of the time.",
                                   100 * m->overhead);
        if (b->overlay && !b->seen_overlay->len)
            g_string_append(third, "  The measured trace has no records in this window.");
        put_note(b, third);
    }
    ws_trace_stats_free(own);
}
