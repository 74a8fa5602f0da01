/* The steady round of an executor: its groups by their orders, each as many rounds ahead as its
 * stage lies before the last one, with acquire and commit around what fills a ring, a wait before
 * the first read of it in time, a release behind the last one, and an mma_wait where a product has
 * to be over. Prologue and epilogue are what `ahead` makes of that. */
#include "model/hint/hint_parts.h"

#include <string.h>

/* A product that no mma_wait has ended yet. */
typedef struct {
    const WsHintGroup *group;
    const char *acc, *a; /* a: value that it reads, or NULL */
    GPtrArray *rings;    /* WsHintGroup*: that filled its operands */
} Flying;

typedef struct {
    WsHint *h;
    guint executor;
    gboolean places;
    GPtrArray *list;                      /* WsNode* */
    GPtrArray *flying;                    /* Flying*, oldest first */
    GHashTable *waited, *read, *released; /* sets of WsHintGroup* that fill */
    guint made;                           /* mma_waits so far */
} Round;

WsNode *ws_hint_made(WsHint *h, WsJson *json, const char *id)
{
    WsReader r;
    ws_reader_init(&r, h->findings, FALSE);
    WsNode *node = ws_read_node(&r, json, WS_NODE_KIND_COUNT);
    ws_json_free(json);
    ws_reader_clear(&r);
    if (node && id) {
        WsValue *v = ws_node_slot(node, WS_F_id);
        *v = (WsValue){ .kind = WS_VALUE_TEXT, .text = g_strdup(id) };
    }
    h->refused |= !node;
    return node;
}

static void put(Round *r, WsJson *json, const WsHintGroup *at, const char *word, const char *what)
{
    g_autofree char *id = g_strdup_printf("%s#%s.%s", at->place, word, what);
    WsNode *node = ws_hint_made(r->h, json, r->places ? id : NULL);
    if (node)
        g_ptr_array_add(r->list, node);
}

static WsJson *total(const Round *r)
{
    return ws_json_format("%s.total", ws_node_name(r->h->loop));
}

static WsJson *ahead_of(const WsHintGroup *g)
{
    return g->ahead ? ws_json_int(g->ahead) : NULL;
}

static void on_pipe(Round *r, WsNodeKind kind, const WsHintGroup *pipe, const WsHintGroup *at)
{
    put(r,
        WS_MAKE(kind, { WS_F_keyword, ws_json_text(pipe->pipe) }, { WS_F_use, total(r) },
                { WS_F_ahead, ahead_of(at) }),
        at, ws_node_kind_keyword(kind), pipe->pipe);
}

/* --- who reads a ring ------------------------------------------------------------------------- */

typedef struct {
    const WsHint *h;
    const WsHintGroup *pipe; /* rings that this group fills */
    gboolean reads, writes;
} Ask;

static void ask(const WsHintTouch *t, gpointer data)
{
    Ask *q = data;
    if (t->value || g_hash_table_lookup(q->h->ring, t->name) != q->pipe)
        return;
    q->reads |= t->reads;
    q->writes |= t->writes;
}

static Ask asked(const WsHint *h, const WsHintGroup *g, const WsNode *step, const WsHintGroup *pipe)
{
    Ask q = { h, pipe, FALSE, FALSE };
    ws_hint_touches(h, g, step, ask, &q);
    return q;
}

static gboolean group_reads(const WsHint *h, const WsHintGroup *g, const WsHintGroup *pipe)
{
    for (guint i = 0; i < ws_node_n_children(g->node, WS_F_do); i++) {
        const WsNode *step = ws_node_child(g->node, WS_F_do, i);
        if (!ws_node_bool(step, WS_F_muted, FALSE) && asked(h, g, step, pipe).reads)
            return TRUE;
    }
    return FALSE;
}

/* The group of this executor that reads the pipe first, or last, in time. */
static const WsHintGroup *reader(const Round *r, const WsHintGroup *pipe, gboolean last)
{
    const WsHintGroup *found = NULL;
    for (guint i = 0; i < r->h->n; i++) {
        const WsHintGroup *g = r->h->in_order[i];
        if (g->executor != r->executor || !group_reads(r->h, g, pipe))
            continue;
        if (!found || (last ? g->stage >= found->stage : g->stage < found->stage))
            found = g;
    }
    return found;
}

