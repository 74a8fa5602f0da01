/* Code of gfx950: what stands in the assembly against the program, code objects against readelf and
 * our own reading, and what is refused. */
#include "amd/designs.h"
#include "codegen/amdgpu/amdgpu.h"
#include "codegen/amdgpu/code_object.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "target/target.h"

#include <elf.h>
#include <glib/gstdio.h>

#define COUNTS 6
#define NONE   -2 /* LLVM leaves it out: no load was issued since one for all of them */

/* Instructions that may stay at each wait for loads, in order of the text: 4096 bytes of a half are
 * one of each wave. Worked out by hand from the designs. */
static const struct {
    const char *design;
    WsSetting set[3];
    gint vm[COUNTS];  /* ends with -1 */
    const char *mfma; /* NULL: v_mfma_f32_16x16x32_f16 */
} rows[] = {
    { "gemm-gfx950", { { 0 } }, { 4, 4, 0, -1 } },
    { "gemm-gfx950", { { "BK", 64 }, { "NB", 2 } }, { 0, 0, NONE, -1 } },
    { "gemm-gfx950", { { "BM", 128 }, { "NB", 4 } }, { 6, 6, 0, -1 } },
    { "gemm-gfx950", { { "BN", 128 }, { "NB", 4 } }, { 6, 6, 0, -1 } },
    { "gemm-gfx950-flat", { { 0 } }, { 4, 4, 0, -1 } },
    /* two of A's halves and all of B: 2 + 2 + 4 */
    { "gemm-gfx950-split", { { 0 } }, { 8, 8, 8, 0, -1 } },
    { "gemm-gfx950-32", { { 0 } }, { 4, 4, 0, -1 }, "v_mfma_f32_32x32x16_bf16" },
    { "gemm-gfx950-gap", { { 0 } }, { 0, 0, NONE, -1 } },
    { "gemm-gfx950-fp8", { { 0 } }, { 4, 4, 0, -1 }, "v_mfma_f32_32x32x64_f8f6f4" },
    { "attention-gfx950", { { 0 } }, { 0, 4, 0, -1 } }, /* behind Q's own: 0 */
    { "attention-gfx950", { { "NB", 4 } }, { 0, 8, 0, -1 } },
};

static WsProgram *program_of(guint row)
{
    guint n = 0;
    while (n < 3 && rows[row].set[n].name)
        n++;
    return amd_load(rows[row].design, NULL, 0, rows[row].set, n);
}

/* --- waits, barriers and priorities -----------------------------------------------------------*/

typedef struct {
    GPtrArray *event; /* char*; "phase": a barrier that one half joins alone */
} Events;

static void add(GPtrArray *events, const char *format, gint64 n)
{
    char text[32];
    g_snprintf(text, sizeof text, format, (int)n);
    /* two waits without a barrier between are the stricter one */
    const char *last = events->len ? events->pdata[events->len - 1] : "";
    if (g_str_has_prefix(text, "vm") && g_str_has_prefix(last, "vm")) {
        if (strcmp(text, "vm 0") == 0) {
            g_free(events->pdata[events->len - 1]);
            events->pdata[events->len - 1] = g_strdup(text);
        }
        return;
    }
    g_ptr_array_add(events, g_strdup(text));
}

static void walk(const WsTree *t, GPtrArray *events)
{
    gint64 rounds = 1;
    if (t->kind == WS_TREE_LOOP && t->unroll < 0)
        g_assert_true(ws_expr_is_int(t->count, &rounds));
    for (gint64 r = 0; r < rounds && t->kind != WS_TREE_OP; r++)
        for (guint i = 0; i < t->n_kids; i++)
            walk(t->kid[i], events);
    if (t->kind != WS_TREE_OP)
        return;
    const WsOp *op = t->op;
    if (strcmp(ws_op_kind_text(op->kind), "priority") == 0)
        add(events, "prio %d", op->n);
    else if (ws_op_joins(op->kind))
        add(events,
            g_str_has_suffix(op->id, "#phase") ? "phase"
            : op->border == WS_BORDER_PLAIN    ? "barrier"
                                               : "local",
            0);
    else if (ws_op_retires(op->kind))
        add(events, "vm ?", 0);
    else if (ws_op_moves(op->kind, WS_DATA_AT_TENSOR, WS_DATA_AT_REGISTERS))
        add(events, "vm ?", 0);
}

