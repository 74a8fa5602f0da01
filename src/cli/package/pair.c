#include "cli/package/pair.h"
#include "cli/cli.h"
#include "cli/kernels.h"
#include "cli/package/gradient.h"
#include "cli/package/text.h"
#include "package/pair.h"
#include "program/program.h"
#include "target/target.h"

#include <stdio.h>
#include <string.h>

#ifdef WS_HAVE_CODEGEN

/* One launch; all of it is owned. */
typedef struct {
    WsCliInput in;
    char *ptx, *outcome;
    GBytes *cubin;
} Launch;

static void launch_free(gpointer data)
{
    Launch *l = data;
    ws_cli_input_clear(&l->in);
    g_free(l->ptx);
    g_free(l->outcome);
    g_clear_pointer(&l->cubin, g_bytes_unref);
    g_free(l);
}

/* Settings whose constant the design has, NULL-terminated: its own copies, as reading cuts them. */
static char **settings_of(const char *file, char **set)
{
    g_auto(WsCliInput) plain = { 0 };
    g_autoptr(GStrvBuilder) out = g_strv_builder_new();
    ws_cli_elaborate(&plain, file, NULL);
    for (char **s = set; s && *s; s++) {
        const gsize n = strcspn(*s, "=");
        gboolean has = !plain.program; /* what is wrong is said when it is loaded */
        for (guint i = 0; !has && i < plain.program->n_constants; i++)
            has = strlen(plain.program->constant_name[i]) == n &&
                  strncmp(plain.program->constant_name[i], *s, n) == 0;
        if (has)
            g_strv_builder_add(out, *s);
    }
    return g_strv_builder_end(out);
}

static int load(Launch *l, const char *file, char **set, gboolean force)
{
    int code = ws_cli_load(&l->in, file, set);
    if (code == WS_EXIT_YES && l->in.program->hardware->halves)
        code = ws_cli_fail(WS_EXIT_OUTSIDE,
                           "%s: target %s: not supported by package --backward (its package is C)",
                           file, l->in.program->target);
    if (code == WS_EXIT_YES)
        code = ws_cli_refuse_refuted(&l->in, file, force);
    if (code == WS_EXIT_YES)
        l->outcome = ws_cli_package_outcome(l->in.verdict);
    return code;
}

static int assemble(Launch *l, WsPackageSpec *spec)
{
    g_autoptr(GError) error = NULL;
    if (!ws_cli_timed_kernel(l->in.program, &l->ptx, &l->cubin, &error))
        return ws_cli_fail_with(ws_cli_kernel_failure(error), error);
    spec->ptx = l->ptx, spec->cubin = l->cubin;
    return WS_EXIT_YES;
}

static void say(const WsPairOptions *o, const WsPair *pair, const char *outcome)
{
    if (o->json)
        ws_cli_package_json(o->file, o->dir, pair->name, outcome, NULL, NULL);
    else
        printf("%s: __init__.py, %u launches, README.md\n", o->dir, pair->n);
}

int ws_cli_package_pair(const WsPairOptions *o)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) launches = g_ptr_array_new_with_free_func(launch_free);
    g_autofree char *known = o->name ? g_strdup(o->name) : ws_cli_package_name(o->file),
                    *checked = NULL;
    const guint n = 1 + g_strv_length(o->backward);
    g_autofree WsPackageSpec *spec = g_new0(WsPackageSpec, n);
    g_autofree const char **label = g_new0(const char *, n);
    const int ready = ws_cli_package_ready(known, o->dir, NULL);
    if (ready != WS_EXIT_YES)
        return ready;
    if (!ws_pair_folder_check(o->dir, &error))
        return ws_cli_package_failure(error, o->dir);
    WsPair pair = { .name = known, .launch = spec, .label = label, .n = n };
    for (guint i = 0; i < n; i++) {
        Launch *l = g_new0(Launch, 1);
        g_ptr_array_add(launches, l);
        label[i] = i ? o->backward[i - 1] : o->file;
        g_auto(GStrv) set = i ? settings_of(label[i], o->set) : g_strdupv(o->set);
        const int code = load(l, label[i], set, o->force);
        if (code != WS_EXIT_YES)
            return code;
        spec[i] = (WsPackageSpec){ .program = l->in.program,
                                   .verdict = l->in.verdict,
                                   .outcome = l->outcome };
    }
    /* before ptxas, which takes longest */
    if (!ws_pair_check(&pair, &error) || !ws_cli_gradient_agrees(&pair, &checked, &error))
        return ws_cli_package_failure(error, o->dir);
    for (guint i = 0; i < n; i++) {
        const int code = assemble(launches->pdata[i], &spec[i]);
        if (code != WS_EXIT_YES)
            return code;
    }
    pair.checked = checked;
    if (!ws_pair_write(&pair, o->dir, &error))
        return ws_cli_package_failure(error, o->dir);
    say(o, &pair, spec[0].outcome);
    return WS_EXIT_YES;
}

#endif
