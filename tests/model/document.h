/* A small complete document for tests, canonical, and a way to change it. */
#pragma once

#include <glib.h>
#include <string.h>

static const char document[] =
    "{\n"                                                                                   /* 1 */
    "  \"warpstave\": 1,\n"                                                                 /* 2 */
    "  \"name\": \"small\",\n"                                                              /* 3 */
    "  \"target\": \"sm_90a\",\n"                                                           /* 4 */
    "  \"constants\": { \"BM\": 64, \"BK\": \"BM\", \"STAGES\": 4 },\n"                     /* 5 */
    "  \"sizes\": { \"M\": 256, \"K\": 512 },\n"                                            /* 6 */
    "  \"rehearse\": { \"M\": 64 },\n"                                                      /* 7 */
    "  \"tensors\": [\n"                                                                    /* 8 */
    "    { \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [\"M\", \"K\"] }\n"             /* 9 */
    "  ],\n"                                                                                /* 10 */
    "  \"tiles\": { \"axes\": { \"tm\": \"cdiv(M, BM)\" }, \"launch\": \"persistent\" },\n" /* 11 */
    "  \"buffers\": [\n"                                                                    /* 12 */
    "    { \"name\": \"a\", \"dtype\": \"bf16\", \"tile\": [\"BM\", \"BK\"], \"stages\": "
    "\"STAGES\" }\n"
    "  ],\n"                                                                    /* 14 */
    "  \"barriers\": [\n"                                                       /* 15 */
    "    { \"name\": \"full\", \"slots\": \"STAGES\" },\n"                      /* 16 */
    "    { \"name\": \"empty\", \"slots\": \"STAGES\", \"init\": \"ready\" }\n" /* 17 */
    "  ],\n"                                                                    /* 18 */
    "  \"groups\": [\n"                                                         /* 19 */
    "    { \"name\": \"load\", \"role\": \"producer\", \"warps\": 4,\n"         /* 20 */
    "      \"body\": [\n"                                                       /* 21 */
    "        { \"for\": \"tile\", \"over\": \"tiles\", \"do\": [\n"             /* 22 */
    "          { \"for\": \"k\", \"count\": \"K/BK\", \"do\": [\n"              /* 23 */
    "            { \"wait\": \"empty\", \"use\": \"k.total\" },\n"              /* 24 */
    "            { \"load\": \"A\", \"at\": [\"tm*BM\", \"k*BK\"], \"into\": \"a\", \"signal\": "
    "\"full\", "
    "\"use\": \"k.total\" }\n"                                                           /* 25 */
    "          ] }\n"                                                                    /* 26 */
    "        ] }\n"                                                                      /* 27 */
    "      ] },\n"                                                                       /* 28 */
    "    { \"name\": \"mma\", \"role\": \"consumer\", \"warps\": 4, \"replicate\": 2,\n" /* 29 */
    "      \"values\": [\n"                                                              /* 30 */
    "        { \"name\": \"acc\", \"dtype\": \"f32\", \"tile\": [\"BM\", 8] }\n"         /* 31 */
    "      ],\n"                                                                         /* 32 */
    "      \"body\": [\n"                                                                /* 33 */
    "        { \"compute\": \"acc = 0\" },\n"                                            /* 34 */
    "        { \"wait\": \"full\", \"use\": 0, \"id\": \"first\" }\n"                    /* 35 */
    "      ] }\n"                                                                        /* 36 */
    "  ]\n"                                                                              /* 37 */
    "}\n";

/* The document with the first `from` replaced by `to`; `from` must occur. Caller frees. */
static inline char *changed(const char *from, const char *to)
{
    const char *at = strstr(document, from);
    g_assert_nonnull(at);
    g_autofree char *head = g_strndup(document, (gsize)(at - document));
    return g_strconcat(head, to, at + strlen(from), NULL);
}
