/* Each name of TLE's reference with its three answers: said in the language (a design with it is
 * proved), read from TLE text, written as TLE text and read again. The answers are found by doing
 * it; they stand in tle/names.def, and docs/tle.md is the same as a page (WARPSTAVE_WRITE=1 writes
 * it). Kin of a kernel with one thing broken are refuted, on the line of the mistake. What kernels
 * compute is rehearsed against a reference of its own. */
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "judge.h"
#include "judged.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "named.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "target/core.h"
#include "target/target.h"
#include "whole.h"

#include <string.h>

#define PAGE WS_SOURCE_ROOT "/docs/tle.md"

static const char *const word_of[] = { "yes", "values are not", "in other words", "no" };

/* --- answers ---------------------------------------------------------------------------------- */

/* Whether it is said in a statement, not in a remark. */
static gboolean has_mark(const char *text, const char *mark)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        const char *found = strstr(line[i], mark), *remark = strchr(line[i], '#');
        if (found && (!remark || found < remark))
            return TRUE;
    }
    return FALSE;
}

static NamedAnswer written_of(const WsProgram *p, const char *mark, char **why)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_tle(p, FALSE, NULL, &error);
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) again = NULL;
    if (!text) {
        *why = g_strdup(error->message);
        return NO;
    }
    const NamedAnswer back = named_read(text, &design, &again, why);
    return back != YES ? NO : has_mark(text, mark) ? YES : OTHER;
}

static void answers(guint i, NamedAnswer *said, NamedAnswer *read, NamedAnswer *written, char **why)
{
    const gboolean file = named_rows[i].design && *named_rows[i].design;
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) p = NULL, own = file ? named_program_of_file(named_rows[i].design) : NULL;
    g_autofree char *text = named_rows[i].base
                                ? named_kernel(named_rows[i].base, named_rows[i].edits)
                                : ws_generate_tle(own, FALSE, NULL, NULL);
    g_assert_nonnull(text);
    g_assert_true(named_rows[i].base || has_mark(text, named_rows[i].mark)); /* it has the name */
    *read = named_read(text, &design, &p, &why[0]);
    if (!own && named_rows[i].design && *read == YES)
        own = ws_program_ref(p);
    *said = own ? YES : NO;
    *written = NO;
    if (own)
        *written = written_of(own, named_rows[i].mark, &why[1]);
    else
        why[1] = g_strdup("no design says it");
}

/* --- the page --------------------------------------------------------------------------------- */

static const char *const head =
    "# The names of TLE\n"
    "\n"
    "Each name of FlagTree's TLE with three answers. *Said*: a design that does this is proved. "
    "*Read*: TLE text with it becomes a\n"
    "design, nothing of it is left out, and that is proved; \"values are not\": the protocol is "
    "read, some of what is computed is\n"
    "listed as not known. *Written*: `generate --as tle` gives text that is read again; \"in other "
    "words\": the same, by other names.\n"
    "A number is a note below: why not. `./dev test import/tle-names` finds the answers by doing "
    "it, on the kernels in\n"
    "`tests/import/tle/names`, and compares this page.\n"
    "\n"
    "| name | said | read | written |\n"
    "|---|---|---|---|\n";

static guint note_of(GPtrArray *notes, const char *why)
{
    for (guint i = 0; i < notes->len; i++)
        if (!strcmp(notes->pdata[i], why))
            return i + 1;
    g_ptr_array_add(notes, g_strdup(why));
    return notes->len;
}

static void cell(GString *page, GPtrArray *notes, NamedAnswer a, const char *why)
{
    if (a == NO && why)
        g_string_append_printf(page, " | no (%u)", note_of(notes, why));
    else
        g_string_append_printf(page, " | %s", word_of[a]);
}

static void test_table(void)
{
    g_autoptr(GString) page = g_string_new(head);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < named_n_rows; i++) {
        NamedAnswer said, read, written;
        char *why[2] = { NULL, NULL };
        g_test_message("--- %s", named_rows[i].name);
        answers(i, &said, &read, &written, why);
        if (said != named_rows[i].said || read != named_rows[i].read ||
            written != named_rows[i].written) {
            g_test_message("%s: said %s, read %s (%s), written %s (%s); tle/names.def has %s, %s, "
                           "%s",
                           named_rows[i].name, word_of[said], word_of[read], why[0] ? why[0] : "",
                           word_of[written], why[1] ? why[1] : "", word_of[named_rows[i].said],
                           word_of[named_rows[i].read], word_of[named_rows[i].written]);
            g_test_fail();
        }
        g_string_append_printf(page, "| `%s` | %s", named_rows[i].name, word_of[said]);
        cell(page, notes, read, why[0]);
        cell(page, notes, written, why[1]);
        g_string_append(page, " |\n");
        g_free(why[0]);
        g_free(why[1]);
    }
    g_string_append_c(page, '\n');
    for (guint i = 0; i < notes->len; i++)
        g_string_append_printf(page, "%u. %s\n", i + 1, (const char *)notes->pdata[i]);
    if (g_getenv("WARPSTAVE_WRITE"))
        g_assert_true(g_file_set_contents(PAGE, page->str, -1, NULL));
    g_autofree char *is = NULL;
    g_assert_true(g_file_get_contents(PAGE, &is, NULL, NULL));
    if (strcmp(is, page->str) != 0) {
        g_test_message("docs/tle.md is not what the answers are; WARPSTAVE_WRITE=1 writes it");
        g_test_fail();
    }
}

