/* What ARCHITECTURE.md says of the rooms, held against their text: who includes whom, who never
 * knows designs, and who asks an operation for its kind in place of a column of op.def. */
#include "../tree.h"
#include "expr/expr.h"

#include <glib.h>
#include <string.h>

static void visit(const char *folder, TreeSee see, gpointer data)
{
    tree_visit(folder, ".c .h", see, data);
}

static gboolean has_word(const char *words, const char *word)
{
    g_auto(GStrv) list = g_strsplit(words, " ", -1);
    return g_strv_contains((const char *const *)list, word);
}

/* --- arrows point down ------------------------------------------------------------------------ */

/* A room, where it lies, and what it may use; with each of them what that may use. */
static const struct {
    const char *room, *folder, *uses;
} rooms[] = {
    { "base", "src/base", "" },
    { "expr", "src/expr", "" },
    { "target", "src/target", "" },
    { "model", "src/model", "base expr target" },
    { "edit", "src/edit", "model" },
    { "program", "src/program", "model" },
    { "import", "src/import", "program" },
    { "check", "src/check", "program" },
    { "judge", "src/judge", "import check" },
    { "mend", "src/mend", "check edit" },
    { "verify", "src/verify", "program" },
    { "trace", "src/trace", "program" },
    { "clock", "src/clock", "program trace" },
    { "score", "src/score", "trace" },
    { "launch", "src/launch", "program trace" },
    { "package", "src/package", "program" },
    { "advise", "src/advise", "check clock edit" },
    { "search", "src/search", "advise" },
    { "codegen", "codegen", "program trace" },
    { "cli", "src/cli", "import judge mend verify clock score launch package advise search codegen runner" },
    { "ui", "ui", "import judge mend verify clock score launch package search" },
};

/* One header of another room, for a reason that stands there. */
static const struct {
    const char *room, *header;
} besides[] = {
    { "runner", "program/inputs.h" }, /* no GLib: what CPU and GPU share */
    { "runner", "program/agree.h" },       { "runner", "program/hilbert.h" },
    { "runner", "program/debug_words.h" }, { "runner", "program/dtype.def" },
    { "launch", "runner/manifest.h" }, /* the file that both of them read */
};

static gboolean may_use(const char *room, const char *other)
{
    for (guint i = 0; i < G_N_ELEMENTS(rooms); i++) {
        if (strcmp(rooms[i].room, room) != 0)
            continue;
        g_auto(GStrv) uses = g_strsplit(rooms[i].uses, " ", -1);
        for (guint k = 0; uses[k]; k++)
            if (*uses[k] && (strcmp(uses[k], other) == 0 || may_use(uses[k], other)))
                return TRUE;
    }
    return FALSE;
}

static gboolean is_room(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(rooms); i++)
        if (strcmp(rooms[i].room, name) == 0)
            return TRUE;
    return strcmp(name, "runner") == 0;
}

static gboolean is_besides(const char *room, const char *header)
{
    for (guint i = 0; i < G_N_ELEMENTS(besides); i++)
        if (strcmp(besides[i].room, room) == 0 && strcmp(besides[i].header, header) == 0)
            return TRUE;
    return FALSE;
}

static void see_includes(const char *path, const char *text, gpointer data)
{
    const char *room = data;
    for (const char *at = text; (at = strstr(at, "#include \"")); at++) {
        const char *from = at + strlen("#include \""), *end = strchr(from, '"');
        g_autofree char *header = g_strndup(from, (gsize)(end - from));
        g_autofree char *other = g_strndup(header, strcspn(header, "/"));
        if (!strchr(header, '/') || !is_room(other) || strcmp(other, room) == 0 ||
            may_use(room, other) || is_besides(room, header))
            continue;
        g_test_message("%s includes %s, which %s may not use", path, header, room);
        g_test_fail();
    }
}

static void test_arrows(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rooms); i++)
        visit(rooms[i].folder, see_includes, (gpointer)rooms[i].room);
    visit("src/runner", see_includes, (gpointer) "runner");
    g_assert_true(may_use("check", "expr"));
    g_assert_false(may_use("check", "clock"));
    g_assert_false(may_use("model", "program"));
}

