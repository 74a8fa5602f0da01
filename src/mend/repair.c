/* Repairing a design: of all proposals the one nearest to what is drawn that the check proves; if
 * no single one is enough, two after each other. */
#include "check/proof/bits/bits.h"
#include "mend/fixer.h"
#include "program/elaborate.h"
#include "program/program.h"

enum {
    MOST_STEPS = 8,             /* fixes after each other */
    MOST_FINDINGS = 4,          /* that are asked for proposals */
    MOST_FIRST = 16,            /* proposals that may be the first of two */
    MOST_AFTER = 60,            /* proposals that are tried after each of them */
    MOST_PROOF_WORK = 80 << 20, /* of one proposal */
    MOST_TRIED = 800,           /* of one search */
    ONE_PROPOSAL = 1 << 18,     /* what drawing and elaborating one takes, in the same steps */
    ONE_OPERATION = 1 << 12,    /* … for each operation of its program */
    ONE_PLANNED = 1 << 14       /* what making one takes that is not drawn */
};
/* Of the whole search, in steps of proofs and plays: some seconds. No clock: the same design gets
 * the same fix on a machine that is busy. */
#define MOST_WORK ((guint64)1 << 29)

typedef struct {
    const WsFixAsk *ask;
    guint64 work; /* done */
    guint tried;  /* proposals that were proved or not */
} Repair;

static gboolean late(const Repair *r)
{
    const WsCheckOptions *o = r->ask->options;
    return r->work > MOST_WORK || r->tried > MOST_TRIED ||
           (o && o->cancel && g_atomic_int_get(o->cancel));
}

static WsFixState *checked(Repair *r, const WsDesign *design)
{
    WsFixState *s = ws_fix_state_new(design, r->ask->set, r->ask->n_set, r->ask->options);
    r->work += ONE_PROPOSAL + (s->verdict ? s->verdict->work : 0);
    return s;
}

/* What the whole check will prove, or nearly so: a few milliseconds, most of them none. */
static gboolean closes(Repair *r, const WsDesign *design)
{
    r->work += ONE_PROPOSAL;
    r->tried++;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, r->ask->set, r->ask->n_set, findings);
    r->work += p ? (guint64)p->n_ops * ONE_OPERATION : 0;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR))
        return FALSE;
    ws_check_budgets(p, findings);
    if (ws_findings_count(findings, WS_SEVERITY_ERROR))
        return FALSE;
    const WsCheckOptions *o = r->ask->options;
    const WsBitOptions options = { .max_states = 16000,
                                   .max_work = MOST_PROOF_WORK,
                                   .cancel = o ? o->cancel : NULL,
                                   .policy = o ? o->policy : 0 };
    WsProof *proof = ws_bits_prove(p, &options);
    const gboolean closed = proof->kind == WS_PROOF_CLOSED;
    r->work += proof->work;
    ws_proof_free(proof);
    return closed;
}

static gboolean proved(const WsFixState *s)
{
    return s->errors == 0 && s->verdict && s->verdict->kind == WS_VERDICT_PROVED;
}

static gboolean wanted(const Repair *r, const WsFinding *f, WsSeverity severity)
{
    return !f->silenced && f->severity == severity &&
           (!r->ask->wanted || r->ask->wanted(f, r->ask->data));
}

/* Proposals of the first errors, the likeliest first; `of` says whose each is. */
static GPtrArray *proposals(Repair *r, const WsFixState *now, GHashTable *of)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)ws_fix_free);
    guint n = 0;
    for (guint i = 0; i < now->findings->list->len && n < MOST_FINDINGS; i++) {
        const WsFinding *f = now->findings->list->pdata[i];
        if (!wanted(r, f, WS_SEVERITY_ERROR))
            continue;
        g_autoptr(GPtrArray) list = ws_fixes_planned(now->design, f);
        for (guint k = 0; k < list->len; k++) {
            WsFix *fix = list->pdata[k];
            fix->cost += n;
            g_hash_table_insert(of, fix, (gpointer)f);
            g_ptr_array_add(all, fix);
            list->pdata[k] = NULL;
        }
        n++;
    }
    r->work += (guint64)all->len * ONE_PLANNED;
    ws_fixes_sort(all);
    return all;
}

/* "P-DL at groups/load/body/0: title" and the edits; what is asked for is
 * "P-DL@groups/load/body/0". */
static void note(const WsFinding *f, const char *at, const WsFix *fix, GPtrArray *into)
{
    if (!into)
        return;
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s%s%s: %s", ws_rule(f->rule)->text, at,
                           f->at && *f->at ? f->at : "the design", fix->title);
    for (guint i = 0; i < fix->draft->edits->len; i++) {
        g_autofree char *text = ws_edit_print(fix->draft->edits->pdata[i]);
        g_string_append_printf(s, "\n  %s", text);
    }
    g_ptr_array_add(into, g_string_free(s, FALSE));
}

/* One proposal that the check proves. A likelier one that is not safe ends the search: what a
 * person would choose is not passed over for something that is only allowed. */
static WsFixState *at_once(Repair *r, const WsFixState *now, guint most, GPtrArray *steps,
                           GPtrArray *offers, gboolean *stop)
{
    g_autoptr(GHashTable) of = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) all = proposals(r, now, of);
    for (guint i = 0; i < MIN(all->len, most) && !late(r); i++) {
        WsFix *fix = all->pdata[i];
        if (!ws_fix_draw(fix) || !closes(r, fix->draft->design))
            continue;
        g_autoptr(WsFixState) after = checked(r, fix->draft->design);
        if (!proved(after) || ws_fix_gets_stale(now, after))
            continue;
        const WsFinding *f = g_hash_table_lookup(of, fix);
        if (most != G_MAXUINT && !ws_fix_only_adds(fix))
            continue;
        if (!fix->safe && !r->ask->any) {
            note(f, "@", fix, offers);
            *stop = TRUE;
            return NULL;
        }
        note(f, " at ", fix, steps);
        return g_steal_pointer(&after);
    }
    return NULL;
}

