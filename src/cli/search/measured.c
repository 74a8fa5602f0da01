#include "cli/search/measured.h"
#include "base/folder.h"
#include "base/median.h"
#include "base/temporary.h"
#include "check/check.h"
#include "check/verdict.h"
#include "cli/kernels.h"
#include "launch/collect.h"
#include "launch/history.h"
#include "launch/rank.h"
#include "launch/run.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <math.h>
#include <string.h>

#define RUNS       10   /* cold launches of a turn */
#define LAST_TURNS 3    /* of the designs that stay */
#define HOPELESS   2.0  /* times the fastest of its turn: left out at once */
#define CLOSE      1.05 /* the clock errs by as much on average */

static void free_design(gpointer data)
{
    WsMeasuredDesign *d = data;
    g_free(d->dir);
    g_free(d->state);
    g_free(d->problem);
    g_array_unref(d->us);
    g_free(d);
}

void ws_measured_free(WsMeasured *m)
{
    if (!m)
        return;
    g_ptr_array_unref(m->design);
    g_ptr_array_unref(m->own);
    g_free(m);
}

/* --- which, and their bundles -------------------------------------------------------------------
 */

/* What a search kept may be of an older check. */
gboolean ws_measured_is_proved(const WsFound *f)
{
    g_autoptr(WsFindings) ignored = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(f->design, NULL, 0, ignored);
    g_autoptr(WsVerdict) v = p ? ws_check(p, NULL, ignored) : NULL;
    return v && v->kind == WS_VERDICT_PROVED;
}

WsMeasuredDesign *ws_measured_add(WsMeasured *m, const WsFound *f, gboolean proved)
{
    WsMeasuredDesign *d = g_new0(WsMeasuredDesign, 1);
    d->found = f;
    d->proved = proved;
    d->us = g_array_new(FALSE, FALSE, sizeof(double));
    d->time = NAN;
    g_ptr_array_add(m->design, d);
    return d;
}

/* Two that the clock cannot tell apart in anything would take the place of a third. */
static gboolean is_alike(const WsMeasured *m, const WsFound *f)
{
    for (guint i = 0; i < m->design->len; i++) {
        const WsFound *k = ((WsMeasuredDesign *)m->design->pdata[i])->found;
        if (k->cycles == f->cycles && k->shared == f->shared && k->registers == f->registers)
            return TRUE;
    }
    return FALSE;
}

/* Where the clock says as much of two, their order of what computes still makes other code of them.
 */
static gboolean is_another_order(GHashTable *orders, const WsFound *f)
{
    g_autoptr(WsFindings) ignored = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(f->design, NULL, 0, ignored);
    return p && g_hash_table_add(orders, ws_search_computing(p));
}

/* The fastest of each order of what computes, so far as they are within CLOSE of the fastest of
 * all; then whatever is left, fastest first. */
static GPtrArray *in_turn(const WsSearch *s)
{
    g_autoptr(GHashTable) orders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) others = g_ptr_array_new();
    GPtrArray *list = g_ptr_array_new();
    gint64 best = 0;
    for (guint i = 0; i < s->proved->len; i++) {
        WsFound *f = s->proved->pdata[i];
        if (!f->decision->len)
            continue;
        best = best ? best : f->cycles;
        const gboolean close = (double)f->cycles <= CLOSE * (double)best;
        g_ptr_array_add(close && is_another_order(orders, f) ? list : others, f);
    }
    g_ptr_array_extend(list, others, NULL, NULL);
    return list;
}

static WsMeasured *choose(WsSearchAsked *a, const WsSearch *s, guint most)
{
    WsMeasured *m = ws_measured_new(a->keep != NULL);
    g_autoptr(GPtrArray) list = in_turn(s);
    for (guint i = 0; i < s->proved->len; i++) {
        const WsFound *f = s->proved->pdata[i];
        if (!f->decision->len)
            ws_measured_add(m, f, FALSE);
    }
    for (guint i = 0; i < list->len && m->design->len <= most && !ws_cli_interrupted(); i++) {
        const WsFound *f = list->pdata[i];
        if (!is_alike(m, f) && ws_measured_is_proved(f) && ws_asked_accept(f, a))
            ws_measured_add(m, f, TRUE);
    }
    return m;
}

/* What lies in the folders of `keep`, for whoever measures them elsewhere. */
static gboolean write_list(const WsMeasured *m, const char *keep)
{
    g_autofree char *file = g_build_filename(keep, WS_MEASURED_LIST, NULL);
    g_autoptr(GString) text = g_string_new("# number | edits | predicted cycles | what was done\n");
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < m->design->len; i++) {
        const WsFound *f = ((WsMeasuredDesign *)m->design->pdata[i])->found;
        g_string_append_printf(text, "%03u | %u | %" G_GINT64_FORMAT " | ", i, f->decision->len,
                               f->cycles);
        for (guint k = 0; k < f->decision->len; k++)
            g_string_append_printf(text, "%s%s", k ? " | " : "", (char *)f->decision->pdata[k]);
        g_string_append_c(text, '\n');
    }
    if (g_file_set_contents(file, text->str, (gssize)text->len, &error))
        return TRUE;
    ws_cli_fail(WS_EXIT_DEFECT, "%s", error->message);
    return FALSE;
}

