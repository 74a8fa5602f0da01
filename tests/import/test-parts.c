/* Designs whose tiles are no powers of two: with tiles in parts they do the same on the CPU, are
 * written in the languages of Python, and come back as the same program, proved. Parts that nobody
 * shows to be right are not written. */
#include "../whole.h"
#include "check/check.h"
#include "cli/shown.h"
#include "codegen/python/python.h"
#include "import/import.h"
#include "judge.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "same.h"

#include <string.h>

typedef struct {
    const char *design, *constant;
    gint64 value;
    const char *languages; /* in which it is written; the others refuse */
    gboolean slow;         /* its rehearsal */
    const char *change[2]; /* in its text */
} Parts;

#define DESIGN(name) "tests/designs/" name ".wstave"
#define ONE          DESIGN("gemm-one-consumer")
#define TLE          DESIGN("gemm-tle")
#define STRAIGHT     DESIGN("attention-straight")
#define D256         "projects/attention-d256/design.wstave"
#define D64          "projects/attention-d64/design.wstave"
#define GEMM         "projects/gemm-bf16/design.wstave"
#define BLOCK        "projects/gemm-fp8-block/design.wstave"
#define ALL          "gluon tle tlx"

static const Parts parts[] = {
    { ONE, "BN", 48, ALL, FALSE, { NULL } },  /* 32 + 16 */
    { ONE, "BN", 80, ALL, FALSE, { NULL } },  /* 64 + 16 */
    { ONE, "BN", 96, ALL, FALSE, { NULL } },  /* 64 + 32 */
    { ONE, "BN", 112, ALL, FALSE, { NULL } }, /* 64 + 32 + 16 */
    { ONE, "BN", 144, ALL, FALSE, { NULL } }, /* 128 + 16 */
    { ONE, "BN", 192, ALL, FALSE, { NULL } }, /* 128 + 64 */
    { ONE, "BK", 48, ALL, FALSE, { NULL } },  /* the depth of the product: columns of both tiles */
    { TLE, "BK", 48, ALL, FALSE, { NULL } },  /* the same, rows of one of them */
    { TLE, "BN", 96, ALL, FALSE, { NULL } },  /* columns of a tile that is not transposed */
    { DESIGN("gemm-pingpong"), "BN", 96, ALL, FALSE, { NULL } },
    { DESIGN("moves/gemm-scales"), "BN", 96, ALL, FALSE, { NULL } },
    { DESIGN("moves/gemm-global"), "BN", 96, ALL, FALSE, { NULL } },
    /* parts over another buffer: the second one is no beginning of it */
    { DESIGN("gemm-aliased"), "BN", 192, "tle", FALSE, { NULL } },
    /* row maxima and sums over parts */
    { STRAIGHT, "BN", 48, ALL, TRUE, { NULL } },
    { STRAIGHT, "BN", 96, ALL, FALSE, { NULL } },
    { STRAIGHT, "BN", 80, ALL, TRUE, { "\"N_CTX\": 384", "\"N_CTX\": 640" } },
    { STRAIGHT, "D", 80, ALL, TRUE, { NULL } }, /* the output and the depth */
    { DESIGN("attention-ahead"), "BN", 96, "gluon tlx", TRUE, { NULL } },
    { DESIGN("attention-fa3-dynamic"), "BN", 112, ALL, TRUE, { NULL } },
    { DESIGN("attention-fa3-full"), NULL, 0, ALL, TRUE, { NULL } }, /* 176 columns */
    { D256, NULL, 0, "gluon tlx", TRUE, { NULL } },                 /* 80 columns */
    /* loops whose index picks a part are laid out, with their uses */
    { DESIGN("gemm-cooperative"), "BN", 192, ALL, FALSE, { NULL } },
    { GEMM, "BN", 192, ALL, FALSE, { NULL } },
    { DESIGN("moves/gemm-reduce"), "BN", 96, "gluon", FALSE, { NULL } },
    /* 8 products in each round: more than are told apart in flight */
    { GEMM, "BN", 192, "", FALSE, { "\"SLAB\": 64", "\"SLAB\": 48" } },
    { BLOCK, "BN", 128, "gluon tle", TRUE, { NULL } }, /* lines alone */
    { BLOCK, NULL, 0, "gluon tle", TRUE, { NULL } },   /* 192 columns, and lines of scales */
    /* rows of a tile of 192 that each replica has 64 of stay together */
    { D64, "BN", 96, "gluon tlx", TRUE, { NULL } },
    /* over memory that its first part no longer has alone */
    { D256, "BN", 48, "", TRUE, { "\"STAGES\": 2", "\"STAGES\": 3" } },
};

