/* Where steps of a design stand, and edits around them. */
#include "base/phrase.h"
#include "mend/fixer.h"
#include "model/finding.h"

/* --- spots ------------------------------------------------------------------------------------ */
static void collect(WsFixer *F, const WsNode *owner, WsFieldId list, const WsNode *group, gint up)
{
    static const WsFieldId inner[] = { WS_F_do, WS_F_then, WS_F_else };
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *node = ws_node_child(owner, list, i);
        const WsSpot spot = { node, owner, group, list, i, up };
        g_array_append_val(F->spot, spot);
        const gint me = (gint)F->spot->len - 1;
        for (guint k = 0; k < G_N_ELEMENTS(inner); k++)
            collect(F, node, inner[k], group, me);
    }
}

const WsSpot *ws_spot(const WsFixer *F, gint i)
{
    return &g_array_index(F->spot, WsSpot, i);
}

gint ws_spot_of(const WsFixer *F, const WsNode *node)
{
    for (guint i = 0; node && i < F->spot->len; i++)
        if (ws_spot(F, (gint)i)->node == node)
            return (gint)i;
    return -1;
}

gint ws_spot_next(const WsFixer *F, gint i, gint by)
{
    if (i < 0)
        return -1;
    const WsSpot *s = ws_spot(F, i);
    const gint index = (gint)s->index + by;
    if (index < 0 || index >= (gint)ws_node_n_children(s->owner, s->field))
        return -1;
    return ws_spot_of(F, ws_node_child(s->owner, s->field, (guint)index));
}

gboolean ws_spot_inside(const WsFixer *F, gint i, gint loop)
{
    for (; i >= 0; i = ws_spot(F, i)->up)
        if (i == loop)
            return TRUE;
    return FALSE;
}

gint ws_spot_outside(const WsFixer *F, gint i, gint j)
{
    while (ws_spot(F, i)->up >= 0 && !ws_spot_inside(F, j, ws_spot(F, i)->up))
        i = ws_spot(F, i)->up;
    return i;
}

gint ws_spot_loop(const WsFixer *F, gint i)
{
    for (i = i >= 0 ? ws_spot(F, i)->up : -1; i >= 0; i = ws_spot(F, i)->up)
        if (ws_spot(F, i)->node->kind == WS_STEP_FOR &&
            ws_node_has(ws_spot(F, i)->node, WS_F_count))
            return i;
    return -1;
}

char *ws_first_round(const WsFixer *F, gint loop, const char *is)
{
    const WsNode *node = ws_spot(F, loop)->node;
    const WsExpr *from = ws_node_expr(node, WS_F_from);
    g_autofree char *text = from ? ws_expr_print(from) : g_strdup("0");
    return g_strdup_printf(strchr(text, ' ') ? "%s %s (%s)" : "%s %s %s", ws_node_name(node), is,
                           text);
}

gboolean ws_step_is(const WsFixer *F, gint i, WsNodeKind kind)
{
    return i >= 0 && ws_spot(F, i)->node->kind == kind;
}

gboolean ws_is_on(const WsFixer *F, gint i, WsNodeKind kind, const char *barrier)
{
    return ws_step_is(F, i, kind) && g_strcmp0(ws_step_barrier(ws_spot(F, i)->node), barrier) == 0;
}

gboolean ws_in_list(const WsFixer *F, gint i, WsNodeKind kind, const char *barrier)
{
    const WsSpot *s = ws_spot(F, i);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        if (step->kind == kind && (!barrier || g_strcmp0(ws_step_barrier(step), barrier) == 0))
            return TRUE;
    }
    return FALSE;
}

gboolean ws_waits(const WsFixer *F, const WsNode *group, const char *barrier)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if ((!group || ws_spot(F, i)->group == group) && ws_is_on(F, i, WS_STEP_WAIT, barrier))
            return TRUE;
    return FALSE;
}

gboolean ws_is_named(const WsNode *barrier)
{
    return g_strcmp0(ws_node_text(barrier, WS_F_kind), "named") == 0;
}

const WsNode *ws_object_named(const WsDesign *design, WsFieldId list, const char *name)
{
    const WsNode *root = ws_design_root(design);
    for (guint i = 0; name && i < ws_node_n_children(root, list); i++) {
        const WsNode *node = ws_node_child(root, list, i);
        if (g_strcmp0(ws_node_name(node), name) == 0)
            return node;
    }
    return NULL;
}

/* --- what steps name -------------------------------------------------------------------------- */
const char *ws_step_barrier(const WsNode *step)
{
    const WsRef *ref;
    if (step->kind == WS_STEP_WAIT || step->kind == WS_STEP_ARRIVE ||
        step->kind == WS_STEP_EXPECT || step->kind == WS_STEP_SYNC) {
        ref = ws_node_refv(step, WS_F_keyword);
    } else if (step->kind == WS_STEP_LOAD || step->kind == WS_STEP_GATHER ||
               step->kind == WS_STEP_COPY || step->kind == WS_STEP_WRITE) {
        ref = ws_node_refv(step, WS_F_signal);
    } else {
        return NULL;
    }
    return ref ? ref->name : NULL;
}

gboolean ws_has_word(const char *text, const char *word)
{
    for (const char *at = text && word && *word ? strstr(text, word) : NULL; at;
         at = strstr(at + 1, word)) {
        const char after = at[strlen(word)], before = at > text ? at[-1] : ' ';
        if (!g_ascii_isalnum(after) && after != '_' && !g_ascii_isalnum(before) && before != '_')
            return TRUE;
    }
    return FALSE;
}

