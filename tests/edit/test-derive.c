/* Edits that bring along what follows: a GEMM of its reference alone, five steps and two edges;
 * what is a guess says so; where nothing follows, nothing is brought. */
#include "../edit_line.h"
#include "drafts.h"
#include "model/findings.h"

#include <string.h>

#define GEMM "projects/gemm-bf16/design.wstave"

static void set_reference(WsDraft *d, const char *text)
{
    must(d,
         ws_draft_set(d, ws_design_root(d->design)->identity, WS_F_reference, ws_json_text(text)));
    must(d, ws_edit_declare(d));
}

static void add(WsDraft *d, WsNodeKind kind, const char *path)
{
    must(d, ws_edit_add(d, kind, path != NULL ? ws_design_find(d->design, path) : NULL));
}

/* A GEMM of the reference alone: five steps and two edges. */
static WsDraft *derived_gemm(const char *reference)
{
    g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
    WsDraft *d = ws_draft_new(empty);
    WsConnection how;
    set_reference(d, reference);
    add(d, WS_STEP_LOAD, NULL);
    add(d, WS_STEP_LOAD, "groups/warps/body/0/do/0/do/0");
    add(d, WS_NODE_GROUP, NULL);
    add(d, WS_STEP_MMA, "groups/warps2");
    add(d, WS_STEP_STORE, "groups/warps2/body/0/do/1");
    must(d, ws_edit_connect(d, labelled(d->design, "load A", 0), labelled(d->design, "mma acc", 0),
                            &how));
    must(d, ws_edit_connect(d, labelled(d->design, "mma_wait 1", 0),
                            labelled(d->design, "load A", 0), &how));
    return d;
}

static void derive_gemm(void)
{
    static const char *const reference[] = { "C[m,n] = sum(k < K, A[m,k]*B[n,k])",
                                             "C[m,n] = sum(k < K, A[m,k]*B[k,n])",
                                             "C[i,j] = sum(r < depth, B[j,r]*A[i,r])" };
    for (guint i = 0; i < G_N_ELEMENTS(reference); i++) {
        g_autoptr(WsDraft) d = derived_gemm(reference[i]);
        g_autofree char *text = ws_design_print(d->design);
        g_test_message("%s", text);
        g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
        g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
        assert_replays(empty, d);
    }
}

/* Guesses are told from what follows, and are none once they are changed. */
static void guesses(void)
{
    g_autoptr(WsDraft) d = derived_gemm("C[m,n] = sum(k < K, A[m,k]*B[n,k])");
    const WsNode *root = ws_design_root(d->design);
    g_autofree char *constants = ws_edit_guessed(d->design, root, WS_F_constants);
    g_assert_cmpstr(constants, ==, "BM = 128, BN = 256, BK = 64, STAGES = 4, WM = 64, SLAB = 64");
    g_autofree char *axes =
        ws_edit_guessed(d->design, ws_design_find(d->design, "tiles"), WS_F_axes);
    g_assert_null(axes); /* they follow */
    const WsNode *a = ws_design_find(d->design, "tensors/A");
    g_autofree char *dtype = ws_edit_guessed(d->design, a, WS_F_dtype);
    g_autofree char *shape = ws_edit_guessed(d->design, a, WS_F_shape);
    g_assert_cmpstr(dtype, ==, "bf16");
    g_assert_null(shape);
    g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
    g_autofree char *all = ws_edit_guesses(empty, d->design);
    g_assert_cmpstr(
        all, ==,
        "constants BM = 128, BN = 256, BK = 64, STAGES = 4, WM = 64, SLAB = 64; sizes M = "
        "8192, N = 8192, K = 8192; rehearse M = 320, N = 320, K = 320; assume K >= 1; A "
        "dtype bf16; B dtype bf16; C dtype bf16; warps registers 40; warps2 registers "
        "232");
    g_autoptr(WsDesign) first = ws_design_ref(d->design);
    must(d, draft_line(d, "set . constants {\"BM\": 192, \"BN\": 256}"));
    g_autofree char *rest = ws_edit_guessed(d->design, ws_design_root(d->design), WS_F_constants);
    g_assert_cmpstr(rest, ==, "BN = 256");
    g_autofree char *fresh = ws_edit_guesses(first, d->design);
    g_assert_null(fresh); /* it was one before */
    g_autofree char *none = ws_edit_guesses(d->design, d->design);
    g_assert_null(none);
}

