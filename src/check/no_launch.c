#include "check/no_launch.h"
#include "base/phrase.h"
#include "check/play/case.h"
#include "check/verdict.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"

/* Sizes alone do not say whether what is assumed of tiles holds in any. */
static gboolean assumes_of_tiles(const WsProgram *p)
{
    gboolean tile = FALSE;
    for (guint i = 0; i < p->n_assume && !tile; i++)
        ws_of_tile(p, p->assume[i], &tile);
    return tile;
}

/* --- a search for sizes ----------------------------------------------------------------------- */
enum { MOST_TRIED = 4000, MOST_SIZES = 16 };

typedef struct {
    const WsProgram *p;
    WsSize size[MOST_SIZES];
    guint n, tried;
    GArray *literal;  /* gint64: numbers of the assumptions */
    gboolean counted; /* whether kernels can count it is asked, not what tensor maps take */
} Search;

static guint found(const Search *s, const WsFindings *refused)
{
    guint n = 0;
    for (guint i = 0; i < refused->list->len; i++)
        n += !s->counted ||
             !g_str_has_prefix(((const WsFinding *)refused->list->pdata[i])->at, "tensors/");
    return n;
}

/* What is wrong with these sizes, each with a finding of its own; 0: they make a launch. */
static guint wrong(Search *s)
{
    g_autoptr(WsFindings) refused = ws_findings_new();
    g_autoptr(WsLaunchValues) values = ws_launch_values(s->p, s->size, s->n, FALSE, refused);
    s->tried++;
    if (values)
        ws_launchable(s->p, values, ws_launch_grid(values, ws_launch_most(s->p)), refused);
    const guint n = found(s, refused);
    return values ? n + (ws_launch_tiles(values) == 0) : MAX(n, 1) + 1;
}

static void note_literal(const WsExpr *e, gpointer data)
{
    if (e->op == WS_EXPR_INT)
        g_array_append_val((GArray *)data, e->i);
}

/* Numbers that a size may have to be: powers of two, those of the assumptions, what is next to
 * them, multiples of them, and what other sizes are. */
static void fill(const Search *s, GArray *to)
{
    g_array_set_size(to, 0);
    for (gint64 power = 1; power <= 16384; power *= 2)
        g_array_append_val(to, power);
    for (guint i = 0; i < s->literal->len + s->n; i++) {
        const gint64 x = i < s->literal->len ? g_array_index(s->literal, gint64, i)
                                             : s->size[i - s->literal->len].value;
        if (x < 0 || x > G_MAXINT32)
            continue;
        const gint64 near[] = { x, x - 1, x + 1, 2 * x, 3 * x, 4 * x, 8 * x, x / 2 };
        for (guint k = 0; k < G_N_ELEMENTS(near); k++)
            if (near[k] >= 0)
                g_array_append_val(to, near[k]);
    }
}

/* One size after the other becomes what leaves least wrong. */
static gboolean descend(Search *s)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(gint64));
    guint least = wrong(s);
    for (guint before = G_MAXUINT; least > 0 && least < before && s->tried < MOST_TRIED;) {
        before = least;
        for (guint i = 0; i < s->n && least > 0; i++) {
            gint64 best = s->size[i].value;
            fill(s, values);
            for (guint k = 0; k < values->len && least > 0 && s->tried < MOST_TRIED; k++) {
                s->size[i].value = g_array_index(values, gint64, k);
                const guint now = wrong(s);
                if (now < least) {
                    least = now;
                    best = s->size[i].value;
                }
            }
            s->size[i].value = best;
        }
    }
    return least == 0;
}

/* From the design's own sizes, those of its rehearsal, then from drawn ones, the same each time. */
static gboolean launches(const WsProgram *p, gboolean counted)
{
    g_autoptr(GArray) literal = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GRand) drawn = g_rand_new_with_seed(1);
    Search s = { .p = p, .literal = literal, .counted = counted };
    gboolean good = FALSE;
    for (guint i = 0; i < p->n_assume; i++)
        ws_expr_visit(p->assume[i], note_literal, literal);
    for (guint start = 0; !good && s.tried < MOST_TRIED && (s.n || !start); start++) {
        s.n = 0;
        for (guint v = 0; v < p->n_vars && s.n < MOST_SIZES; v++)
            if (p->var[v].kind == WS_VAR_SIZE)
                s.size[s.n++] =
                    (WsSize){ p->var[v].name, start == 1 ? p->var[v].rehearse : p->var[v].preset };
        fill(&s, values);
        for (guint i = 0; i < s.n && start > 1; i++)
            s.size[i].value =
                g_array_index(values, gint64, g_rand_int_range(drawn, 0, (gint32)values->len));
        good = descend(&s);
    }
    return good;
}

/* --- the verdict ------------------------------------------------------------------------------ */
void ws_judge_no_launch(const WsProgram *p, WsVerdict *v, WsFindings *findings)
{
    const gboolean proved = v->kind == WS_VERDICT_PROVED;
    if (proved && !assumes_of_tiles(p) && launches(p, FALSE))
        return;
    const char *last = v->skipped->len ? v->skipped->pdata[v->skipped->len - 1] : NULL;
    WsFinding *f = ws_findings_add(findings, WS_RULE_F_PLAY, "sizes",
                                   "%s: no sizes were found that its assumptions allow%s%s",
                                   p->name, last ? ": " : "", last ? last : "");
    ws_finding_set_remedy(f, "see whether the assumptions contradict each other; if they do not, "
                             "give `sizes` that they allow and that have a tile");
    v->kind = WS_VERDICT_OUTSIDE;
    if (proved)
        ws_verdict_drop_proof(v);
    v->reason =
        proved ? ws_phrase("no sizes were found that its names and assumptions allow: there may be "
                           "no launch to prove anything of")
               : ws_phrase("no sizes were found that its assumptions allow");
}

/* What the program's own sizes are refused for. Caller frees. */
static char *refusal(const WsProgram *p)
{
    g_autoptr(WsFindings) refused = ws_findings_new();
    g_autoptr(WsLaunchValues) values = ws_launch_values(p, NULL, 0, FALSE, refused);
    if (values)
        ws_launchable(p, values, ws_launch_grid(values, ws_launch_most(p)), refused);
    return refused->list->len ? g_strdup(((const WsFinding *)refused->list->pdata[0])->message)
                              : NULL;
}

void ws_judge_uncounted(const WsProgram *p, WsVerdict *v, WsFindings *findings)
{
    if (launches(p, TRUE))
        return;
    g_autofree char *why = refusal(p);
    WsFinding *f = ws_findings_add(findings, WS_RULE_F_PLAY, "sizes",
                                   "%s: every launch that was found is refused%s%s", p->name,
                                   why ? ": " : "", why ? why : "");
    ws_finding_set_remedy(f, "let the assumptions allow sizes with which kernels can count, and "
                             "give such `sizes`");
    v->kind = WS_VERDICT_OUTSIDE;
    ws_verdict_drop_proof(v);
    v->reason = ws_phrase("every launch that was found is refused: there may be none to prove "
                          "anything of");
}
