/* Loops rotated: what comes out is proved, the same number of rounds for every count, and refuted
 * once anything of it is left out; what does not fit is refused with its reason. */
#include "drafts.h"
#include "model/findings.h"

#include <string.h>

#define PLAIN    "tests/designs/search/gemm-plain.wstave"
#define STRAIGHT "tests/designs/attention-straight.wstave"
#define D128     "projects/attention-d128/ablations/no-overlap.wstave"
#define D64      "tests/designs/search/attention-d64-straight.wstave"
#define D256     "tests/designs/search/attention-d256-straight.wstave"

static WsDesign *parse(const char *text)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(text, strlen(text), "text", findings);
    if (design == NULL) {
        g_autofree char *said = ws_findings_print(findings, "text");
        g_error("%s", said);
    }
    return design;
}

/* The text with one part replaced, which must occur. Takes the text. */
static char *with(char *text, const char *from, const char *to)
{
    g_autofree char *old = text;
    const char *at = strstr(old, from);
    if (at == NULL)
        g_error("no %s", from);
    g_autofree char *head = g_strndup(old, (gsize)(at - old));
    return g_strconcat(head, to, at + strlen(from), NULL);
}

static char *text_of(const char *path)
{
    g_autoptr(WsDesign) design = load(path);
    return ws_design_print(design);
}

static guint64 in_loop(const WsDesign *design, const char *label)
{
    for (guint nth = 0;; nth++) {
        const guint64 node = labelled(design, label, nth);
        const WsNode *owner =
            ws_design_owner(design, ws_design_by_identity(design, node), NULL, NULL);
        if (owner->kind == WS_STEP_FOR && !ws_node_has(owner, WS_F_over))
            return node;
    }
}

/* Rotated at the first step of a counted loop with that label. */
static WsDesign *rotated(const WsDesign *design, const char *label)
{
    g_autoptr(WsDraft) d = ws_draft_new(design);
    g_autofree char *before = ws_design_print(design);
    must(d, ws_edit_rotate(d, in_loop(design, label)));
    assert_replays(design, d);
    g_autofree char *same = ws_design_print(design);
    g_assert_cmpstr(same, ==, before);
    g_assert_cmpuint(d->touched->len, ==, 1);
    return ws_design_ref(d->design);
}

/* --- what it applies to ---------------------------------------------------------------------- */

static const struct {
    const char *file, *label;
    const char *holds; /* of the text that comes out */
} cases[] = {
    { PLAIN, "mma_wait 0", "{ \"mma_wait\": 1 }" },
    { PLAIN, "arrive empty", "{ \"arrive\": \"empty\", \"use\": \"u\" }" },
    { D128, "mma o", "{ \"mma_wait\": 1 }" },
    { D64, "mma o", "{ \"mma_wait\": 1 }" },
    { D256, "mma o", "{ \"mma_wait\": 1 }" },
    { STRAIGHT, "mma acc", "\"count\": \"nb - 1\", \"from\": 1" },
    { STRAIGHT, "wait v_fulls", "{ \"mma_wait\": 1 }" },
    { STRAIGHT, "mma_wait 0", "\"count\": \"nb - 1\", \"from\": 1" }, /* Q·K a round ahead */
    { STRAIGHT, "compute", "\"count\": \"nb - 1\", \"from\": 1" },
    { STRAIGHT, "load V", "\"count\": \"nb - 1\", \"from\": 1" },
    { "projects/gemm-bf16/design.wstave", "mma_wait 1", "{ \"mma_wait\": 2 }" },
};

static void applies(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autoptr(WsDesign) design = load(cases[i].file);
    g_autoptr(WsDesign) r = rotated(design, cases[i].label);
    g_autofree char *text = ws_design_print(r);
    if (strstr(text, cases[i].holds) == NULL)
        g_error("%s at %s gives\n%s", cases[i].file, cases[i].label, text);
    g_assert_cmpint(judge(r), ==, WS_VERDICT_PROVED);
}

