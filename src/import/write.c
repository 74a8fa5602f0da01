#include "import/write_steps.h"
#include "model/text.h"

#include <string.h>

/* What was read -> the text of a design -> the ordinary reader. */

static void put_coords(WsWriter *w, const WsReadStep *s)
{
    g_string_append(w->out, ", \"at\": [");
    for (guint i = 0; i < s->n_coord; i++) {
        g_autofree char *text = ws_source_named_text(w->r, s->coord[i]);
        g_string_append(w->out, i ? ", " : "");
        ws_text_json(w->out, text);
    }
    g_string_append(w->out, "]");
}

/* --- references
 * ----------------------------------------------------------------------------------*/

static const WsReadBuffer *buffer_of(const WsWriter *w, const WsPlace *p)
{
    return &g_array_index(w->r->buffers, WsReadBuffer, p->object);
}

static char *buffer_ref(WsWriter *w, const WsPlace *p)
{
    if (p->in_value)
        return g_strdup_printf("%s%s", g_array_index(w->group->values, WsReadValue, p->object).name,
                               p->views ? p->views : "");
    const WsReadBuffer *b = buffer_of(w, p);
    const WsSpot spot = ws_source_spot(w->r, p, b->stages, b->copies);
    GString *out = g_string_new(b->name);
    if (spot.element >= 0)
        g_string_append_printf(out, "[%" G_GINT64_FORMAT "]", spot.element);
    if (p->views)
        g_string_append(out, p->views);
    if (p->transposed)
        g_string_append(out, ".t");
    const WsExpr *use = spot.use ? spot.use : spot.slot;
    if (b->stages > 1) {
        g_autofree char *text = use ? ws_source_named_text(w->r, use) : g_strdup("0");
        g_string_append_printf(out, " @ %s", text);
    }
    return g_string_free(out, FALSE);
}

/* --- steps
 * -----------------------------------------------------------------------------------------*/

static void put_steps(WsWriter *w, const GPtrArray *list);

static void put_block(WsWriter *w, const char *key, const GPtrArray *list)
{
    g_string_append_printf(w->out, ", \"%s\": [", key);
    put_steps(w, list);
    g_string_append(w->out, "]");
}

static void put_for(WsWriter *w, WsReadStep *s)
{
    g_string_append(w->out, "{\"for\": ");
    ws_text_json(w->out, s->name);
    if (s->e)
        ws_write_expr(w->r, w->out, "count", s->e);
    else
        ws_write_field(w->out, "over", "tiles");
    if (s->n)
        g_string_append_printf(w->out, ", \"from\": %" G_GINT64_FORMAT, s->n);
    if (s->stride > 1)
        g_string_append_printf(w->out, ", \"step\": %" G_GINT64_FORMAT, s->stride);
    if (s->all)
        ws_write_field(w->out, "unroll", "full");
    ws_write_note(w->r, w->out, s->line, s->column, s->line);
    g_ptr_array_add(w->loops, s);
    put_block(w, "do", s->body);
    g_ptr_array_set_size(w->loops, w->loops->len - 1);
}

static void put_if(WsWriter *w, WsReadStep *s)
{
    g_string_append(w->out, "{\"if\": ");
    g_autofree char *text = ws_source_named_text(w->r, s->e);
    ws_text_json(w->out, text);
    ws_write_note(w->r, w->out, s->line, s->column, s->line);
    w->conditional++;
    put_block(w, "then", s->body);
    if (s->other && s->other->len)
        put_block(w, "else", s->other);
    w->conditional--;
}

static gboolean fills(const GPtrArray *list, gint buffer)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean comes = s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER;
        if ((comes && !s->off && s->buffer.object == buffer) || fills(s->body, buffer) ||
            fills(s->other, buffer))
            return TRUE;
    }
    return FALSE;
}

/* Some copy brings what the buffer holds. */
static gboolean is_loaded(const WsRead *r, gint buffer)
{
    for (guint g = 0; g < r->groups->len; g++)
        if (fills(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, buffer))
            return TRUE;
    return FALSE;
}

/* What an opaque step may do with the values and buffers that its lines name: it reads what copies
 * bring, and writes the other buffers. */
