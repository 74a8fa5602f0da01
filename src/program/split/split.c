/* The design whose tiles are in parts. */
#include "program/split/split.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/arena.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/retired.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

gboolean ws_split_give_up(WsSplit *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *why = g_strdup_vprintf(format, args);
    va_end(args);
    g_debug("no parts: %s", why);
    if (!s->why)
        s->why = g_steal_pointer(&why);
    return FALSE;
}

static void split_clear(WsSplit *s)
{
    for (guint i = 0; s->value && i < s->p->n_agents; i++)
        g_free(s->value[i]);
    g_free(s->value);
    g_free(s->rows);
    g_free(s->cols);
    g_free(s->lines);
    g_free(s->why);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsSplit, split_clear)

static WsJson *tile_of(guint rows, guint cols)
{
    WsJson *tile = ws_json_list();
    ws_json_add(tile, ws_json_int(rows));
    ws_json_add(tile, ws_json_int(cols));
    return tile;
}

static gint find_buffer(const WsProgram *p, const char *name)
{
    for (guint i = 0; i < p->n_buffers; i++) {
        if (!g_strcmp0(p->buffer[i].name, name))
            return (gint)i;
    }
    return -1;
}

/* What a buffer lies over, in parts: the first one of those that it begins in. */
static WsJson *over(WsSplit *s, const WsNode *node)
{
    const WsRef *ref = ws_node_refv(node, WS_F_over);
    g_auto(WsSplitView) v = { 0 };
    if (!ref)
        return NULL;
    if (!ws_split_view(s, ref, &v))
        return s->why ? NULL : ws_json_of_field(node, WS_F_over);
    const guint rows = v.row_cuts ? MIN(v.rows, v.row_cuts->at[1]) : v.rows;
    const guint cols = v.col_cuts ? MIN(v.cols, v.col_cuts->at[1]) : v.cols;
    char *text = ws_split_sub(s, &v, 0, rows, 0, cols);
    return text ? ws_json_take_text(text) : NULL;
}

static WsJson *buffers(WsSplit *s, const WsNode *root)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const WsNode *node = ws_node_child(root, WS_F_buffers, i);
        const char *name = ws_node_name(node);
        const gint number = find_buffer(s->p, name);
        if (number < 0) {
            ws_json_add(list, ws_json_of_node(node));
            continue;
        }
        const WsBuffer *b = &s->p->buffer[number];
        const WsCuts *rows = &s->rows[number], *cols = &s->cols[number];
        gint64 offset = ws_node_int(node, WS_F_offset, 0);
        for (guint k = 0; k < rows->n * cols->n; k++) {
            const guint r = k / cols->n, c = k % cols->n;
            const guint n = rows->at[r + 1] - rows->at[r], m = cols->at[c + 1] - cols->at[c];
            WsJson *one = ws_json_of_node(node), *base = over(s, node);
            if (base)
                ws_json_with(one, "over", base);
            if (base && offset)
                ws_json_with(one, "offset", ws_json_int(offset));
            if (s->lines[number]) {
                WsJson *line = ws_json_list();
                ws_json_add(line, ws_json_int(m));
                ws_json_with(ws_json_with(one, "tile", line), "swizzle", NULL);
                ws_json_with(one, "name", ws_json_format("%s_%u", name, k));
            } else if (rows->n * cols->n > 1) {
                ws_json_with(one, "tile", tile_of(n, m));
                ws_json_with(one, "name",
                             rows->n > 1 && cols->n > 1 ? ws_json_format("%s_%u_%u", name, r, c)
                                                        : ws_json_format("%s_%u", name, k));
            }
            if ((s->lines[number] || rows->n * cols->n > 1) && ws_node_has(node, WS_F_id))
                ws_split_give_up(s, "a buffer with an id");
            ws_json_add(list, one);
            offset += (gint64)b->array * b->stages * n * m * ws_dtype_bytes(b->dtype);
        }
    }
    return list;
}

static WsJson *names_of(WsSplit *s, const WsValue *names)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < names->n; i++) {
        const gint b = find_buffer(s->p, names->item[i].text);
        const guint n = b < 0 ? 1 : s->rows[b].n * s->cols[b].n;
        for (guint k = 0; k < n; k++)
            ws_json_add(list, n == 1 ? ws_json_text(names->item[i].text)
                                     : ws_json_format("%s_%u", names->item[i].text, k));
        if (n > 1 && s->rows[b].n > 1 && s->cols[b].n > 1)
            ws_split_give_up(s, "a field of a pipe in parts along rows and columns");
    }
    return list;
}

static WsJson *pipes(WsSplit *s, const WsNode *root)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(root, WS_F_pipes); i++) {
        const WsNode *node = ws_node_child(root, WS_F_pipes, i);
        WsJson *one = ws_json_of_node(node);
        if (ws_node_has(node, WS_F_fields))
            ws_json_with(one, "fields", names_of(s, ws_node_get(node, WS_F_fields)));
        if (ws_node_has(node, WS_F_readers)) {
            const WsValue *readers = ws_node_get(node, WS_F_readers);
            WsJson *map = ws_json_map();
            for (guint k = 0; k < readers->n; k++)
                ws_json_put(map, readers->key[k], names_of(s, &readers->item[k]));
            ws_json_with(one, "readers", map);
        }
        ws_json_add(list, one);
    }
    return list;
}

