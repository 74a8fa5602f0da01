/* Designs that are rehearsed at sizes of their own, and changes of them that the check must refute,
 * at its step, or the rehearsal must find wrong. */
#pragma once

#include "../whole.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const char *file, *set, *size; /* "NAME=VALUE …" */
} Right;

typedef struct {
    const char *file, *from, *to;
    const char *rule, *at; /* refuted so; NULL: rehearsed, and wrong */
    const char *size;
} Wrong;

typedef struct {
    char *name[8];
    gint64 value[8];
    guint n;
} Words;

static void words_of(const char *text, Words *w)
{
    g_auto(GStrv) word = g_strsplit(text ? text : "", " ", -1);
    w->n = 0;
    for (guint i = 0; word[i] && *word[i]; i++) {
        char *is = strchr(word[i], '=');
        g_assert_nonnull(is);
        g_assert_cmpuint(w->n, <, G_N_ELEMENTS(w->value));
        w->name[w->n] = g_strndup(word[i], (gsize)(is - word[i]));
        w->value[w->n++] = g_ascii_strtoll(is + 1, NULL, 10);
    }
}

static void words_clear(Words *w)
{
    for (guint i = 0; i < w->n; i++)
        g_free(w->name[i]);
}

static WsProgram *with(const char *file, const char *from, const char *to, const char *set)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    GString *other = g_string_new(text);
    if (from)
        g_assert_cmpuint(g_string_replace(other, from, to, 0), >, 0);
    g_autofree char *now = g_string_free(other, FALSE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(now, strlen(now), path, findings);
    Words w;
    WsSetting setting[8];
    words_of(set, &w);
    for (guint i = 0; i < w.n; i++)
        setting[i] = (WsSetting){ w.name[i], w.value[i] };
    WsProgram *p = design ? ws_elaborate(design, setting, w.n, findings) : NULL;
    words_clear(&w);
    g_autofree char *said = ws_findings_print(findings, "served");
    g_test_message("%s", said);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return p;
}

static gboolean is_right(const WsProgram *p, const char *size)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    Words w;
    words_of(size, &w);
    const char *name[8];
    for (guint i = 0; i < w.n; i++)
        name[i] = w.name[i];
    WsRehearseOptions options = { .seed = 4, .size_name = name, .size = w.value, .n_size = w.n };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(r->elements, >, 0);
    gboolean ok = r->matches && !r->stuck && !r->first_violation && !r->first_race;
    g_test_message("%s: %s", size, ok ? "right" : r->first_wrong ? r->first_wrong : "not right");
    ws_rehearse_result_free(r);
    words_clear(&w);
    return ok;
}

/* Refuted by its rule, first at its step. */
static void refuted(const WsProgram *p, const Wrong *x)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    g_autofree char *text = ws_findings_print(findings, "served");
    g_test_message("%s -> %s: %s", x->from, x->to, text);
    g_assert_cmpint(verdict->kind, ==, WS_VERDICT_REFUTED);
    g_autofree char *said = x->at ? g_strdup_printf("error %s at %s:", x->rule, x->at)
                                  : g_strdup_printf("error %s", x->rule);
    g_assert_nonnull(strstr(text, said));
}
