/* warpstave-verify DESIGN CERTIFICATE */
#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "verify/verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int unreadable(const char *what, const char *why)
{
    fprintf(stderr, "warpstave-verify: %s: %s\n", what, why);
    return WS_VERIFY_UNREADABLE;
}

static WsProgram *program_of(const char *file, char **set)
{
    g_autofree char *text = NULL;
    gsize length;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GArray) setting = g_array_new(FALSE, TRUE, sizeof(WsSetting));
    if (!g_file_get_contents(file, &text, &length, NULL))
        return NULL;
    for (guint i = 0; set && set[i]; i++) {
        char *value = strchr(set[i], '='), *end = NULL;
        if (!value)
            return NULL;
        *value++ = '\0';
        WsSetting s = { .name = set[i], .value = g_ascii_strtoll(value, &end, 10) };
        if (!*value || *end)
            return NULL;
        g_array_append_val(setting, s);
    }
    g_autoptr(WsDesign) design = ws_design_parse(text, length, file, findings);
    WsProgram *p = NULL;
    if (design)
        p = ws_elaborate(design, (WsSetting *)(gpointer)setting->data, setting->len, findings);
    if (p && ws_findings_exit_code(findings, FALSE) != 0)
        g_clear_pointer(&p, ws_program_unref);
    return p;
}

int main(int argc, char **argv)
{
    g_auto(GStrv) set = NULL;
    const GOptionEntry entries[] = {
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { NULL },
    };
    g_autoptr(GError) error = NULL;
    g_autoptr(GOptionContext) options = g_option_context_new("DESIGN CERTIFICATE");
    g_option_context_add_main_entries(options, entries, NULL);
    if (!g_option_context_parse(options, &argc, &argv, &error) || argc != 3)
        return unreadable("usage",
                          error ? error->message : "DESIGN CERTIFICATE [--set NAME=VALUE]");
    g_autofree char *text = NULL;
    gsize length;
    if (!g_file_get_contents(argv[2], &text, &length, &error))
        return unreadable(argv[2], error->message);
    if (strlen(text) != length)
        return unreadable(argv[2], "a byte that is 0");
    g_autoptr(WsProgram) p = program_of(argv[1], set);
    if (!p)
        return unreadable(argv[1], "not a design that can be elaborated");
    g_autoptr(WsVerification) v = ws_verify(p, text);
    g_autofree char *line = ws_verification_text(v);
    printf("%s: %s\n", argv[1], line);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return (int)v->answer;
    const int lost = unreadable("cannot write to standard output", g_strerror(errno));
    return v->answer == WS_VERIFIED ? lost : (int)v->answer;
}
