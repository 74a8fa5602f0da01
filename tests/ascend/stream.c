#include "ascend/stream.h"

#include <string.h>

enum { QUEUES = 6, FLAGS = 64, MOST = 400, TILES = 4 }; /* MOST: steps */

typedef enum { WORK, SET, WAIT, BARRIER, ALL } Kind;
typedef struct {
    Kind kind;
    gint flag; /* SET, WAIT */
    guint n_reads, n_writes;
    char *read[TILES], *write[TILES]; /* "x 1": buffer and stage; owned */
} Step;

typedef struct {
    const WsNode *root;
    GHashTable *value; /* char* -> gint64*: constants, loop indices, totals, run names */
    gint64 rounds, other;
    GPtrArray *queue[QUEUES]; /* Step*; ALL steps stand in all queues that have steps */
    GPtrArray *all, *flag;    /* Step* in the order of the stream; names of flags */
    guint8 *order; /* stream_wrong_of: [a][b]: a was over before b started, in some order */
    char *why;
} Stream;

static const char *const queue_name[QUEUES] = { "MTE2", "MTE1", "M", "V", "FIX", "MTE3" };

static void give_up(Stream *s, const char *why)
{
    if (!s->why)
        s->why = g_strdup_printf("? %s", why);
}

/* --- reading ---------------------------------------------------------------------------------- */

static gint64 floor_mod(gint64 a, gint64 b)
{
    return b ? ((a % b) + b) % b : 0;
}

static gint64 value_of(Stream *s, const WsExpr *e)
{
    gint64 a = e->n_args > 0 ? value_of(s, e->arg[0]) : 0,
           b = e->n_args > 1 ? value_of(s, e->arg[1]) : 0;
    g_autofree char *total = e->op == WS_EXPR_TOTAL ? g_strdup_printf("%s.total", e->name) : NULL;
    const gint64 *known;
    switch ((int)e->op) {
    case WS_EXPR_INT:
        return e->i;
    case WS_EXPR_NAME:
    case WS_EXPR_TOTAL:
        known = g_hash_table_lookup(s->value, total ? total : e->name);
        if (!known && !total) /* of a loop that no round came by: 0 */
            give_up(s, e->name);
        return known ? *known : 0;
    case WS_EXPR_ADD:
        return a + b;
    case WS_EXPR_SUB:
        return a - b;
    case WS_EXPR_NEG:
        return -a;
    case WS_EXPR_MUL:
        return a * b;
    case WS_EXPR_MOD:
        return floor_mod(a, b);
    case WS_EXPR_DIV:
        return b ? (a - floor_mod(a, b)) / b : 0;
    case WS_EXPR_LE:
        return a <= b;
    case WS_EXPR_GE:
        return a >= b;
    case WS_EXPR_AND:
        return a && b;
    case WS_EXPR_OR:
        return a || b;
    case WS_EXPR_EQ:
        return a == b;
    case WS_EXPR_NE:
        return a != b;
    case WS_EXPR_LT:
        return a < b;
    case WS_EXPR_GT:
        return a > b;
    default:
        give_up(s, "an operator");
        return 0;
    }
}

static void put(Stream *s, const char *name, gint64 value)
{
    g_hash_table_replace(s->value, g_strdup(name), g_memdup2(&value, sizeof value));
}

static const WsNode *object(const Stream *s, WsFieldId list, const char *name)
{
    for (guint i = 0; i < ws_node_n_children(s->root, list); i++)
        if (g_strcmp0(ws_node_name(ws_node_child(s->root, list, i)), name) == 0)
            return ws_node_child(s->root, list, i);
    return NULL;
}

static gint64 number(Stream *s, const WsNode *node, WsFieldId field, gint64 otherwise)
{
    const WsExpr *e = ws_node_expr(node, field);
    return ws_node_has(node, field) ? (e ? value_of(s, e) : ws_node_int(node, field, 0))
                                    : otherwise;
}

