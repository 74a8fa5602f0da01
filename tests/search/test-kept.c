/* What is kept of a search: the next one goes on from it and finds the same; what is not whole, of
 * another search or not true is refused. */
#include "../whole.h"
#include "base/file.h"
#include "base/temporary.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "search/search.h"

#include <glib/gstdio.h>
#include <string.h>

#define BEAM 6 /* enough that one which is refuted is judged */

typedef struct {
    WsDesign *design;
    WsProgram *p;
    WsLaunchValues *v;
    WsMachine *m;
    WsTrialOf of;
    char *folder, *file;
} Fixture;

static void set_up(Fixture *f, gconstpointer unused)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsSize size[] = { { "M", 1024 }, { "N", 1024 }, { "K", 2048 } };
    f->design =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-bf16-pingpong/design.wstave", findings);
    f->p = ws_elaborate(f->design, NULL, 0, findings);
    g_assert_nonnull(f->p);
    f->v = ws_launch_values(f->p, size, G_N_ELEMENTS(size), FALSE, findings);
    f->m = ws_machine_load(NULL, NULL);
    f->of = (WsTrialOf){ f->p, f->v, f->m };
    f->folder = ws_temporary_folder(NULL);
    f->file = g_build_filename(f->folder, "kept", NULL);
}

static void tear_down(Fixture *f, gconstpointer unused)
{
    g_unlink(f->file);
    g_rmdir(f->folder);
    ws_temporary_end(f->folder);
    g_free(f->file);
    g_free(f->folder);
    ws_machine_free(f->m);
    ws_launch_values_free(f->v);
    ws_program_unref(f->p);
    ws_design_unref(f->design);
}

static WsKept *open_kept(const Fixture *f)
{
    g_autoptr(GError) error = NULL;
    WsKept *k = ws_kept_open(f->file, &f->of, f->design, &error);
    g_assert_no_error(error);
    return k;
}

static WsSearch *search(const Fixture *f, WsKept *kept, guint rounds, const gint *cancel)
{
    const WsSearchOptions options = {
        .seconds = 1000, .beam = 2, .rounds = rounds, .seed = 5, .kept = kept, .cancel = cancel
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSearch *s = ws_search_new(&f->of, f->design, &options, findings);
    g_assert_nonnull(s);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return s;
}

static void same_found(const WsSearch *a, const WsSearch *b)
{
    g_assert_cmpuint(a->found->len, ==, b->found->len);
    for (guint i = 0; i < a->found->len; i++) {
        const WsFound *x = a->found->pdata[i], *y = b->found->pdata[i];
        g_autofree char *u = ws_design_print(x->design), *v = ws_design_print(y->design);
        g_assert_cmpstr(u, ==, v);
        g_assert_cmpint(x->cycles, ==, y->cycles);
        g_assert_cmpuint(x->shared, ==, y->shared);
        g_assert_cmpuint(x->decision->len, ==, y->decision->len);
    }
    g_assert_cmpuint(a->tried, ==, b->tried);
    g_assert_cmpuint(a->refuted, ==, b->refuted);
    g_assert_cmpuint(a->unfit, ==, b->unfit);
}

/* One round, then two more, find what three rounds find; the third time nothing is played. */
static void test_resumed(Fixture *f, gconstpointer unused)
{
    g_autoptr(WsSearch) plain = search(f, NULL, 2, NULL);
    g_autoptr(WsKept) first = open_kept(f);
    g_assert_cmpuint(ws_kept_count(first), ==, 0);
    g_autoptr(WsSearch) begun = search(f, first, 1, NULL);
    g_assert_cmpuint(begun->known, ==, 0);
    g_autoptr(WsKept) again = open_kept(f);
    g_assert_cmpuint(ws_kept_count(again), ==, ws_kept_count(first));
    g_autoptr(WsSearch) on = search(f, again, 2, NULL);
    g_assert_cmpuint(on->known, >, 0);
    g_assert_cmpuint(on->known, ==, ws_kept_count(first));
    same_found(on, plain);
    g_autoptr(WsKept) all = open_kept(f);
    g_autoptr(WsSearch) third = search(f, all, 2, NULL);
    g_assert_cmpuint(third->known, ==, ws_kept_count(again));
    g_assert_cmpuint(third->known, ==, third->tried - third->idle - third->repeated);
    same_found(third, plain);
    g_test_message("%.2f s, resumed %.2f s, known %.2f s", plain->seconds, on->seconds,
                   third->seconds);
}

/* Stopped at once: what was known stays, the file is whole. */
static void test_stopped(Fixture *f, gconstpointer unused)
{
    const gint cancel = 1;
    g_autoptr(WsKept) first = open_kept(f);
    g_autoptr(WsSearch) begun = search(f, first, 1, NULL);
    g_autoptr(WsKept) again = open_kept(f);
    g_autoptr(WsSearch) stopped = search(f, again, 1, &cancel);
    g_assert_true(stopped->stopped);
    g_autoptr(WsKept) last = open_kept(f);
    g_assert_cmpuint(ws_kept_count(last), ==, ws_kept_count(first));
}

/* --- what is refused -----------------------------------------------------------------------------
 */

static void refused(const Fixture *f, const char *text, gsize length, const char *why)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(f->file, text, (gssize)length, NULL));
    g_autoptr(WsKept) k = ws_kept_open(f->file, &f->of, f->design, &error);
    g_assert_null(k);
    g_assert_nonnull(error);
    g_autofree char *place = g_strconcat(f->file, ":", NULL);
    if (!g_str_has_prefix(error->message, place) || (why && !strstr(error->message, why)))
        g_error("%s instead of %s", error->message, why);
}

