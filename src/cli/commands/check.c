#include "check/title.h"
#include "check/witness/witness.h"
#include "cli/back_ends.h"
#include "cli/check_files.h"
#include "cli/check_report.h"
#include "cli/colour.h"
#include "cli/import_report.h"
#include "cli/sarif.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "verify/verify.h"

#include <stdio.h>
#include <string.h>

int ws_cli_refuse_refuted(WsCliInput *in, const char *file, gboolean force)
{
    g_autoptr(WsVerdict) verdict = ws_check(in->program, NULL, in->findings);
    ws_check_locate(in->design, in->findings);
    g_free(in->verdict);
    in->verdict = ws_verdict_text(verdict);
    if (verdict->kind != WS_VERDICT_REFUTED)
        return WS_EXIT_YES;
    ws_cli_print_findings(in->findings, file);
    if (force) {
        fprintf(stderr, "warpstave: the design is refuted; continuing because of --force\n");
        return WS_EXIT_YES;
    }
    return ws_cli_fail(WS_EXIT_NO, "the design is refuted; --force continues anyway");
}

/* The shortest run that shows the first error. */
static void print_witness(const char *file, WsCliInput *in, gboolean step)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWitness) witness =
        in->program ? ws_witness_of(in->program, in->findings, &error) : NULL;
    if (!witness) {
        printf("%s: no witness: %s\n", file,
               error ? error->message
               : ws_findings_count(in->findings, WS_SEVERITY_ERROR)
                   ? "no run of the protocol fails; the findings name what does"
                   : "nothing was refuted");
        return;
    }
    g_autofree char *text = ws_witness_text(witness, step);
    fputs(text, stdout);
}

/* `--fix`, `--fix RULE@STEP` and `--fix=RULE@STEP`: GLib would take the design for the argument of
 * the first, so it is taken out before GLib looks. */
static gboolean take_fix(int *argc, char **argv, const char **only)
{
    gboolean found = FALSE;
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (i == 0 || !g_str_has_prefix(argv[i], "--fix") || (argv[i][5] && argv[i][5] != '=')) {
            argv[kept++] = argv[i];
            continue;
        }
        found = TRUE;
        if (argv[i][5] == '=') {
            *only = argv[i] + 6;
        } else if (i + 1 < *argc) {
            g_autofree char *rule = g_strndup(argv[i + 1], strcspn(argv[i + 1], "@"));
            if (ws_rule_find(rule) != WS_RULE_COUNT)
                *only = argv[++i];
        }
    }
    *argc = kept;
    return found;
}

typedef struct {
    gboolean json, strict, witness, step, dry, write, verified, quiet;
    guint policy;
    gboolean list, back_ends, offer; /* offer: an edit of a kernel's text */
    char *require, *policies, *from, *certificate, *kernel, *sarif_file;
    WsSarif *sarif; /* NULL: none is wanted */
    char **set, **define, **assume, **modules;
} Options;

static gboolean read_policy(Options *o)
{
    g_auto(GStrv) word = g_strsplit(o->policies ? o->policies : "", ",", -1);
    for (guint i = 0; word[i]; i++) {
        if (!strcmp(word[i], "strict"))
            o->policy |= WS_POLICY_WAR | WS_POLICY_GATHER;
        else if (!strcmp(word[i], "war"))
            o->policy |= WS_POLICY_WAR;
        else if (!strcmp(word[i], "gather"))
            o->policy |= WS_POLICY_GATHER;
        else
            return FALSE;
    }
    return TRUE;
}

static void clear_options(Options *o)
{
    g_free(o->require);
    g_free(o->policies);
    g_free(o->from);
    g_free(o->certificate);
    g_free(o->kernel);
    g_free(o->sarif_file);
    g_clear_pointer(&o->sarif, ws_sarif_free);
    g_strfreev(o->set);
    g_strfreev(o->define);
    g_strfreev(o->assume);
    g_strfreev(o->modules);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, clear_options)