/* The bundle of each in a folder of its own; from a file, as `warpstave bundle` makes it. */
static gboolean make_bundles(WsMeasured *m, char **size, const char *scratch, const char *keep)
{
    g_autofree char *file = g_build_filename(scratch, "design.wstave", NULL);
    for (guint i = 0; i < m->design->len && !ws_cli_interrupted(); i++) {
        WsMeasuredDesign *d = m->design->pdata[i];
        g_autoptr(GError) error = NULL;
        g_autofree char *name = g_strdup_printf("%03u", i);
        /* Without the decisions as a note: by its text the studio finds what was measured of it. */
        g_autofree char *text = ws_design_print(d->found->design);
        g_auto(WsBundleOptions) options;
        ws_bundle_options_init(&options);
        options.size = g_strdupv(size);
        options.cubin = ws_asked_can_build();
        options.runs = RUNS;
        options.proved = d->proved;
        options.sustained = 0;
        d->dir = keep ? g_build_filename(keep, name, NULL) : ws_temporary_folder(&error);
        if (!d->dir || !g_file_set_contents(file, text, -1, &error)) {
            ws_cli_fail(WS_EXIT_DEFECT, "%s", error->message);
            return FALSE;
        }
        ws_cli_progress("making bundles: %u of %u", i + 1, m->design->len);
        if (ws_cli_bundle(file, &options, d->dir) != WS_EXIT_YES)
            d->problem = g_strdup("no kernel of it (see above)");
    }
    return !keep || write_list(m, keep);
}

/* --- turns --------------------------------------------------------------------------------------
 */

static double median(GArray *values)
{
    return ws_median((double *)(gpointer)values->data, values->len);
}

/* What went wrong, without the name of a folder that is gone when it is read. */
static char *problem_of(const WsMeasured *m, const WsMeasuredDesign *d, const char *message)
{
    if (m->kept)
        return g_strdup(message);
    g_auto(GStrv) piece = g_strsplit(message, d->dir, -1);
    return g_strjoinv("its bundle (--keep=DIR keeps it)", piece);
}

/* The history is a convenience: a failure is said once and changes nothing. */
static void remember(const WsMeasured *m, const WsCollected *c, const char *host)
{
    g_autoptr(GError) error = NULL;
    if (m->history && !ws_history_add(m->history, c, host, NULL, &error))
        ws_cli_fail(WS_EXIT_YES, "not kept in the run history: %s", error->message);
}

/* One turn of one; its time in us, NAN if it gave none. */
static double run_one(WsMeasured *m, WsMeasuredDesign *d, const char *host)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    const char *const again[] = { "--no-check", NULL };
    const WsRunSpec spec = { .host = host,
                             .arguments = d->turns ? again : NULL, /* judged once */
                             .quiet = TRUE,
                             .interrupted = ws_cli_interrupted };
    int status = 0;
    g_autoptr(WsCollected) c = NULL;
    const gboolean ran = ws_run_bundle(d->dir, &spec, &status, &error);
    if (ws_cli_interrupted()) /* what it left may be of half a run */
        return NAN;
    if (!ran || (status != WS_EXIT_ABSENT && !(c = ws_collect(d->dir, findings, &error)))) {
        const gboolean none = g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT);
        d->problem =
            ran && none
                ? g_strdup_printf("the runner ended with status %d, without results", status)
                : problem_of(m, d, error->message);
        m->absent |= !ran && none;
        return NAN;
    }
    if (status == WS_EXIT_ABSENT) {
        m->absent = TRUE;
        d->problem =
            g_strdup_printf("no GPU or driver %s%s", host ? "on " : "here", host ? host : "");
        return NAN;
    }
    remember(m, c, host);
    const WsCollectedCase *first = c->cases->len ? c->cases->pdata[0] : NULL;
    /* a reference that takes too long judges nothing; values were rehearsed */
    const gboolean right = first && (first->right || !strcmp(first->state, "not judged"));
    if (!d->turns || !right) { /* a later turn may hang, too */
        g_free(d->state);
        d->state = g_strdup(first ? first->state : "did not run");
        d->right = right;
    }
    d->turns++;
    return first && d->right && first->cold.n ? first->cold.median_us : NAN;
}

static int by_time(gconstpointer pa, gconstpointer pb)
{
    const WsMeasuredDesign *a = *(WsMeasuredDesign *const *)pa, *b = *(WsMeasuredDesign *const *)pb;
    if (isnan(a->time) || isnan(b->time))
        return isnan(a->time) - isnan(b->time);
    return (a->time > b->time) - (a->time < b->time);
}

