/* Which steps of two designs are the same to a reader. */
#include "trace/kin.h"

#include "program/op.h"
#include "trace/op_kind.h"

#include <string.h>

/* --- agents ------------------------------------------------------------------------------------
 */

typedef enum { ROLE_LOADS = 1, ROLE_MULTIPLIES = 2, ROLE_STORES = 4 } Role;

static const char *agent_name(const WsTrace *t, guint agent)
{
    return agent < t->agent_name->len ? t->agent_name->pdata[agent] : "";
}

/* "mma" of "mma.1". */
static gboolean same_group(const char *a, const char *b)
{
    const char *x = strrchr(a, '.'), *y = strrchr(b, '.');
    const gsize n = x ? (gsize)(x - a) : strlen(a), m = y ? (gsize)(y - b) : strlen(b);
    return n == m && !strncmp(a, b, n);
}

static guint *roles_of(const WsTrace *t, const WsTraceStats *stats)
{
    guint *role = g_new0(guint, MAX(t->agent_name->len, 1));
    for (guint i = 0; i < stats->step->len; i++) {
        const WsTraceStepStat *s = &g_array_index(stats->step, WsTraceStepStat, i);
        const WsOpKind kind = ws_trace_op_kind(t, s->op);
        if (s->agent >= t->agent_name->len)
            continue;
        if (ws_op_is_product(kind))
            role[s->agent] |= ROLE_MULTIPLIES;
        else if (ws_op_is_bulk(kind))
            role[s->agent] |= ws_op_loads(kind) ? ROLE_LOADS : ROLE_STORES;
    }
    return role;
}

/* By agent of b: that of a, or G_MAXUINT. */
static guint *match_agents(const WsTrace *a, const WsTraceStats *sa, const WsTrace *b,
                           const WsTraceStats *sb)
{
    const guint n = a->agent_name->len, m = b->agent_name->len;
    g_autofree guint *role_a = roles_of(a, sa), *role_b = roles_of(b, sb);
    g_autofree gboolean *taken = g_new0(gboolean, MAX(n, 1));
    guint *partner = g_new(guint, MAX(m, 1));
    memset(partner, 0xff, sizeof(guint) * MAX(m, 1));
    for (guint pass = 0; pass < 3; pass++)
        for (guint j = 0; j < m; j++)
            for (guint i = 0; i < n && partner[j] == G_MAXUINT; i++) {
                const char *x = agent_name(a, i), *y = agent_name(b, j);
                const gboolean fits = pass == 0   ? !strcmp(x, y)
                                      : pass == 1 ? same_group(x, y)
                                                  : role_a[i] && role_a[i] == role_b[j];
                if (taken[i] || !fits)
                    continue;
                taken[i] = TRUE;
                partner[j] = i;
            }
    return partner;
}

/* --- steps -------------------------------------------------------------------------------------
 */

/* Free with g_free. */
static char *key_of(const WsTrace *t, guint agent, guint op, GHashTable *count)
{
    g_autofree char *key = g_strdup_printf("%u\t%d\t%s", agent, (int)ws_trace_op_kind(t, op),
                                           ws_trace_op_label(t, op));
    const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(count, key));
    g_hash_table_insert(count, g_strdup(key), GUINT_TO_POINTER(n + 1));
    return g_strdup_printf("%s\t%u", key, n);
}

static gint by_place(gconstpointer pa, gconstpointer pb)
{
    const WsTraceStepStat *a = *(const WsTraceStepStat *const *)pa,
                          *b = *(const WsTraceStepStat *const *)pb;
    return a->agent != b->agent ? (a->agent < b->agent ? -1 : 1)
                                : (a->op < b->op ? -1 : a->op > b->op);
}

/* Steps in the order of the design, so that "the n-th" means the same in both. */
static GPtrArray *in_order(const WsTraceStats *stats)
{
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < stats->step->len; i++)
        g_ptr_array_add(list, &g_array_index(stats->step, WsTraceStepStat, i));
    g_ptr_array_sort(list, by_place);
    return list;
}

GArray *ws_trace_kin_rows(const WsTrace *a, const WsTraceStats *sa, const WsTrace *b,
                          const WsTraceStats *sb)
{
    GArray *rows = g_array_new(FALSE, TRUE, sizeof(WsTraceKinRow));
    g_autoptr(GHashTable) row_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree guint *partner = match_agents(a, sa, b, sb);
    for (guint k = 0; k < 2; k++) {
        const WsTrace *t = k ? b : a;
        g_autoptr(GPtrArray) list = in_order(k ? sb : sa);
        g_autoptr(GHashTable) count = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < list->len; i++) {
            const WsTraceStepStat *s = list->pdata[i];
            const gboolean known = s->agent < t->agent_name->len;
            const guint agent = !k ? s->agent : known ? partner[s->agent] : G_MAXUINT;
            char *key = key_of(t, agent, s->op, count);
            gpointer at;
            if (k && agent != G_MAXUINT && g_hash_table_lookup_extended(row_of, key, NULL, &at)) {
                g_array_index(rows, WsTraceKinRow, GPOINTER_TO_UINT(at)).s[1] = s;
                g_free(key);
                continue;
            }
            WsTraceKinRow row = { { NULL, NULL } };
            row.s[k] = s;
            if (k)
                g_free(key);
            else
                g_hash_table_insert(row_of, key, GUINT_TO_POINTER(rows->len));
            g_array_append_val(rows, row);
        }
    }
    return rows;
}

/* --- kinship -----------------------------------------------------------------------------------
 */

/* Waits and arrivals are called alike everywhere; what is moved and computed tells. */
static gboolean tells(WsOpKind kind)
{
    return ws_op_is_product(kind) || ws_op_is_bulk(kind) ||
           ws_op_moves(kind, WS_DATA_AT_REGISTERS, WS_DATA_AT_REGISTERS);
}

/* Step with its kind and text -> how many; operations of one step count once. */
static GHashTable *texts_of(const WsTrace *t, guint *n)
{
    GHashTable *texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) steps = g_hash_table_new(g_str_hash, g_str_equal);
    *n = 0;
    for (guint op = 0; op < t->op_id->len; op++) {
        const char *label = ws_trace_op_label(t, op), *step = t->op_id->pdata[op];
        if (!tells(ws_trace_op_kind(t, op)) || !label || !*label || !step ||
            !g_hash_table_add(steps, (gpointer)step))
            continue;
        char *key = g_strdup_printf("%d\t%s", (int)ws_trace_op_kind(t, op), label);
        const guint had = GPOINTER_TO_UINT(g_hash_table_lookup(texts, key));
        g_hash_table_insert(texts, key, GUINT_TO_POINTER(had + 1));
        (*n)++;
    }
    return texts;
}

double ws_trace_kinship(const WsTrace *a, const WsTrace *b)
{
    guint n, m, common = 0;
    g_autoptr(GHashTable) x = texts_of(a, &n), y = texts_of(b, &m);
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, x);
    while (g_hash_table_iter_next(&iter, &key, &value))
        common += MIN(GPOINTER_TO_UINT(value), GPOINTER_TO_UINT(g_hash_table_lookup(y, key)));
    return n && m ? (double)common / (double)MIN(n, m) : 0;
}
