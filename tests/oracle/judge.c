#include "judge.h"
#include "lanes/lanes.h"
#include "model/finding.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

static gint64 weight(const Case *c)
{
    return c->first + c->tiles + c->tiles * c->n + c->d + ABS(c->element) + ABS(c->element_step);
}

static gint by_weight(gconstpointer a, gconstpointer b)
{
    gint64 x = weight(a), y = weight(b);
    return x < y ? -1 : x > y;
}

static GArray *cases_of(const WsProgram *p, const JudgeOptions *o)
{
    /* elements of integer tensors: of even places, and how much more odd ones are */
    static const gint64 first[] = { -1, 0, 1, 2, -1, 0, 1, -1, 2 },
                        step[] = { 0, 0, 0, 0, 2, 1, 1, 1, -1 };
    gboolean tiles = p->tiles->launch != WS_LAUNCH_SINGLE, d = ws_program_find_var(p, "D") >= 0;
    gboolean n = ws_program_find_var(p, "N") >= 0;
    guint n_elements = o->elements ? G_N_ELEMENTS(first) : 1;
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Case));
    for (guint e = 0; e < n_elements; e++)
        for (guint t = tiles ? 0 : 1; t <= (tiles ? o->most_tiles : 1); t++)
            for (gint64 k = 0; k <= (n ? o->most_n : 0); k++)
                for (gint64 x = 0; x <= (d ? o->most_d : 0); x++) {
                    Case c = { k, x, t, n_elements > 1 ? first[e] : 0,
                               n_elements > 1 ? step[e] : 0 };
                    /* without a tile the rest matters little */
                    if (t * k <= 8 && (t > 0 || (e == 0 && k == 1)))
                        g_array_append_val(list, c);
                }
    g_array_sort(list, by_weight);
    return list;
}

gint64 judge_tiles(Case c)
{
    return MAX((gint64)c.first + (gint64)MAX(c.stride, 1) * ((gint64)c.tiles - 1) + 1, 1);
}

WsLaunchValues *judge_values(const WsProgram *p, Case c)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const struct {
        const char *name;
        gint64 value;
    } all[] = { { "N", c.n }, { "T", judge_tiles(c) }, { "D", c.d } };
    WsSize size[3];
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        if (ws_program_find_var(p, all[i].name) >= 0)
            size[n++] = (WsSize){ all[i].name, all[i].value };
    return ws_launch_values(p, size, n, FALSE, findings);
}

static void tell(Judgement *j, Case c, const OracleResult *r)
{
    j->states += r->states;
    j->verdict |= r->verdict;
    j->bad = (r->verdict & ORACLE_BAD) != 0;
    if (j->bad)
        j->smallest = c;
    if (!r->verdict || (!j->bad && j->text))
        return;
    g_autofree char *say = oracle_text(r);
    g_free(j->text);
    g_autofree char *ids = c.stride > 1 || c.first
                               ? g_strdup_printf(" from %u by %u", c.first, MAX(c.stride, 1))
                               : g_strdup("");
    j->text = g_strdup_printf("N = %d, D = %d, %u tiles%s, elements %d + %d: %s", (int)c.n,
                              (int)c.d, c.tiles, ids, (int)c.element, (int)c.element_step, say);
}

/* Two atomics of the same bytes are no race, which the search through all orders does not know. */
static gboolean combines(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_RED_SHARED)
            return TRUE;
    return FALSE;
}

void judge_case(const WsProgram *p, Case c, guint cap, gboolean accesses, Judgement *j)
{
    OracleOptions options = { .tiles = c.tiles, .cap = cap, .stop = TRUE, .sync = !accesses };
    options.alike = j->alike;
    options.element = c.element, options.element_step = c.element_step;
    options.first = c.first, options.stride = c.stride;
    j->cases++;
    g_autoptr(WsLaunchValues) v = judge_values(p, c);
    if (!v || j->bad)
        return;
    j->allowed++;
    OracleResult lanes = lanes_run(p, v, &options);
    tell(j, c, &lanes);
    gint64 launched = ws_launch_tiles(v);
    if (!j->bad && c.tiles > 0 && c.stride <= 1 && launched > c.tiles && launched <= 8) {
        OracleOptions whole = options; /* outputs as well */
        whole.tiles = (guint)launched;
        OracleResult more = lanes_run(p, v, &whole);
        tell(j, c, &more);
    }
    if (j->bad || cap == 0 || combines(p) || (lanes.verdict & ORACLE_OUTSIDE))
        return;
    j->explored++;
    OracleResult all = oracle_run(p, v, &options);
    tell(j, c, &all);
    j->inner = j->bad;
}

