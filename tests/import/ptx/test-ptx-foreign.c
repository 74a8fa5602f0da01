/* PTX as other compilers and people write it, right and with mistakes: what is said of each with
 * the uses that are meant, and by slot and parity alone. */
#include "../../whole.h"
#include "../judged.h"

#include <string.h>

static const struct {
    const char *title, *file, *define, *assume;
    WsVerdictKind verdict;
    const char *from, *to;
} kernels[] = {
#define FOREIGN(title, file, define, assume, verdict, from, to)                                    \
    { title, file, define, assume, WS_VERDICT_##verdict, from, to },
#include "attack/foreign.def"
#undef FOREIGN
};

static void test_foreign(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file =
        g_strdup_printf("%s/tests/import/ptx/%s.ptx", WS_SOURCE_ROOT, kernels[i].file);
    g_autofree char *right = NULL;
    g_assert_true(g_file_get_contents(file, &right, NULL, NULL));
    char *at = strstr(right, kernels[i].from);
    g_assert_nonnull(at);
    g_autofree char *before = g_strndup(right, (gsize)(at - right));
    g_autofree char *text = g_strconcat(before, kernels[i].to, at + strlen(kernels[i].from), NULL);
    char *define[] = { (char *)kernels[i].define, NULL },
         *assume[] = { (char *)kernels[i].assume, NULL };
    WsImportOptions how = { .define = define, .assume = assume };
    const WsVerdictKind uses = verdict_by(text, WS_IMPORT_PTX, &how);
    how.by_parity = TRUE;
    const WsVerdictKind parity = verdict_by(text, WS_IMPORT_PTX, &how);
    g_test_message("by uses %d, by parity %d", uses, parity);
    if (kernels[i].verdict == WS_VERDICT_PROVED) {
        g_assert_true(uses == WS_VERDICT_PROVED || parity == WS_VERDICT_PROVED);
        return;
    }
    g_assert_true(uses != WS_VERDICT_PROVED && parity != WS_VERDICT_PROVED);
    g_assert_true(uses == kernels[i].verdict || parity == kernels[i].verdict);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/ptx-foreign/%s", kernels[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_foreign);
    }
    return g_test_run();
}
