/* What arithmetic on 16-bit values gives in Triton: numbers are rounded to the type of the tile,
 * and so is what is computed, where nothing makes it f32. */
#include "import/import.h"
#include "model/design.h"

#include <glib.h>
#include <string.h>

static const struct {
    const char *source, *read; /* NULL: not read */
    const char *granted;       /* a part of what is taken for granted; NULL: nothing of that kind */
} rows[] = {
    { "tile * 1.7", "bf16(tile*bf16(1.7))", NULL },
    { "1.7 - tile", "bf16(bf16(1.7) - tile)", NULL },
    { "tile * 2.0", "bf16(tile*2.0)", NULL }, /* bf16 holds it */
    { "tile + 255", "bf16(tile + 255)", NULL },
    { "tile + 257", "bf16(tile + bf16(257))", NULL },
    { "tile * -0.3", "bf16(tile*bf16(-0.3))", NULL },
    { "tile + 1e-30", "bf16(tile + bf16(1e-30))", NULL },
    { "tile * tile + tile", "bf16(bf16(tile*tile) + tile)", NULL },
    { "tile * (tile + 0.3)", "bf16(tile*bf16(tile + bf16(0.3)))", NULL },
    { "(tile / 1.7) * tile", "tile/1.7*tile", NULL }, /* quotients are f32 */
    { "tile * 1.7 / 3", "bf16(tile*bf16(1.7))/3", NULL },
    { "tl.where(tile > 0.3, tile, 0.7)", "bf16(select(tile > bf16(0.3), tile, bf16(0.7)))", NULL },
    { "tl.where(tile > 0.3, tile.to(tl.float32), 0.7)", "select(tile > bf16(0.3), f32(tile), 0.7)",
      NULL },
    { "tl.maximum(tile, 0.3)", "max(tile, 0.3)", NULL },
    { "tl.minimum(0.3, tile)", "min(0.3, tile)", NULL },
    { "tl.abs(tile) * 0.3", "bf16(abs(tile)*bf16(0.3))", NULL },
    { "tile * tl.max(tile, 1)[:, None]", "tile*rowmax(tile)", NULL }, /* which is f32 */
    { "tile * tl.sum(tile, 1)[:, None]", "bf16(tile*bf16(rowsum(tile)))",
      "sums of values of bf16" },
    { "tile * tl.sum(tile.to(tl.float32), 1)[:, None]", "tile*rowsum(f32(tile))", NULL },
    { "tile.to(tl.float16) * 1.7", "f16(f16(tile)*f16(1.7))", NULL },
    { "tile.to(tl.float16) * 2047", "f16(f16(tile)*2047)", NULL },
    { "tile.to(tl.float16) * 2049", "f16(f16(tile)*f16(2049))", NULL },
    { "tile.to(tl.float16) * tile", "f16(f16(tile)*f16(tile))", NULL }, /* the half prevails */
    { "tile.to(tl.float32) * 1.7", "f32(tile)*1.7", NULL },
    { "(tile * 1.7).to(tl.bfloat16)", "bf16(tile*bf16(1.7))", NULL },
    { "(tile * 1.7).to(tl.float16)", "f16(bf16(tile*bf16(1.7)))", NULL },
    { "tl.maximum(tile, 0.3) * 1.7", "max(tile, 0.3)*1.7", NULL },
    { "tl.where(tile > 0.3, tile, float('-inf')) * 1.7",
      "bf16(select(tile > bf16(0.3), tile, bf16(-inf))*bf16(1.7))", NULL },
    { "tl.fma(tile, tile, tile)", NULL, NULL }, /* rounded once */
    { "(tile > 0.3) + (tile > 0.7)", NULL, NULL },
    { "tile.to(tl.int8) * 2", NULL, NULL },
    { "tile.to(tl.float8e4nv) * 2.0", NULL, NULL },
    { "tile % 3.0", NULL, NULL },
};

static WsImport *import(const char *with)
{
    g_autofree char *path =
        g_build_filename(WS_SOURCE_ROOT, "tests/import/tle/names/scale.py", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    GString *s = g_string_new(text);
    g_assert_cmpuint(g_string_replace(s, "    doubled = tile * 2.0\n", with, 0), ==, 1);
    WsImport *read = ws_import_text(s->str, s->len, "kernel.py", WS_IMPORT_TLE, NULL);
    g_string_free(s, TRUE);
    g_assert_nonnull(read);
    return read;
}

static void arithmetic(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *line = g_strdup_printf("    doubled = %s\n", rows[i].source);
        g_autoptr(WsImport) read = import(line);
        g_autofree char *design = ws_design_print(read->design);
        g_autofree char *want = g_strdup_printf("\"doubled = %s\"", rows[i].read);
        if (!rows[i].read ? strstr(design, "\"doubled = ") != NULL : !strstr(design, want))
            g_test_message("%s: %s", rows[i].source, design), g_test_fail();
        g_assert_cmpint(strstr(design, "sums of values of") != NULL, ==, rows[i].granted != NULL);
        g_assert_true(!rows[i].granted || strstr(design, rows[i].granted));
    }
}

/* A name has the type of what it was set to, over loops and branches too. */
static void names(void)
{
    static const struct {
        const char *lines, *read, *not_read;
    } kin[] = {
        { "    y1 = tile * 0.3\n    doubled = y1 + 0.7\n", "doubled = bf16(y1 + bf16(0.7))", NULL },
        { "    y1 = tile.to(tl.float32)\n    doubled = y1 + 0.7\n", "doubled = y1 + 0.7", NULL },
        { "    y1 = tile / 3\n    doubled = y1 + 0.7\n", "doubled = y1 + 0.7", NULL },
        { "    doubled = tile\n    for k in range(steps):\n        doubled = tl.where(doubled > "
          "0.7, doubled * 0.3, 0.7)\n",
          "bf16(select(doubled > bf16(0.7), bf16(doubled*bf16(0.3)), bf16(0.7)))", NULL },
        { "    y1 = tl.zeros([128, 64], tl.bfloat16)\n    doubled = y1 + tile * 0.3\n",
          "bf16(bf16(0.0) + bf16(tile*bf16(0.3)))", NULL },
        { "    doubled = tile\n    if row > 128:\n        doubled = tile.to(tl.float32)\n"
          "    doubled = doubled * 0.3\n",
          NULL, "doubled*" }, /* of either type */
    };
    for (guint i = 0; i < G_N_ELEMENTS(kin); i++) {
        g_autoptr(WsImport) read = import(kin[i].lines);
        g_autofree char *design = ws_design_print(read->design);
        if ((kin[i].read && !strstr(design, kin[i].read)) ||
            (kin[i].not_read && strstr(design, kin[i].not_read)))
            g_test_message("%s: %s", kin[i].lines, design), g_test_fail();
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/types/arithmetic", arithmetic);
    g_test_add_func("/import/types/names", names);
    return g_test_run();
}
