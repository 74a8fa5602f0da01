#include "codegen/rehearse/values.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

/* Bytes of values that are kept; what comes later is worked out each time. */
#define MOST_BYTES ((gsize)256 << 20)

struct WsReferenceValues {
    GHashTable *of; /* "key/tensor" -> GArray of double */
    gsize bytes;
};

static void values_free(gpointer data)
{
    g_array_unref(data);
}

WsReferenceValues *ws_reference_values_new(void)
{
    WsReferenceValues *v = g_new0(WsReferenceValues, 1);
    v->of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, values_free);
    return v;
}

void ws_reference_values_free(WsReferenceValues *v)
{
    if (!v)
        return;
    g_hash_table_unref(v->of);
    g_free(v);
}

static void add(GChecksum *sum, const void *data, gsize n)
{
    const guint64 length = n;
    g_checksum_update(sum, (const guchar *)&length, sizeof length);
    if (n)
        g_checksum_update(sum, data, (gssize)n);
}

char *ws_reference_values_key(WsReference *r, const WsProgram *p, const WsLaunchValues *launch,
                              const WsReferenceInput *input, const gsize *bytes)
{
    const char *text = ws_reference_text(r);
    guint n_size = 0, n_scalar = 0;
    if (!text)
        return NULL;
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    add(sum, text, strlen(text));
    for (guint i = 0; i < p->n_tensors; i++) {
        for (guint d = 0; d < p->tensor[i].rank; d++) {
            const gint64 at[] = { ws_launch_shape(launch, i, d), ws_launch_stride(launch, i, d) };
            add(sum, at, sizeof at);
        }
        if (p->tensor[i].access == WS_ACCESS_READ)
            add(sum, input->tensor[i], bytes[i]);
    }
    for (guint i = 0; i < p->n_vars; i++) {
        n_size += p->var[i].kind == WS_VAR_SIZE;
        n_scalar += p->var[i].kind == WS_VAR_SCALAR;
    }
    add(sum, input->size, n_size * sizeof *input->size);
    add(sum, input->scalar, n_scalar * sizeof *input->scalar);
    return g_strdup(g_checksum_get_string(sum));
}

const double *ws_reference_values_find(const WsReferenceValues *v, const char *key, guint tensor,
                                       gint64 n)
{
    g_autofree char *name = g_strdup_printf("%s/%u", key, tensor);
    const GArray *at = g_hash_table_lookup(v->of, name);
    return at && at->len == n ? (const double *)(gconstpointer)at->data : NULL;
}

gboolean ws_reference_values_take(const WsReferenceValues *v, gint64 n)
{
    return n <= (gint64)((MOST_BYTES - v->bytes) / sizeof(double));
}

void ws_reference_values_add(WsReferenceValues *v, const char *key, guint tensor, GArray *value)
{
    v->bytes += value->len * sizeof(double);
    g_hash_table_insert(v->of, g_strdup_printf("%s/%u", key, tensor), value);
}
