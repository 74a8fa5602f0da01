/* warpstave(1): finds the command in the table and runs it. */
#include "base/file.h"
#include "base/temporary.h"
#include "base/text.h"
#include "cli/cli.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#ifdef WS_HAVE_CODEGEN
#define HAVE_CODEGEN TRUE
#else
#define HAVE_CODEGEN FALSE
#endif

static const struct {
    const char *name, *arguments;
    gboolean needs_codegen;
    const char *help;
    int (*run)(int argc, char **argv);
} commands[] = {
#define WS_COMMAND(name, arguments, codegen, help)                                                 \
    { #name, arguments, codegen, help, ws_command_##name },
#include "cli/command.def"
#undef WS_COMMAND
};

static const struct {
    const char *word, *command;
} habits[] = {
#define WS_HABIT(word, command) { word, command },
#include "cli/habit.def"
#undef WS_HABIT
};

/* " (did you mean 'check'?)", or how a word of other tools is said here; caller frees. */
static char *meant(const char *word)
{
    const char *names[G_N_ELEMENTS(commands)], *command = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(habits); i++)
        command = strcmp(word, habits[i].word) ? command : habits[i].command;
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        names[i] = commands[i].name;
        if (command && !strcmp(command, names[i]))
            return g_strdup_printf(" (here: 'warpstave %s %s')", names[i], commands[i].arguments);
    }
    const char *near = ws_text_nearest(word, names, G_N_ELEMENTS(names));
    return near ? g_strdup_printf(" (did you mean '%s'?)", near) : g_strdup("");
}

static int print_help(FILE *to)
{
    fprintf(to, "usage: warpstave COMMAND [OPTION…] …\n\n");
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        const glong room = 40 - g_utf8_strlen(commands[i].arguments, -1); /* %-40s counts bytes */
        fprintf(to, "  %-9s %s%*s %s\n", commands[i].name, commands[i].arguments, (int)MAX(room, 0),
                "", commands[i].help);
    }
    fprintf(
        to,
        "\nwarpstave help COMMAND lists the options of a command, with examples.\n"
        "Tutorials and JSON schemas: docs/ (installed: share/doc/warpstave/docs/).\n"
        "Exit: 0 yes, 1 no (refuted, wrong values, a missed goal), 2 unreadable input or usage,\n"
        "      3 undecided or unsupported, 4 a GPU, driver, tool or host is missing,\n"
        "      5 a bug of this program, 130 interrupted.\n");
    return to == stdout ? WS_EXIT_YES : WS_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    if (argc < 2)
        return print_help(stderr);
    if (!strcmp(argv[1], "help") && argc == 3) { /* help COMMAND is COMMAND --help */
        char *asked[] = { argv[0], argv[2], "--help", NULL };
        return run(3, asked);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return print_help(stdout);
    if (!strcmp(argv[1], "--version")) {
        printf("warpstave %s\ncode generation: %s\n", WARPSTAVE_VERSION,
               HAVE_CODEGEN ? "yes (LLVM)" : "no (built without LLVM)");
        return WS_EXIT_YES;
    }
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (strcmp(argv[1], commands[i].name))
            continue;
        if (commands[i].needs_codegen && !HAVE_CODEGEN)
            return ws_cli_fail(WS_EXIT_ABSENT,
                               "%s needs code generation: build with LLVM 22 "
                               "(apt-get install llvm-22-dev)",
                               argv[1]);
        return commands[i].run(argc - 1, argv + 1);
    }
    g_autofree char *command = meant(argv[1]);
    return ws_cli_fail(WS_EXIT_USAGE, "no command '%s'%s; see warpstave --help", argv[1], command);
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    ws_file_keep_inputs();
    ws_temporary_guard();
    return ws_cli_delivered(run(argc, argv));
}