static WsJson *values(WsSplit *s, const WsNode *group)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(group, WS_F_values); i++) {
        const WsNode *node = ws_node_child(group, WS_F_values, i);
        const char *name = ws_node_name(node);
        const WsCuts *cuts = ws_split_of_name(s, name);
        if (!cuts) {
            ws_json_add(list, ws_json_of_node(node));
            continue;
        }
        const WsAgent *a = &s->p->agent[s->agent];
        guint v = 0;
        while (strcmp(a->value[v].name, name) != 0)
            v++;
        for (guint k = 0; k < cuts->n; k++) {
            WsJson *one =
                ws_json_with(ws_json_of_node(node), "name", ws_json_format("%s_%u", name, k));
            ws_json_add(list,
                        ws_json_with(one, "tile",
                                     tile_of(a->value[v].rows, cuts->at[k + 1] - cuts->at[k])));
        }
    }
    return list;
}

/* Replicas have the same values; one whose steps cut them otherwise has no common text. */
static gboolean alike(WsSplit *s, guint agent)
{
    for (guint i = 0; i < s->p->n_agents; i++) {
        const WsAgent *a = &s->p->agent[i];
        if (a->group == s->p->agent[agent].group &&
            memcmp(s->value[i], s->value[agent], a->n_values * sizeof(WsCuts)) != 0)
            return ws_split_give_up(s, "replicas whose values are cut differently");
    }
    return TRUE;
}

static WsJson *groups(WsSplit *s, const WsNode *root)
{
    WsJson *list = ws_json_list();
    for (guint i = 0; i < ws_node_n_children(root, WS_F_groups); i++) {
        const WsNode *node = ws_node_child(root, WS_F_groups, i);
        guint agent = 0;
        while (agent < s->p->n_agents &&
               g_strcmp0(s->p->group_name[s->p->agent[agent].group], ws_node_name(node)) != 0)
            agent++;
        WsJson *one = ws_json_of_node(node), *body = NULL;
        if (agent < s->p->n_agents && alike(s, agent)) {
            s->agent = agent;
            body = ws_split_steps(s, node, WS_F_body);
        }
        if (body)
            ws_json_with(one, "body", body);
        if (body && ws_node_has(node, WS_F_values))
            ws_json_with(one, "values", values(s, node));
        ws_json_add(list, one);
    }
    return list;
}

static WsDesign *in_parts(WsSplit *s)
{
    const WsNode *root = ws_design_root(s->design);
    WsJson *all = ws_json_of_node(root);
    if (ws_node_has(root, WS_F_buffers))
        ws_json_with(all, "buffers", buffers(s, root));
    if (ws_node_has(root, WS_F_pipes))
        ws_json_with(all, "pipes", pipes(s, root));
    ws_json_with(all, "groups", groups(s, root));
    g_autoptr(WsFindings) findings = ws_findings_new();
    if (!s->why)
        return ws_design_build(all, ws_design_file(s->design), findings);
    ws_json_free(all);
    return NULL;
}

static WsProgram *elaborated(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (p && !ws_findings_count(findings, WS_SEVERITY_ERROR))
        return p;
    g_autofree char *says = ws_findings_print(findings, "parts"),
                    *text = design ? ws_design_print(design) : NULL;
    g_debug("%s%s", text ? text : "", says);
    if (p)
        ws_program_unref(p);
    return NULL;
}

/* Ids of steps are places in the design, in which an id cannot have its '/' (unroll.c). */
static void name_steps(WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++) {
        g_strdelimit(p->op[i]->id, "|", '/');
        g_strdelimit(p->op[i]->step, "|", '/');
    }
}

/* Waits leave few products in flight, as small numbers of groups alone are told apart everywhere.
 */
static gboolean few_in_flight(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++) {
        const WsWait *wait = p->op[i]->wait;
        if (wait && wait->stay > WS_SPLIT_FLYING) {
            g_debug("no parts: %" G_GINT64_FORMAT " steps in flight", wait->stay);
            return FALSE;
        }
    }
    return TRUE;
}

static guint count(const gboolean *is, guint n)
{
    guint all = 0;
    for (guint i = 0; i < n; i++)
        all += is[i] != FALSE;
    return all;
}

WsProgram *ws_program_split(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_parse(p->design_text, strlen(p->design_text), p->file, findings);
    if (!design)
        return NULL;
    gboolean laid_out;
    g_autoptr(WsDesign) flat = ws_split_unrolled(design, p, &laid_out);
    g_autoptr(WsProgram) placed = elaborated(flat);
    if (!placed)
        return NULL;
    g_autoptr(WsDesign) parts = NULL;
    g_autofree gboolean *uncut = g_new0(gboolean, placed->n_buffers + 1);
    for (gboolean again = TRUE; again && !parts;) {
        g_auto(WsSplit) s = { .p = placed, .design = flat, .uncut = uncut };
        const guint before = count(uncut, placed->n_buffers);
        if (!ws_split_find(&s) || (!s.any && !laid_out))
            return NULL;
        parts = in_parts(&s);
        again = count(uncut, placed->n_buffers) > before;
    }
    WsProgram *made = parts ? elaborated(parts) : NULL;
    if (made && !few_in_flight(made))
        g_clear_pointer(&made, ws_program_unref);
    if (made)
        name_steps(made);
    if (made)
        made->design_hash = ws_arena_strdup(made->arena, p->design_hash);
    return made;
}