static void put_touched(WsWriter *w, const char *key, const WsReadStep *s, gboolean values)
{
    gboolean any = FALSE;
    g_string_append_printf(w->out, ", \"%s\": [", key);
    for (guint i = 0; values && s->reads && i < s->reads->len; i++, any = TRUE) {
        const gint v = (gint)g_array_index(s->reads, gint64, i);
        g_string_append(w->out, any ? ", " : "");
        ws_text_json(w->out, g_array_index(w->group->values, WsReadValue, v).name);
    }
    for (guint i = 0; s->places && i < s->places->len; i++) {
        const WsPlace *place = &g_array_index(s->places, WsPlace, i);
        if (is_loaded(w->r, place->object) != values)
            continue;
        g_autofree char *ref = buffer_ref(w, place);
        g_string_append(w->out, any ? ", " : "");
        ws_text_json(w->out, ref);
        any = TRUE;
    }
    if (!values && s->value >= 0) {
        g_string_append(w->out, any ? ", " : "");
        ws_text_json(w->out, g_array_index(w->group->values, WsReadValue, s->value).name);
    }
    g_string_append(w->out, "]");
}

static void put_opaque(WsWriter *w, const WsReadStep *s)
{
    g_string_append(w->out, "{\"raw\": \"ptx\", \"text\": [");
    for (guint line = s->line; line <= MIN(s->end_line, s->line + 7) && line <= w->r->n_lines;
         line++) {
        g_autofree char *text =
            g_strdup_printf("// %s:%u: %s", w->r->file, line, w->r->line[line - 1]);
        for (char *c = text; *c; c++)
            if (*c == '%')
                *c = '/'; /* %{…} would name an operand */
        g_string_append(w->out, line > s->line ? ", " : "");
        ws_text_json(w->out, text);
    }
    g_string_append(w->out, "]");
    if (s->reads || s->places)
        put_touched(w, "reads", s, TRUE);
    if (s->value >= 0 || s->places) {
        put_touched(w, "writes", s, FALSE);
    } else if (s->buffer.object >= 0) {
        g_autofree char *ref = buffer_ref(w, &s->buffer);
        g_string_append_printf(w->out, ", \"%s\": [", s->flag ? "writes" : "reads");
        ws_text_json(w->out, ref);
        g_string_append(w->out, "]");
    }
}

static void put_move(WsWriter *w, const WsReadStep *s, const char *keyword, const char *key)
{
    g_autofree char *ref = s->buffer.object >= 0 ? buffer_ref(w, &s->buffer) : NULL;
    g_string_append_printf(w->out, "{\"%s\": ", keyword);
    if (s->value >= 0) {
        g_autofree char *value =
            g_strconcat(g_array_index(w->group->values, WsReadValue, s->value).name,
                        s->text ? s->text : "", NULL);
        ws_text_json(w->out, value);
    } else {
        ws_text_json(w->out, g_array_index(w->r->tensors, WsReadTensor, s->tensor).name);
        put_coords(w, s);
    }
    if (s->value >= 0 && s->tensor >= 0) { /* through pointers */
        ws_write_field(w->out, key, g_array_index(w->r->tensors, WsReadTensor, s->tensor).name);
        put_coords(w, s);
    } else {
        ws_write_field(w->out, key, ref);
    }
}

static void put_mma(WsWriter *w, const WsReadStep *s)
{
    g_autofree char *a = buffer_ref(w, &s->a), *b = buffer_ref(w, &s->b);
    g_string_append(w->out, "{\"mma\": ");
    g_autofree char *sum = g_strconcat(g_array_index(w->group->values, WsReadValue, s->value).name,
                                       s->text ? s->text : "", NULL);
    ws_text_json(w->out, sum);
    ws_write_field(w->out, "a", a);
    ws_write_field(w->out, "b", b);
    if (s->e) {
        gint64 first;
        if (ws_x_is(s->e, &first))
            g_string_append_printf(w->out, ", \"first\": %s", first ? "true" : "false");
        else
            ws_write_expr(w->r, w->out, "first", s->e);
    }
}

static void put_word(WsWriter *w, const char *keyword, const char *value)
{
    g_string_append_printf(w->out, "{\"%s\": ", keyword);
    ws_text_json(w->out, value);
}

static void put_place(WsWriter *w, const char *key, const WsPlace *place)
{
    g_autofree char *ref = buffer_ref(w, place);
    ws_write_field(w->out, key, ref);
}

/* The statement in the names of the design; as it is where it is none of the grammar. */
static void put_compute(WsWriter *w, const char *text)
{
    WsStatement *s = ws_statement_parse(text, NULL);
    g_autofree char *value = s ? ws_source_named_text(w->r, s->value) : NULL;
    g_autofree char *own = s ? g_strdup_printf("%s = %s", s->name, value) : g_strdup(text);
    put_word(w, "compute", own);
    if (s)
        ws_statement_unref(s);
}

