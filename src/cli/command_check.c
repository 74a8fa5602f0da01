#include "check/check.h"
#include "check/witness.h"
#include "cli/cli.h"
#include "model/text.h"

#include <stdio.h>
#include <string.h>

static const char *const severities[] = { "hint", "warning", "error" };

int ws_cli_refuse_refuted(WsCliInput *in, const char *file, gboolean force)
{
    g_autoptr(WsVerdict) verdict = ws_check(in->program, NULL, in->findings);
    ws_check_locate(in->design, in->findings);
    if (verdict->kind != WS_VERDICT_REFUTED)
        return WS_EXIT_YES;
    ws_cli_print_findings(in->findings, file);
    if (force) {
        fprintf(stderr, "warpstave: the design is refuted; going on because of --force\n");
        return WS_EXIT_YES;
    }
    return ws_cli_fail(WS_EXIT_NO, "the design is refuted; --force goes on all the same");
}

static void json_field(GString *out, const char *name, const char *value)
{
    g_string_append_printf(out, ", \"%s\": ", name);
    ws_text_json(out, value);
}

static void json_finding(GString *out, const WsFinding *f)
{
    const WsRule *rule = ws_rule(f->rule);
    g_string_append(out, "    { \"rule\": ");
    ws_text_json(out, rule->text);
    json_field(out, "severity", severities[f->severity]);
    json_field(out, "at", f->at);
    g_string_append_printf(out, ", \"line\": %u, \"column\": %u", f->line, f->column);
    json_field(out, "message", f->message);
    json_field(out, "remedy", f->remedy);
    json_field(out, "barrier", f->barrier);
    json_field(out, "round", f->round);
    g_string_append(out, ", \"steps\": [");
    for (guint i = 0; f->steps && i < f->steps->len; i++) {
        if (i)
            g_string_append(out, ", ");
        ws_text_json(out, g_ptr_array_index(f->steps, i));
    }
    g_string_append(out, "] }");
}

static void json_played(GString *out, const WsVerdict *verdict)
{
    g_string_append(out, "  \"played\": [");
    for (guint i = 0; i < verdict->played->len; i++) {
        const WsPlayed *played = &g_array_index(verdict->played, WsPlayed, i);
        g_string_append_printf(out,
                               "%s\n    { \"rounds\": %" G_GINT64_FORMAT ", \"tiles\": %u, "
                               "\"schedule\": %d, \"operations\": %" G_GUINT64_FORMAT " }",
                               i ? "," : "", played->rounds, played->tiles, played->schedule,
                               played->ops);
    }
    g_string_append(out, "\n  ],\n  \"skipped\": [");
    for (guint i = 0; i < verdict->skipped->len; i++) {
        g_string_append(out, i ? ", " : "");
        ws_text_json(out, g_ptr_array_index(verdict->skipped, i));
    }
    g_string_append(out, "],\n");
}

/* Version 1: { version, file, verdict, played, skipped, findings }; verdict and what was played are
 * absent when the design could not be elaborated. */
static void print_json(const char *file, const WsVerdict *verdict, const WsFindings *findings)
{
    g_autoptr(GString) out = g_string_new("{\n  \"version\": 1,\n  \"file\": ");
    ws_text_json(out, file);
    g_string_append(out, ",\n");
    if (verdict) {
        g_string_append_printf(out, "  \"verdict\": \"%s\",\n", ws_verdict_word(verdict->kind));
        if (verdict->proof) {
            g_string_append(out, "  \"proof\": ");
            ws_text_json(out, verdict->proof);
            g_string_append(out, ",\n");
        }
        json_played(out, verdict);
    }
    g_string_append(out, "  \"findings\": [");
    for (guint i = 0; i < findings->list->len; i++) {
        g_string_append(out, i ? ",\n" : "\n");
        json_finding(out, g_ptr_array_index(findings->list, i));
    }
    g_string_append(out, findings->list->len ? "\n  ]\n}\n" : "]\n}\n");
    fputs(out->str, stdout);
}

