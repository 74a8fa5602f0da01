#include "import/recognise.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/kind.h"

#include <string.h>

/* What an unread statement can reach: groups and objects hang together where a group uses an
 * object, and whatever hangs together with an unread statement may be other than it was read. */

static void mark(GHashTable *near, const char *prefix, const char *name, gboolean *any)
{
    char *key = g_strconcat(prefix, name, NULL);
    *any |= !g_hash_table_contains(near, key);
    g_hash_table_add(near, key);
}

static gboolean is_near(GHashTable *near, const char *prefix, const char *name)
{
    g_autofree char *key = g_strconcat(prefix, name, NULL);
    return g_hash_table_contains(near, key);
}

typedef void (*Each)(gpointer data, const char *object);

static void each_place(const WsRead *r, const WsPlace *p, gboolean barrier, Each each,
                       gpointer data)
{
    if (p->object < 0 || p->in_value)
        return;
    each(data, barrier ? g_array_index(r->barriers, WsReadBarrier, p->object).name
                       : g_array_index(r->buffers, WsReadBuffer, p->object).name);
}

static void each_object(const WsRead *r, const GPtrArray *list, Each each, gpointer data)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        each_object(r, s->body, each, data);
        each_object(r, s->other, each, data);
        if (s->off)
            continue;
        each_place(r, &s->barrier, TRUE, each, data);
        each_place(r, &s->buffer, FALSE, each, data);
        each_place(r, &s->a, FALSE, each, data);
        each_place(r, &s->b, FALSE, each, data);
        for (guint k = 0; s->places && k < s->places->len; k++)
            each_place(r, &g_array_index(s->places, WsPlace, k), FALSE, each, data);
        if (s->kind == WS_READ_SYNC || s->kind == WS_READ_BAR_ARRIVE) {
            g_autofree char *name = g_strndup(s->name, strcspn(s->name, "["));
            if (strcmp(name, "group"))
                each(data, name);
        }
        if (s->tensor >= 0)
            each(data, g_array_index(r->tensors, WsReadTensor, s->tensor).name);
    }
}

typedef struct {
    GHashTable *near;
    gboolean found, any;
} Spread;

static void ask(gpointer data, const char *object)
{
    Spread *s = data;
    s->found |= is_near(s->near, "object ", object);
}

static void take(gpointer data, const char *object)
{
    Spread *s = data;
    mark(s->near, "object ", object, &s->any);
}

GHashTable *ws_source_near(const WsRead *r)
{
    GHashTable *near = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Spread s = { .near = near };
    for (guint i = 0; i < r->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(r->unread, i);
        if (u->harmless)
            continue;
        if (u->all || !u->group) {
            g_hash_table_unref(near);
            return NULL;
        }
        mark(near, "group ", u->group, &s.any);
        for (guint k = 0; u->objects && k < u->objects->len; k++)
            mark(near, "object ", g_ptr_array_index(u->objects, k), &s.any);
    }
    do {
        s.any = FALSE;
        for (guint g = 0; g < r->groups->len; g++) {
            const WsReadGroup *group = g_ptr_array_index(r->groups, g);
            s.found = is_near(near, "group ", group->name);
            if (!s.found)
                each_object(r, group->body, ask, &s);
            if (!s.found)
                continue;
            mark(near, "group ", group->name, &s.any);
            each_object(r, group->body, take, &s);
        }
    } while (s.any);
    return near;
}

static void compare(gpointer data, const char *object)
{
    gpointer *d = data;
    *(gboolean *)d[1] |= !strcmp(d[0], object);
}

static gboolean has_raw(const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == WS_READ_OPAQUE && !s->off) || has_raw(s->body) || has_raw(s->other))
            return TRUE;
    }
    return FALSE;
}

void ws_source_seal(WsRead *r)
{
    ws_source_masks(r);
    if (r->inits)
        ws_source_lifetimes(r);
    for (guint i = 0; r->inits && i < r->barriers->len; i++) {
        const WsReadBarrier *b = &g_array_index(r->barriers, WsReadBarrier, i);
        gboolean used = FALSE, fresh = FALSE;
        gpointer data[2] = { (gpointer)b->name, &used };
        for (guint g = 0; g < r->groups->len; g++)
            each_object(r, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, compare, data);
        for (gint64 k = 0; k < b->copies; k++)
            fresh |= !b->named && !b->said && !b->count[k];
        if (used && fresh)
            ws_source_unread(
                r, b->line, 1, b->line,
                ws_source_format(r, "where all of barrier `%s` is initialised", b->name),
                b->line && b->line <= r->n_lines ? r->line[b->line - 1] : "");
    }
    gboolean raw = FALSE;
    const WsUnread *first = NULL;
    for (guint i = 0; i < r->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(r->unread, i);
        first = !u->harmless && !first ? u : first;
    }
    for (guint g = 0; g < r->groups->len; g++)
        raw |= has_raw(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body);
    if (!first || raw || !r->inits)
        return;
    WsReadGroup *group = g_ptr_array_index(r->groups, 0);
    ws_source_step(r, group->body, WS_READ_OPAQUE, first->line, first->column, first->line);
}

