/* Devices of a mesh, rehearsed: three launches of two to four of them against the reference over
 * all. What is proved comes out right in every order that is drawn; of what is refuted each kind
 * goes wrong or hangs. A run of events alone (check/mesh_run.c, which knows nothing of code, memory
 * or the check) sees the same wherever more than the order of memory is at fault. */
#include "../check/design.h"
#include "../check/mesh_edits.h"
#include "../check/mesh_run.h"
#include "../whole.h"
#include "codegen/generate.h"
#include "program/program.h"

typedef enum { RIGHT, WRONG, STUCK } Outcome;

typedef struct {
    const char *name, *file;
    Edit edit[MAX_EDITS];
    Outcome outcome;
    gboolean order;   /* it is the order of memory alone: events show nothing */
    const char *says; /* part of what is told of it */
} Row;

static const char RS[] = "mesh/gemm-rs.wstave", AG[] = "mesh/ag-gemm.wstave",
                  AR[] = "mesh/gemm-ar.wstave", GA[] = "mesh/ag-pieces.wstave",
                  OF[] = "../../projects/ag-gemm/design.wstave",
                  ONCE[] = "../../projects/ag-gemm/gather.wstave", PULL[] = "mesh/ag-pull.wstave",
                  EX[] = "mesh/exchange-get.wstave";

/* All other fences drawn, so that those of devices are. */
#define DRAWN                                                                                      \
    { "\"buffers\"", "\"fences\": \"drawn\", \"buffers\"" },                                       \
    {                                                                                              \
        "{ \"mma\": \"acc\"", "{ \"fence\": \"mma\" }, { \"mma\": \"acc\""                         \
    }
