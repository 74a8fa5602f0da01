/* Designs -> PTX -> import: what comes back has the groups, mbarriers, expected bytes and the
 * verdict of the design. All shipped designs and some of tests/designs in the slow list. */
#include "../import/judged.h"
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op_kind.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every mbarrier that is used, by slots, arrivals and beginning; and what is expected at once. */
static char *barriers_of(const WsProgram *p)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
    for (guint b = 0; b < p->n_barriers; b++) {
        const WsBarrier *x = &p->barrier[b];
        for (guint e = 0; x->kind == WS_BARRIER_MBARRIER && e < MAX(x->array, 1); e++)
            g_ptr_array_add(list, g_strdup_printf("%ux%u%s", (guint)x->slots, (guint)x->arrivals[e],
                                                  x->ready[e] ? " ready" : ""));
    }
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_MBAR_EXPECT) {
            char *bytes = g_strdup_printf("expects %" G_GINT64_FORMAT, p->op[i]->bytes);
            if (g_ptr_array_find_with_equal_func(list, bytes, g_str_equal, NULL))
                g_free(bytes);
            else
                g_ptr_array_add(list, bytes);
        }
    g_ptr_array_sort(list, by_text);
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < list->len; i++)
        g_string_append_printf(s, "%s%s", i ? ", " : "", (char *)g_ptr_array_index(list, i));
    return g_string_free(s, FALSE);
}

static guint count(const WsProgram *p, WsOpKind kind)
{
    guint n = 0;
    for (guint i = 0; i < p->n_ops; i++)
        n += p->op[i]->kind == kind;
    return n;
}

static const struct {
    const char *file;
    gboolean quick;
} designs[] = {
    { "projects/gemm-bf16", TRUE },
    { "projects/gemm-bf16-balanced", FALSE },
    { "projects/gemm-bf16-cluster2", TRUE },
    { "projects/gemm-bf16-deferred", FALSE },
    { "projects/gemm-bf16-pingpong", FALSE },
    { "projects/gemm-bf16-single", TRUE },
    { "projects/gemm-bf16-splitk", FALSE },
    { "projects/gemm-fp16", FALSE },
    { "projects/gemm-fp8", FALSE },
    { "projects/gemm-fp8-block", FALSE },
    { "projects/gemm-fp8-block-pair", FALSE },
    { "projects/own-kernel", FALSE },
    { "projects/attention-d128-full", FALSE },
    { "projects/attention-d128", FALSE },
    { "projects/attention-d64", FALSE },
    { "projects/attention-d256", FALSE },
};

static void test_design(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, designs[i].file, "design.wstave", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) ours = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autofree char *says = ws_findings_print(findings, file);
    if (!ours)
        g_test_message("%s", says);
    g_assert_nonnull(ours);
    g_autoptr(WsVerdict) verdict = ws_check(ours, NULL, findings);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(ours, NULL, &error);
    g_assert_no_error(error);
    g_auto(Judged) back = judge_kernel(ptx, WS_IMPORT_PTX);
    g_assert_cmpint(verdict->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *is = barriers_of(back.program), *was = barriers_of(ours);
    g_assert_cmpstr(is, ==, was);
    g_assert_cmpint(back.program->n_agents, ==, ours->n_agents);
    g_assert_cmpuint(back.program->threads, ==, ours->threads);
    g_assert_cmpuint(count(back.program, WS_OP_MMA), >=, count(ours, WS_OP_MMA));
    g_assert_cmpuint(count(back.program, WS_OP_RAW), ==, 0);
    g_assert_cmpint(back.verdict->kind, ==, WS_VERDICT_PROVED);
}

/* Small designs whose PTX comes back proved: boxes smaller than their places, sums that begin
 * behind the fence, one warp of a group alone at a named barrier. */
static const char *const small[] = {
    "waits/parts",
    "waits/operand",
    "waits/both-branches",
    "waits/stores-two-stages",
    "memory/copy-sender-waits-for-the-end",
    "catalogue/C44-one-warp-more-in-a-generation",
    "moves/gemm-back-matrix", /* a ring of 3 slots */
    "moves/gemm-scales",
    "attack/two-stores-two-left", /* the other one of two slots, by an exclusive or */
    "catalogue/C07-priming-on-the-own-id",
    "catalogue/C22-arrive-without-a-sync",
    "memory/exchange-accumulator", /* lanes read what they stored */
    "memory/exchange-quads",
    "memory/operand-of-two-products", /* the left operand of one in flight is that of the next */
    "memory/operand-of-the-round-before",
    "memory/ring-of-two-freed-by-the-receiver", /* a copy is no contribution beside its expect */
};

