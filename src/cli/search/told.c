/* What a search says, prints and writes. */
#include "check/check.h"
#include "check/verdict.h"
#include "cli/search/asked.h"
#include "edit/edit.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "search/bound.h"

#include <stdio.h>
#include <string.h>

/* --- what is said -------------------------------------------------------------------------------
 */

static double gain(const WsSearch *s, const WsFound *f)
{
    return 100 * ((double)s->cycles / (double)MAX(f->cycles, 1) - 1);
}

/* Of what is printed as found: the check says nothing of values. */
static gboolean has_same_values(const WsSearchAsked *a, const WsFound *f)
{
    return g_hash_table_contains(a->same, f->design);
}

static const char *values_text(const WsSearchAsked *a, const WsFound *f)
{
    if (!f->decision->len)
        return "proved; as it is: ";
    return has_same_values(a, f) ? "proved, and rehearsed with the values of the reference: "
                                 : "proved, but its values were compared with nothing: ";
}

/* What its proof builds on, "" if on nothing. Transfer full. */
static char *given_of(const WsFound *f)
{
    g_autoptr(WsFindings) ignored = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(f->design, NULL, 0, ignored);
    g_autoptr(WsVerdict) v = p ? ws_check(p, NULL, ignored) : NULL;
    return v ? ws_verdict_given(v) : g_strdup("");
}

void ws_told_print(const WsSearchAsked *a, const WsTrialOf *of, const WsSearch *s)
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
    else if (!ws_asked_can_build())
        printf("not assembled: ptxas is not here, which may serialise products or spill\n");
    printf("differences of less than 1 %% mean nothing: the clock cannot tell them\n"
           "as it is: %" G_GINT64_FORMAT " cycles predicted\n%s",
           s->cycles, least);
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *f = s->found->pdata[i];
        printf("%s%" G_GINT64_FORMAT " cycles predicted (%+.1f %%), %" G_GUINT64_FORMAT
               " bytes of shared memory, %" G_GINT64_FORMAT " registers\n",
               values_text(a, f), f->cycles, gain(s, f), f->shared, f->registers);
        g_autofree char *given = given_of(f);
        if (*given)
            printf("  proved %s\n", given);
        if (f->late > 0)
            printf("  %" G_GINT64_FORMAT " cycles where loads take %.0f %% longer\n", f->late,
                   100 * a->options.jitter);
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

void ws_told_json(WsJsonOut *j, const WsSearchAsked *a, const WsTrialOf *of, const WsSearch *s)
{
    const WsSearchBound bound = ws_search_bound_of(of);
    ws_json_out_text(j, "file", a->file);
    ws_json_out_integer(j, "tried", s->tried);
    ws_json_out_integer(j, "idle", s->idle);
    ws_json_out_integer(j, "known", s->known);
    ws_json_out_integer(j, "repeated", s->repeated);
    ws_json_out_integer(j, "unfit", s->unfit);
    ws_json_out_integer(j, "refuted", s->refuted);
    ws_json_out_integer(j, "undecided", s->undecided);
    ws_json_out_integer(j, "differ", s->rejected - a->unbuilt);
    ws_json_out_integer(j, "serial", s->serial);
    ws_json_out_integer(j, "unbuilt", a->unbuilt + s->unbuilt);
    ws_json_out_truth(j, "assembled", ws_asked_can_build() && !a->dry);
    ws_json_out_truth(j, "stopped", s->stopped);
    ws_json_out_integer(j, "cycles", s->cycles);
    ws_search_bound_json(j, &bound);
    ws_json_out_open(j, "found", '[');
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *f = s->found->pdata[i];
        ws_json_out_open(j, NULL, '{');
        ws_json_out_integer(j, "cycles", f->cycles);
        ws_json_out_integer(j, "shared", (gint64)f->shared);
        ws_json_out_integer(j, "registers", f->registers);
        if (f->late > 0)
            ws_json_out_integer(j, "late", f->late);
        ws_json_out_truth(j, "compared", has_same_values(a, f));
        g_autofree char *given = given_of(f);
        if (*given)
            ws_json_out_text(j, "given", given);
        if (f->floor.cycles > 0) {
            ws_json_out_integer(j, "floor", f->floor.cycles);
            ws_json_out_text(j, "unit", f->floor.unit);
        }
        ws_json_out_texts(j, "decisions", f->decision);
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
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

char *ws_told_text(const WsFound *f)
{
    g_autoptr(WsDesign) design = f->decision->len ? with_history(f) : NULL;
    return ws_design_print(design ? design : f->design);
}

char *ws_told_file(const char *out, guint i)
{
    const gsize stem = strlen(out) - (g_str_has_suffix(out, ".wstave") ? strlen(".wstave") : 0);
    return i ? g_strdup_printf("%.*s-%u%s", (int)stem, out, i + 1, out + stem) : g_strdup(out);
}

int ws_told_write(const WsSearchAsked *a, const WsSearch *s)
{
    guint written = 0;
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *f = s->found->pdata[i];
        if (!f->decision->len)
            continue;
        g_autofree char *text = ws_told_text(f);
        g_autofree char *file = ws_told_file(a->out, written++);
        if (!ws_cli_write(file, text, -1))
            return WS_EXIT_DEFECT;
    }
    return written ? WS_EXIT_YES
                   : ws_cli_fail(WS_EXIT_NO, "nothing faster was found: %s is not written", a->out);
}
