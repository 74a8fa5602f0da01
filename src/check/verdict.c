/* A verdict in words. */
#include "check/verdict.h"

#include "base/phrase.h"
#include "check/own_words.h"
#include "check/title.h"
#include "model/finding.h"
#include "model/findings.h"

#include <string.h>

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
    g_ptr_array_unref(v->undetermined);
    g_ptr_array_unref(v->skipped);
    g_free(v->weakest);
    g_free(v->reason);
    g_free(v->proof);
    g_free(v->certificate);
    g_free(v->uncertified);
    g_free(v);
}

static void end_outside(WsVerdict *v, const char *reason)
{
    v->kind = WS_VERDICT_OUTSIDE;
    g_free(v->reason);
    v->reason = g_strdup(reason);
    g_clear_pointer(&v->proof, g_free);
    g_clear_pointer(&v->certificate, g_free);
    g_clear_pointer(&v->weakest, g_free);
}

static void clear_played(gpointer data)
{
    g_free(((WsPlayed *)data)->sizes);
}

WsVerdict *ws_verdict_outside(const char *reason)
{
    WsVerdict *v = g_new0(WsVerdict, 1);
    v->names = g_ptr_array_new();
    v->assumed = g_ptr_array_new_with_free_func(g_free);
    v->undetermined = g_ptr_array_new_with_free_func(g_free);
    v->played = g_array_new(FALSE, FALSE, sizeof(WsPlayed));
    g_array_set_clear_func(v->played, clear_played);
    v->skipped = g_ptr_array_new_with_free_func(g_free);
    end_outside(v, reason);
    return v;
}

void ws_verdict_limit(WsVerdict *v, WsFindings *findings, const char *gap, WsFindingStands stands,
                      gconstpointer data)
{
    gboolean any = FALSE;
    const WsFinding *dropped = NULL;
    for (guint i = 0; i < findings->list->len; i++) {
        WsFinding *f = findings->list->pdata[i];
        if (f->severity != WS_SEVERITY_ERROR)
            continue;
        if (stands(f, data)) {
            any = TRUE;
            continue;
        }
        f->severity = WS_SEVERITY_WARNING;
        dropped = dropped ? dropped : f;
    }
    if (gap ? v->kind == WS_VERDICT_PROVED || (v->kind != WS_VERDICT_OUTSIDE && !any)
            : v->kind == WS_VERDICT_REFUTED && !any)
        end_outside(v, gap ? gap : dropped ? dropped->message : "the findings say why");
    else if (gap && v->kind == WS_VERDICT_OUTSIDE)
        end_outside(v, gap);
}

const char *ws_verdict_word(WsVerdictKind kind)
{
    static const char *const word[] = { "played", "refuted", "outside", "proved" };
    return word[kind];
}

const char *ws_verdict_title(WsVerdictKind kind)
{
    static const char *const title[] = { "simulated", "refuted", "undecided", "proved" };
    return title[kind];
}

/* ": rounds 1 2 3 over up to 3 tiles per CTA (19 simulations, 5240 operations, 3.1 ms)" */
static void add_played(GString *s, const WsVerdict *v)
{
    g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GString) list = g_string_new(NULL);
    guint tiles = 0;
    for (guint i = 0; i < v->played->len; i++) {
        const WsPlayed *p = &g_array_index(v->played, WsPlayed, i);
        tiles = MAX(tiles, p->tiles);
        if (p->rounds >= 0 && p->tiles > 0)
            g_array_append_val(rounds, p->rounds);
    }
    g_array_sort(rounds, by_value);
    for (guint i = 0; i < rounds->len; i++) {
        gint64 r = g_array_index(rounds, gint64, i);
        if (i && g_array_index(rounds, gint64, i - 1) == r)
            continue;
        g_string_append_printf(list, "%s%" G_GINT64_FORMAT, list->len ? " " : "", r);
    }
    if (rounds->len)
        ws_phrase_append(s,
                         tiles == 1 ? ": rounds %s over up to %u tile per CTA"
                                    : ": rounds %s over up to %u tiles per CTA",
                         list->str, tiles);
    else if (v->played->len)
        ws_phrase_append(s, tiles == 1 ? ": up to %u tile per CTA" : ": up to %u tiles per CTA",
                         tiles);
    ws_phrase_append(s, " (%u simulations, %" G_GUINT64_FORMAT " operations, %.1f ms)",
                     v->played->len, v->ops, v->seconds * 1e3);
}

static void add_given(GString *s, const WsVerdict *v)
{
    for (guint i = 0; i < v->assumed->len; i++) {
        const char *what = v->assumed->pdata[i];
        if (i > 0)
            g_string_append_printf(s, ", %s", what);
        else
            ws_phrase_append(s, ", given that %s", what);
    }
    for (guint i = 0; i < v->undetermined->len; i++) {
        const char *what = v->undetermined->pdata[i];
        if (i > 0)
            g_string_append_printf(s, ", %s", what);
        else
            ws_phrase_append(s, "; not determined, since atomics have no order: %s", what);
    }
}

char *ws_verdict_said(const WsVerdict *v)
{
    GString *s = g_string_new(NULL);
    switch (v->kind) {
    case WS_VERDICT_PROVED:
        ws_phrase_append(s, "proved for every interleaving over %s (%u states, %.1f ms)", v->proof,
                         v->states, v->proof_seconds * 1e3);
        add_given(s, v);
        break;
    case WS_VERDICT_OUTSIDE:
        ws_phrase_append(s, "undecided: %s",
                         v->reason ? v->reason : WS_WORD("the findings say why"));
        if (v->played->len == 0)
            break;
        g_string_append(s, WS_WORD("; no error found"));
        add_played(s, v);
        break;
    case WS_VERDICT_REFUTED:
    case WS_VERDICT_PLAYED:
        g_string_append(s,
                        v->kind == WS_VERDICT_REFUTED ? WS_WORD("refuted") : WS_WORD("simulated"));
        if (v->weakest)
            ws_phrase_append(s, " (%s)", v->weakest);
        add_played(s, v);
        break;
    }
    char *said = g_string_free(s, FALSE);
    ws_own_words(v->target, &said, NULL);
    return said;
}

char *ws_verdict_text(const WsVerdict *v)
{
    g_autofree char *said = ws_verdict_said(v);
    return ws_phrase_text(said, NULL, NULL);
}

char *ws_verdict_given(const WsVerdict *v)
{
    GString *s = g_string_new(NULL);
    if (v->kind == WS_VERDICT_PROVED)
        add_given(s, v);
    g_autofree char *said = g_string_free(s, FALSE);
    ws_own_words(v->target, &said, NULL);
    g_autofree char *text = ws_phrase_text(said, NULL, NULL);
    return g_strdup(text + strspn(text, ",; "));
}

void ws_verdict_drop_proof(WsVerdict *v)
{
    g_clear_pointer(&v->proof, g_free);
    g_clear_pointer(&v->certificate, g_free);
    g_ptr_array_unref(v->names);
    v->names = g_ptr_array_new();
}