/* --- who never knows designs ------------------------------------------------------------------ */

/* Rooms that look at programs alone. */
static const char *const blind[] = { "codegen",   "src/check", "src/verify", "src/clock",
                                     "src/trace", "src/score", "src/launch", "src/package" };

/* What stands at the edge, where a design comes in, a finding goes out to its place, or a
 * certificate says an expression. */
static const char edges[] = "src/check/check.c src/check/check.h src/check/suppress.c "
                            "src/launch/collect.c src/verify/main.c src/verify/text.c";

/* How one looks into a design, or reads text of one. */
static const char *const into[] = { "WsDesign ",      "ws_design_",         "WsNode ",
                                    "ws_node_",       "WsValue ",           "ws_value_print",
                                    "WS_F_",          "ws_expr_parse(",     "ws_ref_parse(",
                                    "ws_form_parse(", "ws_statement_parse(" };
/* … and what only says a step's keyword. */
static const char *const harmless[] = { "ws_node_kind_keyword" };

static void see_design(const char *path, const char *text, gpointer data)
{
    (void)data;
    if (has_word(edges, path))
        return;
    for (guint i = 0; i < G_N_ELEMENTS(into); i++) {
        for (const char *at = text; (at = strstr(at, into[i])); at++) {
            gboolean part = at > text && (g_ascii_isalnum(at[-1]) || at[-1] == '_');
            gboolean fine = FALSE;
            for (guint k = 0; k < G_N_ELEMENTS(harmless); k++)
                fine = fine || g_str_has_prefix(at, harmless[k]);
            if (part || fine)
                continue;
            g_test_message("%s looks into the design: %.40s", path, at);
            g_test_fail();
        }
    }
}

static void test_blind(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(blind); i++)
        visit(blind[i], see_design, NULL);
}

/* --- names of types --------------------------------------------------------------------------- */

/* A type that two files call alike, opaque ones too: who reads one thinks of the other. */
static void see_names(const char *path, const char *text, gpointer data)
{
    static GRegex *defined;
    g_autoptr(GMatchInfo) match = NULL;
    GHashTable *homes = data;
    if (!defined)
        defined = g_regex_new("^(?:typedef )?(?:struct (Ws\\w+) \\{|\\}.* (Ws\\w+);|\\} (Ws\\w+);)",
                              G_REGEX_MULTILINE, 0, NULL);
    for (g_regex_match(defined, text, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        g_autofree char *name = g_match_info_fetch(match, g_match_info_get_match_count(match) - 1);
        const char *home = g_hash_table_lookup(homes, name);
        if (home && strcmp(home, path) != 0) {
            g_test_message("%s is defined in %s and in %s", name, home, path);
            g_test_fail();
        }
        g_hash_table_insert(homes, g_steal_pointer(&name), g_strdup(path));
    }
}

static void test_names(void)
{
    g_autoptr(GHashTable) homes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    visit("src", see_names, homes);
    visit("codegen", see_names, homes);
    visit("ui", see_names, homes);
    g_assert_cmpuint(g_hash_table_size(homes), >, 250);
}

/* --- kinds of operations ---------------------------------------------------------------------- */

/* How often a room compares the kind of an operation by hand. A number may fall, and is lowered
 * here then; where one would rise, a column of op.def is missing. A room's own dispatch, which has
 * a rule for each kind or refuses it by name, stands apart. */
static const struct {
    const char *folder;
    guint most;
} asked[] = {
#include "rooms/asked.def"
};
static const char dispatch[] = "src/check/witness/replay_events.c src/check/proof/bits/bits_run.c "
                               "src/verify/run.c src/program/validate/validate_op.c";

static void see_kinds(const char *path, const char *text, gpointer data)
{
    static const char *const asks[] = { "case WS_OP_", "== WS_OP_", "!= WS_OP_" };
    for (guint i = 0; i < G_N_ELEMENTS(asks) && !has_word(dispatch, path); i++)
        for (const char *at = text; (at = strstr(at, asks[i])); at++)
            ++*(guint *)data;
}

static void test_kinds(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(asked); i++) {
        guint n = 0;
        visit(asked[i].folder, see_kinds, &n);
        if (n < asked[i].most)
            g_test_message("%s: %u, lower its row from %u", asked[i].folder, n, asked[i].most);
        if (n <= asked[i].most)
            continue;
        g_test_message("%s compares kinds of operations %u times, and may %u times: ask op.h",
                       asked[i].folder, n, asked[i].most);
        g_test_fail();
    }
}

