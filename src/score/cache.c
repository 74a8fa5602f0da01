/* What scenes of the same traces share. */
#include "program/program.h"
#include "score/build.h"

#include <string.h>

WsScoreCache *ws_score_cache_new(void)
{
    return g_new0(WsScoreCache, 1);
}

static void clear(WsScoreCache *c)
{
    for (guint i = 0; i < G_N_ELEMENTS(c->tiles); i++)
        if (c->tiles[i])
            g_array_free(c->tiles[i], TRUE);
    g_clear_pointer(&c->shift, g_hash_table_destroy);
    g_clear_pointer(&c->base, g_hash_table_destroy);
    g_clear_pointer(&c->ring_same, g_hash_table_destroy);
    g_clear_pointer(&c->bind, ws_bind_free);
    for (guint i = 0; i < G_N_ELEMENTS(c->unit_cover); i++)
        ws_cover_free(c->unit_cover[i]);
    for (guint i = 0; i < G_N_ELEMENTS(c->spread); i++)
        g_clear_pointer(&c->spread[i], g_hash_table_destroy);
    g_clear_pointer(&c->stage_cover, g_ptr_array_unref);
    g_clear_pointer(&c->buffer_cover, g_hash_table_destroy);
    if (c->stage)
        g_array_free(c->stage, TRUE);
    g_free(c->loop_id);
    g_free(c->tracks);
    g_free(c->staff);
    g_free(c->height);
    g_free(c->bind_lo);
    g_free(c->bind_hi);
    g_clear_pointer(&c->rounds, g_array_unref);
    memset(c, 0, sizeof *c);
}

void ws_score_cache_free(WsScoreCache *c)
{
    if (!c)
        return;
    clear(c);
    g_free(c);
}

void ws_score_cache_for(WsScoreCache *c, const WsProgram *p, const WsTrace *t,
                        const WsTrace *overlay, guint cta, guint overlay_cta)
{
    if (c->p == p && c->t == t && c->overlay == overlay && c->cta == cta &&
        c->overlay_cta == overlay_cta && c->tracks)
        return;
    clear(c);
    c->p = p;
    c->t = t;
    c->overlay = overlay;
    c->cta = cta;
    c->overlay_cta = overlay_cta;
    c->lead_agent = c->lead_op = -1;
    c->shift = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    c->ring_same = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c->buffer_cover = g_hash_table_new_full(NULL, NULL, NULL, ws_cover_free);
    for (guint i = 0; i < G_N_ELEMENTS(c->spread); i++)
        c->spread[i] = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    c->stage = g_array_new(FALSE, FALSE, sizeof(WsStageKey));
    c->tracks = g_malloc0_n(MAX(p->n_agents, 1), sizeof *c->tracks);
    c->staff = g_malloc0(MAX(p->n_agents, 1));
    c->height = g_new0(double, MAX(p->n_agents, 1));
}
