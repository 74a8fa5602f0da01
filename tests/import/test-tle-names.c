/* Each name of TLE's reference with its three answers: said in the language (a design with it is
 * proved), read from TLE text, written as TLE text and read again. The answers are found by doing
 * it; they stand in tle/names.def, and docs/tle.md is the same as a page (WARPSTAVE_WRITE=1 writes
 * it). Kin of a kernel with one thing broken are refuted, on the line of the mistake. What kernels
 * compute is rehearsed against a reference of its own. */
#include "base/phrase.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "judge.h"
#include "judged.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "target/core.h"
#include "target/target.h"
#include "whole.h"

#include <string.h>

#define PAGE WS_SOURCE_ROOT "/docs/tle.md"

/* A kernel of tle/names with pieces of its text replaced: "find", "replacement", … NULL. */
#define EDITS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define AS_IT_IS   ((const char *const[]){ NULL })

typedef enum { YES, VALUES, OTHER, NO } Answer;
static const char *const word_of[] = { "yes", "values are not", "in other words", "no" };

static const struct {
    const char *name;
    const char *base;         /* kernel of tle/names; NULL: the TLE text of the design */
    const char *const *edits; /* what brings the name into it */
    const char *design;       /* that says it; "": what was read says it; NULL: none does */
    const char *mark;         /* what stands in TLE text that has the name */
    Answer said, read, written;
} rows[] = {
#define WS_TLE_NAME(name, base, edits, design, mark, said, read, written)                          \
    { name, base, edits, design, mark, said, read, written },
#define WS_TLE_KIN(base, edits, rule, line)
#define WS_TLE_VALUES(base, edits, reference, sizes)
#define WS_TLE_MADE(...)
#include "tle/names.def"
#undef WS_TLE_NAME
#undef WS_TLE_KIN
#undef WS_TLE_VALUES
#undef WS_TLE_MADE
};

static const struct {
    const char *base;
    const char *const *edits;
    const char *rule, *line;
} kin[] = {
#define WS_TLE_NAME(...)
#define WS_TLE_KIN(base, edits, rule, line) { base, edits, rule, line },
#define WS_TLE_VALUES(base, edits, reference, sizes)
#define WS_TLE_MADE(...)
#include "tle/names.def"
#undef WS_TLE_NAME
#undef WS_TLE_KIN
#undef WS_TLE_VALUES
#undef WS_TLE_MADE
};

static const struct {
    const char *base;
    const char *const *edits;
    const char *reference, *sizes;
} values[] = {
#define WS_TLE_NAME(...)
#define WS_TLE_KIN(...)
#define WS_TLE_VALUES(base, edits, reference, sizes) { base, edits, reference, sizes },
#define WS_TLE_MADE(...)
#include "tle/names.def"
#undef WS_TLE_NAME
#undef WS_TLE_KIN
#undef WS_TLE_VALUES
#undef WS_TLE_MADE
};

static const struct {
    const char *base;
    const char *const *edits;
    const char *find, *by, *rule, *line;
} made[] = {
#define WS_TLE_NAME(...)
#define WS_TLE_KIN(...)
#define WS_TLE_VALUES(...)
#define WS_TLE_MADE(base, edits, find, by, rule, line) { base, edits, find, by, rule, line },
#include "tle/names.def"
#undef WS_TLE_NAME
#undef WS_TLE_KIN
#undef WS_TLE_VALUES
#undef WS_TLE_MADE
};

