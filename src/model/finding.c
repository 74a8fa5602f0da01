/* Findings and how they are counted, ordered into exit codes and printed. */
#include "model/finding.h"

#include <stdarg.h>

static void free_finding(gpointer data)
{
    WsFinding *f = data;
    g_free(f->at);
    g_free(f->message);
    g_free(f->remedy);
    g_free(f->said);
    g_free(f->what);
    g_free(f->advised);
    g_free(f->barrier);
    g_free(f->barrier_said);
    g_free(f->round);
    g_free(f->agent);
    g_free(f->other);
    g_free(f->object);
    g_free(f->sizes);
    g_clear_pointer(&f->met, ws_met_unref);
    g_free(f->silenced);
    g_clear_pointer(&f->steps, g_ptr_array_unref);
    g_clear_pointer(&f->story, g_ptr_array_unref);
    g_clear_pointer(&f->loops, g_ptr_array_unref);
    g_clear_pointer(&f->rounds, g_array_unref);
    g_free(f);
}

static void free_line(gpointer data)
{
    WsStoryLine *line = data;
    g_free(line->text);
    g_free(line->said);
    g_free(line);
}

static void clear_value(gpointer data)
{
    g_free(((WsMetValue *)data)->name);
}

WsMet *ws_met_new(void)
{
    WsMet *met = g_new0(WsMet, 1);
    met->refs = 1;
    met->value = g_array_new(FALSE, FALSE, sizeof(WsMetValue));
    g_array_set_clear_func(met->value, clear_value);
    return met;
}

WsMet *ws_met_ref(WsMet *met)
{
    if (met != NULL)
        g_atomic_int_inc(&met->refs);
    return met;
}

void ws_met_unref(WsMet *met)
{
    if (met == NULL || !g_atomic_int_dec_and_test(&met->refs))
        return;
    g_array_unref(met->value);
    g_free(met);
}

void ws_met_add(WsMet *met, const char *name, const gint64 *at, guint rank, gint64 value)
{
    WsMetValue x = { .name = g_strdup(name), .rank = rank, .value = value };
    for (guint d = 0; d < rank; d++)
        x.at[d] = at[d];
    g_array_append_val(met->value, x);
}

const char *ws_fact_text(WsFactId id)
{
    static const char *const text[] = {
#define WS_FACT(id, text, help) text,
#include "model/fact.def"
#undef WS_FACT
    };
    return text[id];
}

const char *ws_harm_text(WsHarm harm)
{
    static const char *const text[] = { "none", "hang", "corruption", "early", "undefined" };
    return text[harm];
}

const char *ws_story_label(WsStoryPart part)
{
    static const char *const label[] = {
        "who", "came", "missing", "first", "then", "between", "so"
    };
    return label[part];
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
    for (guint i = 0; i < WS_FACT_N; i++)
        finding->fact[i] = WS_FACT_NONE;
    va_list args;
    va_start(args, format);
    finding->said = ws_phrase_v(format, args);
    va_end(args);
    finding->message = ws_phrase_text(finding->said, NULL, NULL);
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
    g_free(f->advised);
    f->advised = ws_phrase_v(format, args);
    va_end(args);
    f->remedy = ws_phrase_text(f->advised, NULL, NULL);
}

void ws_finding_tell(WsFinding *f, WsStoryPart part, const char *format, ...)
{
    if (f == NULL)
        return;
    if (f->story == NULL)
        f->story = g_ptr_array_new_with_free_func(free_line);
    WsStoryLine *line = g_new(WsStoryLine, 1);
    line->part = part;
    va_list args;
    va_start(args, format);
    line->said = ws_phrase_v(format, args);
    va_end(args);
    line->text = ws_phrase_text(line->said, NULL, NULL);
    g_ptr_array_add(f->story, line);
}

void ws_finding_set_barrier(WsFinding *f, const char *phrase)
{
    if (f == NULL)
        return;
    g_free(f->barrier);
    g_free(f->barrier_said);
    f->barrier_said = g_strdup(phrase);
    f->barrier = ws_phrase_text(phrase, NULL, NULL);
}

char *ws_finding_message(const WsFinding *f, WsTranslate translate, gpointer data)
{
    return ws_phrase_text(f->said, translate, data);
}

char *ws_finding_remedy(const WsFinding *f, WsTranslate translate, gpointer data)
{
    g_autofree char *general = ws_phrase_word(ws_rule(f->rule)->fix);
    return ws_phrase_text(f->advised != NULL ? f->advised : general, translate, data);
}