static void test_small(gconstpointer data)
{
    g_autofree char *file =
        g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, (const char *)data);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) ours = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(ours);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(ours, NULL, &error);
    g_assert_no_error(error);
    g_auto(Judged) back = judge_kernel(ptx, WS_IMPORT_PTX);
    g_assert_cmpint(back.verdict->kind, ==, WS_VERDICT_PROVED);
}

/* A row of a box less than its place, and than what products read there, is expected: how large the
 * box is nobody knows, so it is not judged. */
static void test_box(void)
{
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) ours = ws_elaborate(design, NULL, 0, findings);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(ours, NULL, &error);
    g_autoptr(GRegex) bytes = g_regex_new("49152;", 0, 0, &error);
    g_autofree char *row = g_regex_replace(bytes, ptx, -1, 0, "49024;", 0, &error);
    g_autofree char *odd = g_regex_replace(bytes, ptx, -1, 0, "49151;", 0, &error);
    g_assert_cmpstr(row, !=, ptx);
    g_auto(Judged) less = judge_kernel(row, WS_IMPORT_PTX);
    g_auto(Judged) never = judge_kernel(odd, WS_IMPORT_PTX);
    g_assert_cmpint(less.verdict->kind, ==, WS_VERDICT_OUTSIDE);
    g_assert_cmpint(never.verdict->kind, ==, WS_VERDICT_REFUTED);
}

static char *ptx_of(const char *name)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, name, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) ours = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(ours);
    g_autoptr(GError) error = NULL;
    char *ptx = ws_generate_ptx(ours, NULL, &error);
    g_assert_no_error(error);
    return ptx;
}

