/* Phrases: sentences that are still data. A phrase is a string that holds its template (the English
 * printf text) and the arguments of that template; a phrase given for a `%s` stays a phrase inside.
 * What a program says is made as a phrase, and turned into words of a language at the edge, by
 * whoever shows it. Every plain string is a phrase, too: it says itself, in every language.
 *
 * In memory: 1 TEMPLATE (2 KIND VALUE)* 3 is a template with its arguments, 4 TEXT 3 a sentence or
 * a word without any; everything else stands for itself. The bytes 1 to 4 occur in no text of a
 * design (JSON does not allow them in strings unescaped, and names never hold them); where they
 * make no phrase they are shown as '?'. In templates whole numbers are `%d`, `%u` or `%x`, whatever
 * the length of the type. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A constant sentence or word to be translated, as an argument of a phrase. */
#define WS_WORD(text) "\004" text "\003"

/* Text of a template or word in another language; returns it unchanged if there is none. */
typedef const char *(*WsTranslate)(const char *text, gpointer data);

/* As g_strdup_printf(); only a constant template is translated. Caller frees. */
char *ws_phrase(const char *format, ...) G_GNUC_PRINTF(1, 2);
char *ws_phrase_v(const char *format, va_list args) G_GNUC_PRINTF(1, 0);
void ws_phrase_append(GString *phrase, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A text that is not constant at its place, as from a table: as WS_WORD(), unless it is a phrase
 * already. Caller frees. */
char *ws_phrase_word(const char *text);
/* The words of a phrase. `translate` NULL: English. NULL for NULL. Caller frees. */
char *ws_phrase_text(const char *phrase, WsTranslate translate, gpointer data);

/* The same phrase with other templates and words: `own` gives each of them, or another one with the
 * same conversions. Caller frees. */
char *ws_phrase_with(const char *phrase, WsTranslate own, gpointer data);

/* What a phrase is made of, for those who write it down. */
typedef enum {
    WS_PHRASE_TEXT,   /* `text` says itself */
    WS_PHRASE_WORD,   /* `text` is to be translated */
    WS_PHRASE_FORMAT, /* `text` is a template, `args` its arguments */
    WS_PHRASE_INT,
    WS_PHRASE_REAL,
    WS_PHRASE_LIST, /* `args` one behind the other */
} WsPhraseKind;

typedef struct WsPhrasePart WsPhrasePart;
struct WsPhrasePart {
    WsPhraseKind kind;
    char *text;
    gint64 integer;
    double real;
    GPtrArray *args; /* WsPhrasePart*; FORMAT and LIST */
};
WsPhrasePart *ws_phrase_parse(const char *phrase);
void ws_phrase_part_free(WsPhrasePart *part);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsPhrasePart, ws_phrase_part_free)
/* As JSON: {"template": "…", "args": […]}, where an argument is a string, a number or such an
 * object. NULL: null. */
void ws_phrase_json(GString *out, const char *phrase);

G_END_DECLS