/* clang-format off */
static const Row rows[] = {
    { "reduce-scatter", RS, { { 0 } }, RIGHT, FALSE, NULL },
    { "all-gather", AG, { { 0 } }, RIGHT, FALSE, NULL },
    { "fences drawn", RS, { DRAWN, STAGE_FENCE, GATE_FENCE }, RIGHT, FALSE, NULL },
    { "every device begins with the first", RS, { { TURN, "\"s\"" } }, RIGHT, FALSE, NULL },
    { "equal to all of a gated flag", RS, { { EXIT, "\"equals\": \"all_tiles\" }" } }, RIGHT, FALSE, NULL },
    { "equal to all of the rows", AG, { { ROUNDS, "\"equals\": \"TN\" }" } }, RIGHT, FALSE, NULL },
    { "adds two", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"dev\", \"count\": 2 }" },
        { "\"all_tiles\": \"W*TM*TN\"", "\"all_tiles\": \"2*W*TM*TN\"" } }, RIGHT, FALSE, NULL },

    { "gemm-ar", AR, { { 0 } }, RIGHT, FALSE, NULL },
    { "gemm-ar, wait for the reads", AR, { { "{ \"store_wait\": 0, \"full\": true }", "{ \"store_wait\": 0 }" } }, WRONG, FALSE, NULL },
    { "ag-gemm", GA, { { 0 } }, RIGHT, FALSE, NULL },
    { "ag-gemm, own rows first", OF, { { 0 } }, RIGHT, FALSE, NULL },
    { "ag-gemm, others' rows are read from X", OF, { { "\"s == 0\"", "\"s <= 1\"" } }, WRONG, TRUE, NULL },
    { "ag-gemm, some pieces", GA, { { "\"at_least\": \"KQ*TN\"", "\"at_least\": \"TN\"" } }, WRONG, FALSE, NULL },

    { "pulled", PULL, { { 0 } }, RIGHT, FALSE, NULL },
    { "pulled once", ONCE, { { 0 } }, RIGHT, FALSE, NULL },
    { "what was just written is got", EX, { { 0 } }, RIGHT, FALSE, NULL },
    { "gets with the fence drawn", PULL, { DRAWN, STORE_FENCE, GATE_FENCE }, RIGHT, FALSE, NULL },

    /* --- the order of memory */
    { "gets behind a relaxed gate", PULL, { { GATE, "\"at_least\": 1, \"order\": \"relaxed\" }" } }, WRONG, TRUE, NULL },
    { "gets without fence", PULL, { DRAWN, STORE_FENCE }, WRONG, TRUE, NULL },
    { "just written, relaxed", EX, { { "\"at_least\": \"W\"", "\"at_least\": \"W\", \"order\": \"relaxed\"" } }, WRONG, TRUE, NULL },
    { "just written, no fence", EX, { { "\"buffers\"", "\"fences\": \"drawn\", \"buffers\"" }, GATE_FENCE }, WRONG, TRUE, NULL },
    { "a get from the own device", PULL, { { "\"device\": \"s\"", "\"device\": \"rank\"" } }, WRONG, TRUE, NULL },
    { "relaxed notify", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"dev\", \"order\": \"relaxed\" }" } }, WRONG, TRUE, NULL },
    { "notify of this device alone", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"dev\", \"scope\": \"gpu\" }" } }, WRONG, TRUE, NULL },
    { "relaxed await", RS, { { EXIT, "\"at_least\": \"all_tiles\", \"order\": \"relaxed\" }" } }, WRONG, TRUE, NULL },
    { "relaxed await of the gate", RS, { { GATE, "\"at_least\": 1, \"order\": \"relaxed\" }" } }, WRONG, TRUE, NULL },
    { "await of this device alone", RS, { { GATE, "\"at_least\": 1, \"scope\": \"gpu\" }" } }, WRONG, TRUE, NULL },
    { "no fence before the put", RS, { DRAWN, STAGE_FENCE }, WRONG, TRUE, NULL },
    { "the published all-gather", AG, { DRAWN, STORE_FENCE, GATE_FENCE,
        { ROUNDS, "\"at_least\": \"TN\", \"order\": \"relaxed\" }" } }, WRONG, TRUE, NULL },
    { "all-gather, relaxed and fenced", AG, { { ROUNDS, "\"at_least\": \"TN\", \"order\": \"relaxed\" }, { \"fence\": \"async_global\" }" } }, WRONG, TRUE, NULL },
    { "all-gather without fence", AG, { DRAWN, STORE_FENCE, GATE_FENCE }, WRONG, TRUE, NULL },

    /* --- more than that */
    { "wait for the reads", RS, { { "{ \"store_wait\": 0, \"full\": true }", "{ \"store_wait\": 0 }" } }, WRONG, FALSE, NULL },
    { "equal to a part", RS, { { GATE, "\"equals\": 1 }" } }, STUCK, FALSE, "flag ready" },
    { "no gate", RS, { { GATES, "" } }, WRONG, FALSE, NULL },
    { "gate before its notify", RS, { { "        { \"notify\": \"ready[rank]\", \"device\": \"all\" },\n" GATES,
        GATES "        { \"notify\": \"ready[rank]\", \"device\": \"all\" },\n" } }, STUCK, FALSE, "of device" },
    { "no await at the end", RS, { { "        ] },\n        { \"await\": \"done\", " EXIT, "        ] }" } }, WRONG, FALSE, NULL },
    { "await of a part at the end", RS, { { EXIT, "\"at_least\": 1 }" } }, WRONG, FALSE, NULL },
    { "await of more", RS, { { EXIT, "\"at_least\": \"all_tiles + 1\" }" } }, STUCK, FALSE, "flag done" },
    { "per_launch is one more", RS, { { "\"per_launch\": \"all_tiles\"", "\"per_launch\": \"all_tiles + 1\"" } }, STUCK, FALSE, "flag done" },
    { "no notify", RS, { { ",\n          " NOTIFY, "" } }, STUCK, FALSE, "flag done" },
    { "own shard alone", RS, { { TURN, "\"rank\"" } }, WRONG, TRUE, NULL },
    { "await of some of the rows", AG, { { ROUNDS, GATE } }, WRONG, FALSE, NULL },
    { "no await before the load", AG, { { "          { \"await\": \"rows[s*TM + tm]\", " ROUNDS ",\n", "" } }, WRONG, FALSE, NULL },
    { "gets without gate", PULL, { { GATES, "" } }, WRONG, FALSE, NULL },
    { "gets that nobody is told of", PULL, { { ",\n        { \"wait\": \"over\", \"use\": 0 },\n"
        "        { \"notify\": \"read\", \"device\": \"all\", \"got\": [\"a\"] },\n"
        "        { \"await\": \"read\", \"at_least\": \"W*SMS\" }", "" },
        { "\"name\": \"read\", \"per_launch\": \"W*SMS\"", "\"name\": \"idle\", \"per_launch\": 1" } }, WRONG, FALSE, NULL },
    { "some of the readers are awaited", PULL, { { "\"at_least\": \"W*SMS\"", "\"at_least\": \"SMS\"" } }, WRONG, FALSE, NULL },
    { "the readers are not awaited", PULL, { { ",\n        { \"await\": \"read\", \"at_least\": \"W*SMS\" }", "" } }, WRONG, FALSE, NULL },
    { "gets behind an equal gate", PULL, { { GATE, "\"equals\": 1 }" } }, STUCK, FALSE, "flag ready" },
    { "a get from a device that is not there", PULL, { { "\"device\": \"s\"", "\"device\": \"rank + 1\"" } }, STUCK, TRUE, "there is none" },
    { "overwritten while it is got", EX, { { GATES, "" } }, WRONG, FALSE, NULL },
    { "just written, of some devices", EX, { { "\"at_least\": \"W\"", "\"at_least\": 1" } }, WRONG, FALSE, NULL },
    { "just written, equal to a part", EX, { { "\"at_least\": \"W\"", "\"equals\": 1" } }, STUCK, FALSE, "flag rows" },
    { "a device that is not there", RS, { { TURN, "\"s + rank\"" } }, STUCK, TRUE, "there is none" },
    { "an element that is not there", RS, { { "{ \"notify\": \"ready[rank]\"", "{ \"notify\": \"ready[rank - W - W]\"" } }, STUCK, TRUE, "there is none" },
};
/* clang-format on */

