/* Designs for the tests of the check: a shipped file, edited by text replacements and settings. */
#pragma once

#include "check/check.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define MAX_EDITS 6

typedef struct {
    const char *from, *to;
} Edit;

/* A third consumer in gemm-pingpong. */
static const Edit three_consumers[MAX_EDITS] G_GNUC_UNUSED = {
    { "\"tile\": [\"BM\", \"BN\"], \"array\": 2", "\"tile\": [\"BM\", \"BN\"], \"array\": 3" },
    { "\"main_turn\", \"array\": 2, \"init\": [\"ready\", \"pending\"]",
      "\"main_turn\", \"array\": 3, \"init\": [\"ready\", \"pending\", \"pending\"]" },
    { "\"store_turn\", \"array\": 2, \"init\": [\"ready\", \"pending\"]",
      "\"store_turn\", \"array\": 3, \"init\": [\"ready\", \"pending\", \"pending\"]" },
    { "main_turn[1 - replica]", "main_turn[(replica + 1)%replicas]" },
    { "store_turn[1 - replica]", "store_turn[(replica + 1)%replicas]" },
    { "\"registers\": 232, \"replicate\": 2", "\"registers\": 144, \"replicate\": 3" },
};

/* Takes `text`; each replacement must stand in it exactly once. `edit` NULL: none. */
static inline char *edited(char *text, const char *name, const Edit *edit, guint n)
{
    for (guint i = 0; edit && i < n && edit[i].from; i++) {
        g_auto(GStrv) parts = g_strsplit(text, edit[i].from, -1);
        if (!parts[0] || !parts[1] || parts[2])
            g_error("%s: \"%s\" does not stand there exactly once", name, edit[i].from);
        g_free(text);
        text = g_strjoinv(edit[i].to, parts);
    }
    return text;
}

static inline char *edited_text(const char *file, const Edit *edit)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, "tests/designs", file, NULL);
    char *text = NULL;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error))
        g_error("%s", error->message);
    return edited(text, file, edit, MAX_EDITS);
}

/* NULL with findings if it does not elaborate. */
static inline WsProgram *edited_program(const char *file, const Edit *edit, const char *name,
                                        gint64 value, WsFindings *findings)
{
    g_autofree char *text = edited_text(file, edit);
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    if (!design)
        return NULL;
    WsSetting set = { name, value };
    return ws_elaborate(design, &set, name ? 1 : 0, findings);
}

/* Of a text that has to elaborate without an error; what is found goes into the test's log. */
static inline WsProgram *right_program(const char *text, const char *name, WsFindings *findings)
{
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), name, findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autofree char *before = ws_findings_print(findings, name);
    g_test_message("%s\n%s", text, before);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return p;
}

/* Strings of a table row are parts of what must be said. */
static inline gboolean finding_is(const WsFinding *f, const char *rule, const char *at,
                                  const char *barrier, const char *round)
{
    return strcmp(ws_rule(f->rule)->text, rule) == 0 && (!at || g_str_has_suffix(f->at, at)) &&
           (!barrier || (f->barrier && strcmp(f->barrier, barrier) == 0)) &&
           (!round || (f->round && strcmp(f->round, round) == 0));
}

static inline const WsFinding *find_finding(const WsFindings *f, const char *rule, const char *at,
                                            const char *barrier, const char *round)
{
    for (guint i = 0; i < f->list->len; i++)
        if (finding_is(f->list->pdata[i], rule, at, barrier, round))
            return f->list->pdata[i];
    return NULL;
}
