/* Lines, identifiers, and the folding of copies into functions of a replica and loops. */
#include "codegen/cuda.h"

#include <stdarg.h>
#include <string.h>

const char *ws_cuda_format(WsCuda *c, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    return g_string_chunk_insert_const(c->pool, text);
}

static void indent(WsCuda *c)
{
    for (guint i = 0; i < c->depth; i++)
        g_string_append(c->out, "    ");
}

void ws_cuda_line(WsCuda *c, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    if (*text)
        indent(c);
    g_string_append_printf(c->out, "%s\n", text);
}

void ws_cuda_open(WsCuda *c, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    indent(c);
    g_string_append_printf(c->out, *text ? "%s {\n" : "%s{\n", text);
    c->depth++;
}

void ws_cuda_block(WsCuda *c, const char *remark)
{
    ws_cuda_line(c, *remark ? "{ // %s" : "{%s", remark);
    c->depth++;
}

void ws_cuda_close(WsCuda *c)
{
    c->depth--;
    ws_cuda_line(c, "}");
}

/* ASCII only: the text of a document may hold anything. */
void ws_cuda_comment(WsCuda *c, const char *text)
{
    const guint width = 96 - MIN(4 * c->depth, 40);
    while (*text) {
        gsize n = strlen(text), cut = MIN(n, width);
        while (cut < n && cut > 0 && text[cut] != ' ')
            cut--;
        if (cut == 0)
            cut = MIN(n, width);
        indent(c);
        g_string_append(c->out, "// ");
        for (gsize i = 0; i < cut; i++)
            g_string_append_c(c->out, g_ascii_isprint(text[i]) && text[i] != '\\' ? text[i] : '?');
        g_string_append_c(c->out, '\n');
        text += cut;
        while (*text == ' ' || *text == '\n')
            text++;
    }
}

/* --- identifiers -------------------------------------------------------------------------------*/

/* Words of C++ and names that the text itself uses where a design's names stand too. */
static const char taken[] =
    " "
    "alignas alignof and asm auto bool break case catch char class const constexpr "
    "continue default delete do double else enum explicit export extern false float for "
    "friend goto if inline int long mutable namespace new not operator or private "
    "protected public register return short signed sizeof static struct switch template "
    "this throw true try typedef typename union unsigned using virtual void volatile "
    "while xor smem tid lane warp thread cta cluster_id n_clusters n_tiles tile_at here "
    "id next leader role_warp row0 col0 ri ci li replica ks reg line step unit left "
    "bytes to from lo hi bits atom m_row m_col first height in_group per_group cells "
    "cell tile at_0 at_1 at_2 at_3 at_4 ex2_share insert warp_group encode a_desc b_desc "
    "a_step b_step lane_at scale_d at at16 at8 base Kernel Problem Shared Tile THREADS "
    "CLUSTER SHARED_BYTES main launch prologue counter hilbert mod quot cdiv floor_div "
    "floor_mod descriptor column swizzle slot_row slot_col keep bf16 f16 fp8 NULL "
    "warpstave uniform source inside element e_row e_col row col x half skip INFINITY "
    "linux unix dim3 min max abs pow2floor rest group ";

const char *ws_cuda_ident(WsCuda *c, const char *name)
{
    GString *s = g_string_new(NULL);
    for (const char *at = name; *at; at++)
        g_string_append_c(s, g_ascii_isalnum(*at) ? *at : '_');
    if (!s->len || g_ascii_isdigit(s->str[0]))
        g_string_prepend_c(s, '_');
    gboolean clash = g_str_has_prefix(s->str, "__");
    g_autofree char *word = g_strdup_printf(" %s ", s->str);
    clash = clash || strstr(taken, word);
    for (guint i = 0; i < WS_PRIM_COUNT && !clash; i++)
        clash = strcmp(s->str, ws_cuda_prim_name(i)) == 0;
    if (clash)
        g_string_append_c(s, '_');
    const char *id = g_string_chunk_insert_const(c->pool, s->str);
    g_string_free(s, TRUE);
    return id;
}

