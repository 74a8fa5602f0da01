/* Lines, identifiers, and the folding of copies into functions of a replica and loops. */
#include "codegen/cuda/cuda.h"
#include "codegen/words.h"
#include "model/reserved.h"
#include "program/parts/agent.h"

#include <stdarg.h>
#include <string.h>

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
    ws_words_comment(c->out, c->depth, "// ", 96, text, "\\"); /* which would join lines */
}

/* --- identifiers -------------------------------------------------------------------------------*/

/* Names that the text itself uses where a design's names stand too. */
static const char taken[] =
    " smem tid lane warp thread cta cluster_id n_clusters n_tiles tile_at here id next leader "
    "role_warp row0 col0 ri ci li replica ks reg line step unit left bytes to from lo hi bits was "
    "atom "
    "m_row m_col first height in_group per_group cells cell tile at_0 at_1 at_2 at_3 at_4 "
    "ex2_share insert warp_group encode a_desc b_desc a_step b_step lane_at scale_d at at16 at8 "
    "base Kernel Problem Shared Tile THREADS CLUSTER SHARED_BYTES main launch prologue counter "
    "counted Exact hilbert mod quot cdiv floor_div floor_mod descriptor column swizzle slot_row "
    "slot_col keep "
    "bf16 f16 fp8 warpstave uniform source inside element e_row e_col row col x half skip min max "
    "abs pow2floor rest group shl shr sar bits_and bits_or bits_xor wrap_add wrap_sub wrap_mul "
    /* functions of CUDA that it calls */
    "fmaf fmaxf fminf fabsf sqrtf tanhf sinf cosf logf expf exp2f log2f erff floorf ceilf rsqrtf "
    "powf fabs sqrt tanh exp exp2 log log2 floor ceil isnan isinf ";

const char *ws_cuda_ident(WsCuda *c, const char *name)
{
    GString *s =
        ws_words_free_ident(name, taken, WS_RESERVED_C | WS_RESERVED_CXX | WS_RESERVED_CUDA);
    for (guint i = 0; i < WS_PRIM_COUNT; i++) {
        const char *prim = ws_cuda_prim_name(i), *rest = s->str + strlen(prim);
        if (g_str_has_prefix(s->str, prim) && rest[strspn(rest, "_")] == '\0') {
            g_string_append_c(s, '_');
            break;
        }
    }
    const char *id = g_string_chunk_insert_const(c->terms.pool, s->str);
    g_string_free(s, TRUE);
    return id;
}

gboolean ws_cuda_calls(const char *text, const char *function)
{
    gsize n = strlen(function);
    for (const char *at = text; (at = strstr(at, function)); at += n) {
        if ((at == text || !ws_fold_word_char(at[-1])) && (at[n] == '(' || at[n] == '<'))
            return TRUE;
    }
    return FALSE;
}

/* --- the whole text ----------------------------------------------------------------------------*/

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
        gboolean open = line[i] == '<' && ws_fold_word_char(line[i - 1]),
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
    GString *all = g_string_new(NULL);
    g_autofree char *plain = ws_fold_without_zeros(text);
    g_auto(GStrv) line = g_strsplit(plain, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        wrapped(all, line[i]);
        if (line[i + 1])
            g_string_append_c(all, '\n');
    }
    return g_string_free(all, FALSE);
}

/* --- errors ------------------------------------------------------------------------------------*/

void ws_cuda_step_error(WsCuda *c, const WsOp *op, const char *what)
{
    ws_generate_refuse(&c->error, "cuda", op, c->agent ? c->agent->path : NULL, what, NULL);
}