/* One text of both halves: what only one of them has are its phases. */
static GPtrArray *expected(const WsProgram *p, const gint *vm)
{
    g_autoptr(GPtrArray) lower = g_ptr_array_new_with_free_func(g_free),
                         upper = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    walk(p->agent[0].body, lower);
    walk(p->agent[1].body, upper);
    g_ptr_array_add(out, g_strdup("local")); /* the prologue's */
    for (guint i = 0, k = 0; i < lower->len || k < upper->len;) {
        const char *x = i < lower->len ? lower->pdata[i] : NULL,
                   *y = k < upper->len ? upper->pdata[k] : NULL;
        if (x && strcmp(x, "phase") == 0) {
            g_ptr_array_add(out, g_strdup("barrier"));
            i++;
        } else if (y && strcmp(y, "phase") == 0) {
            g_ptr_array_add(out, g_strdup("barrier"));
            k++;
        } else {
            g_assert_cmpstr(x, ==, y);
            if (g_str_has_prefix(x, "vm")) {
                g_assert_cmpint(*vm, !=, -1);
                if (*vm != NONE)
                    g_ptr_array_add(out, g_strdup_printf("vm %d", *vm));
                vm++;
            } else {
                g_ptr_array_add(out, g_strdup(x));
            }
            i++, k++;
        }
    }
    g_assert_cmpint(*vm, ==, -1);
    return out;
}

/* A local barrier: nothing of LDS was issued since the last wait for all of it. */
static GPtrArray *found(const char *assembly)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) line = g_strsplit(assembly, "\n", -1);
    gboolean drained = TRUE;
    for (guint i = 0; line[i]; i++) {
        const char *op = g_strchug(line[i]), *at = strstr(op, "vmcnt(");
        if (g_str_has_prefix(op, "s_waitcnt")) {
            if (at)
                add(out, "vm %d", g_ascii_strtoll(at + 6, NULL, 10));
            drained |= strstr(op, "lgkmcnt(0)") != NULL;
        } else if (g_str_has_prefix(op, "ds_")) {
            drained = FALSE;
        } else if (g_str_has_prefix(op, "s_barrier")) {
            add(out, drained ? "local" : "barrier", 0);
        } else if (g_str_has_prefix(op, "s_setprio")) {
            add(out, "prio %d", g_ascii_strtoll(op + 9, NULL, 10));
        }
    }
    return out;
}

static void test_waits(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = program_of(row);
    g_autofree char *text = ws_generate_amd_assembly(p, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) want = expected(p, rows[row].vm), got = found(text);
    GString *a = g_string_new(NULL), *b = g_string_new(NULL);
    for (guint i = 0; i < want->len; i++)
        g_string_append_printf(a, "%s; ", (const char *)want->pdata[i]);
    for (guint i = 0; i < got->len; i++) { /* a plain barrier may find all reads done */
        const char *is = got->pdata[i], *w = i < want->len ? want->pdata[i] : "";
        const gboolean more = strcmp(is, "local") == 0 && strcmp(w, "barrier") == 0;
        g_string_append_printf(b, "%s; ", more ? w : is);
    }
    g_assert_cmpstr(b->str, ==, a->str);
    g_assert_null(strstr(text, "scratch_"));
    g_assert_null(strstr(text, "v_accvgpr"));
    g_string_free(a, TRUE);
    g_string_free(b, TRUE);
}

/* --- code objects -----------------------------------------------------------------------------*/

/* The descriptor's entry is where the symbol of the kernel is. */
static void entry_right(const guint8 *data, gsize size)
{
    Elf64_Ehdr h;
    Elf64_Shdr s;
    guint64 text = 0, descriptor = 0, descriptor_at = 0;
    memcpy(&h, data, sizeof h);
    g_assert_cmpuint(h.e_type, ==, ET_DYN);
    for (guint i = 0; i < h.e_shnum; i++) {
        memcpy(&s, data + h.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type == SHT_PROGBITS && (s.sh_flags & SHF_EXECINSTR))
            text = s.sh_addr;
        else if (s.sh_type == SHT_PROGBITS)
            descriptor = s.sh_addr, descriptor_at = s.sh_offset;
    }
    gint64 entry;
    g_assert_cmpuint(descriptor_at + 64, <=, size);
    memcpy(&entry, data + descriptor_at + 16, 8); /* kernel_code_entry_byte_offset */
    g_assert_cmpuint(descriptor + (guint64)entry, ==, text);
    g_assert_cmpuint(text % 256, ==, 0);
}

/* Versions of code objects: the ABI byte of the header, and the version in the metadata (AMDGPU
 * usage of LLVM, ELF header and code object metadata). */
