/* The first finding of a design with a known mistake says the mistake: its remedy names it, the
 * text holds what a person needs to follow it, and nothing that belongs to another cause. */
#include "base/phrase.h"
#include "check/witness/witness.h"
#include "design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <stdio.h>

typedef struct {
    const char *name, *file;
    Edit edit[MAX_EDITS];
    const char *remedy;   /* part of the remedy */
    const char *says[3];  /* parts of message and story */
    const char * not [3]; /* parts that no text of the finding may have */
    guint errors;         /* 0: any number */
} Row;

#define BROKEN(name)    "broken/" name ".wstave"
#define CATALOGUE(name) "catalogue/" name ".wstave"

static const Row rows[] = {
    /* --- one cause, one remedy --- */
    { "missing-wait", BROKEN("01-missing-wait"), { { 0 } }, "wait for empty before it" },
    { "count", BROKEN("02-wrong-count"), { { 0 } }, "arrival count of empty: 2 instead of 3" },
    { "parity", BROKEN("03-wrong-parity"), { { 0 } }, "names slot and parity by hand" },
    { "bytes", BROKEN("04-wrong-bytes"), { { 0 } }, "49152 instead of 49136" },
    { "release", BROKEN("05-early-release"), { { 0 } }, "after the mma_wait" },
    { "sync", BROKEN("07-missing-sync"), { { 0 } }, "between `write acc -> c` and `store c -> C`" },
    { "rounds",
      BROKEN("10-unequal-loops"),
      { { 0 } },
      "same number of rounds: loop k of mma.0 runs cdiv(K, 64) + 1" },
    { "crossed", BROKEN("11-crossed-syncs"), { { 0 } }, "sync on x and y in the same order" },
    { "other-cta", BROKEN("14-slots-freed-alone"), { { 0 } }, "\"cta\": \"all\"" },
    { "use-ahead",
      BROKEN("15-waits-too-far-ahead"),
      { { 0 } },
      "`wait empty` of load says k.total + 4" },
    { "twice", BROKEN("16-released-twice"), { { 0 } }, "`arrive empty` appears twice in mma.0" },
    { "no-wait", BROKEN("17-consumers-do-not-wait"), { { 0 } }, "wait for full before it" },
    { "turns", CATALOGUE("B79-both-groups-prime-the-ping-pong"), { { 0 } }, "one is enough" },
    { "turn-by-one-lane",
      "gemm-pingpong.wstave",
      { { "\"main_turn[1 - replica]\", \"by\": \"all\"", "\"main_turn[1 - replica]\"" } },
      "let `arrive main_turn` be by warp or by all" },
    { "no-turn", CATALOGUE("B89-circular-wait-of-three"), { { 0 } }, "give the first turn" },
    /* --- not the count: the use begins anew, the expect comes late --- */
    { "restarts",
      BROKEN("12-phase-restarts"),
      { { 0 } },
      "let it count on from tile to tile, as k.total does",
      { NULL },
      { "count too low", "make the count" } },
    { "late-expect",
      CATALOGUE("C10-load-before-its-expect"),
      { { "{ \"expect\": \"full\", \"bytes\": 8192, \"use\": \"k.total\" }",
          "{ \"arrive\": \"full\", \"use\": \"k.total\" }, "
          "{ \"expect\": \"full\", \"bytes\": 8192, \"count\": 0, \"use\": \"k.total\" }" } },
      "expect the bytes before",
      { NULL },
      { "arrival too many", "raise the count" } },
    /* --- a wait that has missed its completion is not told what the running phase lacks --- */
    { "missed",
      CATALOGUE("C65-fence-by-the-reader-after-the-wait"),
      { { "{ \"name\": \"full\", \"slots\": \"S\" }",
          "{ \"name\": \"full\", \"slots\": \"S\", \"init\": \"ready\" }" } },
      "let full begin pending",
      { "it has missed", "before its first completion" },
      { "more arrival", "-1", "nothing: " } },
    { "ready",
      CATALOGUE("C01-plain-ring"),
      { { "{ \"wait\": \"empty\", \"use\": \"k.total\" },", "" },
        { "\"into\": \"a\", \"signal\": \"full\", \"use\": \"k.total\" }",
          "\"into\": \"a\", \"signal\": \"full\", \"use\": \"k.total\" }, "
          "{ \"wait\": \"empty\", \"use\": \"k.total\" }" } },
      "wait for empty before",
      { "the time before it" },
      { "completion -1" } },
    /* --- whose bytes nobody expects --- */
    { "multicast",
      CATALOGUE("B31-own-half-expected-only"),
      { { 0 } },
      "expect the bytes of this load",
      { "load@1 (load A -> a; k 0)", "another CTA sends them" } },
    /* --- other names of the same bytes --- */
    { "alias",
      CATALOGUE("B53-epilogue-over-a-ring-in-use"),
      { { 0 } },
      NULL,
      { "c lies over a", "writes c, the same bytes as a stage 0" } },
    { "alias-of-loads",
      CATALOGUE("B106-two-rings-over-the-same-stages"),
      { { 0 } },
      "give each its own",
      { "b lies over a" } },
    /* --- the loads of one transaction are one finding --- */
    { "two-places",
      BROKEN("05-early-release"),
      { { 0 } },
      NULL,
      { "the same holds for `load B -> b`" },
      { NULL },
      1 },
    { "two-operands",
      BROKEN("17-consumers-do-not-wait"),
      { { 0 } },
      NULL,
      { "the same holds for `load B -> b`" },
      { NULL },
      1 },
};

