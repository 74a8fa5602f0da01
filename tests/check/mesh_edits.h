/* Texts of the designs of several devices that rows of tests change, and what they become. */
#pragma once

#define NOTIFY "{ \"notify\": \"done\", \"device\": \"dev\" }"
#define EXIT   "\"at_least\": \"all_tiles\" }"
#define GATE   "\"at_least\": 1 }"
#define ROUNDS "\"at_least\": \"TN\" }"
#define GATES                                                                                      \
    "        { \"for\": \"d\", \"count\": \"W\", \"do\": [\n"                                      \
    "          { \"await\": \"ready[d]\", \"at_least\": 1 }\n"                                     \
    "        ] },\n"
#define TURN "\"(s + rank + 1) % W\""
#define STAGE_FENCE                                                                                \
    {                                                                                              \
        "{ \"arrive\": \"staged\"", "{ \"fence\": \"async\" }, { \"arrive\": \"staged\""           \
    }
#define STORE_FENCE                                                                                \
    {                                                                                              \
        "{ \"sync\": \"group\" },\n          { \"store\"",                                         \
            "{ \"fence\": \"async\" }, { \"sync\": \"group\" },\n          { \"store\""            \
    }
#define GATE_FENCE                                                                                 \
    {                                                                                              \
        GATE, GATE ", { \"fence\": \"async_global\" }"                                             \
    }
