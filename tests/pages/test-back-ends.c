/* docs/back-ends.md is what the back ends answer (`check --back-ends`) of a design for each
 * construct. WARPSTAVE_WRITE=1 writes the page. */
#include <gio/gio.h>
#include <json.h>
#include <string.h>

#define PAGE WS_SOURCE_ROOT "/docs/back-ends.md"

static const struct {
    const char *words, *design;
} rows[] = {
#define WS_CONSTRUCT(words, design) { words, design },
#include "back_ends.def"
#undef WS_CONSTRUCT
};

static const char *const head =
    "# What each back end can write\n"
    "\n"
    "`warpstave check DESIGN --back-ends` says it of a design, with the step, the reason and what "
    "to change. This table is that answer for\n"
    "one small design of each construct; `./dev test pages/back-ends` compares them. A number is a "
    "note below: why not. A design that\n"
    "combines constructs may meet a limit that no row shows, so ask for it.\n"
    "\n"
    "| construct | ptx | rehearse | cuda | gluon | tle | tlx |\n"
    "|---|---|---|---|---|---|---|\n";

static const char *text_of(json_object *o, const char *name)
{
    json_object *v = NULL;
    g_assert_true(json_object_object_get_ex(o, name, &v));
    return v ? json_object_get_string(v) : NULL;
}

/* The note's number, which is given to a text once. */
static guint note_of(GPtrArray *notes, json_object *one)
{
    const char *remedy = text_of(one, "remedy");
    char *note = g_strdup_printf("%s: %s%s%s", text_of(one, "name"), text_of(one, "why"),
                                 remedy ? "; " : "", remedy ? remedy : "");
    for (guint i = 0; i < notes->len; i++)
        if (strcmp(notes->pdata[i], note) == 0) {
            g_free(note);
            return i + 1;
        }
    g_ptr_array_add(notes, note);
    return notes->len;
}

/* FALSE: built without code generation. */
static gboolean add_row(GString *page, GPtrArray *notes, guint row)
{
    g_autofree char *file = g_strdup_printf("%s/%s.wstave", WS_SOURCE_ROOT, rows[row].design);
    const char *const argv[] = {
        WS_BUILD_ROOT "/bin/warpstave", "check", "--back-ends", "--json", file, NULL
    };
    g_autofree char *output = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) run = g_subprocess_newv(
        argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error);
    g_assert_no_error(error);
    g_subprocess_communicate_utf8(run, NULL, NULL, &output, NULL, &error);
    g_assert_no_error(error);
    json_object *all = json_tokener_parse(output), *list = NULL;
    gboolean here = TRUE;
    g_assert_true(json_object_object_get_ex(all, "back_ends", &list));
    g_assert_cmpuint(json_object_array_length(list), ==, 6);
    g_string_append_printf(page, "| %s |", rows[row].words);
    for (guint i = 0; i < 6; i++) {
        json_object *one = json_object_array_get_idx(list, i), *supported = NULL;
        g_assert_true(json_object_object_get_ex(one, "supported", &supported));
        if (json_object_get_boolean(supported)) {
            g_string_append(page, " yes |");
            continue;
        }
        here &= strcmp(text_of(one, "why"), "this build has no code generation") != 0;
        g_string_append_printf(page, " no (%u) |", note_of(notes, one));
    }
    g_string_append_c(page, '\n');
    json_object_put(all);
    return here;
}

static void table(void)
{
    g_autoptr(GString) page = g_string_new(head);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *is = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (!add_row(page, notes, i)) {
            g_test_skip("built without code generation");
            return;
        }
    g_string_append_c(page, '\n');
    for (guint i = 0; i < notes->len; i++)
        g_string_append_printf(page, "%u. %s\n", i + 1, (char *)notes->pdata[i]);
    if (g_getenv("WARPSTAVE_WRITE"))
        g_assert_true(g_file_set_contents(PAGE, page->str, -1, NULL));
    g_assert_true(g_file_get_contents(PAGE, &is, NULL, NULL));
    if (strcmp(is, page->str) != 0) {
        g_auto(GStrv) want = g_strsplit(page->str, "\n", -1), have = g_strsplit(is, "\n", -1);
        guint i = 0;
        while (want[i] && have[i] && strcmp(want[i], have[i]) == 0)
            i++;
        g_test_message("docs/back-ends.md:%u is not what the back ends say; WARPSTAVE_WRITE=1 "
                       "writes it: \"%s\", now \"%s\"",
                       i + 1, have[i] ? have[i] : "", want[i] ? want[i] : "");
        g_test_fail();
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pages/back-ends/table", table);
    return g_test_run();
}