/* A kernel in another language: imported, judged, what was not read is listed. */
static int judge_kernel(const char *file, WsCliInput *in, const Options *o, const char *kernel,
                        WsVerdict **verdict)
{
    int code;
    const WsImportOptions how = {
        .kernel = kernel, .define = o->define, .assume = o->assume, .modules = o->modules
    };
    const WsCheckOptions options = { .policy = o->policy,
                                     .certificate = o->certificate != NULL || o->verified };
    g_auto(WsJudged) k = { 0 };
    if (!ws_cli_judge_kernel(file, o->from, &how, &options, &k, &code)) {
        in->findings = ws_findings_new();
        if (o->sarif)
            ws_sarif_add(o->sarif, file, kernel, NULL, NULL, 0);
        return code;
    }
    ws_cli_print_unread(k.import);
    in->design = ws_design_ref(k.design);
    in->program = g_steal_pointer(&k.program);
    in->findings = g_steal_pointer(&k.findings);
    *verdict = g_steal_pointer(&k.verdict);
    ws_check_locate(in->design, in->findings);
    ws_import_locate(in->design, in->findings);
    if (o->sarif)
        ws_sarif_add(o->sarif, file, kernel, in->findings, *verdict, ws_import_gap_line(k.import));
    return ws_cli_verdict_code(*verdict, in->findings, o->strict, o->require);
}

/* Reads the file, checks it, or fixes and checks it. */
static int judge(const char *file, WsCliInput *in, const Options *o, const WsCliFix *fix,
                 WsVerdict **verdict)
{
    if (o->from || ws_cli_is_foreign(file))
        return judge_kernel(file, in, o, o->kernel, verdict);
    g_auto(GStrv) set = g_strdupv(o->set); /* reading settings cuts their text */
    int code = ws_cli_elaborate(in, file, set);
    if (fix && in->design) {
        int written = ws_cli_fix(file, in, o->set, fix, verdict);
        if (written != WS_EXIT_YES)
            return written;
        code = ws_findings_exit_code(in->findings, FALSE);
    } else if (code == WS_EXIT_YES) {
        const WsCheckOptions options = { .policy = o->policy,
                                         .certificate = o->certificate != NULL || o->verified };
        *verdict = ws_cli_check_program(in, &options);
    }
    return *verdict ? ws_cli_verdict_code(*verdict, in->findings, o->strict, o->require) : code;
}

static void print_silenced(const WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        if (f->silenced)
            printf("suppressed: %s at %s: %s\n", ws_rule(f->rule)->text, f->at, f->silenced);
    }
}

static void print_findings(const char *file, WsCliInput *in, const WsVerdict *verdict,
                           const Options *o)
{
    ws_cli_print_findings(in->findings, file);
    if (verdict && (o->witness || o->step))
        print_witness(file, in, o->step);
    if (verdict && !o->quiet)
        print_silenced(in->findings);
}

static void print_back_ends(const char *file, const WsCliInput *in, const Options *o)
{
    if (!o->back_ends || !in->program)
        return;
    printf("%s: back ends\n", file);
    ws_cli_print_back_ends(in->program);
}

static void print_text(const char *file, WsCliInput *in, const WsVerdict *verdict, const Options *o)
{
    print_findings(file, in, verdict, o);
    g_autofree char *text = verdict && !o->quiet ? ws_verdict_text(verdict) : NULL;
    if (text)
        printf("%s: %s\n", file, text);
    print_back_ends(file, in, o);
}

/* The file is written whole or not at all; what is not proved leaves it as it was. */
static int write_certificate(const char *file, const WsVerdict *verdict, int code)
{
    if (!verdict || verdict->kind != WS_VERDICT_PROVED)
        return ws_cli_fail(code == WS_EXIT_YES ? WS_EXIT_OUTSIDE : code,
                           "%s: not written: only a proof has a certificate", file);
    if (!verdict->certificate)
        return ws_cli_fail(WS_EXIT_OUTSIDE, "%s: not written: %s", file, verdict->uncertified);
    return ws_cli_write(file, verdict->certificate, -1) ? code : WS_EXIT_USAGE;
}

