#include "ptx_flow.h"

#include <stdlib.h>
#include <string.h>

typedef enum { PLAIN, PRODUCT, COMMIT, WAIT, BRANCH, END, LABEL } Kind;

typedef struct {
    Kind kind;
    char *text; /* without predicate; owned */
    gboolean conditional;
    guint n;           /* WAIT */
    guint n_reg, *reg; /* PLAIN: as they stand; PRODUCT: accumulators, then operand a */
    guint n_acc;       /* PRODUCT */
    gboolean writes;   /* PLAIN: the first register is a result */
    char *label;       /* BRANCH, LABEL; owned */
    guint target;      /* BRANCH */
} Line;

typedef struct {
    GArray *line;
    GHashTable *reg; /* name -> number + 1 */
    PtxFlow *out;
    GHashTable *said;
    GHashTable *reached; /* products */
} Flow;

/* Ages of groups in which a register may be in flight: bit 0 the open one, bit i the i-th newest;
 * low half as accumulator, high half as operand. */
#define ACC(m)     ((m)&0xffffu)
#define OPERAND(m) ((m) >> 16)

/* --- reading ---------------------------------------------------------------------------------- */

static guint register_of(Flow *f, const char *name, gsize n)
{
    g_autofree char *key = g_strndup(name, n);
    gpointer old = g_hash_table_lookup(f->reg, key);
    if (old)
        return GPOINTER_TO_UINT(old) - 1;
    guint number = g_hash_table_size(f->reg);
    g_hash_table_insert(f->reg, g_steal_pointer(&key), GUINT_TO_POINTER(number + 1));
    return number;
}

/* "%r12", "%f3": not predicates ("%p1"), not special registers ("%tid.x"). */
static void registers(Flow *f, const char *from, const char *end, GArray *out)
{
    for (const char *c = from; c < end; c++) {
        if (*c != '%')
            continue;
        gsize letters = strspn(c + 1, "abcdefghijklmnopqrstuvwxyz"),
              digits = strspn(c + 1 + letters, "0123456789"), n = 1 + letters + digits;
        if (digits && c[n] != '.' && !(letters == 1 && c[1] == 'p')) {
            guint r = register_of(f, c, n);
            g_array_append_val(out, r);
        }
        c += n - 1;
    }
}

static void product(Flow *f, Line *l, GArray *reg)
{
    const char *open = strchr(l->text, '{'), *close = strchr(open, '}');
    registers(f, open, close, reg);
    l->n_acc = reg->len;
    const char *a = close + 1 + strspn(close + 1, ", ");
    if (*a == '{')
        registers(f, a, strchr(a, '}'), reg);
}

static gboolean begins(const char *text, const char *const *words)
{
    for (guint i = 0; words[i]; i++) {
        if (g_str_has_prefix(text, words[i]))
            return TRUE;
    }
    return FALSE;
}

