#include "random.h"

#include <string.h>

/* A design is put together from lists of steps, one string each, so that a fault is a change of a
 * list: a line dropped, doubled, moved, or a word in it exchanged. */

enum { P_BEFORE, P_LOOP, P_AFTER, C_BEFORE, C_LOOP, C_AFTER, N_LISTS };

typedef struct {
    GRand *rand;
    GPtrArray *list[N_LISTS];
    guint stages, slots, consumers;
    gboolean tiles, mma, generic_producer, second, lag, order, staging;
    gboolean gather, own_barriers, nested, counter, cluster;
    const char *letter[2]; /* of each side: whether a tile is worked on; NULL: always */
    const char *use;       /* of the consumer: k.total or a counter */
    const char *count[2];
    const char *full_init, *empty_init;
    char *full_more, *empty_more; /* further fields */
} Random;

static gboolean chance(Random *R, guint percent)
{
    return g_rand_int_range(R->rand, 0, 100) < (gint)percent;
}

static void add(Random *R, guint list, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void add(Random *R, guint list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(R->list[list], g_strdup_vprintf(format, args));
    va_end(args);
}

static void transfer(Random *R, const char *into, const char *signal)
{
    const char *more = R->cluster ? ", \"multicast\": \"all\"" : "";
    g_autofree char *view =
        R->cluster ? g_strdup_printf("%s.rows(cta*32, 32)", into) : g_strdup(into);
    add(R, P_LOOP,
        "{ \"%s\": \"A\", \"at\": [%s, \"k*64\"], \"into\": \"%s\", \"signal\": \"%s\"%s, "
        "\"use\": \"k.total\" }",
        R->gather ? "gather" : "load",
        R->gather    ? "\"row\""
        : R->cluster ? "\"cta*32\""
                     : "0",
        view, signal, more);
}

static void producer(Random *R)
{
    add(R, P_LOOP, "{ \"wait\": \"empty\", \"use\": \"k.total\" }");
    if (R->generic_producer) {
        add(R, P_BEFORE, "{ \"compute\": \"v = bf16(0)\" }");
        add(R, P_LOOP, "{ \"write\": \"v\", \"to\": \"a\", \"use\": \"k.total\" }");
        add(R, P_LOOP, "{ \"arrive\": \"full\", \"by\": \"all\", \"use\": \"k.total\" }");
        return;
    }
    transfer(R, "a", "full");
    if (R->own_barriers)
        add(R, P_LOOP, "{ \"wait\": \"empty_b\", \"use\": \"k.total\" }");
    if (R->second)
        transfer(R, "b", R->own_barriers ? "full_b" : "full");
}

static void release(Random *R, guint list, const char *back, const char *when)
{
    const char *more = R->mma ? "" : ", \"by\": \"all\"",
               *cta = R->cluster ? ", \"cta\": \"all\"" : "";
    add(R, list, "{ \"arrive\": \"empty\"%s%s, \"use\": \"%s%s\"%s }", more, cta, R->use, back,
        when);
    if (R->own_barriers)
        add(R, list, "{ \"arrive\": \"empty_b\"%s, \"use\": \"%s%s\"%s }", more, R->use, back,
            when);
}

static void consumer(Random *R)
{
    if (R->staging)
        add(R, C_BEFORE, "{ \"compute\": \"acc = 0\" }");
    if (R->order) {
        add(R, C_BEFORE, "{ \"arrive\": \"turn[0]\", \"when\": \"replica == replicas - 1\" }");
        add(R, C_LOOP, "{ \"sync\": \"turn[replica]\" }");
    }
    add(R, C_LOOP, "{ \"wait\": \"full\", \"use\": \"%s\" }", R->use);
    if (R->own_barriers)
        add(R, C_LOOP, "{ \"wait\": \"full_b\", \"use\": \"%s\" }", R->use);
    if (R->mma)
        add(R, C_LOOP,
            "{ \"mma\": \"acc\", \"a\": \"a\", \"b\": \"%s\", \"first\": \"k == 0\", "
            "\"use\": \"%s\" }",
            R->second ? "b" : "a", R->use);
    else
        add(R, C_LOOP, "{ \"read\": \"v\", \"from\": \"a\", \"use\": \"%s\" }", R->use);
    if (!R->mma && R->second)
        add(R, C_LOOP, "{ \"read\": \"v\", \"from\": \"b\", \"use\": \"%s\" }", R->use);
    if (R->order)
        add(R, C_LOOP, "{ \"arrive\": \"turn[(replica + 1) %% replicas]\" }");
    if (R->mma)
        add(R, C_LOOP, "{ \"mma_wait\": %d }", R->lag ? 1 : 0);
    if (R->lag)
        release(R, C_LOOP, " - 1", ", \"when\": \"k > 0\"");
    else
        release(R, C_LOOP, "", "");
    if (R->counter)
        add(R, C_LOOP, "{ \"advance\": \"ring\" }");
    if (R->lag) {
        add(R, C_AFTER, "{ \"mma_wait\": 0 }");
        release(R, C_AFTER, " - 1", ", \"when\": \"N > 0\"");
    }
    if (R->staging) {
        add(R, C_AFTER, "{ \"write\": \"acc\", \"to\": \"c[replica]\" }");
        add(R, C_AFTER, "{ \"sync\": \"group\" }");
        add(R, C_AFTER,
            "{ \"store\": \"C\", \"at\": [\"64*replica\", 0], \"from\": \"c[replica]\" }");
        add(R, C_AFTER, "{ \"store_wait\": 0 }");
        add(R, C_AFTER, "{ \"sync\": \"group\" }");
    }
}

/* --- faults ----------------------------------------------------------------------------------- */

static char *replaced(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) part = g_strsplit(text, from, 2);
    return part[0] && part[1] ? g_strconcat(part[0], to, part[1], NULL) : NULL;
}

