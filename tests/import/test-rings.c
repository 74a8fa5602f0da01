/* Slots and parities counted in other ways: what is right is proved, what is not never is. */
#include "../whole.h"
#include "judge.h"
#include "judged.h"

#include <string.h>

typedef struct {
    const char *title;
    WsVerdictKind verdict;
    const char *change[6];
} Ring;

#define RING(title, verdict, a, b, c, d, e, f)                                                     \
    { title, WS_VERDICT_##verdict, { a, b, c, d, e, f } },
static const Ring rings[] = {
#include "rings.def"
};

static const struct {
    const char *title;
    WsImportFrom language;
    const char *file;
    WsVerdictKind verdict;
    const char *change[4];
} others[] = {
#define CHANGED(title, language, file, verdict, a, b, c, d)                                        \
    { title, WS_IMPORT_##language, file, WS_VERDICT_##verdict, { a, b, c, d } },
#include "changed.def"
};

/* The first place of `from` says `to`. */
static char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(text, at - text);
    return g_strconcat(head, to, at + strlen(from), NULL);
}

static void expect(const char *file, WsImportFrom language, WsVerdictKind verdict,
                   const char *const *change, guint n)
{
    char *text = kernel_of(file, language);
    for (guint i = 0; i < n && *change[i]; i += 2) {
        char *own = changed(text, change[i], change[i + 1]);
        g_free(text);
        text = own;
    }
    const gboolean proved = is_proved(text, language);
    g_assert_cmpint(proved ? WS_VERDICT_PROVED : verdict_of(text, language), ==, verdict);
    g_free(text);
}

static void test_ring(gconstpointer data)
{
    const Ring *ring = data;
    expect("tests/import/gluon/ring.py", WS_IMPORT_GLUON, ring->verdict, ring->change, 6);
}

static void test_other(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    expect(others[i].file, others[i].language, others[i].verdict, others[i].change, 4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rings); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/rings/%s", rings[i].title);
        g_test_add_data_func(path, &rings[i], test_ring);
    }
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/changed/%u/%s", i, others[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_other);
    }
    return g_test_run();
}
