/* Random designs and each move that promises to keep what they compute: what the check proves of
 * the result is rehearsed, and gives the outputs of the design before. WARPSTAVE_MOVES=N takes N
 * seeds, from WARPSTAVE_SEED on. */
#include "codegen/generate.h"
#include "drafts.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "random_moves.h"

#include <string.h>

static guint tried, moved, proved, started;

static WsDesign *parse(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "random", findings);
    if (design == NULL) {
        g_autofree char *said = ws_findings_print(findings, "random");
        g_error("%s: %s", said, text);
    }
    return design;
}

static gboolean is_right(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    const WsRehearseOptions options = { .seed = 1 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    const gboolean right = r->ran && r->wrong == 0;
    if (!right)
        g_test_message("%s %s", r->first_wrong ? r->first_wrong : "", r->stuck ? r->stuck : "");
    ws_rehearse_result_free(r);
    return right;
}

typedef enum { ROTATE, PART, PEEL, DEPTH, EARLIER, LATER, AHEAD, BEHIND, MOVES } Move;

static gboolean does(WsDraft *d, Move move, const WsNode *node)
{
    const guint64 id = node->identity;
    const gboolean step = ws_node_kind_is_step(node->kind);
    /* What `warpstave next` and `search` move alone: its place is for the check to judge. */
    const gint by = move == EARLIER ? -1 : move == LATER ? 1 : 0;
    const gboolean alone =
        ws_edit_keeps_counters(d->design, node, by) &&
        (node->kind == WS_STEP_WAIT || node->kind == WS_STEP_ARRIVE || node->kind == WS_STEP_LOAD);
    switch (move) {
    case ROTATE:
        return step && ws_edit_rotate(d, id);
    case PART:
        return node->kind == WS_NODE_BUFFER && ws_edit_part(d, id);
    case PEEL:
        return node->kind == WS_STEP_FOR && ws_edit_peel(d, id);
    case DEPTH:
        return node->kind == WS_NODE_BUFFER &&
               ws_edit_depth(d, id, 1 + ws_edit_depth_of(d->design, node));
    case EARLIER:
        return alone && ws_edit_nudge(d, &id, 1, -1);
    case LATER:
        return alone && ws_edit_nudge(d, &id, 1, 1);
    case AHEAD:
        return alone && ws_edit_ahead(d, &id, 1, 1);
    case BEHIND:
        return alone && ws_edit_ahead(d, &id, 1, -1);
    case MOVES:
        break;
    }
    return FALSE;
}

static void try_below(const WsDesign *design, const WsNode *node, guint32 seed, guint depth);

static void try_node(const WsDesign *design, const WsNode *node, guint32 seed, guint depth)
{
    for (Move move = ROTATE; move < MOVES; move++) {
        g_autoptr(WsDraft) d = ws_draft_new(design);
        tried++;
        if (!does(d, move, node))
            continue;
        moved++;
        if (judge(d->design) != WS_VERDICT_PROVED)
            continue;
        proved++;
        if (!is_right(d->design)) {
            g_autofree char *before = ws_design_print(design), *after = ws_design_print(d->design);
            g_autofree char *label = ws_edit_label(node);
            g_error("seed %u, move %d of %s is proved and wrong:\n%s\n%s", seed, (int)move, label,
                    before, after);
        }
        if (depth > 1 && (move == ROTATE || move == PART))
            try_below(d->design, ws_design_root(d->design), seed, depth - 1);
    }
}

static void try_below(const WsDesign *design, const WsNode *node, guint32 seed, guint depth)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    if (node->kind == WS_NODE_BUFFER || ws_node_kind_is_step(node->kind))
        try_node(design, node, seed, depth);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            try_below(design, ws_node_child(node, rows[i].field, c), seed, depth);
}

static void of_seed(guint32 seed, guint depth)
{
    g_autofree char *text = random_moves(seed);
    g_autoptr(WsDesign) design = parse(text);
    if (judge(design) != WS_VERDICT_PROVED)
        return;
    started++;
    if (!is_right(design))
        g_error("seed %u computes something else than its reference: %s", seed, text);
    try_below(design, ws_design_root(design), seed, depth);
}

static void moves(void)
{
    static const guint32 fixed[] = { 3, 5 }; /* a ring under two names, a load beside a counter */
    const char *many = g_getenv("WARPSTAVE_MOVES"), *first = g_getenv("WARPSTAVE_SEED");
    const guint32 from = first ? (guint32)g_ascii_strtoull(first, NULL, 10) : 0;
    const guint n = many ? (guint)g_ascii_strtoull(many, NULL, 10) : G_N_ELEMENTS(fixed);
    for (guint i = 0; i < n; i++)
        of_seed(many ? from + i : fixed[i], many ? 2 : 1);
    g_test_message("%u designs, %u moves asked for, %u made, %u proved and rehearsed", started,
                   tried, moved, proved);
    g_assert_cmpuint(proved, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/edit/moves", moves);
    return g_test_run();
}
