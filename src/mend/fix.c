/* Quick-fixes as a whole: who proposes what, and whether it holds. */
#include "mend/fixer.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

static const struct {
    WsFixBuilder build;
    WsFixRow row;
    const char *rules;
} rows[] = {
#define WS_FIX(id, kind, safe, cost, rules) { ws_fix_##id, { kind, safe, cost }, rules },
#include "mend/fix.def"
#undef WS_FIX
};

static gboolean names(const char *rules, const char *rule)
{
    const gsize n = strlen(rule);
    for (const char *at = strstr(rules, rule); at; at = strstr(at + 1, rule))
        if ((at == rules || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return TRUE;
    return FALSE;
}

static gint by_cost(gconstpointer a, gconstpointer b)
{
    const WsFix *x = *(WsFix *const *)a, *y = *(WsFix *const *)b;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

void ws_fixes_sort(GPtrArray *fixes)
{
    /* g_ptr_array_sort is stable for the order of proposals of equal cost */
    g_ptr_array_sort(fixes, by_cost);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < fixes->len;) {
        char *deeds = ws_fix_deeds(fixes->pdata[i]);
        if (!g_hash_table_add(seen, deeds) || *deeds == '\0') /* of those that do the same, one */
            g_ptr_array_remove_index(fixes, i);
        else
            i++;
    }
}

GPtrArray *ws_fixes_planned(const WsDesign *design, const WsFinding *finding)
{
    GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)ws_fix_free);
    if (!design)
        return out;
    WsFixer F;
    ws_fixer_init(&F, design, finding);
    F.out = out;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (!names(rows[i].rules, ws_rule(finding->rule)->text))
            continue;
        F.row = &rows[i].row;
        rows[i].build(&F);
    }
    ws_fixes_rank(&F, out);
    ws_fixer_clear(&F);
    ws_fixes_sort(out);
    return out;
}

GPtrArray *ws_fixes_of(const WsDesign *design, const WsFinding *finding)
{
    g_autoptr(GPtrArray) planned = ws_fixes_planned(design, finding);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)ws_fix_free);
    for (guint i = 0; i < planned->len && out->len < 2 * WS_FIX_TRIED; i++) {
        WsFix *fix = planned->pdata[i];
        if (!ws_fix_draw(fix) || !g_hash_table_add(seen, ws_draft_script(fix->draft)))
            continue;
        g_ptr_array_add(out, fix);
        planned->pdata[i] = NULL;
    }
    return out;
}

static guint cost_of(const char *kind)
{
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].row.kind, kind) == 0)
            return rows[i].row.cost;
    return 0;
}

static gint kinds_by_cost(gconstpointer a, gconstpointer b)
{
    const guint x = cost_of(*(char *const *)a), y = cost_of(*(char *const *)b);
    return x < y ? -1 : x > y;
}

GPtrArray *ws_fix_kinds(WsRuleId rule)
{
    GPtrArray *kinds = g_ptr_array_new();
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (names(rows[i].rules, ws_rule(rule)->text))
            g_ptr_array_add(kinds, (gpointer)rows[i].row.kind);
    g_ptr_array_sort(kinds, kinds_by_cost);
    return kinds;
}

/* --- does it hold ----------------------------------------------------------------------------- */
WsFixState *ws_fix_state_new(const WsDesign *design, const WsSetting *set, guint n_set,
                             const WsCheckOptions *options)
{
    WsFixState *s = g_new0(WsFixState, 1);
    s->refs = 1;
    s->design = ws_design_ref(design);
    s->findings = ws_findings_new();
    g_autoptr(WsProgram) program = ws_elaborate(design, set, n_set, s->findings);
    if (program && ws_findings_count(s->findings, WS_SEVERITY_ERROR) == 0)
        s->verdict = ws_check(program, options, s->findings);
    ws_check_locate(design, s->findings);
    s->ops = program ? program->n_ops : 0;
    s->errors = ws_findings_count(s->findings, WS_SEVERITY_ERROR);
    s->warnings = ws_findings_count(s->findings, WS_SEVERITY_WARNING) - s->errors;
    return s;
}

void ws_fix_state_free(WsFixState *s)
{
    if (!s || --s->refs > 0)
        return;
    g_clear_pointer(&s->tried, g_hash_table_unref);
    g_clear_pointer(&s->own, g_hash_table_unref);
    g_clear_pointer(&s->verdict, ws_verdict_free);
    ws_findings_free(s->findings);
    ws_design_unref(s->design);
    g_free(s);
}

/* The same rule at the same step or object, wherever that stands in its design. */
static gboolean same(const WsDesign *a, const WsFinding *f, const WsDesign *b, const WsFinding *g)
{
    if (f->rule != g->rule)
        return FALSE;
    const WsNode *x = f->at && *f->at ? ws_design_find(a, f->at) : NULL;
    const WsNode *y = g->at && *g->at ? ws_design_find(b, g->at) : NULL;
    return x && y ? x->identity == y->identity : !x && !y && g_strcmp0(f->at, g->at) == 0;
}

static gboolean has(const WsFixState *s, const WsDesign *design, const WsFinding *f)
{
    for (guint i = 0; i < s->findings->list->len; i++)
        if (same(design, f, s->design, s->findings->list->pdata[i]))
            return TRUE;
    return FALSE;
}