/* Exports with one thing changed. */
#define CLAIMS   "projects/attention-d128/design.wstave"
#define NEXT     "\\s*// begin inline asm\\s*// "
#define COUNT    "atom\\.global\\.inc\\.u32 (%r\\d+, \\[%rd\\d+\\]), (%r\\d+);"
#define C22      "tests/designs/catalogue/C22-arrive-without-a-sync.wstave"
#define EXCHANGE "tests/designs/memory/exchange-accumulator.wstave"
#define MET      "bar\\.warp\\.sync 0xffffffff;"
#define READ     "ld\\.shared\\.v2\\.b32 [^;]*\\[%r\\d+"
static const struct {
    const char *title, *design, *pattern, *by;
    WsVerdictKind is;
} changed[] = {
    { "claims", CLAIMS, COUNT, "\\0", WS_VERDICT_PROVED },
    { "adds-one", CLAIMS, COUNT, "atom.global.add.u32 \\1, 1;", WS_VERDICT_PROVED },
    { "adds-two", CLAIMS, COUNT, "atom.global.add.u32 \\1, 2;", WS_VERDICT_OUTSIDE },
    { "counts-down", CLAIMS, COUNT, "atom.global.dec.u32 \\1, \\2;", WS_VERDICT_OUTSIDE },
    { "counts-for-the-cta", CLAIMS, COUNT, "atom.global.cta.inc.u32 \\1, \\2;",
      WS_VERDICT_OUTSIDE },
    { "counts-twice", CLAIMS, COUNT, "\\0\n\\0", WS_VERDICT_OUTSIDE },
    { "begins-anew-too-late", CLAIMS, ", -1;(" NEXT "groups/load/body/0/do/6\\s)", ", 0;\\1",
      WS_VERDICT_OUTSIDE },
    { "takes-what-lies-beside", CLAIMS, ", 229376;(" NEXT "groups/mma/body/1/do/22\\s)",
      ", 229380;\\1", WS_VERDICT_REFUTED },
    { "takes-an-mbarrier", CLAIMS, ", 229376;(" NEXT "groups/mma/body/1/do/22\\s)", ", 229384;\\1",
      WS_VERDICT_OUTSIDE },
    { "one-warp-less", CLAIMS, "(mov\\.b32 \t%r\\d+), 8;(" NEXT "barriers/next_empty)",
      "\\1, 7;\\2", WS_VERDICT_REFUTED },
    { "the-same-slot", "tests/designs/attack/two-stores-two-left.wstave",
      "(xor\\.b32 \t%r\\d+, %r\\d+), 8;", "\\1, 0;", WS_VERDICT_REFUTED },
    { "no-slot", "tests/designs/attack/two-stores-two-left.wstave",
      "(xor\\.b32 \t%r\\d+, %r\\d+), 8;", "\\1, 4;", WS_VERDICT_OUTSIDE },
    { "handed-on-never", "tests/designs/catalogue/C07-priming-on-the-own-id.wstave",
      "(groups/math/body/0\\s)\\s*bar\\.arrive 1, 256;", "\\1", WS_VERDICT_REFUTED },
    { "handed-on-by-a-register", C22, "bar\\.arrive 2, 256;",
      "{ .reg .b32 q; mov.b32 q, 2; bar.arrive q, 256; }", WS_VERDICT_OUTSIDE },
    { "named-15", C22, "(arrive|sync) 1,", "\\1 15,", WS_VERDICT_PROVED },
    { "named-16", C22, "(arrive|sync) 1,", "\\1 16,", WS_VERDICT_OUTSIDE },
    { "named-16-of-all", C22, "bar\\.sync 0, 256;", "bar.sync 16, 256;", WS_VERDICT_OUTSIDE },
    { "named-below-0", C22, "(arrive|sync) 1,", "\\1 -1,", WS_VERDICT_OUTSIDE },
    { "named-of-nobody", C22, "bar\\.(arrive|sync) 1, 256;", "bar.\\1 1, 0;", WS_VERDICT_OUTSIDE },
    { "without-a-dot", EXCHANGE, "(shl\\.b32 \t(%r\\d+), %r\\d+, \\d+;)", "\\1 twist \\2, \\2, 1;",
      WS_VERDICT_OUTSIDE },
    { "reads-its-neighbour-s", EXCHANGE, "(" MET "[\\s\\S]*?" READ ")\\]", "\\1+8]",
      WS_VERDICT_PROVED },
    { "reads-its-neighbour-s-before-the-warp-met", EXCHANGE, MET "([\\s\\S]*?" READ ")\\]",
      "\\1+8]", WS_VERDICT_OUTSIDE },
    { "reads-another-warp-s", EXCHANGE, "(" MET "[\\s\\S]*?" READ ")\\]", "\\1+2048]",
      WS_VERDICT_OUTSIDE },
    { "two-lanes-at-the-same-bytes", "tests/designs/memory/exchange-quads.wstave",
      "(bfe\\.u32 \t%r\\d+, %r\\d+), 2, 3;", "\\1, 2, 2;", WS_VERDICT_OUTSIDE },
    { "two-quads-at-the-same-bytes", "tests/designs/memory/exchange-quads.wstave",
      "(bfe\\.u32 \t%r\\d+, %r\\d+), 2, 3;", "\\1, 3, 3;", WS_VERDICT_OUTSIDE },
    { "count-of-another-way", "projects/gemm-bf16-cluster2/design.wstave",
      "(mma/body/0/do/0/do/3\\s[\\s\\S]*?\\[ra\\], (%r\\d+);[\\s\\S]*?mma/body/0/do/2\\s"
      "[\\s\\S]*?\\[ra\\], )%r\\d+;",
      "\\1\\2;", WS_VERDICT_OUTSIDE },
    { "parity-below-0", "projects/attention-d128-full/design.wstave",
      "bfe\\.u32 \t(%r\\d+), %r\\d+, 1, 1;", "\\0 neg.s32 \\1, \\1;", WS_VERDICT_OUTSIDE },
    { "register-of-a-product-in-flight", "projects/gemm-bf16-deferred/design.wstave",
      "\\{%r\\d+, (%r\\d+), [^}]*\\}, %rd[^}]*wgmma\\.wait_group\\.sync\\.aligned 1;",
      "\\0 add.s32 \\1, 1, 2;", WS_VERDICT_REFUTED },
    /* lanes read, and the first one says that all have: a race, which was proved */
    { "lanes-not-waited-for", "projects/gemm-fp8-block/design.wstave",
      "bar\\.warp\\.sync 0xffffffff;", "", WS_VERDICT_OUTSIDE },
};