char *ws_field_text(const WsNode *node, WsFieldId field)
{
    const WsFieldRow *row = ws_node_row(node->kind, field);
    const WsValue *value = row ? ws_node_get(node, field) : NULL;
    return value && value->kind != WS_VALUE_NONE ? ws_value_words(row, value) : NULL;
}

char *ws_step_use(const WsNode *step)
{
    static const WsFieldId named[] = {
        WS_F_into, WS_F_from, WS_F_a, WS_F_b, WS_F_to, WS_F_keyword
    };
    char *use = ws_field_text(step, WS_F_use);
    for (guint i = 0; !use && i < G_N_ELEMENTS(named); i++) {
        const WsRef *ref = ws_node_refv(step, named[i]);
        use = ref && ref->use ? ws_expr_print(ref->use) : NULL;
    }
    return use;
}

char *ws_step_name(const WsNode *step)
{
    g_autofree char *text = ws_field_text(step, WS_F_keyword);
    g_auto(GStrv) parts = text ? g_strsplit(text, "\"", -1) : NULL;
    g_autofree char *what = parts ? g_strjoinv("", parts) : NULL;
    return what && strlen(what) < 40
               ? g_strdup_printf("`%s %s`", ws_node_kind_keyword(step->kind), what)
               : g_strdup_printf("`%s`", ws_node_kind_keyword(step->kind));
}

/* --- the finding ------------------------------------------------------------------------------ */
static const WsNode *find_object(const WsFixer *F)
{
    static const WsFieldId lists[] = { WS_F_barriers, WS_F_buffers };
    const char *name = F->finding->object;
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        const WsNode *node = ws_object_named(F->design, lists[i], name);
        if (node)
            return node;
    }
    const WsNode *at = F->finding->at ? ws_design_find(F->design, F->finding->at) : NULL;
    return at && !ws_node_kind_is_step(at->kind) ? at : NULL;
}

void ws_fixer_init(WsFixer *F, const WsDesign *design, const WsFinding *finding)
{
    memset(F, 0, sizeof *F);
    F->design = design;
    F->finding = finding;
    F->spot = g_array_new(FALSE, FALSE, sizeof(WsSpot));
    const WsNode *root = ws_design_root(design);
    for (guint g = 0; g < ws_node_n_children(root, WS_F_groups); g++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, g);
        collect(F, group, WS_F_body, group, -1);
    }
    const WsNode *at = finding->at ? ws_design_find(design, finding->at) : NULL;
    F->at = ws_spot_of(F, at);
    F->other = -1;
    for (guint i = 0; finding->steps && i < finding->steps->len && F->other < 0; i++)
        F->other = ws_spot_of(F, ws_design_find(design, finding->steps->pdata[i]));
    F->object = find_object(F);
}

void ws_fixer_clear(WsFixer *F)
{
    g_array_unref(F->spot);
}

/* --- edits ------------------------------------------------------------------------------------ */
WsFix *ws_fixer_add(WsFixer *F, const char *title, ...)
{
    WsFix *fix = g_new0(WsFix, 1);
    va_list args;
    va_start(args, title);
    fix->said = ws_phrase_v(title, args);
    fix->title = ws_phrase_text(fix->said, NULL, NULL);
    va_end(args);
    fix->kind = F->row->kind;
    fix->safe = F->row->safe;
    fix->cost = F->row->cost;
    fix->deeds = g_array_new(FALSE, FALSE, sizeof(WsMendDeed));
    fix->draft = ws_draft_new(F->design);
    g_ptr_array_add(F->out, fix);
    return fix;
}

void ws_fix_do(WsFix *fix, WsMendDeed deed)
{
    g_array_append_val(fix->deeds, deed);
}

void ws_fix_set(WsFix *fix, const WsNode *node, WsFieldId field, WsJson *value)
{
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_SET, node->identity, .field = field, .value = value });
}

void ws_fix_insert(const WsFixer *F, WsFix *fix, gint spot, gint by, WsJson *value)
{
    const WsSpot *s = ws_spot(F, spot);
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, s->owner->identity, s->field,
                                 s->index + (guint)by, value });
}

void ws_fix_append(WsFix *fix, const WsNode *owner, WsFieldId list, WsJson *value)
{
    const guint behind = fix->deeds->len ? G_MAXUINT : ws_node_n_children(owner, list);
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, owner->identity, list, behind, value });
}

void ws_fix_remove(const WsFixer *F, WsFix *fix, gint spot)
{
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_REMOVE, ws_spot(F, spot)->node->identity });
}

void ws_fix_move(const WsFixer *F, WsFix *fix, gint spot, gint to, gint by)
{
    const WsSpot *s = ws_spot(F, spot), *t = ws_spot(F, to);
    /* The index counts after the step has left its place. */
    const gboolean before = s->owner == t->owner && s->field == t->field && s->index < t->index;
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_MOVE, s->node->identity, t->owner->identity, t->field,
                                 t->index + (guint)by - (before ? 1 : 0), NULL });
}

WsJson *ws_hand(WsNodeKind kind, const char *ref, const char *use, WsHanding how)
{
    return WS_MAKE(kind, { WS_F_keyword, ws_json_text(ref) }, { WS_F_use, ws_json_expr(use) },
                   { WS_F_by, ws_json_text(how.by) }, { WS_F_cta, ws_json_expr(how.cta) },
                   { WS_F_when, ws_json_expr(how.when) });
}

WsJson *ws_plain(WsNodeKind kind, const char *what)
{
    return WS_MAKE(kind, { WS_F_keyword, ws_json_expr(what) });
}
