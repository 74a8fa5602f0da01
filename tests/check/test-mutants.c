/* Every step of the GEMMs that orders something is muted in turn, and every use is moved by one:
 * the check must refute each of them, except where a row says that the step is there for speed
 * only. */
#include "design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

typedef struct {
    const char *file;
    /* Steps (parts of their line and the one before) without which the design is still correct,
     * and why. */
    const char *spare[4];
    guint least; /* mutants there must be: the table cannot be empty by accident */
} Row;

static const Row rows[] = {
    { "gemm-cooperative.wstave", { NULL }, 15 },
    { "gemm-aliased.wstave", { NULL }, 15 },
    { "gemm-pingpong.wstave",
      { "\"wait\": \"store_turn", /* keeps the stores apart; each group has its own staging */
        "nobody overwrites" },    /* the turn of the other group says the same */
      15 },
    { "gemm-cluster.wstave",
      { "        ] },\n        { \"cluster\": \"sync\" }" }, /* the loader may end: consumers meet,
                                                            and who has ended is not waited for */
      15 },
};

static gboolean orders(const char *line)
{
    static const char *const key[] = { "{ \"wait\":",     "{ \"arrive\":",     "{ \"sync\":",
                                       "{ \"mma_wait\":", "{ \"store_wait\":", "{ \"advance\":",
                                       "{ \"cluster\":" };
    for (guint i = 0; i < G_N_ELEMENTS(key); i++)
        if (strstr(line, key[i]))
            return TRUE;
    return FALSE;
}

static gboolean spare(const Row *row, char **lines, guint n)
{
    g_autofree char *both = g_strconcat(n ? lines[n - 1] : "", "\n", lines[n], NULL);
    for (guint i = 0; i < G_N_ELEMENTS(row->spare) && row->spare[i]; i++)
        if (strstr(strchr(row->spare[i], '\n') ? both : lines[n], row->spare[i]))
            return TRUE;
    return FALSE;
}

/* The text with line `n` replaced. */
static char *with_line(char **lines, guint n, char *line)
{
    char *keep = lines[n];
    lines[n] = line;
    char *text = g_strjoinv("\n", lines);
    lines[n] = keep;
    g_free(line);
    return text;
}

static char *muted(const char *line)
{
    const char *end = strrchr(line, '}');
    return g_strdup_printf("%.*s, \"muted\": true %s", (int)(end - line - 1), line, end);
}

/* "use": "k.total" -> "use": "k.total + 1"; NULL if the line has no use. */
static char *moved(const char *line)
{
    const char *use = strstr(line, "\"use\": \"");
    if (!use)
        return NULL;
    const char *end = strchr(use + 8, '"');
    return g_strdup_printf("%.*s + 1%s", (int)(end - line), line, end);
}

/* Waiting for the release of the slot after this one only costs a stage. */
static gboolean stricter(const char *line)
{
    return strstr(line, "{ \"wait\": \"empty\", \"use\": \"k.total\" }") != NULL;
}

static void must_be_refuted(const Row *row, const char *text, const char *line, const char *how)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), row->file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_test_message("elaboration refuses (%s) %s", how, line);
        return;
    }
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *said = ws_findings_print(findings, row->file);
    if (v->kind != WS_VERDICT_REFUTED) {
        g_test_message("not refuted (%s): %s\n%s", how, line, said);
        g_test_fail();
        return;
    }
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        g_assert_true(f->severity == WS_SEVERITY_HINT || (f->at && *f->at));
    }
}

static void mutants(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *text = edited_text(row->file, NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    guint n = 0;
    for (guint i = 0; lines[i]; i++) {
        if (!orders(lines[i]) || spare(row, lines, i))
            continue;
        g_autofree char *without = with_line(lines, i, muted(lines[i]));
        must_be_refuted(row, without, lines[i], "muted");
        n++;
    }
    for (guint i = 0; lines[i]; i++) {
        /* Moving both sides of a hand-off in step is correct; here one line moves alone. */
        char *line = strstr(lines[i], "\"do\"") || stricter(lines[i]) ? NULL : moved(lines[i]);
        if (!line)
            continue;
        g_autofree char *other = with_line(lines, i, line);
        must_be_refuted(row, other, lines[i], "moved");
        n++;
    }
    g_test_message("%u mutants", n);
    g_assert_cmpuint(n, >=, row->least);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/mutants/%s", rows[i].file);
        g_test_add_data_func(path, &rows[i], mutants);
    }
    return g_test_run();
}
