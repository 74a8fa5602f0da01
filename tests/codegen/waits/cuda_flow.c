#include "cuda_flow.h"

#include <stdlib.h>
#include <string.h>

/* A statement, or a block with its head ("", "if (c)", "else", "for (…)"). */
typedef struct {
    char *text;
    GPtrArray *body; /* Node*; NULL: a statement */
} Node;

static void node_free(gpointer data)
{
    Node *n = data;
    g_free(n->text);
    g_clear_pointer(&n->body, g_ptr_array_unref);
    g_free(n);
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *bare(const char *text)
{
    GString *s = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        char *comment = strstr(line[i], "//");
        if (comment)
            *comment = '\0';
        if (*g_strstrip(line[i]) != '#')
            g_string_append_printf(s, "%s ", line[i]);
    }
    return g_string_free(s, FALSE);
}

static Node *node_new(GString *text, GPtrArray *body)
{
    Node *n = g_new0(Node, 1);
    n->text = g_strdup(g_strstrip(text->str));
    n->body = body;
    g_string_truncate(text, 0);
    return n;
}

static GPtrArray *read_block(const char **at)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(node_free);
    GString *text = g_string_new(NULL);
    int depth = 0; /* parentheses, and braces of lambdas and lists */
    while (**at) {
        const char c = *(*at)++;
        if (depth == 0 && c == '}')
            break;
        if (depth == 0 && c == '{' && !strchr(text->str, '=')) {
            GPtrArray *body = read_block(at);
            g_ptr_array_add(list, node_new(text, body));
            continue;
        }
        if (depth == 0 && c == '{' && g_str_has_prefix(text->str + strspn(text->str, " "), "for")) {
            GPtrArray *body = read_block(at);
            g_ptr_array_add(list, node_new(text, body));
            continue;
        }
        if (depth == 0 && c == '{' && g_str_has_prefix(text->str + strspn(text->str, " "), "if")) {
            GPtrArray *body = read_block(at);
            g_ptr_array_add(list, node_new(text, body));
            continue;
        }
        depth += (strchr("({[", c) != NULL) - (strchr(")}]", c) != NULL);
        if (depth == 0 && c == ';')
            g_ptr_array_add(list, node_new(text, NULL));
        else
            g_string_append_c(text, c);
    }
    g_string_free(text, TRUE);
    return list;
}

/* --- following -------------------------------------------------------------------------------- */

#define LOOSE 0x80000000u /* retired, and not held back yet */
#define MOST  16

/* What is in flight: products by the value, the others by the buffer ("smem.s"). */
typedef enum { PRODUCTS, STORES, COPIES, LOADS, QUEUES } Queue;

typedef struct {
    guint n;
    char *name[MOST];
    GPtrArray *out;
    guint waits;
} Flow;

typedef struct {
    guint32 age[QUEUES][MOST]; /* bit 0: in the open group, bit i: in the i-th newest */
} State;

static const struct {
    const char *begins;
    enum { ISSUE, COMMIT, WAIT, HOLD } does;
    Queue queue;
} calls[] = {
    { "wgmma_m64", ISSUE, PRODUCTS },   { "wgmma_commit", COMMIT, PRODUCTS },
    { "wgmma_wait<", WAIT, PRODUCTS },  { "keep(", HOLD, PRODUCTS },
    { "keep_part<", HOLD, PRODUCTS },   { "tma_store_", ISSUE, STORES },
    { "bulk_commit(", COMMIT, STORES }, { "bulk_wait", WAIT, STORES },
    { "cp_async(", ISSUE, COPIES },     { "cp_async_hint(", ISSUE, COPIES },
    { "cp_commit(", COMMIT, COPIES },   { "cp_wait<", WAIT, COPIES },
    { "tma_load_", ISSUE, LOADS },      { "mbar_wait(", WAIT, LOADS },
};

/* `stage`: not where one of the stages of a buffer is taken, "smem.s(k)". */
static gboolean mentions(const char *text, const char *name, gboolean stage)
{
    for (const char *at = text; (at = strstr(at, name)); at++) {
        gboolean left = at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '_' || at[-1] == '.');
        char next = at[strlen(name)];
        if (left && !g_ascii_isalnum(next) && next != '_' &&
            !(stage && next == '(' && at[strlen(name) + 1] != ')'))
            return TRUE;
    }
    return FALSE;
}

/* Of the first argument: "x", "smem.s" of "smem.s(k) + 8192", swizzled or not. */
static guint name_of(Flow *f, const char *call)
{
    const char *text = strchr(call, '(') + 1;
    if (g_str_has_prefix(text, "swizzle<"))
        text = strchr(text, '(') + 1;
    gsize n = strcspn(text, " ,+)(");
    for (guint i = 0; i < f->n; i++) {
        if (strlen(f->name[i]) == n && !strncmp(f->name[i], text, n))
            return i;
    }
    g_assert_cmpuint(f->n, <, MOST);
    f->name[f->n] = g_strndup(text, n);
    return f->n++;
}

