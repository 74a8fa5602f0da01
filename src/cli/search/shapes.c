/* Several shapes: a search for each, one rule for all. */
#include "search/shapes.h"
#include "cli/search/asked.h"
#include "model/findings.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    guint n;
    WsCliLaunched *launched;
    WsTrialOf *of;
    WsSearch **found;
    WsDesign *start;
} Cases;

static void cases_clear(Cases *c)
{
    for (guint i = 0; i < c->n; i++) {
        ws_cli_launched_clear(&c->launched[i]);
        ws_search_free(c->found[i]);
    }
    g_clear_pointer(&c->start, ws_design_unref);
    g_free(c->launched);
    g_free(c->of);
    g_free(c->found);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cases, cases_clear)

static int load(Cases *c, const WsSearchAsked *a, char **set, char **cases, const char *machine)
{
    g_auto(GStrv) setting = g_strdupv(set); /* cut in place */
    g_autoptr(GArray) settings = NULL;
    c->n = g_strv_length(cases);
    c->launched = g_new0(WsCliLaunched, c->n);
    c->of = g_new0(WsTrialOf, c->n);
    c->found = g_new0(WsSearch *, c->n);
    for (guint i = 0; i < c->n; i++) {
        g_auto(GStrv) size = g_strsplit(cases[i], " ", -1), own = g_strdupv(set);
        WsCliLaunched *l = &c->launched[i];
        g_auto(GStrv) sizes = g_strdupv(size);
        g_autoptr(GArray) read = NULL;
        if (!ws_cli_settings(sizes, "--case", &read))
            return WS_EXIT_USAGE;
        const int code = ws_cli_launched(l, a->file, own, size, machine);
        if (code != WS_EXIT_YES)
            return code;
        c->of[i] = (WsTrialOf){ l->in.program, l->values, l->machine };
    }
    if (!ws_cli_settings(setting, "--set", &settings))
        return WS_EXIT_USAGE;
    c->start = ws_advise_settled(c->launched[0].in.design,
                                 settings ? (const WsSetting *)(gpointer)settings->data : NULL,
                                 settings ? settings->len : 0);
    return WS_EXIT_YES;
}

static int search_all(Cases *c, WsSearchAsked *a)
{
    const double seconds = a->options.seconds;
    for (guint i = 0; i < c->n; i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        a->unbuilt = 0;
        a->options.seconds = seconds / c->n;
        c->found[i] = ws_search_new(&c->of[i], c->start, &a->options, findings);
        ws_cli_progress(NULL);
        ws_cli_print_findings(findings, a->file);
        if (!c->found[i])
            return WS_EXIT_OUTSIDE;
    }
    return WS_EXIT_YES;
}

/* --- what is said -------------------------------------------------------------------------------
 */

/* Which of the rule's designs: from 1. */
static guint number_of(const WsShapes *s, guint shape)
{
    guint k = 0;
    while (g_array_index(s->kept, guint, k) != s->choice[shape])
        k++;
    return k + 1;
}

static gint64 picked(const WsShapes *s, guint shape)
{
    return s->cycles[s->choice[shape] * s->n_shapes + shape];
}

static void print(const Cases *c, const WsShapes *s)
{
    printf("%u shapes, %u designs found, %u in the rule; cycles predicted, nothing is measured\n",
           s->n_shapes, s->all->len, s->kept->len);
    printf("%12s %12s %12s %8s %7s  shape\n", "as it is", "best", "by the rule", "regret",
           "design");
    for (guint i = 0; i < c->n; i++) {
        g_autofree char *sizes = ws_launch_sizes_text(c->of[i].v);
        printf("%12" G_GINT64_FORMAT " %12" G_GINT64_FORMAT " %12" G_GINT64_FORMAT
               " %6.1f %% %7u  %s\n",
               c->found[i]->cycles, ws_shapes_fewest(s, i), picked(s, i), 100 * s->regret[i],
               number_of(s, i), sizes);
    }
    printf(
        "regret of the rule beside the best of each shape: %.1f %% on average, %.1f %% at most\n",
        100 * s->mean, 100 * s->worst);
}

static void put_json(const WsSearchAsked *a, const Cases *c, const WsShapes *s)
{
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", a->file);
    ws_json_out_truth(&j, "assembled", ws_asked_can_build() && !a->dry);
    ws_json_out_integer(&j, "designs", s->kept->len);
    ws_json_out_real(&j, "mean_regret", s->mean);
    ws_json_out_real(&j, "worst_regret", s->worst);
    ws_json_out_open(&j, "cases", '[');
    for (guint i = 0; i < c->n; i++) {
        g_autofree char *sizes = ws_launch_sizes_text(c->of[i].v);
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_text(&j, "sizes", sizes);
        ws_json_out_integer(&j, "cycles", c->found[i]->cycles);
        ws_json_out_integer(&j, "best", ws_shapes_fewest(s, i));
        ws_json_out_integer(&j, "picked", picked(s, i));
        ws_json_out_integer(&j, "design", number_of(s, i));
        ws_json_out_real(&j, "regret", s->regret[i]);
        ws_json_out_truth(&j, "stopped", c->found[i]->stopped);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
}

/* --- what is written ----------------------------------------------------------------------------
 */

/* With the decisions that led to it in its note, if any did. Caller frees. */
static char *text_of(const Cases *c, const WsDesign *design)
{
    for (guint i = 0; i < c->n; i++)
        for (guint k = 0; k < c->found[i]->found->len; k++) {
            const WsFound *f = c->found[i]->found->pdata[k];
            if (f->design == design)
                return ws_told_text(f);
        }
    return ws_design_print(design);
}

/* OUT.pick, and the designs OUT-1.wstave, OUT-2.wstave, … beside it. */
static int write_rule(const WsSearchAsked *a, const Cases *c, const WsShapes *s)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const gsize stem = strlen(a->out) - (g_str_has_suffix(a->out, ".pick") ? strlen(".pick") : 0);
    for (guint k = 0; k < s->kept->len; k++) {
        const WsDesign *design = s->all->pdata[g_array_index(s->kept, guint, k)];
        g_autofree char *file = g_strdup_printf("%.*s-%u.wstave", (int)stem, a->out, k + 1);
        g_autofree char *text = text_of(c, design);
        g_ptr_array_add(names, g_path_get_basename(file));
        if (!ws_cli_write(file, text, -1))
            return WS_EXIT_DEFECT;
    }
    g_autofree char *rule = ws_shapes_rule(s, c->of, (const char *const *)names->pdata);
    return ws_cli_write(a->out, rule, -1) ? WS_EXIT_YES : WS_EXIT_DEFECT;
}

int ws_search_cases(WsSearchAsked *a, char **set, char **cases, const char *machine, guint most)
{
    g_auto(Cases) c = { 0 };
    int code = load(&c, a, set, cases, machine);
    if (code == WS_EXIT_YES)
        code = search_all(&c, a);
    if (code != WS_EXIT_YES)
        return code;
    g_autoptr(WsShapes) s =
        ws_shapes_new(c.of, (const WsSearch *const *)c.found, c.n, c.start, most);
    ws_cli_say_aside(a->out);
    if (a->json)
        put_json(a, &c, s);
    else
        print(&c, s);
    return a->out ? write_rule(a, &c, s) : WS_EXIT_YES;
}