/* A guess is that of a node, not of its name, and is none once the value was changed. */
static void guesses_stay(void)
{
    g_autoptr(WsDraft) d = derived_gemm("C[m,n] = sum(k < K, A[m,k]*B[n,k])");
    must(d, ws_edit_rename(d, node_at(d->design, "groups/warps"), "load"));
    must(d, ws_edit_rename(d, node_at(d->design, "tensors/A"), "Left"));
    const WsNode *load = ws_design_find(d->design, "groups/load");
    g_autofree char *registers = ws_edit_guessed(d->design, load, WS_F_registers);
    g_assert_cmpstr(registers, ==, "40");
    g_autofree char *dtype =
        ws_edit_guessed(d->design, ws_design_find(d->design, "tensors/Left"), WS_F_dtype);
    g_assert_cmpstr(dtype, ==, "bf16");
    const guint64 node = load->identity, tensor = node_at(d->design, "tensors/C");
    must(d, ws_edit_duplicate(d, &node, 1));
    g_autofree char *copied =
        ws_edit_guessed(d->design, ws_design_find(d->design, "groups/load2"), WS_F_registers);
    g_assert_cmpstr(copied, ==, "40");
    /* Another tensor of the same name is another one. */
    must(d, ws_edit_remove(d, &tensor, 1));
    must(d, draft_line(d, "insert . tensors 2 {\"name\": \"C\", \"dtype\": \"bf16\", "
                          "\"shape\": [\"M\", \"N\"], \"access\": \"write\"}"));
    g_autofree char *typed =
        ws_edit_guessed(d->design, ws_design_find(d->design, "tensors/C"), WS_F_dtype);
    g_assert_null(typed);
    /* Changed and changed back, by two steps; renamed as a text. */
    g_autoptr(WsDraft) step = ws_draft_new(d->design);
    must(step, draft_line(step, "set groups/load registers 48"));
    must(step, draft_line(step, "set tensors/B name \"Right\""));
    must(step, ws_edit_settle(step));
    g_autoptr(WsDraft) back = ws_draft_new(step->design);
    must(back, draft_line(back, "set groups/load registers 40"));
    must(back, ws_edit_settle(back));
    g_autofree char *again =
        ws_edit_guessed(back->design, ws_design_find(back->design, "groups/load"), WS_F_registers);
    g_autofree char *right =
        ws_edit_guessed(back->design, ws_design_find(back->design, "tensors/Right"), WS_F_dtype);
    g_assert_null(again);
    g_assert_cmpstr(right, ==, "bf16");
    /* Entered again as it is. */
    const guint64 root = ws_design_root(back->design)->identity;
    must(back, ws_edit_confirm(back, root, WS_F_rehearse));
    g_autofree char *rehearse =
        ws_edit_guessed(back->design, ws_design_root(back->design), WS_F_rehearse);
    g_autofree char *sizes =
        ws_edit_guessed(back->design, ws_design_root(back->design), WS_F_sizes);
    g_assert_null(rehearse);
    g_assert_nonnull(sizes);
}

/* Where the product does not follow from the reference, nothing is brought along. */
static void derive_nothing(void)
{
    static const char *const reference[] = {
        "C[m,n] = sum(k < K, A[m,k]*B[n,k]) + 1",   /* more than a product */
        "C[m,n] = sum(k < K, A[m,k]*A[m,k])",       /* one tensor */
        "C[m,n] = sum(k < K, A[k,m]*B[n,k])",       /* rows along the contraction */
        "C[b,m,n] = sum(k < K, A[b,m,k]*B[b,n,k])", /* a batch */
        "C[n,m] = sum(k < K, A[m+1,k]*B[n,k])",     /* moved */
    };
    for (guint i = 0; i < G_N_ELEMENTS(reference); i++) {
        g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
        g_autoptr(WsDraft) d = ws_draft_new(empty);
        set_reference(d, reference[i]);
        add(d, WS_STEP_MMA, NULL);
        const WsNode *group = ws_design_find(d->design, "groups/warps");
        g_assert_cmpuint(ws_node_n_children(group, WS_F_values), ==, 0);
        g_assert_cmpint(ws_node_child(group, WS_F_body, 0)->kind, ==, WS_STEP_MMA);
    }
}

/* Tensors and sizes of a text, "C[M,N] …, M …"; "" if none. */
static char *declared_by(const WsDesign *design)
{
    GString *s = g_string_new(NULL);
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_tensors); i++) {
        const WsNode *t = ws_node_child(root, WS_F_tensors, i);
        const WsValue *shape = ws_node_get(t, WS_F_shape);
        g_string_append_printf(s, "%s%s[", i > 0 ? " " : "", ws_node_name(t));
        for (guint k = 0; k < shape->n; k++) {
            g_autofree char *one =
                ws_value_words(ws_node_row(t->kind, WS_F_shape), &shape->item[k]);
            g_string_append_printf(s, "%s%s", k > 0 ? "," : "", one);
        }
        g_string_append_c(s, ']');
    }
    const WsValue *sizes = ws_node_get(root, WS_F_sizes);
    for (guint i = 0; sizes->kind == WS_VALUE_MAP && i < sizes->n; i++)
        g_string_append_printf(s, "%s%s", i > 0 ? "," : "; ", sizes->key[i]);
    return g_string_free(s, FALSE);
}

