/* JSON text with the place of every value. json-c decides what the text means; a scan beside it
 * gives lines and columns and sees what json-c lets pass: repeated keys, NaN, control characters.
 */
#include "base/phrase.h"
#include "model/internal.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

typedef struct {
    WsReader *reader;
    const char *text;
    gsize length, at;
    guint line;
    gsize known_at; /* byte on the current line whose column is known */
    guint known_column;
    guint depth;
    gboolean failed;
} Scan;

static WsTextPlace place(Scan *s)
{
    s->known_column += (guint)g_utf8_strlen(s->text + s->known_at, (gssize)(s->at - s->known_at));
    s->known_at = s->at;
    return (WsTextPlace){ s->line, s->known_column };
}

static void new_line(Scan *s, gsize start)
{
    s->line++;
    s->known_at = start;
    s->known_column = 1;
}

/* What people write out of habit, by what stands at the place. */
static const char *habit(const Scan *s, const char *expected)
{
    gsize before = s->at;
    while (before > 0 && g_ascii_isspace(s->text[before - 1]))
        before--;
    const char c = s->at < s->length ? s->text[s->at] : '\0',
               last = before ? s->text[before - 1] : 0;
    if (last == 0 && c != '\0')
        return WS_WORD(
            "a design is a JSON object; a kernel in another language is read with --from "
            "gluon, tle, tlx or ptx");
    if (c == '#' || c == '/')
        return WS_WORD("JSON has no comments: write it as a `note`");
    if (c == '\'')
        return WS_WORD("strings stand in double quotes");
    if (last == ',' && (c == '}' || c == ']'))
        return WS_WORD("remove the comma before it");
    if ((c == '"' || c == '{' || c == '[') && strstr(expected, "comma"))
        return WS_WORD("put a comma between the two");
    if (g_ascii_isalpha(c))
        return WS_WORD("names and expressions stand in double quotes");
    return WS_WORD("the document must be one complete JSON object");
}

static gboolean fail(Scan *s, const char *expected)
{
    if (s->failed)
        return FALSE;
    s->failed = TRUE;
    WsFinding *f;
    if (s->at >= s->length)
        f = ws_reader_report(s->reader, WS_RULE_S_JSON, place(s),
                             "the text ends where %s is expected", expected);
    else
        f = ws_reader_report(s->reader, WS_RULE_S_JSON, place(s), "%s is expected here", expected);
    if (f != NULL)
        ws_finding_set_remedy(f, "%s", habit(s, expected));
    return FALSE;
}

