/* Mutants of the designs' texts (a step left out, two exchanged, a number one more or less): what
 * is proved of them never stands still and never computes with what no load has brought. What
 * computes something else in good order is another kernel. */
#include "amd/designs.h"
#include "amd/mutants.h"
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
    guint mutants, unread, refuted, undecided, proved;
    guint
        skipped; /* of the proved ones: the host has no form of them, or no launch of those sizes */
    guint row;
} Count;

static gboolean wrong_order(const WsProgram *p, Count *n, const char *how, char **what)
{
    gboolean bad = FALSE;
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    for (guint64 seed = 0; seed < (test_quick() ? 1 : 3) && !bad; seed++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        const WsRehearseOptions o = {
            .seed = seed, .size_name = rows[n->row].name, .size = rows[n->row].size, .n_size = 3
        };
        g_autoptr(GError) error = NULL;
        WsRehearseResult *r = ws_rehearsal_run(s, &o, findings, &error);
        if (!r) {
            g_autofree char *text = ws_findings_print(findings, how);
            g_test_message("skipped: %s: %s %s", how, error ? error->message : "", text);
            g_assert_true(ws_findings_count(findings, WS_SEVERITY_ERROR) > 0 ||
                          !ws_rehearse_supports(p, NULL));
            n->skipped++;
            return FALSE;
        }
        bad = r->stuck || r->first_violation || (r->first_wrong && strstr(r->first_wrong, "NaN"));
        if (bad)
            *what = g_strdup(r->stuck             ? r->stuck
                             : r->first_violation ? r->first_violation
                                                  : r->first_wrong);
        ws_rehearse_result_free(r);
    }
    return bad;
}

static WsProgram *program_of(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    return amd_program(text, NULL, 0, findings);
}

static WsVerdictKind verdict_of(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v =
        ws_check(p, &(WsCheckOptions){ .verdict_only = TRUE, .max_findings = 1 }, findings);
    return v->kind;
}

static void judge(const char *how, const char *text, gpointer data)
{
    Count *n = data;
    g_autoptr(WsProgram) p = program_of(text);
    n->mutants++;
    if (!p) {
        n->unread++;
        return;
    }
    const WsVerdictKind kind = verdict_of(p);
    n->refuted += kind == WS_VERDICT_REFUTED;
    n->undecided += kind != WS_VERDICT_REFUTED && kind != WS_VERDICT_PROVED;
    if (kind != WS_VERDICT_PROVED)
        return;
    g_autofree char *what = NULL;
    n->proved++;
    if (wrong_order(p, n, how, &what))
        g_error("%s, %s: proved, and %s", rows[n->row].design, how, what);
}

/* A run's share of the places, and the shares beside it where that one holds none that is refuted,
 * or none that is proved and runs. */
static guint beside;

static gboolean taken(guint place)
{
    return test_takes(place + beside, test_quick() || test_sanitized() ? 11 : 1, 24);
}

static void test_mutants(gconstpointer data)
{
    Count n = { .row = GPOINTER_TO_UINT(data) };
    g_autofree char *text = amd_text(rows[n.row].design, NULL, 0);
    for (beside = 0; beside < 48 && (n.refuted == 0 || n.proved == n.skipped); beside++)
        amd_mutants(text, taken, judge, &n);
    g_test_message("%s: %u mutants: %u refuted, %u undecided, %u proved (%u of them not run), "
                   "%u not read",
                   rows[n.row].design, n.mutants, n.refuted, n.undecided, n.proved, n.skipped,
                   n.unread);
    g_assert_cmpuint(n.refuted, >, 0);
    g_assert_cmpuint(n.proved, >, n.skipped);
}

/* --- the machine code of mutants, where WARPSTAVE_EMULATOR names an emulator and WARPSTAVE_MUTANTS
 * a folder: one file for each design, a line for each mutant, and what is there is not run again.
 * Those that are proved first, then the others: they show that the emulator would tell. */
enum { ORDERS = 3, PAIRS = 150, SEED = 21 };

typedef struct {
    guint row;
    gboolean proved; /* this pass */
    FILE *file;
    GHashTable *known; /* mutants in the file */
    GHashTable *code;  /* checksum of an object: what was said of it */
} Long;

static char *emulated(guint row, GBytes *object)
{
    g_autofree char *file = NULL, *err = NULL, *orders = g_strdup_printf("%d", ORDERS);
    char *out = NULL, *size[3];
    gsize length;
    const char *bytes = g_bytes_get_data(object, &length);
    g_close(g_file_open_tmp("warpstave-XXXXXX.hsaco", &file, NULL), NULL);
    g_assert_true(g_file_set_contents(file, bytes, (gssize)length, NULL));
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
                           "--orders",
                           orders,
                           NULL };
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                               &err, NULL, NULL));
    for (guint i = 0; i < 3; i++)
        g_free(size[i]);
    g_remove(file);
    if (g_str_has_prefix(out, "right") || g_str_has_prefix(out, "wrong") ||
        g_str_has_prefix(out, "differs"))
        return g_strchomp(out);
    g_free(out);
    char *last = strrchr(g_strchomp(err), '\n');
    return g_strdup_printf("ended: %s", last ? last + 1 : err);
}

