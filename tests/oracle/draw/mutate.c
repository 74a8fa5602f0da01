#include "mutate.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include "model/edit.h"

#include <string.h>

/* Canonical text has one step per line, so that a change of a step is a change of a line. */

static void mutant_free(gpointer data)
{
    Mutant *m = data;
    g_free(m->text);
    g_free(m->what);
    g_free(m);
}

typedef struct {
    char **line;
    guint n;
    const WsDesign *design;
    const WsProgram *p;
    GPtrArray *out;
} Mutating;

static gboolean is_step(const char *line)
{
    static const char *const keys[] = {
        "wait",      "arrive",  "expect",     "load",      "mma",        "mma_wait",  "store",
        "sync",      "fence",   "store_wait", "load_wait", "read",       "write",     "cluster",
        "advance",   "gather",  "acquire",    "commit",    "release",    "claim",     "take",
        "transpose", "compute", "close",      "copy",      "mma_commit", "wait_pipe", "let"
    };
    const char *at = line + strspn(line, " ");
    if (!g_str_has_prefix(at, "{ \""))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        gsize n = strlen(keys[i]);
        if (strncmp(at + 3, keys[i], n) == 0 && at[3 + n] == '"')
            return g_str_has_suffix(line, " }") || g_str_has_suffix(line, " },");
    }
    return FALSE;
}

static const char *stripped(const char *line)
{
    return line + strspn(line, " ");
}

static guint indent(const char *line)
{
    return (guint)strspn(line, " ");
}

static void add(Mutating *M, const char *how, guint i)
{
    Mutant *m = g_new0(Mutant, 1);
    m->text = g_strjoinv("\n", M->line);
    m->what = g_strdup_printf("line %u: %s", i + 1, how);
    g_ptr_array_add(M->out, m);
}

/* Adds the mutant in which line i reads `text` (takes it; NULL: no such mutant). */
static void with(Mutating *M, guint i, char *text, const char *how)
{
    if (!text)
        return;
    char *own = M->line[i];
    g_autofree char *say = g_strdup_printf("%s: %s", how, stripped(own));
    M->line[i] = text;
    add(M, say, i);
    M->line[i] = own;
    g_free(text);
}

static char *replaced(const char *line, const char *from, const char *to)
{
    const char *at = strstr(line, from);
    return at ? g_strdup_printf("%.*s%s%s", (int)(at - line), line, to, at + strlen(from)) : NULL;
}

static void replace(Mutating *M, guint i, const char *from, const char *to)
{
    g_autofree char *how = g_strdup_printf("%s for %s", to, from);
    with(M, i, replaced(M->line[i], from, to), how);
}

/* The text of a field of the line; NULL if it has none. */
static char *field(const char *line, const char *name)
{
    g_autofree char *key = g_strdup_printf("\"%s\": \"", name);
    const char *at = strstr(line, key), *end = at ? strchr(at + strlen(key), '"') : NULL;
    return end ? g_strndup(at + strlen(key), (gsize)(end - at - strlen(key))) : NULL;
}

/* A further member at the end of the object that the line is. */
static char *member(const char *line, const char *text)
{
    const char *end = strrchr(line, '}');
    return end ? g_strdup_printf("%.*s, %s %s", (int)(end - line - 1), line, text, end) : NULL;
}

/* --- steps ------------------------------------------------------------------------------------ */
static char *bare(const char *line)
{
    gsize n = strlen(line);
    return g_strndup(line, n && line[n - 1] == ',' ? n - 1 : n);
}

/* Steps a .. b of one list in another order: step `from` stands at `to`. */
static void moved(Mutating *M, guint a, guint b, guint from, guint to, const char *how)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new_with_free_func(g_free);
    gboolean comma = g_str_has_suffix(M->line[b], ",");
    for (guint i = a; i <= b; i++)
        g_ptr_array_add(order, bare(M->line[i]));
    char *one = g_ptr_array_steal_index(order, from - a);
    g_ptr_array_insert(order, (gint)(to - a), one);
    g_autoptr(GPtrArray) before = g_ptr_array_new();
    g_autofree char *say = g_strdup_printf("%s: %s", how, stripped(M->line[from]));
    for (guint i = a; i <= b; i++) {
        g_ptr_array_add(before, M->line[i]);
        M->line[i] = g_strconcat(order->pdata[i - a], i < b || comma ? "," : "", NULL);
    }
    add(M, say, from);
    for (guint i = a; i <= b; i++) {
        g_free(M->line[i]);
        M->line[i] = before->pdata[i - a];
    }
}

