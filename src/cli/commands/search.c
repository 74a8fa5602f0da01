#include "search/search.h"
#include "cli/cli.h"
#include "edit/edit.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "search/bound.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#include "codegen/nvptx/ptxas_kept.h"
#endif

#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *file, *out, *resume;
    gboolean json, dry;
    WsSearchOptions options;
    GHashTable *same; /* designs that were rehearsed, with the values of their reference */
    guint unbuilt;    /* designs whose code ptxas does not assemble as it is meant */
} Asked;

/* Designs that are assembled and rehearsed, at most: many of a kind may fail alike. */
#define ASKS 40

static gint interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    g_atomic_int_set(&interrupted, 1);
}

static void show(const WsFound *best, guint tried, gpointer data)
{
    (void)data;
    ws_cli_progress("%u edits tried, best %" G_GINT64_FORMAT " cycles after %u edits", tried,
                    best->cycles, best->decision->len);
}

/* --- values -------------------------------------------------------------------------------------
 */

typedef enum { SAME, DIFFER, NOT_COMPARED } Values;

static Values compare_values(const WsProgram *p)
{
#ifdef WS_HAVE_CODEGEN
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions options = { 0 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    if (!r)
        return NOT_COMPARED;
    const Values values = r->matches ? SAME : DIFFER;
    ws_rehearse_result_free(r);
    return values;
#else
    (void)p;
    return NOT_COMPARED;
#endif
}

/* --- code ---------------------------------------------------------------------------------------
 */

/* Whether ptxas can be asked: the clock knows nothing of products that it serialises, or of values
 * that it spills. */
static gboolean can_build(void)
{
#ifdef WS_HAVE_CODEGEN
    return ws_ptxas_available();
#else
    return FALSE;
#endif
}

/* Whether ptxas makes of the program what it says; TRUE where it cannot be asked. */
static gboolean builds(const WsProgram *p)
{
#ifdef WS_HAVE_CODEGEN
    g_autoptr(GError) error = NULL;
    gboolean clean = TRUE;
    g_autofree char *ptx = can_build() ? ws_generate_ptx(p, NULL, &error) : NULL;
    if (ptx && !ws_ptxas_ask(ptx, &clean, &error))
        return TRUE;
    return clean;
#else
    (void)p;
    return TRUE;
#endif
}

static gboolean can_be_kept(const WsProgram *p, gpointer data)
{
    (void)data;
    ws_cli_progress("assembling an order of steps not seen before");
    return builds(p);
}

/* Not what computes something else, nor what cannot be compared though what computes was moved; nor
 * what cannot be built as it was played. */
static gboolean accept(const WsFound *f, gpointer data)
{
    Asked *a = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(f->design, NULL, 0, findings);
    if (!p)
        return FALSE;
    ws_cli_progress("assembling what was found: %" G_GINT64_FORMAT " cycles", f->cycles);
    if (!builds(p)) {
        a->unbuilt++;
        return FALSE;
    }
    ws_cli_progress("rehearsing what was found: %" G_GINT64_FORMAT " cycles", f->cycles);
    const Values values = compare_values(p);
    if (values == SAME)
        g_hash_table_add(a->same, f->design);
    return values == SAME || (values == NOT_COMPARED && !f->reorders);
}

/* --- what is said -------------------------------------------------------------------------------
 */

static double gain(const WsSearch *s, const WsFound *f)
{
    return 100 * ((double)s->cycles / (double)MAX(f->cycles, 1) - 1);
}

/* Of what is printed as found: the check says nothing of values. */
static gboolean has_same_values(const Asked *a, const WsFound *f)
{
    return g_hash_table_contains(a->same, f->design);
}

static const char *values_text(const Asked *a, const WsFound *f)
{
    if (!f->decision->len)
        return "proved; as it is: ";
    return has_same_values(a, f) ? "proved, and rehearsed with the values of the reference: "
                                 : "proved, but its values were compared with nothing: ";
}

static void print(const Asked *a, const WsTrialOf *of, const WsSearch *s)
{
    const WsSearchBound bound = ws_search_bound_of(of);
    g_autofree char *least = ws_search_bound_text(&bound);
    printf("%u edits tried in %u rounds and %.1f s (%.0f a second): %u lead to a design seen "
           "before, %u do not fit, %u refuted, %u undecided%s\n",
           s->tried, s->rounds, s->seconds, s->tried / MAX(s->seconds, 1e-3), s->repeated, s->unfit,
           s->refuted, s->undecided, s->stopped ? "; stopped, edits were left" : "");
    if (s->idle)
        printf("%u of them left out: they change only what is on no critical path of the design "
               "they are of (--every tries them, too)\n",
               s->idle);
    if (s->known)
        printf("%u of them were tried before: what came of it stood in %s\n", s->known, a->resume);
    if (s->rejected > a->unbuilt)
        printf("%u proved designs left out: their values differ from the reference, or cannot be "
               "compared\n",
               s->rejected - a->unbuilt);
    if (s->serial)
        printf("%u not tried further: a product is in flight where rounds meet, which ptxas "
               "serialises\n",
               s->serial);
    if (a->unbuilt + s->unbuilt)
        printf("%u proved designs left out: ptxas serialises their products, or spills\n",
               a->unbuilt + s->unbuilt);
    if (a->dry)
        printf("--dry: neither assembled nor rehearsed; products may be serialised, registers "
               "spilled and values others\n");
    else if (!can_build())
        printf("not assembled: ptxas is not here, which may serialise products or spill\n");
    printf("differences of less than 1 %% mean nothing: the clock cannot tell them\n"
           "as it is: %" G_GINT64_FORMAT " cycles predicted\n%s",
           s->cycles, least);
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *f = s->found->pdata[i];
        printf("%s%" G_GINT64_FORMAT " cycles predicted (%+.1f %%), %" G_GUINT64_FORMAT
               " bytes of shared memory\n",
               values_text(a, f), f->cycles, gain(s, f), f->shared);
        for (guint k = 0; k < f->decision->len; k++)
            printf("  %u. %s\n", k + 1, (const char *)f->decision->pdata[k]);
        if (f->floor.cycles > 0)
            printf("  floor: %" G_GINT64_FORMAT
                   " cycles, %.1f %% of it: the %s works that long for "
                   "tiles of this size, whatever the order of their steps\n",
                   f->floor.cycles, 100 * (double)f->floor.cycles / (double)MAX(f->cycles, 1),
                   f->floor.unit);
        g_autofree char *round = ws_trial_round(of, f->design);
        if (round)
            printf("  %s\n", round);
    }
}

