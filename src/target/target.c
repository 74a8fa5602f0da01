#include "target/target.h"

#include <string.h>

static const WsTarget *const targets[] = {
#define WS_TARGET(name) &ws_target_##name,
#include "target/target.def"
#undef WS_TARGET
};

enum {
    NAMES = 0
#define WS_TARGET(name) +sizeof #name
#include "target/target.def"
#undef WS_TARGET
};
G_STATIC_ASSERT(sizeof WS_TARGET_NAMES == NAMES); /* a name that one of them lacks */

const char *ws_lens_name(WsLens lens)
{
    static const char *const name[WS_LENS_COUNT] = {
        [WS_LENS_ELABORATE] = "elaborate",
        [WS_LENS_CHECK] = "check",
        [WS_LENS_SIMULATE] = "simulate",
        [WS_LENS_GENERATE] = "generate",
        [WS_LENS_REHEARSE] = "rehearse",
        [WS_LENS_CUDA] = "cuda",
        [WS_LENS_GLUON] = "gluon",
        [WS_LENS_TLE] = "tle",
        [WS_LENS_TLX] = "tlx",
        [WS_LENS_BUNDLE] = "bundle",
    };
    return name[lens];
}

const WsTarget *ws_target_at(guint i)
{
    return i < G_N_ELEMENTS(targets) ? targets[i] : NULL;
}

const char *ws_target_own_word(const WsTarget *t, const char *text)
{
    for (const WsTargetWord *w = t ? t->word : NULL; w && w->text; w++)
        if (!strcmp(w->text, text))
            return w->own;
    return text;
}

guint64 ws_target_shared(const WsTarget *t, guint per_sm)
{
    if (per_sm <= 1 || t->sm.shared / per_sm < t->sm.reserved)
        return t->shared.bytes;
    return MIN(t->shared.bytes, t->sm.shared / per_sm - t->sm.reserved);
}

const WsTarget *ws_target_find(const char *name)
{
    for (guint i = 0; name && i < G_N_ELEMENTS(targets); i++)
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    return NULL;
}

gboolean ws_target_word(const char *words, const char *word)
{
    const gsize n = strlen(word);
    for (const char *at = words; at && n > 0; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, word, n) == 0 && (at[n] == ' ' || at[n] == '\0'))
            return TRUE;
    }
    return FALSE;
}

gboolean ws_target_has_step(const WsTarget *t, const char *keyword)
{
    return ws_target_word(t->steps, keyword);
}

gboolean ws_target_has_cluster(const WsTarget *t, guint ctas)
{
    for (guint i = 0; i < G_N_ELEMENTS(t->sync.cluster) && t->sync.cluster[i]; i++)
        if (t->sync.cluster[i] == ctas)
            return TRUE;
    return FALSE;
}

gboolean ws_target_has_product(const WsTarget *t, const char *a, const char *b,
                               const char *accumulator)
{
    for (guint i = 0; i < t->matrix.n_products; i++) {
        const WsTargetProduct *p = &t->matrix.product[i];
        if (ws_target_word(p->operands, a) && ws_target_word(p->operands, b) &&
            (p->mixed || strcmp(a, b) == 0) && ws_target_word(p->accumulators, accumulator))
            return TRUE;
    }
    return FALSE;
}

guint ws_target_product_k(const WsTarget *t, const char *a, guint bytes, guint rows)
{
    guint k = bytes ? t->matrix.k_bytes / bytes : 0;
    for (guint i = 0; i < t->matrix.n_products; i++)
        if (t->matrix.product[i].k && ws_target_word(t->matrix.product[i].operands, a))
            k = t->matrix.product[i].k;
    return MAX(k * t->matrix.m / MAX(rows, 1), 1);
}

char *ws_target_swizzles(const WsTarget *t)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(t->shared.swizzle) && t->shared.swizzle[i]; i++)
        g_string_append_printf(s, "%s%u", i ? ", " : "", t->shared.swizzle[i]);
    return g_string_free(s, FALSE);
}

char *ws_target_products(const WsTarget *t)
{
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < t->matrix.n_products; i++)
        g_string_append_printf(s, "%s%s -> %s", i ? "; " : "", t->matrix.product[i].operands,
                               t->matrix.product[i].accumulators);
    return g_string_free(s, FALSE);
}

const WsTargetQueue *ws_target_waited(const WsTarget *t, const char *keyword)
{
    for (guint i = 0; i < t->n_queues; i++)
        if (t->queue[i].wait && strcmp(t->queue[i].wait, keyword) == 0)
            return &t->queue[i];
    return NULL;
}

char *ws_target_refusal(const char *name, WsLens lens)
{
    const WsTarget *t = ws_target_find(name);
    if (!t)
        return g_strdup_printf("target %s: not supported by %s (no such target)", name ? name : "?",
                               ws_lens_name(lens));
    if (!t->lacks[lens])
        return NULL;
    return g_strdup_printf("target %s: not supported by %s (%s)", t->name, ws_lens_name(lens),
                           t->lacks[lens]);
}