/* Everywhere; it stands somewhere. */
static char *replaced(const char *text, const char *from, const char *to)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GRegex) pattern = g_regex_new(from, 0, 0, &error);
    g_assert_no_error(error);
    g_assert_true(g_regex_match(pattern, text, 0, NULL));
    char *changed_text = g_regex_replace(pattern, text, -1, 0, to, 0, &error);
    g_assert_no_error(error);
    return changed_text;
}

static void test_changed(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *ptx = ptx_of(changed[i].design);
    g_autofree char *text = replaced(ptx, changed[i].pattern, changed[i].by);
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), ==, changed[i].is);
}

/* Rings whose slots LLVM counts by a product and a shift, with another product or shift. A product
 * that is right below 2^31 is a quotient, whatever its number is. */
#define THIRD  "-1431655765"
#define HIGH   "mul\\.hi\\.u32 \t(%r\\d+), (%r\\d+), "
#define SLOT   "add\\.s32 \t(%r\\d+), %r\\d+, 69656;"
#define PARITY "bfe\\.u32 \t(%r\\d+), (%r\\d+), 1, 1;"
#define WIDE(by, shift)                                                                            \
    "{ .reg .b64 q; cvt.u64.u32 q, \\2; mul.lo.s64 q, q, " by "; shr.u64 q, q, " shift             \
    "; cvt.u32.u64 \\1, q; }"
/* A slot plus what an instruction makes of q = -1 and a number: both are 0, or a race. */
#define PLUS(makes, more)                                                                          \
    "\\0 { .reg .b32 q, z; .reg .b64 d; .reg .pred p; mov.b32 q, -1; " makes                       \
    "; add.s32 z, z, " more "; add.s32 \\1, \\1, "                                                 \
    "z; }"
