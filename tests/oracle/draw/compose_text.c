/* The text of a design that was made of features. */
#include "builder.h"

#include <string.h>

static void put(GString *out, const char *text, gboolean *first)
{
    g_string_append_printf(out, "%s\n      %s", *first ? "" : ",", text);
    *first = FALSE;
}

static void put_list(GString *out, const Role *r, guint list, gboolean *first, guint ahead)
{
    for (guint i = 0; i < r->list[list]->len; i++) {
        char *line = g_ptr_array_index(r->list[list], i);
        if (!ahead || !g_str_has_suffix(line, " }") || strstr(line, "\"if\"")) {
            put(out, line, first);
            continue;
        }
        g_autofree char *early =
            g_strdup_printf("%.*s, \"ahead\": %u }", (int)strlen(line) - 2, line, ahead);
        put(out, early, first);
    }
}

static void close_wraps(GString *out, guint n)
{
    for (guint i = 0; i < n; i++)
        g_string_append(out, "] }");
}

/* Has the role steps in these lists? */
static gboolean has_steps(const Role *r, guint from, guint to)
{
    for (guint l = from; l <= to; l++)
        if (r->list[l]->len)
            return TRUE;
    return FALSE;
}

static void put_body(const Builder *B, GString *out, const Role *r, gboolean producer)
{
    gboolean first = TRUE;
    g_string_append(out, "\"body\": [");
    put_list(out, r, BEGIN, &first, 0);
    g_autofree char *tiles =
        g_strdup_printf("{ \"for\": \"tile\", \"over\": \"tiles\"%s%s, \"do\": [",
                        r->tiles ? ", " : "", r->tiles ? r->tiles : "");
    if (B->tiles)
        put(out, tiles, &first);
    first = B->tiles || first;
    if (r->n_tile_wraps)
        put(out, r->tile_wrap->str, &first);
    first = r->n_tile_wraps || first;
    put_list(out, r, TOP, &first, 0);
    gboolean loop = has_steps(r, WAIT, LEFT);
    if (r->n_loop_wraps && loop) {
        put(out, r->loop_wrap->str, &first);
        first = TRUE;
    }
    g_autofree char *head =
        g_strdup_printf("{ \"for\": \"k\", \"count\": \"%s\"%s%s%s%s%s, \"do\": [", r->count,
                        B->from ? ", \"from\": \"" : "", B->from ? B->from : "",
                        B->from ? "\"" : "", B->loop ? ", " : "", B->loop ? B->loop : "");
    if (loop) {
        put(out, head, &first);
        first = TRUE;
        for (guint l = WAIT; l <= DONE; l++)
            put_list(out, r, l, &first, producer && l <= WORK ? B->ahead : 0);
        g_string_append(out, "] }");
        first = FALSE;
        put_list(out, r, LEFT, &first, 0);
        close_wraps(out, r->n_loop_wraps);
    }
    put_list(out, r, BOTTOM, &first, 0);
    close_wraps(out, r->n_tile_wraps + (B->tiles ? 1 : 0));
    put_list(out, r, AFTER, &first, 0);
    if (B->cluster)
        put(out, "{ \"cluster\": \"sync\" }", &first);
    g_string_append(out, "] }");
}

static void put_group(const Builder *B, GString *out, guint role)
{
    static const char *const name[] = { "prod", "cons", "work" };
    static const char *const is[] = { "producer", "consumer", "worker" };
    const Role *r = &B->role[role];
    g_string_append_printf(out, "  { \"name\": \"%s\", \"role\": \"%s\", \"warps\": 4, ",
                           name[role], is[role]);
    if (role == CONSUMER && B->consumers > 1)
        g_string_append_printf(out, "\"replicate\": %u, ", B->consumers);
    if (r->values->len)
        g_string_append_printf(out, "\"values\": [ %s ],\n    ", r->values->str);
    if (r->counters->len)
        g_string_append_printf(out, "\"counters\": [ %s ],\n    ", r->counters->str);
    put_body(B, out, r, role == PRODUCER);
}

char *builder_text(const Builder *B)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out,
                           "{ \"warpstave\": 1, \"name\": \"random\", \"target\": \"sm_90a\",\n"
                           "  \"sizes\": { \"N\": 3, \"T\": 3%s%s },\n",
                           B->sizes->len ? ", " : "", B->sizes->str);
    if (B->doc)
        g_string_append_printf(out, "  %s,\n", B->doc);
    if (B->assume->len)
        g_string_append_printf(out, "  \"assume\": [ %s ],\n", B->assume->str);
    if (B->let->len)
        g_string_append_printf(out, "  \"let\": { %s },\n", B->let->str);
    g_string_append_printf(out, "  \"tensors\": [ %s ],\n", B->tensors->str);
    if (B->cluster)
        g_string_append_printf(out, "  \"cluster\": %u,\n", B->ctas);
    g_string_append_printf(out,
                           "  \"tiles\": { \"axes\": { \"t\": \"%s\"%s%s }, \"launch\": \"%s\"%s%s",
                           B->tiles ? "T" : "1", B->axes->len ? ", " : "", B->axes->str,
                           B->dynamic ? "dynamic"
                           : B->tiles ? "persistent"
                                      : "single",
                           B->order ? ", " : "", B->order ? B->order : "");
    if (B->tilelet->len)
        g_string_append_printf(out, ", \"let\": { %s }", B->tilelet->str);
    g_string_append_printf(out, " },\n  \"buffers\": [ %s ],\n  \"barriers\": [ %s ],\n",
                           B->buffers->str, B->barriers->str);
    if (B->pipes->len)
        g_string_append_printf(out, "  \"pipes\": [ %s ],\n", B->pipes->str);
    g_string_append(out, "  \"groups\": [\n");
    put_group(B, out, 0);
    g_string_append(out, ",\n");
    put_group(B, out, 1);
    if (has_steps(&B->role[WORKER], 0, N_LISTS - 1)) {
        g_string_append(out, ",\n");
        put_group(B, out, WORKER);
    }
    g_string_append(out, " ] }\n");
    return g_string_free(out, FALSE);
}
