/* Lines, comments and identifiers of Python. */
#include "codegen/fold.h"
#include "codegen/python/py.h"
#include "codegen/words.h"
#include "model/reserved.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <stdarg.h>
#include <string.h>

static void indented(WsPy *y, const char *text)
{
    g_string_append_printf(y->out, "%*s%s\n", *text ? (int)(4 * y->depth) : 0, "", text);
}

void ws_py_line(WsPy *y, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    indented(y, text);
}

void ws_py_open(WsPy *y, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    g_autofree char *header = g_strconcat(text, ":", NULL);
    indented(y, header);
    y->depth++;
}

gboolean ws_py_empty_block(const GString *out)
{
    gsize end = out->len;
    while (end > 0) {
        gsize begin = end - 1;
        while (begin > 0 && out->str[begin - 1] != '\n')
            begin--;
        const char *line = out->str + begin;
        gsize blanks = strspn(line, " ");
        if (line[blanks] != '#' && line[blanks] != '\n')
            return end >= 2 && out->str[end - 2] == ':';
        end = begin;
    }
    return TRUE;
}

void ws_py_close(WsPy *y)
{
    if (ws_py_empty_block(y->out))
        indented(y, "pass");
    y->depth--;
}

/* ASCII only: the text of a document may hold anything. */
void ws_py_comment(WsPy *y, const char *text)
{
    ws_words_comment(y->out, y->depth, "# ", 97, text, "");
}

const char *ws_py_bare(WsPy *y, const char *text)
{
    gsize n = strlen(text);
    int depth = 0;
    for (gsize i = 0; i + 1 < n; i++) { /* the first parenthesis is closed by the last character */
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0)
            return text;
    }
    return n < 2 ? text : ws_py_format(y, "%.*s", (int)n - 2, text + 1);
}

/* --- identifiers -------------------------------------------------------------------------------*/

/* Modules, and names that the text itself uses where a design's names stand too. */
static const char taken[] =
    " zip os sys re time copy tma mbarrier async_copy warpgroup_mma warpgroup_mma_wait "
    "fence_async_shared TensorDescriptor fits spaced columns self torch triton tl tle gl gluon "
    "math "
    "replica pid programs tile_id n_tiles main kernel launch check reference warpstave grid here "
    "first height rest in_group per_group x y row col slot counter ";

const char *ws_py_ident(WsPy *y, const char *name)
{
    GString *s = ws_words_free_ident(name, taken, WS_RESERVED_PYTHON);
    const char *id = g_string_chunk_insert_const(y->terms.pool, s->str);
    g_string_free(s, TRUE);
    return id;
}

gboolean ws_py_mentions(const char *text, const char *word)
{
    GString *code = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        const char *skip = *c == '#' ? strchr(c, '\n') : *c == '"' ? strchr(c + 1, '"') : NULL;
        if (*c == '#' && !skip)
            break;
        if (skip)
            c = skip;
        g_string_append_c(code, *c);
    }
    gboolean found = ws_fold_mentions(code->str, word);
    g_string_free(code, TRUE);
    return found;
}

const char *ws_py_helper(WsPy *y, const char *name)
{
    const char *id = g_string_chunk_insert_const(y->terms.pool, name);
    g_hash_table_add(y->helpers, (gpointer)id);
    return id;
}

/* --- the author's words, refusals --------------------------------------------------------------*/

/* What the author says of the step; with remarks "[groups/mma/body/0/do/1] note", the place in the
 * design. */
void ws_py_step_comment(WsPy *y, const WsOp *op)
{
    if (!op->step || !g_strcmp0(y->commented, op->step))
        return;
    y->commented = op->step;
    if (!y->remarks) {
        if (op->note)
            ws_py_comment(y, op->note);
        return;
    }
    g_autofree char *text =
        g_strdup_printf("[%s]%s%s", op->step, op->note ? " " : "", op->note ? op->note : "");
    ws_py_comment(y, text);
}

void ws_py_refuse_at(WsPy *y, const WsOp *op, const char *path, const char *what,
                     const char *change)
{
    if (!path && y->agent)
        path = y->agent->path;
    ws_generate_refuse(&y->error, y->dialect->name, op, path, what, change);
}

void ws_py_refuse(WsPy *y, const WsOp *op, const char *what, const char *change)
{
    ws_py_refuse_at(y, op, NULL, what, change);
}