/* "x 1": the tile that a reference names. */
static char *tile(Stream *s, const WsNode *step, WsFieldId field, const char **space)
{
    const WsRef *ref = ws_node_refv(step, field);
    const WsNode *b = ref ? object(s, WS_F_buffers, ref->name) : NULL;
    if (!b) {
        give_up(s, "a tile");
        return g_strdup("?");
    }
    const gint64 use = ref->use ? value_of(s, ref->use) : number(s, step, WS_F_use, 0);
    if (ref->element || ref->n_views)
        give_up(s, "a view");
    *space = ws_node_text(b, WS_F_space);
    return g_strdup_printf("%s %d", ref->name, (int)floor_mod(use, number(s, b, WS_F_stages, 1)));
}

static guint queue_of(Stream *s, const char *name)
{
    for (guint i = 0; i < QUEUES; i++)
        if (g_strcmp0(queue_name[i], name) == 0)
            return i;
    give_up(s, "a queue");
    return 0;
}

static Step *add(Stream *s, gint queue, Kind kind)
{
    Step *x = g_new0(Step, 1);
    x->kind = kind;
    x->flag = -1;
    g_ptr_array_add(s->all, x);
    for (gint i = 0; i < QUEUES; i++)
        if (queue == i || queue < 0)
            g_ptr_array_add(s->queue[i], x);
    if (s->all->len >= MOST)
        give_up(s, "too large");
    return x;
}

static void at_flag(Stream *s, const WsNode *step)
{
    const WsRef *ref = ws_node_refv(step, WS_F_keyword);
    const WsNode *f = ref ? object(s, WS_F_barriers, ref->name) : NULL;
    const gboolean sets = step->kind == WS_STEP_ARRIVE;
    if (!f) {
        give_up(s, "a flag");
        return;
    }
    const gint64 use = ref->use ? value_of(s, ref->use) : number(s, step, WS_F_use, 0);
    g_autofree char *name =
        g_strdup_printf("%s %d", ref->name, (int)floor_mod(use, number(s, f, WS_F_slots, 1)));
    guint id = 0;
    while (id < s->flag->len && strcmp(s->flag->pdata[id], name) != 0)
        id++;
    if (id == s->flag->len)
        g_ptr_array_add(s->flag, g_steal_pointer(&name));
    if (id >= FLAGS)
        give_up(s, "too large");
    add(s, (gint)queue_of(s, ws_node_text(f, sets ? WS_F_from : WS_F_to)), sets ? SET : WAIT)
        ->flag = (gint)MIN(id, FLAGS - 1);
}

static void work(Stream *s, const WsNode *step)
{
    const char *from = "", *into = "", *none;
    Step x = { .kind = WORK };
    const char *queue = "V";
    switch ((int)step->kind) {
    case WS_STEP_LOAD:
        x.write[x.n_writes++] = tile(s, step, WS_F_into, &into);
        queue = "MTE2";
        break;
    case WS_STEP_STORE:
        x.read[x.n_reads++] = tile(s, step, WS_F_from, &from);
        queue = g_strcmp0(from, "UB") == 0 ? "MTE3" : "FIX";
        break;
    case WS_STEP_MOVE:
        x.read[x.n_reads++] = tile(s, step, WS_F_keyword, &from);
        x.write[x.n_writes++] = tile(s, step, WS_F_into, &into);
        queue = g_strcmp0(from, "L1") == 0 ? "MTE1" : g_strcmp0(from, "L0C") == 0 ? "FIX" : "V";
        break;
    case WS_STEP_MMA:
        x.read[x.n_reads++] = tile(s, step, WS_F_a, &none);
        x.read[x.n_reads++] = tile(s, step, WS_F_b, &none);
        x.write[x.n_writes++] = tile(s, step, WS_F_keyword, &none);
        queue = "M";
        break;
    default:
        x.read[x.n_reads++] = tile(s, step, WS_F_a, &none);
        x.read[x.n_reads++] = tile(s, step, WS_F_b, &none);
        x.write[x.n_writes++] = tile(s, step, WS_F_into, &none);
        break;
    }
    Step *made = add(s, (gint)queue_of(s, queue), WORK);
    *made = x;
    made->flag = -1;
}