static gboolean is_proved(const WsFixState *s)
{
    return s->errors == 0 && s->verdict && s->verdict->kind == WS_VERDICT_PROVED;
}

static gboolean was_refuted(const WsFixState *s)
{
    return s->verdict && s->verdict->kind == WS_VERDICT_REFUTED;
}

/* It reads what is not meant, though nothing races: a mistake that the fix has only hidden. */
gboolean ws_fix_gets_stale(const WsFixState *before, const WsFixState *after)
{
    for (guint i = 0; i < after->findings->list->len; i++) {
        const WsFinding *f = after->findings->list->pdata[i];
        if (f->rule == WS_RULE_P_STALE && !f->silenced &&
            (before->errors > 0 || !has(before, after->design, f)))
            return TRUE;
    }
    return FALSE;
}

gboolean ws_fix_only_adds(const WsFix *fix)
{
    for (guint i = 0; i < fix->draft->edits->len; i++)
        if (ws_edit_takes_away(fix->draft->edits->pdata[i]))
            return FALSE;
    return TRUE;
}

typedef void (*Visit)(const WsNode *node, gpointer data);

static void visit(const WsNode *node, Visit see, gpointer data)
{
    guint n;
    const WsFieldRow *row = ws_node_rows(node->kind, &n);
    see(node, data);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, row[i].field); c++)
            visit(ws_node_child(node, row[i].field, c), see, data);
}

static void own_node(const WsNode *node, gpointer data)
{
    g_hash_table_add(data, g_memdup2(&node->identity, sizeof node->identity));
}

void ws_fix_state_remember(WsFixState *state)
{
    if (state->tried)
        return;
    state->tried =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)ws_fix_state_free);
    state->own = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    visit(ws_design_root(state->design), own_node, state->own);
}

typedef struct {
    GHashTable *own;
    GString *text;
} Key;

static void add_identity(const WsNode *node, gpointer data)
{
    const Key *key = data;
    if (g_hash_table_contains(key->own, &node->identity))
        g_string_append_printf(key->text, "%" G_GINT64_MODIFIER "x", node->identity);
    g_string_append_c(key->text, ' ');
}

/* The text, and which of its nodes are those of the design before: findings are compared by that.
 */
static char *key_of(const WsFixState *before, const WsDesign *design)
{
    g_autofree char *text = ws_design_print(design);
    Key key = { before->own, g_string_new(text) };
    visit(ws_design_root(design), add_identity, &key);
    return g_string_free(key.text, FALSE);
}

static WsFixState *state_after(const WsFixState *before, const WsDesign *design,
                               const WsSetting *set, guint n_set, const WsCheckOptions *options)
{
    if (!before->tried)
        return ws_fix_state_new(design, set, n_set, options);
    g_autofree char *key = key_of(before, design);
    WsFixState *known = g_hash_table_lookup(before->tried, key);
    if (!known) {
        known = ws_fix_state_new(design, set, n_set, options);
        g_hash_table_insert(before->tried, g_steal_pointer(&key), known);
    }
    known->refs++;
    return known;
}

WsFixState *ws_fix_try(const WsFixState *before, const WsFinding *finding, WsFix *fix,
                       const WsSetting *set, guint n_set, const WsCheckOptions *options)
{
    const WsDesign *design = fix->draft->design;
    g_autoptr(WsFixState) after = state_after(before, design, set, n_set, options);
    if (has(after, before->design, finding))
        return NULL;
    for (guint i = 0; i < after->findings->list->len; i++) {
        const WsFinding *f = after->findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR && !has(before, design, f))
            return NULL;
    }
    /* A refuted design that is not proved then may only have lost what was hiding its mistakes. */
    if (ws_fix_gets_stale(before, after))
        return NULL;
    fix->proves = after->errors == 0 && is_proved(after);
    if (was_refuted(before) && !is_proved(after) &&
        (after->errors >= before->errors || !ws_fix_only_adds(fix)))
        return NULL;
    return g_steal_pointer(&after);
}

WsFixState *ws_fix_best(const WsFixState *before, const WsFinding *finding, gboolean any,
                        const WsSetting *set, guint n_set, const WsCheckOptions *options,
                        WsFix **fix)
{
    g_autoptr(GPtrArray) proposals = ws_fixes_of(before->design, finding);
    WsFixState *best = NULL;
    *fix = NULL;
    for (guint i = 0; i < MIN(proposals->len, 2 * WS_FIX_TRIED); i++) {
        WsFix *one = proposals->pdata[i];
        if (!any && !one->safe)
            continue;
        WsFixState *after = ws_fix_try(before, finding, one, set, n_set, options);
        if (!after)
            continue;
        if (!best || after->errors < best->errors ||
            (after->errors == best->errors && after->warnings < best->warnings)) {
            ws_fix_state_free(best);
            best = g_steal_pointer(&after);
            g_clear_pointer(fix, ws_fix_free);
            *fix = one;
            proposals->pdata[i] = NULL;
        }
        ws_fix_state_free(after);
        if (best->errors == 0 && best->warnings == 0)
            break;
    }
    return best;
}