void ws_py_remark(WsPy *y, const WsOp *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    ws_py_line(y, "# %s", text);
    ws_py_implied(y, op, "a remark: it has no effect there");
}

void ws_py_row(WsPy *y, const WsOp *op, const WsPyRow *row)
{
    if (row->why || (!row->print && !row->fixed && !row->implied)) {
        ws_py_refuse(y, op, row->why ? row->why : ws_op_kind_text(op->kind), row->change);
        return;
    }
    if (row->implied)
        ws_py_implied(y, op, row->implied);
    else
        ws_py_step_comment(y, op);
    if (row->fixed)
        ws_py_line(y, "%s", row->fixed);
    else if (row->print)
        row->print(y, op);
}

/* Prologues are the kernel's, which every dialect writes as a whole. */
void ws_py_account(WsPy *y)
{
    for (guint i = 0; i < y->p->n_prologue; i++)
        ws_py_implied(y, y->p->prologue[i], "the kernel in front of its partitions");
    const WsOp *lost = y->error ? NULL : ws_account_missing(&y->account);
    if (lost)
        ws_py_refuse(
            y, lost,
            ws_py_phrase(y, "nothing was written for operation %s", ws_op_kind_text(lost->kind)),
            "this is a bug of the export, please report it");
}

/* --- the whole text ----------------------------------------------------------------------------*/

#define WS_LINE_MOST 100

/* Where a long line may go on in the next one: behind a comma, or before an operator, inside of
 * parentheses, as far out as possible; 0: nowhere. `depth`: parentheses that are open before it;
 * behind the place if there is one. */
static gsize break_at(const char *line, gsize indent, int *depth)
{
    gsize at = 0;
    int now = *depth, least = G_MAXINT;
    gboolean quoted = FALSE;
    for (gsize i = indent; i < WS_LINE_MOST && line[i]; i++) {
        quoted = quoted != (line[i] == '"');
        if (quoted)
            continue;
        if (line[i] == '#')
            break;
        now += (strchr("([{", line[i]) != NULL) - (strchr(")]}", line[i]) != NULL);
        gboolean comma = i > indent && line[i - 1] == ',' && line[i] == ' ' && line[i + 1] != ':';
        gboolean operator= !strncmp(line + i, " + ", 3) || !strncmp(line + i, " and ", 5) ||
            !strncmp(line + i, " or ", 4) || !strncmp(line + i, " - ", 3);
        if (now > 0 && (comma || operator) && now <= least && i > indent + 20) {
            at = i;
            least = now;
        }
    }
    *depth = at ? least : *depth;
    return at;
}

static void wrapped(GString *all, const char *line)
{
    gsize indent = strspn(line, " ");
    g_autofree char *rest = g_strdup(line);
    int depth = 0;
    while (line[indent] != '#' && strlen(rest) > WS_LINE_MOST) {
        gsize at = break_at(rest, strspn(rest, " "), &depth);
        if (!at)
            break;
        g_string_append_len(all, rest, (gssize)at);
        char *more = g_strdup_printf("%*s%s", (int)indent + 8, "", rest + at + 1);
        g_string_append_c(all, '\n');
        g_free(rest);
        rest = more;
    }
    g_string_append(all, rest);
}

/* "[(1 - replica)]" -> "[1 - replica]": parentheses around a whole operand, which came with the
 * folding of a literal. */
static char *without_parentheses(const char *text)
{
    GString *s = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        const char *before = s->str + s->len;
        gboolean begins = *c == '(' && s->len >= 2 &&
                          (strchr("([", before[-1]) || g_str_has_suffix(s->str, ", "));
        gsize n = begins ? strcspn(c + 1, "()[],\"\n") : 0;
        if (n && c[1 + n] == ')' && strchr(",)]", c[2 + n]) && c[2 + n]) {
            g_string_append_len(s, c + 1, (gssize)n);
            c += n + 1;
            continue;
        }
        g_string_append_c(s, *c);
    }
    return g_string_free(s, FALSE);
}

char *ws_py_tidy(const char *text)
{
    g_autofree char *less = without_parentheses(text);
    g_autofree char *plain = ws_fold_without_zeros(less);
    g_auto(GStrv) line = g_strsplit(plain, "\n", -1);
    GString *all = g_string_new(NULL);
    for (guint i = 0; line[i]; i++) {
        wrapped(all, line[i]);
        if (line[i + 1])
            g_string_append_c(all, '\n');
    }
    return g_string_free(all, FALSE);
}
