/* Phrases: captured from printf arguments, parsed, and put into words. */
#include "base/phrase.h"

#include "base/text.h"

#include <stdarg.h>
#include <string.h>

enum { FORMAT = 1, ARG = 2, END = 3, WORD = 4, MOST_DEEP = 32 };
#define MARKS "\001\002\003\004"

/* --- templates -------------------------------------------------------------------------------- */
/* One conversion of a template: "%-5d", "%2$s". */
typedef struct {
    const char *begin, *end; /* of its text */
    guint position;          /* 1-based; 0: the next one */
    const char *flags;       /* begin of flags, width and precision */
    gsize n_flags;
    const char *length;
    gsize n_length;
    char kind;
} Conversion;

/* The next conversion at or behind `text`; FALSE: none. "%%" is one of the kind '%'. */
static gboolean next_conversion(const char *text, Conversion *c)
{
    const char *at = strchr(text, '%');
    if (at == NULL)
        return FALSE;
    *c = (Conversion){ .begin = at++ };
    const gsize digits = strspn(at, "0123456789");
    if (digits > 0 && digits < 3 && at[digits] == '$') {
        c->position = (guint)g_ascii_strtoull(at, NULL, 10);
        at += digits + 1;
    }
    c->flags = at;
    c->n_flags = strspn(at, "-+ #0123456789.*");
    c->length = at + c->n_flags;
    c->n_length = strspn(c->length, "hlqjzt");
    at = c->length + c->n_length;
    c->kind = *at;
    c->end = *at ? at + 1 : at;
    return TRUE;
}

static gboolean is_integer(char kind)
{
    return kind != '\0' && strchr("diuxX", kind) != NULL;
}

static gboolean is_real(char kind)
{
    return kind != '\0' && strchr("fFeEgG", kind) != NULL;
}

/* --- capture ---------------------------------------------------------------------------------- */
static gint64 take_integer(const Conversion *c, va_list *args)
{
    const gboolean is_signed = c->kind == 'd' || c->kind == 'i';
    if (c->n_length == 1 && *c->length == 'l')
        return is_signed ? va_arg(*args, long) : (gint64)va_arg(*args, unsigned long);
    if (c->n_length == 1 && (*c->length == 'z' || *c->length == 't'))
        return is_signed ? va_arg(*args, gssize) : (gint64)va_arg(*args, gsize);
    if (c->n_length > 0 && *c->length != 'h')
        return va_arg(*args, gint64);
    return is_signed ? va_arg(*args, int) : (gint64)va_arg(*args, unsigned);
}

static gboolean is_sound(const char *phrase);

/* Marks that make no phrase would end the one around them. */
static void append_text(GString *out, const char *text, gsize most)
{
    g_autofree char *own = g_strndup(text, most);
    if (!is_sound(own))
        g_strdelimit(own, MARKS, '?');
    g_string_append(out, own);
}

static void append_argument(GString *out, const Conversion *c, const char *flags, va_list *args)
{
    g_string_append_c(out, ARG);
    if (is_integer(c->kind)) {
        g_string_append_printf(out, "d%" G_GINT64_FORMAT, take_integer(c, args));
    } else if (is_real(c->kind)) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        g_string_append_c(out, 'f');
        g_string_append(out, g_ascii_dtostr(number, sizeof number, va_arg(*args, double)));
    } else if (c->kind == 'c') {
        const char letter[] = { (char)va_arg(*args, int), '\0' };
        g_string_append_c(out, 's');
        append_text(out, letter, 1);
    } else {
        const char *text = va_arg(*args, const char *);
        const char *dot = strchr(flags, '.');
        g_string_append_c(out, 's');
        if (text == NULL)
            text = "(null)";
        append_text(out, text, dot != NULL ? strnlen(text, (gsize)atoi(dot + 1)) : strlen(text));
    }
}

/* Flags with the widths that the arguments give. */
static char *take_flags(const Conversion *c, va_list *args)
{
    GString *s = g_string_new(NULL);
    for (gsize i = 0; i < c->n_flags; i++)
        if (c->flags[i] == '*')
            g_string_append_printf(s, "%d", va_arg(*args, int));
        else
            g_string_append_c(s, c->flags[i]);
    return g_string_free(s, FALSE);
}

