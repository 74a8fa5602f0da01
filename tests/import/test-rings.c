/* Slots and parities counted in other ways: what is right is proved, what is not never is. */
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

/* The first place of `from` says `to`. */
static char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(text, at - text);
    return g_strconcat(head, to, at + strlen(from), NULL);
}

static void test_ring(gconstpointer data)
{
    const Ring *ring = data;
    char *text = kernel_of("tests/import/gluon/ring.py", WS_IMPORT_GLUON);
    for (guint i = 0; i < 6 && *ring->change[i]; i += 2) {
        char *own = changed(text, ring->change[i], ring->change[i + 1]);
        g_free(text);
        text = own;
    }
    const gboolean proved = is_proved(text, WS_IMPORT_GLUON);
    g_assert_cmpint(proved ? WS_VERDICT_PROVED : verdict_of(text, WS_IMPORT_GLUON), ==,
                    ring->verdict);
    g_free(text);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rings); i++) {
        g_autofree char *path = g_strdup_printf("/import/rings/%s", rings[i].title);
        g_test_add_data_func(path, &rings[i], test_ring);
    }
    return g_test_run();
}