static gboolean word_char(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

gboolean ws_cuda_mentions(const char *text, const char *word)
{
    gsize n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n) {
        if ((at == text || (!word_char(at[-1]) && at[-1] != '.')) && !word_char(at[n]))
            return TRUE;
    }
    return FALSE;
}

gboolean ws_cuda_calls(const char *text, const char *function)
{
    gsize n = strlen(function);
    for (const char *at = text; (at = strstr(at, function)); at += n) {
        if ((at == text || !word_char(at[-1])) && (at[n] == '(' || at[n] == '<'))
            return TRUE;
    }
    return FALSE;
}

/* --- copies ------------------------------------------------------------------------------------*/

/* One token at *at: an integer literal, or anything else as its characters. */
typedef struct {
    const char *s;
    gsize n;
    gboolean integer, immediate;
    gint64 value;
} Token;

static gboolean next_token(const char **at, Token *t)
{
    const char *c = *at;
    *t = (Token){ .s = c };
    if (!*c)
        return FALSE;
    if (*c == WS_CUDA_IMMEDIATE[0]) {
        t->immediate = TRUE;
        t->s = ++c;
    }
    if (g_ascii_isdigit(*c)) {
        const char *end = c;
        while (word_char(*end) || *end == '.')
            end++;
        t->n = (gsize)(end - c);
        t->integer = TRUE;
        for (gsize i = 0; i < t->n; i++)
            t->integer = t->integer && g_ascii_isdigit(c[i]);
        t->integer = t->integer && t->n < 12;
        t->value = t->integer ? g_ascii_strtoll(c, NULL, 10) : 0;
    } else if (word_char(*c)) {
        while (word_char(c[t->n]))
            t->n++;
    } else {
        t->n = 1;
    }
    *at = t->s + t->n;
    return TRUE;
}

static void append_affine(GString *s, gint64 first, gint64 step, const char *index)
{
    if (first == 0 && step == 1)
        g_string_append(s, index);
    else if (first == 0)
        g_string_append_printf(s, "(%s * %" G_GINT64_FORMAT ")", index, step);
    else if (step == 1)
        g_string_append_printf(s, "(%" G_GINT64_FORMAT " + %s)", first, index);
    else if (step == -1)
        g_string_append_printf(s, "(%" G_GINT64_FORMAT " - %s)", first, index);
    else
        g_string_append_printf(s,
                               step < 0 ? "(%" G_GINT64_FORMAT " + %s * (%" G_GINT64_FORMAT "))"
                                        : "(%" G_GINT64_FORMAT " + %s * %" G_GINT64_FORMAT ")",
                               first, index, step);
}

char *ws_cuda_fold(const char *const *copy, guint n, const char *index, gboolean immediates)
{
    if (n < 2)
        return NULL;
    g_autofree const char **at = g_new(const char *, n);
    g_autofree Token *t = g_new(Token, n);
    GString *s = g_string_new(NULL);
    memcpy(at, copy, n * sizeof *at);
    while (next_token(&at[0], &t[0])) {
        gboolean same = TRUE, numbers = t[0].integer;
        for (guint i = 1; i < n; i++) {
            if (!next_token(&at[i], &t[i]) || t[i].immediate != t[0].immediate)
                goto differ;
            same = same && t[i].n == t[0].n && memcmp(t[i].s, t[0].s, t[0].n) == 0;
            numbers = numbers && t[i].integer;
        }
        if (t[0].immediate)
            g_string_append(s, WS_CUDA_IMMEDIATE);
        if (same) {
            g_string_append_len(s, t[0].s, (gssize)t[0].n);
            continue;
        }
        gint64 step = t[1].value - t[0].value;
        for (guint i = 2; numbers && i < n; i++)
            numbers = t[i].value - t[i - 1].value == step;
        if (!numbers || (t[0].immediate && !immediates))
            goto differ;
        append_affine(s, t[0].value, step, index);
    }
    for (guint i = 1; i < n; i++) {
        if (*at[i])
            goto differ;
    }
    return g_string_free(s, FALSE);
differ:
    g_string_free(s, TRUE);
    return NULL;
}