static WsRehearseResult *run(WsRehearsal *s, const Row *row, gint64 devices, guint64 seed)
{
    const gboolean by_rows = row->file == RS || row->file == AR, /* else tiles are counted */
        of_k = by_rows || row->file == OF || row->file == ONCE;
    const char *names[] = { "W", "SMS",
                            row->file == AR ? "M"
                            : by_rows       ? "MS"
                                            : "TM",
                            of_k ? "N" : "TN", of_k ? "K" : "KQ" };
    const gint64 size[] = { devices, 2,
                            by_rows           ? 136
                            : row->file == EX ? 2
                                              : 1,
                            by_rows ? 40
                            : of_k  ? 72
                                    : 2,
                            by_rows ? 64
                            : of_k  ? 328
                                    : 2 };
    const guint n = row->file == EX ? 3 : row->file == AG ? 4 : 5;
    g_autoptr(GError) error = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsRehearseOptions o = { .seed = seed, .sms = 2, .size_name = names, .size = size, .n_size = n };
    WsRehearseResult *r = ws_rehearsal_run(s, &o, findings, &error);
    if (!r)
        g_error("%s: %s", row->name, error->message);
    return r;
}

static Outcome outcome_of(const WsRehearseResult *r)
{
    return !r->ran ? STUCK : r->matches ? RIGHT : WRONG;
}

static void say(const WsRehearseResult *r, gint64 devices, guint64 seed)
{
    g_test_message("%d devices, seed %d: %s; %s; %s", (int)devices, (int)seed,
                   r->stuck ? r->stuck : "ends", r->first_wrong ? r->first_wrong : "all right",
                   r->first_violation ? r->first_violation : "no violation");
}