static const WsUnread *gap_of(const WsImport *import)
{
    for (guint i = 0; i < import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(import->unread, i);
        if (!u->harmless)
            return u;
    }
    return NULL;
}

char *ws_import_gap(const WsImport *import)
{
    const WsUnread *u = gap_of(import);
    return u ? g_strdup_printf("line %u: %s was not read", u->line, u->what) : NULL;
}

guint ws_import_gap_line(const WsImport *import)
{
    const WsUnread *u = gap_of(import);
    return u ? u->line : 0;
}

/* "mma.0", "mma@1", "groups/mma/body/0": the group of it. */
static gboolean group_is_near(const WsImport *import, const char *text)
{
    if (!text)
        return FALSE;
    if (g_str_has_prefix(text, "groups/"))
        text += strlen("groups/");
    g_autofree char *name = g_strndup(text, strcspn(text, "./@"));
    return is_near(import->near, "group ", name);
}

/* Is that step an access under a mask, which may touch none of the bytes that matter? */
static gboolean is_partial(const WsImport *import, const char *path)
{
    const WsNode *node = path ? ws_design_find(import->design, path) : NULL;
    guint line, column;
    return node && (node->kind == WS_STEP_WRITE || node->kind == WS_STEP_READ) &&
           ws_import_place(node, &line, &column, NULL) &&
           g_hash_table_contains(import->partial, GUINT_TO_POINTER(line));
}

char *ws_source_step_key(guint line, guint column, guint last, const WsStatement *statement)
{
    g_autofree char *says = ws_statement_print(statement);
    return g_strdup_printf("%u %u %u %s", line, column, MAX(line, last), says);
}

/* The line of the step, 1 where it has none. */
static guint line_of(const WsImport *import, const char *path)
{
    const WsNode *node = path ? ws_design_find(import->design, path) : NULL;
    guint line, column;
    return node && ws_import_place(node, &line, &column, NULL) ? line : 1;
}

/* The line of a step that the reader added, or that a hint stands for; 0: it is none. */
static guint added_in(const WsImport *import, const char *path)
{
    if (path && strchr(path, '#'))
        return line_of(import, path);
    const WsNode *node = path ? ws_design_find(import->design, path) : NULL;
    const WsValue *v =
        node && node->kind == WS_STEP_COMPUTE ? ws_node_get(node, WS_F_keyword) : NULL;
    v = v && v->kind == WS_VALUE_LIST && v->n == 1 ? &v->item[0] : v;
    guint line, column, last;
    if (!v || v->kind != WS_VALUE_STATEMENT || !ws_import_place(node, &line, &column, &last))
        return 0;
    g_autofree char *key = ws_source_step_key(line, column, last, v->statement);
    return g_hash_table_contains(import->added, key) ? line : 0;
}

guint ws_import_added(const WsImport *import, const WsFinding *f)
{
    const gboolean own = f->object && g_hash_table_contains(import->made, f->object);
    guint line = own ? line_of(import, f->at) : added_in(import, f->at);
    for (guint i = 0; !line && f->steps && i < f->steps->len; i++)
        line = added_in(import, g_ptr_array_index(f->steps, i));
    return line;
}

gboolean ws_import_stands(const WsFinding *f, gconstpointer data)
{
    const WsImport *import = data;
    const WsClass klass = ws_rule(f->rule)->klass;
    if (klass != WS_CLASS_P || f->rule == WS_RULE_P_UNDEF)
        return FALSE;
    /* warps do not end before their own cp.async do; only the values are lost */
    const WsNode *node = f->at ? ws_design_find(import->design, f->at) : NULL;
    if (f->rule == WS_RULE_P_EXIT && node && node->kind == WS_STEP_GATHER)
        return FALSE;
    /* lanes of a warp arrive in all CTAs at once: one that is late is made up for by one that is
     * early, as both count the same, and all read before any arrived */
    if (f->rule == WS_RULE_P_EARLY && node && node->kind == WS_STEP_ARRIVE &&
        !g_strcmp0(ws_node_text(node, WS_F_cta), "all"))
        return FALSE;
    gboolean partial = is_partial(import, f->at);
    for (guint i = 0; f->steps && i < f->steps->len; i++)
        partial |= is_partial(import, g_ptr_array_index(f->steps, i));
    if (partial || !import->near)
        return FALSE;
    gboolean near = group_is_near(import, f->at) || group_is_near(import, f->agent) ||
                    group_is_near(import, f->other) ||
                    (f->object && is_near(import->near, "object ", f->object));
    for (guint i = 0; f->steps && i < f->steps->len; i++)
        near |= group_is_near(import, g_ptr_array_index(f->steps, i));
    return !near;
}
