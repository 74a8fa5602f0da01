/* What a proof holds for. */
#include "check/proof/prove.h"
#include "program/parts/tiles.h"
#include "program/program.h"

static void name_free(gpointer data)
{
    g_free(((WsProvedName *)data)->text);
    g_free(data);
}

GPtrArray *ws_proof_names(const WsControl *c)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(name_free);
    for (guint i = 0; i < c->symbols->len; i++) {
        const WsSymbol *s = c->symbols->pdata[i];
        WsProvedName *n = g_new0(WsProvedName, 1);
        n->kind = i == WS_SYMBOL_TILES ? WS_NAME_TILES
                  : s->letter          ? WS_NAME_LETTER
                  : s->run             ? WS_NAME_UNIFORM
                                       : WS_NAME_STREAM;
        n->derived = s->base >= 0;
        n->every = s->every, n->left = s->left;
        gboolean single = i == WS_SYMBOL_TILES && c->p->tiles->launch == WS_LAUNCH_SINGLE;
        n->text = g_strdup(single ? "one tile" : s->text);
        n->below = !s->letter && !s->bounded;
        n->least = i == WS_SYMBOL_TILES ? single : s->floor;
        g_ptr_array_add(names, n);
    }
    return names;
}

char *ws_proof_text(const GPtrArray *names)
{
    GString *t = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++) {
        const WsProvedName *n = names->pdata[i];
        if (n->derived)
            continue;
        g_string_append(t, i ? ", " : "");
        if (n->kind == WS_NAME_TILES)
            g_string_append(t, n->least ? n->text : "every number of tiles");
        else if (n->kind == WS_NAME_LETTER)
            g_string_append_printf(t, "both answers to %s", n->text);
        else
            g_string_append_printf(t, "every %s", n->text);
        if (n->kind != WS_NAME_TILES && !n->below && n->least != 0)
            g_string_append_printf(t, " >= %" G_GINT64_FORMAT, n->least);
        if (n->every > 1)
            g_string_append_printf(t, " with %s %% %" G_GINT64_FORMAT " == %" G_GINT64_FORMAT,
                                   n->text, n->every, n->left);
        if (n->kind == WS_NAME_STREAM)
            g_string_append(t, " of each tile");
    }
    return g_string_free(t, FALSE);
}

void ws_proof_free(WsProof *proof)
{
    if (!proof)
        return;
    g_free(proof->why);
    g_free(proof->path);
    g_free(proof->again);
    g_free(proof->certificate);
    if (proof->rounds)
        g_array_unref(proof->rounds);
    if (proof->told)
        g_array_unref(proof->told);
    if (proof->names)
        g_ptr_array_unref(proof->names);
    g_free(proof);
}