/* --- products in flight ----------------------------------------------------------------------- */

static void flying_free(gpointer data)
{
    Flying *f = data;
    g_ptr_array_unref(f->rings);
    g_free(f);
}

/* What the last read of a round has left, as soon as no product reads it any more. */
static void release_what_is_done(Round *r)
{
    for (guint i = 0; i < r->h->n; i++) {
        WsHintGroup *pipe = r->h->in_order[i];
        gboolean busy =
            !g_hash_table_contains(r->read, pipe) || g_hash_table_contains(r->released, pipe);
        for (guint k = 0; k < r->flying->len && !busy; k++)
            busy = g_ptr_array_find(((Flying *)r->flying->pdata[k])->rings, pipe, NULL);
        if (busy)
            continue;
        g_hash_table_add(r->released, pipe);
        on_pipe(r, WS_STEP_RELEASE, pipe, reader(r, pipe, TRUE));
    }
}

/* Ends flying product `index`, and those before it that run in the same rounds as it does. */
static void end_product(Round *r, guint index)
{
    const WsHintGroup *g = ((Flying *)r->flying->pdata[index])->group;
    guint newer = r->flying->len - 1 - index;
    for (guint i = index; i < r->flying->len; i++)
        if (((Flying *)r->flying->pdata[i])->group->ahead != g->ahead)
            newer = 0; /* in the first or last rounds one of them is not there: no count holds */
    g_autofree char *number = g_strdup_printf("%u", r->made++);
    put(r,
        WS_MAKE(WS_STEP_MMA_WAIT, { WS_F_keyword, ws_json_int(newer) },
                { WS_F_ahead, ahead_of(g) }),
        g, "mma_wait", number);
    for (guint i = r->flying->len - newer; i-- > 0;)
        if (((Flying *)r->flying->pdata[i])->group->ahead == g->ahead)
            g_ptr_array_remove_index(r->flying, i);
    release_what_is_done(r);
}

typedef struct {
    const Flying *f;
    gboolean product, hit;
} Clash;

static void clash(const WsHintTouch *t, gpointer data)
{
    Clash *c = data;
    if (!t->value)
        return;
    if (!strcmp(t->name, c->f->acc))
        c->hit |= !c->product || !t->writes;
    if (c->f->a && !strcmp(t->name, c->f->a))
        c->hit |= !c->product || t->writes;
}

static void end_before(Round *r, const WsHintGroup *g, const WsNode *step)
{
    for (guint i = r->flying->len; i-- > 0;) {
        Clash c = { r->flying->pdata[i], step->kind == WS_STEP_MMA, FALSE };
        ws_hint_touches(r->h, g, step, clash, &c);
        if (!c.hit)
            continue;
        end_product(r, i);
        i = r->flying->len;
    }
}

static void starts(Round *r, const WsHintGroup *g, const WsNode *step)
{
    Flying *f = g_new0(Flying, 1);
    const WsRef *acc = ws_node_refv(step, WS_F_keyword), *a = ws_node_refv(step, WS_F_a);
    f->group = g;
    f->acc = acc ? acc->name : ws_node_text(step, WS_F_keyword);
    f->a = a && !ws_hint_has(r->h->root, WS_F_buffers, a->name) ? a->name : NULL;
    f->rings = g_ptr_array_new();
    for (guint i = 0; i < r->h->n; i++)
        if (asked(r->h, g, step, &r->h->group[i]).reads)
            g_ptr_array_add(f->rings, &r->h->group[i]);
    g_ptr_array_add(r->flying, f);
}

/* --- steps ------------------------------------------------------------------------------------ */

static gboolean touches_ring(const Round *r, const WsHintGroup *g, const WsNode *step)
{
    for (guint i = 0; i < r->h->n; i++) {
        const Ask q = asked(r->h, g, step, &r->h->group[i]);
        if (q.reads || q.writes)
            return TRUE;
    }
    return FALSE;
}

static void slot_text(WsNode *node, WsFieldId field, const char *text)
{
    WsValue *v = ws_node_slot(node, field);
    ws_value_clear(v);
    *v = (WsValue){ .kind = WS_VALUE_TEXT, .text = g_strdup(text) };
}

