/* Devices of a mesh: two designs that are proved for every number of devices and every launch, and
 * what goes wrong one or a few edits away. A run of all devices (mesh_run.c, which knows nothing of
 * the check) sees the same: nothing in what is proved, and what is wrong wherever it is more than
 * the order of memory. */
#include "../whole.h"
#include "design.h"
#include "mesh_edits.h"
#include "mesh_run.h"
#include "program/formula.h"
#include "program/program.h"

typedef enum {
    NOTHING, /* a run shows nothing: proved, or an order of memory, which a run does not have */
    SHOWN,   /* a run goes wrong */
    MAYBE,   /* no run is asked for: it is undecided */
} Run;

typedef struct {
    const char *name, *file;
    Edit edit[MAX_EDITS];
    WsVerdictKind kind;
    Run run;
    const char *rule, *says; /* one finding has this rule and says this */
} Row;

#define RS        "mesh/gemm-rs.wstave"
#define AR        "mesh/gemm-ar.wstave"
#define GA        "mesh/ag-pieces.wstave"
#define AG        "mesh/ag-gemm.wstave"
#define PULL      "mesh/ag-pull.wstave"
#define EX        "mesh/exchange-get.wstave"
#define GATHER    "../../projects/ag-gemm/gather.wstave"
#define DIRECT    "../../projects/ag-gemm/pull.wstave"
#define OWN_FIRST "../../projects/ag-gemm/design.wstave"
#define TURNED    "\"(s + rank) % W\""
#define PROVED    WS_VERDICT_PROVED, NOTHING, NULL, NULL
#define REFUTED   WS_VERDICT_REFUTED
#define OPEN      WS_VERDICT_OUTSIDE, MAYBE, "F-MESH"

/* All other fences drawn, so that those of devices are. */
#define DRAWN                                                                                      \
    { "\"launch\": \"persistent\"", "\"launch\": \"persistent\"" },                                \
    {                                                                                              \
        "\"buffers\"", "\"fences\": \"drawn\", \"buffers\""                                        \
    }
#define MMA_FENCE                                                                                  \
    {                                                                                              \
        "{ \"mma\": \"acc\"", "{ \"fence\": \"mma\" }, { \"mma\": \"acc\""                         \
    }
#define OWN    "of its own"
#define DEVICE "\"device\": \"rank\""
#define PUT    "{ \"put\": \"C\", \"device\": \"rank\", \"at\": [\"tm*BM\", 0], \"from\": \"piece\" }"
#define OTHER                                                                                      \
    "{ \"put\": \"C\", \"device\": \"(rank + 1) % W\", \"at\": [\"tm*BM\", 0], \"from\": "         \
    "\"piece\" }"
#define ONE   "\"devices\": { \"rank\": \"W\" }", "\"devices\": { \"rank\": \"1\" }"
#define FLAGS "\"flags\": ["
/* Behind the gate of the all-gather. */
#define BEHIND(more) GATES, GATES more
#define OVER         "        { \"wait\": \"over\", \"use\": 0 },\n"
#define TOLD                                                                                       \
    ",\n        { \"wait\": \"over\", \"use\": 0 },\n"                                             \
    "        { \"notify\": \"read\", \"device\": \"all\", \"got\": [\"a\"] },\n"                   \
    "        { \"await\": \"read\", \"at_least\": \"W*SMS\" }"
#define READY_4 "{ \"await\": \"ready[rank]\", \"at_least\": 4 }"

/* clang-format off */
/* Each device copies its own tensor, and puts the pieces into itself. No flags. */
static const char own_text[] =
    "{\n"
    "  \"warpstave\": 1,\n"
    "  \"name\": \"own device\",\n"
    "  \"target\": \"sm_90a\",\n"
    "  \"constants\": { \"BM\": 64, \"BN\": 64 },\n"
    "  \"sizes\": { \"TM\": 4, \"W\": 2, \"SMS\": 4 },\n"
    "  \"rehearse\": { \"TM\": 2, \"W\": 2, \"SMS\": 2 },\n"
    "  \"assume\": [\"TM >= 1\"],\n"
    "  \"tensors\": [\n"
    "    { \"name\": \"X\", \"dtype\": \"bf16\", \"shape\": [\"TM*BM\", \"BN\"] },\n"
    "    { \"name\": \"C\", \"dtype\": \"bf16\", \"shape\": [\"TM*BM\", \"BN\"], \"access\": \"write\" }\n"
    "  ],\n"
    "  \"devices\": { \"rank\": \"W\" },\n"
    "  \"tiles\": { \"axes\": { \"tm\": \"TM\" }, \"launch\": \"persistent\", \"grid\": \"SMS\" },\n"
    "  \"buffers\": [\n"
    "    { \"name\": \"piece\", \"dtype\": \"bf16\", \"tile\": [\"BM\", \"BN\"] }\n"
    "  ],\n"
    "  \"barriers\": [ { \"name\": \"came\" } ],\n"
    "  \"groups\": [\n"
    "    { \"name\": \"comm\", \"role\": \"worker\", \"warps\": 4,\n"
    "      \"body\": [\n"
    "        { \"for\": \"tile\", \"over\": \"tiles\", \"do\": [\n"
    "          { \"load\": \"X\", \"at\": [\"tm*BM\", 0], \"into\": \"piece\", \"signal\": \"came\", \"use\": \"tile\" },\n"
    "          { \"wait\": \"came\", \"use\": \"tile\" },\n"
    "          { \"put\": \"C\", \"device\": \"rank\", \"at\": [\"tm*BM\", 0], \"from\": \"piece\" },\n"
    "          { \"store_wait\": 0, \"full\": true }\n"
    "        ] }\n"
    "      ] }\n"
    "  ]\n"
    "}\n";