static const struct {
    const char *title, *stages, *from, *to;
    gboolean right;
} rings[] = {
    { "3", "3", NULL, NULL, TRUE },
    { "5", "5", NULL, NULL, TRUE },
    { "6", "6", NULL, NULL, TRUE },
    { "7", "7", NULL, NULL, TRUE }, /* 33 bits: a half of a difference is added */
    { "3-one-more", "3", THIRD, "-1431655764", TRUE },
    { "3-two-more", "3", THIRD, "-1431655763", FALSE },
    { "3-one-less", "3", THIRD, "-1431655766", FALSE },
    { "3-of-5", "3", THIRD, "-858993459", FALSE },
    { "3-other-shift", "3",
      "(mul\\.hi\\.u32 \t(%r\\d+), %r\\d+, " THIRD ";\\s*shr\\.u32 \t%r\\d+, \\2), 1", "\\1, 2",
      FALSE },
    { "3-other-bit", "3", "(bfe\\.u32 \t%r\\d+, %r\\d+), 1, 1", "\\1, 2, 1", FALSE },
    { "3-signed", "3", "mul\\.hi\\.u32 \t(%r\\d+, %r\\d+), " THIRD, "mul.hi.s32 \t\\1, " THIRD,
      FALSE },
    /* numbers of an instruction's own type */
    { "3-hexadecimal", "3", THIRD, "0xAAAAAAAB", TRUE },
    { "3-signed-hexadecimal", "3", HIGH THIRD, "mul.hi.s32 \t\\1, \\2, 0xAAAAAAAB", FALSE },
    { "3-signed-decimal", "3", HIGH THIRD, "mul.hi.s32 \t\\1, \\2, 2863311531", FALSE },
    { "3-signed-register", "3", HIGH THIRD,
      "{ .reg .b32 q; mov.u32 q, 0xAAAAAAAB; mul.hi.s32 \\1, \\2, q; }", FALSE },
    { "3-signed-that-is-above-0", "3", HIGH THIRD,
      "mul.hi.s32 \\1, \\2, 1431655766; shl.b32 \\1, \\1, 1", TRUE },
    { "3-in-64-bits", "3", HIGH THIRD, WIDE("5726623062", "33"), TRUE },
    { "3-in-64-bits-that-wrap", "3", HIGH THIRD, WIDE("93824992236886", "47"), FALSE },
    { "3-in-64-bits-that-wrap-late", "3", HIGH THIRD, WIDE("366503875926", "39"), FALSE },
    { "3-turned-by-xor", "3", "not\\.b32 \t(%r\\d+, %r\\d+);", "xor.b32 \\1, 0xFFFFFFFF;", TRUE },
    { "3-turned-by-half-an-xor", "3", "not\\.b32 \t(%r\\d+, %r\\d+);", "xor.b32 \\1, 0x7FFFFFFF;",
      FALSE },
    { "3-top-bit-flipped", "3", SLOT, "\\0 xor.b32 \\1, \\1, 0x80000000;", FALSE },
    { "3-bit-30-flipped", "3", SLOT, "\\0 xor.b32 \\1, \\1, 0x40000000;", FALSE },
    { "3-parity-with-the-top-bit", "3", PARITY, "\\0 xor.b32 \\1, \\1, 0x80000000;", FALSE },
    { "3-parity-cut-by-and", "3", PARITY, "shr.s32 \\1, \\2, 1; and.b32 \\1, \\1, 1;", TRUE },
    { "3-parity-not-cut", "3", PARITY, "shr.s32 \\1, \\2, 1;", FALSE },
    { "3-high-product-of-a-number", "3", SLOT, PLUS("mul.hi.u32 z, q, 8", "-7"), TRUE },
    { "3-high-product-taken-for-signed", "3", SLOT, PLUS("mul.hi.u32 z, q, 8", "1"), FALSE },
    { "3-field-of-a-number", "3", SLOT, PLUS("bfe.u32 z, q, 28, 4", "-15"), TRUE },
    { "3-field-beyond-32-bits", "3", SLOT, PLUS("bfe.u32 z, q, 28, 8", "-255"), FALSE },
    /* q is -1: of each pair the first makes 0 of it */
    { "3-of-below-0-high-half-of-two", "3", SLOT,
      PLUS("mov.b64 d, {q, 1}; shr.u64 d, d, 32; cvt.u32.u64 z, d", "-1"), TRUE },
    { "3-of-below-0-not-high-half-of-two", "3", SLOT,
      PLUS("mov.b64 d, {q, 1}; shr.u64 d, d, 32; cvt.u32.u64 z, d", "0"), FALSE },
    { "3-of-below-0-field-of-64-bits", "3", SLOT,
      PLUS("cvt.s64.s32 d, q; bfe.u64 d, d, 28, 8; cvt.u32.u64 z, d", "-255"), TRUE },
    { "3-of-below-0-not-field-of-64-bits", "3", SLOT,
      PLUS("cvt.s64.s32 d, q; bfe.u64 d, d, 28, 8; cvt.u32.u64 z, d", "-15"), FALSE },
    { "3-of-below-0-quotient", "3", SLOT, PLUS("div.u32 z, q, 4", "-1073741823"), TRUE },
    { "3-of-below-0-not-quotient", "3", SLOT, PLUS("div.u32 z, q, 4", "1"), FALSE },
    { "3-of-below-0-remainder", "3", SLOT, PLUS("rem.u32 z, q, 10", "-5"), TRUE },
    { "3-of-below-0-not-remainder", "3", SLOT, PLUS("rem.u32 z, q, 10", "-9"), FALSE },
    { "3-of-below-0-shift", "3", SLOT, PLUS("shr.u32 z, q, 28", "-15"), TRUE },
    { "3-of-below-0-not-shift", "3", SLOT, PLUS("shr.u32 z, q, 28", "1"), FALSE },
    { "3-of-below-0-shift-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; shr.s32 z, q, 28", "1"), TRUE },
    { "3-of-below-0-not-shift-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; shr.s32 z, q, 28", "-15"), FALSE },
    { "3-of-below-0-least", "3", SLOT, PLUS("min.u32 z, q, 4", "-4"), TRUE },
    { "3-of-below-0-not-least", "3", SLOT, PLUS("min.u32 z, q, 4", "1"), FALSE },
    { "3-of-below-0-greatest", "3", SLOT, PLUS("mov.u32 q, 0xFFFFFFFF; max.s32 z, q, 0", "0"),
      TRUE },
    { "3-of-below-0-not-greatest", "3", SLOT, PLUS("mov.u32 q, 0xFFFFFFFF; max.s32 z, q, 0", "1"),
      FALSE },
    { "3-of-below-0-wide-product", "3", SLOT,
      PLUS("mul.wide.u32 d, q, 2; shr.u64 d, d, 32; cvt.u32.u64 z, d", "-1"), TRUE },
    { "3-of-below-0-not-wide-product", "3", SLOT,
      PLUS("mul.wide.u32 d, q, 2; shr.u64 d, d, 32; cvt.u32.u64 z, d", "1"), FALSE },
    { "3-of-below-0-wide-product-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; mul.wide.s32 d, q, 2; shr.s64 d, d, 32; cvt.u32.u64 z, d", "1"),
      TRUE },
    { "3-of-below-0-not-wide-product-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; mul.wide.s32 d, q, 2; shr.s64 d, d, 32; cvt.u32.u64 z, d", "-1"),
      FALSE },
    { "3-of-below-0-high-product-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; mul.hi.s32 z, q, 8", "1"), TRUE },
    { "3-of-below-0-not-high-product-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; mul.hi.s32 z, q, 8", "-7"), FALSE },
    { "3-of-below-0-widened", "3", SLOT,
      PLUS("cvt.u64.u32 d, q; shr.u64 d, d, 32; cvt.u32.u64 z, d", "0"), TRUE },
    { "3-of-below-0-not-widened", "3", SLOT,
      PLUS("cvt.u64.u32 d, q; shr.u64 d, d, 32; cvt.u32.u64 z, d", "1"), FALSE },
    { "3-of-below-0-widened-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; cvt.s64.s32 d, q; shr.s64 d, d, 32; cvt.u32.u64 z, d", "1"),
      TRUE },
    { "3-of-below-0-not-widened-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; cvt.s64.s32 d, q; shr.s64 d, d, 32; cvt.u32.u64 z, d", "0"),
      FALSE },
    { "3-of-below-0-sum-of-a-product", "3", SLOT, PLUS("mad.lo.u32 z, q, 2, 3", "-1"), TRUE },
    { "3-of-below-0-not-sum-of-a-product", "3", SLOT, PLUS("mad.lo.u32 z, q, 2, 3", "1"), FALSE },
    { "3-of-below-0-comparison", "3", SLOT,
      PLUS("setp.lt.u32 p, q, 4; selp.b32 z, 1024, 0, p", "0"), TRUE },
    { "3-of-below-0-not-comparison", "3", SLOT,
      PLUS("setp.lt.u32 p, q, 4; selp.b32 z, 1024, 0, p", "-1024"), FALSE },
    { "3-of-below-0-comparison-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; setp.lt.s32 p, q, 4; selp.b32 z, 1024, 0, p", "-1024"), TRUE },
    { "3-of-below-0-not-comparison-with-a-sign", "3", SLOT,
      PLUS("mov.u32 q, 0xFFFFFFFF; setp.lt.s32 p, q, 4; selp.b32 z, 1024, 0, p", "0"), FALSE },
    { "3-of-below-0-equal", "3", SLOT,
      PLUS("setp.eq.u32 p, q, 4294967295; selp.b32 z, 1024, 0, p", "-1024"), TRUE },
    { "3-of-below-0-not-equal", "3", SLOT,
      PLUS("setp.eq.u32 p, q, 4294967295; selp.b32 z, 1024, 0, p", "0"), FALSE },
    { "3-greatest-held", "3", SLOT,
      PLUS("max.u32 q, \\1, 0xFFFFFFFF; setp.lt.s32 p, q, 0; selp.b32 z, 1024, 0, p", "0"), FALSE },
    { "3-chosen-held", "3", SLOT,
      PLUS("setp.ge.s32 p, \\1, 0; selp.u32 q, 0xFFFFFFFF, 0, p; setp.lt.s32 p, q, 0; selp.b32 z, "
           "1024, 0, p",
           "0"),
      FALSE },
    { "3-cut-below-0", "3", SLOT,
      PLUS("sub.s32 q, 5, \\1; and.b32 q, q, 0x7FFFFFFF; setp.gt.s32 p, q, 5; selp.b32 z, 1024, 0, "
           "p",
           "0"),
      FALSE },
    { "3-high-half-of-below-0", "3", SLOT,
      PLUS("sub.s32 q, 5, \\1; cvt.s64.s32 d, q; mov.b64 {q, z}, d", "0"), FALSE },
    { "3-funnel", "3", SLOT, PLUS("shf.r.wrap.b32 z, q, 0, 28; add.s32 z, z, 1", "0"), FALSE },
    { "3-permuted", "3", SLOT, PLUS("prmt.b32 z, q, 0, 0x4440; add.s32 z, z, 1", "0"), FALSE },
    { "3-lop3", "3", SLOT, PLUS("lop3.b32 z, q, 15, 0, 0xC0; sub.s32 z, z, 16", "0"), FALSE },
    { "3-high-sum", "3", SLOT, PLUS("mad.hi.u32 z, q, 8, 1", "0"), FALSE },
    { "3-distance", "3", SLOT, PLUS("sad.u32 z, q, 0, 0; sub.s32 z, z, 1", "0"), FALSE },
    { "7-no-half", "7", "shr\\.u32 \t(%r\\d+, %r\\d+), 1;", "shr.u32 \t\\1, 0;", FALSE },
    { "7-one-less", "7", "613566757", "613566756", FALSE },
    { "7-other-shift", "7", "(add\\.s32 \t(%r\\d+), %r\\d+, %r\\d+;\\s*shr\\.u32 \t%r\\d+, \\2), 2",
      "\\1, 3", FALSE },
};

