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

typedef struct {
    guint n;
    char *name[MOST];
    GPtrArray *out;
    guint waits;
} Flow;

typedef struct {
    guint32 age[MOST]; /* bit 0: in the open group, bit i: in the i-th newest */
} State;

static gboolean mentions(const char *text, const char *name)
{
    for (const char *at = text; (at = strstr(at, name)); at++) {
        gboolean left = at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '_' || at[-1] == '.');
        char next = at[strlen(name)];
        if (left && !g_ascii_isalnum(next) && next != '_')
            return TRUE;
    }
    return FALSE;
}

static guint value_of(Flow *f, const char *text)
{
    gsize n = strcspn(text, " ,+)");
    for (guint i = 0; i < f->n; i++) {
        if (strlen(f->name[i]) == n && !strncmp(f->name[i], text, n))
            return i;
    }
    g_assert_cmpuint(f->n, <, MOST);
    f->name[f->n] = g_strndup(text, n);
    return f->n++;
}

static void names(Flow *f, const GPtrArray *list)
{
    for (guint i = 0; i < list->len; i++) {
        const Node *n = list->pdata[i];
        if (n->body)
            names(f, n->body);
        else if (g_str_has_prefix(n->text, "wgmma_m64"))
            value_of(f, strchr(n->text, '(') + 1);
    }
}

static void say(Flow *f, const char *line, const char *what)
{
    g_ptr_array_add(f->out, g_strdup_printf("%.100s: %s", line, what));
}

static void statement(Flow *f, const char *text, State *s)
{
    if (g_str_has_prefix(text, "wgmma_m64")) {
        s->age[value_of(f, strchr(text, '(') + 1)] |= 1;
    } else if (g_str_has_prefix(text, "wgmma_commit")) {
        for (guint i = 0; i < f->n; i++)
            s->age[i] = (s->age[i] & LOOSE) | ((s->age[i] << 1) & 0xffff);
    } else if (g_str_has_prefix(text, "wgmma_wait<")) {
        guint32 stay = (2u << atoi(strchr(text, '<') + 1)) - 1;
        f->waits++;
        for (guint i = 0; i < f->n; i++) {
            guint32 done = s->age[i] & ~stay & ~LOOSE;
            s->age[i] = (s->age[i] & (stay | LOOSE)) | (done ? LOOSE : 0);
        }
    } else if (g_str_has_prefix(text, "keep(") || g_str_has_prefix(text, "keep_part<")) {
        s->age[value_of(f, strchr(text, '(') + 1)] &= ~LOOSE;
    } else {
        for (guint i = 0; i < f->n; i++) {
            if (s->age[i] && mentions(text, f->name[i]))
                say(f, text, f->name[i]);
        }
    }
}

static gboolean join(State *s, const State *other)
{
    gboolean more = FALSE;
    for (guint i = 0; i < MOST; i++) {
        more = more || (other->age[i] & ~s->age[i]);
        s->age[i] |= other->age[i];
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
        State s = { { 0 } };
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