static void steps(Stream *s, const WsNode *owner, WsFieldId field);

static void loop(Stream *s, const WsNode *step)
{
    const char *name = ws_node_text(step, WS_F_keyword);
    g_autofree char *total = g_strdup_printf("%s.total", name);
    const gint64 n = ws_node_has(step, WS_F_over) ? s->rounds : number(s, step, WS_F_count, 0);
    gint64 all = 0;
    const gint64 *before = g_hash_table_lookup(s->value, total);
    all = before ? *before : 0;
    for (gint64 k = 0; k < n && !s->why; k++) {
        put(s, name, k);
        put(s, total, all++);
        steps(s, step, WS_F_do);
    }
    put(s, total, all);
}

static void steps(Stream *s, const WsNode *owner, WsFieldId field)
{
    for (guint i = 0; i < ws_node_n_children(owner, field) && !s->why; i++) {
        const WsNode *step = ws_node_child(owner, field, i);
        if (ws_node_has(step, WS_F_when) && !number(s, step, WS_F_when, 0))
            continue;
        switch ((int)step->kind) {
        case WS_STEP_FOR:
            loop(s, step);
            break;
        case WS_STEP_IF:
            steps(s, step, number(s, step, WS_F_keyword, 0) ? WS_F_then : WS_F_else);
            break;
        case WS_STEP_ADVANCE:
            put(s, ws_node_text(step, WS_F_keyword),
                *(const gint64 *)g_hash_table_lookup(s->value, ws_node_text(step, WS_F_keyword)) +
                    number(s, step, WS_F_by, 1));
            break;
        case WS_STEP_ARRIVE:
        case WS_STEP_WAIT:
            at_flag(s, step);
            break;
        case WS_STEP_SYNC: {
            const WsRef *ref = ws_node_refv(step, WS_F_keyword);
            const gboolean all = strcmp(ref->name, "group") == 0;
            add(s, all ? -1 : (gint)queue_of(s, ref->name), all ? ALL : BARRIER);
            break;
        }
        case WS_STEP_LOAD:
        case WS_STEP_STORE:
        case WS_STEP_MOVE:
        case WS_STEP_MMA:
        case WS_STEP_VECTOR:
            work(s, step);
            break;
        default:
            give_up(s, "a step");
        }
    }
}

/* --- all orders ------------------------------------------------------------------------------- */

/* A set raises its flag some time after its turn, when all before it is over; steps behind it do
 * not wait for that. */
typedef struct {
    guint16 at[QUEUES];    /* steps of each queue that have started */
    guint16 fired[QUEUES]; /* … up to its last set that has raised its flag */
} State;

static guint hash(gconstpointer key)
{
    const State *x = key;
    guint h = 0;
    for (guint q = 0; q < QUEUES; q++)
        h = (h * 1009 + x->at[q]) * 1009 + x->fired[q];
    return h;
}

static gboolean equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(State)) == 0;
}

/* The next set of the queue that has started and not raised its flag, -1: there is none. */
static gint unfired(const Stream *s, const State *x, guint q)
{
    for (guint i = x->fired[q]; i < x->at[q]; i++)
        if (((const Step *)s->queue[q]->pdata[i])->kind == SET)
            return (gint)i;
    return -1;
}

/* Of a queue's steps those that are over: all before its last barrier, or set that has fired. */
static guint over(const Stream *s, const State *x, guint q)
{
    for (guint n = x->at[q]; n > x->fired[q]; n--) {
        const Step *step = s->queue[q]->pdata[n - 1];
        if (step->kind == BARRIER || step->kind == ALL)
            return n;
    }
    return x->fired[q];
}

