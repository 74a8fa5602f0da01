/* PTX whose registers hold other numbers than its text says: wrapped, cut, taken for unsigned. */
#include "../../whole.h"
#include "../judged.h"

#include <string.h>

static const struct {
    const char *file, *title;
    WsVerdictKind never;
    gboolean arrives;
    const char *from, *to;
} attacks[] = {
#define ARRIVES(title, never, text)     { "gemm", title, WS_VERDICT_##never, TRUE, NULL, text },
#define PLANTED(title, never, from, to) { "gemm", title, WS_VERDICT_##never, FALSE, from, to },
#define LATE(title, never, from, to)    { "late", title, WS_VERDICT_##never, FALSE, from, to },
#include "attack/numbers.def"
#undef ARRIVES
#undef PLANTED
#undef LATE
};

#define ARRIVAL "mbarrier.arrive.shared::cta.b64 _, [%r72];"

static char *planted(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(text, (gsize)(at - text));
    return g_strconcat(head, to, at + strlen(from), NULL);
}

static void test_attack(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file =
        g_strdup_printf("%s/tests/import/ptx/%s.ptx", WS_SOURCE_ROOT, attacks[i].file);
    g_autofree char *right = NULL;
    g_assert_true(g_file_get_contents(file, &right, NULL, NULL));
    g_autofree char *guarded = g_strconcat(attacks[i].to, "\n\t@%q1 " ARRIVAL, NULL);
    g_autofree char *text = attacks[i].arrives ? planted(right, ARRIVAL, guarded)
                                               : planted(right, attacks[i].from, attacks[i].to);
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), !=, attacks[i].never);
    if (g_str_has_prefix(attacks[i].title, "as-it-is")) /* what is known is still read */
        g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), ==, WS_VERDICT_PROVED);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(attacks); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/ptx/numbers/%s", attacks[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_attack);
    }
    return g_test_run();
}
