#include "judge/judge.h"
#include "judge/open.h"
#include "judge/stated.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/program.h"

void ws_judged_clear(WsJudged *k)
{
    g_clear_pointer(&k->verdict, ws_verdict_free);
    g_clear_pointer(&k->program, ws_program_unref);
    g_clear_pointer(&k->findings, ws_findings_free);
    g_clear_pointer(&k->import, ws_import_free);
    k->design = NULL;
}

void ws_judge_soften(WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        WsFinding *f = findings->list->pdata[i];
        if (ws_rule(f->rule)->klass == WS_CLASS_B)
            f->severity = MIN(f->severity, WS_SEVERITY_WARNING);
    }
}

static gboolean is_of_the_kernel(const WsFinding *f, gconstpointer import)
{
    return !ws_import_added(import, f);
}

/* A step that a design needs to say what a name or a hint means, and the kernel has not, goes wrong
 * for nothing. */
static void judge_added(const WsImport *import, WsVerdict *verdict, WsFindings *findings)
{
    guint line = 0;
    for (guint i = 0; verdict->kind == WS_VERDICT_REFUTED && !line && i < findings->list->len;
         i++) {
        const WsFinding *f = findings->list->pdata[i];
        line = f->severity == WS_SEVERITY_ERROR ? ws_import_added(import, f) : 0;
    }
    if (!line)
        return;
    g_autofree char *why = ws_phrase("line %u: what goes wrong is a step that this reading adds "
                                     "and the kernel does not have",
                                     line);
    ws_verdict_limit(verdict, findings, why, is_of_the_kernel, import);
    if (verdict->kind == WS_VERDICT_OUTSIDE)
        g_array_set_size(verdict->played, 0); /* which found an error */
}

WsVerdict *ws_judge_program(const WsImport *import, const WsProgram *program,
                            const WsCheckOptions *check, WsFindings *findings)
{
    g_autofree char *gap = ws_import_gap(import);
    const char *reason = gap;
    for (guint i = 0; !reason && i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR)
            reason = f->message;
    }
    WsCheckOptions how = check ? *check : (WsCheckOptions){ 0 };
    how.foreign = TRUE;
    const gboolean sound = !ws_findings_count(findings, WS_SEVERITY_ERROR);
    const gboolean hopeless = gap && !import->near; /* what is unread may reach everything */
    WsVerdict *verdict = program && sound && !hopeless
                             ? ws_check(program, &how, findings)
                             : ws_verdict_outside(reason ? reason : "it makes no program");
    ws_verdict_limit(verdict, findings, gap, ws_import_stands, import);
    judge_added(import, verdict, findings);
    ws_judge_open(import, program, verdict, findings);
    ws_judge_stated(import, program, verdict, findings);
    return verdict;
}

typedef struct {
    const char *text, *file;
    gsize length;
    WsImportFrom from;
    const WsCheckOptions *check;
} Kernel;

static gboolean judge(const Kernel *kernel, const WsImportOptions *options, WsJudged *k,
                      GError **error)
{
    k->import =
        ws_import_text_as(kernel->text, kernel->length, kernel->file, kernel->from, options, error);
    if (!k->import)
        return FALSE;
    k->design = k->import->design;
    k->findings = ws_findings_new();
    k->program = ws_elaborate(k->design, NULL, 0, k->findings);
    ws_judge_soften(k->findings);
    k->verdict = ws_judge_program(k->import, k->program, kernel->check, k->findings);
    return TRUE;
}

/* Whether an error is about which use of a barrier a step stands for: the source does not say. */
static gboolean is_about_uses(const WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR)
            return f->rule == WS_RULE_P_EARLY || f->rule == WS_RULE_P_ABA ||
                   f->rule == WS_RULE_P_COUNT || f->rule == WS_RULE_P_TX ||
                   f->rule == WS_RULE_P_UNDEF;
    }
    return TRUE;
}

static void swap(WsJudged *a, WsJudged *b)
{
    const WsJudged first = *a;
    *a = *b;
    *b = first;
}

gboolean ws_judge_text(const char *text, gsize length, const char *file, WsImportFrom from,
                       const WsImportOptions *options, const WsCheckOptions *check, WsJudged *k,
                       GError **error)
{
    const Kernel kernel = { text, file, length, from, check };
    WsImportOptions how = options ? *options : (WsImportOptions){ 0 };
    if (!judge(&kernel, &how, k, error))
        return FALSE;
    const gboolean refuted = k->verdict->kind == WS_VERDICT_REFUTED;
    g_autofree char *gap = ws_import_gap(k->import);
    if (k->verdict->kind == WS_VERDICT_PROVED || (gap && !refuted && !k->import->parity_may_help))
        return TRUE;
    g_auto(WsJudged) other = { 0 };
    how.by_parity = TRUE;
    if (!judge(&kernel, &how, &other, NULL))
        return TRUE;
    const gboolean better =
        refuted ? is_about_uses(k->findings) &&
                      (other.verdict->kind != WS_VERDICT_REFUTED || !is_about_uses(other.findings))
                : other.verdict->kind != WS_VERDICT_OUTSIDE || k->import->parity_may_help;
    if (better) {
        swap(k, &other);
    } else if (!refuted && from == WS_IMPORT_PTX) {
        g_auto(WsJudged) named = { 0 };
        how.by_parity = FALSE;
        how.named = TRUE;
        if (judge(&kernel, &how, &named, NULL) &&
            named.verdict->kind == WS_VERDICT_PROVED) /* see WsImportOptions: only a proof is one */
            swap(k, &named);
    }
    return TRUE;
}
