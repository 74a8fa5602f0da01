/* Generated texts and the results of jobs. */
#include "model/findings.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/document/document_private.h"

#include <string.h>

void ws_document_clear_code(WsDocument *d)
{
    for (guint i = 0; i < WS_CODE_COUNT; i++)
        g_clear_pointer(&d->code[i], g_free);
    g_clear_pointer(&d->printed, ws_design_unref);
    for (guint i = 0; i < WS_RESULT_COUNT; i++)
        g_clear_pointer(&d->result[i], g_free);
}

const char *ws_document_code(WsDocument *d, WsCodeKind kind)
{
    if (kind == WS_CODE_SOURCE)
        return d->source ? d->source->text : NULL;
    return d->code[kind];
}

void ws_document_take_code(WsDocument *d, WsCodeKind kind, char *text)
{
    g_free(d->code[kind]);
    d->code[kind] = text;
    ws_document_emit_code(d, kind);
}

static gboolean is_step(WsDocument *d, const char *id)
{
    for (guint i = 0; ws_document_program(d) && i < ws_document_program(d)->n_ops; i++)
        if (!g_strcmp0(ws_document_program(d)->op[i]->step, id))
            return TRUE;
    return FALSE;
}

/* The step id that a line names: behind the last "; " (program), "// " (PTX, and PTX inside of LLVM
 * IR) or "  [" (comments of CUDA C++), without "#…"; NULL if the line names none. Caller frees. */
static char *line_step(WsDocument *d, const char *line, gsize length)
{
    static const char *const marks[] = { "; ", "// ", "// [", "  [" };
    g_autofree char *text = g_strndup(line, length);
    for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
        char *at = g_strrstr(text, marks[i]);
        if (!at)
            continue;
        at += strlen(marks[i]);
        g_autofree char *id = g_strndup(at, strcspn(at, "# \t\"\\]"));
        if (is_step(d, id))
            return g_steal_pointer(&id);
    }
    return NULL;
}

/* Line of the design's text on which a step begins, from 0; -1: it is none of them. */
static gint design_line(WsDocument *d, const char *step)
{
    const char *text = d->code[WS_CODE_DESIGN];
    if (!d->printed && text) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        d->printed = ws_design_parse(text, strlen(text), NULL, findings);
    }
    const WsNode *node = d->printed && step ? ws_design_find(d->printed, step) : NULL;
    return node && ws_node_kind_is_step(node->kind) ? (gint)node->line - 1 : -1;
}

/* The step that begins last at or above a line of the design's text; caller frees. */
static char *design_step(WsDocument *d, guint wanted)
{
    const WsProgram *p = ws_document_program(d);
    const char *found = NULL;
    gint last = -1;
    for (guint i = 0; p && i < p->n_ops; i++) {
        if (i && p->op[i]->step == p->op[i - 1]->step)
            continue;
        const gint line = design_line(d, p->op[i]->step);
        if (line > last && line <= (gint)wanted) {
            last = line;
            found = p->op[i]->step;
        }
    }
    return g_strdup(found);
}

GArray *ws_document_code_lines(WsDocument *d, WsCodeKind kind, const char *step)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(guint));
    if (kind == WS_CODE_DESIGN) {
        const gint line = design_line(d, step);
        if (line >= 0)
            g_array_append_val(lines, line);
        return lines;
    }
    if (kind == WS_CODE_SOURCE) {
        const WsSourceMap *map = ws_document_source_map(d);
        const WsSourceSpan *span = map ? ws_source_map_of(map, step) : NULL;
        if (span)
            g_array_append_val(lines, span->first);
        return lines;
    }
    const char *at = d->code[kind];
    for (guint line = 0; at && *at; line++) {
        const char *end = strchrnul(at, '\n');
        g_autofree char *id = line_step(d, at, (gsize)(end - at));
        if (id && !g_strcmp0(id, step))
            g_array_append_val(lines, line);
        at = *end ? end + 1 : end;
    }
    return lines;
}

char *ws_document_code_step(WsDocument *d, WsCodeKind kind, guint wanted)
{
    char *found = NULL;
    if (kind == WS_CODE_SOURCE) {
        const WsSourceMap *map = ws_document_source_map(d);
        g_autoptr(GPtrArray) spans = map ? ws_source_map_at(map, wanted) : NULL;
        return spans && spans->len ? g_strdup(((WsSourceSpan *)spans->pdata[0])->id) : NULL;
    }
    if (kind == WS_CODE_DESIGN)
        return design_step(d, wanted);
    const char *at = d->code[kind];
    for (guint line = 0; at && *at && line <= wanted; line++) {
        const char *end = strchrnul(at, '\n');
        char *id = line_step(d, at, (gsize)(end - at));
        if (id) {
            g_free(found);
            found = id;
        }
        at = *end ? end + 1 : end;
    }
    return found;
}

void ws_document_take_result(WsDocument *d, WsResultKind kind, gboolean good, char *text)
{
    g_free(d->result[kind]);
    d->result[kind] = text;
    d->result_good[kind] = good;
    ws_document_emit(d, WS_SIGNAL_RESULTS);
}

const char *ws_document_result(WsDocument *d, WsResultKind kind, gboolean *good)
{
    if (good)
        *good = d->result_good[kind];
    return d->result[kind];
}
