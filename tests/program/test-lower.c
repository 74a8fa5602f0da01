/* What single rules of elaboration make of a design: one change of a shipped design each, and lines
 * that the program's text must and must not have. */

#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/forward.h"
#include "program/parts/buffer.h"
#include "program/parts/dtype.h"

#include <string.h>

typedef struct {
    const char *name, *design, *from, *to;
    const char *has[6], *lacks[3];
} Case;

#define COOP "gemm-cooperative"
static const Case cases[] = {
    { "ahead",
      COOP,
      "{ \"wait\": \"full\", \"use\": \"k.total\" },",
      "{ \"wait\": \"full\", \"use\": \"k.total\", \"ahead\": 2 },",
      { "    if cdiv(K, 64) > 0  ; groups/mma/body/0/do/0",
        "wait group full use=k.total slot=k.total % 4 parity=k.total/4 % 2 turn=k.total/4  ;",
        "    if cdiv(K, 64) > 1  ; groups/mma/body/0/do/0", "      if k + 2 < cdiv(K, 64)  ;",
        "full use=k.total + 2 slot=(k.total + 2) % 4 parity=(k.total + 2)/4 % 2" },
      { "if cdiv(K, 64) > 2" } },
    { "ahead-constant",
      COOP,
      "{ \"store_wait\": 1 },",
      "{ \"store_wait\": 1, \"ahead\": 1 },",
      { "      if s + 1 < 4 leader  ;" },
      { "if 4 > 0" } },
    { "ahead-let",
      COOP,
      "{ \"wait\": \"full\", \"use\": \"k.total\" },",
      "{ \"let\": \"kk\", \"be\": \"2*k\" }, { \"wait\": \"full\", \"use\": \"kk\", \"ahead\": 1 "
      "},",
      { "full use=0 slot=0", "let group kk be=2*k", "full use=2*(k + 1)" },
      { NULL } },
    { "drawn",
      COOP,
      "\"assume\"",
      "\"fences\": \"drawn\", \"assume\"",
      { "mma_commit" },
      { "fence_async", "mma_fence" } },
    { "drawn-fence",
      COOP,
      "\"assume\": [\"K >= 1\"]",
      "\"fences\": \"derived_no_war\", \"assume\": [\"K >= 1\"]",
      { "fence_async group  ; groups/mma/body/0/do/3/do/2#fence" },
      { NULL } },
    { "war",
      "gemm-fp8-block",
      "\"note\": \"promotion",
      "\"note\": \"x",
      { "fence_async group  ; groups/math/body/0/do/4/do/3#fence",
        "warp_sync warp  ; groups/math/body/0/do/4/do/6#warp_sync" },
      { NULL } },
    { "no-war",
      "gemm-fp8-block",
      "\"assume\"",
      "\"fences\": \"derived_no_war\", \"assume\"",
      { "fence_async group  ; groups/math/body/0/do/7#fence" },
      { "groups/math/body/0/do/4/do/3#fence" } },
    { "override",
      COOP,
      "{ \"wait\": \"empty\", \"use\": \"k.total\" },",
      "{ \"wait\": \"empty\", \"slot\": \"k % 4\", \"phase\": \"k/4\" },",
      { "wait leader empty slot=k % 4 parity=(k/4 + 1) % 2  ;" },
      { NULL } },
    { "expect",
      COOP,
      "{ \"wait\": \"empty\", \"use\": \"k.total\" },",
      "{ \"expect\": \"full\", \"bytes\": 100, \"use\": \"k.total\" },",
      { "count=1 bytes=100  ; groups/load/body/0/do/0/do/0",
        "full slots 4 pending arrivals 1 tx 100" },
      { "#expect" } },
    { "expect-only",
      COOP,
      "{ \"wait\": \"empty\", \"use\": \"k.total\" },",
      "{ \"expect\": \"full\", \"bytes\": 100, \"count\": 0, \"use\": \"k.total\" },",
      { "full slots 4 pending arrivals 1 (derived 0) tx 100" },
      { "#expect" } },
    { "arrivals",
      COOP,
      "\"slots\": \"STAGES\", \"init\": \"ready\"",
      "\"slots\": \"STAGES\", \"init\": \"ready\", \"arrivals\": 3",
      { "empty slots 4 ready arrivals 3 (derived 2)", "mbar_init leader empty slot=0 count=3" },
      { NULL } },
    { "small-group",
      COOP,
      "\"role\": \"producer\", \"warps\": 4",
      "\"role\": \"producer\", \"warps\": 1",
      { "agent load producer warps 0..0 threads 32", "threads 384 idle warps 3",
        "bar_sync group cta count=384  ; prologue#sync", "agent mma.0 consumer warps 4..7" },
      { NULL } },
    { "arrive-by-n",
      COOP,
      "{ \"mma_wait\": 0 },\n          { \"arrive\": \"empty\",",
      "{ \"mma_wait\": 0 },\n          { \"arrive\": \"empty\", \"by\": 16,",
      { "arrive warp empty use=k.total - 1 slot=(k.total - 1) % 4 turn=(k.total - 1)/4 count=16 "
        "per=8",
        "empty slots 4 ready arrivals 32" },
      { NULL } },
    { "tail",
      "gemm-cluster",
      "{ \"cluster\": \"sync\" }",
      "{ \"for\": \"s\", \"count\": 4, \"do\": [ { \"wait\": \"empty\", \"use\": \"k.total + s\" } "
      "] }",
      { "  loop s count 4 leader  ; groups/load/body/1", ".cluster  ; groups/load/body/1/do/0" },
      { NULL } },
    { "when-rank",
      "gemm-cluster",
      "\"into\": \"b.rows(cta*(BN/ctas), BN/ctas)\", \"signal\": \"full\", \"multicast\": \"all\", "
      "\"use\": \"k.total\"",
      "\"into\": \"b.rows(0, BN/ctas)\", \"signal\": \"full\", \"multicast\": \"all\", \"use\": "
      "\"k.total\", \"when\": \"cta == 0\"",
      { "if cta == 0 leader  ;", "#expect", "bytes=16384 ctas=all" },
      { NULL } },
    { "escape",
      COOP,
      "{ \"store_wait\": 0 }",
      "{ \"let\": \"x\", \"be\": 1 }, { \"store_wait\": 0 }, { \"sync\": \"group\", \"when\": \"M "
      "> "
      "x\" }",
      { "let group x be=1", "bulk_wait leader 0" },
      { "let leader" } },
    { "if-constant",
      COOP,
      "{ \"store_wait\": 0 }",
      "{ \"if\": \"BN > 8\", \"then\": [ { \"store_wait\": 0 } ], \"else\": [ { \"mma_wait\": 0 } "
      "] }",
      { "bulk_wait leader 0 retires 32?  ; groups/mma/body/1/then/0" },
      { "groups/mma/body/1/else/0" } },
    { "muted",
      COOP,
      "{ \"store_wait\": 1 },",
      "{ \"store_wait\": 1, \"muted\": true },",
      { "bulk_wait leader 0" },
      { "bulk_wait leader 1" } },
    { "id",
      COOP,
      "{ \"store_wait\": 1 },",
      "{ \"store_wait\": 1, \"id\": \"drain\" },",
      { "bulk_wait leader 1 retires 32? stay 1  ; drain" },
      { NULL } },
    { "exchange",
      "gemm-fp8-block",
      "{ \"compute\": \"d = 0\" },",
      "{ \"compute\": \"d = 0\" }, { \"read\": \"sbrow\", \"from\": \"sfb.rows(replica, 1)\" },",
      { "warp_sync warp  ; groups/math/body/0/do/3#warp_sync\n    19 ld group read sfb" },
      { NULL } },
    { "two-chunks",
      COOP,
      "\"BK\": 64, \"WM\": 64, \"STAGES\": 4",
      "\"BK\": 128, \"WM\": 64, \"STAGES\": 2",
      { "bytes=98304  ; groups/load/body/0/do/0/do/1#expect",
        "tensor A map 0 at [tm*128, k*128 + 64] write a.rows(0, 128).cols(64, 64) stage=k.total % "
        "2 "
        "bytes 16384+16384  ; groups/load/body/0/do/0/do/1#box1",
        "a(start 0 lbo 16 sbo 1024 swizzle 128 k 0,32,64,96,16384,16416,16448,16480)",
        "b(start 0 lbo 16 sbo 1024 swizzle 128 k 0,32,64,96,32768,32800,32832,32864)" },
      { NULL } },
    { "transposed",
      "attention-fa3-causal",
      "\"note\": \"keys",
      "\"note\": \"x",
      { "a=registers b(start 0 lbo 16384 sbo 1024 swizzle 128 transposed k "
        "0,2048,4096,6144,8192,10240,12288,14336)" },
      { NULL } },
    { "half-tile",
      "sparse-mla-seesaw",
      "\"note\": \"",
      "\"note\": \"x",
      { "a(start 32768 lbo 16 sbo 1024 swizzle 128 k 0,32,64,96,8192,8224" },
      { NULL } },
};

