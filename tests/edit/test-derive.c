/* Edits that bring along what follows: a GEMM of its reference alone, five steps and two edges;
 * what is a guess says so; where nothing follows, nothing is brought. */
#include "drafts.h"

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
    g_assert_cmpstr(all, ==,
                    "BM = 128, BN = 256, BK = 64, STAGES = 4, WM = 64, SLAB = 64, M = 8192, N = "
                    "8192, K = 8192, M = 320, N = 320, K = 320, A dtype bf16, B dtype bf16, C "
                    "dtype bf16, warps registers 40, warps2 registers 232");
    g_autoptr(WsDesign) first = ws_design_ref(d->design);
    must(d, ws_draft_line(d, "set . constants {\"BM\": 192, \"BN\": 256}"));
    g_autofree char *rest = ws_edit_guessed(d->design, ws_design_root(d->design), WS_F_constants);
    g_assert_cmpstr(rest, ==, "BN = 256");
    g_autofree char *fresh = ws_edit_guesses(first, d->design);
    g_assert_cmpstr(fresh, ==, "BN = 256");
    g_autofree char *none = ws_edit_guesses(d->design, d->design);
    g_assert_null(none);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/derive/gemm", derive_gemm);
    g_test_add_func("/edit/derive/guesses", guesses);
    g_test_add_func("/edit/derive/nothing", derive_nothing);
    g_test_add_func("/edit/derive/declares", declares);
    return g_test_run();
}
