/* A mutator that keeps most documents readable: it replaces values by others of the same document,
 * sets numbers, and drops, doubles and swaps lines (one step per line). The rest of the time the
 * library's own byte mutations are at work. */
#include <glib.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

typedef struct {
    size_t at, n;
} Span;

/* Strings (with quotes) and numbers. */
static GArray *values_of(const char *text, size_t size)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
    for (size_t i = 0; i < size; i++) {
        Span s = { i, 1 };
        if (text[i] == '"') {
            while (s.at + s.n < size && text[s.at + s.n] != '"')
                s.n++;
            s.n = MIN(s.n + 1, size - s.at);
        } else if (g_ascii_isdigit(text[i])) {
            while (s.at + s.n < size && g_ascii_isdigit(text[s.at + s.n]))
                s.n++;
        } else {
            continue;
        }
        g_array_append_val(spans, s);
        i += s.n - 1;
    }
    return spans;
}

/* Lines that end in a comma, so that dropping or doubling one keeps the list whole. */
static GArray *lines_of(const char *text, size_t size)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n')
            continue;
        const Span s = { start, i + 1 - start };
        if (i > start && text[i - 1] == ',')
            g_array_append_val(spans, s);
        start = i + 1;
    }
    return spans;
}

/* Puts `piece` in the place of a span; 0 if it does not fit. */
static size_t splice(uint8_t *data, size_t size, size_t max_size, Span at, const char *piece,
                     size_t n)
{
    if (size - at.n + n > max_size)
        return 0;
    g_autofree char *copy = g_memdup2(piece, n);
    memmove(data + at.at + n, data + at.at + at.n, size - at.at - at.n);
    if (n > 0)
        memcpy(data + at.at, copy, n);
    return size - at.n + n;
}

static size_t change_value(GRand *r, uint8_t *data, size_t size, size_t max_size)
{
    static const char *const values[] = {
        "0",
        "1",
        "-1",
        "2",
        "3",
        "7",
        "8",
        "64",
        "255",
        "256",
        "4096",
        "65536",
        "2147483648",
        "9223372036854775807",
        "-9223372036854775808",
        "true",
        "\"replica\"",
        "\"cta\"",
        "\"k.total\"",
        "\"k\"",
        "\"1/0\"",
        "\"9223372036854775807 + 1\"",
        "\"x\"",
        "[]",
        "{}",
    };
    g_autoptr(GArray) spans = values_of((const char *)data, size);
    if (spans->len == 0)
        return 0;
    const Span to = g_array_index(spans, Span, g_rand_int_range(r, 0, (gint)spans->len));
    if (g_rand_boolean(r)) {
        const char *v = values[g_rand_int_range(r, 0, G_N_ELEMENTS(values))];
        return splice(data, size, max_size, to, v, strlen(v));
    }
    const Span from = g_array_index(spans, Span, g_rand_int_range(r, 0, (gint)spans->len));
    return splice(data, size, max_size, to, (const char *)data + from.at, from.n);
}

static size_t change_line(GRand *r, uint8_t *data, size_t size, size_t max_size)
{
    g_autoptr(GArray) spans = lines_of((const char *)data, size);
    if (spans->len == 0)
        return 0;
    const Span to = g_array_index(spans, Span, g_rand_int_range(r, 0, (gint)spans->len));
    if (g_rand_int_range(r, 0, 3) == 0)
        return splice(data, size, max_size, to, "", 0);
    const Span from = g_array_index(spans, Span, g_rand_int_range(r, 0, (gint)spans->len));
    const Span before = { to.at, 0 };
    return splice(data, size, max_size, before, (const char *)data + from.at, from.n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    GRand *r = g_rand_new_with_seed(seed);
    size_t result = 0;
    switch (g_rand_int_range(r, 0, 4)) {
    case 0:
        result = change_line(r, data, size, max_size);
        break;
    case 1:
    case 2:
        result = change_value(r, data, size, max_size);
        break;
    default:
        break;
    }
    g_rand_free(r);
    return result > 0 ? result : LLVMFuzzerMutate(data, size, max_size);
}