static int verdict_code(const WsVerdict *verdict, const WsFindings *findings, gboolean strict,
                        const char *require)
{
    int code = ws_findings_exit_code(findings, strict);
    if (verdict->kind == WS_VERDICT_REFUTED)
        return code == WS_EXIT_YES ? WS_EXIT_NO : code;
    if (verdict->kind == WS_VERDICT_OUTSIDE)
        return code == WS_EXIT_YES ? WS_EXIT_OUTSIDE : code;
    if (code == WS_EXIT_YES && require && !strcmp(require, "proved") &&
        verdict->kind != WS_VERDICT_PROVED)
        return WS_EXIT_OUTSIDE;
    return code;
}

/* The shortest run that shows the first error. */
static void print_witness(const char *file, WsCliInput *in, gboolean step)
{
    const WsFinding *first = NULL;
    for (guint i = 0; i < in->findings->list->len && !first; i++) {
        const WsFinding *f = g_ptr_array_index(in->findings->list, i);
        if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass == WS_CLASS_P)
            first = f;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) witness = first ? ws_witness_new(in->program, first, &error) : NULL;
    if (!witness) {
        printf("%s: no witness: %s\n", file, error ? error->message : "nothing was refuted");
        return;
    }
    g_autofree char *text = ws_witness_text(witness, step);
    fputs(text, stdout);
}

int ws_command_check(int argc, char **argv)
{
    gboolean witness = FALSE, step = FALSE;
    gboolean json = FALSE, strict = FALSE, prove = FALSE;
    g_autofree char *require = NULL;
    g_auto(GStrv) set = NULL;
    const GOptionEntry entries[] = {
        { "json", 0, 0, G_OPTION_ARG_NONE, &json, "print version 1 of the JSON form", NULL },
        { "strict", 0, 0, G_OPTION_ARG_NONE, &strict, "warnings count as errors", NULL },
        { "prove", 0, 0, G_OPTION_ARG_NONE, &prove, "try to prove it for all trip counts", NULL },
        { "witness", 0, 0, G_OPTION_ARG_NONE, &witness, "print the shortest run that fails", NULL },
        { "step", 0, 0, G_OPTION_ARG_NONE, &step, "with --witness: barriers and stages too", NULL },
        { "require", 0, 0, G_OPTION_ARG_STRING, &require, "least verdict", "proved|played" },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &set, "override a constant", "NAME=VALUE" },
        { NULL },
    };
    const char *file;
    if (!ws_cli_options(&argc, &argv, "check", entries, &file))
        return WS_EXIT_USAGE;
    if (require && strcmp(require, "proved") && strcmp(require, "played"))
        return ws_cli_fail(WS_EXIT_USAGE, "--require %s: write proved or played", require);
    g_auto(WsCliInput) in = { 0 };
    int code = ws_cli_elaborate(&in, file, set);
    g_autoptr(WsVerdict) verdict = NULL;
    if (code == WS_EXIT_YES) {
        const WsCheckOptions options = { .prove =
                                             prove || (require && !strcmp(require, "proved")) };
        verdict = ws_check(in.program, &options, in.findings);
        ws_check_locate(in.design, in.findings);
        code = verdict_code(verdict, in.findings, strict, require);
    }
    if (json)
        print_json(file, verdict, in.findings);
    else
        ws_cli_print_findings(in.findings, file);
    if (verdict && !json && (witness || step))
        print_witness(file, &in, step);
    if (verdict && !json) {
        g_autofree char *text = ws_verdict_text(verdict);
        printf("%s: %s\n", file, text);
        if (code == WS_EXIT_OUTSIDE && verdict->kind == WS_VERDICT_PLAYED)
            printf("%s: played is less than --require %s asks\n", file, require);
    }
    return code;
}
