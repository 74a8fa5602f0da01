/* Certificates written by hand for designs that are wrong: each tries to make the verifier overlook
 * what is wrong. None may be verified. */
#include "../check/control.h"
#include "model/findings.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "verify/verify.h"

#include <string.h>

/* Two groups that meet in every round, and then wait for what never comes. */
#define LOOP(count) "{'for':'k','count':'" count "','do':[SYNC]}"
#define TWO(count)  "{'for':'k','count':'" count "','do':[SYNC,SYNC]}"
#define NEVER       "{'wait':'never','use':0}"
#define TWICE(cond) "{'if':'" cond "','then':[SYNC,SYNC]}"
#define NUMBER(i, least, text)                                                                     \
    "symbol " i " number launch - least " least " most - modulus 1 every 1 left 0 text " text "\n"
#define LETTER(i, text)                                                                            \
    "symbol " i " letter launch - least - most - modulus 1 every 1 left 0 text " text "\n"

static const struct {
    const char *title;
    const char *a, *b, *assume;
    guint symbols;
    const char *symbol;
    guint nodes;      /* for a reader */
    const char *text; /* begin and nodes */
    const char *why;  /* part of the reason */
    guint cluster;
    const char *from, *to; /* in the design */
} forged[] = {
#include "forged.def"
};

static WsProgram *program_of(guint i)
{
    const Row row = { forged[i].title,
                      WS_VERDICT_REFUTED,
                      forged[i].a,
                      forged[i].b,
                      NULL,
                      forged[i].assume,
                      NULL,
                      forged[i].cluster };
    g_autofree char *made = design_of(&row);
    g_autofree char *from = forged[i].from ? replaced(forged[i].from, "'", "\"") : NULL;
    g_autofree char *to = forged[i].to ? replaced(forged[i].to, "'", "\"") : NULL;
    g_autofree char *design = from ? replaced(made, from, to) : g_strdup(made);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(design, strlen(design), "forged", findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p)
        g_error("%s: %s", forged[i].title, design);
    return p;
}

/* Variables of the program by their numbers, "a__k" that of group a, "sym2" symbol 2; what is no
 * expression stays. */
static WsExpr *by_number(const WsExpr *leaf, gpointer data, GError **error)
{
    const WsProgram *p = data;
    g_autofree char *text = ws_expr_print(leaf);
    const gboolean named = leaf->op == WS_EXPR_NAME || leaf->op == WS_EXPR_TOTAL;
    gint n = named ? ws_program_find_var(p, text) : -1;
    if (named && g_str_has_prefix(text, "sym"))
        n = (gint)(p->n_vars + g_ascii_strtoull(text + 3, NULL, 10));
    for (guint v = 0; v < p->n_vars && named && strstr(text, "__") == text + 1; v++)
        if (p->var[v].agent == *text - 'a' && !strcmp(p->var[v].name, text + 3))
            n = (gint)v;
    g_autofree char *name = g_strdup_printf("_%d", n);
    return n >= 0 ? ws_expr_name(name) : NULL;
}

/* `form KIND E as E` with names by their numbers. */
static void add_form(GString *t, const WsProgram *p, const char *kind, const char *sides)
{
    g_auto(GStrv) side = g_strsplit(sides, " as ", 2);
    g_string_append_printf(t, "form %s", kind);
    for (guint k = 0; k < 2; k++) {
        g_autoptr(WsExpr) e = ws_expr_parse(side[k], NULL);
        g_autoptr(WsExpr) numbered = ws_expr_map(e, by_number, (gpointer)p, NULL);
        g_autofree char *said = ws_expr_print(numbered);
        g_string_append_printf(t, "%s%s", k ? " as " : " ", said);
    }
    g_string_append_c(t, '\n');
}

/* `equal I text E` says that E is taken for symbol I, `truth I text E` that it is so as a truth
 * value, `form` both sides. */
