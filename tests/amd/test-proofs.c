/* What orders the halves (proofs.def): the verdict on each, and all interleavings of the two halves
 * at small sizes, which share no code with it. */
#include "amd/designs.h"
#include "amd/halves.h"
#include "amd/letters.h"
#include "check/check.h"
#include "check/verdict.h"
#include "program/op.h"
#include "program/parts/operation.h"

typedef enum { LETTERS, STEPS, CHANGED, WITHOUT } Kind;

static const struct {
    const char *name;
    Kind kind;
    const char *what, *from, *to;
    WsVerdictKind verdict;
    const char *says;
} rows[] = {
#define WS_PROOF(name, kind, what, from, to, verdict, says, source)                                \
    { name, kind, what, from, to, WS_VERDICT_##verdict, says },
#include "amd/proofs.def"
#undef WS_PROOF
};

static char *text_of(guint i)
{
    if (rows[i].kind == LETTERS)
        return letters_design(rows[i].what, NULL);
    if (rows[i].kind == STEPS)
        return letters_around(rows[i].what);
    AmdChange change[4] = { { NULL, NULL } };
    g_auto(GStrv) from = g_strsplit(rows[i].from, "@", -1), to = g_strsplit(rows[i].to, "@", -1);
    for (guint k = 0; rows[i].kind == CHANGED && from[k]; k++) {
        g_assert_true(k < 3 && to[k]);
        change[k] = (AmdChange){ from[k], to[k] };
    }
    return amd_text(rows[i].what, change, G_N_ELEMENTS(change));
}

/* Joins of a half, or of both, that are none. */
static void leave_out(WsProgram *p, const char *suffix, const char *half)
{
    guint out = 0;
    const gboolean both = strcmp(half, "both") == 0;
    for (guint i = 0; i < p->n_ops; i++) {
        WsOp *op = p->op[i];
        if ((both || op->agent == (strcmp(half, "upper") == 0)) &&
            g_str_has_suffix(op->id, suffix)) {
            g_assert_true(ws_op_joins(op->kind));
            op->kind = WS_OP_PRIORITY;
            out++;
        }
    }
    g_assert_cmpuint(out, ==, both ? 2 : 1);
}

static gboolean told(const WsFindings *findings, const char *says)
{
    for (guint i = 0; i < findings->list->len; i++)
        if (strstr(((const WsFinding *)findings->list->pdata[i])->message, says))
            return TRUE;
    return FALSE;
}

/* Something goes wrong in some interleaving at a small size. */
static gboolean goes_wrong(const WsProgram *p, guint i)
{
    const gboolean design = rows[i].kind == CHANGED || rows[i].kind == WITHOUT;
    const gint64 step = !design ? 1 : strstr(rows[i].what, "-gfx950-") ? 64 : 32;
    guint tried = 0;
    gboolean wrong = FALSE;
    for (gint64 n = 1; n <= 8 && !wrong; n++) {
        gboolean ran;
        g_autofree char *what = halves_wrong(p, design ? "K" : "N", n * step, &ran);
        tried += ran;
        wrong = what != NULL;
        if (wrong)
            g_test_message("%" G_GINT64_FORMAT ": %s", n * step, what);
    }
    g_assert_cmpuint(tried, >, 0);
    return wrong;
}

static void test_row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *text = text_of(i);
    g_autoptr(WsProgram) p = letters_program(text, findings);
    g_assert_nonnull(p);
    if (rows[i].kind == WITHOUT)
        leave_out(p, rows[i].from, rows[i].to);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *said = ws_findings_print(findings, NULL);
    g_test_message("%s", said);
    g_assert_cmpint(v->kind, ==, rows[i].verdict);
    g_assert_true(!rows[i].says || told(findings, rows[i].says));
    g_assert_true(goes_wrong(p, i) == (rows[i].verdict == WS_VERDICT_REFUTED));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/amd/proofs/%s", rows[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