/* With the mask the loop is cut where the masked blocks end; the cut stays. */
static void causal(void)
{
    static const char *const file[] = { D128, D64, D256 };
    for (guint i = 0; i < G_N_ELEMENTS(file); i++) {
        g_autoptr(WsDesign) design = load(file[i]);
        g_autoptr(WsDesign) masked = ws_design_with_constant(design, "CAUSAL", 1);
        g_autoptr(WsDesign) r = rotated(masked, "mma o");
        g_autofree char *text = ws_design_print(r);
        g_assert_nonnull(strstr(text, "\"from\": 1, \"split\": [\"nm\"]"));
        g_assert_cmpint(judge(r), ==, WS_VERDICT_PROVED);
    }
}

/* Twice: Q·K two rounds ahead of P·V. There the ring must be deeper by one. */
static void twice(void)
{
    g_autoptr(WsDesign) design = load(PLAIN);
    g_autoptr(WsDesign) once = rotated(design, "mma_wait 0");
    g_autoptr(WsDesign) again = rotated(once, "mma_wait 1");
    g_autofree char *text = ws_design_print(again);
    g_assert_nonnull(strstr(text, "{ \"mma_wait\": 2 }"));
    g_assert_cmpint(judge(again), ==, WS_VERDICT_PROVED);
}

/* --- how many rounds -------------------------------------------------------------------------- */

/* The accumulator is 0 before the loop, which may have no round: all of it is in a branch then, and
 * without the branch the design is wrong for no round. */
static void no_round(void)
{
    g_autofree char *text = text_of(PLAIN);
    text = with(g_steal_pointer(&text), "\"assume\": [\"K >= 1\"],", "");
    text = with(g_steal_pointer(&text),
                "{ \"for\": \"k\", \"count\": \"kt\", \"do\": [\n            { \"wait\": \"full\"",
                "{ \"compute\": \"acc = 0\" }, { \"for\": \"k\", \"count\": \"kt\", \"do\": [ { "
                "\"wait\": \"full\"");
    text = with(g_steal_pointer(&text), "\"first\": \"k == 0\", ", "");
    g_autoptr(WsDesign) design = parse(text);
    g_assert_cmpint(judge(design), ==, WS_VERDICT_PROVED);
    g_autoptr(WsDesign) r = rotated(design, "mma_wait 0");
    g_assert_cmpint(judge(r), ==, WS_VERDICT_PROVED);
    char *bad = ws_design_print(r);
    g_assert_nonnull(strstr(bad, "{ \"if\": \"kt > 0\", \"then\": ["));
    bad = with(bad, "\"if\": \"kt > 0\"", "\"if\": \"1\"");
    g_autofree char *own = bad;
    g_autoptr(WsDesign) always = parse(own);
    g_assert_cmpint(judge(always), ==, WS_VERDICT_REFUTED);
}

/* One round: before the loop and behind it, none in it. Constant counts, an index that does not
 * begin at 0 or grows by 2. */