static void put_json(const Asked *a, const WsTrialOf *of, const WsSearch *s)
{
    const WsSearchBound bound = ws_search_bound_of(of);
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", a->file);
    ws_json_out_integer(&j, "tried", s->tried);
    ws_json_out_integer(&j, "idle", s->idle);
    ws_json_out_integer(&j, "known", s->known);
    ws_json_out_integer(&j, "repeated", s->repeated);
    ws_json_out_integer(&j, "unfit", s->unfit);
    ws_json_out_integer(&j, "refuted", s->refuted);
    ws_json_out_integer(&j, "undecided", s->undecided);
    ws_json_out_integer(&j, "differ", s->rejected - a->unbuilt);
    ws_json_out_integer(&j, "serial", s->serial);
    ws_json_out_integer(&j, "unbuilt", a->unbuilt + s->unbuilt);
    ws_json_out_truth(&j, "assembled", can_build() && !a->dry);
    ws_json_out_truth(&j, "stopped", s->stopped);
    ws_json_out_integer(&j, "cycles", s->cycles);
    ws_search_bound_json(&j, &bound);
    ws_json_out_open(&j, "found", '[');
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *f = s->found->pdata[i];
        ws_json_out_open(&j, NULL, '{');
        ws_json_out_integer(&j, "cycles", f->cycles);
        ws_json_out_integer(&j, "shared", (gint64)f->shared);
        ws_json_out_truth(&j, "compared", has_same_values(a, f));
        if (f->floor.cycles > 0) {
            ws_json_out_integer(&j, "floor", f->floor.cycles);
            ws_json_out_text(&j, "unit", f->floor.unit);
        }
        ws_json_out_texts(&j, "decisions", f->decision);
        ws_json_out_close(&j, '}');
    }
    ws_json_out_close(&j, ']');
    ws_cli_json_end(&j);
}

/* The design with its decisions in its note. NULL: there is no place for them. Transfer full. */
static WsDesign *with_history(const WsFound *f)
{
    const WsNode *root = ws_design_root(f->design);
    const char *was = ws_node_text(root, WS_F_note);
    GString *note = g_string_new(was ? was : "");
    g_string_append(note, note->len ? "; found by search: " : "found by search: ");
    for (guint i = 0; i < f->decision->len; i++)
        g_string_append_printf(note, "%s%s", i ? "; " : "", (const char *)f->decision->pdata[i]);
    g_autofree char *text = g_string_free(note, FALSE);
    g_autoptr(WsFindings) ignored = ws_findings_new();
    g_autoptr(WsEdit) edit = ws_edit_new_set(".", "note", ws_json_text(text));
    return ws_design_apply(f->design, edit, ignored);
}

/* OUT.wstave, and OUT-2.wstave, OUT-3.wstave, … for those after the fastest. Caller frees. */
static char *file_of(const char *out, guint i)
{
    const gsize stem = strlen(out) - (g_str_has_suffix(out, ".wstave") ? strlen(".wstave") : 0);
    return i ? g_strdup_printf("%.*s-%u%s", (int)stem, out, i + 1, out + stem) : g_strdup(out);
}

static int write_found(const Asked *a, const WsSearch *s)
{
    guint written = 0;
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *f = s->found->pdata[i];
        if (!f->decision->len)
            continue;
        g_autoptr(WsDesign) design = with_history(f);
        g_autofree char *text = ws_design_print(design ? design : f->design);
        g_autofree char *file = file_of(a->out, written++);
        if (!ws_cli_write(file, text, -1))
            return WS_EXIT_DEFECT;
    }
    return written ? WS_EXIT_YES
                   : ws_cli_fail(WS_EXIT_NO, "nothing faster was found: %s is not written", a->out);
}

