/* Phrases: their English is what printf makes of the same arguments; translations may change the
 * order; what comes from outside cannot break out of its place. */
#include "model/finding.h"

#include <string.h>

#define ENGLISH(...)                                                                               \
    do {                                                                                           \
        g_autofree char *phrase = ws_phrase(__VA_ARGS__);                                          \
        g_autofree char *got = ws_phrase_text(phrase, NULL, NULL);                                 \
        g_autofree char *want = g_strdup_printf(__VA_ARGS__);                                      \
        g_assert_cmpstr(got, ==, want);                                                            \
        g_autofree char *twice = ws_phrase("<%s> %d", phrase, 7);                                  \
        g_autofree char *nested = ws_phrase_text(twice, NULL, NULL);                               \
        g_autofree char *nested_want = g_strdup_printf("<%s> %d", want, 7);                        \
        g_assert_cmpstr(nested, ==, nested_want);                                                  \
    } while (0)

static void test_english(void)
{
    const gint64 numbers[] = { 0, 1, -1, G_MAXINT64, G_MININT64, 4294967296 };
    ENGLISH("a word");
    ENGLISH("%s", "a text");
    ENGLISH("100 %% of %s", "it");
    ENGLISH("%%");
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        ENGLISH("completion %" G_GINT64_FORMAT " of %s", numbers[i], "full[0]");
        ENGLISH("%5" G_GINT64_FORMAT "|%-8" G_GINT64_FORMAT "|", numbers[i], numbers[i]);
        ENGLISH("%" G_GUINT64_FORMAT ", %#" G_GINT64_MODIFIER "x", (guint64)numbers[i],
                (guint64)numbers[i]);
        ENGLISH("%d %u %i %x %hu", (int)numbers[i], (guint)numbers[i], (int)numbers[i],
                (guint)numbers[i], (guint)(guint16)numbers[i]);
        ENGLISH("%zu %zd", (gsize)numbers[i], (gssize)numbers[i]);
    }
    ENGLISH("%.1f ms, %g and %8.3e", 1.25, 1e-9, 12345.678);
    ENGLISH("%-10s|%10s|%.3s|%.*s|", "left", "right", "cut off", 2, "cut");
    ENGLISH("%c%c", 'a', '%');
    ENGLISH("%*d", 6, 42);
    ENGLISH("%s %s", "\xc3\xa4\xe2\x80\xa6", "%d %n %s");
}

static const char *german(const char *text, gpointer data)
{
    static const char *const words[][2] = {
        { "%s waits for %s, %u rounds", "%3$u Runden wartet %1$s auf %2$s" },
        { "completion %d of %s", "Abschluss %d von %s" },
        { "misfit %d", "passt %s nicht" },
        { "lacks %d", "es fehlt %2$d" },
        { "the last", "der letzte" },
    };
    ++*(guint *)data;
    g_assert_cmpstr(text, !=, ""); /* gettext answers that with its header */
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(text, words[i][0]) == 0)
            return words[i][1];
    return text;
}

static void is_german(const char *phrase, const char *want)
{
    guint asked = 0;
    g_autofree char *got = ws_phrase_text(phrase, german, &asked);
    g_assert_cmpstr(got, ==, want);
}

static void test_translated(void)
{
    g_autofree char *slot = ws_phrase("completion %" G_GINT64_FORMAT " of %s", (gint64)3, "full");
    g_autofree char *waits = ws_phrase("%s waits for %s, %u rounds", "mma", slot, 5u);
    is_german(waits, "5 Runden wartet mma auf Abschluss 3 von full");
    is_german("plain", "plain");
    is_german(WS_WORD("the last"), "der letzte");
    g_autofree char *word = ws_phrase("completion %d of %s", 1, WS_WORD("the last"));
    is_german(word, "Abschluss 1 von der letzte");
    /* a name that reads like a word of the catalogue is a name */
    g_autofree char *name = ws_phrase("completion %d of %s", 1, "the last");
    is_german(name, "Abschluss 1 von the last");
    g_autofree char *misfit = ws_phrase("misfit %d", 4);
    is_german(misfit, "misfit 4");
    g_autofree char *lacks = ws_phrase("lacks %d", 4);
    is_german(lacks, "lacks 4");
    g_autoptr(GString) list = g_string_new("x, ");
    ws_phrase_append(list, "completion %d of %s", 2, "y");
    g_string_append(list, WS_WORD("the last"));
    is_german(list->str, "x, Abschluss 2 von yder letzte");
    g_autofree char *table = ws_phrase_word("the last"), *again = ws_phrase_word(table);
    g_assert_cmpstr(table, ==, again);
    is_german(table, "der letzte");
}

