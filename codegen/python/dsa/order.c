#include "codegen/python/dsa/order.h"

#include "program/parts/operation.h"
#include "program/parts/tree.h"

#include <string.h>

const char *ws_dsa_step(const WsTree *t)
{
    return t->step ? t->step : t->op && t->op->step ? t->op->step : "";
}

/* The step's place in the stream, by the numbers of its path. */
static int by_path(const char *a, const char *b)
{
    while (*a && *b) {
        if (g_ascii_isdigit(*a) && g_ascii_isdigit(*b)) {
            char *after, *beyond;
            const guint64 x = g_ascii_strtoull(a, &after, 10), y = g_ascii_strtoull(b, &beyond, 10);
            if (x != y)
                return x < y ? -1 : 1;
            a = after, b = beyond;
        } else if (*a != *b) {
            return *a < *b ? -1 : 1;
        } else {
            a++, b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

gboolean ws_dsa_works(const WsTree *t)
{
    if (t->op)
        return t->op->n_access > 0;
    for (guint i = 0; i < t->n_kids; i++)
        if (t->kid[i] && ws_dsa_works(t->kid[i]))
            return TRUE;
    return FALSE;
}

int ws_dsa_in_order(gconstpointer a, gconstpointer b)
{
    return by_path(ws_dsa_step(*(WsTree *const *)a), ws_dsa_step(*(WsTree *const *)b));
}

void ws_dsa_collect(GPtrArray *into, const WsTree *seq)
{
    for (guint i = 0; seq && i < seq->n_kids; i++) {
        if (!seq->kid[i])
            continue;
        if (seq->kid[i]->kind == WS_TREE_SEQ)
            ws_dsa_collect(into, seq->kid[i]);
        else
            g_ptr_array_add(into, seq->kid[i]);
    }
}

GPtrArray *ws_dsa_bodies(GPtrArray *same, guint side)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; i < same->len; i++) {
        const WsTree *t = same->pdata[i];
        if (side < t->n_kids && t->kid[side])
            g_ptr_array_add(all, t->kid[side]);
    }
    return all;
}
