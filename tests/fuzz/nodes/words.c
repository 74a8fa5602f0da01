/* Names and numbers that somebody may write, and expressions of them. */
#include "nodes.h"
#include "trace/file.h"

#include <string.h>

const char *const fuzz_names[] = {
    "",
    " ",
    "\t",
    "yield",
    "nullptr",
    "fmaf",
    "this",
    "printf",
    "bool",
    "NULL",
    "int",
    "return",
    "class",
    "lambda",
    "None",
    "True",
    "self",
    "import",
    "def",
    "double",
    "__global__",
    "asm",
    "threadIdx",
    "main",
    "tl",
    "gl",
    "min",
    "max",
    "exp",
    "k",
    "k.total",
    "tile",
    "replica",
    "cta",
    "true",
    "0",
    "1",
    "-1",
    "1/0",
    "1 % 0",
    "cdiv(1, 0)",
    "-9223372036854775808 / -1",
    "9223372036854775807 + 1",
    "9223372036854775807 * 9223372036854775807",
    "1 << 63",
    "2^62",
    "k <",
    "<",
    "(",
    ")",
    "k >= 0 && k < 1",
    "\xc3\xa9\xc3\xa8",
    "\xe5\x90\x8d",
    "\xe2\x80\xae",
    "a\nb",
    "a\"b",
    "a\\b",
    "*/",
    "//",
    "#",
    "%s%n%d",
    "../../../x",
    "/dev/full",
    "-o",
    "a b",
    "a/b",
    "a.0",
    "a[0]",
    "<b>",
    "&amp;",
    "\x7f",
    "\x01",
    "1e999",
    "nan",
    "inf",
    "0x10",
    "00",
    "bf16",
    "f32",
    "fp8e4m3",
    "full",
    "empty",
    "acc",
    "a",
    "A",
    "C[m,n] = 1",
    "sum(k < K, 1)",
    "sum(k < 4611686018427387904, 1.0)",
    "exp(1000.0)",
    "grouped(tm, 0)",
    "grouped(tm, 4611686018427387904)",
    "indices(1, 2)",
    "offsets(3)",
    "sm_90a",
    "gfx950",
    "persistent",
    "ready",
    "group",
};
const guint fuzz_n_names = G_N_ELEMENTS(fuzz_names);

const char *const fuzz_numbers[] = {
    "0",
    "-1",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "16",
    "64",
    "100",
    "128",
    "255",
    "256",
    "1000",
    "2000",
    "4096",
    "20000",
    "65535",
    "65536",
    "1000000",
    "100000000",
    "2147483647",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "1099511627776",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    "-2147483648",
    "0.5",
    "-0.5",
    "1e300",
    "1e-300",
    "3.0",
    "-0.0",
};
const guint fuzz_n_numbers = G_N_ELEMENTS(fuzz_numbers);

char *fuzz_name(GRand *r)
{
    const gint which = g_rand_int_range(r, 0, 40);
    if (which == 0) {
        char *text = g_malloc(10001);
        memset(text, 'n', 10000);
        text[10000] = '\0';
        return text;
    }
    if (which == 1) { /* deep */
        const gint n = g_rand_int_range(r, 1, 3000);
        GString *s = g_string_new(NULL);
        for (gint i = 0; i < n; i++)
            g_string_append(s, which % 2 ? "(" : "-");
        g_string_append_c(s, 'k');
        for (gint i = 0; i < n; i++)
            g_string_append_c(s, ')');
        return g_string_free(s, FALSE);
    }
    if (which == 2) { /* long */
        const gint n = g_rand_int_range(r, 1, 3000);
        GString *s = g_string_new("k");
        for (gint i = 0; i < n; i++)
            g_string_append(s, " + k");
        return g_string_free(s, FALSE);
    }
    if (which < 12)
        return g_strdup(fuzz_numbers[g_rand_int_range(r, 0, (gint)fuzz_n_numbers)]);
    return g_strdup(fuzz_names[g_rand_int_range(r, 0, (gint)fuzz_n_names)]);
}

/* --- tokens ----------------------------------------------------------------------------------- */

static gsize token_length(const char *at)
{
    gsize n = 0;
    if (g_ascii_isspace(*at)) {
        while (g_ascii_isspace(at[n]))
            n++;
        return n;
    }
    while (g_ascii_isalnum(at[n]) || at[n] == '_' || (guchar)at[n] >= 0x80)
        n++;
    return MAX(n, 1);
}

static GPtrArray *tokens_of(const char *text)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    while (*text) {
        const gsize n = token_length(text);
        g_ptr_array_add(list, g_strndup(text, n));
        text += n;
    }
    return list;
}

static const char *any(GRand *r, const GPtrArray *list)
{
    return list->pdata[g_rand_int_range(r, 0, (gint)list->len)];
}

