/* Functions of replicas as one function of a constant `replica`: n texts of Python, made apart with
 * their own literals, become one text. Statements are aligned block by block; literals that differ
 * by equal steps fold, and what some replicas alone have stands under `if replica == r:`. Each
 * statement is on one line, four blanks a level (wrapping comes later). */
#include "codegen/fold.h"
#include "codegen/python/py.h"

#include <string.h>

/* One statement with its block, and what belongs to it (`else:` behind `if`). In a merged tree it
 * stands for all copies that have it: `line` is NULL where a copy has not. Owned by its list. */
typedef struct Statement Statement;
struct Statement {
    char **line;            /* [n]: without indentation; owned */
    char *shape;            /* of the header and of the headers that follow it */
    GPtrArray *body, *also; /* Statement* */
};

static void statement_free(gpointer data)
{
    Statement *s = data;
    g_free(s->line);
    g_free(s->shape);
    g_ptr_array_unref(s->body);
    g_ptr_array_unref(s->also);
    g_free(s);
}

typedef struct {
    GStringChunk *pool; /* the lines */
    guint n;
    const char *index;
    GString *out;
} Merge;

/* --- reading -----------------------------------------------------------------------------------*/

static gboolean continues(const char *line)
{
    return g_str_has_prefix(line, "else:") || g_str_has_prefix(line, "elif ");
}

static Statement *statement_new(Merge *m, guint copy, const char *line)
{
    Statement *s = g_new0(Statement, 1);
    s->line = g_new0(char *, m->n);
    s->line[copy] = g_string_chunk_insert(m->pool, line);
    s->shape = ws_fold_shape(line);
    s->body = g_ptr_array_new_with_free_func(statement_free);
    s->also = g_ptr_array_new_with_free_func(statement_free);
    return s;
}

/* Statements from line *at on that are indented by `indent` or more. */
static GPtrArray *read_block(Merge *m, guint copy, char **line, guint *at, gsize indent)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(statement_free);
    while (line[*at]) {
        const char *text = line[*at];
        gsize blanks = strspn(text, " ");
        if (!text[blanks]) {
            ++*at;
            continue;
        }
        if (blanks < indent)
            break;
        Statement *s = statement_new(m, copy, text + blanks);
        ++*at;
        g_ptr_array_unref(s->body);
        s->body = read_block(m, copy, line, at, blanks + 1);
        if (continues(text + blanks) && list->len) {
            Statement *head = list->pdata[list->len - 1];
            g_ptr_array_add(head->also, s);
            char *both = g_strconcat(head->shape, "\n", s->shape, NULL);
            g_free(head->shape);
            head->shape = both;
        } else {
            g_ptr_array_add(list, s);
        }
    }
    return list;
}

/* --- aligning ----------------------------------------------------------------------------------*/

static gboolean alike(const Statement *a, const Statement *b)
{
    return !strcmp(a->shape, b->shape) && !a->body->len == !b->body->len;
}

static GPtrArray *align(Merge *m, GPtrArray *a, GPtrArray *b);

static void take_over(Merge *m, Statement *into, Statement *from)
{
    for (guint i = 0; i < m->n; i++)
        into->line[i] = into->line[i] ? into->line[i] : from->line[i];
    into->body = align(m, into->body, from->body);
    from->body = g_ptr_array_new_with_free_func(statement_free);
    for (guint i = 0; i < into->also->len; i++)
        take_over(m, into->also->pdata[i], from->also->pdata[i]);
}

/* Lengths of the longest common parts of a[i..] and b[j..]; rows of b->len + 1. Caller frees. */
static guint *common(const GPtrArray *a, const GPtrArray *b)
{
    gsize row = b->len + 1;
    guint *best = g_new0(guint, (a->len + 1) * row);
    for (guint i = a->len; i-- > 0;) {
        for (guint j = b->len; j-- > 0;) {
            guint *at = &best[i * row + j];
            *at = alike(a->pdata[i], b->pdata[j]) ? at[row + 1] + 1 : MAX(at[row], at[1]);
        }
    }
    return best;
}

/* Both lists as one; takes them. What only b has stands behind what only a has. */
static GPtrArray *align(Merge *m, GPtrArray *a, GPtrArray *b)
{
    g_autofree guint *best = common(a, b);
    gsize row = b->len + 1;
    GPtrArray *all = g_ptr_array_new_with_free_func(statement_free);
    guint i = 0, j = 0;
    while (i < a->len || j < b->len) {
        const guint *at = &best[i * row + j];
        if (i < a->len && j < b->len && alike(a->pdata[i], b->pdata[j])) {
            Statement *s = a->pdata[i++], *other = b->pdata[j++];
            take_over(m, s, other);
            g_ptr_array_add(all, s);
            statement_free(other);
        } else if (i < a->len && (j == b->len || at[row] >= at[1])) {
            g_ptr_array_add(all, a->pdata[i++]);
        } else {
            g_ptr_array_add(all, b->pdata[j++]);
        }
    }
    g_ptr_array_set_free_func(a, NULL);
    g_ptr_array_set_free_func(b, NULL);
    g_ptr_array_unref(a);
    g_ptr_array_unref(b);
    return all;
}