static void test_row(gconstpointer data)
{
    const Row *row = data;
    Edit edit[MAX_EDITS] = { { 0 } };
    memcpy(edit, row->edit, sizeof edit);
    g_autofree char *text = edited_text(row->file, edit);
    /* small tiles; the sum over devices rounds once for each */
    const gboolean wide = row->file == RS || row->file == AR;
    const gboolean whole = row->file == OF || row->file == ONCE;
    const Edit small[] = {
        { wide    ? "\"BN\": 256"
          : whole ? "\"BN\": 256, \"BK\": 64, \"WM\": 64, \"STAGES\": 4, \"SLAB\": 64"
                  : "\"BN\": 128",
          whole ? "\"BN\": 64, \"BK\": 64, \"WM\": 64, \"STAGES\": 4, \"SLAB\": 16"
                : "\"BN\": 32" },
        { "\"access\": \"reduce\"", "\"access\": \"reduce\", \"tolerance\": [0.5, 0.01]" }
    };
    if (row->file != EX) /* its tiles are small */
        text = edited(g_steal_pointer(&text), row->name, small, row->file == RS ? 2 : 1);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = right_program(text, row->name, findings);
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    gboolean shown = FALSE, events = FALSE;
    const gboolean variant = row->outcome == RIGHT && row->edit[0].from;
    for (guint64 seed = variant ? 2 : 1; seed <= (row->file == EX ? 60 : 12) && !shown; seed++) {
        const gint64 devices = 2 + (gint64)(seed - 1) % 3;
        WsRehearseResult *r = run(s, row, devices, seed);
        say(r, devices, seed);
        if (row->outcome == RIGHT)
            g_assert_cmpint(outcome_of(r), ==, RIGHT);
        const char *told = r->first_violation ? r->first_violation : r->stuck;
        shown = row->outcome == RIGHT ? variant || seed == 3
                                      : outcome_of(r) == row->outcome &&
                                            (!row->says || (told && strstr(told, row->says)));
        ws_rehearse_result_free(r);
    }
    g_assert_true(shown);
    for (guint32 seed = 0; seed < 12 && !events && !strstr(row->name, "not there"); seed++) {
        g_autofree char *wrong = mesh_run(p, 2 + seed % 3, 3, 77 + seed);
        if (wrong)
            g_test_message("events: %s", wrong);
        events = wrong != NULL;
    }
    g_assert_true(events == (row->outcome != RIGHT && !row->order));
}

/* CTAs that wait keep the SMs that those need which they wait for. */
static void test_residents(void)
{
    const Edit single[MAX_EDITS] = {
        { "\"launch\": \"persistent\",\n    \"grid\": \"SMS\",", "\"launch\": \"single\"," },
        { "\"per_launch\": \"SMS\"", "\"per_launch\": \"all_tiles\"" },
        { "\"access\": \"reduce\"", "\"access\": \"reduce\", \"tolerance\": [0.5, 0.01]" },
        { "\"BN\": 256", "\"BN\": 32" },
    };
    const Row row = { .name = "a CTA for each tile", .file = RS };
    g_autofree char *text = edited_text(RS, single);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = right_program(text, RS, findings);
    g_autoptr(WsRehearsal) s = ws_rehearsal_new(p);
    for (guint64 seed = 1; seed <= 3; seed++) {
        WsRehearseResult *r = run(s, &row, 2, seed);
        say(r, 2, seed);
        g_assert_nonnull(r->stuck);
        g_assert_nonnull(strstr(r->stuck, "flag done"));
        ws_rehearse_result_free(r);
    }
    const char *names[] = { "W", "MS", "N", "K" };
    const gint64 size[] = { 2, 136, 40, 64 };
    const WsRehearseOptions o = {
        .seed = 4, .sms = 8, .size_name = names, .size = size, .n_size = 4
    };
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearsal_run(s, &o, findings, &error);
    g_assert_no_error(error);
    g_assert_true(r->matches); /* where all of them have room */
    ws_rehearse_result_free(r);
}

/* Sizes that no device counts. */
static void test_limits(void)
{
    static const struct {
        Edit edit[MAX_EDITS];
        const char *says;
    } of[] = {
        { { { "\"per_launch\": \"SMS\"", "\"per_launch\": \"SMS*1024*1024*1024\"" } },
          "adds to flag ready" },
        { { { "{ \"name\": \"ready\", \"array\": \"W\"",
              "{ \"name\": \"ready\", \"array\": \"W*1024*1024\"" } },
          "flag ready does not have" },
        { { { "\"SMS\": 3", "\"SMS\": 33" } }, "66" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        g_autofree char *text = edited_text(RS, of[i].edit);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = right_program(text, RS, findings);
        g_autoptr(GError) error = NULL;
        WsRehearseResult *r = ws_rehearse(p, NULL, findings, &error);
        g_autofree char *said = ws_findings_print(findings, RS);
        g_test_message("%s %s", said, error ? error->message : "");
        g_assert_null(r);
        g_assert_true(strstr(said, of[i].says) || (error && strstr(error->message, of[i].says)) ||
                      (error && strstr(error->message, "33 CTAs")));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/codegen/mesh/%s", rows[i].name);
        g_test_add_data_func(path, &rows[i], test_row);
    }
    g_test_add_func("/codegen/mesh/residents", test_residents);
    g_test_add_func("/codegen/mesh/limits", test_limits);
    return g_test_run();
}