static void order(Mutating *M, guint i)
{
    guint a = i, b = i;
    while (a > 0 && is_step(M->line[a - 1]) && indent(M->line[a - 1]) == indent(M->line[i]))
        a--;
    while (b + 1 < M->n && is_step(M->line[b + 1]) && indent(M->line[b + 1]) == indent(M->line[i]))
        b++;
    if (i < b)
        moved(M, a, b, i, i + 1, "after its successor");
    if (i > a + 1)
        moved(M, a, b, i, a, "to the head of its list");
    if (i + 1 < b)
        moved(M, a, b, i, b, "to the end of its list");
}

static const WsBarrier *barrier_of(const Mutating *M, const char *reference)
{
    gsize n = reference ? strcspn(reference, "[ ") : 0;
    for (guint i = 0; n && i < M->p->n_barriers; i++) {
        const WsBarrier *b = &M->p->barrier[i];
        if (!b->derived && strlen(b->name) == n && strncmp(b->name, reference, n) == 0)
            return b;
    }
    return NULL;
}

/* The other parity, said by hand. */
static void parity(Mutating *M, guint i)
{
    g_autofree char *what = field(M->line[i], "wait"), *use = field(M->line[i], "use");
    const WsBarrier *b = barrier_of(M, what);
    if (!b || !use || b->kind != WS_BARRIER_MBARRIER)
        return;
    g_autofree char *from = g_strdup_printf("\"use\": \"%s\"", use);
    g_autofree char *to =
        g_strdup_printf("\"slot\": \"(%s) %% %u\", \"phase\": \"((%s)/%u + 1) %% 2\"", use,
                        MAX(b->slots, 1), use, MAX(b->slots, 1));
    with(M, i, replaced(M->line[i], from, to), "parity flipped");
}

static void uses(Mutating *M, guint i)
{
    g_autofree char *use = field(M->line[i], "use");
    if (!use)
        return;
    g_autofree char *from = g_strdup_printf("\"use\": \"%s\"", use),
                    *up = g_strdup_printf("\"use\": \"%s + 1\"", use),
                    *down = g_strdup_printf("\"use\": \"max(0, %s - 1)\"", use);
    with(M, i, replaced(M->line[i], from, up), "use one higher");
    with(M, i, replaced(M->line[i], from, down), "use one lower");
    if (strcmp(use, "k.total") == 0)
        replace(M, i, "\"use\": \"k.total\"", "\"use\": \"k\"");
}

static void groups(Mutating *M, guint i)
{
    static const char *const key[] = { "mma_wait", "store_wait", "load_wait" };
    for (guint k = 0; k < G_N_ELEMENTS(key); k++)
        for (guint n = 0; n < 3; n++) {
            g_autofree char *from = g_strdup_printf("\"%s\": %u", key[k], n),
                            *to = g_strdup_printf("\"%s\": %u", key[k], n + 1);
            with(M, i, replaced(M->line[i], from, to), "one group more may be left");
        }
}

static void step(Mutating *M, guint i)
{
    char *line = M->line[i];
    g_autofree char *one = bare(line);
    gboolean comma = g_str_has_suffix(line, ",");
    with(M, i, member(line, "\"muted\": true"), "left out");
    with(M, i, g_strdup_printf("%s,\n%s%s", one, one, comma ? "," : ""), "doubled");
    order(M, i);
    parity(M, i);
    uses(M, i);
    groups(M, i);
    replace(M, i, "\"when\": \"k > 0\"", "\"when\": \"k > 1\"");
    if (strstr(line, "{ \"arrive\"") && !strstr(line, "\"count\"") && barrier_of(M, NULL) == NULL) {
        g_autofree char *to = field(line, "arrive");
        const WsBarrier *b = barrier_of(M, to);
        if (b && b->kind == WS_BARRIER_MBARRIER)
            with(M, i, member(line, "\"count\": 2"), "counts 2");
    }
}

/* --- counts, bytes, stages, bounds -------------------------------------------------------------
 */
