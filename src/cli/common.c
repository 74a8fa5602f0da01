#include "base/file.h"
#include "base/phrase.h"
#include "cli/cli.h"
#include "cli/colour.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"
#include "program/walk/walk.h"
#include "trace/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    interrupted = 1;
}

gboolean ws_cli_interrupted(void)
{
    static gsize installed;
    if (g_once_init_enter(&installed)) {
        struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };
        sigaction(SIGINT, &action, NULL);
        g_once_init_leave(&installed, 1);
    }
    return interrupted != 0;
}

void ws_cli_progress(const char *format, ...)
{
    static gboolean shown;
    if (!isatty(STDERR_FILENO) || g_strcmp0(g_getenv("TERM"), "dumb") == 0)
        return;
    if (shown)
        fputs("\r\033[K", stderr);
    shown = format != NULL;
    if (!format)
        return;
    va_list list;
    va_start(list, format);
    g_autofree char *text = g_strdup_vprintf(format, list);
    va_end(list);
    fprintf(stderr, "%.100s", text);
    fflush(stderr);
}

void ws_cli_say_aside(const char *out)
{
    fflush(stdout);
    if (g_strcmp0(out, "-") == 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

/* --- why a command fails ---------------------------------------------------------------------- */

static const char *errors_file; /* --errors of every command: for who runs it and reads no prose */

/* The last one stays; where it cannot be written, the standard error still says it. */
static void keep_error(int code, const char *message, const WsRefusal *r)
{
    WsJsonOut j;
    if (!errors_file || code == WS_EXIT_YES) /* a remark */
        return;
    ws_json_out_init(&j);
    ws_json_out_open(&j, NULL, '{');
    ws_json_out_integer(&j, "version", 1);
    ws_json_out_integer(&j, "code", code);
    ws_json_out_text(&j, "message", message);
    ws_json_out_text(&j, "lens", r ? r->lens : NULL);
    ws_json_out_text(&j, "step", r ? r->step : NULL);
    const struct {
        const char *name, *phrase_name, *phrase;
    } said[] = { { "why", "why_phrase", r ? r->why : NULL },
                 { "remedy", "remedy_phrase", r ? r->remedy : NULL } };
    for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
        g_autofree char *english = ws_phrase_text(said[i].phrase, NULL, NULL);
        ws_json_out_text(&j, said[i].name, english);
        ws_json_out_text(&j, said[i].phrase_name, said[i].phrase);
    }
    ws_json_out_close(&j, '}');
    g_autofree char *text = ws_json_out_end(&j);
    ws_file_write(errors_file, text, strlen(text), NULL);
}

int ws_cli_fail(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    fprintf(stderr, "warpstave: %s\n", text);
    keep_error(code, text, NULL);
    return code;
}

int ws_cli_fail_findings(int code, const WsFindings *findings, const char *file)
{
    const WsFinding *first = NULL;
    for (guint i = 0; i < findings->list->len && !first; i++) {
        const WsFinding *f = findings->list->pdata[i];
        first = f->severity == WS_SEVERITY_ERROR && !f->silenced ? f : NULL;
    }
    ws_cli_print_findings(findings, file);
    if (first)
        keep_error(code, first->message, NULL);
    return code;
}

int ws_cli_fail_with(int code, const GError *error)
{
    fprintf(stderr, "warpstave: %s\n", error->message);
    keep_error(code, error->message, ws_generate_refusal(error));
    return code;
}

/* --errors=FILE, wherever it stands: other options may be wrong. */
static void take_errors_file(int *argc, char **argv)
{
    static const char option[] = "--errors=";
    int n = 1;
    for (int i = 1; i < *argc; i++) {
        if (g_str_has_prefix(argv[i], option))
            errors_file = argv[i] + strlen(option);
        else
            argv[n++] = argv[i];
    }
    argv[ *argc = n] = NULL;
    /* An error may be told before a file was read: none that the command names takes its text. */
    for (int i = 1; errors_file && i < n; i++) {
        const int fd = open(argv[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0) {
            ws_file_was_read(fd);
            close(fd);
        }
    }
}

static const char *command_arguments(const char *command)
{
#define WS_COMMAND(name, arguments, codegen, help)                                                 \
    if (!strcmp(command, #name))                                                                   \
        return arguments;
#include "cli/command.def"
#undef WS_COMMAND
    return "";
}

/* What --help ends with. */
static char *examples_of(const char *command)
{
    GString *text = g_string_new("Examples:");
#define WS_EXAMPLE(name, line)                                                                     \
    if (!strcmp(command, #name))                                                                   \
        g_string_append_printf(text, "\n  %s", line);
#include "cli/example.def"
#undef WS_EXAMPLE
    return g_string_free(text, FALSE);
}

gboolean ws_cli_arguments(int *argc, char ***argv, const char *command, const GOptionEntry *entries,
                          int n, const char **file)
{
    g_autoptr(GOptionContext) context = g_option_context_new(command_arguments(command));
    g_autoptr(GError) error = NULL;
    g_autofree char *examples = examples_of(command);
    g_option_context_set_description(context, examples);
    if (entries)
        g_option_context_add_main_entries(context, entries, NULL);
    take_errors_file(argc, *argv);
    g_autofree char *program = g_strdup_printf("warpstave %s", command);
    g_set_prgname(program);
    if (!g_option_context_parse(context, argc, argv, &error)) {
        ws_cli_fail(WS_EXIT_USAGE, "%s: %s (see warpstave %s --help)", command, error->message,
                    command);
        return FALSE;
    }
    if (n == WS_CLI_SOME ? *argc < 2 : *argc != n + 1) {
        ws_cli_fail(WS_EXIT_USAGE, "usage: warpstave %s %s", command, command_arguments(command));
        return FALSE;
    }
    for (int i = 0; file && i < n; i++)
        file[i] = (*argv)[i + 1];
    return TRUE;
}

gboolean ws_cli_options(int *argc, char ***argv, const char *command, const GOptionEntry *entries,
                        const char **file)
{
    return ws_cli_arguments(argc, argv, command, entries, 1, file);
}

gboolean ws_cli_settings(char **text, const char *option, GArray **settings)
{
    g_autoptr(GArray) list = g_array_new(FALSE, TRUE, sizeof(WsSetting));
    for (guint i = 0; text && text[i]; i++) {
        char *equals = strchr(text[i], '=');
        gint64 value;
        if (!equals || equals == text[i] ||
            !g_ascii_string_to_signed(equals + 1, 10, G_MININT64, G_MAXINT64, &value, NULL)) {
            ws_cli_fail(WS_EXIT_USAGE, "%s %s: write NAME=INTEGER", option, text[i]);
            return FALSE;
        }
        *equals = '\0';
        for (guint k = 0; k < list->len; k++)
            if (!strcmp(g_array_index(list, WsSetting, k).name, text[i])) {
                ws_cli_fail(WS_EXIT_USAGE, "%s: %s is given twice", option, text[i]);
                return FALSE;
            }
        WsSetting setting = { .name = text[i], .value = value };
        g_array_append_val(list, setting);
    }
    *settings = g_steal_pointer(&list);
    return TRUE;
}

gboolean ws_cli_shapes(char *const *shape)
{
    for (guint i = 0; shape && shape[i]; i++)
        if (!shape[i][strspn(shape[i], " ,")]) {
            ws_cli_fail(WS_EXIT_USAGE, "--case '%s' names no size: write --case \"M=1 N=2\"",
                        shape[i]);
            return FALSE;
        }
    return TRUE;
}

void ws_cli_json_begin(WsJsonOut *json)
{
    ws_json_out_init(json);
    ws_json_out_open(json, NULL, '{');
    ws_json_out_integer(json, "version", 1);
}

void ws_cli_json_end(WsJsonOut *json)
{
    ws_json_out_close(json, '}');
    puts(json->out->str);
    g_string_free(json->out, TRUE);
}

void ws_cli_json_end_after(WsJsonOut *json, gsize length)
{
    if (json->out->len > length)
        ws_cli_json_end(json);
    else
        g_string_free(json->out, TRUE);
}

void ws_cli_print_findings(const WsFindings *f, const char *file)
{
    g_autofree char *text = ws_findings_print(f, file);
    ws_cli_put_coloured(text, stderr);
}

int ws_cli_elaborate(WsCliInput *in, const char *file, char **set)
{
    g_autoptr(GArray) settings = NULL;
    in->findings = ws_findings_new();
    if (!ws_cli_settings(set, "--set", &settings))
        return WS_EXIT_USAGE;
    in->design = ws_design_load(file, in->findings);
    if (in->design)
        in->program = ws_elaborate(in->design, (const WsSetting *)settings->data, settings->len,
                                   in->findings);
    int code = ws_findings_exit_code(in->findings, FALSE);
    return code == WS_EXIT_YES && !in->program ? WS_EXIT_DEFECT : code;
}

int ws_cli_load(WsCliInput *in, const char *file, char **set)
{
    int code = ws_cli_elaborate(in, file, set);
    if (code != WS_EXIT_YES && in->findings)
        ws_cli_fail_findings(code, in->findings, file);
    if (code == WS_EXIT_YES && in->program->unread)
        fprintf(stderr, "%s: %s was not read: times and results leave it out\n", file,
                in->program->unread);
    return code;
}

void ws_cli_input_clear(WsCliInput *in)
{
    g_clear_pointer(&in->program, ws_program_unref);
    g_clear_pointer(&in->design, ws_design_unref);
    g_clear_pointer(&in->findings, ws_findings_free);
    g_clear_pointer(&in->verdict, g_free);
}

WsLaunchValues *ws_cli_launch(const WsProgram *p, char **size, gboolean rehearse, int *code)
{
    g_autoptr(GArray) sizes = NULL;
    g_autoptr(WsFindings) findings = ws_findings_new();
    if (!ws_cli_settings(size, "--size", &sizes)) {
        *code = WS_EXIT_USAGE;
        return NULL;
    }
    G_STATIC_ASSERT(sizeof(WsSize) == sizeof(WsSetting));
    WsLaunchValues *values =
        ws_launch_values(p, (const WsSize *)(gpointer)sizes->data, sizes->len, rehearse, findings);
    if (values)
        ws_launchable(p, values, ws_launch_grid(values, ws_launch_most(p)), findings);
    if (!values || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        ws_cli_print_findings(findings, p->file);
        *code = WS_EXIT_USAGE;
        g_clear_pointer(&values, ws_launch_values_free);
    }
    return values;
}

int ws_cli_launched(WsCliLaunched *l, const char *file, char **set, char **size,
                    const char *machine)
{
    g_autoptr(GError) error = NULL;
    int code = ws_cli_load(&l->in, file, set);
    if (code != WS_EXIT_YES)
        return code;
    l->values = ws_cli_launch(l->in.program, size, FALSE, &code);
    if (!l->values)
        return code;
    l->machine = ws_machine_for(machine, l->in.program->target, &error);
    return l->machine ? WS_EXIT_YES : ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
}

void ws_cli_launched_clear(WsCliLaunched *l)
{
    ws_cli_input_clear(&l->in);
    g_clear_pointer(&l->values, ws_launch_values_free);
    g_clear_pointer(&l->machine, ws_machine_free);
}

/* Says once that the standard output does not take what is printed. FALSE */
static gboolean fail_to_print(int code)
{
    static gboolean told;
    if (!told)
        ws_cli_fail(code, "cannot write to standard output: %s", g_strerror(errno));
    told = TRUE;
    return FALSE;
}

int ws_cli_delivered(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    const int lost = code == WS_EXIT_YES ? WS_EXIT_USAGE : code;
    fail_to_print(lost);
    return lost;
}

gboolean ws_cli_write(const char *out, const char *text, gssize length)
{
    g_autoptr(GError) error = NULL;
    gsize n = length < 0 ? strlen(text) : (gsize)length;
    if (!out || !strcmp(out, "-")) {
        gboolean whole = fwrite(text, 1, n, stdout) == n && fflush(stdout) == 0;
        return whole || fail_to_print(WS_EXIT_USAGE);
    }
    if (!ws_file_write(out, text, n, &error)) {
        ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
        return FALSE;
    }
    return TRUE;
}

WsTrace *ws_cli_trace_of(const WsProgram *p, const char *file)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) t = ws_trace_load(file, &error);
    if (!t)
        ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    else if (g_strcmp0(t->design_hash, p->design_hash) == 0)
        return g_steal_pointer(&t);
    else
        ws_cli_fail(WS_EXIT_USAGE,
                    "%s was recorded from another design, or with other --set: its steps are not "
                    "those of %s (warpstave trace and warpstave diff read it alone)",
                    file, p->file ? p->file : "this one");
    return NULL;
}

static void put_spread(WsJsonOut *json, const char *name, const WsTraceSpread *s)
{
    ws_json_out_open(json, name, '{');
    ws_json_out_integer(json, "p50", s->p50);
    ws_json_out_integer(json, "p95", s->p95);
    ws_json_out_integer(json, "most", s->max);
    ws_json_out_close(json, '}');
}

int ws_cli_put_comparison(WsJsonOut *json, const WsTrace *a, const char *file)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) b = ws_trace_load(file, &error);
    if (!b)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    g_autoptr(WsTraceComparison) c = ws_trace_compare(a, b);
    ws_json_out_integer(json, "common", c->common);
    ws_json_out_integer(json, "only_a", c->only_a);
    ws_json_out_integer(json, "only_b", c->only_b);
    ws_json_out_open(json, "steps", '[');
    for (guint i = 0; i < c->row->len; i++) {
        const WsTraceDelta *d = &g_array_index(c->row, WsTraceDelta, i);
        ws_json_out_open(json, NULL, '{');
        ws_json_out_text(json, "agent", a->agent_name->pdata[d->agent]);
        ws_json_out_text(json, "step", a->op_id->pdata[d->op]);
        ws_json_out_integer(json, "executions", d->n);
        put_spread(json, "held_a", &d->held_a);
        put_spread(json, "held_b", &d->held_b);
        put_spread(json, "flight_a", &d->flight_a);
        put_spread(json, "flight_b", &d->flight_b);
        ws_json_out_integer(json, "total_a", d->total_a);
        ws_json_out_integer(json, "total_b", d->total_b);
        ws_json_out_integer(json, "drift", d->drift);
        ws_json_out_close(json, '}');
    }
    ws_json_out_close(json, ']');
    ws_json_out_texts(json, "loops", c->loop);
    return WS_EXIT_YES;
}

int ws_cli_print_comparison(const WsTrace *a, const char *file)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsTrace) b = ws_trace_load(file, &error);
    if (!b)
        return ws_cli_fail(WS_EXIT_USAGE, "%s", error->message);
    g_autoptr(WsTraceComparison) c = ws_trace_compare(a, b);
    g_autofree char *text = ws_trace_comparison_print(c, a, b);
    g_autofree char *rounds = ws_trace_rounds_print(a, b, 4);
    printf("%s\n%s", text, rounds);
    return WS_EXIT_YES;
}