/* What most steps are: a keyword and what stands behind it. */
typedef enum {
    FORM_OWN,    /* of its kind alone */
    FORM_SIGNAL, /* on a barrier */
    FORM_MOVE,   /* between a value or tensor and `key` */
    FORM_WORD,   /* name */
    FORM_NUMBER, /* n */
    FORM_SUM,    /* name, `key` an expression */
    FORM_TILES,  /* "tiles", `key` a place */
} Form;

static const struct {
    Form form;
    const char *keyword, *key;
} forms[] = {
    [WS_READ_ARRIVE] = { FORM_SIGNAL, "arrive", NULL },
    [WS_READ_EXPECT] = { FORM_SIGNAL, "expect", NULL },
    [WS_READ_LOAD] = { FORM_MOVE, "load", "into" },
    [WS_READ_GATHER] = { FORM_MOVE, "gather", "into" },
    [WS_READ_STORE] = { FORM_MOVE, "store", "from" },
    [WS_READ_WRITE] = { FORM_MOVE, "write", "to" },
    [WS_READ_READ] = { FORM_MOVE, "read", "from" },
    [WS_READ_STORE_WAIT] = { FORM_NUMBER, "store_wait", NULL },
    [WS_READ_LOAD_WAIT] = { FORM_NUMBER, "load_wait", NULL },
    [WS_READ_MMA_WAIT] = { FORM_NUMBER, "mma_wait", NULL },
    [WS_READ_CLUSTER] = { FORM_WORD, "cluster", NULL },
    [WS_READ_SYNC] = { FORM_WORD, "sync", NULL },
    [WS_READ_BAR_ARRIVE] = { FORM_WORD, "arrive", NULL },
    [WS_READ_FENCE] = { FORM_WORD, "fence", NULL },
    [WS_READ_DEPENDENT] = { FORM_WORD, "griddepcontrol", NULL },
    [WS_READ_ADVANCE] = { FORM_SUM, "advance", "by" },
    [WS_READ_LET] = { FORM_SUM, "let", "be" },
    [WS_READ_CLAIM] = { FORM_TILES, "claim", "into" },
    [WS_READ_TAKE] = { FORM_TILES, "take", "from" },
};

static void put_copy(WsWriter *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    g_autofree char *from = buffer_ref(w, &s->a);
    put_word(w, "copy", from);
    put_place(w, "into", &s->buffer);
    ws_write_signal(w, list, at, "signal");
}

static void put_own(WsWriter *w, const GPtrArray *list, guint at)
{
    WsReadStep *s = g_ptr_array_index(list, at);
    if (s->kind == WS_READ_FOR)
        put_for(w, s);
    else if (s->kind == WS_READ_IF)
        put_if(w, s);
    else if (s->kind == WS_READ_WAIT)
        ws_write_wait(w, s);
    else if (s->kind == WS_READ_MMA)
        put_mma(w, s);
    else if (s->kind == WS_READ_COMPUTE)
        put_compute(w, s->text);
    else if (s->kind == WS_READ_COPY)
        put_copy(w, list, at);
    else
        put_opaque(w, s);
}

static void put_transfer(WsWriter *w, const GPtrArray *list, guint at, const char *keyword,
                         const char *key)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const gboolean comes = s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER;
    put_move(w, s, keyword, key);
    if (comes && s->barrier.object >= 0)
        ws_write_signal(w, list, at, "signal");
    if (s->flag && (s->kind == WS_READ_STORE || s->kind == WS_READ_WRITE))
        ws_write_field(w->out, "reduce", "add");
}

static void put_step(WsWriter *w, const GPtrArray *list, guint at)
{
    const WsReadStep *s = g_ptr_array_index(list, at);
    const Form form = s->kind < G_N_ELEMENTS(forms) ? forms[s->kind].form : FORM_OWN;
    const char *keyword = form ? forms[s->kind].keyword : NULL;
    const char *key = form ? forms[s->kind].key : NULL;
    switch (form) {
    case FORM_OWN:
        put_own(w, list, at);
        break;
    case FORM_SIGNAL:
        ws_write_signal(w, list, at, keyword);
        break;
    case FORM_MOVE:
        put_transfer(w, list, at, keyword, key);
        break;
    case FORM_WORD:
        put_word(w, keyword, s->name);
        break;
    case FORM_NUMBER:
        g_string_append_printf(w->out, "{\"%s\": %" G_GINT64_FORMAT "%s", keyword, s->n,
                               s->kind == WS_READ_STORE_WAIT && s->flag ? ", \"full\": true" : "");
        break;
    case FORM_SUM:
        put_word(w, keyword, s->name);
        ws_write_expr(w->r, w->out, key, s->e);
        break;
    case FORM_TILES:
        put_word(w, keyword, "tiles");
        put_place(w, key, &s->buffer);
        break;
    }
    if (s->when)
        ws_write_expr(w->r, w->out, "when", s->when);
    if (s->kind != WS_READ_FOR && s->kind != WS_READ_IF)
        ws_write_note(w->r, w->out, s->line, s->column, s->end_line);
    g_string_append(w->out, "}\n");
}