static const struct {
    const char *name;
    WsPyGenerate *export;
    WsImportFrom from;
} language[] = {
    { "gluon", ws_generate_gluon, WS_IMPORT_GLUON },
    { "tle", ws_generate_tle, WS_IMPORT_TLE },
    { "tlx", ws_generate_tlx, WS_IMPORT_TLX },
};

static WsProgram *elaborated(WsDesign *design, const WsSetting *set)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = design ? ws_elaborate(design, set, set ? 1 : 0, findings) : NULL;
    g_autofree char *says = ws_findings_print(findings, "design");
    g_test_message("%s", says);
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return p;
}

static WsProgram *program_of(const Parts *c)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, c->design, NULL);
    g_autofree char *all = NULL;
    g_assert_true(g_file_get_contents(file, &all, NULL, NULL));
    g_autoptr(GString) text = g_string_new(all);
    if (c->change[0])
        g_assert_cmpuint(g_string_replace(text, c->change[0], c->change[1], 0), >, 0);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text->str, text->len, file, findings);
    const WsSetting set = { c->constant, c->value };
    return elaborated(design, c->constant ? &set : NULL);
}

static gboolean never(const WsProgram *p, gpointer unused)
{
    (void)p, (void)unused;
    return FALSE;
}

static gboolean always(const WsProgram *p, gpointer unused)
{
    (void)p, (void)unused;
    return TRUE;
}

static const WsPyJudge trusting = { always, NULL, NULL, TRUE };

/* What comes back is what was written, with the same operations in the same order. */
static void comes_back(const WsProgram *split, const char *text, WsImportFrom from)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *why = NULL;
    g_autoptr(WsImport) import = ws_import_text(text, strlen(text), "kernel.py", from, &error);
    g_assert_no_error(error);
    g_autofree char *gap = ws_import_gap(import);
    g_assert_cmpstr(gap, ==, NULL);
    g_autoptr(WsProgram) back = elaborated(import->design, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsLaunchValues) va = ws_launch_values(split, NULL, 0, TRUE, findings);
    g_autoptr(WsLaunchValues) vb = same_launch(back, va, split);
    /* TLX has a wait for each accumulator, and other zeros */
    const gboolean same =
        from == WS_IMPORT_TLX || ws_program_same(split, back, va, vb, ws_launch_tiles(va), &why);
    g_test_message("%s", why ? why : "the same");
    g_assert_true(same);
    const WsCheckOptions options = { .foreign = TRUE };
    g_autoptr(WsVerdict) v = ws_check(back, &options, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
}

static void test_parts(gconstpointer data)
{
    const Parts *c = data;
    g_autoptr(WsProgram) p = program_of(c), split = ws_program_split(p);
    g_autoptr(WsCliShown) shown = ws_cli_shown_new();
    if (!split) {
        for (guint i = 0; i < G_N_ELEMENTS(language); i++)
            g_assert_null(language[i].export(p, FALSE, &trusting, NULL));
        g_assert_cmpstr(c->languages, ==, "");
        return;
    }
    g_assert_cmpstr(split->design_hash, ==, p->design_hash);
    g_assert_true(ws_cli_proved(split, NULL));
#ifdef WS_HAVE_CODEGEN
    if (g_test_slow() || !c->slow)
        g_assert_true(ws_cli_shown(split, shown)); /* its values against the reference */
#endif
    const WsPyJudge judge = { ws_cli_proved, NULL, NULL, TRUE };
    const WsPyJudge none = { never, NULL, ws_cli_proved, TRUE };
    for (guint i = 0; i < G_N_ELEMENTS(language); i++) {
        g_autoptr(GError) error = NULL, unshown = NULL;
        g_autofree char *text = language[i].export(p, FALSE, &judge, &error);
        g_test_message("%s: %s", language[i].name, error ? error->message : "written");
        g_assert_cmpint(text != NULL, ==, strstr(c->languages, language[i].name) != NULL);
        /* what the language has without parts (some tiles of TLE in memory) */
        g_autofree char *whole = language[i].export(p, FALSE, NULL, NULL);
        g_autofree char *never_shown = language[i].export(p, FALSE, &none, &unshown);
        g_assert_cmpint(whole != NULL, ==, never_shown != NULL);
        if (text)
            comes_back(whole ? p : split, text, language[i].from);
    }
}

