#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"
#include "ui/inspector/facts.h"

#include "ui/parts/format.h"

#include <glib/gi18n.h>
#include <string.h>

/* Facts of the design, of buffers, barriers and groups. */

static WsFact *put(WsInspectorFacts *facts, const char *section, const char *name, char *value)
{
    return ws_facts_add(facts, WS_FACT_DERIVED, section, name, value);
}

/* --- design -------------------------------------------------------------------------------------
 */

static void put_tiles(WsInspectorFacts *facts, WsDocument *document)
{
    const WsProgram *p = ws_document_program(document);
    WsLaunchValues *v = ws_document_launch(document);
    const char *section = _("Sizes and tiles");
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            put(facts, section, p->var[i].name,
                ws_format_int(v ? ws_launch_var(v, (gint)i) : p->var[i].preset));
    for (guint i = 0; i < p->tiles->n_axes; i++) {
        g_autofree char *extent = ws_expr_print(p->tiles->axis[i].extent);
        g_autofree char *n = v ? ws_format_int(ws_launch_extent(v, i)) : g_strdup(WS_NO_FIGURE);
        /* Translators: an axis of the tiles: number of tiles, and the expression it follows from */
        put(facts, section, p->tiles->axis[i].name, g_strdup_printf(_("%s = %s"), n, extent));
    }
    if (v)
        put(facts, section, _("tiles"), ws_format_int(ws_launch_tiles(v)));
    if (p->cluster > 1)
        put(facts, section, _("CTAs per cluster"), ws_format_int(p->cluster));
    put(facts, section, _("threads per CTA"), ws_format_int(p->threads));
    put(facts, section, _("shared memory"), ws_format_bytes((gint64)p->shared_bytes));
}

static char *buffer_text(const WsBuffer *b)
{
    g_autofree char *bytes = ws_format_bytes((gint64)b->bytes);
    g_autofree char *stages =
        ws_format_count(b->stages, ngettext("%s stage", "%s stages", b->stages));
    return g_strdup_printf("%s, %s %u × %u, %s, %s", b->name, ws_dtype_text(b->dtype), b->rows,
                           b->cols, stages, bytes);
}

static char *barrier_text(const WsBarrier *b)
{
    if (b->kind == WS_BARRIER_NAMED)
        return g_strdup_printf(_("%s, named"), b->name);
    g_autofree char *slots = ws_format_count(b->slots, ngettext("%s slot", "%s slots", b->slots));
    g_autofree char *arrivals =
        ws_format_count(b->arrivals[0], ngettext("%s arrival", "%s arrivals", b->arrivals[0]));
    return g_strdup_printf("%s, %s, %s", b->name, slots, arrivals);
}

static void put_objects(WsInspectorFacts *facts, const WsProgram *p)
{
    for (guint i = 0; i < p->n_groups; i++) {
        g_autofree char *path = g_strdup_printf("groups/%s", p->group_name[i]);
        ws_facts_link(facts, _("Groups"), _("group"), p->group_name[i], path);
    }
    for (guint i = 0; i < p->n_buffers; i++) {
        g_autofree char *path = g_strdup_printf("buffers/%s", p->buffer[i].name);
        g_autofree char *text = buffer_text(&p->buffer[i]);
        ws_facts_link(facts, _("Buffers"), _("buffer"), text, path);
    }
    for (guint i = 0; i < p->n_barriers; i++) {
        g_autofree char *text = barrier_text(&p->barrier[i]);
        if (p->barrier[i].derived)
            put(facts, _("Barriers"), _("derived"), g_steal_pointer(&text));
        else
            ws_facts_link(facts, _("Barriers"), _("barrier"), text, p->barrier[i].path);
    }
}

/* Without a program the names of the file must do. */
static void put_nodes(WsInspectorFacts *facts, const WsDesign *design)
{
    static const WsFieldId field[] = { WS_F_groups, WS_F_buffers, WS_F_barriers, WS_F_pipes };
    const WsNode *root = ws_design_root(design);
    for (guint f = 0; f < G_N_ELEMENTS(field); f++)
        for (guint i = 0; i < ws_node_n_children(root, field[f]); i++) {
            const WsNode *node = ws_node_child(root, field[f], i);
            g_autofree char *path = ws_design_path(design, node);
            const char *name = ws_node_name(node);
            ws_facts_link(facts, ws_field_name(field[f]), ws_node_kind_keyword(node->kind),
                          name ? name : path, path);
        }
}

void ws_facts_of_design(WsInspectorFacts *facts, WsDocument *document)
{
    const WsDesign *design = ws_document_design(document);
    const WsProgram *p = ws_document_program(document);
    if (!p)
        put_nodes(facts, design);
    else {
        for (guint i = 0; i < p->n_constants; i++)
            put(facts, _("Constants"), p->constant_name[i], ws_format_int(p->constant[i]));
        put_tiles(facts, document);
        for (guint i = 0; i < p->n_assume; i++)
            put(facts, _("Assumptions"), _("holds"), g_strdup(p->assume_text[i]));
        put_objects(facts, p);
    }
    ws_facts_fields(facts, ws_design_root(design), _("In the file"));
}

