#include "ui/parts/words.h"

#include "base/phrase.h"
#include "check/title.h"
#include "model/finding.h"

#include <glib/gi18n.h>
#include <string.h>

const char *ws_words_translate(const char *text, gpointer data)
{
    return _(text);
}

char *ws_words(const char *phrase)
{
    return ws_phrase_text(phrase, ws_words_translate, NULL);
}

const char *ws_words_of_text(const char *text)
{
    return text && *text ? _(text) : text;
}

char *ws_words_message(const WsFinding *f)
{
    return ws_finding_message(f, ws_words_translate, NULL);
}

char *ws_words_remedy(const WsFinding *f)
{
    return ws_finding_remedy(f, ws_words_translate, NULL);
}

char *ws_words_barrier(const WsFinding *f)
{
    return ws_words(f->barrier_said ? f->barrier_said : f->barrier);
}

char *ws_words_story(const WsFinding *f)
{
    static const char *const label[WS_STORY_COUNT] = {
        [WS_STORY_WHO] = N_("who"),         [WS_STORY_CAME] = N_("came"),
        [WS_STORY_MISSING] = N_("missing"), [WS_STORY_FIRST] = N_("first"),
        [WS_STORY_THEN] = N_("then"),       [WS_STORY_BETWEEN] = N_("between"),
        [WS_STORY_SO] = N_("so"),
    };
    GString *text = g_string_new(NULL);
    for (guint i = 0; f->story && i < f->story->len; i++) {
        const WsStoryLine *line = g_ptr_array_index(f->story, i);
        g_autofree char *words = ws_words(line->said);
        g_string_append_printf(text, "%s%s: %s", text->len ? "\n" : "", _(label[line->part]),
                               words);
    }
    return g_string_free(text, FALSE);
}

char *ws_words_findings(const WsFindings *findings, const char *file)
{
    static const char *const severity[] = { [WS_SEVERITY_HINT] = N_("hint"),
                                            [WS_SEVERITY_WARNING] = N_("warning"),
                                            [WS_SEVERITY_ERROR] = N_("error") };
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        g_autofree char *message = ws_words_message(f), *remedy = ws_words_remedy(f);
        g_string_append_printf(text, "%s%s", text->len ? "\n" : "", file);
        if (f->line)
            g_string_append_printf(text, ":%u:%u", f->line, f->column);
        g_string_append_printf(text, ": %s %s", _(severity[f->severity]), ws_rule(f->rule)->text);
        if (f->at && *f->at)
            g_string_append_printf(text, " (%s)", f->at);
        g_string_append_printf(text, ": %s", message);
        if (remedy && *remedy)
            g_string_append_printf(text, "\n  %s: %s", _("What to do"), remedy);
    }
    return g_string_free(text, FALSE);
}

const char *ws_words_title(const WsFinding *f)
{
    return _(ws_rule(f->rule)->title);
}

const char *ws_words_explain(const WsFinding *f)
{
    return _(ws_rule(f->rule)->explain);
}

const char *ws_words_verdict(WsVerdictKind kind)
{
    static const char *const known[] = { N_("proved"), N_("simulated"), N_("refuted"),
                                         N_("undecided") };
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
        if (!strcmp(ws_verdict_title(kind), known[i]))
            return _(known[i]);
    return ws_verdict_title(kind);
}

char *ws_words_verdict_given(const WsVerdict *v)
{
    const guint n = v->kind == WS_VERDICT_PROVED ? v->assumed->len : 0;
    if (!n)
        return g_strdup(ws_words_verdict(v->kind));
    return g_strdup_printf(
        g_dngettext(NULL, "proved under %u assumption", "proved under %u assumptions", n), n);
}

/* --- sentences of check and clock
 * ---------------------------------------------------------------------- They come with their
 * numbers and names in; the texts that are translated have %s there. */

static const char *const unit[] = { N_("tensor pipe"), N_("TMA and L2"), N_("shared-memory port"),
                                    N_("links between devices") };