static const Row rows[] = {
    { "reduce-scatter", RS, { { 0 } }, PROVED },
    { "all-gather", AG, { { 0 } }, PROVED },
    { "pulled", PULL, { { 0 } }, PROVED },
    { "pulled directly", DIRECT, { { 0 } }, PROVED },
    { "pulled once", GATHER, { { 0 } }, PROVED },
    { "what was just written is got", EX, { { 0 } }, PROVED },
    { "fences drawn", RS, { DRAWN, MMA_FENCE, STAGE_FENCE, GATE_FENCE }, PROVED },
    { "own shard last or first", RS, { { TURN, "\"(s + rank) % W\"" } }, PROVED },
    { "every device begins with the first", RS, { { TURN, "\"s\"" } }, PROVED },
    { "minus rank", RS, { { TURN, "\"(s - rank) % W\"" } }, PROVED },
    /* nothing is added between two looks at what a launch adds in all, once devices have begun it */
    { "equal to all of a gated flag", RS, { { EXIT, "\"equals\": \"all_tiles\" }" } }, PROVED },
    { "equal to all of the rows", AG, { { ROUNDS, "\"equals\": \"TN\" }" } }, PROVED },
    { "adds two", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"dev\", \"count\": 2 }" },
        { "\"all_tiles\": \"W*TM*TN\"", "\"all_tiles\": \"2*W*TM*TN\"" } }, PROVED },

    /* --- shipped designs */
    { "gemm-rs", "../../projects/gemm-rs/design.wstave", { { 0 } }, PROVED },
    { "gemm-ar", AR, { { 0 } }, PROVED },
    { "gemm-ar, every device begins with the first", AR, { { "(p + rank + 1) % W", "p" } }, PROVED },
    { "gemm-ar, wait for the reads", AR, { { "{ \"store_wait\": 0, \"full\": true }", "{ \"store_wait\": 0 }" } },
      REFUTED, SHOWN, "P-PEER", "waits until shared memory has been read" },
    { "gemm-ar, to every second device", AR, { { "(p + rank + 1) % W", "(2*p + rank) % W" } }, REFUTED, MAYBE, "G-TWICE", NULL },
    { "gemm-ar, to itself alone", AR, { { "(p + rank + 1) % W", "rank" } }, REFUTED, MAYBE, "G-TWICE", NULL },
    { "gemm-ar, one device is left out", AR, { { "\"count\": \"W\", \"do\": [\n            { \"put\"", "\"count\": \"W - 1\", \"do\": [\n            { \"put\"" } },
      OPEN, "there is a device of this number" },
    { "gemm-ar, places that hang on the turn", AR, { { "\"at\": [\"tm*BM\", \"tn*BN\"], \"from\"", "\"at\": [\"((tm + p) % TM)*BM\", \"tn*BN\"], \"from\"" } },
      OPEN, "hangs on the turn" },
    { "gemm-ar, it tells itself", AR, { { "\"done\", \"device\": \"all\"", "\"done\", \"device\": \"rank\"" } },
      REFUTED, SHOWN, "P-EPOCH", "a launch adds" },
    { "ag-gemm", GA, { { 0 } }, PROVED },
    { "ag-gemm, some pieces", GA, { { "\"at_least\": \"KQ*TN\"", "\"at_least\": \"TN\"" } },
      REFUTED, SHOWN, "P-PEER", "lets go before all of it has come" },
    { "ag-gemm, one piece of several", GA, { { "\"count\": \"KQ\", \"do\"", "\"count\": 1, \"do\"" } },
      REFUTED, SHOWN, "P-EPOCH", "later launches count from a wrong number" },
    { "gemm-ar, slabs", "../../projects/gemm-ar/design.wstave", { { 0 } }, PROVED },
    { "gemm-rs, a slab is freed unread", "../../projects/gemm-rs/design.wstave", { { "{ \"store_wait\": 0 },", "" } },
      REFUTED, MAYBE, "P-ASYNC", NULL },

    /* --- (axis + r) % extent is the axis in another order, where r is the same for all tiles */
    { "own rows first", OWN_FIRST, { { 0 } }, PROVED },
    { "own rows last", OWN_FIRST, { { TURNED, "\"(s + rank + 1) % W\"" }, { "\"s == 0\"", "\"s == W - 1\"" } }, PROVED },
    { "turned the other way", OWN_FIRST, { { TURNED, "\"(s - rank) % W\"" } }, PROVED },
    { "turned by the rows", OWN_FIRST, { { TURNED, "\"(s + rank + tm) % W\"" } },
      WS_VERDICT_OUTSIDE, MAYBE, "F-GLOBAL", "is not a sum of axes" },
    { "every second shard", OWN_FIRST, { { TURNED, "\"(2*s + rank) % W\"" } }, REFUTED, MAYBE, "G-TWICE", NULL },
    { "of a shard too many", OWN_FIRST, { { TURNED, "\"(s + rank) % (W + 1)\"" } }, REFUTED, MAYBE, "G-NEVER", NULL },
    { "rows of another shard are awaited", OWN_FIRST, { { "rows[of*TM + tm]", "rows[s*TM + tm]" } }, OPEN, "no await of all of rows" },
    { "rows of the next shard are awaited", OWN_FIRST, { { "rows[of*TM + tm]", "rows[((s + rank + 1) % W)*TM + tm]" } },
      OPEN, "no await of all of rows" },
    { "an element too far", OWN_FIRST, { { "rows[of*TM + tm]", "rows[of*TM + tm + 1]" } }, OPEN, "no await of all of rows" },
    { "rows of others without await", OWN_FIRST, { { "            { \"await\": \"rows[of*TM + tm]\", \"at_least\": \"KQ*TN\" },\n", "" } },
      OPEN, "no await of all of rows" },

    /* --- the kin of distributed kernels: what is known to go wrong */
    { "wait for the reads", RS, { { "{ \"store_wait\": 0, \"full\": true }", "{ \"store_wait\": 0 }" } },
      REFUTED, SHOWN, "P-PEER", "waits until shared memory has been read, not until the tensor is written" },
    { "no wait", RS, { { "          { \"store_wait\": 0, \"full\": true },\n", "" }, { "          { \"store_wait\": 0 },\n", "" } },
      REFUTED, MAYBE, "P-EXIT", NULL },
    { "relaxed notify", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"dev\", \"order\": \"relaxed\" }" } },
      REFUTED, NOTHING, "P-PEER", "is relaxed: who awaits it does not get" },
    { "notify of this device alone", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"dev\", \"scope\": \"gpu\" }" } },
      REFUTED, NOTHING, "P-PEER", "the scope of notify done is this device" },
    { "relaxed await", RS, { { EXIT, "\"at_least\": \"all_tiles\", \"order\": \"relaxed\" }" } },
      REFUTED, NOTHING, "P-PEER", "await done is relaxed" },
    { "relaxed await of the gate", RS, { { GATE, "\"at_least\": 1, \"order\": \"relaxed\" }" } },
      REFUTED, NOTHING, "P-PEER", "await ready is relaxed" },
    { "await of this device alone", RS, { { GATE, "\"at_least\": 1, \"scope\": \"gpu\" }" } },
      REFUTED, NOTHING, "P-PEER", "the scope of await ready is this device" },
    { "equal to a part", RS, { { GATE, "\"equals\": 1 }" } },
      REFUTED, SHOWN, "P-EPOCH", "waits for exactly a number that ready grows past" },
    { "no fence before the put", RS, { DRAWN, MMA_FENCE, STAGE_FENCE },
      REFUTED, NOTHING, "P-PEER", "no fence async_global stands between the await of all devices and put" },
    { "the published all-gather", AG, { DRAWN, MMA_FENCE, STORE_FENCE, GATE_FENCE,
        { ROUNDS, "\"at_least\": \"TN\", \"order\": \"relaxed\" }" } },
      REFUTED, NOTHING, "P-PEER", "await rows is relaxed" },
    { "the published all-gather, its fence", AG, { DRAWN, MMA_FENCE, STORE_FENCE, GATE_FENCE,
        { ROUNDS, "\"at_least\": \"TN\", \"order\": \"relaxed\" }" } },
      REFUTED, NOTHING, "P-PEER", "no fence async_global stands between load A" },
    { "all-gather without fence", AG, { DRAWN, MMA_FENCE, STORE_FENCE, GATE_FENCE },
      REFUTED, NOTHING, "P-PEER", "no fence async_global stands between load A" },
    { "a CTA for each tile", RS, { { "\"launch\": \"persistent\",\n    \"grid\": \"SMS\",", "\"launch\": \"single\"," },
        { "\"per_launch\": \"SMS\"", "\"per_launch\": \"all_tiles\"" } },
      REFUTED, NOTHING, "P-MESH", "those that wait keep the SMs that the others need" },

    /* --- the gate */
    { "no gate", RS, { { GATES, "" } }, REFUTED, SHOWN, "P-PEER", "may not have started this launch" },
    /* --- gets of inputs */
    { "gets without gate", PULL, { { GATES, "" } }, REFUTED, SHOWN, "P-PEER", "may not have started this launch" },
    { "gets behind a relaxed gate", PULL, { { GATE, "\"at_least\": 1, \"order\": \"relaxed\" }" } },
      REFUTED, NOTHING, "P-PEER", "is relaxed" },
    { "gets behind a gate of this device", PULL, { { GATE, "\"at_least\": 1, \"scope\": \"gpu\" }" } },
      REFUTED, NOTHING, "P-PEER", "is this device" },
    { "gets without fence", PULL, { DRAWN, MMA_FENCE, STORE_FENCE },
      REFUTED, NOTHING, "P-PEER", "no fence async_global stands between the await of all devices and get X" },
    { "gets with the fence drawn", PULL, { DRAWN, MMA_FENCE, STORE_FENCE, GATE_FENCE }, PROVED },
    { "gets behind an equal gate", PULL, { { GATE, "\"equals\": 1 }" } }, REFUTED, SHOWN, "P-EPOCH", "grows past" },
    { "gets that nobody is told of", PULL, { { TOLD, "" }, { "\"name\": \"read\", \"per_launch\": \"W*SMS\"", "\"name\": \"idle\", \"per_launch\": 1" } },
      REFUTED, SHOWN, "P-PEER", "no notify says to the device that get X -> a has come" },
    { "told in front of the gets", PULL, { { TOLD, "" }, { BEHIND("        { \"notify\": \"read\", \"device\": \"all\" },\n") } },
      REFUTED, SHOWN, "P-PEER", "no notify says to the device" },
    { "told without got", PULL, { { ", \"got\": [\"a\"]", "" } }, OPEN, "name its buffer in `got`" },
    { "told of another buffer", PULL, { { "\"got\": [\"a\"]", "\"got\": [\"b\"]" } }, OPEN, "name its buffer in `got`" },
    { "told before they have come", PULL, { { OVER, "" }, { "        { \"arrive\": \"over\", \"use\": 0 },\n", "" }, { "{ \"name\": \"over\" },", "" } },
      REFUTED, NOTHING, "P-RACE", "notify read" },
    { "told relaxed", PULL, { { "\"device\": \"all\", \"got\"", "\"device\": \"all\", \"order\": \"relaxed\", \"got\"" } },
      REFUTED, NOTHING, "P-PEER", "is relaxed" },
    { "told one device", PULL, { { "\"notify\": \"read\", \"device\": \"all\"", "\"notify\": \"read\", \"device\": \"rank\"" },
        { "\"per_launch\": \"W*SMS\"", "\"per_launch\": \"SMS\"" }, { "\"at_least\": \"W*SMS\"", "\"at_least\": \"SMS\"" } },
      OPEN, "the device is notified once this has come" },
    { "some of the readers are awaited", PULL, { { "\"at_least\": \"W*SMS\"", "\"at_least\": \"SMS\"" } },
      REFUTED, SHOWN, "P-PEER", "asks for less than a launch adds" },
    { "the readers are not awaited", PULL, { { ",\n        { \"await\": \"read\", \"at_least\": \"W*SMS\" }", "" } },
      REFUTED, SHOWN, "P-PEER", "is never awaited" },
    { "the readers are awaited relaxed", PULL, { { "\"at_least\": \"W*SMS\"", "\"at_least\": \"W*SMS\", \"order\": \"relaxed\"" } },
      REFUTED, NOTHING, "P-PEER", "is relaxed" },
    { "a get from a device that is not there", PULL, { { "\"device\": \"s\"", "\"device\": \"rank + 1\"" } },
      REFUTED, SHOWN, "P-PEER", "a device that the mesh does not have" },
    { "a get from the own device", PULL, { { "\"device\": \"s\"", "\"device\": \"rank\"" } }, PROVED },
    { "gets by turns", PULL, { { "\"device\": \"s\"", "\"device\": \"(s + rank) % W\"" } }, PROVED },
    /* --- gets of what was just written */
    { "just written, relaxed", EX, { { "\"at_least\": \"W\"", "\"at_least\": \"W\", \"order\": \"relaxed\"" } },
      REFUTED, NOTHING, "P-PEER", "is relaxed" },
    { "just written, no fence", EX, { { "\"buffers\"", "\"fences\": \"drawn\", \"buffers\"" }, GATE_FENCE },
      REFUTED, NOTHING, "P-PEER", "no fence async_global stands between get A" },
    { "just written, fence drawn", EX, { { "\"buffers\"", "\"fences\": \"drawn\", \"buffers\"" }, GATE_FENCE,
        { "\"at_least\": \"W\" }", "\"at_least\": \"W\" }, { \"fence\": \"async_global\" }" } }, PROVED },
    { "just written, equal to a part", EX, { { "\"at_least\": \"W\"", "\"equals\": 1" } }, REFUTED, SHOWN, "P-EPOCH", "grows past" },
    { "just written, of some devices", EX, { { "\"at_least\": \"W\"", "\"at_least\": 1" } },
      REFUTED, SHOWN, "P-PEER", "lets go before all of it has come" },
    { "just written, not awaited", EX, { { "          { \"await\": \"rows[tm]\", \"at_least\": \"W\" },\n", "" } },
      REFUTED, SHOWN, "P-PEER", "no await of rows stands in front of it" },
    { "just written, other rows", EX, { { "\"device\": \"d\", \"at\": [\"tm*BM\", 0]", "\"device\": \"d\", \"at\": [\"(TM - 1 - tm)*BM\", 0]" } },
      OPEN, "awaits the element" },
    { "overwritten while it is got", EX, { { GATES, "" } }, REFUTED, SHOWN, "P-PEER", "overwrites what other devices may still get" },
    { "overwritten behind a relaxed gate", EX, { { GATE, "\"at_least\": 1, \"order\": \"relaxed\" }" } },
      REFUTED, NOTHING, "P-PEER", "is relaxed" },
    { "just written, the own device told", EX, { { "\"notify\": \"rows[tm]\", \"device\": \"all\"", "\"notify\": \"rows[tm]\", \"device\": \"rank\"" },
        { "\"per_launch\": \"W\"", "\"per_launch\": 1" }, { "\"at_least\": \"W\"", "\"at_least\": 1" } },
      OPEN, "does not tell all devices" },
    { "just written, read before it is complete", EX, { { "{ \"store_wait\": 0, \"full\": true }", "{ \"store_wait\": 0 }" } },
      REFUTED, SHOWN, "P-PEER", "not until the tensor is written" },
    { "no gate of the all-gather", AG, { { GATES, "" } }, REFUTED, SHOWN, "P-PEER", "may not have started this launch" },
    { "one device is left out", RS, { { "\"count\": \"W\", \"do\"", "\"count\": \"W - 1\", \"do\"" } },
      OPEN, "whether all devices are awaited" },
    { "gate before its notify", RS, { { "        { \"notify\": \"ready[rank]\", \"device\": \"all\" },\n" GATES,
        GATES "        { \"notify\": \"ready[rank]\", \"device\": \"all\" },\n" } },
      REFUTED, SHOWN, "P-MESH", "await ready never ends" },
    { "gate behind the tiles", RS, { { GATES, "" },
        { "        { \"await\": \"done\"", GATES "        { \"await\": \"done\"" } },
      REFUTED, SHOWN, "P-PEER", "may not have started this launch" },
    { "gate of one element", RS, { { "\"ready[d]\"", "\"ready[rank]\"" } },
      OPEN, "whether all devices are awaited" },
    { "a conditional gate", RS, { { "\"count\": \"W\", \"do\"", "\"count\": \"W\", \"when\": \"N > 4096\", \"do\"" } },
      OPEN, "on conditions" },

    /* --- the end */
    { "no await at the end", RS, { { "        ] },\n        { \"await\": \"done\", " EXIT, "        ] }" } },
      REFUTED, SHOWN, "P-PEER", "is never awaited" },
    { "await of a part at the end", RS, { { EXIT, "\"at_least\": \"W*TM\" }" } },
      REFUTED, SHOWN, "P-PEER", "asks for less than a launch adds" },
    { "await of more", RS, { { EXIT, "\"at_least\": \"all_tiles + 1\" }" } },
      REFUTED, SHOWN, "P-MESH", "asks for more than a launch adds" },
    { "await before the puts", RS, { { ",\n        { \"await\": \"done\", " EXIT, "" },
        { "        { \"for\": \"tile\", \"over\": \"tiles\", \"do\": [\n          { \"wait\": \"staged\"",
          "        { \"await\": \"done\", " EXIT ",\n        { \"for\": \"tile\", \"over\": \"tiles\", \"do\": [\n          { \"wait\": \"staged\"" } },
      REFUTED, SHOWN, "P-MESH", "await done never ends" },
    { "await in the tiles", RS, { { NOTIFY, NOTIFY ", { \"await\": \"done\", " EXIT } },
      OPEN, "it was not shown that one of them is first" },
    { "a conditional end", RS, { { "{ \"await\": \"done\", " EXIT, "{ \"await\": \"done\", \"at_least\": \"all_tiles\", \"when\": \"N > 4096\" }" } },
      OPEN, NULL },
    { "no notify", RS, { { ",\n          " NOTIFY, "" } }, REFUTED, SHOWN, "P-PEER", "is never notified" },
    { "another device is notified", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"s\" }" } },
      OPEN, "its device is notified" },
    { "a conditional notify", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"dev\", \"when\": \"tn > 0\" }" } }, OPEN, NULL },

    /* --- counts */
    { "per_launch is one more", RS, { { "\"per_launch\": \"all_tiles\"", "\"per_launch\": \"all_tiles + 1\"" } },
      REFUTED, SHOWN, "P-EPOCH", "later launches count from a wrong number" },
    { "per_launch of one device", RS, { { "\"all_tiles\": \"W*TM*TN\"", "\"all_tiles\": \"TM*TN\"" } },
      REFUTED, SHOWN, "P-EPOCH", "later launches count from a wrong number" },
    { "per_launch of the gate", RS, { { "\"per_launch\": \"SMS\"", "\"per_launch\": \"W*SMS\"" } },
      REFUTED, SHOWN, "P-EPOCH", "later launches count from a wrong number" },
    { "all devices are notified", RS, { { NOTIFY, "{ \"notify\": \"done\", \"device\": \"all\" }" } },
      REFUTED, SHOWN, "P-EPOCH", "later launches count from a wrong number" },

    /* --- who writes what */
    { "own shard alone", RS, { { TURN, "\"rank\"" } }, REFUTED, MAYBE, "G-TWICE", NULL },
    { "every second device", RS, { { TURN, "\"(s + s + rank) % W\"" } }, REFUTED, MAYBE, "G-TWICE", NULL },
    { "turns that hang on the tile", RS, { { TURN, "\"(s + rank + tm) % W\"" } }, OPEN, "neither all, nor an axis" },
    { "turns of more than there are", RS, { { "{ \"s\": \"W\"", "{ \"s\": \"2*W\"" } }, OPEN, NULL },
    { "a place that hangs on the turn", RS, { { "\"at\": [\"tm*BM\", \"tn*BN\"], \"from\"", "\"at\": [\"((tm + s) % TM)*BM\", \"tn*BN\"], \"from\"" } },
      OPEN, "hangs on the turn" },
    { "rows left out", RS, { { "\"at\": [\"tm*BM\", \"tn*BN\"], \"from\"", "\"at\": [\"tm*BM*2\", \"tn*BN\"], \"from\"" } },
      REFUTED, MAYBE, "G-NEVER", NULL },
    { "all devices put the same rows", AG, { { "\"at\": [\"(rank*TM + tm)*BM\"", "\"at\": [\"(s*TM + tm)*BM\"" } },
      REFUTED, MAYBE, "G-TWICE", NULL },

    /* --- what is read */
    { "no await before the load", AG, { { "          { \"await\": \"rows[s*TM + tm]\", " ROUNDS ",\n", "" } },
      REFUTED, SHOWN, "P-PEER", "no await of rows stands in front of it" },
    { "await of some of the rows", AG, { { ROUNDS, GATE } }, REFUTED, SHOWN, "P-PEER", "lets go before all of it has come" },
    { "await of other rows", AG, { { "\"await\": \"rows[s*TM + tm]\"", "\"await\": \"rows[rank*TM + tm]\"" } },
      OPEN, "awaits the element that is notified" },
    { "notify of other rows", AG, { { "\"notify\": \"rows[rank*TM + tm]\"", "\"notify\": \"rows[s*TM + tm]\"" } },
      OPEN, NULL },
    { "await behind the load", AG, { { "          { \"await\": \"rows[s*TM + tm]\", " ROUNDS ",\n", "" },
        { "\"into\": \"b\", \"signal\": \"full\", \"use\": \"k.total\" }", "\"into\": \"b\", \"signal\": \"full\", \"use\": \"k.total\" }, { \"await\": \"rows[s*TM + tm]\", " ROUNDS } },
      REFUTED, SHOWN, "P-PEER", "no await of rows stands in front of it" },
    { "rows are awaited before they are put", AG, { { "          { \"put\": \"A\"",
        "          { \"await\": \"rows[s*TM + tm]\", \"at_least\": \"TN\" },\n          { \"put\": \"A\"" } },
      OPEN, "one of them is first" },

    /* --- a put to the own device is a store; what may be one is not refuted */
    { "put to the own device", OWN, { { 0 } }, PROVED },
    { "put to the own device, waited for its reads", OWN, { { "\"store_wait\": 0, \"full\": true", "\"store_wait\": 0" } }, PROVED },
    { "put to the only device", OWN, { { ONE }, { DEVICE, "\"device\": 0" } }, WS_VERDICT_PROVED, MAYBE, NULL, NULL },
    { "put to a second of one", OWN, { { ONE }, { DEVICE, "\"device\": 1" } }, REFUTED, MAYBE, "G-NEVER", NULL },
    { "put to the next device", OWN, { { DEVICE, "\"device\": \"(rank + 1) % W\"" } },
      REFUTED, SHOWN, "P-PEER", "may not have started this launch" },
    { "put to the first device", OWN, { { DEVICE, "\"device\": 0" } },
      REFUTED, MAYBE, "P-PEER", "may not have started this launch" },
    { "the own device by another name", OWN, { { DEVICE, "\"device\": \"min(rank, W - 1)\"" } }, OPEN, NULL },
    { "the own device on one side", OWN, { { PUT, "{ \"if\": \"tm > 0\", \"then\": [" PUT "], \"else\": [" OTHER "] }" } },
      OPEN, "hangs on conditions" },
    { "the own device on both sides", OWN, { { PUT, "{ \"if\": \"tm > 0\", \"then\": [" PUT "], \"else\": [" PUT "] }" } }, PROVED },
    { "the own device, one side alone", OWN, { { PUT, "{ \"if\": \"tm > 0\", \"then\": [" PUT "] }" } },
      REFUTED, MAYBE, "G-NEVER", NULL },
    { "the own device twice", OWN, { { PUT, PUT ", " PUT } }, REFUTED, MAYBE, "G-TWICE", NULL },
    { "the own device is stored to, too", OWN, { { PUT, "{ \"if\": \"tm > 0\", \"then\": [" PUT "], \"else\": [{ \"store\": \"C\", \"at\": [\"tm*BM\", 0], \"from\": \"piece\" }] }" } },
      OPEN, NULL },
    { "a device reads back what it put into itself", OWN, { { "\"access\": \"write\"", "\"access\": \"exchange\"" },
        { "\"tile\": [\"BM\", \"BN\"] }", "\"tile\": [\"BM\", \"BN\"] }, { \"name\": \"back\", \"dtype\": \"bf16\", \"tile\": [\"BM\", \"BN\"] }" },
        { "{ \"name\": \"came\" }", "{ \"name\": \"came\" }, { \"name\": \"again\" }" },
        { "\"full\": true }", "\"full\": true }, { \"load\": \"C\", \"at\": [\"tm*BM\", 0], \"into\": \"back\", \"signal\": \"again\", \"use\": \"tile\" }, { \"wait\": \"again\", \"use\": \"tile\" }" } },
      OPEN, "its device is notified" },
    { "the own device of all of them", OWN, { { PUT, "{ \"for\": \"d\", \"count\": \"W\", \"do\": [{ \"put\": \"C\", \"device\": \"d\", \"at\": [\"tm*BM\", 0], \"from\": \"piece\", \"when\": \"d == rank\" }] }" } },
      OPEN, "hangs on conditions" },
    { "what devices exchange is put to the own one", AG, { { "\"device\": \"s\", \"at\"", "\"device\": \"rank\", \"at\"" } },
      REFUTED, MAYBE, "G-TWICE", NULL },

    /* --- what need not be executed is not refuted */
    { "an await of some devices under a condition", AG, { { BEHIND("{ \"if\": \"SMS >= 4\", \"then\": [{ \"await\": \"ready[rank]\", \"at_least\": 1 }] },") } }, PROVED },
    { "an await of more under a condition", AG, { { BEHIND("{ \"if\": \"SMS >= 4\", \"then\": [" READY_4 "] },") } },
      OPEN, "asks for 1 to" },
    { "an await of more in no round", AG, { { BEHIND("{ \"for\": \"q\", \"count\": \"TM - 2\", \"do\": [" READY_4 "] },") } },
      OPEN, "asks for 1 to" },
    { "an await of more in rounds of the other sizes", AG, { { BEHIND("{ \"for\": \"q\", \"count\": \"TM - 2\", \"do\": [{ \"await\": \"ready[rank]\", \"at_least\": \"SMS + 1\" }] },") } },
      REFUTED, MAYBE, "P-MESH", "asks for more than a launch adds" },
    { "an await of more in the gate", AG, { { BEHIND(READY_4 ",") } }, REFUTED, SHOWN, "P-MESH", "asks for more than a launch adds" },
    { "an await before its notify under a condition", RS, { { "        { \"notify\": \"ready[rank]\", \"device\": \"all\" },\n",
        "{ \"await\": \"ready[rank]\", \"at_least\": 1, \"when\": \"K < 1\" }, { \"notify\": \"ready[rank]\", \"device\": \"all\" },\n" } },
      OPEN, "one of them is first" },
    { "a notify behind its await in no round", RS, { { "        { \"await\": \"done\", " EXIT,
        "{ \"await\": \"done\", " EXIT ", { \"for\": \"z\", \"count\": \"MS*0\", \"do\": [{ \"notify\": \"done\", \"device\": \"all\" }] }" } },
      OPEN, "one of them is first" },
    { "equal to a part under a condition", AG, { { BEHIND("{ \"if\": \"SMS >= 4\", \"then\": [{ \"await\": \"ready[rank]\", \"equals\": 1 }] },") } },
      OPEN, NULL },
    { "equal to a part in no round", AG, { { BEHIND("{ \"for\": \"q\", \"count\": \"TM*0\", \"do\": [{ \"await\": \"ready[rank]\", \"equals\": 1 }] },") } },
      OPEN, NULL },
    { "equal to a part that grows behind it", AG, { { FLAGS, FLAGS "{ \"name\": \"step\", \"array\": \"W\", \"per_launch\": \"2*SMS\" }," },
        { BEHIND("{ \"notify\": \"step[rank]\", \"device\": \"all\" }, { \"await\": \"step[rank]\", \"equals\": 1 }, { \"notify\": \"step[rank]\", \"device\": \"all\" },") } },
      OPEN, "an await of a part" },
    { "nobody notifies it, nor awaits it", AG, { { FLAGS, FLAGS "{ \"name\": \"idle\", \"per_launch\": 1 }," },
        { BEHIND("{ \"if\": \"SMS >= 500\", \"then\": [{ \"await\": \"idle\", \"at_least\": 1 }] },") } },
      OPEN, "nor that this await is executed" },
    { "nobody notifies it", AG, { { FLAGS, FLAGS "{ \"name\": \"idle\", \"per_launch\": 1 }," },
        { BEHIND("{ \"await\": \"idle\", \"at_least\": 1 },") } },
      REFUTED, SHOWN, "P-MESH", "nothing notifies the flag" },
    { "notify to itself", AG, { { FLAGS, FLAGS "{ \"name\": \"self\", \"per_launch\": \"SMS\" }," },
        { BEHIND("{ \"notify\": \"self\", \"device\": \"rank\" }, { \"await\": \"self\", \"at_least\": 1 },") } },
      OPEN, "says nothing of any of them" },
    { "another notify before it is complete", AG, { { FLAGS, FLAGS "{ \"name\": \"tick\", \"per_launch\": \"W*W*TM*TN\" }," },
        { "          { \"store_wait\": 0, \"full\": true },\n", "{ \"notify\": \"tick\", \"device\": \"all\" }, { \"store_wait\": 0, \"full\": true }," } },
      OPEN, "another notify may tell of it" },
    { "two flags tell of it", AG, { { FLAGS, FLAGS "{ \"name\": \"tick\", \"per_launch\": \"W*W*TM*TN\" }," },
        { "          { \"store_wait\": 0, \"full\": true },\n", "{ \"store_wait\": 0, \"full\": true }, { \"notify\": \"tick\", \"device\": \"all\" }," } },
      OPEN, "several flags are notified" },
};
/* clang-format on */