/* Each of `in` once; FALSE where nothing can run. */
static gboolean take_turn(WsMeasured *m, GPtrArray *in, const char *host, guint turn)
{
    g_autofree double *us = g_new(double, in->len); /* all are set where a turn is whole */
    double best = INFINITY;
    for (guint i = 0; i < in->len && !m->absent && !ws_cli_interrupted(); i++) {
        WsMeasuredDesign *d = in->pdata[i];
        ws_cli_progress("turn %u: %u of %u on %s", turn + 1, i + 1, in->len,
                        host ? host : "the GPU");
        us[i] = d->problem ? NAN : run_one(m, d, host);
        best = us[i] < best ? us[i] : best;
    }
    if (m->absent || ws_cli_interrupted() || isnan(us[0])) /* nothing to compare with */
        return FALSE;
    for (guint i = in->len; i-- > 0;) {
        WsMeasuredDesign *d = in->pdata[i];
        if (!isnan(us[i]))
            g_array_append_val(d->us, us[i]);
        if (i && (isnan(us[i]) || us[i] > HOPELESS * best))
            g_ptr_array_remove_index(in, i);
    }
    return TRUE;
}

/* Turn for turn beside the design as it is, which drifts as they do. */
static void compare(WsMeasured *m)
{
    const WsMeasuredDesign *as_is = m->design->pdata[0];
    for (guint i = 0; i < m->design->len; i++) {
        WsMeasuredDesign *d = m->design->pdata[i];
        g_autoptr(GArray) share = g_array_new(FALSE, FALSE, sizeof(double));
        for (guint k = 0; k < MIN(d->us->len, as_is->us->len); k++) {
            const double one =
                g_array_index(d->us, double, k) / g_array_index(as_is->us, double, k);
            g_array_append_val(share, one);
        }
        d->time = d->problem || !d->right ? NAN : median(share);
    }
}

static void take_turns(WsMeasured *m, const char *host)
{
    g_autoptr(GPtrArray) in = g_ptr_array_new();
    for (guint i = 0; i < m->design->len; i++)
        g_ptr_array_add(in, m->design->pdata[i]);
    guint turn = 0, left = LAST_TURNS;
    while (left && in->len > 1 && take_turn(m, in, host, turn++)) {
        compare(m);
        gpointer as_is = g_ptr_array_steal_index(in, 0); /* stays */
        g_ptr_array_sort(in, by_time);
        left -= in->len <= 2;
        g_ptr_array_set_size(in, (gint)MIN(in->len, MAX(in->len / 2, 2)));
        g_ptr_array_insert(in, 0, as_is);
    }
}

/* --- how far the clock was right ----------------------------------------------------------------
 */

static void correlate(WsMeasured *m)
{
    g_autoptr(GArray) predicted = g_array_new(FALSE, FALSE, sizeof(double)),
                      measured = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < m->design->len; i++) {
        const WsMeasuredDesign *d = m->design->pdata[i];
        const double cycles = (double)d->found->cycles;
        if (!d->us->len)
            continue;
        g_array_append_val(predicted, cycles);
        g_array_append_val(measured, g_array_index(d->us, double, 0));
    }
    m->correlation = ws_rank_correlation((const double *)(gpointer)predicted->data,
                                         (const double *)(gpointer)measured->data, predicted->len);
}

WsMeasured *ws_measured_new(gboolean kept)
{
    WsMeasured *m = g_new0(WsMeasured, 1);
    m->design = g_ptr_array_new_with_free_func(free_design);
    m->own = g_ptr_array_new_with_free_func(ws_found_free);
    m->correlation = NAN;
    m->kept = kept;
    return m;
}

void ws_measured_take(WsMeasured *m, const char *host)
{
    g_autoptr(GError) error = NULL;
    m->history = ws_history_open(NULL, &error);
    if (!m->history && !g_error_matches(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT))
        ws_cli_fail(WS_EXIT_YES, "not kept in the run history: %s", error->message);
    take_turns(m, host);
    g_clear_pointer(&m->history, ws_history_close);
    ws_cli_progress(NULL);
    correlate(m);
    compare(m);
    gpointer as_is = g_ptr_array_steal_index(m->design, 0);
    g_ptr_array_sort(m->design, by_time);
    g_ptr_array_insert(m->design, 0, as_is);
}

WsMeasured *ws_measured_run(WsSearchAsked *a, const WsSearch *s, char **size, const char *host,
                            const char *keep, guint most)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *scratch = ws_temporary_folder(&error);
    if (!scratch || (keep && (!*keep || g_mkdir_with_parents(keep, 0777)))) {
        if (scratch)
            ws_folder_remove(scratch);
        ws_cli_fail(WS_EXIT_USAGE, "%s: %s", scratch ? keep : "a temporary folder",
                    scratch ? "no folder can be made there" : error->message);
        return NULL;
    }
    g_autoptr(WsMeasured) m = choose(a, s, most);
    const gboolean made = make_bundles(m, size, scratch, keep);
    if (made)
        ws_measured_take(m, host);
    for (guint i = 0; i < m->design->len && !keep; i++)
        ws_folder_remove(((WsMeasuredDesign *)m->design->pdata[i])->dir);
    ws_folder_remove(scratch);
    return made ? g_steal_pointer(&m) : NULL;
}
