#include "ptx_flow.h"

#include <stdlib.h>
#include <string.h>

typedef enum { PLAIN, PRODUCT, FENCE, COMMIT, WAIT, BRANCH, END, LABEL } Kind;

/* What is in flight by the buffer: stores and copies in groups, loads until some barrier. */
typedef enum { STORES, COPIES, LOADS, QUEUES } Queue;
typedef enum { TOUCH, READS, ISSUES, COMMITS, WAITS } Deed;

typedef struct {
    Kind kind;
    char *text; /* without predicate; owned */
    gboolean conditional;
    guint n;           /* WAIT */
    guint n_reg, *reg; /* PLAIN: as they stand; PRODUCT: accumulators, then operand a */
    guint n_acc;       /* PRODUCT */
    char *label;       /* BRANCH, LABEL; owned */
    guint target;      /* BRANCH */
    gint takes;        /* BRANCH: the leader goes there 1, does not 0, either -1 */
    Deed deed;         /* PLAIN, PRODUCT: to the queue, and to the buffers of its step */
    Queue queue;
    guint32 buffers;
} Line;

typedef struct {
    GArray *line;
    GHashTable *reg; /* name -> number + 1 */
    PtxFlow *out;
    GHashTable *said;
    GHashTable *reached; /* products */
    GHashTable *step;    /* id -> GUINT_TO_POINTER(buffers), or NULL */
    const guint32 *late; /* of each buffer: ages that a use of it must not meet */
    guint32 buffers;     /* of the step whose text is read */
    GHashTable *leader;  /* predicate -> 1 + what it is for the leader */
} Flow;

typedef struct {
    guint32 *reg;            /* of n, then of n again whether it was touched since the last fence */
    guint32 age[QUEUES][32]; /* as of registers: bit 0 the open group */
} State;

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

/* --- shared memory ---------------------------------------------------------------------------- */

static const struct {
    const char *begins, *holds; /* holds: NULL for any */
    Deed deed;
    Queue queue;
} deeds[] = {
    { "cp.async.bulk.commit_group", NULL, COMMITS, STORES },
    { "cp.async.bulk.wait_group", NULL, WAITS, STORES },
    { "cp.async.bulk", ".global.shared::cta", ISSUES, STORES },
    { "cp.reduce.async.bulk", ".global.shared::cta", ISSUES, STORES },
    { "cp.async.bulk", ".shared::cluster.global", ISSUES, LOADS },
    { "mbarrier.try_wait", NULL, WAITS, LOADS },
    { "cp.async.commit_group", NULL, COMMITS, COPIES },
    { "cp.async.wait_group", NULL, WAITS, COPIES },
    { "cp.async.c", ".shared", ISSUES, COPIES },
    { "ld.shared", NULL, READS, QUEUES },
    { "ldmatrix", NULL, READS, QUEUES },
    { "wgmma.mma_async", NULL, READS, QUEUES },
};

static void deed_of(const Flow *f, Line *l)
{
    l->deed = TOUCH;
    l->queue = QUEUES;
    l->buffers = f->buffers;
    for (guint i = 0; i < G_N_ELEMENTS(deeds); i++) {
        if (g_str_has_prefix(l->text, deeds[i].begins) &&
            (!deeds[i].holds || strstr(l->text, deeds[i].holds))) {
            l->deed = deeds[i].deed;
            l->queue = deeds[i].queue;
            return;
        }
    }
    if (!g_str_has_prefix(l->text, "st.shared") && !g_str_has_prefix(l->text, "stmatrix"))
        l->buffers = 0;
}

/* What a predicate is for the one thread that issues and waits: 1, 0, or -1. */
static gint leader_has(const Flow *f, const char *name)
{
    gpointer is = g_hash_table_lookup(f->leader, name);
    return is ? GPOINTER_TO_INT(is) - 2 : -1;
}