/* A proof that the verifier does not confirm is none: what it does not handle is outside. */
static int confirm(const char *file, const WsCliInput *in, const WsVerdict *verdict,
                   const Options *o, int code)
{
    if (!verdict || verdict->kind != WS_VERDICT_PROVED || code != WS_EXIT_YES)
        return code;
    if (!verdict->certificate)
        return ws_cli_fail(WS_EXIT_OUTSIDE, "%s: not verified: %s", file, verdict->uncertified);
    g_autoptr(WsVerification) v = ws_verify(in->program, verdict->certificate);
    g_autofree char *text = ws_verification_text(v);
    if (!o->json && !o->quiet)
        printf("%s: %s%s\n", file, v->answer == WS_VERIFIED ? "proved, " : "", text);
    return v->answer == WS_VERIFIED         ? code
           : v->answer == WS_VERIFY_REFUSED ? WS_EXIT_OUTSIDE
                                            : WS_EXIT_DEFECT;
}

/* A line of a table: of a proof what it builds on, of another verdict all. */
static void add_row(GString *table, const char *what, const WsVerdict *verdict, const char *unread)
{
    g_autofree char *text = !verdict                             ? g_strdup(unread)
                            : verdict->kind == WS_VERDICT_PROVED ? ws_verdict_given(verdict)
                                                                 : ws_verdict_text(verdict);
    g_string_append_printf(table, "%-9s  %s%s%s\n",
                           verdict ? ws_verdict_title(verdict->kind) : "unread", what,
                           *text ? "  " : "", text);
}