static char *kernel(const char *base, const char *const *edits)
{
    g_autofree char *path =
        g_strdup_printf("%s/tests/import/tle/names/%s.py", WS_SOURCE_ROOT, base);
    char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    for (; *edits; edits += 2) {
        g_auto(GStrv) part = g_strsplit(text, edits[0], -1);
        if (g_strv_length(part) < 2)
            g_error("%s has no \"%s\"", path, edits[0]);
        g_free(text);
        text = g_strjoinv(edits[1], part);
    }
    return text;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* The first error, or what the verdict says. */
static char *why_not(const WsFindings *findings, const WsVerdict *v, const char *text)
{
    g_auto(GStrv) line = g_strsplit(text ? text : "", "\n", -1);
    for (guint i = 0; findings && i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        if (f->severity == WS_SEVERITY_ERROR)
            return g_strdup_printf(
                "%s: %s: `%s`", ws_rule(f->rule)->text, f->message,
                f->line && f->line <= g_strv_length(line) ? g_strstrip(line[f->line - 1]) : "");
    }
    if (v && v->reason) {
        g_autofree char *reason = ws_phrase_text(v->reason, NULL, NULL);
        return g_strdup_printf("undecided: %s", reason);
    }
    return g_strdup(v ? ws_verdict_word(v->kind) : "it makes no program");
}

static WsProgram *program_of(const WsDesign *design, gboolean foreign, char **why, const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    const WsCheckOptions options = { .verdict_only = TRUE, .foreign = foreign };
    g_autoptr(WsVerdict) v = p ? ws_check(p, &options, findings) : NULL;
    if (foreign)
        ws_import_locate(design, findings);
    if (p && v->kind == WS_VERDICT_PROVED && !ws_findings_count(findings, WS_SEVERITY_ERROR))
        return p;
    *why = why_not(findings, v, text);
    g_clear_pointer(&p, ws_program_unref);
    return NULL;
}

/* Read, and proved where all of it that acts is read. */
static Answer read_of(const char *text, WsDesign **design, WsProgram **p, char **why)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text(text, strlen(text), "kernel.py", WS_IMPORT_TLE, &error);
    if (!import) {
        const char *message = strchr(error->message, ' '); /* its place */
        *why = g_strdup(message ? message + 1 : error->message);
        return NO;
    }
    gboolean hidden = FALSE;
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(import->unread, i);
        g_test_message("%u: not read: %s: %s", u->line, u->what, u->source);
        if (!u->harmless && !*why) {
            g_auto(GStrv) line = g_strsplit(text, "\n", -1);
            g_assert_cmpuint(u->line, >=, 1); /* a refusal has its place */
            g_assert_cmpuint(u->line, <=, g_strv_length(line));
            *why = g_strdup_printf("not read: %s: `%s`", u->what, g_strstrip(line[u->line - 1]));
        } else if (u->harmless) {
            hidden = TRUE;
        }
    }
    if (*why)
        return NO;
    *p = program_of(import->design, TRUE, why, text);
    if (!*p)
        return NO;
    *design = ws_design_ref(import->design);
    return hidden ? VALUES : YES;
}

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

static Answer written_of(const WsProgram *p, const char *mark, char **why)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_tle(p, FALSE, NULL, &error);
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) again = NULL;
    if (!text) {
        *why = g_strdup(error->message);
        return NO;
    }
    const Answer back = read_of(text, &design, &again, why);
    return back != YES ? NO : has_mark(text, mark) ? YES : OTHER;
}

static WsProgram *program_of_file(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL), *none = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) own = ws_design_load(file, findings);
    g_assert_nonnull(own);
    return program_of(own, FALSE, &none, NULL);
}

static void answers(guint i, Answer *said, Answer *read, Answer *written, char **why)
{
    const gboolean file = rows[i].design && *rows[i].design;
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) p = NULL, own = file ? program_of_file(rows[i].design) : NULL;
    g_autofree char *text = rows[i].base ? kernel(rows[i].base, rows[i].edits)
                                         : ws_generate_tle(own, FALSE, NULL, NULL);
    g_assert_nonnull(text);
    g_assert_true(rows[i].base || has_mark(text, rows[i].mark)); /* it has the name */
    *read = read_of(text, &design, &p, &why[0]);
    if (!own && rows[i].design && *read == YES)
        own = ws_program_ref(p);
    *said = own ? YES : NO;
    *written = NO;
    if (own)
        *written = written_of(own, rows[i].mark, &why[1]);
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