static void predicate(Flow *f, const char *text)
{
    g_auto(GStrv) w = g_strsplit_set(text, " ,|", -1);
    const char *arg[8] = { NULL };
    guint n = 0;
    for (guint i = 0; w[i]; i++) {
        if (*w[i] && n < G_N_ELEMENTS(arg))
            arg[n++] = w[i];
    }
    gint is = -1;
    if (n >= 3 && g_str_has_prefix(arg[0], "shfl.sync")) { /* which warp: its first */
        g_hash_table_insert(f->leader, g_strdup(arg[1]), GINT_TO_POINTER(2));
        return;
    }
    if (n >= 3 && !strcmp(arg[0], "elect.sync")) {
        g_hash_table_insert(f->leader, g_strdup(arg[2]), GINT_TO_POINTER(3));
        return;
    }
    if (n < 3 || arg[1][0] != '%' || arg[1][1] != 'p')
        return;
    const gint a = leader_has(f, arg[2]), b = n > 3 ? leader_has(f, arg[3]) : -1;
    if (!strcmp(arg[0], "not.pred") && a >= 0)
        is = !a;
    else if (!strcmp(arg[0], "and.pred"))
        is = a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : -1;
    else if (!strcmp(arg[0], "or.pred"))
        is = a == 1 || b == 1 ? 1 : a == 0 && b == 0 ? 0 : -1;
    else if (n > 3 && a == 0 && g_str_has_prefix(arg[0], "setp.eq"))
        is = !strcmp(arg[3], "0");
    else if (n > 3 && a == 0 && g_str_has_prefix(arg[0], "setp.ne"))
        is = strcmp(arg[3], "0") != 0;
    g_hash_table_insert(f->leader, g_strdup(arg[1]), GINT_TO_POINTER(is + 2));
}

