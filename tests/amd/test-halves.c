/* Verdicts on gfx950 designs and their mutants against all interleavings of the two halves. */
#include "amd/halves.h"
#include "base/phrase.h"
#include "check/check.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "whole.h"

#include <string.h>

static const struct {
    const char *design;
    WsVerdictKind verdict;
    const char *size; /* 1 to `most` times `step` */
    gint64 step, most;
} rows[] = {
    { "gemm-gfx950", WS_VERDICT_PROVED, "K", 32, 8 },
    { "gemm-gfx950-split", WS_VERDICT_PROVED, "K", 64, 8 },
    { "attention-gfx950", WS_VERDICT_PROVED, "N_CTX", 256, 2 },
    { "refuted-gemm-gfx950-late-wait", WS_VERDICT_REFUTED, "K", 64, 8 },
    { "gemm-gfx950-flat", WS_VERDICT_PROVED, "K", 32, 6 },
    { "gemm-gfx950-flat-ring", WS_VERDICT_PROVED, "K", 160, 1 },
};

typedef struct {
    guint wrong, right, proved, alarms;
} Count;

static char *text_of(const char *design)
{
    g_autofree char *file = g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, design);
    char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    return text;
}

static WsProgram *elaborated(const char *text, WsFindings *findings)
{
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR) == 0)
        return p;
    g_clear_pointer(&p, ws_program_unref);
    return NULL;
}

/* What goes wrong at the smallest size; NULL: nothing at any. */
static char *tried(const WsProgram *p, guint row, gint64 *size)
{
    for (gint64 i = 1; i <= rows[row].most; i++) {
        gboolean ran;
        char *wrong = halves_wrong(p, rows[row].size, i * rows[row].step, &ran);
        *size = i * rows[row].step;
        if (wrong)
            return wrong;
    }
    return NULL;
}

static WsVerdictKind against(const WsProgram *p, guint row, const char *what, Count *n)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v =
        ws_check(p, &(WsCheckOptions){ .verdict_only = TRUE, .max_findings = 1 }, findings);
    gint64 size = 0;
    g_autofree char *wrong = tried(p, row, &size);
    n->proved += v->kind == WS_VERDICT_PROVED;
    n->wrong += wrong != NULL;
    n->right += wrong == NULL;
    n->alarms += wrong == NULL && v->kind == WS_VERDICT_REFUTED;
    if (wrong && v->kind == WS_VERDICT_PROVED)
        g_error("%s: proved, but for %s = %" G_GINT64_FORMAT " %s", what, rows[row].size, size,
                wrong);
    return v->kind;
}

static void test_shipped(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = text_of(rows[i].design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = elaborated(text, findings);
    g_assert_nonnull(p);
    Count n = { 0 };
    g_assert_cmpint(against(p, i, rows[i].design, &n), ==, rows[i].verdict);
    g_assert_cmpuint(n.wrong, ==, rows[i].verdict == WS_VERDICT_REFUTED);
}

/* The story of the late wait: who reads what whom, from three tiles of K on, and what to do. */
static void test_story(void)
{
    g_autofree char *text = text_of("refuted-gemm-gfx950-late-wait");
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = elaborated(text, findings);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
    g_autofree char *weakest = ws_phrase_text(v->weakest, NULL, NULL);
    g_assert_cmpstr(weakest, ==, "right for kt <= 2");
    guint first = 0;
    while (((const WsFinding *)findings->list->pdata[first])->rule == WS_RULE_L_BORDER)
        first++;
    const WsFinding *f = findings->list->pdata[first];
    g_assert_cmpint(f->rule, ==, WS_RULE_P_RACE);
    g_assert_nonnull(strstr(f->message, "all.lower (read fb <- b; k 0)"));
    g_assert_nonnull(strstr(f->message, "all.upper (load B -> b; i 1) may still write it"));
    g_assert_nonnull(strstr(f->message, "K = 192"));
    g_autofree char *said = ws_findings_print(findings, NULL);
    g_assert_null(strstr(said, "mbarrier"));
    g_assert_null(strstr(said, "arrive"));
    g_assert_nonnull(strstr(f->remedy, "at a border, or before a `sync`"));
}

/* Tiles one after the other in one launch. */
static void test_changed(void)
{
    static const struct {
        const char *name, *from[3], *to[3];
        WsVerdictKind verdict;
    } changes[] = {
        /* prefetches of the next tile meet reads of this one */
        { "persistent",
          { "\"single\"", "\"body\": [" },
          { "\"persistent\"", "\"body\": [ {\"for\":\"t\",\"over\":\"tiles\",\"do\":[" },
          WS_VERDICT_REFUTED },
        { "persistent, with a barrier between tiles",
          { "\"single\"", "\"body\": [" },
          { "\"persistent\"",
            "\"body\": [ {\"for\":\"t\",\"over\":\"tiles\",\"do\":[{\"sync\":\"group\"}," },
          WS_VERDICT_PROVED },
    };
    for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *right = text_of("gemm-gfx950");
        g_string_assign(text, right);
        for (guint k = 0; k < 3 && changes[i].from[k]; k++)
            g_assert_cmpuint(g_string_replace(text, changes[i].from[k], changes[i].to[k], 0), ==,
                             1);
        if (strstr(text->str, "\"over\"")) {
            char *end = strrchr(text->str, ']'); /* of groups; that of the body before it */
            while (--end > text->str && *end != ']')
                ;
            g_string_insert(text, end - text->str, "]}");
        }
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = elaborated(text->str, findings);
        g_test_message("%s", changes[i].name);
        g_assert_nonnull(p);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_assert_cmpint(v->kind, ==, changes[i].verdict);
    }
}

/* A wait is that of each wave: bytes that other waves of the half load need a barrier, however few
 * the rows are. */