char *ws_phrase_v(const char *format, va_list given)
{
    va_list args;
    va_copy(args, given);
    g_autoptr(GString) values = g_string_new(NULL);
    GString *out = g_string_new(NULL);
    if (strcmp(format, "%s") == 0) {
        g_string_append(out, va_arg(args, const char *));
        va_end(args);
        return g_string_free(out, FALSE);
    }
    Conversion c;
    const char *at = format;
    guint n = 0;
    g_string_append_c(out, FORMAT);
    for (; next_conversion(at, &c); at = c.end) {
        g_string_append_len(out, at, c.begin - at);
        if (c.kind == '%') {
            g_string_append(out, "%%");
            continue;
        }
        g_autofree char *flags = take_flags(&c, &args);
        /* the length of a text is that of its argument, already */
        const char *shown = c.kind == 's' || c.kind == 'c' ? flags + strlen(flags) : flags;
        if (c.kind == 's' && strchr(flags, '.') == NULL)
            shown = flags;
        append_argument(values, &c, flags, &args);
        g_string_append_printf(out, "%%%s%c", shown,
                               c.kind == 'i'   ? 'd'
                               : c.kind == 'c' ? 's'
                                               : c.kind);
        n++;
    }
    va_end(args);
    g_string_append(out, at);
    if (n == 0 && strstr(format, "%%") == NULL)
        out->str[0] = WORD;
    g_string_append_len(out, values->str, (gssize)values->len);
    g_string_append_c(out, END);
    return g_string_free(out, FALSE);
}

char *ws_phrase(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *phrase = ws_phrase_v(format, args);
    va_end(args);
    return phrase;
}

void ws_phrase_append(GString *phrase, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *more = ws_phrase_v(format, args);
    va_end(args);
    g_string_append(phrase, more);
}

char *ws_phrase_word(const char *text)
{
    if (*text == FORMAT || *text == WORD)
        return g_strdup(text);
    return g_strdup_printf("%c%s%c", WORD, text, END);
}

char *ws_phrase_with(const char *phrase, WsTranslate own, gpointer data)
{
    GString *out = g_string_new(NULL);
    for (const char *at = phrase; *at;) {
        const char mark = *at;
        g_string_append_c(out, *at++);
        if (mark != FORMAT && mark != WORD)
            continue;
        const gsize n = strcspn(at, MARKS);
        g_autofree char *text = g_strndup(at, n);
        g_string_append(out, own(text, data));
        at += n;
    }
    return g_string_free(out, FALSE);
}

/* --- parsing ---------------------------------------------------------------------------------- */
void ws_phrase_part_free(WsPhrasePart *part)
{
    if (part == NULL)
        return;
    g_free(part->text);
    g_clear_pointer(&part->args, g_ptr_array_unref);
    g_free(part);
}

static void free_part(gpointer data)
{
    ws_phrase_part_free(data);
}

static WsPhrasePart *part_new(WsPhraseKind kind)
{
    WsPhrasePart *p = g_new0(WsPhrasePart, 1);
    p->kind = kind;
    if (kind == WS_PHRASE_FORMAT || kind == WS_PHRASE_LIST)
        p->args = g_ptr_array_new_with_free_func(free_part);
    return p;
}

static WsPhrasePart *parse_list(const char **at, guint depth);

/* Behind the mark of a template or a word. NULL, with `at` anywhere, if it is none. */
static WsPhrasePart *parse_marked(const char **at, char mark, guint depth)
{
    const gsize n = strcspn(*at, MARKS);
    g_autoptr(WsPhrasePart) p = part_new(mark == WORD ? WS_PHRASE_WORD : WS_PHRASE_FORMAT);
    p->text = g_strndup(*at, n);
    *at += n;
    while (mark == FORMAT && **at == ARG) {
        const char kind = *++*at;
        WsPhrasePart *arg = NULL;
        if (kind == 'd') {
            arg = part_new(WS_PHRASE_INT);
            arg->integer = g_ascii_strtoll(*at + 1, (char **)at, 10);
        } else if (kind == 'f') {
            arg = part_new(WS_PHRASE_REAL);
            arg->real = g_ascii_strtod(*at + 1, (char **)at);
        } else if (kind == 's') {
            ++*at;
            arg = parse_list(at, depth + 1);
        }
        if (arg == NULL)
            return NULL;
        g_ptr_array_add(p->args, arg);
    }
    if (**at != END)
        return NULL;
    ++*at;
    return g_steal_pointer(&p);
}