static gboolean same_place(const WsFixState *a, const WsFinding *f, const WsFixState *b)
{
    const WsNode *x = f->at && *f->at ? ws_design_find(a->design, f->at) : NULL;
    for (guint i = 0; i < b->findings->list->len; i++) {
        const WsFinding *g = b->findings->list->pdata[i];
        const WsNode *y = g->at && *g->at ? ws_design_find(b->design, g->at) : NULL;
        if (f->rule == g->rule && (x && y ? x->identity == y->identity : x == y))
            return TRUE;
    }
    return FALSE;
}

/* Two proposals: the first takes its finding away, the second is proved. Neither moves anything nor
 * takes it away: two such changes are too far from what is drawn. */
static WsFixState *in_two(Repair *r, const WsFixState *now, GPtrArray *steps)
{
    g_autoptr(GHashTable) of = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) all = proposals(r, now, of);
    for (guint i = 0, n = 0; i < all->len && n < MOST_FIRST && !late(r); i++) {
        WsFix *fix = all->pdata[i];
        if (!(fix->safe || r->ask->any) || !ws_fix_draw(fix) || !ws_fix_only_adds(fix))
            continue;
        n++;
        g_autoptr(WsFixState) first = checked(r, fix->draft->design);
        const WsFinding *f = g_hash_table_lookup(of, fix);
        if (!first->verdict || first->errors == 0 || same_place(now, f, first))
            continue;
        gboolean stop = FALSE;
        g_autoptr(GPtrArray) second = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(WsFixState) after = at_once(r, first, MOST_AFTER, second, NULL, &stop);
        if (!after)
            continue;
        note(f, " at ", fix, steps);
        for (guint k = 0; steps && k < second->len; k++)
            g_ptr_array_add(steps, g_strdup(second->pdata[k]));
        return g_steal_pointer(&after);
    }
    return NULL;
}

/* Errors before there is a program, warnings, and hints that were asked for: one by one. */
static WsFixState *one_by_one(Repair *r, const WsFixState *now, WsSeverity severity,
                              GPtrArray *steps)
{
    for (guint i = 0; i < now->findings->list->len && !late(r); i++) {
        const WsFinding *f = now->findings->list->pdata[i];
        if (!wanted(r, f, severity) || (severity == WS_SEVERITY_HINT && !r->ask->wanted))
            continue;
        g_autoptr(WsFix) fix = NULL;
        g_autoptr(WsFixState) after =
            ws_fix_best(now, f, r->ask->any, r->ask->set, r->ask->n_set, r->ask->options, &fix);
        if (!after ||
            (now->verdict && (!after->verdict || after->verdict->kind < now->verdict->kind)))
            continue;
        /* for a warning nothing that is drawn goes or moves */
        if (severity != WS_SEVERITY_ERROR && !r->ask->any &&
            (!ws_fix_only_adds(fix) || after->warnings > now->warnings))
            continue;
        note(f, " at ", fix, steps);
        return g_steal_pointer(&after);
    }
    return NULL;
}

/* Of a design that has no program yet: what is not safe and makes it right. */
static void offer(Repair *r, const WsFixState *now, GPtrArray *offers)
{
    g_autoptr(GHashTable) of = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) all = proposals(r, now, of);
    for (guint i = 0; i < all->len && !late(r); i++) {
        WsFix *fix = all->pdata[i];
        const WsFinding *f = g_hash_table_lookup(of, fix);
        if (!ws_fix_draw(fix))
            continue;
        g_autoptr(WsFixState) after =
            ws_fix_try(now, f, fix, r->ask->set, r->ask->n_set, r->ask->options);
        if (!after || after->errors > 0)
            continue;
        note(f, "@", fix, offers);
        return;
    }
}

static WsFixState *next(Repair *r, const WsFixState *now, GPtrArray *steps, GPtrArray *offers)
{
    WsFixState *after = NULL;
    gboolean stop = FALSE;
    if (now->errors > 0 && now->verdict) {
        after = at_once(r, now, G_MAXUINT, steps, offers, &stop);
        if (!after && !stop)
            after = in_two(r, now, steps);
        return after;
    }
    for (int s = WS_SEVERITY_ERROR; s >= WS_SEVERITY_HINT && !after; s--)
        after = one_by_one(r, now, (WsSeverity)s, steps);
    if (!after && now->errors > 0)
        offer(r, now, offers);
    return after;
}

WsFixState *ws_fix_repair(const WsFixState *before, const WsFixAsk *ask, GPtrArray *steps,
                          GPtrArray *offers)
{
    Repair r = { ask, 0, 0 };
    WsFixState *now = NULL;
    for (guint n = 0; n < MOST_STEPS; n++) {
        WsFixState *after = next(&r, now ? now : before, steps, offers);
        if (!after)
            break;
        ws_fix_state_free(now);
        now = after;
    }
    if (now && now->errors > 0) { /* it would stay wrong: nothing is worth writing */
        g_clear_pointer(&now, ws_fix_state_free);
        if (steps)
            g_ptr_array_set_size(steps, 0);
    }
    return now;
}