/* Numbers that turn counts, ends and events around, all pairs of few and a sample of the rest. */
static Judgement judge_control(const WsProgram *p, const JudgeOptions *o, LanesAlike *alike)
{
    static const gint64 rounds[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 25, 41 },
                        others[] = { 1, 0, 2, 3, 7, 12, 60 },
                        first[] = { 0, -1, 1, -70, -3, 3, 50, -1, 0, 9 },
                        step[] = { 0, 0, 0, 0, 0, 0, 0, 2, 1, -12 };
    static const guint tiles[] = { 1, 2, 3, 6, 9 };
    gboolean many = p->tiles->launch != WS_LAUNCH_SINGLE, d = ws_program_find_var(p, "D") >= 0;
    Judgement j = { .alike = alike };
    guint n[] = { G_N_ELEMENTS(rounds), d ? G_N_ELEMENTS(others) : 1,
                  o->elements ? G_N_ELEMENTS(first) : 1, many ? G_N_ELEMENTS(tiles) : 1 };
    guint all = n[0] * n[1] * n[2] * n[3], most = 240;
    /* a stride that meets every remainder */
    guint stride = all <= most ? 1 : all / most | 1;
    while (stride > 1 && (stride % 3 == 0 || stride % 5 == 0 || stride % 7 == 0))
        stride += 2;
    for (guint i = 0; i < all && !j.bad && !(j.verdict & ORACLE_OUTSIDE); i += stride) {
        guint e = i / n[0] % n[2], r = i / n[0] / n[2];
        Case c = { rounds[i % n[0]], others[r / n[3] % n[1]], tiles[r % n[3]], first[e], step[e] };
        if (many && i % 3 == 1)
            c.stride = 1 + i % 5, c.first = i / 5 % c.stride;
        judge_case(p, c, 0, FALSE, &j);
    }
    return j;
}

static Judgement judge_all(const WsProgram *p, const JudgeOptions *o, LanesAlike *alike)
{
    static const Case far[] = { { .n = 5, .tiles = 1, .element = 1 },
                                { .n = 8, .tiles = 1, .element = 3 },
                                { .n = 14, .tiles = 1, .element = 2 },
                                { .n = 1, .tiles = 7, .element = 1 },
                                { .n = 5, .tiles = 4, .element = -1, .element_step = 4 },
                                { .n = 10, .tiles = 5, .element = 2, .element_step = -1 },
                                { .n = 2, .tiles = 3, .first = 1, .stride = 2 },
                                { .n = 4, .tiles = 2, .first = 3, .stride = 5, .element = 1 },
                                { .n = 1, .tiles = 1, .first = 2, .stride = 3, .element = 2 },
                                { .n = 3, .tiles = 1, .d = 7 },
                                { .n = 9, .tiles = 1, .d = 3 },
                                { .n = 2, .tiles = 1, .d = 60 } };
    gboolean tiles = p->tiles->launch != WS_LAUNCH_SINGLE, d = ws_program_find_var(p, "D") >= 0;
    Judgement j = { .alike = alike };
    if (o->control)
        return judge_control(p, o, alike);
    g_autoptr(GArray) cases = cases_of(p, o);
    for (guint i = 0; i < cases->len && j.cases < o->max_cases; i++) {
        gboolean explore = j.explored < o->max_explored && j.states < o->max_states;
        judge_case(p, g_array_index(cases, Case, i), explore ? o->cap : 0, o->accesses, &j);
        if (j.bad || (j.verdict & ORACLE_OUTSIDE))
            return j;
    }
    /* far ones, one run each: its lanes tell of all others */
    for (guint i = 0; i < G_N_ELEMENTS(far) && !j.bad; i++)
        if (((far[i].tiles == 1 && !far[i].stride) || tiles) && (far[i].d == 0 || d))
            judge_case(p, far[i], 0, FALSE, &j);
    return j;
}

Judgement judge(const WsProgram *p, const JudgeOptions *o)
{
    g_autoptr(LanesAlike) alike = lanes_alike_new(p);
    Judgement j = judge_all(p, o, alike);
    j.alike = NULL;
    return j;
}