char *fuzz_expression(GRand *r, const char *text)
{
    static const char *const operators[] = { "+",  "-",  "*",  "/",  "%", "<", "<=",
                                             "==", "!=", "&&", "||", "(", ")", ",",
                                             ".",  "[",  "]",  "!",  " ", "?", ":" };
    g_autoptr(GPtrArray) list = tokens_of(text);
    if (list->len == 0)
        return fuzz_name(r);
    const guint at = (guint)g_rand_int_range(r, 0, (gint)list->len);
    char **place = (char **)&list->pdata[at], *is = NULL;
    switch (g_rand_int_range(r, 0, 8)) {
    case 0:
        is = g_strdup("");
        break;
    case 1:
        is = g_strdup_printf("%s%s", *place, any(r, list));
        break;
    case 2:
    case 3:
        is = g_strdup(fuzz_numbers[g_rand_int_range(r, 0, (gint)fuzz_n_numbers)]);
        break;
    case 4:
        is = g_strdup(operators[g_rand_int_range(r, 0, G_N_ELEMENTS(operators))]);
        break;
    case 5:
        is = g_strdup_printf("(%s)", text);
        break;
    case 6:
        is = fuzz_name(r);
        break;
    default:
        is = g_strdup(any(r, list));
    }
    g_free(*place);
    *place = is;
    g_ptr_array_add(list, NULL);
    return g_strjoinv("", (char **)list->pdata);
}

/* --- lines ------------------------------------------------------------------------------------ */

static char *join(GPtrArray *lines)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++)
        g_string_append_printf(s, "%s\n", (const char *)lines->pdata[i]);
    return g_string_free(s, FALSE);
}

static void change_lines(GRand *r, GPtrArray *lines)
{
    const gint n = (gint)lines->len, at = g_rand_int_range(r, 0, n);
    const gint other = g_rand_int_range(r, 0, n);
    char *line = lines->pdata[at], *is = NULL;
    switch (g_rand_int_range(r, 0, 9)) {
    case 0:
        if (n > 1)
            g_ptr_array_remove_index(lines, (guint)at);
        return;
    case 1:
        g_ptr_array_insert(lines, other, g_strdup(line));
        return;
    case 2: /* moved */
        is = g_strdup(line);
        g_ptr_array_remove_index(lines, (guint)at);
        g_ptr_array_insert(lines, MIN(other, (gint)lines->len), is);
        return;
    case 3: /* many times */
        for (gint i = g_rand_int_range(r, 2, g_rand_boolean(r) ? 12 : 400); i > 0; i--)
            g_ptr_array_insert(lines, at, g_strdup(line));
        return;
    case 4: /* indented otherwise */
        is = g_strconcat(g_rand_boolean(r) ? "    " : "\t", line, NULL);
        break;
    case 5:
        is = g_str_has_prefix(line, "    ") ? g_strdup(line + 4) : g_strdup(lines->pdata[other]);
        break;
    default: /* its tokens */
        is = fuzz_expression(r, line);
    }
    g_free(line);
    lines->pdata[at] = is;
}

char *fuzz_lines(GRand *r, const char *text)
{
    g_auto(GStrv) list = g_strsplit(text, "\n", -1);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; list[i]; i++)
        g_ptr_array_add(lines, g_strdup(list[i]));
    for (gint i = g_rand_int_range(r, 1, 5); i > 0; i--)
        change_lines(r, lines);
    return join(lines);
}

/* --- words of a binary file ------------------------------------------------------------------- */

static guint64 odd_word(GRand *r)
{
    static const guint64 odd[] = { 0,
                                   1,
                                   2,
                                   63,
                                   64,
                                   65,
                                   255,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   1ULL << 32,
                                   1ULL << 53,
                                   1ULL << 62,
                                   1ULL << 63,
                                   G_MAXUINT64,
                                   G_MAXINT64,
                                   240,
                                   0x7ff0000000000000 /* infinity */,
                                   0x7ff8000000000000 /* no number */ };
    return odd[g_rand_int_range(r, 0, G_N_ELEMENTS(odd))];
}

void fuzz_words(GRand *r, guint8 *data, gsize length, gboolean trace)
{
    enum { SUM_AT = 24, SUMMED_FROM = 32 }; /* src/trace/file.h */
    if (length < 16)
        return;
    for (gint i = g_rand_int_range(r, 1, 5); i > 0; i--) {
        /* the header and the tables behind it as often as the records */
        const gsize room =
            g_rand_boolean(r)
                ? MIN(length, g_rand_boolean(r) ? WS_FILE_HEADER_OF(WS_FILE_VERSION) : 4096)
                : length;
        const gsize bytes = g_rand_boolean(r) ? 8 : 4;
        const gsize at = (gsize)g_rand_int_range(r, 0, (gint)(room / bytes)) * bytes;
        guint64 word = odd_word(r), was = 0;
        memcpy(&was, data + at, bytes);
        switch (g_rand_int_range(r, 0, 4)) {
        case 0:
            word = was + (g_rand_boolean(r) ? 1 : (guint64)-1);
            break;
        case 1:
            memcpy(&word, data + (gsize)g_rand_int_range(r, 0, (gint)(length / bytes)) * bytes,
                   bytes);
            break;
        default:
            break;
        }
        memcpy(data + at, &word, bytes);
    }
    if (trace && length > SUMMED_FROM) {
        const guint64 sum = ws_file_checksum(data + SUMMED_FROM, length - SUMMED_FROM);
        memcpy(data + SUM_AT, &sum, sizeof sum);
    }
}