static void put_steps(WsWriter *w, const GPtrArray *list)
{
    gboolean any = FALSE;
    for (guint i = 0; list && i < list->len; i++) {
        if (((WsReadStep *)g_ptr_array_index(list, i))->off)
            continue;
        g_string_append(w->out, any ? ", " : "");
        put_step(w, list, i);
        any = TRUE;
    }
}

static gboolean issues(const GPtrArray *list, WsReadKind kind)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == kind && !s->off) || issues(s->body, kind) || issues(s->other, kind))
            return TRUE;
    }
    return FALSE;
}

static void put_group(WsWriter *w, WsReadGroup *g)
{
    w->group = g;
    const char *role = issues(g->body, WS_READ_MMA)    ? "consumer"
                       : issues(g->body, WS_READ_LOAD) ? "producer"
                                                       : "worker";
    g_string_append_printf(w->out,
                           "{\"name\": \"%s\", \"role\": \"%s\", \"warps\": %" G_GINT64_FORMAT,
                           g->name, role, g->warps);
    if (g->registers)
        g_string_append_printf(w->out, ", \"registers\": %" G_GINT64_FORMAT, g->registers);
    ws_write_note(w->r, w->out, g->line, 1, g->line);
    GString *values = g_string_new(NULL), *body = w->out;
    w->out = g_string_new(NULL);
    put_steps(w, g->body);
    for (guint i = 0; i < g->values->len; i++) {
        const WsReadValue *v = &g_array_index(g->values, WsReadValue, i);
        if (v->gone)
            continue;
        g_string_append_printf(
            values,
            "%s{\"name\": \"%s\", \"dtype\": \"%s\", \"tile\": [%" G_GINT64_FORMAT
            ", %" G_GINT64_FORMAT "]}",
            values->len ? ", " : "", v->name, v->dtype, v->rows, v->cols);
    }
    g_string_append_printf(body, ", \"values\": [%s], \"counters\": [", values->str);
    for (guint i = 0; i < g->counters->len; i++) {
        g_autofree char *start = ws_source_named_text(w->r, g_ptr_array_index(g->starts, i));
        g_string_append_printf(body, "%s{\"name\": \"%s\", \"start\": ", i ? ", " : "",
                               (char *)g_ptr_array_index(g->counters, i));
        ws_text_json(body, start);
        g_string_append(body, "}");
    }
    g_string_append_printf(body, "], \"body\": [%s]}\n", w->out->str);
    g_string_free(values, TRUE);
    g_string_free(w->out, TRUE);
    w->out = body;
}

WsDesign *ws_source_write(WsRead *r)
{
    WsWriter w = { .r = r, .out = g_string_new(NULL), .loops = g_ptr_array_new() };
    ws_source_rings(r);
    ws_source_settle_names(r);
    ws_write_objects(r, w.out);
    g_string_append(w.out, ", \"groups\": [");
    for (guint i = 0; i < r->groups->len; i++) {
        g_string_append(w.out, i ? ", " : "");
        put_group(&w, g_ptr_array_index(r->groups, i));
    }
    g_string_append(w.out, "]}");
    GString *head = g_string_new(NULL);
    ws_write_head(r, head); /* last: it holds the names that were used */
    g_string_prepend(w.out, head->str);
    g_string_free(head, TRUE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsDesign *design = ws_design_parse(w.out->str, w.out->len, r->file, findings);
    if (!design) {
        const WsFinding *f = g_ptr_array_index(findings->list, 0);
        ws_source_fail(r, 1, 1, "Import a smaller part of it.",
                       "what was read makes no design: %s at %s", f->message, f->at);
    }
    g_ptr_array_unref(w.loops);
    g_string_free(w.out, TRUE);
    return design;
}