static void skip_space(Scan *s)
{
    for (; s->at < s->length; s->at++) {
        const char c = s->text[s->at];
        if (c == '\n') {
            new_line(s, s->at + 1);
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static char peek(const Scan *s)
{
    return s->at < s->length ? s->text[s->at] : '\0';
}

static gboolean take(Scan *s, char c)
{
    if (s->at >= s->length || s->text[s->at] != c)
        return FALSE;
    s->at++;
    return TRUE;
}

/* Steps over a string token. */
static gboolean scan_string(Scan *s)
{
    if (!take(s, '"'))
        return fail(s, WS_WORD("a string"));
    while (s->at < s->length) {
        const guchar c = (guchar)s->text[s->at];
        if (c == '"') {
            s->at++;
            return TRUE;
        }
        if (c < 0x20)
            return fail(s, WS_WORD("a character other than a control character"));
        if (c == '\\') {
            s->at++;
            if (s->at >= s->length)
                break;
        }
        s->at++;
    }
    return fail(s, WS_WORD("the closing quote of a string"));
}

static gboolean scan_digits(Scan *s)
{
    const gsize from = s->at;
    while (g_ascii_isdigit(peek(s)))
        s->at++;
    return s->at > from ? TRUE : fail(s, WS_WORD("a digit"));
}

static gboolean scan_number(Scan *s, gboolean *real)
{
    *real = FALSE;
    take(s, '-');
    if (!take(s, '0') && !scan_digits(s))
        return FALSE;
    if (take(s, '.')) {
        *real = TRUE;
        if (!scan_digits(s))
            return FALSE;
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        *real = TRUE;
        s->at++;
        if (!take(s, '+'))
            take(s, '-');
        return scan_digits(s);
    }
    return TRUE;
}

static gboolean scan_word(Scan *s, const char *word)
{
    const gsize n = strlen(word);
    if (s->length - s->at < n || memcmp(s->text + s->at, word, n) != 0)
        return fail(s, WS_WORD("a value"));
    s->at += n;
    return TRUE;
}

/* Decodes a string token, quotes included; NULL if it holds a NUL character. */
static char *decode(const char *token, gsize n)
{
    if (memchr(token, '\\', n) == NULL)
        return g_strndup(token + 1, n - 2);
    struct json_tokener *tok = json_tokener_new();
    struct json_object *o = json_tokener_parse_ex(tok, token, (int)n);
    char *text = NULL;
    if (o != NULL && json_object_is_type(o, json_type_string)) {
        const char *s = json_object_get_string(o);
        if (strlen(s) == (gsize)json_object_get_string_len(o) && g_utf8_validate(s, -1, NULL))
            text = g_strdup(s);
    }
    json_object_put(o);
    json_tokener_free(tok);
    return text;
}

static gboolean scan_value(Scan *s, WsJson *out);

static gboolean scan_text(Scan *s, char **text)
{
    const WsTextPlace at = place(s);
    const gsize from = s->at;
    if (!scan_string(s))
        return FALSE;
    *text = decode(s->text + from, s->at - from);
    if (*text != NULL)
        return TRUE;
    WsFinding *f = ws_reader_report(s->reader, WS_RULE_S_JSON, at,
                                    "this string holds a bad escape or the character NUL");
    if (f != NULL)
        ws_finding_set_remedy(f, "remove the escape");
    s->failed = TRUE;
    return FALSE;
}

/* Members of one object while it is scanned. */
typedef struct {
    GPtrArray *keys;
    GArray *places;    /* WsTextPlace */
    GArray *items;     /* WsJson */
    GHashTable *known; /* set of keys, owned by `keys` */
} Members;

static gboolean scan_member(Scan *s, Members *m)
{
    skip_space(s);
    const WsTextPlace at = place(s);
    g_autofree char *key = NULL;
    if (peek(s) != '"')
        return fail(s, WS_WORD("a key in double quotes"));
    if (!scan_text(s, &key))
        return FALSE;
    skip_space(s);
    if (!take(s, ':'))
        return fail(s, WS_WORD("a colon"));
    skip_space(s);
    const gsize mark = ws_reader_enter(s->reader, key);
    WsJson value = { 0 };
    const gboolean ok = scan_value(s, &value);
    if (ok && g_hash_table_contains(m->known, key)) {
        WsFinding *f = ws_reader_report(s->reader, WS_RULE_S_REPEATED, at,
                                        "key \"%s\" appears twice in one object", key);
        if (f != NULL)
            ws_finding_set_remedy(f, "remove one of the two");
        ws_json_clear(&value);
    } else if (ok) {
        g_hash_table_add(m->known, key);
        g_ptr_array_add(m->keys, g_steal_pointer(&key));
        g_array_append_val(m->places, at);
        g_array_append_val(m->items, value);
    } else {
        ws_json_clear(&value);
    }
    ws_reader_leave(s->reader, mark);
    return ok;
}

static gboolean scan_map(Scan *s, WsJson *out)
{
    Members m = { g_ptr_array_new(), g_array_new(FALSE, FALSE, sizeof(WsTextPlace)),
                  g_array_new(FALSE, FALSE, sizeof(WsJson)),
                  g_hash_table_new(g_str_hash, g_str_equal) };
    gboolean ok = TRUE;
    s->at++;
    skip_space(s);
    if (!take(s, '}')) {
        do {
            ok = scan_member(s, &m);
            skip_space(s);
        } while (ok && take(s, ','));
        if (ok && !take(s, '}'))
            ok = fail(s, WS_WORD("a comma or }"));
    }
    g_hash_table_unref(m.known);
    out->n = m.items->len;
    out->key = (char **)g_ptr_array_free(m.keys, FALSE);
    out->key_at = (WsTextPlace *)(void *)g_array_free(m.places, FALSE);
    out->item = (WsJson *)(void *)g_array_free(m.items, FALSE);
    return ok;
}

static gboolean scan_list(Scan *s, WsJson *out)
{
    GArray *items = g_array_new(FALSE, FALSE, sizeof(WsJson));
    gboolean ok = TRUE;
    s->at++;
    skip_space(s);
    if (!take(s, ']')) {
        do {
            skip_space(s);
            const gsize mark = ws_reader_enter_index(s->reader, items->len);
            WsJson value = { 0 };
            ok = scan_value(s, &value);
            g_array_append_val(items, value);
            ws_reader_leave(s->reader, mark);
            skip_space(s);
        } while (ok && take(s, ','));
        if (ok && !take(s, ']'))
            ok = fail(s, WS_WORD("a comma or ]"));
    }
    out->n = items->len;
    out->item = (WsJson *)(void *)g_array_free(items, FALSE);
    return ok;
}

static gboolean number_value(Scan *s, WsJson *out)
{
    gboolean real;
    if (!scan_number(s, &real))
        return FALSE;
    const char *token = out->text = g_strndup(s->text + out->start, s->at - out->start);
    errno = 0;
    out->kind = real ? WS_JSON_REAL : WS_JSON_INT;
    out->i = real ? 0 : g_ascii_strtoll(token, NULL, 10);
    const gboolean too_large = !real && errno == ERANGE;
    out->r = g_ascii_strtod(token, NULL);
    if (!too_large && isfinite(out->r))
        return TRUE;
    WsFinding *f =
        ws_reader_report(s->reader, WS_RULE_S_VALUE, out->at, "%s does not fit in %s", token,
                         real ? WS_WORD("a float64") : WS_WORD("a 64-bit signed integer"));
    if (f != NULL)
        ws_finding_set_remedy(f, "use a smaller number");
    s->failed = TRUE;
    return FALSE;
}

static gboolean scan_value(Scan *s, WsJson *out)
{
    out->at = place(s);
    out->start = s->at;
    gboolean ok;
    const char c = peek(s);
    if (c == '{' || c == '[') {
        if (++s->depth > WS_DESIGN_MAX_JSON_DEPTH) {
            ws_reader_report(s->reader, WS_RULE_S_LIMIT, out->at,
                             "nested deeper than %d lists and objects", WS_DESIGN_MAX_JSON_DEPTH);
            s->failed = TRUE;
            return FALSE;
        }
        out->kind = c == '{' ? WS_JSON_MAP : WS_JSON_LIST;
        ok = c == '{' ? scan_map(s, out) : scan_list(s, out);
        s->depth--;
    } else if (c == '"') {
        out->kind = WS_JSON_TEXT;
        ok = scan_text(s, &out->text);
    } else if (c == 't' || c == 'f') {
        out->kind = WS_JSON_BOOL;
        out->b = c == 't';
        ok = scan_word(s, out->b ? "true" : "false");
    } else if (c == 'n') {
        out->kind = WS_JSON_NULL;
        ok = scan_word(s, "null");
    } else if (c == '-' || g_ascii_isdigit(c)) {
        ok = number_value(s, out);
    } else {
        ok = fail(s, WS_WORD("a value"));
    }
    out->end = s->at;
    return ok;
}

/* The library's judgement of the same text, for what the scan does not look at (escapes). */
static gboolean library_accepts(Scan *s, const WsJson *json)
{
    struct json_tokener *tok = json_tokener_new_ex(WS_DESIGN_MAX_JSON_DEPTH + 1);
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *o =
        json_tokener_parse_ex(tok, s->text + json->start, (int)(json->end - json->start));
    enum json_tokener_error e = json_tokener_get_error(tok);
    if (e == json_tokener_continue && o == NULL) { /* a bare number ends only at a terminator */
        o = json_tokener_parse_ex(tok, "\n", 1);
        e = json_tokener_get_error(tok);
    }
    json_object_put(o);
    if (e != json_tokener_success)
        ws_reader_report(s->reader, WS_RULE_S_JSON, (WsTextPlace){ 0, 0 }, "%s",
                         json_tokener_error_desc(e));
    json_tokener_free(tok);
    return e == json_tokener_success;
}

WsJson *ws_json_parse(const char *text, gsize length, WsReader *reader)
{
    Scan s = { .reader = reader,
               .text = text,
               .length = length,
               .line = 1,
               .known_column = 1,
               .depth = reader->depth };
    if (length > WS_DESIGN_MAX_BYTES) {
        WsFinding *f = ws_reader_report(reader, WS_RULE_S_LIMIT, (WsTextPlace){ 0, 0 },
                                        "the text is longer than %d bytes", WS_DESIGN_MAX_BYTES);
        if (f != NULL)
            ws_finding_set_remedy(f, "split the design");
        return NULL;
    }
    const char *end;
    if (!g_utf8_validate(text, (gssize)length, &end)) {
        s.at = (gsize)(end - text);
        for (gsize i = 0; i < s.at; i++)
            if (text[i] == '\n')
                new_line(&s, i + 1);
        ws_reader_report(reader, WS_RULE_S_IO, place(&s),
                         *end == '\0' ? "a NUL character" : "a byte that is not UTF-8");
        return NULL;
    }
    skip_space(&s);
    WsJson *json = g_new0(WsJson, 1);
    if (scan_value(&s, json)) {
        skip_space(&s);
        if (s.at < s.length)
            fail(&s, WS_WORD("the end of the text"));
    }
    if (!s.failed && library_accepts(&s, json))
        return json;
    ws_json_free(json);
    return NULL;
}

void ws_json_clear(WsJson *json)
{
    for (guint i = 0; i < json->n; i++) {
        ws_json_clear(&json->item[i]);
        if (json->key != NULL)
            g_free(json->key[i]);
    }
    g_free(json->item);
    g_free(json->key);
    g_free(json->key_at);
    g_free(json->text);
}

void ws_json_free(WsJson *json)
{
    if (json == NULL)
        return;
    ws_json_clear(json);
    g_free(json);
}
