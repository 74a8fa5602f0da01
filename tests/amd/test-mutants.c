/* Mutants of the designs' texts (a step left out, two exchanged, a number one more or less): what
 * is proved of them never stands still and never computes with what no load has brought. What
 * computes something else in good order is another kernel. */
#include "amd/designs.h"
#include "check/check.h"
#include "codegen/amdgpu/amdgpu.h"
#include "codegen/generate.h"
#include "whole.h"

#include <glib/gstdio.h>
#include <stdlib.h>

static const struct {
    const char *design, *name[3];
    gint64 size[3];
} rows[] = {
    { "gemm-gfx950", { "M", "N", "K" }, { 256, 256, 160 } },
    { "gemm-gfx950-split", { "M", "N", "K" }, { 256, 256, 320 } },
    { "attention-gfx950", { "Z", "H", "N_CTX" }, { 1, 1, 256 } },
};

typedef struct {
    guint mutants, unread, refuted, undecided, proved, emulated, right;
} Count;

/* A step in a line of its own; its length without the comma behind it, 0: none. */
static gsize step_of(const char *line)
{
    gint open = 0;
    gsize n = strlen(line);
    if (!g_str_has_prefix(line + strspn(line, " "), "{ \""))
        return 0;
    n -= n && line[n - 1] == ',';
    for (gsize i = 0; i < n; i++)
        open += line[i] == '{' ? 1 : line[i] == '}' ? -1 : 0;
    return open == 0 ? n : 0;
}

static gboolean wrong_order(const WsProgram *p, guint row, char **what)
{
    gboolean bad = FALSE;
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    for (guint64 seed = 0; seed < (test_quick() ? 1 : 3) && !bad; seed++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        const WsRehearseOptions o = {
            .seed = seed, .size_name = rows[row].name, .size = rows[row].size, .n_size = 3
        };
        WsRehearseResult *r = ws_rehearsal_run(s, &o, findings, NULL);
        if (!r) /* the generator or the sizes refuse it */
            return FALSE;
        bad = r->stuck || r->first_violation || (r->first_wrong && strstr(r->first_wrong, "NaN"));
        if (bad)
            *what = g_strdup(r->stuck             ? r->stuck
                             : r->first_violation ? r->first_violation
                                                  : r->first_wrong);
        ws_rehearse_result_free(r);
    }
    return bad;
}

/* What the emulator says of the machine code (emulate.py), where WARPSTAVE_EMULATOR names one: a
 * number that no load has brought is no number there. NULL: the generator refuses the mutant. */
static char *emulated(const WsProgram *p, guint row)
{
    g_autoptr(GBytes) object = ws_generate_amd_object(p, WS_CODE_OBJECT_VERSION, NULL);
    if (!object)
        return NULL;
    g_autofree char *file = NULL, *err = NULL;
    char *out = NULL, *size[3];
    gsize length;
    const char *data = g_bytes_get_data(object, &length);
    g_close(g_file_open_tmp("warpstave-XXXXXX.hsaco", &file, NULL), NULL);
    g_assert_true(g_file_set_contents(file, data, (gssize)length, NULL));
    for (guint i = 0; i < 3; i++)
        size[i] = g_strdup_printf("%" G_GINT64_FORMAT, rows[row].size[i]);
    const char *argv[] = { "python3",
                           WS_SOURCE_ROOT "/tests/amd/emulate.py",
                           g_getenv("WARPSTAVE_EMULATOR"),
                           file,
                           row == 2 ? "attention" : "gemm",
                           size[0],
                           size[1],
                           size[2],
                           NULL };
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                               &err, NULL, NULL));
    for (guint i = 0; i < 3; i++)
        g_free(size[i]);
    g_remove(file);
    if (!g_str_has_prefix(out, "right") && !g_str_has_prefix(out, "wrong")) {
        g_free(out);
        return g_strdup(err); /* it stood still, or left what the emulator knows */
    }
    return g_strchomp(out);
}

static void judge_code(const WsProgram *p, guint row, const char *how, Count *n)
{
    g_autofree char *said = g_getenv("WARPSTAVE_EMULATOR") ? emulated(p, row) : NULL;
    if (!said)
        return;
    n->emulated++;
    n->right += g_str_has_prefix(said, "right");
    if (strstr(said, "no number") ||
        !(g_str_has_prefix(said, "right") || g_str_has_prefix(said, "wrong")))
        g_error("%s, %s: proved, and its machine code: %s", rows[row].design, how, said);
    g_test_message("%s: %s", how, said);
}