static gboolean started(const Stream *s, const State *x, const Step *step, gboolean done)
{
    for (guint q = 0; q < QUEUES; q++) {
        const guint n = done ? over(s, x, q) : x->at[q];
        for (guint i = 0; i < n; i++)
            if (s->queue[q]->pdata[i] == step)
                return TRUE;
    }
    return FALSE;
}

static gboolean up(const Stream *s, const State *x, gint flag)
{
    gint n = 0;
    for (guint q = 0; q < QUEUES; q++)
        for (guint i = 0; i < x->at[q]; i++) {
            const Step *step = s->queue[q]->pdata[i];
            if (step->flag == flag && step->kind == SET)
                n += i < x->fired[q];
            else if (step->flag == flag)
                n--;
        }
    return n > 0;
}

static gboolean meets(char *const *a, guint n, char *const *b, guint m)
{
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < m; k++)
            if (strcmp(a[i], b[k]) == 0)
                return TRUE;
    return FALSE;
}

static gboolean conflict(const Step *a, const Step *b)
{
    return meets(a->write, a->n_writes, b->write, b->n_writes) ||
           meets(a->write, a->n_writes, b->read, b->n_reads) ||
           meets(a->read, a->n_reads, b->write, b->n_writes);
}

/* Steps of a tile may stand in another order than the stream's, but in one: why they do not. */
static const char *overtakes(const Stream *s, const State *x, guint me)
{
    const Step *step = s->all->pdata[me];
    for (guint i = 0; i < s->all->len; i++) {
        const Step *other = s->all->pdata[i];
        if (other == step || !conflict(step, other))
            continue;
        const gboolean begun = started(s, x, other, FALSE);
        if (begun && !started(s, x, other, TRUE))
            return "a step starts while one of its tile runs";
        s->order[begun ? i * MOST + me : me * MOST + i] = 1;
        if (s->order[begun ? me * MOST + i : i * MOST + me])
            return "two steps of a tile come in either order";
    }
    return NULL;
}

/* Why the step may not start now, NULL if it may. */
static const char *clash(const Stream *s, const State *x, const Step *step)
{
    gboolean later = FALSE;
    guint me = 0;
    if (s->order && g_ptr_array_find(s->all, step, &me))
        return overtakes(s, x, me);
    for (guint i = 0; i < s->all->len; i++) {
        const Step *other = s->all->pdata[i];
        if (other == step) {
            later = TRUE;
            continue;
        }
        if (!conflict(step, other))
            continue;
        if (!later && !started(s, x, other, TRUE))
            return "a step starts before an earlier one of its tile is over";
        if (later && started(s, x, other, FALSE))
            return "a step starts behind a later one of its tile";
    }
    return NULL;
}

static gboolean all_there(const Stream *s, const State *x, const Step *step)
{
    for (guint q = 0; q < QUEUES; q++)
        if (s->queue[q]->len && (unfired(s, x, q) >= 0 || x->at[q] >= s->queue[q]->len ||
                                 s->queue[q]->pdata[x->at[q]] != step))
            return FALSE;
    return TRUE;
}

