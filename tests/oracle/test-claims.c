/* Every refuted design of tests/designs names a launch that there is, and there something goes
 * wrong in the lanes: whatever sizes, grid, CTA and elements the finding says. */
#include "claim.h"
#include "refuted.h"

/* Hangs where warps of one agent fall into different generations of a named barrier; the lanes here
 * take the warps of an agent in step. */
static const char *const by_warps[] = { "B71b-generations-mix.wstave" };

enum { LEAST = 100 };

/* What stands in the text is wrong in every launch, and names none. */
static gboolean names_launch(const Refuted *r)
{
    for (guint i = 0; i < r->findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(r->findings->list, i);
        if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass == WS_CLASS_P &&
            f->fact[WS_FACT_TILES] != WS_FACT_NONE)
            return TRUE;
    }
    return FALSE;
}

static void claims(gconstpointer data)
{
    const Refuted *r = data;
    g_autofree char *text = NULL;
    gboolean known = claim_judge_first(r->program, r->findings, &text) != CLAIM_WRONG;
    g_assert_nonnull(text);
    g_test_message("%s", text);
    for (guint k = 0; k < G_N_ELEMENTS(by_warps); k++)
        known |= g_str_has_suffix(r->file, by_warps[k]);
    g_assert_true(known);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(refuted_free);
    static const char *const folder[] = { "broken", "catalogue",   "consan", "global",
                                          "memory", "once-proved", "attack" };
    for (guint i = 0; i < G_N_ELEMENTS(folder); i++) {
        g_autofree char *prefix = g_strdup_printf("/claims/%s", folder[i]);
        refuted_add(all, folder[i], 0, NULL, names_launch, prefix, claims);
    }
    return all->len >= LEAST ? g_test_run() : 1;
}