static char *with_forms(const WsProgram *p, const char *text)
{
    GString *t = g_string_new(strstr(text, "equals ") ? "" : "forms 0\n");
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i] && line[i + 1]; i++) {
        g_auto(GStrv) f = g_strsplit(line[i], " ", 4);
        const gboolean truth = !strcmp(f[0], "truth"), equal = !strcmp(f[0], "equal") || truth;
        g_autoptr(WsExpr) e = equal ? ws_expr_parse(f[3], NULL) : NULL;
        g_autoptr(WsExpr) numbered = e ? ws_expr_map(e, by_number, (gpointer)p, NULL) : NULL;
        g_autofree char *of = numbered ? ws_expr_print(numbered) : g_strdup(equal ? f[3] : "");
        if (!strcmp(f[0], "form"))
            add_form(t, p, f[1], line[i] + strlen("form ") + strlen(f[1]) + 1);
        else if (equal)
            g_string_append_printf(t, "form %s %s as _%u\n", truth ? "letter" : "number", of,
                                   p->n_vars + (guint)g_ascii_strtoull(f[1], NULL, 10));
        else if (!strcmp(f[0], "equals"))
            g_string_append_printf(t, "forms %s\n", f[1]);
        else
            g_string_append_printf(t, "%s\n", line[i]);
    }
    return g_string_free(t, FALSE);
}

static char *text_of(guint i, const WsProgram *p)
{
    g_autofree char *rest = with_forms(p, forged[i].text);
    return g_strdup_printf("warpstave-certificate 3\ndesign %s\npolicy 0\nsymbols %u\n"
                           "symbol 0 tiles launch - least 1 most - modulus 1 every 1 left 0 text \n"
                           "%s%send\n",
                           p->design_hash, forged[i].symbols + 1, forged[i].symbol, rest);
}

static void is_not_verified(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(WsProgram) p = program_of(i);
    g_autoptr(WsFindings) found = ws_findings_new();
    g_autoptr(WsVerdict) verdict = ws_check(p, &(WsCheckOptions){ .protocol_only = TRUE }, found);
    if (verdict->kind == WS_VERDICT_PROVED)
        g_test_fail_printf("%s: it is no wrong design", forged[i].title);
    g_autofree char *text = text_of(i, p);
    g_autoptr(WsVerification) v = ws_verify(p, text);
    if (v->answer == WS_VERIFIED)
        g_test_fail_printf("%s: verified", forged[i].title);
    else if (!strstr(v->reason, forged[i].why))
        g_test_fail_printf("%s: for another reason: %s", forged[i].title, v->reason);
}

/* Equalities that hold because of what is assumed: of the symbol, of the text, the assumption. */
static const char *const hold[][3] = {
    { "min(N, 6)", "min(max(N, N + M - 3), 6)", "'M == 3'" },
    { "min(N, 6)", "min(N - M, 6)", "'M <= 0'" },
    { "min(N, 6)", "min(min(max(N, N + M - R), 8), 6)", "'M == 3','R == 3'" },
};

static void equalities_hold(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(hold); i++) {
        g_autofree char *a = g_strdup_printf("[" TWO("%s") "]", hold[i][0]);
        g_autofree char *b = g_strdup_printf("[" TWO("%s") "]", hold[i][1]);
        const Row row = { .title = "an equality", .a = a, .b = b, .assume = hold[i][2] };
        g_autofree char *made = design_of(&row);
        g_auto(GStrv) part = g_strsplit(made, "\"M\":4", 2);
        g_autofree char *design = g_strjoinv("\"M\":4,\"R\":3", part);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) d = ws_design_parse(design, strlen(design), "equal", findings);
        g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
        g_assert_nonnull(p);
        g_autofree char *said = g_strdup_printf(
            "warpstave-certificate 3\ndesign %s\npolicy 0\nsymbols 2\n"
            "symbol 0 tiles launch - least 1 most - modulus 1 every 1 left 0 text \n"
            "symbol 1 number launch - least - most - modulus 1 every 1 left 0 text %s\n"
            "equals 1\nequal 1 text %s\nbegin 0\nnodes 2\n"
            "node 0 ask 1 0 - 0\noption <= 0 end\noption >= 1 1\n"
            "node 1 ask 1 0 - 0\nknows 1 0 - 0 1 - -\noption = 1 end\noption >= 2 1\nend\n",
            p->design_hash, hold[i][0], hold[i][1]);
        g_auto(GStrv) half = g_strsplit(said, "equals", 2);
        g_autofree char *equal = g_strconcat("equals", half[1], NULL);
        g_autofree char *forms = with_forms(p, equal), *text = g_strconcat(half[0], forms, NULL);
        g_autoptr(WsVerification) v = ws_verify(p, text);
        if (v->answer != WS_VERIFIED)
            g_test_fail_printf("\"%s\" is \"%s\" if %s: %s", hold[i][1], hold[i][0], hold[i][2],
                               v->reason);
    }
}