static const struct {
    guint version;
    guint8 abi;
    const char *metadata;
} versions[] = { { 4, 2, "- 1\n  - 1" }, { 5, 3, "- 1\n  - 2" }, { 6, 4, "- 1\n  - 2" } };

static void test_version(const WsProgram *p, guint row, guint at)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) object = ws_generate_amd_object(p, versions[at].version, &error);
    WsCodeObjectReport r;
    g_assert_no_error(error);
    g_assert_true(ws_code_object_report(object, &r, &error));
    g_test_message("%s, version %u: %u VGPRs (%u of them accumulation), %u SGPRs, %u bytes of LDS",
                   rows[row].design, versions[at].version, r.vgprs, r.agprs, r.sgprs, r.lds);
    g_assert_cmpuint(r.spilled_vgprs + r.spilled_sgprs + r.scratch, ==, 0);
    g_assert_cmpuint(r.agprs, ==, 0);
    g_assert_cmpuint(r.vgprs, <=, 256); /* two waves on each SIMD */
    g_assert_cmpuint(r.lds, ==, p->shared_bytes);
    g_assert_cmpuint(r.threads, ==, 512);
    g_assert_cmpuint(r.wave, ==, 64);
    gsize size;
    const guint8 *bytes = g_bytes_get_data(object, &size);
    g_assert_cmpuint(bytes[8], ==, versions[at].abi);
    entry_right(bytes, size);
}

static void test_object(gconstpointer data)
{
    const guint row = GPOINTER_TO_UINT(data);
    g_autoptr(WsProgram) p = program_of(row);
    for (guint at = 0; at < G_N_ELEMENTS(versions); at++)
        test_version(p, row, at);
}

/* --- LLVM's own readers, where they are here ---------------------------------------------------
 */

/* Of LLVM 22, or any that knows gfx950 (a later one, without a number in its name). NULL: none. */
static char *reader(const char *name)
{
    g_autofree char *numbered = g_strconcat(name, "-22", NULL);
    char *path = g_find_program_in_path(numbered);
    return path ? path : g_find_program_in_path(name);
}

/* The file is read without a complaint, and what is said of it holds `has`. */
static void read_by(const char *tool, const char *option, GBytes *object, const char *has)
{
    g_autofree char *file = NULL, *out = NULL, *err = NULL;
    g_autoptr(GError) error = NULL;
    int status = 0;
    gsize size;
    const char *bytes = g_bytes_get_data(object, &size);
    g_close(g_file_open_tmp("warpstave-XXXXXX.hsaco", &file, NULL), NULL);
    g_assert_true(g_file_set_contents(file, bytes, (gssize)size, &error));
    char *argv[] = { (char *)tool, (char *)option, file, NULL };
    g_assert_true(g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, &out, &err, &status, &error));
    g_remove(file);
    g_assert_true(g_spawn_check_wait_status(status, NULL));
    g_assert_cmpstr(err, ==, "");
    if (!strstr(out, has))
        g_error("%s says nothing of %s: %s", tool, has, out);
}

static void test_read(gconstpointer data)
{
    const gboolean disassembler = data != NULL;
    const char *name = disassembler ? "llvm-objdump" : "llvm-readelf";
    g_autofree char *tool = reader(name), *why = g_strconcat(name, " is not here", NULL);
    if (!tool) {
        g_test_skip(why);
        return;
    }
    for (guint row = 0; row < G_N_ELEMENTS(rows); row++) {
        g_autoptr(WsProgram) p = program_of(row);
        g_autoptr(GBytes) reference = ws_generate_reference_amd(p, p->n_tensors - 1, NULL);
        for (guint at = 0; at < G_N_ELEMENTS(versions); at++) {
            g_autoptr(GBytes) object = ws_generate_amd_object(p, versions[at].version, NULL);
            if (disassembler) {
                const char *mfma = rows[row].mfma;
                read_by(tool, "-d", object, mfma ? mfma : "v_mfma_f32_16x16x32_f16");
                continue;
            }
            read_by(tool, "-a", object, "warpstave.kd");
            read_by(tool, "--notes", object, ".max_flat_workgroup_size: 512");
            read_by(tool, "--notes", object, versions[at].metadata);
        }
        if (disassembler)
            read_by(tool, "-d", reference, "_f64");
        else
            read_by(tool, "--notes", reference, ".max_flat_workgroup_size: 64");
    }
}