static gint call_of(const char *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        if (g_str_has_prefix(text, calls[i].begins))
            return (gint)i;
    }
    return -1;
}

static void names(Flow *f, const GPtrArray *list)
{
    for (guint i = 0; i < list->len; i++) {
        const Node *n = list->pdata[i];
        gint call = n->body ? -1 : call_of(n->text);
        if (n->body)
            names(f, n->body);
        else if (call >= 0 && calls[call].does == ISSUE)
            name_of(f, n->text);
    }
}

static void say(Flow *f, const char *line, const char *what)
{
    g_ptr_array_add(f->out, g_strdup_printf("%.100s: %s", line, what));
}

/* A wait without a number is one for everything. */
static void wait(guint32 *age, guint n, const char *text, gboolean holds)
{
    const char *number = strchr(text, '<');
    guint32 stay = number ? (2u << atoi(number + 1)) - 1 : 0;
    for (guint i = 0; i < n; i++) {
        guint32 done = age[i] & ~stay & ~LOOSE;
        age[i] = (age[i] & (stay | LOOSE)) | (done && holds ? LOOSE : 0);
    }
}

static void statement(Flow *f, const char *text, State *s)
{
    const gint call = call_of(text);
    const Queue queue = call < 0 ? QUEUES : calls[call].queue;
    for (guint q = 0; q < QUEUES; q++) {
        for (guint i = 0; q != queue && i < f->n; i++) {
            if (mentions(text, f->name[i], q != PRODUCTS && !(s->age[q][i] & ~3u)) && s->age[q][i])
                say(f, text, f->name[i]);
        }
    }
    if (call < 0)
        return;
    guint32 *age = s->age[queue];
    if (calls[call].does == ISSUE) {
        age[name_of(f, text)] |= 1;
    } else if (calls[call].does == COMMIT) {
        for (guint i = 0; i < f->n; i++)
            age[i] = (age[i] & LOOSE) | ((age[i] << 1) & 0xffff);
    } else if (calls[call].does == WAIT) {
        f->waits++;
        wait(age, f->n, text, queue == PRODUCTS);
    } else {
        age[name_of(f, text)] &= ~LOOSE;
    }
}

static gboolean join(State *s, const State *other)
{
    gboolean more = FALSE;
    for (guint i = 0; i < QUEUES * MOST; i++) {
        more = more || ((&other->age[0][0])[i] & ~(&s->age[0][0])[i]);
        (&s->age[0][0])[i] |= (&other->age[0][0])[i];
    }
    return more;
}

/* "for (int ks = 1; ks < 8; …": a round is made. */
static gboolean some_round(const char *head)
{
    const char *from = strchr(head, '='), *to = strchr(head, '<');
    if (!from || !to || !g_ascii_isdigit(from[2]) || !g_ascii_isdigit(to[2]))
        return FALSE;
    return atoi(from + 1) < atoi(to + 1);
}

static void follow(Flow *f, const GPtrArray *list, State *s)
{
    for (guint i = 0; i < list->len; i++) {
        const Node *n = list->pdata[i];
        const Node *next = i + 1 < list->len ? list->pdata[i + 1] : NULL;
        if (!n->body) {
            statement(f, n->text, s);
        } else if (!strcmp(n->text, "if (leader)")) { /* who issues and waits is followed */
            follow(f, n->body, s);
        } else if (g_str_has_prefix(n->text, "if")) {
            State other = *s;
            statement(f, n->text, s);
            follow(f, n->body, s);
            if (next && next->body && g_str_has_prefix(next->text, "else")) {
                follow(f, next->body, &other);
                i++;
            }
            join(s, &other);
        } else if (g_str_has_prefix(n->text, "for")) {
            for (gboolean more = TRUE; more;) {
                State round = *s;
                follow(f, n->body, &round);
                more = join(s, &round);
                if (!more && some_round(n->text))
                    *s = round;
            }
        } else {
            follow(f, n->body, s);
        }
    }
}

GPtrArray *cuda_flow(const char *text, guint *waits)
{
    Flow f = { .out = g_ptr_array_new_with_free_func(g_free) };
    for (const char *role = text; (role = strstr(role, "    // Role "));) {
        const char *open = strstr(role, "\n    {"), *end = strstr(open, "\n    }\n");
        g_autofree char *raw = g_strndup(open + 6, (gsize)(end - open - 5));
        g_autofree char *code = bare(raw);
        const char *at = code;
        g_autoptr(GPtrArray) list = read_block(&at);
        State s = { { { 0 } } };
        names(&f, list);
        follow(&f, list, &s);
        for (guint i = 0; i < f.n; i++)
            g_free(f.name[i]);
        f.n = 0;
        role = end;
    }
    *waits = f.waits;
    return f.out;
}
