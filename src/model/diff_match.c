#include "model/diff_match.h"

#include "model/internal.h"

#include <string.h>

/* Longest product of list lengths, without their common ends, that is aligned. */
#define MAX_ALIGNED (1u << 20)

void ws_diff_match_clear(WsDiffMatch *m)
{
    g_free(m->to_b);
    g_free(m->to_a);
    g_free(m->anchor);
    g_free(m->same);
}

typedef struct {
    const WsNode *node;
    char *text;     /* canonical */
    char *name;     /* name or id, or NULL */
    char *nameless; /* of an object: its text without the name; of a step: kind and operand */
} Child;

static void clear_child(gpointer data)
{
    Child *c = data;
    g_free(c->text);
    g_free(c->name);
    g_free(c->nameless);
}

static char *nameless_text(const WsNode *node)
{
    const gboolean step = ws_node_kind_is_step(node->kind);
    if (step) {
        const WsFieldRow *row = ws_node_row(node->kind, WS_F_keyword);
        g_autofree char *operand =
            row != NULL ? ws_value_print(row, ws_node_get(node, WS_F_keyword)) : NULL;
        return g_strdup_printf("%d %s", node->kind, operand != NULL ? operand : "");
    }
    WsNode *copy = ws_node_copy(node);
    WsValue *name = ws_node_slot(copy, WS_F_name);
    if (name != NULL)
        ws_value_clear(name);
    char *text = ws_node_print(copy, 0);
    ws_node_unref(copy);
    return text;
}

static GArray *children(const WsNode *node, WsFieldId field)
{
    GArray *list = g_array_new(FALSE, TRUE, sizeof(Child));
    g_array_set_clear_func(list, clear_child);
    for (guint i = 0; i < ws_node_n_children(node, field); i++) {
        const WsNode *child = ws_node_child(node, field, i);
        const gboolean step = ws_node_kind_is_step(child->kind);
        const Child c = { child, ws_node_print(child, 0),
                          g_strdup(ws_node_text(child, step ? WS_F_id : WS_F_name)),
                          nameless_text(child) };
        g_array_append_val(list, c);
    }
    return list;
}

/* How well two children fit: 0 not at all. */
static guint likeness(const Child *a, const Child *b)
{
    if (a->node->kind != b->node->kind)
        return 0;
    if (!strcmp(a->text, b->text))
        return 4;
    if (a->name != NULL && b->name != NULL)
        return !strcmp(a->name, b->name) ? 3 : !strcmp(a->nameless, b->nameless);
    return !strcmp(a->nameless, b->nameless) ? 2 : 0;
}

static const Child *child(const GArray *list, guint i)
{
    return &g_array_index(list, Child, i);
}

static void pair_up(WsDiffMatch *m, guint a, guint b, gboolean anchor)
{
    m->to_b[a] = (int)b;
    m->to_a[b] = (int)a;
    m->anchor[b] = anchor;
}

/* Of both lists from `from`: `na` and `nb` children. */
typedef struct {
    const GArray *a, *b;
    guint from, na, nb;
} Part;

/* Pairs the common ends; what is left. */
static Part without_ends(WsDiffMatch *m, const GArray *a, const GArray *b)
{
    Part p = { a, b, 0, m->na, m->nb };
    for (; p.na > 0 && p.nb > 0 && likeness(child(a, p.from), child(b, p.from)) == 4; p.from++) {
        pair_up(m, p.from, p.from, TRUE);
        p.na--;
        p.nb--;
    }
    for (; p.na > 0 && p.nb > 0; p.na--, p.nb--) {
        const guint i = p.from + p.na - 1, j = p.from + p.nb - 1;
        if (likeness(child(a, i), child(b, j)) != 4)
            break;
        pair_up(m, i, j, TRUE);
    }
    return p;
}

