#include "import/ptx/walk.h"

#include <string.h>

/* The law of reading: which instructions there are, and that every one with an effect was met by a
 * thread that was followed. */

typedef enum { KIND_VALUE, KIND_NONE, KIND_READ } Kind;

static const struct {
    const char *word;
    Kind kind;
    const char *modifiers;
} law[] = {
#define WS_PTX_OP(word, kind, modifiers, reason) { word, KIND_##kind, modifiers },
#include "import/ptx/law.def"
#undef WS_PTX_OP
};

static gboolean listed(const char *list, const char *word, gsize n)
{
    for (const char *at = list; *at; at += *at == ' ') {
        const gsize length = strcspn(at, " ");
        if (length == n && !strncmp(at, word, n))
            return TRUE;
        at += length;
    }
    return FALSE;
}

/* The shape of a product: m64n128k16. */
static gboolean is_shape(const char *word, gsize n)
{
    return n > 6 && n == strspn(word, "mnk0123456789");
}

static gboolean good_modifiers(const char *list, const char *at)
{
    if (!list)
        return TRUE;
    const gboolean denies = *list == '!';
    for (; *at == '.';) {
        const char *word = at + 1;
        const gsize n = strcspn(word, ".");
        gboolean found = listed(list + denies, word, n);
        if (!denies && !found && is_shape(word, n))
            found = listed(list, "#", 1);
        if (found == denies)
            return FALSE;
        at = word + n;
    }
    return TRUE;
}

/* Those that stand without a dot: any other needs a type. */
#define BARE "bra call ret exit trap brkpt pmevent"

PtxLaw ptx_law(const char *op)
{
    const gsize n = strcspn(op, ".");
    if (!op[n] && !listed(BARE, op, n))
        return PTX_LAW_UNKNOWN;
    for (guint k = 0; k < G_N_ELEMENTS(law); k++) {
        if (strlen(law[k].word) != n || strncmp(law[k].word, op, n))
            continue;
        if (!good_modifiers(law[k].modifiers, op + n))
            return PTX_LAW_UNKNOWN;
        return law[k].kind == KIND_VALUE  ? PTX_LAW_VALUE
               : law[k].kind == KIND_NONE ? PTX_LAW_NONE
                                          : PTX_LAW_READ;
    }
    return PTX_LAW_UNKNOWN;
}

gboolean ptx_in_shared(const char *op)
{
    return strstr(op, ".shared") != NULL;
}

gboolean ptx_matters(const char *op)
{
    static const char *const words[] = { "bar.sync", "bar.arrive", "barrier",
                                         "cp.async", "cp.reduce",  "mbarrier",
                                         "stmatrix", "ldmatrix",   "wgmma" };
    if (ptx_law(op) == PTX_LAW_UNKNOWN)
        return TRUE;
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        if (g_str_has_prefix(op, words[k]))
            return !strstr(op, "prefetch");
    return g_str_has_prefix(op, "fence.proxy.async") ||
           (ptx_in_shared(op) && strncmp(op, "cvta", 4) && strncmp(op, "mapa", 4) &&
            strncmp(op, "fence", 5));
}

/* What no thread that was followed came to may be what another one does. */
void ptx_law_covered(PtxWalk *w)
{
    for (guint k = 0; k < w->ptx->inst->len; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        const guint block = g_array_index(w->ptx->block_of, guint, k);
        if (!g_array_index(w->ptx->blocks, WsPtxBlock, block).reached || !i->matters ||
            g_hash_table_contains(w->met, GUINT_TO_POINTER(k)) ||
            g_hash_table_contains(w->nobody, GUINT_TO_POINTER(block)))
            continue;
        ptx_unread(w, i, "an instruction that no thread comes to which was followed");
        w->lost = TRUE;
        return;
    }
}
