#include "ui/parts/words.h"

#include "check/title.h"

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
