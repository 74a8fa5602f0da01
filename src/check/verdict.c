/* A verdict in words. */
#include "check/check.h"

static gint by_value(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

void ws_verdict_free(WsVerdict *v)
{
    if (!v)
        return;
    g_array_unref(v->played);
    g_ptr_array_unref(v->names);
    g_ptr_array_unref(v->assumed);
    g_ptr_array_unref(v->skipped);
    g_free(v->weakest);
    g_free(v->reason);
    g_free(v->proof);
    g_free(v->certificate);
    g_free(v->uncertified);
    g_free(v);
}

const char *ws_verdict_word(WsVerdictKind kind)
{
    static const char *const word[] = { "played", "refuted", "outside", "proved" };
    return word[kind];
}

/* ": rounds 1 2 3 over up to 3 tiles per CTA (19 plays, 5240 operations, 3.1 ms)" */
static void add_played(GString *s, const WsVerdict *v)
{
    g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    guint tiles = 0;
    for (guint i = 0; i < v->played->len; i++) {
        const WsPlayed *p = &g_array_index(v->played, WsPlayed, i);
        tiles = MAX(tiles, p->tiles);
        if (p->rounds >= 0 && p->tiles > 0)
            g_array_append_val(rounds, p->rounds);
    }
    g_array_sort(rounds, by_value);
    for (guint i = 0, said = 0; i < rounds->len; i++) {
        gint64 r = g_array_index(rounds, gint64, i);
        if (i && g_array_index(rounds, gint64, i - 1) == r)
            continue;
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, said++ ? " " : ": rounds ", r);
    }
    if (v->played->len)
        g_string_append_printf(s, "%s up to %u tile%s per CTA", rounds->len ? " over" : ":", tiles,
                               tiles == 1 ? "" : "s");
    g_string_append_printf(s, " (%u plays, %" G_GUINT64_FORMAT " operations, %.1f ms)",
                           v->played->len, v->ops, v->seconds * 1e3);
}

char *ws_verdict_text(const WsVerdict *v)
{
    GString *s = g_string_new(NULL);
    switch (v->kind) {
    case WS_VERDICT_PROVED:
        g_string_append_printf(s, "proved for every interleaving over %s (%u states, %.1f ms)",
                               v->proof, v->states, v->proof_seconds * 1e3);
        for (guint i = 0; i < v->assumed->len; i++)
            g_string_append_printf(s, "%s%s", i ? ", " : ", given that ",
                                   (const char *)v->assumed->pdata[i]);
        break;
    case WS_VERDICT_OUTSIDE:
        g_string_append_printf(s, "outside the fragment: %s",
                               v->reason ? v->reason : "the findings say why");
        if (v->played->len == 0)
            break;
        g_string_append(s, "; nothing found");
        add_played(s, v);
        break;
    case WS_VERDICT_REFUTED:
    case WS_VERDICT_PLAYED:
        g_string_append(s, ws_verdict_word(v->kind));
        if (v->weakest)
            g_string_append_printf(s, " (%s)", v->weakest);
        add_played(s, v);
        break;
    }
    return g_string_free(s, FALSE);
}