/* The float64 kernel that judges a design keeps nothing in scratch memory. */
static void test_reference(void)
{
    for (guint row = 0; row < G_N_ELEMENTS(rows); row++) {
        g_autoptr(WsProgram) p = program_of(row);
        g_autoptr(GError) error = NULL;
        g_autoptr(GBytes) object = ws_generate_reference_amd(p, p->n_tensors - 1, &error);
        WsCodeObjectReport r;
        g_assert_no_error(error);
        g_assert_true(ws_code_object_report(object, &r, &error));
        g_assert_cmpuint(r.scratch + r.lds, ==, 0);
        g_assert_cmpuint(r.threads, ==, 64);
        g_autoptr(GBytes) input = ws_generate_reference_amd(p, 0, &error);
        g_assert_null(input);
        g_assert_nonnull(strstr(error->message, "tensor 0 is no output"));
    }
}

/* By hand: 512 registers of a lane for the waves of a SIMD, given out by 8; 163840 bytes of LDS, by
 * 1280; eight waves of a workgroup lie on four SIMDs. */
static void test_occupancy(void)
{
    static const struct {
        guint vgprs, threads, lds, waves, groups;
    } cases[] = {
        { 248, 512, 98304, 2, 1 }, { 256, 512, 0, 2, 1 },      { 257, 512, 0, 1, 0 },
        { 128, 512, 65536, 4, 2 }, { 129, 512, 65536, 3, 1 },  { 128, 512, 98304, 4, 1 },
        { 64, 512, 32769, 8, 4 },  { 1, 512, 0, 8, 4 },        { 64, 512, 40960, 8, 4 },
        { 64, 512, 40961, 8, 3 },  { 512, 256, 0, 1, 1 },      { 24, 64, 163840, 8, 1 },
        { 24, 64, 0, 8, 32 },      { 128, 512, 163841, 4, 0 },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const WsCodeObjectReport r = {
            .vgprs = cases[i].vgprs, .threads = cases[i].threads, .lds = cases[i].lds, .wave = 64
        };
        const WsAmdOccupancy o = ws_generate_amd_occupancy(&r, 163840);
        g_assert_cmpuint(o.waves, ==, cases[i].waves);
        g_assert_cmpuint(o.groups, ==, cases[i].groups);
    }
    g_assert_cmpuint(ws_generate_amd_moves(""), ==, 0);
    g_assert_cmpuint(ws_generate_amd_moves("\tv_accvgpr_read_b32 v1, a0\n\tv_mov_b32 v0, v1 ; no "
                                           "v_accvgpr_write\n  v_accvgpr_write_b32 a0, v1\n"),
                     ==, 2);
    gboolean clean;
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = program_of(0);
    g_autofree char *text = ws_generate_amd_report(p, &clean, &error);
    g_assert_no_error(error);
    g_assert_true(clean);
    g_assert_nonnull(
        strstr(text, "occupancy: waves of a SIMD by registers 2, workgroups of a CU 1; moves "
                     "from or to accumulation registers: 0\n"));
}

/* What is cut off or changed is an error or another object, never worse. */
static void test_broken_objects(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = program_of(0);
    g_autoptr(GBytes) object = ws_generate_amd_object(p, WS_CODE_OBJECT_VERSION, &error);
    g_assert_no_error(error);
    gsize size;
    const guint8 *bytes = g_bytes_get_data(object, &size);
    guint refused = 0, tried = 0;
    for (gsize n = 0; n < size; n += n < 2048 ? 7 : 211) {
        g_autoptr(GBytes) part = g_bytes_new(bytes, n);
        WsCodeObjectReport r;
        g_assert_false(ws_code_object_report(part, &r, NULL));
        g_assert_null(ws_code_object_link(part, NULL));
    }
    for (gsize at = 0; at < size; at += at < 1400 || at > size - 1000 ? 1 : 97)
        for (guint by = 1; by < 256; by *= 4) {
            g_autofree guint8 *copy = g_memdup2(bytes, size);
            copy[at] ^= (guint8)by;
            g_autoptr(GBytes) changed = g_bytes_new(copy, size);
            WsCodeObjectReport r;
            refused += !ws_code_object_report(changed, &r, NULL);
            g_clear_pointer(&changed, g_bytes_unref);
            copy[16] = ET_REL; /* as something that is linked */
            changed = g_bytes_new(copy, size);
            GBytes *linked = ws_code_object_link(changed, NULL);
            g_clear_pointer(&linked, g_bytes_unref);
            tried++;
        }
    g_test_message("%u of %u changed objects are refused", refused, tried);
    g_assert_cmpuint(refused, >, 0);
}

/* --- what is refused --------------------------------------------------------------------------*/

