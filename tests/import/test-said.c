/* What a keyword, a literal or a conversion says of a tile is read, or listed by name: said.def. */
#include "import/import.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <glib.h>
#include <string.h>

static const struct {
    gboolean square;
    const char *source, *read, *lost;
} rows[] = {
#define WIDE                      FALSE
#define SQUARE                    TRUE
#define SAID(shape, source, read) { shape, source, read, NULL },
#define LOST(shape, source, lost) { shape, source, NULL, lost },
#include "said.def"
#undef SAID
#undef LOST
#undef WIDE
#undef SQUARE
};

static WsImport *import(const char *source, gboolean square)
{
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "tests/import/tle/names/scale.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(GString) s = g_string_new(text);
    g_autofree char *line = g_strdup_printf("    doubled = %s\n", source);
    g_assert_cmpuint(g_string_replace(s, "    doubled = tile * 2.0\n", line, 0), ==, 1);
    if (square) {
        g_string_replace(s, "[128, 64]", "[64, 64]", 0);
        g_string_replace(s, "expect_bytes=16384", "expect_bytes=8192", 0);
    }
    g_autoptr(GError) error = NULL;
    WsImport *read = ws_import_text(s->str, s->len, "kernel.py", WS_IMPORT_TLE, &error);
    g_assert_no_error(error);
    return read;
}

static gboolean is_listed(const WsImport *read, const char *what)
{
    for (guint i = 0; i < read->unread->len; i++)
        if (strstr(((const WsUnread *)read->unread->pdata[i])->what, what))
            return TRUE;
    return FALSE;
}

/* Whether it is a program of the language, whose types agree. */
static gboolean elaborates(const char *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) own = ws_design_parse(design, strlen(design), "kernel", findings);
    g_autoptr(WsProgram) p = own ? ws_elaborate(own, NULL, 0, findings) : NULL;
    return p != NULL;
}

static void said(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(WsImport) read = import(rows[i].source, rows[i].square);
        g_autofree char *design = ws_design_print(read->design);
        g_autofree char *want = g_strdup_printf("\"%s\"", rows[i].read);
        const gboolean good =
            rows[i].read ? strstr(design, want) && !read->unread->len
                         : !strstr(design, "\"doubled = ") && is_listed(read, rows[i].lost);
        if (good && elaborates(design))
            continue;
        g_test_message("%s: %s", rows[i].source, design);
        for (guint k = 0; k < read->unread->len; k++)
            g_test_message("listed: %s", ((const WsUnread *)read->unread->pdata[k])->what);
        g_test_fail();
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/said/rows", said);
    return g_test_run();
}
