/* The launch that a finding claims goes wrong. Its words name sizes ("K = 257"), elements of
 * tensors
 * ("L[3] = 5", "elements 2 and 3 by turns") and the CTA ("CTA 1 of 3"); the rest is as for the
 * rehearsal. */
#include "claim.h"
#include "lanes/lanes.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const WsProgram *p;
    GArray *size, *chosen; /* WsSize, OracleElement */
    OracleOptions options;
    gint64 cta, grid;
} Claim;

GArray *claim_elements_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(OracleElement));
}

static gboolean read_element(Claim *c, char *word, const char *value)
{
    char *open = strchr(word, '[');
    for (guint t = 0; t < c->p->n_tensors; t++) {
        OracleElement x = { .tensor = (gint)t, .value = g_ascii_strtoll(value, NULL, 10) };
        if (strlen(c->p->tensor[t].name) != (gsize)(open - word) ||
            strncmp(c->p->tensor[t].name, word, (gsize)(open - word)))
            continue;
        for (guint d = 0; d < c->p->tensor[t].rank; d++)
            x.at[d] = g_ascii_strtoll(open + 1, &open, 10);
        g_array_append_val(c->chosen, x);
        return *open == ']';
    }
    return FALSE;
}

static gboolean read_word(Claim *c, char *word)
{
    char *is = strstr(word, " = ");
    gint64 odd;
    if (is && memchr(word, '[', (gsize)(is - word)))
        return read_element(c, word, is + 3);
    if (is) {
        *is = '\0';
        const gint v = ws_program_find_var(c->p, word);
        if (v < 0 || c->p->var[v].kind != WS_VAR_SIZE)
            return FALSE;
        const WsSize s = { c->p->var[v].name, g_ascii_strtoll(is + 3, NULL, 10) };
        g_array_append_val(c->size, s);
        return TRUE;
    }
    if (sscanf(word, "CTA %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, &c->cta, &c->grid) == 2)
        return TRUE;
    if (sscanf(word, "elements %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " by turns",
               &c->options.element, &odd) == 2) {
        c->options.element_step = odd - c->options.element;
        return TRUE;
    }
    return sscanf(word, "elements %" G_GINT64_FORMAT, &c->options.element) == 1;
}

/* Elements lie in the range of their `data`. */
static gboolean in_range(const Claim *c, const WsLaunchValues *v)
{
    WsExprEnv env = ws_launch_env(v);
    for (guint i = 0; i < c->chosen->len; i++) {
        const OracleElement *x = &g_array_index(c->chosen, OracleElement, i);
        const WsTensor *t = &c->p->tensor[x->tensor];
        gint64 low = G_MININT64, high = G_MAXINT64;
        if (t->data == WS_DATA_INTEGERS &&
            ((t->data_a && !ws_expr_eval(t->data_a, &env, &low, NULL)) ||
             (t->data_b && !ws_expr_eval(t->data_b, &env, &high, NULL)) || x->value < low ||
             x->value >= high))
            return FALSE;
        if (t->data == WS_DATA_OFFSETS && (!ws_expr_eval(t->data_a, &env, &high, NULL) ||
                                           x->value < 0 || x->value > MAX(high, 0)))
            return FALSE;
        for (guint d = 0; d < t->rank; d++)
            if (x->at[d] < 0 || x->at[d] >= ws_launch_shape(v, (guint)x->tensor, d))
                return FALSE;
    }
    return TRUE;
}

/* The CTA has that many tiles in such a launch: ids c, c + G, … */
static gboolean launched(Claim *c, const WsLaunchValues *v, gint64 tiles)
{
    const gint64 all = ws_launch_tiles(v), cluster = MAX(c->p->cluster, 1);
    const gboolean free = !c->p->tiles->grid && c->p->tiles->launch != WS_LAUNCH_SINGLE;
    const gint64 made = ws_launch_grid(v, cluster);
    if (c->grid == 0)
        c->grid = made;
    if (all < 1 || c->grid < cluster || c->grid % cluster || c->cta % cluster ||
        c->cta >= c->grid || (!free && c->grid != made))
        return FALSE;
    c->options.first = c->cta / cluster;
    c->options.stride = c->grid / cluster;
    c->options.tiles = (guint)tiles;
    return c->options.first + tiles * c->options.stride >= all &&
           (tiles == 0 || c->options.first + (tiles - 1) * c->options.stride < all);
}

static WsLaunchValues *launch_of(Claim *c, const char *sizes, gint64 tiles, char **text)
{
    g_auto(GStrv) word = g_strsplit(sizes ? sizes : "", ", ", -1);
    g_autoptr(WsFindings) why = ws_findings_new();
    for (guint i = 0; word[i]; i++)
        if (*word[i] && !read_word(c, word[i])) {
            *text = g_strdup_printf("`%s` is not understood", word[i]);
            return NULL;
        }
    WsLaunchValues *v =
        ws_launch_values(c->p, (const WsSize *)(gpointer)c->size->data, c->size->len, TRUE, why);
    if (v && in_range(c, v) && launched(c, v, tiles))
        return v;
    ws_launch_values_free(v);
    *text = g_strdup("there is no such launch");
    return NULL;
}

WsLaunchValues *claim_launch(const WsProgram *p, const char *sizes, gint64 tiles, GArray *chosen,
                             OracleOptions *options)
{
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    g_autofree char *text = NULL;
    Claim c = { .p = p, .size = size, .chosen = chosen };
    WsLaunchValues *v = launch_of(&c, sizes, tiles, &text);
    c.options.ranged = TRUE;
    c.options.chosen = chosen;
    *options = c.options;
    return v;
}

ClaimKind claim_judge(const WsProgram *p, const WsFinding *f, guint *verdict, char **text)
{
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    g_autoptr(GArray) chosen = claim_elements_new();
    Claim c = { .p = p, .size = size, .chosen = chosen };
    *text = NULL;
    *verdict = 0;
    g_autoptr(WsLaunchValues) v = launch_of(&c, f->sizes, f->fact[WS_FACT_TILES], text);
    if (!v)
        return CLAIM_WRONG;
    c.options.ranged = TRUE;
    c.options.chosen = chosen;
    OracleResult r = lanes_run(p, v, &c.options);
    *verdict = r.verdict;
    if (r.verdict & ORACLE_BAD) {
        g_autofree char *say = oracle_text(&r);
        *text = g_strdup_printf("%s: %s", f->sizes, say);
        return CLAIM_HOLDS;
    }
    if (r.verdict & (ORACLE_OUTSIDE | ORACLE_UNSEEN))
        return CLAIM_UNKNOWN;
    *text = g_strdup_printf("%s: that launch is right", f->sizes);
    return CLAIM_WRONG;
}

ClaimKind claim_judge_first(const WsProgram *p, const WsFindings *findings, char **text)
{
    *text = NULL;
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        if (f->severity != WS_SEVERITY_ERROR || ws_rule(f->rule)->klass != WS_CLASS_P ||
            f->fact[WS_FACT_TILES] == WS_FACT_NONE)
            continue;
        g_autofree char *say = NULL;
        guint verdict = 0;
        const ClaimKind kind = claim_judge(p, f, &verdict, &say);
        *text = g_strdup_printf("%s %s\n%s", ws_rule(f->rule)->text, f->message,
                                say ? say : "not judged");
        return kind;
    }
    return CLAIM_UNKNOWN;
}
