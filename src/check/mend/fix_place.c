/* Where steps of a design stand, and edits around them. */
#include "check/mend/fixer.h"
#include "model/build.h"

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
    switch (step->kind) {
    case WS_STEP_WAIT:
    case WS_STEP_ARRIVE:
    case WS_STEP_EXPECT:
    case WS_STEP_SYNC:
        ref = ws_node_refv(step, WS_F_keyword);
        break;
    case WS_STEP_LOAD:
    case WS_STEP_GATHER:
    case WS_STEP_COPY:
    case WS_STEP_WRITE:
        ref = ws_node_refv(step, WS_F_signal);
        break;
    default:
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

char *ws_field_json(const WsNode *node, WsFieldId field)
{
    const WsFieldRow *row = ws_node_row(node->kind, field);
    const WsValue *value = row ? ws_node_get(node, field) : NULL;
    return value && value->kind != WS_VALUE_NONE ? ws_value_print(row, value) : NULL;
}

char *ws_step_use(const WsNode *step)
{
    static const WsFieldId named[] = {
        WS_F_into, WS_F_from, WS_F_a, WS_F_b, WS_F_to, WS_F_keyword
    };
    char *use = ws_field_json(step, WS_F_use);
    for (guint i = 0; !use && i < G_N_ELEMENTS(named); i++) {
        const WsRef *ref = ws_node_refv(step, named[i]);
        g_autofree char *text = ref && ref->use ? ws_expr_print(ref->use) : NULL;
        if (text)
            use = g_strdup_printf("\"%s\"", text);
    }
    return use;
}

char *ws_step_name(const WsNode *step)
{
    g_autofree char *json = ws_field_json(step, WS_F_keyword);
    GString *s = g_string_new("`");
    g_string_append(s, ws_node_kind_keyword(step->kind));
    if (json && strlen(json) < 40) {
        g_string_append_c(s, ' ');
        for (const char *c = json; *c; c++)
            if (*c != '"')
                g_string_append_c(s, *c);
    }
    g_string_append_c(s, '`');
    return g_string_free(s, FALSE);
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
    fix->edits = g_ptr_array_new_with_free_func((GDestroyNotify)ws_edit_free);
    g_ptr_array_add(F->out, fix);
    return fix;
}

/* A value that does not read as JSON makes no edit: such a proposal is dropped. */
static void add_edit(WsFix *fix, WsEdit *edit)
{
    g_ptr_array_add(fix->edits, edit);
}

void ws_fix_edit(WsFix *fix, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    WsEdit *edit = ws_edit_parse(text, NULL);
    if (edit)
        add_edit(fix, edit);
}

static char *path_of(const WsFixer *F, const WsNode *node)
{
    return node == ws_design_root(F->design) ? g_strdup(".") : ws_design_path(F->design, node);
}

void ws_fix_set(const WsFixer *F, WsFix *fix, const WsNode *node, WsFieldId field, const char *json)
{
    g_autofree char *path = path_of(F, node);
    WsJson *value = ws_json_read(json, NULL);
    if (value)
        add_edit(fix, ws_edit_new_set(path, ws_node_key(node->kind, field), value));
}

void ws_fix_unset(const WsFixer *F, WsFix *fix, const WsNode *node, WsFieldId field)
{
    g_autofree char *path = path_of(F, node);
    add_edit(fix, ws_edit_new_set(path, ws_node_key(node->kind, field), NULL));
}

void ws_fix_append(const WsFixer *F, WsFix *fix, const WsNode *owner, WsFieldId list, guint index,
                   const char *json)
{
    g_autofree char *path = path_of(F, owner);
    WsJson *value = ws_json_read(json, NULL);
    if (value)
        add_edit(fix, ws_edit_new_insert(path, ws_node_key(owner->kind, list), index, value));
}

void ws_fix_insert(const WsFixer *F, WsFix *fix, gint spot, gint by, const char *json)
{
    const WsSpot *s = ws_spot(F, spot);
    ws_fix_append(F, fix, s->owner, s->field, s->index + (guint)by, json);
}

void ws_fix_remove(const WsFixer *F, WsFix *fix, gint spot)
{
    g_autofree char *path = path_of(F, ws_spot(F, spot)->node);
    add_edit(fix, ws_edit_new_remove(path));
}

void ws_fix_move(const WsFixer *F, WsFix *fix, gint spot, gint to, gint by)
{
    const WsSpot *s = ws_spot(F, spot), *t = ws_spot(F, to);
    g_autofree char *path = path_of(F, s->node), *owner = path_of(F, t->owner);
    /* The index counts after the step has left its place. */
    const gboolean before = s->owner == t->owner && s->field == t->field && s->index < t->index;
    add_edit(fix, ws_edit_new_move(path, owner, ws_node_key(t->owner->kind, t->field),
                                   t->index + (guint)by - (before ? 1 : 0)));
}