static void without_zeros(GString *s, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == WS_CUDA_IMMEDIATE[0])
            continue;
        if (strncmp(c, " + 0", 4) == 0 && !word_char(c[4]) && c[4] != '.' &&
            !(c[4] == ' ' && strchr("*/%", c[5]))) {
            c += 3;
            continue;
        }
        g_string_append_c(s, *c);
    }
}

/* The code alone: what it mentions is declared. Caller frees. */
char *ws_cuda_code(const char *text)
{
    GString *s = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        if (c[0] == '/' && c[1] == '/') {
            while (c[1] && c[1] != '\n')
                c++;
            continue;
        }
        g_string_append_c(s, *c);
    }
    return g_string_free(s, FALSE);
}

#define WS_LINE_MOST 100

/* Where a long line of code may go on in the next one: the last place of the least depth of
 * parentheses; 0: nowhere. */
static gsize break_at(const char *line, gsize indent)
{
    gsize at = 0;
    int depth = 0, least = G_MAXINT;
    for (gsize i = indent + 1; i < WS_LINE_MOST && line[i]; i++) {
        if (line[i] == '/' && line[i + 1] == '/')
            break;
        gboolean open = line[i] == '<' && word_char(line[i - 1]),
                 close = line[i] == '>' && line[i + 1] == '(';
        depth += (line[i] == '(' || line[i] == '[' || open) -
                 (line[i] == ')' || line[i] == ']' || close);
        gboolean comma = line[i - 1] == ',' && line[i] == ' ';
        gboolean may = comma || !strncmp(line + i, " + ", 3) || !strncmp(line + i, " && ", 4) ||
                       !strncmp(line + i, " ? ", 3) || !strncmp(line + i, " return ", 8);
        if (may && depth <= least) {
            at = i;
            least = depth;
        }
    }
    return at;
}

static void wrapped(GString *s, const char *line)
{
    gsize indent = strspn(line, " "), first = TRUE;
    gboolean code = line[indent] != '#' && line[indent] != '/' && !strchr(line, '"');
    g_autofree char *rest = g_strdup(line);
    while (code && strlen(rest) > WS_LINE_MOST) {
        gsize at = break_at(rest, first ? indent : indent + 8);
        if (!at)
            break;
        g_string_append_len(s, rest, (gssize)at);
        char *more = g_strdup_printf("\n%*s%s", (int)indent + 8, "", rest + at + 1);
        g_free(rest);
        g_string_append_c(s, '\n');
        rest = g_strdup(more + 1);
        g_free(more);
        first = FALSE;
    }
    g_string_append(s, rest);
}

char *ws_cuda_tidy(const char *text)
{
    GString *s = g_string_new(NULL), *all = g_string_new(NULL);
    without_zeros(s, text);
    g_auto(GStrv) line = g_strsplit(s->str, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        wrapped(all, line[i]);
        if (line[i + 1])
            g_string_append_c(all, '\n');
    }
    g_string_free(s, TRUE);
    return g_string_free(all, FALSE);
}

/* --- errors ------------------------------------------------------------------------------------*/

void ws_cuda_step_error(WsCuda *c, const WsOp *op, const char *what)
{
    if (c->error)
        return;
    if (op && op->agent >= 0)
        g_set_error(&c->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP,
                    "step %s at %s: %s%snot in lens cuda", ws_node_kind_keyword(op->step_kind),
                    op->step ? op->step : op->id, what ? what : "", what ? ": " : "");
    else
        g_set_error(&c->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP,
                    "%s%s%s: not in lens cuda", c->agent ? c->agent->path : "design",
                    what ? ": " : "", what ? what : "");
}