/* --- writing -----------------------------------------------------------------------------------*/

static gboolean everywhere(const Merge *m, const Statement *s)
{
    for (guint i = 0; i < m->n; i++) {
        if (!s->line[i])
            return FALSE;
    }
    return TRUE;
}

/* The line of all copies as one, or NULL. Caller frees. */
static char *folded(const Merge *m, const Statement *s)
{
    char *one = ws_fold_text((const char *const *)s->line, m->n, m->index, FALSE);
    for (guint i = 0; one && i < s->also->len; i++) {
        const Statement *also = s->also->pdata[i];
        g_autofree char *its = ws_fold_text((const char *const *)also->line, m->n, m->index, FALSE);
        if (!its)
            g_clear_pointer(&one, g_free);
    }
    return one;
}

static void put(Merge *m, guint depth, const char *line)
{
    g_string_append_printf(m->out, "%*s%s\n", (int)(4 * depth), "", line);
}

/* One copy of a statement with all that is in it; TRUE if it is more than a remark. */
static gboolean put_copy(Merge *m, const Statement *s, guint copy, guint depth)
{
    if (!s->line[copy])
        return FALSE;
    put(m, depth, s->line[copy]);
    for (guint i = 0; i < s->body->len; i++)
        put_copy(m, s->body->pdata[i], copy, depth + 1);
    for (guint i = 0; i < s->also->len; i++)
        put_copy(m, s->also->pdata[i], copy, depth);
    return s->line[copy][0] != '#';
}

static void put_list(Merge *m, const GPtrArray *list, guint depth);

static void put_common(Merge *m, const Statement *s, const char *line, guint depth)
{
    put(m, depth, line);
    put_list(m, s->body, depth + 1);
    for (guint i = 0; i < s->also->len; i++) {
        const Statement *also = s->also->pdata[i];
        g_autofree char *its = ws_fold_text((const char *const *)also->line, m->n, m->index, FALSE);
        put_common(m, also, its, depth);
    }
}

/* Statements first..end-1, which are not the same in all copies: copy by copy. */
static void put_apart(Merge *m, const GPtrArray *list, guint first, guint end, guint depth)
{
    for (guint copy = 0; copy < m->n; copy++) {
        gsize before = m->out->len;
        g_string_append_printf(m->out, "%*sif %s == %u:\n", (int)(4 * depth), "", m->index, copy);
        gboolean any = FALSE;
        for (guint i = first; i < end; i++)
            any = put_copy(m, list->pdata[i], copy, depth + 1) || any;
        if (!any) /* nothing, or remarks alone: no block */
            g_string_truncate(m->out, before);
    }
}

static void put_list(Merge *m, const GPtrArray *list, guint depth)
{
    for (guint i = 0; i < list->len;) {
        const Statement *s = list->pdata[i];
        g_autofree char *line = everywhere(m, s) ? folded(m, s) : NULL;
        if (line) {
            put_common(m, s, line, depth);
            i++;
            continue;
        }
        guint end = i + 1;
        for (; end < list->len; end++) {
            const Statement *next = list->pdata[end];
            g_autofree char *its = everywhere(m, next) ? folded(m, next) : NULL;
            if (its)
                break;
        }
        put_apart(m, list, i, end, depth);
        i = end;
    }
}

char *ws_py_fold(const char *const *copy, guint n, const char *index)
{
    if (n == 1)
        return g_strdup(copy[0]);
    Merge m = { g_string_chunk_new(1 << 12), n, index, g_string_new(NULL) };
    GPtrArray *all = NULL;
    gsize depth = 0;
    for (guint i = 0; i < n; i++) {
        g_auto(GStrv) line = g_strsplit(copy[i], "\n", -1);
        guint at = 0;
        for (guint k = 0; line[k] && !depth; k++)
            depth = line[k][strspn(line[k], " ")] ? strspn(line[k], " ") / 4 + 1 : 0;
        GPtrArray *list = read_block(&m, i, line, &at, 0);
        all = all ? align(&m, all, list) : list;
    }
    put_list(&m, all, depth ? (guint)depth - 1 : 0);
    g_ptr_array_unref(all);
    g_string_chunk_free(m.pool);
    return g_string_free(m.out, FALSE);
}