/* A right certificate, and what makes none of it: each of these in its place. */
static const struct {
    const char *from, *to;
} spoilt[] = {
    { "certificate 3", "certificate 1" },
    { "certificate 3", "certificate 3 " },
    { "policy 0", "policy 4" },
    { "policy 0", "policy -0" },
    { "policy 0\n", "" },
    { "policy 0\n", "policy 0\npolicy 0\n" },
    { "symbols 2", "symbols 1" },
    { "symbols 2", "symbols 3" },
    { "symbol 1 ", "symbol 4294967297 " },
    { "symbol 1 ", "symbol 01 " },
    { "symbol 1 ", "symbol  1 " },
    { "number launch", "letters launch" },
    { "number launch -", "number launch split,cta" },
    { "left 0 text N", "left 1 text N" },
    { "every 1 left 0 text N", "every 0 left 0 text N" },
    { "modulus 1 every 1 left 0 text N", "modulus 2 every 1 left 0 text N" },
    { "least 0 most - modulus", "least -9223372036854775808 most - modulus" },
    { "least 0 most - modulus", "least 9223372036854775808 most - modulus" },
    { "least 0 most - modulus", "least 1e0 most - modulus" },
    { "forms 0", "forms 1" },
    { "forms 0", "forms 65537" },
    { "forms 0\n", "forms 1\nform number _0\n" },
    { "forms 0\n", "forms 1\nform number _0 as _0 as _0\n" },
    { "forms 0\n", "forms 1\nform truth _0 as _0\n" },
    { "begin 0", "begin -1" },
    { "begin 0", "begin" },
    { "nodes 2", "nodes 3" },
    { "nodes 2", "nodes 18446744073709551618" },
    { "node 1 ask", "node 4294967297 ask" },
    { "node 1 ask", "node 0 ask" },
    { "ask 1 0 - 0\noption = 0", "ask 1 -3 - 0\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 1 1e0 - 0\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 1 9223372036854775807 - 0\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 1 1:before - 0\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 1 1:launch - 0\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 1 0 -1 0\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 1 0 0 0\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 1 0 - 1\noption = 0" },
    { "ask 1 0 - 0\noption = 0", "ask 2 0 - 0\noption = 0" },
    { "knows 1 0 - 0 1 - -", "knows 1 0 - 0 1 - -1" },
    { "knows 1 0 - 0 1 - -", "knows 1 0 - 0 1 - 1" },
    { "knows 1 0 - 0 1 - -", "knows 1 0 - 0 1 -" },
    { "knows 1 0 - 0 1 - -\n", "knows 1 0 - 0 1 - -\nknows 1 0 - 0 1 - -\n" },
    { "option = 0 end", "option = -0 end" },
    { "option = 0 end", "option = 0 End" },
    { "option = 0 end", "option = 0 end end" },
    { "option = 0 end", "option == 0 end" },
    { "option = 0 end\n", "option = 0 end\noption = 0 end\n" },
    { "\nend\n", "\nend" },
    { "\nend\n", "\n" },
    { "\nend\n", "\nend\n\n" },
    { "\nend\n", "\nend\nend\n" },
    { "\nend\n", "\r\nend\r\n" },
    { "text N", "text N\xff" },
};