static char *said_of(Long *l, const WsProgram *p)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) object = ws_generate_amd_object(p, WS_CODE_OBJECT_VERSION, &error);
    if (!object)
        return g_strdup_printf("no code: %s", error->message);
    if (!ws_generate_amd_clean(object))
        return g_strdup("no code: it spills, and the emulator has no scratch memory");
    g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, object);
    const char *known = g_hash_table_lookup(l->code, sum);
    if (known)
        return g_strdup_printf("%s (code as before)", known);
    char *said = emulated(l->row, object);
    g_hash_table_insert(l->code, g_steal_pointer(&sum), g_strdup(said));
    return said;
}

static void judge_code(const char *how, const char *text, gpointer data)
{
    static const char *const verdict[] = { "refuted", "undecided", "proved" };
    Long *l = data;
    if (g_hash_table_contains(l->known, how))
        return;
    g_autoptr(WsProgram) p = program_of(text);
    if (!p)
        return;
    const WsVerdictKind kind = verdict_of(p);
    const gboolean is = kind == WS_VERDICT_PROVED;
    if (is != l->proved)
        return;
    g_autofree char *said = said_of(l, p);
    g_strdelimit(said, "\n\t", ' ');
    const char *word = verdict[is ? 2 : kind == WS_VERDICT_REFUTED ? 0 : 1];
    fprintf(l->file, "%s\t%s\t%s\n", how, word, said);
    fflush(l->file);
    g_hash_table_add(l->known, g_strdup(how));
}

/* What the file holds: of each verdict how many ran as right, wrong, and so that no order of steps
 * explains it. TRUE if none of the last kind was proved. */
static gboolean told(const char *design, const char *file)
{
    static const char *const verdict[] = { "proved", "refuted", "undecided" };
    guint n[3] = { 0 }, right[3] = { 0 }, other[3] = { 0 }, bad[3] = { 0 }, none[3] = { 0 };
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        g_auto(GStrv) part = g_strsplit(line[i], "\t", -1);
        if (*line[i] == '#' || g_strv_length(part) != 3)
            continue;
        guint v = 0;
        while (strcmp(part[1], verdict[v]) != 0)
            g_assert_cmpuint(++v, <, 3);
        n[v]++;
        if (g_str_has_prefix(part[2], "no code"))
            none[v]++;
        else if (g_str_has_prefix(part[2], "right"))
            right[v]++;
        else if (g_str_has_prefix(part[2], "wrong") && !strstr(part[2], "no number"))
            other[v]++;
        else
            bad[v]++;
        if (v == 0 && bad[0])
            g_test_message("%s: %s", design, line[i]);
    }
    for (guint v = 0; v < 3; v++)
        g_test_message("%s: %u %s, %u of them without code; %u right, %u with other values in all "
                       "orders alike, %u wrong in some order or with what no load has brought",
                       design, n[v], verdict[v], none[v], right[v], other[v], bad[v]);
    return bad[0] == 0;
}

static void test_code(gconstpointer data)
{
    Long l = { .row = GPOINTER_TO_UINT(data) };
    g_autofree char *text = amd_text(rows[l.row].design, NULL, 0), *name = NULL, *was = NULL;
    name = g_strdup_printf("%s/%s.txt", g_getenv("WARPSTAVE_MUTANTS"), rows[l.row].design);
    l.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    l.code = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    if (g_file_get_contents(name, &was, NULL, NULL)) {
        g_auto(GStrv) line = g_strsplit(was, "\n", -1);
        for (guint i = 0; line[i]; i++)
            g_hash_table_add(l.known, g_strndup(line[i], strcspn(line[i], "\t")));
    }
    l.file = fopen(name, "a");
    g_assert_nonnull(l.file);
    if (!was)
        fprintf(l.file, "# pairs: seed %d; %d orders of the waves, and loads that land at once\n",
                SEED, ORDERS + 1);
    for (guint pass = 0; pass < 2; pass++) {
        l.proved = pass == 0;
        amd_mutants(text, NULL, judge_code, &l);
        amd_mutant_pairs(text, PAIRS, SEED, judge_code, &l);
    }
    fclose(l.file);
    g_hash_table_unref(l.known);
    g_hash_table_unref(l.code);
    g_assert_true(told(rows[l.row].design, name));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/amd/mutants/%s", rows[i].design);
        if ((test_quick() || test_sanitized()) && i == 2) /* its reference takes seconds */
            continue;
        if (g_getenv("WARPSTAVE_EMULATOR") && g_getenv("WARPSTAVE_MUTANTS"))
            g_test_add_data_func(path, GUINT_TO_POINTER(i), test_code);
        else
            g_test_add_data_func(path, GUINT_TO_POINTER(i), test_mutants);
    }
    return g_test_run();
}