static void statement(Flow *f, char *text)
{
    static const char *const no_result[] = { "st.",      "red.",       "mbarrier",  "cp.",
                                             "fence",    "bar.",       "barrier",   "prefetch",
                                             "stmatrix", "setmaxnreg", "nanosleep", "discard",
                                             NULL };
    Line l = { .kind = PLAIN };
    GArray *reg = g_array_new(FALSE, FALSE, sizeof(guint));
    g_strdelimit(text, "\n\t", ' ');
    while (*text && strchr(" {}", *text))
        text++;
    g_strchomp(text);
    if (*text == '@') {
        l.conditional = TRUE;
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    if (!*text || *text == '.') {
        g_array_unref(reg);
        return;
    }
    l.text = g_strdup(text);
    if (g_str_has_prefix(text, "wgmma.mma_async")) {
        l.kind = PRODUCT;
        product(f, &l, reg);
        f->out->products++;
    } else if (g_str_has_prefix(text, "wgmma.commit_group")) {
        l.kind = COMMIT;
    } else if (g_str_has_prefix(text, "wgmma.wait_group")) {
        l.kind = WAIT;
        l.n = (guint)atoi(strrchr(text, ' ') + 1);
        f->out->waits++;
    } else if (g_str_has_prefix(text, "bra")) {
        l.kind = BRANCH;
        l.label = g_strdup(strrchr(text, ' ') + 1);
    } else if (!strcmp(text, "ret") || !strcmp(text, "exit") || !strcmp(text, "trap")) {
        l.kind = END;
    } else {
        registers(f, text, text + strlen(text), reg);
        l.writes = !begins(text, no_result);
    }
    l.n_reg = reg->len;
    l.reg = (guint *)(gpointer)g_array_free(reg, FALSE);
    g_array_append_val(f->line, l);
}

static void add_label(Flow *f, const char *name, gsize n)
{
    Line l = { .kind = LABEL, .label = g_strndup(name, n) };
    g_array_append_val(f->line, l);
}

static char *without_comments(const char *ptx)
{
    GString *s = g_string_new(NULL);
    for (const char *c = ptx; *c;) {
        if (c[0] == '/' && c[1] == '/') {
            c += strcspn(c, "\n");
            continue;
        }
        g_string_append_c(s, *c++);
    }
    return g_string_free(s, FALSE);
}

static void read_body(Flow *f, char *body)
{
    char *end;
    for (char *c = body; *c; c = end) {
        c += strspn(c, " \t\n{}");
        gsize name = strspn(c, "$ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (name && c[name] == ':') {
            add_label(f, c, name);
            end = c + name + 1;
            continue;
        }
        gsize n = strcspn(c, ";");
        end = c + n + (c[n] == ';');
        c[n] = '\0';
        if (end == c)
            break;
        statement(f, c);
    }
    for (guint i = 0; i < f->line->len; i++) {
        Line *l = &g_array_index(f->line, Line, i);
        guint best = G_MAXUINT; /* the nearest: labels of asm blocks stand more than once */
        for (guint k = 0; l->kind == BRANCH && k < f->line->len; k++) {
            const Line *at = &g_array_index(f->line, Line, k);
            guint far = k > i ? k - i : i - k;
            if (at->kind != LABEL || strcmp(at->label, l->label) != 0 || far >= best)
                continue;
            l->target = k;
            best = far;
        }
        g_assert_true(l->kind != BRANCH || best < G_MAXUINT);
    }
}

/* --- following -------------------------------------------------------------------------------- */

static void say(Flow *f, const Line *l, const char *what)
{
    g_autofree char *text = g_strdup_printf("%.120s: %s", l->text, what);
    if (g_hash_table_contains(f->said, text))
        return;
    g_ptr_array_add(f->out->violation, text);
    g_hash_table_add(f->said, g_steal_pointer(&text));
}

static void step(Flow *f, const Line *l, guint32 *now)
{
    const guint n = g_hash_table_size(f->reg);
    if (l->kind == COMMIT) {
        for (guint i = 0; i < n; i++) {
            guint32 a = ACC(now[i]), o = OPERAND(now[i]);
            now[i] = ((a << 1 | (a & 0x8000)) & 0xffff) | ((o << 1 | (o & 0x8000)) & 0xffff) << 16;
        }
    } else if (l->kind == WAIT) {
        const guint32 stay = (2u << l->n) - 1;
        for (guint i = 0; i < n; i++)
            now[i] &= stay | stay << 16;
    } else if (l->kind == PRODUCT) {
        g_hash_table_add(f->reached, (gpointer)l);
        for (guint i = 0; i < l->n_reg; i++) {
            if (i < l->n_acc ? OPERAND(now[l->reg[i]]) : ACC(now[l->reg[i]]))
                say(f, l,
                    i < l->n_acc ? "accumulates over an operand in flight"
                                 : "takes an accumulator in flight as operand");
        }
        for (guint i = 0; i < l->n_reg; i++)
            now[l->reg[i]] |= i < l->n_acc ? 1u : 1u << 16;
    } else if (l->kind == PLAIN) {
        for (guint i = 0; i < l->n_reg; i++) {
            if (ACC(now[l->reg[i]]))
                say(f, l, "touches an accumulator in flight");
            if (i == 0 && l->writes && OPERAND(now[l->reg[i]]))
                say(f, l, "writes an operand in flight");
        }
    }
}

static gboolean join(guint32 **at, const guint32 *now, guint n)
{
    gboolean more = !*at;
    if (more)
        *at = g_new0(guint32, n);
    for (guint i = 0; i < n; i++) {
        more = more || (now[i] & ~(*at)[i]);
        (*at)[i] |= now[i];
    }
    return more;
}

/* From every place where paths meet, on to the next such place. */
static void follow(Flow *f)
{
    const guint n = g_hash_table_size(f->reg), lines = f->line->len;
    guint32 **at = g_new0(guint32 *, lines + 1);
    g_autoptr(GQueue) work = g_queue_new();
    at[0] = g_new0(guint32, n);
    g_queue_push_tail(work, GUINT_TO_POINTER(0));
    g_autofree guint32 *now = g_new(guint32, n);
    while (!g_queue_is_empty(work)) {
        guint i = GPOINTER_TO_UINT(g_queue_pop_head(work));
        memcpy(now, at[i], sizeof(guint32) * n);
        for (gboolean first = TRUE; i < lines; i++, first = FALSE) {
            const Line *l = &g_array_index(f->line, Line, i);
            if (l->kind == LABEL && !first) {
                if (join(&at[i], now, n))
                    g_queue_push_tail(work, GUINT_TO_POINTER(i));
                break;
            }
            step(f, l, now);
            if (l->kind == BRANCH && join(&at[l->target], now, n))
                g_queue_push_tail(work, GUINT_TO_POINTER(l->target));
            if ((l->kind == BRANCH || l->kind == END) && !l->conditional)
                break;
        }
    }
    for (guint i = 0; i < lines; i++)
        g_free(at[i]);
    g_free(at);
}

PtxFlow ptx_flow(const char *ptx)
{
    PtxFlow out = { .violation = g_ptr_array_new_with_free_func(g_free) };
    Flow f = { .line = g_array_new(FALSE, TRUE, sizeof(Line)),
               .reg = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
               .out = &out,
               .said = g_hash_table_new(g_str_hash, g_str_equal),
               .reached = g_hash_table_new(NULL, NULL) };
    g_autofree char *text = without_comments(ptx);
    char *entry = strstr(text, ".entry warpstave");
    char *body = entry ? strchr(entry, '{') : NULL;
    if (!body)
        g_ptr_array_add(out.violation, g_strdup("no kernel in the text"));
    else
        read_body(&f, body + 1);
    if (f.line->len)
        follow(&f);
    if (g_hash_table_size(f.reached) != out.products)
        g_ptr_array_add(out.violation, g_strdup("products that no path reaches"));
    g_hash_table_unref(f.reached);
    for (guint i = 0; i < f.line->len; i++) {
        Line *l = &g_array_index(f.line, Line, i);
        g_free(l->text);
        g_free(l->label);
        g_free(l->reg);
    }
    g_array_unref(f.line);
    g_hash_table_unref(f.reg);
    g_hash_table_unref(f.said);
    return out;
}

void ptx_flow_clear(PtxFlow *f)
{
    g_clear_pointer(&f->violation, g_ptr_array_unref);
}