static void is_read_strictly(void)
{
    guint i = 0;
    while (i + 1 < G_N_ELEMENTS(forged) && forged[i].why)
        i++;
    g_autoptr(WsProgram) p = program_of(i);
    g_autofree char *right = text_of(i, p);
    g_autoptr(WsVerification) v = ws_verify(p, right);
    g_assert_cmpint(v->answer, ==, WS_VERIFIED);
    for (guint n = 0; n < G_N_ELEMENTS(spoilt); n++) {
        char *at = strstr(right, spoilt[n].from);
        g_assert_nonnull(at);
        g_autofree char *before = g_strndup(right, (gsize)(at - right));
        g_autofree char *text =
            g_strconcat(before, spoilt[n].to, at + strlen(spoilt[n].from), NULL);
        g_autoptr(WsVerification) x = ws_verify(p, text);
        if (x->answer != WS_VERIFY_UNREADABLE)
            g_test_fail_printf("\"%s\" for \"%s\": %s", spoilt[n].to, spoilt[n].from,
                               x->reason ? x->reason : "verified");
    }
    for (gsize n = 0; n + 1 < strlen(right); n++) { /* cut off anywhere */
        g_autofree char *text = g_strndup(right, n);
        g_autoptr(WsVerification) x = ws_verify(p, text);
        g_assert_cmpint(x->answer, ==, WS_VERIFY_UNREADABLE);
    }
}

/* `text` with `line` n times behind its first line that begins with `after`. */
static char *flooded(const char *text, const char *after, const char *line, guint n)
{
    GString *t = g_string_new(text);
    for (guint i = 0; i < n; i++) {
        const char *at = strchr(strstr(t->str, after), '\n');
        g_autofree char *one = g_strdup_printf(line, i + 10);
        g_string_insert(t, at + 1 - t->str, one);
    }
    return g_string_free(t, FALSE);
}

/* What is too long is refused, in few words. */
static void is_read_in_bounds(void)
{
    guint i = 0;
    while (i + 1 < G_N_ELEMENTS(forged) && forged[i].why)
        i++;
    g_autoptr(WsProgram) p = program_of(i);
    g_autofree char *right = text_of(i, p);
    g_autofree char *deep = g_strnfill(100000, '('), *level = g_strnfill(100000, ')');
    g_autofree char *nested =
        g_strconcat("forms 1\nform number ", deep, "_0", level, " as _0\n", NULL);
    g_auto(GStrv) part = g_strsplit(right, "forms 0\nbegin", 2);
    char *bad[] = { flooded(right, "node 1", "knows 1 %u - 0 1 - -\n", 5000),
                    flooded(right, "knows 1", "option = %u end\n", 5000),
                    g_strconcat(part[0], nested, "begin", part[1], NULL) };
    for (guint n = 0; n < G_N_ELEMENTS(bad); n++) {
        g_autoptr(WsVerification) v = ws_verify(p, bad[n]);
        g_assert_cmpint(v->answer, !=, WS_VERIFIED);
        g_assert_cmpuint(strlen(v->reason), <, 600);
        g_assert_cmpint(v->micros, <, 20 * G_USEC_PER_SEC);
        if (n < 2)
            g_assert_nonnull(strstr(v->reason, "line 4"));
    }
    for (guint n = 0; n < G_N_ELEMENTS(bad); n++)
        g_free(bad[n]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verify/read strictly", is_read_strictly);
    g_test_add_func("/verify/equalities hold", equalities_hold);
    g_test_add_func("/verify/read in bounds", is_read_in_bounds);
    for (guint i = 0; i < G_N_ELEMENTS(forged) && forged[i].why; i++) {
        g_autofree char *path = g_strdup_printf("/verify/forged by hand/%s", forged[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), is_not_verified);
    }
    return g_test_run();
}
