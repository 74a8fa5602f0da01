#include "meaning.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <json-c/json.h>
#include <string.h>

enum { MOST_MEETINGS = 4000 };

/* One wait, arrival or sync. Of named barriers and where no use is said, `slot` and `turn` are 0.
 */
typedef struct {
    char kind; /* 'w', 'a', 's' */
    guint barrier;
    gint64 element, slot, turn, parity;
} Meeting;

typedef struct {
    const char *name;
    gint64 value;
    json_object *text; /* of a name that has one: evaluated where it is asked for */
} Known;

typedef struct {
    json_object *design;
    const WsProgram *p; /* names of barriers and shapes alone */
    Case c;
    const WsAgent *agent;
    guint rank;
    GArray *known;     /* Known: in scope, the last one counts */
    GHashTable *total; /* rounds of each loop by its name: gint64* */
    gint64 id;         /* of the tile */
    GArray *meetings;
    gboolean lost; /* something has no value, or is not followed here */
    guint asked;   /* names within names */
} Agent;

/* --- JSON */

static json_object *member(json_object *o, const char *key)
{
    json_object *v = NULL;
    return json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, key, &v) ? v
                                                                                             : NULL;
}

static const char *text_of(json_object *o, const char *key)
{
    json_object *v = member(o, key);
    return v ? json_object_get_string(v) : NULL;
}

static json_object *by_name(json_object *list, const char *name)
{
    for (gsize i = 0; list && i < json_object_array_length(list); i++) {
        json_object *o = json_object_array_get_idx(list, i);
        if (g_strcmp0(text_of(o, "name"), name) == 0)
            return o;
    }
    return NULL;
}

/* --- names */

static gint64 value(Agent *A, const char *text);

static gboolean size(const Agent *A, const char *name, gint64 *v)
{
    json_object *own;
    if (strcmp(name, "N") == 0)
        *v = A->c.n;
    else if (strcmp(name, "D") == 0)
        *v = A->c.d;
    else if (strcmp(name, "T") == 0)
        *v = judge_tiles(A->c);
    else if ((own = member(member(A->design, "sizes"), name)) ||
             (own = member(member(A->design, "constants"), name)))
        *v = json_object_get_int64(own);
    else
        return FALSE;
    return TRUE;
}

static gboolean total_of(const Agent *A, const char *name, gint64 *v)
{
    const gint64 *n = g_hash_table_lookup(A->total, name);
    *v = n ? *n : 0;
    return n != NULL;
}

static gboolean agent_name(const Agent *A, const char *name, gint64 *v)
{
    const struct {
        const char *name;
        gint64 value;
    } own[] = { { "replica", A->agent->replica },
                { "replicas", A->agent->replicas },
                { "cta", A->rank },
                { "ctas", A->p->cluster } };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (strcmp(own[i].name, name) == 0) {
            *v = own[i].value;
            return TRUE;
        }
    return FALSE;
}

static gboolean name_value(gpointer data, const char *name, gboolean total, gint64 *v)
{
    Agent *A = data;
    *v = 0;
    if (total)
        return total_of(A, name, v);
    for (guint i = A->known->len; i-- > 0;) {
        const Known *k = &g_array_index(A->known, Known, i);
        if (strcmp(k->name, name) == 0) {
            *v = k->value;
            return TRUE;
        }
    }
    if (agent_name(A, name, v) || size(A, name, v))
        return TRUE;
    json_object *tiles = member(A->design, "tiles");
    if (member(member(tiles, "axes"), name)) { /* the only one: its number is that of the tile */
        *v = A->id;
        return TRUE;
    }
    json_object *text = member(member(tiles, "let"), name);
    text = text ? text : member(member(A->design, "let"), name);
    if (!text || A->asked > 8)
        return FALSE;
    A->asked++;
    *v = value(A, json_object_get_string(text));
    A->asked--;
    return TRUE;
}

static gboolean element_value(gpointer data, const char *tensor, const gint64 *at, guint n,
                              gint64 *v)
{
    Agent *A = data;
    json_object *shape = member(by_name(member(A->design, "tensors"), tensor), "shape");
    if (!shape || json_object_array_length(shape) != n)
        return FALSE;
    *v = A->c.element + (at[0] % 2 ? A->c.element_step : 0);
    for (guint d = 0; d < n; d++)
        if (at[d] < 0 ||
            at[d] >= value(A, json_object_get_string(json_object_array_get_idx(shape, d))))
            *v = 0;
    return TRUE;
}