guint ws_findings_count(const WsFindings *f, WsSeverity at_least)
{
    guint n = 0;
    for (guint i = 0; i < f->list->len; i++) {
        const WsFinding *finding = g_ptr_array_index(f->list, i);
        n += finding->severity >= at_least && finding->silenced == NULL;
    }
    return n;
}

int ws_findings_exit_code(const WsFindings *f, gboolean strict)
{
    static const int code[] = {
        [WS_CLASS_V] = 2, [WS_CLASS_S] = 2, [WS_CLASS_N] = 2, [WS_CLASS_T] = 2, [WS_CLASS_L] = 1,
        [WS_CLASS_B] = 1, [WS_CLASS_P] = 1, [WS_CLASS_G] = 1, [WS_CLASS_F] = 3, [WS_CLASS_R] = 1
    };
    int lowest_class = -1, result = 0;
    for (guint i = 0; i < f->list->len; i++) {
        const WsFinding *finding = g_ptr_array_index(f->list, i);
        /* what a lens does not know says nothing about the design: outside, not wrong */
        const int klass =
            finding->rule == WS_RULE_L_LENS ? WS_CLASS_F : (int)ws_rule(finding->rule)->klass;
        if (finding->silenced != NULL)
            continue;
        if (finding->severity == WS_SEVERITY_WARNING && strict && result == 0)
            result = 1;
        if (finding->severity != WS_SEVERITY_ERROR || (lowest_class >= 0 && klass >= lowest_class))
            continue;
        lowest_class = klass;
        result = code[klass];
    }
    return result;
}

/* Words of `text` in lines of `width` columns; later lines begin with `hang` columns of space. */
static void wrap(GString *out, const char *text, guint column, guint hang, guint width)
{
    g_auto(GStrv) word = g_strsplit(text, " ", -1);
    for (guint i = 0; word[i] != NULL; i++) {
        const guint n = (guint)g_utf8_strlen(word[i], -1);
        if (i > 0 && width > 0 && column + 1 + n > width) {
            g_string_append_printf(out, "\n%*s", (int)hang, "");
            column = hang;
        } else if (i > 0) {
            g_string_append_c(out, ' ');
            column++;
        }
        g_string_append(out, word[i]);
        column += n;
    }
    g_string_append_c(out, '\n');
}

static void labelled(GString *out, const char *indent, const char *label, const char *text,
                     guint width)
{
    enum { LABEL = 9 };
    const guint before = (guint)g_utf8_strlen(indent, -1) + LABEL;
    g_string_append_printf(out, "%s%-*s", indent, LABEL, label);
    wrap(out, text, before, before, width);
}

char *ws_finding_story(const WsFinding *f, const char *indent, guint width)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; f->story != NULL && i < f->story->len; i++) {
        const WsStoryLine *line = g_ptr_array_index(f->story, i);
        labelled(out, indent, ws_story_label(line->part), line->text, width);
    }
    for (guint i = 0; f->steps != NULL && i < f->steps->len; i++)
        labelled(out, indent, i == 0 ? "see also" : "", g_ptr_array_index(f->steps, i), 0);
    labelled(out, indent, "remedy:", f->remedy != NULL ? f->remedy : ws_rule(f->rule)->fix, width);
    return g_string_free(out, FALSE);
}

static void print_places(GString *out, const WsFinding *f)
{
    if (f->barrier != NULL)
        g_string_append_printf(out, "  barrier: %s\n", f->barrier);
    if (f->round != NULL && *f->round != '\0')
        g_string_append_printf(out, "  round: %s\n", f->round);
    for (guint i = 0; f->steps != NULL && i < f->steps->len; i++)
        g_string_append_printf(out, "  step: %s\n", (const char *)g_ptr_array_index(f->steps, i));
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
    if (f->story != NULL) {
        g_autofree char *story = ws_finding_story(f, "  ", 110);
        g_string_append(out, story);
        return;
    }
    print_places(out, f);
    g_string_append_printf(out, "  remedy: %s\n",
                           f->remedy != NULL ? f->remedy : ws_rule(f->rule)->fix);
}

char *ws_findings_print(const WsFindings *f, const char *file)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < f->list->len; i++) {
        const WsFinding *finding = g_ptr_array_index(f->list, i);
        if (finding->silenced == NULL)
            print_finding(out, finding, file);
    }
    return g_string_free(out, FALSE);
}