static void test_ring(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "tests/designs/moves/gemm-back-matrix.wstave", NULL);
    g_autofree char *stages =
        g_strdup_printf("\"BN\": 32, \"BK\": 64, \"WM\": 64, \"STAGES\": %s", rings[i].stages);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_autofree char *deep =
        replaced(text, "\"BN\": 64, \"BK\": 64, \"WM\": 64, \"STAGES\": 3", stages);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(deep, strlen(deep), NULL, findings);
    g_autoptr(WsProgram) ours = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(ours);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(ours, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *changed_one = rings[i].from ? replaced(ptx, rings[i].from, rings[i].to) : NULL;
    const WsVerdictKind is = verdict_of(changed_one ? changed_one : ptx, WS_IMPORT_PTX);
    if (rings[i].right)
        g_assert_cmpint(is, ==, WS_VERDICT_PROVED);
    else
        g_assert_cmpint(is, !=, WS_VERDICT_PROVED);
}

static gboolean grants(const WsImport *import, const char *what)
{
    for (guint i = 0; i < import->granted->len; i++)
        if (strstr(import->granted->pdata[i], what))
            return TRUE;
    return FALSE;
}

/* A loop over tiles that nothing guards makes a round without a tile where there are more CTAs than
 * tiles: that there are not is among what the proof builds on. */