/* The heaviest common order of the two lists (longest common subsequence with weights). */
static void align(WsDiffMatch *m, const Part *p)
{
    const gsize width = p->nb + 1;
    g_autofree guint *best = g_new0(guint, (p->na + 1) * width);
    for (guint i = p->na; i-- > 0;)
        for (guint j = p->nb; j-- > 0;) {
            const guint like = likeness(child(p->a, p->from + i), child(p->b, p->from + j));
            guint value = MAX(best[(i + 1) * width + j], best[i * width + j + 1]);
            if (like > 0)
                value = MAX(value, best[(i + 1) * width + j + 1] + like);
            best[i * width + j] = value;
        }
    for (guint i = 0, j = 0; i < p->na && j < p->nb;) {
        const guint like = likeness(child(p->a, p->from + i), child(p->b, p->from + j));
        if (like > 0 && best[i * width + j] == best[(i + 1) * width + j + 1] + like) {
            pair_up(m, p->from + i++, p->from + j++, TRUE);
        } else if (best[i * width + j] == best[(i + 1) * width + j]) {
            i++;
        } else {
            j++;
        }
    }
}

/* What two children have in common that are alike by that much (4: text, 3: name); NULL: nothing.
 */
static char *key_of(const Child *c, guint like)
{
    const char *text = like == 4 ? c->text : c->name;
    return text ? g_strdup_printf("%d %s", c->node->kind, text) : NULL;
}

/* What stands in both lists but not in the common order has moved: the first that is left of its
 * kind. */
static void find_moved(WsDiffMatch *m, const Part *p, guint like)
{
    g_autoptr(GHashTable) left =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_queue_free);
    for (guint i = p->from; i < p->from + p->na; i++) {
        g_autofree char *key = m->to_b[i] < 0 ? key_of(child(p->a, i), like) : NULL;
        GQueue *queue = key ? g_hash_table_lookup(left, key) : NULL;
        if (key && !queue)
            g_hash_table_insert(left, g_steal_pointer(&key), queue = g_queue_new());
        if (queue)
            g_queue_push_tail(queue, GUINT_TO_POINTER(i));
    }
    for (guint j = p->from; j < p->from + p->nb; j++) {
        g_autofree char *key = m->to_a[j] < 0 ? key_of(child(p->b, j), like) : NULL;
        GQueue *queue = key ? g_hash_table_lookup(left, key) : NULL;
        if (queue && !g_queue_is_empty(queue))
            pair_up(m, GPOINTER_TO_UINT(g_queue_pop_head(queue)), j, FALSE);
    }
}

/* Of pairs that were not aligned the most that stand in one order need not move (longest increasing
 * subsequence, by the least end of each length). */
static void find_anchors(WsDiffMatch *m, const Part *p)
{
    g_autofree guint *end = g_new(guint, p->nb + 1); /* index in b, by length */
    g_autofree int *before = g_new(int, m->nb + 1);  /* of each of b: the one before it */
    guint n = 0;
    for (guint j = p->from; j < p->from + p->nb; j++) {
        if (m->to_a[j] < 0)
            continue;
        guint low = 0, high = n;
        while (low < high) {
            const guint middle = (low + high) / 2;
            if (m->to_a[end[middle]] < m->to_a[j])
                low = middle + 1;
            else
                high = middle;
        }
        before[j] = low > 0 ? (int)end[low - 1] : -1;
        end[low] = j;
        n = MAX(n, low + 1);
    }
    for (int j = n > 0 ? (int)end[n - 1] : -1; j >= 0; j = before[j])
        m->anchor[j] = TRUE;
}

WsDiffMatch ws_diff_match(const WsNode *a, const WsNode *b, WsFieldId field)
{
    g_autoptr(GArray) list_a = children(a, field);
    g_autoptr(GArray) list_b = children(b, field);
    WsDiffMatch m = { list_a->len,
                      list_b->len,
                      g_new(int, list_a->len),
                      g_new(int, list_b->len),
                      g_new0(gboolean, list_b->len),
                      g_new0(gboolean, list_b->len) };
    for (guint i = 0; i < m.na; i++)
        m.to_b[i] = -1;
    for (guint j = 0; j < m.nb; j++)
        m.to_a[j] = -1;
    const Part part = without_ends(&m, list_a, list_b);
    const gboolean long_lists = (guint64)part.na * part.nb > MAX_ALIGNED;
    if (!long_lists)
        align(&m, &part);
    for (guint like = 4; like >= 3; like--)
        find_moved(&m, &part, like);
    if (long_lists)
        find_anchors(&m, &part);
    for (guint j = 0; j < m.nb; j++)
        m.same[j] =
            m.to_a[j] >= 0 && likeness(child(list_a, (guint)m.to_a[j]), child(list_b, j)) == 4;
    return m;
}