/* Refuted before defects before outside before proved. */
static int worse(int a, int b)
{
    static const int order[] = { WS_EXIT_NO, WS_EXIT_DEFECT, WS_EXIT_USAGE, WS_EXIT_OUTSIDE };
    for (guint i = 0; i < G_N_ELEMENTS(order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a;
}

/* Each kernel of a file, then a table. */
static int judge_file(const char *file, const Options *o, GString *table)
{
    int code;
    g_autoptr(GPtrArray) kernels = ws_cli_kernels(file, o->from, &code);
    const gboolean none = kernels && !kernels->len;
    if (none)
        code = ws_cli_fail(WS_EXIT_USAGE, "%s: it holds no kernel that is read", file);
    if (!kernels || none)
        g_string_append_printf(table, "unread    %s\n", file);
    if ((!kernels || none) && o->sarif)
        ws_sarif_add(o->sarif, file, NULL, NULL, NULL, 0);
    for (guint i = 0; kernels && i < kernels->len; i++) {
        g_auto(WsCliInput) in = { 0 };
        g_autoptr(WsVerdict) verdict = NULL;
        const char *kernel = g_ptr_array_index(kernels, i);
        g_autofree char *label = g_strdup_printf("%s [%s]", file, kernel);
        const int one = judge_kernel(file, &in, o, kernel, &verdict);
        print_text(label, &in, verdict, o);
        g_autofree char *what = g_strdup_printf("%s  %s", file, kernel);
        add_row(table, what, verdict, "not read");
        code = worse(code, one);
    }
    return code;
}

/* A design among several. */
static int judge_design(const char *file, const Options *o, GString *table, GString *json)
{
    g_auto(WsCliInput) in = { 0 };
    g_autoptr(WsVerdict) verdict = NULL;
    int code = judge(file, &in, o, NULL, &verdict);
    if (o->sarif)
        ws_sarif_add(o->sarif, file, NULL, in.findings, verdict, 0);
    if (o->json) {
        if (o->verified)
            code = confirm(file, &in, verdict, o, code);
        g_auto(GStrv) set = g_strdupv(o->set); /* reading settings cuts their text */
        g_autoptr(GArray) settings = NULL;
        if (!ws_cli_settings(set, "--set", &settings))
            return WS_EXIT_USAGE;
        g_autofree char *text =
            ws_cli_check_json_text(file, &in, settings, verdict, code, o->back_ends);
        g_string_append_printf(json, "%s%s", json->len ? ", " : "", g_strchomp(text));
        return code;
    }
    print_findings(file, &in, verdict, o);
    print_back_ends(file, &in, o);
    if (o->verified)
        code = confirm(file, &in, verdict, o, code);
    add_row(table, file, verdict, "");
    return code;
}

static void print_table(const GString *table)
{
    putchar('\n');
    ws_cli_put_coloured(table->str, stdout);
}

/* Each of several files, then a table. */
static int judge_files(const GPtrArray *files, const Options *o)
{
    g_autoptr(GString) table = g_string_new(NULL), json = g_string_new(NULL);
    int code = WS_EXIT_YES;
    for (guint i = 0; i < files->len && !ws_cli_interrupted(); i++) {
        const char *file = files->pdata[i];
        ws_cli_progress("%s (%u of %u)", file, i + 1, files->len);
        const gboolean kernel = o->from || ws_cli_is_foreign(file);
        if (kernel && (o->json || o->verified))
            code = worse(code,
                         ws_cli_fail(WS_EXIT_USAGE,
                                     "%s: --json and --verified take one kernel at a time", file));
        else
            code = worse(code,
                         kernel ? judge_file(file, o, table) : judge_design(file, o, table, json));
    }
    ws_cli_progress(NULL);
    if (o->json)
        printf("{ \"version\": 2, \"exit\": %d, \"files\": [%s] }\n", code, json->str);
    else if (!o->quiet)
        print_table(table);
    return ws_cli_interrupted() ? WS_EXIT_INTERRUPTED : code;
}

static int list_kernels(const char *file, const Options *o)
{
    int code;
    g_autoptr(GPtrArray) kernels = ws_cli_kernels(file, o->from, &code);
    for (guint i = 0; kernels && i < kernels->len; i++)
        printf("%s\n", (char *)g_ptr_array_index(kernels, i));
    return code;
}

/* More than one thing to judge: several files, a folder, --kernel all, or a file that holds several
 * kernels. -1: it is one. */
static int judge_several(char *const *arguments, guint n, const Options *o)
{
    const char *file = arguments[0];
    const gboolean folder = g_file_test(file, G_FILE_TEST_IS_DIR);
    if (n > 1 || folder) {
        const char *empty = NULL;
        g_autoptr(GPtrArray) files = ws_cli_check_files(arguments, n, o->from, &empty);
        if (empty && (n > 1 || !files->len))
            return ws_cli_fail(WS_EXIT_USAGE, "%s holds no design (*.wstave) and no kernel", empty);
        if (o->kernel && strcmp(o->kernel, "all"))
            return ws_cli_fail(WS_EXIT_USAGE, "--kernel takes one file at a time");
        if (o->certificate)
            return ws_cli_fail(WS_EXIT_USAGE, "--certificate takes one design at a time");
        return files->len ? judge_files(files, o)
                          : ws_cli_fail(WS_EXIT_USAGE, "%s holds no design (*.wstave)", file);
    }
    const gboolean all = !g_strcmp0(o->kernel, "all");
    if (!all && (o->kernel || !(o->from ? strcmp(o->from, "ptx") : ws_cli_is_foreign(file))))
        return -1;
    int code = WS_EXIT_YES;
    g_autoptr(GPtrArray) kernels = all ? NULL : ws_cli_kernels(file, o->from, &code);
    if (!all && (!kernels || kernels->len < 2))
        return code == WS_EXIT_YES ? -1 : code;
    if (o->json || o->certificate || o->verified || o->offer)
        return ws_cli_fail(WS_EXIT_USAGE,
                           "%s holds several kernels: say which one with --kernel NAME", file);
    g_autoptr(GString) table = g_string_new(NULL);
    code = judge_file(file, o, table);
    if (!o->quiet)
        print_table(table);
    return code;
}

/* `code`, unless the file cannot be written. */
static int write_sarif(const Options *o, int code)
{
    g_autofree char *text = o->sarif ? ws_sarif_text(o->sarif) : NULL;
    return !text || ws_cli_write(o->sarif_file, text, -1) ? code : WS_EXIT_USAGE;
}

/* Where the name of the output was forgotten, the next argument is a file to check. What this
 * command reads is kept anyhow (ws_cli_write). */
static gboolean is_input(const char *output, char *const *read)
{
    static const char *const suffix[] = { ".wstave", ".py", ".ptx" };
    if (!output || g_strv_contains((const char *const *)read, output))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(suffix); i++)
        if (g_str_has_suffix(output, suffix[i]))
            return TRUE;
    return FALSE;
}

int ws_command_check(int argc, char **argv)
{
    g_auto(Options) o = { 0 };
    const char *only = NULL;
    const gboolean fixing = take_fix(&argc, argv, &only);
    const GOptionEntry entries[] = {
        { "json", 0, 0, G_OPTION_ARG_NONE, &o.json, "print version 2 of the JSON form", NULL },
        { "strict", 0, 0, G_OPTION_ARG_NONE, &o.strict, "warnings count as errors", NULL },
        { "witness", 0, 0, G_OPTION_ARG_NONE, &o.witness, "print the shortest run that fails",
          NULL },
        { "step", 0, 0, G_OPTION_ARG_NONE, &o.step, "with --witness: barriers and stages too",
          NULL },
        { "fix", 0, 0, G_OPTION_ARG_NONE, &o.write,
          "apply the safe fixes that the check proves; RULE or RULE@STEP: only there, also unsafe "
          "ones; with --from: print an edit of the kernel that is proved, as a difference",
          NULL },
        { "dry-run", 0, 0, G_OPTION_ARG_NONE, &o.dry, "with --fix: print what would change", NULL },
        { "write", 'w', 0, G_OPTION_ARG_NONE, &o.write, "with --fix: write the file (it does)",
          NULL },
        { "require", 0, 0, G_OPTION_ARG_STRING, &o.require,
          "least verdict; played: simulated for some trip counts is enough where there is no proof",
          "proved|played" },
        { "policy", 0, 0, G_OPTION_ARG_STRING, &o.policies,
          "what else is an error: war (plain reads, then a load), gather (gathered bytes, then an "
          "engine), strict (both)",
          "WORD,..." },
        { "certificate", 0, 0, G_OPTION_ARG_FILENAME, &o.certificate,
          "write the certificate of the proof (docs/soundness.md section 8)", "FILE" },
        { "verified", 0, 0, G_OPTION_ARG_NONE, &o.verified,
          "have the proof confirmed by the independent verifier", NULL },
        { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.set, "override a constant", "NAME=VALUE" },
        { "from", 0, 0, G_OPTION_ARG_STRING, &o.from,
          "the file is a kernel in another language (see import); findings name its lines",
          ws_import_names },
        { "kernel", 0, 0, G_OPTION_ARG_STRING, &o.kernel,
          "with --from: which kernel of the file (default: all)", "NAME|all" },
        { "define", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.define,
          "with --from: what a parameter or a constant of the file is", "NAME=VALUE" },
        { "modules", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.modules,
          "with --from: where else to look for files that the file imports from", "FOLDER" },
        { "assume", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.assume,
          "with --from: what holds for the sizes of the kernel", "EXPR" },
        { "back-ends", 0, 0, G_OPTION_ARG_NONE, &o.back_ends,
          "say which back ends can write the design, and what the others lack", NULL },
        { "sarif", 0, 0, G_OPTION_ARG_FILENAME, &o.sarif_file,
          "write what was found in SARIF 2.1.0, of all files in one", "FILE" },
        { "quiet", 'q', 0, G_OPTION_ARG_NONE, &o.quiet,
          "print findings only; the exit code is the verdict", NULL },
        { "list", 0, 0, G_OPTION_ARG_NONE, &o.list, "with --from: names of the kernels", NULL },
        { NULL },
    };
    if (!ws_cli_arguments(&argc, &argv, "check", entries, WS_CLI_SOME, NULL))
        return WS_EXIT_USAGE;
    const char *file = argv[1];
    if (o.require && strcmp(o.require, "proved") && strcmp(o.require, "played"))
        return ws_cli_fail(WS_EXIT_USAGE, "--require %s: write proved or played", o.require);
    if (o.dry && !fixing)
        return ws_cli_fail(WS_EXIT_USAGE, "--dry-run goes with --fix");
    if (fixing && (argc > 2 || g_file_test(file, G_FILE_TEST_IS_DIR)))
        return ws_cli_fail(WS_EXIT_USAGE, "--fix takes one design at a time");
    if (fixing && !o.dry && !strcmp(file, "-"))
        return ws_cli_fail(WS_EXIT_USAGE, "--fix writes the file: the standard input is none "
                                          "(--dry-run prints what would change)");
    if (o.from && g_strv_contains((const char *const *)argv + 1, "-"))
        return ws_cli_fail(WS_EXIT_USAGE, "a kernel is read more than once: name a file, not -");
    if (o.json && fixing)
        return ws_cli_fail(WS_EXIT_USAGE, "--json does not go with --fix: fix first, then ask");
    o.offer = fixing && (o.from || ws_cli_is_foreign(file));
    if (o.offer && only)
        return ws_cli_fail(WS_EXIT_USAGE, "--fix RULE edits designs: write --fix alone");
    if (fixing && o.certificate)
        return ws_cli_fail(WS_EXIT_USAGE, "--certificate does not go with --fix: fix first");
    if (fixing && o.verified)
        return ws_cli_fail(WS_EXIT_USAGE, "--verified does not go with --fix: fix first");
    if (!read_policy(&o))
        return ws_cli_fail(WS_EXIT_USAGE, "--policy %s: write war, gather or strict", o.policies);
    const char *sarif = is_input(o.sarif_file, argv + 1) ? o.sarif_file : NULL;
    if (sarif || is_input(o.certificate, argv + 1))
        return ws_cli_fail(WS_EXIT_USAGE, "%s is the name of a design or a kernel: not written",
                           sarif ? sarif : o.certificate);
    if (o.list)
        return list_kernels(file, &o);
    if (o.sarif_file && fixing)
        return ws_cli_fail(WS_EXIT_USAGE, "--sarif does not go with --fix: fix first, then ask");
    o.sarif = o.sarif_file ? ws_sarif_new() : NULL;
    const int several = fixing && !o.offer ? -1 : judge_several(argv + 1, (guint)argc - 1, &o);
    if (several >= 0)
        return write_sarif(&o, several);
    const WsCheckOptions options = { .policy = o.policy };
    const WsCliFix fix = { only, o.dry, &options };
    g_auto(WsCliInput) in = { 0 };
    g_autoptr(WsVerdict) verdict = NULL;
    int code = judge(file, &in, &o, fixing ? &fix : NULL, &verdict);
    if (o.sarif && !o.from && !ws_cli_is_foreign(file))
        ws_sarif_add(o.sarif, file, NULL, in.findings, verdict, 0);
    if (o.json)
        ws_cli_check_json(file, &in, o.set, verdict, code, o.back_ends);
    else if (in.findings)
        print_text(file, &in, verdict, &o);
    if (o.offer && verdict) {
        const WsImportOptions how = {
            .kernel = o.kernel, .define = o.define, .assume = o.assume, .modules = o.modules
        };
        const WsCheckOptions check = { .policy = o.policy };
        ws_cli_offer_edit(file, o.from, &how, &check);
    }
    if (o.verified)
        code = confirm(file, &in, verdict, &o, code);
    if (o.certificate)
        code = write_certificate(o.certificate, verdict, code);
    return write_sarif(&o, code);
}