/* Bytes of our own in a text from outside: shown as '?', and nothing around them is lost. */
static void test_hostile(void)
{
    static const char *const bad[] = { "\001",          "\002",          "\003",
                                       "\004",          "a\003b",        "\001x",
                                       "\004x",         "\001%s\002sx",  "\003\003\003",
                                       "\001%s\002",    "\001\002q\003", "\002d5",
                                       "\001%n\003\003" };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *phrase = ws_phrase("<%s> and %d and <%s>", bad[i], 7, bad[i]);
        g_autofree char *shown = g_strdelimit(g_strdup(bad[i]), "\001\002\003\004", '?');
        g_autofree char *want = g_strdup_printf("<%s> and 7 and <%s>", shown, shown);
        is_german(phrase, want);
        g_autofree char *alone = ws_phrase_text(bad[i], NULL, NULL);
        g_assert_cmpstr(alone, !=, NULL);
        g_assert_null(strpbrk(alone, "\001\002\003\004"));
    }
    /* templates from outside: their arguments are asked for, and none is there */
    is_german("\001%s %d %n\003", "%s %d %n");
    is_german("\001%d\002sx\003", "%d");
    is_german("\001%*d\002d1\002d2\003", "%*d");
    GString *deep = g_string_new(NULL);
    for (guint i = 0; i < 100000; i++)
        g_string_append(deep, "\001%s\002s");
    g_autofree char *text = ws_phrase_text(deep->str, NULL, NULL);
    g_assert_null(strpbrk(text, "\001\002\003\004"));
    g_string_free(deep, TRUE);
    char *nest = g_strdup("core");
    for (guint i = 0; i < 200; i++) { /* more than any sentence has */
        char *next = ws_phrase("%s.", nest);
        g_free(nest);
        nest = next;
    }
    g_autofree char *shown = ws_phrase_text(nest, NULL, NULL);
    g_assert_null(strpbrk(shown, "\001\002\003\004"));
    g_free(nest);
}

static void json_is(const char *phrase, const char *want)
{
    g_autoptr(GString) out = g_string_new(NULL);
    ws_phrase_json(out, phrase);
    g_assert_cmpstr(out->str, ==, want);
}

static void test_json(void)
{
    json_is(NULL, "null");
    json_is("plain \"x\"", "{ \"template\": \"%s\", \"args\": [\"plain \\\"x\\\"\"] }");
    g_autofree char *slot = ws_phrase("completion %" G_GINT64_FORMAT " of %s", (gint64)3, "full");
    json_is(slot, "{ \"template\": \"completion %d of %s\", \"args\": [3, \"full\"] }");
    g_autofree char *waits = ws_phrase("%s: %.1f%s", slot, 1.5, WS_WORD("the last"));
    json_is(waits, "{ \"template\": \"%s: %.1f%s\", \"args\": [{ \"template\": \"completion %d of "
                   "%s\", \"args\": [3, \"full\"] }, 1.5, { \"template\": \"the last\", \"args\": "
                   "[] }] }");
    g_autofree char *list = g_strconcat("a ", slot, NULL);
    json_is(list,
            "{ \"template\": \"%s%s\", \"args\": [\"a \", { \"template\": \"completion %d of %s\", "
            "\"args\": [3, \"full\"] }] }");
}

/* A finding keeps what it says as data, and its English beside it. */
static void test_finding(void)
{
    guint asked = 0;
    g_autoptr(WsFindings) all = ws_findings_new();
    WsFinding *f = ws_findings_add(all, WS_RULE_S_IO, "x", "completion %d of %s", 2, "full");
    g_assert_cmpstr(f->message, ==, "completion 2 of full");
    g_autofree char *message = ws_finding_message(f, german, &asked);
    g_assert_cmpstr(message, ==, "Abschluss 2 von full");
    g_autofree char *general = ws_finding_remedy(f, NULL, NULL);
    g_assert_cmpstr(general, ==, ws_rule(WS_RULE_S_IO)->fix);
    ws_finding_set_remedy(f, "%s", WS_WORD("the last"));
    g_assert_cmpstr(f->remedy, ==, "the last");
    g_autofree char *remedy = ws_finding_remedy(f, german, &asked);
    g_assert_cmpstr(remedy, ==, "der letzte");
    ws_finding_tell(f, WS_STORY_SO, "lacks %d", 1);
    g_autofree char *line =
        ws_phrase_text(((WsStoryLine *)f->story->pdata[0])->said, german, &asked);
    g_assert_cmpstr(line, ==, "lacks 1");
    ws_finding_set_barrier(f, WS_WORD("the last"));
    g_assert_cmpstr(f->barrier, ==, "the last");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/phrase/english", test_english);
    g_test_add_func("/phrase/translated", test_translated);
    g_test_add_func("/phrase/hostile", test_hostile);
    g_test_add_func("/phrase/json", test_json);
    g_test_add_func("/phrase/finding", test_finding);
    return g_test_run();
}