static void statement(Flow *f, char *text)
{
    Line l = { .kind = PLAIN };
    GArray *reg = g_array_new(FALSE, FALSE, sizeof(guint));
    g_strdelimit(text, "\n\t", ' ');
    while (*text && strchr(" {}", *text))
        text++;
    g_strchomp(text);
    if (g_str_has_prefix(text, "step")) {
        g_strstrip(text += 4);
        f->buffers = f->step ? GPOINTER_TO_UINT(g_hash_table_lookup(f->step, text)) : 0;
        g_array_unref(reg);
        return;
    }
    l.takes = -1;
    if (*text == '@') {
        const gboolean negated = text[1] == '!';
        g_autofree char *name = g_strndup(text + 1 + negated, strcspn(text + 1 + negated, " "));
        l.conditional = TRUE;
        l.takes = leader_has(f, name);
        if (l.takes >= 0 && negated)
            l.takes = !l.takes;
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    if (!*text || *text == '.') {
        g_array_unref(reg);
        return;
    }
    l.text = g_strdup(text);
    deed_of(f, &l);
    predicate(f, text);
    if (g_str_has_prefix(text, "wgmma.mma_async")) {
        l.kind = PRODUCT;
        product(f, &l, reg);
        f->out->products++;
    } else if (g_str_has_prefix(text, "wgmma.fence")) {
        l.kind = FENCE;
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

/* Of comments, only which step the text between them belongs to stays: "step ID;". */
static char *without_comments(const char *ptx)
{
    GString *s = g_string_new(NULL);
    for (const char *c = ptx; *c;) {
        if (g_str_has_prefix(c, "// groups/"))
            g_string_append_printf(s, "step %.*s;", (int)strcspn(c + 3, "\n"), c + 3);
        else if (g_str_has_prefix(c, "// end inline asm"))
            g_string_append(s, "step ;");
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

static void move(Flow *f, const Line *l, State *s)
{
    const gboolean writes = l->deed == TOUCH || (l->deed == ISSUES && l->queue != STORES);
    for (guint b = 0; b < 32; b++) {
        if (l->deed == COMMITS)
            s->age[l->queue][b] =
                (s->age[l->queue][b] << 1 | (s->age[l->queue][b] & 0x8000)) & 0xffff;
        else if (l->deed == WAITS)
            s->age[l->queue][b] &=
                l->queue == LOADS ? 0 : (2u << atoi(strrchr(l->text, ' ') + 1)) - 1;
        if (!(l->buffers >> b & 1) || l->deed == COMMITS || l->deed == WAITS)
            continue;
        for (guint q = 0; q < QUEUES; q++) {
            if ((s->age[q][b] & f->late[b]) && q != l->queue && (q != STORES || writes))
                say(f, l, writes ? "writes a buffer in flight" : "reads a buffer in flight");
        }
        if (l->deed == ISSUES)
            s->age[l->queue][b] |= 1;
    }
}

static void step(Flow *f, const Line *l, State *s)
{
    guint32 *now = s->reg;
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
    } else if (l->kind == FENCE) {
        memset(now + n, 0, sizeof(guint32) * n);
    } else if (l->kind == PRODUCT) {
        g_hash_table_add(f->reached, (gpointer)l);
        for (guint i = 0; i < l->n_reg; i++) {
            if (i < l->n_acc ? OPERAND(now[l->reg[i]]) : ACC(now[l->reg[i]]))
                say(f, l,
                    i < l->n_acc ? "accumulates over an operand in flight"
                                 : "takes an accumulator in flight as operand");
            if (now[n + l->reg[i]])
                say(f, l, "of registers touched behind its fence");
        }
        for (guint i = 0; i < l->n_reg; i++)
            now[l->reg[i]] |= i < l->n_acc ? 1u : 1u << 16;
    } else if (l->kind == PLAIN) {
        for (guint i = 0; i < l->n_reg; i++) {
            if (ACC(now[l->reg[i]]))
                say(f, l, "touches an accumulator in flight");
            now[n + l->reg[i]] = 1;
            if (OPERAND(now[l->reg[i]]))
                say(f, l, "touches an operand in flight");
        }
    }
    if (f->step && (l->kind == PLAIN || l->kind == PRODUCT))
        move(f, l, s);
}

static gboolean unite(guint32 *into, const guint32 *more, guint n)
{
    gboolean grows = FALSE;
    for (guint i = 0; i < n; i++) {
        grows = grows || (more[i] & ~into[i]);
        into[i] |= more[i];
    }
    return grows;
}

static gboolean join(State **at, const State *now, guint n)
{
    const gboolean first = !*at;
    if (first) {
        *at = g_new0(State, 1);
        (*at)->reg = g_new0(guint32, 2 * n);
    }
    const gboolean more = unite((*at)->reg, now->reg, 2 * n);
    return unite(&(*at)->age[0][0], &now->age[0][0], QUEUES * 32) || more || first;
}

/* From every place where paths meet, on to the next such place. */
static void follow(Flow *f)
{
    const guint n = g_hash_table_size(f->reg), lines = f->line->len;
    State **at = g_new0(State *, lines + 1), now = { .reg = g_new0(guint32, 2 * n) };
    g_autoptr(GQueue) work = g_queue_new();
    for (guint i = n; i < 2 * n; i++)
        now.reg[i] = 1; /* no fence yet */
    join(&at[0], &now, n);
    g_queue_push_tail(work, GUINT_TO_POINTER(0));
    while (!g_queue_is_empty(work)) {
        guint i = GPOINTER_TO_UINT(g_queue_pop_head(work));
        memcpy(now.reg, at[i]->reg, 2 * sizeof(guint32) * n);
        memcpy(now.age, at[i]->age, sizeof now.age);
        for (gboolean first = TRUE; i < lines; i++, first = FALSE) {
            const Line *l = &g_array_index(f->line, Line, i);
            if (l->kind == LABEL && !first) {
                if (join(&at[i], &now, n))
                    g_queue_push_tail(work, GUINT_TO_POINTER(i));
                break;
            }
            step(f, l, &now);
            if (l->kind == BRANCH && l->takes != 0 && join(&at[l->target], &now, n))
                g_queue_push_tail(work, GUINT_TO_POINTER(l->target));
            if ((l->kind == BRANCH || l->kind == END) && (!l->conditional || l->takes == 1))
                break;
        }
    }
    for (guint i = 0; i < lines; i++) {
        if (at[i])
            g_free(at[i]->reg);
        g_free(at[i]);
    }
    g_free(now.reg);
    g_free(at);
}

PtxFlow ptx_flow(const char *ptx, GHashTable *buffers, const guint32 *late)
{
    PtxFlow out = { .violation = g_ptr_array_new_with_free_func(g_free) };
    Flow f = { .line = g_array_new(FALSE, TRUE, sizeof(Line)),
               .reg = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
               .out = &out,
               .said = g_hash_table_new(g_str_hash, g_str_equal),
               .reached = g_hash_table_new(NULL, NULL),
               .step = buffers,
               .late = late,
               .leader = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
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
    g_hash_table_unref(f.leader);
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
