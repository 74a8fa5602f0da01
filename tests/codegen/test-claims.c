/* What a row of step.def claims of a step, held against the operations that it becomes in the
 * designs of tests/designs: a lens with an answer for the step has one for each of them, and a
 * claim that no design tries is none. */
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

typedef struct {
    gboolean written;
    guint op[WS_OP_KIND_COUNT]; /* bits: lenses that know the target of a design with it */
} Becomes;
static Becomes becomes[WS_NODE_KIND_COUNT];

static void note_steps(const WsNode *node)
{
    static const WsFieldId lists[] = { WS_F_groups, WS_F_body, WS_F_do, WS_F_then, WS_F_else };
    becomes[node->kind].written = TRUE;
    for (guint l = 0; l < G_N_ELEMENTS(lists); l++)
        for (guint i = 0; i < ws_node_n_children(node, lists[l]); i++)
            note_steps(ws_node_child(node, lists[l], i));
}

static void note_design(const char *path)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(path, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p)
        return;
    note_steps(ws_design_root(d));
    guint lenses = 1u << WS_LENS_COUNT; /* it was seen */
    for (guint l = 0; l < WS_LENS_COUNT; l++)
        lenses |= p->hardware->lacks[l] ? 0 : 1u << l;
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent >= 0 && p->op[i]->step && !p->op[i]->declared)
            becomes[p->op[i]->step_kind].op[p->op[i]->kind] |= lenses;
}

static gboolean is_lowered(WsOpKind kind)
{
    static const char *const how[WS_OP_KIND_COUNT] = {
#define WS_LOWER(op, prim, llvm, ...) [WS_OP_##op] = #llvm,
#include "codegen/lower.def"
#undef WS_LOWER
    };
    static const gboolean amd[WS_OP_KIND_COUNT] = {
#define WS_AMD_OP(op, lowers) [WS_OP_##op] = TRUE,
#include "codegen/amdgpu/lower.def"
#undef WS_AMD_OP
    };
    return amd[kind] || (how[kind] && strcmp(how[kind], "UNKNOWN") != 0);
}

static gboolean is_rehearsed(WsOpKind kind)
{
    static const gboolean queues[WS_OP_KIND_COUNT] = {
#define WS_QUEUE_OP(op, how) [WS_OP_##op] = TRUE,
#include "codegen/nvptx/queue_lower.def"
#undef WS_QUEUE_OP
    };
    return queues[kind] || is_lowered(kind);
}

static gboolean is_checked(WsOpKind kind)
{
    return ws_op_row(kind)->check != WS_CHECK_OUTSIDE;
}

static gboolean is_timed(WsOpKind kind)
{
    static const char *const of[] = {
#define WS_OP(id, text, proxy, breadth, engine, deed, waits, gives, orders, from, to, record,      \
              score, check, cost, help)                                                            \
    [WS_OP_##id] = #cost,
#include "program/op.def"
#undef WS_OP
    };
    return strcmp(of[kind], "UNKNOWN") != 0;
}

static void test_claims(void)
{
    static const struct {
        const char *lens;
        WsLens of;
        gboolean (*has)(WsOpKind kind);
    } lens[] = { { "generate", WS_LENS_GENERATE, is_lowered },
                 { "rehearse", WS_LENS_REHEARSE, is_rehearsed },
                 { "check", WS_LENS_CHECK, is_checked },
                 { "simulate", WS_LENS_SIMULATE, is_timed } };
    static const char *const folders[] = { "tests/designs",       "tests/designs/catalogue",
                                           "tests/designs/moves", "tests/designs/memory",
                                           "tests/designs/mesh",  "tests/designs/broken",
                                           "tests/designs/ascend" };
    for (guint i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, folders[i], NULL);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        g_assert_nonnull(dir);
        for (const char *name; (name = g_dir_read_name(dir));) {
            g_autofree char *path = g_build_filename(folder, name, NULL);
            if (g_str_has_suffix(name, ".wstave"))
                note_design(path);
        }
    }
    for (WsNodeKind k = 0; k < WS_NODE_KIND_COUNT; k++) {
        const WsStepInfo *info = ws_step_info(k);
        guint known = 0, all = 0;
        for (guint l = 0; info && l < G_N_ELEMENTS(lens); l++) {
            const gboolean claims = ws_target_word(info->lenses, lens[l].lens);
            if (claims && !becomes[k].written)
                g_error("no design has %s, which claims %s", ws_node_kind_keyword(k), lens[l].lens);
            for (WsOpKind op = 0; op < WS_OP_KIND_COUNT; op++)
                if (claims && (becomes[k].op[op] >> lens[l].of & 1) && !lens[l].has(op))
                    g_error("%s claims %s, which does not know its %s", ws_node_kind_keyword(k),
                            lens[l].lens, ws_op_kind_text(op));
        }
        for (WsOpKind op = 0; info && op < WS_OP_KIND_COUNT; op++) {
            all += becomes[k].op[op] != 0;
            known += becomes[k].op[op] && is_lowered(op);
        }
        if (info && becomes[k].written && known == all && *info->lenses)
            g_assert_true(ws_target_word(info->lenses, "generate"));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/codegen/claims", test_claims);
    return g_test_run();
}