static void slot_expr(WsNode *node, WsFieldId field, const char *text)
{
    WsValue *v = ws_node_slot(node, field);
    ws_value_clear(v);
    *v = (WsValue){ .kind = WS_VALUE_EXPR, .expr = ws_expr_parse(text, NULL) };
}

static void copy_step(Round *r, const WsHintGroup *g, const WsNode *step, guint index)
{
    WsNode *node = ws_node_copy(step);
    g_autofree char *place = g_strdup_printf("%s/do/%u", g->place, index);
    if (r->places && !ws_node_has(step, WS_F_id))
        slot_text(node, WS_F_id, place);
    if (g->ahead) {
        g_autofree char *ahead = g_strdup_printf("%" G_GINT64_FORMAT, g->ahead);
        slot_expr(node, WS_F_ahead, ahead);
    }
    if (touches_ring(r, g, step)) {
        g_autofree char *use = g_strdup_printf("%s.total", ws_node_name(r->h->loop));
        slot_expr(node, WS_F_use, use);
    }
    g_ptr_array_add(r->list, node);
}

static void waits_before(Round *r, const WsHintGroup *g, const WsNode *step)
{
    for (guint i = 0; i < r->h->n; i++) {
        WsHintGroup *pipe = &r->h->group[i];
        if (!asked(r->h, g, step, pipe).reads || g_hash_table_contains(r->waited, pipe) ||
            reader(r, pipe, FALSE) != g)
            continue;
        g_hash_table_add(r->waited, pipe);
        on_pipe(r, WS_STEP_WAIT, pipe, g);
    }
}

/* The last step of a group that reads (or fills) the rings of `pipe`; -1: none does. */
static gint last_touch(const WsHint *h, const WsHintGroup *g, const WsHintGroup *pipe,
                       gboolean fill)
{
    gint last = -1;
    for (guint i = 0; i < ws_node_n_children(g->node, WS_F_do); i++) {
        const WsNode *step = ws_node_child(g->node, WS_F_do, i);
        const Ask q = asked(h, g, step, pipe);
        if (!ws_node_bool(step, WS_F_muted, FALSE) && (fill ? q.writes : q.reads))
            last = (gint)i;
    }
    return last;
}

static void one_group(Round *r, WsHintGroup *g)
{
    const gint filled = g->pipe ? last_touch(r->h, g, g, TRUE) : -1;
    gboolean open = FALSE;
    for (guint i = 0; i < ws_node_n_children(g->node, WS_F_do); i++) {
        const WsNode *step = ws_node_child(g->node, WS_F_do, i);
        if (ws_node_bool(step, WS_F_muted, FALSE))
            continue;
        end_before(r, g, step);
        if (g->pipe && !open && asked(r->h, g, step, g).writes) {
            on_pipe(r, WS_STEP_ACQUIRE, g, g);
            open = TRUE;
        }
        waits_before(r, g, step);
        copy_step(r, g, step, i);
        if (step->kind == WS_STEP_MMA)
            starts(r, g, step);
        if ((gint)i == filled)
            on_pipe(r, WS_STEP_COMMIT, g, g);
        for (guint k = 0; k < r->h->n; k++) {
            WsHintGroup *pipe = &r->h->group[k];
            if (reader(r, pipe, TRUE) == g && last_touch(r->h, g, pipe, FALSE) == (gint)i)
                g_hash_table_add(r->read, pipe);
        }
        release_what_is_done(r);
    }
}

GPtrArray *ws_hint_round(WsHint *h, guint executor, gboolean places)
{
    Round r = { h,
                executor,
                places,
                .list = g_ptr_array_new(),
                .flying = g_ptr_array_new_with_free_func(flying_free),
                .waited = g_hash_table_new(NULL, NULL),
                .read = g_hash_table_new(NULL, NULL),
                .released = g_hash_table_new(NULL, NULL) };
    for (guint i = 0; i < h->n; i++)
        if (h->in_order[i]->executor == executor)
            one_group(&r, h->in_order[i]);
    while (
        r.flying->len) /* what is in flight at the end of a round nobody counts in the next one */
        end_product(&r, r.flying->len - 1);
    g_ptr_array_unref(r.flying);
    g_hash_table_unref(r.waited);
    g_hash_table_unref(r.read);
    g_hash_table_unref(r.released);
    return r.list;
}