static void judge(guint row, GStrv line, const char *how, Count *n)
{
    g_autofree char *text = g_strjoinv("\n", line);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = amd_program(text, NULL, 0, findings);
    n->mutants++;
    if (!p) {
        n->unread++;
        return;
    }
    g_autoptr(WsVerdict) v =
        ws_check(p, &(WsCheckOptions){ .verdict_only = TRUE, .max_findings = 1 }, findings);
    n->refuted += v->kind == WS_VERDICT_REFUTED;
    if (v->kind != WS_VERDICT_PROVED) {
        n->undecided += v->kind != WS_VERDICT_REFUTED;
        return;
    }
    g_autofree char *what = NULL;
    n->proved++;
    if (wrong_order(p, row, &what))
        g_error("%s, %s: proved, and %s", rows[row].design, how, what);
    judge_code(p, row, how, n);
}

static void exchange(GStrv line, guint i, const char *with)
{
    g_free(line[i]);
    line[i] = g_strdup(with);
}

static void without(guint row, GStrv line, guint i, Count *n)
{
    g_autofree char *was = g_strdup(line[i]), *before = g_strdup(line[i - 1]);
    g_autofree char *how = g_strdup_printf("without line %u", i + 1);
    exchange(line, i, "");
    if (!g_str_has_suffix(was, ",") && g_str_has_suffix(before, ",")) {
        g_autofree char *last = g_strndup(before, strlen(before) - 1);
        exchange(line, i - 1, last);
    }
    judge(row, line, how, n);
    exchange(line, i, was);
    exchange(line, i - 1, before);
}

static void exchanged(guint row, GStrv line, guint i, Count *n)
{
    g_autofree char *x = g_strdup(line[i]), *y = g_strdup(line[i + 1]);
    g_autofree char *how = g_strdup_printf("lines %u and %u exchanged", i + 1, i + 2);
    g_autofree char *a = g_strndup(x, step_of(x)), *b = g_strndup(y, step_of(y));
    g_autofree char *first = g_strconcat(b, x + strlen(a), NULL);
    g_autofree char *second = g_strconcat(a, y + strlen(b), NULL);
    exchange(line, i, first);
    exchange(line, i + 1, second);
    judge(row, line, how, n);
    exchange(line, i, x);
    exchange(line, i + 1, y);
}

/* A number, or a name of one: one more, and one less. */
static gsize number_at(const char *line, const char *at)
{
    static const char *const names[] = { "NB", "k", "j", "i", "r", "kt", "nb" };
    gsize n = 0;
    if (at > line && (g_ascii_isalnum(at[-1]) || at[-1] == '_'))
        return 0;
    while (g_ascii_isalnum(at[n]) || at[n] == '_')
        n++;
    gboolean known = n > 0 && g_ascii_isdigit(*at);
    for (guint i = 0; i < G_N_ELEMENTS(names) && !known; i++)
        known = strlen(names[i]) == n && strncmp(names[i], at, n) == 0;
    return known ? n : 0;
}

static void numbers(guint row, GStrv line, guint i, Count *n)
{
    g_autofree char *was = g_strdup(line[i]);
    for (const char *at = was; *at; at++) {
        const gsize length = number_at(was, at);
        if (length == 0)
            continue;
        for (gint by = -1; by <= 1; by += 2) {
            g_autofree char *head = g_strndup(was, (gsize)(at - was)), *mid = g_strndup(at, length);
            g_autofree char *with =
                g_ascii_isdigit(*at)
                    ? g_strdup_printf("%s%d%s", head, atoi(mid) + by, at + length)
                    : g_strdup_printf("%s(%s %c 1)%s", head, mid, by < 0 ? '-' : '+', at + length);
            g_autofree char *how = g_strdup_printf("line %u:%s", i + 1, with);
            exchange(line, i, with);
            judge(row, line, how, n);
        }
        at += length - 1;
    }
    exchange(line, i, was);
}

static void test_mutants(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autofree char *text = amd_text(rows[row].design, NULL, 0);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    Count n = { 0 };
    gboolean body = FALSE;
    for (guint i = 0, place = 0; line[i]; i++) {
        body |= strstr(line[i], "\"body\": [") != NULL;
        if (!body || !step_of(line[i]) || !test_takes(place++, test_quick() ? 12 : 1, 24))
            continue;
        without(row, line, i, &n);
        numbers(row, line, i, &n);
        if (line[i + 1] && step_of(line[i + 1]))
            exchanged(row, line, i, &n);
    }
    g_test_message("%s: %u mutants: %u refuted, %u undecided, %u proved, %u not read; machine code "
                   "of %u proved ones ran, %u as before, none on what no load has brought",
                   rows[row].design, n.mutants, n.refuted, n.undecided, n.proved, n.unread,
                   n.emulated, n.right);
    g_assert_cmpuint(n.refuted, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/amd/mutants/%s", rows[i].design);
        if ((test_quick() || test_sanitized()) && i == 2) /* its reference takes seconds */
            continue;
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_mutants);
    }
    return g_test_run();
}