static void test_case(gconstpointer data)
{
    const Case *c = data;
    g_autofree char *file =
        g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, c->design);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    char *at = strstr(text, c->from);
    g_assert_nonnull(at);
    *at = '\0';
    g_autofree char *changed = g_strconcat(text, c->to, at + strlen(c->from), NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(changed, strlen(changed), c->design, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *all = ws_findings_print(findings, c->design);
        g_test_message("%s", all);
        g_test_fail();
        return;
    }
    g_autofree char *print = ws_program_print(p);
    for (guint i = 0; i < G_N_ELEMENTS(c->has) && c->has[i]; i++)
        if (!strstr(print, c->has[i])) {
            g_test_message("missing: %s\nin:\n%s", c->has[i], print);
            g_test_fail();
        }
    for (guint i = 0; i < G_N_ELEMENTS(c->lacks) && c->lacks[i]; i++)
        if (strstr(print, c->lacks[i])) {
            g_test_message("unwanted: %s\nin:\n%s", c->lacks[i], print);
            g_test_fail();
        }
}

/* --- byte ranges ---------------------------------------------------------------------------- */

static void test_ranges(void)
{
    WsBuffer b = { .dtype = WS_DTYPE_BF16,
                   .rank = 2,
                   .rows = 64,
                   .cols = 256,
                   .swizzle = 128,
                   .chunk_cols = 64,
                   .row_bytes = 128,
                   .chunk_bytes = 8192 };
    WsRange r[8];
    g_assert_cmpuint(ws_buffer_ranges(&b, 0, 64, 0, 256, r, 8), ==, 1);
    g_assert_cmpuint(r[0].bytes, ==, 32768);
    g_assert_cmpuint(ws_buffer_ranges(&b, 16, 8, 64, 128, r, 8), ==, 2);
    g_assert_cmpuint(r[0].offset, ==, 8192 + 16 * 128);
    g_assert_cmpuint(r[1].offset, ==, 16384 + 16 * 128);
    g_assert_cmpuint(r[1].bytes, ==, 1024);
    /* half a chunk: one range per row; only `max` are filled */
    r[3].bytes = 77;
    g_assert_cmpuint(ws_buffer_ranges(&b, 0, 64, 0, 32, r, 3), ==, 64);
    g_assert_cmpuint(r[2].offset, ==, 256);
    g_assert_cmpuint(r[2].bytes, ==, 64);
    g_assert_cmpuint(r[3].bytes, ==, 77);
    g_assert_cmpuint(ws_buffer_offset(&b, 3, 70), ==, 8192 + 3 * 128 + 12);
    WsBuffer padded = { .dtype = WS_DTYPE_F32,
                        .rank = 2,
                        .rows = 4,
                        .cols = 8,
                        .pad = 16,
                        .chunk_cols = 8,
                        .row_bytes = 48,
                        .chunk_bytes = 192 };
    g_assert_cmpuint(ws_buffer_ranges(&padded, 0, 4, 0, 8, r, 8), ==, 4);
    g_assert_cmpuint(r[1].offset, ==, 48);
    g_assert_cmpuint(r[1].bytes, ==, 32);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/program/lower/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/program/ranges", test_ranges);
    return g_test_run();
}