static void test_unguarded(void)
{
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) ours = ws_elaborate(design, NULL, 0, findings);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(ours, NULL, &error);
    g_autoptr(GRegex) guard =
        g_regex_new("setp\\.ge\\.s32 \t(%p\\d+), %r\\d+, %r\\d+;", 0, 0, &error);
    g_autofree char *open =
        g_regex_replace(guard, ptx, -1, 0, "setp.ne.b32 \t\\1, 0, 0;", 0, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(open, !=, ptx);
    g_auto(Judged) guarded = judge_kernel(ptx, WS_IMPORT_PTX);
    g_auto(Judged) unguarded = judge_kernel(open, WS_IMPORT_PTX);
    g_assert_cmpint(guarded.verdict->kind, ==, WS_VERDICT_PROVED);
    g_assert_false(grants(guarded.import, "no more CTAs are launched"));
    g_assert_true(grants(guarded.import, "do not overflow"));
    if (unguarded.verdict->kind == WS_VERDICT_PROVED)
        g_assert_true(grants(unguarded.import, "no more CTAs are launched"));
    g_assert_cmpint(unguarded.verdict->kind, ==, WS_VERDICT_PROVED);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/ptx-import/unguarded-tiles", test_unguarded);
    g_test_add_func("/codegen/ptx-import/box", test_box);
    for (guint i = 0; i < G_N_ELEMENTS(changed); i++) {
        if (!test_halves(i, 2, 6))
            continue;
        g_autofree char *path = g_strdup_printf("/codegen/ptx-import/%s", changed[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_changed);
    }
    for (guint i = 0; i < G_N_ELEMENTS(rings); i++) {
        if (!test_halves(i, 2, 6))
            continue;
        g_autofree char *path = g_strdup_printf("/codegen/ptx-import/ring/%s", rings[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_ring);
    }
    for (guint i = 0; i < G_N_ELEMENTS(small); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path =
            g_strdup_printf("/codegen/ptx-import/small/%s", strrchr(small[i], '/') + 1);
        g_test_add_data_func(path, small[i], test_small);
    }
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *path =
            g_strdup_printf("/codegen/ptx-import/%s", strchr(designs[i].file, '/') + 1);
        if (designs[i].quick || g_test_slow())
            g_test_add_data_func(path, GUINT_TO_POINTER(i), test_design);
    }
    return g_test_run();
}
