/* Proposals for steps that the finding does not name come later: a large design has a thousand of
 * them, and a search ends before it comes to what is new beside the steps that are named. */
#include "mend/fixer.h"
#include "model/finding.h"

enum {
    FAR = 12,  /* what such a proposal costs more */
    BESIDE = 2 /* places from a step that is named */
};

static gboolean is_named(const WsFixer *F, const WsNode *step)
{
    const char *barrier = ws_step_barrier(step);
    if (F->at >= 0 && ws_spot(F, F->at)->node == step)
        return TRUE;
    for (guint i = 0; F->finding->steps && i < F->finding->steps->len; i++)
        if (ws_design_find(F->design, F->finding->steps->pdata[i]) == step)
            return TRUE;
    return barrier && F->object && g_strcmp0(barrier, ws_node_name(F->object)) == 0;
}

/* What it changes, or where it puts something. */
static gboolean touches(const WsFixer *F, const GArray *named, const WsMendDeed *one)
{
    gboolean step = FALSE;
    for (guint i = 0; i < F->spot->len; i++)
        step |= ws_spot(F, (gint)i)->node->identity == one->node;
    if (one->what != WS_MEND_MOVE && one->what != WS_MEND_INSERT)
        return TRUE;        /* what a step says is changed where it contradicts others */
    if (one->node && !step) /* an object */
        return TRUE;
    const char *object = F->object ? ws_node_name(F->object) : NULL;
    g_autofree char *value =
        object && one->what == WS_MEND_INSERT && one->value ? ws_json_print(one->value) : NULL;
    if (value && ws_has_word(value, object)) /* something new for it */
        return TRUE;
    for (guint i = 0; i < named->len; i++) {
        const WsSpot *s = ws_spot(F, g_array_index(named, gint, i));
        if (s->node->identity == one->node)
            return TRUE;
        const gboolean list = one->owner == s->owner->identity && one->field == s->field;
        if (list && one->what == WS_MEND_INSERT && s->node == ws_spot(F, MAX(F->at, 0))->node &&
            one->index == ws_node_n_children(s->owner, s->field)) /* what its round ends with */
            return TRUE;
        if (list && one->index != G_MAXUINT && one->index + BESIDE >= s->index &&
            one->index <= s->index + 1 + BESIDE)
            return TRUE;
    }
    return FALSE;
}

void ws_fixes_rank(const WsFixer *F, GPtrArray *fixes)
{
    g_autoptr(GArray) named = g_array_new(FALSE, FALSE, sizeof(gint));
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (is_named(F, ws_spot(F, i)->node))
            g_array_append_val(named, i);
    for (gint i = F->at >= 0 ? ws_spot(F, F->at)->up : -1; i >= 0; i = ws_spot(F, i)->up)
        g_array_append_val(named, i); /* what the finding's own step stands in */
    for (guint i = 0; i < fixes->len && named->len; i++) {
        WsFix *fix = fixes->pdata[i];
        gboolean near = fix->deeds->len == 0;
        for (guint k = 0; k < fix->deeds->len && !near; k++)
            near = touches(F, named, &g_array_index(fix->deeds, WsMendDeed, k));
        fix->cost += near ? 0 : FAR;
    }
}
