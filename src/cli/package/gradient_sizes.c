#include "cli/package/gradient_sizes.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* A size of at most FEW in the rehearsal is one of batches, heads and the like; others are rows. */
enum { FEW = 4, KINDS = 3, ORDERS = 2, TENSOR_MOST = 1 << 20, TILE_MOST = 256, TILE = 128 };
/* No multiples of each other, and once the other way round, so that masks of both forms are met. */
static const gint64 rows[ORDERS][KINDS] = { { 5, 7, 6 }, { 7, 5, 6 } };
/* What batches, heads and the like may become: of each other different, and no powers of two first.
 */
static const gint64 more[] = { 3, 6, 2, 4, 5, 12 };
/* Permutations of these that are looked at. */
enum { MORE = G_N_ELEMENTS(more), LOOKED_AT = 2000 };

WsLaunchValues *ws_gradient_launch(const WsProgram *p, const WsGradientTrial *trial)
{
    WsSize own[WS_GRADIENT_SIZES];
    guint n = 0;
    for (guint i = 0; i < trial->n; i++)
        for (guint v = 0; v < p->n_vars; v++)
            if (p->var[v].kind == WS_VAR_SIZE && strcmp(p->var[v].name, trial->size[i].name) == 0)
                own[n++] = trial->size[i];
    g_autoptr(WsLaunchValues) values = ws_launch_values(p, own, n, FALSE, NULL);
    for (guint t = 0; values && t < p->n_tensors; t++) {
        gint64 count = 1;
        for (guint d = 0; d < p->tensor[t].rank; d++) {
            const gint64 extent = ws_launch_shape(values, t, d);
            if (extent < 1 || extent > TENSOR_MOST || (count *= extent) > TENSOR_MOST)
                return NULL;
        }
    }
    return g_steal_pointer(&values);
}

char *ws_gradient_trial_text(const WsGradientTrial *trial)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < trial->n; i++)
        g_string_append_printf(text, "%s%s=%" G_GINT64_FORMAT, i ? " " : "", trial->size[i].name,
                               trial->size[i].value);
    return g_string_free(text, FALSE);
}

static gboolean taken(const WsPair *pair, const WsGradientTrial *trial)
{
    for (guint i = 0; i < pair->n; i++) {
        g_autoptr(WsLaunchValues) values = ws_gradient_launch(pair->launch[i].program, trial);
        if (!values)
            return FALSE;
    }
    return TRUE;
}

static void add(GArray *out, const WsPair *pair, const WsGradientTrial *trial)
{
    for (guint i = 0; i < out->len; i++) {
        const WsGradientTrial *other = &g_array_index(out, WsGradientTrial, i);
        gboolean same = TRUE;
        for (guint s = 0; s < trial->n; s++)
            same = same && other->size[s].value == trial->size[s].value;
        if (same)
            return;
    }
    if (taken(pair, trial))
        g_array_append_val(out, *trial);
}

/* The forward's sizes as another launch rehearses them; those that it does not have as the forward
 * does. */
static WsGradientTrial rehearsal(const WsPair *pair, guint launch)
{
    const WsProgram *forward = pair->launch[0].program, *p = pair->launch[launch].program;
    WsGradientTrial trial = { .n = 0 };
    for (guint v = 0; v < forward->n_vars && trial.n < WS_GRADIENT_SIZES; v++) {
        if (forward->var[v].kind != WS_VAR_SIZE)
            continue;
        gint64 value = forward->var[v].rehearse;
        for (guint i = 0; i < p->n_vars; i++)
            if (p->var[i].kind == WS_VAR_SIZE && !strcmp(p->var[i].name, forward->var[v].name))
                value = p->var[i].rehearse;
        trial.size[trial.n++] = (WsSize){ forward->var[v].name, value };
    }
    return trial;
}

static gboolean few(const WsGradientTrial *rehearsed, guint i)
{
    return rehearsed->size[i].value <= FEW;
}

static WsGradientTrial with_rows(const WsGradientTrial *from, const WsGradientTrial *rehearsed,
                                 const gint64 *row, gint64 above)
{
    WsGradientTrial trial = *from;
    guint n = 0;
    for (guint i = 0; i < trial.n; i++)
        if (!few(rehearsed, i))
            trial.size[i].value = above + row[n++ % KINDS];
    return trial;
}

/* Gives what is few in the rehearsal values of `more`, each another, the first that all launches
 * take with these rows; FALSE: there are none. */
static gboolean enlarge(const WsPair *pair, const WsGradientTrial *rehearsed, guint at, guint used,
                        guint *looked_at, WsGradientTrial *trial)
{
    while (at < trial->n && !few(rehearsed, at))
        at++;
    if (at == trial->n)
        return used && ++*looked_at <= LOOKED_AT && taken(pair, trial);
    for (guint m = 0; m < MORE && *looked_at <= LOOKED_AT; m++) {
        if (used & 1u << m)
            continue;
        trial->size[at].value = more[m];
        if (enlarge(pair, rehearsed, at + 1, used | 1u << m, looked_at, trial))
            return TRUE;
    }
    return FALSE;
}

/* Rows of the largest tile in shared memory. */
static gint64 largest_tile(const WsPair *pair)
{
    guint most = 0;
    for (guint i = 0; i < pair->n; i++)
        for (guint b = 0; b < pair->launch[i].program->n_buffers; b++) {
            const WsBuffer *buffer = &pair->launch[i].program->buffer[b];
            if (buffer->rank > 1)
                most = MAX(most, buffer->rows);
        }
    return most ? MIN(most, TILE_MOST) : TILE;
}

GArray *ws_gradient_trials(const WsPair *pair)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(WsGradientTrial));
    const WsGradientTrial rehearsed = rehearsal(pair, 0);
    const gint64 tile = largest_tile(pair);
    guint looked_at = 0;
    for (guint order = 0; order < ORDERS; order++) {
        const WsGradientTrial trial = with_rows(&rehearsed, &rehearsed, rows[order], 0);
        add(out, pair, &trial);
    }
    WsGradientTrial large = with_rows(&rehearsed, &rehearsed, rows[0], 0);
    if (!enlarge(pair, &rehearsed, 0, 0, &looked_at, &large))
        large = rehearsed;
    for (guint past = 0; past < 2; past++) {
        const WsGradientTrial trial = with_rows(&large, &rehearsed, rows[past], past ? tile : 0);
        add(out, pair, &trial);
    }
    for (guint i = 0; i < pair->n; i++) {
        const WsGradientTrial trial = rehearsal(pair, i);
        add(out, pair, &trial);
    }
    return out;
}