static const char *explore(Stream *s)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(hash, equal, g_free, NULL);
    g_autoptr(GArray) open = g_array_new(FALSE, TRUE, sizeof(State));
    const char *wrong = NULL;
    const State begin = { { 0 }, { 0 } };
    g_array_append_val(open, begin);
    while (open->len && !wrong) {
        const State x = g_array_index(open, State, open->len - 1);
        gboolean moved = FALSE, ended = TRUE;
        g_array_set_size(open, open->len - 1);
        if (!g_hash_table_add(seen, g_memdup2(&x, sizeof x)))
            continue;
        for (guint q = 0; q < QUEUES && !wrong; q++) {
            const gint set = unfired(s, &x, q);
            if (set >= 0) {
                State next = x;
                next.fired[q] = (guint16)(set + 1);
                if (up(s, &x, ((const Step *)s->queue[q]->pdata[set])->flag))
                    wrong = "a flag is set while it is up";
                moved = TRUE, ended = FALSE;
                g_array_append_val(open, next);
            }
            if (x.at[q] >= s->queue[q]->len)
                continue;
            ended = FALSE;
            const Step *step = s->queue[q]->pdata[x.at[q]];
            State next = x;
            next.at[q]++;
            if ((step->kind == WAIT && !up(s, &x, step->flag)) ||
                (step->kind == BARRIER && set >= 0))
                continue;
            if (step->kind == ALL) {
                if (!all_there(s, &x, step))
                    continue;
                for (guint i = 0; i < QUEUES; i++)
                    next.at[i] = (guint16)(x.at[i] + (s->queue[i]->len > 0));
            }
            if (step->kind == WORK && !wrong)
                wrong = clash(s, &x, step);
            moved = TRUE;
            g_array_append_val(open, next);
        }
        if (!moved && !ended && !wrong)
            wrong = "a queue stands still";
        for (guint i = 0; ended && i < s->flag->len && !wrong; i++)
            if (up(s, &x, (gint)i))
                wrong = "a flag is left up";
        if (g_hash_table_size(seen) > 200000)
            wrong = "? too large";
    }
    return wrong;
}

static void step_free(gpointer data)
{
    Step *x = data;
    for (guint i = 0; i < TILES; i++) {
        g_free(x->read[i]);
        g_free(x->write[i]);
    }
    g_free(x);
}

static void names(Stream *s)
{
    const WsValue *constants = ws_node_get(s->root, WS_F_constants),
                  *run = ws_node_get(s->root, WS_F_let), *size = ws_node_get(s->root, WS_F_sizes);
    for (guint i = 0; i < size->n; i++)
        put(s, size->key[i], 64 * (i ? s->other : s->rounds));
    for (guint i = 0; i < constants->n; i++)
        put(s, constants->key[i],
            constants->item[i].kind == WS_VALUE_INT ? constants->item[i].i
                                                    : value_of(s, constants->item[i].expr));
    for (guint i = 0; i < run->n; i++)
        put(s, run->key[i], i ? s->other : s->rounds);
    const WsNode *group = ws_node_child(s->root, WS_F_groups, 0);
    for (guint i = 0; i < ws_node_n_children(group, WS_F_counters); i++)
        put(s, ws_node_name(ws_node_child(group, WS_F_counters, i)), 0);
}

static char *judged(const WsDesign *design, gint64 rounds, gint64 other, guint8 *order)
{
    Stream s = { .root = ws_design_root(design), .rounds = rounds, .other = other, .order = order };
    s.value = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    s.all = g_ptr_array_new_with_free_func(step_free);
    s.flag = g_ptr_array_new_with_free_func(g_free);
    for (guint q = 0; q < QUEUES; q++)
        s.queue[q] = g_ptr_array_new();
    names(&s);
    steps(&s, ws_node_child(s.root, WS_F_groups, 0), WS_F_body);
    const char *wrong = s.why ? NULL : explore(&s);
    char *said = s.why ? s.why : g_strdup(wrong);
    for (guint q = 0; q < QUEUES; q++)
        g_ptr_array_unref(s.queue[q]);
    g_ptr_array_unref(s.all);
    g_ptr_array_unref(s.flag);
    g_hash_table_unref(s.value);
    return said;
}

char *stream_wrong(const WsDesign *design, gint64 rounds)
{
    return judged(design, rounds, rounds, NULL);
}

char *stream_wrong_of(const WsDesign *design, gint64 rounds, gint64 other)
{
    g_autofree guint8 *order = g_malloc0(MOST * MOST);
    return judged(design, rounds, other, order);
}