static void cell(GString *page, GPtrArray *notes, Answer a, const char *why)
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
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Answer said, read, written;
        char *why[2] = { NULL, NULL };
        g_test_message("--- %s", rows[i].name);
        answers(i, &said, &read, &written, why);
        if (said != rows[i].said || read != rows[i].read || written != rows[i].written) {
            g_test_message("%s: said %s, read %s (%s), written %s (%s); tle/names.def has %s, %s, "
                           "%s",
                           rows[i].name, word_of[said], word_of[read], why[0] ? why[0] : "",
                           word_of[written], why[1] ? why[1] : "", word_of[rows[i].said],
                           word_of[rows[i].read], word_of[rows[i].written]);
            g_test_fail();
        }
        g_string_append_printf(page, "| `%s` | %s", rows[i].name, word_of[said]);
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
    g_autofree char *text = kernel(kin[i].base, kin[i].edits);
    if (!strcmp(kin[i].rule, "L-HINT")) { /* no program comes of it */
        g_autoptr(WsImport) import =
            ws_import_text(text, strlen(text), "k.py", WS_IMPORT_TLE, NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_assert_nonnull(import);
        g_assert_cmpuint(import->unread->len, ==, 0);
        g_assert_null(ws_elaborate(import->design, NULL, 0, findings));
        ws_import_locate(import->design, findings);
        g_assert_true(found_on_line(findings, text, kin[i].rule, kin[i].line));
        return;
    }
    g_auto(Judged) j = judge_kernel(text, WS_IMPORT_TLE);
    g_assert_cmpuint(j.import->unread->len, ==, 0);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_REFUTED);
    g_assert_true(found_on_line(j.findings, text, kin[i].rule, kin[i].line));
}

/* What hints are made of, written out with one thing broken. */
static void test_made(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = kernel(made[i].base, made[i].edits), *why = NULL;
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) p = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(read_of(text, &design, &p, &why), ==, YES);
    g_autofree char *whole = ws_generate_tle(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    /* without its remarks, which repeat the source */
    g_auto(GStrv) line = g_strsplit(whole, "\n", -1);
    g_autoptr(GString) plain = g_string_new(NULL);
    for (guint k = 0; line[k]; k++)
        if (line[k][strspn(line[k], " ")] != '#')
            g_string_append_printf(plain, "%s\n", line[k]);
    g_autoptr(GString) broken = g_string_new(plain->str);
    g_assert_cmpuint(g_string_replace(broken, made[i].find, made[i].by, 0), ==, 1);
    g_auto(Judged) right = judge_kernel(plain->str, WS_IMPORT_TLE);
    g_assert_cmpint(right.verdict->kind, ==, WS_VERDICT_PROVED);
    g_auto(Judged) j = judge_kernel(broken->str, WS_IMPORT_TLE);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_REFUTED);
    g_assert_true(found_on_line(j.findings, broken->str, made[i].rule, made[i].line));
}

/* The design that was read, with a reference and sizes of the test. */
static WsProgram *judged_by(const WsDesign *design, guint i)
{
    g_autofree char *text = ws_design_print(design);
    char *tiles = strstr(text, "\"tiles\"");
    g_assert_nonnull(tiles);
    g_autofree char *full =
        g_strdup_printf("%.*s\"reference\": [\"%s\"], \"rehearse\": { %s },\n  %s",
                        (int)(tiles - text), text, values[i].reference, values[i].sizes, tiles);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) own = ws_design_parse(full, strlen(full), "kernel", findings);
    WsProgram *p = own ? ws_elaborate(own, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *all = ws_findings_print(findings, "kernel");
        g_error("%s\n%s", full, all);
    }
    return p;
}

static void test_values(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = kernel(values[i].base, values[i].edits), *why = NULL;
    g_autoptr(WsDesign) design = NULL;
    g_autoptr(WsProgram) p = NULL;
    g_assert_cmpint(read_of(text, &design, &p, &why), ==, YES);
    g_autoptr(WsProgram) own = judged_by(design, i);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions options = { .seed = 1, .sms = 2 };
    WsRehearseResult *r = ws_rehearse(own, &options, findings, &error);
    g_assert_no_error(error);
    if (!r->matches)
        g_test_message("%s %s %s", r->first_wrong ? r->first_wrong : "", r->stuck ? r->stuck : "",
                       r->first_race ? r->first_race : "");
    g_assert_true(r->ran && r->matches);
    g_assert_cmpuint(r->elements, >, 0);
    ws_rehearse_result_free(r);
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
    for (guint i = 0; i < G_N_ELEMENTS(kin); i++) {
        g_autofree char *path = g_strdup_printf("/import/tle-names/kin/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_kin);
    }
    for (guint i = 0; i < G_N_ELEMENTS(made); i++) {
        g_autofree char *path = g_strdup_printf("/import/tle-names/made/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_made);
    }
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        if (!test_takes(i, 2, 3))
            continue;
        g_autofree char *path = g_strdup_printf("/import/tle-names/values/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_values);
    }
    return g_test_run();
}