static void barrier(Mutating *M, guint i)
{
    g_autofree char *name = field(M->line[i], "name");
    const WsBarrier *b = barrier_of(M, name);
    if (!b || !strstr(M->line[i], "{ \"name\"") || !strrchr(M->line[i], '}') ||
        b->kind != WS_BARRIER_MBARRIER || !b->path)
        return;
    if (strstr(M->line[i], "\"ready\""))
        replace(M, i, "\"ready\"", "\"pending\"");
    else
        with(M, i, member(M->line[i], "\"init\": \"ready\""), "ready");
    if (strstr(M->line[i], "\"arrivals\""))
        return;
    for (guint e = 1; e < b->array; e++)
        if (b->arrivals[e] != b->arrivals[0])
            return;
    for (gint d = -1; d <= 1; d += 2) {
        g_autofree char *more = g_strdup_printf("\"arrivals\": %d", (gint)b->arrivals[0] + d);
        with(M, i, member(M->line[i], more), "count");
    }
}

/* Says the expected bytes of a transaction, 16 too few and too many. */
static void bytes(Mutating *M)
{
    for (guint o = 0; o < M->p->n_ops; o++) {
        const WsOp *op = M->p->op[o];
        if (op->kind != WS_OP_MBAR_EXPECT || !op->derived || op->agent < 0 || !op->step)
            continue;
        const WsAgent *a = &M->p->agent[op->agent];
        const WsNode *node = a->replica ? NULL : ws_design_find(M->design, op->step);
        guint at = node ? node->line - 1 : M->n;
        if (at >= M->n || !is_step(M->line[at]))
            continue;
        g_autofree char *signal = field(M->line[at], "signal"), *use = field(M->line[at], "use");
        if (!signal || !use)
            continue;
        for (gint d = -16; d <= 16; d += 32)
            with(M, at,
                 g_strdup_printf("{ \"expect\": \"%s\", \"bytes\": %d, \"use\": \"%s\" },\n%s",
                                 signal, (gint)op->bytes + d, use, M->line[at]),
                 d < 0 ? "16 bytes fewer are expected" : "16 bytes more are expected");
    }
}

static void numbers(Mutating *M, guint i)
{
    static const char *const key[] = { "slots", "stages", "count" };
    for (guint k = 0; k < G_N_ELEMENTS(key); k++) {
        g_autofree char *value = field(M->line[i], key[k]);
        gboolean loop = k == 2;
        if (!value || (loop && !strstr(M->line[i], "\"for\"")))
            continue;
        g_autofree char *from = g_strdup_printf("\"%s\": \"%s\"", key[k], value),
                        *up = g_strdup_printf("\"%s\": \"%s + 1\"", key[k], value),
                        *down =
                            g_strdup_printf("\"%s\": \"max(%d, %s - 1)\"", key[k], !loop, value);
        with(M, i, replaced(M->line[i], from, up), "one more");
        with(M, i, replaced(M->line[i], from, down), "one fewer");
    }
}

GPtrArray *mutants_of(const char *text, const WsDesign *design, const WsProgram *program)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    Mutating M = { .line = lines,
                   .n = g_strv_length(lines),
                   .design = design,
                   .p = program,
                   .out = g_ptr_array_new_with_free_func(mutant_free) };
    for (guint i = 0; i < M.n; i++) {
        if (is_step(lines[i]))
            step(&M, i);
        else
            barrier(&M, i);
        numbers(&M, i);
        if (strstr(lines[i], "\"target\":") && !strstr(text, "\"fences\""))
            with(&M, i, g_strdup_printf("%s\n\"fences\": \"drawn\",", lines[i]), "no fence drawn");
    }
    bytes(&M);
    return g_steal_pointer(&M.out);
}

WsDesign *without_muted(const WsDesign *design, WsFindings *findings)
{
    static const WsFieldId lists[] = { WS_F_groups, WS_F_body, WS_F_do, WS_F_then, WS_F_else };
    g_autoptr(GPtrArray) todo = g_ptr_array_new();
    g_ptr_array_add(todo, (gpointer)ws_design_root(design));
    for (guint i = 0; i < todo->len; i++) {
        const WsNode *node = todo->pdata[i];
        for (guint l = 0; l < G_N_ELEMENTS(lists); l++)
            for (guint c = 0; c < ws_node_n_children(node, lists[l]); c++)
                g_ptr_array_add(todo, (gpointer)ws_node_child(node, lists[l], c));
        if (!ws_node_bool(node, WS_F_muted, FALSE))
            continue;
        g_autofree char *path = ws_design_path(design, node);
        g_autofree char *text = g_strdup_printf("remove %s", path);
        g_autoptr(WsEdit) edit = ws_edit_parse(text, NULL);
        return ws_design_apply(design, edit, findings);
    }
    return NULL;
}