static char *says(const WsFindings *f)
{
    return ws_findings_print(f, "mesh");
}

static gboolean has(const WsFindings *f, const char *rule, const char *part)
{
    for (guint i = 0; i < f->list->len; i++) {
        const WsFinding *x = f->list->pdata[i];
        if (strcmp(ws_rule(x->rule)->text, rule) == 0 && (!part || strstr(x->message, part)))
            return TRUE;
    }
    return FALSE;
}

static WsProgram *program_of(const Row *row, WsFindings *findings)
{
    if (strcmp(row->file, OWN) != 0)
        return edited_program(row->file, row->edit, NULL, 0, findings);
    g_autofree char *text = edited(g_strdup(own_text), OWN, row->edit, MAX_EDITS);
    return right_program(text, OWN, findings);
}

static void test_row(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = program_of(row, findings);
    g_autofree char *before = says(findings);
    g_test_message("%s", before);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    g_autofree char *said = says(findings);
    g_test_message("%s", said);
    g_assert_cmpint(v->kind, ==, row->kind);
    if (row->rule)
        g_assert_true(has(findings, row->rule, row->says));
    guint shown = 0;
    for (guint devices = 2; devices <= 4 && row->run != MAYBE; devices++)
        for (guint32 seed = 0; seed < 24 && !(shown && row->run == SHOWN); seed++) {
            g_autofree char *wrong = mesh_run(p, devices, 3, 31 * devices + seed);
            if (wrong)
                g_test_message("%u devices, seed %u: %s", devices, seed, wrong);
            shown += wrong != NULL;
        }
    if (row->run != MAYBE)
        g_assert_true((shown > 0) == (row->run == SHOWN));
}