static void test_kin(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = named_kernel(named_kin[i].base, named_kin[i].edits);
    if (!strcmp(named_kin[i].rule, "L-HINT")) { /* no program comes of it */
        g_autoptr(WsImport) import =
            ws_import_text(text, strlen(text), "k.py", WS_IMPORT_TLE, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_assert_nonnull(import);
        g_assert_cmpuint(import->unread->len, ==, 0);
        g_assert_null(ws_elaborate(import->design, NULL, 0, findings));
        ws_import_locate(import->design, findings);
        g_assert_true(found_on_line(findings, text, named_kin[i].rule, named_kin[i].line));
        return;
    }
    g_auto(Judged) j = judge_kernel(text, WS_IMPORT_TLE);
    g_assert_cmpuint(j.import->unread->len, ==, 0);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_REFUTED);
    g_assert_true(found_on_line(j.findings, text, named_kin[i].rule, named_kin[i].line));
}

/* What hints are made of, written out with one thing broken. */
static void test_made(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = named_kernel(named_made[i].base, named_made[i].edits), *why = NULL;
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) p = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(named_read(text, &design, &p, &why), ==, YES);
    g_autofree char *whole = ws_generate_tle(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    /* without its remarks, which repeat the source */
    g_auto(GStrv) line = g_strsplit(whole, "\n", -1);
    g_autoptr(GString) plain = g_string_new(NULL);
    for (guint k = 0; line[k]; k++)
        if (line[k][strspn(line[k], " ")] != '#')
            g_string_append_printf(plain, "%s\n", line[k]);
    g_autoptr(GString) broken = g_string_new(plain->str);
    g_assert_cmpuint(g_string_replace(broken, named_made[i].find, named_made[i].by, 0), ==, 1);
    g_auto(Judged) right = judge_kernel(plain->str, WS_IMPORT_TLE);
    g_assert_cmpint(right.verdict->kind, ==, WS_VERDICT_PROVED);
    g_auto(Judged) j = judge_kernel(broken->str, WS_IMPORT_TLE);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_REFUTED);
    g_assert_true(found_on_line(j.findings, broken->str, named_made[i].rule, named_made[i].line));
}

static WsProgram *judged_by(const WsDesign *design, guint i)
{
    g_autofree char *full = named_judged(design, &named_values[i]);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) own = ws_design_parse(full, strlen(full), "kernel", findings);
    WsProgram *p = own ? ws_elaborate(own, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *all = ws_findings_print(findings, "kernel");
        g_error("%s\n%s", full, all);
    }
    return p;
}

static void rehearse(const WsProgram *p, WsFindings *findings)
{
    const WsRehearseOptions options = { .seed = 1, .sms = 2 };
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    if (!r->matches)
        g_test_message("%s %s %s", r->first_wrong ? r->first_wrong : "", r->stuck ? r->stuck : "",
                       r->first_race ? r->first_race : "");
    g_assert_true(r->ran && r->matches);
    g_assert_cmpuint(r->elements, >, 0);
    ws_rehearse_result_free(r);
}

static void test_values(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = named_kernel(named_values[i].base, named_values[i].edits), *why = NULL;
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) p = NULL;
    g_assert_cmpint(named_read(text, &design, &p, &why), ==, YES);
    g_autoptr(WsProgram) own = judged_by(design, i);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    if (ws_rehearse_supports(own, &error))
        rehearse(own, findings);
    else /* PTX of an author: only a GPU says */
        g_assert_nonnull(strstr(error->message, "the design has raw steps"));
    g_clear_error(&error);
    if (own->hardware->core) /* no GPU has it */
        return;
    g_autofree char *ptx = ws_generate_ptx(own, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *cuda = ws_generate_cuda(own, FALSE, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_available())
        return;
    WsPtxasReport *report = ws_ptxas_run(ptx, NULL, &error);
    g_assert_no_error(error);
    ws_ptxas_report_free(report);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/tle-names/table", test_table);
    for (guint i = 0; i < named_n_kin; i++) {
        g_autofree char *path = g_strdup_printf("/import/tle-names/kin/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_kin);
    }
    for (guint i = 0; i < named_n_made; i++) {
        g_autofree char *path = g_strdup_printf("/import/tle-names/made/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_made);
    }
    for (guint i = 0; i < named_n_values; i++) {
        if (!test_takes(i, 2, 3))
            continue;
        g_autofree char *path = g_strdup_printf("/import/tle-names/values/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_values);
    }
    return g_test_run();
}