/* --- buffer -------------------------------------------------------------------------------------
 */

static void link_users(WsInspectorFacts *facts, const WsProgram *p, gint buffer, gint barrier)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        gboolean uses = barrier >= 0 && op->barrier == barrier;
        for (guint a = 0; buffer >= 0 && a < op->n_access; a++)
            uses = uses || op->access[a].buffer == (guint)buffer;
        if (!uses || op->agent < 0 || !op->step || !g_hash_table_add(seen, op->step))
            continue;
        ws_facts_link(facts, _("Used by"), ws_op_kind_text(op->kind),
                      op->label ? op->label : op->step, op->step);
    }
}

void ws_facts_of_buffer(WsInspectorFacts *facts, const WsProgram *p, const char *name)
{
    for (guint i = 0; i < p->n_buffers; i++) {
        const WsBuffer *b = &p->buffer[i];
        if (g_strcmp0(b->name, name))
            continue;
        const char *section = _("In shared memory");
        put(facts, section, _("bytes"), ws_format_bytes((gint64)b->bytes));
        put(facts, section, _("starts at"), ws_format_int((gint64)b->offset));
        put(facts, section, _("stages"), ws_format_int(b->stages));
        put(facts, section, _("bytes per stage"), ws_format_bytes((gint64)b->stage_bytes));
        if (b->stages > 1)
            put(facts, section, _("stage to stage"), ws_format_bytes((gint64)b->stage_pitch));
        if (b->is_array)
            put(facts, section, _("copies"), ws_format_int(b->array));
        put(facts, section, _("bytes per row"), ws_format_bytes(b->row_bytes));
        put(facts, section, _("swizzle"), ws_format_bytes(b->swizzle));
        if (b->chunk_cols != b->cols)
            put(facts, section, _("columns per chunk"), ws_format_int(b->chunk_cols));
        put(facts, section, _("alignment"), ws_format_bytes(b->align));
        if (b->over >= 0)
            put(facts, section, _("lies over"), g_strdup(p->buffer[b->over].name));
        link_users(facts, p, (gint)i, -1);
        return;
    }
}

/* --- barrier ------------------------------------------------------------------------------------
 */

/* "2, derived" or "3, overrides 2". */
static char *count_text(guint count, guint derived)
{
    g_autofree char *a = ws_format_int(count), *b = ws_format_int(derived);
    return count == derived ? g_strdup_printf(_("%s, derived from the steps"), a)
                            : g_strdup_printf(_("%s, set by hand; the steps make %s"), a, b);
}

static void put_element(WsInspectorFacts *facts, const WsBarrier *b, guint e)
{
    g_autofree char *section =
        b->is_array ? g_strdup_printf(_("Element %u"), e) : g_strdup(_("In the program"));
    if (b->kind == WS_BARRIER_NAMED) {
        put(facts, section, _("threads"), count_text(b->threads[e], b->threads_derived[e]));
        put(facts, section, _("hardware id"), ws_format_int(b->hw_id[e]));
        return;
    }
    put(facts, section, _("arrivals"), count_text(b->arrivals[e], b->arrivals_derived[e]));
    put(facts, section, _("turn 0"),
        g_strdup(b->ready[e] ? _("ready: passes at once") : _("pending: must be completed")));
    put(facts, section, _("slots"), ws_format_int(b->slots));
    put(facts, section, _("address"), ws_format_int((gint64)b->offset + 8 * (gint64)e * b->slots));
    if (b->expected_bytes)
        put(facts, section, _("bytes per turn"), ws_format_bytes((gint64)b->expected_bytes));
}

void ws_facts_of_barrier(WsInspectorFacts *facts, const WsProgram *p, const char *name)
{
    for (guint i = 0; i < p->n_barriers; i++) {
        const WsBarrier *b = &p->barrier[i];
        if (b->derived || g_strcmp0(b->name, name))
            continue;
        for (guint e = 0; e < b->array; e++)
            put_element(facts, b, e);
        link_users(facts, p, -1, (gint)i);
        return;
    }
}

/* --- group --------------------------------------------------------------------------------------
 */

void ws_facts_of_group(WsInspectorFacts *facts, const WsProgram *p, const char *path)
{
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i];
        if (g_strcmp0(a->path, path))
            continue;
        g_autofree char *section = g_strdup_printf(_("Agent %s"), a->name);
        put(facts, section, _("warps"),
            g_strdup_printf("%u\xe2\x80\x93%u", a->warp0, a->warp0 + a->warps - 1));
        put(facts, section, _("threads"), ws_format_int(a->threads));
        put(facts, section, _("registers per thread"),
            ws_format_int(a->registers ? a->registers : p->entry_registers));
        for (guint v = 0; v < a->n_values; v++) {
            g_autofree char *n =
                ws_format_count(a->value[v].registers,
                                ngettext("%s register", "%s registers", a->value[v].registers));
            put(facts, section, a->value[v].name,
                g_strdup_printf("%s %u × %u, %s", ws_dtype_text(a->value[v].dtype),
                                a->value[v].rows, a->value[v].cols, n));
        }
    }
}