/* The reference says of which device: by an index, not by the number that each has. */
static void test_reference(void)
{
    static const struct {
        Edit edit[MAX_EDITS];
        const char *problem;
    } of[] = {
        { { { 0 } }, NULL },
        { { { "C[r,i,j] = ", "C[i,j] = " } }, "the first of them the device" },
        { { { "A[d, r*MS + i, k]", "A[r*MS + i, k]" } }, "takes 3 indices, not 2" },
        { { { "A[d, r*MS + i, k]", "A[rank, r*MS + i, k]" } }, "another number on each device" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsProgram) p = edited_program(RS, of[i].edit, NULL, 0, findings);
        gint at;
        gboolean missing;
        const gint tensor = ws_program_find_tensor(p, "C");
        g_autofree char *said = ws_formula_problem(p, (guint)tensor, &at, &missing);
        g_autofree char *problem = said ? ws_phrase_text(said, NULL, NULL) : NULL;
        g_test_message("%s", problem ? problem : "fine");
        g_assert_true((problem != NULL) == (of[i].problem != NULL));
        g_assert_true(!problem || strstr(problem, of[i].problem));
    }
}

/* One launch of one device says nothing of a mesh: what would tell of it is not made. */
static void test_certificate(void)
{
    const WsCheckOptions options = { .certificate = TRUE };
    const Edit none[MAX_EDITS] = { { 0 } };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = edited_program(RS, none, NULL, 0, findings);
    g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    g_assert_null(v->certificate);
    g_assert_nonnull(v->uncertified);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/mesh/%s", rows[i].name);
        g_strdelimit(path, " ,", '-');
        g_test_add_data_func(path, &rows[i], test_row);
    }
    g_test_add_func("/check/mesh/reference", test_reference);
    g_test_add_func("/check/mesh/certificate", test_certificate);
    return g_test_run();
}