/* Only leading arguments of a reduction bind; where extents are open or disagree: nothing. */
static void extents(void)
{
    static const struct {
        const char *reference, *declared;
    } cases[] = {
        { "Y[i] = select(i < 4, X[i], Z[i])", "X[I] Z[I] Y[I]; I" },
        { "S[i,j] = select(j < i, X[i,j], 0)", "X[I,J] S[I,J]; I,J" },
        { "C[m,n] = sum(k < m, A[m,k]*B[n,k])", "" },
        { "C[m] = sum(k < K, l < k, A[m,k,l])", "" },
        { "C[m] = sum(k < len[m], A[m,k])", "" },
        { "C[m] = sum(k < 0, A[m,k])", "" },
        { "C[m] = sum(m < M, A[m])", "" },
        { "C[m] = sum(k < K, l < L/2, A[m,k,l])", "A[M,K,L/2] C[M]; M,K,L" },
        { "C[m] = sum(k < K, A[m,k]) + max(k < L, B[m,k])", "A[M,K] B[M,L] C[M]; M,K,L" },
        { "C[m] = max(A[m], m < 4)", "A[M] C[M]; M" },
        { "C[m,n] = sum(k < K, A[m,k]*A[k,n])", "" },
        { "C[m] = A[m] + A[m,m]", "" },
        { "S[q,k] = sum(d < D, Q[q,d]*K[k,d])", "Q[Q2,D] K[K2,D] S[Q2,K2]; Q2,K2,D" },
        { "Y[I,i] = X[I,i]", "X[I2,I3] Y[I2,I3]; I2,I3" },
        { "Y[i] = X[index[i]]", "index[I] Y[I]; I" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
        g_autoptr(WsDraft) d = ws_draft_new(empty);
        set_reference(d, cases[i].reference);
        g_autofree char *declared = declared_by(d->design);
        g_test_message("%s", cases[i].reference);
        g_assert_cmpstr(declared, ==, cases[i].declared);
    }
    g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
    g_autoptr(WsDraft) d = ws_draft_new(empty);
    must(d, draft_line(d, "set . reference [\"S[q,k] = sum(d < D, Q[q,d]*K[k,d])\", "
                          "\"O[q,d] = sum(k < N, S[q,k]*V[k,d])\"]"));
    must(d, ws_edit_declare(d));
    g_autofree char *declared = declared_by(d->design);
    g_assert_cmpstr(declared, ==, "Q[Q2,D] K[N,D] V[N,D] O[Q2,D]; Q2,D,N");
}

/* A reference that is changed takes along what only the one before declared. */
static void changes(void)
{
    g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
    g_autoptr(WsDraft) d = ws_draft_new(empty);
    set_reference(d, "C[m,n] = sum(k < K, A[m,k]*B[n,k])");
    set_reference(d, "C[m,n] = sum(k < L, X[m,k]*B[n,k])");
    g_autofree char *declared = declared_by(d->design);
    g_assert_cmpstr(declared, ==, "B[N,K] C[M,N] X[M,L]; M,N,K,L"); /* B is of K */
    /* What a person changed stays. */
    must(d, draft_line(d, "set tensors/X dtype \"f16\""));
    set_reference(d, "C[m,n] = sum(k < K, A[m,k]*B[n,k])");
    g_autofree char *kept = declared_by(d->design);
    g_assert_cmpstr(kept, ==, "B[N,K] C[M,N] X[M,L] A[M,K]; M,N,K,L");
}

/* Constants that no tile can be made of: the step comes alone, nothing is said against it. */
static void odd_constants(void)
{
    static const char *const constants[] = { "{\"BM\": -128}", "{\"BM\": 2}",
                                             "{\"WM\": 32}",   "{\"WM\": -64}",
                                             "{\"BK\": -64}",  "{\"BM\": 4611686018427387904}" };
    for (guint i = 0; i < G_N_ELEMENTS(constants); i++) {
        g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
        g_autoptr(WsDraft) d = ws_draft_new(empty);
        g_autofree char *line = g_strdup_printf("set . constants %s", constants[i]);
        must(d, draft_line(d, line));
        set_reference(d, "C[m,n] = sum(k < K, A[m,k]*B[n,k])");
        add(d, WS_STEP_MMA, NULL);
        const WsNode *group = ws_design_find(d->design, "groups/warps");
        g_assert_cmpint(ws_node_child(group, WS_F_body, 0)->kind, ==, WS_STEP_MMA);
    }
}

static void declares(void)
{
    static const struct {
        const char *reference, *has, *has_not;
    } cases[] = {
        { "Y[i] = X[i] + alpha", "{ \"name\": \"X\", \"dtype\": \"bf16\", \"shape\": [\"I\"] }",
          "\"alpha\"" },
        { "Y[i] = X[i + 1]", "\"name\": \"Y\"", "\"name\": \"X\"" }, /* no extent follows */
        { "Y[i] = X[i, i]", "[\"I\", \"I\"]", "zzz" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
        g_autoptr(WsDraft) d = ws_draft_new(empty);
        set_reference(d, cases[i].reference);
        g_autofree char *text = ws_design_print(d->design);
        g_test_message("%s", text);
        const char *tensors = strstr(text, "\"tensors\"");
        g_assert_nonnull(strstr(text, cases[i].has));
        g_assert_null(strstr(tensors, cases[i].has_not));
    }
    /* What is declared stays as it is. */
    g_autoptr(WsDesign) shipped = load(GEMM);
    g_autoptr(WsDraft) d = ws_draft_new(shipped);
    must(d, ws_edit_declare(d));
    g_assert_cmpuint(d->edits->len, ==, 0);
}

/* What is offered as likely beside the last group or a node, as keywords. */
static void assert_likely(const WsDesign *design, const char *at, const char *expected)
{
    WsNodeKind kind[WS_EDIT_LIKELY];
    const guint n = ws_edit_likely(design, at != NULL ? ws_design_find(design, at) : NULL, kind);
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        g_string_append_printf(words, "%s%s", i > 0 ? " " : "", ws_node_kind_keyword(kind[i]));
    g_assert_cmpstr(words->str, ==, expected);
}

/* At each step of the way to a GEMM the next one is offered, and nothing once it is whole. */
static void likely(void)
{
    g_autoptr(WsDesign) empty = ws_edit_empty("Untitled");
    g_autoptr(WsDraft) d = ws_draft_new(empty);
    assert_likely(d->design, NULL, "tensor");
    set_reference(d, "C[m,n] = sum(k < K, A[m,k]*B[n,k])");
    assert_likely(d->design, NULL, "load");
    add(d, WS_STEP_LOAD, NULL);
    assert_likely(d->design, "groups/warps/body/0/do/0/do/0", "load");
    add(d, WS_STEP_LOAD, "groups/warps/body/0/do/0/do/0");
    assert_likely(d->design, "groups/warps/body/0/do/0/do/1", "group");
    assert_likely(d->design, "buffers/a", "group"); /* beside an object: the last group */
    add(d, WS_NODE_GROUP, NULL);
    assert_likely(d->design, "groups/warps2", "mma");
    assert_likely(d->design, "groups/warps/body/0/do/0/do/1", "group");
    add(d, WS_STEP_MMA, "groups/warps2");
    assert_likely(d->design, "groups/warps2/body/0/do/1", "store");
    assert_likely(d->design, "groups/warps/body/0/do/0/do/1", "");
    add(d, WS_STEP_STORE, "groups/warps2/body/0/do/1");
    assert_likely(d->design, NULL, "");
    /* Taken away again, it is offered again. */
    const guint64 load = labelled(d->design, "load B", 0);
    must(d, ws_edit_remove(d, &load, 1));
    assert_likely(d->design, "groups/warps/body/0/do/0/do/0", "load");
}

/* A whole design lacks nothing: its results may leave by a store or by a write. */
static void likely_shipped(void)
{
    static const char *const path[] = { GEMM, "projects/attention-d128/design.wstave",
                                        "tests/designs/gemm-gfx950.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(path); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_load(path[i], findings);
        g_assert_nonnull(design);
        assert_likely(design, NULL, "");
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/derive/gemm", derive_gemm);
    g_test_add_func("/edit/derive/guesses", guesses);
    g_test_add_func("/edit/derive/nothing", derive_nothing);
    g_test_add_func("/edit/derive/declares", declares);
    g_test_add_func("/edit/derive/guesses-stay", guesses_stay);
    g_test_add_func("/edit/derive/extents", extents);
    g_test_add_func("/edit/derive/changes", changes);
    g_test_add_func("/edit/derive/odd-constants", odd_constants);
    g_test_add_func("/edit/likely/steps", likely);
    g_test_add_func("/edit/likely/shipped", likely_shipped);
    return g_test_run();
}
