/* What xdotool sends, and the keyboard of a scenario. */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

ScenarioCount scenario_count;

static void exited(GObject *process, GAsyncResult *result, gpointer done)
{
    g_autoptr(GError) error = NULL;
    g_subprocess_wait_check_finish(G_SUBPROCESS(process), result, &error);
    g_assert_no_error(error);
    *(gboolean *)done = TRUE;
}

/* Events that xdotool sent have reached the X server when it ends; those that the server has sent
 * us are in the queue after a round trip. */
static void flush_events(void)
{
    GdkDisplay *display = gdk_display_get_default();
    gdk_display_sync(display);
    while (g_main_context_iteration(NULL, FALSE))
        ;
}

static gboolean is_press(const char *word)
{
    return !strcmp(word, "click") || !strcmp(word, "mousedown");
}

/* Of one xdotool line: its options ("--repeat 2") stand between the command and the button. */
static void count(char **word)
{
    static gboolean turning; /* the wheel, which was the last thing that was used */
    for (guint i = 0; word[i]; i++) {
        if (!strcmp(word[i], "key"))
            scenario_count.keys++;
        else if (!strcmp(word[i], "type"))
            scenario_count.typed++;
        else if (!is_press(word[i]))
            continue;
        gboolean wheel = FALSE;
        if (is_press(word[i])) {
            while (word[i + 1] && g_str_has_prefix(word[i + 1], "--"))
                i += 2;
            wheel = word[i + 1] && atoi(word[i + 1]) > 3;
            scenario_count.presses += !wheel;
            scenario_count.wheel += wheel && !turning;
        }
        turning = wheel;
        if (!strcmp(word[i], "type"))
            return; /* what follows is text */
    }
}

void scenario_xdo(const char *words, ...)
{
    va_list list;
    va_start(list, words);
    g_autofree char *text = g_strdup_vprintf(words, list);
    va_end(list);
    g_autofree char *line = g_strconcat("xdotool ", text, NULL);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    count(argv);
    g_autoptr(GError) error = NULL;
    gboolean done = FALSE;
    /* Descriptors stay open so that GLib need not fork: a copy of this process's page tables, which
     * are large with a sanitizer, took a fifth of each scenario's time. */
    g_autoptr(GSubprocess) process =
        g_subprocess_newv((const char *const *)argv, G_SUBPROCESS_FLAGS_INHERIT_FDS, &error);
    g_assert_no_error(error);
    g_subprocess_wait_check_async(process, NULL, exited, &done);
    WAIT_FOR(done);
    flush_events();
}

void scenario_key(const char *keys)
{
    scenario_xdo("key %s", keys);
}

void scenario_type(const char *text)
{
    scenario_xdo("type --delay 1 %s", text);
}
