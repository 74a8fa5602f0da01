#include "codegen/python/dsa/ring.h"

#include "base/phrase.h"
#include "codegen/python/dsa/scope.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"

#include <string.h>

/* The use at which the round has written a ring. */
typedef struct {
    char *text;        /* NULL: a loop behind us touched it at uses of its own rounds */
    const WsExpr *use; /* NULL: 0 */
} Written;

static void written_free(gpointer w)
{
    g_free(((Written *)w)->text);
    g_free(w);
}

static Written *written_new(const char *text, const WsExpr *use)
{
    Written *w = g_new(Written, 1);
    *w = (Written){ g_strdup(text), use };
    return w;
}

GHashTable *ws_dsa_ring_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, NULL, written_free);
}

char *ws_dsa_ring_touch(GHashTable *ring, const WsBuffer *b, const WsAccess *a, const char **remedy)
{
    g_autofree char *use = a->use ? ws_expr_print(a->use) : g_strdup("0");
    const Written *was = g_hash_table_lookup(ring, b->name);
    *remedy = NULL;
    if (was && !was->text) {
        *remedy = "a ring of its own for each of the two loops";
        return ws_phrase("%s is touched at use %s after a loop whose rounds touch it at other "
                         "uses: the text has one tile of it",
                         b->name, use);
    }
    if (was && strcmp(was->text, use) != 0)
        return ws_phrase("%s is touched at uses %s and %s: the text has one tile of it", b->name,
                         was->text, use);
    if (!was && a->mode & WS_MODE_READ) {
        *remedy = "one loop that writes and reads it";
        return ws_phrase("%s is read at use %s, which the same round has not written: the text has "
                         "one tile of it",
                         b->name, use);
    }
    if (!was)
        g_hash_table_replace(ring, b->name, written_new(use, a->use));
    return NULL;
}

GHashTable *ws_dsa_ring_inside(GHashTable *ring)
{
    GHashTable *inside = ws_dsa_ring_new();
    GHashTableIter i;
    gpointer name, value;
    g_hash_table_iter_init(&i, ring);
    while (g_hash_table_iter_next(&i, &name, &value)) {
        const Written *w = value;
        if (w->text && !strchr(w->text, '.'))
            g_hash_table_insert(inside, name, written_new(w->text, w->use));
    }
    return inside;
}

void ws_dsa_ring_behind(GHashTable *ring, GHashTable *inside, const WsTree *loop)
{
    GHashTableIter i;
    gpointer name, value;
    g_hash_table_iter_init(&i, ring);
    while (g_hash_table_iter_next(&i, &name, &value)) {
        const Written *w = value;
        if (w->text && strchr(w->text, '.')) /* total counts went on */
            g_hash_table_iter_replace(&i, written_new(NULL, NULL));
    }
    g_hash_table_iter_init(&i, inside);
    while (g_hash_table_iter_next(&i, &name, &value)) {
        const Written *w = value;
        const gboolean same = w->text && !(w->use && ws_dsa_varies(w->use, loop));
        if (!g_hash_table_contains(ring, name))
            g_hash_table_insert(ring, name, written_new(same ? w->text : NULL, w->use));
    }
}
