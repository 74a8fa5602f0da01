#include "kernels.h"

#include <string.h>

typedef struct {
    GRand *rand;
    GString *axes, *lets, *sizes, *rehearse;
    guint n_axes, n_loops, faults;
    gboolean replica_used, cta_used, heads;
    guint replicas, ctas;
    char *loop[8], *shape[3], *at[3];
    guint tile[3], n_dims;
} Kernel;

static gint below(Kernel *k, gint n)
{
    return g_rand_int_range(k->rand, 0, n);
}

static gboolean chance(Kernel *k, gint percent)
{
    return below(k, 100) < percent;
}

static const char *pick(Kernel *k, const char *const *list)
{
    return list[below(k, (gint)g_strv_length((char **)list))];
}

static void add_axis(Kernel *k, const char *name, const char *extent)
{
    g_string_append_printf(k->axes, "%s\"%s\": \"%s\"", k->axes->len ? ", " : "", name, extent);
    k->n_axes++;
}

/* Parts of a step of `wide`, `n` of them: replicas, CTAs, or rounds of a loop. The text of their
 * offset, NULL if nobody is left to make them. */
static char *parts(Kernel *k, guint n, guint wide)
{
    if (n == 1)
        return g_strdup("");
    if (n == k->replicas && !k->replica_used && chance(k, 60)) {
        k->replica_used = TRUE;
        return g_strdup_printf(" + %s*%u", chance(k, 20) ? "(replicas - 1 - replica)" : "replica",
                               wide);
    }
    if (n == k->ctas && !k->cta_used && chance(k, 60)) {
        k->cta_used = TRUE;
        return g_strdup_printf(" + cta*%u", wide);
    }
    guint rounds = chance(k, 6) ? n + 1 : chance(k, 6) ? n - 1 : n;
    gboolean odd = chance(k, 15); /* from 1 */
    k->loop[k->n_loops] = g_strdup_printf("{ \"for\": \"s%u\", \"count\": %u%s, \"do\": [",
                                          k->n_loops, rounds, odd ? ", \"from\": 1" : "");
    return g_strdup_printf(odd ? " + (s%u - 1)*%u" : " + s%u*%u", k->n_loops++, wide);
}

static void dimension(Kernel *k, guint d)
{
    static const guint sizes[] = { 1, 2, 4 };
    const guint tile = d + 2 < k->n_dims ? 1 : 8u << below(k, 3), n = sizes[below(k, 3)];
    const guint step = tile * n;
    const char size = (char)('M' + d), axis = (char)('a' + d);
    g_autofree char *offset = parts(k, n, tile), *extent = NULL,
                    *name = g_strdup_printf("t%c", axis);
    k->tile[d] = tile;
    g_string_append_printf(k->sizes, "%s\"%c\": 512", k->sizes->len ? ", " : "", size);
    g_string_append_printf(k->rehearse, "%s\"%c\": %u", k->rehearse->len ? ", " : "", size,
                           step * 2 + (chance(k, 50) ? 3 : 0));
    k->shape[d] = g_strdup_printf("\"%c\"", size);
    switch (below(k, 8)) {
    case 0: /* one step of constant extent */
        g_free(k->shape[d]);
        k->shape[d] = g_strdup_printf("%u", chance(k, 20) ? step - 3 : step);
        k->at[d] = g_strdup_printf("0%s", offset);
        return;
    case 1: /* a loop with as many rounds as the launch has steps */
        if (k->n_loops == G_N_ELEMENTS(k->loop))
            break;
        k->loop[k->n_loops] =
            g_strdup_printf("{ \"for\": \"s%u\", \"count\": \"%s(%c, %u)%s\", \"do\": [",
                            k->n_loops, "cdiv", size, step, chance(k, 10) ? " + 1" : "");
        k->at[d] = g_strdup_printf("s%u*%u%s", k->n_loops++, step, offset);
        return;
    case 2: /* an axis for two dimensions */
        if (k->heads || d + 1 >= k->n_dims || n != 1)
            break;
        k->heads = TRUE;
        g_string_append(k->sizes, ", \"H\": 4");
        g_string_append(k->rehearse, ", \"H\": 3");
        extent = g_strdup_printf("cdiv(%c, %u)*H", size, step);
        add_axis(k, name, extent);
        k->at[d] = g_strdup_printf("%s/H*%u", name, step);
        return;
    }
    static const char *const forms[] = {
        "cdiv(%c, %u)", "cdiv(%c, %u)",     "cdiv(%c, %u)",         "%c/%u + 1",
        "%c/%u",        "cdiv(%c, %u) + 1", "max(1, cdiv(%c, %u))", NULL
    };
    const char *form = pick(k, forms);
    GString *text = g_string_new(NULL);
    for (const char *c = form; *c; c++)
        if (g_str_has_prefix(c, "%c"))
            g_string_append_c(text, size), c++;
        else if (g_str_has_prefix(c, "%u"))
            g_string_append_printf(text, "%u", step), c++;
        else
            g_string_append_c(text, *c);
    extent = g_string_free(text, FALSE);
    add_axis(k, name, extent);
    k->at[d] = g_strdup_printf("%s*%u%s", name, chance(k, 5) ? step * 2 : step, offset);
}

/* The dimension behind the one that shares its axis. */
static void second_of_heads(Kernel *k, guint d)
{
    g_free(k->at[d]);
    g_free(k->shape[d]);
    k->at[d] = g_strdup_printf("t%c %% H", 'a' + d - 1);
    k->shape[d] = g_strdup("\"H\"");
    k->tile[d] = 1;
}

