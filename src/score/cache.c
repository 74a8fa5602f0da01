/* What scenes of the same traces share. */
#include "program/program.h"
#include "score/build.h"

#include <string.h>

WsScoreCache *ws_score_cache_new(void)
{
    return g_new0(WsScoreCache, 1);
}

static void free_rows(WsScoreRows *rows)
{
    g_free(rows->tracks);
    g_free(rows->staff);
    g_clear_pointer(&rows->stage, g_array_unref);
    g_free(rows);
}

static WsScoreRows *copy_rows(const WsScoreRows *from)
{
    WsScoreRows *rows = g_memdup2(from, sizeof *from);
    rows->tracks = g_memdup2(from->tracks, MAX(from->n_agents, 1) * sizeof *from->tracks);
    rows->staff = g_memdup2(from->staff, MAX(from->n_agents, 1));
    rows->stage = g_array_copy(from->stage);
    return rows;
}

void ws_score_cache_keep_rows(WsScoreCache *c, const WsScoreCache *from, gboolean held)
{
    g_clear_pointer(&c->rows_of, free_rows);
    if (from && from->held && from->rows_of) /* held from the same rows on, whatever came between */
        c->rows_of = copy_rows(from->rows_of);
    else if (from && from->tracks)
        c->rows_of = copy_rows(&(WsScoreRows){
            .n_agents = from->n_agents,
            .n_buffers = from->n_buffers,
            .tracks = from->tracks,
            .staff = from->staff,
            .stage = from->stage,
            .unit = { from->unit[0], from->unit[1], from->unit[2] },
            .measured_row = from->measured_row,
        });
    c->held = held;
}

/* Rows of a program with as many agents and buffers are taken for this one's. */
static void take_rows(WsScoreCache *c)
{
    const WsScoreRows *rows = c->rows_of;
    c->fits = rows && rows->n_agents == c->n_agents && rows->n_buffers == c->n_buffers;
    if (!c->fits)
        return;
    memcpy(c->tracks, rows->tracks, MAX(c->n_agents, 1) * sizeof *c->tracks);
    memcpy(c->staff, rows->staff, MAX(c->n_agents, 1));
    g_array_append_vals(c->stage, rows->stage->data, rows->stage->len);
    memcpy(c->unit, rows->unit, sizeof c->unit);
    c->measured_row = rows->measured_row;
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
    for (guint i = 0; i < G_N_ELEMENTS(c->let_go); i++)
        g_clear_pointer(&c->let_go[i], ws_let_go_free);
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
    WsScoreRows *rows = c->rows_of;
    const gboolean held = c->held;
    memset(c, 0, sizeof *c);
    c->rows_of = rows;
    c->held = held;
}

void ws_score_cache_free(WsScoreCache *c)
{
    if (!c)
        return;
    clear(c);
    g_clear_pointer(&c->rows_of, free_rows);
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
    c->n_agents = p->n_agents;
    c->n_buffers = p->n_buffers;
    take_rows(c);
}
