#include "named.h"

#include "base/phrase.h"
#include "check/check.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define EDITS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define AS_IT_IS   ((const char *const[]){ NULL })

#define WS_TLE_NAME(name, base, edits, design, mark, said, read, written)                          \
    { name, base, edits, design, mark, said, read, written },
#define WS_TLE_KIN(...)
#define WS_TLE_VALUES(...)
#define WS_TLE_MADE(...)
const NamedRow named_rows[] = {
#include "tle/names.def"
};
const guint named_n_rows = G_N_ELEMENTS(named_rows);
#undef WS_TLE_NAME
#define WS_TLE_NAME(...)

#undef WS_TLE_KIN
#define WS_TLE_KIN(base, edits, rule, line) { base, edits, rule, line },
const NamedKin named_kin[] = {
#include "tle/names.def"
};
const guint named_n_kin = G_N_ELEMENTS(named_kin);
#undef WS_TLE_KIN
#define WS_TLE_KIN(...)

#undef WS_TLE_VALUES
#define WS_TLE_VALUES(base, edits, reference, sizes) { base, edits, reference, sizes },
const NamedValues named_values[] = {
#include "tle/names.def"
};
const guint named_n_values = G_N_ELEMENTS(named_values);
#undef WS_TLE_VALUES
#define WS_TLE_VALUES(...)

#undef WS_TLE_MADE
#define WS_TLE_MADE(base, edits, find, by, rule, line) { base, edits, find, by, rule, line },
const NamedMade named_made[] = {
#include "tle/names.def"
};
const guint named_n_made = G_N_ELEMENTS(named_made);
#undef WS_TLE_MADE
#define WS_TLE_MADE(...)

char *named_kernel(const char *base, const char *const *edits)
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

WsProgram *named_program(const WsDesign *design, gboolean foreign, char **why, const char *text)
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

WsProgram *named_program_of_file(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL), *none = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) own = ws_design_load(file, findings);
    g_assert_nonnull(own);
    return named_program(own, FALSE, &none, NULL);
}

NamedAnswer named_read(const char *text, WsDesign **design, WsProgram **p, char **why)
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
    *p = named_program(import->design, TRUE, why, text);
    if (!*p)
        return NO;
    *design = ws_design_ref(import->design);
    return hidden ? VALUES : YES;
}

char *named_judged(const WsDesign *design, const NamedValues *v)
{
    g_autofree char *text = ws_design_print(design);
    char *tiles = strstr(text, "\"tiles\"");
    g_assert_nonnull(tiles);
    return g_strdup_printf("%.*s\"reference\": [\"%s\"], \"rehearse\": { %s },\n  %s",
                           (int)(tiles - text), text, v->reference, v->sizes, tiles);
}