static gboolean exchange(Random *R, char **line)
{
    static const char *const words[][2] = {
        { "\"k.total\"", "\"k.total + 1\"" },
        { "\"k.total\"", "\"k\"" },
        { "\"k.total - 1\"", "\"k.total\"" },
        { "\"full\"", "\"empty\"" },
        { "\"empty\"", "\"full\"" },
        { "\"mma_wait\": 0", "\"mma_wait\": 1" },
        { "\"mma_wait\": 1", "\"mma_wait\": 0" },
        { "\"mma_wait\": 1", "\"mma_wait\": 2" },
        { ", \"when\": \"k > 0\"", "" },
        { ", \"when\": \"k > 0\"", ", \"when\": \"k > 1\"" },
        { "\"when\": \"replica == replicas - 1\"", "\"when\": \"1\"" },
        { "turn[replica]", "turn[0]" },
        { "\"store_wait\": 0", "\"store_wait\": 1" },
        { ", \"by\": \"all\"", ", \"by\": \"warp\"" },
        { "\"use\": \"k.total\"", "\"slot\": 0, \"phase\": \"k.total\"" },
        { "\"arrive\": \"empty\"", "\"arrive\": \"empty\", \"count\": 2" },
        { "\"ring\"", "\"ring + 1\"" },
        { "\"ring - 1\"", "\"ring\"" },
        { ", \"cta\": \"all\"", "" },
        { "cta*32, 32", "0, 32" },
        { "\"full_b\"", "\"full\"" },
    };
    guint first = g_rand_int_range(R->rand, 0, G_N_ELEMENTS(words));
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        const char *const *word = words[(first + i) % G_N_ELEMENTS(words)];
        char *other = replaced(*line, word[0], word[1]);
        if (!other)
            continue;
        g_free(*line);
        *line = other;
        return TRUE;
    }
    return FALSE;
}

static void fault_in_list(Random *R)
{
    GPtrArray *list = NULL;
    while (!list || list->len == 0)
        list = R->list[g_rand_int_range(R->rand, 0, N_LISTS)];
    guint at = g_rand_int_range(R->rand, 0, (gint)list->len);
    char **line = (char **)&list->pdata[at];
    switch (g_rand_int_range(R->rand, 0, 5)) {
    case 0:
        g_ptr_array_remove_index(list, at);
        break;
    case 1:
        g_ptr_array_insert(list, (gint)at, g_strdup(*line));
        break;
    case 2: /* neighbours change places */
        if (at + 1 < list->len) {
            char *other = list->pdata[at + 1];
            list->pdata[at + 1] = *line;
            list->pdata[at] = other;
        }
        break;
    default:
        exchange(R, line);
    }
}