#define ASKED                                                                                      \
    "    if not (K <= 16384):\n        raise ValueError(\"K <= KBMAX*BK does not hold\")\n"

/* Elements of a line are read where their place is shown to lie in it, by a condition of the host
 * on the size that says how many rounds there are, and as what they are. */
static const struct {
    const char *from, *to;
    gboolean good;
} places[] = {
    { "not (K <= 16384)", "not (K < 16385)", TRUE },
    { "not (K <= 16384)", "not (K <= 16511)", TRUE }, /* 128 rounds of 128, and a rest */
    { "not (K <= 16384)", "not (K <= 16512)", FALSE },
    { "not (K <= 16384)", "not (K >= 16384)", FALSE },
    { "not (K <= 16384)", "not (N <= 16384)", FALSE },
    { ASKED, "    assert K <= 16384\n", TRUE },
    { ASKED, "    assert K >= 16384\n", FALSE },
    { ASKED, "", FALSE },
    { ASKED, "    if N > 1:\n        assert K <= 16384\n", FALSE },
    { ASKED, "    if K > 16384 and N > 1:\n        raise ValueError(K)\n", FALSE },
    { "[128, 1]", "[64, 1]", FALSE },
    { "[128, 1]", "[256, 1]", FALSE },
    { "_reinterpret(gl.float32", "_reinterpret(gl.int32", FALSE },
    { ".index(k)", ".index(k + 1)", FALSE },
    { ".index(k)", ".index(k - 1)", FALSE },
};

static void test_places(void)
{
    static const Parts block = { BLOCK, NULL, 0, "gluon", FALSE, { NULL } };
    g_autoptr(WsProgram) p = program_of(&block);
    g_autofree char *text = ws_generate_gluon(p, FALSE, &trusting, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autoptr(GString) other = g_string_new(text);
        g_autoptr(GError) error = NULL;
        const guint changed = g_string_replace(other, places[i].from, places[i].to, 0);
        g_test_message("%s: %s, %u times", places[i].from, places[i].to, changed);
        g_assert_cmpuint(changed, >, 0);
        g_autoptr(WsImport) import =
            ws_import_text(other->str, other->len, "kernel.py", WS_IMPORT_GLUON, &error);
        g_assert_no_error(error);
        g_autofree char *gap = ws_import_gap(import);
        g_test_message("%s", gap ? gap : "read");
        if (places[i].good)
            g_assert_null(gap);
        else if (!gap) { /* or not what the check takes for right */
            g_autoptr(WsFindings) findings = ws_findings_new();
            g_autoptr(WsProgram) back = ws_elaborate(import->design, NULL, 0, findings);
            const WsCheckOptions options = { .foreign = TRUE };
            g_autoptr(WsVerdict) v = back ? ws_check(back, &options, findings) : NULL;
            g_assert_true(!v || v->kind != WS_VERDICT_PROVED);
        }
    }
}

/* Where nothing is to be cut there are no parts. */
static void test_none(void)
{
    static const Parts whole = { ONE, NULL, 0, ALL, FALSE, { NULL } };
    g_autoptr(WsProgram) p = program_of(&whole);
    g_assert_null(ws_program_split(p));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/parts/%02u/%s/%s-%d", i, parts[i].design,
                                                parts[i].constant ? parts[i].constant : "as-it-is",
                                                (int)parts[i].value);
        g_test_add_data_func(path, &parts[i], test_parts);
    }
    g_test_add_func("/import/parts/none", test_none);
    g_test_add_func("/import/parts/places", test_places);
    return g_test_run();
}