/* Texts and phrases up to a mark that closes what is around them, or the end. NULL: some mark is
 * out of place, or they are nested deeper than any sentence. */
static WsPhrasePart *parse_list(const char **at, guint depth)
{
    WsPhrasePart *list = part_new(WS_PHRASE_LIST);
    g_autoptr(GString) plain = g_string_new(NULL);
    for (;;) {
        const gsize n = strcspn(*at, MARKS);
        g_string_append_len(plain, *at, (gssize)n);
        *at += n;
        const char mark = **at;
        if (mark == '\0' || (depth > 0 && (mark == ARG || mark == END)))
            break;
        const char *inside = *at + 1;
        WsPhrasePart *p = (mark == FORMAT || mark == WORD) && depth < MOST_DEEP
                              ? parse_marked(&inside, mark, depth)
                              : NULL;
        if (p == NULL) {
            ws_phrase_part_free(list);
            return NULL;
        }
        *at = inside;
        if (plain->len > 0) {
            WsPhrasePart *text = part_new(WS_PHRASE_TEXT);
            text->text = g_strdup(plain->str);
            g_ptr_array_add(list->args, text);
            g_string_truncate(plain, 0);
        }
        g_ptr_array_add(list->args, p);
    }
    if (plain->len > 0 || list->args->len == 0) {
        WsPhrasePart *text = part_new(WS_PHRASE_TEXT);
        text->text = g_strdup(plain->str);
        g_ptr_array_add(list->args, text);
    }
    if (list->args->len != 1)
        return list;
    WsPhrasePart *only = g_ptr_array_steal_index(list->args, 0);
    ws_phrase_part_free(list);
    return only;
}

static gboolean is_sound(const char *phrase)
{
    g_autoptr(WsPhrasePart) p = parse_list(&phrase, 0);
    return p != NULL;
}

WsPhrasePart *ws_phrase_parse(const char *phrase)
{
    const char *at = phrase;
    WsPhrasePart *p = parse_list(&at, 0);
    if (p != NULL)
        return p;
    p = part_new(WS_PHRASE_TEXT);
    p->text = g_strdelimit(g_strdup(phrase), MARKS, '?');
    return p;
}

/* --- words ------------------------------------------------------------------------------------ */
typedef struct {
    WsTranslate translate;
    gpointer data;
} Language;

static const char *in(const Language *l, const char *text)
{
    return l->translate != NULL && *text != '\0' ? l->translate(text, l->data) : text;
}

static void put(GString *out, const WsPhrasePart *p, const Language *l);

/* One argument as its conversion wants it; FALSE: it is of another kind. */
static gboolean put_argument(GString *out, const Conversion *c, const WsPhrasePart *arg,
                             const Language *l)
{
    g_autofree char *flags = g_strndup(c->flags, c->n_flags);
    if (strchr(flags, '*') != NULL)
        return FALSE;
    if (is_integer(c->kind) && arg->kind == WS_PHRASE_INT) {
        g_autofree char *format = g_strdup_printf("%%%s%s%c", flags, G_GINT64_MODIFIER, c->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        g_string_append_printf(out, format, arg->integer);
    } else if (is_real(c->kind) && arg->kind == WS_PHRASE_REAL) {
        g_autofree char *format = g_strdup_printf("%%%s%c", flags, c->kind);
        g_string_append_printf(out, format, arg->real);
    } else if (c->kind == 's' && arg->kind != WS_PHRASE_INT && arg->kind != WS_PHRASE_REAL) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *format = g_strdup_printf("%%%ss", flags);
        put(text, arg, l);
        g_string_append_printf(out, format, text->str);
#pragma GCC diagnostic pop
    } else {
        return FALSE;
    }
    return TRUE;
}

