/* Where the processes of one run meet: what tells runs apart is told apart whatever its length, its
 * signs and where one text ends. */
#include "runner/launcher.c"

#include <glib.h>

#define LONG                                                                                       \
    "prterun-"                                                                                     \
    "node0000000000000000000000000000000000000000000000000000000000000000000000000000000000@"

/* The socket's name; NULL: it says why not. */
static char *meets(const char *first, const char *second)
{
    WsRunOptions o = { 0 };
    char error[512] = "";
    g_setenv("OMPI_COMM_WORLD_RANK", "1", TRUE);
    g_setenv("OMPI_COMM_WORLD_SIZE", "2", TRUE);
    first ? g_setenv("PMIX_NAMESPACE", first, TRUE) : g_unsetenv("PMIX_NAMESPACE");
    second ? g_setenv("OMPI_MCA_ess_base_jobid", second, TRUE)
           : g_unsetenv("OMPI_MCA_ess_base_jobid");
    const gboolean met = ws_launcher_read(&o, NULL, error, sizeof error);
    g_assert_cmpint(met, ==, !*error);
    g_assert_true(met || strstr(error, "give --meet FOLDER"));
    return met ? g_strdup(o.meet) : NULL;
}

static void runs(void)
{
    static const char *const key[][2] = {
        { "1.23", NULL }, { "12.3", NULL },        { NULL, "1.23" },       { "1.23", "" },
        { "a", "bc" },    { "ab", "c" },           { LONG "1", NULL },     { LONG "2", NULL },
        { "@", NULL },    { LONG "1", LONG "12" }, { LONG "1", LONG "2" },
    };
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(key); i++) {
        g_autofree char *once = meets(key[i][0], key[i][1]), *again = meets(key[i][0], key[i][1]);
        g_test_message("%s %s: %s", key[i][0], key[i][1], once);
        g_assert_nonnull(once);
        g_assert_cmpstr(once, ==, again);
        const gboolean empty = key[i][1] && !*key[i][1]; /* is as if it were not there */
        g_assert_cmpint(g_hash_table_add(seen, g_steal_pointer(&once)), ==, !empty);
    }
    g_autofree char *none = meets(NULL, NULL), *empty = meets("", "");
    g_assert_null(none);
    g_assert_null(empty);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launcher/runs", runs);
    return g_test_run();
}
