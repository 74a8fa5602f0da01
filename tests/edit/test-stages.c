/* Loops of shipped designs rotated wherever that is taken, then other depths of the rings: what the
 * check proves of it is rehearsed at sizes that no tile divides, and right. One design; with
 * WARPSTAVE_STAGES=all all of them, with a part of a name those that have it. WARPSTAVE_KEEP is a
 * folder for what is wrong. */
#include "advise/candidate.h"
#include "codegen/generate.h"
#include "drafts.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "search/normal.h"

#include <string.h>

static const char *const designs[] = {
    "tests/designs/search/gemm-plain.wstave",
    "projects/attention-d128/ablations/no-overlap.wstave",
    "tests/designs/search/attention-d64-straight.wstave",
    "tests/designs/search/attention-d256-straight.wstave",
    "projects/attention-d128/design.wstave",
    "projects/attention-d64/design.wstave",
    "projects/gemm-bf16/design.wstave",
    "projects/gemm-bf16-pingpong/design.wstave",
    "projects/gemm-bf16-deferred/design.wstave",
    "projects/gemm-bf16-balanced/design.wstave",
    "projects/gemm-fp8-block/design.wstave",
    "projects/attention-window/design.wstave",
    "projects/sparse-mla-pipes/design.wstave",
};
static const char *const depth[] = { "STAGES", "QBUF", "SLOTS" };

static guint made, proved, rehearsed, skipped, wrong;

/* What the host has no form of is skipped by the refusal's name; nothing else may end without a
 * run. */
static gboolean is_right(const WsProgram *p, const char *what)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions options = { .seed = 1 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    if (!r) {
        g_autofree char *text = ws_findings_print(findings, what);
        const gboolean refused = !ws_rehearse_supports(p, NULL);
        skipped += refused;
        g_printerr("%s: %s: %s%s\n", what, refused ? "skipped" : "did not run",
                   error ? error->message : "", text);
        return refused;
    }
    rehearsed++;
    if (!r->matches)
        g_printerr("%s: %s %s %s %s\n", what, r->first_wrong ? r->first_wrong : "",
                   r->stuck ? r->stuck : "", r->first_race ? r->first_race : "",
                   r->first_violation ? r->first_violation : "");
    const gboolean right = r->matches;
    ws_rehearse_result_free(r);
    return right;
}

static void try_depth(const WsDesign *design, const char *what, const char *name, gint64 stages)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsSetting set = { (char *)name, stages };
    g_autoptr(WsProgram) p = ws_elaborate(design, &set, name ? 1 : 0, findings);
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return;
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    if (verdict->kind != WS_VERDICT_PROVED)
        return;
    proved++;
    g_autofree char *text =
        g_strdup_printf("%s, %s = %" G_GINT64_FORMAT, what, name ? name : "-", stages);
    if (!is_right(p, text)) {
        wrong++;
        const char *dir = g_getenv("WARPSTAVE_KEEP");
        g_autofree char *base = g_strdup_printf("%s/wrong-%u.wstave", dir ? dir : ".", wrong);
        g_autofree char *print = ws_design_print(design);
        if (dir)
            g_file_set_contents(base, print, -1, NULL);
    }
}

static void try_depths(const WsDesign *design, const char *what)
{
    const WsValue *map = ws_node_get(ws_design_root(design), WS_F_constants);
    made++;
    try_depth(design, what, NULL, 0);
    for (guint i = 0; map->kind == WS_VALUE_MAP && i < map->n; i++)
        for (guint k = 0; k < G_N_ELEMENTS(depth); k++)
            for (gint64 n = 1; strcmp(map->key[i], depth[k]) == 0 && n <= 3; n++)
                try_depth(design, what, depth[k], n);
}

static void try_cut(const WsDesign *design, const char *file, const WsNode *step)
{
    g_autoptr(WsDraft) d = ws_draft_new(design);
    if (!ws_edit_rotate(d, step->identity))
        return;
    g_autofree char *label = ws_edit_label(step);
    g_autofree char *what = g_strdup_printf("%s rotated at %s", file, label);
    try_depths(d->design, what);
}

/* What the search makes of products ahead: loops that begin with what ran ahead at their end. */
static void try_ahead(const WsDesign *design, const char *file)
{
    g_autoptr(GPtrArray) list = ws_candidates_deep(design);
    for (guint i = 0; i < list->len; i++) {
        const WsCandidate *c = list->pdata[i];
        gboolean rolled;
        g_autoptr(WsDesign) normal = ws_search_normal(c->design, &rolled);
        g_autofree char *what = g_strdup_printf("%s with %s", file, c->title);
        if (rolled && c->reorders)
            try_depths(normal, what);
    }
}

static void try_below(const WsDesign *design, const char *file, const WsNode *node)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++) {
            const WsNode *child = ws_node_child(node, rows[i].field, c);
            if (node->kind == WS_STEP_FOR && ws_node_kind_is_step(child->kind))
                try_cut(design, file, child);
            try_below(design, file, child);
        }
}

static void stages(void)
{
    const char *only = g_getenv("WARPSTAVE_STAGES");
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        if (only ? strcmp(only, "all") != 0 && !strstr(designs[i], only) : i > 0)
            continue;
        g_autoptr(WsDesign) design = load(designs[i]);
        try_below(design, designs[i], ws_design_root(design));
        try_ahead(design, designs[i]);
        g_printerr("%s: %u made, %u proved, %u skipped, %u wrong\n", designs[i], made, proved,
                   skipped, wrong);
    }
    g_test_message("%u loops rotated, %u proved, %u of them rehearsed, %u skipped", made, proved,
                   rehearsed, skipped);
    g_assert_cmpuint(rehearsed, >, 0);
    g_assert_cmpuint(rehearsed + skipped + wrong, >=, proved);
    g_assert_cmpuint(wrong, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/stages", stages);
    return g_test_run();
}