static char *condition(Kernel *k)
{
    static const char *const forms[] = {
        "ta*8 < M",
        "ta > 0",
        "ta == 0",
        "replica == 0",
        "M > 40",
        "cta == 0",
        "tile % 2 == 0",
        "tile % 2 == replica",
        "ta*16 <= M",
        "N % 2 == 0",
        "s0 < 2",
        "s0 == 0 || ta > 1",
        "tile > 0",
        "tb < cdiv(N, 16)",
        "M >= 0",
        "ta*16 + replica*8 < M",
        "L[ta] > 0",
        "min(ta, 2) < 2",
        "select(M > 9, ta, tb) == 0",
        NULL,
    };
    return g_strdup(pick(k, forms));
}

static void put_write(Kernel *k, GString *out, const char *when)
{
    g_string_append(out, "{ \"write\": \"x\", \"to\": \"C\", \"at\": [");
    for (guint d = 0; d < k->n_dims; d++) {
        static const char *const bent[] = { " + 8", " - 8", " + 1", "/2", "*2", " % 64", NULL };
        const char *bend = chance(k, 3) ? pick(k, bent) : "";
        g_string_append_printf(out, *bend ? "%s\"(%s)%s\"" : "%s\"%s%s\"", d ? ", " : "", k->at[d],
                               bend);
    }
    g_string_append_printf(out, "]%s%s%s }", when ? ", \"when\": \"" : "", when ? when : "",
                           when ? "\"" : "");
}

static void put_writes(Kernel *k, GString *out)
{
    g_autofree char *when = chance(k, 30) ? condition(k) : NULL;
    put_write(k, out, when);
    if (!when ? !chance(k, 4) : chance(k, 40))
        return;
    g_autofree char *other = when ? g_strdup_printf("!(%s)", when) : NULL;
    g_string_append(out, ", ");
    put_write(k, out, other);
}

char *random_kernel(guint32 seed)
{
    static const char *const launches[] = { "single", "persistent", "persistent", NULL };
    Kernel k = { .rand = g_rand_new_with_seed(seed),
                 .axes = g_string_new(NULL),
                 .sizes = g_string_new(NULL),
                 .rehearse = g_string_new(NULL) };
    k.replicas = chance(&k, 50) ? 2 : 1;
    k.ctas = chance(&k, 20) ? 2 : 1;
    k.n_dims = chance(&k, 30) ? 3 : 2;
    for (guint d = 0; d < k.n_dims; d++) {
        gboolean before = k.heads;
        dimension(&k, d);
        if (!before && k.heads && d + 1 < k.n_dims) {
            k.at[d + 1] = k.shape[d + 1] = NULL;
            second_of_heads(&k, ++d);
        }
    }
    if (k.n_axes == 0 || chance(&k, 10))
        add_axis(&k, "tz", chance(&k, 70) ? "1" : "2");
    const char *launch = pick(&k, launches);
    const gboolean single = launch[0] == 's',
                   turns = !single && k.replicas == 2 && !k.replica_used && chance(&k, 80);
    GString *body = g_string_new(NULL);
    for (guint i = 0; i < k.n_loops; i++)
        g_string_append(body, k.loop[i]);
    put_writes(&k, body);
    for (guint i = 0; i < k.n_loops; i++)
        g_string_append(body, "] }");
    GString *out =
        g_string_new("{ \"warpstave\": 1, \"name\": \"random\", \"target\": \"sm_90a\", ");
    g_string_append_printf(out, "\"sizes\": { %s }, \"rehearse\": { %s },\n", k.sizes->str,
                           k.rehearse->str);
    if (chance(&k, 30))
        g_string_append(out, "\"assume\": [\"M % 16 == 0\"],\n");
    else if (chance(&k, 30))
        g_string_append(out, "\"assume\": [\"M >= 1\", \"N <= 200\"],\n");
    g_string_append(out, "\"tensors\": [ { \"name\": \"L\", \"dtype\": \"i32\", \"shape\": [64], "
                         "\"data\": \"integers(-1, 3)\" },\n"
                         "{ \"name\": \"C\", \"dtype\": \"f32\", \"shape\": [");
    for (guint d = 0; d < k.n_dims; d++)
        g_string_append_printf(out, "%s%s", d ? ", " : "", k.shape[d]);
    g_string_append_printf(out,
                           "], \"access\": \"write\" } ],\n%s\"tiles\": { \"axes\": { %s }, "
                           "\"launch\": \"%s\" },\n",
                           k.ctas > 1 ? "\"cluster\": 2, " : "", k.axes->str, launch);
    g_string_append_printf(
        out,
        "\"groups\": [ { \"name\": \"work\", \"role\": \"worker\", \"warps\": 4, "
        "\"replicate\": %u, \"values\": [ { \"name\": \"x\", \"dtype\": \"f32\", "
        "\"tile\": [%u, %u] } ],\n\"body\": [ { \"compute\": \"x = 1\" }, ",
        k.replicas, k.tile[k.n_dims - 2], k.tile[k.n_dims - 1]);
    if (single)
        g_string_append(out, body->str);
    else
        g_string_append_printf(out, "{ \"for\": \"tile\", \"over\": \"tiles\"%s, \"do\": [ %s ] }",
                               turns ? ", \"from\": \"replica\", \"step\": 2" : "", body->str);
    g_string_append(out, " ] } ] }\n");
    for (guint i = 0; i < k.n_loops; i++)
        g_free(k.loop[i]);
    for (guint d = 0; d < k.n_dims; d++) {
        g_free(k.shape[d]);
        g_free(k.at[d]);
    }
    g_string_free(body, TRUE);
    g_string_free(k.axes, TRUE);
    g_string_free(k.sizes, TRUE);
    g_string_free(k.rehearse, TRUE);
    g_rand_free(k.rand);
    return g_string_free(out, FALSE);
}