static const struct {
    const char *design;
    AmdChange change[3];
    const char *says;
    gboolean host; /* the host has it: a rehearsal runs */
} refused[] = {
    { "gemm-gfx950",
      { { "\"M % BM == 0\", \"N % BN == 0\", \"K % BK == 0\", ", "" } },
      "nothing says that rows begin and end at multiples" },
    { "gemm-gfx950",
      { { "\"launch\": \"single\"", "\"launch\": \"persistent\"" },
        { "\"body\": [", "\"body\": [ { \"for\": \"t\", \"over\": \"tiles\", \"do\": [" },
        { "\"at\": [\"tm*BM\", \"tn*BN\"] }\n      ] }",
          "\"at\": [\"tm*BM\", \"tn*BN\"] } ] } ] }" } },
      "more than one tile" },
    { "gemm-gfx950",
      { { "\"order\": \"grouped(tm, 8)\"", "\"order\": \"hilbert(tm, tn)\"" } },
      "Hilbert" },
    { "gemm-gfx950",
      { { "\"tile\": [\"BM\", \"BK\"], \"stages\": \"NB\"",
          "\"tile\": [\"BM\", \"BK\"], \"stages\": \"NB\", \"swizzle\": 0, \"pad\": 16" } },
      "1024 bytes of shared memory that follow each other" },
    { "gemm-gfx950-gap", /* rows 96 to 159 begin in one share and end in the next */
      { { "\"BM\": 256", "\"BM\": 256, \"BH\": 128" },
        { "all \"from\": \"a\"", "\"from\": \"a.rows(32, BH)\"" },
        { "\"tile\": [\"BM\", \"BN\"] },\n        { \"name\": \"fa\", \"dtype\": \"f16\", \"tile\": [\"BM\"",
          "\"tile\": [\"BH\", \"BN\"] },\n        { \"name\": \"fa\", \"dtype\": \"f16\", \"tile\": "
          "[\"BH\"" } },
      "a part of rows with gaps between them" },
    { "attention-gfx950",
      { { "\"acc = acc*alpha\"\n            ]", "\"acc = acc*tanh(alpha)\"\n            ]" } },
      "no instruction of gfx950",
      TRUE },
    { "attention-gfx950",
      { { "{ \"compute\": \"acc = acc*rcp(li)\" }",
          "{ \"compute\": \"acc = acc*rcp(li)\", \"unless\": \"li == 1\" }" } },
      "waves may skip" },
    { "gemm-gfx950",
      { { "{ \"write\": \"acc\", \"to\": \"C\"",
          "{ \"write\": \"acc.cols(0, 64)\", \"to\": \"C\"" } },
      "a part of a value" },
    { "gemm-gfx950",
      { { "{ \"name\": \"C\", \"dtype\": \"f16\", \"shape\": [\"M\", \"N\"]",
          "{ \"name\": \"C\", \"dtype\": \"f16\", \"shape\": [\"M\", \"N\"], \"strides\": [1, "
          "\"M\"]" } },
      "last dimension does not lie in a row" },
};

static void test_refused(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *text = amd_text(refused[i].design, refused[i].change, 3);
        g_autoptr(WsProgram) p = amd_program(text, NULL, 0, findings);
        if (!p) {
            g_autofree char *what = ws_findings_print(findings, NULL);
            g_error("%u: %s", i, what);
        }
        g_autofree char *assembly = ws_generate_amd_assembly(p, &error);
        g_assert_null(assembly);
        g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
        if (!strstr(error->message, refused[i].says))
            g_error("%u: %s", i, error->message);
        g_clear_error(&error);
        g_assert_false(ws_generate_amd_supports(p, &error));
        g_clear_error(&error);
        g_assert_true(ws_rehearse_supports(p, &error) == refused[i].host);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *waits = g_strdup_printf("/amd/code/waits/%s/%u", rows[i].design, i);
        g_autofree char *object = g_strdup_printf("/amd/code/object/%s/%u", rows[i].design, i);
        g_test_add_data_func(waits, GUINT_TO_POINTER(i), test_waits);
        g_test_add_data_func(object, GUINT_TO_POINTER(i), test_object);
    }
    g_test_add_data_func("/amd/code/llvm-readelf", NULL, test_read);
    g_test_add_data_func("/amd/code/llvm-objdump", rows, test_read);
    g_test_add_func("/amd/code/reference", test_reference);
    g_test_add_func("/amd/code/occupancy", test_occupancy);
    g_test_add_func("/amd/code/broken-objects", test_broken_objects);
    g_test_add_func("/amd/code/refused", test_refused);
    return g_test_run();
}