/* --- what is built ---------------------------------------------------------------------------- */

static gboolean lists(const char *folder, const char *file)
{
    g_autofree char *build = g_build_filename(WS_SOURCE_ROOT, folder, "meson.build", NULL);
    g_autofree char *quoted = g_strdup_printf("'%s'", file), *text = NULL;
    return g_file_get_contents(build, &text, NULL, NULL) && strstr(text, quoted);
}

/* A file that no meson.build lists, of its own folder, above, below, beside or of bin, is no part
 * of anything, and nobody notices. */
static void see_source(const char *path, const char *text, gpointer data)
{
    g_autofree char *home = g_path_get_dirname(path), *base = g_path_get_basename(path);
    g_autofree char *at = g_build_filename(WS_SOURCE_ROOT, home, NULL);
    g_autofree char *up = g_strconcat("../", base, NULL);
    g_autoptr(GDir) dir = g_dir_open(at, 0, NULL);
    gboolean listed = !g_str_has_suffix(path, ".c");
    for (char *folder = g_strdup(home), *next; folder; folder = next) {
        listed = listed || lists(folder, path + strlen(folder) + 1);
        next = strchr(folder, '/') ? g_path_get_dirname(folder) : NULL;
        g_free(folder);
    }
    for (const char *name; !listed && (name = g_dir_read_name(dir));) {
        g_autofree char *below = g_build_filename(home, name, NULL);
        listed = lists(below, up);
    }
    g_autofree char *from_bin = g_strconcat("../", path, NULL);
    g_autofree char *from_room = g_strconcat("../", strchr(path, '/') + 1, NULL);
    listed = listed || lists("bin", from_bin);
    for (guint i = 0; i < G_N_ELEMENTS(rooms) && !listed; i++)
        listed = lists(rooms[i].folder, from_room);
    if (!listed) {
        g_test_message("no meson.build lists %s", path);
        g_test_fail();
    }
}

static void test_built(void)
{
    visit("src", see_source, NULL);
    visit("codegen", see_source, NULL);
    visit("ui", see_source, NULL);
}

/* --- languages -------------------------------------------------------------------------------- */

/* What names the languages one by one and cannot read their tables. */
static void test_languages(void)
{
    static const struct {
        const char *name, *where;
    } said[] = {
#define WS_PY_DIALECT(name)                                                                        \
    { #name, "ui/compose/exports.def" }, { #name, "src/cli/command.def" },                         \
        { #name, "tests/fuzz/nodes/command.def" }, { #name, "docs/back-ends.md" },
#include "codegen/python/dialect.def"
#undef WS_PY_DIALECT
#define WS_IMPORT_FROM(id, name, ...)                                                              \
    { name, "src/cli/command.def" }, { name, "tests/fuzz/nodes/command.def" },
#include "import/from.def"
#undef WS_IMPORT_FROM
    };
    for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, said[i].where, NULL), *text = NULL;
        if (g_file_get_contents(file, &text, NULL, NULL) && strstr(text, said[i].name))
            continue;
        g_test_message("%s says nothing of %s", said[i].where, said[i].name);
        g_test_fail();
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_test_add_func("/rooms/arrows", test_arrows);
    g_test_add_func("/rooms/designs", test_blind);
    g_test_add_func("/rooms/names", test_names);
    g_test_add_func("/rooms/kinds", test_kinds);
    g_test_add_func("/rooms/built", test_built);
    g_test_add_func("/rooms/languages", test_languages);
    return g_test_run();
}