static void check_row(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *text = edited_text(row->file, row->edit);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), row->file, findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
    const WsFinding *first = NULL;
    for (guint i = findings->list->len; i-- > 0;)
        if (((WsFinding *)findings->list->pdata[i])->severity == WS_SEVERITY_ERROR)
            first = findings->list->pdata[i];
    g_autofree char *story = ws_finding_story(first, "", 0);
    g_autofree char *said = g_strdup_printf("%s\n%s", first->message, story);
    g_test_message("%s", said);
    if (row->remedy) {
        g_assert_nonnull(first->remedy);
        g_assert_nonnull(strstr(first->remedy, row->remedy));
    }
    for (guint i = 0; i < G_N_ELEMENTS(row->says) && row->says[i]; i++)
        g_assert_nonnull(strstr(said, row->says[i]));
    for (guint i = 0; i < G_N_ELEMENTS(row->not ) && row->not [i]; i++)
        g_assert_null(strstr(said, row->not [i]));
    if (row->errors)
        g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, row->errors);
}

/* A read fills nothing. */
static void reads_fill_nothing(void)
{
    g_autofree char *text = edited_text(CATALOGUE("B109-leader-releases-what-lanes-read"), NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "x", findings);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_autoptr(WsWitness) w = ws_witness_new(p, NULL, NULL);
    g_assert_nonnull(w);
    guint reads = 0;
    for (guint i = 0; i < w->n_moves; i++) {
        if (!strstr(w->move[i].words, "read v <- a"))
            continue;
        reads++;
        g_assert_null(strstr(w->move[i].words, "fills"));
    }
    g_assert_cmpuint(reads, >, 0);
}

/* Nor does a product that reads a stage which is being filled: that is the race. */
static void race_is_a_read(void)
{
    g_autoptr(GDir) dir = g_dir_open(WS_SOURCE_ROOT "/tests/designs/broken", 0, NULL);
    guint products = 0;
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path =
            g_build_filename(WS_SOURCE_ROOT "/tests/designs/broken", name, NULL);
        g_autofree char *text = NULL;
        gsize length;
        if (!g_str_has_suffix(name, ".wstave") || !g_file_get_contents(path, &text, &length, NULL))
            continue;
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(text, length, name, findings);
        g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        g_autoptr(WsWitness) w = p ? ws_witness_new(p, NULL, NULL) : NULL;
        for (guint i = 0; w && i < w->n_moves; i++) {
            g_autofree char *words = ws_phrase_text(w->move[i].words, NULL, NULL);
            if (!strstr(words, "mma acc"))
                continue;
            g_assert_null(strstr(words, "fills"));
            products +=
                w->move[i].collide && strstr(words, "reads a stage") && strstr(words, "b stage");
        }
    }
    g_assert_cmpuint(products, >=, 2);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/remedy/%s", rows[i].name);
        g_test_add_data_func(path, &rows[i], check_row);
    }
    g_test_add_func("/check/remedy/reads-fill-nothing", reads_fill_nothing);
    g_test_add_func("/check/remedy/race-is-a-read", race_is_a_read);
    return g_test_run();
}