static void few_rounds(void)
{
    static const struct {
        const char *loop, *at, *first, *holds;
    } rows[] = {
        { "\"count\": 1", "k*BK", "k == 0", "\"count\": 0" },
        { "\"count\": 2", "k*BK", "k == 0", "\"count\": 1" },
        { "\"count\": \"kt\", \"from\": 3", "(k - 3)*BK", "k == 3", "\"from\": 4" },
        { "\"count\": \"kt\", \"step\": 2", "(k/2)*BK", "k == 0", "\"from\": 2, \"step\": 2" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        char *text = text_of(PLAIN);
        for (guint loop = 0; loop < 2; loop++)
            text = with(text, "\"for\": \"k\", \"count\": \"kt\"", "\"for\": \"k\", COUNT");
        for (guint loop = 0; loop < 2; loop++)
            text = with(text, "COUNT", rows[i].loop);
        for (guint load = 0; load < 2; load++)
            text = with(text, "\"k*BK\"", "AT");
        for (guint load = 0; load < 2; load++) {
            g_autofree char *at = g_strdup_printf("\"%s\"", rows[i].at);
            text = with(text, "AT", at);
        }
        g_autofree char *own = with(text, "k == 0", rows[i].first);
        g_autoptr(WsDesign) design = parse(own);
        g_assert_cmpint(judge(design), ==, WS_VERDICT_PROVED);
        g_autoptr(WsDesign) r = rotated(design, "mma_wait 0");
        g_autofree char *out = ws_design_print(r);
        if (strstr(out, rows[i].holds) == NULL)
            g_error("%s gives %s", rows[i].loop, out);
        g_assert_cmpint(judge(r), ==, WS_VERDICT_PROVED);
    }
}

/* A loop in a loop, and uses that a counter counts, in the first part and in the second. */
static void nested(void)
{
    static const char *const advance[] = { "wait", "arrive" };
    for (guint i = 0; i < G_N_ELEMENTS(advance); i++) {
        char *text = text_of(PLAIN);
        text = with(text,
                    "{ \"for\": \"k\", \"count\": \"kt\", \"do\": [\n            { \"wait\": "
                    "\"full\", \"use\": \"k.total\" },",
                    i == 0 ? "{ \"for\": \"h\", \"count\": \"kt\", \"do\": [ { \"for\": \"k\", "
                             "\"count\": 1, \"do\": [\n"
                             "{ \"wait\": \"full\", \"use\": \"n\" }, { \"advance\": \"n\" },"
                           : "{ \"for\": \"h\", \"count\": \"kt\", \"do\": [ { \"for\": \"k\", "
                             "\"count\": 1, \"do\": [\n"
                             "{ \"wait\": \"full\", \"use\": \"n\" },");
        text = with(text, "\"first\": \"k == 0\", \"use\": \"k.total\" }",
                    i == 0 ? "\"first\": \"h == 0\", \"use\": \"n - 1\" }"
                           : "\"first\": \"h == 0\", \"use\": \"n\" }");
        text = with(
            text, "{ \"arrive\": \"empty\", \"use\": \"k.total\" }\n          ] },",
            i == 0 ? "{ \"arrive\": \"empty\", \"use\": \"n - 1\" } ] } ] },"
                   : "{ \"arrive\": \"empty\", \"use\": \"n\" }, { \"advance\": \"n\" } ] } ] },");
        text = with(
            text, "{ \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [\"BM\", \"BN\"] }\n      ],",
            "{ \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [\"BM\", \"BN\"] } ], "
            "\"counters\": [ { \"name\": \"n\" } ],");
        g_autofree char *own = text;
        g_autoptr(WsDesign) design = parse(own);
        g_assert_cmpint(judge(design), ==, WS_VERDICT_PROVED);
        g_autoptr(WsDesign) r = rotated(design, "mma_wait 0");
        g_assert_cmpint(judge(r), ==, WS_VERDICT_PROVED);
        g_autoptr(WsDraft) d = ws_draft_new(design);
        g_assert_false(ws_edit_rotate(d, labelled(design, "mma_wait 0", 0) + 1000000));
    }
}

/* --- left out --------------------------------------------------------------------------------- */

/* Each change of what came out makes it wrong: nothing in it is for nothing. */
static void broken(void)
{
    static const struct {
        const char *file, *label, *from, *to;
    } rows[] = {
        { PLAIN, "mma_wait 0", "{ \"mma_wait\": 1 }", "{ \"mma_wait\": 2 }" },
        { PLAIN, "mma_wait 0", "{ \"mma_wait\": 0 },", "" },
        { PLAIN, "mma_wait 0", "\"arrive\": \"empty\", \"use\": \"u\"",
          "\"arrive\": \"empty\", \"use\": \"u + 1\"" },
        { PLAIN, "mma_wait 0", "\"count\": \"kt - 1\"", "\"count\": \"kt\"" },
        { PLAIN, "mma_wait 0", "\"wait\": \"full\", \"use\": \"u + 1\"",
          "\"wait\": \"full\", \"use\": \"u\"" },
        { PLAIN, "mma_wait 0", "{ \"advance\": \"u\" }\n          ] },",
          "{ \"mma_wait\": 0 } ] }," },
        { D128, "mma o", "{ \"mma_wait\": 1 }", "{ \"mma_wait\": 2 }" },
        { D128, "mma o", "\"arrive\": \"empty\", \"use\": \"kv + (j - 1)\"",
          "\"arrive\": \"empty\", \"use\": \"kv + j\"" },
        { D128, "mma o", "\"arrive\": \"empty\", \"use\": \"kv + (nb - 1)\"",
          "\"arrive\": \"empty\", \"use\": \"kv + nb\"" },
        { D128, "mma o", "\"wait\": \"full\", \"use\": \"kv\"",
          "\"wait\": \"full\", \"use\": \"kv + 1\"" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(WsDesign) design = load(rows[i].file);
        g_autoptr(WsDesign) r = rotated(design, rows[i].label);
        g_autofree char *text = with(ws_design_print(r), rows[i].from, rows[i].to);
        g_autoptr(WsDesign) bad = parse(text);
        if (judge(bad) == WS_VERDICT_PROVED)
            g_error("row %u is proved", i);
    }
}

/* --- what does not fit -------------------------------------------------------------------------
 */

static void refuses(void)
{
    static const struct {
        const char *file, *label, *from, *to, *says;
    } rows[] = {
        { PLAIN, "wait full", NULL, NULL, "first step of the loop" },
        { PLAIN, "write acc", NULL, NULL, "only a counted loop" },
        { PLAIN, "mma_wait 0", "\"mma_wait\": 0 }", "\"mma_wait\": 0, \"when\": \"k > 0\" }",
          "does not happen in every round" },
        { PLAIN, "mma_wait 0", "\"mma_wait\": 0 }", "\"mma_wait\": 0, \"ahead\": 1 }",
          "runs ahead" },
        { PLAIN, "mma_wait 0", "{ \"mma_wait\": 0 }",
          "{ \"let\": \"x\", \"be\": 1 }, { \"mma_wait\": 0 }", "cannot be carried" },
        { PLAIN, "mma_wait 0", "{ \"mma_wait\": 0 }",
          "{ \"raw\": \"ptx\", \"text\": [\"nop;\"] }, { \"mma_wait\": 0 }", "cannot be carried" },
        { PLAIN, "mma_wait 0",
          "{ \"for\": \"k\", \"count\": \"kt\", \"do\": [\n            { \"wait\": \"full\"",
          "{ \"for\": \"k\", \"count\": \"kt\", \"unroll\": 2, \"do\": [ { \"wait\": \"full\"",
          "unrolled" },
        { PLAIN, "mma_wait 0",
          "{ \"for\": \"k\", \"count\": \"kt\", \"do\": [\n            { \"wait\": \"full\"",
          "{ \"for\": \"k\", \"count\": \"kt\", \"step\": \"BM\", \"do\": [ { \"wait\": \"full\"",
          "`step`" },
        { PLAIN, "mma_wait 0", "\"b\": \"b\", ", "\"b\": \"b\", \"open\": true, ", "one group" },
        { "tests/designs/attention-ahead.wstave", "mma acc", NULL, NULL, "runs ahead" },
        { "projects/gemm-bf16-deferred/design.wstave", "mma_wait 1", NULL, NULL, "unrolled" },
        { "projects/gemm-bf16-pingpong/design.wstave", "load B", NULL, NULL, "expected together" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = text_of(rows[i].file);
        if (rows[i].from != NULL)
            text = with(g_steal_pointer(&text), rows[i].from, rows[i].to);
        g_autoptr(WsDesign) design = parse(text);
        g_autoptr(WsDraft) d = ws_draft_new(design);
        g_assert_false(ws_edit_rotate(d, labelled(design, rows[i].label, 0)));
        if (d->why == NULL || strstr(why(d), rows[i].says) == NULL)
            g_error("row %u: %s", i, d->why);
    }
    g_autoptr(WsDesign) design = load(PLAIN);
    g_autoptr(WsDraft) gone = ws_draft_new(design);
    g_assert_false(ws_edit_rotate(gone, 123456789));
    g_assert_nonnull(gone->why);
}

/* --- bytes under two names, rings that are too shallow, counters --------------------------------
 */

#define DESIGN(objects, values, body)                                                              \
    "{ \"warpstave\": 1, \"name\": \"d\", \"target\": \"sm_90a\", \"sizes\": { \"R\": 4 }, "       \
    "\"assume\": [\"R >= 1\"], \"tensors\": [ "                                                    \
    "{ \"name\": \"X\", \"dtype\": \"bf16\", \"shape\": [\"R*64\", 64] }, "                        \
    "{ \"name\": \"O\", \"dtype\": \"f32\", \"shape\": [64, 64], \"access\": \"write\" } ], "      \
    "\"tiles\": { \"axes\": { \"t\": 1 }, \"launch\": \"single\" }, " objects                      \
    "\"groups\": [ { \"name\": \"main\", \"role\": \"worker\", \"warps\": 4, "                     \
    "\"counters\": [ { \"name\": \"c\" }, { \"name\": \"d\" } ], \"values\": [ " values            \
    " { \"name\": \"o\", \"dtype\": \"f32\", \"tile\": [64, 64] } ], \"body\": [ "                 \
    "{ \"compute\": \"o = 0.0\" }, { \"for\": \"k\", \"count\": \"R\", \"do\": [ " body            \
    " ] }, { \"write\": \"o\", \"to\": \"O\", \"at\": [0, 0] } ] } ] }"
#define VALUE(name) "{ \"name\": \"" name "\", \"dtype\": \"bf16\", \"tile\": [64, 64] },"
#define OVER                                                                                       \
    "\"buffers\": [ { \"name\": \"x\", \"dtype\": \"bf16\", \"tile\": [64, 64] }, { \"name\": "    \
    "\"same\", "                                                                                   \
    "\"dtype\": \"bf16\", \"tile\": [64, 64], \"over\": \"x\" }, { \"name\": \"again\", "          \
    "\"dtype\": "                                                                                  \
    "\"bf16\", \"tile\": [64, 64], \"over\": \"same\" } ], "
#define RING(stages)                                                                               \
    "\"buffers\": [ { \"name\": \"x\", \"dtype\": \"bf16\", \"tile\": [64, 64], "                  \
    "\"stages\": " stages " } ], \"barriers\": [ { \"name\": \"full\", \"slots\": 2 } ], "
#define LOAD(use)                                                                                  \
    "{ \"load\": \"X\", \"at\": [\"k*64\", 0], \"into\": \"x\", \"signal\": \"full\", "            \
    "\"use\": " use " }, { \"wait\": \"full\", \"use\": " use " }, "
#define READ(use)                                                                                  \
    "{ \"read\": \"v\", \"from\": \"x\", \"use\": " use " }, { \"sync\": \"group\" }, "
#define SUM "{ \"compute\": \"o = o + (k + 1)*f32(v)\" }"

/* What stays behind what: `early` before `late` in the loop that comes out. */
static void kept_in_order(void)
{
    static const char over[] = DESIGN(
        OVER, VALUE("q") VALUE("v"),
        "{ \"sync\": \"group\" }, { \"read\": \"v\", \"from\": \"X\", \"at\": [\"k*64\", 0] }, "
        "{ \"write\": \"v\", \"to\": \"x\" }, { \"sync\": \"group\" }, "
        "{ \"read\": \"q\", \"from\": \"X\", \"at\": [0, 0] }, "
        "{ \"mma\": \"o\", \"a\": \"q\", \"b\": \"again\" }, { \"mma_wait\": 0 }");
    static const char one[] = DESIGN(RING("1"), VALUE("v"), LOAD("\"k\"") READ("\"k\"") SUM);
    static const char two[] = DESIGN(RING("2"), VALUE("v"), LOAD("\"k\"") READ("\"k\"") SUM);
    static const char by[] =
        DESIGN(RING("2"), VALUE("v"),
               LOAD("\"2*k\"") READ("\"2*k\"") SUM); /* two further: the same stage again */
    static const char counted[] = DESIGN(
        RING("2"), VALUE("v"), LOAD("\"c\"") "{ \"advance\": \"c\" }, " READ("\"c - 1\"") SUM);
    static const char lags[] =
        DESIGN(RING("2"), VALUE("v"), LOAD("\"c\"") "{ \"advance\": \"c\" }, " READ("\"c\"") SUM);
    static const struct {
        const char *text, *at, *early, *late;
    } rows[] = {
        { over, "mma o", "{ \"mma\"", "{ \"write\": \"v\"" },
        { one, "read v", "{ \"read\": \"v\"", "{ \"load\"" },
        { two, "read v", "{ \"load\"", "{ \"read\": \"v\"" },
        { by, "read v", "{ \"read\": \"v\"", "{ \"load\"" },
        { counted, "read v", "{ \"load\"", "{ \"read\": \"v\"" },
        { lags, "read v", "{ \"read\": \"v\"", "{ \"load\"" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(WsDesign) design = parse(rows[i].text);
        g_autoptr(WsDesign) r = rotated(design, rows[i].at);
        g_autofree char *text = ws_design_print(r);
        const char *loop = strstr(text, "{ \"for\"");
        const char *early = strstr(loop, rows[i].early), *late = strstr(loop, rows[i].late);
        if (early == NULL || late == NULL || early > late)
            g_error("row %u gives %s", i, text);
    }
}

/* The stage is given back at the top of the next round, before the wait there: the read of the
 * round before stays in front of both, though behind them nothing would be a race. */
static void given_back_early(void)
{
    static const char text[] =
        "{ \"warpstave\": 1, \"name\": \"d\", \"target\": \"sm_90a\", \"sizes\": { \"R\": 4 }, "
        "\"assume\": "
        "[\"R >= 1\"], \"tensors\": [ { \"name\": \"X\", \"dtype\": \"bf16\", \"shape\": "
        "[\"R*64\", 64] }, "
        "{ \"name\": \"O\", \"dtype\": \"f32\", \"shape\": [64, 64], \"access\": \"write\" } ], "
        "\"tiles\": { \"axes\": { \"t\": 1 }, \"launch\": \"single\" }, \"buffers\": [ { \"name\": "
        "\"x\", "
        "\"dtype\": \"bf16\", \"tile\": [64, 64] } ], \"barriers\": [ { \"name\": \"full\", "
        "\"slots\": 2 }, "
        "{ \"name\": \"empty\", \"slots\": 2 } ], \"groups\": [ { \"name\": \"get\", \"role\": "
        "\"producer\", "
        "\"warps\": 4, \"body\": [ { \"for\": \"k\", \"count\": \"R\", \"do\": [ { \"wait\": "
        "\"empty\", "
        "\"use\": \"k - 1\", \"when\": \"k > 0\" }, { \"load\": \"X\", \"at\": [\"k*64\", 0], "
        "\"into\": \"x\", "
        "\"signal\": \"full\", \"use\": \"k\" } ] } ] }, { \"name\": \"main\", \"role\": "
        "\"worker\", "
        "\"warps\": 4, \"values\": [ { \"name\": \"v\", \"dtype\": \"bf16\", \"tile\": [64, 64] }, "
        "{ \"name\": "
        "\"o\", \"dtype\": \"f32\", \"tile\": [64, 64] } ], \"body\": [ { \"compute\": \"o = 0.0\" "
        "}, { \"for\": "
        "\"k\", \"count\": \"R\", \"do\": [ { \"arrive\": \"empty\", \"by\": \"all\", \"use\": \"k "
        "- 1\", "
        "\"when\": \"k > 0\" }, "
        "{ \"wait\": \"full\", \"use\": \"k\" }, { \"read\": \"v\", \"from\": "
        "\"x\", \"use\": \"k\" }, { \"compute\": \"o = o + (k + 1)*f32(v)\" } ] }, { \"write\": "
        "\"o\", \"to\": "
        "\"O\", \"at\": [0, 0] } ] } ] }";
    g_autoptr(WsDesign) design = parse(text);
    g_assert_cmpint(judge(design), ==, WS_VERDICT_PROVED);
    g_autoptr(WsDesign) r = rotated(design, "read v");
    g_autofree char *out = ws_design_print(r);
    const char *loop = strstr(strstr(out, "\"main\""), "{ \"for\"");
    g_assert_true(strstr(loop, "{ \"read\"") < strstr(loop, "{ \"wait\""));
}

static void counters_refused(void)
{
    static const char loads[] = "{ \"read\": \"v\", \"from\": \"X\", \"at\": [\"c*64\", 0] }, " SUM;
    static const char *const rest[] = {
        "{ \"advance\": \"c\", \"by\": \"d\" }, { \"advance\": \"d\" }",
        "{ \"if\": \"k % 2 == 0\", \"then\": [ { \"advance\": \"c\" } ] }",
        "{ \"for\": \"j\", \"count\": 2, \"do\": [ { \"advance\": \"c\" } ] }",
        "{ \"if\": \"k > 1\", \"then\": [ { \"advance\": \"d\" } ] }, { \"advance\": \"c\", "
        "\"by\": "
        "\"d\" }",
        "{ \"advance\": \"c\", \"by\": \"k\" }",
        "{ \"advance\": \"c\", \"when\": \"k > 1\" }",
    };
    for (guint i = 0; i < G_N_ELEMENTS(rest); i++) {
        g_autofree char *text = with(g_strdup(DESIGN("", VALUE("v"), "BODY")), "BODY", loads);
        text = with(g_steal_pointer(&text), SUM, SUM ", REST");
        text = with(g_steal_pointer(&text), "REST", rest[i]);
        g_autoptr(WsDesign) design = parse(text);
        for (guint cut = 1; cut < 3; cut++) {
            g_autoptr(WsDraft) d = ws_draft_new(design);
            g_autofree char *path = g_strdup_printf("groups/main/body/1/do/%u", cut);
            g_assert_false(ws_edit_rotate(d, node_at(design, path)));
            g_assert_nonnull(strstr(why(d), "is not advanced once in each round"));
        }
    }
    /* What only one step follows goes along with it. */
    g_autoptr(WsDesign) inside = parse(
        DESIGN("", VALUE("v"),
               "{ \"read\": \"v\", \"from\": \"X\", \"at\": [\"k*64\", 0] }, " SUM
               ", { \"for\": \"j\", \"count\": 2, \"do\": [ { \"compute\": \"o = o + c\" }, { "
               "\"advance\": \"c\" } ] }"));
    g_autoptr(WsDesign) r = rotated(inside, "compute");
    g_assert_cmpint(judge(r), ==, WS_VERDICT_PROVED);
    /* The rounds follow what a branch in them advances. */
    g_autofree char *ends =
        with(g_strdup(DESIGN("", VALUE("v"),
                             SUM ", " SUM
                                 ", { \"if\": \"k > 1\", \"then\": [ { \"advance\": \"d\" } ] }")),
             "\"count\": \"R\"", "\"count\": \"R - d\"");
    g_autoptr(WsDesign) design = parse(ends);
    g_autoptr(WsDraft) d = ws_draft_new(design);
    g_assert_false(ws_edit_rotate(d, node_at(design, "groups/main/body/1/do/1")));
    g_assert_nonnull(strstr(why(d), "the rounds of the loop follow counter d"));
}

/* --- a buffer parted from its ring ---------------------------------------------------------------
 */

static void parted(void)
{
    static const struct {
        const char *file, *buffer, *rotate;
    } rows[] = {
        { D128, "buffer k", NULL },
        { D128, "buffer v", NULL },
        { D128, "buffer v", "mma o" },
        { D128, "buffer v", "wait full_v" },
        { D128, "buffer k", "wait full" },
        { D64, "buffer v", "wait full_v" },
        { D256, "buffer k", NULL },
        { PLAIN, "buffer a", NULL },
        { PLAIN, "buffer b", "mma_wait 0" },
        { "projects/gemm-bf16/design.wstave", "buffer b", NULL },
        { "projects/gemm-bf16-cluster2/design.wstave", "buffer b", NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(WsDesign) design = load(rows[i].file);
        g_autoptr(WsDraft) d = ws_draft_new(design);
        must(d, ws_edit_part(d, labelled(design, rows[i].buffer, 0)));
        assert_replays(design, d);
        g_autoptr(WsDesign) r =
            rows[i].rotate != NULL ? rotated(d->design, rows[i].rotate) : ws_design_ref(d->design);
        if (judge(r) != WS_VERDICT_PROVED)
            g_error("row %u is not proved", i);
    }
}

/* First rotated, then parted: the same ring; twice: it has its own by then. */
static void parted_after(void)
{
    g_autoptr(WsDesign) design = load(D128);
    g_autoptr(WsDesign) r = rotated(design, "mma o");
    g_autoptr(WsDraft) d = ws_draft_new(r);
    must(d, ws_edit_part(d, labelled(r, "buffer v", 0)));
    g_assert_cmpint(judge(d->design), ==, WS_VERDICT_PROVED);
    g_assert_false(ws_edit_part(d, labelled(d->design, "buffer v", 0)));
    g_assert_nonnull(strstr(why(d), "for itself"));
}

static void parting_refused(void)
{
    static const struct {
        const char *file, *node, *says;
    } rows[] = {
        { D128, "buffer q", "for itself" },
        { D128, "buffer os", "loads alone" },
        { D128, "barrier full", "only a buffer" },
        { "tests/designs/sparse-mla-seesaw.wstave", NULL, NULL },
    };
    for (guint i = 0; rows[i].node != NULL; i++) {
        g_autoptr(WsDesign) design = load(rows[i].file);
        g_autoptr(WsDraft) d = ws_draft_new(design);
        g_assert_false(ws_edit_part(d, labelled(design, rows[i].node, 0)));
        if (strstr(why(d), rows[i].says) == NULL)
            g_error("row %u: %s", i, d->why);
    }
}

/* Without the wait or the arrival of the new pair it is wrong. */
static void parting_broken(void)
{
    static const char *const parts[] = {
        "{ \"wait\": \"full_v\", \"use\": \"kv + j\" },",
        "{ \"arrive\": \"empty_v\", \"use\": \"kv + j\" }",
        "{ \"wait\": \"empty_v\", \"use\": \"kv + j\" },",
    };
    g_autoptr(WsDesign) design = load(D128);
    g_autoptr(WsDraft) d = ws_draft_new(design);
    must(d, ws_edit_part(d, labelled(design, "buffer v", 0)));
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *text = with(ws_design_print(d->design), parts[i],
                                     g_str_has_suffix(parts[i], ",") ? "" : "{ \"mma_wait\": 0 }");
        g_autoptr(WsDesign) bad = parse(text);
        g_assert_cmpint(judge(bad), ==, WS_VERDICT_REFUTED);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/edit/rotate/applies/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), applies);
    }
    g_test_add_func("/edit/rotate/causal", causal);
    g_test_add_func("/edit/rotate/twice", twice);
    g_test_add_func("/edit/rotate/no-round", no_round);
    g_test_add_func("/edit/rotate/few-rounds", few_rounds);
    g_test_add_func("/edit/rotate/nested", nested);
    g_test_add_func("/edit/rotate/broken", broken);
    g_test_add_func("/edit/rotate/refuses", refuses);
    g_test_add_func("/edit/rotate/kept-in-order", kept_in_order);
    g_test_add_func("/edit/rotate/given-back-early", given_back_early);
    g_test_add_func("/edit/rotate/counters", counters_refused);
    g_test_add_func("/edit/part/parted", parted);
    g_test_add_func("/edit/part/after", parted_after);
    g_test_add_func("/edit/part/refused", parting_refused);
    g_test_add_func("/edit/part/broken", parting_broken);
    return g_test_run();
}
