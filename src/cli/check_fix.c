/* check --fix: applies the quick-fixes that hold, one after the other. */
#include "check/fix.h"
#include "cli/check_report.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FIXES = 32 };

static gboolean wanted(const WsFinding *f, const char *only)
{
    if (f->silenced)
        return FALSE;
    if (!only)
        return f->severity >= WS_SEVERITY_WARNING;
    const char *rule = ws_rule(f->rule)->text, *at = strchr(only, '@');
    const gsize n = at ? (gsize)(at - only) : strlen(only);
    return strlen(rule) == n && g_ascii_strncasecmp(rule, only, n) == 0 &&
           (!at || g_strcmp0(f->at, at + 1) == 0);
}

static void say(const WsFinding *f, const WsFix *fix)
{
    printf("fixed %s at %s: %s\n", ws_rule(f->rule)->text, f->at && *f->at ? f->at : "the design",
           fix->title);
    for (guint i = 0; i < fix->edits->len; i++) {
        g_autofree char *text = ws_edit_print(fix->edits->pdata[i]);
        printf("  %s\n", text);
    }
}

/* One fix that holds; NULL if there is none. What mends everything comes before what mends a part,
 * errors before warnings. */
static WsFixState *fix_one(const WsFixState *now, const WsCliFix *how, const GArray *set)
{
    for (guint part = 0; part < 2; part++)
        for (int severity = WS_SEVERITY_ERROR; severity >= WS_SEVERITY_HINT; severity--)
            for (guint i = 0; i < now->findings->list->len; i++) {
                const WsFinding *f = now->findings->list->pdata[i];
                if ((int)f->severity != severity || !wanted(f, how->only))
                    continue;
                g_autoptr(WsFix) fix = NULL;
                g_autoptr(WsFixState) after =
                    ws_fix_best(now, f, how->only != NULL, (const WsSetting *)(gpointer)set->data,
                                set->len, how->check, &fix);
                if (!after || (!part && after->errors > 0))
                    continue;
                say(f, fix);
                return g_steal_pointer(&after);
            }
    return NULL;
}

/* What a person could choose: fixes that hold and are not safe. */
static void say_choices(const WsFixState *now, const WsCliFix *how, const GArray *set)
{
    guint n = 0;
    for (guint i = 0; i < now->findings->list->len && n < 4; i++) {
        const WsFinding *f = now->findings->list->pdata[i];
        if (how->only || f->severity != WS_SEVERITY_ERROR)
            continue;
        g_autoptr(GPtrArray) list = ws_fixes_of(now->design, f);
        for (guint k = 0; k < list->len && n < 4; k++) {
            const WsFix *fix = list->pdata[k];
            g_autoptr(WsFixState) after =
                fix->safe ? NULL
                          : ws_fix_try(now, f, fix, (const WsSetting *)(gpointer)set->data,
                                       set->len, how->check);
            if (!after)
                continue;
            if (n++ == 0)
                printf("these would hold, and change more than synchronisation:\n");
            printf("  --fix %s@%s: %s\n", ws_rule(f->rule)->text, f->at, fix->title);
        }
    }
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

int ws_cli_fix(const char *file, WsCliInput *in, char **set, const WsCliFix *how,
               WsVerdict **verdict)
{
    g_autoptr(GArray) settings = NULL;
    if (!ws_cli_settings(set, "--set", &settings))
        return WS_EXIT_USAGE;
    const WsSetting *constants = (const WsSetting *)(gpointer)settings->data;
    WsFixState *now = ws_fix_state_new(in->design, constants, settings->len, how->check);
    guint n = 0;
    for (WsFixState *next; n < MOST_FIXES && (next = fix_one(now, how, settings)) != NULL; n++) {
        ws_fix_state_free(now);
        now = next;
    }
    g_autofree char *before = ws_design_print(in->design), *after = ws_design_print(now->design);
    int code = WS_EXIT_YES;
    if (n == 0)
        printf("nothing was fixed: no %squick-fix holds\n", how->only ? "" : "safe ");
    if (n == 0 || now->errors > 0)
        say_choices(now, how, settings);
    if (n > 0 && how->dry)
        print_difference(before, after);
    g_autoptr(GError) error = NULL;
    if (n > 0 && !how->dry && !ws_design_save(now->design, file, &error))
        code = ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    else if (n > 0 && !how->dry)
        printf("%s: written\n", file);
    fflush(stdout);
    /* What is left to say is said of the fixed design, with the lines of the file as it is now. */
    ws_cli_input_clear(in);
    in->findings = ws_findings_new();
    in->design = n > 0 && !how->dry && code == WS_EXIT_YES ? ws_design_load(file, in->findings)
                                                           : ws_design_ref(now->design);
    in->program =
        in->design ? ws_elaborate(in->design, constants, settings->len, in->findings) : NULL;
    if (in->program && ws_findings_count(in->findings, WS_SEVERITY_ERROR) == 0) {
        *verdict = ws_check(in->program, how->check, in->findings);
        ws_check_locate(in->design, in->findings);
    }
    ws_fix_state_free(now);
    return code;
}
