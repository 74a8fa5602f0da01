/* Head and objects of a design that was read: sizes, tensors, buffers, barriers. */
#include "import/write.h"
#include "model/text.h"
#include "target/target.h"

#include <string.h>

void ws_write_field(GString *out, const char *key, const char *text)
{
    g_string_append_printf(out, ", \"%s\": ", key);
    ws_text_json(out, text);
}

void ws_write_expr(WsRead *r, GString *out, const char *key, const WsExpr *e)
{
    g_autofree char *text = ws_source_named_text(r, e);
    ws_write_field(out, key, text);
}

void ws_write_note(const WsRead *r, GString *out, guint line, guint column, guint end_line)
{
    if (!line)
        return;
    g_autofree char *source = g_strdup(line <= r->n_lines ? r->line[line - 1] : "");
    g_strstrip(source);
    if (g_utf8_strlen(source, -1) > 160)
        strcpy(g_utf8_offset_to_pointer(source, 160), "");
    g_autofree char *note = g_strdup_printf("%s:%u:%u: %s%s", r->file, line, MAX(column, 1), source,
                                            end_line > line ? " …" : "");
    ws_write_field(out, "note", note);
}

/* A text that was kept of an expression, in the names of the design. */
static void put_text(WsRead *r, GString *out, const char *text)
{
    g_autoptr(WsExpr) e = ws_expr_parse(text, NULL);
    g_autofree char *own = e ? ws_source_named_text(r, e) : g_strdup(text);
    ws_text_json(out, own);
}

static void put_lets(WsRead *r, GString *out, gboolean tile)
{
    guint at = 0;
    const char *name;
    gboolean any = FALSE;
    for (char *text; ws_source_next_name(r, tile, &at, &name, &text); any = TRUE) {
        g_string_append_printf(out, "%s\"%s\": ", any ? ", " : ", \"let\": {", name);
        ws_text_json(out, text);
        g_free(text);
    }
    g_string_append(out, any ? "}" : "");
}

void ws_write_head(WsRead *r, GString *out)
{
    g_string_append(out, "{\"warpstave\": 1, \"name\": ");
    ws_text_json(out, r->title);
    g_autofree char *note = g_strdup_printf("imported from %s; notes give the lines", r->file);
    ws_write_field(out, "note", note);
    ws_write_field(out, "target", ws_target_sm_90a.name);
    if (r->fences)
        ws_write_field(out, "fences", r->fences);
    g_string_append(out, ", \"sizes\": {");
    for (guint i = 0; i < r->sizes->len; i++)
        g_string_append_printf(out, "%s\"%s\": %" G_GINT64_FORMAT, i ? ", " : "",
                               (char *)g_ptr_array_index(r->sizes, i),
                               g_array_index(r->presets, gint64, i));
    g_string_append(out, "}, \"scalars\": {");
    for (guint i = 0; i < r->scalars->len; i++)
        g_string_append_printf(out, "%s\"%s\": 1.0", i ? ", " : "",
                               (char *)g_ptr_array_index(r->scalars, i));
    g_string_append(out, "}, \"assume\": [");
    for (guint i = 0; i < r->assume->len; i++) {
        g_string_append(out, i ? ", " : "");
        put_text(r, out, g_ptr_array_index(r->assume, i));
    }
    g_string_append(out, "]");
    if (r->cluster > 1)
        g_string_append_printf(out, ", \"cluster\": %" G_GINT64_FORMAT, r->cluster);
    g_autoptr(GString) axes = g_string_new(NULL);
    for (guint i = 0; i + 1 < r->axes->len; i += 2) {
        g_string_append_printf(axes, "%s\"%s\": ", i ? ", " : "",
                               (char *)g_ptr_array_index(r->axes, i));
        put_text(r, axes, g_ptr_array_index(r->axes, i + 1));
    }
    ws_source_mark_names(r);
    put_lets(r, out, FALSE);
    g_string_append_printf(out, ", \"tiles\": {\"axes\": {%s}, \"launch\": \"%s\"", axes->str,
                           r->launch);
    put_lets(r, out, TRUE);
    g_string_append(out, "}");
}

static void put_tensors(WsRead *r, GString *out)
{
    g_string_append(out, ", \"tensors\": [");
    for (guint i = 0; i < r->tensors->len; i++) {
        const WsReadTensor *t = &g_array_index(r->tensors, WsReadTensor, i);
        g_string_append_printf(out, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"shape\": [",
                               i ? ", " : "", t->name, t->dtype ? t->dtype : "bf16");
        for (guint d = 0; d < t->rank; d++) {
            g_autofree char *text = ws_source_named_text(r, t->shape[d]);
            g_string_append(out, d ? ", " : "");
            ws_text_json(out, text);
        }
        g_string_append(out, "]");
        if (t->written || t->reduced)
            ws_write_field(out, "access", t->reduced ? "reduce" : "write");
        /* the text of a kernel does not say how it is launched, nor for which extents */
        if (t->written && !t->reduced)
            ws_write_field(out, "covers", "the kernel was made for its launch");
        ws_write_note(r, out, t->line, 1, t->line);
        g_string_append(out, "}\n");
    }
    g_string_append(out, "]");
}