/* --- searching ----------------------------------------------------------------------------------
 */

static int search(Asked *a, char **set, char **size, const char *machine)
{
    g_auto(WsCliLaunched) l = { 0 };
    g_auto(GStrv) setting = g_strdupv(set); /* cut in place */
    g_autoptr(GArray) settings = NULL;
    const int code = ws_cli_launched(&l, a->file, set, size, machine);
    if (code != WS_EXIT_YES)
        return code;
    if (!ws_cli_settings(setting, "--set", &settings))
        return WS_EXIT_USAGE;
    g_autoptr(WsDesign) start = ws_advise_settled(
        l.in.design, settings ? (const WsSetting *)(gpointer)settings->data : NULL,
        settings ? settings->len : 0);
    g_autoptr(GError) error = NULL;
    const WsTrialOf of = { l.in.program, l.values, l.machine };
    g_autoptr(WsKept) kept = a->resume ? ws_kept_open(a->resume, &of, start, &error) : NULL;
    if (error)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    a->options.kept = kept;
    g_autoptr(WsFindings) findings = ws_findings_new();
    signal(SIGINT, on_interrupt);
    g_autoptr(WsSearch) s = ws_search_new(&of, start, &a->options, findings);
    signal(SIGINT, SIG_DFL);
    ws_cli_progress(NULL);
    ws_cli_print_findings(findings, a->file);
    if (!s)
        return WS_EXIT_OUTSIDE;
    ws_cli_say_aside(a->out);
    if (a->json)
        put_json(a, &of, s);
    else
        print(a, &of, s);
    return a->out ? write_found(a, s) : WS_EXIT_YES;
}

/* "60", "60s", "5m": seconds; 0: it is none of these. */
static double read_budget(const char *text)
{
    char *end;
    const double value = g_ascii_strtod(text, &end);
    const double unit = !strcmp(end, "m") ? 60 : !*end || !strcmp(end, "s") ? 1 : 0;
    return value > 0 && value * unit <= 86400 ? value * unit : 0;
}

int ws_command_search(int argc, char **argv)
{
    g_autofree char *machine = NULL, *budget = NULL, *out = NULL, *resume = NULL;
    g_auto(GStrv) set = NULL, size = NULL;
    int beam = 6, rounds = 12;
    gint64 seed = 1;
    gboolean json = FALSE, every = FALSE, dry = FALSE;
    const GOptionEntry entries[] = {
        { "budget", 0, 0, G_OPTION_ARG_STRING, &budget,
          "time of this processor: 60s, 5m (default 60s)", "TIME" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &out,
          "write the fastest design here, others beside it as OUT-2.wstave", "OUT.wstave" },
        { "size", 0, 0, G_OPTION_ARG_STRING_ARRAY, &size, "a size of the launch", "NAME=VALUE" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { "machine", 0, 0, G_OPTION_ARG_FILENAME, &machine,
          "machine description (default: the built-in one)", "FILE" },
        { "beam", 0, 0, G_OPTION_ARG_INT, &beam,
          "designs kept from one edit to the next (default 6)", "N" },
        { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "edits one after the other (default 12)",
          "N" },
        { "every", 0, 0, G_OPTION_ARG_NONE, &every,
          "also edits that change only what is on no critical path", NULL },
        { "dry", 0, 0, G_OPTION_ARG_NONE, &dry,
          "check and clock alone: nothing is assembled, rehearsed or written", NULL },
        { "resume", 0, 0, G_OPTION_ARG_FILENAME, &resume,
          "keep what was tried in FILE, and go on from what stands there", "FILE" },
        { "seed", 0, 0, G_OPTION_ARG_INT64, &seed, "which of equal designs are kept", "N" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "search", entries, &file))
        return WS_EXIT_USAGE;
    const double seconds = budget ? read_budget(budget) : 60;
    if (seconds <= 0)
        return ws_cli_fail(WS_EXIT_USAGE, "--budget=%s is no time from 1s to 1440m", budget);
    if (dry && out)
        return ws_cli_fail(WS_EXIT_USAGE, "--dry compares no values: it writes no design (-o)");
    if (beam < 1 || beam > 1000 || rounds < 1 || rounds > 1000)
        return ws_cli_fail(WS_EXIT_USAGE, "--beam and --rounds are from 1 to 1000");
    Asked a = { file,
                out,
                resume,
                json,
                dry,
                { .seconds = seconds,
                  .beam = (guint)beam,
                  .rounds = (guint)rounds,
                  .every = every,
                  .seed = (guint64)seed,
                  .cancel = &interrupted,
                  .accept = dry ? NULL : accept,
                  .asks = ASKS,
                  .builds = can_build() && !dry ? can_be_kept : NULL,
                  .progress = show },
                g_hash_table_new(NULL, NULL),
                0 };
    a.options.data = &a;
    const int code = search(&a, set, size, machine);
    g_hash_table_destroy(a.same);
    return code;
}
