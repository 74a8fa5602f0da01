/* check --fix: repairs a design as far as the check proves the result, and says what it did. */
#include "cli/check_report.h"
#include "mend/fix.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <stdio.h>
#include <string.h>

/* Data: NULL, or RULE or RULE@STEP. */
static gboolean wanted(const WsFinding *f, gpointer data)
{
    const char *only = data;
    if (!only)
        return f->severity >= WS_SEVERITY_WARNING;
    const char *rule = ws_rule(f->rule)->text, *at = strchr(only, '@');
    const gsize n = at ? (gsize)(at - only) : strlen(only);
    return strlen(rule) == n && g_ascii_strncasecmp(rule, only, n) == 0 &&
           (!at || g_strcmp0(f->at, at + 1) == 0);
}

static void say_left(const WsFixState *now, gboolean fixed, const WsCliFix *how,
                     const GPtrArray *offers)
{
    if (!fixed)
        printf("nothing was fixed: no %squick-fix makes it right\n", how->only ? "" : "safe ");
    for (guint i = 0; i < offers->len; i++)
        printf("%s  --fix %s\n",
               i == 0 ? "this would make it right, and changes more than synchronisation, or takes "
                        "order away; look at it first:\n"
                      : "",
               (const char *)offers->pdata[i]);
    if (fixed && now->errors + now->warnings > 0)
        printf("left: %u error%s, %u warning%s\n", now->errors, now->errors == 1 ? "" : "s",
               now->warnings, now->warnings == 1 ? "" : "s");
}

/* --- difference of two texts, line by line ---------------------------------------------------- */
static void print_difference(const char *before, const char *after)
{
    g_auto(GStrv) a = g_strsplit(before, "\n", -1);
    g_auto(GStrv) b = g_strsplit(after, "\n", -1);
    const guint n = g_strv_length(a), m = g_strv_length(b), w = m + 1;
    /* longest common part of what follows line i and line j */
    g_autofree guint16 *common = g_new0(guint16, (gsize)(n + 1) * w);
    for (guint i = n; i-- > 0;)
        for (guint j = m; j-- > 0;)
            common[(gsize)i * w + j] =
                strcmp(a[i], b[j]) == 0
                    ? common[(gsize)(i + 1) * w + j + 1] + 1
                    : MAX(common[(gsize)(i + 1) * w + j], common[(gsize)i * w + j + 1]);
    guint i = 0, j = 0;
    while (i < n || j < m) {
        if (i < n && j < m && strcmp(a[i], b[j]) == 0) {
            i++, j++;
        } else if (i < n &&
                   (j == m || common[(gsize)(i + 1) * w + j] >= common[(gsize)i * w + j + 1])) {
            printf("%5u - %s\n", i + 1, a[i]);
            i++;
        } else {
            printf("%5u + %s\n", j + 1, b[j]);
            j++;
        }
    }
}

/* A finding whose fix has been proved says that fix, and not what was likely before. */
static void tell_proved(WsFindings *findings, const GPtrArray *offers)
{
    for (guint i = 0; i < offers->len; i++) {
        g_auto(GStrv) line = g_strsplit(offers->pdata[i], "\n", 2);
        const char *title = strstr(line[0], ": ");
        for (guint k = 0; title && k < findings->list->len; k++) {
            WsFinding *f = findings->list->pdata[k];
            g_autofree char *key =
                g_strdup_printf("%s@%s: ", ws_rule(f->rule)->text, f->at ? f->at : "");
            if (g_str_has_prefix(line[0], key))
                ws_finding_set_remedy(f, "%s", title + 2);
        }
    }
}

int ws_cli_fix(const char *file, WsCliInput *in, char **set, const WsCliFix *how,
               WsVerdict **verdict)
{
    g_autoptr(GArray) settings = NULL;
    if (!ws_cli_settings(set, "--set", &settings))
        return WS_EXIT_USAGE;
    const WsSetting *constants = (const WsSetting *)(gpointer)settings->data;
    WsFixState *now = ws_fix_state_new(in->design, constants, settings->len, how->check);
    g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) offers = g_ptr_array_new_with_free_func(g_free);
    const WsFixAsk ask = { .any = how->only != NULL,
                           .wanted = wanted,
                           .data = (gpointer)how->only,
                           .set = constants,
                           .n_set = settings->len,
                           .options = how->check };
    WsFixState *after = ws_fix_repair(now, &ask, steps, offers);
    const gboolean fixed = after != NULL;
    if (fixed) {
        ws_fix_state_free(now);
        now = after;
    }
    for (guint i = 0; i < steps->len; i++)
        printf("fixed %s\n", (const char *)steps->pdata[i]);
    say_left(now, fixed, how, offers);
    int code = WS_EXIT_YES;
    if (fixed && how->dry) {
        g_autofree char *before = ws_design_print(in->design), *text = ws_design_print(now->design);
        print_difference(before, text);
    }
    g_autoptr(GError) error = NULL;
    if (fixed && !how->dry && !ws_design_save(now->design, file, &error))
        code = ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    else if (fixed && !how->dry)
        printf("%s: written\n", file);
    fflush(stdout);
    /* What is left to say is said of the fixed design, with the lines of the file as it is now. */
    ws_cli_input_clear(in);
    in->findings = ws_findings_new();
    in->design = fixed && !how->dry && code == WS_EXIT_YES ? ws_design_load(file, in->findings)
                                                           : ws_design_ref(now->design);
    in->program =
        in->design ? ws_elaborate(in->design, constants, settings->len, in->findings) : NULL;
    if (in->program && ws_findings_count(in->findings, WS_SEVERITY_ERROR) == 0) {
        *verdict = ws_check(in->program, how->check, in->findings);
        ws_check_locate(in->design, in->findings);
        if (!fixed)
            tell_proved(in->findings, offers);
    }
    ws_fix_state_free(now);
    return code;
}
