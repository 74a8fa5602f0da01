/* What the commands of warpstave(1) share: options, loading, printing. */
#pragma once

#include "advise/idle.h"
#include "base/json_out.h"
#include "cli/exit.h"
#include "clock/clock.h"
#include "model/forward.h"
#include "program/forward.h"

G_BEGIN_DECLS

#define WS_COMMAND(name, arguments, codegen, help) int ws_command_##name(int argc, char **argv);
#include "cli/command.def"
#undef WS_COMMAND

/* Parses argv[1..] with `entries` (may be NULL) plus nothing else; the one positional argument is
 * returned in *file (owned by argv). Prints usage errors itself and returns FALSE: exit 2. */
gboolean ws_cli_options(int *argc, char ***argv, const char *command, const GOptionEntry *entries,
                        const char **file);
/* The same for `n` positional arguments; WS_CLI_SOME: one or more, which are argv[1..] then. */
enum { WS_CLI_SOME = -1 };
gboolean ws_cli_arguments(int *argc, char ***argv, const char *command, const GOptionEntry *entries,
                          int n, const char **file);
/* "NAME=VALUE" strings -> settings (names owned by the strings, which are cut in place). */
gboolean ws_cli_settings(char **text, const char *option, GArray **settings);
/* FALSE, and said: one of the shapes of --case holds nothing. NULL: there are none. */
gboolean ws_cli_shapes(char *const *shape);

typedef struct {
    WsDesign *design;
    WsProgram *program;
    WsFindings *findings;
    char *verdict; /* what ws_cli_refuse_refuted() was told; NULL before */
} WsCliInput;
/* Loads and elaborates; findings of reading and elaboration stay in `in->findings`. Returns
 * WS_EXIT_YES if there is a program without errors; otherwise the exit code (findings printed). */
int ws_cli_load(WsCliInput *in, const char *file, char **set);
/* The same, but prints nothing. */
int ws_cli_elaborate(WsCliInput *in, const char *file, char **set);
void ws_cli_input_clear(WsCliInput *in);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsCliInput, ws_cli_input_clear)

/* Launch values for sizes given as NAME=VALUE; prints findings; NULL on failure (*code set). */
WsLaunchValues *ws_cli_launch(const WsProgram *p, char **size, gboolean rehearse, int *code);

/* A design with a launch of it and the machine it is predicted for. */
typedef struct {
    WsCliInput in;
    WsLaunchValues *values;
    WsMachine *machine;
} WsCliLaunched;

/* NULL `machine`: the built-in one. WS_EXIT_YES with all of them; else the exit code, and what is
 * wrong is printed. Clear it in either case. */
int ws_cli_launched(WsCliLaunched *l, const char *file, char **set, char **size,
                    const char *machine);
void ws_cli_launched_clear(WsCliLaunched *l);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsCliLaunched, ws_cli_launched_clear)

/* Plays the design; a refuted one is refused with its findings unless `force`. */
int ws_cli_refuse_refuted(WsCliInput *in, const char *file, gboolean force);

/* Plays the clock on the machine in `machine` (NULL: the built-in one), with `gains` once more for
 * each wait; findings are printed. NULL with *code set on failure. Transfer full. */
WsClockResult *ws_cli_clock(const WsProgram *p, const WsLaunchValues *v, const char *machine,
                            gboolean gains, int *code);

/* The trace in `file`, which must be of this very program; otherwise NULL, the reason printed. */
WsTrace *ws_cli_trace_of(const WsProgram *p, const char *file);
/* Prints a trace beside the one in `file`, step by step; the exit code. */
int ws_cli_print_comparison(const WsTrace *a, const char *file);
/* The same as members of the open object, file names aside. */
int ws_cli_put_comparison(WsJsonOut *json, const WsTrace *a, const char *file);
/* What `simulate --json` prints (WsIdle of advise/idle.h); caller frees. */
char *ws_cli_clock_json(const WsClockResult *r, const WsProgram *p, const WsIdle *idle);
/* The object that --json prints (docs/schema): its begin with the version, and its end, which
 * prints it. */
void ws_cli_json_begin(WsJsonOut *json);
void ws_cli_json_end(WsJsonOut *json);
/* The same, but nothing is printed if nothing was added since the text had `length` bytes. */
void ws_cli_json_end_after(WsJsonOut *json, gsize length);
void ws_cli_print_findings(const WsFindings *f, const char *file);
/* Writes text to a file (temporary + rename) or to stdout when `out` is NULL or "-". */
gboolean ws_cli_write(const char *out, const char *text, gssize length);
/* The exit code of a command that would end with `code`: a verdict that nobody could read is not
 * told by an exit of 0. */
int ws_cli_delivered(int code);
/* A file that was written to "-" has the standard output to itself: what is said from now on goes
 * to the standard error. Other names (and NULL) change nothing. */
void ws_cli_say_aside(const char *out);
/* Says why a command fails; with --errors=FILE also there, as JSON. Returns `code`. */
int ws_cli_fail(int code, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same of findings, the first error for --errors. */
int ws_cli_fail_findings(int code, const WsFindings *findings, const char *file);
int ws_cli_fail_with(int code, const GError *error); /* with what a refusal knows besides */
/* What a long command does now, on a line of its own of a terminal (standard error; else nothing);
 * NULL takes it away. */
void ws_cli_progress(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* TRUE once Ctrl-C was pressed. */
gboolean ws_cli_interrupted(void);

G_END_DECLS