static const char *known(const char *const *list, guint n, const char *text)
{
    for (guint i = 0; i < n; i++)
        if (!strcmp(list[i], text))
            return _(list[i]);
    return text;
}

/* The template's %s in their order. */
static void fill(GString *out, const char *template, char *const *number)
{
    g_auto(GStrv) part = g_strsplit(template, "%s", -1);
    for (guint i = 0; part[i]; i++) {
        g_string_append(out, part[i]);
        if (part[i + 1] && *number)
            g_string_append(out, *number++);
    }
}

/* A text of the list with its numbers in; as it is if it is none of them. Caller frees. */
static char *counted(const char *const *list, guint n, const char *text)
{
    g_autoptr(GRegex) digits = g_regex_new("\\b[0-9]+\\b", 0, 0, NULL);
    g_autofree char *template = g_regex_replace_literal(digits, text, -1, 0, "%s", 0, NULL);
    g_autoptr(GPtrArray) number = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GMatchInfo) at = NULL;
    GString *out = g_string_new(NULL);
    for (g_regex_match(digits, text, 0, &at); g_match_info_matches(at); g_match_info_next(at, NULL))
        g_ptr_array_add(number, g_match_info_fetch(at, 0));
    g_ptr_array_add(number, NULL);
    fill(out, known(list, n, template), (char **)number->pdata);
    return g_string_free(out, FALSE);
}

/* Every part between these separators by itself. */
static char *each(const char *text, const char *between, char *(*say)(const char *part))
{
    g_auto(GStrv) part = g_strsplit(text, between, -1);
    for (guint i = 0; part[i]; i++) {
        char *said = say(part[i]);
        g_free(part[i]);
        part[i] = said;
    }
    return g_strjoinv(between, part);
}

static char *say_size(const char *text)
{
    static const char *const place[] = { N_("CTA %s of %s (tile %s)"), N_("CTA %s of %s") };
    return counted(place, G_N_ELEMENTS(place), text);
}

char *ws_words_launch(const char *sizes)
{
    return each(sizes, ", ", say_size);
}

static char *say_scope(const char *text)
{
    const char *const tail = " of each tile", *const both = "both answers to ";
    if (!strcmp(text, "every number of tiles"))
        return g_strdup(_("every number of tiles"));
    if (g_str_has_prefix(text, both))
        return g_strdup_printf(_("both answers to %s"), text + strlen(both));
    if (!g_str_has_prefix(text, "every "))
        return g_strdup(text);
    const char *name = text + strlen("every ");
    if (!g_str_has_suffix(text, tail))
        return g_strdup_printf(_("every %s"), name);
    g_autofree char *bare = g_strndup(name, strlen(name) - strlen(tail));
    return g_strdup_printf(_("every %s of each tile"), bare);
}

char *ws_words_said(const WsVerdict *v)
{
    g_autofree char *said = ws_verdict_said(v);
    g_autofree char *words = ws_words(said);
    if (!v->proof || !*v->proof)
        return g_steal_pointer(&words);
    g_autofree char *scope = each(v->proof, ", ", say_scope);
    g_auto(GStrv) part = g_strsplit(words, v->proof, 2);
    return g_strjoinv(scope, part);
}

char *ws_words_bound(const char *bound)
{
    g_autoptr(GRegex) form =
        g_regex_new("^(?:(issue)|(.*) in (.*)) \\((.*) ([0-9]+) %\\)$", 0, 0, NULL);
    g_autoptr(GMatchInfo) at = NULL;
    if (!bound || !g_regex_match(form, bound, 0, &at))
        return g_strdup(bound ? known(unit, G_N_ELEMENTS(unit), bound) : NULL);
    g_autofree char *step = g_match_info_fetch(at, 2), *agent = g_match_info_fetch(at, 3);
    g_autofree char *busy = g_match_info_fetch(at, 4), *share = g_match_info_fetch(at, 5);
    const char *name = known(unit, G_N_ELEMENTS(unit), busy);
    return *step ? g_strdup_printf(_("%s in %s (%s %s %%)"), step, agent, name, share)
                 : g_strdup_printf(_("issue (%s %s %%)"), name, share);
}