static void test_waves(void)
{
    static const char *const between[] = { "", ",{\"sync\":\"group\"}" };
    for (guint i = 0; i < 2; i++) {
        g_autofree char *text = g_strdup_printf(
            "{\"warpstave\":1,\"name\":\"waves\",\"target\":\"gfx950\",\"sizes\":{\"N\":8},"
            "\"tensors\":[{\"name\":\"A\",\"dtype\":\"f32\",\"shape\":[2,64]},"
            "{\"name\":\"C\",\"dtype\":\"f32\",\"shape\":[2,64],\"access\":\"write\"}],"
            "\"tiles\":{\"axes\":{\"t\":1},\"launch\":\"single\"},\"buffers\":["
            "{\"name\":\"x\",\"dtype\":\"f32\",\"tile\":[2,64]}],\"groups\":[{\"name\":"
            "\"all\",\"role\":\"worker\",\"warps\":8,\"values\":[{\"name\":\"v\",\"dtype\":"
            "\"f32\",\"tile\":[2,64]}],\"body\":[{\"load\":\"A\",\"at\":[0,0],\"into\":\"x\"},"
            "{\"load_wait\":0}%s,{\"read\":\"v\",\"from\":\"x\"},"
            "{\"write\":\"v\",\"to\":\"C\",\"at\":[0,0]}]}]}",
            between[i]);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = elaborated(text, findings);
        g_assert_nonnull(p);
        g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
        g_assert_true((v->kind == WS_VERDICT_PROVED) == (i == 1));
    }
}

/* Waits and rounds of the barrier left out: of one half, and of both. */
static void test_left_out(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autofree char *text = text_of(rows[row].design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = elaborated(text, findings);
    g_assert_nonnull(p);
    Count n = { 0 };
    for (guint i = 0; i < p->n_ops; i++)
        for (guint both = 0; both < 2; both++) {
            WsOp *op = p->op[i];
            const WsOpKind was = op->kind;
            if (op->agent < 0 || (was != WS_OP_CP_WAIT && was != WS_OP_BAR_SYNC))
                continue;
            WsOp *twin = NULL;
            for (guint k = i + 1; both && k < p->n_ops && !twin; k++)
                if (p->op[k]->agent == 1 && op->agent == 0 && strcmp(p->op[k]->id, op->id) == 0)
                    twin = p->op[k];
            if (both && !twin)
                continue;
            const WsEngine engine = op->engine;
            op->kind = WS_OP_PRIORITY, op->engine = WS_ENGINE_NONE;
            if (twin)
                twin->kind = WS_OP_PRIORITY, twin->engine = WS_ENGINE_NONE;
            g_autofree char *what = g_strdup_printf("%s without %s of half %d%s", rows[row].design,
                                                    op->id, op->agent, twin ? " and its twin" : "");
            against(p, row, what, &n);
            op->kind = was, op->engine = engine;
            if (twin)
                twin->kind = was, twin->engine = engine;
        }
    g_test_message("%u wrong, %u right of which %u are refuted; %u proved", n.wrong, n.right,
                   n.alarms, n.proved);
    g_assert_cmpuint(n.wrong, >=, 8);
}

/* The text without one of its lines, and with two neighbours exchanged; waits that wait for less.
 */
static void mutant(guint row, GStrv line, guint a, gint b, Count *n, guint *made)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; line[i]; i++) {
        const char *now = line[i];
        if (b >= 0 && i == a)
            now = line[b];
        else if (b >= 0 && i == (guint)b)
            now = line[a];
        else if (b == -1 && i == a)
            continue;
        const char *wait = i == a && b == -2 ? strstr(now, "\"load_wait\": \"") : NULL;
        if (wait) {
            wait += strlen("\"load_wait\": \"");
            g_string_append_printf(text, "%.*s1 + %s\n", (int)(wait - now), now, wait);
        } else {
            g_string_append_printf(text, "%s\n", now);
        }
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = elaborated(text->str, findings);
    if (!p || p->n_agents != 2)
        return;
    ++*made;
    g_autofree char *what = g_strdup_printf("%s, line %u (%s) %s", rows[row].design, a + 1, line[a],
                                            b == -1   ? "left out"
                                            : b == -2 ? "waits for less"
                                                      : "exchanged with the next one");
    against(p, row, what, n);
}

static void test_text(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autofree char *text = text_of(rows[row].design);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    Count n = { 0 };
    guint made = 0, from = 0;
    while (!strstr(line[from], "\"body\""))
        from++;
    for (guint i = from + 1; line[i] && line[i + 1]; i++) {
        mutant(row, line, i, -1, &n, &made);
        mutant(row, line, i, (gint)i + 1, &n, &made);
        if (strstr(line[i], "\"load_wait\": \""))
            mutant(row, line, i, -2, &n, &made);
    }
    g_test_message("%u mutants: %u wrong, %u right of which %u are refuted; %u proved", made,
                   n.wrong, n.right, n.alarms, n.proved);
    g_assert_cmpuint(made, >, 10);
    g_assert_cmpuint(n.wrong, >, 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/amd/halves/story", test_story);
    g_test_add_func("/amd/halves/waves", test_waves);
    g_test_add_func("/amd/halves/changed", test_changed);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        static const struct {
            const char *name;
            GTestDataFunc run;
        } kinds[] = { { "shipped", test_shipped },
                      { "left-out", test_left_out },
                      { "text", test_text } };
        for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
            g_autofree char *path =
                g_strdup_printf("/amd/halves/%s/%s", kinds[k].name, rows[i].design);
            g_test_add_data_func(path, GUINT_TO_POINTER(i), kinds[k].run);
        }
    }
    return g_test_run();
}
