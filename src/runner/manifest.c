/* Strict reader of bundle.txt. Every line is a keyword and its words; the rows in manifest_lines.c
 * say how many words it takes and where it may stand. */
#include "runner/manifest_line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_BYTES (1 << 20)

typedef WsLineReader Reader;
#define fail ws_line_fail

bool ws_line_fail(Reader *r, const char *format, ...)
{
    int n = snprintf(r->error, r->error_size, "%s line %d: ", WS_MANIFEST_FILE, r->line);
    if (n < 0 || (size_t)n >= r->error_size)
        return false;
    va_list list;
    va_start(list, format);
    vsnprintf(r->error + n, r->error_size - (size_t)n, format, list);
    va_end(list);
    return false;
}

static bool split(Reader *r, char *line)
{
    r->n = 0;
    for (char *p = line; *p;) {
        while (*p == ' ')
            *p++ = 0;
        if (!*p)
            break;
        if (r->n == WS_LINE_WORDS)
            return fail(r, "more than %d words", WS_LINE_WORDS);
        r->word[r->n++] = p;
        while (*p && *p != ' ') {
            if ((unsigned char)*p < 32)
                return fail(r, "control character in the line");
            p++;
        }
    }
    return true;
}

static bool check_place(Reader *r, int i)
{
    const WsLineRow *row = &ws_line_row[i];
    int words = r->n - 1;
    if (words < row->least || (row->most >= 0 && words > row->most))
        return row->most < 0
                   ? fail(r, "`%s` needs at least one word", row->keyword)
                   : fail(r, "`%s` takes %d words, not %d", row->keyword, row->most, words);
    if ((row->flags & WS_LINE_ONCE) && (r->seen & (uint64_t)1 << i))
        return fail(r, "a second `%s` line", row->keyword);
    if ((row->flags & WS_LINE_IN_CASE) && !r->now)
        return fail(r, "`%s` before the first `case`", row->keyword);
    if (!(row->flags & (WS_LINE_IN_CASE | WS_LINE_OPENS_CASE)) && r->now)
        return fail(r, "`%s` must come before the first `case`", row->keyword);
    if ((row->flags & WS_LINE_OPENS_CASE) && (!r->m->cluster || !r->m->n_tensors))
        return fail(r, "`case` before `block` and `tensor`");
    return true;
}

static bool read_line(Reader *r, char *line)
{
    char text[256]; /* split() cuts the line in place */
    char *space = strchr(line, ' ');
    snprintf(text, sizeof text, "%s", space ? space + 1 : "");
    if (!split(r, line))
        return false;
    if (r->n == 0 || r->word[0][0] == '#')
        return true;
    for (int i = 0; i < ws_line_rows; i++) {
        if (strcmp(r->word[0], ws_line_row[i].keyword) != 0)
            continue;
        if (!check_place(r, i))
            return false;
        r->rest = text;
        r->seen |= (uint64_t)1 << i;
        return ws_line_row[i].read(r);
    }
    return fail(r, "unknown keyword '%.40s'; was the bundle made by a newer Warpstave?",
                r->word[0]);
}

static bool finish(Reader *r)
{
    WsManifest *m = r->m;
    if (!ws_line_close_case(r))
        return false;
    for (int i = 0; i < ws_line_rows; i++)
        if ((ws_line_row[i].flags & WS_LINE_NEEDED) && !(r->seen & (uint64_t)1 << i))
            return fail(r, "the file ends without a `%s` line", ws_line_row[i].keyword);
    if (!m->module[WS_MODULE_TIMED][0])
        return fail(r, "no `module timed` line");
    if (m->module[WS_MODULE_TRACED][0] && !m->record_bytes)
        return fail(r, "a traced module needs a `records` line");
    for (int t = 0; t < m->n_tensors; t++)
        if (m->tensor[t].access == WS_RUN_EXCHANGE && !m->mesh)
            return fail(r, "tensor %s is of devices, and there is no `mesh` line",
                        m->tensor[t].name);
    if (m->mesh && m->module[WS_MODULE_DEBUG][0])
        return fail(r, "a mesh of devices has no debug build");
    for (int i = 0; i < m->n_cases; i++)
        for (int t = 0; t < m->n_tensors; t++) {
            WsRunTensorCase *c = &m->case_[i].tensor[t];
            c->fill.key = ws_input_key(m->seed, (uint32_t)t);
            c->fill.last = c->extent[m->tensor[t].rank - 1];
        }
    return true;
}

bool ws_manifest_parse(char *text, WsManifest *m, char *error, size_t size)
{
    Reader r = { .m = m, .error = error, .error_size = size };
    memset(m, 0, sizeof *m);
    m->timeout = 20;
    m->sustained = 1;
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        r.line++;
        if (r.line == 1) {
            int version;
            char extra;
            if (sscanf(line, "warpstave-bundle %d%c", &version, &extra) != 1)
                return fail(&r, "not a Warpstave bundle (first line: warpstave-bundle %d)",
                            WS_MANIFEST_VERSION);
            if (version != WS_MANIFEST_VERSION)
                return fail(&r, "bundle version %d; this runner reads version %d", version,
                            WS_MANIFEST_VERSION);
        } else if (!read_line(&r, line)) {
            return false;
        }
        line = end ? end + 1 : NULL;
    }
    if (r.line == 0)
        return fail(&r, "the file is empty");
    return finish(&r);
}

bool ws_manifest_load(const char *dir, WsManifest *m, char *error, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, WS_MANIFEST_FILE);
    FILE *f = fopen(path, "rb");
    if (!f) {
        snprintf(error, size, "cannot open %s: %s", path, strerror(errno));
        return false;
    }
    char *text = malloc(MAX_BYTES + 1);
    size_t n = text ? fread(text, 1, MAX_BYTES + 1, f) : 0;
    bool bad = !text || ferror(f);
    fclose(f);
    if (bad || n > MAX_BYTES || memchr(text ? text : "", 0, n)) {
        snprintf(error, size, "%s: %s", path,
                 bad             ? "cannot be read"
                 : n > MAX_BYTES ? "larger than 1 MiB"
                                 : "not a text file");
        free(text);
        return false;
    }
    text[n] = 0;
    bool ok = ws_manifest_parse(text, m, error, size);
    free(text);
    return ok;
}

bool ws_run_is_output(const WsRunTensor *t)
{
    return t->access == WS_RUN_WRITE || t->access == WS_RUN_REDUCE;
}

int64_t ws_run_elements(const WsRunTensor *t, const WsRunTensorCase *c)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++)
        if (c->extent[d] == 0)
            return 0;
    for (int d = 0; d < t->rank; d++)
        if (__builtin_mul_overflow(n, c->extent[d], &n))
            return -1;
    return n;
}

int64_t ws_run_span(const WsRunTensor *t, const WsRunTensorCase *c)
{
    int64_t span = 1, part;
    for (int d = 0; d < t->rank; d++)
        if (c->extent[d] == 0)
            return 0;
    for (int d = 0; d < t->rank; d++)
        if (__builtin_mul_overflow(c->extent[d] - 1, c->stride[d], &part) ||
            __builtin_add_overflow(span, part, &span))
            return -1;
    return span;
}

void ws_run_records_name(int case_index, char *name, size_t size)
{
    if (case_index == 0)
        snprintf(name, size, "records.bin");
    else
        snprintf(name, size, "records-%d.bin", case_index);
}

uint64_t ws_run_device_key(const WsManifest *m, int device, int tensor)
{
    return ws_input_key(m->seed + 0x9e37u * (uint64_t)device, (uint32_t)tensor);
}