static void put_buffers(WsRead *r, GString *out)
{
    g_string_append(out, ", \"buffers\": [");
    for (guint i = 0; i < r->buffers->len; i++) {
        const WsReadBuffer *b = &g_array_index(r->buffers, WsReadBuffer, i);
        g_string_append_printf(out, "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"tile\": [",
                               i ? ", " : "", b->name, b->dtype);
        const guint lead = (b->indexed ? 1 : 0) + (b->indexed_twice ? 1 : 0);
        for (guint d = lead; d < b->rank; d++)
            g_string_append_printf(out, "%s%" G_GINT64_FORMAT, d > lead ? ", " : "", b->shape[d]);
        g_string_append(out, "]");
        if (b->copies > b->stages)
            g_string_append_printf(out, ", \"array\": %" G_GINT64_FORMAT, b->copies / b->stages);
        g_string_append_printf(out, ", \"stages\": %" G_GINT64_FORMAT, b->stages);
        if (b->over) {
            const WsReadBuffer *under = &g_array_index(r->buffers, WsReadBuffer, b->over - 1);
            g_autofree char *ref =
                g_strconcat(under->name, under->copies > under->stages ? "[0]" : "", NULL);
            ws_write_field(out, "over", ref);
            if (b->over_at)
                g_string_append_printf(out, ", \"offset\": %" G_GINT64_FORMAT, b->over_at);
        }
        ws_write_note(r, out, b->line, 1, b->line);
        g_string_append(out, "}\n");
    }
    g_string_append(out, "]");
}

/* Arrivals of the elements of a barrier; the design has one figure for all of them. */
static gint64 arrivals_of(WsRead *r, const WsReadBarrier *b)
{
    gint64 n = 0;
    for (gint64 i = 0; i < b->copies; i++) {
        if (n && b->count[i] && b->count[i] != n) { /* never to be called proved */
            ws_source_unread(r, b->line, 1, b->line,
                             "arrival counts that differ between the slots of a barrier", b->name);
            WsReadGroup *g = g_ptr_array_index(r->groups, 0);
            ws_source_step(r, g->body, WS_READ_OPAQUE, b->line, 1, b->line);
            return n;
        }
        n = MAX(n, b->count[i]);
    }
    return MAX(n, 1);
}

static void put_init(GString *out, const WsReadBarrier *b)
{
    static const char *const word[] = { "pending", "ready" };
    const gint64 n = b->copies / b->slots;
    gboolean same = TRUE;
    for (gint64 i = 1; i < n; i++)
        same &= b->ready[i] == b->ready[0];
    if (same) {
        ws_write_field(out, "init", word[b->ready[0]]);
        return;
    }
    g_string_append(out, ", \"init\": [");
    for (gint64 i = 0; i < n; i++)
        g_string_append_printf(out, "%s\"%s\"", i ? ", " : "", word[b->ready[i]]);
    g_string_append(out, "]");
}

/* The design has one figure for all elements; where they differ it derives them. */
static void put_threads(GString *out, const WsReadBarrier *b)
{
    gboolean alike = TRUE;
    for (gint64 i = 1; i < b->copies; i++)
        alike &= b->hw_id == 0 || b->count[i] == b->count[0];
    ws_write_field(out, "kind", "named");
    if (alike)
        g_string_append_printf(out, ", \"threads\": %" G_GINT64_FORMAT, b->count[0]);
}

static void put_barriers(WsRead *r, GString *out)
{
    g_string_append(out, ", \"barriers\": [");
    for (guint i = 0; i < r->barriers->len; i++) {
        const WsReadBarrier *b = &g_array_index(r->barriers, WsReadBarrier, i);
        g_string_append_printf(out, "%s{\"name\": \"%s\"", i ? ", " : "", b->name);
        if (b->named) {
            if (b->copies > 1)
                g_string_append_printf(out, ", \"array\": %" G_GINT64_FORMAT, b->copies);
            put_threads(out, b);
        } else {
            if (b->copies > b->slots)
                g_string_append_printf(out, ", \"array\": %" G_GINT64_FORMAT, b->copies / b->slots);
            g_string_append_printf(out, ", \"slots\": %" G_GINT64_FORMAT, b->slots);
            put_init(out, b);
            g_string_append_printf(out, ", \"arrivals\": %" G_GINT64_FORMAT, arrivals_of(r, b));
        }
        ws_write_note(r, out, b->line, 1, b->line);
        g_string_append(out, "}\n");
    }
    g_string_append(out, "]");
}

void ws_write_objects(WsRead *r, GString *out)
{
    put_tensors(r, out);
    put_buffers(r, out);
    put_barriers(r, out);
}