static void fault(Random *R)
{
    if (chance(R, 75)) {
        fault_in_list(R);
        return;
    }
    switch (g_rand_int_range(R->rand, 0, 6)) {
    case 0:
        R->empty_init = R->empty_init ? NULL : "ready";
        break;
    case 1:
        R->full_init = R->full_init ? NULL : "ready";
        break;
    case 2:
        g_free(R->empty_more);
        R->empty_more = g_strdup_printf(", \"arrivals\": %d", g_rand_int_range(R->rand, 1, 4));
        break;
    case 3:
        g_free(R->full_more);
        R->full_more = g_strdup_printf(", \"arrivals\": %d", g_rand_int_range(R->rand, 1, 3));
        break;
    case 4:
        R->count[g_rand_int_range(R->rand, 0, 2)] = chance(R, 50) ? "N + 1" : "max(0, N - 1)";
        break;
    default:
        R->slots = (guint)g_rand_int_range(R->rand, 1, 4);
    }
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_list(GString *out, const GPtrArray *list, gboolean *first)
{
    for (guint i = 0; i < list->len; i++) {
        g_string_append_printf(out, "%s\n          %s", *first ? "" : ",", (char *)list->pdata[i]);
        *first = FALSE;
    }
}

static void put_body(Random *R, GString *out, guint list, guint who)
{
    gboolean first = TRUE;
    g_string_append(out, "\"body\": [");
    put_list(out, R->list[list], &first);
    if (R->tiles)
        g_string_append_printf(out, "%s\n{ \"for\": \"tile\", \"over\": \"tiles\", \"do\": [",
                               first ? "" : ",");
    first = first || R->tiles;
    g_string_append(out, first ? "" : ",");
    if (R->letter[who])
        g_string_append_printf(out, "\n{ \"if\": \"%s\", \"then\": [", R->letter[who]);
    if (R->nested)
        g_string_append(out, "\n{ \"for\": \"o\", \"count\": 2, \"do\": [");
    g_string_append_printf(out, "\n{ \"for\": \"k\", \"count\": \"%s\", \"do\": [", R->count[who]);
    first = TRUE;
    put_list(out, R->list[list + 1], &first);
    g_string_append(out, "] }");
    first = FALSE;
    put_list(out, R->list[list + 2], &first);
    g_string_append(out, R->nested ? "] }" : "");
    g_string_append(out, R->letter[who] ? "] }" : "");
    g_string_append(out, R->tiles ? "] }" : "");
    g_string_append(out, R->cluster ? ", { \"cluster\": \"sync\" } ]" : "]");
}

static char *text_of(Random *R)
{
    GString *out =
        g_string_new("{ \"warpstave\": 1, \"name\": \"random\", \"target\": \"sm_90a\",\n"
                     "\"sizes\": { \"N\": 3, \"T\": 3 },\n\"tensors\": [\n"
                     "{ \"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [64, \"64*N\"] },\n"
                     "{ \"name\": \"C\", \"dtype\": \"bf16\", \"shape\": [128, 64], \"access\": "
                     "\"write\" }");
    gboolean letter = R->letter[0] || R->letter[1];
    if (letter)
        g_string_append(out, ",\n{ \"name\": \"L\", \"dtype\": \"i32\", \"shape\": [\"T\"], "
                             "\"data\": \"integers(0, 4)\" }");
    g_string_append(out, " ],\n");
    if (R->cluster)
        g_string_append(out, "\"cluster\": 2,\n");
    g_string_append_printf(out,
                           "\"tiles\": { \"axes\": { \"t\": \"%s\" }, \"launch\": \"%s\"%s },\n",
                           R->tiles ? "T" : "1", R->tiles ? "persistent" : "single",
                           letter ? ", \"let\": { \"x\": \"L[t]\" }" : "");
    g_string_append_printf(out,
                           "\"buffers\": [ { \"name\": \"a\", \"dtype\": \"bf16\", \"tile\": [64, "
                           "64], \"stages\": %u }",
                           R->stages);
    if (R->second)
        g_string_append_printf(out,
                               ", { \"name\": \"b\", \"dtype\": \"bf16\", \"tile\": [64, 64], "
                               "\"stages\": %u }",
                               R->stages);
    if (R->staging)
        g_string_append(out, ", { \"name\": \"c\", \"dtype\": \"bf16\", \"tile\": [64, 64], "
                             "\"array\": 2 }");
    g_string_append_printf(
        out,
        " ],\n\"barriers\": [ { \"name\": \"full\", \"slots\": %u%s%s }, "
        "{ \"name\": \"empty\", \"slots\": %u%s%s }",
        R->slots, R->full_init ? ", \"init\": \"ready\"" : "", R->full_more ? R->full_more : "",
        R->slots, R->empty_init ? ", \"init\": \"ready\"" : "", R->empty_more ? R->empty_more : "");
    if (R->own_barriers)
        g_string_append_printf(out,
                               ", { \"name\": \"full_b\", \"slots\": %u }, { \"name\": "
                               "\"empty_b\", \"slots\": %u, \"init\": \"ready\" }",
                               R->slots, R->slots);
    if (R->order)
        g_string_append_printf(out,
                               ", { \"name\": \"turn\", \"kind\": \"named\", \"array\": %u%s }",
                               R->consumers, R->consumers == 1 ? ", \"threads\": 256" : "");
    g_string_append(out,
                    " ],\n\"groups\": [\n{ \"name\": \"p\", \"role\": \"producer\", \"warps\": "
                    "4, ");
    if (R->generic_producer)
        g_string_append(out, "\"values\": [ { \"name\": \"v\", \"dtype\": \"bf16\", \"tile\": [64, "
                             "64] } ], ");
    put_body(R, out, P_BEFORE, 0);
    g_string_append_printf(out,
                           " },\n{ \"name\": \"c_\", \"role\": \"consumer\", \"warps\": 4, "
                           "\"replicate\": %u, \"values\": [ { \"name\": \"acc\", \"dtype\": "
                           "\"f32\", \"tile\": [64, 64] }, { \"name\": \"v\", \"dtype\": "
                           "\"bf16\", \"tile\": [64, 64] } ], ",
                           R->consumers);
    if (R->counter)
        g_string_append(out, "\"counters\": [ { \"name\": \"ring\" } ], ");
    put_body(R, out, C_BEFORE, 1);
    g_string_append(out, " } ] }\n");
    return g_string_free(out, FALSE);
}

/* From numbers of their own, so that designs without letters stay what they were. */
static guint letters(Random *R, guint32 seed)
{
    guint faults = 0;
    GRand *rand = g_rand_new_with_seed(seed ^ 0x1e77e5u);
    if (R->tiles && !R->cluster && g_rand_int_range(rand, 0, 100) < 30) {
        R->letter[0] = R->letter[1] = "x > 0";
        gint fault = g_rand_int_range(rand, 0, 10);
        if (fault < 2) {
            R->letter[g_rand_int_range(rand, 0, 2)] = fault ? "x > 1" : NULL;
            faults = 1;
        }
    }
    g_rand_free(rand);
    return faults;
}

char *random_design(guint32 seed, guint *faults)
{
    Random R = { .rand = g_rand_new_with_seed(seed), .count = { "N", "N" }, .empty_init = "ready" };
    for (guint i = 0; i < N_LISTS; i++)
        R.list[i] = g_ptr_array_new_with_free_func(g_free);
    R.stages = (guint)g_rand_int_range(R.rand, 1, 4);
    R.slots = R.stages;
    R.consumers = chance(&R, 40) ? 2 : 1;
    R.tiles = chance(&R, 40);
    R.mma = chance(&R, 60);
    R.generic_producer = chance(&R, 20);
    R.second = !R.generic_producer && chance(&R, 25);
    R.lag = R.mma && R.stages > 1 && chance(&R, 50);
    R.order = R.consumers == 2 && chance(&R, 40);
    R.staging = R.mma && chance(&R, 30);
    R.gather = !R.generic_producer && chance(&R, 15);
    R.own_barriers = R.second && chance(&R, 50);
    R.nested = chance(&R, 20);
    R.counter = chance(&R, 20);
    R.cluster = !R.generic_producer && !R.second && !R.gather && !R.staging && chance(&R, 12);
    R.use = R.counter ? "ring" : "k.total";
    *faults = letters(&R, seed);
    producer(&R);
    consumer(&R);
    guint n = chance(&R, 25) ? 0 : chance(&R, 70) ? 1 : 2;
    for (guint i = 0; i < n; i++)
        fault(&R);
    *faults += n;
    char *text = text_of(&R);
    for (guint i = 0; i < N_LISTS; i++)
        g_ptr_array_free(R.list[i], TRUE);
    g_free(R.full_more);
    g_free(R.empty_more);
    g_rand_free(R.rand);
    return text;
}