/* A line of a design taken away, twice, changed; the last one, too. */
static void test_damaged(Fixture *f, gconstpointer unused)
{
    g_autoptr(WsKept) first = open_kept(f);
    g_autoptr(WsSearch) begun = search(f, first, 1, NULL);
    g_autofree char *text = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(f->file, &text, &length, NULL));
    for (gsize cut = 0; cut < length; cut += 1 + length / 97)
        refused(f, text, cut, NULL);
    refused(f, text, length - 1, NULL);
    GRand *rand = g_rand_new_with_seed(3);
    for (guint i = 0; i < 200; i++) {
        g_autofree char *other = g_strdup(text);
        other[g_rand_int_range(rand, 0, (gint)length)] ^= (char)(1 << g_rand_int_range(rand, 0, 7));
        refused(f, other, length, NULL);
    }
    g_rand_free(rand);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    const guint n = g_strv_length(line);
    for (guint i = 1; i + 2 < n; i += 7) {
        g_autoptr(GString) less = g_string_new(NULL), twice = g_string_new(NULL);
        for (guint k = 0; k + 1 < n; k++) {
            if (k != i)
                g_string_append_printf(less, "%s\n", line[k]);
            g_string_append_printf(twice, "%s\n%s%s", line[k], k == i ? line[k] : "",
                                   k == i ? "\n" : "");
        }
        refused(f, less->str, less->len, "checksum");
        refused(f, twice->str, twice->len, "twice");
    }
    refused(f, "", 0, ":1: this is not a file of a search");
    refused(f, "{}\n", 3, ":1: this is not a file of a search");
}

/* Another launch, another machine, another design. */
static void test_other(Fixture *f, gconstpointer unused)
{
    g_autoptr(WsKept) first = open_kept(f);
    g_assert_true(ws_kept_save(first, NULL));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsKept) same = open_kept(f);
    g_autoptr(WsDesign) design = ws_design_with_constant(f->design, "STAGES", 3);
    g_autoptr(WsMachine) slower = ws_machine_at(f->m, 1.0);
    const WsSize size[] = { { "M", 1024 }, { "N", 1024 }, { "K", 4096 } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(f->p, size, G_N_ELEMENTS(size), FALSE, findings);
    const WsTrialOf of[] = { { f->p, f->v, f->m }, { f->p, v, f->m }, { f->p, f->v, slower } };
    g_assert_nonnull(design);
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(ws_kept_open(f->file, &of[i], i ? f->design : design, &error));
        g_assert_error(error, WS_KEPT_ERROR, WS_KEPT_ERROR_OTHER);
    }
}

/* With a checksum that is right: a design that is not proved, or takes another time. */
static void lie(Fixture *f, gboolean verdict)
{
    g_autoptr(WsKept) first = open_kept(f);
    g_autoptr(WsSearch) begun = search(f, first, 2, NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(f->file, &text, NULL, NULL));
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    g_autoptr(GString) lies = g_string_new(line[0]);
    g_string_append_c(lies, '\n');
    guint n = 1, changed = 0;
    for (; line[n] && !g_str_has_prefix(line[n], "end "); n++) {
        g_auto(GStrv) part = g_strsplit(line[n], " ", -1);
        const gboolean mine =
            g_strv_length(part) == 7 && (verdict ? !strcmp(part[6], "refuted") : TRUE);
        if (mine && verdict)
            g_string_append_printf(lies, "%s played %s %s %s %s proved\n", part[0], part[2],
                                   part[3], part[4], part[5]);
        else if (mine)
            g_string_append_printf(lies, "%s played 1000 %s %s 1 %s\n", part[0],
                                   strcmp(part[3], "0") ? "1000" : "0", part[4], part[6]);
        else
            g_string_append_printf(lies, "%s\n", line[n]);
        changed += mine;
    }
    g_assert_cmpuint(changed, >, 0);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, lies->str, -1);
    g_string_append_printf(lies, "end %u %s\n", n - 1, sum);
    g_assert_true(g_file_set_contents(f->file, lies->str, -1, NULL));
    g_autoptr(WsKept) false_kept = open_kept(f);
    const WsSearchOptions options = {
        .seconds = 1000, .beam = BEAM, .rounds = 2, .seed = 5, .kept = false_kept
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_search_new(&f->of, f->design, &options, findings));
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 1);
    const WsFinding *said = findings->list->pdata[0];
    g_assert_nonnull(strstr(said->message, "of another clock or check"));
}

static void test_lies(Fixture *f, gconstpointer unused)
{
    lie(f, TRUE);
    g_unlink(f->file);
    lie(f, FALSE);
}

/* A place that cannot be written: said, and what was found is returned. */
static void test_unwritable(Fixture *f, gconstpointer unused)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_build_filename(f->folder, "nowhere", "kept", NULL);
    g_autoptr(WsKept) k = ws_kept_open(file, &f->of, f->design, &error);
    g_assert_no_error(error);
    const WsSearchOptions options = { .seconds = 1000, .beam = 1, .rounds = 1, .kept = k };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) s = ws_search_new(&f->of, f->design, &options, findings);
    g_assert_nonnull(s);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/kept/resumed", Fixture, NULL, set_up, test_resumed, tear_down);
    g_test_add("/kept/stopped", Fixture, NULL, set_up, test_stopped, tear_down);
    g_test_add("/kept/damaged", Fixture, NULL, set_up, test_damaged, tear_down);
    g_test_add("/kept/other", Fixture, NULL, set_up, test_other, tear_down);
    g_test_add("/kept/lies", Fixture, NULL, set_up, test_lies, tear_down);
    g_test_add("/kept/unwritable", Fixture, NULL, set_up, test_unwritable, tear_down);
    return g_test_run();
}