static gboolean put_template(GString *out, const char *template, const GPtrArray *args,
                             const Language *l)
{
    Conversion c;
    guint next = 0;
    const char *at = template;
    for (; next_conversion(at, &c); at = c.end) {
        g_string_append_len(out, at, c.begin - at);
        if (c.kind == '%') {
            g_string_append_c(out, '%');
            continue;
        }
        const guint i = c.position > 0 ? c.position - 1 : next++;
        if (i >= args->len || !put_argument(out, &c, args->pdata[i], l))
            return FALSE;
    }
    g_string_append(out, at);
    return TRUE;
}

static void put(GString *out, const WsPhrasePart *p, const Language *l)
{
    const gsize before = out->len;
    switch (p->kind) {
    case WS_PHRASE_TEXT:
        g_string_append(out, p->text);
        break;
    case WS_PHRASE_WORD:
        g_string_append(out, in(l, p->text));
        break;
    case WS_PHRASE_FORMAT:
        if (put_template(out, in(l, p->text), p->args, l))
            break;
        g_string_truncate(out, before); /* a translation that does not fit */
        if (!put_template(out, p->text, p->args, l))
            g_string_append(g_string_truncate(out, before), p->text);
        break;
    case WS_PHRASE_LIST:
        for (guint i = 0; i < p->args->len; i++)
            put(out, p->args->pdata[i], l);
        break;
    case WS_PHRASE_INT:
        g_string_append_printf(out, "%" G_GINT64_FORMAT, p->integer);
        break;
    case WS_PHRASE_REAL:
        g_string_append_printf(out, "%g", p->real);
        break;
    }
}

char *ws_phrase_text(const char *phrase, WsTranslate translate, gpointer data)
{
    if (phrase == NULL)
        return NULL;
    if (phrase[strcspn(phrase, MARKS)] == '\0')
        return g_strdup(phrase);
    const Language l = { translate, data };
    GString *out = g_string_new(NULL);
    g_autoptr(WsPhrasePart) p = ws_phrase_parse(phrase);
    put(out, p, &l);
    return g_string_free(out, FALSE);
}

/* --- JSON ------------------------------------------------------------------------------------- */
static void json(GString *out, const WsPhrasePart *p);

static void json_template(GString *out, const WsPhrasePart *p)
{
    g_autoptr(GString) whole = g_string_new(p->kind == WS_PHRASE_LIST ? NULL : p->text);
    for (guint i = 0; p->kind == WS_PHRASE_LIST && i < p->args->len; i++)
        g_string_append(whole, "%s");
    g_string_append(out, "{ \"template\": ");
    ws_text_json(out, whole->str);
    g_string_append(out, ", \"args\": [");
    for (guint i = 0; p->args != NULL && i < p->args->len; i++) {
        g_string_append(out, i > 0 ? ", " : "");
        json(out, p->args->pdata[i]);
    }
    g_string_append(out, "] }");
}

static void json(GString *out, const WsPhrasePart *p)
{
    if (p->kind == WS_PHRASE_TEXT)
        ws_text_json(out, p->text);
    else if (p->kind == WS_PHRASE_INT)
        g_string_append_printf(out, "%" G_GINT64_FORMAT, p->integer);
    else if (p->kind == WS_PHRASE_REAL)
        ws_text_json_real(out, p->real);
    else
        json_template(out, p);
}

void ws_phrase_json(GString *out, const char *phrase)
{
    g_autoptr(WsPhrasePart) p = phrase != NULL ? ws_phrase_parse(phrase) : NULL;
    if (p == NULL) {
        g_string_append(out, "null");
    } else if (p->kind == WS_PHRASE_TEXT) {
        g_string_append(out, "{ \"template\": \"%s\", \"args\": [");
        json(out, p);
        g_string_append(out, "] }");
    } else {
        json_template(out, p);
    }
}
