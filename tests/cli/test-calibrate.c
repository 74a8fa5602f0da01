/* What is read back as one machine was measured on one GPU under one driver. */
#include "run.h"

#include <string.h>

#define FIRST  "mma-bf16-GROUPS-2-T-132"
#define SECOND "mma-bf16-GROUPS-2_N-32-T-132"
#define HERE   "\"device\": {\"name\": \"GPU A\", \"sms\": 132, \"driver\": 13000}"

static char *dir;
static gboolean without; /* generators: no bundle is written */

/* As the runner writes them: a round of 2,000 cycles or so. */
static void put_results(const char *bundle, const char *device)
{
    g_autofree char *told = g_build_filename(dir, bundle, "bundle.txt", NULL);
    g_autofree char *to = g_build_filename(dir, bundle, "results.json", NULL), *text = NULL;
    g_assert_true(g_file_get_contents(told, &text, NULL, NULL));
    const char *hash = strstr(text, "\nhash ");
    g_assert_nonnull(hash);
    GString *s = g_string_new(NULL);
    g_string_printf(s,
                    "{\"warpstave_results\": 1, \"status\": 0, \"name\": \"x\", \"design_hash\": "
                    "\"%.64s\", %s, \"cases\": [",
                    hash + strlen("\nhash "), device);
    for (guint i = 0; i < 2; i++)
        g_string_append_printf(
            s,
            "%s{\"label\": \"x\", \"sizes\": {\"ROUNDS\": %u, \"T\": 132}, \"state\": \"not "
            "judged\", \"grid\": 132, \"cold\": {\"n\": 10, \"median_us\": %u, \"min_us\": %u, "
            "\"max_us\": %u, \"p10_us\": %u, \"p90_us\": %u, \"cycles\": %u, \"sm_mhz\": 1600}}",
            i ? ", " : "", i ? 2200 : 200, i ? 2750 : 250, i ? 2750 : 250, i ? 2750 : 250,
            i ? 2750 : 250, i ? 2750 : 250, i ? 4400000 : 400000);
    g_string_append(s, "]}");
    g_assert_true(g_file_set_contents(to, s->str, (gssize)s->len, NULL));
    g_string_free(s, TRUE);
}

static void test_one_gpu(gconstpointer unused)
{
    static const struct {
        const char *second, *says;
    } row[] = {
        { "\"device\": {\"name\": \"GPU B\", \"sms\": 132, \"driver\": 13000}",
          "was measured on GPU B, CUDA driver 13.0, but the bundles before it on GPU A, CUDA "
          "driver 13.0" },
        { "\"device\": {\"name\": \"GPU A\", \"sms\": 132, \"driver\": 12080}",
          "GPU A, CUDA driver 12.8, but the bundles before it on GPU A, CUDA driver 13.0" },
        { "\"device\": {\"name\": \"GPU A\", \"sms\": 132}", "do not say which GPU and driver" },
        { "\"device\": {\"sms\": 132, \"driver\": 13000}", "do not say which GPU and driver" },
        { HERE, "barrier-KIND-1-T-1 holds no results yet" }, /* the bundle after the two */
    };
    if (without) {
        g_test_skip("built without code generation");
        return;
    }
    const char *const from[] = { "calibrate", "--from", dir, NULL };
    put_results(FIRST, HERE);
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autofree char *output = NULL;
        put_results(SECOND, row[i].second);
        const int code = run(from, &output);
        g_test_message("%s", output);
        g_assert_cmpint(code, ==, 2);
        g_assert_nonnull(strstr(output, row[i].says));
        g_assert_nonnull(strstr(output, i < 2 ? SECOND " was measured" : row[i].says));
    }
}

static void test_no_folder(gconstpointer unused)
{
    static const char *const option[] = { "--bundles", "--from", "--keep" };
    for (guint i = 0; i < G_N_ELEMENTS(option); i++) {
        g_autofree char *output = NULL, *says = g_strconcat(option[i], " '' is no folder", NULL);
        const char *const arguments[] = { "calibrate", option[i], "", NULL };
        const int code = run(arguments, &output);
        g_test_message("%s", output);
        g_assert_true(without ? code == 4 || code == 2 : code == 2);
        g_assert_true(without || strstr(output, says));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autofree char *output = NULL;
    dir = g_dir_make_tmp("warpstave-calibrate-XXXXXX", NULL);
    const char *const bundles[] = { "calibrate", "--bundles", dir, NULL };
    const int made = run(bundles, &output);
    without = made == 4;
    g_assert_true(made == 0 || without);
    g_test_add_data_func("/cli/calibrate/one-gpu", NULL, test_one_gpu);
    g_test_add_data_func("/cli/calibrate/no-folder", NULL, test_no_folder);
    const int code = g_test_run();
    const char *const remove[] = { "rm", "-rf", dir, NULL };
    g_spawn_sync(NULL, (char **)remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    g_free(dir);
    return code;
}