static gint64 value(Agent *A, const char *text)
{
    const MeaningNames names = { A, name_value, element_value };
    gint64 v = 0;
    if (!meaning_value(text, &names, &v))
        A->lost = TRUE;
    return v;
}

static gint64 value_or(Agent *A, json_object *step, const char *key, gint64 otherwise)
{
    const char *text = text_of(step, key);
    return text ? value(A, text) : otherwise;
}

static guint push(Agent *A, const char *name, gint64 v)
{
    Known k = { .name = name, .value = v };
    g_array_append_val(A->known, k);
    return A->known->len - 1;
}

/* --- meetings */

static gint64 floor_of(gint64 a, gint64 b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static gboolean begins_ready(json_object *barrier, gint64 element)
{
    json_object *init = member(barrier, "init");
    if (json_object_is_type(init, json_type_array))
        init = json_object_array_get_idx(init, (gsize)element);
    return init && strcmp(json_object_get_string(init), "ready") == 0;
}

static void meet(Agent *A, json_object *step, char kind, const char *ref)
{
    g_autofree char *name = g_strndup(ref, strcspn(ref, "[@ "));
    const char *open = strchr(ref, '['), *use = strchr(ref, '@');
    json_object *barrier = by_name(member(A->design, "barriers"), name);
    Meeting m = { .kind = kind };
    if (!barrier)
        return; /* a pipe, the group, the CTA */
    while (strcmp(A->p->barrier[m.barrier].name, name) != 0)
        m.barrier++;
    if (open) {
        g_autofree char *element = g_strndup(open + 1, strcspn(open + 1, "]"));
        m.element = value(A, element);
    }
    gboolean named = g_strcmp0(text_of(barrier, "kind"), "named") == 0;
    gint64 slots = value_or(A, barrier, "slots", 1), ready = begins_ready(barrier, m.element);
    const char *said = use ? use + 1 : text_of(step, "use");
    if (said && !named && slots > 0) {
        gint64 u = value(A, said);
        m.turn = floor_of(u, slots);
        m.slot = u - m.turn * slots;
    }
    if (!named && member(step, "slot")) {
        m.slot = value(A, text_of(step, "slot"));
        m.turn = said ? m.turn : 0;
    }
    if (kind == 'w') {
        gint64 phase = member(step, "phase") ? value(A, text_of(step, "phase")) : m.turn;
        m.parity = (phase + ready) - 2 * floor_of(phase + ready, 2);
    }
    if (!said || member(step, "phase"))
        m.turn = 0; /* nothing is said of it */
    g_array_append_val(A->meetings, m);
}

/* --- steps */

static void body(Agent *A, json_object *list);

static void round_of(Agent *A, json_object *step, const char *name, gint64 index, gint64 *total)
{
    guint scope = push(A, name, index);
    body(A, member(step, "do"));
    g_array_set_size(A->known, scope);
    ++*total;
}

static void loop(Agent *A, json_object *step)
{
    const char *name = text_of(step, "for"), *over = text_of(step, "over");
    gint64 from = value_or(A, step, "from", 0), by = value_or(A, step, "step", 1);
    gint64 *total = g_hash_table_lookup(A->total, name);
    if (!total) {
        total = g_new0(gint64, 1);
        g_hash_table_insert(A->total, g_strdup(name), total);
    }
    if (over && strcmp(over, "tiles") == 0) {
        gint64 stride = MAX(A->c.stride, 1);
        for (gint64 i = from; i < A->c.tiles && !A->lost && by > 0; i += by) {
            A->id = A->c.first + i * stride;
            round_of(A, step, name, i, total);
        }
        return;
    }
    A->lost = A->lost || over; /* a pipe */
    gint64 count = value_or(A, step, "count", 0);
    for (gint64 i = 0; i < count && !A->lost; i++)
        round_of(A, step, name, from + i * by, total);
}

static void advance(Agent *A, const char *counter, gint64 by)
{
    for (guint i = 0; i < A->known->len; i++) {
        Known *k = &g_array_index(A->known, Known, i);
        if (strcmp(k->name, counter) == 0) {
            k->value += by;
            return;
        }
    }
    A->lost = TRUE;
}

static void one_step(Agent *A, json_object *step)
{
    const char *word;
    if (json_object_get_boolean(member(step, "muted")) || value_or(A, step, "when", 1) == 0)
        return;
    if (member(step, "for"))
        loop(A, step);
    else if (member(step, "if"))
        body(A, member(step, value(A, text_of(step, "if")) != 0 ? "then" : "else"));
    else if ((word = text_of(step, "let")))
        push(A, word, value(A, text_of(step, "be")));
    else if ((word = text_of(step, "advance")))
        advance(A, word, value_or(A, step, "by", 1));
    else if ((word = text_of(step, "wait")))
        meet(A, step, 'w', word);
    else if ((word = text_of(step, "arrive")))
        meet(A, step, 'a', word);
    else if ((word = text_of(step, "sync")))
        meet(A, step, 's', word);
}

static void body(Agent *A, json_object *list)
{
    guint scope = A->known->len;
    for (gsize i = 0; list && i < json_object_array_length(list) && !A->lost; i++)
        one_step(A, json_object_array_get_idx(list, i));
    g_array_set_size(A->known, scope);
    A->lost = A->lost || A->meetings->len > MOST_MEETINGS;
}

static GArray *said_of(Agent *A, json_object *group)
{
    A->known = g_array_new(FALSE, FALSE, sizeof(Known));
    A->meetings = g_array_new(FALSE, FALSE, sizeof(Meeting));
    A->total = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    json_object *counters = member(group, "counters");
    for (gsize i = 0; counters && i < json_object_array_length(counters); i++) {
        json_object *c = json_object_array_get_idx(counters, i);
        push(A, text_of(c, "name"), value_or(A, c, "start", 0));
    }
    body(A, member(group, "body"));
    g_hash_table_destroy(A->total);
    g_array_free(A->known, TRUE);
    return A->meetings;
}

/* --- what the walker goes through */

static gint64 walked(WsWalker *w, const WsExpr *e, gboolean *lost)
{
    gint64 v = 0;
    if (e && !ws_walker_eval(w, e, &v, NULL))
        *lost = TRUE;
    return v;
}

static GArray *walked_of(const WsProgram *p, const WsLaunchValues *v, guint agent, guint rank,
                         const OracleOptions *options, json_object *barriers, gboolean *lost)
{
    GArray *meetings = g_array_new(FALSE, FALSE, sizeof(Meeting));
    WsTilesStrided tiles = oracle_tiles(options);
    OracleData data = { p, v, options };
    g_autoptr(WsWalker) w = ws_walker_new(p, v, agent, rank, ws_tiles_strided, &tiles);
    g_autoptr(GError) error = NULL;
    WsStep s;
    ws_walker_set_element(w, oracle_element, &data);
    while (meetings->len <= MOST_MEETINGS && ws_walker_next(w, &s, &error)) {
        const WsOp *op = s.op;
        char kind = op->kind == WS_OP_MBAR_WAIT                                     ? 'w'
                    : op->kind == WS_OP_MBAR_ARRIVE || op->kind == WS_OP_BAR_ARRIVE ? 'a'
                    : op->kind == WS_OP_BAR_SYNC                                    ? 's'
                                                                                    : 0;
        if (!kind || op->barrier < 0 || !by_name(barriers, p->barrier[op->barrier].name))
            continue;
        Meeting m = { .kind = kind, .barrier = (guint)op->barrier };
        m.element = walked(w, op->element, lost);
        m.slot = walked(w, op->slot, lost);
        m.turn = walked(w, op->turn, lost);
        if (kind == 'w')
            m.parity = walked(w, op->parity, lost);
        if (kind == 'w' && op->turn) /* the completion that it stands for */
            m.turn += p->barrier[op->barrier].ready[m.element] ? 1 : 0;
        g_array_append_val(meetings, m);
    }
    *lost = *lost || error || meetings->len > MOST_MEETINGS;
    return meetings;
}

/* --- the comparison */

/* Steps that are run early have their order from elsewhere: only what each barrier sees is held
 * against each other. */
static gint by_barrier(gconstpointer a, gconstpointer b)
{
    const Meeting *x = a, *y = b;
    gint64 d[] = { x->kind - y->kind,       (gint64)x->barrier - y->barrier,
                   x->element - y->element, x->turn - y->turn,
                   x->slot - y->slot,       x->parity - y->parity };
    for (guint i = 0; i < G_N_ELEMENTS(d); i++)
        if (d[i])
            return d[i] < 0 ? -1 : 1;
    return 0;
}

static char *words(const WsProgram *p, const GArray *list, guint at)
{
    if (at >= list->len)
        return g_strdup("the end");
    const Meeting *m = &g_array_index(list, Meeting, at);
    return g_strdup_printf("%s %s[%d] slot %d turn %d parity %d",
                           m->kind == 'w'   ? "wait"
                           : m->kind == 'a' ? "arrive"
                                            : "sync",
                           p->barrier[m->barrier].name, (int)m->element, (int)m->slot, (int)m->turn,
                           (int)m->parity);
}

static char *differ(const WsProgram *p, const GArray *said, const GArray *done)
{
    for (guint i = 0; i < MAX(said->len, done->len); i++) {
        if (i < said->len && i < done->len &&
            by_barrier(&g_array_index(said, Meeting, i), &g_array_index(done, Meeting, i)) == 0)
            continue;
        g_autofree char *x = words(p, said, i), *y = words(p, done, i);
        return g_strdup_printf("%u: the text means %s, the program has %s", i, x, y);
    }
    return NULL;
}

static char *one_agent(json_object *design, const WsProgram *p, const WsLaunchValues *v, Case c,
                       guint agent, guint rank, gboolean early, guint *compared)
{
    OracleOptions options = { .tiles = c.tiles, .element = c.element };
    options.element_step = c.element_step, options.first = c.first, options.stride = c.stride;
    Agent A = { .design = design, .p = p, .c = c, .agent = &p->agent[agent], .rank = rank };
    json_object *group = json_object_array_get_idx(member(design, "groups"), A.agent->group);
    g_autoptr(GArray) said = said_of(&A, group);
    gboolean lost = FALSE;
    g_autoptr(GArray) done =
        walked_of(p, v, agent, rank, &options, member(design, "barriers"), &lost);
    if (A.lost || lost)
        return NULL;
    ++*compared;
    if (early) {
        g_array_sort(said, by_barrier);
        g_array_sort(done, by_barrier);
    }
    g_autofree char *what = differ(p, said, done);
    return what ? g_strdup_printf("%s, N = %d, D = %d, %u tiles from %u by %u, elements %d + %d, "
                                  "meeting %s",
                                  A.agent->name, (int)c.n, (int)c.d, c.tiles, c.first,
                                  MAX(c.stride, 1), (int)c.element, (int)c.element_step, what)
                : NULL;
}

/* Orders of tiles, more than one axis and streams are not followed. */
static gboolean followed(json_object *design, const WsProgram *p)
{
    json_object *tiles = member(design, "tiles"), *axes = member(tiles, "axes");
    return axes && json_object_object_length(axes) == 1 && !member(tiles, "order") &&
           !member(tiles, "reverse") && p->n_agents > 0;
}

char *meaning_differs(const char *text, const WsProgram *p, guint *compared)
{
    static const Case cases[] = { { .n = 1, .tiles = 1 },
                                  { .n = 3, .d = 1, .tiles = 2, .element = 1 },
                                  { .n = 2, .d = 4, .tiles = 1, .element = -1 },
                                  { .n = 5, .d = 2, .tiles = 3, .element = 2, .element_step = -3 },
                                  { .n = 0, .d = 3, .tiles = 2, .element = -70 },
                                  { .n = 13, .d = 7, .tiles = 1, .element = 50 },
                                  { .n = 4, .tiles = 4, .first = 1, .stride = 3 } };
    json_object *design = json_tokener_parse(text);
    char *what = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(cases) && !what && followed(design, p); i++) {
        Case c = cases[i];
        if (p->tiles->launch == WS_LAUNCH_SINGLE)
            c.tiles = 1, c.first = 0, c.stride = 1;
        g_autoptr(WsLaunchValues) v = judge_values(p, c);
        for (guint a = 0; v && a < p->n_agents * p->cluster && !what; a++)
            what = one_agent(design, p, v, c, a % p->n_agents, a / p->n_agents,
                             strstr(text, "\"ahead\"") != NULL, compared);
    }
    json_object_put(design);
    return what;
}
