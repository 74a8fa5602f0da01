/* Findings and how they are counted, ordered into exit codes and printed. */
#include "model/finding.h"

#include <stdarg.h>

static void free_finding(gpointer data)
{
    WsFinding *f = data;
    g_free(f->at);
    g_free(f->message);
    g_free(f->remedy);
    g_free(f->barrier);
    g_free(f->round);
    if (f->steps != NULL)
        g_ptr_array_unref(f->steps);
    g_free(f);
}

WsFindings *ws_findings_new(void)
{
    WsFindings *f = g_new0(WsFindings, 1);
    f->list = g_ptr_array_new_with_free_func(free_finding);
    return f;
}

void ws_findings_free(WsFindings *f)
{
    if (f == NULL)
        return;
    g_ptr_array_unref(f->list);
    g_free(f);
}

WsFinding *ws_findings_add(WsFindings *f, WsRuleId rule, const char *at, const char *format, ...)
{
    WsFinding *finding = g_new0(WsFinding, 1);
    finding->rule = rule;
    finding->severity = ws_rule(rule)->severity;
    finding->at = g_strdup(at);
    va_list args;
    va_start(args, format);
    finding->message = g_strdup_vprintf(format, args);
    va_end(args);
    g_ptr_array_add(f->list, finding);
    return finding;
}

void ws_finding_set_remedy(WsFinding *f, const char *format, ...)
{
    if (f == NULL)
        return;
    va_list args;
    va_start(args, format);
    g_free(f->remedy);
    f->remedy = g_strdup_vprintf(format, args);
    va_end(args);
}

guint ws_findings_count(const WsFindings *f, WsSeverity at_least)
{
    guint n = 0;
    for (guint i = 0; i < f->list->len; i++)
        n += ((const WsFinding *)g_ptr_array_index(f->list, i))->severity >= at_least;
    return n;
}

int ws_findings_exit_code(const WsFindings *f, gboolean strict)
{
    static const int code[] = {
        [WS_CLASS_V] = 2, [WS_CLASS_S] = 2, [WS_CLASS_N] = 2, [WS_CLASS_T] = 2, [WS_CLASS_L] = 1,
        [WS_CLASS_B] = 1, [WS_CLASS_P] = 1, [WS_CLASS_F] = 3, [WS_CLASS_R] = 1
    };
    int lowest_class = -1, result = 0;
    for (guint i = 0; i < f->list->len; i++) {
        const WsFinding *finding = g_ptr_array_index(f->list, i);
        const int klass = (int)ws_rule(finding->rule)->klass;
        if (finding->severity == WS_SEVERITY_WARNING && strict && result == 0)
            result = 1;
        if (finding->severity != WS_SEVERITY_ERROR || (lowest_class >= 0 && klass >= lowest_class))
            continue;
        lowest_class = klass;
        result = code[klass];
    }
    return result;
}

static void print_finding(GString *out, const WsFinding *f, const char *file)
{
    static const char *const severity[] = { "hint", "warning", "error" };
    if (file != NULL)
        g_string_append(out, file);
    if (f->line > 0) {
        g_string_append_printf(out, "%s%u", file != NULL ? ":" : "line ", f->line);
        if (f->column > 0)
            g_string_append_printf(out, ":%u", f->column);
    }
    if (file != NULL || f->line > 0)
        g_string_append(out, ": ");
    g_string_append_printf(out, "%s %s", severity[f->severity], ws_rule(f->rule)->text);
    if (f->at != NULL && *f->at != '\0')
        g_string_append_printf(out, " at %s", f->at);
    g_string_append_printf(out, ": %s\n", f->message);
    if (f->barrier != NULL)
        g_string_append_printf(out, "  barrier: %s\n", f->barrier);
    if (f->round != NULL)
        g_string_append_printf(out, "  round: %s\n", f->round);
    for (guint i = 0; f->steps != NULL && i < f->steps->len; i++)
        g_string_append_printf(out, "  step: %s\n", (const char *)g_ptr_array_index(f->steps, i));
    const char *remedy = f->remedy != NULL ? f->remedy : ws_rule(f->rule)->fix;
    g_string_append_printf(out, "  remedy: %s\n", remedy);
}

char *ws_findings_print(const WsFindings *f, const char *file)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < f->list->len; i++)
        print_finding(out, g_ptr_array_index(f->list, i), file);
    return g_string_free(out, FALSE);
}
